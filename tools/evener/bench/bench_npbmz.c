/* bench npbmz: NPB-MZ phase by phase against what the machine allows, and against another program
 * that prints NPB's labels, in turn within one run. */
#include "bench/bench.h"
#include "cli/command.h"
#include "common/options.h"
#include "bench/probe.h"
#include "workload/workload.h"
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What was asked for. */
struct request {
    const char *apps, *class_, *units, *schedule, *against;
    long repeat, steps;
    int oversubscribe;
};

/* The child's side: on the units' cores, where no input file of NPB's lies about. */
static void become(const struct workload *w, const char *program, int out) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (int u = 0; u < w->tasks.units; u++) {
        evn_unit *unit = evn_units_get(w->units, u);
        for (int c = 0; c < evn_unit_cores(unit); c++) {
            int core = evn_unit_core_number(unit, c);
            if (core >= 0 && core < CPU_SETSIZE) CPU_SET(core, &mask);
        }
    }
    if (CPU_COUNT(&mask)) sched_setaffinity(0, sizeof mask, &mask);
    char threads[16];
    snprintf(threads, sizeof threads, "%d", workload_threads(w));
    setenv("OMP_NUM_THREADS", threads, 1);
    dup2(out, STDOUT_FILENO);
    if (chdir("/")) _exit(127);
    execl(program, program, (char *)NULL);
    _exit(127);
}

/* Runs the other program; its Mop/s, or -1 after a message. */
static double run_other(const struct workload *w, const char *program) {
    int pipes[2];
    if (pipe(pipes)) {
        complain("%s cannot be run: %s", program, strerror(errno));
        return -1;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(pipes[0]);
        become(w, program, pipes[1]);
    }
    close(pipes[1]);
    double mops = -1;
    int verified = 0;
    char line[512];
    FILE *out = child > 0 ? fdopen(pipes[0], "r") : NULL;
    while (out && fgets(line, sizeof line, out)) {
        const char *value = strchr(line, '=');
        if (strstr(line, "Mop/s total") && value) mops = atof(value + 1);
        if (strstr(line, "Verification") && strstr(line, " SUCCESSFUL")) verified = 1;
    }
    if (out)
        fclose(out);
    else
        close(pipes[0]);
    int status = 0;
    if (child > 0) waitpid(child, &status, 0);
    if (mops > 0 && verified) return mops;
    complain("%s printed no verified \"Mop/s total =\"; expected a program with NPB's labels",
             program);
    return -1;
}

/* One line a phase: time, operations and bytes against the machine's. `peak` counts a fused
 * multiply-add as two. */
static void print_phases(const struct workload *w, int benchmark, const npbmz_result *r,
                         double peak, double near) {
    double points = 0, sum = 0;
    for (int t = 0; t < w->tasks.tasks; t++) points += w->tasks.weight[t];
    for (int p = 0; p < NPBMZ_PHASES; p++) sum += r->phase_s[p];
    printf("\n  %-7s %9s %6s %10s %9s %7s %8s %8s %7s\n", "phase", "s", "share", "ns/point",
           "Gop/s", "of peak", "GB/s", "of band.", "floor");
    double floor_all = 0;
    for (int p = 0; p < NPBMZ_PHASES; p++) {
        if (!(r->phase_s[p] > 0)) continue;
        npbmz_cost cost = npbmz_phase_cost(benchmark, p);
        /* phases are timed by leaders and summed over units: bring them to wall time */
        double s = r->phase_s[p] / w->tasks.units, n = points * r->steps;
        double floor = fmax(2 * cost.operations * n / peak, cost.bytes * n / near);
        floor_all += floor;
        printf("  %-7s %9.3f %5.1f%% %10.2f %9.2f %6.1f%% %8.2f %7.1f%% %6.1f%%\n",
               npbmz_phase_name(p), s, 100 * r->phase_s[p] / sum, 1e9 * s / n,
               1e-9 * cost.operations * n / s, 200 * cost.operations * n / s / peak,
               1e-9 * cost.bytes * n / s, 100 * cost.bytes * n / s / near, 100 * floor / s);
    }
    double s = sum / w->tasks.units;
    printf("  %-7s %9.3f %6s %10.2f %52s %6.1f%%\n", "all", s, "", 1e9 * s / (points * r->steps),
           "", 100 * floor_all / s);
    printf("  exchange and waiting: %.3f s of %.3f s\n", r->seconds - s, r->seconds);
}

static int study(const struct request *request, const char *app, double peak) {
    struct workload_names names = {.app = app,
                                   .class_ = request->class_,
                                   .units = request->units,
                                   .schedule = request->schedule,
                                   .oversubscribe = request->oversubscribe};
    struct workload w;
    char program[4096];
    const int n = (int)request->repeat;
    double *sample = calloc(3 * (size_t)n, sizeof *sample);
    npbmz_result middle = {0};
    int code = workload_open(&w, &names, 0);
    if (!code && !sample) code = EXIT_FAILED;
    if (!code && request->against) {
        snprintf(program, sizeof program, "%s/%s.%s.x", request->against, app, request->class_);
        if (access(program, X_OK)) {
            complain("%s is not a program: %s; --against names a folder with NPB's programs, as "
                     "bt-mz.A.x",
                     program, strerror(errno));
            code = EXIT_USAGE;
        }
    }
    npbmz_options options = {.steps = (int)request->steps};
    double *theirs = sample ? sample + n : NULL, *ratio = theirs ? theirs + n : NULL;
    for (int i = 0; !code && i < n; i++) {
        npbmz_result r;
        evn_status status = npbmz_run(w.problem, w.units, w.schedule, &options, &r);
        if (status) {
            code = give_up(status);
            break;
        }
        if (r.verified == 0) {
            complain("%s class %s did not verify; its speed means nothing", app, request->class_);
            code = EXIT_UNVERIFIED;
        }
        sample[i] = r.mops;
        /* the phases shown are those of the fastest sample, the least disturbed one */
        if (!middle.owner || r.mops > middle.mops) {
            npbmz_result_free(&middle);
            middle = r;
        } else {
            npbmz_result_free(&r);
        }
        if (!code && request->against) {
            theirs[i] = run_other(&w, program);
            if (theirs[i] < 0) code = EXIT_FAILED;
            ratio[i] = sample[i] / theirs[i];
        }
    }
    if (!code) {
        /* a zone's solution, forcing and right-hand side are what has to stay near a core */
        double points = 0;
        for (int t = 0; t < w.tasks.tasks; t++) points += w.tasks.weight[t];
        double zone = 15 * 8 * points / w.tasks.tasks;
        double near = probe_bandwidth(w.units, (size_t)zone);
        double far = probe_bandwidth(w.units, (size_t)w.shape.bytes);
        printf("\n%s class %s on %s under %s, %d samples\n", app, request->class_,
               evn_units_text(w.units), evn_schedule_text(w.schedule), n);
        printf("  bandwidth: %.1f GB/s on %.1f MB (a zone's fields), %.1f GB/s on %.0f MB (all "
               "fields)\n",
               1e-9 * near, 1e-6 * zone, 1e-9 * far, 1e-6 * w.shape.bytes);
        print_phases(&w, npbmz_find(app), &middle, peak, near);
        double ours = bench_median(sample, n);
        printf("\n  Mop/s %10.1f  (%.1f to %.1f)\n", ours, sample[0], sample[n - 1]);
        if (request->against) {
            double other = bench_median(theirs, n), times = bench_median(ratio, n);
            printf("  other %10.1f  (%.1f to %.1f)\n", other, theirs[0], theirs[n - 1]);
            printf("  ratio %10.2f  (%.2f to %.2f), run by run\n", times, ratio[0], ratio[n - 1]);
        }
        fflush(stdout);
    }
    npbmz_result_free(&middle);
    workload_close(&w);
    free(sample);
    return code;
}

#define AT(field) offsetof(struct request, field)
static const struct option table[] = {
    {"apps", "LIST", "which (default bt-mz,sp-mz,lu-mz)", OPTION_TEXT, AT(apps), 0, 0},
    {"class", "S", "problem class (default A)", OPTION_TEXT, AT(class_), 0, 0},
    {"steps", "N", "time steps instead of the class's own number", OPTION_NUMBER, AT(steps), 1,
     1000000000},
    {"units", "LIST", "compute units (default 1:CPU:1)", OPTION_TEXT, AT(units), 0, 0},
    {"oversubscribe", NULL, "allow more cores than there are", OPTION_FLAG, AT(oversubscribe), 0,
     0},
    {"schedule", "SPEC", "schedule (default guided:size)", OPTION_TEXT, AT(schedule), 0, 0},
    {"repeat", "N", "samples (default 3)", OPTION_NUMBER, AT(repeat), 1, 100},
    {"against", "FOLDER", "run FOLDER/bt-mz.A.x and so on in turn, and print the ratio",
     OPTION_TEXT, AT(against), 0, 0},
    {0},
};
#undef AT

int bench_npbmz(int argc, char **argv) {
    struct request request = {.apps = "bt-mz,sp-mz,lu-mz",
                              .class_ = "A",
                              .units = "1:CPU:1",
                              .schedule = "guided:size",
                              .repeat = 3,
                              .steps = -1};
    int code = options_read_plain(
        "bench npbmz",
        "usage: evener bench npbmz [options]\n\n"
        "Time, operations and bytes of each phase against the machine's peak of fused\n"
        "multiply-adds and its bandwidth on data as large as a zone; `floor` is the share of the\n"
        "time that the larger of the two would need.",
        table, &request, argc, argv);
    if (code) return code < 0 ? EXIT_DONE : code;
    evn_machine *machine;
    evn_units *units;
    evn_status status = evn_machine_open(&machine);
    if (status) return give_up(status);
    status = evn_units_open(&units, machine, request.units,
                            request.oversubscribe ? EVN_OVERSUBSCRIBE : 0);
    if (status) {
        evn_machine_close(machine);
        return give_up(status);
    }
    double peak = probe_fma(units);
    printf("%s, %s: %.1f Gflop/s of fused multiply-adds\n", evn_machine_processor(machine),
           evn_units_text(units), 1e-9 * peak);
    evn_units_close(units);
    evn_machine_close(machine);
    char list[256];
    snprintf(list, sizeof list, "%s", request.apps);
    for (char *app = strtok(list, ","); app && !code; app = strtok(NULL, ","))
        code = study(&request, app, peak);
    return code;
}
