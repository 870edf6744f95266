/* The summation on a device against the host's: all layouts, precisions and numbers of steps, to
 * the bit where nothing is fused, else to rounding; blocks that do not fit the device together; a
 * device that is too small. EVENER_TEST_DEVICE is the device, emulated if it is not set; where
 * there is none the test is skipped (exit status 77). Run: ctest -R tdbem-gpu */
#include "body.h"
#include "device/devices.h"
#include "tdbem/summation/history.h"
#include "tdbem/summation/summation.h"
#include "tdbem/summation/summation_gpu.h"
#include <evener.h>

#include <math.h>

static evn_machine *machine;
static struct slices *slices;
extern const evn_kernel_source summation_double_8_kernels; /* any: whether products are fused */

static const double air[4][3] = {{0, 0, 2}, {2, 0, 0}, {0, 0, -2}, {1.1, 0.3, 0.2}};

static int make_slices(void **state) {
    (void)state;
    assert_ok(evn_machine_open(&machine));
    OWN(mesh) *mesh = body("sphere:2");
    const struct slices_options o = {
        .problem = TDBEM_RIGID, .eta = 0.5, .delta = 0.5 * mesh->h_mean, .points = 4, .point = air};
    assert_ok(slices_generate(&slices, mesh, &o, 2));
    return 0;
}

static int close_slices(void **state) {
    (void)state;
    slices_close(slices);
    evn_machine_close(machine);
    return 0;
}

/* A layout, a past without any symmetry, and the sums as the host has them. */
struct host {
    struct layout *layout;
    struct history *past;
    size_t bytes; /* of a block's sums */
    char *sums;
};

static void *memory(size_t bytes) {
    void *a = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(a);
    memset(a, 0xff, (bytes + 63) / 64 * 64);
    return a;
}

static void open_host(struct host *h, const struct layout_options *o) {
    assert_ok(layout_open(&h->layout, slices, o));
    const struct layout *a = h->layout;
    assert_ok(history_open(&h->past, a->columns, a->depth, a->front, o->group, o->single));
    double *known = memory(sizeof *known * (size_t)(a->columns * a->depth));
    for (int e = 0; e < a->columns * a->depth; e++) known[e] = sin(0.37 * e + 1e-3 * e * (e % 11));
    history_import(h->past, known);
    free(known);
    h->bytes = summation_sums_bytes(a);
    h->sums = memory(h->bytes * (size_t)a->blocks);
    HEAP void *scratch = memory(summation_scratch(a, 1));
    for (int b = 0; b < a->blocks; b++)
        for (int t = 0; t < a->tiles; t++)
            summation_part(a, b, 1, t, h->past, h->sums + (size_t)b * h->bytes, scratch);
}

static void close_host(struct host *h) {
    free(h->sums);
    history_close(h->past);
    layout_close(h->layout);
}

/* A device with it. */
struct side {
    evn_units *units;
    evn_place *place;
    int space;
    int *region;
    struct summation_gpu *gpu;
};

static evn_queue *queue(const struct side *d) {
    return evn_unit_queue(evn_units_get(d->units, 0), 0);
}

static void open_side(struct side *d, const struct host *h, const char *device) {
    const struct layout *a = h->layout;
    double share;
    assert_ok(evn_units_open(&d->units, machine, "1:GPU:1", device, EVN_OVERSUBSCRIBE));
    assert_ok(
        summation_gpu_share(&share, a, h->past, evn_unit_device(evn_units_get(d->units, 0), 0)));
    assert_ok(evn_place_open(&d->place, d->units, 1));
    d->space = evn_place_space(d->place, evn_units_get(d->units, 0), 0);
    evn_place_limit(d->place, d->space, share);
    d->region = memory(sizeof *d->region * (size_t)a->blocks);
    assert_ok(summation_gpu_regions(a, d->place, d->region));
    assert_ok(summation_gpu_open(&d->gpu, a, h->past, d->place, d->region, d->space, queue(d)));
}

static void close_side(struct side *d) {
    assert_ok(evn_queue_finish(queue(d)));
    summation_gpu_close(d->gpu);
    evn_place_close(d->place);
    evn_units_close(d->units);
    free(d->region);
}

/* The sums of a node of the tree from the host's. */
static void node_sums(const struct host *h, int block, int span, char *out) {
    if (span == 1) {
        memcpy(out, h->sums + (size_t)block * h->bytes, h->bytes);
        return;
    }
    HEAP char *right = memory(h->bytes);
    node_sums(h, block, span / 2, out);
    node_sums(h, block + span / 2, span / 2, right);
    if (h->layout->is.single)
        for (size_t e = 0; e < h->bytes / sizeof(float); e++)
            ((float *)out)[e] += ((float *)right)[e];
    else
        for (size_t e = 0; e < h->bytes / sizeof(double); e++)
            ((double *)out)[e] += ((double *)right)[e];
}

/* Sums of these blocks, and that no other is touched; regions that came for them. */
static int check(const struct side *d, const struct host *h, int count, const int *block) {
    const struct layout *a = h->layout;
    const size_t reals = (size_t)a->rows * (size_t)a->wide;
    const evn_moves before = evn_place_moves(d->place, EVN_HOST, d->space);
    struct summation_node node[16];
    for (int b = 0; b < 16; b++) node[b] = (struct summation_node){NULL, -1};
    summation_gpu_begin(d->gpu);
    assert_ok(summation_gpu_batch(d->gpu, count, block, h->past, node));
    assert_ok(evn_queue_finish(queue(d)));
    const double tolerance = !summation_double_8_kernels.contract ? 0 : a->is.single ? 3e-6 : 5e-15;
    double worst = 0, largest = 0;
    char *want = memory(h->bytes);
    for (int b = 0; b < a->blocks; b++) {
        int asked = 0, in_a_node = 0;
        const int span = node[b].span;
        for (int i = 0; i < count; i++) asked |= block[i] == b;
        for (int n = 0; n < b; n++) in_a_node |= node[n].span > b - n;
        assert_true(asked ? in_a_node ? span == 0 : span >= 1 : span == -1);
        if (!asked || in_a_node) continue;
        /* a node of the tree, whose blocks were all asked for */
        assert_int_equal(b % span, 0);
        assert_int_equal(span & (span - 1), 0);
        node_sums(h, b, span, want);
        const char *got = node[b].sums;
        for (size_t e = 0; e < reals; e++) {
            const double x = a->is.single ? ((const float *)got)[e] : ((const double *)got)[e];
            const double y = a->is.single ? ((const float *)want)[e] : ((const double *)want)[e];
            if (!isfinite(x)) fail_msg("block %d, element %zu: %g for %g", b, e, x, y);
            worst = fmax(worst, fabs(x - y));
            largest = fmax(largest, fabs(y));
        }
    }
    free(want);
    if (worst > tolerance * largest)
        fail_msg("%d blocks from %d on, %d steps: off by %g of %g", count, block[0], a->is.group,
                 worst, largest);
    assert_true(largest > 0);
    return (int)(evn_place_moves(d->place, EVN_HOST, d->space).copies - before.copies);
}

static void all_of(int *block, int count) {
    for (int b = 0; b < count; b++) block[b] = b;
}

/* Every kernel; three tiles, blocks of a few slices, and not all blocks. */
TEST(same_as_the_host) {
    static const int groups[] = {1, 2, 3, 8, 16, 32};
    for (int kind = 0; kind < 3; kind++)
        for (int single = 0; single < 2; single++)
            for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
                const struct layout_options o = {.kind = (enum layout_kind)kind,
                                                 .br = 12,
                                                 .bc = 32,
                                                 .single = single,
                                                 .group = groups[g],
                                                 .tile = 60,
                                                 .per_block = 17};
                ENDS(close_host) struct host h;
                ENDS(close_side) struct side d;
                open_host(&h, &o);
                open_side(&d, &h, test_device());
                int block[16];
                assert_true(h.layout->blocks == 10);
                all_of(block, 10);
                assert_int_equal(check(&d, &h, 10, block), 10);
                assert_int_equal(check(&d, &h, 10, block), 0);
                assert_int_equal(check(&d, &h, 4, (const int[]){1, 2, 5, 9}), 0);
                assert_int_equal(check(&d, &h, 5, (const int[]){2, 3, 4, 5, 6}), 0);
                assert_int_equal(check(&d, &h, 1, (const int[]){7}), 0);
            }
}

/* Memory for three blocks and a bit of ten, then for one: what comes in besides what is there, and
 * the same sums. */
TEST(out_of_core) {
    if (strncmp(test_device(), "emulated", 8)) skip();
    for (int kind = 0; kind < 3; kind++)
        for (int room = 1; room <= 6; room += 2) {
            const struct layout_options o = {
                .kind = (enum layout_kind)kind, .br = 12, .bc = 32, .group = 8, .per_block = 17};
            struct host h;
            struct side d;
            open_host(&h, &o);
            size_t largest = 0;
            for (int b = 0; b < h.layout->blocks; b++) {
                const size_t bytes = h.layout->begin[b + 1] - h.layout->begin[b];
                if (bytes > largest) largest = bytes;
            }
            /* by trial: the least memory where so many fit */
            double share = 0, memory = 1e5;
            for (; share * memory < room * (double)largest; memory += 4096) {
                char text[64];
                snprintf(text, sizeof text, "emulated:1,memory=%.0fB", memory);
                evn_device *device = OPEN(device, text, 0);
                if (summation_gpu_share(&share, h.layout, h.past, device)) share = 0;
                evn_device_close(device);
                if (share * memory >= room * (double)largest) break;
            }
            char text[64];
            snprintf(text, sizeof text, "emulated:1,memory=%.0fB", memory);
            open_side(&d, &h, text);
            int block[16];
            all_of(block, h.layout->blocks);
            assert_int_equal(check(&d, &h, 10, block), 10);
            /* the first ones are those that stayed; places in between may be too small for others
             */
            for (int again = 0; again < 3; again++) {
                const int came = check(&d, &h, 10, block);
                assert_in_range(came, 10 - room - 1, room < 3 ? 10 : 11 - room);
            }
            check(&d, &h, 2, (const int[]){3, 8});
            assert_int_equal(check(&d, &h, 2, (const int[]){3, 8}), room == 1);
            assert_true(device_used_max(evn_unit_device(evn_units_get(d.units, 0), 0)) <= memory);
            assert_int_equal(evn_place_moves(d.place, d.space, EVN_HOST).copies, 0);
            close_side(&d);
            close_host(&h);
        }
}

TEST(too_small) {
    const struct layout_options o = {.kind = LAYOUT_ROWS, .group = 8};
    ENDS(close_host) struct host h;
    double share;
    open_host(&h, &o);
    OWN(device) *device = OPEN(device, "emulated:1,memory=200kB", 0);
    assert_fails(summation_gpu_share(&share, h.layout, h.past, device), EVN_MEMORY,
                 "0.200 MB of memory");
}

int main(void) {
    const int missing = test_devices(&summation_double_8_kernels, NULL);
    if (missing) return missing;
    return run_all_tests(make_slices, close_slices);
}
