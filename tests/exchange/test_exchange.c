/* The library's exchange between tasks of units that share a space or do not, against a plain copy:
 * in as many messages as there are pairs, and as many launches as there are kinds of copies; in two
 * halves; several of a loop at a time; and what it does where something fails. Faces of all shapes
 * are test_exchange_resolution.c's. EVENER_TEST_DEVICE is the device, emulated if it is not set;
 * where there is none the test is skipped (exit status 77). Run: ctest -R exchange */
#include "world.h"
#include "loop/internal.h"
#include <evener/exchange.h>
#include <evener/recover.h>

static const char *spec; /* NULL: emulated */

/* ---- a loop with regions ------------------------------------------------------------------- */

enum { TASKS = 12, SLOTS_MAX = 2, REGIONS_MAX = TASKS * SLOTS_MAX };
enum { N = 9, VALUES = N * N * N, FACES = 2 * TASKS };

struct fixture {
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_place *place;
    int slots;
    size_t bytes; /* of each region */
    char *block[REGIONS_MAX], *want[REGIONS_MAX];
    int region[REGIONS_MAX];
    evn_face face[FACES]; /* a ring, of begin_ring() */
    evn_exchange *x;      /* of it */
};

static const char *const lists[] = {"1:CPU:1",         "3:CPU:1",         "2:CPU:2",
                                    "1:GPU:1",         "3:GPU:1",         "1:CPU:1,1:GPU:1",
                                    "2:CPU:1,2:GPU:1", "1:CPU:2,1:GPU:2", "12:GPU:1"};
enum { LISTS = sizeof lists / sizeof *lists };

static unsigned draw(unsigned *state, unsigned end) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % end;
}

/* Lets regions follow tasks, `slots` of each. */
static void follow(struct fixture *f) {
    static const evn_access access[] = {EVN_BOTH, EVN_BOTH, EVN_BOTH};
    assert_true(f->slots <= 3);
    ok(evn_loop_place(f->loop, f->place, f->slots, f->region, access));
}

/* 0: there are no such devices. */
static int begin(struct fixture *f, const char *list, const char *devices, const char *schedule,
                 int slots, size_t bytes) {
    *f = (struct fixture){.slots = slots, .bytes = bytes};
    evn_machine *machine = OPEN(machine);
    const evn_status status =
        evn_units_open(&f->units, machine, list, spec ? spec : devices, EVN_OVERSUBSCRIBE);
    if (spec && status == EVN_MISSING) {
        evn_machine_close(machine);
        return 0;
    }
    ok(status);
    f->loop = open_loop(f->units, &f->schedule, schedule, (evn_problem){.tasks = TASKS});
    ok(evn_place_open(&f->place, f->units, 0.5));
    unsigned state = 7;
    for (int r = 0; r < TASKS * slots; r++) {
        f->block[r] = malloc(bytes);
        f->want[r] = malloc(bytes);
        for (size_t i = 0; i < bytes; i++) f->block[r][i] = f->want[r][i] = (char)draw(&state, 256);
        ok(evn_place_add(f->place, f->block[r], bytes, &f->region[r]));
    }
    follow(f);
    return 1;
}

static void end(struct fixture *f) {
    if (f->x) evn_exchange_close(f->x);
    evn_place_close(f->place);
    close_loop(f->loop, f->schedule);
    close_units(f->units);
    for (int r = 0; r < TASKS * f->slots; r++) {
        free(f->block[r]);
        free(f->want[r]);
    }
}

/* Brings all home and compares. */
static void compare(struct fixture *f) {
    for (int r = 0; r < TASKS * f->slots; r++) {
        ok(evn_place_acquire(f->place, 1, &f->region[r], EVN_HOST, EVN_READ));
        for (size_t i = 0; i < f->bytes; i++)
            if (f->block[r][i] != f->want[r][i])
                fail_msg("region %d byte %zu is %d instead of %d", r, i, f->block[r][i],
                         f->want[r][i]);
        evn_place_release(f->place, 1, &f->region[r], EVN_HOST);
    }
}

/* Other values everywhere, on the host. */
static void change(struct fixture *f) {
    for (int r = 0; r < TASKS * f->slots; r++) {
        ok(evn_place_acquire(f->place, 1, &f->region[r], EVN_HOST, EVN_BOTH));
        for (size_t i = 0; i < f->bytes; i++)
            f->want[r][i] = f->block[r][i] = (char)(f->block[r][i] * 5 + r + (int)(i % 251));
        evn_place_release(f->place, 1, &f->region[r], EVN_HOST);
    }
}

/* What an exchange does, value by value. */
static void plain(const evn_face *face, int faces, size_t element, int slots, char *const *block) {
    for (int i = 0; i < faces; i++) {
        const evn_face *f = &face[i];
        for (int a = 0; a < f->n[0]; a++)
            for (int b = 0; b < f->n[1]; b++)
                for (int c = 0; c < f->n[2]; c++) {
                    const long long from = f->from_at + a * f->from_stride[0] +
                                           b * f->from_stride[1] + c * f->from_stride[2];
                    const long long to =
                        f->to_at + a * f->to_stride[0] + b * f->to_stride[1] + c * f->to_stride[2];
                    memcpy(block[f->to * slots + f->to_region] + to * (long long)element,
                           block[f->from * slots + f->from_region] + from * (long long)element,
                           element);
                }
    }
}

/* ---- a ring -------------------------------------------------------------------------------- */

/* Each task has a block of N x N x N values; plane 0 comes from the task before, plane N-1 from the
 * one behind, along the first or the last index in turn, so that both kinds of strides occur. */
static void ring(evn_face face[FACES], int first) {
    for (int t = 0; t < TASKS; t++)
        for (int side = 0; side < 2; side++) {
            const int along =
                t % 2; /* of the receiver: 0, planes of the first index; 1, of the last */
            evn_face *f = &face[2 * t + side];
            *f = (evn_face){
                .from = (t + (side ? 1 : TASKS - 1)) % TASKS, .to = t, .n = {1, N - 2, N - 2}};
            const int give = side ? 1 : N - 2, take = side ? N - 1 : 0;
            f->from_at = first + (along ? give + N * N + N : give * N * N + N + 1);
            f->to_at = first + (along ? take + N * N + N : take * N * N + N + 1);
            for (int way = 0; way < 2; way++) {
                long long *stride = way ? f->to_stride : f->from_stride;
                stride[0] = 0;
                stride[1] = along ? N * N : N;
                stride[2] = along ? N : 1;
            }
        }
}

/* 0: there are no such devices. */
static int begin_ring(struct fixture *f, const char *list, const char *devices,
                      const char *schedule) {
    if (!begin(f, list, devices, schedule, 1, VALUES * sizeof(double))) return 0;
    ring(f->face, 0);
    ok(evn_exchange_open(&f->x, f->loop, sizeof(double), FACES, f->face, NULL));
    return 1;
}

/* Bytes and messages as counted from the faces; never more copies than messages. */
TEST(counts) {
    for (int l = 0; l < LISTS; l++) {
        struct fixture f;
        if (!begin_ring(&f, lists[l], "emulated", "static")) continue;
        ok(evn_loop_bring(f.loop));
        evn_loop_reset_stats(f.loop);
        for (int i = 0; i < 3; i++) ok(evn_exchange_run(f.x));
        const int units = evn_units_count(f.units), *owner = evn_loop_owner(f.loop);
        int pairs = 0;
        double bytes = 0, *matrix = calloc((size_t)(units * units), sizeof *matrix);
        char *met = calloc((size_t)(units * units), 1);
        assert_int_equal(evn_exchange_pairs(f.x, matrix) >= 0, 1);
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
        double in = 0, out = 0;
        for (int u = 0; u < units; u++) {
            in += evn_loop_stats(f.loop, u).bytes_in;
            out += evn_loop_stats(f.loop, u).bytes_out;
        }
        assert_true(in == 3 * bytes && out == 3 * bytes);
        /* a unit of two devices has messages between these too */
        if (!strstr(lists[l], "GPU:2")) assert_true(totals.copies <= 3 * pairs);
        free(met);
        free(matrix);
        end(&f);
    }
}

/* A device packs, unpacks and copies within it by one launch each, and a message is one copy from
 * device to device, or one out of the one and one into the other. */
TEST(transports) {
    if (spec) skip();
    for (int peer = 0; peer < 2; peer++) {
        ENDS(end) struct fixture f;
        evn_counts before[3];
        begin_ring(&f, "3:GPU:1", peer ? "emulated" : "emulated:3,peer=no", "static");
        ok(evn_loop_bring(f.loop));
        ok(evn_exchange_run(f.x)); /* plans */
        for (int u = 0; u < 3; u++)
            before[u] = evn_device_counts(evn_unit_device(evn_units_get(f.units, u), 0), NULL);
        for (int i = 0; i < 5; i++) ok(evn_exchange_run(f.x));
        for (int u = 0; u < 3; u++) {
            const evn_counts c =
                evn_device_counts(evn_unit_device(evn_units_get(f.units, u), 0), &before[u]);
            assert_int_equal(c.launches, 5 * 3);
            assert_int_equal(c.copies_peer, peer ? 5 * 2 : 0);
            assert_int_equal(c.copies_out, peer ? 0 : 5 * 2);
            assert_int_equal(c.copies_in, peer ? 0 : 5 * 2);
        }
    }
}

/* ---- halves -------------------------------------------------------------------------------- */

/* A body that reads ghosts only after the second half, and writes everything. */
struct halves {
    evn_exchange *x[2];
    int open[2], first; /* first: which is finished first */
};

static evn_status late(evn_unit *unit, evn_batch *batch, void *arg) {
    struct halves *h = arg;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < 2; i++) {
        const int k = (i + h->first) % 2;
        if (h->open[k]) status = evn_exchange_finish(h->x[k], unit, evn_batch_device(batch));
    }
    return status;
}

TEST(halves) {
    static const char *const schedules[] = {"static", "dynamic:chunk=1,memorize=0"};
    static const char *const devices[] = {"emulated", "emulated:12,peer=no"};
    int opened = 0, possible = 0;
    for (int l = 0; l < LISTS; l++)
        for (int s = 0; s < 4; s++) {
            struct fixture f;
            struct halves h = {0};
            if (!begin_ring(&f, lists[l], devices[s / 2], schedules[s % 2])) continue;
            possible += evn_units_about(f.units).devices > 1;
            h.x[0] = f.x;
            ok(evn_loop_bring(f.loop));
            for (int i = 0; i < 3; i++) {
                ok(evn_exchange_start(h.x[0], &h.open[0]));
                if (s % 2) assert_false(h.open[0]); /* nobody knows who will have what */
                opened += h.open[0];
                ok(evn_loop_run(f.loop, late, &h));
                plain(f.face, FACES, sizeof(double), 1, f.want);
            }
            compare(&f);
            /* what was finished is not finished again */
            change(&f);
            ok(evn_loop_run(f.loop, late, &h));
            compare(&f);
            end(&f);
        }
    assert_true(opened > 0 || !possible);
}

/* What a device is to do for one exchange, counted from the faces. */
struct steps_of {
    int launches, copies;
    long long bytes;
};

static struct steps_of least_steps(const evn_face *face, int count, const int *owner, int device) {
    struct steps_of s = {0};
    int in = 0, direct = 0, out = 0; /* in: the devices that send to this one, a bit each */
    for (int i = 0; i < count; i++) {
        const int from = owner[face[i].from], to = owner[face[i].to];
        direct |= from == device && to == device;
        out |= from == device && to != device;
        if (to != device || from == device) continue;
        in |= 1 << from;
        s.bytes += (long long)sizeof(double) * face[i].n[0] * face[i].n[1] * face[i].n[2];
    }
    s.launches = out + direct + (in != 0);
    s.copies = __builtin_popcount((unsigned)in);
    return s;
}

/* A step of devices that reach each other: one launch packs, one copies within the device and one
 * unpacks, one copy comes from each neighbour, with the faces' bytes and no other, and the host
 * waits once: at the end of an exchange, or where it is left open, at the end of the instance. */
TEST(least) {
    if (spec) skip();
    enum { RINGS = 2, ALL = RINGS * FACES, STEPS = 3, DEVICES = 8 };
    static const char *const units[] = {"1:GPU:1", "2:GPU:1", "4:GPU:1", "8:GPU:1"};
    evn_face face[ALL];
    ring(face, 0);
    ring(face + FACES, VALUES);
    for (int i = FACES; i < ALL; i++) face[i].from = (face[i].to + (i % 2 ? 5 : 7)) % TASKS;
    for (size_t l = 0; l < 2 * sizeof units / sizeof *units; l++) {
        ENDS(end) struct fixture f;
        struct halves h = {0};
        evn_counts before[DEVICES];
        begin(&f, units[l / 2], "emulated", "static", 1, RINGS * VALUES * sizeof(double));
        const int count = evn_units_count(f.units), halves = l % 2;
        ok(evn_exchange_open(&h.x[0], f.loop, sizeof(double), ALL, face, NULL));
        ok(evn_loop_bring(f.loop));
        ok(evn_exchange_run(h.x[0])); /* plans */
        plain(face, ALL, sizeof(double), 1, f.want);
        for (int u = 0; u < count; u++)
            before[u] = evn_device_counts(evn_unit_device(evn_units_get(f.units, u), 0), NULL);
        for (int i = 0; i < STEPS; i++) {
            if (!halves) ok(evn_exchange_run(h.x[0]));
            if (halves) ok(evn_exchange_start(h.x[0], &h.open[0]));
            assert_int_equal(h.open[0], halves);
            if (halves) ok(evn_loop_run(f.loop, late, &h));
            plain(face, ALL, sizeof(double), 1, f.want);
        }
        for (int u = 0; u < count; u++) {
            const evn_counts c =
                evn_device_counts(evn_unit_device(evn_units_get(f.units, u), 0), &before[u]);
            const struct steps_of s = least_steps(face, ALL, evn_loop_owner(f.loop), u);
            assert_int_equal(c.launches, STEPS * s.launches);
            assert_int_equal(c.copies_peer, STEPS * s.copies);
            assert_int_equal(c.bytes_peer, STEPS * s.bytes);
            assert_int_equal(c.waits, STEPS);
            assert_int_equal(c.copies_in + c.copies_out + c.copies_within, 0);
        }
        compare(&f);
        evn_exchange_close(h.x[0]);
    }
}

/* Tasks of one unit that its devices drew are dealt out by weight once they are kept: what the
 * first half would send to where they were drawn is not left to a second one. */
TEST(dealt_anew) {
    struct fixture f;
    struct halves h = {0};
    if (!begin_ring(&f, "1:GPU:2", "emulated", "dynamic:chunk=1,memorize=2")) return;
    h.x[0] = f.x;
    for (int i = 0; i < 5; i++) {
        ok(evn_loop_run(f.loop, late, &h));
        ok(evn_exchange_start(h.x[0], &h.open[0]));
        plain(f.face, FACES, sizeof(double), 1, f.want);
        assert_int_equal(h.open[0], i > 1);
    }
    ok(evn_loop_run(f.loop, late, &h));
    compare(&f);
    end(&f);
}

/* Closed, or given other units, while messages are under way: these have gone nowhere. */
TEST(given_up_between_halves) {
    if (spec) skip();
    for (int way = 0; way < 4; way++) {
        ENDS(end) struct fixture f;
        int open;
        begin_ring(&f, "1:CPU:1,2:GPU:1",
                   way % 2 ? "emulated:2,latency=5ms" : "emulated:2,latency=5ms,peer=no", "static");
        ok(evn_loop_bring(f.loop));
        ok(evn_exchange_start(f.x, &open));
        assert_true(open);
        if (way / 2) {
            f.loop->listener->units_changed(f.loop->listener->arg);
            ok(evn_exchange_run(f.x));
        }
    }
}

/* Two exchanges are half done at the same time, a third one is run meanwhile, and a fourth is
 * opened and closed. */
TEST(several) {
    static const size_t element[3] = {8, 4, 1};
    static const char *const devices[] = {"emulated", "emulated:12,peer=no"};
    evn_face face[3][FACES];
    ring(face[0], 0);
    ring(face[1], 2 * VALUES);
    ring(face[2], 12 * VALUES);
    for (int l = 0; l < LISTS; l++)
        for (int d = 0; d < 2; d++) {
            struct fixture f;
            struct halves h = {0};
            evn_exchange *third, *fourth;
            if (!begin(&f, lists[l], devices[d], "static", 1, 13 * VALUES)) continue;
            ok(evn_exchange_open(&h.x[0], f.loop, element[0], FACES, face[0], NULL));
            ok(evn_exchange_open(&third, f.loop, element[2], FACES, face[2], NULL));
            ok(evn_exchange_open(&h.x[1], f.loop, element[1], FACES, face[1], NULL));
            ok(evn_loop_bring(f.loop));
            for (int i = 0; i < 4; i++) {
                h.first = i % 2;
                ok(evn_exchange_start(h.x[i / 2], &h.open[i / 2]));
                ok(evn_exchange_run(third));
                ok(evn_exchange_start(h.x[1 - i / 2], &h.open[1 - i / 2]));
                ok(evn_exchange_open(&fourth, f.loop, element[1], FACES, face[1], NULL));
                if (i == 2) evn_exchange_close(fourth);
                ok(evn_loop_run(f.loop, late, &h));
                for (int k = 0; k < 3; k++) plain(face[k], FACES, element[k], 1, f.want);
                if (i != 2) evn_exchange_close(fourth);
            }
            compare(&f);
            evn_exchange_close(h.x[0]);
            evn_exchange_close(third);
            evn_exchange_close(h.x[1]);
            end(&f);
        }
}

/* Bytes are those of exchanges, and not what the schedule's links say of visits. */
TEST(who_counts) {
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_exchange *x[2];
    double block[2][4] = {{0}};
    void *host[2] = {block[0], block[1]};
    const evn_link link = {.task = {0, 1}, .bytes = 100};
    const double weight[2] = {1, 1};
    const evn_problem p = {.tasks = 2, .units = 2, .weight = weight, .links = 1, .link = &link};
    const evn_face face = {
        .from = 0, .to = 1, .n = {1, 1, 2}, .from_stride = {0, 0, 1}, .to_stride = {0, 0, 1}};
    units = open_units("2:CPU:1", NULL);
    loop = open_loop(units, &schedule, "static", p);
    ok(evn_loop_visit(loop, nothing, NULL));
    ok(evn_exchange_open(&x[0], loop, sizeof(double), 1, &face, host));
    ok(evn_exchange_open(&x[1], loop, sizeof(float), 1, &face, host));
    for (int i = 0; i < 2; i++) {
        ok(evn_loop_visit(loop, nothing, NULL));
        assert_true(evn_loop_sum(loop).bytes == 0);
        if (!i) evn_exchange_close(x[0]);
    }
    ok(evn_exchange_run(x[1]));
    assert_true(evn_loop_sum(loop).bytes == 8);
    evn_exchange_close(x[1]);
    ok(evn_loop_visit(loop, nothing, NULL));
    assert_true(evn_loop_sum(loop).bytes == 8);
    close_loop(loop, schedule);
    close_units(units);
}

/* ---- failures ------------------------------------------------------------------------------ */

TEST(used_wrongly) {
    struct fixture f;
    if (!begin_ring(&f, "1:CPU:1,1:GPU:1", "emulated", "static")) return;
    assert_int_equal(evn_exchange_needs(f.x, 0), -1);
    assert_says("before the first run");
    ok(evn_loop_bring(f.loop));
    /* a region that somebody holds: none of the others is held afterwards */
    const int where = evn_place_where(f.place, f.region[11]);
    ok(evn_place_acquire(f.place, 1, &f.region[11], where, EVN_BOTH));
    assert_int_equal(evn_exchange_run(f.x), EVN_USAGE);
    evn_place_release(f.place, 1, &f.region[11], where);
    ok(evn_exchange_run(f.x));
    plain(f.face, FACES, sizeof(double), 1, f.want);
    /* units change: all that was theirs is given back, and made again */
    f.loop->listener->units_changed(f.loop->listener->arg);
    assert_int_equal(evn_exchange_needs(f.x, 0), -1);
    ok(evn_exchange_run(f.x));
    plain(f.face, FACES, sizeof(double), 1, f.want);
    compare(&f);
    /* the loop has got other regions */
    const int swap = f.region[0];
    f.region[0] = f.region[1];
    f.region[1] = swap;
    follow(&f);
    assert_fails(evn_exchange_run(f.x), EVN_USAGE, "other regions");
    f.region[1] = f.region[0];
    f.region[0] = swap;
    follow(&f);
    ok(evn_exchange_run(f.x));
    f.loop->place = NULL;
    assert_fails(evn_exchange_run(f.x), EVN_USAGE, "another place");
    end(&f);
}

/* Memory is refused once, wherever that is: the next run, or the one after it, is right. */
TEST(no_memory_once) {
    if (spec) skip();
    int failures = 0;
    for (int n = 1; n < 14; n++) {
        struct fixture f;
        char devices[64];
        snprintf(devices, sizeof devices, "emulated:2,peer=no,bad=1,fail=alloc@%d", n);
        begin_ring(&f, "1:CPU:1,2:GPU:1", devices, "static");
        while (evn_loop_bring(f.loop)) continue;
        for (evn_status status = EVN_MEMORY; status;) {
            status = evn_exchange_run(f.x);
            if (!status) break;
            assert_int_equal(status, EVN_MEMORY);
            assert_int_equal(evn_loop_about(f.loop).failed_unit, 2);
            failures++;
        }
        plain(f.face, FACES, sizeof(double), 1, f.want);
        compare(&f);
        end(&f);
    }
    assert_true(failures > 4);
}

/* An exchange that is opened when a device has failed names its unit, not those that would receive
 * from it. */
TEST(opens_with_one_lost) {
    if (spec) skip();
    evn_face face[FACES];
    ring(face, 0);
    for (int bad = 0; bad < 2; bad++) {
        ENDS(end) struct fixture f;
        evn_exchange *x;
        char devices[64];
        snprintf(devices, sizeof devices, "emulated:2,bad=%d,fail=copy@1", bad);
        begin(&f, "1:CPU:1,2:GPU:1", devices, "static", 1, VALUES * sizeof(double));
        assert_int_equal(evn_loop_bring(f.loop), EVN_DEVICE);
        assert_int_equal(evn_exchange_open(&x, f.loop, sizeof(double), FACES, face, NULL),
                         EVN_DEVICE);
        assert_null(x);
        assert_int_equal(evn_loop_about(f.loop).failed_unit, 1 + bad);
    }
}

int main(void) {
    spec = getenv("EVENER_TEST_DEVICE");
    if (spec) {
        int count;
        char why[256];
        if (evn_devices_count(spec, &count, why, sizeof why) || !count) {
            printf("skipped: %s\n", why);
            return 77;
        }
    }
    return run_all_tests(NULL, NULL);
}
