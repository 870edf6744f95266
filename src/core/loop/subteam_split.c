/* Division of a team into subteams, for equal cores and known weights. Try each plausible number of
 * subteams; assign tasks longest-first, each to the subteam that would finish it first; optionally
 * run the k largest on the whole team first. If subteams of one size leave some waiting, subteams
 * with more work get more cores.
 *
 * docs/notes/tuning.md: a measured cost of doubling instead of the assumed one gained nothing. */
#include "loop/subteam_split.h"
#include "schedule/soonest.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Loss by barriers and unequal shares: measured on teams of 2 (0.65 to 0.85), assumed for each
 * doubling. */
static double of_cores(double cores) { return cores / (1 + 0.2 * log2(cores)); }
double cut_speed(int cores) { return of_cores(cores); }

int cut_open(struct cut *cut, int cores) {
    const size_t n = (size_t)cores + 1;
    *cut = (struct cut){.cores = cores};
    cut->first = calloc(5 * n, sizeof *cut->first);
    cut->load = calloc(4 * n, sizeof *cut->load);
    if (!cut->first || !cut->load) return -1;
    cut->other = cut->first + n;
    cut->last = cut->other + n;
    cut->alike = cut->last + n;
    cut->heap = cut->alike + n;
    cut->work = cut->load + n;
    cut->speed = cut->work + n;
    cut->early = cut->speed + n;
    for (int c = 1; c <= cores; c++) cut->speed[c] = cut_speed(c);
    return 0;
}

void cut_close(struct cut *cut) {
    free(cut->first);
    free(cut->load);
    *cut = (struct cut){0};
}

static _Thread_local const double *weight_of; /* weights that by_weight() compares */

static int by_weight(const void *a, const void *b) {
    const int x = *(const int *)a, y = *(const int *)b;
    const double wx = weight_of ? weight_of[x] : 1, wy = weight_of ? weight_of[y] : 1;
    return wx > wy ? -1 : wx < wy ? 1 : x < y ? -1 : x > y;
}

void cut_sort(int tasks, int *task, const double *weight, double *sorted) {
    weight_of = weight;
    qsort(task, (size_t)tasks, sizeof *task, by_weight);
    for (int t = 0; t < tasks; t++) sorted[t] = weight ? weight[task[t]] : 1;
}

/* ---- tasks to subteams ---- */

/* By cut_speed(). */
struct plain {
    const double *weight, *speed;
};

static double plain_cost(const void *arg, int task, int cores) {
    const struct plain *p = arg;
    return p->weight[task] / p->speed[cores];
}

/* Subteams of one size follow each other: where each of these runs begins. Returns their number. */
static int find_alike(const struct cut *cut) {
    int runs = 0;
    for (int s = 0; s < cut->subteams; s++)
        if (!s || cut_size(cut, s) != cut_size(cut, s - 1)) cut->alike[runs++] = s;
    cut->alike[runs] = cut->subteams;
    return runs;
}

/* The run whose subteam that is free first would finish the task first, the first of equals; *end
 * is then. */
static inline int earliest(const struct cut *cut, int runs, struct cut_cost cost, int task,
                           double *end) {
    int best = 0;
    *end = INFINITY;
    for (int i = 0; i < runs; i++) {
        const int from = cut->alike[i];
        const double done =
            cut->load[cut->heap[from]] + cost.of(cost.arg, task, cut_size(cut, from));
        if (done < *end) *end = done, best = i;
    }
    return best;
}

/* Each run is a heap by load. Ends before its time once the end is not below `most`. */
static inline double deal(struct cut *cut, int tasks, struct cut_cost cost, int *to, double most) {
    double begin = 0, *load = cut->load;
    for (int t = 0; t < cut->together; t++) begin += cost.of(cost.arg, t, cut->cores);
    double end = begin;
    for (int s = 0; s < cut->subteams; s++) load[s] = begin, cut->heap[s] = s;
    const int runs = find_alike(cut);
    for (int t = cut->together; t < tasks && end < most; t++) {
        double done;
        const int run = earliest(cut, runs, cost, t, &done), from = cut->alike[run];
        int *const heap = cut->heap + from;
        load[*heap] = done;
        if (to) to[t] = *heap;
        soonest_sink(heap, cut->alike[run + 1] - from, 0, load);
        if (done > end) end = done;
    }
    return end;
}

double cut_deal(struct cut *cut, int tasks, const struct cut_cost *cost, int *to) {
    return deal(cut, tasks, *cost, to, INFINITY);
}

static double deal_plainly(struct cut *cut, int tasks, const double *weight, int *to, double most) {
    const struct plain plain = {weight, cut->speed};
    return deal(cut, tasks, (struct cut_cost){plain_cost, &plain}, to, most);
}

/* Tasks of one weight, which are alike, from number `t` on: each subteam gets as many as it has,
 * but those that follow each other, which are likely neighbours. Returns the first behind them. */
static int keep_near(const struct cut *cut, int t, int tasks, const double *weight, int *to) {
    int end = t + 1, at = t;
    while (end < tasks && weight[end] == weight[t]) end++;
    for (int s = 0; s < cut->subteams; s++)
        for (int i = at; i < end; i++)
            if (to[i] == s) {
                to[i] = to[at];
                to[at++] = s;
            }
    return end;
}

double cut_deal_near(struct cut *cut, int tasks, const double *weight, int *to) {
    const double end = deal_plainly(cut, tasks, weight, to, INFINITY);
    for (int t = cut->together; t < tasks;) t = keep_near(cut, t, tasks, weight, to);
    return end;
}

/* ---- the choice ---- */

/* Least gain of a new division: tasks that change cores leave their caches. */
static const double BETTER = 0.98, GOOD = 1.03;

/* Limits of the search for unequal subteams: tasks a core, numbers of subteams, tasks done by all
 * before; and rounds of reassigning cores. */
enum { FEW = 2, NUMBERS = 16, BEFORE = 4, AGAIN = 3 };

/* The tasks at hand, the cut that is being looked at, and the best so far, which needs `least`. */
struct search {
    struct cut now, *best;
    int tasks;
    const double *weight;
    double sum, least;
};

static int is_good(const struct search *s) { return s->least <= GOOD * s->sum / s->now.cores; }

/* Whether a cut that ends no earlier can be left out; a bit less, since sums are rounded. */
static int is_late(const struct search *s, double end) {
    return end * (1 - 1e-9) >= s->least * BETTER;
}

/* Takes the cut at hand if it is better. */
static void consider(struct search *s, double end) {
    if (!(end < s->least * BETTER)) return;
    s->best->together = s->now.together;
    s->best->subteams = s->now.subteams;
    memcpy(s->best->first, s->now.first, ((size_t)s->now.subteams + 1) * sizeof *s->now.first);
    s->least = end;
}

/* The best cut into so many subteams of equal size but for one core, which the first have. */
static void try_equal(struct search *s, int subteams) {
    struct cut *now = &s->now;
    const int each = now->cores / subteams, more = now->cores % subteams;
    double large = 0, speed = 0; /* weight of the tasks that all cores do; speed of all subteams */
    now->subteams = subteams;
    for (int i = 0; i <= subteams; i++) now->first[i] = i * each + (i < more ? i : more);
    for (int i = 0; i < subteams; i++) speed += now->speed[cut_size(now, i)];
    for (int m = 0;; m++) {
        /* all cores together are no faster than the subteams, so that this only grows */
        const double begin = large / now->speed[now->cores];
        if (is_late(s, begin + (s->sum - large) / speed)) return;
        /* one subteam is all cores */
        now->together = subteams == 1 ? s->tasks : m;
        const double one = m < s->tasks ? s->weight[m] / now->speed[each + (more > 0)] : 0;
        if (subteams == 1 || !is_late(s, begin + one))
            consider(s, deal_plainly(now, s->tasks, s->weight, NULL, s->least * BETTER));
        if (is_good(s) || subteams == 1 || m == s->tasks || m == now->cores) return;
        large += s->weight[m];
    }
}

/* Shares the cores out to subteams that have now->work[] to do: to that which would be done last,
 * one by one, which is best as far as more cores are faster: `early` is minus when it would be. The
 * largest come first. */
static void share_cores(struct cut *now) {
    int *size = now->first + 1, *last = now->heap;
    for (int i = 0; i < now->subteams; i++) {
        size[i] = 1;
        last[i] = i;
        now->early[i] = -now->work[i] / now->speed[1];
    }
    for (int i = now->subteams / 2; i-- > 0;) soonest_sink(last, now->subteams, i, now->early);
    for (int left = now->cores - now->subteams; left > 0; left--) {
        now->early[*last] = -now->work[*last] / now->speed[++size[*last]];
        soonest_sink(last, now->subteams, 0, now->early);
    }
    for (int i = 1; i < now->subteams; i++)
        for (int k = i; k > 0 && size[k] > size[k - 1]; k--) {
            const int other = size[k];
            size[k] = size[k - 1];
            size[k - 1] = other;
        }
    now->first[0] = 0;
    for (int i = 1; i <= now->subteams; i++) now->first[i] += now->first[i - 1];
}

/* Makes `subteams` subteams, each with cores for its work in now->work[]; then again for the work
 * assigned. `begin`: end of the tasks done by all cores. */
static void try_shares(struct search *s, double begin) {
    struct cut *now = &s->now;
    const size_t bytes = ((size_t)now->subteams + 1) * sizeof *now->first;
    for (int again = 0; again < AGAIN; again++) {
        memcpy(now->last, now->first, bytes);
        share_cores(now);
        if (again && !memcmp(now->last, now->first, bytes)) return; /* no more changes */
        /* all are dealt where their loads count yet */
        const double most = again + 1 < AGAIN ? INFINITY : s->least * BETTER;
        consider(s, deal_plainly(now, s->tasks, s->weight, NULL, most));
        for (int i = 0; i < now->subteams; i++)
            now->work[i] = (now->load[i] - begin) * now->speed[cut_size(now, i)];
    }
}

/* Two ways to begin: each has one of the largest tasks to do, or an even share of all. */
static void try_unequal(struct search *s, int subteams, int together) {
    struct cut *now = &s->now;
    double begin = 0;
    for (int t = 0; t < together; t++) begin += s->weight[t] / now->speed[now->cores];
    now->subteams = subteams;
    now->together = together;
    for (int i = 0; i < subteams; i++) {
        const int t = together + i;
        now->work[i] = t < s->tasks ? s->weight[t] : 0;
    }
    try_shares(s, begin);
    for (int i = 0; i <= subteams; i++) now->first[i] = i; /* one core each */
    deal_plainly(now, s->tasks, s->weight, NULL, INFINITY);
    for (int i = 0; i < subteams; i++) now->work[i] = now->load[i] - begin;
    try_shares(s, begin);
}

/* When so many subteams are done at best, after tasks of weight `large` that all do: the next one
 * is done by all cores but one for each other subteam; and all cores do most where sizes are equal,
 * since each core more brings less than the one before. */
static double at_best(const struct search *s, int subteams, int together, double large) {
    const int cores = s->now.cores;
    const double begin = large / s->now.speed[cores], each = (double)cores / subteams;
    const double one = s->weight[together] / s->now.speed[cores - subteams + 1];
    return begin + fmax(one, (s->sum - large) / (subteams * of_cores(each)));
}

/* With too few tasks to even out by themselves. */
static void try_all_unequal(struct search *s) {
    const int cores = s->now.cores, most = s->tasks < cores ? s->tasks : cores;
    const int step = (most + NUMBERS - 1) / NUMBERS;
    double large = 0;
    if (s->tasks > FEW * cores) return;
    for (int m = 0; m < BEFORE && m < s->tasks; large += s->weight[m++])
        for (int g = most; g > 1 && !is_good(s); g -= step)
            if (!is_late(s, at_best(s, g, m, large))) try_unequal(s, g, m);
}

void cut_choose(struct cut *cut, int tasks, const double *weight) {
    const int cores = cut->cores;
    struct search s = {
        .now = *cut, .best = cut, .tasks = tasks, .weight = weight, .least = INFINITY};
    s.now.first = cut->other;
    for (int t = 0; t < tasks; t++) s.sum += weight[t];
    cut->together = tasks;
    cut->subteams = 1;
    cut->first[0] = 0;
    cut->first[1] = cores;
    /* among numbers that make subteams as small, the largest is tried */
    for (int g = tasks < cores ? tasks : cores; g > 0; g = cores / (cores / g + 1)) {
        try_equal(&s, g);
        if (is_good(&s)) return;
    }
    try_all_unequal(&s);
}
