/* Which rank has which planes of layout Z and which rows of layout Y: those of its tasks. What is
 * said of the two axes is the same with z and y exchanged, and so is a transpose from one layout to
 * the other. */
#ifndef FT_OWNERS_H
#define FT_OWNERS_H

struct axis {
    int n;
    int *rank;  /* of each plane or row: who has it .. */
    int *at;    /* .. and which of its own it is, from 0 */
    int *count; /* of each rank: how many it has .. */
    int *base;  /* .. and how many those before it have */
};

struct owners {
    int ranks, me, tasks;
    int *rank; /* of each task */
    struct axis z, y;
};

/* All of rank 0's, until they are dealt out. 0, or -1 without memory. */
int owners_open(struct owners *owners, const int n[3], int tasks, int ranks, int me);
void owners_close(struct owners *owners);

/* Whose each task is. */
void owners_deal(struct owners *owners, const int *rank);

#endif
