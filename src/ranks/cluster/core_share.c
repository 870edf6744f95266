/* The share of its host's cores that a rank takes. */
#include "base/argument.h"
#include "cluster/cores.h"
#include "cluster/inside.h"
#include "cluster/collective_record.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Computes this rank's share of the cores from all ranks' reports. */
static evn_status take_share(evn_cluster *c, struct cores_facts *facts,
                             const struct cores_host *host, struct cores_share *share) {
    struct meeting m = {.what = "evn_cluster_machine()", .up = facts, .up_bytes = sizeof *facts};
    evn_status status = cluster_allgatherv(c, EVN_OK, &m);
    if (status) return status;
    struct cores_facts *all = malloc(m.down_bytes ? m.down_bytes : 1);
    if (!all) return evn_fail(EVN_MEMORY, "cluster: no memory for %d ranks", c->size);
    memcpy(all, m.down, m.down_bytes);
    status = cores_share(share, all, c->size, c->rank, host);
    free(all);
    return status;
}

static evn_status no_cores(int wanted) {
    return evn_fail(EVN_USAGE,
                    "cluster: %d cores are wanted; expected their number, or 0 for an equal part",
                    wanted);
}

evn_status evn_cluster_machine(evn_cluster *c, evn_machine **out, int wanted, int oversubscribe) {
    if (out) *out = NULL;
    NEED(c, "a cluster");
    evn_status status = out ? EVN_OK : argument_missing(__func__, "where to put what it opens");
    if (status && !c->kind) return status;
    if (wanted < 0 && !c->kind) return no_cores(wanted);
    if (!c->kind) return evn_machine_open(out);
    struct cores_facts facts;
    struct cores_host *host = malloc(sizeof *host);
    struct cores_share *share = calloc(1, sizeof *share);
    if (!status && (!host || !share)) status = evn_fail(EVN_MEMORY, "cluster: not enough memory");
    if (!status && wanted < 0) status = no_cores(wanted);
    if (!status) status = cores_read(&facts, host);
    status = evn_cluster_agree(c, status);
    if (!status) {
        facts.rank = c->rank;
        facts.wanted = wanted;
        facts.oversubscribe = oversubscribe;
        status = take_share(c, &facts, host, share);
    }
    if (!status) status = cores_keep_to(share);
    if (!status) status = evn_machine_open_within(out, share->core, share->count);
    if (!status) snprintf(c->share, sizeof c->share, "%s", share->how);
    free(host);
    free(share);
    status = evn_cluster_agree(c, status);
    if (status && out) {
        evn_machine_close(*out);
        *out = NULL;
    }
    return status;
}
