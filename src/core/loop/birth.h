/* Births: a visit of the tasks that the last change bore, each where its heaviest origin is, with
 * the regions of its origins beside its own. */
#pragma once

#include "schedule/origins.h"
#include <evener/place.h>

struct evn_loop;
struct worker;
struct regions_room;

/* The origins of born tasks, by the order of these; kept from a change until the next run. */
struct birth {
    int tasks;          /* born ones of this rank */
    int regions;        /* of a task */
    int *task;          /* their numbers, ascending */
    int *first;         /* tasks + 1: begin of each one's origins */
    int *from;          /* these, by their numbers of before */
    int *heaviest;      /* of each, counted among its origins; -1: none */
    int *region;        /* regions of each origin */
    evn_access origins; /* access to these in the visit at hand */
};

/* For `tasks` born ones. `region`: regions of the tasks of before. EVN_MEMORY. */
evn_status birth_open(struct birth **out, const struct origins *o, const int *task, int tasks,
                      int regions, const int *region);
/* Weak: loops whose tasks never change link no births. */
void birth_close(struct birth *b) __attribute__((weak));

/* Number of origins of the i-th born task. */
static inline int birth_origins(const struct birth *b, int i) {
    return b->first[i + 1] - b->first[i];
}

/* Index of a task among the born ones; -1: it is none. */
static inline int birth_index(const struct birth *b, int task) {
    int lo = 0, hi = b->tasks;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (b->task[mid] < task)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < b->tasks && b->task[lo] == task ? lo : -1;
}
