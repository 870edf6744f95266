/* Division of a team into subteams for given tasks: a pure computation. */
#pragma once

/* A division: all cores do the first `together` tasks (by descending weight) one after another,
 * then subteams do the others. Subteam s has cores first[s] to first[s + 1] - 1; larger subteams
 * come first. */
struct cut {
    int cores, together, subteams;
    int *first;
    /* scratch of cut_open() */
    int *other, *last, *alike, *heap;
    double *load, *work, *speed, *early;
};

/* Time of a task, number `task` by descending weight, on `cores` cores. */
struct cut_cost {
    double (*of)(const void *arg, int task, int cores);
    const void *arg;
};

/* Allocates divisions for a team of `cores` cores. 0, or -1: no memory. cut_close() in any case. */
int cut_open(struct cut *cut, int cores);
void cut_close(struct cut *cut);

/* Sorts tasks by descending weight, equal ones by number; weight[t] is that of task t, NULL: all 1.
 * The sorted weights go to `sorted`. Any thread. */
void cut_sort(int tasks, int *task, const double *weight, double *sorted);

/* The fastest division by the expected speed of teams (cut_speed()), for tasks of descending
 * weight; at least one task and core each. */
void cut_choose(struct cut *cut, int tasks, const double *weight);

/* Assigns tasks to subteams, to[t] from `together` on: longest first, each to the subteam that
 * would finish it first. Returns the end of the last one. */
double cut_deal(struct cut *cut, int tasks, const struct cut_cost *cost, int *to);

/* cut_deal() by cut_speed(), in weights a core; runs of equal weights stay in one subteam as far as
 * it has room for them. */
double cut_deal_near(struct cut *cut, int tasks, const double *weight, int *to);

static inline int cut_size(const struct cut *cut, int s) {
    return cut->first[s + 1] - cut->first[s];
}

/* Speed of `cores` cores at one task together, in cores that work for themselves. */
double cut_speed(int cores);
