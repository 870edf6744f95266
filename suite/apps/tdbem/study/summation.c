/* bench td-bem: the summation stage on one core, every layout, precision and n_g, against what the
 * machine allows for data of that size, and beside the paper's other orders, by fronts (sparse
 * matrix times vector over all M_k) and by rows; and the paper's Table 4, how many blocks
 * Full-Blocking makes of a mesh in each numbering (Bramas, Coulaud, Sylvand 2015, sections 5.1
 * and 7.4.1). */
#include "tdbem/study/study.h"
#include "tdbem/study/by_row.h"
#include "common/cli/message.h"
#include "common/cli/options.h"
#include "common/run/probe.h"
#include "common/run/thread_seconds.h"
#include "tdbem/study/solvers.h"
#include "tdbem/summation/history.h"
#include "tdbem/layout/layout.h"
#include "tdbem/mesh/mesh.h"
#include "tdbem/mesh/numbering.h"
#include "tdbem/matrices/slices.h"
#include "tdbem/summation/summation.h"
#include "tdbem/summation/summation_tree.h"
#include "common/run/free_all.h"
#include <evener/device.h>
#include <evener/output.h>
#include <evener/machine.h>
#include <evener/number.h>
#include <evener/unit.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The least processor time of one call, over `least` calls and `during` seconds at any rate. */
static double fastest_during(void (*call)(void *), void *arg, int least, double during) {
    double best = 1e9;
    const double begin = thread_seconds();
    call(arg); /* one call to warm up */
    for (int n = 0; n < least || thread_seconds() - begin < during; n++) {
        const double since = thread_seconds();
        call(arg);
        const double took = thread_seconds() - since;
        if (took < best) best = took;
    }
    return best;
}

static double fastest(void (*call)(void *), void *arg, int least) {
    return fastest_during(call, arg, least, 0.2);
}

/* ---- what the machine allows: reading alone, since sums stay in cache ---- */

typedef double wide __attribute__((vector_size(64)));
struct read {
    const wide *data;
    size_t count;
};

static void read_all(void *arg) {
    const struct read *r = arg;
    wide sum[8] = {{0}};
    for (size_t i = 0; i + 8 <= r->count; i += 8)
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++) sum[k] += r->data[i + (size_t)k];
    for (int k = 0; k < 8; k++) __asm__ volatile("" : : "m"(sum[k]));
}

/* Bytes a second that can be read of so many; 0 without memory. */
static double read_bandwidth(double bytes) {
    const size_t count = (size_t)(bytes / sizeof(wide)) + 8;
    const size_t page = (size_t)2 << 20;
    wide *data = aligned_alloc(page, (count * sizeof *data + page - 1) / page * page);
    if (!data) return 0;
    madvise(data, count * sizeof *data, MADV_HUGEPAGE); /* the layouts do so, too */
    memset(data, 0, count * sizeof *data);
    struct read r = {data, count};
    const double seconds = fastest_during(read_all, &r, 5, 0.1);
    free(data);
    return (double)(count / 8 * 8 * sizeof *data) / seconds;
}

/* The nearest cache of the first core that has room for so many bytes, else memory: "L2". */
static const char *place_of(double bytes) {
    static char place[16];
    int nearest = 0;
    for (int i = 0; i < 8; i++) { /* caches in no particular order */
        char path[80], kind[16] = "", unit = 0;
        int level = 0;
        double size = 0;
        const char *const name[] = {"level", "type", "size"};
        for (int n = 0; n < 3; n++) {
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", i,
                     name[n]);
            FILE *in = fopen(path, "r");
            if (!in) continue;
            const int read = n == 0   ? fscanf(in, "%d", &level)
                             : n == 1 ? fscanf(in, "%15s", kind)
                                      : fscanf(in, "%lf%c", &size, &unit);
            if (read < 1) level = 0;
            fclose(in);
        }
        size *= unit == 'K' ? 1024 : unit == 'M' ? 1048576 : 1;
        if (level > 0 && strcmp(kind, "Instruction") != 0 && bytes <= size &&
            (!nearest || level < nearest))
            nearest = level;
    }
    if (!nearest) return "memory";
    snprintf(place, sizeof place, "L%d", nearest);
    return place;
}

/* ---- sparse matrix times vector over all M_k ---- */

struct sparse {
    int count; /* matrices M_1 .. M_count */
    struct slices_csr *m;
    double *x, *y; /* x: [count][columns] */
    size_t nnz;
};

static evn_status sparse_open(struct sparse *a, const struct slices *s) {
    *a = (struct sparse){.count = s->kmax};
    const size_t n = (size_t)s->columns;
    a->m = calloc((size_t)a->count + 1, sizeof *a->m);
    a->x = malloc(sizeof *a->x * n * (size_t)(a->count + 1));
    a->y = calloc(n, sizeof *a->y);
    if (!a->m || !a->x || !a->y) return evn_fail(EVN_MEMORY, "bench td-bem: not enough memory");
    for (size_t i = 0; i < n * (size_t)(a->count + 1); i++) a->x[i] = 1e-3 * (double)(i % 1000);
    evn_status status = EVN_OK;
    for (int k = 0; !status && k < a->count; k++) {
        status = slices_matrix(&a->m[k], s, k + 1, 0);
        if (!status) a->nnz += a->m[k].start[n];
    }
    return status;
}

static void sparse_close(struct sparse *a) {
    for (int k = 0; a->m && k < a->count; k++)
        if (a->m[k].start) slices_csr_free(&a->m[k]);
    free_all(a->m, a->x, a->y);
}

static void sparse_multiply(void *arg) {
    struct sparse *a = arg;
    for (int k = 0; k < a->count; k++) {
        const struct slices_csr *m = &a->m[k];
        const double *x = a->x + (size_t)k * (size_t)m->rows;
        for (int i = 0; i < m->rows; i++) {
            double sum = 0;
            for (size_t e = m->start[i]; e < m->start[i + 1]; e++)
                sum += m->value[e] * x[m->column[e]];
            a->y[i] += sum;
        }
    }
}

/* GFlop/s of the same matrices by the program beside this one that is built with Eigen; 0 if it is
 * not there. They travel in a file: rows, matrices, then of each starts, columns, values. */
static double eigen_rate(const struct sparse *a) {
    char program[4096], command[4400], line[64];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0) return 0;
    program[n] = 0;
    char *slash = strrchr(program, '/');
    if (!slash) return 0;
    snprintf(slash, sizeof program - (size_t)(slash - program), "/bench-tdbem-eigen");
    if (access(program, X_OK)) return 0;
    int fd;
    FILE *out = evn_output_scratch(&fd, "/tmp") ? NULL : fdopen(fd, "wb");
    if (!out) return 0;
    const int32_t head[2] = {a->m[0].rows, a->count};
    fwrite(head, sizeof head, 1, out);
    for (int k = 0; k < a->count; k++) {
        const struct slices_csr *m = &a->m[k];
        for (int i = 0; i <= m->rows; i++) {
            const int32_t start = (int32_t)m->start[i];
            fwrite(&start, sizeof start, 1, out);
        }
        fwrite(m->column, sizeof *m->column, m->start[m->rows], out);
        fwrite(m->value, sizeof *m->value, m->start[m->rows], out);
    }
    double rate = 0;
    if (!fflush(out)) {
        snprintf(command, sizeof command, "'%s' /proc/%ld/fd/%d", program, (long)getpid(), fd);
        FILE *in = popen(command, "r");
        if (in && fgets(line, sizeof line, in)) rate = 2e-9 * (double)a->nnz / atof(line);
        if (in && pclose(in)) rate = 0;
    }
    fclose(out);
    return rate;
}

/* ---- the summation ---- */

struct sum {
    const struct layout *layout;
    struct history *past;
    struct summation_node *node; /* what one unit of all blocks makes */
    char *sums;
    size_t bytes; /* bytes of a node's sums */
    void *scratch;
};

static void sum_all(void *arg) {
    struct sum *s = arg;
    for (int b = 0; b < s->layout->blocks; b += s->node[b].span)
        for (int t = 0; t < s->layout->tiles; t++)
            summation_part(s->layout, b, s->node[b].span, t, s->past,
                           s->sums + (size_t)b * s->bytes, s->scratch);
}

static void sum_close(struct sum *s) {
    free_all(s->node, s->sums, s->scratch);
    history_close(s->past);
}

/* All blocks as one unit has them, with some past; to be closed in any case. */
static evn_status sum_open(struct sum *s, const struct layout *a, const struct layout_options *o) {
    const size_t blocks = (size_t)a->blocks, known_count = (size_t)a->columns * (size_t)a->depth;
    *s = (struct sum){.layout = a};
    evn_status status = history_open(&s->past, a->columns, a->depth, a->front, o->group, o->single);
    double *known = malloc(sizeof *known * known_count);
    int *all = malloc(sizeof *all * blocks);
    s->bytes = ((size_t)a->rows * (size_t)a->wide * 8 + 63) / 64 * 64;
    s->sums = aligned_alloc(64, s->bytes * blocks);
    s->scratch = aligned_alloc(64, (summation_scratch(a, a->blocks) + 63) / 64 * 64);
    s->node = malloc(sizeof *s->node * blocks);
    if (!status && (!known || !s->sums || !s->scratch || !all || !s->node))
        status = evn_fail(EVN_MEMORY, "bench td-bem: not enough memory");
    if (!status) {
        for (size_t i = 0; i < known_count; i++) known[i] = 1e-3 * (double)(i % 1000);
        history_import(s->past, known);
        for (int b = 0; b < a->blocks; b++) all[b] = b;
        summation_nodes(a->blocks, all, a->blocks, s->node);
    }
    free_all(known, all);
    return status;
}

struct machine_limits {
    evn_units *units;
    double peak; /* flop/s in double precision */
    double base; /* GFlop/s that others are compared with */
};

/* A call's shortest time, and beside it the most that the machine gave: each in turn, since other
 * programs may fill caches and slow the clock between two of them. */
struct turns {
    double seconds, bandwidth, peak;
};
static struct turns take_turns(struct sum *sum, evn_units *units, double bytes) {
    struct turns t = {.seconds = 1e9};
    for (int turn = 0; turn < 2; turn++) {
        const double seconds = fastest_during(sum_all, sum, 3, 0.1);
        const double bandwidth = read_bandwidth(bytes), peak = probe_fma(units);
        t.seconds = seconds < t.seconds ? seconds : t.seconds;
        t.bandwidth = bandwidth > t.bandwidth ? bandwidth : t.bandwidth;
        t.peak = peak > t.peak ? peak : t.peak;
    }
    return t;
}

static evn_status measure(const struct slices *s, const struct layout_options *o, const char *name,
                          const struct machine_limits *limits) {
    struct layout *a;
    struct sum sum;
    evn_status status = layout_open(&a, s, o);
    if (status) return status;
    status = sum_open(&sum, a, o);
    if (!status) {
        const struct turns turns = take_turns(&sum, limits->units, a->bytes);
        const double seconds = turns.seconds;
        const double flop = 2.0 * o->group * (double)a->nnz;
        const double peak = turns.peak * (o->single ? 2 : 1);
        /* what row-vectors without padding would allow: their values, 3 bytes about each */
        const double bytes =
            (double)a->nnz * (o->single ? 4 : 8) + 3.0 * (double)a->columns * (double)a->rows;
        const double memory = turns.bandwidth * flop / bytes,
                     allowed = memory < peak ? memory : peak;
        printf(
            "  %-12s %-6s %3d  %-6s  %8.4f %6.1f  %8.2f %8.2f  %6.1f %%  %-6s %5.1f %% %7.1f%s\n",
            name, o->single ? "float" : "double", o->group, place_of(a->bytes),
            1e3 * seconds / o->group, 100 * (double)a->nnz / (double)a->values,
            1e-9 * flop / seconds, 1e-9 * allowed, 100 * flop / seconds / allowed,
            memory < peak ? place_of(a->bytes) : "FMA", 100 * flop / seconds / peak,
            1e-9 * flop / seconds / limits->base, flop / seconds > allowed ? " *" : "");
        fflush(stdout);
    }
    sum_close(&sum);
    layout_close(a);
    return status;
}

static void print_product(const char *name, size_t values, double rate, double base) {
    printf("  %-12s %-6s %3d  %6s  %8.4f %6s  %8.2f %36s %7.2f\n", name, "double", 1, "",
           2e-6 * (double)values / rate, "", rate, "", rate / base);
}

/* The products that the layouts are compared with, and the head of the table. */
static void print_base(const struct slices *s, const char *mesh, struct sparse *sparse,
                       struct by_row *by_row, struct machine_limits *limits) {
    const double plain = 2e-9 * (double)sparse->nnz / fastest(sparse_multiply, sparse, 3);
    const double row = 2e-9 * (double)sparse->nnz / fastest(by_row_multiply, by_row, 3);
    const double eigen = eigen_rate(sparse);
    limits->base = eigen > 0 ? eigen : plain;
    printf("\nThe summation on one core: %s, %d vertices, %.4g values, row-vectors of %.2f, at "
           "most %d\n",
           mesh, s->columns, (double)s->nnz, (double)s->nnz / s->columns / s->columns, s->longest);
    printf("multiply-adds on registers: %.1f GFlop/s in double, twice that in float\n\n",
           1e-9 * limits->peak);
    printf("  %-12s %-6s %3s  %-6s  %8s %6s  %8s %8s  %8s  %-6s %7s %7s\n", "layout", "", "n_g",
           "in", "ms/step", "fill %", "GFlop/s", "allowed", "of it", "by", "of peak", "x CSR");
    print_product("CSR, plain", sparse->nnz, plain, limits->base);
    if (eigen > 0) print_product("CSR, Eigen", sparse->nnz, eigen, limits->base);
    print_product("by row", sparse->nnz, row, limits->base);
}

static evn_status study(const struct slices *s, const char *mesh) {
    static const struct {
        const char *name;
        enum layout_kind kind;
        int br;
    } layout[] = {{"rows", LAYOUT_ROWS, 0},
                  {"contiguous", LAYOUT_CONTIGUOUS, 0},
                  {"full:32x..", LAYOUT_FULL, 32}};
    evn_machine *machine;
    evn_units *units;
    evn_status status = evn_machine_open(&machine);
    if (status) return status;
    status = evn_units_open(&units, machine, "1:CPU:1", NULL, EVN_STAY_BOUND);
    if (status) {
        evn_machine_close(machine);
        return status;
    }
    struct sparse sparse;
    struct machine_limits limits = {.units = units};
    for (int i = 0; i < 4; i++) { /* others may slow the clock: the best of several */
        const double peak = probe_fma(units);
        if (peak > limits.peak) limits.peak = peak;
    }
    struct by_row by_row = {0};
    status = sparse_open(&sparse, s);
    if (!status) status = by_row_open(&by_row, s, sparse.x);
    if (!status) print_base(s, mesh, &sparse, &by_row, &limits);
    by_row_close(&by_row);
    sparse_close(&sparse);
    for (size_t l = 0; l < sizeof layout / sizeof *layout; l++)
        for (int single = 0; single < 2; single++)
            for (int group = 1; !status && group <= 16; group *= 2) {
                const struct layout_options o = {.kind = layout[l].kind,
                                                 .br = layout[l].br,
                                                 .bc = (s->longest + 15) / 16 * 16,
                                                 .single = single,
                                                 .group = group};
                status = measure(s, &o, layout[l].name, &limits);
            }
    if (!status)
        printf("\nGFlop/s count values that are no padding. allowed: the smaller of multiply-adds "
               "on registers\nand of reading at the speed measured for as many bytes, times "
               "operations a byte of exact\nrow-vectors, both measured in turn with the row; by: "
               "which of them, FMA or where the values lie. *: more than that,\nas part of the "
               "values lies in a nearer cache, or others filled the caches meanwhile. Times are "
               "processor time. x CSR: over the best\n"
               "of the sparse products above, which go by fronts, a matrix M_k at a time; by row: "
               "a sum at a time; the layouts go by slices\n");
    evn_units_close(units);
    evn_machine_close(machine);
    return status;
}

/* ---- Table 4 ---- */

/* The ranges of `s`, some columns under the numbering `before`, with rows in the mesh's present
 * numbering. */
static int renumbered(const struct slices *s, const struct mesh *mesh, const int *before,
                      struct slices *out) {
    const size_t n = (size_t)s->rows, all = n * (size_t)s->columns;
    int *was = malloc(n * sizeof *was);
    int max = 0;
    for (size_t v = 0; v < n; v++) max = before[v] > max ? before[v] : max;
    int *place = calloc((size_t)max + 1, sizeof *place);
    *out = *s;
    out->first = malloc(all * sizeof *out->first);
    out->count = malloc(all * sizeof *out->count);
    const int ok = was && place && out->first && out->count;
    if (ok) {
        for (size_t v = 0; v < n; v++) place[before[v]] = (int)v;
        for (size_t v = 0; v < n; v++) was[v] = place[mesh->number[v]];
        for (size_t j = 0; j < (size_t)s->columns; j++)
            for (size_t i = 0; i < n; i++) {
                out->first[j * n + i] = s->first[j * n + (size_t)was[i]];
                out->count[j * n + i] = s->count[j * n + (size_t)was[i]];
            }
    }
    free_all(was, place);
    return !ok;
}

/* Rows and values. The paper's are those of 32 values and more, which it names the other way round:
 * its 128x16 has 7.5 % of fill, what 9.5 values of 128 are. */
static const int size[][2] = {{16, 16},  {16, 32},  {32, 32},  {64, 32},  {128, 32},
                              {16, 64},  {32, 64},  {64, 64},  {128, 64}, {16, 128},
                              {32, 128}, {64, 128}, {128, 128}};
enum { ORDERS = 4, SIZES = sizeof size / sizeof *size };

/* Operations a second on blocks of a size, those on padding included, with groups of the paper's 8
 * steps in double: what its estimate E is made of. */
static evn_status block_rate(const struct slices *s, const int br_bc[2], double *rate) {
    const struct layout_options o = {
        .kind = LAYOUT_FULL, .br = br_bc[0], .bc = br_bc[1], .group = 8};
    struct layout *a;
    struct sum sum;
    evn_status status = layout_open(&a, s, &o);
    if (status) return status;
    status = sum_open(&sum, a, &o);
    if (!status) *rate = 2.0 * o.group * (double)a->values / fastest_during(sum_all, &sum, 3, 0.05);
    sum_close(&sum);
    layout_close(a);
    return status;
}

/* On a sphere of 162 vertices, whatever the mesh: the blocks of a large one fill the memory. */
static evn_status block_rates(double *rate) {
    struct mesh *mesh = NULL;
    struct slices *s = NULL;
    evn_status status = mesh_open(&mesh, "sphere:2");
    if (!status) status = mesh_renumber(mesh, NUMBERING_HILBERT);
    if (!status) {
        const struct slices_options o = {
            .problem = TDBEM_RIGID, .eta = 0.5, .delta = 0.5 * mesh->h_mean};
        status = slices_generate(&s, mesh, &o, 1);
    }
    for (int b = 0; !status && b < SIZES; b++) status = block_rate(s, size[b], &rate[b]);
    slices_close(s);
    mesh_close(mesh);
    return status;
}

static void print_table(const struct slices *s, const char *name,
                        const struct layout_fill fill[ORDERS][SIZES], const double *score,
                        const double *least, const double *rate) {
    static const char *const orders[] = {"none", "Morton", "Hilbert", "tour"};
    const double all = (double)s->rows / s->columns;
    printf("\nFull-Blocking of %s, %d vertices", name, s->rows);
    if (s->columns < s->rows) printf(", from %d of its columns", s->columns);
    printf(": blocks of rows x values, share of\nvalues that are no padding, and E, ms of a step\n"
           "K_max %d, %.4g values, row-vectors of %.3f, at most %d\n\n  %-9s %8s",
           s->kmax, all * (double)s->nnz, (double)s->nnz / s->columns / s->rows, s->longest,
           "block", "GFlop/s");
    for (int o = 0; o < ORDERS; o++) printf("  %9s blocks  fill %%       E", orders[o]);
    printf("\n");
    for (int b = 0; b < SIZES; b++) {
        char text[16];
        snprintf(text, sizeof text, "%dx%d", size[b][0], size[b][1]);
        const int narrow = size[b][1] < s->longest;
        printf("  %-9s %8.2f", text, 1e-9 * rate[b]);
        for (int o = 0; o < ORDERS; o++) {
            const double blocks = rint(all * (double)fill[o][b].blocks),
                         values = blocks * size[b][0] * size[b][1];
            if (narrow)
                printf("  %16s  %6s  %6s", "too narrow", "", "");
            else
                printf("  %16.0f  %6.2f  %6.3f", blocks, 100 * fill[o][b].fill,
                       1e3 * 2 * values / rate[b]);
        }
        printf("\n");
    }
    printf("  %-9s %8s", "mixed", "");
    for (int o = 0; o < ORDERS; o++)
        printf("  %16s  %6s  %6.3f", "", "", 1e3 * (double)s->rows * least[o]);
    printf("\n  %-9s %8s", "score", "");
    for (int o = 0; o < ORDERS; o++) printf("  %16.1f  %6s  %6s", score[o], "", "");
    printf("\n\nE: the paper's estimate, operations on all values of the blocks, padding included, "
           "at the speed of blocks\nof this size measured on one core (GFlop/s; double, n_g 8, of "
           "sphere:2). mixed: each block of the size that makes E least, by dynamic "
           "programming.\nscore: mean over slices and neighbouring rows of (columns that both "
           "cover)^2. tour: --order tsp\n");
}

/* Ranges of at most MOST columns, evenly spread, and all rows: of a small mesh all. */
static evn_status sample(struct slices **out, const struct mesh *mesh, double delta) {
    enum { MOST = 1024 };
    struct slices_maker *maker = NULL;
    const struct slices_options o = {.problem = TDBEM_RIGID, .eta = 0.5, .delta = delta};
    const int n = mesh->vertices, count = n < MOST ? n : MOST;
    int column[MOST];
    for (int c = 0; c < count; c++) column[c] = (int)((2LL * c + 1) * n / (2 * count));
    evn_status status = slices_maker_prepare(&maker, mesh, &o, (int)sysconf(_SC_NPROCESSORS_ONLN));
    if (!status) status = slices_maker_sample(out, maker, column, count);
    slices_maker_close(maker);
    return status;
}

/* Seconds of a slice whose blocks may be of all sizes; of some columns. */
static double least_time(const struct slices *s, const double *rate) {
    struct layout_size of[SIZES];
    for (int b = 0; b < SIZES; b++) {
        const int br = size[b][0], bc = size[b][1];
        of[b] = (struct layout_size){br, bc, bc < s->longest ? INFINITY : 2.0 * br * bc / rate[b]};
    }
    return layout_full_least(s, s->rows, s->columns / 16 + 1, SIZES, of);
}

static evn_status table(struct mesh *mesh, double delta, const char *name) {
    static const enum numbering order[] = {NUMBERING_NONE, NUMBERING_MORTON, NUMBERING_HILBERT,
                                           NUMBERING_TSP};
    struct layout_fill fill[ORDERS][SIZES];
    double score[ORDERS], least[ORDERS], rate[SIZES] = {0};
    struct slices *s = NULL;
    evn_status status = block_rates(rate);
    if (!status) status = sample(&s, mesh, delta);
    if (status) return status;
    int *before = malloc(sizeof *before * (size_t)mesh->vertices);
    if (!before) status = evn_fail(EVN_MEMORY, "bench td-bem: not enough memory");
    if (before) memcpy(before, mesh->number, sizeof *before * (size_t)mesh->vertices);
    for (int o = 0; !status && o < ORDERS; o++) {
        struct slices other = {0};
        status = mesh_renumber(mesh, order[o]);
        if (!status && renumbered(s, mesh, before, &other))
            status = evn_fail(EVN_MEMORY, "bench td-bem: not enough memory");
        if (!status) {
            score[o] = slices_score(&other, other.rows);
            least[o] = least_time(&other, rate);
            for (int b = 0; b < SIZES; b++)
                fill[o][b] = layout_full_fill(&other, other.rows, size[b][0], size[b][1]);
        }
        free_all(other.first, other.count);
    }
    free(before);
    if (!status) print_table(s, name, fill, score, least, rate);
    slices_close(s);
    return status;
}

struct request {
    const char *mesh, *ratio, *devices;
    int only_table, solvers;
};

#define OPTIONS_OF struct request
static const struct option options[] = {
    {"mesh", "FILE", "surface (default sphere:3)", OPTION_TEXT(mesh)},
    {"delta-ratio", "X", "c dt over the mean edge (default 0.5)", OPTION_TEXT(ratio)},
    {"solvers", NULL, "solvers of M_0 side by side, and nothing else", OPTION_FLAG(solvers)},
    {"devices", "SPEC", "with --solvers: where a device comes from (default cuda)",
     OPTION_TEXT(devices)},
    {"table", NULL, "only the table of Full-Blocking's blocks", OPTION_FLAG(only_table)},
    {0},
};

static const struct option_rule rules[] = {
    {"devices", OPTION_NEEDS, "solvers", "one of which has a device"},
    {"solvers", OPTION_EXCLUDES, "table", "it prints solvers side by side, and nothing else"},
    {0},
};

int tdbem_study(int argc, char **argv) {
    struct request request = {.mesh = "sphere:3", .ratio = "0.5"};
    int code = options_read_plain(
        "bench td-bem",
        "usage: evener bench td-bem [options]\n\n"
        "The summation stage on one core, by layout, precision and steps of a group, and the\n"
        "number of blocks by numbering; or solvers of M_0.",
        (struct option_set){options, &request, rules}, argc, argv);
    if (code) return code < 0 ? EXIT_DONE : code;
    const char *name = request.mesh, *ratio = request.ratio, *devices = request.devices;
    const int solvers = request.solvers;
    char why[256];
    int count;
    if (devices && evn_devices_count(devices, &count, why, sizeof why)) return give_up(EVN_USAGE);
    double x;
    if (evn_read_real(ratio, (evn_bounds){0, 1e6, 1}, &x))
        return complain("--delta-ratio %s: %s", ratio, evn_message());
    struct mesh *mesh = NULL;
    struct slices *s = NULL;
    evn_status status = mesh_open(&mesh, name);
    if (status == EVN_SYSTEM) status = EVN_USAGE; /* a file that cannot be read is bad input */
    if (!status) status = mesh_renumber(mesh, NUMBERING_HILBERT);
    if (!status) {
        const struct slices_options o = {
            .problem = TDBEM_RIGID, .eta = 0.5, .delta = x * mesh->h_mean};
        if (!request.only_table)
            status = slices_generate(&s, mesh, &o, (int)sysconf(_SC_NPROCESSORS_ONLN));
    }
    if (!status && solvers) status = bench_solvers(s, name, devices);
    if (!status && !solvers && !request.only_table) status = study(s, name);
    if (!status && !solvers) status = table(mesh, x * mesh->h_mean, name);
    slices_close(s);
    mesh_close(mesh);
    return status ? give_up(status) : EXIT_DONE;
}
