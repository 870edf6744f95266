/* Back ends, specifications of devices, and lists of them. */
#include "device/devices.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* In order of preference. To remove a back end, delete its files and its line. */
static const struct backend *const backends[] = {
    &backend_cuda,
    &backend_hip,
    &backend_opencl,
    &backend_emulated,
};
enum { BACKENDS = sizeof backends / sizeof *backends };

const char *evn_backend_name(int i) { return i >= 0 && i < BACKENDS ? backends[i]->name : NULL; }

/* The back end that the text begins with. */
static evn_status find_backend(const struct backend **out, const char *text) {
    size_t length = strcspn(text, ":");
    for (int b = 0; b < BACKENDS; b++)
        if (strlen(backends[b]->name) == length && !strncmp(text, backends[b]->name, length)) {
            *out = backends[b];
            return EVN_OK;
        }
    char names[128] = "";
    for (int b = 0; b < BACKENDS; b++) {
        strcat(names, backends[b]->name);
        strcat(names, b < BACKENDS - 1 ? ", " : " or best");
    }
    return evn_fail(EVN_USAGE, "device: \"%.60s\": unknown back end \"%.*s\", expected %s", text,
                    length > 40 ? 40 : (int)length, text, names);
}

/* The first back end that looks for GPUs and finds some: its specification and how many; NULL if
 * there is none, with the reasons in `why`. */
static evn_status find_gpus(const char **spec, int *count, char *why, size_t size) {
    *spec = NULL;
    *why = 0;
    for (int b = 0; b < BACKENDS; b++) {
        char reason[1024] = "";
        *count = 0;
        if (!backends[b]->best) continue;
        evn_status status = backends[b]->count(backends[b]->best, count, reason, sizeof reason);
        if (status) return status;
        if (*count > 0) {
            *spec = backends[b]->best;
            return EVN_OK;
        }
        const size_t end = strlen(why);
        snprintf(why + end, size - end, "%s%s: %s", end ? "; " : "", backends[b]->name, reason);
    }
    return EVN_OK;
}

const char *devices_any_number(void) {
    for (int b = 0; b < BACKENDS; b++)
        if (backends[b]->any_number) return backends[b]->name;
    return NULL;
}

/* Replaces "best" by the specification that it stands for; any other stands for itself. */
static evn_status resolve(const char **text) {
    if (strcmp(*text, "best")) return EVN_OK;
    char why[1024];
    int count;
    evn_status status = find_gpus(text, &count, why, sizeof why);
    if (!status && !*text) *text = devices_any_number();
    if (!status && !*text) return evn_fail(EVN_MISSING, "device: \"best\": there is none: %s", why);
    return status;
}

/* Copies the part of a list at `*text` to `part`, and moves `*text` to the next one, or NULL. Parts
 * have a + between them which, unlike that of 1e+9, is followed by a name. */
static evn_status next_part(const char **text, char part[256]) {
    const char *end = *text;
    while (*end && (*end != '+' || !isalpha((unsigned char)end[1]))) end++;
    const size_t length = (size_t)(end - *text);
    if (length >= 256)
        return evn_fail(EVN_USAGE,
                        "device: \"%.60s..\": a specification of %zu characters, at most 255",
                        *text, length);
    memcpy(part, *text, length);
    part[length] = 0;
    *text = *end ? end + 1 : NULL;
    const char *stands_for = part;
    evn_status status = resolve(&stands_for);
    if (!status && stands_for != part) strcpy(part, stands_for);
    return status;
}

static evn_status count_part(const char *part, const struct backend **backend, int *count,
                             char *why, size_t size) {
    *count = 0;
    evn_status status = find_backend(backend, part);
    return status ? status : (*backend)->count(part, count, why, size);
}

evn_status evn_devices_count(const char *text, int *count, char *why, size_t size) {
    if (!text || !count || !why || !size)
        return evn_fail(EVN_USAGE, "device: evn_devices_count() without text, count or why");
    *count = 0;
    *why = 0;
    evn_status status = EVN_OK;
    while (!status && text) {
        const struct backend *backend = NULL;
        char part[256], reason[1024] = "";
        int more = 0;
        status = next_part(&text, part);
        if (!status) status = count_part(part, &backend, &more, reason, sizeof reason);
        *count += more;
        if (!more && !*why) snprintf(why, size, "%s", reason);
    }
    return status;
}

evn_status devices_count_for(const char **text, char own[256], int wanted, int *count, char *why,
                             size_t size) {
    evn_status status = evn_devices_count(*text, count, why, size);
    if (status || *count >= wanted) return status;
    const struct backend *backend = NULL;
    const char *rest = *text;
    char part[256];
    status = next_part(&rest, part);
    if (!status) status = find_backend(&backend, part);
    if (status || rest || !backend->any_number) return status;
    const char *options = part + strlen(backend->name);
    if (*options) options++;
    if (isdigit((unsigned char)*options)) return EVN_OK;
    const int length =
        snprintf(own, 256, "%s:%d%s%s", backend->name, wanted, *options ? "," : "", options);
    if (length >= 256)
        return evn_fail(EVN_USAGE, "device: \"%.60s..\": longer than a specification may be", part);
    *text = own;
    return evn_devices_count(own, count, why, size);
}

/* 1 if the system has a GPU's device file; checked before a vendor's libraries are loaded, which
 * can take longer than a run. */
static int has_gpu(void) {
    static const char *const file[] = {"/dev/nvidiactl", "/dev/kfd", "/dev/dxg",
                                       "/dev/dri/renderD128"};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        if (!access(file[i], F_OK)) return 1;
    return 0;
}

evn_status devices_count_gpus(int *count) {
    const char *spec;
    char why[1024];
    *count = 0;
    return has_gpu() ? find_gpus(&spec, count, why, sizeof why) : EVN_OK;
}

evn_status devices_find(const char *text, int number, char part[256],
                        const struct backend **backend, int *within) {
    const char *rest = text;
    char why[1024] = "";
    int all = 0;
    while (rest) {
        int count;
        evn_status status = next_part(&rest, part);
        if (!status) status = count_part(part, backend, &count, why, sizeof why);
        if (status) return status;
        *within = number - all;
        all += count;
        if (number >= 0 && *within < count) return EVN_OK;
    }
    if (all < 1)
        return evn_fail(EVN_MISSING, "device: \"%.60s\": there is no such device here: %s", text,
                        why);
    return evn_fail(EVN_USAGE, "device: \"%.60s\" has no device %d; it gives %d, from 0", text,
                    number, all);
}
