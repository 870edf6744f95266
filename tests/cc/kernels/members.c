/* Members of structures, structures in memory and by value, pointers within functions, unsigned
 * numbers, assertions; prints numbers that must be the same wherever it runs. */
#include <assert.h>
#include <omp_cu.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROOM 4
typedef double real;
typedef real vector[3];
struct atoms {
    vector *at, *force;
    real *energy;
    const char *unused;
};
typedef struct box {
    int boxes, size[2];
    struct { /* members of a member */
        real cut[2], scale;
    } limits;
    int *count;
    int (*near)[3];
} box;
struct system {
    struct atoms *atoms;
    struct box *box;
    void (*none)(void);
};
typedef struct {
    double energy, value[2];
    int kind;
} point;

static void zero(vector v) { v[0] = v[1] = v[2] = 0; }

/* Forces between atoms of neighbouring boxes. */
static void forces(struct system *s, real *sums) {
    const int all = s->box->boxes * ROOM;
#pragma omp target teams distribute parallel for
    for (int i = 0; i < all; ++i) {
        zero(s->atoms->force[i]);
        s->atoms->energy[i] = 0.;
    }
#pragma omp target teams distribute parallel for
    for (int a = 0; a < s->box->boxes; a++) {
        real most = 0;
        for (int n = 0; n < 3; n++) {
            const int b = s->box->near[a][n];
            assert(b >= 0 && b < s->box->boxes);
            for (int i = a * ROOM; i < a * ROOM + s->box->count[a]; i++)
                for (int j = b * ROOM; j < b * ROOM + s->box->count[b]; j++) {
                    vector d;
                    real r = 0;
                    for (int m = 0; m < 3; m++) {
                        d[m] = s->atoms->at[i][m] - s->atoms->at[j][m];
                        r += d[m] * d[m];
                    }
                    if (r > s->box->limits.cut[1] || r <= s->box->limits.cut[0]) continue;
                    s->atoms->energy[i] += 0.5 / r;
                    for (int m = 0; m < 3; m++)
                        s->atoms->force[i][m] -= s->box->limits.scale * d[m];
                    if (r > most) most = r;
                }
        }
        sums[a] = most + s->box->size[1];
    }
}

/* Defined behind what calls them. */
static uint64_t forward(uint64_t seed, uint64_t n);
static double drawn(uint64_t *seed);
static void find(const point *grid, int n, double energy, double *out);

static void look_up(box b, point *grid, int n, double (*found)[2], unsigned long *seeds,
                    point *copy, point offset) {
    const unsigned step = 3u;
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++) {
        uint64_t seed = forward(1070, step * (unsigned)i);
        double out[2] = {0};
        const double energy = drawn(&seed) * b.limits.scale;
        find(grid, n, energy, out);
        find(&grid[0], n / 2, energy / 2, &out[1]);
        for (int k = 0; k < 2; k++) found[i][k] = out[k] + offset.value[k];
        seeds[i] = (unsigned long)seed;
        point mine = grid[i];
        mine.kind += b.size[0];
        copy[i] = mine;
        copy[i].value[1] = offset.energy;
    }
}

static void find(const point *grid, int n, double energy, double *out) {
    const point *low, *high;
    int from = 0, to = n - 1;
    while (to - from > 1) {
        const int middle = (from + to) / 2;
        if (grid[middle].energy > energy)
            to = middle;
        else
            from = middle;
    }
    low = &grid[from];
    high = low + 1;
    const double f = (high->energy - energy) / (high->energy - low->energy);
    *out = high->value[0] - f * (high->value[0] - low->value[0]) + (*low).kind;
}

static double drawn(uint64_t *seed) {
    *seed = (2806196910506780709ULL * (*seed) + 1) % 9223372036854775808ULL;
    return (double)(*seed) / 9223372036854775808.0;
}

static uint64_t forward(uint64_t seed, uint64_t n) {
    while (n > 0) {
        if (n & 1) seed = seed * 2806196910506780709ULL + 1;
        seed ^= seed >> 7;
        n >>= 1;
    }
    return seed;
}

enum { BOXES = 60, ALL = BOXES * ROOM, N = 200 };
static vector at[ALL], force[ALL];
static real energy[ALL], sums[BOXES];
static int count[BOXES], near[BOXES][3];
static point grid[N], copy[N];
static double found[N][2];
static unsigned long seeds[N];

int main(void) {
    struct atoms atoms = {at, force, energy, "none"};
    box b = {BOXES, {2, 5}, {{1e-3, 0.6}, 1.25}, count, near};
    struct system s = {&atoms, &b, NULL};
    const point offset = {0.125, {1, 2}, 3};
    for (int i = 0; i < ALL * 3; i++) at[i / 3][i % 3] = (i * 37 % 101) / 101.0;
    for (int i = 0; i < BOXES; i++) {
        count[i] = 1 + i % ROOM;
        for (int k = 0; k < 3; k++) near[i][k] = (i + k) % BOXES;
    }
    for (int i = 0; i < N; i++) grid[i] = (point){i / 160.0, {(i * 7 % 13) * 0.25, 9}, i % 3};
    omp_register(at, sizeof at), omp_register(force, sizeof force);
    omp_register(energy, sizeof energy), omp_register(sums, sizeof sums);
    omp_register(count, sizeof count), omp_register(near, sizeof near);
    omp_register(grid, sizeof grid), omp_register(copy, sizeof copy);
    omp_register(found, sizeof found), omp_register(seeds, sizeof seeds);
#pragma omp teams distribute OMP_CU(num_teams(1 : CPU : 1))
    for (int once = 0; once < 1; once++) {
        forces(&s, sums);
        look_up(b, grid, N - 1, found, seeds, copy, offset);
    }
    omp_migrate(force), omp_migrate(energy), omp_migrate(sums), omp_migrate(found);
    omp_migrate(seeds), omp_migrate(copy);
    double all = 0, more = 0;
    unsigned long bits = 0;
    for (int i = 0; i < ALL; i++) all += energy[i] + force[i][1] * i + force[i][2];
    for (int i = 0; i < BOXES; i++) all += sums[i];
    for (int i = 0; i < N; i++) {
        more += found[i][0] + 2 * found[i][1] + copy[i].kind + copy[i].value[1];
        bits = 31 * bits + seeds[i];
    }
    printf("%.17g %.17g %lx\n", all, more, bits);
    return 0;
}
