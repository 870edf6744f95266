/* Variants of BT's and LU's kernels side by side on a device: the same text with other constants
 * (npbmz/variants.h), turn by turn.
 *
 * A line is a variant: the time of a step's launches, the best of several runs whose launches are
 * timed on the device, over that of ours; what each phase takes; and whether the solution has the
 * same bits. What a device or its compiler refuses is said, and the others go on.
 *
 * Run: bench-variants [--class C] [--steps N] [--repeat N] [--devices SPEC] */
#include "common/cli/interrupt.h"
#include "common/cli/message.h"
#include "common/cli/options.h"
#include "npbmz/npbmz.h"
#include "npbmz/variants.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIANTS = 16 };

struct request {
    const char *class_, *devices;
    long steps, repeat;
};

/* The best run of a variant. */
struct best {
    double step_s, phase_s[NPBMZ_PHASES]; /* a step; 0: none ended well */
    uint64_t hash;
    char why[160]; /* reason of a failure */
};

/* A benchmark on a device. */
struct bench {
    const struct request *request;
    npbmz *problem;
    evn_machine *machine;
    evn_units *units;
    evn_schedule *schedule;
};

static evn_status open_bench(struct bench *b, enum npbmz_benchmark benchmark) {
    evn_status status = npbmz_open(&b->problem, benchmark, *b->request->class_);
    if (!status) status = evn_machine_open(&b->machine);
    if (!status)
        status =
            evn_units_open(&b->units, b->machine, "1:GPU:1", b->request->devices, EVN_STAY_BOUND);
    if (status) return status;
    evn_problem tasks = npbmz_tasks(b->problem);
    tasks.units = 1;
    return evn_schedule_open(&b->schedule, "static", &tasks);
}

static void close_bench(struct bench *b) {
    evn_schedule_close(b->schedule);
    evn_units_close(b->units);
    evn_machine_close(b->machine);
    npbmz_close(b->problem);
    *b = (struct bench){.request = b->request};
}

/* Keeps a run's times of launches, if it is the fastest yet. */
static void note(struct best *best, const npbmz_result *r) {
    struct best now = {.hash = r->run.hash};
    const struct run_phases *p = &r->run.phases[0];
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < NPBMZ_PHASES; k++)
            if (!strcmp(p->phase[i].name, npbmz_phase_name(k))) {
                now.phase_s[k] = p->phase[i].seconds / r->run.steps;
                now.step_s += now.phase_s[k];
            }
    if (!best->step_s || now.step_s < best->step_s) *best = now;
}

/* Each run on a device opened anew: one that has failed is of no use to the next variant. */
static evn_status run_one(const struct request *request, const struct npbmz_variant *v,
                          struct best *best) {
    struct bench b = {.request = request};
    npbmz_result r = {.surface = 0};
    const npbmz_options options = {.run = {.steps = (int)request->steps, .phases = 1},
                                   .solver = v->solver};
    evn_status status = open_bench(&b, v->benchmark);
    if (!status) status = npbmz_run(b.problem, b.units, b.schedule, &options, &r);
    if (status)
        snprintf(best->why, sizeof best->why, "%s", evn_message());
    else
        note(best, &r);
    npbmz_result_free(&r);
    close_bench(&b);
    return status;
}

static void print_phases(const struct best *best) {
    for (int k = 0; k < NPBMZ_PHASES; k++)
        if (best->phase_s[k] > 0) printf("  %s %.1f", npbmz_phase_name(k), 1e6 * best->phase_s[k]);
}

/* One of a benchmark's variants, of which the first is ours. */
static void print_variant(const struct npbmz_variant *v, const struct best *best,
                          const struct best *ours) {
    printf("  %-48s", v->what);
    if (!best->step_s) {
        printf("  refused: %s\n", best->why);
        return;
    }
    printf("  %10.1f", 1e6 * best->step_s);
    if (ours->step_s)
        printf("  %5.3f  %s", best->step_s / ours->step_s,
               best->hash == ours->hash ? "same bits" : "OTHER BITS");
    print_phases(best);
    putchar('\n');
}

/* The variants from `v` on that are of one benchmark: how many. *code is an exit status where ours
 * does not run, or where bits differ. */
static int study(const struct request *request, const struct npbmz_variant *v, int *code) {
    static const char *const name[] = {
        [NPBMZ_BT] = "bt-mz", [NPBMZ_SP] = "sp-mz", [NPBMZ_LU] = "lu-mz"};
    struct best best[VARIANTS] = {{0}};
    int count = 0;
    while (count < VARIANTS && v[count].what && v[count].benchmark == v->benchmark) count++;
    for (int i = 0; i < request->repeat; i++)
        for (int k = 0; k < count; k++) {
            const evn_status status = run_one(request, &v[k], &best[k]);
            if (!status || k) continue;
            *code = give_up(status);
            return count;
        }
    printf("\n%s class %s, %ld steps: us a step, over ours, bits, us of each phase\n",
           name[v->benchmark], request->class_, request->steps);
    for (int k = 0; k < count; k++) {
        print_variant(&v[k], &best[k], &best[0]);
        if (best[k].step_s > 0 && best[k].hash != best[0].hash) *code = EXIT_UNVERIFIED;
    }
    fflush(stdout);
    return count;
}

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"class", "C", "problem class (default C)", OPTION_TEXT(class_)},
    {"steps", "N", "of a run (default 20)", OPTION_NUMBER(steps, 1, 100000)},
    {"repeat", "N", "runs of each, of which the best counts (default 2)",
     OPTION_NUMBER(repeat, 1, 100)},
    {"devices", "SPEC", "where the device comes from (default: the best)", OPTION_TEXT(devices)},
    {0},
};

int main(int argc, char **argv) {
    struct request request = {.class_ = "C", .steps = 20, .repeat = 2};
    char class_;
    int code = options_read_plain("bench-variants",
                                  "usage: bench-variants [options]\n\n"
                                  "Variants of BT's and LU's kernels side by side on a device.",
                                  (struct option_set){table, &request, NULL}, argc, argv);
    if (code) return code < 0 ? EXIT_DONE : code;
    code = options_class("npbmz", request.class_, &class_);
    const struct npbmz_variant *v = npbmz_variants;
    while (v->what && (!code || code == EXIT_UNVERIFIED)) v += study(&request, v, &code);
    return code;
}
