/* From C with directives of ours to C without. */
#pragma once

#include "source.h"

/* Whether the text may have anything to be rewritten; quick, and sometimes wrong with yes. */
int rewrite_worth(const char *text);
/* Whether generated text has this word, which a program may have made a macro. */
int rewrite_speaks(const char *word, int length);
/* Whether a text of C or C++ has directives of ours, or macros of which they are made. */
int rewrite_ours(const char *text);
/* Where the first directive of ours is that is not of the file `name`, or -1. */
int rewrite_elsewhere(struct source *s, const char *name);
/* Finds the directives and writes others in their place (source_write). s->unseen: it must be
 * preprocessed first. Returns the number of places that were rewritten. */
int rewrite(struct source *s);
