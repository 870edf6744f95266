/* Code that run-time compilers share: loading, calling, and their messages. */
#include "device/gpu/rtc.h"
#include "device/gpu/symbols.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPU_MEMBER(member, cuda, cuda_need, hip, hip_need, parameters)                             \
    {offsetof(struct rtc_api, member), {#cuda, #hip}, {#cuda_need, #hip_need}},
static const struct symbol symbols[] = {
    RTC_FUNCTIONS(GPU_MEMBER){offsetof(struct rtc_api, error_text),
                              {"nvrtcGetErrorString", "hiprtcGetErrorString"},
                              {"R", "R"}}};
#undef GPU_MEMBER

/* ---- opening ---- */

void rtc_drop(struct rtc *c) {
    if (c->library) dlclose(c->library);
    c->library = NULL;
}

int rtc_try(struct rtc *c, const char *file, char *why, size_t size) {
    c->library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!c->library) return 1;
    Dl_info info;
    const enum gpu_side side = c->kind->side;
    void *symbol = dlsym(c->library, symbols[0].name[side]);
    snprintf(c->path, sizeof c->path, "%.*s", (int)sizeof c->path - 1,
             symbol && dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : file);
    const char *absent =
        symbols_fill(c->library, &c->api, symbols, sizeof symbols / sizeof *symbols, side);
    int major = 0, minor = 0;
    c->version = 0;
    if (c->api.version_of && !c->api.version_of(&major, &minor))
        c->version = 1000 * major + 10 * minor;
    if (!absent) return 0;
    if (c->version)
        snprintf(why, size, "%.400s is %s %d.%d and has no %s", c->path, c->kind->name, major,
                 minor, absent);
    else
        snprintf(why, size, "%.400s has no %s", c->path, absent);
    rtc_drop(c);
    return 1;
}

void rtc_close(struct rtc *c) {
    if (!c) return;
    rtc_drop(c);
    free(c);
}

int rtc_version(const struct rtc *c) { return c->version; }
const char *rtc_path(const struct rtc *c) { return c->path; }

struct rtc_kernel *rtc_kernel_called(struct rtc_program *p, const char *name, size_t length) {
    for (int k = 0; k < p->kernels; k++)
        if (strlen(p->kernel[k].name) == length && !memcmp(p->kernel[k].name, name, length))
            return &p->kernel[k];
    return NULL;
}

/* ---- compiling ---- */

/* The line of the log that names the error: the first that contains "error", else the first. */
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

static evn_status refuse(const struct rtc *c, int code, const char *log, const char *target) {
    char line[600] = "";
    complaint(log, line, sizeof line);
    if (!*line) snprintf(line, sizeof line, "%s", c->api.error_text(code));
    evn_status status = code == RTC_NO_MEMORY     ? EVN_MEMORY
                        : code == RTC_NO_BUILTINS ? EVN_MISSING
                                                  : EVN_SYSTEM;
    return evn_fail(status, "%s %d.%d for %s: %s", c->kind->name, c->version / 1000,
                    c->version % 1000 / 10, target, line);
}

/* The compiler's log of `p`, to be freed; NULL: no memory. */
static char *get_log(const struct rtc *c, rtc_handle p) {
    size_t bytes = 0;
    if (c->api.log_bytes(p, &bytes) || !bytes) return calloc(1, 1);
    char *log = calloc(1, bytes + 1);
    if (log && c->api.log(p, log)) *log = 0;
    return log;
}

static evn_status get_image(const struct rtc *c, rtc_handle p, struct rtc_program *out,
                            const char *target) {
    int code = out->is_text ? c->api.text_bytes(p, &out->bytes) : c->api.code_bytes(p, &out->bytes);
    if (code) return refuse(c, code, "", target);
    if (!out->bytes) return refuse(c, 0, "gave nothing back", target);
    out->image = calloc(1, out->bytes);
    if (!out->image)
        return evn_fail(EVN_MEMORY, "not enough memory for a program of %zu bytes", out->bytes);
    code = out->is_text ? c->api.text(p, out->image) : c->api.code(p, out->image);
    return code ? refuse(c, code, "", target) : EVN_OK;
}

/* The compiler's options in one block, to be freed: pointers, and the texts behind them. */
static const char **options(const struct rtc_kind *kind, const char *target, const char *defines,
                            int contract, int *count) {
    if (!defines) defines = "";
    size_t max = strlen(defines) / 2 + RTC_OPTIONS + 4, room = 3 * strlen(defines) + 200;
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
    option[n++] = kind->contract_option[contract != 0];
    option[n++] = at;
    sprintf(at, "%s%.31s", kind->target_option, target);
    for (int i = 0; i < RTC_OPTIONS && kind->option[i]; i++) option[n++] = kind->option[i];
    *count = n;
    return option;
}

evn_status rtc_compile(const struct rtc *c, struct rtc_program *out, const char *name,
                       const char *text, const char *target, const char *defines, int contract) {
    memset(out, 0, sizeof *out);
    int count = 0;
    if (c->kind->ready) {
        const evn_status status = c->kind->ready(c, target);
        if (status) return status;
    }
    const char **option = options(c->kind, target, defines, contract, &count);
    if (!option) return evn_fail(EVN_MEMORY, "not enough memory to compile it");
    out->is_text = !strncmp(target, "compute_", 8);
    rtc_handle p = NULL;
    int code = RTC_BAD_OPTION;
    /* older compilers do not know the last option */
    for (int round = 0; code == RTC_BAD_OPTION && round < 2; round++) {
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
    if (status) rtc_program_close(out);
    return status;
}

void rtc_program_close(struct rtc_program *program) {
    free(program->image);
    free(program->log);
    free(program->kernel);
    memset(program, 0, sizeof *program);
}
