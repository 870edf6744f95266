/* Faces in lists of copies: where each is copied, by cores, by a launch, or through a message;
 * taken out again; and the bytes between units. */
#include "exchange/plan.h"
#include "loop/loop_ranks.h"

/* ---- sides --------------------------------------------------------------------------------- */

struct side exchange_part_side(const evn_exchange *x, const struct part *p, long long at,
                               const long long stride[3]) {
    const long long element = (long long)x->element;
    const struct end *e = &x->plan.end[p->end];
    struct side s = {.host = e->on ? NULL : p->host, .at = at * element};
    if (e->on) s.at += (long long)p->at;
    for (int d = 0; d < 3; d++) s.stride[d] = stride[d] * element;
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
    return e->on ? copies_add_to_device(c, shape, x->element, from, to)
                 : copies_add_to_cores(c, shape, x->element, from, to);
}

/* ---- dealing ------------------------------------------------------------------------------- */

/* A face within the host's memory. Of a pair one is dealt for both, to the unit that has both
 * sides; of those between two units each does every other. */
static int deal_on_host(evn_exchange *x, int number, const struct side *source,
                        const struct side *target) {
    struct plan *p = &x->plan;
    const struct face *face = &x->face[number];
    const int from = x->part[face->from].end, to = x->part[face->to].end;
    int end = to;
    if (face->back >= 0) {
        if (face->back < number) return 0;
        if (from != to && p->between++ % 2) end = from;
    }
    struct copies *c = &p->end[end].direct;
    if (copies_add_to_cores(c, exchange_shape(&face->of, WHOLE), x->element, source, target))
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

int exchange_deal(evn_exchange *x, int number, int message) {
    const struct face *face = &x->face[number];
    const evn_face *f = &face->of;
    const struct part *a = &x->part[face->from], *b = &x->part[face->to];
    struct end *from = &x->plan.end[a->end], *to = &x->plan.end[b->end];
    const struct side source = exchange_part_side(x, a, f->from_at, f->from_stride);
    const struct side target = exchange_part_side(x, b, f->to_at, f->to_stride);
    if (message == NO_MESSAGE && !from->on) return deal_on_host(x, number, &source, &target);
    if (message == NO_MESSAGE)
        return exchange_add(x, to, &to->direct, exchange_shape(f, WHOLE), &source, &target);
    struct message *m = &x->plan.message[message];
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

void exchange_undeal(evn_exchange *x, int face) {
    const int back = x->face[face].back;
    struct entry *mine = &x->entry[face], *other = back < 0 ? mine : &x->entry[back];
    if (mine->end < 0) return;
    copies_cut(&x->plan.end[mine->end].direct, mine->copy < 0 ? other->copy : mine->copy);
    x->plan.cut++;
    exchange_count(x, &x->face[face], -1);
    if (back >= 0) exchange_count(x, &x->face[back], -1);
    mine->end = mine->copy = other->end = other->copy = -1;
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
