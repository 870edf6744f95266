/* For tools: processes by threads, the predicted time of a step on Np processes of Nt threads.
 *
 * The model of van der Wijngaart and Jin, "NAS Parallel Benchmarks, Multi-Zone Versions: parallel
 * performance" (IPDPS 2004), section 4.3, and a finer one on the same grouping: a schedule assigns
 * tasks to processes, then the threads of each node are assigned to its processes by their loads
 * (evn_schedule_reassign() does the same within one node).
 *
 *     evn_processes p = {.processes = 64, .threads = 4, .node = 16};
 *     evn_predict_group(&tasks, "binpack", &p, owner, threads);
 *     speedup = evn_predict_speedup(&tasks, &p, owner, threads, 0.030, 28);
 *
 * All functions are pure and may be called from any thread. A process is a rank of a run; threads
 * are cores. */
#ifndef EVENER_PREDICT_H
#define EVENER_PREDICT_H

#include <evener/program.h>
#include <evener/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Np x Nt: `threads` is the mean over processes. Consecutive processes fill one node after another,
 * node / threads of them each; threads move only between processes of one node. */
typedef struct evn_processes {
    int processes, threads;
    int node; /* cores of a node, >= threads; 0: all processes are on one */
    int cap;  /* most threads of one process, >= threads; 0: all of its node */
} evn_processes;

/* A part of a task's time that a team shares as one loop of `length` equal pieces. */
typedef struct evn_phase {
    double share; /* part of the task's time; all shares of a task add up to 1 */
    int length;   /* >= 1; 0: it is shared evenly by any number of threads */
} evn_phase;

/* f of equation (2): time of a task on `threads` threads over 1 / threads of its time on one: [1 +
 * (n - 1) alpha] fib(n), where fib is the mean over phases by their shares (phases 0: 1). NAN, with
 * a message, as above. */
double evn_predict_team(double alpha, int phases, const evn_phase *phase, int threads);

/* Assigns the tasks to p->processes processes of equal speed by the schedule `text`, and
 * p->processes x p->threads threads to processes. Of `tasks`, weights and links count. `owner`: the
 * process of each task; `threads`: of each process, at least 1. EVN_USAGE: no such schedule, or
 * invalid numbers; EVN_MEMORY. */
evn_status evn_predict_group(const evn_problem *tasks, const char *text, const evn_processes *p,
                             int *owner, int *threads);

/* Equation (1), S = T / (Tmg f): T is the weight of all tasks, Tmg the largest weight of a process
 * over its threads, f that of p->threads threads and a loop of `length`. With alpha 0 and length 0,
 * the speedup of the grouping alone. NAN, with a message, for an invalid owner or number. */
double evn_predict_speedup(const evn_problem *tasks, const evn_processes *p, const int *owner,
                           const int *threads, double alpha, int length);

/* Least-squares slope of y over x through the origin; *residual (may be NULL): root mean square of
 * the residuals. For alpha, x is threads - 1 and y is f / fib - 1 of the same runs (figure 8 of the
 * paper). 0 without points, or if all x are 0. */
double evn_predict_slope(int n, const double *x, const double *y, double *residual);

/* Cost of a message: seconds of an empty one, and seconds a byte. */
typedef struct evn_way {
    double latency, per_byte;
} evn_way;

/* Input of the finer model. */
typedef struct evn_prediction_input {
    const evn_problem *tasks; /* weights and links */
    const double *seconds;    /* seconds of each task on one core */
    double alpha;
    /* Fills the phases of a task, as of evn_predict_team(), at most `room`, and returns their
     * number. NULL: no phases. */
    int (*phases)(const void *arg, int task, evn_phase *phase, int room);
    const void *arg;
    double copy_per_byte; /* seconds a byte of a received face's copy */
    evn_way near, far;    /* a message within a node, and between nodes */
} evn_prediction_input;

/* Result of the finer model, in seconds of a step; exchange and compute are those of the longest
 * process. */
typedef struct evn_prediction {
    double step_s;     /* time of the longest process, and of the tree */
    double compute_s;  /* computing of the longest process */
    double exchange_s; /* exchange of the longest process */
    double tree_s;     /* control records, up and down the tree of processes */
} evn_prediction;

/* t = max over processes of [sum over its tasks of c f(n) / n + e] + 2 ceil(log2 Np) l. n: the
 * process's threads; e: the copies of the faces it receives and one message for each neighbouring
 * process; l: the latency between nodes, or within the node if there is one node. EVN_USAGE:
 * invalid numbers; EVN_MEMORY. */
evn_status evn_predict_step(const evn_prediction_input *in, const evn_processes *p,
                            const int *owner, const int *threads, evn_prediction *out);

/* Cost of teams: n cores at one task need (1 + doubling log2 n) fib(n) / n of the time of one core;
 * fib is the mean over phases as of evn_predict_team(). */
typedef struct evn_team_cost {
    double doubling; /* increase by each doubling of a team, >= 0: barriers, unequal shares */
    /* Phases of a task, as in evn_prediction_input; NULL: shared evenly. */
    int (*phases)(const void *arg, int task, evn_phase *phase, int room);
    const void *arg;
    double meeting; /* time of each doubling of a unit's team, once a batch whatever its size; as a
                       weight that a core of speed 1 does in that time, >= 0 */
    double enough;  /* above 0: under a schedule whose owners never change, once a unit is longer
                       than this the others are not computed, and have 0 */
} evn_team_cost;

/* Predicted step on units of one process whose bodies call evn_batch_share() (evener/subteam.h),
 * unit u with cores[u] cores: instances run under the schedule `text` until tasks keep their units,
 * each unit divided into subteams as by a loop. busy[u], tasks->units entries: unit u's time at
 * work in the last instance, in weights over tasks->speed, the speed of the whole unit. Where units
 * draw, each chunk is divided by itself. Exchange is not included. EVN_USAGE: no such schedule, or
 * invalid numbers; EVN_MEMORY. */
evn_status evn_predict_units(const evn_problem *tasks, const char *text, const int *cores,
                             const evn_team_cost *cost, double *busy);

#ifdef __cplusplus
}
#endif
#endif
