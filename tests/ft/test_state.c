/* FT that goes on from a state: every rank has all checksums, the verdict and the hash of a run
 * that never stopped, not rank 0 alone, whose page is all that the command shows. Run: ctest -R
 * '^ft_state$'. */
#include "check.h"
#include "ft/ft.h"
#include "wire/ranks.h"

#include <unistd.h>

enum { RANKS = 3, KEPT = 4 };

static char path[] = "/tmp/evener-ft-state-XXXXXX";

/* Steps -1: all of class S. cluster NULL: alone. */
static ft_result run(evn_cluster *c, evn_units *units, int steps, struct state_files files) {
    const struct run_options options = {.steps = steps, .cluster = c, .files = &files};
    ft *problem;
    evn_schedule *schedule;
    ft_result result;
    must_ok(ft_open_class(&problem, 'S'));
    evn_problem tasks = ft_tasks(problem);
    tasks.units = c ? evn_cluster_about(c).units : evn_units_count(units);
    must_ok(evn_schedule_open(&schedule, "static", &tasks));
    const struct ft_way way = {.transposes = 1};
    must_ok(ft_run(problem, &way, units, schedule, &options, &result));
    evn_schedule_close(schedule);
    ft_close(problem);
    return result;
}

static void compare(const ft_result *is, const ft_result *whole, int steps) {
    must(is->run.steps == steps && is->run.restarted && is->run.restarted_from == KEPT);
    must(is->run.hash == whole->run.hash && is->run.verified == 1);
    must(!memcmp(is->checksum, whole->checksum, (size_t)steps * sizeof *is->checksum));
}

static void rank_main(evn_cluster *c) {
    OWN(machine) *machine;
    OWN(units) *units;
    must_ok(evn_machine_open(&machine));
    must_ok(evn_units_open(&units, machine, "1:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    ft_result whole = run(NULL, units, -1, (struct state_files){0});
    must_ok(evn_cluster_units(c, units, NULL));
    ft_result half = run(c, units, KEPT, (struct state_files){.checkpoint = path});
    must(half.run.checkpoints == 1);
    ft_result rest = run(c, units, -1, (struct state_files){.restart = path});
    compare(&rest, &whole, whole.run.steps);
    ft_result_free(&whole);
    ft_result_free(&half);
    ft_result_free(&rest);
}

TEST(all_ranks) {
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(ranks_of_cluster(0, RANKS, rank_main), 0);
    unlink(path);
}

RUN_TESTS(NULL, NULL)
