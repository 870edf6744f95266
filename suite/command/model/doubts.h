/* Warnings: model assumptions that do not hold on this machine. */
#pragma once

#include "model/rows.h"

enum { DOUBTS = 8 };

struct doubts {
    int count;
    char text[DOUBTS][256];
};

/* Doubts about figures and rated rows; `node`: cores of a node, 0: one node; `described`: the
 * figures are a machine file's. */
void doubts_find(struct doubts *doubts, const struct job *job, const struct figures *f,
                 const struct rows *rows, int node, int described);
