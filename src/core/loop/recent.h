/* Times of the latest instances, for their medians: what disturbs single ones is not in these. */
#ifndef LOOP_RECENT_H
#define LOOP_RECENT_H

#include <evener/loop.h>

enum { RECENT = 128 };

struct recent {
    int count; /* instances so far */
    double compute_s[RECENT], exchange_s[RECENT];
    double exchanged; /* all exchange until the latest instance's end */
};

/* An instance of `compute_s` has ended; `exchanged`: the loop's exchange_s by now. */
static inline void recent_add(struct recent *r, double compute_s, double exchanged) {
    r->compute_s[r->count % RECENT] = compute_s;
    r->exchange_s[r->count % RECENT] = exchanged - r->exchanged;
    r->exchanged = exchanged;
    r->count++;
}

evn_loop_medians recent_median(const struct recent *r);

#endif
