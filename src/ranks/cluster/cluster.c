/* Clusters: opening over a wire or alone, ranks and their units, and agreement of all ranks. */
#include "base/argument.h"
#include "base/bind.h"
#include "base/cpus.h"
#include "base/decisions.h"
#include "cluster/inside.h"
#include "wire/kinds.h"
#include "cluster/log.h"
#include "wire/launcher.h"
#include "wire/processes.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A rank's first message to the others: facts about itself. */
struct hello {
    char host[64], boot[40];
    int processors;            /* number of processors on which it may run; 0: not known */
    unsigned long long of_set; /* hash of their set */
};

/* ---- the wire, for loops and exchanges ---- */

const evn_wire_kind *cluster_kind(const evn_cluster *c) { return c->kind; }
evn_wire *cluster_wire(const evn_cluster *c) { return c->wire; }
struct tree *cluster_tree(const evn_cluster *c) {
    return c->tree;
}
const evn_wire_host *cluster_host(const evn_cluster *c) { return &c->host; }
void cluster_lock(evn_cluster *c) { pthread_mutex_lock(&c->lock); }
void cluster_unlock(evn_cluster *c) { pthread_mutex_unlock(&c->lock); }

_Noreturn void cluster_abort(evn_cluster *c) {
    const char *host = evn_cluster_host(c, c->rank);
    fprintf(stderr, "evener: rank %d%s%s: %s\n", c->rank, *host ? " on " : "", host, evn_message());
    fflush(NULL);
    c->kind->abort(c->wire, 3);
    _exit(3);
}

/* Ends the run after a failed collective record: the ranks are out of step, and cannot agree on the
 * failure either. */
static evn_status kept(evn_cluster *c, evn_status status) {
    if (status && status != EVN_STOPPED) cluster_abort(c);
    return status;
}

evn_status cluster_up(evn_cluster *c, struct record *mine) {
    if (!c->kind) return EVN_OK;
    cluster_lock(c);
    evn_status status = tree_up(c->tree, mine);
    cluster_unlock(c);
    return kept(c, status);
}

evn_status cluster_down(evn_cluster *c, struct record *record) {
    if (!c->kind) return EVN_OK;
    cluster_lock(c);
    evn_status status = tree_down(c->tree, record);
    cluster_unlock(c);
    return kept(c, status);
}

evn_status cluster_channel_open(evn_cluster *c, evn_channel **channel, int peer, int tag, int out,
                                size_t max) {
    cluster_lock(c);
    evn_status status = c->kind->channel_open(channel, c->wire, peer, tag, out, max);
    cluster_unlock(c);
    return status;
}

void cluster_channel_close(evn_cluster *c, evn_channel *channel) {
    if (!channel) return;
    cluster_lock(c);
    c->kind->channel_close(channel);
    cluster_unlock(c);
}

evn_status cluster_take(evn_cluster *c, evn_channel *channel, void **room) {
    cluster_lock(c);
    evn_status status = c->kind->take(channel, room);
    cluster_unlock(c);
    return status;
}

evn_status cluster_send(evn_cluster *c, evn_channel *channel, size_t bytes) {
    cluster_lock(c);
    evn_status status = c->kind->send(channel, bytes);
    cluster_unlock(c);
    return status;
}

evn_status cluster_expect(evn_cluster *c, evn_channel *channel) {
    cluster_lock(c);
    evn_status status = c->kind->expect(channel);
    cluster_unlock(c);
    return status;
}

evn_status cluster_wait(evn_cluster *c, evn_channel *channel, const void **data, size_t *bytes) {
    cluster_lock(c);
    evn_status status = c->kind->wait(channel, data, bytes);
    cluster_unlock(c);
    return status;
}

void cluster_release(evn_cluster *c, evn_channel *channel) {
    cluster_lock(c);
    c->kind->release(channel);
    cluster_unlock(c);
}

int cluster_tag(evn_cluster *c, enum cluster_use use) {
    static const int first[CLUSTER_USES + 1] = {0, 16, 512, 1024, 32000, EVN_WIRE_TAG_MAX + 1};
    return first[use] + c->next_tag[use]++ % (first[use + 1] - first[use]);
}

void cluster_poll(evn_cluster *c) {
    if (!c->kind || !c->kind->poll || pthread_mutex_trylock(&c->lock)) return;
    c->kind->poll(c->wire);
    cluster_unlock(c);
}

/* ---- hosts and cores ---- */

static struct hello hello(void) {
    struct hello h;
    memset(&h, 0, sizeof h);
    if (gethostname(h.host, sizeof h.host - 1) || !*h.host) strcpy(h.host, "localhost");
    /* the boot id tells apart containers of the same host name */
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (f && !fgets(h.boot, sizeof h.boot, f)) *h.boot = 0;
    if (f) fclose(f);
    struct cpus cpus;
    cpus_get(&cpus);
    h.processors = cpus_count(&cpus);
    h.of_set = cpus_hash(&cpus);
    return h;
}

int cluster_same_host(const evn_cluster *c, int rank, int other) {
    return !strcmp(c->hello[rank].host, c->hello[other].host) &&
           !strcmp(c->hello[rank].boot, c->hello[other].boot);
}

/* The first rank of this host whose processors are those of rank `rank`. */
static int first_with(const evn_cluster *c, int rank) {
    int r = 0;
    while (c->hello[r].of_set != c->hello[rank].of_set || !cluster_same_host(c, r, rank)) r++;
    return r;
}

/* 1 if the ranks of this host have more threads, threads[rank], than processors. Sets of two ranks
 * are the same or have nothing in common (cluster/cores.h). */
int cluster_is_crowded(const evn_cluster *c, const int *threads) {
    int here = 0, processors = 0;
    for (int r = 0; r < c->size; r++)
        if (cluster_same_host(c, r, c->rank)) {
            if (first_with(c, r) == r) processors += c->hello[r].processors;
            here += threads ? threads[r] : 1;
        }
    return processors && here > processors;
}

/* Estimate before the ranks have exchanged their facts: 1 if this host has fewer processors than
 * processes. */
static int seems_crowded(int processes) {
    struct cpus cpus;
    if (processes) return !cpus_get(&cpus) && processes > cpus_count(&cpus);
    return wire_plugin_near() > sysconf(_SC_NPROCESSORS_ONLN);
}

const char *evn_cluster_host(const evn_cluster *c, int rank) {
    NEED_OR("", c, "a cluster");
    if (rank >= 0 && rank < c->size) return c->hello ? c->hello[rank].host : "";
    evn_fail(EVN_USAGE, "cluster: the host of rank %d; there are ranks 0 to %d", rank, c->size - 1);
    return "";
}

/* ---- opened and closed ---- */

int evn_cluster_rank(const evn_cluster *c) {
    NEED_OR(-1, c, "a cluster");
    return c->rank;
}
int evn_cluster_size(const evn_cluster *c) {
    NEED_OR(0, c, "a cluster");
    return c->size;
}
evn_cluster_info evn_cluster_about(const evn_cluster *c) {
    NEED_OR((evn_cluster_info){0}, c, "a cluster");
    evn_cluster_info info = {.wire = c->kind ? c->kind->name : "alone",
                             .cores = c->share,
                             .restarts = c->kind ? wire_processes_restarts() : 0,
                             .failed = c->broken,
                             .stopping = c->stopping,
                             .units = c->first[c->size],
                             .first = c->first,
                             .speed = c->speed,
                             .kind = c->kind,
                             .ends = c->wire};
    parcels_sent(c, &info.messages, &info.message_bytes);
    return info;
}

int evn_cluster_launched(int *speaks) {
    if (speaks) *speaks = wire_plugin_first();
    return wire_plugin_detected() ? wire_plugin_rank() : -1;
}
void evn_cluster_stop_on(evn_cluster *c, const volatile int *flag) {
    NEED_OR(, c, "a cluster");
    NEED_OR(, flag, "a flag");
    c->host.stop = flag;
}

static void cluster_free(evn_cluster *c) {
    pthread_mutex_destroy(&c->lock);
    free(c->hello);
    free(c->first);
    free(c->speed);
    record_free(&c->said);
    record_free(&c->answer);
    record_free(&c->one);
    record_free(&c->failures);
    free(c->of);
    free(c);
}

/* Exchanges the ranks' facts. A failure ends the run, since the other ranks wait for this one. */
static evn_status introduce(evn_cluster *c) {
    const struct hello mine = hello();
    struct record all = {0};
    c->hello = malloc(sizeof *c->hello * (size_t)c->size);
    c->first = calloc((size_t)c->size + 1, sizeof *c->first);
    if (!c->hello || !c->first)
        return evn_fail(EVN_MEMORY, "cluster: no memory for %d ranks", c->size);
    c->hello[c->rank] = mine;
    if (!c->kind) return EVN_OK;
    evn_status status = tree_open(&c->tree, c->kind, c->wire, cluster_tag(c, CLUSTER_CONTROL));
    if (!status) status = record_add(&all, &mine, sizeof mine);
    if (!status) status = cluster_up(c, &all);
    if (!status) status = cluster_down(c, &all);
    if (!status && all.bytes != sizeof mine * (size_t)c->size)
        status = evn_fail(EVN_SYSTEM, "cluster: rank 0 knows of %zu bytes of %d ranks", all.bytes,
                          c->size);
    if (!status) memcpy(c->hello, all.data, all.bytes);
    record_free(&all);
    if (!status) status = cluster_carry_open(c);
    if (!status) c->host.crowded = cluster_is_crowded(c, NULL);
    for (int r = 0; !status && r < c->rank; r++)
        if (cluster_same_host(c, r, c->rank)) bind_be_silent();
    return status;
}

/* Closes the wire of another MPI, in which this process is alone: no other rank has to be ended. */
static evn_status leave_stranger(evn_cluster *c, evn_status status) {
    char why[1024];
    snprintf(why, sizeof why, "%s", evn_message());
    c->kind->close(c->wire);
    cluster_free(c);
    return evn_fail(status, "%s", why);
}

evn_status evn_cluster_open(evn_cluster **out, const char *how) {
    static const volatile int never;
    struct wire_choice choice;
    NEED_OUT(out);
    evn_status status = wire_choose(&choice, how ? how : "auto");
    if (status) return status;
    evn_cluster *c = calloc(1, sizeof *c);
    if (!c) return evn_fail(EVN_MEMORY, "cluster: not enough memory");
    pthread_mutex_init(&c->lock, NULL);
    c->size = 1;
    c->host = (evn_wire_host){evn_fail, &never, seems_crowded(choice.processes)};
    if (choice.kind)
        status = choice.kind->open(&c->wire, choice.processes, choice.options, &c->host);
    if (status) {
        cluster_free(c);
        return status;
    }
    c->kind = choice.kind;
    if (c->kind) {
        c->rank = c->kind->rank(c->wire);
        c->size = c->kind->size(c->wire);
    }
    if (choice.is_plugin) status = wire_plugin_check(c->kind, c->wire);
    if (status && c->size == 1) return leave_stranger(c, status);
    if (!status) status = introduce(c);
    if (status && c->kind) cluster_abort(c);
    if (status) {
        cluster_free(c);
        return status;
    }
    if (&decisions && c->size > 1) decisions.join(c->rank);
    *out = c;
    return EVN_OK;
}

void evn_cluster_close(evn_cluster *c, evn_status status) {
    if (!c) return;
    cluster_meet_to_close(c, status);
    cluster_carry_close(c);
    parcels_close(c);
    log_close(c);
    tree_close(c->tree);
    if (c->kind) c->kind->close(c->wire);
    cluster_free(c);
}
