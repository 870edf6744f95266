/* evn_shared_atomic() by the processor. */
#pragma once

#include <evener/atomic.h>
#include <stdint.h>
#include <string.h>

typedef int64_t __attribute__((may_alias)) wire_word;

static inline int64_t wire_update_add(wire_word *there, double more) {
    int64_t before = __atomic_load_n(there, __ATOMIC_SEQ_CST), after;
    double sum;
    do {
        memcpy(&sum, &before, sizeof sum);
        sum += more;
        memcpy(&after, &sum, sizeof after);
    } while (
        !__atomic_compare_exchange_n(there, &before, after, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return before;
}

static inline void wire_update(void *at, int what, void *value) {
    wire_word *there = at;
    int64_t given[2] = {0};
    double more;
    memcpy(given, value, what == EVN_COMPARE_SWAP_INT64 ? sizeof given : sizeof *given);
    memcpy(&more, given, sizeof more);
    int64_t before = given[1];
    if (what == EVN_ADD_INT64)
        before = __atomic_fetch_add(there, given[0], __ATOMIC_SEQ_CST);
    else if (what == EVN_ADD_DOUBLE)
        before = wire_update_add(there, more);
    else if (what == EVN_SWAP_INT64)
        before = __atomic_exchange_n(there, given[0], __ATOMIC_SEQ_CST);
    else
        __atomic_compare_exchange_n(there, &before, given[0], 0, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
    memcpy(value, &before, sizeof before);
}
