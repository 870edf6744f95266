/* Functions of ranks that loops call: a table that the opener of a loop over ranks gives it
 * (loop_ranks.c), so that programs without ranks have no code of them. Their promises are in
 * loop_ranks.h. */
#pragma once

#include "loop/internal.h"
#include "schedule/origins.h"
#include <stdint.h>

struct remote_ops;

/* Tasks that go to other ranks, all or none; owners before and afterwards. */
struct moves {
    const int *from, *to;
    int tasks;
    char *done;   /* of each task, 0 at first: this rank's part so far */
    int across;   /* tasks that go, of all ranks */
    double bytes; /* sent by this rank */
};

/* A change of tasks (change_ranks.c). Memory for decisions about other tasks, and where the origins
 * of born tasks go first. */
struct replicated_room {
    int *next;
    struct done *done;
    struct decision *decision;
    double *own;
    int *gathered; /* owner of each task of before */
    struct moves moves;
    int chunk, instance;
    struct schedule_follow follow; /* not on rank 0 */
};

struct rank_ops {
    void (*poll)(evn_cluster *cluster);               /* messages come on */
    evn_status (*failed)(const evn_cluster *cluster); /* of this rank, since the last agreement */
    void (*fail)(evn_cluster *cluster, evn_status status);
    evn_status (*settle)(evn_loop *loop);
    evn_status (*learn)(evn_loop *loop, evn_status mine);
    evn_status (*weigh)(evn_loop *loop, const double *weight);
    evn_status (*agree)(evn_loop *loop, const char *what, evn_status mine);
    evn_status (*same)(evn_loop *loop, const char *what, const char *noun, int count, uint64_t sum,
                       evn_status mine);
    evn_status (*room_open)(const evn_loop *loop, struct replicated_room *room,
                            const struct origins *o);
    void (*room_close)(struct replicated_room *room);
    evn_status (*change)(evn_loop *loop, struct replicated_room *room, const struct origins *o,
                         const evn_change *c, evn_status mine);
    void (*take)(evn_loop *loop, struct replicated_room *room);
    void (*close)(evn_loop *loop);
    const struct remote_ops *remote; /* of exchanges (exchange/remote_ops.h) */
};
