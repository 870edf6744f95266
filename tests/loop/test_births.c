/* Births (evn_loop_bear()): random changes whose born tasks are made of their origins, on cores and
 * on emulated devices, beside plain arrays. On devices no byte comes from the host, but for what a
 * full device had to give back before. Devices that are lost: test_recover.c. Run: ctest -R births
 */
#include "world.h"
#include <evener/kernel.h>
#include <evener/change.h>
#include <stdatomic.h>

extern const evn_kernel_source births_kernels;

enum { MOST = 60, VALUES = 96, BYTES = VALUES * sizeof(double), ORIGINS = 11 };

struct fixture {
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_place *place;
    int tasks, region[MOST];
    double value[MOST][VALUES]; /* as they should be */
    atomic_int born[MOST], wrong;
    long long evicted; /* in births */
};

static void begin(struct fixture *f, const char *list, const char *devices, const char *schedule) {
    memset(f, 0, sizeof *f);
    f->units = open_units(list, devices);
    ok(evn_place_open(&f->place, f->units, 1));
    f->tasks = 20;
    f->loop = open_loop(f->units, &f->schedule, schedule, (evn_problem){.tasks = f->tasks});
    for (int t = 0; t < f->tasks; t++) {
        ok(evn_place_make(f->place, BYTES, &f->region[t]));
        ok(evn_place_acquire(f->place, 1, &f->region[t], EVN_HOST, EVN_WRITE));
        double *memory = evn_place_host(f->place, f->region[t]);
        for (int i = 0; i < VALUES; i++) memory[i] = f->value[t][i] = t + i % 5;
        ok(evn_place_release(f->place, 1, &f->region[t], EVN_HOST));
    }
    ok(evn_loop_place(f->loop, f->place, 1, f->region, (evn_access[]){EVN_BOTH}));
}

static void end(struct fixture *f) {
    close_loop(f->loop, f->schedule);
    evn_place_close(f->place);
    close_units(f->units);
}

static void on_cores(struct fixture *f, evn_batch *batch, int t) {
    double *to = evn_batch_host(batch, t, 0);
    for (int i = 0; i < VALUES; i++) to[i] = 1;
    for (int k = 0; k < evn_batch_origins(batch, t); k++) {
        const double *from = evn_batch_origin_host(batch, t, k, 0);
        if (!from) atomic_fetch_add(&f->wrong, 1);
        for (int i = 0; from && i < VALUES; i++) to[i] += (k + 1) * from[i];
    }
}

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    struct fixture *f = arg;
    int count;
    const int *task = evn_batch_tasks(batch, &count);
    (void)unit;
    for (int i = 0; i < count; i++) atomic_fetch_add(&f->born[task[i]], 1);
    if (evn_batch_device(batch) < 0) {
        for (int i = 0; i < count; i++) on_cores(f, batch, task[i]);
        return EVN_OK;
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < evn_batch_origins(batch, task[i]); k++)
            if (evn_batch_origin_host(batch, task[i], k, 0) ||
                evn_batch_origin_at(batch, task[i], k, 0) % 8)
                atomic_fetch_add(&f->wrong, 1);
    const int width = 4 + EVN_ORIGINS_IN_ROW, values = VALUES, in_row = EVN_ORIGINS_IN_ROW;
    const evn_argument argument[] = {{evn_batch_buffer(batch), NULL, 0},
                                     {evn_batch_table(batch), NULL, 0},
                                     {NULL, &width, sizeof width},
                                     {NULL, &values, sizeof values},
                                     {NULL, &in_row, sizeof in_row}};
    return evn_batch_launch(batch, &births_kernels, "bear", count, argument, 5);
}

/* Some tasks go, others come, of none to many. */
struct change {
    evn_change of;
    int first[MOST + 1], from[MOST * ORIGINS], region[MOST], gone[MOST], gones;
    char kept[MOST];
    double value[MOST][VALUES];
};

static void invent(struct fixture *f, struct change *c) {
    int n = 0, at = 0;
    memset(c, 0, sizeof *c);
    for (int t = 0; t < f->tasks; t++) {
        for (int born = below(4) ? 0 : below(4); born && n < MOST - 4; born--, n++) {
            c->first[n] = at;
            ok(evn_place_make(f->place, BYTES, &c->region[n]));
            c->from[at++] = t;
            for (int more = below(3) ? 0 : below(ORIGINS); more; more--)
                c->from[at++] = below(f->tasks);
            for (int i = 0; i < VALUES; i++) {
                c->value[n][i] = 1;
                for (int k = c->first[n]; k < at; k++)
                    c->value[n][i] += (k - c->first[n] + 1) * f->value[c->from[k]][i];
            }
        }
        if (below(3) == 0 || n == MOST - 1) {
            c->gone[c->gones++] = f->region[t];
            continue;
        }
        c->first[n] = at;
        c->kept[n] = 1;
        c->region[n] = f->region[t];
        memcpy(c->value[n], f->value[t], sizeof c->value[n]);
        c->from[at++] = t;
        n++;
    }
    c->first[n] = at;
    c->of = (evn_change){.tasks = n,
                         .first = c->first,
                         .from = c->from,
                         .kept = c->kept,
                         .links = -1,
                         .region = c->region};
}

static long long from_host(const struct fixture *f) {
    long long bytes = 0;
    for (int s = 1; s < evn_place_spaces(f->place); s++)
        bytes += evn_place_moves(f->place, EVN_HOST, s).bytes;
    return bytes;
}

/* Values are kept small, so that all are exact. */
static void compare(struct fixture *f) {
    for (int t = 0; t < f->tasks; t++) {
        ok(evn_place_acquire(f->place, 1, &f->region[t], EVN_HOST, EVN_READ));
        assert_memory_equal(evn_place_host(f->place, f->region[t]), f->value[t], BYTES);
        ok(evn_place_release(f->place, 1, &f->region[t], EVN_HOST));
    }
}

/* Bytes of origins that a device has not. */
static long long missing(const struct fixture *f, const struct change *c, const int *region) {
    char counted[MOST] = {0};
    long long bytes = 0;
    for (int t = 0; t < c->of.tasks; t++)
        for (int k = c->first[t]; !c->kept[t] && k < c->first[t + 1]; k++)
            if (!counted[c->from[k]]++ && !evn_place_valid(f->place, region[c->from[k]], 1))
                bytes += BYTES;
    return bytes;
}

/* A change and its births; what came from the host meanwhile. On one device no more than was not
 * there, or went back to the host. */
static long long change(struct fixture *f) {
    static struct change c;
    invent(f, &c);
    if (!c.of.tasks) {
        c.of.tasks = 1;
        c.first[1] = 0;
        ok(evn_place_make(f->place, BYTES, &c.region[0]));
        for (int i = 0; i < VALUES; i++) c.value[0][i] = 1;
    }
    ok(evn_loop_change(f->loop, &c.of));
    for (int t = 0; t < MOST; t++) atomic_store(&f->born[t], 0);
    const int one = evn_place_spaces(f->place) == 2;
    const long long from = from_host(f),
                    to = one ? evn_place_moves(f->place, 1, EVN_HOST).bytes : 0;
    const long long wanted = one ? missing(f, &c, f->region) : 0;
    ok(evn_loop_bear(f->loop, body, f, EVN_READ));
    const long long bytes = from_host(f) - from;
    const long long evicted = one ? evn_place_moves(f->place, 1, EVN_HOST).bytes - to : 0;
    if (one) assert_true(bytes <= wanted + evicted);
    f->evicted += evicted;
    for (int t = 0; t < c.of.tasks; t++) assert_int_equal(atomic_load(&f->born[t]), !c.kept[t]);
    assert_int_equal(atomic_load(&f->wrong), 0);
    for (int i = 0; i < c.gones; i++) ok(evn_place_remove(f->place, c.gone[i]));
    f->tasks = c.of.tasks;
    memcpy(f->region, c.region, sizeof f->region);
    memcpy(f->value, c.value, sizeof f->value);
    return bytes;
}

/* Values would else grow without end. */
static void shrink(struct fixture *f) {
    for (int t = 0; t < f->tasks; t++) {
        ok(evn_place_acquire(f->place, 1, &f->region[t], EVN_HOST, EVN_BOTH));
        double *memory = evn_place_host(f->place, f->region[t]);
        for (int i = 0; i < VALUES; i++) memory[i] = f->value[t][i] = (t * 7 + i) % 11;
        ok(evn_place_release(f->place, 1, &f->region[t], EVN_HOST));
    }
}

static long long run_rounds(const char *list, const char *devices, int nothing_comes) {
    static const char *const schedules[] = {"map", "static", "dynamic", "auto"};
    long long evicted = 0;
    for (int s = 0; s < 4; s++) {
        static struct fixture f;
        begin(&f, list, devices, schedules[s]);
        for (int round = 0; round < 25; round++) {
            ok(evn_loop_run(f.loop, nothing, &f)); /* all are where they belong */
            const long long bytes = change(&f);
            if (nothing_comes) assert_int_equal(bytes, 0);
            if (round % 3 == 0) compare(&f);
            ok(evn_loop_run(f.loop, nothing, &f));
            compare(&f);
            shrink(&f);
        }
        evicted += f.evicted;
        end(&f);
    }
    return evicted;
}

TEST(cores) {
    run_rounds("1:CPU:1", NULL, 1);
    run_rounds("3:CPU:1", NULL, 1);
    run_rounds("2:CPU:2", NULL, 1);
}

TEST(on_devices) {
    run_rounds("1:GPU:1", "emulated:1", 1);
    run_rounds("2:GPU:1", "emulated:2", 1);
    run_rounds("1:GPU:2", "emulated:2", 1);
}

/* Half of the tasks on cores: an origin that is there must come to a device. */
TEST(both) { run_rounds("1:CPU:1,2:GPU:1", "emulated:2", 0); }

/* A device for some tasks at a time: births come in parts. */
TEST(full) { assert_true(run_rounds("1:GPU:1", "emulated:1,memory=32KiB", 0) > 0); }

RUN_TESTS(NULL, NULL)
