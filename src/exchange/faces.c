/* The faces of an exchange and their parts, which are data of tasks: taken when it is opened, added
 * and dropped later, and renumbered as the tasks of the loop come and go. */
#include "exchange/plan.h"
#include "base/argument.h"
#include <evener/clock.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- parts --------------------------------------------------------------------------------- */

/* Makes a part of a face's side, unless it exists. */
static void need_part(evn_exchange *x, int *table, int task, int slot, void *const *host) {
    int *number = &table[(size_t)task * (size_t)x->slots + (size_t)slot];
    if (*number >= 0) return;
    *number = x->parts;
    x->part[x->parts++] = (struct part){
        .task = task,
        .slot = slot,
        .region = x->place ? x->loop->region[(size_t)task * (size_t)x->slots + (size_t)slot] : task,
        .host = x->place ? NULL : host[task],
    };
}

static int *part_of(const evn_exchange *x, int *table, int task, int slot) {
    return &table[(size_t)task * (size_t)x->slots + (size_t)slot];
}

static void reach(const evn_exchange *x, struct part *p, const evn_face *f, int to) {
    long long lo, hi;
    int n[3];
    exchange_extents(f, to, n);
    exchange_reach(to ? f->to_at : f->from_at, to ? f->to_stride : f->from_stride, n, &lo, &hi);
    const size_t bytes = hi < 0 ? 0 : (size_t)(hi + 1) * x->element;
    if (bytes > p->bytes) p->bytes = bytes;
}

/* Adds to the parts of a face how far it reaches, and that it writes one. */
static void use_parts(evn_exchange *x, const struct face *f) {
    x->part[f->to].writes = 1;
    reach(x, &x->part[f->from], &f->of, 0);
    reach(x, &x->part[f->to], &f->of, 1);
}

static int most_region(const evn_exchange *x) {
    int most = -1;
    for (int i = 0; i < x->parts; i++)
        if (x->part[i].region > most) most = x->part[i].region;
    return most;
}

/* A region of several tasks is held once, and is written if one of them writes it. `table`: room
 * for all regions' numbers; not used without a place. */
static void mark_regions(evn_exchange *x, int *table) {
    const int most = x->place ? most_region(x) : -1;
    for (int r = 0; r <= most; r++) table[r] = -1;
    for (int i = 0; i < x->parts; i++) {
        struct part *p = &x->part[i];
        p->written = p->writes;
        p->again = 0;
        if (!x->place) continue;
        int *first = &table[p->region];
        p->again = *first >= 0;
        if (*first < 0) *first = i;
        x->part[*first].written |= p->writes;
    }
    for (int i = 0; x->place && i < x->parts; i++)
        x->part[i].written = x->part[table[x->part[i].region]].written;
}

static int by_region(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    return x->region != y->region ? (x->region > y->region) - (x->region < y->region)
                                  : (x->task > y->task) - (x->task < y->task);
}

/* Parts ascend by region, as data lie in memory; faces then have new numbers of them. */
static void sort_parts(evn_exchange *x, int *table) {
    qsort(x->part, (size_t)x->parts, sizeof *x->part, by_region);
    for (int i = 0; i < x->parts; i++) *part_of(x, table, x->part[i].task, x->part[i].slot) = i;
}

/* ---- taking -------------------------------------------------------------------------------- */

static evn_status no_memory(const evn_exchange *x, int count) {
    return evn_fail(EVN_MEMORY, "exchange: no memory for %d faces of %d tasks", count, x->tasks);
}

/* Room for `count` more faces. What there is stays where there is no memory. */
static int make_room(evn_exchange *x, int count) {
    const size_t slots = (size_t)x->tasks * (size_t)x->slots;
    const size_t faces = (size_t)x->faces + (size_t)count + 1;
    size_t parts = (size_t)x->parts + 2 * (size_t)count + 1;
    if (parts > slots + 1) parts = slots + 1; /* each task's regions once */
    struct face *face = realloc(x->face, faces * sizeof *face);
    if (face) x->face = face;
    struct part *part = realloc(x->part, parts * sizeof *part);
    if (part) x->part = part;
    int *held = realloc(x->held, parts * sizeof *held);
    if (held) x->held = held;
    evn_access *access = realloc(x->access, parts * sizeof *access);
    if (access) x->access = access;
    return !face || !part || !held || !access;
}

/* Appends the faces that have values, with the parts that they need. */
static void append(evn_exchange *x, int count, const evn_face *face, void *const *host,
                   int *table) {
    for (int i = 0; i < count; i++) {
        const evn_face *f = &face[i];
        if (!f->n[0] || !f->n[1] || !f->n[2]) continue;
        x->face[x->faces++] = (struct face){.of = *f, .number = x->numbered + i, .back = -1};
        need_part(x, table, f->from, f->from_region, host);
        need_part(x, table, f->to, f->to_region, host);
    }
}

/* Faces from `before` on find their parts. */
static void find_parts(evn_exchange *x, int before, int *table) {
    for (int i = before; i < x->faces; i++) {
        struct face *f = &x->face[i];
        f->from = *part_of(x, table, f->of.from, f->of.from_region);
        f->to = *part_of(x, table, f->of.to, f->of.to_region);
        use_parts(x, f);
    }
}

/* A table of the parts of all tasks' regions, and room for mark_regions(). */
static int *make_table(const evn_exchange *x) {
    const size_t slots = (size_t)x->tasks * (size_t)x->slots;
    size_t room = slots;
    for (size_t i = 0; x->place && i < slots; i++)
        if (x->loop->region[i] >= 0 && (size_t)x->loop->region[i] + 1 > room)
            room = (size_t)x->loop->region[i] + 1;
    int *table = malloc(room * sizeof *table);
    for (size_t i = 0; table && i < slots; i++) table[i] = -1;
    return table;
}

evn_status exchange_take(evn_exchange *x, int count, const evn_face *face, void *const *host) {
    int *table = make_table(x);
    x->device = malloc((size_t)x->tasks * sizeof *x->device);
    const int failed = !table || !x->device || make_room(x, count);
    if (!failed) {
        append(x, count, face, host, table);
        sort_parts(x, table);
        find_parts(x, 0, table);
        mark_regions(x, table);
        x->numbered = count;
    }
    free(table);
    return failed ? no_memory(x, count) : EVN_OK;
}

void exchange_close_faces(evn_exchange *x) {
    free(x->face);
    free(x->part);
    free(x->held);
    free(x->access);
    free(x->device);
}

/* ---- other faces --------------------------------------------------------------------------- */

/* Whether faces may change: no run is half done, and nothing was copied early. */
static evn_status may_change(const evn_exchange *x, const char *what) {
    if (x->open)
        return evn_fail(EVN_USAGE,
                        "exchange: %s while the second half of an exchange is open; the next "
                        "instance's bodies finish it",
                        what);
    if (x->plan.ahead.faces && atomic_load(&x->plan.ahead.said))
        return evn_fail(EVN_USAGE,
                        "exchange: %s after evn_exchange_ahead(), and no run since: faces that "
                        "were copied early would be copied again",
                        what);
    return EVN_OK;
}

/* The plan is to be made anew, in the memory that it has. */
static void replan(evn_exchange *x) {
    x->plan.made = x->plan.dealt = 0;
    x->settled = 0;
    x->far.plan = -1;
    ahead_close(&x->plan.ahead);
}

/* Addresses by which the check tells which faces meet: of tasks of other ranks none is known. */
static void find_hosts(evn_exchange *x) {
    for (int i = 0; x->loop->cluster && !x->place && i < x->parts; i++) {
        struct part *p = &x->part[i];
        p->host = exchange_far(x, p) ? NULL : p->host;
    }
}

/* Parts of before an addition, as they were. */
struct undo {
    int faces, parts;
    struct part *part;
};

static void undo(evn_exchange *x, const struct undo *u, int *table) {
    x->faces = u->faces;
    x->parts = u->parts;
    memcpy(x->part, u->part, (size_t)u->parts * sizeof *u->part);
    mark_regions(x, table);
}

static evn_status add(evn_exchange *x, int count, const evn_face *face, void *const *host,
                      int *table, const struct undo *u) {
    for (int i = 0; i < x->parts; i++) *part_of(x, table, x->part[i].task, x->part[i].slot) = i;
    find_hosts(x);
    append(x, count, face, host, table);
    find_parts(x, u->faces, table);
    mark_regions(x, table);
    evn_status status = exchange_check_overlaps(x, u->faces);
    return status ? status : exchange_find_pairs(x, u->faces);
}

evn_status evn_exchange_add(evn_exchange *x, int count, const evn_face *face, void *const *host) {
    NEED(x, "an exchange");
    const double begin = evn_now();
    evn_status status = loop_may_begin(x->loop, "evn_exchange_add()");
    if (!status) status = may_change(x, "evn_exchange_add()");
    if (!status && (x->loop->place != x->place || (x->place && x->loop->regions != x->slots)))
        status = evn_fail(EVN_USAGE, "exchange: the loop has got other regions since the exchange "
                                     "was opened; open it after evn_loop_place()");
    if (!status) status = exchange_check_faces(x->loop, x->element, x->numbered, count, face, host);
    if (status || !count) return status;
    struct undo u = {x->faces, x->parts, malloc(((size_t)x->parts + 1) * sizeof *u.part)};
    int *table = make_table(x);
    if (!u.part || !table || make_room(x, count)) {
        status = no_memory(x, count);
    } else {
        memcpy(u.part, x->part, (size_t)x->parts * sizeof *u.part);
        status = add(x, count, face, host, table, &u);
        if (status) undo(x, &u, table);
    }
    if (!status) {
        x->numbered += count;
        replan(x);
        loop_note_faces(x->loop, x->faces - u.faces, 0, evn_now() - begin);
    }
    free(u.part);
    free(table);
    return status;
}

/* ---- fewer faces --------------------------------------------------------------------------- */

/* Memory of a change, made before it. */
struct renewal {
    int *part;    /* of each part: its next index; -1: it goes */
    int *face;    /* of each face; -1: it goes */
    char *lessen; /* of each part: 1 if a face of it goes */
    int *table;   /* for mark_regions() */
    int *device;  /* for the tasks of now; NULL: these stay */
    char *needs;
};

static void close_renewal(struct renewal *r) {
    if (!r) return;
    free(r->part);
    free(r->face);
    free(r->lessen);
    free(r->table);
    free(r->device);
    free(r->needs);
    free(r);
}

/* `tasks`: of now; 0: the same ones. NULL: not enough memory. */
static struct renewal *open_renewal(const evn_exchange *x, int tasks) {
    struct renewal *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->part = malloc(((size_t)x->parts + 1) * sizeof *r->part);
    r->face = calloc((size_t)x->faces + 1, sizeof *r->face);
    r->lessen = calloc((size_t)x->parts + 1, 1);
    r->table = malloc(((size_t)most_region(x) + 2) * sizeof *r->table);
    if (tasks) r->device = malloc((size_t)tasks * sizeof *r->device);
    if (tasks && x->plan.needs) r->needs = malloc((size_t)tasks);
    if (r->part && r->face && r->lessen && r->table && (!tasks || r->device) &&
        (!tasks || !x->plan.needs || r->needs))
        return r;
    close_renewal(r);
    return NULL;
}

/* Numbers faces that stay, and the parts that these need. Returns the number of parts. */
static int number(const evn_exchange *x, struct renewal *r) {
    int faces = 0, parts = 0;
    for (int i = 0; i < x->parts; i++) r->part[i] = -1;
    for (int i = 0; i < x->faces; i++) {
        const struct face *f = &x->face[i];
        if (r->face[i] < 0) {
            r->lessen[f->from] = r->lessen[f->to] = 1;
            continue;
        }
        r->face[i] = faces++;
        r->part[f->from] = r->part[f->to] = 0;
    }
    for (int i = 0; i < x->parts; i++)
        if (r->part[i] >= 0) r->part[i] = parts++;
    return parts;
}

static void move_parts(evn_exchange *x, const struct renewal *r, const int *now, int parts) {
    for (int i = 0; i < x->parts; i++) {
        if (r->part[i] < 0) continue;
        struct part *p = &x->part[r->part[i]];
        *p = x->part[i];
        if (now) p->task = now[p->task];
        if (!x->place) p->region = p->task;
        if (r->lessen[i]) p->bytes = 0, p->writes = 0;
    }
    x->parts = parts;
}

static void move_faces(evn_exchange *x, const struct renewal *r, const int *now) {
    int faces = 0;
    for (int i = 0; i < x->faces; i++) {
        if (r->face[i] < 0) continue;
        const int less = r->lessen[x->face[i].from] || r->lessen[x->face[i].to];
        struct face *f = &x->face[faces++];
        *f = x->face[i];
        f->from = r->part[f->from];
        f->to = r->part[f->to];
        if (now) f->of.from = now[f->of.from];
        if (now) f->of.to = now[f->of.to];
        if (f->back >= 0) f->back = r->face[f->back];
        if (less) use_parts(x, f);
    }
    x->faces = faces;
}

/* Faces marked -1 go, with the parts that no other face needs. */
static void compact(evn_exchange *x, struct renewal *r, const int *now) {
    const int parts = number(x, r), faces = x->faces;
    move_parts(x, r, now, parts);
    move_faces(x, r, now);
    mark_regions(x, r->table);
    replan(x);
    loop_note_faces(x->loop, 0, faces - x->faces, 0);
}

/* The face of a lasting number; -1: it is gone, or never was. */
static int find_face(const evn_exchange *x, int number) {
    int lo = 0, hi = x->faces;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (x->face[mid].number < number)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < x->faces && x->face[lo].number == number ? lo : -1;
}

static evn_status mark_dropped(const evn_exchange *x, struct renewal *r, int count,
                               const int *face) {
    for (int i = 0; i < count; i++) {
        const int at = find_face(x, face[i]);
        if (face[i] < 0 || face[i] >= x->numbered)
            return evn_fail(EVN_USAGE, "exchange: face %d to be dropped; there were faces 0 to %d",
                            face[i], x->numbered - 1);
        if (at < 0)
            return evn_fail(EVN_USAGE,
                            "exchange: face %d to be dropped is gone already, or has no values",
                            face[i]);
        if (r->face[at] < 0)
            return evn_fail(EVN_USAGE, "exchange: face %d to be dropped twice", face[i]);
        r->face[at] = -1;
    }
    return EVN_OK;
}

evn_status evn_exchange_drop(evn_exchange *x, int count, const int *face) {
    NEED(x, "an exchange");
    evn_status status = loop_may_begin(x->loop, "evn_exchange_drop()");
    if (!status) status = may_change(x, "evn_exchange_drop()");
    if (!status && (count < 0 || (count && !face)))
        status = evn_fail(EVN_USAGE, "exchange: %d faces to be dropped%s", count,
                          count < 0 ? ", expected 0 or more" : ", and none are given");
    if (status || !count) return status;
    struct renewal *r = open_renewal(x, 0);
    if (!r) return no_memory(x, count);
    status = mark_dropped(x, r, count, face);
    if (!status) compact(x, r, NULL);
    close_renewal(r);
    return status;
}

/* ---- other tasks --------------------------------------------------------------------------- */

evn_status exchange_may_change(void *arg, const int *now, int tasks) {
    evn_exchange *x = arg;
    (void)now;
    evn_status status = may_change(x, "evn_loop_change()");
    if (status) return status;
    x->renewal = open_renewal(x, tasks);
    return x->renewal ? EVN_OK : no_memory(x, x->faces);
}

/* Faces of tasks that are gone go. */
void exchange_change(void *arg, const int *now, int tasks) {
    evn_exchange *x = arg;
    struct renewal *r = x->renewal;
    x->renewal = NULL;
    if (!now || !r) {
        close_renewal(r);
        return;
    }
    for (int i = 0; i < x->faces; i++)
        if (now[x->face[i].of.from] < 0 || now[x->face[i].of.to] < 0) r->face[i] = -1;
    compact(x, r, now);
    x->tasks = tasks;
    int *device = x->device;
    x->device = r->device;
    r->device = device;
    char *needs = x->plan.needs;
    x->plan.needs = r->needs;
    r->needs = needs;
    close_renewal(r);
}
