/* The command: rewrites files and runs the compiler. */
#ifndef CC_DRIVER_H
#define CC_DRIVER_H

#include "options.h"

/* Exit status of the command. */
int drive(const struct options *o);

#endif
