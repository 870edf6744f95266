/* bench ft: a transform of all three axes on one core, pass by pass, and beside it FFTW's of the
 * same sizes, in place and planned with FFTW_MEASURE, in turn (Frigo and Johnson, "The design and
 * implementation of FFTW3", 2005). FFTW is opened when it is there; nothing is linked with it. */
#include "ft/study.h"
#include "common/cli/files.h"
#include "common/run/median.h"
#include "common/cli/message.h"
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "common/run/record.h"
#include "common/run/huge_alloc.h"
#include "ft/classes.h"
#include "ft/host/start.h"
#include "ft/host/transform.h"
#include "common/run/free_all.h"
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPEAT_MAX = 1000 };

struct request {
    const char *classes, *json;
    long repeat;
};

/* Functions of FFTW, as in its manual. */
struct fftw {
    void *(*plan)(int n0, int n1, int n2, double *in, double *out, int sign, unsigned flags);
    void (*execute)(void *plan);
    void (*destroy)(void *plan);
};
enum { FFTW_SIGN = -1, FFTW_MEASURE = 0 };

struct study {
    const struct request *request;
    struct fftw fftw; /* plan NULL: there is none */
    FILE *page;
    cJSON *list;
    struct transform t;
    double *slabs, *planes, *work, *theirs; /* theirs: real and imaginary parts, x fastest */
    double **plane;
    double *sample[3]; /* seconds of z, xy and FFTW */
};

static int fftw_open(struct fftw *f) {
    void *library = dlopen("libfftw3.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) return -1;
    *(void **)&f->plan = dlsym(library, "fftw_plan_dft_3d");
    *(void **)&f->execute = dlsym(library, "fftw_execute");
    *(void **)&f->destroy = dlsym(library, "fftw_destroy_plan");
    if (f->plan && f->execute && f->destroy) return 0;
    *f = (struct fftw){0};
    return -1;
}

/* ---- the two transforms ---------------------------------------------------------------------- */

static void pass_z(struct study *s) {
    for (int y = 0; y < s->t.ny; y++)
        transform_z_to_planes(
            &s->t, s->slabs + transform_slab(&s->t) * (size_t)y, y, NULL, s->plane, y * s->t.row, 0,
            s->t.packs, y + 1 < s->t.ny ? s->slabs + transform_slab(&s->t) * ((size_t)y + 1) : NULL,
            LINE_MINUS, s->work);
}

static void pass_xy(struct study *s) {
    for (int z = 0; z < s->t.nz; z++) {
        transform_x(&s->t, s->plane[z], 0, s->t.ny, LINE_MINUS, s->work);
        transform_y(&s->t, s->plane[z], 0, s->t.packs, LINE_MINUS, s->work);
    }
}

/* The field in layout Y, from planes as a run begins with. */
static void make_field(struct study *s) {
    const struct transform *t = &s->t;
    for (int z = 0; z < t->nz; z++) {
        start_rows(t, s->plane[z], z, 0, t->ny);
        for (int y = 0; y < t->ny; y++)
            for (int p = 0; p < t->packs; p++)
                memcpy(s->slabs + transform_slab(t) * (size_t)y + ((ptrdiff_t)p * t->nz + z) * PACK,
                       s->plane[z] + y * t->row + p * PACK, PACK * sizeof(double));
    }
}

/* Copies the field for FFTW, which has overwritten its own. */
static void copy_field(struct study *s) {
    const struct transform *t = &s->t;
    double *to = s->theirs;
    for (int z = 0; z < t->nz; z++)
        for (int y = 0; y < t->ny; y++)
            for (int x = 0; x < t->nx; x++, to += 2) {
                const double *pack = s->slabs + transform_slab(t) * (size_t)y +
                                     ((ptrdiff_t)(x / PACK_PART) * t->nz + z) * PACK;
                to[0] = pack[x % PACK_PART];
                to[1] = pack[PACK_PART + x % PACK_PART];
            }
}

/* The largest difference over the largest value. */
static double difference(const struct study *s) {
    const struct transform *t = &s->t;
    const double *of = s->theirs;
    double most = 0, off = 0;
    for (int z = 0; z < t->nz; z++)
        for (int y = 0; y < t->ny; y++)
            for (int x = 0; x < t->nx; x++, of += 2) {
                const double *pack = s->plane[z] + y * t->row + x / PACK_PART * PACK;
                const double re = pack[x % PACK_PART], im = pack[PACK_PART + x % PACK_PART];
                most = fmax(most, hypot(re, im));
                off = fmax(off, hypot(re - of[0], im - of[1]));
            }
    return off / most;
}

static double timed(struct study *s, void (*pass)(struct study *)) {
    const double begin = evn_now();
    pass(s);
    return evn_now() - begin;
}

/* Fills the samples, in turn; how far the two are apart (0 without FFTW). -1: it has no plan. */
static double measure(struct study *s) {
    const struct transform *t = &s->t;
    double off = 0;
    void *plan = s->fftw.plan ? s->fftw.plan(t->nz, t->ny, t->nx, s->theirs, s->theirs, FFTW_SIGN,
                                             FFTW_MEASURE)
                              : NULL;
    if (s->fftw.plan && !plan) return -1;
    for (int i = -1; i < s->request->repeat; i++) { /* once to warm up */
        const int at = i < 0 ? 0 : i;
        s->sample[0][at] = timed(s, pass_z);
        s->sample[1][at] = timed(s, pass_xy);
        if (!plan) continue;
        copy_field(s);
        const double begin = evn_now();
        s->fftw.execute(plan);
        s->sample[2][at] = evn_now() - begin;
        off = difference(s);
    }
    if (plan) s->fftw.destroy(plan);
    return off;
}

/* ---- one class ------------------------------------------------------------------------------ */

static void forget(struct study *s) {
    free_all(s->slabs, s->planes, s->work, s->theirs, s->plane);
    transform_close(&s->t);
    s->slabs = s->planes = s->work = s->theirs = NULL;
    s->plane = NULL;
}

static int make(struct study *s, const int n[3]) {
    if (transform_open(&s->t, n[0], n[1], n[2])) return -1;
    const size_t plane = transform_plane(&s->t), slab = transform_slab(&s->t);
    s->planes = room(plane * (size_t)n[2] * sizeof(double));
    s->slabs = room(slab * (size_t)n[1] * sizeof(double));
    s->work = room(transform_workspace(&s->t) * sizeof(double));
    s->plane = malloc((size_t)n[2] * sizeof *s->plane);
    if (s->fftw.plan) s->theirs = room(2 * sizeof(double) * (size_t)n[0] * n[1] * n[2]);
    if (!s->planes || !s->slabs || !s->work || !s->plane || (s->fftw.plan && !s->theirs)) return -1;
    for (int z = 0; z < n[2]; z++) s->plane[z] = s->planes + plane * (size_t)z;
    return 0;
}

/* Nominal operations of a pass over axes of so many points together, 5 n log2 n a line, and what it
 * reads and writes. */
static void print_pass(struct study *s, cJSON *o, const char *name, double seconds, double lines) {
    const double points = (double)s->t.nx * s->t.ny * s->t.nz;
    const double rate = 32e-9 * points / seconds, flops = 5e-9 * points * log2(lines) / seconds;
    char key[32];
    fprintf(s->page, "  %9.3f %6.2f %7.2f", 1e3 * seconds, rate, flops);
    snprintf(key, sizeof key, "%s_s", name);
    record_number(o, key, seconds);
    snprintf(key, sizeof key, "%s_bytes_per_s", name);
    record_number(o, key, 1e9 * rate);
    snprintf(key, sizeof key, "%s_flops", name);
    record_number(o, key, 1e9 * flops);
}

static int one_class(struct study *s, char name) {
    const struct ft_class *c = ft_class_of(name);
    if (make(s, c->n)) {
        complain("class %c: there is no memory for it", name);
        return EXIT_FAILED;
    }
    make_field(s);
    const double off = measure(s);
    if (off < 0 || off > 1e-13) {
        complain(off < 0 ? "class %c: FFTW makes no plan" : "class %c: FFTW has other values",
                 name);
        return EXIT_FAILED;
    }
    const int n = (int)s->request->repeat;
    const double z = median(s->sample[0], n), xy = median(s->sample[1], n);
    const double fftw = s->theirs ? median(s->sample[2], n) : NAN;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "class", (char[]){name, 0});
    fprintf(s->page, "  %c    ", name);
    print_pass(s, o, "z", z, s->t.nz);
    print_pass(s, o, "xy", xy, (double)s->t.nx * s->t.ny);
    record_number(o, "fftw_s", fftw);
    record_number(o, "ratio", fftw / (z + xy));
    if (s->theirs)
        fprintf(s->page, "  %9.3f %6.2f\n", 1e3 * fftw, fftw / (z + xy));
    else
        fprintf(s->page, "  %9s %6s\n", "-", "-");
    cJSON_AddItemToArray(s->list, o);
    return 0;
}

/* ---- the study ------------------------------------------------------------------------------ */

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"classes", "LIST", "letters of classes (default SWA)", OPTION_TEXT(classes)},
    {"repeat", "N", "samples, of which medians are taken (default 5)",
     OPTION_NUMBER(repeat, 1, REPEAT_MAX)},
    {"json", "FILE", "write what was measured; - is standard output", OPTION_OUTPUT(json)},
    {0},
};

static int run(struct study *s) {
    const char *classes = s->request->classes;
    int code = 0;
    fprintf(s->page,
            "One core, medians of %ld samples. Operations are 5 n log2 n of a line; bytes: each\n"
            "pass reads and writes each point once. Ratio: FFTW's seconds over ours.\n\n"
            "         pass z                    pass xy                   FFTW\n"
            "  class         ms   GB/s Gflop/s         ms   GB/s Gflop/s         ms  ratio\n",
            s->request->repeat);
    for (const char *c = classes; !code && *c; c++) {
        code = one_class(s, *c);
        forget(s);
        fflush(s->page);
    }
    return code;
}

int ft_study(int argc, char **argv) {
    struct request request = {.classes = "SWA", .repeat = 5};
    int code = options_read_plain("bench ft",
                                  "usage: evener bench ft [options]\n\nThe transform of three axes "
                                  "on one core, pass by pass, beside FFTW's.\n",
                                  (struct option_set){table, &request, NULL}, argc, argv);
    if (code) return code < 0 ? 0 : code;
    for (const char *c = request.classes; *c; c++)
        if (!ft_class_of(*c))
            return complain(
                "--classes %s: there is no class \"%c\", expected letters of S W A B C D E F",
                request.classes, *c);
    evn_output *out;
    code = output_open(&out, request.json);
    if (code) return code;
    struct study s = {.request = &request, .page = files_page(), .list = cJSON_CreateArray()};
    double samples[3 * REPEAT_MAX];
    for (int i = 0; i < 3; i++) s.sample[i] = samples + (size_t)i * REPEAT_MAX;
    if (fftw_open(&s.fftw)) complain("FFTW is not beside it: there is no libfftw3.so.3");
    code = run(&s);
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "study", "ft");
    cJSON_AddItemToObject(root, "classes", s.list);
    cJSON_AddItemToObject(root, "build", record_build());
    char *text = record_text(root);
    if (!code && out) code = text ? output_commit(out, text) : EXIT_FAILED;
    free(text);
    evn_output_close(out);
    return code;
}
