/* What units are made of. */
#ifndef UNIT_INTERNAL_H
#define UNIT_INTERNAL_H

#include <evener/unit.h>
#include "unit/descriptor.h"
#include "base/gate.h"

/* Where a bound thread may run: EVENER_BIND, for studies of what binding is worth. */
enum unit_binding {
    BOUND_TO_CORE, /* its own core; the default */
    BOUND_TO_UNIT, /* any core of its unit */
    BOUND_TO_NONE, /* wherever the process's parent may: the ranks' own share does not count */
};

struct evn_unit {
    evn_units *all;
    int number;
    enum unit_family family;
    int cores;           /* of its team */
    int kind;            /* of its cores: that of the slowest */
    double speed;        /* of its cores together; the fastest kind's core is 1 */
    double slowness;     /* evn_unit_slow() */
    int *core;           /* the system's numbers; NULL where nothing is bound */
    int device, devices; /* the first one's number, and how many */
    evn_device **gpu;
    evn_queue **queue;
    pthread_t thread;
    int started;       /* has a thread of its own to be joined */
    struct tag *tag;   /* by which its threads know it */
    evn_status status; /* of binding its team */
    char message[256];
};

struct evn_units {
    const evn_machine *machine;
    int count, cpus, gpus, devices;
    evn_unit *unit;
    char text[512];
    int bound;
    enum unit_binding binding;
    int crowded;          /* more threads than cores: nobody spins */
    int stays;            /* EVN_STAY_BOUND */
    unsigned long serial; /* no other units of this program have had it */
    unsigned forks;       /* process_forks() when they were opened */
    /* leaders */
    int threads; /* they exist */
    pthread_t caller;
    void (*job)(evn_unit *, void *);
    void *arg;
    int stop;
    struct gate begin;  /* counts jobs given out */
    struct gate end;    /* counts jobs all others have finished */
    atomic_int working; /* a job is under way */
    _Alignas(64) atomic_int running;
    struct gate barrier; /* evn_unit_synchronize() */
    _Alignas(64) atomic_int arrived;
};

/* ---- leaders.c ---- */

/* Makes the leaders and binds their teams. EVN_SYSTEM; EVN_USAGE. */
evn_status leaders_start(evn_units *all);
/* Ends them, and gives the caller back what it had; nothing if there are none. */
void leaders_stop(evn_units *all);
/* The first unit's failure that its leader has left, or EVN_OK. */
evn_status leaders_status(const evn_units *all);
/* evn_units_run() on unit 0 by its leader alone: the job has no team. */
evn_status leaders_run_alone(evn_units *all, void (*job)(evn_unit *, void *), void *arg);

/* ---- devices.c ---- */

/* How many devices `auto` takes. */
evn_status unit_devices_count(const char *devices, int *count);
/* Opens the units' devices. Before leaders are bound: threads that a driver makes inherit where
 * their maker may run. */
evn_status unit_devices_open(evn_units *all, const char *devices);
void unit_devices_close(evn_unit *u);

#endif
