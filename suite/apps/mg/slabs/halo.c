/* Transfers of planes between ranks. */
#include "mg/slabs/halo.h"
#include "common/run/put_counts.h"
#include "mg/mg.h"
#include "common/run/free_all.h"
#include <stdlib.h>
#include <string.h>

static const struct kind {
    int down, of_u, below, above;
} kinds[HALO_KINDS] = {
    [HALO_R1] = {1, 0, 1, 1}, [HALO_R2] = {2, 0, 1, 2}, [HALO_R3] = {3, 0, -1, -1},
    [HALO_U2] = {2, 1, 2, 1}, [HALO_U1] = {1, 1, 2, 1}, [HALO_U0] = {0, 1, 2, 2},
};

enum { EVERY = -1 }; /* planes below and above: all */

static const struct level *level_of(const struct halo *h, enum halo_kind kind) {
    return &h->grid->level[h->grid->finest - kinds[kind].down];
}

static double *plane_of(const struct halo *h, enum halo_kind kind, int k) {
    const struct level *level = level_of(h, kind);
    return level_plane(level, kinds[kind].of_u ? level->u : level->r, k);
}

static size_t plane_bytes(const struct halo *h, enum halo_kind kind) {
    return (size_t)level_of(h, kind)->plane * sizeof(double);
}

int halo_task(int k, int down) { return down < MG_SHARED ? k / (MG_PLANES >> down) : 2 * k; }

evn_status halo_open(struct halo *h, evn_cluster *cluster, struct grid *grid, int tasks,
                     int per_node) {
    *h = (struct halo){.cluster = cluster, .grid = grid, .tasks = tasks, .per_node = per_node};
    if (!cluster) return EVN_OK;
    h->rank = malloc((size_t)tasks * sizeof *h->rank);
    h->wanted = malloc((size_t)grid->level[grid->finest].n);
    h->seen = calloc((size_t)evn_cluster_size(cluster) * HALO_KINDS, sizeof *h->seen);
    if (!h->rank || !h->wanted || !h->seen) return evn_fail(EVN_MEMORY, "mg: not enough memory");
    for (int t = 0; t < tasks; t++) h->rank[t] = -1;
    return EVN_OK;
}

void halo_close(struct halo *h) {
    for (int kind = 0; kind < HALO_KINDS; kind++) {
        free_all(h->out[kind].strip, h->in[kind].strip);
    }
    free_all(h->rank, h->wanted, h->seen);
    evn_shared_close(h->shared);
    memset(h, 0, sizeof *h);
}

/* The rank that has plane k, and makes it. */
static int rank_of(const struct halo *h, enum halo_kind kind, int k) {
    return h->rank[halo_task(k, kinds[kind].down)];
}

int halo_down(enum halo_kind kind) { return kinds[kind].down; }
int halo_of_u(enum halo_kind kind) { return kinds[kind].of_u; }

void halo_wanted(enum halo_kind kind, int tasks, const int *owner, int who, unsigned char *wanted) {
    const struct kind *is = &kinds[kind];
    const int n = (tasks * MG_PLANES) >> is->down;
    memset(wanted, is->below == EVERY, (size_t)n);
    for (int k = 0; k < n; k++) {
        if (owner[halo_task(k, is->down)] != who) continue;
        for (int q = 1; q <= is->below; q++) wanted[(k - q) & (n - 1)] = 1;
        for (int q = 1; q <= is->above; q++) wanted[(k + q) & (n - 1)] = 1;
    }
    for (int k = 0; k < n; k++)
        if (owner[halo_task(k, is->down)] == who) wanted[k] = 0;
}

evn_status strips_add(struct strips *s, int rank, int plane, int slot) {
    struct strip *last = s->count ? &s->strip[s->count - 1] : NULL;
    if (last && last->rank == rank && last->plane + last->planes == plane &&
        last->slot + last->planes == slot) {
        last->planes++;
        return EVN_OK;
    }
    if (s->count == s->room) {
        const int room = 2 * s->room + 8;
        struct strip *more = realloc(s->strip, (size_t)room * sizeof *more);
        if (!more) return evn_fail(EVN_MEMORY, "mg: not enough memory");
        s->strip = more;
        s->room = room;
    }
    s->strip[s->count++] = (struct strip){rank, plane, 1, slot};
    return EVN_OK;
}

/* Ranks in turn, from this one on: so that not all put to the same one first. */
static evn_status list(struct halo *h, enum halo_kind kind) {
    const int ranks = evn_cluster_size(h->cluster), me = evn_cluster_rank(h->cluster);
    evn_status status = EVN_OK;
    h->out[kind].count = h->in[kind].count = 0;
    for (int i = 0; i < ranks; i++) {
        const int rank = (me + i) % ranks;
        int slot = 0;
        halo_wanted(kind, h->tasks, h->rank, rank, h->wanted);
        for (int k = 0; !status && k < level_of(h, kind)->n; k++) {
            if (!h->wanted[k]) continue;
            const int from = rank_of(h, kind, k);
            if (rank == me) status = strips_add(&h->in[kind], from, k, slot);
            if (rank != me && from == me) status = strips_add(&h->out[kind], rank, k, slot);
            slot++;
        }
        if (slot > h->slots[kind]) h->slots[kind] = slot;
    }
    return status;
}

/* Allocates the shared array anew if it has too few slots. All ranks have counted the same slots,
 * so they agree on it. */
static evn_status make_array(struct halo *h) {
    size_t bytes = 0;
    for (int kind = 0; kind < HALO_KINDS; kind++) {
        h->at[kind] = bytes;
        bytes += (size_t)h->slots[kind] * plane_bytes(h, kind);
        bytes = (bytes + 63) / 64 * 64; /* planes of the finest level are read in their slots */
    }
    if (h->shared && bytes == h->bytes) return EVN_OK;
    h->counted = halo_counts(h);
    evn_shared_close(h->shared);
    h->shared = NULL;
    h->bytes = bytes;
    memset(h->seen, 0, (size_t)evn_cluster_size(h->cluster) * HALO_KINDS * sizeof *h->seen);
    return evn_shared_open(
        &h->shared, h->cluster,
        &(evn_shared_shape){.bytes = bytes, .signals = HALO_KINDS, .per_node = h->per_node});
}

evn_status halo_plan(struct halo *h, const evn_loop *loop) {
    if (!h->cluster) return EVN_OK;
    const int *owner = evn_loop_next(loop, NULL);
    int changed = 0;
    for (int t = 0; t < h->tasks; t++) {
        const int rank = evn_cluster_rank_of(h->cluster, owner[t]);
        changed |= rank != h->rank[t];
        h->rank[t] = rank;
    }
    if (!changed) return EVN_OK;
    grid_planes(h->grid);
    evn_status status = EVN_OK;
    for (int kind = 0; !status && kind < HALO_KINDS; kind++) status = list(h, kind);
    status = evn_cluster_agree(h->cluster, status);
    return status ? status : make_array(h);
}

/* The strips of a rank from number i on: where the next one's begin. */
static int strips_of(const struct strips *s, int i) {
    int next = i + 1;
    while (next < s->count && s->strip[next].rank == s->strip[i].rank) next++;
    return next;
}

static evn_status put(const struct halo *h, enum halo_kind kind) {
    const struct strips *s = &h->out[kind];
    const size_t bytes = plane_bytes(h, kind);
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < s->count;) {
        const int next = strips_of(s, i), to = s->strip[i].rank;
        for (; !status && i < next; i++)
            status = evn_shared_put(h->shared, to, h->at[kind] + (size_t)s->strip[i].slot * bytes,
                                    plane_of(h, kind, s->strip[i].plane),
                                    (size_t)s->strip[i].planes * bytes);
        if (!status) status = evn_shared_raise(h->shared, to, kind);
    }
    return status;
}

/* The finest level's planes are large: they stay in their slots until others come. */
static void take_strip(struct halo *h, enum halo_kind kind, const struct strip *is, char *slots) {
    const size_t bytes = plane_bytes(h, kind);
    if (kind != HALO_U0) memcpy(plane_of(h, kind, is->plane), slots, (size_t)is->planes * bytes);
    for (int i = 0; kind == HALO_U0 && i < is->planes; i++)
        h->grid->plane[is->plane + i] = (double *)(void *)(slots + (size_t)i * bytes);
}

/* Once a rank has raised its signal, all of its strips are there. */
static evn_status take(struct halo *h, enum halo_kind kind) {
    const struct strips *s = &h->in[kind];
    const size_t bytes = plane_bytes(h, kind);
    const int ranks = evn_cluster_size(h->cluster);
    char *slots = (char *)evn_shared_memory(h->shared) + h->at[kind];
    for (int rank = 0; rank < ranks; rank++) {
        int waited = 0;
        for (int i = 0; i < s->count; i++) {
            const struct strip *is = &s->strip[i];
            if (is->rank != rank) continue;
            if (!waited++) {
                unsigned long long *seen = &h->seen[rank * HALO_KINDS + (int)kind];
                evn_status status = evn_shared_wait(h->shared, rank, kind, ++*seen);
                if (status) return status;
            }
            take_strip(h, kind, is, slots + (size_t)is->slot * bytes);
        }
    }
    return EVN_OK;
}

evn_status halo_exchange(struct halo *h, enum halo_kind kind) {
    if (!h->cluster) return EVN_OK;
    evn_status status = put(h, kind);
    return status ? status : take(h, kind);
}

evn_shared_counts halo_counts(const struct halo *h) {
    evn_shared_counts now = {0};
    if (h->shared) evn_shared_count(h->shared, &now);
    return puts_sum(&h->counted, &now);
}
