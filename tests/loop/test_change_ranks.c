/* Tasks that come and go over ranks, which are processes here: random changes of a line of tasks,
 * in which tasks are divided, merged, remade in pairs, inserted and removed, and numbers turned
 * round; births from origins that were on several ranks; faces that come and go; tasks that travel.
 * All values are those of plain arrays, under every schedule, with memory of the program's and with
 * regions, on cores and on devices. Ranks that say different things all hear of it, and go on as
 * before; and so they do whichever allocation of a call fails on one of them. Run: ctest -R
 * change-ranks */
#include "check.h"
#include "domain/exchange_ranks.h"
#include "exchange/plan.h"
#include "failing.h"
#include "wire/ranks.h"
#include <evener.h>
#include <unistd.h>

struct numbers;
enum {
    MOST = 64,
    VALUES = 24,
    BYTES = VALUES * sizeof(double),
    START = 14,
    MANY = 48,
    RANKS_MAX = 5
};

struct trial {
    int ranks, place, rounds;
    const char *schedule;
    const char *const *list;
    int few;   /* 1: of many tasks few change at a time, and few move */
    int fails; /* 1: every allocation of calls fails first, each round on another rank */
};
static const struct trial *trial;

struct world {
    evn_cluster *cluster;
    int rank;
    evn_machine *machine;
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_place *place;
    evn_exchange *exchange;
    int fail_make;
    int failing;   /* the rank where allocations fail; -1: none */
    long from;     /* the first of them */
    unsigned seed; /* the same on all ranks */
    int tasks;
    int line[MOST]; /* tasks in their order */
    int face[MOST]; /* number of the first of two faces between tasks i and i + 1 of the line */
    int numbered;
    double *block[MOST]; /* memory here; NULL */
    int region[MOST];
    double value[MOST][VALUES]; /* as they should be */
    /* of before, while tasks are born */
    double *old[MOST];
    const struct numbers *numbers;
    int step;
    int mended; /* plans of the exchange that were not made from scratch */
};

/* A change, in the order of the line. */
struct steps {
    int tasks, first[MOST + 1], from[2 * MOST], at; /* by the line, both */
    char kept[MOST];
};

static int below(struct world *w, int n) {
    w->seed = w->seed * 1664525u + 1013904223u;
    return (int)((w->seed >> 8) % (unsigned)n);
}

/* ---- homes --------------------------------------------------------------------------------- */

static evn_status make(void *arg, int task) {
    struct world *w = arg;
    must(!w->block[task]);
    if (w->fail_make) return evn_fail(EVN_MEMORY, "line: no room for task %d", task);
    w->block[task] = malloc(BYTES);
    return w->block[task] ? EVN_OK : evn_fail(EVN_MEMORY, "line: no memory for task %d", task);
}

static void *memory(void *arg, int task, int block, size_t *bytes) {
    const struct world *w = arg;
    (void)block;
    *bytes = w->block[task] ? BYTES : 0;
    return w->block[task];
}

static void drop(void *arg, int task) {
    struct world *w = arg;
    free(w->block[task]);
    w->block[task] = NULL;
}

/* ---- plain arrays -------------------------------------------------------------------------- */

static void compute(double *v, int step) {
    double next[VALUES];
    for (int i = 1; i < VALUES - 1; i++)
        next[i] = 0.5 * v[i] + 0.2 * v[i - 1] + 0.3 * v[i + 1] + step % 3;
    memcpy(v + 1, next + 1, (VALUES - 2) * sizeof *v);
}

static void bear_plainly(double *v, double *const *origin, int count) {
    for (int i = 0; i < VALUES; i++) {
        v[i] = count ? 0 : i;
        for (int k = 0; k < count; k++) v[i] += (k + 1) * origin[k][i] / (count + 1);
    }
}

static void step_plainly(struct world *w) {
    for (int i = 0; i + 1 < w->tasks; i++) {
        double *a = w->value[w->line[i]], *b = w->value[w->line[i + 1]];
        b[0] = a[VALUES - 2];
        a[VALUES - 1] = b[1];
    }
    for (int t = 0; t < w->tasks; t++) compute(w->value[t], w->step);
}

static void check(struct world *w) {
    int here = 0;
    for (int t = 0; t < w->tasks; t++) {
        if (!evn_loop_has(w->loop, t)) continue;
        here++;
        if (w->place) must_ok(evn_place_acquire(w->place, 1, &w->region[t], EVN_HOST, EVN_READ));
        must(w->block[t] && !memcmp(w->block[t], w->value[t], BYTES));
        if (w->place) must_ok(evn_place_release(w->place, 1, &w->region[t], EVN_HOST));
    }
    int all[RANKS_MAX], sum = 0;
    must_ok(evn_cluster_gather(w->cluster, &here, sizeof here, all));
    for (int r = 0; !w->rank && r < trial->ranks; r++) sum += all[r];
    must(w->rank || sum == w->tasks);
}

/* ---- opening ------------------------------------------------------------------------------- */

static void add_pair(const struct world *w, int i, evn_face *face) {
    const int a = w->line[i], b = w->line[i + 1];
    face[0] = (evn_face){.from = a, .to = b, .from_at = VALUES - 2, .n = {1, 1, 1}};
    face[1] = (evn_face){.from = b, .to = a, .from_at = 1, .to_at = VALUES - 1, .n = {1, 1, 1}};
}

static void open_units(struct world *w) {
    must_ok(evn_machine_open(&w->machine));
    must_ok(evn_units_open_on(&w->units, w->machine, trial->list[w->rank], "emulated",
                              EVN_OVERSUBSCRIBE));
    must_ok(evn_cluster_units(w->cluster, w->units, NULL));
}

static void open_blocks(struct world *w) {
    static const evn_access access[] = {EVN_BOTH};
    static const evn_home home = {.blocks = 1, .make = make, .memory = memory, .drop = drop};
    if (trial->place) must_ok(evn_place_open(&w->place, w->units, 0.5));
    for (int t = 0; t < w->tasks; t++) {
        for (int i = 0; i < VALUES; i++) w->value[t][i] = t + i % 5;
        if (evn_loop_has(w->loop, t)) must_ok(make(w, t));
        if (w->block[t]) memcpy(w->block[t], w->value[t], BYTES);
        if (w->place) must_ok(evn_place_add(w->place, w->block[t], BYTES, &w->region[t]));
    }
    if (w->place) must_ok(evn_loop_place(w->loop, w->place, 1, w->region, access));
    must_ok(evn_loop_homes(w->loop, &home, w));
}

static void open_world(struct world *w, evn_cluster *cluster) {
    evn_face face[2 * MOST];
    *w = (struct world){
        .cluster = cluster, .rank = evn_cluster_rank(cluster), .seed = 7, .failing = -1, .from = 1};
    w->tasks = trial->few ? MANY : START;
    open_units(w);
    const evn_problem p = {.tasks = w->tasks,
                           .units = evn_cluster_unit_count(cluster),
                           .speed = evn_cluster_speeds(cluster)};
    must_ok(evn_schedule_open(&w->schedule, trial->schedule, &p));
    must_ok(evn_loop_open_on(&w->loop, w->units, w->schedule, cluster));
    open_blocks(w);
    for (int t = 0; t < w->tasks; t++) w->line[t] = t;
    for (int i = 0; i + 1 < w->tasks; i++) {
        add_pair(w, i, &face[2 * i]);
        w->face[i] = 2 * i;
    }
    w->numbered = 2 * (w->tasks - 1);
    must_ok(evn_exchange_open(&w->exchange, w->loop, sizeof(double), w->numbered, face,
                              w->place ? NULL : (void *const *)w->block));
}

static void close_world(struct world *w) {
    evn_exchange_close(w->exchange);
    evn_loop_close(w->loop);
    evn_place_close(w->place);
    evn_schedule_close(w->schedule);
    evn_units_close(w->units);
    evn_machine_close(w->machine);
    for (int t = 0; t < w->tasks; t++) free(w->block[t]);
}

/* ---- steps --------------------------------------------------------------------------------- */

/* A task's values on cores, or its copy of a device's. */
static evn_status work(struct world *w, evn_batch *b, int task) {
    double copy[VALUES];
    if (evn_batch_device(b) < 0) {
        compute(w->block[task], w->step);
        return EVN_OK;
    }
    evn_queue *q = evn_batch_queue(b);
    evn_buffer *buffer = evn_batch_buffer(b);
    const size_t at = evn_batch_at(b, task, 0);
    evn_status status = evn_copy_to_host(q, copy, buffer, at, BYTES);
    if (!status) status = evn_queue_finish(q);
    if (status) return status;
    compute(copy, w->step);
    status = evn_copy_to_device(q, buffer, at, copy, BYTES);
    return status ? status : evn_queue_finish(q);
}

/* Times that are not true, so that tasks move. */
static evn_status body(evn_unit *unit, evn_batch *b, void *arg) {
    struct world *w = arg;
    int count;
    const int *task = evn_batch_tasks(b, &count);
    evn_status status = EVN_OK;
    (void)unit;
    for (int i = 0; !status && i < count; i++) {
        status = work(w, b, task[i]);
        evn_batch_add(b, task[i], trial->few ? 1 : 1 + (task[i] * 7 + w->step * 3) % 11);
    }
    if (!status) evn_batch_done(b, count);
    return status;
}

/* The loop's counts of a run. */
static evn_loop_totals count_run(const struct world *w, evn_exchange *x) {
    const evn_loop_totals before = evn_loop_sum(w->loop);
    must_ok(evn_exchange_run(x));
    evn_loop_totals after = evn_loop_sum(w->loop);
    after.bytes -= before.bytes;
    after.messages -= before.messages;
    after.copies -= before.copies;
    after.rank_messages -= before.rank_messages;
    after.rank_bytes -= before.rank_bytes;
    return after;
}

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Messages are those of an exchange that is opened anew with the same faces in their order, and
 * each face has the same place in them. */
static void compare_messages(struct world *w) {
    evn_face face[2 * MOST];
    int order[MOST][2], pairs = w->tasks - 1;
    evn_exchange *x = w->exchange, *fresh = NULL;
    for (int i = 0; i < pairs; i++) order[i][0] = w->face[i], order[i][1] = i;
    qsort(order, (size_t)pairs, sizeof *order, by_number);
    for (int i = 0; i < pairs; i++) add_pair(w, order[i][1], &face[2 * i]);
    must_ok(evn_exchange_open(&fresh, w->loop, sizeof(double), 2 * pairs, face,
                              w->place ? NULL : (void *const *)w->block));
    const evn_loop_totals here = count_run(w, x), anew = count_run(w, fresh);
    must(here.bytes == anew.bytes && here.messages == anew.messages);
    must(here.copies == anew.copies && here.rank_messages == anew.rank_messages);
    must(here.rank_bytes == anew.rank_bytes);
    must(x->remote->faces == fresh->remote->faces &&
         x->remote->neighbours.count == fresh->remote->neighbours.count);
    for (int i = 0; i < fresh->remote->faces; i++) {
        const struct evn_face *f = &x->face[x->remote->face[i]].of;
        const struct evn_face *g = &fresh->face[fresh->remote->face[i]].of;
        must(x->remote->at[i] == fresh->remote->at[i]);
        must(exchange_task(x, &x->face[x->remote->face[i]], 1) == g->to && f->to_at == g->to_at);
    }
    for (int t = 0; t < w->tasks; t++)
        if (evn_loop_has(w->loop, t))
            must(evn_exchange_needs(x, t) == evn_exchange_needs(fresh, t));
    evn_exchange_close(fresh);
}

static void run_step(struct world *w) {
    must_ok(evn_exchange_run(w->exchange));
    w->mended += w->exchange->gone > 0 || w->exchange->plan.cut > 0;
    if (w->step % 3 == 0) compare_messages(w);
    must_ok(evn_loop_run(w->loop, body, w));
    step_plainly(w);
    w->step++;
}

/* A run without an exchange, since some of its faces are gone already. */
static void compute_all(struct world *w) {
    must_ok(evn_loop_run(w->loop, body, w));
    for (int t = 0; t < w->tasks; t++) compute(w->value[t], w->step);
    w->step++;
}

/* ---- changes ------------------------------------------------------------------------------- */

static evn_status bear(evn_unit *unit, evn_batch *b, void *arg);
static evn_status call_bear(struct world *w, const void *arg) {
    (void)arg;
    return evn_loop_bear(w->loop, bear, w, EVN_READ);
}

/* A call until it comes about, each time with another allocation of this rank that fails. All ranks
 * hear of it alike, and what there is stays as it was; `complete`: also values. */
static void call(struct world *w, evn_status (*made)(struct world *w, const void *arg),
                 const void *arg, int complete) {
    const int generation = evn_loop_generation(w->loop), tasks = w->tasks;
    int owner[MOST];
    long i = complete ? w->from : 1;
    for (int tries = 1;; tries++, i++) {
        char *before = evn_schedule_export(w->schedule);
        memcpy(owner, evn_loop_owner(w->loop), (size_t)tasks * sizeof *owner);
        const evn_loop_totals totals = evn_loop_sum(w->loop);
        if (w->rank == w->failing) fails = i;
        const evn_status status = made(w, arg);
        const int failed = w->rank == w->failing && !fails;
        fails = 0;
        if (w->failing < 0 || !status) must_ok(status);
        if (!status) {
            if (complete) must(w->failing < 0 || tries > 4 || w->from > 1);
            /* some can be done without; the next change begins behind it */
            if (complete) w->from = failed ? i + 1 : 1;
            free(before);
            return;
        }
        must(status == EVN_MEMORY || (made == call_bear && status == EVN_BODY));
        must(evn_loop_generation(w->loop) == generation);
        char *now = evn_schedule_export(w->schedule);
        must(!strcmp(before, now));
        must(!memcmp(owner, evn_loop_owner(w->loop), (size_t)tasks * sizeof *owner));
        must(evn_loop_sum(w->loop).moved == totals.moved);
        free(before);
        free(now);
        if (complete) check(w);
        if (complete && tries % 4 == 0) compute_all(w);
    }
}

static evn_status call_change(struct world *w, const void *c) {
    return evn_loop_change(w->loop, c);
}

struct added {
    int count;
    const evn_face *face;
};
static evn_status call_add(struct world *w, const void *arg) {
    const struct added *a = arg;
    return evn_exchange_add(w->exchange, a->count, a->face,
                            w->place ? NULL : (void *const *)w->block);
}

struct dropped {
    int count;
    const int *number;
};
static evn_status call_drop(struct world *w, const void *arg) {
    const struct dropped *d = arg;
    return evn_exchange_drop(w->exchange, d->count, d->number);
}

static void add_task(struct steps *p, int kept, int origins, int from) {
    p->kept[p->tasks] = (char)kept;
    for (int k = 0; k < origins; k++) p->from[p->at++] = from + k;
    p->first[++p->tasks] = p->at;
}

static void draw_plan(struct world *w, struct steps *p) {
    *p = (struct steps){0};
    for (int i = 0; i < w->tasks; i++) {
        const int way = below(w, trial->few ? 100 : 12), pair = i + 1 < w->tasks;
        const int more = p->tasks < (trial->few ? MANY : MOST / 2);
        if (way == 0 && more) {
            for (int c = 1 + below(w, 3); c; c--) add_task(p, 0, 1, i);
        } else if (way == 1 && pair && w->tasks > 6) {
            add_task(p, 0, 2, i++);
        } else if (way == 2 && pair) {
            add_task(p, 0, 2, i);
            add_task(p, 0, 2, i++);
        } else if (way == 3 && w->tasks > 8) {
            continue;
        } else {
            if (way == 4 && more) add_task(p, 0, 0, i);
            add_task(p, 1, 1, i);
        }
    }
    must(p->tasks <= MOST);
}

/* Whether tasks i and i + 1 of the new line were neighbours before. */
static int stay(const struct steps *p, int i) {
    return p->kept[i] && p->kept[i + 1] && p->from[p->first[i]] + 1 == p->from[p->first[i + 1]];
}

/* Faces between kept tasks that are neighbours no longer. */
static void drop_faces(struct world *w, const struct steps *p) {
    int gone[MOST], count = 0, kept[MOST] = {0}, together[MOST] = {0};
    for (int i = 0; i < p->tasks; i++) {
        if (p->kept[i]) kept[p->from[p->first[i]]] = 1;
        if (i + 1 < p->tasks && stay(p, i)) together[p->from[p->first[i]]] = 1;
    }
    for (int i = 0; i + 1 < w->tasks; i++) {
        if (!kept[i] || !kept[i + 1] || together[i]) continue;
        gone[count++] = w->face[i];
        gone[count++] = w->face[i] + 1;
    }
    call(w, call_drop, &(struct dropped){count, gone}, 0);
}

/* The same by the numbers of tasks: `line` of the new ones. */
struct numbers {
    int first[MOST + 1], from[2 * MOST], region[MOST], line[MOST];
    char kept[MOST];
    double weight[MOST];
};

static void number(struct world *w, const struct steps *p, struct numbers *c) {
    const int turned = !below(w, 3), n = p->tasks;
    c->first[0] = 0;
    for (int t = 0; t < n; t++) {
        const int i = turned ? n - 1 - t : t, count = p->first[i + 1] - p->first[i];
        c->line[i] = t;
        c->kept[t] = p->kept[i];
        c->weight[t] = 1 + below(w, 3);
        for (int k = 0; k < count; k++)
            c->from[c->first[t] + k] = w->line[p->from[p->first[i] + k]];
        c->first[t + 1] = c->first[t] + count;
        c->region[t] = -1;
        if (w->place && !c->kept[t]) must_ok(evn_place_add(w->place, NULL, BYTES, &c->region[t]));
    }
}

static evn_status bear(evn_unit *unit, evn_batch *b, void *arg) {
    struct world *w = arg;
    int count;
    const int *task = evn_batch_tasks(b, &count);
    const struct numbers *c = w->numbers;
    (void)unit;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < count; i++) {
        const int t = task[i], origins = evn_batch_origins(b, t);
        double copy[2][VALUES], *origin[2] = {copy[0], copy[1]}, born[VALUES];
        must(origins == c->first[t + 1] - c->first[t]);
        for (int k = 0; !status && k < origins; k++) {
            if (evn_batch_device(b) >= 0) {
                status = evn_copy_to_host(evn_batch_queue(b), copy[k], evn_batch_buffer(b),
                                          evn_batch_origin_at(b, t, k, 0), BYTES);
                if (!status) status = evn_queue_finish(evn_batch_queue(b));
            } else {
                origin[k] =
                    w->place ? evn_batch_origin_host(b, t, k, 0) : w->old[c->from[c->first[t] + k]];
            }
        }
        if (status) return status;
        bear_plainly(born, origin, origins);
        if (evn_batch_device(b) < 0) {
            memcpy(w->block[t], born, BYTES);
            continue;
        }
        status = evn_copy_to_device(evn_batch_queue(b), evn_batch_buffer(b), evn_batch_at(b, t, 0),
                                    born, BYTES);
        if (!status) status = evn_queue_finish(evn_batch_queue(b));
    }
    if (!status) evn_batch_done(b, count);
    return status;
}

/* Memory of the new tasks, and how values should be. */
static void go_on(struct world *w, const struct numbers *c, int n, int *gone) {
    static double value[MOST][VALUES];
    double *block[MOST] = {0};
    int region[MOST];
    memset(gone, 0, MOST * sizeof *gone);
    for (int t = 0; t < w->tasks; t++) gone[t] = 1;
    for (int t = 0; t < n; t++) {
        const int count = c->first[t + 1] - c->first[t], from = count ? c->from[c->first[t]] : -1;
        double *origin[2] = {NULL, NULL};
        for (int k = 0; k < count; k++) origin[k] = w->value[c->from[c->first[t] + k]];
        region[t] = c->kept[t] ? w->region[from] : c->region[t];
        if (c->kept[t]) {
            block[t] = w->block[from];
            memcpy(value[t], w->value[from], BYTES);
            gone[from] = 0;
        } else {
            bear_plainly(value[t], origin, count);
            if (evn_loop_has(w->loop, t)) block[t] = malloc(BYTES);
            if (w->place && block[t]) must_ok(evn_place_arrive(w->place, region[t], block[t]));
        }
    }
    memcpy(w->old, w->block, sizeof w->old);
    memcpy(w->block, block, sizeof block);
    memcpy(w->value, value, sizeof value);
    memcpy(w->region, region, (size_t)n * sizeof *region);
    memcpy(w->line, c->line, (size_t)n * sizeof *w->line);
    w->tasks = n;
}

static void add_faces(struct world *w, const struct steps *p) {
    evn_face face[2 * MOST];
    int count = 0, before[MOST];
    memcpy(before, w->face, sizeof before);
    for (int i = 0; i + 1 < w->tasks; i++) {
        if (stay(p, i)) {
            w->face[i] = before[p->from[p->first[i]]];
            continue;
        }
        add_pair(w, i, &face[count]);
        w->face[i] = w->numbered + count;
        count += 2;
    }
    call(w, call_add, &(struct added){count, face}, 0);
    w->numbered += count;
}

/* Each task of before has memory on one rank, also those that were gathered. */
static void check_memory(const struct world *w) {
    char here[MOST], all[RANKS_MAX][MOST];
    for (int t = 0; t < w->tasks; t++) here[t] = w->block[t] != NULL;
    must_ok(evn_cluster_gather(w->cluster, here, sizeof here, all));
    for (int t = 0; !w->rank && t < w->tasks; t++) {
        int count = 0;
        for (int r = 0; r < trial->ranks; r++) count += all[r][t];
        must(count == 1);
    }
}

static void change(struct world *w) {
    struct steps p;
    struct numbers c;
    int gone[MOST], region[MOST];
    const int before = w->tasks;
    draw_plan(w, &p);
    drop_faces(w, &p);
    number(w, &p, &c);
    memcpy(region, w->region, sizeof region);
    const evn_change change = {.tasks = p.tasks,
                               .first = c.first,
                               .from = c.from,
                               .kept = c.kept,
                               .weight = below(w, 2) ? c.weight : NULL,
                               .links = -1,
                               .region = w->place ? c.region : NULL};
    call(w, call_change, &change, 1);
    check_memory(w);
    go_on(w, &c, p.tasks, gone);
    w->numbers = &c;
    add_faces(w, &p);
    call(w, call_bear, NULL, 0);
    for (int t = 0; t < before; t++) {
        if (!gone[t]) continue;
        if (w->place) must_ok(evn_place_remove(w->place, region[t]));
        free(w->old[t]);
    }
    check(w);
}

/* ---- the tests ----------------------------------------------------------------------------- */

static void rounds(evn_cluster *cluster) {
    static struct world w;
    open_world(&w, cluster);
    for (int r = 0; r < trial->rounds; r++) {
        for (int s = r % 4; s < 3; s++) run_step(&w); /* also none */
        w.failing = trial->fails ? r % trial->ranks : -1;
        change(&w);
        w.failing = -1;
    }
    for (int s = 0; s < 3; s++) run_step(&w);
    check(&w);
    must(evn_loop_generation(w.loop) == trial->rounds);
    must(evn_schedule_problem(evn_loop_schedule(w.loop))->tasks == w.tasks);
    if (trial->few) must(w.mended >= trial->rounds);
    must_ok(evn_cluster_agree(cluster, EVN_OK));
    close_world(&w);
}

static const char *const CPUS[RANKS_MAX] = {"2:CPU:1", "1:CPU:1", "3:CPU:1", "1:CPU:2", "1:CPU:1"};
static const char *const ALONE[RANKS_MAX] = {"1:CPU:1", "1:CPU:1", "1:CPU:1", "1:CPU:1", "1:CPU:1"};
static const char *const MIXED[RANKS_MAX] = {"1:CPU:1,1:GPU:1", "1:CPU:1", "2:GPU:1", "1:CPU:1",
                                             "1:GPU:1"};
static const char *const GPUS[RANKS_MAX] = {"2:GPU:1", "1:GPU:2", "1:CPU:1,1:GPU:1", "1:GPU:1",
                                            "1:GPU:1"};
static const int RANKS[] = {2, 3, 5};

static void run(const struct trial *t, void (*rank_main)(evn_cluster *cluster)) {
    trial = t;
    alarm(120); /* ranks that wait for each other for ever */
    if (ranks_of_cluster(0, t->ranks, rank_main))
        fail_msg("%d ranks, %s, place %d", t->ranks, t->schedule, t->place);
    alarm(0);
}

static int all; /* with EVENER_TEST_LONG; else each second case */

TEST(schedules) {
    static const char *const schedules[] = {
        "static",      "dynamic",      "dynamic:chunk=1,memorize=0",
        "guided:size", "guided:time",  "weighted",
        "binpack",     "binpack:time", "interval",
        "map",         "auto",         "optimal:limit=1"};
    enum { SCHEDULES = sizeof schedules / sizeof *schedules };
    for (int i = 0; i < SCHEDULES; i++)
        for (int r = 0; r < 3; r++)
            for (int place = 0; place < 2; place++) {
                if (!all && (i + r + place) % 2) continue;
                run(&(struct trial){RANKS[r], place, i < SCHEDULES - 1 ? 12 : 2, schedules[i],
                                    place ? ALONE : CPUS, 0, 0},
                    rounds);
            }
}

TEST(on_devices) {
    static const char *const schedules[] = {"map", "dynamic:chunk=1,memorize=0", "guided:time"};
    for (int s = 0; s < 3; s++)
        for (int r = 0; r < 3; r++)
            run(&(struct trial){RANKS[r], 1, 8, schedules[s], MIXED, 0, 0}, rounds);
}

/* Plans are mended, not made from scratch. */
TEST(few) {
    const int changes = all ? 24 : 12;
    for (int r = 0; r < 3; r++) {
        run(&(struct trial){RANKS[r], 0, changes, "map", CPUS, 1, 0}, rounds);
        run(&(struct trial){RANKS[r], 1, changes, "static", ALONE, 1, 0}, rounds);
        run(&(struct trial){RANKS[r], 1, changes, "map", MIXED, 1, 0}, rounds);
        run(&(struct trial){RANKS[r], 1, changes, "map", GPUS, 1, 0}, rounds);
    }
}

/* All or nothing. */
TEST(failing) {
    static const char *const schedules[] = {"map", "static", "dynamic:chunk=1,memorize=0",
                                            "guided:time"};
    if (!HAVE_FAILING) skip();
    for (int s = 0; s < 4; s++)
        for (int r = 0; r < 2; r++) {
            if (all || (s + r) % 2)
                run(&(struct trial){RANKS[r], 0, 6, schedules[s], CPUS, 0, 1}, rounds);
            if (all || (s + r) % 2 == 0)
                run(&(struct trial){RANKS[r], 1, 6, schedules[s], MIXED, 0, 1}, rounds);
        }
}

/* ---- mistakes ------------------------------------------------------------------------------ */

/* Other weights that one rank has no memory for, or that differ on one rank: none takes them. */
static void other_weights(evn_cluster *cluster) {
    static struct world w;
    open_world(&w, cluster);
    double weight[START], other[START], negative[START], ones[START];
    for (int t = 0; t < START; t++) ones[t] = 1, weight[t] = other[t] = negative[t] = 1 + t;
    other[3] = 9;
    negative[2] = -1;
    for (int r = 0; r < trial->ranks; r++) {
        run_step(&w);
        char *before = evn_schedule_export(w.schedule);
        const double was = evn_schedule_problem(w.schedule)->weight[START - 1];
        if (HAVE_FAILING && w.rank == r) fails = 1;
        if (HAVE_FAILING) must_give(evn_loop_weights(w.loop, weight), EVN_MEMORY);
        fails = 0;
        must_give(evn_loop_weights(w.loop, w.rank == r ? negative : weight), EVN_USAGE);
        must(strstr(evn_message(), "task 2 is -1"));
        must_give(evn_loop_weights(w.loop, w.rank == r ? other : weight), EVN_USAGE);
        must(strstr(evn_message(), r ? "other weights on rank" : "other weights on rank 1"));
        must(evn_schedule_problem(w.schedule)->weight[START - 1] == was);
        char *now = evn_schedule_export(w.schedule);
        must(!strcmp(before, now));
        free(before);
        free(now);
        must_ok(evn_loop_weights(w.loop, weight));
        must(evn_schedule_problem(w.schedule)->weight[START - 1] == START);
        run_step(&w);
        check(&w);
        must_ok(evn_loop_weights(w.loop, w.rank == r ? ones : NULL)); /* the same */
    }
    must_ok(evn_cluster_agree(cluster, EVN_OK));
    close_world(&w);
}

/* An origin that finds no room where it is to go: nothing has changed, no value is lost, and the
 * same change comes about once there is room. */
static void no_room(evn_cluster *cluster) {
    static struct world w;
    open_world(&w, cluster);
    const int first[] = {0, 2, 3}, from[] = {0, 13, 1};
    run_step(&w);
    w.fail_make = !w.rank;
    const evn_change c = {.tasks = 2, .first = first, .from = from, .links = -1};
    must_give(evn_loop_change(w.loop, &c), EVN_MEMORY);
    must(strstr(evn_message(), "no room for task 13"));
    must(evn_loop_generation(w.loop) == 0);
    run_step(&w);
    check(&w);
    w.fail_make = 0;
    must_ok(evn_loop_change(w.loop, &c));
    must(evn_loop_generation(w.loop) == 1);
    close_world(&w);
}

TEST(mistakes) {
    run(&(struct trial){3, 0, 0, "static", ALONE, 0, 0}, no_room);
    run(&(struct trial){3, 0, 0, "map", CPUS, 0, 0}, other_weights);
}

static int set_up(void **state) {
    (void)state;
    all = getenv("EVENER_TEST_LONG") != NULL;
    return 0;
}

RUN_TESTS(set_up, NULL)
