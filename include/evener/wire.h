/* For plug-ins: a wire, the transport between the ranks of a run. One struct describes a kind of
 * wire: the arena of forked processes, threads of one process, MPI. Programs use
 * <evener/cluster.h>. To add a kind, fill the struct and name it in the list of kinds, or export it
 * from a shared object as `evener_wire_v1`, which needs this header and does not link the library.
 *
 * A channel leads one way, from one rank to another under one tag (MPI's persistent point-to-point
 * requests): messages of at most `max` bytes, received in the order of sending. Two may be under
 * way; a third waits for the receiver. The wire owns the message buffers, so that it can choose
 * their memory (the arena, registered or pinned memory), and messages are written and read in
 * place.
 *
 *     sender:    take(m, &room);   .. write it ..   send(m, bytes);
 *     receiver:  expect(m);        .. other work .. wait(m, &data, &bytes);  .. read .. release(m);
 *
 * When both ends have done this nothing is outstanding, so a wire closes without cancelling
 * anything.
 *
 * One thread at a time calls the functions of a wire, any thread (the library locks). Failures are
 * reported through host->fail(), which sets evn_message(). */
#ifndef EVENER_WIRE_H
#define EVENER_WIRE_H

#include <evener/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVN_WIRE_VERSION   5
#define EVN_WIRE_TAG_MAX   32767
#define EVN_WIRE_BYTES_MAX ((size_t)1 << 30)

/* Defined by the kind. */
typedef struct evn_wire evn_wire;
typedef struct evn_channel evn_channel;
typedef struct evn_segment evn_segment;

/* The library's services for a kind. Valid from open() to close(). */
typedef struct evn_wire_host {
    /* As evn_fail(). */
    evn_status (*fail)(evn_status status, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
    /* Not 0: this process is to end. Waits check it. */
    const volatile int *stop;
    /* 1: more ranks than cores on this host: waits yield the core at once. */
    int crowded;
} evn_wire_host;

/* One-sided memory, on which <evener/shared.h> is built: a segment has memory on each rank, and
 * words (counters) there that other ranks raise by one. Only one rank raises a given word.
 *
 * Functions "under the lock" are called by one thread at a time, together with all others of the
 * wire; the rest by any thread at any time. */
typedef struct evn_wire_shared {
    /* Allocates `bytes` on this rank, zeroed and page-aligned, and `words` of 0, the same number on
     * all. Every rank calls it, in the same order. Fails on all ranks or none: with EVN_STOPPED if
     * another rank is the cause. Under the lock. EVN_MEMORY: there is no room, detected before
     * anything is written; EVN_SYSTEM. */
    evn_status (*open)(evn_segment **out, evn_wire *wire, size_t bytes, int words);
    /* Closes the segment; every rank calls it, with nothing under way. `together` 0: ranks no
     * longer synchronise, so memory that others may still use stays until the process ends. Under
     * the lock. */
    void (*close)(evn_segment *segment, int together);
    /* The memory of `rank` if this rank can access it directly; else NULL. */
    void *(*memory)(const evn_segment *segment, int rank);

    /* Copies `bytes` from `from` to byte `at` of rank `to`, whether memory() gives it or not. Does
     * not wait; `from` may be overwritten after flush(). Under the lock. */
    evn_status (*put)(evn_segment *segment, int to, size_t at, const void *from, size_t bytes);
    /* Waits until all puts and gets to and from rank `to` (-1: all) are complete. Under the lock.
     */
    evn_status (*flush)(evn_segment *segment, int to);
    /* Adds 1 to a word of rank `to`, after earlier writes: those by put(), or with `direct` (and
     * then not under the lock) those by the processor. A rank that sees the word sees these writes.
     */
    evn_status (*raise)(evn_segment *segment, int to, int word, int direct);

    /* Present value of one of this rank's words. */
    unsigned long long (*value)(evn_segment *segment, int word);
    /* Makes progress. Under the lock. NULL: progress needs no calls. */
    void (*poll)(evn_segment *segment);
    /* Number of raises here; read it before value(), and pass it to rest(). */
    unsigned (*bell)(const evn_segment *segment);
    /* Waits briefly for a raise since `bell`: sleeps or yields the core; may return early, not
     * late. *since: 0 before the first call of a wait. `from`: the awaited rank, -1: any, for
     * messages. EVN_STOPPED as wait() of channels; EVN_SYSTEM. */
    evn_status (*rest)(evn_segment *segment, unsigned bell, int from, double *since);

    /* Copies `bytes` from byte `at` of rank `from` to `to`, where they are after flush(): those
     * after all that this rank has put there before. Under the lock. */
    evn_status (*get)(evn_segment *segment, int from, size_t at, void *to, size_t bytes);
    /* Does evn_shared_atomic(), `what` being an evn_atomic (<evener/atomic.h>), `at` a multiple of
     * 8; returns when it is done. Called for all ranks, or, where memory() gives all of them, for
     * none. Under the lock. */
    evn_status (*update)(evn_segment *segment, int to, size_t at, int what, void *value);
} evn_wire_shared;

typedef struct evn_wire_kind {
    unsigned version; /* EVN_WIRE_VERSION */
    const char *name; /* "processes", "Open MPI 4.1.4": for messages and records */

    /* Joins the group of processes that a launcher has made; or makes one of `processes` > 0, and
     * returns in each of them. `options`: the kind's own text, "latency=20us,bandwidth=1GB/s", or
     * NULL. EVN_USAGE: the options; EVN_SYSTEM, EVN_MEMORY. */
    evn_status (*open)(evn_wire **out, int processes, const char *options,
                       const evn_wire_host *host);
    /* Closes the wire; returns when all ranks have called it. All channels are closed before. */
    void (*close)(evn_wire *wire);
    /* Ends all processes of the group with `status`, called by any of them. Does not return. */
    void (*abort)(evn_wire *wire, int status);
    int (*rank)(const evn_wire *wire);
    int (*size)(const evn_wire *wire);

    /* Opens this rank's end of a channel. `out` 1: to `peer`, 0: from it. Both ends are opened, in
     * any order, with the same tag (0 .. 32767) and the same `max` (at most 1 GiB); a pair of ranks
     * has one channel a tag and direction at a time. EVN_MEMORY. */
    evn_status (*channel_open)(evn_channel **out_channel, evn_wire *wire, int peer, int tag,
                               int out, size_t max);
    /* Closes this end; no message is under way. Local: the other end may close earlier or later. */
    void (*channel_close)(evn_channel *channel);

    /* The buffer for the next message, `max` bytes, page-aligned; waits until the message before
     * the last has been received. A second take() without send() gives the same buffer. EVN_STOPPED
     * as wait(). */
    evn_status (*take)(evn_channel *channel, void **room);
    /* Sends the buffer, `bytes` <= max of it, 0 allowed. Does not wait. */
    evn_status (*send)(evn_channel *channel, size_t bytes);

    /* Announces a receive, as early as it is known; once a message. */
    evn_status (*expect)(evn_channel *channel);
    /* Sets *here to 1 if the expected message has arrived. Makes progress. */
    evn_status (*look)(evn_channel *channel, int *here);
    /* Waits for the expected message, which stays in place until release(). EVN_STOPPED:
     * *host->stop is set, and nothing has arrived for two seconds since. */
    evn_status (*wait)(evn_channel *channel, const void **data, size_t *bytes);
    void (*release)(evn_channel *channel);

    /* Makes progress; some tenths of a microsecond. NULL: not needed. */
    void (*poll)(evn_wire *wire);

    const evn_wire_shared *shared; /* NULL: no one-sided memory */
} evn_wire_kind;

#ifdef __cplusplus
}
#endif
#endif
