/* Messages: the ends that two ranks have noted, put together. */
#include "trace/gathered.h"
#include <stdlib.h>

static int from(const struct message_end *e) { return e->is.out ? e->rank : e->is.peer; }
static int to(const struct message_end *e) { return e->is.out ? e->is.peer : e->rank; }

static int compare_messages(const struct message_end *x, const struct message_end *y) {
    if (x->is.kind != y->is.kind) return x->is.kind - y->is.kind;
    if (from(x) != from(y)) return from(x) - from(y);
    if (to(x) != to(y)) return to(x) - to(y);
    return (x->is.number > y->is.number) - (x->is.number < y->is.number);
}

/* Sends before receives; equal ones by time. */
static int by_message(const void *a, const void *b) {
    const struct message_end *x = a, *y = b;
    const int order = compare_messages(x, y);
    if (order) return order;
    if (x->is.out != y->is.out) return y->is.out - x->is.out;
    return (x->is.begin > y->is.begin) - (x->is.begin < y->is.begin);
}

static int by_time(const void *a, const void *b) {
    const evn_rank_message *x = a, *y = b;
    if (x->send_begin != y->send_begin) return x->send_begin > y->send_begin ? 1 : -1;
    return x->from != y->from ? x->from - y->from : x->to - y->to;
}

static evn_rank_message join(const struct message_end *out, const struct message_end *in) {
    static const evn_message_kind kind[] = {[LOG_FACES] = EVN_MESSAGE_FACES,
                                            [LOG_PARCEL] = EVN_MESSAGE_PARCEL,
                                            [LOG_TASK] = EVN_MESSAGE_TASK};
    return (evn_rank_message){.kind = kind[out->is.kind],
                              .from = out->rank,
                              .to = in->rank,
                              .task = out->is.kind == LOG_TASK ? (int)(out->is.number & 0x7fffffff)
                                                               : -1,
                              .bytes = out->is.bytes,
                              .send_begin = out->is.begin,
                              .send_end = out->is.end,
                              .receive_begin = in->is.begin,
                              .receive_end = in->is.end};
}

int trace_match(int n, struct message_end *end, evn_rank_message *message) {
    int count = 0;
    qsort(end, (size_t)n, sizeof *end, by_message);
    for (int i = 0, next; i < n; i = next) {
        int out = 0;
        for (next = i; next < n && !compare_messages(&end[i], &end[next]); next++)
            out += end[next].is.out;
        const int in = next - i - out;
        for (int k = 0; k < out && k < in; k++)
            message[count++] = join(&end[i + k], &end[i + out + k]);
    }
    qsort(message, (size_t)count, sizeof *message, by_time);
    return count;
}
