/* Tasks come and go, each rank's by itself. First all is checked, on all ranks; then loops change,
 * and faces follow their tasks. */
#include "domain/inside.h"
#include "schedule/origins.h"
#include "schedule/problem.h"
#include "base/argument.h"
#include <evener/change.h>
#include <stdlib.h>
#include <string.h>

/* ---- the next tasks ------------------------------------------------------------------------ */

void next_close(struct next *n) {
    free(n->region);
    free(n->bytes);
    free(n->weight);
    free(n->seconds);
    free(n->origin);
    free(n->now);
    free(n->sum);
    free(n->gone);
    *n = (struct next){0};
}

evn_status next_open(const evn_distributed *d, struct next *next, int tasks) {
    const size_t n = (size_t)tasks + 1, k = (size_t)d->regions, before = (size_t)d->tasks + 1;
    *next = (struct next){.tasks = tasks,
                          .region = malloc(n * k * sizeof *next->region),
                          .bytes = calloc(n * k, sizeof *next->bytes),
                          .weight = malloc(n * sizeof *next->weight),
                          .seconds = calloc(n, sizeof *next->seconds),
                          .origin = malloc(n * sizeof *next->origin),
                          .now = malloc(before * sizeof *next->now),
                          .sum = calloc((size_t)d->size + 1, sizeof *next->sum),
                          .gone = malloc(before * k * sizeof *next->gone)};
    if (!next->region || !next->bytes || !next->weight || !next->seconds || !next->origin ||
        !next->now || !next->sum || !next->gone) {
        next_close(next);
        return evn_fail(EVN_MEMORY, "distributed: no memory for %d tasks", tasks);
    }
    for (size_t i = 0; i < n * k; i++) next->region[i] = -1;
    for (size_t t = 0; t < n; t++) next->origin[t] = (evn_rank_task){-1, -1};
    for (size_t t = 0; t < before; t++) next->now[t] = (evn_rank_task){-1, -1};
    return EVN_OK;
}

#define SWAP(type, a, b)                                                                           \
    do {                                                                                           \
        type swap_ = (a);                                                                          \
        (a) = (b);                                                                                 \
        (b) = swap_;                                                                               \
    } while (0)

/* The object's arrays become the next ones. */
static void swap_arrays(evn_distributed *d, struct next *next) {
    d->before = d->tasks;
    d->tasks = next->tasks;
    SWAP(int *, d->region, next->region);
    SWAP(size_t *, d->bytes, next->bytes);
    SWAP(double *, d->weight, next->weight);
    SWAP(double *, d->seconds, next->seconds);
    SWAP(evn_rank_task *, d->origin, next->origin);
    SWAP(evn_rank_task *, d->now, next->now);
    free(d->sum_before);
    d->sum_before = d->sum;
    d->sum = next->sum;
    next->sum = NULL;
    SWAP(int *, d->gone, next->gone);
    d->gones = next->gones;
    d->bears = d->loop != NULL;
}

static evn_status change_loop(evn_distributed *d, struct next *next, const evn_change *change) {
    if (!d->loop || !next->tasks) {
        distributed_close_loop(d);
        swap_arrays(d, next);
        return distributed_open_loop(d);
    }
    evn_change own = *change;
    own.region = next->region;
    own.weight = next->weight;
    own.links = -1;
    evn_status status = evn_loop_change(d->loop, &own);
    if (!status) swap_arrays(d, next);
    return status;
}

evn_status next_take(evn_distributed *d, struct next *next, const evn_change *change,
                     const char *what, evn_status mine) {
    if (!mine) mine = change_loop(d, next, change);
    /* faces are numbered as before where the loop could not change */
    mine = rank_faces_follow(d, d->now, mine);
    mine = rank_faces_connect(d, 0, mine);
    return distributed_done(d, what, mine);
}

/* ---- a change ------------------------------------------------------------------------------ */

static evn_status check(const evn_distributed *d, const evn_change *c) {
    if (c->tasks < 0)
        return evn_fail(EVN_USAGE, "distributed: a change to %d tasks, expected 0 or more",
                        c->tasks);
    if (c->region || c->bytes || c->state || c->family || (c->links != 0 && c->links != -1))
        return evn_fail(EVN_USAGE, "distributed: %s of a change is given, expected %s",
                        c->region   ? "region"
                        : c->bytes  ? "bytes"
                        : c->state  ? "state"
                        : c->family ? "family"
                                    : "links",
                        c->region || c->bytes || c->state || c->family ? "NULL" : "-1 or 0");
    if (c->tasks && !d->tasks)
        return evn_fail(EVN_USAGE,
                        "distributed: a change to %d tasks on rank %d, which has none; tasks are "
                        "born on ranks that have some, and evn_distributed_balance() brings them",
                        c->tasks, d->rank);
    if (c->instances < 0)
        return evn_fail(EVN_USAGE, "distributed: %d instances to come, expected 0 or more",
                        c->instances);
    return c->tasks ? problem_check_weights(c->weight, c->tasks) : EVN_OK;
}

/* The bytes of a region of task t. */
static evn_status size_region(const evn_distributed *d, const evn_change *c, int t, int i, int kept,
                              const size_t *bytes, size_t *size) {
    const size_t k = (size_t)d->regions, at = (size_t)i;
    const int origins = c->first ? c->first[t + 1] - c->first[t] : 0;
    if (!kept && !bytes && !origins)
        return evn_fail(EVN_USAGE,
                        "distributed: task %d is born of none, and the bytes of its regions are "
                        "not given",
                        t);
    *size = kept || !bytes ? d->bytes[(size_t)c->from[c->first[t]] * k + at]
                           : bytes[(size_t)t * k + at];
    return EVN_OK;
}

/* A born task's seconds are by weight those of its origins; without any, those of all tasks. */
static double guess(const evn_distributed *d, const evn_change *c, int t, double weight) {
    double seconds = 0, sum = 0;
    const int origins = c->first ? c->first[t + 1] - c->first[t] : 0;
    const int count = origins ? origins : d->tasks;
    for (int i = 0; i < count; i++) {
        const int from = origins ? c->from[c->first[t] + i] : i;
        seconds += d->seconds[from];
        sum += d->weight[from];
    }
    return sum > 0 ? seconds / sum * weight : seconds / count;
}

static evn_status fill_task(const evn_distributed *d, const struct origins *o, struct next *next,
                            int t, const size_t *bytes) {
    const evn_change *c = o->change;
    const int kept = origins_kept(o, t), from = o->heaviest[t];
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < d->regions; i++) {
        const size_t at = (size_t)t * (size_t)d->regions + (size_t)i;
        status = size_region(d, c, t, i, kept, bytes, &next->bytes[at]);
        if (!status && kept)
            next->region[at] = d->region[(size_t)from * (size_t)d->regions + (size_t)i];
    }
    if (kept) {
        next->now[from] = (evn_rank_task){d->rank, t};
        next->origin[t] = (evn_rank_task){d->rank, from};
        next->seconds[t] = d->seconds[from];
        if (next->weight[t] != d->weight[from] && d->weight[from] > 0)
            next->seconds[t] *= next->weight[t] / d->weight[from];
    } else {
        next->seconds[t] = guess(d, c, t, next->weight[t]);
    }
    return status;
}

/* Checks of this rank's change, and the next tasks without regions of born ones. */
static evn_status prepare(evn_distributed *d, const evn_change *c, const size_t *bytes,
                          struct next *next) {
    evn_status status = check(d, c);
    if (!status) status = next_open(d, next, c->tasks);
    if (status) return status;
    for (int t = 0; t < d->tasks; t++)
        for (int i = 0; i < d->regions; i++)
            next->gone[t * d->regions + i] = d->region[t * d->regions + i];
    next->gones = d->tasks * d->regions;
    if (!c->tasks) return EVN_OK;
    const evn_problem before = {.tasks = d->tasks, .weight = d->weight};
    struct origins o;
    status = origins_open(&o, &before, c, "distributed");
    if (status) return status;
    if (c->weight)
        memcpy(next->weight, c->weight, (size_t)c->tasks * sizeof *next->weight);
    else
        origins_mean(&o, d->weight, next->weight);
    for (int t = 0; !status && t < c->tasks; t++) status = fill_task(d, &o, next, t, bytes);
    for (int t = 0; t < d->tasks; t++)
        for (int i = 0; o.now[t] >= 0 && i < d->regions; i++) next->gone[t * d->regions + i] = -1;
    origins_close(&o);
    return status;
}

static evn_status find_sum(const evn_distributed *d, const char *what, struct next *next, int tasks,
                           evn_status mine) {
    int *all = malloc((size_t)d->size * sizeof *all);
    if (!mine && !all) mine = evn_fail(EVN_MEMORY, "distributed: no memory for %d ranks", d->size);
    mine = distributed_allgather(d, what, mine, &tasks, sizeof tasks, all);
    if (!mine) distributed_sum(d, all, next->sum);
    free(all);
    if (!mine && !next->sum[d->size])
        mine = evn_fail(EVN_USAGE, "distributed: no task is left on any rank");
    return mine;
}

/* Regions of born tasks: made, or made undone. */
static evn_status make_regions(const evn_distributed *d, const evn_change *c, struct next *next) {
    evn_status status = EVN_OK;
    for (int t = 0; !status && t < c->tasks; t++)
        for (int i = 0; !status && i < d->regions; i++) {
            const int at = t * d->regions + i;
            if ((!c->kept || !c->kept[t]) && next->bytes[at])
                status = evn_place_make(d->place, next->bytes[at], &next->region[at]);
        }
    return status;
}

static void unmake_regions(const evn_distributed *d, const evn_change *c, struct next *next) {
    for (int t = 0; next->region && t < c->tasks; t++)
        for (int i = 0; i < d->regions; i++)
            if ((!c->kept || !c->kept[t]) && next->region[t * d->regions + i] >= 0)
                evn_place_remove(d->place, next->region[t * d->regions + i]);
}

evn_status evn_distributed_change(evn_distributed *d, const evn_change *c, const size_t *bytes) {
    static const char *const what = "evn_distributed_change()";
    NEED(d, "distributed tasks");
    evn_status status = distributed_may(d, what);
    if (status) return status;
    if (!c) return distributed_agree(d, what, argument_missing(__func__, "a change"));
    struct next next = {0};
    status = prepare(d, c, bytes, &next);
    status = find_sum(d, what, &next, c->tasks, status);
    if (!status) {
        status = distributed_agree(d, what, make_regions(d, c, &next));
        if (status) unmake_regions(d, c, &next);
    }
    if (!status) {
        distributed_end_births(d);
        d->instances = c->instances;
        d->counts = c->instances > 0;
        status = next_take(d, &next, c, what, EVN_OK);
    }
    next_close(&next);
    return status;
}

/* ---- births -------------------------------------------------------------------------------- */

evn_status evn_distributed_bear(evn_distributed *d, evn_body body, void *arg) {
    static const char *const what = "evn_distributed_bear()";
    NEED(d, "distributed tasks");
    evn_status status = distributed_may(d, what);
    if (status) return status;
    if (!body) status = argument_missing(__func__, "a body");
    if (!status && d->loop && d->bears) status = evn_loop_bear(d->loop, body, arg, EVN_READ);
    status = distributed_agree(d, what, status);
    if (!status) distributed_end_births(d);
    return status;
}

/* ---- numbers of now ------------------------------------------------------------------------ */

/* A question, and its answer. */
struct question {
    int asker, index;
    evn_rank_task task;
};

static evn_status check_asked(const evn_distributed *d, int count, const evn_rank_task *task) {
    if (!d->now)
        return evn_fail(EVN_USAGE, "distributed: numbers of before, and nothing has changed yet");
    if (count < 0 || (count && !task))
        return evn_fail(EVN_USAGE, "distributed: the numbers of %d tasks%s", count,
                        count < 0 ? ", expected 0 or more" : ", which are not given (NULL)");
    for (int i = 0; i < count; i++) {
        const int r = task[i].rank;
        if (r < 0 || r >= d->size)
            return evn_fail(EVN_USAGE, "distributed: a task of rank %d; there are ranks 0 to %d", r,
                            d->size - 1);
        const long long tasks = d->sum_before[r + 1] - d->sum_before[r];
        if (task[i].number < 0 || task[i].number >= tasks)
            return evn_fail(EVN_USAGE,
                            "distributed: task %d of before of rank %d, which had %lld tasks",
                            task[i].number, r, tasks);
    }
    return EVN_OK;
}

static evn_status answer(const evn_distributed *d, const struct record *asked,
                         struct record *answers) {
    evn_status status = EVN_OK;
    const struct packet *l;
    for (size_t at = 0; !status && (l = packets_next(asked, &at));) {
        struct question q;
        memcpy(&q, l + 1, sizeof q);
        q.task = d->now[q.task.number];
        status = packets_add(answers, d->rank, l->from, &q, sizeof q);
    }
    return status;
}

evn_status evn_distributed_now(evn_distributed *d, int count, evn_rank_task *task) {
    static const char *const what = "evn_distributed_now()";
    NEED(d, "distributed tasks");
    evn_status status = distributed_may(d, what);
    if (status) return status;
    status = distributed_agree(d, what, check_asked(d, count, task));
    if (status) return status;
    struct record asked = {0}, answers = {0};
    for (int i = 0; !status && i < count; i++) {
        const struct question q = {d->rank, i, task[i]};
        status = packets_add(&asked, d->rank, task[i].rank, &q, sizeof q);
    }
    status = packets_route(d, &asked, status);
    if (!status) status = answer(d, &asked, &answers);
    status = packets_route(d, &answers, status);
    status = distributed_agree(d, what, status);
    const struct packet *l;
    for (size_t at = 0; !status && (l = packets_next(&answers, &at));) {
        struct question q;
        memcpy(&q, l + 1, sizeof q);
        task[q.index] = q.task;
    }
    record_free(&asked);
    record_free(&answers);
    return status;
}
