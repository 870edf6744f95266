/* BT's time step on a device: the right-hand side, and the block-tridiagonal lines of a direction.
 *
 * The arithmetic is that of the host, by the same text (residual.kernel.h, gas.h, row.h), in the
 * same order: eliminations from both ends of a line, which meet in the middle. Here two items do a
 * line, one from each end.
 *
 * What it costs on a GPU is memory. C, the 25 numbers a row leaves for the back substitution,
 * written and read again would be 50 of 80 doubles that a point and direction moves: so C is never
 * stored. Rows are done in segments of BT_ROWS, as many as the group's memory has room for. When an
 * elimination leaves a segment it saves its state, y and C of the last row; the back substitution
 * comes back to the segment later, eliminates it again from the state before, and has its C then.
 * Only the segment next to the middle is done once. The gas is not stored either, it is made from u
 * each time it is read. A point and direction, in doubles, for lines that are much longer than a
 * segment of 3 rows:
 *
 *     eliminate:   read u 5, right-hand side 5; write state 30/3
 *     substitute:  read u 5, right-hand side 5, state 30/3; write increment 5
 *
 * 45 doubles, 360 bytes: 107 ps at 3.35 TB/s, if caches keep nothing. Operations: 2 x (270 of row.h
 * and its 3 divisions, 11 and a division for the gas of 4 rows in 3, a division being ten
 * operations) and 32 of the substitution, 690: 41 ps at 17e12 a second (34 TFlop/s fp64). With C
 * stored it would be 640 bytes and 370 operations, twice the time. Lines of class C along z have 13
 * rows a side: of 5 segments 4 are done twice, and 4 states saved, which comes to 41 doubles. The
 * right-hand side moves 15 doubles, 120 bytes: 36 ps.
 *
 * A group takes 32 KB of local memory, so that 7 of them run on a multiprocessor that has 228 KB (5
 * with segments of 4 rows, which move 320 bytes), and 255 registers an item, which spares it
 * reading y, C and the gas of the row before, the gas of the row itself, and in the substitution y
 * and C of the last row: 7 warps hide better how far away memory is than 5 do what they save. A
 * multiprocessor of an H100 has, for a row of 32 points: 340 cycles of arithmetic; 290 of local
 * memory, where C and y go only if the visit substitutes; 800
 * of device memory, if caches keep nothing. What is read a second time, 160 bytes a point, was last
 * used at most a line before, and all lines that are in work at a time are 22 MB of class C: much
 * of it may still be in the second-level cache.
 *
 * Loads are many at a time, and what a later part of a visit needs is asked for before the part in
 * front of it: the state before the gas is made, what an update is added to before x is
 * substituted. Registers are what limits that: all in one place spills.
 *
 * Work space of a point: 5 doubles, and up to 30/3 for the states.
 */
#define NPBMZ_ITEM
#include "npbmz/device/gpu_zone.h"
#include "npbmz/device/residual.kernel.h"
#include "npbmz/bt/bt_gpu.h"
#include "npbmz/bt/row.h"

EVN_DEVICE_FUNCTION void rhs_point(EVN_GLOBAL const double *field, EVN_GLOBAL double *work,
                                   const struct gpu_zone *z, int i, int j, int k,
                                   const struct bt_rhs_value *value) {
    double r[NC];
    struct residual_point q;
    residual_item(field + z->u, field + z->f, z->sj, z->sk, z->sc, z->nx, z->ny, z->nz, i, j, k,
                  &value->c, r, &q);
    work += z->work + k * z->sk + j * z->sj + i;
    work[0] = value->scale * r[0];
    work[z->sc] = value->scale * r[1];
    work[2 * z->sc] = value->scale * r[2];
    work[3 * z->sc] = value->scale * r[3];
    work[4 * z->sc] = value->scale * r[4];
}

/* Pieces: BT_POINTS columns of interior points, i fastest, on BT_PLANES planes: what the planes
 * above and below are needed for, a group has read already. */
EVN_KERNEL(bt_rhs, BT_POINTS,
           (EVN_BUFFER(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct bt_rhs_value, value))) {
    EVN_PRIVATE(int, own_i);
    EVN_PRIVATE(int, own_j);
    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const int inner = z.nx - 2, columns = inner * (z.ny - 2);
    const int parts = (columns + BT_POINTS - 1) / BT_POINTS;
    const int first = pieces[EVN_GROUP].part % parts * BT_POINTS;
    const int k0 = 1 + pieces[EVN_GROUP].part / parts * BT_PLANES;
    const int k1 = evn_imin(k0 + BT_PLANES, z.nz - 1);
    EVN_ITEMS(item) { /* for itself, since there are no divisions of lanes */
        EVN_OWN(own_i, item) = 1 + (first + item) % inner;
        EVN_OWN(own_j, item) = 1 + (first + item) / inner;
    }
    for (int k = k0; k < k1; k++) {
        EVN_ITEMS(item) {
            if (first + item < columns)
                rhs_point(field, work, &z, EVN_OWN(own_i, item), EVN_OWN(own_j, item), k, &value);
        }
    }
}

/* ---- memory of the group: value v of row s of item i at [(s*VALUES + v)*BT_STRIDE + i] ------- */

/* Whether an item keeps in registers what it reads again: the gas of two rows, y and C of the last
 * row. To the host registers are memory as well, and of AMD's targets only those with 512 vector
 * registers have enough: gfx906 would spill 460 bytes for 376. */
#if defined(EVN_HIP) && !defined(__gfx90a__) && !defined(__gfx942__) && !defined(__gfx950__)
#    define BT_IN_REGISTERS 0
#else
#    define BT_IN_REGISTERS EVN_ON_DEVICE
#endif

enum {
    /* On a device an odd number: there items beside one another fill rows beside one another, which
     * must not lie in the same bank. */
    BT_STRIDE = BT_ITEMS + EVN_ON_DEVICE,
    GAS_ROW = BT_GAS * BT_STRIDE,
    Y_ROW = NC * BT_STRIDE,
    C_ROW = NC * NC * BT_STRIDE
};

EVN_DEVICE_FUNCTION struct five five_get(EVN_LOCAL const double *at) {
    struct five a;
    a.r = at[0];
    a.d = at[BT_STRIDE];
    a.p = at[2 * BT_STRIDE];
    a.q = at[3 * BT_STRIDE];
    a.e = at[4 * BT_STRIDE];
    return a;
}
EVN_DEVICE_FUNCTION void five_put(EVN_LOCAL double *at, struct five a) {
    at[0] = a.r;
    at[BT_STRIDE] = a.d;
    at[2 * BT_STRIDE] = a.p;
    at[3 * BT_STRIDE] = a.q;
    at[4 * BT_STRIDE] = a.e;
}
EVN_DEVICE_FUNCTION struct block block_get(EVN_LOCAL const double *at) {
    struct block C;
    C.r = five_get(at);
    C.d = five_get(at + NC * BT_STRIDE);
    C.p = five_get(at + 2 * NC * BT_STRIDE);
    C.q = five_get(at + 3 * NC * BT_STRIDE);
    C.e = five_get(at + 4 * NC * BT_STRIDE);
    return C;
}
EVN_DEVICE_FUNCTION void block_put(EVN_LOCAL double *at, struct block C) {
    five_put(at, C.r);
    five_put(at + NC * BT_STRIDE, C.d);
    five_put(at + 2 * NC * BT_STRIDE, C.p);
    five_put(at + 3 * NC * BT_STRIDE, C.q);
    five_put(at + 4 * NC * BT_STRIDE, C.e);
}
EVN_DEVICE_FUNCTION struct gas gas_get(EVN_LOCAL const double *at) {
    struct gas g;
    g.d = at[0];
    g.p = at[BT_STRIDE];
    g.q = at[2 * BT_STRIDE];
    g.energy = at[3 * BT_STRIDE];
    g.pressure = at[4 * BT_STRIDE];
    g.volume = at[5 * BT_STRIDE];
    return g;
}
EVN_DEVICE_FUNCTION void gas_put(EVN_LOCAL double *at, struct gas g) {
    at[0] = g.d;
    at[BT_STRIDE] = g.p;
    at[2 * BT_STRIDE] = g.q;
    at[3 * BT_STRIDE] = g.energy;
    at[4 * BT_STRIDE] = g.pressure;
    at[5 * BT_STRIDE] = g.volume;
}

/* The gas of u, in the order of its components, seen along direction d by a side with this sign. */
EVN_DEVICE_FUNCTION struct gas gas_of(struct five u, int d, double sign) {
    struct residual_point q;
    struct gas g;
    q.u[0] = u.r;
    q.u[1] = u.d;
    q.u[2] = u.p;
    q.u[3] = u.q;
    q.u[4] = u.e;
    g.volume = 1.0 / q.u[0];
    residual_derive(&q, g.volume);
    g.d = sign * (d == 0 ? q.v[0] : d == 1 ? q.v[1] : q.v[2]);
    g.p = d == 0 ? q.v[1] : q.v[0];
    g.q = d == 2 ? q.v[1] : q.v[2];
    g.energy = q.u[4] * g.volume;
    g.pressure = q.p * g.volume;
    return g;
}

/* ---- lines --------------------------------------------------------------------------------- */

/* A zone's lines of one direction: n points, `along` doubles from one to the next; `across` of them
 * lie side by side, `beside` doubles apart, then come the next ones, `above` further on. Momenta
 * along the line and across it are d, p, q doubles behind the density, the energy e. */
struct zone_lines {
    evn_long along, beside, above, d, p, q, e;
    int n, across, lines;
};
EVN_DEVICE_FUNCTION struct zone_lines zone_lines(const struct gpu_zone *z, int d) {
    struct zone_lines l;
    l.along = d == 0 ? 1 : d == 1 ? z->sj : z->sk;
    l.beside = d == 0 ? z->sj : 1;
    l.above = d == 2 ? z->sj : z->sk;
    l.d = (1 + d) * z->sc;
    l.p = (d == 0 ? 2 : 1) * z->sc;
    l.q = (d == 2 ? 2 : 3) * z->sc;
    l.e = 4 * z->sc;
    l.n = d == 0 ? z->nx : d == 1 ? z->ny : z->nz;
    l.across = d == 0 ? z->ny - 2 : z->nx - 2;
    l.lines = l.across * (d == 2 ? z->ny - 2 : z->nz - 2);
    return l;
}

/* The point of row t of a half. Rows are counted from the end of the line to the middle, where t =
 * bt_half(n). Before the first row there is the first row again. */
EVN_DEVICE_FUNCTION int line_point(int n, int t, int is_second) {
    const int s = n / 2 + (is_second ? bt_half(n) - t : t - bt_half(n));
    return evn_imin(evn_imax(s, 1), n - 2);
}

/* Five values of a point of u (an update) or of the right-hand side. */
EVN_DEVICE_FUNCTION struct five point_get(EVN_GLOBAL const double *at, const struct zone_lines *l) {
    struct five x;
    x.r = at[0];
    x.d = at[l->d];
    x.p = at[l->p];
    x.q = at[l->q];
    x.e = at[l->e];
    return x;
}
EVN_DEVICE_FUNCTION void point_put(EVN_GLOBAL double *at, const struct zone_lines *l,
                                   struct five x) {
    at[0] = x.r;
    at[l->d] = x.d;
    at[l->p] = x.p;
    at[l->q] = x.q;
    at[l->e] = x.e;
}
EVN_DEVICE_FUNCTION struct five sum(struct five a, struct five b) {
    a.r = a.r + b.r;
    a.d = a.d + b.d;
    a.p = a.p + b.p;
    a.q = a.q + b.q;
    a.e = a.e + b.e;
    return a;
}

/* Result of an elimination in a row: C and y. */
struct state {
    struct block C;
    struct five y;
};

/* The next row of an elimination, between that of the row before, which left `s`, and that of the
 * next one, from their gas; its right-hand side is at y. With is_kept y and C go to the group's
 * memory. */
EVN_DEVICE_FUNCTION struct state line_row(const struct scheme *c, struct gas before,
                                          struct gas here, struct gas ahead, EVN_LOCAL double *y,
                                          EVN_LOCAL double *block, double sign, int is_kept,
                                          struct state s) {
    struct five rhs = five_get(y);
    struct row o;
    rhs.d = sign * rhs.d;
    row_setup(c, before, here, &s.C, s.y, rhs, &o);
    const struct factors f = row_factor(&o);
    s.y = row_solve(&o, &f);
    if (is_kept) five_put(y, s.y);
    row_solve_block(c, before, ahead, &o, &f, &s.C);
    if (is_kept) block_put(block, s.C);
    return s;
}

/* Five values of an item from and to its private memory, beginning with number k. */
#define GET_FIVE(to, name, k, i)                                                                   \
    ((to).r = EVN_OWN_AT(name, k, i), (to).d = EVN_OWN_AT(name, (k) + 1, i),                       \
     (to).p = EVN_OWN_AT(name, (k) + 2, i), (to).q = EVN_OWN_AT(name, (k) + 3, i),                 \
     (to).e = EVN_OWN_AT(name, (k) + 4, i))
#define PUT_FIVE(name, k, i, from)                                                                 \
    (EVN_OWN_AT(name, k, i) = (from).r, EVN_OWN_AT(name, (k) + 1, i) = (from).d,                   \
     EVN_OWN_AT(name, (k) + 2, i) = (from).p, EVN_OWN_AT(name, (k) + 3, i) = (from).q,             \
     EVN_OWN_AT(name, (k) + 4, i) = (from).e)

#define GET_STATE(s, i)                                                                            \
    (GET_FIVE((s).y, state, 0, i), GET_FIVE((s).C.r, state, NC, i),                                \
     GET_FIVE((s).C.d, state, 2 * NC, i), GET_FIVE((s).C.p, state, 3 * NC, i),                     \
     GET_FIVE((s).C.q, state, 4 * NC, i), GET_FIVE((s).C.e, state, 5 * NC, i))

#define GET_GAS(to, name, i)                                                                       \
    ((to).d = EVN_OWN_AT(name, 0, i), (to).p = EVN_OWN_AT(name, 1, i),                             \
     (to).q = EVN_OWN_AT(name, 2, i), (to).energy = EVN_OWN_AT(name, 3, i),                        \
     (to).pressure = EVN_OWN_AT(name, 4, i), (to).volume = EVN_OWN_AT(name, 5, i))
#define PUT_GAS(name, i, from)                                                                     \
    (EVN_OWN_AT(name, 0, i) = (from).d, EVN_OWN_AT(name, 1, i) = (from).p,                         \
     EVN_OWN_AT(name, 2, i) = (from).q, EVN_OWN_AT(name, 3, i) = (from).energy,                    \
     EVN_OWN_AT(name, 4, i) = (from).pressure, EVN_OWN_AT(name, 5, i) = (from).volume)

/* Pieces: BT_LINES lines, counted along y (those along y: along x) and then along the other
 * direction across. Items 0 .. BT_LINES-1 do the first halves of the lines, the others the second
 * ones. */
EVN_KERNEL(bt_lines, BT_ITEMS,
           (EVN_BUFFER(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct bt_lines_value, value))) {
    EVN_LOCAL_ARRAY(double, gas, (BT_ROWS + 2) * GAS_ROW); /* rows, one more on each side */
    EVN_LOCAL_ARRAY(double, y, Y_ROW *BT_ROWS);
    EVN_LOCAL_ARRAY(double, block, C_ROW *BT_ROWS);   /* the last is also that before */
    EVN_LOCAL_ARRAY(evn_long, line, BT_ITEMS);        /* where an item's line begins */
    EVN_PRIVATE_ARRAY(double, u, (BT_ROWS + 1) * NC); /* on their way from memory */
    EVN_PRIVATE_ARRAY(double, rhs, BT_ROWS *NC);
    EVN_PRIVATE_ARRAY(double, state, BT_STATE); /* y and C of the row before, in elimination */
    EVN_PRIVATE_ARRAY(double, x, NC);           /* X of the row before, in back substitution */
    EVN_PRIVATE_ARRAY(double, behind, BT_GAS);  /* the gas of the row before, in elimination */
    EVN_PRIVATE_ARRAY(double, ahead, BT_GAS);   /* the gas of the next row, in elimination */

    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const struct zone_lines l = zone_lines(&z, value.d);
    const int part = pieces[EVN_GROUP].part, first_line = part * BT_LINES;
    const int n = l.n, rows = bt_half(n), segments = bt_segments(n);
    const evn_long saved = z.work + NC * z.sc + (evn_long)part * (segments - 1) * BT_SAVED;
    /* Whether items beside one another take rows beside one another, which are together in memory:
     * on a device. The host gathers what its lanes hold. */
    const int by_rows = EVN_ON_DEVICE && value.d == 0;

    EVN_ITEMS(i) {
        const int number = evn_imin(first_line + i % BT_LINES, l.lines - 1);
        line[i] = (1 + number % l.across) * l.beside + (1 + number / l.across) * l.above;
    }
    EVN_BARRIER;
    for (int visit = 0; visit < 2 * segments - 1; visit++) {
        const int segment = visit < segments ? visit : 2 * (segments - 1) - visit;
        const int end = rows - (segments - 1 - segment) * BT_ROWS; /* rows up to here, without it */
        const int start = end - BT_ROWS;                           /* row 0 in the group's memory */
        const int none = start < 0 ? -start : 0; /* rows that the first segment lacks */

        /* The gas of one row is there already: on the way in that before the others, on the way out
         * that behind them, whose u may be another by now. All others are loaded, at once, since
         * nothing else hides how far away memory is. */
        const int first_gas = visit < segments ? 1 : 0;
        for (int part_of = 0; part_of <= BT_ROWS; part_of++) {
            EVN_ITEMS(i) {
                const int e = part_of * BT_ITEMS + i;
                const int row = by_rows ? e % (BT_ROWS + 1) : part_of;
                const int of = by_rows ? e / (BT_ROWS + 1) : i;
                const int s = line_point(n, start - 1 + first_gas + row, of >= BT_LINES);
                const evn_long at = z.u + line[of] + s * l.along;
                EVN_OWN_AT(u, part_of * NC, i) = field[at];
                EVN_OWN_AT(u, part_of * NC + 1, i) = field[at + z.sc];
                EVN_OWN_AT(u, part_of * NC + 2, i) = field[at + 2 * z.sc];
                EVN_OWN_AT(u, part_of * NC + 3, i) = field[at + 3 * z.sc];
                EVN_OWN_AT(u, part_of * NC + 4, i) = field[at + 4 * z.sc];
            }
        }
        for (int part_of = 0; part_of < BT_ROWS; part_of++) {
            EVN_ITEMS(i) {
                const int e = part_of * BT_ITEMS + i;
                const int row = by_rows ? e % BT_ROWS : part_of, of = by_rows ? e / BT_ROWS : i;
                const int s = line_point(n, start + row, of >= BT_LINES);
                const evn_long at = z.work + line[of] + s * l.along;
                EVN_OWN_AT(rhs, part_of * NC, i) = work[at];
                EVN_OWN_AT(rhs, part_of * NC + 1, i) = work[at + l.d];
                EVN_OWN_AT(rhs, part_of * NC + 2, i) = work[at + l.p];
                EVN_OWN_AT(rhs, part_of * NC + 3, i) = work[at + l.q];
                EVN_OWN_AT(rhs, part_of * NC + 4, i) = work[at + l.e];
            }
        }
        if (visit >= segments) { /* what stays from the last visit */
            EVN_ITEMS(i) { gas_put(gas + (BT_ROWS + 1) * GAS_ROW + i, gas_get(gas + GAS_ROW + i)); }
        } else if (!BT_IN_REGISTERS && visit > 0) {
            EVN_ITEMS(i) { gas_put(gas + i, gas_get(gas + BT_ROWS * GAS_ROW + i)); }
        }
        EVN_BARRIER;
        for (int part_of = 0; part_of <= BT_ROWS && by_rows; part_of++) {
            EVN_ITEMS(i) {
                const int e = part_of * BT_ITEMS + i;
                EVN_LOCAL double *to =
                    gas + (first_gas + e % (BT_ROWS + 1)) * GAS_ROW + e / (BT_ROWS + 1);
                to[0] = EVN_OWN_AT(u, part_of * NC, i);
                to[BT_STRIDE] = EVN_OWN_AT(u, part_of * NC + 1, i);
                to[2 * BT_STRIDE] = EVN_OWN_AT(u, part_of * NC + 2, i);
                to[3 * BT_STRIDE] = EVN_OWN_AT(u, part_of * NC + 3, i);
                to[4 * BT_STRIDE] = EVN_OWN_AT(u, part_of * NC + 4, i);
            }
        }
        for (int part_of = 0; part_of < BT_ROWS; part_of++) {
            EVN_ITEMS(i) {
                const int e = part_of * BT_ITEMS + i;
                const int row = by_rows ? e % BT_ROWS : part_of, of = by_rows ? e / BT_ROWS : i;
                EVN_LOCAL double *to = y + row * Y_ROW + of;
                to[0] = EVN_OWN_AT(rhs, part_of * NC, i);
                to[BT_STRIDE] = EVN_OWN_AT(rhs, part_of * NC + 1, i);
                to[2 * BT_STRIDE] = EVN_OWN_AT(rhs, part_of * NC + 2, i);
                to[3 * BT_STRIDE] = EVN_OWN_AT(rhs, part_of * NC + 3, i);
                to[4 * BT_STRIDE] = EVN_OWN_AT(rhs, part_of * NC + 4, i);
            }
        }
        EVN_BARRIER;
        /* the state before, on its way while the gas is made */
        if (segment == 0) { /* no segment is before */
            EVN_ITEMS(i) {
                for (int v = 0; v < BT_STATE; v++) EVN_OWN_AT(state, v, i) = 0;
            }
        } else if (visit >= segments) {
            const evn_long from = saved + (evn_long)(segment - 1) * BT_SAVED;
            EVN_ITEMS(i) {
                for (int v = 0; v < BT_STATE; v++)
                    EVN_OWN_AT(state, v, i) = work[from + v * BT_ITEMS + i];
            }
        }
        for (int row = 0; row <= BT_ROWS && by_rows; row++) { /* an item's own rows */
            EVN_ITEMS(i) {
                EVN_LOCAL const double *from = gas + (first_gas + row) * GAS_ROW + i;
                for (int v = 0; v < NC; v++) EVN_OWN_AT(u, row * NC + v, i) = from[v * BT_STRIDE];
            }
        }
        for (int row = 0; row <= BT_ROWS; row++) {
            /* rows that the first segment lacks have no gas that anything reads; in registers that
             * before its first row, which is this row's own, needs no place either */
            if (segment == 0 && first_gas + row < none + BT_IN_REGISTERS) continue;
            EVN_ITEMS(i) {
                struct five q;
                GET_FIVE(q, u, row * NC, i);
                gas_put(gas + (first_gas + row) * GAS_ROW + i,
                        gas_of(q, value.d, i < BT_LINES ? 1.0 : -1.0));
            }
        }
        if (!BT_IN_REGISTERS && visit == 0 && none == 0) { /* before the first row, itself */
            EVN_ITEMS(i) { gas_put(gas + i, gas_get(gas + GAS_ROW + i)); }
        }

        if (BT_IN_REGISTERS) { /* from row to row, and from visit to visit */
            EVN_ITEMS(i) {
                const struct gas here = gas_get(gas + (1 + none) * GAS_ROW + i);
                struct gas before;
                GET_GAS(before, behind, i);
                if (visit == 0 || visit >= segments)
                    before = gas_get(gas + (segment == 0 ? (1 + none) * GAS_ROW : 0) + i);
                PUT_GAS(behind, i, before);
                PUT_GAS(ahead, i, here);
            }
        }
        for (int row = none; row < BT_ROWS; row++) {
            /* y and C are needed by a substitution that is not the next thing, and by the middle */
            const int is_kept = !BT_IN_REGISTERS || visit == segments - 1 ||
                                (visit >= segments && row < BT_ROWS - 1);
            EVN_ITEMS(i) {
                struct state s;
                const struct gas next = gas_get(gas + (row + 2) * GAS_ROW + i);
                struct gas before, here;
                GET_STATE(s, i);
                if (BT_IN_REGISTERS) {
                    GET_GAS(before, behind, i);
                    GET_GAS(here, ahead, i);
                } else {
                    before = gas_get(gas + row * GAS_ROW + i);
                    here = gas_get(gas + (row + 1) * GAS_ROW + i);
                }
                s = line_row(&value.c, before, here, next, y + row * Y_ROW + i,
                             block + row * C_ROW + i, i < BT_LINES ? 1.0 : -1.0, is_kept, s);
                if (BT_IN_REGISTERS) {
                    PUT_GAS(behind, i, here);
                    PUT_GAS(ahead, i, next);
                }
                PUT_FIVE(state, 0, i, s.y);
                PUT_FIVE(state, NC, i, s.C.r);
                PUT_FIVE(state, 2 * NC, i, s.C.d);
                PUT_FIVE(state, 3 * NC, i, s.C.p);
                PUT_FIVE(state, 4 * NC, i, s.C.q);
                PUT_FIVE(state, 5 * NC, i, s.C.e);
            }
            if (start + row == 0 && n % 2 == 0) {
                /* the second half has one row less, and begins with the next one */
                EVN_ITEMS(i) {
                    for (int v = 0; v < BT_STATE; v++)
                        EVN_OWN_AT(state, v, i) =
                            EVN_SELECT(i < BT_LINES, EVN_OWN_AT(state, v, i), 0.0);
                }
            }
        }
        if (visit < segments - 1) {
            const evn_long to = saved + (evn_long)segment * BT_SAVED;
            EVN_ITEMS(i) {
                for (int v = 0; v < BT_STATE; v++)
                    work[to + v * BT_ITEMS + i] = EVN_OWN_AT(state, v, i);
            }
            continue;
        }

        if (visit == segments - 1) { /* the middle, by the items of the first halves; X is handed
                                        over in the place of the first row's gas */
            EVN_LOCAL const double *last = gas + BT_ROWS * GAS_ROW, *b = y + (BT_ROWS - 1) * Y_ROW;
            EVN_LOCAL const double *C = block + (BT_ROWS - 1) * C_ROW;
            EVN_BARRIER;
            EVN_SHARE(a, BT_LINES) {
                const int other = a + BT_LINES;
                const struct block mine = block_get(C + a), others = block_get(C + other);
                const struct gas here = gas_get(last + GAS_ROW + a);
                const evn_long at = line[a] + n / 2 * l.along, from = z.work + at;
                struct five m = point_get(work + from, &l);
                m = row_middle(&value.c, gas_get(last + a), here, gas_get(last + other), &mine,
                               five_get(b + a), &others, five_get(b + other), m);
                five_put(gas + a, m);
                five_put(gas + other, mirrored(m));
                m = conservative(here, m);
                if (first_line + a < l.lines) {
                    if (value.is_update)
                        point_put(field + z.u + at, &l, sum(point_get(field + z.u + at, &l), m));
                    else
                        point_put(work + from, &l, m);
                }
            }
            EVN_BARRIER;
            EVN_ITEMS(i) {
                for (int v = 0; v < NC; v++) EVN_OWN_AT(x, v, i) = gas[v * BT_STRIDE + i];
            }
        }

        /* Loads u of all rows before the first is stored, since a compiler cannot know that these
         * are other points; the loads run while x is substituted. */
        for (int row = 0; row < BT_ROWS; row++) {
            EVN_ITEMS(i) {
                const evn_long s = line_point(n, start + row, i >= BT_LINES);
                struct five old = {0, 0, 0, 0, 0};
                if (value.is_update) old = point_get(field + z.u + line[i] + s * l.along, &l);
                PUT_FIVE(rhs, row * NC, i, old);
            }
        }
        for (int row = BT_ROWS - 1; row >= none; row--) {
            if (BT_IN_REGISTERS && row < BT_ROWS - 1) { /* the state is that of the last row */
                EVN_ITEMS(i) {
                    for (int v = 0; v < NC; v++)
                        EVN_OWN_AT(state, v, i) = y[row * Y_ROW + v * BT_STRIDE + i];
                    for (int v = 0; v < NC * NC; v++)
                        EVN_OWN_AT(state, NC + v, i) = block[row * C_ROW + v * BT_STRIDE + i];
                }
            }
            EVN_ITEMS(i) {
                struct state s;
                struct five m;
                if (BT_IN_REGISTERS) {
                    GET_STATE(s, i);
                } else {
                    s.C = block_get(block + row * C_ROW + i);
                    s.y = five_get(y + row * Y_ROW + i);
                }
                m.r = EVN_OWN_AT(x, 0, i);
                m.d = EVN_OWN_AT(x, 1, i);
                m.p = EVN_OWN_AT(x, 2, i);
                m.q = EVN_OWN_AT(x, 3, i);
                m.e = EVN_OWN_AT(x, 4, i);
                m = row_back(&s.C, s.y, m);
                EVN_OWN_AT(x, 0, i) = m.r;
                EVN_OWN_AT(x, 1, i) = m.d;
                EVN_OWN_AT(x, 2, i) = m.p;
                EVN_OWN_AT(x, 3, i) = m.q;
                EVN_OWN_AT(x, 4, i) = m.e;
                m = conservative(gas_get(gas + (1 + row) * GAS_ROW + i), m);
                m.d = (i < BT_LINES ? 1.0 : -1.0) * m.d;
                five_put(y + row * Y_ROW + i, m);
            }
        }
        EVN_BARRIER;
        for (int part_of = 0; part_of < BT_ROWS; part_of++) {
            EVN_ITEMS(i) {
                const int e = part_of * BT_ITEMS + i;
                const int row = by_rows ? e % BT_ROWS : part_of, of = by_rows ? e / BT_ROWS : i;
                const int t = start + row, is_second = of >= BT_LINES;
                const int least = is_second && n % 2 == 0 ? 1 : 0; /* the half's first row */
                if (t >= least && first_line + of % BT_LINES < l.lines) {
                    const evn_long at = line[of] + line_point(n, t, is_second) * l.along;
                    const struct five m = five_get(y + row * Y_ROW + of);
                    if (value.is_update) { /* `of` is i */
                        struct five old;
                        GET_FIVE(old, rhs, part_of * NC, i);
                        point_put(field + z.u + at, &l, sum(old, m));
                    } else {
                        point_put(work + z.work + at, &l, m);
                    }
                }
            }
        }
    }
}
