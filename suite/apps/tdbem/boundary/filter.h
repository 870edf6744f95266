/* A filter's file, and whether the filter is passive and steps resolve it. */
#pragma once

#include "tdbem/boundary/boundary.h"

/* Reads a file as boundary_open() has it; f->pole is the caller's to free, also after a failure.
 * f->name is `name` itself. EVN_USAGE: form, or Re beta < 0 somewhere; EVN_MEMORY. */
evn_status filter_read(struct filter *f, const char *name);

/* EVN_USAGE: a pole is faster than steps of dt. */
evn_status filter_check_steps(const struct filter *f, double dt);

/* The least Re beta over all w, and the w where it is. */
double filter_least(const struct filter *f, double *w);
