/* Sizes first, then a plan of what is where, then intervals.
 *
 * Where the ranges of all columns take too much of the memory, they are found by parts: once for
 * the plan, once for M_0 and once for the values. Whether there is enough memory at all is then
 * known after the first of these, which may be minutes; so it is estimated before from some
 * columns. */
#include "tdbem/matrices/matrices.h"
#include "tdbem/fast/method.h"
#include "tdbem/matrices/matrices_file.h"
#include "tdbem/matrices/matrices_ranks.h"
#include "tdbem/matrices/slices_file.h"
#include "common/run/ranks.h"
#include "tdbem/summation/summation_gpu.h"
#include <malloc.h>
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
    int parts;                  /* ranges come by parts */
    int streams;                /* values go to disk */
    struct handout *handout;    /* over ranks: what others want; else NULL */
    struct matrices_file *file; /* likewise, where there is one */
};

/* The matrices while they are made. */
struct making {
    struct source from;
    struct slices_csr m; /* the matrix M_0 */
    double available;    /* bytes of this machine's memory that a rank may have; 0: not known */
    double seconds;      /* that it has taken until now */
};

/* Bytes of memory by use. */
struct sizes {
    double ranges;  /* until all is made; by parts they are in `making` and `widest` */
    double kept;    /* tables, the radiation stage, M_0 and the plan of the work, all the time */
    double layout;  /* bytes of all blocks */
    double largest; /* bytes of the largest block */
    double making;  /* all columns while they are made: values, their places, parts of ranges */
    double widest;  /* `making` for the columns of one block at most */
};

/* Way to fit the matrices into memory. */
struct fit {
    double interval; /* bytes of `making` at a time */
    int streams;     /* 1: blocks go by way of the disk */
    int comes;       /* 1: blocks that come from other ranks may have to go there */
    int resident;    /* streams: number of blocks in memory for good */
    size_t ahead;    /* streams: bytes for the other blocks */
    size_t stay;     /* comes: bytes of blocks in memory */
};

/* ---- where values come from ---- */

/* Progress of a part of the generation, as that of all. */
static int tell(double done, void *arg) {
    const tdbem *p = arg;
    return p->options.progress(p->told[0] + p->told[1] * done, p->options.arg);
}

static struct slices_options wanted_slices(tdbem *p) {
    const tdbem_options *o = &p->options;
    return (struct slices_options){
        .problem = o->problem,
        .eta = o->eta,
        .thin = p->shape.facing < p->shape.delta,
        .delta = p->shape.delta,
        .quad = o->quad,
        .points = p->points + p->inside,
        .point = (const double(*)[3])p->point,
        .beta = p->boundary ? p->boundary->beta : NULL,
        .filter = p->boundary ? p->boundary->filter : NULL,
        .filters = p->boundary ? p->boundary->filters : 0,
        .near = p->octree,
        .progress = o->progress ? tell : NULL,
        .arg = p,
    };
}

/* Over ranks it is rank 0's file that counts; another one that this rank finds under its name will
 * do for the ranges. */
static evn_status source_open(struct source *from, tdbem *p) {
    const tdbem_options *o = &p->options;
    const struct slices_options so = wanted_slices(p);
    evn_status status = EVN_OK;
    if (o->matrices && slices_file_exists(o->matrices)) {
        status = slices_reader_prepare(&from->reader, p->mesh, &so, o->matrices, -1);
        if (!status) from->s = slices_reader_slices(from->reader);
        p->shape.reloaded = 1;
        if (!status || !p->me) return tdbem_as_input(status);
    }
    p->shape.reloaded = 0;
    status = slices_maker_prepare(&from->maker, p->mesh, &so, cores(o));
    if (!status) from->s = slices_maker_slices(from->maker);
    if (!status && o->matrices && !p->me)
        status = tdbem_as_input(
            slices_writer_open(&from->writer, p->mesh, &so, o->matrices, p->cluster != NULL));
    return status;
}

/* Ranges of columns from .. to-1; with `first`, when they come for the first time. */
static evn_status source_ranges(struct source *from, int begin, int end, int first) {
    if (from->reader) return tdbem_as_input(slices_reader_ranges(from->reader, begin, end));
    evn_status status = slices_maker_ranges(from->maker, begin, end);
    if (!status && first && from->writer)
        status = slices_writer_ranges(from->writer, from->s, begin, end);
    return status;
}

/* Columns up to `to`-1, behind those before. */
static evn_status source_next(struct source *from, int to) {
    if (from->reader) return tdbem_as_input(slices_reader_next(from->reader, to));
    evn_status status = slices_maker_next(from->maker, to);
    if (!status && from->writer) status = slices_writer_put(from->writer, from->s);
    return status;
}

/* Ranges that are there go; from now on they come by parts. */
static evn_status source_forget(struct source *from) {
    from->parts = 1;
    return source_ranges(from, 0, 0, 0);
}

/* No more columns come. */
static void source_end(struct source *from) {
    slices_maker_close(from->maker);
    slices_reader_close(from->reader);
    from->maker = NULL;
    from->reader = NULL;
    from->s = NULL;
}

static void source_close(struct source *from) {
    source_end(from);
    slices_writer_close(from->writer);
    handout_close(from->handout);
    matrices_file_close(from->file);
}

/* ---- what fits ---- */

enum { RANGE = 3, PLACE = 8, VALUE = 8, ENTRY = 12 }; /* bytes; of M_0: an entry */

/* Columns from .. to-1 while they are made: values, places of row-vectors, and their ranges where
 * these come by parts. */
static double making(const struct slices *s, int from, int to, int parts) {
    return (double)VALUE * (double)(s->begin[to] - s->begin[from]) +
           (parts ? RANGE + PLACE : PLACE) *
               (double)(slices_before(s, to) - slices_before(s, from));
}

/* M_0: what is made, and what the solver makes of it, or before that of the generator. */
static double matrix_bytes(const struct slices_csr *m, double entries) {
    return 2 * ENTRY * entries + 8.0 * m->rows;
}

/* Bytes that the matrices need on this rank, over ranks. */
static struct sizes measure(const tdbem *p, const struct source *from, const struct slices_csr *m) {
    const struct layout *l = p->layout;
    const struct slices *s = from->s;
    const int parts = from->parts;
    struct sizes z = {
        .ranges =
            (parts ? 0 : (double)RANGE * (double)slices_before(s, s->columns)) + 8.0 * s->columns,
        .kept = (double)layout_tables(l) + radiation_bytes(p->radiation) +
                matrix_bytes(m, (double)slices_matrix_entries(m)) +
                ENTRY * (double)slices_matrix_entries(&p->now) +
                (from->maker ? slices_maker_plan_bytes(from->maker) : 0),
        .largest = (double)layout_largest(l),
    };
    if (p->near) z.kept += near_bytes(p->near);
    if (p->far) z.kept += p->far->bytes;
    for (int b = 0; b < l->blocks; b++) {
        if (!layout_has(l, b)) continue;
        const double columns = making(s, l->slice[b], l->slice[b + 1], parts);
        z.layout += (double)(l->begin[b + 1] - l->begin[b]);
        z.making += columns;
        z.widest = fmax(z.widest, columns);
    }
    return z;
}

/* Memory of the matrices by default: nine tenths of the available memory less the march's own, and
 * never so little that a small problem suffers. */
static double default_memory(const tdbem *p, double available) {
    const struct layout *l = p->layout;
    if (available <= 0) return INFINITY;
    const double sums = (double)l->blocks * (double)summation_sums_bytes(l);
    const double past = 8.0 * l->columns * (l->front + l->depth + 2 * l->is.group + 48);
    return fmax(0.9 * available - sums - p->columns * past, 268435456.0);
}

/* Of near vertices alone next to nothing is computed twice. */
static const double NEAR_INTERVAL = 1e9;

/* A quarter of the columns at a time, so that the layout is nearly all that is in memory at once,
 * but not intervals so small that much is computed twice for little. A file can be read in any
 * pieces; where matrices are mirrored nearly all would be computed twice. */
static double wanted_interval(const tdbem *p, const struct sizes *z) {
    if (p->shape.reloaded) return 268435456.0;
    if (p->octree) return NEAR_INTERVAL;
    if (p->options.eta == 0) return z->making;
    return fmax(1073741824.0, z->making / 4);
}

/* Two blocks at a time come from disk. */
static double ring_bytes(const struct sizes *z, int blocks) {
    return blocks > 1 ? 2 * z->largest : z->largest;
}

/* By way of the disk: what generation and march need at least. */
static double least_bytes(const struct sizes *z, int blocks) {
    return fmax(z->ranges + z->kept + z->largest + z->widest, z->kept + ring_bytes(z, blocks));
}

static evn_status too_little(double memory, double least, const char *how, int blocks) {
    return evn_fail(EVN_USAGE,
                    "memory: %.4g MB for the matrices is too little; expected at least %.2f MB%s, "
                    "which smaller blocks (--blocks, here %d) would make less",
                    memory * 1e-6, ceil(least * 1e-4) * 1e-2, how, blocks);
}

/* Blocks that are here. */
static int own_blocks(const struct layout *l) {
    int blocks = 0;
    for (int b = 0; b < l->blocks; b++) blocks += layout_has(l, b);
    return blocks;
}

/* How the memory is shared then. */
static evn_status find_streaming(struct fit *f, const tdbem *p, const struct sizes *z,
                                 double memory) {
    const int blocks = own_blocks(p->layout), threads = cores(&p->options);
    const double beside = z->ranges + z->kept + z->largest, ring = ring_bytes(z, blocks);
    const double least = least_bytes(z, blocks);
    if (memory < least && p->options.memory > 0) return too_little(memory, least, "", blocks);
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

static evn_status find_fit(struct fit *f, const tdbem *p, struct source *from,
                           const struct slices_csr *m, double memory) {
    struct sizes z = measure(p, from, m);
    *f = (struct fit){.interval = memory - z.ranges - z.kept - z.layout};
    evn_status status = EVN_OK;
    if (f->interval < fmax(z.making / 8, z.widest)) {
        stream_align(p->layout);
        z = measure(p, from, m);
        if (!from->parts && memory < least_bytes(&z, own_blocks(p->layout))) {
            status = source_forget(from);
            z = measure(p, from, m);
        }
        if (!status) status = find_streaming(f, p, &z, memory);
    }
    f->interval = fmin(f->interval, wanted_interval(p, &z));
    f->comes = p->cluster && p->options.memory > 0 && !f->streams;
    if (f->comes) f->ahead = (size_t)ring_bytes(&z, p->layout->blocks);
    if (f->comes) f->stay = (size_t)fmax(memory - z.kept - (double)f->ahead, z.layout);
    return status;
}

/* ---- disk ---- */

static const char *scratch_folder(const tdbem_options *o) {
    const char *folder = o->scratch ? o->scratch : secure_getenv("TMPDIR");
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
    const int blocks = own_blocks(l);
    double bytes = 0;
    for (int b = 0; b < l->blocks; b++)
        if (layout_has(l, b)) bytes += (double)(l->begin[b + 1] - l->begin[b]);
    if (f->resident < blocks)
        notice(p,
               "%d of %d blocks stream from %s: %.3g GB of matrices, of which %.3g GB may be in "
               "memory",
               blocks - f->resident, blocks, folder, bytes * 1e-9, memory * 1e-9);
    if (stream_in_memory(l->stream))
        notice(p,
               "warning: %s keeps files in memory, so that nothing is gained; --scratch DIR on a "
               "disk would help",
               folder);
    return EVN_OK;
}

/* All blocks are on disk. Memory of the intervals is free again: as many as fit come back. */
static evn_status begin_stream(tdbem *p, struct fit *f) {
    struct layout *l = p->layout;
    evn_status status = stream_begin(l->stream, f->resident, f->ahead);
    p->shape.resident = l->blocks - own_blocks(l) + f->resident;
    if (status || p->shape.resident < l->blocks || p->cluster) return status;
    stream_close(l->stream);
    l->stream = NULL;
    return EVN_OK;
}

/* ---- all of it ---- */

static struct layout_options wanted_layout(const tdbem *p, int columns) {
    const tdbem_options *o = &p->options;
    struct layout_options lo = p->layout_options;
    lo.single = o->single;
    lo.group = o->group;
    const int blocks = o->blocks ? o->blocks : p->octree ? 100 : 0;
    if (blocks) lo.per_block = (columns + blocks - 1) / blocks;
    return lo;
}

/* The end of a part of the ranges that begins with block b: a quarter of the memory, whole blocks.
 * If they all have room there, they are one part, which stays. */
static int part_end(const struct layout *l, const struct slices *s, int b, double memory) {
    const size_t begin = slices_before(s, l->slice[b]);
    const double max = memory / 4 / RANGE;
    for (b++; b < l->blocks && (double)(slices_before(s, l->slice[b + 1]) - begin) <= max;) b++;
    return b;
}

/* All ranges, part by part, to the layout, and the first time to what else is planned. */
static evn_status plan_parts(tdbem *p, struct source *from, struct slices_csr *m, double memory,
                             int first) {
    const struct slices *s = from->s;
    evn_status status = EVN_OK;
    for (int b = 0, end; !status && b < p->layout->blocks; b = end) {
        end = part_end(p->layout, s, b, memory);
        const int begin = p->layout->slice[b], to = p->layout->slice[end];
        from->parts = to - begin < s->columns;
        status = source_ranges(from, begin, to, first);
        if (!status) status = layout_add(p->layout, s, begin, to);
        if (status || !first) continue;
        status =
            p->near ? near_add(p->near, s, begin, to) : radiation_plan(p->radiation, s, begin, to);
        slices_matrix_count(m, s, begin, to);
        slices_matrix_count(&p->now, s, begin, to);
    }
    return status;
}

/* Over ranks that all make matrices and have room for all ranges, each finds its part of them. */
static evn_status share_ranges(tdbem *p, struct source *from, double memory) {
    int alone =
        !from->maker || 4.0 * RANGE * (double)slices_before(from->s, from->s->columns) > memory;
    int *all = NULL, ranks = 0;
    if (!p->cluster || !p->octree) return EVN_OK;
    evn_status status = ranks_share(p->cluster, &alone, 1, sizeof alone, (void **)&all, &ranks);
    for (int r = 0; !status && r < ranks; r++) alone |= all[r];
    free(all);
    return status || alone ? status : ranges_by_ranks(from->maker, p);
}

/* Rows of the radiation stage: over ranks those of this one. */
static evn_status begin_radiation(tdbem *p) {
    const tdbem_options *o = &p->options;
    const int columns = p->layout->columns, from = tdbem_row(p, p->me),
              to = tdbem_row(p, p->me + 1);
    if (p->cluster && p->layout->rows < p->ranks)
        return evn_fail(EVN_USAGE,
                        "td-bem: %d rows are too few for %d ranks, expected %d ranks at most",
                        p->layout->rows, p->ranks, p->layout->rows);
    if (p->cluster) {
        evn_status status = near_open(&p->near, columns, from, to, near_last(o->group));
        if (status) return status;
    }
    return radiation_begin(&p->radiation, columns, to - from, o->group, o->single, cores(o));
}

/* Layout, radiation, M_0 and the points' k = 0 from ranges alone; `m`: M_0. */
static evn_status plan(tdbem *p, struct source *from, struct slices_csr *m, double memory) {
    const int columns = from->s->columns, rows = from->s->rows;
    const struct layout_options lo = wanted_layout(p, columns);
    evn_status status = layout_begin(&p->layout, columns, rows, &lo);
    if (!status) status = begin_radiation(p);
    if (!status) status = slices_matrix_begin(m, 0, 0, columns);
    if (!status) status = slices_matrix_begin(&p->now, 0, columns, rows);
    for (int first = 1, again = 1; !status && again; first = 0) {
        status = plan_parts(p, from, m, memory, first);
        if (!status) status = layout_end(p->layout, &again);
    }
    if (!status && p->near) status = radiation_plan(p->radiation, &p->near->s, 0, columns);
    if (!status) status = radiation_end(p->radiation);
    return status;
}

/* Allocates the planned parts; M_0 and the near part for the radiation stage. */
static evn_status reserve(tdbem *p, struct slices_csr *m) {
    evn_status status = radiation_reserve(p->radiation);
    if (!status) status = slices_matrix_ready(m);
    return status ? status : slices_matrix_ready(&p->now);
}

/* ---- whether it can be done at all, before anything is ---- */

/* Sizes as they will be, from slices of a sample of the columns, all alone in their blocks. */
static evn_status estimate(struct sizes *z, int *blocks, const tdbem *p, const struct slices *few,
                           const struct source *from) {
    const tdbem_options *o = &p->options;
    const struct slices *s = from->s;
    const double each = (double)s->columns / few->columns;
    struct layout_options lo = wanted_layout(p, s->columns);
    const int per = lo.per_block ? lo.per_block : layout_per_block(s->columns);
    lo.per_block = 1;
    struct layout *l = NULL;
    struct radiation *r = NULL;
    struct slices_csr m = {0};
    evn_status status = layout_plan(&l, few, &lo);
    if (!status)
        status = radiation_begin(&r, few->columns, few->rows, o->group, o->single, cores(o));
    if (!status) status = radiation_plan(r, few, 0, few->columns);
    if (!status) status = radiation_end(r);
    if (!status) status = slices_matrix_begin(&m, 0, 0, s->columns);
    if (!status) {
        slices_matrix_count(&m, few, 0, few->columns);
        double entries = 0;
        for (int i = 0; i < m.rows; i++) entries += (double)m.start[i + 2];
        *blocks = (s->columns + per - 1) / per;
        const double tables = (double)layout_tables(l) * (l->strip ? *blocks : s->columns);
        z->ranges = 8.0 * s->columns;
        z->kept = tables / few->columns + each * radiation_bytes(r) / p->ranks +
                  matrix_bytes(&m, each * entries) + slices_maker_plan_bytes(from->maker);
        z->layout = each * l->bytes;
        z->making = each * making(few, 0, few->columns, 0);
        z->largest = per * (double)layout_largest(l);
        for (int c = 0; c < few->columns; c++)
            z->widest = fmax(z->widest, per * making(few, c, c + 1, 1));
    }
    layout_close(l);
    radiation_close(r);
    slices_csr_free(&m);
    return status;
}

/* Ranges of some columns, evenly spread. */
static evn_status sample(struct slices **few, const struct source *from) {
    enum { COLUMNS = 4000000, LEAST = 24, MAX = 64 };
    const int n = from->s->columns, wanted = COLUMNS / n,
              most = wanted < LEAST ? LEAST
                     : wanted > MAX ? MAX
                                    : wanted,
              count = most < n ? most : n;
    int column[MAX];
    for (int c = 0; c < count; c++) column[c] = (int)((2LL * c + 1) * n / (2 * count));
    return slices_maker_sample(few, from->maker, column, count);
}

enum { LONG = 4000 }; /* columns from which on finding all ranges takes long */

/* With that many columns too little memory is told from a sample of them, before the ranges are
 * found. A few per cent more than the estimate are wanted, so that it is hardly ever told later. */
static evn_status check_early(const tdbem *p, const struct source *from) {
    const double memory = p->options.memory;
    if (memory <= 0 || !from->maker || from->s->columns < LONG) return EVN_OK;
    int blocks = 1;
    struct slices *few;
    struct sizes z = {0};
    evn_status status = sample(&few, from);
    if (status) return status;
    status = estimate(&z, &blocks, p, few, from);
    slices_close(few);
    const double least = least_bytes(&z, blocks);
    if (status || memory >= 1.05 * least) return status;
    return too_little(memory, 1.1 * least, " or so", blocks);
}

/* Sums of all blocks, and the past of each incidence. */
static double march_bytes(const tdbem *p, const struct slices *s, int blocks) {
    const double word = p->options.single ? 4 : 8, group = p->options.group;
    return word * group * blocks * s->rows +
           word * s->columns * (s->kmax + 3 * group + 48) * p->columns;
}

/* A sample of the columns, and what it says of all; the first two are closed also after a failure.
 */
static evn_status foresee(tdbem *p, struct source *from, struct slices **few, struct sizes *z,
                          int *blocks) {
    const struct slices_options so = wanted_slices(p);
    evn_status status = slices_maker_prepare(&from->maker, p->mesh, &so, cores(&p->options));
    if (status) return status;
    from->s = slices_maker_slices(from->maker);
    status = sample(few, from);
    return status ? status : estimate(z, blocks, p, *few, from);
}

evn_status matrices_expect(tdbem *p, struct matrices_needs *out) {
    struct source from = {0};
    struct slices *few = NULL;
    struct sizes z = {0};
    int blocks = 1;
    struct method_needs far = {0};
    const struct slices_options so = wanted_slices(p);
    evn_status status = foresee(p, &from, &few, &z, &blocks);
    if (!status) status = method_expect(p, &so, &far);
    if (!status) {
        const double columns = from.s->columns;
        const double interval = fmin(z.making, wanted_interval(p, &z));
        const double ranges = RANGE * (double)slices_before(from.s, from.s->columns);
        const double mesh = 1000.0 * p->mesh->triangles; /* with what is kept while they are made */
        const double march = march_bytes(p, from.s, blocks) + far.state * p->columns;
        const double beside = mesh + far.bytes;
        *out = (struct matrices_needs){
            .kmax = from.s->kmax,
            .values = (double)few->nnz * columns / few->columns,
            .bytes = z.layout,
            .far_values = far.values,
            .far_bytes = far.bytes,
            .memory = z.layout + z.kept + fmax(z.ranges + ranges + interval, march) + beside,
            .least = least_bytes(&z, blocks) + march + beside,
        };
    }
    slices_close(few);
    source_close(&from);
    return status;
}

/* Weights of the blocks, each column taken to be as long as the nearest of a few. */
static evn_status weigh_few(tdbem *p, const struct slices *few, int columns, int blocks) {
    p->weight = calloc((size_t)blocks, sizeof *p->weight);
    if (!p->weight) return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the tasks");
    for (int b = 0, c = 0; b < blocks; b++)
        for (; c < (long long)columns * (b + 1) / blocks; c++) {
            const int like = (int)((long long)c * few->columns / columns);
            p->weight[b] += (double)(few->begin[like + 1] - few->begin[like]);
        }
    return EVN_OK;
}

evn_status matrices_tasks(tdbem *p) {
    struct source from = {0};
    struct slices *few = NULL;
    struct sizes z = {0};
    int blocks = 1;
    if (p->options.matrices || p->mesh->vertices < LONG) return matrices_plan(p);
    evn_status status = foresee(p, &from, &few, &z, &blocks);
    if (!status) status = weigh_few(p, few, from.s->columns, blocks);
    if (!status) {
        p->shape.kmax = from.s->kmax;
        p->shape.bytes = z.layout;
        p->shape.blocks = p->shape.resident = blocks;
    }
    slices_close(few);
    source_close(&from);
    return status;
}

/* The columns that there are, to where they belong. */
static evn_status put_away(tdbem *p, const struct source *from, struct slices_csr *m) {
    const struct slices *s = from->s;
    struct handout *handout = from->handout;
    struct layout *l = p->layout;
    evn_status status = EVN_OK;
    if (p->far && s->problem == TDBEM_RIGID) far_add_near(p->far, s);
    if (!from->streams) status = layout_fill(l, s, s->from, s->to);
    for (int b = 0; !status && from->streams && b < l->blocks; b++)
        if (l->slice[b] >= s->from && l->slice[b] < s->to) {
            status = layout_fill(l, s, l->slice[b], l->slice[b + 1]);
            if (!status) status = stream_put(l->stream, b);
        }
    if (!status && handout) return handout_take(handout, p, s);
    if (!status) status = radiation_fill(p->radiation, s);
    if (status) return status;
    slices_matrix_add(m, s);
    slices_matrix_add(&p->now, s);
    return EVN_OK;
}

/* The end of the next columns: whole blocks, as many as an interval has room for, all of them here
 * or, one after another, none. */
static int next_cut(const struct layout *l, const struct source *from, double interval) {
    const struct slices *s = from->s;
    int b = 0;
    while (l->slice[b] < s->to) b++;
    if (!layout_has(l, b)) return l->slice[b + 1];
    for (b++; b < l->blocks && layout_has(l, b) &&
              making(s, s->to, l->slice[b + 1], from->parts) <= interval;)
        b++;
    return l->slice[b];
}

/* Columns up to `to`-1 that are another rank's. */
static void leave_out(struct source *from, int to) {
    if (from->reader)
        slices_reader_skip(from->reader, to);
    else
        slices_maker_skip(from->maker, to);
}

static evn_status fill(tdbem *p, struct source *from, const struct fit *f, struct slices_csr *m) {
    const struct slices *s = from->s;
    evn_status status = EVN_OK;
    while (!status && s->to < s->columns) {
        const int to = next_cut(p->layout, from, f->interval);
        int b = 0;
        while (p->layout->slice[b] < s->to) b++;
        if (!layout_has(p->layout, b)) {
            leave_out(from, to);
            continue;
        }
        status = source_next(from, to);
        if (!status) status = put_away(p, from, m);
        p->shape.intervals++;
    }
    if (!status && from->writer && !p->cluster)
        status = slices_writer_commit(from->writer, from->s);
    return status;
}

static void describe(tdbem *p, const struct slices *s) {
    const struct layout *l = p->layout;
    tdbem_shape *shape = &p->shape;
    shape->kmax = s->kmax;
    shape->longest = s->longest;
    shape->nnz = s->nnz;
    shape->stored = l->values;
    shape->held = l->nnz;
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

/* ---- in two parts, between which ranks are told their blocks ---- */

/* Ranks of this one's host. */
static int neighbours(const tdbem *p) {
    int count = 0;
    for (int r = 0; r < p->ranks; r++)
        count += !p->cluster || r == p->me ||
                 !strcmp(evn_cluster_host(p->cluster, r), evn_cluster_host(p->cluster, p->me));
    return count;
}

evn_status matrices_plan(tdbem *p) {
    const double given = p->options.memory, begin = evn_now();
    struct making *k = p->making = calloc(1, sizeof *k);
    p->told[1] = 1;
    if (!k) return evn_fail(EVN_MEMORY, "td-bem: no memory");
    k->available = (double)evn_machine_memory_available(NULL) / neighbours(p);
    double about = given > 0 ? given : k->available > 0 ? 0.9 * k->available : INFINITY;
    evn_status status = source_open(&k->from, p);
    if (!status) status = check_early(p, &k->from);
    if (!status) status = share_ranges(p, &k->from, about);
    if (!status) status = plan(p, &k->from, &k->m, about);
    if (!status) status = weigh(p, k->from.s);
    if (!status) describe(p, k->from.s);
    k->seconds = evn_now() - begin;
    return status;
}

void matrices_close(tdbem *p) {
    if (!p->making) return;
    source_close(&p->making->from);
    slices_csr_free(&p->making->m);
    free(p->making);
    p->making = NULL;
}

/* Values come from elsewhere than ranges came from: `was` had them. They are found again, and are
 * to be the same. */
static evn_status change_source(tdbem *p, struct source *from, const struct slices *was,
                                double memory) {
    const struct slices_options so = wanted_slices(p);
    const struct layout *l = p->layout;
    evn_status status = EVN_OK;
    if (!from->reader)
        status = slices_maker_prepare(&from->maker, p->mesh, &so, cores(&p->options));
    if (status) return status;
    from->s = from->reader ? slices_reader_slices(from->reader) : slices_maker_slices(from->maker);
    for (int b = 0, end; !status && b < l->blocks; b = end) {
        end = from->parts ? part_end(l, from->s, b, memory) : l->blocks;
        status = source_ranges(from, l->slice[b], l->slice[end], 0);
    }
    const size_t bytes = ((size_t)was->columns + 1) * sizeof *was->begin;
    if (!status && memcmp(from->s->begin, was->begin, bytes) != 0)
        status = evn_fail(EVN_USAGE, "matrices: %s has other ranges than are found here",
                          p->options.matrices);
    return status;
}

/* Over ranks: the file of them all. */
static evn_status join_file(tdbem *p, struct source *from, double memory) {
    const struct slices_options so = wanted_slices(p);
    struct matrices_ends ends = {from->reader, from->writer, from->s, scratch_folder(&p->options)};
    int again = 0;
    if (!p->cluster || !p->options.matrices) return EVN_OK;
    evn_status status = matrices_file_begin(&from->file, p, &ends, &so, &again);
    struct slices_maker *maker = from->maker;
    struct slices_reader *reader = ends.reader != from->reader ? from->reader : NULL;
    from->reader = ends.reader;
    from->writer = ends.writer;
    p->shape.reloaded = ends.reader != NULL;
    if (again) from->maker = NULL;
    if (!status && again) status = change_source(p, from, ends.s, memory);
    if (again) slices_maker_close(maker);
    slices_reader_close(reader);
    return evn_cluster_agree(p->cluster, status);
}

/* Once what is this rank's of it has been made. */
static evn_status leave_file(tdbem *p, struct source *from, evn_status mine) {
    struct matrices_ends ends = {.writer = from->writer, .s = from->s};
    if (!p->cluster || !p->options.matrices) return mine;
    mine = evn_cluster_agree(p->cluster, mine);
    return mine ? mine : matrices_file_end(from->file, p, &ends);
}

/* Columns of this rank's blocks. */
static evn_status make(tdbem *p, struct making *k, struct fit *f) {
    const double given = p->options.memory;
    const double memory = given > 0 ? given : default_memory(p, k->available);
    evn_status status = join_file(p, &k->from, memory);
    const struct slices_options so = wanted_slices(p);
    if (!status && p->octree) status = method_make(p, &so, cores(&p->options));
    if (!status) status = find_fit(f, p, &k->from, &k->m, memory);
    if (!status) status = reserve(p, &k->m);
    if (status) return status;
    if (f->streams)
        status = open_stream(p, f, memory);
    else if (f->comes)
        status = stream_open_whole(&p->layout->stream, p->layout, scratch_folder(&p->options));
    else
        status = layout_reserve(p->layout, 1);
    k->from.streams = f->streams;
    if (!status && p->cluster) status = handout_open(&k->from.handout, p);
    return status ? status : fill(p, &k->from, f, &k->m);
}

/* Completes the matrices with the parts that ranks need of each other, and counts those on disk. */
static evn_status complete(tdbem *p, struct making *k, evn_status mine) {
    int streams = p->layout->blocks - p->shape.resident, *all = NULL, ranks = 0;
    mine = evn_cluster_agree(p->cluster, mine);
    if (!mine) mine = handout_exchange(k->from.handout, p, &k->m, EVN_OK);
    if (!mine) mine = ranks_share(p->cluster, &streams, 1, sizeof streams, (void **)&all, &ranks);
    for (int r = 0; !mine && r < ranks; r++)
        if (r != p->me) p->shape.resident -= all[r];
    free(all);
    if (!mine) mine = radiation_fill(p->radiation, &p->near->s);
    near_close(p->near);
    p->near = NULL;
    return mine;
}

evn_status matrices_make(tdbem *p) {
    struct making *k = p->making;
    const double begin = evn_now();
    struct fit f = {0};
    evn_status status = make(p, k, &f);
    status = leave_file(p, &k->from, status);
    source_end(&k->from); /* plan and ranges of the source are not needed any more */
    malloc_trim(0);       /* what the intervals took is not kept for later */
    if (!status && f.streams) status = begin_stream(p, &f);
    if (!status && f.comes) status = stream_begin_whole(p->layout->stream, f.stay, f.ahead);
    if (p->cluster) status = complete(p, k, status);
    if (!status && p->far && p->options.problem == TDBEM_RIGID)
        status = far_hold_constants(p->far, p->cluster);
    p->shape.generate_s = k->seconds + evn_now() - begin;
    /* what a float keeps of the solution is a seventh digit */
    if (!status)
        status = solver_open(&p->solver, &k->m, p->solver_kind, p->options.single ? 1e-9 : 1e-13);
    matrices_close(p);
    return status;
}

evn_status matrices_open(tdbem *p) {
    evn_status status = matrices_plan(p);
    return status ? status : matrices_make(p);
}
