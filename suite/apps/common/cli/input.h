/* Opening files that are read. */
#pragma once

#include <stdio.h>

/* Opens a file for reading. A named pipe to which nobody writes is waited for, with a line that
 * says so. NULL with errno. */
FILE *input_open(const char *path);
