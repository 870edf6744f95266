/* Messages of an exchange between ranks. */
#include "exchange/ranks.h"
#include "exchange/plan.h"
#include "loop/loop_ranks.h"
#include "cluster/cluster.h"
#include "cluster/log.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stands before the values of a message. A rank that gets a message of another assignment, or of
 * another step, must not take it for the one it waits for. */
struct header {
    long long run, bytes;
    int plan, status;
    char room[40]; /* values begin at a line of the cache */
};
_Static_assert(sizeof(struct header) == 64, "values begin at a line of the cache");

void far_open(evn_exchange *x) {
    if (!x->loop->cluster) return;
    x->far.plan = -1;
}

/* ---- ways ---------------------------------------------------------------------------------- */

static void close_ways(evn_cluster *cluster, struct far *far) {
    for (int i = 0; i < far->ways; i++) {
        cluster_mail_close(cluster, far->way[i].out);
        cluster_mail_close(cluster, far->way[i].in);
        pthread_mutex_destroy(&far->way[i].lock);
    }
    free(far->way);
    far->way = NULL;
    far->ways = 0;
}

void far_close(evn_exchange *x) {
    struct far *far = &x->far;
    if (!x->loop->cluster) return;
    far_settle(x);
    close_ways(x->loop->cluster, far);
    free(far->face);
    free(far->at);
    free(far->out.stretch);
    free(far->in.stretch);
    *far = (struct far){.plan = -1};
}

/* Faces between this rank and others, and their messages. The units are those of the next instance
 * by rank 0; which unit has drawn a task is known to its rank alone. */
struct crossing {
    int face, from, to;
    int way;
    int out;
};

static int by_message(const void *a, const void *b) {
    const struct crossing *x = a, *y = b;
    if (x->way != y->way) return x->way - y->way;
    if (x->out != y->out) return x->out - y->out;
    if (x->from != y->from) return x->from - y->from;
    if (x->to != y->to) return x->to - y->to;
    return x->face - y->face;
}

/* The way to a rank; made if there is none, with room for as many as there are ranks. */
static int find_way(struct far *far, int rank) {
    for (int i = 0; i < far->ways; i++)
        if (far->way[i].rank == rank) return i;
    far->way[far->ways] = (struct way){.rank = rank};
    pthread_mutex_init(&far->way[far->ways].lock, NULL);
    return far->ways++;
}

/* Marks the faces that cross: those of parts whose owner is another one than when they were marked,
 * or that have got new faces; or all. */
static void mark_crossings(evn_exchange *x) {
    const int *owner = x->loop->owner, all = !x->far.marked;
    for (int i = 0; all && i < x->faces; i++)
        if (exchange_crosses(x, &x->face[i])) marks_set(x->carried, i);
    for (int i = 0; i < x->parts; i++) {
        struct part *p = &x->part[i];
        const int same = all || (p->marked == owner[p->task] && !(p->stale & UNDEALT));
        p->marked = owner[p->task];
        for (int at = same ? -1 : p->first; at >= 0; at = x->entry[at / 2].next[at % 2])
            if (exchange_crosses(x, &x->face[at / 2])) marks_set(x->carried, at / 2);
    }
    x->far.marked = 1;
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
        const int sends = !exchange_far(x, &x->part[f->from]);
        const int other =
            evn_cluster_rank_of(loop->cluster, loop->owner[sends ? to_task : from_task]);
        crossing[count++] = (struct crossing){.face = i,
                                              .from = next[from_task],
                                              .to = next[to_task],
                                              .way = find_way(&x->far, other),
                                              .out = sends};
    }
    qsort(crossing, (size_t)count, sizeof *crossing, by_message);
}

static int open_mail(evn_exchange *x, struct way *w, int tag) {
    evn_cluster *cluster = x->loop->cluster;
    const size_t header = sizeof(struct header);
    evn_status status = EVN_OK;
    if (w->out_bytes)
        status = cluster_mail_open(cluster, &w->out, w->rank, tag, 1, header + w->out_bytes);
    if (!status && w->in_bytes)
        status = cluster_mail_open(cluster, &w->in, w->rank, tag, 0, header + w->in_bytes);
    return status != EVN_OK;
}

static int find_ways(evn_exchange *x) {
    struct far *far = &x->far;
    mark_crossings(x);
    const int faces = count_crossings(x);
    const size_t n = (size_t)faces + 1;
    far->way = calloc((size_t)evn_cluster_size(x->loop->cluster), sizeof *far->way);
    far->face = malloc(n * sizeof *far->face);
    far->at = malloc(n * sizeof *far->at);
    struct crossing *crossing = malloc(n * sizeof *crossing);
    int failed = !far->way || !far->face || !far->at || !crossing;
    if (failed) evn_fail(EVN_MEMORY, "exchange: no memory for the faces between ranks");
    far->faces = failed ? 0 : faces;
    if (!failed) find_crossings(x, crossing);
    for (int i = 0; i < far->faces; i++) {
        const struct crossing *c = &crossing[i];
        struct way *w = &far->way[c->way];
        size_t *bytes = c->out ? &w->out_bytes : &w->in_bytes;
        far->face[i] = c->face;
        far->at[i] = *bytes;
        *bytes += exchange_face_bytes(x, &x->face[c->face].of);
    }
    free(crossing);
    /* another one for each plan: mail of the old size must not be taken for mail of the new one */
    far->tag = cluster_tag(x->loop->cluster, CLUSTER_EXCHANGES);
    for (int i = 0; !failed && i < far->ways; i++) failed = open_mail(x, &far->way[i], far->tag);
    return failed;
}

void far_find(evn_exchange *x) {
    struct far *far = &x->far;
    if (far->plan == x->loop->plan) return;
    far_settle(x);
    close_ways(x->loop->cluster, far);
    free(far->face);
    free(far->at);
    far->face = NULL;
    far->at = NULL;
    x->plan.made = 0;
    if (find_ways(x)) cluster_abort(x->loop->cluster);
    far->plan = x->loop->plan;
}

/* ---- lists --------------------------------------------------------------------------------- */

/* Bytes of a message that lie in a box, too; they go on where the last ones ended if they can. */
static int add_stretch(struct stretches *list, struct way *way, int end, size_t room, size_t box,
                       size_t bytes) {
    struct stretch *last = list->count ? &list->stretch[list->count - 1] : NULL;
    if (last && last->way == way && last->end == end && last->room + last->bytes == room &&
        last->box + last->bytes == box) {
        last->bytes += bytes;
        return 0;
    }
    struct stretch *more = array_grow(list->stretch, list->count, &list->room, sizeof *more);
    if (!more) return -1;
    list->stretch = more;
    list->stretch[list->count++] = (struct stretch){way, end, room, box, bytes};
    return 0;
}

static int deal_face(evn_exchange *x, int i) {
    struct far *far = &x->far;
    const struct face *face = &x->face[far->face[i]];
    const evn_face *f = &face->of;
    const int out = loop_own(x->loop, x->loop->owner[exchange_task(x, face, 0)]) >= 0;
    const struct part *mine = &x->part[out ? face->from : face->to];
    struct end *e = &x->plan.end[mine->end];
    const int other = x->loop->owner[exchange_task(x, face, out)];
    struct way *w = &far->way[find_way(far, evn_cluster_rank_of(x->loop->cluster, other))];
    const size_t bytes = exchange_face_bytes(x, f);
    size_t *box = out ? &e->out_bytes : &e->in_bytes;
    const struct side there =
        e->on ? exchange_message_side(x, f, NULL, *box)
              : exchange_message_side(x, f, out ? &w->out_room : &w->in_room, far->at[i]);
    const struct side here = out ? exchange_part_side(x, mine, f->from_at, f->from_stride)
                                 : exchange_part_side(x, mine, f->to_at, f->to_stride);
    int failed =
        exchange_add(x, e, out ? &e->pack : &e->unpack, exchange_shape(f, out ? PACKED : UNPACKED),
                     out ? &here : &there, out ? &there : &here);
    if (e->on && !failed)
        failed = add_stretch(out ? &far->out : &far->in, w, mine->end, far->at[i], *box, bytes);
    if (e->on) *box += bytes;
    if (!out && !(e->far_in[w - far->way]++)) w->unpackers++;
    if (!out) x->plan.needs[mine->task] = 1;
    return failed;
}

int far_deal(evn_exchange *x) {
    struct far *far = &x->far;
    if (!x->loop->cluster) return 0;
    int failed = 0;
    far->out.count = far->in.count = 0;
    for (int i = 0; i < far->ways; i++) far->way[i].unpackers = 0;
    for (int i = 0; !failed && i < x->plan.ends; i++) {
        struct end *e = &x->plan.end[i];
        free(e->far_in);
        e->far_in = calloc((size_t)far->ways + 1, sizeof *e->far_in);
        failed = !e->far_in;
    }
    for (int i = 0; !failed && i < far->faces; i++) failed = deal_face(x, i);
    return failed;
}

/* ---- a run --------------------------------------------------------------------------------- */

static struct header *header_of(char *room) { return (struct header *)room - 1; }

/* Receives are announced before anything is sent, so that messages can arrive at once. */
static evn_status expect(evn_cluster *cluster, struct way *w) {
    if (!w->in || w->expected) return EVN_OK;
    w->expected = 1;
    w->here = 0;
    w->status = EVN_OK;
    atomic_store(&w->ends, w->unpackers);
    return cluster_expect(cluster, w->in);
}

void far_next(evn_exchange *x) {
    x->far.run++;
    atomic_store(&x->far.packing, x->loop->count);
    atomic_store(&x->far.failed, EVN_OK);
}

static evn_status begin_way(evn_cluster *cluster, struct way *w) {
    void *room = NULL;
    evn_status status = expect(cluster, w);
    if (!status && w->out) status = cluster_take(cluster, w->out, &room);
    w->out_room = room ? (char *)room + sizeof(struct header) : NULL;
    return status;
}

/* All of them, also where one has failed: neighbours are to hear of it. */
evn_status far_begin(evn_exchange *x) {
    evn_status status = EVN_OK;
    for (int i = 0; i < x->far.ways; i++) {
        evn_status begun = begin_way(x->loop->cluster, &x->far.way[i]);
        if (begun) status = begun;
    }
    return status;
}

evn_status far_pack(evn_exchange *x, struct end *e) {
    evn_status status = EVN_OK;
    int any = 0;
    for (int i = 0; e->on && !status && i < x->far.out.count; i++) {
        const struct stretch *s = &x->far.out.stretch[i];
        if (&x->plan.end[s->end] != e) continue;
        status =
            evn_copy_to_host(e->copies, s->way->out_room + s->room, e->outbox, s->box, s->bytes);
        any = 1;
    }
    return status || !any ? status : evn_queue_finish(e->copies);
}

/* For traces: the same at both ends, and another one for each message of a pair. */
static long long message_number(const struct far *far) {
    return (long long)far->tag << 40 | far->run;
}

static void send_all(evn_exchange *x, evn_status failed) {
    struct far *far = &x->far;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < far->ways; i++) {
        struct way *w = &far->way[i];
        if (!w->out_room) continue;
        const size_t bytes = failed ? 0 : w->out_bytes;
        *header_of(w->out_room) = (struct header){
            .run = far->run, .bytes = (long long)bytes, .plan = x->loop->plan, .status = failed};
        w->out_room = NULL;
        const double begin = log_begin(x->loop->cluster);
        status = cluster_send(x->loop->cluster, w->out, sizeof(struct header) + bytes);
        log_end(x->loop->cluster, (struct log_entry){.begin = begin,
                                                     .bytes = (double)bytes,
                                                     .number = message_number(far),
                                                     .peer = w->rank,
                                                     .kind = LOG_FACES,
                                                     .out = 1});
        loop_add_sent(x->loop, (double)bytes);
    }
    if (status) cluster_abort(x->loop->cluster); /* neighbours wait for what cannot be sent */
}

void far_packed(evn_exchange *x, evn_status status) {
    if (status) atomic_store(&x->far.failed, (int)status);
    if (atomic_fetch_sub(&x->far.packing, 1) == 1)
        send_all(x, (evn_status)atomic_load(&x->far.failed));
}

int far_is_sent(const evn_exchange *x) { return atomic_load(&x->far.packing) <= 0; }

void far_send_failure(evn_exchange *x, evn_status failed) {
    far_begin(x);
    send_all(x, failed);
}

/* ---- what comes ---------------------------------------------------------------------------- */

static evn_status check_header(const evn_exchange *x, const struct way *w, const struct header *h,
                               size_t bytes) {
    /* that rank says why when all meet: a failure that follows from it must not be taken for it */
    if (h->status)
        return evn_fail(EVN_STOPPED, "exchange: rank %d has failed: %s", w->rank,
                        evn_status_text((evn_status)h->status));
    if (h->plan == x->loop->plan && h->run == x->far.run && bytes == sizeof *h + w->in_bytes &&
        h->bytes == (long long)w->in_bytes)
        return EVN_OK;
    return evn_fail(EVN_SYSTEM,
                    "exchange: rank %d sent %lld bytes of faces of run %lld under plan %d, "
                    "expected %zu of %lld under %d",
                    w->rank, h->bytes, h->run, h->plan, w->in_bytes, x->far.run, x->loop->plan);
}

/* Waits for a neighbour's message, unless another unit has. */
static evn_status arrive(const evn_exchange *x, struct way *w) {
    pthread_mutex_lock(&w->lock);
    if (!w->here) {
        const void *data = NULL;
        size_t bytes = 0;
        const double begin = log_begin(x->loop->cluster);
        w->status = cluster_wait(x->loop->cluster, w->in, &data, &bytes);
        if (!w->status) {
            log_end(x->loop->cluster,
                    (struct log_entry){.begin = begin,
                                       .bytes = (double)(bytes - sizeof(struct header)),
                                       .number = message_number(&x->far),
                                       .peer = w->rank,
                                       .kind = LOG_FACES});
            w->in_room = (char *)(uintptr_t)data + sizeof(struct header);
            w->status = check_header(x, w, data, bytes);
        }
        if (w->status) snprintf(w->text, sizeof w->text, "%s", evn_message());
        w->here = 1;
    }
    const evn_status status = w->status ? evn_fail(w->status, "%s", w->text) : EVN_OK;
    pthread_mutex_unlock(&w->lock);
    return status;
}

static void let_go(evn_cluster *cluster, struct way *w) {
    if (!w->expected) return;
    w->expected = 0;
    if (w->in_room) cluster_release(cluster, w->in);
    w->in_room = NULL;
}

evn_status far_receive(evn_exchange *x, struct end *e) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < x->far.ways; i++)
        if (e->far_in[i]) status = arrive(x, &x->far.way[i]);
    if (status || !e->on) return status;
    int any = 0;
    for (int i = 0; !status && i < x->far.in.count; i++) {
        const struct stretch *s = &x->far.in.stretch[i];
        if (&x->plan.end[s->end] != e) continue;
        status =
            evn_copy_to_device(e->copies, e->inbox, s->box, s->way->in_room + s->room, s->bytes);
        any = 1;
    }
    if (status || !any) return status;
    status = evn_event_record(e->arrived, e->copies);
    /* the message's room is the wire's again after this */
    return status ? status : evn_event_finish(e->arrived);
}

void far_release(evn_exchange *x, struct end *e) {
    for (int i = 0; i < x->far.ways; i++) {
        struct way *w = &x->far.way[i];
        if (e->far_in[i] && atomic_fetch_sub(&w->ends, 1) == 1) let_go(x->loop->cluster, w);
    }
}

void far_settle(evn_exchange *x) {
    for (int i = 0; i < x->far.ways; i++) {
        struct way *w = &x->far.way[i];
        if (!w->expected) continue;
        if (!w->here) arrive(x, w);
        let_go(x->loop->cluster, w);
    }
}
