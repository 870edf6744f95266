/* Steps and changes of the mesh. */
#include "adaptive/run.h"
#include "common/run/hash.h"
#include "common/run/ranks.h"
#include <evener/change.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Blocks are refined where the density differs by more between cells, over their side, at the
 * roots; twice as much for each level; and merged where it differs by a quarter. */
static const double SQUARE = 20, STEEP = 0.03, MERGE = 0.25;
static const double COURANT = 0.8, SPEEDS = 5.8; /* both directions together */
enum { OPERATIONS = 490 };                       /* nominal operations of a cell in a step */

struct state {
    struct mesh *mesh, before;
    struct change change;
    const struct problem *problem;
    struct outcome *outcome;
    evn_cluster *cluster; /* NULL: alone; each rank has the whole tree, and its own blocks */
    struct mesh *homes;   /* whose blocks travel: `before` while the loop changes */
    evn_loop *loop;
    evn_exchange *ghosts, *fluxes;
    int stage;
    double dt;
    double *steep; /* steepness of each block */
};

static evn_status no_memory(const struct mesh *m) {
    return evn_fail(EVN_MEMORY, "adaptive: no memory for a mesh of %d blocks", m->tree.leaves);
}

/* ---- which blocks there are ---------------------------------------------------------------- */

static signed char wanted(const struct mesh *m, int leaf, double steepness) {
    const double over =
        steepness / mesh_frame(m, leaf).h / (STEEP * (1 << m->tree.leaf[leaf].level));
    return over > 1 ? 1 : over < MERGE ? -1 : 0;
}

int adaptive_decide(const struct mesh *m, const double *steep, struct change *change) {
    signed char *want = malloc((size_t)m->tree.leaves);
    if (!want) return -1;
    for (int t = 0; t < m->tree.leaves; t++) want[t] = wanted(m, t, steep[t]);
    const int failed = quadtree_change(change, &m->tree, want);
    free(want);
    return failed;
}

double adaptive_step(const struct mesh *m) { return COURANT * mesh_finest(m) / SPEEDS; }

static void start_blocks(struct mesh *m, double *steep) {
    for (int t = 0; t < m->tree.leaves; t++) {
        const struct frame f = mesh_frame(m, t);
        adaptive_block_start(m->block[t], &f);
        steep[t] = block_steepness(m->block[t]);
    }
}

int adaptive_begin(struct mesh *m, const struct problem *p) {
    if (adaptive_mesh_open(m, p->size / CELLS, p->levels, SQUARE)) return -1;
    int failed = 0;
    for (int level = 0; !failed && level <= p->levels; level++) {
        struct change c = {0};
        struct mesh before;
        double *steep = malloc((size_t)m->tree.leaves * sizeof *steep);
        if (steep) start_blocks(m, steep);
        failed = !steep || adaptive_decide(m, steep, &c);
        free(steep);
        if (!failed && c.born && !(failed = mesh_change(m, &c, 1, &before))) {
            mesh_forget(&before, &c);
            for (int t = 0; t < m->tree.leaves; t++) {
                const struct frame f = mesh_frame(m, t);
                adaptive_block_start(m->block[t], &f);
            }
        }
        quadtree_close(&c.next);
        quadtree_change_close(&c);
    }
    if (failed) adaptive_mesh_close(m);
    return failed ? -1 : 0;
}

/* ---- blocks of ranks ----------------------------------------------------------------------- */

static evn_status make(void *arg, int t) {
    struct mesh *m = ((struct state *)arg)->homes;
    m->block[t] = mesh_new_block();
    return m->block[t] ? EVN_OK : evn_fail(EVN_MEMORY, "adaptive: no memory for block %d", t);
}

static void *memory(void *arg, int t, int block, size_t *bytes) {
    const struct mesh *m = ((const struct state *)arg)->homes;
    (void)block;
    *bytes = m->block[t] ? sizeof(struct block) : 0;
    return m->block[t];
}

static void drop(void *arg, int t) {
    struct mesh *m = ((struct state *)arg)->homes;
    free(m->block[t]);
    m->block[t] = NULL;
}

/* Each rank had all blocks at the beginning. */
static void leave_to_others(struct state *s) {
    for (int t = 0; t < s->mesh->tree.leaves; t++)
        if (!evn_loop_has(s->loop, t)) drop(s, t);
}

static evn_status make_born(struct state *s) {
    const evn_loop_info is = evn_loop_about(s->loop);
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < is.borns; i++) status = make(s, is.born[i]);
    return status;
}

/* ---- bodies -------------------------------------------------------------------------------- */

static evn_status compute(evn_unit *unit, evn_batch *batch, void *arg) {
    struct state *s = arg;
    struct mesh *m = s->mesh;
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        block_stage(m->block[t], s->stage, s->dt, mesh_frame(m, t).h, m->beyond[t].coarser);
    return EVN_OK;
}

static evn_status correct(evn_unit *unit, evn_batch *batch, void *arg) {
    struct state *s = arg;
    struct mesh *m = s->mesh;
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        block_correct(m->block[t], s->dt, mesh_frame(m, t).h, m->beyond[t].finer);
        s->steep[t] = block_steepness(m->block[t]);
    }
    return EVN_OK;
}

static evn_status bear(evn_unit *unit, evn_batch *batch, void *arg) {
    struct state *s = arg;
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;) mesh_bear(s->mesh, t, &s->change, &s->before);
    return EVN_OK;
}

/* ---- a change ------------------------------------------------------------------------------ */

static evn_status add_faces(struct state *s, const char *born) {
    struct faces f;
    void *const *host = (void *const *)s->mesh->block;
    const int failed = mesh_faces(s->mesh, born, &f);
    evn_status status = ranks_agreed(s->cluster, failed ? no_memory(s->mesh) : EVN_OK);
    if (!status) status = evn_exchange_add(s->ghosts, f.ghosts, f.ghost, host);
    if (!status) status = evn_exchange_add(s->fluxes, f.fluxes, f.flux, host);
    adaptive_faces_close(&f);
    return status;
}

/* The loop goes on with the mesh's new blocks. */
static evn_status go_on(struct state *s) {
    const struct change *c = &s->change;
    const int n = s->mesh->tree.leaves;
    const evn_change change = {
        .tasks = n, .first = c->first, .from = c->from, .kept = c->kept, .links = -1};
    char *born = malloc((size_t)n);
    double *steep = realloc(s->steep, (size_t)n * sizeof *steep);
    if (steep) s->steep = steep;
    evn_status status = ranks_agreed(s->cluster, born && steep ? EVN_OK : no_memory(s->mesh));
    s->homes = &s->before;
    if (!status) status = evn_loop_change(s->loop, &change);
    s->homes = s->mesh;
    if (!status && s->cluster) status = evn_cluster_agree(s->cluster, make_born(s));
    for (int t = 0; born && t < n; t++) born[t] = !c->kept[t];
    if (!status) status = add_faces(s, born);
    if (!status) status = evn_loop_bear(s->loop, bear, s, EVN_READ);
    free(born);
    return status;
}

static void count_change(struct outcome *o, const struct change *c, int before) {
    o->changes++;
    o->born += c->born;
    o->gone += before - (c->leaves - c->born);
    if (c->leaves > o->most) o->most = c->leaves;
}

static evn_status adapt(struct state *s) {
    struct mesh *m = s->mesh;
    const int blocks = m->tree.leaves;
    evn_status status = evn_loop_allgather(s->loop, s->steep, sizeof *s->steep);
    if (status) return status;
    status = adaptive_decide(m, s->steep, &s->change) ? no_memory(m) : EVN_OK;
    if (!status && s->change.born && mesh_change(m, &s->change, !s->cluster, &s->before))
        status = no_memory(m);
    status = ranks_agreed(s->cluster, status);
    if (!status && s->change.born) status = go_on(s);
    if (s->before.block) {
        mesh_forget(&s->before, &s->change);
        count_change(s->outcome, &s->change, blocks);
    }
    quadtree_close(&s->change.next);
    quadtree_change_close(&s->change);
    return status;
}

/* ---- a step -------------------------------------------------------------------------------- */

static evn_status advance(int *done, void *arg) {
    struct state *s = arg;
    evn_status status = EVN_OK;
    for (s->stage = 0; !status && s->stage < 2; s->stage++) {
        status = evn_exchange_run(s->ghosts);
        if (!status) status = evn_loop_run(s->loop, compute, s);
    }
    if (!status) status = evn_exchange_run(s->fluxes);
    if (!status) status = evn_loop_visit(s->loop, correct, s);
    if (status) return status;
    s->outcome->updates += (double)s->mesh->tree.leaves * CELLS * CELLS;
    return ++*done % s->problem->every ? EVN_OK : adapt(s);
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Sums of all blocks, in their order. */
static evn_status all_sums(struct state *s, double time, struct sums *all) {
    const struct mesh *m = s->mesh;
    struct sums *each = malloc((size_t)m->tree.leaves * sizeof *each);
    evn_status status = ranks_agreed(s->cluster, each ? EVN_OK : no_memory(m));
    for (int t = 0; !status && t < m->tree.leaves; t++) {
        const struct frame f = mesh_frame(m, t);
        if (m->block[t]) each[t] = block_sums(m->block[t], &f, time);
    }
    if (!status && s->loop) status = evn_loop_allgather(s->loop, each, sizeof *each);
    *all = (struct sums){0};
    for (int t = 0; !status && t < m->tree.leaves; t++) {
        all->error += each[t].error;
        all->mass += each[t].mass;
        all->energy += each[t].energy;
    }
    free(each);
    return status;
}

/* A block's cells without ghosts. */
struct cells {
    double u[FIELDS][CELLS][CELLS];
};

static void copy_cells(const struct block *b, struct cells *to) {
    for (int k = 0; k < FIELDS; k++)
        for (int j = 0; j < CELLS; j++)
            memcpy(to->u[k][j], &b->u[k][j + GHOSTS][GHOSTS], sizeof to->u[k][j]);
}

static evn_status hash_all(struct state *s, uint64_t *hash) {
    const struct mesh *m = s->mesh;
    struct cells *cells = malloc((size_t)m->tree.leaves * sizeof *cells);
    evn_status status = ranks_agreed(s->cluster, cells ? EVN_OK : no_memory(m));
    for (int t = 0; !status && t < m->tree.leaves; t++)
        if (m->block[t]) copy_cells(m->block[t], &cells[t]);
    if (!status) status = evn_loop_allgather(s->loop, cells, sizeof *cells);
    *hash = HASH_SEED;
    for (int t = 0; !status && t < m->tree.leaves; t++) {
        const struct leaf *l = &m->tree.leaf[t];
        const int where[] = {l->level, l->x, l->y};
        *hash = hash_bytes(*hash, where, sizeof where);
        *hash = hash_bytes(*hash, &cells[t], sizeof cells[t]);
    }
    free(cells);
    return status;
}

/* The error of a scheme of second order on cells of the finest level, with some room; and what is
 * conserved stays. */
static evn_status verify(struct state *s, struct sums start, int steps) {
    struct outcome *o = s->outcome;
    const double h = mesh_finest(s->mesh);
    o->time = steps * s->dt;
    o->blocks = s->mesh->tree.leaves;
    struct sums end;
    evn_status status = all_sums(s, o->time, &end);
    if (!status) status = hash_all(s, &o->run.hash);
    if (status) return status;
    o->error = end.error / (SQUARE * SQUARE);
    o->mass_drift = end.mass / start.mass - 1;
    o->energy_drift = end.energy / start.energy - 1;
    o->run.verified = o->error <= 0.005 * h * h * (1 + o->time) && fabs(o->mass_drift) < 1e-12 &&
                      fabs(o->energy_drift) < 1e-12;
    o->run.mops = o->run.seconds > 0 ? OPERATIONS * o->updates / o->run.seconds / 1e6 : 0;
    return EVN_OK;
}

static evn_status open_all(struct state *s, evn_units *units, evn_schedule *schedule) {
    const size_t n = (size_t)s->mesh->tree.leaves;
    void *const *host = (void *const *)s->mesh->block;
    struct faces f;
    static const evn_home home = {.blocks = 1, .make = make, .memory = memory, .drop = drop};
    s->steep = calloc(n, sizeof *s->steep);
    const int failed = !s->steep || mesh_faces(s->mesh, NULL, &f);
    evn_status status = ranks_agreed(s->cluster, failed ? no_memory(s->mesh) : EVN_OK);
    if (failed) return status;
    if (!status) status = evn_loop_open_on(&s->loop, units, schedule, s->cluster);
    if (!status && s->cluster)
        status = evn_cluster_agree(s->cluster, evn_loop_homes(s->loop, &home, s));
    if (!status) leave_to_others(s);
    if (!status)
        status = evn_exchange_open(&s->ghosts, s->loop, sizeof(double), f.ghosts, f.ghost, host);
    if (!status)
        status = evn_exchange_open(&s->fluxes, s->loop, sizeof(double), f.fluxes, f.flux, host);
    adaptive_faces_close(&f);
    return status;
}

void outcome_free(struct outcome *o) {
    run_result_free(&o->run);
    memset(o, 0, sizeof *o);
}

evn_status adaptive_run(struct mesh *m, const struct problem *p, evn_units *units,
                        evn_schedule *schedule, const struct run_options *options, int steps,
                        struct outcome *o) {
    struct state s = {
        .mesh = m, .homes = m, .problem = p, .outcome = o, .cluster = options->cluster};
    struct sums start;
    outcome_free(o);
    o->most = m->tree.leaves;
    s.dt = adaptive_step(m);
    evn_status status = all_sums(&s, 0, &start);
    if (!status) status = open_all(&s, units, schedule);
    struct timed timed = {
        .options = options, .result = &o->run, .loop = s.loop, .advance = advance, .arg = &s};
    if (!status) status = timed_begin(&timed);
    if (!status) status = timed_steps(&timed, 0, steps);
    if (!status) status = timed_end(&timed);
    if (!status) status = verify(&s, start, steps);
    timed_close(&timed);
    evn_exchange_close(s.ghosts);
    evn_exchange_close(s.fluxes);
    evn_loop_close(s.loop);
    free(s.steep);
    return status;
}
