/* Ends of an exchange on devices: queues and events of their own beside the unit's queue, lists of
 * copies on the device, and launches of these. */
#include "device/ops/exchange_devices.h"
#include "device/devices.h"
#include "exchange/transport.h"

extern const evn_kernel_source exchange_kernels;

const struct transport *const transports_of_devices[] = {&transport_peer, &transport_staged, NULL};

/* ---- opening ------------------------------------------------------------------------------- */

/* The way from one device to a unit's. */
static evn_status connect_unit(evn_exchange *x, int unit, evn_device *from) {
    evn_unit *to = evn_units_get(x->loop->units, unit);
    evn_status status = EVN_OK;
    for (int d = 0; !status && d < evn_unit_devices(to); d++) {
        evn_device *device = evn_unit_device(to, d);
        if (device && device != from) status = device_connect(device, from);
    }
    if (status) loop_set_failed(x->loop, unit);
    return status;
}

evn_status ends_connect(evn_exchange *x) {
    const int units = evn_units_count(x->loop->units);
    evn_status status = EVN_OK;
    for (int u = 0; u < units; u++) {
        evn_unit *unit = evn_units_get(x->loop->units, u);
        for (int d = 0; d < evn_unit_devices(unit); d++) {
            evn_device *from = evn_unit_device(unit, d);
            /* with itself: whether it is alive, or else its neighbours would seem to have failed */
            if (!status && from && (status = device_connect(from, from)))
                loop_set_failed(x->loop, u);
            for (int v = 0; !status && from && v < units; v++) status = connect_unit(x, v, from);
        }
    }
    return status;
}

evn_status end_open(struct end *e, size_t element) {
    evn_status status =
        evn_kernel_get(e->on, &exchange_kernels, copies_kernel(element), &e->kernel);
    if (!status && !e->copies) status = evn_queue_open(&e->copies, e->on);
    if (!status && !e->packed) status = evn_event_open(&e->packed, e->on);
    if (!status && !e->arrived) status = evn_event_open(&e->arrived, e->on);
    return status;
}

void end_stop(struct end *e) {
    evn_queue_close(e->copies);
    e->copies = NULL;
}

void end_close(struct end *e) {
    evn_event_close(e->packed);
    evn_event_close(e->arrived);
    evn_buffer_close(e->outbox);
    evn_buffer_close(e->inbox);
}

evn_status end_send_lists(struct end *e) {
    evn_status status = buffer_of_at_least(&e->outbox, e->on, e->out_bytes);
    if (!status) status = buffer_of_at_least(&e->inbox, e->on, e->in_bytes);
    if (!status) status = copies_send(&e->direct, e->on, e->copies);
    if (!status) status = copies_send(&e->pack, e->on, e->copies);
    if (!status) status = copies_send(&e->unpack, e->on, e->copies);
    return status ? status : evn_queue_finish(e->copies);
}

/* ---- a run --------------------------------------------------------------------------------- */

evn_status end_pack(const evn_exchange *x, struct end *e) {
    if (!e->pack.pieces) return EVN_OK;
    evn_buffer *regions = evn_place_buffer(x->place, e->space);
    evn_status status = copies_launch(&e->pack, e->compute, e->kernel, regions, e->outbox);
    if (!status) status = evn_event_record(e->packed, e->compute);
    return status ? status : evn_queue_wait(e->copies, e->packed);
}

evn_status end_copy_directly(const evn_exchange *x, struct end *e) {
    evn_buffer *regions = x->place ? evn_place_buffer(x->place, e->space) : NULL;
    return copies_launch(&e->direct, e->compute, e->kernel, regions, regions);
}

evn_status end_arrive(struct end *e) {
    return e->unpack.pieces ? evn_event_record(e->arrived, e->copies) : EVN_OK;
}

evn_status end_unpack(const evn_exchange *x, struct end *e) {
    if (!e->unpack.pieces) return EVN_OK;
    evn_status status = evn_queue_wait(e->compute, e->arrived);
    return status ? status
                  : copies_launch(&e->unpack, e->compute, e->kernel, e->inbox,
                                  evn_place_buffer(x->place, e->space));
}

/* ---- other ranks' messages ----------------------------------------------------------------- */

evn_status end_copy_out(const struct end *e, size_t at, void *to, size_t bytes) {
    return evn_copy_to_host(e->copies, to, e->outbox, at, bytes);
}

evn_status end_copy_in(const struct end *e, size_t at, const void *from, size_t bytes) {
    return evn_copy_to_device(e->copies, e->inbox, at, from, bytes);
}

evn_status end_copied_in(const struct end *e) {
    evn_status status = evn_event_record(e->arrived, e->copies);
    return status ? status : evn_event_finish(e->arrived, NULL);
}
