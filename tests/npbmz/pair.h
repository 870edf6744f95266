/* A zone on the host in the application's layout and in plain.c's, to hold a solver against the
 * plain one phase by phase; and what a step must do whatever the solver. */
#ifndef TEST_PAIR_H
#define TEST_PAIR_H

#include "npbmz/problem.h"
#include "plain.h"

struct pair {
    struct problem p; /* of this zone alone */
    struct zone z;
    struct scratch s;
    struct plain_zone q;
};

extern const struct team pair_alone;

/* A zone of this shape with a random gas, forcing and (LU) residual, and scratch for a team.
 * Spacings differ in all directions. */
void pair_open(struct pair *a, enum npbmz_benchmark benchmark, double dt, const int shape[3],
               int cores);
void pair_close(struct pair *a);

/* A step by a team. */
void pair_step(struct pair *a, int cores);

/* Field `got` is `want` to 1e-12 of the largest value, component by component. */
void pair_assert_close(const struct pair *a, const plain_point *got, const plain_point *want,
                       const char *what);

int pair_interior(const struct zone *z, int i, int j, int k);

/* ---- what a step must do, for a zone of each shape ------------------------------------------ */

/* It leads where plain.c's does. */
void pair_steps_agree(enum npbmz_benchmark benchmark, double dt, const int shape[][3], int shapes);
/* It changes all interior points of u (LU: and r) and no other bit of the zone. */
void pair_others_stay(enum npbmz_benchmark benchmark, double dt, const int shape[][3], int shapes);
/* A few steps have the same bits whatever the team: one core, and so many teams of 2, 3, 5, 4, 7
 * and 12. */
void pair_team_has_no_say(enum npbmz_benchmark benchmark, double dt, const int shape[][3],
                          int shapes, int teams);
/* And whatever lies in padding, and in scratch (not LU's, where it is the sweeps' progress). */
void pair_padding_has_no_say(enum npbmz_benchmark benchmark, double dt, const int shape[][3],
                             int shapes);

#endif
