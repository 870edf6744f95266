/* Uses: many regions acquired at once by the place's version. */
#include "data/use.h"
#include "data/internal.h"

/* Counts a user of each region of a use. */
static void write_down(evn_place *p, struct place_use *use) {
    for (size_t i = 0; i < use->count; i++) {
        if (use->region[i] < 0) continue;
        struct region *r = region_at(p, use->region[i]);
        r->writer = use->access[i % use->period] & EVN_WRITE;
        r->copy[EVN_HOST].users++;
        r->users++;
        p->space[EVN_HOST].holds++;
    }
    use->written_down = 1;
}

/* Undoes write_down(). Returns the number of a region that another caller has released, -1:
 * none. */
static int take_back(evn_place *p, const struct place_use *use) {
    int released = -1;
    for (size_t i = 0; i < use->count; i++) {
        if (use->region[i] < 0) continue;
        struct region *r = region_at(p, use->region[i]);
        if (!r->copy[EVN_HOST].users) {
            released = r->number;
            continue;
        }
        r->copy[EVN_HOST].users--;
        r->users--;
        p->space[EVN_HOST].holds--;
    }
    return released;
}

void place_lock(evn_place *p) {
    pthread_mutex_lock(&p->lock);
    for (struct place_use *use = p->use; use; use = use->next)
        if (!use->written_down) write_down(p, use);
}

void place_enter(evn_place *p) {
    place_lock(p);
    p->version++;
}

int place_is_absent(evn_place *p, int region) {
    pthread_mutex_lock(&p->lock);
    const struct region *r = region_of(p, region);
    const int absent = r && is_absent(r);
    pthread_mutex_unlock(&p->lock);
    return absent;
}

int place_numbers(const evn_place *p) {
    return atomic_load_explicit(&p->regions, memory_order_acquire);
}

unsigned long place_version(evn_place *p) {
    pthread_mutex_lock(&p->lock);
    const unsigned long version = p->version;
    pthread_mutex_unlock(&p->lock);
    return version;
}

int place_use_begin(evn_place *p, struct place_use *use, unsigned long version) {
    pthread_mutex_lock(&p->lock);
    const int same = p->version == version && !p->use;
    if (same) {
        use->written_down = 0;
        use->next = NULL;
        p->use = use;
    }
    pthread_mutex_unlock(&p->lock);
    return same;
}

evn_status place_use_end(evn_place *p, struct place_use *use) {
    pthread_mutex_lock(&p->lock);
    struct place_use **u = &p->use;
    while (*u != use) u = &(*u)->next;
    *u = use->next;
    const int released = use->written_down ? take_back(p, use) : -1;
    pthread_mutex_unlock(&p->lock);
    if (released < 0) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "place: region %d is released in space %d more often than it was acquired; it "
                    "is held nowhere",
                    released, EVN_HOST);
}
