/* BT's time step on a device: the right-hand side, and the block-tridiagonal lines of a direction.
 *
 * The arithmetic is that of the host, by the same text (residual_item.h, gas.h, row.h), in the same
 * order: eliminations from both ends of a line, which meet in the middle. Here two items do a line,
 * one from each end.
 *
 * What it costs on a GPU is memory. C, the 25 numbers a row leaves for the back substitution,
 * written and read again would be 50 of 80 doubles that a point and direction moves: so C is never
 * stored. Rows are done in segments of BT_ROWS, as many as the group's memory has room for. When an
 * elimination leaves a segment it saves its state, y and C of the last row; the back substitution
 * comes back to the segment later, eliminates it again from the state before, and has its C then.
 * Only the segment next to the middle needs to be done once. The gas is not stored either, it is
 * made from u each time it is read. A point and direction, in doubles, for lines that are much
 * longer than a segment of 4 rows:
 *
 *     eliminate:   read u 5, right-hand side 5; write state 30/4
 *     substitute:  read u 5, right-hand side 5, state 30/4; write increment 5
 *
 * 40 doubles, 320 bytes: 96 ps at 3.35 TB/s. Operations: 2 x (270 of row.h, 29 for the gas, if a
 * division takes ten) and 32 of the substitution, 630: 37 ps at 17e12 a second (34 TFlop/s fp64).
 * With C stored it would be 640 bytes and 331 operations, twice the time. Lines of class C along z
 * have 13 rows a side: of 4 segments 3 are done twice, and 3 states saved, which comes to 36
 * doubles. The right-hand side moves 15 doubles, 120 bytes: 36 ps.
 *
 * Work space of a point: 5 doubles, and 30/4 for the states.
 */
#define NPBMZ_ITEM
#include "../gpu_zone.h"
#include "../residual_item.h"
#include "bt_gpu.h"
#include "row.h"

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

/* Pieces: BT_POINTS interior points, i fastest. */
EVN_KERNEL(bt_rhs, BT_POINTS,
           (EVN_BUFFER(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct bt_rhs_value, value))) {
    EVN_PRIVATE(int, own_i);
    EVN_PRIVATE(int, own_j);
    EVN_PRIVATE(int, own_k);
    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const int inner = z.nx - 2, points = inner * (z.ny - 2) * (z.nz - 2);
    const int first = pieces[EVN_GROUP].part * BT_POINTS;
    EVN_ITEMS(item) { /* for itself, since there are no divisions of lanes */
        const int n = first + item, row = n / inner, plane = row / (z.ny - 2);
        EVN_OWN(own_i, item) = 1 + n - row * inner;
        EVN_OWN(own_j, item) = 1 + row - plane * (z.ny - 2);
        EVN_OWN(own_k, item) = 1 + plane;
    }
    EVN_ITEMS(item) {
        if (first + item < points)
            rhs_point(field, work, &z, EVN_OWN(own_i, item), EVN_OWN(own_j, item),
                      EVN_OWN(own_k, item), &value);
    }
}

/* ---- memory of the group: value v of row s of item i at [(s*VALUES + v)*BT_ITEMS + i] -------- */

EVN_DEVICE_FUNCTION struct five five_get(EVN_LOCAL const double *at) {
    struct five a;
    a.r = at[0];
    a.d = at[BT_ITEMS];
    a.p = at[2 * BT_ITEMS];
    a.q = at[3 * BT_ITEMS];
    a.e = at[4 * BT_ITEMS];
    return a;
}
EVN_DEVICE_FUNCTION void five_put(EVN_LOCAL double *at, struct five a) {
    at[0] = a.r;
    at[BT_ITEMS] = a.d;
    at[2 * BT_ITEMS] = a.p;
    at[3 * BT_ITEMS] = a.q;
    at[4 * BT_ITEMS] = a.e;
}
EVN_DEVICE_FUNCTION struct block block_get(EVN_LOCAL const double *at) {
    struct block C;
    C.r = five_get(at);
    C.d = five_get(at + NC * BT_ITEMS);
    C.p = five_get(at + 2 * NC * BT_ITEMS);
    C.q = five_get(at + 3 * NC * BT_ITEMS);
    C.e = five_get(at + 4 * NC * BT_ITEMS);
    return C;
}
EVN_DEVICE_FUNCTION void block_put(EVN_LOCAL double *at, struct block C) {
    five_put(at, C.r);
    five_put(at + NC * BT_ITEMS, C.d);
    five_put(at + 2 * NC * BT_ITEMS, C.p);
    five_put(at + 3 * NC * BT_ITEMS, C.q);
    five_put(at + 4 * NC * BT_ITEMS, C.e);
}
EVN_DEVICE_FUNCTION struct gas gas_get(EVN_LOCAL const double *at) {
    struct gas g;
    g.d = at[0];
    g.p = at[BT_ITEMS];
    g.q = at[2 * BT_ITEMS];
    g.energy = at[3 * BT_ITEMS];
    g.pressure = at[4 * BT_ITEMS];
    g.volume = at[5 * BT_ITEMS];
    return g;
}

EVN_DEVICE_FUNCTION void gas_copy(EVN_LOCAL double *to, EVN_LOCAL const double *from) {
    const struct gas g = gas_get(from);
    to[0] = g.d;
    to[BT_ITEMS] = g.p;
    to[2 * BT_ITEMS] = g.q;
    to[3 * BT_ITEMS] = g.energy;
    to[4 * BT_ITEMS] = g.pressure;
    to[5 * BT_ITEMS] = g.volume;
}

/* In the place of u: the gas, seen along direction d by a side with this sign. */
EVN_DEVICE_FUNCTION void gas_make(EVN_LOCAL double *at, int d, double sign) {
    struct residual_point q;
    q.u[0] = at[0];
    q.u[1] = at[BT_ITEMS];
    q.u[2] = at[2 * BT_ITEMS];
    q.u[3] = at[3 * BT_ITEMS];
    q.u[4] = at[4 * BT_ITEMS];
    const double volume = 1.0 / q.u[0];
    residual_derive(&q, volume);
    at[0] = sign * (d == 0 ? q.v[0] : d == 1 ? q.v[1] : q.v[2]);
    at[BT_ITEMS] = d == 0 ? q.v[1] : q.v[0];
    at[2 * BT_ITEMS] = d == 2 ? q.v[1] : q.v[2];
    at[3 * BT_ITEMS] = q.u[4] * volume;
    at[4 * BT_ITEMS] = q.p * volume;
    at[5 * BT_ITEMS] = volume;
}

/* What an item with this sign sees at row t: rows are counted from the end of the line to the
 * middle, where t = half. Before the first row there is the first row again. */
EVN_DEVICE_FUNCTION int line_point(int n, int t, int is_second) {
    const int s = n / 2 + (is_second ? bt_half(n) - t : t - bt_half(n));
    return evn_imin(evn_imax(s, 1), n - 2);
}

/* One step of an elimination: y and C of the row of `gas`, which has the row before and the next
 * one beside it; `behind` is C of the row before, y of that lies before y. */
EVN_DEVICE_FUNCTION void line_row(const struct scheme *c, EVN_LOCAL const double *gas,
                                  EVN_LOCAL double *y, EVN_LOCAL const double *behind,
                                  EVN_LOCAL double *block, double sign) {
    const struct gas before = gas_get(gas - BT_GAS * BT_ITEMS), here = gas_get(gas);
    const struct gas ahead = gas_get(gas + BT_GAS * BT_ITEMS);
    struct block C = block_get(behind);
    struct five rhs = five_get(y);
    struct row o;
    rhs.d = sign * rhs.d;
    row_setup(c, before, here, &C, five_get(y - NC * BT_ITEMS), rhs, &o);
    const struct factors f = row_factor(&o);
    five_put(y, row_solve(&o, &f));
    row_solve_block(c, before, ahead, &o, &f, &C);
    block_put(block, C);
}

/* Pieces: BT_LINES lines, counted along y (of lines along y: along x) and then along the other
 * direction across. Items 0 .. BT_LINES-1 do the first halves of the lines, the others the second
 * ones. */
EVN_KERNEL(bt_lines, BT_ITEMS,
           (EVN_BUFFER(double, field), EVN_BUFFER(double, work), EVN_IN(struct gpu_zone, zones),
            EVN_IN(struct gpu_piece, pieces), EVN_VALUE(struct bt_lines_value, value))) {
    EVN_LOCAL_ARRAY(double, gas, (BT_ROWS + 2) * BT_GAS * BT_ITEMS); /* of one row more each side */
    EVN_LOCAL_ARRAY(double, y, (BT_ROWS + 1) * NC * BT_ITEMS);       /* of one row more before */
    EVN_LOCAL_ARRAY(double, block, BT_ROWS *NC *NC *BT_ITEMS);
    EVN_LOCAL_ARRAY(evn_long, line, BT_ITEMS);        /* where an item's line begins */
    EVN_PRIVATE_ARRAY(double, u, (BT_ROWS + 1) * NC); /* on their way from memory */
    EVN_PRIVATE_ARRAY(double, rhs, BT_ROWS *NC);
    EVN_PRIVATE_ARRAY(double, x, NC); /* X of the row before, in back substitution */

    const struct gpu_zone z = zones[pieces[EVN_GROUP].zone];
    const int part = pieces[EVN_GROUP].part, d = value.d;
    const int n = d == 0 ? z.nx : d == 1 ? z.ny : z.nz;
    const int across = d == 0 ? z.ny - 2 : z.nx - 2; /* lines beside one another */
    const int lines = across * (d == 2 ? z.ny - 2 : z.nz - 2), first_line = part * BT_LINES;
    const evn_long along = d == 0 ? 1 : d == 1 ? z.sj : z.sk;
    const evn_long beside = d == 0 ? z.sj : 1, above = d == 2 ? z.sj : z.sk;
    const evn_long md = (1 + d) * z.sc, mp = (d == 0 ? 2 : 1) * z.sc, mq = (d == 2 ? 2 : 3) * z.sc;
    const int rows = bt_half(n), segments = bt_segments(n);
    const evn_long saved = z.work + NC * z.sc + (evn_long)part * (segments - 1) * BT_SAVED;
    /* Whether items beside one another take rows beside one another, which are together in memory:
     * on a device. The host gathers what its lanes hold. */
    const int by_rows = EVN_ON_DEVICE && d == 0;

    EVN_ITEMS(i) {
        const int l = evn_imin(first_line + i % BT_LINES, lines - 1);
        line[i] = (1 + l % across) * beside + (1 + l / across) * above;
    }
    for (int visit = 0; visit < 2 * segments - 1; visit++) {
        const int segment = visit < segments ? visit : 2 * (segments - 1) - visit;
        const int end = rows - (segments - 1 - segment) * BT_ROWS; /* rows up to here, without it */
        const int none = end < BT_ROWS ? BT_ROWS - end : 0; /* rows that the first segment lacks */
        const int start = end - BT_ROWS;                    /* row 0 in the group's memory */

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
                const evn_long at = z.u + line[of] + s * along;
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
                const evn_long at = z.work + line[of] + s * along;
                EVN_OWN_AT(rhs, part_of * NC, i) = work[at];
                EVN_OWN_AT(rhs, part_of * NC + 1, i) = work[at + md];
                EVN_OWN_AT(rhs, part_of * NC + 2, i) = work[at + mp];
                EVN_OWN_AT(rhs, part_of * NC + 3, i) = work[at + mq];
                EVN_OWN_AT(rhs, part_of * NC + 4, i) = work[at + 4 * z.sc];
            }
        }
        /* what stays from the last visit; with y, C of the row before is where it was */
        EVN_ITEMS(i) {
            if (visit >= segments) {
                gas_copy(gas + (BT_ROWS + 1) * BT_GAS * BT_ITEMS + i, gas + BT_GAS * BT_ITEMS + i);
            } else if (visit > 0) {
                gas_copy(gas + i, gas + BT_ROWS * BT_GAS * BT_ITEMS + i);
                five_put(y + i, five_get(y + BT_ROWS * NC * BT_ITEMS + i));
            }
        }
        EVN_BARRIER;
        for (int part_of = 0; part_of <= BT_ROWS; part_of++) {
            EVN_ITEMS(i) {
                const int e = part_of * BT_ITEMS + i;
                const int row = by_rows ? e % (BT_ROWS + 1) : part_of;
                const int of = by_rows ? e / (BT_ROWS + 1) : i;
                EVN_LOCAL double *to = gas + (first_gas + row) * BT_GAS * BT_ITEMS + of;
                to[0] = EVN_OWN_AT(u, part_of * NC, i);
                to[BT_ITEMS] = EVN_OWN_AT(u, part_of * NC + 1, i);
                to[2 * BT_ITEMS] = EVN_OWN_AT(u, part_of * NC + 2, i);
                to[3 * BT_ITEMS] = EVN_OWN_AT(u, part_of * NC + 3, i);
                to[4 * BT_ITEMS] = EVN_OWN_AT(u, part_of * NC + 4, i);
            }
        }
        for (int part_of = 0; part_of < BT_ROWS; part_of++) {
            EVN_ITEMS(i) {
                const int e = part_of * BT_ITEMS + i;
                const int row = by_rows ? e % BT_ROWS : part_of, of = by_rows ? e / BT_ROWS : i;
                EVN_LOCAL double *to = y + (1 + row) * NC * BT_ITEMS + of;
                to[0] = EVN_OWN_AT(rhs, part_of * NC, i);
                to[BT_ITEMS] = EVN_OWN_AT(rhs, part_of * NC + 1, i);
                to[2 * BT_ITEMS] = EVN_OWN_AT(rhs, part_of * NC + 2, i);
                to[3 * BT_ITEMS] = EVN_OWN_AT(rhs, part_of * NC + 3, i);
                to[4 * BT_ITEMS] = EVN_OWN_AT(rhs, part_of * NC + 4, i);
            }
        }
        EVN_BARRIER;
        for (int row = 0; row <= BT_ROWS; row++) {
            EVN_ITEMS(i) {
                gas_make(gas + (first_gas + row) * BT_GAS * BT_ITEMS + i, d,
                         i < BT_LINES ? 1.0 : -1.0);
            }
        }
        if (visit == 0) {
            EVN_ITEMS(i) { gas_copy(gas + i, gas + BT_GAS * BT_ITEMS + i); }
        }
        if (segment == 0) { /* nothing before */
            EVN_ITEMS(i) {
                for (int v = 0; v < NC; v++) y[(none * NC + v) * BT_ITEMS + i] = 0;
                for (int v = 0; v < NC * NC; v++)
                    block[((BT_ROWS - 1) * NC * NC + v) * BT_ITEMS + i] = 0;
            }
        } else if (visit >= segments) { /* the state before */
            const evn_long state = saved + (evn_long)(segment - 1) * BT_SAVED;
            EVN_ITEMS(i) {
                for (int v = 0; v < NC; v++) y[v * BT_ITEMS + i] = work[state + v * BT_ITEMS + i];
                for (int v = 0; v < NC * NC; v++)
                    block[((BT_ROWS - 1) * NC * NC + v) * BT_ITEMS + i] =
                        work[state + (NC + v) * BT_ITEMS + i];
            }
        }

        for (int row = none; row < BT_ROWS; row++) {
            const int before = row > none ? row - 1 : BT_ROWS - 1;
            EVN_ITEMS(i) {
                line_row(&value.c, gas + (1 + row) * BT_GAS * BT_ITEMS + i,
                         y + (1 + row) * NC * BT_ITEMS + i, block + before * NC * NC * BT_ITEMS + i,
                         block + row * NC * NC * BT_ITEMS + i, i < BT_LINES ? 1.0 : -1.0);
            }
            if (start + row == 0 && n % 2 == 0) {
                /* the second half has one row less, and begins with the next one */
                EVN_ITEMS(i) {
                    if (i >= BT_LINES) {
                        for (int v = 0; v < NC; v++) y[((1 + row) * NC + v) * BT_ITEMS + i] = 0;
                        for (int v = 0; v < NC * NC; v++)
                            block[(row * NC * NC + v) * BT_ITEMS + i] = 0;
                    }
                }
            }
        }
        if (visit < segments - 1) {
            const evn_long state = saved + (evn_long)segment * BT_SAVED;
            EVN_ITEMS(i) {
                for (int v = 0; v < NC; v++)
                    work[state + v * BT_ITEMS + i] = y[(BT_ROWS * NC + v) * BT_ITEMS + i];
                for (int v = 0; v < NC * NC; v++)
                    work[state + (NC + v) * BT_ITEMS + i] =
                        block[((BT_ROWS - 1) * NC * NC + v) * BT_ITEMS + i];
            }
            continue;
        }

        if (visit == segments - 1) { /* the middle, by the items of the first half; X is handed over
                                        in the place of the first row's gas */
            EVN_BARRIER;
            EVN_SHARE(l, BT_LINES) {
                const int other = l + BT_LINES;
                EVN_LOCAL const double *last = gas + BT_ROWS * BT_GAS * BT_ITEMS;
                EVN_LOCAL const double *C = block + (BT_ROWS - 1) * NC * NC * BT_ITEMS;
                EVN_LOCAL const double *b = y + BT_ROWS * NC * BT_ITEMS;
                const struct block mine = block_get(C + l), others = block_get(C + other);
                const struct gas here = gas_get(last + BT_GAS * BT_ITEMS + l);
                const evn_long at = line[l] + n / 2 * along;
                struct five r, m;
                r.r = work[z.work + at];
                r.d = work[z.work + at + md];
                r.p = work[z.work + at + mp];
                r.q = work[z.work + at + mq];
                r.e = work[z.work + at + 4 * z.sc];
                m = row_middle(&value.c, gas_get(last + l), here, gas_get(last + other), &mine,
                               five_get(b + l), &others, five_get(b + other), r);
                five_put(gas + l, m);
                five_put(gas + other, mirrored(m));
                m = conservative(here, m);
                if (first_line + l < lines) {
                    if (value.is_update) {
                        field[z.u + at] += m.r;
                        field[z.u + at + md] += m.d;
                        field[z.u + at + mp] += m.p;
                        field[z.u + at + mq] += m.q;
                        field[z.u + at + 4 * z.sc] += m.e;
                    } else {
                        work[z.work + at] = m.r;
                        work[z.work + at + md] = m.d;
                        work[z.work + at + mp] = m.p;
                        work[z.work + at + mq] = m.q;
                        work[z.work + at + 4 * z.sc] = m.e;
                    }
                }
            }
            EVN_BARRIER;
            EVN_ITEMS(i) {
                for (int v = 0; v < NC; v++) EVN_OWN_AT(x, v, i) = gas[v * BT_ITEMS + i];
            }
        }

        for (int row = BT_ROWS - 1; row >= none; row--) {
            EVN_ITEMS(i) {
                EVN_LOCAL double *b = y + (1 + row) * NC * BT_ITEMS + i;
                const struct block C = block_get(block + row * NC * NC * BT_ITEMS + i);
                const struct gas here = gas_get(gas + (1 + row) * BT_GAS * BT_ITEMS + i);
                struct five m;
                m.r = EVN_OWN_AT(x, 0, i);
                m.d = EVN_OWN_AT(x, 1, i);
                m.p = EVN_OWN_AT(x, 2, i);
                m.q = EVN_OWN_AT(x, 3, i);
                m.e = EVN_OWN_AT(x, 4, i);
                m = row_back(&C, five_get(b), m);
                EVN_OWN_AT(x, 0, i) = m.r;
                EVN_OWN_AT(x, 1, i) = m.d;
                EVN_OWN_AT(x, 2, i) = m.p;
                EVN_OWN_AT(x, 3, i) = m.q;
                EVN_OWN_AT(x, 4, i) = m.e;
                m = conservative(here, m);
                m.d = (i < BT_LINES ? 1.0 : -1.0) * m.d;
                five_put(b, m);
            }
        }
        EVN_BARRIER;
        for (int part_of = 0; part_of < BT_ROWS; part_of++) {
            EVN_ITEMS(i) {
                const int e = part_of * BT_ITEMS + i;
                const int row = by_rows ? e % BT_ROWS : part_of, of = by_rows ? e / BT_ROWS : i;
                const int t = start + row, is_second = of >= BT_LINES;
                /* the second half's first row is not there if n is even */
                const int least = is_second && n % 2 == 0 ? 1 : 0;
                if (t >= least && first_line + of % BT_LINES < lines) {
                    EVN_LOCAL const double *from = y + (1 + row) * NC * BT_ITEMS + of;
                    const evn_long at = line[of] + line_point(n, t, is_second) * along;
                    if (value.is_update) {
                        field[z.u + at] += from[0];
                        field[z.u + at + md] += from[BT_ITEMS];
                        field[z.u + at + mp] += from[2 * BT_ITEMS];
                        field[z.u + at + mq] += from[3 * BT_ITEMS];
                        field[z.u + at + 4 * z.sc] += from[4 * BT_ITEMS];
                    } else {
                        work[z.work + at] = from[0];
                        work[z.work + at + md] = from[BT_ITEMS];
                        work[z.work + at + mp] = from[2 * BT_ITEMS];
                        work[z.work + at + mq] = from[3 * BT_ITEMS];
                        work[z.work + at + 4 * z.sc] = from[4 * BT_ITEMS];
                    }
                }
            }
        }
        EVN_BARRIER;
    }
}
