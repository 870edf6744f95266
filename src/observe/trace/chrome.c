/* Bursts as Chrome's Trace Event Format: complete slices (X), flows (s, f), track names (M),
 * counters (C). */
#include "trace/events.h"
#include "trace/gathered.h"
#include "trace/json.h"
#include "base/argument.h"
#include <evener/status.h>
#include <evener/trace.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The kinds of bursts: `cname` is one of the viewer's colours. A queue runs beside its unit, on a
 * track of its own. */
static const struct kind {
    const char *category, *cname;
    int queue;
} kinds[] = {
    [EVN_BURST_COMPUTE] = {"compute", "thread_state_running", 0},
    [EVN_BURST_EXCHANGE] = {"exchange", "thread_state_iowait", 0},
    [EVN_BURST_COPY] = {"copy", "rail_load", 1},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct kind *kind_of(const evn_burst *b) {
    static const struct kind other = {"other", "generic_work", 0};
    return (int)b->kind >= 0 && (int)b->kind < KINDS && kinds[b->kind].category ? &kinds[b->kind]
                                                                                : &other;
}

/* A burst with its unit, for sorting by time. */
struct entry {
    evn_burst burst;
    int loop, generation;
    int unit;
    int rank;
    int exact; /* 1: its tasks are known: task, task + 1, .. */
};

/* End of a burst, its loop and rank. */
struct ending {
    double when;
    int loop, generation;
    int rank;
};

/* State of writing, loop after loop and generation after generation, in the order of time. */
struct trace {
    struct events is;
    const evn_trace *of;
    const evn_problem *problem; /* NULL: several loops */
    const char *loop;           /* the loop's name; NULL: there is one */
    int tasks;                  /* tasks of the loop's generation; at first the most of any */
    int units, ranks;
    const char *noun;
    size_t n;
    struct entry *all;
    struct ending *end; /* ends of all bursts but queues', ascending */
    int *busy;          /* units of each rank that are at work */
    size_t ends;
    struct seen {
        int unit; /* unit where a task was last seen; -1: none */
        int rank;
        int track;
        double begin, end; /* begin and end of that slice */
    } * seen;
    int *owner; /* scratch for three assignments */
};

/* Tracks: the units, then their queues. */
static int track_of(const struct trace *t, int unit, const evn_burst *b) {
    return kind_of(b)->queue ? t->units + unit : unit;
}

static void name_tracks(const struct trace *t) {
    for (int u = 0; u < t->units; u++) {
        const struct trace_unit is = trace_unit(t->of, u);
        char name[64];
        int queue = 0;
        snprintf(name, sizeof name, "unit %d (%s, %d core%s)", u, is.gpu ? "GPU" : "CPU", is.cores,
                 is.cores == 1 ? "" : "s");
        events_track(&t->is, is.rank, u, 2 * u, name);
        for (size_t i = 0; i < t->n && !queue; i++)
            queue = t->all[i].unit == u && kind_of(&t->all[i].burst)->queue;
        if (!queue) continue;
        snprintf(name, sizeof name, "unit %d copy queue", u);
        events_track(&t->is, is.rank, t->units + u, 2 * u + 1, name);
    }
}

static void slice(const struct trace *t, const struct entry *e) {
    const evn_burst *b = &e->burst;
    FILE *out = t->is.file->out;
    events_begin(&t->is, "X", e->rank, track_of(t, e->unit, b), b->begin);
    events_us(&t->is, "dur", b->end - b->begin);
    fprintf(out, ",\"cat\":\"%s\",\"name\":\"", kind_of(b)->category);
    if (b->count != 1) fprintf(out, "%d ", b->count);
    json_escaped(out, t->noun);
    fprintf(out, b->count == 1 ? " %d" : "s from %d", b->task);
    fprintf(out, "\",\"cname\":\"%s\",\"args\":{\"instance\":%d", kind_of(b)->cname, b->instance);
    if (t->loop) {
        fputs(",\"loop\":", out);
        json_text(out, t->loop);
    }
    fputs("}},\n", out);
}

/* Draws an arrow from a task's last unit to its present one, if that is another. From another rank
 * it came as a message, which has its own arrow. */
static void flow(const struct trace *t, const struct entry *e, int task) {
    static const char *const name = "\"cat\":\"migration\",\"name\":\"migration\"},\n";
    const struct seen *from = &t->seen[task];
    if (from->unit < 0 || from->unit == e->unit || from->rank != e->rank) return;
    double last = from->end - 1e-9; /* still in the slice, however short that is */
    if (last < from->begin) last = from->begin;
    FILE *out = t->is.file->out;
    const int number = t->is.file->flows++;
    events_begin(&t->is, "s", e->rank, from->track, last);
    fprintf(out, ",\"id\":%d,%s", number, name);
    events_begin(&t->is, "f", e->rank, track_of(t, e->unit, &e->burst), e->burst.begin);
    fprintf(out, ",\"bp\":\"e\",\"id\":%d,%s", number, name);
}

static void count(const struct trace *t, int rank, double when, const char *name, const char *what,
                  double value) {
    FILE *out = t->is.file->out;
    fprintf(out, "{\"ph\":\"C\",\"pid\":%d", t->is.pid + rank);
    events_us(&t->is, "ts", t->is.shift + when);
    fputs(",\"name\":", out);
    json_text(out, name);
    fprintf(out, ",\"args\":{\"%s\":", what);
    json_fixed(out, value, 0);
    fputs("}},\n", out);
}

/* Counts one working unit of a rank more, or less. */
static void count_busy(const struct trace *t, int rank, double when, int change) {
    t->busy[rank] += change;
    count(t, rank, when, "units at work", "units", t->busy[rank]);
}

/* ---- owners of tasks ------------------------------------------------------------------------ */

/* Owner of each task, from the bursts of one run or visit, one burst a task or a batch; 0 if they
 * do not tell. A batch is known by its first task and its size only; if batches as consecutive
 * tasks cover every task once, that is the assignment: tasks before a batch's first one can only be
 * in batches that begin before it. */
static int owners(const struct trace *t, const struct entry *e, size_t n, int *owner) {
    const int tasks = t->tasks;
    for (int k = 0; k < tasks; k++) owner[k] = -1;
    long covered = 0;
    for (size_t i = 0; i < n; i++)
        for (int k = e[i].burst.task; k < e[i].burst.task + e[i].burst.count; k++) {
            if (k < 0 || k >= tasks || owner[k] >= 0) return 0;
            owner[k] = e[i].unit;
            covered++;
        }
    return covered == tasks;
}

/* The bursts e[0..n) of one instance and one kind are a whole number of runs or visits: finds the
 * first one. Returns how many bursts it has, 0 if there is none. */
static size_t first_round(const struct trace *t, const struct entry *e, size_t n) {
    long tasks = 0;
    for (size_t i = 0; i < n; i++) {
        tasks += e[i].burst.count;
        if (tasks >= t->tasks) return tasks == t->tasks ? i + 1 : 0;
    }
    return 0;
}

/* The end of the instance that all[from] belongs to. Queues lag behind and end nothing. */
static size_t instance_end(const struct trace *t, size_t from) {
    const evn_burst *first = NULL;
    size_t to = from;
    for (; to < t->n; to++) {
        const evn_burst *b = &t->all[to].burst;
        if (kind_of(b)->queue) continue;
        if (first && b->instance != first->instance) break;
        first = b;
    }
    return to;
}

/* Marks the bursts whose tasks are known: those of one task, and batches of consecutive tasks. */
static evn_status mark_exact(const struct trace *t) {
    struct entry *same = malloc((t->n + 1) * sizeof *same); /* of one instance and kind */
    size_t *place = malloc((t->n + 1) * sizeof *place);     /* their positions */
    for (size_t from = 0, to = 0; same && place && from < t->n; from = to) {
        to = instance_end(t, from);
        for (int kind = 0; kind < KINDS; kind++) {
            if (kinds[kind].queue) continue;
            size_t n = 0, at = 0, round;
            for (size_t i = from; i < to; i++)
                if ((int)t->all[i].burst.kind == kind) {
                    place[n] = i;
                    same[n++] = t->all[i];
                }
            for (; at < n && (round = first_round(t, same + at, n - at)); at += round) {
                int known = owners(t, same + at, round, t->owner);
                for (size_t i = at; i < at + round; i++) t->all[place[i]].exact = known;
            }
        }
    }
    int failed = !same || !place;
    free(same);
    free(place);
    for (size_t i = 0; i < t->n; i++) {
        struct entry *e = &t->all[i];
        int there = e->burst.task >= 0 && e->burst.task < t->tasks;
        if (e->burst.count == 1) e->exact = there;
    }
    return failed ? evn_fail(EVN_MEMORY, "trace: not enough memory for %zu bursts", t->n) : EVN_OK;
}

/* Writes slices, flows, and the number of working units. */
static void write_slices(const struct trace *t) {
    size_t ended = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct entry *e = &t->all[i];
        const evn_burst *b = &e->burst;
        if (!kind_of(b)->queue) {
            for (; ended < t->ends && t->end[ended].when <= b->begin; ended++)
                count_busy(t, t->end[ended].rank, t->end[ended].when, -1);
            count_busy(t, e->rank, b->begin, 1);
        }
        slice(t, e);
        for (int k = b->task; e->exact && k < b->task + b->count; k++) {
            flow(t, e, k);
            t->seen[k] = (struct seen){e->unit, e->rank, track_of(t, e->unit, b), b->begin, b->end};
        }
    }
    for (; ended < t->ends; ended++) count_busy(t, t->end[ended].rank, t->end[ended].when, -1);
}

/* -- bytes between units -- */

/* The bytes that cross in an exchange, while it lasts. An exchange whose owners its own bursts do
 * not tell has those of the runs before and after it, if these agree; otherwise it is left out. */
static evn_status write_bytes(const struct trace *t) {
    struct entry *same = malloc((t->n + 1) * sizeof *same); /* of one instance and kind */
    if (!same) return evn_fail(EVN_MEMORY, "trace: not enough memory for %zu bursts", t->n);
    const size_t tasks = (size_t)t->tasks;
    int *before = t->owner, *after = before + tasks, *own = after + tasks, before_known = 0;
    for (size_t from = 0; from < t->n;) {
        size_t to = instance_end(t, from), exchanges = 0, runs;
        for (size_t i = from; i < to; i++)
            if (t->all[i].burst.kind == EVN_BURST_EXCHANGE) same[exchanges++] = t->all[i];
        double begin = 0, end = 0;
        for (size_t i = 0; i < exchanges; i++) {
            if (!i || same[i].burst.begin < begin) begin = same[i].burst.begin;
            if (!i || same[i].burst.end > end) end = same[i].burst.end;
        }
        int known = owners(t, same, first_round(t, same, exchanges), own);
        runs = 0;
        for (size_t i = from; i < to; i++)
            if (t->all[i].burst.kind == EVN_BURST_COMPUTE) same[runs++] = t->all[i];
        int after_known = owners(t, same, first_round(t, same, runs), after);
        if (!known && before_known && after_known &&
            !memcmp(before, after, tasks * sizeof *before)) {
            memcpy(own, after, tasks * sizeof *own);
            known = 1;
        }
        if (exchanges && known) {
            const double cut = evn_problem_cut(t->problem, own, NULL);
            count(t, 0, begin, "bytes between units", "bytes", cut);
            count(t, 0, end, "bytes between units", "bytes", 0);
        }
        int *swap = before;
        before = after;
        after = swap;
        before_known = after_known;
        from = to;
    }
    free(same);
    return EVN_OK;
}

/* -- the whole -- */

static int by_begin(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->loop != y->loop) return x->loop - y->loop;
    if (x->generation != y->generation) return x->generation - y->generation;
    if (x->burst.begin != y->burst.begin) return x->burst.begin > y->burst.begin ? 1 : -1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static int by_end(const void *a, const void *b) {
    const struct ending *x = a, *y = b;
    if (x->loop != y->loop) return x->loop - y->loop;
    if (x->generation != y->generation) return x->generation - y->generation;
    return (x->when > y->when) - (x->when < y->when);
}

static void gather(struct trace *t) {
    size_t at = 0;
    for (int u = 0; u < t->units; u++) {
        const struct trace_unit is = trace_unit(t->of, u);
        for (int i = 0; i < is.bursts; i++) {
            const struct loop_burst b = trace_burst(t->of, u, i);
            const int generation = trace_generation(t->of, b.loop, b.is.begin);
            t->all[at++] = (struct entry){b.is, b.loop, generation, u, is.rank, 0};
            if (!kind_of(&b.is)->queue)
                t->end[t->ends++] = (struct ending){b.is.end, b.loop, generation, is.rank};
        }
    }
    qsort(t->all, t->n, sizeof *t->all, by_begin);
    qsort(t->end, t->ends, sizeof *t->end, by_end);
}

/* Names the viewer's processes: one a loop, or one a rank of it. */
static void name_processes(const struct trace *t, const char *name) {
    for (int r = 0; r < t->ranks; r++) {
        char rank[128];
        snprintf(rank, sizeof rank, "rank %d on %s", r,
                 t->of->cluster ? evn_cluster_host(t->of->cluster, r) : "");
        events_process(&t->is, r, t->ranks > 1 ? rank : name);
    }
}

/* Writes the bursts of one generation of a loop, which `t` begins with. Tasks have other numbers in
 * the next generation, so no arrow leads there. */
static evn_status write_generation(const struct trace *t) {
    for (int k = 0; k < t->tasks; k++) t->seen[k].unit = -1;
    evn_status status = mark_exact(t);
    if (status) return status;
    write_slices(t);
    return t->problem && t->ranks == 1 && t->problem->links && t->units > 1 ? write_bytes(t)
                                                                            : EVN_OK;
}

/* The number of a loop's tasks, and an event for each change of them, since its first burst. */
static void write_changes(const struct trace *t, int loop) {
    if (!trace_has_changes(t->of, loop)) return;
    const double begin = trace_loop_begin(t->of, loop);
    const int changes = trace_changes(t->of, loop), first = trace_generation(t->of, loop, begin);
    FILE *out = t->is.file->out;
    char name[256];
    snprintf(name, sizeof name, "tasks%s%s", t->loop ? " of " : "", t->loop ? t->loop : "");
    count(t, 0, begin, name, "tasks", trace_tasks(t->of, loop, first));
    for (int i = first; i < changes; i++) {
        const evn_changed c = trace_change(t->of, loop, i);
        events_begin(&t->is, "i", 0, 0, c.begin);
        fprintf(out, ",\"s\":\"%s\",\"cat\":\"change\",\"name\":\"change to %d ",
                t->ranks > 1 ? "g" : "p", c.tasks);
        json_escaped(out, t->noun);
        fputs("s\",\"args\":{", out);
        json_change(out, &c);
        if (t->loop) fputs(",\"loop\":", out);
        if (t->loop) json_text(out, t->loop);
        fputs("}},\n", out);
        count(t, 0, c.begin, name, "tasks", c.tasks);
    }
}

/* Links are known of the last generation alone. */
static evn_status write_generations(struct trace *one, const struct trace *t, int loop) {
    evn_status status = EVN_OK;
    const int changes = trace_changes(t->of, loop);
    for (int g = 0; !status && g <= changes; g++) {
        one->n = one->ends = 0;
        while (one->all + one->n < t->all + t->n && one->all[one->n].loop == loop &&
               one->all[one->n].generation == g)
            one->n++;
        while (one->end + one->ends < t->end + t->ends && one->end[one->ends].loop == loop &&
               one->end[one->ends].generation == g)
            one->ends++;
        one->tasks = trace_tasks(t->of, loop, g);
        one->problem = g == changes ? t->problem : NULL;
        if (one->n) status = write_generation(one);
        one->all += one->n;
        one->end += one->ends;
    }
    return status;
}

/* Writes one loop after another. */
static evn_status write_loops(const struct trace *t) {
    struct trace one = *t;
    evn_status status = EVN_OK;
    for (int loop = 0; !status && loop < trace_loops(t->of); loop++) {
        if (t->of->kept) one.loop = t->of->kept->loop[loop].name;
        write_changes(&one, loop);
        status = write_generations(&one, t, loop);
    }
    return status;
}

/* Writes the trace of all ranks. Transfers between ranks are shown as messages. */
static evn_status write_ranks(const struct trace *t, const char *name) {
    name_processes(t, name);
    name_tracks(t);
    evn_status status = write_loops(t);
    return status || t->ranks == 1 ? status : messages_write(&t->is, t->of, 2 * t->units);
}

void trace_begin(struct trace_file *file, FILE *out, const char *about) {
    *file = (struct trace_file){.out = out};
    fprintf(out, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"evener\":");
    json_text(out, about);
    fprintf(out, "},\n\"traceEvents\":[\n");
}

static int make_room(struct trace *t) {
    for (int u = 0; u < t->units; u++) t->n += (size_t)trace_unit(t->of, u).bursts;
    t->all = malloc((t->n + 1) * sizeof *t->all);
    t->end = malloc((t->n + 1) * sizeof *t->end);
    t->busy = calloc((size_t)t->ranks, sizeof *t->busy);
    t->seen = malloc(((size_t)t->tasks + 1) * sizeof *t->seen);
    t->owner = malloc((3 * (size_t)t->tasks + 1) * sizeof *t->owner);
    return t->all && t->end && t->busy && t->seen && t->owner ? 0 : -1;
}

/* Most tasks of any generation of any loop. */
static int most_tasks(const evn_trace *of) {
    int most = 0;
    for (int l = 0; l < trace_loops(of); l++)
        for (int g = 0; g <= trace_changes(of, l); g++) {
            const int tasks = trace_tasks(of, l, g);
            if (tasks > most) most = tasks;
        }
    return most;
}

/* Bursts kept of a loop or several, on all ranks or here. */
static evn_status add(struct trace_file *file, const evn_trace *of, const char *noun,
                      const char *name, double shift) {
    struct trace t = {.is = {.file = file, .pid = file->loops + 1, .shift = shift},
                      .of = of,
                      .problem =
                          of->loop ? evn_schedule_problem(evn_loop_schedule(of->loop)) : NULL,
                      .tasks = most_tasks(of),
                      .units = trace_units(of),
                      .ranks = trace_ranks(of),
                      .noun = noun};
    file->loops += t.ranks;
    evn_status status = EVN_OK;
    if (make_room(&t)) {
        status = evn_fail(EVN_MEMORY, "trace: not enough memory for %zu bursts", t.n);
    } else {
        gather(&t);
        status = write_ranks(&t, name);
    }
    free(t.all);
    free(t.end);
    free(t.busy);
    free(t.seen);
    free(t.owner);
    return status;
}

evn_status trace_add(struct trace_file *file, const evn_loop *loop, const char *noun,
                     const char *name, double shift) {
    const evn_trace of = {.loop = (evn_loop *)(uintptr_t)loop};
    return add(file, &of, noun, name, shift);
}

void trace_end(struct trace_file *file) {
    /* an event that has no comma behind it, whatever came before */
    fprintf(
        file->out,
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":1}}]}\n");
}

/* A trace with one axis of time. */
static evn_status write_all(const evn_trace *of, const char *noun, FILE *out) {
    struct trace_file file;
    char about[1024], ranks[64] = "";
    if (of->unit) snprintf(ranks, sizeof ranks, "%d ranks, rank 0: ", of->ranks);
    snprintf(about, sizeof about, "%sunits %s, %s%s", ranks, evn_units_text(trace_own(of)),
             of->loop ? "schedule " : "program ",
             of->loop ? evn_schedule_text(evn_loop_schedule(of->loop))
                      : program_invocation_short_name);
    trace_begin(&file, out, about);
    evn_status status = add(&file, of, noun, "evener", 0);
    trace_end(&file);
    if (!status && (fflush(out) || ferror(out)))
        return evn_fail(EVN_SYSTEM, "trace: could not be written: %s", strerror(errno));
    return status;
}

evn_status evn_trace_put(const evn_trace *trace, const char *noun, FILE *out) {
    NEED(trace, "a trace");
    NEED(noun, "what tasks are called, as \"zone\"");
    NEED(out, "a stream");
    if (trace->cluster && !trace->unit)
        return evn_fail(EVN_USAGE, "trace: evn_trace_put() where nothing was gathered; after "
                                   "evn_trace_gather(), rank 0 has it");
    return write_all(trace, noun, out);
}
