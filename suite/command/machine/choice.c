/* Lists of units for a machine's parts and a workload's tasks, and which of them is fastest by the
 * model (evn_predict_units()). */
#include "machine/choice.h"
#include "common/cli/message.h"
#include "common/run/record.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list must be so much better than a unit of each part to be chosen: the model is not exact, and
 * units of a whole part can even out what it does not know. */
static const double HARDLY = 1.015;

static const double EVEN = 1.001; /* nearly an even share */

/* How far the model is trusted: what is so close behind the best may be faster. */
static const double DOUBT = 1.05;

/* Loss of a unit whose cores are of several parts, for each doubling of their number: tasks that
 * change hands come from another cache, and barriers go farther. Assumed. */
static const double APART = 0.05;

enum {
    GROUPS = 64, /* of a list that units can be opened with */
    SOME = 4,    /* tasks a core: enough for units of one core */
    FEW = 2,     /* tasks a core: then lists of units alike are looked at, */
    LOOKS = 4,   /* these thoroughly */
    WORSE = 2    /* sizes after each other that are worse and worse: larger ones are as bad */
};

/* ---- how fast a list is ---- */

/* Parts that `cores` cores from `first` on are in. */
static int parts_of(const evn_machine *m, int first, int cores) {
    return evn_machine_part_of(m, first + cores - 1) - evn_machine_part_of(m, first) + 1;
}

/* Of all cores, one core of the fastest kind having 1. */
static double speed_of_all(const evn_machine *m) {
    double sum = 0;
    for (int i = 0; i < evn_machine_about(m).parts; i++) {
        const evn_part *part = evn_machine_part(m, i);
        sum += part->cores * evn_machine_kind(m, part->kind)->speed;
    }
    return sum;
}

static double weight_of_all(const evn_problem *tasks) {
    double sum = 0;
    for (int t = 0; t < tasks->tasks; t++) sum += tasks->weight ? tasks->weight[t] : 1;
    return sum;
}

/* `cores` and `speed`: room for as many as there are units; `even`: the time of an even share. */
static evn_status predict(const struct choice_for *what, const evn_units *units, double even,
                          int *cores, double *speed, double *busy, double *longest) {
    const int n = evn_units_count(units);
    const struct workload_teams *teams = what->is->teams;
    const evn_team_cost cost = {what->cost.doubling, teams ? teams->phases : NULL, what->state,
                                what->cost.meeting, what->enough * even * (1 + 1e-9)};
    evn_problem tasks = *what->tasks;
    for (int u = 0, at = 0; u < n; at += cores[u++]) {
        cores[u] = evn_unit_cores(evn_units_get(units, u));
        speed[u] = evn_unit_about(evn_units_get(units, u)).speed /
                   (1 + APART * log2(parts_of(what->machine, at, cores[u])));
    }
    tasks.units = n;
    tasks.speed = speed;
    evn_status status = evn_predict_units(&tasks, what->schedule, cores, &cost, busy);
    *longest = 0;
    for (int u = 0; !status && u < n; u++) *longest = fmax(*longest, busy[u]);
    return status;
}

double choice_over(const struct choice_for *what, const char *list) {
    evn_units *units;
    double longest = NAN;
    evn_status status = evn_units_open(&units, what->machine, list, NULL, EVN_DESCRIBE_ONLY);
    if (status) {
        give_up(status);
        return NAN;
    }
    const size_t n = (size_t)evn_units_count(units);
    int *cores = malloc(n * sizeof *cores);
    double *speed = malloc(2 * n * sizeof *speed);
    const double even = weight_of_all(what->tasks) / speed_of_all(what->machine);
    status = cores && speed ? predict(what, units, even, cores, speed, speed + n, &longest)
                            : evn_fail(EVN_MEMORY, "not enough memory for %zu units", n);
    if (status) give_up(status);
    free(cores);
    free(speed);
    evn_units_close(units);
    return status ? NAN : even > 0 ? longest / even : 1;
}

/* ---- lists ---- */

/* A list as it grows: `count` units of `size` cores are not written yet. */
struct writing {
    char *text;
    size_t at;
    int units, most; /* so far, and at most */
    int groups, count, size;
};

static void write_down(struct writing *w) {
    if (w->count && w->at < CHOICE_LIST)
        w->at += (size_t)snprintf(w->text + w->at, CHOICE_LIST - w->at, "%s%d:CPU:%d",
                                  w->at ? "," : "", w->count, w->size);
    w->groups += w->count > 0;
    w->count = 0;
}

static void add_unit(struct writing *w, int size) {
    if (w->units == w->most) return;
    w->units++;
    if (size != w->size) write_down(w);
    w->size = size;
    w->count++;
}

/* A list of each part cut into `cut` units as equal as can be, or of `join` neighbours of one kind
 * together; no more units than tasks. 0: there is no such list. */
static int write_list(const struct choice_for *what, int cut, int join, char *text) {
    const evn_machine *m = what->machine;
    struct writing w = {.text = text, .most = what->tasks->tasks};
    *text = 0;
    for (int i = 0; i < evn_machine_about(m).parts;) {
        const evn_part *first = evn_machine_part(m, i), *part = first;
        int cores = 0, joined = 0;
        for (; part && part->kind == first->kind && joined < join;
             part = evn_machine_part(m, ++i), joined++)
            cores += part->cores;
        const int units = cut < cores ? cut : cores;
        for (int u = 0; u < units; u++) add_unit(&w, cores / units + (u < cores % units));
    }
    write_down(&w);
    return w.at < CHOICE_LIST && w.groups <= GROUPS;
}

/* Finds how fast a list is, of those in `out` (NULL: none) by such a look, or by the model.
 * EXIT_USAGE after a message. */
static int look_at(const struct choice *out, const struct choice_for *what,
                   struct choice_try *now) {
    now->quick = what->quick;
    for (int i = 0; out && i < out->count; i++)
        if (out->tried[i].quick == now->quick && !strcmp(out->tried[i].list, now->list)) {
            now->over = out->tried[i].over;
            return 0;
        }
    now->over = choice_over(what, now->list);
    return isnan(now->over) ? EXIT_USAGE : 0;
}

static int try_list(struct choice *out, const struct choice_for *what, int cut, int join) {
    struct choice_try *now = &out->tried[out->count];
    if (out->count == CHOICES || !write_list(what, cut, join, now->list)) return 0;
    for (int i = 0; i < out->count; i++)
        if (!strcmp(out->tried[i].list, now->list)) return 0;
    if (look_at(NULL, what, now)) return EXIT_USAGE;
    out->count++;
    return 0;
}

/* ---- the choice ---- */

/* Whether each part can be cut into that many units of equal size, smaller ones into cores. */
static int cuts_evenly(const evn_machine *m, int cut) {
    for (int i = 0; i < evn_machine_about(m).parts; i++) {
        const int cores = evn_machine_part(m, i)->cores;
        if (cut < cores && cores % cut) return 0;
    }
    return 1;
}

/* Cores of the largest part. */
static int largest_part(const evn_machine *m) {
    int most = 0;
    for (int i = 0; i < evn_machine_about(m).parts; i++) {
        const int cores = evn_machine_part(m, i)->cores;
        most = cores > most ? cores : most;
    }
    return most;
}

/* With a schedule that is made in no time, while the workload's own may take a tenth of a second
 * for each list. */
static struct choice_for quickly(const struct choice_for *what) {
    struct choice_for quick = *what;
    quick.schedule = "binpack";
    quick.quick = 1;
    return quick;
}

/* Lists of larger and larger units, and whether these get worse and worse. */
struct growth {
    double before, least;
    int worse;
};

/* 1 once WORSE lists after each other were slower than the one before and clearly than the best. */
static int grows_worse(struct growth *g, double over) {
    g->least = fmin(g->least, over);
    g->worse = over > fmax(g->before, DOUBT * g->least) ? g->worse + 1 : 0;
    g->before = over;
    return g->worse == WORSE;
}

/* Of the lists from `first` on that are not `close`, the best by a quick look; -1: none. */
static int next_close(const struct choice *out, int first, const char *close) {
    int next = -1;
    for (int i = first; i < out->count; i++)
        if (!close[i] && (next < 0 || out->tried[i].over < out->tried[next].over)) next = i;
    return next;
}

/* Keeps those from `first` on, which have had a quick look, that are close to the best: under the
 * workload's own schedule they are slower than that, or hardly faster. */
static int try_close(struct choice *out, const struct choice_for *what, int first) {
    char close[CHOICES] = {0};
    double least = INFINITY;
    for (int i = 0; i < first; i++) least = fmin(least, out->tried[i].over);
    for (int i; (i = next_close(out, first, close)) >= 0 && out->tried[i].over <= DOUBT * least;) {
        if (look_at(NULL, what, &out->tried[i])) return EXIT_USAGE;
        least = fmin(least, out->tried[i].over);
        close[i] = 1;
    }
    const int all = out->count;
    out->count = first;
    for (int i = first; i < all; i++) {
        if (!close[i]) continue;
        if (i > out->count) out->tried[out->count] = out->tried[i];
        out->count++;
    }
    return 0;
}

static int try_parts(struct choice *out, const struct choice_for *what) {
    const int most = largest_part(what->machine), parts = evn_machine_about(what->machine).parts;
    const struct choice_for quick = quickly(what);
    int code = 0;
    for (int cut = 1; !code && cut <= most; cut++)
        if (cuts_evenly(what->machine, cut)) code = try_list(out, &quick, cut, 1);
    struct growth growth = {.before = INFINITY, .least = INFINITY};
    for (int i = 0; i < out->count; i++) growth.least = fmin(growth.least, out->tried[i].over);
    for (int join = 2, stop = 0; !code && !stop && join < 2 * parts; join *= 2) {
        const int before = out->count;
        code = try_list(out, &quick, 1, join);
        stop = out->count > before && grows_worse(&growth, out->tried[before].over);
    }
    return code;
}

/* The list of units of `size` cores, at most one a task; EXIT_USAGE after a message. What `out` has
 * (NULL: nothing) is not computed anew. */
static int try_size(const struct choice *out, const struct choice_for *what, int size,
                    struct choice_try *now) {
    const int units = evn_machine_cores(what->machine) / size, tasks = what->tasks->tasks;
    snprintf(now->list, sizeof now->list, "%d:CPU:%d", units < tasks ? units : tasks, size);
    return look_at(out, what, now);
}

int choice_alike(const struct choice_for *what, struct choice_try *best) {
    const int cores = evn_machine_cores(what->machine);
    best->over = INFINITY;
    /* from an even share on there is nothing left to gain */
    for (int m = 1; m <= cores && best->over > EVEN; m++) {
        struct choice_try now;
        if (try_size(NULL, what, m, &now)) return EXIT_USAGE;
        if (now.over < best->over) *best = now;
    }
    return 0;
}

/* The least that units of `size` cores take, over an even share: their cores may not be all; and
 * where they are more than tasks, no division is faster than an even one, by what a team's doubling
 * costs. */
static double at_least(const struct choice_for *what, int size) {
    const evn_machine *m = what->machine;
    const int most = evn_machine_cores(m) / size, tasks = what->tasks->tasks;
    const double cores = (double)(most < tasks ? most : tasks) * size;
    double fastest = 0;
    for (int i = 0; i < evn_machine_about(m).kinds; i++)
        fastest = fmax(fastest, evn_machine_kind(m, i)->speed);
    const double team = 1 + what->cost.doubling * log2(fmax(cores / tasks, 1));
    return speed_of_all(m) / (fastest * cores) * team * (1 - 1e-9);
}

/* The best sizes so far, those of equal ones that are smaller first. */
struct looks {
    double over[LOOKS];
    int size[LOOKS], count;
};

static void note(struct looks *l, int size, double over) {
    int at = l->count < LOOKS ? l->count++ : LOOKS;
    for (;
         at > 0 && (l->over[at - 1] > over || (l->over[at - 1] == over && l->size[at - 1] > size));
         at--)
        if (at < LOOKS) l->over[at] = l->over[at - 1], l->size[at] = l->size[at - 1];
    if (at < LOOKS) l->over[at] = over, l->size[at] = size;
}

/* Whether units of `size` cores may be among the best: of as many units those of most cores, and
 * where each has few tasks any, since these may not gain by more cores. */
static int may_be_best(const struct choice_for *what, int size) {
    const int cores = evn_machine_cores(what->machine), units = cores / size;
    return size == cores / units || what->tasks->tasks <= FEW * units;
}

/* Finds the sizes that do best by a quick look. Those that leave no core out come first, as long as
 * they do not get worse; of the others only those are looked at that may be among the best. */
static int look_alike(const struct choice *out, const struct choice_for *what,
                      struct looks *looks) {
    const int cores = evn_machine_cores(what->machine);
    struct choice_for quick = quickly(what);
    struct choice_try now;
    struct growth growth = {.before = INFINITY, .least = INFINITY};
    int most = cores, first = cores; /* sizes that are looked at; the first that is worse */
    for (int even = 1; even >= 0; even--)
        for (int m = 1; m <= most; m++) {
            if ((cores % m == 0) != even || !may_be_best(what, m)) continue;
            if (looks->count == LOOKS && at_least(what, m) > looks->over[LOOKS - 1]) continue;
            if (!even && looks->count == LOOKS) quick.enough = looks->over[LOOKS - 1];
            if (try_size(out, &quick, m, &now)) return EXIT_USAGE;
            note(looks, m, now.over);
            if (!even) continue;
            const int stop = grows_worse(&growth, now.over);
            if (growth.worse == 1) first = m;
            if (stop) most = first;
        }
    return 0;
}

/* Adds the best of them. */
static int try_alike(struct choice *out, const struct choice_for *what, const struct looks *looks) {
    struct choice_try now, *best = &out->tried[out->count];
    if (!looks->count || out->count == CHOICES) return 0;
    best->over = INFINITY;
    for (int i = 0; i < looks->count && best->over > EVEN; i++) {
        if (try_size(out, what, looks->size[i], &now)) return EXIT_USAGE;
        if (now.over < best->over) *best = now;
    }
    out->count++;
    return 0;
}

/* Lists by parts, and units of any size: numbers of cores that suit them are any where a few tasks
 * decide. */
static int try_lists(struct choice *out, const struct choice_for *what) {
    const int cores = evn_machine_cores(what->machine), first = out->count;
    const int any = what->tasks->tasks < FEW * cores && evn_machine_about(what->machine).kinds <= 1;
    struct looks looks = {.count = 0};
    int code = try_parts(out, what);
    if (!code && any) code = look_alike(out, what, &looks);
    if (!code) code = try_close(out, what, first);
    return code ? code : try_alike(out, what, &looks);
}

/* few: there are fewer tasks than parts, so that the first list is not that of all parts. */
static void choose(struct choice *out, int few) {
    double least = INFINITY;
    for (int i = 0; i < out->count; i++) least = fmin(least, out->tried[i].over);
    for (out->best = 0; out->tried[out->best].over > least * (out->best ? EVEN : HARDLY);)
        out->best++;
    const char *are = out->best ? "faster by the model than a unit of each part"
                      : few     ? "a unit of a part each, as many as there are tasks"
                                : "a unit of each part";
    const struct choice_try *best = &out->tried[out->best];
    if (out->best || few) snprintf(out->list, sizeof out->list, "%s", best->list);
    const size_t at = (size_t)snprintf(
        out->why, sizeof out->why, "%s; the longest has %.2f of an even share", are, best->over);
    if (out->best)
        snprintf(out->why + at, sizeof out->why - at, ", with %.40s %.2f", out->tried[0].list,
                 out->tried[0].over);
    const size_t end = strlen(out->why);
    if (out->cost.measured)
        snprintf(out->why + end, sizeof out->why - end, "; a team's doubling costs %.2f, measured",
                 out->cost.doubling);
}

/* The best of the others, and of a unit of each core, if it is close. */
static int find_second(struct choice *out, const struct choice_for *what) {
    struct choice_try by_core = {.over = INFINITY}, *second = &out->second;
    const struct choice_try *best = &out->tried[out->best];
    second->over = INFINITY;
    for (int i = 0; i < out->count; i++)
        if (i != out->best && out->tried[i].over < second->over) *second = out->tried[i];
    struct choice_for quick = quickly(what);
    quick.quick = 0; /* a thorough look is as good */
    quick.enough = second->over < INFINITY ? fmax(second->over, DOUBT * best->over) : 0;
    if (write_list(what, largest_part(what->machine), 1, by_core.list) &&
        (look_at(out, &quick, &by_core) ||
         (by_core.over <= DOUBT * best->over && look_at(out, what, &by_core))))
        return EXIT_USAGE;
    if (by_core.over < second->over && strcmp(by_core.list, best->list) != 0) *second = by_core;
    if (second->over > DOUBT * best->over) *second->list = 0;
    return 0;
}

void choice_tried(struct choice *choice, double own, double other, int swap) {
    const struct choice_try *best = &choice->tried[choice->best];
    const char *taken = swap ? choice->second.list : best->list;
    snprintf(choice->why, sizeof choice->why,
             "%.60s, tried against %.60s: %.4g and %.4g ms a step; the longest has %.2f of an "
             "even share",
             taken, swap ? best->list : choice->second.list, 1e3 * (swap ? other : own),
             1e3 * (swap ? own : other), swap ? choice->second.over : best->over);
    snprintf(choice->list, sizeof choice->list, "%s", taken);
    choice->step_s[0] = own;
    choice->step_s[1] = other;
}

/* Without a model of the workload's teams. */
static void choose_plainly(struct choice *out, const struct choice_for *what) {
    const int cores = evn_machine_cores(what->machine), tasks = what->tasks->tasks;
    const int parts = evn_machine_about(what->machine).parts;
    const int by_core = what->is->by_core && cores > 1 && tasks >= SOME * cores &&
                        write_list(what, largest_part(what->machine), 1, out->list);
    const int joined =
        !by_core && 2 * tasks <= parts && write_list(what, 1, parts / tasks, out->list);
    if (!by_core && !joined) *out->list = 0;
    if (joined)
        snprintf(out->why, sizeof out->why, "neighbouring parts together, for %d %s%s", tasks,
                 what->is->noun, tasks == 1 ? "" : "s");
    else if (by_core)
        snprintf(out->why, sizeof out->why, "a unit of each core, which %d %ss are enough for",
                 tasks, what->is->noun);
    else
        snprintf(out->why, sizeof out->why, "a unit of each part, whose cores share %d %s%s", tasks,
                 what->is->noun, tasks == 1 ? "" : "s");
}

/* The schedule to predict with: `optimal`'s solver would take longer than its plan is worth here.
 */
static const char *to_predict_with(const char *schedule) {
    return strncmp(schedule, "optimal", 7) ? schedule : "binpack";
}

int choice_make(struct choice *out, const struct choice_for *what) {
    *out = (struct choice){.cost = what->cost};
    if (!what->is->teams) {
        choose_plainly(out, what);
        return 0;
    }
    struct choice_for now = *what;
    now.schedule = to_predict_with(what->schedule);
    int code = try_list(out, &now, 1, 1);
    /* nothing is better than an even share of all cores */
    const int is_near = out->count && out->tried[0].over <= HARDLY;
    if (!code && !is_near) code = try_lists(out, &now);
    if (!code && out->count) choose(out, now.tasks->tasks < evn_machine_about(now.machine).parts);
    return code || !out->count ? code : find_second(out, &now);
}

cJSON *choice_record(const struct choice *choice) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "why", choice->why);
    if (choice->count) {
        record_number(o, "doubling", choice->cost.doubling);
        cJSON_AddStringToObject(o, "doubling_is", choice->cost.measured ? "measured" : "assumed");
    }
    cJSON *list = cJSON_AddArrayToObject(o, "tried");
    for (int i = 0; i < choice->count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "units", choice->tried[i].list);
        record_number(one, "over_even", choice->tried[i].over);
        cJSON_AddItemToArray(list, one);
    }
    if (!choice->step_s[0]) return o;
    cJSON *tested = cJSON_AddObjectToObject(o, "step_s"); /* what the trial took of each */
    record_number(tested, choice->tried[choice->best].list, choice->step_s[0]);
    record_number(tested, choice->second.list, choice->step_s[1]);
    return o;
}
