/* Files that a source of C or C++ includes. */
#pragma once

#include "options.h"

/* Whether a file that the source includes, found by the command line's -I, -iquote and -include,
 * has directives of ours, or macros of them: the source is then read after preprocessing. */
int includes_ours(const struct options *o, const char *name, const char *text);
/* Whether a precompiled header is used: by -include, or as the source's first include. */
int includes_precompiled(const struct options *o, const char *name, const char *text);
/* Behind the line of the source's first include, where it stands before all else; 0: it does not.
 */
int behind_first_include(const char *text);
