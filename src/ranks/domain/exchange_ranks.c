/* Exchange between ranks: one message for each ordered pair of neighbouring ranks, whatever the
 * number of units and tasks.
 *
 * Faces and owners are known to every rank, so both ends of a pair make the same list of crossing
 * faces, ordered by the units that have the tasks in the next instance and by the face's number.
 * Values lie in the message in that order. Each unit packs its faces into the message (a device by
 * its outbox). The last unit to pack sends, before any unit waits; a waiting unit holds the wire's
 * lock. At the other end the first unit that needs the message receives it, and each unit unpacks
 * its own faces.
 *
 * A rank's failure, of which its messages tell its neighbours, is reported at the end of the next
 * instance. */
#include "domain/exchange_ranks.h"
#include "exchange/plan.h"
#include "domain/loop_ranks.h"
#include "unit/device_ops.h"
#include "cluster/cluster.h"
#include <stdlib.h>

/* ---- neighbours ---------------------------------------------------------------------------- */

/* Faces between this rank and others, and their messages. The units are those of the next instance
 * by rank 0; which unit has drawn a task is known to its rank alone. */
struct crossing {
    int face, from, to;
    int rank; /* the other one */
    int out;
};

static int by_message(const void *a, const void *b) {
    const struct crossing *x = a, *y = b;
    if (x->rank != y->rank) return x->rank - y->rank;
    if (x->out != y->out) return x->out - y->out;
    if (x->from != y->from) return x->from - y->from;
    if (x->to != y->to) return x->to - y->to;
    return x->face - y->face;
}

/* Marks the faces that cross: those of parts whose owner is another one than when they were marked,
 * or that have got new faces; or all. */
static void mark_crossings(evn_exchange *x) {
    const int *owner = x->loop->owner, all = !x->remote_marked;
    for (int i = 0; all && i < x->faces; i++)
        if (exchange_crosses(x, &x->face[i])) marks_set(x->carried, i);
    for (int i = 0; i < x->parts; i++) {
        struct part *p = &x->part[i];
        const int same = all || (p->marked == owner[p->task] && !(p->stale & UNDEALT));
        p->marked = owner[p->task];
        for (int at = same ? -1 : p->first; at >= 0; at = x->entry[at / 2].next[at % 2])
            if (exchange_crosses(x, &x->face[at / 2])) marks_set(x->carried, at / 2);
    }
    x->remote_marked = 1;
}

/* The next face, from index i on, that crosses. */
static int next_crossing(const evn_exchange *x, int i) {
    for (i = marks_next(x->carried, i, x->faces); i < x->faces;
         i = marks_next(x->carried, i + 1, x->faces))
        if (exchange_crosses(x, &x->face[i])) break;
    return i;
}

static int count_crossings(const evn_exchange *x) {
    int count = 0;
    for (int i = next_crossing(x, 0); i < x->faces; i = next_crossing(x, i + 1)) count++;
    return count;
}

/* The faces that cross, in the order of messages. */
static void find_crossings(evn_exchange *x, struct crossing *crossing) {
    const evn_loop *loop = x->loop;
    const int *next = loop_next(loop);
    int count = 0;
    for (int i = next_crossing(x, 0); i < x->faces; i = next_crossing(x, i + 1)) {
        const struct face *f = &x->face[i];
        const int from_task = exchange_task(x, f, 0), to_task = exchange_task(x, f, 1);
        const int sends = !exchange_is_remote(x, &x->part[f->from]);
        const int other =
            evn_cluster_rank_of(loop->cluster, loop->owner[sends ? to_task : from_task]);
        crossing[count++] = (struct crossing){
            .face = i, .from = next[from_task], .to = next[to_task], .rank = other, .out = sends};
    }
    qsort(crossing, (size_t)count, sizeof *crossing, by_message);
}

/* Neighbours, and where each face lies in its message. */
static evn_status lay_out(evn_exchange *x, int faces) {
    struct remote *m = x->remote;
    struct crossing *crossing = malloc(((size_t)faces + 1) * sizeof *crossing);
    if (!crossing) return evn_fail(EVN_MEMORY, "exchange: no memory for the faces between ranks");
    find_crossings(x, crossing);
    for (int i = 0; i < faces; i++) neighbours_note(&m->neighbours, crossing[i].rank);
    const evn_status status = neighbours_list(&m->neighbours);
    for (int i = 0; !status && i < faces; i++) {
        const struct crossing *c = &crossing[i];
        struct neighbour *w = neighbours_find(&m->neighbours, c->rank);
        size_t *bytes = c->out ? &w->out_bytes : &w->in_bytes;
        m->face[i] = c->face;
        m->at[i] = *bytes;
        *bytes += exchange_face_bytes(x, &x->face[c->face].of);
    }
    free(crossing);
    return status;
}

static evn_status find_neighbours(evn_exchange *x) {
    struct remote *m = x->remote;
    mark_crossings(x);
    m->faces = count_crossings(x);
    const size_t n = (size_t)m->faces + 1;
    m->face = malloc(n * sizeof *m->face);
    m->at = malloc(n * sizeof *m->at);
    if (!m->face || !m->at)
        return evn_fail(EVN_MEMORY, "exchange: no memory for the faces between ranks");
    evn_status status = neighbours_open(&m->neighbours, x->loop->cluster, "exchange");
    if (!status) status = lay_out(x, m->faces);
    return status ? status : neighbours_connect(&m->neighbours);
}

static void remote_find(evn_exchange *x) {
    struct remote *m = x->remote;
    if (x->remote_plan == x->loop->plan) return;
    neighbours_close(&m->neighbours);
    free(m->face);
    free(m->at);
    x->plan.made = 0;
    if (find_neighbours(x)) cluster_abort(x->loop->cluster);
    x->remote_plan = x->loop->plan;
    x->remotes = m->neighbours.count;
}

/* ---- lists --------------------------------------------------------------------------------- */

/* Bytes of a message that lie in a box, too; they go on where the last ones ended if they can. */
static int add_stretch(struct stretches *list, struct neighbour *neighbour, int end, size_t room,
                       size_t box, size_t bytes) {
    struct stretch *last = list->count ? &list->stretch[list->count - 1] : NULL;
    if (last && last->neighbour == neighbour && last->end == end &&
        last->room + last->bytes == room && last->box + last->bytes == box) {
        last->bytes += bytes;
        return 0;
    }
    struct stretch *more = array_grow(list->stretch, list->count, &list->room, sizeof *more);
    if (!more) return -1;
    list->stretch = more;
    list->stretch[list->count++] = (struct stretch){neighbour, end, room, box, bytes};
    return 0;
}

static int deal_face(evn_exchange *x, int i) {
    struct remote *m = x->remote;
    const struct face *face = &x->face[m->face[i]];
    const evn_face *f = &face->of;
    const int out = loop_own(x->loop, x->loop->owner[exchange_task(x, face, 0)]) >= 0;
    const struct part *mine = &x->part[out ? face->from : face->to];
    struct end *e = &x->plan.end[mine->end];
    const int other = x->loop->owner[exchange_task(x, face, out)];
    struct neighbour *w =
        neighbours_find(&m->neighbours, evn_cluster_rank_of(x->loop->cluster, other));
    const size_t bytes = exchange_face_bytes(x, f);
    size_t *box = out ? &e->out_bytes : &e->in_bytes;
    const struct side there = e->on ? exchange_message_side(x, f, NULL, *box)
                                    : exchange_message_side(x, f, out ? &w->out : &w->in, m->at[i]);
    const struct side here = out ? exchange_part_side(x, mine, f->from_at, f->from_stride)
                                 : exchange_part_side(x, mine, f->to_at, f->to_stride);
    int failed =
        exchange_add(x, e, out ? &e->pack : &e->unpack, exchange_shape(f, out ? PACKED : UNPACKED),
                     out ? &here : &there, out ? &there : &here);
    if (e->on && !failed)
        failed = add_stretch(out ? &m->out : &m->in, w, mine->end, m->at[i], *box, bytes);
    if (e->on) *box += bytes;
    if (!out && !(e->remote_in[w - m->neighbours.of]++)) w->readers++;
    if (!out) x->plan.needs[mine->task] = 1;
    return failed;
}

static int remote_deal(evn_exchange *x) {
    struct remote *m = x->remote;
    const struct neighbours *n = &m->neighbours;
    int failed = 0;
    m->out.count = m->in.count = 0;
    for (int i = 0; i < n->count; i++) n->of[i].readers = 0;
    for (int i = 0; !failed && i < x->plan.ends; i++) {
        struct end *e = &x->plan.end[i];
        free(e->remote_in);
        e->remote_in = calloc((size_t)n->count + 1, sizeof *e->remote_in);
        failed = !e->remote_in;
    }
    for (int i = 0; !failed && i < m->faces; i++) failed = deal_face(x, i);
    return failed;
}

/* ---- a run --------------------------------------------------------------------------------- */

static void remote_next(evn_exchange *x) {
    neighbours_next(&x->remote->neighbours);
    atomic_store(&x->remote->packing, x->loop->count);
    atomic_store(&x->remote->failed, EVN_OK);
}

static evn_status remote_begin(evn_exchange *x) { return neighbours_begin(&x->remote->neighbours); }

static evn_status remote_pack(evn_exchange *x, struct end *e) {
    evn_status status = EVN_OK;
    int any = 0;
    for (int i = 0; e->on && !status && i < x->remote->out.count; i++) {
        const struct stretch *s = &x->remote->out.stretch[i];
        if (&x->plan.end[s->end] != e) continue;
        status = device_ops.copy_out(e, s->box, s->neighbour->out + s->room, s->bytes);
        any = 1;
    }
    return status || !any ? status : device_ops.finish(e->copies);
}

static void send_all(evn_exchange *x, evn_status failed) {
    struct neighbours *n = &x->remote->neighbours;
    if (neighbours_send(n, failed)) cluster_abort(x->loop->cluster);
    for (int i = 0; i < n->count; i++)
        if (n->of[i].out_bytes) loop_add_sent(x->loop, failed ? 0 : (double)n->of[i].out_bytes);
}

static void remote_packed(evn_exchange *x, evn_status status) {
    if (status) atomic_store(&x->remote->failed, (int)status);
    if (atomic_fetch_sub(&x->remote->packing, 1) == 1)
        send_all(x, (evn_status)atomic_load(&x->remote->failed));
}

static int remote_is_sent(const evn_exchange *x) { return atomic_load(&x->remote->packing) <= 0; }

static void remote_send_failure(evn_exchange *x, evn_status failed) {
    remote_begin(x);
    send_all(x, failed);
}

static evn_status remote_receive(evn_exchange *x, struct end *e) {
    const struct neighbours *n = &x->remote->neighbours;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < n->count; i++)
        if (e->remote_in[i]) status = neighbour_receive(n, &n->of[i]);
    if (status || !e->on) return status;
    int any = 0;
    for (int i = 0; !status && i < x->remote->in.count; i++) {
        const struct stretch *s = &x->remote->in.stretch[i];
        if (&x->plan.end[s->end] != e) continue;
        status = device_ops.copy_in(e, s->box, s->neighbour->in + s->room, s->bytes);
        any = 1;
    }
    /* the message's room is the wire's again after this */
    return status || !any ? status : device_ops.copied_in(e);
}

static void remote_release(evn_exchange *x, struct end *e) {
    const struct neighbours *n = &x->remote->neighbours;
    for (int i = 0; i < n->count; i++)
        if (e->remote_in[i]) neighbour_release(n, &n->of[i]);
}

static void remote_settle(evn_exchange *x) { neighbours_settle(&x->remote->neighbours); }

static evn_status remote_open(evn_exchange *x) {
    x->remote = calloc(1, sizeof *x->remote);
    return x->remote ? EVN_OK : evn_fail(EVN_MEMORY, "exchange: not enough memory");
}

static void remote_close(evn_exchange *x) {
    struct remote *m = x->remote;
    if (!m) return;
    neighbours_close(&m->neighbours);
    free(m->face);
    free(m->at);
    free(m->out.stretch);
    free(m->in.stretch);
    free(m);
    x->remote = NULL;
}

const struct remote_ops remote_ops = {
    .open = remote_open,
    .close = remote_close,
    .find = remote_find,
    .deal = remote_deal,
    .next = remote_next,
    .begin = remote_begin,
    .pack = remote_pack,
    .packed = remote_packed,
    .is_sent = remote_is_sent,
    .send_failure = remote_send_failure,
    .receive = remote_receive,
    .release = remote_release,
    .settle = remote_settle,
};
