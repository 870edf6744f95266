/* Early copies: a face is copied by the core that finishes its second task. */
#include "exchange/plan.h"
#include "base/argument.h"
#include <stdlib.h>

static evn_status no_memory(const evn_exchange *x) {
    return evn_fail(EVN_MEMORY, "exchange: no memory for %d faces of %d tasks", x->faces, x->tasks);
}

void ahead_close(struct ahead *a) {
    free(a->met);
    *a = (struct ahead){0};
}

void ahead_clear(struct ahead *a) {
    if (!atomic_load_explicit(&a->said, memory_order_relaxed)) return;
    atomic_store_explicit(&a->said, 0, memory_order_relaxed);
    for (int i = 0; i < a->faces; i++) atomic_store_explicit(&a->met[i], 0, memory_order_relaxed);
}

evn_status ahead_begin(evn_exchange *x, int before) {
    struct ahead *a = &x->plan.ahead;
    if (x->place) return EVN_OK;
    if (!a->met || a->room < x->faces) {
        atomic_uchar *met = realloc(a->met, (size_t)x->face_room * sizeof *met);
        if (!met) return no_memory(x);
        a->met = met;
        a->room = x->face_room;
    }
    for (int i = before; i < x->faces; i++)
        atomic_store_explicit(&a->met[i], 0, memory_order_relaxed);
    a->faces = x->faces;
    if (!before) atomic_store_explicit(&a->said, 0, memory_order_relaxed);
    for (int e = 0; e < x->plan.ends; e++) x->plan.end[e].direct.met = a->met;
    return EVN_OK;
}

int ahead_has_all(const evn_exchange *x) {
    if (x->faces && !atomic_load_explicit(&x->plan.ahead.said, memory_order_relaxed)) return 0;
    for (int e = 0; e < x->plan.ends; e++)
        if (copies_left(&x->plan.end[e].direct)) return 0;
    return 1;
}

/* The task at a side of a face has its new values; the second one copies the face, and of a pair
 * the task of both faces counts once. 1: it was said before. */
static int meet(evn_exchange *x, int face, int to) {
    const struct entry *e = &x->entry[face];
    if (e->copy < 0) return 0;
    const int mine = to ? TO_MET : FROM_MET;
    const int met = atomic_fetch_or(&x->plan.ahead.met[face], (unsigned char)mine);
    if (met != BOTH_MET && (met | mine) == BOTH_MET)
        copy_block(&x->plan.end[e->end].direct.copy[e->copy]);
    return met & mine;
}

evn_status evn_exchange_ahead(evn_exchange *x, int task) {
    NEED(x, "an exchange");
    if (task < 0 || task >= x->tasks)
        return evn_fail(EVN_USAGE, "exchange: there is no task %d, only 0 to %d", task,
                        x->tasks - 1);
    struct plan *p = &x->plan;
    struct ahead *a = &p->ahead;
    const int part = x->place || x->loop->cluster ? -1 : x->table[task];
    if (!p->made || !a->met || part < 0) return EVN_OK;
    int again = 0;
    if (!atomic_load_explicit(&a->said, memory_order_relaxed))
        atomic_store_explicit(&a->said, 1, memory_order_relaxed);
    for (int at = x->part[part].first; at >= 0; at = x->entry[at / 2].next[at % 2])
        again |= meet(x, at / 2, at % 2);
    if (again)
        return evn_fail(EVN_USAGE,
                        "exchange: evn_exchange_ahead() for task %d again, and no run since: what "
                        "was copied the first time is not copied anew",
                        task);
    return EVN_OK;
}
