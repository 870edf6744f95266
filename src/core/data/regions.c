/* The table of regions: registering, making, arriving, leaving, removing; queries. */
#include "base/argument.h"
#include "data/internal.h"
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

evn_status place_no_region(int region) {
    return evn_fail(EVN_USAGE, "place: there is no region %d", region);
}

const char *place_held(const evn_place *p, const struct region *r, char text[HELD_TEXT]) {
    size_t n = 0;
    text[0] = 0;
    for (int s = 0; s < p->spaces && n < HELD_TEXT; s++)
        if (r->copy[s].users)
            n += (size_t)snprintf(text + n, HELD_TEXT - n, "%sin space %d for %s", n ? ", " : "", s,
                                  r->writer ? "writing" : "reading");
    return text;
}

evn_status place_need_host(evn_place *p, struct region *r) {
    if (r->host) return EVN_OK;
    void *host = NULL;
    if (posix_memalign(&host, 64, r->bytes))
        return evn_fail(EVN_MEMORY, "place: the host has no memory for the %zu bytes of region %d",
                        r->bytes, r->number);
    if (p->poisons) memset(host, 0xff, r->bytes);
    r->host = host;
    address_put(&p->addresses, host, r->bytes, r->number);
    return EVN_OK;
}

/* ---- numbers ------------------------------------------------------------------------------- */

static struct region *used_again(evn_place *p) {
    struct region *r = region_at(p, p->first_free);
    p->first_free = r->next_free;
    return r;
}

/* Makes room in the table for one more number. -1: no memory. */
static int need_number(evn_place *p, int numbers) {
    struct table *t = atomic_load_explicit(&p->table, memory_order_relaxed);
    if (t && numbers < t->room) return 0;
    if (numbers > INT_MAX / 2) return -1;
    const int room = numbers ? 2 * numbers : 64;
    struct table *more = malloc(sizeof *more + (size_t)room * sizeof *more->region);
    if (!more) return -1;
    more->former = t;
    more->room = room;
    if (t) memcpy(more->region, t->region, (size_t)numbers * sizeof *more->region);
    atomic_store_explicit(&p->table, more, memory_order_release);
    return 0;
}

/* Takes a fresh number. NULL: no memory. */
static struct region *first_used(evn_place *p) {
    const int number = atomic_load_explicit(&p->regions, memory_order_relaxed);
    struct region *r = need_number(p, number) ? NULL : calloc(1, p->region_bytes);
    if (!r) return NULL;
    r->number = number;
    atomic_load_explicit(&p->table, memory_order_relaxed)->region[number] = r;
    atomic_store_explicit(&p->regions, number + 1, memory_order_release);
    return r;
}

static evn_status check_address(const evn_place *p, const void *host, size_t bytes, int number) {
    if (bytes > UINTPTR_MAX - (uintptr_t)host)
        return evn_fail(EVN_USAGE, "place: region %d of %zu bytes at %p ends beyond all addresses",
                        number, bytes, host);
    const int other = address_overlaps(&p->addresses, host, bytes);
    if (other < 0) return EVN_OK;
    const struct region *r = region_at(p, other);
    return evn_fail(EVN_USAGE,
                    "place: region %d (%zu bytes at %p) would overlap region %d (%zu bytes at %p)",
                    number, bytes, host, other, r->bytes, r->host);
}

/* Enters a new region, which is valid nowhere. */
static evn_status enter(evn_place *p, void *host, size_t bytes, struct region **out) {
    const int numbers = atomic_load_explicit(&p->regions, memory_order_relaxed);
    const int number = p->first_free >= 0 ? p->first_free : numbers;
    evn_status status = host ? check_address(p, host, bytes, number) : EVN_OK;
    if (status) return status;
    struct region *r = NULL;
    if (!address_reserve(&p->addresses, number < numbers ? numbers : numbers + 1))
        r = p->first_free >= 0 ? used_again(p) : first_used(p);
    if (!r)
        return evn_fail(EVN_MEMORY, "place: no memory for the table of %d regions", numbers + 1);
    memset(r, 0, p->region_bytes);
    r->number = number;
    r->from = r->next_free = -1;
    r->bytes = bytes;
    atomic_store_explicit(&r->where, -1, memory_order_relaxed);
    *out = r;
    return EVN_OK;
}

/* Makes the program's memory the region's, valid. */
static void settle(evn_place *p, struct region *r, void *host) {
    r->host = host;
    address_put(&p->addresses, host, r->bytes, r->number);
    p->registered += arena_rounded(r->bytes);
    place_becomes_valid(r, EVN_HOST);
    place_settle_where(r);
}

static evn_status refuse_size(size_t bytes) {
    return bytes && bytes <= SIZE_MAX / 2
               ? EVN_OK
               : evn_fail(EVN_USAGE, "place: a region of %zu bytes, expected 1 to %zu", bytes,
                          SIZE_MAX / 2);
}

evn_status evn_place_add(evn_place *p, void *host, size_t bytes, int *region) {
    NEED(p, "a place");
    NEED(region, "where to put the region's number");
    evn_status status = refuse_size(bytes);
    if (status) return status;
    struct region *r = NULL;
    place_enter(p);
    status = enter(p, host, bytes, &r);
    if (!status && host) settle(p, r, host);
    if (!status) *region = r->number;
    pthread_mutex_unlock(&p->lock);
    return status;
}

evn_status evn_place_make(evn_place *p, size_t bytes, int *region) {
    NEED(p, "a place");
    NEED(region, "where to put the region's number");
    evn_status status = refuse_size(bytes);
    if (status) return status;
    struct region *r = NULL;
    place_enter(p);
    if (bytes > SIZE_MAX / 2 - p->registered)
        status = evn_fail(EVN_MEMORY, "place: %zu bytes beside %zu that are registered", bytes,
                          p->registered);
    if (!status) status = enter(p, NULL, bytes, &r);
    if (!status) {
        r->made = true;
        p->registered += arena_rounded(bytes);
        *region = r->number;
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

evn_status evn_place_arrive(evn_place *p, int region, void *host) {
    NEED(p, "a place");
    if (!host) return evn_fail(EVN_USAGE, "place: region %d arrives at no memory (NULL)", region);
    place_enter(p);
    struct region *r = region_of(p, region);
    evn_status status = r ? EVN_OK : place_no_region(region);
    if (r && !is_absent(r))
        status = evn_fail(EVN_USAGE,
                          "place: region %d arrives and is here already; it leaves before", region);
    if (!status) status = check_address(p, host, r->bytes, region);
    if (!status) settle(p, r, host);
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* ---- away ---------------------------------------------------------------------------------- */

/* Finds a region that is neither held nor moving. */
static evn_status find_free(evn_place *p, int region, const char *what, struct region **out) {
    struct region *r;
    while ((r = region_of(p, region)) && r->in_transfer)
        pthread_cond_wait(&p->transferred, &p->lock);
    *out = r;
    char text[HELD_TEXT];
    if (!r) return place_no_region(region);
    if (r->users)
        return evn_fail(EVN_USAGE, "place: region %d cannot %s: it is held %s", region, what,
                        place_held(p, r, text));
    return EVN_OK;
}

/* Copies a region's content to the program's memory. *lost: there is no valid copy any more. */
static evn_status bring_home(evn_place *p, struct region *r, bool *lost) {
    const evn_access access = EVN_READ;
    *lost = !r->copies && !is_absent(r) && !is_unwritten(r);
    if (*lost || r->made || is_absent(r)) return EVN_OK;
    return place_fetch(p, &(struct request){.count = 1, .region = &r->number, .access = &access});
}

void place_vacate(evn_place *p, struct region *r) {
    if (!is_absent(r)) p->registered -= arena_rounded(r->bytes);
    if (r->host) address_drop(&p->addresses, r->host);
    place_forget_others(p, r, EVN_HOST);
    if (r->made) free(r->host);
    free(r->kept);
    free(r->spare);
    r->keeps = KEPT_NOTHING;
    r->host = r->kept = r->spare = NULL;
    for (int s = 0; s < p->spaces; s++)
        atomic_store_explicit(&r->copy[s].valid, false, memory_order_relaxed);
    r->copies = 0;
    place_settle_where(r);
}

static evn_status tell_lost(int region) {
    return evn_fail(EVN_DEVICE,
                    "place: region %d was valid only on a device that is lost; its memory holds "
                    "nothing",
                    region);
}

evn_status evn_place_leave(evn_place *p, int region) {
    NEED(p, "a place");
    struct region *r;
    bool lost = false;
    place_enter(p);
    evn_status status = find_free(p, region, "leave", &r);
    if (!status && r->made)
        status = evn_fail(EVN_USAGE,
                          "place: region %d cannot leave: the place has made it, and can only "
                          "remove it",
                          region);
    else if (!status && is_absent(r))
        status = evn_fail(
            EVN_USAGE, "place: region %d leaves and is absent already; it arrives before", region);
    if (!status) status = bring_home(p, r, &lost);
    if (!status) place_vacate(p, r);
    pthread_mutex_unlock(&p->lock);
    return lost && !status ? tell_lost(region) : status;
}

evn_status evn_place_remove(evn_place *p, int region) {
    NEED(p, "a place");
    struct region *r;
    bool lost = false;
    place_enter(p);
    evn_status status = find_free(p, region, "be removed", &r);
    if (!status) status = bring_home(p, r, &lost);
    if (!status) {
        place_vacate(p, r);
        lost = lost && !r->made;
        r->bytes = 0;
        r->next_free = p->first_free;
        p->first_free = region;
    }
    pthread_mutex_unlock(&p->lock);
    return lost && !status ? tell_lost(region) : status;
}

/* ---- asking -------------------------------------------------------------------------------- */

evn_status evn_place_find(evn_place *p, const void *address, int *region, size_t *offset) {
    NEED(p, "a place");
    NEED(region && offset, "where to put the region and the byte");
    pthread_mutex_lock(&p->lock);
    size_t at = 0;
    const int found = address_find(&p->addresses, address, &at);
    pthread_mutex_unlock(&p->lock);
    if (found < 0)
        return evn_fail(EVN_USAGE,
                        "place: no region has the address %p; evn_place_add() registers memory",
                        address);
    *region = found;
    *offset = at;
    return EVN_OK;
}

/* The region, if it and the space exist; else NULL and a message. */
static inline const struct region *ask(const evn_place *p, int region, int space) {
    const struct region *r = region_of(p, region);
    if (r && space >= 0 && space < p->spaces) return r;
    if (!r)
        place_no_region(region);
    else
        place_check_space(p, space);
    return NULL;
}

int evn_place_where(const evn_place *p, int region) {
    NEED_OR(-1, p, "a place");
    const struct region *r = ask(p, region, EVN_HOST);
    return r ? atomic_load_explicit(&r->where, memory_order_relaxed) : -1;
}

int evn_place_valid(const evn_place *p, int region, int space) {
    NEED_OR(0, p, "a place");
    const struct region *r = ask(p, region, space);
    return r && is_valid(r, space);
}

size_t evn_place_at(const evn_place *p, int region, int space) {
    NEED_OR(0, p, "a place");
    const struct region *r = ask(p, region, space);
    return r && space != EVN_HOST ? r->copy[space].at : 0;
}

size_t evn_place_bytes(const evn_place *p, int region) {
    NEED_OR(0, p, "a place");
    const struct region *r = ask(p, region, EVN_HOST);
    return r ? r->bytes : 0;
}

void *evn_place_host(const evn_place *p, int region) {
    NEED_OR(NULL, p, "a place");
    const struct region *r = ask(p, region, EVN_HOST);
    return r ? r->host : NULL;
}
