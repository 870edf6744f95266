/* Layout of a device's fields and boxes, and its tables. */
#include "ft/device/internal.h"
#include "common/run/free_all.h"
#include <stdlib.h>

/* Offset of the data for that rank's space, from my line `from` on. */
size_t place_out(const struct place *d, enum turn turn, int rank, int space, int from) {
    const struct axis *a = axis_from(d, turn), *b = axis_to(d, turn);
    const size_t mine = (size_t)lines_in(a, d->space);
    return d->out + (mine * (size_t)before(d, b, rank, space) +
                     (size_t)from * (size_t)there(d, b, rank, space)) *
                        row_doubles(d);
}

/* Position of data from line `at` of a rank, by its number there. */
size_t place_in(const struct place *d, enum turn turn, int rank, int at) {
    const struct axis *a = axis_from(d, turn);
    const int order = a->base[rank] + at, mine = a->base[owners(d)->me] + a->begin[d->space];
    const int position = order < mine ? order : order - lines_in(a, d->space);
    return d->in + (size_t)position * (size_t)lines_in(axis_to(d, turn), d->space) * row_doubles(d);
}

void place_lay_out(struct place *d) {
    const struct owners *o = owners(d);
    d->planes = lines_in(&o->z, d->space);
    d->rows = lines_in(&o->y, d->space);
    const size_t into_z = (size_t)(o->y.n - d->rows) * (size_t)d->planes;
    const size_t into_y = (size_t)(o->z.n - d->planes) * (size_t)d->rows;
    const size_t box = (into_z < into_y ? into_y : into_z) * row_doubles(d);
    d->w = 0;
    d->kept = d->w + plane_doubles(d) * (size_t)d->planes;
    d->v = d->kept + (d->of->f->kept ? kept_doubles(d) * (size_t)d->planes : 0);
    d->out = d->v + slab_doubles(d) * (size_t)d->rows;
    d->in = d->out + box;
    d->result = d->in + box;
    d->doubles = d->planes || d->rows ? d->result + 2 * POINTS : 0;
}

size_t place_ways(const struct place *d) {
    return 3 * (size_t)owners(d)->z.n + 4 * (size_t)owners(d)->y.n;
}

/* Ways between layouts of a line that is another's: from my outbox, or into my inbox. */
static struct engine_way out_way(const struct place *d, enum turn turn, int line) {
    const struct axis *b = axis_to(d, turn);
    const int rank = b->rank[line], space = b->space[line], me = owners(d)->me;
    const int at = b->at[line] - (rank == me ? b->begin[space] : 0);
    return (struct engine_way){
        .at = (evn_long)(place_out(d, turn, rank, space, 0) + (size_t)at * row_doubles(d)),
        .here = (evn_long)((size_t)there(d, b, rank, space) * row_doubles(d)),
        .pack = PACK};
}
static struct engine_way in_way(const struct place *d, enum turn turn, int line) {
    const struct axis *a = axis_from(d, turn);
    return (struct engine_way){.at = (evn_long)place_in(d, turn, a->rank[line], a->at[line]),
                               .here = (evn_long)row_doubles(d),
                               .pack = PACK};
}

static void by_z(const struct place *d, int z, struct engine_way *table) {
    const struct axis *a = &owners(d)->z;
    const evn_long line = (evn_long)d->of->f->t->nz * PACK;
    const struct engine_way slab = {
        .at = (evn_long)d->v + (evn_long)z * PACK, .here = (evn_long)slab_doubles(d), .pack = line};
    table[d->way[WAY_SLAB] + z] = table[d->way[WAY_IN_Z] + z] = slab;
    if (!is_mine(d, a, z)) {
        table[d->way[WAY_OUT_Z] + z] = out_way(d, TURN_Y_TO_Z, z);
        table[d->way[WAY_IN_Z] + z] = in_way(d, TURN_Z_TO_Y, z);
        return;
    }
    const size_t plane = (size_t)(a->at[z] - a->begin[d->space]) * plane_doubles(d);
    table[d->way[WAY_OUT_Z] + z] = (struct engine_way){
        .at = (evn_long)(d->w + plane), .all = (evn_long)row_doubles(d), .pack = PACK};
}

static void by_y(const struct place *d, int y, struct engine_way *table) {
    const struct axis *a = &owners(d)->y;
    const struct engine_way plane = {.at = (evn_long)(d->w + (size_t)y * row_doubles(d)),
                                     .here = (evn_long)plane_doubles(d),
                                     .pack = PACK};
    table[d->way[WAY_PLANE] + y] = table[d->way[WAY_IN_Y] + y] = plane;
    table[d->way[WAY_KEPT] + y] =
        (struct engine_way){.at = (evn_long)d->kept + (evn_long)y * d->of->f->t->row,
                            .here = (evn_long)kept_doubles(d),
                            .pack = PACK};
    if (!is_mine(d, a, y)) {
        table[d->way[WAY_OUT_Y] + y] = out_way(d, TURN_Z_TO_Y, y);
        table[d->way[WAY_IN_Y] + y] = in_way(d, TURN_Y_TO_Z, y);
        return;
    }
    const size_t slab = (size_t)(a->at[y] - a->begin[d->space]) * slab_doubles(d);
    table[d->way[WAY_OUT_Y] + y] = (struct engine_way){
        .at = (evn_long)(d->v + slab), .all = PACK, .pack = (evn_long)d->of->f->t->nz * PACK};
}

static void number_lines(const struct place *d, const struct axis *a, int *number) {
    for (int i = 0; i < a->n; i++)
        if (is_mine(d, a, i)) number[a->at[i] - a->begin[d->space]] = i;
}

/* Points of checksums that are here, and where. */
static void find_points(struct place *d, evn_long *at) {
    const struct axis *a = &owners(d)->z;
    d->points = 0;
    for (int j = 1; j <= POINTS; j++) {
        const struct point p = checksum_point(d->of->f->t, j);
        if (!is_mine(d, a, p.z)) continue;
        at[d->points] =
            (evn_long)(d->w + (size_t)(a->at[p.z] - a->begin[d->space]) * plane_doubles(d) +
                       (size_t)p.y * row_doubles(d)) +
            p.x / PACK_PART * PACK + p.x % PACK_PART;
        d->point[d->points++] = j - 1;
    }
}

static evn_status send_table(struct place *d, evn_buffer **to, const void *table, size_t bytes) {
    evn_buffer_close(*to);
    *to = NULL;
    evn_status status = evn_buffer_open(to, d->device, bytes ? bytes : sizeof(double));
    if (!status && bytes) status = evn_copy_to_device(d->queue, *to, 0, table, bytes);
    if (!status) status = evn_queue_finish(d->queue);
    return status;
}

static evn_status send_tables(struct place *d, struct engine_way *way, int *number, evn_long *at) {
    const struct owners *o = owners(d);
    static const char is_by_y[WAYS] = {
        [WAY_PLANE] = 1, [WAY_IN_Y] = 1, [WAY_OUT_Y] = 1, [WAY_KEPT] = 1};
    for (int i = 0, sum = 0; i < WAYS; sum += is_by_y[i++] ? o->y.n : o->z.n) d->way[i] = sum;
    for (int z = 0; z < o->z.n; z++) by_z(d, z, way);
    for (int y = 0; y < o->y.n; y++) by_y(d, y, way);
    evn_status status = send_table(d, &d->ways, way, place_ways(d) * sizeof *way);
    number_lines(d, &o->z, number);
    if (!status)
        status = send_table(d, &d->plane_number, number, (size_t)d->planes * sizeof *number);
    number_lines(d, &o->y, number);
    if (!status) status = send_table(d, &d->row_number, number, (size_t)d->rows * sizeof *number);
    find_points(d, at);
    if (!status) status = send_table(d, &d->point_at, at, (size_t)d->points * sizeof *at);
    return status;
}

evn_status place_tables(struct place *d) {
    const int n = owners(d)->z.n > owners(d)->y.n ? owners(d)->z.n : owners(d)->y.n;
    struct engine_way *way = calloc(place_ways(d), sizeof *way);
    int *number = calloc((size_t)n, sizeof *number);
    evn_long *at = calloc(POINTS, sizeof *at);
    evn_status status = way && number && at ? send_tables(d, way, number, at)
                                            : evn_fail(EVN_MEMORY, "ft: not enough memory");
    free_all(way, number, at);
    return status;
}
