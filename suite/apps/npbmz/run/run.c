/* A run of a benchmark: zones made where they are computed, warm-up, timed steps, norms,
 * verification (NAS-03-010, sections 3 and 4). */
#include "npbmz/run/run.h"
#include "npbmz/run/whole_zones.h"
#include "common/run/ranks.h"
#include "npbmz/host/verify.h"
#include "npbmz/mesh/mesh.h"
#include "common/run/free_all.h"
#include <evener/exchange.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- before the first step ----------------------------------------------------------------- */

/* Memory and forcing, with each zone where its owner computes it. */
static evn_status force(struct run *run) {
    evn_status status = setup_access(run, EVN_WRITE);
    if (!status) status = zones_start(run, zone_force);
    evn_status after = setup_access(run, EVN_BOTH);
    return status ? status : after;
}

/* The state that is timed: the first one, perturbed by the host, or the one that was kept. */
static evn_status begin_timed(struct run *run) {
    evn_status status;
    if (run->states.from)
        status = states_load(&run->states);
    else if (run->options->perturb)
        status = zones_visit(run, zone_begin_perturbed, EVN_BOTH);
    else
        return zones_start(run, zone_begin);
    return status ? status : evn_loop_bring(run->loop);
}

static evn_status exchange(struct run *run) {
    return run->whole ? whole_zones_run(run->whole) : evn_exchange_run(run->exchange);
}

/* The warm-up step, and the state that is timed. */
static evn_status warm_up(struct run *run) {
    struct order order = {run, zone_step};
    evn_status status = zones_start(run, zone_begin);
    if (!status) status = exchange(run);
    if (!status) status = evn_loop_visit(run->loop, zones_step, &order);
    if (!status) status = begin_timed(run);
    setup_clear_scratch(run);
    return status;
}

/* Up to the state that is timed; also once more, when a device has failed on the way. */
static evn_status set_up(struct run *run) {
    evn_status status = ranks_agreed(run->cluster, setup_open_scratch(run));
    if (!status) status = zones_visit(run, zone_make, EVN_WRITE);
    if (!status) status = setup_open_devices(run);
    if (!status) status = setup_open_exchange(run);
    status = ranks_agreed(run->cluster, status);
    if (!status) status = force(run);
    if (!status) setup_clear_scratch(run); /* forcing has used it, and solvers expect it zeroed */
    if (!status) status = warm_up(run);
    if (!status && run->recovery) status = evn_recovery_keep(run->recovery, run->states.first);
    return status;
}

/* ---- the timed part ------------------------------------------------------------------------ */

/* 1 if the next operation on the state is another step: it is not the last step, and no checkpoint
 * follows, which would contain the ghosts that the step has read. */
static int is_followed(const struct run *run, int done) {
    const struct state_files *files = run->options->run.files;
    return !run->whole && done + 1 < run->steps && !(files && files->checkpoint) && !run->recovery;
}

/* A loop for each phase, all units meeting behind it ("Multi-GPU Parallelization of the NAS
 * Multi-Zone Parallel Benchmarks", algorithm 1-a). The first is an instance, by which the schedule
 * places zones; the others visit them there, where the first has left what they need. A visit
 * counts as communication, so its time is kept to be taken from that. */
static evn_status advance_by_phases(struct run *run) {
    const int units = evn_units_count(run->units);
    evn_status status = exchange(run);
    run->phase = 0;
    if (!status) status = evn_loop_run(run->loop, zones_phase, run);
    for (int u = 0; u < units; u++) run->visited[u] -= evn_loop_stats(run->loop, u).exchange_s;
    run->visited[units] -= evn_loop_sum(run->loop).exchange_s;
    for (int n = 1; !status && n < run->p->solver->phases; n++) {
        run->phase = n;
        status = evn_loop_visit(run->loop, zones_phase, run);
    }
    for (int u = 0; u < units; u++) run->visited[u] += evn_loop_stats(run->loop, u).exchange_s;
    run->visited[units] += evn_loop_sum(run->loop).exchange_s;
    return status;
}

static evn_status advance(int *done, void *arg) {
    struct run *run = arg;
    if (run->options->loops == NPBMZ_LOOPS_PHASE) {
        const evn_status status = advance_by_phases(run);
        *done += !status;
        return status;
    }
    struct order order = {run, is_followed(run, *done) ? zone_step_ahead : zone_step};
    int open = 0;
    const int halves = run->p->solver->finish != NULL;
    const int waits = halves || run->cluster || evn_units_about(run->units).devices;
    evn_status status =
        waits && !run->whole ? evn_exchange_start(run->exchange, &open) : exchange(run);
    evn_body body = !open ? zones_step : halves ? zones_step_split : zones_step_early;
    if (!status) status = evn_loop_run(run->loop, body, &order);
    *done += !status;
    return status;
}

static evn_status keep(int done, int stopping, void *arg) {
    struct run *run = arg;
    evn_status status = states_keep(&run->states, done, stopping);
    if (status || !run->recovery || stopping || done == run->steps) return status;
    return evn_recovery_keep(run->recovery, done);
}

/* LU's norms belong to the timed part. */
static evn_status finish(void *arg) {
    struct run *run = arg;
    return run->p->benchmark == NPBMZ_LU ? zones_norms(run, zone_norm_residual) : EVN_OK;
}

/* ---- when a device fails ------------------------------------------------------------------- */

static void on_lost(evn_unit *unit, void *run) { setup_lose(run, unit); }

static void on_told(const char *text, void *arg) {
    const struct run *run = arg;
    const struct run_options *o = &run->options->run;
    if (o->notice) o->notice(text, o->arg);
}

static evn_status recover(evn_status failure, int *done, void *arg) {
    struct run *run = arg;
    return run->recovery ? evn_recovery_go_on(run->recovery, failure, done) : failure;
}

/* From the beginning, with fewer units where a device fails that the run can do without. */
static evn_status set_up_or_recover(struct run *run) {
    evn_status status = set_up(run);
    for (int step; status && run->recovery;) {
        status = evn_recovery_go_on(run->recovery, status, &step);
        if (status || step >= 0)
            break; /* not the device's fault; or all but the keeping was done */
        status = set_up(run);
    }
    return status;
}

/* ---- the run ------------------------------------------------------------------------------- */

/* The time of phases, over all units of all ranks. */
static evn_status sum_phases(const struct run *run, npbmz_result *r) {
    double mine[NPBMZ_PHASES] = {0}, *all = NULL;
    int count = 0;
    for (int u = 0; u < evn_units_count(run->units); u++)
        for (int s = 0; s < run->scratch[u].count; s++)
            for (int i = 0; i < NPBMZ_PHASES; i++) mine[i] += run->scratch[u].of[s].seconds[i];
    evn_status status =
        ranks_share(run->cluster, mine, NPBMZ_PHASES, sizeof *mine, (void **)&all, &count);
    for (int i = 0; !status && i < count; i++) r->phase_s[i % NPBMZ_PHASES] += all[i];
    r->rank_phase_s = all;
    return status;
}

/* Gives all ranks the norms of each rank's zones. */
static evn_status share_norms(struct run *run) {
    evn_status status = evn_loop_allgather(run->loop, run->norms, sizeof *run->norms);
    if (!status) status = evn_loop_allgather(run->loop, run->hash, sizeof *run->hash);
    if (!status && run->sums)
        status = evn_loop_allgather(run->loop, run->sums, NC * sizeof *run->sums);
    return status;
}

/* Norms and hashes of the last state. */
static evn_status measure(struct run *run) {
    evn_status status = EVN_OK;
    if (run->p->benchmark != NPBMZ_LU) status = zones_norms(run, zone_norm_residual);
    return status ? status : zones_norms(run, zone_norm_others);
}

/* The last steps once more, where a device has failed after them with the state in its memory. */
static evn_status measure_or_recover(struct run *run) {
    evn_status status = measure(run);
    while (status && run->recovery) {
        int step;
        status = evn_recovery_go_on(run->recovery, status, &step);
        if (status) break;
        while (!status && step < run->steps) status = advance(&step, run);
        if (!status) status = finish(run);
        if (!status) status = measure(run);
    }
    return status;
}

/* The result of a finished run: norms, whether they are right, times and counts. */
static evn_status conclude(struct run *run, npbmz_result *r) {
    const struct problem *p = run->p;
    evn_status status = timed_end(&run->timed);
    const struct whole_zones_counts copied = whole_zones_counts(run->whole);
    r->zone_copies = copied.copies;
    r->zone_copied_bytes = copied.bytes;
    if (!status) status = sum_phases(run, r);
    if (!status) status = measure_or_recover(run);
    if (!status) status = share_norms(run);
    if (status) return status;
    struct norms total;
    norms_sum(run->norms, p->zones, &total);
    memcpy(r->residual, total.residual, sizeof r->residual);
    memcpy(r->error, total.error, sizeof r->error);
    r->surface = total.surface;
    r->run.hash = problem_hash(run->hash, p->zones);
    r->run.mops =
        r->run.seconds > 0 ? problem_mop(p) * (run->steps - run->states.first) / r->run.seconds : 0;
    struct verification v;
    r->run.verified = verify(p, run->steps, run->options->perturb, &total, &v);
    states_report(&run->states, &r->run);
    r->zone_sums = run->sums;
    memcpy(r->sweeps, run->sweeps, sizeof r->sweeps);
    run->sums = NULL;
    return EVN_OK;
}

static evn_status open_recovery(struct run *run) {
    const evn_recovery_calls calls = {.lost = on_lost, .told = on_told, .arg = run};
    const int every = run->options->run.keep;
    return every ? evn_recovery_open(&run->recovery, run->loop, every, &calls) : EVN_OK;
}

static evn_status make_room(struct run *run) {
    const size_t units = (size_t)evn_units_count(run->units), zones = (size_t)run->p->zones;
    run->scratch = calloc(units, sizeof *run->scratch);
    run->scratches = (int)units;
    run->norms = calloc(zones, sizeof *run->norms);
    run->hash = calloc(zones, sizeof *run->hash);
    if (run->options->perturb) run->sums = calloc(zones * NC, sizeof *run->sums);
    run->visited = calloc(units + 1, sizeof *run->visited);
    run->late = calloc(zones, sizeof *run->late);
    if (!run->scratch || !run->visited || !run->late || !run->norms || !run->hash ||
        (run->options->perturb && !run->sums))
        return evn_fail(EVN_MEMORY, "%s: no memory for %zu zones", run->name, zones);
    return EVN_OK;
}

/* Looks at the files on disk before anything is computed. */
static evn_status look_at_files(struct run *run) {
    run->states = (struct states){.kind = &run_state,
                                  .arg = run,
                                  .parts = run->p->zones,
                                  .files = run->options->run.files,
                                  .cluster = run->cluster,
                                  .units = run->units,
                                  .steps = run->steps};
    states_identify(&run->states, "app=%s class=%c perturb=%d", run->name, run->p->class_,
                    run->options->perturb != 0);
    return states_open(&run->states);
}

static evn_status run_all(struct run *run, evn_schedule *schedule, npbmz_result *r) {
    const struct problem *p = run->p;
    run->steps = run->options->run.steps < 0 ? p->steps : run->options->run.steps;
    evn_status status = look_at_files(run);
    if (status) return status;
    states_schedule(&run->states, schedule);
    status = evn_loop_open_on(&run->loop, run->units, schedule, run->cluster);
    run->states.loop = run->loop;
    if (!status) status = setup_check(run);
    if (!status) status = open_recovery(run);
    if (!status) status = setup_homes(run);
    if (!status) status = make_room(run);
    status = ranks_agreed(run->cluster, status);
    if (status) return status;
    run->begun = 1;
    status = set_up_or_recover(run);
    if (status) return status;
    run->timed = (struct timed){.options = &run->options->run,
                                .result = &r->run,
                                .loop = run->loop,
                                .place = run->place,
                                .visited = run->visited,
                                .advance = advance,
                                .after = keep,
                                .finish = finish,
                                .recover = recover,
                                .arg = run};
    whole_zones_reset(run->whole);
    status = ranks_agreed(run->cluster, timed_begin(&run->timed)); /* else others wait for faces */
    if (!status) status = states_steps(&run->states, &run->timed);
    return status ? status : conclude(run, r);
}

/* The unit whose failure has ended the run: it says so itself, or its device does; -1. */
static int failed_unit(const struct run *run) {
    int failed = evn_loop_about(run->loop).failed_unit;
    for (int u = 0; failed < 0 && u < evn_units_count(run->units); u++) {
        const evn_unit *unit = evn_units_get(run->units, u);
        for (int d = 0; d < evn_unit_devices(unit); d++)
            if (evn_queue_finish(evn_unit_queue(unit, d)) == EVN_DEVICE) failed = u;
    }
    return failed;
}

/* Adds the zones of the unit that failed, where the message does not say. */
static evn_status name_zones(const struct run *run, evn_status status) {
    char why[512];
    snprintf(why, sizeof why, "%s", evn_message());
    const int failed = run->loop ? failed_unit(run) : -1;
    int first = -1, last = -1;
    for (int z = 0; failed >= 0 && z < run->p->zones; z++)
        if (evn_loop_owner(run->loop)[z] == evn_loop_about(run->loop).first_unit + failed) {
            if (first < 0) first = z;
            last = z;
        }
    if (first < 0 || strstr(why, "zone")) return evn_fail(status, "%s", why);
    return evn_fail(status, "%s: zones of unit %d, %d to %d: %s", run->name, failed, first, last,
                    why);
}

evn_status npbmz_run(npbmz *b, evn_units *units, evn_schedule *schedule,
                     const npbmz_options *options, npbmz_result *result) {
    static const npbmz_options defaults = {.run = {.steps = -1}};
    memset(result, 0, sizeof *result);
    struct run run = {.p = npbmz_problem(b),
                      .name = npbmz_describe(b).name,
                      .options = options ? options : &defaults,
                      .units = units,
                      .cluster = options ? options->run.cluster : NULL};
    if (run.cluster && evn_cluster_size(run.cluster) == 1) run.cluster = NULL;
    atomic_init(&run.out_of_memory, 0);
    evn_status status = run_all(&run, schedule, result);
    /* too little memory before anything was begun is the user's to change; now it is a failure */
    if (status == EVN_MEMORY && run.begun) status = evn_fail(EVN_BODY, "%s", evn_message());
    if (run.begun && status && status != EVN_STOPPED) status = name_zones(&run, status);
    setup_give_back(&run);
    states_close(&run.states);
    evn_recovery_close(run.recovery);
    evn_loop_close(run.loop);
    free_all(run.visited, run.late, run.norms, run.hash);
    timed_close(&run.timed);
    free(run.sums);
    if (status) npbmz_result_free(result);
    return status;
}

void npbmz_result_free(npbmz_result *r) {
    run_result_free(&r->run);
    free_all(r->zone_sums, r->rank_phase_s);
    memset(r, 0, sizeof *r);
}
