/* How schedules that learn settle, in virtual time: tasks cost 1 to 16, which no weight tells, on
 * units of speed 1, 1, 2, 4. A line for each schedule and size, with exact times and with noise of
 * 10 % on the time of each task: the longest unit over the mean by true costs, when the loop
 * begins, the worst of all instances, after 6 and 15 of them and in the last; the best that is
 * possible, of consecutive tasks where the schedule has such; what a new plan would have by the
 * means of 15 such times, which is more than that since chance makes some units longer; the last
 * instance before which a task moved, and how many moved over the number of tasks; the longest
 * processor time of learning from an instance; that of all instances, and of the last half of
 * them, as a part of the loop's time; and the memory of the schedule. A schedule is told what a
 * loop tells it: the units' times, and those of tasks where it asks.
 *
 * Run: settle [-s SCHEDULE] [-n INSTANCES] [-l US] [-q] [-u] [-t] [-g] [-o] [TASKS UNITS]; without
 * a size, all of up to a million tasks, which takes some minutes; -q: those of up to 100,000, in
 * half a minute of processor time. -l: microseconds that a task takes in the mean (425); -u: units
 * have equal speeds; -t: their speeds are not told; -g: the tasks are a grid whose neighbours
 * exchange; -o: units could take tasks of others, as cores may, but here they never do. Nothing but
 * the processor time depends on the machine. */
#define _POSIX_C_SOURCE 200809L
#include <evener.h>
#include <evener/schedule.h>
#include "schedule/version.h"
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { INSTANCES = 1000, COSTS = 16 };
#define USUAL 425.0 /* us of a task, where none are told: units have a speed of 2 in the mean */

static const char *const schedules[] = {"map", "auto", "guided:time", "binpack:time", "interval"};
enum { SCHEDULES = sizeof schedules / sizeof *schedules };

static const int sizes[][2] = {{100, 2},      {100, 8},       {1000, 4},     {1000, 16},
                               {1000, 64},    {10000, 16},    {10000, 100},  {10000, 1000},
                               {100000, 100}, {100000, 1000}, {1000000, 16}, {1000000, 1000}};
enum { SIZES = sizeof sizes / sizeof *sizes, QUICK = 100000, KNOWN = 15 };

struct options {
    int instances, equal, untold, grid, quick, steals;
    double us; /* of a task in the mean */
};

struct loop {
    int tasks, units;
    double *cost, *speed, *seconds, *busy;
    int *owner, *before;
    double second; /* s of a task that costs 1 on a unit of speed 1 */
    double clock;  /* s that it takes to read the clock */
    double even;   /* s of an instance in which all units are done at once */
};

static double draw(unsigned long long *seed) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static double normal(unsigned long long *seed) {
    const double a = draw(seed), b = draw(seed);
    return sqrt(-2 * log(1 - a)) * cos(6.283185307179586 * b);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What now() takes, s. */
static double of_clock(void) {
    double least = 1;
    for (int i = 0; i < 1000; i++) {
        const double start = now();
        least = fmin(least, now() - start);
    }
    return least;
}

static void *room(size_t n, size_t size) {
    void *p = calloc(n, size);
    if (p) return p;
    fputs("settle: not enough memory\n", stderr);
    exit(3);
}

static struct loop open_loop(int tasks, int units, const struct options *o) {
    static const double speeds[] = {1, 1, 2, 4};
    struct loop l = {.tasks = tasks, .units = units};
    l.clock = of_clock();
    l.second = o->us * 1e-6 * 2 / ((1 + COSTS) / 2.0);
    const size_t n = (size_t)tasks, u = (size_t)units;
    unsigned long long seed = 12345;
    double work = 0, speed = 0;
    l.cost = room(n, sizeof *l.cost);
    l.seconds = room(n, sizeof *l.seconds);
    l.owner = room(n, sizeof *l.owner);
    l.before = room(n, sizeof *l.before);
    l.speed = room(u, sizeof *l.speed);
    l.busy = room(u, sizeof *l.busy);
    for (int t = 0; t < tasks; t++) work += l.cost[t] = l.second * (1 + floor(COSTS * draw(&seed)));
    for (int i = 0; i < units; i++) speed += l.speed[i] = o->equal ? 1 : speeds[i % 4];
    l.even = work / speed;
    return l;
}

static void close_loop(struct loop *l) {
    free(l->cost);
    free(l->seconds);
    free(l->owner);
    free(l->before);
    free(l->speed);
    free(l->busy);
}

/* Neighbours in a square, as far as that goes. */
static evn_link *make_grid(int tasks, int *links) {
    const int across = (int)ceil(sqrt(tasks));
    evn_link *link = room(2 * (size_t)tasks, sizeof *link);
    *links = 0;
    for (int t = 0; t < tasks; t++) {
        if ((t + 1) % across && t + 1 < tasks) link[(*links)++] = (evn_link){{t, t + 1}, 1000};
        if (t + across < tasks) link[(*links)++] = (evn_link){{t, t + across}, 1000};
    }
    return link;
}

/* Whether all tasks fit into consecutive parts that take no unit longer than this. */
static int fits(const struct loop *l, double longest) {
    int t = 0;
    for (int u = 0; u < l->units; u++)
        for (double left = longest * l->speed[u]; t < l->tasks && l->cost[t] <= left; t++)
            left -= l->cost[t];
    return t == l->tasks;
}

/* Whether the units could take all that tasks cost, whose costs are whole numbers. */
static int could_fit(const struct loop *l, double longest) {
    double room = 0, work = 0;
    for (int t = 0; t < l->tasks; t++) work += l->cost[t] / l->second;
    for (int u = 0; u < l->units; u++) room += floor(longest * l->speed[u] / l->second + 1e-9);
    return room >= work - 0.5;
}

/* What no assignment can be below, of consecutive tasks what the best of them has. */
static double best(const struct loop *l, int consecutive) {
    int (*const fit)(const struct loop *, double) = consecutive ? fits : could_fit;
    double low = l->even * (1 - 1e-5), high = 2 * l->even;
    while (!fit(l, high)) high *= 2;
    while (high > low * (1 + 1e-5)) {
        const double middle = 0.5 * (low + high);
        if (fit(l, middle))
            high = middle;
        else
            low = middle;
    }
    return high / l->even;
}

/* Plans by l->seconds, which stand for the costs. */
static void plan(struct loop *l, int consecutive) {
    double *const cost = l->cost;
    evn_schedule *s;
    if (consecutive) {
        l->cost = l->seconds;
        const double longest = best(l, 1) * l->even;
        l->cost = cost;
        int t = 0;
        for (int u = 0; u < l->units; u++)
            for (double left = longest * l->speed[u]; t < l->tasks && l->seconds[t] <= left; t++) {
                left -= l->seconds[t];
                l->owner[t] = u;
            }
        return;
    }
    const evn_problem p = {
        .tasks = l->tasks, .units = l->units, .speed = l->speed, .weight = l->seconds};
    if (evn_schedule_open(&s, "binpack", &p)) exit(2);
    memcpy(l->owner, evn_schedule_owner(s), (size_t)l->tasks * sizeof *l->owner);
    evn_schedule_close(s);
}

/* The longest unit over the mean, by true costs, of a plan by the means of KNOWN noisy times. */
static double known(struct loop *l, double noise, int consecutive) {
    unsigned long long seed = 4242;
    double longest = 0;
    for (int t = 0; t < l->tasks; t++)
        l->seconds[t] = l->cost[t] * (1 + noise / sqrt(KNOWN) * normal(&seed));
    plan(l, consecutive);
    memset(l->busy, 0, (size_t)l->units * sizeof *l->busy);
    for (int t = 0; t < l->tasks; t++)
        longest = fmax(longest, l->busy[l->owner[t]] += l->cost[t] / l->speed[l->owner[t]]);
    return longest / l->even;
}

/* Who ran the tasks, with their true times; returns the longest unit's over the mean. */
static double run(struct loop *l, const evn_schedule *s) {
    const int chunk = evn_schedule_about(s).chunk, *order = evn_schedule_about(s).order;
    double longest = 0;
    memset(l->busy, 0, (size_t)l->units * sizeof *l->busy);
    if (!chunk) memcpy(l->owner, evn_schedule_owner(s), (size_t)l->tasks * sizeof *l->owner);
    for (int i = 0, unit = 0; i < l->tasks; i++) {
        const int t = chunk && order ? order[i] : i;
        if (chunk && i % chunk == 0)
            for (int u = unit = 0; u < l->units; u++)
                if (l->busy[u] < l->busy[unit]) unit = u;
        if (chunk) l->owner[t] = unit;
        const int u = l->owner[t];
        l->busy[u] += l->seconds[t] = l->cost[t] / l->speed[u];
    }
    for (int u = 0; u < l->units; u++) longest = fmax(longest, l->busy[u]);
    return longest / l->even;
}

/* Tells the schedule of an instance, as a loop does; the processor time that it takes, s. */
static double tell(struct loop *l, evn_schedule *s, int same) {
    double *unit_s = schedule_unit_times(s);
    evn_status status = EVN_OK;
    memset(l->busy, 0, (size_t)l->units * sizeof *l->busy);
    for (int t = 0; t < l->tasks; t++) l->busy[l->owner[t]] += l->seconds[t];
    const double start = now();
    if (unit_s) {
        memcpy(unit_s, l->busy, (size_t)l->units * sizeof *unit_s);
        status = schedule_learn_units(s, l->owner, l->seconds, same);
    } else {
        status = evn_schedule_learn(s, l->owner, l->seconds);
    }
    if (status) exit(1);
    return fmax(now() - start - l->clock, 0);
}

static void line(const char *spec, int tasks, int units, double noise, const struct options *o) {
    struct loop l = open_loop(tasks, units, o);
    unsigned long long seed = 777;
    evn_schedule *s;
    evn_problem p = {.tasks = tasks, .units = units, .instances = INSTANCES};
    p.speed = o->untold ? NULL : l.speed;
    evn_link *link = o->grid ? make_grid(tasks, &p.links) : NULL;
    p.link = link;
    const struct mallinfo2 empty = mallinfo2();
    const double begun = now();
    if (evn_schedule_open(&s, spec, &p)) {
        fprintf(stderr, "settle: %s\n", evn_message());
        exit(2);
    }
    const double opened = now() - begun;
    schedule_set_stealing(s, o->steals);
    double first = 0, worst = 0, at[2] = {0}, ratio = 0, learnt = 0, most = 0, loop = 0;
    double late = 0, late_loop = 0;
    long moved = 0;
    int last = 0;
    for (int i = 0; i < o->instances; i++) {
        ratio = run(&l, s);
        long moves = 0;
        for (int t = 0; i && t < tasks; t++) moves += l.owner[t] != l.before[t];
        memcpy(l.before, l.owner, (size_t)tasks * sizeof *l.before);
        moved += moves;
        if (moves) last = i;
        if (!i) first = ratio;
        worst = fmax(worst, ratio);
        if (i == 6 || i == 15) at[i == 15] = ratio;
        loop += ratio * l.even;
        if (noise > 0)
            for (int t = 0; t < tasks; t++) l.seconds[t] *= fmax(0.1, 1 + noise * normal(&seed));
        const double took = tell(&l, s, i && !moves);
        learnt += took;
        late += 2 * i >= o->instances ? took : 0;
        late_loop += 2 * i >= o->instances ? ratio * l.even : 0;
        most = fmax(most, took);
    }
    const struct mallinfo2 full = mallinfo2();
    const int consecutive = !strncmp(spec, "guided", 6) || !strncmp(spec, "interval", 8);
    printf("%-13s %7d x %-4d %4.0f %% %7.4f %7.4f %7.4f %7.4f %7.4f %7.4f %7.4f %5d %7.3f %8.4f "
           "%6.2f %6.2f %6.0f %8.4f\n",
           spec, tasks, units, 100 * noise, first, worst, at[0], at[1], ratio,
           best(&l, consecutive), known(&l, noise, consecutive), last, (double)moved / tasks, most,
           100 * learnt / loop, 100 * late / late_loop,
           (double)(full.uordblks + full.hblkhd - empty.uordblks - empty.hblkhd) / tasks, opened);
    fflush(stdout);
    evn_schedule_close(s);
    free(link);
    close_loop(&l);
}

int main(int argc, char **argv) {
    struct options o = {.instances = 40, .us = USUAL};
    const char *only = NULL;
    int c;
    while ((c = getopt(argc, argv, "s:n:l:qutgo")) != -1) {
        if (c == 's') only = optarg;
        if (c == 'n') o.instances = atoi(optarg);
        if (c == 'l') o.us = atof(optarg);
        if (c == 'q') o.quick = 1;
        if (c == 'u') o.equal = 1;
        if (c == 't') o.untold = 1;
        if (c == 'g') o.grid = 1;
        if (c == 'o') o.steals = 1;
        if (c == '?') return 2;
    }
    if (o.instances < 1 || !(o.us > 0 && o.us < 1e9)) return 2;
    printf("%-13s %14s %6s %7s %7s %7s %7s %7s %7s %7s %5s %7s %8s %6s %6s %6s %8s\n", "schedule",
           "tasks x units", "noise", "first", "worst", "6", "15", "last", "best", "known", "until",
           "moved", "most s", "% loop", "% late", "B/task", "open s");
    const int given = argc - optind == 2;
    for (int k = 0; k < SCHEDULES; k++)
        for (int i = 0; i < (given ? 1 : SIZES); i++) {
            const int n = given ? atoi(argv[optind]) : sizes[i][0];
            const int u = given ? atoi(argv[optind + 1]) : sizes[i][1];
            const char *spec = only ? only : schedules[k];
            if ((only && k) || (o.quick && n > QUICK)) continue;
            if (n < 1 || u < 1) return 2;
            line(spec, n, u, 0, &o);
            line(spec, n, u, 0.1, &o);
        }
    return 0;
}
