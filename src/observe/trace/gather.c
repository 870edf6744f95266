/* Traces over ranks: every rank keeps its bursts and messages, and at the end rank 0 gets them, one
 * rank's after another's, on its own clock. */
#include "trace/compare.h"
#include "trace/gathered.h"
#include "trace/loops.h"
#include "loop/origin.h"
#include "cluster/cluster.h"
#include "cluster/collective_record.h"
#include "base/argument.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Header of a rank's recordings: units with their bursts, then messages. */
struct summary {
    long long units, bursts, messages, lost;
    double origin; /* origin of the loop's times */
};
struct told_unit {
    int gpu, cores, bursts, unused;
};

static size_t told_bytes(const struct summary *s) {
    return (size_t)s->units * sizeof(struct told_unit) +
           (size_t)s->bursts * sizeof(struct loop_burst) +
           (size_t)s->messages * sizeof(struct log_entry);
}

/* ---- opened and closed --------------------------------------------------------------------- */

static evn_status keep(evn_trace *t, int bursts, int messages) {
    evn_status status = EVN_OK;
    t->clock = calloc((size_t)t->ranks, sizeof *t->clock);
    t->told = calloc((size_t)t->ranks, sizeof *t->told);
    if (!t->clock || !t->told)
        status = evn_fail(EVN_MEMORY, "trace: not enough memory for %d ranks", t->ranks);
    if (!status && t->loop) status = evn_loop_keep_bursts(t->loop, bursts);
    if (!status) status = log_keep(t->cluster, messages);
    t->keeps = !status;
    return status;
}

/* Measures each rank's clock against rank 0's, unless all ranks are on one host and share a clock.
 */
static evn_status compare(evn_trace *t, const char *what, int at_end) {
    struct clock_point *point = NULL;
    if (!compare_is_needed(t->cluster)) return EVN_OK;
    evn_status status = EVN_OK;
    point = calloc((size_t)t->ranks, sizeof *point);
    if (!point) status = evn_fail(EVN_MEMORY, "trace: not enough memory for %d ranks", t->ranks);
    status = cluster_agree(t->cluster, what, status);
    if (!status) status = compare_clocks(t->cluster, point);
    for (int r = 0; !status && r < t->ranks; r++)
        *(at_end ? &t->clock[r].end : &t->clock[r].begin) = point[r];
    free(point);
    return status;
}

static evn_status open_over_ranks(evn_trace *t, evn_status status, int bursts, int messages) {
    static const char what[] = "evn_trace_open()";
    if (!status && log_is_kept(t->cluster))
        status = evn_fail(EVN_USAGE,
                          "trace: another trace of this cluster is open, as EVENER_TRACE has one; "
                          "close it");
    if (!status) status = keep(t, bursts, messages);
    status = cluster_agree(t->cluster, what, status);
    return status ? status : compare(t, what, 0);
}

/* Opens a trace; `is` has the loop or loops, and the cluster; `status`: of earlier checks. */
static evn_status open_trace(evn_trace **out, evn_status status, evn_trace is, int bursts,
                             int messages) {
    evn_trace *t = calloc(1, sizeof *t);
    if (!t && !status) status = evn_fail(EVN_MEMORY, "trace: not enough memory");
    if (!status && messages < 0)
        status = evn_fail(EVN_USAGE, "trace: the latest %d messages to be kept, expected 0 or more",
                          messages);
    evn_trace *at = t ? t : &is; /* a rank without memory reports it at the collective call */
    *at = is;
    at->ranks = is.cluster ? evn_cluster_size(is.cluster) : 1;
    if (is.cluster)
        status = open_over_ranks(at, status, bursts, messages);
    else if (!status && is.loop)
        status = evn_loop_keep_bursts(is.loop, bursts);
    if (!status) {
        *out = t;
        return EVN_OK;
    }
    if (t)
        evn_trace_close(t);
    else
        loops_close(is.kept);
    return status;
}

evn_status evn_trace_open(evn_trace **out, evn_loop *loop, int bursts, int messages) {
    NEED_OUT(out);
    NEED(loop, "a loop");
    return open_trace(out, EVN_OK, (evn_trace){.loop = loop, .cluster = loop_cluster(loop)}, bursts,
                      messages);
}

evn_status trace_open_loops(evn_trace **out, const evn_units *units, evn_cluster *cluster,
                            double origin, int messages) {
    evn_trace is = {.cluster = cluster};
    evn_status status = loops_open(&is.kept, units, origin);
    return open_trace(out, status, is, 0, messages);
}

void evn_trace_close(evn_trace *t) {
    if (!t) return;
    if (t->keeps) log_close(t->cluster);
    for (int r = 0; t->told && r < t->ranks; r++) free(t->told[r]);
    free(t->told);
    free(t->clock);
    free(t->unit);
    free(t->message);
    loops_close(t->kept);
    free(t);
}

/* ---- this rank's --------------------------------------------------------------------------- */

const evn_units *trace_own(const evn_trace *t) {
    return t->loop ? evn_loop_about(t->loop).units : t->kept->own;
}

static double origin_of(const evn_trace *t) {
    return t->loop ? loop_origin(t->loop) : t->kept->origin;
}

static struct trace_unit own_unit(const evn_trace *t, int u) {
    if (t->kept) return t->kept->unit[u];
    const evn_unit *unit = evn_units_get(trace_own(t), u);
    return (struct trace_unit){.gpu = evn_unit_is_gpu(unit),
                               .cores = evn_unit_cores(unit),
                               .bursts = evn_loop_bursts(t->loop, u)};
}

static struct loop_burst own_burst(const evn_trace *t, int u, int i) {
    if (t->kept) return t->kept->unit[u].burst[i];
    return (struct loop_burst){evn_loop_burst(t->loop, u, i), 0};
}

/* ---- what a rank tells --------------------------------------------------------------------- */

static struct summary summarize(const evn_trace *t) {
    const int units = evn_units_count(trace_own(t));
    struct summary s = {.units = units,
                        .messages = log_count(t->cluster),
                        .lost = log_lost(t->cluster),
                        .origin = compare_shown(t->cluster, origin_of(t))};
    for (int u = 0; u < units; u++) s.bursts += own_unit(t, u).bursts;
    return s;
}

/* Packs units, bursts and messages one behind the other, in times of this rank's clock. NULL: no
 * memory. */
static char *write_down(const evn_trace *t, const struct summary *s) {
    char *all = malloc(told_bytes(s)), *at = all;
    const double origin = origin_of(t);
    for (int u = 0; all && u < (int)s->units; u++, at += sizeof(struct told_unit)) {
        const struct trace_unit is = own_unit(t, u);
        const struct told_unit told = {is.gpu, is.cores, is.bursts, 0};
        memcpy(at, &told, sizeof told);
    }
    for (int u = 0; all && u < (int)s->units; u++)
        for (int i = 0; i < own_unit(t, u).bursts; i++, at += sizeof(struct loop_burst)) {
            struct loop_burst b = own_burst(t, u, i);
            b.is.begin = compare_shown(t->cluster, origin + b.is.begin);
            b.is.end = compare_shown(t->cluster, origin + b.is.end);
            memcpy(at, &b, sizeof b);
        }
    for (int i = 0; all && i < (int)s->messages; i++, at += sizeof(struct log_entry)) {
        struct log_entry e = log_get(t->cluster, i);
        e.begin = compare_shown(t->cluster, e.begin);
        e.end = compare_shown(t->cluster, e.end);
        memcpy(at, &e, sizeof e);
    }
    return all;
}

/* ---- rank 0 -------------------------------------------------------------------------------- */

/* Rank 0's state during the gathering. */
struct gathering {
    evn_trace *trace;
    struct summary *of; /* each rank's summary */
    struct message_end *end;
    size_t ends;
};

/* Allocates memory for all recordings; if there is none, no rank sends. */
static evn_status make_room(void *arg, const struct cluster_record *said, const void **down,
                            size_t *bytes) {
    struct gathering *g = arg;
    evn_trace *t = g->trace;
    size_t all = 0;
    int failed = !(g->of = malloc((size_t)t->ranks * sizeof *g->of));
    (void)down;
    (void)bytes;
    for (int r = 0; !failed && r < t->ranks; r++) {
        memcpy(&g->of[r], said[r].data, sizeof g->of[r]);
        g->ends += (size_t)g->of[r].messages;
        all += told_bytes(&g->of[r]);
        if (r) failed = !(t->told[r] = malloc(told_bytes(&g->of[r])));
    }
    t->units = evn_cluster_about(t->cluster).units;
    if (!failed) {
        g->end = malloc((g->ends + 1) * sizeof *g->end);
        t->message = malloc((g->ends / 2 + 1) * sizeof *t->message);
        t->unit = malloc((size_t)t->units * sizeof *t->unit);
        failed = !g->end || !t->message || !t->unit;
    }
    if (!failed && g->ends <= INT_MAX) return EVN_OK;
    return evn_fail(EVN_MEMORY, "trace: not enough memory for what %d ranks have kept, %.3g GB",
                    t->ranks, 1e-9 * (double)all);
}

/* Converts a rank's time to seconds since rank 0 opened the loop. */
static double moment(const struct gathering *g, int rank, double there) {
    return clock_here(&g->trace->clock[rank], there) - g->of[0].origin;
}

/* Reads a rank's units and bursts; returns the begin of its messages. */
static char *take_units(const struct gathering *g, int rank) {
    const evn_trace *t = g->trace;
    const struct summary *s = &g->of[rank];
    char *told = t->told[rank], *at = told + (size_t)s->units * sizeof(struct told_unit);
    for (int u = 0; u < (int)s->units; u++) {
        struct told_unit is;
        memcpy(&is, told + (size_t)u * sizeof is, sizeof is);
        struct loop_burst *burst = (void *)at; /* aligned, since units are 16 bytes each */
        t->unit[evn_cluster_about(t->cluster).first[rank] + u] =
            (struct trace_unit){rank, is.gpu, is.cores, is.bursts, is.bursts, burst};
        for (int i = 0; i < is.bursts; i++) {
            burst[i].is.begin = moment(g, rank, burst[i].is.begin);
            burst[i].is.end = moment(g, rank, burst[i].is.end);
        }
        at += (size_t)is.bursts * sizeof *burst;
    }
    return at;
}

static void take_messages(struct gathering *g, int rank, const char *at) {
    for (int i = 0; i < (int)g->of[rank].messages; i++, at += sizeof(struct log_entry)) {
        struct message_end *end = &g->end[g->ends++];
        memcpy(&end->is, at, sizeof end->is);
        end->is.begin = moment(g, rank, end->is.begin);
        end->is.end = moment(g, rank, end->is.end);
        end->rank = rank;
    }
}

/* Completes the trace from all ranks' recordings. */
static void conclude(struct gathering *g) {
    evn_trace *t = g->trace;
    g->ends = 0;
    for (int r = 0; r < t->ranks; r++) {
        take_messages(g, r, take_units(g, r));
        t->lost += g->of[r].lost;
    }
    t->messages = trace_match((int)g->ends, g->end, t->message);
    t->lost += (long long)g->ends - 2 * (long long)t->messages;
}

/* ---- together ------------------------------------------------------------------------------ */

/* Sends the recordings to rank 0, one rank after another. */
static evn_status carry(const evn_trace *t, const struct gathering *g, const struct summary *mine,
                        char *all) {
    const int me = evn_cluster_rank(t->cluster);
    evn_status status = EVN_OK;
    if (me) return evn_cluster_carry(t->cluster, me, 0, all, told_bytes(mine));
    for (int r = 1; !status && r < t->ranks; r++)
        status = evn_cluster_carry(t->cluster, r, 0, t->told[r], told_bytes(&g->of[r]));
    return status;
}

static evn_status gather(evn_trace *t, struct gathering *g) {
    static const char what[] = "evn_trace_gather()";
    evn_status status = compare(t, what, 1);
    if (status) return status;
    struct summary mine = summarize(t);
    char *all = write_down(t, &mine);
    if (!all)
        status = evn_fail(EVN_MEMORY, "trace: not enough memory for %lld bursts and %lld messages",
                          mine.bursts, mine.messages);
    struct meeting m = {
        .what = what, .up = &mine, .up_bytes = sizeof mine, .decide = make_room, .arg = g};
    status = cluster_meet(t->cluster, status, &m);
    if (!status) status = carry(t, g, &mine, all);
    if (!status && !evn_cluster_rank(t->cluster)) {
        t->told[0] = all;
        all = NULL;
        conclude(g);
    }
    free(all);
    return status ? status : cluster_agree(t->cluster, what, status);
}

evn_status evn_trace_gather(evn_trace *t) {
    NEED(t, "a trace");
    if (t->gathered) return evn_fail(EVN_USAGE, "trace: evn_trace_gather() a second time");
    if (t->kept) loops_sort(t->kept);
    if (!t->cluster) return EVN_OK;
    struct gathering g = {.trace = t};
    evn_status status = gather(t, &g);
    t->gathered = !status;
    free(g.of);
    free(g.end);
    if (!status) return EVN_OK;
    free(t->unit);
    t->unit = NULL;
    t->messages = 0;
    return status;
}

/* ---- queries ---- */

struct trace_unit trace_unit(const evn_trace *t, int u) {
    return t->unit ? t->unit[u] : own_unit(t, u);
}

struct loop_burst trace_burst(const evn_trace *t, int unit, int i) {
    return t->unit ? t->unit[unit].burst[i] : own_burst(t, unit, i);
}

int trace_units(const evn_trace *t) { return t->unit ? t->units : evn_units_count(trace_own(t)); }

int trace_ranks(const evn_trace *t) { return t->unit ? t->ranks : 1; }
int trace_loops(const evn_trace *t) { return t->kept ? t->kept->loops : 1; }

/* Units that can be asked for. */
static int units_here(const evn_trace *t) { return t->cluster && !t->unit ? 0 : trace_units(t); }

int evn_trace_bursts(const evn_trace *t, int unit) {
    NEED_OR(0, t, "a trace");
    const int units = units_here(t);
    if (unit >= 0 && unit < units) return trace_unit(t, unit).bursts;
    evn_fail(EVN_USAGE, "trace: bursts of unit %d; those of %d units are here", unit, units);
    return 0;
}

evn_burst evn_trace_burst(const evn_trace *t, int unit, int i) {
    NEED_OR((evn_burst){0}, t, "a trace");
    const int count = evn_trace_bursts(t, unit);
    if (i >= 0 && i < count) return trace_burst(t, unit, i).is;
    if (unit >= 0 && unit < units_here(t))
        evn_fail(EVN_USAGE, "trace: burst %d of unit %d, of which %d are here, from 0", i, unit,
                 count);
    return (evn_burst){0};
}

evn_trace_info evn_trace_about(const evn_trace *t) {
    NEED_OR((evn_trace_info){0}, t, "a trace");
    double most = 0;
    for (int r = 0; t->cluster && r < t->ranks; r++)
        most = fmax(most, clock_uncertainty(&t->clock[r]));
    return (evn_trace_info){units_here(t), t->messages, t->message, most};
}
