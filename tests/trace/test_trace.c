/* Traces: what is written is Chrome's Trace Event Format, and says what happened: every slice,
 * every migration, the bytes of every exchange. Run: ctest -R trace */
#include "machine_of_test.h"
#include <cjson/cJSON.h>
#include <evener/trace.h>
#include <math.h>

#include "trace/chrome.h"
#include "trace/gathered.h"
#include "trace/json.h"

enum { TASKS = 12, UNITS = 3, LINK_BYTES = 100 };

/* A loop over a ring of tasks, and what its bodies saw. */
struct fixture {
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    int whole;         /* bodies take their batch as a whole */
    int visiting;      /* the body runs in a visit */
    int where[TASKS];  /* unit of each task, as the body saw it last; -1 */
    int moved[UNITS];  /* tasks that a unit met for the first time after another had them */
    int slices[UNITS]; /* that there must be */
};

static void open_fixture(struct fixture *f, const char *list, const char *spec) {
    *f = (struct fixture){0};
    evn_link link[TASKS];
    for (int t = 0; t < TASKS; t++) {
        link[t] = (evn_link){{t, (t + 1) % TASKS}, LINK_BYTES};
        f->where[t] = -1;
    }
    assert_ok(evn_units_open(&f->units, machine, list, NULL, EVN_OVERSUBSCRIBE));
    evn_problem p = {
        .tasks = TASKS, .units = evn_units_count(f->units), .links = TASKS, .link = link};
    assert_ok(evn_schedule_open(&f->schedule, spec, &p));
    assert_ok(evn_loop_open(&f->loop, f->units, f->schedule));
}

static void close_fixture(struct fixture *f) {
    evn_loop_close(f->loop);
    evn_schedule_close(f->schedule);
    evn_units_close(f->units);
}

/* Only one unit has a task at a time, and each unit counts in a place of its own. */
static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    struct fixture *f = arg;
    const int me = evn_unit_number(unit);
    if (f->whole) {
        f->slices[me]++;
        return EVN_OK;
    }
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        f->moved[me] += f->where[t] >= 0 && f->where[t] != me;
        f->where[t] = me;
        f->slices[me]++;
    }
    return EVN_OK;
}

static void run(struct fixture *f, int steps) {
    for (int i = 0; i < steps; i++) {
        assert_ok(evn_loop_visit(f->loop, body, f));
        assert_ok(evn_loop_run(f->loop, body, f));
    }
}

/* The trace as JSON; its list of events in *events. */
static cJSON *trace(const struct fixture *f, const char *noun, const cJSON **events) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_ok(evn_trace_put(&(evn_trace){.loop = f->loop}, noun, out));
    fclose(out);
    cJSON *root = cJSON_ParseWithOpts(text, NULL, 1);
    free(text);
    assert_true(cJSON_IsObject(root));
    *events = cJSON_GetObjectItemCaseSensitive(root, "traceEvents");
    assert_true(cJSON_IsArray(*events));
    assert_string_equal(
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "displayTimeUnit")), "ms");
    return root;
}

static const char *text_of(const cJSON *e, const char *key) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(e, key));
    assert_non_null(text);
    return text;
}

static double number_of(const cJSON *e, const char *key) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(e, key);
    assert_true(cJSON_IsNumber(v));
    return v->valuedouble;
}

static int is(const cJSON *e, const char *phase) { return !strcmp(text_of(e, "ph"), phase); }

/* A slice of `track` that `when` lies in (begins at, if `at_begin`). */
static const cJSON *slice_at(const cJSON *events, int track, double when, int at_begin) {
    const cJSON *e;
    cJSON_ArrayForEach(e, events) {
        if (!is(e, "X") || number_of(e, "tid") != track) continue;
        double begin = number_of(e, "ts"), end = begin + number_of(e, "dur");
        if (at_begin ? begin == when : begin <= when && when <= end) return e;
    }
    return NULL;
}

/* What must hold for each event by itself. */
static void check_format(const cJSON *events, int units) {
    static const char *const phases[] = {"M", "X", "s", "f", "C"};
    const cJSON *e;
    cJSON_ArrayForEach(e, events) {
        int known = 0;
        for (int p = 0; p < 5; p++) known |= is(e, phases[p]);
        assert_true(known);
        assert_int_equal(number_of(e, "pid"), 1);
        assert_true(*text_of(e, "name"));
        if (is(e, "M")) continue;
        assert_true(number_of(e, "ts") >= 0);
        if (is(e, "C")) {
            const cJSON *args = cJSON_GetObjectItemCaseSensitive(e, "args");
            assert_int_equal(cJSON_GetArraySize(args), 1);
            assert_true(cJSON_IsNumber(args->child) && args->child->valuedouble >= 0);
            continue;
        }
        assert_in_range((int)number_of(e, "tid"), 0, units - 1);
        assert_true(*text_of(e, "cat"));
        if (is(e, "X")) {
            assert_true(number_of(e, "dur") >= 0);
            number_of(cJSON_GetObjectItemCaseSensitive(e, "args"), "instance");
        }
    }
}

/* Slices of each unit: as many as there were, none over another. */
static void check_slices(const struct fixture *f, const cJSON *events) {
    const cJSON *e;
    for (int u = 0; u < evn_units_count(f->units); u++) {
        int slices = 0, names = 0;
        double end = 0; /* they are written in the order of time */
        cJSON_ArrayForEach(e, events) {
            names += !strcmp(text_of(e, "name"), "thread_name") && number_of(e, "tid") == u;
            if (!is(e, "X") || number_of(e, "tid") != u) continue;
            slices++;
            assert_true(number_of(e, "ts") >= end - 2e-3); /* written to the nanosecond */
            end = number_of(e, "ts") + number_of(e, "dur");
        }
        assert_int_equal(slices, f->slices[u]);
        assert_int_equal(names, 1);
    }
}

/* Each arrow from the slice of a task to a slice of the same task on another track; returns how
 * many there are. */
static int check_flows(const cJSON *events) {
    const cJSON *s, *e;
    int starts = 0, ends = 0;
    cJSON_ArrayForEach(e, events) ends += is(e, "f");
    cJSON_ArrayForEach(s, events) {
        if (!is(s, "s")) continue;
        starts++;
        int found = 0;
        cJSON_ArrayForEach(e, events) {
            if (!is(e, "f") || number_of(e, "id") != number_of(s, "id")) continue;
            found++;
            assert_int_not_equal(number_of(s, "tid"), number_of(e, "tid"));
            assert_true(number_of(s, "ts") <= number_of(e, "ts") + 2e-3);
            assert_non_null(slice_at(events, (int)number_of(s, "tid"), number_of(s, "ts"), 0));
            assert_non_null(slice_at(events, (int)number_of(e, "tid"), number_of(e, "ts"), 1));
        }
        assert_int_equal(found, 1);
    }
    assert_int_equal(starts, ends);
    return starts;
}

/* The values of a counter, in order; returns how many. Time does not go
 * back between them; where changes must lie `apart`, it goes on. */
static int counter(const cJSON *events, const char *name, int apart, double *value, int max) {
    const cJSON *e;
    int n = 0;
    double since = -1;
    cJSON_ArrayForEach(e, events) {
        if (!is(e, "C") || strcmp(text_of(e, "name"), name) != 0) continue;
        assert_true(n < max);
        assert_true(apart ? number_of(e, "ts") > since : number_of(e, "ts") >= since);
        since = number_of(e, "ts");
        value[n++] = cJSON_GetObjectItemCaseSensitive(e, "args")->child->valuedouble;
    }
    return n;
}

TEST(every_schedule) {
    static const char *const specs[] = {"static", "dynamic:chunk=1,memorize=0",
                                        "dynamic:chunk=5,memorize=2", "guided:time", "map"};
    for (int s = 0; s < 5; s++)
        for (int whole = 0; whole < 2; whole++) {
            ENDS(close_fixture) struct fixture f;
            open_fixture(&f, "3:CPU:1", specs[s]);
            f.whole = whole;
            run(&f, 7);
            const cJSON *events;
            cJSON *root = trace(&f, "zone", &events);
            check_format(events, UNITS);
            check_slices(&f, events);
            int flows = check_flows(events);
            if (!whole) assert_int_equal(flows, f.moved[0] + f.moved[1] + f.moved[2]);
            double busy[32 * TASKS];
            int n = counter(events, "units at work", 0, busy, 32 * TASKS);
            assert_int_equal(n, 2 * (f.slices[0] + f.slices[1] + f.slices[2]));
            for (int i = 0; i < n; i++) assert_in_range((int)busy[i], 0, UNITS);
            assert_int_equal((int)busy[n - 1], 0);
            cJSON_Delete(root);
        }
}

/* A ring of twelve cut in three: three links are cut, both ways. */
TEST(bytes) {
    static const struct assignment {
        const char *plan;
        int whole;
        double bytes; /* of an exchange; -1: cannot be told */
    } cases[] = {
        {"static 12 tasks 3 units: 4*0 4*1 4*2", 0, 6 * LINK_BYTES},
        {"static 12 tasks 3 units: 4*0 4*1 4*2", 1, 6 * LINK_BYTES},
        {"static 12 tasks 3 units: 5*2 6*0 1*1", 1, 6 * LINK_BYTES},
        {"static 12 tasks 3 units: 1*0 1*1 1*0 1*1 1*0 1*1 6*2", 0, 14 * LINK_BYTES},
        {"static 12 tasks 3 units: 1*0 1*1 1*0 1*1 1*0 1*1 6*2", 1, -1},
        {"static 12 tasks 3 units: 12*1", 1, 0},
    };
    for (int c = 0; c < 6; c++) {
        ENDS(close_fixture) struct fixture f;
        open_fixture(&f, "3:CPU:1", "static");
        assert_ok(evn_schedule_import(f.schedule, cases[c].plan));
        assert_ok(evn_loop_run(f.loop, body, &f)); /* owners are those of the plan */
        assert_ok(evn_loop_keep_bursts(f.loop, 1000));
        memset(f.slices, 0, sizeof f.slices);
        f.whole = cases[c].whole;
        run(&f, 4);
        const cJSON *events;
        cJSON *root = trace(&f, "zone", &events);
        check_slices(&f, events);
        double bytes[64];
        int n = counter(events, "bytes between units", 1, bytes, 64);
        assert_int_equal(n, cases[c].bytes < 0 ? 0 : 8);
        for (int i = 0; i < n; i++) /* up when an exchange begins, down when it ends */
            assert_int_equal((int)bytes[i], i % 2 ? 0 : (int)cases[c].bytes);
        cJSON_Delete(root);
    }
}

/* Batches that bodies take as a whole: where they are of consecutive tasks, it is known who moved.
 */
TEST(batches_migrate) {
    static const struct {
        const char *plan;
        int flows;
    } cases[] = {{"static 12 tasks 3 units: 4*0 4*1 4*2", 0},
                 {"static 12 tasks 3 units: 5*0 2*1 5*2", 2},
                 {"static 12 tasks 3 units: 4*2 4*1 4*0", 8},
                 {"static 12 tasks 3 units: 4*0 4*1 3*2 1*0", 0}}; /* 0 .. 3 and 11: not known */
    for (int c = 0; c < 4; c++) {
        ENDS(close_fixture) struct fixture f;
        open_fixture(&f, "3:CPU:1", "static");
        f.whole = 1;
        assert_ok(evn_loop_run(f.loop, body, &f));
        assert_ok(evn_schedule_import(f.schedule, cases[c].plan));
        assert_ok(evn_loop_run(f.loop, body, &f));
        const cJSON *events;
        cJSON *root = trace(&f, "zone", &events);
        check_slices(&f, events);
        assert_int_equal(check_flows(events), cases[c].flows);
        cJSON_Delete(root);
    }
}

TEST(names) {
    ENDS(close_fixture) struct fixture f;
    open_fixture(&f, "1:CPU:1,1:CPU:2", "static");
    run(&f, 1);
    f.whole = 1;
    run(&f, 1);
    const cJSON *events, *e;
    cJSON *root = trace(&f, "a \"zone\" \\ \n", &events);
    check_slices(&f, events);
    int single = 0, batch = 0, tracks = 0;
    cJSON_ArrayForEach(e, events) {
        single += !strcmp(text_of(e, "name"), "a \"zone\" \\ \n 7");
        batch += !strcmp(text_of(e, "name"), "6 a \"zone\" \\ \ns from 6");
        if (strcmp(text_of(e, "name"), "thread_name") != 0) continue;
        const char *track = text_of(cJSON_GetObjectItemCaseSensitive(e, "args"), "name");
        assert_string_equal(track, tracks ? "unit 1 (CPU, 2 cores)" : "unit 0 (CPU, 1 core)");
        tracks++;
    }
    assert_int_equal(single, 2);
    assert_int_equal(batch, 2);
    assert_int_equal(tracks, 2);
    cJSON_Delete(root);
}

/* Only the latest bursts are kept: the trace begins somewhere in the middle, and is still one. */
TEST(few_bursts) {
    for (int keep = 1; keep < 12; keep++) {
        ENDS(close_fixture) struct fixture f;
        open_fixture(&f, "3:CPU:1", "dynamic:chunk=2,memorize=0");
        assert_ok(evn_loop_keep_bursts(f.loop, keep));
        run(&f, 5);
        for (int u = 0; u < UNITS; u++)
            if (f.slices[u] > keep) f.slices[u] = keep;
        const cJSON *events;
        cJSON *root = trace(&f, "zone", &events);
        check_format(events, UNITS);
        check_slices(&f, events);
        check_flows(events);
        cJSON_Delete(root);
    }
}

/* Two loops in one trace: a process each, the second one later, no number of an arrow twice. */
TEST(two_loops) {
    struct fixture f[2];
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct trace_file file;
    trace_begin(&file, out, "two \"loops\"");
    for (int i = 0; i < 2; i++) {
        open_fixture(&f[i], "3:CPU:1", "static");
        run(&f[i], 1);
        assert_ok(evn_schedule_import(f[i].schedule, "static 12 tasks 3 units: 4*2 4*1 4*0"));
        run(&f[i], 1);
        assert_int_equal(trace_add(&file, f[i].loop, "task", i ? "second" : "first", 1000.0 * i),
                         EVN_OK);
    }
    trace_end(&file);
    fclose(out);
    cJSON *root = cJSON_ParseWithOpts(text, NULL, 1);
    assert_non_null(root);
    free(text);
    const cJSON *events = cJSON_GetObjectItemCaseSensitive(root, "traceEvents"), *e;
    int slices[2] = {0, 0}, flows = 0, seen[64] = {0};
    cJSON_ArrayForEach(e, events) {
        const int i = (int)number_of(e, "pid") - 1;
        assert_in_range(i, 0, 1);
        if (is(e, "M")) continue;
        assert_true(i ? number_of(e, "ts") >= 1e9 : number_of(e, "ts") < 1e9);
        slices[i] += is(e, "X");
        if (!is(e, "s")) continue;
        flows++;
        assert_in_range((int)number_of(e, "id"), 0, 63);
        assert_int_equal(seen[(int)number_of(e, "id")]++, 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(slices[i], f[i].slices[0] + f[i].slices[1] + f[i].slices[2]);
        close_fixture(&f[i]);
    }
    assert_int_equal(flows, 2 * 8);
    cJSON_Delete(root);
}

/* What JSON makes of a text or number, read back by cJSON. */
static cJSON *json_of(const char *text, double number) {
    HEAP char *written = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&written, &size);
    fputc('[', out);
    json_text(out, text);
    fputc(',', out);
    json_number(out, number);
    fputc(',', out);
    json_fixed(out, number, 3);
    fputc(']', out);
    fclose(out);
    cJSON *list = cJSON_ParseWithOpts(written, NULL, 1);
    assert_non_null(list);
    for (const char *p = written; *p; p++) assert_false((unsigned char)*p < ' ');
    return list;
}

TEST(json) {
#define BAD "\xef\xbf\xbd" /* U+FFFD */
    static const char *const text[][2] = {
        {"plain", "plain"},
        {"a \"quote\", a \\, a\ttab, an escape \033[1m and \177",
         "a \"quote\", a \\, a\ttab, an escape \033[1m and \177"},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8e", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8e"},
        {"\xe9", BAD},                                      /* latin 1 */
        {"\xe2\x82", BAD BAD},                              /* cut off */
        {"\xc0\xaf!\xe0\x80\xaf", BAD BAD "!" BAD BAD BAD}, /* overlong */
        {"\xed\xa0\x80", BAD BAD BAD},                      /* a surrogate */
        {"\xf4\x90\x80\x80", BAD BAD BAD BAD},              /* above U+10FFFF */
    };
    static const double number[] = {
        0, 0.1, -1.0 / 3, 1e-300, 1.7976931348623157e308, 71060, 5e-324, 123456789012345678.0};
    for (int i = 0; i < 8; i++) {
        cJSON *list = json_of(text[i][0], number[i]);
        assert_string_equal(cJSON_GetStringValue(cJSON_GetArrayItem(list, 0)), text[i][1]);
        assert_true(cJSON_GetNumberValue(cJSON_GetArrayItem(list, 1)) == number[i]);
        assert_true(cJSON_IsNumber(cJSON_GetArrayItem(list, 2)));
        cJSON_Delete(list);
    }
    for (int i = 0; i < 3; i++) {
        cJSON *list = json_of(NULL, i == 0 ? NAN : i == 1 ? INFINITY : -INFINITY);
        for (int k = 0; k < 3; k++) assert_true(cJSON_IsNull(cJSON_GetArrayItem(list, k)));
        cJSON_Delete(list);
    }
}

RUN_TESTS(set_up, tear_down)
