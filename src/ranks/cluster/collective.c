/* Collective calls of a cluster: statuses, bytes, units. */
#include "base/argument.h"
#include "cluster/inside.h"
#include "cluster/collective_record.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

evn_status evn_cluster_agree(evn_cluster *c, evn_status mine) {
    NEED(c, "a cluster");
    return cluster_agree(c, "evn_cluster_agree()", mine);
}

/* Fails for data at a NULL pointer; all ranks learn of it in the collective call. */
static evn_status check_bytes(const char *what, const void *data, size_t bytes) {
    if (data || !bytes) return EVN_OK;
    return evn_fail(EVN_USAGE, "cluster: %s %zu bytes that are nowhere (NULL)", what, bytes);
}

/* Broadcast of rank 0's bytes; every rank expects the same number. */
struct tale {
    const evn_cluster *cluster;
    const void *data;
    size_t bytes;
};

static evn_status tell(void *arg, const struct cluster_record *of, const void **down,
                       size_t *bytes) {
    const struct tale *t = arg;
    for (int r = 1; r < t->cluster->size; r++) {
        size_t theirs;
        memcpy(&theirs, of[r].data, sizeof theirs);
        if (theirs != t->bytes)
            return evn_fail(EVN_USAGE, "cluster: rank 0 tells %zu bytes, and rank %d expects %zu",
                            t->bytes, r, theirs);
    }
    *down = t->data;
    *bytes = t->bytes;
    return EVN_OK;
}

evn_status evn_cluster_tell(evn_cluster *c, void *data, size_t bytes) {
    NEED(c, "a cluster");
    struct tale tale = {c, data, bytes};
    struct meeting m = {.what = "evn_cluster_tell()",
                        .up = &bytes,
                        .up_bytes = sizeof bytes,
                        .decide = tell,
                        .arg = &tale};
    evn_status status = cluster_meet(c, check_bytes("evn_cluster_tell()", data, bytes), &m);
    if (!status && c->rank && bytes) memcpy(data, m.down, bytes);
    return status;
}

/* Destination on rank 0 of the data of all ranks. */
struct heap {
    const evn_cluster *cluster;
    unsigned char *all;
    size_t bytes;
};

static evn_status gather(void *arg, const struct cluster_record *of, const void **down,
                         size_t *bytes) {
    const struct heap *h = arg;
    *down = NULL;
    *bytes = 0;
    if (!h->all && h->bytes)
        return evn_fail(EVN_USAGE, "cluster: rank 0 gathers to nowhere: `all` is NULL");
    for (int r = 0; r < h->cluster->size; r++) {
        if (of[r].bytes != h->bytes)
            return evn_fail(EVN_USAGE, "cluster: rank %d gives %zu bytes, and rank 0 gathers %zu",
                            r, of[r].bytes, h->bytes);
        if (h->bytes) memmove(h->all + h->bytes * (size_t)r, of[r].data, h->bytes);
    }
    return EVN_OK;
}

evn_status evn_cluster_gather(evn_cluster *c, const void *mine, size_t bytes, void *all) {
    NEED(c, "a cluster");
    struct heap heap = {c, all, bytes};
    struct meeting m = {.what = "evn_cluster_gather()",
                        .up = mine,
                        .up_bytes = bytes,
                        .decide = gather,
                        .arg = &heap};
    return cluster_meet(c, check_bytes("evn_cluster_gather()", mine, bytes), &m);
}

/* ---- units ---- */

/* A rank's report of its units; their speeds follow. */
struct told {
    int32_t units, cores;
};

static evn_status own_units(struct record *out, const evn_units *mine, const double *speed) {
    if (!mine) return argument_missing("evn_cluster_units", "units");
    struct told told = {.units = evn_units_count(mine)};
    for (int u = 0; u < told.units; u++) told.cores += evn_unit_cores(evn_units_get(mine, u));
    evn_status status = record_add(out, &told, sizeof told);
    for (int u = 0; !status && u < told.units; u++) {
        const double s = speed ? speed[u] : evn_unit_about(evn_units_get(mine, u)).speed;
        if (!(s > 0 && s <= 1e300))
            return evn_fail(EVN_USAGE, "cluster: the speed of unit %d is %g, not above 0", u, s);
        status = record_add(out, &s, sizeof s);
    }
    return status;
}

/* Reads the units in all ranks' concatenated records: counts them, or with `first` fills in the
 * arrays. */
static int read_units(const evn_cluster *c, const unsigned char *p, int *first, int *cores,
                      double *speed) {
    int units = 0;
    for (int r = 0; r < c->size; r++) {
        struct told told;
        memcpy(&told, p, sizeof told);
        p += sizeof told;
        if (first) {
            first[r] = units;
            cores[r] = told.cores;
            memcpy(speed + units, p, sizeof *speed * (size_t)told.units);
        }
        p += sizeof *speed * (size_t)told.units;
        units += told.units;
    }
    if (first) first[c->size] = units;
    return units;
}

static evn_status keep_units(evn_cluster *c, const unsigned char *all) {
    const int units = read_units(c, all, NULL, NULL, NULL);
    int *first = malloc(sizeof *first * ((size_t)c->size + 1));
    int *cores = malloc(sizeof *cores * (size_t)c->size);
    double *speed = malloc(sizeof *speed * (size_t)units);
    if (!first || !cores || !speed) {
        free(first);
        free(cores);
        free(speed);
        return evn_fail(EVN_MEMORY, "cluster: no memory for %d units of %d ranks", units, c->size);
    }
    read_units(c, all, first, cores, speed);
    c->host.crowded = cluster_is_crowded(c, cores);
    free(cores);
    free(c->first);
    free(c->speed);
    c->first = first;
    c->speed = speed;
    return EVN_OK;
}

evn_status evn_cluster_units(evn_cluster *c, const evn_units *mine, const double *speed) {
    NEED(c, "a cluster");
    struct record own = {0};
    evn_status status = own_units(&own, mine, speed);
    struct meeting m = {.what = "evn_cluster_units()", .up = own.data, .up_bytes = own.bytes};
    status = cluster_allgatherv(c, status, &m);
    if (!status) status = evn_cluster_agree(c, keep_units(c, m.down));
    record_free(&own);
    return status;
}

int evn_cluster_rank_of(const evn_cluster *c, int unit) {
    NEED_OR(-1, c, "a cluster");
    const int units = c->first[c->size];
    if (unit < 0 || unit >= units) {
        evn_fail(EVN_USAGE, "cluster: the rank of unit %d; all ranks together have %d units", unit,
                 units);
        return -1;
    }
    int rank = 0;
    while (unit >= c->first[rank + 1]) rank++;
    return rank;
}
