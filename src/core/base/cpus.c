/* Sets of processors, and the kernel's calls for them. */
#include "base/cpus.h"
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest mask that is tried, in bytes: of a million processors. */
enum { LARGEST = 1 << 17 };

void cpus_add(struct cpus *set, int number) {
    if (number >= 0 && number < CPUS_MAX)
        set->word[number / CPUS_WORD] |= 1UL << (number % CPUS_WORD);
}

int cpus_have(const struct cpus *set, int number) {
    return number >= 0 && number < CPUS_MAX &&
           (set->word[number / CPUS_WORD] >> (number % CPUS_WORD) & 1);
}

int cpus_count(const struct cpus *set) {
    int count = 0;
    for (int i = 0; i < CPUS_MAX / CPUS_WORD; i++) count += __builtin_popcountl(set->word[i]);
    return count;
}

unsigned long long cpus_hash(const struct cpus *set) {
    unsigned long long hash = 14695981039346656037ULL;
    for (int i = 0; i < CPUS_MAX / CPUS_WORD; i++) hash = (hash ^ set->word[i]) * 1099511628211ULL;
    return hash;
}

/* Reads a list as "0-3,8"; 0, or EINVAL. */
static int parse(struct cpus *out, const char *text) {
    memset(out, 0, sizeof *out);
    for (char *end;; text = end + 1) {
        const long first = strtol(text, &end, 10);
        long last = first;
        if (end == text || first < 0) return EINVAL;
        if (*end == '-') last = strtol(text = end + 1, &end, 10);
        if (end == text || last < first) return EINVAL;
        for (long i = first; i <= last && i < CPUS_MAX; i++) cpus_add(out, (int)i);
        if (*end != ',') return *end && *end != '\n' ? EINVAL : 0;
    }
}

/* The kernel refuses a mask that is smaller than its own. */
static int get_larger(struct cpus *out) {
    int error = EINVAL;
    for (size_t bytes = 2 * sizeof *out; error == EINVAL && bytes <= LARGEST; bytes *= 2) {
        cpu_set_t *mask = calloc(1, bytes);
        if (!mask) return ENOMEM;
        error = sched_getaffinity(0, bytes, mask) ? errno : 0;
        if (!error) memcpy(out, mask, sizeof *out);
        free(mask);
    }
    return error;
}

static int get_from_proc(struct cpus *out) {
    static const char key[] = "Cpus_allowed_list:\t";
    char line[4096];
    int error = ENOENT;
    FILE *f = fopen("/proc/thread-self/status", "re");
    while (f && error == ENOENT && fgets(line, sizeof line, f))
        if (!strncmp(line, key, sizeof key - 1)) error = parse(out, line + sizeof key - 1);
    if (f) fclose(f);
    return error;
}

static int get(struct cpus *out) {
    memset(out, 0, sizeof *out);
    const int error = sched_getaffinity(0, sizeof *out, (cpu_set_t *)out) ? errno : 0;
    return error == EINVAL ? get_larger(out) : error;
}

int cpus_are_told(void) {
    struct cpus set;
    return !get(&set);
}

int cpus_get(struct cpus *out) {
    int error = get(out);
    if (error && !get_from_proc(out)) error = 0;
    if (error) memset(out, 0, sizeof *out);
    return error;
}

int cpus_set(pid_t thread, const struct cpus *set) {
    return sched_setaffinity(thread, sizeof *set, (const cpu_set_t *)set) ? errno : 0;
}
