/* A workload: one struct with all that the command needs to run, plan, calibrate, measure and
 * report.
 *
 * A folder NAME has one in its file workload.c, or several that share functions:
 *
 *     const struct workload *const NAME_workloads[] = {&heat, NULL};
 *
 * and evener_workload(NAME) in a CMakeLists.txt adds it to the command.
 *
 * A state is zeroed memory of the workload's size: option values, and objects made from them.
 * Functions are called in the order of this struct, by the thread that opens the units; an int is
 * 0, or an exit status after a message (common/cli/message.h). All functions are required unless
 * their comment says otherwise. */
#pragma once

#include "common/cli/options.h"
#include "common/run/run.h"
#include "common/run/virtual.h"
#include <cjson/cJSON.h>
#include <evener/predict.h>
#include <stdio.h>

/* A problem as it is known once it is open. */
struct workload_shape {
    const char *class_;  /* name of the class, "S"; NULL: the workload has no classes */
    const char *key;     /* names problems whose tasks take the same times; of a class, the class */
    int steps;           /* steps of a run, unless others are asked for */
    int group;           /* steps that one instance of the loop is for */
    double bytes;        /* bytes of all tasks' data */
    double device_bytes; /* memory that a device needs for all tasks; 0: not told, the workload fits
                            its tasks in itself */
    double copied; /* bytes of the tasks' data that a copy of whole tasks takes along; 0: all */
    /* for evener plan: bytes of the tasks' data that move with them, 0: all; messages that those of
     * a task are, and loops of a step, 0: 1 */
    double moved;
    int pieces, loops;
};

/* A study of its own, for evener bench, or a command of its own; argv[0] is its name. The function
 * gives an exit status. */
struct study {
    const char *name, *help; /* NULL ends a list */
    int (*run)(int argc, char **argv);
};

/* Division of a task among a team, for evener model. */
struct workload_teams {
    /* Length of the loop in the published equation (2), f(n) of a team of n. */
    int (*length)(const void *state);
    /* The phases of a task, as evn_prediction_input has them; `state` is its arg. */
    int (*phases)(const void *state, int task, evn_phase *phase, int room);
};

/* Checkpoint files of a run: --checkpoint and --restart. */
struct workload_kept {
    const char *checkpoint; /* NULL: no checkpoint */
    const char **restart;   /* *restart: file to restart from; NULL: from the beginning */
};

/* Data for printing the result. */
struct workload_page {
    FILE *out;
    int cores;   /* cores of all units */
    int verbose; /* more is wanted */
};

struct workload {
    const char *name;     /* name in commands, "bt-mz" */
    const char *help;     /* description in one line */
    const char *about;    /* a paragraph for help and manual: lines that end with \n, or NULL */
    const char *noun;     /* name of a task, "zone" */
    const char *weight;   /* what a task's weight counts: "points" */
    const char *schedule; /* default schedule */
    const char *schedule_over_ranks; /* default schedule over ranks; NULL: `schedule` */
    const char *sample; /* options that calibrations begin with, "--class=W --x=1"; or NULL */
    int variant;        /* for workloads that share functions */
    int keeps;          /* 1: it can go on without a device, --on-device-loss continue */
    int ranks;          /* 1: it runs on several ranks (run_options.cluster) */
    int cpu_only;       /* 1: it has no kernels, so GPU units will not do */
    int by_core; /* 1: where tasks suffice, --units auto is a unit a core: its teams share tasks no
                    better than units do, and meet more often */
    const struct option *options; /* options of its own, in its state */
    const struct option_rule
        *rules;   /* rules of what may be combined with them; NULL: there are none */
    size_t state; /* bytes of the state */

    /* Sets the state's defaults, before options are read. NULL: all 0. */
    void (*defaults)(void *state);
    /* Options into a problem, before anything costly. */
    int (*check)(void *state, const struct workload *is);
    /* Handles options that replace a run: returns the exit status, -1 for none. NULL: never. */
    int (*instead)(void *state);
    /* Over ranks: whether another rank leads this one's devices for it. Its GPU units are CPU units
     * of one core each then. NULL: never. */
    int (*is_led)(const void *state, const evn_cluster *cluster);
    /* Checks the units. NULL: all are accepted. */
    int (*check_units)(void *state, const evn_units *units);
    /* Costly preparation; called after units were tried and closed, so that all cores are free.
     * NULL: none. */
    int (*open)(void *state, int quiet);
    struct workload_shape (*describe)(const void *state);
    /* Tasks and links; fields about units are left open. The arrays belong to state. */
    evn_problem (*tasks)(const void *state);
    const struct workload_teams *teams; /* NULL: there is no model of its teams */
    /* Over ranks, if each makes its own part of the problem; else NULL, both. Before `open`, which
     * then only finds the tasks. And with rank[t], the rank of each task: makes this rank's part,
     * on all ranks together; units are closed. */
    void (*join)(void *state, evn_cluster *cluster);
    int (*make)(void *state, const int *rank);
    /* Before `open`, where nothing will be run: `open` then finds the tasks and no more, if that
     * is sooner done. NULL: it is not. */
    void (*foresee)(void *state);
    /* Once the options are read. NULL: it keeps no states. */
    struct workload_kept (*kept)(void *state);
    /* The heading of a run. NULL: none. */
    void (*print_problem)(const void *state, int steps, FILE *out);
    /* The result is the state's, until the next run or close. */
    int (*run)(void *state, evn_units *units, evn_schedule *schedule,
               const struct run_options *options, const struct run_result **result);
    /* The workload's part of the page and of the record, after a run. NULL: none. */
    void (*print_result)(const void *state, const struct workload_page *page);
    void (*record)(const void *state, cJSON *root);
    /* Tasks as they lie, with their owners, for evener plan. NULL: it has no picture. */
    void (*draw)(const void *state, const int *owner, int units, FILE *out);
    /* Keys of a record that say how tasks lie, for pictures of plans. NULL: none. */
    void (*lay)(const void *state, cJSON *root);
    /* Gives back all that the others have made, whatever came of them. */
    void (*close)(void *state);

    /* All of evener model, if `teams` does not apply; as a study. NULL: none. */
    int (*model)(int argc, char **argv);
    const struct virtual_program *in_time; /* evener model, in virtual time; NULL: there is none */
    const struct study *studies;           /* NULL: no studies */
    const struct study *commands;          /* commands of its own, evener NAME; NULL: none */
};
