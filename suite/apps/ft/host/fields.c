/* Fields and boxes. */
#include "ft/host/fields.h"
#include "common/run/huge_alloc.h"
#include "ft/parts.h"
#include "common/run/free_all.h"
#include <evener/clock.h>
#include <stdlib.h>
#include <string.h>

/* ---- where things are ----------------------------------------------------------------------- */

/* The axes whose lines a turn takes and makes. */
static const struct axis *axis_from(const struct fields *f, enum turn turn) {
    return turn == TURN_Z_TO_Y ? &f->owners.z : &f->owners.y;
}
static const struct axis *axis_to(const struct fields *f, enum turn turn) {
    return turn == TURN_Z_TO_Y ? &f->owners.y : &f->owners.z;
}

static size_t row_doubles(const struct fields *f) { return 2 * (size_t)f->t->nx; }

/* Rows for rank `to` of local line `from`, in the outbox. */
static size_t out_at(const struct fields *f, enum turn turn, int to, int from) {
    const struct axis *a = axis_from(f, turn), *b = axis_to(f, turn);
    return ((size_t)a->count[f->owners.me] * (size_t)b->base[to] +
            (size_t)from * (size_t)b->count[to]) *
           row_doubles(f);
}

/* Offset in the inbox of `to` of what comes from `rank`. */
static size_t in_at(const struct fields *f, enum turn turn, int to, int rank, int from) {
    const struct axis *a = axis_from(f, turn), *b = axis_to(f, turn);
    return (size_t)(a->base[rank] + from) * (size_t)b->count[to] * row_doubles(f);
}

/* Rows from local line `from` for one of this rank's spaces, in the inbox. */
static size_t within_at(const struct fields *f, enum turn turn, int space, int from) {
    const struct axis *a = axis_from(f, turn), *b = axis_to(f, turn);
    const int me = f->owners.me, begin = b->begin[space], count = b->begin[space + 1] - begin;
    return in_at(f, turn, me, me, 0) +
           ((size_t)a->count[me] * (size_t)begin + (size_t)from * (size_t)count) * row_doubles(f);
}

double *fields_outbox(const struct fields *f, enum turn turn, int to, int from) {
    return f->outbox + out_at(f, turn, to, from);
}
double *fields_inbox(const struct fields *f, enum turn turn, int rank, int from) {
    return f->inbox + in_at(f, turn, f->owners.me, rank, from);
}
double *fields_within(const struct fields *f, enum turn turn, int space, int from) {
    return f->inbox + within_at(f, turn, space, from);
}

/* Place of this rank's line `here`, in whichever of its spaces. */
static double *within(const struct fields *f, enum turn turn, int from, int here) {
    const struct axis *b = axis_to(f, turn);
    const int space = b->space[here];
    return fields_within(f, turn, space, from) +
           (size_t)(b->at[here] - b->begin[space]) * row_doubles(f);
}

double *fields_out(const struct fields *f, enum turn turn, int z, int y) {
    const struct axis *a = axis_from(f, turn), *b = axis_to(f, turn);
    const int from = turn == TURN_Z_TO_Y ? z : y, there = turn == TURN_Z_TO_Y ? y : z;
    const int to = b->rank[there], me = f->owners.me;
    if (to == me) return within(f, turn, a->at[from], there);
    const size_t row = (size_t)b->at[there] * row_doubles(f);
    if (!f->direct[to]) return f->outbox + out_at(f, turn, to, a->at[from]) + row;
    double *box = evn_shared_pointer(f->boxes, to);
    return box + in_at(f, turn, to, me, a->at[from]) + row;
}

const double *fields_in(const struct fields *f, enum turn turn, int z, int y) {
    const struct axis *a = axis_from(f, turn), *b = axis_to(f, turn);
    const int from = turn == TURN_Z_TO_Y ? z : y, here = turn == TURN_Z_TO_Y ? y : z;
    if (a->rank[from] == f->owners.me) return within(f, turn, a->at[from], here);
    return fields_inbox(f, turn, a->rank[from], a->at[from]) + (size_t)b->at[here] * row_doubles(f);
}

static int planes_of(const struct fields *f, int task) {
    return parts_begin(f->owners.z.n, f->owners.tasks, task + 1) -
           parts_begin(f->owners.z.n, f->owners.tasks, task);
}
static int rows_of(const struct fields *f, int task) {
    return parts_begin(f->owners.y.n, f->owners.tasks, task + 1) -
           parts_begin(f->owners.y.n, f->owners.tasks, task);
}

/* Doubles of so many planes of each field of layout Z, and rows. */
static size_t doubles(const struct fields *f, int planes, int rows) {
    return transform_plane(f->t) * (size_t)planes * (f->kept ? 2 : 1) +
           transform_slab(f->t) * (size_t)rows;
}

/* Size of a rank's inbox or outbox, whichever way a transpose goes. */
static size_t box_of(const struct fields *f, int rank) {
    const struct owners *o = &f->owners;
    const size_t into_y = (size_t)o->z.n * (size_t)o->y.count[rank];
    const size_t into_z = (size_t)o->y.n * (size_t)o->z.count[rank];
    return (into_y < into_z ? into_z : into_y) * row_doubles(f);
}
static size_t box_doubles(const struct fields *f) { return box_of(f, f->owners.me); }

/* 1 if all ranks are expected to reach each other's fields directly. */
static int one_node(const struct fields *f) {
    const char *host = evn_cluster_host(f->cluster, 0);
    for (int r = 1; r < f->owners.ranks; r++)
        if (strcmp(evn_cluster_host(f->cluster, r), host) != 0) return 0;
    return !f->way.per_node || f->way.per_node >= f->owners.ranks;
}

/* Alone, whether tasks are in the host's memory and in a device's. */
static int is_mixed(const struct fields *f) {
    return !owners_on_hosts(&f->owners) && f->owners.z.host[f->owners.me] > 0;
}

double fields_doubles(const struct fields *f) {
    const int me = f->owners.me;
    const size_t all = doubles(f, f->owners.z.host[me], f->owners.y.host[me]);
    int boxes = is_mixed(f);
    if (f->cluster)
        boxes = f->way.variant == FT_BEST && one_node(f) && owners_on_hosts(&f->owners) ? 0 : 2;
    return (double)(all + (size_t)boxes * box_doubles(f));
}

double *fields_kept(const struct fields *f, int task, size_t *bytes) {
    const int z = parts_begin(f->owners.z.n, f->owners.tasks, task);
    const int y = parts_begin(f->owners.y.n, f->owners.tasks, task);
    *bytes = sizeof(double) * (f->kept ? transform_plane(f->t) * (size_t)planes_of(f, task)
                                       : transform_slab(f->t) * (size_t)rows_of(f, task));
    if (f->come[task]) return f->come[task];
    return f->kept ? f->kept[z] : f->slab[y];
}

/* Fields lie in memory one behind the other: `planes` planes, the rows, planes of V. Points to
 * line i of them. */
static void point(struct fields *f, double *memory, int planes, int rows, int z, int y, int i,
                  int what) {
    const size_t plane = transform_plane(f->t), slab = transform_slab(f->t), at = (size_t)i;
    double *slabs = memory ? memory + plane * (size_t)planes : NULL;
    if (what) {
        f->slab[y] = memory ? slabs + slab * at : NULL;
        return;
    }
    f->plane[z] = memory ? memory + plane * at : NULL;
    if (f->kept) f->kept[z] = memory ? slabs + slab * (size_t)rows + plane * at : NULL;
}

/* ---- alone ---------------------------------------------------------------------------------- */

static int make_block(struct fields *f, int task) {
    const int z = parts_begin(f->owners.z.n, f->owners.tasks, task), planes = planes_of(f, task);
    const int y = parts_begin(f->owners.y.n, f->owners.tasks, task), rows = rows_of(f, task);
    const size_t bytes = doubles(f, planes, rows) * sizeof(double);
    double *block = f->block[task] = room(bytes);
    if (!block) return -1;
    memset(block, 0, bytes);
    for (int i = 0; i < planes; i++) point(f, block, planes, rows, z + i, y, i, 0);
    for (int i = 0; i < rows; i++) point(f, block, planes, rows, z, y + i, i, 1);
    return 0;
}

/* A task's part of V, in memory of its own. -1: none. */
static int set_aside(struct fields *f, int task, const double *from) {
    size_t bytes;
    if (f->come[task]) return 0;
    fields_kept(f, task, &bytes);
    if (!(f->come[task] = room(bytes))) return -1;
    memcpy(f->come[task], from, bytes);
    return 0;
}

static void drop_block(struct fields *f, int task) {
    const int z = parts_begin(f->owners.z.n, f->owners.tasks, task), planes = planes_of(f, task);
    const int y = parts_begin(f->owners.y.n, f->owners.tasks, task), rows = rows_of(f, task);
    for (int i = 0; i < planes; i++) point(f, NULL, planes, rows, z + i, y, i, 0);
    for (int i = 0; i < rows; i++) point(f, NULL, planes, rows, z, y + i, i, 1);
    free(f->block[task]);
    f->block[task] = NULL;
}

/* A task that goes to the host's memory, or from there. */
static int deal_block(struct fields *f, int task) {
    size_t bytes;
    if (f->owners.space[task] && f->block[task]) {
        if (set_aside(f, task, fields_kept(f, task, &bytes))) return -1;
        drop_block(f, task);
    } else if (!f->owners.space[task] && f->come[task]) {
        double *come = f->come[task];
        if (make_block(f, task)) return -1;
        f->come[task] = NULL;
        double *now = fields_kept(f, task, &bytes);
        memcpy(now, come, bytes);
        free(come);
    }
    return 0;
}

static evn_status deal_alone(struct fields *f, const int *rank, const int *space) {
    int failed = 0;
    owners_deal(&f->owners, rank, space);
    for (int t = 0; !failed && t < f->owners.tasks; t++) failed = deal_block(f, t);
    free(f->own);
    f->own = !failed && is_mixed(f) ? room(box_doubles(f) * sizeof *f->own) : NULL;
    f->inbox = f->own;
    if (!failed && (f->own || !is_mixed(f))) return EVN_OK;
    return evn_fail(EVN_MEMORY, "ft: the system gave no memory for what goes to devices");
}

int fields_touch(struct fields *f, int task) {
    if (f->owners.space[task]) return 0;
    if (!f->cluster) return make_block(f, task);
    const int z = parts_begin(f->owners.z.n, f->owners.tasks, task);
    const int y = parts_begin(f->owners.y.n, f->owners.tasks, task);
    const size_t planes = transform_plane(f->t) * (size_t)planes_of(f, task) * sizeof(double);
    memset(f->plane[z], 0, planes);
    memset(f->slab[y], 0, transform_slab(f->t) * (size_t)rows_of(f, task) * sizeof(double));
    if (f->kept) memset(f->kept[z], 0, planes);
    return 0;
}

/* ---- over ranks ----------------------------------------------------------------------------- */

/* Pointers to all that this rank may write to. */
static void point_all(struct fields *f) {
    const struct owners *o = &f->owners;
    for (int what = 0; what < 2; what++) {
        const struct axis *a = what ? &o->y : &o->z;
        for (int i = 0; i < a->n; i++) {
            const int r = a->rank[i], is_mine = f->direct[r] && !a->space[i];
            double *memory = is_mine ? evn_shared_pointer(f->shared, r) : NULL;
            point(f, memory, o->z.host[r], o->y.host[r], i, i, a->at[i], what);
        }
    }
}

static evn_status make_outbox(struct fields *f) {
    free(f->out);
    f->outbox = f->out = room(box_doubles(f) * sizeof *f->out + 64);
    return evn_cluster_agree(f->cluster,
                             f->out ? EVN_OK : evn_fail(EVN_MEMORY, "ft: no memory for an outbox"));
}

/* If ranks share a device, the master fills the others' outboxes, which are therefore one-sided,
 * too, behind the inboxes. */
static evn_status open_boxes(struct fields *f) {
    const int funneled = f->way.variant == FT_FUNNELED;
    const size_t doubles = box_doubles(f);
    evn_status status = funneled ? EVN_OK : make_outbox(f);
    if (status) return status;
    const evn_shared_shape shape = {.bytes = (funneled ? 2 : 1) * doubles * sizeof(double),
                                    .per_node = f->way.per_node};
    status = evn_shared_open(&f->boxes, f->cluster, &shape);
    f->inbox = f->boxes ? evn_shared_memory(f->boxes) : NULL;
    if (funneled) f->outbox = f->inbox ? f->inbox + doubles : NULL;
    return status;
}

/* The ranks' memory, the ranks that are written to directly, and boxes for the others. */
static evn_status open_ranks(struct fields *f) {
    const struct owners *o = &f->owners;
    const int hosts = owners_on_hosts(o); /* ranks with devices are not written to directly */
    const evn_shared_shape shape = {.bytes = doubles(f, o->z.host[o->me], o->y.host[o->me]) *
                                             sizeof(double),
                                    .per_node = f->way.per_node};
    evn_status status = evn_shared_open(&f->shared, f->cluster, &shape);
    double boxes = 0;
    for (int r = 0; !status && r < o->ranks; r++) {
        const int can = evn_shared_pointer(f->shared, r) || !evn_shared_bytes(f->shared, r);
        f->direct[r] = r == o->me || (can && hosts && f->way.variant == FT_BEST);
        if (!f->direct[r]) boxes = 1;
    }
    if (!status) status = evn_shared_reduce(f->shared, EVN_MAX, &boxes, 1);
    status = evn_cluster_agree(f->cluster, status);
    if (!status && boxes > 0) status = open_boxes(f);
    if (!status) point_all(f);
    return status;
}

/* Moves V into the new memory; that of tasks on devices is left for them. */
static evn_status take_over(struct fields *f, double *const *old) {
    int failed = 0;
    for (int t = 0; t < f->owners.tasks; t++) {
        size_t bytes;
        if (!old[t]) continue;
        if (f->owners.space[t]) {
            failed |= set_aside(f, t, old[t]);
            continue;
        }
        double *now = fields_kept(f, t, &bytes);
        memcpy(now, old[t], bytes);
    }
    evn_status status =
        failed ? evn_fail(EVN_MEMORY, "ft: no memory for what goes to devices") : EVN_OK;
    status = evn_cluster_agree(f->cluster, status);
    return status ? status : fields_barrier(f);
}

evn_status fields_deal(struct fields *f, const int *rank, const int *space) {
    if (!f->cluster) return deal_alone(f, rank, space);
    evn_shared *shared = f->shared, *boxes = f->boxes;
    double **old = calloc((size_t)f->owners.tasks, sizeof *old);
    double **come = calloc((size_t)f->owners.tasks, sizeof *come);
    evn_status status =
        old && come ? EVN_OK : evn_fail(EVN_MEMORY, "ft: no memory for %d tasks", f->owners.tasks);
    status = evn_cluster_agree(f->cluster, status);
    for (int t = 0; !status && shared && t < f->owners.tasks; t++) {
        size_t bytes;
        if (rank[t] == f->owners.me) old[t] = fields_kept(f, t, &bytes);
        come[t] = f->come[t];
        f->come[t] = NULL;
    }
    if (!status) {
        f->counts = fields_counts(f);
        f->shared = f->boxes = NULL;
        f->inbox = NULL;
        owners_deal(&f->owners, rank, space);
        status = open_ranks(f);
        if (!status) status = take_over(f, old);
        evn_shared_close(boxes);
        evn_shared_close(shared);
    }
    for (int t = 0; come && t < f->owners.tasks; t++) free(come[t]);
    free_all(come, old);
    return status;
}

evn_status fields_send(struct fields *f, enum turn turn, int begin, int end) {
    const struct owners *o = &f->owners;
    const double since = evn_now();
    evn_status status = EVN_OK;
    for (int i = 1; !status && i < o->ranks; i++) {
        const int to = (o->me + i) % o->ranks;
        const size_t from = out_at(f, turn, to, begin), bytes = out_at(f, turn, to, end) - from;
        if (f->direct[to] || !bytes) continue;
        status = evn_shared_put(f->boxes, to, in_at(f, turn, to, o->me, begin) * sizeof(double),
                                f->outbox + from, bytes * sizeof(double));
    }
    atomic_fetch_add(&f->put_ns, (long long)(1e9 * (evn_now() - since)));
    return status;
}

evn_status fields_send_all(struct fields *f, enum turn turn) {
    evn_status status = fields_send(f, turn, 0, axis_from(f, turn)->count[f->owners.me]);
    return evn_cluster_agree(f->cluster, status);
}

evn_status fields_barrier(struct fields *f) {
    if (!f->cluster) return EVN_OK;
    const double since = evn_now();
    evn_status status = evn_shared_barrier(f->boxes ? f->boxes : f->shared);
    f->barrier_s += evn_now() - since;
    return status;
}

evn_status fields_sum(struct fields *f, double *value, int count) {
    if (!f->cluster) return EVN_OK;
    const double since = evn_now();
    evn_status status = evn_shared_reduce(f->shared, EVN_SUM, value, count);
    f->barrier_s += evn_now() - since;
    return status;
}

evn_shared_counts fields_counts(const struct fields *f) {
    evn_shared_counts c;
    evn_shared_count(f->boxes, &c);
    c.puts += f->counts.puts;
    c.near_puts += f->counts.near_puts;
    c.far_puts += f->counts.far_puts;
    c.bytes += f->counts.bytes;
    c.near_bytes += f->counts.near_bytes;
    c.far_bytes += f->counts.far_bytes;
    return c;
}

/* ---- of a member ---------------------------------------------------------------------------- */

int fields_member(const struct fields *f, int rank, struct member *m) {
    const struct owners *o = &f->owners;
    double *memory = evn_shared_pointer(f->shared, rank);
    *m = (struct member){.rank = rank, .planes = o->z.count[rank], .rows = o->y.count[rank]};
    if (!m->planes && !m->rows) return 0;
    if (!memory || !(m->inbox = evn_shared_pointer(f->boxes, rank))) return -1;
    m->plane = memory;
    m->slab = memory + transform_plane(f->t) * (size_t)m->planes;
    m->outbox = m->inbox + box_of(f, rank);
    return 0;
}

double *fields_member_out(const struct fields *f, const struct member *m, enum turn turn, int from,
                          int line) {
    const struct axis *a = axis_from(f, turn), *b = axis_to(f, turn);
    const int to = b->rank[line];
    if (to == m->rank)
        return m->inbox +
               ((size_t)(a->base[to] + from) * (size_t)b->count[to] + (size_t)b->at[line]) *
                   row_doubles(f);
    return m->outbox + ((size_t)a->count[m->rank] * (size_t)b->base[to] +
                        (size_t)from * (size_t)b->count[to] + (size_t)b->at[line]) *
                           row_doubles(f);
}

const double *fields_member_in(const struct fields *f, const struct member *m, enum turn turn,
                               int line, int here) {
    const struct axis *a = axis_from(f, turn), *b = axis_to(f, turn);
    return m->inbox + ((size_t)(a->base[a->rank[line]] + a->at[line]) * (size_t)b->count[m->rank] +
                       (size_t)here) *
                          row_doubles(f);
}

/* ---- opening -------------------------------------------------------------------------------- */

evn_status fields_open(struct fields *f, const struct transform *t, const struct ft_way *way,
                       evn_cluster *cluster, int tasks) {
    const int n[3] = {t->nx, t->ny, t->nz};
    const int ranks = cluster ? evn_cluster_size(cluster) : 1;
    const int me = cluster ? evn_cluster_rank(cluster) : 0;
    *f = (struct fields){.t = t, .way = *way, .cluster = cluster};
    const int failed = owners_open(&f->owners, n, tasks, ranks, me);
    f->plane = calloc((size_t)n[2], sizeof *f->plane);
    f->slab = calloc((size_t)n[1], sizeof *f->slab);
    if (way->transposes == 2) f->kept = calloc((size_t)n[2], sizeof *f->kept);
    f->block = calloc((size_t)tasks, sizeof *f->block);
    f->come = calloc((size_t)tasks, sizeof *f->come);
    f->direct = calloc((size_t)ranks, 1);
    if (f->direct) f->direct[me] = 1;
    if (failed || !f->plane || !f->slab || (way->transposes == 2 && !f->kept) || !f->block ||
        !f->come || !f->direct)
        return evn_fail(EVN_MEMORY, "ft: not enough memory");
    return EVN_OK;
}

void fields_close(struct fields *f) {
    evn_shared_close(f->boxes);
    evn_shared_close(f->shared);
    for (int t = 0; t < f->owners.tasks; t++) {
        if (f->block) free(f->block[t]);
        if (f->come) free(f->come[t]);
    }
    free_all(f->plane, f->slab, f->kept, f->block, f->come, f->direct, f->out, f->own);
    owners_close(&f->owners);
    *f = (struct fields){0};
}
