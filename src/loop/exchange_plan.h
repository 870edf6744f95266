/* An exchange and its plan: who copies what where, as tasks lie.
 *
 * Faces go from region to region. Where a region lies is an end: a unit in a space. A CPU unit has
 * one, a GPU unit one for each device (and the host's, where regions were evicted). All faces from
 * one end to another make one message, which a transport carries; or none, where the receiving end
 * can copy from the other's memory itself. The plan holds until a task moves; between cores of one
 * memory as long as all is copied ahead, since then nobody is left to ask who copies.
 */
#ifndef LOOP_EXCHANGE_PLAN_H
#define LOOP_EXCHANGE_PLAN_H

#include "loop/exchange_copies.h"
#include "loop/far.h"
#include "loop/internal.h"
#include <evener/exchange.h>

/* What faces read and write of a task: one of its regions, or its memory on the host. */
struct part {
    int task, slot; /* the slot-th of the task's regions */
    int region;     /* its number in the place; without a place the task's */
    int written;
    size_t bytes; /* that faces reach */
    /* where it was when the plan was made */
    int owner, space, end;
    size_t at;
    char *host;
};

/* A face between parts. */
struct face {
    evn_face of;
    int number;   /* as the program counts them */
    int from, to; /* parts */
    int back;     /* the face the other way beside it; -1 */
};

struct end {
    int unit, space, device; /* device: of the unit's; -1: the host */
    /* what is copied there, into messages, and out of messages */
    struct copies direct, pack, unpack;
    int unfinished; /* evn_exchange_finish() will unpack */
    /* on a device */
    evn_device *on; /* NULL: on the host */
    evn_queue *compute;
    evn_queue *copies;  /* beside the unit's queue for computing */
    evn_kernel *kernel; /* the device's */
    evn_event *packed, *arrived;
    evn_buffer *outbox, *inbox;
    size_t out_bytes, in_bytes;
    /* over ranks */
    int *far_in; /* faces that come from each neighbour */
};

/* All faces from one end to another, one after another. On a device they lie in the end's box, of
 * which each message has a stretch; on the host in memory of the transport's. */
struct message {
    const struct transport *transport;
    struct end *from, *to;
    size_t bytes, filled;
    size_t out_at, in_at; /* in the ends' boxes */
    int sent;             /* in the run at hand */
    /* the transport's */
    char *host;
    evn_device *host_of;
    evn_event *ready;
};

/* What of a run is done ahead (exchange_ahead.c): for each face, or pair by its first one, which of
 * its tasks have their new values; and each task's copies. */
struct ahead {
    int faces;
    atomic_uchar *met;
    int *first; /* of each task in `of`, and one more: the end */
    struct ahead_copy {
        int end, copy; /* a copy that the end does directly */
        unsigned char met;
    } * of;
};

struct plan {
    int made;  /* for parts as they lay */
    int dealt; /* copies to the units that have the tasks now; 0: to those that had them once */
    int units;
    struct end *end;
    int ends, end_room;
    struct message *message;
    int messages, message_room;
    char *needs; /* of each task: a message brings some of it */
    int between; /* pairs of faces between two units */
    struct ahead ahead;
    /* of each unit */
    double *in, *out;
    int *first_task, *tasks;
    int pairs; /* of different units with bytes from one to the other */
};

/* What a unit's leader has to say of its half of a run. */
struct half {
    double busy;
    evn_status status;
    char text[512];
};

struct evn_exchange {
    evn_loop *loop;
    evn_place *place; /* NULL: parts are tasks' memory on the host */
    struct loop_listener listener;
    size_t element;
    int tasks, slots; /* of each task */
    struct face *face;
    int faces;
    struct part *part; /* ascending by region */
    int parts;
    int *held;   /* room for numbers of regions */
    int *device; /* and for each task's device */
    struct plan plan;
    struct far far;
    int open; /* the run at hand leaves unpacking to evn_exchange_finish() */
    struct half *half;
    double *busy; /* both of each unit */
};

/* Finds in which space each part is; EVN_USAGE: in none, or the loop has got other regions. */
evn_status exchange_find(evn_exchange *x);

/* Makes the plan if there is none for the parts as they lie now in the spaces where they were
 * found. They stay there as long as they are held. */
evn_status exchange_plan(evn_exchange *x);

/* Whether a part lies elsewhere in its space than the plan says. */
int exchange_moved(const evn_exchange *x, const struct part *p);

/* For the lists of copies: bytes of a face; where it is in a part, and in a message, from byte `at`
 * of a box or of what *base points to; and a block added to an end's list, -1: no memory. */
size_t exchange_face_bytes(const evn_exchange *x, const evn_face *f);
struct side exchange_part_side(const evn_exchange *x, const struct part *p, long long at,
                               const long long stride[3]);
struct side exchange_message_side(const evn_exchange *x, const evn_face *f, char *const *base,
                                  size_t at);
int exchange_add(const evn_exchange *x, const struct end *e, struct copies *c, const evn_face *f,
                 const struct side *from, const struct side *to);

/* Whether a part's task is another rank's. */
static inline int exchange_far(const evn_exchange *x, const struct part *p) {
    return loop_own(x->loop, x->loop->owner[p->task]) < 0;
}

/* Gives back all that a plan has made; waits for what is under way. */
void exchange_forget(evn_exchange *x);

/* Whether the faces are possible (exchange_check.c): tasks and regions that are there, blocks that
 * lie in them, and nothing that is written twice, or written and read. The first before there are
 * parts. EVN_USAGE, EVN_MEMORY. */
evn_status exchange_check_faces(const evn_loop *loop, size_t element, int count,
                                const evn_face *face, void *const *host);
evn_status exchange_check_overlaps(const evn_exchange *x);

/* Of a plan: room, before faces are dealt; who has which copies, when they are; whether the run at
 * hand has nothing left to copy; what comes after each run: nothing is done ahead yet. EVN_MEMORY.
 */
evn_status ahead_begin(evn_exchange *x);
evn_status ahead_list(evn_exchange *x);
int ahead_has_all(const evn_exchange *x);
void ahead_clear(struct ahead *a);
void ahead_close(struct ahead *a);

/* Finds for each face the one that goes back beside it (exchange_pairs.c). EVN_MEMORY. */
evn_status exchange_find_pairs(evn_exchange *x);

/* Values of a side of a face, counted from the first of its region: from *lo to *hi. -1: beyond
 * what can be counted. */
int exchange_reach(long long at, const long long stride[3], const int n[3], long long *lo,
                   long long *hi);

#endif
