/* What one-sided memory must do over every wire, in each rank of a cluster: processes and threads
 * in test_shared.c, MPI's launchers in shared_try.c. */
#ifndef TEST_CLUSTER_CASES_H
#define TEST_CLUSTER_CASES_H

#include <evener/shared.h>

struct shared_case {
    const char *name; /* NULL ends the list */
    void (*run)(evn_cluster *cluster, int per_node);
};

extern const struct shared_case shared_cases[];

/* All of them, as it is and as if each node had one rank, two, or three. */
void shared_run_all(evn_cluster *cluster);

#endif
