/* Opening the objects that a command's arguments name. */
#include "run/job.h"
#include "run/plan_file.h"
#include "common/cli/message.h"
#include "common/run/ranks.h"
#include "machine/calibration.h"
#include "common/run/free_all.h"
#include <evener/number.h>
#include <evener/open.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SETS = 64 };

/* ---- arguments ---- */

const struct workload *job_find(const struct option *own, int argc, char **argv, int *code) {
    struct option_set sets[SETS] = {{own, NULL, NULL}};
    const struct workload *w;
    for (int i = 0, n = 1; n < SETS - 1 && (w = workload_at(i)); i++)
        if (w->options) sets[n++].table = w->options;
    const char *name;
    *code = EXIT_USAGE;
    if (options_words(sets, argc, argv, &name, 1)) {
        w = workload_find(name);
        if (!w) complain("there is no workload \"%s\", expected %s", name, workload_list());
        return w;
    }
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) *code = -1;
    if (*code > 0) complain("which workload? expected %s", workload_list());
    return NULL;
}

int job_read(struct job *job, const char *command, struct option_set own, int argc, char **argv) {
    const struct option_set sets[] = {own, {job->is->options, job->state, job->is->rules}, {0}};
    const char *word;
    int words;
    return options_read(command, sets, argc, argv, &word, 1, &words);
}

int job_option(struct job *job, const char *command, char *option) {
    const struct option_set sets[] = {{job->is->options, job->state, NULL}, {0}};
    char *argv[] = {(char *)command, option};
    const char *word;
    int words;
    return options_read(command, sets, 2, argv, &word, 0, &words);
}

void job_help(const char *command, const char *usage, const struct option *own,
              const struct workload *is) {
    const struct option_set sets[] = {
        {own, NULL, NULL}, {is ? is->options : NULL, NULL, is ? is->rules : NULL}, {0}};
    const struct workload *w;
    printf("%s\n", usage);
    if (is && is->about) printf("%s: %s\n", is->name, is->about);
    options_help(command, sets, 0);
    if (is && is->options) {
        printf("\nOptions of %s, whose default schedule is %s%s%s:\n\n", is->name, is->schedule,
               is->schedule_over_ranks ? ", over ranks " : "",
               is->schedule_over_ranks ? is->schedule_over_ranks : "");
        options_help(command, sets, 1);
    }
    if (is) return;
    printf("\nWorkloads; evener %s APP --help shows what each takes besides:\n\n", command);
    for (int i = 0; (w = workload_at(i)); i++) printf("  %-8s %s\n", w->name, w->help);
}

/* ---- problems ---- */

int job_state(struct job *job, const struct workload *is) {
    *job = (struct job){.is = is};
    job->state = calloc(1, is->state + 1);
    if (!job->state) return give_up(evn_fail(EVN_MEMORY, "%s: not enough memory", is->name));
    if (is->defaults) is->defaults(job->state);
    return 0;
}

int job_begin(struct job *job, const struct workload *is) {
    const int code = job_state(job, is);
    return code ? code : job_on(job, NULL, &(struct job_words){.units = "auto"});
}

int job_on(struct job *job, const evn_machine *machine, const struct job_words *words) {
    const evn_open_options options = {words->units, words->devices,
                                      EVN_NO_ENVIRONMENT | EVN_UNITS_LATER |
                                          (words->oversubscribe ? EVN_OVERSUBSCRIBE : 0),
                                      job->cluster, machine};
    evn_status status = evn_open_with(&job->session, &options);
    job->machine = status ? NULL : evn_session_machine(job->session);
    return status ? give_up(status) : 0;
}

/* The file of a state's name: another one each time that it is written. */
static struct stat look(const char *path) {
    struct stat is;
    if (!path || stat(path, &is)) memset(&is, 0, sizeof is);
    return is;
}

static int is_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Ranks that were begun anew go on from what those before them have kept; if that is nothing, from
 * where these began. A file that was there `before` is of another run. */
static int go_on(struct job *job, const struct workload_kept *kept, const struct stat *before) {
    const struct stat now = look(kept->checkpoint);
    int there = now.st_ino && !is_same(&now, before);
    evn_status status =
        job->cluster ? evn_cluster_tell(job->cluster, &there, sizeof there) : EVN_OK;
    if (status) return give_up(status);
    if (there) *kept->restart = kept->checkpoint;
    return 0;
}

int job_join(struct job *job, const struct job_words *words, int argc, char **argv) {
    const struct workload_kept kept =
        job->is->kept ? job->is->kept(job->state) : (struct workload_kept){0};
    const struct stat before = look(kept.checkpoint);
    int code = ranks_join(&job->cluster, &words->ranks);
    if (!code && ranks_restarts() && kept.checkpoint) code = go_on(job, &kept, &before);
    if (code) return code;
    if (!job->cluster) return job_on(job, NULL, words);
    code = ranks_compare(job->cluster, argc, argv);
    if (!code && !job->is->ranks)
        code = complain("%s does not run on several ranks yet; run it alone, with more units",
                        job->is->name);
    code = ranks_agree(job->cluster, code);
    if (code) return code;
    job->is_led = job->is->is_led && job->is->is_led(job->state, job->cluster);
    return ranks_agree(job->cluster, job_on(job, NULL, words));
}

int job_devices(const struct job *job, const char *list, const char *devices, int *gpus) {
    char why[256];
    evn_units *units;
    int count = 0;
    evn_status status = devices ? evn_devices_count(devices, &count, why, sizeof why) : EVN_OK;
    if (status) return give_up(status);
    status = evn_units_open(&units, job->machine, list, devices, EVN_DESCRIBE_ONLY);
    if (status) return give_up(status);
    /* auto takes the devices that are there, which a description does not look for */
    *gpus = strcmp(list, "auto") ? evn_units_about(units).gpus > 0 : !devices || count > 0;
    if (devices && !*gpus)
        complain("warning: with --units %s --devices changes nothing: no unit of it is a GPU",
                 list);
    evn_units_close(units);
    return 0;
}

int job_check(struct job *job) { return job->is->check(job->state, job->is); }

int job_open(struct job *job, int quiet) {
    if (job->cluster && job->is->join) job->is->join(job->state, job->cluster);
    int code = job->is->open ? job->is->open(job->state, quiet) : 0;
    if (code) return code;
    job->shape = job->is->describe(job->state);
    job->tasks = job->is->tasks(job->state);
    return 0;
}

double job_weight(const struct job *job) {
    double sum = 0;
    for (int t = 0; t < job->tasks.tasks; t++) sum += job->tasks.weight ? job->tasks.weight[t] : 1;
    return sum;
}

double job_state_bytes(const struct job *job) { return job->shape.bytes / job_weight(job); }

double job_moved_bytes(const struct job *job) {
    return (job->shape.moved > 0 ? job->shape.moved : job->shape.bytes) / job_weight(job);
}

double job_copied_bytes(const struct job *job) {
    return (job->shape.copied > 0 ? job->shape.copied : job->shape.bytes) / job_weight(job);
}

/* ---- units ---- */

static const char *schedule_name(const struct job *job, const struct job_words *words) {
    if (words->schedule) return words->schedule;
    if (words->plan) return "static"; /* which keeps the owners that it is given */
    return job->cluster && job->is->schedule_over_ranks ? job->is->schedule_over_ranks
                                                        : job->is->schedule;
}

/* Thread reassignment of NPB-MZ (NAS-03-010, section 5), if the schedule asks for it: shares the
 * list's cores out to its units by what the schedule gives them to do. */
static int reassign_cores(struct job *job, const struct job_words *words) {
    evn_units *described = NULL;
    evn_schedule *schedule = NULL;
    const char *name = schedule_name(job, words);
    evn_problem tasks = job->tasks;
    int *share = NULL, cores = 0;
    evn_status status =
        evn_units_open(&described, job->machine, words->units, NULL, EVN_DESCRIBE_ONLY);
    if (!status && evn_units_about(described).gpus)
        status = evn_fail(EVN_USAGE, "%s: cores move between CPU units only, and %s has devices",
                          name, words->units);
    if (!status) {
        tasks.units = evn_units_count(described);
        status = evn_schedule_open(&schedule, name, &tasks);
        share = calloc((size_t)tasks.units, sizeof *share);
        if (!share) status = evn_fail(EVN_MEMORY, "not enough memory for %d units", tasks.units);
    }
    const int reassigns = !status && evn_schedule_about(schedule).reassigns;
    for (int u = 0; reassigns && u < tasks.units; u++)
        cores += evn_unit_cores(evn_units_get(described, u));
    if (reassigns) status = evn_schedule_reassign(schedule, cores, share);
    size_t at = 0;
    for (int u = 0; reassigns && !status && u < tasks.units; u++) {
        at += (size_t)snprintf(job->units_text + at, sizeof job->units_text - at, "%s1:CPU:%d",
                               u ? "," : "", share[u]);
        if (at >= sizeof job->units_text)
            status = evn_fail(EVN_USAGE, "%s: %d units are too many to be reassigned", name,
                              tasks.units);
    }
    free(share);
    evn_schedule_close(schedule);
    evn_units_close(described);
    return status ? give_up(status) : 0;
}

/* Speeds as given, one of each unit. */
static int read_speeds(struct job *job, const char *text) {
    const evn_bounds bounds = {1e-100, 1e100, 0};
    int units = job->tasks.units;
    job->tasks.speed = NULL;
    if (!evn_read_reals(text, units, bounds, &job->speed, &units)) {
        job->tasks.speed = job->speed;
        return 0;
    }
    return complain("--speeds %s: %s; one is of each unit", text, evn_message());
}

/* Over ranks: each task's part of the data by its weight, which goes along where it changes its
 * rank, and of what a device needs for all. (Alone a loop with regions finds that itself.) */
static int find_bytes(struct job *job) {
    const size_t tasks = (size_t)job->tasks.tasks;
    const double all = job_weight(job), bytes = job->shape.bytes;
    job->bytes = malloc(tasks * sizeof *job->bytes);
    job->needs = malloc(tasks * sizeof *job->needs);
    if (!job->bytes || !job->needs)
        return give_up(evn_fail(EVN_MEMORY, "not enough memory for %zu tasks", tasks));
    for (size_t t = 0; t < tasks; t++) {
        const double weight = job->tasks.weight ? job->tasks.weight[t] : 1;
        job->bytes[t] = all > 0 ? bytes * (weight / all) : 0;
        job->needs[t] = bytes > 0 ? job->bytes[t] * (job->shape.device_bytes / bytes) : 0;
    }
    job->tasks.state = job->bytes;
    job->tasks.bytes = job->shape.device_bytes > 0 ? job->needs : NULL;
    return 0;
}

/* The same units, those of devices without these: of the one core that would lead them. */
static evn_status without_devices(const struct job *job, const char *list, char *text,
                                  size_t size) {
    evn_units *units;
    evn_status status = evn_units_open(&units, job->machine, list, NULL, EVN_DESCRIBE_ONLY);
    size_t at = 0;
    if (status) return status;
    for (int u = 0; u < evn_units_count(units) && at < size; u++)
        at += (size_t)snprintf(text + at, size - at, "%s1:CPU:%d", u ? "," : "",
                               evn_unit_cores(evn_units_get(units, u)));
    evn_units_close(units);
    return at < size ? EVN_OK : evn_fail(EVN_USAGE, "%s: too many units", list);
}

/* `list` as units. */
static int open_units(struct job *job, const struct job_words *words, const char *list,
                      unsigned flags) {
    char text[sizeof job->units_text];
    flags |= EVN_TEAMS | EVN_STAY_BOUND | (words->oversubscribe ? EVN_OVERSUBSCRIBE : 0);
    evn_status status = job->is_led ? without_devices(job, list, text, sizeof text) : EVN_OK;
    if (!status)
        status = evn_session_units_open(job->session, job->is_led ? text : list,
                                        job->is_led ? NULL : words->devices, flags);
    job->units = evn_session_units(job->session);
    if (status) return give_up(status);
    if (flags & EVN_DESCRIBE_ONLY) return 0;
    if (job->is->cpu_only && evn_units_about(job->units).gpus)
        return complain("%s: it has no kernels; expected CPU units only, not %s", job->is->name,
                        evn_units_text(job->units));
    return job->is->check_units ? job->is->check_units(job->state, job->units) : 0;
}

int job_try(struct job *job, const struct job_words *words) {
    if (!job->is->open) return 0;
    int code = open_units(job, words, words->units, 0);
    if (code) return code;
    const evn_problem one = {.tasks = 1, .units = evn_units_count(job->units)};
    /* over ranks such speeds are of all units, whose number is not known yet */
    const char *name = schedule_name(job, words);
    const int later = job->cluster && strstr(name, "speed=");
    evn_status status = later ? EVN_OK : evn_schedule_open(&job->schedule, name, &one);
    job_close_units(job);
    return status ? give_up(status) : 0;
}

/* Figures of evener calibrate for this rank's units. */
struct calibrated {
    int known;
    double per_byte; /* of the slowest route */
};

/* The slowest route of all ranks: `known` where all have figures. */
static evn_status share_calibrated(const struct job *job, struct calibrated *c) {
    struct calibrated *all = NULL;
    int ranks = 0;
    evn_status status = ranks_share(job->cluster, c, 1, sizeof *c, (void **)&all, &ranks);
    for (int r = 0; !status && r < ranks; r++) {
        c->known &= all[r].known;
        c->per_byte = fmax(c->per_byte, all[r].per_byte);
    }
    free(all);
    return status;
}

/* Takes the speeds and routes of evener calibrate where it has measured all units, over ranks those
 * of all ranks: a measured speed cannot be compared with one that was not. Over ranks the slowest
 * route is the bandwidth of all. */
static int take_calibrated(struct job *job) {
    const int units = evn_units_count(job->units);
    double *speed = malloc(2 * (size_t)units * sizeof *speed), *per_byte = speed + units;
    struct calibrated c = {0};
    calibration_routes_close(&job->routes);
    c.known = speed && !calibration_speeds(job->is, job->shape.key, job->units, speed, per_byte) &&
              !calibration_routes_open(&job->routes, per_byte, units);
    if (c.known && job->routes.bandwidth > 0) c.per_byte = 1 / job->routes.bandwidth;
    evn_status status = share_calibrated(job, &c);
    if (!status && c.known) {
        int all;
        status = ranks_share(job->cluster, speed, units, sizeof *speed, (void **)&job->speed, &all);
        job->tasks.speed = job->speed;
        job->tasks.bandwidth = c.per_byte > 0 ? 1 / c.per_byte : 0;
    }
    if (!status && c.known && !job->cluster && job->routes.kinds) {
        job->tasks.kinds = job->routes.kinds;
        job->tasks.kind = job->routes.kind;
        job->tasks.route = job->routes.route;
    }
    free(speed);
    return status ? give_up(status) : 0;
}

/* Replaces auto, once it is open as a unit of each part, by another list where that is faster for
 * these tasks. Speeds are of units that the user knows; devices and other ranks have their shares
 * of the tasks, which is what the schedule is for. */
static int choose_units(struct job *job, const struct job_words *words, unsigned flags) {
    const char *name = schedule_name(job, words);
    if (strcmp(words->units, "auto") != 0 || *job->units_text || job->cluster ||
        evn_units_about(job->units).gpus || words->speeds || strstr(name, "speed="))
        return 0;
    struct choice_for what = {job->is,      job->state,  &job->tasks, name,
                              job->machine, CHOICE_COST, 0,           0};
    calibration_teams(job->is, job->shape.key, job->machine, &what.cost);
    const int code = choice_make(&job->choice, &what);
    if (code || !*job->choice.list) return code;
    snprintf(job->units_text, sizeof job->units_text, "%s", job->choice.list);
    return open_units(job, words, job->units_text, flags);
}

int job_units(struct job *job, const struct job_words *words, unsigned flags) {
    const char *schedule = schedule_name(job, words);
    const int may = !(flags & EVN_DESCRIBE_ONLY) && !strncmp(schedule, "binpack:", 8) &&
                    strcmp(schedule, "binpack:time") != 0;
    int code = may ? reassign_cores(job, words) : 0;
    if (code) return code;
    code = open_units(job, words, *job->units_text ? job->units_text : words->units, flags);
    if (!code) code = choose_units(job, words, flags);
    if (code) return code;
    const int steps = words->steps < 0 ? job->shape.steps : (int)words->steps;
    job->tasks.units =
        job->cluster ? evn_cluster_about(job->cluster).units : evn_units_count(job->units);
    job->tasks.instances = (steps + job->shape.group - 1) / job->shape.group;
    job->tasks.bandwidth = 0;
    if (words->speeds)
        code = read_speeds(job, words->speeds);
    else if (words->calibrated && evn_schedule_uses_speeds(schedule_name(job, words)))
        code = take_calibrated(job);
    return code || !job->cluster ? code : find_bytes(job);
}

void job_close_units(struct job *job) {
    evn_schedule_close(job->schedule);
    if (job->session) evn_session_units_close(job->session);
    free_all(job->speed, job->bytes, job->needs);
    calibration_routes_close(&job->routes);
    job->tasks.kinds = 0;
    job->tasks.kind = NULL;
    job->tasks.route = NULL;
    job->tasks.speed = job->tasks.state = job->tasks.bytes = NULL;
    job->bytes = job->needs = job->speed = NULL;
    job->schedule = NULL;
    job->units = NULL;
}

int job_schedule(struct job *job, const struct job_words *words) {
    evn_status status =
        evn_session_schedule(&job->schedule, job->session, schedule_name(job, words), &job->tasks);
    return status ? give_up(status) : words->plan ? plan_file_read(words->plan, job->schedule) : 0;
}

/* Which rank has each task in the first instance: as a loop has it. */
static evn_status first_ranks(const struct job *job, int *rank) {
    evn_loop *loop;
    evn_status status = evn_loop_open_on(&loop, job->units, job->schedule, job->cluster);
    if (status) return status;
    const int *owner = evn_loop_next(loop, NULL);
    for (int t = 0; t < job->tasks.tasks; t++)
        rank[t] = evn_cluster_rank_of(job->cluster, owner[t]);
    evn_loop_close(loop);
    return EVN_OK;
}

int job_make(struct job *job, const struct job_words *words) {
    if (!job->cluster || !job->is->make) return 0;
    int *rank = malloc((size_t)job->tasks.tasks * sizeof *rank);
    evn_status status =
        rank ? EVN_OK : evn_fail(EVN_MEMORY, "not enough memory for %d tasks", job->tasks.tasks);
    status = evn_cluster_agree(job->cluster, status);
    if (!status) status = first_ranks(job, rank);
    int code = status ? give_up(status) : 0;
    evn_session_units_close(job->session);
    job->units = NULL;
    if (!code) code = job->is->make(job->state, rank);
    free(rank);
    code = ranks_agree(job->cluster, code);
    const char *list = *job->units_text ? job->units_text : words->units;
    return ranks_agree(job->cluster, code ? code : open_units(job, words, list, 0));
}

void job_off(struct job *job) {
    job_close_units(job);
    evn_close(job->session);
    job->session = NULL;
    job->machine = NULL;
}

void job_close(struct job *job) {
    job_off(job);
    if (job->state) job->is->close(job->state);
    free(job->state);
}

int job_cores(const struct job *job) {
    int cores = 0;
    for (int u = 0; u < evn_units_count(job->units); u++)
        cores += evn_unit_cores(evn_units_get(job->units, u));
    return cores;
}
