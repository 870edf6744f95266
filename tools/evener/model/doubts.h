/* What the model takes for granted and is not so here, in words. */
#ifndef MODEL_DOUBTS_H
#define MODEL_DOUBTS_H

#include "model/rows.h"

enum { DOUBTS = 8 };

struct doubts {
    int count;
    char text[DOUBTS][256];
};

/* Of figures and rows that are rated; `node`: cores of a node, 0: all are on one; `described`: the
 * figures are a machine file's. */
void doubts_find(struct doubts *doubts, const struct job *job, const struct figures *f,
                 const struct rows *rows, int node, int described);

#endif
