/* A quadtree of blocks: the leaves of a periodic square of roots, in Morton order, so that their
 * numbers follow a curve. Leaves that touch along a side differ by one level at most. */
#pragma once

enum { SIDES = 4, LEVELS_MAX = 10 }; /* sides: low x, high x, low y, high y */

/* Block (x, y) of its level, of `roots` << level a side. */
struct leaf {
    int level, x, y;
};

struct quadtree {
    int roots, levels; /* levels above the roots */
    int leaves;
    struct leaf *leaf;
};

/* Leaves of the next tree: leaf t comes from from[first[t]] .. from[first[t + 1] - 1] of before;
 * kept[t]: it is that one. */
struct change {
    struct quadtree next;
    int *first, *from;
    char *kept;
    int leaves, born; /* leaves of the next tree; those that are born */
};

/* All roots. -1: no memory, as below. */
int quadtree_open(struct quadtree *tree, int roots, int levels);
void quadtree_close(struct quadtree *tree);

/* The leaves beyond a side: one of the same level or coarser, or two finer ones, in ascending
 * order along the side. Their number. */
int quadtree_beyond(const struct quadtree *tree, int leaf, int side, int beyond[2]);

/* The tree in which leaves want[t] > 0 are refined and those of want[t] < 0 merged, where all four
 * of a parent want it; more are refined, and fewer merged, so that levels differ by one. */
int quadtree_change(struct change *change, const struct quadtree *tree, const signed char *want);
void quadtree_change_close(struct change *change); /* all but `next` */
