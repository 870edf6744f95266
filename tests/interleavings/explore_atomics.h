/* Takes over the atomic operations and the futex of source files that are included after this:
 * each becomes a point of explore.h. */
#pragma once

#include "explore.h"
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#undef atomic_init
#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_and
#undef atomic_fetch_and_explicit
#undef atomic_fetch_or
#undef atomic_fetch_or_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_weak
#undef atomic_compare_exchange_weak_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_strong_explicit

#define SITE(p)        ((struct explore_site){#p, __LINE__})
#define VALUE(p, word) __extension__({ (__typeof__(*(p) + 0))(word); })
#define CHANGED(p, change, v)                                                                      \
    VALUE(p, explore_change(p, sizeof *(p), change, (uint64_t)(v), SITE(p)))
#define SWAP_IF(p, e, v, weak) explore_swap_if(p, sizeof *(p), e, (uint64_t)(v), weak, SITE(p))

#define atomic_init(p, v)              ((void)(*(p) = (v)))
#define atomic_load(p)                 VALUE(p, explore_load(p, sizeof *(p), SITE(p)))
#define atomic_load_explicit(p, order) atomic_load(p)
#define atomic_store_explicit(p, v, order)                                                         \
    explore_store(p, sizeof *(p), (uint64_t)(v), order, SITE(p))
#define atomic_store(p, v)                                        atomic_store_explicit(p, v, memory_order_seq_cst)
#define atomic_fetch_add(p, v)                                    CHANGED(p, EXPLORE_ADD, v)
#define atomic_fetch_sub(p, v)                                    CHANGED(p, EXPLORE_ADD, -(uint64_t)(v))
#define atomic_fetch_and(p, v)                                    CHANGED(p, EXPLORE_AND, v)
#define atomic_fetch_or(p, v)                                     CHANGED(p, EXPLORE_OR, v)
#define atomic_exchange(p, v)                                     CHANGED(p, EXPLORE_SWAP, v)
#define atomic_fetch_add_explicit(p, v, order)                    atomic_fetch_add(p, v)
#define atomic_fetch_sub_explicit(p, v, order)                    atomic_fetch_sub(p, v)
#define atomic_fetch_and_explicit(p, v, order)                    atomic_fetch_and(p, v)
#define atomic_fetch_or_explicit(p, v, order)                     atomic_fetch_or(p, v)
#define atomic_exchange_explicit(p, v, order)                     atomic_exchange(p, v)
#define atomic_compare_exchange_weak(p, e, v)                     SWAP_IF(p, e, v, 1)
#define atomic_compare_exchange_strong(p, e, v)                   SWAP_IF(p, e, v, 0)
#define atomic_compare_exchange_weak_explicit(p, e, v, yes, no)   SWAP_IF(p, e, v, 1)
#define atomic_compare_exchange_strong_explicit(p, e, v, yes, no) SWAP_IF(p, e, v, 0)

/* The only call of the system there is: a futex, whose time limit never comes. */
#define syscall(number, ...)                                                                       \
    explore_futex((struct explore_site){"futex: " #__VA_ARGS__, __LINE__}, __VA_ARGS__)
