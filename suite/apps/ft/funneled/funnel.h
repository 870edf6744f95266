/* Ranks of a node that share one device (Wang and others, "UPC + CUDA", funneled sharing; R13 to
 * R18).
 *
 * The lowest rank, the master, alone opens a device. All fields are in their owners' host memory,
 * one-sided; nothing stays on the device between passes. In a pass each member signals that its
 * input is there; the master processes it in pieces, member by member in the order of their
 * signals, two pieces of each in flight: into pinned memory, up, the kernels and down again in a
 * queue of the member's own, and back into the member's fields and outbox; then it signals that the
 * piece is done, and the member puts it while the device works for others. The master's own fields
 * are processed alike.
 *
 * In a pass along x and y a piece is a plane; along z a member's rows are FUNNEL_PIECES of them.
 *
 * Functions are called by the loop's thread unless they say otherwise. */
#pragma once

#include "ft/host/fields.h"
#include "ft/device/fields.h"

enum { FUNNEL_PIECES = 8 };

/* Transfers between the master's host and its device, of fields only, and the time of copies
 * between pinned memory and members' memory. */
struct funnel_counts {
    long long copies_in, copies_out;
    double bytes_in, bytes_out;
    double copy_s;
};

struct funnel {
    struct fields *f;
    const struct decay *decay;
    int me, master, end;       /* the members are ranks master .. end - 1 */
    evn_shared *desk;          /* signals of members and masters; NULL: nothing is funneled */
    enum place_pass pass;      /* the current pass */
    int asked;                 /* this rank has said that its input is there */
    int mine;                  /* this rank's pieces in the current pass */
    unsigned long long pieces; /* this rank's pieces before the current pass */
    struct master *lead;       /* NULL: this rank is none */
    ft_span *span;             /* what this rank has noted of the latest pass along z */
    int spans, room;
};

/* Opens it on all ranks together; collective. EVN_USAGE: units are not as FT_FUNNELED has them;
 * EVN_MISSING, EVN_MEMORY, EVN_SYSTEM, EVN_DEVICE. */
evn_status funnel_open(struct funnel *funnel, struct fields *fields, const struct decay *decay,
                       evn_units *units);
void funnel_close(struct funnel *funnel);

/* Checks that the members' fields fit into the device; allocates memory and tables for tasks in
 * these places. EVN_MEMORY, EVN_DEVICE; EVN_MISSING: a member's memory cannot be reached. */
evn_status funnel_check(const struct funnel *funnel);
evn_status funnel_deal(struct funnel *funnel);

/* The factors of the next step. */
evn_status funnel_decay(struct funnel *funnel);

/* The pass that comes next; before the loop, on all ranks. */
void funnel_begin(struct funnel *funnel, enum place_pass pass);

/* 1 if some master has no task, so that no body would serve its members; the same on all ranks. */
int funnel_has_idle(const struct funnel *funnel);

/* By the unit's leader, any number of times in a pass: asks the master for all that this rank has;
 * the master does the whole pass, and calls left(arg, task) for each task of its own when it is
 * done. */
evn_status funnel_ask(struct funnel *funnel, evn_status (*left)(void *arg, int task), void *arg);

/* Returns when a task of this rank, no master, is done, or its master has failed, which shows at
 * the end of the pass. By the unit's leader. */
evn_status funnel_wait(struct funnel *funnel, int task);

/* Notes what a rank did in a pass along z; by its leader. */
void funnel_note(struct funnel *funnel, int rank, int is_put, double begin, double end);

struct funnel_counts funnel_counts(const struct funnel *funnel);
