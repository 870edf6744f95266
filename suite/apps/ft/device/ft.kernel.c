/* FT on a device: lines along y and z, rows along x, the field at the start, the points of a
 * checksum.
 *
 * The arithmetic is that of the host (line.h, transform.c, start.c), in the same order, so that
 * bits are the same where nothing is contracted. A group takes lines of a lane each into its
 * memory, 2048 points in all; where a line is long these are fewer than the eight lanes of a pack.
 * Items beside one another have neighbouring lanes, so that a warp reads and writes halves of packs
 * as a whole, and items of a group do several butterflies of a pass, with a barrier behind it.
 *
 * Each kernel reads and writes a point once, 32 bytes: a step is three, 96 bytes a point.
 */
#include "ft/device/engine.kernel.h"

struct cnum {
    double re, im;
};

EVN_DEVICE_FUNCTION struct cnum cnum_of(double re, double im) {
    struct cnum a;
    a.re = re;
    a.im = im;
    return a;
}
EVN_DEVICE_FUNCTION struct cnum cnum_add(struct cnum a, struct cnum b) {
    return cnum_of(a.re + b.re, a.im + b.im);
}
EVN_DEVICE_FUNCTION struct cnum cnum_sub(struct cnum a, struct cnum b) {
    return cnum_of(a.re - b.re, a.im - b.im);
}
/* -i a, if `turned` */
EVN_DEVICE_FUNCTION struct cnum cnum_turn(struct cnum a, int turned) {
    return turned ? cnum_of(a.im, -a.re) : a;
}

/* a + b and a - b; turned: -i b for b */
EVN_DEVICE_FUNCTION void sums(struct cnum *a, struct cnum *b, int turned) {
    const struct cnum t = cnum_turn(*b, turned);
    *b = cnum_sub(*a, t);
    *a = cnum_add(*a, t);
}
/* a + w b and a - w b; turned: -i w for w */
EVN_DEVICE_FUNCTION void pair(struct cnum *a, struct cnum *b, struct cnum w, int turned) {
    const struct cnum t = cnum_turn(*b, turned);
    const struct cnum s =
        cnum_of(a->re + w.re * t.re - w.im * t.im, a->im + w.re * t.im + w.im * t.re);
    *b = cnum_of(2 * a->re - s.re, 2 * a->im - s.im);
    *a = s;
}

/* butterfly4 and butterfly8 of line.h, and the same with r = 1 */
EVN_DEVICE_FUNCTION void butterfly4(struct cnum a[4], struct cnum r, struct cnum r2, int turned) {
    pair(&a[0], &a[2], r2, turned);
    pair(&a[1], &a[3], r2, turned);
    pair(&a[0], &a[1], r, 0);
    pair(&a[2], &a[3], r, 1);
}
EVN_DEVICE_FUNCTION void first4(struct cnum a[4]) {
    sums(&a[0], &a[2], 0);
    sums(&a[1], &a[3], 0);
    sums(&a[0], &a[1], 0);
    sums(&a[2], &a[3], 1);
}
EVN_DEVICE_FUNCTION void first8(struct cnum a[8]) {
    const struct cnum eighth = cnum_of(0.70710678118654752440, -0.70710678118654752440);
    sums(&a[0], &a[4], 0);
    sums(&a[1], &a[5], 0);
    sums(&a[2], &a[6], 0);
    sums(&a[3], &a[7], 0);
    first4(a);
    sums(&a[4], &a[6], 1);
    sums(&a[5], &a[7], 1);
    pair(&a[4], &a[5], eighth, 0);
    pair(&a[6], &a[7], eighth, 1);
}

/* ---- memory of the group: point t of lane w at t*lanes + w -------------------------------------
 *
 * On a device these places have holes between them, so that bit k of a place moves a point by
 * 2^(k%4) banks: the memory serves 16 items together, and these meet 16 banks wherever their places
 * differ in four bits one behind the other, lanes beside lanes and points far apart alike. Where
 * the bits in which they would differ are others, items change their turns.
 */

EVN_DEVICE_FUNCTION int spot(int place) {
    return place + EVN_ON_DEVICE * ((place >> 4) + (place >> 8));
}
enum { SPOTS = ENGINE_POINTS + EVN_ON_DEVICE * (ENGINE_POINTS / 16 + ENGINE_POINTS / 256) };

/* The number t of an item on a device, its lowest `low` bits moved above the `by` bits that follow
 * them. */
EVN_DEVICE_FUNCTION int turned(int t, int low, int by) {
    const int mask = (1 << (low + by)) - 1, field = t & mask;
    return EVN_ON_DEVICE ? t - field + ((field << by & mask) | field >> low) : t;
}

EVN_DEVICE_FUNCTION struct cnum get(EVN_LOCAL const double *buffer, int at) {
    return cnum_of(buffer[at], buffer[SPOTS + at]);
}
EVN_DEVICE_FUNCTION void put(EVN_LOCAL double *buffer, int at, struct cnum a) {
    buffer[at] = a.re;
    buffer[SPOTS + at] = a.im;
}

/* Spots of points that are a power of two apart, from that of the first one, whose place has zeros
 * in the bits in which theirs differ: so spots are sums. */
struct spots {
    int at, one, two, four;
};
EVN_DEVICE_FUNCTION struct spots spots(int place, int apart) {
    struct spots s;
    s.at = spot(place);
    s.one = spot(apart);
    s.two = spot(2 * apart);
    s.four = spot(4 * apart);
    return s;
}

/* The 2^log points of a butterfly. */
EVN_DEVICE_FUNCTION void get_points(EVN_LOCAL const double *buffer, struct spots s, int log,
                                    struct cnum a[4]) {
    a[0] = a[1] = a[2] = a[3] = get(buffer, s.at); /* all, else compilers warn */
    if (log < 2) return;
    a[1] = get(buffer, s.at + s.one);
    a[2] = get(buffer, s.at + s.two);
    a[3] = get(buffer, s.at + s.one + s.two);
}
EVN_DEVICE_FUNCTION void put_points(EVN_LOCAL double *buffer, struct spots s, int log,
                                    const struct cnum a[8]) {
    put(buffer, s.at, a[0]);
    if (log >= 1) put(buffer, s.at + s.one, a[1]);
    if (log >= 2) {
        put(buffer, s.at + s.two, a[2]);
        put(buffer, s.at + s.one + s.two, a[3]);
    }
    if (log == 3) {
        put(buffer, s.at + s.four, a[4]);
        put(buffer, s.at + s.four + s.one, a[5]);
        put(buffer, s.at + s.four + s.two, a[6]);
        put(buffer, s.at + s.four + s.one + s.two, a[7]);
    }
}

/* The first pass of 2^log points. */
EVN_DEVICE_FUNCTION void first_points(struct cnum a[8], int log) {
    if (log == 1) sums(&a[0], &a[1], 0);
    if (log == 2) first4(a);
    if (log == 3) first8(a);
}

/* Butterfly i of a pass whose blocks are 2^log points long; a line has 2^log_line. */
EVN_DEVICE_FUNCTION void middle(EVN_LOCAL double *buffer, EVN_GLOBAL const double *w, int log,
                                int log_line, int log_wide, int i) {
    const int lane = i & ((1 << log_wide) - 1), t = i >> log_wide;
    const int j = t & ((1 << (log - 2)) - 1);
    const int block = turned(t >> (log - 2), evn_imax(4 - (log_wide + log - 2), 0), 2);
    const struct spots s =
        spots((((block << log) + j) << log_wide) + lane, 1 << (log - 2 + log_wide));
    struct cnum a[8];
    get_points(buffer, s, 2, a);
    w += 4 * (block & ((1 << (log_line - log)) - 1));
    butterfly4(a, cnum_of(w[0], w[1]), cnum_of(w[2], w[3]), 0);
    put_points(buffer, s, 2, a);
}

/* The block of the last pass that item i does, if not that of its number. */
EVN_DEVICE_FUNCTION int last_turn(int i, int log_wide, int log_last) {
    return turned(i >> log_wide, evn_imax(4 - log_wide, 0), 4 - log_last);
}

/* The last pass's block of a lane: its results in their order. */
EVN_DEVICE_FUNCTION void last_block(EVN_LOCAL const double *buffer, struct spots s,
                                    EVN_GLOBAL const double *w, int log_last, struct cnum a[4]) {
    struct cnum second;
    get_points(buffer, s, log_last, a);
    if (log_last < 2) return;
    butterfly4(a, cnum_of(w[0], w[1]), cnum_of(w[2], w[3]), 0);
    second = a[1];
    a[1] = a[2];
    a[2] = second;
}

/* ---- where points are -------------------------------------------------------------------------
 */

/* A lane of a line. */
struct lane {
    int here, all, pack, lane, is_there;
};

EVN_DEVICE_FUNCTION evn_long way_at(EVN_GLOBAL const struct engine_way *way, struct lane l) {
    return way->at + l.here * way->here + l.all * way->all + l.pack * way->pack + l.lane;
}

EVN_DEVICE_FUNCTION struct cnum load(EVN_GLOBAL const double *at, int sign) {
    return cnum_of(at[sign], at[8 - sign]);
}
EVN_DEVICE_FUNCTION void store(EVN_GLOBAL double *at, int sign, struct cnum a) {
    at[sign] = a.re;
    at[8 - sign] = a.im;
}

/* ---- lines along y and z ----------------------------------------------------------------------
 */

/* Lane `at` of those of a launch; beyond the last one, that again. */
EVN_DEVICE_FUNCTION struct lane lane_of(EVN_GLOBAL const int *numbers, const struct engine_lines *v,
                                        int at) {
    struct lane l;
    const int lanes = v->count << (v->log_packs + 3);
    l.is_there = at < lanes;
    at = evn_imin(at, lanes - 1);
    l.lane = at & 7;
    l.pack = (at >> 3) & ((1 << v->log_packs) - 1);
    l.here = v->first + (at >> (3 + v->log_packs));
    l.all = numbers[l.here];
    return l;
}

EVN_DEVICE_FUNCTION struct cnum line_point(EVN_GLOBAL const double *memory,
                                           EVN_GLOBAL const double *decay,
                                           EVN_GLOBAL const struct engine_way *ways,
                                           const struct engine_lines *v, struct lane l, int j) {
    struct cnum a = load(memory + way_at(ways + v->from + j, l), v->sign);
    if (v->decays) {
        const double scale = decay[v->x + l.pack * 8 + l.lane] * decay[v->y + l.all];
        const double f = scale * decay[v->z + j];
        a = cnum_of(a.re * f, a.im * f);
    }
    return a;
}

EVN_DEVICE_FUNCTION void line_first(EVN_GLOBAL const double *memory, EVN_GLOBAL const double *decay,
                                    EVN_GLOBAL const struct engine_way *ways,
                                    const struct engine_lines *v, struct lane l,
                                    EVN_LOCAL double *buffer, int log_wide, int i) {
    const int log = v->line.log_first, apart = v->line.n >> log, j = i >> log_wide;
    struct cnum a[8];
    if (!l.is_there) return;
    a[0] = line_point(memory, decay, ways, v, l, j);
    a[1] = a[2] = a[3] = a[4] = a[5] = a[6] = a[7] = a[0]; /* else compilers warn */
    if (log >= 1) a[1] = line_point(memory, decay, ways, v, l, j + apart);
    if (log >= 2) {
        a[2] = line_point(memory, decay, ways, v, l, j + 2 * apart);
        a[3] = line_point(memory, decay, ways, v, l, j + 3 * apart);
    }
    if (log == 3) {
        a[4] = line_point(memory, decay, ways, v, l, j + 4 * apart);
        a[5] = line_point(memory, decay, ways, v, l, j + 5 * apart);
        a[6] = line_point(memory, decay, ways, v, l, j + 6 * apart);
        a[7] = line_point(memory, decay, ways, v, l, j + 7 * apart);
    }
    first_points(a, log);
    put_points(buffer, spots(i, apart << log_wide), log, a);
}

EVN_DEVICE_FUNCTION void line_last(EVN_GLOBAL double *memory, EVN_GLOBAL const double *w,
                                   EVN_GLOBAL const int *order,
                                   EVN_GLOBAL const struct engine_way *ways,
                                   const struct engine_lines *v, struct lane l,
                                   EVN_LOCAL const double *buffer, int b, int log_wide, int lane) {
    struct cnum a[4];
    const int log_last = v->line.log_last, blocks = v->line.n >> log_last;
    EVN_GLOBAL const struct engine_way *to = ways + v->to + order[b];
    if (!l.is_there) return;
    last_block(buffer, spots((b << (log_last + log_wide)) + lane, 1 << log_wide), w + 4 * b,
               log_last, a);
    store(memory + way_at(to, l), v->sign, a[0]);
    if (log_last < 2) return;
    store(memory + way_at(to + blocks, l), v->sign, a[1]);
    store(memory + way_at(to + 2 * blocks, l), v->sign, a[2]);
    store(memory + way_at(to + 3 * blocks, l), v->sign, a[3]);
}

EVN_KERNEL(ft_lines, ENGINE_ITEMS,
           (EVN_BUFFER(double, memory), EVN_IN(double, table), EVN_IN(int, order),
            EVN_IN(double, decay), EVN_IN(struct engine_way, ways), EVN_IN(int, numbers),
            EVN_VALUE(struct engine_lines, v))) {
    EVN_LOCAL_ARRAY(double, buffer, 2 * SPOTS);
    const int log_wide = ENGINE_LOG - v.line.log, mask = (1 << log_wide) - 1;
    const int first = EVN_GROUP << log_wide;
    EVN_SHARE(i, ENGINE_POINTS >> v.line.log_first) {
        line_first(memory, decay, ways, &v, lane_of(numbers, &v, first + (i & mask)), buffer,
                   log_wide, i);
    }
    EVN_BARRIER;
    for (int pass = 1; pass < v.line.passes; pass++) {
        const int log = v.line.log - v.line.log_first - 2 * (pass - 1);
        EVN_SHARE(i, ENGINE_POINTS / 4) {
            middle(buffer, table + v.line.twiddle, log, v.line.log, log_wide, i);
        }
        EVN_BARRIER;
    }
    EVN_SHARE(i, ENGINE_POINTS >> v.line.log_last) {
        line_last(memory, table + v.line.twiddle, order + v.line.order, ways, &v,
                  lane_of(numbers, &v, first + (i & mask)), buffer,
                  last_turn(i, log_wide, v.line.log_last), log_wide, i & mask);
    }
}

/* ---- rows along x -----------------------------------------------------------------------------
 */

/* Row `at` of a launch, and whether there is one. */
EVN_DEVICE_FUNCTION struct lane row_of(EVN_GLOBAL const int *numbers, const struct engine_rows *v,
                                       int at, int *y) {
    struct lane l;
    const int rows = v->count << v->log_y;
    l.is_there = at < rows;
    at = evn_imin(at, rows - 1);
    l.here = v->first + (at >> v->log_y);
    l.all = numbers[l.here];
    l.pack = l.lane = 0;
    *y = at & ((1 << v->log_y) - 1);
    return l;
}

/* Where point x of a row is. */
EVN_DEVICE_FUNCTION evn_long row_at(EVN_GLOBAL const int *numbers,
                                    EVN_GLOBAL const struct engine_way *ways,
                                    const struct engine_rows *v, int row, int x) {
    int y;
    struct lane l = row_of(numbers, v, row, &y);
    l.pack = x >> 3;
    l.lane = x & 7;
    return l.is_there ? way_at(ways + y, l) : -1;
}

EVN_DEVICE_FUNCTION struct cnum row_point(EVN_GLOBAL const double *memory, evn_long at, int sign) {
    return at < 0 ? cnum_of(0, 0) : load(memory + at, sign);
}

/* Butterfly i of the first pass: lane, place in the line, row. */
EVN_DEVICE_FUNCTION void row_first(EVN_GLOBAL const double *memory, EVN_GLOBAL const int *numbers,
                                   EVN_GLOBAL const struct engine_way *ways,
                                   const struct engine_rows *v, EVN_LOCAL double *buffer, int first,
                                   int i) {
    const int log_first = v->line.log_first, log = v->line.log - log_first;
    const int apart = 8 << log, lane = i & 7;
    const int j = (i >> 3) & ((1 << log) - 1), r = i >> (3 + log), x = 8 * j + lane;
    const evn_long at = row_at(numbers, ways + v->from, v, first + r, x);
    const evn_long step = at < 0 ? 0 : 2 * (evn_long)apart; /* packs of a row are neighbours */
    struct cnum a[8];
    a[0] = row_point(memory, at, v->sign);
    a[1] = row_point(memory, at + step, v->sign);
    a[2] = row_point(memory, at + 2 * step, v->sign);
    a[3] = row_point(memory, at + 3 * step, v->sign);
    a[4] = a[5] = a[6] = a[7] = a[0]; /* else compilers warn */
    if (log_first == 3) {
        a[4] = row_point(memory, at + 4 * step, v->sign);
        a[5] = row_point(memory, at + 5 * step, v->sign);
        a[6] = row_point(memory, at + 6 * step, v->sign);
        a[7] = row_point(memory, at + 7 * step, v->sign);
    }
    first_points(a, log_first);
    put_points(buffer, spots((r << (log + log_first + 3)) + x, apart), log_first, a);
}

/* A block of the last pass, in place. */
EVN_DEVICE_FUNCTION void row_last(EVN_LOCAL double *buffer, EVN_GLOBAL const double *w,
                                  const struct engine_line *line, int i) {
    struct cnum a[8];
    const int b = last_turn(i, 3, line->log_last);
    const struct spots s = spots((b << (3 + line->log_last)) + (i & 7), 8);
    w += 4 * (b & ((1 << (line->log - line->log_last)) - 1));
    last_block(buffer, s, w, line->log_last, a);
    put_points(buffer, s, line->log_last, a);
}

/* Result pack p of row r, where the last pass has left it, across its lanes. */
EVN_DEVICE_FUNCTION void row_across(EVN_GLOBAL double *memory, EVN_GLOBAL const double *w,
                                    EVN_GLOBAL const int *order, EVN_GLOBAL const int *numbers,
                                    EVN_GLOBAL const struct engine_way *ways,
                                    const struct engine_rows *v, EVN_LOCAL const double *buffer,
                                    int first, int i) {
    const int log = v->line.log, log_blocks = log - v->line.log_last, packs = 1 << log;
    /* In rows of 32 packs bits 1 and 2 of p move by 8 banks both: bits 2, 3, 4 change places, as
     * turned() does, which takes registers here. */
    const int turn = i + (log == 5 ? EVN_ON_DEVICE * ((i & 12) - (i >> 4 & 1) * 12) : 0);
    const int p = turn & (packs - 1), r = i >> log;
    const int b = order[p & ((1 << log_blocks) - 1)];
    const int at = spot(((r << log) + (b << v->line.log_last) + (p >> log_blocks)) << 3);
    const evn_long apart = 2 * (evn_long)packs; /* result q*packs + p */
    struct cnum a[8], root;
    w += p;
    root = cnum_of(w[4 * packs], w[5 * packs]);
    a[0] = get(buffer, at);
    a[4] = get(buffer, at + 4);
    pair(&a[0], &a[4], root, 0);
    a[1] = get(buffer, at + 1);
    a[5] = get(buffer, at + 5);
    pair(&a[1], &a[5], root, 0);
    a[2] = get(buffer, at + 2);
    a[6] = get(buffer, at + 6);
    pair(&a[2], &a[6], root, 0);
    a[3] = get(buffer, at + 3);
    a[7] = get(buffer, at + 7);
    pair(&a[3], &a[7], root, 0);
    root = cnum_of(w[2 * packs], w[3 * packs]);
    butterfly4(a, cnum_of(w[0], w[packs]), root, 0);
    butterfly4(a + 4, cnum_of(w[6 * packs], w[7 * packs]), root, 1);
    const evn_long to = row_at(numbers, ways + v->to, v, first + r, p);
    if (to < 0) return;
    store(memory + to, v->sign, a[0]);
    store(memory + to + 4 * apart, v->sign, a[1]);
    store(memory + to + 2 * apart, v->sign, a[2]);
    store(memory + to + 6 * apart, v->sign, a[3]);
    store(memory + to + apart, v->sign, a[4]);
    store(memory + to + 5 * apart, v->sign, a[5]);
    store(memory + to + 3 * apart, v->sign, a[6]);
    store(memory + to + 7 * apart, v->sign, a[7]);
}

EVN_KERNEL(ft_rows, EVN_RESIDENT(ENGINE_ITEMS, 4),
           (EVN_BUFFER(double, memory), EVN_IN(double, table), EVN_IN(int, order),
            EVN_IN(struct engine_way, ways), EVN_IN(int, numbers),
            EVN_VALUE(struct engine_rows, v))) {
    EVN_LOCAL_ARRAY(double, buffer, 2 * SPOTS);
    const int first = EVN_GROUP << (ENGINE_LOG - v.log_x);
    EVN_SHARE(i, ENGINE_POINTS >> v.line.log_first) {
        row_first(memory, numbers, ways, &v, buffer, first, i);
    }
    EVN_BARRIER;
    for (int pass = 1; pass < v.line.passes; pass++) {
        const int log = v.line.log - v.line.log_first - 2 * (pass - 1);
        EVN_SHARE(i, ENGINE_POINTS / 4) {
            middle(buffer, table + v.line.twiddle, log, v.line.log, 3, i);
        }
        EVN_BARRIER;
    }
    EVN_SHARE(i, ENGINE_POINTS >> v.line.log_last) {
        row_last(buffer, table + v.line.twiddle, &v.line, i);
    }
    EVN_BARRIER;
    EVN_SHARE(i, ENGINE_POINTS / 8) {
        row_across(memory, table + v.twiddle, order + v.line.order, numbers, ways, &v, buffer,
                   first, i);
    }
}

/* Rows of less than 64 points, as the definition has it. */
EVN_KERNEL(ft_short, ENGINE_ITEMS,
           (EVN_BUFFER(double, memory), EVN_IN(double, table), EVN_IN(struct engine_way, ways),
            EVN_IN(int, numbers), EVN_VALUE(struct engine_rows, v))) {
    EVN_LOCAL_ARRAY(double, buffer, 2 * SPOTS);
    const int first = EVN_GROUP << (ENGINE_LOG - v.log_x), nx = 1 << v.log_x;
    EVN_SHARE(i, ENGINE_POINTS) {
        const evn_long at =
            row_at(numbers, ways + v.from, &v, first + (i >> v.log_x), i & (nx - 1));
        put(buffer, spot(i), row_point(memory, at, v.sign));
    }
    EVN_BARRIER;
    EVN_SHARE(i, ENGINE_POINTS) {
        const int r = i >> v.log_x, k = i & (nx - 1);
        const evn_long to = row_at(numbers, ways + v.to, &v, first + r, k);
        double re = 0, im = 0;
        for (int j = 0; j < nx; j++) {
            const struct cnum a = get(buffer, spot((r << v.log_x) + j));
            const int at = v.twiddle + 2 * (j * k & (nx - 1));
            re += a.re * table[at] - a.im * table[at + 1];
            im += a.re * table[at + 1] + a.im * table[at];
        }
        if (to >= 0) store(memory + to, v.sign, cnum_of(re, im));
    }
}

/* ---- the field at the start -------------------------------------------------------------------
 */

/* X(k) of common/run/npb_random.h */
EVN_DEVICE_FUNCTION evn_ulong random_at(const struct engine_start *v, evn_ulong k) {
    evn_ulong x = v->seed, a = v->factor;
    for (; k; k >>= 1) {
        if (k & 1) x = x * a & v->mask;
        a = a * a & v->mask;
    }
    return x;
}

/* A lane of a row's packs, each from the one before. */
EVN_DEVICE_FUNCTION void start_lane(EVN_GLOBAL double *memory,
                                    EVN_GLOBAL const struct engine_way *ways,
                                    EVN_GLOBAL const int *numbers, const struct engine_start *v,
                                    int at) {
    const int row = at >> 3, y = row & ((1 << v->log_y) - 1);
    struct lane l;
    if (row >= v->count << v->log_y) return;
    l.lane = at & 7;
    l.here = v->first + (row >> v->log_y);
    l.all = numbers[l.here];
    const evn_ulong n = (((evn_ulong)l.all << v->log_y) + (evn_ulong)y) << (v->log_packs + 4);
    evn_ulong re = random_at(v, n + 2 * (evn_ulong)l.lane + 1);
    evn_ulong im = re * v->factor & v->mask;
    for (l.pack = 0; l.pack < 1 << v->log_packs; l.pack++) {
        store(memory + way_at(ways + v->to + y, l), 0,
              cnum_of((double)re * v->scale, (double)im * v->scale));
        re = re * v->leap & v->mask;
        im = im * v->leap & v->mask;
    }
}

EVN_KERNEL(ft_start, ENGINE_ITEMS,
           (EVN_BUFFER(double, memory), EVN_IN(struct engine_way, ways), EVN_IN(int, numbers),
            EVN_VALUE(struct engine_start, v))) {
    EVN_ITEMS(i) { start_lane(memory, ways, numbers, &v, EVN_GROUP * ENGINE_ITEMS + i); }
}

/* ---- rows from here to there, with two transposes ---------------------------------------------
 */

/* A lane of a pack. */
EVN_DEVICE_FUNCTION void copy_lane(EVN_GLOBAL double *memory, EVN_GLOBAL const double *decay,
                                   EVN_GLOBAL const struct engine_way *ways,
                                   EVN_GLOBAL const int *numbers, const struct engine_copy *v,
                                   int at) {
    const int row = at >> (3 + v->log_packs), y = row & ((1 << v->log_y) - 1);
    struct lane l;
    if (row >= v->count << v->log_y) return;
    l.lane = at & 7;
    l.pack = (at >> 3) & ((1 << v->log_packs) - 1);
    l.here = v->first + (row >> v->log_y);
    l.all = numbers[l.here];
    struct cnum a = load(memory + way_at(ways + v->from + y, l), 0);
    if (v->decays) {
        const double yz = decay[v->y + y] * decay[v->z + l.all];
        const double f = decay[v->x + 8 * l.pack + l.lane] * yz;
        a = cnum_of(a.re * f, a.im * f);
    }
    store(memory + way_at(ways + v->to + y, l), 0, a);
}

EVN_KERNEL(ft_copy, ENGINE_ITEMS,
           (EVN_BUFFER(double, memory), EVN_IN(double, decay), EVN_IN(struct engine_way, ways),
            EVN_IN(int, numbers), EVN_VALUE(struct engine_copy, v))) {
    EVN_ITEMS(i) { copy_lane(memory, decay, ways, numbers, &v, EVN_GROUP * ENGINE_ITEMS + i); }
}

/* ---- points of a checksum ----------------------------------------------------------------------
 */

EVN_KERNEL(ft_points, ENGINE_ITEMS,
           (EVN_BUFFER(double, memory), EVN_IN(evn_long, at), EVN_VALUE(struct engine_points, v))) {
    EVN_ITEMS(i) {
        const int k = EVN_GROUP * ENGINE_ITEMS + i;
        if (k < v.count) {
            memory[v.result + 2 * k] = memory[at[k]];
            memory[v.result + 2 * k + 1] = memory[at[k] + 8];
        }
    }
}
