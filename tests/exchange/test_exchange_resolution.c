/* Faces between two resolutions: means of 2, 4 and 8 values and repeated values, in any mixture of
 * indices and strides, of odd extents, of values of any size; on cores, on devices, through
 * messages between these and over ranks that are threads: each byte is that of a plain loop over
 * values. Blocks cut for kernels; faces that are refused. EVENER_TEST_DEVICE is the device. Run:
 * ctest -R '^exchange-resolution$' */
#include "check.h"
#include "exchange/copies.h"
#include "wire/ranks.h"
#include <unistd.h>

enum { TASKS = 9, FACES = 40, RANKS_MAX = 4 };
/* Regions: a box of values that are read, and behind it stretches that faces write. */
enum { B0 = 10, B1 = 9, B2 = 12, READ = B0 * B1 * B2, WRITTEN = 6000, VALUES = READ + WRITTEN };

static unsigned draw(unsigned *state, unsigned below) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

/* ---- faces and values ---------------------------------------------------------------------- */

/* A random order of three axes. */
static void draw_axes(unsigned *state, int axis[3]) {
    for (int i = 0; i < 3; i++) axis[i] = i;
    for (int i = 2; i > 0; i--) {
        const int j = (int)draw(state, (unsigned)i + 1), swap = axis[i];
        axis[i] = axis[j];
        axis[j] = swap;
    }
}

/* Values that n[d] written ones have at the source. */
static int at_source(evn_resolution way, int n) {
    return way == EVN_MEAN ? 2 * n : way == EVN_REPEAT ? (n + 1) / 2 : n;
}

/* The source is somewhere in the box, in steps of 1 or 2, forwards or backwards. */
static void draw_source(unsigned *state, evn_face *f) {
    static const int extent[3] = {B0, B1, B2}, pitch[3] = {B1 * B2, B2, 1};
    int axis[3];
    draw_axes(state, axis);
    f->from_at = 0;
    for (int d = 0; d < 3; d++) {
        const int room = extent[axis[d]];
        const int step = draw(state, 4) ? 1 : 2, most = (room - 1) / step + 1;
        const int written = f->resolution[d] == EVN_MEAN     ? most / 2
                            : f->resolution[d] == EVN_REPEAT ? 2 * most - 1
                                                             : most;
        f->n[d] = 1 + (int)draw(state, (unsigned)(written < 7 ? written : 7));
        const int length = (at_source(f->resolution[d], f->n[d]) - 1) * step;
        const int first = (int)draw(state, (unsigned)(room - length)), back = !draw(state, 4);
        f->from_stride[d] = (back ? -1 : 1) * step * pitch[axis[d]];
        f->from_at += (first + (back ? length : 0)) * pitch[axis[d]];
    }
}

/* The target is a stretch of its own, dense or with every other value, in any order of axes. */
static int draw_target(unsigned *state, evn_face *f, int *next) {
    int axis[3];
    draw_axes(state, axis);
    long long pitch = 1 + draw(state, 2);
    f->to_at = READ + *next;
    for (int i = 2; i >= 0; i--) {
        const int d = axis[i], back = !draw(state, 4);
        f->to_stride[d] = back ? -pitch : pitch;
        if (back) f->to_at += (f->n[d] - 1) * pitch;
        pitch *= f->n[d];
    }
    if (*next + pitch > WRITTEN) return 0;
    *next += (int)pitch;
    return 1;
}

static int draw_faces(unsigned *state, int numbers, evn_face face[FACES]) {
    int next[TASKS] = {0}, count = 0;
    for (int i = 0; i < FACES; i++) {
        evn_face *f = &face[count];
        *f = (evn_face){.from = (int)draw(state, TASKS), .to = (int)draw(state, TASKS)};
        for (int d = 0; d < 3; d++)
            f->resolution[d] = (evn_resolution)draw(state, numbers ? 3 : 2) * (numbers ? 1 : 2);
        if (numbers) f->numbers = numbers;
        draw_source(state, f);
        count += draw_target(state, f, &next[f->to]);
    }
    return count;
}

/* Numbers whose sums depend on their order; bytes where values are of none. */
static void fill(unsigned *state, char *block, size_t element, int numbers) {
    const size_t bytes = VALUES * element;
    for (size_t i = 0; i < bytes; i++) block[i] = (char)draw(state, 256);
    for (size_t i = 0; numbers && i < bytes / (size_t)numbers; i++) {
        const double value = ((int)draw(state, 2000001) - 1000000) / 7.0 * (i % 5 ? 1 : 1e5);
        const float rounded = (float)value;
        if (numbers == EVN_DOUBLES)
            memcpy(block + 8 * i, &value, 8);
        else
            memcpy(block + 4 * i, &rounded, 4);
    }
}

/* The mean of some numbers, by addresses. */
static void plain_mean(char *to, char *const *from, int count, size_t element, int numbers) {
    for (size_t at = 0; at < element; at += (size_t)numbers) {
        double d, dsum = 0;
        float s, ssum = 0;
        for (int i = 0; i < count; i++) {
            memcpy(&d, from[i] + at, numbers == EVN_DOUBLES ? 8 : 0);
            memcpy(&s, from[i] + at, numbers == EVN_FLOATS ? 4 : 0);
            if (numbers == EVN_DOUBLES) dsum = i ? dsum + d : d;
            if (numbers == EVN_FLOATS) ssum = i ? ssum + s : s;
        }
        dsum /= count;
        ssum /= (float)count;
        memcpy(to + at, numbers == EVN_DOUBLES ? (void *)&dsum : (void *)&ssum, (size_t)numbers);
    }
}

/* One value of a face, by what its header says. */
static void plain_value(const evn_face *f, const int at[3], size_t element, char *const *block) {
    long long first[3], to = f->to_at;
    int more[3];
    char *from[8];
    int count = 0;
    for (int d = 0; d < 3; d++) {
        first[d] = f->resolution[d] == EVN_MEAN     ? 2LL * at[d]
                   : f->resolution[d] == EVN_REPEAT ? at[d] / 2
                                                    : at[d];
        more[d] = f->resolution[d] == EVN_MEAN;
        to += at[d] * f->to_stride[d];
    }
    for (int a = 0; a <= more[0]; a++)
        for (int b = 0; b <= more[1]; b++)
            for (int c = 0; c <= more[2]; c++)
                from[count++] = block[f->from] + (f->from_at + (first[0] + a) * f->from_stride[0] +
                                                  (first[1] + b) * f->from_stride[1] +
                                                  (first[2] + c) * f->from_stride[2]) *
                                                     (long long)element;
    char *target = block[f->to] + to * (long long)element;
    if (count > 1)
        plain_mean(target, from, count, element, f->numbers);
    else
        memcpy(target, from[0], element);
}

static void plain(const evn_face *face, int faces, size_t element, char *const *block) {
    for (int i = 0; i < faces; i++)
        for (int a = 0; a < face[i].n[0]; a++)
            for (int b = 0; b < face[i].n[1]; b++)
                for (int c = 0; c < face[i].n[2]; c++)
                    plain_value(&face[i], (const int[3]){a, b, c}, element, block);
}

/* ---- a world ------------------------------------------------------------------------------- */

static const struct kind {
    size_t element;
    int numbers; /* 0: no means */
} kinds[] = {{8, 8}, {4, 4}, {8, 4}, {40, 8}, {12, 4}, {24, 4}, {16, 8}, {1, 0}, {3, 0}, {20, 0}};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct world {
    evn_cluster *cluster; /* NULL: alone */
    evn_machine *machine;
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_place *place; /* NULL: tasks' memory on the host */
    struct kind kind;
    char *memory[TASKS], *block[TASKS], *want[TASKS];
    int region[TASKS];
    evn_face face[FACES];
    int faces;
    evn_home home;
};

static void *memory_of(void *arg, int task, int block, size_t *bytes) {
    struct world *w = arg;
    (void)block;
    *bytes = VALUES * w->kind.element;
    return w->block[task];
}
static evn_status make_nothing(void *arg, int task) {
    (void)arg, (void)task;
    return EVN_OK;
}
static void drop_nothing(void *arg, int task) { (void)arg, (void)task; }

/* Without a place memory begins anywhere. */
static void open_blocks(struct world *w, unsigned *state) {
    const size_t bytes = VALUES * w->kind.element;
    for (int t = 0; t < TASKS; t++) {
        w->memory[t] = malloc(bytes + 8);
        w->block[t] = w->memory[t] + (w->place ? 0 : t % 4);
        w->want[t] = malloc(bytes);
        fill(state, w->want[t], w->kind.element, w->kind.numbers);
        memcpy(w->block[t], w->want[t], bytes);
    }
    plain(w->face, w->faces, w->kind.element, w->want);
    if (!w->place) return;
    static const evn_access both = EVN_BOTH;
    for (int t = 0; t < TASKS; t++)
        must_ok(evn_place_add(w->place, evn_loop_has(w->loop, t) ? w->block[t] : NULL, bytes,
                              &w->region[t]));
    must_ok(evn_loop_place(w->loop, w->place, 1, w->region, &both));
    if (!w->cluster) return;
    w->home =
        (evn_home){.blocks = 1, .make = make_nothing, .memory = memory_of, .drop = drop_nothing};
    must_ok(evn_loop_homes(w->loop, &w->home, w));
}

/* 0: there is no such device. */
static int open_world(struct world *w, evn_cluster *cluster, const char *list, const char *devices,
                      int place, struct kind kind, unsigned seed) {
    *w = (struct world){.cluster = cluster, .kind = kind};
    must_ok(evn_machine_open(&w->machine));
    if (evn_units_open(&w->units, w->machine, list, devices, EVN_OVERSUBSCRIBE)) {
        evn_machine_close(w->machine);
        return 0;
    }
    if (cluster) must_ok(evn_cluster_units(cluster, w->units, NULL));
    const evn_problem p = {.tasks = TASKS,
                           .units = cluster ? evn_cluster_about(cluster).units
                                            : evn_units_count(w->units)};
    must_ok(evn_schedule_open(&w->schedule, "static:chunk=1", &p));
    if (cluster)
        must_ok(evn_loop_open_on(&w->loop, w->units, w->schedule, cluster));
    else
        must_ok(evn_loop_open(&w->loop, w->units, w->schedule));
    if (place) must_ok(evn_place_open(&w->place, w->units, 0.5));
    w->faces = draw_faces(&seed, kind.numbers, w->face);
    open_blocks(w, &seed);
    return 1;
}

static void close_world(struct world *w) {
    evn_place_close(w->place);
    evn_loop_close(w->loop);
    evn_schedule_close(w->schedule);
    evn_units_close(w->units);
    evn_machine_close(w->machine);
    for (int t = 0; t < TASKS; t++) {
        free(w->memory[t]);
        free(w->want[t]);
    }
}

/* Where all regions are on the host again: the first byte of this process's tasks that is wrong. */
static long long first_wrong(struct world *w) {
    for (int t = 0; t < TASKS; t++) {
        if (!evn_loop_has(w->loop, t)) continue;
        if (w->place) {
            must_ok(evn_place_acquire(w->place, 1, &w->region[t], EVN_HOST, EVN_READ));
            must_ok(evn_place_release(w->place, 1, &w->region[t], EVN_HOST));
        }
        for (size_t i = 0; i < VALUES * w->kind.element; i++)
            if (w->block[t][i] != w->want[t][i]) return (long long)t * 100000000 + (long long)i;
    }
    return -1;
}

/* Some tasks get other values on the host, whatever their units are. */
static void change_some(struct world *w) {
    const size_t bytes = VALUES * w->kind.element;
    unsigned state = 5;
    for (int t = 0; t < TASKS; t += 4) {
        fill(&state, w->want[t], w->kind.element, w->kind.numbers);
        if (!evn_loop_has(w->loop, t)) continue;
        if (w->place) must_ok(evn_place_acquire(w->place, 1, &w->region[t], EVN_HOST, EVN_BOTH));
        memcpy(w->block[t], w->want[t], bytes);
        if (w->place) must_ok(evn_place_release(w->place, 1, &w->region[t], EVN_HOST));
    }
    plain(w->face, w->faces, w->kind.element, w->want);
}

/* Whether each task needs what a message brings, as regions lie now. */
static void check_needs(const struct world *w, evn_exchange *x) {
    for (int t = 0; t < TASKS; t++) {
        int needs = 0;
        for (int i = 0; w->place && i < w->faces; i++)
            needs |=
                w->face[i].to == t && evn_place_where(w->place, w->region[t]) !=
                                          evn_place_where(w->place, w->region[w->face[i].from]);
        must(evn_exchange_needs(x, t) == needs);
    }
}

/* Three times, of which the second one has nothing to plan and the third one other values; on the
 * host or, if `bring`, where the tasks' units compute. */
static long long exchanged(struct world *w, int bring) {
    OWN(exchange) *x;
    void *host[TASKS];
    for (int t = 0; t < TASKS; t++) host[t] = w->block[t];
    must_ok(
        evn_exchange_open(&x, w->loop, w->kind.element, w->faces, w->face, w->place ? NULL : host));
    if (bring) must_ok(evn_loop_bring(w->loop));
    for (int run = 0; run < 3; run++) {
        if (run == 2) change_some(w);
        must_ok(evn_exchange_run(x));
    }
    if (!w->cluster) check_needs(w, x);
    const long long wrong = first_wrong(w);
    return wrong;
}

/* ---- alone --------------------------------------------------------------------------------- */

static const char *device_of(const char *emulated) {
    const char *chosen = getenv("EVENER_TEST_DEVICE");
    return chosen && *chosen ? chosen : emulated;
}

TEST(means_and_repetitions) {
    static const struct {
        const char *list, *devices;
        int place;
    } ways[] = {{"1:CPU:1", NULL, 0},
                {"3:CPU:1", NULL, 0},
                {"2:CPU:2", NULL, 1},
                {"1:GPU:1", "emulated", 1},
                {"3:GPU:1", "emulated:3", 1},
                {"3:GPU:1", "emulated:3,peer=no", 1},
                {"1:CPU:1,1:GPU:1", "emulated", 1},
                {"1:CPU:2,1:GPU:2", "emulated:2", 1}};
    for (int w = 0; w < (int)(sizeof ways / sizeof *ways); w++)
        for (int k = 0; k < KINDS; k++)
            for (unsigned seed = 1; seed <= 2; seed++) {
                struct world here;
                const char *devices = ways[w].devices ? device_of(ways[w].devices) : NULL;
                if (!open_world(&here, NULL, ways[w].list, devices, ways[w].place, kinds[k],
                                seed * 77))
                    continue;
                const long long wrong = exchanged(&here, seed % 2);
                if (wrong >= 0)
                    fail_msg("%s, values of %zu bytes, seed %u: task and byte %lld are wrong",
                             ways[w].list, kinds[k].element, seed, wrong);
                close_world(&here);
            }
}

/* Messages have the coarse values: of 6 x 4 x 1 fine ones repeated from coarse ones 3 x 2 x 1, and
 * of means as many as are written. */
TEST(messages_are_coarse) {
    ENDS(close_world) struct world w;
    assert_true(open_world(&w, NULL, "2:CPU:1", NULL, 0, kinds[0], 1));
    const evn_face face[] = {{.from = 0,
                              .to = 1,
                              .to_at = READ,
                              .from_stride = {B1 * B2, B2, 1},
                              .to_stride = {4, 1, 0},
                              .n = {6, 4, 1},
                              .resolution = {EVN_REPEAT, EVN_REPEAT}},
                             {.from = 1,
                              .to = 0,
                              .to_at = READ,
                              .from_stride = {B1 * B2, B2, 1},
                              .to_stride = {3, 1, 0},
                              .n = {5, 3, 1},
                              .resolution = {EVN_MEAN, EVN_MEAN, EVN_MEAN},
                              .numbers = EVN_DOUBLES}};
    void *host[TASKS];
    double bytes[4];
    for (int t = 0; t < TASKS; t++) host[t] = w.block[t];
    OWN(exchange) *x = OPEN(exchange, w.loop, 8, 2, face, host);
    assert_int_equal(evn_exchange_pairs(x, bytes), 2);
    assert_true(bytes[1] == 6 * 8 && bytes[2] == 15 * 8);
}

/* ---- over ranks ---------------------------------------------------------------------------- */

static struct trial {
    int place;
    struct kind kind;
    unsigned seed;
} trial;

static void rank_main(evn_cluster *cluster) {
    static const char *const lists[2][RANKS_MAX] = {
        {"2:CPU:1", "1:CPU:1", "1:CPU:2", "1:CPU:1"},
        {"1:CPU:1,1:GPU:1", "1:CPU:1", "2:GPU:1", "1:GPU:1"}};
    ENDS(close_world) struct world w;
    must(open_world(&w, cluster, lists[trial.place][evn_cluster_rank(cluster)], "emulated:2",
                    trial.place, trial.kind, trial.seed));
    must(exchanged(&w, trial.place) < 0);
    must_ok(evn_cluster_agree(cluster, EVN_OK));
}

TEST(over_ranks) {
    for (int ranks = 2; ranks <= RANKS_MAX; ranks++)
        for (int k = 0; k < KINDS; k++)
            for (int place = 0; place < 2; place++) {
                trial = (struct trial){place, kinds[k], (unsigned)(ranks * 100 + k)};
                alarm(120);
                assert_int_equal(ranks_of_cluster(1, ranks, rank_main), 0);
                alarm(0);
            }
}

/* ---- blocks for kernels -------------------------------------------------------------------- */

/* Blocks that are cut begin where a repeated value does, and means keep all of their values. */
TEST(blocks_are_cut) {
    static const struct {
        int n[3], scale;
    } of[] = {
        {{3, 1 << 10, 1 << 20}, EXCHANGE_REPEAT},
        {{2, 1 << 10, 1 << 20}, EXCHANGE_REPEAT},
        {{7, 1 << 14, 1 << 14}, EXCHANGE_REPEAT | EXCHANGE_REPEAT << 2},
        {{5, 1 << 15, 1 << 15}, EXCHANGE_MEAN},
        {{1, 1 << 15, (1 << 16) + 1}, EXCHANGE_MEAN | EXCHANGE_MEAN << 2 | EXCHANGE_REPEAT << 4}};
    enum { ROW = 17 };
    for (int b = 0; b < (int)(sizeof of / sizeof *of); b++) {
        ENDS(copies_close) struct copies c = {0};
        struct shape shape = {.scale = of[b].scale};
        memcpy(shape.n, of[b].n, sizeof shape.n);
        const struct side from = {.stride = {1LL << 40, 1LL << 20, 1}};
        const struct side to = {.stride = {1LL << 44, 1LL << 22, 1}};
        assert_int_equal(copies_add_to_device(&c, shape, 1, &from, &to), 0);
        long long values = 0;
        for (int i = 0; i < c.blocks; i++) {
            const struct exchange_block *k = &c.block[i];
            const long long at[3] = {k->to >> 44, (k->to >> 22) % (1 << 22), k->to % (1 << 22)};
            long long source = 0;
            for (int d = 0; d < 3; d++) {
                const int way = of[b].scale >> 2 * d & 3;
                source += (way == EXCHANGE_MEAN ? 2 * at[d]
                           : way                ? at[d] / 2
                                                : at[d]) *
                          from.stride[d];
            }
            assert_true(k->from == source);
            for (int d = 0; d < 3; d++) /* within it, values repeat from its first one on */
                if (k->n[d] > 1 && (k->scale >> 2 * d & EXCHANGE_REPEAT))
                    for (int e = 0; e < 3; e++)
                        if (k->to_stride[d] == to.stride[e]) assert_true(at[e] % 2 == 0);
            assert_true((long long)k->n[0] * k->n[1] * k->n[2] <= EXCHANGE_WORDS);
            values += (long long)k->n[0] * k->n[1] * k->n[2];
        }
        assert_true(values == (long long)of[b].n[0] * of[b].n[1] * of[b].n[2]);
    }
}

/* ---- refused ------------------------------------------------------------------------------- */

static void refused(struct world *w, size_t element, evn_face face, int faces, const char *words) {
    evn_exchange *x;
    const evn_face both[2] = {face, {.from = 1, .to = 0, .to_at = READ, .n = {1, 1, 1}}};
    assert_fails(evn_exchange_open(&x, w->loop, element, faces, both, NULL), EVN_USAGE, words);
}

TEST(what_is_refused) {
    ENDS(close_world) struct world w;
    assert_true(open_world(&w, NULL, "1:CPU:1", NULL, 1, kinds[0], 1));
    const evn_face good = {.from = 0,
                           .to = 1,
                           .to_at = READ,
                           .from_stride = {0, 0, 1},
                           .to_stride = {0, 0, 1},
                           .n = {1, 1, 4},
                           .resolution = {0, 0, EVN_MEAN},
                           .numbers = EVN_DOUBLES};
    evn_face f = good;
    f.resolution[1] = (evn_resolution)3;
    refused(&w, 8, f, 1, "face 0 has resolution 3 along its second index");
    f = good;
    f.numbers = 0;
    refused(&w, 8, f, 1, "face 0 takes means of numbers 0, expected EVN_DOUBLES or EVN_FLOATS");
    f = good;
    refused(&w, 4, f, 1, "means of values of 4 bytes, which are no whole number of doubles");
    refused(&w, 12, f, 1, "means of values of 12 bytes");
    f.from_at = VALUES - 7;
    refused(&w, 8, f, 1, "face 0 reads values");
    f = good;
    f.n[2] = 1 << 30;
    refused(&w, 8, f, 1, "further than bytes can be counted");
    /* the last value that a mean reads is written by the other face, as that of a repetition */
    f = (evn_face){.from = 0, .to = 1, .to_at = READ, .from_at = READ - 7};
    memcpy(f.from_stride, good.from_stride, sizeof f.from_stride);
    memcpy(f.to_stride, good.to_stride, sizeof f.to_stride);
    memcpy(f.n, good.n, sizeof f.n);
    f.resolution[2] = EVN_MEAN;
    f.numbers = EVN_DOUBLES;
    refused(&w, 8, f, 2, "which face 1 writes at the same time");
    f.resolution[2] = EVN_REPEAT;
    f.n[2] = 15;
    refused(&w, 8, f, 2, "which face 1 writes at the same time");
    f.n[2] = 14; /* 7 values: up to the one before */
    const evn_face both[2] = {f, {.from = 1, .to = 0, .to_at = READ, .n = {1, 1, 1}}};
    OWN(exchange) *x = OPEN(exchange, w.loop, 8, 2, both, NULL);
}

RUN_TESTS(NULL, NULL)
