/* A run: a transform to warm up, then the field, its transform and the steps. A step is a visit of
 * the loop along z, which is its transpose too, and an instance along x and y; with two transposes
 * it is a visit along x and y and an instance along z. The schedule learns from the times of both.
 *
 * Over ranks a visit or an instance ends when all ranks have come to its end. */
#include "common/run/hash.h"
#include "common/run/put_counts.h"
#include "common/run/ranks.h"
#include "common/run/huge_alloc.h"
#include "common/run/run.h"
#include "ft/counts.h"
#include "ft/funneled/funnel.h"
#include "ft/parts.h"
#include "ft/host/passes.h"
#include "ft/device/fields.h"
#include "ft/host/start.h"
#include "ft/state.h"
#include "common/run/free_all.h"
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const ft *problem;
    ft_shape shape;
    const struct ft_way *way;
    const struct run_options *options;
    evn_cluster *cluster; /* NULL: one process */
    evn_units *units;
    evn_loop *loop;
    struct work w;
    struct places places; /* this rank's devices */
    struct funnel funnel; /* devices that ranks share; closed where they do not */
    int steps;
    double **room;       /* scratch of each unit, for all of its cores */
    size_t room_doubles; /* doubles of scratch of a core */
    double *seconds;     /* seconds of each task in the visit before the instance */
    int *unit;           /* unit of each task in the instance to come */
    int *rank, *space;   /* rank and space of each task in the instance to come */
    int is_dealt;        /* fields are as these say */
    struct decay rate;   /* exponents of w.decay, of one step */
    double (*checksum)[2];
    atomic_int next; /* next task of each_own() */
    atomic_int out_of_memory;
    struct states states;
    double phase_s[FT_PHASES];
    evn_shared_counts before; /* the timed part */
    double counted[FT_COUNTS];
};

/* ---- bodies -------------------------------------------------------------------------------- */

enum { NO_TURN = -1, FT_PIECES = 8 };

struct order {
    struct run *run;
    task_pass *pass;
    enum place_pass place; /* the pass on a device */
    int turn;              /* what the pass is followed by, as each task is done */
    int learns;            /* the visit before this instance had times, too */
};

static void by_team(struct run *run, task_pass *pass, int task, const evn_unit *unit) {
    double *room = run->room[evn_unit_number(unit)];
    const int cores = evn_unit_cores(unit);
    if (cores == 1) {
        pass(&run->w, task, 0, 1, room);
        return;
    }
#pragma omp parallel num_threads(cores)
    pass(&run->w, task, omp_get_thread_num(), cores,
         room + (size_t)omp_get_thread_num() * run->room_doubles);
}

/* Planes go one by one, the rows of a task together. */
static evn_status send_task(const struct order *o, int task) {
    struct work *w = &o->run->w;
    const int turn = o->turn;
    if (turn == NO_TURN || !w->f.boxes || o->run->way->variant == FT_PACKED) return EVN_OK;
    const struct axis *a = turn == TURN_Z_TO_Y ? &w->f.owners.z : &w->f.owners.y;
    const int first = a->at[parts_begin(a->n, w->tasks, task)];
    const int end =
        first + parts_begin(a->n, w->tasks, task + 1) - parts_begin(a->n, w->tasks, task);
    evn_status status = EVN_OK;
    evn_shared_poll(w->f.boxes); /* what others have put comes on */
    if (turn == TURN_Y_TO_Z) return fields_send(&w->f, TURN_Y_TO_Z, first, end);
    for (int i = first; !status && i < end; i++) status = fields_send(&w->f, TURN_Z_TO_Y, i, i + 1);
    return status;
}

static evn_status task_left(void *arg, int task) {
    const struct order *o = arg;
    const double begin = evn_now();
    evn_status status = send_task(o, task);
    if (o->turn != NO_TURN)
        funnel_note(&o->run->funnel, o->run->w.f.owners.me, 1, begin, evn_now());
    return status;
}

/* Tasks in a device's memory. */
static evn_status in_place(const struct order *o, int space, int is_foreign, const int *task,
                           int count) {
    const struct fields *f = &o->run->w.f;
    const enum ft_variant variant = o->run->way->variant;
    const int packed = variant == FT_PACKED;
    const int crosses = f->inbox || o->run->places.count > 1;
    const struct place_order order = {.pass = o->place,
                                      .turn = crosses ? o->turn : NO_TURN,
                                      .pieces = packed                ? 1
                                                : variant == FT_SLABS ? count
                                                                      : FT_PIECES,
                                      .is_foreign = is_foreign,
                                      .left = f->boxes && !packed ? task_left : NULL,
                                      .arg = (void *)(uintptr_t)o};
    return places_pass(&o->run->places, space, &order, task, count);
}

/* A task, where its memory is: for the one step in which the schedule has moved it, and where units
 * draw, that may be another unit's. */
static evn_status one_task(const struct order *o, int task, const evn_unit *unit) {
    const int space = o->run->w.f.owners.space[task];
    if (space) return in_place(o, space, 1, &task, 1);
    by_team(o->run, o->pass, task, unit);
    return send_task(o, task);
}

/* Results of host tasks for devices are copied as soon as they are there. */
static evn_status send_to_places(const struct order *o, const int *task, int count) {
    struct run *run = o->run;
    if (o->turn == NO_TURN || !run->places.count || run->way->variant == FT_PACKED) return EVN_OK;
    const int *space = run->w.f.owners.space;
    evn_status status = EVN_OK;
    for (int i = 0, end; !status && i < count; i = end + 1) {
        for (end = i; end < count && !space[task[end]];) end++;
        if (end > i) status = places_send(&run->places, (enum turn)o->turn, task + i, end - i);
    }
    return status;
}

/* A device's batch: all of its data are copied together. */
static evn_status by_device(evn_unit *unit, evn_batch *batch, const struct order *o, int space) {
    struct run *run = o->run;
    int count, foreign = 0;
    const int *task = evn_batch_tasks(batch, &count);
    evn_status status = EVN_OK;
    for (int i = 0; i < count; i++) foreign += run->w.f.owners.space[task[i]] != space;
    if (!foreign) status = in_place(o, space, 0, task, count);
    for (int i = 0; foreign && !status && i < count; i++) {
        status = one_task(o, task[i], unit);
        if (!status) status = send_to_places(o, &task[i], 1);
    }
    for (int i = 0; !status && o->learns && i < count; i++)
        evn_batch_add(batch, task[i], run->seconds[task[i]]);
    return status;
}

/* ---- tasks whose device another rank leads, or this one for others ---- */

/* The field at the start is its owner's to make. */
static void start_own(struct run *run) {
    const struct fields *f = &run->w.f;
    for (int z = 0; z < f->owners.z.n; z++)
        if (f->owners.z.rank[z] == f->owners.me)
            start_rows(&run->w.t, f->plane[z], z, 0, run->w.t.ny);
}

/* Time of a task: kept for the next instance, or added to its earlier time. */
static void took(const struct order *o, evn_batch *batch, int task, double seconds) {
    double *before = &o->run->seconds[task];
    if (o->learns)
        evn_batch_add(batch, task, *before + seconds);
    else
        *before = seconds;
}

/* Tasks whose passes another rank's device does. What this rank does is wait, and put: bursts are
 * of that. */
static evn_status take_done(evn_batch *batch, const struct order *o, double since) {
    int count;
    const int *task = evn_batch_tasks(batch, &count);
    evn_status status = EVN_OK;
    while (evn_batch_next(batch) >= 0) {
    }
    for (int i = 0; !status && i < count; i++) {
        status = funnel_wait(&o->run->funnel, task[i]);
        const double begin = evn_now();
        if (!status) status = task_left((void *)(uintptr_t)o, task[i]);
        if (o->turn != NO_TURN) evn_batch_spent(batch, task[i], begin);
        took(o, batch, task[i], o->turn == NO_TURN ? begin - since : evn_now() - since);
        since = evn_now();
    }
    return status;
}

static evn_status funneled(evn_batch *batch, const struct order *o) {
    struct funnel *funnel = &o->run->funnel;
    const double since = evn_now();
    int count;
    const int *task = evn_batch_tasks(batch, &count);
    if (o->place == PLACE_START && !funnel->asked) start_own(o->run);
    evn_status status = funnel_ask(funnel, task_left, (void *)(uintptr_t)o);
    if (!status && !funnel->lead) return take_done(batch, o, since);
    const double each = (evn_now() - since) / count;
    for (int i = 0; !status && i < count; i++) took(o, batch, task[i], each);
    return status;
}

/* The batch's tasks; the time of each is noted for the instance that follows, or is all there was
 * since. */
static evn_status each_task(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    struct run *run = o->run;
    const int space = places_space(&run->places, unit, evn_batch_device(batch));
    if (run->funnel.desk) return funneled(batch, o);
    if (space) return by_device(unit, batch, o, space);
    int count, sent = 0, done = 0, piece = 1;
    const int *all = evn_batch_tasks(batch, &count);
    for (int task; (task = evn_batch_next(batch)) >= 0;) {
        const double begin = evn_now();
        evn_status status = one_task(o, task, unit);
        if (!status && ++done >= places_cut(count, FT_PIECES, piece)) {
            status = send_to_places(o, all + sent, done - sent);
            for (sent = done; places_cut(count, FT_PIECES, piece) <= done;) piece++;
        }
        if (status) return status;
        if (o->learns)
            evn_batch_add(batch, task, run->seconds[task]);
        else
            run->seconds[task] = evn_now() - begin;
    }
    return EVN_OK;
}

/* Tasks of a device share the time of their pass. */
static void share_seconds(struct run *run) {
    const struct owners *o = &run->w.f.owners;
    for (int s = 1; s <= run->places.count; s++) {
        const double seconds = places_seconds(&run->places, s);
        const int planes = o->z.begin[s + 1] - o->z.begin[s];
        for (int t = 0; seconds > 0 && t < run->w.tasks; t++)
            if (o->rank[t] == o->me && o->space[t] == s)
                run->seconds[t] =
                    seconds *
                    (parts_begin(o->z.n, o->tasks, t + 1) - parts_begin(o->z.n, o->tasks, t)) /
                    planes;
    }
}

/* A pass over shared devices begins; a master without tasks of its own, whose body will not be
 * called, is at it at once. */
static evn_status begin_pass(struct run *run, const struct order *o) {
    if (!run->funnel.desk) return EVN_OK;
    funnel_begin(&run->funnel, o->place);
    const struct owners *of = &run->w.f.owners;
    const int idle = run->funnel.lead && !of->z.count[of->me];
    return idle ? funnel_ask(&run->funnel, task_left, (void *)(uintptr_t)o) : EVN_OK;
}

/* Ends a pass; all ranks get the status of a master without tasks. */
static evn_status end_pass(struct run *run, evn_status begun, evn_status status) {
    if (!run->funnel.desk || !funnel_has_idle(&run->funnel)) return status;
    return ranks_agreed(run->cluster, begun ? begun : status);
}

static evn_status visit(struct run *run, task_pass *pass, enum place_pass place, int turn) {
    struct order order = {run, pass, place, turn, 0};
    const evn_status begun = begin_pass(run, &order);
    evn_status status = end_pass(run, begun, evn_loop_visit(run->loop, each_task, &order));
    if (!status) share_seconds(run);
    return status;
}

static evn_status instance(struct run *run, task_pass *pass, enum place_pass place) {
    struct order order = {run, pass, place, NO_TURN, 1};
    const evn_status begun = begin_pass(run, &order);
    return end_pass(run, begun, evn_loop_run(run->loop, each_task, &order));
}

static evn_status touch(evn_unit *unit, evn_batch *batch, void *arg) {
    struct run *run = arg;
    (void)unit;
    for (int task; (task = evn_batch_next(batch)) >= 0;)
        if (fields_touch(&run->w.f, task))
            return evn_fail(EVN_MEMORY, "ft: the system gave no memory for the fields");
    return EVN_OK;
}

/* Tasks whose planes this rank's host has, wherever their next instance is; collective. */
static void own_tasks(evn_unit *unit, void *arg) {
    const struct order *o = arg;
    const struct owners *of = &o->run->w.f.owners;
    for (int task; (task = atomic_fetch_add(&o->run->next, 1)) < of->tasks;)
        if (of->rank[task] == of->me && !of->space[task]) by_team(o->run, o->pass, task, unit);
}

static evn_status each_own(struct run *run, task_pass *pass) {
    atomic_store(&run->next, 0);
    return ranks_agreed(run->cluster, evn_units_run(run->units, own_tasks,
                                                    &(struct order){.run = run, .pass = pass}));
}

/* ---- tasks that go to another rank ---------------------------------------------------------- */

static evn_status make_home(void *arg, int task) {
    struct fields *f = &((struct run *)arg)->w.f;
    size_t bytes;
    fields_kept(f, task, &bytes);
    if ((f->come[task] = room(bytes))) return EVN_OK;
    return evn_fail(EVN_MEMORY, "ft: no memory for slab %d, which comes from another rank", task);
}

static void *home_memory(void *arg, int task, int block, size_t *bytes) {
    struct run *run = arg;
    (void)block;
    const evn_status status = places_fetch(&run->places, task);
    void *memory = fields_kept(&run->w.f, task, bytes);
    return status ? NULL : memory;
}

/* Frees all old arrays. */
static void drop_home(void *arg, int task) {
    (void)arg;
    (void)task;
}

static int is_here(void *arg, int task) {
    const struct run *run = arg;
    return run->rank[task] == run->w.f.owners.me;
}

/* The space of a local task's unit: its first device if unknown. */
static int space_of(const struct run *run, int unit, int device) {
    const evn_unit *mine = evn_units_get(run->units, unit - evn_loop_about(run->loop).first_unit);
    return places_space(&run->places, mine, device < 0 ? 0 : device);
}

/* Places of tasks in the next instance; does nothing if they are unchanged. Collective. */
static evn_status find_owners(struct run *run) {
    const size_t bytes = (size_t)run->w.tasks * sizeof(int);
    const int *unit = evn_loop_next(run->loop, NULL);
    if (run->is_dealt && !memcmp(unit, run->unit, bytes)) return EVN_OK;
    memcpy(run->unit, unit, bytes);
    evn_loop_devices(run->loop, 0, run->space);
    for (int t = 0; t < run->w.tasks; t++) {
        run->rank[t] = run->cluster ? evn_cluster_rank_of(run->cluster, unit[t]) : 0;
        run->space[t] = is_here(run, t) ? space_of(run, unit[t], run->space[t]) : EVN_HOST;
    }
    return ranks_complete(run->cluster, run->space, run->w.tasks, sizeof *run->space, is_here, run);
}

/* Arrays as tasks lie now, made anew where they have moved. */
static evn_status deal(struct run *run) {
    struct fields *f = &run->w.f;
    const size_t bytes = (size_t)run->w.tasks * sizeof(int);
    if (!run->cluster && !run->places.count) return EVN_OK;
    evn_status status = find_owners(run);
    if (status || (run->is_dealt && !memcmp(run->rank, f->owners.rank, bytes) &&
                   !memcmp(run->space, f->owners.space, bytes)))
        return status;
    status = ranks_agreed(run->cluster, places_home(&run->places));
    if (!status) status = fields_deal(f, run->rank, run->space);
    if (!status) status = ranks_agreed(run->cluster, places_deal(&run->places));
    if (!status && run->funnel.desk) status = ranks_agreed(run->cluster, funnel_deal(&run->funnel));
    run->is_dealt = !status;
    return status;
}

/* ---- the steps ----------------------------------------------------------------------------- */

/* E = e^(-4 alpha pi^2 (fx^2 + fy^2 + fz^2)) with alpha = 1e-6 (RNR-94-007, 3.4): exponents of each
 * direction's frequencies. */
static void make_rates(struct run *run) {
    double *rate[3] = {run->rate.x, run->rate.y, run->rate.z};
    for (int d = 0; d < 3; d++)
        for (int i = 0, n = run->shape.n[d]; i < n; i++) {
            const double f = i < n / 2 ? i : i - n;
            rate[d][i] = -4e-6 * M_PI * M_PI * f * f;
        }
}

static void make_decay(struct run *run, int step) {
    const double *rate[3] = {run->rate.x, run->rate.y, run->rate.z};
    double *decay[3] = {run->w.decay.x, run->w.decay.y, run->w.decay.z};
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < run->shape.n[d]; i++) decay[d][i] = exp(rate[d][i] * step);
}

/* A checksum's points, as far as they are here. */
static void gather_points(const struct run *run, double value[2 * POINTS]) {
    const struct transform *t = &run->w.t;
    const struct fields *f = &run->w.f;
    for (int j = 1; j <= POINTS; j++, value += 2) {
        const struct point p = checksum_point(t, j);
        value[0] = value[1] = 0;
        if (f->owners.z.rank[p.z] != f->owners.me || f->owners.z.space[p.z]) continue;
        const double *pack = f->plane[p.z] + p.y * t->row + p.x / PACK_PART * PACK;
        value[0] = pack[p.x % PACK_PART];
        value[1] = pack[PACK_PART + p.x % PACK_PART];
    }
}

/* Status of devices, if any rank has some. */
static evn_status agreed_on_devices(const struct run *run, evn_status mine) {
    return owners_on_hosts(&run->w.f.owners) ? EVN_OK : ranks_agreed(run->cluster, mine);
}

/* (1/N) times their sum, in order: over ranks each has all of them first, since zeros change
 * nothing. */
static evn_status sum(struct run *run, double checksum[2]) {
    const struct transform *t = &run->w.t;
    const double points = (double)t->nx * t->ny * t->nz;
    double value[2 * POINTS], re = 0, im = 0;
    gather_points(run, value);
    evn_status status = agreed_on_devices(run, places_points(&run->places, value));
    if (status) return status;
    status = fields_sum(&run->w.f, value, 2 * POINTS);
    if (status) return status;
    for (int j = 0; j < POINTS; j++) {
        re += value[2 * j];
        im += value[2 * j + 1];
    }
    checksum[0] = re / points;
    checksum[1] = im / points;
    return EVN_OK;
}

/* Notes the time since *since as the phase's, and begins the next one. */
static void lap(struct run *run, enum ft_phase phase, double *since) {
    const double now = evn_now();
    run->phase_s[phase] += now - *since;
    *since = now;
}

/* The end of a transpose: what is put only now, and all that was put or written is there. `whole`:
 * nothing was put before. */
static evn_status settle(struct run *run, enum turn turn, int whole) {
    struct fields *f = &run->w.f;
    double since = evn_now();
    evn_status status = agreed_on_devices(run, places_leave(&run->places, turn, whole));
    lap(run, FT_COPY, &since);
    whole |= run->way->variant == FT_PACKED;
    if (!status && f->boxes && whole) status = fields_send_all(f, turn);
    lap(run, FT_PUT, &since);
    if (!status) status = fields_barrier(f);
    lap(run, FT_BARRIER, &since);
    if (!status) status = agreed_on_devices(run, places_arrive(&run->places, turn, whole));
    lap(run, FT_COPY, &since);
    return status;
}

/* The way back of two transposes, which is not cut into pieces. */
static evn_status settle_back(struct run *run, task_pass *unpack) {
    evn_status status = settle(run, TURN_Y_TO_Z, 1);
    double since = evn_now();
    const int boxes = run->w.f.boxes || run->w.f.own; /* on all ranks, or on none */
    if (!status && boxes) status = each_own(run, unpack);
    if (!status)
        status = agreed_on_devices(run, places_unpack(&run->places, unpack == pass_start_unpack));
    lap(run, FT_UNPACK, &since);
    return status;
}

/* V, the field of frequencies. */
static evn_status begin(struct run *run) {
    const int two = run->way->transposes == 2;
    double since = evn_now();
    make_rates(run);
    evn_status status = deal(run);
    if (!status) status = visit(run, pass_start, PLACE_START, TURN_Z_TO_Y);
    lap(run, FT_START, &since);
    if (!status) status = settle(run, TURN_Z_TO_Y, 0);
    since = evn_now();
    if (!status)
        status = visit(run, two ? pass_start_z_back : pass_start_z,
                       two ? PLACE_START_Z_BACK : PLACE_START_Z, NO_TURN);
    lap(run, FT_START, &since);
    return status || !two ? status : settle_back(run, pass_start_unpack);
}

static evn_status step(struct run *run) {
    double since = evn_now();
    evn_status status = agreed_on_devices(run, places_decay(&run->places, &run->w.decay));
    if (!status && run->funnel.desk)
        status = ranks_agreed(run->cluster, funnel_decay(&run->funnel));
    if (!status) status = visit(run, pass_z, PLACE_Z, TURN_Y_TO_Z);
    lap(run, FT_Z, &since);
    if (!status) status = settle(run, TURN_Y_TO_Z, 0);
    since = evn_now();
    if (!status) status = instance(run, pass_xy, PLACE_XY);
    lap(run, FT_XY, &since);
    return status;
}

static evn_status step_of_two(struct run *run) {
    double since = evn_now();
    evn_status status = agreed_on_devices(run, places_decay(&run->places, &run->w.decay));
    if (!status) status = visit(run, pass_decay_xy, PLACE_DECAY_XY, TURN_Z_TO_Y);
    lap(run, FT_XY, &since);
    if (!status) status = settle(run, TURN_Z_TO_Y, 0);
    since = evn_now();
    if (!status) status = instance(run, pass_z_back, PLACE_Z_BACK);
    lap(run, FT_Z, &since);
    return status ? status : settle_back(run, pass_unpack);
}

static evn_status advance(int *done, void *arg) {
    struct run *run = arg;
    evn_status status = *done ? deal(run) : begin(run);
    make_decay(run, *done + 1);
    if (!status) status = run->way->transposes == 2 ? step_of_two(run) : step(run);
    if (status) return status;
    double since = evn_now();
    status = sum(run, run->checksum[*done]);
    lap(run, FT_SUM, &since);
    *done += !status;
    return status;
}

/* ---- states -------------------------------------------------------------------------------- */

static evn_status keep(int done, int stopping, void *arg) {
    return states_keep(&((struct run *)arg)->states, done, stopping);
}

/* V is there since the warm-up. The checksums until now; and where no step is left the last one's
 * field, for its hash. */
static evn_status go_on(struct run *run) {
    evn_status status = states_load(&run->states);
    if (status || run->states.first < run->steps || !run->steps) return status;
    make_decay(run, run->steps);
    return run->way->transposes == 2 ? step_of_two(run) : step(run);
}

/* ---- the run ------------------------------------------------------------------------------- */

static evn_status check_memory(const struct run *run) {
    double needed = 8 * fields_doubles(&run->w.f);
    for (int u = 0; u < evn_units_count(run->units); u++)
        needed += 8.0 * evn_unit_cores(evn_units_get(run->units, u)) * (double)run->room_doubles;
    char what[64];
    snprintf(what, sizeof what, " for %d x %d x %d points", run->shape.n[0], run->shape.n[1],
             run->shape.n[2]);
    return ranks_room(run->cluster, run->units, needed, "ft", what, "class or size");
}

static void make_unit_room(evn_unit *unit, void *arg) {
    struct run *run = arg;
    const size_t doubles = run->room_doubles * (size_t)evn_unit_cores(unit);
    double *memory = run->room[evn_unit_number(unit)] = room(doubles * sizeof *memory);
    if (memory)
        memset(memory, 0, doubles * sizeof *memory);
    else
        atomic_store(&run->out_of_memory, 1);
}

static int make_tables(struct run *run) {
    const size_t units = (size_t)evn_units_count(run->units), tasks = (size_t)run->w.tasks;
    const size_t axes = (size_t)run->shape.n[0] + run->shape.n[1] + run->shape.n[2];
    struct decay *made[2] = {&run->rate, &run->w.decay};
    for (int i = 0; i < 2; i++) {
        if (!(made[i]->x = calloc(axes, sizeof(double)))) return -1;
        made[i]->y = made[i]->x + run->shape.n[0];
        made[i]->z = made[i]->y + run->shape.n[1];
    }
    run->room = calloc(units, sizeof *run->room);
    run->seconds = calloc(tasks, sizeof *run->seconds);
    run->unit = calloc(tasks, sizeof *run->unit);
    run->rank = calloc(tasks, sizeof *run->rank);
    run->space = calloc(tasks, sizeof *run->space);
    run->w.hash = calloc(tasks, sizeof *run->w.hash);
    run->checksum = calloc((size_t)run->steps + 1, sizeof *run->checksum);
    return run->room && run->seconds && run->unit && run->rank && run->space && run->w.hash &&
                   run->checksum
               ? 0
               : -1;
}

static int is_funneled(const struct run *run) {
    return run->cluster && run->way->variant == FT_FUNNELED;
}

static evn_status open_tables(struct run *run) {
    const int *n = run->shape.n;
    static const evn_home home = {
        .blocks = 1, .make = make_home, .memory = home_memory, .drop = drop_home};
    if (transform_open(&run->w.t, n[0], n[1], n[2]) || make_tables(run))
        return evn_fail(EVN_MEMORY, "ft: not enough memory");
    run->room_doubles = pass_room(&run->w.t);
    evn_status status = evn_loop_homes(run->loop, &home, run);
    if (status) return status;
    status = fields_open(&run->w.f, &run->w.t, run->way, run->cluster, run->w.tasks);
    if (status) return status;
    if (run->way->transposes == 2 && is_funneled(run))
        return evn_fail(EVN_USAGE, "ft: --variant funneled has one transpose of each transform; "
                                   "expected --transposes 1, or another variant");
    return places_open(&run->places, &run->w.f, run->units, is_funneled(run));
}

static evn_status make_room(struct run *run) {
    evn_status status = ranks_agreed(run->cluster, open_tables(run));
    if (!status && is_funneled(run))
        status = funnel_open(&run->funnel, &run->w.f, &run->w.decay, run->units);
    if (status) return status;
    status = find_owners(run);
    if (status) return status;
    owners_deal(&run->w.f.owners, run->rank, run->space);
    status = ranks_agreed(run->cluster, check_memory(run));
    if (!status) status = ranks_agreed(run->cluster, places_check(&run->places));
    if (!status && run->funnel.desk)
        status = ranks_agreed(run->cluster, funnel_check(&run->funnel));
    if (!status) status = evn_units_run(run->units, make_unit_room, run);
    if (!status && atomic_load(&run->out_of_memory))
        status = evn_fail(EVN_MEMORY, "ft: the system gave no memory for the units' work space");
    status = ranks_agreed(run->cluster, status);
    if (!status) status = deal(run);
    return status ? status : evn_loop_visit(run->loop, touch, run);
}

/* Largest relative error of the checksums; -1: there is nothing to compare with. */
static double error_of(const struct run *run) {
    double error = -1;
    if (!run->shape.class_ || run->steps != run->shape.steps) return error;
    for (int i = 0; i < run->steps; i++) {
        const double *is = run->checksum[i], *right = ft_official(run->problem, i + 1);
        const double e = hypot(is[0] - right[0], is[1] - right[1]) / hypot(right[0], right[1]);
        if (!(e <= error) && !isnan(error)) error = e; /* a NaN stays */
    }
    return error;
}

static int has_task(void *arg, int task) {
    const struct owners *o = &((struct run *)arg)->w.f.owners;
    return o->rank[task] == o->me;
}

static evn_status hash_all(struct run *run) {
    evn_status status = each_own(run, pass_hash);
    return status ? status : ranks_agreed(run->cluster, places_hash(&run->places, run->w.hash));
}

/* Puts of all ranks since `before`. */
static evn_status count_puts(struct run *run, evn_shared_counts *puts) {
    const evn_shared_counts now = fields_counts(&run->w.f);
    const evn_shared_counts mine = puts_between(&run->before, &now);
    return puts_of_ranks(run->cluster, &mine, puts);
}

static evn_status conclude(struct run *run, struct timed *timed, ft_result *r) {
    evn_status status = timed_end(timed);
    if (!status) status = count_puts(run, &r->puts);
    if (!status) status = counts_of_ranks(run->loop, &run->w.f, &run->funnel, run->counted, r);
    if (!status) status = hash_all(run);
    if (!status)
        status = ranks_complete(run->cluster, run->w.hash, run->w.tasks, sizeof *run->w.hash,
                                has_task, run);
    if (status) return status;
    r->run.hash = HASH_SEED;
    for (int t = 0; t < run->w.tasks; t++) r->run.hash = hash_word(r->run.hash, run->w.hash[t]);
    states_report(&run->states, &r->run);
    const int first = run->states.first; /* V was made before the timed part, then */
    const double mop = ft_mop(run->problem, run->steps) - (first ? ft_mop(run->problem, first) : 0);
    r->run.mops = r->run.seconds > 0 ? mop / r->run.seconds : 0;
    memcpy(r->phase_s, run->phase_s, sizeof r->phase_s);
    r->error = error_of(run);
    r->run.verified = !run->shape.class_ || run->steps != run->shape.steps ? -1 : r->error <= 1e-12;
    r->checksum = run->checksum;
    run->checksum = NULL;
    return EVN_OK;
}

static evn_status run_all(struct run *run, evn_schedule *schedule, ft_result *r) {
    evn_status status = ft_state_open(&run->states, run->problem, run->way, &run->checksum);
    if (status) return status;
    states_schedule(&run->states, schedule);
    status = evn_loop_open_on(&run->loop, run->units, schedule, run->cluster);
    run->states.loop = run->loop;
    if (!status) status = make_room(run);
    if (!status) status = begin(run); /* a run to warm up */
    if (!status && run->states.from) status = go_on(run);
    memset(run->phase_s, 0, sizeof run->phase_s);
    if (status) return status;
    struct timed timed = {.options = run->options,
                          .result = &r->run,
                          .loop = run->loop,
                          .advance = advance,
                          .after = keep,
                          .arg = run};
    run->before = fields_counts(&run->w.f);
    counts_now(&run->w.f, &run->funnel, run->counted);
    status = timed_begin(&timed);
    if (!status) status = states_steps(&run->states, &timed);
    if (!status) status = conclude(run, &timed, r);
    timed_close(&timed);
    return status;
}

static void give_back(struct run *run) {
    for (int u = 0; run->room && u < evn_units_count(run->units); u++) free(run->room[u]);
    places_close(&run->places);
    funnel_close(&run->funnel);
    fields_close(&run->w.f);
    states_close(&run->states);
    free_all(run->room, run->seconds, run->unit, run->rank, run->space, run->w.hash, run->checksum,
             run->rate.x, run->w.decay.x);
    transform_close(&run->w.t);
    evn_loop_close(run->loop);
}

evn_status ft_run(ft *problem, const struct ft_way *way, evn_units *units, evn_schedule *schedule,
                  const struct run_options *options, ft_result *result) {
    struct run run = {.problem = problem,
                      .shape = ft_describe(problem),
                      .way = way,
                      .options = options,
                      .cluster = options->cluster,
                      .units = units,
                      .w = {.tasks = ft_tasks(problem).tasks}};
    if (run.cluster && evn_cluster_size(run.cluster) == 1) run.cluster = NULL;
    memset(result, 0, sizeof *result);
    atomic_init(&run.out_of_memory, 0);
    run.steps = options->steps < 0 ? run.shape.steps : options->steps;
    run.states = (struct states){
        .files = options->files, .cluster = run.cluster, .units = units, .steps = run.steps};
    evn_status status = run_all(&run, schedule, result);
    give_back(&run);
    if (status) ft_result_free(result);
    return status;
}

void ft_result_free(ft_result *r) {
    run_result_free(&r->run);
    free_all(r->checksum, r->span);
    memset(r, 0, sizeof *r);
}
