/* SOFA files by libnetcdf, made in a file of their own and copied, so that they come whole or not
 * at all as others do. */
#include "tdbem/files/sofa.h"
#include <dlfcn.h>
#include <errno.h>
#include <evener/version.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of <netcdf.h>. */
enum { NC_NETCDF4 = 0x1000, NC_DOUBLE = 6, NC_GLOBAL = -1 };

static struct {
    int (*create)(const char *path, int mode, int *file);
    int (*dim)(int file, const char *name, size_t length, int *dim);
    int (*var)(int file, const char *name, int type, int dims, const int *dim, int *var);
    int (*text)(int file, int var, const char *name, size_t length, const char *text);
    int (*enddef)(int file);
    int (*put)(int file, int var, const double *value);
    int (*close)(int file);
    const char *(*say)(int error);
    int found;
} nc;

static int resolve(void *library) {
    const struct {
        void *to;
        const char *name;
    } all[] = {{&nc.create, "nc_create"}, {&nc.dim, "nc_def_dim"},
               {&nc.var, "nc_def_var"},   {&nc.text, "nc_put_att_text"},
               {&nc.enddef, "nc_enddef"}, {&nc.put, "nc_put_var_double"},
               {&nc.close, "nc_close"},   {&nc.say, "nc_strerror"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *function = dlsym(library, all[i].name);
        if (!function) return 0;
        memcpy(all[i].to, &function, sizeof function);
    }
    return 1;
}

evn_status sofa_find(void) {
    static const char *const names[] = {"libnetcdf.so.19", "libnetcdf.so.22", "libnetcdf.so"};
    for (int i = 0; !nc.found && i < 3; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        nc.found = library && resolve(library);
    }
    if (nc.found) return EVN_OK;
    return evn_fail(EVN_MISSING,
                    "a .sofa file is written by libnetcdf, and %s is not there; expected it "
                    "installed (libnetcdf19), or a name with .wav or .npz",
                    names[0]);
}

/* The first error stays; nothing is done after it. */
struct writer {
    int file, error;
};

static int dimension(struct writer *w, const char *name, size_t length) {
    int dim = 0;
    if (!w->error) w->error = nc.dim(w->file, name, length, &dim);
    return dim;
}

static int variable(struct writer *w, const char *name, int dims, const int *dim) {
    int var = 0;
    if (!w->error) w->error = nc.var(w->file, name, NC_DOUBLE, dims, dim, &var);
    return var;
}

static void text(struct writer *w, int var, const char *name, const char *value) {
    if (!w->error) w->error = nc.text(w->file, var, name, strlen(value), value);
}

static void put(struct writer *w, int var, const double *value) {
    if (!w->error) w->error = nc.put(w->file, var, value);
}

static int position(struct writer *w, const char *name, int dims, const int *dim) {
    const int var = variable(w, name, dims, dim);
    text(w, var, "Type", "cartesian");
    text(w, var, "Units", "metre");
    return var;
}

static void describe(struct writer *w, const struct sofa *s) {
    char now[32];
    const time_t seconds = time(NULL);
    struct tm utc;
    strftime(now, sizeof now, "%Y-%m-%d %H:%M:%S", gmtime_r(&seconds, &utc));
    const char *where = s->source->wave->point
                            ? "the source is a point"
                            : "the source is far away, where its wave comes from: a plane wave";
    const char *const all[][2] = {{"Conventions", "SOFA"},
                                  {"Version", "1.0"},
                                  {"SOFAConventions", "GeneralFIR"},
                                  {"SOFAConventionsVersion", "1.0"},
                                  {"DataType", "FIR"},
                                  {"RoomType", "free field"},
                                  {"Title", "impulse responses of pressures at points"},
                                  {"DateCreated", now},
                                  {"DateModified", now},
                                  {"APIName", "evener"},
                                  {"APIVersion", EVN_VERSION},
                                  {"AuthorContact", ""},
                                  {"Organization", ""},
                                  {"License", "No license provided, ask the author for permission"},
                                  {"Comment", where}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        text(w, NC_GLOBAL, all[i][0], *all[i][1] ? all[i][1] : " ");
}

/* [receivers * samples], a receiver after another; NULL without memory. */
static double *by_receiver(const struct sofa *s) {
    const size_t n = (size_t)s->samples, r = (size_t)s->receivers;
    double *out = malloc((n * r + 1) * sizeof *out);
    for (size_t c = 0; out && c < r; c++)
        for (size_t i = 0; i < n; i++) {
            const double value = s->value[i * s->stride + c * s->step];
            out[c * n + i] = isnan(value) ? 0 : value;
        }
    return out;
}

static void fill(struct writer *w, const struct sofa *s, const double *value, double *delay) {
    static const double origin[3] = {0}, view[3] = {1, 0, 0}, up[3] = {0, 0, 1};
    const tdbem_wave *wave = s->source->wave;
    const double side = wave->point ? 1 : -1;
    const double from[3] = {side * wave->at[0], side * wave->at[1], side * wave->at[2]};
    const int one = dimension(w, "I", 1), c = dimension(w, "C", 3), m = dimension(w, "M", 1);
    const int r = dimension(w, "R", (size_t)s->receivers), e = dimension(w, "E", 1);
    const int n = dimension(w, "N", (size_t)s->samples);
    const int listener = position(w, "ListenerPosition", 2, (int[]){one, c});
    const int viewed = position(w, "ListenerView", 2, (int[]){one, c});
    const int above = variable(w, "ListenerUp", 2, (int[]){one, c});
    const int receiver = position(w, "ReceiverPosition", 3, (int[]){r, c, one});
    const int source = position(w, "SourcePosition", 2, (int[]){m, c});
    const int emitter = position(w, "EmitterPosition", 3, (int[]){e, c, one});
    const int response = variable(w, "Data.IR", 3, (int[]){m, r, n});
    const int rate = variable(w, "Data.SamplingRate", 1, &one);
    const int late = variable(w, "Data.Delay", 2, (int[]){one, r});
    text(w, rate, "Units", "hertz");
    describe(w, s);
    for (int i = 0; i < s->receivers; i++) delay[i] = s->first;
    if (!w->error) w->error = nc.enddef(w->file);
    put(w, listener, origin);
    put(w, viewed, view);
    put(w, above, up);
    put(w, receiver, s->at[0]);
    put(w, source, from);
    put(w, emitter, origin);
    put(w, response, value);
    put(w, rate, &s->rate);
    put(w, late, delay);
}

static evn_status copy_file(FILE *out, const char *path) {
    char part[8192];
    FILE *in = fopen(path, "re");
    if (!in) return evn_fail(EVN_SYSTEM, "%s: %s", path, strerror(errno));
    for (size_t n; (n = fread(part, 1, sizeof part, in)) > 0;) fwrite(part, 1, n, out);
    const int bad = ferror(in);
    fclose(in);
    return bad ? evn_fail(EVN_SYSTEM, "%s: it cannot be read", path) : EVN_OK;
}

/* In the file `path`, which is there, and from there to `out`. */
static evn_status write_all(FILE *out, const char *path, const struct sofa *s, const double *value,
                            double *delay) {
    struct writer w = {0};
    w.error = nc.create(path, NC_NETCDF4, &w.file);
    if (!w.error) {
        fill(&w, s, value, delay);
        const int closed = nc.close(w.file);
        if (!w.error) w.error = closed;
    }
    if (w.error) return evn_fail(EVN_SYSTEM, "%s: libnetcdf: %s", path, nc.say(w.error));
    return copy_file(out, path);
}

evn_status sofa_write(FILE *out, const struct sofa *s) {
    const char *folder = secure_getenv("TMPDIR");
    char path[4096];
    evn_status status = sofa_find();
    if (status) return status;
    snprintf(path, sizeof path, "%s/evener-XXXXXX", folder && *folder ? folder : "/tmp");
    const int file = mkstemp(path);
    if (file < 0) return evn_fail(EVN_SYSTEM, "%s: %s", path, strerror(errno));
    double *value = by_receiver(s), *delay = malloc((size_t)s->receivers * sizeof *delay);
    status = value && delay ? write_all(out, path, s, value, delay)
                            : evn_fail(EVN_MEMORY, "td-bem: no memory for outputs");
    free(value);
    free(delay);
    close(file);
    unlink(path);
    return status;
}
