/* Ranks in `evener info`. */
#pragma once

#include "common/run/record.h"
#include <evener.h>

/* A rank, and its share of the host. */
struct info_rank {
    char host[64], how[160], devices[256];
    int cores, core[1024]; /* by the system's numbers */
};

/* "0-3 8", of the numbers. */
void info_cores(const int *core, int count, char *text, size_t size);

/* Each rank's cores as a run would have them, on all ranks; *all is to be freed, *machine to be
 * closed. Collective. 0, or an exit status after a message. */
int info_ranks(evn_cluster *cluster, evn_machine **machine, struct info_rank **all);

/* For rank 0: a line a rank, and the same for a record. */
void info_print_ranks(const evn_cluster *cluster, const struct info_rank *all);
void info_record_ranks(cJSON *root, const evn_cluster *cluster, const struct info_rank *all);
