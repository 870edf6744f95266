/* Transports: methods to move a message from one end of an exchange to another.
 *
 * The exchange tries them in the order of their list (transport.c) and takes the first that can
 * carry. A transport is one file and one line in that list. Boxes of ends on devices exist when a
 * message is opened: from->outbox from byte out_at on, to->inbox from in_at on; if an end is on the
 * host, the transport provides the memory, m->host.
 *
 * In a run the leader of the sending unit calls send() after packing; all units synchronise; then
 * the leader of the receiving unit calls receive() and wait(), and may compute between the two. A
 * message that was not sent, since its sender has failed, is not received. */
#pragma once

#include "exchange/plan.h"

struct transport {
    const char *name;
    int (*carries)(const struct end *from, const struct end *to);
    /* The functions below are NULL if the receiving end can copy from the sender's memory: no
     * messages then. */
    evn_status (*open)(struct message *m); /* opens a message: memory on the host, events */
    void (*close)(struct message *m);      /* nothing is under way */
    /* Called when the message is packed: on a device, once from->copies comes here; on the host,
     * now. */
    evn_status (*send)(struct message *m);
    /* Starts the transfer into the target: on a device in the order of to->copies. */
    evn_status (*receive)(struct message *m);
    /* Returns once the message is there; at once if to->copies orders that. */
    evn_status (*wait)(struct message *m);
};

extern const struct transport transport_same, transport_peer, transport_staged;

/* The first transport that can carry between the two ends; NULL: none. */
const struct transport *transport_between(const struct end *from, const struct end *to);
