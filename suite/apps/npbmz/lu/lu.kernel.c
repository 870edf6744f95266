/* LU-SSOR on a device: the two sweeps as waves over bundles of lines (wave.h), and the residual.
 *
 * In a group, the zone's fields come and go through local memory, LU_CHUNK steps at a time:
 * LU_CHUNK neighbours of a row are read as they lie, and stored so that the points of a hyperplane
 * lie side by side. In the lower sweep u and r of a point are not needed any more once its step has
 * begun: what it gives to its neighbours takes their place.
 *
 * Per point, from and to memory: lower sweep 120 bytes (u, r; v), upper 120 (u, v; u), residual 120
 * (u, f; r), which is 107 ps at 3.35 TB/s. Items keep 15 numbers from launch to launch, 240/S bytes
 * a sweep, and bundles give each other 15/16 of a number, most of which the second-level cache
 * holds. Arithmetic: 114, 135 (lu.c) and 270 (residual.kernel.h) instructions, fused ones as one,
 * which is 31 ps at 34 TFlop/s. In the sweeps a third of the items' steps are at no point of the
 * zone in class C (half in class A): at the ends of lines, and where a bundle sticks out.
 *
 * Work space: v by bundles, 5.9 doubles a point of a full bundle of long lines; 8.1 in class C, 10
 * in class A, 14 in class W.
 */
#define NPBMZ_ITEM
#include "npbmz/lu/wave.h"
#include "npbmz/device/residual.kernel.h"

/* Where a group's bundle is, and what it has to do in this launch. */
struct lu_bundle {
    evn_long u, r;            /* in `field`: its first line's first interior point */
    evn_long sc;              /* from component to component */
    evn_long own;             /* in `work`: the bundle's part; it begins with v */
    int room, back;           /* in `work`: steps of a bundle, doubles of one */
    int sj, sk;               /* in `field`, on a hyperplane: from line to line in y, in z */
    int b, c;                 /* bundle number b in y and c in z */
    int bundles_y, bundles_z; /* bundles of the zone */
    int lines_y, lines_z;     /* lines that the zone has here */
    int last;                 /* i of the last interior point */
    int first;                /* the zone's step when the bundle's first one is */
    int steps;                /* steps of the bundle */
    int hyperplanes;          /* hyperplanes of the zone */
};

/* The bundles of a group, numbers of pieces; where groups wait for each other, what differs. */
#if LU_RESIDENT
#    define LU_EACH(at)    for (int at = EVN_GROUP; at < a.bundles; at += EVN_GROUPS)
#    define LU_WORK        EVN_COMMON(double, work), EVN_BUFFER(evn_long, flags)
#    define LU_AWAIT(b, n) EVN_AWAIT(flags + (t.own + (b)) / LU_FLAG, a.from + (n))
#    define LU_DONE(n, is_all)                                                                     \
        EVN_RAISE(flags + t.own / LU_FLAG, a.from + EVN_SELECT(is_all, LU_ALL, n))
#else
#    define LU_EACH(at)        for (int at = EVN_GROUP; at == EVN_GROUP; at++)
#    define LU_WORK            EVN_BUFFER(double, work)
#    define LU_AWAIT(b, n)     ((void)0)
#    define LU_DONE(n, is_all) EVN_BARRIER
#endif

/* in a bundle's part of `work`, behind v: what it passes on in y, in z, and what its items keep */
#define LU_Y(t)    ((t).room * LU_STEP_V)
#define LU_Z(t)    ((t).room * (LU_STEP_V + LU_STEP_Y))
#define LU_KEPT(t) ((t).room * LU_STEP)

EVN_DEVICE_FUNCTION void lu_find_bundle(struct lu_bundle *a, EVN_GLOBAL const struct gpu_zone *z,
                                        int part) {
    a->bundles_y = lu_bundles_y(z->ny);
    a->bundles_z = lu_bundles_z(z->nz);
    a->c = part / a->bundles_y;
    a->b = part - a->c * a->bundles_y;
    const int j = a->b * LU_LINES_Y, k = a->c * LU_LINES_Z;
    const evn_long corner = (1 + k) * z->sk + (1 + j) * z->sj + 1;
    a->u = z->u + corner;
    a->r = z->r + corner;
    a->sj = (int)z->sj - 1;
    a->sk = (int)z->sk - 1;
    a->sc = z->sc;
    a->room = lu_room(z->nx);
    a->back = (int)lu_bundle_doubles(z->nx);
    a->own = z->work + (evn_long)part * a->back;
    a->lines_y = evn_imin(z->ny - 2 - j, LU_LINES_Y);
    a->lines_z = evn_imin(z->nz - 2 - k, LU_LINES_Z);
    a->last = z->nx - 2;
    a->first = j + k;
    a->steps = lu_hyperplanes(z->nx - 2, a->lines_y, a->lines_z);
    a->hyperplanes = lu_hyperplanes(z->nx - 2, z->ny - 2, z->nz - 2);
}

/* whether line (j,k) of the bundle is at an interior point at step q */
EVN_DEVICE_FUNCTION int lu_is_in(const struct lu_bundle *a, int j, int k, int q) {
    const int i = 1 + q - j - k;
    return (i >= 1) & (i <= a->last) & (j < a->lines_y) & (k < a->lines_z);
}

/* ---- what an item does ---------------------------------------------------------------------
 *
 * In functions of their own: the host's compiler keeps their arrays in registers, those of an item
 * loop in memory. */

/* Local memory: component m of line n at step c of the chunk. LU_CHUNK items that fetch a line
 * store to as many rows, so rows are LU_CHUNK longer than a multiple of 16: then 16 items that
 * store together meet 16 banks. In front of a row is room for what the first lines read and do not
 * use. */
#define LU_ROW     (LU_ITEMS + LU_CHUNK)
#define LU_ROW_Z   (LU_LINES_Y + LU_ITEMS + LU_CHUNK)
#define LU_STAGE   (LU_CHUNK * LU_ROW) /* from component to component */
#define LU_STAGE_Z (LU_CHUNK * LU_ROW_Z)
#define LU_PASS_Z  (LU_ITEMS + LU_LINES_Y)
/* The values for the next line in y are also read a line in z apart, by 8 items each of two
 * components at a time. On a device the number of a line in z is turned into those of its lines in
 * y, and 8 doubles lie behind a component: they meet 16 banks, and so do neighbours as before. The
 * item that has no neighbour in y reads another one of its row, and takes the value from edge_y. */
#define LU_TURNED(n, by)                                                                           \
    (EVN_ON_DEVICE                                                                                 \
         ? (((n) & ~(LU_LINES_Y - 1)) | (((n) + (by)) & (LU_LINES_Y - 1))) ^ ((n) / LU_LINES_Y)    \
         : (n) + (by))
#define LU_STAGE_Y            (LU_STAGE + EVN_ON_DEVICE * 8)
#define R_BESIDE(m, c, n, by) r[(m)*LU_STAGE_Y + (c)*LU_ROW + LU_CHUNK + LU_TURNED(n, by)]
#define R_AT(m, c, n)         R_BESIDE(m, c, n, 0)
#define U_AT(m, c, n)         u[(m)*LU_STAGE_Z + (c)*LU_ROW_Z + LU_LINES_Y + (n)]

/* from component to component of an item's own values */
#define LU_OWN (EVN_ON_DEVICE ? 1 : LU_ITEMS)

/* The point that item n fetches or puts back in round e: its line, its step of the chunk, and its
 * place in the zone; the bundle's corner where it is no interior point. */
struct lu_spot {
    int at;
    int line, c, is_in;
};
EVN_DEVICE_FUNCTION struct lu_spot lu_find_spot(const struct lu_bundle *a, int q, int e, int n) {
    struct lu_spot s;
    const int at = e * LU_ITEMS + n;
    s.line = at / LU_CHUNK;
    s.c = at % LU_CHUNK;
    const int j = s.line % LU_LINES_Y, k = s.line / LU_LINES_Y;
    s.is_in = lu_is_in(a, j, k, q + s.c);
    s.at = EVN_SELECT(s.is_in, j * a->sj + k * a->sk + (q + s.c), 0);
    return s;
}

/* the components at a point: all loads of a round come before its first store, */
EVN_DEVICE_FUNCTION void lu_fetch(double *to, EVN_GLOBAL const double *from, evn_long sc) {
    for (int m = 0; m < NC; m++) to[m * LU_OWN] = from[m * sc];
}
/* which puts them, or (rest, 0, 0, 0, 0), where they belong */
EVN_DEVICE_FUNCTION void lu_place(EVN_LOCAL double *to, int stage, const double *from, int is_in,
                                  double rest) {
    for (int m = 0; m < NC; m++) {
        const double a = from[m * LU_OWN];
        to[m * stage] = EVN_SELECT(is_in, a, m == 0 ? rest : 0.0);
    }
}

/* Where line n has the point that a chunk whose last step (lower sweep) or first one (upper) is q
 * reaches furthest, which with those of the chunks before is in all pieces of 32 bytes that it
 * reads; -1 if none. */
EVN_DEVICE_FUNCTION int lu_furthest(const struct lu_bundle *a, int n, int q) {
    const int j = n % LU_LINES_Y, k = n / LU_LINES_Y, i = 1 + q - j - k;
    const int is_near = (i > 1 - LU_CHUNK) & (i < a->last + LU_CHUNK);
    if (!(is_near & (j < a->lines_y) & (k < a->lines_z))) return -1;
    return j * a->sj + k * a->sk + evn_imin(evn_imax(i, 1), a->last) - 1 + j + k;
}

/* One step of the lower sweep. At r and u is what was fetched; what goes to the successors in y and
 * in z is left there, what goes to that in x in `west`. */
EVN_DEVICE_FUNCTION void lu_lower_point(const struct lu_coefficients *c, EVN_LOCAL double *r,
                                        EVN_LOCAL double *u, double *west, const double *south,
                                        const double *below, EVN_LOCAL const double *edge_y,
                                        EVN_LOCAL const double *edge_z, int is_first_y,
                                        int is_first_z, int is_in, EVN_GLOBAL double *v) {
    struct lu_point p;
    struct lu_flow flow;
    double state[NC], y[NC], x[NC], w[3][NC], z;
    for (int m = 0; m < NC; m++) state[m] = u[m * LU_STAGE_Z];
    lu_state(c, state, EVN_SELECT(is_in, 1.0, 0.0), &p);
    lu_flow(c, &p, &flow);
    for (int m = 0; m < NC; m++) {
        const double from_z = edge_z[m * LU_LINES_Y], from_y = edge_y[m * LU_LINES_Z];
        y[m] = r[m * LU_STAGE_Y] + c->a[2] * EVN_SELECT(is_first_z, from_z, below[m * LU_OWN]);
        y[m] = y[m] + c->a[0] * west[m * LU_OWN];
        y[m] = y[m] + c->a[1] * EVN_SELECT(is_first_y, from_y, south[m * LU_OWN]);
    }
    lu_solve(c, &p, y, 0, x, &z);
    lu_scatter(c, &p, &flow, x, z, w);
    for (int m = 0; m < NC; m++) {
        if (is_in) v[m * LU_ITEMS] = x[m];
        west[m * LU_OWN] = w[0][m];
        r[m * LU_STAGE_Y] = w[1][m];
        u[m * LU_STAGE_Z] = w[2][m];
    }
}

/* One step of the upper sweep: the new u takes the place of the old one; `v` is what the lower
 * sweep has left. */
EVN_DEVICE_FUNCTION void lu_upper_point(const struct lu_coefficients *c, EVN_LOCAL double *u,
                                        const double *v, double *east, const double *north,
                                        const double *above, EVN_LOCAL const double *edge_y,
                                        EVN_LOCAL const double *edge_z, int is_last_y,
                                        int is_last_z, int is_in, EVN_LOCAL double *to_y,
                                        EVN_LOCAL double *to_z) {
    struct lu_point p;
    struct lu_flow flow;
    double state[NC], y[NC], before[NC], x[NC], w[3][NC], d[NC], z;
    for (int m = 0; m < NC; m++) state[m] = u[m * LU_STAGE];
    lu_state(c, state, EVN_SELECT(is_in, 1.0, 0.0), &p);
    lu_flow(c, &p, &flow);
    for (int m = 0; m < NC; m++) {
        const double from_z = edge_z[m * LU_LINES_Y], from_y = edge_y[m * LU_LINES_Z];
        y[m] = c->a[2] * EVN_SELECT(is_last_z, from_z, above[m * LU_OWN]);
        y[m] = y[m] + c->a[0] * east[m * LU_OWN];
        y[m] = y[m] + c->a[1] * EVN_SELECT(is_last_y, from_y, north[m * LU_OWN]);
        before[m] = v[m * LU_OWN];
    }
    lu_solve(c, &p, y, before, x, &z);
    lu_scatter(c, &p, &flow, x, z, w);
    lu_conserved(&p, x, d);
    for (int m = 0; m < NC; m++) {
        u[m * LU_STAGE] = state[m] + c->update * d[m];
        east[m * LU_OWN] = w[0][m];
        to_y[m * (2 * LU_ROW)] = w[1][m];
        to_z[m * (2 * LU_PASS_Z)] = w[2][m];
    }
}

/* The residual at an interior point, put at *r; 0 there if the place is none (then i,j,k are those
 * of any other), nothing if there is no such place. */
EVN_DEVICE_FUNCTION void lu_residual_point(EVN_GLOBAL const double *u, EVN_GLOBAL const double *f,
                                           EVN_GLOBAL double *r, evn_long sj, evn_long sk,
                                           evn_long sc, int nx, int ny, int nz, int i, int j, int k,
                                           int is_in, int is_there,
                                           const struct residual_constants *c) {
    struct residual_point q;
    double out[NC];
    residual_item(u, f, sj, sk, sc, nx, ny, nz, i, j, k, c, out, &q);
    for (int m = 0; m < NC; m++)
        if (is_there) r[m * sc] = EVN_SELECT(is_in, out[m], 0.0);
}

/* Resumes a line: the values that an item gives to its successors in x, y and z outlive a launch;
 * none come from beyond a line's end. */
EVN_DEVICE_FUNCTION void lu_resume(double *x, double *y, double *z, EVN_GLOBAL const double *carry,
                                   int goes_on) {
    for (int m = 0; m < NC; m++) {
        x[m * LU_OWN] = goes_on ? carry[m * LU_ITEMS] : 0;
        y[m * LU_OWN] = goes_on ? carry[(NC + m) * LU_ITEMS] : 0;
        z[m * LU_OWN] = goes_on ? carry[(2 * NC + m) * LU_ITEMS] : 0;
    }
}
EVN_DEVICE_FUNCTION void lu_keep(const double *x, const double *y, const double *z,
                                 EVN_GLOBAL double *carry) {
    for (int m = 0; m < NC; m++) {
        carry[m * LU_ITEMS] = x[m * LU_OWN];
        carry[(NC + m) * LU_ITEMS] = y[m * LU_OWN];
        carry[(2 * NC + m) * LU_ITEMS] = z[m * LU_OWN];
    }
}

/* Values that a chunk gets from the bundles beside it: their number, the rounds of all items that
 * they take, and their place in local memory. */
enum {
    LU_EDGE_Y = LU_CHUNK * LU_STEP_Y,
    LU_EDGE_Z = LU_CHUNK * LU_STEP_Z,
    LU_ROUNDS_Y = (LU_EDGE_Y + LU_ITEMS - 1) / LU_ITEMS,
    LU_ROUNDS_Z = (LU_EDGE_Z + LU_ITEMS - 1) / LU_ITEMS
};
#define PLACE_EDGES                                                                                \
    for (int e = 0; e < LU_ROUNDS_Y; e++) {                                                        \
        EVN_ITEMS(n) {                                                                             \
            if (e * LU_ITEMS + n < LU_EDGE_Y) edge_y[e * LU_ITEMS + n] = EVN_OWN_AT(from_y, e, n); \
        }                                                                                          \
    }                                                                                              \
    for (int e = 0; e < LU_ROUNDS_Z; e++) {                                                        \
        EVN_ITEMS(n) {                                                                             \
            if (e * LU_ITEMS + n < LU_EDGE_Z) edge_z[e * LU_ITEMS + n] = EVN_OWN_AT(from_z, e, n); \
        }                                                                                          \
    }

/* ---- lower sweep --------------------------------------------------------------------------- */

EVN_KERNEL(lu_lower, EVN_RESIDENT(LU_ITEMS, LU_GROUPS),
           (EVN_BUFFER(double, field), LU_WORK, EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct lu_wave, a))) {
    EVN_LOCAL_ARRAY(double, r, NC *LU_STAGE_Y); /* r; then values for the next line in y */
    EVN_LOCAL_ARRAY(double, u, NC *LU_STAGE_Z); /* u; then values for the next line in z */
    EVN_LOCAL_ARRAY(double, edge_y, LU_CHUNK *LU_STEP_Y);
    EVN_LOCAL_ARRAY(double, edge_z, LU_CHUNK *LU_STEP_Z);
    EVN_PRIVATE_ARRAY(double, fetched, LU_AT_ONCE * 2 * NC); /* on their way from memory */
    EVN_PRIVATE_ARRAY(double, from_y, LU_ROUNDS_Y);
    EVN_PRIVATE_ARRAY(double, from_z, LU_ROUNDS_Z);
    EVN_PRIVATE_ARRAY(double, west, NC);
    EVN_PRIVATE_ARRAY(double, south, NC);
    EVN_PRIVATE_ARRAY(double, below, NC);
    struct lu_bundle t;
    LU_EACH(at) {
        lu_find_bundle(&t, &zones[pieces[at].zone], pieces[at].part);
        EVN_GLOBAL double *const mine = work + t.own;
#if LU_RESIDENT
        const int begin = 0, end = t.steps;
#else
        const int begin = (a.launch - t.b - t.c) * a.steps - t.first;
        const int end = evn_imin(begin + a.steps, t.steps);
#endif
        if (begin >= end || end <= 0) continue;
        EVN_ITEMS(n) {
            lu_resume(&EVN_OWN_AT(west, 0, n), &EVN_OWN_AT(south, 0, n), &EVN_OWN_AT(below, 0, n),
                      mine + LU_KEPT(t) + n, begin > 0);
        }
        for (int q = evn_imax(begin, 0); q < end; q += LU_CHUNK) {
            /* what comes from the bundles before this one: of one step before each */
            if (t.b > 0) LU_AWAIT(-t.back, q + LU_CHUNK + LU_LINES_Y - 1);
            if (t.c > 0) LU_AWAIT(-t.bundles_y * t.back, q + LU_CHUNK + LU_LINES_Z - 1);
            for (int e = 0; e < LU_ROUNDS_Y; e++) {
                EVN_ITEMS(n) {
                    const int at = e * LU_ITEMS + n;
                    const int is_in = (at < LU_EDGE_Y) & (t.b > 0) &
                                      lu_is_in(&t, 0, at % LU_LINES_Z, q + at / LU_STEP_Y);
                    EVN_OWN_AT(from_y, e, n) =
                        is_in ? mine[-t.back + LU_Y(t) + (q + LU_LINES_Y - 1) * LU_STEP_Y + at] : 0;
                }
            }
            for (int e = 0; e < LU_ROUNDS_Z; e++) {
                EVN_ITEMS(n) {
                    const int at = e * LU_ITEMS + n;
                    const int is_in = (at < LU_EDGE_Z) & (t.c > 0) &
                                      lu_is_in(&t, at % LU_LINES_Y, 0, q + at / LU_STEP_Z);
                    EVN_OWN_AT(from_z, e, n) = is_in ? mine[-t.bundles_y * t.back + LU_Z(t) +
                                                            (q + LU_LINES_Z - 1) * LU_STEP_Z + at]
                                                     : 0;
                }
            }
            /* u and r, and a gas at rest where there is no interior point */
            for (int first = 0; first < LU_CHUNK; first += LU_AT_ONCE) {
                for (int e = 0; e < LU_AT_ONCE; e++) {
                    EVN_ITEMS(n) {
                        const struct lu_spot s = lu_find_spot(&t, q, first + e, n);
                        lu_fetch(&EVN_OWN_AT(fetched, 2 * e * NC, n), field + t.u + s.at, t.sc);
                        lu_fetch(&EVN_OWN_AT(fetched, (2 * e + 1) * NC, n), field + t.r + s.at,
                                 t.sc);
                    }
                }
                for (int e = 0; e < LU_AT_ONCE; e++) {
                    EVN_ITEMS(n) {
                        const struct lu_spot s = lu_find_spot(&t, q, first + e, n);
                        lu_place(&U_AT(0, s.c, s.line), LU_STAGE_Z,
                                 &EVN_OWN_AT(fetched, 2 * e * NC, n), s.is_in, 1);
                        lu_place(&R_AT(0, s.c, s.line), LU_STAGE_Y,
                                 &EVN_OWN_AT(fetched, (2 * e + 1) * NC, n), s.is_in, 0);
                    }
                }
            }
            PLACE_EDGES;
            EVN_ITEMS(n) {
                const int at = lu_furthest(&t, n, q + 2 * LU_CHUNK - 1);
                for (int m = 0; m < NC; m++)
                    if (at >= 0) {
                        EVN_PREFETCH(field + (t.u + m * t.sc + at));
                        EVN_PREFETCH(field + (t.r + m * t.sc + at));
                    }
            }
            EVN_BARRIER;
            for (int c = 0; c < LU_CHUNK; c++) {
                EVN_ITEMS(n) {
                    const int j = n % LU_LINES_Y, k = n / LU_LINES_Y;
                    lu_lower_point(&a.c, &R_AT(0, c, n), &U_AT(0, c, n), &EVN_OWN_AT(west, 0, n),
                                   &EVN_OWN_AT(south, 0, n), &EVN_OWN_AT(below, 0, n),
                                   edge_y + c * LU_STEP_Y + k, edge_z + c * LU_STEP_Z + j, j == 0,
                                   k == 0, lu_is_in(&t, j, k, q + c),
                                   mine + (q + c) * LU_STEP_V + n);
                }
                EVN_BARRIER;
                EVN_ITEMS(n) {
                    for (int m = 0; m < NC; m++) {
                        EVN_OWN_AT(south, m, n) = R_BESIDE(m, c, n, -1);
                        EVN_OWN_AT(below, m, n) = U_AT(m, c, n - LU_LINES_Y);
                    }
                }
            }
            /* what goes to the bundles after this one */
            EVN_SHARE_AMONG(at, LU_EDGE_Y, LU_ITEMS) {
                const int k = at % LU_LINES_Z, m = at / LU_LINES_Z % NC, c = at / LU_STEP_Y;
                mine[LU_Y(t) + q * LU_STEP_Y + at] = R_AT(m, c, (k + 1) * LU_LINES_Y - 1);
            }
            EVN_SHARE_AMONG(at, LU_EDGE_Z, LU_ITEMS) {
                const int j = at % LU_LINES_Y, m = at / LU_LINES_Y % NC, c = at / LU_STEP_Z;
                mine[LU_Z(t) + q * LU_STEP_Z + at] = U_AT(m, c, LU_ITEMS - LU_LINES_Y + j);
            }
            LU_DONE(q + LU_CHUNK, q + LU_CHUNK >= end);
        }
        if (LU_RESIDENT) continue;
        EVN_ITEMS(n) {
            lu_keep(&EVN_OWN_AT(west, 0, n), &EVN_OWN_AT(south, 0, n), &EVN_OWN_AT(below, 0, n),
                    mine + LU_KEPT(t) + n);
        }
    }
}

/* ---- upper sweep --------------------------------------------------------------------------- */

#undef U_AT
#define U_AT(m, c, n) u[(m)*LU_STAGE + (c)*LU_ROW + (n)]
/* A step's values for the lines before its own lie in one of two places in turn, since other items
 * still read those of the last step. */
#define Y_AT(m, c, n) to_y[(m) * (2 * LU_ROW) + (c) % 2 * LU_ROW + (n)]
#define Z_AT(m, c, n) to_z[(m) * (2 * LU_PASS_Z) + (c) % 2 * LU_PASS_Z + (n)]

EVN_KERNEL(lu_upper, EVN_RESIDENT(LU_ITEMS, LU_GROUPS),
           (EVN_BUFFER(double, field), LU_WORK, EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct lu_wave, a))) {
    EVN_LOCAL_ARRAY(double, u, NC *LU_STAGE);
    EVN_LOCAL_ARRAY(double, to_y, NC * 2 * LU_ROW);
    EVN_LOCAL_ARRAY(double, to_z, NC * 2 * LU_PASS_Z);
    EVN_LOCAL_ARRAY(double, edge_y, LU_CHUNK *LU_STEP_Y);
    EVN_LOCAL_ARRAY(double, edge_z, LU_CHUNK *LU_STEP_Z);
    EVN_PRIVATE_ARRAY(double, fetched, LU_AT_ONCE *NC); /* on their way from memory */
    EVN_PRIVATE_ARRAY(double, from_y, LU_ROUNDS_Y);
    EVN_PRIVATE_ARRAY(double, from_z, LU_ROUNDS_Z);
    EVN_PRIVATE_ARRAY(double, v, NC);
    EVN_PRIVATE_ARRAY(double, east, NC);
    EVN_PRIVATE_ARRAY(double, north, NC);
    EVN_PRIVATE_ARRAY(double, above, NC);
    struct lu_bundle t;
    LU_EACH(turn) {
        /* steps from end - 1 down to begin */
#if LU_RESIDENT
        const int at = a.bundles - 1 - turn;
        lu_find_bundle(&t, &zones[pieces[at].zone], pieces[at].part);
        const int end = t.steps, begin = 0;
#else
        lu_find_bundle(&t, &zones[pieces[turn].zone], pieces[turn].part);
        const int round = a.launch - (t.bundles_y - 1 - t.b) - (t.bundles_z - 1 - t.c);
        const int end = t.hyperplanes - round * a.steps - t.first;
        const int begin = evn_imax(end - a.steps, 0);
#endif
        EVN_GLOBAL double *const mine = work + t.own;
        if (begin >= end || begin >= t.steps) continue;
        EVN_ITEMS(n) {
            lu_resume(&EVN_OWN_AT(east, 0, n), &EVN_OWN_AT(north, 0, n), &EVN_OWN_AT(above, 0, n),
                      mine + LU_KEPT(t) + n, end < t.steps);
        }
        for (int q = evn_imin(end, t.steps) - LU_CHUNK; q >= begin; q -= LU_CHUNK) {
            if (t.b < t.bundles_y - 1) LU_AWAIT(t.back, t.room - q + LU_LINES_Y - 1);
            if (t.c < t.bundles_z - 1) LU_AWAIT(t.bundles_y * t.back, t.room - q + LU_LINES_Z - 1);
            for (int e = 0; e < LU_ROUNDS_Y; e++) {
                EVN_ITEMS(n) {
                    const int at = e * LU_ITEMS + n;
                    const int is_in =
                        (at < LU_EDGE_Y) & (t.b < t.bundles_y - 1) &
                        lu_is_in(&t, LU_LINES_Y - 1, at % LU_LINES_Z, q + at / LU_STEP_Y);
                    EVN_OWN_AT(from_y, e, n) =
                        is_in ? mine[t.back + LU_Y(t) + (q - (LU_LINES_Y - 1)) * LU_STEP_Y + at]
                              : 0;
                }
            }
            for (int e = 0; e < LU_ROUNDS_Z; e++) {
                EVN_ITEMS(n) {
                    const int at = e * LU_ITEMS + n;
                    const int is_in =
                        (at < LU_EDGE_Z) & (t.c < t.bundles_z - 1) &
                        lu_is_in(&t, at % LU_LINES_Y, LU_LINES_Z - 1, q + at / LU_STEP_Z);
                    EVN_OWN_AT(from_z, e, n) = is_in ? mine[t.bundles_y * t.back + LU_Z(t) +
                                                            (q - (LU_LINES_Z - 1)) * LU_STEP_Z + at]
                                                     : 0;
                }
            }
            /* v of the chunk's first step; of the others one step ahead of its use */
            EVN_ITEMS(n) {
                const int s = q + LU_CHUNK - 1;
                const int is_in = lu_is_in(&t, n % LU_LINES_Y, n / LU_LINES_Y, s);
                for (int m = 0; m < NC; m++)
                    EVN_OWN_AT(v, m, n) = is_in ? mine[s * LU_STEP_V + m * LU_ITEMS + n] : 0;
            }
            for (int first = 0; first < LU_CHUNK; first += LU_AT_ONCE) {
                for (int e = 0; e < LU_AT_ONCE; e++) {
                    EVN_ITEMS(n) {
                        const struct lu_spot s = lu_find_spot(&t, q, first + e, n);
                        lu_fetch(&EVN_OWN_AT(fetched, e * NC, n), field + t.u + s.at, t.sc);
                    }
                }
                for (int e = 0; e < LU_AT_ONCE; e++) {
                    EVN_ITEMS(n) {
                        const struct lu_spot s = lu_find_spot(&t, q, first + e, n);
                        lu_place(&U_AT(0, s.c, s.line), LU_STAGE, &EVN_OWN_AT(fetched, e * NC, n),
                                 s.is_in, 1);
                    }
                }
            }
            PLACE_EDGES;
            EVN_ITEMS(n) {
                const int at = lu_furthest(&t, n, q - LU_CHUNK);
                for (int m = 0; m < NC; m++)
                    if (at >= 0) EVN_PREFETCH(field + (t.u + m * t.sc + at));
                for (int e = 0; e < NC; e++) /* v of a chunk, 4 doubles an item at a time */
                    if (q >= LU_CHUNK)
                        EVN_PREFETCH(mine +
                                     ((q - LU_CHUNK) * LU_STEP_V +
                                      (e * LU_ITEMS + n) * (LU_CHUNK * LU_STEP_V / NC / LU_ITEMS)));
            }
            EVN_BARRIER;
            for (int c = LU_CHUNK - 1; c >= 0; c--) {
                EVN_ITEMS(n) {
                    const int j = n % LU_LINES_Y, k = n / LU_LINES_Y;
                    lu_upper_point(&a.c, &U_AT(0, c, n), &EVN_OWN_AT(v, 0, n),
                                   &EVN_OWN_AT(east, 0, n), &EVN_OWN_AT(north, 0, n),
                                   &EVN_OWN_AT(above, 0, n), edge_y + c * LU_STEP_Y + k,
                                   edge_z + c * LU_STEP_Z + j, j == LU_LINES_Y - 1,
                                   k == LU_LINES_Z - 1, lu_is_in(&t, j, k, q + c), &Y_AT(0, c, n),
                                   &Z_AT(0, c, n));
                    const int next = q + c - 1;
                    const int is_next_in = (c > 0) & lu_is_in(&t, j, k, next);
                    for (int m = 0; m < NC; m++)
                        EVN_OWN_AT(v, m, n) =
                            is_next_in ? mine[next * LU_STEP_V + m * LU_ITEMS + n] : 0;
                }
                EVN_BARRIER;
                EVN_ITEMS(n) {
                    for (int m = 0; m < NC; m++) {
                        EVN_OWN_AT(north, m, n) = Y_AT(m, c, n + 1);
                        EVN_OWN_AT(above, m, n) = Z_AT(m, c, n + LU_LINES_Y);
                    }
                }
                EVN_SHARE_AMONG(at, LU_STEP_Y, LU_ITEMS) {
                    mine[LU_Y(t) + (q + c) * LU_STEP_Y + at] =
                        Y_AT(at / LU_LINES_Z, c, at % LU_LINES_Z * LU_LINES_Y);
                }
                EVN_SHARE_AMONG(at, LU_STEP_Z, LU_ITEMS) {
                    mine[LU_Z(t) + (q + c) * LU_STEP_Z + at] =
                        Z_AT(at / LU_LINES_Y, c, at % LU_LINES_Y);
                }
            }
            for (int e = 0; e < LU_CHUNK; e++) {
                EVN_ITEMS(n) {
                    const struct lu_spot s = lu_find_spot(&t, q, e, n);
                    for (int m = 0; m < NC; m++)
                        if (s.is_in) field[t.u + m * t.sc + s.at] = U_AT(m, s.c, s.line);
                }
            }
            LU_DONE(t.room - q, q == 0);
        }
        if (LU_RESIDENT) continue;
        EVN_ITEMS(n) {
            lu_keep(&EVN_OWN_AT(east, 0, n), &EVN_OWN_AT(north, 0, n), &EVN_OWN_AT(above, 0, n),
                    mine + LU_KEPT(t) + n);
        }
    }
}

/* ---- residual ------------------------------------------------------------------------------ */

/* The residual at the interior points, 0 at both ends of a row and in its padding, as residual() of
 * residual.h does. A group has consecutive places of LU_PLANES planes; rows follow each other
 * without a gap. */
EVN_KERNEL(lu_residual, LU_RESIDUAL_ITEMS,
           (EVN_BUFFER(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct lu_operator, a))) {
    EVN_GLOBAL const struct gpu_zone *z = &zones[pieces[EVN_GROUP].zone];
    const int nx = z->nx, ny = z->ny, nz = z->nz, sj = (int)z->sj;
    const int groups = lu_plane_groups(sj, ny), places = sj * (ny - 2);
    const int from = pieces[EVN_GROUP].part % groups * LU_RESIDUAL_ITEMS;
    const int k0 = 1 + pieces[EVN_GROUP].part / groups * LU_PLANES;
    const int k1 = evn_imin(k0 + LU_PLANES, nz - 1);
    const double rows = 1.0 / sj;
    for (int k = k0; k < k1; k++) {
        const evn_long r = z->r + k * z->sk + z->sj;
        EVN_ITEMS(n) {
            const int at = from + n;
            const int row = (int)((at + 0.5) * rows); /* at / sj, which cannot be vectorised */
            const int i = at - row * sj;
            lu_residual_point(field + z->u, field + z->f, field + r + at, z->sj, z->sk, z->sc, nx,
                              ny, nz, evn_imin(evn_imax(i, 1), nx - 2), evn_imin(1 + row, ny - 2),
                              k, (i >= 1) & (i <= nx - 2), at < places, &a.c);
        }
    }
    (void)work;
}
