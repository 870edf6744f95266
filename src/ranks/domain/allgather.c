/* A value of each task from the rank that has the task to all ranks: a rank's own values go up in
 * one record, each behind its task's number, and those of all tasks come down in one. */
#include "base/argument.h"
#include "cluster/collective_record.h"
#include "loop/internal.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct values {
    const evn_loop *loop;
    char *value; /* values of all tasks */
    size_t bytes;
};

static char *value_of(const struct values *v, int task) {
    return v->value + (size_t)task * v->bytes;
}

/* Rank 0 takes the values of all ranks. */
static evn_status take(void *arg, const struct cluster_record *of, const void **down,
                       size_t *bytes) {
    const struct values *v = arg;
    for (int r = 0; r < evn_cluster_size(v->loop->cluster); r++) {
        const char *at = of[r].data, *const end = at + of[r].bytes;
        size_t theirs;
        memcpy(&theirs, at, sizeof theirs);
        if (theirs != v->bytes)
            return evn_fail(EVN_USAGE,
                            "loop: evn_loop_allgather() with values of %zu bytes on rank 0 and of "
                            "%zu on rank %d",
                            v->bytes, theirs, r);
        for (at += sizeof theirs; v->bytes && at < end; at += sizeof(int) + v->bytes) {
            int task;
            memcpy(&task, at, sizeof task);
            memmove(value_of(v, task), at + sizeof task, v->bytes);
        }
    }
    *down = v->value;
    *bytes = (size_t)v->loop->problem->tasks * v->bytes;
    return EVN_OK;
}

/* This rank's record: the size of a value, then its own tasks and their values. */
static evn_status list_own(const struct values *v, char **record, size_t *bytes) {
    const int n = v->loop->problem->tasks;
    char *at = *record = malloc(sizeof v->bytes + (size_t)n * (sizeof(int) + v->bytes));
    if (!at) return evn_fail(EVN_MEMORY, "loop: no memory for values of %d tasks", n);
    memcpy(at, &v->bytes, sizeof v->bytes);
    at += sizeof v->bytes;
    for (int t = 0; v->bytes && t < n; t++) {
        if (!evn_loop_has(v->loop, t)) continue;
        memcpy(at, &t, sizeof t);
        memcpy(at + sizeof t, value_of(v, t), v->bytes);
        at += sizeof t + v->bytes;
    }
    *bytes = (size_t)(at - *record);
    return EVN_OK;
}

evn_status evn_loop_allgather(evn_loop *loop, void *value, size_t bytes) {
    static const char *const what = "evn_loop_allgather()";
    NEED(loop, "a loop");
    struct values v = {loop, value, bytes};
    struct meeting m = {.what = what, .decide = take, .arg = &v};
    char *record = NULL;
    evn_status status = loop_may_begin(loop, what);
    if (status) return status;
    if (!value && bytes)
        status = evn_fail(EVN_USAGE, "loop: %s with values of %zu bytes at NULL", what, bytes);
    const size_t most = SIZE_MAX / 2 / (size_t)loop->problem->tasks - sizeof(int);
    if (!status && bytes > most)
        status = evn_fail(EVN_USAGE,
                          "loop: %s with values of %zu bytes of %d tasks, expected at most %zu",
                          what, bytes, loop->problem->tasks, most);
    if (!loop->cluster) return status;
    if (!status) status = list_own(&v, &record, &m.up_bytes);
    m.up = record;
    status = cluster_meet(loop->cluster, status, &m);
    if (!status && evn_cluster_rank(loop->cluster) && m.down_bytes)
        memcpy(value, m.down, m.down_bytes);
    free(record);
    return status;
}
