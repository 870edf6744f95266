/* The march: groups of steps. For each group the units sum the past, block by block; the blocks'
 * sums are added along a fixed tree; then step after step is solved and gives its share to the rest
 * of the group.
 *
 * On devices blocks are regions. They are acquired in the body and not by the loop: the time of
 * streaming what a device has no room for is time of the summation, from which the schedule must
 * learn, and what is summed goes on meanwhile. */
#include "checkpoint.h"
#include "crew.h"
#include "history.h"
#include "output.h"
#include "problem.h"
#include "summation.h"
#include "summation_gpu.h"
#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    GUESS = 3,     /* steps that a first guess is extrapolated from */
    NODE_MOST = 16 /* blocks that a core adds up before it is asked for the time */
};

struct march {
    tdbem *p;
    const tdbem_run_options *o;
    evn_units *units;
    evn_loop *loop;
    struct crew *crew;
    struct history *past;
    char *sums; /* of nodes that the host makes, [rows * wide], where their first block's are */
    size_t sums_bytes;           /* of one */
    int **first;                 /* work space of each unit: first blocks of its nodes */
    struct summation_node *node; /* of each block: the parts of the sum that units have made */
    double *total;               /* their sum */
    char **scratch;              /* of each core of all units */
    int *first_core;             /* of each unit in `scratch` */
    int cores;
    evn_place *place;           /* NULL: no devices */
    int *region;                /* of each block */
    struct summation_gpu **gpu; /* of each space; NULL for the host's */
    int *owner;                 /* of each block, when they were fetched last */
    int **fetched;              /* work space of each space: blocks */
    double *busy;               /* of each unit until now, s */
    int *reader;                /* of each block: the unit that it is read ahead for; work space */
    double *a;                  /* [group * columns]: the steps of this group */
    double *before;             /* [GUESS * columns]: a_(n-1), a_(n-2), .. */
    double *load, *b;           /* [columns] */
    double *scattered;          /* of all points */
    int *vertex;                /* present numbers of those to be written */
    struct table points, vertices;
    struct spectra spectra;
    char *identity;
    int steps, every, over; /* over: the step when the pulse has left */
    double most, most_after, null_field;
    long long solved;
    tdbem_result *r;
};

/* ---- the summation ---- */

static void sum_node(const struct march *m, int block, int tile, char *scratch) {
    summation_part(m->p->layout, block, m->node[block].span, tile, m->past,
                   m->sums + (size_t)block * m->sums_bytes, scratch);
}

static evn_status sum_blocks(evn_unit *unit, evn_batch *batch, void *arg) {
    struct march *m = arg;
    const struct layout *l = m->p->layout;
    const int device = evn_batch_device(batch);
    if (device >= 0) {
        int blocks;
        const int *block = evn_batch_tasks(batch, &blocks);
        struct summation_gpu *gpu = m->gpu[evn_place_space(m->place, unit, device)];
        return summation_gpu_batch(gpu, blocks, block, m->past, m->node);
    }
    int count;
    const int *block = evn_batch_tasks(batch, &count);
    const int me = evn_unit_number(unit), cores = evn_unit_cores(unit);
    char **scratch = m->scratch + m->first_core[me];
    int *first = m->first[me],
        most = l->stream ? 1 : NODE_MOST; /* a block on disk comes by itself */
    /* a core takes a node and a tile at a time, and there ought to be some for each */
    while (most > 1 && cores > 1 && (long)most * 4 * cores > (long)count * l->tiles) most /= 2;
    summation_nodes(count, block, most, m->node);
    int nodes = 0;
    for (int i = 0; i < count; i++)
        if (m->node[block[i]].span) {
            m->node[block[i]].sums = m->sums + (size_t)block[i] * m->sums_bytes;
            first[nodes++] = block[i];
        }
    evn_status status = EVN_OK;
    if (cores == 1) {
        for (int i = 0; !status && i < nodes; i++) {
            status = stream_hold(l->stream, first[i]);
            if (status) break;
            for (int t = 0; t < l->tiles; t++) sum_node(m, first[i], t, scratch[0]);
            stream_drop(l->stream, first[i], l->tiles);
            evn_batch_done(batch, m->node[first[i]].span);
        }
        return status;
    }
    int failed = -1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(cores) reduction(max : failed)
    for (int i = 0; i < nodes * l->tiles; i++) {
        const int b = first[i / l->tiles];
        if (stream_hold(l->stream, b)) {
            failed = b;
            continue;
        }
        sum_node(m, b, i % l->tiles, scratch[omp_get_thread_num()]);
        stream_drop(l->stream, b, 1);
    }
    return failed < 0 ? EVN_OK : stream_hold(l->stream, failed); /* for this thread's message */
}

static void reduce(evn_unit *unit, void *arg) {
    const struct march *m = arg;
    const size_t all = (size_t)m->p->layout->rows * (size_t)m->p->layout->wide;
    const int first = m->first_core[evn_unit_number(unit)], cores = evn_unit_cores(unit);
    if (cores == 1) {
        summation_total(m->p->layout, m->node, all * (size_t)first / (size_t)m->cores,
                        all * (size_t)(first + 1) / (size_t)m->cores, m->total);
        return;
    }
#pragma omp parallel num_threads(cores)
    {
        const size_t me = (size_t)(first + omp_get_thread_num());
        summation_total(m->p->layout, m->node, all * me / (size_t)m->cores,
                        all * (me + 1) / (size_t)m->cores, m->total);
    }
}

/* ---- one step ---- */

/* Step n, the q-th of its group. */
struct step {
    struct march *m;
    int n, q;
};

/* The right-hand side, and a first guess. */
static void make_equations(struct crew *crew, int me, int cores, void *arg) {
    const struct step *step = arg;
    struct march *m = step->m;
    const int columns = m->p->layout->columns, wide = m->p->layout->wide;
    double *a = m->a + (size_t)step->q * (size_t)columns;
    const double *one = m->before, *two = one + columns, *three = two + columns;
    const int end = crew_begin(columns, me + 1, cores);
    incident_part(m->p->incident, crew, me, cores, step->n, m->load);
    for (int i = crew_begin(columns, me, cores); i < end; i++) {
        m->b[i] = m->load[i] - m->total[(size_t)i * (size_t)wide + (size_t)step->q];
        a[i] = 3 * (one[i] - two[i]) + three[i]; /* through the last three steps */
    }
}

static evn_status solve_step(struct march *m, int n, int q) {
    tdbem *p = m->p;
    const size_t columns = (size_t)p->layout->columns;
    struct step step = {m, n, q};
    double *a = m->a + (size_t)q * columns;
    double begin = evn_now(), end;
    crew_run(m->crew, &p->incident->pace, incident_cores(p->incident, m->crew, n), make_equations,
             &step);
    m->r->load_s += (end = evn_now()) - begin;
    evn_status status = solver_solve(p->solver, m->crew, m->b, a);
    if (status) return evn_fail(status, "step %d: %s", n, evn_message());
    double most = 0, sum = 0;
    for (size_t i = 0; i < columns; i++) {
        if (p->options.single) a[i] = (double)(float)a[i];
        most = fmax(most, fabs(a[i]));
        sum += a[i]; /* fmax would lose a NaN */
    }
    if (!isfinite(sum))
        return evn_fail(EVN_BODY, "step %d: the solution is not finite; the march is unstable", n);
    memmove(m->before + columns, m->before, (GUESS - 1) * columns * sizeof *a);
    memcpy(m->before, a, columns * sizeof *a);
    double *record = n > m->over ? &m->most_after : &m->most;
    *record = fmax(*record, most);
    m->r->solve_s += evn_now() - end;
    m->solved++;
    return EVN_OK;
}

/* Scattered pressure at the points: the sums of their rows, and what a_n itself gives. */
static void make_fields(struct crew *crew, int me, int cores, void *arg) {
    const struct step *step = arg;
    struct march *m = step->m;
    const tdbem *p = m->p;
    const size_t columns = (size_t)p->layout->columns, wide = (size_t)p->layout->wide;
    const double *a = m->a + (size_t)step->q * columns;
    const int points = p->points + p->inside, end = crew_begin(points, me + 1, cores);
    (void)crew;
    for (int i = crew_begin(points, me, cores); i < end; i++) {
        double sum = m->total[(columns + (size_t)i) * wide + (size_t)step->q];
        for (size_t e = p->now.start[i]; e < p->now.start[i + 1]; e++)
            sum += p->now.value[e] * a[p->now.column[e]];
        m->scattered[i] = sum;
    }
}

static void point_fields(struct march *m, int n, int q) {
    const tdbem *p = m->p;
    const int points = p->points + p->inside;
    struct step step = {m, n, q};
    const double work = (double)p->now.start[points] + points;
    crew_run(m->crew, NULL, crew_cores(m->crew, work, 8192), make_fields, &step);
    for (int i = p->points; i < points; i++) {
        const double incident = incident_value(p->incident, p->point[i], n * p->incident->dt);
        m->null_field = fmax(m->null_field, fabs(m->scattered[i] + incident));
    }
}

static evn_status keep_step(struct march *m, int n, int q) {
    const tdbem *p = m->p;
    const double t = n * p->incident->dt;
    const double *a = m->a + (size_t)q * (size_t)p->layout->columns;
    if (m->points.columns) {
        double *row = table_row(&m->points);
        if (!row) return evn_fail(EVN_MEMORY, "step %d: no memory for the points' table", n);
        row[0] = t;
        for (int i = 0; i < p->points; i++) {
            row[1 + 2 * i] = m->scattered[i];
            row[2 + 2 * i] = m->scattered[i] + incident_value(p->incident, p->point[i], t);
        }
    }
    if (m->vertices.columns) {
        double *row = table_row(&m->vertices);
        if (!row) return evn_fail(EVN_MEMORY, "step %d: no memory for the vertices' table", n);
        row[0] = t;
        for (int v = 0; v < m->o->vertices; v++) row[1 + v] = a[m->vertex[v]];
    }
    if (m->spectra.count) spectra_add(&m->spectra, n, a, p->incident);
    if (m->o->step) m->o->step(n, t, a, m->scattered, m->o->arg);
    if (!m->o->output || n % m->every) return EVN_OK;
    const int soft = p->options.problem == TDBEM_SOFT;
    evn_status status =
        output_surface(m->o->output, n, p->mesh, soft ? "normal_derivative" : "pressure", a);
    return status ? status : output_collection(m->o->output, m->every, n, p->incident->dt);
}

/* ---- checkpoints ---- */

/* The state after step n, in both directions: `move` is checkpoint_put or checkpoint_get. */
static void move_table(struct checkpoint *c, struct table *t, int in) {
    uint64_t rows = t->rows;
    if (in) {
        checkpoint_get(c, &rows, sizeof rows);
        t->rows = 0;
        for (uint64_t r = 0; !c->failed && r < rows; r++) {
            double *row = table_row(t);
            if (!row) c->failed = 1;
            if (row) checkpoint_get(c, row, (size_t)t->columns * sizeof *row);
        }
    } else {
        checkpoint_put(c, &rows, sizeof rows);
        checkpoint_put(c, t->value, t->rows * (size_t)t->columns * sizeof *t->value);
    }
}

static void move(struct checkpoint *c, void *data, size_t bytes, int in) {
    if (in)
        checkpoint_get(c, data, bytes);
    else
        checkpoint_put(c, data, bytes);
}

static evn_status move_state(struct march *m, struct checkpoint *c, int *n, int in) {
    const size_t columns = (size_t)m->past->columns, depth = (size_t)m->past->depth;
    double *past = malloc((columns * depth + 1) * sizeof *past);
    if (!past) return evn_fail(EVN_MEMORY, "checkpoint: not enough memory");
    if (!in) history_export(m->past, past);
    int32_t step = *n;
    move(c, &step, sizeof step, in);
    move(c, past, columns * depth * sizeof *past, in);
    move(c, m->before, GUESS * columns * sizeof *m->before, in);
    move(c, &m->most, sizeof m->most, in);
    move(c, &m->most_after, sizeof m->most_after, in);
    move(c, &m->null_field, sizeof m->null_field, in);
    const size_t f = (size_t)m->spectra.count;
    move(c, m->spectra.a, f * columns * sizeof *m->spectra.a, in);
    move(c, m->spectra.incident, f * sizeof *m->spectra.incident, in);
    if (m->points.columns) move_table(c, &m->points, in);
    if (m->vertices.columns) move_table(c, &m->vertices, in);
    if (in) history_import(m->past, past);
    *n = step;
    free(past);
    return EVN_OK;
}

static evn_status save(struct march *m, int n) {
    struct checkpoint c = {0};
    evn_status status = move_state(m, &c, &n, 0);
    if (!status) status = checkpoint_write(m->o->checkpoint, m->identity, &c);
    checkpoint_free(&c);
    return status;
}

static evn_status restart(struct march *m, int *n) {
    struct checkpoint c = {0};
    evn_status status = checkpoint_read(m->o->restart, m->identity, &c);
    if (status) return status;
    status = move_state(m, &c, n, 1);
    if (!status && (c.failed || c.at != c.bytes || *n < 0))
        status = evn_fail(EVN_USAGE, "%s: this checkpoint does not fit this run", m->o->restart);
    checkpoint_free(&c);
    return status;
}

/* ---- the whole march ---- */

/* Fetches what a unit's devices will need, split as the loop splits it. */
static void fetch(evn_unit *unit, void *arg) {
    struct march *m = arg;
    const int devices = evn_unit_devices(unit), me = evn_unit_number(unit);
    const double *weight = m->p->weight;
    double sum = 0, before = 0;
    for (int b = 0; b < m->p->layout->blocks; b++)
        if (m->owner[b] == me) sum += weight[b];
    for (int d = 0, b = 0; d < devices; d++) {
        int *block = m->fetched[evn_place_space(m->place, unit, d)], count = 0;
        const double until = sum * (d + 1) / devices;
        for (; b < m->p->layout->blocks; b++) {
            if (m->owner[b] != me) continue;
            if (d < devices - 1 && before + 0.5 * weight[b] >= until) break;
            before += weight[b];
            block[count++] = b;
        }
        summation_gpu_fetch(m->gpu[evn_place_space(m->place, unit, d)], count, block);
    }
}

static void meet(evn_unit *unit, void *arg) {
    const struct march *m = arg;
    (void)unit;
    for (int s = 1; s < evn_place_spaces(m->place); s++) summation_gpu_fetched(m->gpu[s]);
}

/* Where blocks have got new owners, they are there before the clock starts: that is done once, and
 * the schedule ought to learn what comes again. */
static void follow_schedule(struct march *m) {
    const evn_schedule *schedule = evn_loop_schedule(m->loop);
    const size_t bytes = sizeof *m->owner * (size_t)m->p->layout->blocks;
    if (!m->place || evn_schedule_chunk(schedule)) return;
    if (!memcmp(m->owner, evn_schedule_owner(schedule), bytes)) return;
    memcpy(m->owner, evn_schedule_owner(schedule), bytes);
    evn_units_run(m->units, fetch, m);
    evn_units_run(m->units, meet, m);
}

/* Blocks that are on disk are read in the order in which the units will come to them; not those
 * that a device has. */
static void read_ahead(struct march *m) {
    const struct layout *l = m->p->layout;
    const evn_schedule *schedule = evn_loop_schedule(m->loop);
    if (!l->stream) return;
    if (evn_schedule_chunk(schedule)) {
        stream_order(l->stream, NULL);
        return;
    }
    for (int b = 0; b < l->blocks; b++) {
        const int u = evn_schedule_owner(schedule)[b];
        const evn_unit *unit = evn_units_get(m->units, u);
        m->reader[b] = u;
        for (int d = 0; d < evn_unit_devices(unit); d++)
            if (evn_place_valid(m->place, m->region[b], evn_place_space(m->place, unit, d)))
                m->reader[b] = -1;
    }
    stream_order(l->stream, m->reader);
}

/* What each unit has done for group number `group` of this run: what its counters have gained. */
static void note_group(struct march *m, int group, double *before) {
    tdbem_result *r = m->r;
    const int units = evn_units_count(m->units);
    const int *owner = evn_loop_owner(m->loop);
    double *seconds = r->group_s + (size_t)group * (size_t)units;
    int *blocks = r->group_blocks + (size_t)group * (size_t)units;
    for (int u = 0; u < units; u++) {
        const double now_s = evn_loop_stats(m->loop, u).compute_s;
        seconds[u] = now_s - before[u];
        before[u] = now_s;
        blocks[u] = 0;
    }
    for (int b = 0; b < m->p->layout->blocks; b++) blocks[owner[b]]++;
    r->groups = group + 1;
}

static void append_group(struct crew *crew, int me, int cores, void *arg) {
    const struct step *last = arg;
    const int columns = last->m->past->columns;
    (void)crew;
    history_append_part(last->m->past, last->m->a, last->q + 1, crew_begin(columns, me, cores),
                        crew_begin(columns, me + 1, cores));
}

/* Whether a multiple of `every` lies in first .. last. */
static int due(int first, int last, int every) { return last / every != (first - 1) / every; }

static evn_status march_group(struct march *m, int n, int count) {
    tdbem *p = m->p;
    const double begin = evn_now();
    follow_schedule(m);
    for (int s = 1; m->place && s < evn_place_spaces(m->place); s++) summation_gpu_begin(m->gpu[s]);
    evn_status status = evn_loop_run(m->loop, sum_blocks, m);
    if (status)
        return stream_failed(p->layout->stream) ? evn_fail(EVN_SYSTEM, "%s", evn_message())
                                                : status;
    if (n + count <= m->steps) read_ahead(m); /* while this group is solved */
    note_group(m, m->r->groups, m->busy);
    const double summed = evn_now();
    m->r->summation_s += summed - begin;
    evn_units_run(m->units, reduce, m);
    m->r->reduction_s += evn_now() - summed;
    for (int q = 0; q < count; q++) {
        status = solve_step(m, n + q, q);
        if (status) return status;
        point_fields(m, n + q, q);
        const double since = evn_now();
        status = keep_step(m, n + q, q);
        if (status) return status;
        const double kept = evn_now();
        m->r->output_s += kept - since;
        if (q + 1 < count)
            radiation_add(p->radiation, m->crew, q + 1, m->a, m->total, p->layout->wide);
        m->r->radiation_s += evn_now() - kept;
    }
    struct step last = {m, n + count - 1, count - 1};
    const double elements = (double)m->past->columns * m->past->depth;
    crew_run(m->crew, NULL, crew_cores(m->crew, elements, 16384), append_group, &last);
    return EVN_OK;
}

static evn_status march(struct march *m, int first) {
    const int group = m->p->options.group;
    const double begin = evn_now();
    for (int n = first; n <= m->steps;) {
        const int count = m->steps - n + 1 < group ? m->steps - n + 1 : group;
        evn_status status = march_group(m, n, count);
        if (status) return status;
        const int last = n + count - 1;
        /* between groups only: a restart must form the same groups */
        const int stop = m->o->stop && *m->o->stop && last < m->steps, whole = count == group;
        if (m->o->checkpoint && whole && (stop || due(n, last, m->every) || last == m->steps)) {
            const double since = evn_now();
            status = save(m, last);
            if (status) return status;
            m->r->output_s += evn_now() - since;
        }
        if (m->o->progress) m->o->progress(last, m->steps, evn_now() - begin, m->o->arg);
        if (stop) return evn_fail(EVN_STOPPED, "stopped after step %d of %d", last, m->steps);
        n += count;
    }
    m->r->seconds = evn_now() - begin;
    if (m->o->inspect) m->o->inspect(m->loop, m->o->arg);
    return EVN_OK;
}

/* FNV-1a on the bits, vertices in the file's order. */
static uint64_t hash_solution(const struct mesh *mesh, const double *a) {
    uint64_t hash = 1469598103934665603u;
    int *present = NULL, count = 0;
    if (mesh_present(mesh, &present, &count)) return 0;
    for (int f = 0; f < count; f++) {
        if (present[f] < 0) continue;
        unsigned char byte[sizeof *a];
        memcpy(byte, &a[present[f]], sizeof byte);
        for (size_t i = 0; i < sizeof byte; i++) hash = (hash ^ byte[i]) * 1099511628211u;
    }
    free(present);
    return hash;
}

static evn_status write_outputs(struct march *m) {
    const tdbem_run_options *o = m->o;
    const tdbem *p = m->p;
    evn_status status = EVN_OK;
    const double begin = evn_now();
    if (o->probe_output)
        status = output_points(o->probe_output, &m->points, p->incident, p->shape.eta, p->points,
                               (const double(*)[3])p->point);
    if (!status && o->vertex_output)
        status = output_vertices(o->vertex_output, &m->vertices, o->vertex);
    if (!status && o->spectrum) status = output_spectrum(o->spectrum, &m->spectra, p->mesh);
    if (!status && o->far_field)
        status = output_far_field(o->far_field, &m->spectra, p->mesh, p->incident->direction);
    m->r->output_s += evn_now() - begin;
    return status;
}

/* What each device was asked to do in this march. */
static void start_counts(struct march *m) {
    m->r->devices = m->place ? evn_place_spaces(m->place) - 1 : 0;
    for (int d = 0; d < m->r->devices; d++)
        m->r->device[d] = evn_device_counts(evn_place_device(m->place, d + 1));
    if (m->place) evn_place_reset_moves(m->place);
}
static void count_devices(struct march *m) {
    for (int d = 0; d < m->r->devices; d++) {
        const evn_counts c = evn_device_counts(evn_place_device(m->place, d + 1));
        evn_counts *since = &m->r->device[d];
        *since = (evn_counts){.launches = c.launches - since->launches,
                              .copies_in = c.copies_in - since->copies_in,
                              .copies_out = c.copies_out - since->copies_out,
                              .copies_within = c.copies_within - since->copies_within,
                              .copies_peer = c.copies_peer - since->copies_peer,
                              .bytes_in = c.bytes_in - since->bytes_in,
                              .bytes_out = c.bytes_out - since->bytes_out,
                              .bytes_within = c.bytes_within - since->bytes_within,
                              .bytes_peer = c.bytes_peer - since->bytes_peer};
        const evn_moves in = evn_place_moves(m->place, EVN_HOST, d + 1);
        m->r->moved.copies += in.copies;
        m->r->moved.bytes += in.bytes;
    }
}

static evn_status conclude(struct march *m, long long iterations) {
    tdbem_result *r = m->r;
    const struct layout *l = m->p->layout;
    const int units = evn_units_count(m->units);
    const size_t columns = (size_t)l->columns;
    r->steps = m->steps;
    r->most = m->most;
    r->most_after = m->most_after;
    r->null_field = m->p->inside ? m->null_field : NAN;
    const double groups = ceil((double)(m->steps - r->first + 1) / l->is.group);
    const double each = r->summation_s > 0 ? 2e-9 * groups * l->is.group / r->summation_s : 0;
    r->gflops_nominal = each * (double)l->values;
    r->gflops_effective = each * (double)l->nnz;
    r->iterations = m->solved ? (double)iterations / (double)m->solved : 0;
    r->hash = hash_solution(m->p->mesh, m->before);
    r->totals = evn_loop_sum(m->loop);
    r->solution = malloc((columns + 1) * sizeof *r->solution);
    r->owner = malloc(sizeof *r->owner * (size_t)l->blocks);
    r->unit = malloc(sizeof *r->unit * (size_t)units);
    count_devices(m);
    if (!r->solution || !r->owner || !r->unit)
        return evn_fail(EVN_MEMORY, "td-bem: no memory left");
    memcpy(r->solution, m->before, columns * sizeof *r->solution);
    memcpy(r->owner, evn_loop_owner(m->loop), sizeof *r->owner * (size_t)l->blocks);
    for (int u = 0; u < units; u++) {
        r->unit[u] = evn_loop_stats(m->loop, u);
        r->idle_s += r->unit[u].idle_s / units;
    }
    return write_outputs(m);
}

static evn_status find_vertices(struct march *m) {
    const tdbem_run_options *o = m->o;
    int *present = NULL, count = 0;
    evn_status status = mesh_present(m->p->mesh, &present, &count);
    if (status) return status;
    m->vertex = malloc(sizeof *m->vertex * (size_t)(o->vertices + 1));
    if (!m->vertex) status = evn_fail(EVN_MEMORY, "td-bem: no memory for %d vertices", o->vertices);
    for (int v = 0; !status && v < o->vertices; v++) {
        const int f = o->vertex[v];
        if (f < 0 || f >= count)
            status = evn_fail(EVN_USAGE, "vertices: there is no vertex %d, the mesh has 0 to %d", f,
                              count - 1);
        else if (present[f] < 0)
            status = evn_fail(EVN_USAGE, "vertices: vertex %d belongs to no triangle", f);
        else
            m->vertex[v] = present[f];
    }
    free(present);
    return status;
}

/* What the checkpoint holds besides the state: words like those of the problem's identity. */
static evn_status identify(struct march *m) {
    uint64_t hash = 1469598103934665603u;
    for (int v = 0; v < m->o->vertices; v++)
        hash = (hash ^ (uint64_t)m->o->vertex[v]) * 1099511628211u;
    for (int f = 0; f < m->spectra.count; f++) {
        uint64_t bits;
        memcpy(&bits, &m->o->frequency[f], sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    int n =
        asprintf(&m->identity, "%s outputs=%s,%d,%d:%016llx", m->p->identity,
                 m->points.columns ? "probes" : "none", m->vertices.columns ? m->o->vertices : 0,
                 m->spectra.count, (unsigned long long)hash);
    if (n < 0) m->identity = NULL;
    return n < 0 ? evn_fail(EVN_MEMORY, "td-bem: no memory") : EVN_OK;
}

evn_status tdbem_check_files(const tdbem_run_options *o) {
    const char *path[] = {o->checkpoint, o->probe_output, o->vertex_output, o->spectrum,
                          o->far_field};
    evn_status status = EVN_OK;
    for (size_t i = 0; !status && i < sizeof path / sizeof *path; i++)
        if (path[i]) status = file_try(path[i], 0);
    if (!status && o->output) status = folder_try(o->output);
    if (!status && o->restart && access(o->restart, R_OK))
        status = evn_fail(EVN_USAGE, "%s: this checkpoint cannot be read: %s", o->restart,
                          strerror(errno));
    return status;
}

/* Whether all files can be written, and have room, before anything is computed. */
static evn_status try_files(const struct march *m) {
    const tdbem_run_options *o = m->o;
    const size_t columns = (size_t)m->past->columns;
    const size_t state = columns * (size_t)m->past->depth + GUESS * columns +
                         (size_t)m->spectra.count * columns * 2 +
                         (size_t)m->steps * (size_t)(m->points.columns + m->vertices.columns);
    evn_status status = EVN_OK;
    if (o->checkpoint) status = file_try(o->checkpoint, state * sizeof(double) + 4096);
    if (!status && o->output) status = folder_try(o->output);
    const struct {
        const char *path;
        double numbers;
    } csv[] = {
        {o->probe_output, (double)m->steps * m->points.columns},
        {o->vertex_output, (double)m->steps * m->vertices.columns},
        {o->spectrum, 2.0 * m->spectra.count * (double)columns},
        {o->far_field, 0},
    };
    for (size_t i = 0; !status && i < sizeof csv / sizeof *csv; i++)
        if (csv[i].path) status = file_try(csv[i].path, (size_t)(csv[i].numbers * 24));
    return status;
}

static void *zeros(size_t count, size_t size) {
    const size_t bytes = (count * size + 127) / 64 * 64;
    void *p = aligned_alloc(64, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

static evn_status make_room(struct march *m) {
    const struct layout *l = m->p->layout;
    const size_t columns = (size_t)l->columns, rows = (size_t)l->rows, group = (size_t)l->is.group;
    const int units = evn_units_count(m->units);
    evn_status status =
        history_open(&m->past, l->columns, l->depth, l->front, l->is.group, l->is.single);
    if (status) return status;
    m->first_core = malloc(sizeof *m->first_core * (size_t)(units + 1));
    for (int u = 0; m->first_core && u < units; u++) {
        m->first_core[u] = m->cores;
        m->cores += evn_unit_cores(evn_units_get(m->units, u));
    }
    m->scratch = calloc((size_t)m->cores + 1, sizeof *m->scratch);
    m->sums_bytes = summation_sums_bytes(l);
    m->sums = aligned_alloc(64, (size_t)l->blocks * m->sums_bytes); /* touched by who needs it */
    m->first = calloc((size_t)units, sizeof *m->first);
    m->total = zeros(rows * (size_t)l->wide, sizeof *m->total);
    m->a = zeros(group * columns, sizeof *m->a);
    m->before = zeros(GUESS * columns, sizeof *m->before);
    m->load = zeros(columns, sizeof *m->load);
    m->b = zeros(columns, sizeof *m->b);
    m->scattered = zeros((size_t)(m->p->points + m->p->inside) + 1, sizeof *m->scattered);
    int ok = m->first_core && m->scratch && m->sums && m->first && m->total && m->a && m->before &&
             m->load && m->b && m->scattered;
    for (int c = 0; ok && c < m->cores; c++)
        ok = (m->scratch[c] = zeros(1, summation_scratch(l, NODE_MOST))) != NULL;
    for (int u = 0; ok && u < units; u++)
        ok = (m->first[u] = malloc(sizeof **m->first * (size_t)l->blocks)) != NULL;
    if (!ok)
        return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the march: %.3g GB",
                        (double)m->sums_bytes * l->blocks * 1e-9);
    m->points.columns = m->o->probe_output && m->p->points ? 1 + 2 * m->p->points : 0;
    m->vertices.columns = m->o->vertex_output && m->o->vertices ? 1 + m->o->vertices : 0;
    const int wanted = m->o->spectrum || m->o->far_field;
    return spectra_open(&m->spectra, wanted ? m->o->frequencies : 0, m->o->frequency, l->columns,
                        m->p->options.problem == TDBEM_SOFT, m->p->incident->dt,
                        m->p->options.speed);
}

/* Blocks become regions, and each device gets its kernels. */
static evn_status open_devices(struct march *m) {
    const struct layout *l = m->p->layout;
    const int devices = evn_units_devices(m->units);
    if (!devices) return EVN_OK;
    m->region = malloc(sizeof *m->region * (size_t)l->blocks);
    m->gpu = calloc((size_t)devices + 1, sizeof *m->gpu);
    m->r->device = calloc((size_t)devices, sizeof *m->r->device);
    m->owner = malloc(sizeof *m->owner * (size_t)l->blocks);
    m->fetched = calloc((size_t)devices + 1, sizeof *m->fetched);
    int ok = m->region && m->gpu && m->r->device && m->owner && m->fetched;
    for (int s = 1; ok && s <= devices; s++)
        ok = (m->fetched[s] = malloc(sizeof **m->fetched * (size_t)l->blocks)) != NULL;
    for (int b = 0; ok && b < l->blocks; b++) m->owner[b] = -1;
    if (!ok) return evn_fail(EVN_MEMORY, "td-bem: no memory for %d devices", devices);
    evn_status status = evn_place_open(&m->place, m->units, 1);
    if (!status) status = summation_gpu_regions(l, m->place, m->region);
    for (int u = 0; u < evn_units_count(m->units); u++) {
        evn_unit *unit = evn_units_get(m->units, u);
        for (int d = 0; !status && d < evn_unit_devices(unit); d++) {
            const int space = evn_place_space(m->place, unit, d);
            double share;
            status = summation_gpu_share(&share, l, m->past, evn_unit_device(unit, d));
            if (!status) evn_place_limit(m->place, space, share);
            if (!status)
                status = summation_gpu_open(&m->gpu[space], l, m->past, m->place, m->region, space,
                                            evn_unit_queue(unit, d));
        }
    }
    return status;
}

/* Room for what note_group() keeps. */
static evn_status open_notes(struct march *m, int first) {
    const size_t units = (size_t)evn_units_count(m->units);
    const size_t group = (size_t)m->p->options.group;
    const size_t groups = ((size_t)(m->steps - first + 1) + group - 1) / group;
    m->busy = calloc(units, sizeof *m->busy);
    m->node = calloc((size_t)m->p->layout->blocks, sizeof *m->node);
    m->reader = calloc((size_t)m->p->layout->blocks, sizeof *m->reader);
    m->r->group_s = calloc(groups * units + 1, sizeof *m->r->group_s);
    m->r->group_blocks = calloc(groups * units + 1, sizeof *m->r->group_blocks);
    return m->busy && m->node && m->reader && m->r->group_s && m->r->group_blocks
               ? EVN_OK
               : evn_fail(EVN_MEMORY, "td-bem: no memory for the times of %zu groups", groups);
}

/* What belongs together. */
static evn_status check(const tdbem_run_options *o, const tdbem *p) {
    if (o->probe_output && !p->points)
        return evn_fail(EVN_USAGE, "%s: there are no probes to be written there; give some",
                        o->probe_output);
    if (o->vertex_output && !o->vertices)
        return evn_fail(EVN_USAGE, "%s: there are no vertices to be written there; give some",
                        o->vertex_output);
    if ((o->spectrum || o->far_field) && !o->frequencies)
        return evn_fail(EVN_USAGE, "%s: there are no frequencies; give some",
                        o->spectrum ? o->spectrum : o->far_field);
    for (int f = 0; f < o->frequencies; f++)
        if (!(o->frequency[f] >= 0) || !isfinite(o->frequency[f]))
            return evn_fail(EVN_USAGE, "frequencies: %g is none, expected numbers from 0 on",
                            o->frequency[f]);
    if (o->every < 0) return evn_fail(EVN_USAGE, "every: %d, expected 1 or more", o->every);
    return EVN_OK;
}

/* Step 0: nothing has happened. */
static evn_status begin_tables(struct march *m) {
    struct table *t[] = {&m->points, &m->vertices};
    for (int i = 0; i < 2; i++) {
        if (!t[i]->columns) continue;
        double *row = table_row(t[i]);
        if (!row) return evn_fail(EVN_MEMORY, "td-bem: no memory for tables");
        memset(row, 0, sizeof *row * (size_t)t[i]->columns);
    }
    for (int i = 0; m->points.columns && i < m->p->points; i++)
        m->points.value[2 + 2 * i] = incident_value(m->p->incident, m->p->point[i], 0);
    return EVN_OK;
}

static evn_status run(struct march *m, evn_schedule *schedule) {
    evn_status status = check(m->o, m->p);
    if (!status) status = evn_loop_open(&m->loop, m->units, schedule);
    if (!status && evn_schedule_problem(schedule)->tasks != m->p->layout->blocks)
        status = evn_fail(EVN_USAGE, "td-bem: the schedule was made for %d tasks, this has %d",
                          evn_schedule_problem(schedule)->tasks, m->p->layout->blocks);
    if (!status) status = crew_open(&m->crew, m->units, 0);
    if (!status) status = make_room(m);
    if (!status) status = find_vertices(m);
    if (!status) status = identify(m);
    if (!status) status = try_files(m);
    if (!status && m->o->bursts) status = evn_loop_keep_bursts(m->loop, m->o->bursts);
    if (!status) status = solver_attach(m->p->solver, m->units); /* it needs little */
    if (!status) status = open_devices(m);
    if (status) return status;
    int done = 0;
    status = m->o->restart ? restart(m, &done) : begin_tables(m);
    if (status) return status;
    if (done > m->steps)
        return evn_fail(EVN_USAGE, "%s: this checkpoint is at step %d, beyond the %d wanted",
                        m->o->restart, done, m->steps);
    m->r->first = done + 1;
    status = open_notes(m, done + 1);
    if (status) return status;
    start_counts(m);
    const struct stream_stats before = stream_stats(m->p->layout->stream);
    if (done < m->steps) read_ahead(m);
    const long long iterations = solver_iterations(m->p->solver);
    status = march(m, done + 1);
    const struct stream_stats after = stream_stats(m->p->layout->stream);
    m->r->stream_bytes = after.bytes - before.bytes;
    m->r->stream_wait_s = after.waited_s - before.waited_s;
    m->r->stream_most = after.most;
    return status ? status : conclude(m, solver_iterations(m->p->solver) - iterations);
}

static void give_back(struct march *m) {
    solver_detach(m->p->solver);
    for (int u = 0; m->gpu && u < evn_units_count(m->units); u++) {
        evn_unit *unit = evn_units_get(m->units, u);
        for (int d = 0; d < evn_unit_devices(unit); d++) {
            evn_queue_finish(evn_unit_queue(unit, d)); /* after a failure something may be left */
            summation_gpu_close(m->gpu[evn_place_space(m->place, unit, d)]);
        }
    }
    evn_place_close(m->place);
    for (int s = 0; m->fetched && s <= evn_units_devices(m->units); s++) free(m->fetched[s]);
    free(m->fetched);
    free(m->owner);
    free(m->gpu);
    free(m->region);
    free(m->busy);
    free(m->node);
    free(m->reader);
    evn_loop_close(m->loop);
    crew_close(m->crew);
    history_close(m->past);
    for (int c = 0; m->scratch && c < m->cores; c++) free(m->scratch[c]);
    free(m->scratch);
    for (int u = 0; m->first && u < evn_units_count(m->units); u++) free(m->first[u]);
    free(m->first);
    free(m->first_core);
    free(m->sums);
    free(m->total);
    free(m->a);
    free(m->before);
    free(m->load);
    free(m->b);
    free(m->scattered);
    free(m->vertex);
    free(m->points.value);
    free(m->vertices.value);
    spectra_close(&m->spectra);
    free(m->identity);
}

evn_status tdbem_run(tdbem *p, evn_units *units, evn_schedule *schedule,
                     const tdbem_run_options *options, tdbem_result *result) {
    static const tdbem_run_options defaults = {.steps = -1};
    memset(result, 0, sizeof *result);
    struct march m = {.p = p, .o = options ? options : &defaults, .units = units, .r = result};
    m.steps = m.o->steps < 0 ? p->shape.default_steps : m.o->steps;
    m.every = m.o->every ? m.o->every : 100;
    m.over = incident_over(p->incident);
    evn_status status = run(&m, schedule);
    char why[1024] = ""; /* a device that has failed says so again when it is given back */
    if (status) snprintf(why, sizeof why, "%s", evn_message());
    give_back(&m);
    if (!status) return EVN_OK;
    tdbem_result_free(result);
    return evn_fail(status, "%s", why);
}

void tdbem_result_free(tdbem_result *r) {
    free(r->solution);
    free(r->owner);
    free(r->unit);
    free(r->group_s);
    free(r->group_blocks);
    free(r->device);
    memset(r, 0, sizeof *r);
}
