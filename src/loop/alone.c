/* Comparison of means over some milliseconds with the least recent work. */
#include "loop/alone.h"
#include <math.h>

#define LOOK      4e-3  /* s that are looked at */
#define WORTH     0.93  /* of one core's time that units must do with */
#define PAUSE     8e-3  /* s alone, the first time */
#define PAUSE_MAX 0.128 /* and at most */
#define GROWS     0.5   /* of itself a second, at most: the least work is no bound for ever */

enum { LEAST = 6 }; /* instances that are looked at */

static void look_anew(struct alone *a) {
    a->wall = 0;
    a->instances = 0;
}

void alone_learn(struct alone *a, double wall, double busy) {
    const double work = a->now ? fmin(wall, busy) : busy;
    a->work = a->work > 0 ? fmin(a->work * (1 + fmin(GROWS * wall, 0.02)), work) : work;
    a->wall += wall;
    a->instances++;
    if (a->now) {
        if (a->wall < a->pause) return;
        a->now = 0;
        look_anew(a);
        return;
    }
    if (a->wall < LOOK || a->instances < LEAST) return;
    if (a->wall > WORTH * a->work * a->instances) {
        a->now = 1;
        a->pause = a->pause > 0 ? fmin(2 * a->pause, PAUSE_MAX) : PAUSE;
    } else {
        a->pause = a->pause > PAUSE ? a->pause / 2 : 0;
    }
    look_anew(a);
}
