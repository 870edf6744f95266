/* Which of the compilations of the workloads a command takes: one for each level of x86-64
 * (cmake/levels.cmake).
 *
 * The levels are those of the System V ABI, AMD64 Supplement, section 3.1.1: v2 has SSE 4.2, v3
 * adds AVX2 and fused multiply-adds, v4 AVX-512. A level counts as supported if the processor has
 * all that belongs to it (CPUID) and the system keeps its registers (XGETBV).
 */
#ifndef COMMON_ISA_H
#define COMMON_ISA_H

#include <stddef.h>

struct isa {
    const char *name; /* as EVENER_ISA has it: "v3"; NULL ends a list */
    int level;        /* 2, 3, 4; 0: of no level, and taken to run where it was built */
};

/* The number in `list`, which ascends, of what is taken: what EVENER_ISA says, or else the highest
 * that this machine supports; -1 where there is none, and `why`, of `size` bytes, says what is
 * wrong and what would be right. Else it says why it was taken. To be called before other threads
 * are there; isa_name() and isa_why() tell of the last call. */
int isa_choose(const struct isa *list, char *why, size_t size);

/* What was taken, for records and printed results, and why. */
const char *isa_name(void);
const char *isa_why(void);

/* What this machine lacks of a level, words between spaces, "" if nothing: "avx2 fma"
 * or "a system that keeps the registers of AVX". Of level 0 it lacks nothing. */
const char *isa_lacks(int level, char *text, size_t size);

#endif
