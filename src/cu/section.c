/* Sections p[first:length] of data directives, by the address of p[0], which need not be in them:
 * the memory of an array that a loop names by p. */
#include "cu/internal.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct section {
    const char *base, *memory; /* memory NULL: an empty one */
    const void *owner;         /* the leader in whose target data it is; NULL: it is everybody's */
};
static struct section *sections; /* by base */
static int room;
static _Atomic int count; /* 0: no lock is needed */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The first one with this base or a higher one. */
static int first_of(const char *base) {
    int lo = 0, hi = count;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (sections[mid].base < base)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static const void *memory_of(const evn_cu_map *map) { return map->bytes ? map->memory : NULL; }

static void remove_at(int at) {
    memmove(&sections[at], &sections[at + 1], (size_t)(--count - at) * sizeof *sections);
}

evn_status cu_section_add(const evn_cu_map *map, const void *owner) {
    evn_status status = EVN_OK;
    pthread_mutex_lock(&lock);
    if (count == room) {
        const int more = 2 * room + 64;
        struct section *larger = realloc(sections, (size_t)more * sizeof *larger);
        if (larger)
            sections = larger, room = more;
        else
            status = evn_fail(EVN_MEMORY, "not enough memory");
    }
    if (!status) {
        const int at = first_of(map->base);
        memmove(&sections[at + 1], &sections[at], (size_t)(count++ - at) * sizeof *sections);
        sections[at] = (struct section){map->base, memory_of(map), owner};
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void cu_section_remove(const evn_cu_map *map, const void *owner) {
    pthread_mutex_lock(&lock);
    for (int i = first_of(map->base); i < count && sections[i].base == map->base; i++) {
        if (sections[i].memory != memory_of(map) || sections[i].owner != owner) continue;
        remove_at(i);
        break;
    }
    pthread_mutex_unlock(&lock);
}

void cu_section_forget(const char *memory, size_t bytes) {
    pthread_mutex_lock(&lock);
    for (int i = count - 1; i >= 0; i--)
        if (sections[i].memory >= memory && sections[i].memory < memory + bytes) remove_at(i);
    pthread_mutex_unlock(&lock);
}

/* Looks for the n-th part of an array. */
struct search {
    const void *base;
    int n, some, empty; /* parts so far; whether there are empty ones */
    const void *found;
    const void *first; /* where memory is looked for: element 0, or of an empty part that the loop
                          names its first element, since element 0 may be another array's */
};

static void look(struct search *q, const void *memory) {
    if (!memory)
        q->empty = 1;
    else if (q->some++ == q->n)
        q->found = memory;
}

static void look_at_loop(struct search *q) {
    for (int i = 0; i < cu_here.maps; i++) {
        if (cu_here.map[i].base != q->base) continue;
        look(q, memory_of(&cu_here.map[i]));
        if (q->empty) q->first = cu_here.map[i].memory;
    }
}

static void look_at_data(struct search *q) {
    if (!count) return;
    pthread_mutex_lock(&lock);
    for (int i = first_of(q->base); i < count && sections[i].base == q->base; i++)
        if (!sections[i].owner || sections[i].owner == &cu_here) look(q, sections[i].memory);
    pthread_mutex_unlock(&lock);
}

const void *cu_section(const void *base, int n) {
    struct search q = {.base = base, .n = n, .first = base};
    int region;
    size_t within;
    look_at_loop(&q);
    if (!q.some) look_at_data(&q);
    if (q.some || n) return q.found;
    const int nothing =
        q.empty && (!evn_cu_place() || evn_place_find(evn_cu_place(), q.first, &region, &within));
    return nothing ? NULL : base;
}
