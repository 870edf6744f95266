/* Early copies: a face is copied by the core that finishes its second task. */
#include "exchange/plan.h"
#include "base/argument.h"
#include <stdlib.h>
#include <string.h>

static evn_status no_memory(const evn_exchange *x) {
    return evn_fail(EVN_MEMORY, "exchange: no memory for %d faces of %d tasks", x->faces, x->tasks);
}

void ahead_close(struct ahead *a) {
    free(a->met);
    free(a->first);
    free(a->of);
    *a = (struct ahead){0};
}

void ahead_clear(struct ahead *a) {
    if (!atomic_load_explicit(&a->said, memory_order_relaxed)) return;
    atomic_store_explicit(&a->said, 0, memory_order_relaxed);
    for (int i = 0; i < a->faces; i++) atomic_store_explicit(&a->met[i], 0, memory_order_relaxed);
}

evn_status ahead_begin(evn_exchange *x) {
    struct ahead *a = &x->plan.ahead;
    ahead_close(a);
    if (x->place) return EVN_OK;
    const size_t faces = x->faces ? (size_t)x->faces : 1;
    a->met = malloc(faces * sizeof *a->met);
    a->first = calloc((size_t)x->tasks + 2, sizeof *a->first);
    a->of = malloc(2 * faces * sizeof *a->of);
    if (!a->met || !a->first || !a->of) {
        ahead_close(a);
        return no_memory(x);
    }
    a->faces = x->faces;
    atomic_store_explicit(&a->said, 1, memory_order_relaxed);
    ahead_clear(a);
    return EVN_OK;
}

/* Calls `each` with every copy of cores, for the task at each of its sides. */
static void each_side(evn_exchange *x, void (*each)(struct ahead *a, int task, struct ahead_copy)) {
    struct plan *p = &x->plan;
    for (int e = 0; e < p->ends; e++)
        for (int i = 0; i < p->end[e].direct.count; i++) {
            const evn_face *f = &x->face[p->end[e].direct.copy[i].number].of;
            each(&p->ahead, f->from, (struct ahead_copy){e, i, FROM_MET});
            each(&p->ahead, f->to, (struct ahead_copy){e, i, TO_MET});
        }
}

/* first[task + 2] counts; then first[task + 1] is where the task's next one goes. */
static void count(struct ahead *a, int task, struct ahead_copy of) {
    (void)of;
    a->first[task + 2]++;
}

static void put(struct ahead *a, int task, struct ahead_copy of) {
    a->of[a->first[task + 1]++] = of;
}

evn_status ahead_list(evn_exchange *x) {
    struct ahead *a = &x->plan.ahead;
    if (!a->met || x->loop->cluster) return EVN_OK;
    each_side(x, count);
    for (int t = 0; t < x->tasks; t++) a->first[t + 2] += a->first[t + 1];
    each_side(x, put);
    return EVN_OK;
}

int ahead_has_all(const evn_exchange *x) {
    if (x->faces && !atomic_load_explicit(&x->plan.ahead.said, memory_order_relaxed)) return 0;
    for (int e = 0; e < x->plan.ends; e++)
        if (copies_left(&x->plan.end[e].direct)) return 0;
    return 1;
}

evn_status evn_exchange_ahead(evn_exchange *x, int task) {
    NEED(x, "an exchange");
    if (task < 0 || task >= x->tasks)
        return evn_fail(EVN_USAGE, "exchange: there is no task %d, only 0 to %d", task,
                        x->tasks - 1);
    struct plan *p = &x->plan;
    struct ahead *a = &p->ahead;
    if (!p->made || !a->met) return EVN_OK;
    int again = 0;
    if (!atomic_load_explicit(&a->said, memory_order_relaxed))
        atomic_store_explicit(&a->said, 1, memory_order_relaxed);
    for (int i = a->first[task]; i < a->first[task + 1]; i++) {
        const struct ahead_copy *of = &a->of[i];
        const struct copy *copy = &p->end[of->end].direct.copy[of->copy];
        const int met = atomic_fetch_or(&a->met[copy->number], of->met);
        again |= met & of->met;
        if (met != BOTH_MET && (met | of->met) == BOTH_MET) copy_block(copy);
    }
    if (again)
        return evn_fail(EVN_USAGE,
                        "exchange: evn_exchange_ahead() for task %d again, and no run since: what "
                        "was copied the first time is not copied anew",
                        task);
    return EVN_OK;
}
