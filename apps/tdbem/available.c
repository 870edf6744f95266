/* How much memory there is for this program: what the system says is available, or the least of
 * what its control groups still allow. */
#include "tdbem/matrices/matrices.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The number behind `key` in a file of lines "key number [kB]", or the file's first one; -1. */
static double number_in(const char *path, const char *key) {
    FILE *in = fopen(path, "r");
    char line[512];
    double found = -1, value;
    if (!in) return -1;
    while (found < 0 && fgets(line, sizeof line, in)) {
        if (key && strncmp(line, key, strlen(key)) != 0) continue;
        if (sscanf(line + (key ? strlen(key) : 0), "%lf", &value) != 1) break; /* "max" */
        found = strstr(line, " kB") ? 1024 * value : value;
    }
    fclose(in);
    return found;
}

/* What a group may still take: its limit, less what it has, except pages of files, which the system
 * takes back. */
static double group_left(const char *folder, const char *limit, const char *usage,
                         const char *total) {
    char path[1280];
    snprintf(path, sizeof path, "%s/%s", folder, limit);
    const double max = number_in(path, NULL);
    snprintf(path, sizeof path, "%s/%s", folder, usage);
    const double used = number_in(path, NULL);
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    char key[40];
    double files = 0;
    for (int k = 0; k < 2; k++) {
        snprintf(key, sizeof key, "%s%sactive_file", total, k ? "in" : "");
        files += fmax(number_in(path, key), 0);
    }
    if (max < 0 || max > 1e18 || used < 0) return -1; /* no limit */
    const double left = max - used + files;
    return left > 0 ? left : 0;
}

static void least(double *sum, double left) {
    if (left >= 0 && (*sum <= 0 || left < *sum)) *sum = left;
}

double matrices_memory_available(void) {
    double bytes = number_in("/proc/meminfo", "MemAvailable:");
    FILE *in = fopen("/proc/self/cgroup", "r");
    char line[1024];
    if (bytes < 0) bytes = 0;
    while (in && fgets(line, sizeof line, in)) {
        char *path = strrchr(line, ':'), folder[1200];
        if (!path) continue;
        line[strcspn(line, "\n")] = 0;
        const int second = !strncmp(line, "0::", 3), first = strstr(line, ":memory:") != NULL;
        for (path++; (first || second) && *path;) { /* the group and those around it */
            snprintf(folder, sizeof folder, "/sys/fs/cgroup%s%s", first ? "/memory" : "", path);
            least(&bytes,
                  first ? group_left(folder, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                     "total_inactive_file")
                        : group_left(folder, "memory.max", "memory.current", "inactive_file"));
            char *slash = strrchr(path, '/');
            if (!slash) break;
            *slash = 0;
        }
    }
    if (in) fclose(in);
    return bytes;
}
