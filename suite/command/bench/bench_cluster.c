/* evener bench cluster: schedules on described clusters in virtual time: steps with and without
 * overlap, their messages, and the reaction to a node that becomes slow. */
#include "bench/bench.h"
#include "bench/bench_schedules.h"
#include "common/cli/message.h"
#include "common/cli/options.h"
#include "run/job.h"
#include "machine/nodes.h"
#include <evener/number.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIXED = 3, STEPS = 100, FROM = 50 };
static const double TIMES = 3;

struct request {
    const char *apps, *classes, *nodes;
};

/* A workload on nodes of the file's first kind. */
struct cluster {
    struct job *job;
    const struct machine_file *file;
    struct nodes nodes;
    evn_units *units;
    struct machine_model model;
    evn_problem problem;
    double *speed, *slow;
};

static int cluster_open(struct cluster *c, struct job *job, const struct machine_file *file,
                        int count) {
    char text[600];
    *c = (struct cluster){.job = job, .file = file};
    snprintf(text, sizeof text, "%d*%s", count, machine_file_node_units(file, 0));
    int code = nodes_read(&c->nodes, text, file);
    if (code) return code;
    evn_status status =
        evn_units_open(&c->units, job->machine, c->nodes.units, NULL, EVN_DESCRIBE_ONLY);
    if (status) return give_up(status);
    code = machine_model_open(&c->model, c->units, &c->nodes, &job->tasks, job_state_bytes(job),
                              job_copied_bytes(job));
    if (!code) code = machine_model_fill(&c->model, file, job->is->name, &job->tasks);
    if (code) return code;
    const int units = evn_units_count(c->units);
    c->speed = malloc(2 * (size_t)units * sizeof *c->speed);
    if (!c->speed) return give_up(evn_fail(EVN_MEMORY, "not enough memory for %d units", units));
    c->slow = c->speed + units;
    for (int u = 0; u < units; u++) c->slow[u] = 1;
    c->model.model.slow = c->slow;
    c->problem = job->tasks;
    c->problem.units = units;
    c->problem.speed = c->speed;
    c->problem.instances = job->shape.steps;
    c->problem.kinds = c->model.kinds;
    c->problem.kind = c->model.kind;
    c->problem.node = c->nodes.node;
    c->problem.route = c->model.model.route;
    c->problem.far = c->model.model.far;
    evn_model_speeds(&c->model.model, c->problem.weight, c->speed);
    return 0;
}

static void cluster_close(struct cluster *c) {
    free(c->speed);
    machine_model_close(&c->model);
    evn_units_close(c->units);
    nodes_close(&c->nodes);
}

/* ---- the table ---- */

static evn_status one_step(struct cluster *c, const char *text, int overlap, evn_step *step) {
    evn_schedule *schedule = NULL;
    evn_simulation *clock = NULL;
    c->model.model.overlap = overlap;
    evn_status status = evn_schedule_open(&schedule, text, &c->problem);
    if (!status) status = evn_simulation_open(&clock, &c->model.model);
    if (!status) status = evn_simulation_step(clock, schedule, step);
    evn_simulation_close(clock);
    evn_schedule_close(schedule);
    return status;
}

static void print_heading(const struct machine_file *file) {
    printf("\n== %s ==\nms a step; ports of nodes send and receive one message at a time; "
           "overlap: what needs nothing from other nodes is done meanwhile\n"
           "taken for granted: a node is one unit, the network is never congested and all its "
           "ways are alike\n\n"
           "%-6s %5s %6s  | %9s %9s %9s  | %9s %9s %9s  | %10s %10s  | %9s %9s  | %8s\n",
           machine_file_name(file), "app", "class", "nodes", "static", "binpack", "map", "overlap",
           "binpack", "map", "MB binpack", "MB map", "messages", "map", "speedup");
}

/* Warnings: figures that look like a schedule's fault or gain and are none. */
enum { WORDS_MAX = 64 };
struct words {
    int count;
    char text[WORDS_MAX][200];
};

__attribute__((format(printf, 3, 4))) static void say(struct words *w, const struct cluster *c,
                                                      const char *format, ...) {
    va_list arguments;
    if (w->count == WORDS_MAX) return;
    char *text = w->text[w->count++];
    const int n = snprintf(text, sizeof w->text[0], "%s class %s on %d nodes: ", c->job->is->name,
                           c->job->shape.key, c->nodes.count);
    va_start(arguments, format);
    vsnprintf(text + n, sizeof w->text[0] - (size_t)n, format, arguments);
    va_end(arguments);
}

/* `plain` and `overlap`: steps with map; `alone`: seconds of all tasks on one node, of which the
 * longest takes `longest`. */
static void explain(struct words *w, const struct cluster *c, const evn_step *plain,
                    const evn_step *overlap, double alone, double longest) {
    const double balanced = alone / c->nodes.count, sent = plain->step_s - plain->compute_s;
    const char *noun = c->job->is->noun;
    if (c->problem.tasks == c->nodes.count)
        say(w, c, "a %s a node: nothing can be balanced, the largest %s allows a speedup of %.0f",
            noun, noun, alone / longest);
    else if (longest > balanced)
        say(w, c, "the largest %s alone is %.2f times a node's share", noun, longest / balanced);
    if (sent > 0.2 * plain->step_s)
        say(w, c,
            "with map %.0f %% of a step are messages and the tree, which a network that is "
            "shared makes longer",
            100 * sent / plain->step_s);
    if (overlap->step_s > plain->step_s - 0.01 * sent)
        say(w, c, "overlap hides nothing: hardly a node has %ss that need no others' faces", noun);
}

static int print_row(struct cluster *c, struct words *words) {
    static const char *const fixed[FIXED] = {"static", "binpack", "map"};
    evn_step step[2][FIXED];
    evn_status status = EVN_OK;
    for (int o = 0; !status && o < 2; o++)
        for (int i = 0; !status && i < FIXED; i++) status = one_step(c, fixed[i], o, &step[o][i]);
    if (status) return give_up(status);
    double alone = 0, longest = 0;
    for (int t = 0; t < c->problem.tasks; t++) {
        alone += c->model.seconds[t];
        longest = fmax(longest, c->model.seconds[t]);
    }
    explain(words, c, &step[0][2], &step[1][2], alone, longest);
    printf("%-6s %5s %6d  |", c->job->is->name, c->job->shape.key, c->nodes.count);
    for (int o = 0; o < 2; o++) {
        for (int i = 0; i < FIXED; i++) printf(" %9.4g", 1e3 * step[o][i].step_s);
        printf("  |");
    }
    printf(" %10.4g %10.4g  | %9ld %9ld  | %8.1f\n", 1e-6 * step[0][1].bytes,
           1e-6 * step[0][2].bytes, step[0][1].messages, step[0][2].messages,
           alone / step[0][2].step_s);
    fflush(stdout);
    return 0;
}

/* ---- a node that becomes slow ---- */

/* A schedule's reaction to a unit that became slow. */
struct reaction {
    double before, slow, after; /* seconds of a step: settled, when it began, at the end */
    double lost;                /* over all steps with it */
    int noticed;                /* steps until tasks moved; -1: never */
    int settled;                /* none had moved in the five steps before */
    int moved;                  /* tasks, in all */
};

static evn_status react(struct cluster *c, const char *text, struct reaction *r) {
    evn_schedule *schedule = NULL;
    evn_simulation *clock = NULL;
    evn_step step = {0};
    *r = (struct reaction){.noticed = -1, .settled = 1};
    c->model.model.overlap = 1;
    evn_status status = evn_schedule_open(&schedule, text, &c->problem);
    if (!status) status = evn_simulation_open(&clock, &c->model.model);
    for (int i = 0; !status && i < STEPS; i++) {
        for (int u = 0; i == FROM && u < c->problem.units; u++)
            c->slow[u] = c->nodes.node[u] ? 1 : TIMES;
        status = evn_simulation_step(clock, schedule, &step);
        if (i < FROM) {
            r->before = step.step_s;
            if (i >= FROM - 5 && step.migrations) r->settled = 0;
            continue;
        }
        if (i == FROM) r->slow = step.step_s;
        if (step.migrations && r->noticed < 0) r->noticed = i - FROM;
        r->moved += step.migrations;
        r->lost += step.step_s - r->before;
        r->after = step.step_s;
    }
    for (int u = 0; u < c->problem.units; u++) c->slow[u] = 1;
    evn_simulation_close(clock);
    evn_schedule_close(schedule);
    return status;
}

static int print_reactions(struct cluster *c) {
    static const char *const text[] = {"static", "binpack", "guided:time", "interval", "map"};
    printf("\n%s class %s on %d nodes, the first of them %g times slower from step %d of %d on; ms "
           "a step\n%-12s  %9s  %9s  %9s  %9s  %7s  %10s\n",
           c->job->is->name, c->job->shape.key, c->nodes.count, TIMES, FROM, STEPS, "schedule",
           "before", "when slow", "at end", "notices", "moved", "lost ms");
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct reaction r;
        char notices[24] = "never", lost[24] = "-";
        evn_status status = react(c, text[i], &r);
        if (status) return give_up(status);
        if (!r.settled)
            snprintf(notices, sizeof notices, "unsettled");
        else if (r.noticed >= 0)
            snprintf(notices, sizeof notices, "after %d", r.noticed);
        if (r.settled) snprintf(lost, sizeof lost, "%.4g", 1e3 * r.lost);
        printf("%-12s  %9.4g  %9.4g  %9.4g  %9s  %7d  %10s\n", text[i], 1e3 * r.before,
               1e3 * r.slow, 1e3 * r.after, notices, r.moved, lost);
        fflush(stdout);
    }
    return 0;
}

/* ---- the command ---- */

/* --nodes, by default as many as the file has and what is 4, 16 times less. */
static int read_nodes(const struct request *request, const struct machine_file *file, int *count) {
    const int all = machine_file_node_count(file, 0);
    struct option_list list;
    int n = 0;
    if (!request->nodes) {
        for (int part = 16; part; part /= 4)
            if (all / part > 1) count[n++] = all / part;
        return n;
    }
    if (options_list(&list, "nodes", request->nodes)) return 0;
    for (; n < list.count; n++) {
        long nodes;
        if (evn_read_whole(list.word[n], 1, all, &nodes)) {
            complain("--nodes %s: %s", request->nodes, evn_message());
            return 0;
        }
        count[n] = (int)nodes;
    }
    return n;
}

/* One workload's class on so many nodes. What has fewer tasks than nodes is left out, and `words`
 * (NULL: what has become slow, where that was said before) say so. */
static int study(const struct workload *is, char class_, const struct machine_file *file, int count,
                 struct words *words) {
    struct job job;
    struct cluster c = {.job = &job, .nodes = {.count = count}};
    int code = bench_begin_class(&job, is, class_);
    if (!code) code = job_open(&job, 1);
    if (!code && job.tasks.tasks >= count) {
        code = cluster_open(&c, &job, file, count);
        if (!code) code = words ? print_row(&c, words) : print_reactions(&c);
        cluster_close(&c);
    } else if (!code && words) {
        say(words, &c, "left out, there are only %d %ss", job.tasks.tasks, is->noun);
    }
    job_close(&job);
    return code;
}

static int study_file(const struct request *request, const char *path,
                      const struct option_list *apps) {
    struct machine_file *file;
    int count[OPTION_WORDS], n = 0, code = machine_file_open(&file, path);
    if (!code && !machine_file_nodes(file))
        code = complain("%s: there are no \"nodes\" in it", path);
    if (!code && !(n = read_nodes(request, file, count))) code = EXIT_USAGE;
    struct words *words = calloc(1, sizeof *words);
    if (!code && !words) code = give_up(evn_fail(EVN_MEMORY, "bench cluster: not enough memory"));
    if (!code) print_heading(file);
    for (int slow = 0; slow < 2; slow++) { /* the smallest number of nodes for what is slow */
        for (int i = 0; !code && i < apps->count; i++)
            for (const char *k = request->classes; !code && *k; k++)
                for (int j = 0; !code && j < (slow ? 1 : n); j++)
                    code = study(workload_find(apps->word[i]), *k, file, count[j],
                                 slow ? NULL : words);
        if (!code && !slow && words->count) printf("\n");
        for (int i = 0; !code && !slow && i < words->count; i++) printf("- %s\n", words->text[i]);
    }
    free(words);
    machine_file_close(file);
    return code;
}

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"apps", "LIST", "workloads (default bt-mz,sp-mz,lu-mz)", OPTION_TEXT(apps)},
    {"classes", "LIST", "problem classes (default DE)", OPTION_TEXT(classes)},
    {"nodes", "LIST", "numbers of nodes (default: all of the file, and 4 and 16 times less)",
     OPTION_TEXT(nodes)},
    {0},
};

int bench_cluster(int argc, char **argv) {
    struct request request = {.apps = "bt-mz,sp-mz,lu-mz", .classes = "DE"};
    const struct option_set sets[] = {{table, &request, NULL}, {0}};
    const char *path;
    int files;
    int code = options_read("bench cluster", sets, argc, argv, &path, 1, &files);
    if (code < 0) {
        printf("usage: evener bench cluster [options] FILE\n\n"
               "Schedules in virtual time on the nodes that are described in the file, as in\n"
               "suite/bench/machines/cluster-1024.json, and what they do about a slow one.\n\n");
        options_help("bench cluster", sets, 0);
        return EXIT_DONE;
    }
    struct option_list apps;
    if (!code) code = bench_read_lists(&apps, request.apps, request.classes);
    if (!code && !files)
        code = complain("bench cluster: which machine? name a file that describes one, as "
                        "suite/bench/machines/cluster-1024.json");
    return code ? code : study_file(&request, path, &apps);
}
