/* Numbers as a heap by their times: heap[0] is the one with the least, of equals the lowest.
 * Numbers in order whose times are equal are such a heap. */
#pragma once

static inline int sooner(const double *time, int a, int b) {
    return time[a] < time[b] || (time[a] == time[b] && a < b);
}

/* Restores the heap of `n` below `at`, whose time has grown. */
static inline void soonest_sink(int *heap, int n, int at, const double *time) {
    const int number = heap[at];
    for (int c; (c = 2 * at + 1) < n; at = c) {
        if (c + 1 < n && sooner(time, heap[c + 1], heap[c])) c++;
        if (!sooner(time, heap[c], number)) break;
        heap[at] = heap[c];
    }
    heap[at] = number;
}
