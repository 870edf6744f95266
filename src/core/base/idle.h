/* Idle time of each core, by the kernel's count. */
#pragma once

enum { IDLE_CORES = 1024 };

/* Seconds since the system began, or -1 where the core is not shown. */
struct idle {
    double seconds[IDLE_CORES];
};

/* Reads `root`/proc/stat; `root` is "" except in tests. 0: it does not list cores. */
int idle_read(struct idle *out, const char *root);
