/* bench npbmz: NPB-MZ phase by phase against what the machine or its devices allow, and against
 * another program that prints NPB's labels, in turn within one run. */
#include "npbmz/study/study.h"
#include "common/cli/interrupt.h"
#include "common/run/median.h"
#include "common/cli/message.h"
#include "common/cli/options.h"
#include "common/run/probe.h"
#include "npbmz/npbmz.h"
#include "npbmz/study/on_device.h"
#include <evener/number.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The options. */
struct request {
    const char *apps, *class_, *units, *devices, *schedule, *against, *bandwidth, *peak;
    long repeat, steps;
    int oversubscribe;
    struct device_peaks peaks; /* peaks of one device, as --bandwidth and --peak say */
};

/* A benchmark on its units, and its samples. */
struct bench {
    const struct request *request;
    const char *app;
    enum npbmz_benchmark benchmark;
    npbmz *problem;
    npbmz_shape shape;
    evn_problem tasks;
    evn_machine *machine;
    evn_units *units;
    evn_schedule *schedule;
    char program[PATH_MAX];
    double *ours, *theirs, *ratio; /* Mop/s of each sample, and the one over the other */
    npbmz_result best;             /* the fastest sample, the least disturbed one */
    npbmz_result timed;            /* on devices: a run more, with launches timed */
};

static int cores_of(const struct bench *b) {
    int cores = 0;
    for (int u = 0; u < evn_units_count(b->units); u++)
        cores += evn_unit_cores(evn_units_get(b->units, u));
    return cores;
}

static double points_of(const struct bench *b) {
    double points = 0;
    for (int t = 0; t < b->tasks.tasks; t++) points += b->tasks.weight[t];
    return points;
}

/* Arguments of the other program: its cores, and the file of its output. */
struct other {
    const struct bench *bench;
    const evn_machine *machine; /* the cores of the units; NULL: they are not bound */
    int out;
};

/* A machine of the units' cores; NULL: they have none of their own. */
static evn_machine *open_cores(const struct bench *b) {
    evn_machine *machine = NULL;
    int count = 0, *number = malloc(sizeof *number * (size_t)cores_of(b));
    for (int u = 0; number && u < b->tasks.units; u++) {
        const evn_unit *unit = evn_units_get(b->units, u);
        for (int c = 0; c < evn_unit_cores(unit); c++) {
            number[count] = evn_unit_core_number(unit, c);
            count += number[count] >= 0;
        }
    }
    if (count) evn_machine_open_within(&machine, number, count);
    free(number);
    return machine;
}

/* The child's side: on the units' cores, where no input file of NPB's lies about, and nothing to be
 * read. */
static int become(void *p) {
    const struct other *other = p;
    const int none = open("/dev/null", O_RDONLY);
    if (other->machine) evn_machine_keep_to(other->machine);
    char threads[16];
    snprintf(threads, sizeof threads, "%d", cores_of(other->bench));
    setenv("OMP_NUM_THREADS", threads, 1);
    return dup2(none, STDIN_FILENO) < 0 || dup2(other->out, STDOUT_FILENO) < 0 || chdir("/");
}

/* Runs the other program; its Mop/s, or -1 after a message. */
static double run_other(const struct bench *b) {
    const char *program = b->program;
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC)) {
        complain("%s cannot be run: %s", program, strerror(errno));
        return -1;
    }
    fflush(stdout);
    evn_machine *machine = open_cores(b);
    struct other other = {b, machine, pipes[1]};
    char *const words[] = {(char *)program, NULL};
    const pid_t child = child_start(words, become, &other);
    evn_machine_close(machine);
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
    if (child > 0) child_wait(child);
    if (mops > 0 && verified) return mops;
    complain("%s printed no verified \"Mop/s total =\"; expected a program with NPB's labels",
             program);
    return -1;
}

/* One line a phase: time, operations and bytes against the machine's. `peak` counts a fused
 * multiply-add as two. */
static void print_phases(const struct bench *b, double peak, double near) {
    const npbmz_result *r = &b->best;
    const double points = points_of(b);
    double sum = 0;
    for (int p = 0; p < NPBMZ_PHASES; p++) sum += r->phase_s[p];
    printf("\n  %-7s %9s %6s %10s %9s %7s %8s %8s %7s\n", "phase", "s", "share", "ns/point",
           "Gop/s", "of peak", "GB/s", "of band.", "floor");
    double floor_all = 0;
    for (int p = 0; p < NPBMZ_PHASES; p++) {
        if (!(r->phase_s[p] > 0)) continue;
        npbmz_cost cost = npbmz_phase_cost(b->benchmark, p);
        /* phases are timed by leaders and summed over units: bring them to wall time */
        double s = r->phase_s[p] / b->tasks.units, n = points * r->run.steps;
        double floor = fmax(2 * cost.operations * n / peak, cost.bytes * n / near);
        floor_all += floor;
        printf("  %-7s %9.3f %5.1f%% %10.2f %9.2f %6.1f%% %8.2f %7.1f%% %6.1f%%\n",
               npbmz_phase_name(p), s, 100 * r->phase_s[p] / sum, 1e9 * s / n,
               1e-9 * cost.operations * n / s, 200 * cost.operations * n / s / peak,
               1e-9 * cost.bytes * n / s, 100 * cost.bytes * n / s / near, 100 * floor / s);
    }
    double s = sum / b->tasks.units;
    printf("  %-7s %9.3f %6s %10.2f %52s %6.1f%%\n", "all", s, "",
           1e9 * s / (points * r->run.steps), "", 100 * floor_all / s);
    printf("  exchange and waiting: %.3f s of %.3f s\n", r->run.seconds - s, r->run.seconds);
}

/* The other program, by its whole path: it runs in another folder. */
static int find_other(struct bench *b) {
    const struct request *request = b->request;
    char *name = NULL;
    int found = asprintf(&name, "%s/%s.%s.x", request->against, b->app, request->class_) >= 0;
    if (!found) name = NULL;
    found = found && realpath(name, b->program) && !access(b->program, X_OK);
    if (!found)
        complain(
            "%s is not a program: %s; --against names a folder with NPB's programs, as bt-mz.A.x",
            name ? name : request->against, strerror(errno));
    free(name);
    return found ? 0 : EXIT_USAGE;
}

static evn_status open_units(evn_units **units, const evn_machine *machine,
                             const struct request *request) {
    return evn_units_open(units, machine, request->units, request->devices,
                          EVN_STAY_BOUND | (request->oversubscribe ? EVN_OVERSUBSCRIBE : 0));
}

/* 0, or an exit status after a message. */
static int open_bench(struct bench *b, const struct request *request, const char *app) {
    const int n = (int)request->repeat, benchmark = npbmz_find(app);
    *b = (struct bench){.request = request, .app = app};
    if (benchmark < 0 || strlen(request->class_) != 1)
        return complain("bench npbmz: there is no %s class %s; expected bt-mz, sp-mz or lu-mz, and "
                        "S W A B C D E or F",
                        app, request->class_);
    b->benchmark = (enum npbmz_benchmark)benchmark;
    evn_status status = npbmz_open(&b->problem, b->benchmark, request->class_[0]);
    if (!status) status = evn_machine_open(&b->machine);
    if (!status) status = open_units(&b->units, b->machine, request);
    if (status) return give_up(status);
    b->shape = npbmz_describe(b->problem);
    b->tasks = npbmz_tasks(b->problem);
    b->tasks.units = evn_units_count(b->units);
    status = evn_schedule_open(&b->schedule, request->schedule, &b->tasks);
    b->ours = calloc(3 * (size_t)n, sizeof *b->ours);
    if (!status && !b->ours) status = evn_fail(EVN_MEMORY, "bench npbmz: not enough memory");
    if (status) return give_up(status);
    b->theirs = b->ours + n;
    b->ratio = b->theirs + n;
    if (!request->against) return 0;
    return find_other(b);
}

static void close_bench(struct bench *b) {
    npbmz_result_free(&b->best);
    npbmz_result_free(&b->timed);
    evn_schedule_close(b->schedule);
    evn_units_close(b->units);
    evn_machine_close(b->machine);
    npbmz_close(b->problem);
    free(b->ours);
}

/* Takes sample number i, and the other program's after it. */
static int sample(struct bench *b, int i) {
    const npbmz_options options = {.run = {.steps = (int)b->request->steps}};
    npbmz_result r;
    evn_status status = npbmz_run(b->problem, b->units, b->schedule, &options, &r);
    if (status) return give_up(status);
    const int failed = r.run.verified == 0;
    b->ours[i] = r.run.mops;
    if (!b->best.run.owner || r.run.mops > b->best.run.mops) {
        npbmz_result_free(&b->best);
        b->best = r;
    } else {
        npbmz_result_free(&r);
    }
    if (failed) {
        complain("%s class %s did not verify; its speed means nothing", b->app, b->request->class_);
        return EXIT_UNVERIFIED;
    }
    if (!b->request->against) return 0;
    b->theirs[i] = run_other(b);
    if (b->theirs[i] < 0) return EXIT_FAILED;
    b->ratio[i] = b->ours[i] / b->theirs[i];
    return 0;
}

/* The run whose launches are timed; its speed does not count. */
static int time_launches(struct bench *b) {
    const npbmz_options options = {.run = {.steps = (int)b->request->steps, .phases = 1}};
    npbmz_result_free(&b->timed);
    const evn_status status = npbmz_run(b->problem, b->units, b->schedule, &options, &b->timed);
    return status ? give_up(status) : 0;
}

static void print_on_devices(const struct bench *b) {
    const struct device_peaks peaks = device_peaks(b->units, b->request->peaks);
    const int devices = evn_units_about(b->units).devices;
    printf("  bandwidth: ");
    if (peaks.bandwidth > 0)
        printf("%.1f GB/s a device, %s\n", 1e-9 * peaks.bandwidth / devices,
               b->request->bandwidth ? "as --bandwidth says" : "copying within it");
    else
        printf("unknown; --bandwidth says it\n");
    device_phases_print(b->problem, b->benchmark, &b->timed.run, peaks);
}

/* Prints the memory near the units' cores, and the phases beside each other. */
static void print_on_cores(const struct bench *b, double peak) {
    /* a zone's solution, forcing and right-hand side are what has to stay near a core */
    const double zone = 15 * 8 * points_of(b) / b->tasks.tasks;
    const double near = probe_bandwidth(b->units, (size_t)zone);
    const double far = probe_bandwidth(b->units, (size_t)b->shape.bytes);
    printf(
        "  bandwidth: %.1f GB/s on %.1f MB (a zone's fields), %.1f GB/s on %.0f MB (all fields)\n",
        1e-9 * near, 1e-6 * zone, 1e-9 * far, 1e-6 * b->shape.bytes);
    print_phases(b, peak, near);
}

static void print_bench(struct bench *b, double peak) {
    const int n = (int)b->request->repeat;
    printf("\n%s class %s on %s under %s, %d samples\n", b->app, b->request->class_,
           evn_units_text(b->units), evn_schedule_text(b->schedule), n);
    if (evn_units_about(b->units).devices)
        print_on_devices(b);
    else
        print_on_cores(b, peak);
    const double ours = median(b->ours, n);
    printf("\n  Mop/s %10.1f  (%.1f to %.1f)\n", ours, b->ours[0], b->ours[n - 1]);
    if (b->request->against) {
        const double other = median(b->theirs, n), times = median(b->ratio, n);
        printf("  other %10.1f  (%.1f to %.1f)\n", other, b->theirs[0], b->theirs[n - 1]);
        printf("  ratio %10.2f  (%.2f to %.2f), run by run\n", times, b->ratio[0], b->ratio[n - 1]);
    }
    fflush(stdout);
}

static int study(const struct request *request, const char *app, double peak) {
    struct bench b;
    int code = open_bench(&b, request, app);
    for (int i = 0; !code && i < request->repeat; i++) code = sample(&b, i);
    if (!code && evn_units_about(b.units).devices) code = time_launches(&b);
    if (!code) print_bench(&b, peak);
    close_bench(&b);
    return code;
}

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"apps", "LIST", "which (default bt-mz,sp-mz,lu-mz)", OPTION_TEXT(apps)},
    {"class", "S", "problem class (default A)", OPTION_TEXT(class_)},
    {"steps", "N", "time steps instead of the class's own number",
     OPTION_NUMBER(steps, 1, 1000000000)},
    {"units", "LIST", "compute units (default 1:CPU:1)", OPTION_TEXT(units)},
    {"oversubscribe", NULL, "allow more cores than there are", OPTION_FLAG(oversubscribe)},
    {"devices", "SPEC", "where GPU units come from (default: the best)", OPTION_TEXT(devices)},
    {"bandwidth", "RATE", "of a device, as 4.8TB/s (default: that of a copy within it)",
     OPTION_TEXT(bandwidth)},
    {"peak", "RATE", "of a device, as 34Tflop/s of fused multiply-adds (default: not known)",
     OPTION_TEXT(peak)},
    {"schedule", "SPEC", "schedule (default guided:size)", OPTION_TEXT(schedule)},
    {"repeat", "N", "samples (default 3)", OPTION_NUMBER(repeat, 1, 100)},
    {"against", "FOLDER", "run FOLDER/bt-mz.A.x and so on in turn, and print the ratio",
     OPTION_TEXT(against)},
    {0},
};

/* --apps: some of the three, each once. */
static int read_apps(struct option_list *apps, const char *text) {
    int code = options_list(apps, "apps", text);
    for (int i = 0; !code && i < apps->count; i++)
        if (npbmz_find(apps->word[i]) < 0)
            code = complain("--apps %s: there is no \"%s\"; expected bt-mz, sp-mz or lu-mz, with "
                            "commas between them",
                            text, apps->word[i]);
    return code;
}

/* --bandwidth and --peak. */
static int read_rates(struct request *request) {
    static const evn_scale bytes[] = {{"B/s", 1},    {"kB/s", 1e3},  {"MB/s", 1e6},
                                      {"GB/s", 1e9}, {"TB/s", 1e12}, {0}};
    static const evn_scale operations[] = {
        {"flop/s", 1}, {"Mflop/s", 1e6}, {"Gflop/s", 1e9}, {"Tflop/s", 1e12}, {0}};
    const evn_bounds positive = {0, 1e21, 1};
    const char *name = "bandwidth", *text = request->bandwidth;
    evn_status status = EVN_OK;
    if (text) status = evn_read_scaled(text, bytes, positive, &request->peaks.bandwidth);
    if (!status && request->peak) {
        name = "peak", text = request->peak;
        status = evn_read_scaled(text, operations, positive, &request->peaks.operations);
    }
    if (!status) return 0;
    return complain("--%s %s: %s", name, text, evn_message());
}

/* Whether the units are of one kind, and options of devices have some. */
static int check_units(const struct request *request, const evn_units *units) {
    const int gpus = evn_units_about(units).gpus, all = evn_units_count(units);
    const char *given = request->devices     ? "devices"
                        : request->bandwidth ? "bandwidth"
                        : request->peak      ? "peak"
                                             : NULL;
    if (gpus && gpus < all)
        complain("bench npbmz: --units %s: cores and devices have phases of their own; expected "
                 "units of one kind, as 2:CPU:1 or 1:GPU:1",
                 request->units);
    else if (!gpus && given)
        complain("bench npbmz: --%s is about devices, and no unit of --units %s is a GPU; expected "
                 "1:GPU:1, or the option left out",
                 given, request->units);
    else
        return 0;
    return EXIT_USAGE;
}

/* Says what the units are, and what cores do at most. */
static int measure_peak(const struct request *request, double *peak) {
    evn_machine *machine;
    evn_units *units;
    evn_status status = evn_machine_open(&machine);
    if (status) return give_up(status);
    status = open_units(&units, machine, request);
    if (status) {
        evn_machine_close(machine);
        return give_up(status);
    }
    const int code = check_units(request, units);
    if (!code && evn_units_about(units).devices) {
        printf("%s, %s: %s\n", evn_machine_about(machine).processor, evn_units_text(units),
               evn_device_traits(evn_unit_device(evn_units_get(units, 0), 0))->name);
    } else if (!code) {
        *peak = probe_fma(units);
        printf("%s, %s: %.1f Gflop/s of fused multiply-adds\n",
               evn_machine_about(machine).processor, evn_units_text(units), 1e-9 * *peak);
    }
    evn_units_close(units);
    evn_machine_close(machine);
    return code;
}

int npbmz_study_phases(int argc, char **argv) {
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
        "time that the larger of the two would need. Of GPU units what launches took, timed in\n"
        "a run more, against the device's bandwidth.",
        (struct option_set){table, &request, NULL}, argc, argv);
    if (code) return code < 0 ? EXIT_DONE : code;
    struct option_list apps;
    double peak = 0;
    code = read_apps(&apps, request.apps);
    if (!code) code = read_rates(&request);
    if (!code) code = measure_peak(&request, &peak);
    for (int i = 0; i < apps.count && !code; i++) code = study(&request, apps.word[i], peak);
    return code;
}
