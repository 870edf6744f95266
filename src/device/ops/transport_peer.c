/* Transport from device to device: the receiver's queue waits until the sender has packed, and
 * copies. The sender's box stays valid meanwhile: it packs again in the next run, before which all
 * units have passed their receives. */
#include "exchange/transport.h"

static int carries(const struct end *from, const struct end *to) {
    return from->on && to->on && evn_device_reaches(from->on, to->on);
}

static evn_status nothing(struct message *m) {
    (void)m;
    return EVN_OK;
}

static void close_message(struct message *m) { (void)m; }

static evn_status receive(struct message *m) {
    evn_status status = evn_queue_wait(m->to->copies, m->from->packed);
    return status ? status
                  : evn_copy_buffer(m->to->copies, m->to->inbox, m->in_at, m->from->outbox,
                                    m->out_at, m->bytes);
}

const struct transport transport_peer = {
    "peer", carries, nothing, close_message, nothing, receive, nothing,
};
