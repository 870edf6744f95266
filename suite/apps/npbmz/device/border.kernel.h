/* Argument of the kernel that copies a face between two zones of one device (border.kernel.c). */
#pragma once

#include <evener/kernel.h>

/* An evn_face (evener/exchange.h), whose blocks begin in the field where `from_at` and `to_at` say.
 */
struct border_value {
    evn_long from_at, to_at;
    evn_long from_stride[3], to_stride[3];
    int n[3];
};
