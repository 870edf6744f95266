/* Zones on the host and on a device, and what is compared. */
#include "both.h"

#include "check.h"
#include "npbmz/host/exact.h"
#include "npbmz/mesh/mesh.h"
#include "padding.h"

#include <math.h>

const struct team both_alone = {0, 1, NULL};

void *both_memory(size_t bytes) {
    const size_t rounded = (bytes + 63) / 64 * 64;
    void *a = aligned_alloc(64, rounded);
    assert_non_null(a);
    memset(a, 0, rounded);
    return a;
}

static void open_scratch(struct both *b) {
    b->s.doubles = b->p.solver->scratch(&b->p, 1);
    b->s.memory = both_memory(b->s.doubles * sizeof(double));
}

/* ---- the host's zones ---------------------------------------------------------------------- */

/* What lies beside the points of u and of f. */
static double beside_u(ptrdiff_t n) { return n % 3 ? (double)(n % 101) - 50 : 0; }
static double beside_f(ptrdiff_t n) { return 1e3 * (double)(n % 7); }

/* From 0 to 1. */
static double drawn(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* A sound gas that differs from point to point: density 1 to 2, velocities -0.5 to 0.5, pressure
 * 0.2 to 0.6. Forcing and residual are noise inside and 0 at the boundary. */
static void fill_point(struct zone *z, ptrdiff_t at, int inside, uint64_t *state) {
    const double density = 1 + drawn(state);
    double energy = (0.2 + 0.4 * drawn(state)) / 0.4;
    for (int c = 1; c <= 3; c++) {
        const double v = drawn(state) - 0.5;
        z->u[c * z->sc + at] = density * v;
        energy += 0.5 * density * v * v;
    }
    z->u[at] = density;
    z->u[4 * z->sc + at] = energy;
    for (int c = 0; c < NC; c++) {
        z->f[c * z->sc + at] = inside ? 2 * drawn(state) - 1 : 0;
        if (z->r) z->r[c * z->sc + at] = inside ? 2 * drawn(state) - 1 : 0;
    }
}

static void fill_zone(struct zone *z, unsigned seed) {
    uint64_t state = seed;
    padding_fill(z, z->u, beside_u);
    padding_fill(z, z->f, beside_f);
    for (int k = 0; k < z->nz; k++)
        for (int j = 0; j < z->ny; j++)
            for (int i = 0; i < z->nx; i++)
                fill_point(z, zone_at(z, i, j, k), both_interior(z, i, j, k), &state);
}

void both_zones(struct both *b, enum npbmz_benchmark benchmark, double dt, const int shape[][3],
                int zones) {
    memset(b, 0, sizeof *b);
    struct problem *p = &b->p;
    assert_int_equal(problem_class(p, benchmark, 'A'), 0);
    p->h[0] = 1 / 22.0, p->h[1] = 1 / 19.0, p->h[2] = 1 / 17.0;
    p->dt = dt;
    p->zones = zones;
    p->zone = calloc((size_t)zones, sizeof *p->zone);
    assert_non_null(p->zone);
    p->max_nx = p->max_ny = p->max_nz = 0;
    p->max_sj = p->max_sk = p->max_sc = 0;
    for (int n = 0; n < zones; n++) {
        struct zone *z = &p->zone[n];
        z->nx = shape[n][0], z->ny = shape[n][1], z->nz = shape[n][2];
        zone_strides(z);
#define AT_LEAST(of) p->max_##of = z->of > p->max_##of ? z->of : p->max_##of
        AT_LEAST(nx), AT_LEAST(ny), AT_LEAST(nz), AT_LEAST(sj), AT_LEAST(sk), AT_LEAST(sc);
#undef AT_LEAST
        assert_int_equal(zone_alloc(p, z), 0);
        fill_zone(z, 5 + (unsigned)n);
    }
    open_scratch(b);
}

/* ---- the device's -------------------------------------------------------------------------- */

static int entry(const struct both *b, int n) { return b->p.zones - 1 - n; }

size_t both_at(const struct both *b, int n) { return b->at[entry(b, n)]; }

void both_device(struct both *b, const struct gpu_solver *solver, size_t max_work) {
    const struct problem *p = &b->p;
    b->number = both_memory((size_t)p->zones * sizeof *b->number);
    b->at = both_memory((size_t)p->zones * sizeof *b->at);
    size_t end = 512, bytes;
    for (int n = 0; n < p->zones; n++) {
        b->number[entry(b, n)] = n;
        b->at[entry(b, n)] = end;
        zone_block(p, &p->zone[n], &bytes);
        end += bytes + 64;
    }
    assert_ok(evn_device_open(&b->device, test_device(), 0));
    assert_ok(evn_queue_open(&b->queue, b->device));
    assert_ok(evn_buffer_open(&b->field, b->device, end));
    if (solver) {
        assert_ok(gpu_open(&b->gpu, p, solver, b->device, b->queue, max_work));
        assert_ok(gpu_batch(b->gpu, b->field, p->zones, b->number, b->at));
    }
    both_put(b);
}

void both_close(struct both *b) {
    gpu_close(b->gpu);
    evn_buffer_close(b->field);
    evn_queue_close(b->queue);
    evn_device_close(b->device);
    free(b->s.memory);
    free(b->number);
    free(b->at);
    problem_close(&b->p);
}

void both_put(struct both *b) {
    for (int n = 0; n < b->p.zones; n++) {
        size_t bytes;
        const void *block = zone_block(&b->p, &b->p.zone[n], &bytes);
        assert_ok(evn_copy_to_device(b->queue, b->field, both_at(b, n), block, bytes));
    }
    assert_ok(evn_queue_finish(b->queue));
}

static void fetch(struct both *b, int n, const struct zone *to) {
    size_t bytes;
    void *block = zone_block(&b->p, to, &bytes);
    assert_ok(evn_copy_to_host(b->queue, block, b->field, both_at(b, n), bytes));
    assert_ok(evn_queue_finish(b->queue));
}

struct zone both_get(struct both *b, int n) {
    struct zone z = b->p.zone[n];
    assert_int_equal(zone_alloc(&b->p, &z), 0);
    fetch(b, n, &z);
    return z;
}

/* ---- steps --------------------------------------------------------------------------------- */

void both_host_steps(struct both *b, int steps) {
    const struct problem *p = &b->p;
    for (int t = 0; t < steps; t++)
        for (int n = 0; n < p->zones; n++) p->solver->step(p, &p->zone[n], &b->s, &both_alone);
}

void both_device_steps(struct both *b, int steps) {
    for (int t = 0; t < steps; t++) {
        assert_ok(gpu_step(b->gpu));
        assert_ok(gpu_finish(b->gpu));
    }
    assert_ok(evn_queue_finish(b->queue));
}

long long both_launches(struct both *b, int steps) {
    evn_counts before = evn_device_counts(b->device, NULL);
    both_device_steps(b, steps);
    evn_counts after = evn_device_counts(b->device, NULL);
    const long long launches = after.launches - before.launches;
    assert_int_equal(after.waits - before.waits, 1);
    after.launches = before.launches;
    after.waits = before.waits;
    assert_memory_equal(&before, &after, sizeof before);
    return launches;
}

size_t both_largest_work(const struct both *b, const struct gpu_solver *solver) {
    size_t max = 0;
    for (int n = 0; n < b->p.zones; n++) {
        const size_t work = solver->work(&b->p, &b->p.zone[n]);
        if (work > max) max = work;
    }
    return (max + 31) / 32 * 32 * sizeof(double);
}

/* ---- comparisons --------------------------------------------------------------------------- */

int both_interior(const struct zone *z, int i, int j, int k) {
    return i > 0 && i < z->nx - 1 && j > 0 && j < z->ny - 1 && k > 0 && k < z->nz - 1;
}

void both_assert_field(const struct zone *z, int n, const evn_kernel_source *kernels,
                       const char *what, const double *a, const double *host) {
    for (int c = 0; c < NC; c++) {
        double largest = 0, max = 0;
        for (int k = 0; k < z->nz; k++)
            for (int j = 0; j < z->ny; j++)
                for (int i = 0; i < z->nx; i++) {
                    const ptrdiff_t at = c * z->sc + zone_at(z, i, j, k);
                    const double d = fabs(a[at] - host[at]);
                    if (fabs(host[at]) > largest) largest = fabs(host[at]);
                    if (d > max) max = d;
                    if (kernels->contract ? !isfinite(d) : memcmp(&a[at], &host[at], sizeof *a))
                        fail_msg("zone %d, %dx%dx%d: %s at (%d,%d,%d), component %d: %.17g, host "
                                 "%.17g",
                                 n, z->nx, z->ny, z->nz, what, i, j, k, c + 1, a[at], host[at]);
                }
        if (!(max <= 1e-12 * largest))
            fail_msg("zone %d, %dx%dx%d: %s, component %d, differs by %g from the host", n, z->nx,
                     z->ny, z->nz, what, c + 1, max / largest);
    }
}

void both_copy_interior(const struct zone *z, double *to, const double *from) {
    for (int c = 0; c < NC; c++)
        for (int k = 1; k < z->nz - 1; k++)
            for (int j = 1; j < z->ny - 1; j++) {
                const ptrdiff_t at = c * z->sc + zone_at(z, 1, j, k);
                memcpy(to + at, from + at, (size_t)(z->nx - 2) * sizeof *to);
            }
}

void both_assert_alike(struct both *b, const evn_kernel_source *kernels) {
    for (int n = 0; n < b->p.zones; n++) {
        const struct zone *host = &b->p.zone[n];
        struct zone z = both_get(b, n);
        both_assert_field(&z, n, kernels, "u", z.u, host->u);
        both_copy_interior(&z, z.u, host->u);
        if (z.r) {
            both_assert_field(&z, n, kernels, "r", z.r, host->r);
            both_copy_interior(&z, z.r, host->r);
        }
        size_t bytes;
        const double *got = zone_block(&b->p, &z, &bytes);
        const double *want = zone_block(&b->p, host, &bytes);
        for (size_t at = 0; at < bytes / sizeof *got; at++)
            if (memcmp(&got[at], &want[at], sizeof *got))
                fail_msg("zone %d, %dx%dx%d: place %td after u, which is no interior point, was %g "
                         "and became %g",
                         n, z.nx, z.ny, z.nz, got + at - z.u, want[at], got[at]);
        zone_free(&z);
    }
}
