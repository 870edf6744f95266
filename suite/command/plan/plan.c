/* evener plan: a schedule's assignments of a workload, iteration by iteration, in a virtual clock:
 * on the units of this node, on a machine described in a file, or with the times of a run. */
#include "cli/command.h"
#include "common/cli/files.h"
#include "common/cli/output.h"
#include "common/run/record.h"
#include "plan/planning.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BURSTS_OF = 16384 }; /* tasks, above which a record has no bursts */

/* Seconds of all tasks one after another on one kind. */
static double alone(const evn_model *m, int kind) {
    double sum = 0;
    for (int t = 0; t < m->tasks; t++)
        sum += m->seconds[(size_t)kind * (size_t)m->tasks + (size_t)t];
    return sum;
}

static cJSON *record_weights(const evn_problem *tasks) {
    if (tasks->weight) return record_numbers(tasks->weight, tasks->tasks);
    cJSON *array = cJSON_CreateArray();
    for (int t = 0; t < tasks->tasks; t++) cJSON_AddItemToArray(array, cJSON_CreateNumber(1));
    return array;
}

/* One iteration as an object of the record. */
static cJSON *iteration(const struct planning *p, const evn_simulation *clock, const evn_step *step,
                        const double *load) {
    const evn_problem *tasks = &p->problem;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddItemToObject(o, "owner",
                          cJSON_CreateIntArray(evn_simulation_last(clock).owner, tasks->tasks));
    cJSON_AddItemToObject(o, "load", record_numbers(load, tasks->units));
    record_number(o, "imbalance", step->imbalance);
    record_number(o, "cut_bytes", step->bytes);
    cJSON_AddNumberToObject(o, "migrations", step->migrations);
    cJSON_AddNumberToObject(o, "messages", (double)step->messages);
    if (!p->timed) return o;
    record_number(o, "compute_s", step->compute_s);
    record_number(o, "migration_s", step->migration_s);
    record_number(o, "communication_s", step->exchange_s);
    record_number(o, "tree_s", step->tree_s);
    record_number(o, "beside_s", step->beside_s);
    record_number(o, "step_s", step->step_s);
    record_number(o, "migrated_bytes", step->migrated_bytes);
    cJSON_AddItemToObject(o, "unit_compute_s",
                          record_numbers(evn_simulation_last(clock).compute, tasks->units));
    cJSON_AddItemToObject(o, "unit_communication_s",
                          record_numbers(evn_simulation_last(clock).exchange, tasks->units));
    return o;
}

static void print_heading(const struct planning *p, FILE *out) {
    const struct job *j = &p->job;
    fprintf(out, "%s%s%s: %d %ss on %s under %s", j->is->name, j->shape.class_ ? " class " : ": ",
            j->shape.key, j->tasks.tasks, j->is->noun, evn_units_text(j->units),
            evn_schedule_text(j->schedule));
    if (p->nodes.count) fprintf(out, ", %d nodes", p->nodes.count);
    if (p->machine) fprintf(out, "\n%s", machine_file_name(p->machine));
    static const char *const exchange_phrase[] = {"parallel", "sequence", "sequence, whole zones"};
    fprintf(out, "\n%s%s%s\n\n%9s  %9s  %9s  %12s  %8s  %10s", p->basis,
            p->timed ? ", exchange in " : "",
            !p->timed ? "" : exchange_phrase[p->model.model.sequential], "iteration", "imbalance",
            "speedup", "cut bytes", "messages", "migrations");
    if (p->timed) fprintf(out, "  %11s  %11s  %11s", "compute ms", "exchange ms", "step ms");
    fputc('\n', out);
}

/* The last iteration by unit. */
static void print_units(const struct planning *p, const evn_simulation *clock, const double *load,
                        FILE *out) {
    const int units = p->problem.units;
    const evn_last_step last = evn_simulation_last(clock);
    fprintf(out, "\n  unit  kind       tasks  %12s  %11s  %11s\n",
            p->problem.weight == p->weight ? "load s" : "load", "compute ms", "exchange ms");
    for (int u = 0; u < units; u++) {
        char kind[24];
        int tasks = 0;
        for (int t = 0; t < p->problem.tasks; t++) tasks += last.owner[t] == u;
        fprintf(out, "  %4d  %-9s  %5d  %12.6g  %11.4f  %11.4f\n", u,
                unit_kind_text(p->model.unit_kind[p->model.kind[u]], kind), tasks, load[u],
                1e3 * last.compute[u], 1e3 * last.exchange[u]);
    }
}

/* The cores that binpack's thread reassignment moves, where all units are CPUs; *record receives
 * them for the record. */
static int reassign(const struct planning *p, const double *load, FILE *out, cJSON **record) {
    const struct job *w = &p->job;
    const int units = w->tasks.units, cores = job_cores(w);
    const char *schedule = evn_schedule_text(w->schedule);
    if (strncmp(schedule, "binpack", 7) != 0 || !strcmp(schedule, "binpack:time") ||
        evn_units_about(w->units).gpus || cores == units)
        return 0;
    int *share = malloc(sizeof *share * (size_t)units);
    if (!share) return 0;
    evn_status status = evn_schedule_reassign(w->schedule, cores, share);
    if (status) {
        free(share);
        return give_up(status);
    }
    double total = 0, before = 0, after = 0;
    if (out)
        fprintf(out, "\nthread reassignment, %d cores:\n  unit  %12s  %6s  %5s  %12s  %12s\n",
                cores, "load", "before", "after", "load a core", "then");
    for (int u = 0; u < units; u++) {
        const int own = evn_unit_cores(evn_units_get(w->units, u));
        total += load[u];
        before = fmax(before, load[u] / own);
        after = fmax(after, load[u] / share[u]);
        if (out)
            fprintf(out, "  %4d  %12.6g  %6d  %5d  %12.6g  %12.6g\n", u, load[u], own, share[u],
                    load[u] / own, load[u] / share[u]);
    }
    if (out) fprintf(out, "  predicted speedup %.2f, before %.2f\n", total / after, total / before);
    *record = cJSON_CreateIntArray(share, units);
    free(share);
    return 0;
}

/* The record without its iterations. */
static cJSON *record_plan(const struct planning *p, const struct request *request) {
    const evn_problem *tasks = &p->problem;
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddStringToObject(root, "app", p->job.is->name);
    cJSON_AddStringToObject(root, "noun", p->job.is->noun);
    if (p->job.shape.class_)
        cJSON_AddStringToObject(root, "class", p->job.shape.class_);
    else
        cJSON_AddNullToObject(root, "class");
    cJSON_AddStringToObject(root, "problem", p->job.shape.key);
    cJSON_AddStringToObject(root, "units", evn_units_text(p->job.units));
    cJSON_AddStringToObject(root, "schedule", evn_schedule_text(p->job.schedule));
    if (p->nodes.count) cJSON_AddNumberToObject(root, "nodes", p->nodes.count);
    if (p->machine) cJSON_AddStringToObject(root, "described", machine_file_name(p->machine));
    cJSON_AddStringToObject(root, "basis", p->basis);
    if (p->timed)
        cJSON_AddStringToObject(root, "exchange", exchange_name[p->model.model.sequential]);
    if (request->times) record_number(root, "measured_step_s", p->times.step_s);
    if (request->times) record_number(root, "measured_median_s", p->times.median_s);
    cJSON_AddNumberToObject(root, "tasks", tasks->tasks);
    cJSON_AddItemToObject(root, "weight", record_weights(tasks));
    cJSON_AddItemToObject(root, "speed", record_numbers(tasks->speed, tasks->units));
    record_number(root, "bandwidth", tasks->bandwidth);
    return root;
}

/* The part of the plan's record that stands behind its iterations. */
static cJSON *record_end(struct planning *p, const char *explanation, cJSON *cores) {
    cJSON *root = cJSON_CreateObject();
    if (p->job.is->lay) p->job.is->lay(p->job.state, root);
    if (p->bursts) cJSON_AddItemToObject(root, "bursts", p->bursts);
    p->bursts = NULL;
    cJSON_AddStringToObject(root, "explanation", explanation ? explanation : "");
    if (cores) cJSON_AddItemToObject(root, "cores", cores);
    cJSON_AddStringToObject(root, "command", command_line);
    return root;
}

/* One unit with all tasks, the fastest. */
static double fastest_alone(const struct planning *p) {
    double fastest = INFINITY;
    for (int u = 0; u < p->problem.units; u++)
        fastest =
            fmin(fastest, alone(&p->model.model, p->timed ? p->model.kind[u] : 0) * p->slower[u]);
    return fastest;
}

static void print_iteration(const struct planning *p, long i, const evn_step *step, double fastest,
                            FILE *out) {
    const double computed = step->compute_s - step->migration_s;
    fprintf(out, "%9ld  %9s  %9.3f  %12.0f  %8ld  %10d", i, imbalance_text(step->imbalance).text,
            computed > 0 ? fastest / computed : 1, step->bytes, step->messages, step->migrations);
    if (p->timed)
        fprintf(out, "  %11.4f  %11.4f  %11.4f", 1e3 * step->compute_s, 1e3 * step->exchange_s,
                1e3 * step->step_s);
    fputc('\n', out);
}

/* A burst of the last iteration, as records of runs have them. */
static void add_burst(void *arg, const evn_model_burst *b) {
    static const char *const kind[] = {"compute", "migration", "exchange", "task_copy"};
    struct planning *p = arg;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "kind", kind[b->kind]);
    cJSON_AddNumberToObject(o, "unit", b->unit);
    cJSON_AddNumberToObject(o, "task", b->task < 0 ? 0 : b->task);
    cJSON_AddNumberToObject(o, "count", b->task < 0 ? p->problem.tasks : 1);
    cJSON_AddNumberToObject(o, "step", p->steps);
    record_number(o, "begin", b->begin);
    record_number(o, "end", b->end);
    cJSON_AddItemToArray(p->bursts, o);
}

/* All iterations, of which nothing is kept: a line of the page and an object of the record each
 * (NULL: not wanted), and the last one's loads in `load`. */
static evn_status iterate(struct planning *p, const struct request *request, evn_simulation *clock,
                          double *load, FILE *out, FILE *record) {
    const double fastest = fastest_alone(p);
    evn_status status = EVN_OK;
    evn_step step = {0};
    for (long i = 1; !status && i <= request->iterations; i++) {
        if (i - 1 == p->slow.step && p->slow.unit >= 0) p->slower[p->slow.unit] *= p->slow.factor;
        if (i == request->iterations && p->bursts) evn_simulation_watch(clock, add_burst, p);
        status = evn_simulation_step(clock, p->job.schedule, &step);
        if (status) break;
        evn_problem_imbalance(&p->problem, evn_simulation_last(clock).owner, load);
        if (out) print_iteration(p, i, &step, fastest, out);
        if (record && record_list_add(record, iteration(p, clock, &step, load), i - 1))
            status = evn_fail(EVN_SYSTEM, "the record could not be written");
        if (out && ferror(out)) break; /* nobody reads on; main() says so */
    }
    return status;
}

/* Prints the measured times of a step; its parts only where the file has them. */
static void print_measured(const struct times_file *t, FILE *out) {
    if (!isfinite(1e3 * t->step_s)) return;
    fprintf(out, "\nmeasured in the record: %.4f ms a step", 1e3 * t->step_s);
    const double compute = 1e3 * t->compute_s, exchange = 1e3 * t->communication_s;
    if (isfinite(compute) && isfinite(exchange))
        fprintf(out, ", %.4f compute and %.4f exchange", compute, exchange);
    if (isfinite(1e3 * t->median_s)) fprintf(out, "; median %.4f", 1e3 * t->median_s);
    fputc('\n', out);
    if (*t->guess) fprintf(out, "%s\n", t->guess);
    if (t->unknown) fprintf(out, "%s\n", t->unknown);
}

/* Prints the part of the page behind the iterations. */
static void print_end(const struct planning *p, const struct request *request,
                      const evn_simulation *clock, const double *load, const char *explanation,
                      FILE *out) {
    const struct job *job = &p->job;
    if (p->timed) print_units(p, clock, load, out);
    if (request->times) print_measured(&p->times, out);
    if (explanation) fprintf(out, "\n%s", explanation);
    if (p->problem.units > 1 && job->is->draw)
        job->is->draw(job->state, evn_simulation_last(clock).owner, p->problem.units, out);
    if (!request->verbose) return;
    char *text = evn_schedule_export(job->schedule);
    if (text) fprintf(out, "\nplan: %s\n", text);
    free(text);
}

/* The owners of the last iteration, a line a task. */
static int write_assignment(const struct planning *p, const evn_simulation *clock,
                            evn_output *out) {
    if (!out) return 0;
    const int *owner = evn_simulation_last(clock).owner;
    for (int t = 0; t < p->problem.tasks; t++) fprintf(evn_output_stream(out), "%d\n", owner[t]);
    return output_commit(out, NULL);
}

static int plan(struct planning *p, const struct request *request, evn_output *record,
                evn_output *assignment) {
    const int units = p->problem.units;
    double *load = malloc((size_t)units * sizeof *load);
    evn_simulation *clock = NULL;
    cJSON *cores = NULL;
    evn_status status = EVN_OK;
    FILE *out = request->quiet ? NULL : files_page();
    FILE *list = record ? evn_output_stream(record) : NULL;
    if (!load) status = evn_fail(EVN_MEMORY, "not enough memory for %d units", units);
    if (!status) status = evn_simulation_open(&clock, &p->model.model);
    if (!status && out) print_heading(p, out);
    if (list && p->timed && p->problem.tasks <= BURSTS_OF) p->bursts = cJSON_CreateArray();
    p->steps = request->iterations - 1;
    if (!status && list && record_list_begin(list, record_plan(p, request), "iterations"))
        status = evn_fail(EVN_SYSTEM, "the record could not be written");
    if (!status) status = iterate(p, request, clock, load, out, list);
    char *explanation = status ? NULL : evn_schedule_explain(p->job.schedule);
    if (!status && out) print_end(p, request, clock, load, explanation, out);
    int code = status ? give_up(status) : reassign(p, load, out, &cores);
    if (!code && list) {
        if (record_list_end(list, record_end(p, explanation, cores)) || output_commit(record, NULL))
            code = EXIT_FAILED;
        cores = NULL;
    }
    if (!code) code = write_assignment(p, clock, assignment);
    cJSON_Delete(cores);
    cJSON_Delete(p->bursts);
    free(explanation);
    free(load);
    evn_simulation_close(clock);
    return code;
}

#define AT(field) offsetof(struct request, field)
static const struct option table[] = {
    {"units", "LIST",
     "compute units, as 4:CPU:4,2:GPU:1, or nodes of them, as 64*1:CPU:16; they need not be there "
     "(default auto)",
     OPTION_TEXT, AT(words.units), 0, 0},
    {"speeds", "LIST", "speed of each unit, as 1,1,5 (default: its cores by their kind)",
     OPTION_TEXT, AT(words.speeds), 0, 0},
    {"machine", "FILE", "machine described in FILE: units, times of tasks, links", OPTION_INPUT,
     AT(machine), 0, 0},
    {"times", "FILE", "record of a run, whose times of tasks replace sizes", OPTION_INPUT,
     AT(times), 0, 0},
    {"exchange", "HOW",
     "parallel (default); sequential, face after face; zones, whole zones there and back",
     OPTION_TEXT, AT(exchange), 0, 0},
    {"overlap", NULL, "compute tasks without messages from other nodes while messages travel",
     OPTION_FLAG, AT(overlap), 0, 0},
    {"noise", "PERCENT", "by which times of tasks vary from step to step (default 0)",
     OPTION_NUMBER, AT(noise), 0, 99},
    {"slow", "U:F@N", "unit U takes F times as long from step N on; the first is 0", OPTION_TEXT,
     AT(slow), 0, 0},
    {"schedule", "SPEC",
     "auto (default), map, guided:time, static, dynamic:chunk=2, ..; evener info lists all",
     OPTION_TEXT, AT(words.schedule), 0, 0},
    {"plan", "FILE", "owners of the first instance, from a record or an exported plan",
     OPTION_INPUT, AT(words.plan), 0, 0},
    {"graph", "FILE", "tasks from a graph in the format of METIS or Chaco, instead of APP",
     OPTION_INPUT, AT(graph), 0, 0},
    {"loop-name", "NAME",
     "of a record with several loops: name or number of the planned one (default: the longest)",
     OPTION_TEXT, AT(loop), 0, 0},
    {"assignment", "FILE", "the owners of the last instance, a line a task, as METIS writes them",
     OPTION_OUTPUT, AT(assignment), 0, 0},
    {"iterations", "N", "instances of the loop to plan (default 4)", OPTION_NUMBER, AT(iterations),
     1, 1000000},
    {"json", "FILE", "the record; - is standard output", OPTION_OUTPUT, AT(json), 0, 0},
    {"quiet", NULL, "no table", OPTION_FLAG, AT(quiet), 0, 0},
    {"verbose", NULL, "the plan as text, too", OPTION_FLAG, AT(verbose), 0, 0},
    {0},
};
#undef AT

static const struct option_rule rules[] = {
    {"speeds", OPTION_EXCLUDES, "machine times",
     "both say how fast units are; leave one of them out"},
    {"graph", OPTION_EXCLUDES, "times", "a graph has not run"},
    {"overlap", OPTION_NEEDS, "machine", "whose nodes send messages"},
    {"exchange=sequential", OPTION_EXCLUDES, "overlap", "in sequence nothing goes side by side"},
    {"exchange=zones", OPTION_EXCLUDES, "overlap", "in sequence nothing goes side by side"},
    {"quiet", OPTION_EXCLUDES, "verbose", "one asks for less, the other for more"},
    {0},
};

static int help(const struct workload *is) {
    char usage[512];
    snprintf(
        usage, sizeof usage,
        "usage: evener plan %s [options]\n"
        "\n"
        "A schedule's assignments of a workload's tasks, without computing. Each iteration\n"
        "is one instance of the loop in a virtual clock: a task takes its weight over the speed\n"
        "of its unit, or the time given by --machine or --times. APP may be the record of any\n"
        "program, EVENER_RECORD=FILE, whose tasks then take their measured times.\n",
        is ? is->name : "APP");
    job_help("plan", usage, table, is);
    return EXIT_DONE;
}

/* Whether the word names a file rather than a workload. */
static int is_file(const char *word) {
    struct stat there;
    return !workload_find(word) &&
           (strpbrk(word, "./") || (!stat(word, &there) && S_ISREG(there.st_mode)));
}

/* The workload, a record or a graph that the arguments name, as job_find(); *path: of the record.
 */
static const struct workload *find(int argc, char **argv, const char **path, int *code) {
    const struct option_set sets[] = {{table, NULL, NULL}, {0}};
    int graph = 0;
    *path = NULL;
    for (int i = 1; i < argc; i++)
        graph |= !strcmp(argv[i], "--graph") || !strncmp(argv[i], "--graph=", 8);
    if (graph && !options_words(sets, argc, argv, path, 1)) return &foreign_graph;
    if (options_words(sets, argc, argv, path, 1) && is_file(*path)) return &foreign_record;
    return job_find(table, argc, argv, code);
}

/* Combinations that depend on what is planned. */
static int check_request(const struct planning *p, const struct request *r, const char *record) {
    const char *why = NULL;
    if (r->exchange && !r->machine && !r->times && !record)
        why =
            "--exchange also needs --machine FILE or --times FILE, without which exchange is free";
    else if (record && r->times)
        why = "--times and a record: both say how long tasks take; leave one of them out";
    else if (record && r->words.speeds)
        why = "--speeds and a record: both say how fast units are; leave one of them out";
    else if (r->loop && !record)
        why = "--loop-name needs the record of a program, whose loop it is";
    else if (r->graph && (record || p->job.is != &p->foreign))
        why = "--graph and a workload: both say what the tasks are; leave one of them out";
    if (why) complain("%s", why);
    return why ? EXIT_USAGE : 0;
}

int command_plan(int argc, char **argv) {
    struct request request = {.words = {.units = "auto", .steps = -1}, .iterations = 4};
    int code;
    const char *path;
    const struct workload *is = find(argc, argv, &path, &code);
    if (!is) return code < 0 ? help(NULL) : code;
    const int is_record = is == &foreign_record, foreign = is_record || is == &foreign_graph;
    struct planning p = {.slow = {.unit = -1}};
    evn_output *record = NULL, *assignment = NULL;
    if (foreign) p.foreign = *is;
    code = job_begin(&p.job, foreign ? &p.foreign : is);
    if (!code)
        code = job_read(&p.job, "plan", (struct option_set){table, &request, rules}, argc, argv);
    if (code < 0) {
        code = help(foreign ? NULL : is);
    } else if (!code) {
        code = check_request(&p, &request, is_record ? path : NULL);
        if (foreign) {
            struct foreign *f = p.job.state;
            f->path = is_record ? path : request.graph;
            f->loop = request.loop;
        }
        if (is_record) request.times = path;
        if (!code) code = planning_open(&p, &request);
        if (!code) code = output_open(&record, request.json);
        if (!code) code = output_open(&assignment, request.assignment);
        if (!code) code = plan(&p, &request, record, assignment);
    }
    evn_output_close(assignment);
    evn_output_close(record);
    planning_close(&p);
    return code;
}
