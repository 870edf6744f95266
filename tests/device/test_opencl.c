/* Compilers of OpenCL that are wrong, as some drivers' are (docs/notes/opencl-drivers.md): the
 * driver's own compiler gets the trials' text with one place replaced, and every program has to be
 * refused with a message that says why. dlsym() is this file's, so that the compiler's entry is,
 * too. */
#include "check.h"
#include "device/opencl/api.h"
#include <dlfcn.h>
#include <evener/device.h>

extern const evn_kernel_source probe_kernels;

static const char *place, *instead; /* NULL: nothing is replaced */
static int replaced;

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
    return symbol;
}

/* A program of a device whose compiler reads `b` for `a`; NULL: as it is. */
static evn_status compile(const char *spec, const char *a, const char *b) {
    evn_device *device;
    evn_kernel *kernel;
    place = a;
    instead = b;
    replaced = 0;
    assert_ok(evn_device_open(&device, spec, 0));
    const evn_status status = evn_kernel_get(device, &probe_kernels, "axpy", &kernel);
    if (a) { /* once and for all programs of the device */
        assert_int_equal(replaced, 1);
        assert_int_equal(evn_kernel_get(device, &probe_kernels, "axpy", &kernel), status);
        assert_int_equal(replaced, 1);
    }
    evn_device_close(device);
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

int main(void) {
    evn_device *device;
    if (evn_device_open(&device, "opencl", 0)) {
        printf("skipped: %s\n", evn_message());
        return 77;
    }
    evn_device_close(device);
    return run_all_tests(NULL, NULL);
}
