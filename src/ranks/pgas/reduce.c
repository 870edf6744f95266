/* Barriers and reductions: an all-gather in ceil(log2 R) hops, then each rank adds in the order of
 * ranks. In hop h a rank sends its own and the following ranks' values to the rank 2^h before it,
 * and receives as many from the rank 2^h behind (Bruck and others, "Efficient algorithms for
 * all-to-all communications", 1997, section 4.1). Without values it is a barrier.
 *
 * A rank has two buffers, for even and odd rounds. A rank in round n + 2 has completed n + 1, for
 * which all ranks have left n: no rank still reads the buffer that is written. */
#include "pgas/inside.h"
#include <string.h>

enum { OURS = -1 }; /* signal of barriers and reductions */

/* Position in a part of slot j, the values of the rank j behind, in this round's buffer. */
static size_t slot_at(const evn_shared *s, int j) {
    return ((s->rounds % 2) * (size_t)s->size + (size_t)j) * REDUCE_ROOM * sizeof(double);
}

/* This rank's memory of slot j. */
static double *slot(const evn_shared *s, int j) {
    return (double *)(s->there[s->rank] + slot_at(s, j));
}

/* Sends and receives `count` values of each slot, hop by hop; slots lie without gaps. */
static evn_status hops(evn_shared *s, int count) {
    evn_status status = EVN_OK;
    for (int step = 1; !status && step < s->size; step *= 2) {
        const int to = (s->rank + s->size - step) % s->size, from = (s->rank + step) % s->size;
        const int slots = step < s->size - step ? step : s->size - step;
        /* values received in earlier hops already lie behind the own ones */
        for (int j = 0; !status && count && j < slots; j++)
            status =
                shared_put(s, to, slot_at(s, step + j), slot(s, j), (size_t)count * sizeof(double));
        if (!status) status = shared_raise(s, to, OURS);
        /* each hop of this round receives from another rank */
        const evn_shared_signal come = {from, OURS, s->rounds + 1};
        int which;
        if (!status) status = shared_wait(s, &come, 1, &which);
    }
    return status;
}

static double larger(double a, double b) { return a != a || b != b ? a + b : a > b ? a : b; }

static evn_status reduce(evn_shared *s, evn_reduction what, double *value, int count) {
    if (count) memcpy(slot(s, 0), value, (size_t)count * sizeof *value);
    evn_status status = hops(s, count);
    for (int r = 0; !status && r < s->size; r++) {
        const double *theirs = slot(s, (r - s->rank + s->size) % s->size);
        for (int i = 0; i < count; i++)
            value[i] = !r                ? theirs[i]
                       : what == EVN_SUM ? value[i] + theirs[i]
                                         : larger(value[i], theirs[i]);
    }
    s->rounds++;
    return status;
}

evn_status evn_shared_barrier(evn_shared *s) {
    if (!s) return evn_fail(EVN_USAGE, "evn_shared_barrier(): the shared memory is NULL");
    evn_status status = evn_shared_flush(s, -1);
    return status ? status : reduce(s, EVN_SUM, NULL, 0);
}

evn_status evn_shared_reduce(evn_shared *s, evn_reduction what, double *value, int count) {
    static const char name[] = "evn_shared_reduce()";
    if (!s) return evn_fail(EVN_USAGE, "%s: the shared memory is NULL", name);
    if (what != EVN_SUM && what != EVN_MAX)
        return evn_fail(EVN_USAGE, "%s: %d is neither EVN_SUM nor EVN_MAX", name, (int)what);
    if (count < 0 || (count && !value))
        return evn_fail(EVN_USAGE, "%s: %d values%s", name, count, value ? "" : " at NULL");
    evn_status status = evn_shared_flush(s, -1);
    for (int done = 0; !status && (done < count || !done); done += REDUCE_ROOM)
        status = reduce(s, what, value ? value + done : NULL,
                        count - done < REDUCE_ROOM ? count - done : REDUCE_ROOM);
    return status;
}
