/* The log of decisions: one line on standard error for each, of the topics in EVENER_LOG. */
#include "base/decisions.h"
#include "base/number.h"
#include "exchange/transport.h"
#include "loop/internal.h"
#include "schedule/policy.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint wanted;
static atomic_int rank = -1;

static const char *const topics[] = {"loop", "exchange", "schedule"}; /* a bit each, enum topic */
enum { TOPICS = sizeof topics / sizeof *topics };

static unsigned topic_of(const char *word, size_t length) {
    for (unsigned i = 0; i < TOPICS; i++)
        if (strlen(topics[i]) == length && !strncmp(word, topics[i], length)) return 1u << i;
    return 0;
}

static evn_status read_topics(void) {
    const char *text = secure_getenv("EVENER_LOG");
    unsigned all = 0;
    for (const char *p = text; p && *p;) {
        const size_t length = strcspn(p, ",");
        const unsigned topic = topic_of(p, length);
        if (!topic)
            return evn_fail(EVN_USAGE,
                            "EVENER_LOG: \"%.*s\" at column %d of \"%s\", expected loop, exchange "
                            "or schedule, with commas between",
                            (int)length, p, (int)(p - text) + 1, text);
        all |= topic;
        p += length;
        if (*p == ',' && p[1]) p++;
    }
    atomic_store_explicit(&wanted, all, memory_order_relaxed);
    return EVN_OK;
}

static void join(int number) { atomic_store_explicit(&rank, number, memory_order_relaxed); }

/* Appends to a line of the log; what is too long is cut. */
static void append(char line[static 1024], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void append(char line[static 1024], const char *format, ...) {
    const size_t length = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    number_vprint(line + length, 1024 - length, format, arguments);
    va_end(arguments);
}

static void begin(char line[static 1024], const char *topic) {
    const int number = atomic_load_explicit(&rank, memory_order_relaxed);
    snprintf(line, 1024, "evener: log: ");
    if (number >= 0) append(line, "rank %d: ", number);
    append(line, "%s: ", topic);
}

/* As one write, so that lines of several ranks do not mix. */
static void end(char line[static 1024]) { fprintf(stderr, "%s\n", line); }

/* The unit with the longest time of the latest instance, beside the mean, of this rank's. */
static void append_longest(char line[static 1024], const evn_loop *loop) {
    double sum = 0;
    int longest = 0;
    for (int u = 0; u < loop->count; u++) {
        sum += loop->worker[u].busy;
        if (loop->worker[u].busy > loop->worker[longest].busy) longest = u;
    }
    if (sum > 0 && loop->count > 1)
        append(line, "; before, unit %d took %.3f of the units' mean time", loop->first + longest,
               loop->worker[longest].busy * loop->count / sum);
}

static void log_loop(const evn_loop *loop, int chunk, const int *next) {
    const int tasks = loop->problem->tasks;
    char line[1024];
    int moved = 0;
    if (chunk && chunk == loop->chunk) return;
    begin(line, "loop");
    append(line, "%s: instance %d: ", evn_schedule_text(loop->schedule), loop_instance(loop));
    for (int t = 0; t < tasks; t++) moved += loop->owner[t] != next[t];
    if (chunk)
        append(line, "units draw %d %s at a time", chunk, chunk == 1 ? "task" : "tasks");
    else
        append(line, "%d of %d tasks moved", moved, tasks);
    append_longest(line, loop);
    end(line);
}

static void log_exchange(const evn_exchange *x, int mended) {
    const struct plan *p = &x->plan;
    char line[1024];
    begin(line, "exchange");
    append(line, "%d faces, %d messages", x->faces - x->gone, p->messages + x->remotes);
    for (int i = 0; i < p->messages; i++) {
        const char *name = p->message[i].transport->name;
        int first = 0, count = 0;
        while (strcmp(p->message[first].transport->name, name) != 0) first++;
        for (int j = i; first == i && j < p->messages; j++)
            count += !strcmp(p->message[j].transport->name, name);
        if (first == i) append(line, ", %d by %s", count, name);
    }
    if (x->remotes) append(line, ", %d to other ranks", x->remotes);
    append(line, "; the plan is %s", mended ? "mended" : "new");
    end(line);
}

/* Over ranks those of rank 0, which decides for all. */
static void log_schedule(evn_schedule *s, const char *event) {
    char line[1024], *why;
    s->logged |= !event;
    if (!s->logged || atomic_load_explicit(&rank, memory_order_relaxed) > 0) return;
    if (!(why = evn_schedule_explain(s))) return;
    begin(line, "schedule");
    append(line, "%s: %d tasks on %d units, instance %d: %s", s->text, s->problem.tasks,
           s->problem.units, s->instance, event ? event : "begins");
    char *rest;
    for (char *w = strtok_r(why, "\n", &rest); w; w = strtok_r(NULL, "\n", &rest))
        append(line, "; %s", w);
    free(why);
    end(line);
}

const struct decisions decisions = {&wanted,  read_topics,  join,
                                    log_loop, log_exchange, log_schedule};
