/* A gathered trace as an archive of OTF2, for Vampir, Score-P's tools and others: FILE.otf2,
 * FILE.def and a folder FILE with the events of each location. The library of OTF2 is looked for
 * when a trace is written, so that nothing else needs it. It writes into a folder of its own beside
 * the file, whose files are then copied to where they belong, each whole or not at all, FILE.otf2
 * last.
 *
 * Format: OTF2's reference of records, by its headers. */
#include "trace/gathered.h"
#include "base/argument.h"
#include "base/library.h"
#include <evener/output.h>
#include <evener/status.h>
#include <evener/trace.h>

#ifdef EVENER_HAVE_OTF2
#    include <dirent.h>
#    include <errno.h>
#    include <otf2/otf2.h>
#    include <stdarg.h>
#    include <stdlib.h>
#    include <string.h>
#    include <sys/stat.h>
#    include <unistd.h>

/* clang-format off */
#define CALLS(X) \
    X(Archive_Open) X(Archive_Close) X(Archive_SetFlushCallbacks) \
    X(Archive_SetSerialCollectiveCallbacks) X(Archive_OpenEvtFiles) X(Archive_CloseEvtFiles) \
    X(Archive_OpenDefFiles) X(Archive_CloseDefFiles) X(Archive_GetEvtWriter) \
    X(Archive_CloseEvtWriter) X(Archive_GetDefWriter) X(Archive_CloseDefWriter) \
    X(Archive_GetGlobalDefWriter) X(Archive_CloseGlobalDefWriter) X(EvtWriter_Enter) \
    X(EvtWriter_Leave) X(EvtWriter_MpiSend) X(EvtWriter_MpiRecv) X(AttributeList_New) \
    X(AttributeList_Delete) X(AttributeList_AddUint32) X(GlobalDefWriter_WriteClockProperties) \
    X(GlobalDefWriter_WriteString) X(GlobalDefWriter_WriteAttribute) \
    X(GlobalDefWriter_WriteParadigm) X(GlobalDefWriter_WriteRegion) \
    X(GlobalDefWriter_WriteSystemTreeNode) X(GlobalDefWriter_WriteLocationGroup) \
    X(GlobalDefWriter_WriteLocation) X(GlobalDefWriter_WriteGroup) X(GlobalDefWriter_WriteComm) \
    X(GlobalDefWriter_WriteMetricMember) X(GlobalDefWriter_WriteMetricClass) X(EvtWriter_Metric) \
    X(Error_RegisterCallback) X(Error_GetDescription)
/* clang-format on */

struct calls {
#    define X(name) __typeof__(OTF2_##name) *name;
    CALLS(X)
#    undef X
};

static evn_status load(struct calls *to) {
    static const char *const names[] = {"libopen-trace-format2.so.10", "libotf2.so.10", NULL};
    static const char *const functions[] = {
#    define X(name) "OTF2_" #    name,
        CALLS(X)
#    undef X
            NULL};
    static const struct library library = {"trace: FILE.otf2 needs the library of OTF2 3",
                                           NULL,
                                           names,
                                           "install libotf2-trace-dev",
                                           functions,
                                           NULL};
    void *call[sizeof functions / sizeof *functions];
    char file[64];
    evn_status status = library_open(&library, call, file, sizeof file);
    if (!status) memcpy(to, call, sizeof *to);
    return status;
}

evn_status evn_trace_otf2(void) {
    struct calls calls;
    return load(&calls);
}

/* ---- what is written ---- */

enum { KINDS = 3 };
enum { FIRST_TASK, INSTANCE, TASKS, ATTRIBUTES };
static const char *const attribute[ATTRIBUTES] = {"first task", "instance", "tasks"};
static const char *const kind_name[KINDS] = {[EVN_BURST_COMPUTE] = "computing",
                                             [EVN_BURST_EXCHANGE] = "exchanging",
                                             [EVN_BURST_COPY] = "moving regions"};

/* Metrics of a loop whose tasks come and go. */
enum { MEMBERS = 4 };
static const char *const member_name[MEMBERS] = {"tasks", "born", "gone", "moved"};

struct archive {
    const struct calls *call;
    const evn_trace *of;
    const char *noun;
    OTF2_Archive *to;
    OTF2_GlobalDefWriter *definitions;
    OTF2_AttributeList *list;
    uint32_t strings;
    double origin;
    uint64_t end;
    uint64_t *events; /* events of each location */
    int failed;       /* OTF2's first error */
};

/* Locations: units, then their copy queues, then a rank's messages, then a loop's changes. */
static int queue_of(const struct archive *a, int unit) { return trace_units(a->of) + unit; }
static int mail_of(const struct archive *a, int rank) { return 2 * trace_units(a->of) + rank; }
static int changes_of(const struct archive *a, int loop) {
    return mail_of(a, trace_ranks(a->of)) + loop;
}
static int locations(const struct archive *a) { return changes_of(a, trace_loops(a->of)); }

static void check(struct archive *a, OTF2_ErrorCode code) {
    if (code != OTF2_SUCCESS && !a->failed) a->failed = (int)code;
}

/* OTF2's own lines on standard error are left out: the first error becomes a message. */
static OTF2_ErrorCode hear(void *archive, const char *file, uint64_t line, const char *function,
                           OTF2_ErrorCode code, const char *format, va_list words) {
    (void)file, (void)line, (void)function, (void)format, (void)words;
    if (code != OTF2_WARNING && code != OTF2_DEPRECATED) check(archive, code);
    return code;
}

static OTF2_FlushType flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *more,
                            bool final) {
    (void)data, (void)type, (void)location, (void)more, (void) final;
    return OTF2_FLUSH;
}

static uint64_t ns(const struct archive *a, double when) {
    const double time = (when - a->origin) * 1e9;
    return time > 0 ? (uint64_t)(time + 0.5) : 0;
}

static void count(struct archive *a, int location, uint64_t when) {
    a->events[location]++;
    if (when > a->end) a->end = when;
}

/* ---- events ---- */

static void find_origin(struct archive *a) {
    int found = 0;
    for (int u = 0; u < trace_units(a->of); u++) {
        if (!trace_unit(a->of, u).bursts) continue;
        const double begin = trace_burst(a->of, u, 0).is.begin;
        if (!found++ || begin < a->origin) a->origin = begin;
    }
    for (int i = 0; i < a->of->messages; i++) {
        const double begin = a->of->message[i].send_begin;
        if (!found++ || begin < a->origin) a->origin = begin;
    }
}

static OTF2_EvtWriter *open_events(struct archive *a, int location) {
    OTF2_EvtWriter *out = a->call->Archive_GetEvtWriter(a->to, (OTF2_LocationRef)location);
    if (!out) check(a, OTF2_ERROR_INVALID);
    return out;
}

/* Writes the bursts of a unit or of its queue, which do not overlap. A unit without bursts has a
 * file, too. */
static void put_bursts(struct archive *a, int unit, int queue) {
    const int location = queue ? queue_of(a, unit) : unit;
    OTF2_EvtWriter *out = queue ? NULL : open_events(a, location);
    uint64_t last = 0;
    for (int i = 0; i < trace_unit(a->of, unit).bursts; i++) {
        const struct loop_burst b = trace_burst(a->of, unit, i);
        if ((b.is.kind == EVN_BURST_COPY) != queue) continue;
        if (!out) out = open_events(a, location);
        if (a->failed) return;
        uint64_t from = ns(a, b.is.begin), to = ns(a, b.is.end);
        if (from < last) from = last; /* clocks of hosts differ a little */
        if (to < from) to = from;
        const OTF2_RegionRef region = (OTF2_RegionRef)(KINDS * b.loop + (int)b.is.kind);
        const uint32_t value[ATTRIBUTES] = {(uint32_t)b.is.task, (uint32_t)b.is.instance,
                                            (uint32_t)b.is.count};
        for (uint32_t k = 0; k < ATTRIBUTES; k++)
            check(a, a->call->AttributeList_AddUint32(a->list, k, value[k]));
        check(a, a->call->EvtWriter_Enter(out, a->list, from, region));
        check(a, a->call->EvtWriter_Leave(out, NULL, to, region));
        count(a, location, from);
        count(a, location, to);
        last = to;
    }
    if (out) check(a, a->call->Archive_CloseEvtWriter(a->to, out));
}

/* One end of a message, for sorting by time. */
struct end {
    double when;
    int sent;
    evn_rank_message is;
};

static int by_time(const void *a, const void *b) {
    const struct end *x = a, *y = b;
    return x->when != y->when ? (x->when > y->when) - (x->when < y->when) : y->sent - x->sent;
}

static void put_messages(struct archive *a, int rank, struct end *end) {
    const int n = a->of->messages, location = mail_of(a, rank);
    int ends = 0;
    for (int i = 0; i < n; i++) {
        const evn_rank_message m = a->of->message[i];
        if (m.from == rank) end[ends++] = (struct end){m.send_begin, 1, m};
        if (m.to == rank) end[ends++] = (struct end){m.receive_end, 0, m};
    }
    if (ends) qsort(end, (size_t)ends, sizeof *end, by_time);
    OTF2_EvtWriter *out = open_events(a, location);
    for (int i = 0; i < ends && !a->failed; i++) {
        const evn_rank_message *m = &end[i].is;
        const uint64_t when = ns(a, end[i].when), bytes = (uint64_t)m->bytes;
        if (end[i].sent)
            check(a, a->call->EvtWriter_MpiSend(out, NULL, when, (uint32_t)m->to, 0,
                                                (uint32_t)m->kind, bytes));
        else
            check(a, a->call->EvtWriter_MpiRecv(out, NULL, when, (uint32_t)m->from, 0,
                                                (uint32_t)m->kind, bytes));
        count(a, location, when);
    }
    if (out) check(a, a->call->Archive_CloseEvtWriter(a->to, out));
}

/* The numbers of a loop's tasks, when its first burst began and since each change. */
static void put_changes(struct archive *a, int loop, OTF2_MetricRef metric) {
    static const OTF2_Type type[MEMBERS] = {OTF2_TYPE_UINT64, OTF2_TYPE_UINT64, OTF2_TYPE_UINT64,
                                            OTF2_TYPE_UINT64};
    const double begin = trace_loop_begin(a->of, loop);
    const int changes = trace_changes(a->of, loop), first = trace_generation(a->of, loop, begin);
    OTF2_EvtWriter *out = open_events(a, changes_of(a, loop));
    for (int i = first - 1; i < changes && !a->failed; i++) {
        evn_changed c = {.begin = begin, .tasks = trace_tasks(a->of, loop, first)};
        if (i >= first) c = trace_change(a->of, loop, i);
        const int number[MEMBERS] = {c.tasks, c.born, c.gone, c.moved};
        OTF2_MetricValue value[MEMBERS];
        for (int k = 0; k < MEMBERS; k++) value[k].unsigned_int = (uint64_t)number[k];
        check(a,
              a->call->EvtWriter_Metric(out, NULL, ns(a, c.begin), metric, MEMBERS, type, value));
        count(a, changes_of(a, loop), ns(a, c.begin));
    }
    if (out) check(a, a->call->Archive_CloseEvtWriter(a->to, out));
}

static evn_status put_events(struct archive *a) {
    struct end *end = malloc((2 * (size_t)a->of->messages + 1) * sizeof *end);
    if (!end) return evn_fail(EVN_MEMORY, "trace: not enough memory for all messages");
    find_origin(a);
    check(a, a->call->Archive_OpenEvtFiles(a->to));
    for (int u = 0; u < trace_units(a->of); u++)
        for (int queue = 0; queue <= 1; queue++) put_bursts(a, u, queue);
    for (int r = 0; r < trace_ranks(a->of) && a->of->messages; r++) put_messages(a, r, end);
    OTF2_MetricRef metric = 0;
    for (int l = 0; l < trace_loops(a->of); l++)
        if (trace_has_changes(a->of, l)) put_changes(a, l, metric++);
    check(a, a->call->Archive_CloseEvtFiles(a->to));
    free(end);
    return EVN_OK;
}

/* ---- definitions ---- */

static OTF2_StringRef string(struct archive *a, const char *text) {
    check(a, a->call->GlobalDefWriter_WriteString(a->definitions, a->strings, text));
    return a->strings++;
}

static void put_regions(struct archive *a) {
    for (int l = 0; l < trace_loops(a->of); l++)
        for (int kind = 0; kind < KINDS; kind++) {
            char text[512];
            const char *name = a->of->kept ? a->of->kept->loop[l].name : NULL;
            snprintf(text, sizeof text, "%s%s%s", name ? name : "", name ? ": " : "",
                     kind_name[kind]);
            const OTF2_StringRef ref = string(a, text);
            check(a, a->call->GlobalDefWriter_WriteRegion(
                         a->definitions, (OTF2_RegionRef)(KINDS * l + kind), ref, ref, 0,
                         kind == EVN_BURST_COMPUTE ? OTF2_REGION_ROLE_LOOP
                                                   : OTF2_REGION_ROLE_DATA_TRANSFER,
                         OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, 0, 0, 0));
        }
    for (uint32_t k = 0; k < ATTRIBUTES; k++)
        check(a, a->call->GlobalDefWriter_WriteAttribute(a->definitions, k, string(a, attribute[k]),
                                                         string(a, a->noun), OTF2_TYPE_UINT32));
}

static const char *host_of(const struct archive *a, int rank) {
    return a->of->cluster ? evn_cluster_host(a->of->cluster, rank) : "host";
}

/* A node for each host, a group for each rank. */
static void put_ranks(struct archive *a) {
    OTF2_GlobalDefWriter *out = a->definitions;
    check(a, a->call->GlobalDefWriter_WriteSystemTreeNode(out, 0, string(a, "hosts"),
                                                          string(a, "machine"),
                                                          OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (int r = 0; r < trace_ranks(a->of); r++) {
        int same = r;
        char name[64];
        for (int before = r - 1; before >= 0; before--)
            if (!strcmp(host_of(a, before), host_of(a, r))) same = before;
        const OTF2_SystemTreeNodeRef node = (OTF2_SystemTreeNodeRef)same + 1;
        if (same == r)
            check(a, a->call->GlobalDefWriter_WriteSystemTreeNode(
                         out, node, string(a, host_of(a, r)), string(a, "node"), 0));
        snprintf(name, sizeof name, "rank %d", r);
        check(a, a->call->GlobalDefWriter_WriteLocationGroup(
                     out, (OTF2_LocationGroupRef)r, string(a, name),
                     OTF2_LOCATION_GROUP_TYPE_PROCESS, node, OTF2_UNDEFINED_LOCATION_GROUP));
    }
}

static void put_location(struct archive *a, int location, int rank, OTF2_LocationType type,
                         const char *name) {
    check(a, a->call->GlobalDefWriter_WriteLocation(a->definitions, (OTF2_LocationRef)location,
                                                    string(a, name), type, a->events[location],
                                                    (OTF2_LocationGroupRef)rank));
    OTF2_DefWriter *local = a->call->Archive_GetDefWriter(a->to, (OTF2_LocationRef)location);
    if (local)
        check(a, a->call->Archive_CloseDefWriter(a->to, local));
    else
        check(a, OTF2_ERROR_INVALID);
}

static void put_locations(struct archive *a) {
    char name[64];
    for (int u = 0; u < trace_units(a->of); u++) {
        const struct trace_unit is = trace_unit(a->of, u);
        snprintf(name, sizeof name, "unit %d (%s %d)", u, is.gpu ? "GPU" : "CPU", is.cores);
        put_location(a, u, is.rank, OTF2_LOCATION_TYPE_CPU_THREAD, name);
        snprintf(name, sizeof name, "unit %d copy queue", u);
        if (a->events[queue_of(a, u)])
            put_location(a, queue_of(a, u), is.rank,
                         is.gpu ? OTF2_LOCATION_TYPE_ACCELERATOR_STREAM
                                : OTF2_LOCATION_TYPE_CPU_THREAD,
                         name);
    }
    for (int r = 0; r < trace_ranks(a->of) && a->of->messages; r++)
        put_location(a, mail_of(a, r), r, OTF2_LOCATION_TYPE_CPU_THREAD, "messages");
}

/* Defines a class of metrics and a location for each loop whose tasks come and go; both have its
 * name, if there are several. */
static void put_metrics(struct archive *a) {
    OTF2_MetricRef metric = 0;
    for (int l = 0; l < trace_loops(a->of); l++) {
        OTF2_MetricMemberRef ref[MEMBERS];
        char text[512];
        const char *name = a->of->kept ? a->of->kept->loop[l].name : NULL;
        if (!a->events[changes_of(a, l)]) continue;
        for (int k = 0; k < MEMBERS; k++) {
            ref[k] = (OTF2_MetricMemberRef)(MEMBERS * (int)metric + k);
            snprintf(text, sizeof text, "%s%s%s", name ? name : "", name ? ": " : "",
                     member_name[k]);
            check(a, a->call->GlobalDefWriter_WriteMetricMember(
                         a->definitions, ref[k], string(a, text), string(a, a->noun),
                         OTF2_METRIC_TYPE_USER, OTF2_METRIC_ABSOLUTE_NEXT, OTF2_TYPE_UINT64,
                         OTF2_BASE_DECIMAL, 0, string(a, "#")));
        }
        check(a, a->call->GlobalDefWriter_WriteMetricClass(a->definitions, metric++, MEMBERS, ref,
                                                           OTF2_METRIC_ASYNCHRONOUS,
                                                           OTF2_RECORDER_KIND_ABSTRACT));
        snprintf(text, sizeof text, "%s%schanges", name ? name : "", name ? ": " : "");
        put_location(a, changes_of(a, l), 0, OTF2_LOCATION_TYPE_METRIC, text);
    }
}

/* The communicator of all ranks, whose messages are those of their last locations. */
static evn_status put_communicator(struct archive *a) {
    OTF2_GlobalDefWriter *out = a->definitions;
    const uint32_t ranks = (uint32_t)trace_ranks(a->of);
    uint64_t *member = malloc(ranks * sizeof *member);
    if (!member) return evn_fail(EVN_MEMORY, "trace: not enough memory for %u ranks", ranks);
    check(a, a->call->GlobalDefWriter_WriteParadigm(out, OTF2_PARADIGM_MPI, string(a, "MPI"),
                                                    OTF2_PARADIGM_CLASS_PROCESS));
    for (uint32_t r = 0; r < ranks; r++) member[r] = (uint64_t)mail_of(a, (int)r);
    check(a, a->call->GlobalDefWriter_WriteGroup(out, 0, string(a, "locations of messages"),
                                                 OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                                 OTF2_GROUP_FLAG_NONE, ranks, member));
    for (uint32_t r = 0; r < ranks; r++) member[r] = r;
    check(a, a->call->GlobalDefWriter_WriteGroup(out, 1, string(a, "ranks"),
                                                 OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                                 OTF2_GROUP_FLAG_NONE, ranks, member));
    check(a, a->call->GlobalDefWriter_WriteComm(out, 0, string(a, "ranks"), 1, OTF2_UNDEFINED_COMM,
                                                OTF2_COMM_FLAG_NONE));
    free(member);
    return EVN_OK;
}

static evn_status put_definitions(struct archive *a) {
    evn_status status = EVN_OK;
    a->definitions = a->call->Archive_GetGlobalDefWriter(a->to);
    if (!a->definitions) check(a, OTF2_ERROR_INVALID);
    if (a->failed) return EVN_OK;
    check(a, a->call->Archive_OpenDefFiles(a->to));
    check(a, a->call->GlobalDefWriter_WriteClockProperties(a->definitions, 1000000000, 0,
                                                           a->end + 1, OTF2_UNDEFINED_TIMESTAMP));
    string(a, "");
    put_regions(a);
    put_ranks(a);
    put_locations(a);
    put_metrics(a);
    if (a->of->messages) status = put_communicator(a);
    check(a, a->call->Archive_CloseDefFiles(a->to));
    check(a, a->call->Archive_CloseGlobalDefWriter(a->to, a->definitions));
    return status;
}

static evn_status write_archive(const evn_trace *trace, const char *noun, const struct calls *call,
                                const char *folder, const char *name) {
    static const OTF2_FlushCallbacks callbacks = {flush, NULL};
    struct archive a = {.call = call, .of = trace, .noun = noun};
    a.events = calloc((size_t)locations(&a), sizeof *a.events);
    if (!a.events) return evn_fail(EVN_MEMORY, "trace: not enough memory for all locations");
    const OTF2_ErrorCallback before = call->Error_RegisterCallback(hear, &a);
    a.list = call->AttributeList_New();
    a.to = call->Archive_Open(folder, name, OTF2_FILEMODE_WRITE, 1 << 20, 1 << 22,
                              OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    evn_status status = EVN_OK;
    if (a.to && a.list) {
        check(&a, call->Archive_SetFlushCallbacks(a.to, &callbacks, NULL));
        check(&a, call->Archive_SetSerialCollectiveCallbacks(a.to));
        status = put_events(&a);
        if (!status) status = put_definitions(&a);
    } else {
        check(&a, OTF2_ERROR_INVALID);
    }
    if (a.to) check(&a, call->Archive_Close(a.to));
    if (a.list) call->AttributeList_Delete(a.list);
    call->Error_RegisterCallback(before, NULL);
    free(a.events);
    if (status || !a.failed) return status;
    return evn_fail(EVN_SYSTEM, "trace: OTF2 could not write %s.otf2: %s", name,
                    call->Error_GetDescription((OTF2_ErrorCode)a.failed));
}

/* ---- files ---- */

static evn_status copy_file(const char *from, const char *to) {
    char piece[1 << 16];
    evn_output *out = NULL;
    size_t n;
    FILE *in = fopen(from, "rb");
    if (!in) return evn_fail(EVN_SYSTEM, "trace: %s: %s", from, strerror(errno));
    evn_status status = evn_output_open(&out, NULL, to);
    while (!status && (n = fread(piece, 1, sizeof piece, in)) > 0)
        if (fwrite(piece, 1, n, evn_output_stream(out)) != n) break; /* the commit says why */
    if (!status && ferror(in)) status = evn_fail(EVN_SYSTEM, "trace: %s could not be read", from);
    if (!status) status = evn_output_commit(out);
    evn_output_close(out);
    fclose(in);
    return status;
}

/* "a/b" in memory of its own; NULL: no memory. */
static char *path(const char *folder, const char *slash, const char *name, const char *end) {
    const size_t room = strlen(folder) + strlen(slash) + strlen(name) + strlen(end) + 1;
    char *all = malloc(room);
    if (all) snprintf(all, room, "%s%s%s%s", folder, slash, name, end);
    return all;
}

/* Copies (`to` is a folder) or removes (NULL) the files of a folder, but for other folders. */
static evn_status each_file(const char *folder, const char *to) {
    evn_status status = EVN_OK;
    DIR *all = opendir(folder);
    const struct dirent *one;
    while (all && !status && (one = readdir(all))) {
        char *from = one->d_name[0] == '.' ? NULL : path(folder, "/", one->d_name, "");
        char *there = from && to ? path(to, "/", one->d_name, "") : NULL;
        if (there)
            status = copy_file(from, there);
        else if (from && !to)
            unlink(from);
        free(there);
        free(from);
    }
    if (all) closedir(all);
    return status;
}

/* From the archive `name` in `folder` to beside `base`, the anchor last. */
static evn_status publish(const char *folder, const char *name, const char *base) {
    char *events = path(folder, "/", name, "");
    evn_status status = events ? EVN_OK : evn_fail(EVN_MEMORY, "trace: not enough memory");
    if (!status && mkdir(base, 0777) && errno != EEXIST)
        status =
            evn_fail(EVN_SYSTEM, "trace: the folder %s cannot be made: %s", base, strerror(errno));
    if (!status) status = each_file(events, base);
    static const char *const ends[] = {".def", ".otf2"};
    for (int i = 0; i < 2 && !status; i++) {
        char *from = path(folder, "/", name, ends[i]), *to = path(base, "", "", ends[i]);
        status =
            from && to ? copy_file(from, to) : evn_fail(EVN_MEMORY, "trace: not enough memory");
        free(from);
        free(to);
    }
    free(events);
    return status;
}

static void remove_archive(const char *folder, const char *name) {
    char *events = path(folder, "/", name, "");
    if (events) {
        each_file(events, NULL);
        rmdir(events);
    }
    each_file(folder, NULL);
    rmdir(folder);
    free(events);
}

static evn_status put_beside(const evn_trace *trace, const char *noun, const struct calls *call,
                             char *base) {
    char *slash = strrchr(base, '/');
    char *folder = slash ? path("", "", base, "") : NULL;
    if (folder) folder[slash + 1 - base] = '\0';
    char *own = path(folder ? folder : "", "", ".evener-otf2-XXXXXX", "");
    const char *name = slash ? slash + 1 : base;
    evn_status status =
        own && (folder || !slash) ? EVN_OK : evn_fail(EVN_MEMORY, "trace: not enough memory");
    if (!status && !mkdtemp(own)) {
        status =
            evn_fail(EVN_SYSTEM, "trace: %s.otf2 cannot be written: %s", base, strerror(errno));
    } else if (!status) {
        status = write_archive(trace, noun, call, own, name);
        if (!status) status = publish(own, name, base);
        remove_archive(own, name);
    }
    free(folder);
    free(own);
    return status;
}

evn_status evn_trace_put_otf2(const evn_trace *trace, const char *noun, const char *file) {
    NEED(trace, "a trace");
    NEED(noun, "what tasks are called, as \"zone\"");
    NEED(file, "a file");
    const size_t length = strlen(file), end = strlen(".otf2");
    if (length <= end || strcmp(file + length - end, ".otf2") != 0 || file[length - end - 1] == '/')
        return evn_fail(EVN_USAGE, "trace: \"%.200s\", expected a name that ends in .otf2", file);
    if (trace->cluster && !trace->unit)
        return evn_fail(EVN_USAGE, "trace: evn_trace_put_otf2() where nothing was gathered; after "
                                   "evn_trace_gather(), rank 0 has it");
    struct calls calls;
    evn_status status = load(&calls);
    char *base = status ? NULL : strdup(file);
    if (status) return status;
    if (!base) return evn_fail(EVN_MEMORY, "trace: not enough memory");
    base[length - end] = '\0';
    status = put_beside(trace, noun, &calls, base);
    free(base);
    return status;
}

#else

evn_status evn_trace_otf2(void) {
    return evn_fail(EVN_MISSING, "trace: FILE.otf2 needs a library that was built with OTF2 3 "
                                 "(libotf2-trace-dev); FILE.prv and FILE.json do not");
}

evn_status evn_trace_put_otf2(const evn_trace *trace, const char *noun, const char *file) {
    NEED(trace, "a trace");
    NEED(noun, "what tasks are called, as \"zone\"");
    NEED(file, "a file");
    return evn_trace_otf2();
}

#endif
