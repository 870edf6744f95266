/* The command: rewrites files and runs the compiler. */
#pragma once

#include "options.h"

/* Exit status of the command. */
int drive(const struct options *o);
