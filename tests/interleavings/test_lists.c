/* All interleavings of units that take tasks from both ends of lists: each task is taken once, and
 * by somebody. build/tests/test-lists
 *
 * The lists are those of loop/lists.c and of subteams within a unit (loop/subteams.c), which share
 * loop/ends.h. */
#include "explore_atomics.h"

/* The library, which is linked, has them too. */
#define lists_open          model_lists_open
#define lists_close         model_lists_close
#define lists_fill          model_lists_fill
#define lists_own           model_lists_own
#define lists_left          model_lists_left
#define lists_rest          model_lists_rest
#define lists_steal         model_lists_steal
#define subteams_forget     model_subteams_forget
#define subteams_close      model_subteams_close
#define evn_subteam_barrier model_subteam_barrier
#define evn_batch_share     model_batch_share

#include "loop/lists.c"
#define take     subteams_take
#define is_worth subteams_is_worth
#define make     subteams_make
#include "loop/subteams.c"
#undef take
#undef make
#include "check.h"

enum { UNITS = 3, TASKS = 9 };

static struct {
    struct worker worker[UNITS];
    struct part part[UNITS];
    evn_loop loop;
    int list[TASKS], taken[TASKS], tasks;
} world;
static int units, of_unit[UNITS], grain;
static struct subteams subteams = {.part = world.part};

static void begin(void) {
    memset(&world, 0, sizeof world);
    world.loop.worker = world.worker;
    world.loop.count = units;
    world.loop.steals = 1;
    world.loop.grain = grain;
    world.loop.task_seconds = 1; /* so that all are late at any time */
    for (int u = 0; u < units; u++) {
        struct worker *w = &world.worker[u];
        w->own = world.list + world.tasks;
        w->listed = of_unit[u];
        w->speed = 1;
        ends_fill(&w->ends, of_unit[u]);
        world.part[u].begin = world.tasks;
        ends_fill(&world.part[u].ends, of_unit[u]);
        for (int i = 0; i < of_unit[u]; i++) world.list[world.tasks] = world.tasks, world.tasks++;
    }
}

static void did(int task) { explore_check(!world.taken[task]++, "a task is taken twice"); }

static void all_done(void) {
    for (int t = 0; t < world.tasks; t++) explore_check(world.taken[t], "a task is not taken");
}

static void take_lists(int me) {
    struct worker *w = &world.worker[me];
    int count;
    for (;;) {
        const int *own = lists_own(&world.loop, w, &count);
        if (!count) break;
        for (int i = 0; i < count; i++) did(own[i]);
    }
    for (const int *task; (task = lists_steal(&world.loop, w, &count));)
        for (int i = 0; i < count; i++) did(task[i]);
}

static void take_parts(int me) {
    for (int at; (at = take_any(&subteams, me)) >= 0;) did(at);
}

static void look_at(const char *name, void (*thread)(int), int count, const int *tasks, int at_once,
                    int whims) {
    const struct explore_program program = {.threads = count,
                                            .memory = &world,
                                            .bytes = sizeof world,
                                            .begin = begin,
                                            .thread = thread,
                                            .end = all_done,
                                            .whims = whims};
    units = count;
    grain = at_once;
    for (int u = 0; u < count; u++) of_unit[u] = tasks[u];
    subteams.cut = (struct cut){.subteams = count, .first = (int[]){0, 1, 2, 3}};
    const struct explore_result r = explore(&program, 1);
    printf("%s: %ld states, %ld steps\n", name, r.states, r.steps);
    if (r.fault) fail_msg("%s: %s", name, r.fault);
    assert_true(r.states > 50);
}

TEST(lists) {
    look_at("units of 3 and 0 tasks", take_lists, 2, (int[]){3, 0}, 1, 1);
    look_at("units of 3 and 2 tasks", take_lists, 2, (int[]){3, 2}, 1, 1);
    look_at("units of 5 and 3 tasks, 2 at once", take_lists, 2, (int[]){5, 3}, 2, 1);
    look_at("units of 9 and 0 tasks, 2 at once", take_lists, 2, (int[]){9, 0}, 2, 1);
    look_at("units of 2, 1 and 0 tasks", take_lists, 3, (int[]){2, 1, 0}, 1, 0);
}

TEST(subteams) {
    look_at("subteams of 3 and 2 tasks", take_parts, 2, (int[]){3, 2}, 1, 1);
    look_at("subteams of 2, 1 and 0 tasks", take_parts, 3, (int[]){2, 1, 0}, 1, 0);
}

RUN_TESTS(NULL, NULL)
