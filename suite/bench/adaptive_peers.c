/* The adaptive mesh of `evener run adaptive` in five ways, in turn within one run: the loop changed
 * on one unit and on two, the loop and its exchanges opened anew at each change, OpenMP tasks of a
 * block each on two threads, and one thread without any of them. Prints the median time of each,
 * least and largest, and its ratio to the plain thread; all must have the same bits.
 *
 *     bench-adaptive-peers SIZE LEVELS STEPS EVERY ROUNDS */
#include "adaptive/run.h"
#include "common/run/hash.h"
#include <evener.h>
#include <evener/change.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum way { PLAIN, ONE, TWO, ANEW, TASKS, WAYS };
static const char *const name[WAYS] = {"one thread", "one unit, changed", "two units, changed",
                                       "two units, opened anew", "OpenMP tasks, two threads"};
static struct problem problem;
static int steps;

struct here {
    struct mesh mesh, before;
    struct change change;
    enum way way;
    evn_machine *machine;
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_exchange *ghosts, *fluxes;
    struct faces faces; /* without the library */
    double *steep, dt;
    int stage;
};

static void quit(const char *why) {
    fprintf(stderr, "bench-adaptive-peers: %s\n", why);
    exit(EXIT_FAILURE);
}
#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (call) quit(evn_message());                                                             \
    } while (0)

/* ---- a block ---- */

static void compute(struct here *h, int t) {
    const struct mesh *m = &h->mesh;
    block_stage(m->block[t], h->stage, h->dt, mesh_frame(m, t).h, m->beyond[t].coarser);
}

static void correct(struct here *h, int t) {
    const struct mesh *m = &h->mesh;
    block_correct(m->block[t], h->dt, mesh_frame(m, t).h, m->beyond[t].finer);
    h->steep[t] = block_steepness(m->block[t]);
}

static void bear(struct here *h, int t) {
    if (!h->change.kept[t]) mesh_bear(&h->mesh, t, &h->change, &h->before);
}

/* ---- with the library ---- */

#define BODY(work)                                                                                 \
    static evn_status body_##work(evn_unit *unit, evn_batch *batch, void *arg) {                   \
        (void)unit;                                                                                \
        for (int t; (t = evn_batch_next(batch)) >= 0;) work(arg, t);                               \
        return EVN_OK;                                                                             \
    }
BODY(compute)
BODY(correct)
BODY(bear)

static void open_loop(struct here *h) {
    struct faces f;
    void *const *host = (void *const *)h->mesh.block;
    const evn_problem p = {.tasks = h->mesh.tree.leaves, .units = evn_units_count(h->units)};
    if (mesh_faces(&h->mesh, NULL, &f)) quit("no memory");
    TRY(evn_schedule_open(&h->schedule, "map", &p));
    TRY(evn_loop_open(&h->loop, h->units, h->schedule));
    TRY(evn_exchange_open(&h->ghosts, h->loop, sizeof(double), f.ghosts, f.ghost, host));
    TRY(evn_exchange_open(&h->fluxes, h->loop, sizeof(double), f.fluxes, f.flux, host));
    adaptive_faces_close(&f);
}

static void close_loop(struct here *h) {
    evn_exchange_close(h->ghosts);
    evn_exchange_close(h->fluxes);
    evn_loop_close(h->loop);
    evn_schedule_close(h->schedule);
}

static void change_loop(struct here *h) {
    const struct change *c = &h->change;
    void *const *host = (void *const *)h->mesh.block;
    struct faces f;
    char *born = malloc((size_t)c->leaves);
    if (!born) quit("no memory");
    for (int t = 0; t < c->leaves; t++) born[t] = !c->kept[t];
    if (mesh_faces(&h->mesh, born, &f)) quit("no memory");
    TRY(evn_loop_change(
        h->loop,
        &(evn_change){
            .tasks = c->leaves, .first = c->first, .from = c->from, .kept = c->kept, .links = -1}));
    TRY(evn_exchange_add(h->ghosts, f.ghosts, f.ghost, host));
    TRY(evn_exchange_add(h->fluxes, f.fluxes, f.flux, host));
    adaptive_faces_close(&f);
    free(born);
}

/* ---- without ---- */

/* One face, a field of doubles, by loops over its values. */
static void copy_face(const struct mesh *m, const evn_face *f) {
    const double *from = (const double *)m->block[f->from] + f->from_at;
    double *to = (double *)m->block[f->to] + f->to_at;
    const long long *fs = f->from_stride, *ts = f->to_stride;
    const int mean1 = f->resolution[1] == EVN_MEAN, mean2 = f->resolution[2] == EVN_MEAN;
    const int half1 = f->resolution[1] == EVN_REPEAT, half2 = f->resolution[2] == EVN_REPEAT;
    for (int a = 0; a < f->n[0]; a++)
        for (int b = 0; b < f->n[1]; b++)
            for (int c = 0; c < f->n[2]; c++) {
                const double *v = from + a * fs[0] + (b << mean1 >> half1) * fs[1] +
                                  (c << mean2 >> half2) * fs[2];
                double *w = to + a * ts[0] + b * ts[1] + c * ts[2];
                if (mean1)
                    *w = (v[0] + v[fs[2]] + v[fs[1]] + v[fs[1] + fs[2]]) / 4;
                else
                    *w = mean2 ? (v[0] + v[fs[2]]) / 2 : *v;
            }
}

static void copy_faces(struct here *h, const evn_face *face, int count) {
    if (h->way == PLAIN)
        for (int i = 0; i < count; i++) copy_face(&h->mesh, &face[i]);
    else
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < count; i++) copy_face(&h->mesh, &face[i]);
}

static void each_block(struct here *h, void (*work)(struct here *h, int t)) {
    const int n = h->mesh.tree.leaves;
    if (h->way == PLAIN) {
        for (int t = 0; t < n; t++) work(h, t);
        return;
    }
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int t = 0; t < n; t++)
#pragma omp task
        work(h, t);
}

/* ---- a run ---- */

static void step(struct here *h) {
    const int library = h->loop != NULL;
    for (h->stage = 0; h->stage < 2; h->stage++) {
        if (!library) copy_faces(h, h->faces.ghost, h->faces.ghosts);
        if (!library) each_block(h, compute);
        if (library) TRY(evn_exchange_run(h->ghosts));
        if (library) TRY(evn_loop_run(h->loop, body_compute, h));
    }
    if (!library) copy_faces(h, h->faces.flux, h->faces.fluxes);
    if (!library) each_block(h, correct);
    if (library) TRY(evn_exchange_run(h->fluxes));
    if (library) TRY(evn_loop_visit(h->loop, body_correct, h));
}

static void adapt(struct here *h) {
    if (adaptive_decide(&h->mesh, h->steep, &h->change)) quit("no memory");
    if (h->change.born) {
        if (h->way == ANEW) close_loop(h);
        if (mesh_change(&h->mesh, &h->change, 1, &h->before)) quit("no memory");
        h->steep = realloc(h->steep, (size_t)h->change.leaves * sizeof *h->steep);
        if (h->way == ANEW) open_loop(h);
        if (h->way == ONE || h->way == TWO) change_loop(h);
        if (!h->loop) adaptive_faces_close(&h->faces);
        if (!h->loop && mesh_faces(&h->mesh, NULL, &h->faces)) quit("no memory");
        if (h->loop)
            TRY(evn_loop_visit(h->loop, body_bear, h));
        else
            each_block(h, bear);
        mesh_forget(&h->before, &h->change);
    }
    quadtree_close(&h->change.next);
    quadtree_change_close(&h->change);
}

static uint64_t hash_of(const struct mesh *m) {
    uint64_t hash = HASH_SEED;
    for (int t = 0; t < m->tree.leaves; t++)
        for (int j = GHOSTS; j < CELLS + GHOSTS; j++)
            hash = hash_bytes(hash, &m->block[t]->u[0][j][GHOSTS], CELLS * sizeof(double));
    return hash;
}

static double run(enum way way, uint64_t *hash) {
    struct here h = {.way = way};
    if (adaptive_begin(&h.mesh, &problem)) quit("no memory");
    h.dt = adaptive_step(&h.mesh);
    h.steep = malloc((size_t)h.mesh.tree.leaves * sizeof *h.steep);
    const int library = way == ONE || way == TWO || way == ANEW;
    if (library) {
        TRY(evn_machine_open(&h.machine));
        TRY(evn_units_open(&h.units, h.machine, way == ONE ? "1:CPU:1" : "2:CPU:1", NULL,
                           EVN_OVERSUBSCRIBE));
        open_loop(&h);
    } else if (mesh_faces(&h.mesh, NULL, &h.faces)) {
        quit("no memory");
    }
    const double begin = evn_now();
    for (int n = 1; n <= steps; n++) {
        step(&h);
        if (n % problem.every == 0) adapt(&h);
    }
    const double seconds = evn_now() - begin;
    *hash = hash_of(&h.mesh);
    if (library) {
        close_loop(&h);
        evn_units_close(h.units);
        evn_machine_close(h.machine);
    }
    adaptive_faces_close(&h.faces);
    free(h.steep);
    adaptive_mesh_close(&h.mesh);
    return seconds;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    enum { ROUNDS = 99 };
    static double seconds[WAYS][ROUNDS];
    if (argc != 6) quit("expected SIZE LEVELS STEPS EVERY ROUNDS");
    problem = (struct problem){atoi(argv[1]), atoi(argv[2]), atoi(argv[4])};
    steps = atoi(argv[3]);
    const int rounds = atoi(argv[5]) < ROUNDS ? atoi(argv[5]) : ROUNDS;
    uint64_t hash[WAYS];
    for (int r = 0; r < rounds; r++)
        for (int w = 0; w < WAYS; w++) {
            seconds[w][r] = run((enum way)w, &hash[w]);
            if (hash[w] != hash[0]) quit("the ways give other bits");
        }
    for (int w = 0; w < WAYS; w++) {
        qsort(seconds[w], (size_t)rounds, sizeof(double), by_size);
        printf("%-27s %8.3f s (%.3f .. %.3f)  %.2f\n", name[w], seconds[w][rounds / 2],
               seconds[w][0], seconds[w][rounds - 1],
               seconds[w][rounds / 2] / seconds[0][rounds / 2]);
    }
    return EXIT_SUCCESS;
}
