/* Lists of units by nodes: `1024*1:CPU:32` is a node's units that many times, `1024*cpu+64*gpu`
 * nodes as a machine file names them. Each node is a rank. */
#pragma once

#include "machine/machine_file.h"

struct nodes {
    int count;        /* 0: the list has no nodes */
    char units[1024]; /* all their units, as evn_units_open() reads them */
    int *node;        /* of each unit */
    int *entry;       /* of each unit: that of its node in the machine file; -1: none */
    int units_count;
};

/* Whether the text speaks of nodes. */
int nodes_are_in(const char *text);

/* Reads it; `machine` (NULL: none) is asked for names of nodes. Units of a node stand together by
 * their place in its list: first the first of all nodes, then the second. 0, or an exit status
 * after a message; close it in any case. */
int nodes_read(struct nodes *nodes, const char *text, const struct machine_file *machine);
void nodes_close(struct nodes *nodes);
