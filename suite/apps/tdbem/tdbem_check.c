/* Options, before anything is opened. */
#include "tdbem/problem.h"
#include "tdbem/fast/method.h"
#include "tdbem/mesh/mesh_read.h"
#include "tdbem/mesh/numbering.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Texts without which there is no problem; of the others NULL is a value. */
static evn_status check_texts(const tdbem_options *o) {
    const struct {
        const char *name, *text;
    } needed[] = {
        {"layout", o->layout}, {"order", o->order}, {"solver", o->solver}, {"method", o->method}};
    if (!o->mesh)
        return evn_fail(EVN_USAGE, "which mesh? expected a file (" MESH_ENDS
                                   "), sphere:L, box:a,b,c,h or aircraft:N");
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!needed[i].text)
            return evn_fail(EVN_USAGE, "%s: it is NULL, expected a name, as of tdbem_defaults()",
                            needed[i].name);
    return EVN_OK;
}

int tdbem_is_name(const char *name) {
    const char *of = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return *name && *name != '.' && *name != '-' && !name[strspn(name, of)];
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Files of incidences are told apart by their names. */
static evn_status check_names(const tdbem_options *o) {
    const size_t n = (size_t)o->incidences;
    const char **name = malloc((n + 1) * sizeof *name);
    evn_status status = name ? EVN_OK : evn_fail(EVN_MEMORY, "td-bem: no memory for names");
    for (size_t i = 0; !status && i < n; i++) {
        name[i] = o->incidence[i].name;
        if (!name[i] || !tdbem_is_name(name[i]))
            status = evn_fail(
                EVN_USAGE, "incidence %zu: \"%s\" is no name; expected letters, digits and _ . -",
                i + 1, name[i] ? name[i] : "");
    }
    if (!status) qsort(name, n, sizeof *name, by_text);
    for (size_t i = 1; !status && i < n; i++)
        if (!strcmp(name[i - 1], name[i]))
            status = evn_fail(EVN_USAGE, "incidences: two are called \"%s\", expected other names",
                              name[i]);
    free(name);
    return status;
}

static evn_status check_incidences(const tdbem_options *o) {
    if (o->incidences < 0 || o->incidences > TDBEM_INCIDENCES)
        return evn_fail(EVN_USAGE, "incidences: %d, expected 1 to %d", o->incidences,
                        TDBEM_INCIDENCES);
    if (o->incidences && !o->incidence)
        return evn_fail(EVN_USAGE, "incidences: %d of them, and their array is NULL",
                        o->incidences);
    for (int i = 0; i < o->incidences; i++)
        if (o->incidence[i].waves < 1 || !o->incidence[i].wave)
            return evn_fail(EVN_USAGE, "incidence %d: %d waves%s, expected an array of 1 or more",
                            i + 1, o->incidence[i].waves,
                            o->incidence[i].wave ? "" : ", and their array is NULL");
    return o->incidences > 1 || (o->incidences && o->incidence->name) ? check_names(o) : EVN_OK;
}

static evn_status check_numbers(const tdbem_options *o) {
    if (o->problem != TDBEM_RIGID && o->problem != TDBEM_SOFT)
        return evn_fail(EVN_USAGE, "problem: there is no %d, expected TDBEM_RIGID or TDBEM_SOFT",
                        (int)o->problem);
    if (!isnan(o->eta) && (!(o->eta >= 0) || !isfinite(o->eta)))
        return evn_fail(EVN_USAGE, "eta: %g, expected a number from 0 on, as 0.5", o->eta);
    if (!(o->delta >= 0) || !isfinite(o->delta))
        return evn_fail(EVN_USAGE, "delta: %g, expected a length above 0", o->delta);
    if (o->delta == 0 && (!(o->delta_ratio >= 0) || !isfinite(o->delta_ratio)))
        return evn_fail(EVN_USAGE, "delta-ratio: %g, expected a number above 0, as 0.5",
                        o->delta_ratio);
    if (!(o->speed > 0) || !isfinite(o->speed))
        return evn_fail(EVN_USAGE, "speed: %g, expected a number above 0", o->speed);
    const double *d = o->direction;
    if (!isfinite(d[0]) || !isfinite(d[1]) || !isfinite(d[2]) ||
        (d[0] == 0 && d[1] == 0 && d[2] == 0))
        return evn_fail(EVN_USAGE, "direction: %g,%g,%g, expected three numbers, not all 0", d[0],
                        d[1], d[2]);
    if (!(o->scale >= 0) || !isfinite(o->scale))
        return evn_fail(EVN_USAGE, "scale: %g, expected a number above 0", o->scale);
    if (!(o->memory >= 0))
        return evn_fail(EVN_USAGE, "memory: %g bytes, expected a number above 0", o->memory);
    /* row-vectors of far cells are floats */
    if (!(o->accuracy >= 1e-7) || !(o->accuracy < 1))
        return evn_fail(EVN_USAGE, "accuracy: %g, expected 1e-7 to less than 1, as 1e-3",
                        o->accuracy);
    return EVN_OK;
}

static evn_status check_counts(const tdbem_options *o) {
    enum { CORES = 1 << 16 };
    if (o->group < 1 || o->group > GROUP_MAX)
        return evn_fail(EVN_USAGE, "ng: %d, expected 1 to %d steps", o->group, GROUP_MAX);
    if (o->cores < 0 || o->cores > CORES)
        return evn_fail(EVN_USAGE, "cores: %d, expected 1 to %d, or 0 for all", o->cores, CORES);
    if (o->blocks < 0) return evn_fail(EVN_USAGE, "blocks: %d, expected 1 or more", o->blocks);
    if (o->points < 0 || (o->points && !o->point))
        return evn_fail(EVN_USAGE, "probes: %d of them%s, expected 0 or more and their array",
                        o->points, o->point ? "" : ", and their array is NULL");
    const int *grid = o->grid.points;
    if (grid[0] &&
        (grid[0] < 2 || grid[1] < 2 || o->points / grid[0] != grid[1] || o->points % grid[0]))
        return evn_fail(EVN_USAGE, "probes: %d points are no grid of %d times %d", o->points,
                        grid[0], grid[1]);
    return EVN_OK;
}

static evn_status check_admittance(const tdbem_options *o) {
    if (o->problem != TDBEM_RIGID)
        return evn_fail(EVN_USAGE, "admittance: a soft body has none; expected the rigid problem, "
                                   "in which the admittance takes the place of dp/dn = 0");
    if (o->eta == 0)
        return evn_fail(EVN_USAGE, "admittance: it needs the combined equation, expected eta above "
                                   "0, as 0.5");
    return boundary_check(o->admittance);
}

evn_status tdbem_check(const tdbem_options *o) {
    struct layout_options layout;
    enum numbering numbering;
    enum solver_kind solver;
    enum method method;
    struct pulse pulse;
    struct mirror planes;
    if (!o) return evn_fail(EVN_USAGE, "td-bem: the options are NULL");
    evn_status status = check_texts(o);
    if (!status) status = check_numbers(o);
    if (!status) status = check_counts(o);
    if (!status) status = check_incidences(o);
    if (!status) status = layout_find(&layout, o->layout);
    if (!status) status = numbering_find(&numbering, o->order);
    if (!status) status = solver_named(&solver, o->solver);
    if (!status) status = method_find(&method, o->method);
    if (!status && o->pulse) {
        status = pulse_read(&pulse, o->pulse);
        pulse_close(&pulse);
    }
    if (!status && o->admittance) status = check_admittance(o);
    if (!status && o->scratch) status = stream_folder(o->scratch);
    if (!status) status = mirror_read(&planes, o->planes);
    return status;
}

evn_status tdbem_check_units(const tdbem_options *o, const evn_units *units) {
    enum solver_kind solver;
    evn_status status = solver_named(&solver, o->solver);
    return status ? status : solver_check_units(solver, units);
}
