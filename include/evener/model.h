/* The model: what a step takes on a machine that need not be there.
 *
 * A loop under a schedule is run in a virtual clock: units take tasks as the schedule says, each
 * task takes the seconds that a unit of that kind needs for it, tasks that change their unit bring
 * their data along, and after the last task the faces are exchanged. Nothing is computed and no
 * clock is read, so the same model gives the same answer everywhere, a step of a thousand tasks in
 * some tens of microseconds.
 *
 *     evn_simulation *clock;
 *     evn_simulation_open(&clock, &model);
 *     for (int i = 0; i < steps; i++) evn_simulation_step(clock, schedule, &step);
 *
 * The exchange is modelled in two ways. `Parallel` is Evener's: all faces that go from one unit to
 * another are one message, and all messages move at once, as far as the ports of the units allow:
 * each unit sends one message at a time and receives one at a time. `Sequential` is that of
 * González and Morancho, "Multi-GPU Parallelization of the NAS Multi-Zone Parallel Benchmarks"
 * (2021): one zone after another, each face a message of its own.
 *
 * Units may be of ranks, the processes of a run on many nodes. Between two ranks all faces of all
 * their units are one message, and it is the rank that sends and receives one at a time; within a
 * rank all is as without.
 */
#ifndef EVENER_MODEL_H
#define EVENER_MODEL_H

#include <evener/schedule.h>
#include <evener/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A workload on a machine. The arrays belong to the caller and must live as long as simulations of
 * it; `slow` may be changed between two steps, as a unit may become slower in mid-run. */
typedef struct evn_model {
    int tasks;
    const double *seconds; /* kinds x tasks: seconds[kind * tasks + task], >= 0 and finite */
    const double *state;   /* tasks: bytes of a task's data, which migrate with it; NULL: none */
    int links;
    const evn_link *link; /* as the schedule's problem has them */
    int units, kinds;
    const int *kind;        /* of each unit, 0 .. kinds - 1; NULL: all are of kind 0 */
    const double *slow;     /* of each unit: times the seconds of its kind, > 0; NULL: all 1 */
    const evn_route *route; /* kinds x kinds: route[from * kinds + to]; NULL: exchange is free */
    const evn_route
        *within;     /* kinds: of faces between two tasks of one unit; NULL: they are free */
    int sequential;  /* the exchange goes one zone after another */
    double noise;    /* a task's seconds vary from step to step by up to this fraction, in a fixed
                        sequence; from 0 to below 1 */
    const int *rank; /* of each unit, from 0; NULL: all are of one */
    const evn_route *far; /* kinds x kinds, as route: between ranks, by the kinds of their first
                             units; NULL: as route */
    double tree; /* s of a hop of the records that ranks send up and down a tree after each step */
    int overlap; /* units do tasks that need nothing from other ranks while messages travel; in
                    parallel only */
} evn_model;

/* What one step takes. */
typedef struct evn_step {
    double compute_s;   /* until the last unit is done with its tasks, migrations to it included */
    double migration_s; /* the longest that a unit spends with migrations in that time */
    double exchange_s;  /* until the last face is where it belongs */
    double imbalance;   /* longest over shortest compute time of a unit; infinite: one has none */
    double bytes;       /* exchanged between units, both ways */
    long messages;      /* that they take: pairs of units or of ranks, or in sequence faces */
    double migrated_bytes; /* of tasks that changed their unit */
    int migrations;
    double tree_s; /* for the tree of ranks, up and down: 2 ceil(log2 ranks) hops */
    double step_s; /* all of it: compute_s + exchange_s + tree_s, less what overlap hides */
} evn_step;

typedef struct evn_simulation evn_simulation;

/* A virtual clock for `model`, which is copied but for its arrays. EVN_USAGE: a number in it is
 * none that the comments above allow; EVN_MEMORY. */
evn_status evn_simulation_open(evn_simulation **out, const evn_model *model);
void evn_simulation_close(evn_simulation *simulation);

/* One step: the next instance of the loop under `schedule`, which learns the seconds of the tasks
 * (without migrations), and the exchange under the owners there were. The first step finds the data
 * where it wants it. EVN_USAGE: the schedule was made for another number
 * of tasks or units; EVN_MEMORY. */
evn_status evn_simulation_step(evn_simulation *simulation, evn_schedule *schedule, evn_step *step);

/* What the last step was in detail, valid until the next: the owner of each task and its seconds;
 * of each unit the time with tasks, the time with migrations, and the time it takes part in the
 * exchange (in sequence all units wait for all faces). */
const int *evn_simulation_owner(const evn_simulation *simulation);
const double *evn_simulation_seconds(const evn_simulation *simulation);
const double *evn_simulation_compute(const evn_simulation *simulation);
const double *evn_simulation_migrate(const evn_simulation *simulation);
const double *evn_simulation_exchange(const evn_simulation *simulation);

/* What the schedules of a model should be made with. Fills `speed`, one number a unit: weight done
 * a second, over all tasks. Returns the bandwidth for evn_problem, bytes a second: one over what a
 * byte takes longer between two units than within the one that receives it, the mean over all
 * ordered pairs of different units, with a latency for each mean face in sequence and none in
 * parallel; 0 if that is nothing; NAN, with a message, for a model that evn_simulation_open() would
 * refuse. `weight` as in evn_problem (NULL: all 1). */
double evn_model_speeds(const evn_model *model, const double *weight, double *speed);

#ifdef __cplusplus
}
#endif
#endif
