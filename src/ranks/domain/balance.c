/* Balance between ranks: boundaries between consecutive tasks move to where sums of measured work
 * are in proportion to the ranks' strength. Each rank finds by its own prefix sums where its tasks
 * go; tasks then travel from rank to rank, with regions, times and faces. */
#include "domain/inside.h"
#include "base/argument.h"
#include <evener/clock.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const what = "evn_distributed_balance()";

/* A saving below this part of a run is not worth a move. */
#define LEAST 0.02

/* ---- where tasks go ------------------------------------------------------------------------ */

/* A rank's part of the decision. */
struct load {
    double work, strength; /* seconds times speed; sum of the speeds */
};
struct outcome {
    double work, leaving; /* work after the moves; bytes of regions that leave, or come, whichever
                             are more */
    double per_byte;
    int tasks;
};

/* Announcement of the tasks that go from a rank to another. */
struct announced {
    double work;
    unsigned long long bytes, regions_bytes;
    int tasks;
};

struct move {
    struct load *load;       /* loads of all ranks */
    int *target;             /* rank that each task goes to */
    double *work;            /* work of each task */
    struct announced *out;   /* tasks for each rank */
    struct announced *in;    /* tasks from each rank */
    struct outcome *outcome; /* outcomes of all ranks */
};

static void move_close(struct move *m) {
    free(m->load);
    free(m->target);
    free(m->work);
    free(m->out);
    free(m->in);
    free(m->outcome);
}

static evn_status move_open(const evn_distributed *d, struct move *m) {
    const size_t n = (size_t)d->tasks + 1, ranks = (size_t)d->size;
    *m = (struct move){.load = calloc(ranks, sizeof *m->load),
                       .target = malloc(n * sizeof *m->target),
                       .work = malloc(n * sizeof *m->work),
                       .out = calloc(ranks, sizeof *m->out),
                       .in = calloc(ranks, sizeof *m->in),
                       .outcome = calloc(ranks, sizeof *m->outcome)};
    if (m->load && m->target && m->work && m->out && m->in && m->outcome) return EVN_OK;
    return evn_fail(EVN_MEMORY, "distributed: no memory to balance %d tasks on %d ranks", d->tasks,
                    d->size);
}

static double speed_of(const evn_distributed *d, int unit) {
    return evn_unit_about(evn_units_get(d->units, unit)).speed;
}

static double mean_speed(const evn_distributed *d) {
    const int units = evn_units_count(d->units);
    double sum = 0;
    for (int u = 0; u < units; u++) sum += speed_of(d, u);
    return sum / units;
}

/* The work of each task, and the loads of all ranks. */
static evn_status measure(const evn_distributed *d, struct move *m, evn_status mine) {
    struct load me = {0};
    me.strength = mean_speed(d) * evn_units_count(d->units);
    const int *owner = d->loop ? evn_loop_owner(d->loop) : NULL;
    for (int t = 0; !mine && t < d->tasks; t++) {
        m->work[t] = d->learnt ? d->seconds[t] * speed_of(d, owner[t]) : d->weight[t];
        me.work += m->work[t];
    }
    return distributed_allgather(d, what, mine, &me, sizeof me, m->load);
}

/* The rank in whose share the middle of a task lies, on the line of all work. */
static void find_targets(const evn_distributed *d, struct move *m) {
    double all = 0, strength = 0, before = 0, share = 0;
    for (int r = 0; r < d->size; r++) {
        if (r < d->rank) before += m->load[r].work;
        all += m->load[r].work;
        strength += m->load[r].strength;
    }
    int rank = 0;
    for (int t = 0; t < d->tasks; t++) {
        const double middle = before + m->work[t] / 2;
        while (rank + 1 < d->size && middle >= all * (share + m->load[rank].strength) / strength)
            share += m->load[rank++].strength;
        m->target[t] = all > 0 ? rank : d->rank;
        before += m->work[t];
    }
}

/* A task in a parcel begins with this; two numbers a region follow (its bytes, and 1 if it has been
 * written), and the data of those that have. */
struct travelling {
    double weight, work;
    int number;
};

static size_t region_index(const evn_distributed *d, int task, int i) {
    return (size_t)task * (size_t)d->regions + (size_t)i;
}

static int is_written(const evn_distributed *d, int task, int i) {
    const int region = d->region[region_index(d, task, i)];
    return region >= 0 && evn_place_where(d->place, region) >= 0;
}

static size_t data_bytes(const evn_distributed *d, int task) {
    size_t bytes = 0;
    for (int i = 0; i < d->regions; i++)
        if (is_written(d, task, i)) bytes += d->bytes[region_index(d, task, i)];
    return bytes;
}

static size_t head_bytes(const evn_distributed *d) {
    return sizeof(struct travelling) + 2 * (size_t)d->regions * sizeof(unsigned long long);
}

/* Each rank learns what would come to it. */
static evn_status announce(const evn_distributed *d, struct move *m) {
    struct record packets = {0};
    evn_status status = EVN_OK;
    for (int t = 0; t < d->tasks; t++) {
        struct announced *a = &m->out[m->target[t]];
        a->work += m->work[t];
        a->tasks++;
        if (m->target[t] == d->rank) continue;
        a->regions_bytes += data_bytes(d, t);
        a->bytes += head_bytes(d) + data_bytes(d, t);
    }
    for (int r = 0; !status && r < d->size; r++)
        if (m->out[r].tasks) status = packets_add(&packets, d->rank, r, &m->out[r], sizeof *m->out);
    status = packets_route(d, &packets, status);
    const struct packet *l;
    for (size_t at = 0; !status && (l = packets_next(&packets, &at));)
        memcpy(&m->in[l->from], l + 1, sizeof *m->in);
    record_free(&packets);
    return status;
}

static double saved_by(const evn_distributed *d, const struct move *m, double *now) {
    double then = 0;
    *now = 0;
    for (int r = 0; r < d->size; r++) {
        *now = fmax(*now, m->load[r].work / m->load[r].strength);
        then = fmax(then, m->outcome[r].work / m->load[r].strength);
    }
    return *now - then;
}

/* 1 if the moves pay; the same on all ranks, since all have the same numbers. */
static int pays(const evn_distributed *d, const struct move *m) {
    double leaving = 0, per_byte = 0, now;
    const double saved = saved_by(d, m, &now);
    for (int r = 0; r < d->size; r++) {
        leaving = fmax(leaving, m->outcome[r].leaving);
        per_byte = fmax(per_byte, m->outcome[r].per_byte);
    }
    if (!(saved > LEAST * now)) return 0;
    if (!d->learnt || !d->counts) return 1;
    return saved * d->instances > leaving * per_byte;
}

/* Loads as they would be, of all ranks. */
static evn_status foresee(const evn_distributed *d, struct move *m, evn_status mine) {
    struct outcome me = {.per_byte = d->per_byte};
    double comes = 0;
    for (int r = 0; !mine && r < d->size; r++) {
        me.work += m->in[r].work;
        me.tasks += m->in[r].tasks;
        me.leaving += (double)m->out[r].regions_bytes;
        comes += (double)m->in[r].regions_bytes;
    }
    me.leaving = fmax(me.leaving, comes);
    return distributed_allgather(d, what, mine, &me, sizeof me, m->outcome);
}

/* ---- tasks travel -------------------------------------------------------------------------- */

/* Puts a task behind *at. */
static evn_status pack_task(const evn_distributed *d, const struct move *m, int t, char **at) {
    const struct travelling head = {d->weight[t], m->work[t], t};
    memcpy(*at, &head, sizeof head);
    *at += sizeof head;
    evn_status status = EVN_OK;
    for (int i = 0; i < d->regions; i++) {
        const unsigned long long of[2] = {d->bytes[region_index(d, t, i)],
                                          (unsigned long long)is_written(d, t, i)};
        memcpy(*at, of, sizeof of);
        *at += sizeof of;
    }
    for (int i = 0; !status && i < d->regions; i++) {
        const int region = d->region[region_index(d, t, i)];
        if (!is_written(d, t, i)) continue;
        status = evn_place_acquire(d->place, 1, &region, EVN_HOST, EVN_READ);
        if (status) break;
        memcpy(*at, evn_place_host(d->place, region), d->bytes[region_index(d, t, i)]);
        *at += d->bytes[region_index(d, t, i)];
        status = evn_place_release(d->place, 1, &region, EVN_HOST);
    }
    return status;
}

static evn_status pack_all(const evn_distributed *d, const struct move *m, evn_parcel *out) {
    evn_status status = EVN_OK;
    char **at = calloc((size_t)d->size, sizeof *at);
    if (!at) return evn_fail(EVN_MEMORY, "distributed: no memory for %d ranks", d->size);
    for (int r = 0; !status && r < d->size; r++) {
        if (!out[r].bytes) continue;
        at[r] = out[r].data = malloc(out[r].bytes);
        if (!out[r].data)
            status = evn_fail(EVN_MEMORY, "distributed: no memory for %zu bytes of %d tasks",
                              out[r].bytes, m->out[r].tasks);
    }
    for (int t = 0; !status && t < d->tasks; t++)
        if (m->target[t] != d->rank) status = pack_task(d, m, t, &at[m->target[t]]);
    free(at);
    return status;
}

/* A region that has come. */
static evn_status fill_region(const evn_distributed *d, int region, size_t bytes, char **at) {
    evn_status status = evn_place_acquire(d->place, 1, &region, EVN_HOST, EVN_WRITE);
    if (status) return status;
    memcpy(evn_place_host(d->place, region), *at, bytes);
    *at += bytes;
    return evn_place_release(d->place, 1, &region, EVN_HOST);
}

static evn_status unpack_task(const evn_distributed *d, struct next *next, int t, int from,
                              char **at) {
    struct travelling head;
    memcpy(&head, *at, sizeof head);
    *at += sizeof head;
    char *sizes = *at;
    *at += 2 * (size_t)d->regions * sizeof(unsigned long long);
    next->weight[t] = head.weight;
    if (d->learnt) next->seconds[t] = head.work / mean_speed(d);
    next->origin[t] = (evn_rank_task){from, head.number};
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < d->regions; i++) {
        unsigned long long of[2];
        const size_t k = region_index(d, t, i);
        memcpy(of, sizes + (size_t)i * sizeof of, sizeof of);
        next->bytes[k] = (size_t)of[0];
        if (!of[0]) continue;
        status = evn_place_make(d->place, (size_t)of[0], &next->region[k]);
        if (!status && of[1]) status = fill_region(d, next->region[k], (size_t)of[0], at);
    }
    return status;
}

/* This rank's tasks of now: ranks below, its own, ranks above. */
static evn_status unpack_all(const evn_distributed *d, const struct move *m, struct next *next,
                             const evn_parcel *in) {
    evn_status status = EVN_OK;
    int t = 0;
    for (int r = 0; !status && r < d->size; r++) {
        char *at = in[r].data;
        for (int i = 0; r != d->rank && !status && i < m->in[r].tasks; i++)
            status = unpack_task(d, next, t++, r, &at);
        for (int own = 0; r == d->rank && own < d->tasks; own++) {
            if (m->target[own] != d->rank) continue;
            const size_t to = region_index(d, t, 0), from = region_index(d, own, 0);
            const size_t k = (size_t)d->regions;
            memcpy(next->region + to, d->region + from, k * sizeof *d->region);
            memcpy(next->bytes + to, d->bytes + from, k * sizeof *d->bytes);
            next->weight[t] = d->weight[own];
            next->seconds[t] = d->seconds[own];
            next->origin[t++] = (evn_rank_task){d->rank, own};
        }
    }
    return status;
}

/* Numbers of now, by global numbers, which stay. */
static void find_now(const evn_distributed *d, const struct move *m, struct next *next) {
    next->sum[0] = 0;
    for (int r = 0; r < d->size; r++) next->sum[r + 1] = next->sum[r] + m->outcome[r].tasks;
    for (int t = 0; t < d->tasks; t++) {
        const int r = m->target[t];
        next->now[t] = (evn_rank_task){r, (int)(d->sum[d->rank] + t - next->sum[r])};
        for (int i = 0; r != d->rank && i < d->regions; i++)
            next->gone[next->gones++] = d->region[region_index(d, t, i)];
    }
}

static evn_status carry(evn_distributed *d, const struct move *m, struct next *next) {
    evn_parcel *out = d->parcel, *in = out + d->size;
    evn_status status = next_open(d, next, m->outcome[d->rank].tasks);
    for (int r = 0; r < d->size; r++) {
        if (r == d->rank) continue;
        out[r].bytes = (size_t)m->out[r].bytes;
        in[r].bytes = (size_t)m->in[r].bytes;
    }
    if (!status) status = pack_all(d, m, out);
    for (int r = 0; r < d->size; r++) {
        if (in[r].bytes && !status) in[r].data = malloc(in[r].bytes);
        if (in[r].bytes && !in[r].data && !status)
            status = evn_fail(EVN_MEMORY, "distributed: no memory for %zu bytes of rank %d",
                              in[r].bytes, r);
    }
    char nothing;
    for (int r = 0; status && r < d->size; r++) { /* sent and received all the same */
        evn_parcel none = {&nothing, out[r].bytes};
        if (!out[r].data && out[r].bytes) out[r] = none;
        none.bytes = in[r].bytes;
        if (!in[r].data && in[r].bytes) in[r] = none;
    }
    status = packets_yield(evn_cluster_exchange(d->cluster, status, out, in));
    if (!status) status = unpack_all(d, m, next, in);
    if (!status) find_now(d, m, next);
    for (int r = 0; r < d->size; r++) {
        d->carried += (double)m->out[r].regions_bytes;
        if (out[r].data != &nothing) free(out[r].data);
        if (in[r].data != &nothing) free(in[r].data);
        out[r] = in[r] = (evn_parcel){0};
    }
    return status;
}

/* The change of the loop: tasks of before, and others that come of none. */
static evn_status tell_loop(evn_distributed *d, struct next *next, evn_status mine) {
    const size_t n = (size_t)next->tasks + 1;
    int *first = malloc((n + 1) * sizeof *first), *from = malloc(n * sizeof *from), at = 0;
    char *kept = calloc(n, 1);
    if (!mine && (!first || !from || !kept))
        mine = evn_fail(EVN_MEMORY, "distributed: no memory for %d tasks", next->tasks);
    for (int t = 0; !mine && t < next->tasks; t++) {
        first[t] = at;
        kept[t] = next->origin[t].rank == d->rank;
        if (kept[t]) from[at++] = next->origin[t].number;
    }
    if (!mine) first[next->tasks] = at;
    const evn_change change = {.tasks = next->tasks,
                               .first = first,
                               .from = from,
                               .kept = kept,
                               .links = -1,
                               .instances = distributed_instances(d)};
    mine = next_take(d, next, &change, what, mine);
    free(first);
    free(from);
    free(kept);
    return mine;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static evn_status decide(evn_distributed *d, struct move *m, int *go) {
    evn_status status = move_open(d, m);
    status = measure(d, m, status);
    if (status) return status; /* on all ranks */
    find_targets(d, m);
    status = foresee(d, m, announce(d, m));
    *go = !status && pays(d, m);
    return status;
}

static long long count_moved(const evn_distributed *d, const struct move *m) {
    int moved = 0;
    for (int t = 0; t < d->tasks; t++) moved += m->target[t] != d->rank;
    return moved;
}

static evn_status sum_moved(const evn_distributed *d, long long mine, int *moved) {
    long long *all = malloc((size_t)d->size * sizeof *all), sum = 0;
    evn_status status =
        all ? EVN_OK : evn_fail(EVN_MEMORY, "distributed: no memory for %d ranks", d->size);
    status = distributed_allgather(d, what, status, &mine, sizeof mine, all);
    for (int r = 0; !status && r < d->size; r++) sum += all[r];
    if (moved) *moved = (int)sum;
    free(all);
    return status;
}

/* Seconds a byte, as of schedules: half of what was believed, half of what was measured. */
static void learn_cost(evn_distributed *d, const struct move *m, double seconds) {
    double leaving = 0;
    for (int r = 0; r < d->size; r++) leaving = fmax(leaving, m->outcome[r].leaving);
    if (leaving > 0) d->per_byte = (d->per_byte + seconds / leaving) / 2;
}

evn_status evn_distributed_balance(evn_distributed *d, int *moved) {
    NEED(d, "distributed tasks");
    if (moved) *moved = 0;
    evn_status status = distributed_may(d, what);
    if (status || d->size == 1) return status;
    struct move m = {0};
    struct next next = {0};
    int go = 0;
    status = decide(d, &m, &go);
    if (!status && go) {
        const double begin = evn_now();
        const long long mine = count_moved(d, &m);
        distributed_end_births(d);
        status = tell_loop(d, &next, carry(d, &m, &next));
        distributed_end_births(d);
        if (!status) learn_cost(d, &m, evn_now() - begin);
        if (!status) status = sum_moved(d, mine, moved);
    }
    next_close(&next);
    move_close(&m);
    return status;
}
