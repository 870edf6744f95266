/* Regions go where they are acquired and nowhere else, and every byte is counted. Devices are
 * emulated: what is stale there is NaN. */
#include "world.h"
#include "device/devices.h"
#include "device/ops/kept.h"
#include <evener/place.h>
#include <math.h>
#include <pthread.h>

enum { REGIONS = 6, DOUBLES = 1000 };
#define BYTES (DOUBLES * sizeof(double))

struct fixture {
    evn_units *units;
    evn_place *place;
    double *host[REGIONS];
    int region[REGIONS];
};

/* Moves between the first two spaces, when they were counted anew. */
static evn_moves before[2][2];

static struct fixture open_fixture(const char *list, const char *devices, double share) {
    struct fixture f;
    memset(before, 0, sizeof before);
    f.units = open_units(list, devices);
    assert_ok(evn_place_open(&f.place, f.units, share));
    for (int r = 0; r < REGIONS; r++) {
        f.host[r] = malloc(BYTES);
        for (int i = 0; i < DOUBLES; i++) f.host[r][i] = r + i / 1024.0;
        assert_ok(evn_place_add(f.place, f.host[r], BYTES, &f.region[r]));
        assert_int_equal(f.region[r], r);
    }
    return f;
}

static void close_fixture(struct fixture *f) {
    evn_place_close(f->place);
    close_units(f->units);
    for (int r = 0; r < REGIONS; r++) free(f->host[r]);
}

static void acquire(struct fixture *f, int region, int space, evn_access access) {
    ok(evn_place_acquire(f->place, 1, &region, space, access));
}
static void release(struct fixture *f, int region, int space) {
    ok(evn_place_release(f->place, 1, &region, space));
}
static void use(struct fixture *f, int region, int space, evn_access access) {
    acquire(f, region, space, access);
    release(f, region, space);
}

static void count_anew(const struct fixture *f) {
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) before[a][b] = evn_place_moves(f->place, a, b);
}

static void expect_moves(struct fixture *f, int from, int to, int copies) {
    const evn_moves none = {0}, *since = from < 2 && to < 2 ? &before[from][to] : &none;
    const evn_moves m = evn_place_moves(f->place, from, to);
    assert_int_equal(m.copies - since->copies, copies);
    assert_int_equal(m.bytes - since->bytes, copies * (long long)BYTES);
}

/* Adds 100 to a region that is held on a device, by way of the host. */
static void add_held(struct fixture *f, int region, int space) {
    HEAP double *copy = malloc(BYTES);
    OWN(queue) *q = OPEN(queue, evn_place_device(f->place, space));
    evn_buffer *b = evn_place_buffer(f->place, space);
    size_t at = evn_place_at(f->place, region, space);
    assert_ok(evn_copy_to_host(q, copy, b, at, BYTES));
    assert_ok(evn_queue_finish(q));
    for (int i = 0; i < DOUBLES; i++) copy[i] += 100;
    assert_ok(evn_copy_to_device(q, b, at, copy, BYTES));
    assert_ok(evn_queue_finish(q));
}

static void add_on_device(struct fixture *f, int region, int space) {
    acquire(f, region, space, EVN_BOTH);
    add_held(f, region, space);
    release(f, region, space);
}

static void expect_host(struct fixture *f, int region, double add) {
    for (int i = 0; i < DOUBLES; i++)
        if (f->host[region][i] != region + i / 1024.0 + add)
            fail_msg("region %d value %d is %g", region, i, f->host[region][i]);
}

TEST(round_trip) {
    ENDS(close_fixture) struct fixture f = open_fixture("1:CPU:1,2:GPU:1", "emulated", 0.5);
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
    add_on_device(&f, 2, 1);
    assert_false(evn_place_valid(f.place, 2, EVN_HOST));
    assert_true(isnan(f.host[2][0]) && isnan(f.host[2][DOUBLES - 1]));

    /* on to the other device, and home */
    add_on_device(&f, 2, 2);
    expect_moves(&f, 1, 2, 1);
    assert_false(evn_place_valid(f.place, 2, 1));
    use(&f, 2, EVN_HOST, EVN_READ);
    expect_moves(&f, 2, EVN_HOST, 1);
    expect_host(&f, 2, 200);

    /* what is written whole need not come */
    count_anew(&f);
    use(&f, 3, 1, EVN_WRITE);
    expect_moves(&f, EVN_HOST, 1, 0);
    assert_false(evn_place_valid(f.place, 3, EVN_HOST));
}

/* A device for two regions and a half: the longest unused leaves, and what was changed is not lost.
 */
TEST(eviction) {
    ENDS(close_fixture) struct fixture f = open_fixture("1:GPU:1", "emulated:1,memory=40KiB", 0.5);
    int all[REGIONS] = {0, 1, 2, 3, 4, 5};
    int fit;
    assert_ok(evn_place_fits(f.place, REGIONS, all, 1, &fit));
    assert_int_equal(fit, 2);
    for (int round = 0; round < 2; round++)
        for (int r = 0; r < REGIONS; r++) {
            add_on_device(&f, r, 1);
        }
    assert_true(device_used_max(evn_place_device(f.place, 1)) <= 40 << 10);
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
    assert_fails(evn_place_acquire(f.place, 1, all, 1, EVN_BOTH), EVN_MEMORY, "0.008 MB");
    assert_says("0.002 MB");
}

/* ---- mistakes ---- */

TEST(space_of_a_unit) {
    ENDS(close_fixture) struct fixture f = open_fixture("1:CPU:1,1:GPU:2", "emulated", 0.5);
    const evn_unit *cpu = evn_units_get(f.units, 0), *gpu = evn_units_get(f.units, 1);
    assert_int_equal(evn_place_space(f.place, cpu, 0), EVN_HOST);
    assert_int_equal(evn_place_space(f.place, cpu, -1), EVN_HOST);
    assert_int_equal(evn_place_space(f.place, gpu, -1), EVN_HOST);
    for (int d = 0; d < 2; d++) {
        const int space = evn_place_space(f.place, gpu, d);
        assert_true(space > 0 && space < 3);
        assert_ptr_equal(evn_place_device(f.place, space), evn_unit_device(gpu, d));
    }
    place_lose(f.place, evn_place_space(f.place, gpu, 0));
    assert_int_equal(evn_place_space(f.place, gpu, 0), -1);
    assert_says("device 0 of unit 1 is in no space here, or was lost");
    assert_int_equal(evn_place_space(f.place, gpu, 1), 2);
}

TEST(release) {
    ENDS(close_fixture) struct fixture f = open_fixture("2:GPU:1", "emulated", 0.5);
    int two[] = {3, 4};
    assert_fails(evn_place_release(f.place, 2, two, 1), EVN_USAGE,
                 "region 3 is released in space 1 and was not acquired there; it is held nowhere");
    acquire(&f, 4, 2, EVN_READ);
    acquire(&f, 4, 1, EVN_READ);
    acquire(&f, 3, 1, EVN_BOTH);
    /* the wrong space */
    int r = 3;
    assert_fails(
        evn_place_release(f.place, 1, &r, 2), EVN_USAGE,
        "region 3 is released in space 2 and was not acquired there; it is held in space 1 for "
        "writing");
    assert_fails(evn_place_release(f.place, 1, &r, EVN_HOST), EVN_USAGE, "in space 1 for writing");
    r = 4;
    assert_fails(evn_place_release(f.place, 1, &r, EVN_HOST), EVN_USAGE,
                 "in space 1 for reading, in space 2 for reading");
    /* all or nothing: the second is not held there */
    r = 3;
    int wrong[] = {3, 5};
    assert_fails(evn_place_release(f.place, 2, wrong, 1), EVN_USAGE, "region 5");
    assert_fails(
        evn_place_acquire(f.place, 1, &r, EVN_HOST, EVN_READ), EVN_USAGE,
        "region 3 cannot be acquired in space 0 for reading: it is held in space 1 for writing");
    int twice[] = {3, 3};
    assert_fails(evn_place_release(f.place, 2, twice, 1), EVN_USAGE,
                 "region 3 is released in space 1 more often than it was acquired");
    assert_ok(evn_place_release(f.place, 2, two, 1));
    assert_fails(evn_place_release(f.place, 2, two, 1), EVN_USAGE,
                 "region 3 is released in space 1");
    assert_ok(evn_place_release(f.place, 0, NULL, 1));
    use(&f, 3, 2, EVN_BOTH);
    r = 4; /* which is still read in space 2 */
    assert_fails(evn_place_acquire(f.place, 1, &r, 2, EVN_WRITE), EVN_USAGE,
                 "for writing: it is held in space 2 for reading");
    release(&f, 4, 2);
    use(&f, 4, 2, EVN_WRITE);
}

/* An access mode for each region; all or nothing; the same region twice. */
TEST(each) {
    ENDS(close_fixture) struct fixture f = open_fixture("2:GPU:1", "emulated", 0.5);
    const int region[] = {0, 1, 2};
    const evn_access access[] = {EVN_READ, EVN_BOTH, EVN_WRITE};
    for (int round = 0; round < 2; round++) { /* the second time they are there already */
        assert_ok(evn_place_acquire_each(f.place, 3, region, 1, access));
        expect_moves(&f, EVN_HOST, 1, 2);
        assert_true(evn_place_valid(f.place, 0, EVN_HOST));
        assert_false(evn_place_valid(f.place, 1, EVN_HOST));
        assert_false(evn_place_valid(f.place, 2, EVN_HOST));
        use(&f, 0, 2, EVN_READ); /* which is only read */
        int one = 0;
        assert_int_equal(evn_place_acquire(f.place, 1, &one, 1, EVN_WRITE), EVN_USAGE);
        one = 1;
        assert_int_equal(evn_place_acquire(f.place, 1, &one, 2, EVN_READ), EVN_USAGE);
        assert_ok(evn_place_release(f.place, 3, region, 1));
    }
    /* all or nothing */
    acquire(&f, 2, 1, EVN_READ);
    assert_fails(evn_place_acquire_each(f.place, 3, region, 1, access), EVN_USAGE, "region 2");
    release(&f, 2, 1);
    for (int r = 0; r < 3; r++) use(&f, r, 2, EVN_BOTH);
    /* twice */
    const int same[] = {4, 5, 4};
    const evn_access reads[] = {EVN_READ, EVN_WRITE, EVN_READ};
    const evn_access last[] = {EVN_READ, EVN_READ, EVN_WRITE};
    const evn_access first[] = {EVN_BOTH, EVN_READ, EVN_READ};
    for (int round = 0; round < 2; round++) {
        for (int space = 0; space < 2; space++) {
            assert_fails(evn_place_acquire_each(f.place, 3, same, space, last), EVN_USAGE,
                         "region 4 is in a list twice");
            assert_fails(evn_place_acquire_each(f.place, 3, same, space, first), EVN_USAGE,
                         "region 4 is in a list twice");
            assert_fails(evn_place_acquire(f.place, 3, same, space, EVN_WRITE), EVN_USAGE,
                         "region 4 is in a list twice");
            count_anew(&f);
            assert_ok(evn_place_acquire_each(f.place, 3, same, space, reads));
            expect_moves(&f, EVN_HOST, 1, round == 0 && space == 1); /* once */
            expect_moves(&f, 1, EVN_HOST, round == 1 && space == 0);
            release(&f, 4, space);
            int one = 4; /* a second user is left */
            assert_int_equal(evn_place_acquire(f.place, 1, &one, space, EVN_WRITE), EVN_USAGE);
            release(&f, 4, space);
            release(&f, 5, space);
        }
        use(&f, 4, 1, EVN_BOTH);
        use(&f, 5, 1, EVN_BOTH);
    }
}

/* ---- regions that come and go ---- */

TEST(absent) {
    ENDS(close_fixture) struct fixture f = open_fixture("1:CPU:1,1:GPU:1", "emulated", 0.5);
    int r;
    assert_ok(evn_place_add(f.place, NULL, BYTES, &r));
    assert_int_equal(r, REGIONS);
    for (int space = 0; space < 2; space++) {
        assert_fails(evn_place_acquire(f.place, 1, &r, space, EVN_READ), EVN_USAGE,
                     "region 6 is absent: its memory is with another process");
        assert_fails(evn_place_acquire(f.place, 1, &r, space, EVN_WRITE), EVN_USAGE, "absent");
        assert_false(evn_place_valid(f.place, r, space));
    }
    assert_null(evn_place_host(f.place, r));
    assert_int_equal(evn_place_where(f.place, r), -1);

    HEAP double *here = malloc(BYTES), *there = malloc(BYTES);
    for (int i = 0; i < DOUBLES; i++) here[i] = i;
    assert_ok(evn_place_arrive(f.place, r, here));
    assert_true(evn_place_valid(f.place, r, EVN_HOST));
    assert_ptr_equal(evn_place_host(f.place, r), here);
    acquire(&f, r, 1, EVN_BOTH);
    assert_fails(evn_place_leave(f.place, r), EVN_USAGE,
                 "region 6 cannot leave: it is held in space 1 for writing");
    add_held(&f, r, 1);
    release(&f, r, 1);
    assert_true(isnan(here[3]));
    assert_ok(evn_place_leave(f.place, r));
    for (int i = 0; i < DOUBLES; i++) assert_true(here[i] == i + 100);
    assert_null(evn_place_host(f.place, r));
    assert_false(evn_place_valid(f.place, r, EVN_HOST) || evn_place_valid(f.place, r, 1));
    assert_fails(evn_place_acquire(f.place, 1, &r, 1, EVN_READ), EVN_USAGE, "absent");
    /* elsewhere, with the same number */
    memcpy(there, here, BYTES);
    memset(here, 0, BYTES);
    assert_ok(evn_place_arrive(f.place, r, there));
    add_on_device(&f, r, 1);
    use(&f, r, EVN_HOST, EVN_READ);
    for (int i = 0; i < DOUBLES; i++) assert_true(there[i] == i + 200 && here[i] == 0);
    /* what was valid only on a lost device cannot come home, and need not stay */
    use(&f, r, 1, EVN_BOTH);
    place_lose(f.place, 1);
    assert_fails(evn_place_leave(f.place, r), EVN_DEVICE,
                 "region 6 was valid only on a device that is");
    assert_null(evn_place_host(f.place, r));
}

/* A made region: fills it on a device by way of a copy. */
static void fill_held(struct fixture *f, int region, int space, double value) {
    HEAP double *copy = malloc(BYTES);
    for (int i = 0; i < DOUBLES; i++) copy[i] = value + i;
    OWN(queue) *q = OPEN(queue, evn_place_device(f->place, space));
    assert_ok(evn_copy_to_device(q, evn_place_buffer(f->place, space),
                                 evn_place_at(f->place, region, space), copy, BYTES));
    assert_ok(evn_queue_finish(q));
}

static void fill_on_device(struct fixture *f, int region, int space, double value) {
    acquire(f, region, space, EVN_WRITE);
    fill_held(f, region, space, value);
    release(f, region, space);
}

static void expect_filled(struct fixture *f, int region, double value) {
    acquire(f, region, EVN_HOST, EVN_READ);
    const double *at = evn_place_host(f->place, region);
    assert_non_null(at);
    assert_int_equal((uintptr_t)at % 64, 0);
    for (int i = 0; i < DOUBLES; i++)
        if (at[i] != value + i) fail_msg("region %d value %d is %g", region, i, at[i]);
    release(f, region, EVN_HOST);
}

TEST(made) {
    ENDS(close_fixture) struct fixture f = open_fixture("1:CPU:1,2:GPU:1", "emulated", 0.5);
    int a, b;
    assert_ok(evn_place_make(f.place, BYTES, &a));
    assert_ok(evn_place_make(f.place, BYTES, &b));
    assert_int_equal(evn_place_where(f.place, a), -1);
    for (int space = 0; space < 3; space++) {
        assert_fails(evn_place_acquire(f.place, 1, &a, space, EVN_READ), EVN_USAGE,
                     "region 6 is to be read and nobody has written it yet");
        assert_fails(evn_place_acquire(f.place, 1, &a, space, EVN_BOTH), EVN_USAGE,
                     "nobody has written");
    }
    /* from device to device without the host */
    fill_on_device(&f, a, 1, 1000);
    use(&f, a, 1, EVN_READ);
    add_on_device(&f, a, 2);
    expect_moves(&f, 1, 2, 1);
    assert_null(evn_place_host(f.place, a));
    assert_int_equal(evn_place_where(f.place, a), 2);
    expect_filled(&f, a, 1100);
    expect_moves(&f, 2, EVN_HOST, 1);
    /* first on the host: what nobody has written is NaN */
    acquire(&f, b, EVN_HOST, EVN_WRITE);
    double *host = evn_place_host(f.place, b);
    assert_int_equal((uintptr_t)host % 64, 0);
    assert_true(isnan(host[0]) && isnan(host[DOUBLES - 1]));
    for (int i = 0; i < DOUBLES; i++) host[i] = 7 + i;
    release(&f, b, EVN_HOST);
    use(&f, b, 1, EVN_BOTH);
    expect_filled(&f, b, 7);
    /* lost: written once, and gone */
    acquire(&f, b, 1, EVN_BOTH);
    place_lose(f.place, 1);
    assert_fails(evn_place_release(f.place, 1, &b, 1), EVN_USAGE, "held nowhere");
    assert_fails(evn_place_acquire(f.place, 1, &b, EVN_HOST, EVN_READ), EVN_DEVICE,
                 "region 7 was valid only on a device that is lost");
    assert_fails(evn_place_acquire(f.place, 1, &b, 1, EVN_WRITE), EVN_USAGE,
                 "there is no space 1 any more: its device was lost");
    use(&f, b, EVN_HOST, EVN_WRITE);
}

/* Memory that is given to another region is not poisoned after that has been written. */
TEST(poison_is_not_late) {
    ENDS(close_fixture) struct fixture f = open_fixture("1:GPU:1", "emulated:1,memory=20KiB", 0.5);
    for (int round = 0; round < 200; round++) {
        use(&f, 0, 1, EVN_READ);
        fill_on_device(&f, 1, 1, round); /* where 0 was */
        use(&f, 1, EVN_HOST, EVN_READ);
        for (int i = 0; i < DOUBLES; i++) assert_true(f.host[1][i] == round + i);
    }
}

TEST(remove) {
    ENDS(close_fixture) struct fixture f = open_fixture("1:CPU:1,1:GPU:1", "emulated", 0.5);
    int made, r = 3, n;
    assert_ok(evn_place_make(f.place, BYTES, &made));
    acquire(&f, 3, 1, EVN_BOTH);
    add_held(&f, 3, 1);
    assert_fails(evn_place_remove(f.place, 3), EVN_USAGE,
                 "region 3 cannot be removed: it is held in space 1 for writing");
    release(&f, 3, 1);
    assert_true(isnan(f.host[3][0]));
    assert_ok(evn_place_remove(f.place, 3));
    expect_host(&f, 3, 100);
    assert_fails(evn_place_acquire(f.place, 1, &r, 1, EVN_READ), EVN_USAGE, "there is no region 3");
    assert_fails(evn_place_release(f.place, 1, &r, 1), EVN_USAGE, "there is no region 3");
    assert_fails(evn_place_remove(f.place, 3), EVN_USAGE, "there is no region 3");
    assert_fails(evn_place_leave(f.place, 3), EVN_USAGE, "there is no region 3");
    assert_int_equal(evn_place_where(f.place, 3), -1);
    assert_says("there is no region 3");
    assert_null(evn_place_host(f.place, 3));
    assert_false(evn_place_valid(f.place, 3, EVN_HOST));
    /* its number is given to the next one, and nothing else of it */
    use(&f, made, 1, EVN_WRITE);
    assert_ok(evn_place_remove(f.place, made));
    assert_ok(evn_place_remove(f.place, 0));
    int given[3];
    for (int i = 0; i < 3; i++) assert_ok(evn_place_make(f.place, BYTES, &given[i]));
    assert_int_equal((1 << given[0]) + (1 << given[1]) + (1 << given[2]), 1 + (1 << 3) + (1 << 6));
    for (int i = 0; i < 3; i++)
        assert_fails(evn_place_acquire(f.place, 1, &given[i], 1, EVN_READ), EVN_USAGE,
                     "nobody has");
    assert_ok(evn_place_add(f.place, f.host[3], BYTES, &n));
    assert_int_equal(n, 7);
    use(&f, n, 1, EVN_BOTH);
    /* an absent one; one that was lost */
    assert_ok(evn_place_add(f.place, NULL, BYTES, &r));
    assert_ok(evn_place_remove(f.place, r));
    place_lose(f.place, 1);
    assert_fails(evn_place_remove(f.place, n), EVN_DEVICE,
                 "region 7 was valid only on a device that is");
    assert_fails(evn_place_remove(f.place, n), EVN_USAGE, "there is no region 7");
}

static void expect_found(struct fixture *f, const void *address, int region, size_t offset) {
    int r;
    size_t at;
    if (evn_place_find(f->place, address, &r, &at)) fail_msg("%s", evn_message());
    assert_int_equal(r, region);
    assert_int_equal(at, offset);
}

TEST(find) {
    ENDS(close_fixture) struct fixture f = open_fixture("1:CPU:1,1:GPU:1", "emulated", 0.5);
    enum { PARTS = 500, PART = 24 };
    HEAP char *memory = malloc(2 * PARTS * PART);
    int region[PARTS], r, r2;
    size_t at;
    /* not in order, with a gap behind each but the last of a pair */
    for (int i = 0; i < PARTS; i++) {
        const int part = i * 7 % PARTS;
        char *begin = memory + 2 * PART * part + (part % 2 ? 0 : PART);
        assert_ok(evn_place_add(f.place, begin, PART, &region[part]));
    }
    for (int part = 0; part < PARTS; part++) {
        char *begin = memory + 2 * PART * part + (part % 2 ? 0 : PART);
        expect_found(&f, begin, region[part], 0);
        expect_found(&f, begin + PART - 1, region[part], PART - 1);
        if (part % 2)
            assert_fails(evn_place_find(f.place, begin + PART, &r, &at), EVN_USAGE,
                         "no region has");
        else
            assert_fails(evn_place_find(f.place, begin - 1, &r, &at), EVN_USAGE, "no region has");
    }
    for (int i = 0; i < REGIONS; i++) expect_found(&f, &f.host[i][5], i, 5 * sizeof(double));
    assert_fails(evn_place_find(f.place, NULL, &r, &at), EVN_USAGE, "no region has the address");
    /* overlapping: from below, from above, within, around, the same */
    char text[64];
    for (int i = 0; i < 5; i++) {
        const ptrdiff_t from[] = {-1, 1, 3, -3, 0};
        const size_t bytes[] = {PART, PART, 5, PART + 9, PART};
        snprintf(text, sizeof text, "region %d (%zu bytes", REGIONS + PARTS, bytes[i]);
        char *begin = memory + 2 * PART * 10 + PART;
        assert_fails(evn_place_add(f.place, begin + from[i], bytes[i], &r), EVN_USAGE, text);
        snprintf(text, sizeof text, "would overlap region %d (%d bytes", region[10], PART);
        assert_says(text);
    }
    /* made ones are found once they are on the host; removed ones and absent ones are not */
    assert_ok(evn_place_make(f.place, BYTES, &r));
    use(&f, r, EVN_HOST, EVN_WRITE);
    char *made = evn_place_host(f.place, r);
    expect_found(&f, made + 100, r, 100);
    assert_ok(evn_place_remove(f.place, r));
    assert_fails(evn_place_find(f.place, made + 100, &r2, &at), EVN_USAGE, "no region has");
    assert_ok(evn_place_leave(f.place, 2));
    assert_fails(evn_place_find(f.place, f.host[2], &r2, &at), EVN_USAGE, "no region has");
    expect_found(&f, f.host[1], 1, 0);
    assert_ok(evn_place_arrive(f.place, 2, f.host[2]));
    expect_found(&f, f.host[2] + 1, 2, sizeof(double));
}

/* ---- memory of devices ---- */

/* Not beyond its share; and where the device has no memory for a second buffer, regions leave as
 * from any full device. */
TEST(growth_has_limits) {
    enum { MANY = 40 };
    ENDS(close_fixture) struct fixture f = open_fixture("1:GPU:1", "emulated:1,memory=200KiB", 0.5);
    int made[MANY];
    for (int i = 0; i < MANY; i++) {
        assert_ok(evn_place_make(f.place, BYTES, &made[i]));
        fill_on_device(&f, made[i], 1, i);
        const size_t bytes = evn_buffer_bytes(evn_place_buffer(f.place, 1));
        assert_true(bytes <= 100 << 10);
    }
    assert_true(evn_buffer_bytes(evn_place_buffer(f.place, 1)) > 90 << 10);
    for (int i = 0; i < MANY; i++) expect_filled(&f, made[i], i);
    close_fixture(&f);
    f = open_fixture("1:GPU:1", "emulated:1,memory=100KiB", 1);
    use(&f, 0, 1, EVN_READ); /* 48 kB of 100 */
    for (int i = 0; i < MANY; i++) {
        assert_ok(evn_place_make(f.place, BYTES, &made[i]));
        fill_on_device(&f, made[i], 1, i);
    }
    for (int i = 0; i < MANY; i++) expect_filled(&f, made[i], i);
}

/* A region that is larger than the whole buffer, as one that comes from another rank may be, and
 * the device has no memory for two buffers: the first one goes before there is another. */
TEST(growth_for_one) {
    ENDS(close_fixture) struct fixture f = open_fixture("1:GPU:1", "emulated:1,memory=200KiB", 0.9);
    for (int i = 0; i < REGIONS; i++) {
        add_on_device(&f, i, 1); /* 48 kB of 204 */
    }
    HEAP double *large = malloc(15 * BYTES);
    for (int i = 0; i < 15 * DOUBLES; i++) large[i] = i;
    int region;
    assert_ok(evn_place_add(f.place, large, 15 * BYTES, &region));
    for (int i = 0; i < 2; i++) {
        use(&f, region, 1, EVN_BOTH);
        use(&f, 0, 1, EVN_BOTH);
    }
    use(&f, region, EVN_HOST, EVN_READ);
    for (int i = 0; i < 15 * DOUBLES; i++) assert_true(large[i] == i);
    for (int i = 0; i < REGIONS; i++) {
        use(&f, i, EVN_HOST, EVN_READ);
        expect_host(&f, i, 100);
    }
    /* a device that has no memory for it at all says so */
    int huge;
    assert_ok(evn_place_make(f.place, 30 * BYTES, &huge));
    const evn_access access = EVN_WRITE;
    assert_int_equal(evn_place_acquire(f.place, 1, &huge, 1, access), EVN_MEMORY);
    use(&f, region, 1, EVN_READ);
}

static int by_begin(const void *a, const void *b) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Thousands of pieces of all sizes, of which some go and others come: none overlap. */
TEST(many_pieces) {
    enum { MANY = 3000 };
    ENDS(close_fixture) struct fixture f = open_fixture("1:GPU:1", "emulated:1,memory=64MiB", 0.5);
    int region[MANY];
    size_t bytes[MANY], span[MANY][2];
    unsigned dice = 5;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < MANY; i++) {
            if (round && i % (round + 1)) continue;
            if (round) assert_ok(evn_place_remove(f.place, region[i]));
            dice = dice * 1664525u + 1013904223u;
            bytes[i] = 1 + (dice >> 16) % 3000;
            assert_ok(evn_place_make(f.place, bytes[i], &region[i]));
        }
        assert_ok(evn_place_acquire(f.place, MANY, region, 1, EVN_WRITE));
        for (int i = 0; i < MANY; i++) {
            span[i][0] = evn_place_at(f.place, region[i], 1);
            span[i][1] = span[i][0] + bytes[i];
            assert_int_equal(span[i][0] % 256, 0);
        }
        assert_ok(evn_place_release(f.place, MANY, region, 1));
        qsort(span, MANY, sizeof *span, by_begin);
        for (int i = 1; i < MANY; i++) assert_true(span[i - 1][1] <= span[i][0]);
        assert_true(span[MANY - 1][1] <= evn_buffer_bytes(evn_place_buffer(f.place, 1)));
    }
}

/* More spaces than a mask has bits: on through all devices, each of which adds. */
TEST(many_spaces) {
    enum { DEVICES = 70 };
    ENDS(close_fixture)
    struct fixture f =
        open_fixture("70:GPU:1", "emulated:60,memory=1MiB+emulated:10,memory=1MiB", 0.5);
    assert_int_equal(evn_place_spaces(f.place), 1 + DEVICES);
    int made;
    assert_ok(evn_place_make(f.place, BYTES, &made));
    char seen[1 + DEVICES] = {0};
    int before = EVN_HOST;
    for (int d = 0; d < DEVICES; d++) {
        const int space = evn_place_space(f.place, evn_units_get(f.units, d), 0);
        assert_true(space > 0 && space <= DEVICES && !seen[space]);
        seen[space] = 1;
        add_on_device(&f, 2, space);
        expect_moves(&f, before, space, 1);
        for (int s = 0; s <= DEVICES; s++)
            assert_int_equal(evn_place_valid(f.place, 2, s), s == space);
        if (d)
            use(&f, made, space, EVN_READ);
        else
            use(&f, made, space, EVN_WRITE);
        before = space;
    }
    for (int s = 1; s <= DEVICES; s++) assert_true(evn_place_valid(f.place, made, s));
    use(&f, made, 66, EVN_BOTH);
    for (int s = 1; s <= DEVICES; s++) assert_int_equal(evn_place_valid(f.place, made, s), s == 66);
    place_lose(f.place, 66);
    assert_int_equal(evn_place_where(f.place, made), -1);
    use(&f, 2, EVN_HOST, EVN_READ);
    expect_host(&f, 2, 100 * DEVICES);
}

/* ---- keeping ---- */

/* What comes after a copy was kept, is made, absent, or removed. */
TEST(keep_and_late_ones) {
    ENDS(close_fixture) struct fixture f = open_fixture("1:CPU:1,2:GPU:1", "emulated", 0.5);
    int made, unwritten, absent, late, later;
    assert_fails(place_restore(f.place), EVN_USAGE, "no copy of the regions was kept");
    assert_ok(evn_place_make(f.place, BYTES, &made));
    assert_ok(evn_place_make(f.place, BYTES, &unwritten));
    assert_ok(evn_place_add(f.place, NULL, BYTES, &absent));
    fill_on_device(&f, made, 2, 50);
    acquire(&f, 1, 1, EVN_READ);
    assert_fails(place_keep(f.place), EVN_USAGE, "region 1 cannot be kept: it is held in space 1");
    release(&f, 1, 1);
    assert_ok(place_keep(f.place));
    assert_null(evn_place_host(f.place, made)); /* keeping moves nothing */

    HEAP double *there = malloc(BYTES), *here = malloc(BYTES);
    for (int i = 0; i < DOUBLES; i++) there[i] = here[i] = i;
    assert_ok(evn_place_arrive(f.place, absent, there));
    assert_ok(evn_place_add(f.place, here, BYTES, &late));
    assert_ok(evn_place_make(f.place, BYTES, &later));
    assert_ok(evn_place_remove(f.place, 4));
    assert_ok(evn_place_leave(f.place, 5));
    add_on_device(&f, made, 1);
    use(&f, unwritten, 1, EVN_WRITE);
    add_on_device(&f, late, 1);
    /* the late one is on a device only: nothing is changed */
    char text[64];
    snprintf(text, sizeof text, "no copy of region %d was kept, since it came later", late);
    assert_fails(place_restore(f.place), EVN_USAGE, text);
    assert_int_equal(evn_place_where(f.place, made), 1);
    use(&f, late, EVN_HOST, EVN_READ);
    acquire(&f, 0, 2, EVN_BOTH); /* and somebody has failed with it in his hands */
    place_lose(f.place, 1);
    assert_ok(place_restore(f.place));

    expect_filled(&f, made, 50);
    assert_int_equal(evn_place_where(f.place, made), EVN_HOST);
    assert_fails(evn_place_acquire(f.place, 1, &unwritten, 2, EVN_READ), EVN_USAGE,
                 "nobody has written");
    assert_fails(evn_place_acquire(f.place, 1, &later, 2, EVN_READ), EVN_USAGE,
                 "nobody has written");
    use(&f, late, 2, EVN_READ);
    use(&f, absent, 2, EVN_READ);
    for (int i = 0; i < DOUBLES; i++) assert_true(here[i] == i + 100 && there[i] == i);
    int r = 0;
    assert_fails(evn_place_release(f.place, 1, &r, 2), EVN_USAGE, "held nowhere");
    for (r = 0; r < 4; r++) {
        use(&f, r, 2, EVN_BOTH);
        use(&f, r, EVN_HOST, EVN_READ);
        expect_host(&f, r, 0);
    }
    r = 5;
    assert_fails(evn_place_acquire(f.place, 1, &r, EVN_HOST, EVN_READ), EVN_USAGE, "absent");
    /* what is lost cannot be kept */
    use(&f, 3, 2, EVN_BOTH);
    place_lose(f.place, 2);
    assert_fails(place_keep(f.place), EVN_DEVICE, "region 3 cannot be kept");
    assert_ok(place_restore(f.place));
    use(&f, 3, EVN_HOST, EVN_READ);
    expect_host(&f, 3, 0);
}

struct hand {
    struct fixture *f;
    int me, rounds;
    double sum;
};

/* Threads that make, write, read together and remove regions of their own, here and there, while
 * the table and the arenas grow and regions leave full devices. */
static void *come_and_go(void *p) {
    struct hand *h = p;
    enum { OWN = 3 };
    evn_place *place = h->f->place;
    HEAP double *memory = malloc(BYTES);
    int own[OWN] = {-1, -1, -1};
    double value[OWN] = {0};
    unsigned dice = 29u * (unsigned)h->me + 1;
    for (int i = 0; i < h->rounds; i++) {
        dice = dice * 1664525u + 1013904223u;
        const int space = (int)(dice >> 16) % 3, k = (int)(dice >> 20) % OWN;
        const int pair[] = {own[k], 5};
        const evn_access access[] = {EVN_WRITE, EVN_READ};
        if (own[k] < 0) {
            evn_status made = k ? evn_place_make(place, BYTES, &own[k])
                                : evn_place_add(place, memory, BYTES, &own[k]);
            assert_int_equal(made, EVN_OK);
        } else if (dice >> 24 < 32) {
            assert_ok(evn_place_remove(place, own[k]));
            if (!k && value[k])
                for (int e = 0; e < DOUBLES; e++) assert_true(memory[e] == value[k] + e);
            own[k] = -1;
            value[k] = 0;
        } else {
            evn_status status = evn_place_acquire_each(place, 2, pair, space, access);
            if (status == EVN_MEMORY) continue; /* the others have it all */
            if (status) fail_msg("%s", evn_message());
            value[k] = 1000 * h->me + i;
            if (space != EVN_HOST)
                fill_held(h->f, own[k], space, value[k]);
            else
                for (int e = 0; e < DOUBLES; e++)
                    ((double *)evn_place_host(place, own[k]))[e] = value[k] + e;
            assert_ok(evn_place_release(place, 2, pair, space));
            h->sum++;
        }
        const int other = (k + 1) % OWN;
        if (own[other] < 0 || !value[other]) continue;
        if (evn_place_acquire(place, 1, &own[other], EVN_HOST, EVN_READ))
            fail_msg("%s", evn_message());
        const double *at = evn_place_host(place, own[other]);
        for (int e = 0; e < DOUBLES; e++) assert_true(at[e] == value[other] + e);
        int found;
        size_t offset;
        assert_ok(evn_place_find(place, at + 3, &found, &offset));
        assert_true(found == own[other] && offset == 3 * sizeof *at);
        assert_ok(evn_place_release(place, 1, &own[other], EVN_HOST));
    }
    for (int k = 0; k < OWN; k++)
        if (own[k] >= 0) assert_ok(evn_place_remove(place, own[k]));
    return NULL;
}

TEST(threads_come_and_go) {
    ENDS(close_fixture) struct fixture f = open_fixture("2:GPU:1", "emulated:2,memory=100kB", 0.8);
    struct hand hand[4];
    pthread_t thread[4];
    for (int t = 0; t < 4; t++) {
        hand[t] = (struct hand){&f, t, 400, 0};
        assert_int_equal(pthread_create(&thread[t], NULL, come_and_go, &hand[t]), 0);
    }
    for (int t = 0; t < 4; t++) pthread_join(thread[t], NULL);
    for (int t = 0; t < 4; t++) assert_true(hand[t].sum > 50);
    for (int r = 0; r < REGIONS; r++) {
        use(&f, r, EVN_HOST, EVN_BOTH);
        expect_host(&f, r, 0);
    }
}

/* Many addresses, put in and taken out in any order: each is found while it is registered, at its
 * first and last byte, and neither behind it nor afterwards. */
enum { MANY = 3000, WIDE = 48, STRIDE = 64 };

static void expect_address(evn_place *place, char *at, int region) {
    int found = -2;
    size_t offset = 0;
    if (region < 0) {
        assert_int_equal(evn_place_find(place, at, &found, &offset), EVN_USAGE);
        return;
    }
    for (size_t i = 0; i < WIDE; i += WIDE - 1) {
        assert_ok(evn_place_find(place, at + i, &found, &offset));
        assert_int_equal(found, region);
        assert_int_equal(offset, i);
    }
    assert_int_equal(evn_place_find(place, at + WIDE, &found, &offset), EVN_USAGE);
    int other;
    assert_int_equal(evn_place_add(place, at + WIDE - 1, 2, &other), EVN_USAGE);
    assert_int_equal(evn_place_add(place, at - 1, 2, &other), EVN_USAGE);
}

TEST(many_addresses) {
    ENDS(close_fixture) struct fixture f = open_fixture("1:CPU:1", NULL, 0.5);
    char *memory = malloc((size_t)(MANY + 2) * STRIDE), *first = memory + STRIDE;
    static int region[MANY];
    for (int i = 0; i < MANY; i++) region[i] = -1;
    /* all with steps of 7, by chance fewer and more, and the rest in order */
    for (int i = 0; i < MANY; i++) {
        const int k = 7 * i % MANY; /* 7 does not divide MANY: each once */
        assert_ok(evn_place_add(f.place, first + (size_t)k * STRIDE, WIDE, &region[k]));
    }
    unsigned dice = 1;
    for (int i = 0; i < 20 * MANY; i++) {
        dice = dice * 1664525u + 1013904223u;
        const int k = (int)((dice >> 8) % MANY), fewer = i / MANY % 2;
        char *at = first + (size_t)k * STRIDE;
        if (i % 16 == 0) expect_address(f.place, at, region[k]);
        if (region[k] < 0 && (!fewer || dice >> 30 == 0)) {
            assert_ok(evn_place_add(f.place, at, WIDE, &region[k]));
        } else if (region[k] >= 0 && (fewer || dice >> 30 == 0)) {
            assert_ok(evn_place_remove(f.place, region[k]));
            region[k] = -1;
        }
    }
    for (int k = 0; k < MANY; k++) expect_address(f.place, first + (size_t)k * STRIDE, region[k]);
    for (int k = 0; k < MANY; k++)
        if (region[k] >= 0) assert_ok(evn_place_remove(f.place, region[k]));
    for (int k = 0; k < MANY; k++) expect_address(f.place, first + (size_t)k * STRIDE, -1);
    free(memory);
}

RUN_TESTS(NULL, NULL)
