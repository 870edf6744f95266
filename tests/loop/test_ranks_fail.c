/* The loop over ranks where something is wrong: a body, an exchange, a device, a task's memory
 * fails on one rank and all hear of it at the end of the same instance; a rank that gives up;
 * messages that are altered on their way, which are refused, or seen in the bits. Run: ctest -R
 * '^ranks-fail$' */
#include "check.h"
#include "loop/grid.h"
#include "cluster/inside.h"
#include "wire/threads.h"
#include "wire/watched.h"
#include <unistd.h>

static const char *const CPUS[RANKS_MAX] = {"2:CPU:1", "1:CPU:1", "3:CPU:1", "1:CPU:2",
                                            "1:CPU:1,1:CPU:2"};
static const int RANKS[] = {2, 3, 5};
enum { SIZES = sizeof RANKS / sizeof *RANKS };

static int victim; /* the rank that fails */

static int run(const struct trial *trial, void (*rank_main)(evn_cluster *cluster)) {
    grid_trial = trial;
    atomic_store(&grid_wrong, 0);
    for (int t = 0; t < TASKS; t++) atomic_store(&grid_ran[t], 0);
    alarm(120); /* ranks that wait for each other for ever */
    assert_int_equal(ranks_of_cluster(1, trial->ranks, rank_main), 0);
    alarm(0);
    return atomic_load(&grid_wrong);
}

/* For each way (place, halves) and each rank as the victim. */
static void everywhere(struct trial trial, void (*rank_main)(evn_cluster *cluster)) {
    const int place = trial.place;
    for (int i = 0; i < SIZES; i++)
        for (int way = 0; way < 4; way++)
            for (victim = 0; victim < RANKS[i]; victim++) {
                trial.ranks = RANKS[i];
                trial.columns = 4;
                trial.schedule = trial.schedule ? trial.schedule : "static";
                trial.list = trial.list ? trial.list : CPUS;
                trial.place = place || way % 2;
                trial.split = way / 2;
                assert_int_equal(run(&trial, rank_main), 0);
            }
}

/* The failed call's message on all ranks: the victim's, by name and host, and its own words. */
static void must_name(const struct grid *g, int rank, const char *words) {
    char begin[100];
    snprintf(begin, sizeof begin, "rank %d on %s: ", rank, evn_cluster_host(g->cluster, rank));
    if (strstr(evn_message(), begin) != evn_message() || !strstr(evn_message(), words)) {
        fprintf(stderr, "expected \"%s..%s\"\n", begin, words);
        must(0);
    }
}

/* Whether all have ended in the same step with the same status. */
static void must_agree(const struct grid *g, evn_status status) {
    struct {
        int step, status;
    } mine = {g->step, (int)status}, all[RANKS_MAX];
    must_ok(evn_cluster_gather(g->cluster, &mine, sizeof mine, all));
    for (int r = 0; r < g->trial->ranks && !g->rank; r++)
        must(all[r].step == mine.step && all[r].status == mine.status);
}

/* ---- bodies -------------------------------------------------------------------------------- */

static void body_fails(evn_cluster *c) {
    ENDS(grid_close) struct grid g;
    grid_open(&g, c);
    must_ok(grid_step(&g));
    g.fail_body = g.rank == victim ? EVN_SYSTEM : EVN_OK;
    must_give(grid_step(&g), EVN_BODY);
    must_name(&g, victim, "toy: no");
    must(g.step == 1 && evn_cluster_about(c).failed);
    /* and it goes on; tasks of other ranks have had that step already */
    g.fail_body = EVN_OK;
    for (int i = 0; i < 3; i++) must_ok(grid_step(&g));
    must(!evn_cluster_about(c).failed);
}

TEST(body) {
    everywhere((struct trial){0}, body_fails);
    everywhere((struct trial){.owners = AT_RANDOM}, body_fails);
    everywhere((struct trial){.schedule = "dynamic:memorize=0"}, body_fails);
}

/* ---- exchanges ----------------------------------------------------------------------------- */

/* A task of mine that has faces; -1: none. */
static int own_task(const struct grid *g) {
    for (int t = 0; t < CELLS; t++)
        if (evn_loop_has(g->loop, t)) return t;
    return -1;
}

/* The first exchange fails on the victim, since a region is in use. All others hear of it at the
 * end of the next instance, neighbours and others, and then all goes on. */
static void exchange_fails(evn_cluster *c) {
    ENDS(grid_close) struct grid g;
    grid_open(&g, c);
    g.keep = 1;
    for (int again = 0; again < 3; again++) {
        must_ok(grid_step(&g));
        const int task = own_task(&g), held = g.rank == victim && task >= 0;
        int *region = held ? &g.region[task * g.blocks] : NULL;
        if (held) must_ok(evn_place_acquire(g.place, 1, region, EVN_HOST, EVN_BOTH));
        must_ok(grid_exchange(&g));
        if (held) must_ok(evn_place_release(g.place, 1, region, EVN_HOST));
        const int some = g.exchanges;
        if (!g.trial->split) g.exchanges = 0;
        evn_status status = grid_run(&g);
        must(status == EVN_USAGE);
        must_name(&g, victim, "region");
        must_agree(&g, status);
        g.exchanges = some;
    }
    must_ok(grid_step(&g));
    atomic_fetch_add(&grid_wrong, grid_wrong_blocks(&g, 1));
    must_ok(evn_cluster_agree(c, EVN_OK));
}

TEST(exchange) { everywhere((struct trial){.place = 1}, exchange_fails); }

/* It fails on all of them: each hears from its neighbours that they have failed, and the reason
 * that is told is still its own. */
static void exchange_fails_on_all(evn_cluster *c) {
    ENDS(grid_close) struct grid g;
    grid_open(&g, c);
    int *region = &g.region[own_task(&g) * g.blocks];
    must_ok(evn_place_acquire(g.place, 1, region, EVN_HOST, EVN_BOTH));
    must_ok(grid_exchange(&g));
    must_ok(evn_place_release(g.place, 1, region, EVN_HOST));
    const int some = g.exchanges;
    if (!g.trial->split) g.exchanges = 0;
    evn_status status = grid_run(&g);
    must(status == EVN_USAGE);
    must_name(&g, 0, "region");
    must_agree(&g, status);
    g.exchanges = some;
}

TEST(exchange_on_all) {
    for (int way = 0; way < 4; way++) {
        struct trial trial = {
            .ranks = 2 + way / 2, .columns = 4, .schedule = "static", .list = CPUS, .place = 1};
        trial.split = way % 2;
        run(&trial, exchange_fails_on_all);
    }
}

/* A device of the victim fails at its n-th launch, copy or wait, wherever that is: nobody waits for
 * ever, and all say the same. */
static void device_fails(evn_cluster *c) {
    ENDS(grid_close) struct grid g;
    grid_open(&g, c);
    evn_status status = EVN_OK;
    for (int i = 0; i < 4 && !status; i++) status = grid_step(&g);
    if (status) must_name(&g, victim, "on purpose");
    must_agree(&g, status);
    if (status) atomic_fetch_add(&grid_wrong, 1);
}

TEST(on_device) {
    static const char *const what[] = {"kernel", "copy", "lost", "alloc"};
    for (int w = 0; w < 4; w++)
        for (int at = 1, failed = 1; failed && at < 400; at += 1 + at / 4)
            for (victim = 0; victim < 2; victim++) {
                const char *list[RANKS_MAX] = {"2:CPU:1", "1:CPU:1", "1:CPU:1"},
                           *devices[RANKS_MAX] = {0};
                char text[80];
                struct trial trial = {.ranks = 3,
                                      .columns = 4,
                                      .schedule = "static",
                                      .list = list,
                                      .devices = devices};
                snprintf(text, sizeof text, "emulated:fail=%s@%d", what[w], at);
                list[victim] = "1:CPU:1,1:GPU:1";
                devices[victim] = text;
                trial.place = 1;
                trial.split = at % 2;
                trial.steps = 0;
                failed = run(&trial, device_fails) > 0;
            }
}

/* ---- tasks that move ----------------------------------------------------------------------- */

static void make_fails(evn_cluster *c) {
    ENDS(grid_close) struct grid g;
    grid_open(&g, c);
    evn_status status = EVN_OK;
    must_ok(grid_step(&g));
    g.fail_make = g.rank == victim;
    for (int i = 0; i < 20 && !status; i++) status = grid_step(&g);
    must(status == EVN_MEMORY);
    must_name(&g, victim, "no room for task");
    must_agree(&g, status);
}

TEST(make) { everywhere((struct trial){.owners = AT_RANDOM}, make_fails); }

/* Regions, and nobody has said how they travel; or blocks that are not as many. */
static void no_homes(evn_cluster *c) {
    ENDS(grid_close) struct grid g;
    grid_open(&g, c);
    if (victim == 1) {
        const evn_home one = {1, g.home.make, g.home.memory, g.home.drop, NULL};
        must_ok(evn_loop_homes(g.loop, &one, &g));
    } else {
        must_give(evn_loop_homes(g.loop, NULL, &g), EVN_USAGE);
        grid_forget_homes(&g);
    }
    evn_status status = grid_step(&g);
    must(status == EVN_USAGE);
    must(strstr(evn_message(), "evn_loop_homes()"));
    must_agree(&g, status);
}

TEST(no_homes) {
    struct trial trial = {.ranks = 3, .columns = 4, .schedule = "static", .list = CPUS, .place = 1};
    trial.owners = AT_RANDOM;
    for (victim = 0; victim < 2; victim++) run(&trial, no_homes);
}

/* ---- giving up ----------------------------------------------------------------------------- */

static evn_status gives_up;

/* The victim closes its cluster while the others meet for something else. */
static void leave(int rank, void *arg) {
    evn_cluster *c;
    struct grid g;
    (void)arg;
    must_ok(evn_cluster_open(&c, "threads"));
    grid_open(&g, c);
    evn_status status = grid_step(&g);
    must_ok(status);
    if (rank == victim) {
        status = gives_up;
    } else {
        g.exchanges = 0;
        for (int i = 0; i < 5 && !status; i++)
            status = i % 2 ? evn_cluster_agree(c, EVN_OK) : grid_step(&g);
        must(status != EVN_OK);
        must(strstr(evn_message(), gives_up ? "no more" : "evn_cluster_close()"));
        g.exchanges = BLOCKS;
    }
    grid_close(&g);
    if (rank == victim && gives_up) evn_fail(gives_up, "no more");
    evn_cluster_close(c, status);
}

TEST(gives_up) {
    static const evn_status with[] = {EVN_OK, EVN_USAGE, EVN_STOPPED, EVN_SYSTEM};
    for (int i = 0; i < SIZES; i++)
        for (int w = 0; w < 4; w++)
            for (victim = 0; victim < RANKS[i]; victim++) {
                struct trial trial = {
                    .ranks = RANKS[i], .columns = 4, .schedule = "static", .list = CPUS};
                trial.place = w % 2;
                grid_trial = &trial;
                gives_up = with[w];
                alarm(120);
                assert_ok(threads_run(trial.ranks, leave, NULL));
                alarm(0);
            }
}

/* ---- units that are only described --------------------------------------------------------- */

static void described(evn_cluster *c) {
    ENDS(grid_close) struct grid g;
    grid_open(&g, c);
    const evn_status status = grid_step(&g);
    must(status == EVN_USAGE);
    must(strstr(evn_message(), "only described"));
}

TEST(described) {
    run(&(struct trial){.ranks = 2,
                        .columns = 4,
                        .schedule = "static",
                        .list = CPUS,
                        .flags = EVN_DESCRIBE_ONLY},
        described);
}

/* ---- messages that are altered ------------------------------------------------------------- */

static struct watched_order order;
static evn_wire_kind watched;
static atomic_llong told; /* messages, by the loops' counts */

static void with_altered(evn_cluster *c) {
    ENDS(grid_close) struct grid g;
    c->kind = &watched;
    grid_open(&g, c);
    evn_status status = EVN_OK;
    while (!status && g.step < g.trial->steps) status = grid_step(&g);
    if (order.change >= WATCHED_BEFORE) {
        const int is_status = order.change == WATCHED_STATUS;
        /* in halves a body waits for the message, and fails with it */
        must(status == (is_status ? EVN_STOPPED : g.trial->split ? EVN_BODY : EVN_SYSTEM));
        must(g.step == 2);
        must(strstr(evn_message(), is_status ? "has failed" : " of faces of run "));
    } else {
        must_ok(status);
        atomic_fetch_add(&grid_wrong, grid_wrong_blocks(&g, g.step));
        atomic_fetch_add(&told, evn_loop_sum(g.loop).rank_messages);
    }
    must_agree(&g, status);
}

TEST(altered) {
    watched = watched_kind(&wire_threads);
    for (int change = WATCHED_NOTHING; change < WATCHED_CHANGES; change++)
        for (int way = 0; way < 8; way++) {
            struct trial trial = {
                .ranks = 2 + way / 4, .columns = 4, .schedule = "static", .list = CPUS, .steps = 4};
            trial.place = way % 2;
            trial.split = way / 2 % 2;
            order = (struct watched_order){(enum watched_change)change, 3,
                                           (SIDE - 2) * grid_element(0)};
            watched_begin(&order);
            atomic_store(&told, 0);
            const int wrong = run(&trial, with_altered);
            int altered;
            const int sent = watched_end(&altered);
            assert_int_equal(altered, change != WATCHED_NOTHING);
            if (change >= WATCHED_BEFORE) continue;
            assert_int_equal(sent, atomic_load(&told));
            if ((wrong > 0) != (change != WATCHED_NOTHING))
                fail_msg("%s altered: %d blocks are wrong", watched_change_name[change], wrong);
        }
}

RUN_TESTS(NULL, NULL)
