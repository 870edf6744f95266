/* Ranges lie column by column, so those of a rank's columns go from their place to the same one, in
 * two messages an ordered pair. Near part and M_0 are collected while columns are made, and
 * exchanged when all are: the near part, one message an ordered pair of ranks; M_0 as (row, column,
 * value), the same to all. */
#include "tdbem/matrices/matrices_ranks.h"
#include "common/run/ranks.h"
#include "common/run/free_all.h"
#include <evener/crew.h>
#include <stdlib.h>
#include <string.h>

/* ---- ranges ---- */

static int first_column(const tdbem *p, int rank) {
    return evn_crew_begin(p->mesh->vertices, rank, p->ranks);
}

/* Each rank's elements, of `size` bytes a range, to all. `room`: two parcels a rank. */
static evn_status spread(const tdbem *p, const struct slices *s, void *element, size_t size,
                         evn_parcel *room) {
    evn_parcel *out = room, *in = room + p->ranks;
    for (int r = 0; r < p->ranks; r++) {
        const size_t from = slices_at(s, first_column(p, r));
        const size_t to = slices_at(s, first_column(p, r + 1));
        in[r] = (evn_parcel){(char *)element + from * size, (to - from) * size};
    }
    for (int r = 0; r < p->ranks; r++) out[r] = in[p->me];
    return evn_cluster_exchange(p->cluster, EVN_OK, out, in);
}

static evn_status complete_ranges(struct slices *s, evn_status mine, void *arg) {
    const tdbem *p = arg;
    evn_parcel *room = calloc(2 * (size_t)p->ranks, sizeof *room);
    if (!mine && !room) mine = evn_fail(EVN_MEMORY, "td-bem: no memory for %d ranks", p->ranks);
    evn_status status = evn_cluster_agree(p->cluster, mine);
    if (!status) status = spread(p, s, s->first, sizeof *s->first, room);
    if (!status) status = spread(p, s, s->count, sizeof *s->count, room);
    free(room);
    return status;
}

evn_status ranges_by_ranks(struct slices_maker *maker, const tdbem *p) {
    return slices_maker_share(maker, first_column(p, p->me), first_column(p, p->me + 1),
                              complete_ranges, (void *)p);
}

/* ---- what is collected ---- */

/* An entry of M_0, or of the points' rows of it. */
struct entry {
    int row, column;
    double value;
};

struct list {
    void *memory;
    size_t count, room;
};

struct handout {
    int ranks;
    struct list *near; /* for each rank: values, by columns, by rows */
    struct list now;   /* entries, by columns */
    evn_parcel *out, *in;
};

evn_status handout_open(struct handout **out, const tdbem *p) {
    const size_t ranks = (size_t)p->ranks;
    struct handout *h = *out = calloc(1, sizeof *h);
    if (!h) return evn_fail(EVN_MEMORY, "td-bem: no memory for %zu ranks", ranks);
    h->ranks = p->ranks;
    h->near = calloc(ranks, sizeof *h->near);
    h->out = calloc(ranks, sizeof *h->out);
    h->in = calloc(ranks, sizeof *h->in);
    return h->near && h->out && h->in
               ? EVN_OK
               : evn_fail(EVN_MEMORY, "td-bem: no memory for %zu ranks", ranks);
}

void handout_close(struct handout *h) {
    if (!h) return;
    for (int r = 0; h->near && r < h->ranks; r++) free(h->near[r].memory);
    free_all(h->near, h->now.memory, h->out, h->in, h);
}

/* Room for `more` elements behind those there are; NULL: no memory. */
static void *extend(struct list *list, size_t more, size_t size) {
    if (list->count + more > list->room) {
        const size_t room = 2 * (list->count + more) + 1024;
        char *memory = realloc(list->memory, room * size);
        if (!memory) return NULL;
        list->memory = memory;
        list->room = room;
    }
    void *at = (char *)list->memory + list->count * size;
    list->count += more;
    return at;
}

/* Takes column j, for the ranks that have its rows. */
static int take_near(struct list *list, const tdbem *p, const struct slices *s, int j) {
    const double *value = slices_column(s, j);
    int rank = 0;
    for (struct slices_walk w = slices_walk(s, j); w.row < s->rows; slices_step(&w)) {
        int first;
        const int count = near_part(s, w.at, p->near->last, &first);
        while (w.row >= tdbem_row(p, rank + 1)) rank++;
        double *to = count ? extend(&list[rank], (size_t)count, sizeof *to) : NULL;
        if (count && !to) return -1;
        if (count) memcpy(to, value + (first - s->first[w.at]), (size_t)count * sizeof *to);
        value += s->count[w.at];
    }
    return 0;
}

static int take_now(struct list *list, const struct slices *s, int j) {
    const double *value = slices_column(s, j);
    for (struct slices_walk w = slices_walk(s, j); w.row < s->rows; slices_step(&w)) {
        if (s->count[w.at] && !s->first[w.at]) {
            struct entry *e = extend(list, 1, sizeof *e);
            if (!e) return -1;
            *e = (struct entry){w.row, j, *value};
        }
        value += s->count[w.at];
    }
    return 0;
}

evn_status handout_take(struct handout *h, const tdbem *p, const struct slices *s) {
    int failed = 0;
    for (int j = s->from; !failed && j < s->to; j++)
        failed = take_near(h->near, p, s, j) || take_now(&h->now, s, j);
    return failed ? evn_fail(EVN_MEMORY,
                             "td-bem: no memory for what other ranks want of columns %d to %d",
                             s->from, s->to - 1)
                  : EVN_OK;
}

/* ---- exchanging ---- */

/* Values of the near part that come from a rank. */
static size_t near_from(const tdbem *p, int rank) {
    const struct layout *l = p->layout;
    size_t values = 0;
    for (int b = 0; b < l->blocks; b++)
        if (p->rank[b] == rank)
            values += p->near->s.begin[l->slice[b + 1]] - p->near->s.begin[l->slice[b]];
    return values;
}

/* To their columns. */
static void place_near(const tdbem *p, int rank, const double *value) {
    const struct layout *l = p->layout;
    for (int b = 0; b < l->blocks; b++) {
        if (p->rank[b] != rank) continue;
        const size_t from = p->near->s.begin[l->slice[b]], to = p->near->s.begin[l->slice[b + 1]];
        memcpy(p->near->s.value + from, value, (to - from) * sizeof *value);
        value += to - from;
    }
}

static evn_status exchange_near(struct handout *h, tdbem *p, evn_status mine) {
    size_t all = 0;
    if (!mine) mine = near_reserve(p->near);
    for (int r = 0; r < h->ranks; r++) {
        const size_t values = near_from(p, r);
        h->out[r] = (evn_parcel){h->near[r].memory, h->near[r].count * sizeof(double)};
        h->in[r] = (evn_parcel){NULL, values * sizeof(double)};
        all += values;
    }
    double *room = malloc((all + 1) * sizeof *room), *at = room;
    if (!mine && !room) mine = evn_fail(EVN_MEMORY, "td-bem: no memory for the near part");
    mine = evn_cluster_agree(p->cluster, mine);
    for (int r = 0; !mine && r < h->ranks; r++) {
        h->in[r].data = at;
        at += h->in[r].bytes / sizeof *at;
    }
    evn_status status = mine ? mine : evn_cluster_exchange(p->cluster, EVN_OK, h->out, h->in);
    for (int r = 0; !status && r < h->ranks; r++) place_near(p, r, h->in[r].data);
    free(room);
    return status;
}

/* Entries of all ranks, by ascending columns, which each rank has in this order. */
static void place_now(tdbem *p, struct slices_csr *m, const struct handout *h) {
    const struct layout *l = p->layout;
    for (int b = 0; b < l->blocks; b++) {
        evn_parcel *in = &h->in[p->rank[b]];
        while (in->bytes) {
            const struct entry *e = in->data;
            if (e->column >= l->slice[b + 1]) break;
            slices_matrix_put(e->row < l->columns ? m : &p->now, e->row, e->column, e->value);
            in->data = (struct entry *)in->data + 1;
            in->bytes -= sizeof *e;
        }
    }
}

static evn_status exchange_now(struct handout *h, tdbem *p, struct slices_csr *m) {
    long long own = (long long)h->now.count, *counts = NULL;
    size_t all = 0;
    int ranks = 0;
    evn_status status = ranks_share(p->cluster, &own, 1, sizeof own, (void **)&counts, &ranks);
    for (int r = 0; !status && r < h->ranks; r++) all += (size_t)counts[r];
    struct entry *room = status ? NULL : malloc((all + 1) * sizeof *room), *at = room;
    if (!status)
        status = evn_cluster_agree(
            p->cluster, room ? EVN_OK : evn_fail(EVN_MEMORY, "td-bem: no memory for M_0"));
    for (int r = 0; !status && r < h->ranks; r++) {
        h->out[r] = (evn_parcel){h->now.memory, h->now.count * sizeof *at};
        h->in[r] = (evn_parcel){at, (size_t)counts[r] * sizeof *at};
        at += counts[r];
    }
    if (!status) status = evn_cluster_exchange(p->cluster, EVN_OK, h->out, h->in);
    if (!status) place_now(p, m, h);
    free_all(counts, room);
    return status;
}

evn_status handout_exchange(struct handout *h, tdbem *p, struct slices_csr *m, evn_status mine) {
    evn_status status = exchange_near(h, p, mine);
    return status ? status : exchange_now(h, p, m);
}
