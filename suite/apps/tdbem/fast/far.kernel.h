/* Arguments of the far field's kernels, common to host and kernels. A group of items has FAR_ITEMS
 * of a cell's numbers: rows of some steps each, a row after the other. Places are in the state, in
 * doubles; begins in `weight`, `link` and the row-vectors in elements of theirs. */
#pragma once

#include <evener/kernel.h>

#define FAR_ITEMS 64

/* Of a target's sums of one field. */
struct far_rows {
    evn_long to;     /* place of the cell's sums */
    evn_long weight; /* of what comes from above: of its first row; one of these from the next */
    evn_long above; /* place of the sums it is made of: the larger cell's, of a vertex its leaf's */
    int above_rows; /* how many */
    int stride;     /* of a row of weights */
    int from, count; /* the group's first number, the cell's numbers */
    int rows;        /* the cell's */
    int link, links; /* pairs with far cells */
    int first;       /* row of all that a leaf's vertices begin with */
};

/* A pair of far cells. */
struct far_link {
    evn_long entry; /* its first row-vector */
    evn_long ring;  /* place of the source's rings */
    double scale;   /* of the values */
    int columns;
    int unused; /* fills a hole */
};

/* Of the rings of a cell's sources. */
struct far_ring {
    evn_long to;     /* place of the first one */
    evn_long weight; /* of its first row */
    int candidates;  /* begin in `candidate`, which has their places */
    int stride;      /* how many: of a row of weights */
    int from, count; /* as above */
};

/* The period at hand, and a level. */
struct far_now {
    evn_long sums, recent, past; /* as `struct far` has them */
    evn_long from;    /* added to the places of candidates, or those of sums above: its steps */
    int stride;       /* from one of their steps to the next one; of sums from row to row */
    int n, period;    /* the period's first step */
    int group;        /* the level's first group of items */
    int steps;        /* of a row: `due` of the level, or the period */
    int length;       /* of its rings */
    int ring;         /* where step n is in them */
    int reach, slide; /* what is kept of them when they slide on, and by how much */
    int taps, apart, mean;
    int vertices, kept;
};
