/* BT-MZ with its loops over zones as directives, compiled by evener-cc: the app's own phases,
 * set-up and exchange, and nothing of its loops. Prints the hash and whether it is verified, as
 * `evener run bt-mz` does, and what a step takes beside the hand-written one, in turn in one run.
 *
 *     bench-cu-btmz [CLASS [PAIRS]]     units, devices, schedule as EVENER_UNITS, EVENER_DEVICES
 * and EVENER_SCHEDULE say
 */
#include "npbmz/device/gpu.h"
#include "npbmz/host/verify.h"
#include "npbmz/mesh/mesh.h"
#include "npbmz/run/run.h"
#include <evener/number.h>
#include <omp_cu.h>
#include <stdio.h>
#include <stdlib.h>

static struct run run;
static zone_pass *pass; /* NULL: units and loop are made, and nothing else is done */

static void try(evn_status status) {
    if (!status && !atomic_load(&run.out_of_memory)) return;
    exit(evn_complain("bench-cu-btmz"));
}

/* A zone, by the team of the unit at hand. */
static void by_team(int z) {
    const int cores = omp_get_num_threads();
    struct scratch *s = setup_fit_scratch(&run, (int)omp_get_cu_num(), 0, cores);
    if (!s) exit(1);
    if (cores == 1) {
        pass(&run, z, s, &(struct team){0, 1, NULL});
        return;
    }
#pragma omp parallel num_threads(cores)
    pass(&run, z, s, &(struct team){omp_get_thread_num(), cores, NULL});
}

/* A batch on a device: the zones' step in one go; what comes before is done on the host. */
static void on_device(const long long *task, int count) {
    const int space = (int)omp_get_gpu() + 1;
    int *zone = malloc((size_t)count * sizeof *zone);
    size_t *at = malloc((size_t)count * sizeof *at);
    if (!zone || !at) exit(1);
    for (int i = 0; pass && pass != zone_step && i < count; i++) by_team((int)task[i]);
    if (pass == zone_step) {
        struct gpu *g = run.gpu[space];
        for (int i = 0; i < count; i++) {
            zone[i] = (int)task[i];
            at[i] = evn_place_at(run.place, run.region[zone[i]], space);
        }
        try(gpu_batch(g, evn_place_buffer(run.place, space), count, zone, at));
        try(gpu_step(g));
        try(gpu_finish(g));
    }
    free(at);
    free(zone);
}

enum { LINE = __LINE__ + 2 };
static void over_zones(void) {
#pragma omp teams distribute num_teams(auto) dist_schedule(runtime) batch(on_device)               \
    weight(zone_weight(&run.p->zone[z]))
    for (int z = 0; z < run.p->zones; z++)
        if (pass) by_team(z);
}

static void each(zone_pass *what) {
    pass = what;
    over_zones();
}

/* Units and loop are those of the directive; all else is the app's. */
static void set_up(void) {
    each(NULL);
    run.units = evn_cu_units();
    run.loop = evn_cu_loop(__FILE__, LINE);
    const size_t zones = (size_t)run.p->zones;
    run.scratches = evn_units_count(run.units);
    run.scratch = calloc((size_t)run.scratches, sizeof *run.scratch);
    run.norms = calloc(zones, sizeof *run.norms);
    run.hash = calloc(zones, sizeof *run.hash);
    if (!run.loop || !run.scratch || !run.norms || !run.hash) exit(1);
    try(setup_check(&run));
    try(setup_open_scratch(&run));
    each(zone_make);
    try(setup_open_devices(&run));
    try(setup_open_exchange(&run));
    try(setup_access(&run, EVN_WRITE));
    try(zones_start(&run, zone_force));
    try(setup_access(&run, EVN_BOTH));
    setup_clear_scratch(&run);
    try(zones_start(&run, zone_begin));
}

static double step(void) {
    const double begin = evn_now();
    try(evn_exchange_run(run.exchange));
    each(zone_step);
    return evn_now() - begin;
}

/* The step of `evener run` on the same units, loop and data. */
static double step_by_hand(void) {
    struct order order = {&run, zone_step};
    const double begin = evn_now();
    try(evn_exchange_run(run.exchange));
    try(evn_loop_run(run.loop, zones_step, &order));
    return evn_now() - begin;
}

static int conclude(void) {
    const struct team alone = {0, 1, NULL};
    struct scratch *s = setup_fit_scratch(&run, 0, 0, 1);
    struct norms total;
    if (!s) return 1;
    const int zones = run.p->zones;
    if (run.place) try(evn_place_acquire(run.place, zones, run.region, EVN_HOST, EVN_READ));
    for (int z = 0; z < zones; z++) {
        zone_norm_residual(&run, z, s, &alone);
        zone_norm_others(&run, z, s, &alone);
    }
    if (run.place) try(evn_place_release(run.place, zones, run.region, EVN_HOST));
    norms_sum(run.norms, zones, &total);
    const int verified = verify_run(run.p, run.p->steps, &total) == 1;
    printf("%s class %c on %s: hash %016llx, %s\n", run.name, run.p->class_,
           evn_units_text(run.units), (unsigned long long)problem_hash(run.hash, zones),
           verified ? "verified" : "NOT verified");
    return !verified;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void compare(int pairs) {
    double *t = malloc(2 * (size_t)pairs * sizeof *t);
    if (!t) exit(1);
    for (int i = 0; i < pairs; i++) { /* nobody is always the first */
        if (i % 2) t[i] = step();
        t[pairs + i] = step_by_hand();
        if (i % 2 == 0) t[i] = step();
    }
    qsort(t, (size_t)pairs, sizeof *t, ascending);
    qsort(t + pairs, (size_t)pairs, sizeof *t, ascending);
    const double directive = t[pairs / 2], by_hand = t[pairs + pairs / 2];
    printf("a step, median of %d: directive %.6f s, by hand %.6f s, ratio %.4f\n", pairs, directive,
           by_hand, directive / by_hand);
    free(t);
}

int main(int argc, char **argv) {
    static const npbmz_options options = {.run = {.steps = -1}};
    npbmz *b;
    long pairs = 0;
    if (argc > 3 || (argc == 3 && evn_read_whole(argv[2], 1, 100000, &pairs))) {
        fprintf(stderr, "usage: bench-cu-btmz [CLASS [PAIRS]]\n");
        return 1;
    }
    try(npbmz_open(&b, NPBMZ_BT, argc > 1 ? argv[1][0] : 'S'));
    run.p = npbmz_problem(b);
    run.name = "bt-mz";
    run.options = &options;
    set_up();
    for (int i = 0; i < run.p->steps; i++) step();
    const int failed = conclude();
    if (pairs) compare((int)pairs);
    setup_give_back(&run);
    free(run.norms);
    free(run.hash);
    npbmz_close(b);
    return failed;
}
