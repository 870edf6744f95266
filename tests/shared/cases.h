/* What one-sided memory must do over every wire, in each rank of a cluster: processes and threads
 * in test_shared.c, MPI's launchers and processes once more in shared_try.c. */
#pragma once

#include <evener/shared.h>

struct shared_case {
    const char *name; /* NULL ends the list */
    void (*run)(evn_cluster *cluster, int per_node);
};

extern const struct shared_case shared_cases[];

/* Not among them. A wait, of ranks from 1 on with `locks` for a lock that rank 0 has, that somebody
 * wants to end does, at most `hurry` seconds early of the two that others have. */
void shared_stopped(evn_cluster *cluster, int per_node, double hurry, int locks);
/* The last rank is killed while others wait for it or, with `locks`, its lock; the run has to end.
 */
void shared_dying(evn_cluster *cluster, int per_node, int locks);

/* All of them, as it is and as if each node had one rank, two, or three. */
void shared_run_all(evn_cluster *cluster);
