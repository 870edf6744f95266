/* Model assumptions that fail: measured points off the line of slope alpha, unmeasured teams and
 * sizes, unknown networks, and runs far from the prediction. */
#include "model/doubts.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Beyond these there is something to say. */
static const double RESIDUAL = 0.1, OFF = 0.2, SHARE = 0.5;

__attribute__((format(printf, 2, 3))) static void say(struct doubts *d, const char *format, ...) {
    va_list arguments;
    if (d->count == DOUBTS) return;
    va_start(arguments, format);
    vsnprintf(d->text[d->count++], sizeof d->text[0], format, arguments);
    va_end(arguments);
}

/* Of one that was fitted. */
static void about_alpha(struct doubts *d, const struct figures *f) {
    if (!f->points) return;
    if (f->points == 1)
        say(d, "alpha is taken from one Np x Nt only, so nothing tells whether teams follow it");
    if (f->alpha > 1)
        say(d,
            "alpha is %.3g: a thread more costs a team more than it brings; was the machine busy? "
            "measure again with --calibrate",
            f->alpha);
    else if (f->alpha <= 0)
        say(d, "teams were faster than equation (2) allows; alpha counts as 0");
    if (f->residual > RESIDUAL)
        say(d,
            "f / fib - 1 does not grow in proportion to threads (residual %.2g): one alpha fits no "
            "number of threads well",
            f->residual);
}

/* Warns of predictions for which no figure was measured. */
static void about_reach(struct doubts *d, const struct job *job, const struct figures *f,
                        const struct rows *rows) {
    const int here = evn_machine_cores(job->machine);
    int threads = 1;
    for (int i = 0; i < rows->count; i++)
        if (rows->row[i].most > threads) threads = rows->row[i].most;
    if (f->points && threads > here)
        say(d, "alpha is from teams of up to %d threads, and is taken for teams of up to %d", here,
            threads);
    if (*f->class_ && strcmp(f->class_, job->shape.key) != 0)
        say(d,
            "costs are of class %s; sizes of %ss that it does not have are interpolated, or scaled",
            f->class_, job->is->noun);
}

/* Of messages. */
static void about_exchange(struct doubts *d, const struct rows *rows) {
    const struct row *most = NULL;
    double share = SHARE;
    for (int i = 0; i < rows->count; i++) {
        const evn_prediction *p = &rows->row[i].with[0];
        if (!(1 - p->compute_s / p->step_s > share)) continue;
        share = 1 - p->compute_s / p->step_s;
        most = &rows->row[i];
    }
    if (most)
        say(d,
            "exchange is up to %.0f %% of a step (%d x %d): messages are counted one after "
            "another, on a network that is never congested, and nothing hides them",
            100 * share, most->processes, most->threads);
}

/* Warns where measured times differ from the prediction. */
static void about_runs(struct doubts *d, const struct rows *rows) {
    double largest, middle;
    if (!rows_errors(rows, &largest, &middle)) return;
    if (largest > OFF)
        say(d,
            "a prediction is off by %.0f %%: cores that share memory, caches or their time with "
            "other programs do not follow what one core took alone",
            100 * largest);
    const double choice = rows_choice(rows);
    if (choice > 1.05)
        say(d, "the best predicted takes %.3f times the best measured: take the measured one",
            choice);
}

void doubts_find(struct doubts *d, const struct job *job, const struct figures *f,
                 const struct rows *rows, int node, int described) {
    *d = (struct doubts){.count = 0};
    about_alpha(d, f);
    about_reach(d, job, f, rows);
    if (f->timed && node && !described)
        say(d, "messages between nodes are taken for what they are on this one, which is too good");
    about_exchange(d, rows);
    about_runs(d, rows);
}
