/* evener calibrate: the average time of a task on each kind of units, from a few steps of the
 * workload itself: the performance conversion factors of González and Morancho, "Compute units in
 * OpenMP: extensions for heterogeneous parallel programming" (2023), Table 3.
 *
 * One unit of a kind runs all tasks; of each task the median over the steps counts, after two steps
 * that do not. The faces that it exchanges with itself tell what a byte costs within a unit; two
 * units side by side tell what it costs between them. Steps are instances of the loop. What teams
 * cost is measured on units that draw tasks one by one, so that each is done by all of their cores.
 */
#include "cli/command.h"
#include "common/cli/json_file.h"
#include "common/run/median.h"
#include "machine/machine_file.h"
#include "run/calibrate_teams.h"
#include "machine/calibration.h"
#include "run/job.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNCOUNTED = 2, APPS = 32, SAMPLE = 256 };

struct request {
    const char *units, *devices, *output;
    long steps;
    int quiet;
};

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"units", "LIST", "kinds of units, as 1:CPU:1,1:CPU:4 (default: one core, all cores; or auto)",
     OPTION_TEXT(units)},
    {"devices", "SPEC", "where GPU units come from", OPTION_TEXT(devices)},
    {"steps", "N", "steps of which the median counts (default 5)", OPTION_NUMBER(steps, 1, 1000)},
    {"output", "FILE", "write the figures to FILE instead of keeping them for runs",
     OPTION_KEPT(output)},
    {"quiet", NULL, "no table", OPTION_FLAG(quiet)},
    {0},
};

/* ---- measuring ---- */

/* The times of one run, filled by inspect(). */
struct times {
    int tasks, steps;
    double *task; /* median of each task's seconds */
    int failed;
};

static evn_status inspect(const evn_loop *loop, void *arg) {
    struct times *times = arg;
    const int steps = times->steps;
    double *sample = malloc(sizeof *sample * (size_t)times->tasks * (size_t)steps);
    int *count = calloc((size_t)times->tasks, sizeof *count);
    int whole = 0; /* a batch was taken as a whole: the loop has shared its time out */
    times->failed = !sample || !count;
    const int last = evn_schedule_about(evn_loop_schedule(loop)).instance;
    for (int u = 0; !times->failed && u < evn_units_count(evn_loop_about(loop).units); u++)
        for (int i = 0; i < evn_loop_bursts(loop, u); i++) {
            const evn_burst b = evn_loop_burst(loop, u, i);
            if (b.kind != EVN_BURST_COMPUTE || b.instance < last - steps) continue;
            whole |= b.count > 1;
            if (b.task < times->tasks && count[b.task] < steps)
                sample[b.task * steps + count[b.task]++] = b.end - b.begin;
        }
    for (int t = 0; !times->failed && t < times->tasks; t++)
        times->task[t] =
            whole || !count[t] ? evn_loop_seconds(loop)[t] : median(sample + t * steps, count[t]);
    free_all(count, sample);
    return EVN_OK; /* `failed` says what is wrong */
}

/* Figures of a kind of units. */
struct figures {
    int tasks;
    char device[128];       /* its name; "" for CPU units */
    char cores[16];         /* which kind of cores, where there are several; "" */
    double task_s;          /* mean over the tasks */
    double weight_per_s;    /* all weight over all times */
    double within, between; /* s a byte of faces */
};

/* Bytes of faces a step that unit u fills: those with both ends on it, and those of others. */
static void faces(const evn_problem *p, const int *owner, int u, double *within, double *between) {
    *within = *between = 0;
    for (int l = 0; l < p->links; l++) {
        const int a = owner[p->link[l].task[0]] == u, b = owner[p->link[l].task[1]] == u;
        if (a && b) *within += 2 * p->link[l].bytes;
        if (a != b) *between += p->link[l].bytes;
    }
}

/* Figures of one run. */
struct measured {
    struct times times;
    double exchange_s;      /* that one unit of them exchanges in a step */
    double within, between; /* bytes of its faces */
    double weight;          /* of all tasks */
    char device[128];       /* its name */
};

/* Runs the job on `list` for some steps, and looks at unit u. m->times.task is to be freed. */
static int measure(struct job *job, const struct request *request, const char *list,
                   const char *schedule, int u, struct measured *m) {
    struct job_words words = {
        .units = list, .devices = request->devices, .schedule = schedule, .steps = -1};
    const int tasks = job->tasks.tasks, instances = (int)request->steps + UNCOUNTED;
    *m = (struct measured){.times = {.steps = (int)request->steps, .tasks = tasks}};
    m->times.task = malloc(sizeof *m->times.task * (size_t)tasks);
    if (!m->times.task) {
        complain("not enough memory for %d tasks", tasks);
        return EXIT_FAILED;
    }
    int code = job_units(job, &words, 0);
    if (!code) code = job_schedule(job, &words);
    if (!code) {
        const char *name = calibration_device(evn_units_get(job->units, u));
        snprintf(m->device, sizeof m->device, "%s", name ? name : "");
        /* a burst for each task of a step and two for each of an exchange, and room for more */
        const struct run_options options = {.steps = instances * job->shape.group,
                                            .inspect = inspect,
                                            .arg = &m->times,
                                            .bursts = 4 * tasks * instances + 16};
        const struct run_result *r = NULL;
        code = job->is->run(job->state, job->units, job->schedule, &options, &r);
        if (!code) {
            m->exchange_s = r->unit[u].stats.exchange_s / instances;
            m->weight = job_weight(job);
            faces(&job->tasks, r->owner, u, &m->within, &m->between);
        }
        if (!code && m->times.failed) {
            complain("not enough memory for the times of %d tasks", tasks);
            code = EXIT_FAILED;
        }
    }
    job_close_units(job);
    return code;
}

/* One kind: alone, then beside a second unit if there is room. */
static int calibrate_kind(struct job *job, const struct request *request, struct unit_kind kind,
                          struct figures *f) {
    char list[64], unit[24];
    const int cores = evn_machine_cores(job->machine);
    struct measured m;
    unit_kind_text(kind, unit);
    snprintf(list, sizeof list, "1:%s", unit);
    int code = measure(job, request, list, "static", 0, &m);
    if (!code) {
        double sum = 0;
        for (int t = 0; t < m.times.tasks; t++) sum += m.times.task[t];
        *f = (struct figures){.tasks = m.times.tasks,
                              .task_s = sum / m.times.tasks,
                              .weight_per_s = m.weight / sum,
                              .within = m.within > 0 ? m.exchange_s / m.within : 0};
        snprintf(f->device, sizeof f->device, "%s", m.device);
    }
    free(m.times.task);
    if (code) return code;
    f->between = f->within;
    if (!job->tasks.links || (kind.gpu ? cores < 2 : 2 * kind.size > cores)) return 0;
    snprintf(list, sizeof list, kind.gpu ? "1:CPU:1,1:%s" : "2:%s", unit);
    code = measure(job, request, list, "static", 1, &m);
    free(m.times.task);
    if (!code && m.between > 0)
        f->between = fmax(0, m.exchange_s - m.within * f->within) / m.between;
    return code;
}

/* ---- entries ---- */

static cJSON *entry(const char *app, const char *key, const char *unit, int steps,
                    const struct figures *f) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "app", app);
    cJSON_AddStringToObject(o, "class", key);
    cJSON_AddStringToObject(o, "unit", unit);
    if (*f->device) cJSON_AddStringToObject(o, "device", f->device);
    if (*f->cores) cJSON_AddStringToObject(o, "cores", f->cores);
    cJSON_AddNumberToObject(o, "tasks", f->tasks);
    cJSON_AddNumberToObject(o, "steps", steps);
    cJSON_AddNumberToObject(o, "task_s", f->task_s);
    cJSON_AddNumberToObject(o, "weight_per_s", f->weight_per_s);
    cJSON_AddNumberToObject(o, "within_s_per_byte", f->within);
    cJSON_AddNumberToObject(o, "between_s_per_byte", f->between);
    return o;
}

static void print_table(const cJSON *entries, FILE *out) {
    const cJSON *o, *other;
    fprintf(out, "%-6s  %5s  %-9s  %6s  %12s  %10s  %14s\n", "app", "class", "unit", "tasks",
            "ms a task", "factor", "M weight/s");
    cJSON_ArrayForEach(o, entries) {
        if (!strcmp(json_text(o, "unit"), CALIBRATION_TOGETHER)) continue;
        /* as the paper has it: how many times as long the slowest kind takes */
        double slowest = 0;
        cJSON_ArrayForEach(other, entries) {
            if (!strcmp(json_text(o, "app"), json_text(other, "app")) &&
                !strcmp(json_text(o, "class"), json_text(other, "class")))
                slowest = fmax(slowest, json_number(other, "task_s"));
        }
        const char *key = json_text(o, "class"), *device = json_text(o, "device");
        const char *cores = json_text(o, "cores");
        char of[40] = "";
        if (cores) snprintf(of, sizeof of, "cores of kind %.16s", cores);
        if (!device) device = of;
        const int short_ = strlen(key) <= 5; /* others have no room but at the end */
        fprintf(out, "%-6s  %5s  %-9s  %6.0f  %12.4f  %10.2f  %14.3f  %s%s%s\n",
                json_text(o, "app"), short_ ? key : "", json_text(o, "unit"),
                json_number(o, "tasks"), 1e3 * json_number(o, "task_s"),
                slowest / json_number(o, "task_s"), 1e-6 * json_number(o, "weight_per_s"), device,
                !short_ && *device ? "; " : "", short_ ? "" : key);
    }
    cJSON_ArrayForEach(o, entries) {
        if (!strcmp(json_text(o, "unit"), CALIBRATION_TOGETHER))
            fprintf(out,
                    "%s %s: teams of up to %.0f cores at a task: a doubling costs %.3f, and %.2g "
                    "us a batch\n",
                    json_text(o, "app"), json_text(o, "class"), json_number(o, "largest"),
                    json_number(o, "doubling"), 1e6 * json_number(o, "meeting_s"));
    }
}

/* ---- teams ---- */

#define ONE_BY_ONE "dynamic:chunk=1,memorize=0"

/* The entry of what was measured. */
static int add_teams(const struct job *job, const struct request *request,
                     const struct teams_times *times, cJSON *entries) {
    const int largest = times->cores[times->count - 1];
    double sum = 0, meeting = 0;
    const int code = teams_meeting(job->machine, largest, &meeting);
    if (code) return code;
    for (int t = 0; t < job->tasks.tasks; t++) sum += times->task[0][t];
    const struct figures f = {.tasks = job->tasks.tasks,
                              .task_s = sum / job->tasks.tasks,
                              .weight_per_s = job_weight(job) / sum};
    cJSON *o = entry(job->is->name, job->shape.key, CALIBRATION_TOGETHER, (int)request->steps, &f);
    cJSON_AddNumberToObject(o, "largest", largest);
    cJSON_AddNumberToObject(o, "doubling", teams_doubling(job, times));
    cJSON_AddNumberToObject(o, "meeting_s", meeting);
    cJSON_AddItemToArray(entries, o);
    return 0;
}

/* Teams of 1, 2, 4, .. cores of the first part, at each task together. Nothing where there is no
 * model of teams, or one core. */
static int calibrate_teams(struct job *job, const struct request *request, cJSON *entries) {
    struct teams_times times = {0};
    const int most = evn_machine_part(job->machine, 0)->cores;
    int code = 0;
    if (!job->is->teams || most < 2) return 0;
    for (int n = 1; !code && n <= most && times.count < TEAMS_MAX; n *= 2) {
        struct measured m;
        char list[32];
        snprintf(list, sizeof list, "1:CPU:%d", n);
        if (!request->quiet)
            fprintf(stderr, "%s %s%s %d core%s at each %s ..\n", job->is->name,
                    job->shape.class_ ? "class " : "", job->shape.key, n, n > 1 ? "s" : "",
                    job->is->noun);
        code = measure(job, request, list, ONE_BY_ONE, 0, &m);
        times.cores[times.count] = n;
        times.task[times.count++] = m.times.task;
    }
    if (!code) code = add_teams(job, request, &times, entries);
    for (int i = 0; i < times.count; i++) free(times.task[i]);
    return code;
}

/* ---- kinds ---- */

/* The machine cut down to one kind of its cores. */
static evn_status only_kind(evn_machine **out, const evn_machine *m, int kind) {
    int *number = malloc(sizeof *number * (size_t)evn_machine_cores(m)), count = 0;
    if (!number) return evn_fail(EVN_MEMORY, "calibrate: not enough memory");
    for (int c = 0; c < evn_machine_cores(m); c++)
        if (evn_machine_part(m, evn_machine_part_of(m, c))->kind == kind)
            number[count++] = evn_machine_core_number(m, c);
    const evn_status status = evn_machine_open_within(out, number, count);
    free(number);
    return status;
}

/* One kind of units on one kind of cores. */
static int calibrate_on(struct job *job, const struct request *request, struct unit_kind kind,
                        int core_kind, cJSON *entries) {
    struct figures f = {0};
    char unit[24], cores[16] = "";
    const evn_machine *all = job->machine;
    evn_session *whole = job->session;
    evn_machine *some = NULL;
    const int several = !kind.gpu && evn_machine_about(all).kinds > 1;
    unit_kind_text(kind, unit);
    if (!kind.gpu) calibration_cores(all, core_kind, cores);
    if (!request->quiet)
        fprintf(stderr, "%s %s%s on %s%s%s ..\n", job->is->name, job->shape.class_ ? "class " : "",
                job->shape.key, unit, several ? " of cores of kind " : "", cores);
    if (several && only_kind(&some, all, core_kind)) return give_up(EVN_SYSTEM);
    int code = some ? job_on(job, some, &(struct job_words){.units = "auto"}) : 0;
    if (!code) code = calibrate_kind(job, request, kind, &f);
    if (some) job_off(job);
    job->session = whole;
    job->machine = all;
    evn_machine_close(some);
    if (code) return code;
    snprintf(f.cores, sizeof f.cores, "%s", cores);
    cJSON_AddItemToArray(entries,
                         entry(job->is->name, job->shape.key, unit, (int)request->steps, &f));
    return 0;
}

/* All kinds of the list, for an open problem. */
static int calibrate_kinds(struct job *job, const struct request *request, cJSON *entries) {
    evn_units *units;
    evn_status status =
        evn_units_open(&units, job->machine, request->units, NULL, EVN_DESCRIBE_ONLY);
    if (status) return give_up(status);
    struct unit_kind kinds[KINDS_MAX];
    const int n = evn_units_count(units);
    int *kind = malloc(sizeof *kind * (size_t)n), code = kind ? 0 : EXIT_FAILED;
    if (kind) unit_kinds(units, kinds, kind);
    for (int u = 0; !code && u < n; u++) {
        const int cores = evn_unit_about(evn_units_get(units, u)).kind;
        int before = 0; /* whether one of that kind came before */
        for (int v = 0; v < u; v++)
            before |= kind[v] == kind[u] && evn_unit_about(evn_units_get(units, v)).kind == cores;
        if (!before) code = calibrate_on(job, request, kinds[kind[u]], cores, entries);
    }
    free(kind);
    evn_units_close(units);
    return code;
}

/* ---- arguments ---- */

/* The workloads that are named, or all there are. 0, or an exit status after a message. */
static int find_apps(int argc, char **argv, const struct workload *app[APPS], int *apps) {
    struct option_set sets[APPS + 2] = {{table, NULL, NULL}};
    const struct workload *w;
    const char *word[APPS];
    int sets_count = 1;
    for (int i = 0; i < APPS && (w = workload_at(i)); i++) {
        if (w->options) sets[sets_count++].table = w->options;
        app[i] = w;
        *apps = i + 1;
    }
    const int words = options_words(sets, argc, argv, word, APPS);
    for (int i = 0; i < words; i++)
        if (!(app[i] = workload_find(word[i])))
            return complain("there is no workload \"%s\", expected %s", word[i], workload_list());
    for (int i = 1; i < words; i++)
        for (int k = 0; k < i; k++)
            if (app[i] == app[k])
                return complain("calibrate: %s is there twice; name it once", app[i]->name);
    if (words) *apps = words;
    return 0;
}

/* Reads a workload's sample options and then the arguments, which override them. Options that only
 * others of the `suite/apps` have are passed over. `sample` is room for the sample's words, to
 * which the state will point. As options_read(). */
static int read_arguments(struct job *job, struct request *request, int argc, char **argv,
                          const struct workload *const *app, int apps, char sample[SAMPLE]) {
    struct option_set sets[APPS + 3] = {{table, request, NULL},
                                        {job->is->options, job->state, job->is->rules}};
    const char *word[APPS];
    int n = 0, words = 0;
    size_t size = 0;
    for (int i = 0; i < apps; i++) size = app[i]->state > size ? app[i]->state : size;
    void *unused = calloc(1, size + 1);
    char **all = malloc(sizeof *all * ((size_t)argc + SAMPLE));
    int code = unused && all ? 0 : give_up(evn_fail(EVN_MEMORY, "calibrate: not enough memory"));
    if (!code) {
        int known = 1 + (job->is->options != NULL);
        for (int i = 0; i < apps; i++)
            if (app[i]->options) sets[known++] = (struct option_set){app[i]->options, unused, NULL};
        snprintf(sample, SAMPLE, "%s", job->is->sample ? job->is->sample : "");
        all[n++] = argv[0];
        for (char *p = strtok(sample, " "); p; p = strtok(NULL, " ")) all[n++] = p;
        for (int i = 1; i < argc; i++) all[n++] = argv[i];
        code = options_read("calibrate", sets, n, all, word, APPS, &words);
    }
    free_all(all, unused);
    return code;
}

static int help(const struct workload *is) {
    char usage[512];
    snprintf(usage, sizeof usage,
             "usage: evener calibrate [APP ..] [options]\n"
             "\n"
             "Measures the mean time of a task on each kind of units, a few steps each, and keeps\n"
             "it for schedules that use speeds; without --units also the cost of teams, for\n"
             "--units auto. APP: %s (default all).\n",
             workload_words());
    job_help("calibrate", usage, table, is);
    return EXIT_DONE;
}

/* ---- the command ---- */

/* Whether the figures will have a place, before they are measured. */
static int try_place(const struct request *request) {
    const char *output = request->output;
    if (output && !strcmp(output, "-"))
        return complain("--output -: figures are kept in a file; name one");
    if (output) return calibration_try_file(output);
    char *folder = calibration_folder();
    if (!folder)
        return complain("neither XDG_CACHE_HOME nor HOME is set: name the file with --output FILE");
    const int code = calibration_try_folder(folder);
    free(folder);
    return code;
}

/* One workload, from its options to its entries. -1 where --help is asked for. */
static int calibrate(const struct workload *const *app, int apps, int i, struct request *request,
                     int argc, char **argv, cJSON *entries) {
    struct job job;
    char both[64], sample[SAMPLE];
    int code = job_begin(&job, app[i]);
    if (!code) code = read_arguments(&job, request, argc, argv, app, apps, sample);
    if (!code && !i) code = try_place(request);
    if (!code && !request->units) {
        const int cores = evn_machine_cores(job.machine);
        if (evn_machine_about(job.machine).parts > 1)
            strcpy(both, "auto"); /* a unit of each part */
        else
            snprintf(both, sizeof both, cores > 1 ? "1:CPU:1,1:CPU:%d" : "1:CPU:1", cores);
        request->units = both;
    }
    int gpus; /* it is said once */
    if (!code && !i) code = job_devices(&job, request->units, request->devices, &gpus);
    if (!code) code = job_check(&job);
    if (!code) code = job_open(&job, request->quiet);
    if (!code) code = calibrate_kinds(&job, request, entries);
    if (!code && request->units == both) code = calibrate_teams(&job, request, entries);
    job_close(&job);
    if (request->units == both) request->units = NULL;
    return code;
}

/* Writes what was measured to its place, and prints it with what is there already. */
static int keep(const struct request *request, cJSON *entries) {
    evn_machine *machine = NULL;
    char *folder = request->output ? NULL : calibration_folder();
    int code = evn_machine_open(&machine) ? give_up(EVN_SYSTEM) : 0;
    if (!code && folder) code = calibration_keep(folder, machine, entries);
    if (!code && !folder) code = calibration_write(request->output, machine, entries);
    if (!code && !request->quiet) {
        cJSON *all = folder ? calibration_kept(folder, machine) : NULL;
        print_table(all ? all : entries, stdout);
        printf("\nkept in %s\n", folder ? folder : request->output);
        cJSON_Delete(all);
    }
    free(folder);
    evn_machine_close(machine);
    return code;
}

int command_calibrate(int argc, char **argv) {
    struct request request = {.steps = 5};
    const struct workload *app[APPS] = {NULL};
    int apps = 0;
    int code = find_apps(argc, argv, app, &apps);
    if (code) return code;
    cJSON *entries = cJSON_CreateArray();
    for (int i = 0; !code && i < apps; i++)
        code = calibrate(app, apps, i, &request, argc, argv, entries);
    if (!code) code = keep(&request, entries);
    cJSON_Delete(entries);
    return code < 0 ? help(apps == 1 ? app[0] : NULL) : code;
}
