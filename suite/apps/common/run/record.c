/* Writing records. */
#include "common/run/record.h"
#include "common/run/build.h"
#include "common/simd/isa.h"
#include <evener/record.h>
#include <evener/text.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *number(double value) {
    if (!isfinite(value)) return cJSON_CreateNull();
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    return cJSON_CreateRaw(text);
}

void record_number(cJSON *object, const char *key, double value) {
    cJSON_AddItemToObject(object, key, number(value));
}

cJSON *record_numbers(const double *value, int n) {
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < n; i++) cJSON_AddItemToArray(array, number(value[i]));
    return array;
}

/* A part that the library writes; the text is open until then. NULL without memory. */
struct part {
    char *text;
    size_t size;
    FILE *out;
};

static FILE *part_begin(struct part *p) {
    *p = (struct part){0};
    return p->out = open_memstream(&p->text, &p->size);
}

static cJSON *part_end(struct part *p) {
    cJSON *raw = p->out && !fclose(p->out) ? cJSON_CreateRaw(p->text) : NULL;
    free(p->text);
    return raw;
}

cJSON *record_machine(const evn_machine *m) {
    struct part p;
    if (part_begin(&p)) evn_record_machine(p.out, m);
    return part_end(&p);
}

cJSON *record_build(void) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "compiler", build.compiler);
    cJSON_AddStringToObject(o, "flags", build.flags);
    cJSON_AddStringToObject(o, "commit", build.commit);
    cJSON_AddStringToObject(o, "isa", isa_name());
    cJSON_AddStringToObject(o, "isa_why", isa_why());
    return o;
}

/* The object as text, to be freed; what is not UTF-8 is not JSON, and words from outside may hold
 * it: U+FFFD instead. Consumes `root`; NULL: no memory. */
static char *print(cJSON *root, int formatted) {
    static const char instead[] = "\xef\xbf\xbd";
    char *text = formatted ? cJSON_Print(root) : cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    if (!text) return NULL;
    size_t n = 2, at = 0; /* a newline may follow */
    for (const char *p = text; *p; p += evn_utf8(p) ? evn_utf8(p) : 1)
        n += evn_utf8(p) ? (size_t)evn_utf8(p) : sizeof instead - 1;
    char *line = malloc(n);
    for (const char *p = text; line && *p;) {
        const int bytes = evn_utf8(p);
        const size_t size = bytes ? (size_t)bytes : sizeof instead - 1;
        memcpy(line + at, bytes ? p : instead, size);
        at += size;
        p += bytes ? bytes : 1;
    }
    free(text);
    if (line) line[at] = 0;
    return line;
}

char *record_text(cJSON *root) {
    char *text = print(root, 1);
    return text ? strcat(text, "\n") : NULL;
}

/* An object's keys without its braces. */
static int write_keys(FILE *out, cJSON *object) {
    char *text = print(object, 1);
    char *end = text ? strrchr(text, '}') : NULL;
    while (end && end > text && (end[-1] == '\n' || end[-1] == '\t')) end--;
    if (end) fwrite(text + 1, 1, (size_t)(end - text - 1), out);
    free(text);
    return end && !ferror(out) ? 0 : -1;
}

int record_list_begin(FILE *out, cJSON *before, const char *key) {
    fputc('{', out);
    if (write_keys(out, before)) return -1;
    return fprintf(out, ",\n\t\"%s\":\t[", key) < 0 ? -1 : 0;
}

int record_list_add(FILE *out, cJSON *item, long index) {
    char *text = print(item, 0);
    const int failed = !text || fprintf(out, "%s\n\t\t%s", index ? "," : "", text) < 0;
    free(text);
    return failed ? -1 : 0;
}

int record_list_end(FILE *out, cJSON *behind) {
    fputs("],", out);
    if (write_keys(out, behind)) return -1;
    return fputs("\n}\n", out) < 0 ? -1 : 0;
}

static cJSON *record_devices(const struct run_result *r) {
    cJSON *list = cJSON_CreateArray();
    for (int d = 0; d < r->devices; d++) {
        const struct run_phases *phases = r->phases ? &r->phases[d] : NULL;
        static const evn_device_phase none = {0};
        struct part p;
        if (part_begin(&p))
            evn_record_device(p.out, d, &r->device[d],
                              !phases         ? NULL
                              : phases->phase ? phases->phase
                                              : &none,
                              phases ? phases->count : 0);
        cJSON_AddItemToArray(list, part_end(&p));
    }
    return list;
}

static cJSON *record_unit(const struct run_result *r, int number, const evn_problem *tasks) {
    const struct run_unit *unit = &r->unit[number];
    evn_recorded_unit is = {
        .id = number,
        .rank = r->ranks > 1 ? unit->rank : -1,
        .host = r->rank[unit->rank].host,
        .gpu = unit->gpu,
        .cores = unit->cores,
        .core = r->core + unit->first_core,
        .binding = unit->binding,
        .device = unit->gpu ? unit->device : NULL,
        .taken = unit->taken,
        /* where a unit was lost, numbers are others' */
        .speed = tasks->speed && tasks->units == r->units ? tasks->speed[number] : 0,
        .stats = unit->stats,
    };
    struct part p;
    is.tasks = run_share(r, tasks, number, &is.weight);
    if (part_begin(&p)) evn_record_unit(p.out, &is);
    return part_end(&p);
}

static cJSON *record_transfers(const struct run_result *r) {
    evn_loop_totals totals = r->totals;
    struct part p;
    totals.brought = r->moved.copies;
    totals.brought_bytes = (double)r->moved.bytes;
    if (part_begin(&p)) evn_record_transfers(p.out, &totals, r->ranks);
    return part_end(&p);
}

static cJSON *record_changes(const struct run_result *r) {
    struct part p;
    if (part_begin(&p)) evn_record_changes(p.out, r->change, r->changes);
    return part_end(&p);
}

static cJSON *record_periods(const struct run_result *r) {
    struct part p;
    if (part_begin(&p)) evn_record_periods(p.out, r->totals.compute_s, r->communication_s, NULL);
    return part_end(&p);
}

static cJSON *record_median(const struct run_result *r) {
    struct part p;
    if (part_begin(&p))
        evn_record_periods(p.out, r->median.compute_s, r->median.exchange_s, &r->median);
    return part_end(&p);
}

static cJSON *record_ranks(const struct run_result *r) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < r->ranks; i++) {
        const struct run_rank *k = &r->rank[i];
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "host", k->host);
        cJSON *units = cJSON_AddArrayToObject(o, "units");
        for (int u = 0; u < r->units; u++)
            if (r->unit[u].rank == i) cJSON_AddItemToArray(units, cJSON_CreateNumber(u));
        cJSON_AddStringToObject(o, "processor", k->processor);
        cJSON_AddNumberToObject(o, "cores", k->cores);
        record_number(o, "memory", k->memory);
        cJSON_AddNumberToObject(o, "messages", (double)k->messages);
        record_number(o, "bytes", k->bytes);
        cJSON_AddNumberToObject(o, "moved_tasks", (double)k->moved);
        record_number(o, "moved_bytes", k->moved_bytes);
        record_number(o, "wait_s", k->wait_s);
        cJSON_AddItemToArray(list, o);
    }
    return list;
}

/* What plans need besides owners and times: weights, links and data of the tasks. */
static void record_problem(cJSON *root, const struct run_result *r, const evn_problem *tasks,
                           double bytes) {
    const evn_link *link = r->link ? r->link : tasks->link;
    const int links = r->link ? r->links : tasks->links;
    const double *weight = r->weight ? r->weight : tasks->weight;
    if (!r->weight && tasks->tasks != r->tasks) return;
    cJSON *list = cJSON_AddArrayToObject(root, "weight"), *data = cJSON_CreateArray();
    for (int t = 0; t < r->tasks; t++) {
        cJSON_AddItemToArray(list, number(weight ? weight[t] : 1));
        cJSON_AddItemToArray(data, number(bytes * (weight ? weight[t] : 1)));
    }
    if (bytes > 0)
        cJSON_AddItemToObject(root, "task_bytes", data);
    else
        cJSON_Delete(data);
    list = links > EVN_RECORD_LINKS ? NULL : cJSON_AddArrayToObject(root, "links");
    if (!list) cJSON_AddNullToObject(root, "links");
    for (int l = 0; list && l < links; l++) {
        cJSON *one = cJSON_CreateIntArray(link[l].task, 2);
        cJSON_AddItemToArray(one, number(link[l].bytes));
        cJSON_AddItemToArray(list, one);
    }
}

void record_result(cJSON *root, const struct run_result *r, const char *schedule,
                   const evn_problem *tasks, double bytes) {
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->hash);
    cJSON_AddNumberToObject(root, "steps", r->steps);
    cJSON_AddNumberToObject(root, "instances", (double)r->totals.instances);
    if (r->verified < 0)
        cJSON_AddNullToObject(root, "verified");
    else
        cJSON_AddBoolToObject(root, "verified", r->verified);
    record_number(root, "seconds", r->seconds);
    record_number(root, "mops", r->mops);
    cJSON_AddStringToObject(root, "hash", hash);
    cJSON *list = cJSON_AddArrayToObject(root, "units");
    for (int u = 0; u < r->units; u++) cJSON_AddItemToArray(list, record_unit(r, u, tasks));
    if (r->ranks > 1) cJSON_AddItemToObject(root, "ranks", record_ranks(r));
    cJSON_AddStringToObject(root, "schedule", schedule);
    record_number(root, "imbalance", run_imbalance(r));
    cJSON_AddItemToObject(root, "periods", record_periods(r));
    cJSON_AddItemToObject(root, "median", record_median(r));
    cJSON_AddItemToObject(root, "transfers", record_transfers(r));
    if (r->changes) cJSON_AddItemToObject(root, "changes", record_changes(r));
    if (r->devices) cJSON_AddItemToObject(root, "devices", record_devices(r));
    cJSON_AddItemToObject(root, "owner", cJSON_CreateIntArray(r->owner, r->tasks));
    cJSON_AddItemToObject(root, "task_s", record_numbers(r->task_s, r->tasks));
    record_problem(root, r, tasks, bytes);
}

void record_bursts(cJSON *list, const evn_trace *trace, int first) {
    static const char *const kind[] = {[EVN_BURST_COMPUTE] = "compute",
                                       [EVN_BURST_EXCHANGE] = "exchange",
                                       [EVN_BURST_COPY] = "copy"};
    for (int u = 0; u < evn_trace_about(trace).units; u++)
        for (int i = 0; i < evn_trace_bursts(trace, u); i++) {
            const evn_burst b = evn_trace_burst(trace, u, i);
            if (b.instance < first) continue;
            cJSON *o = cJSON_CreateObject();
            cJSON_AddNumberToObject(o, "unit", u);
            cJSON_AddStringToObject(o, "kind", kind[b.kind]);
            record_number(o, "begin", b.begin);
            record_number(o, "end", b.end);
            cJSON_AddNumberToObject(o, "task", b.task);
            cJSON_AddNumberToObject(o, "count", b.count);
            cJSON_AddNumberToObject(o, "step", b.instance);
            cJSON_AddItemToArray(list, o);
        }
}

/* When the first burst of the instances from `first` on began. */
static double begin_of(const evn_trace *trace, int first) {
    double begin = INFINITY;
    for (int u = 0; u < evn_trace_about(trace).units; u++)
        for (int i = 0; i < evn_trace_bursts(trace, u); i++) {
            const evn_burst b = evn_trace_burst(trace, u, i);
            if (b.instance >= first) begin = fmin(begin, b.begin);
        }
    return begin;
}

void record_messages(cJSON *list, const evn_trace *trace, int first) {
    static const char *const kind[] = {[EVN_MESSAGE_FACES] = "faces",
                                       [EVN_MESSAGE_PARCEL] = "parcel",
                                       [EVN_MESSAGE_TASK] = "task"};
    const double since = begin_of(trace, first);
    for (int i = 0; i < evn_trace_about(trace).messages; i++) {
        const evn_rank_message m = evn_trace_about(trace).message[i];
        if (m.receive_end < since) continue;
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "kind", kind[m.kind]);
        cJSON_AddNumberToObject(o, "from", m.from);
        cJSON_AddNumberToObject(o, "to", m.to);
        if (m.task >= 0) cJSON_AddNumberToObject(o, "task", m.task);
        record_number(o, "bytes", m.bytes);
        record_number(o, "sent", m.send_begin);
        record_number(o, "awaited", m.receive_begin);
        record_number(o, "received", m.receive_end);
        cJSON_AddItemToArray(list, o);
    }
}
