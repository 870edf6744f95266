/* For programs and plug-ins: what evn_shared_atomic() of <evener/shared.h> does to a word. */
#ifndef EVENER_ATOMIC_H
#define EVENER_ATOMIC_H

typedef enum evn_atomic {
    EVN_ADD_INT64,         /* adds value[0] */
    EVN_ADD_DOUBLE,        /* adds value[0]; the sum's last bits depend on who comes first */
    EVN_SWAP_INT64,        /* stores value[0] */
    EVN_COMPARE_SWAP_INT64 /* stores value[0] if value[1] is there */
} evn_atomic;

#endif
