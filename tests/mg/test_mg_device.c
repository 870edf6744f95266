/* MG's kernels against the sweeps of the host, operator by operator, with some planes of a level on
 * the device and with all: the same bits where nothing is fused, else to rounding. Run: ctest -R
 * mg_device; EVENER_TEST_DEVICE names another device than the emulated one. */
#include "check.h"
#include "common/run/huge_alloc.h"
#include "mg/blocks/block_team.h"
#include "mg/blocks/blocks.h"
#include "mg/device/device.h"

#include <math.h>

extern const evn_kernel_source mg_kernels;

static struct fixture {
    evn_device *device;
    evn_queue *queue;
    struct problem p;
    struct work work;
    struct part part;
    int n, top;
} f;

static double random_value(void) {
    static uint64_t x = 88172645463325252u;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return (double)(x >> 11) / (double)((uint64_t)1 << 52) - 1;
}

static void fill(const struct level *l, double *field) {
    for (int k = 0; k < l->n; k++)
        for (int j = 0; j < l->n; j++)
            for (int i = 0; i < l->n; i++) field[k * l->plane + j * l->row + i] = random_value();
}

static struct charges charges_of(int n) {
    static struct candidate found[4096];
    struct charges charges;
    const int count = charges_look(n, 0, n, 64, found, 4096);
    assert_int_equal(charges_choose(&charges, n, found, count), 0);
    return charges;
}

static void put(const struct level *l, int level, const double *from, evn_buffer *to) {
    for (int k = 0; k < l->n; k++)
        if (f.part.field[level].slot[k] >= 0)
            assert_ok(evn_copy_to_device(f.queue, to, part_at(&f.part, level, k),
                                         from + k * l->plane, (size_t)l->plane * sizeof(double)));
    assert_ok(evn_queue_finish(f.queue));
}

/* Random fields on the host and, of what is wanted, on the device: planes [begin - 2, end + 2) of
 * the finest level and what lies under them. */
static void begin(int n, int from, int to) {
    f.n = n;
    f.p = (struct problem){.smoother = {-3.0 / 17, 1.0 / 33, -1.0 / 61}, .charges = charges_of(n)};
    f.p.square = calloc(8 * (size_t)n, sizeof(double));
    assert_ok(grid_open(&f.p.grid, n));
    assert_int_equal(work_open(&f.work, n), 0);
    f.top = f.p.grid.finest;
    assert_ok(part_open(&f.part, f.device, f.queue, &f.p));
    for (int l = 1; l <= f.top; l++) {
        unsigned char wanted[64] = {0};
        const int m = f.p.grid.level[l].n;
        for (int k = from * m / n - 2; k < (to * m + n - 1) / n + 2; k++) wanted[k & (m - 1)] = 1;
        part_want(&f.part, l, wanted);
    }
    assert_ok(part_fit(&f.part));
    assert_ok(part_charges(&f.part, &f.p.charges));
    for (int l = 1; l <= f.top; l++) {
        struct level *level = &f.p.grid.level[l];
        fill(level, level->u);
        put(level, l, level->u, f.part.field[l].u);
        if (!level->r) continue;
        fill(level, level->r);
        put(level, l, level->r, f.part.field[l].r);
    }
}

static void end(void) {
    part_close(&f.part);
    work_close(&f.work);
    grid_close(&f.p.grid);
    free(f.p.square);
}

static void same(const double *a, const double *b, int count) {
    for (int i = 0; i < count; i++)
        if (mg_kernels.contract ? !(fabs(a[i] - b[i]) <= 1e-14) : evn_bits(a[i]) != evn_bits(b[i]))
            fail_msg("%a on the device, %a on the host, number %d of %d", a[i], b[i], i, count);
}

/* Planes [begin, end) of a level, as the host has them in `field`. */
static void as_host(evn_buffer *buffer, int level, const double *field, int begin, int end) {
    const struct level *l = &f.p.grid.level[level];
    double *plane = malloc((size_t)l->plane * sizeof *plane);
    for (int k = begin; k < end; k++) {
        assert_ok(evn_copy_to_host(f.queue, plane, buffer, part_at(&f.part, level, k),
                                   (size_t)l->plane * sizeof *plane));
        assert_ok(evn_queue_finish(f.queue));
        for (int j = 0; j < l->n; j++)
            same(plane + j * l->row, field + k * l->plane + j * l->row, l->n);
    }
    free(plane);
}

/* The levels below a range, down and up; one range, and two that leave something out. */
static void below(int from, int to) {
    for (int l = f.top - 1; l > f.top - 3 && l > 1; l--) {
        const int a = from >> (f.top - l + 1), b = to >> (f.top - l + 1);
        sweep_down(&f.p, l, a, b);
        assert_ok(part_down(&f.part, l - 1, &a, &b, 1));
        as_host(f.part.field[l - 1].r, l - 1, f.p.grid.level[l - 1].r, a, b);
    }
    for (int l = f.top - 2; l < f.top; l++) {
        const int a = from >> (f.top - l), b = to >> (f.top - l);
        if (l < 2 || b - a < 2) continue;
        sweep_up(&f.p, &f.work, l, a, b, NULL, 0);
        assert_ok(part_up(&f.part, l, &a, &b, 1));
        as_host(f.part.field[l].u, l, f.p.grid.level[l].u, a, b);
    }
}

static void finest(int from, int to) {
    struct level *level = &f.p.grid.level[f.top], *second = &f.p.grid.level[f.top - 1];
    const int a = from / 2 + 1, b = to / 2 - 1;
    const int first[] = {from, to - 3}, last[] = {from + 2, to};
    double *aside = room((size_t)(SWEEP_ASIDE * level->plane) * sizeof(double));
    double *square = calloc(8 * (size_t)f.n, sizeof *square);
    sweep_residual(&f.p, &f.work, from, to, SWEEP_SQUARES);
    assert_ok(part_squares(&f.part, first, last, 2));
    for (int i = 0; i < 2; i++) {
        assert_ok(part_fetch_squares(&f.part, square, first[i], last[i]));
        for (int q = 8 * first[i]; q < 8 * last[i]; q++)
            if (mg_kernels.contract)
                assert_true(fabs(square[q] - f.p.square[q]) <= 1e-12 * f.p.square[q]);
            else
                assert_true(square[q] == f.p.square[q]);
    }
    sweep_residual(&f.p, &f.work, from, to, SWEEP_RESTRICT);
    assert_ok(part_down(&f.part, f.top - 1, &a, &b, 1));
    as_host(f.part.field[f.top - 1].r, f.top - 1, second->r, a, b);
    sweep_aside(&f.p, from, to, aside);
    sweep_up(&f.p, &f.work, f.top, from, to, aside, 0);
    assert_ok(part_up(&f.part, f.top, &from, &to, 1));
    as_host(part_u(&f.part, f.top), f.top, level->u, from, to);
    part_swap(&f.part);
    as_host(f.part.field[f.top].u, f.top, level->u, from, to);
    free(square);
    free(aside);
}

TEST(some) {
    static const int range[][2] = {{0, 8}, {8, 16}, {4, 12}, {0, 16}};
    for (int n = 16; n <= 64; n *= 2)
        for (int i = 0; i < 4; i++) {
            const int from = range[i][0] * n / 16, to = range[i][1] * n / 16;
            begin(n, from, to);
            below(from, to);
            finest(from, to);
            end();
        }
}

/* Levels of 2 points and up, in one go. */
TEST(coarse) {
    for (int n = 16; n <= 64; n *= 2)
        for (int top = 1; (2 << top) <= n; top++) {
            begin(n, 0, n);
            sweep_below(&f.p, &f.work, top);
            assert_ok(part_below(&f.part, top));
            for (int l = 1; l <= top; l++)
                as_host(f.part.field[l].u, l, f.p.grid.level[l].u, 0, 1 << l);
            end();
        }
}

/* Planes that stay keep what they hold when others are wanted, and u where it was swept to. */
TEST(more_planes) {
    unsigned char wanted[32];
    begin(32, 0, 8);
    memset(wanted, 1, sizeof wanted);
    wanted[3] = 0;
    part_want(&f.part, f.top, wanted);
    assert_ok(part_fit(&f.part));
    const struct level *level = &f.p.grid.level[f.top];
    as_host(f.part.field[f.top].u, f.top, level->u, 0, 3);
    as_host(f.part.field[f.top].u, f.top, level->u, 4, 10);
    unsigned char taken[32] = {0};
    for (int k = 0; k < 32; k++) {
        const int slot = f.part.field[f.top].slot[k];
        assert_true(slot >= (k == 3 ? -1 : 0) && slot < 31);
        if (slot >= 0) assert_int_equal(taken[slot]++, 0);
    }
    double largest;
    assert_true(part_needs(&f.part, &largest) > 2 * largest);
    assert_true(largest == 31.0 * (double)level->plane * sizeof(double));
    end();
}

/* A block with ghost cells, beside the host's: all of u and r on each level, after each cycle. */
static void as_block(const struct block_team *team, const struct blocks *b, int l) {
    const struct block_layout *at = &team->block[0].is.at;
    const struct device_field *field[] = {&at->level[l].u, &at->level[l].r};
    const double *host[] = {b->level[l].u.at, b->level[l].r.at};
    const size_t count = (size_t)field_doubles(field[0]), bytes = count * sizeof(double);
    double *here = malloc(bytes);
    for (int i = 0; i < 2; i++) {
        const size_t from = (size_t)field[i]->place.at * sizeof(double);
        assert_ok(evn_copy_to_host(f.queue, here, team->all, from, bytes));
        assert_ok(evn_queue_finish(f.queue));
        same(here, host[i], (int)count);
    }
    free(here);
}

TEST(block) {
    for (int n = 16; n <= 32; n *= 2)
        for (int how = 0; how < 4; how++) {
            const struct charges charges = charges_of(n);
            const char smoother = how & 1 ? 'b' : 'a';
            const int rank = 0;
            struct blocks host, faces;
            struct block_team team;
            double sum, wanted;
            assert_ok(blocks_open(&host, NULL, n, smoother, 1, 0, 0));
            assert_ok(blocks_open(&faces, NULL, n, smoother, 0, 0, 0));
            assert_ok(block_team_open(&team, f.device, &faces.faces, &rank, 1, n, 1, smoother));
            host.overlap = team.overlap = how / 2;
            blocks_start(&host, &charges);
            assert_ok(block_team_start(&team, &charges));
            assert_ok(blocks_residual(&host));
            assert_ok(block_team_residual(&team));
            for (int i = 0; i < 3; i++) {
                assert_ok(blocks_cycle(&host));
                assert_ok(block_team_cycle(&team));
                for (int l = 1; l <= host.finest; l++) as_block(&team, &host, l);
            }
            wanted = blocks_squares(&host);
            assert_ok(block_team_squares(&team, &sum));
            assert_true(fabs(sum - wanted) <= 1e-12 * wanted);
            block_team_close(&team);
            blocks_close(&faces);
            blocks_close(&host);
        }
}

int main(void) {
    const int skipped = test_devices(&mg_kernels, NULL);
    if (skipped) return skipped;
    if (evn_device_open(&f.device, test_device(), 0) || evn_queue_open(&f.queue, f.device)) {
        printf("%s\n", evn_message());
        return 1;
    }
    const int failed = run_all_tests(NULL, NULL);
    evn_queue_close(f.queue);
    evn_device_close(f.device);
    return failed;
}
