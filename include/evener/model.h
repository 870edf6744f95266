/* For tools: the model, the predicted time of a step on a machine that need not exist.
 *
 * A loop under a schedule runs in a virtual clock: units take tasks as the schedule says, each task
 * takes the given seconds on a unit of that kind, tasks that change their unit bring their data
 * along, and after the last task the faces are exchanged. Nothing is computed and no clock is read,
 * so the model gives the same answer everywhere; a step of a thousand tasks takes some tens of
 * microseconds.
 *
 *     evn_simulation *clock;
 *     evn_simulation_open(&clock, &model);
 *     for (int i = 0; i < steps; i++) evn_simulation_step(clock, schedule, &step);
 *
 * The exchange is modelled in two ways. `Parallel` is Evener's: all faces from one unit to another
 * are one message, and all messages move at once, except that each unit sends one message at a time
 * and receives one at a time. `Sequential` is that of González and Morancho, "Multi-GPU
 * Parallelization of the NAS Multi-Zone Parallel Benchmarks" (2021), section 2.4.3: one link after
 * another. Either each face is a message of its own, or, as in that paper, the neighbour's whole
 * data are copied to the unit that computes the borders, and back.
 *
 * Units may belong to ranks, the processes of a run on several nodes. Between two ranks all faces
 * of all their units are one message, and a rank sends one at a time and receives one at a time;
 * within a rank units exchange as without ranks. */
#ifndef EVENER_MODEL_H
#define EVENER_MODEL_H

#include <evener/program.h>
#include <evener/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Order of the exchange. In tasks, each link has its first task's unit compute both faces, and
 * where the second task is on another unit, its data go there and back. */
typedef enum evn_exchange_order {
    EVN_EXCHANGE_PARALLEL,
    EVN_EXCHANGE_FACES, /* sequential, a message a face */
    EVN_EXCHANGE_TASKS, /* sequential, whole tasks */
} evn_exchange_order;

/* A workload on a machine. The arrays belong to the caller and must outlive simulations of it;
 * `slow` may be changed between two steps, to model a unit that becomes slower during a run. */
typedef struct evn_model {
    int tasks;
    const double *seconds; /* kinds x tasks: seconds[kind * tasks + task], >= 0 and finite */
    const double *state;   /* tasks: bytes of a task's data, which move with it; NULL: none */
    int links;
    const evn_link *link; /* as in evn_problem */
    int units, kinds;
    const int *kind;         /* kind of each unit, 0 .. kinds - 1; NULL: all of kind 0 */
    const double *slow;      /* factor on the seconds of each unit's kind, > 0; NULL: all 1 */
    const evn_route *route;  /* kinds x kinds: route[from * kinds + to]; NULL: exchange is free */
    const evn_route *within; /* kinds: faces between two tasks of one unit; NULL: free */
    int sequential;          /* order of the exchange, an evn_exchange_order */
    const double *copied;    /* tasks: bytes of a whole copy, for EVN_EXCHANGE_TASKS; NULL: state */
    const evn_route *copy;   /* kinds x kinds: route of whole copies; NULL: as route */
    double noise; /* fraction by which a task's seconds vary from step to step, in a fixed sequence;
                     0 to below 1 */
    const int *rank;      /* rank of each unit, from 0; NULL: one rank */
    const evn_route *far; /* kinds x kinds: between two ranks, by the kinds of their first units;
                             NULL: as route */
    double tree; /* s a hop of the control records, which go up and down a tree of ranks after each
                    step */
    const double *crowd;  /* kinds x units: crowd[kind * units + n - 1], factor on the seconds while
                             n units of that kind compute, > 0; NULL: all 1 */
    const double *beside; /* kinds: factor on the seconds while units of another kind compute, too,
                             > 0; NULL: all 1 */
    double beside_s;      /* s of a loop beside tasks and messages, but for waking units */
    double idle_s;        /* s before each step in which no unit has anything to do */
    /* Waiting units sleep after spin_s and wake in wake_s: those beside the first unit of their
     * rank as a loop begins, for which that one takes wake_call_s, and that one where it has waited
     * for others. wake_s 0: none sleeps. */
    double spin_s, wake_s, wake_call_s;
    int overlap; /* 1: units compute tasks that need no messages while messages travel; parallel
                    exchange only */
    int pieces;  /* messages that a task's data are, one after another; 0: 1 */
    int loops;   /* of a step, one after another, each with its part of the tasks' seconds; where
                    units draw tasks they do so in each anew; 0: 1 */
} evn_model;

/* The predicted times of one step. */
typedef struct evn_step {
    double compute_s;   /* until the last unit has done its tasks, incoming migrations included */
    double migration_s; /* longest time of a unit in migrations, part of compute_s */
    double exchange_s;  /* until the last face is in place */
    double imbalance; /* longest compute time of a unit over the shortest; infinite if that is 0 */
    double bytes;     /* exchanged between units, both directions */
    long messages;    /* messages: pairs of units or of ranks; in sequence, faces */
    double migrated_bytes; /* data of tasks that changed their unit */
    int migrations;
    double tree_s;   /* tree of ranks, up and down: 2 ceil(log2 ranks) hops */
    double beside_s; /* of all loops beside tasks and messages, with waking */
    double step_s;   /* total: compute_s + exchange_s + tree_s + beside_s, less the hidden part of
                        overlap */
} evn_step;

typedef struct evn_simulation evn_simulation;

/* Makes a virtual clock for `model`, which is copied except for its arrays. EVN_USAGE: a number is
 * out of the range above; EVN_MEMORY. */
evn_status evn_simulation_open(evn_simulation **out, const evn_model *model);
void evn_simulation_close(evn_simulation *simulation);

/* Simulates the next instance of the loop under `schedule`, which learns the tasks' seconds
 * (without migrations), and the exchange under that instance's owners; of several loops their sums,
 * and the last one's owners. In the first step all data
 * are where the owners are. EVN_USAGE: the schedule was made for another number of tasks or units;
 * EVN_MEMORY. */
evn_status evn_simulation_step(evn_simulation *simulation, evn_schedule *schedule, evn_step *step);

/* An interval of a unit in a step, seconds from the step's begin. */
typedef enum evn_model_burst_kind {
    EVN_MODEL_COMPUTE,
    EVN_MODEL_MIGRATION,
    EVN_MODEL_FACES, /* faces sent or received; in sequence, both faces of a link */
    EVN_MODEL_COPY,  /* copy of a whole task, there or back */
} evn_model_burst_kind;

typedef struct evn_model_burst {
    evn_model_burst_kind kind;
    int unit;
    int task; /* -1: several tasks */
    double begin, end;
} evn_model_burst;

/* Has `watch` called with each burst of the steps that follow, computing first; NULL: no more. */
void evn_simulation_watch(evn_simulation *simulation,
                          void (*watch)(void *arg, const evn_model_burst *burst), void *arg);

/* Details of the last step, valid until the next. */
typedef struct evn_last_step {
    const int *owner;      /* of each task */
    const double *seconds; /* of each task */
    const double *compute; /* each unit's time with tasks */
    const double
        *exchange; /* each unit's time in the exchange; in sequence all wait for all faces */
} evn_last_step;
evn_last_step evn_simulation_last(const evn_simulation *simulation);

/* Speeds and bandwidth for the schedules of a model. Fills `speed`, one number a unit: weight a
 * second, over all tasks. Returns the bandwidth for evn_problem, bytes a second: the inverse of the
 * additional time of a byte between two units over that within the receiving unit, averaged over
 * all ordered pairs of different units; in sequence with one latency for each mean face. 0:
 * exchange takes no additional time; NAN, with a message, for a model that evn_simulation_open()
 * would refuse. `weight` as in evn_problem (NULL: all 1). */
double evn_model_speeds(const evn_model *model, const double *weight, double *speed);

#ifdef __cplusplus
}
#endif
#endif
