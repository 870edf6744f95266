/* What calls.f90 does, in C: right and wrong calls, and what they say. Both programs print the
 * same. Run: ctest -R fortran-calls */
#include <evener.h>
#include <evener/cluster.h>
#include <evener/loop.h>
#include <evener/machine.h>
#include <evener/schedule.h>
#include <evener/unit.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 7 };

static void say(const char *what, evn_status status) {
    printf("%s is: %s: %s\n", what, evn_status_text(status), status ? evn_message() : "");
}

/* A failure with its message, taken as it is. */
static evn_status fails(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    (void)batch;
    (void)arg;
    return evn_fail(EVN_MEMORY, "%s", "task 3 has no room: 100 %s of it %d");
}

static evn_status asks(evn_unit *unit, evn_batch *batch, void *arg) {
    int count;
    evn_batch_tasks(batch, &count);
    ((int *)arg)[evn_unit_number(unit)] += count;
    evn_batch_add(batch, TASKS, 1);
    return EVN_OK;
}

static evn_status counts(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    int count;
    const int *task = evn_batch_tasks(batch, &count);
    for (int i = 0; i < count; i++) ((int *)arg)[task[i]]++;
    evn_batch_done(batch, count);
    return EVN_OK;
}

static void wrong(void) {
    evn_session *session = NULL;
    evn_loop *loop = NULL;
    evn_machine *machine = NULL;
    evn_units *units = NULL;
    evn_schedule *schedule = NULL;
    evn_cluster *cluster = NULL;
    evn_problem problem = {.tasks = 0};
    say("a list", evn_open(&session, "4:CPUS:4", NULL, 0));
    say("a list with blanks", evn_open(&session, " 4:CPUS:4", NULL, 0));
    say("no list", evn_open(&session, "", NULL, 0));
    say("devices", evn_open(&session, "1:GPU:1", "emulated:0", 0));
    say("flags", evn_open(&session, NULL, NULL, 64));
    say("no session", evn_open_loop(&loop, NULL, NULL, &problem));
    say("a machine", evn_machine_open_synthetic(&machine, "package:none"));
    say("no machine", evn_units_open(&units, NULL, "1:CPU:1", NULL, 0));
    say("no tasks", evn_schedule_open(&schedule, "static", &problem));
    problem.tasks = TASKS;
    problem.units = 2;
    say("a schedule", evn_schedule_open(&schedule, "guided", &problem));
    say("a cluster", evn_cluster_open(&cluster, "processes:none"));
    printf("%s.", evn_units_text(NULL));
    printf("%s.", evn_cluster_host(NULL, 0));
    printf("%s\n", evn_message());
    printf("%d %d\n", evn_schedule_uses_speeds("static"), evn_schedule_uses_speeds("weighted"));
}

static void schedules(void) {
    const char *name, *explanation;
    for (int i = 0; (name = evn_schedule_name(i, &explanation)); i++)
        printf("%s: %s\n", name, explanation);
    evn_schedule *schedule;
    double weight[TASKS];
    for (int t = 0; t < TASKS; t++) weight[t] = t + 1;
    const evn_problem problem = {.tasks = TASKS, .weight = weight, .units = 2};
    say("opening", evn_schedule_open(&schedule, "binpack", &problem));
    const int *has = evn_schedule_owner(schedule);
    for (int t = 0; t < TASKS; t++) printf("%d", has[t]);
    char *text = evn_schedule_export(schedule), *why = evn_schedule_explain(schedule);
    printf("\n%s\n%s%s\n", text, why, evn_schedule_text(schedule));
    say("importing", evn_schedule_import(schedule, text));
    say("importing", evn_schedule_import(schedule, "static 3 tasks"));
    free(text);
    free(why);
    evn_schedule_close(schedule);
}

static void loops(void) {
    evn_session *session;
    evn_loop *loop;
    int times[TASKS] = {0}, units[2] = {0};
    const evn_problem problem = {.tasks = TASKS};
    say("a session", evn_open(&session, "2:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    say("a loop", evn_open_loop(&loop, session, "static", &problem));
    say("a failure", evn_loop_run(loop, fails, NULL));
    say("a mistake", evn_loop_run(loop, asks, units));
    printf("%d %d\n", units[0], units[1]);
    say("a run", evn_loop_run(loop, counts, times));
    for (int t = 0; t < TASKS; t++) printf("%d", times[t]);
    printf(" %d %d\n", units[0], units[1]);
    const int *owner = evn_loop_owner(loop), *next = evn_loop_next(loop, NULL);
    for (int t = 0; t < TASKS; t++) printf("%d%d", owner[t], next[t]);
    const evn_loop_totals sum = evn_loop_sum(loop);
    printf("\n%lld %lld %d\n", sum.instances, evn_loop_stats(loop, 1).tasks,
           evn_loop_stats(loop, 0).compute_s > 0);
    printf("%lld %s\n", evn_loop_stats(loop, 5).tasks, evn_message());
    say("closing", evn_close(session));
}

int main(void) {
    printf("%s %d\n", evn_version(), evn_now() > 0);
    for (int i = -1; i < 9; i++) printf("%s\n", evn_status_text(i));
    wrong();
    schedules();
    loops();
    return 0;
}
