/* Bursts as Chrome's Trace Event Format: complete slices (X), flows (s, f), track names (M),
 * counters (C). */
#include "trace/chrome.h"
#include "trace/json.h"
#include "base/argument.h"
#include <evener/status.h>
#include <evener/trace.h>
#include <errno.h>
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

/* A burst and whose it is, to go through all of them in the order of time. */
struct entry {
    evn_burst burst;
    int unit;
    int exact; /* its tasks are known: task, task + 1, .. */
};

/* All that is written, in the order of time. */
struct trace {
    struct trace_file *file;
    FILE *out;
    int pid;      /* a process a loop */
    double shift; /* what the loop's times lie behind the trace's, s */
    const evn_loop *loop;
    const evn_problem *problem;
    int units;
    const char *noun;
    size_t n;
    struct entry *all;
    double *end; /* of all but queues' bursts, ascending */
    size_t ends;
    struct seen {
        int unit; /* where a task was last seen; -1: nowhere */
        int track;
        double begin, end; /* of its slice */
    } * seen;
    int *owner; /* room for three assignments */
};

/* Tracks: the units, then their queues. */
static int track_of(const struct trace *t, int unit, const evn_burst *b) {
    return kind_of(b)->queue ? t->units + unit : unit;
}

/* A moment or a length of time as the format has it, in microseconds. */
static void put_us(FILE *out, const char *key, double seconds) {
    fprintf(out, ",\"%s\":", key);
    json_fixed(out, 1e6 * seconds, 3);
}

/* The beginning of an event of this track at this moment of the loop's. */
static void event(const struct trace *t, const char *phase, int track, double when) {
    fprintf(t->out, "{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", phase, t->pid, track);
    put_us(t->out, "ts", t->shift + when);
}

static void name_track(const struct trace *t, int track, int rank, const char *name) {
    fprintf(t->out,
            "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":"
            "\"%s\"}},\n"
            "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_sort_index\",\"args\":"
            "{\"sort_index\":%d}},\n",
            t->pid, track, name, t->pid, track, rank);
}

static void name_tracks(const struct trace *t) {
    for (int u = 0; u < t->units; u++) {
        const evn_unit *unit = evn_units_get(evn_loop_units(t->loop), u);
        char name[64];
        int cores = evn_unit_cores(unit), queue = 0;
        snprintf(name, sizeof name, "unit %d (%s, %d core%s)", u,
                 evn_unit_is_gpu(unit) ? "GPU" : "CPU", cores, cores == 1 ? "" : "s");
        name_track(t, u, 2 * u, name);
        for (size_t i = 0; i < t->n && !queue; i++)
            queue = t->all[i].unit == u && kind_of(&t->all[i].burst)->queue;
        if (!queue) continue;
        snprintf(name, sizeof name, "unit %d copy queue", u);
        name_track(t, t->units + u, 2 * u + 1, name);
    }
}

static void slice(const struct trace *t, const struct entry *e) {
    const evn_burst *b = &e->burst;
    event(t, "X", track_of(t, e->unit, b), b->begin);
    put_us(t->out, "dur", b->end - b->begin);
    fprintf(t->out, ",\"cat\":\"%s\",\"name\":\"", kind_of(b)->category);
    if (b->count != 1) fprintf(t->out, "%d ", b->count);
    json_escaped(t->out, t->noun);
    fprintf(t->out, b->count == 1 ? " %d" : "s from %d", b->task);
    fprintf(t->out, "\",\"cname\":\"%s\",\"args\":{\"instance\":%d}},\n", kind_of(b)->cname,
            b->instance);
}

/* An arrow from where a task was to where it is, if that is another unit. */
static void flow(const struct trace *t, const struct entry *e, int task) {
    static const char *const name = "\"cat\":\"migration\",\"name\":\"migration\"},\n";
    const struct seen *from = &t->seen[task];
    if (from->unit < 0 || from->unit == e->unit) return;
    double last = from->end - 1e-9; /* still in the slice, however short that is */
    if (last < from->begin) last = from->begin;
    const int number = t->file->flows++;
    event(t, "s", from->track, last);
    fprintf(t->out, ",\"id\":%d,%s", number, name);
    event(t, "f", track_of(t, e->unit, &e->burst), e->burst.begin);
    fprintf(t->out, ",\"bp\":\"e\",\"id\":%d,%s", number, name);
}

static void count(const struct trace *t, double when, const char *name, const char *what,
                  double value) {
    fprintf(t->out, "{\"ph\":\"C\",\"pid\":%d", t->pid);
    put_us(t->out, "ts", t->shift + when);
    fprintf(t->out, ",\"name\":\"%s\",\"args\":{\"%s\":", name, what);
    json_fixed(t->out, value, 0);
    fputs("}},\n", t->out);
}

/* -- whose tasks were whose -- */

/* Who owned each task, from bursts of one run or visit, one burst a task or a batch; 0 if they do
 * not tell. A batch is known by its first task and its size alone, but if taking all batches as
 * consecutive tasks covers every task once, that is what they are: whatever lies before a batch's
 * first task can only be in the batches that begin before it. */
static int owners(const struct trace *t, const struct entry *e, size_t n, int *owner) {
    const int tasks = t->problem->tasks;
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
        if (tasks >= t->problem->tasks) return tasks == t->problem->tasks ? i + 1 : 0;
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
    size_t *place = malloc((t->n + 1) * sizeof *place);     /* and where they are */
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
        int there = e->burst.task >= 0 && e->burst.task < t->problem->tasks;
        if (e->burst.count == 1) e->exact = there;
    }
    return failed ? evn_fail(EVN_MEMORY, "trace: not enough memory for %zu bursts", t->n) : EVN_OK;
}

/* Slices, flows, and the number of units that are at work. */
static void write_slices(const struct trace *t) {
    int busy = 0;
    size_t ended = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct entry *e = &t->all[i];
        const evn_burst *b = &e->burst;
        if (!kind_of(b)->queue) {
            while (ended < t->ends && t->end[ended] <= b->begin)
                count(t, t->end[ended++], "units at work", "units", --busy);
            count(t, b->begin, "units at work", "units", ++busy);
        }
        slice(t, e);
        for (int k = b->task; e->exact && k < b->task + b->count; k++) {
            flow(t, e, k);
            t->seen[k] = (struct seen){e->unit, track_of(t, e->unit, b), b->begin, b->end};
        }
    }
    while (ended < t->ends) count(t, t->end[ended++], "units at work", "units", --busy);
}

/* -- bytes between units -- */

/* The bytes that cross in an exchange, while it lasts. An exchange whose owners its own bursts do
 * not tell has those of the runs before and after it, if these agree; otherwise it is left out. */
static evn_status write_bytes(const struct trace *t) {
    struct entry *same = malloc((t->n + 1) * sizeof *same); /* of one instance and kind */
    if (!same) return evn_fail(EVN_MEMORY, "trace: not enough memory for %zu bursts", t->n);
    const size_t tasks = (size_t)t->problem->tasks;
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
            count(t, begin, "bytes between units", "bytes", evn_problem_cut(t->problem, own, NULL));
            count(t, end, "bytes between units", "bytes", 0);
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
    if (x->burst.begin != y->burst.begin) return x->burst.begin > y->burst.begin ? 1 : -1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void gather(struct trace *t) {
    for (int k = 0; k < t->problem->tasks; k++) t->seen[k].unit = -1;
    size_t at = 0;
    for (int u = 0; u < t->units; u++)
        for (int i = 0; i < evn_loop_bursts(t->loop, u); i++) {
            t->all[at] = (struct entry){evn_loop_burst(t->loop, u, i), u, 0};
            if (!kind_of(&t->all[at].burst)->queue) t->end[t->ends++] = t->all[at].burst.end;
            at++;
        }
    qsort(t->all, t->n, sizeof *t->all, by_begin);
    qsort(t->end, t->ends, sizeof *t->end, by_value);
}

/* Everything of one loop. */
static evn_status write_loop(const struct trace *t, const char *name) {
    fprintf(t->out,
            "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":", t->pid);
    json_text(t->out, name);
    fprintf(
        t->out,
        "}},\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":"
        "%d}},\n",
        t->pid, t->pid);
    name_tracks(t);
    write_slices(t);
    return t->problem->links && t->units > 1 ? write_bytes(t) : EVN_OK;
}

void trace_begin(struct trace_file *file, FILE *out, const char *about) {
    *file = (struct trace_file){.out = out};
    fprintf(out, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"evener\":");
    json_text(out, about);
    fprintf(out, "},\n\"traceEvents\":[\n");
}

evn_status trace_add(struct trace_file *file, const evn_loop *loop, const char *noun,
                     const char *name, double shift) {
    struct trace t = {.file = file,
                      .out = file->out,
                      .pid = ++file->loops,
                      .shift = shift,
                      .loop = loop,
                      .problem = evn_schedule_problem(evn_loop_schedule(loop)),
                      .units = evn_units_count(evn_loop_units(loop)),
                      .noun = noun};
    for (int u = 0; u < t.units; u++) t.n += (size_t)evn_loop_bursts(loop, u);
    t.all = malloc((t.n + 1) * sizeof *t.all);
    t.end = malloc((t.n + 1) * sizeof *t.end);
    t.seen = malloc((size_t)t.problem->tasks * sizeof *t.seen);
    t.owner = malloc(3 * (size_t)t.problem->tasks * sizeof *t.owner);
    evn_status status = EVN_OK;
    if (t.all && t.end && t.seen && t.owner) {
        gather(&t);
        status = mark_exact(&t);
        if (!status) status = write_loop(&t, name);
    } else {
        status = evn_fail(EVN_MEMORY, "trace: not enough memory for %zu bursts", t.n);
    }
    free(t.all);
    free(t.end);
    free(t.seen);
    free(t.owner);
    return status;
}

void trace_end(struct trace_file *file) {
    /* an event that has no comma behind it, whatever came before */
    fprintf(
        file->out,
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":1}}]}\n");
}

evn_status evn_trace_write(const evn_loop *loop, const char *noun, FILE *out) {
    NEED(loop, "a loop");
    NEED(noun, "what tasks are called, as \"zone\"");
    NEED(out, "a stream");
    struct trace_file file;
    char about[1024];
    snprintf(about, sizeof about, "units %s, schedule %s", evn_units_text(evn_loop_units(loop)),
             evn_schedule_text(evn_loop_schedule(loop)));
    trace_begin(&file, out, about);
    evn_status status = trace_add(&file, loop, noun, "evener", 0);
    trace_end(&file);
    if (!status && (fflush(out) || ferror(out)))
        return evn_fail(EVN_SYSTEM, "trace: could not be written: %s", strerror(errno));
    return status;
}
