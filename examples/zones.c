/* The program of the paper on compute units in OpenMP (figures 11, 12, 14 and 15): a plate in 64
 * zones of uneven height. Each unit advances whole zones, on its cores or its device; then zones
 * exchange the rows at their borders, wherever they are. EVENER_UNITS=1:CPU:1,2:GPU:1
 * EVENER_DEVICES=emulated EVENER_REPORT=1 ./zones A compiler that is not evener-cc makes a serial
 * program of it, with the same result. */
#include "stencil.h"
#include <omp_cu.h>
#include <stdio.h>
#include <stdlib.h>

enum { ZONES = 64, STEPS = 20 };
struct zone {
    int rows;      /* rows of the zone, beside the neighbours' one above and one below */
    double *u, *v; /* this step's values, and the next one's */
};
extern const evn_kernel_source stencil_kernels; /* made from stencil.kernel.c by evener_kernels() */

static size_t bytes(const struct zone *z) { return sizeof(double) * ROW * (size_t)(z->rows + 2); }

static void register_zone(struct zone *z, int number) {
    z->rows = 2 + number * 7 % 23;
    z->u = malloc(bytes(z));
    z->v = malloc(bytes(z));
    if (!z->u || !z->v) exit(1);
    for (int at = 0; at < (z->rows + 2) * ROW; at++) z->u[at] = z->v[at] = (number * 5 + at) % 17;
    if (omp_register(z->u, bytes(z)) || omp_register(z->v, bytes(z))) exit(1);
}

static void migrate_zone(const struct zone *z) {
    omp_migrate_for(z->u, EVN_READ);
    omp_migrate(z->v);
}

/* Figure 12: on cores or on a device, where the zone is now. */
static void stage(const struct zone *z) {
    int points = z->rows * ROW;
    if (omp_is_cpu()) {
#pragma omp parallel for num_threads(omp_get_num_threads())
        for (int at = ROW; at < ROW + points; at++) z->v[at] = MEAN(z->u, at);
    } else if (omp_is_gpu()) {
        omp_cu_launch(&stencil_kernels, "stencil", (points + 127) / 128, OMP_CU_MEMORY(z->u),
                      OMP_CU_MEMORY(z->v), OMP_CU_VALUE(points));
    }
}

/* Figures 14 and 15: rows at the border between two zones. Returns how many bytes left a device or
 * came to one. */
static size_t exchange(const struct zone *above, const struct zone *below) {
    const size_t row = sizeof(double) * ROW;
    omp_cu_copy(below->u, above->u + above->rows * ROW, row);
    omp_cu_copy(above->u + (above->rows + 1) * ROW, below->u + ROW, row);
    return omp_get_data_placement(above->u) == omp_get_data_placement(below->u) ? 0 : 2 * row;
}

int main(void) {
    struct zone mesh[ZONES];
    size_t moved = 0;
    double sum = 0;
    for (int zone = 0; zone < ZONES; zone++) register_zone(&mesh[zone], zone);
    for (int step = 0; step < STEPS; step++) {
        for (int zone = 1; zone < ZONES; zone++) moved += exchange(&mesh[zone - 1], &mesh[zone]);
#pragma omp teams num_teams(4 : CPU : 4, 2 : GPU : 1)
#pragma omp distribute dist_schedule(dynamic) weight(mesh[zone].rows)
        for (int zone = 0; zone < ZONES; zone++) {
            migrate_zone(&mesh[zone]);
            stage(&mesh[zone]);
        }
        for (int zone = 0; zone < ZONES;
             zone++) { /* what was computed is where the next step begins */
            double *u = mesh[zone].u;
            mesh[zone].u = mesh[zone].v;
            mesh[zone].v = u;
        }
    }
    for (int zone = 0; zone < ZONES; zone++) {
        omp_migrate(mesh[zone].u); /* moves the field to the host */
        for (int at = ROW; at < (mesh[zone].rows + 1) * ROW; at++)
            sum = 0.999 * sum + mesh[zone].u[at];
        omp_unregister(mesh[zone].u);
        omp_unregister(mesh[zone].v);
        free(mesh[zone].u);
        free(mesh[zone].v);
    }
    fprintf(stderr, "%u units, %zu bytes exchanged between them\n", omp_get_num_cus(), moved);
    printf("%.17g\n", sum);
    return 0;
}
