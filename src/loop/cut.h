/* How a team is cut into subteams for some tasks: a pure computation. */
#ifndef LOOP_CUT_H
#define LOOP_CUT_H

/* The first `together` tasks, by descending weight, are done by all cores, one after another; then
 * the others by the subteams, of which number s has the cores first[s] up to first[s + 1] - 1; the
 * largest come first. */
struct cut {
    int cores, together, subteams;
    int *first;
    /* room of cut_open() */
    int *other, *last;
    double *load, *work, *speed;
};

/* What so many cores take for a task, which is number `task` by descending weight. */
struct cut_cost {
    double (*of)(const void *arg, int task, int cores);
    const void *arg;
};

/* Room for cuts of a team of so many cores. 0, or -1: no memory. cut_close() in any case. */
int cut_open(struct cut *cut, int cores);
void cut_close(struct cut *cut);

/* Sorts tasks by descending weight, those of one weight by number; weight[t] is that of task t,
 * NULL: all are 1. The weights, sorted, go to `sorted`. Any thread. */
void cut_sort(int tasks, int *task, const double *weight, double *sorted);

/* The cut that is done first, by what is expected of a team (cut_speed()), for tasks whose weights
 * descend; at least one of each. */
void cut_choose(struct cut *cut, int tasks, const double *weight);

/* Gives to[t], from `together` on, the subteam of each task: the one that is done with it first.
 * Returns when the last one is done. */
double cut_deal(const struct cut *cut, int tasks, const struct cut_cost *cost, int *to);

/* The same by cut_speed(), in weights a core; tasks of one weight that follow each other go to one
 * subteam as far as that has as many. */
double cut_deal_near(const struct cut *cut, int tasks, const double *weight, int *to);

static inline int cut_size(const struct cut *cut, int s) {
    return cut->first[s + 1] - cut->first[s];
}

/* How fast that many cores do a task together, in cores that work for themselves. */
double cut_speed(int cores);

#endif
