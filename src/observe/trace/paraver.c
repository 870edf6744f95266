/* A gathered trace as Paraver's three files: .prv has states, events and communications, .pcf their
 * names and colours, .row those of processors, nodes and threads. A rank is a task there, a unit a
 * thread of it; copies of a device's queue, which run beside its unit, have a thread of their own.
 *
 * Format: Barcelona Supercomputing Center, "Paraver: tracefile description". */
#include "trace/gathered.h"
#include "base/argument.h"
#include <errno.h>
#include <evener/status.h>
#include <evener/trace.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { IDLE, COMPUTING, EXCHANGING, COPYING, STATES };
static const struct {
    const char *name, *colour;
} states[STATES] = {{"Idle", "{117,195,255}"},
                    {"Computing", "{0,0,255}"},
                    {"Exchanging", "{255,146,24}"},
                    {"Moving regions", "{255,0,174}"}};

/* Types of events; a value of 0 is the end. */
enum { TASK = 90000001, INSTANCE = 90000002, TASKS = 90000003, LOOP = 90000004 };

/* Types of events of a loop whose tasks come and go: what there are from a change on, and what it
 * made; of the l-th loop CHANGES * l more. */
enum { NOW = 90000005, BORN = 90000006, GONE = 90000007, MOVED = 90000008, CHANGES = 10 };

/* A row of the viewer. */
struct thread {
    int unit, rank, queue; /* queue 1: the row of the unit's copies */
    int node, cpu, number; /* numbers of node, processor, thread, from 1 */
};

/* A line of the .prv, which has to be in the order of time. */
struct line {
    long long when;
    int kind; /* order at one time: 0 ends of tasks, 1 states, 2 begins, 3 messages */
    int thread;
    long long end;
    int state;
    const struct loop_burst *burst;
    const evn_rank_message *message;
    const struct loop_change *change;
};

/* A change of a loop's tasks; the first one is their number when the trace begins. */
struct loop_change {
    evn_changed is;
    int loop;
};

struct paraver {
    const evn_trace *of;
    const struct kept_loops *loops; /* NULL: one */
    int units, ranks, threads, nodes;
    struct thread *thread;
    int *node; /* node of each rank, from 1 */
    int *cpus; /* processors of each node */
    struct loop_burst *burst;
    evn_rank_message *message;
    struct loop_change *change;
    struct line *line;
    size_t bursts, messages, changes, lines;
    double origin;
    long long end;
};

static long long nanoseconds(const struct paraver *p, double when) {
    const double ns = (when - p->origin) * 1e9;
    return ns > 0 ? (long long)(ns + 0.5) : 0;
}

static int state_of(const evn_burst *b) {
    return b->kind == EVN_BURST_COPY       ? COPYING
           : b->kind == EVN_BURST_EXCHANGE ? EXCHANGING
                                           : COMPUTING;
}

static const char *host_of(const struct paraver *p, int rank) {
    return p->of->cluster ? evn_cluster_host(p->of->cluster, rank) : "host";
}

/* ---- objects ---- */

static int has_copies(const struct paraver *p, int unit) {
    const struct trace_unit is = trace_unit(p->of, unit);
    for (int i = 0; i < is.bursts; i++)
        if (trace_burst(p->of, unit, i).is.kind == EVN_BURST_COPY) return 1;
    return 0;
}

/* Ranks of one host are on one node. */
static void find_nodes(struct paraver *p) {
    for (int r = 0; r < p->ranks; r++) {
        p->node[r] = 0;
        for (int before = 0; before < r && !p->node[r]; before++)
            if (!strcmp(host_of(p, before), host_of(p, r))) p->node[r] = p->node[before];
        if (!p->node[r]) p->node[r] = ++p->nodes;
    }
}

/* Rows rank by rank; processors are numbered node by node. */
static void find_threads(struct paraver *p) {
    for (int r = 0; r < p->ranks; r++) {
        int number = 0;
        for (int u = 0; u < p->units; u++) {
            if (trace_unit(p->of, u).rank != r) continue;
            for (int queue = 0; queue <= has_copies(p, u); queue++)
                p->thread[p->threads++] = (struct thread){u, r, queue, p->node[r], 0, ++number};
        }
    }
    int cpu = 0;
    for (int n = 1; n <= p->nodes; n++)
        for (int t = 0; t < p->threads; t++)
            if (p->thread[t].node == n) {
                p->thread[t].cpu = ++cpu;
                p->cpus[n - 1]++;
            }
}

static int thread_of(const struct paraver *p, int unit, int queue) {
    for (int t = 0; t < p->threads; t++)
        if (p->thread[t].unit == unit && p->thread[t].queue == queue) return t;
    return 0;
}

/* The row of a rank's first unit, whose leader sends and receives. */
static int first_of(const struct paraver *p, int rank) {
    for (int t = 0; t < p->threads; t++)
        if (p->thread[t].rank == rank) return t;
    return 0;
}

/* ---- what happens ---- */

static void add(struct paraver *p, struct line line) {
    if (line.when > p->end) p->end = line.when;
    if (line.end > p->end) p->end = line.end;
    p->line[p->lines++] = line;
}

/* A unit's bursts, and idleness between them. */
static void add_bursts(struct paraver *p, int thread, const struct loop_burst *burst,
                       size_t count) {
    long long last = 0;
    for (size_t i = 0; i < count; i++) {
        const evn_burst *b = &burst[i].is;
        if ((b->kind == EVN_BURST_COPY) != p->thread[thread].queue) continue;
        long long from = nanoseconds(p, b->begin), to = nanoseconds(p, b->end);
        if (from < last) from = last;  /* clocks of hosts differ a little */
        if (to <= from) to = from + 1; /* a burst lasts 1 ns at least: ends precede begins */
        if (from > last) add(p, (struct line){last, 1, thread, from, IDLE, NULL, NULL, NULL});
        add(p, (struct line){from, 1, thread, to, state_of(b), NULL, NULL, NULL});
        add(p, (struct line){from, 2, thread, 0, 0, &burst[i], NULL, NULL});
        add(p, (struct line){to, 0, thread, 0, 0, &burst[i], NULL, NULL});
        last = to;
    }
}

static void collect(struct paraver *p) {
    size_t at = 0;
    for (int u = 0; u < p->units; u++) {
        const size_t count = (size_t)trace_unit(p->of, u).bursts;
        for (size_t i = 0; i < count; i++) p->burst[at + i] = trace_burst(p->of, u, (int)i);
        for (int queue = 0; queue <= 1; queue++)
            if (!queue || has_copies(p, u))
                add_bursts(p, thread_of(p, u, queue), p->burst + at, count);
        at += count;
    }
    for (size_t i = 0; i < p->messages; i++) {
        p->message[i] = p->of->message[i];
        const evn_rank_message *m = &p->message[i];
        add(p, (struct line){nanoseconds(p, m->send_begin), 3, first_of(p, m->from),
                             nanoseconds(p, m->receive_end), 0, NULL, m, NULL});
    }
    for (size_t i = 0; i < p->changes; i++)
        add(p, (struct line){nanoseconds(p, p->change[i].is.begin), 2, first_of(p, 0), 0, 0, NULL,
                             NULL, &p->change[i]});
}

/* Number of changes since a loop's first burst, and the number of tasks at that burst; writes them
 * to `to`, unless NULL. */
static size_t find_changes(const struct paraver *p, struct loop_change *to) {
    size_t n = 0;
    for (int l = 0; l < trace_loops(p->of); l++) {
        if (!trace_has_changes(p->of, l)) continue;
        const double begin = trace_loop_begin(p->of, l);
        const int changes = trace_changes(p->of, l), first = trace_generation(p->of, l, begin);
        const evn_changed at_first = {.begin = begin, .tasks = trace_tasks(p->of, l, first)};
        if (to) to[n] = (struct loop_change){at_first, l};
        n++;
        for (int i = first; i < changes; i++, n++)
            if (to) to[n] = (struct loop_change){trace_change(p->of, l, i), l};
    }
    return n;
}

/* Finds the first time of all bursts, where the trace begins. */
static void find_origin(struct paraver *p) {
    int found = 0;
    for (int u = 0; u < p->units; u++)
        if (trace_unit(p->of, u).bursts) {
            const double begin = trace_burst(p->of, u, 0).is.begin;
            if (!found++ || begin < p->origin) p->origin = begin;
        }
    for (size_t i = 0; i < p->messages; i++) {
        const double begin = p->of->message[i].send_begin;
        if (!found++ || begin < p->origin) p->origin = begin;
    }
}

static int by_time(const void *a, const void *b) {
    const struct line *x = a, *y = b;
    if (x->when != y->when) return x->when > y->when ? 1 : -1;
    if (x->kind != y->kind) return x->kind - y->kind;
    return x->thread - y->thread;
}

/* ---- the files ---- */

static void put_header(const struct paraver *p, FILE *out) {
    char date[32] = "01/01/70 at 00:00";
    const time_t now = time(NULL);
    struct tm tm;
    if (localtime_r(&now, &tm)) strftime(date, sizeof date, "%d/%m/%y at %H:%M", &tm);
    fprintf(out, "#Paraver (%s):%lld_ns:%d(", date, p->end, p->nodes);
    for (int n = 0; n < p->nodes; n++) fprintf(out, "%s%d", n ? "," : "", p->cpus[n]);
    fprintf(out, "):1:%d(", p->ranks);
    for (int r = 0; r < p->ranks; r++) {
        int threads = 0;
        for (int t = 0; t < p->threads; t++) threads += p->thread[t].rank == r;
        fprintf(out, "%s%d:%d", r ? "," : "", threads, p->node[r]);
    }
    fputs(")\n", out);
}

/* cpu:application:task:thread */
static void put_place(const struct paraver *p, int thread, FILE *out) {
    const struct thread *t = &p->thread[thread];
    fprintf(out, "%d:1:%d:%d", t->cpu, t->rank + 1, t->number);
}

static void put_line(const struct paraver *p, const struct line *l, FILE *out) {
    const evn_rank_message *m = l->message;
    fprintf(out, "%d:", m ? 3 : l->burst || l->change ? 2 : 1);
    put_place(p, l->thread, out);
    if (l->change) {
        const evn_changed *c = &l->change->is;
        const int more = CHANGES * l->change->loop;
        fprintf(out, ":%lld:%d:%d:%d:%d:%d:%d:%d:%d\n", l->when, NOW + more, c->tasks, BORN + more,
                c->born, GONE + more, c->gone, MOVED + more, c->moved);
    } else if (m) {
        const long long received = l->end > l->when ? l->end : l->when;
        fprintf(out, ":%lld:%lld:", l->when, l->when);
        put_place(p, first_of(p, m->to), out);
        fprintf(out, ":%lld:%lld:%.0f:%d\n", received, received, m->bytes, (int)m->kind);
    } else if (l->burst && l->kind == 2) {
        const evn_burst *b = &l->burst->is;
        fprintf(out, ":%lld:%d:%lld:%d:%lld:%d:%d", l->when, TASK, b->task + 1LL, INSTANCE,
                b->instance + 1LL, TASKS, b->count);
        if (p->loops) fprintf(out, ":%d:%d", LOOP, l->burst->loop + 1);
        fputc('\n', out);
    } else if (l->burst) {
        fprintf(out, ":%lld:%d:0:%d:0:%d:0", l->when, TASK, INSTANCE, TASKS);
        fprintf(out, p->loops ? ":%d:0\n" : "\n", LOOP);
    } else {
        fprintf(out, ":%lld:%lld:%d\n", l->when, l->end, l->state);
    }
}

static void name_changes(const struct paraver *p, int loop, const char *noun, FILE *out) {
    static const char *const what[] = {"there are", "are born in a change", "are gone in a change",
                                       "are moved by a change"};
    fputs("\n\nEVENT_TYPE\n", out);
    for (int i = 0; i < 4; i++)
        fprintf(out, "0    %d    Number of %ss%s%s that %s\n", NOW + i + CHANGES * loop, noun,
                p->loops ? " of " : "", p->loops ? p->loops->loop[loop].name : "", what[i]);
}

static void put_names(const struct paraver *p, const char *noun, FILE *out) {
    fputs("DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n"
          "LOOK_BACK           100\nSPEED               1\nFLAG_ICONS          ENABLED\n"
          "NUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\n"
          "DEFAULT_SEMANTIC\n\nTHREAD_FUNC         State As Is\n\n\nSTATES\n",
          out);
    for (int i = 0; i < STATES; i++) fprintf(out, "%d    %s\n", i, states[i].name);
    fputs("\n\nSTATES_COLOR\n", out);
    for (int i = 0; i < STATES; i++) fprintf(out, "%d    %s\n", i, states[i].colour);
    fprintf(out,
            "\n\nEVENT_TYPE\n0    %d    First %s of the burst, counted from 1\n"
            "0    %d    Instance of the loop, counted from 1\n"
            "0    %d    Number of %ss in the burst\n",
            TASK, noun, INSTANCE, TASKS, noun);
    for (size_t i = 0; i < p->changes; i++)
        if (!i || p->change[i].loop != p->change[i - 1].loop)
            name_changes(p, p->change[i].loop, noun, out);
    if (!p->loops) return;
    fprintf(out, "\n\nEVENT_TYPE\n0    %d    Loop of the program\nVALUES\n0      End\n", LOOP);
    for (int l = 0; l < p->loops->loops; l++)
        fprintf(out, "%d      %s\n", l + 1, p->loops->loop[l].name);
}

static void put_rows(const struct paraver *p, FILE *out) {
    fprintf(out, "LEVEL CPU SIZE %d\n", p->threads);
    for (int n = 1; n <= p->nodes; n++)
        for (int t = 0, cpu = 0; t < p->threads; t++)
            if (p->thread[t].node == n) fprintf(out, "%d.%d\n", n, ++cpu);
    fprintf(out, "\nLEVEL NODE SIZE %d\n", p->nodes);
    for (int n = 1; n <= p->nodes; n++) {
        int rank = 0;
        while (p->node[rank] != n) rank++;
        fprintf(out, "%s\n", host_of(p, rank));
    }
    fprintf(out, "\nLEVEL TASK SIZE %d\n", p->ranks);
    for (int r = 0; r < p->ranks; r++) fprintf(out, "rank %d\n", r);
    fprintf(out, "\nLEVEL THREAD SIZE %d\n", p->threads);
    for (int t = 0; t < p->threads; t++) {
        const struct trace_unit is = trace_unit(p->of, p->thread[t].unit);
        if (p->thread[t].queue)
            fprintf(out, "unit %d copy queue\n", p->thread[t].unit);
        else
            fprintf(out, "unit %d (%s %d)\n", p->thread[t].unit, is.gpu ? "GPU" : "CPU", is.cores);
    }
}

static evn_status written(FILE *out) {
    if (!fflush(out) && !ferror(out)) return EVN_OK;
    return evn_fail(EVN_SYSTEM, "trace: could not be written: %s", strerror(errno));
}

static int make_room(struct paraver *p) {
    for (int u = 0; u < p->units; u++) p->bursts += (size_t)trace_unit(p->of, u).bursts;
    p->thread = calloc(2 * (size_t)p->units + 1, sizeof *p->thread);
    p->node = calloc((size_t)p->ranks, sizeof *p->node);
    p->cpus = calloc((size_t)p->ranks, sizeof *p->cpus);
    p->burst = malloc((p->bursts + 1) * sizeof *p->burst);
    p->message = malloc((p->messages + 1) * sizeof *p->message);
    p->changes = find_changes(p, NULL);
    p->change = malloc((p->changes + 1) * sizeof *p->change);
    p->line = malloc((4 * p->bursts + p->messages + p->changes + 1) * sizeof *p->line);
    return p->thread && p->node && p->cpus && p->burst && p->message && p->change && p->line;
}

static evn_status put_all(struct paraver *p, const char *noun, FILE *prv, FILE *pcf, FILE *row) {
    evn_status status = EVN_OK;
    if (!make_room(p)) {
        status = evn_fail(EVN_MEMORY, "trace: not enough memory for %zu bursts", p->bursts);
    } else {
        find_nodes(p);
        find_threads(p);
        find_origin(p);
        find_changes(p, p->change);
        collect(p);
        qsort(p->line, p->lines, sizeof *p->line, by_time);
        put_header(p, prv);
        for (size_t i = 0; i < p->lines; i++) put_line(p, &p->line[i], prv);
        put_names(p, noun, pcf);
        put_rows(p, row);
        status = written(prv);
        if (!status) status = written(pcf);
        if (!status) status = written(row);
    }
    free(p->thread);
    free(p->node);
    free(p->cpus);
    free(p->burst);
    free(p->message);
    free(p->change);
    free(p->line);
    return status;
}

evn_status evn_trace_put_paraver(const evn_trace *trace, const char *noun, FILE *prv, FILE *pcf,
                                 FILE *row) {
    NEED(trace, "a trace");
    NEED(noun, "what tasks are called, as \"zone\"");
    NEED(prv, "a stream");
    NEED(pcf, "a stream");
    NEED(row, "a stream");
    if (trace->cluster && !trace->unit)
        return evn_fail(EVN_USAGE,
                        "trace: evn_trace_put_paraver() where nothing was gathered; after "
                        "evn_trace_gather(), rank 0 has it");
    struct paraver p = {.of = trace,
                        .loops = trace->kept,
                        .units = trace_units(trace),
                        .ranks = trace_ranks(trace),
                        .messages = (size_t)trace->messages};
    return put_all(&p, noun, prv, pcf, row);
}
