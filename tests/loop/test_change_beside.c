/* Tasks that come and go beside all else that a loop does: visits on units and on the host's cores,
 * instances joined within a job, subteams, two exchanges of different elements, whole and in
 * halves, and regions that several tasks share. Random sequences, on cores and emulated devices,
 * beside plain arrays. Run: ctest -R change-beside */
#include "world.h"
#include <evener/change.h>
#include <evener/program.h>
#include <evener/exchange.h>
#include <stdatomic.h>

extern const evn_kernel_source bodies_kernels;

/* A task's values: the sum and the number that bodies write, others, and the ghosts of two
 * exchanges, of elements of 8 and of 4 bytes. */
enum { INNER = 8, GHOSTS = 4, VALUES = INNER + 2 * GHOSTS, BYTES = VALUES * sizeof(double) };
enum { MOST = 40, IDS = 2000, TABLES = 3, STEPS = 30 };

struct way {
    const char *list, *devices, *schedule;
    int shares; /* bodies use subteams */
    int tables; /* tasks have a second region, which others have, too */
};

struct fixture {
    const struct way *way;
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_place *place;
    evn_exchange *x[2];
    int open[2], halves; /* halves that are open; 1: the body finishes them */
    int tasks, id[MOST], ids;
    int region[IDS], partner[2][IDS]; /* whose values a task's ghosts are, while both live */
    double *block[IDS], plain[IDS][VALUES];
    int gone[MOST], gones; /* whose regions are there still */
    int table[TABLES];
    double content[TABLES];
    atomic_int done[MOST], wrong;
    int refused; /* changes, while halves were open */
};

static int regions(const struct fixture *f) { return f->way->tables ? 2 : 1; }
static double by_of(const struct fixture *f, int id) {
    return f->way->tables ? id % TABLES + 2 : 1;
}

static int task_of(const struct fixture *f, int id) {
    for (int t = 0; t < f->tasks; t++)
        if (f->id[t] == id) return t;
    return -1;
}

static int make_task(struct fixture *f) {
    const int id = f->ids++;
    if (id >= IDS) abort();
    f->block[id] = malloc(BYTES);
    for (int i = 0; i < VALUES; i++) f->block[id][i] = f->plain[id][i] = 10 * (id % 50) + i;
    ok(evn_place_add(f->place, f->block[id], BYTES, &f->region[id]));
    return id;
}

static void drop_gone(struct fixture *f) {
    for (int i = 0; i < f->gones; i++) {
        ok(evn_place_remove(f->place, f->region[f->gone[i]]));
        free(f->block[f->gone[i]]);
        f->block[f->gone[i]] = NULL;
    }
    f->gones = 0;
}

static void list_regions(const struct fixture *f, int *region) {
    for (int t = 0; t < f->tasks; t++) {
        region[t * regions(f)] = f->region[f->id[t]];
        if (f->way->tables) region[2 * t + 1] = f->table[f->id[t] % TABLES];
    }
}

/* ---- faces --------------------------------------------------------------------------------- */

/* Those of an exchange that touch a born task, or all. */
static int list_faces(const struct fixture *f, int exchange, const char *kept, evn_face *face) {
    const int each = exchange ? 2 : 1; /* elements in a value */
    int count = 0;
    for (int t = 0; t < f->tasks; t++) {
        const int from = task_of(f, f->partner[exchange][f->id[t]]);
        if (from < 0 || from == t || (kept && kept[t] && kept[from])) continue;
        face[count++] = (evn_face){.from = from,
                                   .to = t,
                                   .from_at = exchange * GHOSTS * each,
                                   .to_at = (INNER + exchange * GHOSTS) * each,
                                   .from_stride = {0, 0, 1},
                                   .to_stride = {0, 0, 1},
                                   .n = {1, 1, GHOSTS * each}};
    }
    return count;
}

static void copy_plainly(struct fixture *f, int exchange) {
    static double before[IDS][VALUES];
    memcpy(before, f->plain, sizeof before);
    for (int t = 0; t < f->tasks; t++) {
        const int from = f->partner[exchange][f->id[t]];
        if (task_of(f, from) >= 0 && from != f->id[t])
            memcpy(f->plain[f->id[t]] + INNER + exchange * GHOSTS, before[from] + exchange * GHOSTS,
                   GHOSTS * sizeof(double));
    }
}

/* ---- bodies -------------------------------------------------------------------------------- */

static void add_on_cores(struct fixture *f, evn_batch *batch, int t) {
    double *x = evn_batch_host(batch, t, 0);
    const double *by = f->way->tables ? evn_batch_host(batch, t, 1) : NULL;
    x[0] += by ? *by : 1;
    x[1] = t;
    atomic_fetch_add(&f->done[t], 1);
}

struct shared {
    struct fixture *f;
    evn_batch *batch;
};

static void add_by_subteam(const evn_subteam *by, int t, void *arg) {
    struct shared *s = arg;
    if (by->core == 0) add_on_cores(s->f, s->batch, t);
    evn_subteam_barrier(by);
}

/* Adds to the first value, and notes the task's number. */
static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    struct fixture *f = arg;
    int count;
    const int *task = evn_batch_tasks(batch, &count), width = 1 + regions(f), first = 0;
    for (int k = 0; f->halves && k < 2; k++) {
        evn_status status =
            f->open[k] ? evn_exchange_finish(f->x[k], unit, evn_batch_device(batch)) : EVN_OK;
        if (status) return status;
    }
    if (evn_batch_device(batch) < 0) {
        struct shared s = {f, batch};
        if (f->way->shares) return evn_batch_share(batch, NULL, 0, add_by_subteam, &s);
        for (int i = 0; i < count; i++) add_on_cores(f, batch, task[i]);
        return EVN_OK;
    }
    for (int i = 0; i < count; i++) atomic_fetch_add(&f->done[task[i]], 1);
    const evn_argument argument[] = {{.buffer = evn_batch_buffer(batch)},
                                     {.buffer = evn_batch_table(batch)},
                                     {.value = &width, .bytes = sizeof width},
                                     {.value = &first, .bytes = sizeof first},
                                     {.value = &count, .bytes = sizeof count}};
    return evn_batch_launch(batch, &bodies_kernels, "visit", 1, argument, 5);
}

static evn_status look(evn_unit *unit, evn_batch *batch, void *arg) {
    struct fixture *f = arg;
    int count;
    const int *task = evn_batch_tasks(batch, &count);
    (void)unit;
    for (int i = 0; i < count; i++) {
        const double *x = evn_batch_host(batch, task[i], 0);
        if (memcmp(x, f->plain[f->id[task[i]]], BYTES) != 0) atomic_fetch_add(&f->wrong, 1);
        atomic_fetch_add(&f->done[task[i]], 1);
    }
    return EVN_OK;
}

static void join(evn_unit *unit, void *arg) {
    struct fixture *f = arg;
    if (evn_loop_join(f->loop, unit, body, f)) atomic_fetch_add(&f->wrong, 1);
}

enum pass { RUN, JOIN, VISIT, VISIT_HOST, LOOK, PASSES };

static void go_through(struct fixture *f, enum pass pass) {
    for (int t = 0; t < f->tasks; t++) atomic_store(&f->done[t], 0);
    switch (pass) {
    case RUN: ok(evn_loop_run(f->loop, body, f)); break;
    case JOIN: ok(evn_units_run(f->units, join, f)); break;
    case VISIT: ok(evn_loop_visit(f->loop, body, f)); break;
    case VISIT_HOST:
        /* for writing a region of several tasks would be in several hands */
        if (f->way->tables) return;
        ok(evn_loop_visit_host(f->loop, body, f, EVN_BOTH));
        break;
    default: ok(evn_loop_visit_host(f->loop, look, f, EVN_READ));
    }
    assert_int_equal(atomic_load(&f->wrong), 0);
    for (int t = 0; t < f->tasks; t++) {
        assert_int_equal(atomic_load(&f->done[t]), 1);
        if (pass == LOOK) continue;
        f->plain[f->id[t]][0] += by_of(f, f->id[t]);
        f->plain[f->id[t]][1] = t;
    }
    if (pass <= JOIN) drop_gone(f);
}

/* ---- a change ------------------------------------------------------------------------------ */

struct change {
    evn_change of;
    int id[MOST], first[MOST + 1], from[MOST], region[2 * MOST];
    char kept[MOST];
};

static void invent(struct fixture *f, struct change *c) {
    int n = 0;
    memset(c, 0, sizeof *c);
    for (int t = 0; t < f->tasks; t++) {
        if (below(4)) c->id[n++] = f->id[t];
    }
    for (int born = below(6) + !n; born && n < MOST; born--) c->id[n++] = -1;
    for (int i = n - 1; i > 0; i--) {
        const int j = below(i + 1), last = c->id[i];
        c->id[i] = c->id[j];
        c->id[j] = last;
    }
    for (int t = 0; t < n; t++) {
        c->first[t] = t;
        c->kept[t] = c->id[t] >= 0;
        c->from[t] = c->kept[t] ? task_of(f, c->id[t]) : below(f->tasks);
    }
    c->first[n] = n;
    c->of = (evn_change){.tasks = n,
                         .first = c->first,
                         .from = c->from,
                         .kept = c->kept,
                         .links = -1,
                         .region = c->region};
}

static void change(struct fixture *f) {
    static struct change c;
    evn_face face[MOST];
    invent(f, &c);
    for (int t = 0; t < f->tasks; t++) {
        int stays = 0;
        for (int i = 0; i < c.of.tasks; i++) stays |= c.id[i] == f->id[t];
        if (!stays) f->gone[f->gones++] = f->id[t];
    }
    for (int t = 0; t < c.of.tasks; t++)
        if (!c.kept[t]) c.id[t] = make_task(f);
    f->tasks = c.of.tasks;
    memcpy(f->id, c.id, sizeof f->id);
    for (int t = 0; t < f->tasks; t++)
        for (int k = 0; !c.kept[t] && k < 2; k++) f->partner[k][f->id[t]] = f->id[below(f->tasks)];
    list_regions(f, c.region);
    ok(evn_loop_change(f->loop, &c.of));
    for (int k = 0; k < 2; k++) {
        const int count = list_faces(f, k, c.kept, face);
        ok(evn_exchange_add(f->x[k], count, face, NULL));
    }
}

/* A change to so many tasks: kept ones, and others that come of none. Their ghosts stay. */
static void grow(struct fixture *f, int tasks) {
    static struct change c;
    memset(&c, 0, sizeof c);
    for (int t = tasks; t < f->tasks; t++) f->gone[f->gones++] = f->id[t];
    for (int t = 0; t < tasks; t++) {
        c.kept[t] = t < f->tasks;
        c.from[t] = t;
        c.first[t + 1] = c.first[t] + c.kept[t];
        if (!c.kept[t]) f->id[t] = make_task(f);
    }
    c.of = (evn_change){.tasks = f->tasks = tasks,
                        .first = c.first,
                        .from = c.from,
                        .kept = c.kept,
                        .links = -1,
                        .region = c.region};
    list_regions(f, c.region);
    ok(evn_loop_change(f->loop, &c.of));
}

/* While a half is open a change is refused, and all is as it was. */
static void exchange_in_halves(struct fixture *f) {
    evn_face face[MOST];
    int unfinished = 0;
    for (int k = 0; k < 2; k++) {
        ok(evn_exchange_start(f->x[k], &f->open[k]));
        copy_plainly(f, k);
        unfinished += f->open[k] && list_faces(f, k, NULL, face) > 0;
    }
    if (unfinished) {
        static struct change c;
        const int generation = evn_loop_generation(f->loop);
        invent(f, &c);
        for (int i = 0; i < 2 * MOST; i++) c.region[i] = -1;
        assert_fails(evn_loop_change(f->loop, &c.of), EVN_USAGE, "second half");
        assert_int_equal(evn_loop_generation(f->loop), generation);
        f->refused++;
    }
    f->halves = 1;
    go_through(f, below(2) ? RUN : JOIN);
    f->halves = 0;
}

static void exchange(struct fixture *f, int k) {
    ok(evn_exchange_run(f->x[k]));
    copy_plainly(f, k);
}

/* ---- the tests ----------------------------------------------------------------------------- */

static void begin(struct fixture *f, const struct way *way) {
    evn_face face[MOST];
    int region[2 * MOST];
    memset(f, 0, sizeof *f);
    f->way = way;
    f->units = open_units(way->list, way->devices);
    ok(evn_place_open(&f->place, f->units, 0.5));
    for (; f->tasks < 12; f->tasks++) f->id[f->tasks] = make_task(f);
    for (int t = 0; t < f->tasks; t++)
        for (int k = 0; k < 2; k++) f->partner[k][f->id[t]] = below(f->tasks);
    for (int k = 0; way->tables && k < TABLES; k++) {
        f->content[k] = k + 2;
        ok(evn_place_add(f->place, &f->content[k], sizeof f->content[k], &f->table[k]));
    }
    f->loop = open_loop(f->units, &f->schedule, way->schedule, (evn_problem){.tasks = f->tasks});
    list_regions(f, region);
    ok(evn_loop_place(f->loop, f->place, regions(f), region, (evn_access[]){EVN_BOTH, EVN_READ}));
    for (int k = 0; k < 2; k++) {
        const int count = list_faces(f, k, NULL, face);
        ok(evn_exchange_open(&f->x[k], f->loop, k ? 4 : 8, count, face, NULL));
    }
}

static void end(struct fixture *f) {
    drop_gone(f);
    for (int k = 0; k < 2; k++) evn_exchange_close(f->x[k]);
    close_loop(f->loop, f->schedule);
    evn_place_close(f->place);
    for (int id = 0; id < f->ids; id++) free(f->block[id]);
    close_units(f->units);
}

static int sequence(const struct way *way) {
    static struct fixture f;
    begin(&f, way);
    for (int step = 0; step < STEPS; step++) {
        if (below(3)) go_through(&f, (enum pass)below(PASSES));
        if (below(2)) change(&f);
        if (below(3) == 0) exchange_in_halves(&f);
        for (int k = 0; k < 2; k++)
            if (below(2)) exchange(&f, k);
        go_through(&f, (enum pass)below(PASSES));
        go_through(&f, LOOK);
    }
    for (int k = 0; way->tables && k < TABLES; k++) assert_true(f.content[k] == k + 2);
    end(&f);
    return f.refused;
}

static const char *const schedules[] = {"map", "static", "dynamic:memorize=0", "auto",
                                        "guided:time"};

TEST(units) {
    static const char *const lists[] = {"1:CPU:1", "3:CPU:1"};
    for (int l = 0; l < 2; l++)
        for (int s = 0; s < 5; s++)
            for (int tables = 0; tables < 2; tables++)
                sequence(
                    &(struct way){.list = lists[l], .schedule = schedules[s], .tables = tables});
}

/* A subteam's cores are cut anew for the tasks of now. */
TEST(subteams) {
    for (int s = 0; s < 5; s++)
        sequence(&(struct way){
            .list = "1:CPU:3,1:CPU:2", .schedule = schedules[s], .shares = 1, .tables = s % 2});
}

TEST(on_devices) {
    static const char *const lists[] = {"1:CPU:1,2:GPU:1", "1:GPU:2", "1:CPU:1,1:GPU:1"};
    int refused = 0;
    for (int l = 0; l < 3; l++)
        for (int s = 0; s < 5; s++)
            for (int tables = 0; tables < 2; tables++)
                refused +=
                    sequence(&(struct way){.list = lists[l],
                                           .devices = l == 0 ? "emulated:2,peer=no" : "emulated:2",
                                           .schedule = schedules[s],
                                           .tables = tables});
    assert_true(refused > 0);
}

/* A change to more tasks, none of them born: a device's table has rows for as many, and for as few
 * after another one. */
TEST(tables) {
    static const char *const lists[] = {"1:GPU:1", "1:GPU:2"};
    for (int l = 0; l < 2; l++)
        for (int s = 0; s < 5; s++) {
            static struct fixture f;
            begin(&f, &(struct way){
                          .list = lists[l], .devices = "emulated:2", .schedule = schedules[s]});
            for (int round = 0; round < 2; round++) {
                go_through(&f, RUN);
                grow(&f, MOST);
                go_through(&f, RUN);
                go_through(&f, LOOK);
                grow(&f, 2);
                go_through(&f, VISIT);
                go_through(&f, LOOK);
            }
            end(&f);
        }
}

RUN_TESTS(NULL, NULL)
