/* Bytes that exchanges have moved between pairs of a loop's tasks. */
#pragma once

#include <evener/program.h>
#include <stddef.h>

/* Pairs of tasks, task[0] < task[1], of which several entries may be of one pair until they are
 * merged; bytes of both directions. All 0: none. */
struct links {
    evn_link *link;
    size_t count, room;
    int failed; /* 1: there was no memory for one of them */
};

/* Adds bytes from a task to another one; those within a task are none. */
void links_add(struct links *links, int from, int to, double bytes);

/* One entry for each pair, in ascending order. */
void links_merge(struct links *links);
