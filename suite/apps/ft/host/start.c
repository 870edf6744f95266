/* The field that FT begins with: a pack's sixteen numbers are made side by side, each from that of
 * the pack before. */
#include "ft/host/start.h"
#include "common/run/npb_random.h"

static void start_row(const struct transform *t, double *row, uint64_t first) {
    const uint64_t leap = npb_random_power(NPB_RANDOM_FACTOR, PACK);
    uint64_t re[PACK_PART], im[PACK_PART], x = npb_random_at(first);
    for (int i = 0; i < PACK_PART; i++) {
        re[i] = x = npb_random_next(x);
        im[i] = x = npb_random_next(x);
    }
    for (int p = 0; p < t->packs; p++)
        for (int i = 0; i < PACK_PART; i++) {
            row[p * PACK + i] = npb_random_value(re[i]);
            row[p * PACK + PACK_PART + i] = npb_random_value(im[i]);
            re[i] = re[i] * leap & NPB_RANDOM_MASK;
            im[i] = im[i] * leap & NPB_RANDOM_MASK;
        }
}

void start_rows(const struct transform *t, double *plane, int z, int y0, int y1) {
    for (int y = y0; y < y1; y++)
        start_row(t, plane + y * t->row,
                  2 * (uint64_t)t->nx * ((uint64_t)z * (uint64_t)t->ny + (uint64_t)y));
}
