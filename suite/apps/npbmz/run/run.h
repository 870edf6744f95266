/* A run of a benchmark, for its files: run.c has the steps, zones.c the work on zones on cores and
 * devices, setup.c the preparation, state.c the checkpoint. Inside of the application. */
#pragma once

#include "common/run/run.h"
#include "common/checkpoint/state.h"
#include "npbmz/host/norms.h"
#include "npbmz/npbmz.h"
#include "npbmz/problem.h"
#include <evener/recover.h>
#include <stdatomic.h>

/* A unit's work space: that of its whole team, and that of each subteam, which is number 1 + the
 * subteam's first core. Made when it is wanted first. */
struct scratches {
    struct scratch *of;
    int count;
};

/* Data common to its passes over the zones. */
struct run {
    struct problem *p;
    const char *name; /* "bt-mz", for messages */
    const npbmz_options *options;
    evn_units *units;
    evn_cluster *cluster; /* NULL: this process alone */
    int begun;            /* the problem fits, and its fields are being made */
    evn_loop *loop;
    struct scratches *scratch; /* scratches of each unit */
    int scratches;
    evn_place *place;          /* NULL: no devices */
    struct gpu **gpu;          /* by space; NULL for the host's and for lost ones */
    int *region;               /* region of each zone */
    size_t *at;                /* room for the places of a batch's zones, for each space */
    evn_exchange *exchange;    /* NULL: not of faces, but */
    struct whole_zones *whole; /* of whole zones (whole_zones.h) */
    evn_recovery *recovery;    /* NULL: a failure ends the run */
    struct norms *norms;       /* norms of each zone */
    uint64_t *hash;
    double *sums;     /* sums of perturbed runs; NULL */
    char sweeps[200]; /* LU's on the last device, in words */
    struct timed timed;
    int steps; /* steps of the timed part */
    /* for steps of one loop a phase: the current phase; s of each zone in all phases but the first,
     * in the step before; s of each unit in visits, and behind them the wall's */
    int phase;
    double *late, *visited;
    struct states states;
    atomic_int out_of_memory;
};

/* The problem within. */
struct problem *npbmz_problem(npbmz *problem);

/* Work on one zone by every core of a unit's team. */
typedef void zone_pass(struct run *run, int z, struct scratch *s, const struct team *t);

/* A pass and its run: the argument of the loop's bodies. */
struct order {
    struct run *run;
    zone_pass *pass;
};

/* Passes. make: memory for a zone, which nobody has written; force: all of it as it was never used,
 * by its first owner, and the forcing; begin, begin_perturbed: the initial state and what a solver
 * derives from it; a time step, and one after which nobody but the next reads ghosts; residual and
 * the other norms, the hash and sums. */
zone_pass zone_make, zone_force, zone_begin, zone_begin_perturbed, zone_step, zone_step_ahead;
zone_pass zone_norm_residual, zone_norm_others;

/* A pass over the zones on the host's cores, with their data brought home. */
evn_status zones_visit(struct run *run, zone_pass *pass, evn_access access);

/* zone_force or zone_begin where zones are, on devices too; no zone comes home for it. */
evn_status zones_start(struct run *run, zone_pass *pass);

/* One of the two passes for norms, where zones are. */
evn_status zones_norms(struct run *run, zone_pass *pass);

/* The loop's bodies for a time step; the others where faces are still on their way: what needs none
 * of them first, which is a part of each zone's step, or the steps of some zones. */
evn_status zones_step(evn_unit *unit, evn_batch *batch, void *order);
evn_status zones_step_early(evn_unit *unit, evn_batch *batch, void *order);
evn_status zones_step_split(evn_unit *unit, evn_batch *batch, void *order);

/* A body for a loop for each phase: run->phase of the step. */
evn_status zones_phase(evn_unit *unit, evn_batch *batch, void *run);

extern const struct state_kind run_state;

/* Whether what this host's ranks own fits into what the system can still give. EVN_MEMORY says how
 * much is needed. */
evn_status setup_check(struct run *run);

/* Migration of zones to another rank. */
evn_status setup_homes(struct run *run);

/* Doubles that a zone keeps from phase to phase of a step; 0 where a step is one loop. Makes them,
 * zeros at first, if they are not there; 0, or -1: no memory. */
size_t setup_kept(const struct run *run, const struct zone *z);
int setup_keep(const struct run *run, struct zone *z);

/* Memory of a device that all zones take with the work space of the benchmark's own solver, bytes.
 */
double setup_device_bytes(const struct problem *p);

/* Doubles of a field with the slack around it that zone layouts ask for. */
size_t setup_field(const struct problem *p);

/* The work space of a subteam, called by all of its cores; zeros at first, and when it was another
 * size's. NULL, with run->out_of_memory set, if the system gives none. */
struct scratch *setup_scratch(struct run *run, const evn_subteam *by);
/* The work space number `number` of a unit, for so many cores; called by one thread. As above. */
struct scratch *setup_fit_scratch(struct run *run, int unit, int number, int cores);

/* Room for the units' work spaces; their being zeroed, with the clocks of phases. */
evn_status setup_open_scratch(struct run *run);
void setup_clear_scratch(struct run *run);

/* Zones become regions that follow the schedule; each device gets its kernels. Makes what is not
 * there yet, so that it can go on after a device has failed. */
evn_status setup_open_devices(struct run *run);

/* Access of loop bodies to zones from now on: EVN_WRITE, all of each, so that none must be moved to
 * its device; or EVN_BOTH. */
evn_status setup_access(struct run *run, evn_access access);

/* The unit is lost: gives back what its devices were given; its scratch goes behind the others. */
void setup_lose(struct run *run, evn_unit *unit);

/* Says which faces zones exchange. */
evn_status setup_open_exchange(struct run *run);

void setup_give_back(struct run *run);
