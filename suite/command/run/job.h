/* A job: what run, plan, calibrate and studies have in common. A workload with its state, a
 * machine, units, speeds, and a schedule for its tasks. */
#pragma once

#include "machine/calibration.h"
#include "run/ranks.h"
#include "run/table.h"

/* Units and schedule as the user names them; options_read() fills it. */
struct job_words {
    const char *units, *devices, *schedule, *speeds; /* schedule NULL: the workload's default */
    struct rank_words ranks;
    const char *plan; /* file with the owners of the first instance; NULL: the schedule's own */
    int oversubscribe;
    long steps;     /* of the run to come; -1: the workload's own number */
    int calibrated; /* take speeds from evener calibrate where there are some */
};

struct job {
    const struct workload *is;
    void *state;
    struct workload_shape shape; /* once the problem is open */
    evn_problem tasks;           /* likewise */
    evn_cluster *cluster;        /* NULL: this process alone */
    evn_session *session;        /* over the cluster, with these: */
    const evn_machine *machine;
    evn_units *units; /* NULL: none are open */
    int is_led;       /* by another rank: no GPU units here */
    double *speed;    /* of each unit, over ranks of all; NULL: as the session has them */
    double *bytes;    /* over ranks: of each task's data, */
    double *needs;    /* and on a device */
    struct calibration_routes routes; /* as evener calibrate has measured them */
    char units_text[512];             /* with cores reassigned, or chosen; "": as the words say */
    struct choice choice;             /* what auto was, and why */
    evn_schedule *schedule;
};

/* The workload that is named by the first word that is neither an option nor the value of one of
 * `own` or of any workload. NULL: *code is the exit status after a message, or -1 where none is
 * named and --help is asked for. */
const struct workload *job_find(const struct option *own, int argc, char **argv, int *code);

/* Reads arguments into the set `own` and into the job's state. As options_read(): -1 where --help
 * is asked for. */
int job_read(struct job *job, const char *command, struct option_set own, int argc, char **argv);

/* One option of the workload's own, "--class=B". As options_read(). */
int job_option(struct job *job, const char *command, char *option);

/* Prints the help of a command about workloads: `usage`, of several lines, its own options, and
 * those of `is`; NULL: the list of workloads. */
void job_help(const char *command, const char *usage, const struct option *own,
              const struct workload *is);

/* All below give 0, or an exit status after a message; job_close() in any case. */

/* The state with its defaults. */
int job_state(struct job *job, const struct workload *is);
/* The same, and a session without units; not for job_join(), which opens one in the processes that
 * it may fork. */
int job_begin(struct job *job, const struct workload *is);
/* A session without units on the machine of the caller's (NULL: all, or this rank's share of it for
 * such units); job->session is another one's, or none. */
int job_on(struct job *job, const evn_machine *machine, const struct job_words *words);
/* Checks `devices` (NULL: not given); *gpus: the list has a GPU unit; if it has none, warns that
 * --devices changes nothing. */
int job_devices(const struct job *job, const char *list, const char *devices, int *gpus);
/* The workload's own check of the options that were read. */
int job_check(struct job *job);
/* For problems that are costly to open: checks first that units and schedule can be opened. */
int job_try(struct job *job, const struct job_words *words);
/* The ranks of the run, where there are several: job->cluster; and the session, on this rank's
 * share of its host. After it all that can fail on one rank goes through ranks_agree(), and
 * ranks_leave() ends it. */
int job_join(struct job *job, const struct job_words *words, int argc, char **argv);
/* The problem: shape and tasks are known. */
int job_open(struct job *job, int quiet);
/* Units with their speeds, by `flags` of evn_units_open(); the job has none. */
int job_units(struct job *job, const struct job_words *words, unsigned flags);
void job_close_units(struct job *job); /* and their schedule */
/* The schedule for these tasks on these units. */
int job_schedule(struct job *job, const struct job_words *words);
/* Over ranks, once there is a schedule: what each makes of the problem for its own tasks. Units are
 * opened anew. */
int job_make(struct job *job, const struct job_words *words);
/* Closes units and session, as before the ranks are left. */
void job_off(struct job *job);
void job_close(struct job *job);

/* Cores of all units together. */
int job_cores(const struct job *job);

/* The weight of all tasks. */
double job_weight(const struct job *job);

/* Bytes of a task's data for each of its weight: all, those that move with it in a plan, and those
 * of a copy of whole tasks. */
double job_state_bytes(const struct job *job);
double job_moved_bytes(const struct job *job);
double job_copied_bytes(const struct job *job);
