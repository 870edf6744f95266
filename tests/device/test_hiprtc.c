/* AMD's run-time compiler and the project's kernels: each of them compiles for every architecture
 * that kernels are shipped for and the compiler knows, none spills vector registers or takes
 * memory of an item's own without a reason, and the metadata of code objects is read whatever it
 * holds. Needs no GPU; where HIPRTC is not found it is skipped. Run: ctest -R hiprtc -V (with -V it
 * shows what each kernel takes) */
/* HIP's own headers, where they are, so that our declarations can be compared with them */
#if __has_include(<hip/hip_runtime_api.h>) && __has_include(<hip/hiprtc.h>)
#    define __HIP_PLATFORM_AMD__ 1
#    include <hip/hip_runtime_api.h>
#    include <hip/hiprtc.h>
#    define HIPRTC_IS_INCLUDED
#    define HAVE_HIP_HEADERS 1
#    if HIP_VERSION_MAJOR < 6
#        define GPU_CONST /* earlier headers lack it */
#    endif
#else
#    define HAVE_HIP_HEADERS 0
#endif
#include "check.h"
#include "device/gpu/elf.h"
#include "device/gpu/shipped.h"
#include "device/hip/hiprtc.h"

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

/* Kernels that may spill vector registers on gfx906, how many bytes of an item at most, and why. */
static const struct {
    const char *kernel; /* source.kernel */
    int bytes;
    const char *reason;
} may_spill[] = {
    {"bt.bt_lines", 400, "blocks of 5 by 5 in registers: gfx90a takes 360, gfx906 has 256"},
};

/* Memory of an item's own beside what is spilled: places that are reserved for scalar registers,
 * and arrays of the tests of the dialect. */
enum { RESERVED = 160 };

static struct rtc *compiler;

/* ---- our declarations ---- */

#if HAVE_HIP_HEADERS
#    define SAME_N(table, member, symbol)
#    define SAME_O(table, member, symbol) /* earlier headers may lack it */
#    define SAME_R(table, member, symbol)                                                          \
        _Static_assert(__builtin_types_compatible_p(__typeof__(((struct table *)0)->member),       \
                                                    __typeof__(&symbol)),                          \
                       #symbol " is declared otherwise in HIP's header");
#    define SAME(member, cuda, cuda_need, symbol, need, parameters)                                \
        SAME_##need(gpu_api, member, symbol)
GPU_FUNCTIONS(SAME)
#    undef SAME
#    define SAME(member, cuda, cuda_need, symbol, need, parameters)                                \
        SAME_##need(rtc_api, member, symbol)
RTC_FUNCTIONS(SAME)
#    undef SAME
#    define SAME(ours, cuda, theirs, value)                                                        \
        _Static_assert((int)ours == (int)theirs, #theirs " has another value");
GPU_CONSTANTS(SAME)
RTC_CONSTANTS(SAME)
#    undef SAME
#    define SAME(ours, theirs, value)                                                              \
        _Static_assert((int)ours == (int)theirs, #theirs " has another value");
HIP_CONSTANTS(SAME)
#    undef SAME
#    define SAME(ours, cuda, cuda_value, theirs, value)                                            \
        _Static_assert((int)theirs == value, #theirs " has another value");
GPU_ATTRIBUTES(SAME)
#    undef SAME
#endif

TEST(declarations) {
#if HAVE_HIP_HEADERS
    print_message("compared with the headers of HIP %d.%d when this was compiled\n",
                  HIP_VERSION_MAJOR, HIP_VERSION_MINOR);
#else
    print_message("no headers of HIP: declarations are not compared\n");
    skip();
#endif
}

/* ---- the project's kernels ---- */

static int allowed(const char *source, const char *kernel, const char *target) {
    char name[160];
    snprintf(name, sizeof name, "%s.%s", source, kernel);
    for (size_t i = 0; i < sizeof may_spill / sizeof *may_spill; i++)
        if (!strcmp(target, "gfx906") && !strcmp(may_spill[i].kernel, name))
            return may_spill[i].bytes;
    return 0;
}

static evn_status build(const evn_kernel_source *source, int contract, const char *target,
                        struct rtc_program *out) {
    return rtc_compile(compiler, out, source->name, source->text, target, source->defines,
                       contract);
}

/* Compiles one source and looks at each of its kernels; those that take too much. */
static int look(const evn_kernel_source *source, const char *target) {
    ENDS(rtc_program_close) struct rtc_program p;
    int kernels = 0, too_much = 0;
    if (build(source, source->contract, target, &p))
        fail_msg("%s: %s", source->name, evn_message());
    assert_ok(hiprtc_measure(&p));
    assert_true(rtc_hiprtc.is_whole(p.image, p.bytes, target));
    while (source->entry[kernels].name) kernels++;
    assert_int_equal(p.kernels, kernels);
    const int wavefront = !strncmp(target, "gfx9", 4) ? 64 : 32;
    for (int k = 0; k < p.kernels; k++) {
        const struct rtc_kernel *m = &p.kernel[k];
        int found = 0;
        for (int e = 0; e < kernels; e++) found |= !strcmp(source->entry[e].name, m->name);
        if (!found) fail_msg("%s: the host has no kernel %s", source->name, m->name);
        assert_true(m->registers > 0 && m->registers <= 512 && m->local_bytes >= 0);
        assert_true(m->group_bytes >= 0 && m->group_bytes <= 65536);
        assert_int_equal(m->wavefront, wavefront);
        const int may = allowed(source->name, m->name, target);
        const int is_more = m->spill_bytes > may || m->local_bytes > may + RESERVED;
        print_message("  %-8s %-24s %3d vector %3d scalar registers %5d bytes local, %5d spilled; "
                      "%6d of a group%s\n",
                      target, m->name, m->registers, m->scalar_registers, m->local_bytes,
                      m->spill_bytes, m->group_bytes,
                      m->spill_bytes > 0 ? "; SPILLS"
                      : is_more          ? "; LOCAL MEMORY"
                                         : "");
        too_much += is_more;
    }
    return too_much;
}

TEST(kernels) {
    int targets = 0, too_much = 0;
    for (int t = 0; shipped_targets[t]; t++) {
        const char *target = shipped_targets[t];
        if (strncmp(target, "gfx", 3)) continue;
        if (!rtc_hiprtc.knows(compiler, target)) {
            print_message("  %s: this compiler does not know it\n", target);
            continue;
        }
        /* one of two architectures of one kind: the rest by EVENER_TEST_ALL_TARGETS */
        if (targets >= 2 && !getenv("EVENER_TEST_ALL_TARGETS")) break;
        for (int s = 0; s < SOURCES; s++) too_much += look(sources[s], target);
        targets++;
    }
    print_message("%d sources for %d architectures\n", SOURCES, targets);
    assert_true(targets >= 1);
    if (too_much)
        fail_msg("%d times a kernel spills or takes more memory than test_hiprtc.c allows",
                 too_much);
}

/* Fused or not is what the option says: the code of v_fma_f64, in the text section of one file. */
static int count_fused(const struct rtc_program *p) {
    struct elf e;
    Elf64_Shdr text;
    const unsigned char *data;
    int count = 0;
    assert_true(elf_open(&e, p->image, p->bytes) && elf_named(&e, ".text", &text, &data));
    for (size_t at = 0; at + 4 <= text.sh_size; at += 4) {
        unsigned word;
        memcpy(&word, data + at, sizeof word);
        /* VOP3, operation 0x1cc of GCN's fifth generation ("Vega" ISA, VOP3A) */
        count += word >> 16 == (0xd000 | 0x1cc);
    }
    return count;
}

TEST(contract) {
    int fused[2] = {0};
    for (int s = 0; s < SOURCES; s++)
        for (int contract = 0; contract < 2 && !strcmp(sources[s]->name, "bt"); contract++) {
            ENDS(rtc_program_close) struct rtc_program p;
            assert_ok(build(sources[s], contract, "gfx906", &p));
            fused[contract] += count_fused(&p);
        }
    print_message("%d fused with contraction, %d without\n", fused[1], fused[0]);
    assert_true(fused[1] > 2 * fused[0] && fused[1] > 100);
}

/* ---- measuring ---- */

static const char measured[] =
    "extern \"C\" __global__ void __attribute__((amdgpu_flat_work_group_size(1024, 1024), "
    "amdgpu_waves_per_eu(8))) spills(double *a, int n) {\n"
    "    double x[40];\n"
    "    _Pragma(\"unroll\") for (int i = 0; i < 40; i++) x[i] = a[1024 * i + threadIdx.x];\n"
    "    for (int k = 0; k < n; k++) {\n"
    "        _Pragma(\"unroll\") for (int i = 0; i < 40; i++) x[i] = x[i] * x[(i + 7) % 40] + "
    "a[k];\n"
    "    }\n"
    "    _Pragma(\"unroll\") for (int i = 0; i < 40; i++) a[1024 * i + threadIdx.x] = x[i];\n"
    "}\n"
    "extern \"C\" __global__ void shares(double *a) {\n"
    "    __shared__ double s[100];\n"
    "    s[threadIdx.x] = a[threadIdx.x];\n"
    "    __syncthreads();\n"
    "    a[threadIdx.x] += s[99 - threadIdx.x];\n"
    "}\n";

TEST(measure) {
    ENDS(rtc_program_close) struct rtc_program p;
    assert_ok(rtc_compile(compiler, &p, "measured", measured, "gfx906", NULL, 1));
    assert_ok(hiprtc_measure(&p));
    assert_int_equal(p.kernels, 2);
    const struct rtc_kernel *spills = rtc_kernel_called(&p, "spills", 6);
    const struct rtc_kernel *shares = rtc_kernel_called(&p, "shares", 6);
    assert_non_null(spills);
    assert_non_null(shares);
    /* 80 registers of values in 32, which 8 wavefronts of a SIMD's 256 leave to each */
    assert_int_equal(spills->registers, 32);
    /* a register that is spilled twice counts twice */
    assert_true(spills->spill_bytes > 100 && spills->local_bytes > 100);
    assert_int_equal(shares->spill_bytes, 0);
    assert_int_equal(shares->local_bytes, 0);
    assert_int_equal(shares->group_bytes, 800);
    assert_true(shares->scalar_registers > 0);
}

/* Whatever is in an image, measuring it reads nothing outside (the sanitizers look on) and comes to
 * an end. */
TEST(damaged) {
    struct rtc_program p, bad = {0};
    assert_ok(rtc_compile(compiler, &p, "measured", measured, "gfx906", NULL, 1));
    int refused = 0, damaged = 0;
    for (size_t bytes = 0; bytes < p.bytes; bytes += bytes < 256 ? 1 : 37) {
        bad.image = malloc(bytes ? bytes : 1); /* of this size, so that reading beyond is seen */
        memcpy(bad.image, p.image, bytes);
        bad.bytes = bytes;
        refused += hiprtc_measure(&bad) == EVN_SYSTEM;
        assert_false(rtc_hiprtc.is_whole(bad.image, bytes, "gfx906"));
        damaged++;
        free(bad.image);
    }
    assert_true(refused > damaged * 9 / 10); /* its tables are near its end */
    struct elf e;
    Elf64_Shdr note;
    const unsigned char *data = NULL;
    assert_true(elf_open(&e, p.image, p.bytes) && elf_named(&e, ".note", &note, &data));
    const size_t notes = (size_t)(data - (const unsigned char *)p.image);
    unsigned random = 12345;
    bad.image = malloc(p.bytes);
    bad.bytes = p.bytes;
    for (int round = 0; round < 5000; round++) {
        memcpy(bad.image, p.image, p.bytes);
        for (int i = 0; i < 4; i++) {
            random = random * 1664525u + 1013904223u;
            size_t at = (random >> 8) % p.bytes;
            if (round & 1) at = notes + at % note.sh_size; /* mostly in the metadata */
            ((unsigned char *)bad.image)[at] ^= (unsigned char)(1u << (random >> 29));
        }
        hiprtc_measure(&bad);
        rtc_hiprtc.is_whole(bad.image, bad.bytes, "gfx906");
    }
    free(bad.image);
    free(bad.kernel);
    bad = (struct rtc_program){.image = (void *)(uintptr_t) "text", .bytes = 5};
    assert_int_equal(hiprtc_measure(&bad), EVN_SYSTEM);
    assert_says("not a code object");
    rtc_program_close(&p);
}

/* ---- the compiler ---- */

TEST(refusals) {
    struct rtc_program p;
    static const char bad[] =
        "\n#line 7 \"bad.kernel.c\"\nextern \"C\" __global__ void k(double *a) "
        "{ a[0] = b; }\n";
    assert_int_equal(rtc_compile(compiler, &p, "bad", bad, "gfx906", NULL, 1), EVN_SYSTEM);
    assert_says("HIPRTC");
    assert_says("for gfx906: bad.kernel.c:7");
    assert_null(p.image);
    assert_false(rtc_hiprtc.knows(compiler, "gfx9999"));
    assert_false(rtc_hiprtc.knows(compiler, "sm_90"));
    char target[32];
    assert_int_equal(rtc_compile(compiler, &p, "bad", measured, "gfx9999", NULL, 1), EVN_MISSING);
    assert_says("makes no programs for gfx9999");
    assert_ok(rtc_hiprtc.target(compiler, "gfx90a", target));
    assert_string_equal(target, "gfx90a");
}

TEST(places) {
    struct rtc *c;
    const char *own = getenv("EVENER_HIPRTC");
    char kept[400] = "";
    snprintf(kept, sizeof kept, "%s", own ? own : "");
    setenv("EVENER_HIPRTC", "/nowhere/libhiprtc.so", 1);
    assert_int_equal(hiprtc_open(&c, 0, NULL), EVN_MISSING);
    assert_says("EVENER_HIPRTC=\"/nowhere/libhiprtc.so\" cannot be used");
    assert_null(c);
    setenv("EVENER_HIPRTC", "libm.so.6", 1);
    assert_int_equal(hiprtc_open(&c, 0, NULL), EVN_MISSING);
    assert_says("has no hiprtcVersion");
    if (own)
        setenv("EVENER_HIPRTC", kept, 1);
    else
        unsetenv("EVENER_HIPRTC");
}

int main(void) {
    if (hiprtc_open(&compiler, 0, NULL)) {
        printf("skipped: %s\n", evn_message());
        return 77;
    }
    printf("HIPRTC %d.%d, %s\n", rtc_version(compiler) / 1000, rtc_version(compiler) % 1000 / 10,
           rtc_path(compiler));
    int failed = run_all_tests(NULL, NULL);
    rtc_close(compiler);
    return failed;
}
