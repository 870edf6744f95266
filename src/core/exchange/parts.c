/* Parts of an exchange: data of tasks that faces read and write, each with a list of its faces, so
 * that a change of few of them takes no look at all others. */
#include "exchange/areas.h"
#include "exchange/plan.h"
#include "base/argument.h"
#include <stdlib.h>
#include <string.h>

/* ---- room ---------------------------------------------------------------------------------- */

/* Makes *array larger, by a quarter at least, if it has less than `count` elements. 1: not enough
 * memory, and it is as it was. */
static int reserve(void **array, size_t *room, size_t count, size_t size) {
    if (count <= *room) return 0;
    const size_t more = count > *room + *room / 4 ? count : *room + *room / 4;
    void *grown = realloc(*array, more * size);
    if (!grown) return 1;
    *array = grown;
    *room = more;
    return 0;
}

/* The number of regions that the tasks of now have, by the largest of their numbers. Those that
 * the place does not have are in no face. */
static size_t count_regions(const evn_exchange *x) {
    const size_t regions = (size_t)x->loop->problem->tasks * (size_t)x->loop->regions;
    const int numbers = x->place ? place_numbers(x->place) : 0;
    int most = -1;
    for (size_t i = 0; x->place && i < regions; i++)
        if (x->loop->region[i] > most && x->loop->region[i] < numbers) most = x->loop->region[i];
    for (int i = 0; x->place && i < x->parts; i++)
        if (x->part[i].region > most) most = x->part[i].region;
    return (size_t)most + 1;
}

/* Arrays of parts grow together. */
static int reserve_parts(evn_exchange *x, size_t parts) {
    if (parts <= (size_t)x->part_room) return 0;
    size_t part = (size_t)x->part_room, held = part, access = part, some = part;
    const int failed = reserve((void **)&x->part, &part, parts, sizeof *x->part) ||
                       reserve((void **)&x->held, &held, part, sizeof *x->held) ||
                       reserve((void **)&x->some, &some, part, sizeof *x->some) ||
                       reserve((void **)&x->access, &access, part, sizeof *x->access);
    if (!failed) x->part_room = (int)part;
    return failed;
}

static int reserve_faces(evn_exchange *x, size_t faces) {
    if (faces <= (size_t)x->face_room) return 0;
    size_t face = (size_t)x->face_room, entry = face;
    const size_t marks = x->mark_room;
    if (faces > 1u << 30) return 1; /* twice a face's index is an int */
    const int failed =
        reserve((void **)&x->face, &face, faces, sizeof *x->face) ||
        reserve((void **)&x->entry, &entry, face, sizeof *x->entry) ||
        reserve((void **)&x->carried, &x->mark_room, marks_words((int)face), sizeof *x->carried);
    if (!failed) x->face_room = (int)face;
    for (size_t i = marks; i < x->mark_room; i++) x->carried[i] = 0;
    return failed;
}

int parts_room(evn_exchange *x, int tasks, int faces) {
    const size_t slots = (size_t)tasks * (size_t)x->slots, before = x->table_room;
    size_t parts = (size_t)x->parts + 2 * (size_t)faces + 1;
    if (parts > slots + 1) parts = slots + 1; /* each task's regions once */
    if (reserve((void **)&x->table, &x->table_room, slots, sizeof *x->table)) return 1;
    for (size_t i = before; i < x->table_room; i++) x->table[i] = -1;
    return reserve((void **)&x->first, &x->first_room, count_regions(x), sizeof *x->first) ||
           reserve((void **)&x->device, &x->device_room, (size_t)tasks, sizeof *x->device) ||
           reserve_parts(x, parts) || reserve_faces(x, (size_t)x->faces + (size_t)faces + 1);
}

/* ---- entering ------------------------------------------------------------------------------ */

static int *number_of(const evn_exchange *x, int task, int slot) {
    return &x->table[(size_t)task * (size_t)x->slots + (size_t)slot];
}

/* The part of a face's side, made if it is missing. */
static int find_part(evn_exchange *x, int task, int slot, void *const *host) {
    int *number = number_of(x, task, slot);
    if (*number >= 0) return *number;
    *number = x->parts++;
    x->part[*number] = (struct part){
        .task = task,
        .slot = slot,
        .region = x->place ? x->loop->region[(size_t)task * (size_t)x->slots + (size_t)slot] : task,
        .first = -1,
        .stale = ELSEWHERE,
        .marked = -1,
        .owner = -1,
        .end = -1,
        .host = x->place ? NULL : host[task],
    };
    return *number;
}

static void reach(const evn_exchange *x, struct part *p, const evn_face *f, int to) {
    long long lo, hi;
    int n[3];
    exchange_extents(f, to, n);
    exchange_reach(to ? f->to_at : f->from_at, to ? f->to_stride : f->from_stride, n, &lo, &hi);
    const size_t bytes = hi < 0 ? 0 : (size_t)(hi + 1) * x->element;
    if (bytes > p->bytes) p->bytes = bytes;
}

/* Adds to a part of a face how far it reaches, and that it writes. */
static void use_part(const evn_exchange *x, struct part *p, const evn_face *f, int to) {
    p->writes |= (unsigned char)to;
    if (!x->place) p->written = p->writes;
    reach(x, p, f, to);
}

/* The first of a part's list is the face that was entered last. */
static void list_face(evn_exchange *x, int face) {
    for (int to = 1; to >= 0; to--) {
        struct part *p = &x->part[to ? x->face[face].to : x->face[face].from];
        x->entry[face].next[to] = p->first;
        p->first = 2 * face + to;
    }
}

void parts_list(evn_exchange *x) {
    for (int i = 0; i < x->parts; i++) x->part[i].first = -1;
    for (int i = x->faces - 1; i >= 0; i--) list_face(x, i);
}

void parts_enter(evn_exchange *x, int before, void *const *host) {
    for (int i = before; i < x->faces; i++) {
        struct face *f = &x->face[i];
        f->from = find_part(x, f->of.from, f->of.from_region, host);
        f->to = find_part(x, f->of.to, f->of.to_region, host);
        for (int to = 0; to < 2; to++) {
            struct part *p = &x->part[to ? f->to : f->from];
            use_part(x, p, &f->of, to);
            p->stale |= UNDEALT;
        }
        x->entry[i].end = x->entry[i].copy = NOWHERE;
    }
    for (int i = x->faces - 1; i >= before; i--) list_face(x, i);
}

static int by_region(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    return x->region != y->region ? (x->region > y->region) - (x->region < y->region)
                                  : (x->task > y->task) - (x->task < y->task);
}

void parts_sort(evn_exchange *x) {
    qsort(x->part, (size_t)x->parts, sizeof *x->part, by_region);
    for (int i = 0; i < x->parts; i++) *number_of(x, x->part[i].task, x->part[i].slot) = i;
    for (int i = 0; i < x->faces; i++) {
        struct face *f = &x->face[i];
        f->from = *number_of(x, f->of.from, f->of.from_region);
        f->to = *number_of(x, f->of.to, f->of.to_region);
    }
    parts_list(x);
}

void parts_mark_regions(evn_exchange *x) {
    if (!x->place) return; /* each is a task's */
    for (size_t i = 0; i < x->first_room; i++) x->first[i] = -1;
    for (int i = 0; i < x->parts; i++) {
        struct part *p = &x->part[i];
        p->written = p->writes;
        int *first = &x->first[p->region];
        p->again = *first >= 0;
        if (*first < 0) *first = i;
        x->part[*first].written |= p->writes;
    }
    for (int i = 0; i < x->parts; i++)
        x->part[i].written = x->part[x->first[x->part[i].region]].written;
}

/* ---- leaving ------------------------------------------------------------------------------- */

/* Takes faces that are gone out of a part's list; what it is used for follows from the others. */
static void lessen(evn_exchange *x, struct part *p) {
    int *last = &p->first;
    p->lessened = 0;
    p->bytes = 0;
    p->writes = p->written = 0;
    for (int at = p->first; at >= 0; at = x->entry[at / 2].next[at % 2]) {
        const struct face *f = &x->face[at / 2];
        if (f->from < 0) continue;
        use_part(x, p, &f->of, at % 2);
        *last = at;
        last = &x->entry[at / 2].next[at % 2];
    }
    *last = -1;
}

/* The last part takes the place of one that goes. */
static void remove_part(evn_exchange *x, int i) {
    *number_of(x, x->part[i].task, x->part[i].slot) = -1;
    const int last = --x->parts;
    if (i == last) return;
    struct part *p = &x->part[i];
    *p = x->part[last];
    *number_of(x, p->task, p->slot) = i;
    for (int at = p->first; at >= 0; at = x->entry[at / 2].next[at % 2]) {
        struct face *f = &x->face[at / 2];
        if (f->from < 0) continue;
        *(at % 2 ? &f->to : &f->from) = i;
    }
}

static int descending(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

/* From behind, so that each part that takes another's place has been looked at. */
void parts_lessen(evn_exchange *x) {
    qsort(x->some, (size_t)x->lessened, sizeof *x->some, descending);
    for (int i = 0; i < x->lessened; i++) {
        struct part *p = &x->part[x->some[i]];
        lessen(x, p);
        if (p->first < 0) remove_part(x, x->some[i]);
    }
    x->lessened = 0;
}

void parts_lose(evn_exchange *x, int i) {
    if (x->part[i].lessened) return;
    x->part[i].lessened = 1;
    x->some[x->lessened++] = i;
}

void parts_renumber(evn_exchange *x, const int *now, int tasks) {
    const size_t slots = (size_t)tasks * (size_t)x->slots;
    memset(x->table, 0xff, slots * sizeof *x->table); /* -1 */
    for (int i = 0; i < x->parts; i++) {
        struct part *p = &x->part[i];
        p->task = now[p->task];
        if (!x->place) p->region = p->task;
        *number_of(x, p->task, p->slot) = i;
    }
    x->tasks = tasks;
}
