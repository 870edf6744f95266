/* MG in virtual time: the operations of a step, a V-cycle in blocks, one a thread, with an exchange
 * of faces after each operator, as threads of a cluster give them out. R20 to R27 of what the paper
 * asks: fields stay on GPUs; faces of x and y are packed there; between threads of one context they
 * stay there, too; others go through the hosts. Levels with fewer points than the threads' grid are
 * done by all, as the blocks of a run (mg/blocks/blocks.h). */
#include "mg/study.h"
#include "common/cli/message.h"
#include "mg/blocks/blocks.h"
#include "mg/blocks/faces.h"
#include "mg/mg.h"
#include <stdlib.h>

enum variant { BULK, FUNNELED };

/* An operator, a point of the finer of its levels: what it reads and writes, and operations. */
struct operator_ {
    double flops, bytes;
};
static const struct operator_ residual = {21, 24}, smooth = {21, 24}, restrict_ = {4, 9},
                              prolong = {4, 17};

struct program {
    struct virtual_cluster *c;
    int grid[3];
    int *tail;    /* last operation of each thread's stream; -1 */
    int *arrived; /* puts to each thread in a phase */
    int *faces;   /* each thread's faces on the GPU */
};

/* ---- streams ---- */

static int join(struct program *p, int a, int b) {
    const int op = timeline_add(&p->c->time, -1, -1, 0);
    timeline_after(&p->c->time, op, a, 0);
    timeline_after(&p->c->time, op, b, 0);
    return op;
}

/* Adds a kernel behind a thread's stream, once its host is there. */
static int kernel(struct program *p, int thread, double flops, double bytes) {
    const int behind = join(p, p->tail[thread], p->c->time.last[thread]);
    return p->tail[thread] = virtual_kernels(p->c, thread, 1, flops, bytes, behind);
}

static void work(struct program *p, int thread, struct operator_ of, double points) {
    if (p->c->gpu)
        kernel(p, thread, points * of.flops, points * of.bytes);
    else
        virtual_compute(p->c, thread, points * of.flops, points * of.bytes);
}

/* ---- an exchange ---- */

struct block {
    int l[3];
};

static struct block level_of(const struct program *p, int n) {
    return (struct block){{n / p->grid[0], n / p->grid[1], n / p->grid[2]}};
}

static double face(const struct block *level, int axis) {
    const int *l = level->l;
    return axis == 0   ? (double)l[1] * l[2]
           : axis == 1 ? (double)(l[0] + 2) * l[2]
                       : (double)(l[0] + 2) * (l[1] + 2);
}

static int neighbour(const struct program *p, int thread, int axis, int side) {
    const int stride = axis == 0 ? 1 : axis == 1 ? p->grid[0] : p->grid[0] * p->grid[1];
    const int size = p->grid[axis], at = thread / stride % size;
    return thread + ((at + (side ? 1 : size - 1)) % size - at) * stride;
}

/* Whether a face stays on the GPU (R25). */
static int beside(const struct program *p, int a, int b) {
    return p->c->gpu && p->c->master && a / p->c->per_node == b / p->c->per_node;
}

static int through_hosts(const struct program *p, int thread, int axis) {
    int faces = 0;
    for (int side = 0; side < 2; side++)
        faces += !beside(p, thread, neighbour(p, thread, axis, side));
    return faces;
}

/* Packs both faces of an axis into buffers, and on GPUs brings them to the host. */
static void give(struct program *p, int thread, int axis, double points) {
    struct virtual_cluster *c = p->c;
    const int faces = through_hosts(p, thread, axis);
    if (!c->gpu) {
        if (axis < 2) virtual_copy(c, thread, 0, faces * 8 * points);
        return;
    }
    if (!faces) return;
    if (axis < 2) kernel(p, thread, 0, faces * 16 * points);
    int down = -1;
    for (int i = 0; i < faces; i++)
        down = join(p, down, virtual_download(c, thread, 8 * points, p->tail[thread]));
    virtual_wait(c, thread, TIME_COMPUTE, down);
    virtual_copy(c, thread, 1, faces * 8 * points);
}

static void send(struct program *p, int thread, int axis, double points) {
    struct virtual_cluster *c = p->c;
    for (int side = 0; side < 2; side++) {
        const int to = neighbour(p, thread, axis, side);
        if (!beside(p, thread, to)) {
            timeline_after(&c->time, p->arrived[to], virtual_put(c, thread, to, 8 * points, NULL),
                           0);
            continue;
        }
        c->counts.device_faces++;
        c->counts.device_bytes += 8 * points;
        const int tail = p->tail[thread];
        timeline_after(&c->time, p->faces[to], kernel(p, thread, 0, 16 * points), 0);
        p->tail[thread] = tail;
    }
}

static void take(struct program *p, int thread, int axis, double points) {
    struct virtual_cluster *c = p->c;
    const int faces = through_hosts(p, thread, axis);
    virtual_wait(c, thread, TIME_PUTS, p->arrived[thread]);
    if (!c->gpu) {
        if (axis < 2) virtual_copy(c, thread, 0, faces * 8 * points);
        return;
    }
    p->tail[thread] = join(p, p->tail[thread], p->faces[thread]);
    if (!faces) return;
    virtual_copy(c, thread, 1, faces * 8 * points);
    int up = p->tail[thread];
    for (int i = 0; i < faces; i++) up = join(p, up, virtual_upload(c, thread, 8 * points, -1));
    p->tail[thread] = up;
    if (axis < 2) kernel(p, thread, 0, faces * 16 * points);
}

static void exchange_axis(struct program *p, const struct block *level, int axis) {
    const double points = face(level, axis);
    const int threads = p->c->threads, alone = p->grid[axis] == 1;
    for (int t = 0; t < threads; t++) {
        p->arrived[t] = timeline_add(&p->c->time, -1, -1, 0);
        p->faces[t] = timeline_add(&p->c->time, -1, -1, 0);
    }
    for (int t = 0; t < threads; t++) {
        if (alone)
            work(p, t, (struct operator_){0, 32}, points); /* both faces, read and written */
        else
            give(p, t, axis, points);
    }
    for (int t = 0; t < threads && !alone; t++) send(p, t, axis, points);
    for (int t = 0; t < threads && !alone; t++) take(p, t, axis, points);
}

/* Nothing is exchanged on levels that all have whole. */
static void exchange(struct program *p, int n, int whole) {
    const struct block level = level_of(p, n);
    if (n <= whole) return;
    for (int axis = 0; axis < 3; axis++) exchange_axis(p, &level, axis);
}

/* Every thread's block to every other one: level n, whole from here on. */
static void gather(struct program *p, int n) {
    struct virtual_cluster *c = p->c;
    const double points = (double)n * n * n, part = points / c->threads;
    for (int t = 0; t < c->threads; t++) p->arrived[t] = timeline_add(&c->time, -1, -1, 0);
    for (int t = 0; t < c->threads; t++) {
        if (c->gpu) {
            virtual_wait(c, t, TIME_COMPUTE, virtual_download(c, t, 8 * part, p->tail[t]));
            virtual_copy(c, t, 1, 8 * part);
        }
        for (int d = 1; d < c->threads; d++) {
            const int to = (t + d) % c->threads;
            timeline_after(&c->time, p->arrived[to], virtual_put(c, t, to, 8 * part, NULL), 0);
        }
    }
    for (int t = 0; t < c->threads; t++) {
        virtual_wait(c, t, TIME_PUTS, p->arrived[t]);
        virtual_copy(c, t, 1, 8 * points);
        if (c->gpu) p->tail[t] = join(p, p->tail[t], virtual_upload(c, t, 8 * points, -1));
    }
}

/* ---- a step ---- */

/* An operator on level n, whose result is on level `made` and is exchanged there. */
static void apply(struct program *p, struct operator_ of, int n, int made, int whole) {
    const int threads = p->c->threads;
    const double all = (double)n * n * n / (n <= whole ? 1 : threads);
    for (int t = 0; t < threads; t++) work(p, t, of, all);
    if (made == whole && made < n)
        gather(p, made);
    else
        exchange(p, made, whole);
}

static void step(struct program *p, int n, int whole) {
    for (int m = n; m > 2; m /= 2) apply(p, restrict_, m, m / 2, whole);
    apply(p, smooth, 2, 2, whole);
    for (int m = 4; m <= n; m *= 2) {
        for (int t = 0; t < p->c->threads; t++)
            work(p, t, prolong, (double)m * m * m / (m <= whole ? 1 : p->c->threads));
        apply(p, residual, m, m, whole);
        apply(p, smooth, m, m, whole);
    }
    apply(p, residual, n, n, whole);
    for (int t = 0; t < p->c->threads; t++) virtual_wait(p->c, t, TIME_COMPUTE, p->tail[t]);
    virtual_barrier(p->c);
}

/* Points a side of a class; 0: there is none. */
static int points_of(char class_) {
    mg *problem;
    if (mg_open_class(&problem, class_)) return 0;
    const int n = mg_describe(problem).n;
    mg_close(problem);
    return n;
}

static int lay(struct virtual_cluster *c, char class_, int variant, int transposes) {
    const size_t threads = (size_t)c->threads;
    const int n = points_of(class_), level = blocks_whole(n, c->threads);
    int *ops = malloc(3 * threads * sizeof *ops);
    (void)variant;
    (void)transposes;
    if (!ops) return -1;
    struct program p = {.c = c, .tail = ops, .arrived = ops + threads, .faces = ops + 2 * threads};
    faces_grid(c->threads, p.grid);
    for (int t = 0; t < c->threads; t++) p.tail[t] = -1;
    step(&p, n, level ? 1 << level : 0);
    free(ops);
    return 0;
}

static int check(char class_, int threads) {
    const int n = points_of(class_);
    if (!n)
        return complain("--class %c: there is no such class, expected one of S W A B C D E F",
                        class_);
    if (!(threads & (threads - 1)) && blocks_whole(n, threads) >= 0) return 0;
    return complain("mg class %c on %d threads: expected a power of two that leaves each block two "
                    "of %d points along each axis",
                    class_, threads, n);
}

/* Fields stay there, of each of its threads. */
static double gpu_bytes(char class_, int variant, int threads, int per_node) {
    (void)variant;
    return per_node * blocks_doubles(points_of(class_), threads) * sizeof(double);
}

static const struct virtual_variant variants[] = {
    [BULK] = {"bulk", 0, 1, 0},
    [FUNNELED] = {"funneled", 1, 0, 0},
    {0},
};
const struct virtual_program mg_in_time = {variants, check, gpu_bytes, lay};
