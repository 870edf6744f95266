/* Heat in a bar of 64 zones of uneven length, on CPU and GPU units, without a kernel of its own:
 *     evener-cc --kernels -O2 stencil.c -o stencil -lm && EVENER_DEVICES=emulated ./stencil
 * Any other compiler makes a program for cores of it. A zone's ends, old and new, are arrays of
 * their own, which neighbours read wherever they are. */
#include <math.h>
#include <omp_cu.h>
#include <stdio.h>
#include <stdlib.h>

enum { ZONES = 64, NY = 12, NX = 16, STEPS = 20 };

struct zone {
    int nz;
    void *u, *v, *first[2], *last[2];
};

static void *field(int nz) {
    const size_t bytes = (size_t)nz * NY * NX * sizeof(double);
    void *u = calloc(1, bytes);
    if (!u || omp_register(u, bytes)) exit(1);
    return u;
}

static void copy_ends(int nz, double (*u)[NY][NX], double (*first)[NX], double (*last)[NX]) {
#pragma omp target teams distribute parallel for collapse(2)
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++) {
            first[j][i] = u[0][j][i];
            last[j][i] = u[nz - 1][j][i];
        }
}

static void stencil(int nz, double (*u)[NY][NX], double (*v)[NY][NX], double (*under)[NX],
                    double (*above)[NX]) {
#pragma omp target teams distribute parallel for collapse(3)
    for (int k = 0; k < nz; k++)
        for (int j = 1; j < NY - 1; j++)
            for (int i = 1; i < NX - 1; i++) {
                double sum = u[k][j][i - 1] + u[k][j][i + 1] + u[k][j - 1][i] + u[k][j + 1][i];
                sum += k > 0 ? u[k - 1][j][i] : under[j][i];
                sum += k < nz - 1 ? u[k + 1][j][i] : above[j][i];
                v[k][j][i] = 0.25 * u[k][j][i] + 0.125 * sum;
            }
}

static double update(int nz, double (*u)[NY][NX], double (*v)[NY][NX]) {
    double norm = 0;
#pragma omp target teams distribute parallel for collapse(3) reduction(+ : norm)
    for (int k = 0; k < nz; k++)
        for (int j = 1; j < NY - 1; j++)
            for (int i = 1; i < NX - 1; i++) {
                norm += (v[k][j][i] - u[k][j][i]) * (v[k][j][i] - u[k][j][i]);
                u[k][j][i] = v[k][j][i];
            }
    return norm;
}

int main(void) {
    struct zone zone[ZONES];
    for (int n = 0; n < ZONES; n++) {
        const int nz = 4 + n % 9;
        const struct zone z = zone[n] =
            (struct zone){nz, field(nz), field(nz), {field(1), field(1)}, {field(1), field(1)}};
        for (int p = 0; p < nz * NY * NX; p++) ((double *)z.u)[p] = (n + p) % 17;
        copy_ends(nz, z.u, z.first[0], z.last[0]);
    }
    for (int step = 0, old = 0; step < STEPS; step++, old = 1 - old) {
        double change = 0;
#pragma omp teams distribute OMP_CU(num_teams(auto) dist_schedule(dynamic)) reduction(+ : change)
        for (int n = 0; n < ZONES; n++) {
            struct zone *z = &zone[n];
            stencil(z->nz, z->u, z->v, zone[(n + ZONES - 1) % ZONES].last[old],
                    zone[(n + 1) % ZONES].first[old]);
            change += update(z->nz, z->u, z->v);
            copy_ends(z->nz, z->u, z->first[1 - old], z->last[1 - old]);
        }
        if (step % 5 == 4) printf("step %2d: change %.10g\n", step + 1, sqrt(change));
    }
    return 0;
}
