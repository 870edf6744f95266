/* Overlaps of faces: random sets of faces are refused exactly if a plain count of each value's
 * readers and writers says so, whether boxes or bits have answered; and boxes answer for the faces
 * of blocks with rims. Run: ctest -R overlaps */
#include "world.h"
#include "exchange/areas.h"

enum { TASKS = 3, VALUES = 700, FACES = 6, ROUNDS = 30000 };

struct fixture {
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    void *host[TASKS];
    double *memory;
};

/* Tasks' memory side by side, so that ranges touch; the last two share some of it. */
static void begin(struct fixture *f) {
    *f = (struct fixture){0};
    f->units = open_units("1:CPU:1", NULL);
    f->loop = open_loop(f->units, &f->schedule, "static", (evn_problem){.tasks = TASKS});
    f->memory = calloc(3 * VALUES, sizeof *f->memory);
    f->host[0] = f->memory;
    f->host[1] = f->memory + VALUES;
    f->host[2] = f->memory + VALUES + VALUES / 2;
}

static void end(struct fixture *f) {
    close_loop(f->loop, f->schedule);
    close_units(f->units);
    free(f->memory);
}

/* A block in a box of 10 x 7 x 10 values, or of any strides. */
static void make_side(int task, const int n[3], long long *at, long long stride[3], int odd) {
    static const int size[3] = {10, 7, 10}, length[3] = {70, 10, 1};
    (void)task;
    *at = 0;
    for (int d = 0; d < 3; d++) {
        const int step = n[d] > 1 && below(5) == 0 && (n[d] - 1) * 2 < size[d] ? 2 : 1;
        const int room = size[d] - (n[d] - 1) * step, sign = below(6) ? 1 : -1;
        const int low = below(room > 0 ? room : 1);
        stride[d] = (long long)sign * step * length[d];
        *at += (long long)length[d] * (sign > 0 ? low : low + (n[d] - 1) * step);
    }
    if (!odd) return;
    stride[below(3)] = below(12);
    *at = below(VALUES / 8);
}

static evn_face make_face(int odd) {
    evn_face f = {.from = below(TASKS), .to = below(TASKS)};
    for (int d = 0; d < 3; d++) f.n[d] = 1 + below(odd ? 3 : 4);
    if (below(3)) f.n[below(3)] = 1;
    make_side(f.from, f.n, &f.from_at, f.from_stride, odd && below(2));
    make_side(f.to, f.n, &f.to_at, f.to_stride, odd && below(2));
    return f;
}

static int inside(const evn_face *f, int to) {
    long long lo, hi;
    exchange_reach(to ? f->to_at : f->from_at, to ? f->to_stride : f->from_stride, f->n, &lo, &hi);
    return lo >= 0 && hi < VALUES;
}

/* Whether a value is written twice, or written and read. */
static int overlaps(const struct fixture *f, const evn_face *face, int faces) {
    static unsigned char written[3 * VALUES], read[3 * VALUES];
    memset(written, 0, sizeof written);
    memset(read, 0, sizeof read);
    int found = 0;
    for (int i = 0; i < faces; i++)
        for (int a = 0; a < face[i].n[0]; a++)
            for (int b = 0; b < face[i].n[1]; b++)
                for (int c = 0; c < face[i].n[2]; c++) {
                    const evn_face *g = &face[i];
                    const long long from = g->from_at + a * g->from_stride[0] +
                                           b * g->from_stride[1] + c * g->from_stride[2];
                    const long long to =
                        g->to_at + a * g->to_stride[0] + b * g->to_stride[1] + c * g->to_stride[2];
                    read[(double *)f->host[g->from] - f->memory + from] = 1;
                    found |= written[(double *)f->host[g->to] - f->memory + to]++;
                }
    for (int i = 0; i < 3 * VALUES; i++) found |= written[i] && read[i];
    return found != 0;
}

TEST(random) {
    struct fixture f;
    int good = 0, bad = 0;
    begin(&f);
    for (int round = 0; round < ROUNDS; round++) {
        evn_face face[FACES];
        const int faces = 1 + below(FACES);
        for (int i = 0; i < faces; i++) do
                face[i] = make_face(round % 3 == 0);
            while (!inside(&face[i], 0) || !inside(&face[i], 1));
        OWN(exchange) *x = NULL;
        const evn_status want = overlaps(&f, face, faces) ? EVN_USAGE : EVN_OK;
        const evn_status got = evn_exchange_open(&x, f.loop, sizeof(double), faces, face, f.host);
        if (got != want) fail_msg("round %d: %d, expected %d: %s", round, got, want, evn_message());
        if (got)
            bad++;
        else
            good++;
    }
    end(&f);
    assert_in_range(good, ROUNDS / 5, ROUNDS); /* both kinds are many */
    assert_in_range(bad, ROUNDS / 5, ROUNDS);
}

/* The twelve sides of a block of m^3 values with a rim all round, which six faces read and six
 * write. */
static int make_block(int m, evn_face face[12], struct area area[12], long long base) {
    const long long stride[3] = {(long long)(m + 2) * (m + 2), m + 2, 1};
    const long long first = stride[0] + stride[1] + stride[2];
    for (int d = 0, at = 0; d < 3; d++)
        for (int high = 0; high < 2; high++)
            for (int written = 0; written < 2; written++, at++) {
                const int layer = high ? m - 1 + written : -written;
                face[at] = (evn_face){0};
                for (int e = 0; e < 3; e++) face[at].n[e] = e == d ? 1 : m;
                memcpy(face[at].to_stride, stride, sizeof stride);
                memcpy(face[at].from_stride, stride, sizeof stride);
                face[at].to_at = face[at].from_at = first + layer * stride[d];
                area[at] = (struct area){.face = at, .written = written, .base = base};
                area_fill(&area[at], &face[at], 8);
            }
    return 12;
}

TEST(blocks) {
    evn_face face[12];
    struct area area[12];
    for (int m = 1; m < 20; m++) {
        struct cluster c = {.area = area, .count = make_block(m, face, area, 64), .element = 8};
        c.lo = area[0].lo;
        for (int i = 0; i < 12; i++) c.lo = area[i].lo < c.lo ? area[i].lo : c.lo;
        assert_int_equal(boxes_are_apart(&c), 1);
        area[1].lo += 8 * (m + 2) * (m + 2); /* one layer further, which another face reads */
        assert_int_equal(boxes_are_apart(&c), 0);
    }
}

RUN_TESTS(NULL, NULL)
