/* What crosses between a rank's spaces. */
#include "ft/place.h"
#include <string.h>

/* ---- out ------------------------------------------------------------------------------------ */

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

/* ---- what crosses --------------------------------------------------------------------------- */

/* From one device to another of this rank. */
static evn_status copy_peer(struct place *to, const struct place *from, enum turn turn) {
    const struct axis *a = axis_from(to, turn), *b = axis_to(to, turn);
    const int me = owners(to)->me;
    const size_t rows = (size_t)lines_in(a, from->space) * (size_t)lines_in(b, to->space);
    if (!rows) return EVN_OK;
    return evn_copy_peer(
        to->queue, to->memory, place_in(to, turn, me, a->begin[from->space]) * sizeof(double),
        from->device, from->memory, place_out(from, turn, me, to->space, 0) * sizeof(double),
        rows * row_doubles(to) * sizeof(double));
}

evn_status places_leave(struct places *p, enum turn turn) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < p->count; i++)
        for (int k = 0; !status && k < p->count; k++)
            if (i != k) status = copy_peer(&p->place[i], &p->place[k], turn);
    for (int i = 0; i < p->count; i++) {
        const evn_status finished = evn_queue_finish(p->place[i].copies);
        if (!status) status = finished;
    }
    return status;
}

/* From my host's lines. */
static evn_status copy_in_host(struct place *d, enum turn turn) {
    const struct axis *a = axis_from(d, turn), *b = axis_to(d, turn);
    const size_t rows = (size_t)lines_in(a, EVN_HOST) * (size_t)lines_in(b, d->space);
    if (!rows) return EVN_OK;
    return evn_copy_to_device(
        d->queue, d->memory, place_in(d, turn, owners(d)->me, 0) * sizeof(double),
        fields_within(d->of->f, turn, d->space, 0), rows * row_doubles(d) * sizeof(double));
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

evn_status places_arrive(struct places *p, enum turn turn) {
    const struct owners *o = &p->f->owners;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < p->count; i++) {
        struct place *d = &p->place[i];
        if (!d->memory) continue;
        status = copy_in_host(d, turn);
        for (int r = 1; !status && r < o->ranks; r++)
            status = copy_in(d, turn, (o->me + r) % o->ranks);
        if (!status) status = evn_event_record(d->ready, d->queue);
    }
    return status;
}
