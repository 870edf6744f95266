/* An exchange and its plan: the copies and messages for the present owners of tasks.
 *
 * Faces go from region to region. The location of a region is an end: a unit in a space. A CPU unit
 * has one end, a GPU unit one for each device (and one for the host, where regions were evicted).
 * All faces from one end to another form one message, carried by a transport; or none, if the
 * receiving end can copy from the other's memory. The plan holds until a task moves; between cores
 * of one memory it holds as long as all faces are copied early, since then nothing is left to copy.
 *
 * Where few tasks move, or few faces come and go, the plan is mended: copies of these faces alone
 * are taken out of lists and dealt anew. Messages have no holes, so that positions in them follow
 * from all faces that they carry: these are dealt anew, as many as a run packs anyway.
 */
#pragma once

#include "exchange/copies.h"
#include "exchange/marks.h"
#include "exchange/remote_ops.h"
#include "loop/internal.h"
#include <evener/exchange.h>
#include <stdint.h>

/* Data of a task that faces read and write: one of its regions, or its host memory. */
struct part {
    int task, slot; /* index among the task's regions */
    int region;     /* region number; without a place, the task's number */
    int first; /* first face of its list: 2 x face, + 1 where the face writes the part; -1: none */
    unsigned char writes;   /* 1: faces of this task write it */
    unsigned char written;  /* 1: faces of any task do */
    unsigned char again;    /* 1: an earlier part has the region */
    unsigned char lessened; /* 1: a face of it is gone, and still in its list */
    unsigned char stale;    /* bits of enum stale */
    size_t bytes;           /* extent of the faces */
    int marked;             /* owner for which its faces to other ranks are marked; -1: none */
    /* location when the plan was made */
    int owner, space, end;
    size_t at;
    char *host;
};

/* Reasons to deal faces of a part: some are new; the part is elsewhere. */
enum stale { UNDEALT = 1, ELSEWHERE = 2 };

/* A face between parts. */
struct face {
    evn_face of;  /* the face as it was given; its present tasks are those of the parts */
    int number;   /* lasting number */
    int from, to; /* parts of its two ends; -1: gone */
    int back;     /* the face in the opposite direction beside it; -1 */
};

/* A face in lists: the next one in that of its part `from` and of its part `to`, as part.first
 * says; and its direct copy, between cores alone or with the face in the opposite direction. */
struct entry {
    int next[2];
    int end, copy; /* end: also of enum dealt; copy -1: none, or that of the opposite face */
};

/* A face that is not in the list of an end: in none yet, or of no concern to this rank; or carried
 * by a message. */
enum dealt { NOWHERE = -1, CARRIED = -2 };

struct end {
    int unit, space, device; /* device: index in the unit; -1: the host */
    /* copies within the end, into messages, out of messages */
    struct copies direct, pack, unpack;
    int unfinished; /* 1: evn_exchange_finish() will unpack */
    /* on a device */
    evn_device *on; /* NULL: on the host */
    evn_queue *compute;
    evn_queue *copies;  /* a queue beside the unit's compute queue */
    evn_kernel *kernel; /* kernel of the end's device */
    evn_event *packed, *arrived;
    evn_buffer *outbox, *inbox;
    size_t out_bytes, in_bytes;
    /* over ranks */
    int *remote_in; /* number of faces from each neighbour */
};

/* All faces from one end to another, one after another. On a device messages are stretches of the
 * end's box; on the host they are in the transport's memory. */
struct message {
    const struct transport *transport;
    struct end *from, *to;
    size_t bytes, filled;
    size_t out_at, in_at; /* offsets in the ends' boxes */
    int sent;             /* 1: the message was sent in the current run */
    /* private to the transport */
    char *host;
    evn_device *host_of;
    evn_event *ready;
};

/* Early copies (ahead.c): a face is copied by the core that finishes its second task. For each
 * face, or pair by its first one, the tasks that have their new values. */
struct ahead {
    int faces, room;
    atomic_int said; /* 1: there were early copies since the last run */
    atomic_uchar *met;
};

/* Faces from a unit to another, or within one. */
struct flow {
    double bytes;
    int faces;
};

struct plan {
    int made;  /* 1: valid for the parts' recorded locations */
    int dealt; /* 1: copies are assigned to the present owners; 0: to earlier ones */
    int mends; /* 1: each dealt face has its entry, for the parts' recorded locations, so that a few
                  can be dealt anew */
    int cut;   /* copies that were taken out of lists since all was dealt */
    int units;
    struct end *end;
    int ends, end_room;
    struct message *message;
    int messages, message_room;
    char *needs; /* by task, 1: a message brings one of its faces */
    int between; /* pairs of faces between two units */
    struct ahead ahead;
    struct flow *flow; /* units x units */
    /* by unit */
    double *in, *out;
    int *first_task, *tasks;
    int pairs; /* ordered pairs of different units with bytes */
};

/* A leader's report of its half of a run. */
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
    int tasks, slots;  /* number of tasks, and of regions of each */
    struct face *face; /* ascending by number */
    struct entry *entry;
    int faces, face_room, numbered;
    long long runs; /* since the loop's statistics were reset the `resets`-th time */
    long resets;
    int gone;            /* entries of `face` whose tasks are gone */
    marks_word *carried; /* faces that messages carry, and no more than a few others */
    size_t mark_room;
    struct part *part;
    int parts, part_room;
    int *table; /* part of each region, [task * slots + slot]; -1: none */
    size_t table_room;
    int *first; /* scratch for the first part of each region */
    size_t first_room;
    int *held; /* scratch for region numbers */
    int *some; /* some of the parts: those that are lessened; scratch in between */
    int lessened;
    /* settled state: all data in host memory with their owners, as in the last run */
    int settled;
    int assignment;        /* the loop's assignment then */
    unsigned long version; /* the place's version then */
    struct place_use use;
    evn_access *access; /* access to the regions of `use` */
    int *device;        /* scratch for each task's device */
    size_t device_room;
    struct plan plan;
    const struct remote_ops *remote_ops; /* NULL: no ranks */
    struct remote *remote;               /* messages between ranks */
    int remotes;       /* ranks that faces cross to or from, in the present assignment */
    int remote_plan;   /* number of the assignment for which they were found; -1: none */
    int remote_marked; /* 1: faces between ranks are marked, for the owners that parts say */
    int open;          /* 1: the current run leaves unpacking to evn_exchange_finish() */
    struct half *half;
    double *busy; /* seconds of each unit */
};

/* The task of now at a side of a face: `to` 1, or from. */
static inline int exchange_task(const evn_exchange *x, const struct face *f, int to) {
    return x->part[to ? f->to : f->from].task;
}

/* Finds the space of each part; EVN_USAGE: in none, or the loop has other regions. */
evn_status exchange_find(evn_exchange *x);

/* Makes the plan if there is none for the parts' present locations, which stay as long as the parts
 * are held. */
evn_status exchange_plan(evn_exchange *x);

/* 1 if a part's location in its space differs from the plan. */
int exchange_moved(const evn_exchange *x, const struct part *p);

/* Parts of a face's copy: all of it; its values into a message, where a mean is one value; or out
 * of it, where a value is repeated. */
enum step { WHOLE, PACKED, UNPACKED };
struct shape exchange_shape(const evn_face *f, enum step step);

/* Helpers for lists of copies: bytes of a face in a message; its side in a part; its side in a
 * message, from byte `at` of a box or of *base; and adding a block to an end's list, -1: no memory.
 */
size_t exchange_face_bytes(const evn_exchange *x, const evn_face *f);
struct side exchange_part_side(const evn_exchange *x, const struct part *p, long long at,
                               const long long stride[3]);
struct side exchange_message_side(const evn_exchange *x, const evn_face *f, char *const *base,
                                  size_t at);
int exchange_add(const evn_exchange *x, const struct end *e, struct copies *c, struct shape shape,
                 const struct side *from, const struct side *to);

/* 1 if a part's task belongs to another rank. */
static inline int exchange_is_remote(const evn_exchange *x, const struct part *p) {
    return loop_own(x->loop, x->loop->owner[p->task]) < 0;
}

/* Whether a face goes from this rank to another, or comes from there; one that is gone does not. */
static inline int exchange_crosses(const evn_exchange *x, const struct face *f) {
    return f->from >= 0 &&
           exchange_is_remote(x, &x->part[f->from]) != exchange_is_remote(x, &x->part[f->to]);
}

/* A plan from scratch costs as much as so many parts, or faces, that are dealt anew; and puts
 * copies in the order of faces again. */
enum { EXCHANGE_MOST = 4 };

/* Frees a plan; waits for pending work. */
void exchange_forget(evn_exchange *x);

/* Checks of faces (check.c): tasks and regions exist, blocks lie inside, no value is
 * written twice, or written and read. The first before parts exist, for faces whose numbers begin
 * with `number`. The second: faces from index `before` on among each other and with all of the same
 * regions. EVN_USAGE, EVN_MEMORY. */
evn_status exchange_check_faces(const evn_loop *loop, size_t element, int number, int count,
                                const evn_face *face, void *const *host);
evn_status exchange_check_overlaps(const evn_exchange *x, int before);

/* Early copies of a plan: makes room, which copies of cores look at, for all faces, with no news of
 * those from index `before` on; tests whether the current run has nothing left to copy; resets
 * after each run. EVN_MEMORY. */
evn_status ahead_begin(evn_exchange *x, int before);
int ahead_has_all(const evn_exchange *x);
void ahead_clear(struct ahead *a);
void ahead_close(struct ahead *a);

/* Over ranks: whether all make the same call with the same faces, with this rank's status so far;
 * collective. Without ranks, `mine`. `sum`: exchange_checksum() of the faces alone, since memory is
 * each rank's own; 0 without ranks. */
evn_status exchange_agree(evn_loop *loop, const char *what, int count, uint64_t sum,
                          evn_status mine);
uint64_t exchange_checksum(const evn_loop *loop, int count, const evn_face *face);

/* Finds for each face from index `before` on the one in the opposite direction beside it (pairs.c).
 * EVN_MEMORY. */
evn_status exchange_find_pairs(evn_exchange *x, int before);

/* The faces of an exchange (faces.c). Takes those at opening: EVN_MEMORY. Follows the loop's
 * changes of tasks. */
evn_status exchange_take(evn_exchange *x, int count, const evn_face *face, void *const *host);
evn_status exchange_may_change(void *arg, const int *now, int tasks);
void exchange_change(void *arg, const int *now, int tasks);
void exchange_close_faces(evn_exchange *x);

/* Parts and their lists of faces (parts.c). */

/* Room for the parts of `tasks` tasks and of `faces` more faces; all stays as it is. 1: not enough
 * memory. */
int parts_room(evn_exchange *x, int tasks, int faces);
/* Finds the parts of faces from index `before` on, makes those that are missing, and enters the
 * faces into their lists. */
void parts_enter(evn_exchange *x, int before, void *const *host);
/* Sorts all by region, as data lie in memory. */
void parts_sort(evn_exchange *x);
/* Notes that a face of a part is gone; then those parts lose them, and go with the last one. */
void parts_lose(evn_exchange *x, int part);
void parts_lessen(evn_exchange *x);
/* Tasks have other numbers: now[] of each, all of which stay; 0 .. tasks - 1. */
void parts_renumber(evn_exchange *x, const int *now, int tasks);
/* Lists all faces anew, whose indices are others. */
void parts_list(evn_exchange *x);
/* A region of several tasks is held once, and is written if one of them writes it. */
void parts_mark_regions(evn_exchange *x);

/* Faces that are gone leave the array; no copy may refer to any. */
void exchange_compact(evn_exchange *x);

/* Faces in lists of copies (deal.c). */

/* Deals a face: to the list of the end that copies it, of a pair both; or marks it as carried by a
 * message. EVN_MEMORY. EVN_USAGE: nothing carries between its ends. */
evn_status exchange_deal(evn_exchange *x, int face);
/* Takes a face out again, and with its copy that of the opposite face. */
void exchange_undeal(evn_exchange *x, int face);
/* Deals all faces that messages carry, in their order, to messages and lists that are empty; other
 * ranks' first. EVN_MEMORY, or a transport's failure. */
evn_status exchange_deal_messages(evn_exchange *x);
/* Our unit that has a part; -1: another rank has. */
int exchange_unit(const evn_exchange *x, int part);
/* Adds a face to the bytes between units, or, `sign` -1, takes it out. */
void exchange_count(evn_exchange *x, const struct face *face, int sign);

/* Whether all is copied by cores of this rank within the host's memory. */
int exchange_is_in_one(const evn_exchange *x);
