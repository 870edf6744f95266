/* Messages between ranks in a trace: two tracks a rank, sent and received, and an arrow for each
 * message. */
#include "trace/events.h"
#include "trace/gathered.h"
#include <math.h>
#include <stdlib.h>

static const char *const kind_name[] = {
    [EVN_MESSAGE_FACES] = "faces", [EVN_MESSAGE_PARCEL] = "parcel", [EVN_MESSAGE_TASK] = "task"};

static void put_message(FILE *out, const evn_rank_message *m) {
    fprintf(out, "\"args\":{\"what\":\"%s\",\"bytes\":%.0f,\"from\":%d,\"to\":%d",
            kind_name[m->kind], m->bytes, m->from, m->to);
    if (m->task >= 0) fprintf(out, ",\"task\":%d", m->task);
    fputs("}},\n", out);
}

/* Writes a slice at one end of a message, and the arrow's end: just before it was sent, or when it
 * arrived. So on one clock no arrow goes back. */
static void put_end(const struct events *e, const evn_rank_message *m, int number, int out,
                    int track, double begin, double end) {
    FILE *file = e->file->out;
    const int rank = out ? m->from : m->to;
    events_begin(e, "X", rank, track, begin);
    events_us(e, "dur", end - begin);
    fprintf(file, ",\"cat\":\"message\",\"name\":\"%s rank %d\",\"cname\":\"rail_animation\",",
            out ? "to" : "from", out ? m->to : m->from);
    put_message(file, m);
    const double last = fmax(begin, end - 1e-9); /* still in the slice */
    events_begin(e, out ? "s" : "f", rank, track, out ? begin : last);
    fprintf(file, ",%s\"id\":%d,\"cat\":\"message\",\"name\":\"%s\",", out ? "" : "\"bp\":\"e\",",
            number, kind_name[m->kind]);
    put_message(file, m);
}

/* A message and its time of arrival. */
struct arrival {
    const evn_rank_message *is;
    int number;
};

static int by_arrival(const void *a, const void *b) {
    const struct arrival *x = a, *y = b;
    const double p = x->is->receive_end, q = y->is->receive_end;
    return p != q ? (p > q) - (p < q) : (x->number > y->number) - (x->number < y->number);
}

/* Threads of a rank may wait for messages at the same time, but the wire serves one after another:
 * each has waited for its own since the one before was there. */
static void put_arrivals(const struct events *e, int n, const struct arrival *arrival,
                         double *until, int track) {
    for (int i = 0; i < n; i++) {
        const evn_rank_message *m = arrival[i].is;
        double begin = m->receive_begin;
        if (begin < until[m->to]) begin = until[m->to];
        put_end(e, m, arrival[i].number, 0, track, begin, m->receive_end);
        until[m->to] = m->receive_end;
    }
}

evn_status messages_write(const struct events *e, const evn_trace *of, int track) {
    const size_t n = (size_t)of->messages;
    struct arrival *arrival = malloc((n + 1) * sizeof *arrival);
    double *until = malloc((size_t)of->ranks * sizeof *until);
    if (!arrival || !until) {
        free(arrival);
        free(until);
        return evn_fail(EVN_MEMORY, "trace: not enough memory for %zu messages", n);
    }
    for (int r = 0; n && r < of->ranks; r++) {
        until[r] = -INFINITY;
        events_track(e, r, track, track, "sent");
        events_track(e, r, track + 1, track + 1, "received");
    }
    for (size_t i = 0; i < n; i++) {
        const evn_rank_message *m = &of->message[i];
        arrival[i] = (struct arrival){m, e->file->flows++};
        put_end(e, m, arrival[i].number, 1, track, m->send_begin, m->send_end);
    }
    qsort(arrival, n, sizeof *arrival, by_arrival);
    put_arrivals(e, (int)n, arrival, until, track);
    free(arrival);
    free(until);
    return EVN_OK;
}
