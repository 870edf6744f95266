/* The choice among the compilations of the workloads, one for each level of x86-64
 * (cmake/levels.cmake).
 *
 * The levels are those of the System V ABI, AMD64 Supplement, section 3.1.1: v2 has SSE 4.2, v3
 * adds AVX2 and fused multiply-adds, v4 AVX-512. A level is supported if the processor has all of
 * its features (CPUID) and the system saves its registers (XGETBV). */
#pragma once

#include <stddef.h>

struct isa {
    const char *name; /* name of the level in EVENER_ISA, "v3"; NULL ends a list */
    int level;        /* 2, 3, 4; 0: of no level, and taken to run where it was built */
};

/* Index in the ascending `list` of the chosen level: EVENER_ISA's, or the highest supported; -1 if
 * there is none, with the fault and the remedy in `why` (`size` bytes). Otherwise `why` is the
 * reason of the choice. Call it before other threads exist; isa_name() and isa_why() describe the
 * last call. */
int isa_choose(const struct isa *list, char *why, size_t size);

/* The choice, for records and printed results, and its reason. */
const char *isa_name(void);
const char *isa_why(void);

/* Features of a level that this machine lacks, separated by spaces, "" if none: "avx2 fma" or "a
 * system that keeps the registers of AVX". Level 0 needs none. */
const char *isa_lacks(int level, char *text, size_t size);
