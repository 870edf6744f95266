/* The loop over ranks, which are threads here: every task once under every schedule, on ranks with
 * different units, devices among them; tasks that move in each step; exchanges, whole and in
 * halves, with the bits of plain copies; and everything that is sent, counted. Run: ctest -R
 * '^ranks$' */
#include "check.h"
#include "loop/grid.h"
#include "loop/internal.h"
#include "schedule/version.h"
#include "cluster/cluster.h"
#include "../../suite/bench/on_paper.h"
#include <math.h>
#include <unistd.h>

static const char *const CPUS[RANKS_MAX] = {"2:CPU:1", "1:CPU:1", "3:CPU:1", "1:CPU:2",
                                            "1:CPU:1,1:CPU:2"};
static const char *const ALONE[RANKS_MAX] = {"1:CPU:1", "1:CPU:1", "1:CPU:1", "1:CPU:1", "1:CPU:1"};
static const char *const MIXED[RANKS_MAX] = {"1:CPU:1,1:GPU:2", "1:CPU:1", "2:GPU:1", "1:CPU:2",
                                             "1:GPU:1"};
static const int RANKS[] = {1, 2, 3, 5};
enum { SIZES = sizeof RANKS / sizeof *RANKS };

/* Every rank runs it; nothing is wrong. */
static void run(const struct trial *trial, void (*rank_main)(evn_cluster *cluster)) {
    grid_trial = trial;
    atomic_store(&grid_wrong, 0);
    for (int t = 0; t < TASKS; t++) atomic_store(&grid_ran[t], 0);
    alarm(120); /* ranks that wait for each other for ever */
    assert_int_equal(ranks_of_cluster(1, trial->ranks, rank_main), 0);
    alarm(0);
    if (atomic_load(&grid_wrong))
        fail_msg("%d ranks, %s, owners %d, place %d, split %d, %d columns: %d blocks are wrong",
                 trial->ranks, trial->schedule, trial->owners, trial->place, trial->split,
                 trial->columns, grid_wrong);
}

/* ---- every task once ----------------------------------------------------------------------- */

/* Each rank has the values of its own tasks, and gets those of all. */
static void check_allgather(const struct grid *g) {
    int value[TASKS][3];
    memset(value, 0, sizeof value);
    for (int t = 0; t < TASKS; t++)
        if (evn_loop_has(g->loop, t))
            for (int i = 0; i < 3; i++) value[t][i] = 1 + t * 31 + g->step * 7 + i;
    must_ok(evn_loop_allgather(g->loop, value, sizeof *value));
    for (int t = 0; t < TASKS; t++)
        for (int i = 0; i < 3; i++) must(value[t][i] == 1 + t * 31 + g->step * 7 + i);
}

/* Rank 0 knows the unit that had each task, and for how long. All others are in the next instance
 * at most. `auto` may share tasks out anew between the ranks that draw: those that go to another
 * one have their owners of then. */
static void check_step(const struct grid *g) {
    const int step = g->step - 1, *owner = evn_loop_owner(g->loop);
    const double *seconds = evn_loop_seconds(g->loop);
    const int draws = g->trial->owners == BY_SCHEDULE && evn_schedule_about(g->schedule).chunk;
    const int moves = !strcmp(g->trial->schedule, "auto");
    const double added = 100;
    for (int t = 0; t < TASKS; t++) {
        must(atomic_load(&grid_ran[t]) >= g->step);
        if (!g->rank && draws) {
            const int who = atomic_load(&grid_who[step % 2][t]);
            const int rank = evn_cluster_rank_of(g->cluster, owner[t]);
            must(owner[t] == who || (moves && rank != evn_cluster_rank_of(g->cluster, who)));
        }
        if (!g->rank) must(seconds[t] >= (g->trial->slow ? added : 0) && seconds[t] < 1e6);
        if (evn_loop_has(g->loop, t)) must(evn_cluster_rank_of(g->cluster, owner[t]) == g->rank);
    }
}

static void steps(evn_cluster *cluster) {
    ENDS(grid_close) struct grid g;
    grid_open(&g, cluster);
    while (g.step < g.trial->steps) {
        must_ok(grid_step(&g));
        check_step(&g);
        check_allgather(&g);
        /* no exchange is half open, wherever tasks have been */
        for (int i = 0; i < g.exchanges; i++) must_ok(evn_exchange_drop(g.exchange[i], 0, NULL));
    }
    must_ok(evn_cluster_agree(cluster, EVN_OK));
    for (int t = 0; t < TASKS; t++) must(atomic_load(&grid_ran[t]) == g.step);
    atomic_fetch_add(&grid_wrong, grid_wrong_blocks(&g, g.step));
    must_ok(evn_cluster_agree(cluster, EVN_OK));
}

static const char *const SCHEDULES[] = {"static",          "static:chunk=1",
                                        "dynamic",         "dynamic:chunk=2,memorize=0",
                                        "guided:size",     "guided:time",
                                        "weighted",        "weighted:size",
                                        "binpack",         "binpack:time",
                                        "interval",        "map",
                                        "optimal:limit=1", "auto"};
enum { LISTED = sizeof SCHEDULES / sizeof *SCHEDULES };

/* All there are, with and without times that are not true. */
TEST(schedules) {
    const char *name;
    for (int i = 0; (name = evn_schedule_name(i, NULL)); i++) {
        int listed = 0;
        for (int s = 0; s < LISTED; s++) listed |= !strncmp(SCHEDULES[s], name, strlen(name));
        assert_true(listed);
    }
    for (int s = 0; s < LISTED; s++)
        for (int i = 0; i < SIZES; i++) {
            struct trial trial = {.ranks = RANKS[i],
                                  .columns = 4,
                                  .schedule = SCHEDULES[s],
                                  .list = CPUS,
                                  .steps = 6};
            trial.slow = (s + i) % 2;
            trial.place = (s + i / 2) % 2;
            trial.split = (s / 2 + i) % 2;
            run(&trial, steps);
        }
}

/* Columns 1 and 12: a rank's neighbours are two; 4 and 6: many. */
TEST(at_random) {
    static const int columns[] = {1, 12, 4, 6};
    for (int i = 0; i < SIZES; i++)
        for (int c = 0; c < 4; c++)
            for (int way = 0; way < 4; way++) {
                struct trial trial = {
                    .ranks = RANKS[i], .columns = columns[c], .schedule = "static", .list = CPUS};
                trial.steps = 9;
                trial.owners = AT_RANDOM;
                trial.place = way % 2;
                trial.split = way / 2;
                run(&trial, steps);
            }
}

/* ---- devices ------------------------------------------------------------------------------- */

/* A task's regions take 768 bytes of a device: of the small ones regions have room for two or three
 * tasks. */
static int all; /* with EVENER_TEST_LONG; else each second case */

TEST(on_devices) {
    static const char *const large[RANKS_MAX] = {"emulated", "emulated", "emulated", "emulated",
                                                 "emulated"};
    static const char *const small[RANKS_MAX] = {"emulated:2,memory=16KiB", "emulated",
                                                 "emulated:2,memory=20KiB", "emulated",
                                                 "emulated:memory=16KiB"};
    static const char *const schedules[] = {"static", "dynamic:chunk=1,memorize=0", "guided:time"};
    for (int i = 0; i < SIZES; i++)
        for (int s = 0; s < 3; s++)
            for (int way = 0; way < 8; way++) {
                struct trial trial = {
                    .ranks = RANKS[i], .columns = 4, .schedule = schedules[s], .list = MIXED};
                trial.steps = 5;
                trial.place = 1;
                trial.slow = s == 2;
                trial.devices = way & 1 ? small : large;
                trial.share = way & 1 ? 0.12 : 0;
                trial.split = way >> 1 & 1;
                trial.owners = way >> 2 ? AT_RANDOM : BY_SCHEDULE;
                if (trial.owners == AT_RANDOM && s) continue;
                if (!all && (i + s + way) % 2) continue;
                run(&trial, steps);
            }
}

/* ---- an exchange that is not run in each step ---------------------------------------------- */

/* Tasks go and come back between two runs of it, to other memory: only the last one counts. */
static void now_and_then(evn_cluster *cluster) {
    ENDS(grid_close) struct grid g;
    grid_open(&g, cluster);
    g.keep = 1;
    for (; g.step < g.trial->steps; g.step++) {
        const int some = g.exchanges;
        if (g.step % 3 != 2) g.exchanges = 0;
        must_ok(grid_exchange(&g));
        g.exchanges = 0;
        must_ok(grid_step(&g));
        g.exchanges = some;
        g.step--;
    }
    atomic_fetch_add(&grid_wrong, grid_wrong_blocks(&g, 1));
    must_ok(evn_cluster_agree(cluster, EVN_OK));
}

TEST(now_and_then) {
    static const char *const schedules[] = {"static", "dynamic:chunk=1,memorize=0",
                                            "dynamic:chunk=1,memorize=2"};
    for (int i = 0; i < SIZES; i++)
        for (int way = 0; way < 8; way++) {
            struct trial trial = {
                .ranks = RANKS[i], .columns = 4, .schedule = schedules[way / 2 % 3], .list = CPUS};
            trial.steps = 9;
            trial.place = way % 2;
            trial.owners = way < 2 || way >= 6 ? AT_RANDOM : BY_SCHEDULE;
            if (trial.owners == AT_RANDOM) trial.schedule = "static";
            run(&trial, now_and_then);
        }
}

/* ---- counts -------------------------------------------------------------------------------- */

/* What has been sent so far, of all ranks. */
struct sums {
    double messages, bytes, moved, moved_bytes, control;
};

static struct sums sum_all(struct grid *g) {
    const evn_loop_totals t = evn_loop_sum(g->loop);
    const struct sums mine = {
        (double)t.rank_messages, t.rank_bytes, (double)t.moved, t.moved_bytes,
        g->trial->ranks > 1 ? (double)tree_sent(cluster_tree(g->cluster)).messages : 0};
    struct sums all[RANKS_MAX], sum = {0};
    must_ok(evn_cluster_gather(g->cluster, &mine, sizeof mine, all));
    for (int r = 0; r < g->trial->ranks && !g->rank; r++) {
        sum.messages += all[r].messages;
        sum.bytes += all[r].bytes;
        sum.moved += all[r].moved;
        sum.moved_bytes += all[r].moved_bytes;
        sum.control += all[r].control;
    }
    must_ok(evn_cluster_tell(g->cluster, &sum, sizeof sum));
    return sum;
}

/* What one run of all exchanges is to send, by the faces and who has which task; of ranks that are
 * counted here. */
static void expect_messages(const struct grid *g, const int *rank_of, struct sums *sum) {
    evn_face face[4 * CELLS];
    for (int x = 0; x < g->exchanges; x++) {
        int met[RANKS_MAX][RANKS_MAX] = {{0}};
        const int faces = grid_faces_of(g, x, face);
        for (int i = 0; i < faces; i++) {
            const int from = rank_of[face[i].from], to = rank_of[face[i].to];
            if (from == to) continue;
            sum->messages += !met[from][to]++;
            sum->bytes += (double)((SIDE - 2) * grid_element(g->trial->place ? x : 0));
        }
    }
}

static void expect_moves(const struct grid *g, const int *before, const int *after,
                         struct sums *sum) {
    for (int t = 0; t < TASKS; t++) {
        if (before[t] == after[t]) continue;
        sum->moved++;
        for (int b = 0; b < g->blocks; b++)
            if (grid_has_block(g->trial, t, b)) sum->moved_bytes += (double)grid_bytes(b);
    }
}

static void find_ranks(const struct grid *g, int *rank_of) {
    for (int t = 0; t < TASKS; t++)
        rank_of[t] = evn_cluster_rank_of(g->cluster, evn_loop_owner(g->loop)[t]);
}

static void counts(evn_cluster *cluster) {
    ENDS(grid_close) struct grid g;
    grid_open(&g, cluster);
    int before[TASKS], after[TASKS];
    struct sums expected = {0};
    const int ranks = g.trial->ranks;
    for (; g.step < g.trial->steps;) {
        const struct sums begun = sum_all(&g);
        find_ranks(&g, before);
        if (ranks > 1) expect_messages(&g, before, &expected);
        must_ok(grid_step(&g));
        find_ranks(&g, after);
        expect_moves(&g, before, after, &expected);
        int moved = 0;
        for (int t = 0; t < TASKS; t++) moved |= before[t] != after[t];
        const struct sums ended = sum_all(&g);
        must(ended.messages == expected.messages && ended.bytes == expected.bytes);
        must(ended.moved == expected.moved && ended.moved_bytes == expected.moved_bytes);
        /* one up and one down for each rank but the first: this step's, another one where tasks
         * have moved, and two for having counted */
        must(ended.control - begun.control == 2 * (ranks - 1) * (1 + moved) + 4 * (ranks - 1));
    }
    must_ok(evn_cluster_agree(cluster, EVN_OK));
}

TEST(counts) {
    for (int i = 0; i < SIZES; i++)
        for (int way = 0; way < 8; way++) {
            struct trial trial = {
                .ranks = RANKS[i], .columns = 4, .schedule = "static", .list = CPUS, .steps = 4};
            trial.place = way & 1;
            trial.split = way >> 1 & 1;
            trial.owners = way >> 2 ? AT_RANDOM : BY_SCHEDULE;
            run(&trial, counts);
        }
}

static void settle(struct grid *g, evn_cluster *cluster) {
    for (int settled = 0; !settled;) {
        must(g->step < 300);
        must_ok(grid_step(g));
        settled = schedule_settled(g->schedule);
        must_ok(evn_cluster_tell(cluster, &settled, sizeof settled));
    }
}

/* Once it has settled nothing moves, and an instance is one record up and one down. On a busy
 * machine units may change their speed meanwhile; then it settles once more. */
static void settles(evn_cluster *cluster) {
    ENDS(grid_close) struct grid g;
    grid_open(&g, cluster);
    struct sums sum = {0}, later = {0};
    for (int still = 0; !still;) {
        settle(&g, cluster);
        sum = sum_all(&g);
        for (int i = 0; i < 3; i++) must_ok(grid_step(&g));
        later = sum_all(&g);
        still = later.moved == sum.moved && later.moved_bytes == sum.moved_bytes;
        must_ok(evn_cluster_tell(cluster, &still, sizeof still));
    }
    must(later.control - sum.control == 2 * (g.trial->ranks - 1) * (3 + 2));
    atomic_fetch_add(&grid_wrong, grid_wrong_blocks(&g, g.step));
    must_ok(evn_cluster_agree(cluster, EVN_OK));
}

TEST(settles) {
    static const char *const schedules[] = {"static", "dynamic", "binpack", "guided:size", "map"};
    for (size_t s = 0; s < sizeof schedules / sizeof *schedules; s++)
        for (int i = 1; i < SIZES; i++) {
            struct trial trial = {
                .ranks = RANKS[i], .columns = 4, .schedule = schedules[s], .list = CPUS};
            trial.place = i % 2;
            run(&trial, settles);
        }
}

/* ---- large blocks -------------------------------------------------------------------------- */

/* A block that goes in several pieces, and one of a whole number of them. */
static const size_t LARGE[] = {(9 << 20) + 5, 8 << 20, 1};
static char *large[RANKS_MAX][3];

struct large {
    int rank;
};
static evn_status large_make(void *arg, int task) {
    const struct large *l = arg;
    large[l->rank][task] = malloc(LARGE[task]);
    return EVN_OK;
}
static void *large_memory(void *arg, int task, int block, size_t *bytes) {
    const struct large *l = arg;
    must(!block);
    *bytes = large[l->rank][task] ? LARGE[task] : 0;
    return large[l->rank][task];
}
static void large_drop(void *arg, int task) {
    const struct large *l = arg;
    free(large[l->rank][task]);
    large[l->rank][task] = NULL;
}

static evn_status nothing(evn_unit *unit, evn_batch *b, void *arg) {
    const struct large *l = arg;
    int count;
    const int *task = evn_batch_tasks(b, &count);
    (void)unit;
    for (int i = 0; i < count; i++) {
        const char *v = large[l->rank][task[i]];
        for (size_t k = 0; k < LARGE[task[i]]; k += 4099)
            must(v[k] == (char)(k % 251 + (size_t)task[i]));
    }
    return EVN_OK;
}

static void large_blocks(evn_cluster *c) {
    struct large l = {.rank = evn_cluster_rank(c)};
    OWN(machine) *machine;
    OWN(units) *units;
    OWN(schedule) *schedule;
    OWN(loop) *loop;
    const evn_home home = {1, large_make, large_memory, large_drop, NULL};
    must_ok(evn_machine_open(&machine));
    must_ok(evn_units_open(&units, machine, "1:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    must_ok(evn_cluster_units(c, units, NULL));
    must_ok(evn_schedule_open(&schedule, "static", &(evn_problem){.tasks = 3, .units = 3}));
    grid_at_random(schedule);
    must_ok(evn_loop_open_on(&loop, units, schedule, c));
    for (int t = 0; t < 3; t++)
        if (evn_loop_has(loop, t)) {
            must_ok(large_make(&l, t));
            for (size_t k = 0; k < LARGE[t]; k++) large[l.rank][t][k] = (char)(k % 251 + (size_t)t);
        }
    must_ok(evn_loop_homes(loop, &home, &l));
    for (int i = 0; i < 6; i++) must_ok(evn_loop_run(loop, nothing, &l));
    for (int t = 0; t < 3; t++) large_drop(&l, t);
}

TEST(large_blocks) { run(&(struct trial){.ranks = 3}, large_blocks); }

/* ---- units that draw, of which some are alone ---------------------------------------------- */

/* The first exchange comes when tasks have been drawn already, and ranks do not know of each other
 * which unit has which. */
static void late(evn_cluster *cluster) {
    ENDS(grid_close) struct grid g;
    grid_open(&g, cluster);
    const int some = g.exchanges;
    g.exchanges = 0;
    g.keep = 1;
    for (int i = 0; i < 3; i++) must_ok(grid_step(&g));
    g.exchanges = some;
    must_ok(grid_step(&g));
    atomic_fetch_add(&grid_wrong, grid_wrong_blocks(&g, 1));
    must_ok(evn_cluster_agree(cluster, EVN_OK));
}

TEST(late) {
    static const char *const several[RANKS_MAX] = {"3:CPU:1", "3:CPU:1", "3:CPU:1", "2:CPU:1",
                                                   "2:CPU:1"};
    for (int i = 0; i < SIZES; i++)
        for (int again = 0; again < 6; again++) {
            struct trial trial = {
                .ranks = RANKS[i], .columns = 4, .list = again % 3 ? several : ALONE};
            trial.schedule =
                again % 2 ? "dynamic:chunk=1,memorize=0" : "dynamic:chunk=1,memorize=2";
            trial.place = again / 2 % 2;
            trial.pause = 100;
            run(&trial, late);
        }
}

/* ---- many tasks ---------------------------------------------------------------------------- */

/* Of so many their times go to rank 0 for lessons alone. One rank is three times as slow, and every
 * second task takes twice as long, by times that are only said: so much longer than what the tasks
 * really take that a busy machine changes nothing. */
enum { MANY = 20000 };
static int slow_rank;
static atomic_int many_ran[MANY];

static evn_status timed(evn_unit *unit, evn_batch *b, void *arg) {
    const double seconds = evn_cluster_rank(arg) == slow_rank ? 30e-4 : 10e-4;
    (void)unit;
    for (int t; (t = evn_batch_next(b)) >= 0;) {
        evn_batch_add(b, t, t % 2 ? 2 * seconds : seconds);
        atomic_fetch_add(&many_ran[t], 1);
    }
    return EVN_OK;
}

static evn_status untimed(evn_unit *unit, evn_batch *b, void *arg) {
    (void)unit, (void)b, (void)arg;
    return EVN_OK;
}

/* A seventh of the tasks is the slow rank's. */
static void must_be_relieved(const evn_loop *loop) {
    int tasks = 0;
    for (int t = 0; t < MANY; t++) tasks += evn_loop_next(loop, NULL)[t] == slow_rank;
    must(tasks > MANY / 7 - MANY / 20 && tasks < MANY / 7 + MANY / 20);
}

/* Rank 0 has all tasks' times, as they were when it last wanted them; few were disturbed. */
static void must_be_told(const evn_loop *loop) {
    const double *seconds = evn_loop_seconds(loop);
    int told = 0;
    for (int t = 1; t < MANY; t += 2) told += seconds[t] > seconds[t - 1];
    must(told > MANY / 2 - MANY / 50);
}

/* Some tasks are born in place of others. */
static void replace_some(evn_loop *loop) {
    static _Thread_local int first[MANY + 1], from[MANY];
    static _Thread_local char kept[MANY];
    for (int t = 0; t < MANY; t++) {
        first[t] = from[t] = t;
        kept[t] = t % 100 > 0;
    }
    first[MANY] = MANY;
    const evn_change change = {.tasks = MANY, .first = first, .from = from, .kept = kept};
    must_ok(evn_loop_change(loop, &change));
}

/* A loop of tasks without data on a unit of each rank. */
struct bare {
    evn_machine *machine;
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
};

static void bare_open(struct bare *b, evn_cluster *c, int tasks) {
    must_ok(evn_machine_open(&b->machine));
    must_ok(evn_units_open(&b->units, b->machine, "1:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    must_ok(evn_cluster_units(c, b->units, NULL));
    must_ok(evn_schedule_open(&b->schedule, grid_trial->schedule,
                              &(evn_problem){.tasks = tasks, .units = grid_trial->ranks}));
    must_ok(evn_loop_open_on(&b->loop, b->units, b->schedule, c));
}

static void bare_close(struct bare *b) {
    evn_loop_close(b->loop);
    evn_schedule_close(b->schedule);
    evn_units_close(b->units);
    evn_machine_close(b->machine);
}

static void many(evn_cluster *c) {
    ENDS(bare_close) struct bare b;
    bare_open(&b, c, MANY);
    evn_loop *loop = b.loop;
    double weight[MANY];
    for (int phase = 0; phase < 2; phase++) {
        if (!evn_cluster_rank(c)) slow_rank = 1 + phase;
        must_ok(evn_cluster_agree(c, EVN_OK));
        for (int i = 0; i < 40; i++) must_ok(evn_loop_run(loop, timed, c));
        if (strcmp(grid_trial->schedule, "static") != 0)
            must_be_relieved(loop);
        else if (!evn_cluster_rank(c))
            must_be_told(loop);
        for (int t = 0; t < MANY; t++) weight[t] = 1 + phase;
        must_ok(evn_loop_weights(loop, weight));
        if (!phase) replace_some(loop);
    }
    must(evn_loop_sum(loop).instances == 80);
    const long before = tree_sent(cluster_tree(c)).messages;
    for (int i = 0; i < 100; i++) must_ok(evn_loop_run(loop, untimed, NULL));
    const long messages = tree_sent(cluster_tree(c)).messages - before;
    must(evn_cluster_rank(c) != 2 || (messages >= 100 && messages < 200));
}

TEST(many) {
    static const char *const schedules[] = {"map", "auto", "static"};
    for (size_t s = 0; s < sizeof schedules / sizeof *schedules; s++) {
        for (int t = 0; t < MANY; t++) atomic_store(&many_ran[t], 0);
        run(&(struct trial){.ranks = 3, .schedule = schedules[s]}, many);
        for (int t = 0; t < MANY; t++) assert_int_equal(atomic_load(&many_ran[t]), 80);
    }
}

/* A number of tasks that 2 to 8 ranks share evenly. */
enum { SHARED = 840 * 8 };

/* What this rank sends in a call in which each rank says so many bytes, by suite/bench/on_paper.h.
 */
static struct paper_sum by_paper(const evn_cluster *c, double says) {
    const struct on_paper paper = {grid_trial->ranks, says, PAPER_DECISION};
    return paper_sends(&paper, evn_cluster_rank(c));
}

/* `runs` runs send what is on paper: the times of units in each and, `first` or where rank 0 wants
 * them, which is not told here, those of tasks. */
static void runs_send(const struct bare *b, evn_cluster *c, int runs, int first) {
    const struct paper_sum lesson = by_paper(c, PAPER_TIME * SHARED / (double)grid_trial->ranks);
    const struct paper_sum step = by_paper(c, sizeof(double));
    const struct tree_sums before = tree_sent(cluster_tree(c));
    for (int i = 0; i < runs; i++) must_ok(evn_loop_run(b->loop, untimed, NULL));
    const struct tree_sums now = tree_sent(cluster_tree(c));
    const double steps = first ? 0 : runs;
    const double messages = (double)(now.messages - before.messages) - steps * step.messages;
    const double lessons = messages / lesson.messages;
    must(lessons == floor(lessons) && lessons >= first && lessons <= runs);
    must((double)(now.bytes - before.bytes) == steps * step.bytes + lessons * lesson.bytes);
}

static void on_paper(evn_cluster *c) {
    ENDS(bare_close) struct bare b;
    const struct on_paper alone = {.ranks = grid_trial->ranks};
    const struct paper_sum agree = paper_sends(&alone, evn_cluster_rank(c));
    bare_open(&b, c, SHARED);
    const struct tree_sums before = tree_sent(cluster_tree(c));
    must_ok(evn_cluster_agree(c, EVN_OK));
    must((double)(tree_sent(cluster_tree(c)).messages - before.messages) == agree.messages);
    must((double)(tree_sent(cluster_tree(c)).bytes - before.bytes) == agree.bytes);
    runs_send(&b, c, 1, 1);
    runs_send(&b, c, 10, 0);
}

TEST(on_paper) {
    for (int ranks = 2; ranks <= RANKS_MAX; ranks++)
        run(&(struct trial){.ranks = ranks, .schedule = "static"}, on_paper);
}

static int set_up(void **state) {
    (void)state;
    all = getenv("EVENER_TEST_LONG") != NULL;
    return 0;
}

RUN_TESTS(set_up, NULL)
