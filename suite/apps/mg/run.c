/* A run: charges, the warm-up step, the timed steps, the norm. One instance of the loop is the
 * sweep of the finest level, which is nearly all there is to do; the levels below are visits. */
#include "common/run/hash.h"
#include "common/run/put_counts.h"
#include "common/run/ranks.h"
#include "common/run/run.h"
#include "mg/device/device_steps.h"
#include "mg/slabs/halo.h"
#include "mg/mg.h"
#include "mg/slabs/pieces.h"
#include "mg/device/split.h"
#include "mg/state.h"
#include "mg/slabs/sweep.h"
#include "common/run/free_all.h"
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const mg *problem;
    mg_shape shape;
    const struct run_options *options;
    evn_units *units;
    evn_loop *loop;
    struct problem p;
    evn_cluster *cluster; /* NULL: this process alone */
    struct halo halo;
    struct split split;
    evn_status late; /* a device's failure between two visits, of which the next tells */
    char late_text[512];
    int many;               /* tasks are in several places: other ranks, or devices beside others */
    evn_shared_counts puts; /* before the timed part */
    struct pieces pieces;
    struct work **work; /* work space of each core of each unit */
    int steps;
    int tasks;
    uint64_t *hash; /* hash of each plane of the finest level */
    struct candidate *found;
    atomic_int count;
    double wanted;
    double first_norm;
    struct mg_state state;
    double phase_s[MG_PHASES];
};

enum { FOUND = 8192, SQUARES = 8 * MG_PLANES /* entries of a task */ };

/* ---- bodies -------------------------------------------------------------------------------- */

/* Work on a piece, tasks [begin, end), by one thread. */
typedef void piece_pass(struct run *run, struct work *work, int begin, int end, int what);

/* A pass on the host; on a device, with all pieces of a batch (NULL: its leader does it on the
 * host). */
struct pass {
    piece_pass *host;
    device_step *device;
};

struct order {
    struct run *run;
    const struct pass *pass;
    int what;
};

/* Other ranks wait for what this one puts: so it goes on until all meet, in a visit. */
static void fails_later(struct run *run, evn_status status) {
    if (!status || run->late) return;
    run->late = status;
    snprintf(run->late_text, sizeof run->late_text, "%s", evn_message());
}

static evn_status on_device(const struct order *o, const evn_unit *unit, const evn_batch *batch,
                            struct task_ranges tasks) {
    struct part *part = NULL;
    for (int i = 0; i < tasks.count; i++)
        for (int t = tasks.begin[i]; t < tasks.end[i]; t++) {
            part = split_part(&o->run->split, evn_unit_number(unit), evn_batch_device(batch), t);
            if (!part) return EVN_USAGE;
        }
    return part ? o->pass->device(part, o->run->p.square, tasks, o->what) : EVN_OK;
}

/* The pieces of the batch, by the unit's team. */
static evn_status each_piece(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    struct run *run = o->run;
    if (run->late) return evn_fail(run->late, "mg: planes of devices: %s", run->late_text);
    int count, cores = evn_unit_cores(unit);
    const int *task = evn_batch_tasks(batch, &count);
    int *begin = malloc(2 * (size_t)count * sizeof *begin);
    if (!begin) return evn_fail(EVN_MEMORY, "mg: not enough memory");
    const int pieces = pieces_of(&run->pieces, task, count, begin, begin + count);
    if (evn_batch_device(batch) >= 0 && o->pass->device) {
        evn_status status =
            on_device(o, unit, batch, (struct task_ranges){begin, begin + count, pieces});
        free(begin);
        return status;
    }
    struct work *work = run->work[evn_unit_number(unit)];
#pragma omp parallel for num_threads(cores) schedule(static, 1) if (pieces > 1)
    for (int i = 0; i < pieces; i++)
        o->pass->host(run, &work[omp_get_thread_num()], begin[i], begin[count + i], o->what);
    free(begin);
    return EVN_OK;
}

static evn_status visit(struct run *run, const struct pass *pass, int what) {
    return evn_loop_visit(run->loop, each_piece, &(struct order){run, pass, what});
}

/* A visit whose time is noted. */
static evn_status visit_phase(struct run *run, enum mg_phase phase, const struct pass *pass,
                              int what) {
    const double begin = evn_now();
    evn_status status = visit(run, pass, what);
    run->phase_s[phase] += evn_now() - begin;
    return status;
}

/* Planes of other ranks and of other places of this one; nothing alone. */
static evn_status exchange(struct run *run, enum halo_kind kind) {
    const double begin = evn_now();
    fails_later(run, split_send(&run->split, kind));
    evn_status status = halo_exchange(&run->halo, kind);
    if (!status) fails_later(run, split_take(&run->split, kind));
    run->phase_s[MG_EXCHANGE] += evn_now() - begin;
    return status;
}

/* ---- before the first step ----------------------------------------------------------------- */

static void work_begin(evn_unit *unit, void *arg) {
    struct run *run = arg;
    const int u = evn_unit_number(unit), cores = evn_unit_cores(unit);
    struct work *work = calloc((size_t)cores, sizeof *work);
    run->work[u] = work;
    if (!work) return;
#pragma omp parallel num_threads(cores)
    work_open(&work[omp_get_thread_num()], run->shape.n);
}

static evn_status make_work(struct run *run) {
    const int units = evn_units_count(run->units);
    run->work = calloc((size_t)units, sizeof *run->work);
    if (!run->work) return evn_fail(EVN_MEMORY, "mg: not enough memory");
    evn_status status = evn_units_run(run->units, work_begin, run);
    for (int u = 0; !status && u < units; u++)
        for (int c = 0; !status && c < evn_unit_cores(evn_units_get(run->units, u)); c++)
            if (!run->work[u] || !run->work[u][c].memory)
                status = evn_fail(EVN_MEMORY, "mg: no memory for the work space of unit %d", u);
    return status;
}

/* Checks the needed memory against the available one. A rank has its tasks' part of each level. */
static evn_status check_memory(struct run *run) {
    const struct level level = level_shape(run->shape.n);
    int own = 0;
    for (int t = 0; t < run->tasks; t++) own += evn_loop_has(run->loop, t);
    double needed = run->shape.bytes * own / run->tasks;
    for (int u = 0; u < evn_units_count(run->units); u++)
        needed += evn_unit_cores(evn_units_get(run->units, u)) *
                  ((double)work_doubles(level.n) + SWEEP_ASIDE * (double)level.plane) * 8;
    char what[64];
    snprintf(what, sizeof what, " for %d points a side", run->shape.n);
    return ranks_room(run->cluster, run->units, needed, "mg", what, "class or size");
}

static void look_for_charges(struct run *run, struct work *work, int begin, int end, int what) {
    struct candidate found[256];
    (void)work;
    (void)what;
    const int count =
        charges_look(run->shape.n, MG_PLANES * begin, MG_PLANES * end, run->wanted, found, 256);
    const int at = atomic_fetch_add(&run->count, count);
    for (int i = 0; i < count && i < 256 && at + i < FOUND; i++) run->found[at + i] = found[i];
}
static const struct pass look_for_charges_pass = {look_for_charges, NULL};

/* More and more are wanted until there are ten of each kind, which is nearly always at once. */
static evn_status make_charges(struct run *run) {
    run->found = malloc(FOUND * sizeof *run->found);
    if (!run->found) return evn_fail(EVN_MEMORY, "mg: not enough memory");
    for (run->wanted = 64;; run->wanted *= 2) {
        atomic_store(&run->count, 0);
        evn_status status = visit(run, &look_for_charges_pass, 0);
        struct candidate *all = NULL;
        int count = atomic_load(&run->count);
        if (!status)
            status = ranks_share(run->cluster, run->found, count < FOUND ? count : FOUND,
                                 sizeof *all, (void **)&all, &count);
        const int chosen = status ? 0 : charges_choose(&run->p.charges, run->shape.n, all, count);
        free(all);
        if (status || !chosen) return status;
    }
}

/* u = 0, first touched by its owner; where a task has planes of a level. */
static void clear(struct run *run, struct work *work, int begin, int end, int what) {
    const struct grid *g = &run->p.grid;
    (void)work;
    for (int l = g->finest; l > g->finest - MG_SHARED; l--) {
        const struct level *level = &g->level[l];
        const int planes = MG_PLANES >> (g->finest - l);
        const size_t bytes = (size_t)((end - begin) * planes * level->plane) * sizeof(double);
        memset(level->u + begin * planes * level->plane, 0, bytes);
        if (level->r && what) memset(level->r + begin * planes * level->plane, 0, bytes);
    }
}
static const struct pass clear_pass = {clear, device_clear};

/* ---- a step -------------------------------------------------------------------------------- */

static void first_residual(struct run *run, struct work *work, int begin, int end, int what) {
    sweep_residual(&run->p, work, MG_PLANES * begin, MG_PLANES * end, what);
}
static const struct pass first_residual_pass = {first_residual, device_first};

static void down(struct run *run, struct work *work, int begin, int end, int l) {
    const int planes = MG_PLANES >> (run->p.grid.finest - l + 1);
    (void)work;
    sweep_down(&run->p, l, begin * planes, end * planes);
}
static const struct pass down_pass = {down, device_down};

/* A plane of the first level that is no task's own lies under two tasks: it is the first one's. */
static void down_shared(struct run *run, struct work *work, int begin, int end, int l) {
    (void)work;
    sweep_down(&run->p, l, (begin + 1) / 2, (end + 1) / 2);
}
static const struct pass down_shared_pass = {down_shared, device_down_shared};

static void up(struct run *run, struct work *work, int begin, int end, int l) {
    const int planes = MG_PLANES >> (run->p.grid.finest - l);
    sweep_up(&run->p, work, l, begin * planes, end * planes, NULL, 0);
}
static const struct pass up_pass = {up, device_up};

static double *aside_of(const struct run *run, int begin) {
    const struct grid *g = &run->p.grid;
    return run->pieces.planes + run->pieces.aside[begin] * SWEEP_ASIDE * g->level[g->finest].plane;
}

/* The pieces are those of the instance to come, whatever batches this visit has. */
static void ghosts(struct run *run, struct work *work, int begin, int end, int what) {
    (void)work;
    (void)what;
    if (!run->pieces.first[begin] || split_away(&run->split, begin)) return;
    while (end < run->tasks && !run->pieces.first[end]) end++;
    sweep_aside(&run->p, MG_PLANES * begin, MG_PLANES * end, aside_of(run, begin));
}
static const struct pass ghosts_pass = {ghosts, NULL};

static void finest(struct run *run, struct work *work, int begin, int end, int what) {
    sweep_up(&run->p, work, run->p.grid.finest, MG_PLANES * begin, MG_PLANES * end,
             aside_of(run, begin), what);
}
static const struct pass finest_pass = {finest, device_finest};

static void edges(struct run *run, struct work *work, int begin, int end, int what) {
    sweep_edges(&run->p, work, MG_PLANES * begin, MG_PLANES * end, what);
}
static const struct pass edges_pass = {edges, device_edges};

/* The levels of no task, by this thread, on every rank the same; by the device that has all. */
static evn_status coarse(struct run *run) {
    const double begin = evn_now();
    const int top = run->p.grid.finest - MG_SHARED, first = 0, n = run->p.grid.level[top].n;
    evn_status status = EVN_OK;
    if (run->split.whole) {
        status = part_down(run->split.part, top, &first, &n, 1);
        if (!status) status = part_below(run->split.part, top);
    } else {
        if (!run->many) sweep_down(&run->p, top + 1, 0, n);
        sweep_below(&run->p, &run->work[0][0], top);
        fails_later(run, split_take(&run->split, SPLIT_U3));
    }
    run->phase_s[MG_COARSE] += evn_now() - begin;
    return status;
}

/* From the second level to the first one that is no task's own. */
static evn_status down_to_coarse(struct run *run) {
    const int top = run->p.grid.finest;
    evn_status status = exchange(run, HALO_R1);
    if (!status) status = visit_phase(run, MG_MIDDLE, &down_pass, top - 1);
    if (status || !run->many) return status;
    status = exchange(run, HALO_R2);
    if (!status) status = visit_phase(run, MG_MIDDLE, &down_shared_pass, top - 2);
    return status ? status : exchange(run, HALO_R3);
}

/* All of a cycle below the finest level, whose restricted residual is there. */
static evn_status below_finest(struct run *run) {
    const int top = run->p.grid.finest;
    evn_status status = down_to_coarse(run);
    if (!status) status = coarse(run);
    if (!status) status = visit_phase(run, MG_MIDDLE, &up_pass, top - 2);
    if (!status) status = exchange(run, HALO_U2);
    if (!status) status = visit_phase(run, MG_MIDDLE, &up_pass, top - 1);
    return status ? status : exchange(run, HALO_U1);
}

/* Plans the transfers for the present owners; tasks may have moved. */
static evn_status plan(struct run *run) {
    evn_status status = halo_plan(&run->halo, run->loop);
    if (!status) fails_later(run, split_plan(&run->split, run->loop, &run->pieces));
    return status;
}

/* A cycle, and the residual after it: its squares after the last, else restricted for the next.
 * `counts`: an instance of the loop, of which the schedule learns. */
static evn_status step(struct run *run, int what, int counts) {
    struct order order = {run, &finest_pass, what};
    const struct grid *g = &run->p.grid;
    evn_status status = below_finest(run);
    if (!status) status = pieces_plan(&run->pieces, run->loop, (size_t)g->level[g->finest].plane);
    if (!status && counts) fails_later(run, split_before(&run->split, run->loop));
    if (!status) status = visit_phase(run, MG_EDGES, &ghosts_pass, 0);
    const double begin = evn_now();
    if (!status) status = (counts ? evn_loop_run : evn_loop_visit)(run->loop, each_piece, &order);
    run->phase_s[MG_FINEST] += evn_now() - begin;
    if (!status) status = plan(run);
    if (!status) status = exchange(run, HALO_U0);
    return status ? status : visit_phase(run, MG_EDGES, &edges_pass, what);
}

/* Lets all ranks have the squares of each plane. */
static evn_status share_squares(void *arg) {
    struct run *run = arg;
    return evn_loop_allgather(run->loop, run->p.square, SQUARES * sizeof(double));
}

/* Norm by the squares of each plane, planes in order. */
static double norm(const struct run *run) {
    const int n = run->shape.n;
    double sum = 0;
    for (int i = 0; i < 8 * n; i++) sum += run->p.square[i];
    return sqrt(sum / n / n / n);
}

static evn_status advance(int *done, void *arg) {
    struct run *run = arg;
    evn_status status = EVN_OK;
    if (!*done) {
        status = visit_phase(run, MG_FIRST, &first_residual_pass, SWEEP_RESTRICT | SWEEP_SQUARES);
        if (!status) status = share_squares(run);
        run->first_norm = norm(run);
    }
    if (!status) status = step(run, *done + 1 == run->steps ? SWEEP_SQUARES : SWEEP_RESTRICT, 1);
    *done += !status;
    return status;
}

/* ---- the run ------------------------------------------------------------------------------- */

/* u = 0, also where it is a copy of another rank's. */
static evn_status clear_all(struct run *run, int coarse_too) {
    evn_status status = visit(run, &clear_pass, coarse_too);
    return status ? status : exchange(run, HALO_U0);
}

static evn_status keep(int done, int stopping, void *arg) {
    return states_keep(&((struct run *)arg)->state.states, done, stopping);
}

/* The norm that it began with, while u is 0; then u as it was kept, and what the next step begins
 * with, or what the last one has ended with. */
static evn_status go_on(struct run *run) {
    evn_status status = visit(run, &first_residual_pass, SWEEP_SQUARES);
    if (!status) status = share_squares(run);
    run->first_norm = norm(run);
    if (!status) status = states_load(&run->state.states);
    if (!status) {
        fails_later(run, mg_state_bring(&run->state));
        status = exchange(run, HALO_U0);
    }
    return status ? status : visit(run, &first_residual_pass, SWEEP_RESTRICT | SWEEP_SQUARES);
}

/* A step that is not timed, and a fresh start. */
static evn_status warm_up(struct run *run) {
    evn_status status = clear_all(run, 1);
    if (!status) status = make_charges(run);
    for (int i = 0; !status && i < run->split.count; i++)
        fails_later(run, part_charges(&run->split.part[i], &run->p.charges));
    if (!status) status = visit(run, &first_residual_pass, SWEEP_RESTRICT | SWEEP_SQUARES);
    if (!status) status = step(run, SWEEP_RESTRICT, 0);
    if (!status) status = clear_all(run, 0);
    if (!status && run->state.states.from) status = go_on(run);
    memset(run->phase_s, 0, sizeof run->phase_s);
    run->split.moved = 0;
    run->split.moved_bytes = 0;
    run->puts = halo_counts(&run->halo);
    return status;
}

static void hash_planes(struct run *run, struct work *work, int begin, int end, int what) {
    const struct level *level = &run->p.grid.level[run->p.grid.finest];
    (void)work;
    (void)what;
    for (int k = MG_PLANES * begin; k < MG_PLANES * end; k++) {
        uint64_t hash = HASH_SEED, word;
        for (int j = 0; j < level->n; j++) {
            const double *row = level->u + k * level->plane + j * level->row;
            for (int i = 0; i < level->n; i++) {
                memcpy(&word, &row[i], sizeof word);
                hash = hash_word(hash, word);
            }
        }
        run->hash[k] = hash;
    }
}
static const struct pass hash_planes_pass = {hash_planes, NULL};

static evn_status conclude(struct run *run, struct timed *timed, mg_result *r) {
    evn_status status = timed_end(timed);
    for (int t = 0; !status && t < run->tasks; t++) fails_later(run, split_fetch(&run->split, t));
    if (!status) status = visit(run, &hash_planes_pass, 0);
    if (!status) status = evn_loop_allgather(run->loop, run->hash, MG_PLANES * sizeof *run->hash);
    const evn_shared_counts puts = halo_counts(&run->halo);
    const evn_shared_counts mine = puts_between(&run->puts, &puts);
    if (!status) status = puts_of_ranks(run->cluster, &mine, &r->puts);
    if (status) return status;
    r->run.moved.copies += run->split.moved;
    r->run.moved.bytes += (long long)run->split.moved_bytes;
    r->run.hash = HASH_SEED;
    for (int k = 0; k < run->shape.n; k++) r->run.hash = hash_word(r->run.hash, run->hash[k]);
    r->first_norm = run->steps ? run->first_norm : norm(run);
    r->norm = norm(run);
    memcpy(r->phase_s, run->phase_s, sizeof r->phase_s);
    states_report(&run->state.states, &r->run);
    mg_judge(run->problem, run->steps, r);
    return EVN_OK;
}

/* ---- tasks that go to another rank ---------------------------------------------------------- */

/* A task's state is u of its planes; the squares of the last residual go with it. What is made of u
 * when the sweep is over is made where it has come to: it is a piece of its own for that. */
static evn_status make_home(void *arg, int task) {
    (void)arg;
    (void)task;
    return EVN_OK;
}

static void *home_memory(void *arg, int task, int block, size_t *bytes) {
    struct run *run = arg;
    const struct level *level = &run->p.grid.level[run->p.grid.finest];
    *bytes = block ? SQUARES * sizeof(double) : (size_t)(MG_PLANES * level->plane) * sizeof(double);
    if (!block && split_fetch(&run->split, task)) return NULL;
    return block ? run->p.square + SQUARES * task : level_plane(level, level->u, MG_PLANES * task);
}

static void drop_home(void *arg, int task) {
    (void)arg;
    (void)task;
}

static evn_status arrived(void *arg, int task) {
    struct run *run = arg;
    run->pieces.first[task] = 1;
    if (task + 1 < run->tasks) run->pieces.first[task + 1] = 1;
    return EVN_OK;
}

static const evn_home home = {
    .blocks = 2, .make = make_home, .memory = home_memory, .drop = drop_home, .arrived = arrived};

/* ---- all of it ------------------------------------------------------------------------------ */

static evn_status make_room(struct run *run) {
    const size_t n = (size_t)run->shape.n;
    static const struct smoother smoother[] = {{-3.0 / 8, 1.0 / 32, -1.0 / 64},
                                               {-3.0 / 17, 1.0 / 33, -1.0 / 61}};
    run->p.smoother = smoother[run->shape.smoother == 'b'];
    run->p.square = calloc(8 * n, sizeof *run->p.square);
    run->hash = calloc(n, sizeof *run->hash);
    if (!run->p.square || !run->hash) return evn_fail(EVN_MEMORY, "mg: not enough memory");
    evn_status status = grid_open(&run->p.grid, run->shape.n);
    if (!status) status = make_work(run);
    if (!status) status = pieces_open(&run->pieces, run->tasks);
    if (!status)
        status = halo_open(&run->halo, run->cluster, &run->p.grid, run->tasks,
                           mg_chosen(run->problem).per_node);
    if (status) return status;
    const struct level *level = &run->p.grid.level[run->p.grid.finest];
    return pieces_plan(&run->pieces, run->loop, (size_t)level->plane);
}

/* Devices, where there are any. */
static evn_status make_split(struct run *run) {
    evn_status status = split_open(&run->split, &run->p, &run->halo, run->loop, run->tasks);
    run->many = run->cluster || (run->split.count && !run->split.whole);
    return status;
}

static evn_status run_all(struct run *run, evn_schedule *schedule, mg_result *r) {
    evn_status status = mg_state_open(&run->state, run->problem, &run->p.grid, &run->split);
    if (status) return status;
    states_schedule(&run->state.states, schedule);
    status = evn_loop_open_on(&run->loop, run->units, schedule, run->options->cluster);
    if (status) return status;
    /* a unit's slabs are swept in pieces, whose ghost planes are planned by owners */
    status = evn_loop_stealing(run->loop, 0);
    if (status) return status;
    run->state.states.loop = run->loop;
    run->cluster = evn_loop_about(run->loop).cluster;
    status = ranks_agreed(run->cluster, check_memory(run));
    if (!status) status = ranks_agreed(run->cluster, make_room(run));
    if (!status) status = ranks_agreed(run->cluster, evn_loop_homes(run->loop, &home, run));
    if (!status) status = halo_plan(&run->halo, run->loop);
    if (!status) status = ranks_agreed(run->cluster, make_split(run));
    if (!status) status = warm_up(run);
    if (status) return status;
    struct timed timed = {.options = run->options,
                          .result = &r->run,
                          .loop = run->loop,
                          .advance = advance,
                          .after = keep,
                          .finish = share_squares,
                          .arg = run};
    status = timed_begin(&timed);
    if (!status) status = states_steps(&run->state.states, &timed);
    if (!status) status = conclude(run, &timed, r);
    timed_close(&timed);
    return status;
}

static void give_back(struct run *run) {
    for (int u = 0; run->work && u < evn_units_count(run->units); u++) {
        for (int c = 0; run->work[u] && c < evn_unit_cores(evn_units_get(run->units, u)); c++)
            work_close(&run->work[u][c]);
        free(run->work[u]);
    }
    free(run->work);
    pieces_close(&run->pieces);
    mg_state_close(&run->state);
    split_close(&run->split);
    halo_close(&run->halo);
    evn_loop_close(run->loop);
    grid_close(&run->p.grid);
    free_all(run->p.square, run->hash, run->found);
}

evn_status mg_run(mg *problem, evn_units *units, evn_schedule *schedule,
                  const struct run_options *options, mg_result *result) {
    if (mg_chosen(problem).variant != MG_BEST)
        return mg_run_blocks(problem, units, schedule, options, result);
    struct run run = {.problem = problem,
                      .shape = mg_describe(problem),
                      .options = options,
                      .units = units,
                      .tasks = mg_tasks(problem).tasks};
    memset(result, 0, sizeof *result);
    atomic_init(&run.count, 0);
    run.steps = options->steps < 0 ? run.shape.steps : options->steps;
    run.state.states = (struct states){
        .files = options->files, .cluster = options->cluster, .units = units, .steps = run.steps};
    evn_status status = run_all(&run, schedule, result);
    give_back(&run);
    if (status) mg_result_free(result);
    return status;
}

void mg_result_free(mg_result *r) {
    run_result_free(&r->run);
    memset(r, 0, sizeof *r);
}
