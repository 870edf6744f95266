/* FT in virtual time: the operations of a step, a transform of three axes with its transposes, as
 * threads of a cluster give them out. P threads have planes of layout Z, NZ / P each, and rows of
 * layout Y, NY / P; on GPUs nothing stays there between two passes. R1 to R18 of what the paper
 * asks: planes as tasks, one context a thread or one a node. */
#include "ft/study.h"
#include "common/cli/message.h"
#include "ft/classes.h"
#include <math.h>
#include <stdlib.h>

enum variant { PACKED, SLABS, FUNNELED, BEST };

/* Where a slab is batched, its copies are cut, so that one lies beside the other. */
enum { CHUNKS = 8 };

/* A pass over a thread's points. */
struct pass {
    double points;
    double flops, bytes; /* operations and bytes of a point */
    int launches;
    int cuts; /* what is put as soon as it is there; 1: all of it at the end */
    int put;  /* 0: its results stay */
};

struct program {
    struct virtual_cluster *c;
    int *arrived, *sent; /* per thread: all that it waits for in this pass */
    int *down;           /* download of each cut of a thread */
};

/* Puts to threads from..end, the next one first (R10). */
static void put(struct program *p, int thread, int from, int end, double bytes) {
    for (int d = from; d < end; d++) {
        const int to = (thread + d) % p->c->threads;
        int sent;
        timeline_after(&p->c->time, p->arrived[to], virtual_put(p->c, thread, to, bytes, &sent), 0);
        timeline_after(&p->c->time, p->sent[thread], sent, 0);
    }
}

static double piece(const struct program *p, const struct pass *w) {
    return 16 * w->points / p->c->threads / w->cuts;
}

static void on_core(struct program *p, int thread, const struct pass *w) {
    const double points = w->points / w->cuts;
    for (int i = 0; i < w->cuts; i++) {
        virtual_compute(p->c, thread, points * w->flops, points * w->bytes);
        if (!w->put || p->c->threads == 1) continue;
        if (w->cuts == 1) virtual_copy(p->c, thread, 0, 16 * points); /* the copy is packed (R6) */
        put(p, thread, 1, p->c->threads, piece(p, w));
    }
}

/* Each cut on a stream of its own; the host has given out all before it takes the first (R11). A
 * master serves one thread's points as a whole (R15, R17). */
static void on_streams(struct program *p, int thread, const struct pass *w) {
    struct virtual_cluster *c = p->c;
    const double points = w->points / w->cuts;
    const int in = virtual_copy(c, thread, 1, 16 * w->points);
    for (int i = 0; i < w->cuts; i++) {
        const int there = virtual_part(c, in, (i + 1.0) / w->cuts);
        const int up = virtual_upload(c, thread, 16 * points, there);
        const int done =
            virtual_kernels(c, thread, w->launches, points * w->flops, points * w->bytes, up);
        p->down[i] = virtual_download(c, thread, 16 * points, done);
    }
    for (int i = 0; i < w->cuts; i++) {
        virtual_wait(c, thread, TIME_COMPUTE, p->down[i]);
        virtual_copy(c, thread, 1, 16 * points);
        if (w->put) put(p, thread, 1, c->threads, piece(p, w));
    }
}

/* One batch, that packs what goes to each; chunks of it are put as they come (R7). */
static void on_batch(struct program *p, int thread, const struct pass *w) {
    struct virtual_cluster *c = p->c;
    const int packs = w->put && c->threads > 1, others = c->threads - 1;
    const int all = timeline_add(&c->time, -1, -1, 0);
    const int in = virtual_copy(c, thread, 1, 16 * w->points);
    for (int i = 0; i < CHUNKS; i++) {
        const int there = virtual_part(c, in, (i + 1.0) / CHUNKS);
        timeline_after(&c->time, all, virtual_upload(c, thread, 16 * w->points / CHUNKS, there), 0);
    }
    const int done = virtual_kernels(c, thread, w->launches + packs, w->points * w->flops,
                                     w->points * (w->bytes + (packs ? 32 : 0)), all);
    for (int i = 0; i < CHUNKS; i++)
        p->down[i] = virtual_download(c, thread, 16 * w->points / CHUNKS, done);
    for (int i = 0; i < CHUNKS; i++) {
        virtual_wait(c, thread, TIME_COMPUTE, p->down[i]);
        virtual_copy(c, thread, 1, 16 * w->points / CHUNKS);
        if (w->put)
            put(p, thread, 1 + others * i / CHUNKS, 1 + others * (i + 1) / CHUNKS, piece(p, w));
    }
}

static void pass(struct program *p, const struct pass *w) {
    struct virtual_cluster *c = p->c;
    for (int t = 0; t < c->threads; t++) {
        p->arrived[t] = timeline_add(&c->time, -1, -1, 0);
        p->sent[t] = timeline_add(&c->time, -1, -1, 0);
    }
    for (int t = 0; t < c->threads; t++) {
        if (!c->gpu)
            on_core(p, t, w);
        else if (w->cuts == 1)
            on_batch(p, t, w);
        else
            on_streams(p, t, w);
    }
    for (int t = 0; t < c->threads && w->put; t++) {
        virtual_wait(c, t, TIME_PUTS, p->arrived[t]);
        virtual_wait(c, t, TIME_PUTS, p->sent[t]);
    }
    virtual_barrier(c);
}

/* Two transposes: the step's factors, x and y plane by plane, then z and back (R4, R12). One: z
 * with the factors, by as many rows at a time as there are puts of planes, then x and y. */
static void step(struct program *p, const int n[3], enum variant variant, int transposes) {
    const double points = (double)n[0] * n[1] * n[2] / p->c->threads;
    const int planes = n[2] / p->c->threads, rows = n[1] / p->c->threads;
    const int cuts = planes < rows ? planes : rows;
    const int two = transposes == 2, whole = variant == PACKED;
    /* 5 n log2 n operations of a line; each pass over an axis, and each transpose of a GPU's
     * memory, reads and writes all points; factors are read, too */
    const struct pass xy = {.points = points,
                            .flops = 5 * log2((double)n[0] * n[1]) + (two ? 2 : 0),
                            .bytes = 64 + (two ? 40 : 0),
                            .launches = two ? 3 : 2,
                            .cuts = whole ? 1 : planes,
                            .put = two};
    const struct pass z = {.points = points,
                           .flops = 5 * log2(n[2]) + (two ? 0 : 2),
                           .bytes = 96 + (two ? 0 : 40),
                           .launches = two ? 3 : 4,
                           .cuts = whole || (two && variant != BEST) ? 1 : cuts,
                           .put = 1};
    pass(p, two ? &xy : &z);
    pass(p, two ? &z : &xy);
}

static int lay(struct virtual_cluster *c, char class_, int variant, int transposes) {
    const size_t threads = (size_t)c->threads;
    const int *n = ft_class_of(class_)->n;
    int *ops = malloc((2 * threads + CHUNKS + (size_t)n[2]) * sizeof *ops);
    if (!ops) return -1;
    struct program p = {c, ops, ops + threads, ops + 2 * threads};
    step(&p, n, (enum variant)variant, transposes);
    free(ops);
    return 0;
}

static int check(char class_, int threads) {
    const struct ft_class *is = ft_class_of(class_);
    if (!is)
        return complain("--class %c: there is no such class, expected one of S W A B C D E F",
                        class_);
    if (!(is->n[1] % threads) && !(is->n[2] % threads)) return 0;
    return complain(
        "ft class %c on %d threads: expected a number that divides %d rows and %d planes", class_,
        threads, is->n[1], is->n[2]);
}

/* A pass has a thread's points in and out, those of one thread after another where a master serves
 * all. */
static double gpu_bytes(char class_, int variant, int threads, int per_node) {
    const int *n = ft_class_of(class_)->n;
    const int at_a_time = variant == FUNNELED || variant == BEST ? 1 : per_node;
    return at_a_time * 32 * ((double)n[0] * n[1] * n[2] / threads);
}

static const struct virtual_variant variants[] = {
    [PACKED] = {"packed", 0, 1, 2},
    [SLABS] = {"slabs", 0, 1, 2},
    [FUNNELED] = {"funneled", 1, 0, 2},
    [BEST] = {"best", 1, 1, 1},
    {0},
};
const struct virtual_program ft_in_time = {variants, check, gpu_bytes, lay};
