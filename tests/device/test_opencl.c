/* Compilers of OpenCL that are wrong, as some drivers' are (docs/notes/opencl-drivers.md): the
 * driver's own compiler gets the trials' text with one place replaced, and every program has to be
 * refused with a message that says why. dlsym() is this file's, so that the compiler's entry is,
 * too. */
#include "check.h"
#include "device/opencl/api.h"
#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

extern const evn_kernel_source probe_kernels;

static const char *place, *instead; /* NULL: nothing is replaced */
static int replaced;

static int compiles = 1; /* 0: no device has a compiler, by what the driver is made to say */

static cl_int (*device_info)(cl_device_id, cl_device_info, size_t, void *, size_t *);
static cl_int changed_info(cl_device_id id, cl_device_info what, size_t size, void *value,
                           size_t *needs) {
    const cl_int code = device_info(id, what, size, value, needs);
    if (!compiles && what == CL_DEVICE_COMPILER_AVAILABLE && value) memset(value, 0, size);
    return code;
}

static cl_program (*compiler)(cl_context, cl_uint, const char **, const size_t *, cl_int *);
static cl_program wrong_compiler(cl_context context, cl_uint n, const char **text,
                                 const size_t *length, cl_int *code) {
    char *changed[4] = {NULL};
    const char *given[4];
    assert_true(n <= 4 && !length);
    for (cl_uint i = 0; i < n; i++) {
        const char *at = place ? strstr(text[i], place) : NULL;
        given[i] = text[i];
        if (!at) continue;
        changed[i] = malloc(strlen(text[i]) + strlen(instead) + 1);
        assert_non_null(changed[i]);
        sprintf(changed[i], "%.*s%s%s", (int)(at - text[i]), text[i], instead, at + strlen(place));
        given[i] = changed[i];
        replaced++;
    }
    cl_program program = compiler(context, n, given, NULL, code);
    for (cl_uint i = 0; i < n; i++) free(changed[i]);
    return program;
}

void *dlsym(void *handle, const char *name) {
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    static void *(*own)(void *, const char *);
    for (int i = 0; i < 3 && !own; i++) *(void **)&own = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    void *symbol = own ? own(handle, name) : NULL;
    if (symbol && !strcmp(name, "clCreateProgramWithSource")) {
        *(void **)&compiler = symbol;
        *(void **)&symbol = (void *)wrong_compiler;
    }
    if (symbol && !strcmp(name, "clGetDeviceInfo")) {
        *(void **)&device_info = symbol;
        *(void **)&symbol = (void *)changed_info;
    }
    return symbol;
}

/* A program of a device whose compiler reads `b` for `a`; NULL: as it is. */
static evn_status compile(const char *spec, const char *a, const char *b) {
    evn_kernel *kernel;
    place = a;
    instead = b;
    replaced = 0;
    OWN(device) *device = OPEN(device, spec, 0);
    const evn_status status = evn_kernel_get(device, &probe_kernels, "axpy", &kernel);
    if (a) { /* once and for all programs of the device */
        assert_int_equal(replaced, 1);
        assert_int_equal(evn_kernel_get(device, &probe_kernels, "axpy", &kernel), status);
        assert_int_equal(replaced, 1);
    }
    return status;
}

TEST(right) {
    assert_ok(compile("opencl:contract=off", NULL, NULL));
    assert_non_null(compiler); /* the back end has asked this file for it */
}

TEST(division) {
    assert_fails(compile("opencl", "x[i] / x[64 + i]", "(double)((float)x[i] / (float)x[64 + i])"),
                 EVN_SYSTEM, "does not round quotients and square roots");
    assert_fails(compile("opencl", "sqrt(x[i])", "sqrt((float)x[i])"), EVN_SYSTEM,
                 "does not round quotients and square roots");
    /* one unit in the last place of one value of 64 */
    assert_fails(
        compile("opencl", "sqrt(x[i])", "(i == 40 ? nextafter(sqrt(x[i]), 9.0) : sqrt(x[i]))"),
        EVN_SYSTEM, "does not round quotients and square roots");
}

TEST(contract) {
    assert_fails(compile("opencl:contract=off", "x[0] * x[0] + x[1]", "fma(x[0], x[0], x[1])"),
                 EVN_SYSTEM, "fuses a*b+c although it is told not");
    assert_ok(compile("opencl:contract=off", NULL, NULL));
}

/* With PoCL alone this is tried. */
TEST(barriers) {
    char why[400];
    int pocls = 0;
    evn_devices_count("opencl:platform=pocl", &pocls, why, sizeof why);
    if (!pocls) skip();
    assert_fails(compile("opencl:platform=pocl", "if (i == n - 1) cell = 1;", ""), EVN_SYSTEM,
                 "set POCL_WORK_GROUP_METHOD=cbs");
}

/* y + 2 x by a device of that specification. */
static evn_status axpy(const char *spec) {
    enum { N = 100 };
    evn_device *device;
    evn_kernel *kernel = NULL;
    double y[N], x[N];
    const double a = 2;
    const int n = N;
    for (int i = 0; i < N; i++) y[i] = i, x[i] = 0.5 * i;
    evn_status status = evn_device_open(&device, spec, 0);
    if (status) return status;
    status = evn_kernel_get(device, &probe_kernels, "axpy", &kernel);
    if (!status) {
        evn_buffer *b[2];
        OWN(queue) *q = OPEN(queue, device);
        for (int i = 0; i < 2; i++) assert_ok(evn_buffer_open(&b[i], device, sizeof y));
        assert_ok(evn_copy_to_device(q, b[0], 0, y, sizeof y));
        assert_ok(evn_copy_to_device(q, b[1], 0, x, sizeof x));
        const evn_argument argument[] = {{.buffer = b[0]},
                                         {.buffer = b[1]},
                                         {.value = &a, .bytes = sizeof a},
                                         {.value = &n, .bytes = sizeof n}};
        const int items = 64;
        assert_ok(evn_launch(q, kernel, (N + items - 1) / items, 0, argument, 4));
        assert_ok(evn_copy_to_host(q, y, b[0], 0, sizeof y));
        assert_ok(evn_queue_finish(q));
        for (int i = 0; i < N; i++) assert_true(y[i] == 2 * i);
        for (int i = 0; i < 2; i++) evn_buffer_close(b[i]);
    }
    evn_device_close(device);
    return status;
}

/* The one file of the folder with that ending. */
static void file_in(const char *folder, const char *ending, char path[300]) {
    DIR *in = opendir(folder);
    assert_non_null(in);
    *path = 0;
    for (struct dirent *e; (e = readdir(in));) {
        const char *at = strrchr(e->d_name, '.');
        if (at && !strcmp(at, ending)) snprintf(path, 300, "%s/%.200s", folder, e->d_name);
    }
    closedir(in);
}

/* A folder of programs: filled where the device has a compiler, then used without one, as an FPGA's
 * is; a program that is not there has its text written; one that is none is named. */
TEST(binaries) {
    char folder[] = "/tmp/evener-binaries-XXXXXX", spec[64], path[300], text[300];
    assert_non_null(mkdtemp(folder));
    snprintf(spec, sizeof spec, "opencl:binaries=%s", folder);
    place = NULL;
    compiles = 0;
    assert_fails(axpy("opencl"), EVN_MISSING, "no compiler, and no binaries=FOLDER is given");
    assert_fails(axpy(spec), EVN_MISSING, "where its text is now");
    file_in(folder, ".cl", text);
    assert_int_equal(unlink(text), 0);
    file_in(folder, ".bin", path);
    assert_string_equal(path, "");
    compiles = 1;
    assert_ok(axpy(spec));
    file_in(folder, ".bin", path);
    assert_int_equal(access(text, R_OK), 0);
    compiles = 0;
    place = "probe"; /* counts compilations */
    instead = "probe";
    replaced = 0;
    assert_ok(axpy(spec));
    assert_int_equal(replaced, 0);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs("garbage", f);
    fclose(f);
    assert_fails(axpy(spec), EVN_SYSTEM, "is no program of");
    assert_int_equal(unlink(path) | unlink(text), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_fails(axpy(spec), EVN_SYSTEM, "cannot be written");
    assert_fails(axpy("opencl:binaries="), EVN_USAGE, "binaries needs a folder");
    compiles = 1;
}

int main(void) {
    evn_device *device;
    if (evn_device_open(&device, "opencl", 0)) {
        printf("skipped: %s\n", evn_message());
        return 77;
    }
    evn_device_close(device);
    return run_all_tests(NULL, NULL);
}
