/* The problem of a benchmark for its users: classes, zones as tasks, printed results. */
#include "npbmz/npbmz.h"
#include "common/run/build.h"
#include "npbmz/host/norms.h"
#include "npbmz/host/verify.h"
#include "npbmz/mesh/faces.h"
#include "npbmz/mesh/mesh.h"
#include "npbmz/problem.h"
#include "npbmz/run/run.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct npbmz {
    struct problem p;
    double *weight;
    evn_link *link;
    int links;
};

static const char *const names[] = {"bt-mz", "sp-mz", "lu-mz"};

int npbmz_find(const char *name) {
    for (int i = 0; i < 3; i++)
        if (!strcmp(names[i], name)) return i;
    return -1;
}

const char *npbmz_phase_name(int phase) {
    static const char *const name[NPBMZ_PHASES] = {
        [NPBMZ_RHS] = "rhs",  [NPBMZ_X] = "xsolve",    [NPBMZ_Y] = "ysolve",
        [NPBMZ_Z] = "zsolve", [NPBMZ_LOWER] = "lower", [NPBMZ_UPPER] = "upper",
    };
    return name[phase];
}

/* Clocks of phases say how a unit's computing is divided; its loop, how long it was. */
npbmz_times npbmz_rank_times(const npbmz_result *r, int rank) {
    const double *phase = r->rank_phase_s + (size_t)rank * NPBMZ_PHASES;
    double compute = 0, all = 0;
    npbmz_times t = {.total = r->run.seconds};
    int units = 0;
    for (int u = 0; u < r->run.units; u++) {
        if (r->run.unit[u].rank != rank) continue;
        compute += r->run.unit[u].stats.compute_s;
        t.exchange += r->run.unit[u].stats.exchange_s;
        units++;
    }
    for (int i = 0; i < NPBMZ_PHASES; i++) all += phase[i];
    if (units) compute /= units;
    if (units) t.exchange /= units;
    t.rhs = all > 0 ? compute * phase[NPBMZ_RHS] / all : 0;
    t.solver = all > 0 ? compute - t.rhs : 0;
    t.wait = fmax(0, t.total - compute - t.exchange);
    return t;
}

/* Links once a pair; the bytes are those of one way, and the other way has as many. */
static int make_links(npbmz *b) {
    struct zone_link *way = malloc(sizeof *way * 4 * (size_t)b->p.zones);
    b->link = malloc(sizeof *b->link * 4 * (size_t)b->p.zones);
    int failed = !way || !b->link;
    int n = failed ? 0 : problem_links(&b->p, way);
    for (int i = 0; i < n; i++)
        if (way[i].from < way[i].to)
            b->link[b->links++] = (evn_link){{way[i].from, way[i].to}, way[i].bytes};
    free(way);
    return failed;
}

evn_status npbmz_open(npbmz **out, enum npbmz_benchmark benchmark, char class_) {
    *out = NULL;
    npbmz *b = calloc(1, sizeof *b);
    if (b && problem_class(&b->p, benchmark, class_)) {
        free(b);
        return evn_fail(EVN_USAGE, "%s: there is no class \"%c\", expected one of S W A B C D E F",
                        names[benchmark], class_);
    }
    int failed = !b || problem_zones(&b->p);
    if (!failed) {
        b->weight = malloc(sizeof *b->weight * (size_t)b->p.zones);
        failed = !b->weight || make_links(b);
    }
    if (failed) {
        npbmz_close(b);
        return evn_fail(EVN_MEMORY, "%s: not enough memory for the list of zones",
                        names[benchmark]);
    }
    for (int z = 0; z < b->p.zones; z++) b->weight[z] = zone_weight(&b->p.zone[z]);
    *out = b;
    return EVN_OK;
}

void npbmz_close(npbmz *b) {
    if (!b) return;
    problem_close(&b->p);
    free_all(b->weight, b->link, b);
}

npbmz_shape npbmz_describe(const npbmz *b) {
    const struct problem *p = &b->p;
    return (npbmz_shape){
        .name = names[p->benchmark],
        .class_ = p->class_,
        .points = {p->gx, p->gy, p->gz},
        .zones = {p->xzones, p->yzones},
        .steps = p->steps,
        .dt = p->dt,
        .bytes = problem_bytes(p),
        .device_bytes = setup_device_bytes(p),
        .mop_per_step = problem_mop(p),
    };
}

void npbmz_zone(const npbmz *b, int z, int points[3]) {
    points[0] = b->p.zone[z].nx;
    points[1] = b->p.zone[z].ny;
    points[2] = b->p.zone[z].nz;
}

evn_problem npbmz_tasks(const npbmz *b) {
    return (evn_problem){
        .tasks = b->p.zones, .weight = b->weight, .links = b->links, .link = b->link};
}

void npbmz_faces(const npbmz *b, evn_face *face) {
    for (int z = 0; z < b->p.zones; z++) zone_faces(&b->p, z, face + 4 * z);
}

size_t npbmz_zone_bytes(const npbmz *b, int z) { return (size_t)zone_bytes(&b->p, &b->p.zone[z]); }

struct problem *npbmz_problem(npbmz *b) {
    return &b->p;
}

void npbmz_print_header(const npbmz *b, int steps, FILE *out) {
    heading_print(&b->p, EVN_VERSION, steps, out);
}

void npbmz_print_result(const npbmz *b, const npbmz_result *r, int threads, FILE *out) {
    struct norms total;
    memcpy(total.residual, r->residual, sizeof total.residual);
    memcpy(total.error, r->error, sizeof total.error);
    total.surface = r->surface;
    struct verification v;
    verify(&b->p, r->run.steps, r->run.verified < 0, &total, &v);
    verification_print(&b->p, &v, out);
    report_print(&b->p,
                 &(struct report){
                     .steps = r->run.steps,
                     .before = r->run.restarted ? r->run.restarted_from : 0,
                     .threads = threads,
                     .verdict = r->run.verified,
                     .seconds = r->run.seconds,
                     .version = EVN_VERSION,
                     .date = build.date,
                     .compiler = build.compiler,
                     .linker = build.compiler,
                     .compile_flags = build.flags,
                 },
                 out);
}
