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

/* A failure joins those there are. */
static evn_status add_failure(struct record *failures, int rank, evn_status theirs,
                              const char *text) {
    struct record one = {0};
    evn_status status = agree_record(&one, rank, theirs, text);
    if (!status) status = agree_join(failures, one.data, one.bytes, NULL);
    record_free(&one);
    return status;
}

/* Finds ranks that are in another collective call than this one, where no failure explains it. */
static evn_status compare_all(const evn_cluster *c, const struct record *all,
                              const struct meeting *m, struct record *failures) {
    const unsigned char *p = all->data;
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
        status = add_failure(failures, r, EVN_USAGE, evn_message());
    }
    return status;
}

/* All that the ranks have said: what each gave, and the failures made one. */
static evn_status hear_all(const evn_cluster *c, const struct record *all, const struct meeting *m,
                           struct cluster_record *of, struct record *failures, struct down *down) {
    const unsigned char *p = all->data;
    evn_status status = EVN_OK;
    down->over = 1;
    for (int r = 0; !status && r < c->size; r++) {
        struct up up;
        const char *text;
        p = hear(p, &up, &text, &of[r]);
        down->stop |= up.stop;
        down->over &= is_close(up.what);
        if (up.status) status = add_failure(failures, r, (evn_status)up.status, text);
    }
    return status || failures->bytes ? status : compare_all(c, all, m, failures);
}

/* Rank 0's answer to what the ranks have said. */
static evn_status answer(evn_cluster *c, const struct meeting *m) {
    struct cluster_record *of = calloc((size_t)c->size, sizeof *of);
    struct record failures = {0};
    struct down down = {0};
    const void *data = NULL;
    size_t bytes = 0;
    evn_status status = of ? hear_all(c, &c->said, m, of, &failures, &down)
                           : evn_fail(EVN_MEMORY, "cluster: no memory for %d ranks", c->size);
    if (!status && !failures.bytes && m->decide) {
        const evn_status decided = m->decide(m->arg, of, &data, &bytes);
        if (decided) status = agree_record(&failures, 0, decided, evn_message());
    }
    down.failed = failures.bytes != 0;
    if (!status) status = record_add(&c->answer, &down, sizeof down);
    if (!status && down.failed) status = record_add(&c->answer, failures.data, failures.bytes);
    if (!status && !down.failed && bytes) status = record_add(&c->answer, data, bytes);
    record_free(&failures);
    free(of);
    return status;
}

/* ---- down ---------------------------------------------------------------------------------- */

static const char *host_of(const void *cluster, int rank) {
    return evn_cluster_host(cluster, rank);
}

/* Takes over the answer that has come down. */
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
    /* a view of what follows, which is not freed */
    const struct record failures = {.data = r->data + sizeof down, .bytes = m->down_bytes};
    evn_status status = agree_read(&failures, c->size, text, sizeof text, host_of, c);
    return status ? evn_fail(status, "%s", text) : EVN_OK;
}

/* *over: all close their clusters; or, since some cannot be heard any more, nobody waits. */
static evn_status meet(evn_cluster *c, evn_status mine, struct meeting *m, int *over) {
    if (c->failed) mine = cluster_failed(c);
    c->failed = EVN_OK;
    c->said.bytes = c->answer.bytes = 0;
    evn_status status = say(c, mine, m, &c->said);
    if (status) cluster_abort(c); /* the others wait for what cannot be said */
    *over = 1;
    status = cluster_up(c, &c->said);
    if (!status && !c->rank && answer(c, m)) cluster_abort(c);
    if (!status) status = cluster_down(c, &c->answer);
    return status ? status : take(c, m, over);
}

/* A cluster of one rank meets itself. */
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

/* Until all are here: others may be in a meeting of another kind, which fails then. */
void cluster_meet_to_close(evn_cluster *c, evn_status status) {
    int over = !c->kind;
    while (!over) {
        struct meeting m = {.what = MEET_TO_CLOSE};
        meet(c, status, &m, &over);
    }
}
