/* Finding NVRTC, its targets, and the resources of its programs. A kernel's resources are read from
 * two places. The cubin is an ELF file; its section .nv.info always has each function's registers
 * and stack frame. The assembler's report in the log separates spilled bytes from arrays, which the
 * cubin does not. */
#include "device/cuda/nvrtc.h"
#include "device/cuda/find_libraries.h"
#include "device/gpu/elf.h"
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST = 11020, NEWEST_MAJOR = 15 };

/* ---- finding it ---- */

/* Checks the library just opened; the fault in `why`, 0 if it is usable. */
static int is_unusable(struct rtc *c, char *why, size_t size) {
    int count = 0;
    if (c->version < OLDEST) {
        snprintf(why, size, "%.400s is NVRTC %d.%d; 11.2 is the oldest that will do", c->path,
                 c->version / 1000, c->version % 1000 / 10);
        return 1;
    }
    if (c->api.architecture_count(&count) || count < 1 || count > RTC_ARCHITECTURES ||
        c->api.architecture_list(c->architecture)) {
        snprintf(why, size, "%.400s does not say which architectures it knows", c->path);
        return 1;
    }
    c->architectures = count;
    for (int i = 1; i < count; i++) /* ascending, as far as known always */
        for (int k = i; k && c->architecture[k] < c->architecture[k - 1]; k--) {
            int t = c->architecture[k];
            c->architecture[k] = c->architecture[k - 1];
            c->architecture[k - 1] = t;
        }
    return 0;
}

/* Opens one file; 0 if usable. `why`: its fault; unchanged if there is no such file. */
static int try_file(struct rtc *c, const char *file, char *why, size_t size) {
    char fault[600] = "";
    int wrong = rtc_try(c, file, fault, sizeof fault);
    if (*fault)
        snprintf(why, size, "%s%s", fault, c->version ? "; 11.2 is the oldest that will do" : "");
    if (!wrong && is_unusable(c, why, size)) {
        rtc_drop(c);
        wrong = 1;
    }
    return wrong;
}

/* NVRTC opens a second library by name alone, which the loader does not find in a folder that is
 * none of its own; once that is loaded, the name is enough. */
static void load_builtins(const struct rtc *c) {
    char folder[PATH_MAX], file[PATH_MAX + 64];
    if (!realpath(c->path, folder)) return;
    snprintf(file, sizeof file, "%s/libnvrtc-builtins.so.%d.%d", dirname(folder), c->version / 1000,
             c->version % 1000 / 10);
    dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
}

/* Tries one major version in all folders; 0: the unversioned name. */
static int try_major(struct rtc *c, const struct folders *f, int major, int max, char *why,
                     size_t size) {
    char file[PATH_MAX + 32];
    for (int i = -1; i < f->count; i++) {
        const char *folder = i < 0 ? "" : f->path[i]; /* first the loader's folders */
        if (major)
            snprintf(file, sizeof file, "%slibnvrtc.so.%d%s", folder, major,
                     major == 11 ? ".2" : "");
        else
            snprintf(file, sizeof file, "%slibnvrtc.so", folder);
        if (try_file(c, file, why, size)) continue;
        if (c->version / 1000 <= max) return 0;
        rtc_drop(c);
    }
    return 1;
}

static int find(struct rtc *c, const struct folders *f, int driver, char *why, size_t size) {
    int max = driver ? driver / 1000 : INT_MAX, wrong = 1;
    for (int major = NEWEST_MAJOR; wrong && major >= OLDEST / 1000; major--)
        if (major <= max) wrong = try_major(c, f, major, max, why, size);
    if (wrong) wrong = try_major(c, f, 0, max, why, size);
    /* compilers later than the driver, the nearest version first */
    for (int major = OLDEST / 1000; wrong && major <= NEWEST_MAJOR; major++)
        if (major > max) wrong = try_major(c, f, major, INT_MAX, why, size);
    if (wrong) wrong = try_major(c, f, 0, INT_MAX, why, size);
    return wrong;
}

static evn_status find_or_say(struct rtc *c, int driver, char *why, size_t size) {
    struct folders *f = folders_of_compiler();
    if (!f) return evn_fail(EVN_MEMORY, "not enough memory to look for the run-time compiler");
    evn_status status = EVN_OK;
    if (find(c, f, driver, why, size))
        status = evn_fail(EVN_MISSING,
                          "no run-time compiler: %s%s; install libnvrtc.so.13, .12 or .11.2 in one "
                          "of these, or set EVENER_NVRTC to the file",
                          *why ? why : "libnvrtc.so is neither where the loader looks nor in ",
                          *why ? "" : f->named);
    free(f);
    return status;
}

evn_status nvrtc_open(struct rtc **out, int driver) {
    *out = NULL;
    struct rtc *c = calloc(1, sizeof *c);
    if (!c) return evn_fail(EVN_MEMORY, "not enough memory for the run-time compiler");
    c->kind = &rtc_nvrtc;
    char why[700] = "";
    const char *file = secure_getenv("EVENER_NVRTC");
    evn_status status = EVN_OK;
    if (file && *file) {
        if (try_file(c, file, why, sizeof why)) {
            const char *error = *why ? why : dlerror();
            status = evn_fail(EVN_MISSING, "EVENER_NVRTC=\"%.300s\" cannot be used: %.500s", file,
                              error ? error : "it cannot be opened");
        }
    } else {
        status = find_or_say(c, driver, why, sizeof why);
    }
    if (status) {
        free(c);
        return status;
    }
    load_builtins(c);
    *out = c;
    return EVN_OK;
}

const int *nvrtc_architectures(const struct rtc *c, int *count) {
    *count = c->architectures;
    return c->architecture;
}

evn_status nvrtc_target(const struct rtc *c, int architecture, char target[32]) {
    int lower = 0;
    for (int i = 0; i < c->architectures; i++) {
        if (c->architecture[i] == architecture) {
            snprintf(target, 32, "sm_%d", architecture);
            return EVN_OK;
        }
        if (c->architecture[i] < architecture) lower = c->architecture[i];
    }
    if (!lower)
        return evn_fail(EVN_MISSING,
                        "NVRTC %d.%d (%.300s) makes programs for sm_%d and later, and the "
                        "device is sm_%d; install the compiler of an earlier CUDA (12 still knows "
                        "sm_50) beside it and set EVENER_NVRTC to its file",
                        c->version / 1000, c->version % 1000 / 10, c->path, c->architecture[0],
                        architecture);
    snprintf(target, 32, "compute_%d", lower);
    return EVN_OK;
}

/* ---- reading a cubin ---- */

/* Items of .nv.info: a byte for the form of the value, one for its meaning, two for the size. */
enum { FORM_SIZED = 4, INFO_FRAME = 0x11, INFO_STACK = 0x12, INFO_REGISTERS = 0x2f };
enum { SYMBOL_IS_KERNEL = 0x10 }; /* bit of a symbol's st_other */

/* The kernel that the function `name` belongs to: itself, or for "$kernel$function", which is a
 * function as compiled for that kernel, the kernel. */
static struct rtc_kernel *kernel_of(struct rtc_program *p, const char *name) {
    if (*name != '$') return rtc_kernel_called(p, name, strlen(name));
    return rtc_kernel_called(p, name + 1, strcspn(name + 1, "$"));
}

static void read_info(struct rtc_program *p, const unsigned char *info, size_t bytes,
                      const unsigned char *symbols, size_t symbol_bytes, const unsigned char *names,
                      size_t name_bytes) {
    size_t item;
    for (size_t at = 0; at + 4 <= bytes; at += item) {
        item = 4;
        if (info[at] != FORM_SIZED) continue;
        unsigned size = info[at + 2] + 256u * info[at + 3];
        item += size;
        unsigned value[2];
        if (size != sizeof value || at + item > bytes) continue;
        memcpy(value, info + at + 4, sizeof value);
        Elf64_Sym symbol;
        if (value[0] >= symbol_bytes / sizeof symbol) continue;
        memcpy(&symbol, symbols + value[0] * sizeof symbol, sizeof symbol);
        struct rtc_kernel *k = kernel_of(p, elf_text(names, name_bytes, symbol.st_name));
        if (!k || value[1] > INT_MAX) continue;
        int n = (int)value[1];
        switch (info[at + 1]) {
        case INFO_REGISTERS:
            if (n > k->registers) k->registers = n;
            break;
        case INFO_FRAME:
        case INFO_STACK:
            if (n > k->local_bytes) k->local_bytes = n;
            break;
        }
    }
}

/* The number before the words `what` in a line; -1: they are not in it. */
static int number_before(const char *line, const char *what) {
    const char *end = line + strcspn(line, "\n"), *at = strstr(line, what);
    if (!at || at >= end) return -1;
    while (at > line && at[-1] == ' ') at--;
    while (at > line && at[-1] >= '0' && at[-1] <= '9') at--;
    return atoi(at);
}

/* The assembler's report: after a kernel's own line come those of the functions compiled for it. */
static void read_report(struct rtc_program *p) {
    static const char head[] = "Compiling entry function '";
    struct rtc_kernel *k = NULL;
    for (const char *line = p->log; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        const char *at = strstr(line, head);
        if (at && at < line + length) {
            at += sizeof head - 1;
            k = rtc_kernel_called(p, at, strcspn(at, "'\n"));
            if (k) k->spill_bytes = k->group_bytes = 0;
        }
        if (!k) continue;
        int spilled = number_before(line, "bytes spill stores");
        int frame = number_before(line, "bytes stack frame");
        int stack = number_before(line, "bytes cumulative stack size");
        int group = number_before(line, "bytes smem");
        if (spilled > 0) k->spill_bytes += spilled;
        if (frame > k->local_bytes) k->local_bytes = frame;
        if (stack > k->local_bytes) k->local_bytes = stack;
        if (group > 0) k->group_bytes = group;
    }
}

int nvrtc_is_whole(const void *image, size_t bytes, const char *target) {
    if (!strncmp(target, "compute_", 8)) return bytes && !((const char *)image)[bytes - 1];
    return elf_is_whole(image, bytes);
}

evn_status nvrtc_measure(struct rtc_program *p) {
    free(p->kernel);
    p->kernel = NULL;
    p->kernels = 0;
    struct elf e;
    Elf64_Shdr symbols, names, info;
    const unsigned char *symbol_data, *name_data, *info_data;
    if (!elf_open(&e, p->image, p->bytes))
        return evn_fail(EVN_SYSTEM, "%zu bytes are not a cubin", p->bytes);
    if (!elf_named(&e, ".symtab", &symbols, &symbol_data) ||
        !elf_named(&e, ".strtab", &names, &name_data))
        return evn_fail(EVN_SYSTEM, "a cubin of %zu bytes has no table of its kernels", p->bytes);
    size_t count = symbols.sh_type == SHT_NOBITS ? 0 : symbols.sh_size / sizeof(Elf64_Sym);
    if (names.sh_type == SHT_NOBITS) names.sh_size = 0;
    for (int pass = 0; pass < 2; pass++) {
        int kernels = 0;
        for (size_t i = 0; i < count; i++) {
            Elf64_Sym s;
            memcpy(&s, symbol_data + i * sizeof s, sizeof s);
            const char *name = elf_text(name_data, names.sh_size, s.st_name);
            if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || !(s.st_other & SYMBOL_IS_KERNEL) || !*name)
                continue;
            if (pass) {
                struct rtc_kernel *k = &p->kernel[kernels];
                snprintf(k->name, sizeof k->name, "%s", name);
                k->registers = k->local_bytes = k->spill_bytes = k->group_bytes = -1;
                k->scalar_registers = -1;
                k->wavefront = 32;
            }
            kernels++;
        }
        if (pass || !kernels) {
            p->kernels = kernels;
            break;
        }
        p->kernel = calloc((size_t)kernels, sizeof *p->kernel);
        if (!p->kernel) return evn_fail(EVN_MEMORY, "not enough memory for %d kernels", kernels);
    }
    if (elf_named(&e, ".nv.info", &info, &info_data) && info.sh_type != SHT_NOBITS)
        read_info(p, info_data, info.sh_size, symbol_data, count * sizeof(Elf64_Sym), name_data,
                  names.sh_size);
    if (p->log) read_report(p);
    return EVN_OK;
}

/* ---- the kind ---- */

static evn_status open_beside(struct rtc **out, int driver, const char *beside) {
    (void)beside;
    return nvrtc_open(out, driver);
}

static int knows(const struct rtc *c, const char *target) {
    for (int i = 0; i < c->architectures; i++)
        if (c->architecture[i] == atoi(strchr(target, '_') + 1)) return 1;
    return 0;
}

static evn_status target_of(const struct rtc *c, const char *own, char target[32]) {
    return nvrtc_target(c, atoi(own + strlen("sm_")), target);
}

const struct rtc_kind rtc_nvrtc = {
    .name = "NVRTC",
    .side = GPU_CUDA,
    .open = open_beside,
    .knows = knows,
    .target = target_of,
    .target_option = "--gpu-architecture=",
    .contract_option = {"--fmad=false", "--fmad=true"},
    /* functions without a word are the device's, as in OpenCL C; older compilers do not know the
     * report */
    .option = {"--device-as-default-execution-space", "--ptxas-options=-v"},
    .is_whole = nvrtc_is_whole,
    .measure = nvrtc_measure,
};
