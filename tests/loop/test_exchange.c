/* The library's exchange: blocks between tasks of units that share a space or do not, against a
 * plain copy; in as many messages as there are pairs; and the same in two halves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <evener.h>
#include <stdlib.h>
#include <string.h>

/* A ring of tasks, each a block of N x N x N doubles; plane 0 comes from the task before, plane N-1
 * from the one behind, along the first or the last index in turn, so that both kinds of strides
 * occur. */
enum { TASKS = 12, N = 9, VALUES = N * N * N, FACES = 2 * TASKS };

static void faces(evn_face face[FACES]) {
    for (int t = 0; t < TASKS; t++)
        for (int side = 0; side < 2; side++) {
            const int along =
                t % 2; /* of the receiver: 0, planes of the first index; 1, of the last */
            evn_face *f = &face[2 * t + side];
            *f = (evn_face){
                .from = (t + (side ? 1 : TASKS - 1)) % TASKS, .to = t, .n = {1, N - 2, N - 2}};
            const int give = side ? 1 : N - 2, take = side ? N - 1 : 0;
            f->from_at = along ? give + N * N + N : give * N * N + N + 1;
            f->to_at = along ? take + N * N + N : take * N * N + N + 1;
            for (int way = 0; way < 2; way++) {
                long long *stride = way ? f->to_stride : f->from_stride;
                stride[0] = 0;
                stride[1] = along ? N * N : N;
                stride[2] = along ? N : 1;
            }
        }
}

static void plain(const evn_face face[FACES], double *block[TASKS]) {
    for (int i = 0; i < FACES; i++)
        for (int b = 0; b < N - 2; b++)
            for (int c = 0; c < N - 2; c++) {
                const evn_face *f = &face[i];
                block[f->to][f->to_at + b * f->to_stride[1] + c * f->to_stride[2]] =
                    block[f->from][f->from_at + b * f->from_stride[1] + c * f->from_stride[2]];
            }
}

struct fixture {
    evn_machine *machine;
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_place *place;
    evn_exchange *exchange;
    evn_face face[FACES];
    double *block[TASKS], *want[TASKS];
    int region[TASKS];
};

static void ok(evn_status status) {
    if (status) fail_msg("%s", evn_message());
}

static void begin(struct fixture *f, const char *list, const char *schedule) {
    memset(f, 0, sizeof *f);
    ok(evn_machine_open(&f->machine));
    ok(evn_units_open_on(&f->units, f->machine, list, "emulated", EVN_OVERSUBSCRIBE));
    evn_problem p = {.tasks = TASKS, .units = evn_units_count(f->units)};
    ok(evn_schedule_open(&f->schedule, schedule, &p));
    ok(evn_loop_open(&f->loop, f->units, f->schedule));
    ok(evn_place_open(&f->place, f->units, 0.5));
    faces(f->face);
    for (int t = 0; t < TASKS; t++) {
        f->block[t] = malloc(VALUES * sizeof(double));
        f->want[t] = malloc(VALUES * sizeof(double));
        for (int i = 0; i < VALUES; i++) f->block[t][i] = f->want[t][i] = 1000 * t + i;
        ok(evn_place_add(f->place, f->block[t], VALUES * sizeof(double), &f->region[t]));
    }
    ok(evn_loop_place(f->loop, f->place, f->region, EVN_BOTH));
    ok(evn_exchange_open(&f->exchange, f->loop, sizeof(double), FACES, f->face, NULL));
}

static void end(struct fixture *f) {
    evn_exchange_close(f->exchange);
    evn_place_close(f->place);
    evn_loop_close(f->loop);
    evn_schedule_close(f->schedule);
    evn_units_close(f->units);
    evn_machine_close(f->machine);
    for (int t = 0; t < TASKS; t++) {
        free(f->block[t]);
        free(f->want[t]);
    }
}

/* Brings all home and compares. */
static void compare(struct fixture *f) {
    for (int t = 0; t < TASKS; t++) {
        ok(evn_place_acquire(f->place, 1, &f->region[t], EVN_HOST, EVN_READ));
        for (int i = 0; i < VALUES; i++)
            if (f->block[t][i] != f->want[t][i])
                fail_msg("task %d value %d is %g instead of %g", t, i, f->block[t][i],
                         f->want[t][i]);
        evn_place_release(f->place, 1, &f->region[t], EVN_HOST);
    }
}

static const char *const lists[] = {"1:CPU:1",         "3:CPU:1",         "2:CPU:2",
                                    "1:GPU:1",         "3:GPU:1",         "1:CPU:1,1:GPU:1",
                                    "2:CPU:1,2:GPU:1", "1:CPU:2,1:GPU:2", "12:GPU:1"};
enum { LISTS = sizeof lists / sizeof *lists };

static void test_as_a_plain_copy(void **state) {
    (void)state;
    for (int l = 0; l < LISTS; l++) {
        struct fixture f;
        begin(&f, lists[l], "static");
        ok(evn_loop_bring(f.loop));
        ok(evn_exchange_run(f.exchange));
        plain(f.face, f.want);
        compare(&f);
        /* from wherever they are now */
        ok(evn_exchange_run(f.exchange));
        plain(f.face, f.want);
        compare(&f);
        end(&f);
    }
}

/* Bytes and messages as counted from the faces; never more copies than messages. */
static void test_counts(void **state) {
    (void)state;
    for (int l = 0; l < LISTS; l++) {
        struct fixture f;
        begin(&f, lists[l], "static");
        ok(evn_loop_bring(f.loop));
        evn_loop_reset_stats(f.loop);
        for (int i = 0; i < 3; i++) ok(evn_exchange_run(f.exchange));
        const int units = evn_units_count(f.units), *owner = evn_loop_owner(f.loop);
        int pairs = 0;
        double bytes = 0, *matrix = calloc((size_t)(units * units), sizeof *matrix);
        char *met = calloc((size_t)(units * units), 1);
        assert_int_equal(evn_exchange_pairs(f.exchange, matrix) >= 0, 1);
        for (int i = 0; i < FACES; i++) {
            int a = owner[f.face[i].from], b = owner[f.face[i].to];
            matrix[a * units + b] -= (N - 2) * (N - 2) * 8;
            if (a == b) continue;
            bytes += (N - 2) * (N - 2) * 8;
            pairs += !met[a * units + b];
            met[a * units + b] = 1;
        }
        for (int i = 0; i < units * units; i++) assert_true(matrix[i] == 0);
        const evn_loop_totals totals = evn_loop_sum(f.loop);
        assert_true(totals.bytes == 3 * bytes);
        assert_int_equal(totals.messages, 3 * pairs);
        /* a unit of two devices has messages between these too */
        if (!strstr(lists[l], "GPU:2")) assert_true(totals.copies <= 3 * pairs);
        free(met);
        free(matrix);
        end(&f);
    }
}

/* A body that reads ghosts only after the second half, and writes everything. */
struct halves {
    struct fixture *f;
    int open;
};

static evn_status late(evn_unit *unit, evn_batch *batch, void *arg) {
    struct halves *h = arg;
    return h->open ? evn_exchange_finish(h->f->exchange, unit, evn_batch_device(batch)) : EVN_OK;
}

static void test_halves(void **state) {
    (void)state;
    static const char *const schedules[] = {"static", "dynamic:chunk=1,memorize=0"};
    int opened = 0;
    for (int l = 0; l < LISTS; l++)
        for (int s = 0; s < 2; s++) {
            struct fixture f;
            begin(&f, lists[l], schedules[s]);
            ok(evn_loop_bring(f.loop));
            for (int i = 0; i < 3; i++) {
                struct halves h = {.f = &f};
                ok(evn_exchange_start(f.exchange, &h.open));
                if (s) assert_false(h.open); /* nobody knows who will have what */
                opened += h.open;
                ok(evn_loop_run(f.loop, late, &h));
                plain(f.face, f.want);
            }
            compare(&f);
            end(&f);
        }
    assert_true(opened > 0);
}

static void test_refusals(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, "1:CPU:1", "static");
    evn_exchange *x;
    evn_face wrong = f.face[0];
    wrong.to = TASKS;
    assert_int_equal(evn_exchange_open(&x, f.loop, sizeof(double), 1, &wrong, NULL), EVN_USAGE);
    assert_non_null(strstr(evn_message(), "task 12"));
    wrong.to = 0;
    wrong.n[1] = -1;
    assert_int_equal(evn_exchange_open(&x, f.loop, sizeof(double), 1, &wrong, NULL), EVN_USAGE);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_a_plain_copy),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
