/* Studies of FT, for evener bench and evener model. */
#pragma once

#include "common/run/virtual.h"

/* bench ft: the transform of three axes on one core, beside FFTW's. */
int ft_study(int argc, char **argv);

/* model ft (study_model.c). */
extern const struct virtual_program ft_in_time;
