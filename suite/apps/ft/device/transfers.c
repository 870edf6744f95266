/* Transfers between a rank's spaces. */
#include "ft/device/internal.h"
#include <string.h>

/* Rows of lines, for another rank or my host, out to the host. */
static evn_status copy_out(struct place *d, enum turn turn, int rank, struct range r) {
    const struct axis *a = axis_from(d, turn), *b = axis_to(d, turn);
    const int count = there(d, b, rank, EVN_HOST), from = a->begin[d->space] + r.first;
    const size_t bytes = (size_t)r.count * (size_t)count * row_doubles(d) * sizeof(double);
    if (!bytes) return EVN_OK;
    double *to = rank == owners(d)->me ? fields_within(d->of->f, turn, EVN_HOST, from)
                                       : fields_outbox(d->of->f, turn, rank, from);
    return evn_copy_to_host(d->copies, to, d->memory,
                            place_out(d, turn, rank, EVN_HOST, r.first) * sizeof(double), bytes);
}

evn_status place_copy_out(struct place *d, enum turn turn, struct range r) {
    const struct owners *o = owners(d);
    evn_status status = EVN_OK;
    for (int i = 1; !status && i <= o->ranks; i++)
        status = copy_out(d, turn, (o->me + i) % o->ranks, r);
    return status;
}

/* From lines of one device to another of this rank. */
static evn_status copy_peer(struct place *to, evn_queue *queue, const struct place *from,
                            enum turn turn, struct range r) {
    const int me = owners(to)->me, at = axis_from(to, turn)->begin[from->space] + r.first;
    const size_t rows = (size_t)r.count * (size_t)lines_in(axis_to(to, turn), to->space);
    if (!rows) return EVN_OK;
    return evn_copy_buffer(queue, to->memory, place_in(to, turn, me, at) * sizeof(double),
                           from->memory,
                           place_out(from, turn, me, to->space, r.first) * sizeof(double),
                           rows * row_doubles(to) * sizeof(double));
}

evn_status place_copy_peers(struct place *d, enum turn turn, struct range r, evn_event *made) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < d->of->count; i++) {
        struct place *to = &d->of->place[i];
        if (to == d || !evn_device_reaches(to->device, d->device)) continue;
        pthread_mutex_lock(&to->door);
        status = evn_queue_wait(to->arrivals, made);
        if (!status) status = copy_peer(to, to->arrivals, d, turn, r);
        pthread_mutex_unlock(&to->door);
    }
    return status;
}

/* From lines of my host. */
static evn_status copy_in_host(struct place *d, evn_queue *queue, enum turn turn, struct range r) {
    const size_t rows = (size_t)r.count * (size_t)lines_in(axis_to(d, turn), d->space);
    if (!rows) return EVN_OK;
    return evn_copy_to_device(
        queue, d->memory, place_in(d, turn, owners(d)->me, r.first) * sizeof(double),
        fields_within(d->of->f, turn, d->space, r.first), rows * row_doubles(d) * sizeof(double));
}

evn_status places_send(struct places *p, enum turn turn, const int *task, int count) {
    const struct owners *o = &p->f->owners;
    const struct axis *a = turn == TURN_Z_TO_Y ? &o->z : &o->y;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < p->count; i++) {
        struct place *d = &p->place[i];
        if (!d->memory) continue;
        pthread_mutex_lock(&d->door);
        for (int t = 0; !status && t < count;) {
            const int first = parts_begin(a->n, o->tasks, task[t]);
            struct range r = {a->at[first], 0};
            for (; t < count && a->at[parts_begin(a->n, o->tasks, task[t])] == r.first + r.count;
                 t++)
                r.count +=
                    parts_begin(a->n, o->tasks, task[t] + 1) - parts_begin(a->n, o->tasks, task[t]);
            status = copy_in_host(d, d->arrivals, turn, r);
        }
        pthread_mutex_unlock(&d->door);
    }
    return status;
}

/* Starts what a device's pieces would have started. */
static evn_status leave_whole(struct place *d, enum turn turn) {
    const struct range all = {0, lines_in(axis_from(d, turn), d->space)};
    evn_status status = evn_queue_finish(d->queue);
    if (status || !all.count) return status;
    status = evn_event_record(d->ready, d->queue);
    if (!status) status = place_copy_out(d, turn, all);
    return status ? status : place_copy_peers(d, turn, all, d->ready);
}

evn_status places_leave(struct places *p, enum turn turn, int whole) {
    evn_status status = EVN_OK;
    for (int i = 0; whole && !status && i < p->count; i++)
        if (p->place[i].memory) status = leave_whole(&p->place[i], turn);
    for (int i = 0; !status && i < p->count; i++)
        for (int k = 0; !status && k < p->count; k++) {
            struct place *to = &p->place[i], *from = &p->place[k];
            if (i == k || evn_device_reaches(to->device, from->device)) continue;
            const struct range all = {0, lines_in(axis_from(from, turn), from->space)};
            status = copy_peer(to, to->arrivals, from, turn, all);
        }
    for (int i = 0; i < p->count; i++) {
        const evn_status left = evn_queue_finish(p->place[i].copies);
        const evn_status come = evn_queue_finish(p->place[i].arrivals);
        if (!status) status = left ? left : come;
    }
    return status;
}

evn_status places_finish(struct places *p) {
    evn_status status = EVN_OK;
    for (int i = 0; i < p->count; i++) {
        const evn_status finished = evn_queue_finish(p->place[i].queue);
        if (!status) status = finished;
    }
    return status;
}

/* From another rank; where that has sent for other spaces too, ours is gathered first. */
static evn_status copy_in(struct place *d, enum turn turn, int rank) {
    const struct axis *a = axis_from(d, turn), *b = axis_to(d, turn);
    const size_t mine = (size_t)lines_in(b, d->space) * row_doubles(d);
    const size_t all = (size_t)b->count[owners(d)->me] * row_doubles(d);
    const size_t begin = (size_t)b->begin[d->space] * row_doubles(d);
    if (!mine || !a->count[rank]) return EVN_OK;
    const double *from = fields_inbox(d->of->f, turn, rank, 0);
    if (mine != all) {
        double *stage = d->stage + d->staged * (size_t)rank;
        for (int i = 0; i < a->count[rank]; i++)
            memcpy(stage + (size_t)i * mine, from + (size_t)i * all + begin, mine * sizeof *stage);
        from = stage;
    }
    return evn_copy_to_device(d->queue, d->memory, place_in(d, turn, rank, 0) * sizeof(double),
                              from, (size_t)a->count[rank] * mine * sizeof(double));
}

evn_status places_arrive(struct places *p, enum turn turn, int whole) {
    const struct owners *o = &p->f->owners;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < p->count; i++) {
        struct place *d = &p->place[i];
        if (!d->memory) continue;
        const struct range all = {0, lines_in(axis_from(d, turn), EVN_HOST)};
        if (whole) status = copy_in_host(d, d->queue, turn, all);
        for (int r = 1; !status && r < o->ranks; r++)
            status = copy_in(d, turn, (o->me + r) % o->ranks);
        if (!status) status = evn_event_record(d->ready, d->queue);
    }
    /* with two transposes, the pass that follows writes what goes back to where this lies */
    return status || !whole || !p->f->kept ? status : places_finish(p);
}
