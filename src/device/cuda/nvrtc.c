/* Loading, calling and reading the run-time compiler.
 *
 * A kernel's resources are read from two places. The cubin is an ELF file; its section .nv.info
 * always has each function's registers and stack frame. The assembler's report in the log separates
 * spilled bytes from arrays, which the cubin does not. */
#include "device/cuda/nvrtc.h"
#include "device/cuda/api.h"
#include "device/cuda/find_libraries.h"
#include <dlfcn.h>
#include <elf.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST = 11020, NEWEST_MAJOR = 15, ARCHITECTURES = 64 };

struct nvrtc {
    struct nvrtc_api api;
    void *library;
    int version;
    char path[PATH_MAX];
    int architectures, architecture[ARCHITECTURES];
};

/* ---- finding it ---- */

/* Checks the library just opened; the fault in `why`, 0 if it is usable. */
static int fill(struct nvrtc *c, char *why, size_t size) {
    const char *absent = NULL;
    void *symbol;
#define NVRTC_FIND(member, name, parameters)                                                       \
    symbol = dlsym(c->library, #name);                                                             \
    if (!symbol && !absent) absent = #name;                                                        \
    memcpy(&c->api.member, &symbol, sizeof symbol);
    NVRTC_FUNCTIONS(NVRTC_FIND, NVRTC_FIND)
#undef NVRTC_FIND
    symbol = dlsym(c->library, "nvrtcGetErrorString");
    if (!symbol && !absent) absent = "nvrtcGetErrorString";
    memcpy(&c->api.error_text, &symbol, sizeof symbol);
    int major = 0, minor = 0;
    if (c->api.version && !c->api.version(&major, &minor)) c->version = 1000 * major + 10 * minor;
    if (absent) {
        if (c->version)
            snprintf(why, size,
                     "%.*s is NVRTC %d.%d and has no %s; 11.2 is the oldest that will do", 400,
                     c->path, major, minor, absent);
        else
            snprintf(why, size, "%.*s has no %s", 400, c->path, absent);
        return 1;
    }
    int count = 0;
    if (c->version < OLDEST) {
        snprintf(why, size, "%.*s is NVRTC %d.%d; 11.2 is the oldest that will do", 400, c->path,
                 major, minor);
        return 1;
    }
    if (c->api.architecture_count(&count) || count < 1 || count > ARCHITECTURES ||
        c->api.architecture_list(c->architecture)) {
        snprintf(why, size, "%.*s does not say which architectures it knows", 400, c->path);
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
static int try_file(struct nvrtc *c, const char *file, char *why, size_t size) {
    c->library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!c->library) return 1;
    Dl_info info;
    void *symbol = dlsym(c->library, "nvrtcVersion");
    snprintf(c->path, sizeof c->path, "%.*s", (int)sizeof c->path - 1,
             symbol && dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : file);
    c->version = 0;
    if (!fill(c, why, size)) return 0;
    dlclose(c->library);
    c->library = NULL;
    return 1;
}

/* It opens a second library by name alone, which the loader does not find in a folder that is none
 * of its own; once that is loaded, the name is enough. */
static void load_builtins(const struct nvrtc *c) {
    char folder[PATH_MAX], file[PATH_MAX + 64];
    if (!realpath(c->path, folder)) return;
    snprintf(file, sizeof file, "%s/libnvrtc-builtins.so.%d.%d", dirname(folder), c->version / 1000,
             c->version % 1000 / 10);
    dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
}

/* One major version in all folders; 0: none, the unversioned name. */
static int try_major(struct nvrtc *c, const struct folders *f, int major, int max, char *why,
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
        dlclose(c->library);
    }
    return 1;
}

static int find(struct nvrtc *c, const struct folders *f, int driver, char *why, size_t size) {
    int max = driver ? driver / 1000 : INT_MAX, wrong = 1;
    for (int major = NEWEST_MAJOR; wrong && major >= OLDEST / 1000; major--)
        if (major <= max) wrong = try_major(c, f, major, max, why, size);
    if (wrong) wrong = try_major(c, f, 0, max, why, size);
    /* later than the driver: the nearest */
    for (int major = OLDEST / 1000; wrong && major <= NEWEST_MAJOR; major++)
        if (major > max) wrong = try_major(c, f, major, INT_MAX, why, size);
    if (wrong) wrong = try_major(c, f, 0, INT_MAX, why, size);
    return wrong;
}

static evn_status find_or_say(struct nvrtc *c, int driver, char *why, size_t size) {
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

evn_status nvrtc_open(struct nvrtc **out, int driver) {
    *out = NULL;
    struct nvrtc *c = calloc(1, sizeof *c);
    if (!c) return evn_fail(EVN_MEMORY, "not enough memory for the run-time compiler");
    char why[700] = "";
    const char *file = getenv("EVENER_NVRTC");
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

void nvrtc_close(struct nvrtc *c) {
    if (!c) return;
    dlclose(c->library);
    free(c);
}

int nvrtc_version(const struct nvrtc *c) { return c->version; }
const char *nvrtc_path(const struct nvrtc *c) { return c->path; }

const int *nvrtc_architectures(const struct nvrtc *c, int *count) {
    *count = c->architectures;
    return c->architecture;
}

evn_status nvrtc_target(const struct nvrtc *c, int architecture, char target[32]) {
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

/* ---- compiling ---- */

/* The decisive line of the log: the first with an error, or else the first. */
static void complaint(const char *log, char *line, size_t size) {
    const char *at = strstr(log, "error");
    if (!at)
        for (at = log; *at == '\n' || *at == ' ';) at++;
    while (at > log && at[-1] != '\n') at--;
    size_t length = strcspn(at, "\n");
    if (length >= size) length = size - 1;
    memcpy(line, at, length);
    line[length] = 0;
}

static evn_status refuse(const struct nvrtc *c, int code, const char *log, const char *target) {
    char line[600] = "";
    complaint(log, line, sizeof line);
    if (!*line) snprintf(line, sizeof line, "%s", c->api.error_text(code));
    evn_status status = code == NVRTC_NO_MEMORY     ? EVN_MEMORY
                        : code == NVRTC_NO_BUILTINS ? EVN_MISSING
                                                    : EVN_SYSTEM;
    return evn_fail(status, "NVRTC %d.%d for %s: %s", c->version / 1000, c->version % 1000 / 10,
                    target, line);
}

/* The compiler's log of `p`, to be freed; NULL: no memory. */
static char *get_log(const struct nvrtc *c, nvrtcProgram p) {
    size_t bytes = 0;
    if (c->api.log_bytes(p, &bytes) || !bytes) return calloc(1, 1);
    char *log = calloc(1, bytes + 1);
    if (log && c->api.log(p, log)) *log = 0;
    return log;
}

static evn_status get_image(const struct nvrtc *c, nvrtcProgram p, struct nvrtc_program *out,
                            const char *target) {
    int code = out->is_text ? c->api.ptx_bytes(p, &out->bytes) : c->api.cubin_bytes(p, &out->bytes);
    if (code) return refuse(c, code, "", target);
    if (!out->bytes) return refuse(c, 0, "gave nothing back", target);
    out->image = calloc(1, out->bytes);
    if (!out->image)
        return evn_fail(EVN_MEMORY, "not enough memory for a program of %zu bytes", out->bytes);
    code = out->is_text ? c->api.ptx(p, out->image) : c->api.cubin(p, out->image);
    return code ? refuse(c, code, "", target) : EVN_OK;
}

/* The compiler's options, as one block to be freed: pointers and what they point to. The last asks
 * for the report. */
static const char **options(const char *target, const char *defines, int contract, int *count) {
    if (!defines) defines = "";
    size_t max = strlen(defines) / 2 + 8, room = 3 * strlen(defines) + 200;
    const char **option = malloc(max * sizeof *option + room);
    if (!option) return NULL;
    char *at = (char *)(option + max);
    int n = 0;
    for (const char *p = defines + strspn(defines, " "); *p; p += strspn(p, " ")) {
        int length = (int)strcspn(p, " ");
        option[n++] = at;
        at += sprintf(at, "-D%.*s", length, p) + 1;
        p += length;
    }
    if (!contract) option[n++] = "-DEVN_CONTRACT=0";
    option[n++] = contract ? "--fmad=true" : "--fmad=false";
    /* functions without a word are the device's, as in OpenCL C */
    option[n++] = "--device-as-default-execution-space";
    option[n++] = at;
    sprintf(at, "--gpu-architecture=%.31s", target);
    option[n++] = "--ptxas-options=-v";
    *count = n;
    return option;
}

evn_status nvrtc_compile(const struct nvrtc *c, struct nvrtc_program *out, const char *name,
                         const char *text, const char *target, const char *defines, int contract) {
    memset(out, 0, sizeof *out);
    int count = 0;
    const char **option = options(target, defines, contract, &count);
    if (!option) return evn_fail(EVN_MEMORY, "not enough memory to compile it");
    out->is_text = !strncmp(target, "compute_", 8);
    nvrtcProgram p = NULL;
    int code = NVRTC_BAD_OPTION;
    /* older compilers do not know the last option */
    for (int round = 0; code == NVRTC_BAD_OPTION && round < 2; round++) {
        if (p) c->api.close(&p);
        p = NULL;
        code = c->api.open(&p, text, name, 0, NULL, NULL);
        if (!code) code = c->api.compile(p, count - round, option);
    }
    free(option);
    out->log = p ? get_log(c, p) : calloc(1, 1);
    evn_status status;
    if (!out->log)
        status = evn_fail(EVN_MEMORY, "not enough memory for the compiler's log");
    else if (code)
        status = refuse(c, code, out->log, target);
    else
        status = get_image(c, p, out, target);
    if (p) c->api.close(&p);
    if (status) nvrtc_program_close(out);
    return status;
}

void nvrtc_program_close(struct nvrtc_program *program) {
    free(program->image);
    free(program->log);
    free(program->kernel);
    memset(program, 0, sizeof *program);
}

/* ---- reading a cubin ---- */

/* Items of .nv.info: a byte for the form of the value, one for its meaning, two for the size. */
enum { FORM_SIZED = 4, INFO_FRAME = 0x11, INFO_STACK = 0x12, INFO_REGISTERS = 0x2f };
enum { SYMBOL_IS_KERNEL = 0x10 }; /* in st_other */

struct elf {
    const unsigned char *image;
    size_t bytes;
    Elf64_Ehdr head;
};

/* `bytes` at `at` of the image; NULL if they are not inside. */
static const void *inside(const struct elf *e, size_t at, size_t bytes) {
    return at <= e->bytes && bytes <= e->bytes - at ? e->image + at : NULL;
}

/* Section `i`, and its bytes in *data; 0 if it is not inside. */
static int section(const struct elf *e, int i, Elf64_Shdr *out, const unsigned char **data) {
    const void *at =
        inside(e, e->head.e_shoff + (size_t)i * e->head.e_shentsize, sizeof(Elf64_Shdr));
    if (!at || e->head.e_shoff > e->bytes) return 0;
    memcpy(out, at, sizeof *out);
    *data = out->sh_type == SHT_NOBITS ? e->image : inside(e, out->sh_offset, out->sh_size);
    return *data != NULL;
}

/* The 0-ended text at `at` of a string section; "" if there is none. */
static const char *text_at(const unsigned char *data, size_t bytes, size_t at) {
    return at < bytes && memchr(data + at, 0, bytes - at) ? (const char *)data + at : "";
}

/* Finds the section called `name`. */
static int named(const struct elf *e, const char *name, Elf64_Shdr *out,
                 const unsigned char **data) {
    Elf64_Shdr names;
    const unsigned char *text;
    if (!section(e, e->head.e_shstrndx, &names, &text)) return 0;
    for (int i = 1; i < e->head.e_shnum; i++)
        if (section(e, i, out, data) && !strcmp(text_at(text, names.sh_size, out->sh_name), name))
            return 1;
    return 0;
}

static struct nvrtc_kernel *kernel_called(struct nvrtc_program *p, const char *name,
                                          size_t length) {
    for (int k = 0; k < p->kernels; k++)
        if (strlen(p->kernel[k].name) == length && !memcmp(p->kernel[k].name, name, length))
            return &p->kernel[k];
    return NULL;
}

/* The kernel that the function `name` belongs to: itself, or for "$kernel$function", which is a
 * function as compiled for that kernel, the kernel. */
static struct nvrtc_kernel *kernel_of(struct nvrtc_program *p, const char *name) {
    if (*name != '$') return kernel_called(p, name, strlen(name));
    return kernel_called(p, name + 1, strcspn(name + 1, "$"));
}

static void read_info(struct nvrtc_program *p, const unsigned char *info, size_t bytes,
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
        struct nvrtc_kernel *k = kernel_of(p, text_at(names, name_bytes, symbol.st_name));
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

/* The number before `what` in the line at `line`; -1 if it does not say. */
static int number_before(const char *line, const char *what) {
    const char *end = line + strcspn(line, "\n"), *at = strstr(line, what);
    if (!at || at >= end) return -1;
    while (at > line && at[-1] == ' ') at--;
    while (at > line && at[-1] >= '0' && at[-1] <= '9') at--;
    return atoi(at);
}

/* The assembler's report: after a kernel's own line come those of the functions compiled for it. */
static void read_report(struct nvrtc_program *p) {
    static const char head[] = "Compiling entry function '";
    struct nvrtc_kernel *k = NULL;
    for (const char *line = p->log; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        const char *at = strstr(line, head);
        if (at && at < line + length) {
            at += sizeof head - 1;
            k = kernel_called(p, at, strcspn(at, "'\n"));
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

/* Begins to read an image; 0: it is no cubin. */
static int elf_open(struct elf *e, const void *image, size_t bytes) {
    *e = (struct elf){.image = image, .bytes = bytes};
    if (bytes < sizeof e->head) return 0;
    memcpy(&e->head, image, sizeof e->head);
    return !memcmp(e->head.e_ident, ELFMAG, SELFMAG) && e->head.e_ident[EI_CLASS] == ELFCLASS64 &&
           e->head.e_shentsize == sizeof(Elf64_Shdr);
}

int nvrtc_is_whole(const void *image, size_t bytes, const char *target) {
    if (!strncmp(target, "compute_", 8)) return bytes && !((const char *)image)[bytes - 1];
    struct elf e;
    if (!elf_open(&e, image, bytes) || e.head.e_phoff > bytes ||
        !inside(&e, e.head.e_phoff, (size_t)e.head.e_phnum * e.head.e_phentsize))
        return 0;
    Elf64_Shdr header;
    const unsigned char *data;
    for (int i = 0; i < e.head.e_shnum; i++)
        if (!section(&e, i, &header, &data)) return 0;
    return 1;
}

evn_status nvrtc_measure(struct nvrtc_program *p) {
    free(p->kernel);
    p->kernel = NULL;
    p->kernels = 0;
    struct elf e;
    Elf64_Shdr symbols, names, info;
    const unsigned char *symbol_data, *name_data, *info_data;
    if (!elf_open(&e, p->image, p->bytes))
        return evn_fail(EVN_SYSTEM, "%zu bytes are not a cubin", p->bytes);
    if (!named(&e, ".symtab", &symbols, &symbol_data) || !named(&e, ".strtab", &names, &name_data))
        return evn_fail(EVN_SYSTEM, "a cubin of %zu bytes has no table of its kernels", p->bytes);
    size_t count = symbols.sh_type == SHT_NOBITS ? 0 : symbols.sh_size / sizeof(Elf64_Sym);
    if (names.sh_type == SHT_NOBITS) names.sh_size = 0;
    for (int pass = 0; pass < 2; pass++) {
        int kernels = 0;
        for (size_t i = 0; i < count; i++) {
            Elf64_Sym s;
            memcpy(&s, symbol_data + i * sizeof s, sizeof s);
            const char *name = text_at(name_data, names.sh_size, s.st_name);
            if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || !(s.st_other & SYMBOL_IS_KERNEL) || !*name)
                continue;
            if (pass) {
                struct nvrtc_kernel *k = &p->kernel[kernels];
                snprintf(k->name, sizeof k->name, "%s", name);
                k->registers = k->local_bytes = k->spill_bytes = k->group_bytes = -1;
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
    if (named(&e, ".nv.info", &info, &info_data) && info.sh_type != SHT_NOBITS)
        read_info(p, info_data, info.sh_size, symbol_data, count * sizeof(Elf64_Sym), name_data,
                  names.sh_size);
    if (p->log) read_report(p);
    return EVN_OK;
}
