/* Matrices on disk: a header that says exactly what they were made from, the ranges, the values,
 * and a checksum of all. */
#include "tdbem/matrices/slices_file.h"
#include <errno.h>
#include <evener/output.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Raise it when the values' meaning or the file's layout changes. */
enum { VERSION = 1 };

struct header {
    char magic[8];
    uint32_t version, order; /* order tells the byte order */
    int32_t columns, rows, kmax, kmax_points, longest, problem, quad, rule, points, unused;
    double delta, eta;
    uint64_t mesh, points_hash, values, nnz;
};

/* Four chains at once, so that it is as fast as memory; any damaged 8 bytes change it. */
struct sum {
    uint64_t lane[4];
    size_t count; /* bytes so far */
};

static void sum_word(struct sum *s, size_t word, uint64_t value) {
    uint64_t *lane = &s->lane[word & 3];
    *lane = (*lane ^ value) * 0x9e3779b97f4a7c15u;
    *lane ^= *lane >> 32;
}

static void sum_bytes(struct sum *s, const void *data, size_t bytes) {
    const unsigned char *p = data;
    size_t words = bytes / 8;
    for (size_t w = 0; w < words; w++) {
        uint64_t value;
        memcpy(&value, p + 8 * w, sizeof value);
        sum_word(s, w, value);
    }
    for (size_t i = 8 * words; i < bytes; i++) sum_word(s, i, p[i] + 256u);
    s->count += bytes;
}

static uint64_t sum_end(const struct sum *s) {
    uint64_t h = s->count;
    for (int l = 0; l < 4; l++) h = (h ^ s->lane[l]) * 0xff51afd7ed558ccdu;
    return h ^ h >> 31;
}

static uint64_t hash_points(const struct slices_options *o) {
    struct sum s = {{1, 2, 3, 4}, 0};
    sum_bytes(&s, o->point, (size_t)o->points * sizeof *o->point);
    return o->points ? sum_end(&s) : 0;
}

static struct header header_of(const struct mesh *mesh, const struct slices_options *o) {
    struct header h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, "tdbem-M", 8);
    h.version = VERSION;
    h.order = 0x01020304;
    h.columns = mesh->vertices;
    h.rows = mesh->vertices + o->points;
    h.problem = (int32_t)o->problem;
    h.quad = o->quad;
    h.rule = o->rule;
    h.points = o->points;
    h.delta = o->delta;
    h.eta = o->problem == TDBEM_RIGID ? o->eta : 0;
    h.mesh = mesh_hash(mesh);
    h.points_hash = hash_points(o);
    return h;
}

int slices_file_exists(const char *file) { return access(file, F_OK) == 0; }

/* ---- writing ---- */

struct slices_writer {
    evn_output *file;
    struct sum sum;
};

static void put(struct slices_writer *w, const void *data, size_t bytes) {
    FILE *out = evn_output_stream(w->file);
    if (ferror(out)) return;
    sum_bytes(&w->sum, data, bytes);
    if (bytes) fwrite(data, 1, bytes, out);
}

/* What is lost already need not wait until the end to be said. */
static evn_status check(struct slices_writer *w) {
    return ferror(evn_output_stream(w->file)) ? evn_output_commit(w->file) : EVN_OK;
}

evn_status slices_writer_open(struct slices_writer **out, const struct slices *s,
                              const struct mesh *mesh, const struct slices_options *options,
                              const char *file) {
    *out = NULL;
    struct slices_writer *w = calloc(1, sizeof *w);
    if (!w) return evn_fail(EVN_MEMORY, "matrices: no memory");
    w->sum = (struct sum){{1, 2, 3, 4}, 0};
    const size_t entries = (size_t)s->rows * (size_t)s->columns;
    struct header h = header_of(mesh, options);
    h.kmax = s->kmax;
    h.kmax_points = s->kmax_points;
    h.longest = s->longest;
    h.values = s->begin[s->columns];
    h.nnz = s->nnz;
    evn_status status = evn_output_open(&w->file, "matrices", file);
    if (!status)
        status = evn_output_reserve(w->file, sizeof h + sizeof(uint64_t) +
                                                 entries * (sizeof *s->first + sizeof *s->count) +
                                                 h.values * sizeof *s->value);
    if (!status) {
        put(w, &h, sizeof h);
        put(w, s->first, entries * sizeof *s->first);
        put(w, s->count, entries * sizeof *s->count);
        status = check(w);
    }
    if (status)
        slices_writer_close(w);
    else
        *out = w;
    return status;
}

evn_status slices_writer_put(struct slices_writer *w, const struct slices *s) {
    for (int j = s->from; j < s->to; j++) /* in pieces that are still in the cache when summed */
        put(w, slices_column(s, j), (s->begin[j + 1] - s->begin[j]) * sizeof *s->value);
    return check(w);
}

evn_status slices_writer_commit(struct slices_writer *w) {
    const uint64_t sum = sum_end(&w->sum);
    put(w, &sum, sizeof sum);
    return evn_output_commit(w->file);
}

void slices_writer_close(struct slices_writer *w) {
    if (!w) return;
    evn_output_close(w->file);
    free(w);
}

evn_status slices_save(const struct slices *s, const struct mesh *mesh,
                       const struct slices_options *options, const char *file) {
    struct slices_writer *w;
    evn_status status = slices_writer_open(&w, s, mesh, options, file);
    if (status) return status;
    status = slices_writer_put(w, s);
    if (!status) status = slices_writer_commit(w);
    slices_writer_close(w);
    return status;
}

/* ---- reading ---- */

struct slices_reader {
    struct slices *s;
    FILE *file;
    char *path;
    struct sum sum;
    int failed;
};

static void get(struct slices_reader *r, void *data, size_t bytes) {
    if (r->failed) return;
    if (fread(data, 1, bytes, r->file) != bytes)
        r->failed = 1;
    else
        sum_bytes(&r->sum, data, bytes);
}

static evn_status damaged(const char *file) {
    return evn_fail(EVN_USAGE, "matrices: %s is damaged: remove it to generate anew", file);
}

static evn_status compare(const struct header *h, const struct header *want, const char *file) {
    if (memcmp(h->magic, want->magic, sizeof h->magic))
        return evn_fail(EVN_USAGE, "matrices: %s is not a file of matrices", file);
    if (h->order != want->order || h->version != want->version)
        return evn_fail(EVN_USAGE,
                        "matrices: %s is of version %u, expected %u: remove it to generate anew",
                        file, h->version, want->version);
    if (h->mesh != want->mesh || h->columns != want->columns)
        return evn_fail(EVN_USAGE,
                        "matrices: %s is of another mesh or numbering (%d vertices, here %d)", file,
                        h->columns, want->columns);
    if (h->delta != want->delta)
        return evn_fail(EVN_USAGE, "matrices: %s has delta %.17g, here it is %.17g", file, h->delta,
                        want->delta);
    if (h->problem != want->problem)
        return evn_fail(EVN_USAGE, "matrices: %s is of the %s problem, here it is %s", file,
                        h->problem == TDBEM_RIGID ? "rigid" : "soft",
                        want->problem == TDBEM_RIGID ? "rigid" : "soft");
    if (h->eta != want->eta)
        return evn_fail(EVN_USAGE, "matrices: %s has eta %.17g, here it is %.17g", file, h->eta,
                        want->eta);
    if (h->quad != want->quad)
        return evn_fail(EVN_USAGE, "matrices: %s was made with --quad %d, here it is %d", file,
                        h->quad, want->quad);
    if (h->rule != want->rule)
        return evn_fail(EVN_USAGE, "matrices: %s was made with rule %d, here it is %d", file,
                        h->rule, want->rule);
    if (h->points != want->points || h->points_hash != want->points_hash || h->rows != want->rows)
        return evn_fail(EVN_USAGE,
                        "matrices: %s has other observation points (%d of them, here %d)", file,
                        h->points, want->points);
    return EVN_OK;
}

/* the counts lead to exactly as many values as there are */
static int counts_fit(struct slices *s, uint64_t values) {
    size_t at = 0;
    for (int j = 0; j < s->columns; j++) {
        s->begin[j] = at;
        const uint8_t *count = s->count + (size_t)j * (size_t)s->rows;
        for (int i = 0; i < s->rows; i++) at += count[i];
    }
    s->begin[s->columns] = at;
    return at == values;
}

/* All but the values. */
static evn_status read_ranges(struct slices_reader *in, const struct header *want) {
    struct header h;
    struct slices *s = in->s;
    get(in, &h, sizeof h);
    if (in->failed) return evn_fail(EVN_USAGE, "matrices: %s is not a file of matrices", in->path);
    evn_status status = compare(&h, want, in->path);
    if (status) return status;
    s->columns = h.columns;
    s->rows = h.rows;
    s->kmax = h.kmax;
    s->kmax_points = h.kmax_points;
    s->longest = h.longest;
    s->problem = (enum tdbem_problem)h.problem;
    s->delta = h.delta;
    s->eta = h.eta;
    s->quad = h.quad;
    s->rule = h.rule;
    s->nnz = h.nnz;
    const size_t entries = (size_t)s->rows * (size_t)s->columns;
    s->first = malloc(entries * sizeof *s->first);
    s->count = malloc(entries * sizeof *s->count);
    s->begin = malloc(((size_t)s->columns + 1) * sizeof *s->begin);
    if (!s->first || !s->count || !s->begin)
        return evn_fail(EVN_MEMORY, "matrices: no memory for %zu row-vectors", entries);
    get(in, s->first, entries * sizeof *s->first);
    get(in, s->count, entries * sizeof *s->count);
    return in->failed || !counts_fit(s, h.values) ? damaged(in->path) : EVN_OK;
}

evn_status slices_reader_open(struct slices_reader **out, const struct mesh *mesh,
                              const struct slices_options *options, const char *file) {
    *out = NULL;
    struct slices_reader *in = calloc(1, sizeof *in);
    if (!in) return evn_fail(EVN_MEMORY, "matrices: no memory");
    in->sum = (struct sum){{1, 2, 3, 4}, 0};
    in->s = calloc(1, sizeof *in->s);
    in->path = strdup(file);
    const struct header want = header_of(mesh, options);
    evn_status status = in->s && in->path ? EVN_OK : evn_fail(EVN_MEMORY, "matrices: no memory");
    if (!status && !(in->file = fopen(file, "rb")))
        status = evn_fail(EVN_SYSTEM, "matrices: %s: %s", file, strerror(errno));
    if (!status) status = read_ranges(in, &want);
    if (status) {
        slices_reader_close(in);
        return status;
    }
    *out = in;
    return EVN_OK;
}

const struct slices *slices_reader_slices(const struct slices_reader *in) { return in->s; }

evn_status slices_reader_next(struct slices_reader *in, int to) {
    struct slices *s = in->s;
    free(s->value);
    s->from = s->to;
    s->to = to;
    const size_t values = s->begin[to] - s->begin[s->from];
    s->value = malloc((values + 8) * sizeof *s->value);
    if (!s->value) return evn_fail(EVN_MEMORY, "matrices: no memory for %zu values", values);
    double *value = s->value;
    for (int j = s->from; j < to; j++) { /* summed while it is in the cache */
        get(in, value, (s->begin[j + 1] - s->begin[j]) * sizeof *value);
        value += s->begin[j + 1] - s->begin[j];
    }
    if (!in->failed && to < s->columns) return EVN_OK;
    uint64_t sum = sum_end(&in->sum), kept = 0;
    get(in, &kept, sizeof kept);
    return in->failed || kept != sum || fgetc(in->file) != EOF ? damaged(in->path) : EVN_OK;
}

void slices_reader_close(struct slices_reader *in) {
    if (!in) return;
    if (in->file) fclose(in->file);
    slices_close(in->s);
    free(in->path);
    free(in);
}

evn_status slices_load(struct slices **out, const struct mesh *mesh,
                       const struct slices_options *options, const char *file) {
    *out = NULL;
    struct slices_reader *in;
    evn_status status = slices_reader_open(&in, mesh, options, file);
    if (status) return status;
    status = slices_reader_next(in, in->s->columns);
    if (!status) {
        *out = in->s;
        in->s = NULL;
    }
    slices_reader_close(in);
    return status;
}
