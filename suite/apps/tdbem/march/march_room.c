/* Preparation of a march: combinations of options, output files, memory. */
#include "tdbem/files/wav.h"
#include "tdbem/march/march_device.h"
#include "tdbem/march/march_far.h"
#include "tdbem/march/march_ranks.h"
#include "tdbem/summation/summation.h"
#include "tdbem/summation/summation_gpu.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

evn_status room_find_vertices(struct march *m) {
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

/* The path of each output, NULL where it is not wanted. */
static void paths_of(const tdbem_run_options *o, const char *path[OUTPUTS]) {
    path[PROBE_OUTPUT] = o->probe_output;
    path[VERTEX_OUTPUT] = o->vertex_output;
    path[SPECTRUM] = o->spectrum;
    path[FAR_FIELD] = o->far_field;
    path[TRANSFER_FUNCTION] = o->transfer_function;
    path[IMPULSE_RESPONSE] = o->impulse_response;
}

static evn_status output_format(enum format *out, const char *path, int which) {
    return format_find(out, path, which == IMPULSE_RESPONSE ? FORMAT_SOUNDS : FORMAT_TABLES);
}

evn_status tdbem_check_files(const tdbem_run_options *o) {
    const char *path[OUTPUTS];
    enum format format;
    evn_status status =
        o->checkpoint ? tdbem_as_input(evn_output_try(NULL, o->checkpoint, 0)) : EVN_OK;
    paths_of(o, path);
    for (int i = 0; !status && i < OUTPUTS; i++) {
        if (!path[i]) continue;
        status = output_format(&format, path[i], i);
        if (!status) status = tdbem_as_input(evn_output_try(NULL, path[i], 0));
    }
    if (!status && o->output) status = vtk_folder(o->output);
    return status || !o->restart ? status : states_look(&march_state, o->restart);
}

/* The filter of an impulse response, its rate by default that of sound in WAV and SOFA files, else
 * of the steps. */
static evn_status plan_filter(struct march *m) {
    tdbem *p = m->p;
    const char *path = m->o->impulse_response;
    double rate = m->o->sample_rate;
    enum format format;
    evn_status status = output_format(&format, path, IMPULSE_RESPONSE);
    const int sound = !status && (format == FORMAT_WAV || format == FORMAT_SOFA);
    if (!(rate > 0)) rate = sound ? 48000 : 1 / m->incident->dt;
    if (!status)
        status = response_plan(&m->filter, m->incident, p->shape.highest, rate, m->steps + 1);
    if (status || !sound) return status;
    if (rate > WAV_RATE || rate != floor(rate))
        return evn_fail(EVN_USAGE, "sample-rate: %g, expected a whole number of samples for %s",
                        rate, path);
    if (format == FORMAT_WAV && p->asked > WAV_CHANNELS)
        return evn_fail(EVN_USAGE, "%s: %d probes, expected at most %d for .wav", path, p->asked,
                        WAV_CHANNELS);
    if (p->options.speed == 1 && !m->column)
        tdbem_warn(p,
                   "speed: it is 1, so that a second of %s is a unit of length; in air, in metres, "
                   "it is 343",
                   path);
    return EVN_OK;
}

/* All files, with room for what will be in them, before anything is computed. */
evn_status room_open_files(struct march *m) {
    const tdbem_run_options *o = m->o;
    const double rows = m->steps + 1.0;
    evn_status status = o->impulse_response ? plan_filter(m) : EVN_OK;
    const double frequencies =
        o->frequencies ? o->frequencies : response_count(m->incident, m->p->shape.highest, rows);
    const double numbers[OUTPUTS] = {
        [PROBE_OUTPUT] = rows * (1 + 2.0 * m->p->asked),
        [VERTEX_OUTPUT] = rows * m->vertices.columns,
        [SPECTRUM] = 2.0 * m->spectra.count * m->past->columns,
        [TRANSFER_FUNCTION] = 4.0 * frequencies * m->p->asked,
        [IMPULSE_RESPONSE] = 2.0 * m->filter.samples * m->p->asked,
    };
    const char *path[OUTPUTS];
    paths_of(o, path);
    for (int i = 0; !status && i < OUTPUTS; i++) {
        struct march_output *out = &m->output[i];
        if (!path[i]) continue;
        status = output_format(&out->format, path[i], i);
        static const double each[] = {
            [FORMAT_CSV] = 24, [FORMAT_NPZ] = 8, [FORMAT_WAV] = 2, [FORMAT_SOFA] = 4};
        const double bytes = numbers[i] * each[out->format];
        if (!status && out->format != FORMAT_CSV && bytes > FORMAT_BYTES)
            status =
                evn_fail(EVN_USAGE,
                         "%s: %.2g GB are too many for this format, expected less than %g, or .csv",
                         path[i], bytes * 1e-9, FORMAT_BYTES * 1e-9);
        char *own = status ? NULL : columns_path(m, path[i], 0);
        if (!status && !own) status = evn_fail(EVN_MEMORY, "%s: not enough memory", path[i]);
        if (!status) status = evn_output_open(&out->file, NULL, own);
        free(own);
        if (!status) status = evn_output_reserve(out->file, (size_t)bytes);
    }
    if (!status && o->output) {
        m->folder = columns_path(m, o->output, 1);
        status = m->folder ? vtk_folder(m->folder)
                           : evn_fail(EVN_MEMORY, "%s: not enough memory", o->output);
    }
    return tdbem_as_input(status);
}

/* The probes as pieces of a series. */
static evn_status make_shown(struct march *m) {
    const tdbem *p = m->p;
    const tdbem_grid *grid = &p->options.grid;
    int cells, corners;
    if (!m->o->output || !p->asked) return EVN_OK;
    m->shown_cell = vtk_cells(p->asked, grid->points, grid->closed, p->row, &cells, &corners);
    m->shown_field = malloc(2 * (size_t)p->asked * sizeof *m->shown_field);
    if (!m->shown_cell || !m->shown_field)
        return evn_fail(EVN_MEMORY, "td-bem: not enough memory for %d points", p->asked);
    m->shown =
        (struct vtk_piece){p->asked,
                           cells,
                           corners,
                           (const double(*)[3])p->asked_point,
                           m->shown_cell,
                           NULL,
                           {{"total", m->shown_field + p->asked}, {"scattered", m->shown_field}}};
    return EVN_OK;
}

static void *zeros(size_t count, size_t size) {
    const size_t bytes = (count * size + 127) / 64 * 64;
    void *p = aligned_alloc(64, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

evn_status room_make_column(struct march *m) {
    const struct layout *l = m->p->layout;
    const size_t columns = (size_t)l->columns, group = (size_t)l->is.group;
    evn_status status =
        history_open(&m->past, l->columns, l->depth, l->front, l->is.group, l->is.single);
    if (status) return status;
    m->a = zeros(group * columns, sizeof *m->a);
    m->before = zeros(GUESS * columns, sizeof *m->before);
    if (!m->a || !m->before) return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the march");
    status = memory_open(m);
    if (status) return status;
    if (m->p->far) {
        m->far = zeros(m->p->far->doubles, sizeof *m->far);
        if (!m->far) return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the far field");
    }
    const int kept = m->o->probe_output || m->o->transfer_function || m->o->impulse_response;
    m->points.columns = kept && m->p->points ? 1 + 2 * m->p->points : 0;
    m->vertices.columns = m->o->vertex_output && m->o->vertices ? 1 + m->o->vertices : 0;
    const int wanted = m->o->spectrum || m->o->far_field;
    return spectra_open(&m->spectra, wanted ? m->o->frequencies : 0, m->o->frequency, l->columns,
                        m->incident);
}

evn_status room_make(struct march *m) {
    const struct layout *l = m->p->layout;
    const size_t columns = (size_t)l->columns, rows = (size_t)l->rows;
    const int units = evn_units_count(m->units);
    evn_status status = room_make_column(m);
    if (status) return status;
    m->first_core = malloc(sizeof *m->first_core * (size_t)(units + 1));
    for (int u = 0; m->first_core && u < units; u++) {
        m->first_core[u] = m->cores;
        m->cores += evn_unit_cores(evn_units_get(m->units, u));
    }
    m->scratch = calloc((size_t)m->cores + 1, sizeof *m->scratch);
    m->sums_bytes = summation_sums_bytes(l);
    m->sums = aligned_alloc(64, (size_t)l->blocks *
                                    m->sums_bytes); /* touched by the threads that need it */
    m->first = calloc((size_t)units, sizeof *m->first);
    m->total = zeros(rows * (size_t)l->wide, sizeof *m->total);
    m->load = zeros(columns, sizeof *m->load);
    m->b = zeros(rows, sizeof *m->b);
    m->scattered = zeros((size_t)(m->p->points + m->p->inside) + 1, sizeof *m->scattered);
    int ok = m->first_core && m->scratch && m->sums && m->first && m->total && m->load && m->b &&
             m->scattered;
    for (int c = 0; ok && c < m->cores; c++)
        ok = (m->scratch[c] = zeros(1, summation_scratch(l, NODE_MAX))) != NULL;
    for (int u = 0; ok && u < units; u++)
        ok = (m->first[u] = malloc(sizeof **m->first * (size_t)l->blocks)) != NULL;
    if (!ok)
        return evn_fail(EVN_MEMORY, "td-bem: not enough memory for the march: %.3g GB",
                        (double)m->sums_bytes * l->blocks * 1e-9);
    return make_shown(m);
}

/* Room for what the summation keeps. */
evn_status room_make_notes(struct march *m, int first) {
    const size_t units = (size_t)evn_units_count(m->units);
    const size_t group = (size_t)m->p->options.group;
    const size_t groups =
        ((size_t)(m->steps - first + 1) + group - 1) / group * (size_t)m->p->columns;
    m->busy = calloc(units, sizeof *m->busy);
    m->node = calloc((size_t)m->p->layout->blocks, sizeof *m->node);
    m->reader = calloc((size_t)m->p->layout->blocks, sizeof *m->reader);
    m->r->group_s = calloc(groups * units + 1, sizeof *m->r->group_s);
    m->r->group_blocks = calloc(groups * units + 1, sizeof *m->r->group_blocks);
    return m->busy && m->node && m->reader && m->r->group_s && m->r->group_blocks
               ? EVN_OK
               : evn_fail(EVN_MEMORY, "td-bem: no memory for the times of %zu groups", groups);
}

/* Steps and mesh must be able to show a frequency at all. */
static evn_status check_frequency(const tdbem *p, double w) {
    const double dt = p->incident->dt, h = p->mesh->h_mean;
    const double most = fmin(M_PI / dt, M_PI * p->options.speed / h);
    if (!(w >= 0) || !isfinite(w))
        return evn_fail(EVN_USAGE, "frequencies: %g is none, expected numbers from 0 on", w);
    if (w <= most) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "frequencies: %g is more than steps of %.4g and mean edges of %.4g can show, "
                    "expected %.4g at most, two a period; pulse and mesh carry up to %.4g",
                    w, dt, h, most, p->shape.highest);
}

/* One line for all frequencies beyond what pulse and mesh carry. */
static void warn_of_frequencies(const tdbem_run_options *o, tdbem *p) {
    int above = 0, lost = 0;
    double first = 0;
    char others[32] = "";
    for (int f = 0; f < o->frequencies; f++) {
        const double w = o->frequency[f];
        if (pulse_carries(&p->incident->pulse, w) && w <= p->shape.highest) continue;
        if (!above++) first = w;
        lost += !pulse_carries(&p->incident->pulse, w);
    }
    if (above > 1) snprintf(others, sizeof others, ", and %d more,", above - 1);
    if (lost)
        tdbem_warn(p,
                   "frequencies: the pulse has next to nothing at %d of them, whose values are "
                   "nan: pulse and mesh carry up to %.4g",
                   lost, p->shape.highest);
    else if (above)
        tdbem_warn(p,
                   "frequencies: %g%s is above %.4g, which pulse (-40 dB) and mesh (8 edges a "
                   "wavelength) carry",
                   first, others, p->shape.highest);
}

/* Of two outputs of one name the later would replace the other. */
static evn_status check_files(const tdbem_run_options *o) {
    const char *const file[] = {o->probe_output,      o->vertex_output,   o->output,
                                o->checkpoint,        o->spectrum,        o->far_field,
                                o->transfer_function, o->impulse_response};
    enum { FILES = sizeof file / sizeof *file };
    for (int i = 0; i < FILES; i++)
        for (int j = 0; j < i; j++)
            if (file[i] && file[j] && evn_output_same(file[i], file[j]))
                return evn_fail(EVN_USAGE, "%s: two outputs go there; name another file", file[i]);
    return EVN_OK;
}

/* Arrays of a length below 0, or that are not there. */
static evn_status check_arrays(const tdbem_run_options *o) {
    if (o->vertices < 0 || (o->vertices && !o->vertex))
        return evn_fail(EVN_USAGE, "vertices: %d of them%s, expected 0 or more and their array",
                        o->vertices, o->vertex ? "" : ", and their array is NULL");
    if (o->frequencies < 0 || (o->frequencies && !o->frequency))
        return evn_fail(EVN_USAGE, "frequencies: %d of them%s, expected 0 or more and their array",
                        o->frequencies, o->frequency ? "" : ", and their array is NULL");
    return EVN_OK;
}

/* Checks options that depend on each other. */
evn_status room_check(const tdbem_run_options *o, tdbem *p) {
    evn_status status = check_arrays(o);
    if (!status) status = check_files(o);
    if (status) return status;
    const char *of_probes = o->probe_output        ? o->probe_output
                            : o->transfer_function ? o->transfer_function
                                                   : o->impulse_response;
    if (of_probes && !p->points)
        return evn_fail(EVN_USAGE, "%s: there are no probes to be written there; give some",
                        of_probes);
    if (!(o->sample_rate >= 0) || !isfinite(o->sample_rate))
        return evn_fail(EVN_USAGE, "sample-rate: %g, expected a number above 0", o->sample_rate);
    if (o->vertex_output && !o->vertices)
        return evn_fail(EVN_USAGE, "%s: there are no vertices to be written there; give some",
                        o->vertex_output);
    if ((o->spectrum || o->far_field) && !o->frequencies)
        return evn_fail(EVN_USAGE, "%s: there are no frequencies; give some",
                        o->spectrum ? o->spectrum : o->far_field);
    if (o->every < 0) return evn_fail(EVN_USAGE, "every: %d, expected 1 or more", o->every);
    if (o->steps < 0) return evn_fail(EVN_USAGE, "steps: %d, expected 1 or more", o->steps);
    for (int f = 0; !status && f < o->frequencies; f++)
        status = check_frequency(p, o->frequency[f]);
    if (!status) warn_of_frequencies(o, p);
    return status;
}

/* Step 0: nothing has happened. */
evn_status room_begin_tables(struct march *m) {
    struct table *t[] = {&m->points, &m->vertices};
    for (int i = 0; i < 2; i++) {
        if (!t[i]->columns) continue;
        double *row = table_row(t[i]);
        if (!row) return evn_fail(EVN_MEMORY, "td-bem: no memory for tables");
        memset(row, 0, sizeof *row * (size_t)t[i]->columns);
        if (i) row[0] = incident_stands(m->incident, 0);
    }
    for (int i = 0; m->points.columns && i < m->p->points; i++)
        m->points.value[2 + 2 * i] = incident_value(m->incident, m->p->point[i], 0);
    return EVN_OK;
}

void room_give_back_column(struct march *m) {
    history_close(m->past);
    free_all(m->a, m->before, m->points.value, m->vertices.value);
    spectra_close(&m->spectra);
    for (int i = 0; i < OUTPUTS; i++) evn_output_close(m->output[i].file);
    free(m->mark.sums);
    memory_close(m);
    free_all(m->far, m->folder);
}

void room_give_back(struct march *m) {
    march_device_close(m);
    march_far_close(m);
    solver_detach(m->p->solver);
    sums_close_devices(m);
    ranks_close(m);
    columns_close(m);
    free_all(m->busy, m->node, m->reader);
    evn_loop_close(m->loop);
    evn_crew_close(m->crew);
    for (int c = 0; m->scratch && c < m->cores; c++) free(m->scratch[c]);
    free(m->scratch);
    for (int u = 0; m->first && u < evn_units_count(m->units); u++) free(m->first[u]);
    free_all(m->first, m->first_core, m->sums, m->total, m->load, m->b, m->scattered, m->shown_cell,
             m->shown_field, m->vertex);
    room_give_back_column(m);
    states_close(&m->states);
    timed_close(&m->timed);
}
