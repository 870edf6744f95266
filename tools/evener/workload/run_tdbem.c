/* evener run td-bem: options into a problem, the march, its result and its record. */
#include "workload/run_tdbem.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "tdbem/tdbem.h"
#include "tdbem/mesh/numbering.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The options as they were given. */
struct words {
    const char *app, *mesh, *problem, *eta, *delta, *delta_ratio, *speed, *direction, *pulse;
    const char *precision, *layout, *order, *solver, *probes, *probe_output, *vertices;
    const char *vertex_output, *entries, *output, *matrices, *checkpoint, *restart;
    const char *frequencies, *spectrum, *far_field, *memory, *scratch;
    const char *units, *devices, *schedule, *json, *trace;
    long steps, ng, blocks, quad, every;
    int oversubscribe, quiet, verbose;
};

/* What is made of them. */
struct job {
    struct words w;
    tdbem_options options;
    tdbem_run_options run;
    double (*point)[3];
    int *vertex;
    double *frequency;
    evn_machine *machine;
    evn_units *units;
    evn_problem tasks;
    double *speed;
    evn_schedule *schedule;
    tdbem *problem;
    struct progress progress;
    double began;
    FILE *trace;
    evn_status trace_status;
};

/* ---- reading ---- */

static int read_real(const char *option, const char *text, double least, int open, double *to) {
    char *end;
    if (!text) return 0;
    const double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < least || (open && value == least)) {
        complain("--%s %s: expected a number %s %g", option, text, open ? "above" : "from", least);
        return EXIT_USAGE;
    }
    *to = value;
    return 0;
}

/* `500MB`, `1.5GiB`; bytes without a unit. */
static int read_size(const char *option, const char *text, double *to) {
    static const struct {
        const char *name;
        double bytes;
    } unit[] = {{"", 1},      {"B", 1},        {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
                {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
    char *end;
    if (!text) return 0;
    const double value = strtod(text, &end);
    for (size_t u = 0; end != text && u < sizeof unit / sizeof *unit; u++)
        if (!strcmp(end, unit[u].name) && value > 0 && isfinite(value)) {
            *to = value * unit[u].bytes;
            return 0;
        }
    complain("--%s %s: expected a size above 0, as 500MB or 1.5GiB", option, text);
    return EXIT_USAGE;
}

/* Numbers with commas between them; exactly so many of them unless that is 0. */
static int read_list(const char *option, const char *text, int exactly, double **to, int *count) {
    int n = 1;
    for (const char *c = text; *c; c++) n += *c == ',';
    *to = malloc(sizeof **to * (size_t)n);
    if (!*to) {
        complain("--%s: not enough memory", option);
        return EXIT_USAGE;
    }
    const char *p = text;
    for (int i = 0; i < n; i++) {
        char *end;
        (*to)[i] = strtod(p, &end);
        if (end == p || (*end && *end != ',') || !isfinite((*to)[i])) {
            complain("--%s %s: item %d is no number", option, text, i + 1);
            return EXIT_USAGE;
        }
        p = end + 1;
    }
    if (exactly && n != exactly) {
        complain("--%s %s: expected %d numbers with commas between them", option, text, exactly);
        return EXIT_USAGE;
    }
    *count = n;
    return 0;
}

static int read_direction(struct job *j) {
    double *d = NULL;
    int n = 0;
    if (!j->w.direction) return 0;
    int code = read_list("direction", j->w.direction, 3, &d, &n);
    if (!code) memcpy(j->options.direction, d, sizeof j->options.direction);
    free(d);
    return code;
}

static int read_vertices(struct job *j) {
    double *v = NULL;
    int n = 0;
    if (!j->w.vertices) return 0;
    int code = read_list("vertices", j->w.vertices, 0, &v, &n);
    if (!code && !(j->vertex = malloc(sizeof *j->vertex * (size_t)n))) {
        complain("--vertices: not enough memory");
        code = EXIT_USAGE;
    }
    for (int i = 0; !code && i < n; i++) {
        if (v[i] < 0 || v[i] > 2e9 || v[i] != floor(v[i])) {
            complain("--vertices %s: item %d is no vertex number, expected whole numbers from 0",
                     j->w.vertices, i + 1);
            code = EXIT_USAGE;
        } else {
            j->vertex[i] = (int)v[i];
        }
    }
    free(v);
    j->run.vertex = j->vertex;
    j->run.vertices = n;
    return code;
}

/* Lines of `columns` numbers; empty ones and those that begin with # are skipped. */
static int read_rows(const char *option, const char *path, int columns, double **to, int *rows) {
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t size = 0, room = 0;
    int number = 0, code = 0;
    *rows = 0;
    if (!in) {
        complain("--%s %s: it cannot be read: %s", option, path, strerror(errno));
        return EXIT_USAGE;
    }
    while (!code && getline(&line, &size, in) >= 0) {
        char *p = line + strspn(line, " \t\r\n");
        number++;
        if (!*p || *p == '#') continue;
        if ((size_t)*rows * (size_t)columns + (size_t)columns > room) {
            room = 2 * room + 64 * (size_t)columns;
            double *more = realloc(*to, room * sizeof *more);
            if (!more) {
                complain("--%s %s: not enough memory", option, path);
                code = EXIT_USAGE;
                break;
            }
            *to = more;
        }
        for (int c = 0; !code && c < columns; c++) {
            char *end;
            const double value = strtod(p, &end);
            if (end == p || !isfinite(value)) code = EXIT_USAGE;
            (*to)[(size_t)*rows * (size_t)columns + (size_t)c] = value;
            p = end + strspn(end, " \t\r\n,");
        }
        if (*p) code = EXIT_USAGE;
        if (code)
            complain("--%s %s: line %d: expected %d numbers", option, path, number, columns);
        else
            (*rows)++;
    }
    if (!code && ferror(in)) {
        complain("--%s %s: it cannot be read: %s", option, path, strerror(errno));
        code = EXIT_USAGE;
    }
    free(line);
    fclose(in);
    if (!code && !*rows) {
        complain("--%s %s: there is nothing in it, expected lines of %d numbers", option, path,
                 columns);
        code = EXIT_USAGE;
    }
    return code;
}

static int read_choice(const char *option, const char *text, const char *one, const char *other,
                       int *to) {
    if (!text || !strcmp(text, one)) {
        *to = 0;
        return 0;
    }
    if (!strcmp(text, other)) {
        *to = 1;
        return 0;
    }
    complain("--%s %s: expected %s or %s", option, text, one, other);
    return EXIT_USAGE;
}

/* What needs what. */
static int check_together(const struct words *w) {
    const struct {
        const char *given, *name, *needed, *what;
    } pair[] = {
        {w->probe_output, "probe-output", w->probes, "--probes FILE, the points"},
        {w->probes, "probes", w->probe_output, "--probe-output FILE, where their fields go"},
        {w->vertex_output, "vertex-output", w->vertices, "--vertices LIST, which ones"},
        {w->vertices, "vertices", w->vertex_output, "--vertex-output FILE, where they go"},
        {w->spectrum, "spectrum", w->frequencies, "--frequencies LIST"},
        {w->far_field, "far-field", w->frequencies, "--frequencies LIST"},
        {w->every ? "" : NULL, "every", w->output ? w->output : w->checkpoint,
         "--output DIR or --checkpoint FILE"},
    };
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
        if (pair[i].given && !pair[i].needed) {
            complain("--%s also needs %s", pair[i].name, pair[i].what);
            return EXIT_USAGE;
        }
    if (w->delta && w->delta_ratio) {
        complain("--delta and --delta-ratio say the same thing; give one of them");
        return EXIT_USAGE;
    }
    return 0;
}

static int read_words(struct job *j) {
    const struct words *w = &j->w;
    tdbem_options *o = &j->options;
    int soft = 0, code = check_together(w);
    *o = tdbem_defaults();
    o->mesh = w->mesh;
    o->pulse = w->pulse;
    o->matrices = w->matrices;
    o->scratch = w->scratch;
    o->group = (int)w->ng;
    o->blocks = (int)w->blocks;
    o->quad = (int)w->quad;
    if (w->layout) o->layout = w->layout;
    if (w->order) o->order = w->order;
    if (w->solver) o->solver = w->solver;
    if (!code) code = read_choice("problem", w->problem, "rigid", "soft", &soft);
    if (!code) code = read_choice("precision", w->precision, "double", "float", &o->single);
    o->problem = soft ? TDBEM_SOFT : TDBEM_RIGID;
    if (!code && soft && w->eta) {
        complain("--eta %s: the soft problem has no such parameter; leave it out", w->eta);
        code = EXIT_USAGE;
    }
    if (!code) code = read_real("eta", w->eta, 0, 0, &o->eta);
    if (!code) code = read_real("delta", w->delta, 0, 1, &o->delta);
    if (!code) code = read_real("delta-ratio", w->delta_ratio, 0, 1, &o->delta_ratio);
    if (!code) code = read_real("speed", w->speed, 0, 1, &o->speed);
    if (!code) code = read_size("memory", w->memory, &o->memory);
    if (!code) code = read_direction(j);
    if (!code) code = read_vertices(j);
    if (!code && w->frequencies)
        code = read_list("frequencies", w->frequencies, 0, &j->frequency, &j->run.frequencies);
    if (!code && w->probes)
        code = read_rows("probes", w->probes, 3, (double **)&j->point, &o->points);
    o->point = (const double(*)[3])j->point;
    if (code) return code;
    j->run.steps = (int)w->steps;
    j->run.every = (int)w->every;
    j->run.frequency = j->frequency;
    j->run.probe_output = w->probe_output;
    j->run.vertex_output = w->vertex_output;
    j->run.output = w->output;
    j->run.checkpoint = w->checkpoint;
    j->run.restart = w->restart;
    j->run.spectrum = w->spectrum;
    j->run.far_field = w->far_field;
    evn_status status = tdbem_check(o);
    if (!status) status = tdbem_check_files(&j->run);
    return status ? give_up(status) : 0;
}

/* ---- units ---- */

/* Opened once to see that they can be, before hours are spent on matrices; and again for the march,
 * since opening binds this thread to one core. */
static int open_units(struct job *j) {
    evn_status status = evn_units_open_on(&j->units, j->machine, j->w.units, j->w.devices,
                                          j->w.oversubscribe ? EVN_OVERSUBSCRIBE : 0);
    return status ? give_up(status) : 0;
}

static int plan(struct job *j, evn_problem tasks) {
    const int units = evn_units_count(j->units);
    j->tasks = tasks;
    j->tasks.units = units;
    free(j->speed);
    j->speed = malloc(sizeof *j->speed * (size_t)units);
    if (!j->speed) {
        complain("not enough memory for %d units", units);
        return EXIT_USAGE;
    }
    for (int u = 0; u < units; u++) j->speed[u] = evn_unit_cores(evn_units_get(j->units, u));
    j->tasks.speed = j->speed;
    evn_status status = evn_schedule_open(&j->schedule, j->w.schedule, &j->tasks);
    return status ? give_up(status) : 0;
}

static int threads(const evn_units *units) {
    int sum = 0;
    for (int u = 0; u < evn_units_count(units); u++) sum += evn_unit_cores(evn_units_get(units, u));
    return sum;
}

/* ---- the record and the page ---- */

static void unit_share(const struct job *j, const tdbem_result *r, int u, int *tasks,
                       double *weight) {
    *tasks = 0;
    *weight = 0;
    for (int t = 0; t < j->tasks.tasks; t++)
        if (r->owner[t] == u) {
            ++*tasks;
            *weight += j->tasks.weight[t];
        }
}

static cJSON *record_unit(const struct job *j, const tdbem_result *r, int u) {
    const evn_unit *unit = evn_units_get(j->units, u);
    cJSON *o = cJSON_CreateObject(), *cores = cJSON_CreateArray();
    int tasks;
    double weight;
    unit_share(j, r, u, &tasks, &weight);
    for (int c = 0; c < evn_unit_cores(unit); c++)
        if (evn_unit_core_number(unit, c) >= 0)
            cJSON_AddItemToArray(cores, cJSON_CreateNumber(evn_unit_core_number(unit, c)));
    cJSON_AddNumberToObject(o, "id", u);
    cJSON_AddStringToObject(o, "kind", evn_unit_is_cpu(unit) ? "cpu" : "gpu");
    cJSON_AddItemToObject(o, "cores", cores);
    if (evn_unit_devices(unit))
        cJSON_AddStringToObject(o, "device", evn_device_traits(evn_unit_device(unit, 0))->name);
    else
        cJSON_AddNullToObject(o, "device");
    cJSON_AddNumberToObject(o, "tasks", tasks);
    record_number(o, "weight", weight);
    record_number(o, "compute_s", r->unit[u].compute_s);
    record_number(o, "exchange_s", r->unit[u].exchange_s);
    record_number(o, "idle_s", r->unit[u].idle_s);
    cJSON_AddNumberToObject(o, "bytes_in", 0); /* nothing is exchanged between units */
    cJSON_AddNumberToObject(o, "bytes_out", 0);
    return o;
}

/* The summation's groups: blocks of each unit, and how long it took for them. */
static cJSON *record_groups(const struct job *j, const tdbem_result *r) {
    const int units = j->tasks.units;
    cJSON *list = cJSON_CreateArray();
    for (int g = 0; g < r->groups; g++) {
        cJSON *o = cJSON_CreateObject();
        const size_t at = (size_t)g * (size_t)units;
        cJSON_AddItemToObject(o, "tasks", cJSON_CreateIntArray(r->group_blocks + at, units));
        cJSON_AddItemToObject(o, "unit_compute_s", record_numbers(r->group_s + at, units));
        cJSON_AddItemToArray(list, o);
    }
    return list;
}

static void record_problem(cJSON *root, const struct job *j, const tdbem_result *r) {
    const tdbem_shape s = tdbem_describe(j->problem);
    cJSON *mesh = cJSON_AddObjectToObject(root, "mesh");
    cJSON_AddNumberToObject(mesh, "vertices", s.vertices);
    cJSON_AddNumberToObject(mesh, "triangles", s.triangles);
    cJSON_AddNumberToObject(mesh, "components", s.components);
    record_number(mesh, "volume", s.volume);
    record_number(mesh, "h_mean", s.h_mean);
    cJSON *matrix = cJSON_AddObjectToObject(root, "matrix");
    cJSON_AddNumberToObject(matrix, "kmax", s.kmax);
    record_number(matrix, "nnz", (double)s.nnz);
    record_number(matrix, "d_average", (double)s.nnz / s.vertices / s.vertices);
    cJSON_AddNumberToObject(matrix, "d_max", s.longest);
    record_number(matrix, "bytes", s.bytes);
    record_number(matrix, "stored", (double)s.stored);
    cJSON_AddNumberToObject(matrix, "blocks", s.blocks);
    cJSON_AddNumberToObject(matrix, "resident_blocks", s.resident);
    cJSON_AddNumberToObject(matrix, "intervals", s.intervals);
    cJSON *stream = cJSON_AddObjectToObject(root, "stream");
    record_number(stream, "bytes", r->stream_bytes);
    record_number(stream, "wait_s", r->stream_wait_s);
    record_number(stream, "most_bytes", r->stream_max);
    record_number(root, "delta", s.delta);
    record_number(root, "dt", s.dt);
    record_number(root, "sigma", s.sigma);
    record_number(root, "t0", s.t0);
    cJSON *stages = cJSON_AddObjectToObject(root, "stages");
    record_number(stages, "generate_s", s.generate_s);
    record_number(stages, "summation_s", r->summation_s);
    record_number(stages, "reduction_s", r->reduction_s);
    record_number(stages, "radiation_s", r->radiation_s);
    record_number(stages, "right_hand_side_s", r->load_s);
    record_number(stages, "solve_s", r->solve_s);
    record_number(stages, "output_s", r->output_s);
    record_number(stages, "idle_s", r->idle_s);
    record_number(root, "gflops_nominal", r->gflops_nominal);
    record_number(root, "gflops_effective", r->gflops_effective);
    cJSON_AddStringToObject(root, "solver", j->options.solver);
    record_number(root, "solver_iterations", r->iterations);
    record_number(root, "null_field", r->null_field);
    cJSON *warnings = cJSON_AddArrayToObject(root, "warnings");
    for (int i = 0; tdbem_warning(j->problem, i); i++)
        cJSON_AddItemToArray(warnings, cJSON_CreateString(tdbem_warning(j->problem, i)));
}

static cJSON *record_run(const struct job *j, const tdbem_result *r) {
    cJSON *root = cJSON_CreateObject();
    char hash[20];
    const int steps = r->steps - r->first + 1;
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddStringToObject(root, "app", "td-bem");
    cJSON_AddNullToObject(root, "class");
    cJSON_AddNumberToObject(root, "steps", r->steps);
    cJSON_AddNullToObject(root, "verified");
    record_number(root, "seconds", r->seconds);
    record_number(
        root, "mops",
        r->seconds > 0 ? 1e-6 * tdbem_describe(j->problem).flop_per_step * steps / r->seconds : 0);
    cJSON *norms = cJSON_AddObjectToObject(root, "norms");
    record_number(norms, "most", r->max);
    record_number(norms, "most_after", r->max_after);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->hash);
    cJSON_AddStringToObject(root, "hash", hash);
    cJSON *units = cJSON_AddArrayToObject(root, "units");
    for (int u = 0; u < j->tasks.units; u++) cJSON_AddItemToArray(units, record_unit(j, r, u));
    cJSON_AddStringToObject(root, "schedule", evn_schedule_text(j->schedule));
    record_number(root, "imbalance", unit_imbalance(r->unit, j->tasks.units));
    cJSON *periods = cJSON_AddObjectToObject(root, "periods");
    record_number(periods, "compute_s", r->totals.compute_s);
    record_number(periods, "communication_s", r->reduction_s + r->radiation_s + r->solve_s);
    cJSON *transfers = cJSON_AddObjectToObject(root, "transfers");
    cJSON_AddNumberToObject(transfers, "migrations", (double)r->totals.migrations);
    cJSON_AddNumberToObject(transfers, "messages", (double)r->totals.messages);
    record_number(transfers, "bytes", r->totals.bytes);
    cJSON_AddNumberToObject(transfers, "moved_regions", (double)r->moved.copies);
    record_number(transfers, "moved_bytes", (double)r->moved.bytes);
    if (r->devices) cJSON_AddItemToObject(root, "devices", record_devices(r->device, r->devices));
    cJSON_AddItemToObject(root, "owner", cJSON_CreateIntArray(r->owner, j->tasks.tasks));
    cJSON_AddItemToObject(root, "iterations", record_groups(j, r));
    record_problem(root, j, r);
    cJSON_AddItemToObject(root, "machine", record_machine(j->machine));
    cJSON_AddItemToObject(root, "build", record_build());
    cJSON_AddStringToObject(root, "command", command_line);
    return root;
}

static void print_problem(const struct job *j, FILE *out) {
    const tdbem_shape s = tdbem_describe(j->problem);
    fprintf(out, "\n TD-BEM, %s, eta %g, on %s\n\n",
            j->options.problem == TDBEM_SOFT ? "sound-soft" : "sound-hard", s.eta, j->options.mesh);
    fprintf(out, "  vertices %d, triangles %d, components %d, volume %.6g, mean edge %.4g\n",
            s.vertices, s.triangles, s.components, s.volume, s.h_mean);
    fprintf(out, "  c dt %.5g (%.3g edges), pulse sigma %.4g, t0 %.5g\n", s.delta,
            s.delta / s.h_mean, s.sigma, s.t0);
    fprintf(out,
            "  matrices: %d steps back, %.4g values, row-vectors of %.2f (at most %d), %.3g GB as "
            "%s, %.0f %% of it padding\n",
            s.kmax, (double)s.nnz, (double)s.nnz / s.vertices / s.vertices, s.longest,
            s.bytes * 1e-9, j->options.layout, 100 * (1 - (double)s.nnz / (double)s.stored));
    fprintf(out, "  %s in %.2f s", s.reloaded ? "reloaded" : "generated", s.generate_s);
    if (s.resident < s.blocks)
        fprintf(out, "; %d of %d blocks stream from disk", s.blocks - s.resident, s.blocks);
    fprintf(out, "\n");
}

static void print_result(const struct job *j, const tdbem_result *r, FILE *out) {
    const int steps = r->steps - r->first + 1;
    fprintf(out, "\n  %d steps in %.3f s, groups of %d, %s\n\n", steps, r->seconds,
            j->options.group, j->options.single ? "float" : "double");
    const struct {
        const char *name;
        double seconds;
    } stage[] = {
        {"summation", r->summation_s}, {"reduction", r->reduction_s},
        {"radiation", r->radiation_s}, {"right-hand side", r->load_s},
        {"solve", r->solve_s},         {"output", r->output_s},
    };
    for (size_t i = 0; i < sizeof stage / sizeof *stage; i++)
        fprintf(out, "  %-16s %9.3f s %5.1f %%\n", stage[i].name, stage[i].seconds,
                r->seconds > 0 ? 100 * stage[i].seconds / r->seconds : 0);
    if (r->stream_bytes > 0)
        fprintf(out,
                "  %.3g GB came from disk, %.3g GB/s of the summation; cores waited %.3f s for "
                "them\n",
                r->stream_bytes * 1e-9, r->stream_bytes * 1e-9 / r->summation_s, r->stream_wait_s);
    fprintf(out,
            "  summation: %.2f GFlop/s on values, %.2f with padding; %s: %.1f iterations a step\n",
            r->gflops_effective, r->gflops_nominal, j->options.solver, r->iterations);
    fprintf(out, "  largest |a| %.6g, %.3g after the pulse", r->max, r->max_after);
    if (isfinite(r->null_field)) fprintf(out, "; null field inside %.3g %%", 100 * r->null_field);
    fprintf(out, "\n\n Units %s, schedule %s\n\n", evn_units_text(j->units),
            evn_schedule_text(j->schedule));
    fprintf(out, "  unit  cores  blocks      values  compute s  idle s\n");
    for (int u = 0; u < j->tasks.units; u++) {
        int tasks;
        double weight;
        unit_share(j, r, u, &tasks, &weight);
        fprintf(out, "  %4d  %5d  %6d  %10.4g  %9.3f  %6.3f\n", u,
                evn_unit_cores(evn_units_get(j->units, u)), tasks, weight, r->unit[u].compute_s,
                r->unit[u].idle_s);
    }
    fprintf(out, "  imbalance %.3f (longest over shortest compute time), %lld migrations\n",
            unit_imbalance(r->unit, j->tasks.units), r->totals.migrations);
}

/* ---- running ---- */

static int on_generate(double done, void *arg) {
    struct job *j = arg;
    progress_step(&j->progress, (int)(100 * done), 100, evn_now() - j->began);
    return interrupted != 0;
}

static void on_notice(const char *line, void *arg) {
    struct job *j = arg;
    progress_end(&j->progress);
    if (!j->w.quiet) complain("%s", line);
    progress_begin(&j->progress, "td-bem matrices, %", j->w.quiet);
}

static void on_step(int step, int steps, double seconds, void *arg) {
    struct job *j = arg;
    progress_step(&j->progress, step, steps, seconds);
}

static void on_end(const evn_loop *loop, void *arg) {
    struct job *j = arg;
    progress_end(&j->progress);
    if (j->trace) j->trace_status = evn_trace_write(loop, "block", j->trace);
}

static int stopped(const struct job *j, evn_status status) {
    if (status == EVN_STOPPED && j->w.checkpoint) {
        complain("interrupted: %s; go on with --restart %s", evn_message(), j->w.checkpoint);
        return EXIT_INTERRUPTED;
    }
    return give_up(status);
}

static int march(struct job *j, struct output *record) {
    FILE *out = record->path && !strcmp(record->path, "-") ? stderr : stdout;
    tdbem_result r;
    if (!j->w.quiet) print_problem(j, out);
    if (!j->w.quiet) fflush(out);
    for (int i = 0; tdbem_warning(j->problem, i); i++)
        complain("warning: %s", tdbem_warning(j->problem, i));
    progress_begin(&j->progress, "td-bem", j->w.quiet);
    evn_status status = tdbem_run(j->problem, j->units, j->schedule, &j->run, &r);
    progress_end(&j->progress);
    if (status) return stopped(j, status);
    if (r.max_after > 10 * r.max)
        complain("warning: the solution grows: %.3g while the pulse was there, %.3g after it",
                 r.max, r.max_after);
    if (!j->w.quiet) print_result(j, &r, out);
    int code = EXIT_DONE;
    if (record->path) {
        char *text = record_text(record_run(j, &r));
        if (!text || output_commit(record, text)) code = EXIT_FAILED;
        free(text);
    }
    tdbem_result_free(&r);
    return code;
}

static int run_job(struct job *j) {
    struct output record = {.fd = -1}, trace = {.fd = -1};
    evn_status status = evn_machine_open(&j->machine);
    int code = status ? give_up(status) : open_units(j);
    if (!code && (status = tdbem_check_units(&j->options, j->units))) code = give_up(status);
    if (!code) code = plan(j, (evn_problem){.tasks = 1});
    evn_schedule_close(j->schedule);
    j->schedule = NULL;
    if (!code) j->options.cores = threads(j->units);
    evn_units_close(j->units);
    j->units = NULL;
    if (!code && output_open(&record, j->w.json)) code = EXIT_USAGE;
    if (!code && output_open(&trace, j->w.trace)) code = EXIT_USAGE;
    if (!code && j->w.trace && !(j->trace = output_stream(&trace))) code = EXIT_USAGE;
    if (!code) {
        catch_interrupts();
        j->options.progress = on_generate;
        j->options.notice = on_notice;
        j->options.arg = j;
        j->began = evn_now();
        progress_begin(&j->progress, "td-bem matrices, %", j->w.quiet);
        status = tdbem_open(&j->problem, &j->options);
        progress_end(&j->progress);
        code = status ? give_up(status) : open_units(j);
    }
    if (!code) code = plan(j, tdbem_tasks(j->problem));
    if (!code) {
        j->run.progress = on_step;
        j->run.inspect = on_end;
        j->run.arg = j;
        j->run.bursts = j->w.trace ? 1 << 20 : 0;
        j->run.stop = &interrupted;
        code = march(j, &record);
        if (!code && j->trace_status) code = give_up(j->trace_status);
        if (!code && output_commit(&trace, NULL)) code = EXIT_FAILED;
    }
    output_discard(&trace);
    output_discard(&record);
    return code;
}

/* ---- --entries ---- */

static int print_entries(const struct job *j) {
    const tdbem_options *o = &j->options;
    struct mesh *mesh = NULL;
    double *row = NULL;
    int count = 0, *present = NULL, vertices = 0;
    int code = read_rows("entries", j->w.entries, 3, &row, &count);
    if (code) {
        free(row);
        return code;
    }
    evn_status status = mesh_open(&mesh, o->mesh);
    if (status == EVN_SYSTEM) status = EVN_USAGE; /* a file that cannot be read is bad input */
    if (!status) status = mesh_present(mesh, &present, &vertices);
    struct slices_entry *entry = calloc((size_t)count, sizeof *entry);
    if (!status && !entry) status = evn_fail(EVN_MEMORY, "--entries: not enough memory");
    for (int e = 0; !status && e < count; e++) {
        int v[3] = {0};
        for (int i = 0; i < 3; i++) {
            const double x = row[3 * e + i], max = i ? vertices - 1 : 1e9;
            if (x != floor(x) || x < 0 || x > max || (i && present[(int)x] < 0)) {
                status = evn_fail(EVN_USAGE,
                                  "--entries %s: entry %d: expected k i j, with vertices 0 to %d",
                                  j->w.entries, e + 1, vertices - 1);
                break;
            }
            v[i] = i ? present[(int)x] : (int)x;
        }
        if (!status) entry[e] = (struct slices_entry){.k = v[0], .i = v[1], .j = v[2]};
    }
    if (!status) {
        const struct slices_options so = {
            .problem = o->problem,
            .eta = o->problem == TDBEM_SOFT ? 0 : o->eta,
            .delta = o->delta > 0 ? o->delta : o->delta_ratio * mesh->h_mean,
            .quad = o->quad,
        };
        status = slices_entries(entry, count, mesh, &so);
    }
    for (int e = 0; !status && e < count; e++)
        printf("%d,%d,%d,%.17g\n", (int)row[3 * e], (int)row[3 * e + 1], (int)row[3 * e + 2],
               entry[e].value);
    free(entry);
    free(present);
    free(row);
    mesh_close(mesh);
    return status ? give_up(status) : EXIT_DONE;
}

int run_tdbem(int argc, char **argv) {
    struct job j = {.w = {.units = "auto", .schedule = "interval", .steps = -1, .ng = 16}};
    struct words *w = &j.w;
    const struct option table[] = {
        {"mesh", "FILE", "closed surface: .msh .off .stl .obj, sphere:L, box:a,b,c,h", OPTION_TEXT,
         &w->mesh, 0, 0},
        {"problem", "NAME", "rigid (default) or soft", OPTION_TEXT, &w->problem, 0, 0},
        {"eta", "X", "combined field equation (default 0.5); 0: hypersingular alone", OPTION_TEXT,
         &w->eta, 0, 0},
        {"delta", "X", "c dt, a length", OPTION_TEXT, &w->delta, 0, 0},
        {"delta-ratio", "X", "c dt over the mean edge (default 0.5)", OPTION_TEXT, &w->delta_ratio,
         0, 0},
        {"speed", "C", "wave speed (default 1)", OPTION_TEXT, &w->speed, 0, 0},
        {"direction", "X,Y,Z", "of the incident wave (default 0,0,1)", OPTION_TEXT, &w->direction,
         0, 0},
        {"pulse", "SPEC", "gaussian:sigma=S,t0=T or ricker:.. (default: 4 mean edges wide)",
         OPTION_TEXT, &w->pulse, 0, 0},
        {"steps", "N", "time steps (default: until the wave has passed)", OPTION_NUMBER, &w->steps,
         0, 100000000},
        {"ng", "G", "steps of a group (default 16)", OPTION_NUMBER, &w->ng, 1, 32},
        {"blocks", "N", "tasks that the columns are cut into (default: about 100)", OPTION_NUMBER,
         &w->blocks, 1, 1000000},
        {"precision", "NAME", "double (default) or float", OPTION_TEXT, &w->precision, 0, 0},
        {"layout", "NAME", "rows (default), contiguous or full:BRxBC", OPTION_TEXT, &w->layout, 0,
         0},
        {"order", "NAME", "of vertices: hilbert (default), morton or none", OPTION_TEXT, &w->order,
         0, 0},
        {"solver", "NAME", "cg (default), cg:device or mumps", OPTION_TEXT, &w->solver, 0, 0},
        {"quad", "L", "finer quadrature: 4^L parts of each triangle (default 0)", OPTION_NUMBER,
         &w->quad, 0, 6},
        {"probes", "FILE", "points in the air, lines of x y z", OPTION_TEXT, &w->probes, 0, 0},
        {"probe-output", "FILE", "CSV: t, then scattered and total pressure of each", OPTION_TEXT,
         &w->probe_output, 0, 0},
        {"vertices", "LIST", "numbers of the mesh file, from 0", OPTION_TEXT, &w->vertices, 0, 0},
        {"vertex-output", "FILE", "CSV: n, t, then the solution at each of them", OPTION_TEXT,
         &w->vertex_output, 0, 0},
        {"entries", "FILE", "lines of k i j: prints M_k(i,j), and stops", OPTION_TEXT, &w->entries,
         0, 0},
        {"output", "DIR", "the surface as VTU files and surface.pvd", OPTION_TEXT, &w->output, 0,
         0},
        {"every", "M", "steps between surfaces, and between checkpoints (default 100)",
         OPTION_NUMBER, &w->every, 1, 100000000},
        {"frequencies", "LIST", "angular frequencies", OPTION_TEXT, &w->frequencies, 0, 0},
        {"spectrum", "FILE", "CSV: spectra at all vertices", OPTION_TEXT, &w->spectrum, 0, 0},
        {"far-field", "FILE", "CSV: directivity", OPTION_TEXT, &w->far_field, 0, 0},
        {"matrices", "FILE", "keep the matrices there, or take them from there", OPTION_TEXT,
         &w->matrices, 0, 0},
        {"memory", "SIZE", "that matrices may take, as 2GB or 512MiB (default: what there is)",
         OPTION_TEXT, &w->memory, 0, 0},
        {"scratch", "DIR", "on a disk, for what they have no room for (default $TMPDIR, /var/tmp)",
         OPTION_TEXT, &w->scratch, 0, 0},
        {"checkpoint", "FILE", "keep the state there", OPTION_TEXT, &w->checkpoint, 0, 0},
        {"restart", "FILE", "go on from a checkpoint", OPTION_TEXT, &w->restart, 0, 0},
        {"units", "LIST", "compute units, as 2:CPU:4 (default auto: one of all cores)", OPTION_TEXT,
         &w->units, 0, 0},
        {"oversubscribe", NULL, "allow more cores than there are (nothing is bound then)",
         OPTION_FLAG, &w->oversubscribe, 0, 0},
        {"devices", "SPEC",
         "where GPU units come from: cuda, opencl, emulated, with options; + between several "
         "(default: the best)",
         OPTION_TEXT, &w->devices, 0, 0},
        {"schedule", "SPEC", "interval (default), static, dynamic, guided:time, ..", OPTION_TEXT,
         &w->schedule, 0, 0},
        {"json", "FILE", "the record; - is standard output", OPTION_TEXT, &w->json, 0, 0},
        {"trace", "FILE", "what each unit did when, for Perfetto", OPTION_TEXT, &w->trace, 0, 0},
        {"quiet", NULL, "no output but errors and warnings", OPTION_FLAG, &w->quiet, 0, 0},
        {"verbose", NULL, "nothing more in this workload", OPTION_FLAG, &w->verbose, 0, 0},
        {0},
    };
    int words;
    int code = options_read("run", table, argc, argv, &w->app, 1, &words);
    if (code < 0) {
        printf("usage: evener run td-bem --mesh FILE [options]\n\nAcoustic scattering of a plane "
               "pulse by a closed body, in the time domain.\n\n");
        options_help(table);
        printf("\nExit status: 0 done, 2 bad input, 3 failed while running, 130 interrupted.\n");
        return EXIT_DONE;
    }
    if (!code) code = read_words(&j);
    if (!code) code = w->entries ? print_entries(&j) : run_job(&j);
    evn_schedule_close(j.schedule);
    evn_units_close(j.units);
    evn_machine_close(j.machine);
    tdbem_close(j.problem);
    free(j.speed);
    free(j.point);
    free(j.vertex);
    free(j.frequency);
    return code;
}
