/* Collective records: one message up the tree from each rank, one down to all. */
#include "cluster/collective_record.h"
#include "cluster/agree.h"
#include "cluster/cluster.h"
#include "cluster/inside.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Head of a rank's record on its way up; its error message and its data follow. */
struct up {
    char what[40];
    int32_t status, stop;
    uint64_t text, bytes;
};

/* Head of the answer on its way down; the failure (agree.h), or the data, follow. */
struct down {
    int32_t failed, stop, over;
};

void cluster_fail(evn_cluster *c, evn_status status) {
    if (!status || c->failed) return;
    c->failed = status;
    snprintf(c->failure, sizeof c->failure, "%s", evn_message());
}

evn_status cluster_failed(const evn_cluster *c) {
    return c->failed ? evn_fail(c->failed, "%s", c->failure) : EVN_OK;
}

/* ---- memory -------------------------------------------------------------------------------- */

static evn_status open_of(evn_cluster *c) {
    if (!c->of) c->of = calloc((size_t)c->size, sizeof *c->of);
    return c->of ? EVN_OK : evn_fail(EVN_MEMORY, "cluster: no memory for %d ranks", c->size);
}

/* Number of ranks whose records come through this one, itself included. */
static int ranks_behind(const evn_cluster *c) {
    const int step = c->rank ? c->rank & -c->rank : c->size, left = c->size - c->rank;
    return step < left ? step : left;
}

evn_status cluster_reserve(evn_cluster *c, size_t up, size_t down) {
    if (!c->kind) return EVN_OK;
    const size_t each = sizeof(struct up) + sizeof c->failure + up;
    const size_t all = each * (size_t)ranks_behind(c), failures = agree_most(c->size);
    const size_t answer = sizeof(struct down) + (down > failures ? down : failures);
    evn_status status = record_reserve(&c->said, all);
    if (!status) status = tree_reserve(c->tree, all);
    if (!status) status = record_reserve(&c->answer, answer);
    if (status || c->rank) return status;
    status = open_of(c);
    if (!status) status = record_reserve(&c->one, agree_most(1));
    return status ? status : record_reserve(&c->failures, failures);
}

/* ---- up ------------------------------------------------------------------------------------ */

static evn_status say(evn_cluster *c, evn_status mine, const struct meeting *m,
                      struct record *out) {
    const char *text = !mine ? "" : *evn_message() ? evn_message() : evn_status_text(mine);
    struct up up = {.status = mine,
                    .stop = c->host.stop && *c->host.stop,
                    .text = strlen(text) + 1,
                    .bytes = mine ? 0 : m->up_bytes};
    snprintf(up.what, sizeof up.what, "%s", m->what);
    evn_status status = record_add(out, &up, sizeof up);
    if (!status) status = record_add(out, text, up.text);
    return status || !up.bytes ? status : record_add(out, m->up, up.bytes);
}

/* ---- rank 0 -------------------------------------------------------------------------------- */

/* Reads a rank's record in place; returns the beginning of the next one. */
static const unsigned char *hear(const unsigned char *p, struct up *up, const char **text,
                                 struct cluster_record *data) {
    memcpy(up, p, sizeof *up);
    *text = (const char *)p + sizeof *up;
    *data = (struct cluster_record){p + sizeof *up + up->text, up->bytes};
    return p + sizeof *up + up->text + up->bytes;
}

static int is_close(const char *what) { return !strcmp(what, MEET_TO_CLOSE); }

/* Adds a rank's failure to those of other ranks. */
static evn_status add_failure(evn_cluster *c, int rank, evn_status theirs, const char *text) {
    evn_status status = agree_record(&c->one, rank, theirs, text);
    return status ? status : agree_join(&c->failures, c->one.data, c->one.bytes);
}

/* Fails if ranks are in another collective call than this one, unless they failed before. */
static evn_status compare_all(evn_cluster *c, const struct meeting *m) {
    const unsigned char *p = c->said.data;
    evn_status status = EVN_OK;
    for (int r = 0; !status && r < c->size; r++) {
        struct up up;
        const char *text;
        struct cluster_record data;
        p = hear(p, &up, &text, &data);
        if (!strcmp(up.what, m->what)) continue;
        evn_fail(EVN_USAGE,
                 "it is in %s and rank 0 in %s; all ranks make the same calls in the same order",
                 up.what, m->what);
        status = add_failure(c, r, EVN_USAGE, evn_message());
    }
    return status;
}

/* Reads all ranks' records, and reduces the failures to one. */
static evn_status hear_all(evn_cluster *c, const struct meeting *m, struct down *down) {
    const unsigned char *p = c->said.data;
    evn_status status = EVN_OK;
    down->over = 1;
    for (int r = 0; !status && r < c->size; r++) {
        struct up up;
        const char *text;
        p = hear(p, &up, &text, &c->of[r]);
        down->stop |= up.stop;
        down->over &= is_close(up.what);
        if (up.status) status = add_failure(c, r, (evn_status)up.status, text);
    }
    return status || c->failures.bytes ? status : compare_all(c, m);
}

/* Makes rank 0's answer to all ranks' records. */
static evn_status answer(evn_cluster *c, const struct meeting *m) {
    struct record *failures = &c->failures;
    struct down down = {0};
    const void *data = NULL;
    size_t bytes = 0;
    failures->bytes = 0;
    evn_status status = open_of(c);
    if (!status) status = hear_all(c, m, &down);
    if (!status && !failures->bytes && m->decide) {
        const evn_status decided = m->decide(m->arg, c->of, &data, &bytes);
        if (decided) status = agree_record(failures, 0, decided, evn_message());
    }
    down.failed = failures->bytes != 0;
    if (!status) status = record_add(&c->answer, &down, sizeof down);
    if (!status && down.failed) status = record_add(&c->answer, failures->data, failures->bytes);
    if (!status && !down.failed && bytes) status = record_add(&c->answer, data, bytes);
    return status;
}

/* ---- down ---------------------------------------------------------------------------------- */

static const char *host_of(const void *cluster, int rank) {
    return evn_cluster_host(cluster, rank);
}

/* Takes over rank 0's answer. */
static evn_status take(evn_cluster *c, struct meeting *m, int *over) {
    struct record *r = &c->answer;
    struct down down;
    memcpy(&down, r->data, sizeof down);
    c->stopping = down.stop;
    *over = down.over;
    m->down = r->data + sizeof down;
    m->down_bytes = r->bytes - sizeof down;
    if (!down.failed) return EVN_OK;
    char text[1024 + 256];
    /* a view of the record's rest, which is not freed */
    const struct record failures = {.data = r->data + sizeof down, .bytes = m->down_bytes};
    evn_status status = agree_read(&failures, c->size, text, sizeof text, host_of, c);
    return status ? evn_fail(status, "%s", text) : EVN_OK;
}

/* *over: 1 if all ranks close their clusters, or if some cannot be reached any more, so that nobody
 * has to wait. */
static evn_status meet(evn_cluster *c, evn_status mine, struct meeting *m, int *over) {
    if (c->failed) mine = cluster_failed(c);
    c->failed = EVN_OK;
    c->said.bytes = c->answer.bytes = 0;
    evn_status status = say(c, mine, m, &c->said);
    if (status) cluster_abort(c); /* the others wait for a record that cannot be sent */
    *over = 1;
    status = cluster_up(c, &c->said);
    if (!status && !c->rank && answer(c, m)) cluster_abort(c);
    if (!status) status = cluster_down(c, &c->answer);
    return status ? status : take(c, m, over);
}

/* The collective call of a cluster of one rank. */
static evn_status alone(evn_cluster *c, evn_status mine, struct meeting *m) {
    const struct cluster_record own = {m->up, m->up_bytes};
    if (c->failed && !mine) mine = cluster_failed(c);
    c->failed = EVN_OK;
    c->stopping = c->host.stop && *c->host.stop;
    if (mine || !m->decide) return mine;
    return m->decide(m->arg, &own, &m->down, &m->down_bytes);
}

evn_status cluster_meet(evn_cluster *c, evn_status mine, struct meeting *m) {
    int over;
    const evn_status status = c->kind ? meet(c, mine, m, &over) : alone(c, mine, m);
    c->broken = status != EVN_OK;
    return status;
}

evn_status cluster_agree(evn_cluster *c, const char *what, evn_status mine) {
    return cluster_meet(c, mine, &(struct meeting){.what = what});
}

/* ---- records of all ------------------------------------------------------------------------ */

struct roll {
    int ranks;
    struct record all;
};

static evn_status call_roll(void *arg, const struct cluster_record *of, const void **down,
                            size_t *bytes) {
    struct roll *roll = arg;
    evn_status status = EVN_OK;
    for (int r = 0; !status && r < roll->ranks; r++)
        status = record_add(&roll->all, of[r].data, of[r].bytes);
    *down = roll->all.data;
    *bytes = roll->all.bytes;
    return status;
}

evn_status cluster_allgatherv(evn_cluster *c, evn_status mine, struct meeting *m) {
    struct roll roll = {.ranks = c->size};
    if (c->kind) m->decide = call_roll;
    m->arg = &roll;
    const evn_status status = cluster_meet(c, mine, m);
    record_free(&roll.all);
    if (c->kind) return status;
    m->down = m->up;
    m->down_bytes = m->up_bytes;
    return status;
}

evn_status cluster_allgather(evn_cluster *c, const char *what, evn_status mine, const void *own,
                             size_t bytes, void *all) {
    struct meeting m = {.what = what, .up = own, .up_bytes = bytes};
    const evn_status status = cluster_allgatherv(c, mine, &m);
    if (!status) memcpy(all, m.down, bytes * (size_t)c->size);
    return status;
}

/* ---- records that are alike ---------------------------------------------------------------- */

evn_status cluster_compare(const evn_cluster *c, const struct cluster_record *of, size_t bytes,
                           cluster_differ *differ, const void *arg) {
    _Alignas(16) char first[CLUSTER_COMPARED], theirs[CLUSTER_COMPARED]; /* of[] is not aligned */
    evn_status status = EVN_OK;
    memcpy(first, of[0].data, bytes);
    for (int r = 1; !status && r < c->size; r++) {
        memcpy(theirs, of[r].data, bytes);
        status = differ(arg, r, theirs, first);
    }
    return status;
}

struct comparison {
    const evn_cluster *cluster;
    cluster_differ *differ;
    const void *arg;
};

static evn_status compare(void *arg, const struct cluster_record *of, const void **down,
                          size_t *bytes) {
    const struct comparison *x = arg;
    (void)down, (void)bytes;
    return cluster_compare(x->cluster, of, of[0].bytes, x->differ, x->arg);
}

evn_status cluster_meet_alike(evn_cluster *c, const char *what, evn_status mine, const void *own,
                              size_t bytes, cluster_differ *differ, const void *arg) {
    struct comparison x = {c, differ, arg};
    struct meeting m = {.what = what, .up = own, .up_bytes = bytes, .decide = compare, .arg = &x};
    return cluster_meet(c, mine, &m);
}

/* ---- the last one -------------------------------------------------------------------------- */

/* Takes part in collective calls until all ranks close their clusters: other kinds of calls
 * fail. */
void cluster_meet_to_close(evn_cluster *c, evn_status status) {
    int over = !c->kind;
    while (!over) {
        struct meeting m = {.what = MEET_TO_CLOSE};
        meet(c, status, &m, &over);
    }
}
