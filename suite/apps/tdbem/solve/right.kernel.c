/* The right-hand side on a device, what incident.c computes and in its order: triangles' integrals,
 * L_n at the vertices, and then what is solved for: l_n minus the sums of the past.
 *
 * The L's of the steps of a group and of the step before it are kept, since a step may be given out
 * again. A first guess goes through the last three steps: those of this group are solutions behind
 * `at`, those before it in `before`, [3 * columns]; a place that is negative, -1 - p, is row p
 * there.
 *
 * Cost of a triangle: 12 points of about 45 operations, and a power of two; of a row: some 10
 * operations and the corners of its triangles, 6 in the mean.
 */
#include "tdbem/incident/incident.kernel.h"
#include "tdbem/solve/solve.kernel.h"

#define POINTS 12
#define ITEMS  64 /* items of a group: four blocks */
#define BLOCK  16

/* 2^-n, 0 <= n < 64: exact. */
EVN_DEVICE_FUNCTION double power(int n) {
    double p = n & 1 ? 0x1p-1 : 1;
    p *= n & 2 ? 0x1p-2 : 1;
    p *= n & 4 ? 0x1p-4 : 1;
    p *= n & 8 ? 0x1p-8 : 1;
    p *= n & 16 ? 0x1p-16 : 1;
    p *= n & 32 ? 0x1p-32 : 1;
    return p;
}

EVN_DEVICE_FUNCTION double pulse_at(double cut, double ricker, double u) {
    const double size = evn_abs(u), near = size < cut ? size : cut;
    double shifted;
    const double e = incident_bell(near, &shifted);
    const double f = (1 - ricker * near * near) * (e * power((int)(INCIDENT_MAGIC - shifted)));
    return size <= cut ? f : 0; /* not for NaN */
}

/* Whether f is 0 for a block, by its least and largest delay. */
#define QUIET(b)                                                                                   \
    (a.off || a.t - ends[2 * (b) + 1] - a.t0 > a.reach || a.t - ends[2 * (b)] - a.t0 < -a.reach)

/* Integrates f for the corners of triangles, [3 * triangles]. `wave`: d.x/c at the three corners
 * and the two weights, [5 * triangles]. `share` has the integrals with one weight, and behind them
 * those with the other. `rule`: of each point its barycentric coordinates and its
 * weight. */
EVN_KERNEL(right_integrate, ITEMS,
           (EVN_IN(double, wave), EVN_IN(double, ends), EVN_IN(double, rule),
            EVN_BUFFER(double, share), EVN_VALUE(struct incident_time, a))) {
    const int first = EVN_GROUP * ITEMS;
    EVN_PRIVATE(double, one);
    EVN_PRIVATE(double, two);
    EVN_PRIVATE(double, three);
    int busy = 0;
    for (int b = first / BLOCK; b < (first + ITEMS) / BLOCK; b++) busy |= !QUIET(b);
    EVN_ITEMS(i) { EVN_OWN(one, i) = EVN_OWN(two, i) = EVN_OWN(three, i) = 0; }
    for (int p = 0; p < POINTS && busy; p++) {
        const double x = rule[4 * p], y = rule[4 * p + 1], z = rule[4 * p + 2];
        const double weight = rule[4 * p + 3];
        EVN_ITEMS(i) {
            const int at = first + i;
            const double delay =
                x * wave[at] + y * wave[a.triangles + at] + z * wave[2 * a.triangles + at];
            const double f = weight * pulse_at(a.cut, a.ricker, (a.t - a.t0 - delay) * a.scale);
            EVN_OWN(one, i) += x * f;
            EVN_OWN(two, i) += y * f;
            EVN_OWN(three, i) += z * f;
        }
    }
    EVN_ITEMS(i) {
        const int at = first + i;
        const double weight = QUIET(at / BLOCK) ? 0 : wave[3 * a.triangles + at];
        share[at] = weight * EVN_OWN(one, i);
        share[a.triangles + at] = weight * EVN_OWN(two, i);
        share[2 * a.triangles + at] = weight * EVN_OWN(three, i);
        if (a.damped) {
            const double extra = QUIET(at / BLOCK) ? 0 : wave[4 * a.triangles + at];
            share[3 * a.triangles + at] = extra * EVN_OWN(one, i);
            share[4 * a.triangles + at] = extra * EVN_OWN(two, i);
            share[5 * a.triangles + at] = extra * EVN_OWN(three, i);
        }
    }
}

/* L of a step at the vertices, to the `a.now`-th of those that are kept. */
EVN_KERNEL(right_gather, SOLVE_CHUNK,
           (EVN_IN(double, share), EVN_IN(int, begin), EVN_IN(int, where), EVN_BUFFER(double, load),
            EVN_VALUE(struct incident_right, a))) {
    EVN_ITEMS(i) {
        const int row = EVN_GROUP * SOLVE_CHUNK + i;
        if (row < a.columns) {
            double sum = 0, extra = 0;
            for (int e = begin[row]; e < begin[row + 1]; e++) sum += share[where[e]];
            load[(evn_long)a.now * a.rows + row] = sum;
            for (int e = begin[row]; a.damped && e < begin[row + 1]; e++)
                extra += share[3 * a.triangles + where[e]];
            if (a.damped) load[(evn_long)(a.now + a.damped) * a.rows + row] = sum + extra;
        }
    }
}

#define STEP_AT(place, row)                                                                        \
    ((place) < 0 ? before[(evn_long)(-1 - (place)) * a.columns + (row)]                            \
                 : solution[a.at + (evn_long)(place)*a.rows + (row)])

/* Right-hand side and guess, both scaled; rows that are none are zero. */
EVN_KERNEL(right_make, SOLVE_CHUNK,
           (EVN_IN(double, load), EVN_IN(double, total), EVN_IN(double, before),
            EVN_IN(double, solution), EVN_IN(double, scale), EVN_IN(double, root),
            EVN_IN(struct solve_state, state), EVN_BUFFER(double, vector),
            EVN_VALUE(struct incident_right, a))) {
    if (SOLVE_READY(state, a.before)) {
        EVN_ITEMS(i) {
            const int row = EVN_GROUP * SOLVE_CHUNK + i;
            double b = 0, guess = 0;
            if (row < a.columns) {
                double l = a.load ? load[(evn_long)a.now * a.rows + row] : 0;
                if (a.load == 2) l -= load[(evn_long)a.last * a.rows + row];
                b = l - total[(evn_long)row * a.wide + a.step];
                guess = 3 * (STEP_AT(a.one, row) - STEP_AT(a.two, row)) + STEP_AT(a.three, row);
            }
            vector[row] = scale[row] * b;
            vector[a.rows + row] = root[row] * guess;
        }
    }
}
