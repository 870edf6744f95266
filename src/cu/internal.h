/* Directives at run time, for the files of this room: units.c has the units that the program runs
 * on, site.c the directives and their loops, fork.c takes over their regions, place.c has the data,
 * omp.c answers what a body asks, report.c says at exit what was done. */
#ifndef CU_INTERNAL_H
#define CU_INTERNAL_H

#include <evener/cu.h>
#include <evener/open.h>

/* What a compiler has made of a parallel region: gcc's function and its data, or clang's (kmpc)
 * with a list of pointers. */
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

/* What the calling thread has said of the directive that it comes to. */
struct wish {
    const evn_cu_site *site;
    evn_cu_int from, step;
    int options;
    struct option option[CU_OPTIONS];
    double speed[2]; /* of a unit of each family; 0: not said */
    void (*batch)(const evn_cu_int *, int);
    evn_cu_int weights; /* 0: not said */
    double *weight;     /* room, kept */
    size_t room;
};

/* A loop of a directive, kept for its next instance. */
struct kept {
    struct kept *next;
    evn_loop *loop;
    evn_cu_int trips;
    int options;
    struct option option[CU_OPTIONS];
    double speed[2];
    double *weight; /* NULL: not said */
};

/* What the loops of a directive did that are closed (report.c). */
struct done {
    double *seconds; /* of each unit; NULL: nothing yet */
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

/* How the next region of the calling thread is taken. */
enum armed {
    ARMED_NOT,
    ARMED_LOOP,     /* by all units' leaders, once a batch */
    ARMED_TEAMS,    /* by all units' leaders, once */
    ARMED_JOIN,     /* by this leader, once a batch of its own */
    ARMED_STANDARD, /* by this thread, as OpenMP says */
};

/* A region that the calling thread has acquired for the batch at hand. */
struct held {
    int region;
    int access;
};

struct cu_thread {
    enum armed armed;
    struct site *site; /* for which */
    struct kept *kept;
    evn_cu_int next, end; /* ARMED_STANDARD: iterations that are left */
    int takes;            /* these */
    struct wish wish;
    /* as a leader */
    evn_unit *unit;   /* NULL: leads none */
    evn_batch *batch; /* NULL: none, or in a teams block outside of a distribute */
    struct held *held;
    int count, room; /* held */
    int *slot;       /* of each region: where it may be in `held` */
    int slots;
    int space;
    int kept_alive; /* memory of this thread is freed when it ends */
};
extern _Thread_local struct cu_thread cu_here;

/* The directive at work, or the last one that was; for messages. */
extern const evn_cu_site *_Atomic cu_at;

/* Ends the program: `file:line: what`, of `site` or, NULL, of cu_at. The first thread speaks. */
void cu_die(const evn_cu_site *site, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn, cold));
/* The same with evn_message(). */
void cu_die_of_message(const evn_cu_site *site) __attribute__((noreturn, cold));

/* The memory of the calling thread is freed when it ends. */
void cu_keep_alive(void);

/* A variable of the environment; NULL: empty or not set. */
const char *cu_variable(const char *name);

/* ---- units.c ---- */

/* What the program runs on; NULL and 0 before the first directive. `serial` counts the lists. */
struct cu_program {
    evn_session *session;
    evn_units *units;
    unsigned long serial;
};
extern struct cu_program cu;

/* Units as the directive's list says, which may be other ones than before. */
void cu_units_want(struct site *site, const evn_cu_group *group, int groups, evn_cu_int limit);

/* ---- site.c ---- */

extern struct site *cu_sites;
/* Whether another thread than the calling one runs the directives. */
int cu_by_other_thread(void);
/* Closes the loops of all directives. */
void cu_sites_forget(void);

/* ---- fork.c ---- */

/* Whether the call with which regions are forked was taken over when the program was linked. */
int cu_fork_is_taken(void);

/* ---- place.c ---- */

/* Brings all data home and closes the place, also where some cannot come; opens one on the units
 * there are. */
evn_status cu_place_close(void);
evn_status cu_place_open(void);

/* What was registered and `memory` is in comes to where the caller is, a leader or a thread outside
 * of units' work. 0: it is in nothing that was registered. */
int cu_place_bring(const void *memory, int access, evn_status *status);

/* The end of a batch: waits for its device and lets go what it has brought. */
evn_status cu_place_release(void);

/* Bytes of regions that have moved so far. */
double cu_place_moved(void);

/* ---- omp.c ---- */

/* Of the unit's devices the one at hand. */
int cu_device_at_hand(void);

/* ---- report.c ---- */

/* Whether EVENER_REPORT asks for it. */
int cu_reports(void);
/* Adds what a loop did, before it is closed. */
void cu_report_add(struct site *site, const evn_loop *loop);
/* A line for each directive, and begins anew. */
void cu_report(void);

#endif
