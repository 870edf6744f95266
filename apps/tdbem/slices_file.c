/* Matrices on disk: a header that says exactly what they were made from, the ranges, the values,
 * and a checksum of all. Written beside and renamed, so that a run that fails leaves an earlier
 * file whole. */
#include "slices_file.h"
#include <errno.h>
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

struct out {
    FILE *file;
    struct sum sum;
    int failed;
};

static void put(struct out *o, const void *data, size_t bytes) {
    if (o->failed) return;
    sum_bytes(&o->sum, data, bytes);
    o->failed = bytes && fwrite(data, 1, bytes, o->file) != bytes;
}

evn_status slices_save(const struct slices *s, const struct mesh *mesh,
                       const struct slices_options *options, const char *file) {
    const size_t length = strlen(file) + 32;
    char *beside = malloc(length);
    if (!beside) return evn_fail(EVN_MEMORY, "matrices: no memory");
    snprintf(beside, length, "%s.%ld.part", file, (long)getpid());
    struct out o = {.file = fopen(beside, "wb"), .sum = {{1, 2, 3, 4}, 0}};
    evn_status status = EVN_OK;
    if (!o.file) {
        status = evn_fail(EVN_SYSTEM, "matrices: %s cannot be written: %s", file, strerror(errno));
        free(beside);
        return status;
    }
    struct header h = header_of(mesh, options);
    h.kmax = s->kmax;
    h.kmax_points = s->kmax_points;
    h.longest = s->longest;
    h.values = s->begin[s->columns];
    h.nnz = s->nnz;
    const size_t entries = (size_t)s->rows * (size_t)s->columns;
    put(&o, &h, sizeof h);
    put(&o, s->first, entries * sizeof *s->first);
    put(&o, s->count, entries * sizeof *s->count);
    for (int j = 0; j < s->columns; j++) /* in pieces that are still in the cache when summed */
        put(&o, slices_column(s, j), (s->begin[j + 1] - s->begin[j]) * sizeof *s->value);
    uint64_t sum = sum_end(&o.sum);
    put(&o, &sum, sizeof sum);
    errno = o.failed ? errno : 0;
    int bad = o.failed || fflush(o.file) || fsync(fileno(o.file));
    int reason = errno;
    if (fclose(o.file) && !bad) {
        bad = 1;
        reason = errno;
    }
    if (!bad && rename(beside, file)) {
        bad = 1;
        reason = errno;
    }
    if (bad) {
        unlink(beside);
        status = evn_fail(EVN_SYSTEM, "matrices: %s cannot be written: %s", file, strerror(reason));
    }
    free(beside);
    return status;
}

/* ---- reading ---- */

struct in {
    FILE *file;
    struct sum sum;
    int failed;
};

static void get(struct in *i, void *data, size_t bytes) {
    if (i->failed) return;
    if (fread(data, 1, bytes, i->file) != bytes)
        i->failed = 1;
    else
        sum_bytes(&i->sum, data, bytes);
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

static evn_status load(struct slices *s, struct in *in, const struct header *want,
                       const char *file) {
    struct header h;
    get(in, &h, sizeof h);
    if (in->failed) return evn_fail(EVN_USAGE, "matrices: %s is not a file of matrices", file);
    evn_status status = compare(&h, want, file);
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
    if (in->failed || !counts_fit(s, h.values))
        return evn_fail(EVN_USAGE, "matrices: %s is damaged: remove it to generate anew", file);
    s->value = malloc((s->begin[s->columns] + 8) * sizeof *s->value);
    if (!s->value)
        return evn_fail(EVN_MEMORY, "matrices: no memory for %zu values", s->begin[s->columns]);
    for (int j = 0; j < s->columns; j++)
        get(in, s->value + s->begin[j], (s->begin[j + 1] - s->begin[j]) * sizeof *s->value);
    s->to = s->columns;
    uint64_t sum = sum_end(&in->sum), kept = 0;
    get(in, &kept, sizeof kept);
    if (in->failed || kept != sum || fgetc(in->file) != EOF)
        return evn_fail(EVN_USAGE, "matrices: %s is damaged: remove it to generate anew", file);
    return EVN_OK;
}

evn_status slices_load(struct slices **out, const struct mesh *mesh,
                       const struct slices_options *options, const char *file) {
    *out = NULL;
    struct in in = {.file = fopen(file, "rb"), .sum = {{1, 2, 3, 4}, 0}};
    if (!in.file) return evn_fail(EVN_SYSTEM, "matrices: %s: %s", file, strerror(errno));
    struct slices *s = calloc(1, sizeof *s);
    const struct header want = header_of(mesh, options);
    evn_status status = s ? load(s, &in, &want, file) : evn_fail(EVN_MEMORY, "matrices: no memory");
    fclose(in.file);
    if (status)
        slices_close(s);
    else
        *out = s;
    return status;
}
