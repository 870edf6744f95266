/* evener doctor: one page on what this machine has, lacks and does, and what to do about it. What
 * there is in full is evener info's. */
#include "cli/command.h"
#include "cli/info_cores.h"
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "common/run/build.h"
#include "common/run/record.h"
#include "common/simd/isa.h"
#include "machine/calibration.h"
#include "run/table.h"
#include <evener.h>
#include <evener/plugin.h>
#include <evener/unit.h>
#include <evener/wire.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A finding: what there is, and what to do; todo "": nothing. */
struct finding {
    char is[600], todo[400];
};

static void say(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct finding *f, const char *format, ...) {
    const size_t at = strlen(f->is);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->is + at, sizeof f->is - at, format, arguments);
    va_end(arguments);
}

/* The first advice of a finding counts. */
static void advise(struct finding *f, const char *todo) {
    if (!*f->todo) snprintf(f->todo, sizeof f->todo, "%s", todo);
}

static void look_at_versions(struct finding *f, const evn_machine *m) {
    (void)m;
    say(f, "evener %s, %s, code for x86-64-%s", evn_version(), build.compiler, isa_name());
    if (strcmp(evn_version(), EVN_VERSION) != 0)
        advise(f, "the library is of another version than the command: install both anew");
}

static void look_at_cores(struct finding *f, const evn_machine *m) {
    const evn_machine_info limits = evn_machine_about(m);
    const int cores = evn_machine_cores(m);
    int claimed = 0;
    for (int i = 0; i < cores; i++) claimed += evn_machine_core_claimed(m, i);
    say(f, "%d of %d", cores, limits.node);
    if (limits.allowed < limits.node) {
        say(f, ", masks and cpusets leave %d", limits.allowed);
        advise(f, "where these are a batch system's, ask it for more; a launcher's binding is "
                  "undone by mpirun --bind-to none");
    }
    if (limits.quota > 0) {
        say(f, ", a quota of %.4g processors", limits.quota);
        if (limits.quota < limits.allowed)
            advise(f, "units beyond the quota only wait: name no more cores than it, or start the "
                      "container with a larger --cpus");
    }
    if (claimed) {
        say(f, ", %d of them claimed by other programs", claimed);
        advise(f, "programs on Evener keep out of each other's way; measure when those have ended, "
                  "or name cores of one's own, 2:CPU:1@0-1");
    }
    if (secure_getenv("OMP_PROC_BIND") && strcmp(secure_getenv("OMP_PROC_BIND"), "false") != 0) {
        say(f, ", OMP_PROC_BIND=%.20s", secure_getenv("OMP_PROC_BIND"));
        advise(f, "OpenMP binds the first thread before units are opened, which may leave them one "
                  "core: unset OMP_PROC_BIND; units bind their threads themselves");
    }
}

static void look_at_load(struct finding *f, const evn_machine *m) {
    double load = 0;
    if (getloadavg(&load, 1) != 1) {
        say(f, "not told by the system");
        return;
    }
    say(f, "%.1f threads wanted to run in the last minute, on %d cores", load,
        evn_machine_about(m).node);
    if (load > 0.5 * evn_machine_about(m).node)
        advise(f, "figures measured now are not to be trusted; the schedule auto copes with units "
                  "that lose time, a static one does not");
}

static void look_at_clock(struct finding *f, const evn_machine *m) {
    (void)m;
    char governor[64] = "";
    FILE *in = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "re");
    if (in && !fgets(governor, sizeof governor, in)) *governor = '\0';
    if (in) fclose(in);
    governor[strcspn(governor, "\n")] = '\0';
    say(f, "governor %s", *governor ? governor : "not told by the system, as in virtual machines");
    if (!strcmp(governor, "powersave") || !strcmp(governor, "ondemand"))
        advise(f, "cores may become fast only after a while: for figures, cpupower frequency-set "
                  "-g performance");
}

static void look_at_binding(struct finding *f, const evn_machine *m) {
    const char *bind = secure_getenv("EVENER_BIND");
    char list[32];
    evn_units *units;
    snprintf(list, sizeof list, "%d:CPU:1", evn_machine_cores(m));
    evn_status status = evn_units_open(&units, m, list, NULL, 0);
    if (!status) status = evn_units_check_binding(units);
    if (status) {
        say(f, "%s", evn_message());
        advise(f, "the system does not do as it says; EVENER_BIND=none works without binding");
    } else if (strcmp(evn_unit_about(evn_units_get(units, 0)).binding, "none") != 0) {
        say(f, "works");
    } else {
        say(f, "threads are not bound%s", bind ? ", as EVENER_BIND says" : "");
        if (bind) advise(f, "unset EVENER_BIND, unless the system is to move threads");
    }
    evn_units_close(units);
}

static void look_at_memory(struct finding *f, const evn_machine *m) {
    char all[32], left[32];
    const double has = (double)evn_machine_about(m).memory,
                 free_ = (double)evn_machine_memory_available(m);
    struct statvfs shared;
    say(f, "%s, %s of it available", info_size(has, all), info_size(free_, left));
    if (free_ < 0.1 * has) advise(f, "nearly all is in use: end what is not needed");
    if (statvfs("/dev/shm", &shared)) return;
    const double room = (double)shared.f_bavail * (double)shared.f_frsize;
    say(f, "; /dev/shm has %s left", info_size(room, left));
    if (room < 256e6)
        advise(f, "MPI's ranks of one node talk through /dev/shm: start the container with "
                  "--shm-size=1g");
}

/* Whether a program of that name is in PATH. */
static int is_command(const char *name) {
    const char *path = secure_getenv("PATH");
    char copy[4096], file[PATH_MAX], *rest;
    snprintf(copy, sizeof copy, "%s", path ? path : "");
    for (char *folder = strtok_r(copy, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest)) {
        snprintf(file, sizeof file, "%s/%s", folder, name);
        if (!access(file, X_OK)) return 1;
    }
    return 0;
}

static void look_at_mpi(struct finding *f, const evn_machine *m) {
    static const char *const kind[] = {"openmpi", "mpich"};
    char launcher[32], file[40];
    int found = 0;
    (void)m;
    for (int k = 0; k < 2; k++) {
        snprintf(launcher, sizeof launcher, "mpirun.%s", kind[k]);
        snprintf(file, sizeof file, "evener-wire-%s.so", kind[k]);
        const evn_plugin plugin = {"wire", "EVENER_WIRE", file, "evener_wire_v1", EVN_WIRE_VERSION};
        const void *wire;
        if (!evn_plugin_open(&wire, NULL, &plugin, NULL)) {
            say(f, "%splug-in for %s", found++ ? ", " : "", kind[k]);
            continue;
        }
        if (is_command(launcher))
            advise(f, "there is an MPI without its plug-in: run lib/evener/evener-wire-build with "
                      "its mpicc");
    }
    if (!found) say(f, "no plug-in");
    say(f, is_command("mpirun") ? "; mpirun is there" : "; no mpirun");
    if (!found)
        advise(f, "without MPI, --processes N and EVENER_PROCESSES=N are ranks of this node; for "
                  "several nodes install Open MPI or MPICH; for another one run "
                  "lib/evener/evener-wire-build with its mpicc");
}

static void look_at_devices(struct finding *f, const evn_machine *m) {
    int found = 0;
    char why[1024];
    for (int b = 0; evn_backend_name(b); b++) {
        const char *name = evn_backend_name(b);
        const int count = info_devices(m, name, why, sizeof why);
        if (!strcmp(name, "emulated") || !count) continue;
        say(f, "%s%d by %s", found ? ", " : "", count, name);
        found += count;
    }
    if (found) return;
    say(f, "none but emulated ones");
    if (!access("/dev/nvidiactl", F_OK) || !access("/dev/kfd", F_OK))
        advise(f, "there is a GPU's driver, and no back end opens it: evener info says why");
}

/* LAPACK as programs get it, whose threads would be beside those of units. */
static void look_at_lapack(struct finding *f, const evn_machine *m) {
    void *library = dlopen("liblapack.so.3", RTLD_LAZY | RTLD_LOCAL);
    if (!library) library = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        say(f, "none found");
        return;
    }
    static const char *const asks[][2] = {{"openblas_get_num_threads", "OpenBLAS"},
                                          {"bli_thread_get_num_threads", "BLIS"},
                                          {"MKL_Get_Max_Threads", "MKL"}};
    int threads = 1;
    const char *name = "a library without threads of its own";
    for (int i = 0; i < 3; i++) {
        void *at = dlsym(library, asks[i][0]);
        if (!at) continue;
        int (*ask)(void);
        memcpy(&ask, &at, sizeof ask);
        threads = ask();
        name = asks[i][1];
    }
    say(f, "%s, %d thread%s", name, threads, threads == 1 ? "" : "s");
    if (threads > 1 && evn_machine_cores(m) > 1)
        advise(f, "its threads are beside those of units: bodies that call it want "
                  "OPENBLAS_NUM_THREADS=1 (MKL_NUM_THREADS, BLIS_NUM_THREADS)");
}

static void look_at_libraries(struct finding *f, const evn_machine *m) {
    const char *library, *name;
    int found = 0;
    (void)m;
    for (int i = 0; (name = evn_schedule_name(i, NULL)); i++) {
        char text[512];
        const evn_status status = evn_schedule_library(name, &library, text, sizeof text);
        if (!library) continue;
        say(f, "%s%s%s", found++ ? ", " : "", status ? "no " : "", library);
        if (status) advise(f, "schedules do without, and plan less well: install it");
    }
    if (!found) say(f, "none are used");
}

static void look_at_calibration(struct finding *f, const evn_machine *m) {
    const struct workload *is;
    int measured = 0;
    for (int i = 0; (is = workload_at(i)); i++) {
        struct choice_cost cost = CHOICE_COST;
        if (!is->teams) continue;
        calibration_teams(is, "W", m, &cost);
        measured += cost.measured;
    }
    say(f, measured ? "this node was measured" : "this node was not measured");
    if (!measured) advise(f, "evener calibrate, for better choices of --units auto and plans");
}

static const struct check {
    const char *topic;
    void (*look)(struct finding *finding, const evn_machine *machine);
} checks[] = {
    {"version", look_at_versions},
    {"cores", look_at_cores},
    {"load", look_at_load},
    {"clock", look_at_clock},
    {"binding", look_at_binding},
    {"memory", look_at_memory},
    {"MPI", look_at_mpi},
    {"devices", look_at_devices},
    {"LAPACK", look_at_lapack},
    {"libraries", look_at_libraries},
    {"calibration", look_at_calibration},
};
enum { CHECKS = sizeof checks / sizeof *checks };

static void print(const struct finding *finding) {
    int todo = 0;
    for (int i = 0; i < CHECKS; i++) {
        printf("%-11s  %s\n", checks[i].topic, finding[i].is);
        if (!*finding[i].todo) continue;
        printf("%11s  -> %s\n", "", finding[i].todo);
        todo++;
    }
    printf(todo == 1 ? "\n1 thing to do; evener info has the details\n"
           : todo    ? "\n%d things to do; evener info has the details\n"
                     : "\nnothing to do\n",
           todo);
}

static char *make_record(const struct finding *finding) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON *list = cJSON_AddArrayToObject(root, "findings");
    for (int i = 0; i < CHECKS; i++) {
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "topic", checks[i].topic);
        cJSON_AddStringToObject(o, "is", finding[i].is);
        cJSON_AddItemToObject(
            o, "todo", *finding[i].todo ? cJSON_CreateString(finding[i].todo) : cJSON_CreateNull());
        cJSON_AddItemToArray(list, o);
    }
    cJSON_AddStringToObject(root, "command", command_line);
    return record_text(root);
}

struct request {
    const char *json;
};

static const struct option table[] = {
    {"json", "FILE", "the same as a record; - is standard output", OPTION_OUTPUT,
     offsetof(struct request, json), 0, 0},
    {0},
};

int command_doctor(int argc, char **argv) {
    static struct finding finding[CHECKS];
    struct request request = {0};
    evn_machine *machine;
    evn_output *record = NULL;
    int code = options_read_plain("doctor",
                                  "usage: evener doctor [options]\n"
                                  "\n"
                                  "What this machine has, lacks and does, and what to do about it.",
                                  (struct option_set){table, &request, NULL}, argc, argv);
    if (code) return code < 0 ? EXIT_DONE : code;
    code = output_open(&record, request.json);
    if (code) return code;
    evn_status status = evn_machine_open(&machine);
    if (status) {
        evn_output_close(record);
        return give_up(status);
    }
    for (int i = 0; i < CHECKS; i++) {
        if (i) setenv("EVENER_CLAIMS", "", 1); /* units that are tried take nobody's cores */
        checks[i].look(&finding[i], machine);
    }
    if (!request.json || strcmp(request.json, "-") != 0) print(finding);
    char *text = request.json ? make_record(finding) : NULL;
    if (request.json && (!text || output_commit(record, text))) code = EXIT_FAILED;
    free(text);
    evn_output_close(record);
    evn_machine_close(machine);
    return code;
}
