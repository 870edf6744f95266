/* Preparation of a run: memory on the host and on devices, and the faces of the exchange. */
#include "npbmz/run/run.h"
#include "npbmz/run/whole_zones.h"
#include "common/run/ranks.h"
#include "npbmz/device/gpu.h"
#include "npbmz/host/residual.h"
#include "npbmz/host/exact.h"
#include "npbmz/mesh/faces.h"
#include "npbmz/mesh/mesh.h"
#include "common/run/free_all.h"
#include <stdlib.h>
#include <string.h>

size_t setup_field(const struct problem *p) { return NC * (size_t)p->max_sc + 2 * ZONE_SLACK; }

size_t setup_kept(const struct run *run, const struct zone *z) {
    return run->options->loops == NPBMZ_LOOPS_PHASE ? run->p->solver->kept(z) : 0;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Scratch of a team: the most that any of its uses needs. */
static size_t scratch_doubles(const struct problem *p, int cores) {
    size_t max = p->solver->scratch(p, cores);
    max = larger(max, zone_forcing_scratch(p, cores));
    return larger(max, setup_field(p) + residual_scratch(p, cores));
}

/* A unit's, if it needs all that it may: its team's, and those of its cores. */
static double unit_doubles(const struct problem *p, int cores) {
    const double team = (double)scratch_doubles(p, cores);
    return cores == 1 ? team : team + cores * (double)scratch_doubles(p, 1);
}

evn_status setup_check(struct run *run) {
    double needed = 0;
    for (int u = 0; u < evn_units_count(run->units); u++)
        needed += unit_doubles(run->p, evn_unit_cores(evn_units_get(run->units, u))) *
                  (double)sizeof(double);
    for (int z = 0; z < run->p->zones; z++) {
        size_t bytes;
        zone_block(run->p, &run->p->zone[z], &bytes);
        bytes += setup_kept(run, &run->p->zone[z]) * sizeof(double);
        if (evn_loop_has(run->loop, z)) needed += (double)bytes;
    }
    char who[32];
    snprintf(who, sizeof who, "%s class %c", run->name, run->p->class_);
    return ranks_room(run->cluster, run->units, needed, who, "", "class");
}

/* ---- zones that go to another rank --------------------------------------------------------- */

int setup_keep(const struct run *run, struct zone *z) {
    const size_t doubles = setup_kept(run, z), bytes = (doubles * sizeof(double) + 63) / 64 * 64;
    if (!bytes || z->kept) return 0;
    z->kept = aligned_alloc(64, bytes);
    if (z->kept) memset(z->kept, 0, bytes);
    return z->kept ? 0 : -1;
}

static evn_status make_home(void *arg, int z) {
    struct run *run = arg;
    struct zone *zone = &run->p->zone[z];
    if (!zone_alloc(run->p, zone) && !setup_keep(run, zone)) return EVN_OK;
    return evn_fail(EVN_MEMORY, "%s: no memory for zone %d, which comes from another rank",
                    run->name, z);
}

static void *home_memory(void *arg, int z, int block, size_t *bytes) {
    const struct run *run = arg;
    const struct zone *zone = &run->p->zone[z];
    if (!block) return zone_block(run->p, zone, bytes);
    *bytes = setup_kept(run, zone) * sizeof(double);
    return zone->kept;
}

static void drop_home(void *arg, int z) { zone_free(&((struct run *)arg)->p->zone[z]); }

/* A zone may go to another rank between two phases, and then takes along what the first has left;
 * what it has left in a device's memory stays there. */
evn_status setup_homes(struct run *run) {
    const int keeps = setup_kept(run, &run->p->zone[0]) > 0;
    if (run->cluster && run->options->exchange == NPBMZ_EXCHANGE_ZONES)
        return evn_fail(EVN_USAGE,
                        "%s: --exchange zones copies zones within one process, and here are %d "
                        "ranks; expected --exchange parallel, or one process",
                        run->name, evn_cluster_size(run->cluster));
    const evn_home home = {
        .blocks = 1 + keeps, .make = make_home, .memory = home_memory, .drop = drop_home};
    if (keeps && run->cluster && evn_units_about(run->units).devices)
        return evn_fail(EVN_USAGE,
                        "%s: --loop phase over ranks is for CPU units, and rank %d has devices; "
                        "expected one process, or --loop step",
                        run->name, evn_cluster_rank(run->cluster));
    return evn_loop_homes(run->loop, &home, run);
}

/* ---- work space ---------------------------------------------------------------------------- */

evn_status setup_open_scratch(struct run *run) {
    for (int u = 0; u < evn_units_count(run->units); u++) {
        struct scratches *s = &run->scratch[u];
        if (s->of) continue;
        s->count = 1 + evn_unit_cores(evn_units_get(run->units, u));
        s->of = calloc((size_t)s->count, sizeof *s->of);
        if (!s->of)
            return evn_fail(EVN_MEMORY, "%s: no memory for the units' work space", run->name);
    }
    return EVN_OK;
}

struct scratch *setup_fit_scratch(struct run *run, int unit, int number, int cores) {
    struct scratch *s = &run->scratch[unit].of[number];
    if (s->cores == cores) return s;
    const size_t doubles = scratch_doubles(run->p, cores);
    if (doubles > s->doubles) {
        free(s->memory);
        s->memory = aligned_alloc(64, (doubles * sizeof(double) + 63) / 64 * 64);
        s->doubles = s->memory ? doubles : 0;
    }
    s->cores = s->memory ? cores : 0;
    s->share = (double)cores / (run->scratch[unit].count - 1);
    if (s->memory)
        memset(s->memory, 0, s->doubles * sizeof(double));
    else
        atomic_store(&run->out_of_memory, 1);
    return s->memory ? s : NULL;
}

struct scratch *setup_scratch(struct run *run, const evn_subteam *by) {
    const int unit = evn_unit_number(by->unit), whole = by->cores == evn_unit_cores(by->unit);
    const int number = whole ? 0 : 1 + by->first;
    struct scratch *s = &run->scratch[unit].of[number];
    if (s->cores != by->cores) {
        evn_subteam_barrier(by); /* all have seen that */
        if (!by->core) setup_fit_scratch(run, unit, number, by->cores);
        evn_subteam_barrier(by);
    }
    return s->memory ? s : NULL;
}

static void clear_scratch(evn_unit *unit, void *arg) {
    const struct run *run = arg;
    const struct scratches *all = &run->scratch[evn_unit_number(unit)];
    for (int i = 0; i < all->count; i++) {
        struct scratch *s = &all->of[i];
        if (s->memory) memset(s->memory, 0, s->doubles * sizeof(double));
        memset(s->seconds, 0, sizeof s->seconds);
    }
}

void setup_clear_scratch(struct run *run) { evn_units_run(run->units, clear_scratch, run); }

/* ---- devices ------------------------------------------------------------------------------- */

#define USED 0.95 /* part of a device's memory that fields and work space may use */

static const struct gpu_solver *const solvers[] = {
    [NPBMZ_BT] = &gpu_bt, [NPBMZ_SP] = &gpu_sp, [NPBMZ_LU] = &gpu_lu};

static double device_bytes(const struct problem *p, const struct gpu_solver *solver) {
    double work = 0;
    for (int z = 0; z < p->zones; z++)
        work += (double)(solver->work(p, &p->zone[z]) * sizeof(double));
    return (problem_bytes(p) + work) / USED;
}

double setup_device_bytes(const struct problem *p) {
    return device_bytes(p, solvers[p->benchmark]);
}

/* The part of a device's memory that zones may take: what they need beside the work space. */
static double field_share(const struct problem *p, const struct gpu_solver *solver) {
    return problem_bytes(p) / device_bytes(p, solver);
}

static const struct gpu_solver *gpu_solver(const struct run *run) {
    return run->options->solver ? run->options->solver : solvers[run->p->benchmark];
}

evn_status setup_access(struct run *run, evn_access access) {
    return run->place ? evn_loop_place(run->loop, run->place, 1, run->region, &access) : EVN_OK;
}

/* Zones become regions that follow the schedule. */
static evn_status open_place(struct run *run, double share) {
    struct problem *p = run->p;
    evn_status status = evn_place_open(&run->place, run->units, share);
    if (status) return status;
    const size_t zones = (size_t)p->zones, spaces = (size_t)evn_place_spaces(run->place);
    run->region = malloc(zones * sizeof *run->region);
    run->at = malloc(zones * spaces * sizeof *run->at);
    run->gpu = calloc(spaces, sizeof *run->gpu);
    if (!run->region || !run->at || !run->gpu)
        return evn_fail(EVN_MEMORY, "%s: no memory for %zu zones", run->name, zones);
    for (int z = 0; !status && z < p->zones; z++) {
        size_t bytes;
        void *block = zone_block(p, &p->zone[z], &bytes);
        status = evn_place_add(run->place, block, bytes, &run->region[z]);
    }
    /* at once: recovery has the loop's place let go of a device that fails from here on */
    return status ? status : setup_access(run, EVN_BOTH);
}

evn_status setup_open_devices(struct run *run) {
    const struct problem *p = run->p;
    const struct gpu_solver *solver = gpu_solver(run);
    if (!evn_units_about(run->units).devices) return EVN_OK;
    const double share = field_share(p, solver);
    evn_status status = run->place ? EVN_OK : open_place(run, share);
    for (int u = 0; u < evn_units_count(run->units); u++) {
        evn_unit *unit = evn_units_get(run->units, u);
        for (int d = 0; !status && d < evn_unit_devices(unit); d++) {
            evn_device *device = evn_unit_device(unit, d);
            const int space = evn_place_space(run->place, unit, d);
            const double work = (USED - share) * (double)evn_device_traits(device)->memory;
            const struct gpu_solver *own = solver;
            if (run->gpu[space]) continue;
            if (solver == &gpu_lu && !run->options->solver)
                status = lu_sweeps_choose(&own, p, device, run->options->sweeps, run->sweeps,
                                          sizeof run->sweeps);
            if (!status)
                status = gpu_open(&run->gpu[space], p, own, device, evn_unit_queue(unit, d),
                                  (size_t)work);
        }
    }
    return status;
}

void setup_lose(struct run *run, evn_unit *unit) {
    for (int d = 0; run->place && d < evn_unit_devices(unit); d++) {
        const int space = evn_place_space(run->place, unit, d);
        struct gpu **g = &run->gpu[space];
        whole_zones_lose(run->whole, space);
        gpu_close(*g);
        *g = NULL;
    }
    const int lost = evn_unit_number(unit), units = evn_units_count(run->units);
    const struct scratches scratch = run->scratch[lost];
    memmove(&run->visited[lost], &run->visited[lost + 1],
            (size_t)(units - lost) * sizeof *run->visited);
    memmove(&run->scratch[lost], &run->scratch[lost + 1],
            (size_t)(units - 1 - lost) * sizeof scratch);
    run->scratch[units - 1] = scratch;
}

/* ---- faces --------------------------------------------------------------------------------- */

evn_status setup_open_exchange(struct run *run) {
    const struct problem *p = run->p;
    evn_status status = EVN_OK;
    if (run->exchange || run->whole) return EVN_OK;
    if (run->options->exchange == NPBMZ_EXCHANGE_ZONES) return whole_zones_open(&run->whole, run);
    evn_face *face = malloc(4 * (size_t)p->zones * sizeof *face);
    void **block = malloc((size_t)p->zones * sizeof *block);
    if (!face || !block)
        status = evn_fail(EVN_MEMORY, "%s: no memory for the list of faces", run->name);
    for (int z = 0; !status && z < p->zones; z++) {
        size_t bytes;
        zone_faces(p, z, face + 4 * z);
        block[z] = zone_block(p, &p->zone[z], &bytes);
    }
    if (!status)
        status =
            evn_exchange_open(&run->exchange, run->loop, sizeof(double), 4 * p->zones, face, block);
    free_all(face, block);
    return status;
}

void setup_give_back(struct run *run) {
    evn_exchange_close(run->exchange);
    whole_zones_close(run->whole);
    for (int s = 0; run->gpu && s < evn_place_spaces(run->place); s++) gpu_close(run->gpu[s]);
    evn_place_close(run->place);
    for (int z = 0; z < run->p->zones; z++) zone_free(&run->p->zone[z]);
    for (int u = 0; run->scratch && u < run->scratches; u++) {
        struct scratches *s = &run->scratch[u];
        for (int i = 0; s->of && i < s->count; i++) free(s->of[i].memory);
        free(s->of);
    }
    free_all(run->scratch, run->gpu, run->region, run->at);
}
