/* What the command does: files rewritten, the compiler run. */
#ifndef CC_DRIVER_H
#define CC_DRIVER_H

#include "options.h"

/* Exit status of the command. */
int drive(const struct options *o);

#endif
