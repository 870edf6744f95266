/* Idle time of cores from /proc/stat, in ticks of 10 ms nearly everywhere. */
#include "base/idle.h"
#include <stdio.h>
#include <unistd.h>

int idle_read(struct idle *out, const char *root) {
    char path[256], line[256];
    snprintf(path, sizeof path, "%s/proc/stat", root);
    for (int i = 0; i < IDLE_CORES; i++) out->seconds[i] = -1;
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    int found = 0, core;
    unsigned long long idle, wait;
    while (fgets(line, sizeof line, f) && line[0] == 'c' && line[1] == 'p') {
        /* user, nice, system, idle, waiting for files */
        if (sscanf(line, "cpu%d %*u %*u %*u %llu %llu", &core, &idle, &wait) != 3) continue;
        if (core < 0 || core >= IDLE_CORES) continue;
        out->seconds[core] = (double)(idle + wait) * tick;
        found = 1;
    }
    fclose(f);
    return found;
}
