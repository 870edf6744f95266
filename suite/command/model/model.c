/* evener model: predicted time of a step on given numbers of cores as processes by threads, the
 * best of these, and measurements on this node. */
#include "cli/command.h"
#include "common/cli/files.h"
#include "common/cli/output.h"
#include "common/run/record.h"
#include "model/doubts.h"
#include "model/in_time.h"
#include "model/rows.h"
#include "report/report.h"
#include <evener/number.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CORES_MAX = 1 << 20 };

struct request {
    const char *cores, *machine, *alpha, *json, *report;
    long node, steps;
    int calibrate, measure, quiet;
};

/* State of the command once all is read and measured. */
struct modelling {
    struct job job;
    struct machine_file *machine; /* NULL: none described */
    struct figures figures;
    struct rows rows;
    int node;
};

/* ---- arguments ---- */

static int read_alpha(const struct request *request, struct figures *f) {
    const evn_bounds bounds = {0, 1000, 0};
    if (!request->alpha) return 0;
    if (evn_read_real(request->alpha, bounds, &f->alpha))
        return complain("--alpha %s: %s", request->alpha, evn_message());
    f->points = 0;
    return 0;
}

/* --cores, by default as many as there are here, into rows. */
static int add_rows(struct modelling *m, const struct request *request) {
    struct option_list list;
    char here[24];
    snprintf(here, sizeof here, "%d", evn_machine_cores(m->job.machine));
    int code = options_list(&list, "cores", request->cores ? request->cores : here);
    for (int i = 0; !code && i < list.count; i++) {
        long cores;
        if (evn_read_whole(list.word[i], 1, CORES_MAX, &cores))
            return complain("--cores %s: %s: %s", request->cores, list.word[i], evn_message());
        code = rows_add(&m->rows, &m->job, &m->figures, (int)cores, m->node);
    }
    return code;
}

/* ---- figures ---- */

static int open_figures(struct modelling *m, const struct request *request) {
    int code = figures_plain(&m->figures, &m->job);
    if (!code && request->machine) code = machine_file_open(&m->machine, request->machine);
    if (code) return code;
    if (request->calibrate) code = figures_measure(&m->job, (int)request->steps, request->quiet);
    if (code) return code;
    if (m->machine)
        code = figures_described(&m->figures, &m->job, m->machine);
    else if (figures_kept(&m->figures, &m->job) && request->measure) {
        return complain(
            "--measure: nothing is known here of what a %s of %s takes; add --calibrate",
            m->job.is->noun, m->job.is->name);
    }
    if (!code) code = read_alpha(request, &m->figures);
    m->node = request->node > 0 ? (int)request->node : m->figures.node;
    return code;
}

/* ---- the page ---- */

static void print_way(const char *where, evn_way way, FILE *out) {
    fprintf(out, "%s %.2f us", where, 1e6 * way.latency);
    if (way.per_byte > 0) fprintf(out, " and %.3g GB/s", 1e-9 / way.per_byte);
}

static void print_heading(const struct modelling *m, FILE *out) {
    const struct job *j = &m->job;
    const struct figures *f = &m->figures;
    fprintf(out, "%s class %s: %d %ss on processes x threads\n", j->is->name, j->shape.key,
            j->tasks.tasks, j->is->noun);
    if (m->machine) fprintf(out, "%s\n", machine_file_name(m->machine));
    fprintf(out, "%s; alpha %.3f", f->basis, f->alpha);
    if (f->points)
        fprintf(out, " (%d run%s, residual %.3f)", f->points, f->points == 1 ? "" : "s",
                f->residual);
    else
        fprintf(out, " (given)");
    if (m->node) fprintf(out, "; nodes of %d cores", m->node);
    if (f->timed) {
        print_way("\nmessages on a node", f->near, out);
        if (m->node) print_way(", between two", f->far, out);
        if (f->copy_per_byte > 0) fprintf(out, "; copies %.3g GB/s", 1e-9 / f->copy_per_byte);
    }
    fprintf(out, "\n\n%6s  %11s  %9s  %8s   %8s   %12s   %12s   %12s   %12s   %6s  %8s\n", "cores",
            "Np x Nt", "threads", "eq. (1)", "speedup", "predicted ms", "with map ms",
            "measured ms", "as units ms", "ratio", "exchange");
}

/* Milliseconds with a mark, where they are known. */
static void print_time(double seconds, char mark, FILE *out) {
    if (isnan(seconds))
        fprintf(out, "  %12s ", "-");
    else
        fprintf(out, "  %12.4f%c", 1e3 * seconds, mark);
}

static void print_row(const struct row *r, const struct figures *f, double alone, FILE *out) {
    const double is = row_measured(r), step = r->with[0].step_s;
    char shape[32], threads[32];
    snprintf(shape, sizeof shape, "%d x %d", r->processes, r->threads);
    snprintf(threads, sizeof threads, r->least == r->most ? "%d" : "%d to %d", r->least, r->most);
    fprintf(out, "%6d  %11s  %9s  %8.2f%c  %8.2f%c", r->cores, shape, threads, r->eq1,
            r->best_eq1 ? '*' : ' ', alone / step, r->best ? '*' : ' ');
    print_time(f->timed ? step : NAN, r->best ? '*' : ' ', out);
    print_time(f->timed ? r->with[1].step_s : NAN, ' ', out);
    print_time(r->measured[0], r->best_measured ? '+' : ' ', out);
    print_time(r->measured[1], isnan(r->measured[0]) && r->best_measured ? '+' : ' ', out);
    if (isnan(is))
        fprintf(out, "  %6s", "-");
    else
        fprintf(out, "  %6.3f", step / is);
    fprintf(out, "  %6.1f %%\n", 100 * (1 - r->with[0].compute_s / step));
}

/* All tasks one after another on one core. */
static double alone(const struct modelling *m) {
    double sum = 0;
    for (int t = 0; t < m->job.tasks.tasks; t++) sum += m->figures.seconds[t];
    return sum;
}

static void find_doubts(const struct modelling *m, struct doubts *doubts) {
    doubts_find(doubts, &m->job, &m->figures, &m->rows, m->node, m->machine != NULL);
}

static void print_page(const struct modelling *m, FILE *out) {
    print_heading(m, out);
    for (int i = 0; i < m->rows.count; i++) print_row(&m->rows.row[i], &m->figures, alone(m), out);
    fprintf(out, "\n* best predicted, + best measured. eq. (1): the published speedup; speedup: "
                 "over one core;\npredicted: with binpack; ratio: predicted over measured; "
                 "exchange: its share of the predicted\n");
    double largest, middle;
    if (rows_errors(&m->rows, &largest, &middle)) {
        const double choice = rows_choice(&m->rows);
        fprintf(out,
                "predicted against measured: off by at most %.1f %%, in the middle %.1f %%; the "
                "best predicted takes %.3f times the best measured, which is %s 5 %%\n",
                100 * largest, 100 * middle, choice, choice <= 1.05 ? "within" : "NOT within");
    }
    struct doubts doubts;
    find_doubts(m, &doubts);
    if (doubts.count) fprintf(out, "\nwhat the model takes for granted, and is not so:\n");
    for (int i = 0; i < doubts.count; i++) fprintf(out, "- %s\n", doubts.text[i]);
}

/* ---- the record ---- */

static cJSON *record_row(const struct row *r, int timed, double alone) {
    static const char *const names[GROUPINGS] = {"binpack", "map"};
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "cores", r->cores);
    cJSON_AddNumberToObject(o, "processes", r->processes);
    cJSON_AddNumberToObject(o, "threads", r->threads);
    cJSON_AddNumberToObject(o, "threads_least", r->least);
    cJSON_AddNumberToObject(o, "threads_most", r->most);
    record_number(o, "speedup_eq1", r->eq1);
    for (int g = 0; g < GROUPINGS; g++) {
        cJSON *p = cJSON_AddObjectToObject(o, names[g]);
        /* without seconds: in units of weight */
        record_number(p, timed ? "step_s" : "step", r->with[g].step_s);
        record_number(p, timed ? "compute_s" : "compute", r->with[g].compute_s);
        record_number(p, "speedup", alone / r->with[g].step_s);
        if (!timed) continue;
        record_number(p, "exchange_s", r->with[g].exchange_s);
        record_number(p, "tree_s", r->with[g].tree_s);
    }
    if (!isnan(r->measured[0])) record_number(o, "processes_s", r->measured[0]);
    if (!isnan(r->measured[1])) record_number(o, "units_s", r->measured[1]);
    cJSON_AddBoolToObject(o, "best", r->best);
    if (isnan(row_measured(r))) return o;
    cJSON_AddBoolToObject(o, "best_measured", r->best_measured);
    record_number(o, "speedup_measured", alone / row_measured(r));
    return o;
}

static cJSON *record_model(const struct modelling *m) {
    const struct figures *f = &m->figures;
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddStringToObject(root, "app", m->job.is->name);
    cJSON_AddStringToObject(root, "noun", m->job.is->noun);
    cJSON_AddStringToObject(root, "class", m->job.shape.key);
    if (m->machine) cJSON_AddStringToObject(root, "described", machine_file_name(m->machine));
    cJSON_AddStringToObject(root, "basis", f->basis);
    cJSON_AddNumberToObject(root, "tasks", m->job.tasks.tasks);
    if (m->node) cJSON_AddNumberToObject(root, "node", m->node);
    record_number(root, "alpha", f->alpha);
    if (f->points) {
        record_number(root, "residual", f->residual);
        cJSON_AddNumberToObject(root, "points", f->points);
    }
    record_number(root, f->timed ? "alone_s" : "alone", alone(m));
    cJSON *list = cJSON_AddArrayToObject(root, "model");
    for (int i = 0; i < m->rows.count; i++)
        cJSON_AddItemToArray(list, record_row(&m->rows.row[i], f->timed, alone(m)));
    double largest, middle;
    if (rows_errors(&m->rows, &largest, &middle)) {
        record_number(root, "largest_error", largest);
        record_number(root, "median_error", middle);
        record_number(root, "choice", rows_choice(&m->rows));
    }
    struct doubts doubts;
    find_doubts(m, &doubts);
    cJSON *said = cJSON_AddArrayToObject(root, "doubts");
    for (int i = 0; i < doubts.count; i++)
        cJSON_AddItemToArray(said, cJSON_CreateString(doubts.text[i]));
    cJSON_AddStringToObject(root, "command", command_line);
    return root;
}

/* ---- the command ---- */

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"cores", "LIST", "numbers of cores, as 8,16,32 (default: as many as there are here)",
     OPTION_TEXT(cores)},
    {"node", "N", "cores of a node, within which threads move (default: all are on one)",
     OPTION_NUMBER(node, 1, CORES_MAX)},
    {"machine", "FILE", "machine described in FILE instead of this one: cores, nodes, networks",
     OPTION_INPUT(machine)},
    {"alpha", "X", "cost of an additional thread of a team (default: as calibrated, else 0.030)",
     OPTION_TEXT(alpha)},
    {"calibrate", NULL, "measure costs, alpha and messages of this node first, and keep them",
     OPTION_FLAG(calibrate)},
    {"measure", NULL, "also run the cases that fit this node", OPTION_FLAG(measure)},
    {"steps", "N", "of each run that is measured (default 10)", OPTION_NUMBER(steps, 1, 1000000)},
    {"json", "FILE", "the record; - is standard output", OPTION_OUTPUT(json)},
    {"report", "FILE", "a page with speedups by cores and by threads a process",
     OPTION_OUTPUT(report)},
    {"quiet", NULL, "no table", OPTION_FLAG(quiet)},
    {0},
};

static const struct option_rule rules[] = {
    {"machine", OPTION_EXCLUDES, "calibrate measure", "which are about this node"},
    {"steps", OPTION_NEEDS, "calibrate measure", "whose runs these are"},
    {0},
};

static int help(const struct workload *is) {
    char usage[640];
    snprintf(
        usage, sizeof usage,
        "usage: evener model %s [options]\n"
        "\n"
        "Predicted time of a step on given numbers of cores, as processes by threads, and the\n"
        "best of these: the model of NPB-MZ's authors (IPDPS 2004), and a finer one with each\n"
        "process's tasks, threads and messages. Only --calibrate and --measure compute.\n",
        is ? is->name : "APP");
    job_help("model", usage, table, is);
    return EXIT_DONE;
}

static int check(const struct workload *is) {
    if (is->teams) return 0;
    char known[256] = "";
    const struct workload *w;
    for (int i = 0; (w = workload_at(i)); i++)
        if (w->teams)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                     *known ? ", " : "", w->name);
    return complain("model %s: there is no model of how its teams work; expected one of %s",
                    is->name, known);
}

static int model(struct modelling *m, const struct request *request, evn_output *record,
                 evn_output *page) {
    int code = open_figures(m, request);
    if (!code) code = add_rows(m, request);
    if (!code && request->measure)
        code = rows_measure(&m->rows, &m->job, (int)request->steps, request->quiet);
    if (code) return code;
    rows_rate(&m->rows);
    if (!request->quiet) print_page(m, files_page());
    if (!record && !page) return 0;
    char *text = record_text(record_model(m));
    code = !text || (record && output_commit(record, text)) ? EXIT_FAILED : 0;
    if (!code && page) code = report_made(page, "evener model", text);
    free(text);
    return code;
}

int command_model(int argc, char **argv) {
    struct request request = {.steps = 10};
    int code;
    const struct workload *is = job_find(table, argc, argv, &code);
    if (!is) return code < 0 ? help(NULL) : code;
    if (is->model) return is->model(argc, argv);
    if (is->in_time) return in_time_model(is, argc, argv);
    struct modelling m = {.node = 0};
    evn_output *record = NULL, *page = NULL;
    code = job_begin(&m.job, is);
    if (!code)
        code = job_read(&m.job, "model", (struct option_set){table, &request, rules}, argc, argv);
    if (code < 0) {
        code = help(is);
    } else if (!code) {
        code = check(is);
        if (!code) code = job_check(&m.job);
        if (!code) code = job_open(&m.job, request.quiet);
        if (!code) code = output_open(&record, request.json);
        if (!code) code = output_open(&page, request.report);
        if (!code) code = model(&m, &request, record, page);
    }
    evn_output_close(page);
    evn_output_close(record);
    rows_close(&m.rows);
    figures_close(&m.figures);
    machine_file_close(m.machine);
    job_close(&m.job);
    return code;
}
