/* Calls about modules, functions and launches. A module's PTX is translated to C and compiled once;
 * the result is kept under the hash of the text, the translator and the compiler. */
#include "defects.h"
#include "driver.h"
#include "launch.h"
#include "memory.h"
#include "settings.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const TRANSLATOR[] = {
    "translate/translate.py", "translate/module.py", "translate/operands.py", "translate/scalar.py",
    "translate/warpwide.py",  "translate/flow.py",   "executor/lanes.h",      "executor/kernel.h"};

static std::string hash_of(const std::string &text) {
    u64 a = 1469598103934665603ull, b = 0x9e3779b97f4a7c15ull;
    for (unsigned char c : text) {
        a = (a ^ c) * 1099511628211ull;
        b = (b + c) * 0xff51afd7ed558ccdull;
        b ^= b >> 29;
    }
    char digits[40];
    snprintf(digits, sizeof digits, "%016llx%016llx", (unsigned long long)a, (unsigned long long)b);
    return digits;
}

static std::string file_text(const std::string &name) {
    std::string text;
    char part[4096];
    FILE *f = fopen(name.c_str(), "r");
    if (!f) return text;
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) text.append(part, n);
    fclose(f);
    return text;
}

/* PTX to a shared library: STEM.so; what it says is in STEM.out. */
static bool build(const std::string &text, const std::string &stem) {
    const std::string mine = stem + "." + std::to_string(getpid()), folder = PTX_FOLDER;
    FILE *f = fopen((mine + ".ptx").c_str(), "w");
    if (!f) return false;
    fwrite(text.data(), 1, text.size(), f);
    fclose(f);
    const size_t at = text.find(".target sm_");
    const std::string arch =
        "sm_" +
        std::to_string(std::max(90, at == std::string::npos ? 90 : atoi(text.c_str() + at + 11)));
    /* ptxas, where it is, knows how many registers each kernel takes, and refuses what is no PTX */
    std::string script =
        "set -e; : > " + mine + ".log; if command -v " + setting.ptxas + " > /dev/null; then " +
        setting.ptxas + " -v -arch=" + arch + " " + mine + ".ptx -o " + mine + ".cubin > " + mine +
        ".log 2>&1 || { cat " + mine + ".log; exit 1; }; rm -f " + mine + ".cubin; fi; " +
        setting.python + " " + folder + "/translate/translate.py " + mine + ".ptx " + mine + ".c " +
        mine + ".log; " + setting.compiler +
        " -w -march=native -ffp-contract=off -fno-strict-aliasing -shared -fPIC -I " + folder +
        "/executor " + mine + ".c -o " + mine + ".so -lm; for x in c ptx log so; do mv " + mine +
        ".$x " + stem + ".$x; done";
    script = "LD_PRELOAD= ; ( " + script + " ) > " + mine + ".out 2>&1";
    const bool is_built = system(script.c_str()) == 0;
    rename((mine + ".out").c_str(), (stem + ".out").c_str());
    if (!is_built) unlink((mine + ".ptx").c_str());
    return is_built;
}

API cuModuleLoadDataEx(module **out, const void *image, unsigned options, int *option,
                       void **value) {
    BEGIN("cuModuleLoadDataEx");
    NEEDS_CONTEXT;
    enum { ERROR_LOG = 5, ERROR_LOG_BYTES = 6 };
    char *log = nullptr, none[1];
    size_t room = 0;
    for (unsigned i = 0; i < options; i++)
        if (option[i] == ERROR_LOG)
            log = (char *)value[i];
        else if (option[i] == ERROR_LOG_BYTES)
            room = (size_t)value[i];
        else
            return refuse(CALL, INVALID_VALUE, "an option that is not known here");
    if (!log) log = none, room = 0;
    if (!memcmp(image, "\177ELF", 4)) {
        snprintf(log, room,
                 "a cubin; this driver executes PTX, which PTXRUN_CC=91 makes NVRTC give");
        return NO_BINARY_FOR_GPU;
    }
    const std::string text = (const char *)image;
    std::string key = text + setting.compiler;
    for (const char *file : TRANSLATOR) key += file_text(std::string(PTX_FOLDER "/") + file);
    const std::string hash = hash_of(text), stem = setting.cache + "/" + hash_of(key);
    mkdir(setting.cache.c_str(), 0755);
    if (access((stem + ".so").c_str(), F_OK) && !build(text, stem)) {
        const std::string said = file_text(stem + ".out");
        tell("module", CALL, "%.700s", said.c_str());
        snprintf(log, room, "%s", said.c_str());
        return INVALID_PTX;
    }
    void *library = dlopen((stem + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        tell("module", CALL, "%s", dlerror());
        return INVALID_PTX;
    }
    ((void (*)(const executor *))dlsym(library, "ptx_begin"))(&execution);
    *out = new module{MODULE, current, (const kernel_info *)dlsym(library, "ptx_kernels"), hash,
                      false};
    modules.push_back(*out);
    return OK;
}

static bool has_launch(const stream *s, const module *m) {
    for (const operation &o : s->queue)
        if (o.launches == m) return true;
    return false;
}

API cuModuleUnload(module *m) {
    BEGIN("cuModuleUnload");
    NEEDS_CONTEXT;
    if (!m || m->magic != MODULE || m->is_closed) return refuse(CALL, INVALID_HANDLE, "no module");
    NEEDS_CURRENT(m);
    for (stream *s : streams) /* launches of other modules go on */
        if (!s->is_closed && has_launch(s, m)) {
            tell("unloaded while a queue has work", CALL, "stream %d", s->number);
            drain(s);
        }
    m->is_closed = true;
    return OK;
}

API cuModuleGetFunction(function **out, module *m, const char *name) {
    BEGIN("cuModuleGetFunction");
    NEEDS_CONTEXT;
    if (!m || m->magic != MODULE || m->is_closed) return refuse(CALL, INVALID_HANDLE, "no module");
    NEEDS_CURRENT(m);
    for (const kernel_info *k = m->kernels; k->name; k++)
        if (!strcmp(k->name, name)) {
            *out = new function{FUNCTION, m, k,
                                counters_of(std::string(name) + "@" + m->hash.substr(0, 4), k)};
            return OK;
        }
    return NOT_FOUND;
}

/* ---- functions ---- */

static bool is_function(const function *f) {
    return f && f->magic == FUNCTION && !f->of->is_closed && f->of->of->is_alive;
}
#define NEEDS_FUNCTION(f)                                                                          \
    if (!is_function(f)) return refuse(CALL, INVALID_HANDLE, "no function")

API cuFuncGetAttribute(int *value, int attribute, function *f) {
    BEGIN("cuFuncGetAttribute");
    NEEDS_CONTEXT;
    NEEDS_FUNCTION(f);
    switch (attribute) {
    case 0: *value = f->info->most_items; return OK;
    case 1: *value = f->info->shared_bytes; return OK;
    case 3: *value = f->info->local_bytes; return OK;
    case 4: *value = f->info->registers; return OK;
    default: return refuse(CALL, INVALID_VALUE, "attribute");
    }
}

API cuFuncSetAttribute(function *f, int attribute, int value) {
    BEGIN("cuFuncSetAttribute");
    NEEDS_CONTEXT;
    NEEDS_FUNCTION(f);
    enum { MOST_DYNAMIC_SHARED = 8, CARVEOUT = 9 };
    const bool is_carveout = attribute == CARVEOUT && value >= -1 && value <= 100;
    return is_carveout || attribute == MOST_DYNAMIC_SHARED
               ? OK
               : refuse(CALL, INVALID_VALUE, "attribute");
}

API cuFuncLoad(function *f) {
    BEGIN("cuFuncLoad");
    NEEDS_CONTEXT;
    NEEDS_FUNCTION(f);
    return OK;
}

API cuFuncGetParamInfo(function *f, size_t i, size_t *at, size_t *bytes) {
    BEGIN("cuFuncGetParamInfo");
    NEEDS_CONTEXT;
    NEEDS_FUNCTION(f);
    if (i >= (size_t)f->info->parameters) return INVALID_VALUE;
    *at = (size_t)f->info->parameter_at[i];
    if (bytes) *bytes = (size_t)f->info->parameter_size[i];
    return OK;
}

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *groups, function *f, int items,
                                                size_t shared_bytes) {
    BEGIN("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    NEEDS_CONTEXT;
    NEEDS_FUNCTION(f);
    *groups = groups_per_processor(f->info, items, shared_bytes);
    return OK;
}

/* ---- launches ---- */

/* 0, or the code for which the driver refuses these sizes */
static CUresult check_sizes(const char *call, const function *f, const launch_shape &shape,
                            unsigned shared_bytes) {
    const u32 *g = shape.groups, *i = shape.items;
    if (!shape.group_count() || !shape.item_count() || g[0] > 0x7fffffffu || g[1] > 65535 ||
        g[2] > 65535)
        return refuse(call, INVALID_VALUE, "sizes of the grid");
    if (i[0] > 1024 || i[1] > 1024 || i[2] > 64 || shape.item_count() > (u32)f->info->most_items)
        return refuse(call, LAUNCH_OUT_OF_RESOURCES, "more items than the kernel is compiled for");
    if (f->info->shared_bytes + (long)shared_bytes > 49152)
        return refuse(call, INVALID_VALUE, "more than 48 KiB of group memory");
    if (registers_of_group(f->info, (int)shape.item_count()) > 65536)
        return refuse(call, LAUNCH_OUT_OF_RESOURCES, "registers");
    const long room =
        groups_per_processor(f->info, (int)shape.item_count(), shared_bytes) * setting.processors;
    if (shape.is_resident && (long)shape.group_count() > room)
        return refuse(call, COOPERATIVE_LAUNCH_TOO_LARGE,
                      "more groups than there is room for at a time");
    if ((int)shape.item_count() != f->info->most_items)
        tell("driver call", call, "%s: %u items, compiled for %d", f->info->name,
             shape.item_count(), f->info->most_items);
    if (f->info->does_acquire && !shape.is_resident)
        tell("driver call", call, "%s: groups that wait for each other in an ordinary launch",
             f->info->name);
    return OK;
}

static CUresult give_launch(const char *CALL, function *f, std::shared_ptr<launch_shape> shape,
                            unsigned shared_bytes, stream *s, void **argument) {
    NEEDS_FUNCTION(f);
    if (f->of->of != current)
        return refuse(CALL, INVALID_HANDLE,
                      "the function is of another context than the current one");
    NEEDS_STREAM(s);
    NEEDS_CURRENT(s);
    if (CUresult code = check_sizes(CALL, f, *shape, shared_bytes)) return code;
    shape->counters = f->counters;
    shape->parameters.resize((size_t)f->info->parameter_bytes + 16);
    std::vector<u64> buffers;
    for (int i = 0; i < f->info->parameters; i++) {
        if (!argument || !argument[i]) return refuse(CALL, INVALID_VALUE, "an argument is NULL");
        u64 v = 0;
        memcpy(shape->parameters.data() + f->info->parameter_at[i], argument[i],
               (size_t)f->info->parameter_size[i]);
        if (f->info->parameter_size[i] == sizeof v) memcpy(&v, argument[i], sizeof v);
        if (is_device_memory(v)) buffers.push_back(v);
    }
    operation &o = enqueue(s, CALL, [shape] { launch_run(*shape); });
    o.arguments = buffers;
    o.launches = f->of;
    given(s);
    return OK;
}

API cuLaunchKernel(function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared_bytes, stream *s, void **argument, void **extra) {
    BEGIN("cuLaunchKernel");
    NEEDS_CONTEXT;
    if (extra) return refuse(CALL, INVALID_VALUE, "extra is not known here");
    auto shape = std::make_shared<launch_shape>(
        launch_shape{nullptr, {gx, gy, gz}, {bx, by, bz}, false, {}});
    return give_launch(CALL, f, shape, shared_bytes, s, argument);
}

API cuLaunchCooperativeKernel(function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared_bytes, stream *s,
                              void **argument) {
    BEGIN("cuLaunchCooperativeKernel");
    NEEDS_CONTEXT;
    auto shape =
        std::make_shared<launch_shape>(launch_shape{nullptr, {gx, gy, gz}, {bx, by, bz}, true, {}});
    return give_launch(CALL, f, shape, shared_bytes, s, argument);
}
