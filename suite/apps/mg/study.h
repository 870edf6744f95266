/* Studies of MG, for evener bench and evener model. */
#pragma once

#include "common/run/virtual.h"

/* bench mg: passes level by level, against memory's bandwidth. */
int mg_study(int argc, char **argv);

/* model mg (study_model.c). */
extern const struct virtual_program mg_in_time;
