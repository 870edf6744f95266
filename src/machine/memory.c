/* How much memory this process can still get.
 *
 * The machine: what the kernel estimates to be available (MemAvailable). Control groups, version 1
 * and 2: a group's limit holds for all groups in it, so the process's own group and all around it
 * are asked, up to where its file system is mounted. What a group uses contains pages of files,
 * which the kernel takes back when the group comes to its limit; those on its two lists (active and
 * inactive) count as free. That they are read again later costs time, as it does where MemAvailable
 * counts them. Of version 2 also memory.high counts, above which the kernel slows a group down
 * instead of ending it. Limits of the process (ulimit -v, -d): what they leave of address space and
 * of data.
 */
#include "machine/memory.h"
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT64_MAX /* no limit, or not known */

/* Opens ROOT/folder/name. */
static FILE *open_file(const char *root, const char *folder, const char *name) {
    char path[3 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s%s%s", root, folder, *name ? "/" : "", name);
    return fopen(path, "r");
}

/* The number behind `key` at the beginning of a line, or the file's first number where key is NULL;
 * times 1024 where kB stands behind it. NONE: there is no file, no such line, or no number there
 * ("max", "unlimited"). */
static uint64_t number_in(const char *root, const char *folder, const char *name, const char *key) {
    FILE *f = open_file(root, folder, name);
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

/* The files of a version of control groups. */
struct version {
    const char *limit, *high, *usage, *active, *inactive;
};
static const struct version first = {"memory.limit_in_bytes", NULL, "memory.usage_in_bytes",
                                     "total_active_file ", "total_inactive_file "};
static const struct version second = {"memory.max", "memory.high", "memory.current", "active_file ",
                                      "inactive_file "};

/* What the group in this folder still allows to all in it. */
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

/* Where control groups are mounted, and which group is seen there. */
struct mount {
    char root[PATH_MAX], point[PATH_MAX];
};

/* \040 and the like, as the kernel writes blanks in a path. */
static void unescape(char *s) {
    char *to = s;
    for (; *s; s++) {
        if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
            s[3] >= '0' && s[3] <= '7') {
            *to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
            s += 3;
        } else {
            *to++ = *s;
        }
    }
    *to = 0;
}

/* Whether a list with commas has the word. */
static int has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (; *list; list += strspn(list, ",\n")) {
        const size_t n = strcspn(list, ",\n");
        if (n == length && !strncmp(list, word, n)) return 1;
        list += n;
    }
    return 0;
}

/* The mount of version 2, or of version 1's memory controller. */
static int find_mount(const char *root, int wants_second, struct mount *m) {
    FILE *f = open_file(root, "/proc/self/mountinfo", "");
    if (!f) return 0;
    static const char row[] = "%*s %*s %*s %4095s %4095s"; /* PATH_MAX - 1 */
    char line[3 * PATH_MAX], type[32], options[PATH_MAX];
    int found = 0;
    while (!found && fgets(line, sizeof line, f)) {
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(rest, " - %31s %*s %4095s", type, options) != 2) continue;
        if (strcmp(type, wants_second ? "cgroup2" : "cgroup")) continue;
        if (!wants_second && !has_word(options, "memory")) continue;
        found = sscanf(line, row, m->root, m->point) == 2;
    }
    fclose(f);
    unescape(m->root);
    unescape(m->point);
    return found;
}

/* The least that the group `path` and those around it allow, as far as they are mounted. */
static uint64_t groups_left(const char *root, const char *path, const struct mount *m,
                            const struct version *v) {
    char folder[2 * PATH_MAX];
    const size_t above = strcmp(m->root, "/") ? strlen(m->root) : 0;
    /* a container may see only its own group, under the path that it has outside */
    if (above && (strncmp(path, m->root, above) || (path[above] && path[above] != '/')))
        path = "";
    else
        path += above;
    snprintf(folder, sizeof folder, "%s%s", m->point, strcmp(path, "/") ? path : "");
    uint64_t left = NONE;
    for (const size_t top = strlen(m->point); strlen(folder) >= top;) {
        left = min(left, group_left(root, folder, v));
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder) break;
        *slash = 0;
    }
    return left;
}

static uint64_t control_groups_left(const char *root) {
    FILE *f = open_file(root, "/proc/self/cgroup", "");
    if (!f) return NONE;
    char line[PATH_MAX + 256];
    uint64_t left = NONE;
    while (fgets(line, sizeof line, f)) {
        /* 4:memory:/some/group, or 0::/some/group */
        char *controllers = strchr(line, ':'),
             *path = controllers ? strchr(controllers + 1, ':') : NULL;
        struct mount m;
        if (!path) continue;
        *path++ = 0;
        path[strcspn(path, "\n")] = 0;
        const int is_second = !strcmp(line, "0:");
        if (!is_second && !has_word(controllers + 1, "memory")) continue;
        if (find_mount(root, is_second, &m))
            left = min(left, groups_left(root, path, &m, is_second ? &second : &first));
    }
    fclose(f);
    return left;
}

/* What the process's own limit leaves. */
static uint64_t limit_left(const char *root, const char *limit, const char *usage) {
    const uint64_t max = number_in(root, "/proc/self", "limits", limit);
    const uint64_t used = number_in(root, "/proc/self", "status", usage);
    return max == NONE || used == NONE ? NONE : left_of(max, used);
}

uint64_t memory_available(const char *root) {
    uint64_t left = number_in(root, "/proc", "meminfo", "MemAvailable:");
    left = min(left, control_groups_left(root));
    left = min(left, limit_left(root, "Max address space", "VmSize:"));
    left = min(left, limit_left(root, "Max data size", "VmData:"));
    if (left == NONE) return 0;
    return left ? left : 1;
}
