/* A mesh that refines around a moving front: u_t = u_xx + u (1 - u) on a line (Ablowitz and
 * Zeppetella, 1979). A task is a block of cells; steep ones are divided in two, flat ones merged,
 * and the loop goes on with what it has learnt of the others. Over ranks each knows the mesh, and
 * has its own blocks' values. Draws blocks over time, every second unit's in orange; 0 if right:
 *
 *     cc adaptive.c $(pkg-config --cflags --libs evener) -lm -o adaptive
 *     EVENER_UNITS=2:CPU:1 ./adaptive > adaptive.svg
 *     EVENER_UNITS=1:CPU:1 EVENER_PROCESSES=3 ./adaptive > adaptive.svg     or mpirun -n 3 .. */
#include <evener.h>
#include <evener/change.h>
#include <evener/loop.h>
#include <evener/schedule.h>
#include <evener/unit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call) ((call) ? exit(evn_complain("adaptive")) : (void)0)
enum { CELLS = 16, PLACES = 128, LARGEST = 8, EVERY = 400, CHANGES = 60 };
#define WIDTH (100.0 / CELLS / PLACES) /* of a cell of the smallest blocks */
#define DT    (0.4 * WIDTH * WIDTH)
static const char *const colour[2][LARGEST + 1] = {
    {[8] = "#9ecae1", [4] = "#6baed6", [2] = "#3182bd", [1] = "#08519c"},
    {[8] = "#fdae6b", [4] = "#fd8d3c", [2] = "#e6550d", [1] = "#a63603"}};
static struct block {
    int at, size; /* in places, of which the smallest blocks have one */
    int wanted;   /* size in the next mesh, as the block alone would have it */
    double error; /* the largest of a cell */
} block[PLACES];  /* the tasks, from left to right; the same on all ranks */
static int blocks, steps, there[PLACES], region[PLACES]; /* there: the block at a place */
static char kept[PLACES];
static evn_face face[2 * PLACES];

/* In the middle of a cell, from 1 on, now. */
static double exact(const struct block *b, int cell) {
    const double x = (b->at * CELLS + (cell - 0.5) * b->size) * WIDTH;
    const double e = 1 + exp((x - 15 - 5 / sqrt(6) * (steps * DT)) / sqrt(6));
    return 1 / (e * e);
}

static void begin(evn_batch *batch, int t) {
    double *u = evn_batch_host(batch, t, 0);
    for (int i = 0; i < CELLS + 2; i++) u[i] = exact(&block[t], i);
}

/* A ghost of a larger block is half a cell further away. */
static double ghost(int t, int neighbour, double value, double own) {
    if (neighbour < 0 || neighbour >= blocks) return own;
    return block[neighbour].size > block[t].size ? own + (value - own) / 1.5 : value;
}

static void step(evn_batch *batch, int t) {
    double *u = evn_batch_host(batch, t, 0), next[CELLS + 2];
    const double width = block[t].size * WIDTH, rate = DT / (width * width);
    u[0] = ghost(t, t - 1, u[0], u[1]);
    u[CELLS + 1] = ghost(t, t + 1, u[CELLS + 1], u[CELLS]);
    for (int i = 1; i <= CELLS; i++)
        next[i] = u[i] + rate * (u[i - 1] - 2 * u[i] + u[i + 1]) + DT * u[i] * (1 - u[i]);
    for (int i = 1; i <= CELLS; i++) u[i] = next[i];
}

static void look(evn_batch *batch, int t) {
    const double *u = evn_batch_host(batch, t, 0);
    struct block *b = &block[t];
    double steep = b->error = 0;
    for (int i = 1; i < CELLS; i++) steep = fmax(steep, fabs(u[i + 1] - u[i]));
    for (int i = 1; i <= CELLS; i++) b->error = fmax(b->error, fabs(u[i] - exact(b, i)));
    b->wanted = steep > 0.01 && b->size > 1 ? b->size / 2 : steep < 0.002 ? b->size * 2 : b->size;
}

/* Half of a block as a whole one, or two blocks as one: cells are halves of a cell, or two. */
static void bear(evn_batch *batch, int t) {
    double *u = evn_batch_host(batch, t, 0);
    const int two = evn_batch_origins(batch, t) == 2, right = block[t].at / block[t].size % 2;
    for (int i = 0; i < CELLS; i++) {
        const double *v = evn_batch_origin_host(batch, t, two && i >= CELLS / 2, 0);
        v += 1 + (two ? 2 * i % CELLS : (right * CELLS + i) / 2);
        u[i + 1] = two ? (v[0] + v[1]) / 2 : v[0] + (i % 2 ? 1 : -1) * (v[1] - v[-1]) / 8;
    }
    u[0] = u[CELLS + 1] = 0; /* until the next exchange */
}

typedef void work(evn_batch *batch, int t);
static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;) (*(work **)arg)(batch, t);
    return EVN_OK;
}

/* Of each block the last cell to its right neighbour's ghost and the first one to the left one's,
 * to a larger block the mean of two. Those between kept blocks are there. Returns their number. */
static int list_faces(void) {
    int count = 0;
    for (int i = 1; i < 2 * blocks - 1; i++) {
        const int from = i / 2, to = i % 2 ? from + 1 : from - 1;
        const int mean = block[from].size < block[to].size;
        evn_face f = {.from = from, .to = to, .from_at = 1, .to_at = CELLS + 1, .n = {1, 1, 1}};
        if (from < to) f.from_at = CELLS - mean, f.to_at = 0;
        if (mean) f.resolution[2] = EVN_MEAN, f.from_stride[2] = 1, f.numbers = EVN_DOUBLES;
        if (!kept[from] || !kept[to]) face[count++] = f;
    }
    return count;
}

/* Whether this size is wanted, and half of it beside: neighbours differ by a factor of two. */
static int fits(int at, int size) {
    for (int p = at < size ? 0 : at - size; p < at + 2 * size && p < PLACES; p++)
        if (block[there[p]].wanted < (p < at || p >= at + size ? size / 2 : size)) return 0;
    return at % size == 0;
}

/* The loop and its exchange go on with other blocks; all ranks say the same. */
static void change(evn_loop *loop, evn_exchange *halo, evn_place *place) {
    struct block next[PLACES];
    int first[PLACES + 1] = {0}, from[2 * PLACES], n = 0;
    for (int t = 0; t < blocks; t++)
        for (int p = 0; p < block[t].size; p++) there[block[t].at + p] = t;
    for (int at = 0, size; at < PLACES; at += size, n++) {
        for (size = LARGEST; !fits(at, size);) size /= 2;
        next[n] = (struct block){.at = at, .size = size};
        kept[n] = block[there[at]].size == size;
        if (!kept[n]) TRY(evn_place_make(place, sizeof(double[CELLS + 2]), &region[n]));
        first[n + 1] = first[n];
        for (int t = there[at]; t <= there[at + size - 1]; t++) from[first[n + 1]++] = t;
    }
    for (blocks = 0; blocks < n; blocks++) block[blocks] = next[blocks];
    TRY(evn_loop_change(loop, &(evn_change){n, first, from, kept, .links = -1, .region = region}));
    TRY(evn_exchange_add(halo, list_faces(), face, NULL));
    TRY(evn_loop_bear(loop, body, &(work *){bear}, EVN_READ));
}

int main(void) {
    evn_session *session;
    evn_loop *loop;
    evn_place *place;
    evn_exchange *halo;
    double error = 0;
    TRY(evn_open(&session, NULL, NULL, EVN_OVER_RANKS)); /* first of all */
    evn_units *units = evn_session_units(session);
    if (evn_units_about(units).gpus)
        TRY(evn_fail(EVN_USAGE, "its bodies run on cores, not on \"%s\"", evn_units_text(units)));
    TRY(evn_open_loop(&loop, session, NULL, &(evn_problem){.tasks = PLACES / LARGEST}));
    TRY(evn_place_open(&place, units, 0.5));
    for (; blocks < PLACES / LARGEST; blocks++) {
        block[blocks] = (struct block){.at = LARGEST * blocks, .size = LARGEST};
        TRY(evn_place_make(place, sizeof(double[CELLS + 2]), &region[blocks]));
    }
    TRY(evn_session_place(session, loop, place, 1, region, (evn_access[]){EVN_BOTH}));
    TRY(evn_loop_visit_host(loop, body, &(work *){begin}, EVN_WRITE));
    TRY(evn_exchange_open(&halo, loop, sizeof(double), list_faces(), face, NULL));
    const int draws = evn_session_rank(session) == 0;
    const char *svg =
        "<svg xmlns='http://www.w3.org/2000/svg' width='800' height='360' stroke-width='5'>";
    if (draws) puts(svg);
    for (int c = 0; c <= CHANGES; c++) {
        TRY(evn_loop_visit_host(loop, body, &(work *){look}, EVN_READ));
        TRY(evn_loop_allgather(loop, block, sizeof *block)); /* all ranks know all wishes */
        if (c == CHANGES) break;
        change(loop, halo, place);
        for (int s = 0; s < EVERY; s++, steps++) {
            TRY(evn_exchange_run(halo));
            TRY(evn_loop_run(loop, body, &(work *){step}));
        }
        const char *last = NULL, *now; /* blocks of one colour in a row are one path */
        for (int t = 0; draws && t < blocks; t++, last = now) {
            now = colour[evn_loop_owner(loop)[t] % 2][block[t].size];
            if (now != last) printf("%s<path stroke='%s' d='", t ? "'/>" : "", now);
            printf("M%g %gh%g", 6.25 * block[t].at, 6 * c + 2.5, 6.25 * block[t].size - 0.5);
        }
        if (draws) puts("'/>");
    }
    for (int t = 0; t < blocks; t++) error = fmax(error, block[t].error);
    if (draws) printf("</svg>\n");
    if (draws) fprintf(stderr, "%d blocks at the end; error %.1e\n", blocks, error);
    evn_exchange_close(halo);
    evn_place_close(place);
    TRY(evn_close(session));
    return error > 0 && error < 0.02 ? EXIT_SUCCESS : EXIT_FAILURE;
}
