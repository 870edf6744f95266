/* What a task of FT has: a slab of planes of layout Z, and one of rows of layout Y; and how its
 * transforms are shared by the cores of a team. */
#ifndef FT_PARTS_H
#define FT_PARTS_H

/* Tasks of nx x ny x nz points: as many as both layouts can be cut into. */
static inline int parts_count(const int n[3]) { return n[1] < n[2] ? n[1] : n[2]; }

/* Where the planes or rows of a task begin, of `count` in all; those of the next one begin where
 * they end. */
static inline int parts_begin(int count, int tasks, int task) {
    return (int)((long long)count * task / tasks);
}

#endif
