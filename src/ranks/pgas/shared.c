/* Opening and closing of one-sided memory, and the addresses of its parts. */
#include "pgas/inside.h"
#include "cluster/cluster.h"
#include "cluster/collective_record.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 8 }; /* words in a cache line; words of different ranks are in different lines */

/* A rank's shape, as sent. */
struct said {
    uint64_t bytes;
    int64_t signals, locks, per_node;
    evn_shared_array array;
};

static evn_status check(const evn_shared_shape *shape, const evn_wire_kind *kind) {
    if (!shape) return evn_fail(EVN_USAGE, "evn_shared_open(): the shape is NULL");
    if (shape->signals < 0 || shape->signals > EVN_SHARED_SIGNALS_MAX)
        return evn_fail(EVN_USAGE, "evn_shared_open(): %d signals, expected 0 to %d",
                        shape->signals, EVN_SHARED_SIGNALS_MAX);
    if (shape->locks < 0 || shape->locks > EVN_SHARED_SIGNALS_MAX)
        return evn_fail(EVN_USAGE, "evn_shared_open(): %d locks, expected 0 to %d", shape->locks,
                        EVN_SHARED_SIGNALS_MAX);
    if (shape->per_node < 0)
        return evn_fail(EVN_USAGE, "evn_shared_open(): %d ranks per node, expected 0 or more",
                        shape->per_node);
    if (shape->bytes && shape->array.count)
        return evn_fail(EVN_USAGE,
                        "evn_shared_open(): %zu bytes and an array, expected one of them",
                        shape->bytes);
    if (shape->bytes > (size_t)1 << 56)
        return evn_fail(EVN_MEMORY, "evn_shared_open(): no memory for %zu bytes", shape->bytes);
    if (kind && !kind->shared)
        return evn_fail(EVN_MISSING, "shared: %s has no one-sided memory", kind->name);
    return EVN_OK;
}

/* Tells each rank's shape to all ranks, and compares the numbers that must be equal. */
static evn_status tell(evn_shared *s, const evn_shared_shape *shape, struct said *all) {
    const size_t bytes =
        s->array.count ? shared_array_bytes(&s->array, s->rank, s->size) : shape->bytes;
    const struct said mine = {bytes, shape->signals, shape->locks, shape->per_node, s->array};
    evn_status status =
        cluster_allgather(s->cluster, "evn_shared_open()", EVN_OK, &mine, sizeof mine, all);
    if (status) return status;
    for (int r = 0; r < s->size; r++) {
        s->bytes[r] = all[r].bytes;
        if (memcmp(&all[r].array, &all[0].array, sizeof all->array))
            return evn_fail(EVN_USAGE,
                            "evn_shared_open(): rank %d has an array of %lld elements of %zu bytes "
                            "in blocks of %lld, and rank 0 %lld of %zu in %lld",
                            r, all[r].array.count, all[r].array.bytes, all[r].array.block,
                            all[0].array.count, all[0].array.bytes, all[0].array.block);
        if (memcmp(&all[r].signals, &all[0].signals, 3 * sizeof all->signals))
            return evn_fail(EVN_USAGE,
                            "evn_shared_open(): rank %d has %d signals, %d locks and %d ranks per "
                            "node, and rank 0 %d, %d and %d",
                            r, (int)all[r].signals, (int)all[r].locks, (int)all[r].per_node,
                            (int)all[0].signals, (int)all[0].locks, (int)all[0].per_node);
    }
    return EVN_OK;
}

static evn_status segment_open(evn_shared *s, int per_node) {
    const int words = s->size * s->row;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), ours = shared_lock_at(s, s->locks);
    s->begin = (ours + page - 1) / page * page;
    const size_t bytes = s->begin + s->bytes[s->rank];
    evn_status status;
    if (cluster_kind(s->cluster)) {
        cluster_lock(s->cluster);
        status = s->wire->open(&s->segment, cluster_wire(s->cluster), bytes, words);
        cluster_unlock(s->cluster);
    } else {
        status = shared_alone_open(&s->segment, cluster_host(s->cluster), bytes, words);
    }
    s->is_near = 1;
    for (int r = 0; !status && r < s->size; r++) {
        unsigned char *part = s->wire->memory(s->segment, r);
        const int is_near = !per_node || r / per_node == s->rank / per_node;
        s->there[r] = part && is_near ? part : NULL;
        s->is_near = s->is_near && s->there[r];
    }
    return status;
}

static void forget(evn_shared *s) {
    if (!s) return;
    shared_locks_forget(s);
    free(s->bytes);
    free(s->there);
    free(s);
}

static evn_shared *make(evn_cluster *cluster, const evn_shared_shape *shape) {
    evn_shared *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    const evn_wire_kind *kind = cluster_kind(cluster);
    s->cluster = cluster;
    s->wire = kind ? kind->shared : &shared_alone;
    s->rank = evn_cluster_rank(cluster);
    s->size = evn_cluster_size(cluster);
    s->signals = shape->signals;
    s->locks = shape->locks;
    s->array = shape->array;
    s->row = (1 + shape->signals + shape->locks + LINE - 1) / LINE * LINE;
    s->bytes = calloc((size_t)s->size, sizeof *s->bytes);
    s->there = calloc((size_t)s->size, sizeof *s->there);
    if (s->bytes && s->there && !shared_locks_make(s)) return s;
    forget(s);
    return NULL;
}

evn_status evn_shared_open(evn_shared **out, evn_cluster *cluster, const evn_shared_shape *shape) {
    if (!out || !cluster)
        return evn_fail(EVN_USAGE, "evn_shared_open(): %s is NULL", out ? "the cluster" : "out");
    *out = NULL;
    evn_shared *s = NULL;
    struct said *all = NULL;
    evn_status status = check(shape, cluster_kind(cluster));
    if (!status) {
        s = make(cluster, shape);
        all = calloc((size_t)evn_cluster_size(cluster), sizeof *all);
        if (!s || !all) status = evn_fail(EVN_MEMORY, "evn_shared_open(): not enough memory");
        if (!status) status = shared_array_settle(&s->array, s->size);
    }
    status = evn_cluster_agree(cluster, status);
    if (!status) status = tell(s, shape, all);
    if (!status) status = evn_cluster_agree(cluster, segment_open(s, shape->per_node));
    free(all);
    if (status)
        forget(s);
    else
        *out = s;
    return status;
}

/* When all ranks are here, no put is under way. If they cannot meet, the memory stays: others may
 * use it, and MPI frees it only collectively. */
void evn_shared_close(evn_shared *s) {
    if (!s) return;
    const evn_status status =
        cluster_agree(s->cluster, "evn_shared_close()", evn_shared_flush(s, -1));
    cluster_lock(s->cluster);
    s->wire->close(s->segment, !status);
    cluster_unlock(s->cluster);
    forget(s);
}

void *evn_shared_memory(const evn_shared *s) { return s ? evn_shared_pointer(s, s->rank) : NULL; }

void *evn_shared_pointer(const evn_shared *s, int rank) {
    if (!s || rank < 0 || rank >= s->size || !s->bytes[rank] || !s->there[rank]) return NULL;
    return s->there[rank] + s->begin;
}

size_t evn_shared_bytes(const evn_shared *s, int rank) {
    return s && rank >= 0 && rank < s->size ? s->bytes[rank] : 0;
}

void evn_shared_count(const evn_shared *s, evn_shared_counts *counts) {
    if (!counts) return;
    *counts = (evn_shared_counts){0};
    if (!s) return;
    counts->near_puts = atomic_load(&s->near_puts);
    counts->far_puts = atomic_load(&s->far_puts);
    counts->near_bytes = (double)atomic_load(&s->near_bytes);
    counts->far_bytes = (double)atomic_load(&s->far_bytes);
    counts->puts = counts->near_puts + counts->far_puts;
    counts->bytes = counts->near_bytes + counts->far_bytes;
    counts->signals = atomic_load(&s->signals_raised);
    counts->gets = atomic_load(&s->gets);
    counts->got_bytes = (double)atomic_load(&s->got_bytes);
}
