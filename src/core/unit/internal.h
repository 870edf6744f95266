/* Internals of units. */
#pragma once

#include <evener/unit.h>
#include "unit/contention.h"
#include "unit/descriptor.h"
#include "base/cpus.h"
#include "base/fork_join.h"
#include <pthread.h>

enum { UNITS_TEXT_MAX = 2048 }; /* bytes of evn_units_text() */

/* Cores that a bound thread may use: EVENER_BIND. */
enum unit_binding {
    BOUND_TO_CORE, /* a core of its own */
    BOUND_TO_UNIT, /* any core of its unit */
    BOUND_TO_NONE, /* not bound: any core that the process may use */
};

/* State of a unit's binding. */
enum unit_state {
    UNIT_UNBOUND, /* never bound */
    UNIT_BOUND,   /* bound as `binding` says */
    UNIT_TAKEN,   /* other programs have claimed the cores: any core of the process */
    UNIT_LET_GO,  /* released when the leader had to wait for its core: any core */
};

/* A thread of a unit, and what the kernel had counted of it when it joined, or when counting began
 * anew: seconds that it has run, and that it was ready to run without a core. */
struct unit_thread {
    _Atomic pid_t id; /* 0: none has joined */
    double run, delay;
};

/* Seconds that a thread of a team has run and has waited for its core. */
struct team_wait {
    int thread; /* number of the thread; 0: none */
    double run, delay;
};

struct evn_unit {
    evn_units *all;
    int number;
    enum unit_family family;
    int cores;             /* cores of its team */
    int kind;              /* kind of its slowest core */
    double speed;          /* speed of its cores together; the fastest kind's core is 1 */
    double slowness;       /* factor of evn_unit_slow() */
    int *core;             /* the system's numbers of its cores; NULL where nothing is bound */
    int *named;            /* cores that the list names, by the system's numbers; NULL: none */
    atomic_int state;      /* enum unit_state; its leader may let go */
    struct team_wait wait; /* waits of one of its team's threads (binding.c) */
    int *claim, claims;    /* hardware threads that the unit has claimed: all those of its cores */
    struct unit_thread *threads;  /* its threads (taken.h); NULL: described only */
    double look;                  /* when unit_look() is due; INFINITY: never */
    struct contention contention; /* contention of its leader */
    int device, devices;          /* number of the first device; number of devices */
    evn_device **gpu;
    evn_queue **queue;
    pthread_t thread;
    int started;             /* 1: has a thread to be joined */
    struct tag *tag;         /* tag by which threads find their unit */
    struct helpers *helpers; /* threads of its other cores (helpers.c); NULL: not needed yet */
    evn_status status;       /* status of binding its team */
    char message[256];
};

struct evn_units {
    const evn_machine *machine;
    int count, cpus, gpus, devices;
    int fpgas; /* FPGA units among the GPU units, when opened */
    evn_unit *unit;
    char text[UNITS_TEXT_MAX];
    int bound;        /* 1: all units were bound when opened */
    int claims;       /* 1: cores are claimed and released: EVENER_BIND=auto */
    struct cpus free; /* cores of threads that are claimed for and yet not bound, or not any more */
    enum unit_binding binding;
    int crowded;          /* 1: more threads than cores: no spinning */
    int stays;            /* 1: EVN_STAY_BOUND */
    int caller_free;      /* 1: EVN_CALLER_FREE */
    double settled;       /* time when the free caller was last moved to its core */
    unsigned long serial; /* unique number in this program */
    unsigned forks;       /* process_forks() at opening */
    /* leaders */
    int threads; /* 1: leaders exist */
    pthread_t caller;
    void (*job)(evn_unit *, void *);
    void *arg;
    struct fork_join fork;  /* the leaders but the caller are its members */
    atomic_int working;     /* a job is under way */
    double rested;          /* when the latest job ended, units_rest(); 0: none has */
    struct barrier barrier; /* barrier of evn_unit_synchronize() */
    int processors;         /* processors on which the caller might run when it opened the units */
    atomic_int spares;      /* spare threads were asked for */
    atomic_int interrupted; /* 1: the leader of a unit of one core had to wait for that core */
    struct spare *spare;    /* NULL: there are none (spare.c) */
};

/* ---- leaders.c ---- */

/* Creates the leaders and binds their teams. EVN_SYSTEM; EVN_USAGE. */
evn_status leaders_start(evn_units *all);
/* Ends the leaders and restores the caller; does nothing without leaders. */
void leaders_stop(evn_units *all);
/* First failure that a leader has recorded, or EVN_OK. */
evn_status leaders_status(const evn_units *all);

/* ---- helpers.c ---- */

/* Ends the threads of helpers_share(), where that is linked. */
void helpers_close(evn_unit *u) __attribute__((weak));

/* ---- devices.c: of struct device_ops ---- */

evn_status unit_devices_count(const char *devices, int *count);
evn_status unit_devices_open(evn_units *all, const char *devices);
void unit_devices_close(evn_unit *u);
