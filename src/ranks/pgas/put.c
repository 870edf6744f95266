/* Puts, signals and atomic updates to other ranks, and gets from them. */
#include "pgas/inside.h"
#include "cluster/cluster.h"
#include "wire/update.h"
#include <string.h>

evn_status shared_check_rank(const evn_shared *s, const char *what, int rank) {
    if (!s) return evn_fail(EVN_USAGE, "%s: the shared memory is NULL", what);
    if (rank < 0 || rank >= s->size)
        return evn_fail(EVN_USAGE, "%s: there is no rank %d, expected 0 to %d", what, rank,
                        s->size - 1);
    return EVN_OK;
}

evn_status shared_check_signal(const evn_shared *s, const char *what, int signal) {
    if (signal >= 0 && signal < s->signals) return EVN_OK;
    return evn_fail(EVN_USAGE, "%s: there is no signal %d; the memory was opened with %d, from 0",
                    what, signal, s->signals);
}

static evn_status check_range(const evn_shared *s, const char *what, int rank, size_t at,
                              size_t bytes) {
    evn_status status = shared_check_rank(s, what, rank);
    if (status) return status;
    if (at > s->bytes[rank] || bytes > s->bytes[rank] - at)
        return evn_fail(EVN_USAGE, "%s: %zu bytes at %zu of rank %d, which has %zu", what, bytes,
                        at, rank, s->bytes[rank]);
    return EVN_OK;
}

evn_status shared_check_put(const evn_shared *s, const char *what, int to, size_t at,
                            const void *from, size_t bytes) {
    evn_status status = check_range(s, what, to, at, bytes);
    if (status) return status;
    if (bytes && !from) return evn_fail(EVN_USAGE, "%s: the source is NULL", what);
    return EVN_OK;
}

evn_status shared_put(evn_shared *s, int to, size_t at, const void *from, size_t bytes) {
    if (s->there[to]) {
        memmove(s->there[to] + at, from, bytes);
        return EVN_OK;
    }
    cluster_lock(s->cluster);
    evn_status status = s->wire->put(s->segment, to, at, from, bytes);
    cluster_unlock(s->cluster);
    return status;
}

void shared_count(evn_shared *s, int to, size_t bytes) {
    if (to == s->rank) return;
    atomic_fetch_add_explicit(s->there[to] ? &s->near_puts : &s->far_puts, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(s->there[to] ? &s->near_bytes : &s->far_bytes, (long long)bytes,
                              memory_order_relaxed);
}

static evn_status put(evn_shared *s, const char *what, int to, size_t at, const void *from,
                      size_t bytes) {
    evn_status status = shared_check_put(s, what, to, at, from, bytes);
    if (status || !bytes) return status;
    shared_count(s, to, bytes);
    return shared_put(s, to, s->begin + at, from, bytes);
}

evn_status evn_shared_put(evn_shared *s, int to, size_t at, const void *from, size_t bytes) {
    return put(s, "evn_shared_put()", to, at, from, bytes);
}

evn_status evn_shared_get(evn_shared *s, int from, size_t at, void *to, size_t bytes) {
    static const char what[] = "evn_shared_get()";
    evn_status status = check_range(s, what, from, at, bytes);
    if (status || !bytes) return status;
    if (!to) return evn_fail(EVN_USAGE, "%s: the target is NULL", what);
    if (from != s->rank) {
        atomic_fetch_add_explicit(&s->gets, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&s->got_bytes, (long long)bytes, memory_order_relaxed);
    }
    if (s->there[from]) {
        memmove(to, s->there[from] + s->begin + at, bytes);
        return EVN_OK;
    }
    cluster_lock(s->cluster);
    status = s->wire->get(s->segment, from, s->begin + at, to, bytes);
    cluster_unlock(s->cluster);
    return status;
}

evn_status shared_update(evn_shared *s, int to, size_t at, evn_atomic what, void *value) {
    if (s->is_near) {
        wire_update(s->there[to] + at, what, value);
        return EVN_OK;
    }
    cluster_lock(s->cluster);
    evn_status status = s->wire->update(s->segment, to, at, what, value);
    cluster_unlock(s->cluster);
    return status;
}

evn_status evn_shared_atomic(evn_shared *s, int to, size_t at, evn_atomic what, void *value) {
    static const char name[] = "evn_shared_atomic()";
    evn_status status = check_range(s, name, to, at, sizeof(int64_t));
    if (status) return status;
    if (!value) return evn_fail(EVN_USAGE, "%s: value is NULL", name);
    if (at % sizeof(int64_t))
        return evn_fail(EVN_USAGE, "%s: byte %zu, expected a multiple of 8", name, at);
    if ((int)what < EVN_ADD_INT64 || what > EVN_COMPARE_SWAP_INT64)
        return evn_fail(EVN_USAGE, "%s: %d is none of evn_atomic", name, (int)what);
    return shared_update(s, to, s->begin + at, what, value);
}

evn_status shared_raise(evn_shared *s, int to, int signal) {
    const int word = shared_word(s, s->rank, signal);
    if (s->there[to]) return s->wire->raise(s->segment, to, word, 1);
    cluster_lock(s->cluster);
    evn_status status = s->wire->raise(s->segment, to, word, 0);
    cluster_unlock(s->cluster);
    return status;
}

static evn_status raise_signal(evn_shared *s, const char *what, int to, int signal) {
    evn_status status = shared_check_rank(s, what, to);
    if (!status) status = shared_check_signal(s, what, signal);
    if (status) return status;
    atomic_fetch_add_explicit(&s->signals_raised, 1, memory_order_relaxed);
    return shared_raise(s, to, signal);
}

evn_status evn_shared_raise(evn_shared *s, int to, int signal) {
    return raise_signal(s, "evn_shared_raise()", to, signal);
}

evn_status evn_shared_put_signal(evn_shared *s, int to, size_t at, const void *from, size_t bytes,
                                 int signal) {
    static const char what[] = "evn_shared_put_signal()";
    evn_status status = shared_check_rank(s, what, to);
    if (!status) status = shared_check_signal(s, what, signal);
    if (!status) status = put(s, what, to, at, from, bytes);
    return status ? status : raise_signal(s, what, to, signal);
}

evn_status evn_shared_flush(evn_shared *s, int to) {
    evn_status status = EVN_OK;
    if (!s || to != -1) status = shared_check_rank(s, "evn_shared_flush()", to);
    if (status || !s->wire->flush || (to >= 0 && s->there[to])) return status;
    cluster_lock(s->cluster);
    status = s->wire->flush(s->segment, to);
    cluster_unlock(s->cluster);
    return status;
}
