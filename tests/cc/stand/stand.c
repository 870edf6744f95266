/* A stand-in for the run-time that directives need: the region is an ordinary one of OpenMP's, and
 * its threads are the units, each with every so-many-th iteration. Enough to see that generated
 * programs compute what plain C does; nothing of units, schedules or errors. */
#include "evener/cu_prelude.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static evn_cu_int all;
static int instance;
static void *parts[8];
static size_t parts_size[8];
static double *weights;
static _Thread_local evn_cu_int next, stride, trips_here;
static _Thread_local int seen, within;

evn_cu_int evn_cu_trips(evn_cu_site *site, evn_cu_int from, evn_cu_int to, evn_cu_int step,
                        int relation) {
    const int up = relation == EVN_CU_LESS || relation == EVN_CU_LESS_EQUAL;
    if (relation == EVN_CU_LESS_EQUAL) to++;
    if (relation == EVN_CU_MORE_EQUAL) to--;
    if (up ? from >= to : from <= to) return 0;
    if (up ? step <= 0 : step >= 0) {
        fprintf(stderr, "%s:%d: step\n", site->file, site->line);
        exit(1);
    }
    return up ? (to - from + step - 1) / step : (from - to - step - 1) / -step;
}

void evn_cu_option(evn_cu_site *site, const char *name, evn_cu_int value) {
    if (getenv("STAND_TELL")) printf("%s: %s = %lld\n", site->schedule, name, value);
}

double *evn_cu_weights(evn_cu_site *site, evn_cu_int trips) {
    (void)site;
    return weights = realloc(weights, sizeof(double) * (size_t)(trips + 1));
}

void evn_cu_speed(evn_cu_site *site, int family, double speed) {
    if (getenv("STAND_TELL")) printf("%s: speed of %d %g\n", site->schedule, family, speed);
}

void evn_cu_batch(evn_cu_site *site, void (*body)(const evn_cu_int *, int)) {
    (void)site;
    (void)body;
}

void *evn_cu_parts(evn_cu_site *site, int which, size_t bytes, evn_cu_int trips) {
    (void)site;
    if (parts_size[which] < bytes * (size_t)trips)
        parts[which] = realloc(parts[which], parts_size[which] = bytes * (size_t)trips);
    return parts[which];
}

static void tell(const evn_cu_group *group, int groups, evn_cu_int limit) {
    if (!getenv("STAND_TELL")) return;
    for (int i = 0; i < groups; i++)
        printf("%lld:%s:%lld ", group[i].count, group[i].family ? "GPU" : "CPU", group[i].size);
    printf("limit %lld\n", limit);
}

int evn_cu_enter(evn_cu_site *site, const evn_cu_group *group, int groups, evn_cu_int limit,
                 evn_cu_int trips) {
    (void)site;
    tell(group, groups, limit);
    all = trips;
    instance++;
    return trips > 0;
}

evn_cu_int evn_cu_next(void) {
    if (!within && seen != instance) {
        seen = instance;
        trips_here = all;
        next = omp_get_thread_num();
        stride = omp_get_num_threads();
    }
    if (next >= trips_here) {
        within = 0;
        return -1;
    }
    const evn_cu_int t = next;
    next += stride;
    return t;
}

int evn_cu_teams(evn_cu_site *site, const evn_cu_group *group, int groups, evn_cu_int limit) {
    (void)site;
    tell(group, groups, limit);
    return omp_get_max_threads();
}

evn_cu_int evn_cu_team(void) { return omp_get_thread_num(); }

/* In a region the next one has one thread. */
int evn_cu_distribute(evn_cu_site *site, evn_cu_int trips) {
    if (!omp_in_parallel()) return evn_cu_enter(site, NULL, 0, 0, trips);
#pragma omp barrier
    within = trips > 0;
    trips_here = trips;
    next = omp_get_thread_num();
    stride = omp_get_num_threads();
    return within;
}

int evn_cu_is_gpu(void) { return getenv("STAND_GPU") != NULL; }
