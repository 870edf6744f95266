/* What loops and exchanges ask of a cluster: its wire, mail, the lock, the control tree.
 *
 * Who waits for mail keeps all others of this rank from the wire: everything that another rank
 * waits for is sent before. Meetings are in wire/meet.h. */
#ifndef WIRE_CLUSTER_H
#define WIRE_CLUSTER_H

#include "wire/tree.h"
#include <evener/cluster.h>
#include <evener/wire.h>

/* NULL: alone, there is no wire and nothing below does anything. */
const evn_wire_kind *cluster_kind(const evn_cluster *cluster);
evn_wire *cluster_wire(const evn_cluster *cluster);
struct tree *cluster_tree(const evn_cluster *cluster);
/* What the wire knows of this process; alone, too. */
const evn_wire_host *cluster_host(const evn_cluster *cluster);

/* One thread of this rank at a time calls functions of the wire. */
void cluster_lock(evn_cluster *cluster);
void cluster_unlock(evn_cluster *cluster);

/* tree_up() and tree_down() under the lock. Collective; alone nothing happens. When they fail the
 * ranks do not agree any more: EVN_STOPPED comes back, everything else ends the run. */
evn_status cluster_up(evn_cluster *cluster, struct record *mine);
evn_status cluster_down(evn_cluster *cluster, struct record *record);

/* kind->mail_open() and _close() under the lock. */
evn_status cluster_mail_open(evn_cluster *cluster, evn_mail **mail, int peer, int tag, int out,
                             size_t max);
void cluster_mail_close(evn_cluster *cluster, evn_mail *mail);

/* One function of the kind, under the lock. */
evn_status cluster_take(evn_cluster *cluster, evn_mail *mail, void **room);
evn_status cluster_send(evn_cluster *cluster, evn_mail *mail, size_t bytes);
evn_status cluster_expect(evn_cluster *cluster, evn_mail *mail);
evn_status cluster_wait(evn_cluster *cluster, evn_mail *mail, const void **data, size_t *bytes);
void cluster_release(evn_cluster *cluster, evn_mail *mail);

/* evn_cluster_carry(), where a receiver may have no use for what comes: `data` NULL lets it
 * through.
 */
evn_status cluster_carry(evn_cluster *cluster, int from, int to, void *data, size_t bytes);

/* Who has which tags. */
enum cluster_use {
    CLUSTER_CONTROL,   /* the tree, and what is carried from rank to rank */
    CLUSTER_MOVES,     /* what goes from one rank to another: tasks that change theirs, states */
    CLUSTER_PARCELS,   /* evn_cluster_exchange() */
    CLUSTER_EXCHANGES, /* faces between ranks */
    CLUSTER_PROGRAM,   /* evn_cluster_wire_of()'s callers */
    CLUSTER_USES
};

/* A tag of the use's range, another one each time until all were given: take one for each plan, so
 * that a message of the plan before is never taken for one of this. Every rank asks in the same
 * order and has the same. */
int cluster_tag(evn_cluster *cluster, enum cluster_use use);

/* Lets messages come on, if no other thread is at the wire. From any thread, often: alone and over
 * an arena it is a comparison. */
void cluster_poll(evn_cluster *cluster);

/* Whether two ranks run on the same host (by its name and boot). */
int cluster_same_host(const evn_cluster *cluster, int rank, int other);

/* Says evn_message() with this rank and its host and ends all ranks: agreement is impossible. */
_Noreturn void cluster_abort(evn_cluster *cluster);

#endif
