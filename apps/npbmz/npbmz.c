/* The benchmark as a program: zones made where they are computed, warm-up, timed steps, norms,
 * verification (NAS-03-010, sections 3 and 4). */
#include "npbmz/npbmz.h"
#include "common/build.h"
#include "npbmz/mesh/exact.h"
#include "npbmz/mesh/faces.h"
#include "npbmz/device/gpu.h"
#include "npbmz/mesh/mesh.h"
#include "npbmz/host/norms.h"
#include "npbmz/problem.h"
#include "npbmz/host/residual.h"
#include "npbmz/host/verify.h"
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct npbmz {
    struct problem p;
    double *weight;
    evn_link *link;
    int links;
};

void phase_start(struct scratch *s, const struct team *t) {
    if (t->core == 0) s->since = evn_now();
}

void phase_mark(struct scratch *s, const struct team *t, enum npbmz_phase ended) {
    if (t->core != 0) return;
    double end = evn_now();
    s->seconds[ended] += end - s->since;
    s->since = end;
}

static const char *const names[] = {"bt-mz", "sp-mz", "lu-mz"};

int npbmz_find(const char *name) {
    for (int i = 0; i < 3; i++)
        if (!strcmp(names[i], name)) return i;
    return -1;
}

const char *npbmz_phase_name(enum npbmz_phase phase) {
    static const char *const name[NPBMZ_PHASES] = {
        [NPBMZ_RHS] = "rhs",  [NPBMZ_X] = "xsolve",    [NPBMZ_Y] = "ysolve",
        [NPBMZ_Z] = "zsolve", [NPBMZ_LOWER] = "lower", [NPBMZ_UPPER] = "upper",
    };
    return name[phase];
}

/* Links once a pair; the bytes are those of one way, and the other way has as many. */
static int make_links(npbmz *b) {
    struct zone_link *way = malloc(sizeof *way * 4 * (size_t)b->p.zones);
    b->link = malloc(sizeof *b->link * 4 * (size_t)b->p.zones);
    int failed = !way || !b->link;
    int n = failed ? 0 : problem_links(&b->p, way);
    for (int i = 0; i < n; i++)
        if (way[i].from < way[i].to)
            b->link[b->links++] = (evn_link){{way[i].from, way[i].to}, way[i].bytes};
    free(way);
    return failed;
}

evn_status npbmz_open(npbmz **out, enum npbmz_benchmark benchmark, char class_) {
    *out = NULL;
    npbmz *b = calloc(1, sizeof *b);
    if (b && problem_class(&b->p, benchmark, class_)) {
        free(b);
        return evn_fail(EVN_USAGE, "%s: there is no class \"%c\", expected one of S W A B C D E F",
                        names[benchmark], class_);
    }
    int failed = !b || problem_zones(&b->p);
    if (!failed) {
        b->weight = malloc(sizeof *b->weight * (size_t)b->p.zones);
        failed = !b->weight || make_links(b);
    }
    if (failed) {
        npbmz_close(b);
        return evn_fail(EVN_MEMORY, "%s: not enough memory for the list of zones",
                        names[benchmark]);
    }
    for (int z = 0; z < b->p.zones; z++) b->weight[z] = zone_weight(&b->p.zone[z]);
    *out = b;
    return EVN_OK;
}

void npbmz_close(npbmz *b) {
    if (!b) return;
    problem_close(&b->p);
    free(b->weight);
    free(b->link);
    free(b);
}

npbmz_shape npbmz_describe(const npbmz *b) {
    const struct problem *p = &b->p;
    return (npbmz_shape){
        .name = names[p->benchmark],
        .class_ = p->class_,
        .points = {p->gx, p->gy, p->gz},
        .zones = {p->xzones, p->yzones},
        .steps = p->steps,
        .dt = p->dt,
        .bytes = problem_bytes(p),
        .mop_per_step = problem_mop(p),
    };
}

void npbmz_zone(const npbmz *b, int z, int points[3]) {
    points[0] = b->p.zone[z].nx;
    points[1] = b->p.zone[z].ny;
    points[2] = b->p.zone[z].nz;
}

evn_problem npbmz_tasks(const npbmz *b) {
    return (evn_problem){
        .tasks = b->p.zones, .weight = b->weight, .links = b->links, .link = b->link};
}

void npbmz_faces(const npbmz *b, evn_face *face) {
    for (int z = 0; z < b->p.zones; z++) zone_faces(&b->p, z, face + 4 * z);
}

size_t npbmz_zone_bytes(const npbmz *b, int z) { return (size_t)zone_bytes(&b->p, &b->p.zone[z]); }

/* A run: what its passes over the zones share. */
struct run {
    struct problem *p;
    const npbmz_options *options;
    evn_units *units;
    evn_loop *loop;
    struct scratch *scratch; /* of each unit */
    int scratches;
    size_t doubles;   /* of each unit's scratch */
    evn_place *place; /* NULL: no devices */
    struct gpu **gpu; /* of each space; those of the host's and of lost ones are NULL */
    int *region;      /* of each zone */
    size_t *at;       /* room for the places of a batch's zones, for each space */
    evn_exchange *exchange;
    evn_schedule *schedule;     /* that the loop is for */
    evn_schedule *own_schedule; /* made after a device was lost */
    struct norms *norms;        /* of each zone */
    uint64_t *hash;
    double *sums;
    struct timed timed;
    int step;  /* that is computed now */
    int kept;  /* the step of the state that is kept; -1 */
    int steps; /* of the timed part */
    atomic_int out_of_memory;
};

/* What is done with one zone by every core of a unit's team. */
typedef void pass(struct run *run, int z, struct scratch *s, const struct team *t);

struct order {
    struct run *run;
    pass *pass;
    int timed; /* a time step of the timed part */
};

static void by_team(struct run *run, pass *pass, int z, const evn_unit *unit) {
    struct scratch *s = &run->scratch[evn_unit_number(unit)];
    const int cores = evn_unit_cores(unit);
    if (cores == 1) {
        pass(run, z, s, &(struct team){0, 1});
        return;
    }
#pragma omp parallel num_threads(cores)
    pass(run, z, s, &(struct team){omp_get_thread_num(), cores});
}

/* The loop's body for every pass: the zones of the batch one after another, each by the whole team.
 */
static evn_status each_zone(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    const struct run_slow *slow = &o->run->options->run.slow;
    const int held = o->timed && slow->factor > 1 && o->run->step >= slow->step &&
                     evn_unit_number(unit) == slow->unit;
    for (int z; (z = evn_batch_next(batch)) >= 0;) {
        const double begin = held ? evn_now() : 0;
        by_team(o->run, o->pass, z, unit);
        if (held) {
            const double until = begin + (evn_now() - begin) * slow->factor;
            while (evn_now() < until) {
            }
        }
    }
    if (atomic_load(&o->run->out_of_memory))
        return evn_fail(EVN_MEMORY, "%s: the system gave no memory for a zone",
                        names[o->run->p->benchmark]);
    return EVN_OK;
}

/* A pass over the zones on the host's cores. */
static evn_status visit(struct run *run, pass *pass, evn_access access) {
    return evn_loop_visit_host(run->loop, each_zone, &(struct order){.run = run, .pass = pass},
                               access);
}

static void make_zone(struct run *run, int z, struct scratch *s, const struct team *t) {
    (void)s;
    if (t->core == 0 && zone_alloc(run->p, &run->p->zone[z])) atomic_store(&run->out_of_memory, 1);
}

static void force_zone(struct run *run, int z, struct scratch *s, const struct team *t) {
    zone_forcing(run->p, &run->p->zone[z], s->memory, t);
}

/* The initial state, and what a solver derives from it. */
static void begin_zone(struct run *run, int z, struct scratch *s, const struct team *t) {
    if (t->core == 0) zone_initialise(run->p, &run->p->zone[z]);
    team_barrier(t);
    if (run->p->solver->prepare) run->p->solver->prepare(run->p, &run->p->zone[z], s, t);
}

/* A perturbed start comes between the initial state and the solver's preparation. */
static void begin_perturbed(struct run *run, int z, struct scratch *s, const struct team *t) {
    if (t->core == 0) {
        zone_initialise(run->p, &run->p->zone[z]);
        zone_perturb(&run->p->zone[z], z);
    }
    team_barrier(t);
    if (run->p->solver->prepare) run->p->solver->prepare(run->p, &run->p->zone[z], s, t);
}

static void step_zone(struct run *run, int z, struct scratch *s, const struct team *t) {
    phase_start(s, t);
    run->p->solver->step(run->p, &run->p->zone[z], s, t);
}

/* Tells a device which zones it has, and where. */
static evn_status place_batch(struct run *run, evn_unit *unit, evn_batch *batch) {
    const int space = evn_place_space(run->place, unit, evn_batch_device(batch));
    int count;
    const int *zone = evn_batch_tasks(batch, &count);
    size_t *at = run->at + (size_t)space * (size_t)run->p->zones;
    for (int i = 0; i < count; i++) at[i] = evn_place_at(run->place, run->region[zone[i]], space);
    return gpu_batch(run->gpu[space], evn_place_buffer(run->place, space), count, zone, at);
}

/* Time step of a batch of zones, on a unit's cores or on its device. */
static evn_status each_step(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    struct run *run = o->run;
    const int device = evn_batch_device(batch);
    if (device < 0) return each_zone(unit, batch, arg);
    struct gpu *g = run->gpu[evn_place_space(run->place, unit, device)];
    evn_status status = place_batch(run, unit, batch);
    if (!status) status = gpu_step(g);
    if (!status) status = gpu_finish(g);
    return status;
}

static void begin_step(struct run *run, int z, struct scratch *s, const struct team *t) {
    phase_start(s, t);
    run->p->solver->begin(run->p, &run->p->zone[z], s, t);
}

static void finish_step(struct run *run, int z, struct scratch *s, const struct team *t) {
    phase_start(s, t);
    run->p->solver->finish(run->p, &run->p->zone[z], s, t);
}

/* The same while the faces are still on their way: what needs none of them first. */
static evn_status each_split(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    struct run *run = o->run;
    const int device = evn_batch_device(batch);
    if (device >= 0) {
        struct gpu *g = run->gpu[evn_place_space(run->place, unit, device)];
        evn_status status = place_batch(run, unit, batch);
        if (!status) status = gpu_step(g);
        if (!status) status = evn_exchange_finish(run->exchange, unit, device);
        return status ? status : gpu_finish(g);
    }
    struct order part = {.run = run, .pass = begin_step, .timed = 1};
    evn_status status = each_zone(unit, batch, &part);
    if (!status) status = evn_exchange_finish(run->exchange, unit, device);
    int count;
    const int *zone = evn_batch_tasks(batch, &count);
    for (int i = 0; !status && i < count; i++) {
        const double begin = evn_now();
        by_team(run, finish_step, zone[i], unit);
        evn_batch_add(batch, zone[i], evn_now() - begin);
    }
    return status;
}

/* doubles of a field with the slack around it that zone layouts ask for */
static size_t field_doubles(const struct problem *p) {
    return NC * (size_t)p->max_sc + 2 * ZONE_SLACK;
}

/* BT and SP measure the residual of the last state; LU that which the last step left. */
static void residual_norm(struct run *run, int z, struct scratch *s, const struct team *t) {
    const struct zone *zone = &run->p->zone[z];
    const double *r = zone->r;
    if (!r) {
        double *out = s->memory + ZONE_SLACK;
        residual(run->p, zone, zone->u, zone->f, 1, out, s->memory + field_doubles(run->p), t);
        r = out;
        team_barrier(t);
    }
    if (t->core == 0) zone_residual_norm(zone, r, run->norms[z].residual);
}

static void other_norms(struct run *run, int z, struct scratch *s, const struct team *t) {
    (void)s;
    if (t->core != 0) return;
    const struct zone *zone = &run->p->zone[z];
    zone_error_norm(run->p, zone, run->norms[z].error);
    if (run->p->benchmark == NPBMZ_LU) run->norms[z].surface = zone_surface(run->p, zone);
    run->hash[z] = zone_hash(zone);
    if (run->sums) zone_sums(zone, run->sums + NC * z);
}

/* The same passes where zones may be on devices: a device makes all of a zone's norms at once. */
static evn_status each_norm(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    struct run *run = o->run;
    const int device = evn_batch_device(batch);
    if (device < 0) return each_zone(unit, batch, arg);
    struct gpu *g = run->gpu[evn_place_space(run->place, unit, device)];
    int count;
    const int *zone = evn_batch_tasks(batch, &count);
    struct norms *norms = malloc((size_t)count * sizeof *norms);
    uint64_t *hash = malloc((size_t)count * sizeof *hash);
    evn_status status = EVN_OK;
    if (!norms || !hash)
        status = evn_fail(EVN_MEMORY, "%s: no memory for the norms of %d zones",
                          names[run->p->benchmark], count);
    if (!status) status = place_batch(run, unit, batch);
    const int residual = o->pass == residual_norm;
    if (!status) status = gpu_norms(g, residual ? norms : NULL, residual ? NULL : hash);
    for (int i = 0; !status && i < count; i++) {
        if (residual) run->norms[zone[i]] = norms[i];
        if (!residual) run->hash[zone[i]] = hash[i];
    }
    free(norms);
    free(hash);
    return status;
}

static evn_status visit_norms(struct run *run, pass *pass) {
    /* sums of perturbed runs are taken on the host */
    if (run->sums && pass == other_norms) return visit(run, pass, EVN_READ);
    return evn_loop_visit(run->loop, each_norm, &(struct order){.run = run, .pass = pass});
}

static void make_scratch(evn_unit *unit, void *arg) {
    struct run *run = arg;
    struct scratch *s = &run->scratch[evn_unit_number(unit)];
    s->doubles = run->doubles;
    s->memory = aligned_alloc(64, (run->doubles * sizeof(double) + 63) / 64 * 64);
    if (!s->memory) atomic_store(&run->out_of_memory, 1);
}

/* Forcing has used the scratch, and solvers expect it zeroed. */
static void clear_scratch(evn_unit *unit, void *arg) {
    struct run *run = arg;
    struct scratch *s = &run->scratch[evn_unit_number(unit)];
    memset(s->memory, 0, s->doubles * sizeof(double));
    memset(s->seconds, 0, sizeof s->seconds);
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* What a unit needs at most, over all that its scratch is used for. */
static size_t scratch_doubles(const struct problem *p, const evn_units *units) {
    size_t max = 0;
    for (int u = 0; u < evn_units_count(units); u++) {
        int cores = evn_unit_cores(evn_units_get(units, u));
        max = larger(max, p->solver->scratch(p, cores));
        max = larger(max, zone_forcing_scratch(p, cores));
        max = larger(max, field_doubles(p) + residual_scratch(p, cores));
    }
    return max;
}

/* Whether all of it fits into what the system can still give; says how much is needed if not. */
static evn_status check_memory(const struct run *run, const evn_machine *machine) {
    double needed = problem_bytes(run->p) +
                    (double)evn_units_count(run->units) * (double)run->doubles * sizeof(double);
    double there = (double)evn_machine_memory_available(machine);
    if (there <= 0 || needed <= there) return EVN_OK;
    return evn_fail(
        EVN_MEMORY,
        "%s class %c needs %.1f GB of memory and %.1f GB are available; choose a smaller "
        "class",
        names[run->p->benchmark], run->p->class_, needed * 1e-9, there * 1e-9);
}

/* The part of a device's memory that zones may take: what they need beside the work space. */
static double field_share(const struct problem *p, const struct gpu_solver *solver) {
    double fields = problem_bytes(p), work = 0;
    for (int z = 0; z < p->zones; z++)
        work += (double)(solver->work(p, &p->zone[z]) * sizeof(double));
    return 0.95 * fields / (fields + work);
}

static const struct gpu_solver *gpu_solver(const struct problem *p) {
    static const struct gpu_solver *const solver[] = {
        [NPBMZ_BT] = &gpu_bt, [NPBMZ_SP] = &gpu_sp, [NPBMZ_LU] = &gpu_lu};
    return solver[p->benchmark];
}

/* Zones become regions, and each device gets its kernels. */
static evn_status open_devices(struct run *run) {
    struct problem *p = run->p;
    const struct gpu_solver *solver = gpu_solver(p);
    if (!evn_units_devices(run->units)) return EVN_OK;
    const double share = field_share(p, solver);
    evn_status status = evn_place_open(&run->place, run->units, share);
    if (status) return status;
    const size_t zones = (size_t)p->zones, spaces = (size_t)evn_place_spaces(run->place);
    run->region = malloc(zones * sizeof *run->region);
    run->at = malloc(zones * spaces * sizeof *run->at);
    run->gpu = calloc(spaces, sizeof *run->gpu);
    if (!run->region || !run->at || !run->gpu)
        return evn_fail(EVN_MEMORY, "%s: no memory for %zu zones", names[p->benchmark], zones);
    for (int z = 0; !status && z < p->zones; z++) {
        size_t bytes;
        void *block = zone_block(p, &p->zone[z], &bytes);
        status = evn_place_add(run->place, block, bytes, &run->region[z]);
    }
    for (int u = 0; u < evn_units_count(run->units); u++) {
        evn_unit *unit = evn_units_get(run->units, u);
        for (int d = 0; !status && d < evn_unit_devices(unit); d++) {
            evn_device *device = evn_unit_device(unit, d);
            double work = (0.95 - share) * (double)evn_device_traits(device)->memory;
            status = gpu_open(&run->gpu[evn_place_space(run->place, unit, d)], p, solver, device,
                              evn_unit_queue(unit, d), (size_t)work);
        }
    }
    return status;
}

/* Lets zones follow the schedule, and says which faces they exchange. */
static evn_status open_exchange(struct run *run) {
    const struct problem *p = run->p;
    evn_status status = EVN_OK;
    if (run->place)
        status = evn_loop_place(run->loop, run->place, 1, run->region, &(evn_access){EVN_BOTH});
    evn_face *face = malloc(4 * (size_t)p->zones * sizeof *face);
    void **block = malloc((size_t)p->zones * sizeof *block);
    if (!face || !block)
        status = evn_fail(EVN_MEMORY, "%s: no memory for the list of faces", names[p->benchmark]);
    for (int z = 0; !status && z < p->zones; z++) {
        size_t bytes;
        zone_faces(p, z, face + 4 * z);
        block[z] = zone_block(p, &p->zone[z], &bytes);
    }
    if (!status)
        status =
            evn_exchange_open(&run->exchange, run->loop, sizeof(double), 4 * p->zones, face, block);
    free(face);
    free(block);
    return status;
}

/* The initial state, with each zone where its owner computes it. */
static evn_status begin(struct run *run, pass *pass) {
    evn_status status = visit(run, pass, EVN_BOTH);
    return status ? status : evn_loop_bring(run->loop);
}

/* Fields and forcing, made by their first owners. */
static evn_status make_fields(struct run *run) {
    evn_units_run(run->units, make_scratch, run);
    if (atomic_load(&run->out_of_memory))
        return evn_fail(EVN_MEMORY, "%s: the system gave no memory for the units' work space",
                        names[run->p->benchmark]);
    evn_status status = visit(run, make_zone, EVN_WRITE);
    if (!status) status = visit(run, force_zone, EVN_WRITE);
    if (!status) evn_units_run(run->units, clear_scratch, run);
    return status;
}

/* The warm-up step, and the state that is timed. */
static evn_status warm_up(struct run *run) {
    evn_status status = begin(run, begin_zone);
    if (!status) status = evn_exchange_run(run->exchange);
    if (!status)
        status =
            evn_loop_visit(run->loop, each_step, &(struct order){.run = run, .pass = step_zone});
    if (!status) status = begin(run, run->options->perturb ? begin_perturbed : begin_zone);
    evn_units_run(run->units, clear_scratch, run);
    return status;
}

/* One time step. */
static evn_status step(struct run *run) {
    int open = 0;
    evn_status status = run->p->solver->finish ? evn_exchange_start(run->exchange, &open)
                                               : evn_exchange_run(run->exchange);
    if (status) return status;
    return evn_loop_run(run->loop, open ? each_split : each_step,
                        &(struct order){run, step_zone, 1});
}

/* A step of the timed part. */
static evn_status advance(int *done, void *arg) {
    struct run *run = arg;
    run->step = *done;
    evn_status status = step(run);
    *done += !status;
    return status;
}

/* Keeps the state where one is due. */
static evn_status keep_state(int done, int stopping, void *arg) {
    struct run *run = arg;
    const int every = run->options->run.keep;
    if (!every || !run->place || stopping || done == run->steps || done % every) return EVN_OK;
    evn_status status = evn_place_keep(run->place);
    if (!status) run->kept = done;
    return status;
}

/* LU's norms belong to the timed part. */
static evn_status finish(void *arg) {
    struct run *run = arg;
    return run->p->benchmark == NPBMZ_LU ? visit_norms(run, residual_norm) : EVN_OK;
}

/* ---- when a device fails ------------------------------------------------------------------- */

/* The unit whose device has failed: the one that can do nothing more; else the one that said so. */
static int lost_unit(const struct run *run) {
    for (int u = 0; u < evn_units_count(run->units); u++) {
        evn_unit *unit = evn_units_get(run->units, u);
        for (int d = 0; d < evn_unit_devices(unit); d++)
            if (evn_queue_finish(evn_unit_queue(unit, d)) == EVN_DEVICE) return u;
    }
    int failed = run->loop ? evn_loop_failed_unit(run->loop) : -1;
    return failed >= 0 && evn_unit_is_gpu(evn_units_get(run->units, failed)) ? failed : -1;
}

/* Takes the unit away and makes schedule, loop and exchange for the rest. */
static evn_status drop_unit(struct run *run, int lost) {
    evn_unit *unit = evn_units_get(run->units, lost);
    evn_problem tasks = *evn_schedule_problem(run->schedule);
    evn_exchange_close(run->exchange);
    run->exchange = NULL;
    evn_loop_close(run->loop);
    run->loop = NULL;
    for (int d = 0; run->gpu && d < evn_unit_devices(unit); d++) {
        const int space = evn_place_space(run->place, unit, d);
        gpu_close(run->gpu[space]);
        run->gpu[space] = NULL;
        evn_place_lose(run->place, space);
    }
    evn_status status = evn_units_remove(run->units, lost);
    double *speed = malloc((size_t)tasks.units * sizeof *speed);
    if (!status && !speed) status = evn_fail(EVN_MEMORY, "no memory for the units' speeds");
    if (status) {
        free(speed);
        return status;
    }
    for (int u = 0; u < tasks.units; u++)
        if (u != lost) speed[u < lost ? u : u - 1] = tasks.speed[u];
    struct scratch scratch = run->scratch[lost];
    memmove(&run->scratch[lost], &run->scratch[lost + 1],
            (size_t)(tasks.units - 1 - lost) * sizeof scratch);
    run->scratch[tasks.units - 1] = scratch; /* to be freed with the others */
    tasks.units--;
    tasks.speed = speed;
    evn_schedule *schedule;
    status = evn_schedule_open(&schedule, evn_schedule_text(run->schedule), &tasks);
    free(speed);
    if (status) return status;
    evn_schedule_close(run->own_schedule);
    run->schedule = run->own_schedule = schedule;
    return evn_loop_open(&run->loop, run->units, run->schedule);
}

/* Tells that it goes on. */
static void notice(const struct run *run, const char *why, int from) {
    char text[1024];
    snprintf(text, sizeof text, "%s; goes on from step %d with units %s", why, from,
             evn_units_text(run->units));
    const struct run_options *o = &run->options->run;
    if (o->notice) o->notice(text, o->arg);
}

/* The unit to go on without after a failure; -1: it cannot go on. */
static int dispensable(const struct run *run) {
    if (!run->options->run.keep || evn_units_count(run->units) == 1) return -1;
    return lost_unit(run);
}

/* Goes on without the unit whose device has failed, from the last state that was kept; *done is its
 * step. The failure itself if nothing can be done about it. */
static evn_status recover(evn_status failure, int *done, void *arg) {
    struct run *run = arg;
    char why[512];
    snprintf(why, sizeof why, "%s", evn_message());
    int lost = run->kept >= 0 ? dispensable(run) : -1;
    if (lost < 0) return evn_fail(failure, "%s", why);
    evn_status status = drop_unit(run, lost);
    if (!status) status = open_exchange(run);
    if (!status) status = evn_place_restore(run->place);
    if (!status) status = evn_loop_bring(run->loop);
    if (status) return status;
    notice(run, why, run->kept);
    *done = run->kept;
    return EVN_OK;
}

/* All that is said about the end of the run. */
static evn_status conclude(struct run *run, npbmz_result *r) {
    const struct problem *p = run->p;
    evn_status status = timed_end(&run->timed);
    for (int u = 0; !status && u < r->run.units; u++)
        for (int i = 0; i < NPBMZ_PHASES; i++) r->phase_s[i] += run->scratch[u].seconds[i];
    if (!status && p->benchmark != NPBMZ_LU) status = visit_norms(run, residual_norm);
    if (!status) status = visit_norms(run, other_norms);
    if (status) return status;
    struct norms total;
    norms_sum(run->norms, p->zones, &total);
    memcpy(r->residual, total.residual, sizeof r->residual);
    memcpy(r->error, total.error, sizeof r->error);
    r->surface = total.surface;
    r->run.hash = problem_hash(run->hash, p->zones);
    r->run.mops = r->run.seconds > 0 ? problem_mop(p) * run->steps / r->run.seconds : 0;
    struct verification v;
    r->run.verified = verify(p, run->steps, run->options->perturb, &total, &v);
    r->zone_sums = run->sums;
    run->sums = NULL;
    return EVN_OK;
}

/* Gives back all that set_up() has made. */
static void tear_down(struct run *run) {
    evn_exchange_close(run->exchange);
    run->exchange = NULL;
    for (int s = 0; run->gpu && s < evn_place_spaces(run->place); s++) gpu_close(run->gpu[s]);
    evn_place_close(run->place);
    run->place = NULL;
    for (int z = 0; z < run->p->zones; z++) zone_free(&run->p->zone[z]);
    for (int u = 0; run->scratch && u < run->scratches; u++) {
        free(run->scratch[u].memory);
        run->scratch[u].memory = NULL;
    }
    free(run->gpu);
    free(run->region);
    free(run->at);
    run->gpu = NULL;
    run->region = NULL;
    run->at = NULL;
}

static evn_status set_up(struct run *run) {
    evn_status status = make_fields(run);
    if (!status) status = open_devices(run);
    if (!status) status = open_exchange(run);
    if (!status) status = warm_up(run);
    if (!status && run->options->run.keep && run->place) {
        status = evn_place_keep(run->place);
        if (!status) run->kept = 0;
    }
    return status;
}

/* From the beginning, with fewer units where a device fails that the run can do without. */
static evn_status set_up_or_drop(struct run *run) {
    for (;;) {
        evn_status status = set_up(run);
        if (!status) return EVN_OK;
        char why[512];
        snprintf(why, sizeof why, "%s", evn_message());
        int lost = dispensable(run);
        if (lost < 0) return evn_fail(status, "%s", why);
        evn_exchange_close(run->exchange); /* before the loop that it is for */
        run->exchange = NULL;
        status = drop_unit(run, lost);
        tear_down(run);
        if (status) return status;
        notice(run, why, 0);
    }
}

static evn_status run_all(struct run *run, npbmz_result *r) {
    struct problem *p = run->p;
    evn_status status = evn_loop_open(&run->loop, run->units, run->schedule);
    if (status) return status;
    const size_t units = (size_t)evn_units_count(run->units), zones = (size_t)p->zones;
    run->scratch = calloc(units, sizeof *run->scratch);
    run->scratches = (int)units;
    run->norms = calloc(zones, sizeof *run->norms);
    run->hash = calloc(zones, sizeof *run->hash);
    if (run->options->perturb) run->sums = calloc(zones * NC, sizeof *run->sums);
    if (!run->scratch || !run->norms || !run->hash || (run->options->perturb && !run->sums))
        return evn_fail(EVN_MEMORY, "%s: no memory for %zu zones", names[p->benchmark], zones);
    status = set_up_or_drop(run);
    if (status) return status;
    run->timed = (struct timed){.options = &run->options->run,
                                .result = &r->run,
                                .loop = &run->loop,
                                .place = run->place,
                                .advance = advance,
                                .after = keep_state,
                                .finish = finish,
                                .recover = recover,
                                .arg = run};
    run->steps = run->options->run.steps < 0 ? p->steps : run->options->run.steps;
    status = timed_begin(&run->timed);
    if (!status) status = timed_steps(&run->timed, 0, run->steps);
    return status ? status : conclude(run, r);
}

/* Adds the zones of the unit that failed, where the message does not say. */
static evn_status name_zones(const struct run *run, evn_status status) {
    char why[512];
    snprintf(why, sizeof why, "%s", evn_message());
    int failed = run->loop ? lost_unit(run) : 0, first = -1, last = -1;
    if (failed < 0) failed = evn_loop_failed_unit(run->loop);
    for (int z = 0; run->loop && z < run->p->zones; z++)
        if (evn_loop_owner(run->loop)[z] == failed) {
            if (first < 0) first = z;
            last = z;
        }
    if (first < 0 || strstr(why, "zone")) return evn_fail(status, "%s", why);
    return evn_fail(status, "%s: zones of unit %d, %d to %d: %s", names[run->p->benchmark], failed,
                    first, last, why);
}

evn_status npbmz_run(npbmz *b, evn_units *units, evn_schedule *schedule,
                     const npbmz_options *options, npbmz_result *result) {
    static const npbmz_options defaults = {.run = {.steps = -1}};
    memset(result, 0, sizeof *result);
    struct run run = {.p = &b->p, .options = options ? options : &defaults, .units = units};
    atomic_init(&run.out_of_memory, 0);
    run.schedule = schedule;
    run.kept = -1;
    run.doubles = scratch_doubles(&b->p, units);
    evn_status status = check_memory(&run, evn_units_machine(units));
    if (!status) {
        status = run_all(&run, result);
        /* too little memory before anything was begun is the user's to change; now it is a failure
         */
        if (status == EVN_MEMORY) status = evn_fail(EVN_BODY, "%s", evn_message());
        if (status && status != EVN_STOPPED) status = name_zones(&run, status);
    }
    tear_down(&run);
    evn_loop_close(run.loop);
    evn_schedule_close(run.own_schedule);
    free(run.scratch);
    free(run.norms);
    free(run.hash);
    timed_close(&run.timed);
    free(run.sums);
    if (status) npbmz_result_free(result);
    return status;
}

void npbmz_print_header(const npbmz *b, int steps, FILE *out) {
    heading_print(&b->p, EVN_VERSION, steps, out);
}

void npbmz_print_result(const npbmz *b, const npbmz_result *r, int threads, FILE *out) {
    struct norms total;
    memcpy(total.residual, r->residual, sizeof total.residual);
    memcpy(total.error, r->error, sizeof total.error);
    total.surface = r->surface;
    struct verification v;
    verify(&b->p, r->run.steps, r->run.verified < 0, &total, &v);
    verification_print(&b->p, &v, out);
    report_print(&b->p,
                 &(struct report){
                     .steps = r->run.steps,
                     .threads = threads,
                     .verdict = r->run.verified,
                     .seconds = r->run.seconds,
                     .version = EVN_VERSION,
                     .date = build.date,
                     .compiler = build.compiler,
                     .linker = build.compiler,
                     .compile_flags = build.flags,
                 },
                 out);
}

void npbmz_result_free(npbmz_result *r) {
    run_result_free(&r->run);
    free(r->zone_sums);
    memset(r, 0, sizeof *r);
}
