/* What a GPU would do, counted: runs of basic blocks, requests of memory with the sectors of 32
 * bytes and the wavefronts that they take, by kernel. */
#pragma once

#include "kernel.h"
#include <string>
#include <vector>

/* of an instruction; `least`: where no two lanes want one bank */
struct site_counters {
    u64 requests, sectors, waves, least_waves;
};

struct kernel_counters {
    std::string name; /* with the first digits of its module's hash */
    const kernel_info *info;
    int items;
    u64 launches;
    std::vector<u64> runs, lanes, diverged; /* by basic block */
    std::vector<site_counters> site;
    /* sectors, each counted once a launch, and once a group */
    u64 read_once, written_once, read_by_group, written_by_group;
};

kernel_counters *counters_of(const std::string &name, const kernel_info *info); /* found or new */
void count_global(kernel_counters *, u32 mask, const u64 *at, const site *);
void count_shared(kernel_counters *, u32 mask, const u64 *at, const site *);

/* Groups of a kernel that an H200's multiprocessor has room for */
int groups_per_processor(const kernel_info *, int items, size_t more_shared);
int registers_of_group(const kernel_info *, int items);

void counters_report(const char *file);
