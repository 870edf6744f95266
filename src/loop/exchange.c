/* The exchange: a plan of who copies what where, and its two halves, before and after all units
 * have packed.
 *
 * An end is a unit in a space: a CPU unit has one, a GPU unit one for each device (and the host's
 * where regions were evicted). Faces within a space are pulled by the end that receives them; all
 * faces from one end to one of another space are one message. The plan holds until a task moves.
 */
#include <evener/clock.h>
#include "loop/exchange_block.h"
#include "loop/internal.h"
#include <evener/exchange.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const evn_kernel_source exchange_kernels;

/* Blocks that a device copies in one launch. */
struct launch_list {
    struct exchange_block *block;
    struct exchange_piece *piece;
    int blocks, pieces, room, piece_room;
    evn_buffer *block_buffer, *piece_buffer;
};

/* A block that a core copies. */
struct copy {
    const double *from;
    double *to;
    long long from_stride[3], to_stride[3];
    int n[3];
};
struct copy_list {
    struct copy *copy;
    int count, room;
};

struct message {
    int from, to; /* ends */
    size_t bytes, filled;
    size_t out_at, in_at; /* in the ends' boxes, bytes */
    void *host;           /* pinned, where one of the ends is on the host; else NULL */
    evn_device *pinned_by;
    evn_event *ready; /* packed, or come to the host; NULL where the host packs */
};

struct end {
    int unit, space, device; /* device: of the unit's; -1: the host */
    /* on a device */
    evn_device *on;
    evn_program *program;
    evn_kernel *kernel;
    evn_queue *copies; /* beside the unit's compute queue */
    evn_event *packed, *arrived;
    evn_buffer *outbox, *inbox;
    size_t out_bytes, in_bytes;
    struct launch_list direct, pack, unpack;
    /* on the host */
    struct copy_list pull, fill, drain;
};

struct evn_exchange {
    evn_loop *loop;
    evn_face *face;
    int faces, tasks, units;
    double **host;
    /* the plan, for tasks as they lay */
    int *owner, *where, *end_of, *held;
    size_t *at;
    int planned;
    int open; /* the run at hand leaves unpacking to evn_exchange_finish() */
    struct end *end;
    int ends;
    struct message *message;
    int messages;
    double *in, *out; /* bytes of each unit */
    double bytes;
    int pairs;
    int *first_task, *task_count; /* of each unit */
    /* the run at hand */
    double *busy;
    struct half {
        evn_status status;
        char text[512];
    } * half;
};

/* ---- the plan ------------------------------------------------------------------------------ */

static void launch_list_close(struct launch_list *l) {
    free(l->block);
    free(l->piece);
    evn_buffer_close(l->block_buffer);
    evn_buffer_close(l->piece_buffer);
}

static void end_close(struct end *e) {
    evn_event_close(e->packed);
    evn_event_close(e->arrived);
    evn_queue_close(e->copies);
    evn_kernel_close(e->kernel);
    evn_program_close(e->program);
    evn_buffer_close(e->outbox);
    evn_buffer_close(e->inbox);
    launch_list_close(&e->direct);
    launch_list_close(&e->pack);
    launch_list_close(&e->unpack);
    free(e->pull.copy);
    free(e->fill.copy);
    free(e->drain.copy);
}

static void messages_close(evn_exchange *x) {
    for (int i = 0; i < x->messages; i++) {
        struct message *m = &x->message[i];
        if (m->host) evn_host_memory_close(m->host, m->pinned_by);
        evn_event_close(m->ready);
    }
    free(x->message);
    x->message = NULL;
    x->messages = 0;
}

static evn_status no_memory(const evn_exchange *x) {
    return evn_fail(EVN_MEMORY, "exchange: no memory for %d faces of %d tasks", x->faces, x->tasks);
}

/* The end of a unit in a space; made if there is none. -1: no memory. */
static int find_end(evn_exchange *x, int unit, int space) {
    for (int i = 0; i < x->ends; i++)
        if (x->end[i].unit == unit && x->end[i].space == space) return i;
    struct end *more = realloc(x->end, (size_t)(x->ends + 1) * sizeof *more);
    if (!more) return -1;
    x->end = more;
    evn_unit *u = evn_units_get(x->loop->units, unit);
    struct end *e = &x->end[x->ends];
    *e = (struct end){.unit = unit, .space = space, .device = -1};
    for (int d = 0; d < evn_unit_devices(u); d++)
        if (space != EVN_HOST && evn_place_space(x->loop->place, u, d) == space) {
            e->device = d;
            e->on = evn_unit_device(u, d);
        }
    return x->ends++;
}

/* What an end on a device needs whatever the plan is. */
static evn_status equip(struct end *e) {
    if (!e->on || e->kernel) return EVN_OK;
    evn_status status = evn_program_open(&e->program, e->on, &exchange_kernels, NULL);
    if (!status) status = evn_kernel_open(&e->kernel, e->program, "exchange_copy");
    if (!status) status = evn_queue_open(&e->copies, e->on);
    if (!status) status = evn_event_open(&e->packed, e->on);
    if (!status) status = evn_event_open(&e->arrived, e->on);
    return status;
}

/* Where each task lies now; whether that is another place than the plan is for. */
static int look(evn_exchange *x) {
    const evn_loop *loop = x->loop;
    int changed = !x->planned;
    for (int t = 0; t < x->tasks; t++) {
        int owner = loop->owner[t], where = EVN_HOST;
        size_t at = 0;
        if (loop->place) {
            where = evn_place_where(loop->place, loop_region(loop, t));
            at = evn_place_at(loop->place, loop_region(loop, t), where);
        }
        changed |= owner != x->owner[t] || where != x->where[t] || at != x->at[t];
        x->owner[t] = owner;
        x->where[t] = where;
        x->at[t] = at;
    }
    return changed;
}

/* A region on a device belongs to the unit that has the device, whoever owns the task now. */
static int unit_of(const evn_exchange *x, int task) {
    const evn_loop *loop = x->loop;
    if (x->where[task] == EVN_HOST) return x->owner[task];
    for (int u = 0; u < x->units; u++) {
        evn_unit *unit = evn_units_get(loop->units, u);
        for (int d = 0; d < evn_unit_devices(unit); d++)
            if (evn_place_space(loop->place, unit, d) == x->where[task]) return u;
    }
    return x->owner[task];
}

static evn_status find_ends(evn_exchange *x) {
    for (int t = 0; t < x->tasks; t++) {
        x->end_of[t] = find_end(x, unit_of(x, t), x->where[t]);
        if (x->end_of[t] < 0) return no_memory(x);
    }
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < x->ends; i++) {
        struct end *e = &x->end[i];
        status = equip(e);
        e->out_bytes = e->in_bytes = 0;
        e->direct.blocks = e->pack.blocks = e->unpack.blocks = 0;
        e->direct.pieces = e->pack.pieces = e->unpack.pieces = 0;
        e->pull.count = e->fill.count = e->drain.count = 0;
    }
    return status;
}

static size_t face_bytes(const evn_face *f) {
    return (size_t)f->n[0] * (size_t)f->n[1] * (size_t)f->n[2] * sizeof(double);
}

/* Messages, and how long they are; *number[a*ends + b] is the number of the one from a to b. */
static evn_status find_messages(evn_exchange *x, int *number) {
    const size_t ends = (size_t)x->ends;
    for (size_t i = 0; i < ends * ends; i++) number[i] = -1;
    for (int i = 0; i < x->faces; i++) {
        const evn_face *f = &x->face[i];
        int a = x->end_of[f->from], b = x->end_of[f->to];
        if (x->end[a].space == x->end[b].space) continue;
        int *n = &number[(size_t)a * ends + (size_t)b];
        if (*n < 0) {
            struct message *more = realloc(x->message, (size_t)(x->messages + 1) * sizeof *more);
            if (!more) return no_memory(x);
            x->message = more;
            *n = x->messages++;
            x->message[*n] = (struct message){.from = a, .to = b};
        }
        x->message[*n].bytes += face_bytes(f);
    }
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < x->messages; i++) {
        struct message *m = &x->message[i];
        struct end *a = &x->end[m->from], *b = &x->end[m->to];
        if (a->on) {
            m->out_at = a->out_bytes;
            a->out_bytes += (m->bytes + 255) / 256 * 256;
            status = evn_event_open(&m->ready, a->on);
        }
        if (b->on) {
            m->in_at = b->in_bytes;
            b->in_bytes += (m->bytes + 255) / 256 * 256;
        }
        if (!status && (!a->on || !b->on)) {
            m->pinned_by = a->on ? a->on : b->on;
            status = evn_host_memory_open(&m->host, m->pinned_by, m->bytes);
        }
    }
    return status;
}

static int add_block(struct launch_list *l, const struct exchange_block *block) {
    if (l->blocks == l->room) {
        int room = l->room ? 2 * l->room : 32;
        struct exchange_block *more = realloc(l->block, (size_t)room * sizeof *more);
        if (!more) return -1;
        l->block = more;
        l->room = room;
    }
    l->block[l->blocks] = *block;
    int values = block->n[0] * block->n[1] * block->n[2];
    for (int first = 0; first < values; first += EXCHANGE_PIECE) {
        if (l->pieces == l->piece_room) {
            int room = l->piece_room ? 2 * l->piece_room : 64;
            struct exchange_piece *more = realloc(l->piece, (size_t)room * sizeof *more);
            if (!more) return -1;
            l->piece = more;
            l->piece_room = room;
        }
        l->piece[l->pieces++] = (struct exchange_piece){l->blocks, first};
    }
    l->blocks++;
    return 0;
}

static int add_copy(struct copy_list *l, const struct copy *copy) {
    if (l->count == l->room) {
        int room = l->room ? 2 * l->room : 32;
        struct copy *more = realloc(l->copy, (size_t)room * sizeof *more);
        if (!more) return -1;
        l->copy = more;
        l->room = room;
    }
    l->copy[l->count++] = *copy;
    return 0;
}

/* One side of a face: a region, or a stretch of a message where values lie one after another. */
struct side {
    double *host; /* its memory; NULL on a device */
    long long at; /* doubles from there, or from the beginning of the device's buffer */
    long long stride[3];
};

static struct side region_side(const evn_exchange *x, int task, long long at,
                               const long long stride[3]) {
    struct side s = {.at = at, .stride = {stride[0], stride[1], stride[2]}};
    const struct end *e = &x->end[x->end_of[task]];
    if (e->on)
        s.at += (long long)(x->at[task] / sizeof(double));
    else if (x->loop->place)
        s.host = evn_place_host(x->loop->place, loop_region(x->loop, task));
    else
        s.host = x->host[task];
    return s;
}

static struct side message_side(const evn_face *f, void *host, size_t bytes) {
    return (struct side){.host = host,
                         .at = (long long)(bytes / sizeof(double)),
                         .stride = {(long long)f->n[1] * f->n[2], f->n[2], 1}};
}

static int add_to_device(struct launch_list *l, const evn_face *f, const struct side *from,
                         const struct side *to) {
    struct exchange_block b = {.from = from->at, .to = to->at};
    for (int d = 0; d < 3; d++) {
        b.from_stride[d] = from->stride[d];
        b.to_stride[d] = to->stride[d];
        b.n[d] = f->n[d];
    }
    return add_block(l, &b);
}

static int add_to_host(struct copy_list *l, const evn_face *f, const struct side *from,
                       const struct side *to) {
    struct copy c = {.from = from->host + from->at, .to = to->host + to->at};
    for (int d = 0; d < 3; d++) {
        c.from_stride[d] = from->stride[d];
        c.to_stride[d] = to->stride[d];
        c.n[d] = f->n[d];
    }
    return add_copy(l, &c);
}

/* Puts each face into the lists of those who copy it. */
static evn_status deal_faces(evn_exchange *x, const int *number) {
    for (int i = 0; i < x->faces; i++) {
        const evn_face *f = &x->face[i];
        const int a = x->end_of[f->from], b = x->end_of[f->to];
        struct end *from = &x->end[a], *to = &x->end[b];
        const struct side source = region_side(x, f->from, f->from_at, f->from_stride);
        const struct side target = region_side(x, f->to, f->to_at, f->to_stride);
        int failed;
        if (from->space == to->space) {
            failed = to->on ? add_to_device(&to->direct, f, &source, &target)
                            : add_to_host(&to->pull, f, &source, &target);
        } else {
            struct message *m = &x->message[number[(size_t)a * (size_t)x->ends + (size_t)b]];
            const size_t at = m->filled;
            struct side packed =
                from->on ? message_side(f, NULL, m->out_at + at) : message_side(f, m->host, at);
            struct side come =
                to->on ? message_side(f, NULL, m->in_at + at) : message_side(f, m->host, at);
            m->filled += face_bytes(f);
            failed = from->on ? add_to_device(&from->pack, f, &source, &packed)
                              : add_to_host(&from->fill, f, &source, &packed);
            failed |= to->on ? add_to_device(&to->unpack, f, &come, &target)
                             : add_to_host(&to->drain, f, &come, &target);
        }
        if (failed) return no_memory(x);
    }
    return EVN_OK;
}

/* A buffer of at least `bytes`. */
static evn_status need_buffer(evn_buffer **buffer, evn_device *on, size_t bytes) {
    if (!bytes || (*buffer && evn_buffer_bytes(*buffer) >= bytes)) return EVN_OK;
    evn_buffer_close(*buffer);
    *buffer = NULL;
    return evn_buffer_open(buffer, on, bytes);
}

static evn_status send_list(struct end *e, struct launch_list *l) {
    if (!l->pieces) return EVN_OK;
    const size_t blocks = (size_t)l->blocks * sizeof *l->block;
    const size_t pieces = (size_t)l->pieces * sizeof *l->piece;
    evn_status status = need_buffer(&l->block_buffer, e->on, blocks);
    if (!status) status = need_buffer(&l->piece_buffer, e->on, pieces);
    if (!status) status = evn_copy_to_device(e->copies, l->block_buffer, 0, l->block, blocks);
    if (!status) status = evn_copy_to_device(e->copies, l->piece_buffer, 0, l->piece, pieces);
    return status;
}

/* Counts what crosses between units. */
static evn_status count_pairs(evn_exchange *x) {
    const size_t units = (size_t)x->units;
    char *met = calloc(units * units, 1);
    if (!met) return no_memory(x);
    x->bytes = 0;
    x->pairs = 0;
    for (int u = 0; u < x->units; u++) {
        x->in[u] = x->out[u] = 0;
        x->task_count[u] = 0;
        x->first_task[u] = 0;
    }
    for (int t = x->tasks - 1; t >= 0; t--) {
        x->first_task[x->owner[t]] = t;
        x->task_count[x->owner[t]]++;
    }
    for (int i = 0; i < x->faces; i++) {
        const evn_face *f = &x->face[i];
        int a = x->end[x->end_of[f->from]].unit, b = x->end[x->end_of[f->to]].unit;
        if (a == b) continue;
        double bytes = (double)face_bytes(f);
        x->bytes += bytes;
        x->out[a] += bytes;
        x->in[b] += bytes;
        char *m = &met[(size_t)a * units + (size_t)b];
        x->pairs += !*m;
        *m = 1;
    }
    free(met);
    return EVN_OK;
}

static evn_status plan(evn_exchange *x) {
    if (!look(x)) return EVN_OK;
    x->planned = 0;
    messages_close(x);
    evn_status status = find_ends(x);
    if (status) return status;
    int *number = malloc((size_t)x->ends * (size_t)x->ends * sizeof *number);
    if (!number) return no_memory(x);
    status = find_messages(x, number);
    if (!status) status = deal_faces(x, number);
    free(number);
    for (int i = 0; !status && i < x->ends; i++) {
        struct end *e = &x->end[i];
        if (!e->on) continue;
        status = need_buffer(&e->outbox, e->on, e->out_bytes);
        if (!status) status = need_buffer(&e->inbox, e->on, e->in_bytes);
        if (!status) status = send_list(e, &e->direct);
        if (!status) status = send_list(e, &e->pack);
        if (!status) status = send_list(e, &e->unpack);
        if (!status) status = evn_queue_finish(e->copies);
        if (status) x->loop->failed_unit = e->unit;
    }
    if (!status) status = count_pairs(x);
    x->planned = !status;
    return status;
}

/* ---- copying ------------------------------------------------------------------------------- */

enum { AHEAD = 128 }; /* lines asked for at a time: a quarter of a first-level cache */

/* Rows lo to hi of a block's n[0] n[1]. What is written is asked for before, since stores wait for
 * their lines one after another: measured 1.4 times as fast out of a third-level cache, 1.7 times
 * out of memory. */
static void copy_rows(const struct copy *c, int lo, int hi) {
    const int n1 = c->n[1], n2 = c->n[2];
    const long long fs = c->from_stride[2], ts = c->to_stride[2];
    for (int row = lo; row < hi; row++) {
        const int a = row / n1, b = row % n1;
        const double *from = c->from + a * c->from_stride[0] + b * c->from_stride[1];
        double *to = c->to + a * c->to_stride[0] + b * c->to_stride[1];
        if (fs == 1 && ts == 1) {
            if (b + 1 < n1)
                for (int i = 0; i < n2; i += 8) __builtin_prefetch(to + c->to_stride[1] + i, 1);
            memcpy(to, from, (size_t)n2 * sizeof *to);
            continue;
        }
        for (int i = 0; i < n2; i += AHEAD) {
            const int end = i + AHEAD < n2 ? i + AHEAD : n2;
            for (int k = i; k < end; k++) __builtin_prefetch(&to[k * ts], 1);
            for (int k = i; k < end; k++) to[k * ts] = from[k * fs];
        }
    }
}

/* Each core of the team copies its part of every block. */
static void copy_all(const struct copy_list *l, int cores) {
    if (!l->count) return;
    if (cores == 1) {
        for (int i = 0; i < l->count; i++)
            copy_rows(&l->copy[i], 0, l->copy[i].n[0] * l->copy[i].n[1]);
        return;
    }
#pragma omp parallel num_threads(cores)
    {
        const int core = omp_get_thread_num();
        for (int i = 0; i < l->count; i++) {
            const long long rows = (long long)l->copy[i].n[0] * l->copy[i].n[1];
            copy_rows(&l->copy[i], (int)(rows * core / cores), (int)(rows * (core + 1) / cores));
        }
    }
}

static evn_status run_list(const evn_exchange *x, const struct end *e, const struct launch_list *l,
                           evn_buffer *from, evn_buffer *to) {
    if (!l->pieces) return EVN_OK;
    const evn_argument argument[] = {
        {.buffer = from}, {.buffer = to}, {.buffer = l->block_buffer}, {.buffer = l->piece_buffer}};
    evn_queue *queue = evn_unit_queue(evn_units_get(x->loop->units, e->unit), e->device);
    return evn_launch(queue, e->kernel, l->pieces, EXCHANGE_ITEMS, argument, 4);
}

/* First half on a device: what stays, and what leaves. */
static evn_status depart(evn_exchange *x, int number) {
    struct end *e = &x->end[number];
    evn_queue *queue = evn_unit_queue(evn_units_get(x->loop->units, e->unit), e->device);
    evn_buffer *arena = evn_place_buffer(x->loop->place, e->space);
    evn_status status = run_list(x, e, &e->pack, arena, e->outbox);
    if (!status && e->pack.pieces) {
        status = evn_event_record(e->packed, queue);
        if (!status) status = evn_queue_wait(e->copies, e->packed);
    }
    for (int i = 0; !status && i < x->messages; i++) {
        struct message *m = &x->message[i];
        if (m->from != number) continue;
        if (m->host) status = evn_copy_to_host(e->copies, m->host, e->outbox, m->out_at, m->bytes);
        if (!status) status = evn_event_record(m->ready, e->copies);
    }
    if (!status) status = run_list(x, e, &e->direct, arena, arena);
    return status;
}

/* Second half on a device: what comes is sent on its way. */
static evn_status post(evn_exchange *x, int number) {
    struct end *e = &x->end[number];
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < x->messages; i++) {
        struct message *m = &x->message[i];
        if (m->to != number) continue;
        struct end *a = &x->end[m->from];
        if (m->host) {
            status = evn_copy_to_device(e->copies, e->inbox, m->in_at, m->host, m->bytes);
            continue;
        }
        int peers = evn_device_traits(a->on)->peer && evn_device_traits(e->on)->peer;
        status = peers ? evn_queue_wait(e->copies, m->ready) : evn_event_finish(m->ready);
        if (!status)
            status =
                evn_copy_peer(e->copies, e->inbox, m->in_at, a->on, a->outbox, m->out_at, m->bytes);
    }
    if (!status && e->unpack.pieces) status = evn_event_record(e->arrived, e->copies);
    return status;
}

/* The end of it: what has come goes where it belongs. */
static evn_status unpack(evn_exchange *x, int number, int cores) {
    struct end *e = &x->end[number];
    evn_status status = EVN_OK;
    if (e->on) {
        if (!e->unpack.pieces) return EVN_OK;
        evn_queue *queue = evn_unit_queue(evn_units_get(x->loop->units, e->unit), e->device);
        status = evn_queue_wait(queue, e->arrived);
        return status ? status
                      : run_list(x, e, &e->unpack, e->inbox,
                                 evn_place_buffer(x->loop->place, e->space));
    }
    for (int m = 0; !status && m < x->messages; m++)
        if (x->message[m].to == number && x->message[m].ready)
            status = evn_event_finish(x->message[m].ready);
    if (!status) copy_all(&e->drain, cores);
    return status;
}

static void note(evn_exchange *x, int unit, evn_status status) {
    struct half *h = &x->half[unit];
    if (!status || h->status) return;
    h->status = status;
    snprintf(h->text, sizeof h->text, "%s", evn_message());
}

/* What each unit's leader does. */
static void run_unit(evn_unit *unit, void *arg) {
    evn_exchange *x = arg;
    const int me = evn_unit_number(unit), cores = evn_unit_cores(unit);
    double begin = evn_now();
    x->half[me].status = EVN_OK;
    for (int i = 0; i < x->ends; i++) {
        if (x->end[i].unit != me) continue;
        if (x->end[i].on) {
            note(x, me, depart(x, i));
        } else {
            copy_all(&x->end[i].fill, cores);
            copy_all(&x->end[i].pull, cores);
        }
    }
    double wait = 0;
    if (x->messages) { /* all have packed; nobody else has to wait for anybody */
        double before = evn_now();
        evn_unit_synchronize(unit);
        wait = evn_now() - before;
    }
    for (int i = 0; i < x->ends; i++) {
        struct end *e = &x->end[i];
        if (e->unit != me) continue;
        if (e->on) note(x, me, post(x, i));
        if (x->open) continue;
        if (!x->half[me].status) note(x, me, unpack(x, i, cores));
        if (e->on) note(x, me, evn_queue_finish(evn_unit_queue(unit, e->device)));
    }
    double end = evn_now();
    x->busy[me] = end - begin - wait;
    if (x->task_count[me])
        loop_record(x->loop, me, EVN_BURST_EXCHANGE, x->first_task[me], x->task_count[me], begin,
                    end);
}

/* Holds all regions where they are, so that every other copy of them is known to be stale; or lets
 * them go. */
static evn_status hold(evn_exchange *x, int take) {
    evn_place *place = x->loop->place;
    evn_status status = EVN_OK;
    for (int s = 0; place && !status && s < evn_place_spaces(place); s++) {
        int count = 0;
        for (int t = 0; t < x->tasks; t++)
            if (x->where[t] == s) x->held[count++] = loop_region(x->loop, t);
        if (!count) continue;
        if (take)
            status = evn_place_acquire(place, count, x->held, s, EVN_BOTH);
        else
            evn_place_release(place, count, x->held, s);
    }
    return status;
}

static evn_status run(evn_exchange *x) {
    evn_status status = plan(x);
    if (!status) status = hold(x, 1);
    if (status) return status;
    double begin = evn_now();
    status = evn_units_run(x->loop->units, run_unit, x);
    double wall = evn_now() - begin;
    hold(x, 0);
    if (status) return status;
    for (int u = 0; u < x->units; u++)
        if (x->half[u].status) {
            x->loop->failed_unit = u;
            return evn_fail(x->half[u].status, "unit %d: exchange of %d tasks from %d on: %s", u,
                            x->task_count[u], x->first_task[u], x->half[u].text);
        }
    loop_add_exchange(x->loop, x->busy, wall);
    evn_loop_totals *totals = &x->loop->totals;
    totals->bytes += x->bytes;
    totals->messages += x->pairs;
    totals->copies += x->messages;
    for (int u = 0; u < x->units; u++) {
        x->loop->worker[u].stats.bytes_in += x->in[u];
        x->loop->worker[u].stats.bytes_out += x->out[u];
    }
    return EVN_OK;
}

evn_status evn_exchange_run(evn_exchange *x) {
    x->open = 0;
    return run(x);
}

/* Whether every task will be computed where it lies now, all of a unit's in one batch. */
static int stays(const evn_exchange *x) {
    const evn_loop *loop = x->loop;
    if (evn_schedule_chunk(loop->schedule)) return 0;
    const int *next = evn_schedule_owner(loop->schedule);
    for (int t = 0; t < x->tasks; t++) {
        const struct end *e = &x->end[x->end_of[t]];
        if (next[t] != loop->owner[t] || e->unit != next[t]) return 0;
        if (evn_unit_is_gpu(evn_units_get(loop->units, next[t])) && !e->on) return 0;
    }
    return 1;
}

evn_status evn_exchange_start(evn_exchange *x, int *open) {
    *open = 0;
    evn_status status = plan(x);
    if (status) return status;
    x->open = *open = x->messages && stays(x);
    status = run(x);
    if (status) *open = 0;
    return status;
}

evn_status evn_exchange_finish(evn_exchange *x, evn_unit *unit, int device) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < x->ends; i++)
        if (x->end[i].unit == evn_unit_number(unit) && x->end[i].device == device)
            status = unpack(x, i, evn_unit_cores(unit));
    return status;
}

int evn_exchange_pairs(evn_exchange *x, double *bytes) {
    if (plan(x)) return -1;
    const size_t units = (size_t)x->units;
    memset(bytes, 0, units * units * sizeof *bytes);
    for (int i = 0; i < x->faces; i++) {
        const evn_face *f = &x->face[i];
        int a = x->end[x->end_of[f->from]].unit, b = x->end[x->end_of[f->to]].unit;
        bytes[(size_t)a * units + (size_t)b] += (double)face_bytes(f);
    }
    return x->pairs;
}

/* ---- opening ------------------------------------------------------------------------------- */

evn_status evn_exchange_open(evn_exchange **out, evn_loop *loop, int count, const evn_face *face,
                             double *const *host) {
    *out = NULL;
    const int tasks = loop->problem->tasks, units = loop->count;
    for (int i = 0; i < count; i++) {
        const evn_face *f = &face[i];
        if (f->from < 0 || f->from >= tasks || f->to < 0 || f->to >= tasks || f->n[0] < 0 ||
            f->n[1] < 0 || f->n[2] < 0)
            return evn_fail(EVN_USAGE,
                            "exchange: face %d goes from task %d to task %d with %d x %d x %d "
                            "values; there are tasks 0 to %d",
                            i, f->from, f->to, f->n[0], f->n[1], f->n[2], tasks - 1);
    }
    if (!loop->place && !host)
        return evn_fail(EVN_USAGE, "exchange: neither regions nor the tasks' memory are given");
    evn_exchange *x = calloc(1, sizeof *x);
    if (!x) return evn_fail(EVN_MEMORY, "exchange: not enough memory");
    const size_t n = (size_t)tasks, u = (size_t)units;
    x->loop = loop;
    x->faces = count;
    x->tasks = tasks;
    x->units = units;
    x->face = malloc((size_t)(count ? count : 1) * sizeof *face);
    x->owner = malloc(n * sizeof *x->owner);
    x->where = malloc(n * sizeof *x->where);
    x->end_of = malloc(n * sizeof *x->end_of);
    x->at = malloc(n * sizeof *x->at);
    x->held = malloc(n * sizeof *x->held);
    x->in = calloc(u, sizeof *x->in);
    x->out = calloc(u, sizeof *x->out);
    x->busy = calloc(u, sizeof *x->busy);
    x->half = calloc(u, sizeof *x->half);
    x->first_task = calloc(u, sizeof *x->first_task);
    x->task_count = calloc(u, sizeof *x->task_count);
    if (!loop->place) x->host = malloc(n * sizeof *x->host);
    if (!x->face || !x->owner || !x->where || !x->end_of || !x->at || !x->held || !x->in ||
        !x->out || !x->busy || !x->half || !x->first_task || !x->task_count ||
        (!loop->place && !x->host)) {
        evn_exchange_close(x);
        return evn_fail(EVN_MEMORY, "exchange: no memory for %d faces of %d tasks", count, tasks);
    }
    memcpy(x->face, face, (size_t)count * sizeof *face);
    if (x->host) memcpy(x->host, host, n * sizeof *x->host);
    loop->exchange = x;
    *out = x;
    return EVN_OK;
}

void evn_exchange_close(evn_exchange *x) {
    if (!x) return;
    if (x->loop->exchange == x) x->loop->exchange = NULL;
    messages_close(x);
    for (int i = 0; i < x->ends; i++) end_close(&x->end[i]);
    free(x->end);
    free(x->face);
    free(x->host);
    free(x->owner);
    free(x->where);
    free(x->end_of);
    free(x->at);
    free(x->held);
    free(x->in);
    free(x->out);
    free(x->busy);
    free(x->half);
    free(x->first_task);
    free(x->task_count);
    free(x);
}
