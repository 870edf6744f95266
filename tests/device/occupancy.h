/* How many groups of a kernel a multiprocessor has at a time, by the rules of its architecture
 * (CUDA C++ Programming Guide, "Compute Capabilities"): registers, the group's memory, warps, and a
 * limit of groups. What one uses up the others do not matter for. */
#pragma once

struct multiprocessor {
    int architecture; /* 90 for 9.0 */
    int local_bytes;  /* for groups' memory, with 1 KiB of each group that the system takes */
    int warps, groups;
};

/* The last entry that is not above `architecture`, which is 75 or more. */
static inline struct multiprocessor multiprocessor_of(int architecture) {
    static const struct multiprocessor table[] = {
        {75, 65536, 32, 16},   {80, 167936, 64, 32},  {86, 102400, 48, 16},
        {87, 167936, 48, 16},  {89, 102400, 48, 24},  {90, 233472, 64, 32},
        {100, 233472, 64, 32}, {110, 233472, 48, 24}, {120, 102400, 48, 24},
    };
    int i = (int)(sizeof table / sizeof *table) - 1;
    while (i > 0 && table[i].architecture > architecture) i--;
    return table[i];
}

/* Groups of `items` items that take so many registers each, and together so much memory. Registers
 * are dealt out to warps, 256 at a time, in each of the four parts of a multiprocessor. */
static inline int groups_at_a_time(int architecture, int items, int registers, int group_bytes) {
    const struct multiprocessor m = multiprocessor_of(architecture);
    const int reserved = architecture < 80 ? 0 : 1024;
    const int warps = (items + 31) / 32, of_warp = (registers * 32 + 255) / 256 * 256;
    const int bytes = (group_bytes + reserved + 127) / 128 * 128;
    int groups = m.groups;
    if (m.warps / warps < groups) groups = m.warps / warps;
    if (16384 / of_warp * 4 / warps < groups) groups = 16384 / of_warp * 4 / warps;
    if (bytes && m.local_bytes / bytes < groups) groups = m.local_bytes / bytes;
    return groups;
}
