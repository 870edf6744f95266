/* The body in C beside which fortran_overhead.f90 measures its own. */
#include <evener.h>

evn_status c_body(evn_unit *unit, evn_batch *batch, void *arg);
evn_status c_body(evn_unit *unit, evn_batch *batch, void *arg) {
    while (evn_batch_next(batch) >= 0) continue;
    return unit && !arg ? EVN_OK : EVN_USAGE;
}
