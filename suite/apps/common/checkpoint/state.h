/* Checkpoints: the state of a run on disk, written at intervals, to continue from on any ranks and
 * units. A workload's part is a struct state_kind; the rest is common.
 *
 *     struct states s = {.kind = &mine, .arg = me, .parts = tasks, .files = options->files, ..};
 *     states_identify(&s, "app=heat class=%c", class);
 *     status = states_open(&s);                          (nothing is computed yet)
 *     states_schedule(&s, schedule);
 *     status = evn_loop_open_on(&s.loop, units, schedule, cluster);
 *     if (s.from) status = states_load(&s);              (else the state is made)
 *     status = states_steps(&s, &timed);                 (timed.after calls states_keep())
 *     states_report(&s, &result);
 *     states_close(&s);
 *
 * A state is a list of parts, each of as many doubles as the workload says; the file is the same
 * whichever ranks owned the parts (common/checkpoint/state_file.h). Rank 0 opens the file, which
 * has no name until it is complete (<evener/output.h>). A rank that can open it too, by the number
 * of the process and the descriptor, writes its parts into it; a random word in the file proves its
 * identity. Parts of ranks on other hosts go to rank 0 one after another. Reading is the reverse: a
 * rank that finds the file under its name, with the same header, reads its parts, and rank 0 those
 * of others. All functions but states_look() are collective. */
#pragma once

#include "common/cli/options.h"
#include "common/run/run.h"
#include <cjson/cJSON.h>

struct state_kind {
    const char *name; /* whose it is, for messages: "NPB-MZ" */
    char magic[8];    /* what a file begins with; the last of them is the version */
    const char *part; /* what a part is, for messages: "zone" */
    int shared; /* 1: all ranks have all parts, and rank 0 writes them; 0: part t is written by the
                   rank that has task t */
    /* Doubles of a part after so many steps. */
    size_t (*doubles)(const void *arg, int part, int step);
    /* Doubles from .. from + count of a part: out of it, and into it. Of several parts at once, by
     * the leaders of units. */
    void (*pack)(const void *arg, int part, size_t from, size_t count, double *to);
    void (*unpack)(void *arg, int part, size_t from, size_t count, const double *data);
    /* A part's memory is on the host while it is held. NULL, both: it always is. */
    evn_status (*hold)(void *arg, int part, evn_access access);
    void (*release)(void *arg, int part);
};

enum { STATE_IDENTITY = 1024 };

struct states {
    const struct state_kind *kind;
    void *arg; /* argument of its functions */
    int parts;
    const struct state_files *files; /* NULL: no files */
    evn_cluster *cluster;            /* NULL: one process */
    evn_units *units;
    int steps;                     /* steps of the whole run */
    char identity[STATE_IDENTITY]; /* all that the bits depend on */
    evn_loop *loop;                /* NULL: not open yet */
    struct restart *from;          /* the file that it goes on from; NULL: from the beginning */
    int first, done;               /* steps that are done in there, and until now */
    int count, step;               /* states that this run has kept, and the last one's step */
    double seconds, last_s;        /* for all of them, and for the last one */
};

/* The words "key=value .." that say which run it is, and what the build adds to them. */
void states_identify(struct states *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Checks the files before anything is computed: the header and the checksum of every part to
 * continue from, and that a checkpoint can be written. EVN_USAGE: the file cannot be read, is
 * damaged, of another run, or beyond `steps`; or cannot be written. EVN_MEMORY. */
evn_status states_open(struct states *s);
void states_close(struct states *s);

/* Whether a file is whole, of any run, before there is a problem that it could be of. EVN_USAGE:
 * not; EVN_MEMORY. Not collective. */
evn_status states_look(const struct state_kind *kind, const char *path);

/* The assignment that it was kept with, if the units are as they were. */
void states_schedule(const struct states *s, evn_schedule *schedule);

/* The state into its parts, which are on the host after it. EVN_SYSTEM, EVN_MEMORY. */
evn_status states_load(struct states *s);

/* The steps after `first`. Where their state is kept they can be interrupted; else there is nothing
 * to lose, and an interrupt ends the process. EVN_STOPPED says which state there is. */
evn_status states_steps(struct states *s, struct timed *timed);

/* Keeps the state after step `done`, if one is due. `stopping`: no step follows; then it is kept
 * where that is done soon, since others may not wait. An earlier file stays as it is if it fails:
 * EVN_SYSTEM, EVN_DEVICE, EVN_MEMORY. */
evn_status states_keep(struct states *s, int done, int stopping);
/* The same, which is due in any case. */
evn_status states_keep_now(struct states *s, int done, int stopping);

/* Fields of the result; and their part of the record. */
void states_report(const struct states *s, struct run_result *result);
void states_record(const struct state_files *files, const struct run_result *result, cJSON *root);

/* The options of a workload that keeps its state. `at`: where its struct state_files is. */
/* clang-format off */
#define STATE_OPTIONS(files)                                                                       \
    {"checkpoint", "FILE", "write the state to FILE at intervals", OPTION_KEPT(files.checkpoint)}, \
        {"every", "M", "steps between checkpoints (default 100)",                                  \
         OPTION_NUMBER(files.every, 1, 100000000)},                                                \
        {"restart", "FILE", "continue from a checkpoint", OPTION_RESUMED(files.restart)}

#define STATE_RULES                                                                                \
    {"every", OPTION_NEEDS, "checkpoint", "which is written so often"},                            \
    {"evener plan", OPTION_EXCLUDES, "checkpoint every restart", "a plan computes nothing"},       \
    {"evener model", OPTION_EXCLUDES, "checkpoint every restart", "its runs are measurements"},    \
    {"evener calibrate", OPTION_EXCLUDES, "checkpoint every restart",                              \
     "a calibration measures times, its results are those of a few steps"}
/* clang-format on */
