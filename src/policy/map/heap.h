/* Vertices by what moving them gains, the largest gain first, as a binary heap. */
#pragma once

struct heap {
    int *vertex, n;
    int *place;         /* by vertex, the caller's: its place in the heap; < 0: in none */
    const double *gain; /* by vertex, the caller's */
};

static inline void heap_put(struct heap *h, int at, int v) {
    h->vertex[at] = v;
    h->place[v] = at;
}

/* Brings v, whose gain is new, from place `at` to where it belongs. */
static inline void heap_sift(struct heap *h, int at, int v) {
    const double gain = h->gain[v];
    for (; at > 0 && h->gain[h->vertex[(at - 1) / 2]] < gain; at = (at - 1) / 2)
        heap_put(h, at, h->vertex[(at - 1) / 2]);
    for (int child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && h->gain[h->vertex[child + 1]] > h->gain[h->vertex[child]]) child++;
        if (!(h->gain[h->vertex[child]] > gain)) break;
        heap_put(h, at, h->vertex[child]);
    }
    heap_put(h, at, v);
}

static inline void heap_push(struct heap *h, int v) {
    h->n++;
    heap_sift(h, h->n - 1, v);
}

static inline void heap_drop(struct heap *h, int v) {
    const int at = h->place[v], last = h->vertex[--h->n];
    h->place[v] = -1;
    if (last != v) heap_sift(h, at, last);
}
