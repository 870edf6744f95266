/* From C with directives of ours to C without. */
#ifndef CC_REWRITE_H
#define CC_REWRITE_H

#include "source.h"

/* Whether the text may have anything to be rewritten; quick, and sometimes wrong with yes. */
int rewrite_worth(const char *text);
/* Finds the directives and writes others in their place (source_write). s->unseen: it must be
 * preprocessed first. Returns the number of places that were rewritten. */
int rewrite(struct source *s);

#endif
