/* Operations in virtual time: a heap of ready operations by time. */
#include "common/run/timeline.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int timeline_open(struct timeline *t, int lanes, int threads) {
    *t = (struct timeline){.lanes = lanes, .threads = threads};
    t->last = malloc((size_t)threads * sizeof *t->last);
    t->set = malloc((size_t)lanes * sizeof *t->set);
    t->context = malloc((size_t)lanes * sizeof *t->context);
    t->held = calloc((size_t)lanes, sizeof *t->held);
    t->free = calloc((size_t)lanes, sizeof *t->free);
    t->spent = calloc((size_t)threads * TIME_GROUPS, sizeof *t->spent);
    if (!t->last || !t->set || !t->context || !t->held || !t->free || !t->spent) return -1;
    for (int i = 0; i < threads; i++) t->last[i] = -1;
    for (int i = 0; i < lanes; i++) t->set[i] = i;
    for (int i = 0; i < lanes; i++) t->context[i] = -1;
    return 0;
}

void timeline_close(struct timeline *t) {
    free_all(t->op, t->edge, t->last, t->set, t->context, t->held, t->free, t->spent);
    *t = (struct timeline){0};
}

/* One more of `count` things of so many bytes; 0, or -1. */
static int grow(struct timeline *t, void **list, int count, int *room, size_t bytes) {
    if (t->failed) return -1;
    if (count < *room) return 0;
    const int wide = *room ? 2 * *room : 1024;
    void *more = wide <= TIMELINE_MOST ? realloc(*list, (size_t)wide * bytes) : NULL;
    if (!more) {
        t->failed = 1;
        return -1;
    }
    *list = more;
    *room = wide;
    return 0;
}

int timeline_add(struct timeline *t, int lane, int context, double seconds) {
    void *list = t->op;
    if (grow(t, &list, t->ops, &t->ops_room, sizeof *t->op)) return -1;
    t->op = list;
    t->op[t->ops] = (struct timeline_op){.seconds = seconds,
                                         .lane = lane,
                                         .context = context,
                                         .thread = -1,
                                         .previous = -1,
                                         .first = -1};
    return t->ops++;
}

int timeline_step(struct timeline *t, int thread, int lane, enum timeline_group group,
                  double seconds) {
    const int op = timeline_add(t, lane, -1, seconds);
    if (op < 0) return op;
    t->op[op].thread = thread;
    t->op[op].group = group;
    t->op[op].previous = t->last[thread];
    timeline_after(t, op, t->last[thread], 0);
    t->last[thread] = op;
    return op;
}

void timeline_after(struct timeline *t, int op, int before, double lag) {
    void *list = t->edge;
    if (op < 0 || before < 0 || grow(t, &list, t->edges, &t->edges_room, sizeof *t->edge)) return;
    t->edge = list;
    t->edge[t->edges] = (struct timeline_edge){lag, op, t->op[before].first};
    t->op[before].first = t->edges++;
    t->op[op].waiting++;
}

/* ---- the heap: operations that could begin, the earliest first, of those the first given out ----
 */

static int before(const struct timeline *t, int a, int b) {
    if (t->op[a].ready != t->op[b].ready) return t->op[a].ready < t->op[b].ready;
    return a < b;
}

static void push(const struct timeline *t, int *heap, int *count, int op) {
    int i = (*count)++;
    for (; i && before(t, op, heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = op;
}

static int pop(const struct timeline *t, int *heap, int *count) {
    const int top = heap[0], op = heap[--*count];
    int i = 0;
    for (int child = 1; child < *count; child = 2 * i + 1) {
        if (child + 1 < *count && before(t, heap[child + 1], heap[child])) child++;
        if (!before(t, heap[child], op)) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = op;
    return top;
}

/* When an operation has its lane, and what it takes there. */
static double on_lane(struct timeline *t, const struct timeline_op *op, double *seconds) {
    const int set = t->set[op->lane];
    double begin = fmax(op->ready, t->free[op->lane]);
    if (op->context >= 0 && t->context[set] != op->context) {
        begin = fmax(begin, t->held[set]);
        if (t->context[set] >= 0) *seconds += t->switch_s;
        t->context[set] = op->context;
    }
    if (op->context >= 0) t->held[set] = fmax(t->held[set], begin + *seconds);
    t->free[op->lane] = begin + *seconds;
    return begin;
}

static void perform(struct timeline *t, struct timeline_op *op) {
    double seconds = op->seconds;
    const double begin = op->lane >= 0 ? on_lane(t, op, &seconds) : op->ready;
    op->end = begin + seconds;
    t->end = fmax(t->end, op->end);
    if (op->thread < 0) return;
    t->spent[op->thread * TIME_GROUPS + op->group] +=
        op->end - (op->previous < 0 ? 0 : t->op[op->previous].end);
}

int timeline_run(struct timeline *t) {
    int *heap = t->failed ? NULL : malloc(((size_t)t->ops + 1) * sizeof *heap), count = 0, done = 0;
    if (!heap) return -1;
    for (int i = 0; i < t->ops; i++)
        if (!t->op[i].waiting) push(t, heap, &count, i);
    for (; count; done++) {
        struct timeline_op *op = &t->op[pop(t, heap, &count)];
        perform(t, op);
        for (int e = op->first; e >= 0; e = t->edge[e].next) {
            struct timeline_op *next = &t->op[t->edge[e].to];
            next->ready = fmax(next->ready, op->end + t->edge[e].lag);
            if (!--next->waiting) push(t, heap, &count, t->edge[e].to);
        }
    }
    free(heap);
    return done == t->ops ? 0 : -1;
}
