/* Wrong calls of clusters, of loops over them, and of plug-ins; on a cluster of one rank. */
#include "misuse/world.h"
#include <evener/distributed.h>
#include <evener/plugin.h>
#include <evener/wire.h>

/* A cluster whose units are known. */
static void tell(struct world *w) { evn_cluster_units(w->cluster, w->other, NULL); }

int calls_cluster(struct world *w, int row) {
    evn_cluster *c;
    evn_machine *m;
    const double no_speed[] = {1, 0};
    USAGE("NULL", evn_cluster_open(NULL, "alone"))
    USAGE("no such wire", evn_cluster_open(&c, "nonsense"))
    USAGE("no such wire", evn_cluster_open(&c, ""))
    USAGE("takes no options", evn_cluster_open(&c, "alone:1"))
    USAGE("takes no options", evn_cluster_open(&c, "auto:1"))
    USAGE("from 1 to", evn_cluster_open(&c, "processes:0"))
    USAGE("from 1 to", evn_cluster_open(&c, "processes:-1"))
    USAGE("from 1 to", evn_cluster_open(&c, "processes:99999999999999999999"))
    USAGE("threads already", evn_cluster_open(&c, "processes:2"))
    USAGE("mpi:FILE", evn_cluster_open(&c, "mpi:"))
    USAGE("no launcher", evn_cluster_open(&c, "mpi"))
    FAILS(EVN_MISSING, "/nowhere", evn_cluster_open(&c, "mpi:/nowhere"))
    EMPTY("ranks 0 to 0", evn_cluster_host(w->cluster, 1))
    EMPTY("rank -1", evn_cluster_host(w->cluster, -1))
    SAYS("a flag", evn_cluster_stop_on(w->cluster, NULL))
    USAGE("NULL", evn_cluster_machine(w->cluster, NULL, 1, 0))
    USAGE("-1 cores", evn_cluster_machine(w->cluster, &m, -1, 0))
    USAGE("units", evn_cluster_units(w->cluster, NULL, NULL))
    USAGE("speed of unit 1 is 0", evn_cluster_units(w->cluster, w->other, no_speed))
    GIVES(-1, "have 0 units", evn_cluster_rank_of(w->cluster, 0))
    GIVES(-1, "unit 2", (tell(w), evn_cluster_rank_of(w->cluster, 2)))
    GIVES(-1, "unit -1", (tell(w), evn_cluster_rank_of(w->cluster, -1)))
    USAGE("4 bytes", evn_cluster_gather(w->cluster, NULL, 4, w->doubles))
    USAGE("to nowhere", evn_cluster_gather(w->cluster, w->ints, 4, NULL))
    IS(EVN_OK, evn_cluster_gather(w->cluster, NULL, 0, NULL))
    USAGE("4 bytes", evn_cluster_tell(w->cluster, NULL, 4))
    USAGE("from rank 0 to rank 0", evn_cluster_carry(w->cluster, 0, 0, w->ints, 4))
    USAGE("to rank 1", evn_cluster_carry(w->cluster, 0, 1, w->ints, 4))
    USAGE("from rank -1", evn_cluster_carry(w->cluster, -1, 0, w->ints, 4))
    CALLS_END
}

int calls_parcels(struct world *w, int row) {
    const evn_parcel some = {w->ints, 8}, more = {w->doubles, 16}, nowhere = {NULL, 8};
    USAGE("parcels", evn_cluster_exchange(w->cluster, EVN_OK, NULL, &some))
    USAGE("parcels", evn_cluster_exchange(w->cluster, EVN_OK, &some, NULL))
    USAGE("goes to rank 0", evn_cluster_exchange(w->cluster, EVN_OK, &nowhere, &some))
    USAGE("comes of rank 0", evn_cluster_exchange(w->cluster, EVN_OK, &some, &nowhere))
    USAGE("gives itself 8 bytes", evn_cluster_exchange(w->cluster, EVN_OK, &some, &more))
    CALLS_END
}

int calls_over_ranks(struct world *w, int row) {
    evn_loop *l;
    const evn_home none = {0};
    const evn_plugin plugin = {.what = "x", .name = "x", .symbol = "x"}, nameless = {.what = "x"};
    const void *functions;
    evn_distributed *d;
    USAGE("where to put", evn_distributed_open(NULL, &(evn_distribution){.tasks = 1}))
    USAGE("this rank's tasks", evn_distributed_open(&d, NULL))
    USAGE("NULL", evn_loop_open_on(NULL, w->other, w->schedule, w->cluster))
    USAGE("3 units", evn_loop_open_on(&l, w->other, w->of_three, w->cluster))
    USAGE("1 block or more", evn_loop_homes(w->loop, NULL, NULL))
    USAGE("1 block or more", evn_loop_homes(w->loop, &none, NULL))
    USAGE("4 bytes at NULL", evn_loop_allgather(w->loop, NULL, 4))
    USAGE("NULL", evn_plugin_open(NULL, NULL, &plugin, NULL))
    USAGE("a plug-in", evn_plugin_open(&functions, NULL, NULL, NULL))
    USAGE("file name", evn_plugin_open(&functions, NULL, &nameless, NULL))
    FAILS(EVN_MISSING, "no plug-in", evn_plugin_open(&functions, NULL, &plugin, NULL))
    CALLS_END
}
