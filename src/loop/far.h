/* The part of an exchange that crosses between ranks: one message an ordered pair of neighbouring
 * ranks, whatever the number of units and tasks.
 *
 * Faces and owners are known to every rank, so both ends of a pair make the same list of what
 * crosses: by the units that will have the tasks in the next instance, and the face's number. Its
 * values lie in the message in that order, one face after another. Each unit packs its faces into
 * the message (a device, by its outbox), and the last one to have packed sends it, before any of
 * them waits: who waits has the wire for itself. At the other end the first unit that needs the
 * message waits for it, and each unpacks what is its own.
 *
 * A rank that fails sends its messages all the same, with its status and nothing else, so that no
 * neighbour waits for ever; that it failed is told at the end of the next instance.
 */
#ifndef LOOP_FAR_H
#define LOOP_FAR_H

#include "loop/exchange_copies.h"
#include "loop/internal.h"
#include <evener/wire.h>
#include <pthread.h>

struct evn_exchange;
struct end;

/* A neighbour. */
struct way {
    int rank;
    size_t out_bytes, in_bytes; /* of values, in a message */
    evn_mail *out, *in;
    char *out_room, *in_room; /* of the values, in the run at hand */
    pthread_mutex_t lock;     /* who needs the message first receives it, the others wait */
    int expected, here;       /* in the run at hand: one comes; it has come */
    atomic_int ends;          /* of ours that still have to unpack it */
    int unpackers;            /* ours that will, in each run */
    evn_status status;        /* of having received it, and its message */
    char text[512];
};

/* A stretch of a message that lies in a device's box in one piece, too. */
struct stretch {
    struct way *way;
    int end;
    size_t room, box, bytes;
};
struct stretches {
    struct stretch *stretch;
    int count, room;
};

struct far {
    int plan;      /* the assignment to ranks that the ways are for; -1: none */
    int tag;       /* of the ways */
    long long run; /* counted on all ranks alike */
    struct way *way;
    int ways;
    int *face;  /* those that cross to or from this rank, in the order of the messages */
    size_t *at; /* where each begins in its message */
    int faces;
    struct stretches out, in; /* of ends on devices */
    /* in the run at hand */
    atomic_int packing; /* units that have not packed */
    atomic_int failed;  /* status of one that could not */
};

/* Of an exchange that is being opened, on all ranks. */
void far_open(struct evn_exchange *x);
void far_close(struct evn_exchange *x);

/* The ways to neighbours as tasks lie on ranks now. Where they cannot be had, nobody can be told,
 * and the run is ended. */
void far_find(struct evn_exchange *x);

/* Deals the faces to the lists of our ends that pack and unpack them. -1: no memory. */
int far_deal(struct evn_exchange *x);

/* The next run, on all ranks alike. */
void far_next(struct evn_exchange *x);

/* In a run: makes room for what is sent; from an end on a device brings what it has packed there,
 * and returns when it has. */
evn_status far_begin(struct evn_exchange *x);
evn_status far_pack(struct evn_exchange *x, struct end *e);

/* A unit has packed, or has failed: the last one sends all. Whether it has been sent. */
void far_packed(struct evn_exchange *x, evn_status status);
int far_is_sent(const struct evn_exchange *x);

/* This rank has failed, outside of a run: its messages say so, and have nothing else. */
void far_send_failure(struct evn_exchange *x, evn_status failed);

/* Waits for the messages that an end unpacks, and brings them to its device; lets them go, when it
 * has unpacked them. */
evn_status far_receive(struct evn_exchange *x, struct end *e);
void far_release(struct evn_exchange *x, struct end *e);

/* Receives what no end has, since its unit had no tasks or failed. */
void far_settle(struct evn_exchange *x);

#endif
