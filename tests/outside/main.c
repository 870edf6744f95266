/* The main program, which knows nothing of Evener: uses the shared library that does, and has
 * parallel regions of its own before, between and after. usage: outside UNITS DEVICES SCHEDULE
 *
 * The last line is how many fields are wrong and how many exchanges were in two halves; the status
 * is not 0 if one is wrong, or the threads of a region have to share a core. */
#ifdef __linux__
#    define _GNU_SOURCE
#endif
#include "program.h"
#include <sched.h>
#include <stdio.h>
#include <string.h>

static cpu_set_t before;

/* Where two threads of this program may run. If one of them may go nowhere but where the other one
 * must be, they share a core. */
static int region(const char *when) {
    cpu_set_t mask[2], either, within;
#pragma omp parallel for num_threads(2) schedule(static, 1)
    for (int i = 0; i < 2; i++) sched_getaffinity(0, sizeof mask[i], &mask[i]);
    CPU_OR(&either, &mask[0], &mask[1]);
    CPU_AND(&within, &either, &before);
    const int wanted = CPU_COUNT(&before) > 1 ? 2 : 1;
    if (CPU_COUNT(&mask[0]) && CPU_COUNT(&mask[1]) && CPU_COUNT(&either) >= wanted &&
        CPU_EQUAL(&within, &either))
        return 0;
    printf("%s: two threads may run on %d and %d cores, together %d of %d\n", when,
           CPU_COUNT(&mask[0]), CPU_COUNT(&mask[1]), CPU_COUNT(&either), CPU_COUNT(&before));
    return 1;
}

static int failed(const char *what, const char *why) {
    printf("%s: %s\n", what, why);
    return 1;
}

int main(int count, char **argument) {
    sheets *all;
    int wrong, halves, bad = 0;
    if (count != 4) return failed("usage", "outside UNITS DEVICES SCHEDULE");
    sched_getaffinity(0, sizeof before, &before);
    const char *why = sheets_open(&all, argument[1], argument[2], argument[3]);
    if (why) return failed("opening", why);
    bad += region("before the loops");
    if ((why = sheets_march(all, 24))) return failed("marching", why);
    bad += region("between loops");
    if ((why = sheets_march(all, 8))) return failed("marching on", why);
    if ((why = sheets_compare(all, &wrong, &halves))) return failed("comparing", why);
    bad += region("after the loops");
    if ((why = sheets_close(all))) return failed("closing", why);
    bad += region("after the units");
    printf("%s %s %s: %d fields are wrong, %d exchanges were in halves\n", argument[1], argument[2],
           argument[3], wrong, halves);
    return bad || wrong;
}
