/* Trying two lists of units: the least time of a step of each. All memory of a trial is given back
 * before the run begins, which makes its own where its units will have it. */
#include "run/trial.h"
#include "common/cli/interrupt.h"
#include "common/cli/message.h"
#include <evener/clock.h>
#include <evener/number.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTS = 16, WORDS = 1024 };

static const double FASTER = 0.98;

/* Times instead of trials. */
struct said {
    char words[WORDS];
    const char *list[LISTS];
    double seconds[LISTS];
    int count;
};

static int is_off(const char *how) { return how && !strcmp(how, "off"); }
static int is_auto(const char *how) { return !how || !strcmp(how, "auto"); }

static int read_said(struct said *said, const char *how) {
    const evn_bounds bounds = {0, INFINITY, 1};
    char *rest = NULL;
    int sound = strlen(how) < WORDS;
    said->count = 0;
    snprintf(said->words, WORDS, "%s", how);
    for (char *p = strtok_r(said->words, " ", &rest); sound && p; p = strtok_r(NULL, " ", &rest)) {
        char *end = strchr(p, '=');
        sound = end && said->count < LISTS &&
                !evn_read_real(end + 1, bounds, &said->seconds[said->count]);
        if (end) *end = 0;
        if (sound) said->list[said->count++] = p;
    }
    if (sound && said->count) return 0;
    return complain("--try %s: expected auto, off, or seconds of a step by lists of units, as "
                    "\"1:CPU:2=0.012 2:CPU:1=0.011\"",
                    how);
}

int trial_check(const char *how) {
    struct said said;
    return is_auto(how) || is_off(how) ? 0 : read_said(&said, how);
}

struct steps {
    double before, least; /* since the first began; of a step */
};

static void on_step(int step, int steps, double seconds, void *p) {
    struct steps *s = p;
    (void)steps;
    if (step > 1) s->least = fmin(s->least, seconds - s->before);
    s->before = seconds;
}

/* Opens units and schedule again, on that list. */
static int open_list(struct job *job, const struct job_words *words, const char *list) {
    job_close_units(job);
    snprintf(job->units_text, sizeof job->units_text, "%s", list);
    int code = job_units(job, words, 0);
    return code ? code : job_schedule(job, words);
}

/* A step of the units that are open; *spent: all that it took to find out. */
static int try_open(struct job *job, double *step, double *spent) {
    struct steps steps = {0, INFINITY};
    const struct run_options options = {.steps = TRIAL_STEPS * job->shape.group,
                                        .progress = on_step,
                                        .arg = &steps,
                                        .stop = &interrupted};
    const struct run_result *r = NULL;
    const double begin = evn_now();
    const int code = job->is->run(job->state, job->units, job->schedule, &options, &r);
    *spent = evn_now() - begin;
    *step = steps.least;
    return code;
}

/* Seconds of a step of the second best. It may need threads or memory that are not there, and the
 * run does not: NAN after a warning. */
static double try_second(struct job *job, const struct job_words *words) {
    const char *list = job->choice.second.list;
    double step, spent;
    char why[512];
    complain_into(why, sizeof why, 1);
    int code = open_list(job, words, list);
    if (!code) code = try_open(job, &step, &spent);
    complain_into(NULL, 0, 1);
    if (!code) return step;
    complain("warning: units %s are not tried: %s", list, why);
    return NAN;
}

/* Both times; `other` is NAN where the run is too short for it, or it failed. The units that are
 * open then are any. */
static int try_both(struct job *job, const struct job_words *words, int steps, double *own,
                    double *other) {
    double spent;
    *other = NAN;
    const int code = try_open(job, own, &spent);
    const double run = steps * *own / job->shape.group;
    if (!code && run >= TRIAL_SECONDS && 2 * spent <= TRIAL_SHARE * run)
        *other = try_second(job, words);
    return code;
}

/* Times that were said of both, or a warning. */
static int look_up(const struct said *said, const struct choice *choice, const char *chosen,
                   double *own, double *other) {
    const char *second = choice->second.list;
    *own = *other = NAN;
    for (int i = 0; i < said->count; i++) {
        if (!strcmp(said->list[i], chosen)) *own = said->seconds[i];
        if (!strcmp(said->list[i], second)) *other = said->seconds[i];
    }
    if (isnan(*own) || isnan(*other))
        complain("warning: --try says no seconds of %s, so %s is not compared with %s",
                 isnan(*own) ? chosen : second, chosen, second);
    return 0;
}

static int keeps_states(const struct job *job) {
    if (!job->is->kept) return 0;
    const struct workload_kept kept = job->is->kept(job->state);
    return kept.checkpoint || (kept.restart && *kept.restart);
}

/* Warns of what was said and is for nothing. */
static void say_idle(const struct job *job, const struct job_words *words, const char *how) {
    if (strcmp(words->units, "auto") != 0)
        complain("warning: with --units %s --try changes nothing: it is about --units auto",
                 words->units);
    else if (!is_auto(how) && !is_off(how) && !*job->choice.second.list)
        complain("warning: --try changes nothing: --units auto has no second list close behind "
                 "here");
}

int trial_run(struct job *job, const struct job_words *words, const char *how) {
    struct choice *choice = &job->choice;
    struct said said;
    char chosen[CHOICE_LIST];
    double own, other;
    const int steps = words->steps < 0 ? job->shape.steps : (int)words->steps;
    const int is_long = steps * TRIAL_SHARE >= 2.0 * TRIAL_TAKES * job->shape.group;
    if (how) say_idle(job, words, how);
    if (!*choice->second.list || is_off(how) || keeps_states(job)) return 0;
    if (is_auto(how) && !is_long) return 0;
    snprintf(chosen, sizeof chosen, "%s", choice->tried[choice->best].list);
    int code = is_auto(how) ? 0 : read_said(&said, how);
    if (code) return code;
    code = is_auto(how) ? try_both(job, words, steps, &own, &other)
                        : look_up(&said, choice, chosen, &own, &other);
    if (code) return code;
    if (isfinite(own) && isfinite(other)) choice_tried(choice, own, other, other < FASTER * own);
    return open_list(job, words, *choice->list ? choice->list : chosen);
}
