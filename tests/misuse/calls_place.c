/* Wrong calls of a place: of itself, of its table of regions, of acquiring, and of what is asked.
 */
#include "misuse/world.h"
#include <limits.h>
#include <math.h>
#include <stdint.h>

int calls_place(struct world *w, int row) {
    evn_place *p;
    USAGE("NULL", evn_place_open(NULL, w->units, 0.5))
    USAGE("units", evn_place_open(&p, NULL, 0.5))
    USAGE("share of 0", evn_place_open(&p, w->units, 0))
    USAGE("share of -1", evn_place_open(&p, w->units, -1))
    USAGE("up to 1", evn_place_open(&p, w->units, 1.5))
    USAGE("share of", evn_place_open(&p, w->units, NAN))
    USAGE("only described", evn_place_open(&p, w->described, 0.5))
    GIVES(-1, "no unit", evn_place_space(w->place, NULL, 0))
    GIVES(-1, "no device 2", evn_place_space(w->place, w->gpu, 2))
    GIVES(-1, "no device -2", evn_place_space(w->place, w->gpu, -2))
    GIVES(-1, "no device 1", evn_place_space(w->place, w->cpu, 1))
    GIVES(-1, "only described", evn_place_space(w->place, evn_units_get(w->described, 1), 0))
    GIVES(NULL, "no space -1", evn_place_device(w->place, -1))
    GIVES(NULL, "no space 99", evn_place_device(w->place, 99))
    SAYS("share of 0", evn_place_limit(w->place, w->space, 0))
    SAYS("share of 2", evn_place_limit(w->place, w->space, 2))
    SAYS("share of", evn_place_limit(w->place, w->space, NAN))
    SAYS("space 0", evn_place_limit(w->place, EVN_HOST, 0.5))
    SAYS("space 99", evn_place_limit(w->place, 99, 0.5))
    SAYS("space -1", evn_place_limit(w->place, -1, 0.5))
    GIVES(0, "no space -1", evn_place_moves(w->place, -1, 0).copies)
    GIVES(0, "no space 2147483647", evn_place_moves(w->place, 0, INT_MAX).copies)
    CALLS_END
}

int calls_regions(struct world *w, int row) {
    int r = 0;
    USAGE("NULL", evn_place_add(w->place, w->text, 8, NULL))
    USAGE("0 bytes", evn_place_add(w->place, w->text, 0, &r))
    USAGE("bytes", evn_place_add(w->place, w->text, SIZE_MAX, &r))
    USAGE("beyond all addresses", evn_place_add(w->place, (void *)(UINTPTR_MAX - 7), 64, &r))
    USAGE("overlap", evn_place_add(w->place, w->block[1], 8, &r))
    USAGE("overlap", evn_place_add(w->place, (char *)w->block[1] + 8, 1, &r))
    USAGE("NULL", evn_place_make(w->place, 8, NULL))
    USAGE("0 bytes", evn_place_make(w->place, 0, &r))
    USAGE("bytes", evn_place_make(w->place, SIZE_MAX, &r))
    FAILS(EVN_MEMORY, "registered",
          (evn_place_make(w->place, SIZE_MAX / 2 - 4096, &r),
           evn_place_make(w->place, SIZE_MAX / 2 - 4096, &r)))
    USAGE("no memory", evn_place_arrive(w->place, w->absent, NULL))
    USAGE("no region 99", evn_place_arrive(w->place, 99, w->text))
    USAGE("here already", evn_place_arrive(w->place, w->region[0], w->text))
    USAGE("overlap", evn_place_arrive(w->place, w->absent, w->block[0]))
    USAGE("no region -1", evn_place_leave(w->place, -1))
    USAGE("held", evn_place_leave(w->place, w->held))
    USAGE("has made it", evn_place_leave(w->place, w->made))
    USAGE("absent already", evn_place_leave(w->place, w->absent))
    USAGE("no region 2147483647", evn_place_remove(w->place, INT_MAX))
    USAGE("held", evn_place_remove(w->place, w->held))
    USAGE("no region", (evn_place_remove(w->place, w->made), evn_place_remove(w->place, w->made)))
    USAGE("NULL", evn_place_find(w->place, w->block, NULL, &w->size))
    USAGE("NULL", evn_place_find(w->place, w->block, &r, NULL))
    USAGE("no region", evn_place_find(w->place, NULL, &r, &w->size))
    USAGE("no region", evn_place_find(w->place, w->text, &r, &w->size))
    CALLS_END
}

int calls_acquire(struct world *w, int row) {
    const int none = 99, twice[] = {w->region[0], w->region[0]}, *one = w->region;
    const evn_access odd = (evn_access)4, both[] = {EVN_READ, EVN_WRITE};
    USAGE("-1 regions", evn_place_acquire(w->place, -1, one, 0, EVN_READ))
    USAGE("without regions", evn_place_acquire(w->place, 1, NULL, 0, EVN_READ))
    USAGE("no region 99", evn_place_acquire(w->place, 1, &none, 0, EVN_READ))
    USAGE("no space 99", evn_place_acquire(w->place, 1, one, 99, EVN_READ))
    USAGE("no space -1", evn_place_acquire(w->place, 1, one, -1, EVN_READ))
    USAGE("access 4", evn_place_acquire(w->place, 1, one, 0, odd))
    USAGE("access 0", evn_place_acquire(w->place, 1, one, 0, (evn_access)0))
    USAGE("access -1", evn_place_acquire(w->place, 1, one, w->space, (evn_access)-1))
    USAGE("twice", evn_place_acquire(w->place, 2, twice, 0, EVN_WRITE))
    USAGE("twice", evn_place_acquire(w->place, 2, twice, w->space, EVN_BOTH))
    USAGE("twice", evn_place_acquire_each(w->place, 2, twice, w->space, both))
    USAGE("held", evn_place_acquire(w->place, 1, &w->held, 0, EVN_READ))
    USAGE("absent", evn_place_acquire(w->place, 1, &w->absent, 0, EVN_WRITE))
    USAGE("nobody has written", evn_place_acquire(w->place, 1, &w->made, 0, EVN_READ))
    USAGE("access modes", evn_place_acquire_each(w->place, 1, one, 0, NULL))
    USAGE("regions", evn_place_acquire_each(w->place, 1, NULL, 0, both))
    USAGE("-2147483648 regions", evn_place_acquire_each(w->place, INT_MIN, one, 0, both))
    IS(EVN_OK, evn_place_acquire(w->place, 0, NULL, 0, EVN_READ))
    USAGE("-1 regions", evn_place_release(w->place, -1, one, 0))
    USAGE("NULL", evn_place_release(w->place, 1, NULL, 0))
    USAGE("no region 99", evn_place_release(w->place, 1, &none, 0))
    USAGE("no space 99", evn_place_release(w->place, 1, &w->held, 99))
    USAGE("not acquired there", evn_place_release(w->place, 1, one, 0))
    USAGE("not acquired there", evn_place_release(w->place, 1, &w->held, w->space))
    USAGE("not acquired", (evn_place_release(w->place, 1, &w->held, 0),
                           evn_place_release(w->place, 1, &w->held, 0)))
    USAGE("-1 regions", evn_place_fits(w->place, -1, one, w->space, w->ints))
    USAGE("NULL", evn_place_fits(w->place, 1, NULL, w->space, w->ints))
    USAGE("NULL", evn_place_fits(w->place, 1, one, w->space, NULL))
    USAGE("no region 99", evn_place_fits(w->place, 1, &none, w->space, w->ints))
    USAGE("no space -1", evn_place_fits(w->place, 1, one, -1, w->ints))
    CALLS_END
}

int calls_asking(struct world *w, int row) {
    const int r = w->region[0];
    GIVES(-1, "no region -1", evn_place_where(w->place, -1))
    GIVES(-1, "no region 99", evn_place_where(w->place, 99))
    IS(-1, evn_place_where(w->place, w->absent))
    GIVES(0, "no region 2147483647", evn_place_valid(w->place, INT_MAX, 0))
    GIVES(0, "no space 99", evn_place_valid(w->place, r, 99))
    GIVES(NULL, "no space -1", evn_place_buffer(w->place, -1))
    GIVES(NULL, "no space 99", evn_place_buffer(w->place, 99))
    IS(NULL, evn_place_buffer(w->place, EVN_HOST))
    GIVES(0, "no region -2147483648", evn_place_at(w->place, INT_MIN, 1))
    GIVES(0, "no space -1", evn_place_at(w->place, r, -1))
    GIVES(NULL, "no region 99", evn_place_host(w->place, 99))
    IS(NULL, evn_place_host(w->place, w->absent))
    GIVES(0, "no region 99", evn_place_bytes(w->place, 99))
    CALLS_END
}
