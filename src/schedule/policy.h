/* The policy: what a schedule must be able to say. To add one, write its file and its line in
 * schedule.c.
 *
 * A policy sees its problem and what is told it, nothing else; it keeps its state in s->state.
 */
#ifndef SCHEDULE_POLICY_H
#define SCHEDULE_POLICY_H

#include "base/text.h"
#include <evener/schedule.h>
#include <stdio.h>

struct policy {
    const char *name;
    const char *explanation; /* one line for help texts */
    int blind;               /* 1: the speeds of units are nothing to it */
    /* Reads the options, checks them, writes the full specification into s->text, makes s->state
     * (one block, freed with free(); NULL if none is needed). `owner` is static by then; change it
     * if the policy begins otherwise. */
    evn_status (*open)(evn_schedule *s, const evn_spec *spec);
    /* An instance is over: `owner` ran each task in `seconds`. Sets s->owner, s->chunk and
     * s->settled for the next one. */
    void (*learn)(evn_schedule *s, const int *owner, const double *seconds);
    /* Goes on from the assignment in s->owner, which somebody imported. EVN_USAGE if the policy can
     * have no such one. */
    evn_status (*import)(evn_schedule *s);
    /* Gives back what `state` owns beyond its block; NULL: nothing. */
    void (*close)(evn_schedule *s);
    /* Adds what it knows of its own answer to evn_schedule_explain(), in lines; NULL: nothing. */
    void (*explain)(const evn_schedule *s, FILE *out);
};

struct evn_schedule {
    const struct policy *policy;
    evn_problem problem; /* with arrays of its own */
    char text[128];
    int *owner;
    int chunk;        /* 0: s->owner holds */
    const int *order; /* in which tasks are drawn; NULL: that of their numbers */
    int settled;
    int instance;                    /* learnt so far */
    double carried_bytes, carried_s; /* of states, those of late more than the others */
    int reassigns; /* cores are to follow the assignment, at most `cap` a unit (0: no limit) */
    int cap;
    void *state;
};

/* For policies without options: EVN_USAGE if there is one. */
evn_status policy_no_options(const evn_schedule *s, const evn_spec *spec);

/* Consecutive tasks, n/U each, the remainder to the first units. */
void policy_static(int tasks, int units, int *owner);

extern const struct policy policy_auto, policy_static_, policy_dynamic, policy_guided,
    policy_weighted, policy_binpack, policy_interval, policy_map, policy_optimal;

#endif
