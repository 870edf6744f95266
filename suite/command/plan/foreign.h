/* Problems that are read from a file: tasks of another program, for plans. They are workloads that
 * can be planned and not run; a state holds the file's path, and its tasks once it was checked. */
#pragma once

#include "common/run/workload.h"

/* The loop of a record that is planned: its tasks are `first` and those behind it in the record's
 * lists. */
struct record_part {
    const cJSON *root;
    const cJSON *of; /* where its seconds, steps, periods and units' times are: the loop's entry, or
                        the root, where the record has no loops */
    int first, tasks, number; /* number: of the loop; 0 */
};

struct foreign {
    const char *path;
    const char *loop; /* name or number of the loop; NULL: the one that took longest */
    cJSON *root;      /* a record; NULL: a graph */
    struct record_part part;
    int tasks, links, steps;
    double *weight, *bytes; /* bytes of a task's data; NULL: not known */
    evn_link *link;
    const char *name, *noun, *class_;
    char key[128];
};

/* The record of a program, and a graph; `state` is a struct foreign. */
extern const struct workload foreign_record, foreign_graph;

/* Finds the loop of a record whose lists have as many entries as it has tasks. 0, or an exit status
 * after a message. */
int record_part_find(struct record_part *part, const char *path, const cJSON *root,
                     const char *loop);

/* Sorts links by their tasks, and gives the index of the first one that is there twice; -1: none.
 */
int foreign_sort(evn_link *link, int links);

/* A graph in the format of METIS or Chaco. 0, or an exit status after a message that names the line
 * and what would be right. */
int graph_read(struct foreign *f);
