/* The plan of an exchange: ends, messages between them, and the assignment of blocks to copies. */
#include "exchange/areas.h"
#include "exchange/plan.h"
#include "exchange/transport.h"
#include "base/argument.h"
#include "base/decisions.h"
#include "unit/device_ops.h"
#include <stdlib.h>
#include <string.h>

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
    if (e->on) device_ops.end_close(e);
    copies_close(&e->direct);
    copies_close(&e->pack);
    copies_close(&e->unpack);
    free(e->remote_in);
}

static void close_messages(struct plan *p) {
    for (int i = 0; i < p->messages; i++) p->message[i].transport->close(&p->message[i]);
    p->messages = 0;
}

/* Waits for pending work that uses messages' memory; on closing, without a message, since that of a
 * failed device must stay. The unit may be gone; these queues are the end's own. */
static void close_queues(struct plan *p) {
    for (int i = 0; i < p->ends; i++)
        if (p->end[i].on) device_ops.end_stop(&p->end[i]);
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
    free(p->flow);
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
    if (space != p->space) {
        x->plan.made = 0;
        p->stale |= ELSEWHERE;
    }
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
        if (!exchange_is_remote(x, p))
            status = find_part(x, p);
        else
            p->space = -1;
    }
    return status;
}

int exchange_moved(const evn_exchange *x, const struct part *p) {
    if (exchange_is_remote(x, p)) return 0;
    /* a task may have gone to another rank and come back since */
    if (!x->place) return p->host != move_memory(x->loop, p->task, p->host);
    return p->space == EVN_HOST ? p->host != evn_place_host(x->place, p->region)
                                : p->at != evn_place_at(x->place, p->region, p->space);
}

/* Numbers of parts that differ from the plan: in any way, and by their place, not their unit alone.
 */
struct changed {
    int any, place;
};

/* Flags parts that differ, and lists those whose faces are to be dealt. */
static struct changed look(evn_exchange *x) {
    struct changed changed = {0};
    const int known = x->plan.made || x->plan.mends;
    for (int i = 0; i < x->parts; i++) {
        struct part *p = &x->part[i];
        /* a task that has gone to another rank and come back has other memory */
        const int moved = !known || exchange_moved(x, p);
        if (moved || x->loop->owner[p->task] != p->owner) p->stale |= ELSEWHERE;
        changed.place += moved;
        if (p->stale) x->some[changed.any++] = i;
    }
    return changed;
}

/* Notes where a part is now, for the plan to come. */
static void locate(const evn_exchange *x, struct part *p) {
    p->owner = x->loop->owner[p->task];
    if (exchange_is_remote(x, p)) return;
    if (!x->place) p->host = move_memory(x->loop, p->task, p->host);
    if (!x->place) return;
    p->host = p->space == EVN_HOST ? evn_place_host(x->place, p->region) : NULL;
    p->at = evn_place_at(x->place, p->region, p->space);
}

static void locate_all(evn_exchange *x) {
    for (int i = 0; i < x->parts; i++) {
        struct part *p = &x->part[i];
        if (p->stale & ELSEWHERE) locate(x, p);
        p->stale = 0;
    }
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
 * device, also where another unit owns the task. */
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

/* Lists of messages, or all, are empty. */
static void clear_ends(struct plan *p, int all) {
    for (int i = 0; i < p->ends; i++) {
        struct end *e = &p->end[i];
        e->out_bytes = e->in_bytes = 0;
        e->unfinished = 0;
        if (all) copies_clear(&e->direct);
        copies_clear(&e->pack);
        copies_clear(&e->unpack);
    }
}

static evn_status equip_ends(evn_exchange *x) {
    struct plan *p = &x->plan;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < p->ends; i++) {
        if (p->end[i].on) status = device_ops.end_open(&p->end[i], x->element);
        if (status) loop_set_failed(x->loop, p->end[i].unit);
    }
    return status;
}

/* ---- shapes -------------------------------------------------------------------------------- */

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

static evn_status send_lists(const evn_exchange *x, struct end *e) {
    evn_status status = e->on ? device_ops.lists_send(e) : EVN_OK;
    if (status) loop_set_failed(x->loop, e->unit);
    return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static evn_status open_units(evn_exchange *x) {
    struct plan *p = &x->plan;
    if (p->units) return EVN_OK;
    const size_t units = (size_t)x->loop->count;
    p->needs = malloc((size_t)x->tasks);
    p->flow = malloc(units * units * sizeof *p->flow);
    p->in = malloc(units * sizeof *p->in);
    p->out = malloc(units * sizeof *p->out);
    p->first_task = malloc(units * sizeof *p->first_task);
    p->tasks = malloc(units * sizeof *p->tasks);
    x->half = calloc(units, sizeof *x->half);
    x->busy = calloc(units, sizeof *x->busy);
    if (!p->needs || !p->flow || !p->in || !p->out || !p->first_task || !p->tasks || !x->half ||
        !x->busy) {
        exchange_forget(x);
        return no_memory(x);
    }
    p->units = x->loop->count;
    return EVN_OK;
}

static void count_tasks(evn_exchange *x) {
    struct plan *p = &x->plan;
    for (int u = 0; u < p->units; u++) p->tasks[u] = p->first_task[u] = 0;
    for (int t = x->tasks - 1; t >= 0; t--) {
        const int u = loop_own(x->loop, x->loop->owner[t]);
        if (u < 0) continue;
        p->first_task[u] = t;
        p->tasks[u]++;
    }
}

/* The tasks of each unit, and what crosses between units. */
static void count_units(evn_exchange *x) {
    struct plan *p = &x->plan;
    count_tasks(x);
    p->pairs = 0;
    memset(p->flow, 0, (size_t)p->units * (size_t)p->units * sizeof *p->flow);
    for (int u = 0; u < p->units; u++) p->in[u] = p->out[u] = 0;
    for (int i = 0; i < x->faces; i++)
        if (x->face[i].from >= 0) exchange_count(x, &x->face[i], 1);
}

static evn_status deal_faces(evn_exchange *x) {
    x->plan.between = x->plan.cut = 0;
    memset(x->carried, 0, marks_words(x->faces) * sizeof *x->carried);
    for (int i = 0; i < x->faces; i++) x->entry[i].end = x->entry[i].copy = NOWHERE;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < x->faces; i++)
        if (x->face[i].from >= 0 && x->entry[i].end == NOWHERE) status = exchange_deal(x, i);
    return status;
}

int exchange_is_in_one(const evn_exchange *x) {
    int devices = 0;
    for (int i = 0; i < x->plan.ends; i++) devices |= x->plan.end[i].on != NULL;
    return !devices && !x->plan.messages && !x->loop->cluster;
}

/* ---- few changes --------------------------------------------------------------------------- */

static int can_mend(const evn_exchange *x, const struct changed *changed) {
    return x->plan.mends && changed->any <= x->parts / EXCHANGE_MOST &&
           x->plan.cut <= x->faces / EXCHANGE_MOST && x->gone <= x->faces / EXCHANGE_MOST;
}

static void undeal_part(evn_exchange *x, const struct part *p) {
    for (int at = p->first; at >= 0; at = x->entry[at / 2].next[at % 2]) exchange_undeal(x, at / 2);
}

/* Deals the faces of a part; of a pair both may be dealt at once. */
static evn_status deal_part(evn_exchange *x, const struct part *p) {
    for (int at = p->first; at >= 0; at = x->entry[at / 2].next[at % 2]) {
        const int face = at / 2, back = x->face[face].back;
        const int alone = back < 0 || x->entry[back].end != NOWHERE;
        if (x->entry[face].end != NOWHERE) continue;
        evn_status status = exchange_deal(x, face);
        if (status) return status;
        exchange_count(x, &x->face[face], 1);
        if (!alone && x->entry[back].end != NOWHERE) exchange_count(x, &x->face[back], 1);
    }
    return EVN_OK;
}

/* Deals those faces anew whose parts are elsewhere, and those that were added, of `count` listed
 * parts. */
static evn_status deal_some(evn_exchange *x, int count) {
    evn_status status = EVN_OK;
    for (int i = 0; i < count; i++)
        if (x->part[x->some[i]].stale & ELSEWHERE) undeal_part(x, &x->part[x->some[i]]);
    for (int i = 0; !status && i < count; i++) {
        struct part *part = &x->part[x->some[i]];
        if (!(part->stale & ELSEWHERE)) continue;
        locate(x, part);
        status = find_end(x, part);
    }
    if (!status) status = equip_ends(x);
    if (!status) status = ahead_begin(x, x->plan.ahead.faces);
    for (int i = 0; !status && i < count; i++) {
        struct part *part = &x->part[x->some[i]];
        status = deal_part(x, part);
        part->stale = 0;
    }
    return status;
}

/* ---- the plan ------------------------------------------------------------------------------ */

/* From scratch; ranks have listed faces by their indices, and see to it that few are gone. */
static evn_status deal_all(evn_exchange *x) {
    if (!x->loop->cluster) exchange_compact(x);
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < x->parts; i++) status = find_end(x, &x->part[i]);
    if (!status) status = equip_ends(x);
    if (!status) status = ahead_begin(x, 0);
    return status ? status : deal_faces(x);
}

/* Mended, where `count` parts are listed, or, -1, from scratch. */
static evn_status make(evn_exchange *x, int count) {
    struct plan *p = &x->plan;
    p->made = p->dealt = p->mends = 0;
    if (x->open) close_queues(p);
    x->open = 0;
    close_messages(p);
    clear_ends(p, count < 0);
    evn_status status = count < 0 ? deal_all(x) : deal_some(x, count);
    if (!status) status = exchange_deal_messages(x);
    for (int i = 0; !status && i < p->ends; i++) status = send_lists(x, &p->end[i]);
    if (status) return status;
    if (count < 0)
        count_units(x);
    else
        count_tasks(x);
    p->made = p->dealt = p->mends = 1;
    if (decisions_wanted(OF_EXCHANGES)) decisions.exchange(x, count >= 0);
    return EVN_OK;
}

/* 1 if only the assignment of copies is outdated: all are in one memory. */
static int is_anybodys(const evn_exchange *x, const struct changed *changed) {
    return !x->place && !x->loop->cluster && x->plan.made && !changed->place;
}

evn_status exchange_plan(evn_exchange *x) {
    struct plan *p = &x->plan;
    evn_status status = open_units(x);
    if (status) return status;
    const struct changed changed = look(x);
    if (!changed.any && p->made && p->dealt) return EVN_OK;
    if (can_mend(x, &changed)) return make(x, changed.any);
    locate_all(x);
    if (!is_anybodys(x, &changed) || !ahead_has_all(x)) return make(x, -1);
    p->dealt = p->mends = 0;
    if (changed.any) count_units(x);
    return EVN_OK;
}

/* The global number of the unit that has a part. */
static int unit_among_all(const evn_exchange *x, int part) {
    const int own = exchange_unit(x, part);
    return own < 0 ? x->loop->owner[x->part[part].task] : x->loop->first + own;
}

/* Over ranks, devices of other ranks are identified by their units only. */
int evn_exchange_pairs(evn_exchange *x, double *bytes) {
    NEED_OR(-1, x, "an exchange");
    NEED_OR(-1, bytes, "where to put the bytes of each pair");
    if (x->remote_ops) x->remote_ops->find(x);
    if (exchange_find(x) || exchange_plan(x)) return -1;
    const size_t units = (size_t)x->loop->problem->units;
    if (!x->loop->cluster) {
        for (size_t i = 0; i < units * units; i++) bytes[i] = x->plan.flow[i].bytes;
        return x->plan.pairs;
    }
    memset(bytes, 0, units * units * sizeof *bytes);
    int pairs = 0;
    for (int i = 0; i < x->faces; i++) {
        const struct face *f = &x->face[i];
        if (f->from < 0) continue;
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
