/* Trials of two lists of units before a run (run/trial.h), with a workload whose steps take
 * what the test says: which list is taken, when none is tried, and a second best that cannot be
 * had, which is no reason for a run to end. Run: ctest -R '^trial$' */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include "common/cli/message.h"
#include "run/trial.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The library of the command wants to know which workloads there are. */
const struct isa workload_isas[1];
const struct workload *const *const *const workload_folders[1];

enum { STEPS = 100000, TASKS = 4 };
static const char *const own_list = "1:CPU:2", *const other_list = "2:CPU:1";

/* What a step takes of each list, by its units; who fails; and what was run. */
static struct fake {
    double step[3];
    int fails[3], runs[3];
} fake;

static int fake_run(void *state, evn_units *units, evn_schedule *schedule,
                    const struct run_options *o, const struct run_result **result) {
    const int n = evn_units_count(units);
    (void)state;
    (void)schedule;
    fake.runs[n]++;
    *result = NULL;
    if (fake.fails[n]) return give_up(evn_fail(EVN_BODY, "fake: it fails on %d units", n));
    double seconds = 0;
    for (int step = 1; step <= o->steps; step++) {
        seconds += step == 1 ? 10 : fake.step[n]; /* the first one does not count */
        o->progress(step, o->steps, seconds, o->arg);
    }
    return 0;
}

static struct workload_kept kept;
static struct workload_kept fake_kept(void *state) {
    (void)state;
    return kept;
}

static void fake_close(void *state) { (void)state; }

static const struct workload fake_workload = {.name = "fake",
                                              .noun = "task",
                                              .schedule = "static",
                                              .run = fake_run,
                                              .kept = fake_kept,
                                              .close = fake_close};

static struct job job;
static struct job_words words;

static void open_job(double own, double other, const char *second) {
    fake = (struct fake){.step = {0, own, other}};
    words = (struct job_words){.units = "auto", .oversubscribe = 1, .steps = -1};
    assert_int_equal(job_begin(&job, &fake_workload), 0);
    job.shape = (struct workload_shape){.key = "", .steps = STEPS, .group = 1};
    job.tasks = (evn_problem){.tasks = TASKS};
    job.choice.count = 1;
    snprintf(job.choice.tried[0].list, CHOICE_LIST, "%s", own_list);
    snprintf(job.choice.second.list, CHOICE_LIST, "%s", second);
    snprintf(job.units_text, sizeof job.units_text, "%s", own_list);
    assert_int_equal(job_units(&job, &words, 0), 0);
    assert_int_equal(job_schedule(&job, &words), 0);
}

/* Units and schedule are open, of that list; each list was run so often. */
static void ends_with(const char *list, int own_runs, int other_runs) {
    assert_string_equal(evn_units_text(job.units), list);
    assert_non_null(job.schedule);
    assert_int_equal(fake.runs[1], own_runs);
    assert_int_equal(fake.runs[2], other_runs);
    const int swapped = !strcmp(list, other_list);
    assert_string_equal(job.choice.list,
                        own_runs && other_runs && job.choice.step_s[0] ? list : "");
    assert_true(!swapped || job.choice.step_s[1] < job.choice.step_s[0]);
    job_close(&job);
}

static void test_faster(void **state) {
    (void)state;
    open_job(1, 0.9, other_list);
    assert_int_equal(trial_run(&job, &words, NULL), 0);
    assert_true(fabs(job.choice.step_s[0] - 1) < 1e-9 && fabs(job.choice.step_s[1] - 0.9) < 1e-9);
    ends_with(other_list, 1, 1);
    open_job(1, 0.99, other_list);
    assert_int_equal(trial_run(&job, &words, "auto"), 0);
    ends_with(own_list, 1, 1);
}

static void test_not_tried(void **state) {
    (void)state;
    open_job(1, 0.5, "");
    assert_int_equal(trial_run(&job, &words, NULL), 0);
    ends_with(own_list, 0, 0);
    open_job(1, 0.5, other_list);
    assert_int_equal(trial_run(&job, &words, "off"), 0);
    ends_with(own_list, 0, 0);
    open_job(1, 0.5, other_list);
    words.steps = 799; /* TRIAL_TAKES of them would take more than 2 % */
    assert_int_equal(trial_run(&job, &words, NULL), 0);
    ends_with(own_list, 0, 0);
    open_job(1e-6, 0.5e-6, other_list); /* 0.1 s are over before anything is found out */
    assert_int_equal(trial_run(&job, &words, NULL), 0);
    ends_with(own_list, 1, 0);
    kept.checkpoint = "state";
    open_job(1, 0.5, other_list);
    assert_int_equal(trial_run(&job, &words, NULL), 0);
    ends_with(own_list, 0, 0);
    kept.checkpoint = NULL;
}

static char said[1024];

/* What trial_run() gives; what it says is in said[]. */
static int heard(void) {
    FILE *to = tmpfile();
    assert_non_null(to);
    fflush(stderr);
    const int before = dup(2);
    dup2(fileno(to), 2);
    const int code = trial_run(&job, &words, NULL);
    fflush(stderr);
    dup2(before, 2);
    close(before);
    rewind(to);
    said[fread(said, 1, sizeof said - 1, to)] = 0;
    fclose(to);
    return code;
}

/* The one that was chosen goes on as if nothing had been tried. */
static void test_second_fails(void **state) {
    (void)state;
    open_job(1, 0.5, other_list);
    fake.fails[2] = 1;
    assert_int_equal(heard(), 0);
    assert_string_equal(
        said, "evener: warning: units 2:CPU:1 are not tried: fake: it fails on 2 units\n");
    assert_true(!job.choice.step_s[0]);
    ends_with(own_list, 1, 1);
    open_job(1, 0.5, "2:CPUS:1"); /* cannot be opened */
    assert_int_equal(heard(), 0);
    assert_non_null(strstr(said, "warning: units 2:CPUS:1 are not tried: "));
    assert_int_equal(strchr(said, '\n') - said, strlen(said) - 1);
    ends_with(own_list, 1, 0);
}

/* Then the run would, too. */
static void test_first_fails(void **state) {
    (void)state;
    open_job(1, 0.5, other_list);
    fake.fails[1] = 1;
    assert_int_equal(heard(), EXIT_FAILED);
    assert_string_equal(said, "evener: fake: it fails on 1 units\n");
    assert_int_equal(fake.runs[2], 0);
    job_close(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faster),
        cmocka_unit_test(test_not_tried),
        cmocka_unit_test(test_second_fails),
        cmocka_unit_test(test_first_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
