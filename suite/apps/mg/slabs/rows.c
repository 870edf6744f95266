/* The operators as vectors along x. Sums over the four neighbours across a row are made once a
 * point; what the neighbours along x add to it is shifted between vectors in registers. Rows
 * shorter than two of the widest vectors go point by point. */
#include "mg/slabs/rows.h"
#include "common/simd/lanes.h"

enum { SHORT = 8 };

/* The operator A: centre, edges, corners; its faces are 0. */
static const double A0 = -8.0 / 3, A2 = 1.0 / 6, A3 = 1.0 / 12;

#if LANES == 8
#    define BEFORE(p, a) __builtin_shufflevector(p, a, 7, 8, 9, 10, 11, 12, 13, 14)
#    define AFTER(a, n)  __builtin_shufflevector(a, n, 1, 2, 3, 4, 5, 6, 7, 8)
#    define EVEN(a, b)   __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#    define ODD(a, b)    __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#    define LOW(a, b)    __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#    define HIGH(a, b)   __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif LANES == 4
/* by way of what lies half in each of two vectors, which both neighbours have use for */
#    define MIDDLE(p, a)        __builtin_shufflevector(p, a, 2, 3, 4, 5)
#    define AFTER_MIDDLE(a, m)  __builtin_shufflevector(a, m, 1, 4, 3, 6)
#    define BEFORE_MIDDLE(m, a) __builtin_shufflevector(m, a, 1, 4, 3, 6)
#    define BEFORE(p, a)        BEFORE_MIDDLE(MIDDLE(p, a), a)
#    define AFTER(a, n)         AFTER_MIDDLE(a, MIDDLE(a, n))
#    define EVEN(a, b)          __builtin_shufflevector(a, b, 0, 2, 4, 6)
#    define ODD(a, b)           __builtin_shufflevector(a, b, 1, 3, 5, 7)
#    define LOW(a, b)           __builtin_shufflevector(a, b, 0, 4, 1, 5)
#    define HIGH(a, b)          __builtin_shufflevector(a, b, 2, 6, 3, 7)
#else
#    define BEFORE(p, a) __builtin_shufflevector(p, a, 1, 2)
#    define AFTER(a, n)  __builtin_shufflevector(a, n, 1, 2)
#    define EVEN(a, b)   __builtin_shufflevector(a, b, 0, 2)
#    define ODD(a, b)    __builtin_shufflevector(a, b, 1, 3)
#    define LOW(a, b)    __builtin_shufflevector(a, b, 0, 2)
#    define HIGH(a, b)   __builtin_shufflevector(a, b, 1, 3)
#endif

#if LANES != 4
#    define MIDDLE(p, a)        (p)
#    define BEFORE_MIDDLE(m, a) BEFORE(m, a)
#endif

/* Sums of a point's own column: for itself (`base`) and for its neighbours along x (`side`). */
struct part {
    vec base[2], side[2];
};

INLINE void column_sums(const struct rows *x, int i, vec centre[2], vec face[2], vec edge[2]) {
    vec c[4], s[4];
    for (int j = 0; j < 4; j++) {
        c[j] = vec_load(x->at[1][j] + i);
        s[j] = vec_load(x->at[0][j] + i) + vec_load(x->at[2][j] + i);
    }
    for (int j = 0; j < 2; j++) {
        centre[j] = c[j + 1];
        face[j] = s[j + 1] + (c[j] + c[j + 2]);
        edge[j] = s[j] + s[j + 2];
    }
}

INLINE struct part residual_part(const struct rows *x, int i) {
    struct part p;
    vec centre[2], face[2], edge[2];
    column_sums(x, i, centre, face, edge);
    for (int j = 0; j < 2; j++) {
        p.base[j] = A0 * centre[j] + A2 * edge[j];
        p.side[j] = A2 * face[j] + A3 * edge[j];
    }
    return p;
}

INLINE struct part smooth_part(const struct rows *r, int i, const struct smoother *s) {
    struct part p;
    vec centre[2], face[2], edge[2];
    column_sums(r, i, centre, face, edge);
    for (int j = 0; j < 2; j++) {
        p.base[j] = s->c0 * centre[j] + s->c1 * face[j] + s->c2 * edge[j];
        p.side[j] = s->c1 * centre[j] + s->c2 * face[j];
    }
    return p;
}

/* base and both sides of row j; *middle: between the side before and this, and then the next. */
INLINE vec whole(int j, vec middle[2], const struct part *here, const struct part *after) {
    const vec before = BEFORE_MIDDLE(middle[j], here->side[j]);
#if LANES == 4
    middle[j] = MIDDLE(here->side[j], after->side[j]);
    const vec behind = AFTER_MIDDLE(here->side[j], middle[j]);
#else
    middle[j] = here->side[j];
    const vec behind = AFTER(here->side[j], after->side[j]);
#endif
    return here->base[j] + (before + behind);
}

/* ---- point by point ------------------------------------------------------------------------ */

static void point_sums(const struct rows *x, int j, int i, double *face, double *edge) {
    double s[3];
    for (int q = 0; q < 3; q++) s[q] = x->at[0][j + q][i] + x->at[2][j + q][i];
    *face = s[1] + (x->at[1][j][i] + x->at[1][j + 2][i]);
    *edge = s[0] + s[2];
}

static void short_residual(double *const out[2], const double *const v[2], const struct rows *x,
                           int n) {
    double base[SHORT], side[SHORT], face, edge;
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < n; i++) {
            point_sums(x, j, i, &face, &edge);
            base[i] = A0 * x->at[1][j + 1][i] + A2 * edge;
            side[i] = A2 * face + A3 * edge;
        }
        for (int i = 0; i < n; i++)
            out[j][i] = (v ? v[j][i] : 0) -
                        (base[i] + (side[(i + n - 1) & (n - 1)] + side[(i + 1) & (n - 1)]));
    }
}

static void short_smooth(double *const u[2], const struct rows *r, const struct smoother *s,
                         int n) {
    double base[SHORT], side[SHORT], face, edge;
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < n; i++) {
            const double centre = r->at[1][j + 1][i];
            point_sums(r, j, i, &face, &edge);
            base[i] = s->c0 * centre + s->c1 * face + s->c2 * edge;
            side[i] = s->c1 * centre + s->c2 * face;
        }
        for (int i = 0; i < n; i++)
            u[j][i] += base[i] + (side[(i + n - 1) & (n - 1)] + side[(i + 1) & (n - 1)]);
    }
}

static void short_interpolate(double *const u[2], const double *const z[2][2], int n, int add) {
    double t[2][SHORT];
    const int half = n / 2;
    for (int i = 0; i < half; i++) {
        const double a = 0.5 * (z[0][0][i] + z[1][0][i]), b = 0.5 * (z[0][1][i] + z[1][1][i]);
        t[0][i] = 0.5 * (a + b);
        t[1][i] = b;
    }
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < n; i++) {
            const double here = t[j][i / 2], before = t[j][(i / 2 + half - 1) & (half - 1)];
            const double q = i & 1 ? here : 0.5 * (before + here);
            u[j][i] = add ? u[j][i] + q : q;
        }
}

static void short_restrict(double *first, double *more, const double *const r[3], double weight,
                           int n) {
    double t[SHORT];
    for (int i = 0; i < n; i++) t[i] = r[1][i] + 0.5 * (r[0][i] + r[2][i]);
    for (int i = 0; i < n; i += 2) {
        const double c = weight * (t[i + 1] + 0.5 * (t[i] + t[(i + 2) & (n - 1)]));
        if (first) first[i / 2] = c;
        if (more) more[i / 2] += c;
    }
}

/* ---- vectors ------------------------------------------------------------------------------- */

INLINE void long_residual(double *const out[2], const double *const v[2], const struct rows *x,
                          const double *const soon[2], int n) {
    const struct part before = residual_part(x, n - LANES);
    struct part here = residual_part(x, 0), after;
    vec middle[2] = {MIDDLE(before.side[0], here.side[0]), MIDDLE(before.side[1], here.side[1])};
    for (int i = 0; i < n; i += LANES) {
        after = residual_part(x, (i + LANES) & (n - 1));
        for (int j = 0; j < 2; j++) {
            const vec a = whole(j, middle, &here, &after);
            vec_store(out[j] + i, v ? vec_load(v[j] + i) - a : -a);
            if (soon && i % 8 == 0) __builtin_prefetch(soon[j] + i, 0, 2);
        }
        here = after;
    }
}

void rows_residual(double *const out[2], const double *const v[2], const struct rows *x,
                   const double *const soon[2], int n) {
    if (n <= SHORT)
        short_residual(out, v, x, n);
    else if (!v)
        long_residual(out, NULL, x, NULL, n);
    else if (soon)
        long_residual(out, v, x, soon, n);
    else
        long_residual(out, v, x, NULL, n);
}

INLINE void long_smooth(double *const u[2], const struct rows *r, const struct smoother *s,
                        double *const soon[2], int n) {
    const struct smoother local = *s; /* which no store can change */
    s = &local;
    const struct part before = smooth_part(r, n - LANES, s);
    struct part here = smooth_part(r, 0, s), after;
    vec middle[2] = {MIDDLE(before.side[0], here.side[0]), MIDDLE(before.side[1], here.side[1])};
    for (int i = 0; i < n; i += LANES) {
        after = smooth_part(r, (i + LANES) & (n - 1), s);
        for (int j = 0; j < 2; j++) {
            vec_store(u[j] + i, vec_load(u[j] + i) + whole(j, middle, &here, &after));
            if (soon && i % 8 == 0) __builtin_prefetch(soon[j] + i, 1, 2);
        }
        here = after;
    }
}

void rows_smooth(double *const u[2], const struct rows *r, const struct smoother *s,
                 double *const soon[2], int n) {
    if (n <= SHORT)
        short_smooth(u, r, s, n);
    else if (soon)
        long_smooth(u, r, s, soon, n);
    else
        long_smooth(u, r, s, NULL, n);
}

INLINE void coarse_part(const double *const z[2][2], int i, vec t[2]) {
    const vec a = 0.5 * (vec_load(z[0][0] + i) + vec_load(z[1][0] + i));
    t[1] = 0.5 * (vec_load(z[0][1] + i) + vec_load(z[1][1] + i));
    t[0] = 0.5 * (a + t[1]);
}

INLINE void long_interpolate(double *const u[2], const double *const z[2][2], int n, int add) {
    vec before[2], here[2];
    coarse_part(z, n / 2 - LANES, before);
    for (int i = 0; i < n / 2; i += LANES) {
        coarse_part(z, i, here);
        for (int j = 0; j < 2; j++) {
            const vec even = 0.5 * (BEFORE(before[j], here[j]) + here[j]);
            double *to = u[j] + 2 * i;
            vec low = LOW(even, here[j]), high = HIGH(even, here[j]);
            vec_store(to, add ? vec_load(to) + low : low);
            vec_store(to + LANES, add ? vec_load(to + LANES) + high : high);
            before[j] = here[j];
        }
    }
}

void rows_interpolate(double *const u[2], const double *const z[2][2], int n, int add) {
    if (n <= SHORT)
        short_interpolate(u, z, n, add);
    else if (add)
        long_interpolate(u, z, n, 1);
    else
        long_interpolate(u, z, n, 0);
}

INLINE vec across(const double *const r[3], int i) {
    return vec_load(r[1] + i) + 0.5 * (vec_load(r[0] + i) + vec_load(r[2] + i));
}

void rows_restrict(double *first, double *more, const double *const r[3], double weight, int n) {
    if (n <= SHORT) {
        short_restrict(first, more, r, weight, n);
        return;
    }
    vec a = across(r, 0), b = across(r, LANES);
    vec even = EVEN(a, b), odd = ODD(a, b);
    for (int i = 0; i < n; i += 2 * LANES) {
        const int next = (i + 2 * LANES) & (n - 1);
        a = across(r, next);
        b = across(r, next + LANES);
        const vec even_next = EVEN(a, b);
        const vec c = weight * (odd + 0.5 * (even + AFTER(even, even_next)));
        if (first) vec_store(first + i / 2, c);
        if (more) vec_store(more + i / 2, vec_load(more + i / 2) + c);
        even = even_next;
        odd = ODD(a, b);
    }
}

void rows_averages(double *a, double *b, const double *const u[5], int n) {
    for (int i = 0; i < n; i += LANES) {
        const vec far = vec_load(u[0] + i) + vec_load(u[4] + i),
                  near = vec_load(u[1] + i) + vec_load(u[3] + i), here = vec_load(u[2] + i);
        vec_store(a + i, here + 0.5 * near);
        vec_store(b + i, near + 0.25 * far + 1.5 * here);
    }
}

/* Two vectors of what bx and tx are applied to, apart by even and odd points. */
struct halves {
    vec even[2], odd[2];
};

INLINE void across_both(const double *const a[5], const double *const b[5], int i, vec of[2]) {
    const vec near_a = vec_load(a[1] + i) + vec_load(a[3] + i),
              near_b = vec_load(b[1] + i) + vec_load(b[3] + i),
              far_a = vec_load(a[0] + i) + vec_load(a[4] + i),
              far_b = vec_load(b[0] + i) + vec_load(b[4] + i);
    const vec here_a = vec_load(a[2] + i), here_b = vec_load(b[2] + i);
    const vec tt = here_a + 0.5 * near_a, tb = here_b + 0.5 * near_b;
    of[0] = near_b + 0.25 * far_b + 1.5 * here_b - tt;
    of[1] = near_a + 0.25 * far_a + 1.5 * here_a + tb + 2 * tt;
}

INLINE struct halves halves_at(const double *const a[5], const double *const b[5], int i) {
    struct halves h;
    vec low[2], high[2];
    across_both(a, b, i, low);
    across_both(a, b, i + LANES, high);
    for (int q = 0; q < 2; q++) {
        h.even[q] = EVEN(low[q], high[q]);
        h.odd[q] = ODD(low[q], high[q]);
    }
    return h;
}

void rows_last(double *r, const double *const a[5], const double *const b[5], int n) {
    vec before = halves_at(a, b, n - 2 * LANES).odd[0];
    struct halves here = halves_at(a, b, 0);
    for (int i = 0; i < n; i += 2 * LANES) {
        const struct halves next = halves_at(a, b, (i + 2 * LANES) & (n - 1));
        const vec far = BEFORE(before, here.odd[0]) + AFTER(here.odd[0], next.odd[0]);
        const vec near = here.even[0] + AFTER(here.even[0], next.even[0]);
        const vec five = near + 0.25 * far + 1.5 * here.odd[0];
        const vec three = here.odd[1] + 0.5 * (here.even[1] + AFTER(here.even[1], next.even[1]));
        vec_store(r + i / 2, (three - five) * (1.0 / 3));
        before = here.odd[0];
        here = next;
    }
}

void rows_square(double sum[8], const double *r, int n) {
    double s[8];
    const int width = n < 8 ? n : 8;
    for (int l = 0; l < 8; l++) s[l] = sum[l];
    if (n < 8)
        for (int l = 0; l < width; l++) s[l] += r[l] * r[l];
    else
        for (int i = 0; i < n; i += 8)
            for (int l = 0; l < 8; l++) s[l] += r[i + l] * r[i + l];
    for (int l = 0; l < 8; l++) sum[l] = s[l];
}
