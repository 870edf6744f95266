/* Conjugate gradients on a device: solve.kernel.h says what is computed. A group has a chunk of
 * rows, an item a row. All groups add up the chunks' sums of the launch before, each for itself, so
 * that the host is told nothing before the end, and an iteration is two launches.
 *
 * Vectors are in one buffer, r, a, p, s, w of a.rows each. Each step of a group has two states, of
 * iterations k and k - 1. In a launch no group reads what another one writes. Iterations after the
 * last one do nothing, nor do those of a step that follows on one which is not solved: so all steps
 * of a group can be given out before it is known how many iterations they take. States and
 * solutions are in one buffer, since they go home together.
 *
 * Cost of an iteration with e entries: 2 e + 12 rows operations; e entries of 12 bytes and nine
 * vectors of 8 bytes a row are read or written, mostly in a cache, and r is gathered.
 */
#include "tdbem/solve/solve.kernel.h"

/* Places in `vector`, and in `state`. */
#define AT_A     a.rows
#define AT_P     (2 * a.rows)
#define AT_S     (3 * a.rows)
#define AT_W     (4 * a.rows)
#define STATE(k) state[SOLVE_STATE(a.step, k)]

/* Sum of SOLVE_CHUNK numbers, to v[0]. */
#define TREE(v)                                                                                    \
    for (int reach = SOLVE_CHUNK / 2; reach > 0; reach /= 2) {                                     \
        EVN_ITEMS(i) {                                                                             \
            if (i < reach) v[i] += v[i + reach];                                                   \
        }                                                                                          \
        EVN_BARRIER;                                                                               \
    }

/* Sum over chunks, to v[0]. */
#define TOTAL(v, of_chunk)                                                                         \
    EVN_ITEMS(i) {                                                                                 \
        double part = 0;                                                                           \
        for (int c = i; c < a.chunks; c += SOLVE_CHUNK) part += of_chunk[c];                       \
        v[i] = part;                                                                               \
    }                                                                                              \
    EVN_BARRIER;                                                                                   \
    TREE(v)

/* One row of M times x. */
EVN_DEVICE_FUNCTION double product(EVN_GLOBAL const evn_long *begin, EVN_GLOBAL const int *column,
                                   EVN_GLOBAL const double *value, EVN_GLOBAL const double *x,
                                   int row) {
    const int strip = row / SOLVE_STRIP, lane = row % SOLVE_STRIP;
    double sum = 0;
    for (evn_long e = begin[strip]; e < begin[strip + 1]; e++)
        sum += value[e * SOLVE_STRIP + lane] * x[column[e * SOLVE_STRIP + lane]];
    return sum;
}

/* r is b still. Gamma and b.b of the chunks. */
EVN_KERNEL(cg_begin, SOLVE_CHUNK,
           (EVN_IN(evn_long, begin), EVN_IN(int, column), EVN_IN(double, value),
            EVN_BUFFER(double, vector), EVN_IN(struct solve_state, state),
            EVN_BUFFER(double, gamma), EVN_BUFFER(double, target),
            EVN_VALUE(struct solve_sweep, a))) {
    EVN_LOCAL_ARRAY(double, size, SOLVE_CHUNK);
    EVN_LOCAL_ARRAY(double, dot, SOLVE_CHUNK);
    if (SOLVE_READY(state, a.before)) {
        EVN_ITEMS(i) {
            const int row = EVN_GROUP * SOLVE_CHUNK + i;
            const double b = vector[row], r = b - product(begin, column, value, vector + AT_A, row);
            size[i] = b * b;
            dot[i] = r * r;
            vector[row] = r;
            vector[AT_P + row] = 0;
            vector[AT_S + row] = 0;
        }
        EVN_BARRIER;
        TREE(size)
        TREE(dot)
        EVN_FIRST {
            target[EVN_GROUP] = size[0];
            gamma[EVN_GROUP] = dot[0];
        }
    }
}

/* Whether to go on; w = M r, and delta of the chunks. */
EVN_KERNEL(cg_multiply, SOLVE_CHUNK,
           (EVN_IN(evn_long, begin), EVN_IN(int, column), EVN_IN(double, value),
            EVN_BUFFER(double, vector), EVN_BUFFER(struct solve_state, state),
            EVN_IN(double, gamma), EVN_IN(double, target), EVN_BUFFER(double, delta),
            EVN_VALUE(struct solve_sweep, a))) {
    EVN_LOCAL_ARRAY(double, size, SOLVE_CHUNK);
    EVN_LOCAL_ARRAY(double, sum, SOLVE_CHUNK);
    EVN_LOCAL_ARRAY(double, dot, SOLVE_CHUNK);
    double goal = 0, now = 0;
    int done = SOLVE_GOES_ON, iterations = a.k;
    if (a.k) {
        now = STATE(a.k - 1).gamma;
        goal = STATE(a.k - 1).target;
        done = STATE(a.k - 1).done;
        if (done)
            iterations = STATE(a.k - 1).iterations;
        else if (!(STATE(a.k - 1).delta > 0)) {
            done = SOLVE_NOT_DEFINITE;
            iterations = a.k - 1;
        }
    } else if (!SOLVE_READY(state, a.before)) {
        done = SOLVE_WAITS;
    }
    if (!done) {
        TOTAL(sum, gamma)
        now = sum[0];
        if (!a.k) {
            TOTAL(size, target)
            goal = a.tolerance * size[0];
        }
        done = solve_done(now, goal);
    }
    if (EVN_GROUP == 0) {
        EVN_FIRST {
            STATE(a.k).gamma = now;
            STATE(a.k).target = goal;
            STATE(a.k).delta = a.k ? STATE(a.k - 1).delta : 0;
            STATE(a.k).done = done;
            STATE(a.k).iterations = iterations;
        }
    }
    if (!done) {
        EVN_ITEMS(i) {
            const int row = EVN_GROUP * SOLVE_CHUNK + i;
            const double w = product(begin, column, value, vector, row);
            vector[AT_W + row] = w;
            dot[i] = vector[row] * w;
        }
        EVN_BARRIER;
        TREE(dot)
        EVN_FIRST { delta[EVN_GROUP] = dot[0]; }
    }
}

/* All vectors; gamma of the chunks. */
EVN_KERNEL(cg_advance, SOLVE_CHUNK,
           (EVN_BUFFER(double, vector), EVN_BUFFER(struct solve_state, state),
            EVN_BUFFER(double, gamma), EVN_IN(double, delta), EVN_VALUE(struct solve_sweep, a))) {
    EVN_LOCAL_ARRAY(double, sum, SOLVE_CHUNK);
    EVN_LOCAL_ARRAY(double, dot, SOLVE_CHUNK);
    if (!STATE(a.k).done) {
        TOTAL(sum, delta)
        const double now = STATE(a.k).gamma;
        const double beta = solve_beta(a.k, now, STATE(a.k + 1).gamma);
        const double alpha = solve_alpha(a.k, now, sum[0], beta, STATE(a.k + 1).alpha);
        if (EVN_GROUP == 0) {
            EVN_FIRST {
                STATE(a.k).delta = sum[0];
                STATE(a.k).alpha = alpha;
            }
        }
        if (sum[0] > 0) {
            EVN_ITEMS(i) {
                const int row = EVN_GROUP * SOLVE_CHUNK + i;
                const double p = vector[row] + beta * vector[AT_P + row];
                const double s = vector[AT_W + row] + beta * vector[AT_S + row];
                const double r = vector[row] - alpha * s;
                vector[AT_P + row] = p;
                vector[AT_S + row] = s;
                vector[AT_A + row] += alpha * p;
                vector[row] = r;
                dot[i] = r * r;
            }
            EVN_BARRIER;
            TREE(dot)
            EVN_FIRST { gamma[EVN_GROUP] = dot[0]; }
        }
    }
}

/* The solution of a step that is solved. */
EVN_KERNEL(cg_end, SOLVE_CHUNK,
           (EVN_IN(double, vector), EVN_IN(double, scale), EVN_BUFFER(struct solve_state, state),
            EVN_BUFFER(double, solution), EVN_VALUE(struct solve_sweep, a))) {
    const int done = STATE(a.k).done;
    if (done == SOLVE_CONVERGED || done == SOLVE_ZERO) {
        EVN_ITEMS(i) {
            const int row = EVN_GROUP * SOLVE_CHUNK + i;
            const double x = done == SOLVE_ZERO ? 0 : scale[row] * vector[AT_A + row];
            solution[SOLVE_SOLUTION(a.step, a.steps, a.rows) + row] =
                a.single ? (double)(float)x : x;
        }
    }
}
