/* Work on zones: passes by the cores of their owners, and time step and norms on devices. */
#include "npbmz/run/run.h"
#include "npbmz/device/gpu.h"
#include "npbmz/host/residual.h"
#include "npbmz/host/exact.h"
#include "npbmz/mesh/mesh.h"
#include <evener/clock.h>
#include <evener/exchange.h>
#include <stdlib.h>

/* A pass over one zone, by a subteam. */
static void pass_zone(const evn_subteam *by, int z, void *arg) {
    const struct order *o = arg;
    struct scratch *s = setup_scratch(o->run, by);
    if (s) o->pass(o->run, z, s, &(struct team){by->core, by->cores, by});
}

/* A pass over some of a batch's zones, or all (NULL), by the unit's cores. */
static evn_status share_zones(evn_batch *batch, const int *zone, int count, struct run *run,
                              zone_pass *pass) {
    struct order o = {.run = run, .pass = pass};
    evn_status status = evn_batch_share(batch, zone, count, pass_zone, &o);
    if (!status && atomic_load(&run->out_of_memory))
        return evn_fail(EVN_MEMORY, "%s: the system gave no memory for a zone", run->name);
    return status;
}

/* The loop's body for every pass. */
static evn_status each_zone(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    (void)unit;
    return share_zones(batch, NULL, 0, o->run, o->pass);
}

/* A pass over the zones on the host's cores. */
evn_status zones_visit(struct run *run, zone_pass *pass, evn_access access) {
    return evn_loop_visit_host(run->loop, each_zone, &(struct order){.run = run, .pass = pass},
                               access);
}

void zone_make(struct run *run, int z, struct scratch *s, const struct team *t) {
    struct zone *zone = &run->p->zone[z];
    (void)s;
    if (t->core == 0 && !zone->u && zone_reserve(run->p, zone))
        atomic_store(&run->out_of_memory, 1);
    /* over ranks it may go before its first step */
    if (t->core == 0 && run->cluster && setup_keep(run, zone)) atomic_store(&run->out_of_memory, 1);
}

void zone_force(struct run *run, int z, struct scratch *s, const struct team *t) {
    if (t->core == 0) zone_clear(run->p, &run->p->zone[z]);
    team_barrier(t);
    zone_forcing(run->p, &run->p->zone[z], s->memory, t);
}

/* The initial state, and what a solver derives from it. */
void zone_begin(struct run *run, int z, struct scratch *s, const struct team *t) {
    if (t->core == 0) zone_initialise(run->p, &run->p->zone[z]);
    team_barrier(t);
    if (run->p->solver->prepare) run->p->solver->prepare(run->p, &run->p->zone[z], s, t);
}

/* A perturbed start comes between the initial state and the solver's preparation. */
void zone_begin_perturbed(struct run *run, int z, struct scratch *s, const struct team *t) {
    if (t->core == 0) {
        zone_initialise(run->p, &run->p->zone[z]);
        zone_perturb(&run->p->zone[z], z);
    }
    team_barrier(t);
    if (run->p->solver->prepare) run->p->solver->prepare(run->p, &run->p->zone[z], s, t);
}

void zone_step(struct run *run, int z, struct scratch *s, const struct team *t) {
    phase_start(s, t);
    run->p->solver->step(run->p, &run->p->zone[z], s, t);
}

/* A step that another one follows: zone z's faces are copied early where its neighbour has its new
 * values. A zone of several cores leaves that to them all. */
void zone_step_ahead(struct run *run, int z, struct scratch *s, const struct team *t) {
    zone_step(run, z, s, t);
    if (t->cores == 1) evn_exchange_ahead(run->exchange, z);
}

/* Tells a device which zones it has, and where. */
static evn_status place_batch(struct run *run, const evn_batch *batch) {
    const int space = evn_batch_space(batch);
    int count;
    const int *zone = evn_batch_tasks(batch, &count);
    size_t *at = run->at + (size_t)space * (size_t)run->p->zones;
    for (int i = 0; i < count; i++) at[i] = evn_batch_at(batch, zone[i], 0);
    return gpu_batch(run->gpu[space], evn_batch_buffer(batch), count, zone, at);
}

/* A pass of the set-up where the zones are. */
static evn_status each_start(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    struct run *run = o->run;
    if (evn_batch_device(batch) < 0) return each_zone(unit, batch, arg);
    struct gpu *g = run->gpu[evn_batch_space(batch)];
    evn_status status = place_batch(run, batch);
    if (status) return status;
    return o->pass == zone_force ? gpu_force(g) : gpu_begin(g);
}

evn_status zones_start(struct run *run, zone_pass *pass) {
    return evn_loop_visit(run->loop, each_start, &(struct order){.run = run, .pass = pass});
}

/* Time step of a batch of zones, on a unit's cores or on its device. */
evn_status zones_step(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    struct run *run = o->run;
    const int device = evn_batch_device(batch);
    if (device < 0) return each_zone(unit, batch, arg);
    struct gpu *g = run->gpu[evn_batch_space(batch)];
    evn_status status = place_batch(run, batch);
    if (!status) status = gpu_step(g);
    if (!status) status = gpu_finish(g);
    return status;
}

/* Zones whose faces are on their way wait for the others; the time of each is its own. */
evn_status zones_step_early(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    struct run *run = o->run;
    const int device = evn_batch_device(batch);
    if (device >= 0) {
        evn_status status = evn_exchange_finish(run->exchange, unit, device);
        return status ? status : zones_step(unit, batch, arg);
    }
    int count, early = 0, late;
    const int *zone = evn_batch_tasks(batch, &count);
    int *list = malloc((size_t)count * sizeof *list);
    if (!list) return evn_fail(EVN_MEMORY, "%s: no memory for a list of zones", run->name);
    for (int i = late = 0; i < count; i++)
        list[evn_exchange_needs(run->exchange, zone[i]) ? count - ++late : early++] = zone[i];
    evn_status status = share_zones(batch, list, early, run, zone_step);
    if (!status) status = evn_exchange_finish(run->exchange, unit, device);
    if (!status) status = share_zones(batch, list + early, late, run, zone_step);
    free(list);
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

/* A step while the faces are still on their way: what needs none of them comes first. */
evn_status zones_step_split(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    struct run *run = o->run;
    const int device = evn_batch_device(batch);
    if (device >= 0) {
        struct gpu *g = run->gpu[evn_batch_space(batch)];
        evn_status status = place_batch(run, batch);
        if (!status) status = gpu_step(g);
        if (!status) status = evn_exchange_finish(run->exchange, unit, device);
        return status ? status : gpu_finish(g);
    }
    evn_status status = share_zones(batch, NULL, 0, run, begin_step);
    if (!status) status = evn_exchange_finish(run->exchange, unit, device);
    return status ? status : share_zones(batch, NULL, 0, run, finish_step);
}

/* A phase of a zone, which keeps what it leaves to the next. */
static void zone_phase(struct run *run, int z, struct scratch *s, const struct team *t) {
    const struct solver *solver = run->p->solver;
    struct zone *zone = &run->p->zone[z];
    if (t->core == 0 && setup_keep(run, zone)) atomic_store(&run->out_of_memory, 1);
    team_barrier(t);
    const double begin = evn_now();
    if (zone->kept || !setup_kept(run, zone)) solver->phase(run->p, zone, s, t, run->phase);
    if (t->core != 0 || !run->phase) return;
    run->late[z] = (run->phase > 1 ? run->late[z] : 0) + evn_now() - begin;
}

/* Cores learn from the whole of the step before: the first phase's times, with those that the
 * others took. Of devices these are not known zone by zone, so beside them all learn from the first
 * phase alone. */
static evn_status share_phase(evn_batch *batch, struct run *run) {
    int count;
    const int *zone = evn_batch_tasks(batch, &count);
    evn_status status = share_zones(batch, NULL, 0, run, zone_phase);
    for (int i = 0; !status && i < count && !run->phase && !run->place; i++)
        evn_batch_add(batch, zone[i], run->late[zone[i]]);
    return status;
}

evn_status zones_phase(evn_unit *unit, evn_batch *batch, void *arg) {
    struct run *run = arg;
    (void)unit;
    if (evn_batch_device(batch) < 0) return share_phase(batch, run);
    struct gpu *g = run->gpu[evn_batch_space(batch)];
    evn_status status = gpu_keep(g);
    if (!status) status = place_batch(run, batch);
    return status ? status : gpu_phase(g, run->phase);
}

/* BT and SP measure the residual of the last state; LU that which the last step left. */
void zone_norm_residual(struct run *run, int z, struct scratch *s, const struct team *t) {
    const struct zone *zone = &run->p->zone[z];
    const double *r = zone->r;
    if (!r) {
        double *out = s->memory + ZONE_SLACK;
        residual(run->p, zone, zone->u, zone->f, 1, out, s->memory + setup_field(run->p), t);
        r = out;
        team_barrier(t);
    }
    if (t->core == 0) zone_residual_norm(zone, r, run->norms[z].residual);
}

void zone_norm_others(struct run *run, int z, struct scratch *s, const struct team *t) {
    (void)s;
    if (t->core != 0) return;
    const struct zone *zone = &run->p->zone[z];
    zone_error_norm(run->p, zone, run->norms[z].error);
    if (run->p->benchmark == NPBMZ_LU) run->norms[z].surface = zone_surface(run->p, zone);
    run->hash[z] = zone_hash(zone);
    if (run->sums) zone_sums(zone, run->sums + NC * z);
}

/* The passes of norms where zones may be on devices: a device makes all of a zone's norms at once.
 */
static evn_status each_norm(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    struct run *run = o->run;
    const int device = evn_batch_device(batch);
    if (device < 0) return each_zone(unit, batch, arg);
    struct gpu *g = run->gpu[evn_batch_space(batch)];
    int count;
    const int *zone = evn_batch_tasks(batch, &count);
    struct norms *norms = malloc((size_t)count * sizeof *norms);
    uint64_t *hash = malloc((size_t)count * sizeof *hash);
    evn_status status = EVN_OK;
    if (!norms || !hash)
        status = evn_fail(EVN_MEMORY, "%s: no memory for the norms of %d zones", run->name, count);
    if (!status) status = place_batch(run, batch);
    const int residual = o->pass == zone_norm_residual;
    if (!status) status = gpu_norms(g, residual ? norms : NULL, residual ? NULL : hash);
    for (int i = 0; !status && i < count; i++) {
        if (residual) run->norms[zone[i]] = norms[i];
        if (!residual) run->hash[zone[i]] = hash[i];
    }
    free(norms);
    free(hash);
    return status;
}

evn_status zones_norms(struct run *run, zone_pass *pass) {
    /* sums of perturbed runs are taken on the host */
    if (run->sums && pass == zone_norm_others) return zones_visit(run, pass, EVN_READ);
    return evn_loop_visit(run->loop, each_norm, &(struct order){.run = run, .pass = pass});
}
