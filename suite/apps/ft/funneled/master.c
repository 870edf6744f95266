/* The device shared by ranks: its memory, and the addresses of members' lines there. */
#include "ft/funneled/master.h"
#include "common/run/free_all.h"
#include <stdlib.h>

static size_t most(size_t a, size_t b) { return a < b ? b : a; }

/* On the device rows of a plane lie side by side, and in the host's memory maybe not. */
static size_t plane_doubles(const struct master *m) {
    return 2 * (size_t)m->of->f->t->nx * (size_t)m->of->f->t->ny;
}
static size_t slab_doubles(const struct master *m) { return transform_slab(m->of->f->t); }

/* Numbers lines member after member. */
static void lay_out(struct master *m) {
    const struct owners *o = &m->of->f->owners;
    m->planes = m->rows = 0;
    m->slot_doubles = plane_doubles(m);
    for (int i = 0; i < m->members; i++) {
        struct served *s = &m->member[i];
        const int rank = m->of->master + i, rows = o->y.count[rank];
        const int longest = (rows + FUNNEL_PIECES - 1) / FUNNEL_PIECES;
        s->planes = m->planes;
        s->rows = m->rows;
        m->planes += o->z.count[rank];
        m->rows += rows;
        m->slot_doubles = most(m->slot_doubles, slab_doubles(m) * (size_t)longest);
    }
    m->side = most(plane_doubles(m) * (size_t)m->planes, slab_doubles(m) * (size_t)m->rows);
}

static size_t ways(const struct master *m) {
    return (size_t)m->of->f->owners.y.n + 2 * (size_t)m->of->f->owners.z.n;
}

evn_status master_check(struct master *m) {
    const evn_traits *traits = evn_device_traits(m->device);
    lay_out(m);
    const double fields = 16.0 * (double)m->side;
    const double needed = fields + (double)(ways(m) * sizeof(struct engine_way)) +
                          4.0 * (m->planes + m->rows) + engine_bytes(m->of->f->t);
    if (needed <= (double)traits->memory && fields <= (double)traits->max_buffer) return EVN_OK;
    return evn_fail(EVN_MEMORY,
                    "ft: %d planes and %d rows of %d ranks need %.1f MB on %s, and it has %.1f MB, "
                    "%.1f MB in one piece; choose a smaller class or size, or more nodes",
                    m->planes, m->rows, m->members, 1e-6 * needed, traits->name,
                    1e-6 * (double)traits->memory, 1e-6 * (double)traits->max_buffer);
}

static void fill_ways(struct master *m, struct engine_way *way) {
    const struct transform *t = m->of->f->t;
    const evn_long row = 2 * (evn_long)t->nx, slab = (evn_long)slab_doubles(m);
    m->way[MASTER_PLANE] = 0;
    m->way[MASTER_SLAB] = t->ny;
    m->way[MASTER_ROWS] = t->ny + t->nz;
    for (int y = 0; y < t->ny; y++)
        *way++ =
            (struct engine_way){.at = y * row, .here = (evn_long)plane_doubles(m), .pack = PACK};
    for (int z = 0; z < t->nz; z++)
        *way++ = (struct engine_way){
            .at = (evn_long)z * PACK, .here = slab, .pack = (evn_long)t->nz * PACK};
    for (int z = 0; z < t->nz; z++)
        *way++ = (struct engine_way){.at = (evn_long)m->side + z * row, .here = slab, .pack = PACK};
}

/* The numbers of all members' lines, in the order in which they lie on the device. */
static void fill_numbers(const struct master *m, const struct axis *a, int *number) {
    for (int i = 0; i < a->n; i++) {
        const int member = a->rank[i] - m->of->master;
        if (member < 0 || member >= m->members) continue;
        const struct served *s = &m->member[member];
        number[(a == &m->of->f->owners.z ? s->planes : s->rows) + a->at[i]] = i;
    }
}

static evn_status send(struct master *m, evn_buffer **to, const void *table, size_t bytes) {
    evn_buffer_close(*to);
    *to = NULL;
    evn_queue *q = m->member[0].queue;
    evn_status status = evn_buffer_open(to, m->device, bytes ? bytes : sizeof(double));
    if (!status && bytes) status = evn_copy_to_device(q, *to, 0, table, bytes);
    const evn_status finished = evn_queue_finish(q);
    return status ? status : finished;
}

static evn_status make_tables(struct master *m) {
    const struct owners *o = &m->of->f->owners;
    struct engine_way *way = calloc(ways(m), sizeof *way);
    int *number = calloc((size_t)(o->z.n + o->y.n), sizeof *number);
    evn_status status = way && number ? EVN_OK : evn_fail(EVN_MEMORY, "ft: not enough memory");
    if (!status) {
        fill_ways(m, way);
        status = send(m, &m->ways, way, ways(m) * sizeof *way);
    }
    if (!status) {
        fill_numbers(m, &o->z, number);
        status = send(m, &m->plane_number, number, (size_t)m->planes * sizeof *number);
    }
    if (!status) {
        fill_numbers(m, &o->y, number);
        status = send(m, &m->row_number, number, (size_t)m->rows * sizeof *number);
    }
    free_all(way, number);
    return status;
}

static void close_slots(struct master *m) {
    for (int i = 0; i < m->members; i++)
        for (int k = 0; k < IN_FLIGHT; k++) {
            if (m->member[i].slot[k]) evn_host_memory_close(m->member[i].slot[k], m->device);
            m->member[i].slot[k] = NULL;
        }
}

static evn_status make_slots(struct master *m) {
    evn_status status = EVN_OK;
    close_slots(m);
    for (int i = 0; !status && i < m->members; i++)
        for (int k = 0; !status && k < IN_FLIGHT; k++)
            status = evn_host_memory_open((void **)&m->member[i].slot[k], m->device,
                                          m->slot_doubles * sizeof(double));
    return status;
}

evn_status master_deal(struct master *m) {
    lay_out(m);
    evn_buffer_close(m->memory);
    m->memory = NULL;
    for (int i = 0; i < m->members; i++)
        if (fields_member(m->of->f, m->of->master + i, &m->member[i].is))
            return evn_fail(EVN_MISSING,
                            "ft: rank %d leads the device of rank %d and cannot reach its memory; "
                            "--variant slabs can do without",
                            m->of->master, m->of->master + i);
    if (!m->side) return EVN_OK;
    evn_status status = evn_buffer_open(&m->memory, m->device, 2 * m->side * sizeof(double));
    if (!status) status = make_tables(m);
    return status ? status : make_slots(m);
}

static evn_status open_member(struct master *m, struct served *s) {
    evn_status status = evn_queue_open(&s->queue, m->device);
    for (int k = 0; !status && k < IN_FLIGHT; k++) status = evn_event_open(&s->down[k], m->device);
    return status;
}

evn_status master_open(struct master **out, struct funnel *funnel, evn_device *device) {
    struct master *m = *out = calloc(1, sizeof *m);
    if (!m) return evn_fail(EVN_MEMORY, "ft: not enough memory");
    *m = (struct master){.of = funnel, .device = device};
    m->members = funnel->end - funnel->master;
    m->member = calloc((size_t)m->members, sizeof *m->member);
    m->order = calloc((size_t)m->members, sizeof *m->order);
    m->signal = calloc((size_t)m->members, sizeof *m->signal);
    if (!m->member || !m->order || !m->signal) {
        m->members = 0;
        return evn_fail(EVN_MEMORY, "ft: not enough memory");
    }
    evn_status status = engine_open(&m->engine, device, funnel->f->t);
    if (!status) status = evn_event_open(&m->decayed, device);
    for (int i = 0; !status && i < m->members; i++) status = open_member(m, &m->member[i]);
    return status;
}

void master_close(struct master *m) {
    if (!m) return;
    for (int i = 0; i < m->members; i++) {
        if (m->member[i].queue) evn_queue_finish(m->member[i].queue);
        evn_queue_close(m->member[i].queue);
        for (int k = 0; k < IN_FLIGHT; k++) evn_event_close(m->member[i].down[k]);
    }
    close_slots(m);
    evn_event_close(m->decayed);
    engine_close(m->engine);
    evn_buffer_close(m->memory);
    evn_buffer_close(m->ways);
    evn_buffer_close(m->plane_number);
    evn_buffer_close(m->row_number);
    free_all(m->member, m->order, m->signal, m);
}
