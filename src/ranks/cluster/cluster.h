/* A cluster as loops and exchanges use it: wire, channels, lock, control tree. A rank that waits
 * for a message holds the wire's lock: first send everything that other ranks wait for. Collective
 * records are in collective_record.h. */
#pragma once

#include "cluster/tree.h"
#include <evener/cluster.h>
#include <evener/wire.h>

/* NULL: no ranks and no wire; the functions below then do nothing. */
const evn_wire_kind *cluster_kind(const evn_cluster *cluster);
evn_wire *cluster_wire(const evn_cluster *cluster);
struct tree *cluster_tree(const evn_cluster *cluster);
/* The wire's view of this process; also without ranks. */
const evn_wire_host *cluster_host(const evn_cluster *cluster);

/* The lock of the wire's functions: one thread of this rank at a time. */
void cluster_lock(evn_cluster *cluster);
void cluster_unlock(evn_cluster *cluster);

/* tree_up() and tree_down() under the lock. Collective; without ranks they do nothing. After a
 * failure ranks are out of step: EVN_STOPPED is returned, any other ends the run. */
evn_status cluster_up(evn_cluster *cluster, struct record *mine);
evn_status cluster_down(evn_cluster *cluster, struct record *record);

/* kind->channel_open() and _close() under the lock. */
evn_status cluster_channel_open(evn_cluster *cluster, evn_channel **channel, int peer, int tag,
                                int out, size_t max);
void cluster_channel_close(evn_cluster *cluster, evn_channel *channel);

/* The kind's functions, under the lock. */
evn_status cluster_take(evn_cluster *cluster, evn_channel *channel, void **room);
evn_status cluster_send(evn_cluster *cluster, evn_channel *channel, size_t bytes);
evn_status cluster_expect(evn_cluster *cluster, evn_channel *channel);
evn_status cluster_wait(evn_cluster *cluster, evn_channel *channel, const void **data,
                        size_t *bytes);
void cluster_release(evn_cluster *cluster, evn_channel *channel);

/* evn_cluster_carry() whose receiver may discard the message: `data` NULL. */
evn_status cluster_carry(evn_cluster *cluster, int from, int to, void *data, size_t bytes);
/* Reserves memory for evn_cluster_carry() to the peer (`out`) or from it; without it a later call
 * might find none and end the run. Local. EVN_MEMORY. */
evn_status cluster_carry_reserve(evn_cluster *cluster, int peer, int out);

/* Uses of tags. */
enum cluster_use {
    CLUSTER_CONTROL,   /* the tree, and data carried from rank to rank */
    CLUSTER_MOVES,     /* migrating tasks, and states */
    CLUSTER_PARCELS,   /* parcels of evn_cluster_exchange() */
    CLUSTER_EXCHANGES, /* faces between ranks */
    CLUSTER_PROGRAM,   /* users of evn_cluster_about().ends */
    CLUSTER_USES
};

/* The next tag of a use, cyclic: take one for each plan, so that a late message of the previous
 * plan cannot be mistaken for one of this plan. All ranks ask in the same order and get the same
 * tags. */
int cluster_tag(evn_cluster *cluster, enum cluster_use use);

/* Makes progress of messages, unless another thread is in the wire. Any thread, often: without
 * ranks and over an arena it is a comparison. */
void cluster_poll(evn_cluster *cluster);

/* 1 if two ranks run on the same host (by name and boot). */
int cluster_same_host(const evn_cluster *cluster, int rank, int other);

/* Prints evn_message() with this rank and its host and ends all ranks: they can no longer agree. */
_Noreturn void cluster_abort(evn_cluster *cluster);
