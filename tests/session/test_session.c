/* A program's session: what it takes from whom, what its record and trace say, and that files are
 * whole or as they were. Run: ctest -R '^open$' */
#include <cjson/cJSON.h>
#include <dirent.h>
#include <evener/change.h>
#include <evener/open.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { TASKS = 12 };

static char folder[] = "/tmp/evener-open.XXXXXX";

/* A path in the folder; valid until the next four. */
static const char *in_folder(const char *name) {
    static char path[4][128];
    static int at;
    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s/%s", folder, name);
    return path[at];
}

static const char *const variables[] = {"EVENER_UNITS",    "EVENER_DEVICES", "EVENER_OVERSUBSCRIBE",
                                        "EVENER_SCHEDULE", "EVENER_RECORD",  "EVENER_TRACE"};

static int clear(void **state) {
    (void)state;
    for (int i = 0; i < 6; i++) unsetenv(variables[i]);
    return 0;
}

static int set_up(void **state) {
    clear(state);
    return !mkdtemp(folder);
}

/* Files in the folder, and with `remove` it is empty then. */
static int files(int remove) {
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        n++;
        if (remove) unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
    return n;
}

static int tear_down(void **state) {
    (void)state;
    files(1);
    return rmdir(folder);
}

static char *read_text(const char *path) {
    FILE *in = fopen(path, "r");
    if (!in) return NULL;
    char *text = calloc(1, 1 << 25);
    const size_t n = text ? fread(text, 1, (1 << 25) - 1, in) : 0;
    assert_true(text && !ferror(in) && n < (1 << 25) - 1);
    fclose(in);
    return text;
}

static cJSON *read_json(const char *path) {
    HEAP char *text = read_text(path);
    assert_non_null(text);
    cJSON *root = cJSON_ParseWithOpts(text, NULL, 1);
    assert_non_null(root);
    return root;
}

static const cJSON *get(const cJSON *o, const char *key) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    if (!v) fail_msg("no key \"%s\"", key);
    return v;
}
static double number(const cJSON *o, const char *key) {
    assert_true(cJSON_IsNumber(get(o, key)));
    return get(o, key)->valuedouble;
}
static const char *text(const cJSON *o, const char *key) {
    assert_true(cJSON_IsString(get(o, key)));
    return get(o, key)->valuestring;
}

/* Each task takes a moment, later ones longer; devices get nothing to do. */
static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)arg;
    if (evn_unit_is_gpu(unit)) return EVN_OK;
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        volatile double x = 0;
        for (int i = 0; i < 2000 * (t + 1); i++) x = x + 1.0 / (i + 1);
    }
    return EVN_OK;
}

/* Tasks that are nothing. */
static evn_status touch(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    (void)arg;
    while (evn_batch_next(batch) >= 0) continue;
    return EVN_OK;
}

static evn_session *open_on(const char *units, const char *devices) {
    evn_session *s;
    if (evn_open(&s, units, devices, EVN_OVERSUBSCRIBE)) fail_msg("%s", evn_message());
    return s;
}

static evn_loop *open_loop(evn_session *s, const char *schedule, int tasks) {
    const evn_problem problem = {.tasks = tasks};
    evn_loop *loop;
    if (evn_open_loop(&loop, s, schedule, &problem)) fail_msg("%s", evn_message());
    return loop;
}

static void run(evn_loop *loop, int steps) {
    for (int i = 0; i < steps; i++) {
        assert_ok(evn_loop_visit(loop, body, NULL));
        assert_ok(evn_loop_run(loop, body, NULL));
    }
}

/* -- from the program, the environment, or by default -- */

static void check_units(const char *given, const char *variable, const char *expected) {
    if (variable) setenv("EVENER_UNITS", variable, 1);
    evn_session *s = open_on(given, NULL);
    assert_string_equal(evn_units_text(evn_session_units(s)), expected);
    assert_ok(evn_close(s));
    unsetenv("EVENER_UNITS");
}

TEST_WITH(units, clear, NULL) {
    evn_session *s = open_on("auto", NULL);
    char best[64];
    snprintf(best, sizeof best, "%s", evn_units_text(evn_session_units(s)));
    assert_true(evn_machine_cores(evn_session_machine(s)) >= 1);
    evn_close(s);
    check_units(NULL, NULL, best);
    check_units("default", NULL, best);
    check_units(NULL, "", best);
    check_units(NULL, "default", best);
    check_units(NULL, "3:CPU:1", "3:CPU:1");
    check_units("default", "3:CPU:1", "3:CPU:1");
    check_units("2:CPU:1", "3:CPU:1", "2:CPU:1");
    check_units("2:CPU:1", "nonsense", "2:CPU:1");
    check_units("auto", "3:CPU:1", best);
}

static const char *device_name(evn_session *s) {
    return evn_device_traits(evn_unit_device(evn_units_get(evn_session_units(s), 0), 0))->name;
}

TEST_WITH(with_devices, clear, NULL) {
    setenv("EVENER_DEVICES", "emulated:1,speed=0.25", 1);
    evn_session *s = open_on("1:GPU:1", NULL);
    assert_non_null(strstr(device_name(s), "speed 0.25"));
    evn_close(s);
    s = open_on("1:GPU:1", "emulated:1,speed=0.5");
    assert_non_null(strstr(device_name(s), "speed 0.5"));
    evn_close(s);
}

TEST_WITH(oversubscribe, clear, NULL) {
    evn_session *s;
    setenv("EVENER_UNITS", "500:CPU:2", 1);
    assert_int_equal(evn_open(&s, NULL, NULL, 0), EVN_USAGE);
    setenv("EVENER_OVERSUBSCRIBE", "0", 1);
    assert_int_equal(evn_open(&s, NULL, NULL, 0), EVN_USAGE);
    setenv("EVENER_OVERSUBSCRIBE", "1", 1);
    setenv("EVENER_UNITS", "2:CPU:40", 1);
    assert_ok(evn_open(&s, NULL, NULL, 0));
    assert_ok(evn_close(s));
}

static void check_schedule(const char *given, const char *variable, int instances,
                           const char *expected) {
    if (variable) setenv("EVENER_SCHEDULE", variable, 1);
    evn_session *s = open_on("2:CPU:1", NULL);
    const evn_problem problem = {.tasks = TASKS, .instances = instances};
    evn_loop *loop;
    assert_ok(evn_open_loop(&loop, s, given, &problem));
    assert_string_equal(evn_schedule_text(evn_loop_schedule(loop)), expected);
    run(loop, 2);
    assert_ok(evn_close(s));
    unsetenv("EVENER_SCHEDULE");
}

TEST_WITH(schedule, clear, NULL) {
    check_schedule(NULL, NULL, 0, "auto");
    check_schedule(NULL, NULL, 10, "auto");
    check_schedule(NULL, NULL, 9, "dynamic:chunk=1,memorize=3");
    check_schedule("default", "default", 1, "dynamic:chunk=1,memorize=3");
    check_schedule(NULL, "static", 1, "static");
    check_schedule("default", "static", 0, "static");
    check_schedule("guided:size", "static", 1, "guided:size");
    check_schedule("guided:size", "nonsense", 0, "guided:size");
}

/* The session fills in what it knows, and leaves alone what the program says. */
TEST_WITH(problem, clear, NULL) {
    evn_session *s = open_on("1:CPU:3,1:CPU:1,1:GPU:2", "emulated");
    const evn_problem *p = evn_schedule_problem(evn_loop_schedule(open_loop(s, NULL, TASKS)));
    assert_int_equal(p->units, 3);
    static const double expected[] = {3, 1, 1}, own[] = {5, 4, 3};
    for (int u = 0; u < 3; u++) assert_true(p->speed[u] == expected[u]);
    evn_problem problem = {.tasks = TASKS, .units = 3, .speed = own};
    evn_loop *loop;
    assert_ok(evn_open_loop(&loop, s, NULL, &problem));
    p = evn_schedule_problem(evn_loop_schedule(loop));
    for (int u = 0; u < 3; u++) assert_true(p->speed[u] == own[u]);
    problem = (evn_problem){.tasks = TASKS, .units = 2};
    assert_int_equal(evn_open_loop(&loop, s, NULL, &problem), EVN_USAGE);
    assert_null(loop);
    assert_says("for 2 units and there are 3");
    assert_ok(evn_close(s));
}

/* Other units in the same session; a loop that is open keeps its units. */
TEST_WITH(units_again, clear, NULL) {
    const evn_problem problem = {.tasks = TASKS};
    const evn_open_options none = {.flags = EVN_OVERSUBSCRIBE | EVN_UNITS_LATER};
    evn_session *s;
    evn_loop *loop;
    evn_schedule *schedule;
    assert_ok(evn_open_with(&s, &none));
    assert_null(evn_session_units(s));
    assert_non_null(evn_session_machine(s));
    assert_fails(evn_open_loop(&loop, s, NULL, &problem), EVN_USAGE,
                 "evn_session_units_open() opens them");
    assert_ok(evn_session_units_close(s));
    setenv("EVENER_UNITS", "5:CPU:1", 1);
    static const char *const lists[] = {"2:CPU:1", NULL, "1:CPU:2,1:GPU:1"}, *const full[] = {
                                                                                 "2:CPU:1",
                                                                                 "5:CPU:1",
                                                                                 "1:CPU:2,1:GPU:1"};
    for (int i = 0; i < 3; i++) {
        assert_ok(
            evn_session_units_open(s, lists[i], i == 2 ? "emulated:1" : NULL, EVN_OVERSUBSCRIBE));
        assert_string_equal(evn_units_text(evn_session_units(s)), full[i]);
        run(loop = open_loop(s, "map", TASKS), 2);
        assert_int_equal(evn_schedule_problem(evn_loop_schedule(loop))->units,
                         evn_units_count(evn_session_units(s)));
        assert_ok(evn_name_loop(s, loop, "the third"));
        assert_fails(evn_session_units_open(s, "1:CPU:1", NULL, 0), EVN_USAGE,
                     "a loop is open, the third;");
        assert_int_equal(evn_session_units_close(s), EVN_USAGE);
        assert_string_equal(evn_units_text(evn_session_units(s)), full[i]);
        assert_ok(evn_close_loop(s, loop));
    }
    open_loop(s, "interval", TASKS);
    assert_fails(evn_session_units_close(s), EVN_USAGE, "without a name under interval");
    assert_ok(evn_close(s));

    s = open_on("2:CPU:1", NULL); /* a list that cannot be leaves none */
    assert_int_equal(evn_session_units_open(s, "2:CPUS:1", NULL, 0), EVN_USAGE);
    assert_null(evn_session_units(s));
    assert_ok(evn_session_units_open(s, "400:CPU:4", NULL, EVN_DESCRIBE_ONLY));
    assert_fails(evn_open_loop(&loop, s, NULL, &problem), EVN_USAGE, "only described");
    assert_ok(evn_session_schedule(&schedule, s, "map", &problem));
    assert_int_equal(evn_schedule_problem(schedule)->units, 400);
    assert_true(evn_schedule_problem(schedule)->speed[399] == 4);
    evn_schedule_close(schedule);
    assert_ok(evn_session_units_close(s));
    assert_ok(evn_close(s));
}

/* Record and trace are of the loops on the units that were opened last. */
TEST_WITH(units_record, clear, NULL) {
    static const char *const trace[] = {"trace.json", "trace.prv"};
    for (int i = 0; i < 2; i++) {
        setenv("EVENER_RECORD", in_folder("record.json"), 1);
        setenv("EVENER_TRACE", in_folder(trace[i]), 1);
        evn_session *s = open_on("5:CPU:1", NULL);
        evn_loop *loop = open_loop(s, "static", 2 * TASKS);
        run(loop, 4);
        assert_ok(evn_close_loop(s, loop));
        assert_ok(evn_session_units_open(s, "2:CPU:1", NULL, EVN_OVERSUBSCRIBE));
        run(loop = open_loop(s, "static", TASKS), 3);
        assert_ok(evn_close(s));
        cJSON *root = read_json(in_folder("record.json"));
        assert_int_equal(cJSON_GetArraySize(get(root, "units")), 2);
        assert_int_equal(cJSON_GetArraySize(get(root, "owner")), TASKS);
        assert_int_equal(cJSON_GetArraySize(get(root, "loops")), 1);
        assert_true(number(root, "steps") == 3);
        cJSON_Delete(root);
        char *text = read_text(in_folder(trace[i]));
        assert_non_null(text);
        if (i) assert_int_equal(!strstr(text, ":1:1:1:5:"), 1); /* no fifth unit */
        free(text);
        s = open_on("2:CPU:1", NULL);
        assert_ok(evn_session_units_close(s));
        assert_fails(evn_close(s), EVN_USAGE, "EVENER_RECORD: nothing is written");
        files(1);
    }
}

/* A schedule of the session's knowledge, which imports a plan before there is a loop. */
TEST_WITH(schedule_before, clear, NULL) {
    evn_session *s = open_on("1:CPU:3,1:CPU:1", NULL);
    evn_schedule *schedule;
    evn_loop *loop;
    const evn_problem problem = {.tasks = 4};
    assert_int_equal(evn_session_schedule(&schedule, s, "nonsense", &problem), EVN_USAGE);
    assert_null(schedule);
    setenv("EVENER_SCHEDULE", "static", 1);
    assert_ok(evn_session_schedule(&schedule, s, NULL, &problem));
    assert_true(evn_schedule_problem(schedule)->speed[0] == 3);
    assert_string_equal(evn_schedule_text(schedule), "static");
    assert_ok(evn_schedule_import(schedule, "static 4 tasks 2 units: 1*1 3*0"));
    assert_ok(evn_open_loop_on(&loop, s, schedule));
    assert_ptr_equal(evn_loop_schedule(loop), schedule);
    assert_int_equal(evn_loop_next(loop, NULL)[0], 1);
    assert_int_equal(evn_loop_next(loop, NULL)[1], 0);
    assert_ok(evn_close_loop(s, loop));
    assert_int_equal(evn_schedule_about(schedule).instance, 0); /* it is still there */
    evn_schedule_close(schedule);
    assert_ok(evn_session_schedule(&schedule, s, "binpack:reassign", &problem));
    assert_fails(evn_open_loop_on(&loop, s, schedule), EVN_USAGE, "before units are opened");
    evn_schedule_close(schedule);
    assert_ok(evn_close(s));
}

/* A machine of the program's: the session leaves it open. */
TEST_WITH(given_machine, clear, NULL) {
    evn_session *s;
    OWN(machine) *machine = OPEN(machine);
    for (int i = 0; i < 2; i++) {
        const evn_open_options options = {"2:CPU:1", NULL, EVN_OVERSUBSCRIBE, NULL, machine};
        assert_ok(evn_open_with(&s, &options));
        assert_ptr_equal(evn_session_machine(s), machine);
        run(open_loop(s, "static", TASKS), 1);
        assert_ok(evn_close(s));
    }
    assert_true(evn_machine_cores(machine) > 0);
}

/* With EVN_NO_ENVIRONMENT no variable is looked at, whatever it says, and "default" is a name. */
TEST_WITH(no_environment, clear, NULL) {
    for (int i = 0; i < 6; i++) setenv(variables[i], "/nowhere/nonsense", 1);
    setenv("EVENER_PROCESSES", "nonsense", 1);
    evn_session *s;
    evn_loop *loop;
    const evn_problem problem = {.tasks = TASKS};
    const unsigned flags = EVN_OVERSUBSCRIBE | EVN_NO_ENVIRONMENT;
    assert_ok(evn_open(&s, "3:CPU:1", "emulated", flags));
    assert_ok(evn_open_loop(&loop, s, NULL, &problem));
    assert_string_equal(evn_schedule_text(evn_loop_schedule(loop)), "auto");
    run(loop, 1);
    assert_ok(evn_close_loop(s, loop));
    assert_ok(evn_session_units_open(s, "2:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    assert_fails(evn_open_loop(&loop, s, "default", &problem), EVN_USAGE,
                 "none called \"default\"");
    assert_ok(evn_close(s));
    assert_int_equal(evn_open(&s, "default", NULL, flags), EVN_USAGE);
    for (int i = 0; i < 6; i++) unsetenv(variables[i]);
    assert_fails(evn_open(&s, "1:CPU:1", NULL, EVN_OVERSUBSCRIBE), EVN_USAGE, "EVENER_PROCESSES");
    unsetenv("EVENER_PROCESSES");
}

/* -- messages -- */

TEST_WITH(messages, clear, NULL) {
    static const struct {
        const char *name, *value;
        evn_status status;
        const char *message;
    } cases[] = {
        {"EVENER_UNITS", "4:CPUS:4", EVN_USAGE,
         "EVENER_UNITS: units: \"4:CPUS:4\" at column 3: unknown family \"CPUS\""},
        {"EVENER_DEVICES", "nothing", EVN_USAGE, "EVENER_DEVICES: "},
        {"EVENER_OVERSUBSCRIBE", "yes", EVN_USAGE,
         "EVENER_OVERSUBSCRIBE: \"yes\", expected 1 or 0"},
        {"EVENER_RECORD", "/nowhere/record.json", EVN_SYSTEM,
         "EVENER_RECORD: /nowhere/record.json cannot be written: No such file"},
        {"EVENER_RECORD", "/tmp", EVN_SYSTEM, "EVENER_RECORD: /tmp cannot be written: Is a dir"},
        {"EVENER_RECORD", "/dev/null/x", EVN_SYSTEM,
         "EVENER_RECORD: /dev/null/x cannot be written"},
        {"EVENER_TRACE", "/nowhere/trace.json", EVN_SYSTEM, "EVENER_TRACE: /nowhere/trace.json "},
        {"EVENER_TRACE", "-", EVN_USAGE, "EVENER_TRACE: -: "},
        {"EVENER_TRACE", "/nowhere/a.prv", EVN_SYSTEM, "EVENER_TRACE: /nowhere/a.prv "},
    };
    evn_session *s;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv(cases[i].name, cases[i].value, 1);
        assert_int_equal(evn_open(&s, NULL, NULL, 0), cases[i].status);
        assert_null(s);
        if (strncmp(evn_message(), cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s", evn_message());
        unsetenv(cases[i].name);
    }
    /* what the program gives is not the variable's fault */
    setenv("EVENER_UNITS", "2:CPU:1", 1);
    assert_int_equal(evn_open(&s, "4:CPUS:4", NULL, 0), EVN_USAGE);
    assert_memory_equal(evn_message(), "units: ", 7);
    setenv("EVENER_DEVICES", "emulated:1", 1);
    assert_int_equal(evn_open(&s, "3:GPU:1", NULL, 0), EVN_MISSING);
    assert_memory_equal(evn_message(), "EVENER_DEVICES: units: ", 23);
}

TEST_WITH(schedule_messages, clear, NULL) {
    evn_session *s = open_on("2:CPU:1", NULL);
    evn_problem problem = {.tasks = TASKS};
    evn_loop *loop;
    setenv("EVENER_SCHEDULE", "guided", 1);
    assert_int_equal(evn_open_loop(&loop, s, NULL, &problem), EVN_USAGE);
    assert_memory_equal(evn_message(), "EVENER_SCHEDULE: schedule: guided needs", 39);
    problem.tasks = 0;
    setenv("EVENER_SCHEDULE", "map", 1);
    assert_int_equal(evn_open_loop(&loop, s, NULL, &problem), EVN_USAGE);
    assert_memory_equal(evn_message(), "schedule: 0 tasks", 17);
    assert_ok(evn_close(s));
}

/* -- the record -- */

/* What a loop says of itself, to be compared with the record after it was closed. */
struct said {
    evn_unit_stats unit[8];
    evn_loop_totals totals;
    int owner[64], tasks;
    double seconds[64];
};

static struct said ask(const evn_loop *loop) {
    struct said x = {.totals = evn_loop_sum(loop)};
    x.tasks = evn_schedule_problem(evn_loop_schedule(loop))->tasks;
    for (int u = 0; u < evn_units_count(evn_loop_about(loop).units); u++)
        x.unit[u] = evn_loop_stats(loop, u);
    memcpy(x.owner, evn_loop_owner(loop), (size_t)x.tasks * sizeof(int));
    memcpy(x.seconds, evn_loop_seconds(loop), (size_t)x.tasks * sizeof(double));
    return x;
}

static void check_sums(const cJSON *o, const struct said *x, int units) {
    assert_true(number(o, "seconds") == x->totals.compute_s + x->totals.exchange_s);
    assert_true(number(o, "steps") == (double)x->totals.instances);
    assert_true(number(get(o, "periods"), "compute_s") == x->totals.compute_s);
    assert_true(number(get(o, "periods"), "communication_s") == x->totals.exchange_s);
    assert_true(number(get(o, "transfers"), "migrations") == (double)x->totals.migrations);
    assert_true(number(get(o, "transfers"), "messages") == (double)x->totals.messages);
    assert_true(number(get(o, "transfers"), "bytes") == x->totals.bytes);
    assert_int_equal(cJSON_GetArraySize(get(o, "units")), units);
    double longest = 0, shortest = INFINITY;
    for (int u = 0; u < units; u++) {
        const cJSON *unit = cJSON_GetArrayItem(get(o, "units"), u);
        int tasks = 0;
        for (int t = 0; t < x->tasks; t++) tasks += x->owner[t] == u;
        assert_true(number(unit, "id") == u);
        assert_true(number(unit, "tasks") == tasks);
        assert_true(number(unit, "weight") == tasks);
        assert_true(number(unit, "compute_s") == x->unit[u].compute_s);
        assert_true(number(unit, "exchange_s") == x->unit[u].exchange_s);
        assert_true(number(unit, "idle_s") == fmax(0, x->unit[u].idle_s));
        assert_true(number(unit, "bytes_in") == x->unit[u].bytes_in);
        longest = fmax(longest, x->unit[u].compute_s);
        shortest = fmin(shortest, x->unit[u].compute_s);
    }
    assert_true(fabs(number(o, "imbalance") - longest / shortest) < 1e-12 * longest / shortest);
}

/* The bursts of the last two steps: each task computed once in each, none before another began. */
static void check_bursts(const cJSON *list, int last, int tasks, int each) {
    int computed[2] = {0, 0};
    const cJSON *b;
    cJSON_ArrayForEach(b, list) {
        const int step = (int)number(b, "step");
        assert_in_range(step, last - 1, last);
        assert_true(number(b, "begin") >= 0 && number(b, "end") >= number(b, "begin"));
        assert_in_range((int)number(b, "task"), 0, tasks - 1);
        if (!strcmp(text(b, "kind"), "compute"))
            computed[step - last + 1] += (int)number(b, "count");
    }
    assert_int_equal(computed[0], each);
    assert_int_equal(computed[1], each);
}

TEST_WITH(record, clear, NULL) {
    const char *path = in_folder("record.json");
    setenv("EVENER_RECORD", path, 1);
    evn_session *s = open_on("2:CPU:1", NULL);
    evn_loop *loop = open_loop(s, "static", TASKS);
    run(loop, 7);
    const struct said x = ask(loop);
    assert_int_equal(files(0), 0); /* nothing has a name before it is whole */
    assert_ok(evn_close(s));
    cJSON *root = read_json(path);
    assert_string_equal(text(root, "evener"), EVN_VERSION);
    assert_string_equal(text(root, "app"), "test-open");
    assert_true(cJSON_IsNull(get(root, "class")) && cJSON_IsNull(get(root, "verified")));
    assert_string_equal(text(root, "schedule"), "static");
    assert_non_null(strstr(text(root, "command"), "test-open"));
    assert_true(number(get(root, "machine"), "cores") >= 1);
    check_sums(root, &x, 2);
    check_bursts(get(root, "bursts"), 6, TASKS, TASKS);
    const cJSON *unit = cJSON_GetArrayItem(get(root, "units"), 1);
    assert_string_equal(text(unit, "kind"), "cpu");
    assert_true(cJSON_IsNull(get(unit, "device")));
    for (int t = 0; t < TASKS; t++) {
        const double seconds = cJSON_GetArrayItem(get(root, "task_s"), t)->valuedouble;
        assert_true(cJSON_GetArrayItem(get(root, "owner"), t)->valueint == x.owner[t]);
        assert_true(seconds > 0 && seconds < x.totals.compute_s);
    }
    assert_int_equal(cJSON_GetArraySize(get(root, "loops")), 1);
    check_sums(cJSON_GetArrayItem(get(root, "loops"), 0), &x, 2);
    cJSON_Delete(root);
    files(1);
}

/* A time that was disturbed once is not the record's. */
static evn_status disturbed(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;) usleep(t == 3 && arg ? 200000 : 1000);
    return EVN_OK;
}

TEST_WITH(record_median, clear, NULL) {
    setenv("EVENER_RECORD", in_folder("record.json"), 1);
    evn_session *s = open_on("2:CPU:1", NULL);
    evn_loop *loop = open_loop(s, "static", TASKS);
    for (int i = 0; i < 5; i++) evn_loop_run(loop, disturbed, NULL);
    evn_loop_run(loop, disturbed, &s);
    const struct said x = ask(loop);
    assert_true(x.seconds[3] >= 0.2);
    assert_ok(evn_close(s));
    cJSON *root = read_json(in_folder("record.json"));
    const double seconds = cJSON_GetArrayItem(get(root, "task_s"), 3)->valuedouble;
    assert_true(seconds >= 0.001 && seconds < 0.2);
    cJSON_Delete(root);
    files(1);
}

TEST_WITH(nothing_run, clear, NULL) {
    for (int loops = 0; loops < 2; loops++) {
        setenv("EVENER_RECORD", in_folder("record.json"), 1);
        setenv("EVENER_TRACE", in_folder("trace.json"), 1);
        evn_session *s = open_on("2:CPU:1", NULL);
        if (loops) open_loop(s, NULL, TASKS);
        assert_ok(evn_close(s));
        cJSON *root = read_json(in_folder("record.json"));
        assert_true(number(root, "steps") == 0 && number(root, "seconds") == 0);
        assert_int_equal(cJSON_GetArraySize(get(root, "owner")), loops * TASKS);
        assert_int_equal(cJSON_GetArraySize(get(root, "bursts")), 0);
        cJSON_Delete(root);
        cJSON_Delete(read_json(in_folder("trace.json")));
        files(1);
    }
}

static int slices(const cJSON *trace, int pid) {
    const cJSON *e;
    int n = 0;
    cJSON_ArrayForEach(e, get(trace, "traceEvents")) n +=
        !strcmp(text(e, "ph"), "X") && number(e, "pid") == pid;
    return n;
}

/* Three loops, of which one is closed early: sums at the top, each by itself below, tasks numbered
 * through, and the steps are those of the loop that took longest. */
TEST_WITH(several_loops, clear, NULL) {
    setenv("EVENER_RECORD", in_folder("record.json"), 1);
    setenv("EVENER_TRACE", in_folder("trace.json"), 1);
    evn_session *s = open_on("2:CPU:1", NULL);
    evn_loop *first = open_loop(s, "static", 5), *large = open_loop(s, "static", 40),
             *small = open_loop(s, "dynamic:memorize=0", 3);
    struct said x[3];
    run(first, 9);
    x[0] = ask(first);
    assert_ok(evn_close_loop(s, first));
    for (int i = 0; i < 6; i++) {
        run(large, 1);
        run(small, 2);
    }
    x[1] = ask(large);
    x[2] = ask(small);
    assert_ok(evn_close(s));
    cJSON *root = read_json(in_folder("record.json"));
    struct said sum = {.tasks = 0};
    for (int i = 0; i < 3; i++) {
        const cJSON *o = cJSON_GetArrayItem(get(root, "loops"), i);
        assert_true(number(o, "first") == sum.tasks);
        assert_true(number(o, "tasks") == x[i].tasks);
        check_sums(o, &x[i], 2);
        for (int t = 0; t < x[i].tasks; t++) {
            assert_true(cJSON_GetArrayItem(get(root, "owner"), sum.tasks)->valueint ==
                        x[i].owner[t]);
            sum.owner[sum.tasks++] = x[i].owner[t];
        }
        for (int u = 0; u < 2; u++) {
            sum.unit[u].compute_s += x[i].unit[u].compute_s;
            sum.unit[u].exchange_s += x[i].unit[u].exchange_s;
            sum.unit[u].idle_s += x[i].unit[u].idle_s;
        }
        sum.totals.migrations += x[i].totals.migrations;
    }
    assert_true(number(root, "steps") == 6);
    assert_string_equal(text(root, "schedule"), "static");
    assert_int_equal(cJSON_GetArraySize(get(root, "owner")), 48);
    assert_int_equal(cJSON_GetArraySize(get(root, "task_s")), 48);
    for (int u = 0; u < 2; u++) {
        const cJSON *unit = cJSON_GetArrayItem(get(root, "units"), u);
        assert_true(fabs(number(unit, "compute_s") - sum.unit[u].compute_s) < 1e-12);
        assert_true(fabs(number(unit, "idle_s") - sum.unit[u].idle_s) < 1e-12);
    }
    assert_true(number(get(root, "transfers"), "migrations") == (double)sum.totals.migrations);
    /* in each step the large loop once and the small one twice; the first one was over before */
    check_bursts(get(root, "bursts"), 5, 48, 40 + 2 * 3);
    const cJSON *b;
    cJSON_ArrayForEach(b, get(root, "bursts")) assert_true(number(b, "task") >= 5);
    cJSON_Delete(root);
    root = read_json(in_folder("trace.json"));
    assert_int_equal(slices(root, 1), 2 * 9 * 5);
    assert_int_equal(slices(root, 2), 2 * 6 * 40);
    assert_int_equal(slices(root, 3), 2 * 12 * 3);
    cJSON_Delete(root);
    files(1);
}

/* -- files; what holds for every output is test_output.c's -- */

TEST_WITH(same_file, clear, NULL) {
    char other[160];
    snprintf(other, sizeof other, "%s/./both.json", folder);
    setenv("EVENER_RECORD", in_folder("both.json"), 1);
    setenv("EVENER_TRACE", other, 1);
    evn_session *s;
    assert_fails(evn_open(&s, "1:CPU:1", NULL, 0), EVN_USAGE, "is EVENER_RECORD's");
    assert_int_equal(files(0), 0);
}

/* A program that is killed, or ends without closing, leaves nothing. */
TEST_WITH(unfinished, clear, NULL) {
    setenv("EVENER_RECORD", in_folder("record.json"), 1);
    setenv("EVENER_TRACE", in_folder("trace.json"), 1);
    pid_t child = fork();
    if (!child) {
        execl("/proc/self/exe", "test-open", "leave", (char *)NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(files(0), 0);
}

/* A process that was forked since gives the session back, and the files are as if there was none;
 * also where it writes what streams still have. */
TEST_WITH(forked, clear, NULL) {
    setenv("EVENER_RECORD", in_folder("record.json"), 1);
    setenv("EVENER_TRACE", in_folder("trace.json"), 1);
    evn_session *s;
    evn_loop *loop, *closed;
    const evn_problem problem = {.tasks = TASKS};
    assert_ok(evn_open(&s, "2:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    assert_ok(evn_open_loop(&closed, s, "static", &problem));
    assert_ok(evn_loop_run(closed, touch, NULL));
    assert_ok(evn_close_loop(s, closed));
    assert_ok(evn_open_loop(&loop, s, "static", &problem));
    assert_ok(evn_loop_run(loop, touch, NULL));
    for (int closes = 0; closes < 2; closes++) {
        fflush(stdout);
        const pid_t child = fork();
        if (!child) { /* as exit(), but for the sanitizer's look at what a child leaves */
            const int code = closes ? (int)evn_close(s) : 0;
            fflush(NULL);
            _exit(code);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(files(0), 0);
    }
    assert_ok(evn_loop_run(loop, touch, NULL));
    assert_ok(evn_close(s));
    cJSON *root = read_json(in_folder("record.json"));
    assert_int_equal(cJSON_GetArraySize(get(root, "loops")), 2);
    cJSON_Delete(root);
    cJSON_Delete(read_json(in_folder("trace.json")));
    assert_int_equal(files(0), 2);
    files(1);
    unsetenv("EVENER_RECORD");
    unsetenv("EVENER_TRACE");
}

static int leave(void) {
    evn_session *s;
    evn_loop *loop;
    const evn_problem problem = {.tasks = TASKS};
    if (evn_open(&s, "1:CPU:1", NULL, 0) || evn_open_loop(&loop, s, NULL, &problem)) return 2;
    if (evn_loop_run(loop, touch, NULL) || evn_close_loop(s, loop)) return 3;
    _exit(0);
}

/* Every call of a session by a thread that has not opened it is refused, and changes nothing. */
static evn_session *of_main;
static evn_loop *loop_of_main;

static void *call_all(void *place) {
    static const int region[TASKS];
    static const evn_access access = EVN_BOTH;
    const evn_problem problem = {.tasks = TASKS};
    evn_loop *other = NULL;
    const evn_status status[] = {
        evn_open_loop(&other, of_main, "dynamic", &problem),
        evn_session_place(of_main, loop_of_main, place, 1, region, &access),
        evn_session_collect(of_main, loop_of_main),
        evn_close_loop(of_main, loop_of_main),
        evn_close(of_main),
    };
    int refused = other == NULL;
    for (size_t i = 0; i < sizeof status / sizeof *status; i++)
        refused += status[i] == EVN_USAGE && strstr(evn_message(), "by another thread") != NULL;
    return (void *)(intptr_t)refused;
}

static void *close_it(void *arg) {
    (void)arg;
    return (void *)(intptr_t)evn_close(of_main);
}

static void *in_thread(void *(*function)(void *), void *arg) {
    pthread_t thread;
    void *result = NULL;
    assert_int_equal(pthread_create(&thread, NULL, function, arg), 0);
    pthread_join(thread, &result);
    return result;
}

TEST_WITH(other_thread, clear, NULL) {
    const evn_problem problem = {.tasks = TASKS};
    assert_ok(evn_open(&of_main, "2:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    assert_ok(evn_open_loop(&loop_of_main, of_main, "static", &problem));
    evn_place *place = OPEN(place, evn_session_units(of_main), 0.5);
    assert_int_equal((intptr_t)in_thread(call_all, place), 6);
    assert_ok(evn_loop_run(loop_of_main, touch, NULL));
    evn_place_close(place);
    assert_ok(evn_close(of_main));
    assert_ok(evn_open(&of_main, "1:CPU:1", NULL, EVN_OVERSUBSCRIBE | EVN_ANY_CLOSES));
    assert_int_equal((intptr_t)in_thread(close_it, NULL), EVN_OK);
}

/* A loop that is opened anew counts the regions that its first instance brings from where the
 * former loop left them. */
TEST_WITH(opened_anew, clear, NULL) {
    static double memory[4][8];
    const evn_access both = EVN_BOTH;
    int region[4], turned[4];
    setenv("EVENER_RECORD", in_folder("record.json"), 1);
    evn_session *s = open_on("2:GPU:1", "emulated:2");
    evn_place *place = OPEN(place, evn_session_units(s), 0.5);
    for (int i = 0; i < 4; i++)
        assert_ok(evn_place_add(place, memory[i], sizeof *memory, &region[i]));
    for (int i = 0; i < 4; i++) turned[i] = region[i == 0 ? 3 : i == 3 ? 0 : i];
    for (int l = 0; l < 2; l++) { /* tasks 0 and 3 have changed their units in the second */
        evn_loop *loop = open_loop(s, "static", 4);
        assert_ok(evn_session_place(s, loop, place, 1, l ? turned : region, &both));
        for (int i = 0; i < 3; i++) assert_ok(evn_loop_run(loop, touch, NULL));
        assert_ok(evn_close_loop(s, loop));
    }
    evn_place_close(place);
    assert_ok(evn_close(s));
    cJSON *root = read_json(in_folder("record.json"));
    for (int l = 0; l < 2; l++) {
        const cJSON *t = get(cJSON_GetArrayItem(get(root, "loops"), l), "transfers");
        const int moved = l ? 2 : 4; /* from the host at first, then from device to device */
        assert_true(number(t, "migrations") == 0);
        assert_true(number(t, "moved_regions") == moved);
        assert_true(number(t, "moved_bytes") == moved * (double)sizeof *memory);
    }
    cJSON_Delete(root);
}

/* After a change of tasks the present ones are collected: one kept, two born on a device. */
TEST_WITH(collect_changed, clear, NULL) {
    static double memory[4];
    const evn_access both = EVN_BOTH;
    int region[4];
    evn_session *s = open_on("1:GPU:1", "emulated");
    evn_loop *loop = open_loop(s, "static", 2);
    evn_place *place = OPEN(place, evn_session_units(s), 0.5);
    for (int i = 0; i < 4; i++)
        assert_ok(evn_place_add(place, &memory[i], sizeof *memory, &region[i]));
    assert_ok(evn_session_place(s, loop, place, 1, region, &both));
    const int first[] = {0, 1, 2, 3}, from[] = {0, 1, 1}, born[] = {-1, region[2], region[3]};
    const char kept[] = {1, 0, 0};
    const evn_change change = {
        .tasks = 3, .first = first, .from = from, .kept = kept, .region = born};
    assert_ok(evn_loop_change(loop, &change));
    assert_ok(evn_loop_run(loop, touch, NULL));
    for (int i = 0; i < 4; i++)
        assert_int_equal(evn_place_valid(place, region[i], EVN_HOST), i == 1);
    assert_ok(evn_session_collect(s, loop));
    for (int i = 0; i < 4; i++) assert_true(evn_place_valid(place, region[i], EVN_HOST));
    assert_ok(evn_close_loop(s, loop));
    evn_place_close(place);
    assert_ok(evn_close(s));
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "leave")) return leave();
    return run_all_tests(set_up, tear_down);
}
