/* The blocks that one device computes: its rank's own, and with --variant funneled those of all
 * ranks of its node, whose master its rank is (Wang and others, "UPC + CUDA": funneled sharing of a
 * device).
 *
 * Each block has a queue and a thread that fills it, so that blocks wait for nobody but their
 * neighbours: while one is in the network, others compute, and operators of several blocks on
 * coarse levels are in flight together. A face goes to a block of the same device by a kernel, from
 * field to field, when the neighbour's queue has come to it; to others it is packed, copied to
 * pinned memory and put, with a signal: by the rank itself, or by the rank whose block it is
 * (mg/blocks/block_member.h), which is told that faces are to go out and tells that others have
 * come. */
#pragma once

#include "mg/blocks/block_device.h"
#include "mg/blocks/faces.h"
#include "mg/mg.h"
#include <pthread.h>

struct team_block {
    struct device_block is; /* the first member */
    struct block_team *team;
    int rank, led;  /* led: another rank puts its faces */
    int near[3][2]; /* the neighbour's number in the team; -1: it is not there */
    unsigned long long exchanges, heard;
    unsigned long long passed[3]; /* exchanges whose phases its queue has been given */
    evn_event *reached[3][2], *packed;
    double *out, *in; /* faces in pinned memory */
    mg_block_counts counts;
    uint64_t word; /* the requested options */
    evn_status status;
    char text[400];
    pthread_t thread;
    int runs;
};

struct block_team {
    struct faces *faces;
    evn_device *device;
    evn_buffer *all;
    const struct charges *charges;
    int count, overlap;
    struct team_block *block; /* the rank's own first */
    pthread_mutex_t lock;     /* protects `passed` and the members below */
    pthread_cond_t moved, begin, end;
    evn_status (*job)(struct team_block *block);
    unsigned long long jobs;
    int working, stop, leave;
};

/* Blocks of `count` ranks, this one's first, on a device, of n points a side among `ranks`.
 * EVN_MEMORY: it has no room for them (says how much it takes); EVN_DEVICE, EVN_SYSTEM,
 * EVN_MISSING: a rank's memory cannot be reached. */
evn_status block_team_open(struct block_team *team, evn_device *device, struct faces *faces,
                           const int *rank, int count, int n, int ranks, char smoother);
void block_team_close(struct block_team *team);

/* The functions of mg/blocks/blocks.h for all blocks of the team; ranks get what they are told of
 * their own block by block_member_..() meanwhile. */
evn_status block_team_start(struct block_team *team, const struct charges *charges);
evn_status block_team_residual(struct block_team *team);
evn_status block_team_cycle(struct block_team *team);
evn_status block_team_squares(struct block_team *team, double *sum);
evn_status block_team_hash(struct block_team *team, uint64_t *hash);

mg_block_counts block_team_count(const struct block_team *team);
