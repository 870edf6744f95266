/* Opening files that are read. */
#ifndef COMMON_INPUT_H
#define COMMON_INPUT_H

#include <stdio.h>

/* Opens a file for reading. A named pipe to which nobody writes is waited for, with a line that
 * says so. NULL with errno. */
FILE *input_open(const char *path);

/* The same of a file that is read in any order: NULL with ESPIPE for all but regular files, none of
 * which is waited for. */
FILE *input_open_regular(const char *path);

#endif
