/* The three benchmarks as workloads of the command. */
#include "common/run/workload.h"
#include "common/cli/message.h"
#include "common/run/phases.h"
#include "common/run/record.h"
#include "common/checkpoint/state.h"
#include "npbmz/npbmz.h"
#include "npbmz/study/study.h"
#include <math.h>
#include <string.h>

struct state {
    const char *class_;
    const char *sweeps, *loops, *exchange;
    int perturb;
    struct state_files files;
    npbmz *problem;
    enum lu_sweeps how;
    enum npbmz_loops by;
    enum npbmz_exchange with;
    npbmz_shape shape;
    char key[2];
    npbmz_result result;
};

#define OPTIONS_OF struct state
static const struct option options[] = {
    {"class", "S", "problem class, S W A B C D E or F (default S)", OPTION_TEXT(class_)},
    {"sweeps", "HOW", "LU on devices: auto (default), launches, or one a sweep",
     OPTION_TEXT(sweeps)},
    {"loop", "HOW", "over zones: step (default), one a step; phase, one for each of its phases",
     OPTION_TEXT(loops)},
    {"exchange", "HOW",
     "of borders: parallel (default), faces; zones, one after another, neighbours copied whole",
     OPTION_TEXT(exchange)},
    {"perturb", NULL, "start zones differently, to test the topology", OPTION_FLAG(perturb)},
    STATE_OPTIONS(files),
    {0},
};

static const struct option_rule rules[] = {
    STATE_RULES,
    {"evener plan", OPTION_IGNORES, "perturb sweeps", "a plan computes nothing"},
    {"evener model", OPTION_IGNORES, "perturb sweeps loop exchange",
     "its runs are official ones, on cores"},
    {0},
};

static int check(void *p, const struct workload *is) {
    struct state *s = p;
    char class_;
    const int failed = options_class(is->name, s->class_, &class_);
    if (failed) return failed;
    evn_status status = EVN_OK;
    if (s->sweeps && is->variant != NPBMZ_LU)
        status =
            evn_fail(EVN_USAGE, "--sweeps: %s has no sweeps; it is an option of lu-mz", is->name);
    else if (s->sweeps)
        status = lu_sweeps_find(&s->how, s->sweeps);
    s->by = s->loops && !strcmp(s->loops, "phase") ? NPBMZ_LOOPS_PHASE : NPBMZ_LOOPS_STEP;
    if (!status && s->loops && !s->by && strcmp(s->loops, "step") != 0)
        status = evn_fail(EVN_USAGE, "--loop: \"%.40s\" is none, expected step or phase", s->loops);
    const int zones = s->exchange && !strcmp(s->exchange, "zones");
    s->with = zones ? NPBMZ_EXCHANGE_ZONES : NPBMZ_EXCHANGE_PARALLEL;
    if (!status && s->exchange && !zones && strcmp(s->exchange, "parallel") != 0)
        status = evn_fail(EVN_USAGE, "--exchange: \"%.40s\" is none, expected parallel or zones",
                          s->exchange);
    if (!status) status = npbmz_open(&s->problem, (enum npbmz_benchmark)is->variant, class_);
    if (status) return give_up(status);
    s->shape = npbmz_describe(s->problem);
    s->key[0] = s->shape.class_;
    return 0;
}

/* A loop for each phase, for a plan, as the paper has it: a zone that moves takes along all that
 * NPB's arrays have of it, 24 doubles a point, an array a message; of BT and SP a loop for each
 * subroutine of adi(). */
static void describe_phases(const struct state *s, double points, struct workload_shape *shape) {
    static const int arrays[] = {[NPBMZ_BT] = 9, [NPBMZ_SP] = 10, [NPBMZ_LU] = 5};
    static const int loops[] = {[NPBMZ_BT] = 5, [NPBMZ_SP] = 5, [NPBMZ_LU] = 2};
    const int which = npbmz_find(s->shape.name);
    shape->moved = 24 * sizeof(double) * points;
    shape->pieces = arrays[which];
    shape->loops = loops[which];
}

static struct workload_shape describe(const void *p) {
    const struct state *s = p;
    const evn_problem zones = npbmz_tasks(s->problem);
    double points = 0;
    for (int z = 0; z < zones.tasks; z++) points += zones.weight[z];
    struct workload_shape shape = {.class_ = s->key,
                                   .key = s->key,
                                   .steps = s->shape.steps,
                                   .group = 1,
                                   .bytes = s->shape.bytes,
                                   .device_bytes = s->shape.device_bytes,
                                   .copied = 40 * points}; /* u, five doubles a point */
    if (s->by == NPBMZ_LOOPS_PHASE) describe_phases(s, points, &shape);
    return shape;
}

static evn_problem tasks(const void *p) {
    const struct state *s = p;
    return npbmz_tasks(s->problem);
}

static int length(const void *p) { return npbmz_loop(((const struct state *)p)->problem); }

static int phases(const void *p, int zone, evn_phase *phase, int room) {
    return npbmz_phases(((const struct state *)p)->problem, zone, phase, room);
}

static const struct workload_teams teams = {length, phases};

static int run(void *p, evn_units *units, evn_schedule *schedule, const struct run_options *o,
               const struct run_result **result) {
    struct state *s = p;
    npbmz_options options = {
        .run = *o, .perturb = s->perturb, .sweeps = s->how, .loops = s->by, .exchange = s->with};
    options.run.files = &s->files;
    npbmz_result_free(&s->result);
    evn_status status = npbmz_run(s->problem, units, schedule, &options, &s->result);
    *result = &s->result.run;
    return status ? give_up(status) : 0;
}

static struct workload_kept kept(void *p) {
    struct state *s = p;
    return (struct workload_kept){s->files.checkpoint, &s->files.restart};
}

static void close_state(void *p) {
    struct state *s = p;
    npbmz_result_free(&s->result);
    npbmz_close(s->problem);
}

/* ---- the page ---- */

static void print_problem(const void *p, int steps, FILE *out) {
    const struct state *s = p;
    npbmz_print_header(s->problem, steps, out);
}

static void print_zone_sums(const npbmz_result *r, FILE *out) {
    fprintf(out, "\n  zone  sums of the five components over the interior\n");
    for (int z = 0; z < r->run.tasks; z++) {
        fprintf(out, "  %4d", z + 1);
        for (int m = 0; m < 5; m++) fprintf(out, "  %23.16e", r->zone_sums[5 * z + m]);
        fputc('\n', out);
    }
}

/* The IPDPS paper's table 3, by ranks; the largest of each is what the run waits for. */
static void print_ranks(const npbmz_result *r, FILE *out) {
    npbmz_times most = {0};
    fprintf(out, "\n  rank    total s    rhs s  solver s  exchange s   wait s\n");
    for (int i = 0; i < r->run.ranks; i++) {
        const npbmz_times t = npbmz_rank_times(r, i);
        fprintf(out, "  %4d  %9.3f  %7.3f  %8.3f  %10.3f  %7.3f\n", i, t.total, t.rhs, t.solver,
                t.exchange, t.wait);
        most = (npbmz_times){t.total, fmax(most.rhs, t.rhs), fmax(most.solver, t.solver),
                             fmax(most.exchange, t.exchange), fmax(most.wait, t.wait)};
    }
    fprintf(out, "  %4s  %9.3f  %7.3f  %8.3f  %10.3f  %7.3f\n", "most", most.total, most.rhs,
            most.solver, most.exchange, most.wait);
}

static void print_result(const void *p, const struct workload_page *page) {
    const struct state *s = p;
    npbmz_print_result(s->problem, &s->result, page->cores, page->out);
    if (page->verbose) phases_print(page->out, NPBMZ_PHASES, npbmz_phase_name, s->result.phase_s);
    if (page->verbose && s->result.run.ranks > 1) print_ranks(&s->result, page->out);
    if (page->verbose && *s->result.sweeps)
        fprintf(page->out, "\n sweeps on devices: %s\n", s->result.sweeps);
    if (page->verbose && s->result.zone_sums) print_zone_sums(&s->result, page->out);
}

/* The zones as they lie in the mesh, each with the letter of its unit; north is up. */
static void draw(const void *p, const int *owner, int units, FILE *out) {
    static const char letter[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const npbmz_shape *shape = &((const struct state *)p)->shape;
    if (units > (int)sizeof letter - 1 || shape->zones[0] > 64) return;
    fprintf(out, "\nzones by unit, x to the right, y upwards:\n");
    for (int j = shape->zones[1] - 1; j >= 0; j--) {
        fputs("  ", out);
        for (int i = 0; i < shape->zones[0]; i++)
            fprintf(out, " %c", letter[owner[i + j * shape->zones[0]]]);
        fputc('\n', out);
    }
}

/* ---- the record ---- */

/* Zones along x and y, in points: where each lies follows from that. */
static cJSON *record_zones(const struct state *s) {
    cJSON *o = cJSON_CreateObject();
    const char *const name[] = {"x", "y"};
    for (int d = 0; d < 2; d++) {
        cJSON *list = cJSON_AddArrayToObject(o, name[d]);
        for (int i = 0; i < s->shape.zones[d]; i++) {
            int points[3];
            npbmz_zone(s->problem, d ? i * s->shape.zones[0] : i, points);
            cJSON_AddItemToArray(list, cJSON_CreateNumber(points[d]));
        }
    }
    return o;
}

/* Total, right-hand side, solver, exchange and waiting of each rank. */
static cJSON *record_ranks(const npbmz_result *r) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < r->run.ranks; i++) {
        const npbmz_times t = npbmz_rank_times(r, i);
        cJSON *o = cJSON_CreateObject();
        record_number(o, "total_s", t.total);
        record_number(o, "rhs_s", t.rhs);
        record_number(o, "solver_s", t.solver);
        record_number(o, "exchange_s", t.exchange);
        record_number(o, "wait_s", t.wait);
        cJSON_AddItemToArray(list, o);
    }
    return list;
}

static void lay(const void *p, cJSON *root) {
    cJSON_AddItemToObject(root, "zones", record_zones(p));
}

static void record(const void *p, cJSON *root) {
    const struct state *s = p;
    const npbmz_result *r = &s->result;
    cJSON *norms = cJSON_AddObjectToObject(root, "norms");
    cJSON_AddItemToObject(norms, "residual", record_numbers(r->residual, 5));
    cJSON_AddItemToObject(norms, "error", record_numbers(r->error, 5));
    if (!strcmp(s->shape.name, "lu-mz")) record_number(norms, "surface", r->surface);
    cJSON_AddStringToObject(root, "loop", s->by ? "phase" : "step");
    cJSON_AddStringToObject(root, "exchange", s->with ? "zones" : "parallel");
    if (s->with) {
        record_number(root, "zone_copies", (double)r->zone_copies);
        record_number(root, "zone_copied_bytes", r->zone_copied_bytes);
    }
    if (*r->sweeps) cJSON_AddStringToObject(root, "sweeps", r->sweeps);
    phases_record(root, NPBMZ_PHASES, npbmz_phase_name, r->phase_s);
    if (r->run.ranks > 1) cJSON_AddItemToObject(root, "rank_times", record_ranks(r));
    states_record(&s->files, &r->run, root);
    lay(p, root);
    if (r->zone_sums)
        cJSON_AddItemToObject(root, "zone_sums", record_numbers(r->zone_sums, 5 * r->run.tasks));
}

/* ---- the workloads ---- */

static const struct study studies[] = {
    {"npbmz", "NPB-MZ: phase by phase against the machine's peak, and against another program",
     npbmz_study_phases},
    {"exchange", "the exchange of zones' faces on 1, 2, 4 devices, in virtual time",
     npbmz_study_exchange},
    {0},
};

#define SHARED                                                                                     \
    .about = "One of the multi-zone NAS Parallel Benchmarks: a flow on a mesh of zones that\n"     \
             "exchange their boundary faces after each time step, verified by official norms.\n",  \
    .noun = "zone", .weight = "points", .schedule = "auto", .sample = "--class=W", .keeps = 1,     \
    .ranks = 1, .options = options, .rules = rules, .state = sizeof(struct state), .check = check, \
    .describe = describe, .tasks = tasks, .teams = &teams, .kept = kept,                           \
    .print_problem = print_problem, .run = run, .print_result = print_result, .record = record,    \
    .lay = lay, .draw = draw, .close = close_state

static const struct workload bt = {.name = "bt-mz",
                                   .help = "NPB-MZ BT: zones of very unequal sizes",
                                   .variant = NPBMZ_BT,
                                   .studies = studies,
                                   SHARED},
                             sp = {.name = "sp-mz",
                                   .help = "NPB-MZ SP: zones of equal size",
                                   .variant = NPBMZ_SP,
                                   SHARED},
                             lu = {.name = "lu-mz",
                                   .help = "NPB-MZ LU: sixteen zones, each swept in two orders",
                                   .variant = NPBMZ_LU,
                                   SHARED};

extern const struct workload *const npbmz_workloads[];
const struct workload *const npbmz_workloads[] = {&bt, &sp, &lu, NULL};
