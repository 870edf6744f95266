/* The four operators on rows: all that is computed is computed here (RNR-94-007, section 3.3; in
 * the reference resid, psinv, interp and rprj3).
 *
 * Two rows at a time, 2 b and 2 b + 1, so that sums over z of the rows between are made once. Rows
 * are periodic along x. Each result depends on its operands alone: the bits are the same wherever
 * and however often a row is computed. */
#pragma once

/* Rows 2 b - 1 .. 2 b + 2 of planes k - 1, k, k + 1. */
struct rows {
    const double *at[3][4];
};

/* out = v - A x, of rows 2 b and 2 b + 1; v NULL: - A x. Here and in rows_smooth() two rows `soon`
 * are fetched from memory meanwhile: of v, of u; NULL: none. */
void rows_residual(double *const out[2], const double *const v[2], const struct rows *x,
                   const double *const soon[2], int n);

/* Weights of a smoother: of the point, its 6 face neighbours and its 12 edge neighbours. */
struct smoother {
    double c0, c1, c2;
};

/* u = u + S r, of rows 2 b and 2 b + 1. */
void rows_smooth(double *const u[2], const struct rows *r, const struct smoother *s,
                 double *const soon[2], int n);

/* u = Q z, or u = u + Q z where `add`: rows 2 b and 2 b + 1, n points each, from rows b - 1 and b
 * of two coarse planes, whose mean is taken: the same twice for odd planes. */
void rows_interpolate(double *const u[2], const double *const z[2][2], int n, int add);

/* Restriction of fine rows 2 b, 2 b + 1 and 2 b + 2 of one plane, n points each, to row b of coarse
 * planes, times `weight`: it starts `first`, and is added to `more`; either may be NULL. */
void rows_restrict(double *first, double *more, const double *const r[3], double weight, int n);

/* P A as one operator. With t the average of a point and its neighbours along an axis, (1/2, 1,
 * 1/2), A = 2/3 (tx ty tz - tx - ty - tz - 2) and P = 1/2 tx ty tz; so that, with b = t t = (1/4,
 * 1, 3/2, 1, 1/4), 3 P A = bx (by bz - ty tz) - tx (by tz + ty bz + 2 ty tz). Rows of 16 points or
 * more.
 *
 * First along z: a = tz u and b = bz u of a row, from its five in planes 2 k - 1 .. 2 k + 3. Then r
 * =
 * - P A u, row j of coarse plane k, from a and b of rows 2 j - 1 .. 2 j + 3. */
void rows_averages(double *a, double *b, const double *const u[5], int n);
void rows_last(double *r, const double *const a[5], const double *const b[5], int n);

/* Squares of a row's points, added to eight sums, by x mod 8. */
void rows_square(double sum[8], const double *r, int n);
