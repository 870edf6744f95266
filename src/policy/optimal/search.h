/* The first two stages of the exact schedule: assignments by rules, and local search from them.
 * Links have one cost each, without routes and capacities. */
#pragma once

#include "policy/optimal/bound.h"

struct search {
    const struct optimal_model *m;
    int *owner, *count;
    double *load;
    double *in;     /* n x U: cost of the links of task t to tasks of unit u */
    long steps;     /* remaining exchanges to try */
    long unlooked;  /* exchanges until the next check of the clock */
    int late;       /* 1: time was over at the last check */
    double longest; /* largest load of the best assignment */
    int *best;      /* the caller's array */
    unsigned long long seed;
    int *work; /* an entry a task */
};

/* Opens a search; `best` is worse than any assignment at first. 1: not enough memory; close it in
 * any case. */
int search_open(struct search *s, const struct optimal_model *m, int *best);
void search_close(struct search *s);

/* Grants about a second's work from here on, if there is time. */
void search_refresh(struct search *s);

/* Tries an assignment and its improvement by moves and swaps; *found becomes `by` or "local search"
 * if one of them is the best so far. */
void search_consider(struct search *s, const int *owner, const char *by, const char **found);

/* Tries heaviest task first, and consecutive tasks along rows and columns. */
void search_rules(struct search *s, const char **found);

/* Disturbs the best assignment and descends repeatedly, until it is below `enough` or no steps are
 * left. 1 if it improved. */
int search_disturb(struct search *s, double enough);

/* Gives empty units a task if no load grows beyond the largest. */
void search_feed_empty(struct search *s);

/* The best assignment of consecutive tasks in the order of `place` (NULL: by number), without
 * communication. `load`: U entries. */
void optimal_consecutive(const struct optimal_model *m, const int *place, int *owner, double *load);
