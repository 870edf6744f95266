/* Exchange between ranks: one message for each ordered pair of neighbouring ranks, whatever the
 * number of units and tasks.
 *
 * Faces and owners are known to every rank, so both ends of a pair make the same list of crossing
 * faces, ordered by the units that have the tasks in the next instance and by the face's number.
 * Values lie in the message in that order. Each unit packs its faces into the message (a device by
 * its outbox). The last unit to pack sends, before any unit waits; a waiting unit holds the wire's
 * lock. At the other end the first unit that needs the message receives it, and each unit unpacks
 * its own faces.
 *
 * A rank that fails still sends its messages, with its status only, so that no neighbour waits for
 * ever; its failure is reported at the end of the next instance. */
#ifndef EXCHANGE_RANKS_H
#define EXCHANGE_RANKS_H

#include "exchange/copies.h"
#include "loop/internal.h"
#include <evener/wire.h>
#include <pthread.h>

struct evn_exchange;
struct end;

/* A neighbouring rank. */
struct way {
    int rank;
    size_t out_bytes, in_bytes; /* bytes of values in a message */
    evn_mail *out, *in;
    char *out_room, *in_room; /* values of the current run */
    pthread_mutex_t lock;     /* held while the message is received; other units wait */
    int expected, here;       /* in the current run, 1: a message is expected; 1: it has arrived */
    atomic_int ends;          /* local ends that still have to unpack it */
    int unpackers;            /* local ends that unpack in each run */
    evn_status status;        /* result of the receive, and its message */
    char text[512];
};

/* A stretch of a message that is contiguous in a device's box. */
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
    int plan;      /* number of the assignment to ranks for which the ways were made; -1: none */
    int marked;    /* 1: faces between ranks are marked, for the owners that parts say */
    int tag;       /* tag of the mail */
    long long run; /* number of runs, the same on all ranks */
    struct way *way;
    int ways;
    int *face;  /* faces that cross to or from this rank, in the order of messages */
    size_t *at; /* offset of each in its message */
    int faces;
    struct stretches out, in; /* stretches of ends on devices */
    /* in the current run */
    atomic_int packing; /* units that have not packed yet */
    atomic_int failed;  /* status of a unit that could not pack */
};

/* Opens the part between ranks, on all ranks. */
void far_open(struct evn_exchange *x);
void far_close(struct evn_exchange *x);

/* Opens mail to the neighbours of the present assignment. A failure cannot be reported to the other
 * ranks and ends the run. */
void far_find(struct evn_exchange *x);

/* Adds the faces to the packing and unpacking lists of local ends. -1: no memory. */
int far_deal(struct evn_exchange *x);

/* Begins the next run, on all ranks. */
void far_next(struct evn_exchange *x);

/* In a run: gets the send buffers; copies packed data from an end on a device, and returns when
 * they are there. */
evn_status far_begin(struct evn_exchange *x);
evn_status far_pack(struct evn_exchange *x, struct end *e);

/* A unit has packed, or has failed; the last one sends all messages. far_is_sent(): 1 once they are
 * sent. */
void far_packed(struct evn_exchange *x, evn_status status);
int far_is_sent(const struct evn_exchange *x);

/* Reports a failure outside of a run: this rank's messages carry only its status. */
void far_send_failure(struct evn_exchange *x, evn_status failed);

/* Waits for the messages that an end unpacks and copies them to its device; releases them after
 * unpacking. */
evn_status far_receive(struct evn_exchange *x, struct end *e);
void far_release(struct evn_exchange *x, struct end *e);

/* Receives messages that no end has received, since its unit had no tasks or failed. */
void far_settle(struct evn_exchange *x);

#endif
