/* The toy grid over ranks. */
#include "loop/grid.h"
#include "loop/internal.h"
#include "schedule/policy.h"
#include <evener/exchange.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct trial *grid_trial;
atomic_int grid_ran[TASKS], grid_who[2][TASKS], grid_wrong;

size_t grid_element(int block) { return block ? 3 : 8; }
size_t grid_bytes(int block) { return SIDE * SIDE * grid_element(block); }

int grid_has_block(const struct trial *trial, int task, int block) {
    return task != BARE || (trial->place && !block);
}

/* ---- what a task computes ------------------------------------------------------------------ */

static unsigned mix(unsigned a, unsigned b, unsigned c) {
    unsigned x = a * 2654435761u ^ (b + 1) * 2246822519u ^ (c + 1) * 3266489917u;
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

static void begin_block(char *v, int task, int block) {
    for (size_t i = 0; i < grid_bytes(block); i++)
        v[i] = (char)mix((unsigned)task, (unsigned)block, (unsigned)i);
}

static void compute(char *block, int number, int task, int step) {
    unsigned char *v = (unsigned char *)block;
    const int e = (int)grid_element(number), row = SIDE * e;
    for (int y = 1; y < SIDE - 1; y++)
        for (int i = y * row + e; i < y * row + row - e; i++)
            v[i] = (unsigned char)(5 * v[i] + v[i - e] + 3 * v[i + e] + 7 * v[i - row] +
                                   11 * v[i + row] + task + step);
}

/* ---- faces --------------------------------------------------------------------------------- */

static evn_face face_to(int task, int from, int block, int along, int last) {
    const int give = last ? 1 : SIDE - 2, take = last ? SIDE - 1 : 0;
    const int across = along ? SIDE : 1, step = along ? 1 : SIDE;
    evn_face f = {
        .from = from, .to = task, .n = {1, 1, SIDE - 2}, .from_region = block, .to_region = block};
    f.from_at = give * across + step;
    f.to_at = take * across + step;
    f.from_stride[2] = f.to_stride[2] = step;
    return f;
}

int grid_faces(const struct trial *trial, int block, int directions, evn_face *face) {
    const int columns = trial->columns, rows = CELLS / columns;
    int count = 0;
    for (int t = 0; t < CELLS; t++) {
        const int x = t % columns, y = t / columns;
        for (int last = 0; last < 2; last++) {
            const int by = last ? 1 : -1;
            if (directions & 1)
                face[count++] =
                    face_to(t, y * columns + (x + by + columns) % columns, block, 0, last);
            if (directions & 2)
                face[count++] = face_to(t, (y + by + rows) % rows * columns + x, block, 1, last);
        }
    }
    return count;
}

/* A block of each task has an exchange; where there is one block only, each direction has. */
int grid_faces_of(const struct grid *g, int exchange, evn_face *face) {
    return g->trial->place ? grid_faces(g->trial, exchange, 3, face)
                           : grid_faces(g->trial, 0, 1 + exchange, face);
}

/* ---- by plain copies ----------------------------------------------------------------------- */

static void copy_plainly(const evn_face *f, size_t element, char *(*block)[BLOCKS]) {
    for (int c = 0; c < f->n[2]; c++)
        memcpy(block[f->to][f->to_region] + (size_t)(f->to_at + c * f->to_stride[2]) * element,
               block[f->from][f->from_region] +
                   (size_t)(f->from_at + c * f->from_stride[2]) * element,
               element);
}

int grid_wrong_blocks(struct grid *g, int steps) {
    static _Thread_local char memory[TASKS][BLOCKS][SIDE * SIDE * 8];
    char *block[TASKS][BLOCKS];
    evn_face face[4 * CELLS];
    int wrong = 0;
    for (int t = 0; t < TASKS; t++)
        for (int b = 0; b < BLOCKS; b++) begin_block(block[t][b] = memory[t][b], t, b);
    for (int step = 0; step < steps; step++)
        for (int b = 0; b < g->blocks; b++) {
            const int faces = grid_faces(g->trial, b, 3, face);
            for (int i = 0; i < faces; i++) copy_plainly(&face[i], grid_element(b), block);
            for (int t = 0; t < TASKS && !g->keep; t++) compute(block[t][b], b, t, step);
        }
    for (int t = 0; t < TASKS; t++)
        for (int b = 0; b < g->blocks; b++) {
            if (!evn_loop_has(g->loop, t) || !grid_has_block(g->trial, t, b)) continue;
            const int *region = &g->region[t * g->blocks + b];
            if (g->place) must_ok(evn_place_acquire(g->place, 1, region, EVN_HOST, EVN_READ));
            must(g->block[t][b]);
            wrong += memcmp(g->block[t][b], block[t][b], grid_bytes(b)) != 0;
            if (g->place) must_ok(evn_place_release(g->place, 1, region, EVN_HOST));
        }
    return wrong;
}

/* ---- homes --------------------------------------------------------------------------------- */

static evn_status make(void *arg, int task) {
    struct grid *g = arg;
    if (g->fail_make) return evn_fail(EVN_MEMORY, "toy: no room for task %d", task);
    for (int b = 0; b < g->blocks; b++) {
        must(!g->block[task][b]);
        if (grid_has_block(g->trial, task, b)) g->block[task][b] = malloc(grid_bytes(b));
    }
    return EVN_OK;
}

static void *memory(void *arg, int task, int block, size_t *bytes) {
    const struct grid *g = arg;
    *bytes = g->block[task][block] ? grid_bytes(block) : 0;
    return g->block[task][block];
}

static void drop(void *arg, int task) {
    struct grid *g = arg;
    for (int b = 0; b < g->blocks; b++) {
        free(g->block[task][b]);
        g->block[task][b] = NULL;
    }
}

/* ---- schedules ----------------------------------------------------------------------------- */

static void learn_at_random(evn_schedule *s, const int *owner, const double *seconds) {
    (void)owner, (void)seconds;
    for (int t = 0; t < s->problem.tasks; t++)
        s->owner[t] =
            (int)(mix((unsigned)s->instance, (unsigned)t, 77) % (unsigned)s->problem.units);
}

static const struct policy at_random = {.name = "random", .learn = learn_at_random};

void grid_at_random(evn_schedule *s) { s->policy = &at_random; }

/* ---- a rank -------------------------------------------------------------------------------- */

static void open_units(struct grid *g) {
    const struct trial *trial = g->trial;
    must_ok(evn_machine_open(&g->machine));
    must_ok(evn_units_open(&g->units, g->machine, trial->list[g->rank],
                           trial->devices ? trial->devices[g->rank] : "emulated",
                           EVN_OVERSUBSCRIBE | g->trial->flags));
    must_ok(evn_cluster_units(g->cluster, g->units, NULL));
    g->first = evn_cluster_about(g->cluster).first[g->rank];
}

static void open_loop(struct grid *g) {
    double weight[TASKS];
    for (int t = 0; t < TASKS; t++) weight[t] = 1 + t % 4;
    evn_problem p = {.tasks = TASKS,
                     .units = evn_cluster_about(g->cluster).units,
                     .weight = weight,
                     .speed = evn_cluster_about(g->cluster).speed};
    must_ok(evn_schedule_open(&g->schedule, g->trial->schedule, &p));
    if (g->trial->owners == AT_RANDOM) grid_at_random(g->schedule);
    must_ok(evn_loop_open_on(&g->loop, g->units, g->schedule, g->cluster));
}

static void open_blocks(struct grid *g) {
    static const evn_access access[] = {EVN_BOTH, EVN_BOTH};
    g->home = (evn_home){.blocks = g->blocks, .make = make, .memory = memory, .drop = drop};
    if (g->trial->place)
        must_ok(evn_place_open(&g->place, g->units, g->trial->share > 0 ? g->trial->share : 0.5));
    for (int t = 0; t < TASKS; t++) {
        if (evn_loop_has(g->loop, t)) must_ok(make(g, t));
        for (int b = 0; b < g->blocks; b++) {
            int *region = &g->region[t * g->blocks + b];
            *region = -1;
            if (g->block[t][b]) begin_block(g->block[t][b], t, b);
            if (g->place && grid_has_block(g->trial, t, b))
                must_ok(evn_place_add(g->place, g->block[t][b], grid_bytes(b), region));
        }
    }
    if (g->place) must_ok(evn_loop_place(g->loop, g->place, g->blocks, g->region, access));
    must_ok(evn_loop_homes(g->loop, &g->home, g));
}

static void open_exchanges(struct grid *g) {
    evn_face face[4 * CELLS];
    void *host[TASKS];
    for (int t = 0; t < TASKS; t++) host[t] = g->block[t][0];
    g->exchanges = BLOCKS;
    for (int i = 0; i < g->exchanges; i++) {
        const int count = grid_faces_of(g, i, face);
        must_ok(evn_exchange_open(&g->exchange[i], g->loop, grid_element(g->place ? i : 0), count,
                                  face, g->place ? NULL : host));
    }
}

void grid_open(struct grid *g, evn_cluster *cluster) {
    *g = (struct grid){.trial = grid_trial, .cluster = cluster, .rank = evn_cluster_rank(cluster)};
    g->blocks = g->trial->place ? BLOCKS : 1;
    open_units(g);
    open_loop(g);
    open_blocks(g);
    open_exchanges(g);
}

void grid_forget_homes(struct grid *g) { g->loop->home = (evn_home){0}; }

void grid_close(struct grid *g) {
    for (int i = 0; i < g->exchanges; i++) evn_exchange_close(g->exchange[i]);
    evn_place_close(g->place);
    evn_loop_close(g->loop);
    evn_schedule_close(g->schedule);
    evn_units_close(g->units);
    evn_machine_close(g->machine);
    for (int t = 0; t < TASKS; t++) drop(g, t);
}

/* ---- a step -------------------------------------------------------------------------------- */

evn_status grid_exchange(struct grid *g) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < g->exchanges; i++) {
        g->open[i] = 0;
        status = g->trial->split ? evn_exchange_start(g->exchange[i], &g->open[i])
                                 : evn_exchange_run(g->exchange[i]);
    }
    return status;
}

/* On a device the block comes, is worked on, and goes back. */
static evn_status work_on_device(const struct grid *g, const evn_batch *b, int task, int number) {
    char copy[SIDE * SIDE * 8];
    evn_queue *q = evn_batch_queue(b);
    evn_buffer *buffer = evn_batch_buffer(b);
    const size_t at = evn_batch_at(b, task, number), bytes = grid_bytes(number);
    evn_status status = evn_copy_to_host(q, copy, buffer, at, bytes);
    if (!status) status = evn_queue_finish(q);
    if (status) return status;
    compute(copy, number, task, g->step);
    status = evn_copy_to_device(q, buffer, at, copy, bytes);
    return status ? status : evn_queue_finish(q);
}

static evn_status work(struct grid *g, const evn_unit *unit, evn_batch *b, int task) {
    evn_status status = EVN_OK;
    if (g->trial->pause) usleep((useconds_t)g->trial->pause);
    for (int i = 0; !status && !g->keep && i < g->blocks; i++) {
        if (!grid_has_block(g->trial, task, i)) continue;
        if (evn_batch_device(b) >= 0)
            status = work_on_device(g, b, task, i);
        else
            compute(g->block[task][i], i, task, g->step);
    }
    atomic_fetch_add(&grid_ran[task], 1);
    atomic_store(&grid_who[g->step % 2][task], g->first + evn_unit_number(unit));
    if (g->trial->slow)
        evn_batch_add(b, task, 100 * (1 + mix((unsigned)g->step, (unsigned)task, 5) % 50));
    return status;
}

static int needs(const struct grid *g, int task) {
    int some = 0;
    for (int i = 0; i < g->exchanges; i++)
        if (g->open[i]) some |= evn_exchange_needs(g->exchange[i], task);
    return some;
}

static evn_status body(evn_unit *unit, evn_batch *b, void *arg) {
    struct grid *g = arg;
    int count;
    const int *task = evn_batch_tasks(b, &count);
    if (g->fail_body) return evn_fail(g->fail_body, "toy: no");
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < count; i++)
        if (!needs(g, task[i])) status = work(g, unit, b, task[i]);
    for (int i = 0; !status && i < g->exchanges; i++)
        status = evn_exchange_finish(g->exchange[i], unit, evn_batch_device(b));
    for (int i = 0; !status && i < count; i++)
        if (needs(g, task[i])) status = work(g, unit, b, task[i]);
    if (!status) evn_batch_done(b, count);
    return status;
}

evn_status grid_run(struct grid *g) {
    evn_status status = evn_loop_run(g->loop, body, g);
    if (!status) g->step++;
    return status;
}

evn_status grid_step(struct grid *g) {
    evn_status status = grid_exchange(g);
    return status ? status : grid_run(g);
}
