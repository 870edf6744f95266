/* Processes by threads: what a step takes on so many processes of so many threads each.
 *
 * The model of van der Wijngaart and Jin, "NAS Parallel Benchmarks, Multi-Zone Versions: parallel
 * performance" (IPDPS 2004), section 4.3, and a finer one of ours on the same grouping: tasks are
 * shared out to processes by a schedule, then the threads of each node are shared out to its
 * processes by what these have to do (evn_schedule_reassign() does the same within one node).
 *
 *     evn_processes p = {.processes = 64, .threads = 4, .node = 16};
 *     evn_predict_group(&tasks, "binpack", &p, owner, threads);
 *     speedup = evn_predict_speedup(&tasks, &p, owner, threads, 0.030, 28);
 *
 * All functions are pure and may be called from any thread. A process is a rank of a run; threads
 * are cores.
 */
#ifndef EVENER_PREDICT_H
#define EVENER_PREDICT_H

#include <evener/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Np x Nt: `threads` is the mean over processes. Processes fill one node after another in their
 * order, node / threads of them each, and threads move between those of a node only. */
typedef struct evn_processes {
    int processes, threads;
    int node; /* cores of a node, >= threads; 0: all processes are on one */
    int cap;  /* threads that one process may get, >= threads; 0: all of its node */
} evn_processes;

/* A part of a task's time that a team shares as one loop of `length` equal pieces. */
typedef struct evn_phase {
    double share; /* of the task's time; those of a task add up to 1 */
    int length;   /* >= 1; 0: it is shared evenly by any number of threads */
} evn_phase;

/* fib of equation (2): what a loop of `length` pieces takes on `threads` threads, which have whole
 * pieces, over an even share: ceil(L / n) n / L. 1 for length 0; NAN, with a message, for a length
 * below 0 or no thread. */
double evn_predict_pieces(int length, int threads);

/* f of equation (2): what a task takes on `threads` threads, over 1 / threads of what it takes on
 * one: [1 + (n - 1) alpha] fib(n), where fib is the mean over phases by their shares (phases 0: 1).
 * NAN, with a message, as above. */
double evn_predict_team(double alpha, int phases, const evn_phase *phase, int threads);

/* Groups the tasks into p->processes processes of equal speed by the schedule `text`, and shares
 * p->processes x p->threads threads out. Of `tasks` weights and links count. `owner`: the process
 * of each task; `threads`: of each process, at least 1. EVN_USAGE: no such schedule, or numbers
 * that are none of these; EVN_MEMORY. */
evn_status evn_predict_group(const evn_problem *tasks, const char *text, const evn_processes *p,
                             int *owner, int *threads);

/* Equation (1), S = T / (Tmg f): T the weight of all tasks, Tmg the largest weight of a process
 * over its own threads, f that of p->threads threads and a loop of `length`. With alpha 0 and
 * length 0 it is the speedup of the grouping alone. NAN, with a message: an owner or a number that
 * is none. */
double evn_predict_speedup(const evn_problem *tasks, const evn_processes *p, const int *owner,
                           const int *threads, double alpha, int length);

/* A slope through the origin: what y is times x, by least squares; *residual (may be NULL) receives
 * the root mean square of what is left. For alpha, x is threads - 1 and y is f / fib - 1 of the
 * same runs (figure 8 of the paper). 0 for no points, or x that are all 0. */
double evn_predict_slope(int n, const double *x, const double *y, double *residual);

/* How a message goes: seconds of an empty one, and a byte. */
typedef struct evn_way {
    double latency, per_byte;
} evn_way;

/* What the finer model is told. */
typedef struct evn_prediction_input {
    const evn_problem *tasks; /* weights and links */
    const double *seconds;    /* of each task on one core */
    double alpha;
    /* The phases of a task, as evn_predict_team() takes them; returns how many, at most `room`.
     * NULL: none. */
    int (*phases)(const void *arg, int task, evn_phase *phase, int room);
    const void *arg;
    double copy_per_byte; /* of a face that is put into its place */
    evn_way near, far;    /* of a message between processes of a node, of two nodes */
} evn_prediction_input;

/* What comes out, in seconds of a step; the exchange is that of the process that is longest. */
typedef struct evn_prediction {
    double step_s;     /* the longest process, and the tree */
    double compute_s;  /* of that process */
    double exchange_s; /* likewise */
    double tree_s;     /* of the control records, up and down */
} evn_prediction;

/* t = max over processes of [sum over its tasks of c f(n) / n + e] + 2 ceil(log2 Np) l, where n is
 * the process's own threads, e the copies of the faces it receives and, for each process it
 * exchanges with, a message of all their faces; l is the latency between nodes, or of the node
 * where there is one. EVN_USAGE: numbers that are none; EVN_MEMORY. */
evn_status evn_predict_step(const evn_prediction_input *in, const evn_processes *p,
                            const int *owner, const int *threads, evn_prediction *out);

/* What it costs that several cores are at one task: n of them need
 * (1 + doubling log2 n) fib(n) / n of the time of one, with fib the mean over phases as
 * evn_predict_team() has it. */
typedef struct evn_team_cost {
    double doubling; /* of each doubling of a team, >= 0: barriers, unequal shares */
    /* The phases of a task, as evn_prediction_input has them; NULL: shared evenly. */
    int (*phases)(const void *arg, int task, evn_phase *phase, int room);
    const void *arg;
    double meeting; /* of each doubling of a unit's team, once a batch, however small that is: in
                       weights that a core of speed 1 would do meanwhile, >= 0 */
} evn_team_cost;

/* What a step takes on units of one process whose bodies call evn_batch_share() (evener/subteam.h),
 * unit u having cores[u] cores: instances under the schedule `text` until tasks stay where they
 * are, each unit cut into subteams as a loop cuts it. busy[u], of tasks->units entries, receives
 * how long unit u is at work in the last one, in weights over tasks->speed, which are those of
 * whole units. Where units draw, each chunk is cut by itself. Exchange is left out. EVN_USAGE: no
 * such schedule, or numbers that are none of these; EVN_MEMORY. */
evn_status evn_predict_units(const evn_problem *tasks, const char *text, const int *cores,
                             const evn_team_cost *cost, double *busy);

#ifdef __cplusplus
}
#endif
#endif
