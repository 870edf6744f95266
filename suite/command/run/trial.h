/* The choice of --units auto tried out, where the model has another list close behind. */
#pragma once

#include "run/job.h"

/* Steps of each list, of which the first does not count, and for how many steps that takes with the
 * problem's making and end (measured: 6 to 9 in class A of NPB-MZ); what all of it may take of the
 * run, which is less than lists that are close may differ by; and how long a run must be expected
 * to take for that to be worth while. */
enum { TRIAL_STEPS = 3, TRIAL_TAKES = 8 };
#define TRIAL_SHARE   0.02
#define TRIAL_SECONDS 0.5

/* Before a run of these words, units and schedule being open: runs some steps with what auto chose
 * and, if the run is long enough, with its second best (struct choice), and takes that where it is
 * more than 2 % faster; job->choice says so. Where the second best cannot be had there is a
 * warning. Nothing is tried where states are kept or gone on from, since these would be the
 * trial's.
 *
 * `how`: NULL or "auto"; "off": nothing is tried; or instead of trying what a step takes, for
 * studies: "1:CPU:2=0.012 2:CPU:1=0.011", in seconds. 0, or an exit status after a message; units
 * and schedule are open as before. */
int trial_run(struct job *job, const struct job_words *words, const char *how);

/* Whether `how` is one of these. 0, or an exit status after a message. */
int trial_check(const char *how);
