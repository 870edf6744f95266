/* Faces between tasks of any ranks: added, checked, and following their tasks. The rank of the task
 * that is written keeps a face and tells the rank of the other one, so that the two cannot differ.
 */
#include "domain/inside.h"
#include "exchange/areas.h"
#include "exchange/copies.h"
#include "base/argument.h"
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static evn_status no_memory(const evn_distributed *d) {
    return evn_fail(EVN_MEMORY, "distributed: no memory for the faces of %d tasks", d->tasks);
}

void rank_faces_close(evn_distributed *d) {
    rank_messages_close(d);
    free(d->face);
    free(d->far);
    free(d->read);
    d->far = NULL;
    d->fars = d->far_room = 0;
    d->face = NULL;
    d->read = NULL;
    d->faces = d->reads = 0;
}

/* Adds the face of index i to those of other ranks, if it is one. */
static evn_status note_far(evn_distributed *d, int i) {
    if (d->face[i].from.rank == d->rank) return EVN_OK;
    int *far = array_grow(d->far, d->fars, &d->far_room, sizeof *far);
    if (!far) return no_memory(d);
    d->far = far;
    d->far[d->fars++] = i;
    return EVN_OK;
}

/* ---- checks of one face -------------------------------------------------------------------- */

/* Both ends are tasks that there are; checked where the face is given. */
static evn_status check_ends(const evn_distributed *d, int number, const evn_rank_face *f) {
    for (int to = 0; to < 2; to++) {
        const evn_rank_task *t = to ? &f->to : &f->from;
        const char *way = to ? "to" : "from";
        if (t->rank < 0 || t->rank >= d->size)
            return evn_fail(EVN_USAGE,
                            "distributed: face %d goes %s a task of rank %d; there are ranks 0 to "
                            "%d",
                            number, way, t->rank, d->size - 1);
        const long long tasks = d->sum[t->rank + 1] - d->sum[t->rank];
        if (t->number < 0 || t->number >= tasks)
            return evn_fail(EVN_USAGE,
                            "distributed: face %d goes %s task %d of rank %d, which has %lld tasks",
                            number, way, t->number, t->rank, tasks);
    }
    return EVN_OK;
}

static evn_status check_shape(const evn_distributed *d, int number, const evn_face *f) {
    long long bytes = (long long)d->element;
    for (int i = 0; i < 3; i++) {
        if (f->n[i] < 0)
            return evn_fail(EVN_USAGE,
                            "distributed: face %d has %d x %d x %d values; none may be below 0",
                            number, f->n[0], f->n[1], f->n[2]);
        if (__builtin_mul_overflow(bytes, (long long)f->n[i], &bytes))
            return evn_fail(EVN_USAGE, "distributed: face %d has more values than can be counted",
                            number);
    }
    return exchange_check_resolution("distributed", number, f, d->element);
}

static evn_status check_given(const evn_distributed *d, int count, const evn_rank_face *face) {
    if (count < 0 || (count && !face))
        return evn_fail(EVN_USAGE, "distributed: %d faces%s", count,
                        count < 0 ? ", expected 0 or more" : ", and none are given");
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < count; i++) {
        status = check_ends(d, i, &face[i]);
        if (!status) status = check_shape(d, i, &face[i].block);
    }
    return status;
}

/* A side lies in its region; checked where the task is. */
static evn_status check_side(const evn_distributed *d, const evn_face *f, evn_rank_task giver,
                             int task, int to) {
    const int slot = to ? f->to_region : f->from_region;
    const char *verb = to ? "writes" : "reads";
    if (slot < 0 || slot >= d->regions)
        return evn_fail(EVN_USAGE,
                        "distributed: face %d of rank %d %s region %d of task %d; tasks have "
                        "regions 0 to %d",
                        giver.number, giver.rank, verb, slot, task, d->regions - 1);
    const size_t have = d->bytes[(size_t)task * (size_t)d->regions + (size_t)slot];
    const long long values = (long long)(have / d->element);
    long long lo, hi;
    int n[3];
    exchange_extents(f, to, n);
    const int far =
        exchange_reach(to ? f->to_at : f->from_at, to ? f->to_stride : f->from_stride, n, &lo, &hi);
    if (!far && lo >= 0 && hi < values) return EVN_OK;
    if (far)
        return evn_fail(EVN_USAGE,
                        "distributed: face %d of rank %d %s values further away than can be "
                        "counted",
                        giver.number, giver.rank, verb);
    return evn_fail(EVN_USAGE,
                    "distributed: face %d of rank %d %s values %lld to %lld of region %d of task "
                    "%d, which has %lld",
                    giver.number, giver.rank, verb, lo, hi, slot, task, values);
}

/* ---- faces among each other ---------------------------------------------------------------- */

static size_t slot_of(const evn_distributed *d, const evn_face *f, int task, int to) {
    return (size_t)task * (size_t)d->regions + (size_t)(to ? f->to_region : f->from_region);
}

/* One side of a face in a region of this rank. */
static struct area area_of(const evn_distributed *d, const evn_face *f, evn_rank_task giver,
                           int task, int to) {
    struct area a = {.face = giver.number,
                     .rank = giver.rank,
                     .task = task,
                     .slot = to ? f->to_region : f->from_region,
                     .written = to,
                     .region = slot_of(d, f, task, to)};
    area_fill(&a, f, d->element);
    return a;
}

/* A mark for each region that is touched by faces from `before` on, or by fresh reads. */
static char *touch(const evn_distributed *d, int before) {
    char *touched = calloc((size_t)d->tasks * (size_t)d->regions + 1, 1);
    if (!touched) return NULL;
    for (int i = before; i < d->faces; i++) {
        const struct writing *f = &d->face[i];
        touched[slot_of(d, &f->block, f->to, 1)] = 1;
        if (f->from.rank == d->rank) touched[slot_of(d, &f->block, f->from.number, 0)] = 1;
    }
    for (int i = 0; i < d->reads; i++)
        if (d->read[i].fresh) touched[slot_of(d, &d->read[i].block, d->read[i].block.from, 0)] = 1;
    return touched;
}

/* Areas in touched regions. */
struct areas {
    struct area *area;
    int count, room;
};

static int add_area(struct areas *s, struct area area) {
    struct area *more = array_grow(s->area, s->count, &s->room, sizeof *more);
    if (!more) return -1;
    s->area = more;
    s->area[s->count++] = area;
    return 0;
}

static int find_areas(const evn_distributed *d, const char *touched, struct areas *s) {
    int failed = 0;
    for (int i = 0; !failed && i < d->faces; i++) {
        const struct writing *f = &d->face[i];
        const int own = f->from.rank == d->rank;
        if (touched[slot_of(d, &f->block, f->to, 1)])
            failed |= add_area(s, area_of(d, &f->block, f->giver, f->to, 1));
        if (own && touched[slot_of(d, &f->block, f->from.number, 0)])
            failed |= add_area(s, area_of(d, &f->block, f->giver, f->from.number, 0));
    }
    for (int i = 0; !failed && i < d->reads; i++) {
        const struct reading *r = &d->read[i];
        if (touched[slot_of(d, &r->block, r->block.from, 0)])
            failed |= add_area(s, area_of(d, &r->block, r->giver, r->block.from, 0));
    }
    return failed;
}

/* Faces from `before` on, and what others come to read, with all faces of the same regions. */
static evn_status check_overlaps(const evn_distributed *d, int before) {
    char *touched = touch(d, before);
    struct areas s = {0};
    evn_status status = !touched || find_areas(d, touched, &s)
                            ? no_memory(d)
                            : areas_check("distributed", d->element, s.area, s.count);
    free(s.area);
    free(touched);
    return status;
}

/* ---- sources learn what is read of them ---------------------------------------------------- */

/* A packet to the rank of a source. */
struct wanted {
    evn_face block; /* from: the source's number there */
    evn_rank_task giver;
    int fresh;
};

static evn_status fill_reads(const evn_distributed *d, const struct record *packets,
                             struct reading **read, int *reads) {
    const struct packet *l;
    int count = 0;
    for (size_t at = 0; packets_next(packets, &at);) count++;
    *read = malloc(((size_t)count + 1) * sizeof **read);
    if (!*read) return no_memory(d);
    *reads = 0;
    for (size_t at = 0; (l = packets_next(packets, &at));) {
        struct wanted w;
        memcpy(&w, l + 1, sizeof w);
        (*read)[(*reads)++] =
            (struct reading){.rank = l->from, .block = w.block, .giver = w.giver, .fresh = w.fresh};
    }
    return EVN_OK;
}

/* Faces from `fresh` on are being added. `read` receives this rank's list. */
static evn_status tell_sources(const evn_distributed *d, int fresh, struct reading **read,
                               int *reads, evn_status mine) {
    struct record packets = {0};
    for (int i = 0; !mine && i < d->fars; i++) {
        const struct writing *f = &d->face[d->far[i]];
        struct wanted w = {.block = f->block, .giver = f->giver, .fresh = d->far[i] >= fresh};
        w.block.from = f->from.number;
        mine = packets_add(&packets, d->rank, f->from.rank, &w, sizeof w);
    }
    mine = packets_route(d, &packets, mine);
    if (!mine) mine = fill_reads(d, &packets, read, reads);
    record_free(&packets);
    return mine;
}

/* ---- adding -------------------------------------------------------------------------------- */

/* A packet to the rank of the target. */
struct given {
    evn_rank_face face;
    int number;
};

static int is_empty(const evn_face *f) { return !f->n[0] || !f->n[1] || !f->n[2]; }

/* Faces come to the ranks of their targets, behind those that are there. */
static evn_status bring(evn_distributed *d, int count, const evn_rank_face *face, evn_status mine) {
    struct record packets = {0};
    for (int i = 0; !mine && i < count; i++) {
        const struct given g = {face[i], i};
        if (!is_empty(&face[i].block))
            mine = packets_add(&packets, d->rank, face[i].to.rank, &g, sizeof g);
    }
    mine = packets_route(d, &packets, mine);
    int more = 0;
    for (size_t at = 0; !mine && packets_next(&packets, &at);) more++;
    struct writing *all =
        mine ? NULL : realloc(d->face, ((size_t)d->faces + (size_t)more + 1) * sizeof *all);
    if (all)
        d->face = all;
    else if (!mine)
        mine = no_memory(d);
    const struct packet *l;
    for (size_t at = 0; !mine && (l = packets_next(&packets, &at));) {
        struct given g;
        memcpy(&g, l + 1, sizeof g);
        d->face[d->faces++] = (struct writing){.from = g.face.from,
                                               .to = g.face.to.number,
                                               .block = g.face.block,
                                               .giver = {l->from, g.number}};
        mine = note_far(d, d->faces - 1);
    }
    record_free(&packets);
    return mine;
}

static evn_status check_targets(const evn_distributed *d, int before) {
    evn_status status = EVN_OK;
    for (int i = before; !status && i < d->faces; i++) {
        const struct writing *f = &d->face[i];
        status = check_side(d, &f->block, f->giver, f->to, 1);
        if (!status && f->from.rank == d->rank)
            status = check_side(d, &f->block, f->giver, f->from.number, 0);
    }
    return status;
}

static evn_status check_sources(const evn_distributed *d) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < d->reads; i++)
        if (d->read[i].fresh)
            status = check_side(d, &d->read[i].block, d->read[i].giver, d->read[i].block.from, 0);
    return status;
}

evn_status evn_distributed_add(evn_distributed *d, int count, const evn_rank_face *face) {
    static const char *const what = "evn_distributed_add()";
    NEED(d, "distributed tasks");
    evn_status status = distributed_may(d, what);
    if (status) return status;
    status = distributed_agree(d, what, check_given(d, count, face));
    if (status) return status;
    const int before = d->faces, fars = d->fars;
    struct reading *old = d->read;
    const int olds = d->reads;
    status = bring(d, count, face, EVN_OK);
    if (!status) status = check_targets(d, before);
    struct reading *read = NULL;
    int reads = 0;
    status = tell_sources(d, before, &read, &reads, status);
    if (!status) {
        d->read = read;
        d->reads = reads;
        status = check_sources(d);
        if (!status) status = check_overlaps(d, before);
    }
    status = distributed_agree(d, what, status);
    if (status) {
        free(read);
        d->read = old;
        d->reads = olds;
        d->faces = before;
        d->fars = fars;
        return status;
    }
    free(old);
    return distributed_done(d, what, rank_faces_connect(d, before, EVN_OK));
}

/* ---- within the rank, and to others --------------------------------------------------------- */

/* Faces within the rank, from `before` on, that its exchange has not got yet. */
static evn_status add_own(evn_distributed *d, int before) {
    int count = 0;
    evn_face *face = malloc(((size_t)(d->faces - before) + 1) * sizeof *face);
    if (!face) return no_memory(d);
    for (int i = before; i < d->faces; i++) {
        struct writing *f = &d->face[i];
        if (f->held || f->from.rank != d->rank) continue;
        face[count] = f->block;
        face[count].from = f->from.number;
        face[count++].to = f->to;
        f->held = 1;
    }
    evn_status status = EVN_OK;
    if (count && d->exchange)
        status = evn_exchange_add(d->exchange, count, face, NULL);
    else if (count)
        status = evn_exchange_open(&d->exchange, d->loop, d->element, count, face, NULL);
    free(face);
    return status;
}

evn_status rank_faces_connect(evn_distributed *d, int before, evn_status mine) {
    if (!mine) mine = add_own(d, before);
    return rank_messages_open(d, mine);
}

/* ---- following tasks ----------------------------------------------------------------------- */

/* Readers learn where their sources are now: a packet to each neighbour, in the order of the
 * reads, which is that of the faces there. */
static evn_status tell_readers(const evn_distributed *d, const evn_rank_task *now,
                               struct record *packets) {
    evn_status status = EVN_OK;
    evn_rank_task *list = malloc(((size_t)d->reads + 1) * sizeof *list);
    if (!list) return no_memory(d);
    for (int i = 0, next; !status && i < d->reads; i = next) {
        for (next = i; next < d->reads && d->read[next].rank == d->read[i].rank; next++)
            list[next] = now[d->read[next].block.from];
        status = packets_add(packets, d->rank, d->read[i].rank, list + i,
                             (size_t)(next - i) * sizeof *list);
    }
    free(list);
    return status;
}

/* The numbers of now come into the sources on other ranks. */
static evn_status find_sources(evn_distributed *d, const struct record *packets) {
    const struct neighbours *n = &d->neighbours;
    const evn_rank_task **next = calloc((size_t)n->count + 1, sizeof *next);
    const struct packet *l;
    if (!next) return no_memory(d);
    for (size_t at = 0; (l = packets_next(packets, &at));)
        next[neighbours_find(n, l->from) - n->of] = (const evn_rank_task *)(l + 1);
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < d->fars; i++) {
        struct writing *f = &d->face[d->far[i]];
        const evn_rank_task **now = &next[neighbours_find(n, f->from.rank) - n->of];
        if (*now)
            f->from = *(*now)++;
        else /* it says why when all meet */
            status = evn_fail(EVN_STOPPED, "distributed: rank %d has failed", f->from.rank);
    }
    free(next);
    return status;
}

/* Faces whose tasks are gone go, and those whose target is on another rank are posted there. */
static evn_status renumber(evn_distributed *d, const evn_rank_task *now, struct record *packets) {
    evn_status status = EVN_OK;
    int left = 0;
    d->fars = 0;
    for (int i = 0; !status && i < d->faces; i++) {
        struct writing *f = &d->face[i];
        const evn_rank_task to = now[f->to];
        if (!f->comes) f->from = now[f->from.number];
        if (to.rank < 0 || f->from.rank < 0) continue;
        f->to = to.number;
        f->comes = 0;
        f->held = f->held && d->exchange && to.rank == d->rank && f->from.rank == d->rank;
        if (to.rank != d->rank) {
            status = packets_add(packets, d->rank, to.rank, f, sizeof *f);
            continue;
        }
        if (left < i) d->face[left] = *f;
        status = note_far(d, left++);
    }
    if (!status) d->faces = left;
    return status;
}

static evn_status take_in(evn_distributed *d, const struct record *packets) {
    const struct packet *l;
    size_t more = 0;
    for (size_t at = 0; packets_next(packets, &at);) more++;
    struct writing *all = realloc(d->face, ((size_t)d->faces + more + 1) * sizeof *all);
    if (!all) return no_memory(d);
    d->face = all;
    evn_status status = EVN_OK;
    for (size_t at = 0; !status && (l = packets_next(packets, &at));) {
        memcpy(&d->face[d->faces], l + 1, sizeof *d->face);
        status = note_far(d, d->faces++);
    }
    return status;
}

evn_status rank_faces_follow(evn_distributed *d, const evn_rank_task *now, evn_status mine) {
    struct record packets = {0};
    if (!mine) mine = tell_readers(d, now, &packets);
    mine = packets_route(d, &packets, mine);
    if (!mine) mine = find_sources(d, &packets);
    packets.bytes = 0;
    if (!mine) mine = renumber(d, now, &packets);
    mine = packets_route(d, &packets, mine);
    if (!mine) mine = take_in(d, &packets);
    record_free(&packets);
    struct reading *read = NULL;
    int reads = 0;
    mine = tell_sources(d, d->faces, &read, &reads, mine);
    if (mine) {
        free(read);
        return mine;
    }
    free(d->read);
    d->read = read;
    d->reads = reads;
    return EVN_OK;
}
