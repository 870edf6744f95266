/* evener bench pinning: effect of binding threads, for each processes x threads of this node's
 * cores: each thread on its own core, on any of its unit's, on any of the node's. After figure 10
 * of van der Wijngaart and Jin (IPDPS 2004). */
#include "bench/bench.h"
#include "common/cli/files.h"
#include "common/run/median.h"
#include "common/cli/message.h"
#include "common/cli/output.h"
#include "common/run/record.h"
#include "model/figures.h"
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINDINGS = 3, ROUNDS_MAX = 100, THREADS_MAX = 1024 };
static const char *const binding[BINDINGS] = {"core", "unit", "none"}; /* of EVENER_BIND */

struct request {
    const char *json;
    long rounds, steps;
    int quiet;
};

/* Processes x threads one way, and its samples under each binding. */
struct pinned {
    struct way way;
    double step[BINDINGS][ROUNDS_MAX]; /* seconds */
    double moves[BINDINGS][ROUNDS_MAX];
};

/* ---- how often threads were moved ---- */

/* The system's own counts as they were seen last, a thread each. */
struct moves {
    int threads;
    struct {
        long id, count;
    } thread[THREADS_MAX];
    int unknown; /* the system does not say */
};

static void note(struct moves *m, long id, long count) {
    int i = 0;
    while (i < m->threads && m->thread[i].id != id) i++;
    if (i == THREADS_MAX) return;
    if (i == m->threads) m->threads++;
    m->thread[i].id = id;
    m->thread[i].count = count;
}

static void look_at_thread(struct moves *m, const char *process, const char *thread) {
    char path[600], line[256];
    long count = -1;
    snprintf(path, sizeof path, "/proc/%s/task/%s/sched", process, thread);
    FILE *file = fopen(path, "r");
    if (!file) return;
    while (count < 0 && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (colon && !strncmp(line, "se.nr_migrations", 16)) count = atol(colon + 1);
    }
    fclose(file);
    if (count >= 0)
        note(m, atol(thread), count);
    else
        m->unknown = 1;
}

/* Whether the process is one of the group's: the third figure behind its name in brackets. */
static int is_of(const char *process, pid_t group) {
    char path[300], text[512] = "";
    long number = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", process);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    const size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = 0;
    const char *end = strrchr(text, ')');
    return end && sscanf(end + 1, " %*c %*d %ld", &number) == 1 && number == (long)group;
}

static void look_at_process(struct moves *m, const char *process) {
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/task", process);
    DIR *folder = opendir(path);
    const struct dirent *d;
    while (folder && (d = readdir(folder)))
        if (isdigit((unsigned char)*d->d_name)) look_at_thread(m, process, d->d_name);
    if (folder) closedir(folder);
}

static void look(void *arg, pid_t group) {
    DIR *folder = opendir("/proc");
    const struct dirent *d;
    while (folder && (d = readdir(folder)))
        if (isdigit((unsigned char)*d->d_name) && is_of(d->d_name, group))
            look_at_process(arg, d->d_name);
    if (folder) closedir(folder);
}

/* NAN: the system does not say. */
static double sum_of(const struct moves *m) {
    double sum = 0;
    for (int i = 0; i < m->threads; i++) sum += (double)m->thread[i].count;
    return m->unknown || !m->threads ? NAN : sum;
}

/* ---- measuring ---- */

static const char *way_name(const struct pinned *p) {
    return p->way.as == AS_PROCESSES ? "processes" : "units";
}

/* All bindings of all ways, in turn; what comes first changes from round to round. */
static int measure(const struct job *job, const struct request *request, struct pinned *p, int n) {
    int code = 0;
    struct moves *moves = malloc(sizeof *moves);
    if (!moves) return give_up(evn_fail(EVN_MEMORY, "bench pinning: not enough memory"));
    const struct runs_look looking = {look, moves};
    for (int r = 0; !code && r < request->rounds; r++)
        for (int i = 0; !code && i < n; i++)
            for (int k = 0; !code && k < BINDINGS; k++) {
                const int b = (k + r) % BINDINGS;
                *moves = (struct moves){0};
                setenv("EVENER_BIND", binding[b], 1);
                if (!request->quiet)
                    fprintf(stderr, "%s: %d x %d as %s, bound to %s, round %d of %ld ..\n",
                            job->is->name, p[i].way.processes, p[i].way.threads, way_name(&p[i]),
                            binding[b], r + 1, request->rounds);
                code = figures_run(job, (int)request->steps, p[i].way, &looking, &p[i].step[b][r],
                                   NULL);
                p[i].moves[b][r] = sum_of(moves);
            }
    free(moves);
    return code;
}

/* As processes and as units; one process alone is a unit. */
static int make_ways(struct pinned *p, const struct job *job) {
    const int cores = evn_machine_cores(job->machine);
    int n = 0;
    for (int threads = 1; threads <= cores; threads++) {
        const int processes = cores / threads;
        if (cores % threads || processes > job->tasks.tasks) continue;
        if (processes > 1) p[n++].way = (struct way){processes, threads, AS_PROCESSES};
        p[n++].way = (struct way){processes, threads, AS_UNITS};
    }
    return n;
}

/* The middle of the rounds' own ratios over bound threads. */
static double over_core(const struct pinned *p, int b, int rounds) {
    double ratio[ROUNDS_MAX];
    for (int r = 0; r < rounds; r++) ratio[r] = p->step[b][r] / p->step[0][r];
    return median(ratio, rounds);
}

/* Of the samples that are numbers; NAN: none is. */
static double middle(const double *sample, int rounds) {
    double copy[ROUNDS_MAX];
    int n = 0;
    for (int r = 0; r < rounds; r++)
        if (!isnan(sample[r])) copy[n++] = sample[r];
    return n ? median(copy, n) : NAN;
}

/* ---- the page and the record ---- */

static void print_moves(double moves, FILE *out) {
    if (isnan(moves))
        fprintf(out, " %9s", "-");
    else
        fprintf(out, " %9.0f", moves);
}

static void print_page(const struct job *job, const struct request *request, const struct pinned *p,
                       int n, FILE *out) {
    const int rounds = (int)request->rounds, nodes = evn_machine_about(job->machine).numa_nodes;
    fprintf(out,
            "%s class %s on %d cores, %d NUMA node%s: medians of %d round%s of %ld steps in turn\n"
            "core: each thread on a core of its own, as ever; unit: on any of its unit's; none: on "
            "any\n\n%10s  %-9s  %9s %9s %9s   %9s %9s   %9s %9s %9s\n%10s  %-9s  %29s   %19s   "
            "%29s\n",
            job->is->name, job->shape.key, evn_machine_cores(job->machine), nodes,
            nodes == 1 ? "" : "s", rounds, rounds == 1 ? "" : "s", request->steps, "Np x Nt", "as",
            "core", "unit", "none", "unit", "none", "core", "unit", "none", "", "", "ms a step",
            "over core", "threads moved");
    for (int i = 0; i < n; i++) {
        char shape[32];
        snprintf(shape, sizeof shape, "%d x %d", p[i].way.processes, p[i].way.threads);
        fprintf(out, "%10s  %-9s ", shape, way_name(&p[i]));
        for (int b = 0; b < BINDINGS; b++)
            fprintf(out, " %9.4g", 1e3 * middle(p[i].step[b], rounds));
        fprintf(out, "  ");
        for (int b = 1; b < BINDINGS; b++) fprintf(out, " %9.3f", over_core(&p[i], b, rounds));
        fprintf(out, "  ");
        for (int b = 0; b < BINDINGS; b++) print_moves(middle(p[i].moves[b], rounds), out);
        fprintf(out, "\n");
    }
    fprintf(out, "\nover core: above 1 is slower than bound. With one thread a unit, unit and core "
                 "are the same, and differ by noise.\n");
    if (nodes == 1)
        fprintf(out, "One NUMA node: all memory is equally far, so about 1 is expected where "
                     "nothing else runs.\n");
}

static cJSON *record_way(const struct pinned *p, int rounds) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "processes", p->way.processes);
    cJSON_AddNumberToObject(o, "threads", p->way.threads);
    cJSON_AddStringToObject(o, "as", way_name(p));
    for (int b = 0; b < BINDINGS; b++) {
        cJSON *of = cJSON_AddObjectToObject(o, binding[b]);
        record_number(of, "step_s", middle(p->step[b], rounds));
        record_number(of, "over_core", over_core(p, b, rounds));
        const double moves = middle(p->moves[b], rounds);
        if (!isnan(moves)) record_number(of, "moves", moves);
    }
    return o;
}

static int keep_record(evn_output *file, const struct job *job, const struct request *request,
                       const struct pinned *p, int n) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddStringToObject(root, "app", job->is->name);
    cJSON_AddStringToObject(root, "class", job->shape.key);
    cJSON_AddNumberToObject(root, "cores", evn_machine_cores(job->machine));
    cJSON_AddNumberToObject(root, "numa_nodes", evn_machine_about(job->machine).numa_nodes);
    cJSON_AddNumberToObject(root, "steps", (double)request->steps);
    cJSON_AddNumberToObject(root, "rounds", (double)request->rounds);
    cJSON *list = cJSON_AddArrayToObject(root, "pinning");
    for (int i = 0; i < n; i++) cJSON_AddItemToArray(list, record_way(&p[i], (int)request->rounds));
    cJSON_AddStringToObject(root, "command", command_line);
    char *text = record_text(root);
    const int code = !text || output_commit(file, text) ? EXIT_FAILED : EXIT_DONE;
    free(text);
    return code;
}

/* ---- the command ---- */

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"steps", "N", "of each run (default 20)", OPTION_NUMBER(steps, 1, 1000000)},
    {"rounds", "N", "runs of each kind, of which the median counts (default 3)",
     OPTION_NUMBER(rounds, 1, ROUNDS_MAX)},
    {"json", "FILE", "the record; - is standard output", OPTION_OUTPUT(json)},
    {"quiet", NULL, "no table", OPTION_FLAG(quiet)},
    {0},
};

static int study(struct job *job, const struct request *request) {
    if (!job->shape.class_)
        return complain(
            "bench pinning %s: its problems are no classes; expected an NPB-MZ workload",
            job->is->name);
    evn_output *record = NULL;
    int code = output_open(&record, request->json);
    struct pinned *p = calloc(2 * (size_t)evn_machine_cores(job->machine), sizeof *p);
    if (!code && !p) code = give_up(evn_fail(EVN_MEMORY, "bench pinning: not enough memory"));
    const int n = code ? 0 : make_ways(p, job);
    if (!code) code = measure(job, request, p, n);
    if (!code && !request->quiet) print_page(job, request, p, n, files_page());
    if (!code && record) code = keep_record(record, job, request, p, n);
    evn_output_close(record);
    free(p);
    return code;
}

static int help(const struct workload *is) {
    char usage[400];
    snprintf(usage, sizeof usage,
             "usage: evener bench pinning %s [options]\n\n"
             "Processes and units on all cores of this node, threads bound to their own cores, to\n"
             "their unit's, and to none: runs in turn, and ratios over bound ones.\n",
             is ? is->name : "APP");
    job_help("bench pinning", usage, table, is);
    return EXIT_DONE;
}

int bench_pinning(int argc, char **argv) {
    struct request request = {.rounds = 3, .steps = 20};
    struct job job = {0};
    int code;
    const struct workload *is = job_find(table, argc, argv, &code);
    if (!is) return code < 0 ? help(NULL) : code;
    code = job_begin(&job, is);
    if (!code)
        code =
            job_read(&job, "bench pinning", (struct option_set){table, &request, NULL}, argc, argv);
    if (code < 0) {
        code = help(is);
    } else if (!code) {
        code = job_check(&job);
        if (!code) code = job_open(&job, request.quiet);
        if (!code) code = study(&job, &request);
    }
    job_close(&job);
    return code;
}
