/* The first two stages of the exact schedule: assignments by rule, and local search from them. They
 * know one cost of each link wherever its ends are, and no capacities. */
#ifndef SCHEDULE_OPTIMAL_SEARCH_H
#define SCHEDULE_OPTIMAL_SEARCH_H

#include "schedule/optimal_bound.h"

struct search {
    const struct optimal_model *m;
    int *owner, *count;
    double *load;
    double *in;     /* n x U: cost of the links of task t to tasks of unit u */
    long steps;     /* exchanges that may still be looked at */
    double longest; /* of the best assignment so far */
    int *best;      /* the caller's */
    unsigned long long seed;
    int *work; /* an entry a task */
};

/* Makes one whose best assignment, worse than any, is `best`. 1: not enough memory; close it in any
 * case. */
int search_open(struct search *s, const struct optimal_model *m, int *best);
void search_close(struct search *s);

/* From here on about a second's work may be done. */
void search_refresh(struct search *s);

/* Tries an assignment, and what moves and swaps make of it; *found becomes `by` or "local search"
 * if one of them is the best so far. */
void search_consider(struct search *s, const int *owner, const char *by, const char **found);

/* Tries the heaviest task first, and consecutive tasks along rows and columns. */
void search_rules(struct search *s, const char **found);

/* Disturbs the best assignment a little and descends, again and again, until it is below `enough`
 * or the steps are used up. Whether it became better. */
int search_disturb(struct search *s, double enough);

/* Gives empty units a task where that makes nothing worse. */
void search_feed_empty(struct search *s);

/* The consecutive tasks in the order of `place` (NULL: by number) with the smallest largest load
 * without communication. `load`: U entries. */
void optimal_consecutive(const struct optimal_model *m, const int *place, int *owner, double *load);

#endif
