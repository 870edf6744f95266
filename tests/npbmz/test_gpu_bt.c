/* BT-MZ's kernels, on emulated devices and on OpenCL where there is one, against the host's solver
 * and plain.c: zones of unequal shapes in one batch with random gases, the bits where compilers may
 * not fuse, official runs; how many launches a step takes, and what it must leave alone. Run: ctest
 * -R gpu_bt. EVENER_TEST_DEVICE=NAME: on this device only. */
#include "npbmz/bt/bt_gpu.h"

#include "npbmz/device/gpu.h"
#include "npbmz/mesh/mesh.h"
#include "plain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SKIPPED = 77 };

extern const evn_kernel_source bt_kernels;

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        evn_status status_ = (call);                                                               \
        if (status_) fail_msg("%s: status %d: %s", #call, status_, evn_message());                 \
    } while (0)

static const char *device_name = "emulated";

/* From the least there is, 3 interior points, to several segments on each side; odd and even; 16
 * and 17 lines, a group and one more. */
static const int shapes[][3] = {
    {5, 5, 5},   {6, 6, 6},    {13, 8, 28}, {29, 6, 8},   {18, 5, 7},  {16, 11, 17},
    {5, 7, 9},   {9, 7, 5},    {37, 10, 6}, {19, 24, 12}, {6, 35, 23}, {10, 18, 19},
    {22, 23, 9}, {11, 12, 30}, {8, 13, 14}, {7, 33, 10},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* Some zones, on the host and on a device. */
struct both {
    struct problem p;
    struct scratch s;
    evn_device *device;
    evn_queue *queue;
    evn_buffer *field;
    struct gpu *gpu;
    int *number;
    size_t *at;
};

static const struct team alone = {0, 1};

static void put_on_device(struct both *b) {
    for (int n = 0; n < b->p.zones; n++) {
        size_t bytes;
        void *block = zone_block(&b->p, &b->p.zone[n], &bytes);
        assert_ok(evn_copy_to_device(b->queue, b->field, b->at[n], block, bytes));
    }
    assert_ok(evn_queue_finish(b->queue));
}

/* what zone n's block has become on the device; the caller frees it */
static char *get_from_device(struct both *b, int n, size_t *bytes) {
    zone_block(&b->p, &b->p.zone[n], bytes);
    char *block = malloc(*bytes);
    assert_non_null(block);
    assert_ok(evn_copy_to_host(b->queue, block, b->field, b->at[n], *bytes));
    assert_ok(evn_queue_finish(b->queue));
    return block;
}

static size_t rounded(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

/* Zones that p has, with fields; on the device in reverse order with room between them. */
static void device_open(struct both *b, size_t max_work) {
    struct problem *p = &b->p;
    b->s.doubles = p->solver->scratch(p, 1);
    size_t bytes = rounded(b->s.doubles * sizeof(double), 64);
    b->s.memory = aligned_alloc(64, bytes);
    assert_non_null(b->s.memory);
    memset(b->s.memory, 0, bytes);
    b->number = calloc((size_t)p->zones, sizeof *b->number);
    b->at = calloc((size_t)p->zones, sizeof *b->at);
    size_t sum = 256;
    for (int n = p->zones - 1; n >= 0; n--) {
        b->number[n] = n;
        b->at[n] = sum;
        zone_block(p, &p->zone[n], &bytes);
        sum += rounded(bytes, 256) + 256;
    }
    assert_ok(evn_device_open(&b->device, device_name, 0));
    assert_ok(evn_queue_open(&b->queue, b->device));
    assert_ok(evn_buffer_open(&b->field, b->device, sum));
    assert_ok(gpu_open(&b->gpu, p, &gpu_bt, b->device, b->queue, max_work));
    assert_ok(gpu_batch(b->gpu, b->field, p->zones, b->number, b->at));
    put_on_device(b);
}

static void both_close(struct both *b) {
    gpu_close(b->gpu);
    evn_buffer_close(b->field);
    evn_queue_close(b->queue);
    evn_device_close(b->device);
    free(b->s.memory);
    free(b->number);
    free(b->at);
    problem_close(&b->p);
}

/* zones with these shapes and random gases */
static void both_open(struct both *b, const int n[][3], int zones, size_t max_work) {
    memset(b, 0, sizeof *b);
    struct problem *p = &b->p;
    assert_int_equal(problem_class(p, NPBMZ_BT, 'A'), 0);
    p->h[0] = 1 / 22.0, p->h[1] = 1 / 19.0, p->h[2] = 1 / 17.0; /* no two alike */
    p->dt = 0.01;
    p->zones = zones;
    p->zone = calloc((size_t)zones, sizeof *p->zone);
    assert_non_null(p->zone);
    p->max_nx = p->max_ny = p->max_nz = 0;
    p->max_sj = p->max_sk = p->max_sc = 0;
    for (int m = 0; m < zones; m++) {
        struct zone *z = &p->zone[m];
        z->nx = n[m][0], z->ny = n[m][1], z->nz = n[m][2];
        zone_strides(z);
#define LARGEST(of) p->max_##of = z->of > p->max_##of ? z->of : p->max_##of
        LARGEST(nx), LARGEST(ny), LARGEST(nz), LARGEST(sj), LARGEST(sk), LARGEST(sc);
#undef LARGEST
        assert_int_equal(zone_alloc(p, z), 0);
        struct plain_zone q;
        plain_zone_open(&q, NPBMZ_BT, z->nx, z->ny, z->nz, p->h, p->dt);
        plain_gas(&q, q.u, 5 + (unsigned)m);
        plain_noise(&q, q.f, 6 + (unsigned)m, 1);
        plain_put(z, z->u, q.u);
        plain_put(z, z->f, q.f);
        plain_zone_close(&q);
    }
    device_open(b, max_work);
}

static int interior(const struct zone *z, int i, int j, int k) {
    return i > 0 && i < z->nx - 1 && j > 0 && j < z->ny - 1 && k > 0 && k < z->nz - 1;
}

/* The device's block of zone n against the host's: how far the interior of u is from it at most,
 * component by component in units of the largest value; all else must be the same. */
static double difference(struct both *b, int n) {
    const struct zone *z = &b->p.zone[n];
    size_t bytes;
    char *got = get_from_device(b, n, &bytes), *want = zone_block(&b->p, z, &bytes);
    double worst = 0;
    for (int c = 0; c < NC; c++) {
        double largest = 0, max = 0;
        for (int k = 0; k < z->nz; k++)
            for (int j = 0; j < z->ny; j++)
                for (int i = 0; i < z->nx; i++) {
                    double *w = z->u + c * z->sc + zone_at(z, i, j, k);
                    double *g = (double *)(got + ((char *)w - want));
                    if (fabs(*w) > largest) largest = fabs(*w);
                    if (!(fabs(*g - *w) <= max)) max = fabs(*g - *w);
                    if (interior(z, i, j, k)) *g = *w;
                }
        if (!(max / largest <= worst)) worst = max / largest;
    }
    if (memcmp(got, want, bytes))
        fail_msg("zone %dx%dx%d: more has changed than interior points", z->nx, z->ny, z->nz);
    free(got);
    return worst;
}

static void host_steps(struct both *b, int steps) {
    for (int t = 0; t < steps; t++)
        for (int n = 0; n < b->p.zones; n++) b->p.solver->step(&b->p, &b->p.zone[n], &b->s, &alone);
}
static void device_steps(struct both *b, int steps) {
    for (int t = 0; t < steps; t++) assert_ok(gpu_step(b->gpu));
    assert_ok(evn_queue_finish(b->queue));
}

/* what may be between host and device */
static double tolerance(void) { return bt_kernels.contract ? 1e-12 : 0; }

static void assert_alike(struct both *b) {
    for (int n = 0; n < b->p.zones; n++) {
        const struct zone *z = &b->p.zone[n];
        double d = difference(b, n);
        if (!(d <= tolerance()))
            fail_msg("zone %d, %dx%dx%d: differs by %g from the host", n, z->nx, z->ny, z->nz, d);
    }
}

/* ---- tests --------------------------------------------------------------------------------- */

static void same_as_host(void **state) {
    (void)state;
    struct both b;
    both_open(&b, shapes, SHAPES, 0);
    host_steps(&b, 2);
    device_steps(&b, 2);
    assert_alike(&b);
    both_close(&b);
}

static void same_as_plain(void **state) {
    (void)state;
    struct both b;
    both_open(&b, shapes, SHAPES, 0);
    device_steps(&b, 1);
    for (int n = 0; n < b.p.zones; n++) {
        struct zone *z = &b.p.zone[n];
        struct plain_zone q;
        plain_zone_of(&q, &b.p, z);
        plain_step(&q);
        size_t bytes;
        char *got = get_from_device(&b, n, &bytes);
        plain_point *u = plain_field(&q);
        char *block = zone_block(&b.p, z, &bytes);
        plain_get(z, (double *)(got + ((char *)z->u - block)), u);
        double d = plain_difference(&q, u, q.u);
        if (!(d <= 1e-12)) fail_msg("zone %d, %dx%dx%d: differs by %g", n, z->nx, z->ny, z->nz, d);
        free(u);
        free(got);
        plain_zone_close(&q);
    }
    both_close(&b);
}

/* Launches and nothing else, as many as ever; a batch in parts gives the same. */
static void launches(void **state) {
    (void)state;
    for (int zones = 1; zones <= SHAPES; zones += SHAPES - 1) {
        struct both b;
        both_open(&b, shapes, zones, 0);
        evn_counts before = evn_device_counts(b.device);
        device_steps(&b, 3);
        evn_counts after = evn_device_counts(b.device);
        assert_int_equal(after.launches - before.launches, 3 * 4);
        after.launches = before.launches;
        assert_memory_equal(&before, &after, sizeof before);
        both_close(&b);
    }
}

static void in_parts(void **state) {
    (void)state;
    struct both b;
    size_t max = 0;
    both_open(&b, shapes, SHAPES, 0);
    for (int n = 0; n < SHAPES; n++) {
        size_t work = gpu_bt.work(&b.p, &b.p.zone[n]);
        if (work > max) max = work;
    }
    both_close(&b);
    both_open(&b, shapes, SHAPES, (max + 31) / 32 * 32 * sizeof(double));
    host_steps(&b, 1);
    evn_counts before = evn_device_counts(b.device);
    device_steps(&b, 1);
    evn_counts after = evn_device_counts(b.device);
    assert_true(after.launches - before.launches > 4);
    assert_alike(&b);
    both_close(&b);
}

/* The cut into pieces covers each point and line, without a piece that has nothing to do. */
static void pieces(void **state) {
    (void)state;
    struct problem p;
    assert_int_equal(problem_class(&p, NPBMZ_BT, 'A'), 0);
    for (int n = 0; n < SHAPES; n++) {
        struct zone z = {.nx = shapes[n][0], .ny = shapes[n][1], .nz = shapes[n][2]};
        const int x = z.nx - 2, y = z.ny - 2, w = z.nz - 2;
        const int things[4] = {x * y * w, y * w, x * w, x * y};
        const int size[4] = {BT_POINTS, BT_LINES, BT_LINES, BT_LINES};
        zone_strides(&z);
        assert_int_equal(gpu_bt.cuts, 4);
        for (int c = 0; c < 4; c++) {
            int count = gpu_bt.pieces(&p, &z, c);
            assert_true(count * size[c] >= things[c] && (count - 1) * size[c] < things[c]);
        }
    }
}

/* Padding is finite and else has no say. */
static void padding(void **state) {
    (void)state;
    struct both b;
    both_open(&b, shapes, SHAPES, 0);
    host_steps(&b, 1);
    for (int n = 0; n < SHAPES; n++) {
        struct zone *z = &b.p.zone[n];
        double *field[2] = {z->u, z->f};
        for (int a = 0; a < 2; a++)
            for (ptrdiff_t l = -ZONE_SLACK; l < NC * z->sc + ZONE_SLACK; l++) {
                ptrdiff_t at = l < 0 ? z->sc - 1 : l % z->sc;
                if (l >= NC * z->sc) at = z->sc - 1;
                if (at / z->sk >= z->nz || at % z->sk / z->sj >= z->ny ||
                    at % z->sk % z->sj >= z->nx)
                    field[a][l] = l % 3 ? 1e3 * (double)(l % 17 - 8) : 0;
            }
    }
    /* on the device: the state before the step, and this padding */
    struct both c;
    both_open(&c, shapes, SHAPES, 0);
    for (int n = 0; n < SHAPES; n++) {
        struct zone *z = &b.p.zone[n], *y = &c.p.zone[n];
        size_t bytes;
        plain_point *old;
        struct plain_zone q;
        plain_zone_of(&q, &c.p, y);
        char *to = zone_block(&c.p, y, &bytes), *from = zone_block(&b.p, z, &bytes);
        memcpy(to, from, bytes);
        old = q.u;
        plain_put(y, y->u, old);
        plain_zone_close(&q);
    }
    put_on_device(&c);
    device_steps(&c, 1);
    for (int n = 0; n < SHAPES; n++) { /* the host's after the step */
        size_t bytes;
        char *to = zone_block(&c.p, &c.p.zone[n], &bytes);
        memcpy(to, zone_block(&b.p, &b.p.zone[n], &bytes), bytes);
    }
    assert_alike(&c);
    both_close(&c);
    both_close(&b);
}

/* Official runs: NAS-03-010's figures, with plain.c's set-up, exchange and norms. */
static void official_run(char class_, const double residual[NC], const double error[NC]) {
    struct plain q;
    plain_open(&q, NPBMZ_BT, class_);
    struct both b;
    memset(&b, 0, sizeof b);
    assert_int_equal(problem_class(&b.p, NPBMZ_BT, class_), 0);
    assert_int_equal(problem_zones(&b.p), 0);
    for (int n = 0; n < b.p.zones; n++) {
        assert_int_equal(zone_alloc(&b.p, &b.p.zone[n]), 0);
        plain_put(&b.p.zone[n], b.p.zone[n].f, q.zone[n].f);
    }
    device_open(&b, 0);
    for (int t = 0; t < b.p.steps; t++) {
        plain_exchange(&q);
        for (int n = 0; n < b.p.zones; n++) plain_put(&b.p.zone[n], b.p.zone[n].u, q.zone[n].u);
        put_on_device(&b);
        device_steps(&b, 1);
        for (int n = 0; n < b.p.zones; n++) {
            struct zone *z = &b.p.zone[n];
            size_t bytes;
            void *block = zone_block(&b.p, z, &bytes);
            assert_ok(evn_copy_to_host(b.queue, block, b.field, b.at[n], bytes));
            assert_ok(evn_queue_finish(b.queue));
            plain_get(z, z->u, q.zone[n].u);
        }
    }
    double r[NC], e[NC];
    plain_residual_norm(&q, r);
    plain_error_norm(&q, e);
    for (int c = 0; c < NC; c++)
        if (!(fabs(r[c] / residual[c] - 1) <= 1e-11 && fabs(e[c] / error[c] - 1) <= 1e-11))
            fail_msg("class %c, component %d: %.13e and %.13e, not %.13e and %.13e", class_, c + 1,
                     r[c], e[c], residual[c], error[c]);
    both_close(&b);
    plain_close(&q);
}

static void class_s(void **state) {
    (void)state;
    official_run('S',
                 (const double[]){0.1047687395830e+04, 0.9419911314792e+02, 0.2124737403068e+03,
                                  0.1422173591794e+03, 0.1135441572375e+04},
                 (const double[]){0.1775416062982e+03, 0.1875540250835e+02, 0.3863334844506e+02,
                                  0.2634713890362e+02, 0.1965566269675e+03});
}
static void class_w(void **state) {
    (void)state;
    official_run('W',
                 (const double[]){0.5562611195402e+05, 0.5151404119932e+04, 0.1080453907954e+05,
                                  0.6576058591929e+04, 0.4528609293561e+05},
                 (const double[]){0.7185154786403e+04, 0.7040472738068e+03, 0.1437035074443e+04,
                                  0.8570666307849e+03, 0.5991235147368e+04});
}

int main(void) {
    if (getenv("EVENER_TEST_DEVICE")) device_name = getenv("EVENER_TEST_DEVICE");
    int count = 0;
    char why[512] = "";
    if (evn_devices_count(device_name, &count, why, sizeof why)) {
        printf("%s\n", evn_message());
        return 1;
    }
    if (!count) {
        printf("skipped: no %s device: %s\n", device_name, why);
        return SKIPPED;
    }
    printf("on %s, %s\n", device_name,
           bt_kernels.contract ? "fused" : "not fused: the host's bits are expected");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_plain), cmocka_unit_test(same_as_host), cmocka_unit_test(launches),
        cmocka_unit_test(in_parts),      cmocka_unit_test(pieces),       cmocka_unit_test(padding),
        cmocka_unit_test(class_s),       cmocka_unit_test(class_w),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
