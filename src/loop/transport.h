/* Transports: the ways from one end of an exchange to another.
 *
 * The exchange asks them in the order of their list (transport.c) and takes the first one that
 * carries. A transport is one file and one line in that list. Rooms of ends on devices are there
 * when a message is opened: from->outbox from byte out_at on, to->inbox from in_at on; where an end
 * is on the host, the transport gives the room, m->host.
 *
 * In a run the leader of the sending unit calls send() once it has packed; all units wait for each
 * other; then the leader of the receiving one calls receive() and wait(). Between the last two it
 * may compute. A message that was not sent, since its sender has failed, is not received.
 */
#ifndef LOOP_TRANSPORT_H
#define LOOP_TRANSPORT_H

#include "loop/exchange_plan.h"

struct transport {
    const char *name;
    int (*carries)(const struct end *from, const struct end *to);
    /* All others are NULL where the receiving end itself can copy from the sender's memory: then
     * there are no messages. */
    evn_status (*open)(struct message *m); /* memory on the host, events */
    void (*close)(struct message *m);      /* nothing is under way */
    /* The message is packed: on a device, once from->copies comes here; on the host, now. */
    evn_status (*send)(struct message *m);
    /* Lets it come into its room: on a device in the order of to->copies. */
    evn_status (*receive)(struct message *m);
    /* Returns once it is there; where to->copies orders that, at once. */
    evn_status (*wait)(struct message *m);
};

extern const struct transport transport_same, transport_peer, transport_staged;

/* The first that carries; NULL: none does. */
const struct transport *transport_between(const struct end *from, const struct end *to);

#endif
