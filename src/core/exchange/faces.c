/* The faces of an exchange: taken when it is opened, added and dropped later, and gone with tasks
 * of the loop. Those that are gone stay in their array until a plan is made from scratch. */
#include "exchange/plan.h"
#include "loop/rank_ops.h"
#include "base/argument.h"
#include "base/checksum.h"
#include <evener/clock.h>
#include <stdlib.h>
#include <string.h>

/* ---- taking -------------------------------------------------------------------------------- */

static evn_status no_memory(const evn_exchange *x, int count) {
    return evn_fail(EVN_MEMORY, "exchange: no memory for %d faces of %d tasks", count, x->tasks);
}

/* Appends the faces that have values. */
static void append(evn_exchange *x, int count, const evn_face *face) {
    for (int i = 0; i < count; i++) {
        const evn_face *f = &face[i];
        if (!f->n[0] || !f->n[1] || !f->n[2]) continue;
        x->face[x->faces++] = (struct face){.of = *f, .number = x->numbered + i, .back = -1};
    }
}

evn_status exchange_take(evn_exchange *x, int count, const evn_face *face, void *const *host) {
    if (parts_room(x, x->tasks, count)) return no_memory(x, count);
    append(x, count, face);
    parts_enter(x, 0, host);
    parts_sort(x);
    parts_mark_regions(x);
    x->numbered = count;
    return EVN_OK;
}

void exchange_close_faces(evn_exchange *x) {
    free(x->face);
    free(x->entry);
    free(x->carried);
    free(x->part);
    free(x->held);
    free(x->some);
    free(x->access);
    free(x->device);
    free(x->table);
    free(x->first);
}

/* A face is gone; its parts are to be lessened. */
static void remove_face(evn_exchange *x, int i) {
    struct face *f = &x->face[i];
    if (f->from < 0) return;
    if (x->plan.mends) exchange_undeal(x, i);
    marks_clear(x->carried, i);
    if (f->back >= 0) {
        struct face *back = &x->face[f->back];
        back->back = -1;
        x->part[back->from].stale |= UNDEALT;
    }
    parts_lose(x, f->from);
    parts_lose(x, f->to);
    f->from = f->to = -1;
    x->gone++;
}

/* All faces of a part; -1: none. */
static void remove_faces(evn_exchange *x, int part) {
    if (part < 0) return;
    for (int at = x->part[part].first; at >= 0; at = x->entry[at / 2].next[at % 2])
        remove_face(x, at / 2);
}

void exchange_compact(evn_exchange *x) {
    if (!x->gone) return;
    int faces = 0;
    for (int i = 0; i < x->faces; i++) /* `copy` is where each goes, for a moment */
        x->entry[i].copy = x->face[i].from < 0 ? -1 : faces++;
    for (int i = 0; i < x->faces; i++) {
        if (x->face[i].from < 0) continue;
        struct face *f = &x->face[x->entry[i].copy];
        *f = x->face[i];
        if (f->back >= 0) f->back = x->entry[f->back].copy;
    }
    x->faces = faces;
    x->gone = 0;
    x->plan.mends = x->remote_marked = 0;
    memset(x->carried, 0, marks_words(faces) * sizeof *x->carried);
    parts_list(x);
}

/* ---- other faces --------------------------------------------------------------------------- */

static int is_half_done(const evn_exchange *x) {
    for (int i = 0; x->open && i < x->plan.ends; i++)
        if (x->plan.end[i].unfinished) return 1;
    return 0;
}

/* Whether faces may change: no run is half done, and nothing was copied early. */
static evn_status may_change(const evn_exchange *x, const char *what) {
    if (is_half_done(x))
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

/* The plan is to be made anew, or mended. */
static void replan(evn_exchange *x) {
    /* over ranks before there is a plan, since faces to other ranks are listed first */
    if (x->loop->cluster && x->gone > x->faces / EXCHANGE_MOST) exchange_compact(x);
    x->plan.made = x->plan.dealt = 0;
    x->settled = 0;
    x->remote_plan = -1;
}

/* Addresses by which the check tells which faces meet. Over ranks tasks may have travelled since
 * they were given: of those of other ranks none is known. */
static void find_hosts(evn_exchange *x) {
    for (int i = 0; x->loop->cluster && !x->place && i < x->parts; i++) {
        struct part *p = &x->part[i];
        char *host = exchange_is_remote(x, p) ? NULL : move_memory(x->loop, p->task, p->host);
        if (host != p->host) p->stale |= ELSEWHERE;
        p->host = host;
    }
}

evn_status exchange_agree(evn_loop *loop, const char *what, int count, uint64_t sum,
                          evn_status mine) {
    return loop->replicated ? loop->ranks->same(loop, what, "faces", count, sum, mine) : mine;
}

static evn_status agree(const evn_exchange *x, const char *what, int count, uint64_t sum,
                        evn_status mine) {
    return exchange_agree(x->loop, what, count, sum, mine);
}

uint64_t exchange_checksum(const evn_loop *loop, int count, const evn_face *face) {
    uint64_t sum = CHECKSUM_BEGIN;
    for (int i = 0; loop->replicated && i < count; i++) {
        const evn_face *f = &face[i];
        const int numbers[] = {f->from,
                               f->to,
                               f->from_region,
                               f->to_region,
                               f->n[0],
                               f->n[1],
                               f->n[2],
                               (int)f->resolution[0],
                               (int)f->resolution[1],
                               (int)f->resolution[2],
                               (int)f->numbers};
        sum = checksum_add(sum, numbers, sizeof numbers);
        sum = checksum_add(sum, &f->from_at, sizeof f->from_at);
        sum = checksum_add(sum, f->from_stride, sizeof f->from_stride);
        sum = checksum_add(sum, &f->to_at, sizeof f->to_at);
        sum = checksum_add(sum, f->to_stride, sizeof f->to_stride);
    }
    return sum;
}

/* Faces from `before` on are none, nor are parts that were made for them. */
static void undo(evn_exchange *x, int before) {
    const int gone = x->gone;
    for (int i = before; i < x->faces; i++) {
        x->face[i].back = -1;
        remove_face(x, i);
    }
    parts_lessen(x);
    parts_mark_regions(x);
    x->faces = before;
    x->gone = gone;
}

static evn_status add(evn_exchange *x, int count, const evn_face *face, void *const *host) {
    const int before = x->faces;
    append(x, count, face);
    parts_enter(x, before, host);
    parts_mark_regions(x);
    find_hosts(x);
    evn_status status = exchange_check_overlaps(x, before);
    if (!status) status = exchange_find_pairs(x, before);
    status = agree(x, "evn_exchange_add()", count, exchange_checksum(x->loop, count, face), status);
    if (status) undo(x, before);
    return status;
}

evn_status evn_exchange_add(evn_exchange *x, int count, const evn_face *face, void *const *host) {
    NEED(x, "an exchange");
    const double begin = evn_now();
    evn_status status = loop_may_begin(x->loop, "evn_exchange_add()");
    if (status) return status;
    status = may_change(x, "evn_exchange_add()");
    if (!status && (x->loop->place != x->place || (x->place && x->loop->regions != x->slots)))
        status = evn_fail(EVN_USAGE, "exchange: the loop has got other regions since the exchange "
                                     "was opened; open it after evn_loop_place()");
    if (!status) status = exchange_check_faces(x->loop, x->element, x->numbered, count, face, host);
    if (!status && count && parts_room(x, x->tasks, count)) status = no_memory(x, count);
    if (status || !count) return agree(x, "evn_exchange_add()", count, CHECKSUM_BEGIN, status);
    const int faces = x->faces;
    status = add(x, count, face, host);
    if (status) return status;
    x->numbered += count;
    loop_note_faces(x->loop, x->faces - faces, 0, evn_now() - begin);
    replan(x);
    return EVN_OK;
}

/* ---- fewer faces --------------------------------------------------------------------------- */

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
    return lo < x->faces && x->face[lo].number == number && x->face[lo].from >= 0 ? lo : -1;
}

/* Finds the indices of faces to be dropped, ascending and each once. */
static evn_status find_dropped(const evn_exchange *x, int count, const int *face, char *mark,
                               int *at) {
    for (int i = 0; i < count; i++) {
        at[i] = find_face(x, face[i]);
        if (face[i] < 0 || face[i] >= x->numbered)
            return evn_fail(EVN_USAGE, "exchange: face %d to be dropped; there were faces 0 to %d",
                            face[i], x->numbered - 1);
        if (at[i] < 0)
            return evn_fail(EVN_USAGE,
                            "exchange: face %d to be dropped is gone already, or has no values",
                            face[i]);
        if (mark[at[i]])
            return evn_fail(EVN_USAGE, "exchange: face %d to be dropped twice", face[i]);
        mark[at[i]] = 1;
    }
    return EVN_OK;
}

/* Parts follow faces that were removed, of which there were `gone` before. */
static void end_removal(evn_exchange *x, int gone) {
    parts_lessen(x);
    parts_mark_regions(x);
    loop_note_faces(x->loop, 0, x->gone - gone, 0);
    replan(x);
}

evn_status evn_exchange_drop(evn_exchange *x, int count, const int *face) {
    NEED(x, "an exchange");
    evn_status status = loop_may_begin(x->loop, "evn_exchange_drop()");
    if (status) return status;
    status = may_change(x, "evn_exchange_drop()");
    if (!status && (count < 0 || (count && !face)))
        status = evn_fail(EVN_USAGE, "exchange: %d faces to be dropped%s", count,
                          count < 0 ? ", expected 0 or more" : ", and none are given");
    if (status || !count) return agree(x, "evn_exchange_drop()", count, CHECKSUM_BEGIN, status);
    char *mark = calloc((size_t)x->faces + 1, 1);
    int *at = malloc((size_t)count * sizeof *at);
    if (!mark || !at || parts_room(x, x->tasks, 0)) status = no_memory(x, count);
    if (!status) status = find_dropped(x, count, face, mark, at);
    status = agree(x, "evn_exchange_drop()", count,
                   checksum_add(CHECKSUM_BEGIN, face, (size_t)count * sizeof *face), status);
    if (!status) {
        const int gone = x->gone;
        for (int i = 0; i < count; i++) remove_face(x, at[i]);
        end_removal(x, gone);
    }
    free(mark);
    free(at);
    return status;
}

/* ---- other tasks --------------------------------------------------------------------------- */

evn_status exchange_may_change(void *arg, const int *now, int tasks) {
    evn_exchange *x = arg;
    (void)now;
    evn_status status = may_change(x, "evn_loop_change()");
    if (status) return status;
    const int most = tasks > x->tasks ? tasks : x->tasks;
    if (parts_room(x, most, 0)) return no_memory(x, x->faces);
    if (!x->plan.needs) return EVN_OK;
    char *needs = realloc(x->plan.needs, (size_t)most);
    if (needs) x->plan.needs = needs;
    return needs ? EVN_OK : no_memory(x, x->faces);
}

/* Faces of tasks that are gone go. */
void exchange_change(void *arg, const int *now, int tasks) {
    evn_exchange *x = arg;
    if (!now) return;
    const int gone = x->gone;
    for (int t = 0; t < x->tasks; t++)
        for (int s = 0; now[t] < 0 && s < x->slots; s++)
            remove_faces(x, x->table[(size_t)t * (size_t)x->slots + (size_t)s]);
    parts_lessen(x);
    parts_renumber(x, now, tasks);
    end_removal(x, gone);
}
