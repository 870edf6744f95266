/* One face from a zone to its neighbour, both in one device's memory: a row of values a group. */
#include "npbmz/device/border.kernel.h"

#define ITEMS 64

EVN_KERNEL(border_copy, ITEMS, (EVN_BUFFER(double, field), EVN_VALUE(struct border_value, c))) {
    const evn_long a = EVN_GROUP / c.n[1], b = EVN_GROUP % c.n[1];
    EVN_GLOBAL double *to = field + c.to_at + a * c.to_stride[0] + b * c.to_stride[1];
    const EVN_GLOBAL double *from = field + c.from_at + a * c.from_stride[0] + b * c.from_stride[1];
    EVN_SHARE(i, c.n[2]) { to[i * c.to_stride[2]] = from[i * c.from_stride[2]]; }
}
