/* The wire: what the processes of a run (its ranks) talk through. One struct a kind; the arena of
 * forked processes, threads of one process, and MPI are such kinds. Programs use evener/cluster.h;
 * this header is for whoever adds a kind: fill the struct and name it in src/wire/kinds.c, or put
 * it into a shared object as `evener_wire_v1`, which needs this header and does not link the
 * library.
 *
 * Mail is one way from one rank to another under one tag: messages of at most `max` bytes, one
 * after another, received in the order in which they were sent. Two of them may be on their way; a
 * third waits for the receiver. Their rooms belong to the wire, so that it can have them where it
 * wants (in the arena, in registered or pinned memory), and messages are written and read in place.
 *
 *     sender:    take(m, &room);   .. write it ..   send(m, bytes);
 *     receiver:  expect(m);        .. other work .. wait(m, &data, &bytes);  .. read .. release(m);
 *
 * When both have done that nothing is outstanding, so a wire is closed without cancelling anything.
 *
 * Functions of one wire are called by one thread at a time, by any thread (the library locks).
 * Failures: the text goes through host->fail(), and so reaches evn_message().
 */
#ifndef EVENER_WIRE_H
#define EVENER_WIRE_H

#include <evener/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVN_WIRE_VERSION   2
#define EVN_WIRE_TAG_MAX   32767
#define EVN_WIRE_BYTES_MAX ((size_t)1 << 30)

/* Of the kind's own making. */
typedef struct evn_wire evn_wire;
typedef struct evn_mail evn_mail;
typedef struct evn_segment evn_segment;

/* What the library does for a kind. Valid from open() to close(). */
typedef struct evn_wire_host {
    /* As evn_fail(). */
    evn_status (*fail)(evn_status status, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
    /* Not 0: somebody wants this process to end. Waits look at it. */
    const volatile int *stop;
    /* More ranks than cores here: waits give their core away at once. */
    int crowded;
} evn_wire_host;

/* One-sided memory, what <evener/shared.h> is made of: a segment has a piece of memory on each
 * rank, and beside it words that other ranks raise, one by one. A word is raised by one rank only.
 *
 * What is called under the library's lock is called by one thread at a time with all else of the
 * wire; what is not, by any thread at any time. */
typedef struct evn_wire_shared {
    /* `bytes` of zeros of this rank, page-aligned, and `words` of 0, the same number on all. Every
     * rank calls it, in the same order. Fails on all or on none: with EVN_STOPPED where the cause
     * is another rank. Under the lock. EVN_MEMORY: there is no room, said before anything was
     * written; EVN_SYSTEM. */
    evn_status (*open)(evn_segment **out, evn_wire *wire, size_t bytes, int words);
    /* Every rank calls it; nothing is on its way. Not `together`: ranks do not come together any
     * more, so what others may still use stays until the end of the process. Under the lock. */
    void (*close)(evn_segment *segment, int together);
    /* The memory of `rank` where this one can read and write it itself; NULL: it cannot. */
    void *(*memory)(const evn_segment *segment, int rank);

    /* `bytes` at `from` to `at` of rank `to`, whether memory() gives it or not. Does not wait;
     * `from` may be written again after flush(). Under the lock. */
    evn_status (*put)(evn_segment *segment, int to, size_t at, const void *from, size_t bytes);
    /* Until all that was put to rank `to` (-1: to all) is there. Under the lock. */
    evn_status (*flush)(evn_segment *segment, int to);
    /* Adds 1 to a word of rank `to`. Who sees it sees what was written before: by put(), or, with
     * `direct` (and then not under the lock), by the processor. */
    evn_status (*raise)(evn_segment *segment, int to, int word, int direct);

    /* Of this rank's own, as far as it has come. */
    unsigned long long (*value)(evn_segment *segment, int word);
    /* Lets what is on its way come on. Under the lock. NULL: it comes by itself. */
    void (*poll)(evn_segment *segment);
    /* How often something was raised here; taken before value(), for rest(). */
    unsigned (*bell)(const evn_segment *segment);
    /* A moment's wait for something to be raised since `bell`: sleeps, or gives the core away, and
     * may return early, but not late. *since: 0 before the first one of a wait. `from`: the rank
     * that is waited for, -1: any, for messages. EVN_STOPPED as wait() of mail; EVN_SYSTEM. */
    evn_status (*rest)(evn_segment *segment, unsigned bell, int from, double *since);
} evn_wire_shared;

typedef struct evn_wire_kind {
    unsigned version; /* EVN_WIRE_VERSION */
    const char *name; /* "processes", "Open MPI 4.1.4": for messages and records */

    /* Joins the group that a launcher has made; or makes one of `processes` > 0, and returns in
     * each of them. `options` is the kind's own text, "latency=20us,bandwidth=1GB/s", or NULL.
     * EVN_USAGE: the options; EVN_SYSTEM, EVN_MEMORY. */
    evn_status (*open)(evn_wire **out, int processes, const char *options,
                       const evn_wire_host *host);
    /* Every rank calls it, when all its mail is closed; returns when all have. */
    void (*close)(evn_wire *wire);
    /* Ends all processes of the group with `status`, from any of them. Does not return. */
    void (*abort)(evn_wire *wire, int status);
    int (*rank)(const evn_wire *wire);
    int (*size)(const evn_wire *wire);

    /* This rank's end of a way: `out` 1: to `peer`, 0: from it. Both ends are opened, in any order,
     * with the same tag (0 .. 32767) and the same `max` (at most 1 GiB); a pair of ranks has one
     * way a tag and direction at a time. EVN_MEMORY. */
    evn_status (*mail_open)(evn_mail **out_mail, evn_wire *wire, int peer, int tag, int out,
                            size_t max);
    /* No message is on its way. Local: the other end may close earlier or later. */
    void (*mail_close)(evn_mail *mail);

    /* Where the next message is to be written, `max` bytes, page-aligned; waits until the one
     * before the last has been received. Without send() in between a second take() gives the same
     * room. EVN_STOPPED as wait(). */
    evn_status (*take)(evn_mail *mail, void **room);
    /* Lets it go, `bytes` <= max of it, 0 too. Does not wait. */
    evn_status (*send)(evn_mail *mail, size_t bytes);

    /* Says that a message will be waited for: as early as that is known, once a message. */
    evn_status (*expect)(evn_mail *mail);
    /* Whether the expected message is here. Makes progress. */
    evn_status (*look)(evn_mail *mail, int *here);
    /* The expected message; it stays where it is until release(). EVN_STOPPED: *host->stop is set,
     * and nothing has come for two seconds since. */
    evn_status (*wait)(evn_mail *mail, const void **data, size_t *bytes);
    void (*release)(evn_mail *mail);

    /* Lets messages that are on their way come on; some tenths of a microsecond. NULL: nothing to
     * do. */
    void (*poll)(evn_wire *wire);

    /* Whether send_device() and wait_device() take a device's addresses; NULL: no. */
    int (*device_memory)(const evn_wire *wire);
    evn_status (*send_device)(evn_mail *mail, const void *from, size_t bytes);
    evn_status (*wait_device)(evn_mail *mail, void *to, size_t bytes);

    const evn_wire_shared *shared; /* NULL: it has no one-sided memory */
} evn_wire_kind;

/* For studies and tests: the wire of a cluster, in *wire, and its kind; NULL: one rank alone. Tags
 * from 32000 on are theirs. Nothing else of the cluster may be used meanwhile. */
struct evn_cluster;
const evn_wire_kind *evn_cluster_wire_of(struct evn_cluster *cluster, evn_wire **wire);

#ifdef __cplusplus
}
#endif
#endif
