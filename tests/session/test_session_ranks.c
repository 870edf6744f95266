/* Sessions over forked ranks: what each rank has, regions that are where their tasks are and come
 * to rank 0 in the end, what is refused, one record, one voice. (Programs under MPI's launchers:
 * test_heat.py.)
 *
 * Each case is a run of its own: a child that opens the session becomes its supervisor, and the
 * ranks are that one's children. Run: ctest -R open-ranks */
#include "check.h"
#include <evener/open.h>
#include <signal.h>
#include <unistd.h>

enum { RANKS = 3, TASKS = 12, VALUES = 5, FAILED = 9 };

/* In a rank: the run fails, and says where. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, evn_message());    \
            _exit(FAILED);                                                                         \
        }                                                                                          \
    } while (0)

static evn_session *session;
static evn_loop *loop;
static evn_place *place;
static double value[TASKS][VALUES];
static int region[TASKS];
static const evn_access both = EVN_BOTH;

/* Every task's values become its number, and count how often it was done. */
static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)arg;
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        double *v = evn_batch_host(batch, t, 0);
        v[0] = t;
        for (int i = 1; i < VALUES; i++) v[i]++;
    }
    return EVN_OK;
}

static evn_status nothing(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch, (void)arg;
    return EVN_OK;
}

static evn_status failing(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch, (void)arg;
    return evn_session_rank(session) == 1 ? evn_fail(EVN_BODY, "it is Sunday") : EVN_OK;
}

static void open_all(const char *schedule) {
    MUST(!evn_open(&session, "1:CPU:1", NULL, EVN_OVER_RANKS | EVN_OVERSUBSCRIBE));
    MUST(!evn_open_loop(&loop, session, schedule, &(evn_problem){.tasks = TASKS}));
    MUST(!evn_place_open(&place, evn_session_units(session), 0.5));
    for (int t = 0; t < TASKS; t++)
        MUST(!evn_place_add(place, value[t], sizeof value[t], &region[t]));
}

static void close_all(void) {
    evn_place_close(place);
    MUST(!evn_close(session));
}

/* ---- cases --------------------------------------------------------------------------------- */

static void ask(void) {
    open_all("static");
    evn_cluster *c = evn_session_cluster(session);
    MUST(evn_cluster_size(c) == RANKS);
    MUST(evn_cluster_rank(c) == evn_session_rank(session));
    MUST(evn_cluster_about(c).units == RANKS);
    MUST(evn_units_count(evn_session_units(session)) == 1);
    MUST(evn_schedule_problem(evn_loop_schedule(loop))->units == RANKS);
    for (int t = 0; t < TASKS; t++)
        MUST(evn_loop_has(loop, t) == (evn_session_rank(session) == t / (TASKS / RANKS)));
    close_all();
}

/* States that would go along to another rank: the schedule knows which units are of one. */
static void ask_spaces(void) {
    double state[TASKS];
    for (int t = 0; t < TASKS; t++) state[t] = 1e6;
    MUST(!evn_open(&session, "2:CPU:1", NULL, EVN_OVER_RANKS | EVN_OVERSUBSCRIBE));
    MUST(!evn_open_loop(&loop, session, "map", &(evn_problem){.tasks = TASKS, .state = state}));
    const evn_problem *p = evn_schedule_problem(evn_loop_schedule(loop));
    MUST(p->units == 2 * RANKS && p->space);
    for (int u = 0; u < p->units; u++) MUST(p->space[u] == u / 2);
    MUST(!evn_open_loop(&loop, session, "map", &(evn_problem){.tasks = TASKS}));
    MUST(!evn_schedule_problem(evn_loop_schedule(loop))->space);
    MUST(!evn_close(session));
}

/* Ranks that the program has joined stay its own: two sessions over them, one after another and at
 * a time, and other units in one. */
static void given(void) {
    evn_cluster *c;
    evn_session *other;
    MUST(!evn_cluster_open(&c, "processes:3"));
    const evn_open_options options = {.units = "1:CPU:1", .flags = EVN_OVERSUBSCRIBE, .cluster = c};
    for (int i = 0; i < 2; i++) {
        MUST(!evn_open_with(&session, &options));
        MUST(evn_session_cluster(session) == c);
        MUST(!evn_open_loop(&loop, session, "static", &(evn_problem){.tasks = TASKS}));
        MUST(evn_schedule_problem(evn_loop_schedule(loop))->units == RANKS);
        MUST(!evn_loop_run(loop, nothing, NULL));
        MUST(evn_session_units_open(session, "2:CPU:1", NULL, EVN_OVERSUBSCRIBE) == EVN_USAGE);
        MUST(!evn_close_loop(session, loop));
        MUST(!evn_session_units_close(session));
        MUST(!evn_session_units_open(session, "2:CPU:1", NULL, EVN_OVERSUBSCRIBE));
        MUST(evn_cluster_about(c).units == 2 * RANKS);
        MUST(!evn_open_loop(&loop, session, "map", &(evn_problem){.tasks = TASKS}));
        MUST(!evn_loop_run(loop, nothing, NULL));
        MUST(!evn_close_loop(session, loop));
        /* on one rank alone the list is wrong, which is so on all */
        const char *list = evn_session_rank(session) == 1 ? "1:CPUS:1" : "1:CPU:1";
        MUST(evn_session_units_open(session, list, NULL, EVN_OVERSUBSCRIBE) == EVN_USAGE);
        MUST(!evn_session_units(session));
        MUST(!evn_close(session));
    }
    MUST(!evn_open_with(&session, &options));
    MUST(!evn_open_with(&other, &options));
    MUST(!evn_close(other));
    evn_abandon(session);
    MUST(!evn_cluster_agree(c, EVN_OK));
    setenv("EVENER_PROCESSES", "2", 1);
    MUST(evn_open_with(&session, &options) == EVN_USAGE);
    MUST(strstr(evn_message(), "EVENER_PROCESSES: this program runs over ranks that it"));
    MUST(!evn_cluster_agree(c, EVN_OK));
    evn_cluster_close(c, EVN_OK);
}

/* A second loop beside the first, about nothing, that is closed before. */
static void two_loops(void) {
    evn_loop *second;
    open_all("dynamic");
    MUST(!evn_session_place(session, loop, place, 1, region, &both));
    MUST(!evn_open_loop(&second, session, "static", &(evn_problem){.tasks = 4}));
    for (int i = 0; i < 3; i++) MUST(!evn_loop_run(loop, body, NULL));
    MUST(!evn_close_loop(session, second));
    MUST(!evn_session_collect(session, loop));
    for (int t = 0; t < TASKS; t++) MUST(evn_session_rank(session) || value[t][1] == 3);
    close_all();
}

/* Each rank's device has memory for two tasks, and would get four of the six for its speed. */
static void memory(void) {
    static const double bytes[] = {1e5, 1e5, 1e5, 1e5, 1e5, 1e5, 1e5, 1e5, 1e5, 1e5, 1e5, 1e5},
                        speed[] = {1, 4, 1, 4};
    MUST(!evn_open(&session, "1:CPU:1,1:GPU:1", "emulated:memory=200kB",
                   EVN_OVER_RANKS | EVN_OVERSUBSCRIBE));
    evn_problem p = {.tasks = TASKS, .speed = speed};
    for (int told = 0; told < 2; told++) {
        int of_device[2] = {0};
        p.bytes = told ? bytes : NULL;
        MUST(!evn_open_loop(&loop, session, "map", &p));
        for (int t = 0; t < TASKS; t++) {
            const int u = evn_loop_owner(loop)[t];
            if (u % 2) of_device[u / 2]++;
        }
        for (int r = 0; r < 2; r++) MUST(told ? of_device[r] == 2 : of_device[r] > 3);
    }
    MUST(!evn_close(session));
}

static void refuse(void) {
    open_all("static");
    evn_session *second;
    MUST(evn_open(&second, "1:CPU:1", NULL, EVN_OVER_RANKS | EVN_OVERSUBSCRIBE) == EVN_USAGE);
    MUST(strstr(evn_message(), "a second one") && !second);
    MUST(evn_open(&second, "1:CPU:1", NULL, EVN_OVERSUBSCRIBE) == EVN_USAGE);
    MUST(strstr(evn_message(), "EVENER_PROCESSES"));
    close_all();
}

/* A rank that has no problem with its task hears of another one's, and rank 0 says it. */
static void give_up_together(void) {
    open_all("static");
    MUST(evn_loop_run(loop, failing, NULL) == EVN_BODY);
    exit(evn_complain("try"));
}

/* One rank leaves by itself. */
static void give_up_alone(void) {
    open_all("static");
    if (evn_session_rank(session) == 2) {
        evn_fail(EVN_SYSTEM, "the file is gone");
        exit(evn_complain("try"));
    }
    MUST(evn_loop_run(loop, nothing, NULL));
    exit(evn_complain("try"));
}

static void record(void) {
    open_all("static");
    MUST(!evn_session_place(session, loop, place, 1, region, &both));
    MUST(!evn_loop_run(loop, body, NULL));
    close_all();
}

/* The record is of the loop on the units that were opened last. */
static void record_again(void) {
    MUST(!evn_open(&session, "2:CPU:1", NULL, EVN_OVER_RANKS | EVN_OVERSUBSCRIBE));
    for (int i = 0; i < 2; i++) {
        MUST(!evn_open_loop(&loop, session, "static", &(evn_problem){.tasks = TASKS}));
        MUST(!evn_loop_run(loop, nothing, NULL));
        MUST(!evn_close_loop(session, loop));
        if (!i) MUST(!evn_session_units_open(session, "1:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    }
    MUST(!evn_close(session));
}

/* ---- runs of them -------------------------------------------------------------------------- */

static char said[4096];

/* The exit status of the case in `ranks` processes; what it has written is in said[]. */
static int run(const char *ranks, void (*what)(void)) {
    int end[2], status;
    assert_int_equal(pipe(end), 0);
    fflush(NULL);
    const pid_t pid = fork();
    if (!pid) {
        if (ranks) setenv("EVENER_PROCESSES", ranks, 1);
        dup2(end[1], 1);
        dup2(end[1], 2);
        close(end[0]);
        close(end[1]);
        alarm(240);
        signal(SIGSEGV, SIG_DFL); /* cmocka would go on with its next test */
        what();
        exit(0);
    }
    close(end[1]);
    size_t at = 0;
    for (ssize_t n;
         at < sizeof said - 1 && (n = read(end[0], said + at, sizeof said - 1 - at)) > 0;)
        at += (size_t)n;
    said[at] = '\0';
    close(end[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (*said) printf("%s", said);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(ask) {
    assert_int_equal(run("3", ask), 0);
    assert_int_not_equal(run(NULL, ask), 0); /* it is noticed */
}

TEST(spaces) { assert_int_equal(run("3", ask_spaces), 0); }

TEST(given) { assert_int_equal(run(NULL, given), 0); }

TEST(two_loops) { assert_int_equal(run("2", two_loops), 0); }

TEST(memory) { assert_int_equal(run("2", memory), 0); }

TEST(refuse) { assert_int_equal(run("3", refuse), 0); }

static int lines(void) {
    int n = 0;
    for (const char *c = said; *c; c++) n += *c == '\n';
    return n;
}

TEST(give_up) {
    assert_int_equal(run("3", give_up_together), 1);
    assert_non_null(strstr(said, "try: rank 1 on "));
    assert_non_null(strstr(said, "it is Sunday"));
    assert_int_equal(lines(), 1);
    assert_int_equal(run("3", give_up_alone), 1);
    assert_non_null(strstr(said, "try: rank 2 on "));
    assert_non_null(strstr(said, "the file is gone"));
    assert_int_equal(lines(), 1);
}

TEST(record) {
    setenv("EVENER_RECORD", "-", 1);
    const int status = run("3", record);
    unsetenv("EVENER_RECORD");
    assert_int_equal(status, 0);
    assert_non_null(strstr(said, "\"owner\": [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]"));
    assert_non_null(strstr(said, "\"wire\": \"processes\""));
    assert_non_null(strstr(said, "\"rank\": 2"));
    assert_non_null(strstr(said, "\"tasks\": 4"));
    assert_null(strstr(strstr(said, "\"evener\"") + 1, "\"evener\""));
}

TEST(record_again) {
    char trace[] = "/tmp/evener-open-ranks.XXXXXX";
    const int file = mkstemp(trace);
    assert_true(file >= 0);
    close(file);
    setenv("EVENER_RECORD", "-", 1);
    setenv("EVENER_TRACE", trace, 1);
    const int status = run("3", record_again);
    unsetenv("EVENER_RECORD");
    unsetenv("EVENER_TRACE");
    FILE *in = fopen(trace, "r");
    static char text[1 << 16];
    assert_non_null(in);
    const size_t size = fread(text, 1, sizeof text - 1, in);
    text[size] = '\0';
    fclose(in);
    unlink(trace);
    assert_int_equal(status, 0);
    assert_non_null(strstr(said, "\"owner\": [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]"));
    assert_null(strstr(said, "\"id\": 3"));
    assert_non_null(strstr(text, "unit 2"));
    assert_null(strstr(text, "unit 3"));
}

RUN_TESTS(NULL, NULL)
