/* Tasks on devices. */
#include "ft/device/internal.h"
#include "common/run/hash.h"
#include "common/run/huge_alloc.h"
#include "ft/host/passes.h"
#include <stdlib.h>
#include <string.h>

/* ---- memory --------------------------------------------------------------------------------- */

static evn_status check_place(struct place *d) {
    const evn_traits *traits = evn_device_traits(d->device);
    place_lay_out(d);
    const double fields = 8.0 * (double)d->doubles;
    const double needed =
        fields + (double)(place_ways(d) * sizeof(struct engine_way)) + engine_bytes(d->of->f->t);
    if (needed <= (double)traits->memory && fields <= (double)traits->max_buffer) return EVN_OK;
    return evn_fail(EVN_MEMORY,
                    "ft: %d planes and %d rows need %.1f MB on %s, and it has %.1f MB, %.1f MB in "
                    "one piece; give it fewer, or choose a smaller class or size",
                    d->planes, d->rows, 1e-6 * needed, traits->name, 1e-6 * (double)traits->memory,
                    1e-6 * (double)traits->max_buffer);
}

evn_status places_check(const struct places *p) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < p->count; i++) status = check_place(&p->place[i]);
    return status;
}

/* ---- V -------------------------------------------------------------------------------------- */

/* Where a task's part of V is, bytes. */
static size_t kept_at(const struct place *d, int task) {
    const struct axis *a = d->of->f->kept ? &owners(d)->z : &owners(d)->y;
    const size_t first = (size_t)task_lines(d, a, task).first;
    return sizeof(double) *
           (d->of->f->kept ? d->kept + kept_doubles(d) * first : d->v + slab_doubles(d) * first);
}

static evn_status bring(struct place *d, int task) {
    size_t bytes;
    double **come = &d->of->f->come[task];
    if (*come || !d->memory) return EVN_OK;
    fields_kept(d->of->f, task, &bytes);
    if (!(*come = room(bytes)))
        return evn_fail(EVN_MEMORY, "ft: no memory for slab %d, which leaves a device", task);
    evn_status status = evn_copy_to_host(d->queue, *come, d->memory, kept_at(d, task), bytes);
    const evn_status finished = evn_queue_finish(d->queue);
    return status ? status : finished;
}

evn_status places_fetch(struct places *p, int task) {
    for (int i = 0; i < p->count; i++)
        if (has_task(&p->place[i], task)) return bring(&p->place[i], task);
    return EVN_OK;
}

evn_status places_home(struct places *p) {
    evn_status status = EVN_OK;
    for (int t = 0; !status && t < p->f->owners.tasks; t++) status = places_fetch(p, t);
    return status;
}

static evn_status take(struct place *d, int task) {
    size_t bytes;
    double **come = &d->of->f->come[task];
    if (!*come || !has_task(d, task)) return EVN_OK;
    fields_kept(d->of->f, task, &bytes);
    evn_status status = evn_copy_to_device(d->queue, d->memory, kept_at(d, task), *come, bytes);
    const evn_status finished = evn_queue_finish(d->queue);
    free(*come);
    *come = NULL;
    return status ? status : finished;
}

/* ---- dealing -------------------------------------------------------------------------------- */

static evn_status make_stage(struct place *d) {
    const struct owners *o = owners(d);
    size_t most = 0;
    for (int r = 0; r < o->ranks; r++) {
        const size_t z = (size_t)o->y.count[r] * (size_t)d->planes;
        const size_t y = (size_t)o->z.count[r] * (size_t)d->rows;
        if (r != o->me && most < z) most = z;
        if (r != o->me && most < y) most = y;
    }
    free(d->stage);
    d->stage = NULL;
    if (!most || (d->planes == o->z.count[o->me] && d->rows == o->y.count[o->me])) return EVN_OK;
    d->staged = most * row_doubles(d);
    d->stage = room(d->staged * (size_t)o->ranks * sizeof *d->stage);
    return d->stage ? EVN_OK : evn_fail(EVN_MEMORY, "ft: no memory for what goes to a device");
}

static evn_status deal_place(struct place *d) {
    const size_t had = d->memory ? d->doubles : 0;
    place_lay_out(d);
    if (d->memory && had != d->doubles) {
        evn_buffer_close(d->memory);
        d->memory = NULL;
    }
    if (!d->doubles) return EVN_OK;
    evn_status status = EVN_OK;
    if (!d->memory) status = evn_buffer_open(&d->memory, d->device, d->doubles * sizeof(double));
    if (!status) status = place_tables(d);
    if (!status) status = make_stage(d);
    for (int t = 0; !status && t < owners(d)->tasks; t++) status = take(d, t);
    return status;
}

evn_status places_deal(struct places *p) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < p->count; i++) status = deal_place(&p->place[i]);
    return status;
}

evn_status places_decay(struct places *p, const struct decay *decay) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < p->count; i++) {
        struct place *d = &p->place[i];
        if (!d->memory) continue;
        status = engine_decay(d->engine, d->queue, decay);
        if (!status) status = evn_event_record(d->ready, d->queue);
    }
    return status;
}

/* ---- passes --------------------------------------------------------------------------------- */

static evn_status launch_y_out(struct place *d, struct engine_job *job) {
    job->from = d->way[WAY_PLANE];
    job->to = d->way[WAY_OUT_Y];
    return engine_y(d->engine, job);
}

static int is_on_planes(enum place_pass pass) {
    return pass == PLACE_START || pass == PLACE_DECAY_XY || pass == PLACE_XY;
}

/* A pass over lines that lie side by side. */
static evn_status launch(struct place *d, evn_queue *queue, enum place_pass pass, struct range r) {
    struct engine_job job = {.queue = queue,
                             .memory = d->memory,
                             .ways = d->ways,
                             .numbers = is_on_planes(pass) ? d->plane_number : d->row_number,
                             .first = r.first,
                             .count = r.count,
                             .from = d->way[WAY_PLANE],
                             .to = d->way[WAY_PLANE],
                             .sign = pass <= PLACE_START_Z_BACK ? LINE_PLUS : LINE_MINUS};
    evn_status status = EVN_OK;
    switch (pass) {
    case PLACE_START:
        status = engine_start(d->engine, &job);
        if (!status) status = engine_x(d->engine, &job);
        return status ? status : launch_y_out(d, &job);
    case PLACE_START_Z:
        job.from = d->way[WAY_IN_Z];
        job.to = d->way[WAY_SLAB];
        return engine_z(d->engine, &job, 0);
    case PLACE_DECAY_XY:
        job.from = d->way[WAY_KEPT];
        status = engine_copy(d->engine, &job, 1);
        job.from = d->way[WAY_PLANE];
        if (!status) status = engine_x(d->engine, &job);
        return status ? status : launch_y_out(d, &job);
    case PLACE_Z:
        job.from = d->way[WAY_SLAB];
        job.to = d->way[WAY_OUT_Z];
        return engine_z(d->engine, &job, 1);
    case PLACE_START_Z_BACK:
    case PLACE_Z_BACK:
        job.from = d->way[WAY_IN_Z];
        job.to = d->way[WAY_OUT_Z];
        return engine_z(d->engine, &job, 0);
    case PLACE_XY:
        job.from = d->way[WAY_IN_Y];
        status = engine_x(d->engine, &job);
        job.from = d->way[WAY_PLANE];
        return status ? status : engine_y(d->engine, &job);
    }
    return status;
}

/* Launches tasks, or (`made`) lets what they have made then leave: lines that lie side by side
 * together. */
static evn_status each_range(struct place *d, const struct place_order *o, evn_queue *queue,
                             evn_event *made, const int *task, int count) {
    const struct axis *a = is_on_planes(o->pass) ? &owners(d)->z : &owners(d)->y;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < count;) {
        struct range r = task_lines(d, a, task[i]);
        for (i++; i < count; i++) {
            const struct range next = task_lines(d, a, task[i]);
            if (next.first != r.first + r.count) break;
            r.count += next.count;
        }
        status = made ? place_copy_out(d, (enum turn)o->turn, r) : launch(d, queue, o->pass, r);
        if (made && !status) status = place_copy_peers(d, (enum turn)o->turn, r, made);
    }
    return status;
}

/* One piece: its kernels, and behind them its copies. */
static evn_status do_piece(struct place *d, const struct place_order *o, evn_queue *queue,
                           int piece, const int *task, int count) {
    evn_status status = each_range(d, o, queue, NULL, task, count);
    if (status || o->turn < 0) return status;
    const struct piece_events *e = &d->piece[piece];
    status = evn_event_record(e->made, queue);
    if (!status && queue != d->copies) status = evn_queue_wait(d->copies, e->made);
    if (!status) status = each_range(d, o, queue, e->made, task, count);
    return status ? status : evn_event_record(e->gone, d->copies);
}

/* Events for so many pieces. */
static evn_status open_pieces(struct place *d, int pieces) {
    if (pieces <= d->pieces) return EVN_OK;
    struct piece_events *more = realloc(d->piece, (size_t)pieces * sizeof *more);
    if (!more) return evn_fail(EVN_MEMORY, "ft: not enough memory");
    d->piece = more;
    evn_status status = EVN_OK;
    while (!status && d->pieces < pieces) {
        struct piece_events *e = &d->piece[d->pieces++];
        *e = (struct piece_events){0};
        status = evn_event_open(&e->made, d->device);
        if (!status) status = evn_event_open(&e->gone, d->device);
    }
    return status;
}

static evn_status do_pieces(struct place *d, const struct place_order *o, evn_queue *queue,
                            const int *task, int count) {
    const int pieces = o->turn < 0 || o->pieces < 1 ? 1 : o->pieces < count ? o->pieces : count;
    evn_status status = open_pieces(d, pieces);
    for (int i = 0; !status && i < pieces; i++) {
        const int begin = places_cut(count, pieces, i);
        status = do_piece(d, o, queue, i, task + begin, places_cut(count, pieces, i + 1) - begin);
    }
    for (int i = 0, t = 0; o->left && !status && i < pieces; i++) {
        status = evn_event_finish(d->piece[i].gone, NULL);
        for (; !status && t < places_cut(count, pieces, i + 1); t++)
            status = o->left(o->arg, task[t]);
    }
    return status;
}

evn_status places_pass(struct places *p, int space, const struct place_order *o, const int *task,
                       int count) {
    struct place *d = &p->place[space - 1];
    if (o->is_foreign) {
        pthread_mutex_lock(&d->lock);
        evn_status status = evn_queue_wait(d->copies, d->ready);
        if (!status) status = do_pieces(d, o, d->copies, task, count);
        const evn_status finished = evn_queue_finish(d->copies);
        pthread_mutex_unlock(&d->lock);
        return status ? status : finished;
    }
    pthread_mutex_lock(&d->lock);
    evn_status status = evn_event_record(d->begin, d->queue);
    if (!status) status = do_pieces(d, o, d->queue, task, count);
    if (!status) status = evn_event_record(d->end, d->queue);
    d->timed = !status;
    pthread_mutex_unlock(&d->lock);
    return status;
}

evn_status places_unpack(struct places *p, int start) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < p->count; i++) {
        const struct place *d = &p->place[i];
        if (!d->memory || !d->planes) continue;
        const struct engine_job job = {.queue = d->queue,
                                       .memory = d->memory,
                                       .ways = d->ways,
                                       .numbers = d->plane_number,
                                       .count = d->planes,
                                       .from = d->way[WAY_IN_Y],
                                       .to = d->way[start ? WAY_KEPT : WAY_PLANE]};
        status = engine_copy(d->engine, &job, 0);
        if (!status) status = evn_event_record(d->ready, d->queue);
    }
    /* the inbox is free for the next transpose then */
    const evn_status finished = places_finish(p);
    return status ? status : finished;
}

double places_seconds(struct places *p, int space) {
    struct place *d = &p->place[space - 1];
    double seconds = 0;
    if (!d->timed || evn_event_seconds(d->begin, d->end, &seconds)) return 0;
    d->timed = 0;
    return seconds;
}

/* ---- results -------------------------------------------------------------------------------- */

static evn_status read_points(struct place *d, double value[2 * POINTS]) {
    if (!d->points) return EVN_OK;
    evn_status status =
        engine_points(d->engine, d->queue, d->memory, d->point_at, d->points, d->result);
    if (!status)
        status = evn_copy_to_host(d->queue, d->value, d->memory, d->result * sizeof(double),
                                  2 * (size_t)d->points * sizeof(double));
    const evn_status finished = evn_queue_finish(d->queue);
    if (!status) status = finished;
    for (int i = 0; !status && i < d->points; i++)
        memcpy(value + 2 * d->point[i], d->value + 2 * i, 2 * sizeof *value);
    return status;
}

evn_status places_points(struct places *p, double value[2 * POINTS]) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < p->count; i++)
        if (p->place[i].memory) status = read_points(&p->place[i], value);
    return status;
}

static evn_status hash_task(struct place *d, int task, double *plane, uint64_t *hash) {
    const struct range r = task_lines(d, &owners(d)->z, task);
    evn_status status = EVN_OK;
    *hash = HASH_SEED;
    for (int i = r.first; !status && i < r.first + r.count; i++) {
        status = evn_copy_to_host(d->queue, plane, d->memory,
                                  (d->w + plane_doubles(d) * (size_t)i) * sizeof(double),
                                  plane_doubles(d) * sizeof(double));
        const evn_status finished = evn_queue_finish(d->queue);
        if (!status) status = finished;
        if (!status) *hash = hash_plane(d->of->f->t, plane, (ptrdiff_t)row_doubles(d), *hash);
    }
    return status;
}

evn_status places_hash(struct places *p, uint64_t *hash) {
    if (!p->count) return EVN_OK;
    double *plane = room(plane_doubles(&p->place[0]) * sizeof *plane);
    evn_status status = plane ? EVN_OK : evn_fail(EVN_MEMORY, "ft: no memory for a plane");
    for (int t = 0; !status && t < p->f->owners.tasks; t++)
        for (int i = 0; !status && i < p->count; i++)
            if (has_task(&p->place[i], t)) status = hash_task(&p->place[i], t, plane, &hash[t]);
    free(plane);
    return status;
}

/* ---- opening -------------------------------------------------------------------------------- */

static evn_status open_place(struct places *p, evn_unit *unit, int i) {
    struct place *d = &p->place[p->count++];
    *d = (struct place){.of = p,
                        .unit = unit,
                        .space = p->count,
                        .device = evn_unit_device(unit, i),
                        .queue = evn_unit_queue(unit, i)};
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->door, NULL);
    evn_status status = engine_open(&d->engine, d->device, p->f->t);
    if (!status) status = evn_queue_open(&d->copies, d->device);
    if (!status) status = evn_queue_open(&d->arrivals, d->device);
    if (!status) status = evn_event_open(&d->ready, d->device);
    if (!status) status = evn_event_record(d->ready, d->queue);
    if (!status) status = evn_event_open(&d->begin, d->device);
    if (!status) status = evn_event_open(&d->end, d->device);
    return status;
}

evn_status places_open(struct places *p, struct fields *f, evn_units *units, int elsewhere) {
    const int devices = elsewhere ? 0 : evn_units_about(units).devices;
    *p = (struct places){.f = f, .units = units};
    if (!devices) return EVN_OK;
    p->place = calloc((size_t)devices, sizeof *p->place);
    if (!p->place || owners_spaces(&f->owners, devices + 1))
        return evn_fail(EVN_MEMORY, "ft: not enough memory");
    evn_status status = EVN_OK;
    for (int u = 0; !status && u < evn_units_count(units); u++) {
        evn_unit *unit = evn_units_get(units, u);
        for (int i = 0; !status && i < evn_unit_devices(unit); i++) status = open_place(p, unit, i);
    }
    return status;
}

void places_close(struct places *p) {
    for (int i = 0; i < p->count; i++) {
        struct place *d = &p->place[i];
        evn_queue_close(d->copies);
        evn_queue_close(d->arrivals);
        evn_event_close(d->ready);
        evn_event_close(d->begin);
        evn_event_close(d->end);
        for (int k = 0; k < d->pieces; k++) {
            evn_event_close(d->piece[k].made);
            evn_event_close(d->piece[k].gone);
        }
        free(d->piece);
        engine_close(d->engine);
        evn_buffer_close(d->memory);
        evn_buffer_close(d->ways);
        evn_buffer_close(d->plane_number);
        evn_buffer_close(d->row_number);
        evn_buffer_close(d->point_at);
        free(d->stage);
        pthread_mutex_destroy(&d->lock);
        pthread_mutex_destroy(&d->door);
    }
    free(p->place);
    *p = (struct places){0};
}

int places_space(const struct places *p, const evn_unit *unit, int device) {
    for (int i = 0; device >= 0 && i < p->count; i++)
        if (p->place[i].unit == unit && p->place[i].device == evn_unit_device(unit, device))
            return p->place[i].space;
    return EVN_HOST;
}
