/* A march at work, as its files see it: march.c goes from step to step, march_sums.c sums the past
 * of a group, march_device.c has its steps on a device, march_state.c keeps checkpoints,
 * march_room.c makes room and looks at the files first, march_columns.c does so for each of several
 * incidences. */
#pragma once

#include <evener/crew.h>
#include "common/checkpoint/state.h"
#include "tdbem/summation/history.h"
#include "tdbem/files/response.h"
#include "tdbem/files/vtk.h"
#include "tdbem/problem.h"
#include "tdbem/summation/summation_tree.h"
#include <evener/place.h>

enum {
    GUESS = 3,    /* steps that a first guess is extrapolated from */
    NODE_MAX = 16 /* blocks that a core adds up before it is asked for the time */
};

/* Extremes of all steps until now, as tdbem_result has them. */
enum { LATEST = 4 };
struct march_seen {
    double max, max_after, null_field;
    double latest[LATEST]; /* march_decay.c's: of half transits, latest first */
};

/* Copy of the data that a group changes, from before it. */
struct march_mark {
    char *sums;              /* the last steps, and the spectra; NULL: no stopping within a group */
    size_t points, vertices; /* numbers of rows */
    struct march_seen seen;
};

/* Memory that is registered with a device. */
struct march_fast {
    evn_device *device;
    void *memory;
};

/* Files that are written at the end. */
enum {
    PROBE_OUTPUT,
    VERTEX_OUTPUT,
    SPECTRUM,
    FAR_FIELD,
    TRANSFER_FUNCTION,
    IMPULSE_RESPONSE,
    OUTPUTS
};
struct march_output {
    evn_output *file; /* NULL: not wanted */
    enum format format;
};

/* Of several incidences the first one's is the run's; those of others are copies that have a
 * column's own: what march_columns.c makes. */
struct march {
    tdbem *p;
    const tdbem_run_options *o;
    struct run_options is; /* steps, stop, and what the command wants beside */
    struct incident *incident;
    int column;           /* number of the incidence */
    struct march *others; /* of the first: those behind it */
    char *folder;         /* for surfaces; NULL: not wanted */
    struct ranks *ranks;  /* march_ranks.h; NULL: this process alone */
    evn_units *units;
    evn_loop *loop;
    evn_crew *crew;
    struct history *past;
    far_state *far;          /* of the fast method; NULL: plain */
    struct far_gpu *far_gpu; /* NULL: the host's cores compute it */
    char
        *sums; /* sums of nodes that the host makes, [rows * wide], where their first block's are */
    size_t sums_bytes;           /* bytes of the sums of one node */
    int **first;                 /* work space of each unit: first blocks of its nodes */
    struct summation_node *node; /* by block, parts of the sum that units have made */
    double *total;               /* sum of these parts */
    char **scratch;              /* scratch of each core of all units */
    int *first_core;             /* by unit, its first core in `scratch` */
    int cores;
    struct march_device *on_device; /* steps that are a device's; NULL: the host's */
    evn_place *place;               /* NULL: no devices */
    int *region;                    /* region of each block */
    struct summation_gpu **gpu;     /* by space; NULL for the host's */
    int *owner;                     /* unit of each block, as fetched last */
    int *device;                    /* device of each block among its unit's; -1 */
    int **fetched;                  /* work space of each space: blocks */
    struct march_fast *fast;        /* memory that devices reach at full speed */
    int fasts;
    double *busy;           /* seconds of each unit until now */
    int *reader;            /* scratch: the unit that each block is read ahead for */
    double *a;              /* [group * columns]: the steps of this group */
    double *before;         /* [GUESS * columns]: a_(n-1), a_(n-2), .. */
    double *load;           /* [columns]: the load */
    double *b;              /* [rows]: the right-hand side; over ranks then the points' sums */
    double *scattered;      /* scattered pressure of all points */
    struct vtk_piece shown; /* the probes as the folder has them, with what belongs to it */
    int *shown_cell;
    double *shown_field;
    int *vertex; /* present numbers of the vertices to be written */
    struct table points, vertices;
    struct memory *memory; /* march_memory.c: of filters; NULL: there are none */
    struct spectra spectra;
    struct march_output output[OUTPUTS];
    struct response_filter filter;
    struct timed timed;
    int group_first;        /* step of the latest group */
    int steps, every, over; /* over: the step when the pulse has left */
    struct march_seen seen;
    struct march_mark mark; /* before the group under way */
    struct states states;
    struct state_files files;
    double *exported; /* its past while it is kept or read: [columns * depth] */
    long long solved;
    tdbem_result *r;
};

/* The march_sums.c part. Sums of the past for the next group, by nodes; `again`: another group will
 * follow. Then all of them together into m->total; over ranks, of this one's rows. */
evn_status sums_make(struct march *m, int again);
evn_status sums_add(struct march *m);
void sums_read_ahead(struct march *m);
evn_status sums_open_devices(struct march *m);
void sums_close_devices(struct march *m);

/* march_columns.c: the march of each incidence. Opened once the first one has all that they share;
 * room_give_back() comes after. */
evn_status columns_open(struct march *m);
void columns_close(struct march *m);
struct march *columns_of(struct march *m, int column);
const char *columns_name(const struct march *m); /* "" of the only one */
/* A file's or folder's name for this incidence, to be freed. NULL without memory. */
char *columns_path(const struct march *m, const char *path, int folder);

/* march_state.c: the words of the run; its files looked at; the state at the beginning, step 0
 * or a checkpoint's; the checkpoint after step n. The last three on all ranks. */
extern const struct state_kind march_state;
evn_status state_identify(struct march *m);
evn_status state_open(struct march *m);
evn_status state_fill(struct march *m);
evn_status state_save(struct march *m, int n, int stopping);
/* With checkpoints a run can be stopped within a group, which is then undone: room for the mark of
 * an incidence, the mark, the stop flag, the return. */
evn_status state_open_mark(struct march *m);
void state_mark(struct march *m);
int state_stop(const struct march *m); /* over ranks: whether this one was asked to */
int state_stopped(
    const struct march *m); /* 1: the group is to be given up; the same on all ranks */
void state_go_back(struct march *m);

/* march_memory.c: what filters of the boundary remember. memory_at(): the part of row i, a vertex's
 * or a point's, that comes from steps before this one. memory_step(): after step q of the group,
 * whose sums are there, and over ranks those of all rows. memory_state(): the doubles that it is.
 */
evn_status memory_open(struct march *m);
void memory_close(struct march *m);
double memory_at(const struct march *m, int i);
void memory_step(struct march *m, int q);
double *memory_state(const struct march *m, size_t *doubles);

/* march_decay.c: the largest |a| of step n is noted; at the end, EVN_BODY for a march that grows,
 * and warnings for what has not decayed. */
void decay_see(struct march *m, int n, double max);
evn_status decay_check(const struct march *m);
double decay_latest(const struct march *m); /* NAN: less than two transits of the late field */

/* march_room.c, in this order. */
evn_status room_check(const tdbem_run_options *o, tdbem *p);
evn_status room_make(struct march *m);
evn_status room_make_column(struct march *m); /* its part, for the incidence alone */
void room_give_back_column(struct march *m);
evn_status room_find_vertices(struct march *m);
evn_status room_open_files(struct march *m);
evn_status room_begin_tables(struct march *m); /* writes step 0 */
evn_status room_make_notes(struct march *m, int first);
void room_give_back(struct march *m);
