/* The plan of an exchange: ends, messages between them, and the assignment of blocks to copies. */
#include "exchange/plan.h"
#include "loop/loop_ranks.h"
#include "exchange/transport.h"
#include "base/argument.h"
#include <stdlib.h>
#include <string.h>

extern const evn_kernel_source exchange_kernels;

void *array_grow(void *array, int count, int *room, size_t size) {
    if (count < *room) return array;
    const int more = *room ? 2 * *room : 32;
    void *grown = realloc(array, (size_t)more * size);
    if (grown) *room = more;
    return grown;
}

static evn_status no_memory(const evn_exchange *x) {
    return evn_fail(EVN_MEMORY, "exchange: no memory for %d faces of %d tasks", x->faces, x->tasks);
}

/* ---- giving back --------------------------------------------------------------------------- */

static void close_end(struct end *e) {
    evn_event_close(e->packed);
    evn_event_close(e->arrived);
    evn_buffer_close(e->outbox);
    evn_buffer_close(e->inbox);
    copies_close(&e->direct);
    copies_close(&e->pack);
    copies_close(&e->unpack);
    free(e->far_in);
}

static void close_messages(struct plan *p) {
    for (int i = 0; i < p->messages; i++) p->message[i].transport->close(&p->message[i]);
    p->messages = 0;
}

/* Waits for pending work that uses messages' memory; on closing, without a message, since that of a
 * failed device must stay. The unit may be gone; these queues are the end's own. */
static void close_queues(struct plan *p) {
    for (int i = 0; i < p->ends; i++) {
        evn_queue_close(p->end[i].copies);
        p->end[i].copies = NULL;
    }
}

void exchange_forget(evn_exchange *x) {
    struct plan *p = &x->plan;
    close_queues(p);
    close_messages(p);
    for (int i = 0; i < p->ends; i++) close_end(&p->end[i]);
    ahead_close(&p->ahead);
    free(p->message);
    free(p->end);
    free(p->needs);
    free(p->in);
    free(p->out);
    free(p->first_task);
    free(p->tasks);
    free(x->half);
    free(x->busy);
    x->half = NULL;
    x->busy = NULL;
    x->open = 0;
    x->settled = 0;
    *p = (struct plan){0};
}

/* ---- where things are ---------------------------------------------------------------------- */

/* Finds where a part of a place lies. What the loop was given for its tasks must be what the faces
 * were checked against. */
static evn_status find_part(evn_exchange *x, struct part *p) {
    const evn_loop *loop = x->loop;
    if (loop->regions != x->slots || loop->region[p->task * x->slots + p->slot] != p->region)
        return evn_fail(EVN_USAGE, "exchange: the loop has got other regions since the exchange "
                                   "was opened; open it after evn_loop_place()");
    const int space = evn_place_where(x->place, p->region);
    if (space < 0)
        return evn_fail(EVN_USAGE,
                        "exchange: region %d of task %d is nowhere: absent, lost or never written",
                        p->slot, p->task);
    if (evn_place_bytes(x->place, p->region) < p->bytes)
        return evn_fail(EVN_USAGE,
                        "exchange: region %d of task %d has %zu bytes now, and faces reach to %zu",
                        p->slot, p->task, evn_place_bytes(x->place, p->region), p->bytes);
    if (space != p->space) x->plan.made = 0;
    p->space = space;
    return EVN_OK;
}

evn_status exchange_find(evn_exchange *x) {
    if (x->loop->place != x->place)
        return evn_fail(EVN_USAGE, "exchange: the loop has got another place since the exchange "
                                   "was opened; open it after evn_loop_place()");
    evn_status status = EVN_OK;
    for (int i = 0; x->place && !status && i < x->parts; i++) {
        struct part *p = &x->part[i];
        if (!exchange_far(x, p))
            status = find_part(x, p);
        else
            p->space = -1;
    }
    return status;
}

int exchange_moved(const evn_exchange *x, const struct part *p) {
    if (exchange_far(x, p)) return 0;
    /* a task may have gone to another rank and come back since */
    if (!x->place) return p->host != move_memory(x->loop, p->task, p->host);
    return p->space == EVN_HOST ? p->host != evn_place_host(x->place, p->region)
                                : p->at != evn_place_at(x->place, p->region, p->space);
}

/* Detects parts that differ from the plan. */
enum changed { NOTHING, OWNERS, PLACES };

/* Finds out: some part is another unit's, or lies elsewhere in its space too. The plan to come is
 * for where it is now. */
static enum changed look(evn_exchange *x) {
    enum changed changed = x->plan.made ? NOTHING : PLACES;
    for (int i = 0; i < x->parts; i++) {
        struct part *p = &x->part[i];
        const int owner = x->loop->owner[p->task];
        /* a task that has gone to another rank and come back has other memory */
        const int moved = !x->plan.made || exchange_moved(x, p);
        if (!moved && owner == p->owner) continue;
        if (changed == NOTHING) changed = OWNERS;
        if (moved) changed = PLACES;
        p->owner = owner;
        if (exchange_far(x, p)) continue;
        if (!x->place) p->host = move_memory(x->loop, p->task, p->host);
        if (!x->place) continue;
        p->host = p->space == EVN_HOST ? evn_place_host(x->place, p->region) : NULL;
        p->at = evn_place_at(x->place, p->region, p->space);
    }
    return changed;
}

/* The unit and device of a space; the host's belongs to all. */
static int find_device(const evn_exchange *x, int space, int *device) {
    for (int u = 0; u < x->plan.units; u++) {
        evn_unit *unit = evn_units_get(x->loop->units, u);
        for (int d = 0; d < evn_unit_devices(unit); d++)
            if (evn_place_space(x->place, unit, d) == space) {
                *device = d;
                return u;
            }
    }
    return -1;
}

/* The end of a part's location, made if missing. A region on a device belongs to the unit with the
 * device, whoever owns the task. */
static evn_status find_end(evn_exchange *x, struct part *part) {
    struct plan *p = &x->plan;
    int unit = loop_own(x->loop, part->owner), device = -1;
    if (unit < 0) return EVN_OK;
    if (part->space != EVN_HOST && (unit = find_device(x, part->space, &device)) < 0)
        return evn_fail(EVN_DEVICE, "exchange: region %d of task %d was on a device that is lost",
                        part->slot, part->task);
    if (!x->place && !part->host)
        return evn_fail(EVN_USAGE,
                        "exchange: task %d has come to this rank, and has no memory here; "
                        "say with evn_loop_homes() how it travels",
                        part->task);
    for (part->end = 0; part->end < p->ends; part->end++)
        if (p->end[part->end].unit == unit && p->end[part->end].space == part->space) return EVN_OK;
    struct end *more = array_grow(p->end, p->ends, &p->end_room, sizeof *more);
    if (!more) return no_memory(x);
    p->end = more;
    struct end *e = &p->end[p->ends++];
    *e = (struct end){.unit = unit, .space = part->space, .device = device};
    if (device >= 0) {
        e->on = evn_unit_device(evn_units_get(x->loop->units, unit), device);
        e->compute = evn_unit_queue(evn_units_get(x->loop->units, unit), device);
    }
    return EVN_OK;
}

/* Resources of an end on a device, independent of the plan. */
static evn_status equip(struct end *e, size_t element) {
    if (!e->on) return EVN_OK;
    evn_status status =
        evn_kernel_get(e->on, &exchange_kernels, copies_kernel(element), &e->kernel);
    if (!status && !e->copies) status = evn_queue_open(&e->copies, e->on);
    if (!status && !e->packed) status = evn_event_open(&e->packed, e->on);
    if (!status && !e->arrived) status = evn_event_open(&e->arrived, e->on);
    return status;
}

static evn_status find_ends(evn_exchange *x) {
    struct plan *p = &x->plan;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < x->parts; i++) status = find_end(x, &x->part[i]);
    for (int i = 0; !status && i < p->ends; i++) {
        struct end *e = &p->end[i];
        status = equip(e, x->element);
        if (status) loop_set_failed(x->loop, e->unit);
        e->out_bytes = e->in_bytes = 0;
        e->unfinished = 0;
        copies_clear(&e->direct);
        copies_clear(&e->pack);
        copies_clear(&e->unpack);
    }
    return status;
}

/* ---- messages ------------------------------------------------------------------------------ */

enum { UNKNOWN = -1, NO_MESSAGE = -2 };

/* Whether a face stays on this rank; one that is none of ours does not. */
static int is_near(const evn_exchange *x, const struct face *f) {
    return !x->loop->cluster ||
           (!exchange_far(x, &x->part[f->from]) && !exchange_far(x, &x->part[f->to]));
}

/* A face's entry in a table of pairs of ends. */
static int *pair_of(const evn_exchange *x, int *pair, const struct face *f) {
    return &pair[(size_t)x->part[f->from].end * (size_t)x->plan.ends + (size_t)x->part[f->to].end];
}

void exchange_extents(const evn_face *f, int to, int n[3]) {
    for (int d = 0; d < 3; d++) {
        n[d] = f->n[d];
        if (!to && f->resolution[d] == EVN_MEAN) n[d] *= 2;
        if (!to && f->resolution[d] == EVN_REPEAT) n[d] = n[d] / 2 + n[d] % 2;
    }
}

struct shape exchange_shape(const evn_face *f, enum step step) {
    struct shape s = {.scale = 0};
    int means = 0;
    for (int d = 0; d < 3; d++) {
        const int mean = f->resolution[d] == EVN_MEAN, repeat = f->resolution[d] == EVN_REPEAT;
        s.n[d] = step == PACKED && repeat ? f->n[d] / 2 + f->n[d] % 2 : f->n[d];
        if (mean && step != UNPACKED) s.scale |= EXCHANGE_MEAN << 2 * d;
        if (repeat && step != PACKED) s.scale |= EXCHANGE_REPEAT << 2 * d;
        means |= mean && step != UNPACKED;
    }
    if (means && f->numbers == EVN_FLOATS) s.scale |= EXCHANGE_FLOATS;
    return s;
}

size_t exchange_face_bytes(const evn_exchange *x, const evn_face *f) {
    const struct shape s = exchange_shape(f, PACKED);
    return (size_t)s.n[0] * (size_t)s.n[1] * (size_t)s.n[2] * x->element;
}

/* The message that is to carry a face, in *number. */
static evn_status find_message(evn_exchange *x, const struct face *f, int *number) {
    struct plan *p = &x->plan;
    struct end *from = &p->end[x->part[f->from].end], *to = &p->end[x->part[f->to].end];
    const struct transport *transport = transport_between(from, to);
    if (!transport)
        return evn_fail(EVN_USAGE, "exchange: no transport carries from unit %d to unit %d",
                        from->unit, to->unit);
    *number = NO_MESSAGE;
    if (!transport->send) return EVN_OK;
    struct message *more = array_grow(p->message, p->messages, &p->message_room, sizeof *more);
    if (!more) return no_memory(x);
    p->message = more;
    *number = p->messages++;
    p->message[*number] = (struct message){.transport = transport, .from = from, .to = to};
    return EVN_OK;
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
    for (int i = 0; i < x->faces; i++) {
        const struct face *f = &x->face[i];
        if (!is_near(x, f)) continue;
        int *number = pair_of(x, pair, f);
        evn_status status = *number == UNKNOWN ? find_message(x, f, number) : EVN_OK;
        if (status) return status;
        if (*number == NO_MESSAGE) continue;
        p->message[*number].bytes += exchange_face_bytes(x, &f->of);
        p->needs[f->of.to] = 1;
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

/* ---- faces --------------------------------------------------------------------------------- */

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
    copy->met = x->place ? NULL : &p->ahead.met[number];
    if (face->back < 0) return 0;
    const evn_face *back = &x->face[face->back].of;
    const long long element = (long long)x->element;
    copy->both = 1;
    copy->back_from = (back->from_at - face->of.to_at) * element;
    copy->back_to = (back->to_at - face->of.from_at) * element;
    return 0;
}

/* Adds a face to the lists of the ends that copy it. */
static int deal_face(evn_exchange *x, const struct face *face, int number) {
    const evn_face *f = &face->of;
    const struct part *a = &x->part[face->from], *b = &x->part[face->to];
    struct end *from = &x->plan.end[a->end], *to = &x->plan.end[b->end];
    const struct side source = exchange_part_side(x, a, f->from_at, f->from_stride);
    const struct side target = exchange_part_side(x, b, f->to_at, f->to_stride);
    if (number == NO_MESSAGE && !from->on)
        return deal_on_host(x, (int)(face - x->face), &source, &target);
    if (number == NO_MESSAGE)
        return exchange_add(x, to, &to->direct, exchange_shape(f, WHOLE), &source, &target);
    struct message *m = &x->plan.message[number];
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

/* Resources of lists on devices. */
static evn_status send_lists(const evn_exchange *x, struct end *e) {
    if (!e->on) return EVN_OK;
    evn_status status = buffer_of_at_least(&e->outbox, e->on, e->out_bytes);
    if (!status) status = buffer_of_at_least(&e->inbox, e->on, e->in_bytes);
    if (!status) status = copies_send(&e->direct, e->on, e->copies);
    if (!status) status = copies_send(&e->pack, e->on, e->copies);
    if (!status) status = copies_send(&e->unpack, e->on, e->copies);
    if (!status) status = evn_queue_finish(e->copies);
    if (status) loop_set_failed(x->loop, e->unit);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static evn_status open_units(evn_exchange *x) {
    struct plan *p = &x->plan;
    if (p->units) return EVN_OK;
    const size_t units = (size_t)x->loop->count;
    p->needs = malloc((size_t)x->tasks);
    p->in = malloc(units * sizeof *p->in);
    p->out = malloc(units * sizeof *p->out);
    p->first_task = malloc(units * sizeof *p->first_task);
    p->tasks = malloc(units * sizeof *p->tasks);
    x->half = calloc(units, sizeof *x->half);
    x->busy = calloc(units, sizeof *x->busy);
    if (!p->needs || !p->in || !p->out || !p->first_task || !p->tasks || !x->half || !x->busy) {
        exchange_forget(x);
        return no_memory(x);
    }
    p->units = x->loop->count;
    return EVN_OK;
}

/* Our unit that has a part; -1: another rank has. */
static int unit_of(const evn_exchange *x, int part) {
    const struct part *p = &x->part[part];
    if (!x->place) return loop_own(x->loop, p->owner);
    return exchange_far(x, p) ? -1 : x->plan.end[p->end].unit;
}

/* The tasks of each unit, and what crosses between units. */
static evn_status count_units(evn_exchange *x) {
    struct plan *p = &x->plan;
    const size_t units = (size_t)p->units;
    char *met = calloc(units * units, 1);
    if (!met) return no_memory(x);
    p->pairs = 0;
    for (int u = 0; u < p->units; u++) {
        p->in[u] = p->out[u] = 0;
        p->tasks[u] = p->first_task[u] = 0;
    }
    for (int t = x->tasks - 1; t >= 0; t--) {
        const int u = loop_own(x->loop, x->loop->owner[t]);
        if (u < 0) continue;
        p->first_task[u] = t;
        p->tasks[u]++;
    }
    for (int i = 0; i < x->faces; i++) {
        const struct face *f = &x->face[i];
        const int a = unit_of(x, f->from), b = unit_of(x, f->to);
        if (a == b) continue;
        const double bytes = (double)exchange_face_bytes(x, &f->of);
        if (a >= 0) p->out[a] += bytes;
        if (b >= 0) p->in[b] += bytes;
        if (a < 0 || b < 0) continue; /* messages to other ranks are counted as they are sent */
        char *m = &met[(size_t)a * units + (size_t)b];
        p->pairs += !*m;
        *m = 1;
    }
    free(met);
    return EVN_OK;
}

static evn_status deal_faces(evn_exchange *x) {
    const size_t pairs = (size_t)x->plan.ends * (size_t)x->plan.ends;
    int *pair = malloc((pairs ? pairs : 1) * sizeof *pair);
    if (!pair) return no_memory(x);
    for (size_t i = 0; i < pairs; i++) pair[i] = UNKNOWN;
    memset(x->plan.needs, 0, (size_t)x->tasks);
    x->plan.between = 0;
    evn_status status = find_messages(x, pair);
    if (!status && far_deal(x)) status = no_memory(x);
    for (int i = 0; !status && i < x->faces; i++)
        if (is_near(x, &x->face[i]) && deal_face(x, &x->face[i], *pair_of(x, pair, &x->face[i])))
            status = no_memory(x);
    free(pair);
    return status;
}

/* 1 if only the assignment of copies is outdated: all are in one memory. */
static int is_anybodys(const evn_exchange *x, enum changed changed) {
    return !x->place && !x->loop->cluster && changed < PLACES;
}

evn_status exchange_plan(evn_exchange *x) {
    struct plan *p = &x->plan;
    evn_status status = open_units(x);
    if (status) return status;
    const enum changed changed = look(x);
    if (changed == NOTHING && p->dealt) return EVN_OK;
    if (is_anybodys(x, changed) && ahead_has_all(x)) {
        p->dealt = 0;
        if (changed) status = count_units(x);
        p->made = !status;
        return status;
    }
    p->made = 0;
    if (x->open) close_queues(p);
    x->open = 0;
    close_messages(p);
    status = find_ends(x);
    if (!status) status = ahead_begin(x);
    if (!status) status = deal_faces(x);
    if (!status) status = ahead_list(x);
    for (int i = 0; !status && i < p->ends; i++) status = send_lists(x, &p->end[i]);
    if (!status) status = count_units(x);
    p->made = p->dealt = !status;
    return status;
}

/* The global number of the unit that has a part. */
static int unit_among_all(const evn_exchange *x, int part) {
    const int own = unit_of(x, part);
    return own < 0 ? x->loop->owner[x->part[part].task] : x->loop->first + own;
}

/* Over ranks, devices of other ranks are identified by their units only. */
int evn_exchange_pairs(evn_exchange *x, double *bytes) {
    NEED_OR(-1, x, "an exchange");
    NEED_OR(-1, bytes, "where to put the bytes of each pair");
    if (x->loop->cluster) far_find(x);
    if (exchange_find(x) || exchange_plan(x)) return -1;
    const size_t units = (size_t)x->loop->problem->units;
    memset(bytes, 0, units * units * sizeof *bytes);
    int pairs = 0;
    for (int i = 0; i < x->faces; i++) {
        const struct face *f = &x->face[i];
        const int a = unit_among_all(x, f->from), b = unit_among_all(x, f->to);
        double *pair = &bytes[(size_t)a * units + (size_t)b];
        pairs += a != b && *pair == 0;
        *pair += (double)exchange_face_bytes(x, &f->of);
    }
    return pairs;
}

int evn_exchange_needs(const evn_exchange *x, int task) {
    NEED_OR(-1, x, "an exchange");
    if (task < 0 || task >= x->tasks) {
        evn_fail(EVN_USAGE, "exchange: there is no task %d, only 0 to %d", task, x->tasks - 1);
        return -1;
    }
    if (!x->plan.made) {
        evn_fail(EVN_USAGE, "exchange: what task %d needs is not known before the first run", task);
        return -1;
    }
    return x->plan.needs[task];
}
