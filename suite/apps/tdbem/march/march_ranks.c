/* Data exchanged between the ranks of a march. */
#include "tdbem/march/march_ranks.h"
#include "common/run/hash.h"
#include "common/run/ranks.h"
#include "tdbem/summation/summation_gpu.h"
#include "common/run/free_all.h"
#include <stdlib.h>
#include <string.h>

struct ranks {
    int me, count;
    int told;                    /* rank 0 solves and tells */
    int others;                  /* another rank has failed in this group */
    int *of, *owner;             /* rank and unit of each block in the instance at hand */
    int *block;                  /* scratch: blocks */
    int *nodes;                  /* number of nodes of each rank in this group */
    int *first;                  /* first blocks of these nodes, one rank's after another's */
    struct summation_node *node; /* nodes of all blocks, in this rank's rows */
    char *sent, *come;           /* sums: this rank's nodes, by the ranks they go to; the others' */
    size_t sent_room, come_room;
    evn_parcel *out, *in;
};

static size_t real(const struct march *m) {
    return m->p->layout->is.single ? sizeof(float) : sizeof(double);
}

/* Bytes of a node's sums in a rank's rows. */
static size_t row_bytes(const struct march *m, int rank) {
    return (size_t)(tdbem_row(m->p, rank + 1) - tdbem_row(m->p, rank)) *
           (size_t)m->p->layout->wide * real(m);
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Finds the rank that solves for all, where processors or devices differ and need not have the same
 * bits. */
static evn_status find_solvers(struct march *m) {
    char mine[128] = "", *all = NULL;
    int count = 0;
    snprintf(mine, sizeof mine, "%s",
             evn_machine_about(evn_units_about(m->units).machine).processor);
    evn_status status =
        ranks_share(m->p->cluster, mine, (int)sizeof mine, 1, (void **)&all, &count);
    m->ranks->told = m->p->solver_kind == SOLVER_CG_DEVICE;
    for (int r = 1; !status && r < m->ranks->count; r++)
        m->ranks->told |= strcmp(all, all + (size_t)r * sizeof mine) != 0;
    free(all);
    return status;
}

evn_status ranks_open(struct march *m) {
    if (!m->p->cluster) return EVN_OK;
    const size_t blocks = (size_t)m->p->layout->blocks, ranks = (size_t)m->p->ranks;
    struct ranks *r = m->ranks = calloc(1, sizeof *r);
    if (r) {
        r->me = m->p->me;
        r->count = m->p->ranks;
        r->of = malloc(blocks * sizeof *r->of);
        r->owner = malloc(blocks * sizeof *r->owner);
        r->block = malloc(blocks * sizeof *r->block);
        r->first = malloc(blocks * sizeof *r->first);
        r->nodes = calloc(ranks, sizeof *r->nodes);
        r->node = calloc(blocks, sizeof *r->node);
        r->out = calloc(ranks, sizeof *r->out);
        r->in = calloc(ranks, sizeof *r->in);
    }
    evn_status status = EVN_OK;
    if (!r || !r->of || !r->owner || !r->block || !r->first || !r->nodes || !r->node || !r->out ||
        !r->in)
        status = evn_fail(EVN_MEMORY, "td-bem: no memory for %zu ranks", ranks);
    status = evn_cluster_agree(m->p->cluster, status);
    return status ? status : find_solvers(m);
}

void ranks_close(struct march *m) {
    struct ranks *r = m->ranks;
    if (!r) return;
    free_all(r->of, r->owner, r->block, r->first, r->nodes, r->node, r->sent, r->come, r->out,
             r->in, r);
}

/* ---- sums ---------------------------------------------------------------------------------- */

void ranks_note_owners(struct march *m) {
    const int *next = evn_loop_next(m->loop, NULL);
    for (int b = 0; b < m->p->layout->blocks; b++) {
        m->ranks->owner[b] = next[b];
        m->ranks->of[b] = evn_cluster_rank_of(m->p->cluster, next[b]);
    }
}

/* The loop knows better where units have drawn; but a block that has gone to another rank since has
 * its new owner there. */
int ranks_owner(const struct march *m, int block) {
    const int now = evn_loop_owner(m->loop)[block];
    return evn_cluster_rank_of(m->p->cluster, now) == m->ranks->of[block] ? now
                                                                          : m->ranks->owner[block];
}

/* The largest nodes of each rank, which follow from the blocks' ranks: each rank knows those of
 * all. */
static void find_nodes(struct march *m) {
    struct ranks *r = m->ranks;
    const int blocks = m->p->layout->blocks;
    int all = 0;
    for (int rank = 0; rank < r->count; rank++) {
        int count = 0;
        for (int b = 0; b < blocks; b++)
            if (r->of[b] == rank) r->block[count++] = b;
        r->nodes[rank] = summation_nodes(count, r->block, blocks, r->node);
        for (int i = 0; i < count; i++)
            if (r->node[r->block[i]].span) r->first[all++] = r->block[i];
    }
}

static int grow(char **room, size_t *has, size_t wants) {
    if (*has >= wants) return 0;
    free(*room);
    *room = aligned_alloc(64, (wants + 63) / 64 * 64);
    *has = *room ? wants : 0;
    return !*room;
}

/* Index of a rank's first node in `first`. */
static int nodes_before(const struct ranks *r, int rank) {
    int before = 0;
    for (int i = 0; i < rank; i++) before += r->nodes[i];
    return before;
}

/* Lays out the messages to and from each rank: nodes one after another, of each the rows of the
 * rank that gets them. This rank's own are where it puts them. */
static evn_status lay_out(struct march *m) {
    struct ranks *r = m->ranks;
    const size_t own = row_bytes(m, r->me);
    size_t sent = 0, come = 0;
    for (int i = 0; i < r->count; i++) {
        r->out[i].bytes = (size_t)r->nodes[r->me] * row_bytes(m, i);
        r->in[i].bytes = (size_t)r->nodes[i] * own;
        sent += r->out[i].bytes;
        if (i != r->me) come += r->in[i].bytes;
    }
    if (grow(&r->sent, &r->sent_room, sent) || grow(&r->come, &r->come_room, come))
        return evn_fail(EVN_MEMORY, "td-bem: no memory for the sums of other ranks, %.3g GB",
                        (double)(sent + come) * 1e-9);
    char *out = r->sent, *in = r->come;
    for (int i = 0; i < r->count; i++) {
        r->out[i].data = out;
        r->in[i].data = i == r->me ? out : in;
        out += r->out[i].bytes;
        if (i != r->me) in += r->in[i].bytes;
    }
    for (int i = 0, n = 0; i < r->count; i++)
        for (int k = 0; k < r->nodes[i]; k++)
            r->node[r->first[n++]].sums = (char *)r->in[i].data + (size_t)k * own;
    return EVN_OK;
}

/* The share of core `me` of this rank's nodes, to where they are sent from. */
static void join_nodes(evn_crew *crew, int me, int cores, void *arg) {
    const struct march *m = arg;
    const struct ranks *r = m->ranks;
    const struct layout *l = m->p->layout;
    const int begin = evn_crew_begin(l->rows, me, cores),
              end = evn_crew_begin(l->rows, me + 1, cores);
    const int mine = nodes_before(r, r->me);
    (void)crew;
    for (int i = 0; i < r->count; i++) {
        const int low = tdbem_row(m->p, i), high = tdbem_row(m->p, i + 1);
        const int from = begin > low ? begin : low, to = end < high ? end : high;
        const size_t wide = (size_t)l->wide;
        if (from >= to) continue;
        for (int k = 0; k < r->nodes[r->me]; k++) {
            const int first = r->first[mine + k];
            summation_join(l, m->node, first, r->node[first].span, (size_t)from * wide,
                           (size_t)to * wide,
                           (char *)r->out[i].data + (size_t)k * row_bytes(m, i) +
                               (size_t)(from - low) * wide * real(m));
        }
    }
}

/* The share of core `me` of the sum over all nodes, in this rank's rows. */
static void add_rows(evn_crew *crew, int me, int cores, void *arg) {
    const struct march *m = arg;
    const struct layout *l = m->p->layout;
    const size_t wide = (size_t)l->wide;
    const int low = tdbem_row(m->p, m->ranks->me), rows = tdbem_row(m->p, m->ranks->me + 1) - low;
    (void)crew;
    summation_total(l, m->ranks->node, (size_t)evn_crew_begin(rows, me, cores) * wide,
                    (size_t)evn_crew_begin(rows, me + 1, cores) * wide,
                    m->total + (size_t)low * wide);
}

static void note_sent(const struct march *m, struct tdbem_traffic *t,
                      const evn_cluster_info *before) {
    const evn_cluster_info now = evn_cluster_about(m->p->cluster);
    t->messages += now.messages - before->messages;
    t->bytes += now.message_bytes - before->message_bytes;
}

/* An exchange, counted. Failures of others are theirs to tell; an interrupt leaves at once. */
static evn_status exchange(struct march *m, evn_status mine, struct tdbem_traffic *t) {
    const evn_cluster_info before = evn_cluster_about(m->p->cluster);
    evn_status status = evn_cluster_exchange(m->p->cluster, mine, m->ranks->out, m->ranks->in);
    note_sent(m, t, &before);
    if (status && !mine && status != EVN_STOPPED) m->ranks->others = 1;
    return status;
}

evn_status ranks_sum(struct march *m) {
    const struct layout *l = m->p->layout;
    const double elements = (double)l->rows * l->wide;
    const int cores = evn_crew_cores(m->crew, elements, 8192);
    find_nodes(m);
    evn_status status = lay_out(m);
    if (!status) evn_crew_run(m->crew, NULL, cores, join_nodes, m);
    status = exchange(m, status, &m->r->sums_sent);
    if (!status) evn_crew_run(m->crew, NULL, cores, add_rows, m);
    return status;
}

/* ---- steps --------------------------------------------------------------------------------- */

evn_status ranks_share_rows(struct march *m, evn_status mine) {
    struct ranks *r = m->ranks;
    const int low = tdbem_row(m->p, r->me), high = tdbem_row(m->p, r->me + 1);
    for (int i = 0; i < r->count; i++) {
        const int from = tdbem_row(m->p, i), to = tdbem_row(m->p, i + 1);
        r->out[i] = (evn_parcel){m->b + low, (size_t)(high - low) * sizeof *m->b};
        r->in[i] = (evn_parcel){m->b + from, (size_t)(to - from) * sizeof *m->b};
    }
    return exchange(m, mine, &m->r->rows_sent);
}

evn_status ranks_settle(struct march *m) {
    tdbem_result *r = m->r;
    if (!m->ranks->told)
        return solver_share(m->p->solver, m->p->cluster, m->crew, r->solver_reason,
                            sizeof r->solver_reason);
    if (solver_settled(m->p->solver) == SOLVER_CG)
        snprintf(r->solver_reason, sizeof r->solver_reason,
                 "cg: rank 0 solves, since processors differ");
    return EVN_OK;
}

/* By all ranks together; none of them has failed, or all know. */
static evn_status solve_together(struct march *m, double *a) {
    const evn_cluster_info before = evn_cluster_about(m->p->cluster);
    const evn_status status = solver_solve(m->p->solver, m->crew, m->b, a);
    note_sent(m, &m->r->solve_sent, &before);
    return status;
}

evn_status ranks_solve(struct march *m, int q, evn_status mine) {
    struct ranks *r = m->ranks;
    const size_t columns = (size_t)m->p->layout->columns;
    double *a = m->a + (size_t)q * columns;
    if (!mine && (!r->told || !r->me)) mine = solve_together(m, a);
    if (!r->told) return mine;
    memset(r->out, 0, sizeof *r->out * (size_t)r->count);
    memset(r->in, 0, sizeof *r->in * (size_t)r->count);
    for (int i = 1; !r->me && i < r->count; i++) r->out[i] = (evn_parcel){a, columns * sizeof *a};
    if (r->me) r->in[0] = (evn_parcel){a, columns * sizeof *a};
    return exchange(m, mine, &m->r->rows_sent);
}

/* A rank's report at the end of a group. */
struct end {
    uint64_t hash;
    long long failed;
};

static evn_status compare(const struct march *m, int n, const struct end *all) {
    const evn_cluster *c = m->p->cluster;
    for (int r = 0; r < m->ranks->count; r++)
        if (all[r].failed) return EVN_OK; /* which is told anyway */
    for (int r = 1; r < m->ranks->count; r++)
        if (all[r].hash != all[0].hash)
            return evn_fail(EVN_BODY,
                            "td-bem: up to step %d rank %d on %s has another solution than rank 0 "
                            "on %s; their builds or processors are not the same",
                            n, r, evn_cluster_host(c, r), evn_cluster_host(c, 0));
    return EVN_OK;
}

evn_status ranks_end_group(struct march *m, int n, int count, evn_status mine) {
    struct ranks *r = m->ranks;
    const size_t columns = (size_t)m->p->layout->columns;
    struct end end = {.failed = mine != EVN_OK}, *all = NULL;
    char why[1024];
    snprintf(why, sizeof why, "%s", mine ? evn_message() : "");
    if (!mine) end.hash = hash_bytes(HASH_SEED, m->a, (size_t)count * columns * sizeof *m->a);
    if (!r->me) all = calloc((size_t)r->count, sizeof *all);
    evn_status status = evn_cluster_gather(m->p->cluster, &end, sizeof end, all);
    if (!status && !r->me && !mine)
        mine = compare(m, n, all);
    else if (mine)
        mine = evn_fail(mine, "%s", why);
    free(all);
    if (r->others) mine = EVN_OK; /* a rank that has failed says why */
    const int others = r->others;
    r->others = 0;
    if (!status) status = evn_cluster_agree(m->p->cluster, mine);
    if (!status && others)
        status = evn_fail(EVN_BODY, "td-bem: another rank has failed in step %d", n);
    return status;
}

/* ---- the end ------------------------------------------------------------------------------- */

/* Gathers a list with a number of each of this rank's units in each group, to one of each of all
 * units. */
static evn_status share_groups(struct march *m, void **list, size_t size) {
    const size_t groups = (size_t)m->r->groups, units = (size_t)m->r->run.units;
    const int own = evn_units_count(m->units);
    char *all = NULL, *by_group = malloc(groups * units * size + 1);
    int count = 0;
    evn_status status =
        by_group ? EVN_OK : evn_fail(EVN_MEMORY, "td-bem: no memory for %zu groups", groups);
    status = evn_cluster_agree(m->p->cluster, status);
    if (!status)
        status = ranks_share(m->p->cluster, *list, own * (int)groups, size, (void **)&all, &count);
    for (int r = 0; !status && r < m->ranks->count; r++) {
        const size_t first = (size_t)evn_cluster_about(m->p->cluster).first[r];
        const size_t next = (size_t)evn_cluster_about(m->p->cluster).first[r + 1];
        for (size_t g = 0; g < groups; g++)
            memcpy(by_group + (g * units + first) * size,
                   all + (first * groups + g * (next - first)) * size, (next - first) * size);
    }
    free(all);
    if (status) {
        free(by_group);
        return status;
    }
    free(*list);
    *list = by_group;
    return EVN_OK;
}

evn_status ranks_conclude(struct march *m) {
    tdbem_result *r = m->r;
    double mine[] = {r->stream_bytes,    r->stream_wait_s,
                     r->stream_max,      (double)r->sums_sent.messages,
                     r->sums_sent.bytes, (double)r->rows_sent.messages,
                     r->rows_sent.bytes, (double)r->solve_sent.messages,
                     r->solve_sent.bytes};
    enum { NUMBERS = sizeof mine / sizeof *mine };
    double sum[NUMBERS] = {0}, *all = NULL;
    int count = 0;
    evn_status status = share_groups(m, (void **)&r->group_s, sizeof *r->group_s);
    if (!status) status = share_groups(m, (void **)&r->group_blocks, sizeof *r->group_blocks);
    if (!status)
        status = ranks_share(m->p->cluster, mine, NUMBERS, sizeof *mine, (void **)&all, &count);
    for (int i = 0; !status && i < count; i++) sum[i % NUMBERS] += all[i];
    free(all);
    if (status) return status;
    r->stream_bytes = sum[0];
    r->stream_wait_s = sum[1];
    r->stream_max = sum[2];
    struct tdbem_traffic *sent[] = {&r->sums_sent, &r->rows_sent, &r->solve_sent};
    for (int i = 0; i < 3; i++) {
        *sent[i] = (struct tdbem_traffic){(long long)sum[3 + 2 * i], sum[4 + 2 * i]};
        r->run.totals.rank_messages += sent[i]->messages;
        r->run.totals.rank_bytes += sent[i]->bytes;
        r->run.totals.messages += sent[i]->messages;
        r->run.totals.bytes += sent[i]->bytes;
    }
    return EVN_OK;
}

/* ---- blocks that change their rank --------------------------------------------------------- */

static evn_status make_block(void *arg, int b) {
    struct march *m = arg;
    struct layout *l = m->p->layout;
    evn_status status = stream_arrive(l->stream, b);
    if (status) return status;
    m->p->rank[b] = m->p->me;
    l->away[b] = 0;
    return m->place ? evn_place_arrive(m->place, m->region[b], l->memory + l->begin[b]) : EVN_OK;
}

/* A block that leaves is held until it has gone, as one that has come is until it is put away. */
static void *block_memory(void *arg, int b, int block, size_t *bytes) {
    const struct march *m = arg;
    const struct layout *l = m->p->layout;
    (void)block;
    *bytes = 0;
    if (stream_lend(l->stream, b)) return NULL;
    *bytes = l->begin[b + 1] - l->begin[b];
    return l->memory + l->begin[b];
}

static void drop_block(void *arg, int b) {
    struct march *m = arg;
    struct layout *l = m->p->layout;
    for (int s = 1; m->place && s < evn_place_spaces(m->place); s++)
        summation_gpu_forget(m->gpu[s]);
    if (m->place) evn_place_leave(m->place, m->region[b]);
    l->away[b] = 1;
    if (l->stream)
        stream_leave(l->stream, b);
    else
        layout_forget(l, b);
}

static evn_status block_arrived(void *arg, int b) {
    const struct march *m = arg;
    return stream_keep(m->p->layout->stream, b);
}

evn_status ranks_homes(struct march *m) {
    static const evn_home home = {.blocks = 1,
                                  .make = make_block,
                                  .memory = block_memory,
                                  .drop = drop_block,
                                  .arrived = block_arrived};
    return m->ranks ? evn_loop_homes(m->loop, &home, m) : EVN_OK;
}
