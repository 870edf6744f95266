/* The right-hand side: twenty charges at the largest and smallest of n^3 pseudo-random numbers
 * (RNR-94-007, section 3.3; in the reference zran3), stored as twenty points: no field is read for
 * them. */
#pragma once

#include <stdint.h>

enum { CHARGES = 20 };

struct charges {
    struct charge {
        int x, y, z;
        double value;       /* 1 or -1 */
    } at[CHARGES];          /* charges by z, then y, then x */
    unsigned char in[4096]; /* by plane, 1: it has a charge */
};

/* A candidate: a point's position in memory order and its X. */
struct candidate {
    int64_t place;
    uint64_t x;
};

/* The points of planes `begin` to `end` whose numbers are so large or so small that about `wanted`
 * of either kind are among all n^3. Writes at most `room` and returns how many there are. */
int charges_look(int n, int begin, int end, double wanted, struct candidate *found, int room);

/* The ten largest and smallest; reorders the candidates. -1: there are not enough of a kind, and
 * more must be wanted. */
int charges_choose(struct charges *charges, int n, struct candidate *found, int count);

/* Adds the charges of row y of plane z to it. */
void charges_add(const struct charges *charges, double *row, int y, int z);

/* Adds P v to row j of coarse plane k; n points a side of the finer level. */
void charges_restrict(const struct charges *charges, double *row, int n, int j, int k);
