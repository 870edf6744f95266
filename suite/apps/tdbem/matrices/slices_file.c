/* Matrices on disk: a header that says exactly what they were made from, the ranges of each column
 * (first of all rows that have one, then count of them), the values, a checksum of each column's
 * values, and one of all that is not values. So columns can be written in any order, by several at
 * a time, and a reader of some of them knows that they are whole.
 *
 * A checksum shows damage, and no intent: all that is read is compared with what it leads to, the
 * ranges with the largest k that the body can have, their counts with the length of the file. */
#include "tdbem/matrices/slices_file.h"
#include "tdbem/matrices/slices_inside.h"
#include "common/checkpoint/checkpoint_io.h"
#include "common/run/free_all.h"
#include <errno.h>
#include <evener/output.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Raise it when the values' meaning or the file's layout changes. */
enum { VERSION = 7 };

struct header {
    char magic[8];
    uint32_t version, order; /* order tells the byte order */
    int32_t columns, rows, problem, quad, rule, points, triangles, axes;
    double delta, eta, plane[3];          /* axes: that have planes, as bits */
    uint64_t mesh, places;                /* of vertices and triangles in their order; of places */
    uint64_t points_hash, surfaces, near; /* near: of near vertices' cells; 0: of all pairs */
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

/* A checksum before the first byte. */
static const struct sum sum_begin = {{1, 2, 3, 4}, 0};

static uint64_t sum_of(const void *data, size_t bytes) {
    struct sum s = sum_begin;
    sum_bytes(&s, data, bytes);
    return sum_end(&s);
}

/* Of admittances, where there are any. */
static uint64_t hash_surfaces(const struct slices_options *o, int triangles) {
    struct sum s = sum_begin;
    if (o->beta) sum_bytes(&s, o->beta, (size_t)triangles * sizeof *o->beta);
    if (o->filters) sum_bytes(&s, o->filter, (size_t)triangles * sizeof *o->filter);
    return o->beta ? sum_end(&s) : 0;
}

/* Of the vertices, in any order. */
static uint64_t hash_places(const struct mesh *m) {
    uint64_t sum = 0;
    for (int v = 0; v < m->vertices; v++) {
        const double x[3] = {m->x[v][0] + 0.0, m->x[v][1] + 0.0, m->x[v][2] + 0.0}; /* no -0 */
        sum += sum_of(x, sizeof x);
    }
    return sum;
}

static struct header header_of(const struct mesh *mesh, const struct slices_options *o) {
    struct header h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, "tdbem-M", 8);
    h.version = VERSION;
    h.order = 0x01020304;
    h.columns = mesh->vertices;
    h.rows = slices_rows(mesh, o);
    h.problem = (int32_t)o->problem;
    h.quad = o->quad;
    h.rule = o->rule;
    h.points = o->points;
    h.delta = o->delta;
    h.eta = o->eta;
    h.mesh = mesh_hash(mesh);
    h.places = hash_places(mesh);
    h.triangles = mesh->triangles;
    h.axes = mesh->mirror.axes;
    for (int a = 0; a < 3; a++)
        if (h.axes >> a & 1) h.plane[a] = mesh->mirror.at[a];
    h.points_hash = sum_of(o->point, (size_t)o->points * sizeof *o->point);
    h.surfaces = hash_surfaces(o, mesh->triangles);
    if (o->near) h.near = sum_of(o->near->place, (size_t)mesh->vertices * sizeof *o->near->place);
    return h;
}

int slices_file_exists(const char *file) { return access(file, F_OK) == 0; }

/* Bytes of the file before column j's ranges, before its values, and before its checksum. */
static size_t ranges_begin(const struct slices *s, int j) {
    return sizeof(struct header) + 3 * slices_before(s, j);
}
static size_t values_begin(const struct slices *s, int j) {
    return ranges_begin(s, s->columns) + s->begin[j] * sizeof *s->value;
}
static size_t sums_begin(const struct slices *s) { return values_begin(s, s->columns); }

size_t slices_file_begin(const struct slices *s, int j) { return values_begin(s, j); }
size_t slices_file_size(const struct slices *s) {
    return sums_begin(s) + ((size_t)s->columns + 1) * sizeof(uint64_t);
}

/* ---- writing ---- */

struct slices_writer {
    evn_output *file; /* NULL: another process has it */
    char *path;
    int fd;           /* that all goes to in its place; -1: to the stream, one after another */
    int error;        /* errno of what could not be written there */
    size_t at;        /* place of the next part of header and ranges */
    struct sum sum;   /* checksum of header and ranges */
    uint64_t *column; /* checksum of each column */
    int columns;
};

static void put_at(struct slices_writer *w, const void *data, size_t bytes, size_t at) {
    if (w->fd < 0) {
        FILE *out = evn_output_stream(w->file);
        if (bytes && !ferror(out)) fwrite(data, 1, bytes, out);
    } else if (!w->error) {
        w->error = kept_write(w->fd, data, bytes, at);
    }
}

/* Header and ranges, and then what says that all is there. */
static void put(struct slices_writer *w, const void *data, size_t bytes) {
    sum_bytes(&w->sum, data, bytes);
    put_at(w, data, bytes, w->at);
    w->at += bytes;
}

/* Reports a failed write at once, not only at the end. */
static evn_status check(struct slices_writer *w) {
    if (w->error)
        return evn_fail(EVN_SYSTEM, "matrices: %s could not be written: %s", w->path,
                        strerror(w->error));
    return w->fd < 0 && ferror(evn_output_stream(w->file)) ? evn_output_commit(w->file) : EVN_OK;
}

static evn_status writer_begin(struct slices_writer **out, const char *file, int columns) {
    struct slices_writer *w = *out = calloc(1, sizeof *w);
    if (!w) return evn_fail(EVN_MEMORY, "matrices: no memory");
    w->fd = -1;
    w->columns = columns;
    w->sum = sum_begin;
    w->path = strdup(file);
    w->column = calloc((size_t)columns, sizeof *w->column);
    return w->path && w->column
               ? EVN_OK
               : evn_fail(EVN_MEMORY, "matrices: no memory for %d columns", columns);
}

/* By descriptor it has to be a file. */
static evn_status writer_open(struct slices_writer *w, const struct mesh *mesh,
                              const struct slices_options *options, int places) {
    const struct header h = header_of(mesh, options);
    evn_status status = evn_output_open(&w->file, "matrices", w->path);
    if (status) return status;
    if (places) w->fd = evn_output_descriptor(w->file);
    if (places && w->fd < 0)
        return evn_fail(EVN_USAGE, "matrices: %s is no regular file, expected one of matrices",
                        w->path);
    put(w, &h, sizeof h);
    return check(w);
}

evn_status slices_writer_open(struct slices_writer **out, const struct mesh *mesh,
                              const struct slices_options *options, const char *file, int places) {
    evn_status status = writer_begin(out, file, mesh->vertices);
    if (!status) status = writer_open(*out, mesh, options, places);
    if (!status) return EVN_OK;
    slices_writer_close(*out);
    *out = NULL;
    return status;
}

evn_status slices_writer_into(struct slices_writer **out, int columns, const char *file, int fd) {
    evn_status status = writer_begin(out, file, columns);
    if (!status) (*out)->fd = fd;
    if (!status) return EVN_OK;
    slices_writer_close(*out);
    *out = NULL;
    return status;
}

int slices_writer_descriptor(const struct slices_writer *w) { return w->fd; }
uint64_t *slices_writer_sums(struct slices_writer *w) { return w->column; }

evn_status slices_writer_ranges(struct slices_writer *w, const struct slices *s, int from, int to) {
    for (int j = from; j < to; j++) {
        const size_t rows = slices_before(s, j + 1) - slices_before(s, j);
        put(w, s->first + slices_at(s, j), rows * sizeof *s->first);
        put(w, s->count + slices_at(s, j), rows * sizeof *s->count);
    }
    return check(w);
}

evn_status slices_writer_put(struct slices_writer *w, const struct slices *s) {
    for (int j = s->from; j < s->to; j++) { /* in pieces that are still in the cache when summed */
        const size_t bytes = (s->begin[j + 1] - s->begin[j]) * sizeof *s->value;
        w->column[j] = sum_of(slices_column(s, j), bytes);
        put_at(w, slices_column(s, j), bytes, values_begin(s, j));
    }
    return check(w);
}

evn_status slices_writer_commit(struct slices_writer *w, const struct slices *s) {
    w->at = sums_begin(s);
    put(w, w->column, (size_t)w->columns * sizeof *w->column);
    const uint64_t sum = sum_end(&w->sum);
    put(w, &sum, sizeof sum);
    evn_status status = check(w);
    return status ? status : evn_output_commit(w->file);
}

void slices_writer_close(struct slices_writer *w) {
    if (!w) return;
    evn_output_close(w->file);
    free_all(w->path, w->column, w);
}

evn_status slices_save(const struct slices *s, const struct mesh *mesh,
                       const struct slices_options *options, const char *file) {
    struct slices_writer *w;
    evn_status status = slices_writer_open(&w, mesh, options, file, 0);
    if (status) return status;
    status = slices_writer_ranges(w, s, 0, s->columns);
    if (!status) status = slices_writer_put(w, s);
    if (!status) status = slices_writer_commit(w, s);
    slices_writer_close(w);
    return status;
}

/* ---- reading ---- */

struct slices_reader {
    struct slices *s;
    FILE *file;
    char *path;
    size_t bytes;        /* bytes of the file */
    struct sum sum;      /* checksum of header and ranges */
    uint64_t *column;    /* checksum of each column; NULL until they have been read */
    uint64_t total;      /* then: of all but the values */
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

static void name_planes(char *out, size_t size, const struct header *h) {
    int n = snprintf(out, size, "%s", h->axes ? "planes" : "no planes");
    for (int a = 0; a < 3; a++)
        if (h->axes >> a & 1)
            n += snprintf(out + n, size - (size_t)n, " %c=%.9g", "xyz"[a], h -> plane[a]);
}

static evn_status compare_body(const struct header *h, const struct header *want,
                               const char *file) {
    char planes[2][80];
    name_planes(planes[0], sizeof *planes, h);
    name_planes(planes[1], sizeof *planes, want);
    if (h->columns != want->columns || h->triangles != want->triangles)
        return evn_fail(EVN_USAGE,
                        "matrices: %s is of a mesh of %d vertices and %d triangles, here it has %d "
                        "and %d",
                        file, h->columns, h->triangles, want->columns, want->triangles);
    if (h->axes != want->axes || memcmp(h->plane, want->plane, sizeof h->plane))
        return evn_fail(EVN_USAGE, "matrices: %s is of a body with %s, here it has %s", file,
                        planes[0], planes[1]);
    if (h->places != want->places)
        return evn_fail(EVN_USAGE,
                        "matrices: %s is of another mesh, whose %d vertices are elsewhere", file,
                        h->columns);
    return EVN_OK;
}

static evn_status compare(const struct header *h, const struct header *want, const char *file) {
    if (memcmp(h->magic, want->magic, sizeof h->magic))
        return evn_fail(EVN_USAGE, "matrices: %s is not a file of matrices", file);
    if (h->order != want->order || h->version != want->version)
        return evn_fail(EVN_USAGE,
                        "matrices: %s is of version %u, expected %u: remove it to generate anew",
                        file, h->version, want->version);
    if (!h->near != !want->near)
        return evn_fail(EVN_USAGE, "matrices: %s is of the %s method, here it is %s", file,
                        h->near ? "fast" : "plain", want->near ? "fast" : "plain");
    evn_status status = compare_body(h, want, file);
    if (status) return status;
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
    if (h->mesh != want->mesh)
        return evn_fail(EVN_USAGE,
                        "matrices: %s has this mesh's vertices or triangles in another order: "
                        "expected --order as it was, or remove it to generate anew",
                        file);
    if (h->near != want->near)
        return evn_fail(EVN_USAGE, "matrices: %s is of other cells: remove it to generate anew",
                        file);
    if (h->points != want->points || h->points_hash != want->points_hash)
        return evn_fail(EVN_USAGE,
                        "matrices: %s has other observation points (%d of them, here %d)", file,
                        h->points, want->points);
    if (h->surfaces != want->surfaces || h->rows != want->rows)
        return evn_fail(EVN_USAGE, "matrices: %s is of other admittances", file);
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
    if (o->filters && in->reach < s->kmax) in->reach = s->kmax;
    s->begin = calloc((size_t)s->columns + 1, sizeof *s->begin);
    if (!s->begin) return evn_fail(EVN_MEMORY, "matrices: no memory for %d columns", s->columns);
    return o->near ? ranges_runs(s, o, NULL) : EVN_OK;
}

static evn_status open_file(struct slices_reader *in, int fd) {
    struct stat is;
    /* a pipe is not waited for */
    if (fd < 0) fd = open(in->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    in->file = fd < 0 ? NULL : fdopen(fd, "rb");
    if (in->file) rewind(in->file);
    if (!in->file || fstat(fileno(in->file), &is))
        return evn_fail(EVN_SYSTEM, "matrices: %s: %s", in->path, strerror(errno));
    if (!S_ISREG(is.st_mode))
        return evn_fail(EVN_USAGE, "matrices: %s is no regular file, expected one of matrices",
                        in->path);
    in->bytes = (size_t)is.st_size;
    return EVN_OK;
}

evn_status slices_reader_prepare(struct slices_reader **out, const struct mesh *mesh,
                                 const struct slices_options *options, const char *file, int fd) {
    *out = NULL;
    struct slices_reader *in = calloc(1, sizeof *in);
    if (!in) return evn_fail(EVN_MEMORY, "matrices: no memory");
    in->sum = sum_begin;
    in->s = calloc(1, sizeof *in->s);
    in->path = strdup(file);
    const struct header want = header_of(mesh, options);
    evn_status status = in->s && in->path ? EVN_OK : evn_fail(EVN_MEMORY, "matrices: no memory");
    if (!status) status = open_file(in, fd);
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
    evn_status status = slices_reader_prepare(out, mesh, options, file, -1);
    if (!status) status = slices_reader_ranges(*out, 0, (*out)->s->columns);
    if (!status) return EVN_OK;
    slices_reader_close(*out);
    *out = NULL;
    return status;
}

const struct slices *slices_reader_slices(const struct slices_reader *in) { return in->s; }

static int ranges_within(const struct slices_reader *in, int j) {
    const struct slices *s = in->s;
    for (struct slices_walk w = slices_walk(s, j); w.row < s->rows; slices_step(&w)) {
        const int most = w.row < in->vertices ? s->kmax : in->reach;
        if (s->first[w.at] + s->count[w.at] - 1 > most) return 0;
    }
    return 1;
}

/* Column j's ranges from where the file is. The first time they are summed up; later they have to
 * lead to as many values as then. */
static void get_ranges(struct slices_reader *in, int j) {
    struct slices *s = in->s;
    const size_t at = slices_at(s, j), rows = slices_at(s, j + 1) - at;
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
    return to == s->columns && in->bytes != slices_file_size(s) ? damaged(in->path) : EVN_OK;
}

evn_status slices_reader_sum(struct slices_reader *in, uint64_t *sum) {
    const struct slices *s = in->s;
    if (in->known < s->columns)
        return evn_fail(EVN_USAGE, "matrices: not all ranges have been read");
    if (!in->column) {
        in->column = malloc((size_t)s->columns * sizeof *in->column);
        if (!in->column)
            return evn_fail(EVN_MEMORY, "matrices: no memory for %d columns", s->columns);
        in->failed |= fseeko(in->file, (off_t)sums_begin(s), SEEK_SET) != 0;
        get(in, in->column, (size_t)s->columns * sizeof *in->column);
        in->total = sum_end(&in->sum);
        uint64_t kept = 0;
        get(in, &kept, sizeof kept);
        in->failed |= kept != in->total;
    }
    if (sum) *sum = in->total;
    return in->failed ? damaged(in->path) : EVN_OK;
}

/* A column's values: summed while they are in the cache. */
static void get_values(struct slices_reader *in, int j, double *value) {
    const struct slices *s = in->s;
    const size_t values = s->begin[j + 1] - s->begin[j];
    if (in->failed) return;
    in->failed = fread(value, sizeof *value, values, in->file) != values ||
                 sum_of(value, values * sizeof *value) != in->column[j];
}

evn_status slices_reader_next(struct slices_reader *in, int to) {
    struct slices *s = in->s;
    evn_status status = slices_reader_sum(in, NULL);
    if (status) return status;
    const int from = s->to;
    slices_reader_skip(in, from);
    s->to = to;
    status = slices_reader_ranges(in, from, to);
    if (status) return status;
    const size_t values = s->begin[to] - s->begin[from];
    s->value = malloc((values + 8) * sizeof *s->value);
    if (!s->value) return evn_fail(EVN_MEMORY, "matrices: no memory for %zu values", values);
    in->failed |= fseeko(in->file, (off_t)values_begin(s, from), SEEK_SET) != 0;
    for (int j = from; j < to; j++) get_values(in, j, s->value + (s->begin[j] - s->begin[from]));
    return in->failed ? damaged(in->path) : EVN_OK;
}

void slices_reader_skip(struct slices_reader *in, int to) {
    free(in->s->value);
    in->s->value = NULL;
    in->s->from = in->s->to = to;
}

int slices_reader_descriptor(const struct slices_reader *in) { return fileno(in->file); }

void slices_reader_close(struct slices_reader *in) {
    if (!in) return;
    if (in->file) fclose(in->file);
    free(in->column);
    slices_close(in->s);
    free_all(in->path, in);
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
