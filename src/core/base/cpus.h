/* Sets of processors by the system's numbers, and the affinity of threads: the one place that asks
 * the kernel for it and changes it.
 *
 * A set holds more processors than Linux can be built for on any machine. The kernel's own mask may
 * be larger still: it is read whole, and processors beyond the set are left out. */
#pragma once

#include <sys/types.h>

enum { CPUS_MAX = 8192, CPUS_WORD = 8 * sizeof(unsigned long) };

struct cpus {
    unsigned long word[CPUS_MAX / CPUS_WORD];
};

/* Adds a processor; nothing beyond the set. */
void cpus_add(struct cpus *set, int number);

/* cpus_have(): 1 if the processor is in the set. cpus_count(): number of processors in the set. */
int cpus_have(const struct cpus *set, int number);
int cpus_count(const struct cpus *set);

/* A number that equal sets share. */
unsigned long long cpus_hash(const struct cpus *set);

/* Reads the affinity of the calling thread: by sched_getaffinity() or, where that is refused, from
 * /proc. 0, or an errno; the set is empty then. */
int cpus_get(struct cpus *out);

/* 1 if the system answers sched_getaffinity(); 0: it refuses. */
int cpus_are_told(void);

/* Lets a thread (0: the calling one) run on these processors and nowhere else. 0, or an errno. */
int cpus_set(pid_t thread, const struct cpus *set);
