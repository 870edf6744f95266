/* Transport through pinned host memory: between a device and the host, and between devices without
 * peer access. */
#include "exchange/transport.h"

static int carries(const struct end *from, const struct end *to) { return from->on || to->on; }

static evn_status open_message(struct message *m) {
    void *memory = NULL;
    m->host_of = m->from->on ? m->from->on : m->to->on;
    evn_status status = evn_host_memory_open(&memory, m->host_of, m->bytes);
    m->host = memory;
    if (!status && m->from->on) status = evn_event_open(&m->ready, m->from->on);
    return status;
}

static void close_message(struct message *m) {
    evn_host_memory_close(m->host, m->host_of);
    evn_event_close(m->ready);
}

static evn_status send(struct message *m) {
    const struct end *from = m->from;
    if (!from->on) return EVN_OK; /* the sending unit's cores have packed it in the host's memory */
    evn_status status = evn_copy_to_host(from->copies, m->host, from->outbox, m->out_at, m->bytes);
    return status ? status : evn_event_record(m->ready, from->copies);
}

static evn_status wait_for_sender(struct message *m) {
    return m->from->on ? evn_event_finish(m->ready, NULL) : EVN_OK;
}

static evn_status receive(struct message *m) {
    const struct end *to = m->to;
    if (!to->on) return EVN_OK;
    evn_status status = wait_for_sender(m);
    return status ? status : evn_copy_to_device(to->copies, to->inbox, m->in_at, m->host, m->bytes);
}

static evn_status wait_for(struct message *m) { return m->to->on ? EVN_OK : wait_for_sender(m); }

const struct transport transport_staged = {
    "staged", carries, open_message, close_message, send, receive, wait_for,
};
