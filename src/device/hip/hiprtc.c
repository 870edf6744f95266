/* Finding HIPRTC, and its targets. */
#include "device/hip/hiprtc.h"
#include "device/gpu/elf.h"
#include "device/hip/find_rocm.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST_MAJOR = 5, NEWEST_MAJOR = 8 };

/* Tries one major version in one folder ("": the loader's); 0: the unversioned names. */
static int try_major(struct rtc *c, const char *folder, int major, char *why, size_t size) {
    static const char *const names[] = {"libhiprtc.so", "libamdhip64.so"};
    char file[PATH_MAX + 40], version[16] = "";
    if (major) snprintf(version, sizeof version, ".%d", major);
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%.4000s%s%s", folder, names[i], version);
        if (!rtc_try(c, file, why, size)) return 0;
    }
    return 1;
}

static int find(struct rtc *c, const struct folders *f, int driver, const char *beside, char *why,
                size_t size) {
    char folder[PATH_MAX] = "";
    const int own = driver / 10000000;
    const char *slash = beside ? strrchr(beside, '/') : NULL;
    if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash + 1 - beside), beside);
    for (int major = NEWEST_MAJOR; major >= OLDEST_MAJOR; major--) {
        if (own && major != own) continue;
        if (*folder && !try_major(c, folder, major, why, size)) return 0;
        for (int i = -1; i < f->count; i++)
            if (!try_major(c, i < 0 ? "" : f->path[i], major, why, size)) return 0;
    }
    for (int i = -1; !own && i < f->count; i++)
        if (!try_major(c, i < 0 ? "" : f->path[i], 0, why, size)) return 0;
    return 1;
}

static evn_status find_or_say(struct rtc *c, int driver, const char *beside, char *why,
                              size_t size) {
    struct folders *f = folders_of_rocm();
    if (!f) return evn_fail(EVN_MEMORY, "not enough memory to look for the run-time compiler");
    evn_status status = EVN_OK;
    if (find(c, f, driver, beside, why, size))
        status = evn_fail(EVN_MISSING,
                          "no run-time compiler: %s%s; install ROCm's libhiprtc.so, or set "
                          "EVENER_HIPRTC to the file",
                          *why ? why
                               : "neither libhiprtc.so nor a libamdhip64.so with it is where the "
                                 "loader looks or in ",
                          *why ? "" : f->named);
    free(f);
    return status;
}

evn_status hiprtc_open(struct rtc **out, int driver, const char *beside) {
    *out = NULL;
    struct rtc *c = calloc(1, sizeof *c);
    if (!c) return evn_fail(EVN_MEMORY, "not enough memory for the run-time compiler");
    c->kind = &rtc_hiprtc;
    char why[700] = "";
    const char *file = secure_getenv("EVENER_HIPRTC");
    evn_status status = EVN_OK;
    if (!file || !*file)
        status = find_or_say(c, driver, beside, why, sizeof why);
    else if (rtc_try(c, file, why, sizeof why))
        status = evn_fail(EVN_MISSING, "EVENER_HIPRTC=\"%.300s\" cannot be used: %.500s", file,
                          *why ? why : "it cannot be opened");
    if (!status)
        *out = c;
    else
        free(c);
    return status;
}

/* The compiler's own library, which HIPRTC opens by name when it compiles: the one that is loaded,
 * or else the one beside HIPRTC; NULL. */
static void *code_generator(const struct rtc *c) {
    static const char *const names[] = {"libamd_comgr.so.3", "libamd_comgr.so.2"};
    const char *slash = strrchr(c->path, '/');
    char file[PATH_MAX + 32];
    void *found = NULL;
    for (int i = 0; i < 2 && !found; i++) found = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
    for (int i = 0; i < 2 && slash && !found; i++) {
        snprintf(file, sizeof file, "%.*s%s", (int)(slash + 1 - c->path), c->path, names[i]);
        found = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    }
    return found;
}

/* 1 if `target` is in the compiler library's list; -1: the list is not available. HIPRTC of ROCm 5
 * ends the process when it is asked for another architecture. */
static int is_listed(const struct rtc *c, const char *target) {
    int (*count_of)(size_t * count), (*name_of)(size_t index, const char **name);
    void *library = code_generator(c);
    void *count_symbol = library ? dlsym(library, "amd_comgr_get_isa_count") : NULL;
    void *name_symbol = library ? dlsym(library, "amd_comgr_get_isa_name") : NULL;
    size_t count = 0;
    memcpy(&count_of, &count_symbol, sizeof count_symbol);
    memcpy(&name_of, &name_symbol, sizeof name_symbol);
    if (!count_of || !name_of || count_of(&count) || !count) return -1;
    for (size_t i = 0; i < count; i++) {
        const char *name = NULL, *dash = NULL; /* "amdgcn-amd-amdhsa--gfx906" */
        if (!name_of(i, &name) && name) dash = strrchr(name, '-');
        if (dash && !strcmp(dash + 1, target)) return 1;
    }
    return 0;
}

static int knows(const struct rtc *c, const char *target) {
    struct rtc_program made;
    const int listed = strncmp(target, "gfx", 3) ? 0 : is_listed(c, target);
    if (listed >= 0) return listed;
    if (rtc_compile(c, &made, "none.hip", "extern \"C\" __global__ void none() {}\n", target, NULL,
                    0))
        return 0;
    rtc_program_close(&made);
    return 1;
}

/* Target of an architecture, without looking into the compiler's list. That would load a library
 * with all of LLVM, and where PoCL has loaded another one Debian's builds crash, so it is loaded
 * for compilations only. */
static evn_status target_of(const struct rtc *c, const char *own, char target[32]) {
    (void)c;
    snprintf(target, 32, "%s", own);
    return EVN_OK;
}

static evn_status ready(const struct rtc *c, const char *target) {
    if (is_listed(c, target)) return EVN_OK;
    return evn_fail(EVN_MISSING,
                    "HIPRTC (%.300s) makes no programs for %s; install a later ROCm, or set "
                    "EVENER_HIPRTC to the compiler of one",
                    c->path, target);
}

static int is_whole(const void *image, size_t bytes, const char *target) {
    (void)target;
    return elf_is_whole(image, bytes);
}

const struct rtc_kind rtc_hiprtc = {
    .name = "HIPRTC",
    .side = GPU_HIP,
    .open = hiprtc_open,
    .knows = knows,
    .target = target_of,
    .ready = ready,
    .target_option = "--offload-arch=",
    .contract_option = {"-ffp-contract=off", "-ffp-contract=fast"},
    .option = {"-O3"},
    .is_whole = is_whole,
    .measure = hiprtc_measure,
};
