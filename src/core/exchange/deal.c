/* Faces in lists of copies: where each is copied, by cores, by a launch, or through a message;
 * taken out again; and the bytes between units. */
#include "exchange/transport.h"
#include "base/argument.h"
#include "unit/device_ops.h"
#include <stdlib.h>
#include <string.h>

/* ---- sides --------------------------------------------------------------------------------- */

struct side exchange_part_side(const evn_exchange *x, const struct part *p, long long at,
                               const long long stride[3]) {
    const long long element = (long long)x->element;
    const struct end *e = &x->plan.end[p->end];
    struct side s = {.host = e->on ? NULL : p->host, .at = at * element};
    if (e->on) s.at += (long long)p->at;
    /* that of an index with one value is never used, and may be any number */
    for (int d = 0; d < 3; d++) s.stride[d] = (long long)((size_t)stride[d] * x->element);
    return s;
}

struct side exchange_message_side(const evn_exchange *x, const evn_face *f, char *const *base,
                                  size_t at) {
    const long long element = (long long)x->element;
    const struct shape s = exchange_shape(f, PACKED);
    return (struct side){.base = base,
                         .at = (long long)at,
                         .stride = {element * s.n[1] * s.n[2], element * s.n[2], element}};
}

int exchange_add(const evn_exchange *x, const struct end *e, struct copies *c, struct shape shape,
                 const struct side *from, const struct side *to) {
    return e->on ? device_ops.add(c, shape, x->element, from, to)
                 : copies_add_to_cores(c, shape, x->element, from, to);
}

/* ---- dealing ------------------------------------------------------------------------------- */

static evn_status no_memory(const evn_exchange *x) {
    return evn_fail(EVN_MEMORY, "exchange: no memory for %d faces of %d tasks", x->faces, x->tasks);
}

/* A face within the host's memory. Of a pair the first one is dealt for both, to the unit that has
 * both sides; of those between two units each does every other. */
static int deal_on_host(evn_exchange *x, int number) {
    struct plan *p = &x->plan;
    if (x->face[number].back >= 0 && x->face[number].back < number) number = x->face[number].back;
    const struct face *face = &x->face[number];
    const struct part *a = &x->part[face->from], *b = &x->part[face->to];
    const struct side source = exchange_part_side(x, a, face->of.from_at, face->of.from_stride);
    const struct side target = exchange_part_side(x, b, face->of.to_at, face->of.to_stride);
    int end = b->end;
    if (face->back >= 0 && a->end != b->end && p->between++ % 2) end = a->end;
    struct copies *c = &p->end[end].direct;
    if (copies_add_to_cores(c, exchange_shape(&face->of, WHOLE), x->element, &source, &target))
        return -1;
    struct copy *copy = copies_last(c);
    copy->number = number;
    x->entry[number].end = end;
    x->entry[number].copy = c->count - 1;
    if (face->back < 0) return 0;
    x->entry[face->back].end = end;
    const evn_face *back = &x->face[face->back].of;
    const long long element = (long long)x->element;
    copy->both = 1;
    copy->back_from = (back->from_at - face->of.to_at) * element;
    copy->back_to = (back->to_at - face->of.from_at) * element;
    return 0;
}

/* A face within a device. */
static int deal_on_device(evn_exchange *x, int number) {
    const struct face *face = &x->face[number];
    const struct part *a = &x->part[face->from], *b = &x->part[face->to];
    const struct side source = exchange_part_side(x, a, face->of.from_at, face->of.from_stride);
    const struct side target = exchange_part_side(x, b, face->of.to_at, face->of.to_stride);
    struct end *e = &x->plan.end[b->end];
    if (exchange_add(x, e, &e->direct, exchange_shape(&face->of, WHOLE), &source, &target))
        return -1;
    x->entry[number].end = b->end;
    x->entry[number].copy = e->direct.first;
    return 0;
}

/* Whether a face stays on this rank. */
static int is_near(const evn_exchange *x, const struct face *f) {
    return !x->loop->cluster ||
           (!exchange_is_remote(x, &x->part[f->from]) && !exchange_is_remote(x, &x->part[f->to]));
}

evn_status exchange_deal(evn_exchange *x, int number) {
    const struct face *face = &x->face[number];
    if (!is_near(x, face)) {
        x->entry[number].end = CARRIED;
        if (exchange_crosses(x, face)) marks_set(x->carried, number);
        return EVN_OK;
    }
    const struct part *a = &x->part[face->from], *b = &x->part[face->to];
    const struct end *from = &x->plan.end[a->end], *to = &x->plan.end[b->end];
    const struct transport *transport = from == to ? NULL : transport_between(from, to);
    if (from != to && !transport)
        return evn_fail(EVN_USAGE, "exchange: no transport carries from unit %d to unit %d",
                        from->unit, to->unit);
    if (transport && transport->send) {
        x->entry[number].end = CARRIED;
        marks_set(x->carried, number);
        return EVN_OK;
    }
    return (to->on ? deal_on_device(x, number) : deal_on_host(x, number)) ? no_memory(x) : EVN_OK;
}

void exchange_undeal(evn_exchange *x, int face) {
    const int back = x->face[face].back;
    struct entry *mine = &x->entry[face], *other = back < 0 ? mine : &x->entry[back];
    if (mine->end == NOWHERE) return;
    exchange_count(x, &x->face[face], -1);
    if (mine->end == CARRIED) {
        marks_clear(x->carried, face);
        mine->end = NOWHERE;
        return;
    }
    struct end *e = &x->plan.end[mine->end];
    x->plan.cut++;
    if (e->on) {
        device_ops.cut(&e->direct, mine->copy);
        mine->end = mine->copy = NOWHERE;
        return;
    }
    copies_cut(&e->direct, mine->copy < 0 ? other->copy : mine->copy);
    if (back >= 0) exchange_count(x, &x->face[back], -1);
    mine->end = mine->copy = other->end = other->copy = NOWHERE;
}

/* ---- messages ------------------------------------------------------------------------------ */

enum { UNKNOWN = -1 };

/* The next face, from index i on, that a message carries from an end of this rank to another. */
static int next_carried(const evn_exchange *x, int i) {
    for (i = marks_next(x->carried, i, x->faces); i < x->faces;
         i = marks_next(x->carried, i + 1, x->faces))
        if (x->face[i].from >= 0 && x->entry[i].end == CARRIED && is_near(x, &x->face[i])) break;
    return i;
}

/* A face's entry in a table of pairs of ends. */
static int *pair_of(const evn_exchange *x, int *pair, const struct face *f) {
    return &pair[(size_t)x->part[f->from].end * (size_t)x->plan.ends + (size_t)x->part[f->to].end];
}

/* The message that is to carry a face, in *number. */
static int find_message(evn_exchange *x, const struct face *f, int *number) {
    struct plan *p = &x->plan;
    if (*number != UNKNOWN) return 0;
    struct end *from = &p->end[x->part[f->from].end], *to = &p->end[x->part[f->to].end];
    struct message *more = array_grow(p->message, p->messages, &p->message_room, sizeof *more);
    if (!more) return -1;
    p->message = more;
    *number = p->messages++;
    p->message[*number] =
        (struct message){.transport = transport_between(from, to), .from = from, .to = to};
    return 0;
}

/* Makes room for bytes in a box. */
static size_t reserve(size_t *box, size_t bytes) {
    const size_t at = *box;
    *box += (bytes + 255) / 256 * 256;
    return at;
}

/* Messages, and how long they are. */
static evn_status find_messages(evn_exchange *x, int *pair) {
    struct plan *p = &x->plan;
    for (int i = next_carried(x, 0); i < x->faces; i = next_carried(x, i + 1)) {
        const struct face *f = &x->face[i];
        int *number = pair_of(x, pair, f);
        if (find_message(x, f, number)) return no_memory(x);
        p->message[*number].bytes += exchange_face_bytes(x, &f->of);
        p->needs[exchange_task(x, f, 1)] = 1;
    }
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < p->messages; i++) {
        struct message *m = &p->message[i];
        if (m->from->on) m->out_at = reserve(&m->from->out_bytes, m->bytes);
        if (m->to->on) m->in_at = reserve(&m->to->in_bytes, m->bytes);
        status = m->transport->open(m);
        if (status) loop_set_failed(x->loop, m->from->on ? m->from->unit : m->to->unit);
    }
    return status;
}

/* A face at the end of its message. */
static int carry(evn_exchange *x, const struct face *face, struct message *m) {
    const evn_face *f = &face->of;
    const struct part *a = &x->part[face->from], *b = &x->part[face->to];
    const struct side source = exchange_part_side(x, a, f->from_at, f->from_stride);
    const struct side target = exchange_part_side(x, b, f->to_at, f->to_stride);
    struct end *from = m->from, *to = m->to;
    struct side packed = exchange_message_side(x, f, NULL, m->filled + (from->on ? m->out_at : 0));
    struct side received = exchange_message_side(x, f, NULL, m->filled + (to->on ? m->in_at : 0));
    packed.host = from->on ? NULL : m->host;
    received.host = to->on ? NULL : m->host;
    m->filled += exchange_face_bytes(x, f);
    const int failed =
        exchange_add(x, from, &from->pack, exchange_shape(f, PACKED), &source, &packed);
    return failed
               ? failed
               : exchange_add(x, to, &to->unpack, exchange_shape(f, UNPACKED), &received, &target);
}

evn_status exchange_deal_messages(evn_exchange *x) {
    const size_t pairs = (size_t)x->plan.ends * (size_t)x->plan.ends;
    int *pair = NULL;
    evn_status status = EVN_OK;
    memset(x->plan.needs, 0, (size_t)x->tasks);
    if (next_carried(x, 0) < x->faces) {
        pair = malloc(pairs * sizeof *pair);
        if (!pair) return no_memory(x);
        for (size_t i = 0; i < pairs; i++) pair[i] = UNKNOWN;
        status = find_messages(x, pair);
    }
    if (!status && x->remote_ops && x->remote_ops->deal(x)) status = no_memory(x);
    for (int i = next_carried(x, 0); !status && i < x->faces; i = next_carried(x, i + 1))
        if (carry(x, &x->face[i], &x->plan.message[*pair_of(x, pair, &x->face[i])]))
            status = no_memory(x);
    free(pair);
    return status;
}

/* ---- bytes between units ------------------------------------------------------------------- */

int exchange_unit(const evn_exchange *x, int part) {
    const struct part *p = &x->part[part];
    const int own = loop_own(x->loop, p->owner);
    return x->place && own >= 0 ? x->plan.end[p->end].unit : own;
}

void exchange_count(evn_exchange *x, const struct face *face, int sign) {
    struct plan *p = &x->plan;
    const int a = exchange_unit(x, face->from), b = exchange_unit(x, face->to);
    const double bytes = sign * (double)exchange_face_bytes(x, &face->of);
    if (a != b && a >= 0) p->out[a] += bytes;
    if (a != b && b >= 0) p->in[b] += bytes;
    if (a < 0 || b < 0) return; /* messages to other ranks are counted as they are sent */
    struct flow *f = &p->flow[(size_t)a * (size_t)p->units + (size_t)b];
    const int any = f->faces > 0;
    f->bytes += bytes;
    f->faces += sign;
    if (a != b) p->pairs += (f->faces > 0) - any;
}
