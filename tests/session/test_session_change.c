/* Tasks that come and go with the regions of a session (evn_session_place()), over forked ranks:
 * random changes of a line of tasks, in which tasks are divided, merged, remade in pairs, inserted
 * and removed. Regions are the place's on all ranks; or the program's of a rank's own tasks and the
 * place's of those that come; or the program's on all ranks, with born ones of the place's. Values
 * are those of plain arrays, on every rank and collected on rank 0; regions are where their tasks
 * are, those of gone tasks are removed. Mistakes are named on all ranks; whichever allocation fails
 * on one of them, all is as it was.
 *
 * Each case is a run of its own, as in test_session_ranks.c. Run: ctest -R session-change */
#include "check.h"
#include "failing.h"
#include <evener.h>
#include <evener/change.h>
#include <evener/cluster.h>
#include <evener/loop.h>
#include <evener/open.h>
#include <evener/place.h>
#include <evener/schedule.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 40, START = 12, VALUES = 24, BYTES = VALUES * sizeof(double), EACH = 2, FAILED = 9 };
enum way { PLACES, ABSENT, PROGRAMS };

/* In a rank: the run fails, and says where. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: rank %d: %s (%s)\n", __FILE__, __LINE__,                       \
                    session ? evn_session_rank(session) : -1, #condition, evn_message());          \
            _exit(FAILED);                                                                         \
        }                                                                                          \
    } while (0)

static const char *schedule = "static", *list = "1:CPU:1";
static enum way way;

static evn_session *session;
static evn_loop *loop;
static evn_place *place;
static evn_exchange *halo;
static const evn_access access_to[EACH] = {EVN_BOTH, EVN_WRITE};
static int tasks, region[MOST][EACH], step;
static double value[MOST][VALUES];  /* as they should be */
static double *memory[MOST][EACH];  /* the program's; NULL */
static int face_of[MOST], numbered; /* the first of two faces between tasks t and t + 1 */
static unsigned seed = 5;           /* the same on all ranks */

static int below(int n) {
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (unsigned)n);
}

/* ---- plain arrays -------------------------------------------------------------------------- */

static void compute(double *v, int of) {
    double next[VALUES];
    for (int i = 1; i < VALUES - 1; i++)
        next[i] = 0.5 * v[i] + 0.2 * v[i - 1] + 0.3 * v[i + 1] + of % 3;
    memcpy(v + 1, next + 1, (VALUES - 2) * sizeof *v);
}

static void bear_plainly(double *v, double *const *origin, int count) {
    for (int i = 0; i < VALUES; i++) {
        v[i] = count ? 0 : i;
        for (int k = 0; k < count; k++) v[i] += (k + 1) * origin[k][i] / (count + 1);
    }
}

static void step_plainly(void) {
    for (int t = 0; t + 1 < tasks; t++) {
        value[t + 1][0] = value[t][VALUES - 2];
        value[t][VALUES - 1] = value[t + 1][1];
    }
    for (int t = 0; t < tasks; t++) compute(value[t], step);
}

/* ---- bodies -------------------------------------------------------------------------------- */

static evn_status get(evn_batch *b, size_t at, double *v) {
    evn_status status = evn_copy_to_host(evn_batch_queue(b), v, evn_batch_buffer(b), at, BYTES);
    return status ? status : evn_queue_finish(evn_batch_queue(b));
}

static evn_status put(evn_batch *b, size_t at, const double *v) {
    evn_status status = evn_copy_to_device(evn_batch_queue(b), evn_batch_buffer(b), at, v, BYTES);
    return status ? status : evn_queue_finish(evn_batch_queue(b));
}

/* The values, and their copy in the second region; times that are not true, so that tasks move. */
static evn_status body(evn_unit *unit, evn_batch *b, void *arg) {
    int count;
    const int *task = evn_batch_tasks(b, &count);
    evn_status status = EVN_OK;
    (void)unit, (void)arg;
    for (int i = 0; !status && i < count; i++) {
        const int t = task[i];
        if (evn_batch_device(b) >= 0) {
            double copy[VALUES];
            status = get(b, evn_batch_at(b, t, 0), copy);
            compute(copy, step);
            if (!status) status = put(b, evn_batch_at(b, t, 0), copy);
            if (!status) status = put(b, evn_batch_at(b, t, 1), copy);
        } else {
            compute(evn_batch_host(b, t, 0), step);
            memcpy(evn_batch_host(b, t, 1), evn_batch_host(b, t, 0), BYTES);
        }
        evn_batch_add(b, t, 1 + (t * 7 + step * 3) % 11);
    }
    if (!status) evn_batch_done(b, count);
    return status;
}

static evn_status fill(evn_unit *unit, evn_batch *b, void *arg) {
    (void)unit, (void)arg;
    for (int t; (t = evn_batch_next(b)) >= 0;) memcpy(evn_batch_host(b, t, 0), value[t], BYTES);
    return EVN_OK;
}

static evn_status bear(evn_unit *unit, evn_batch *b, void *arg) {
    int count;
    const int *task = evn_batch_tasks(b, &count);
    evn_status status = EVN_OK;
    (void)unit, (void)arg;
    for (int i = 0; !status && i < count; i++) {
        const int t = task[i], origins = evn_batch_origins(b, t);
        double copy[2][VALUES], *origin[2] = {copy[0], copy[1]}, born[VALUES];
        for (int k = 0; !status && k < origins; k++) {
            if (evn_batch_device(b) >= 0)
                status = get(b, evn_batch_origin_at(b, t, k, 0), copy[k]);
            else
                origin[k] = evn_batch_origin_host(b, t, k, 0);
        }
        if (status) return status;
        bear_plainly(born, origin, origins);
        if (evn_batch_device(b) >= 0)
            status = put(b, evn_batch_at(b, t, 0), born);
        else
            memcpy(evn_batch_host(b, t, 0), born, BYTES);
    }
    if (!status) evn_batch_done(b, count);
    return status;
}

static void check(void);

static int failing = -1,
           first_failing = -1; /* the rank where allocations fail; while a line is opened */

static evn_status call_bear(const void *arg) {
    (void)arg;
    return evn_loop_bear(loop, bear, NULL, EVN_READ);
}

/* A call until it comes about, each time with another allocation of this rank that fails. All ranks
 * hear of it alike, and what there is stays as it was; `complete`: also values. */
static void call(evn_status (*made)(const void *arg), const void *arg, int complete) {
    const int generation = evn_loop_generation(loop);
    for (long i = 1;; i++) {
        char *before = evn_schedule_export(evn_loop_schedule(loop));
        if (evn_session_rank(session) == failing) fails = i;
        const evn_status status = made(arg);
        fails = 0;
        MUST(!status || failing >= 0);
        MUST(!status || status == EVN_MEMORY || (made == call_bear && status == EVN_BODY));
        if (!status && complete) MUST(failing < 0 || i > 20);
        if (status) MUST(evn_loop_generation(loop) == generation);
        char *now = evn_schedule_export(evn_loop_schedule(loop));
        if (status) MUST(!strcmp(before, now));
        free(before);
        free(now);
        if (!status) return;
        if (complete) check();
    }
}

static evn_status call_place(const void *arg) {
    (void)arg;
    return evn_session_place(session, loop, place, EACH, region[0], access_to);
}

/* ---- the line ------------------------------------------------------------------------------ */

static void add_pair(int t, evn_face *face) {
    face[0] = (evn_face){.from = t, .to = t + 1, .from_at = VALUES - 2, .n = {1, 1, 1}};
    face[1] = (evn_face){.from = t + 1, .to = t, .from_at = 1, .to_at = VALUES - 1, .n = {1, 1, 1}};
}

static void add_region(int t, int i) {
    if (way == PLACES) {
        MUST(!evn_place_make(place, BYTES, &region[t][i]));
        return;
    }
    const int gives = way == PROGRAMS || evn_loop_has(loop, t);
    memory[t][i] = gives ? malloc(BYTES) : NULL;
    if (gives && !i) memcpy(memory[t][i], value[t], BYTES);
    MUST(!evn_place_add(place, memory[t][i], BYTES, &region[t][i]));
}

static void open_line(void) {
    evn_face face[2 * MOST];
    tasks = START;
    MUST(!evn_open(&session, list, "emulated", EVN_OVER_RANKS | EVN_OVERSUBSCRIBE));
    MUST(!evn_open_loop(&loop, session, schedule, &(evn_problem){.tasks = tasks}));
    MUST(!evn_place_open(&place, evn_session_units(session), 0.5));
    for (int t = 0; t < tasks; t++) {
        for (int i = 0; i < VALUES; i++) value[t][i] = t + i % 5;
        for (int i = 0; i < EACH; i++) add_region(t, i);
        if (t % 5 == 4) { /* some have one region */
            MUST(!evn_place_remove(place, region[t][1]));
            free(memory[t][1]);
            memory[t][1] = NULL;
            MUST(!evn_place_make(place, BYTES, &region[t][1]));
        }
    }
    failing = first_failing;
    call(call_place, NULL, 0);
    failing = -1;
    if (way == PLACES) MUST(!evn_loop_visit_host(loop, fill, NULL, EVN_WRITE));
    for (int t = 0; t + 1 < tasks; t++) {
        face_of[t] = 2 * t;
        add_pair(t, &face[2 * t]);
    }
    numbered = 2 * (tasks - 1);
    MUST(!evn_exchange_open(&halo, loop, sizeof(double), 2 * (tasks - 1), face, NULL));
}

static void close_line(void) {
    evn_exchange_close(halo);
    evn_place_close(place);
    MUST(!evn_close(session));
    for (int t = 0; t < tasks; t++)
        for (int i = 0; i < EACH; i++) free(memory[t][i]);
}

static int here(int t) { return evn_loop_has(loop, t); }

static void check_values(int t) {
    MUST(!memcmp(evn_place_host(place, region[t][0]), value[t], BYTES));
}

/* A value of each task from the rank that has it, on all. */
static void check_allgather(void) {
    double first[MOST];
    for (int t = 0; t < tasks; t++) first[t] = here(t) ? value[t][1] : -1e9;
    MUST(!evn_loop_allgather(loop, first, sizeof *first));
    for (int t = 0; t < tasks; t++) MUST(first[t] == value[t][1]);
}

static void check(void) {
    check_allgather();
    for (int t = 0; t < tasks; t++) {
        if (!here(t)) {
            for (int i = 0; i < EACH; i++) {
                MUST(evn_place_where(place, region[t][i]) < 0);
                MUST(!evn_place_host(place, region[t][i]));
            }
            continue;
        }
        MUST(!evn_place_acquire(place, 1, region[t], EVN_HOST, EVN_READ));
        check_values(t);
        MUST(!evn_place_release(place, 1, region[t], EVN_HOST));
    }
}

static void collect(void) {
    const evn_status status = evn_session_collect(session, loop);
    evn_cluster *const ranks = evn_session_cluster(session);
    if (way == ABSENT && ranks) {
        MUST(status == EVN_USAGE && strstr(evn_message(), "on rank 0, and region"));
        return;
    }
    MUST(!status);
    for (int t = 0; t < tasks; t++) {
        if (evn_session_rank(session) && !here(t)) continue;
        if (memory[t][0])
            MUST(!memcmp(memory[t][0], value[t], BYTES));
        else
            check_values(t);
    }
}

static void run_step(void) {
    MUST(!evn_exchange_run(halo));
    MUST(!evn_loop_run(loop, body, NULL));
    step_plainly();
    step++;
}

/* ---- changes ------------------------------------------------------------------------------- */

struct plan {
    int tasks, first[MOST + 1], from[2 * MOST], region[MOST][EACH];
    char kept[MOST];
};

static void add_task(struct plan *p, int kept, int origins, int from) {
    int at = p->first[p->tasks];
    p->kept[p->tasks] = (char)kept;
    for (int k = 0; k < origins; k++) p->from[at++] = from + k;
    p->first[++p->tasks] = at;
}

static void draw_plan(struct plan *p) {
    *p = (struct plan){0};
    for (int t = 0; t < tasks; t++) {
        const int kind = below(12), more = p->tasks < MOST / 2, pair = t + 1 < tasks;
        if (kind == 0 && more) {
            for (int c = 1 + below(3); c; c--) add_task(p, 0, 1, t);
        } else if (kind == 1 && pair && tasks > 6) {
            add_task(p, 0, 2, t++);
        } else if (kind == 2 && pair) {
            add_task(p, 0, 2, t);
            add_task(p, 0, 2, t++);
        } else if (kind == 3 && tasks > 8) {
            continue;
        } else {
            if (kind == 4 && more) add_task(p, 0, 0, t);
            add_task(p, 1, 1, t);
        }
    }
}

/* Whether new tasks t and t + 1 were neighbours before. */
static int stay(const struct plan *p, int t) {
    return p->kept[t] && p->kept[t + 1] && p->from[p->first[t]] + 1 == p->from[p->first[t + 1]];
}

/* Faces between kept tasks that are neighbours no longer. */
static void drop_faces(const struct plan *p) {
    int gone[MOST], goes = 0, kept[MOST] = {0}, together[MOST] = {0};
    for (int t = 0; t < p->tasks; t++) {
        if (p->kept[t]) kept[p->from[p->first[t]]] = 1;
        if (t + 1 < p->tasks && stay(p, t)) together[p->from[p->first[t]]] = 1;
    }
    for (int t = 0; t + 1 < tasks; t++) {
        if (!kept[t] || !kept[t + 1] || together[t]) continue;
        gone[goes++] = face_of[t];
        gone[goes++] = face_of[t] + 1;
    }
    MUST(!evn_exchange_drop(halo, goes, gone));
}

static void add_faces(const struct plan *p) {
    evn_face face[2 * MOST];
    int count = 0, before[MOST];
    memcpy(before, face_of, sizeof before);
    for (int t = 0; t + 1 < p->tasks; t++) {
        if (stay(p, t)) {
            face_of[t] = before[p->from[p->first[t]]];
            continue;
        }
        add_pair(t, &face[count]);
        face_of[t] = numbered + count;
        count += 2;
    }
    MUST(!evn_exchange_add(halo, count, face, NULL));
    numbered += count;
}

static void register_born(struct plan *p) {
    for (int t = 0; t < p->tasks; t++)
        for (int i = 0; i < EACH; i++) {
            p->region[t][i] = -1;
            if (p->kept[t]) continue;
            if (way == ABSENT)
                MUST(!evn_place_add(place, NULL, BYTES, &p->region[t][i]));
            else
                MUST(!evn_place_make(place, BYTES, &p->region[t][i]));
        }
}

static evn_status call_change(const void *c) { return evn_loop_change(loop, c); }
/* How all should be, and the regions that should be gone: *gone of them; those of the program's
 * memory it removes. */
static void follow(const struct plan *p, int *gone, int *goes, double **given) {
    static double next[MOST][VALUES];
    double *next_memory[MOST][EACH] = {{NULL}};
    int next_region[MOST][EACH], kept[MOST] = {0};
    for (int t = 0; t < p->tasks; t++) {
        const int count = p->first[t + 1] - p->first[t];
        double *origin[2] = {NULL, NULL};
        for (int k = 0; k < count; k++) origin[k] = value[p->from[p->first[t] + k]];
        const int from = count ? p->from[p->first[t]] : 0;
        if (p->kept[t]) {
            kept[from] = 1;
            memcpy(next[t], value[from], BYTES);
            memcpy(next_region[t], region[from], sizeof next_region[t]);
            memcpy(next_memory[t], memory[from], sizeof next_memory[t]);
        } else {
            bear_plainly(next[t], origin, count);
            memcpy(next_region[t], p->region[t], sizeof next_region[t]);
        }
    }
    *goes = 0;
    for (int t = 0; t < tasks; t++)
        for (int i = 0; i < EACH; i++)
            if (!kept[t]) gone[*goes] = region[t][i], given[(*goes)++] = memory[t][i];
    memcpy(value, next, sizeof next);
    memcpy(region, next_region, sizeof next_region);
    memcpy(memory, next_memory, sizeof next_memory);
    tasks = p->tasks;
}

static void change(void) {
    struct plan p;
    int gone[EACH * MOST], goes;
    double *given[EACH * MOST];
    draw_plan(&p);
    drop_faces(&p);
    register_born(&p);
    const evn_change c = {.tasks = p.tasks,
                          .first = p.first,
                          .from = p.from,
                          .kept = p.kept,
                          .links = -1,
                          .region = p.region[0]};
    call(call_change, &c, 1);
    follow(&p, gone, &goes, given);
    for (int i = 0; i < goes; i++) MUST(evn_place_bytes(place, gone[i]) == BYTES);
    add_faces(&p);
    call(call_bear, NULL, 0);
    for (int i = 0; i < goes; i++) {
        MUST(evn_place_bytes(place, gone[i]) == (given[i] ? BYTES : 0));
        if (given[i]) MUST(!evn_place_remove(place, gone[i]));
        free(given[i]);
    }
    check();
}

static void rounds(void) {
    open_line();
    for (int r = 0; r < 10; r++) {
        for (int s = r % 4; s < 3; s++) run_step(); /* also none */
        if (r % 3 == 1) collect();
        change();
        if (r % 3 == 2) collect();
    }
    for (int s = 0; s < 3; s++) run_step();
    check();
    collect();
    evn_cluster *const ranks = evn_session_cluster(session);
    /* guided:time and interval have the shortest boundaries from a change on, and steps leave them
     */
    const int steps_move = strncmp(schedule, "dynamic", 7) && strcmp(schedule, "guided:time") &&
                           strcmp(schedule, "interval");
    if (ranks && steps_move) MUST(evn_loop_sum(loop).moved > 0);
    run_step();
    check(); /* what was collected is gone again */
    close_line();
}

/* evn_session_place(), changes and births, on one rank after the other. */
static void scarcely(void) {
    first_failing = 1;
    open_line();
    for (int r = 0; r < 6; r++) {
        for (int s = r % 3; s < 3; s++) run_step(); /* also none */
        failing = r % evn_cluster_size(evn_session_cluster(session));
        change();
        failing = -1;
    }
    for (int s = 0; s < 3; s++) run_step();
    check();
    close_line();
}

/* ---- runs of them -------------------------------------------------------------------------- */

/* The exit status of the case in `ranks` processes. */
static int run(const char *ranks, void (*what)(void)) {
    int status;
    fflush(NULL);
    const pid_t pid = fork();
    if (!pid) {
        setenv("EVENER_PROCESSES", ranks, 1);
        alarm(240);
        signal(SIGSEGV, SIG_DFL); /* cmocka would go on with its next test */
        what();
        exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const char *const ranks_of[] = {"1", "2", "3", "5"};

TEST(schedules) {
    static const char *const schedules[] = {
        "static",      "dynamic",     "dynamic:chunk=1,memorize=0",
        "guided:size", "guided:time", "weighted",
        "binpack",     "interval",    "map",
        "auto"};
    const int is_long = getenv("EVENER_TEST_LONG") != NULL;
    for (size_t s = 0; s < sizeof schedules / sizeof *schedules; s++)
        for (int r = 0; r < 4; r++)
            for (way = PLACES; way <= PROGRAMS; way++) {
                if (!is_long && (s + (size_t)r + (size_t)way) % 2) continue; /* each both ways */
                schedule = schedules[s];
                if (run(ranks_of[r], rounds))
                    fail_msg("%s ranks, %s, way %d", ranks_of[r], schedule, way);
            }
}

TEST(on_devices) {
    const int is_long = getenv("EVENER_TEST_LONG") != NULL;
    static const char *const schedules[] = {"map", "dynamic:chunk=1,memorize=0", "guided:time"};
    static const char *const lists[] = {"1:CPU:1,1:GPU:1", "2:GPU:1", "1:GPU:1"};
    for (int s = 0; s < 3; s++)
        for (int r = 0; r < 4; r++)
            for (way = PLACES; way <= PROGRAMS; way++) {
                if (!is_long && (s + r + (int)way) % 2) continue;
                schedule = schedules[s];
                list = lists[(s + r) % 3];
                if (run(ranks_of[r], rounds))
                    fail_msg("%s ranks, %s, %s, way %d", ranks_of[r], schedule, list, way);
            }
}

TEST(failing) {
    static const char *const schedules[] = {"map", "static", "guided:time"};
    static const char *const lists[] = {"1:CPU:1", "1:CPU:1,1:GPU:1", "1:GPU:1"};
    if (!HAVE_FAILING) skip();
    for (int s = 0; s < 3; s++)
        for (int r = 1; r < 3; r++)
            for (way = PLACES; way <= PROGRAMS; way++) {
                schedule = schedules[s];
                list = lists[s];
                if (run(ranks_of[r], scarcely))
                    fail_msg("%s ranks, %s, %s, way %d", ranks_of[r], schedule, list, way);
            }
}

RUN_TESTS(NULL, NULL)
