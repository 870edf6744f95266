/* Levels of x86-64: those of this machine, and the choice. */
#include "common/simd/isa.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#    include <cpuid.h>
#endif

static char taken[32] = "unknown", reason[512];

#if defined(__x86_64__)
enum { EAX, EBX, ECX, EDX };
enum { FIRST = 1, SEVENTH = 7, EXTENDED = (int)0x80000001 };

/* In the order of the ABI's table. */
static const struct feature {
    int level;
    const char *name;
    int leaf, in, bit;
} features[] = {
    {2, "cx16", FIRST, ECX, 13},       {2, "lahf", EXTENDED, ECX, 0},
    {2, "popcnt", FIRST, ECX, 23},     {2, "sse3", FIRST, ECX, 0},
    {2, "sse4_1", FIRST, ECX, 19},     {2, "sse4_2", FIRST, ECX, 20},
    {2, "ssse3", FIRST, ECX, 9},       {3, "avx", FIRST, ECX, 28},
    {3, "avx2", SEVENTH, EBX, 5},      {3, "bmi1", SEVENTH, EBX, 3},
    {3, "bmi2", SEVENTH, EBX, 8},      {3, "f16c", FIRST, ECX, 29},
    {3, "fma", FIRST, ECX, 12},        {3, "lzcnt", EXTENDED, ECX, 5},
    {3, "movbe", FIRST, ECX, 22},      {3, "osxsave", FIRST, ECX, 27},
    {4, "avx512f", SEVENTH, EBX, 16},  {4, "avx512bw", SEVENTH, EBX, 30},
    {4, "avx512cd", SEVENTH, EBX, 28}, {4, "avx512dq", SEVENTH, EBX, 17},
    {4, "avx512vl", SEVENTH, EBX, 31},
};
enum { FEATURES = sizeof features / sizeof *features };

static int has(const struct feature *f) {
    unsigned r[4] = {0};
    if (!__get_cpuid_count((unsigned)f->leaf, 0, &r[EAX], &r[EBX], &r[ECX], &r[EDX])) return 0;
    return r[f->in] >> f->bit & 1;
}

/* The registers that the system keeps when it changes threads (XCR0). */
static unsigned kept(void) {
    static const struct feature osxsave = {3, "", FIRST, ECX, 27};
    unsigned low, high;
    if (!has(&osxsave)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static int keeps(int level) {
    static const unsigned registers[] = {
        [3] = 0x06, [4] = 0xe6}; /* registers of SSE and AVX; masks and ZMM as well */
    return level < 3 || (kept() & registers[level]) == registers[level];
}

const char *isa_lacks(int level, char *text, size_t size) {
    size_t at = 0;
    *text = 0;
    for (const struct feature *f = features; f < features + FEATURES; f++)
        if (f->level <= level && at < size && !has(f))
            at += (size_t)snprintf(text + at, size - at, "%s%s", at ? " " : "", f->name);
    if (!at && !keeps(level))
        snprintf(text, size, "a system that keeps the registers of %s",
                 keeps(3) ? "AVX-512" : "AVX");
    return text;
}
#else
const char *isa_lacks(int level, char *text, size_t size) {
    snprintf(text, size, "%s", level ? "x86-64" : "");
    return text;
}
#endif

/* "v2, v3 or v4" */
static const char *names(const struct isa *list, char *text, size_t size) {
    size_t at = 0;
    for (int i = 0; list[i].name && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s",
                               !i                 ? ""
                               : list[i + 1].name ? ", "
                                                  : " or ",
                               list[i].name);
    return text;
}

/* The highest that runs here; -1: none does. `above`: what it lacks of the next. */
static int highest(const struct isa *list, char *above, size_t size) {
    int best = -1;
    *above = 0;
    for (int i = 0; list[i].name && !*isa_lacks(list[i].level, above, size); i++) best = i;
    return best;
}

/* Index of the level that EVENER_ISA names; -1: unknown, or it does not run here. */
static int wanted(const struct isa *list, const char *word, int best, char *why, size_t size) {
    char text[256];
    int i = 0;
    while (list[i].name && strcmp(list[i].name, word) != 0) i++;
    if (!list[i].name) {
        snprintf(why, size, "EVENER_ISA=%.32s: expected %s, which this build has", word,
                 names(list, text, sizeof text));
        return -1;
    }
    if (*isa_lacks(list[i].level, text, sizeof text)) {
        snprintf(why, size, "EVENER_ISA=%s: this machine lacks %s; expected %s%s", word, text,
                 best < 0 ? "another machine" : list[best].name, best > 0 ? " or lower" : "");
        return -1;
    }
    snprintf(why, size, "EVENER_ISA says so%s%s", i == best ? "" : "; this machine could run ",
             i == best ? "" : list[best].name);
    return i;
}

int isa_choose(const struct isa *list, char *why, size_t size) {
    const char *word = secure_getenv("EVENER_ISA");
    char lacks[256];
    int best = highest(list, lacks, sizeof lacks), i = best;
    if (word && *word)
        i = wanted(list, word, best, why, size);
    else if (best < 0)
        snprintf(why, size,
                 "this machine lacks %s of %s, the lowest level that this build has; build on it "
                 "with -DEVENER_ARCH=native",
                 lacks, list[0].name);
    else if (list[best + 1].name)
        snprintf(why, size, "the highest that runs here: %s needs %s", list[best + 1].name, lacks);
    else
        snprintf(why, size, "%s", best ? "the highest that there is" : "this build has no other");
    if (i >= 0) {
        snprintf(taken, sizeof taken, "%s", list[i].name);
        snprintf(reason, sizeof reason, "%s", why);
    }
    return i;
}

const char *isa_name(void) { return taken; }
const char *isa_why(void) { return reason; }
