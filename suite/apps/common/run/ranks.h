/* The ranks of a workload's run; without ranks, this process alone. */
#pragma once

#include <evener/cluster.h>
#include <evener/unit.h>

/* The worst status of all ranks (evn_cluster_agree()). Collective; cluster NULL: mine. */
evn_status ranks_agreed(evn_cluster *cluster, evn_status mine);

/* `count` elements of `size` bytes of mine, and those of all ranks, one rank's after another's, on
 * every rank: *all is to be freed, *of_all of them. Collective; cluster NULL: mine alone.
 * EVN_MEMORY. */
evn_status ranks_share(evn_cluster *cluster, const void *mine, int count, size_t size, void **all,
                       int *of_all);

/* The sum over the ranks of this rank's host, this one's among them. Collective. */
evn_status ranks_on_host(evn_cluster *cluster, double mine, double *sum);

/* The lowest rank of a rank's node, which leads its device for the others where they share one.
 * `per_node` as evn_shared_shape has it. */
int ranks_master(const evn_cluster *cluster, int per_node, int rank);

/* Checks that the memory needed by this host's ranks, `needed` bytes of them by this one, is
 * available. Collective. EVN_MEMORY: "WHO needs 1.2 GB of memoryWHAT and 0.8 GB are available;
 * choose a smaller INSTEAD". */
evn_status ranks_room(evn_cluster *cluster, const evn_units *units, double needed, const char *who,
                      const char *what, const char *instead);

/* Lets all ranks have, of `count` elements a task, those of the rank that has it. `has` says which
 * are mine. Collective; alone nothing is done. EVN_MEMORY. */
evn_status ranks_complete(evn_cluster *cluster, void *element, int count, size_t size,
                          int (*has)(void *arg, int task), void *arg);
