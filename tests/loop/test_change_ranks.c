/* Tasks that come and go over ranks, which are processes here: random changes of a line of tasks,
 * in which tasks are divided, merged, remade in pairs, inserted and removed, and numbers turned
 * round; births from origins that were on several ranks; faces that come and go; tasks that travel.
 * Their memory is the program's, with regions and without, or that of a session's regions. All
 * values are those of plain arrays, under every schedule, on cores and on devices, and collected on
 * rank 0. Whichever allocation of a call fails on one of the ranks, all hear of it, and go on as
 * before. Run: ctest -R change-ranks */
#include "world.h"
#include "domain/exchange_ranks.h"
#include "exchange/plan.h"
#include "failing.h"
#include "wire/ranks.h"
#include <unistd.h>

enum {
    MOST = 64,
    VALUES = 24,
    BYTES = VALUES * sizeof(double),
    START = 14,
    MANY = 48,
    EACH = 2, /* regions of a task, of which the second is only written */
    RANKS_MAX = 5
};

/* Homes of the program, without regions and with one each; or regions of a session: the place's on
 * all ranks; the program's of a rank's own tasks and the place's of those that come; the program's
 * on all ranks, with born ones of the place's. */
enum way { HOMES, HOMES_PLACED, PLACES, ABSENT, PROGRAMS, WAYS };

struct trial {
    int ranks;
    enum way way;
    int rounds;
    const char *schedule;
    const char *const *list;
    int few;   /* 1: of many tasks few change at a time, and few move */
    int fails; /* 1: every allocation of calls fails first, each round on another rank */
};
static const struct trial *trial;

/* What a rank has. */
static evn_cluster *cluster;
static evn_session *session;
static evn_loop *loop;
static evn_place *place;
static evn_exchange *halo;
static int rank, tasks, step, numbered;
static int line[MOST]; /* tasks in their order */
static int
    face_of[MOST]; /* number of the first of two faces between tasks i and i + 1 of the line */
static double value[MOST][VALUES]; /* as they should be */
static double *memory[MOST][EACH]; /* the program's; NULL */
static int region[MOST][EACH];
/* of before, while tasks are born */
static double *old_memory[MOST][EACH];
static int old_region[MOST][EACH];
static int fail_make, failing = -1; /* the rank where allocations fail; -1: none */
static long fails_from = 1;         /* the first of them */
static int mended;                  /* plans of the exchange that were not made from scratch */

static int is_session(void) { return trial->way >= PLACES; }

/* ---- homes --------------------------------------------------------------------------------- */

static evn_status make(void *unused, int task) {
    (void)unused;
    must(!memory[task][0]);
    if (fail_make) return evn_fail(EVN_MEMORY, "line: no room for task %d", task);
    memory[task][0] = malloc(BYTES);
    return memory[task][0] ? EVN_OK : evn_fail(EVN_MEMORY, "line: no memory for task %d", task);
}

static void *memory_of(void *unused, int task, int block, size_t *bytes) {
    (void)unused, (void)block;
    *bytes = memory[task][0] ? BYTES : 0;
    return memory[task][0];
}

static void drop(void *unused, int task) {
    (void)unused;
    free(memory[task][0]);
    memory[task][0] = NULL;
}

/* ---- plain arrays -------------------------------------------------------------------------- */

static void compute(double *v) {
    double next[VALUES];
    for (int i = 1; i < VALUES - 1; i++)
        next[i] = 0.5 * v[i] + 0.2 * v[i - 1] + 0.3 * v[i + 1] + step % 3;
    memcpy(v + 1, next + 1, (VALUES - 2) * sizeof *v);
}

static void bear_plainly(double *v, double *const *origin, int count) {
    for (int i = 0; i < VALUES; i++) {
        v[i] = count ? 0 : i;
        for (int k = 0; k < count; k++) v[i] += (k + 1) * origin[k][i] / (count + 1);
    }
}

static void exchange_plainly(void) {
    for (int i = 0; i + 1 < tasks; i++) {
        double *a = value[line[i]], *b = value[line[i + 1]];
        b[0] = a[VALUES - 2];
        a[VALUES - 1] = b[1];
    }
}

static void check_task(int t) {
    const double *host = memory[t][0];
    if (trial->way == HOMES) {
        must(host && !memcmp(host, value[t], BYTES));
        return;
    }
    must_ok(evn_place_acquire(place, 1, region[t], EVN_HOST, EVN_READ));
    must(!memcmp(evn_place_host(place, region[t][0]), value[t], BYTES));
    must_ok(evn_place_release(place, 1, region[t], EVN_HOST));
}

/* Values are right where their tasks are, which is on one rank, and regions are nowhere else. */
static void check(void) {
    double first[MOST];
    for (int t = 0; t < tasks; t++) first[t] = evn_loop_has(loop, t) ? value[t][1] : -1e9;
    must_ok(evn_loop_allgather(loop, first, sizeof *first));
    for (int t = 0; t < tasks; t++) {
        must(first[t] == value[t][1]);
        if (evn_loop_has(loop, t)) check_task(t);
        for (int i = 0; is_session() && !evn_loop_has(loop, t) && i < EACH; i++)
            must(evn_place_where(place, region[t][i]) < 0 && !evn_place_host(place, region[t][i]));
    }
}

/* To rank 0, which needs memory for it. */
static void collect(void) {
    const evn_status status = evn_session_collect(session, loop);
    if (trial->way == ABSENT && trial->ranks > 1) {
        must(status == EVN_USAGE && strstr(evn_message(), "on rank 0, and region"));
        return;
    }
    must_ok(status);
    for (int t = 0; t < tasks; t++) {
        if (rank && !evn_loop_has(loop, t)) continue;
        const double *to = memory[t][0] ? memory[t][0] : evn_place_host(place, region[t][0]);
        must(!memcmp(to, value[t], BYTES));
    }
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

static double *host_of(evn_batch *b, int t, int i) {
    return trial->way == HOMES ? memory[t][i] : evn_batch_host(b, t, i);
}

/* A task's values on cores, or its copy of a device's; and their copy in the second region. */
static evn_status work(evn_batch *b, int t) {
    double copy[VALUES];
    if (evn_batch_device(b) < 0) {
        compute(host_of(b, t, 0));
        if (is_session()) memcpy(host_of(b, t, 1), host_of(b, t, 0), BYTES);
        return EVN_OK;
    }
    evn_status status = get(b, evn_batch_at(b, t, 0), copy);
    if (status) return status;
    compute(copy);
    status = put(b, evn_batch_at(b, t, 0), copy);
    return status || !is_session() ? status : put(b, evn_batch_at(b, t, 1), copy);
}

/* Times that are not true, so that tasks move. */
static evn_status body(evn_unit *unit, evn_batch *b, void *arg) {
    int count;
    const int *task = evn_batch_tasks(b, &count);
    evn_status status = EVN_OK;
    (void)unit, (void)arg;
    for (int i = 0; !status && i < count; i++) {
        status = work(b, task[i]);
        evn_batch_add(b, task[i], trial->few ? 1 : 1 + (task[i] * 7 + step * 3) % 11);
    }
    if (!status) evn_batch_done(b, count);
    return status;
}

static evn_status fill(evn_unit *unit, evn_batch *b, void *arg) {
    (void)unit, (void)arg;
    for (int t; (t = evn_batch_next(b)) >= 0;) memcpy(evn_batch_host(b, t, 0), value[t], BYTES);
    return EVN_OK;
}

/* The change that births are of, by the numbers of tasks; `line` of the new ones. */
static struct numbers {
    int first[MOST + 1], from[2 * MOST], region[MOST][EACH], line[MOST];
    char kept[MOST];
    double weight[MOST];
} of;

static evn_status bear_one(evn_batch *b, int t) {
    const int origins = evn_batch_origins(b, t), *from = &of.from[of.first[t]];
    double copy[2][VALUES], *origin[2] = {copy[0], copy[1]}, born[VALUES];
    evn_status status = EVN_OK;
    must(origins == of.first[t + 1] - of.first[t]);
    for (int k = 0; !status && k < origins; k++) {
        if (evn_batch_device(b) >= 0)
            status = get(b, evn_batch_origin_at(b, t, k, 0), copy[k]);
        else
            origin[k] =
                trial->way == HOMES ? old_memory[from[k]][0] : evn_batch_origin_host(b, t, k, 0);
    }
    if (status) return status;
    bear_plainly(born, origin, origins);
    if (evn_batch_device(b) >= 0) return put(b, evn_batch_at(b, t, 0), born);
    memcpy(host_of(b, t, 0), born, BYTES);
    return EVN_OK;
}

static evn_status bear(evn_unit *unit, evn_batch *b, void *arg) {
    int count;
    const int *task = evn_batch_tasks(b, &count);
    evn_status status = EVN_OK;
    (void)unit, (void)arg;
    for (int i = 0; !status && i < count; i++) status = bear_one(b, task[i]);
    if (!status) evn_batch_done(b, count);
    return status;
}

/* ---- steps --------------------------------------------------------------------------------- */

static void add_pair(int i, evn_face *face) {
    const int a = line[i], b = line[i + 1];
    face[0] = (evn_face){.from = a, .to = b, .from_at = VALUES - 2, .n = {1, 1, 1}};
    face[1] = (evn_face){.from = b, .to = a, .from_at = 1, .to_at = VALUES - 1, .n = {1, 1, 1}};
}

/* What faces are opened with. */
static void *const *hosts(void) {
    static void *host[MOST];
    for (int t = 0; t < tasks; t++) host[t] = memory[t][0];
    return trial->way == HOMES ? host : NULL;
}

/* The loop's counts of a run. */
static evn_loop_totals count_run(evn_exchange *x) {
    const evn_loop_totals before = evn_loop_sum(loop);
    must_ok(evn_exchange_run(x));
    evn_loop_totals after = evn_loop_sum(loop);
    after.bytes -= before.bytes;
    after.messages -= before.messages;
    after.copies -= before.copies;
    after.rank_messages -= before.rank_messages;
    after.rank_bytes -= before.rank_bytes;
    return after;
}

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Whether tasks have the next owners that they had when the messages were laid out: a move within a
 * rank leaves these as they are, though their order goes by owners. */
static int owners_stay(const evn_exchange *x) {
    static int laid[MOST], plan;
    const int *next = loop_next(loop);
    if (plan != x->remote_plan) memcpy(laid, next, (size_t)tasks * sizeof *next);
    plan = x->remote_plan;
    return !memcmp(laid, next, (size_t)tasks * sizeof *next);
}

/* Over ranks each face has the same place in messages. */
static void compare_places(const evn_exchange *x, const evn_exchange *fresh) {
    must(x->remote->faces == fresh->remote->faces &&
         x->remote->neighbours.count == fresh->remote->neighbours.count);
    for (int i = 0; i < fresh->remote->faces; i++) {
        const struct evn_face *f = &x->face[x->remote->face[i]].of;
        const struct evn_face *g = &fresh->face[fresh->remote->face[i]].of;
        must(x->remote->at[i] == fresh->remote->at[i]);
        must(exchange_task(x, &x->face[x->remote->face[i]], 1) == g->to && f->to_at == g->to_at);
    }
}

/* Messages are those of an exchange that is opened anew with the same faces in their order; places
 * in them are compared where `owners` stay. */
static void compare_messages(int owners) {
    evn_face face[2 * MOST];
    int order[MOST][2], pairs = tasks - 1;
    evn_exchange *x = halo, *fresh = NULL;
    for (int i = 0; i < pairs; i++) order[i][0] = face_of[i], order[i][1] = i;
    qsort(order, (size_t)pairs, sizeof *order, by_number);
    for (int i = 0; i < pairs; i++) add_pair(order[i][1], &face[2 * i]);
    must_ok(evn_exchange_open(&fresh, loop, sizeof(double), 2 * pairs, face, hosts()));
    const evn_loop_totals here = count_run(x), anew = count_run(fresh);
    must(here.bytes == anew.bytes && here.messages == anew.messages);
    must(here.copies == anew.copies && here.rank_messages == anew.rank_messages);
    must(here.rank_bytes == anew.rank_bytes);
    if (trial->ranks > 1 && owners) compare_places(x, fresh);
    for (int t = 0; t < tasks; t++)
        if (evn_loop_has(loop, t)) must(evn_exchange_needs(x, t) == evn_exchange_needs(fresh, t));
    evn_exchange_close(fresh);
}

/* A run without an exchange, as where some of its faces are gone already. */
static void compute_all(void) {
    must_ok(evn_loop_run(loop, body, NULL));
    for (int t = 0; t < tasks; t++) compute(value[t]);
    step++;
}

static void run_step(void) {
    must_ok(evn_exchange_run(halo));
    exchange_plainly();
    mended += halo->gone > 0 || halo->plan.cut > 0;
    const int owners = owners_stay(halo);
    if (step % 3 == 0) compare_messages(owners);
    compute_all();
}

/* ---- calls that fail ------------------------------------------------------------------------ */

static evn_status call_bear(const void *arg) {
    (void)arg;
    return evn_loop_bear(loop, bear, NULL, EVN_READ);
}

/* A call until it comes about, each time with another allocation of this rank that fails. All ranks
 * hear of it alike, and what there is stays as it was; `complete`: also values. */
static void call(evn_status (*made)(const void *arg), const void *arg, int complete) {
    const evn_schedule *schedule = evn_loop_schedule(loop);
    const int generation = evn_loop_about(loop).generation;
    const size_t owners = (size_t)tasks * sizeof(int);
    int owner[MOST];
    long i = complete ? fails_from : 1;
    for (int tries = 1;; tries++, i++) {
        char *before = evn_schedule_export(schedule);
        memcpy(owner, evn_loop_owner(loop), owners);
        const evn_loop_totals totals = evn_loop_sum(loop);
        if (rank == failing) fails = i;
        const evn_status status = made(arg);
        const int failed = rank == failing && !fails;
        fails = 0;
        if (failing < 0 || !status) must_ok(status);
        if (!status) {
            if (complete) must(failing < 0 || tries > 4 || fails_from > 1);
            /* some can be done without; the next change begins behind it */
            if (complete) fails_from = failed ? i + 1 : 1;
            free(before);
            return;
        }
        must(status == EVN_MEMORY || (made == call_bear && status == EVN_BODY));
        must(evn_loop_about(loop).generation == generation);
        char *now = evn_schedule_export(schedule);
        must(!strcmp(before, now));
        must(!memcmp(owner, evn_loop_owner(loop), owners));
        must(evn_loop_sum(loop).moved == totals.moved);
        free(before);
        free(now);
        if (complete) check();
        if (complete && tries % 4 == 0) compute_all();
    }
}

static evn_status call_change(const void *c) { return evn_loop_change(loop, c); }

static evn_status call_place(const void *arg) {
    static const evn_access access[EACH] = {EVN_BOTH, EVN_WRITE};
    (void)arg;
    return evn_session_place(session, loop, place, EACH, region[0], access);
}

struct added {
    int count;
    const evn_face *face;
};
static evn_status call_add(const void *arg) {
    const struct added *a = arg;
    return evn_exchange_add(halo, a->count, a->face, hosts());
}

struct dropped {
    int count;
    const int *number;
};
static evn_status call_drop(const void *arg) {
    const struct dropped *d = arg;
    return evn_exchange_drop(halo, d->count, d->number);
}

/* ---- opening ------------------------------------------------------------------------------- */

static void open_homes(void) {
    static const evn_home home = {.blocks = 1, .make = make, .memory = memory_of, .drop = drop};
    int one[MOST];
    for (int t = 0; t < tasks; t++) {
        if (evn_loop_has(loop, t)) must_ok(make(NULL, t));
        if (memory[t][0]) memcpy(memory[t][0], value[t], BYTES);
        if (trial->way != HOMES) must_ok(evn_place_add(place, memory[t][0], BYTES, region[t]));
        one[t] = region[t][0];
    }
    if (trial->way != HOMES) must_ok(evn_loop_place(loop, place, 1, one, (evn_access[]){EVN_BOTH}));
    must_ok(evn_loop_homes(loop, &home, NULL));
}

static void add_region(int t, int i) {
    const int gives = trial->way == PROGRAMS || (trial->way == ABSENT && evn_loop_has(loop, t));
    /* some have no second one of the program's */
    if (trial->way == PLACES || (i && t % 5 == 4)) {
        must_ok(evn_place_make(place, BYTES, &region[t][i]));
        return;
    }
    memory[t][i] = gives ? malloc(BYTES) : NULL;
    if (gives && !i) memcpy(memory[t][i], value[t], BYTES);
    must_ok(evn_place_add(place, memory[t][i], BYTES, &region[t][i]));
}

static void open_regions(void) {
    for (int t = 0; t < tasks; t++)
        for (int i = 0; i < EACH; i++) add_region(t, i);
    failing = trial->fails ? 1 : -1;
    call(call_place, NULL, 0);
    failing = -1;
    if (trial->way == PLACES) must_ok(evn_loop_visit_host(loop, fill, NULL, EVN_WRITE));
}

static void open_line(evn_cluster *ranks) {
    evn_face face[2 * MOST];
    cluster = ranks;
    rank = evn_cluster_rank(cluster);
    tasks = trial->few ? MANY : START;
    must_ok(evn_open_with(&session, &(evn_open_options){.units = trial->list[rank],
                                                        .devices = "emulated",
                                                        .flags = EVN_OVERSUBSCRIBE,
                                                        .cluster = cluster}));
    must_ok(evn_open_loop(&loop, session, trial->schedule, &(evn_problem){.tasks = tasks}));
    must_ok(evn_place_open(&place, evn_session_units(session), 0.5));
    for (int t = 0; t < tasks; t++)
        for (int i = 0; i < VALUES; i++) value[t][i] = t + i % 5;
    if (is_session())
        open_regions();
    else
        open_homes();
    for (int t = 0; t < tasks; t++) line[t] = t;
    for (int i = 0; i + 1 < tasks; i++) add_pair(i, &face[face_of[i] = 2 * i]);
    numbered = 2 * (tasks - 1);
    must_ok(evn_exchange_open(&halo, loop, sizeof(double), numbered, face, hosts()));
}

static void close_line(void) {
    must_ok(evn_cluster_agree(cluster, EVN_OK));
    evn_exchange_close(halo);
    evn_place_close(place);
    must_ok(evn_close(session));
    for (int t = 0; t < tasks; t++)
        for (int i = 0; i < EACH; i++) free(memory[t][i]);
}

/* ---- changes ------------------------------------------------------------------------------- */

/* A change, in the order of the line. */
struct steps {
    int tasks, first[MOST + 1], from[2 * MOST], at; /* by the line, both */
    char kept[MOST];
};

static void add_task(struct steps *p, int kept, int origins, int from) {
    p->kept[p->tasks] = (char)kept;
    for (int k = 0; k < origins; k++) p->from[p->at++] = from + k;
    p->first[++p->tasks] = p->at;
}

static void draw_plan(struct steps *p) {
    *p = (struct steps){0};
    for (int i = 0; i < tasks; i++) {
        const int kind = below(trial->few ? 100 : 12), pair = i + 1 < tasks;
        const int more = p->tasks < (trial->few ? MANY : MOST / 2);
        if (kind == 0 && more) {
            for (int c = 1 + below(3); c; c--) add_task(p, 0, 1, i);
        } else if (kind == 1 && pair && tasks > 6) {
            add_task(p, 0, 2, i++);
        } else if (kind == 2 && pair) {
            add_task(p, 0, 2, i);
            add_task(p, 0, 2, i++);
        } else if (kind == 3 && tasks > 8) {
            continue;
        } else {
            if (kind == 4 && more) add_task(p, 0, 0, i);
            add_task(p, 1, 1, i);
        }
    }
    must(p->tasks <= MOST);
}

/* Whether tasks i and i + 1 of the new line were neighbours before. */
static int stay(const struct steps *p, int i) {
    return p->kept[i] && p->kept[i + 1] && p->from[p->first[i]] + 1 == p->from[p->first[i + 1]];
}

/* Faces between kept tasks that are neighbours no longer. */
static void drop_faces(const struct steps *p) {
    int gone[MOST], count = 0, kept[MOST] = {0}, together[MOST] = {0};
    for (int i = 0; i < p->tasks; i++) {
        if (p->kept[i]) kept[p->from[p->first[i]]] = 1;
        if (i + 1 < p->tasks && stay(p, i)) together[p->from[p->first[i]]] = 1;
    }
    for (int i = 0; i + 1 < tasks; i++) {
        if (!kept[i] || !kept[i + 1] || together[i]) continue;
        gone[count++] = face_of[i];
        gone[count++] = face_of[i] + 1;
    }
    call(call_drop, &(struct dropped){count, gone}, 0);
}

static void add_faces(const struct steps *p) {
    evn_face face[2 * MOST];
    int count = 0, before[MOST];
    memcpy(before, face_of, sizeof before);
    for (int i = 0; i + 1 < tasks; i++) {
        if (stay(p, i)) {
            face_of[i] = before[p->from[p->first[i]]];
            continue;
        }
        add_pair(i, &face[count]);
        face_of[i] = numbered + count;
        count += 2;
    }
    call(call_add, &(struct added){count, face}, 0);
    numbered += count;
}

static void register_born(int t) {
    for (int i = 0; i < EACH; i++) {
        of.region[t][i] = -1;
        if (of.kept[t] || trial->way == HOMES || (i && !is_session())) continue;
        must_ok(trial->way == PLACES || trial->way == PROGRAMS
                    ? evn_place_make(place, BYTES, &of.region[t][i])
                    : evn_place_add(place, NULL, BYTES, &of.region[t][i]));
    }
}

/* The plan by the numbers of tasks. */
static void number(const struct steps *p) {
    const int turned = !below(3), n = p->tasks;
    of.first[0] = 0;
    for (int t = 0; t < n; t++) {
        const int i = turned ? n - 1 - t : t, count = p->first[i + 1] - p->first[i];
        of.line[i] = t;
        of.kept[t] = p->kept[i];
        of.weight[t] = 1 + below(3);
        for (int k = 0; k < count; k++) of.from[of.first[t] + k] = line[p->from[p->first[i] + k]];
        of.first[t + 1] = of.first[t] + count;
        register_born(t);
    }
}

/* Memory of the new tasks, and how values should be. */
static void follow(int n, int *gone) {
    static double before[MOST][VALUES];
    memcpy(before, value, sizeof before);
    memcpy(old_memory, memory, sizeof memory);
    memcpy(old_region, region, sizeof region);
    for (int t = 0; t < tasks; t++) gone[t] = 1;
    for (int t = 0; t < n; t++) {
        const int count = of.first[t + 1] - of.first[t], from = count ? of.from[of.first[t]] : 0;
        double *origin[2] = {before[from], before[count > 1 ? of.from[of.first[t] + 1] : 0]};
        if (of.kept[t]) {
            memcpy(value[t], before[from], BYTES);
            memcpy(memory[t], old_memory[from], sizeof memory[t]);
            memcpy(region[t], old_region[from], sizeof region[t]);
            gone[from] = 0;
            continue;
        }
        bear_plainly(value[t], origin, count);
        memcpy(region[t], of.region[t], sizeof region[t]);
        memset(memory[t], 0, sizeof memory[t]);
        if (is_session() || !evn_loop_has(loop, t)) continue;
        memory[t][0] = malloc(BYTES);
        if (trial->way != HOMES) must_ok(evn_place_arrive(place, region[t][0], memory[t][0]));
    }
    memcpy(line, of.line, sizeof line);
    tasks = n;
}

/* Each task of before has memory on one rank, also those that were gathered. */
static void check_memory(void) {
    char here[MOST], all[RANKS_MAX][MOST];
    for (int t = 0; t < tasks; t++) here[t] = memory[t][0] != NULL;
    must_ok(evn_cluster_gather(cluster, here, sizeof here, all));
    for (int t = 0; !rank && t < tasks; t++) {
        int count = 0;
        for (int r = 0; r < trial->ranks; r++) count += all[r][t];
        must(count == 1);
    }
}

/* What a task had that is gone: a session removes regions of the place's when births are done. */
static void clear(int t) {
    for (int i = 0; i < EACH; i++) {
        const int r = old_region[t][i];
        const int ours = trial->way == HOMES_PLACED ? !i : old_memory[t][i] != NULL;
        if (is_session()) must(evn_place_bytes(place, r) == (ours ? BYTES : 0));
        if (ours && trial->way != HOMES) must_ok(evn_place_remove(place, r));
        free(old_memory[t][i]);
    }
}

/* Kept tasks have their times, born ones none; and what the record of changes says. */
static void check_inherited(int before, const double *seconds, const int *gone) {
    const int generation = evn_loop_about(loop).generation;
    const evn_changed noted = evn_loop_changed(loop, generation - 1);
    int kept = 0, lost = 0;
    for (int t = 0; t < tasks; t++) {
        const double *had = of.kept[t] ? &seconds[of.from[of.first[t]]] : &(double){0};
        if (trial->ranks == 1 && !trial->fails) must(evn_loop_seconds(loop)[t] == *had);
        kept += of.kept[t];
    }
    for (int t = 0; t < before; t++) lost += gone[t];
    must(noted.tasks == tasks && noted.kept == kept && noted.born == tasks - kept);
    must(noted.gone == lost && noted.seconds > 0);
    must(noted.instance == evn_schedule_about(evn_loop_schedule(loop)).instance);
}

static void change(void) {
    struct steps p;
    int gone[MOST], one[MOST];
    double seconds[MOST];
    const int before = tasks;
    if (trial->ranks == 1) memcpy(seconds, evn_loop_seconds(loop), (size_t)tasks * sizeof *seconds);
    draw_plan(&p);
    drop_faces(&p);
    number(&p);
    for (int t = 0; t < p.tasks; t++) one[t] = of.region[t][0];
    const evn_change c = {.tasks = p.tasks,
                          .first = of.first,
                          .from = of.from,
                          .kept = of.kept,
                          .weight = below(2) ? of.weight : NULL,
                          .links = -1,
                          .region = trial->way == HOMES          ? NULL
                                    : trial->way == HOMES_PLACED ? one
                                                                 : of.region[0]};
    call(call_change, &c, 1);
    if (!is_session()) check_memory();
    follow(p.tasks, gone);
    check_inherited(before, seconds, gone);
    for (int t = 0; is_session() && t < before; t++)
        for (int i = 0; gone[t] && i < EACH; i++)
            must(evn_place_bytes(place, old_region[t][i]) == BYTES);
    add_faces(&p);
    call(call_bear, NULL, 0);
    for (int t = 0; t < before; t++)
        if (gone[t]) clear(t);
    check();
}

/* ---- the tests ----------------------------------------------------------------------------- */

/* Whether tasks move in steps: from a change on guided:time and interval have the shortest
 * boundaries. */
static int steps_move(void) {
    return trial->ranks > 1 && strncmp(trial->schedule, "dynamic", 7) &&
           strcmp(trial->schedule, "guided:time") && strcmp(trial->schedule, "interval");
}

static void rounds(evn_cluster *ranks) {
    open_line(ranks);
    for (int r = 0; r < trial->rounds; r++) {
        for (int s = r % 4; s < 3; s++) run_step(); /* also none */
        /* copies that it leaves on rank 0 are gone after the next run or change */
        if (is_session() && !trial->fails && r % 3 == 1) collect();
        failing = trial->fails ? r % trial->ranks : -1;
        change();
        failing = -1;
        if (is_session() && !trial->fails && r % 3 == 2) collect();
    }
    for (int s = 0; s < 3; s++) run_step();
    check();
    if (is_session()) collect();
    run_step();
    check(); /* what was collected is gone again */
    must(evn_loop_about(loop).generation == trial->rounds);
    must(evn_schedule_problem(evn_loop_schedule(loop))->tasks == tasks);
    if (trial->few) must(mended >= trial->rounds);
    if (is_session() && steps_move()) must(evn_loop_sum(loop).moved > 0);
    close_line();
}

static const char *const CPUS[RANKS_MAX] = {"2:CPU:1", "1:CPU:1", "3:CPU:1", "1:CPU:2", "1:CPU:1"};
static const char *const ALONE[RANKS_MAX] = {"1:CPU:1", "1:CPU:1", "1:CPU:1", "1:CPU:1", "1:CPU:1"};
static const char *const MIXED[RANKS_MAX] = {"1:CPU:1,1:GPU:1", "1:CPU:1", "2:GPU:1", "1:CPU:1",
                                             "1:GPU:1"};
static const char *const GPUS[RANKS_MAX] = {"2:GPU:1", "1:GPU:2", "1:CPU:1,1:GPU:1", "1:GPU:1",
                                            "1:GPU:1"};
static const int RANKS[] = {1, 2, 3, 5};

static void run(const struct trial *t, void (*rank_main)(evn_cluster *cluster)) {
    trial = t;
    alarm(240); /* ranks that wait for each other for ever */
    if (ranks_of_cluster(0, t->ranks, rank_main))
        fail_msg("%d ranks, %s, way %d", t->ranks, t->schedule, t->way);
    alarm(0);
}

static int all; /* with EVENER_TEST_LONG; else one of three cases, or of two */

TEST(schedules) {
    static const char *const schedules[] = {
        "static",      "dynamic",      "dynamic:chunk=1,memorize=0",
        "guided:size", "guided:time",  "weighted",
        "binpack",     "binpack:time", "interval",
        "map",         "auto",         "optimal:limit=1"};
    enum { SCHEDULES = sizeof schedules / sizeof *schedules };
    for (int i = 0; i < SCHEDULES; i++)
        for (int r = 0; r < 4; r++)
            for (int way = 0; way < WAYS; way++)
                if (all || (i + r + way) % 3 == 0)
                    run(&(struct trial){RANKS[r], (enum way)way, i < SCHEDULES - 1 ? 12 : 2,
                                        schedules[i], way == HOMES ? CPUS : ALONE, 0, 0},
                        rounds);
}

TEST(on_devices) {
    static const char *const schedules[] = {"map", "dynamic:chunk=1,memorize=0", "guided:time"};
    for (int s = 0; s < 3; s++)
        for (int r = 0; r < 4; r++)
            for (int way = HOMES_PLACED; way < WAYS; way++)
                if (all || (s + r + way) % 2 == 0)
                    run(&(struct trial){RANKS[r], (enum way)way, 8, schedules[s],
                                        way % 2 ? MIXED : GPUS, 0, 0},
                        rounds);
}

/* Plans are mended, not made from scratch. */
TEST(few) {
    const int changes = all ? 24 : 12;
    for (int r = 1; r < 4; r++) {
        run(&(struct trial){RANKS[r], HOMES, changes, "map", CPUS, 1, 0}, rounds);
        run(&(struct trial){RANKS[r], HOMES_PLACED, changes, "static", ALONE, 1, 0}, rounds);
        run(&(struct trial){RANKS[r], HOMES_PLACED, changes, "map", MIXED, 1, 0}, rounds);
        run(&(struct trial){RANKS[r], PLACES, changes, "map", GPUS, 1, 0}, rounds);
    }
}

/* All or nothing. */
TEST(failing) {
    static const char *const schedules[] = {"map", "static", "dynamic:chunk=1,memorize=0",
                                            "guided:time"};
    if (!HAVE_FAILING) skip();
    for (int s = 0; s < 4; s++)
        for (int r = 1; r < 3; r++)
            for (int way = 0; way < WAYS; way++)
                if (all || (s + r + way) % 3 == 0)
                    run(&(struct trial){RANKS[r], (enum way)way, 6, schedules[s],
                                        way == HOMES ? CPUS : MIXED, 0, 1},
                        rounds);
}

/* ---- mistakes ------------------------------------------------------------------------------ */

/* Other weights that one rank has no memory for, or that differ on one rank: none takes them. */
static void other_weights(evn_cluster *ranks) {
    open_line(ranks);
    const evn_schedule *schedule = evn_loop_schedule(loop);
    double weight[START], other[START], negative[START], ones[START];
    for (int t = 0; t < START; t++) ones[t] = 1, weight[t] = other[t] = negative[t] = 1 + t;
    other[3] = 9;
    negative[2] = -1;
    for (int r = 0; r < trial->ranks; r++) {
        run_step();
        char *before = evn_schedule_export(schedule);
        const double was = evn_schedule_problem(schedule)->weight[START - 1];
        if (HAVE_FAILING && rank == r) fails = 1;
        if (HAVE_FAILING) must_give(evn_loop_weights(loop, weight), EVN_MEMORY);
        fails = 0;
        must_give(evn_loop_weights(loop, rank == r ? negative : weight), EVN_USAGE);
        must(strstr(evn_message(), "task 2 is -1"));
        must_give(evn_loop_weights(loop, rank == r ? other : weight), EVN_USAGE);
        must(strstr(evn_message(), r ? "other weights on rank" : "other weights on rank 1"));
        must(evn_schedule_problem(schedule)->weight[START - 1] == was);
        char *now = evn_schedule_export(schedule);
        must(!strcmp(before, now));
        free(before);
        free(now);
        must_ok(evn_loop_weights(loop, weight));
        must(evn_schedule_problem(schedule)->weight[START - 1] == START);
        run_step();
        check();
        must_ok(evn_loop_weights(loop, rank == r ? ones : NULL)); /* the same */
    }
    close_line();
}

/* An origin that finds no room where it is to go: nothing has changed, no value is lost, and the
 * same change comes about once there is room. */
static void no_room(evn_cluster *ranks) {
    open_line(ranks);
    const int first[] = {0, 2, 3}, from[] = {0, 13, 1};
    run_step();
    fail_make = !rank;
    const evn_change c = {.tasks = 2, .first = first, .from = from, .links = -1};
    must_give(evn_loop_change(loop, &c), EVN_MEMORY);
    must(strstr(evn_message(), "no room for task 13"));
    must(evn_loop_about(loop).generation == 0);
    run_step();
    check();
    fail_make = 0;
    must_ok(evn_loop_change(loop, &c));
    must(evn_loop_about(loop).generation == 1);
    close_line();
}

TEST(mistakes) {
    run(&(struct trial){3, HOMES, 0, "static", ALONE, 0, 0}, no_room);
    run(&(struct trial){3, HOMES, 0, "map", CPUS, 0, 0}, other_weights);
}

static int set_up(void **state) {
    (void)state;
    all = getenv("EVENER_TEST_LONG") != NULL;
    return 0;
}

RUN_TESTS(set_up, NULL)
