/* The list of transports. */
#include "exchange/transport.h"
#include "unit/device_ops.h"

/* In the order in which they are asked, before those of devices (devices.c). To remove one, delete
 * its file and its line. */
static const struct transport *const transports[] = {
    &transport_same,
};
enum { TRANSPORTS = sizeof transports / sizeof *transports };

const struct transport *transport_between(const struct end *from, const struct end *to) {
    for (int i = 0; i < TRANSPORTS; i++)
        if (transports[i]->carries(from, to)) return transports[i];
    if (!from->on && !to->on) return NULL;
    for (const struct transport *const *t = device_ops.transports; *t; t++)
        if ((*t)->carries(from, to)) return *t;
    return NULL;
}
