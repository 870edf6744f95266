/* Owners of planes of layout Z and rows of layout Y: the tasks' ranks and spaces. The two axes are
 * symmetric: z and y exchanged give the other layout, and the transpose back.
 *
 * A task is on a rank, and there in a space: the host's memory, 0, or a device's. A rank's planes
 * and rows are numbered space after space, so that those of a space are contiguous in any array of
 * a rank. */
#pragma once

struct axis {
    int n;
    int *rank;  /* rank that owns each plane or row */
    int *space; /* space of each plane or row */
    int *at;    /* index of each plane or row among its rank's, from 0 */
    int *count; /* number of planes or rows of each rank */
    int *host;  /* number of them, the first ones, in the host's memory of each rank */
    int *base;  /* number of planes or rows of the ranks before each rank */
    int *begin; /* number of planes or rows before each space of this rank, which is the end of the
                   space before */
};

struct owners {
    int ranks, me, tasks;
    int spaces; /* number of this rank's spaces */
    int *rank;  /* rank of each task */
    int *space;
    struct axis z, y;
};

/* All in the host's memory of rank 0, until they are dealt out. 0, or -1 without memory. */
int owners_open(struct owners *owners, const int n[3], int tasks, int ranks, int me);
void owners_close(struct owners *owners);

/* This rank has so many spaces; until then it has one. 0, or -1 without memory. */
int owners_spaces(struct owners *owners, int spaces);

/* Assigns each task to a rank and to a space there; `space` NULL: the hosts' memory. */
void owners_deal(struct owners *owners, const int *rank, const int *space);

/* Whether all tasks of all ranks are in the hosts' memory. */
int owners_on_hosts(const struct owners *owners);
