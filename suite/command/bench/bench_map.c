/* evener bench schedules --map: map beside the other schedules on BT-MZ's zones, balance and bytes
 * cut, without computing.
 *
 * Three sets of units: 4 equal ones, 4 of speed 1 beside 2 of speed 5, and beside 2 of speed 50.
 * Each schedule as it is when settled, `dynamic` with chunks of one zone in a virtual clock.
 * Makespan is the longest unit's weight / speed over the bound: the mean, or the heaviest zone on
 * the fastest unit. The last column compares with what is asked of map: at most 1.02, 1.01 and
 * 1.005 of the bound for classes B, C and D, half of dynamic's bytes and fewer than guided's; with
 * units 50 times as fast no longer than the best of the others but for a two hundredth, and then
 * with fewer bytes. */
#include "bench/bench_schedules.h"
#include "common/cli/message.h"
#include "run/job.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const specs[] = {"static",   "dynamic:chunk=1", "guided:size",
                                    "weighted", "binpack",         "map"};
enum { SPECS = sizeof specs / sizeof *specs, INSTANCES = 12, UNITS = 6 };

/* As it is defined above. */
static double makespan(const evn_problem *p, const int *owner) {
    double time[UNITS] = {0}, longest = 0, total = 0, max = 0, speeds = 0, fastest = 0;
    for (int t = 0; t < p->tasks; t++) {
        time[owner[t]] += p->weight[t] / p->speed[owner[t]];
        total += p->weight[t];
        max = fmax(max, p->weight[t]);
    }
    for (int u = 0; u < p->units; u++) {
        longest = fmax(longest, time[u]);
        speeds += p->speed[u];
        fastest = fmax(fastest, p->speed[u]);
    }
    return longest / fmax(total / speeds, max / fastest);
}

struct row {
    int known; /* the schedule is there */
    double makespan, cut, seconds;
};

static struct row measure(const evn_problem *p, const char *spec) {
    struct row row = {0};
    evn_schedule *s;
    int *owner = malloc(sizeof *owner * (size_t)p->tasks);
    double *seconds = malloc(sizeof *seconds * (size_t)p->tasks), began = evn_now();
    if (owner && seconds && !evn_schedule_open(&s, spec, p)) {
        row.seconds = evn_now() - began;
        row.known = 1;
        for (int i = 0; i < INSTANCES && row.known; i++)
            row.known =
                !evn_schedule_simulate(s, owner, seconds) && !evn_schedule_learn(s, owner, seconds);
        row.known = row.known && !evn_schedule_simulate(s, owner, seconds);
        evn_schedule_close(s);
        if (row.known) {
            row.makespan = makespan(p, owner);
            row.cut = evn_problem_cut(p, owner, NULL);
        }
    }
    free(seconds);
    free(owner);
    return row;
}

/* The fault of map's row, the last one; NULL: none. */
static const char *verdict(const struct row *row, char class_, int fast) {
    const struct row *map = &row[SPECS - 1], *dynamic = &row[1], *guided = &row[2];
    if (!map->known || !dynamic->known || !guided->known) return "a schedule is missing";
    double limit = class_ == 'B' ? 1.02 : class_ == 'C' ? 1.01 : class_ == 'D' ? 1.005 : INFINITY;
    if (fast <= 5 && map->makespan > limit) return "TOO LONG";
    if (fast <= 5 && 2 * map->cut > dynamic->cut) return "MORE THAN HALF OF DYNAMIC'S BYTES";
    if (fast <= 5 && map->cut >= guided->cut) return "NOT FEWER BYTES THAN GUIDED'S";
    for (int i = 0; i < SPECS - 1; i++)
        if (row[i].known && (map->makespan > 1.005 * row[i].makespan ||
                             (map->makespan > row[i].makespan && map->cut >= row[i].cut)))
            return "WORSE THAN ANOTHER";
    return NULL;
}

/* A row a schedule on the zones of a class, with units of which two are `fast` times the others; 1:
 * what is asked of map does not hold. */
static int table(const evn_problem *zones, char class_, int fast) {
    evn_problem p = *zones;
    double speed[UNITS] = {1, 1, 1, 1, fast, fast};
    struct row row[SPECS];
    char units[32];
    p.units = fast == 1 ? 4 : UNITS;
    p.speed = speed;
    snprintf(units, sizeof units, fast == 1 ? "4 x 1" : "4 x 1, 2 x %d", fast);
    for (int i = 0; i < SPECS; i++) row[i] = measure(&p, specs[i]);
    const char *wrong = verdict(row, class_, fast);
    for (int i = 0; i < SPECS; i++) {
        if (!row[i].known) continue;
        printf("%-5c  %-12s  %-16s  %9.4f  %13.0f  %12.2f  %12.2f  %9.4f", class_, units, specs[i],
               row[i].makespan, row[i].cut, row[1].cut / row[i].cut, row[2].cut / row[i].cut,
               row[i].seconds);
        if (i == SPECS - 1) printf("  %s", wrong ? wrong : "ok");
        printf("\n");
    }
    return row[SPECS - 1].known && wrong;
}

int bench_map_table(const char *classes) {
    static const int fast[] = {1, 5, 50};
    const struct workload *is = workload_find("bt-mz");
    int failed = 0, code = 0;
    if (!is) {
        complain("--map: it is about the zones of bt-mz, which is not in this command");
        return 1;
    }
    printf("%-5s  %-12s  %-16s  %9s  %13s  %12s  %12s  %9s\n", "class", "units", "schedule",
           "makespan", "bytes cut", "dynamic's by", "guided's by", "planned s");
    for (int f = 0; f < 3; f++)
        for (const char *c = classes; !code && *c; c++) {
            struct job job;
            char option[16];
            snprintf(option, sizeof option, "--class=%c", *c);
            code = job_begin(&job, is);
            if (!code) code = job_option(&job, "bench schedules", option);
            if (!code) code = job_check(&job);
            if (!code) code = job_open(&job, 0);
            if (!code) failed |= table(&job.tasks, *c, fast[f]);
            job_close(&job);
        }
    return code ? code : failed;
}
