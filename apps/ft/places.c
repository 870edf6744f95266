/* Tasks on devices. */
#include "ft/places.h"
#include "common/hash.h"
#include "common/room.h"
#include "ft/parts.h"
#include "ft/passes.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 8 };

/* The tables of ways, one behind the other: by z or by y, from or to.
 *
 * WAY_SLAB   points of V's lines along z, by z
 * WAY_PLANE  rows of W's planes, by y
 * WAY_OUT_Z  where planes get what is transformed along z, by z; WAY_IN_Y where a plane's rows are
 *            then, by y
 * WAY_OUT_Y  where slabs get what is transformed along y, by y; WAY_IN_Z where a line's points are
 *            then, by z */
enum way { WAY_SLAB, WAY_PLANE, WAY_OUT_Z, WAY_IN_Y, WAY_OUT_Y, WAY_IN_Z, WAYS };

struct place {
    struct places *of;
    int space;
    evn_unit *unit;
    evn_device *device;
    evn_queue *queue;  /* the unit's */
    evn_queue *copies; /* copies out, and what other units do here */
    evn_event *begin, *end, *made[PIECES], *gone[PIECES];
    struct engine *engine;
    pthread_mutex_t lock; /* held by another unit that works here */
    int planes, rows;     /* of its tasks */
    size_t w, v, out, in, result, doubles;
    int way[WAYS];
    evn_buffer *memory, *ways, *plane_number, *row_number, *point_at;
    int points, point[POINTS]; /* which ones are here */
    double value[2 * POINTS];
    double *stage; /* what comes from one rank for one of several spaces */
    size_t staged; /* doubles */
    int timed;     /* begin and end are of a visit that nobody has asked for */
};

/* ---- where things are ----------------------------------------------------------------------- */

static const struct owners *owners(const struct place *d) { return &d->of->f->owners; }
static size_t row_doubles(const struct place *d) { return 2 * (size_t)d->of->f->t->nx; }
static size_t plane_doubles(const struct place *d) {
    return row_doubles(d) * (size_t)d->of->f->t->ny;
}
static size_t slab_doubles(const struct place *d) { return transform_slab(d->of->f->t); }

static const struct axis *axis_from(const struct place *d, enum turn turn) {
    return turn == TURN_Z_TO_Y ? &owners(d)->z : &owners(d)->y;
}
static const struct axis *axis_to(const struct place *d, enum turn turn) {
    return turn == TURN_Z_TO_Y ? &owners(d)->y : &owners(d)->z;
}

static int lines_in(const struct axis *a, int space) {
    return a->begin[space + 1] - a->begin[space];
}

/* How many lines of another rank, or of another of my spaces; and how many are before them, but
 * mine. */
static int there(const struct place *d, const struct axis *b, int rank, int space) {
    return rank == owners(d)->me ? lines_in(b, space) : b->count[rank];
}
static int before(const struct place *d, const struct axis *b, int rank, int space) {
    const int me = owners(d)->me, own = lines_in(b, d->space);
    if (rank == me) return b->begin[space] - (space > d->space ? own : 0);
    return b->count[me] - own + b->base[rank] - (rank > me ? b->count[me] : 0);
}

/* What is for them, from my line `from` on. */
static size_t out_at(const struct place *d, enum turn turn, int rank, int space, int from) {
    const struct axis *a = axis_from(d, turn), *b = axis_to(d, turn);
    const size_t mine = (size_t)lines_in(a, d->space);
    return d->out + (mine * (size_t)before(d, b, rank, space) +
                     (size_t)from * (size_t)there(d, b, rank, space)) *
                        row_doubles(d);
}

/* What comes from line `at` of a rank, by its number there. */
static size_t in_at(const struct place *d, enum turn turn, int rank, int at) {
    const struct axis *a = axis_from(d, turn);
    const int order = a->base[rank] + at, mine = a->base[owners(d)->me] + a->begin[d->space];
    const int position = order < mine ? order : order - lines_in(a, d->space);
    return d->in + (size_t)position * (size_t)lines_in(axis_to(d, turn), d->space) * row_doubles(d);
}

static int is_mine(const struct place *d, const struct axis *a, int line) {
    return a->rank[line] == owners(d)->me && a->space[line] == d->space;
}

/* What a task has of an axis, in the numbers of its device. */
struct range {
    int first, count;
};
static struct range task_lines(const struct place *d, const struct axis *a, int task) {
    const int begin = parts_begin(a->n, owners(d)->tasks, task);
    return (struct range){a->at[begin] - a->begin[d->space],
                          parts_begin(a->n, owners(d)->tasks, task + 1) - begin};
}

static int has_task(const struct place *d, int task) {
    return owners(d)->rank[task] == owners(d)->me && owners(d)->space[task] == d->space;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void lay_out(struct place *d) {
    const struct owners *o = owners(d);
    d->planes = lines_in(&o->z, d->space);
    d->rows = lines_in(&o->y, d->space);
    const size_t into_z = (size_t)(o->y.n - d->rows) * (size_t)d->planes;
    const size_t into_y = (size_t)(o->z.n - d->planes) * (size_t)d->rows;
    const size_t box = (into_z < into_y ? into_y : into_z) * row_doubles(d);
    d->w = 0;
    d->v = d->w + plane_doubles(d) * (size_t)d->planes;
    d->out = d->v + slab_doubles(d) * (size_t)d->rows;
    d->in = d->out + box;
    d->result = d->in + box;
    d->doubles = d->planes || d->rows ? d->result + 2 * POINTS : 0;
}

static size_t ways_of(const struct place *d) {
    return 3 * ((size_t)owners(d)->z.n + (size_t)owners(d)->y.n);
}

static evn_status check_place(struct place *d) {
    const evn_traits *traits = evn_device_traits(d->device);
    lay_out(d);
    const double fields = 8.0 * (double)d->doubles;
    const double needed =
        fields + (double)(ways_of(d) * sizeof(struct engine_way)) + engine_bytes(d->of->f->t);
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

/* ---- tables --------------------------------------------------------------------------------- */

/* Ways between layouts of a line that is another's: from my outbox, or into my inbox. */
static struct engine_way out_way(const struct place *d, enum turn turn, int line) {
    const struct axis *b = axis_to(d, turn);
    const int rank = b->rank[line], space = b->space[line], me = owners(d)->me;
    const int at = b->at[line] - (rank == me ? b->begin[space] : 0);
    return (struct engine_way){
        .at = (evn_long)(out_at(d, turn, rank, space, 0) + (size_t)at * row_doubles(d)),
        .here = (evn_long)((size_t)there(d, b, rank, space) * row_doubles(d)),
        .pack = PACK};
}
static struct engine_way in_way(const struct place *d, enum turn turn, int line) {
    const struct axis *a = axis_from(d, turn);
    return (struct engine_way){.at = (evn_long)in_at(d, turn, a->rank[line], a->at[line]),
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
    static const char is_by_y[WAYS] = {[WAY_PLANE] = 1, [WAY_IN_Y] = 1, [WAY_OUT_Y] = 1};
    for (int i = 0, sum = 0; i < WAYS; sum += is_by_y[i++] ? o->y.n : o->z.n) d->way[i] = sum;
    for (int z = 0; z < o->z.n; z++) by_z(d, z, way);
    for (int y = 0; y < o->y.n; y++) by_y(d, y, way);
    evn_status status = send_table(d, &d->ways, way, ways_of(d) * sizeof *way);
    number_lines(d, &o->z, number);
    if (!status)
        status = send_table(d, &d->plane_number, number, (size_t)d->planes * sizeof *number);
    number_lines(d, &o->y, number);
    if (!status) status = send_table(d, &d->row_number, number, (size_t)d->rows * sizeof *number);
    find_points(d, at);
    if (!status) status = send_table(d, &d->point_at, at, (size_t)d->points * sizeof *at);
    return status;
}

static evn_status make_tables(struct place *d) {
    const int n = owners(d)->z.n > owners(d)->y.n ? owners(d)->z.n : owners(d)->y.n;
    struct engine_way *way = calloc(ways_of(d), sizeof *way);
    int *number = calloc((size_t)n, sizeof *number);
    evn_long *at = calloc(POINTS, sizeof *at);
    evn_status status = way && number && at ? send_tables(d, way, number, at)
                                            : evn_fail(EVN_MEMORY, "ft: not enough memory");
    free(way);
    free(number);
    free(at);
    return status;
}

/* ---- V -------------------------------------------------------------------------------------- */

static evn_status bring(struct place *d, int task) {
    const struct range r = task_lines(d, &owners(d)->y, task);
    const size_t bytes = slab_doubles(d) * (size_t)r.count * sizeof(double);
    double **come = &d->of->f->come[task];
    if (*come || !d->memory) return EVN_OK;
    if (!(*come = room(bytes)))
        return evn_fail(EVN_MEMORY, "ft: no memory for slab %d, which leaves a device", task);
    evn_status status =
        evn_copy_to_host(d->queue, *come, d->memory,
                         (d->v + slab_doubles(d) * (size_t)r.first) * sizeof(double), bytes);
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
    const struct range r = task_lines(d, &owners(d)->y, task);
    double **come = &d->of->f->come[task];
    if (!*come || !has_task(d, task)) return EVN_OK;
    evn_status status = evn_copy_to_device(
        d->queue, d->memory, (d->v + slab_doubles(d) * (size_t)r.first) * sizeof(double), *come,
        slab_doubles(d) * (size_t)r.count * sizeof(double));
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
    lay_out(d);
    if (d->memory && had != d->doubles) {
        evn_buffer_close(d->memory);
        d->memory = NULL;
    }
    if (!d->doubles) return EVN_OK;
    evn_status status = EVN_OK;
    if (!d->memory) status = evn_buffer_open(&d->memory, d->device, d->doubles * sizeof(double));
    if (!status) status = make_tables(d);
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
    for (int i = 0; !status && i < p->count; i++)
        if (p->place[i].memory) status = engine_decay(p->place[i].engine, p->place[i].queue, decay);
    return status;
}

/* ---- passes --------------------------------------------------------------------------------- */

static evn_status launch_y_out(struct place *d, struct engine_job *job) {
    job->from = d->way[WAY_PLANE];
    job->to = d->way[WAY_OUT_Y];
    return engine_y(d->engine, job);
}

/* A pass over lines that lie side by side. */
static evn_status launch(struct place *d, evn_queue *queue, enum place_pass pass, struct range r) {
    const int on_planes = pass == PLACE_START || pass == PLACE_XY;
    struct engine_job job = {.queue = queue,
                             .memory = d->memory,
                             .ways = d->ways,
                             .numbers = on_planes ? d->plane_number : d->row_number,
                             .first = r.first,
                             .count = r.count,
                             .from = d->way[WAY_PLANE],
                             .to = d->way[WAY_PLANE],
                             .sign = pass <= PLACE_START_Z ? LINE_PLUS : LINE_MINUS};
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
    case PLACE_Z:
        job.from = d->way[WAY_SLAB];
        job.to = d->way[WAY_OUT_Z];
        return engine_z(d->engine, &job, 1);
    case PLACE_XY:
        job.from = d->way[WAY_IN_Y];
        status = engine_x(d->engine, &job);
        job.from = d->way[WAY_PLANE];
        return status ? status : engine_y(d->engine, &job);
    }
    return status;
}

/* Rows of lines, for another rank or my host, out to the host. */
static evn_status copy_out(struct place *d, enum turn turn, int rank, struct range r) {
    const struct axis *a = axis_from(d, turn), *b = axis_to(d, turn);
    const int count = there(d, b, rank, EVN_HOST), from = a->begin[d->space] + r.first;
    const size_t bytes = (size_t)r.count * (size_t)count * row_doubles(d) * sizeof(double);
    if (!bytes) return EVN_OK;
    double *to = rank == owners(d)->me ? fields_within(d->of->f, turn, EVN_HOST, from)
                                       : fields_outbox(d->of->f, turn, rank, from);
    return evn_copy_to_host(d->copies, to, d->memory,
                            out_at(d, turn, rank, EVN_HOST, r.first) * sizeof(double), bytes);
}

static evn_status copy_all_out(struct place *d, enum turn turn, struct range r) {
    const struct owners *o = owners(d);
    evn_status status = EVN_OK;
    for (int i = 1; !status && i <= o->ranks; i++)
        status = copy_out(d, turn, (o->me + i) % o->ranks, r);
    return status;
}

/* Launches tasks, or lets what they made leave: lines that lie side by side together. */
static evn_status each_range(struct place *d, const struct place_order *o, evn_queue *queue,
                             int leaves, const int *task, int count) {
    const int on_planes = o->pass == PLACE_START || o->pass == PLACE_XY;
    const struct axis *a = on_planes ? &owners(d)->z : &owners(d)->y;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < count;) {
        struct range r = task_lines(d, a, task[i]);
        for (i++; i < count; i++) {
            const struct range next = task_lines(d, a, task[i]);
            if (next.first != r.first + r.count) break;
            r.count += next.count;
        }
        status = leaves ? copy_all_out(d, (enum turn)o->turn, r) : launch(d, queue, o->pass, r);
    }
    return status;
}

/* One piece: its kernels, and behind them its copies. */
static evn_status do_piece(struct place *d, const struct place_order *o, evn_queue *queue,
                           int piece, const int *task, int count) {
    evn_status status = each_range(d, o, queue, 0, task, count);
    if (status || o->turn < 0) return status;
    if (queue != d->copies) {
        status = evn_event_record(d->made[piece], queue);
        if (!status) status = evn_queue_wait(d->copies, d->made[piece]);
    }
    if (!status) status = each_range(d, o, queue, 1, task, count);
    return status ? status : evn_event_record(d->gone[piece], d->copies);
}

static int cut(int count, int pieces, int piece) {
    return (int)((long long)count * piece / pieces);
}

static evn_status do_pieces(struct place *d, const struct place_order *o, evn_queue *queue,
                            const int *task, int count) {
    const int most = o->pieces < PIECES ? o->pieces : PIECES;
    const int pieces = o->turn < 0 || most < 1 ? 1 : most < count ? most : count;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < pieces; i++) {
        const int begin = cut(count, pieces, i);
        status = do_piece(d, o, queue, i, task + begin, cut(count, pieces, i + 1) - begin);
    }
    for (int i = 0, t = 0; o->left && !status && i < pieces; i++) {
        status = evn_event_finish(d->gone[i]);
        for (; !status && t < cut(count, pieces, i + 1); t++) status = o->left(o->arg, task[t]);
    }
    return status;
}

evn_status places_pass(struct places *p, int space, const struct place_order *o, const int *task,
                       int count) {
    struct place *d = &p->place[space - 1];
    if (o->is_foreign) {
        pthread_mutex_lock(&d->lock);
        evn_status status = do_pieces(d, o, d->copies, task, count);
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

double places_seconds(struct places *p, int space) {
    struct place *d = &p->place[space - 1];
    double seconds = 0;
    if (!d->timed || evn_event_seconds(d->begin, d->end, &seconds)) return 0;
    d->timed = 0;
    return seconds;
}

/* ---- what crosses --------------------------------------------------------------------------- */

/* From one device to another of this rank. */
static evn_status copy_peer(struct place *to, const struct place *from, enum turn turn) {
    const struct axis *a = axis_from(to, turn), *b = axis_to(to, turn);
    const int me = owners(to)->me;
    const size_t rows = (size_t)lines_in(a, from->space) * (size_t)lines_in(b, to->space);
    if (!rows) return EVN_OK;
    return evn_copy_peer(to->queue, to->memory,
                         in_at(to, turn, me, a->begin[from->space]) * sizeof(double), from->device,
                         from->memory, out_at(from, turn, me, to->space, 0) * sizeof(double),
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
        d->queue, d->memory, in_at(d, turn, owners(d)->me, 0) * sizeof(double),
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
    return evn_copy_to_device(d->queue, d->memory, in_at(d, turn, rank, 0) * sizeof(double), from,
                              (size_t)a->count[rank] * mine * sizeof(double));
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
    }
    return status;
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
    evn_status status = engine_open(&d->engine, d->device, p->f->t);
    if (!status) status = evn_queue_open(&d->copies, d->device);
    if (!status) status = evn_event_open(&d->begin, d->device);
    if (!status) status = evn_event_open(&d->end, d->device);
    for (int k = 0; !status && k < PIECES; k++) {
        status = evn_event_open(&d->made[k], d->device);
        if (!status) status = evn_event_open(&d->gone[k], d->device);
    }
    return status;
}

evn_status places_open(struct places *p, struct fields *f, evn_units *units) {
    const int devices = evn_units_devices(units);
    *p = (struct places){.f = f, .units = units};
    if (!devices) return EVN_OK;
    p->place = calloc((size_t)devices, sizeof *p->place);
    if (!p->place || owners_spaces(&f->owners, devices + 1))
        return evn_fail(EVN_MEMORY, "ft: not enough memory");
    evn_status status = evn_place_open(&p->spaces, units, 1);
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
        evn_event_close(d->begin);
        evn_event_close(d->end);
        for (int k = 0; k < PIECES; k++) {
            evn_event_close(d->made[k]);
            evn_event_close(d->gone[k]);
        }
        engine_close(d->engine);
        evn_buffer_close(d->memory);
        evn_buffer_close(d->ways);
        evn_buffer_close(d->plane_number);
        evn_buffer_close(d->row_number);
        evn_buffer_close(d->point_at);
        free(d->stage);
        pthread_mutex_destroy(&d->lock);
    }
    free(p->place);
    evn_place_close(p->spaces);
    *p = (struct places){0};
}

int places_space(const struct places *p, const evn_unit *unit, int device) {
    for (int i = 0; device >= 0 && i < p->count; i++)
        if (p->place[i].unit == unit && p->place[i].device == evn_unit_device(unit, device))
            return p->place[i].space;
    return EVN_HOST;
}
