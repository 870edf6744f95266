/* For programs and plug-ins: operations of evn_shared_atomic() of <evener/shared.h>. */
#ifndef EVENER_ATOMIC_H
#define EVENER_ATOMIC_H

typedef enum evn_atomic {
    EVN_ADD_INT64,         /* adds value[0] */
    EVN_ADD_DOUBLE,        /* adds value[0]; last bits of a sum depend on the order of the ranks */
    EVN_SWAP_INT64,        /* stores value[0] */
    EVN_COMPARE_SWAP_INT64 /* stores value[0] if the word is value[1] */
} evn_atomic;

#endif
