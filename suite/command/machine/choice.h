/* The choice of --units auto for a workload: the list of units that is expected to be fastest. */
#pragma once

#include "common/run/workload.h"

enum { CHOICE_LIST = 512, CHOICES = 64 };

/* A list that was looked at. */
struct choice_try {
    char list[CHOICE_LIST];
    double over; /* the longest unit's time over what all cores would need at best */
    int quick;   /* 1: by a quick look */
};

/* Cost of teams, as evn_team_cost. */
struct choice_cost {
    double doubling, meeting;
    int measured; /* kept by evener calibrate */
};

/* Without a measurement: the value that loops assume when they divide a team (docs/loop.md). */
#define CHOICE_DOUBLING 0.2
#define CHOICE_COST     ((struct choice_cost){.doubling = CHOICE_DOUBLING})

struct choice {
    char why[256];           /* in one line; "": nothing was chosen */
    char list[CHOICE_LIST];  /* "": a unit of each part, as auto is without tasks */
    int best, count;         /* of tried; 0: nothing was compared */
    struct choice_cost cost; /* the doubling that was used */
    struct choice_try tried[CHOICES];
    struct choice_try second; /* close behind, by the model; its list "": there is none */
    double step_s[2];         /* of the best and the second, once they were tried; else 0 */
};

/* Input of the choice. */
struct choice_for {
    const struct workload *is;
    const void *state;
    const evn_problem *tasks;
    const char *schedule;
    const evn_machine *machine;
    struct choice_cost cost;
    int quick; /* 1: a quick look */
    /* Above 0: a list that takes longer, over an even share, is not looked at to its end, where its
     * schedule keeps its owners. */
    double enough;
};

/* Chooses among units of each part of the machine (evener/machine.h), parts that are cut into units
 * alike, units of several parts, and where tasks are few any number of units alike; the first of
 * them where others are hardly better. A workload
 * whose cores share tasks otherwise than by subteams gets a unit of each part, or one of each core
 * if it says so (workload.by_core) and has some tasks for each. 0, or an exit status after a
 * message. */
int choice_make(struct choice *out, const struct choice_for *what);

/* Notes that a step of the best took `own` seconds and of the second `other`; `swap`: the second is
 * taken. */
void choice_tried(struct choice *choice, double own, double other, int swap);

/* The best of all lists N:CPU:M that have as many units as there are cores and tasks for. 0, or an
 * exit status after a message. */
int choice_alike(const struct choice_for *what, struct choice_try *best);

/* Predicted value of a list, as `over` above; NAN after a message. */
double choice_over(const struct choice_for *what, const char *list);

/* For a record: the reason, and the lists compared. */
cJSON *choice_record(const struct choice *choice);
