/* Memory that this process can still get.
 *
 * Machine: the kernel's estimate (MemAvailable). Control groups, versions 1 and 2: a group's limit
 * holds for all groups in it, so the process's group and all enclosing ones are read (groups.h). A
 * group's usage includes pages of files, which the kernel reclaims at the limit; those on its two
 * lists (active and inactive) count as free, as in MemAvailable, although they may have to be read
 * again. Version 2: memory.high counts as well, above which the kernel slows a group down. Process
 * limits (ulimit -v, -d): the remaining address space and data. */
#include "machine/memory.h"
#include "machine/groups.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NONE UINT64_MAX /* no limit, or not known */

/* The number after `key` at the begin of a line, or the file's first number if key is NULL; times
 * 1024 if kB follows. NONE: no such file, line or number ("max", "unlimited"). */
static uint64_t number_in(const char *root, const char *folder, const char *name, const char *key) {
    FILE *f = groups_open(root, folder, name);
    if (!f) return NONE;
    char line[512];
    const size_t length = key ? strlen(key) : 0;
    uint64_t value = NONE;
    while (fgets(line, sizeof line, f)) {
        if (length && strncmp(line, key, length)) continue;
        char *end;
        const uint64_t n = strtoumax(line + length, &end, 10);
        if (end != line + length) value = strstr(end, "kB") ? n * 1024 : n;
        break;
    }
    fclose(f);
    return value;
}

static uint64_t min(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t left_of(uint64_t limit, uint64_t used) { return used < limit ? limit - used : 0; }

/* Names of the files of one version of control groups. */
struct version {
    const char *limit, *high, *usage, *active, *inactive;
};
static const struct version first = {"memory.limit_in_bytes", NULL, "memory.usage_in_bytes",
                                     "total_active_file ", "total_inactive_file "};
static const struct version second = {"memory.max", "memory.high", "memory.current", "active_file ",
                                      "inactive_file "};

/* Remaining allowance of the group in this folder. */
static uint64_t group_left(const char *root, const char *folder, const struct version *v) {
    uint64_t limit = number_in(root, folder, v->limit, NULL);
    if (v->high) limit = min(limit, number_in(root, folder, v->high, NULL));
    const uint64_t usage = number_in(root, folder, v->usage, NULL);
    if (limit >= INT64_MAX / 4096 * 4096 || usage == NONE) return NONE; /* version 1's "no limit" */
    const char *const lists[] = {v->active, v->inactive};
    uint64_t files = 0;
    for (int i = 0; i < 2; i++) {
        const uint64_t bytes = number_in(root, folder, "memory.stat", lists[i]);
        if (bytes != NONE) files += bytes;
    }
    return left_of(limit, left_of(usage, files));
}

/* Remaining memory so far, the least of the groups read. */
struct left {
    const char *root;
    uint64_t bytes;
};

static void ask(const char *folder, int is_second, void *arg) {
    struct left *left = arg;
    left->bytes = min(left->bytes, group_left(left->root, folder, is_second ? &second : &first));
}

/* Remaining allowance of the process's own limit. */
static uint64_t limit_left(const char *root, const char *limit, const char *usage) {
    const uint64_t max = number_in(root, "/proc/self", "limits", limit);
    const uint64_t used = number_in(root, "/proc/self", "status", usage);
    return max == NONE || used == NONE ? NONE : left_of(max, used);
}

uint64_t memory_available(const char *root) {
    uint64_t left = number_in(root, "/proc", "meminfo", "MemAvailable:");
    struct left groups = {root, NONE};
    groups_each(root, "memory", ask, &groups);
    left = min(left, groups.bytes);
    left = min(left, limit_left(root, "Max address space", "VmSize:"));
    left = min(left, limit_left(root, "Max data size", "VmData:"));
    if (left == NONE) return 0;
    return left ? left : 1;
}
