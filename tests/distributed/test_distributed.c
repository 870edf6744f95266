/* Tasks distributed over ranks (evener/distributed.h), which are processes here: random changes of
 * a line of tasks, each rank's by itself, in which tasks are divided, merged, remade, removed and
 * renumbered; births; faces, also with means and repetitions, given by any rank; balances that move
 * tasks along. All values are those of plain arrays, ghosts included, with ranks that have no
 * tasks, on cores and devices; and one hash comes of any number of ranks. Mistakes are named on all
 * ranks and change nothing; nor does memory that is missing on one rank go unnoticed on others.
 * Run: ctest -R '^distributed$' */
#include "check.h"
#include "base/checksum.h"
#include "failing.h"
#include "wire/ranks.h"
#include <evener/change.h>
#include <evener/distributed.h>
#include <sys/mman.h>
#include <unistd.h>

/* Values of a task: its inner ones with a ghost at each end; and ghosts of two resolutions, two
 * means of its left neighbour's, and four repetitions of its right one's. */
enum { VALUES = 20, COARSE = 6, MOST = 60, START = 14, RANKS_MAX = 5, REGIONS = 2 };
static const size_t BYTES[REGIONS] = {VALUES * sizeof(double), COARSE * sizeof(double)};

struct trial {
    int ranks, rounds;
    int alike; /* 1: nothing that depends on where tasks are */
    int instances;
    const char *schedule;
    const char *const *list;
    int tasks[RANKS_MAX]; /* at first */
};
static const struct trial *trial;
static uint64_t *result; /* of rank 0, for the process that started it */

/* A task of the line, as it should be. */
struct task {
    double v[VALUES], c[COARSE];
    int rank, number;
};

struct world {
    evn_cluster *cluster;
    int rank;
    evn_machine *machine;
    evn_units *units;
    evn_place *place;
    evn_distributed *mesh;
    unsigned seed; /* the same on all ranks */
    int tasks, step;
    struct task line[MOST];
    int at[MOST]; /* of this rank's tasks, where in the line */
    /* of before, while tasks are born */
    int first[MOST + 1], from[2 * MOST]; /* by this rank's numbers */
};

static int below(struct world *w, int n) {
    w->seed = w->seed * 1664525u + 1013904223u;
    return (int)((w->seed >> 8) % (unsigned)n);
}

/* ---- plain arrays -------------------------------------------------------------------------- */

static void compute(double *v, const double *c, int step) {
    double next[VALUES], sum = 0;
    for (int i = 0; i < COARSE; i++) sum += c[i] * (i + 1);
    for (int i = 1; i < VALUES - 1; i++)
        next[i] = 0.5 * v[i] + 0.2 * v[i - 1] + 0.25 * v[i + 1] + sum / 512 + step % 3;
    memcpy(v + 1, next + 1, (VALUES - 2) * sizeof *v);
}

static void bear_plainly(double *v, double *c, const double *const *origin, int count) {
    for (int i = 0; i < VALUES; i++) {
        v[i] = count ? 0 : i;
        for (int k = 0; k < count; k++) v[i] += (k + 1) * origin[k][i] / (count + 1);
    }
    for (int i = 0; i < COARSE; i++) c[i] = v[i + 1] / 4;
}

static void step_plainly(struct world *w) {
    for (int i = 0; i + 1 < w->tasks; i++) {
        struct task *a = &w->line[i], *b = &w->line[i + 1];
        b->v[0] = a->v[VALUES - 2];
        a->v[VALUES - 1] = b->v[1];
        for (int k = 0; k < 2; k++) b->c[k] = 0.5 * (a->v[2 + 2 * k] + a->v[3 + 2 * k]);
        for (int k = 0; k < 4; k++) a->c[2 + k] = b->v[3 + k / 2];
    }
    for (int i = 0; i < w->tasks; i++) compute(w->line[i].v, w->line[i].c, w->step);
}

static void find_own(struct world *w) {
    for (int i = 0; i < w->tasks; i++)
        if (w->line[i].rank == w->rank) w->at[w->line[i].number] = i;
}

/* A copy of a region's values. */
static void read_region(const struct world *w, int task, int i, double *to) {
    const int region = evn_distributed_part(w->mesh).region[task * REGIONS + i];
    must_ok(evn_place_acquire(w->place, 1, &region, EVN_HOST, EVN_READ));
    memcpy(to, evn_place_host(w->place, region), BYTES[i]);
    must_ok(evn_place_release(w->place, 1, &region, EVN_HOST));
}

static void check(struct world *w) {
    int here = 0;
    for (int i = 0; i < w->tasks; i++) {
        const struct task *t = &w->line[i];
        double v[VALUES], c[COARSE];
        if (t->rank != w->rank) continue;
        here++;
        read_region(w, t->number, 0, v);
        read_region(w, t->number, 1, c);
        must(!memcmp(v, t->v, sizeof v));
        must(!memcmp(c, t->c, sizeof c));
    }
    int regions = 0; /* and none of tasks that are gone or have left */
    for (int r = 0; r < 4 * MOST * REGIONS; r++) regions += evn_place_bytes(w->place, r) > 0;
    must(regions == here * REGIONS);
    must(here == evn_distributed_part(w->mesh).tasks);
    must(!here == !evn_distributed_part(w->mesh).loop);
    must(evn_distributed_part(w->mesh).sum[trial->ranks] == w->tasks);
    must(evn_distributed_part(w->mesh).sum[w->rank + 1] -
             evn_distributed_part(w->mesh).sum[w->rank] ==
         here);
}

/* ---- faces --------------------------------------------------------------------------------- */

/* The four faces between neighbours of the line. */
enum { PAIR = 4 };
static void add_pair(const struct task *a, const struct task *b, evn_rank_face *face) {
    const evn_rank_task x = {a->rank, a->number}, y = {b->rank, b->number};
    const evn_face right = {.from_at = VALUES - 2, .n = {1, 1, 1}};
    const evn_face left = {.from_at = 1, .to_at = VALUES - 1, .n = {1, 1, 1}};
    const evn_face means = {.from_at = 2,
                            .from_stride = {0, 0, 1},
                            .to_stride = {0, 0, 1},
                            .n = {1, 1, 2},
                            .to_region = 1,
                            .resolution = {0, 0, EVN_MEAN},
                            .numbers = EVN_DOUBLES};
    const evn_face repeats = {.from_at = 3,
                              .from_stride = {0, 0, 1},
                              .to_at = 2,
                              .to_stride = {0, 0, 1},
                              .n = {1, 1, 4},
                              .to_region = 1,
                              .resolution = {0, 0, EVN_REPEAT}};
    face[0] = (evn_rank_face){x, y, right};
    face[1] = (evn_rank_face){y, x, left};
    face[2] = (evn_rank_face){x, y, means};
    face[3] = (evn_rank_face){y, x, repeats};
}

/* Faces between neighbours, each given by some rank; `stay[i]`: those from i to i + 1 are there. */
static void add_faces(struct world *w, const char *stay) {
    static evn_rank_face face[PAIR * MOST];
    evn_rank_face pair[PAIR];
    int count = 0;
    for (int i = 0; i + 1 < w->tasks; i++) {
        if (stay && stay[i]) continue;
        add_pair(&w->line[i], &w->line[i + 1], pair);
        for (int k = 0; k < PAIR; k++)
            if (below(w, trial->ranks) == w->rank) face[count++] = pair[k];
    }
    must_ok(evn_distributed_add(w->mesh, count, face));
    int sum[RANKS_MAX][3], total = 0, cross = 0;
    const evn_rank_part part = evn_distributed_part(w->mesh);
    const int all[3] = {part.within, part.from, part.to};
    must_ok(evn_cluster_gather(w->cluster, all, sizeof all, sum));
    for (int r = 0; !w->rank && r < trial->ranks; r++) {
        total += sum[r][0] + sum[r][1];
        cross += sum[r][1] - sum[r][2];
    }
    must(w->rank || (total == PAIR * (w->tasks - 1) && !cross));
}

/* ---- opening ------------------------------------------------------------------------------- */

static evn_status fill(evn_unit *unit, evn_batch *b, void *arg) {
    struct world *w = arg;
    (void)unit;
    for (int t; (t = evn_batch_next(b)) >= 0;) {
        memcpy(evn_batch_host(b, t, 0), w->line[w->at[t]].v, BYTES[0]);
        memcpy(evn_batch_host(b, t, 1), w->line[w->at[t]].c, BYTES[1]);
    }
    return EVN_OK;
}

static void open_world(struct world *w, evn_cluster *cluster) {
    static const evn_access access[REGIONS] = {EVN_BOTH, EVN_READ};
    size_t bytes[MOST * REGIONS];
    *w = (struct world){.cluster = cluster, .rank = evn_cluster_rank(cluster), .seed = 7};
    for (int r = 0; r < trial->ranks; r++)
        for (int t = 0; t < trial->tasks[r]; t++, w->tasks++) {
            struct task *at = &w->line[w->tasks];
            *at = (struct task){.rank = r, .number = t};
            for (int i = 0; i < VALUES; i++) at->v[i] = w->tasks + i % 5;
        }
    for (int i = 0; i < MOST * REGIONS; i++) bytes[i] = BYTES[i % REGIONS];
    must_ok(evn_machine_open(&w->machine));
    must_ok(
        evn_units_open(&w->units, w->machine, trial->list[w->rank], "emulated", EVN_OVERSUBSCRIBE));
    must_ok(evn_place_open(&w->place, w->units, 0.5));
    must_ok(evn_distributed_open(&w->mesh, &(evn_distribution){.cluster = cluster,
                                                               .units = w->units,
                                                               .place = w->place,
                                                               .schedule = trial->schedule,
                                                               .tasks = trial->tasks[w->rank],
                                                               .instances = trial->instances,
                                                               .regions = REGIONS,
                                                               .bytes = bytes,
                                                               .access = access,
                                                               .element = sizeof(double)}));
    find_own(w);
    evn_loop *loop = evn_distributed_part(w->mesh).loop;
    if (loop) must_ok(evn_loop_visit_host(loop, fill, w, EVN_WRITE));
    add_faces(w, NULL);
}

static void close_world(struct world *w) {
    must_ok(evn_cluster_agree(w->cluster, EVN_OK));
    evn_distributed_close(w->mesh);
    evn_place_close(w->place);
    evn_units_close(w->units);
    evn_machine_close(w->machine);
}

/* ---- steps --------------------------------------------------------------------------------- */

/* On cores, or a copy of a device's. */
static evn_status work(struct world *w, evn_batch *b, int task) {
    if (evn_batch_device(b) < 0) {
        compute(evn_batch_host(b, task, 0), evn_batch_host(b, task, 1), w->step);
        return EVN_OK;
    }
    double v[VALUES], c[COARSE];
    evn_queue *q = evn_batch_queue(b);
    evn_buffer *buffer = evn_batch_buffer(b);
    evn_status status = evn_copy_to_host(q, v, buffer, evn_batch_at(b, task, 0), sizeof v);
    if (!status) status = evn_copy_to_host(q, c, buffer, evn_batch_at(b, task, 1), sizeof c);
    if (!status) status = evn_queue_finish(q);
    if (status) return status;
    compute(v, c, w->step);
    status = evn_copy_to_device(q, buffer, evn_batch_at(b, task, 0), v, sizeof v);
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
        evn_batch_add(b, task[i], 1 + (w->at[task[i]] * 7 + w->step) % 11);
    }
    if (!status) evn_batch_done(b, count);
    return status;
}

static void run_step(struct world *w) {
    must_ok(evn_distributed_run(w->mesh, body, w));
    step_plainly(w);
    w->step++;
}

/* ---- changes ------------------------------------------------------------------------------- */

/* A change of the line: origins by their place in the line. */
struct plan {
    int tasks, first[MOST + 1], from[2 * MOST], at;
    char kept[MOST];
    int rank[MOST];
};

static void plan_task(struct plan *p, int rank, int kept, int origins, int from) {
    p->rank[p->tasks] = rank;
    p->kept[p->tasks] = (char)kept;
    for (int k = 0; k < origins; k++) p->from[p->at++] = from + k;
    p->first[++p->tasks] = p->at;
}

static void draw_plan(struct world *w, struct plan *p) {
    *p = (struct plan){0};
    for (int i = 0; i < w->tasks; i++) {
        const int way = below(w, 12), more = p->tasks < MOST / 2, rank = w->line[i].rank;
        const int pair = i + 1 < w->tasks && rank == w->line[i + 1].rank && !trial->alike;
        if (way == 0 && more) {
            for (int c = 1 + below(w, 3); c; c--) plan_task(p, rank, 0, 1, i);
        } else if (way == 1 && pair && w->tasks > 6) {
            plan_task(p, rank, 0, 2, i++);
        } else if (way == 2 && pair) {
            plan_task(p, rank, 0, 2, i);
            plan_task(p, rank, 0, 2, i++);
        } else if (way == 3 && w->tasks > 8) {
            continue;
        } else {
            if (way == 4 && more && !i) plan_task(p, rank, 0, 0, i);
            plan_task(p, rank, 1, 1, i);
        }
    }
}

static evn_status bear(evn_unit *unit, evn_batch *b, void *arg) {
    struct world *w = arg;
    int count;
    const int *task = evn_batch_tasks(b, &count);
    (void)unit;
    for (int i = 0; i < count; i++) {
        const int t = task[i], origins = evn_batch_origins(b, t), device = evn_batch_device(b);
        double copy[2][VALUES], v[VALUES], c[COARSE];
        const double *origin[2] = {copy[0], copy[1]};
        must(origins == w->first[t + 1] - w->first[t]);
        for (int k = 0; k < origins; k++) {
            if (device < 0) {
                origin[k] = evn_batch_origin_host(b, t, k, 0);
                continue;
            }
            must_ok(evn_copy_to_host(evn_batch_queue(b), copy[k], evn_batch_buffer(b),
                                     evn_batch_origin_at(b, t, k, 0), BYTES[0]));
            must_ok(evn_queue_finish(evn_batch_queue(b)));
        }
        bear_plainly(v, c, origin, origins);
        if (device < 0) {
            memcpy(evn_batch_host(b, t, 0), v, sizeof v);
            memcpy(evn_batch_host(b, t, 1), c, sizeof c);
            continue;
        }
        must_ok(evn_copy_to_device(evn_batch_queue(b), evn_batch_buffer(b), evn_batch_at(b, t, 0),
                                   v, sizeof v));
        must_ok(evn_copy_to_device(evn_batch_queue(b), evn_batch_buffer(b), evn_batch_at(b, t, 1),
                                   c, sizeof c));
        must_ok(evn_queue_finish(evn_batch_queue(b)));
    }
    evn_batch_done(b, count);
    return EVN_OK;
}

/* Numbers of the new tasks on their ranks: along the line, or against it. */
static void number(struct world *w, const struct plan *p, struct task *next) {
    int of[RANKS_MAX] = {0};
    const int turned = below(w, 2);
    for (int k = 0; k < p->tasks; k++) {
        const int i = turned ? p->tasks - 1 - k : k;
        next[i].rank = p->rank[i];
        next[i].number = of[p->rank[i]]++;
    }
}

/* All tasks of before, by any rank, are where they should be. */
static void check_now(struct world *w, const struct plan *p, const struct task *next) {
    evn_rank_task task[MOST];
    int now[MOST];
    for (int i = 0; i < w->tasks; i++) {
        task[i] = (evn_rank_task){w->line[i].rank, w->line[i].number};
        now[i] = -1;
    }
    for (int i = 0; i < p->tasks; i++)
        if (p->kept[i]) now[p->from[p->first[i]]] = i;
    must_ok(evn_distributed_now(w->mesh, w->rank % 2 ? 0 : w->tasks, task));
    for (int i = 0; !(w->rank % 2) && i < w->tasks; i++) {
        if (now[i] < 0)
            must(task[i].rank < 0);
        else
            must(task[i].rank == next[now[i]].rank && task[i].number == next[now[i]].number);
    }
}

static void change(struct world *w) {
    static struct task next[MOST];
    struct plan p;
    char kept[MOST] = {0}, stay[MOST] = {0};
    double weight[MOST];
    int own = 0, at = 0;
    draw_plan(w, &p);
    number(w, &p, next);
    for (int i = 0; i < p.tasks; i++) {
        const int count = p.first[i + 1] - p.first[i], from = p.from[p.first[i]];
        const double *origin[2] = {w->line[from].v, w->line[from + (count > 1)].v};
        if (p.kept[i]) {
            memcpy(next[i].v, w->line[from].v, BYTES[0]);
            memcpy(next[i].c, w->line[from].c, BYTES[1]);
        } else {
            bear_plainly(next[i].v, next[i].c, origin, count);
        }
        if (i + 1 < p.tasks)
            stay[i] = p.kept[i] && p.kept[i + 1] && from + 1 == p.from[p.first[i + 1]];
        own += p.rank[i] == w->rank;
    }
    for (int t = 0; t < own; t++) {
        int i = 0;
        while (next[i].rank != w->rank || next[i].number != t) i++;
        w->first[t] = at;
        kept[t] = p.kept[i];
        weight[t] = 1 + i % 3;
        for (int k = p.first[i]; k < p.first[i + 1]; k++) w->from[at++] = w->line[p.from[k]].number;
    }
    w->first[own] = at;
    size_t bytes[MOST * REGIONS];
    for (int i = 0; i < MOST * REGIONS; i++) bytes[i] = BYTES[i % REGIONS];
    const evn_change c = {.tasks = own,
                          .first = w->first,
                          .from = w->from,
                          .kept = kept,
                          .weight = below(w, 2) ? weight : NULL,
                          .links = -1};
    must_ok(evn_distributed_change(w->mesh, &c, bytes));
    check_now(w, &p, next);
    memcpy(w->line, next, sizeof w->line);
    w->tasks = p.tasks;
    find_own(w);
    add_faces(w, stay);
    must_ok(evn_distributed_bear(w->mesh, bear, w));
    check(w);
}

/* Tasks keep their global numbers. */
static int balance(struct world *w) {
    long long sum[RANKS_MAX + 1];
    int moved;
    for (int r = 0; r <= trial->ranks; r++) sum[r] = evn_distributed_part(w->mesh).sum[r];
    must_ok(evn_distributed_balance(w->mesh, &moved));
    struct task *before = malloc(sizeof w->line);
    memcpy(before, w->line, sizeof w->line);
    int differ = 0;
    for (int i = 0; i < w->tasks; i++) {
        struct task *t = &w->line[i];
        const long long global = sum[t->rank] + t->number;
        int r = 0;
        while (global >= evn_distributed_part(w->mesh).sum[r + 1]) r++;
        differ += r != t->rank;
        t->rank = r;
        t->number = (int)(global - evn_distributed_part(w->mesh).sum[r]);
        if (!moved || r != w->rank) continue;
        const evn_rank_task *origin = &evn_distributed_part(w->mesh).origin[t->number];
        must(origin->rank == before[i].rank && origin->number == before[i].number);
    }
    free(before);
    must(moved == differ);
    find_own(w);
    check(w);
    return moved;
}

/* ---- the tests ----------------------------------------------------------------------------- */

/* Of all values, whichever rank has them. */
static uint64_t hash(struct world *w) {
    uint64_t mine = 0, all[RANKS_MAX], sum = 0;
    for (int i = 0; i < w->tasks; i++) {
        double v[VALUES], c[COARSE];
        if (w->line[i].rank != w->rank) continue;
        read_region(w, w->line[i].number, 0, v);
        read_region(w, w->line[i].number, 1, c);
        uint64_t of = checksum_add(CHECKSUM_BEGIN, &i, sizeof i);
        of = checksum_add(of, v, sizeof v);
        mine += checksum_add(of, c, sizeof c);
    }
    must_ok(evn_cluster_gather(w->cluster, &mine, sizeof mine, all));
    for (int r = 0; !w->rank && r < trial->ranks; r++) sum += all[r];
    return sum;
}

static void rounds(evn_cluster *cluster) {
    static struct world w;
    int moves = 0;
    open_world(&w, cluster);
    for (int r = 0; r < trial->rounds; r++) {
        for (int s = r % 4; s < 3; s++) run_step(&w); /* also none */
        check(&w);
        change(&w);
        if (r % 2) moves += balance(&w) > 0;
    }
    for (int s = 0; s < 3; s++) run_step(&w);
    check(&w);
    must(trial->ranks == 1 || moves > trial->rounds / 8);
    const uint64_t sum = hash(&w);
    if (!w.rank) *result = sum;
    close_world(&w);
}

static const char *const CPUS[RANKS_MAX] = {"2:CPU:1", "1:CPU:1", "3:CPU:1", "1:CPU:2", "1:CPU:1"};
static const char *const MIXED[RANKS_MAX] = {"1:CPU:1,1:GPU:1", "1:CPU:1", "2:GPU:1", "1:CPU:1",
                                             "1:GPU:1"};
static const struct trial ONE = {.ranks = 1, .tasks = {START}};
static const struct trial TWO = {.ranks = 2, .tasks = {0, START}};
static const struct trial THREE = {.ranks = 3, .tasks = {5, 0, START - 5}};
static const struct trial FIVE = {.ranks = 5, .tasks = {1, 6, 0, 0, START - 7}};
static const char *const CORES[RANKS_MAX] = {"1:CPU:1", "1:CPU:1", "1:CPU:1", "1:CPU:1", "1:CPU:1"};
static const struct trial *const SIZES[] = {&ONE, &TWO, &THREE, &FIVE};

static void run(const struct trial *t, void (*rank_main)(evn_cluster *cluster)) {
    trial = t;
    alarm(120); /* ranks that wait for each other for ever */
    if (ranks_of_cluster(0, t->ranks, rank_main)) fail_msg("%d ranks, %s", t->ranks, t->schedule);
    alarm(0);
}

TEST(values) {
    static const char *const schedules[] = {"auto",    "map",     "dynamic:chunk=1,memorize=0",
                                            "static",  "binpack", "guided:time",
                                            "interval"};
    for (size_t s = 0; s < sizeof schedules / sizeof *schedules; s++)
        for (int i = 0; i < 4; i++) {
            struct trial t = *SIZES[i];
            t.rounds = getenv("EVENER_TEST_LONG") ? 16 : 8;
            t.schedule = schedules[s];
            t.list = CPUS;
            run(&t, rounds);
        }
}

TEST(on_devices) {
    for (int i = 0; i < 4; i++) {
        struct trial t = *SIZES[i];
        t.rounds = 10;
        t.schedule = i % 2 ? "map" : "auto";
        t.list = MIXED;
        run(&t, rounds);
    }
}

TEST(one_hash) {
    uint64_t of_one = 0;
    for (int i = 0; i < 4; i++) {
        struct trial t = *SIZES[i];
        t.rounds = 12;
        t.alike = 1;
        t.schedule = i % 2 ? "static" : "auto";
        t.list = i % 2 ? CPUS : MIXED;
        run(&t, rounds);
        if (!i) of_one = *result;
        assert_true(*result == of_one);
    }
}

/* ---- balance ------------------------------------------------------------------------------- */

/* Seconds that no machine takes for such a task, so that they are all that is measured. */
static double cost(int i) { return 1000 * (1 + i * 7 % 11); }

static evn_status costly(evn_unit *unit, evn_batch *b, void *arg) {
    struct world *w = arg;
    (void)unit;
    for (int t; (t = evn_batch_next(b)) >= 0;) {
        compute(evn_batch_host(b, t, 0), evn_batch_host(b, t, 1), w->step);
        evn_batch_add(b, t, cost(w->at[t]));
    }
    return EVN_OK;
}

static void run_costly(struct world *w) {
    must_ok(evn_distributed_run(w->mesh, costly, w));
    step_plainly(w);
    w->step++;
}

/* The longest rank, in seconds of one core. */
static double longest(const struct world *w) {
    double load[RANKS_MAX] = {0}, most = 0;
    for (int i = 0; i < w->tasks; i++) load[w->line[i].rank] += cost(i);
    for (int r = 0; r < trial->ranks; r++)
        if (load[r] > most) most = load[r];
    return most;
}

/* After one run loads are as even as consecutive tasks allow, and stay as they are since times have
 * gone along; with no run to come nothing moves. */
static void balances(evn_cluster *cluster) {
    static struct world w;
    double all = 0, largest = 0;
    open_world(&w, cluster);
    for (int i = 0; i < w.tasks; i++) {
        all += cost(i);
        if (cost(i) > largest) largest = cost(i);
    }
    const double before = longest(&w);
    run_costly(&w);
    const int moved = balance(&w);
    if (trial->instances == 1) {
        must(!moved && longest(&w) == before);
    } else {
        must(moved && longest(&w) <= all / trial->ranks + largest);
        must(evn_distributed_part(w.mesh).tasks > 0);
        must(!balance(&w));
    }
    run_costly(&w);
    must(!balance(&w));
    close_world(&w);
}

TEST(balance) {
    for (int i = 1; i < 4; i++)
        for (int instances = 0; instances < 4; instances++) {
            struct trial t = *SIZES[i];
            t.instances = instances;
            t.schedule = "auto";
            t.list = CORES;
            run(&t, balances);
        }
}

/* ---- mistakes ------------------------------------------------------------------------------ */

/* What depends on a rank that has no tasks; the rest is misuse-ranks'. */
static void mistakes(evn_cluster *cluster) {
    static struct world w;
    open_world(&w, cluster);
    run_step(&w);
    /* of a rank that has no tasks */
    const evn_rank_face face = {{1, 0}, {0, 1}, {.n = {1, 1, 1}}};
    must_give(evn_distributed_add(w.mesh, !w.rank, &face), EVN_USAGE);
    must(strstr(evn_message(), "task 0 of rank 1, which has 0 tasks"));
    const int first[] = {0, 1}, from[] = {0};
    const evn_change one = {.tasks = 1, .first = first, .from = from, .links = -1};
    must_give(evn_distributed_change(w.mesh, &one, NULL), EVN_USAGE);
    must(strstr(evn_message(), "1 tasks on rank 1, which has none"));
    run_step(&w);
    check(&w);
    close_world(&w);
}

/* ---- no memory ----------------------------------------------------------------------------- */

static int way_of_failing;

static evn_status blank(evn_unit *unit, evn_batch *b, void *arg) {
    (void)unit, (void)arg;
    for (int t; (t = evn_batch_next(b)) >= 0;)
        for (int i = 0; i < REGIONS; i++) memset(evn_batch_host(b, t, i), 0, BYTES[i]);
    return EVN_OK;
}

/* Each allocation of a call fails on one rank: all ranks get the same, and either all is as it was
 * or the object says that it can only be closed. */
static void no_memory(evn_cluster *cluster) {
    static struct world w;
    int failures = 0, broken = 0;
    for (long k = 1, done = 0; !done; k++) {
        open_world(&w, cluster);
        run_step(&w);
        const int n = evn_distributed_part(w.mesh).tasks;
        int first[MOST + 1], from[MOST];
        char kept[MOST];
        for (int t = 0; t <= n; t++) first[t] = from[t] = t, kept[t] = t != 1;
        const evn_change c = {.tasks = n, .first = first, .from = from, .kept = kept, .links = -1};
        evn_rank_face f = {{0, 4}, {2, 0}, {.from_at = 9, .to_at = 12, .n = {1, 1, 1}}};
        evn_rank_task task[2] = {{0, 1}, {2, 1}};
        if (way_of_failing == 3) {
            must_ok(evn_distributed_change(w.mesh, &c, NULL));
            must_ok(evn_distributed_bear(w.mesh, blank, NULL));
        }
        if (w.rank == 2) fails = k;
        const evn_status status = way_of_failing == 0   ? evn_distributed_add(w.mesh, !w.rank, &f)
                                  : way_of_failing == 1 ? evn_distributed_change(w.mesh, &c, NULL)
                                  : way_of_failing == 2 ? evn_distributed_balance(w.mesh, NULL)
                                                        : evn_distributed_now(w.mesh, 2, task);
        int over = fails > 0 || w.rank != 2, all[RANKS_MAX], least = 1;
        const int mine = status;
        fails = 0;
        must(!status || strstr(evn_message(), "no memory") ||
             strstr(evn_message(), "not enough memory"));
        must_ok(evn_cluster_gather(cluster, &mine, sizeof mine, all));
        for (int r = 0; !w.rank && r < trial->ranks; r++) must(all[r] == mine);
        must_ok(evn_cluster_gather(cluster, &over, sizeof over, all));
        for (int r = 0; !w.rank && r < trial->ranks; r++) least &= all[r];
        must_ok(evn_cluster_tell(cluster, &least, sizeof least));
        done = least;
        must(!status || (status == EVN_MEMORY && !done));
        if (!status) must_ok(evn_distributed_bear(w.mesh, blank, NULL));
        const evn_status after = evn_distributed_run(w.mesh, body, &w);
        must(!after || (status && after == EVN_USAGE && strstr(evn_message(), "only be closed")));
        broken += after != EVN_OK;
        failures += status != EVN_OK;
        close_world(&w);
    }
    must(failures > 10 && failures > broken);
    must(way_of_failing != 3 || !broken); /* a question changes nothing */
}

TEST(no_memory) {
    struct trial t = THREE;
    t.schedule = "auto";
    t.list = CORES;
    for (way_of_failing = 0; HAVE_FAILING && way_of_failing < 4; way_of_failing++)
        run(&t, no_memory);
}

TEST(mistakes) {
    struct trial t = THREE;
    t.schedule = "auto";
    t.list = CPUS;
    run(&t, mistakes);
}

static int set_up(void **state) {
    (void)state;
    result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return result == MAP_FAILED;
}

RUN_TESTS(set_up, NULL)
