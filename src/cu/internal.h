/* Internals of directives at run time: units.c opens the program's units, site.c keeps directives
 * and their loops, keys.c tells these of iterations that come and go, fork.c intercepts regions,
 * place.c moves data, omp.c answers queries of bodies, report.c prints statistics at exit. */
#pragma once

#include <evener/cu.h>
#include <evener/open.h>

/* A parallel region as compiled: gcc's function and its data, or clang's (kmpc) with a list of
 * pointers. */
struct closure {
    void (*gomp)(void *data);
    void *data;
    void (*kmpc)(int *, int *, ...);
    int argc;
    void **argv;
};

enum { CU_OPTIONS = 8 };
struct option {
    const char *name;
    evn_cu_int value;
};

/* The clauses of the directive that the calling thread is about to enter. An expression in a clause
 * may run another directive, or the same one: its wish is stacked on this one until it is entered.
 */
struct wish {
    const evn_cu_site *site;
    int advised;        /* 1: clauses were given, but no bounds yet */
    struct wish *outer; /* the wish that this one interrupts; NULL: none */
    evn_cu_int from, step;
    int options;
    struct option option[CU_OPTIONS];
    double speed[2]; /* speed of a unit of each family; 0: not given */
    void (*batch)(const evn_cu_int *, int);
    evn_cu_int weights, keys; /* 0: not given */
    double *weight;           /* memory for weights, kept for later instances */
    evn_cu_int *key;
    size_t weight_room, key_room;
};

struct keys;

/* A loop of a directive, kept for its next instance. */
struct kept {
    struct kept *next;
    evn_loop *loop;
    evn_cu_int trips;
    int options;
    struct option option[CU_OPTIONS];
    double speed[2];
    int weighted;      /* 1: weights are given */
    struct keys *keys; /* NULL: not given */
};

/* Statistics of a directive's closed loops (report.c). */
struct done {
    double *seconds; /* seconds of each unit; NULL: nothing yet */
    double wall, moved;
    long long instances, migrations;
};

struct parts;

/* A directive that was entered. */
struct site {
    struct site *next;
    const evn_cu_site *where;
    struct kept *kept; /* the last one used first */
    /* the list of units it was entered with last */
    unsigned long serial;
    evn_cu_group *group;
    int groups;
    evn_cu_int limit;
    struct parts *parts;
    int part_count;
    struct done done;
};

/* How the next region of the calling thread is run. */
enum armed {
    ARMED_NOT,
    ARMED_LOOP,     /* by all leaders, once a batch */
    ARMED_TEAMS,    /* by all units' leaders, once */
    ARMED_JOIN,     /* by this leader, once for each of its batches */
    ARMED_STANDARD, /* by this thread, as OpenMP says */
};

/* A data region that the calling thread has acquired for the current batch, and the last of its
 * iterations that asked for it. */
struct held {
    int region;
    int access;
    long iteration;
};

struct cu_thread {
    enum armed armed;
    struct site *site; /* the directive that is under way */
    struct kept *kept;
    evn_cu_int from, step; /* first value and step of the loop variable */
    void (*batch_body)(const evn_cu_int *, int);
    evn_cu_int next, end; /* ARMED_STANDARD: remaining iterations */
    int takes;            /* 1: ARMED_STANDARD's iterations are being taken */
    int instance;         /* number of the instance at hand: 1, or in a teams block from 1 on */
    int instances;        /* number of instances in the teams block so far */
    int threw;            /* an exception has left the body, which ends the batch */
    int thrown;           /* answer of evn_cu_thrown(), where an exception has ended the region */
    struct wish wish;
    /* as a unit's leader */
    evn_unit *unit;   /* NULL: leads none */
    evn_batch *batch; /* NULL: none, or in a teams block outside of a distribute */
    struct held *held;
    int count, room; /* entries of `held`, and its size */
    int *slot;       /* index into `held` of each region, if it is there */
    int slots;
    int space;
    long iteration; /* counts iterations, and batches and blocks where they begin */
    long pointed;   /* the last iteration that was told an address on its device */
    int own;        /* 1: in a body of evn_cu_run() */
    enum { TASK_NONE, TASK_TAKEN, TASK_EXECUTES } stage; /* stage of its task */
    evn_cu_int task;
    int kept_alive;        /* 1: memory of this thread is freed when the thread ends */
    const evn_cu_map *map; /* of the clauses of the loop that begins */
    int maps;
};
extern _Thread_local struct cu_thread cu_here;

/* The current or last directive, for messages. */
extern const evn_cu_site *_Atomic cu_at;

/* Number of iterations of a loop, as evn_cu_trips() says. */
evn_cu_int cu_count(const evn_cu_site *site, evn_cu_int from, evn_cu_int to, evn_cu_int step,
                    int relation);

/* Ends the program with `file:line: message`, of `site`, or if NULL of cu_at. Only the first thread
 * prints. */
void cu_die(const evn_cu_site *site, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn, cold));
/* Ends the program with evn_message(). */
void cu_die_of_message(const evn_cu_site *site) __attribute__((noreturn, cold));

/* The memory of the calling thread is freed when it ends. */
void cu_keep_alive(void);

/* A variable of the environment; NULL: empty or not set. */
const char *cu_variable(const char *name);

/* ---- units.c ---- */

/* The program's session and units; NULL and 0 before the first directive. `serial` counts lists of
 * units. */
struct cu_program {
    evn_session *session;
    evn_units *units;
    unsigned long serial;
    _Atomic int thrown; /* the instance that an exception has ended; 0: none */
    _Atomic int left;   /* an exception has left the teams block */
};
extern struct cu_program cu;

/* Opens the units of the directive's list, unless they are open. */
void cu_units_want(struct site *site, const evn_cu_group *group, int groups, evn_cu_int limit);

/* ---- site.c ---- */

extern struct site *cu_sites;
/* 1 if another thread than the calling one runs the directives. */
int cu_by_other_thread(void);
/* Closes the loops of all directives. */
void cu_sites_forget(void);

/* ---- keys.c ---- */

/* The keys of a loop's iterations; two that are equal end the program. Freed with free(). */
struct keys *cu_keys_open(const evn_cu_site *where, const evn_cu_int *key, int n);

/* Changes the loop's tasks where keys are others than those of the instance before: 1 if so. */
int cu_keys_follow(const evn_cu_site *where, struct kept *k, const struct wish *w);

/* ---- fork.c ---- */

/* An instance of a loop whose batches are the program's own body's (evn_cu_run()). */
void cu_fork_run(struct site *site, struct kept *kept, void (*own)(void *), void *arg);

/* 1 if the compiler's fork call was intercepted at link time. */
int cu_fork_is_taken(void);

/* ---- place.c ---- */

/* Copies all data to the host and closes the place, also if some copies fail; opens one on the
 * present units. */
evn_status cu_place_close(void);
evn_status cu_place_open(void);

/* Moves the registered data that contain `memory` to the caller's space (a leader, or a thread
 * outside of units' work). 0: `memory` is not registered. */
int cu_place_bring(const void *memory, int access, evn_status *status);
/* Memory of a map clause: *ours: it was not registered by the program, and cu_place_unmap() ends
 * this. `all`: for all clauses that have it. */
evn_status cu_place_map(void *memory, size_t bytes, int *ours);
evn_status cu_place_unmap(void *memory, int all);
/* Takes what the calling thread has on its device to the host, to be read and written there. */
evn_status cu_place_home(const void *memory);
/* Copies bytes from the device at hand, or to it; elsewhere brings them home, `from` 0: with what
 * the host has. Memory that is not known stays as it is. */
evn_status cu_place_update(void *memory, size_t bytes, int from);

/* Ends a batch: waits for its device and releases its data. */
evn_status cu_place_release(void);

/* ---- section.c ---- */

/* A section of a data directive, with an address of its own as owner, or NULL: all loops see it. */
evn_status cu_section_add(const evn_cu_map *map, const void *owner);
void cu_section_remove(const evn_cu_map *map, const void *owner);
/* Removes all that begin in this memory. */
void cu_section_forget(const char *memory, size_t bytes);
/* An address in the n-th part of the array whose element 0 is at `base`: in the sections of the
 * loop's own clauses, else of data directives, else `base`. NULL: there are no more, and not one
 * where the array's sections are empty. */
const void *cu_section(const void *base, int n);

/* ---- omp.c ---- */

/* Index of the current device among the unit's devices. */
int cu_device_at_hand(void);

/* ---- report.c ---- */

/* 1 if EVENER_REPORT asks for a report. */
int cu_reports(void);
/* Adds a loop's statistics, before it is closed. */
void cu_report_add(struct site *site, const evn_loop *loop);
/* Prints a line for each directive and resets the statistics. */
void cu_report(void);

/* ---- compile.c ---- */

enum { CU_GROUP = 128 }; /* items of a group of a loop's kernel */

/* evn_kernel_get() of a loop's kernel, on the device of the place's space. Where the device has to
 * compile it first, other kernels of the program are compiled meanwhile, on the machine's cores. */
evn_status cu_kernel_get(evn_cu_kernel *kernel, evn_device *device, int space,
                         const evn_machine *machine, evn_kernel **out);
