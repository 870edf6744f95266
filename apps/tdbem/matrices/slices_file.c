/* Matrices on disk: a header that says exactly what they were made from, the ranges of each column
 * (first of all rows, then count of all rows), the values, and a checksum of all.
 *
 * A checksum shows damage, and no intent: all that is read is compared with what it leads to, the
 * ranges with the largest k that the body can have, their counts with the length of the file. */
#include "tdbem/matrices/slices_file.h"
#include "tdbem/matrices/slices_inside.h"
#include <errno.h>
#include <evener/output.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Raise it when the values' meaning or the file's layout changes. */
enum { VERSION = 2 };

struct header {
    char magic[8];
    uint32_t version, order; /* order tells the byte order */
    int32_t columns, rows, problem, quad, rule, points;
    double delta, eta;
    uint64_t mesh, points_hash;
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

evn_status slices_writer_open(struct slices_writer **out, const struct mesh *mesh,
                              const struct slices_options *options, const char *file) {
    *out = NULL;
    struct slices_writer *w = calloc(1, sizeof *w);
    if (!w) return evn_fail(EVN_MEMORY, "matrices: no memory");
    w->sum = (struct sum){{1, 2, 3, 4}, 0};
    const struct header h = header_of(mesh, options);
    evn_status status = evn_output_open(&w->file, "matrices", file);
    if (!status) put(w, &h, sizeof h);
    if (!status) status = check(w);
    if (status)
        slices_writer_close(w);
    else
        *out = w;
    return status;
}
evn_status slices_writer_ranges(struct slices_writer *w, const struct slices *s, int from, int to) {
    const size_t rows = (size_t)s->rows;
    for (int j = from; j < to; j++) {
        put(w, s->first + slices_at(s, j), rows * sizeof *s->first);
        put(w, s->count + slices_at(s, j), rows * sizeof *s->count);
    }
    return check(w);
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
    evn_status status = slices_writer_open(&w, mesh, options, file);
    if (status) return status;
    status = slices_writer_ranges(w, s, 0, s->columns);
    if (!status) status = slices_writer_put(w, s);
    if (!status) status = slices_writer_commit(w);
    slices_writer_close(w);
    return status;
}

/* ---- reading ---- */

struct slices_reader {
    struct slices *s;
    FILE *file;
    char *path;
    size_t bytes; /* of the file */
    struct sum sum;
    int vertices, reach; /* reach: largest k that a point's row can have */
    int known;           /* columns whose ranges have been read and summed up */
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

/* The largest k of a point's row. */
static int points_reach(const struct mesh *mesh, const struct slices_options *o) {
    double far2 = 0;
    for (int p = 0; p < o->points; p++)
        for (int v = 0; v < mesh->vertices; v++) {
            double d2 = 0;
            for (int c = 0; c < 3; c++) {
                const double d = o->point[p][c] - mesh->x[v][c];
                d2 += d * d;
            }
            far2 = fmax(far2, d2);
        }
    return (int)fmin(sqrt(far2) / o->delta + 2, UINT16_MAX);
}

static evn_status read_header(struct slices_reader *in, const struct header *want,
                              const struct mesh *mesh, const struct slices_options *o) {
    struct header h;
    struct slices *s = in->s;
    get(in, &h, sizeof h);
    if (in->failed) return evn_fail(EVN_USAGE, "matrices: %s is not a file of matrices", in->path);
    evn_status status = compare(&h, want, in->path);
    if (!status) status = ranges_kmax(&s->kmax, mesh, o);
    if (status) return status;
    s->columns = h.columns;
    s->rows = h.rows;
    s->kmax_points = -1;
    s->problem = (enum tdbem_problem)h.problem;
    s->delta = h.delta;
    s->eta = h.eta;
    s->quad = h.quad;
    s->rule = h.rule;
    in->vertices = mesh->vertices;
    in->reach = points_reach(mesh, o);
    s->begin = calloc((size_t)s->columns + 1, sizeof *s->begin);
    return s->begin ? EVN_OK
                    : evn_fail(EVN_MEMORY, "matrices: no memory for %d columns", s->columns);
}

static evn_status open_file(struct slices_reader *in) {
    struct stat is;
    in->file = fopen(in->path, "rb");
    if (!in->file || fstat(fileno(in->file), &is))
        return evn_fail(EVN_SYSTEM, "matrices: %s: %s", in->path, strerror(errno));
    if (!S_ISREG(is.st_mode))
        return evn_fail(EVN_USAGE, "matrices: %s is no regular file, expected one of matrices",
                        in->path);
    in->bytes = (size_t)is.st_size;
    return EVN_OK;
}

evn_status slices_reader_prepare(struct slices_reader **out, const struct mesh *mesh,
                                 const struct slices_options *options, const char *file) {
    *out = NULL;
    struct slices_reader *in = calloc(1, sizeof *in);
    if (!in) return evn_fail(EVN_MEMORY, "matrices: no memory");
    in->sum = (struct sum){{1, 2, 3, 4}, 0};
    in->s = calloc(1, sizeof *in->s);
    in->path = strdup(file);
    const struct header want = header_of(mesh, options);
    evn_status status = in->s && in->path ? EVN_OK : evn_fail(EVN_MEMORY, "matrices: no memory");
    if (!status) status = open_file(in);
    if (!status) status = read_header(in, &want, mesh, options);
    if (status) {
        slices_reader_close(in);
        return status;
    }
    *out = in;
    return EVN_OK;
}

evn_status slices_reader_open(struct slices_reader **out, const struct mesh *mesh,
                              const struct slices_options *options, const char *file) {
    evn_status status = slices_reader_prepare(out, mesh, options, file);
    if (!status) status = slices_reader_ranges(*out, 0, (*out)->s->columns);
    if (!status) return EVN_OK;
    slices_reader_close(*out);
    *out = NULL;
    return status;
}

const struct slices *slices_reader_slices(const struct slices_reader *in) { return in->s; }

/* Bytes of the file before column j's ranges, or before its values. */
static size_t ranges_begin(const struct slices *s, int j) {
    return sizeof(struct header) + 3 * (size_t)s->rows * (size_t)j;
}
static size_t values_begin(const struct slices *s, int j) {
    return ranges_begin(s, s->columns) + s->begin[j] * sizeof *s->value;
}

static int ranges_within(const struct slices_reader *in, int j) {
    const struct slices *s = in->s;
    for (int i = 0; i < s->rows; i++) {
        const size_t at = slices_at(s, j) + (size_t)i;
        if (s->first[at] + s->count[at] - 1 > (i < in->vertices ? s->kmax : in->reach)) return 0;
    }
    return 1;
}

/* Column j's ranges from where the file is. The first time they are summed up; later they have to
 * lead to as many values as then. */
static void get_ranges(struct slices_reader *in, int j) {
    struct slices *s = in->s;
    const size_t rows = (size_t)s->rows, at = slices_at(s, j);
    const struct sum sum = in->sum;
    get(in, s->first + at, rows * sizeof *s->first);
    get(in, s->count + at, rows * sizeof *s->count);
    if (in->failed || !ranges_within(in, j)) {
        in->failed = 1;
    } else if (j < in->known) {
        size_t values = 0;
        for (size_t i = 0; i < rows; i++) values += s->count[at + i];
        in->failed = values != s->begin[j + 1] - s->begin[j];
        in->sum = sum;
    }
}

evn_status slices_reader_ranges(struct slices_reader *in, int from, int to) {
    struct slices *s = in->s;
    if (from < to && from >= s->low && to <= s->high) return EVN_OK;
    if (from > in->known) return evn_fail(EVN_USAGE, "matrices: ranges are read in order");
    /* so that a file that is too short is no reason to ask for memory */
    if (in->bytes < ranges_begin(s, s->columns)) return damaged(in->path);
    evn_status status = ranges_room(s, from, to);
    if (status) return status;
    in->failed |= fseeko(in->file, (off_t)ranges_begin(s, from), SEEK_SET) != 0;
    for (int j = from; !in->failed && j < to; j++) get_ranges(in, j);
    if (in->failed) return damaged(in->path);
    if (to <= in->known) return EVN_OK;
    ranges_measure(s, in->known, in->vertices);
    in->known = to;
    const size_t all = values_begin(s, s->columns) + sizeof(uint64_t);
    return to == s->columns && in->bytes != all ? damaged(in->path) : EVN_OK;
}

evn_status slices_reader_next(struct slices_reader *in, int to) {
    struct slices *s = in->s;
    if (in->known < s->columns)
        return evn_fail(EVN_USAGE, "matrices: not all ranges have been read");
    free(s->value);
    s->value = NULL;
    s->from = s->to;
    s->to = to;
    evn_status status = slices_reader_ranges(in, s->from, to);
    if (status) return status;
    const size_t values = s->begin[to] - s->begin[s->from];
    s->value = malloc((values + 8) * sizeof *s->value);
    if (!s->value) return evn_fail(EVN_MEMORY, "matrices: no memory for %zu values", values);
    in->failed |= fseeko(in->file, (off_t)values_begin(s, s->from), SEEK_SET) != 0;
    double *value = s->value;
    for (int j = s->from; j < to; j++) { /* summed while it is in the cache */
        get(in, value, (s->begin[j + 1] - s->begin[j]) * sizeof *value);
        value += s->begin[j + 1] - s->begin[j];
    }
    if (!in->failed && to < s->columns) return EVN_OK;
    uint64_t sum = sum_end(&in->sum), kept = 0;
    get(in, &kept, sizeof kept);
    return in->failed || kept != sum ? damaged(in->path) : EVN_OK;
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
