/* Internals of one-sided memory. */
#ifndef SHARED_INSIDE_H
#define SHARED_INSIDE_H

#include <evener/shared.h>
#include <evener/wire.h>
#include <stdatomic.h>

/* Doubles a reduction step. */
enum { REDUCE_ROOM = 32 };

struct evn_shared {
    evn_cluster *cluster;
    const evn_wire_shared *wire;
    evn_segment *segment;
    int rank, size;
    int signals, row;          /* signals of the program; words that each rank has for each rank */
    size_t *bytes;             /* bytes of each rank, without the room of reductions */
    size_t begin;              /* offset of the program's bytes, behind the room of reductions */
    unsigned char **there;     /* the parts of this node's ranks; NULL: elsewhere */
    unsigned long long rounds; /* number of barriers and reductions */
    atomic_llong near_puts, far_puts, near_bytes, far_bytes, signals_raised, gets, got_bytes;
};

/* One process by itself. */
extern const evn_wire_shared shared_alone;
evn_status shared_alone_open(evn_segment **out, const evn_wire_host *host, size_t bytes, int words);

/* Index of the word of rank `from`'s signal; -1 is that of barriers and reductions. */
static inline int shared_word(const evn_shared *s, int from, int signal) {
    return from * s->row + 1 + signal;
}

/* Copies directly or by the wire; `at` counts from the part's beginning. Arguments are checked. */
evn_status shared_put(evn_shared *shared, int to, size_t at, const void *from, size_t bytes);
evn_status shared_raise(evn_shared *shared, int to, int signal);
evn_status shared_wait(evn_shared *shared, const evn_shared_signal *of, int count, int *which);

/* Counts a put to another rank. */
void shared_count(evn_shared *shared, int to, size_t bytes);

/* EVN_USAGE, with a message that begins with `what`, unless these bytes of that rank's part exist,
 * and the source, if there are any. */
evn_status shared_check_put(const evn_shared *shared, const char *what, int to, size_t at,
                            const void *from, size_t bytes);

/* EVN_USAGE, with a message that begins with `what`, unless there is such a rank or signal. */
evn_status shared_check_rank(const evn_shared *shared, const char *what, int rank);
evn_status shared_check_signal(const evn_shared *shared, const char *what, int signal);

#endif
