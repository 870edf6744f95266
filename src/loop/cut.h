/* How a team is cut into subteams for some tasks: a pure computation. */
#ifndef LOOP_CUT_H
#define LOOP_CUT_H

/* The first `together` tasks, by descending weight, are done by all cores, one after another; then
 * the others by the subteams, of which number s has the cores cut_first(cores, subteams, s) up to
 * that of s+1. */
struct cut {
    int together, subteams;
};

/* Sorts tasks by descending weight, those of one weight by number; weight[t] is that of task t,
 * NULL: all are 1. The weights, sorted, go to `sorted`. Any thread. */
void cut_sort(int tasks, int *task, const double *weight, double *sorted);

/* The cut that is done first, by what is expected of a team (cut_speed()), for tasks whose weights
 * descend; at least one of each. `load`: room for as many doubles as there are cores. */
struct cut cut_choose(int cores, int tasks, const double *weight, double *load);

/* Gives to[t], from `together` on, the subteam of each task: the one that is done with it first.
 * Returns when the last one is done, in weights a core. */
double cut_deal(int cores, struct cut cut, int tasks, const double *weight, double *load, int *to);

static inline int cut_first(int cores, int subteams, int s) {
    const int each = cores / subteams, more = cores % subteams;
    return s * each + (s < more ? s : more);
}

/* How fast that many cores do a task together, in cores that work for themselves. */
double cut_speed(int cores);

#endif
