/* One piece of a member on the shared device: in, the kernels, out. */
#include "ft/funneled/master.h"
#include <evener/clock.h>
#include <string.h>

static size_t row_doubles(const struct master *m) { return 2 * (size_t)m->of->f->t->nx; }

/* Doubles of a line of the pass. */
static size_t line_doubles(const struct master *m) {
    const struct transform *t = m->of->f->t;
    return on_planes(m->of->pass) ? row_doubles(m) * (size_t)t->ny : transform_slab(t);
}

/* Row y of a member's plane, by its number there. */
static double *row_at(const struct master *m, const struct member *is, int plane, int y) {
    const struct transform *t = m->of->f->t;
    return is->plane + transform_plane(t) * (size_t)plane + t->row * y;
}

/* Sources of a member's line: rows of a plane, received and its own; or of layout Y, all of which
 * are in its inbox. */
static void gather_rows(const struct master *m, const struct member *is, enum turn turn, int line,
                        double *slot) {
    const struct owners *o = &m->of->f->owners;
    const struct axis *from = turn == TURN_Y_TO_Z ? &o->y : &o->z;
    for (int i = 0; i < from->n; i++, slot += row_doubles(m)) {
        const int here = turn == TURN_Y_TO_Z && from->rank[i] == is->rank;
        memcpy(slot, here ? row_at(m, is, line, i) : fields_member_in(m->of->f, is, turn, i, line),
               row_doubles(m) * sizeof *slot);
    }
}

/* Puts the rows of a line to their next owners. */
static void scatter_rows(const struct master *m, const struct member *is, enum turn turn, int line,
                         int number, const double *slot) {
    const struct owners *o = &m->of->f->owners;
    const struct axis *to = turn == TURN_Y_TO_Z ? &o->z : &o->y;
    for (int i = 0; i < to->n; i++, slot += row_doubles(m)) {
        const int here = turn == TURN_Y_TO_Z && to->rank[i] == is->rank;
        memcpy(here ? row_at(m, is, to->at[i], number)
                    : fields_member_out(m->of->f, is, turn, line, i),
               slot, row_doubles(m) * sizeof *slot);
    }
}

static double *slab_at(const struct master *m, const struct member *is, int row) {
    return is->slab + transform_slab(m->of->f->t) * (size_t)row;
}

static void gather(const struct master *m, const struct member *is, struct piece p, double *slot) {
    const size_t line = line_doubles(m);
    if (m->of->pass == PLACE_Z) {
        memcpy(slot, slab_at(m, is, p.first), line * (size_t)(p.end - p.first) * sizeof *slot);
        return;
    }
    for (int i = p.first; i < p.end; i++, slot += line) {
        if (m->of->pass != PLACE_START)
            gather_rows(m, is, on_planes(m->of->pass) ? TURN_Y_TO_Z : TURN_Z_TO_Y, i, slot);
        else
            for (int y = 0; y < m->of->f->owners.y.n; y++)
                memcpy(slot + row_doubles(m) * (size_t)y, row_at(m, is, i, y),
                       row_doubles(m) * sizeof *slot);
    }
}

/* The number among all of a member's row. */
static int number_of(const struct axis *a, int rank, int at) {
    int i = 0;
    while (a->rank[i] != rank || a->at[i] != at) i++;
    return i;
}

static void scatter(const struct master *m, const struct member *is, struct piece p,
                    const double *slot) {
    const size_t line = line_doubles(m);
    const struct axis *y = &m->of->f->owners.y;
    if (m->of->pass == PLACE_START_Z) {
        memcpy(slab_at(m, is, p.first), slot, line * (size_t)(p.end - p.first) * sizeof *slot);
        return;
    }
    for (int i = p.first; i < p.end; i++, slot += line) {
        if (m->of->pass == PLACE_START)
            scatter_rows(m, is, TURN_Z_TO_Y, i, 0, slot);
        else if (m->of->pass == PLACE_Z)
            scatter_rows(m, is, TURN_Y_TO_Z, i, number_of(y, is->rank, i), slot);
        else
            for (int j = 0; j < y->n; j++)
                memcpy(row_at(m, is, i, j), slot + row_doubles(m) * (size_t)j,
                       row_doubles(m) * sizeof *slot);
    }
}

/* Halves of the memory that a pass reads, and writes. */
static size_t half_in(const struct master *m) { return m->of->pass == PLACE_START_Z ? m->side : 0; }
static size_t half_out(const struct master *m) { return m->of->pass == PLACE_Z ? m->side : 0; }

static evn_status launch(struct master *m, const struct served *s, struct piece p) {
    const enum place_pass pass = m->of->pass;
    const int planes = on_planes(pass);
    struct engine_job job = {.queue = s->queue,
                             .memory = m->memory,
                             .ways = m->ways,
                             .numbers = planes ? m->plane_number : m->row_number,
                             .first = (planes ? s->planes : s->rows) + p.first,
                             .count = p.end - p.first,
                             .from = m->way[MASTER_PLANE],
                             .to = m->way[MASTER_PLANE],
                             .sign = pass <= PLACE_START_Z ? LINE_PLUS : LINE_MINUS};
    if (planes) {
        evn_status status = engine_x(m->engine, &job);
        return status ? status : engine_y(m->engine, &job);
    }
    job.from = m->way[pass == PLACE_Z ? MASTER_SLAB : MASTER_ROWS];
    job.to = m->way[pass == PLACE_Z ? MASTER_ROWS : MASTER_SLAB];
    return engine_z(m->engine, &job, pass == PLACE_Z);
}

evn_status master_begin(struct master *m, struct served *s, int i) {
    const int lines = on_planes(m->of->pass) ? s->is.planes : s->is.rows;
    const int before = on_planes(m->of->pass) ? s->planes : s->rows;
    const struct piece p = piece_of(m->of->pass, lines, i);
    const size_t at = line_doubles(m) * (size_t)(before + p.first) * sizeof(double);
    const size_t bytes = line_doubles(m) * (size_t)(p.end - p.first) * sizeof(double);
    double *slot = s->slot[i % IN_FLIGHT];
    const double begin = evn_now();
    gather(m, &s->is, p, slot);
    m->counts.copy_s += evn_now() - begin;
    evn_status status =
        evn_copy_to_device(s->queue, m->memory, half_in(m) * sizeof(double) + at, slot, bytes);
    if (!status) status = launch(m, s, p);
    if (!status)
        status =
            evn_copy_to_host(s->queue, slot, m->memory, half_out(m) * sizeof(double) + at, bytes);
    if (!status) status = evn_event_record(s->down[i % IN_FLIGHT], s->queue);
    m->counts.copies_in++;
    m->counts.copies_out++;
    m->counts.bytes_in += (double)bytes;
    m->counts.bytes_out += (double)bytes;
    return status;
}

void master_end(struct master *m, struct served *s, int i) {
    const int lines = on_planes(m->of->pass) ? s->is.planes : s->is.rows;
    const double begin = evn_now();
    scatter(m, &s->is, piece_of(m->of->pass, lines, i), s->slot[i % IN_FLIGHT]);
    m->counts.copy_s += evn_now() - begin;
}
