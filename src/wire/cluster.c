/* Clusters: opened over a wire or alone, who is where, and what all ranks say together. */
#include "wire/cluster.h"
#include "wire/agree.h"
#include "wire/kinds.h"
#include "wire/plugin_none.h"
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What every rank tells of itself when it comes. */
struct hello {
    char host[64], boot[40];
    cpu_set_t cores; /* where it may run */
};

struct evn_cluster {
    const evn_wire_kind *kind; /* NULL: alone */
    evn_wire *wire;
    evn_wire_host host;
    struct tree *tree;
    int rank, size;
    pthread_mutex_t lock;
    struct hello *hello; /* of all ranks */
    int next_tag[CLUSTER_USES];
    /* evn_cluster_units() */
    int *first; /* [size + 1] */
    double *speed;
};

/* ---- the wire, for loops and exchanges ---- */

const evn_wire_kind *cluster_kind(const evn_cluster *c) { return c->kind; }
evn_wire *cluster_wire(const evn_cluster *c) { return c->wire; }
struct tree *cluster_tree(const evn_cluster *c) {
    return c->tree;
}
void cluster_lock(evn_cluster *c) { pthread_mutex_lock(&c->lock); }
void cluster_unlock(evn_cluster *c) { pthread_mutex_unlock(&c->lock); }

const evn_wire_kind *evn_cluster_wire_of(evn_cluster *c, evn_wire **wire) {
    *wire = c->wire;
    return c->kind;
}

_Noreturn void cluster_abort(evn_cluster *c) {
    const char *host = evn_cluster_host(c, c->rank);
    fprintf(stderr, "evener: rank %d%s%s: %s\n", c->rank, *host ? " on " : "", host, evn_message());
    fflush(NULL);
    c->kind->abort(c->wire, 3);
    _exit(3);
}

/* Ranks that do not agree about a record cannot agree about its failure either. */
static evn_status kept(evn_cluster *c, evn_status status) {
    if (status && status != EVN_STOPPED) cluster_abort(c);
    return status;
}

evn_status cluster_up(evn_cluster *c, struct record *mine, tree_join join, void *arg) {
    if (!c->kind) return EVN_OK;
    cluster_lock(c);
    evn_status status = tree_up(c->tree, mine, join, arg);
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

evn_status cluster_mail_open(evn_cluster *c, evn_mail **mail, int peer, int tag, int out,
                             size_t max) {
    cluster_lock(c);
    evn_status status = c->kind->mail_open(mail, c->wire, peer, tag, out, max);
    cluster_unlock(c);
    return status;
}

void cluster_mail_close(evn_cluster *c, evn_mail *mail) {
    if (!mail) return;
    cluster_lock(c);
    c->kind->mail_close(mail);
    cluster_unlock(c);
}

int cluster_tag(evn_cluster *c, enum cluster_use use) {
    static const int first[CLUSTER_USES + 1] = {0, 16, 1024, 32000, EVN_WIRE_TAG_MAX + 1};
    return first[use] + c->next_tag[use]++ % (first[use + 1] - first[use]);
}

void cluster_poll(evn_cluster *c) {
    if (!c->kind || !c->kind->poll || pthread_mutex_trylock(&c->lock)) return;
    c->kind->poll(c->wire);
    cluster_unlock(c);
}

/* ---- what all say together ---- */

static const char *host_of(const void *cluster, int rank) {
    return evn_cluster_host(cluster, rank);
}

evn_status evn_cluster_agree(evn_cluster *c, evn_status mine) {
    if (!c->kind) return mine;
    struct record record = {0};
    char text[1024 + 256];
    const char *own = *evn_message() ? evn_message() : evn_status_text(mine);
    evn_status status = kept(c, agree_record(&record, c->rank, mine, own));
    if (!status) status = cluster_up(c, &record, agree_join, NULL);
    if (!status) status = cluster_down(c, &record);
    if (!status) {
        status = agree_read(&record, c->size, text, sizeof text, host_of, c);
        if (status) evn_fail(status, "%s", text);
    }
    record_free(&record);
    return status;
}

evn_status evn_cluster_tell(evn_cluster *c, void *data, size_t bytes) {
    if (!c->kind) return EVN_OK;
    struct record record = {0};
    evn_status status = EVN_OK;
    if (c->rank == 0) status = kept(c, record_add(&record, data, bytes));
    if (!status) status = cluster_down(c, &record);
    if (!status) {
        evn_status own = EVN_OK;
        if (record.bytes != bytes)
            own = evn_fail(EVN_USAGE, "cluster: rank 0 tells %zu bytes, and %zu are expected",
                           record.bytes, bytes);
        else if (c->rank && bytes)
            memcpy(data, record.data, bytes);
        status = evn_cluster_agree(c, own);
    }
    record_free(&record);
    return status;
}

/* Everybody's bytes behind each other, their number in front of each. */
static evn_status take_apart(const evn_cluster *c, const struct record *record, size_t bytes,
                             void *all) {
    const unsigned char *p = record->data;
    if (!all && bytes) return evn_fail(EVN_USAGE, "cluster: rank 0 gathers to nowhere");
    for (int r = 0; r < c->size; r++) {
        uint64_t theirs;
        memcpy(&theirs, p, sizeof theirs);
        p += sizeof theirs;
        if (theirs != bytes)
            return evn_fail(EVN_USAGE, "cluster: rank %d gives %zu bytes, and rank 0 gathers %zu",
                            r, (size_t)theirs, bytes);
        if (bytes) memcpy((unsigned char *)all + bytes * (size_t)r, p, bytes);
        p += bytes;
    }
    return EVN_OK;
}

evn_status evn_cluster_gather(evn_cluster *c, const void *mine, size_t bytes, void *all) {
    if (!c->kind) {
        if (!all && bytes) return evn_fail(EVN_USAGE, "cluster: rank 0 gathers to nowhere");
        if (bytes) memmove(all, mine, bytes);
        return EVN_OK;
    }
    const uint64_t number = bytes;
    struct record record = {0};
    evn_status status = kept(c, record_add(&record, &number, sizeof number));
    if (!status) status = kept(c, record_add(&record, mine, bytes));
    if (!status) status = cluster_up(c, &record, NULL, NULL);
    if (!status)
        status = evn_cluster_agree(c, c->rank ? EVN_OK : take_apart(c, &record, bytes, all));
    record_free(&record);
    return status;
}

/* ---- hosts and cores ---- */

static struct hello hello(void) {
    struct hello h;
    memset(&h, 0, sizeof h);
    if (gethostname(h.host, sizeof h.host - 1) || !*h.host) strcpy(h.host, "localhost");
    /* two hosts may have one name: containers */
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (f && !fgets(h.boot, sizeof h.boot, f)) *h.boot = 0;
    if (f) fclose(f);
    sched_getaffinity(0, sizeof h.cores, &h.cores);
    return h;
}

int cluster_same_host(const evn_cluster *c, int rank, int other) {
    return !strcmp(c->hello[rank].host, c->hello[other].host) &&
           !strcmp(c->hello[rank].boot, c->hello[other].boot);
}

/* Whether the ranks of this host have more threads, threads[rank], than cores. */
static int is_crowded(const evn_cluster *c, const int *threads) {
    cpu_set_t cores = c->hello[c->rank].cores;
    int here = 0;
    for (int r = 0; r < c->size; r++)
        if (cluster_same_host(c, r, c->rank)) {
            CPU_OR(&cores, &cores, &c->hello[r].cores);
            here += threads ? threads[r] : 1;
        }
    return here > CPU_COUNT(&cores);
}

/* Before ranks have told each other: by what is known of this host. */
static int seems_crowded(int processes) {
    cpu_set_t cores;
    const char *local = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    if (!local) local = getenv("MPI_LOCALNRANKS");
    if (processes)
        return !sched_getaffinity(0, sizeof cores, &cores) && processes > CPU_COUNT(&cores);
    return local && atol(local) > sysconf(_SC_NPROCESSORS_ONLN);
}

const char *evn_cluster_host(const evn_cluster *c, int rank) {
    return rank >= 0 && rank < c->size && c->hello ? c->hello[rank].host : "";
}

/* ---- units ---- */

/* What a rank tells of its units; their speeds follow. */
struct told {
    int32_t units, cores;
};

static evn_status own_units(struct record *out, const evn_units *mine, const double *speed) {
    struct told told = {.units = evn_units_count(mine)};
    for (int u = 0; u < told.units; u++) told.cores += evn_unit_cores(evn_units_get(mine, u));
    evn_status status = record_add(out, &told, sizeof told);
    for (int u = 0; !status && u < told.units; u++) {
        const double s = speed ? speed[u] : evn_unit_cores(evn_units_get(mine, u));
        if (!(s > 0 && s <= 1e300))
            return evn_fail(EVN_USAGE, "cluster: the speed of unit %d is %g, not above 0", u, s);
        status = record_add(out, &s, sizeof s);
    }
    return status;
}

/* Counts, or with `first` fills in, what is in the record. */
static int read_units(const evn_cluster *c, const struct record *all, int *first, int *cores,
                      double *speed) {
    const unsigned char *p = all->data;
    int units = 0;
    for (int r = 0; r < c->size; r++) {
        struct told told;
        memcpy(&told, p, sizeof told);
        p += sizeof told;
        if (first) {
            first[r] = units;
            cores[r] = told.cores;
            memcpy(speed + units, p, sizeof *speed * (size_t)told.units);
        }
        p += sizeof *speed * (size_t)told.units;
        units += told.units;
    }
    if (first) first[c->size] = units;
    return units;
}

static evn_status keep_units(evn_cluster *c, const struct record *all) {
    const int units = read_units(c, all, NULL, NULL, NULL);
    int *first = malloc(sizeof *first * ((size_t)c->size + 1));
    int *cores = malloc(sizeof *cores * (size_t)c->size);
    double *speed = malloc(sizeof *speed * (size_t)units);
    if (!first || !cores || !speed) {
        free(first);
        free(cores);
        free(speed);
        return evn_fail(EVN_MEMORY, "cluster: no memory for %d units of %d ranks", units, c->size);
    }
    read_units(c, all, first, cores, speed);
    c->host.crowded = is_crowded(c, cores);
    free(cores);
    free(c->first);
    free(c->speed);
    c->first = first;
    c->speed = speed;
    return EVN_OK;
}

evn_status evn_cluster_units(evn_cluster *c, const evn_units *mine, const double *speed) {
    struct record record = {0};
    evn_status status = evn_cluster_agree(c, own_units(&record, mine, speed));
    if (!status) status = cluster_up(c, &record, NULL, NULL);
    if (!status) status = cluster_down(c, &record);
    if (!status) status = evn_cluster_agree(c, keep_units(c, &record));
    record_free(&record);
    return status;
}

int evn_cluster_unit_count(const evn_cluster *c) { return c->first ? c->first[c->size] : 0; }
const double *evn_cluster_speeds(const evn_cluster *c) { return c->speed; }

int evn_cluster_first_unit(const evn_cluster *c, int rank) {
    return c->first && rank >= 0 && rank < c->size ? c->first[rank] : -1;
}

int evn_cluster_rank_of(const evn_cluster *c, int unit) {
    if (unit < 0 || unit >= evn_cluster_unit_count(c)) return -1;
    int rank = 0;
    while (unit >= c->first[rank + 1]) rank++;
    return rank;
}

/* ---- opened and closed ---- */

int evn_cluster_rank(const evn_cluster *c) { return c->rank; }
int evn_cluster_size(const evn_cluster *c) { return c->size; }
const char *evn_cluster_wire(const evn_cluster *c) { return c->kind ? c->kind->name : "alone"; }

void evn_cluster_stop_on(evn_cluster *c, const volatile int *flag) { c->host.stop = flag; }

static void cluster_free(evn_cluster *c) {
    pthread_mutex_destroy(&c->lock);
    free(c->hello);
    free(c->first);
    free(c->speed);
    free(c);
}

/* Once the wire is there all ranks are; who cannot go on ends the run. */
static evn_status introduce(evn_cluster *c) {
    const struct hello mine = hello();
    struct record all = {0};
    c->hello = malloc(sizeof *c->hello * (size_t)c->size);
    if (!c->hello) return evn_fail(EVN_MEMORY, "cluster: no memory for %d ranks", c->size);
    c->hello[c->rank] = mine;
    if (!c->kind) return EVN_OK;
    evn_status status = tree_open(&c->tree, c->kind, c->wire, cluster_tag(c, CLUSTER_CONTROL));
    if (!status) status = record_add(&all, &mine, sizeof mine);
    if (!status) status = cluster_up(c, &all, NULL, NULL);
    if (!status) status = cluster_down(c, &all);
    if (!status && all.bytes != sizeof mine * (size_t)c->size)
        status = evn_fail(EVN_SYSTEM, "cluster: rank 0 knows of %zu bytes of %d ranks", all.bytes,
                          c->size);
    if (!status) memcpy(c->hello, all.data, all.bytes);
    record_free(&all);
    if (!status) c->host.crowded = is_crowded(c, NULL);
    return status;
}

evn_status evn_cluster_open(evn_cluster **out, const char *how) {
    static const volatile int never;
    struct wire_choice choice;
    *out = NULL;
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
    if (choice.is_plugin) {
        status = wire_plugin_check(c->kind, c->wire);
        /* ranks do not know of each other: the first says it and ends all, or else another does */
        if (status && wire_plugin_rank() > 0) sleep(1);
    }
    if (!status) status = introduce(c);
    if (status && c->kind) cluster_abort(c);
    if (status)
        cluster_free(c);
    else
        *out = c;
    return status;
}

void evn_cluster_close(evn_cluster *c, evn_status status) {
    (void)status; /* a wire is closed in the same way after a failure that all know of */
    if (!c) return;
    tree_close(c->tree);
    if (c->kind) c->kind->close(c->wire);
    cluster_free(c);
}
