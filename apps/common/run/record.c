/* Writing records. */
#include "common/run/record.h"
#include "common/run/build.h"
#include "common/simd/isa.h"
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

static void record_kinds(cJSON *machine, const evn_machine *m) {
    cJSON *list = cJSON_AddArrayToObject(machine, "kinds");
    for (int k = 0; k < evn_machine_kinds(m); k++) {
        const evn_core_kind *kind = evn_machine_kind(m, k);
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "name", kind->name);
        cJSON_AddNumberToObject(o, "cores", kind->cores);
        record_number(o, "frequency", kind->frequency);
        record_number(o, "speed", kind->speed);
        cJSON_AddItemToArray(list, o);
    }
}

static void record_parts(cJSON *machine, const evn_machine *m) {
    cJSON *list = cJSON_AddArrayToObject(machine, "parts");
    for (int i = 0; i < evn_machine_parts(m); i++) {
        const evn_part *part = evn_machine_part(m, i);
        cJSON *o = cJSON_CreateObject(), *cores = cJSON_AddArrayToObject(o, "cores");
        for (int c = part->first; c < part->first + part->cores; c++)
            cJSON_AddItemToArray(cores, cJSON_CreateNumber(evn_machine_core_number(m, c)));
        cJSON_AddNumberToObject(o, "kind", part->kind);
        cJSON_AddNumberToObject(o, "package", part->package);
        cJSON_AddNumberToObject(o, "threads", part->threads);
        record_number(o, "l3", (double)part->cache);
        cJSON_AddItemToArray(list, o);
    }
}

cJSON *record_machine(const evn_machine *m) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "processor", evn_machine_processor(m));
    cJSON_AddNumberToObject(o, "cores", evn_machine_cores(m));
    cJSON_AddNumberToObject(o, "packages", evn_machine_packages(m));
    cJSON_AddNumberToObject(o, "numa_nodes", evn_machine_numa_nodes(m));
    record_number(o, "memory", (double)evn_machine_memory(m));
    for (int level = 1; level <= 3; level++) {
        char key[16];
        snprintf(key, sizeof key, "l%d", level);
        record_number(o, key, (double)evn_machine_cache(m, level, NULL));
    }
    const evn_core_limits limits = evn_machine_limits(m);
    cJSON_AddNumberToObject(o, "node_cores", limits.node);
    cJSON_AddNumberToObject(o, "allowed_cores", limits.allowed);
    record_number(o, "quota", limits.quota);
    record_kinds(o, m);
    record_parts(o, m);
    return o;
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

/* As text, to be freed; what is not UTF-8 is not JSON, and words from outside may hold it: U+FFFD
 * instead. Consumes `root`; NULL: no memory. */
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

static cJSON *record_phases(const struct run_phases *p) {
    cJSON *o = cJSON_CreateObject();
    for (int i = 0; i < p->count; i++) {
        cJSON *one = cJSON_AddObjectToObject(o, p->phase[i].name);
        record_number(one, "seconds", p->phase[i].seconds);
        cJSON_AddNumberToObject(one, "launches", (double)p->phase[i].launches);
    }
    return o;
}

static cJSON *record_devices(const struct run_result *r) {
    cJSON *list = cJSON_CreateArray();
    for (int d = 0; d < r->devices; d++) {
        const evn_counts *c = &r->device[d];
        cJSON *o = cJSON_CreateObject();
        cJSON_AddNumberToObject(o, "id", d);
        cJSON_AddNumberToObject(o, "launches", (double)c->launches);
        cJSON_AddNumberToObject(o, "copies_in", (double)c->copies_in);
        cJSON_AddNumberToObject(o, "copies_out", (double)c->copies_out);
        cJSON_AddNumberToObject(o, "copies_peer", (double)c->copies_peer);
        cJSON_AddNumberToObject(o, "bytes_in", (double)c->bytes_in);
        cJSON_AddNumberToObject(o, "bytes_out", (double)c->bytes_out);
        cJSON_AddNumberToObject(o, "bytes_peer", (double)c->bytes_peer);
        cJSON_AddNumberToObject(o, "waits", (double)c->waits);
        if (r->phases) cJSON_AddItemToObject(o, "phases", record_phases(&r->phases[d]));
        cJSON_AddItemToArray(list, o);
    }
    return list;
}

static cJSON *record_unit(const struct run_result *r, int number, const evn_problem *tasks) {
    const struct run_unit *unit = &r->unit[number];
    const evn_unit_stats *stats = &unit->stats;
    cJSON *o = cJSON_CreateObject(), *cores = cJSON_CreateArray();
    double weight;
    const int own = run_share(r, tasks, number, &weight);
    for (int c = unit->first_core; c < unit->first_core + unit->cores; c++)
        if (r->core[c] >= 0) cJSON_AddItemToArray(cores, cJSON_CreateNumber(r->core[c]));
    cJSON_AddNumberToObject(o, "id", number);
    if (r->ranks > 1) cJSON_AddNumberToObject(o, "rank", unit->rank);
    if (r->ranks > 1) cJSON_AddStringToObject(o, "host", r->rank[unit->rank].host);
    cJSON_AddStringToObject(o, "kind", unit->gpu ? "gpu" : "cpu");
    cJSON_AddItemToObject(o, "cores", cores);
    cJSON_AddStringToObject(o, "binding", unit->binding);
    if (unit->gpu)
        cJSON_AddStringToObject(o, "device", unit->device);
    else
        cJSON_AddNullToObject(o, "device");
    /* what the schedule began with; where a unit was lost, numbers are others' */
    if (tasks->speed && tasks->units == r->units) record_number(o, "speed", tasks->speed[number]);
    cJSON_AddNumberToObject(o, "tasks", own);
    record_number(o, "weight", weight);
    record_number(o, "compute_s", stats->compute_s);
    record_number(o, "exchange_s", stats->exchange_s);
    record_number(o, "idle_s", stats->idle_s);
    record_number(o, "bytes_in", stats->bytes_in);
    record_number(o, "bytes_out", stats->bytes_out);
    return o;
}

static cJSON *record_transfers(const struct run_result *r) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "migrations", (double)r->totals.migrations);
    cJSON_AddNumberToObject(o, "messages", (double)r->totals.messages);
    record_number(o, "bytes", r->totals.bytes);
    cJSON_AddNumberToObject(o, "copies", (double)r->totals.copies);
    cJSON_AddNumberToObject(o, "moved_regions", (double)r->moved.copies);
    record_number(o, "moved_bytes", (double)r->moved.bytes);
    if (r->ranks == 1) return o;
    cJSON_AddNumberToObject(o, "rank_messages", (double)r->totals.rank_messages);
    record_number(o, "rank_bytes", r->totals.rank_bytes);
    cJSON_AddNumberToObject(o, "moved_between_ranks", (double)r->totals.moved);
    record_number(o, "moved_bytes_between_ranks", r->totals.moved_bytes);
    return o;
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

void record_result(cJSON *root, const struct run_result *r, const char *schedule,
                   const evn_problem *tasks) {
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
    cJSON *periods = cJSON_AddObjectToObject(root, "periods");
    record_number(periods, "compute_s", r->totals.compute_s);
    record_number(periods, "communication_s", r->communication_s);
    cJSON_AddItemToObject(root, "transfers", record_transfers(r));
    if (r->devices) cJSON_AddItemToObject(root, "devices", record_devices(r));
    cJSON_AddItemToObject(root, "owner", cJSON_CreateIntArray(r->owner, r->tasks));
    cJSON_AddItemToObject(root, "task_s", record_numbers(r->task_s, r->tasks));
}

void record_bursts(cJSON *list, const evn_trace *trace, int first) {
    static const char *const kind[] = {[EVN_BURST_COMPUTE] = "compute",
                                       [EVN_BURST_EXCHANGE] = "exchange",
                                       [EVN_BURST_COPY] = "copy"};
    for (int u = 0; u < evn_trace_units(trace); u++)
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
    for (int u = 0; u < evn_trace_units(trace); u++)
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
    for (int i = 0; i < evn_trace_messages(trace); i++) {
        const evn_rank_message m = evn_trace_message(trace, i);
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
