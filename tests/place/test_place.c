/* Regions go where they are acquired and nowhere else, and every byte is counted. Devices are
 * emulated: what is stale there is NaN. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <evener.h>
#include <evener/place.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { REGIONS = 6, DOUBLES = 1000 };
#define BYTES (DOUBLES * sizeof(double))

struct fixture {
    evn_machine *machine;
    evn_units *units;
    evn_place *place;
    double *host[REGIONS];
    int region[REGIONS];
};

static struct fixture open_fixture(const char *list, const char *devices, double share) {
    struct fixture f;
    assert_int_equal(evn_machine_open(&f.machine), EVN_OK);
    assert_int_equal(evn_units_open_on(&f.units, f.machine, list, devices, EVN_OVERSUBSCRIBE),
                     EVN_OK);
    assert_int_equal(evn_place_open(&f.place, f.units, share), EVN_OK);
    for (int r = 0; r < REGIONS; r++) {
        f.host[r] = malloc(BYTES);
        for (int i = 0; i < DOUBLES; i++) f.host[r][i] = r + i / 1024.0;
        assert_int_equal(evn_place_add(f.place, f.host[r], BYTES, &f.region[r]), EVN_OK);
        assert_int_equal(f.region[r], r);
    }
    return f;
}

static void close_fixture(struct fixture *f) {
    evn_place_close(f->place);
    evn_units_close(f->units);
    evn_machine_close(f->machine);
    for (int r = 0; r < REGIONS; r++) free(f->host[r]);
}

static void acquire(struct fixture *f, int region, int space, evn_access access) {
    if (evn_place_acquire(f->place, 1, &region, space, access)) fail_msg("%s", evn_message());
}
static void release(struct fixture *f, int region, int space) {
    evn_place_release(f->place, 1, &region, space);
}
static void use(struct fixture *f, int region, int space, evn_access access) {
    acquire(f, region, space, access);
    release(f, region, space);
}

static void expect_moves(struct fixture *f, int from, int to, int copies) {
    evn_moves m = evn_place_moves(f->place, from, to);
    assert_int_equal(m.copies, copies);
    assert_int_equal(m.bytes, copies * (long long)BYTES);
}

/* Adds 100 to a region where it is on a device, by way of the host. */
static void add_on_device(struct fixture *f, int region, int space) {
    double *copy = malloc(BYTES);
    evn_queue *q;
    assert_int_equal(evn_queue_open(&q, evn_place_device(f->place, space)), EVN_OK);
    evn_buffer *b = evn_place_buffer(f->place, space);
    size_t at = evn_place_at(f->place, region, space);
    assert_int_equal(evn_copy_to_host(q, copy, b, at, BYTES), EVN_OK);
    assert_int_equal(evn_queue_finish(q), EVN_OK);
    for (int i = 0; i < DOUBLES; i++) copy[i] += 100;
    assert_int_equal(evn_copy_to_device(q, b, at, copy, BYTES), EVN_OK);
    assert_int_equal(evn_queue_finish(q), EVN_OK);
    evn_queue_close(q);
    free(copy);
}

static void expect_host(struct fixture *f, int region, double add) {
    for (int i = 0; i < DOUBLES; i++)
        if (f->host[region][i] != region + i / 1024.0 + add)
            fail_msg("region %d value %d is %g", region, i, f->host[region][i]);
}

static void test_round_trip(void **state) {
    (void)state;
    struct fixture f = open_fixture("1:CPU:1,2:GPU:1", "emulated", 0.5);
    assert_int_equal(evn_place_spaces(f.place), 3);
    assert_int_equal(evn_place_space(f.place, evn_units_get(f.units, 0), 0), EVN_HOST);
    assert_int_equal(evn_place_space(f.place, evn_units_get(f.units, 2), 0), 2);
    assert_int_equal(evn_place_where(f.place, 2), EVN_HOST);

    /* reading leaves both valid; a second time nothing moves */
    use(&f, 2, 1, EVN_READ);
    use(&f, 2, 1, EVN_READ);
    expect_moves(&f, EVN_HOST, 1, 1);
    assert_true(evn_place_valid(f.place, 2, EVN_HOST) && evn_place_valid(f.place, 2, 1));
    assert_int_equal(evn_place_where(f.place, 2), 1);
    expect_host(&f, 2, 0);

    /* writing makes the other stale, and stale is NaN */
    acquire(&f, 2, 1, EVN_BOTH);
    add_on_device(&f, 2, 1);
    release(&f, 2, 1);
    assert_false(evn_place_valid(f.place, 2, EVN_HOST));
    assert_true(isnan(f.host[2][0]) && isnan(f.host[2][DOUBLES - 1]));

    /* on to the other device, and home */
    acquire(&f, 2, 2, EVN_BOTH);
    add_on_device(&f, 2, 2);
    release(&f, 2, 2);
    expect_moves(&f, 1, 2, 1);
    assert_false(evn_place_valid(f.place, 2, 1));
    use(&f, 2, EVN_HOST, EVN_READ);
    expect_moves(&f, 2, EVN_HOST, 1);
    expect_host(&f, 2, 200);

    /* what is written whole need not come */
    evn_place_reset_moves(f.place);
    use(&f, 3, 1, EVN_WRITE);
    expect_moves(&f, EVN_HOST, 1, 0);
    assert_false(evn_place_valid(f.place, 3, EVN_HOST));
    close_fixture(&f);
}

static void test_one_at_a_time(void **state) {
    (void)state;
    struct fixture f = open_fixture("2:GPU:1", "emulated", 0.5);
    int r = 4;
    acquire(&f, r, 1, EVN_READ);
    acquire(&f, r, 2, EVN_READ);
    assert_int_equal(evn_place_acquire(f.place, 1, &r, EVN_HOST, EVN_BOTH), EVN_USAGE);
    release(&f, r, 1);
    release(&f, r, 2);
    acquire(&f, r, 2, EVN_BOTH);
    assert_int_equal(evn_place_acquire(f.place, 1, &r, EVN_HOST, EVN_READ), EVN_USAGE);
    release(&f, r, 2);
    r = REGIONS;
    assert_int_equal(evn_place_acquire(f.place, 1, &r, EVN_HOST, EVN_READ), EVN_USAGE);
    r = 0;
    assert_int_equal(evn_place_acquire(f.place, 1, &r, 3, EVN_READ), EVN_USAGE);
    close_fixture(&f);
}

/* A device for two regions and a half: the longest unused leaves, and what was changed is not lost.
 */
static void test_eviction(void **state) {
    (void)state;
    struct fixture f = open_fixture("1:GPU:1", "emulated:1,memory=40KiB", 0.5);
    int all[REGIONS] = {0, 1, 2, 3, 4, 5};
    int fit;
    assert_int_equal(evn_place_fits(f.place, REGIONS, all, 1, &fit), EVN_OK);
    assert_int_equal(fit, 2);
    for (int round = 0; round < 2; round++)
        for (int r = 0; r < REGIONS; r++) {
            acquire(&f, r, 1, EVN_BOTH);
            add_on_device(&f, r, 1);
            release(&f, r, 1);
        }
    assert_true(evn_device_used_max(evn_place_device(f.place, 1)) <= 40 << 10);
    int resident = 0;
    for (int r = 0; r < REGIONS; r++) resident += evn_place_valid(f.place, r, 1);
    assert_int_equal(resident, 2);
    expect_moves(&f, EVN_HOST, 1, 2 * REGIONS);
    expect_moves(&f, 1, EVN_HOST, 2 * REGIONS - 2);
    for (int r = 0; r < REGIONS; r++) {
        use(&f, r, EVN_HOST, EVN_READ);
        expect_host(&f, r, 200);
    }
    /* three at once do not fit, and then none was acquired */
    assert_int_equal(evn_place_acquire(f.place, 3, all, 1, EVN_BOTH), EVN_MEMORY);
    for (int r = 0; r < REGIONS; r++) use(&f, r, EVN_HOST, EVN_BOTH);
    /* the oldest goes, not the one that is in use */
    use(&f, 0, 1, EVN_READ);
    acquire(&f, 1, 1, EVN_READ);
    use(&f, 0, 1, EVN_READ);
    use(&f, 2, 1, EVN_READ);
    assert_true(evn_place_valid(f.place, 1, 1));
    assert_false(evn_place_valid(f.place, 0, 1));
    release(&f, 1, 1);
    close_fixture(&f);
    /* one alone that does not fit: what is missing is said */
    f = open_fixture("1:GPU:1", "emulated:1,memory=4KiB", 0.5);
    assert_int_equal(evn_place_acquire(f.place, 1, all, 1, EVN_BOTH), EVN_MEMORY);
    assert_non_null(strstr(evn_message(), "0.008 MB"));
    assert_non_null(strstr(evn_message(), "0.002 MB"));
    close_fixture(&f);
}

static void test_keep(void **state) {
    (void)state;
    struct fixture f = open_fixture("1:CPU:1,1:GPU:1", "emulated", 0.5);
    assert_int_equal(evn_place_restore(f.place), EVN_USAGE);
    acquire(&f, 1, 1, EVN_BOTH);
    add_on_device(&f, 1, 1);
    release(&f, 1, 1);
    assert_int_equal(evn_place_keep(f.place), EVN_OK);
    assert_false(evn_place_valid(f.place, 1, EVN_HOST)); /* keeping moves nothing */
    acquire(&f, 1, 1, EVN_BOTH);
    add_on_device(&f, 1, 1);
    release(&f, 1, 1);
    evn_place_lose(f.place, 1);
    int one = 1;
    assert_int_equal(evn_place_acquire(f.place, 1, &one, 1, EVN_READ), EVN_USAGE);
    assert_int_equal(evn_place_acquire(f.place, 1, &one, EVN_HOST, EVN_READ), EVN_DEVICE);
    assert_int_equal(evn_place_restore(f.place), EVN_OK);
    use(&f, 1, EVN_HOST, EVN_READ);
    expect_host(&f, 1, 100);
    expect_host(&f, 0, 0);
    close_fixture(&f);
}

/* Threads that each change regions of their own, here and there, and read one in common, while each
 * device has room for two and a half and links take their time. */
struct hand {
    struct fixture *f;
    int me, rounds;
    double sum;
};

static void *toil(void *p) {
    struct hand *h = p;
    double *copy = malloc(BYTES);
    unsigned dice = 17u * (unsigned)h->me + 5;
    for (int i = 0; i < h->rounds; i++) {
        dice = dice * 1664525u + 1013904223u;
        const int space = (int)(dice >> 16) % 3, own = h->me + 3 * (int)(dice >> 20 & 1);
        const int common = 2;
        evn_status status = evn_place_acquire(h->f->place, 1, &own, space, EVN_BOTH);
        if (status == EVN_MEMORY) continue; /* the others have it all */
        assert_int_equal(status, EVN_OK);
        if (space != EVN_HOST)
            add_on_device(h->f, own, space);
        else
            for (int e = 0; e < DOUBLES; e++) h->f->host[own][e] += 100;
        h->sum += 100;
        release(h->f, own, space);
        status = evn_place_acquire(h->f->place, 1, &common, space, EVN_READ);
        if (status == EVN_MEMORY) continue;
        assert_int_equal(status, EVN_OK);
        if (space == EVN_HOST) {
            assert_true(h->f->host[common][7] == common + 7 / 1024.0);
        } else {
            evn_queue *q;
            assert_int_equal(evn_queue_open(&q, evn_place_device(h->f->place, space)), EVN_OK);
            assert_int_equal(evn_copy_to_host(q, copy, evn_place_buffer(h->f->place, space),
                                              evn_place_at(h->f->place, common, space), BYTES),
                             EVN_OK);
            assert_int_equal(evn_queue_finish(q), EVN_OK);
            evn_queue_close(q);
            assert_true(copy[7] == common + 7 / 1024.0);
        }
        release(h->f, common, space);
    }
    free(copy);
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    struct fixture f =
        open_fixture("2:GPU:1", "emulated:2,memory=40kB,latency=100us+emulated:1,memory=40kB", 0.5);
    struct hand hand[2] = {{&f, 0, 150, 0}, {&f, 1, 150, 0}};
    pthread_t thread[2];
    for (int t = 0; t < 2; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, toil, &hand[t]), 0);
    for (int t = 0; t < 2; t++) pthread_join(thread[t], NULL);
    double sum = 0;
    for (int t = 0; t < 2; t++) {
        assert_true(hand[t].sum > 0);
        sum += hand[t].sum;
    }
    for (int r = 0; r < REGIONS; r++) {
        use(&f, r, EVN_HOST, EVN_READ);
        const double added = f.host[r][0] - r;
        expect_host(&f, r, added);
        sum -= added;
    }
    assert_true(fabs(sum) < 1e-9);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_one_at_a_time),
        cmocka_unit_test(test_eviction),   cmocka_unit_test(test_keep),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
