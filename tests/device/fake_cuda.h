/* What a test may set and ask of the fake driver: one struct, found with dlsym(library, "fake"). */
#pragma once

#include <stddef.h>

enum { FAKE_DEVICES = 4, FAKE_TEXT = 512 };

struct fake_cuda {
    /* -- set by the test; reset() sets what is said here -- */
    int devices;         /* 2 */
    int driver;          /* 13000: the CUDA that it knows */
    int init;            /* 0: what cuInit returns */
    int capability;      /* 90, of all devices */
    size_t memory;       /* 1 << 28: bytes of each device */
    int peer;            /* 1: devices can reach each other */
    int peer_loses;      /* 0: and such copies arrive nowhere */
    size_t may_register; /* all: bytes at a time */
    int max_items;       /* 1024: of a group of any kernel */
    int local_bytes;     /* 4096: the same, memory of a group; 0: none */
    int groups;          /* 5: the same, groups that a multiprocessor has at a time */
    int resident;        /* 1: groups of a launch may wait for each other */
    int extra_bytes;     /* 0: added to the size of every parameter */
    int compiler;        /* 13000: the version of the compiler */
    int fail_at;         /* 0: none; n: the n-th call from now on returns fail_code */
    int fail_code;       /* 1 */
    int compile_fails;   /* 0: what compiling returns */
    int side_by_side;    /* 0: as many compilations begin before one ends, or all fail after 30 s */
    int speechless;      /* 0: errors have no names and no words */
    double group_s;      /* 0: what a group of any kernel takes on the clock of events */
    unsigned later; /* FAKE_CUDA_LATER, or 0: work is done at once, else late, as these dice fall */

    /* -- asked by the test -- */
    int calls;            /* of the driver since reset() */
    int records;          /* of events: each is a quarter of a second on their clock */
    int registered;       /* memory of the program's, how often */
    int waits;            /* of these, those that had to wait for work, which is done late */
    int compilations;     /* the same, of the compiler */
    int compiling;        /* those that have begun */
    int images, loads;    /* images given to the driver; those that it took */
    int local_share;      /* hundredths of a multiprocessor's memory that the last kernel prefers */
    int blocked_events;   /* events whose waits block; with no others where the context does */
    int together;         /* launches of groups that may wait for each other */
    int direct;           /* copies between devices that did not go by the host */
    int open;             /* objects and contexts that are not closed */
    int wrong;            /* calls that no driver forgives: the number, */
    char what[FAKE_TEXT]; /* and the first of them */
    char failed[64];      /* the call that fail_at met */
    char options[FAKE_TEXT]; /* of the last compilation, with spaces between them */

    unsigned flags[FAKE_DEVICES]; /* of each primary context */

    int (*current)(void); /* the device whose context is current in the calling thread; -1: none */
    void (*reset)(void);  /* everything as at the start; what is open is forgotten */
};
