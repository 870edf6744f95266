/* A mesh that refines around a moving front: u_t = u_xx + u (1 - u) on a line, whose front moves to
 * the right (Ablowitz and Zeppetella, 1979). A task is a block of cells; steep blocks are divided
 * in two, flat ones are merged, and the loop goes on with what it has learnt of the others. Draws
 * the blocks over time, by level, those of the first unit darker:
 *
 *     cc adaptive.c $(pkg-config --cflags --libs evener) -lm -o adaptive
 *     EVENER_UNITS=2:CPU:1 ./adaptive > adaptive.svg
 *
 * Run by the tests: status 0 if the front is where it should be. */
#include <evener.h>
#include <evener/change.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 16, ROOTS = 16, LEVELS = 3, MOST = ROOTS << LEVELS, EVERY = 400, CHANGES = 60 };
static const double LENGTH = 100, MIDDLE = 15;

struct block {
    double u[CELLS + 2], next[CELLS + 2]; /* with a ghost cell at each end; faces count from here */
    int level, at;                        /* the at-th of its level, from the left */
};
static struct block *block[MOST]; /* the tasks, from left to right */
static int blocks;
static double dt;
static const char *const colour[2][LEVELS + 1] = {{"#9ecae1", "#6baed6", "#3182bd", "#08519c"},
                                                  {"#fdae6b", "#fd8d3c", "#e6550d", "#a63603"}};

static double width_of(const struct block *b) { return LENGTH / CELLS / (ROOTS << b->level); }

static double exact(double x, double time) {
    const double e = 1 + exp((x - MIDDLE - 5 / sqrt(6) * time) / sqrt(6));
    return 1 / (e * e);
}

static void quit(void) {
    fprintf(stderr, "adaptive: %s\n", evn_message());
    exit(EXIT_FAILURE);
}
#define TRY(call)                                                                                  \
    if (call) quit()

/* Faces between a block and its right neighbour: one value each way, to a coarser block the mean of
 * two. Only those that touch a born block, if `born` is given. Returns their number. */
static int list_faces(const char *born, evn_face *face) {
    int count = 0;
    for (int t = 0; t + 1 < blocks; t++) {
        if (born && !born[t] && !born[t + 1]) continue;
        const int down = block[t + 1]->level - block[t]->level;
        const evn_face right = {.from = t, .to = t + 1, .n = {1, 1, 1}, .numbers = EVN_DOUBLES};
        evn_face *f = &face[count];
        count += 2;
        f[0] = f[1] = right;
        f[0].from_at = CELLS - (down < 0), f[0].from_stride[2] = 1;
        f[0].resolution[2] = down < 0 ? EVN_MEAN : EVN_SAME;
        f[1].from = t + 1, f[1].to = t;
        f[1].from_at = 1, f[1].from_stride[2] = 1, f[1].to_at = CELLS + 1;
        f[1].resolution[2] = down > 0 ? EVN_MEAN : EVN_SAME;
    }
    return count;
}

/* A ghost of a coarser block is half a cell further away. */
static double ghost(int t, int neighbour, double value, double own) {
    if (neighbour < 0 || neighbour >= blocks) return own;
    return block[neighbour]->level < block[t]->level ? own + (value - own) / 1.5 : value;
}

static evn_status step(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)arg;
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        struct block *b = block[t];
        double *u = b->u, *next = b->next;
        const double rate = dt / (width_of(b) * width_of(b));
        u[0] = ghost(t, t - 1, u[0], u[1]);
        u[CELLS + 1] = ghost(t, t + 1, u[CELLS + 1], u[CELLS]);
        for (int i = 1; i <= CELLS; i++)
            next[i] = u[i] + rate * (u[i - 1] - 2 * u[i] + u[i + 1]) + dt * u[i] * (1 - u[i]);
        memcpy(&u[1], &next[1], CELLS * sizeof *u);
    }
    return EVN_OK;
}

/* ---- changes ---- */

static struct block *make(int level, int at) {
    struct block *b = calloc(1, sizeof *b);
    if (!b) abort();
    b->level = level, b->at = at;
    return b;
}

static int is_pair(int t) {
    return t + 1 < blocks && block[t]->level == block[t + 1]->level && block[t]->at % 2 == 0;
}

/* The level that each block should have: neighbours differ by one, and pairs merge together. */
static void decide(int *level) {
    for (int t = 0; t < blocks; t++) {
        double steep = 0;
        for (int i = 1; i < CELLS; i++)
            steep = fmax(steep, fabs(block[t]->u[i + 1] - block[t]->u[i]));
        const int up = steep > 0.01 && block[t]->level < LEVELS;
        level[t] = block[t]->level + up - (steep < 0.002 && block[t]->level);
    }
    for (int again = 1; again--;)
        for (int t = 0; t < blocks; t++) {
            const int own = block[t]->level, to = level[t];
            const int mate = is_pair(t) ? t + 1 : t && is_pair(t - 1) ? t - 1 : -1;
            if (to < own && (mate < 0 || level[mate] >= own)) level[t] = own;
            if (t && level[t - 1] > level[t] + 1) level[t] = level[t - 1] - 1;
            if (t + 1 < blocks && level[t + 1] > level[t] + 1) level[t] = level[t + 1] - 1;
            again |= level[t] != to;
        }
}

/* Half of a block as a whole one, or two blocks as one: cells are halves of a cell, or two. */
static struct block *divided(const struct block *b, int half) {
    struct block *n = make(b->level + 1, 2 * b->at + half);
    for (int i = 0; i < CELLS; i++) {
        const double *u = &b->u[1 + half * CELLS / 2 + i / 2];
        n->u[i + 1] = *u + (i % 2 ? 1 : -1) * (u[1] - u[-1]) / 8;
    }
    return n;
}
static struct block *merged(struct block *const pair[2]) {
    struct block *n = make(pair[0]->level - 1, pair[0]->at / 2);
    for (int i = 0; i < CELLS; i++)
        n->u[i + 1] = (pair[i / (CELLS / 2)]->u[1 + 2 * i % CELLS] +
                       pair[i / (CELLS / 2)]->u[2 + 2 * i % CELLS]) /
                      2;
    return n;
}

/* The loop and its exchange go on with other blocks. */
static void change(evn_loop *loop, evn_exchange *halo) {
    struct block *next[MOST];
    int level[MOST], first[MOST + 1] = {0}, from[MOST], n = 0;
    char kept[MOST], born[MOST];
    evn_face face[2 * MOST];
    decide(level);
    for (int t = 0; t < blocks; t++) {
        const int down = level[t] - block[t]->level;
        for (int half = 0; half < 1 + (down > 0); half++, n++) {
            kept[n] = !down;
            next[n] = down > 0 ? divided(block[t], half) : down ? merged(&block[t]) : block[t];
            from[first[n]] = t;
            from[first[n] + 1] = t + 1; /* if it is merged */
            first[n + 1] = first[n] + 1 + (down < 0);
            born[n] = !kept[n];
        }
        if (down) free(block[t]);
        if (down < 0) free(block[++t]);
    }
    memcpy(block, next, (size_t)n * sizeof *block);
    blocks = n;
    TRY(evn_loop_change(
        loop, &(evn_change){.tasks = n, .first = first, .from = from, .kept = kept, .links = -1}));
    TRY(evn_exchange_add(halo, list_faces(born, face), face, (void *const *)block));
}

int main(void) {
    evn_session *session;
    evn_loop *loop;
    evn_exchange *halo;
    evn_face face[2 * MOST];
    for (int t = 0; t < ROOTS; t++) {
        block[blocks++] = make(0, t);
        for (int i = 0; i < CELLS; i++)
            block[t]->u[i + 1] = exact((t * CELLS + i + 0.5) * width_of(block[t]), 0);
    }
    const double finest = LENGTH / CELLS / MOST;
    dt = 0.4 * finest * finest;
    TRY(evn_open(&session, NULL, NULL, 0));
    TRY(evn_open_loop(&loop, session, NULL, &(evn_problem){.tasks = blocks}));
    TRY(evn_exchange_open(&halo, loop, sizeof(double), list_faces(NULL, face), face,
                          (void *const *)block));
    printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n",
           8 * (int)LENGTH, 6 * CHANGES);
    for (int c = 0; c < CHANGES; c++) {
        change(loop, halo);
        for (int s = 0; s < EVERY; s++) {
            TRY(evn_exchange_run(halo));
            TRY(evn_loop_run(loop, step, NULL));
        }
        for (int t = 0; t < blocks; t++)
            printf("<rect x=\"%g\" y=\"%d\" width=\"%g\" height=\"5\" fill=\"%s\"/>\n",
                   8 * CELLS * width_of(block[t]) * block[t]->at, 6 * c,
                   8 * CELLS * width_of(block[t]) - 0.5,
                   colour[evn_loop_owner(loop)[t] % 2][block[t]->level]);
    }
    printf("</svg>\n");
    double error = 0;
    for (int t = 0; t < blocks; t++)
        for (int i = 0; i < CELLS; i++)
            error = fmax(error, fabs(block[t]->u[i + 1] -
                                     exact((block[t]->at * CELLS + i + 0.5) * width_of(block[t]),
                                           CHANGES * EVERY * dt)));
    fprintf(stderr, "%d blocks at the end, of %d; error %.1e\n", blocks, MOST, error);
    evn_exchange_close(halo);
    TRY(evn_close(session));
    for (int t = 0; t < blocks; t++) free(block[t]);
    return error > 0 && error < 0.02 ? EXIT_SUCCESS : EXIT_FAILURE;
}
