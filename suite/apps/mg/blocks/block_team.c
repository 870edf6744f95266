/* Exchanges of a team's blocks, and the threads that fill their queues. */
#include "mg/blocks/block_team.h"
#include "mg/blocks/blocks.h"
#include <evener/clock.h>
#include <evener/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 2, TURNS = 2 };

/* ---- a face in a field ---------------------------------------------------------------------- */

/* Points of a face, and how far they are apart. */
struct face {
    int a, b;
    evn_long step_a, step_b;
};

static struct face face_of(const struct device_field *f, int axis) {
    const int *l = f->l;
    const evn_long row = f->place.row, plane = f->place.plane;
    if (axis == 0) return (struct face){l[1], l[2], row, plane};
    return axis == 1 ? (struct face){l[0] + 2, l[2], 1, plane}
                     : (struct face){l[0] + 2, l[1] + 2, 1, row};
}

/* The first point of layer `layer` across an axis, from 0, the ghost cells below. */
static evn_long layer_at(const struct device_field *f, int axis, int layer) {
    const struct block_place *p = &f->place;
    return p->at + (axis == 0   ? layer + p->row + p->plane
                    : axis == 1 ? layer * p->row + p->plane
                                : layer * p->plane);
}

static int inner(const struct device_field *f, int axis, int side) { return side ? f->l[axis] : 1; }
static int ghost(const struct device_field *f, int axis, int side) {
    return side ? f->l[axis] + 1 : 0;
}

/* ---- on the device -------------------------------------------------------------------------- */

/* From now on neighbours on this device may take the faces across an axis. */
static void publish(struct team_block *t, int axis) {
    block_note(&t->is, evn_event_record(t->reached[axis][t->exchanges % TURNS], t->is.queue));
    pthread_mutex_lock(&t->team->lock);
    t->passed[axis] = t->exchanges + 1;
    pthread_cond_broadcast(&t->team->moved);
    pthread_mutex_unlock(&t->team->lock);
}

static evn_status await_near(struct team_block *t, const struct team_block *other, int axis) {
    struct block_team *team = t->team;
    pthread_mutex_lock(&team->lock);
    while (other->passed[axis] <= t->exchanges && !team->stop)
        pthread_cond_wait(&team->moved, &team->lock);
    const int stop = team->stop;
    pthread_mutex_unlock(&team->lock);
    if (stop) return evn_fail(EVN_STOPPED, "mg: another block of the device has failed");
    block_note(&t->is, evn_queue_wait(t->is.queue, other->reached[axis][t->exchanges % TURNS]));
    return EVN_OK;
}

/* Fills the ghost cells of these sides from the neighbours' fields; all of a team are laid out
 * alike. A field is not made anew before each neighbour has had a later face from its block, and so
 * has taken this one. */
static void pull(struct team_block *t, const struct device_field *f, int axis, const int *side,
                 const struct team_block *const *from, int sides) {
    const struct face face = face_of(f, axis);
    struct block_faces copy = {.from_a = face.step_a,
                               .from_b = face.step_b,
                               .to_a = face.step_a,
                               .to_b = face.step_b,
                               .a = face.a,
                               .b = face.b,
                               .faces = sides};
    for (int i = 0; i < sides; i++) {
        copy.from[i] = layer_at(f, axis, inner(f, axis, !side[i])) + from[i]->is.at.v.place.at -
                       t->is.at.v.place.at;
        copy.to[i] = layer_at(f, axis, ghost(f, axis, side[i]));
        if (from[i] == t) continue;
        t->counts.within++;
        t->counts.within_bytes += (double)face.a * face.b * sizeof(double);
    }
    block_copy_faces(&t->is, &copy);
}

static evn_status take_near(struct team_block *t, const struct device_field *f, int axis) {
    const struct team_block *from[SIDES];
    int side[SIDES], sides = 0;
    evn_status status = EVN_OK;
    for (int s = 0; !status && s < SIDES; s++) {
        if (t->near[axis][s] < 0) continue;
        from[sides] = &t->team->block[t->near[axis][s]];
        side[sides] = s;
        if (from[sides] != t) status = await_near(t, from[sides], axis);
        sides++;
    }
    if (!status && sides) pull(t, f, axis, side, from, sides);
    return status;
}

/* Wraps a field that is all of a level onto itself. */
static void wrap(struct team_block *t, const struct device_field *f) {
    const struct team_block *self[SIDES] = {t, t};
    for (int axis = 0; axis < 3; axis++) pull(t, f, axis, (int[]){0, 1}, self, SIDES);
}

/* ---- to and from other devices -------------------------------------------------------------- */

/* A face on its way: the sides of a phase whose neighbours are elsewhere. */
struct far_sides {
    int axis, count, side[SIDES];
    size_t points;
};

static struct far_sides far_of(const struct team_block *t, const struct device_field *f, int axis) {
    struct far_sides far = {.axis = axis, .points = faces_points(f->l, axis)};
    for (int s = 0; s < SIDES; s++)
        if (t->near[axis][s] < 0) far.side[far.count++] = s;
    return far;
}

/* Between faces in a field and one behind the other, `box` doubles from the buffer's beginning. */
static void pack(struct team_block *t, const struct device_field *f, const struct far_sides *far,
                 evn_long box, int out) {
    const struct face face = face_of(f, far->axis);
    struct block_faces copy = {.from_a = out ? face.step_a : 1,
                               .from_b = out ? face.step_b : face.a,
                               .to_a = out ? 1 : face.step_a,
                               .to_b = out ? face.a : face.step_b,
                               .a = face.a,
                               .b = face.b,
                               .faces = far->count};
    for (int i = 0; i < far->count; i++) {
        const int side = far->side[i];
        const int layer = out ? inner(f, far->axis, side) : ghost(f, far->axis, side);
        const evn_long in_field = layer_at(f, far->axis, layer),
                       in_box = box + i * (evn_long)far->points;
        copy.from[i] = out ? in_field : in_box;
        copy.to[i] = out ? in_box : in_field;
    }
    block_copy_faces(&t->is, &copy);
}

static void copy(struct team_block *t, evn_long at, double *host, size_t points, int out) {
    const size_t from = (size_t)at * sizeof(double), bytes = points * sizeof(double);
    if (t->is.late) return;
    block_note(&t->is, out ? evn_copy_to_host(t->is.queue, host, t->is.all, from, bytes)
                           : evn_copy_to_device(t->is.queue, t->is.all, from, host, bytes));
}

/* Faces of x and y are packed and copied at once, those of z as they lie. */
static void download(struct team_block *t, const struct device_field *f,
                     const struct far_sides *far) {
    if (far->axis < 2) {
        pack(t, f, far, t->is.at.box, 1);
        copy(t, t->is.at.box, t->out, far->points * (size_t)far->count, 1);
    }
    for (int i = 0; far->axis == 2 && i < far->count; i++)
        copy(t, layer_at(f, 2, inner(f, 2, far->side[i])), t->out + (size_t)i * far->points,
             far->points, 1);
    block_note(&t->is, evn_event_record(t->packed, t->is.queue));
}

static void upload(struct team_block *t, const struct device_field *f,
                   const struct far_sides *far) {
    const evn_long box = t->is.at.box + SIDES * t->is.at.box_side;
    if (far->axis < 2) {
        copy(t, box, t->in, far->points * (size_t)far->count, 0);
        pack(t, f, far, box, 0);
    }
    for (int i = 0; far->axis == 2 && i < far->count; i++)
        copy(t, layer_at(f, 2, ghost(f, 2, far->side[i])), t->in + (size_t)i * far->points,
             far->points, 0);
}

/* The one-sided array of the block's rank. */
static double *part_of(const struct team_block *t) {
    return evn_shared_pointer(t->team->faces->shared, t->rank);
}

static void copy_local(struct team_block *t, double *to, const double *from, size_t points) {
    const double begin = evn_now();
    memcpy(to, from, points * sizeof *to);
    t->counts.local_s += evn_now() - begin;
    t->counts.copies++;
    t->counts.copied_bytes += (double)(points * sizeof *to);
}

/* Waits for packed faces, then puts them, or signals their rank. Signals to other nodes are raised
 * when there is nothing else to do. */
static evn_status post(struct team_block *t, const struct device_field *f,
                       const struct far_sides *far) {
    struct faces *faces = t->team->faces;
    double begin = evn_now();
    evn_status status = EVN_OK;
    block_note(&t->is, evn_event_finish(t->packed, NULL));
    t->counts.device_s += evn_now() - begin;
    if (t->led) {
        copy_local(t, part_of(t) + faces->out, t->out, far->points * (size_t)far->count);
        return faces_tell(faces, t->rank, FACES_OUT);
    }
    begin = evn_now();
    for (int i = 0; !status && i < far->count; i++) {
        const int side = far->side[i];
        status =
            faces_put(faces, t->exchanges, f->l, far->axis, side, t->out + (size_t)i * far->points);
        if (!status && !faces_far(faces, far->axis, side))
            status = faces_raise(faces, far->axis, side);
    }
    t->counts.put_s += evn_now() - begin;
    return status;
}

static evn_status await_far(struct team_block *t, const struct far_sides *far) {
    struct faces *faces = t->team->faces;
    const double begin = evn_now();
    evn_status status = EVN_OK;
    if (t->led) status = faces_hear(faces, t->rank, FACES_IN, ++t->heard);
    for (int i = 0; !t->led && !status && i < far->count; i++)
        if (faces_far(faces, far->axis, far->side[i]))
            status = faces_raise(faces, far->axis, far->side[i]);
    for (int i = 0; !t->led && !status && i < far->count; i++)
        status = faces_wait(faces, t->exchanges, far->axis, far->side[i]);
    t->counts.put_s += evn_now() - begin;
    for (int i = 0; !status && i < far->count; i++)
        copy_local(t, t->in + (size_t)i * far->points,
                   part_of(t) + faces_box(faces, t->exchanges, far->axis, far->side[i]),
                   far->points);
    return status;
}

/* ---- operators ------------------------------------------------------------------------------ */

struct operator_ {
    const struct device_field *y, *base, *x;
    const double *weight;
};

static void apply(struct team_block *t, const struct operator_ *o, const int from[3],
                  const int count[3]) {
    block_stencil(&t->is, o->y, o->base, o->x, o->weight, from, count);
}

/* Kernels' list of the points of faces, each once. */
static void apply_faces(struct team_block *t, const struct operator_ *o) {
    int from[3] = {1, 1, 1}, count[3];
    memcpy(count, o->y->l, sizeof count);
    for (int axis = 0; axis < 3; axis++) {
        const int all = count[axis];
        count[axis] = 1;
        apply(t, o, from, count);
        from[axis] = all;
        apply(t, o, from, count);
        from[axis] = 2;
        count[axis] = all - 2;
    }
}

/* A third of the points within, plane after plane. */
static void apply_within(struct team_block *t, const struct operator_ *o, int phase) {
    const int *l = o->y->l, planes = l[2] - 2;
    const int begin = planes * phase / 3, end = planes * (phase + 1) / 3;
    apply(t, o, (int[3]){2, 2, 2 + begin}, (int[3]){l[0] - 2, l[1] - 2, end - begin});
}

/* The ghost cells of a field. `within`: what is left to do of the operator that makes it. */
static evn_status exchange(struct team_block *t, const struct device_field *f,
                           const struct operator_ *within) {
    evn_status status = EVN_OK;
    for (int axis = 0; !status && axis < 3; axis++) {
        const struct far_sides far = far_of(t, f, axis);
        const int alone = t->team->faces->ranks[axis] == 1;
        if (far.count < SIDES && !alone) publish(t, axis);
        if (far.count) download(t, f, &far);
        if (within) apply_within(t, within, axis);
        if (far.count) status = post(t, f, &far);
        if (!status) status = take_near(t, f, axis);
        if (!status && far.count) status = await_far(t, &far);
        if (!status && far.count) upload(t, f, &far);
    }
    t->exchanges++;
    return status;
}

static evn_status around(struct team_block *t, int l, const struct device_field *f,
                         const struct operator_ *within) {
    if (l > t->is.at.whole) return exchange(t, f, within);
    wrap(t, f);
    return EVN_OK;
}

static evn_status stencil(struct team_block *t, int level, const struct operator_ *o) {
    const int *l = o->y->l;
    const int apart =
        level > t->is.at.whole && t->team->overlap && l[0] > 2 && l[1] > 2 && l[2] > 4;
    if (apart)
        apply_faces(t, o);
    else
        apply(t, o, (int[3]){1, 1, 1}, l);
    return around(t, level, o->y, apart ? o : NULL);
}

/* Lets the block have all of a level, of which it has a part. */
static evn_status gather(struct team_block *t, const struct device_field *whole) {
    struct faces *faces = t->team->faces;
    const struct device_field *part = &t->is.at.part;
    const size_t of_part = (size_t)field_doubles(part), of_whole = (size_t)field_doubles(whole);
    struct block_field mine = {.at = t->out}, all = {.at = t->in};
    evn_status status;
    copy(t, part->place.at, t->out, of_part, 1);
    block_note(&t->is, evn_queue_finish(t->is.queue));
    memcpy(mine.l, part->l, sizeof mine.l);
    memcpy(all.l, whole->l, sizeof all.l);
    memset(t->in, 0, of_whole * sizeof *t->in);
    if (t->led) {
        double *aside = part_of(t) + faces->out;
        copy_local(t, aside, t->out, of_part);
        status = faces_tell(faces, t->rank, FACES_OUT);
        if (!status) status = faces_hear(faces, t->rank, FACES_IN, ++t->heard);
        if (!status) copy_local(t, t->in, aside + faces->aside / SIDES, of_whole);
    } else {
        status = faces_gather(faces, &mine, &all);
    }
    copy(t, whole->place.at, t->in, of_whole, 0);
    return status;
}

static evn_status down(void *arg, int l) {
    struct team_block *t = arg;
    const struct block_layout *at = &t->is.at;
    const int gathers = at->whole && l - 1 == at->whole;
    const struct device_field *to = &at->level[l - 1].r;
    block_down(&t->is, &at->level[l].r, gathers ? &at->part : to);
    evn_status status = gathers ? gather(t, to) : EVN_OK;
    return status ? status : around(t, l - 1, to, NULL);
}

static evn_status up(void *arg, int l) {
    struct team_block *t = arg;
    if (l > 1)
        block_up(&t->is, l);
    else
        block_clear(&t->is, &t->is.at.level[1].u);
    return EVN_OK;
}

static evn_status residual(void *arg, int l) {
    struct team_block *t = arg;
    const struct block_layout *at = &t->is.at;
    const struct device_field *r = &at->level[l].r;
    return stencil(
        t, l,
        &(struct operator_){r, l == at->finest ? &at->v : r, &at->level[l].u, blocks_minus_a});
}

static evn_status smooth(void *arg, int l) {
    struct team_block *t = arg;
    const struct device_field *u = &t->is.at.level[l].u;
    return stencil(t, l, &(struct operator_){u, u, &t->is.at.level[l].r, t->is.smoother});
}

/* ---- jobs ----------------------------------------------------------------------------------- */

static evn_status start_job(struct team_block *t) {
    block_start(&t->is, t->team->charges);
    return EVN_OK;
}

/* Neighbours may have a field while it is made anew only within a cycle: so queues end with it. */
static evn_status residual_job(struct team_block *t) {
    evn_status status = residual(t, t->is.at.finest);
    block_note(&t->is, evn_queue_finish(t->is.queue));
    return status;
}

static evn_status cycle_job(struct team_block *t) {
    static const struct blocks_steps steps = {down, up, residual, smooth};
    evn_status status = blocks_cycle_of(&steps, t, t->is.at.finest);
    block_note(&t->is, evn_queue_finish(t->is.queue));
    return status;
}

/* A number for the block's rank, which waits for it whatever has failed. */
static evn_status tell(struct team_block *t) {
    if (!t->led) return EVN_OK;
    memcpy(part_of(t) + t->team->faces->out, &t->word, sizeof t->word);
    return faces_tell(t->team->faces, t->rank, FACES_OUT);
}

static evn_status squares_job(struct team_block *t) {
    const double sum = block_squares(&t->is);
    memcpy(&t->word, &sum, sizeof t->word);
    return tell(t);
}

static evn_status hash_job(struct team_block *t) {
    t->word = block_hash(&t->is);
    return tell(t);
}

static void run(struct team_block *t) {
    t->status = t->team->job(t);
    if (!t->status) return;
    snprintf(t->text, sizeof t->text, "%s", evn_message());
    pthread_mutex_lock(&t->team->lock);
    t->team->stop = 1;
    pthread_cond_broadcast(&t->team->moved);
    pthread_mutex_unlock(&t->team->lock);
}

static void *serve(void *arg) {
    struct team_block *t = arg;
    struct block_team *team = t->team;
    pthread_mutex_lock(&team->lock);
    for (unsigned long long seen = 0;; seen++) {
        while (team->jobs == seen && !team->leave) pthread_cond_wait(&team->begin, &team->lock);
        if (team->leave) break;
        pthread_mutex_unlock(&team->lock);
        run(t);
        pthread_mutex_lock(&team->lock);
        if (!--team->working) pthread_cond_signal(&team->end);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

/* The first failure is a device's. */
static evn_status outcome(const struct block_team *team) {
    for (int i = 0; i < team->count; i++)
        if (team->block[i].is.late)
            return evn_fail(team->block[i].is.late, "mg: block of rank %d: %s", team->block[i].rank,
                            team->block[i].is.late_text);
    for (int stopped = 0; stopped < 2; stopped++)
        for (int i = 0; i < team->count; i++)
            if (team->block[i].status && (stopped || team->block[i].status != EVN_STOPPED))
                return evn_fail(team->block[i].status, "%s", team->block[i].text);
    return EVN_OK;
}

static evn_status each(struct block_team *team, evn_status (*job)(struct team_block *block)) {
    pthread_mutex_lock(&team->lock);
    team->job = job;
    team->working = team->count - 1;
    team->jobs++;
    pthread_cond_broadcast(&team->begin);
    pthread_mutex_unlock(&team->lock);
    run(&team->block[0]);
    pthread_mutex_lock(&team->lock);
    while (team->working) pthread_cond_wait(&team->end, &team->lock);
    pthread_mutex_unlock(&team->lock);
    return outcome(team);
}

evn_status block_team_start(struct block_team *team, const struct charges *charges) {
    team->charges = charges;
    return each(team, start_job);
}
evn_status block_team_residual(struct block_team *team) { return each(team, residual_job); }
evn_status block_team_cycle(struct block_team *team) { return each(team, cycle_job); }

evn_status block_team_squares(struct block_team *team, double *sum) {
    evn_status status = each(team, squares_job);
    memcpy(sum, &team->block[0].word, sizeof *sum);
    return status;
}

evn_status block_team_hash(struct block_team *team, uint64_t *hash) {
    evn_status status = each(team, hash_job);
    *hash = team->block[0].word;
    return status;
}

mg_block_counts block_team_count(const struct block_team *team) {
    mg_block_counts sum = team->block[0].counts;
    sum.contexts = 1;
    sum.blocks = team->count;
    sum.launches = 0;
    sum.device = evn_device_counts(team->device, NULL);
    for (int i = 0; i < team->count; i++) sum.launches += team->block[i].is.launches;
    for (int i = 1; i < team->count; i++) {
        const mg_block_counts *c = &team->block[i].counts;
        sum.within += c->within;
        sum.within_bytes += c->within_bytes;
        sum.copies += c->copies;
        sum.copied_bytes += c->copied_bytes;
    }
    return sum;
}

/* ---- opening -------------------------------------------------------------------------------- */

static evn_status check_room(const struct block_team *team, double bytes) {
    const evn_traits *traits = evn_device_traits(team->device);
    const double memory = 0.95 * (double)traits->memory, largest = (double)traits->max_buffer;
    if (bytes <= memory && bytes <= largest) return EVN_OK;
    return evn_fail(EVN_MEMORY,
                    "mg: %s needs %.3f MB for %d block%s, in one buffer, and has %.3f MB and "
                    "buffers of %.3f MB; choose a smaller class or size, or more ranks",
                    traits->name, bytes * 1e-6, team->count, team->count > 1 ? "s" : "",
                    memory * 1e-6, largest * 1e-6);
}

/* Pinned memory for two faces either way, and for gathers. */
static evn_status make_stages(struct team_block *t) {
    const struct faces *faces = t->team->faces;
    const struct block_layout *at = &t->is.at;
    size_t out = 0, in;
    for (int axis = 0; axis < 3; axis++)
        if (SIDES * faces->part[axis] > out) out = SIDES * faces->part[axis];
    in = out;
    if (at->whole) {
        const size_t part = (size_t)field_doubles(&at->part),
                     whole = (size_t)field_doubles(&at->level[at->whole].r);
        out = part > out ? part : out;
        in = whole > in ? whole : in;
    }
    void *memory;
    evn_status status = evn_host_memory_open(&memory, t->is.device, out * sizeof(double));
    if (status) return status;
    t->out = memory;
    status = evn_host_memory_open(&memory, t->is.device, in * sizeof(double));
    if (!status) t->in = memory;
    return status;
}

static evn_status open_block(struct team_block *t) {
    evn_status status = evn_queue_open(&t->is.queue, t->is.device);
    for (int i = 0; !status && i < 3 * TURNS; i++)
        status = evn_event_open(&t->reached[i / TURNS][i % TURNS], t->is.device);
    if (!status) status = evn_event_open(&t->packed, t->is.device);
    if (!status) status = make_stages(t);
    if (!status && t->led && !part_of(t))
        status = evn_fail(EVN_MISSING, "mg: the memory of rank %d cannot be reached", t->rank);
    if (!status && t->rank != t->team->block[0].rank) {
        char why[700];
        const int error = pthread_create(&t->thread, NULL, serve, t);
        t->runs = !error;
        if (error)
            status = evn_fail(EVN_SYSTEM, "mg: no thread for the block of a rank: %s",
                              evn_limits_text(error, why, sizeof why));
    }
    return status;
}

/* Neighbours. */
static void find_neighbours(struct block_team *team, const int *rank) {
    for (int i = 0; i < team->count; i++) {
        struct team_block *t = &team->block[i];
        int neighbour[3][2];
        faces_place(team->faces->ranks, rank[i], t->is.part, neighbour);
        for (int axis = 0; axis < 3; axis++)
            for (int side = 0; side < SIDES; side++) {
                t->near[axis][side] = -1;
                for (int q = 0; q < team->count; q++)
                    if (rank[q] == neighbour[axis][side]) t->near[axis][side] = q;
            }
    }
}

evn_status block_team_open(struct block_team *team, evn_device *device, struct faces *faces,
                           const int *rank, int count, int n, int ranks, char smoother) {
    *team = (struct block_team){.faces = faces, .device = device, .count = count};
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->moved, NULL);
    pthread_cond_init(&team->begin, NULL);
    pthread_cond_init(&team->end, NULL);
    team->block = calloc((size_t)count, sizeof *team->block);
    if (!team->block) return evn_fail(EVN_MEMORY, "mg: not enough memory");
    evn_long at = 0;
    for (int i = 0; i < count; i++) {
        struct team_block *t = &team->block[i];
        *t = (struct team_block){.team = team, .rank = rank[i], .led = i > 0};
        t->is.device = team->device;
        memcpy(t->is.smoother, blocks_smoother(smoother), sizeof t->is.smoother);
        block_lay(&t->is.at, n, ranks, at);
        at = t->is.at.end;
    }
    find_neighbours(team, rank);
    evn_status status = check_room(team, (double)at * sizeof(double));
    if (!status) status = evn_buffer_open(&team->all, team->device, (size_t)at * sizeof(double));
    for (int i = 0; !status && i < count; i++) {
        team->block[i].is.all = team->all;
        status = open_block(&team->block[i]);
    }
    return status;
}

static void close_block(struct team_block *t) {
    if (t->runs) pthread_join(t->thread, NULL);
    if (t->is.queue) evn_queue_finish(t->is.queue); /* the status is ignored: all is closed */
    for (int i = 0; i < 3 * TURNS; i++) evn_event_close(t->reached[i / TURNS][i % TURNS]);
    evn_event_close(t->packed);
    evn_host_memory_close(t->out, t->is.device);
    evn_host_memory_close(t->in, t->is.device);
    evn_queue_close(t->is.queue);
}

void block_team_close(struct block_team *team) {
    if (!team->faces) return;
    pthread_mutex_lock(&team->lock);
    team->leave = 1;
    pthread_cond_broadcast(&team->begin);
    pthread_mutex_unlock(&team->lock);
    for (int i = 0; team->block && i < team->count; i++) close_block(&team->block[i]);
    evn_buffer_close(team->all);
    free(team->block);
    pthread_cond_destroy(&team->moved);
    pthread_cond_destroy(&team->begin);
    pthread_cond_destroy(&team->end);
    pthread_mutex_destroy(&team->lock);
    memset(team, 0, sizeof *team);
}
