/* NVIDIA's run-time compiler and the project's kernels: each of them compiles for every
 * architecture that the compiler knows from 7.5 up, and none spills registers to memory without a
 * reason or has fewer groups on a multiprocessor than it had. Needs no GPU; where NVRTC is not
 * found it is skipped. Run: ctest -R nvrtc -V (with -V it shows what each kernel takes) */
/* CUDA's own headers, where they are, so that ours can be compared with them */
#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#    include <cuda.h>
#    include <nvrtc.h>
#    define HAVE_CUDA_HEADERS 1
#else
#    define HAVE_CUDA_HEADERS 0
#endif
#include "check.h"
#include "device/cuda/nvrtc.h"
#include "device/occupancy.h"

enum { LEAST = 75 };

/* KERNEL_SOURCES, by the build: X(name) for each kernel file, without anything between */
#define X(name) extern const evn_kernel_source name##_kernels;
KERNEL_SOURCES
#undef X
static const evn_kernel_source *const sources[] = {
#define X(name) &name##_kernels,
    KERNEL_SOURCES
#undef X
};
enum { SOURCES = sizeof sources / sizeof *sources };

/* Kernels whose items may have memory of their own, how many bytes at most, unfused (contraction
 * off) and fused, and why. Such memory lies in device memory: what was spilled from registers, for
 * which 8.0 and 9.0 have limits, and arrays with an index that the compiler does not know. */
static const struct {
    const char *kernel; /* source.kernel */
    int bytes[2];
    const char *reason;
} may_have_local[] = {
    {"probe.reduce", {16, 16}, "a test of the dialect: an array of the item's own, indexed"},
    {"probe.values", {40, 40}, "a test of the dialect: an array in a struct by value, indexed"},
    {"bt.bt_lines", {8, 8}, "a register is wanting: an item keeps what it reads again"},
    {"mg.mg_up", {16, 8}, "on 9.0 four registers are wanting for two groups"},
};

/* What was won by counting (docs/performance.md, `bench-kernels`): groups of a fused kernel that a
 * multiprocessor of 8.0 and of 9.0 has at a time, at least. Fewer hide less of how far away memory
 * is; right-hand sides have four, since the planes that they keep in registers halve what they
 * load. */
static const struct {
    const char *kernel; /* source.kernel */
    int groups[2];
} at_least[] = {
    {"bt.bt_lines", {5, 7}},          {"bt.bt_rhs", {4, 4}},
    {"sp.sp_lines", {3, 5}},          {"sp.sp_rhs", {4, 4}},
    {"lu.lu_lower", {3, 4}},          {"lu.lu_upper", {3, 4}},
    {"lu.lu_residual", {4, 4}},       {"lu_resident.lu_lower", {3, 4}},
    {"lu_resident.lu_upper", {3, 4}}, {"ft.ft_lines", {4, 4}},
    {"ft.ft_rows", {4, 4}},
};
enum { AT_LEAST = sizeof at_least / sizeof *at_least };

static struct rtc *compiler;

/* ---- our declarations ---- */

/* older headers lack what is optional */
#if HAVE_CUDA_HEADERS && CUDA_VERSION >= 12040
#    define COMPARED 1
#    define SAME_N(table, member, symbol)
#    define SAME_R(table, member, symbol)                                                          \
        _Static_assert(__builtin_types_compatible_p(__typeof__(((struct table *)0)->member),       \
                                                    __typeof__(&symbol)),                          \
                       #symbol " is declared otherwise in CUDA's header");
#    define SAME_O SAME_R
#    define SAME(member, symbol, need, hip, hip_need, parameters)                                  \
        SAME_##need(gpu_api, member, symbol)
GPU_FUNCTIONS(SAME)
#    undef SAME
#    define SAME(member, symbol, need, hip, hip_need, parameters)                                  \
        SAME_##need(rtc_api, member, symbol)
RTC_FUNCTIONS(SAME)
#    undef SAME
#    define SAME(ours, theirs, hip, value)                                                         \
        _Static_assert((int)ours == (int)theirs, #theirs " has another value");
GPU_CONSTANTS(SAME)
RTC_CONSTANTS(SAME)
#    undef SAME
#    define SAME(ours, theirs, value)                                                              \
        _Static_assert((int)ours == (int)theirs, #theirs " has another value");
CUDA_CONSTANTS(SAME)
#    undef SAME
#    define SAME(ours, theirs, value, hip, hip_value)                                              \
        _Static_assert((int)theirs == value, #theirs " has another value");
GPU_ATTRIBUTES(SAME)
#    undef SAME
#else
#    define COMPARED 0
#endif

TEST(declarations) {
#if COMPARED
    print_message("compared with the headers of CUDA %d.%d when this was compiled\n",
                  CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
#else
    print_message("no headers of CUDA 12.4 or later: declarations are not compared\n");
    skip();
#endif
}

/* ---- the project's kernels ---- */

static evn_status build(const evn_kernel_source *source, int contract, const char *target,
                        struct rtc_program *out) {
    return rtc_compile(compiler, out, source->name, source->text, target, source->defines,
                       contract);
}

static int allowed(const char *source, const char *kernel, int contract) {
    char name[160];
    snprintf(name, sizeof name, "%s.%s", source, kernel);
    for (size_t i = 0; i < sizeof may_have_local / sizeof *may_have_local; i++)
        if (!strcmp(may_have_local[i].kernel, name)) return may_have_local[i].bytes[contract];
    return 0;
}

/* 1: fewer groups at a time than there shall be. Marks the row of at_least as seen. */
static int has_too_few(const evn_kernel_source *source, const struct rtc_kernel *m,
                       int architecture, int *seen) {
    char name[160];
    int items = 0, least = 1;
    snprintf(name, sizeof name, "%s.%s", source->name, m->name);
    for (const evn_kernel_entry *e = source->entry; e->name; e++)
        if (!strcmp(e->name, m->name)) items = e->items;
    for (int i = 0; i < AT_LEAST; i++)
        if (!strcmp(at_least[i].kernel, name)) {
            least = at_least[i].groups[architecture == 90];
            seen[i] = 1;
        }
    const int groups = groups_at_a_time(architecture, items, m->registers,
                                        m->group_bytes > 0 ? m->group_bytes : 0);
    if (groups < least)
        print_message(
            "  sm_%d %s: %d groups a multiprocessor, of %d registers an item and %d bytes "
            "a group; there shall be %d\n",
            architecture, name, groups, m->registers, m->group_bytes, least);
    return groups < least;
}

struct findings {
    int too_much, too_few, seen[AT_LEAST];
};

/* Compiles one source and looks at each of its kernels. */
static void look(const evn_kernel_source *source, int architecture, int contract,
                 struct findings *f) {
    char target[32];
    ENDS(rtc_program_close) struct rtc_program p;
    int kernels = 0;
    const int is_reference = architecture == 80 || architecture == 90;
    assert_ok(nvrtc_target(compiler, architecture, target));
    if (build(source, contract, target, &p)) fail_msg("%s: %s", source->name, evn_message());
    assert_ok(nvrtc_measure(&p));
    while (source->entry[kernels].name) kernels++;
    assert_int_equal(p.kernels, kernels);
    for (int k = 0; k < p.kernels; k++) {
        const struct rtc_kernel *m = &p.kernel[k];
        int found = 0;
        for (int e = 0; e < kernels; e++) found |= !strcmp(source->entry[e].name, m->name);
        if (!found) fail_msg("%s: the host has no kernel %s", source->name, m->name);
        assert_true(m->registers > 0 && m->registers <= 255 && m->local_bytes >= 0);
        const int is_more = m->local_bytes > allowed(source->name, m->name, contract);
        if (is_reference || is_more)
            print_message("  %-8s %-24s %3d registers %5d bytes local, %5d spilled; %6d of a group"
                          "%s%s\n",
                          target, m->name, m->registers, m->local_bytes, m->spill_bytes,
                          m->group_bytes, contract ? "" : "; unfused",
                          m->spill_bytes > 0 ? "; SPILLS"
                          : is_more          ? "; LOCAL MEMORY"
                                             : "");
        /* nothing is spilled: an array with an index that the compiler does not know */
        f->too_much += is_more && (is_reference || !m->spill_bytes);
        if (is_reference && contract) f->too_few += has_too_few(source, m, architecture, f->seen);
    }
}

/* Every source for every architecture as it is built; for those with limits fused and unfused. */
TEST(kernels) {
    int count, compiled = 0;
    struct findings f = {0};
    const int *architecture = nvrtc_architectures(compiler, &count);
    for (int s = 0; s < SOURCES; s++)
        for (int a = 0; a < count; a++) {
            if (architecture[a] < LEAST) continue;
            look(sources[s], architecture[a], sources[s]->contract, &f);
            if (architecture[a] == 80 || architecture[a] == 90)
                look(sources[s], architecture[a], !sources[s]->contract, &f);
            compiled++;
        }
    print_message("%d sources for %d architectures\n", SOURCES, SOURCES ? compiled / SOURCES : 0);
    assert_true(compiled >= SOURCES);
    if (f.too_much)
        fail_msg("%d times a kernel takes more local memory than test_nvrtc.c allows", f.too_much);
    if (f.too_few) fail_msg("%d times a multiprocessor has too few groups of a kernel", f.too_few);
    for (int i = 0; i < AT_LEAST; i++)
        if (!f.seen[i]) fail_msg("no source has the kernel %s of test_nvrtc.c", at_least[i].kernel);
}

/* Fused or not is what the option says, in every kernel file. */
TEST(contract) {
    int fused[2] = {0};
    for (int s = 0; s < SOURCES; s++)
        for (int contract = 0; contract < 2; contract++) {
            ENDS(rtc_program_close) struct rtc_program p;
            assert_ok(build(sources[s], contract, "compute_80", &p));
            assert_true(p.is_text);
            assert_true(strlen(p.image) < p.bytes);
            for (const char *at = p.image; (at = strstr(at, "fma.rn.f64")); at++) fused[contract]++;
        }
    print_message("%d fused with contraction, %d without\n", fused[1], fused[0]);
    assert_true(fused[1] > fused[0]);
}

/* ---- measuring ---- */

static const char measured[] =
    "#line 1 \"measured.kernel.c\"\n"
    "extern \"C\" __global__ void __launch_bounds__(1024, 2) spills(double *a, int n) {\n"
    "    double x[40];\n"
    "    _Pragma(\"unroll\") for (int i = 0; i < 40; i++) x[i] = a[1024 * i + threadIdx.x];\n"
    "    for (int k = 0; k < n; k++) {\n"
    "        _Pragma(\"unroll\") for (int i = 0; i < 40; i++) x[i] = x[i] * x[(i + 7) % 40] + "
    "a[k];\n"
    "    }\n"
    "    _Pragma(\"unroll\") for (int i = 0; i < 40; i++) a[1024 * i + threadIdx.x] = x[i];\n"
    "}\n"
    "extern \"C\" __global__ void array(double *a, int n) {\n"
    "    double x[16];\n"
    "    for (int i = 0; i < 16; i++) x[i] = a[i];\n"
    "    a[n] = x[n & 15];\n"
    "}\n"
    "extern \"C\" __global__ void shares(double *a) {\n"
    "    __shared__ double s[100];\n"
    "    s[threadIdx.x] = a[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    a[threadIdx.x] += s[99 - threadIdx.x];\n"
    "}\n"
    "__device__ __noinline__ double called(const double *a, int n) {\n"
    "    double x[8];\n"
    "    for (int i = 0; i < 8; i++) x[i] = a[i];\n"
    "    return x[n & 7];\n"
    "}\n"
    "extern \"C\" __global__ void calls(double *a, int n) { a[0] = called(a, n); }\n";

static const struct rtc_kernel *kernel(const struct rtc_program *p, const char *name) {
    for (int k = 0; k < p->kernels; k++)
        if (!strcmp(p->kernel[k].name, name)) return &p->kernel[k];
    fail_msg("no kernel %s", name);
    return NULL;
}

TEST(measure) {
    ENDS(rtc_program_close) struct rtc_program p;
    assert_ok(rtc_compile(compiler, &p, "measured", measured, "sm_90", NULL, 1));
    assert_ok(nvrtc_measure(&p));
    assert_int_equal(p.kernels, 4);
    int has_report = strstr(p.log, "spill") != NULL;
    for (int with = has_report; with >= 0; with--) {
        if (!with) p.log[0] = 0;
        assert_ok(nvrtc_measure(&p));
        const struct rtc_kernel *spills = kernel(&p, "spills"), *array = kernel(&p, "array");
        const struct rtc_kernel *shares = kernel(&p, "shares"), *calls = kernel(&p, "calls");
        /* 1024 items twice on 65536 registers */
        assert_int_equal(spills->registers, 32);
        assert_true(spills->local_bytes > 200);
        assert_int_equal(array->local_bytes, 128);
        assert_int_equal(shares->local_bytes, 0);
        assert_true(calls->local_bytes >= 64);
        if (with) {
            assert_true(spills->spill_bytes > 200);
            assert_int_equal(array->spill_bytes, 0);
            assert_int_equal(shares->spill_bytes, 0);
            assert_int_equal(shares->group_bytes, 800);
            assert_int_equal(array->group_bytes, 0);
        } else {
            assert_int_equal(spills->spill_bytes, -1);
            assert_int_equal(shares->group_bytes, -1);
        }
    }
}

/* Whatever is in an image, measuring it reads nothing outside (the sanitizers look on) and comes to
 * an end. */
TEST(damaged) {
    struct rtc_program p, bad = {0};
    assert_ok(rtc_compile(compiler, &p, "measured", measured, "sm_90", NULL, 1));
    char no_log[1] = "";
    bad.log = no_log;
    int refused = 0, damaged = 0;
    assert_true(nvrtc_is_whole(p.image, p.bytes, "sm_90"));
    assert_true(nvrtc_is_whole("text", 5, "compute_90"));
    assert_false(nvrtc_is_whole("text", 4, "compute_90"));
    assert_false(nvrtc_is_whole("text", 0, "compute_90"));
    assert_false(nvrtc_is_whole("text", 5, "sm_90"));
    for (size_t bytes = 0; bytes < p.bytes; bytes += bytes < 256 ? 1 : 97) {
        bad.image = malloc(bytes ? bytes : 1); /* of this size, so that reading beyond is seen */
        memcpy(bad.image, p.image, bytes);
        bad.bytes = bytes;
        refused += nvrtc_measure(&bad) == EVN_SYSTEM;
        assert_false(nvrtc_is_whole(bad.image, bytes, "sm_90"));
        damaged++;
        free(bad.image);
    }
    assert_true(refused > damaged * 9 / 10); /* its tables are near its end */
    unsigned random = 12345;
    bad.image = malloc(p.bytes);
    bad.bytes = p.bytes;
    for (int round = 0; round < 3000; round++) {
        memcpy(bad.image, p.image, p.bytes);
        for (int i = 0; i < 8; i++) {
            random = random * 1664525u + 1013904223u;
            size_t at = (random >> 8) % p.bytes;
            /* mostly where headers and tables are */
            if (round & 1) at = at % 64;
            if (round & 2) at = p.bytes - 1 - at % (27 * 64);
            ((unsigned char *)bad.image)[at] ^= (unsigned char)(1u << (random >> 29));
        }
        nvrtc_measure(&bad);
        nvrtc_is_whole(bad.image, bad.bytes, "sm_90");
    }
    free(bad.image);
    free(bad.kernel);
    bad = (struct rtc_program){.image = (void *)(uintptr_t) "text", .bytes = 5};
    assert_int_equal(nvrtc_measure(&bad), EVN_SYSTEM);
    assert_says("not a cubin");
    rtc_program_close(&p);
}

/* ---- the compiler ---- */

TEST(refusals) {
    struct rtc_program p;
    static const char bad[] =
        "\n#line 7 \"bad.kernel.c\"\nextern \"C\" __global__ void k(double *a) "
        "{ a[0] = b; }\n";
    assert_int_equal(rtc_compile(compiler, &p, "bad", bad, "sm_90", NULL, 1), EVN_SYSTEM);
    assert_says("NVRTC");
    assert_says("for sm_90: bad.kernel.c(7): error");
    assert_says("\"b\"");
    assert_null(strchr(evn_message(), '\n'));
    assert_null(p.image);
    assert_null(p.log);
    assert_int_equal(rtc_compile(compiler, &p, "k", measured, "sm_90", "=5", 1), EVN_SYSTEM);
    assert_says("NVRTC");
    assert_int_equal(rtc_compile(compiler, &p, "k", measured, "sm_1", NULL, 1), EVN_SYSTEM);
    assert_says("sm_1: nvrtc: error: invalid value for --gpu-architecture");
}

/* Macros get where they belong, however they are spaced. */
TEST(defines) {
    static const char text[] =
        "extern \"C\" __global__ void k(int *a) { a[0] = N + PLAIN + DIRECTION; }\n";
    ENDS(rtc_program_close) struct rtc_program p;
    assert_ok(rtc_compile(compiler, &p, "k", text, "compute_80", "  N=40  DIRECTION=-1 PLAIN ", 1));
    assert_non_null(strstr(p.image, ", 40;")); /* N + 1 - 1, folded */
    rtc_program_close(&p);
    assert_int_equal(rtc_compile(compiler, &p, "k", text, "compute_80", "N=40 PLAIN", 1),
                     EVN_SYSTEM);
    assert_says("DIRECTION");
    char many[4000] = "";
    for (int i = 0; i < 400; i++) sprintf(many + strlen(many), "M%d ", i);
    strcat(many, "N=1 DIRECTION=1 PLAIN=1");
    assert_ok(rtc_compile(compiler, &p, "k", text, "compute_80", many, 0));
}

TEST(targets) {
    int count;
    const int *known = nvrtc_architectures(compiler, &count);
    char target[32], expected[32];
    for (int i = 0; i < count; i++) {
        if (i) assert_true(known[i] > known[i - 1]);
        assert_ok(nvrtc_target(compiler, known[i], target));
        snprintf(expected, sizeof expected, "sm_%d", known[i]);
        assert_string_equal(target, expected);
    }
    assert_ok(nvrtc_target(compiler, 999, target));
    snprintf(expected, sizeof expected, "compute_%d", known[count - 1]);
    assert_string_equal(target, expected);
    struct rtc_program p;
    assert_ok(rtc_compile(compiler, &p, "measured", measured, target, NULL, 1));
    assert_true(p.is_text);
    assert_non_null(strstr(p.image, ".version"));
    assert_int_equal(nvrtc_measure(&p), EVN_SYSTEM);
    rtc_program_close(&p);
    assert_int_equal(nvrtc_target(compiler, known[0] - 1, target), EVN_MISSING);
    assert_says("EVENER_NVRTC");
}

/* A driver gets a compiler that it understands where there is one, and else what there is. */
TEST(versions) {
    static const int drivers[] = {11000, 12040, 13000, 99000};
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        struct rtc *c;
        assert_ok(nvrtc_open(&c, drivers[i]));
        assert_true(rtc_version(c) >= 11020);
        if (rtc_version(compiler) / 1000 <= drivers[i] / 1000)
            assert_true(rtc_version(c) / 1000 <= drivers[i] / 1000);
        rtc_close(c);
    }
}

int main(void) {
    if (nvrtc_open(&compiler, 0)) {
        printf("skipped: %s\n", evn_message());
        return SKIPPED;
    }
    printf("NVRTC %d.%d, %s\n", rtc_version(compiler) / 1000, rtc_version(compiler) % 1000 / 10,
           rtc_path(compiler));
    int failed = run_all_tests(NULL, NULL);
    rtc_close(compiler);
    return failed;
}
