/* Events: their beginnings, and names. */
#include "trace/events.h"
#include "trace/json.h"

void events_us(const struct events *e, const char *key, double seconds) {
    fprintf(e->file->out, ",\"%s\":", key);
    json_fixed(e->file->out, 1e6 * seconds, 3);
}

void events_begin(const struct events *e, const char *phase, int rank, int track, double when) {
    fprintf(e->file->out, "{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", phase, e->pid + rank, track);
    events_us(e, "ts", e->shift + when);
}

void events_process(const struct events *e, int rank, const char *name) {
    const int pid = e->pid + rank;
    fprintf(e->file->out,
            "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":", pid);
    json_text(e->file->out, name);
    fprintf(
        e->file->out,
        "}},\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":"
        "%d}},\n",
        pid, pid);
}

void events_track(const struct events *e, int rank, int track, int place, const char *name) {
    const int pid = e->pid + rank;
    fprintf(e->file->out,
            "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":"
            "\"%s\"}},\n"
            "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_sort_index\",\"args\":"
            "{\"sort_index\":%d}},\n",
            pid, track, name, pid, track, place);
}
