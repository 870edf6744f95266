/* The workloads there are. */
#pragma once

#include "common/simd/isa.h"
#include "common/run/workload.h"

/* The levels of the processor that the workloads are compiled for, ascending, and those of each: of
 * each folder, in the order in which evener_workload() has added them; NULL ends the lists. CMake
 * writes it (cmake/workloads.cmake). */
extern const struct isa workload_isas[];
extern const struct workload *const *const *const workload_folders[];

/* Chooses the level that this machine runs best, or EVENER_ISA's. Call it once, before the other
 * functions. Returns the fault; NULL: none. */
const char *workload_choose(void);

/* The i-th of all; NULL beyond the last. */
const struct workload *workload_at(int i);

/* The one of that name; NULL if there is none. */
const struct workload *workload_find(const char *name);

/* "bt-mz, sp-mz or lu-mz", as messages have it, or "bt-mz sp-mz lu-mz"; valid until the next call.
 */
const char *workload_list(void);
const char *workload_words(void);

/* The i-th of all studies that workloads have; NULL beyond the last. */
const struct study *workload_study(int i);

/* The i-th of all commands that workloads have; NULL beyond the last. */
const struct study *workload_command(int i);
