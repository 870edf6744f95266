/* BT-MZ, SP-MZ and LU-MZ, class S perturbed, over ranks that are threads: one hash whatever
 * their units and the schedule, where zones go to other ranks in each step, and on devices;
 * messages that are altered change the hash or are refused; everything that is sent, counted from
 * the mesh. Under the race detector it is the test of the loop over ranks with a real program. Run:
 * ctest -R '^over-ranks$' */
#include "check.h"
#include "loop/grid.h"
#include "npbmz/npbmz.h"
#include "schedule/policy.h"
#include "cluster/inside.h"
#include "wire/threads.h"
#include "wire/watched.h"
#include <pthread.h>
#include <unistd.h>

enum { APPS = 3, STEPS = 4 };

extern const evn_kernel_source bt_kernels;

static const char *const ALONE[RANKS_MAX] = {"1:CPU:1", "1:CPU:1", "1:CPU:1", "1:CPU:1"};
static const char *const CPUS[RANKS_MAX] = {"2:CPU:1", "1:CPU:1", "1:CPU:2", "1:CPU:1,1:CPU:2"};
static const char *const GPUS[RANKS_MAX] = {"1:GPU:1", "2:GPU:1", "1:GPU:2", "1:GPU:1"};
static const char *const SOME[RANKS_MAX] = {"1:CPU:1,1:GPU:1", "1:CPU:1", "1:GPU:1", "2:CPU:1"};

static const char *const SCHEDULES[] = {
    "static",      "static:chunk=1", "dynamic",  "dynamic:chunk=2,memorize=0",
    "guided:size", "guided:time",    "weighted", "weighted:size",
    "binpack",     "interval",       "map",      "optimal:limit=1",
    "auto"};
enum { LISTED = sizeof SCHEDULES / sizeof *SCHEDULES };

/* What each rank runs. */
static struct {
    enum npbmz_benchmark app;
    const char *schedule;
    const char *const *list;
    const char *devices;
    int at_random;             /* owners, others after each step */
    enum npbmz_loops loops;    /* of a step */
    const evn_wire_kind *kind; /* NULL: threads */
    int refused;               /* it is to fail, since a message is refused */
} job;

/* What came of it, on all ranks. */
static struct {
    uint64_t hash; /* the last rank's that said it */
    int hashes;    /* that differ */
    long long messages, moved;
    double bytes, moved_bytes;
    long control[STEPS + 1]; /* records sent until step i */
} found;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- what is to be sent, from the mesh and the owners -------------------------------------- */

static struct {
    const npbmz *problem; /* of rank 0 */
    const evn_cluster *cluster;
    long long messages, moved;
    double bytes, moved_bytes;
    int moves[STEPS + 1]; /* whether zones moved after step i */
    int step;
} expected;

/* What crosses between ranks in one exchange. */
static void expect_exchange(const int *owner) {
    const npbmz_shape shape = npbmz_describe(expected.problem);
    const int columns = shape.zones[0], rows = shape.zones[1];
    int met[RANKS_MAX][RANKS_MAX] = {{0}};
    for (int z = 0; z < columns * rows; z++) {
        const int x = z % columns, y = z / columns;
        const int beside[4] = {y * columns + (x + 1) % columns,
                               y * columns + (x + columns - 1) % columns,
                               (y + 1) % rows * columns + x, (y + rows - 1) % rows * columns + x};
        int points[3];
        npbmz_zone(expected.problem, z, points);
        for (int i = 0; i < 4; i++) {
            const int from = evn_cluster_rank_of(expected.cluster, owner[beside[i]]);
            const int to = evn_cluster_rank_of(expected.cluster, owner[z]);
            if (from == to) continue;
            expected.messages += !met[from][to]++;
            expected.bytes += 8.0 * 5 * (points[i < 2] - 2) * (points[2] - 2);
        }
    }
}

/* Owners at random; on rank 0, whose schedule is the only one to learn. */
static void learn(evn_schedule *s, const int *owner, const double *seconds) {
    (void)owner, (void)seconds;
    const int step = ++expected.step;
    for (int z = 0; z < s->problem.tasks; z++) {
        const int new = job.at_random ? grid_random_owner(step, z, s->problem.units) : s->owner[z];
        if (evn_cluster_rank_of(expected.cluster, new) !=
            evn_cluster_rank_of(expected.cluster, s->owner[z])) {
            expected.moves[step] = 1;
            expected.moved++;
            expected.moved_bytes += (double)npbmz_zone_bytes(expected.problem, z);
        }
        s->owner[z] = new;
    }
    if (step < STEPS) expect_exchange(s->owner);
}
static const struct policy counted = {.name = "counted", .learn = learn};

/* ---- a rank -------------------------------------------------------------------------------- */

static void after_step(int step, int steps, double seconds, void *cluster) {
    (void)steps, (void)seconds;
    pthread_mutex_lock(&lock);
    found.control[step] += tree_messages(cluster_tree(cluster));
    pthread_mutex_unlock(&lock);
}

static evn_status add_totals(const evn_loop *loop, void *cluster) {
    (void)cluster;
    const evn_loop_totals t = evn_loop_sum(loop);
    pthread_mutex_lock(&lock);
    found.messages += t.rank_messages;
    found.bytes += t.rank_bytes;
    found.moved += t.moved;
    found.moved_bytes += t.moved_bytes;
    pthread_mutex_unlock(&lock);
    return EVN_OK;
}

static void add_hash(uint64_t hash) {
    pthread_mutex_lock(&lock);
    found.hashes += !found.hashes || hash != found.hash;
    found.hash = hash;
    pthread_mutex_unlock(&lock);
}

static void compute(evn_cluster *c, npbmz *problem, evn_units *units, evn_schedule *schedule) {
    npbmz_result r;
    const npbmz_options options = {.run = {.steps = STEPS,
                                           .cluster = c,
                                           .progress = after_step,
                                           .inspect = add_totals,
                                           .arg = c},
                                   .loops = job.loops,
                                   .perturb = 1};
    const evn_status status = npbmz_run(problem, units, schedule, &options, &r);
    if (job.refused) {
        must(status == EVN_BODY || status == EVN_SYSTEM || status == EVN_STOPPED);
        /* where nobody says that he has failed, a neighbour's status is taken for an interrupt */
        must(strstr(evn_message(), " of faces of run ") || strstr(evn_message(), "stopped after"));
        return;
    }
    must_ok(status);
    add_hash(r.run.hash);
    npbmz_result_free(&r);
}

static void rank_main(evn_cluster *c) {
    evn_machine *machine;
    evn_units *units;
    npbmz *problem;
    evn_schedule *schedule;
    if (job.kind) c->kind = job.kind;
    must_ok(evn_machine_open(&machine));
    must_ok(evn_units_open_on(&units, machine, job.list[evn_cluster_rank(c)], job.devices,
                              EVN_OVERSUBSCRIBE));
    must_ok(evn_cluster_units(c, units, NULL));
    must_ok(npbmz_open(&problem, job.app, 'S'));
    evn_problem tasks = npbmz_tasks(problem);
    tasks.units = evn_cluster_unit_count(c);
    tasks.speed = evn_cluster_speeds(c);
    must_ok(evn_schedule_open(&schedule, job.schedule, &tasks));
    const int counts = !evn_schedule_chunk(schedule) && !strcmp(job.schedule, "static");
    if (counts) schedule->policy = &counted;
    if (counts && !evn_cluster_rank(c)) {
        expected.problem = problem;
        expected.cluster = c;
        expect_exchange(evn_schedule_owner(schedule));
    }
    compute(c, problem, units, schedule);
    evn_schedule_close(schedule);
    npbmz_close(problem);
    evn_units_close(units);
    evn_machine_close(machine);
}

static void run(int ranks) {
    memset(&found, 0, sizeof found);
    memset(&expected, 0, sizeof expected);
    alarm(300); /* ranks that wait for each other for ever */
    assert_int_equal(ranks_of_cluster(1, ranks, rank_main), 0);
    alarm(0);
    if (found.hashes != !job.refused)
        fail_msg("%d ranks, benchmark %d, %s: ranks have different hashes", ranks, (int)job.app,
                 job.schedule);
}

/* The hash of one unit on one rank. */
static uint64_t alone(int app, const char *unit) {
    const char *const list[] = {unit};
    job.app = (enum npbmz_benchmark)app;
    job.list = list;
    job.schedule = "static";
    job.devices = "emulated";
    job.at_random = job.refused = 0;
    job.loops = NPBMZ_LOOPS_STEP;
    job.kind = NULL;
    run(1);
    return found.hash;
}

static void same(int ranks, uint64_t hash) {
    run(ranks);
    if (found.hash != hash)
        fail_msg("%d ranks, benchmark %d, %s, units %s, .., at random %d: hash %016llx, alone "
                 "%016llx",
                 ranks, (int)job.app, job.schedule, job.list[0], job.at_random,
                 (unsigned long long)found.hash, (unsigned long long)hash);
}

/* ---- one hash ------------------------------------------------------------------------------ */

TEST(schedules) {
    for (int app = 0; app < APPS; app++) {
        const uint64_t hash = alone(app, "1:CPU:1");
        for (int s = 0; s < LISTED; s++) {
            job.schedule = SCHEDULES[s];
            job.list = s % 2 ? CPUS : ALONE;
            same(4, hash);
        }
    }
}

/* In each step on any unit of any rank; devices of ranks with room for all zones and for few. */
TEST(moving) {
    static const char *const small[APPS] = {[NPBMZ_BT] = "emulated:2,memory=500KiB",
                                            [NPBMZ_SP] = "emulated:2,memory=250KiB",
                                            [NPBMZ_LU] = "emulated:2,memory=1MiB"};
    for (int app = 0; app < APPS; app++)
        for (int kind = 0; kind < 3; kind++) {
            const char *const *const list = kind == 0 ? CPUS : kind == 1 ? GPUS : SOME;
            if (kind == 2 && bt_kernels.contract) continue; /* devices have their own bits */
            const uint64_t hash = alone(app, kind == 1 ? "1:GPU:1" : "1:CPU:1");
            for (int all = 0; all < 1 + (kind > 0); all++) {
                job.list = list;
                job.devices = all ? small[app] : "emulated:2";
                job.at_random = 1;
                for (int ranks = 2; ranks <= 4; ranks++) same(ranks, hash);
                assert_true(found.moved > 0);
            }
        }
}

/* ---- broken on purpose --------------------------------------------------------------------- */

/* Zones go to other ranks between two phases, with what the first has left. */
TEST(phases) {
    for (int app = 0; app < APPS; app++) {
        const uint64_t hash = alone(app, "1:CPU:1");
        job.list = CPUS;
        job.at_random = 1;
        job.loops = NPBMZ_LOOPS_PHASE;
        for (int ranks = 2; ranks <= 4; ranks++) same(ranks, hash);
        assert_true(found.moved > 0);
    }
}

TEST(altered) {
    evn_wire_kind watched = watched_kind(&wire_threads, NULL);
    for (int app = 0; app < APPS; app++) {
        const uint64_t hash = alone(app, "1:CPU:1");
        for (int change = WATCHED_NOTHING; change < WATCHED_CHANGES; change++) {
            const struct watched_order order = {(enum watched_change)change, 3, 8 * 5 * 4 * 4};
            int altered;
            job.list = ALONE;
            job.schedule = "static";
            job.kind = &watched;
            job.refused = change >= WATCHED_BEFORE;
            watched_begin(&order);
            run(2 + change % 3);
            watched_end(&altered);
            assert_int_equal(altered, change != WATCHED_NOTHING);
            if (!job.refused && (found.hash == hash) != (change == WATCHED_NOTHING))
                fail_msg("benchmark %d, %s altered: hash %016llx", app, watched_change_name[change],
                         (unsigned long long)found.hash);
        }
    }
}

/* ---- counts -------------------------------------------------------------------------------- */

/* The wire has the warm-up's exchange, too, which is the first one again. */
static void check_counts(int ranks) {
    const struct watched_counts c = watched_end(NULL);
    const long long messages = expected.messages;
    assert_int_equal(found.messages, messages);
    assert_true(found.bytes == expected.bytes);
    assert_int_equal(found.moved, expected.moved);
    assert_true(found.moved_bytes == expected.moved_bytes);
    assert_true(c.messages[WATCHED_FACES] > messages && c.bytes[WATCHED_FACES] > expected.bytes);
    /* each zone is one block, which has a header and fits into one piece */
    assert_int_equal(c.messages[WATCHED_MOVES], 2 * expected.moved);
    assert_int_equal(c.messages[WATCHED_PARCELS], 0);
    for (int step = 1; step < STEPS; step++) /* one more meeting where zones have moved */
        assert_int_equal(found.control[step + 1] - found.control[step],
                         2 * (ranks - 1) * (1 + expected.moves[step + 1]));
    if (!job.at_random) assert_int_equal(expected.moved, 0);
}

TEST(counts) {
    evn_wire_kind watched = watched_kind(&wire_threads, NULL);
    for (int app = 0; app < APPS; app++)
        for (int ranks = 2; ranks <= 4; ranks++)
            for (int way = 0; way < 4; way++) {
                job.app = (enum npbmz_benchmark)app;
                job.schedule = "static";
                job.list = way % 2 ? CPUS : ALONE;
                job.kind = &watched;
                job.refused = 0;
                job.at_random = way / 2;
                watched_begin(NULL);
                run(ranks);
                check_counts(ranks);
            }
}

RUN_TESTS(NULL, NULL)
