/* Links of a loop's tasks: what its exchanges move between them in an instance. */
#include "loop/links.h"
#include "loop/internal.h"
#include "base/argument.h"
#include <stdlib.h>
#include <string.h>

static int by_tasks(const void *a, const void *b) {
    const evn_link *x = a, *y = b;
    for (int i = 0; i < 2; i++)
        if (x->task[i] != y->task[i]) return x->task[i] < y->task[i] ? -1 : 1;
    return 0;
}

void links_merge(struct links *l) {
    size_t n = 0;
    if (l->count) qsort(l->link, l->count, sizeof *l->link, by_tasks);
    for (size_t i = 0; i < l->count; i++)
        if (n && !by_tasks(&l->link[n - 1], &l->link[i]))
            l->link[n - 1].bytes += l->link[i].bytes;
        else
            l->link[n++] = l->link[i];
    l->count = n;
}

/* Room for one more: what merging leaves is at most half of it. */
static int reserve(struct links *l) {
    if (l->count < l->room) return 0;
    links_merge(l);
    if (l->room && l->count <= l->room / 2) return 0;
    const size_t room = l->room ? 2 * l->room : 256;
    evn_link *more = realloc(l->link, room * sizeof *more);
    if (!more) return 1;
    l->link = more;
    l->room = room;
    return 0;
}

void links_add(struct links *l, int from, int to, double bytes) {
    if (from == to || !(bytes > 0) || l->failed) return;
    if ((l->failed = reserve(l))) return;
    l->link[l->count++] = from < to ? (evn_link){{from, to}, bytes} : (evn_link){{to, from}, bytes};
}

void loop_keep_links(evn_loop *loop, const struct loop_listener *of) {
    if (loop->notes && of->links) of->links(of->arg, &loop->closed);
}

evn_link *evn_loop_links(const evn_loop *loop, int *links) {
    NEED_OR(NULL, loop, "a loop");
    NEED_OR(NULL, links, "where to put how many links there are");
    const evn_problem *p = loop->problem;
    struct links all = {.failed = loop->closed.failed};
    for (size_t i = 0; i < loop->closed.count; i++) {
        const evn_link *l = &loop->closed.link[i];
        links_add(&all, l->task[0], l->task[1], l->bytes);
    }
    for (struct loop_listener *l = loop->listener; l; l = l->next)
        if (l->links) l->links(l->arg, &all);
    links_merge(&all);
    const long long runs = loop->totals.instances;
    const double halves = runs > 0 ? 0.5 / (double)runs : 0.5; /* of a direction */
    for (size_t i = 0; i < all.count; i++) all.link[i].bytes *= halves;
    const int none = !all.count && !all.failed; /* then those that the schedule was told */
    for (int i = 0; none && i < p->links; i++)
        links_add(&all, p->link[i].task[0], p->link[i].task[1], p->link[i].bytes);
    if (!all.link && !all.failed) all.link = malloc(sizeof *all.link);
    if (all.failed || !all.link) {
        free(all.link);
        evn_fail(EVN_MEMORY, "loop: not enough memory for the links of %d tasks", p->tasks);
        *links = 0;
        return NULL;
    }
    *links = (int)all.count;
    return all.link;
}
