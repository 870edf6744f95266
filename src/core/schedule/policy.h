/* A policy: the functions of one schedule. To add one, write its file and its line in schedule.c.
 *
 * A policy sees only its problem and the reported times; its state is in s->state. */
#pragma once

#include "base/text.h"
#include "schedule/origins.h"
#include <evener/schedule.h>
#include <stdio.h>

struct policy {
    const char *name;
    const char *explanation;      /* one line for help texts */
    int blind;                    /* 1: ignores the speeds of units */
    int steals;                   /* 1: the answer of schedule_steals() */
    int still;                    /* 1: the assignment is constant; learn() does nothing */
    int pools;                    /* 1: learn() gets means of short instances (pool.h) */
    const struct policy *by_time; /* the policy instead of this one with option `time`; or NULL */
    /* Parses and checks the options, writes the full specification into s->text, makes s->state
     * (one block, freed with free(); NULL: none). `owner` is static's assignment; change it if the
     * policy starts otherwise. */
    evn_status (*open)(evn_schedule *s, const evn_spec *spec);
    /* Learns an instance, or the mean of s->passed: `owner` ran each task in `seconds`. Sets
     * s->owner, s->chunk and s->settled for the next one. NULL: there is nothing to learn. */
    void (*learn)(evn_schedule *s, const int *owner, const double *seconds);
    /* Weights have changed from `before`: scales learnt values, and changes s->owner, s->chunk and
     * s->settled if others are better. NULL: nothing changes. */
    void (*weights)(evn_schedule *s, const double *before);
    /* The tasks are others: s->problem and s->owner, which is inherited, are of the new ones, and
     * s->state of the ones before, o->before. Replaces s->state, and improves s->owner. After a
     * failure s->state is as it was. NULL: policy_change_anew(). */
    evn_status (*change)(evn_schedule *s, const struct origins *o);
    /* Continues from an imported assignment in s->owner. EVN_USAGE if the policy cannot have it.
     * NULL: any can be kept. */
    evn_status (*import)(evn_schedule *s);
    /* Frees resources of `state` beyond its block; NULL: none. */
    void (*close)(evn_schedule *s);
    /* Name of a library that it opens when needed, or NULL; its version and file in `text`, or an
     * error whose message says why it cannot be used. */
    const char *library;
    evn_status (*look)(char *text, size_t size);
    /* Appends lines to evn_schedule_explain(); NULL: none. */
    void (*explain)(const evn_schedule *s, FILE *out);
};

struct evn_schedule {
    const struct policy *policy;
    evn_problem problem; /* the problem, with copies of its arrays */
    char text[128];
    int *owner;
    int chunk;        /* 0: s->owner holds */
    const int *order; /* order of drawing; NULL: by number */
    int settled;
    int logged;       /* the log has lines of it: it is a loop's, and no part of another schedule */
    int stealing;     /* see schedule_set_stealing() */
    int imported;     /* owners are those of evn_schedule_import() */
    int told;         /* schedule_memory(); 0: nothing was told */
    int shares;       /* 1: the problem's arrays are those of the schedule that it is a part of */
    int instance;     /* instances ended so far */
    int generation;   /* changes of tasks so far, of which something came */
    int passed;       /* instances since the last learn() */
    unsigned version; /* see schedule_version() */
    struct pool *pool; /* NULL: every instance is learnt */
    int *ran;          /* scratch for learn()'s owners, if they are s->owner itself; or NULL */
    double carried_bytes, carried_s; /* states carried, recent ones weigh more */
    double ratio; /* policy_plan_anew()'s ratio of the present assignment when made; 0: not known */
    int reassigns; /* 1: cores follow the assignment, at most `cap` a unit (0: no limit) */
    int cap;
    void *state;
};

/* A schedule that is a part of another one: it has that one's problem, and no pool. Other weights
 * and tasks come to it after the whole has them. schedule_change_part() is weak: only changes call
 * it, and they link it. */
evn_status schedule_open_part(evn_schedule **out, const struct policy *policy,
                              const evn_schedule *whole);
evn_status schedule_change_part(evn_schedule *part, const evn_schedule *whole,
                                const struct origins *o) __attribute__((weak));

/* Steps of learning: EVN_USAGE for owners or times that are none, *total of all times; then the
 * policy learns s->passed instances. */
evn_status schedule_check_times(const evn_schedule *s, const int *owner, const double *seconds,
                                double *total);
void schedule_give_lesson(evn_schedule *s, const int *owner, const double *seconds);

/* For policies without options: EVN_USAGE if there is one. */
evn_status policy_no_options(const evn_schedule *s, const evn_spec *spec);

/* For policies of weights only: plans again if the present plan has become worse by a fiftieth, and
 * takes the new plan if it is better by as much; returns 1 if so. The second function is this as
 * `weights`. */
int policy_plan_anew(evn_schedule *s);
void policy_weights_plan(evn_schedule *s, const double *before);

/* Other tasks, as `change`: the policy is opened anew; or owners stay as inherited, and move only
 * while the longest unit gets shorter by weight (change_repair.c). */
evn_status policy_change_anew(evn_schedule *s, const struct origins *o);
evn_status policy_change_repair(evn_schedule *s, const struct origins *o);

/* Moves tasks until inherited owners exceed capacities no more than they must. */
void policy_change_fit(evn_schedule *s);

/* Owners of consecutive tasks in the order of the units, as many of each as `owner` has; `count`
 * gets the numbers, U entries. In place, too. Weak, as schedule_change_part(). */
void policy_consecutive(const int *owner, int tasks, int units, int *count, int *to)
    __attribute__((weak));

/* Consecutive tasks, n/U each, the remainder to the first units. */
void policy_static(int tasks, int units, int *owner);

extern const struct policy policy_auto, policy_static_, policy_dynamic, policy_guided,
    policy_weighted, policy_binpack, policy_interval, policy_map, policy_optimal;
