/* Keys of a directive's iterations: those with the same key in two instances are the same task, and
 * its loop goes on with what it has learnt of it (<evener/change.h>). */
#include "cu/internal.h"
#include <evener/change.h>
#include <stdlib.h>
#include <string.h>

/* An open table of iterations by their keys, half full at most. */
struct keys {
    int n;
    size_t mask;
    evn_cu_int *key; /* n keys */
    int slot[];      /* mask + 1 numbers of iterations, -1: free */
};

static size_t scatter(evn_cu_int key) {
    unsigned long long x = (unsigned long long)key * 0x9e3779b97f4a7c15ULL;
    return (size_t)(x ^ x >> 29);
}

/* The slot of a key, or the free one where it would be. */
static size_t slot_of(const struct keys *k, evn_cu_int key) {
    size_t i = scatter(key) & k->mask;
    while (k->slot[i] >= 0 && k->key[k->slot[i]] != key) i = (i + 1) & k->mask;
    return i;
}

struct keys *cu_keys_open(const evn_cu_site *where, const evn_cu_int *key, int n) {
    size_t slots = 2;
    while (slots < 2 * (size_t)n) slots *= 2;
    const size_t head = (sizeof(struct keys) + slots * sizeof(int) + 7) / 8 * 8;
    struct keys *k = malloc(head + (size_t)n * sizeof *key);
    if (!k) cu_die(where, "key: not enough memory for %d iterations", n);
    k->n = n;
    k->mask = slots - 1;
    k->key = (evn_cu_int *)((char *)k + head);
    memcpy(k->key, key, (size_t)n * sizeof *key);
    memset(k->slot, 0xff, slots * sizeof *k->slot);
    for (int t = 0; t < n; t++) {
        const size_t i = slot_of(k, key[t]);
        if (k->slot[i] >= 0)
            cu_die(where,
                   "key: iterations %d and %d, counted from 0, both have the key %lld; each must "
                   "have its own",
                   k->slot[i], t, key[t]);
        k->slot[i] = t;
    }
    return k;
}

/* The arrays of a change of n tasks. */
struct arrivals {
    int *first, *from;
    char *kept;
};

/* Each iteration comes from the one before with its key, or from none. */
static void find_origins(const struct keys *before, const struct keys *now, struct arrivals *o) {
    int count = 0;
    for (int t = 0; t < now->n; t++) {
        const int from = before->slot[slot_of(before, now->key[t])];
        o->first[t] = count;
        o->kept[t] = from >= 0;
        if (from >= 0) o->from[count++] = from;
    }
    o->first[now->n] = count;
}

int cu_keys_follow(const evn_cu_site *where, struct kept *k, const struct wish *w) {
    const int n = (int)w->keys;
    const size_t bytes = (size_t)n * sizeof *w->key;
    if (n == k->keys->n && !memcmp(w->key, k->keys->key, bytes)) return 0;
    struct keys *now = cu_keys_open(where, w->key, n);
    struct arrivals o = {malloc(((size_t)n + 1) * sizeof *o.first),
                         malloc((size_t)n * sizeof *o.from), malloc((size_t)n)};
    if (!o.first || !o.from || !o.kept)
        cu_die(where, "key: not enough memory for %d iterations", n);
    find_origins(k->keys, now, &o);
    const evn_change change = {.tasks = n,
                               .first = o.first,
                               .from = o.from,
                               .kept = o.kept,
                               .weight = k->weighted ? w->weight : NULL};
    const evn_status status = evn_loop_change(k->loop, &change);
    free(o.first);
    free(o.from);
    free(o.kept);
    if (status) cu_die_of_message(where);
    free(k->keys);
    k->keys = now;
    return 1;
}
