/* The march: groups of steps. For each group the units sum the past; then step after step is solved
 * and gives its share to the rest of the group. */
#include "tdbem/march/march_device.h"
#include "tdbem/march/march_far.h"
#include "tdbem/march/march_ranks.h"
#include "common/run/hash.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one step ---- */

/* Step n, the q-th of its group. */
struct step {
    struct march *m;
    int n, q;
};

/* The right-hand side, and a first guess; over ranks the right-hand side of this one's rows, and
 * the sums of its points. */
static void make_equations(evn_crew *crew, int me, int cores, void *arg) {
    const struct step *step = arg;
    struct march *m = step->m;
    const int columns = m->p->layout->columns, wide = m->p->layout->wide;
    double *a = m->a + (size_t)step->q * (size_t)columns;
    const double *one = m->before, *two = one + columns, *three = two + columns;
    const int begin = evn_crew_begin(columns, me, cores);
    const int end = evn_crew_begin(columns, me + 1, cores);
    const int low = tdbem_row(m->p, m->p->me), high = tdbem_row(m->p, m->p->me + 1);
    const double *total = m->total + step->q;
    incident_part(m->incident, crew, me, cores, step->n, m->load);
    for (int i = begin > low ? begin : low; i < end && i < high; i++)
        m->b[i] = m->load[i] - total[(size_t)i * (size_t)wide];
    for (int i = begin > low ? begin : low; m->memory && i < end && i < high; i++)
        m->b[i] -= memory_at(m, i);
    for (int i = begin > low ? begin : low; m->far && i < end && i < high; i++)
        m->b[i] -= far_sum(m->p->far, m->far, step->n, i);
    for (int i = begin; i < end; i++)
        a[i] = 3 * (one[i] - two[i]) + three[i]; /* through the last three steps */
    for (int i = columns > low ? columns : low; me == 0 && i < high; i++) {
        m->b[i] = total[(size_t)i * (size_t)wide];
        if (m->far) m->b[i] += far_sum(m->p->far, m->far, step->n, i);
    }
}

/* The solution of step n, as it came from the solver. */
static evn_status take_solution(struct march *m, int n, int q) {
    const tdbem *p = m->p;
    const size_t columns = (size_t)p->layout->columns;
    double *a = m->a + (size_t)q * columns;
    double max = 0, sum = 0;
    for (size_t i = 0; i < columns; i++) {
        if (p->options.single) a[i] = (double)(float)a[i];
        max = fmax(max, fabs(a[i]));
        sum += a[i]; /* fmax would lose a NaN */
    }
    if (!isfinite(sum))
        return evn_fail(EVN_BODY, "step %d: the solution is not finite; the march is unstable", n);
    memmove(m->before + columns, m->before, (GUESS - 1) * columns * sizeof *a);
    memcpy(m->before, a, columns * sizeof *a);
    double *record = n > m->over ? &m->seen.max_after : &m->seen.max;
    *record = fmax(*record, max);
    decay_see(m, n, max);
    m->solved++;
    return EVN_OK;
}

/* `mine`: what has failed in the group before, over ranks, where the others go on. */
static evn_status solve_step(struct march *m, int n, int q, evn_status mine) {
    const tdbem *p = m->p;
    struct step step = {m, n, q};
    double *a = m->a + (size_t)q * (size_t)p->layout->columns;
    const double begin = evn_now();
    const evn_status far = march_far_begin(m, n);
    if (!mine) mine = far;
    if (!mine)
        evn_crew_run(m->crew, &m->incident->pace, incident_cores(m->incident, m->crew, n),
                     make_equations, &step);
    if (m->ranks) mine = ranks_share_rows(m, mine);
    const double end = evn_now();
    m->r->load_s += end - begin;
    evn_status status =
        m->ranks ? ranks_solve(m, q, mine) : solver_solve(p->solver, m->crew, m->b, a);
    if (status) return mine ? status : evn_fail(status, "step %d: %s", n, evn_message());
    status = take_solution(m, n, q);
    if (!status) status = march_far_note(m, n, a);
    m->r->solve_s += evn_now() - end;
    return status;
}

/* Scattered pressure at the points: the sums of their rows, and what a_n itself gives. */
static void make_fields(evn_crew *crew, int me, int cores, void *arg) {
    const struct step *step = arg;
    struct march *m = step->m;
    const tdbem *p = m->p;
    const size_t columns = (size_t)p->layout->columns, wide = (size_t)p->layout->wide;
    const double *a = m->a + (size_t)step->q * columns;
    const int points = p->points + p->inside, end = evn_crew_begin(points, me + 1, cores);
    (void)crew;
    for (int i = evn_crew_begin(points, me, cores); i < end; i++) {
        double sum = m->ranks ? m->b[columns + (size_t)i]
                              : m->total[(columns + (size_t)i) * wide + (size_t)step->q];
        for (size_t e = p->now.start[i]; e < p->now.start[i + 1]; e++)
            sum += p->now.value[e] * a[p->now.column[e]];
        m->scattered[i] = m->memory ? sum + memory_at(m, (int)columns + i) : sum;
    }
}

static evn_status point_fields(struct march *m, int n, int q) {
    const tdbem *p = m->p;
    const int points = p->points + p->inside;
    struct step step = {m, n, q};
    const double work = (double)p->now.start[points] + points;
    evn_crew_run(m->crew, NULL, evn_crew_cores(m->crew, work, 8192), make_fields, &step);
    for (int i = 0; i < points; i++)
        if (!isfinite(m->scattered[i]))
            return evn_fail(EVN_BODY, "step %d: the field at a point is not finite", n);
    for (int i = p->points; i < points; i++) {
        const double incident = incident_value(m->incident, p->point[i], n * m->incident->dt);
        m->seen.null_field =
            fmax(m->seen.null_field, fabs(m->scattered[i] + incident) / m->incident->height);
    }
    return EVN_OK;
}

/* The probes in the folder. */
static evn_status show_probes(struct march *m, int n) {
    const tdbem *p = m->p;
    const double t = n * m->incident->dt;
    double *scattered = m->shown_field, *total = scattered + p->asked;
    for (int i = 0; i < p->asked; i++) {
        const int row = p->row[i];
        scattered[i] = row < 0 ? NAN : m->scattered[row];
        total[i] = scattered[i] + incident_value(m->incident, p->asked_point[i], t);
    }
    evn_status status = vtk_write(m->folder, "probes", n, &m->shown);
    return status ? status : vtk_collect(m->folder, "probes", m->every, n, 0, m->incident->dt);
}

static evn_status show_step(struct march *m, int n, const double *a) {
    const tdbem *p = m->p;
    const struct mesh *mesh = p->mesh;
    const int soft = p->options.problem == TDBEM_SOFT;
    const struct vtk_piece surface = {mesh->vertices,
                                      mesh->triangles,
                                      3,
                                      (const double(*)[3])mesh->x,
                                      *mesh->corner,
                                      mesh->number,
                                      {{soft ? "normal_derivative" : "pressure", a}}};
    evn_status status = vtk_write(m->folder, "surface", n, &surface);
    if (!status)
        status = vtk_collect(m->folder, "surface", m->every, n, soft ? 0.5 : 0, m->incident->dt);
    return status || !p->asked ? status : show_probes(m, n);
}

static evn_status keep_step(struct march *m, int n, int q) {
    const tdbem *p = m->p;
    const double t = n * m->incident->dt;
    const double *a = m->a + (size_t)q * (size_t)p->layout->columns;
    if (m->points.columns) {
        double *row = table_row(&m->points);
        if (!row) return evn_fail(EVN_MEMORY, "step %d: no memory for the points' table", n);
        row[0] = t;
        for (int i = 0; i < p->points; i++) {
            row[1 + 2 * i] = m->scattered[i];
            row[2 + 2 * i] = m->scattered[i] + incident_value(m->incident, p->point[i], t);
        }
    }
    if (m->vertices.columns) {
        double *row = table_row(&m->vertices);
        if (!row) return evn_fail(EVN_MEMORY, "step %d: no memory for the vertices' table", n);
        row[0] = incident_stands(m->incident, n);
        for (int v = 0; v < m->o->vertices; v++) row[1 + v] = a[m->vertex[v]];
    }
    if (m->spectra.count) spectra_add(&m->spectra, n, a, m->incident);
    if (m->o->step) m->o->step(n, t, a, m->scattered, m->o->arg);
    return m->folder && n % m->every == 0 ? show_step(m, n, a) : EVN_OK;
}

/* ---- the whole march ---- */

static void append_group(evn_crew *crew, int me, int cores, void *arg) {
    const struct step *last = arg;
    const int columns = last->m->past->columns;
    (void)crew;
    history_append(last->m->past, last->m->a, last->q + 1, evn_crew_begin(columns, me, cores),
                   evn_crew_begin(columns, me + 1, cores));
}

/* Whether a multiple of `every` lies in first .. last. */
static int due(int first, int last, int every) { return last / every != (first - 1) / every; }

static evn_status put_out(struct march *m, int n, int q) {
    evn_status status = point_fields(m, n, q);
    const double since = evn_now();
    if (!status) status = keep_step(m, n, q);
    m->r->output_s += evn_now() - since;
    return status;
}

static evn_status one_step(struct march *m, int n, int q, int last, evn_status mine) {
    const tdbem *p = m->p;
    const size_t own = (size_t)tdbem_row(p, p->me) * (size_t)p->layout->wide;
    evn_status status = solve_step(m, n, q, mine);
    if (!status) status = put_out(m, n, q);
    const double since = evn_now();
    if (status) return status;
    if (m->memory) memory_step(m, q);
    if (!last) radiation_add(p->radiation, m->crew, q + 1, m->a, m->total + own, p->layout->wide);
    m->r->radiation_s += evn_now() - since;
    return EVN_OK;
}

static evn_status stopped_at(int n) { return evn_fail(EVN_STOPPED, "stopped at step %d", n); }

/* All steps of a group at once, and then what each of them puts out; the steps before one that
 * fails too. */
static evn_status steps_on_device(struct march *m, int n, int count) {
    int solved;
    char why[1024];
    const double begin = evn_now();
    if (state_stop(m)) return stopped_at(n);
    const evn_status failed = march_device_group(m, n, count, &solved);
    snprintf(why, sizeof why, "%s", failed ? evn_message() : "");
    m->r->solve_s += evn_now() - begin;
    for (int q = 0; q < solved; q++) {
        if (state_stop(m)) return stopped_at(n + q);
        evn_status status = take_solution(m, n + q, q);
        if (!status) status = put_out(m, n + q, q);
        if (status) return status;
    }
    return failed ? evn_fail(failed, "%s", why) : EVN_OK;
}

/* Over ranks one that has failed takes part until all of them know. */
static evn_status march_group(struct march *m, int n, int count, int last) {
    evn_status status = sums_make(m, !last || n + count <= m->steps);
    if (status) return status;
    status = sums_add(m);
    if (m->on_device) status = steps_on_device(m, n, count);
    for (int q = 0; !m->on_device && q < count; q++) {
        if (!m->ranks && state_stop(m)) return stopped_at(n + q);
        status = one_step(m, n + q, q, q + 1 == count, status);
        if (status && (!m->ranks || status == EVN_STOPPED)) return status;
    }
    return m->ranks ? ranks_end_group(m, n + count - 1, count, status) : status;
}

/* All incidences; the past grows when all of them have the group. */
static evn_status march_groups(struct march *m, int n, int count) {
    const double elements = (double)m->past->columns * m->past->depth;
    const int columns = m->p->columns;
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < columns; i++)
        status = march_group(columns_of(m, i), n, count, i + 1 == columns);
    for (int i = 0; !status && i < columns; i++) {
        struct step last = {columns_of(m, i), n + count - 1, count - 1};
        evn_crew_run(m->crew, NULL, evn_crew_cores(m->crew, elements, 16384), append_group, &last);
    }
    return status;
}

/* A group of steps. */
static evn_status advance(int *done, void *arg) {
    struct march *m = arg;
    const int group = m->p->options.group;
    const int count = m->steps - *done < group ? m->steps - *done : group;
    for (int i = 0; i < m->p->columns; i++) state_mark(columns_of(m, i));
    evn_status status = march_groups(m, *done + 1, count);
    /* ranks that do not agree any more have given the group up, too */
    if (status && (state_stopped(m) || (status == EVN_STOPPED && m->mark.sums))) {
        for (int i = 0; i < m->p->columns; i++) state_go_back(columns_of(m, i));
        return EVN_STOPPED;
    }
    if (status) return status;
    m->group_first = *done + 1;
    *done += count;
    return EVN_OK;
}

/* Keeps a checkpoint where one is due; between groups only: a restart must form the same groups. */
static evn_status keep_state(int done, int stopping, void *arg) {
    struct march *m = arg;
    const int whole = done - m->group_first + 1 == m->p->options.group;
    if (!m->o->checkpoint || !whole || !done) return EVN_OK;
    const int wanted = due(m->group_first, done, m->every) || done == m->steps;
    if (!stopping && !wanted) return EVN_OK;
    const double since = evn_now();
    const evn_status status = state_save(m, done, !wanted);
    m->r->output_s += evn_now() - since;
    return status;
}

/* Hash of the solution's bits, vertices in the file's order. */
static uint64_t hash_solution(const struct mesh *mesh, const double *a) {
    uint64_t hash = HASH_SEED;
    int *present = NULL, count = 0;
    if (mesh_present(mesh, &present, &count)) return 0;
    for (int f = 0; f < count; f++) {
        if (present[f] < 0) continue;
        hash = hash_bytes(hash, &a[present[f]], sizeof *a);
    }
    free(present);
    return hash;
}

/* A pulse that has nothing at a frequency leaves nothing to be divided by. */
static evn_status check_spectra(const struct spectra *s) {
    for (int f = 0; f < s->count; f++)
        for (int v = 0; v < s->columns && s->carried[f]; v++) {
            const double complex u = spectra_value(s, f, v);
            if (!isfinite(creal(u)) || !isfinite(cimag(u)))
                return evn_fail(EVN_BODY,
                                "frequencies: the spectrum at %g is not finite: the pulse has "
                                "nothing there, or has not come yet",
                                s->w[f]);
        }
    return EVN_OK;
}

static evn_status write_output(struct march *m, int which, const struct probes *probes, FILE *out) {
    const tdbem *p = m->p;
    const enum format format = m->output[which].format;
    switch (which) {
    case PROBE_OUTPUT: return output_probes(out, format, probes);
    case VERTEX_OUTPUT: return output_vertices(out, format, &m->vertices, m->o->vertex);
    case SPECTRUM: return output_spectrum(out, format, &m->spectra, p->mesh);
    case FAR_FIELD:
        return output_far_field(out, format, &m->spectra, p->mesh, p->boundary,
                                m->incident->direction);
    case TRANSFER_FUNCTION:
        return output_transfer(out, format, probes, m->o->frequencies, m->o->frequency);
    default: return output_impulse(out, format, probes, &m->filter);
    }
}

static void describe_filter(const struct march *m) {
    const struct response_filter *is = &m->filter;
    char missing[48] = "";
    if (is->missing)
        snprintf(missing, sizeof missing, ", without %d that the pulse lacks", is->missing);
    snprintf(m->r->response, sizeof m->r->response,
             "%d samples at %.10g a unit of time, number %d at time 0; frequencies up to %.4g in "
             "steps of %.3g%s, the last fifth tapered",
             is->samples, is->rate, -is->first, m->p->shape.highest / (2 * M_PI),
             is->rate / is->samples, missing);
}

static evn_status write_outputs(struct march *m) {
    evn_status status = check_spectra(&m->spectra);
    const double begin = evn_now();
    const tdbem *p = m->p;
    const int *grid = p->options.grid.points;
    struct table all = {0};
    const struct probes probes = {p->asked > p->points ? &all : &m->points,
                                  m->incident,
                                  p->shape.eta,
                                  p->shape.highest,
                                  p->asked,
                                  (const double(*)[3])p->asked_point,
                                  {grid[0], grid[1]}};
    if (!status && m->points.columns && p->asked > p->points)
        status = table_spread(&all, &m->points, p->asked, p->row);
    for (int i = 0; !status && i < OUTPUTS; i++)
        if (m->output[i].file)
            status = write_output(m, i, &probes, evn_output_stream(m->output[i].file));
    free(all.value);
    if (!status && m->output[IMPULSE_RESPONSE].file && !m->column) describe_filter(m);
    for (int i = 0; !status && i < OUTPUTS; i++) status = evn_output_commit(m->output[i].file);
    m->r->output_s += evn_now() - begin;
    return status;
}

/* What the result has of an incidence. */
static void conclude_column(const struct march *m) {
    const size_t columns = (size_t)m->p->layout->columns;
    tdbem_result *r = m->r;
    double *solution = r->solution + (size_t)m->column * columns;
    memcpy(solution, m->before, columns * sizeof *solution);
    r->column[m->column] = (tdbem_column){
        .name = m->p->options.incidences ? m->p->options.incidence[m->column].name : NULL,
        .hash = hash_solution(m->p->mesh, m->before),
        .t0 = m->incident->pulse.t0,
        .max = m->seen.max,
        .max_after = m->seen.max_after,
        .latest = decay_latest(m),
        .null_field = m->p->inside ? m->seen.null_field : NAN,
        .solution = solution};
}

/* The largest of all, and a hash of all hashes. */
static void conclude_columns(struct march *m) {
    tdbem_result *r = m->r;
    uint64_t hash = HASH_SEED;
    r->latest = r->null_field = NAN;
    for (int i = 0; i < r->columns; i++) {
        const tdbem_column *c = &r->column[i];
        conclude_column(columns_of(m, i));
        r->max = fmax(r->max, c->max);
        r->max_after = fmax(r->max_after, c->max_after);
        r->latest = fmax(r->latest, c->latest); /* a number, if one is */
        r->null_field = fmax(r->null_field, c->null_field);
        hash = hash_word(hash, c->hash);
    }
    r->run.hash = r->columns == 1 ? r->column->hash : hash;
}

static evn_status conclude(struct march *m, long long iterations) {
    tdbem_result *r = m->r;
    const struct layout *l = m->p->layout;
    const int steps = m->steps - r->first + 1, columns = m->p->columns;
    long long solved = 0;
    evn_status status = timed_end(&m->timed);
    for (int i = 0; !status && i < columns; i++) status = decay_check(columns_of(m, i));
    if (!status && m->ranks) status = ranks_conclude(m);
    if (status) return status;
    r->run.verified = -1;
    r->run.communication_s = r->reduction_s + r->radiation_s + r->solve_s;
    r->run.mops = r->run.seconds > 0
                      ? 1e-6 * m->p->shape.flop_per_step * steps * columns / r->run.seconds
                      : 0;
    const double groups = ceil((double)steps / l->is.group) * columns;
    const double each = r->summation_s > 0 ? 2e-9 * groups * l->is.group / r->summation_s : 0;
    r->gflops_nominal = each * (double)l->values;
    r->gflops_effective = each * (double)l->nnz;
    for (int i = 0; i < columns; i++) solved += columns_of(m, i)->solved;
    r->iterations = solved ? (double)iterations / (double)solved : 0;
    r->columns = columns;
    r->column = calloc((size_t)columns, sizeof *r->column);
    r->solution = malloc(((size_t)l->columns * (size_t)columns + 1) * sizeof *r->solution);
    if (!r->column || !r->solution) return evn_fail(EVN_MEMORY, "td-bem: no memory left");
    conclude_columns(m);
    for (int u = 0; u < r->run.units; u++) r->idle_s += r->run.unit[u].stats.idle_s / r->run.units;
    for (int i = 0; !m->p->me && !status && i < columns; i++)
        status = write_outputs(columns_of(m, i));
    return m->ranks ? evn_cluster_agree(m->p->cluster, status) : status;
}

/* Makes all that the steps need; *done: number of steps that a checkpoint has. */
static evn_status prepare(struct march *m, const evn_schedule *schedule, int *done) {
    evn_status status = room_check(m->o, m->p);
    if (!status && evn_schedule_problem(schedule)->tasks != m->p->layout->blocks)
        status = evn_fail(EVN_USAGE, "td-bem: the schedule was made for %d tasks, this has %d",
                          evn_schedule_problem(schedule)->tasks, m->p->layout->blocks);
    if (!status) status = evn_crew_open(&m->crew, m->units, 0);
    if (!status) status = room_make(m);
    if (!status) status = state_open_mark(m);
    if (!status) status = room_find_vertices(m);
    if (!status) status = state_identify(m);
    if (!status && !m->p->me) status = room_open_files(m);
    if (!status)
        solver_settle(m->p->solver, m->units, m->p->options.group, !m->ranks, m->r->solver_reason,
                      sizeof m->r->solver_reason);
    if (!status)
        status = solver_attach(m->p->solver, m->units, m->p->options.group,
                               m->p->options.single); /* it needs little */
    if (!status) status = march_device_open(m);
    if (!status) status = march_far_open(m);
    if (!status) status = sums_open_devices(m);
    if (m->ranks) status = evn_cluster_agree(m->p->cluster, status);
    if (!status && m->ranks) status = ranks_settle(m);
    if (!status) m->r->solver = solver_name(solver_settled(m->p->solver));
    if (!status) status = state_open(m);
    *done = m->states.first;
    m->r->first = *done + 1;
    if (!status) status = room_make_notes(m, *done + 1);
    if (!status) status = columns_open(m);
    if (m->ranks) status = evn_cluster_agree(m->p->cluster, status);
    if (!status) status = state_fill(m);
    return status ? status : march_far_take(m);
}

static evn_status run(struct march *m, evn_schedule *schedule) {
    int done = 0;
    evn_status status = evn_loop_open_on(&m->loop, m->units, schedule, m->p->cluster);
    if (!status) status = ranks_open(m);
    if (status) return status;
    status = prepare(m, schedule, &done);
    if (!status) status = ranks_homes(m);
    m->timed = (struct timed){.options = &m->is,
                              .result = &m->r->run,
                              .loop = m->loop,
                              .place = m->place,
                              .advance = advance,
                              .after = keep_state,
                              .arg = m};
    if (m->ranks) status = evn_cluster_agree(m->p->cluster, status); /* all begin, or none */
    if (!status) status = timed_begin(&m->timed);
    if (m->ranks) status = evn_cluster_agree(m->p->cluster, status);
    if (status) return status;
    const struct stream_stats before = stream_stats(m->p->layout->stream);
    if (done < m->steps) sums_read_ahead(m);
    const long long iterations = solver_iterations(m->p->solver);
    /* what is not kept would be lost: an interrupt ends the process then */
    status =
        m->mark.sums ? states_steps(&m->states, &m->timed) : timed_steps(&m->timed, done, m->steps);
    const struct stream_stats after = stream_stats(m->p->layout->stream);
    m->r->stream_bytes = after.bytes - before.bytes;
    m->r->stream_wait_s = after.waited_s - before.waited_s;
    m->r->stream_max = after.max;
    if (!status) status = conclude(m, solver_iterations(m->p->solver) - iterations);
    return status;
}

evn_status tdbem_run(tdbem *p, evn_units *units, evn_schedule *schedule,
                     const struct run_options *ran, const tdbem_run_options *options,
                     tdbem_result *result) {
    static const tdbem_run_options defaults = {0};
    memset(result, 0, sizeof *result);
    struct march m = {.p = p, .o = options ? options : &defaults, .units = units, .r = result};
    m.is =
        ran ? *ran : (struct run_options){.steps = m.o->steps ? m.o->steps : -1, .stop = m.o->stop};
    m.steps = m.is.steps < 0 ? p->shape.default_steps : m.is.steps;
    m.every = m.o->every ? m.o->every : 100;
    m.incident = p->incident;
    m.over = incident_over(p->incident);
    evn_status status = run(&m, schedule);
    char why[1024] = ""; /* a device that has failed says so again when it is given back */
    if (status) snprintf(why, sizeof why, "%s", evn_message());
    room_give_back(&m);
    if (!status) return EVN_OK;
    tdbem_result_free(result);
    return evn_fail(status, "%s", why);
}

void tdbem_result_free(tdbem_result *r) {
    free_all(r->column, r->solution, r->group_s, r->group_blocks);
    run_result_free(&r->run);
    memset(r, 0, sizeof *r);
}
