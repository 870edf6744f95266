/* Studies of TD-BEM, for evener bench. */
#pragma once

/* bench td-bem: the summation beside what the machine allows, and solvers (summation.c). */
int tdbem_study(int argc, char **argv);

/* model td-bem: groups of steps over ranks (model.c). */
int tdbem_model(int argc, char **argv);
