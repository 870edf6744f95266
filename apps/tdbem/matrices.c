/* Sizes first, then a plan of what is where, then intervals. */
#include "tdbem/matrices.h"
#include "tdbem/matrices/slices_file.h"
#include "tdbem/summation/summation_gpu.h"
#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cores(const tdbem_options *o) { return o->cores ? o->cores : omp_get_num_procs(); }

/* Where values come from: the generator or a file; and the file where they are kept. */
struct source {
    struct slices_maker *maker;
    struct slices_reader *reader;
    struct slices_writer *writer;
    const struct slices *s;
};

/* What takes memory, bytes. */
struct sizes {
    double ranges;  /* until all is made */
    double kept;    /* tables and the radiation stage, for ever */
    double layout;  /* all blocks */
    double largest; /* block */
    double making;  /* all columns while they are made: values and their places */
    double widest;  /* the same of one block's columns */
};

/* How they are made to fit. */
struct fit {
    double interval; /* of `making` at a time */
    int streams;     /* by way of the disk */
    int resident;    /* then: blocks in memory for good */
    size_t ahead;    /* and bytes for the others */
};

/* ---- where values come from ---- */

static evn_status source_open(struct source *from, tdbem *p) {
    const tdbem_options *o = &p->options;
    const struct slices_options so = {
        .problem = o->problem,
        .eta = o->problem == TDBEM_SOFT ? 0 : o->eta,
        .delta = p->shape.delta,
        .quad = o->quad,
        .points = p->points + p->inside,
        .point = (const double(*)[3])p->point,
        .progress = o->progress,
        .arg = o->arg,
    };
    evn_status status;
    p->shape.reloaded = o->matrices && slices_file_exists(o->matrices);
    if (p->shape.reloaded) {
        status = tdbem_as_input(slices_reader_open(&from->reader, p->mesh, &so, o->matrices));
        if (!status) from->s = slices_reader_slices(from->reader);
        return status;
    }
    status = slices_maker_open(&from->maker, p->mesh, &so, cores(o));
    if (!status) from->s = slices_maker_slices(from->maker);
    if (!status && o->matrices)
        status =
            tdbem_as_input(slices_writer_open(&from->writer, from->s, p->mesh, &so, o->matrices));
    return status;
}

/* Columns up to `to`-1, behind those before. */
static evn_status source_next(struct source *from, int to) {
    if (from->reader) return tdbem_as_input(slices_reader_next(from->reader, to));
    evn_status status = slices_maker_next(from->maker, to);
    if (!status && from->writer) status = slices_writer_put(from->writer, from->s);
    return status;
}

static void source_close(struct source *from) {
    slices_maker_close(from->maker);
    slices_reader_close(from->reader);
    slices_writer_close(from->writer);
}

/* ---- what fits ---- */

/* Columns from .. to-1 while they are made: 8 bytes for a value, 8 for the place of a row-vector.
 */
static double making(const struct slices *s, int from, int to) {
    return 8.0 * (double)(s->begin[to] - s->begin[from]) + 8.0 * s->rows * (to - from);
}

static struct sizes measure(const tdbem *p, const struct slices *s) {
    const struct layout *l = p->layout;
    struct sizes z = {
        .ranges = 3.0 * s->rows * s->columns + 8.0 * s->columns,
        .kept = (double)layout_tables(l) + radiation_bytes(p->radiation),
        .layout = (double)l->begin[l->blocks],
        .largest = (double)layout_largest(l),
        .making = making(s, 0, s->columns),
    };
    for (int b = 0; b < l->blocks; b++)
        z.widest = fmax(z.widest, making(s, l->slice[b], l->slice[b + 1]));
    return z;
}

/* What the matrices may take if it is not said: nine tenths of what there is, less what the march
 * needs beside them. It is a guess, so it is never so little that a small problem suffers. */
static double default_memory(const tdbem *p, double available) {
    const struct layout *l = p->layout;
    if (available <= 0) return INFINITY;
    const double sums = (double)l->blocks * (double)summation_sums_bytes(l);
    const double past = 8.0 * l->columns * (l->front + l->depth + 2 * l->is.group + 48);
    return fmax(0.9 * available - sums - past, 268435456.0);
}

/* A quarter of the columns at a time, so that the layout is nearly all that is in memory at once,
 * but not intervals so small that much is computed twice for little. A file can be read in any
 * pieces; where matrices are mirrored nearly all would be computed twice. */
static double wanted_interval(const tdbem *p, const struct sizes *z) {
    if (p->shape.reloaded) return 268435456.0;
    if (p->options.problem == TDBEM_SOFT || p->options.eta == 0) return z->making;
    return fmax(1073741824.0, z->making / 4);
}

/* By way of the disk: what generation and march need at least, and how the memory is shared. */
static evn_status find_streaming(struct fit *f, const tdbem *p, const struct sizes *z,
                                 double memory) {
    const int blocks = p->layout->blocks, threads = cores(&p->options);
    const double beside = z->ranges + z->kept + z->largest;
    const double ring = blocks > 1 ? 2 * z->largest : z->largest;
    const double least = fmax(beside + z->widest, z->kept + ring);
    if (memory < least && p->options.memory > 0)
        return evn_fail(EVN_USAGE,
                        "memory: %.4g MB for the matrices is too little; expected at least %.2f "
                        "MB, which smaller blocks (--blocks, here %d) would make less",
                        memory * 1e-6, ceil(least * 1e-4) * 1e-2, blocks);
    memory = fmax(memory, least);
    const double march = memory - z->kept;
    *f = (struct fit){.interval = memory - beside, .streams = 1, .resident = blocks};
    if (march >= z->layout) return EVN_OK;
    /* a block for each core, and two that come, but not more than half of it */
    const double ahead = fmax(ring, fmin((threads + 2) * z->largest, march / 2));
    f->ahead = (size_t)ahead;
    f->resident = (int)((march - ahead) / z->largest);
    if (f->resident > blocks - 1) f->resident = blocks - 1;
    return EVN_OK;
}

static evn_status find_fit(struct fit *f, const tdbem *p, const struct slices *s, double memory) {
    struct sizes z = measure(p, s);
    *f = (struct fit){.interval = memory - z.ranges - z.kept - z.layout};
    evn_status status = EVN_OK;
    if (f->interval < fmax(z.making / 8, z.widest)) {
        stream_align(p->layout);
        z = measure(p, s);
        status = find_streaming(f, p, &z, memory);
    }
    f->interval = fmin(f->interval, wanted_interval(p, &z));
    return status;
}

/* ---- disk ---- */

static const char *scratch_folder(const tdbem_options *o) {
    const char *folder = o->scratch ? o->scratch : getenv("TMPDIR");
    return folder && *folder ? folder : "/var/tmp";
}

static void notice(const tdbem *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void notice(const tdbem *p, const char *format, ...) {
    char line[512];
    va_list arguments;
    if (!p->options.notice) return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    p->options.notice(line, p->options.arg);
}

static evn_status open_stream(tdbem *p, const struct fit *f, double memory) {
    struct layout *l = p->layout;
    const char *folder = scratch_folder(&p->options);
    evn_status status = stream_open(&l->stream, l, folder);
    if (status) return status;
    p->shape.bytes = l->bytes;
    if (f->resident < l->blocks)
        notice(p,
               "%d of %d blocks stream from %s: %.3g GB of matrices, of which %.3g GB may be in "
               "memory",
               l->blocks - f->resident, l->blocks, folder, l->bytes * 1e-9, memory * 1e-9);
    if (stream_in_memory(l->stream))
        notice(p,
               "warning: %s keeps files in memory, so that nothing is gained; --scratch DIR on "
               "a disk would help",
               folder);
    return EVN_OK;
}

/* All blocks are on disk. Memory of the intervals is free again: as many as fit come back. */
static evn_status begin_stream(tdbem *p, struct fit *f) {
    struct layout *l = p->layout;
    evn_status status = stream_begin(l->stream, f->resident, f->ahead);
    p->shape.resident = f->resident;
    if (status || f->resident < l->blocks) return status;
    stream_close(l->stream);
    l->stream = NULL;
    return EVN_OK;
}

/* ---- all of it ---- */

/* Layout, radiation, M_0 and the points' k = 0 from ranges alone; `m`: M_0. */
static evn_status plan(tdbem *p, const struct slices *s, struct slices_csr *m) {
    const tdbem_options *o = &p->options;
    struct layout_options lo = p->layout_options;
    lo.single = o->single;
    lo.group = o->group;
    if (o->blocks) lo.per_block = (s->columns + o->blocks - 1) / o->blocks;
    evn_status status = layout_plan(&p->layout, s, &lo);
    if (!status) status = radiation_open(&p->radiation, s, o->group, o->single, cores(o));
    if (!status) status = slices_matrix_open(m, s, 0, 0, s->columns);
    if (!status) status = slices_matrix_open(&p->now, s, 0, s->columns, s->rows);
    return status;
}

/* The columns that there are, to where they belong. */
static evn_status put_away(tdbem *p, const struct slices *s, struct slices_csr *m) {
    struct layout *l = p->layout;
    evn_status status = EVN_OK;
    if (!l->stream) status = layout_fill(l, s, s->from, s->to);
    for (int b = 0; !status && l->stream && b < l->blocks; b++)
        if (l->slice[b] >= s->from && l->slice[b] < s->to) {
            status = layout_fill(l, s, l->slice[b], l->slice[b + 1]);
            if (!status) status = stream_put(l->stream, b);
        }
    if (!status) status = radiation_fill(p->radiation, s);
    if (status) return status;
    slices_matrix_add(m, s);
    slices_matrix_add(&p->now, s);
    return EVN_OK;
}

/* Whole blocks, as many as an interval has room for. */
static int next_cut(const struct layout *l, const struct slices *s, double interval) {
    int b = 0;
    while (l->slice[b] < s->to) b++;
    for (b++; b < l->blocks && making(s, s->to, l->slice[b + 1]) <= interval;) b++;
    return l->slice[b];
}

static evn_status fill(tdbem *p, struct source *from, const struct fit *f, struct slices_csr *m) {
    const struct slices *s = from->s;
    evn_status status = EVN_OK;
    while (!status && s->to < s->columns) {
        status = source_next(from, next_cut(p->layout, s, f->interval));
        if (!status) status = put_away(p, s, m);
        p->shape.intervals++;
    }
    if (!status && from->writer) status = slices_writer_commit(from->writer);
    return status;
}

static void describe(tdbem *p, const struct slices *s) {
    const struct layout *l = p->layout;
    tdbem_shape *shape = &p->shape;
    shape->kmax = s->kmax;
    shape->longest = s->longest;
    shape->nnz = s->nnz;
    shape->stored = l->values;
    shape->bytes = l->bytes;
    shape->blocks = shape->resident = l->blocks;
    shape->flop_per_step = 2.0 * (double)l->nnz + radiation_flop(p->radiation) / p->options.group;
}

static evn_status weigh(tdbem *p, const struct slices *s) {
    const struct layout *l = p->layout;
    p->weight = calloc((size_t)l->blocks, sizeof *p->weight);
    if (!p->weight) return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the tasks");
    for (int b = 0; b < l->blocks; b++)
        p->weight[b] = (double)(s->begin[l->slice[b + 1]] - s->begin[l->slice[b]]);
    return EVN_OK;
}

static evn_status make(tdbem *p, struct source *from, struct slices_csr *m, double available,
                       struct fit *f) {
    evn_status status = plan(p, from->s, m);
    if (!status) status = weigh(p, from->s);
    if (status) return status;
    describe(p, from->s);
    const double memory = p->options.memory > 0 ? p->options.memory : default_memory(p, available);
    status = find_fit(f, p, from->s, memory);
    if (!status) status = f->streams ? open_stream(p, f, memory) : layout_reserve(p->layout, 1);
    return status ? status : fill(p, from, f, m);
}

evn_status matrices_open(tdbem *p) {
    const double available = (double)evn_machine_memory_available(NULL), begin = evn_now();
    struct source from = {0};
    struct slices_csr m = {0};
    struct fit f;
    evn_status status = source_open(&from, p);
    if (!status) status = make(p, &from, &m, available, &f);
    source_close(&from);
    if (!status && p->layout->stream) status = begin_stream(p, &f);
    p->shape.generate_s = evn_now() - begin;
    /* what a float keeps of the solution is a seventh digit */
    if (!status)
        status = solver_open(&p->solver, &m, p->solver_kind, p->options.single ? 1e-9 : 1e-13);
    slices_csr_free(&m);
    return status;
}
