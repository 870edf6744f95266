/* A run of any workload: its options, its result, and the timed part with its steps.
 *
 *     struct timed t = {.options = o, .result = r, .loop = loop, .place = place, .advance = step,
 *                       .arg = me};
 *     if (!status) status = timed_begin(&t);               (the warm-up is over)
 *     if (!status) status = timed_steps(&t, 0, steps);
 *     if (!status) status = timed_end(&t);
 *     timed_close(&t);
 */
#pragma once

#include <evener.h>
#include <evener/change.h>
#include <evener/cluster.h>
#include <signal.h>
#include <stdint.h>

/* For studies of schedules: a CPU unit that takes `factor` times as long for its tasks from step
 * `step` on, counted from 0. */
struct run_slow {
    int unit, step;
    double factor; /* 0 and 1: no unit is slowed */
};

/* Files of a run's checkpoints (common/checkpoint/state.h). */
struct state_files {
    const char *checkpoint; /* the state every `every` steps (0: 100), after the last one, and when
                               `stop` was seen; NULL: nowhere */
    const char *restart;    /* checkpoint to continue from; NULL: start from the beginning */
    long every;
};

/* Options of a run; all 0 except `steps` is a plain run. */
struct run_options {
    int steps; /* 0 and up; -1: the workload's own number */
    /* called by the calling thread after each step, with the seconds since the first began; may be
     * NULL */
    void (*progress)(int step, int steps, double seconds, void *arg);
    /* called when the timed part begins and once it is done, by the calling thread, over ranks on
     * all of them: each may be collective, and its status is the run's; may be NULL */
    evn_status (*begin)(evn_loop *loop, void *arg);
    evn_status (*inspect)(const evn_loop *loop, void *arg);
    /* told when a run goes on without a device that has failed; may be NULL */
    void (*notice)(const char *text, void *arg);
    void *arg;
    int bursts; /* that the loop keeps of each unit, for `inspect`; 0: as many as it does anyway */
    /* After a device's failure: 0, the run ends; else it continues with the remaining units, from
     * the latest copy of the state, taken every `keep` steps. */
    int keep;
    struct run_slow slow;
    int phases;                        /* devices time their launches */
    const volatile sig_atomic_t *stop; /* looked at after each step: not 0 ends the run. May be
                                          NULL; over ranks the cluster's is looked at */
    evn_cluster *cluster;              /* whose ranks run it together; NULL: this process alone */
    const struct state_files *files;   /* NULL: none; workloads that keep no state pass it over */
};

/* A unit, on whichever rank. */
struct run_unit {
    int rank, number; /* rank of the unit, and its number there */
    int gpu;
    int cores, first_core; /* number of its cores; the first of them in run_result.core */
    char device[96];       /* name of its first device; "" */
    char binding[8];       /* binding of its threads, evn_unit_about() */
    double taken;          /* in the timed part, evn_unit_taken() */
    evn_unit_stats stats;
};

/* A rank and the bytes that it sent. */
struct run_rank {
    char host[64];
    char processor[96];
    int cores;
    double memory;      /* memory of its host */
    double wait_s;      /* idle time of its units, summed */
    long long messages; /* number of messages of exchanges to other ranks */
    double bytes;
    long long moved; /* tasks that went to another rank */
    double moved_bytes;
};

/* Times of a device's launches in the timed part. */
struct run_phases {
    int count;
    evn_device_phase *phase;
};

/* Results of a run. */
struct run_result {
    int steps;
    int verified;   /* 1, 0, or -1: nothing to compare with */
    double seconds; /* seconds of the timed part */
    double mops;    /* nominal million operations a second */
    evn_loop_medians median;
    double communication_s; /* wall time of the timed part between the loop's instances */
    uint64_t hash;          /* hash of the solution's bits, tasks in order */
    evn_loop_totals totals; /* since the present units were in place */
    int units, tasks, devices;
    struct run_unit *unit; /* units of all ranks, by their global numbers */
    struct run_rank *rank; /* description of each rank */
    int ranks;             /* 1: this process alone */
    int *core;             /* numbers of all units' cores; -1: bound to none */
    int cores;
    int *owner;     /* unit of each task at the end */
    double *task_s; /* time of each task, s: the median over the last instances */
    double *weight; /* its weight; NULL: as of the problem, like its links: */
    evn_link *link; /* what an instance moves between tasks, evn_loop_links() */
    int links;
    int changes;                   /* number of changes of tasks since the loop was opened */
    evn_changed *change;           /* copies of them, evn_trace_changes() */
    evn_counts *device;            /* what each device did in the timed part, by its number */
    struct run_phases *phases;     /* phases of each device; NULL: they were not timed */
    evn_moves moved;               /* regions that went from space to space in the timed part */
    int restarted, restarted_from; /* 1: it went on from a file, after that step; `seconds` and
                                      `mops` are of the steps since */
    int checkpoints;               /* written, and how long that took */
    double checkpoint_s;
};
void run_result_free(struct run_result *result);

/* The imbalance of the units' compute times, evn_imbalance(); NAN without memory. */
double run_imbalance(const struct run_result *result);

/* An imbalance with 3 digits behind the point; "-" where a unit did nothing, so that there is none.
 */
struct imbalance_text {
    char text[24];
};
struct imbalance_text imbalance_text(double imbalance);

/* Tasks that unit u owns at the end, and their weight. */
int run_share(const struct run_result *result, const evn_problem *tasks, int u, double *weight);

/* The timed part. */
struct timed {
    const struct run_options *options;
    struct run_result *result;
    evn_loop *loop;
    evn_place *place; /* place of the tasks' regions; NULL: there are none */
    /* s of each unit in visits that are a part of its computation, and behind them the wall's: they
     * count there, and not as an exchange; NULL: there are none */
    const double *visited;
    /* Computes the next step, or several with one instance of the loop; *done counts them.
     * EVN_STOPPED: it has seen `stop`, and all is again as before it was called. */
    evn_status (*advance)(int *done, void *arg);
    /* May be NULL, as all below. After each advance: keeps a state, if one is due. `stopping`: no
     * step follows, though some are left. */
    evn_status (*after)(int done, int stopping, void *arg);
    /* Called after the last step, within the timed part. */
    evn_status (*finish)(void *arg);
    /* After a failure other than EVN_STOPPED: restores an earlier state and sets its step, or
     * returns the failure. */
    evn_status (*recover)(evn_status failure, int *done, void *arg);
    void *arg;
    int slowed;     /* run_options.slow has begun */
    double *sample; /* times of tasks in the latest instances */
    int samples;    /* noted so far, since the tasks are these */
    int tasks, generation;
};

/* Statistics and counters begin here, and the loop keeps as many bursts as are asked for.
 * Over ranks with `begin` collective. EVN_MEMORY; what `begin` says. */
evn_status timed_begin(struct timed *timed);

/* Steps done + 1 to `steps`. EVN_STOPPED: `stop` was seen before the last of them was done, and
 * `after` was called for those that are. */
evn_status timed_steps(struct timed *timed, int done, int steps);

/* Fills all of the result but verified, mops and hash, over ranks for all of them. EVN_MEMORY. */
evn_status timed_end(struct timed *timed);
void timed_close(struct timed *timed);
