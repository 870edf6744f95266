/* The record: all loops of a session as one JSON object, with the keys that `evener run --json`
 * writes. */
#include "record/record.h"
#include "record/parts.h"
#include "trace/json.h"
#include "unit/device_ops.h"
#include <errno.h>
#include <evener/cluster.h>
#include <evener/device.h>
#include <evener/machine.h>
#include <evener/status.h>
#include <evener/unit.h>
#include <evener/version.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BURSTS_MAX = 1 << 16 }; /* in a record: 8 MB of text */

/* -- all loops together -- */

static double seconds_of(const struct recorded_loop *r) {
    return r->totals.compute_s + r->totals.exchange_s;
}

/* The loop that took longest, of those on so many units; NULL: there is none. (Units are fewer
 * after one was lost, and its loops were closed then.) */
static const struct recorded_loop *longest(const struct recorded_loop *loop, int loops, int units) {
    const struct recorded_loop *best = NULL;
    for (int i = 0; i < loops; i++)
        if (loop[i].units == units && (!best || seconds_of(&loop[i]) > seconds_of(best)))
            best = &loop[i];
    return best;
}

static void add(struct recorded_loop *sum, const struct recorded_loop *r) {
    sum->tasks += r->tasks;
    for (int u = 0; u < r->units; u++) {
        struct recorded_unit *to = &sum->unit[u];
        const struct recorded_unit *from = &r->unit[u];
        to->tasks += from->tasks;
        to->weight += from->weight;
        to->stats.compute_s += from->stats.compute_s;
        to->stats.exchange_s += from->stats.exchange_s;
        to->stats.idle_s += from->stats.idle_s;
        to->stats.tasks += from->stats.tasks;
        to->stats.bytes_in += from->stats.bytes_in;
        to->stats.bytes_out += from->stats.bytes_out;
    }
    sum->totals.compute_s += r->totals.compute_s;
    sum->totals.exchange_s += r->totals.exchange_s;
    sum->totals.migrations += r->totals.migrations;
    sum->totals.bytes += r->totals.bytes;
    sum->totals.messages += r->totals.messages;
    sum->totals.copies += r->totals.copies;
    sum->totals.rank_messages += r->totals.rank_messages;
    sum->totals.rank_bytes += r->totals.rank_bytes;
    sum->totals.moved += r->totals.moved;
    sum->totals.moved_bytes += r->totals.moved_bytes;
    sum->totals.brought += r->totals.brought;
    sum->totals.brought_bytes += r->totals.brought_bytes;
    sum->totals.stolen += r->totals.stolen;
    sum->ranks = r->ranks;
}

/* The imbalance of the units' compute times; NaN if there is no memory. */
static double imbalance(const struct recorded_loop *r) {
    double *seconds = malloc((size_t)r->units * sizeof *seconds);
    for (int u = 0; seconds && u < r->units; u++) seconds[u] = r->unit[u].stats.compute_s;
    const double ratio = seconds ? evn_imbalance(r->units, seconds) : NAN;
    free(seconds);
    return ratio;
}

/* -- parts of a record -- */

/* A unit's description; its numbers follow. */
static evn_status put_unit(FILE *out, const evn_unit *unit, const evn_cluster *c) {
    const evn_device *device = evn_unit_device(unit, 0);
    const int rank = c ? evn_cluster_rank(c) : -1, cores = evn_unit_cores(unit);
    const int first = c ? evn_cluster_about(c).first[rank] : 0;
    int *core = malloc((size_t)cores * sizeof *core);
    if (!core) return EVN_MEMORY;
    for (int k = 0; k < cores; k++) core[k] = evn_unit_core_number(unit, k);
    const evn_recorded_unit is = {
        .id = first + evn_unit_number(unit),
        .rank = rank,
        .host = c ? evn_cluster_host(c, rank) : NULL,
        .gpu = evn_unit_is_gpu(unit),
        .cores = cores,
        .core = core,
        .binding = evn_unit_about(unit).binding,
        .device = device ? device_ops.traits(device)->name : NULL,
        .taken = evn_unit_taken(unit, 0),
        .speed = evn_unit_about(unit).speed,
    };
    put_unit_description(out, &is);
    fputc('\n', out);
    free(core);
    return EVN_OK;
}

/* Sums of a loop, or of all loops. */
static void put_sums(FILE *out, const struct recorded_loop *r) {
    put_text(out, "schedule", r->schedule);
    put(out, "imbalance", imbalance(r));
    fputs(",\n \"periods\": ", out);
    evn_record_periods(out, r->totals.compute_s, r->totals.exchange_s, NULL);
    fputs(",\n \"median\": ", out);
    evn_record_periods(out, r->median.compute_s, r->median.exchange_s, &r->median);
    fputs(",\n \"transfers\": ", out);
    evn_record_transfers(out, &r->totals, r->ranks);
}

static void put_loop(FILE *out, const struct recorded_loop *r, int first) {
    fprintf(out, "{\"first\": %d, \"tasks\": %d, \"steps\": %lld", first, r->tasks,
            r->totals.instances);
    if (r->name) put_text(out, "name", r->name);
    put(out, "seconds", seconds_of(r));
    put_sums(out, r);
    fputs(",\n \"units\": [", out);
    for (int u = 0; u < r->units; u++) {
        fprintf(out, "%s{\"id\": %d", u ? ",\n  " : "", u);
        put_unit_numbers(out, r->unit[u].tasks, r->unit[u].weight, &r->unit[u].stats);
        fputc('}', out);
    }
    fputc(']', out);
    if (r->changes) {
        put_key(out, "changes");
        evn_record_changes(out, r->change, r->changes);
    }
    fputc('}', out);
}

evn_status record_describe(const struct record_parts *p, char **units, char **devices) {
    size_t size;
    *units = *devices = NULL;
    FILE *unit = open_memstream(units, &size), *device = open_memstream(devices, &size);
    int done = unit && device;
    for (int u = 0; done && u < evn_units_count(p->units); u++) {
        const evn_unit *is = evn_units_get(p->units, u);
        done = !put_unit(unit, is, p->cluster);
        for (int d = 0; d < evn_unit_devices(is); d++) {
            if (!evn_unit_device(is, d)) continue;
            const evn_counts counts = device_ops.counts(evn_unit_device(is, d), NULL);
            put_device_counts(device, &counts);
            fputs("}\n", device);
        }
    }
    int failed = unit && fclose(unit);
    failed |= device && fclose(device);
    return done && !failed ? EVN_OK : evn_fail(EVN_MEMORY, "record: not enough memory for units");
}

/* Writes a line of the text, without its end, and gives the next one. */
static const char *put_line(FILE *out, const char *text) {
    const size_t length = strcspn(text, "\n");
    fwrite(text, 1, length, out);
    return text + length + (text[length] == '\n');
}

static void put_units(FILE *out, const char *unit, const struct recorded_loop *sum) {
    fputs(",\n\"units\": [", out);
    for (int u = 0; u < sum->units; u++) {
        fputs(u ? ",\n " : "", out);
        unit = put_line(out, unit);
        put_unit_numbers(out, sum->unit[u].tasks, sum->unit[u].weight, &sum->unit[u].stats);
        fputc('}', out);
    }
    fputc(']', out);
}

static void put_devices(FILE *out, const char *device) {
    fputs(",\n\"devices\": [", out);
    for (int number = 0; *device; number++) {
        fprintf(out, "%s{\"id\": %d, ", number ? ",\n " : "", number);
        device = put_line(out, device);
    }
    fputc(']', out);
}

static void put_ranks(FILE *out, const evn_cluster *c) {
    if (!c) return;
    put_text(out, "wire", evn_cluster_about(c).wire);
    fputs(",\n\"ranks\": [", out);
    for (int r = 0, u = 0; r < evn_cluster_size(c); r++) {
        fprintf(out, "%s{\"host\": ", r ? ",\n " : "");
        json_text(out, evn_cluster_host(c, r));
        fputs(", \"units\": [", out);
        for (const int from = u; u < evn_cluster_about(c).units && evn_cluster_rank_of(c, u) == r;
             u++)
            fprintf(out, "%s%d", u > from ? ", " : "", u);
        fputs("]}", out);
    }
    fputc(']', out);
}

/* -- bursts of the last two steps -- */

/* The steps are those of the loop that took longest: its last instance with computing, the one
 * before, and what came after; `begin` is when each began. */
struct steps {
    const struct recorded_loop *of;
    int first; /* number of the first of the three */
    double begin[3];
};

static struct steps last_steps(const struct recorded_loop *r) {
    struct steps s = {.of = r, .begin = {INFINITY, INFINITY, INFINITY}};
    int last = 0;
    for (int i = 0; i < r->bursts; i++)
        if (r->burst[i].burst.kind == EVN_BURST_COMPUTE && r->burst[i].burst.instance > last)
            last = r->burst[i].burst.instance;
    s.first = last - 1;
    for (int i = 0; i < r->bursts; i++) {
        const int k = r->burst[i].burst.instance - s.first;
        if (k >= 0 && k < 3) s.begin[k] = fmin(s.begin[k], r->burst[i].burst.begin);
    }
    return s;
}

/* The step, from 0, in which a burst of the loop was; -1: before them. */
static int step_of(const struct steps *s, const struct recorded_loop *r, const evn_burst *b) {
    int k = r == s->of ? b->instance - s->first : 2;
    if (r != s->of)
        while (k >= 0 && !(b->begin >= s->begin[k])) k--;
    return k < 3 ? k : -1;
}

/* Writes the bursts of steps `from` and later (out NULL: only counts them); how many they are. */
static long put_bursts(FILE *out, const struct steps *s, const struct recorded_loop *loop,
                       int loops, int units, int from) {
    static const char *const kind[] = {[EVN_BURST_COMPUTE] = "compute",
                                       [EVN_BURST_EXCHANGE] = "exchange",
                                       [EVN_BURST_COPY] = "copy"};
    long n = 0;
    int first = 0;
    for (const struct recorded_loop *r = loop; r < loop + loops; r++) {
        if (r->units != units) continue;
        for (int i = 0; i < r->bursts; i++) {
            const evn_burst *b = &r->burst[i].burst;
            const int step = step_of(s, r, b);
            if (step < from) continue;
            n++;
            if (!out) continue;
            fprintf(out, "%s{\"unit\": %d, \"kind\": \"%s\"", n > 1 ? ",\n " : "", r->burst[i].unit,
                    kind[b->kind]);
            put_seconds(out, "begin", b->begin);
            put_seconds(out, "end", b->end);
            fprintf(out, ", \"task\": %d, \"count\": %d, \"step\": %d}", first + b->task, b->count,
                    s->first + step);
        }
        first += r->tasks;
    }
    return n;
}

static void put_all_bursts(FILE *out, const struct recorded_loop *main_loop,
                           const struct recorded_loop *loop, int loops) {
    fputs(",\n\"bursts\": [", out);
    if (main_loop) {
        const struct steps s = last_steps(main_loop);
        int from = 0; /* where the last two steps are too large, the last one alone */
        while (from < 2 && put_bursts(NULL, &s, loop, loops, main_loop->units, from) > BURSTS_MAX)
            from++;
        if (from < 2) put_bursts(out, &s, loop, loops, main_loop->units, from);
    }
    fputc(']', out);
}

/* -- the whole -- */

/* What plans need besides: weights, links and data of the tasks. */
static void put_problem(FILE *out, const struct recorded_loop *loop, int loops, int units) {
    const struct recorded_loop *const end = loop + loops;
    const char *between = "";
    long links = 0;
    int known = 0, first = 0;
    fputs(",\n\"weight\": [", out);
    for (const struct recorded_loop *r = loop; r < end; r++) {
        if (r->units != units) continue;
        links += r->links;
        known |= r->bytes != NULL;
        for (int t = 0; t < r->tasks; t++, between = ", ") {
            fputs(between, out);
            json_number(out, r->weight[t]);
        }
    }
    fputc(']', out);
    between = "";
    if (known) fputs(",\n\"task_bytes\": [", out);
    for (const struct recorded_loop *r = loop; known && r < end; r++)
        for (int t = 0; r->units == units && t < r->tasks; t++, between = ", ") {
            fputs(between, out);
            json_number(out, r->bytes ? r->bytes[t] : 0);
        }
    if (known) fputc(']', out);
    if (links > EVN_RECORD_LINKS) {
        fputs(",\n\"links\": null", out);
        return;
    }
    between = "";
    fputs(",\n\"links\": [", out);
    for (const struct recorded_loop *r = loop; r < end; r++) {
        if (r->units != units) continue;
        for (int i = 0; i < r->links; i++, between = ", ") {
            const evn_link *l = &r->link[i];
            fprintf(out, "%s[%d, %d, ", between, first + l->task[0], first + l->task[1]);
            json_number(out, l->bytes);
            fputc(']', out);
        }
        first += r->tasks;
    }
    fputc(']', out);
}

static void put_tasks(FILE *out, const struct recorded_loop *loop, int loops, int units) {
    const char *between = "";
    fputs(",\n\"owner\": [", out);
    for (const struct recorded_loop *r = loop; r < loop + loops; r++)
        for (int t = 0; r->units == units && t < r->tasks; t++, between = ", ")
            fprintf(out, "%s%d", between, r->owner[t]);
    fputs("],\n\"task_s\": [", out);
    between = "";
    for (const struct recorded_loop *r = loop; r < loop + loops; r++)
        for (int t = 0; r->units == units && t < r->tasks; t++, between = ", ") {
            fputs(between, out);
            json_number(out, r->task_s[t]);
        }
    fputc(']', out);
    put_problem(out, loop, loops, units);
}

/* The words the program was started with; "" where the system does not tell. */
static void put_command(FILE *out) {
    char *words = NULL;
    size_t size = 0;
    FILE *in = fopen("/proc/self/cmdline", "r"), *line = open_memstream(&words, &size);
    for (int c, ended = 0; in && line && (c = fgetc(in)) != EOF;) {
        if (ended) fputc(' ', line);
        if (!(ended = !c)) fputc(c, line);
    }
    if (in) fclose(in);
    const int written = line && !fclose(line);
    fputs(",\n\"command\": ", out);
    json_text(out, written ? words : "");
    free(words);
}

evn_status record_write(FILE *out, const struct recorded_loop *loop, int loops,
                        const struct record_parts *parts) {
    const int count =
        parts->cluster ? evn_cluster_about(parts->cluster).units : evn_units_count(parts->units);
    const struct recorded_loop *main_loop = longest(loop, loops, count);
    struct recorded_loop sum = {.units = count,
                                .schedule = main_loop ? main_loop->schedule : "none"};
    sum.unit = calloc((size_t)count, sizeof *sum.unit);
    if (!sum.unit) return evn_fail(EVN_MEMORY, "record: not enough memory for %d units", count);
    if (main_loop) sum.median = main_loop->median;
    for (int i = 0; i < loops; i++)
        if (loop[i].units == count) add(&sum, &loop[i]);
    char app[100];
    snprintf(app, sizeof app, "%s", program_invocation_short_name);
    fputs("{\"evener\": ", out);
    json_text(out, EVN_VERSION);
    put_text(out, "app", *app ? app : "program");
    fprintf(out, ", \"class\": null, \"steps\": %lld, \"verified\": null",
            main_loop ? main_loop->totals.instances : 0);
    put(out, "seconds", seconds_of(&sum));
    put_units(out, parts->unit, &sum);
    put_ranks(out, parts->cluster);
    put_sums(out, &sum);
    put_devices(out, parts->device);
    put_tasks(out, loop, loops, count);
    put_all_bursts(out, main_loop, loop, loops);
    fputs(",\n\"loops\": [", out);
    for (int i = 0, first = 0; i < loops; i++) {
        fputs(i ? ",\n " : "", out);
        put_loop(out, &loop[i], first);
        if (loop[i].units == count) first += loop[i].tasks;
    }
    fputc(']', out);
    fputs(",\n\"machine\": ", out);
    evn_record_machine(out, evn_units_about(parts->units).machine);
    put_command(out);
    fputs("}\n", out);
    free(sum.unit);
    return EVN_OK;
}
