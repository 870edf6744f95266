/* Bursts as Chrome's Trace Event Format: complete slices (X), flows (s, f), track names (M), a
 * counter (C). */
#include <evener/status.h>
#include <evener/trace.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where a task was last seen: the end of its slice. */
struct seen {
    int unit; /* -1: nowhere */
    double end;
};

static double us(double seconds) { return 1e6 * seconds; }

static void track(FILE *out, const evn_loop *loop, int unit) {
    const evn_unit *u = evn_units_get(evn_loop_units(loop), unit);
    int cores = evn_unit_cores(u);
    fprintf(out,
            "{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":"
            "\"unit %d (%s, %d core%s)\"}},\n"
            "{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_sort_index\",\"args\":"
            "{\"sort_index\":%d}},\n",
            unit, unit, evn_unit_is_gpu(u) ? "GPU" : "CPU", cores, cores == 1 ? "" : "s", unit,
            unit);
}

static void slice(FILE *out, int unit, const evn_burst *b, const char *noun) {
    const char *kind = b->kind == EVN_BURST_COMPUTE ? "compute" : "exchange";
    fprintf(out, "{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"cat\":\"%s\",",
            unit, us(b->begin), us(b->end - b->begin), kind);
    if (b->count == 1)
        fprintf(out, "\"name\":\"%s %d\",", noun, b->task);
    else
        fprintf(out, "\"name\":\"%d %ss from %d\",", b->count, noun, b->task);
    fprintf(out, "\"cname\":\"%s\",\"args\":{\"instance\":%d}},\n",
            b->kind == EVN_BURST_COMPUTE ? "thread_state_running" : "thread_state_iowait",
            b->instance);
}

/* An arrow from where a task was to where it is, if that is another unit. */
static int flow(FILE *out, const struct seen *from, int unit, const evn_burst *b, int number) {
    if (from->unit < 0 || from->unit == unit) return 0;
    fprintf(
        out,
        "{\"ph\":\"s\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"id\":%d,\"cat\":\"migration\",\"name\":"
        "\"migration\"},\n"
        "{\"ph\":\"f\",\"bp\":\"e\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"id\":%d,\"cat\":"
        "\"migration\","
        "\"name\":\"migration\"},\n",
        from->unit, us(from->end) - 0.001, number, unit, us(b->begin), number);
    return 1;
}

static void at_work(FILE *out, double when, int units) {
    fprintf(out,
            "{\"ph\":\"C\",\"pid\":1,\"ts\":%.3f,\"name\":\"units at "
            "work\",\"args\":{\"units\":%d}},\n",
            us(when), units);
}

/* A burst and whose it is, to go through all of them in the order of time. */
struct entry {
    evn_burst burst;
    int unit;
};

static int by_begin(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->burst.begin != y->burst.begin) return x->burst.begin > y->burst.begin ? 1 : -1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

evn_status evn_trace_write(const evn_loop *loop, const char *noun, FILE *out) {
    const int units = evn_units_count(evn_loop_units(loop));
    const int tasks = evn_schedule_problem(evn_loop_schedule(loop))->tasks;
    size_t n = 0;
    for (int u = 0; u < units; u++) n += (size_t)evn_loop_bursts(loop, u);
    struct entry *all = malloc((n + 1) * sizeof *all);
    double *end = malloc((n + 1) * sizeof *end);
    struct seen *seen = malloc((size_t)tasks * sizeof *seen);
    if (!all || !end || !seen) {
        free(all);
        free(end);
        free(seen);
        return evn_fail(EVN_MEMORY, "trace: not enough memory for %zu bursts", n);
    }
    for (int t = 0; t < tasks; t++) seen[t].unit = -1;
    size_t at = 0;
    for (int u = 0; u < units; u++)
        for (int i = 0; i < evn_loop_bursts(loop, u); i++) {
            all[at].burst = evn_loop_burst(loop, u, i);
            all[at].unit = u;
            end[at] = all[at].burst.end;
            at++;
        }
    qsort(all, n, sizeof *all, by_begin);
    qsort(end, n, sizeof *end, by_value);

    fprintf(out,
            "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"evener\":\"units %s, schedule %s\"},\n"
            "\"traceEvents\":[\n",
            evn_units_text(evn_loop_units(loop)), evn_schedule_text(evn_loop_schedule(loop)));
    fprintf(out,
            "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"evener\"}},\n");
    for (int u = 0; u < units; u++) track(out, loop, u);
    int flows = 0, busy = 0;
    size_t ended = 0;
    for (size_t i = 0; i < n; i++) {
        const evn_burst *b = &all[i].burst;
        while (ended < n && end[ended] <= b->begin) at_work(out, end[ended++], --busy);
        at_work(out, b->begin, ++busy);
        slice(out, all[i].unit, b, noun);
        if (b->count != 1) continue;
        flows += flow(out, &seen[b->task], all[i].unit, b, flows);
        seen[b->task] = (struct seen){all[i].unit, b->end};
    }
    while (ended < n) at_work(out, end[ended++], --busy);
    fprintf(
        out,
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":0}}]}\n");
    free(all);
    free(end);
    free(seen);
    if (fflush(out) || ferror(out))
        return evn_fail(EVN_SYSTEM, "trace: could not be written: %s", strerror(errno));
    return EVN_OK;
}
