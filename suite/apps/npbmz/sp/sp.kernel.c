/* SP on a device: a step is one launch for the residual and the first change of variables, and one
 * for the lines of each direction with the change of variables that follows; after z, the addition
 * to the solution.
 *
 * Lines. A group takes 16 lines, and two items each of them, one from each end. All that a line
 * needs comes into local memory first, is solved there, and goes from there to where it belongs:
 * device memory is read and written once, and its latency is met by many loads at a time, before
 * and after the recurrence. Along y and z neighbouring items are neighbours in i; along x they load
 * neighbours in i for 4 points of 8 lines at a time, and a row of local memory is padded by 4, so
 * that neither these accesses nor the solver's meet in a bank. Local memory holds a window of 16
 * rows of each end; longer lines keep the windows that they have left in the work space,
 * item by item, and take them back on their way out.
 *
 * Bytes of a point: residual 40 solution, 40 forcing, 56 out; x 64 in (five right-hand sides,
 * 1/rho, a, momentum), 40 out; y the same; z 64 in and then 56 (solution, 1/rho, a), 40 out, of
 * which 24 are a second reading soon after the first. In all 504 a step, 150 ps at 3.35 TB/s.
 * Operations: residual 270 (residual.kernel.h) and 45, lines 3 x 70 with the division, transforms
 * 40: 565 instructions, 33 ps of an H100's double-precision pipe. So memory is what counts. Local
 * memory is 45 KiB a group, so that five of them are on one of its processors at a time: 160 items,
 * with 32 loads each under way while lines come in (8 or 16 of the last 1 to 3 rows). Work space: 7
 * doubles a point (sp_zone.h).
 */
#define NPBMZ_ITEM
#include <evener/kernel.h>

#include "npbmz/device/residual.kernel.h"
#include "npbmz/sp/sp_zone.h"
#include "npbmz/sp/transforms.h"

/* Doubles of a row in local memory. The host's vectors like rows to begin on cache lines. */
#if EVN_ON_DEVICE
#    define ROW (SP_VALUES * SP_ITEMS + 4)
#else
#    define ROW (SP_VALUES * SP_ITEMS)
#endif

/* An item's arrays and structs are declared in functions: with them in the item loop itself the
 * host's compiler would not make lanes of items. */

/* ---- residual ------------------------------------------------------------------------------ */

EVN_DEVICE_FUNCTION void rhs_point(EVN_GLOBAL const double *field, EVN_GLOBAL double *to,
                                   evn_long points, const struct gpu_zone *z, int i, int j, int k,
                                   const struct residual_constants *c) {
    struct residual_point q;
    double r[NC], s[NC], rho_inv, a;
    residual_item(field + z->u, field + z->f, z->sj, z->sk, z->sc, z->nx, z->ny, z->nz, i, j, k, c,
                  r, &q);
    sp_to_x(1 / EPS4, q.u[0], q.v, q.p, r, s, &rho_inv, &a);
    to[0] = s[0];
    to[points] = s[1];
    to[2 * points] = s[2];
    to[3 * points] = s[3];
    to[4 * points] = s[4];
    to[SP_RHO * points] = rho_inv;
    to[SP_A * points] = a;
}

EVN_KERNEL(sp_rhs, SP_POINTS,
           (EVN_BUFFER(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct residual_constants, c))) {
    EVN_PRIVATE(int, own_i);
    EVN_PRIVATE(int, own_j);
    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const struct sp_inside in = sp_inside(z.nx, z.ny, z.nz);
    const int columns = in.mx * in.my, parts = (columns + SP_POINTS - 1) / SP_POINTS;
    const int first = pieces[EVN_GROUP].part % parts * SP_POINTS;
    const int k0 = 1 + pieces[EVN_GROUP].part / parts * SP_PLANES;
    const int k1 = evn_imin(k0 + SP_PLANES, z.nz - 1);
    EVN_ITEMS(e) { /* by itself, since there is no division of lanes */
        EVN_OWN(own_i, e) = 1 + (first + e) % in.mx;
        EVN_OWN(own_j, e) = 1 + (first + e) / in.mx;
    }
    for (int k = k0; k < k1; k++) {
        const evn_long plane = z.work + (evn_long)(k - 1) * in.my * in.row;
        EVN_ITEMS(e) {
            const int i = EVN_OWN(own_i, e), j = EVN_OWN(own_j, e);
            if (first + e < columns)
                rhs_point(field, work + (plane + (j - 1) * in.row + i - 1), in.points, &z, i, j, k,
                          &c);
        }
    }
}

/* ---- lines --------------------------------------------------------------------------------- */

/* Row of the line, from 0, that is row t of an end (0: low, 1: high), of m rows. Each end has
 * (m+1)/2 rows, of which the last is a middle one; if m is odd the low end begins with row -1,
 * which there is not. */
EVN_DEVICE_FUNCTION int row_of(int t, int end, int m) {
    const int low = t - m % 2, high = m - 1 - t;
    return EVN_SELECT(end, high, low);
}

/* Memory of a zone's lines of one direction. Row s of line l begins at r + l's own offset + s*sr in
 * `work`, its momentum at m + .. + s*sm in `field`. */
struct lines {
    evn_long r, m, points;
    evn_long sr, sm;
    evn_long ra, rb, ma, mb; /* offsets: line l is (l % wide, l / wide) */
    int wide, count, length, direction;
};

EVN_DEVICE_FUNCTION struct lines lines_of(const struct gpu_zone *z, const struct sp_inside *in,
                                          int d) {
    const evn_long plane = (evn_long)in->row * in->my;
    struct lines l;
    l.r = z->work;
    l.m = z->u + (d + 1) * z->sc + z->sk + z->sj + 1;
    l.points = in->points;
    l.sr = d == 0 ? 1 : d == 1 ? in->row : plane;
    l.sm = d == 0 ? 1 : d == 1 ? z->sj : z->sk;
    l.ra = d == 0 ? in->row : 1;
    l.rb = d == 2 ? in->row : plane;
    l.ma = d == 0 ? z->sj : 1;
    l.mb = d == 2 ? z->sj : z->sk;
    l.wide = d == 0 ? in->my : in->mx;
    l.count = sp_lines_of(in, d);
    l.length = sp_length(in, d);
    l.direction = d;
    return l;
}
EVN_DEVICE_FUNCTION evn_long line_r(const struct lines *l, int n) {
    return l->r + n % l->wide * l->ra + n / l->wide * l->rb;
}
EVN_DEVICE_FUNCTION evn_long line_m(const struct lines *l, int n) {
    return l->m + n % l->wide * l->ma + n / l->wide * l->mb;
}

/* An item's own values, in arrays of all items: what an end hands on from row to row (as in struct
 * penta_end; 1/pivot(s-2); right-hand sides of rows s-1 and s-2), and a row that is not yet
 * finished: its pivot and the entry ahead, its right-hand side, what stands above. On the way back
 * x of the two rows before is where right-hand sides were. */
enum {
    OWN_L = 0,
    OWN_L_BACK = 3,
    OWN_P = 6,
    OWN_P_BACK = 9,
    OWN_Y1 = 12,
    OWN_Y2 = OWN_Y1 + NC,
    OWN_STATE = OWN_Y2 + NC, /* so many are handed on */
    OWN_PIVOT = OWN_STATE,
    OWN_AHEAD = OWN_PIVOT + 3,
    OWN_Y = OWN_AHEAD + 3,
    OWN_ABOVE = OWN_Y + NC,
    OWN = OWN_ABOVE + 3
};
/* places in a row in local memory */
enum { AT_P = NC, AT_ABOVE = NC + 3 };

/* value q of an item's own, where the first is at `own` */
#if EVN_ON_DEVICE
#    define MY(q) own[q]
#else
#    define MY(q) own[(q)*SP_ITEMS]
#endif
/* value q of a row, where the item's first is at `row` */
#define ROW_AT(q) row[(q)*SP_ITEMS]

/* A row but for what needs its pivot's reciprocal. */
EVN_DEVICE_FUNCTION void row_begin(const struct penta *c, double T, EVN_LOCAL const double *row,
                                   double *own) {
    struct penta_end end;
    double p_back[3], behind[3], diagonal, ahead[3], above[3], pivot[3], below[3];
    for (int q = 0; q < 3; q++) {
        end.l[q] = MY(OWN_L + q);
        end.l_back[q] = MY(OWN_L_BACK + q);
        end.p[q] = MY(OWN_P + q);
        p_back[q] = MY(OWN_P_BACK + q);
    }
    penta_column(c, T, ROW_AT(SP_RHO), ROW_AT(SP_A), ROW_AT(SP_HANDED), behind, &diagonal, ahead);
    penta_eliminate(&end, p_back, behind, diagonal, ahead, above, pivot, below);
    for (int q = 0; q < 3; q++) {
        MY(OWN_PIVOT + q) = pivot[q];
        MY(OWN_AHEAD + q) = below[q];
        MY(OWN_ABOVE + q) = above[q];
    }
    for (int q = 0; q < NC; q++)
        MY(OWN_Y + q) = penta_right(ROW_AT(q), p_back[penta_matrix(q)], MY(OWN_Y2 + q),
                                    end.l[penta_matrix(q)], MY(OWN_Y1 + q));
}

/* Finishes the row that row_begin() has begun, and makes it the row before. */
EVN_DEVICE_FUNCTION void row_finish(EVN_LOCAL double *row, double *own) {
    struct penta_end end;
    double p[3], below[3];
    for (int q = 0; q < 3; q++) {
        end.l[q] = MY(OWN_L + q);
        p[q] = MY(OWN_PIVOT + q);
        below[q] = MY(OWN_AHEAD + q);
        MY(OWN_P_BACK + q) = MY(OWN_P + q);
    }
    penta_reciprocals(p);
    penta_next(&end, p, below);
    for (int q = 0; q < 3; q++) {
        MY(OWN_L + q) = end.l[q];
        MY(OWN_L_BACK + q) = end.l_back[q];
        MY(OWN_P + q) = end.p[q];
        ROW_AT(AT_P + q) = p[q];
        ROW_AT(AT_ABOVE + q) = MY(OWN_ABOVE + q);
    }
    for (int q = 0; q < NC; q++) {
        MY(OWN_Y2 + q) = MY(OWN_Y1 + q);
        MY(OWN_Y1 + q) = MY(OWN_Y + q);
        ROW_AT(q) = MY(OWN_Y + q);
    }
}

/* The middle row of an end: what the other end wants to know of the last one is in its place. */
EVN_DEVICE_FUNCTION void middle_tell(EVN_LOCAL double *row, const double *own) {
    for (int q = 0; q < 3; q++) {
        ROW_AT(q) = MY(OWN_P + q);
        ROW_AT(3 + q) = MY(OWN_L + q);
    }
    for (int q = 0; q < NC; q++) ROW_AT(6 + q) = MY(OWN_Y1 + q);
}
/* Each end's last two rows reach into the other's middle row; `row` is the other's. */
EVN_DEVICE_FUNCTION void middle_reach(EVN_LOCAL const double *row, double *own) {
    for (int q = 0; q < 3; q++) {
        MY(OWN_PIVOT + q) -= ROW_AT(q);
        MY(OWN_AHEAD + q) -= ROW_AT(3 + q);
    }
    for (int q = 0; q < NC; q++) MY(OWN_Y + q) -= ROW_AT(penta_matrix(q)) * ROW_AT(6 + q);
}
/* Puts the middle row's pivot, entry ahead and right-hand side into `row`. */
EVN_DEVICE_FUNCTION void middle_offer(EVN_LOCAL double *row, const double *own) {
    for (int q = 0; q < 3; q++) {
        ROW_AT(q) = MY(OWN_PIVOT + q);
        ROW_AT(3 + q) = MY(OWN_AHEAD + q);
    }
    for (int q = 0; q < NC; q++) ROW_AT(6 + q) = MY(OWN_Y + q);
}
/* Solves the 2x2 system of both middle rows: x, mine first. */
EVN_DEVICE_FUNCTION void middle_solve(EVN_LOCAL const double *row, double *own) {
    double det[3];
    for (int q = 0; q < 3; q++)
        det[q] = MY(OWN_PIVOT + q) * ROW_AT(q) - MY(OWN_AHEAD + q) * ROW_AT(3 + q);
    penta_reciprocals(det);
    for (int q = 0; q < NC; q++) {
        const int a = penta_matrix(q);
        MY(OWN_Y1 + q) = (ROW_AT(a) * MY(OWN_Y + q) - ROW_AT(3 + a) * ROW_AT(6 + q)) * det[a];
        MY(OWN_Y2 + q) =
            (MY(OWN_PIVOT + a) * ROW_AT(6 + q) - MY(OWN_AHEAD + a) * MY(OWN_Y + q)) * det[a];
    }
}

/* Back substitution: x in the place of the right-hand side. */
EVN_DEVICE_FUNCTION void row_back(EVN_LOCAL double *row, double *own) {
    for (int q = 0; q < NC; q++) {
        const int a = penta_matrix(q);
        const double x = penta_back(ROW_AT(q), MY(OWN_Y2 + q), MY(OWN_ABOVE + a), MY(OWN_Y1 + q),
                                    ROW_AT(AT_P + a));
        MY(OWN_Y2 + q) = MY(OWN_Y1 + q);
        MY(OWN_Y1 + q) = x;
        ROW_AT(q) = x;
    }
    for (int q = 0; q < 3; q++) MY(OWN_ABOVE + q) = ROW_AT(AT_ABOVE + q);
}

/* Five right-hand sides, 1/rho, a and the momentum of a point come by way of an item's own values
 * into a column of a row in local memory: of AT_ONCE rows before the first of them is stored. */
enum { AT_ONCE = 4, BATCH = SP_HANDED + 1 };
EVN_DEVICE_FUNCTION void fetch(double *own, EVN_GLOBAL const double *r, evn_long points,
                               EVN_GLOBAL const double *m) {
    MY(0) = r[0];
    MY(1) = r[points];
    MY(2) = r[2 * points];
    MY(3) = r[3 * points];
    MY(4) = r[4 * points];
    MY(SP_RHO) = r[SP_RHO * points];
    MY(SP_A) = r[SP_A * points];
    MY(SP_HANDED) = m[0];
}
EVN_DEVICE_FUNCTION void put(EVN_LOCAL double *row, const double *own) {
    for (int q = 0; q < BATCH; q++) ROW_AT(q) = MY(q);
}

/* The answer of a point, made the right-hand side of the next direction. */
EVN_DEVICE_FUNCTION void hand_on(int d, double scale, EVN_LOCAL const double *row,
                                 EVN_GLOBAL double *to, evn_long points) {
    double x[NC], r[NC];
    for (int q = 0; q < NC; q++) x[q] = ROW_AT(q);
    if (d == 0)
        sp_x_to_y(scale, x, r);
    else
        sp_y_to_z(scale, x, r);
    to[0] = r[0];
    to[points] = r[1];
    to[2 * points] = r[2];
    to[3 * points] = r[3];
    to[4 * points] = r[4];
}

/* The answer of a point along z, as conserved variables added to u. What it takes is brought for
 * AT_ONCE rows before the first of them is stored, since a compiler cannot know that these are
 * other points: u, 1/rho and a. */
EVN_DEVICE_FUNCTION void bring_u(double *own, EVN_GLOBAL const double *r, evn_long points,
                                 EVN_GLOBAL const double *u, evn_long sc) {
    MY(0) = u[0];
    MY(1) = u[sc];
    MY(2) = u[2 * sc];
    MY(3) = u[3 * sc];
    MY(4) = u[4 * sc];
    MY(SP_RHO) = r[SP_RHO * points];
    MY(SP_A) = r[SP_A * points];
}
EVN_DEVICE_FUNCTION void add_to_u(EVN_LOCAL const double *row, const double *own,
                                  EVN_GLOBAL double *to, evn_long sc) {
    double v[3], x[NC], y[NC];
    for (int q = 0; q < NC; q++) x[q] = ROW_AT(q);
    v[0] = MY(1) * MY(SP_RHO);
    v[1] = MY(2) * MY(SP_RHO);
    v[2] = MY(3) * MY(SP_RHO);
    sp_from_z(MY(0), v, MY(SP_A), MY(4) * MY(SP_RHO), x, y);
    to[0] = MY(0) + y[0];
    to[sc] = MY(1) + y[1];
    to[2 * sc] = MY(2) + y[2];
    to[3 * sc] = MY(3) + y[3];
    to[4 * sc] = MY(4) + y[4];
}

/* the first value of row t of the window, of item e */
#define HELD(t, e) (held + ((t)*ROW + (e)))

EVN_KERNEL(sp_lines, SP_ITEMS,
           (EVN_BUFFER(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct sp_lines_value, v))) {
    EVN_LOCAL_ARRAY(double, held, SP_ROWS *ROW);
    EVN_PRIVATE_ARRAY(double, own, OWN);
    EVN_PRIVATE_ARRAY(double, batch, AT_ONCE *BATCH);
    EVN_PRIVATE(evn_long, my_r); /* where my line begins */
    EVN_PRIVATE(evn_long, my_m);
    EVN_PRIVATE(double, my_T);
    /* along x item e moves point e/4%4 of every 4, of line e%4 + e/16*4 and of the one 8 further */
    EVN_PRIVATE_ARRAY(evn_long, moved_r, 2);
    EVN_PRIVATE_ARRAY(evn_long, moved_m, 2);
    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const struct sp_inside in = sp_inside(z.nx, z.ny, z.nz);
    const struct lines l = lines_of(&z, &in, (int)v.direction);
    const int first = pieces[EVN_GROUP].part * SP_LINES, last = l.count - 1;
    const int m = l.length, odd = m % 2, rows = (m + 1) / 2, windows = sp_windows(m);
    const int middle = (rows - 1) % SP_ROWS;
    /* windows that local memory cannot hold are kept value by value, item by item */
    const evn_long kept =
        z.work + SP_HANDED * in.points + (evn_long)pieces[EVN_GROUP].part * SP_ITEMS;
    const evn_long row_kept = (evn_long)sp_line_groups(&in, l.direction) * SP_ITEMS;

    EVN_ITEMS(e) {
        const int line = evn_imin(first + e % SP_LINES, last);
        EVN_OWN(my_r, e) = line_r(&l, line);
        EVN_OWN(my_m, e) = line_m(&l, line);
        EVN_OWN(my_T, e) = e < SP_LINES ? v.c.T : -v.c.T;
        for (int q = 0; q < OWN_STATE; q++) EVN_OWN_AT(own, q, e) = 0;
        for (int q = 0; q < 3; q++) EVN_OWN_AT(own, OWN_P_BACK + q, e) = 1;
        for (int q = 0; q < 2; q++) {
            const int moved = evn_imin(first + q * 8 + e / 16 * 4 + e % 4, last);
            EVN_OWN_AT(moved_r, q, e) = line_r(&l, moved);
            EVN_OWN_AT(moved_m, q, e) = line_m(&l, moved);
        }
    }

    /* ---- forward ---- */
    for (int w = 0; w < windows; w++) {
        const int t0 = w * SP_ROWS, t1 = evn_imin(t0 + SP_ROWS, rows);
        if (l.direction == 0) {
            for (int t = t0; t < t1; t += 4) {
                for (int end = 0; end < 2; end++) {
                    for (int part = 0; part < 2; part++) {
                        EVN_ITEMS(e) {
                            const int n = part * 8 + e / 16 * 4 + e % 4;
                            const int at = evn_imin(t + e / 4 % 4, t1 - 1);
                            const int s = evn_imax(0, row_of(at, end, m));
                            fetch(&EVN_OWN_AT(batch, 0, e), work + EVN_OWN_AT(moved_r, part, e) + s,
                                  l.points, field + EVN_OWN_AT(moved_m, part, e) + s);
                            put(HELD(at - t0, end * SP_LINES + n), &EVN_OWN_AT(batch, 0, e));
                        }
                    }
                }
            }
        } else {
            int t = t0;
            for (; t + AT_ONCE <= t1; t += AT_ONCE) {
                for (int a = 0; a < AT_ONCE; a++) {
                    EVN_ITEMS(e) {
                        const int s = evn_imax(0, row_of(t + a, e / SP_LINES, m));
                        fetch(&EVN_OWN_AT(batch, a * BATCH, e), work + EVN_OWN(my_r, e) + s * l.sr,
                              l.points, field + EVN_OWN(my_m, e) + s * l.sm);
                    }
                }
                for (int a = 0; a < AT_ONCE; a++) {
                    EVN_ITEMS(e) { put(HELD(t + a - t0, e), &EVN_OWN_AT(batch, a * BATCH, e)); }
                }
            }
            for (; t < t1; t++) {
                EVN_ITEMS(e) {
                    const int s = evn_imax(0, row_of(t, e / SP_LINES, m));
                    fetch(&EVN_OWN_AT(batch, 0, e), work + EVN_OWN(my_r, e) + s * l.sr, l.points,
                          field + EVN_OWN(my_m, e) + s * l.sm);
                    put(HELD(t - t0, e), &EVN_OWN_AT(batch, 0, e));
                }
            }
        }
        EVN_BARRIER;
        for (int t = t0; t < t1; t++) {
            EVN_ITEMS(e) {
                row_begin(&v.c, EVN_OWN(my_T, e), HELD(t - t0, e), &EVN_OWN_AT(own, 0, e));
            }
            if (t == rows - 1) {
                EVN_ITEMS(e) { middle_tell(HELD(t - t0, e), &EVN_OWN_AT(own, 0, e)); }
            } else {
                EVN_ITEMS(e) { row_finish(HELD(t - t0, e), &EVN_OWN_AT(own, 0, e)); }
            }
            if (t == 0 && odd) { /* the low end has not begun */
                for (int q = 0; q < OWN_STATE; q++) {
                    const double begin = q >= OWN_P_BACK && q < OWN_P_BACK + 3 ? 1 : 0;
                    EVN_ITEMS(e) {
                        if (e < SP_LINES) EVN_OWN_AT(own, q, e) = begin;
                    }
                }
            }
        }
        EVN_BARRIER;
        if (w < windows - 1) {
            for (int t = t0; t < t1; t++) {
                for (int q = 0; q < SP_VALUES; q++) {
                    const evn_long to = kept + ((evn_long)t * SP_VALUES + q) * row_kept;
                    EVN_ITEMS(e) { work[to + e] = HELD(t - t0, e)[q * SP_ITEMS]; }
                }
            }
            EVN_BARRIER;
        }
    }

    /* ---- the middle ---- */
    EVN_ITEMS(e) { middle_reach(HELD(middle, (e + SP_LINES) % SP_ITEMS), &EVN_OWN_AT(own, 0, e)); }
    EVN_BARRIER;
    EVN_ITEMS(e) { middle_offer(HELD(middle, e), &EVN_OWN_AT(own, 0, e)); }
    EVN_BARRIER;
    EVN_ITEMS(e) { middle_solve(HELD(middle, (e + SP_LINES) % SP_ITEMS), &EVN_OWN_AT(own, 0, e)); }
    EVN_BARRIER;
    for (int q = 0; q < NC; q++) {
        EVN_ITEMS(e) { HELD(middle, e)[q * SP_ITEMS] = EVN_OWN_AT(own, OWN_Y1 + q, e); }
    }

    /* ---- backward ---- */
    for (int w = windows - 1; w >= 0; w--) {
        const int t0 = w * SP_ROWS, t1 = evn_imin(t0 + SP_ROWS, rows);
        if (w < windows - 1) {
            EVN_BARRIER;
            for (int t = t0; t < t1; t++) {
                for (int q = 0; q < SP_VALUES; q++) {
                    const evn_long from = kept + ((evn_long)t * SP_VALUES + q) * row_kept;
                    EVN_ITEMS(e) { HELD(t - t0, e)[q * SP_ITEMS] = work[from + e]; }
                }
            }
        }
        for (int t = evn_imin(t1, rows - 1) - 1; t >= t0; t--) {
            EVN_ITEMS(e) { row_back(HELD(t - t0, e), &EVN_OWN_AT(own, 0, e)); }
        }
        EVN_BARRIER;
        if (l.direction == 0) {
            for (int t = t0; t < t1; t += 4) {
                for (int end = 0; end < 2; end++) {
                    for (int part = 0; part < 2; part++) {
                        EVN_ITEMS(e) {
                            const int n = part * 8 + e / 16 * 4 + e % 4, at = t + e / 4 % 4;
                            const int s = row_of(at, end, m);
                            if (at < t1 && s >= 0 && first + n <= last)
                                hand_on(0, v.scale, HELD(at - t0, end * SP_LINES + n),
                                        work + EVN_OWN_AT(moved_r, part, e) + s, l.points);
                        }
                    }
                }
            }
        } else if (l.direction == 1) {
            for (int t = t0; t < t1; t++) {
                EVN_ITEMS(e) {
                    const int s = row_of(t, e / SP_LINES, m);
                    if (s >= 0 && first + e % SP_LINES <= last)
                        hand_on(1, v.scale, HELD(t - t0, e), work + EVN_OWN(my_r, e) + s * l.sr,
                                l.points);
                }
            }
        } else {
            for (int t = t0; t < t1; t += AT_ONCE) {
                for (int a = 0; a < AT_ONCE; a++) {
                    EVN_ITEMS(e) {
                        const int at = evn_imin(t + a, t1 - 1);
                        const int s = evn_imax(0, row_of(at, e / SP_LINES, m));
                        bring_u(&EVN_OWN_AT(batch, a * BATCH, e),
                                work + EVN_OWN(my_r, e) + s * l.sr, l.points,
                                field + EVN_OWN(my_m, e) + s * l.sm - 3 * z.sc, z.sc);
                    }
                }
                for (int a = 0; a < AT_ONCE; a++) {
                    EVN_ITEMS(e) {
                        const int s = row_of(t + a, e / SP_LINES, m);
                        const int is_there = s >= 0 && t + a < t1 && first + e % SP_LINES <= last;
                        if (is_there)
                            add_to_u(HELD(t + a - t0, e), &EVN_OWN_AT(batch, a * BATCH, e),
                                     field + EVN_OWN(my_m, e) + s * l.sm - 3 * z.sc, z.sc);
                    }
                }
            }
        }
    }
}
