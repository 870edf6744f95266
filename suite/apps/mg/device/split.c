/* Transfers of planes between the host and devices. */
#include "mg/device/split.h"
#include "mg/mg.h"
#include "common/run/free_all.h"
#include <stdlib.h>
#include <string.h>

static int planes_of_level(const struct split *s, int down) { return s->tasks * MG_PLANES >> down; }
static int down_of(int kind) { return kind == SPLIT_U3 ? MG_SHARED : halo_down(kind); }
static int of_u(int kind) { return kind == SPLIT_U3 || halo_of_u(kind); }
static int level_of(const struct split *s, int kind) { return s->p->grid.finest - down_of(kind); }

/* Plane k on the host. Those of other ranks are in slots, the finest level's. */
static double *host_plane(const struct split *s, int kind, int k) {
    const struct level *level = &s->p->grid.level[level_of(s, kind)];
    if (kind == HALO_U0 && s->place[halo_task(k, 0)] < 0) return s->p->grid.plane[k];
    return level_plane(level, of_u(kind) ? level->u : level->r, k);
}

static size_t plane_bytes(const struct split *s, int kind) {
    return (size_t)s->p->grid.level[level_of(s, kind)].plane * sizeof(double);
}

static evn_buffer *buffer_of(const struct part *p, int kind) {
    const int l = p->finest - down_of(kind);
    return of_u(kind) ? part_u(p, l) : p->field[l].r;
}

/* ---- where tasks are ------------------------------------------------------------------------ */

static int device_of(const struct split *s, int unit, int number) {
    for (int i = 0; i < s->count; i++)
        if (s->part[i].unit == unit && s->part[i].number == number) return i;
    return -1;
}

/* Finds the place of each task by these owners, for the devices that are noted. */
static void find_places(struct split *s, const evn_loop *loop, const int *owner) {
    const int first = evn_loop_about(loop).first_unit;
    evn_cluster *cluster = evn_loop_about(loop).cluster;
    for (int t = 0; t < s->tasks; t++) {
        if (cluster && !evn_loop_has(loop, t))
            s->next[t] = -1 - evn_cluster_rank_of(cluster, owner[t]);
        else
            s->next[t] = s->device[t] < 0 ? 0 : 1 + device_of(s, owner[t] - first, s->device[t]);
    }
}

struct part *split_part(struct split *s, int unit, int device, int task) {
    const int i = device_of(s, unit, device);
    if (i >= 0 && s->place[task] == 1 + i) return &s->part[i];
    evn_fail(EVN_USAGE,
             "mg: task %d is given to device %d of unit %d, and its planes are not there", task,
             device, unit);
    return NULL;
}

/* ---- what a device has memory for ------------------------------------------------------------ */

/* Planes that a device has memory for: of each level its own ones and two on either side, which all
 * kinds are within; of the levels that are no task's all where it does them itself, else of the
 * first what it makes and reads. */
static void want(struct split *s, int i) {
    struct part *p = &s->part[i];
    for (int down = 0; down < p->finest; down++) {
        const int n = planes_of_level(s, down);
        memset(s->wanted, s->whole, (size_t)n);
        for (int k = 0; !s->whole && down <= MG_SHARED && k < n; k++) {
            const int task = halo_task(k, down);
            const int mine =
                s->place[task] == 1 + i || (down == MG_SHARED && s->place[task + 1] == 1 + i);
            for (int q = -2; mine && q <= 2; q++) s->wanted[(k + q) & (n - 1)] = 1;
        }
        part_want(p, p->finest - down, s->wanted);
    }
}

static evn_status check_room(const struct part *p) {
    double largest, needs = part_needs(p, &largest);
    const evn_traits *traits = evn_device_traits(p->device);
    if (needs <= 0.95 * (double)traits->memory && largest <= (double)traits->max_buffer)
        return EVN_OK;
    return evn_fail(EVN_MEMORY,
                    "mg: device %d of unit %d (%s) needs %.3f MB for its planes, the largest field "
                    "%.3f MB, and has %.3f MB and %.3f MB for one; give it fewer tasks, or choose "
                    "a smaller class or size",
                    p->number, p->unit, traits->name, needs * 1e-6, largest * 1e-6,
                    0.95e-6 * (double)traits->memory, 1e-6 * (double)traits->max_buffer);
}

/* ---- what crosses ---------------------------------------------------------------------------- */

static struct traffic *traffic_of(const struct split *s, int i, int kind) {
    return &s->traffic[i * SPLIT_KINDS + kind];
}

/* The planes that `who` needs, as `place` has it, from each device and by each. */
static evn_status list_of(struct split *s, int kind, int who, unsigned char *sent) {
    const int n = planes_of_level(s, down_of(kind));
    evn_status status = EVN_OK;
    for (int k = 0; !status && k < n; k++) {
        const int from = s->place[halo_task(k, down_of(kind))];
        if (!s->wanted[k] || from == who) continue;
        const struct part *source = from > 0 ? &s->part[from - 1] : NULL;
        struct part *target = who > 0 ? &s->part[who - 1] : NULL;
        if (source && target && evn_device_reaches(source->device, target->device)) {
            status = strips_add(&traffic_of(s, who - 1, kind)->peers, from, k,
                                target->field[target->finest - down_of(kind)].slot[k]);
            continue;
        }
        if (source) sent[k] = 1;
        if (target) status = strips_add(&traffic_of(s, who - 1, kind)->in, 0, k, k);
    }
    return status;
}

/* Planes that are sent are put into lists in order, of each device. */
static evn_status list_sent(struct split *s, int kind, const unsigned char *sent) {
    evn_status status = EVN_OK;
    for (int k = 0; !status && k < planes_of_level(s, down_of(kind)); k++) {
        const int from = s->place[halo_task(k, down_of(kind))];
        if (sent[k]) status = strips_add(&traffic_of(s, from - 1, kind)->out, 0, k, k);
    }
    return status;
}

static evn_status list(struct split *s, int kind, unsigned char *sent) {
    const int ranks = s->halo->cluster ? evn_cluster_size(s->halo->cluster) : 1;
    const int me = s->halo->cluster ? evn_cluster_rank(s->halo->cluster) : 0;
    evn_status status = EVN_OK;
    memset(sent, 0, (size_t)planes_of_level(s, 0));
    for (int i = 0; i < s->count; i++) {
        traffic_of(s, i, kind)->out.count = traffic_of(s, i, kind)->in.count = 0;
        traffic_of(s, i, kind)->peers.count = 0;
    }
    for (int r = 0; !status && r < ranks; r++) {
        const int who = r == me ? 0 : -1 - r;
        halo_wanted(kind, s->tasks, s->place, who, s->wanted);
        status = list_of(s, kind, who, sent);
    }
    for (int i = 0; !status && i < s->count && kind != HALO_R3; i++) {
        halo_wanted(kind, s->tasks, s->place, 1 + i, s->wanted);
        status = list_of(s, kind, 1 + i, sent);
    }
    return status ? status : list_sent(s, kind, sent);
}

/* Planes of the fourth level that a device reads: for its planes of the third and two beside them.
 */
static evn_status list_u3(struct split *s, int i) {
    const int fine = planes_of_level(s, MG_SHARED - 1), n = fine / 2;
    struct strips *in = &traffic_of(s, i, SPLIT_U3)->in;
    evn_status status = EVN_OK;
    memset(s->wanted, 0, (size_t)n);
    for (int k = 0; k < fine; k++)
        for (int q = -2; s->place[k] == 1 + i && q <= 2; q++) {
            const int up = ((k + q) & (fine - 1)) / 2;
            s->wanted[up] = 1;
            if (!((k + q) & 1)) s->wanted[(up - 1) & (n - 1)] = 1;
        }
    in->count = 0;
    for (int k = 0; !status && k < n; k++)
        if (s->wanted[k]) status = strips_add(in, 0, k, k);
    return status;
}

static size_t bytes_of(const struct split *s, const struct strips *strips, int kind) {
    size_t planes = 0;
    for (int i = 0; i < strips->count; i++) planes += (size_t)strips->strip[i].planes;
    return planes * plane_bytes(s, kind);
}

/* Room for what goes out of a device at a time and for what comes, one after the other. */
static evn_status make_stage(struct split *s, int i) {
    size_t bytes = 0;
    for (int kind = 0; kind < SPLIT_KINDS; kind++) {
        const struct traffic *t = traffic_of(s, i, kind);
        const size_t both = bytes_of(s, &t->out, kind) + bytes_of(s, &t->in, kind);
        if (both > bytes) bytes = both;
    }
    if (bytes <= s->stage_bytes[i]) return EVN_OK;
    void *memory;
    evn_status status = evn_host_memory_open(&memory, s->part[i].device, bytes);
    if (status) return status;
    evn_host_memory_close(s->stage[i], s->part[i].device);
    s->stage[i] = memory;
    s->stage_bytes[i] = bytes;
    return EVN_OK;
}

static evn_status list_all(struct split *s) {
    if (s->whole) return EVN_OK;
    unsigned char *sent = malloc((size_t)planes_of_level(s, 0));
    if (!sent) return evn_fail(EVN_MEMORY, "mg: not enough memory");
    evn_status status = EVN_OK;
    for (int kind = 0; !status && kind < HALO_KINDS; kind++) status = list(s, kind, sent);
    for (int i = 0; !status && i < s->count; i++) status = list_u3(s, i);
    for (int i = 0; !status && i < s->count; i++) status = make_stage(s, i);
    free(sent);
    return status;
}

/* ---- copies --------------------------------------------------------------------------------- */

/* The planes of a strip from which slots lie side by side, from its plane number q on. */
static int side_by_side(const struct part *p, int l, const struct strip *is, int q) {
    const int *slot = p->field[l].slot + is->plane;
    int end = q + 1;
    while (end < is->planes && slot[end] == slot[end - 1] + 1) end++;
    return end;
}

/* All strips between a device and its stage, from byte `at` of it on. */
static evn_status copy_strips(struct split *s, int i, int kind, const struct strips *strips,
                              size_t at, int out) {
    struct part *p = &s->part[i];
    const int l = p->finest - down_of(kind);
    const size_t bytes = plane_bytes(s, kind);
    evn_status status = EVN_OK;
    for (int n = 0; !status && n < strips->count; n++)
        for (int q = 0, end; !status && q < strips->strip[n].planes; q = end) {
            const struct strip *is = &strips->strip[n];
            end = side_by_side(p, l, is, q);
            const size_t there = part_at(p, l, is->plane + q), size = (size_t)(end - q) * bytes;
            status =
                out ? evn_copy_to_host(p->queue, s->stage[i] + at, buffer_of(p, kind), there, size)
                    : evn_copy_to_device(p->queue, buffer_of(p, kind), there, s->stage[i] + at,
                                         size);
            at += size;
        }
    return status;
}

/* Between the host's grid and a stage. */
static void pass_strips(struct split *s, int i, int kind, const struct strips *strips, size_t at,
                        int out) {
    const size_t bytes = plane_bytes(s, kind);
    for (int n = 0; n < strips->count; n++)
        for (int q = 0; q < strips->strip[n].planes; q++, at += bytes) {
            double *plane = host_plane(s, kind, strips->strip[n].plane + q);
            if (out)
                memcpy(plane, s->stage[i] + at, bytes);
            else
                memcpy(s->stage[i] + at, plane, bytes);
        }
}

evn_status split_send(struct split *s, int kind) {
    evn_status status = EVN_OK;
    if (s->whole) return EVN_OK;
    for (int i = 0; !status && i < s->count; i++)
        status = copy_strips(s, i, kind, &traffic_of(s, i, kind)->out, 0, 1);
    for (int i = 0; !status && i < s->count; i++) {
        const struct traffic *t = traffic_of(s, i, kind);
        if (t->out.count || t->in.count || t->peers.count)
            status = evn_queue_finish(s->part[i].queue);
        if (!status) pass_strips(s, i, kind, &t->out, 0, 1);
    }
    return status;
}

/* From device to device. split_send() has waited for what they have made. */
static evn_status take_peers(struct split *s, int i, int kind) {
    struct part *p = &s->part[i];
    const struct strips *peers = &traffic_of(s, i, kind)->peers;
    const int l = p->finest - down_of(kind);
    evn_status status = EVN_OK;
    for (int n = 0; !status && n < peers->count; n++) {
        const struct strip *is = &peers->strip[n];
        struct part *from = &s->part[is->rank - 1];
        for (int q = 0, end; !status && q < is->planes; q = end) {
            const int here = side_by_side(p, l, is, q), there = side_by_side(from, l, is, q);
            end = here < there ? here : there;
            status = evn_copy_buffer(p->queue, buffer_of(p, kind), part_at(p, l, is->plane + q),
                                     buffer_of(from, kind), part_at(from, l, is->plane + q),
                                     (size_t)(end - q) * plane_bytes(s, kind));
        }
    }
    return status;
}

evn_status split_take(struct split *s, int kind) {
    evn_status status = EVN_OK;
    if (s->whole) return EVN_OK;
    for (int i = 0; !status && i < s->count; i++) {
        const struct traffic *t = traffic_of(s, i, kind);
        const size_t at = bytes_of(s, &t->out, kind);
        if (t->in.count) status = evn_queue_finish(s->part[i].queue);
        pass_strips(s, i, kind, &t->in, at, 0);
        if (!status) status = copy_strips(s, i, kind, &t->in, at, 0);
        if (!status) status = take_peers(s, i, kind);
    }
    for (int i = 0; !status && i < s->count; i++)
        if (traffic_of(s, i, kind)->peers.count) status = evn_queue_finish(s->part[i].queue);
    return status;
}

/* A field of a task between its device's memory and the host's grid. */
static evn_status copy_task(struct split *s, int i, int task, int kind, int out) {
    struct part *p = &s->part[i];
    const int l = level_of(s, kind), planes = MG_PLANES >> down_of(kind);
    const struct level *level = &s->p->grid.level[l];
    const size_t bytes = plane_bytes(s, kind);
    evn_status status = EVN_OK;
    for (int k = planes * task; !status && k < planes * (task + 1); k++) {
        double *plane = level_plane(level, level->u, k);
        evn_buffer *u = buffer_of(p, kind);
        status = out ? evn_copy_to_host(p->queue, plane, u, part_at(p, l, k), bytes)
                     : evn_copy_to_device(p->queue, u, part_at(p, l, k), plane, bytes);
    }
    return status ? status : evn_queue_finish(p->queue);
}

evn_status split_fetch(struct split *s, int task) {
    if (!s->count || s->place[task] <= 0) return EVN_OK;
    return copy_task(s, s->place[task] - 1, task, HALO_U0, 1);
}

evn_status split_bring(struct split *s, int task) {
    if (!s->count || s->place[task] <= 0) return EVN_OK;
    return copy_task(s, s->place[task] - 1, task, HALO_U0, 0);
}

/* ---- as tasks lie --------------------------------------------------------------------------- */

/* Moves within this rank, and planes received from other ranks, to its grid. */
static int moves(const struct split *s, int t) {
    return s->next[t] != s->place[t] && s->next[t] >= 0;
}

static evn_status fetch_moved(struct split *s, int second) {
    evn_status status = EVN_OK;
    for (int t = 0; !status && t < s->tasks; t++) {
        if (!moves(s, t) || s->place[t] <= 0) continue;
        status = split_fetch(s, t);
        if (!status && second) status = copy_task(s, s->place[t] - 1, t, HALO_U1, 1);
    }
    return status;
}

static void note_moved(struct split *s, int task, struct pieces *pieces) {
    s->moved++;
    s->moved_bytes += MG_PLANES * (double)plane_bytes(s, HALO_U0);
    if (!pieces) return;
    pieces->first[task] = 1;
    if (task + 1 < s->tasks) pieces->first[task + 1] = 1;
}

/* Memory for what devices have from now on. */
static evn_status make_memory(struct split *s) {
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < s->count; i++) {
        want(s, i);
        status = check_room(&s->part[i]);
    }
    for (int i = 0; !status && i < s->count; i++) status = part_fit(&s->part[i]);
    return status;
}

/* From the places that there are to the next; `second`: u of the second level is there, too. */
static evn_status move(struct split *s, struct pieces *pieces, int second) {
    evn_status status = fetch_moved(s, second);
    for (int t = 0; t < s->tasks; t++) {
        const int moved = moves(s, t);
        if (moved && s->place[t] >= 0) note_moved(s, t, pieces);
        s->place[t] = s->next[t];
        s->next[t] = moved;
    }
    if (!status) status = make_memory(s);
    for (int t = 0; !status && t < s->tasks; t++) {
        if (!s->next[t] || s->place[t] <= 0) continue;
        status = split_bring(s, t);
        if (!status && second) status = copy_task(s, s->place[t] - 1, t, HALO_U1, 0);
    }
    return status ? status : list_all(s);
}

static int changed(const struct split *s) {
    return memcmp(s->next, s->place, (size_t)s->tasks * sizeof *s->place) != 0;
}

evn_status split_plan(struct split *s, const evn_loop *loop, struct pieces *pieces) {
    if (!s->count) return EVN_OK;
    for (int i = 0; i < s->count; i++) part_swap(&s->part[i]);
    evn_loop_devices(loop, 1, s->device);
    find_places(s, loop, evn_loop_owner(loop));
    return changed(s) ? move(s, pieces, 0) : EVN_OK;
}

static evn_status refuse_draws(void) {
    return evn_fail(EVN_USAGE,
                    "mg: the schedule lets units draw their tasks, whose planes stay in a device's "
                    "memory; expected one that gives tasks to units, such as static or interval");
}

/* Planes beside migrated tasks are there, or on the rank that got the task. */
evn_status split_before(struct split *s, const evn_loop *loop) {
    int draws;
    if (!s->count) return EVN_OK;
    const int *owner = evn_loop_next(loop, &draws);
    if (draws) return refuse_draws();
    evn_loop_devices(loop, 0, s->device);
    find_places(s, loop, owner);
    if (!changed(s)) return EVN_OK;
    evn_status status = move(s, NULL, 1);
    for (int i = 0; !status && i < 2; i++) {
        const int kind = i ? HALO_U0 : HALO_U1;
        status = split_send(s, kind);
        if (!status) status = split_take(s, kind);
    }
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static evn_status make_lists(struct split *s) {
    const size_t n = (size_t)s->tasks;
    s->part = calloc((size_t)s->count, sizeof *s->part);
    s->traffic = calloc((size_t)s->count * SPLIT_KINDS, sizeof *s->traffic);
    s->stage = calloc((size_t)s->count, sizeof *s->stage);
    s->stage_bytes = calloc((size_t)s->count, sizeof *s->stage_bytes);
    s->place = calloc(3 * n, sizeof *s->place);
    s->wanted = malloc(n * MG_PLANES);
    if (!s->part || !s->traffic || !s->stage || !s->stage_bytes || !s->place || !s->wanted)
        return evn_fail(EVN_MEMORY, "mg: not enough memory");
    s->next = s->place + n;
    s->device = s->next + n;
    return EVN_OK;
}

evn_status split_open(struct split *s, const struct problem *p, struct halo *halo,
                      const evn_loop *loop, int tasks) {
    const evn_units *units = evn_loop_about(loop).units;
    *s = (struct split){.p = p, .halo = halo, .tasks = tasks};
    const int devices = evn_units_about(units).devices;
    if (!devices) return EVN_OK;
    s->count = devices;
    evn_status status = make_lists(s);
    if (status) s->count = 0;
    for (int u = 0, i = 0; !status && u < evn_units_count(units); u++) {
        evn_unit *unit = evn_units_get(units, u);
        for (int d = 0; !status && d < evn_unit_devices(unit); d++, i++) {
            status = part_open(&s->part[i], evn_unit_device(unit, d), evn_unit_queue(unit, d), p);
            s->part[i].unit = u;
            s->part[i].number = d;
        }
    }
    s->whole = devices == 1 && evn_units_count(units) == 1 && !evn_loop_about(loop).cluster;
    if (status) return status;
    int draws;
    evn_loop_next(loop, &draws);
    if (draws) return refuse_draws();
    evn_loop_devices(loop, 1, s->device);
    find_places(s, loop, evn_loop_owner(loop));
    memcpy(s->place, s->next, (size_t)tasks * sizeof *s->place);
    status = make_memory(s);
    return status ? status : list_all(s);
}

void split_close(struct split *s) {
    for (int i = 0; s->part && i < s->count; i++) {
        if (s->stage[i]) evn_host_memory_close(s->stage[i], s->part[i].device);
        part_close(&s->part[i]);
    }
    for (int i = 0; s->traffic && i < s->count * SPLIT_KINDS; i++) {
        free_all(s->traffic[i].out.strip, s->traffic[i].in.strip, s->traffic[i].peers.strip);
    }
    free_all(s->part, s->traffic, s->stage, s->stage_bytes, s->place, s->wanted);
    memset(s, 0, sizeof *s);
}
