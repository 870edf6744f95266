/* evener info: cores, caches and devices of this node, and the reasons why back ends could not be
 * opened. */
#include "cli/command.h"
#include "cli/info_cores.h"
#include "cli/info_ranks.h"
#include "common/run/build.h"
#include "common/simd/isa.h"
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "common/run/record.h"
#include "machine/calibration.h"
#include "run/ranks.h"
#include "run/table.h"
#include <evener/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each back end: its devices, or why there are none. What is emulated is always there. */
static void print_devices(const evn_machine *m) {
    for (int b = 0; evn_backend_name(b); b++) {
        const char *name = evn_backend_name(b);
        char why[1024], memory[32];
        const int count = info_devices(m, name, why, sizeof why);
        printf("%s%-8s ", b ? "           " : "devices    ", name);
        if (!count) printf("none: %s\n", why);
        for (int d = 0; d < count; d++) {
            evn_device *device;
            if (d) printf("                    ");
            if (evn_device_open(&device, name, d)) {
                printf("%d: cannot be opened: %s\n", d, evn_message());
                continue;
            }
            const evn_traits *t = evn_device_traits(device);
            printf("%d: %s, %s, %s, %d processors%s\n", d, t->name, t->architecture,
                   info_size((double)t->memory, memory), t->processors,
                   t->peer ? ", copies to its peers directly" : "");
            if (*t->kernels) printf("                       kernels: %s\n", t->kernels);
            evn_device_close(device);
        }
        if (count && *why) printf("                    %s\n", why);
    }
}

/* The back ends, for a record. */
static cJSON *record_backends(const evn_machine *m) {
    cJSON *list = cJSON_CreateArray();
    for (int b = 0; evn_backend_name(b); b++) {
        const char *name = evn_backend_name(b);
        cJSON *o = cJSON_CreateObject();
        char why[1024];
        const int count = info_devices(m, name, why, sizeof why);
        cJSON_AddStringToObject(o, "backend", name);
        if (*why)
            cJSON_AddStringToObject(o, "why", why);
        else
            cJSON_AddNullToObject(o, "why");
        cJSON *devices = cJSON_AddArrayToObject(o, "devices");
        for (int d = 0; d < count; d++) {
            evn_device *device;
            if (evn_device_open(&device, name, d)) continue;
            const evn_traits *t = evn_device_traits(device);
            cJSON *one = cJSON_CreateObject();
            cJSON_AddStringToObject(one, "name", t->name);
            cJSON_AddStringToObject(one, "architecture", t->architecture);
            record_number(one, "memory", (double)t->memory);
            cJSON_AddNumberToObject(one, "processors", t->processors);
            cJSON_AddBoolToObject(one, "peer", t->peer);
            if (*t->kernels) cJSON_AddStringToObject(one, "kernels", t->kernels);
            cJSON_AddItemToArray(devices, one);
            evn_device_close(device);
        }
        cJSON_AddItemToArray(list, o);
    }
    return list;
}

/* Prints the list that `auto` stands for, and its units' speeds where they differ. */
static void print_auto(const evn_units *units) {
    const int n = evn_units_count(units);
    int differ = 0;
    printf("units      auto means %s here", evn_units_text(units));
    for (int u = 0; u < n; u++)
        differ |= evn_unit_about(evn_units_get(units, u)).kind !=
                  evn_unit_about(evn_units_get(units, 0)).kind;
    for (int u = 0; differ && u < n; u++)
        printf("%s%.3g", u ? ", " : "; speeds ", evn_unit_about(evn_units_get(units, u)).speed);
    printf("\n           %s\n",
           evn_units_about(units).gpus
               ? "a unit of each device, and of each part's other cores"
               : "a unit of each part; run looks whether its tasks want others, and says so");
}

/* Prints the cost that auto assumes for doubling a team, of each workload with a model of its
 * teams. */
static void print_teams(const evn_machine *m) {
    const struct workload *is;
    int known = 0, all = 0;
    printf("teams      a doubling costs");
    for (int i = 0; (is = workload_at(i)); i++) {
        struct choice_cost cost = CHOICE_COST;
        if (!is->teams) continue;
        all++;
        calibration_teams(is, "W", m, &cost);
        if (!cost.measured) continue;
        printf("%s %s %.2f", known++ ? "," : "", is->name, cost.doubling);
    }
    if (known < all)
        printf("%s %.2g, assumed until evener calibrate measures it", known ? "; others" : "",
               CHOICE_DOUBLING);
    printf("%s\n", known == all ? ", measured" : "");
}

/* Libraries that schedules open when they need them. */
static void print_libraries(void) {
    const char *library, *name, *head = "libraries  ";
    for (int i = 0; (name = evn_schedule_name(i, NULL)); i++) {
        char text[512];
        const evn_status status = evn_schedule_library(name, &library, text, sizeof text);
        if (!library) continue;
        printf("%s%-11s %s%s\n", head, library, status ? "none: " : "",
               status ? evn_message() : text);
        head = "           ";
    }
}

/* The libraries, for a record. */
static cJSON *record_libraries(void) {
    cJSON *list = cJSON_CreateArray();
    const char *library, *name;
    for (int i = 0; (name = evn_schedule_name(i, NULL)); i++) {
        char text[512];
        const evn_status status = evn_schedule_library(name, &library, text, sizeof text);
        if (!library) continue;
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "library", library);
        cJSON_AddStringToObject(o, "schedule", name);
        cJSON_AddItemToObject(o, "found", status ? cJSON_CreateNull() : cJSON_CreateString(text));
        cJSON_AddItemToObject(o, "why",
                              status ? cJSON_CreateString(evn_message()) : cJSON_CreateNull());
        cJSON_AddItemToArray(list, o);
    }
    return list;
}

/* The units below are gone in a moment: a program that begins in it is to have its cores. */
static void claim_nothing(void) { setenv("EVENER_CLAIMS", "", 1); }

static void print(const evn_machine *m) {
    char a[32], b[32];
    printf("processor  %s\n", evn_machine_about(m).processor);
    info_print_cores(m);
    info_print_picture(m);
    for (int level = 1; level <= 3; level++) {
        int sharing;
        double bytes = (double)evn_machine_cache(m, level, &sharing);
        if (bytes > 0)
            printf("L%d cache   %s, shared by %d of these cores\n", level, info_size(bytes, a),
                   sharing);
    }
    printf("memory     %s, %s of it available\n", info_size((double)evn_machine_about(m).memory, a),
           info_size((double)evn_machine_memory_available(m), b));
    print_devices(m);
    evn_units *units;
    claim_nothing();
    if (!evn_units_open(&units, m, "auto", NULL, 0)) {
        print_auto(units);
        print_teams(m);
        evn_units_close(units);
    }
    printf("schedules ");
    const char *explanation, *name;
    for (int i = 0; (name = evn_schedule_name(i, &explanation)); i++)
        printf("%s%-8s %s\n", i ? "           " : " ", name, explanation);
    print_libraries();
    printf("isa        %s: %s\n", isa_name(), isa_why());
    printf("built      %s\n           %s\n", build.compiler, build.flags);
}

/* How the threads of units are bound, by one that was opened. */
static const char *binding_of(const evn_units *units) {
    const evn_machine *m = evn_units_about(units).machine;
    const char *said = secure_getenv("EVENER_BIND"),
               *is = evn_unit_about(evn_units_get(units, 0)).binding;
    if (!evn_machine_about(m).here) return "none: this is not the machine we run on";
    if (!strcmp(is, "core")) return "works: each leader runs on its own core and nowhere else";
    if (!strcmp(is, "unit")) return "works: each thread runs on the cores of its unit";
    if (said && !strcmp(said, "none")) return "none: EVENER_BIND says so";
    return evn_machine_cores(m) < evn_machine_about(m).allowed
               ? "none: under a quota the system moves threads as it likes"
               : "none: the system refuses it";
}

/* Opens one unit on every core and looks where its thread really is. */
static int check_binding(const evn_machine *m, int quiet) {
    char list[32];
    snprintf(list, sizeof list, "%d:CPU:1", evn_machine_cores(m));
    evn_units *units;
    claim_nothing();
    evn_status status = evn_units_open(&units, m, list, NULL, 0);
    if (status) return give_up(status);
    status = evn_units_check_binding(units);
    if (!status && !quiet) printf("binding    %s\n", binding_of(units));
    evn_units_close(units);
    return status ? give_up(status) : EXIT_DONE;
}

struct request {
    const char *json;
    struct rank_words ranks;
};

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"json", "FILE", "the same as a record; - is standard output", OPTION_OUTPUT(json)},
    {"processes", "N", "and of N processes of this node: which cores each would take",
     OPTION_NUMBER(ranks.processes, 1, 1024)},
    {0},
};

/* The subject of the report, and the ranks that make it. */
struct info {
    evn_cluster *cluster;   /* NULL: alone */
    evn_machine *machine;   /* as this process sees it */
    evn_machine *share;     /* over ranks: its part */
    struct info_rank *rank; /* over ranks: all of them */
    evn_output *record;
};

static char *make_record(const struct info *info) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "evener", EVN_VERSION);
    cJSON_AddItemToObject(root, "machine", record_machine(info->machine));
    cJSON_AddItemToObject(root, "devices", record_backends(info->machine));
    cJSON_AddItemToObject(root, "libraries", record_libraries());
    if (info->cluster) info_record_ranks(root, info->cluster, info->rank);
    cJSON_AddItemToObject(root, "build", record_build());
    cJSON_AddStringToObject(root, "command", command_line);
    return record_text(root);
}

/* Rank 0 prints and writes; all look at their own cores. */
static int tell(struct info *info, const char *json) {
    const int speaks = ranks_speak(info->cluster);
    const int quiet = !speaks || (json && json[0] == '-' && !json[1]);
    evn_status status = evn_machine_open(&info->machine);
    int code = status ? give_up(status) : 0;
    if (!code && speaks && output_open(&info->record, json)) code = EXIT_USAGE;
    code = ranks_agree(info->cluster, code);
    if (!code && info->cluster) code = info_ranks(info->cluster, &info->share, &info->rank);
    if (!code && !quiet) print(info->machine);
    if (!code && !quiet && info->cluster) info_print_ranks(info->cluster, info->rank);
    if (!code) code = check_binding(info->cluster ? info->share : info->machine, quiet);
    if (!code && speaks && json) {
        char *text = make_record(info);
        if (!text || output_commit(info->record, text)) code = EXIT_FAILED;
        free(text);
    }
    return ranks_agree(info->cluster, code);
}

static int run(int argc, char **argv) {
    struct request request = {0};
    struct info info = {0};
    int code = options_read_plain(
        "info",
        "usage: evener info [options]\n"
        "\n"
        "Cores, caches and devices of this node, and the reasons why back ends could not be\n"
        "opened; under a launcher (mpirun, srun) the share of each rank.",
        (struct option_set){table, &request, NULL}, argc, argv);
    if (code) return code < 0 ? EXIT_DONE : code;
    code = ranks_join(&info.cluster, &request.ranks);
    if (!code) code = tell(&info, request.json);
    evn_output_close(info.record);
    free(info.rank);
    evn_machine_close(info.share);
    evn_machine_close(info.machine);
    return ranks_leave(info.cluster, code);
}

int command_info(int argc, char **argv) {
    ranks_begin();
    return ranks_end(run(argc, argv));
}
