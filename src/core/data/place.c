/* A place and its spaces: opening, closing, counts of moves. */
#include "base/argument.h"
#include "data/internal.h"
#include "unit/device_ops.h"
#include <stdlib.h>
#include <string.h>

static evn_status open_space(evn_place *p, evn_device *device, double share) {
    struct space *s = &p->space[p->spaces++];
    s->share = share;
    s->device = device;
    evn_status status = device_ops.space_open(s);
    if (!status) p->poisons |= s->traits->poisons;
    return status;
}

static evn_status open_spaces(evn_place *p, evn_units *units, double share) {
    evn_status status = EVN_OK;
    p->spaces = 1;
    for (int u = 0; u < evn_units_count(units); u++) {
        const evn_unit *unit = evn_units_get(units, u);
        for (int i = 0; !status && i < evn_unit_devices(unit); i++) {
            evn_device *device = evn_unit_device(unit, i);
            status = device ? open_space(p, device, share)
                            : evn_fail(EVN_USAGE,
                                       "place: unit %d is only described, and has no devices", u);
        }
    }
    return status;
}

evn_status evn_place_open(evn_place **out, evn_units *units, double share) {
    NEED_OUT(out);
    NEED(units, "units");
    if (!(share > 0 && share <= 1))
        return evn_fail(EVN_USAGE,
                        "place: a share of %g of devices' memory, expected above 0 and up to 1",
                        share);
    const size_t spaces = 1 + (size_t)evn_units_about(units).devices;
    evn_place *p = calloc(1, sizeof *p);
    if (!p) return evn_fail(EVN_MEMORY, "place: not enough memory for %zu spaces", spaces);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->transferred, NULL);
    p->version = 1;
    p->first_free = -1;
    p->region_bytes = (sizeof(struct region) + spaces * sizeof(struct copy) + 15) / 16 * 16;
    p->space = calloc(spaces, sizeof *p->space);
    p->moves = calloc(spaces * spaces, sizeof *p->moves);
    evn_status status = p->space && p->moves
                            ? open_spaces(p, units, share)
                            : evn_fail(EVN_MEMORY, "place: no memory for %zu spaces", spaces);
    if (status) {
        evn_place_close(p);
        return status;
    }
    *out = p;
    return EVN_OK;
}

void place_close_space(struct space *s) {
    if (s->device) device_ops.space_close(s);
    arena_close(s->arena);
    *s = (struct space){0};
}

void evn_place_close(evn_place *p) {
    if (!p) return;
    for (int s = 0; s < p->spaces; s++) place_close_space(&p->space[s]);
    for (int i = 0; i < atomic_load(&p->regions); i++) {
        struct region *r = region_at(p, i);
        if (r->made) free(r->host);
        free(r->kept);
        free(r->spare);
        free(r);
    }
    for (struct table *t = atomic_load(&p->table), *former; t; t = former) {
        former = t->former;
        free(t);
    }
    address_close(&p->addresses);
    free(p->space);
    free(p->moves);
    pthread_cond_destroy(&p->transferred);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* ---- spaces -------------------------------------------------------------------------------- */

evn_status place_check_space(const evn_place *p, int space) {
    if (space >= 0 && space < p->spaces) return EVN_OK;
    return evn_fail(EVN_USAGE, "place: there is no space %d, only 0 to %d", space, p->spaces - 1);
}

evn_status place_check_alive(const evn_place *p, int space) {
    if (space == EVN_HOST || p->space[space].device) return EVN_OK;
    return evn_fail(EVN_USAGE, "place: there is no space %d any more: its device was lost", space);
}

int evn_place_spaces(const evn_place *p) {
    NEED_OR(0, p, "a place");
    return p->spaces;
}

/* Finds a device's space. Spaces are mostly in the order of devices, so the search begins at
 * `first`. */
static int space_of(const evn_place *p, const evn_device *device, int first) {
    for (int i = 0; i < p->spaces; i++) {
        const int s = (first + i) % p->spaces;
        if (p->space[s].device == device) return s;
    }
    return -1;
}

int evn_place_space(const evn_place *p, const evn_unit *unit, int device) {
    NEED_OR(-1, p, "a place");
    if (unit && (device == -1 || (device == 0 && !evn_unit_is_gpu(unit)))) return EVN_HOST;
    evn_device *on = unit ? evn_unit_device(unit, device) : NULL;
    const int space = on ? space_of(p, on, evn_unit_about(unit).device + device + 1) : -1;
    if (space >= 0) return space;
    if (!unit)
        evn_fail(EVN_USAGE, "place: the space of no unit (NULL); expected one of the place's");
    else if (device < 0 || device >= evn_unit_devices(unit))
        evn_fail(EVN_USAGE, "place: unit %d has no device %d; it has %d, from 0",
                 evn_unit_number(unit), device, evn_unit_devices(unit));
    else if (!on)
        evn_fail(EVN_USAGE, "place: unit %d is only described, and has no devices",
                 evn_unit_number(unit));
    else
        evn_fail(EVN_USAGE, "place: device %d of unit %d is in no space here, or was lost", device,
                 evn_unit_number(unit));
    return -1;
}

void evn_place_limit(evn_place *p, int space, double share) {
    NEED_OR(, p, "a place");
    if (space > EVN_HOST && space < p->spaces && share > 0 && share <= 1)
        p->space[space].share = share;
    else
        evn_fail(EVN_USAGE,
                 "place: a share of %g for space %d, expected above 0 and up to 1 for one of the "
                 "%d devices' spaces, from 1",
                 share, space, p->spaces - 1);
}

evn_buffer *evn_place_buffer(const evn_place *p, int space) {
    NEED_OR(NULL, p, "a place");
    return place_check_space(p, space) ? NULL : p->space[space].buffer;
}

evn_device *evn_place_device(const evn_place *p, int space) {
    NEED_OR(NULL, p, "a place");
    return place_check_space(p, space) ? NULL : p->space[space].device;
}

/* ---- moves --------------------------------------------------------------------------------- */

evn_moves evn_place_moves(const evn_place *p, int from, int to) {
    NEED_OR((evn_moves){0}, p, "a place");
    if (place_check_space(p, from) || place_check_space(p, to)) return (evn_moves){0};
    return p->moves[(size_t)from * (size_t)p->spaces + (size_t)to];
}
