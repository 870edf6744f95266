/* Faces that go both ways beside each other, and what is copied ahead: a periodic grid of tasks
 * with rims, against plain copies, on units of cores (and an emulated device, where nothing is
 * paired). What was said ahead is copied then and not again, by whoever says it, in any order and
 * at the same time. Run: ctest -R exchange-pairs */
#include "world.h"
#include "exchange/plan.h"
#include <evener/program.h>

enum { TASKS = 12, FACES = 4 * TASKS, NX = 11, NY = 7, PLANES = 3 };
enum { SJ = NX + 2, SK = SJ * NY, VALUES = SK * PLANES };

struct fixture {
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_place *place;
    evn_exchange *x;
    size_t element;
    evn_face face[FACES];
    char *block[TASKS], *want[TASKS];
    int said[TASKS];
    int round, all; /* of a loop's body: which, and whether all of its tasks are said */
};

/* The rims of a grid of so many columns: west, east, south, north of each task. */
static void make_faces(evn_face face[FACES], int columns) {
    const int rows = TASKS / columns;
    for (int t = 0; t < TASKS; t++) {
        const int i = t % columns, j = t / columns;
        const int from[4] = {j * columns + (i + columns - 1) % columns,
                             j * columns + (i + 1) % columns, (j + rows - 1) % rows * columns + i,
                             (j + 1) % rows * columns + i};
        for (int side = 0; side < 4; side++) {
            const int along_y = side >= 2, high = side % 2, n = along_y ? NY : NX;
            const int step = along_y ? SJ : 1, other = along_y ? 1 : SJ;
            evn_face *f = &face[4 * t + side];
            *f = (evn_face){.from = from[side],
                            .to = t,
                            .from_at = (high ? 1 : n - 2) * step + other,
                            .to_at = (high ? n - 1 : 0) * step + other,
                            .n = {1, PLANES, (along_y ? NX : NY) - 2}};
            for (int d = 0; d < 3; d++)
                f->from_stride[d] = f->to_stride[d] = d == 0 ? 0 : d == 1 ? SK : other;
        }
    }
}

static void copy_plainly(const struct fixture *f, const evn_face *face) {
    for (int b = 0; b < face->n[1]; b++)
        for (int c = 0; c < face->n[2]; c++) {
            const long long from =
                face->from_at + b * face->from_stride[1] + c * face->from_stride[2];
            const long long to = face->to_at + b * face->to_stride[1] + c * face->to_stride[2];
            memcpy(f->want[face->to] + to * (long long)f->element,
                   f->want[face->from] + from * (long long)f->element, f->element);
        }
}

/* Other values in a task, in both. */
static void fill(struct fixture *f, int task, unsigned seed) {
    for (size_t i = 0; i < VALUES * f->element; i++) {
        seed = seed * 1664525u + 1013904223u;
        f->block[task][i] = f->want[task][i] = (char)(seed >> 24);
    }
}

static void begin(struct fixture *f, const char *list, const char *schedule, size_t element,
                  int columns, int with_place) {
    *f = (struct fixture){.element = element};
    f->units = open_units(list, "emulated");
    f->loop = open_loop(f->units, &f->schedule, schedule, (evn_problem){.tasks = TASKS});
    if (with_place) ok(evn_place_open(&f->place, f->units, 0.5));
    int region[TASKS];
    void *host[TASKS];
    for (int t = 0; t < TASKS; t++) {
        host[t] = f->block[t] = malloc(VALUES * element);
        f->want[t] = malloc(VALUES * element);
        fill(f, t, (unsigned)t + 1);
        if (with_place) ok(evn_place_add(f->place, f->block[t], VALUES * element, &region[t]));
    }
    const evn_access access = EVN_BOTH;
    if (with_place) ok(evn_loop_place(f->loop, f->place, 1, region, &access));
    make_faces(f->face, columns);
    ok(evn_exchange_open(&f->x, f->loop, element, FACES, f->face, host));
}

static void end(struct fixture *f) {
    evn_exchange_close(f->x);
    evn_place_close(f->place);
    close_loop(f->loop, f->schedule);
    close_units(f->units);
    for (int t = 0; t < TASKS; t++) {
        free(f->block[t]);
        free(f->want[t]);
    }
}

/* Brings all home, where there is a place, and compares. */
static void compare(struct fixture *f) {
    for (int t = 0; t < TASKS; t++) {
        if (f->place) ok(evn_place_acquire(f->place, 1, &f->x->part[t].region, EVN_HOST, EVN_READ));
        assert_memory_equal(f->block[t], f->want[t], VALUES * f->element);
        if (f->place) evn_place_release(f->place, 1, &f->x->part[t].region, EVN_HOST);
    }
}

static void run(struct fixture *f) {
    ok(evn_exchange_run(f->x));
    for (int i = 0; i < FACES; i++) copy_plainly(f, &f->face[i]);
    memset(f->said, 0, sizeof f->said);
}

/* ---- pairs --------------------------------------------------------------------------------- */

static void check_pairs(const evn_exchange *x) {
    assert_int_equal(x->faces, FACES);
    for (int i = 0; i < FACES; i++) {
        const int back = x->face[i].back;
        assert_in_range(back, 0, FACES - 1);
        assert_int_not_equal(back, i);
        assert_int_equal(x->face[back].back, i);
        assert_int_equal(x->face[i].of.from, x->face[back].of.to);
        assert_int_equal(x->face[i].of.to, x->face[back].of.from);
    }
}

/* Every face has the one beside it; also where two tasks meet twice, and a task itself. */
TEST(copies) {
    static const char *const lists[] = {"1:CPU:1", "3:CPU:1", "2:CPU:2", "1:CPU:1,1:GPU:1"};
    static const size_t elements[] = {8, 4, 16, 1, 24};
    static const int columns[] = {4, 6, 2, 12, 1};
    for (int l = 0; l < 4; l++)
        for (int e = 0; e < 5; e++)
            for (int with_place = l == 3; with_place < 2; with_place++) {
                ENDS(end) struct fixture f;
                begin(&f, lists[l], "static", elements[e], columns[(l + e) % 5], with_place);
                check_pairs(f.x);
                for (int again = 0; again < 2; again++) {
                    run(&f);
                    compare(&f);
                    if (with_place) ok(evn_loop_bring(f.loop));
                }
            }
}

/* What lies far from each other, or is as far apart another way, is nobody's pair. */
TEST(no_pairs) {
    static char far[2][1 << 14];
    void *host[2] = {far[0], far[1]};
    const evn_face face[4] = {
        {.from = 0, .to = 1, .from_at = 0, .to_at = 0, .from_stride = {0, 0, 8}, .n = {1, 1, 4}},
        {.from = 1, .to = 0, .from_at = 4, .to_at = 900, .to_stride = {0, 0, 8}, .n = {1, 1, 4}},
        {.from = 0, .to = 1, .from_at = 1000, .to_at = 1000, .n = {1, 1, 1}},
        {.from = 1, .to = 0, .from_at = 1001, .to_at = 1001, .n = {1, 1, 2}}};
    evn_face strided[4];
    memcpy(strided, face, sizeof face);
    strided[0].to_stride[2] = strided[1].from_stride[2] = 8;
    for (int i = 2; i < 4; i++) strided[i].from_stride[2] = strided[i].to_stride[2] = 2;
    ENDS(end) struct fixture f;
    begin(&f, "1:CPU:1", "static", 8, 4, 0);
    void *all[TASKS] = {host[0], host[1]};
    for (int t = 2; t < TASKS; t++) all[t] = f.block[t];
    OWN(exchange) *x = OPEN(exchange, f.loop, 8, 4, strided, all);
    for (int i = 0; i < 4; i++) assert_int_equal(x->face[i].back, -1);
    evn_exchange_close(x);
    /* beside each other, and of one stride alone that differs */
    strided[1].to_at = 4;
    strided[1].to_stride[2] = 16;
    ok(evn_exchange_open(&x, f.loop, 8, 2, strided, all));
    for (int i = 0; i < 2; i++) assert_int_equal(x->face[i].back, -1);
    evn_exchange_close(x);
    strided[1].to_stride[2] = 8;
    ok(evn_exchange_open(&x, f.loop, 8, 2, strided, all));
    for (int i = 0; i < 2; i++) assert_int_equal(x->face[i].back, 1 - i);
}

/* Pairs between two units are dealt to both alike. */
TEST(dealt) {
    ENDS(end) struct fixture f;
    begin(&f, "2:CPU:1", "static", 8, 4, 0);
    run(&f);
    assert_int_equal(f.x->plan.ends, 2);
    assert_int_equal(f.x->plan.end[0].direct.count, FACES / 4);
    assert_int_equal(f.x->plan.end[1].direct.count, FACES / 4);
}

/* ---- ahead --------------------------------------------------------------------------------- */

/* A task is said; what it has with others that were is copied now. */
static void say(struct fixture *f, int task) {
    ok(evn_exchange_ahead(f->x, task));
    f->said[task] = 1;
    for (int i = 0; i < FACES; i++)
        if ((f->face[i].from == task || f->face[i].to == task) && f->said[f->face[i].from] &&
            f->said[f->face[i].to])
            copy_plainly(f, &f->face[i]);
}

/* Refused, and nothing is copied. */
static void say_again(struct fixture *f, int task) {
    char says[40];
    snprintf(says, sizeof says, "for task %d again, and no run since", task);
    assert_fails(evn_exchange_ahead(f->x, task), EVN_USAGE, says);
    compare(f);
}

/* A mark in the middle of what each face writes, in both. */
static void mark(struct fixture *f, int i) {
    const evn_face *face = &f->face[i];
    const size_t at = (size_t)(face->to_at + face->to_stride[1] + 2 * face->to_stride[2]);
    f->block[face->to][at * f->element] ^= 1;
    if (f->said[face->from] && f->said[face->to]) f->want[face->to][at * f->element] ^= 1;
}

TEST(ahead) {
    static const int columns[] = {4, 2, 1};
    for (int g = 0; g < 3; g++) {
        ENDS(end) struct fixture f;
        begin(&f, g == 1 ? "2:CPU:2" : "1:CPU:1", "static", 8, columns[g], 0);
        ok(evn_exchange_ahead(f.x, 3)); /* there was no run: nothing */
        compare(&f);
        run(&f);
        for (int said = TASKS; said >= 0; said -= 4) {
            for (int t = 0; t < TASKS; t++) fill(&f, t, (unsigned)(said * TASKS + t));
            for (int k = 0; k < said; k++) {
                say(&f, (k * 5 + said) % TASKS);
                compare(&f);
                if (k == 2) say_again(&f, (k * 5 + said) % TASKS);
            }
            for (int i = 0; i < FACES; i++) mark(&f, i);
            /* those that are done stay as they are; the others are copied */
            struct fixture marked = f;
            ok(evn_exchange_run(f.x));
            for (int i = 0; i < FACES; i++)
                if (!(marked.said[f.face[i].from] && marked.said[f.face[i].to]))
                    copy_plainly(&f, &f.face[i]);
            memset(f.said, 0, sizeof f.said);
            compare(&f);
        }
    }
}

/* The run at hand counts what crosses as tasks lie now. */
static void run_counts(struct fixture *f) {
    const evn_loop_totals before = evn_loop_sum(f->loop);
    int met[3][3] = {{0}}, pairs = 0;
    double bytes = 0;
    for (int i = 0; i < FACES; i++) {
        const evn_face *face = &f->face[i];
        const int a = f->loop->owner[face->from], b = f->loop->owner[face->to];
        if (a == b) continue;
        bytes += (double)(face->n[0] * face->n[1] * face->n[2]) * (double)f->element;
        pairs += !met[a][b]++;
    }
    ok(evn_exchange_run(f->x));
    const evn_loop_totals after = evn_loop_sum(f->loop);
    assert_true(after.bytes - before.bytes == bytes);
    assert_int_equal(after.messages - before.messages, pairs);
}

/* Tasks that change their units from one run to the next: what is done ahead stays done, and what
 * is not is copied by those that have the tasks now. */
TEST(ahead_moves) {
    ENDS(end) struct fixture f;
    begin(&f, "3:CPU:1", "static", 8, 4, 0);
    run(&f);
    for (int round = 0; round < 8; round++) {
        const int said = round % 4 == 2 ? TASKS / 2 : round % 4 == 3 ? 0 : TASKS;
        for (int t = 0; t < TASKS; t++) fill(&f, t, (unsigned)(round * TASKS + t));
        const int turn = round % 4 == 2 ? round - 1 : round; /* they stay this once */
        for (int t = 0; t < TASKS; t++) f.loop->owner[t] = turn == 4 ? 0 : (t + turn) % 3;
        f.loop->assignment++;
        for (int t = 0; t < said; t++) say(&f, t);
        if (said == TASKS)
            for (int i = 0; i < FACES; i++) mark(&f, i);
        run_counts(&f);
        for (int i = 0; said < TASKS && i < FACES; i++) copy_plainly(&f, &f.face[i]);
        memset(f.said, 0, sizeof f.said);
        compare(&f);
        if (said < TASKS) /* planned anew: each has what goes to its tasks, or half of that */
            for (int e = 0; e < f.x->plan.ends; e++)
                for (int i = 0; i < f.x->plan.end[e].direct.count; i++) {
                    const evn_face *face = &f.x->face[f.x->plan.end[e].direct.copy[i].number].of;
                    const int unit = f.x->plan.end[e].unit;
                    assert_true(f.loop->owner[face->from] == unit ||
                                f.loop->owner[face->to] == unit);
                }
    }
}

TEST(ahead_of_nothing) {
    ENDS(end) struct fixture f;
    begin(&f, "1:CPU:1", "static", 8, 4, 1);
    run(&f);
    for (int t = 0; t < TASKS; t++) fill(&f, t, (unsigned)t + 77);
    for (int t = 0; t < TASKS; t++) ok(evn_exchange_ahead(f.x, t));
    compare(&f); /* regions follow: the next run does all */
    run(&f);
    compare(&f);
    assert_int_equal(evn_exchange_ahead(NULL, 0), EVN_USAGE);
    assert_int_equal(evn_exchange_ahead(f.x, -1), EVN_USAGE);
    assert_fails(evn_exchange_ahead(f.x, TASKS), EVN_USAGE, "no task 12, only 0 to 11");
}

/* ---- by bodies ----------------------------------------------------------------------------- */

/* New inner values from all old ones. */
static void advance(void *block, int round) {
    double *b = block, sum = round;
    for (int i = 0; i < VALUES; i++) sum += b[i];
    for (int k = 0; k < PLANES; k++)
        for (int j = 1; j < NY - 1; j++)
            for (int i = 1; i < NX - 1; i++) b[k * SK + j * SJ + i] += sum / 1000 + i + j;
}

static void do_task(const evn_subteam *by, int task, void *arg) {
    struct fixture *f = arg;
    if (by->core == 0) advance(f->block[task], f->round);
    if (by->cores > 1) evn_subteam_barrier(by);
    if (by->core == 0 && (f->all || task % 3)) evn_exchange_ahead(f->x, task);
}

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    return evn_batch_share(batch, NULL, 0, do_task, arg);
}

/* Units, and subteams within them, at the same time, with tasks that move. */
TEST(by_bodies) {
    static const char *const lists[] = {"1:CPU:1", "3:CPU:1", "1:CPU:2", "1:CPU:2,1:CPU:1"};
    static const char *const schedules[] = {"static", "dynamic", "guided:time",
                                            "dynamic:memorize=0"};
    for (int l = 0; l < 4; l++)
        for (int s = 0; s < 4; s++) {
            ENDS(end) struct fixture f;
            begin(&f, lists[l], schedules[s], 8, 4, 0);
            for (int t = 0; t < TASKS; t++)
                for (int i = 0; i < VALUES; i++) {
                    const double value = t + i % 7;
                    memcpy(f.block[t] + 8 * i, &value, sizeof value);
                    memcpy(f.want[t] + 8 * i, &value, sizeof value);
                }
            for (f.round = 0; f.round < 6; f.round++) {
                f.all = f.round % 3 > 0;
                run(&f);
                compare(&f);
                ok(evn_loop_run(f.loop, body, &f));
                for (int t = 0; t < TASKS; t++) advance(f.want[t], f.round);
            }
        }
}

RUN_TESTS(NULL, NULL)
