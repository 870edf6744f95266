/* What an exchange asks of ranks. */
#pragma once

#include <evener/program.h>

struct evn_exchange;
struct end;

/* Functions of ranks that an exchange calls: a table, which a loop over ranks has (rank_ops.h).
 * Those of a run are called where there are neighbours, but for begin() and what begin_and_run()
 * says. */
struct remote_ops {
    /* Makes x->remote. EVN_MEMORY. */
    evn_status (*open)(struct evn_exchange *x);
    void (*close)(struct evn_exchange *x);
    /* Opens channels to the neighbours of the present assignment. A failure cannot be reported to
     * the other ranks and ends the run. */
    void (*find)(struct evn_exchange *x);
    /* Adds the faces to the packing and unpacking lists of local ends. -1: no memory. */
    int (*deal)(struct evn_exchange *x);
    /* Begins the next run, on all ranks. */
    void (*next)(struct evn_exchange *x);
    /* In a run: gets the send buffers; copies packed data from an end on a device, and returns when
     * they are there. */
    evn_status (*begin)(struct evn_exchange *x);
    evn_status (*pack)(struct evn_exchange *x, struct end *e);
    /* A unit has packed, or has failed; the last one sends all messages. is_sent(): 1 once they are
     * sent. */
    void (*packed)(struct evn_exchange *x, evn_status status);
    int (*is_sent)(const struct evn_exchange *x);
    /* Reports a failure outside of a run: this rank's messages carry only its status. */
    void (*send_failure)(struct evn_exchange *x, evn_status failed);
    /* Waits for the messages that an end unpacks and copies them to its device; releases them after
     * unpacking. */
    evn_status (*receive)(struct evn_exchange *x, struct end *e);
    void (*release)(struct evn_exchange *x, struct end *e);
    /* Receives messages that no end has received, since its unit had no tasks or failed. */
    void (*settle)(struct evn_exchange *x);
};
