/* Valid calls whose arguments are mutated: fields of structs, contents of arrays, counts, pointers.
 * Whatever they become, the call returns, a refusal has a message of one line, and where all were
 * refused the next run is as if they had not been made. The cases of a seed are always the same.
 *
 * Run: ctest -R '^mutate$'; test-mutate CASES SEED for more and others; test-mutate 1 SEED runs one
 * case in this process, for a debugger. */
#include "check.h"
#include "misuse/mutate.h"
#include "schedule/open.h"
#include "schedule/weigh.h"
#include <evener.h>
#include <evener/change.h>
#include <evener/distributed.h>
#include <evener/recover.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CASES = 160,
    LONG = 480,
    EACH = 40,
    PATIENCE = 120
}; /* cases, of a process; s of a process */
enum { TASKS = 6, UNITS = 2, SLOTS = 2, VALUES = 8, BYTES = VALUES * sizeof(double), MOST = 12 };

static const char *call_name = "";
static uint64_t case_seed;
static int wrong;

static int fault(const char *what) {
    printf("seed %llu: %s: %s; its message: %s\n", (unsigned long long)case_seed, call_name, what,
           evn_message());
    wrong = 1;
    return 1;
}

static const char old[] = "an old message";

/* A status that a call may have; *refused counts those that were refused. */
static evn_status checked(evn_status got, int *refused) {
    if (!got) return got;
    ++*refused;
    const char *message = evn_message();
    if (got < EVN_OK || got > EVN_DEVICE) fault("no such status");
    if (!*message || !strcmp(message, old)) fault("no message");
    if (strchr(message, '\n')) fault("a message of several lines");
    return got;
}

#define TRY(refused, name, ...)                                                                    \
    (call_name = (name), evn_fail(EVN_SYSTEM, "%s", old), checked((__VA_ARGS__), (refused)))

/* ---- arguments ----------------------------------------------------------------------------- */

static evn_problem *problem_of(struct call *c, int tasks, int units) {
    static const evn_route routes[4] = {{1, {1e-6}, {1e-9}}, {1, {1e-6}, {1e-9}}};
    static const evn_link link[3] = {{{0, 1}, 8}, {{1, 2}, 16}, {{2, 0}, 4}};
    static const double amount[MOST] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const int zeros[MOST];
    evn_problem *p = call_array(c, NULL, sizeof *p);
    const size_t n = (size_t)tasks, u = (size_t)units;
    *p = (evn_problem){.tasks = tasks, .units = units, .links = 3, .kinds = 2, .instances = 5};
    double *weight = call_array(c, amount, n * sizeof *weight);
    double *bytes = call_array(c, amount, n * sizeof *bytes);
    double *state = call_array(c, amount, n * sizeof *state);
    double *speed = call_array(c, amount, u * sizeof *speed);
    double *capacity = call_array(c, NULL, u * sizeof *capacity);
    int *kind = call_array(c, zeros, u * sizeof *kind),
        *node = call_array(c, zeros, u * sizeof *node);
    int *space = call_array(c, zeros, u * sizeof *space);
    evn_link *links = call_array(c, link, sizeof link);
    evn_route *route = call_array(c, routes, sizeof routes),
              *far = call_array(c, routes, sizeof routes);
    call_field(c, FIELD_COUNT, &p->tasks, tasks);
    call_field(c, FIELD_COUNT, &p->units, units);
    call_field(c, FIELD_COUNT, &p->links, 3);
    call_field(c, FIELD_COUNT, &p->kinds, 2);
    call_field(c, FIELD_INT, &p->instances, 1);
    call_field(c, FIELD_DOUBLE, &p->bandwidth, 1);
    call_field(c, FIELD_DOUBLE, &p->carry, 1);
    call_field(c, FIELD_DOUBLE, weight, tasks);
    call_field(c, FIELD_DOUBLE, bytes, tasks);
    call_field(c, FIELD_DOUBLE, state, tasks);
    call_field(c, FIELD_DOUBLE, speed, units);
    call_field(c, FIELD_DOUBLE, capacity, units);
    call_field(c, FIELD_INT, kind, units);
    call_field(c, FIELD_INT, node, units);
    call_field(c, FIELD_INT, space, units);
    for (int l = 0; l < 3; l++) {
        call_field(c, FIELD_INT, links[l].task, 2);
        call_field(c, FIELD_DOUBLE, &links[l].bytes, 1);
    }
    for (int r = 0; r < 4; r++) {
        call_field(c, FIELD_INT, &route[r].hops, 1);
        call_field(c, FIELD_DOUBLE, route[r].latency, 4);
        call_field(c, FIELD_DOUBLE, far[r].latency, 4);
    }
    call_pointer(c, &p->weight, weight);
    call_pointer(c, &p->bytes, bytes);
    call_pointer(c, &p->state, state);
    call_pointer(c, &p->speed, speed);
    call_pointer(c, &p->capacity, capacity);
    call_pointer(c, &p->kind, kind);
    call_pointer(c, &p->node, node);
    call_pointer(c, &p->space, space);
    call_pointer(c, &p->link, links);
    call_pointer(c, &p->route, route);
    call_pointer(c, &p->far, far);
    return p;
}

/* A change of `before` tasks: some are kept, one has become two, two have become one. */
static evn_change *change_of(struct call *c, int before, const int *region, int distributed) {
    enum { FROM = MOST * MOST };
    const int tasks = before;
    int first[MOST + 1] = {0}, from[FROM] = {0};
    char kept[MOST] = {0};
    double amount[MOST];
    for (int t = 0; t < tasks; t++) {
        const int both = t == tasks - 1 && tasks > 1;
        from[first[t]] = t == 1 ? 0 : t;
        if (both) from[first[t]] = t - 1, from[first[t] + 1] = t;
        first[t + 1] = first[t] + 1 + both;
        kept[t] = t != 0 && t != 1 && !both;
        amount[t] = t + 1;
    }
    evn_change *change = call_array(c, NULL, sizeof *change);
    *change = (evn_change){.tasks = tasks, .links = -1, .most = 0.5, .instances = 9};
    const size_t n = (size_t)tasks;
    int *firsts = call_array(c, first, (n + 1) * sizeof *first);
    int *froms = call_array(c, from, n * (size_t)before * sizeof *from);
    int *regions = call_array(c, region, n * SLOTS * sizeof *regions);
    char *keeps = call_array(c, kept, n);
    double *weight = call_array(c, amount, n * sizeof *weight);
    double *bytes = call_array(c, amount, n * sizeof *bytes);
    call_field(c, FIELD_COUNT, &change->tasks, tasks);
    for (int twice = 0; twice < 3; twice++) { /* the likeliest */
        call_field(c, FIELD_INT, firsts, tasks + 1);
        call_field(c, FIELD_INT, froms, first[tasks]);
    }
    call_field(c, FIELD_BYTE, keeps, tasks);
    call_field(c, FIELD_DOUBLE, weight, tasks);
    call_field(c, FIELD_INT, &change->links, 1);
    call_field(c, FIELD_INT, &change->instances, 1);
    call_field(c, FIELD_DOUBLE, &change->most, 1);
    call_pointer(c, &change->first, firsts);
    call_pointer(c, &change->from, froms);
    call_pointer(c, &change->kept, keeps);
    call_pointer(c, &change->weight, weight);
    if (distributed) return change;
    call_field(c, FIELD_DOUBLE, bytes, tasks);
    call_field(c, FIELD_INT, regions, tasks * SLOTS);
    call_pointer(c, &change->bytes, bytes);
    call_pointer(c, &change->state, bytes);
    if (region) call_pointer(c, &change->region, regions);
    return change;
}

/* Whether a change says more links, or origins, than its arrays have; a call cannot know. */
static int reads_beyond(const evn_change *change, int before) {
    if (change->links > 0) return 1;
    if (!change->first || change->tasks < 1) return 0;
    for (int t = 0; t < change->tasks; t++)
        if (change->first[t] < 0 || change->first[t + 1] < change->first[t]) return 0;
    return change->first[change->tasks] > change->tasks * before;
}

static evn_face *faces_of(struct call *c, int count, int of_host) {
    evn_face *face = call_array(c, NULL, (size_t)count * sizeof *face);
    for (int i = 0; i < count; i++) {
        evn_face *f = &face[i];
        *f = (evn_face){.from = i,
                        .to = i + 1,
                        .from_at = 2,
                        .to_at = 0,
                        .n = {1, 1, 2},
                        .from_stride = {1, 1, 1},
                        .to_stride = {1, 1, 1},
                        .numbers = EVN_DOUBLES};
        call_field(c, FIELD_INT, &f->from, 2);
        call_field(c, FIELD_LONG, &f->from_at, 2);
        call_field(c, FIELD_LONG, f->from_stride, 3);
        call_field(c, FIELD_LONG, f->to_stride, 3);
        for (int d = 0; d < 3; d++)
            call_field(c, of_host ? FIELD_COUNT : FIELD_INT, &f->n[d], of_host ? 2 : 1);
        call_field(c, FIELD_INT, &f->from_region, 2);
        call_field(c, FIELD_INT, (int *)f->resolution, 3);
        call_field(c, FIELD_INT, &f->numbers, 1);
    }
    return face;
}

/* ---- schedules ----------------------------------------------------------------------------- */

static const char *const schedules[] = {"auto",
                                        "static",
                                        "dynamic:chunk=1,memorize=3",
                                        "guided:size",
                                        "guided:time",
                                        "weighted",
                                        "weighted:size",
                                        "binpack",
                                        "binpack:time",
                                        "interval:iterations=4",
                                        "map"};

static const char *any_schedule(struct dice *d) {
    return schedules[dice_below(d, sizeof schedules / sizeof *schedules)];
}

static void check_owners(const evn_schedule *s) {
    const evn_problem *p = evn_schedule_problem(s);
    const int *owner = evn_schedule_owner(s);
    for (int t = 0; t < p->tasks; t++)
        if (owner[t] < 0 || owner[t] >= p->units) fault("an owner that is no unit");
    free(evn_schedule_explain(s));
    char *text = evn_schedule_export(s);
    evn_problem_imbalance(p, owner, NULL);
    free(text);
}

static void learn(struct dice *d, evn_schedule *s, int *refused) {
    const evn_problem *p = evn_schedule_problem(s);
    struct call c;
    call_begin(&c, d);
    int *owner = call_array(&c, evn_schedule_owner(s), (size_t)p->tasks * sizeof *owner);
    double *seconds = call_array(&c, NULL, (size_t)p->tasks * sizeof *seconds);
    for (int t = 0; t < p->tasks; t++) seconds[t] = 1e-3 * (t + 1);
    call_field(&c, FIELD_INT, owner, p->tasks);
    call_field(&c, FIELD_DOUBLE, seconds, p->tasks);
    if (dice_below(d, 2)) call_mutate(&c);
    TRY(refused, "evn_schedule_learn()", evn_schedule_learn(s, owner, seconds));
    call_end(&c);
}

static void weigh(struct dice *d, evn_schedule *s, evn_loop *loop, int *refused) {
    const int n = evn_schedule_problem(s)->tasks;
    struct call c;
    call_begin(&c, d);
    double *weight = call_array(&c, NULL, (size_t)n * sizeof *weight);
    for (int t = 0; t < n; t++) weight[t] = dice_below(d, 9);
    call_field(&c, FIELD_DOUBLE, weight, n);
    call_mutate(&c);
    if (loop)
        TRY(refused, "evn_loop_weights()", evn_loop_weights(loop, weight));
    else
        TRY(refused, "schedule_weights()", schedule_weights(s, weight));
    call_end(&c);
}

static void case_schedule(struct dice *d) {
    struct call c;
    evn_schedule *s = NULL;
    int refused = 0;
    call_begin(&c, d);
    const evn_problem *p = problem_of(&c, TASKS, 3);
    if (dice_below(d, 2)) call_mutate(&c);
    TRY(&refused, "evn_schedule_open()", evn_schedule_open(&s, any_schedule(d), p));
    call_end(&c);
    for (int step = 0; s && step < 6; step++) {
        const int before = evn_schedule_problem(s)->tasks;
        check_owners(s);
        if (!dice_below(d, 2)) learn(d, s, &refused);
        if (!dice_below(d, 3)) weigh(d, s, NULL, &refused);
        call_begin(&c, d);
        const evn_change *change = change_of(&c, before, NULL, 0);
        call_mutate(&c);
        if (!reads_beyond(change, before))
            TRY(&refused, "evn_schedule_change()", evn_schedule_change(s, change));
        call_end(&c);
    }
    if (s) check_owners(s);
    evn_schedule_close(s);
}

/* ---- loops --------------------------------------------------------------------------------- */

static evn_units *units;

static evn_status step(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)arg;
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        for (int i = 0; i < SLOTS; i++) {
            char *x = evn_batch_host(batch, t, i);
            if (x) *x = (char)t;
        }
    return EVN_OK;
}

static evn_status bear(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)arg;
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        for (int i = 0; i < SLOTS; i++)
            for (int k = -1; k <= evn_batch_origins(batch, t); k++) {
                const double *from = evn_batch_origin_host(batch, t, k, i);
                double *x = evn_batch_host(batch, t, i);
                if (x && from) memcpy(x, from, BYTES);
            }
    return EVN_OK;
}

struct ground {
    evn_place *place;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_exchange *halo;
    evn_recovery *recovery;
    int region[MOST * SLOTS];
    int faces;
};

static void open_ground(struct ground *g, struct dice *d) {
    *g = (struct ground){0};
    assert_ok(evn_place_open(&g->place, units, 0.5));
    for (int i = 0; i < TASKS * SLOTS; i++)
        assert_ok(evn_place_make(g->place, BYTES, &g->region[i]));
    const evn_problem p = {.tasks = TASKS, .units = UNITS};
    assert_ok(evn_schedule_open(&g->schedule, any_schedule(d), &p));
    assert_ok(evn_loop_open(&g->loop, units, g->schedule));
}

static void close_ground(struct ground *g) {
    evn_recovery_close(g->recovery);
    evn_exchange_close(g->halo);
    evn_loop_close(g->loop);
    evn_schedule_close(g->schedule);
    evn_place_close(g->place);
}

static void place_regions(struct ground *g, struct dice *d, int mutates, int *refused) {
    struct call c;
    call_begin(&c, d);
    int *count = call_array(&c, NULL, sizeof *count),
        *access = call_array(&c, NULL, SLOTS * sizeof *access);
    int *region = call_array(&c, g->region, TASKS * SLOTS * sizeof *region);
    *count = SLOTS;
    access[0] = EVN_BOTH, access[1] = dice_below(d, 2) ? EVN_READ : EVN_BOTH;
    call_field(&c, FIELD_COUNT, count, SLOTS);
    call_field(&c, FIELD_INT, access, SLOTS);
    call_field(&c, FIELD_INT, region, TASKS * SLOTS);
    if (mutates) call_mutate(&c);
    TRY(refused, "evn_loop_place()",
        evn_loop_place(g->loop, g->place, *count, region, (const evn_access *)access));
    call_end(&c);
}

static void open_halo(struct ground *g, struct dice *d, int mutates, int *refused) {
    struct call c;
    call_begin(&c, d);
    size_t element = 8;
    int count = TASKS - 1;
    const evn_face *face = faces_of(&c, count, 0);
    call_field(&c, FIELD_SIZE, &element, 1);
    call_field(&c, FIELD_COUNT, &count, TASKS - 1);
    call_pointer(&c, &face, face);
    if (mutates) call_mutate(&c);
    TRY(refused, "evn_exchange_open()",
        evn_exchange_open(&g->halo, g->loop, element, count, face, NULL));
    g->faces = count;
    call_end(&c);
}

static void other_faces(struct ground *g, struct dice *d, int *refused) {
    struct call c;
    call_begin(&c, d);
    int count = 2;
    const evn_face *face = faces_of(&c, count, 0);
    call_field(&c, FIELD_COUNT, &count, 2);
    call_pointer(&c, &face, face);
    call_mutate(&c);
    TRY(refused, "evn_exchange_add()", evn_exchange_add(g->halo, count, face, NULL));
    call_end(&c);
    call_begin(&c, d);
    int drops = 2;
    int *list = call_array(&c, (int[]){0, 1}, 2 * sizeof *list);
    const int *dropped = list;
    call_field(&c, FIELD_COUNT, &drops, 2);
    call_field(&c, FIELD_INT, list, 2);
    call_pointer(&c, &dropped, list);
    call_mutate(&c);
    TRY(refused, "evn_exchange_drop()", evn_exchange_drop(g->halo, drops, dropped));
    call_end(&c);
}

static void change_loop(struct ground *g, struct dice *d, int *refused) {
    struct call c;
    const int before = evn_schedule_problem(g->schedule)->tasks;
    int born[MOST * SLOTS];
    for (int i = 0; i < MOST * SLOTS; i++)
        if (i >= before * SLOTS || evn_place_make(g->place, BYTES, &born[i])) born[i] = -1;
    call_begin(&c, d);
    const evn_change *change = change_of(&c, before, born, 0);
    call_mutate(&c);
    if (!reads_beyond(change, before) &&
        !TRY(refused, "evn_loop_change()", evn_loop_change(g->loop, change))) {
        const int access = dice_below(d, 6);
        TRY(refused, "evn_loop_bear()", evn_loop_bear(g->loop, bear, NULL, (evn_access)access));
    }
    call_end(&c);
}

/* A run of all, which must be well where no mutated call was accepted. */
static void goes_on(struct ground *g, int sound) {
    int failed = 0;
    TRY(&failed, "evn_loop_visit_host()", evn_loop_visit_host(g->loop, step, NULL, EVN_WRITE));
    if (g->halo) TRY(&failed, "evn_exchange_run()", evn_exchange_run(g->halo));
    TRY(&failed, "evn_loop_run()", evn_loop_run(g->loop, step, NULL));
    if (failed && sound) fault("a run fails after calls that were refused");
}

static void case_loop(struct dice *d) {
    struct ground g;
    int refused = 0, wrongly = 0;
    open_ground(&g, d);
    place_regions(&g, d, 1, &refused);
    goes_on(&g, 0);
    place_regions(&g, d, 0, &wrongly);
    open_halo(&g, d, 1, &refused);
    goes_on(&g, 0);
    evn_exchange_close(g.halo);
    open_halo(&g, d, 0, &wrongly);
    if (wrongly) fault("a right call fails");
    goes_on(&g, 1);
    for (int i = 0, sound = 1; i < 4; i++) {
        const int generation = evn_loop_about(g.loop).generation;
        weigh(d, g.schedule, g.loop, &refused);
        change_loop(&g, d, &refused);
        sound = sound && evn_loop_about(g.loop).generation == generation;
        goes_on(&g, sound);
        other_faces(&g, d, &refused);
    }
    close_ground(&g);
}

/* ---- faces of memory of the program's ------------------------------------------------------ */

static void case_faces(struct dice *d) {
    struct ground g;
    struct call c;
    int refused = 0;
    static double value[TASKS][VALUES];
    open_ground(&g, d);
    call_begin(&c, d);
    size_t element = 8;
    int count = TASKS - 1;
    void **host = call_array(&c, NULL, TASKS * sizeof *host), *const * given;
    for (int t = 0; t < TASKS; t++) {
        host[t] = value[t];
        call_field(&c, FIELD_POINTER, &host[t], 1);
    }
    const evn_face *face = faces_of(&c, count, 1);
    call_field(&c, FIELD_SIZE, &element, 1);
    call_field(&c, FIELD_COUNT, &count, TASKS - 1);
    call_pointer(&c, &face, face);
    call_pointer(&c, &given, host);
    call_mutate(&c);
    TRY(&refused, "evn_exchange_open()",
        evn_exchange_open(&g.halo, g.loop, element, count, face, given));
    call_end(&c);
    close_ground(&g);
}

/* ---- distributed tasks --------------------------------------------------------------------- */

static evn_distributed *open_distributed(struct dice *d, evn_place *place, int mutates,
                                         int *refused) {
    static const size_t bytes[TASKS * SLOTS] = {BYTES, BYTES, BYTES, BYTES, BYTES, BYTES,
                                                BYTES, BYTES, BYTES, BYTES, BYTES, BYTES};
    evn_distributed *out = NULL;
    struct call c;
    call_begin(&c, d);
    evn_distribution *own = call_array(&c, NULL, sizeof *own);
    *own = (evn_distribution){.units = units,
                              .place = place,
                              .tasks = TASKS,
                              .regions = SLOTS,
                              .element = 8,
                              .schedule = any_schedule(d)};
    double *weight = call_array(&c, NULL, TASKS * sizeof *weight);
    size_t *sizes = call_array(&c, bytes, sizeof bytes);
    int *access = call_array(&c, (int[]){EVN_BOTH, EVN_BOTH}, SLOTS * sizeof *access);
    for (int t = 0; t < TASKS; t++) weight[t] = 1;
    call_field(&c, FIELD_COUNT, &own->tasks, TASKS);
    call_field(&c, FIELD_COUNT, &own->regions, SLOTS);
    call_field(&c, FIELD_INT, &own->instances, 1);
    call_field(&c, FIELD_SIZE, &own->element, 1);
    call_field(&c, FIELD_DOUBLE, weight, TASKS);
    call_field(&c, FIELD_SIZE, sizes, TASKS * SLOTS);
    call_field(&c, FIELD_INT, access, SLOTS);
    call_pointer(&c, &own->weight, weight);
    call_sizes(&c, &own->bytes, sizes);
    call_pointer(&c, &own->access, access);
    if (mutates) call_mutate(&c);
    TRY(refused, "evn_distributed_open()", evn_distributed_open(&out, own));
    call_end(&c);
    return out;
}

static void add_rank_faces(struct dice *d, evn_distributed *mesh, int *refused) {
    struct call c;
    call_begin(&c, d);
    int count = 2;
    const evn_face *block = faces_of(&c, count, 0);
    evn_rank_face *face = call_array(&c, NULL, 2 * sizeof *face);
    const evn_rank_face *given;
    for (int i = 0; i < count; i++) {
        face[i] = (evn_rank_face){{0, i}, {0, i + 1}, {0}};
        call_field(&c, FIELD_INT, &face[i].from, 4);
    }
    call_field(&c, FIELD_COUNT, &count, 2);
    call_pointer(&c, &given, face);
    call_mutate(&c);
    for (int i = 0; i < 2; i++) face[i].block = block[i];
    TRY(refused, "evn_distributed_add()", evn_distributed_add(mesh, count, given));
    call_end(&c);
}

static int change_distributed(struct dice *d, evn_distributed *mesh, int *refused) {
    struct call c;
    const int before = evn_distributed_part(mesh).tasks;
    call_begin(&c, d);
    const evn_change *change = change_of(&c, before, NULL, 1);
    size_t *list = call_array(&c, NULL, (size_t)before * SLOTS * sizeof *list);
    const size_t *bytes;
    for (int i = 0; i < before * SLOTS; i++) list[i] = BYTES;
    call_field(&c, FIELD_SIZE, list, before * SLOTS);
    call_sizes(&c, &bytes, list);
    call_mutate(&c);
    const int broken = !reads_beyond(change, before) &&
                       TRY(refused, "evn_distributed_change()",
                           evn_distributed_change(mesh, change, bytes)) > EVN_USAGE;
    call_end(&c);
    return broken;
}

static void ask_now(struct dice *d, evn_distributed *mesh, int *refused) {
    struct call c;
    call_begin(&c, d);
    int count = 3;
    evn_rank_task *list =
                      call_array(&c, (evn_rank_task[]){{0, 0}, {0, 1}, {0, 2}}, 3 * sizeof *list),
                  *task;
    call_field(&c, FIELD_COUNT, &count, 3);
    call_field(&c, FIELD_INT, list, 6);
    call_pointer(&c, &task, list);
    call_mutate(&c);
    TRY(refused, "evn_distributed_now()", evn_distributed_now(mesh, count, task));
    call_end(&c);
}

static void case_distributed(struct dice *d) {
    evn_place *place;
    int refused = 0, broken = 0, failed = 0;
    assert_ok(evn_place_open(&place, units, 0.5));
    evn_distributed_close(open_distributed(d, place, 1, &refused));
    evn_distributed *mesh = open_distributed(d, place, 0, &failed);
    if (!mesh) fault("a right call fails");
    for (int i = 0, sound = 1; mesh && !broken && i < 4; i++) {
        add_rank_faces(d, mesh, &refused);
        const evn_rank_task *was = evn_distributed_part(mesh).origin;
        broken = change_distributed(d, mesh, &refused);
        sound = sound && was == evn_distributed_part(mesh).origin;
        if (!broken) ask_now(d, mesh, &refused);
        int moved;
        evn_loop *loop = evn_distributed_part(mesh).loop;
        failed = 0;
        if (!broken)
            TRY(&failed, "evn_distributed_balance()", evn_distributed_balance(mesh, &moved));
        if (loop)
            TRY(&failed, "evn_loop_visit_host()", evn_loop_visit_host(loop, step, NULL, EVN_WRITE));
        if (!broken) TRY(&failed, "evn_distributed_run()", evn_distributed_run(mesh, step, NULL));
        if (failed && sound) fault("a run fails after calls that were refused");
    }
    evn_distributed_close(mesh);
    evn_place_close(place);
}

/* ---- sessions and recovery ----------------------------------------------------------------- */

static void case_session(struct dice *d) {
    static evn_session *s; /* of all cases of the process, since its thread leads its units */
    struct ground g = {0};
    struct call c;
    int refused = 0;
    if (!s) assert_ok(evn_open(&s, "2:CPU:1", NULL, EVN_OVERSUBSCRIBE | EVN_NO_ENVIRONMENT));
    call_begin(&c, d);
    const evn_problem *p = problem_of(&c, TASKS, UNITS);
    call_mutate(&c);
    evn_loop *loop = NULL;
    TRY(&refused, "evn_open_loop()", evn_open_loop(&loop, s, any_schedule(d), p));
    call_end(&c);
    if (loop) evn_close_loop(s, loop);
    assert_ok(evn_open_loop(&g.loop, s, any_schedule(d), &(evn_problem){.tasks = TASKS}));
    g.schedule = (evn_schedule *)evn_loop_schedule(g.loop);
    assert_ok(evn_place_open(&g.place, evn_session_units(s), 0.5));
    for (int i = 0; i < TASKS * SLOTS; i++) assert_ok(evn_place_make(g.place, BYTES, &g.region[i]));
    for (int mutates = 1; mutates >= 0; mutates--) {
        call_begin(&c, d);
        int count = SLOTS, *list = call_array(&c, g.region, TASKS * SLOTS * sizeof *list);
        int *modes = call_array(&c, (int[]){EVN_BOTH, EVN_BOTH}, SLOTS * sizeof *modes);
        const int *region;
        const evn_access *access;
        call_field(&c, FIELD_COUNT, &count, SLOTS);
        call_field(&c, FIELD_INT, list, TASKS * SLOTS);
        call_field(&c, FIELD_INT, modes, SLOTS);
        call_pointer(&c, &region, list);
        call_pointer(&c, &access, modes);
        if (mutates) call_mutate(&c);
        TRY(&refused, "evn_session_place()",
            evn_session_place(s, g.loop, g.place, count, region, access));
        call_end(&c);
    }
    goes_on(&g, 1);
    for (int i = 0, sound = 1; i < 3; i++) {
        const int generation = evn_loop_about(g.loop).generation;
        change_loop(&g, d, &refused);
        sound = sound && evn_loop_about(g.loop).generation == generation;
        goes_on(&g, sound);
        TRY(&refused, "evn_session_collect()", evn_session_collect(s, g.loop));
    }
    evn_close_loop(s, g.loop);
    evn_place_close(g.place);
}

static evn_status make_home(void *arg, int task) {
    (void)arg, (void)task;
    return EVN_OK;
}

static void *home_memory(void *arg, int task, int block, size_t *bytes) {
    (void)arg, (void)task, (void)block;
    *bytes = 0;
    return NULL;
}

static void drop_home(void *arg, int task) { (void)arg, (void)task; }

static void case_recovery(struct dice *d) {
    struct ground g;
    struct call c;
    int refused = 0;
    open_ground(&g, d);
    place_regions(&g, d, dice_below(d, 2), &refused);
    call_begin(&c, d);
    int every = 2, now = 0, status = EVN_DEVICE;
    size_t bytes = 8;
    double *list = call_array(&c, NULL, TASKS * sizeof *list), *value;
    evn_home home = {.blocks = SLOTS, .make = make_home, .memory = home_memory, .drop = drop_home};
    call_field(&c, FIELD_INT, &every, 1);
    call_field(&c, FIELD_INT, &now, 1);
    call_field(&c, FIELD_INT, &status, 1);
    call_field(&c, FIELD_INT, &home.blocks, 1);
    call_field(&c, FIELD_SIZE, &bytes, 1);
    call_pointer(&c, &value, list);
    call_mutate(&c);
    TRY(&refused, "evn_loop_homes()", evn_loop_homes(g.loop, &home, NULL));
    TRY(&refused, "evn_loop_allgather()", evn_loop_allgather(g.loop, value, bytes));
    TRY(&refused, "evn_recovery_open()", evn_recovery_open(&g.recovery, g.loop, every, NULL));
    if (g.recovery) {
        TRY(&refused, "evn_recovery_keep()", evn_recovery_keep(g.recovery, now));
        change_loop(&g, d, &refused);
        TRY(&refused, "evn_recovery_keep()", evn_recovery_keep(g.recovery, now));
        /* which returns the failure, with its message */
        evn_recovery_go_on(g.recovery, (evn_status)status, &now);
    }
    call_end(&c);
    goes_on(&g, 0);
    close_ground(&g);
}

/* ---- all ----------------------------------------------------------------------------------- */

static void (*const cases[])(struct dice *d) = {case_schedule,    case_loop,    case_faces,
                                                case_distributed, case_session, case_recovery};
enum { KINDS = sizeof cases / sizeof *cases };

static void run_case(uint64_t seed) {
    struct dice d = {seed};
    case_seed = seed;
    cases[seed % KINDS](&d);
}

/* A device fills its memory, so it has little: regions may get any size. */
static void open_units(void) {
    evn_machine *machine;
    assert_ok(evn_machine_open(&machine));
    assert_ok(evn_units_open(&units, machine, "1:CPU:1,1:GPU:1", "emulated:memory=64MiB",
                             EVN_OVERSUBSCRIBE));
}

/* Cases in a process of their own; `at` is the seed at which it is. */
static int run_some(uint64_t seed, int count, volatile uint64_t *at) {
    fflush(stdout);
    const pid_t child = fork();
    if (!child) {
        static const int crash[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT};
        for (size_t i = 0; i < sizeof crash / sizeof *crash; i++) signal(crash[i], SIG_DFL);
        alarm(PATIENCE);
        open_units();
        for (int i = 0; i < count; i++) run_case(*at = seed + (uint64_t)i);
        fflush(stdout);
        _exit(wrong);
    }
    int status;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        printf("seed %llu: ends by signal %d\n", (unsigned long long)*at, WTERMSIG(status));
    return !WIFEXITED(status) || WEXITSTATUS(status);
}

static uint64_t first_seed = 1;
static int case_count = CASES;

static void test_all(void **state) {
    (void)state;
    volatile uint64_t *at =
        mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int bad = 0;
    assert_true(at != MAP_FAILED);
    for (int i = 0; i < case_count; i += EACH)
        bad +=
            run_some(first_seed + (uint64_t)i, case_count - i < EACH ? case_count - i : EACH, at);
    munmap((void *)at, sizeof *at);
    if (bad) fail_msg("%d groups of cases are wrong", bad);
}

int main(int argc, char **argv) {
    if (getenv("EVENER_TEST_LONG")) case_count = LONG;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    if (argc > 1) case_count = atoi(argv[1]);
    if (argc > 2) first_seed = strtoull(argv[2], NULL, 10);
    if (case_count > 1 || argc < 3) return cmocka_run_group_tests_name("mutate", tests, NULL, NULL);
    open_units();
    run_case(first_seed);
    return wrong;
}
