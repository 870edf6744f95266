/* evener bench exchange: the Communication Period of NPB-MZ on 1, 2, 4, .. devices, in the virtual
 * clock of emulated devices, beside the time that the links alone need and beside the way of
 * González and Morancho's multi-GPU version, which takes one zone after another.
 *
 * The zones' real faces are exchanged by the exchange that runs use; only the clock is computed. */
#include "npbmz/study/study.h"
#include "common/cli/message.h"
#include "npbmz/npbmz.h"
#include "common/cli/options.h"
#include "common/run/free_all.h"
#include <evener/exchange.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kind of link, as the papers' nodes have it. */
struct node {
    const char *name;
    double link, latency, launch; /* bytes/s, s, s */
    const char *peer;
};
static const struct node nodes[] = {
    /* four V100 beside a Power9: NVLink 2, three bricks to each neighbour */
    {"NVLink, 75 GB/s", 75e9, 2e-6, 4e-6, "yes"},
    /* PCI Express 3 x16, as two MI50 beside an EPYC */
    {"PCIe 3, 13 GB/s", 13e9, 5e-6, 4e-6, "yes"},
    {"PCIe 3, by way of the host", 13e9, 5e-6, 4e-6, "no"},
};
enum { NODES = sizeof nodes / sizeof *nodes, ROUNDS = 20, DEVICES_MAX = 16 };

/* All that a row is made of. */
struct study {
    npbmz *problem;
    evn_problem tasks;
    evn_face *face;
    double **block;
    const char *schedule;
    int faces; /* the papers' way with faces instead of zones */
};

/* Seconds of the papers' exchange: zone after zone, a kernel a face, and where two zones are on two
 * devices, the neighbour is copied whole to the zone's device and back; nothing else runs
 * meanwhile. */
static double whole_zones(const struct study *s, const int *owner, const struct node *node) {
    double seconds = 0;
    const int hops = strcmp(node->peer, "yes") ? 2 : 1;
    for (int i = 0; i < s->tasks.links; i++) {
        const int *zone = s->tasks.link[i].task;
        seconds += 2 * node->launch;
        if (owner[zone[0]] != owner[zone[1]])
            seconds += 2 * hops * (node->latency + 40 * s->tasks.weight[zone[1]] / node->link);
    }
    return seconds;
}

/* Time of a sequential exchange of faces instead of zones, each packed by a kernel, moved and
 * unpacked. */
static double sequential(const struct study *s, const int *owner, const struct node *node) {
    double seconds = 0;
    int hops = strcmp(node->peer, "yes") ? 2 : 1;
    for (int i = 0; i < 4 * s->tasks.tasks; i++) {
        const evn_face *f = &s->face[i];
        double bytes = 8.0 * f->n[0] * f->n[1] * f->n[2];
        seconds += node->launch;
        if (owner[f->from] != owner[f->to])
            seconds += node->launch + hops * (node->latency + bytes / node->link);
    }
    return seconds;
}

/* The link's own time: all that the busiest device sends or receives, in as few messages as can be.
 */
static double floor_of(int units, const double *bytes, const struct node *node) {
    double longest = 0;
    int hops = strcmp(node->peer, "yes") ? 2 : 1;
    for (int u = 0; u < units; u++) {
        double in = 0, out = 0;
        for (int v = 0; v < units; v++)
            if (v != u) {
                out += bytes[u * units + v];
                in += bytes[v * units + u];
            }
        if (in + out > 0)
            longest = fmax(longest, hops * (node->latency + fmax(in, out) / node->link));
    }
    return longest;
}

/* The longest of the devices' clocks over ROUNDS exchanges, a round. */
static evn_status rounds(evn_units *units, evn_exchange *x, double *seconds) {
    const int count = evn_units_count(units);
    evn_event *event[DEVICES_MAX][2] = {{0}};
    evn_status status =
        evn_exchange_run(x); /* the first run plans, and brings the clocks together */
    for (int u = 0; !status && u < count; u++) {
        evn_unit *unit = evn_units_get(units, u);
        for (int e = 0; !status && e < 2; e++)
            status = evn_event_open(&event[u][e], evn_unit_device(unit, 0));
        if (!status) status = evn_event_record(event[u][0], evn_unit_queue(unit, 0));
    }
    for (int r = 0; !status && r < ROUNDS; r++) status = evn_exchange_run(x);
    *seconds = 0;
    for (int u = 0; !status && u < count; u++) {
        double one;
        evn_queue *queue = evn_unit_queue(evn_units_get(units, u), 0);
        status = evn_event_record(event[u][1], queue);
        if (!status) status = evn_queue_finish(queue);
        if (!status) status = evn_event_seconds(event[u][0], event[u][1], &one);
        if (!status) *seconds = fmax(*seconds, one / ROUNDS);
    }
    for (int u = 0; u < count; u++)
        for (int e = 0; e < 2; e++) evn_event_close(event[u][e]);
    return status;
}

static evn_status row(const struct study *s, const evn_machine *machine, const struct node *node,
                      int devices, double *one_device) {
    char list[32], spec[256];
    snprintf(list, sizeof list, "%d:GPU:1", devices);
    snprintf(spec, sizeof spec,
             "emulated:%d,clock=virtual,item=0ps,link=%.0fB/s,latency=%.0fns,launch=%.0fns,peer=%s",
             devices, node->link, node->latency * 1e9, node->launch * 1e9, node->peer);
    evn_problem tasks = s->tasks;
    tasks.units = devices;
    tasks.bandwidth = 0;
    evn_units *units = NULL;
    evn_schedule *schedule = NULL;
    evn_loop *loop = NULL;
    evn_place *place = NULL;
    evn_exchange *x = NULL;
    int *region = malloc((size_t)tasks.tasks * sizeof *region);
    double *bytes = malloc((size_t)(devices * devices) * sizeof *bytes);
    evn_status status =
        region && bytes ? EVN_OK : evn_fail(EVN_MEMORY, "bench exchange: not enough memory");
    if (!status) status = evn_units_open(&units, machine, list, spec, EVN_STAY_BOUND);
    if (!status) status = evn_schedule_open(&schedule, s->schedule, &tasks);
    if (!status) status = evn_loop_open(&loop, units, schedule);
    if (!status) status = evn_place_open(&place, units, 1.0);
    for (int z = 0; !status && z < tasks.tasks; z++)
        status = evn_place_add(place, s->block[z], npbmz_zone_bytes(s->problem, z), &region[z]);
    if (!status) status = evn_loop_place(loop, place, 1, region, &(evn_access){EVN_BOTH});
    if (!status) status = evn_loop_bring(loop);
    if (!status)
        status = evn_exchange_open(&x, loop, sizeof(double), 4 * tasks.tasks, s->face, NULL);
    double seconds;
    if (!status) status = rounds(units, x, &seconds);
    if (!status) {
        int messages = evn_exchange_pairs(x, bytes);
        double cut = 0, least = floor_of(devices, bytes, node);
        double before = (s->faces ? sequential : whole_zones)(s, evn_loop_owner(loop), node);
        for (int i = 0; i < devices * devices; i++)
            if (i % (devices + 1)) cut += bytes[i];
        if (devices == 1) *one_device = seconds;
        printf("  %-27s %2d  %8d  %10.3f  %10.1f  %10.1f  %10.1f  %7.2f  %10.1f  %6.1f\n",
               node->name, devices, messages, 1e-6 * cut, 1e6 * seconds, 1e6 * least,
               1e6 * (seconds - *one_device), least > 0 ? (seconds - *one_device) / least : 0.0,
               1e6 * before, before / seconds);
        fflush(stdout);
    }
    evn_exchange_close(x);
    evn_loop_close(loop);
    evn_place_close(place);
    evn_schedule_close(schedule);
    evn_units_close(units);
    free_all(bytes, region);
    return status;
}

static evn_status study(struct study *s, const evn_machine *machine, int max) {
    const int zones = s->tasks.tasks;
    s->face = malloc(4 * (size_t)zones * sizeof *s->face);
    s->block = calloc((size_t)zones, sizeof *s->block);
    evn_status status =
        s->face && s->block ? EVN_OK : evn_fail(EVN_MEMORY, "bench exchange: not enough memory");
    for (int z = 0; !status && z < zones; z++) {
        s->block[z] = calloc(1, npbmz_zone_bytes(s->problem, z));
        if (!s->block[z]) status = evn_fail(EVN_MEMORY, "bench exchange: no memory for zone %d", z);
    }
    if (!status) {
        npbmz_faces(s->problem, s->face);
        printf("\n  %-27s %2s  %8s  %10s  %10s  %10s  %10s  %7s  %10s  %6s\n", "link", "n",
               "messages", "MB cut", "us", "link's us", "us over 1", "ratio", "papers' us",
               "ratio");
    }
    for (int n = 0; !status && n < NODES; n++) {
        double one_device = 0;
        for (int devices = 1; !status && devices <= max; devices *= 2)
            status = row(s, machine, &nodes[n], devices, &one_device);
    }
    if (!status)
        printf("\nus: one exchange, all devices at once. link's us: what the busiest device's link "
               "needs for its\nbytes. us over 1, ratio: how much longer than on one device, and "
               "that over the link's own time.\npapers' us, ratio: zone after zone, %s, and that "
               "over ours.\n",
               s->faces ? "face after face" : "neighbours copied whole there and back");
    for (int z = 0; s->block && z < zones; z++) free(s->block[z]);
    free_all(s->block, s->face);
    return status;
}

struct request {
    const char *app, *class_, *schedule, *exchange;
    long max;
};

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"app", "APP", "whose zones: bt-mz (default), sp-mz or lu-mz", OPTION_TEXT(app)},
    {"class", "B", "problem class (default B)", OPTION_TEXT(class_)},
    {"schedule", "SPEC", "who has which zones (default guided:size)", OPTION_TEXT(schedule)},
    {"exchange", "HOW",
     "of the papers beside ours: zones (default), or sequential, face after face",
     OPTION_TEXT(exchange)},
    {"devices", "N", "devices at most; 1, 2, 4, .. are tried (default 4)",
     OPTION_NUMBER(max, 1, DEVICES_MAX)},
    {0},
};

int npbmz_study_exchange(int argc, char **argv) {
    struct request request = {.app = "bt-mz", .class_ = "B", .schedule = "guided:size", .max = 4};
    int code = options_read_plain(
        "bench exchange",
        "usage: evener bench exchange [options]\n\n"
        "The exchange of NPB-MZ's faces on several emulated devices, in their virtual clock.",
        (struct option_set){table, &request, NULL}, argc, argv);
    if (code) return code < 0 ? EXIT_DONE : code;
    const char *app = request.app, *class_ = request.class_;
    struct study s = {.schedule = request.schedule};
    s.faces = request.exchange && !strcmp(request.exchange, "sequential");
    if (request.exchange && !s.faces && strcmp(request.exchange, "zones") != 0)
        return complain("--exchange %s: expected zones or sequential", request.exchange);
    int benchmark = npbmz_find(app);
    if (benchmark < 0 || strlen(class_) != 1)
        return complain("bench exchange: there is no %s class %s; expected bt-mz, sp-mz or lu-mz, "
                        "and S W A B C D E or F",
                        app, class_);
    evn_machine *machine = NULL;
    evn_status status = npbmz_open(&s.problem, benchmark, class_[0]);
    if (!status) status = evn_machine_open(&machine);
    if (!status) {
        s.tasks = npbmz_tasks(s.problem);
        printf("%s class %s, %d zones, schedule %s, %d exchanges each, virtual clock\n", app,
               class_, s.tasks.tasks, s.schedule, ROUNDS);
        status = study(&s, machine, (int)request.max);
    }
    if (machine) evn_machine_close(machine);
    npbmz_close(s.problem);
    return status ? give_up(status) : EXIT_DONE;
}
