/* One-sided memory of an arena: each rank's part is in the arena, so all ranks write to all parts.
 * Raising a word wakes its rank, if it sleeps. With an emulated wire ranks do not read each other's
 * memory, and a raised word becomes visible when all earlier puts could have arrived. */
#include "wire/arena_boxes.h"
#include "wire/update.h"
#include <evener/clock.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct word {
    atomic_ullong count;
    _Atomic double visible; /* when the last raised word is visible; 0: at once */
};

/* A rank's part; its words follow, and its memory from the next page on. */
struct part {
    struct wire_arena_counter bell;
    size_t bytes; /* bytes of the whole part */
    unsigned char *memory;
    struct word word[];
};

/* A segment, found by its number: each rank opens the same ones in the same order. */
struct wire_arena_segment {
    struct wire_arena_segment *next;
    unsigned number;
    int closed;
    struct wire_arena_counter here;
    struct part *part[ARENA_RANKS_MAX]; /* NULL: there was no room for it */
};

/* A rank's handle of a segment. */
struct evn_segment {
    evn_wire *wire;
    struct wire_arena_segment *of;
    struct part *mine;
    double arrives;       /* emulated wire: when all puts and gets so far have arrived */
    atomic_ullong seen[]; /* emulated wire: words as this rank last read them */
};

static int is_emulated(const evn_wire *w) { return w->speed.latency > 0 || w->speed.bandwidth > 0; }

/* ---- opened and closed ---- */

/* Frees the pages, which read as zeros afterwards. */
static void clean(void *memory, size_t bytes) {
    if (madvise(memory, bytes, MADV_REMOVE)) memset(memory, 0, bytes);
}

static struct wire_arena_segment *find(struct wire_arena *a, unsigned number) {
    struct wire_arena_segment *g = a->segments;
    int is_clean;
    while (g && g->number != number) g = g->next;
    if (g || !(g = wire_arena_deal(a, sizeof *g, &is_clean))) return g;
    memset(g, 0, sizeof *g);
    g->number = number;
    g->next = a->segments;
    a->segments = g;
    return g;
}

static struct part *make_part(struct wire_arena *a, size_t bytes, int words) {
    const size_t head = (sizeof(struct part) + (size_t)words * sizeof(struct word) + a->page - 1) /
                        a->page * a->page;
    int is_clean;
    if (bytes > a->bytes || head > a->bytes) return NULL;
    struct part *p = wire_arena_deal(a, head + bytes, &is_clean);
    if (!p) return NULL;
    if (!is_clean) clean(p, head + bytes);
    p->bytes = head + bytes;
    p->memory = (unsigned char *)p + head;
    return p;
}

static void segment_close(evn_segment *s, int together) {
    if (!together) {
        free(s);
        return;
    }
    struct wire_arena *a = s->wire->arena;
    struct wire_arena_segment *g = s->of;
    const size_t bytes = s->mine ? s->mine->bytes : 0;
    if (s->mine) clean(s->mine, bytes);
    pthread_mutex_lock(&a->lock);
    if (s->mine) wire_arena_give_back(a, s->mine, bytes);
    if (++g->closed == a->ranks) {
        struct wire_arena_segment **at = &a->segments;
        while (*at != g) at = &(*at)->next;
        *at = g->next;
        wire_arena_give_back(a, g, sizeof *g);
    }
    pthread_mutex_unlock(&a->lock);
    free(s);
}

/* Gathers all ranks' parts; on failure all ranks drop theirs. */
static evn_status gather(evn_segment *s, size_t bytes) {
    const evn_wire *w = s->wire;
    struct wire_arena_segment *g = s->of;
    evn_status status = EVN_OK;
    wire_arena_count(&g->here);
    for (unsigned seen;
         !status && (seen = atomic_load(&g->here.count)) < (unsigned)w->arena->ranks;)
        status = wire_arena_await(s->wire, &g->here, seen, -1);
    for (int r = 0; !status && r < w->arena->ranks; r++)
        if (!g->part[r])
            status =
                r == w->rank
                    ? w->host->fail(EVN_MEMORY,
                                    "%s: no room for %zu MiB of shared memory: the arena has "
                                    "%zu MiB",
                                    w->name, bytes >> 20, w->arena->bytes >> 20)
                    : w->host->fail(EVN_STOPPED, "%s: rank %d has no room for its shared memory",
                                    w->name, r);
    return status;
}

static evn_status segment_open(evn_segment **out, evn_wire *w, size_t bytes, int words) {
    struct wire_arena *a = w->arena;
    evn_segment *s = calloc(1, sizeof *s + (size_t)words * sizeof s->seen[0]);
    *out = NULL;
    if (!s) return w->host->fail(EVN_MEMORY, "%s: not enough memory", w->name);
    s->wire = w;
    pthread_mutex_lock(&a->lock);
    s->of = find(a, w->segments++);
    s->mine = s->of ? make_part(a, bytes, words) : NULL;
    pthread_mutex_unlock(&a->lock);
    if (!s->of) {
        free(s);
        return w->host->fail(EVN_MEMORY, "%s: the arena is full", w->name);
    }
    s->of->part[w->rank] = s->mine;
    evn_status status = gather(s, bytes);
    if (status)
        segment_close(s, 1);
    else
        *out = s;
    return status;
}

static void *segment_memory(const evn_segment *s, int rank) {
    return rank == s->wire->rank || !is_emulated(s->wire) ? s->of->part[rank]->memory : NULL;
}

/* ---- what goes out ---- */

static evn_status segment_put(evn_segment *s, int to, size_t at, const void *from, size_t bytes) {
    memcpy(s->of->part[to]->memory + at, from, bytes);
    const double arrives = wire_arena_through(s->wire, bytes);
    if (arrives > s->arrives) s->arrives = arrives; /* or a get under way comes later */
    return EVN_OK;
}

static evn_status segment_flush(evn_segment *s, int to) {
    (void)to;
    return s->arrives > 0 ? wire_arena_await_time(s->wire, s->arrives) : EVN_OK;
}

static evn_status segment_raise(evn_segment *s, int to, int word, int direct) {
    struct part *p = s->of->part[to];
    if (!direct)
        atomic_store_explicit(&p->word[word].visible, wire_arena_through(s->wire, sizeof(long)),
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&p->word[word].count, 1, memory_order_release);
    wire_arena_count(&p->bell);
    return EVN_OK;
}

/* ---- what comes in ---- */

/* On the emulated wire a request goes there, and then the bytes come back. */
static void ask(evn_segment *s, size_t bytes) {
    if (!is_emulated(s->wire)) return;
    wire_arena_through(s->wire, sizeof(long));
    s->arrives = wire_arena_through(s->wire, bytes) + s->wire->speed.latency;
}

static evn_status segment_get(evn_segment *s, int from, size_t at, void *to, size_t bytes) {
    memcpy(to, s->of->part[from]->memory + at, bytes);
    ask(s, bytes);
    return EVN_OK;
}

static evn_status segment_update(evn_segment *s, int to, size_t at, int what, void *value) {
    wire_update(s->of->part[to]->memory + at, what, value);
    ask(s, sizeof(int64_t));
    return segment_flush(s, to);
}

/* Arrival time of a word that this thread has looked for and that was raised already; 0: none. */
static _Thread_local double pending;

static unsigned long long segment_value(evn_segment *s, int word) {
    struct word *w = &s->mine->word[word];
    const unsigned long long count = atomic_load_explicit(&w->count, memory_order_acquire);
    if (!is_emulated(s->wire)) return count;
    const double visible = atomic_load_explicit(&w->visible, memory_order_relaxed);
    if (visible <= evn_now())
        atomic_store_explicit(&s->seen[word], count, memory_order_relaxed);
    else if (pending <= 0 || visible < pending)
        pending = visible;
    return atomic_load_explicit(&s->seen[word], memory_order_relaxed);
}

static unsigned segment_bell(const evn_segment *s) { return atomic_load(&s->mine->bell.count); }

static evn_status segment_rest(evn_segment *s, unsigned bell, int from, double *since) {
    evn_wire *w = s->wire;
    (void)since;
    if (pending <= 0) return wire_arena_await(w, &s->mine->bell, bell, from);
    const double when = pending;
    pending = 0;
    return wire_arena_await_time(w, when);
}

const evn_wire_shared wire_arena_shared = {.open = segment_open,
                                           .close = segment_close,
                                           .memory = segment_memory,
                                           .put = segment_put,
                                           .flush = segment_flush,
                                           .raise = segment_raise,
                                           .value = segment_value,
                                           .bell = segment_bell,
                                           .rest = segment_rest,
                                           .get = segment_get,
                                           .update = segment_update};
