/* Finding a side's driver, filling in its functions, texts of its errors. */
#include "device/gpu/driver.h"
#include "device/gpu/symbols.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GPU_MEMBER(member, cuda, cuda_need, hip, hip_need, parameters)                             \
    {offsetof(struct gpu_api, member), {#cuda, #hip}, {#cuda_need, #hip_need}},
static const struct symbol symbols[] = {
    GPU_FUNCTIONS(GPU_MEMBER) /* functions whose type differs are below */
    {offsetof(struct gpu_api, name_of_error), {"none", "hipGetErrorName"}, {"N", "R"}},
    {offsetof(struct gpu_api, text_of_error), {"none", "hipGetErrorString"}, {"N", "R"}}};
enum { SYMBOLS = sizeof symbols / sizeof *symbols };
#undef GPU_MEMBER

/* ---- errors ---- */

const char *driver_call(const struct side *side, enum gpu_call call, char name[80]) {
    snprintf(name, 80, "%s", symbols[call].name[side->which]);
    char *version = strstr(name, "_v2");
    if (version) *version = 0;
    return name;
}

static void describe(const struct side *side, const struct gpu_api *api, int code,
                     enum gpu_call call, char *text, size_t size) {
    const char *name = NULL, *words = NULL;
    char number[32], call_name[80];
    side->words_of(api, code, &name, &words);
    if (!name) {
        snprintf(number, sizeof number, "%s error %d", side->words, code);
        name = number;
    }
    snprintf(text, size, "%s from %s: %s%s", name, driver_call(side, call, call_name),
             words ? words : "no text", side->advice(code));
}

/* Class of a call's error. */
static evn_status kind(const struct side *side, int code) {
    switch (code) {
    case 0: return EVN_OK;
    case GPU_OUT_OF_MEMORY: return EVN_MEMORY;
    case GPU_INVALID_VALUE:
    case GPU_NO_BINARY_FOR_GPU:
    case GPU_INVALID_IMAGE:
    case GPU_PEER_ACCESS_UNSUPPORTED:
    case GPU_INVALID_PTX:
    case GPU_INVALID_SOURCE:
    case GPU_NOT_FOUND:
    case GPU_LAUNCH_OUT_OF_RESOURCES:
    case GPU_TOO_LARGE:
    case GPU_NOT_SUPPORTED: return EVN_SYSTEM;
    }
    return side->refuses(code) ? EVN_SYSTEM : EVN_DEVICE;
}

evn_status side_check(const struct gpu_device *d, int code, enum gpu_call call) {
    if (!code) return EVN_OK;
    char text[GPU_REASON];
    describe(d->side, &d->driver.api, code, call, text, sizeof text);
    return evn_fail(kind(d->side, code), "%s", text);
}

/* ---- the driver ---- */

void driver_close(struct gpu_driver *driver) {
    if (driver->library) dlclose(driver->library);
    driver->library = NULL;
}

static evn_status none_visible(const struct side *side) {
    for (int i = 0; i < 2 && side->visible[i]; i++) {
        const char *visible = secure_getenv(side->visible[i]);
        if (visible)
            return evn_fail(EVN_DEVICE, "the driver shows no device, and %s is \"%.200s\"",
                            side->visible[i], visible);
    }
    return evn_fail(EVN_DEVICE, "the driver shows no device; %s", side->hidden);
}

/* Opens `file` and starts the driver in it. EVN_MISSING: it is none, or a stub; the next may be
 * one. Other failures are its answer. */
static evn_status driver_try(const struct side *side, struct gpu_driver *driver, const char *file,
                             int *is_there) {
    driver->library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    *is_there = driver->library != NULL;
    if (!driver->library) {
        const char *error = dlerror();
        return evn_fail(EVN_MISSING, "%.400s", error ? error : file);
    }
    char text[GPU_REASON];
    Dl_info info;
    void *symbol = dlsym(driver->library, symbols[GPU_CALL_init].name[side->which]);
    snprintf(driver->path, sizeof driver->path, "%.400s",
             symbol && dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : file);
    const char *absent = symbols_fill(driver->library, &driver->api, symbols, SYMBOLS, side->which);
    if (absent)
        return evn_fail(EVN_MISSING, "%s cannot be used: it has no %s: %s", driver->path, absent,
                        side->oldest);
    enum gpu_call call = GPU_CALL_init;
    int code = driver->api.init(0);
    if (!code) {
        call = GPU_CALL_driver_version;
        code = driver->api.driver_version(&driver->version);
    }
    if (!code) return EVN_OK;
    if (code == GPU_NO_DEVICE || code == GPU_INVALID_DEVICE) return none_visible(side);
    describe(side, &driver->api, code, call, text, sizeof text);
    return evn_fail(side->stub && code == side->stub ? EVN_MISSING : EVN_DEVICE, "%s: %s",
                    driver->path, text);
}

/* A driver may open its helper by name alone, which the loader does not find in a folder that is
 * none of its own. */
static void load_helper(const struct side *side, const char *folder) {
    char file[PATH_MAX + 64];
    if (!side->helper) return;
    snprintf(file, sizeof file, "%s%s", folder, side->helper);
    dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
}

/* Tries all places, the folders last, and there only files that exist. */
static evn_status driver_find(const struct side *side, struct gpu_driver *driver,
                              const struct folders *f) {
    int usual = 0;
    while (side->library[usual]) usual++;
    char file[PATH_MAX + 32], first[400] = "", found[GPU_REASON] = "";
    for (int i = 0; i < usual * (1 + f->count); i++) {
        const char *folder = i < usual ? NULL : f->path[i / usual - 1];
        int is_there;
        snprintf(file, sizeof file, "%s%s", folder ? folder : "", side->library[i % usual]);
        if (folder && access(file, F_OK)) continue;
        evn_status status = driver_try(side, driver, file, &is_there);
        if (!status && folder) load_helper(side, folder);
        if (!status) return EVN_OK;
        driver_close(driver);
        if (status != EVN_MISSING) return status;
        if (folder) is_there = 1;
        /* the message of a library that exists says more */
        if (is_there && !*found) snprintf(found, sizeof found, "%s", evn_message());
        if (!is_there && !*first) snprintf(first, sizeof first, "%s", evn_message());
    }
    if (*found) return evn_fail(EVN_MISSING, "%s", found);
    return evn_fail(EVN_MISSING, "%s; nor is %s in %s; install %s, or set %s to its file", first,
                    side->library[0], f->named, side->install, side->variable);
}

evn_status driver_open(const struct side *side, struct gpu_driver *driver) {
    const char *named = secure_getenv(side->variable), *absent;
    int is_there;
    memset(driver, 0, sizeof *driver);
    if (named && *named) {
        evn_status status = driver_try(side, driver, named, &is_there);
        if (status) driver_close(driver);
        return status ? evn_fail(status, "%s=\"%.300s\": %s", side->variable, named, evn_message())
                      : EVN_OK;
    }
    if (side->absent && (absent = side->absent())) return evn_fail(EVN_MISSING, "%s", absent);
    struct folders *f = side->folders();
    if (!f) return evn_fail(EVN_MEMORY, "not enough memory to look for the driver");
    evn_status status = driver_find(side, driver, f);
    free(f);
    return status;
}

evn_status driver_count(const struct side *side, const struct gpu_driver *driver, int *have) {
    char text[GPU_REASON];
    *have = 0;
    int code = driver->api.device_count(have);
    if (!code) return *have > 0 ? EVN_OK : none_visible(side);
    if (code == GPU_NO_DEVICE) return none_visible(side);
    describe(side, &driver->api, code, GPU_CALL_device_count, text, sizeof text);
    return evn_fail(EVN_DEVICE, "%s", text);
}
