/* bench td-bem --solvers: conjugate gradients on one core, on all of them and on a device, and
 * MUMPS, one after the other on the same right-hand side; what each costs once and a solution, and
 * how well it solves. */
#include "tdbem/study/solvers.h"
#include "tdbem/solve/solve.h"
#include <evener.h>
#include <evener/device.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct study {
    struct slices_csr m;
    double *b, *a;
    double base; /* time of a solution on one core */
};

/* |b - M_0 a| over |b| */
static double residual(const struct study *s) {
    double r2 = 0, b2 = 0;
    for (int i = 0; i < s->m.rows; i++) {
        double r = s->b[i];
        for (size_t e = s->m.start[i]; e < s->m.start[i + 1]; e++)
            r -= s->m.value[e] * s->a[s->m.column[e]];
        r2 += r * r;
        b2 += s->b[i] * s->b[i];
    }
    return sqrt(r2 / b2);
}

/* One line: from no first guess, the least of some hundred times. */
static evn_status measure(struct study *s, enum solver_kind kind, evn_units *units,
                          const char *where) {
    enum { TIMES = 200 };
    struct solver *solver = NULL;
    evn_crew *crew = NULL;
    double once = INFINITY, each = INFINITY;
    long long iterations = 0;
    evn_status status = evn_crew_open(&crew, units, 0);
    for (int i = 0; !status && i < 3; i++) {
        const double begin = evn_now();
        solver_close(solver);
        status = solver_open(&solver, &s->m, kind, 1e-13);
        if (!status) status = solver_attach(solver, units, 1, 0);
        once = fmin(once, evn_now() - begin);
    }
    const double began = evn_now();
    for (int i = 0; !status && i < TIMES && (i < 3 || evn_now() - began < 2); i++) {
        memset(s->a, 0, sizeof *s->a * (size_t)s->m.rows);
        const long long before = solver_iterations(solver);
        const double begin = evn_now();
        status = solver_solve(solver, crew, s->b, s->a);
        each = fmin(each, evn_now() - begin);
        iterations = solver_iterations(solver) - before;
    }
    if (!status) {
        if (s->base == 0) s->base = each;
        printf("  %-10s %-28.28s  %9.3f  %9.1f  %10lld  %9.1e  %9zu  %7.2f\n", solver_name(kind),
               where, 1e3 * once, 1e6 * each, iterations, residual(s), solver_entries(solver),
               s->base / each);
        fflush(stdout);
    }
    solver_close(solver);
    evn_crew_close(crew);
    return status;
}

static evn_status on_cores(struct study *s, const evn_machine *machine, int cores) {
    char text[32], where[32];
    evn_units *units;
    snprintf(text, sizeof text, "1:CPU:%d", cores);
    snprintf(where, sizeof where, "%d core%s", cores, cores > 1 ? "s" : "");
    evn_status status = evn_units_open(&units, machine, text, NULL, EVN_STAY_BOUND);
    if (status) return status;
    status = measure(s, SOLVER_CG, units, where);
    if (!status && cores == 1) {
        enum solver_kind mumps;
        if (solver_find(&mumps, "mumps"))
            printf("  mumps      %s\n", "not in this build");
        else
            status = measure(s, mumps, units, where);
    }
    evn_units_close(units);
    return status;
}

static evn_status on_device(struct study *s, const evn_machine *machine, const char *devices) {
    char why[256] = "";
    int count = 0;
    evn_units *units;
    evn_status status = evn_devices_count(devices ? devices : "cuda", &count, why, sizeof why);
    if (status) return status;
    if (!count) {
        printf("  cg:device  none: %s\n", why);
        return EVN_OK;
    }
    status = evn_units_open(&units, machine, "1:GPU:1", devices ? devices : "cuda",
                            EVN_OVERSUBSCRIBE | EVN_STAY_BOUND);
    if (status) return status;
    const evn_device *device = evn_unit_device(evn_units_get(units, 0), 0);
    status = measure(s, SOLVER_CG_DEVICE, units, evn_device_traits(device)->name);
    evn_units_close(units);
    return status;
}

evn_status bench_solvers(const struct slices *slices, const char *mesh, const char *devices) {
    struct study s = {.base = 0};
    evn_machine *machine;
    evn_status status = slices_matrix(&s.m, slices, 0, 0);
    if (status) return status;
    const int n = s.m.rows;
    s.b = malloc(sizeof *s.b * (size_t)n);
    s.a = malloc(sizeof *s.a * (size_t)n);
    if (!s.a || !s.b) status = evn_fail(EVN_MEMORY, "bench td-bem: not enough memory");
    for (int i = 0; !status && i < n; i++) s.b[i] = sin(1.0 + i);
    if (!status) status = evn_machine_open(&machine);
    if (!status) {
        printf("\nSolving with M_0 of %s, %d vertices, %.1f entries a row, to 1e-13 from no first "
               "guess\n\n",
               mesh, n, (double)s.m.start[n] / n);
        printf("  %-10s %-28s  %9s  %9s  %10s  %9s  %9s  %7s\n", "solver", "on", "once, ms",
               "each, us", "iterations", "residual", "entries", "x cg");
        const int cores = evn_machine_cores(machine);
        status = on_cores(&s, machine, 1);
        if (!status && cores > 1) status = on_cores(&s, machine, cores);
        if (!status) status = on_device(&s, machine, devices);
        if (!status)
            printf("\nonce: opening it, with factors or the way to the device. entries: of M_0, or "
                   "of its factor.\nx cg: a solution's time on one core over this. A step of the "
                   "march begins with a guess and\ntakes fewer iterations.\n");
        evn_machine_close(machine);
    }
    free(s.a);
    free(s.b);
    slices_csr_free(&s.m);
    return status;
}
