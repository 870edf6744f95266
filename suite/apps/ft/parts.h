/* Parts of a task of FT: a slab of planes of layout Z, and one of rows of layout Y; and the
 * division of its transforms among a team's cores. */
#pragma once

/* Tasks of nx x ny x nz points: as many as both layouts can be cut into. */
static inline int parts_count(const int n[3]) { return n[1] < n[2] ? n[1] : n[2]; }

/* First plane or row of a task, of `count` in all; the next task's are adjacent. */
static inline int parts_begin(int count, int tasks, int task) {
    return (int)((long long)count * task / tasks);
}
