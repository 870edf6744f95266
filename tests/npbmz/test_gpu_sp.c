/* SP-MZ's kernels against the host's solver and plain.c: zones of all shapes in one batch, to the
 * bit where nothing is fused, else to rounding; official runs; how many launches a step takes, and
 * what it must leave alone. EVENER_TEST_DEVICE is the device, emulated if it is not set; where
 * there is none the test is skipped (exit status 77). Run: ctest -R gpu_sp */
#include "npbmz/device/gpu.h"
#include "npbmz/sp/sp_zone.h"

#include "npbmz/mesh/exact.h"
#include "copy_faces.h"
#include "npbmz/mesh/mesh.h"
#include "plain.h"
#include "npbmz/host/verify.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const evn_kernel_source sp_kernels;

static const char *spec;

#define OK(call)                                                                                   \
    do {                                                                                           \
        evn_status ok_status = (call);                                                             \
        if (ok_status) fail_msg("%s: %s: %s", #call, evn_status_text(ok_status), evn_message());   \
    } while (0)

/* Lines of odd and even numbers of points from the least there is; groups that are full, that are
 * not, and one line more; in each direction lines of two windows, of just one, and of three. */
static const int shapes[][3] = {
    {5, 5, 5},  {6, 6, 6},  {7, 5, 6},  {6, 10, 18}, {18, 18, 5},  {19, 7, 18},  {13, 8, 28},
    {9, 11, 5}, {34, 6, 7}, {35, 5, 8}, {67, 6, 7},  {8, 34, 6},   {7, 35, 9},   {6, 70, 6},
    {9, 6, 34}, {5, 8, 35}, {6, 7, 75}, {131, 5, 6}, {32, 32, 16}, {38, 26, 17},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* A mesh on the host and, zone by zone in another order, on a device. */
struct mesh {
    struct problem p;
    struct scratch s;
    evn_device *device;
    evn_queue *queue;
    evn_buffer *field;
    struct gpu *gpu;
    int *number;
    size_t *at; /* where the block of the n-th zone of the batch, number[n], begins */
};

static const struct team alone = {0, 1};

static void *memory(size_t bytes) {
    void *a = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(a);
    memset(a, 0, bytes);
    return a;
}

static void device_open(struct mesh *m) {
    struct problem *p = &m->p;
    const size_t zones = (size_t)p->zones;
    m->s.doubles = p->solver->scratch(p, 1);
    m->s.memory = memory(m->s.doubles * sizeof(double));
    m->number = memory(zones * sizeof *m->number);
    m->at = memory(zones * sizeof *m->at);
    size_t end = 512, bytes;
    for (int n = 0; n < p->zones; n++) {
        m->number[n] = p->zones - 1 - n;
        m->at[n] = end;
        zone_block(p, &p->zone[m->number[n]], &bytes);
        end += bytes + 64;
    }
    OK(evn_device_open(&m->device, spec, 0));
    OK(evn_queue_open(&m->queue, m->device));
    OK(evn_buffer_open(&m->field, m->device, end));
    OK(gpu_open(&m->gpu, p, &gpu_sp, m->device, m->queue, 0));
    OK(gpu_batch(m->gpu, m->field, p->zones, m->number, m->at));
}

static void mesh_close(struct mesh *m) {
    gpu_close(m->gpu);
    evn_buffer_close(m->field);
    evn_queue_close(m->queue);
    evn_device_close(m->device);
    free(m->s.memory);
    free(m->number);
    free(m->at);
    problem_close(&m->p);
}

static struct zone *zone_of_batch(struct mesh *m, int n) { return &m->p.zone[m->number[n]]; }

static void put(struct mesh *m) {
    for (int n = 0; n < m->p.zones; n++) {
        size_t bytes;
        void *block = zone_block(&m->p, zone_of_batch(m, n), &bytes);
        OK(evn_copy_to_device(m->queue, m->field, m->at[n], block, bytes));
    }
    OK(evn_queue_finish(m->queue));
}

/* The block of the n-th zone of the batch as it is on the device; the caller frees it. */
static void *get(struct mesh *m, int n) {
    size_t bytes;
    zone_block(&m->p, zone_of_batch(m, n), &bytes);
    void *block = memory(bytes);
    OK(evn_copy_to_host(m->queue, block, m->field, m->at[n], bytes));
    OK(evn_queue_finish(m->queue));
    return block;
}

/* the block instead of the zone's own, with the fields in it */
static struct zone zone_in(const struct mesh *m, const struct zone *z, void *block) {
    struct zone there = *z;
    size_t bytes;
    const char *own = zone_block(&m->p, z, &bytes);
    there.u = (double *)((char *)block + ((const char *)z->u - own));
    there.f = (double *)((char *)block + ((const char *)z->f - own));
    return there;
}

/* Zones of these shapes with gases of their own, and different spacings in all directions; in their
 * padding, and in that of the forcing, all sorts of finite numbers. */
static void mesh_open(struct mesh *m, const int n[][3], int zones) {
    memset(m, 0, sizeof *m);
    struct problem *p = &m->p;
    assert_int_equal(problem_class(p, NPBMZ_SP, 'A'), 0);
    p->h[0] = 1 / 41.0, p->h[1] = 1 / 23.0, p->h[2] = 1 / 33.0;
    p->dt = 0.004;
    p->zones = zones;
    p->zone = calloc((size_t)zones, sizeof *p->zone);
    assert_non_null(p->zone);
    p->max_nx = p->max_ny = p->max_nz = 0;
    p->max_sj = p->max_sk = p->max_sc = 0;
    for (int l = 0; l < zones; l++) {
        struct zone *z = &p->zone[l];
        z->nx = n[l][0], z->ny = n[l][1], z->nz = n[l][2];
        zone_strides(z);
#define AT_LEAST(what) p->max_##what = p->max_##what > z->what ? p->max_##what : z->what
        AT_LEAST(nx), AT_LEAST(ny), AT_LEAST(nz), AT_LEAST(sj), AT_LEAST(sk), AT_LEAST(sc);
#undef AT_LEAST
        assert_int_equal(zone_alloc(p, z), 0);
        struct plain_zone q;
        plain_zone_open(&q, NPBMZ_SP, z->nx, z->ny, z->nz, p->h, p->dt);
        plain_gas(&q, q.u, 70 + (unsigned)l);
        plain_noise(&q, q.f, 170 + (unsigned)l, 1);
        for (ptrdiff_t a = 0; a < NC * z->sc; a++) {
            ptrdiff_t k = a % z->sc / z->sk, j = a % z->sc % z->sk / z->sj;
            ptrdiff_t i = a % z->sc % z->sk % z->sj;
            if (k >= z->nz || j >= z->ny || i >= z->nx)
                z->u[a] = a % 3 ? (double)(a % 101) - 50 : 0, z->f[a] = 1e3 * (double)(a % 7);
        }
        plain_put(z, z->u, q.u);
        plain_put(z, z->f, q.f);
        plain_zone_close(&q);
    }
    device_open(m);
    put(m);
}

static int is_interior(const struct zone *z, int i, int j, int k) {
    return i > 0 && i < z->nx - 1 && j > 0 && j < z->ny - 1 && k > 0 && k < z->nz - 1;
}

/* ---- one step and some --------------------------------------------------------------------- */

/* The increments of a step, since these are small beside the solution. */
static void like_plain(void **state) {
    (void)state;
    struct mesh m;
    mesh_open(&m, shapes, SHAPES);
    OK(gpu_step(m.gpu));
    for (int n = 0; n < SHAPES; n++) {
        struct zone *z = zone_of_batch(&m, n);
        struct plain_zone q;
        plain_zone_of(&q, &m.p, z);
        void *block = get(&m, n);
        struct zone there = zone_in(&m, z, block);
        plain_point *got = plain_field(&q), *before = plain_field(&q);
        memcpy(before, q.u, plain_points(&q) * sizeof *before);
        plain_step(&q);
        plain_get(&there, there.u, got);
        for (size_t a = 0; a < plain_points(&q); a++)
            for (int c = 0; c < NC; c++) got[a][c] -= before[a][c], q.u[a][c] -= before[a][c];
        double d = plain_difference(&q, got, q.u);
        if (!(d <= 1e-10))
            fail_msg("zone %dx%dx%d: increments differ by %g", z->nx, z->ny, z->nz, d);
        free(got);
        free(before);
        free(block);
        plain_zone_close(&q);
    }
    mesh_close(&m);
}

/* Three steps beside the host's solver: the same bits without fusing, the same numbers with it; all
 * that is not an interior point of the solution is as it was. */
static void like_the_host(void **state) {
    (void)state;
    struct mesh m;
    mesh_open(&m, shapes, SHAPES);
    for (int t = 0; t < 3; t++) {
        OK(gpu_step(m.gpu));
        for (int n = 0; n < SHAPES; n++) m.p.solver->step(&m.p, &m.p.zone[n], &m.s, &alone);
    }
    for (int n = 0; n < SHAPES; n++) {
        struct zone *z = zone_of_batch(&m, n);
        size_t bytes;
        const void *own = zone_block(&m.p, z, &bytes);
        void *block = get(&m, n);
        struct zone there = zone_in(&m, z, block);
        for (int c = 0; c < NC; c++) {
            double largest = 0, max = 0;
            for (int k = 0; k < z->nz; k++)
                for (int j = 0; j < z->ny; j++)
                    for (int i = 0; i < z->nx; i++) {
                        ptrdiff_t at = c * z->sc + zone_at(z, i, j, k);
                        double d = fabs(there.u[at] - z->u[at]);
                        if (fabs(z->u[at]) > largest) largest = fabs(z->u[at]);
                        if (!(d <= max)) max = d;
                        if (!sp_kernels.contract && memcmp(&there.u[at], &z->u[at], 8))
                            fail_msg("zone %dx%dx%d at (%d,%d,%d): other bits than the host, %g",
                                     z->nx, z->ny, z->nz, i, j, k, d);
                        if (is_interior(z, i, j, k)) there.u[at] = z->u[at];
                    }
            if (!(max <= 1e-12 * largest))
                fail_msg("zone %dx%dx%d: differs by %g from the host", z->nx, z->ny, z->nz, max);
        }
        if (memcmp(block, own, bytes))
            fail_msg("zone %dx%dx%d: what is no interior point has changed", z->nx, z->ny, z->nz);
        free(block);
    }
    mesh_close(&m);
}

/* A zone's bits do not depend on what else is in its batch. */
static void alone_or_not(void **state) {
    (void)state;
    struct mesh all;
    mesh_open(&all, shapes, SHAPES);
    for (int t = 0; t < 2; t++) OK(gpu_step(all.gpu));
    for (int n = 0; n < SHAPES; n++) {
        void *want = get(&all, n);
        struct mesh one;
        mesh_open(&one, shapes + all.number[n], 1);
        size_t bytes;
        const void *from = zone_block(&all.p, zone_of_batch(&all, n), &bytes);
        memcpy(zone_block(&one.p, one.p.zone, &bytes), from, bytes);
        put(&one);
        for (int t = 0; t < 2; t++) OK(gpu_step(one.gpu));
        void *got = get(&one, 0);
        assert_memory_equal(got, want, bytes);
        free(got);
        free(want);
        mesh_close(&one);
    }
    mesh_close(&all);
}

/* Four launches a step and nothing else, however many zones there are. */
static void launches(void **state) {
    (void)state;
    static const int zones[] = {1, 7, SHAPES};
    for (int n = 0; n < 3; n++) {
        struct mesh m;
        mesh_open(&m, shapes, zones[n]);
        evn_counts before = evn_device_counts(m.device);
        for (int t = 0; t < 5; t++) OK(gpu_step(m.gpu));
        OK(evn_queue_finish(m.queue));
        evn_counts after = evn_device_counts(m.device);
        assert_int_equal(after.launches - before.launches, 5 * 4);
        before.launches = after.launches;
        assert_memory_equal(&before, &after, sizeof before);
        mesh_close(&m);
    }
}

/* 7 doubles a point of rows of multiples of 4; a window of rows more for each pair of full ones. */
static void work_space(void **state) {
    (void)state;
    struct problem p;
    assert_int_equal(problem_class(&p, NPBMZ_SP, 'C'), 0);
    struct zone z = {.nx = 30, .ny = 20, .nz = 28};
    assert_int_equal(gpu_sp.work(&p, &z), 7 * 28 * 18 * 26);
    z.nx = 31;
    assert_int_equal(gpu_sp.work(&p, &z), 7 * 32 * 18 * 26);
    z.nx = 34;
    assert_int_equal(gpu_sp.work(&p, &z), 7 * 32 * 18 * 26);
    z.nx = 35;
    assert_int_equal(gpu_sp.work(&p, &z), 7 * 36 * 18 * 26 + 16 * 11 * 32 * ((18 * 26 + 15) / 16));
}

/* ---- official runs ------------------------------------------------------------------------- */

/* The host exchanges and has the norms; it runs its own solver beside, to compare with. */
static void official_run(char class_) {
    struct mesh m;
    memset(&m, 0, sizeof m);
    struct problem *p = &m.p;
    assert_int_equal(problem_class(p, NPBMZ_SP, class_), 0);
    assert_int_equal(problem_zones(p), 0);
    for (int n = 0; n < p->zones; n++) assert_int_equal(zone_alloc(p, &p->zone[n]), 0);
    device_open(&m);
    double *work = memory(zone_forcing_scratch(p, 1) * sizeof *work);
    for (int n = 0; n < p->zones; n++) {
        zone_forcing(p, &p->zone[n], work, &alone); /* changes u */
        zone_initialise(p, &p->zone[n]);
    }
    free(work);
    /* the device's mesh: its exchange is the host's, on copies */
    struct problem q = *p;
    q.zone = memory((size_t)p->zones * sizeof *q.zone);
    void **block = memory((size_t)p->zones * sizeof *block);
    for (int n = 0; n < p->zones; n++) {
        size_t bytes;
        const void *own = zone_block(p, zone_of_batch(&m, n), &bytes);
        block[n] = memory(bytes);
        memcpy(block[n], own, bytes);
        q.zone[m.number[n]] = zone_in(&m, zone_of_batch(&m, n), block[n]);
    }
    for (int t = 0; t < p->steps; t++) {
        for (int n = 0; n < p->zones; n++) {
            copy_faces(&q, n);
            copy_faces(p, n);
        }
        for (int n = 0; n < p->zones; n++) {
            size_t bytes;
            zone_block(p, zone_of_batch(&m, n), &bytes);
            OK(evn_copy_to_device(m.queue, m.field, m.at[n], block[n], bytes));
        }
        OK(gpu_step(m.gpu));
        for (int n = 0; n < p->zones; n++) {
            size_t bytes;
            zone_block(p, zone_of_batch(&m, n), &bytes);
            OK(evn_copy_to_host(m.queue, block[n], m.field, m.at[n], bytes));
        }
        for (int n = 0; n < p->zones; n++) p->solver->step(p, &p->zone[n], &m.s, &alone);
        OK(evn_queue_finish(m.queue));
    }
    struct norms *norms = memory((size_t)p->zones * sizeof *norms), total;
    struct plain_zone z;
    for (int n = 0; n < p->zones; n++) {
        plain_zone_of(&z, &q, &q.zone[n]);
        plain_zone_residual_norm(&z, norms[n].residual);
        plain_zone_close(&z);
        zone_error_norm(&q, &q.zone[n], norms[n].error);
        if (!sp_kernels.contract && zone_hash(&q.zone[n]) != zone_hash(&p->zone[n]))
            fail_msg("class %c, zone %d: other bits than the host", class_, n);
    }
    norms_sum(norms, p->zones, &total);
    assert_int_equal(verify_run(&q, q.steps, &total), 1);
    for (int n = 0; n < p->zones; n++) free(block[n]);
    free(block);
    free(norms);
    free(q.zone);
    mesh_close(&m);
}

static void class_s(void **state) {
    (void)state;
    official_run('S');
}
static void class_w(void **state) {
    (void)state;
    official_run('W');
}

int main(void) {
    spec = getenv("EVENER_TEST_DEVICE");
    if (!spec) spec = "emulated";
    int count = 0;
    char why[512] = "";
    if (evn_devices_count(spec, &count, why, sizeof why)) {
        printf("%s\n", evn_message());
        return 1;
    }
    if (!count) {
        printf("skipped: no device \"%s\": %s\n", spec, why);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_plain),   cmocka_unit_test(like_the_host),
        cmocka_unit_test(alone_or_not), cmocka_unit_test(launches),
        cmocka_unit_test(work_space),   cmocka_unit_test(class_s),
        cmocka_unit_test(class_w),
    };
    return cmocka_run_group_tests_name("gpu_sp", tests, NULL, NULL);
}
