/* The C that stands in the place of a directive and of the head of its loop. */
#pragma once

#include "loop.h"

/* teams distribute, teams loop, distribute: the loop's iterations shared out to units. */
void emit_loop(struct source *s, const struct directive *d, const struct nest *nest);
/* teams: tokens [first, last) once on each unit. What is within is written in between. */
void emit_teams_begin(struct source *s, const struct directive *d, int first, int number);
void emit_teams_end(struct source *s, const struct directive *d, int last, int number);
/* "if this is a GPU unit, return f_gpu(..)" behind the brace of the function that token `at`
 * begins. */
void emit_variant(struct source *s, const struct directive *d, int at);
