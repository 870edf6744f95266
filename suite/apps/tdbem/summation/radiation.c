/* One small layout for each power of two below the group's length. */
#include "tdbem/summation/radiation.h"
#include "tdbem/summation/summation.h"
#include "common/run/free_all.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_LEAST = 64, /* least rows of a tile, and rows that it should have: smaller ones have
                        shorter bundles */
    ROWS = 256,
    SUMS = 16384, /* sums of a tile, to stay in a second-level cache */
    LEAST = 30000 /* operations that a core should have: some ten microseconds */
};

struct radiation {
    int rows, group, levels, cores;
    struct layout *layout[RADIATION_LEVELS];
    struct history *past[RADIATION_LEVELS];
    evn_crew_pace pace[RADIATION_LEVELS];
    char *sums, *scratch;
    size_t scratch_bytes; /* bytes of scratch of a core */
    double flop;
};

static size_t up(size_t n) { return (n + 63) / 64 * 64; }

/* Rows of a tile for groups of so many steps: tiles are what cores share, so one for each, or up to
 * three where they are not small then. 0: as the layout chooses. */
static int tile_rows(int all, int steps, int cores) {
    if (cores == 1) return 0;
    const int some = all / (cores * ROWS), each = some < 1 ? 1 : some > 3 ? 3 : some;
    const int rows = (all + each * cores - 1) / (each * cores);
    const int max = SUMS / steps > 1024 ? SUMS / steps : 1024;
    return rows < ROWS_LEAST ? ROWS_LEAST : rows < max ? rows : max;
}

static evn_status begin_levels(struct radiation *r, int columns, int rows, int single) {
    evn_status status = EVN_OK;
    for (int steps = 1; !status && steps < r->group; steps *= 2) {
        const struct layout_options o = {.kind = LAYOUT_ROWS,
                                         .single = single,
                                         .group = steps,
                                         .per_block = columns,
                                         .tile = tile_rows(rows, steps, r->cores),
                                         .last = 2 * steps - 1};
        status = layout_begin(&r->layout[r->levels], columns, rows, &o);
        if (!status) r->levels++;
    }
    return status;
}

evn_status radiation_begin(struct radiation **out, int columns, int rows, int group, int single,
                           int cores) {
    *out = NULL;
    struct radiation *r = calloc(1, sizeof *r);
    if (!r) return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the radiation stage");
    r->rows = rows;
    r->group = group;
    r->cores = cores;
    evn_status status = begin_levels(r, columns, rows, single);
    if (status) {
        radiation_close(r);
        return status;
    }
    *out = r;
    return EVN_OK;
}

evn_status radiation_plan(struct radiation *r, const struct slices *s, int from, int to) {
    evn_status status = EVN_OK;
    for (int m = 0; !status && m < r->levels; m++) status = layout_add(r->layout[m], s, from, to);
    return status;
}

evn_status radiation_end(struct radiation *r) {
    evn_status status = EVN_OK;
    for (int m = 0; !status && m < r->levels; m++) {
        const int steps = r->layout[m]->is.group;
        const int updates = (r->group - steps - 1) / (2 * steps) + 1;
        status = layout_end(r->layout[m], NULL);
        r->flop += 2.0 * (double)r->layout[m]->nnz * steps * updates;
    }
    return status;
}

evn_status radiation_reserve(struct radiation *r) {
    size_t scratch = 0, sums = 0;
    for (int m = 0; m < r->levels; m++) {
        struct layout *a = r->layout[m];
        const size_t real = a->is.single ? sizeof(float) : sizeof(double);
        evn_status status = layout_reserve(a, 1);
        if (!status)
            status = history_open(&r->past[m], a->columns, a->depth, a->front, a->is.group,
                                  a->is.single);
        if (status) return status;
        if (summation_scratch(a, 1) > scratch) scratch = summation_scratch(a, 1);
        sums = (size_t)r->rows * (size_t)a->wide * real;
    }
    r->sums = aligned_alloc(64, up(sums) + 64);
    r->scratch_bytes = up(scratch) + 64;
    r->scratch = aligned_alloc(64, r->scratch_bytes * (size_t)r->cores);
    if (!r->sums || !r->scratch)
        return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the radiation stage");
    return EVN_OK;
}

evn_status radiation_open(struct radiation **out, const struct slices *s, int group, int single,
                          int cores) {
    evn_status status = radiation_begin(out, s->columns, s->rows, group, single, cores);
    if (status) return status;
    status = radiation_plan(*out, s, 0, s->columns);
    if (!status) status = radiation_end(*out);
    if (!status) status = radiation_reserve(*out);
    if (!status) return EVN_OK;
    radiation_close(*out);
    *out = NULL;
    return status;
}

evn_status radiation_fill(struct radiation *r, const struct slices *s) {
    evn_status status = EVN_OK;
    for (int m = 0; !status && m < r->levels; m++)
        status = layout_fill(r->layout[m], s, s->from, s->to);
    return status;
}

void radiation_close(struct radiation *r) {
    if (!r) return;
    for (int m = 0; m < RADIATION_LEVELS; m++) {
        layout_close(r->layout[m]);
        history_close(r->past[m]);
    }
    free_all(r->sums, r->scratch, r);
}

/* One update: the latest steps of `a` into the next ones. */
struct update {
    struct radiation *r;
    int level, known, steps; /* steps known of the group; how many of them, and into how many */
    const double *a;
    double *sums;
    int wide;
    atomic_int next; /* tile that no core has taken yet */
};

static void add_tile(const struct update *u, const struct layout *l, int tile) {
    const struct radiation *r = u->r;
    const int left = r->group - u->known, count = u->steps < left ? u->steps : left;
    for (int i = l->tile_row[tile]; i < l->tile_row[tile + 1]; i++)
        for (int g = 0; g < count; g++) {
            const size_t at = (size_t)i * (size_t)l->wide + (size_t)g;
            u->sums[(size_t)i * (size_t)u->wide + (size_t)(u->known + g)] +=
                l->is.single ? (double)((const float *)r->sums)[at] : ((const double *)r->sums)[at];
        }
}

static void run_update(evn_crew *crew, int me, int cores, void *arg) {
    struct update *u = arg;
    const struct radiation *r = u->r;
    const struct layout *l = r->layout[u->level];
    struct history *past = r->past[u->level];
    const double *latest = u->a + (size_t)(u->known - u->steps) * (size_t)l->columns;
    history_replace(past, latest, u->steps, evn_crew_begin(l->columns, me, cores),
                    evn_crew_begin(l->columns, me + 1, cores));
    evn_crew_barrier(crew);
    for (int t; (t = atomic_fetch_add(&u->next, 1)) < l->tiles;) {
        summation_part(l, 0, 1, t, past, r->sums, r->scratch + (size_t)me * r->scratch_bytes);
        add_tile(u, l, t);
    }
}

void radiation_add(struct radiation *r, evn_crew *crew, int p, const double *a, double *sums,
                   int wide) {
    struct update update = {.r = r, .known = p, .a = a, .sums = sums, .wide = wide};
    update.level = radiation_level(p, &update.steps);
    const struct layout *l = r->layout[update.level];
    const int cores = evn_crew_cores(crew, 2.0 * (double)l->nnz * update.steps, LEAST);
    evn_crew_run(crew, &r->pace[update.level], cores < r->cores ? cores : r->cores, run_update,
                 &update);
}

int radiation_level(int p, int *steps) {
    int level = 0;
    for (*steps = 1; p % (2 * *steps) == 0; level++) *steps *= 2;
    return level;
}

int radiation_levels(const struct radiation *r) { return r->levels; }
int radiation_group(const struct radiation *r) { return r->group; }
const struct layout *radiation_layout(const struct radiation *r, int level) {
    return r->layout[level];
}

double radiation_flop(const struct radiation *r) { return r->flop; }

double radiation_bytes(const struct radiation *r) {
    double bytes = 0;
    for (int m = 0; m < r->levels; m++)
        bytes += r->layout[m]->bytes + (double)layout_tables(r->layout[m]);
    return bytes;
}
