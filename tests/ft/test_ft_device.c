/* The passes of FT on a device beside the host's: rows along x, lines along y and z of all lengths,
 * both signs, the decay, the field at the start, points. The same bits where nothing is contracted,
 * and on the emulated device as its compiler has it. The device is check.h's. Run: ctest -R
 * ft_device. */
#include "check.h"
#include "ft/device/engine.h"
#include "ft/host/start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const evn_kernel_source ft_kernels;

/* Planes of layout Z without gaps, then slabs of layout Y; a way of each. */
struct both {
    struct transform t;
    evn_device *device;
    evn_queue *queue;
    struct engine *engine;
    evn_buffer *memory, *ways, *plane_numbers, *row_numbers;
    size_t row, plane, slab, slabs, doubles;
    double *host, *got; /* as the device has it */
    double *work;
    double *axes;
    struct decay decay;
};

static double value(size_t i) {
    const uint64_t m = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (int32_t)((m ^ m >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 32) * 0x1p-31;
}

/* Ways of planes by y, of slabs by z, and of both the other way round. */
static void make_ways(struct both *b) {
    const int ny = b->t.ny, nz = b->t.nz;
    const evn_long row = (evn_long)b->row, plane = (evn_long)b->plane, slab = (evn_long)b->slab;
    const evn_long slabs = (evn_long)b->slabs, line = (evn_long)nz * PACK;
    struct engine_way *way = calloc(2 * (size_t)(ny + nz), sizeof *way);
    assert_non_null(way);
    for (int y = 0; y < ny; y++) {
        way[y] = (struct engine_way){.at = y * row, .here = plane, .pack = PACK};
        way[ny + nz + y] = (struct engine_way){.at = slabs + y * slab, .all = PACK, .pack = line};
    }
    for (int z = 0; z < nz; z++) {
        way[ny + z] =
            (struct engine_way){.at = slabs + (evn_long)z * PACK, .here = slab, .pack = line};
        way[2 * ny + nz + z] = (struct engine_way){.at = z * plane, .all = row, .pack = PACK};
    }
    const size_t bytes = 2 * (size_t)(ny + nz) * sizeof *way;
    assert_ok(evn_buffer_open(&b->ways, b->device, bytes));
    assert_ok(evn_copy_to_device(b->queue, b->ways, 0, way, bytes));
    assert_ok(evn_queue_finish(b->queue));
    free(way);
}

static evn_buffer *numbers(struct both *b, int count) {
    evn_buffer *buffer;
    int *number = malloc((size_t)count * sizeof *number);
    for (int i = 0; i < count; i++) number[i] = i;
    assert_ok(evn_buffer_open(&buffer, b->device, (size_t)count * sizeof *number));
    assert_ok(evn_copy_to_device(b->queue, buffer, 0, number, (size_t)count * sizeof *number));
    assert_ok(evn_queue_finish(b->queue));
    free(number);
    return buffer;
}

static double *memory(size_t doubles) {
    double *at = aligned_alloc(64, (doubles * sizeof *at + 63) / 64 * 64);
    assert_non_null(at);
    return at;
}

static void both_open(struct both *b, int nx, int ny, int nz) {
    *b = (struct both){0};
    assert_int_equal(transform_open(&b->t, nx, ny, nz), 0);
    b->t.row = 2 * nx; /* the host's without gaps, too */
    b->row = 2 * (size_t)nx;
    b->plane = b->row * (size_t)ny;
    b->slab = transform_slab(&b->t);
    b->slabs = b->plane * (size_t)nz;
    b->doubles = b->slabs + b->slab * (size_t)ny;
    assert_ok(evn_device_open(&b->device, test_device(), 0));
    assert_ok(evn_queue_open(&b->queue, b->device));
    assert_ok(engine_open(&b->engine, b->device, &b->t));
    assert_ok(evn_buffer_open(&b->memory, b->device, b->doubles * sizeof(double)));
    make_ways(b);
    b->plane_numbers = numbers(b, nz);
    b->row_numbers = numbers(b, ny);
    b->host = memory(b->doubles);
    b->got = memory(b->doubles);
    b->work = memory(transform_workspace(&b->t));
    b->axes = malloc((size_t)(nx + ny + nz) * sizeof *b->axes);
    for (int i = 0; i < nx + ny + nz; i++) b->axes[i] = exp(-0.01 * i);
    b->decay = (struct decay){b->axes, b->axes + nx, b->axes + nx + ny};
}

static void both_close(struct both *b) {
    engine_close(b->engine);
    evn_buffer_close(b->memory);
    evn_buffer_close(b->ways);
    evn_buffer_close(b->plane_numbers);
    evn_buffer_close(b->row_numbers);
    evn_queue_close(b->queue);
    evn_device_close(b->device);
    transform_close(&b->t);
    free(b->host);
    free(b->got);
    free(b->work);
    free(b->axes);
}

/* The same on both. */
static void fill(struct both *b) {
    for (size_t i = 0; i < b->doubles; i++) b->host[i] = value(i);
    assert_ok(evn_copy_to_device(b->queue, b->memory, 0, b->host, b->doubles * sizeof(double)));
    assert_ok(evn_queue_finish(b->queue));
}

/* All of it: what a pass has made, and what it has to leave alone. */
static void compare(struct both *b, int length) {
    assert_ok(evn_copy_to_host(b->queue, b->got, b->memory, 0, b->doubles * sizeof(double)));
    assert_ok(evn_queue_finish(b->queue));
    const double most = 2.2e-16 * (2 + log2(length)) * sqrt(length) * ft_kernels.contract;
    for (size_t i = 0; i < b->doubles; i++)
        if (!(fabs(b->got[i] - b->host[i]) <= most))
            fail_msg("length %d, %zu: %.17g and %.17g", length, i, b->got[i], b->host[i]);
}

static struct engine_job job(struct both *b, int on_rows, int from, int to, enum line_sign sign) {
    return (struct engine_job){.queue = b->queue,
                               .memory = b->memory,
                               .ways = b->ways,
                               .numbers = on_rows ? b->row_numbers : b->plane_numbers,
                               .from = from,
                               .to = to,
                               .sign = sign};
}

static const enum line_sign signs[] = {LINE_MINUS, LINE_PLUS};

/* ---- the passes ----------------------------------------------------------------------------- */

TEST(along_x) {
    for (int n = 8; n <= ENGINE_LONGEST; n *= 2)
        for (int s = 0; s < 2; s++) {
            struct both b;
            both_open(&b, n, 4, 4);
            struct engine_job j = job(&b, 0, 0, 0, signs[s]);
            fill(&b);
            j.first = 1, j.count = 2; /* the others stay */
            assert_ok(engine_x(b.engine, &j));
            for (int z = 1; z < 3; z++)
                transform_x(&b.t, b.host + b.plane * (size_t)z, 0, 4, signs[s], b.work);
            compare(&b, n);
            both_close(&b);
        }
}

TEST(along_y) {
    for (int n = 2; n <= ENGINE_LONGEST; n *= 2)
        for (int s = 0; s < 2; s++) {
            struct both b;
            both_open(&b, 16, n, 4);
            double **slab = malloc((size_t)n * sizeof *slab);
            for (int y = 0; y < n; y++) slab[y] = b.host + b.slabs + b.slab * (size_t)y;
            struct engine_job j = job(&b, 0, 0, n + 4, signs[s]);
            fill(&b);
            j.first = 1, j.count = 3;
            assert_ok(engine_y(b.engine, &j));
            for (int z = 1; z < 4; z++)
                transform_y_to_slabs(&b.t, b.host + b.plane * (size_t)z, z, slab, 0, 2, signs[s],
                                     b.work);
            compare(&b, n);
            free(slab);
            both_close(&b);
        }
}

TEST(along_z) {
    for (int n = 2; n <= ENGINE_LONGEST; n *= 2)
        for (int s = 0; s < 4; s++) {
            struct both b;
            both_open(&b, 32, 4, n);
            double **plane = malloc((size_t)n * sizeof *plane);
            for (int z = 0; z < n; z++) plane[z] = b.host + b.plane * (size_t)z;
            struct engine_job j = job(&b, 1, 4, 2 * 4 + n, signs[s % 2]);
            fill(&b);
            j.first = 1, j.count = 2;
            assert_ok(engine_decay(b.engine, b.queue, &b.decay));
            assert_ok(engine_z(b.engine, &j, s / 2));
            for (int y = 1; y < 3; y++)
                transform_z_to_planes(&b.t, b.host + b.slabs + b.slab * (size_t)y, y,
                                      s / 2 ? &b.decay : NULL, plane, y * b.t.row, 0, 4, NULL,
                                      signs[s % 2], b.work);
            compare(&b, n);
            free(plane);
            both_close(&b);
        }
}

TEST(start) {
    for (int n = 8; n <= 64; n *= 8) {
        struct both b;
        both_open(&b, n, 8, 4);
        struct engine_job j = job(&b, 0, 0, 0, LINE_PLUS);
        fill(&b);
        j.first = 1, j.count = 3;
        assert_ok(engine_start(b.engine, &j));
        for (int z = 1; z < 4; z++) start_rows(&b.t, b.host + b.plane * (size_t)z, z, 0, 8);
        compare(&b, 1);
        both_close(&b);
    }
}

TEST(points) {
    struct both b;
    both_open(&b, 32, 8, 16);
    evn_buffer *at;
    evn_long where[300];
    for (int i = 0; i < 300; i++) where[i] = (i * 37 % 500) * PACK + i % 8;
    assert_ok(evn_buffer_open(&at, b.device, sizeof where));
    fill(&b);
    assert_ok(evn_copy_to_device(b.queue, at, 0, where, sizeof where));
    assert_ok(engine_points(b.engine, b.queue, b.memory, at, 300, b.slabs));
    for (int i = 0; i < 300; i++) {
        b.host[b.slabs + 2 * (size_t)i] = b.host[where[i]];
        b.host[b.slabs + 2 * (size_t)i + 1] = b.host[where[i] + 8];
    }
    compare(&b, 1);
    evn_buffer_close(at);
    both_close(&b);
}

TEST(too_long) {
    struct transform t;
    struct engine *engine;
    evn_device *device;
    assert_ok(evn_device_open(&device, test_device(), 0));
    assert_int_equal(transform_open(&t, 8, 2, 2 * ENGINE_LONGEST), 0);
    assert_int_equal(engine_open(&engine, device, &t), EVN_USAGE);
    assert_null(engine);
    transform_close(&t);
    evn_device_close(device);
}

int main(void) {
    const int skipped = test_devices(&ft_kernels, NULL);
    return skipped ? skipped : run_all_tests(NULL, NULL);
}
