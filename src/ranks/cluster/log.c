/* The log of messages: a ring. */
#include "cluster/log.h"
#include "cluster/inside.h"
#include <evener/clock.h>
#include <stdlib.h>

struct message_log {
    pthread_mutex_t lock; /* several threads of a rank may receive */
    long long next;       /* entries ever noted */
    int size;
    struct log_entry entry[];
};

void log_close(evn_cluster *c) {
    if (!c->log) return;
    pthread_mutex_destroy(&c->log->lock);
    free(c->log);
    c->log = NULL;
}

evn_status log_keep(evn_cluster *c, int max) {
    log_close(c);
    if (max < 1) return EVN_OK;
    struct message_log *log = malloc(sizeof *log + (size_t)max * sizeof *log->entry);
    if (!log) return evn_fail(EVN_MEMORY, "cluster: no memory to keep %d messages", max);
    pthread_mutex_init(&log->lock, NULL);
    log->next = 0;
    log->size = max;
    c->log = log;
    return EVN_OK;
}

int log_is_kept(const evn_cluster *c) { return c->log != NULL; }

int log_count(const evn_cluster *c) {
    const struct message_log *log = c->log;
    return !log ? 0 : log->next < log->size ? (int)log->next : log->size;
}

long long log_lost(const evn_cluster *c) { return c->log ? c->log->next - log_count(c) : 0; }

struct log_entry log_get(const evn_cluster *c, int i) {
    return c->log->entry[(log_lost(c) + i) % c->log->size];
}

double log_begin(const evn_cluster *c) { return c->log ? evn_now() : 0; }

void log_end(evn_cluster *c, struct log_entry entry) {
    struct message_log *log = c->log;
    if (!log) return;
    entry.end = evn_now();
    pthread_mutex_lock(&log->lock);
    log->entry[log->next++ % log->size] = entry;
    pthread_mutex_unlock(&log->lock);
}
