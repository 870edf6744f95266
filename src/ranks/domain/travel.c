/* Regions of tasks that travel between processes, in memory of the place's: absent while the task
 * is elsewhere, like those of evn_place_make() while it is here. */
#include "data/internal.h"
#include "data/use.h"

int place_is_made(evn_place *p, int region) {
    pthread_mutex_lock(&p->lock);
    const struct region *r = region_of(p, region);
    const int made = r && r->made;
    pthread_mutex_unlock(&p->lock);
    return made;
}

void place_take_over(evn_place *p, int region) {
    place_enter(p);
    struct region *r = region_of(p, region);
    if (r && is_absent(r)) {
        r->made = true;
        r->written = false;
        p->registered += arena_rounded(r->bytes);
    }
    pthread_mutex_unlock(&p->lock);
}

void place_send_away(evn_place *p, int region) {
    struct region *r;
    place_enter(p);
    while ((r = region_of(p, region)) && r->in_transfer)
        pthread_cond_wait(&p->transferred, &p->lock);
    if (r && r->made && !r->users) {
        place_vacate(p, r);
        r->made = r->written = false;
    }
    pthread_mutex_unlock(&p->lock);
}

evn_status place_bring_home(evn_place *p, int region) {
    pthread_mutex_lock(&p->lock);
    const struct region *r = region_of(p, region);
    const evn_access access = r && is_unwritten(r) ? EVN_WRITE : EVN_READ;
    pthread_mutex_unlock(&p->lock);
    evn_status status = evn_place_acquire(p, 1, &region, EVN_HOST, access);
    return status ? status : evn_place_release(p, 1, &region, EVN_HOST);
}
