/* Other tasks over ranks: all ranks say the same, rank 0's schedule decides. First each rank checks
 * and makes memory, also that of messages; all compare the change; origins of one born task come to
 * one rank, and stay where they were, too; then rank 0's schedule changes, which is the last that
 * can fail, and the others hear of it: origins are dropped on one of the two ranks. Tasks that were
 * decided to be on another rank travel as the next run begins, so that born ones have their data
 * before. */
#include "domain/loop_ranks.h"
#include "schedule/version.h"
#include "base/checksum.h"
#include "cluster/collective_record.h"
#include <evener/clock.h>
#include <stdlib.h>
#include <string.h>

/* ---- all say the same ---------------------------------------------------------------------- */

/* A rank's record, and the words of the call. */
struct given {
    uint64_t sum;
    int count;
};
struct call {
    const char *what, *noun;
};

static evn_status differ(const void *arg, int r, const void *theirs, const void *first) {
    const struct call *call = arg;
    const struct given *x = theirs, *y = first;
    if (x->count != y->count)
        return evn_fail(EVN_USAGE,
                        "loop: %s with %d %s on rank %d and %d on rank 0; all ranks say the same",
                        call->what, x->count, call->noun, r, y->count);
    if (x->sum != y->sum)
        return evn_fail(EVN_USAGE,
                        "loop: %s with other arrays on rank %d than on rank 0; all ranks say the "
                        "same",
                        call->what, r);
    return EVN_OK;
}

evn_status replicated_same(evn_loop *loop, const char *what, const char *noun, int count,
                           uint64_t sum, evn_status mine) {
    const struct given given = {sum, count};
    const struct call call = {what, noun};
    return cluster_meet_alike(loop->cluster, what, mine, &given, sizeof given, differ, &call);
}

/* Of a checked change; regions have numbers of their rank. */
static uint64_t checksum(const evn_change *c) {
    const size_t n = (size_t)c->tasks, links = c->links > 0 ? (size_t)c->links : 0;
    uint64_t sum = checksum_array(CHECKSUM_BEGIN, c->first, (n + 1) * sizeof *c->first);
    if (c->first && c->from)
        sum = checksum_add(sum, c->from + c->first[0],
                           (size_t)(c->first[n] - c->first[0]) * sizeof *c->from);
    sum = checksum_array(sum, c->kept, n);
    sum = checksum_array(sum, c->weight, n * sizeof *c->weight);
    sum = checksum_array(sum, c->bytes, n * sizeof *c->bytes);
    sum = checksum_array(sum, c->state, n * sizeof *c->state);
    sum = checksum_add(sum, &c->links, sizeof c->links);
    for (size_t l = 0; l < links; l++) {
        sum = checksum_add(sum, c->link[l].task, sizeof c->link[l].task);
        sum = checksum_add(sum, &c->link[l].bytes, sizeof c->link[l].bytes);
    }
    sum = checksum_add(sum, &c->instances, sizeof c->instances);
    return checksum_add(sum, &c->most, sizeof c->most);
}

/* ---- origins on one rank ------------------------------------------------------------------- */

static int rank_of(const evn_loop *loop, int unit) {
    return evn_cluster_rank_of(loop->cluster, unit);
}

/* The unit on whose rank task t is born: that which an origin of an earlier one was sent to, or
 * that of the heaviest; *tied: the first origin that was sent somewhere, -1: none. */
static evn_status find_birthplace(const evn_loop *loop, const struct origins *o, int t,
                                  const int *to, const char *sent, int *unit) {
    const evn_change *c = o->change;
    int tied = -1;
    for (int i = c->first[t]; i < c->first[t + 1]; i++) {
        const int from = c->from[i];
        if (!sent[from]) continue;
        if (tied < 0) tied = from;
        if (rank_of(loop, to[from]) != rank_of(loop, to[tied]))
            return evn_fail(EVN_USAGE,
                            "loop: tasks %d and %d of before, which task %d comes from, were sent "
                            "to ranks %d and %d for other tasks that come from them, too; tasks "
                            "that share origins in such a chain come in several changes",
                            tied, from, t, rank_of(loop, to[tied]), rank_of(loop, to[from]));
    }
    *unit = to[tied < 0 ? o->heaviest[t] : tied];
    return EVN_OK;
}

/* The owners of the tasks of before with the origins of each born one on one rank, in the order of
 * born tasks. */
static evn_status find_gathered(const evn_loop *loop, const struct origins *o, int *to,
                                char *sent) {
    const evn_change *c = o->change;
    evn_status status = EVN_OK;
    memcpy(to, loop->owner, (size_t)o->before->tasks * sizeof *to);
    for (int t = 0; !status && t < c->tasks; t++) {
        if (o->heaviest[t] < 0 || origins_kept(o, t)) continue;
        int unit = 0;
        status = find_birthplace(loop, o, t, to, sent, &unit);
        for (int i = c->first[t]; !status && i < c->first[t + 1]; i++) {
            if (rank_of(loop, to[c->from[i]]) != rank_of(loop, unit)) to[c->from[i]] = unit;
            sent[c->from[i]] = 1;
        }
    }
    return status;
}

/* ---- memory -------------------------------------------------------------------------------- */

static size_t decision_bytes(const struct origins *o) {
    return sizeof(struct decision) + (size_t)o->change->tasks * sizeof(int);
}

evn_status replicated_room_open(const evn_loop *loop, struct replicated_room *room,
                                const struct origins *o) {
    const size_t n = (size_t)o->change->tasks, m = (size_t)o->before->tasks;
    room->next = malloc(n * sizeof *room->next);
    room->done = malloc(n * sizeof *room->done);
    room->decision = malloc(sizeof *room->decision + n * sizeof *room->next);
    room->own = calloc(3 * n, sizeof *room->own);
    room->gathered = malloc(m * sizeof *room->gathered);
    char *sent = calloc(m, 1), *done = calloc(m, 1);
    evn_status status = EVN_OK;
    if (!sent || !done || !room->next || !room->done || !room->decision || !room->own ||
        !room->gathered)
        status = evn_fail(EVN_MEMORY, "loop: not enough memory for %zu tasks", n);
    if (!status) status = find_gathered(loop, o, room->gathered, sent);
    if (!status) status = cluster_reserve(loop->cluster, sizeof(struct given), decision_bytes(o));
    if (!status)
        status = evn_cluster_rank(loop->cluster) ? schedule_follow_open(&room->follow, o)
                                                 : schedule_change_check(o);
    room->moves = (struct moves){.from = loop->owner,
                                 .to = room->gathered,
                                 .tasks = status ? 0 : o->before->tasks,
                                 .done = done};
    free(sent);
    return status;
}

void replicated_room_close(struct replicated_room *room) {
    free(room->next);
    free(room->done);
    free(room->decision);
    free(room->own);
    free(room->gathered);
    free(room->moves.done);
    schedule_follow_close(&room->follow);
}

/* ---- the change ---------------------------------------------------------------------------- */

static const char change_call[] = "evn_loop_change()";

/* Rank 0's part. */
struct deciding {
    evn_loop *loop;
    struct replicated_room *room;
    const struct origins *of;
    double begin; /* of the origins' way */
};

/* The origins' way teaches what a byte of the tasks' states costs. */
static void learn_carry(const struct deciding *d) {
    const struct moves *m = &d->room->moves;
    const double state = m->across ? replicated_state(d->loop, m->from, m->to) : 0;
    if (state > 0) schedule_carried(d->loop->schedule, state, evn_now() - d->begin);
}

static evn_status decide(void *arg, const struct cluster_record *of, const void **down,
                         size_t *bytes) {
    const struct deciding *d = arg;
    (void)of;
    learn_carry(d);
    evn_status status = schedule_change(d->loop->schedule, d->of);
    if (status) return status;
    *d->room->decision = (struct decision){
        .chunk = d->loop->replicated->draws ? schedule_chunk(d->loop->schedule) : 0,
        .instance = schedule_instance(d->loop->schedule)};
    *bytes = decision_bytes(d->of);
    memcpy(d->room->decision + 1, evn_schedule_owner(d->loop->schedule),
           *bytes - sizeof *d->room->decision);
    *down = d->room->decision;
    return EVN_OK;
}

/* All ranks have changed, or none. */
static evn_status decide_together(evn_loop *loop, struct replicated_room *room,
                                  const struct origins *o, double begin, evn_status mine) {
    struct deciding deciding = {loop, room, o, begin};
    struct meeting m = {.what = change_call, .decide = decide, .arg = &deciding};
    evn_status status = cluster_meet(loop->cluster, mine, &m);
    if (status) return status;
    struct decision d;
    memcpy(&d, m.down, sizeof d);
    memcpy(room->next, (const char *)m.down + sizeof d, m.down_bytes - sizeof d);
    room->chunk = d.chunk;
    room->instance = d.instance;
    if (evn_cluster_rank(loop->cluster))
        schedule_follow(loop->schedule, &room->follow, room->next, d.chunk, d.instance);
    return EVN_OK;
}

evn_status replicated_change(evn_loop *loop, struct replicated_room *room, const struct origins *o,
                             const evn_change *c, evn_status mine) {
    struct moves *m = &room->moves;
    if (!mine) mine = move_make_room(loop, m);
    evn_status status = replicated_same(loop, change_call, "tasks", mine ? 0 : c->tasks,
                                        mine ? 0 : checksum(c), mine);
    if (!status) {
        const double begin = evn_now();
        loop->plan += m->across > 0;
        status = decide_together(loop, room, o, begin, move_copy(loop, m));
    }
    if (status)
        move_undo(loop, m);
    else
        move_end(loop, m);
    return status;
}

void replicated_take(evn_loop *loop, struct replicated_room *room) {
    struct replicated *g = loop->replicated, before = *g;
    *g = (struct replicated){.next = room->next,
                             .chunk = room->chunk,
                             .instance = room->instance,
                             .draws = before.draws,
                             .done = room->done,
                             .decision = room->decision,
                             .suffice = before.suffice,
                             .unit_s = before.unit_s,
                             .own = room->own};
    room->next = before.next;
    room->done = before.done;
    room->decision = before.decision;
    room->own = before.own;
    if (g->chunk) replicated_deal(loop, g->next);
    loop->steady = 0;
    loop->plan++;
    loop->pending = 1;
}

evn_status replicated_settle(evn_loop *loop) {
    if (!loop->pending) return EVN_OK;
    loop->pending = 0;
    return replicated_carry(loop, loop->owner, loop->replicated->next, change_call);
}
