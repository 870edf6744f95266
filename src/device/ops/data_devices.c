/* The space of a device. */
#include "device/ops/data_devices.h"
#include "data/internal.h"

evn_status space_open(struct space *s) {
    s->traits = evn_device_traits(s->device);
    return evn_queue_open(&s->queue, s->device);
}

void space_close(struct space *s) {
    evn_buffer_close(s->buffer);
    evn_queue_close(s->queue);
}

evn_status space_copy(const struct space *from, size_t from_at, const struct space *to,
                      size_t to_at, void *host, size_t bytes) {
    if (!from->device) return evn_copy_to_device(to->queue, to->buffer, to_at, host, bytes);
    if (!to->device) return evn_copy_to_host(from->queue, host, from->buffer, from_at, bytes);
    return evn_copy_buffer(to->queue, to->buffer, to_at, from->buffer, from_at, bytes);
}
