/* The benchmark as a program: zones made where they are computed, warm-up, timed steps, norms,
 * verification (NAS-03-010, sections 3 and 4). */
#include "npbmz.h"
#include "exact.h"
#include "exchange.h"
#include "mesh.h"
#include "norms.h"
#include "problem.h"
#include "residual.h"
#include "verify.h"
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct npbmz {
    struct problem p;
    double *weight;
    evn_link *link;
    int links;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void phase_start(struct scratch *s, const struct team *t) {
    if (t->core == 0) s->since = now();
}

void phase_mark(struct scratch *s, const struct team *t, enum npbmz_phase ended) {
    if (t->core != 0) return;
    double end = now();
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

/* A run: what its passes over the zones share. */
struct run {
    struct problem *p;
    const npbmz_options *options;
    evn_units *units;
    evn_loop *loop;
    struct scratch *scratch; /* of each unit */
    size_t doubles;          /* of each unit's scratch */
    struct norms *norms;     /* of each zone */
    uint64_t *hash;
    double *sums;
    atomic_int out_of_memory;
};

/* What is done with one zone by every core of a unit's team. */
typedef void pass(struct run *run, int z, struct scratch *s, const struct team *t);

struct order {
    struct run *run;
    pass *pass;
};

/* The loop's body for every pass: the zones of the batch one after another, each by the whole team.
 */
static evn_status each_zone(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    struct scratch *s = &o->run->scratch[evn_unit_number(unit)];
    const int cores = evn_unit_cores(unit);
    for (int z; (z = evn_batch_next(batch)) >= 0;) {
        if (cores == 1) {
            o->pass(o->run, z, s, &(struct team){0, 1});
        } else {
#pragma omp parallel num_threads(cores)
            o->pass(o->run, z, s, &(struct team){omp_get_thread_num(), cores});
        }
    }
    if (atomic_load(&o->run->out_of_memory))
        return evn_fail(EVN_MEMORY, "%s: the system gave no memory for a zone",
                        names[o->run->p->benchmark]);
    return EVN_OK;
}

static evn_status visit(struct run *run, pass *pass) {
    return evn_loop_visit(run->loop, each_zone, &(struct order){run, pass});
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

static void exchange_zone(struct run *run, int z, struct scratch *s, const struct team *t) {
    (void)s;
    zone_exchange(run->p, &run->p->zone[z], t);
}

static void step_zone(struct run *run, int z, struct scratch *s, const struct team *t) {
    phase_start(s, t);
    run->p->solver->step(run->p, &run->p->zone[z], s, t);
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
    size_t most = 0;
    for (int u = 0; u < evn_units_count(units); u++) {
        int cores = evn_unit_cores(evn_units_get(units, u));
        most = larger(most, p->solver->scratch(p, cores));
        most = larger(most, zone_forcing_scratch(p, cores));
        most = larger(most, field_doubles(p) + residual_scratch(p, cores));
    }
    return most;
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

/* Fields and forcing, made by their first owners; then the warm-up step. */
static evn_status set_up(struct run *run) {
    evn_units_run(run->units, make_scratch, run);
    if (atomic_load(&run->out_of_memory))
        return evn_fail(EVN_MEMORY, "%s: the system gave no memory for the units' work space",
                        names[run->p->benchmark]);
    evn_status status = visit(run, make_zone);
    if (!status) status = visit(run, force_zone);
    if (status) return status;
    evn_units_run(run->units, clear_scratch, run);
    if (!status) status = visit(run, begin_zone);
    if (!status) status = visit(run, exchange_zone);
    if (!status) status = visit(run, step_zone);
    if (!status) status = visit(run, run->options->perturb ? begin_perturbed : begin_zone);
    evn_units_run(run->units, clear_scratch, run);
    return status;
}

/* The timed part. */
static evn_status march(struct run *run, int steps, double *seconds) {
    const npbmz_options *o = run->options;
    struct order step = {run, step_zone};
    double begin = now();
    for (int i = 1; i <= steps; i++) {
        evn_status status = visit(run, exchange_zone);
        if (!status) status = evn_loop_run(run->loop, each_zone, &step);
        if (status) return status;
        if (o->progress) o->progress(i, steps, now() - begin, o->arg);
        if (o->stop && *o->stop)
            return evn_fail(EVN_STOPPED, "stopped after step %d of %d", i, steps);
    }
    if (run->p->benchmark == NPBMZ_LU) { /* its norms belong to the timed part */
        evn_status status = visit(run, residual_norm);
        if (status) return status;
    }
    *seconds = now() - begin;
    if (o->inspect) o->inspect(run->loop, o->arg);
    return EVN_OK;
}

/* All that is said about the end of the run. */
static evn_status conclude(struct run *run, int steps, double seconds, npbmz_result *r) {
    const struct problem *p = run->p;
    const int count = evn_units_count(run->units);
    r->totals = evn_loop_sum(run->loop);
    r->owner = malloc(sizeof *r->owner * (size_t)p->zones);
    r->unit = malloc(sizeof *r->unit * (size_t)count);
    if (!r->owner || !r->unit)
        return evn_fail(EVN_MEMORY, "%s: no memory left", names[p->benchmark]);
    memcpy(r->owner, evn_loop_owner(run->loop), sizeof *r->owner * (size_t)p->zones);
    for (int u = 0; u < count; u++) {
        r->unit[u] = evn_loop_stats(run->loop, u);
        for (int i = 0; i < NPBMZ_PHASES; i++) r->phase_s[i] += run->scratch[u].seconds[i];
    }
    evn_status status = p->benchmark == NPBMZ_LU ? EVN_OK : visit(run, residual_norm);
    if (!status) status = visit(run, other_norms);
    if (status) return status;
    struct norms total;
    norms_sum(run->norms, p->zones, &total);
    memcpy(r->residual, total.residual, sizeof r->residual);
    memcpy(r->error, total.error, sizeof r->error);
    r->surface = total.surface;
    r->hash = problem_hash(run->hash, p->zones);
    r->steps = steps;
    r->seconds = seconds;
    r->mops = seconds > 0 ? problem_mop(p) * steps / seconds : 0;
    struct verification v;
    r->verified = verify(p, steps, run->options->perturb, &total, &v);
    r->zone_sums = run->sums;
    run->sums = NULL;
    return EVN_OK;
}

static evn_status run_all(struct run *run, evn_schedule *schedule, npbmz_result *r) {
    struct problem *p = run->p;
    evn_status status = evn_loop_open(&run->loop, run->units, schedule);
    if (status) return status;
    const size_t units = (size_t)evn_units_count(run->units), zones = (size_t)p->zones;
    run->scratch = calloc(units, sizeof *run->scratch);
    run->norms = calloc(zones, sizeof *run->norms);
    run->hash = calloc(zones, sizeof *run->hash);
    if (run->options->perturb) run->sums = calloc(zones * NC, sizeof *run->sums);
    if (!run->scratch || !run->norms || !run->hash || (run->options->perturb && !run->sums))
        return evn_fail(EVN_MEMORY, "%s: no memory for %zu zones", names[p->benchmark], zones);
    status = set_up(run);
    if (status) return status;
    evn_loop_reset_stats(run->loop);
    if (run->options->bursts) status = evn_loop_keep_bursts(run->loop, run->options->bursts);
    if (status) return status;
    const int steps = run->options->steps < 0 ? p->steps : run->options->steps;
    double seconds = 0;
    status = march(run, steps, &seconds);
    return status ? status : conclude(run, steps, seconds, r);
}

evn_status npbmz_run(npbmz *b, evn_units *units, evn_schedule *schedule,
                     const npbmz_options *options, npbmz_result *result) {
    static const npbmz_options defaults = {.steps = -1};
    memset(result, 0, sizeof *result);
    struct run run = {.p = &b->p, .options = options ? options : &defaults, .units = units};
    atomic_init(&run.out_of_memory, 0);
    run.doubles = scratch_doubles(&b->p, units);
    evn_status status = check_memory(&run, evn_units_machine(units));
    if (!status) status = run_all(&run, schedule, result);
    for (int u = 0; run.scratch && u < evn_units_count(units); u++) free(run.scratch[u].memory);
    for (int z = 0; z < b->p.zones; z++) zone_free(&b->p.zone[z]);
    free(run.scratch);
    free(run.norms);
    free(run.hash);
    free(run.sums);
    evn_loop_close(run.loop);
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
    verify(&b->p, r->steps, r->verified < 0, &total, &v);
    verification_print(&b->p, &v, out);
    report_print(&b->p,
                 &(struct report){
                     .steps = r->steps,
                     .threads = threads,
                     .verdict = r->verified,
                     .seconds = r->seconds,
                     .version = EVN_VERSION,
                     .date = EVENER_DATE,
                     .compiler = EVENER_COMPILER,
                     .linker = EVENER_COMPILER,
                     .compile_flags = EVENER_FLAGS,
                 },
                 out);
}

void npbmz_result_free(npbmz_result *r) {
    free(r->zone_sums);
    free(r->owner);
    free(r->unit);
    memset(r, 0, sizeof *r);
}
