/* Times of the latest instances, for their medians: what disturbs single ones is not in these. */
#pragma once

#include <evener/loop.h>

enum { RECENT = 128 };

struct recent {
    int count; /* instances so far */
    double compute_s[RECENT], exchange_s[RECENT], beside_s[RECENT], idle_s[RECENT], task_s[RECENT];
    double exchanged; /* all exchange until the latest instance's end */
    double beside;    /* of visits and exchanges since then */
    double idle;      /* that the units had before the instance at hand */
    double task;      /* mean of the tasks' times in it */
};

/* Visits or exchanges, or an instance: of `wall`, in which the longest unit was at work for
 * `longest`. */
static inline void recent_beside(struct recent *r, double wall, double longest) {
    if (wall > longest) r->beside += wall - longest;
}

/* An instance of `compute_s` has ended; `exchanged`: the loop's exchange_s by now. */
static inline void recent_add(struct recent *r, double compute_s, double exchanged) {
    const int at = r->count++ % RECENT;
    r->compute_s[at] = compute_s;
    r->exchange_s[at] = exchanged - r->exchanged;
    r->beside_s[at] = r->beside;
    r->idle_s[at] = r->idle;
    r->task_s[at] = r->task;
    r->exchanged = exchanged;
    r->beside = r->idle = 0;
}

evn_loop_medians recent_median(const struct recent *r);
