/* Model of the emulated machine: options of a specification, and virtual time.
 *
 * Virtual time is a whole number of picoseconds, so that sums of costs are exact and independent of
 * their order. A device has three lanes that do one thing at a time: compute, the link into it and
 * the link out of it. A piece of work takes the first gap of its lane that is long enough, from
 * when its queue is ready; so earlier submissions do not delay work that can run before them. Times
 * are set on submission, by the submitting thread: one thread always gets the same times; several
 * threads that share a device, or copy from each other's, get those of their order.
 *
 * The host's own work takes no virtual time. A thread that has waited for an event cannot submit
 * work before that event's time. */
#pragma once

#include <evener/status.h>
#include <evener/program.h>
#include <pthread.h>
#include <stddef.h>

enum { EMULATED_MAX = 1024 };  /* devices of a specification */
enum { EMULATED_CORES = 256 }; /* most cores of a device */
enum { OWN_ITEMS = 4 };        /* kernels with a cost of their own */

enum failure { FAIL_NONE, FAIL_ALLOC, FAIL_COPY, FAIL_KERNEL, FAIL_LOST };

/* emulated:COUNT,KEY=VALUE,.. with the keys as named here */
struct emulated_options {
    int count;               /* devices, 1..EMULATED_MAX */
    double speed;            /* speed of kernels; 1 is this host's, or that of `item` */
    double link;             /* bytes/s of each direction; 0: no limit */
    double pageable, shared; /* bytes/s of copies of such host memory (pinned.h); 0: as the link */
    double latency;          /* s, of a copy to, from or between devices */
    double launch;           /* s, of a kernel */
    double item;             /* s, of one item (virtual clock) */
    struct {
        char kernel[32];
        double item;
    } own[OWN_ITEMS]; /* kernels named by item.KERNEL=.. */
    int owns;
    size_t memory;  /* bytes of a device */
    int peer;       /* devices copy to each other without the host */
    int is_virtual; /* 1: clock=virtual */
    int cores;      /* threads that run a kernel's groups */
    int check;      /* 1: kernels must not write their EVN_IN buffers, which is checked */
    enum failure fail;
    long fail_at; /* the fail_at-th operation of that kind fails, from 1 */
    int bad;      /* number of the device that `fail` applies to */
};

/* EVN_USAGE. */
evn_status emulated_options(struct emulated_options *out, const char *text);

/* ---- virtual time ---- */

typedef long long picoseconds;

enum { LANE_GAPS = 64 };

struct lane {
    picoseconds end; /* end of all planned work */
    int gaps;
    struct {
        picoseconds begin, end;
    } gap[LANE_GAPS]; /* free, before `end`, ascending; of too many the earliest are dropped */
};

struct timeline {
    const struct emulated_options *options;
    pthread_mutex_t lock;
    struct lane compute, in, out;
};

/* Each plans a piece of work that cannot begin before `ready`, and returns its end. */
picoseconds timeline_kernel(struct timeline *t, picoseconds ready, const char *kernel, int groups,
                            int items);
picoseconds timeline_within(struct timeline *t, picoseconds ready, size_t bytes);
/* From one device to another; NULL: the host, whose memory lets through `host` bytes/s; 0: no
 * limit. */
picoseconds timeline_transfer(struct timeline *from, struct timeline *to, picoseconds ready,
                              size_t bytes, double host);

/* Virtual time of the calling thread; and records that the thread has waited until `time`. */
picoseconds host_time(void);
void host_time_reach(picoseconds time);
