/* The multilevel candidate of `map`: see levels.h. */
#include "policy/map/choice.h"
#include "policy/map/levels.h"
#include <math.h>
#include <stdlib.h>

enum {
    COARSEST = 240, /* on the coarsest level, vertices a unit */
    LARGE = 250000, /* on it, vertices in all, where COARSEST a unit is more */
    FEWER = 20,     /* on it, least vertices a unit */
    LEVELS = 64,
};

#define LOOSE    0.006 /* allowed excess of a unit over the mean; */
#define EVEN     0.004 /* the same at the end; */
#define ROUGH    0.03  /* where tasks are large, one mean task, but no more than this */
#define HEAVIEST 4.0   /* largest weight of a vertex of the coarsest level, over the mean */
#define GRAINS   0.3   /* allowed beside it on coarser levels, in mean vertices */
#define STALLS   0.95  /* ratio of two levels' vertices above which coarsening ends */

struct levels {
    struct level level[LEVELS];
    int *into[LEVELS]; /* vertex of the next level for each of a level's */
    int n;
};

static void close_levels(struct levels *l) {
    for (int i = 0; i < l->n; i++) {
        level_close(&l->level[i]);
        free(l->into[i]);
    }
}

/* Coarser and coarser levels of the model's graph. 1: not enough memory. */
static int make_levels(struct levels *l, const struct map_model *m, unsigned long long seed) {
    const double enough = fmin((double)COARSEST * m->units, fmax(LARGE, (double)FEWER * m->units));
    l->level[0] = (struct level){.n = m->tasks,
                                 .start = m->start,
                                 .to = m->neighbour,
                                 .bytes = m->bytes,
                                 .weight = m->weight};
    l->n = 1;
    const double heaviest = HEAVIEST * level_weight(&l->level[0]) / enough;
    while (l->n < LEVELS && l->level[l->n - 1].n > enough) {
        const struct level *fine = &l->level[l->n - 1];
        int *into = malloc((size_t)fine->n * sizeof *into);
        l->into[l->n - 1] = into;
        if (!into || level_coarsen(fine, heaviest, &seed, &l->level[l->n], into)) return 1;
        if (l->level[l->n++].n > STALLS * fine->n) break;
    }
    return 0;
}

int map_multilevel(const struct map_model *m, unsigned long long seed, int *owner) {
    struct levels l = {.n = 0};
    if (m->units < 2 || m->tasks < m->units || m->start[m->tasks] == 0) return 1;
    struct borders *b = borders_open(m);
    int failed = !b || make_levels(&l, m, seed);
    failed = failed || level_bisect(&l.level[l.n - 1], m, seed, owner);
    const double rough = fmin(ROUGH, (double)m->units / m->tasks);
    for (int i = l.n - 1; !failed && i >= 0; i--) {
        const struct level *g = &l.level[i];
        borders_start(b, g, i + 1 < l.n ? l.into[i] : NULL, owner);
        borders_improve(b, g, owner, fmax(LOOSE, rough) + (i ? GRAINS * m->units / g->n : 0));
        if (!i) borders_improve(b, g, owner, fmax(EVEN, rough));
    }
    close_levels(&l);
    borders_close(b);
    return failed || map_feed(m, owner);
}
