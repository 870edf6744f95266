/* From device to device directly: the receiver's queue waits for the sender's and copies. */
#include "loop/transport.h"

static int carries(const struct end *from, const struct end *to) {
    return from->on && to->on && evn_device_reaches(from->on, to->on);
}

static evn_status open_message(struct message *m) { return evn_event_open(&m->ready, m->from->on); }

static void close_message(struct message *m) { evn_event_close(m->ready); }

static evn_status send(struct message *m) { return evn_event_record(m->ready, m->from->copies); }

static evn_status receive(struct message *m) {
    evn_status status = evn_queue_wait(m->to->copies, m->ready);
    return status ? status
                  : evn_copy_peer(m->to->copies, m->to->inbox, m->in_at, m->from->on,
                                  m->from->outbox, m->out_at, m->bytes);
}

static evn_status wait_for(struct message *m) {
    (void)m;
    return EVN_OK;
}

const struct transport transport_peer = {
    "peer", carries, open_message, close_message, send, receive, wait_for,
};
