/* A run: a transform to warm up, then the field, its transform and the steps. A step is a visit of
 * the loop along z, which is its transpose too, and an instance along x and y; the schedule learns
 * from the times of both. */
#include "common/hash.h"
#include "common/room.h"
#include "common/run.h"
#include "ft/ft.h"
#include "ft/parts.h"
#include "ft/start.h"
#include "ft/transform.h"
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const ft *problem;
    ft_shape shape;
    const struct run_options *options;
    evn_units *units;
    evn_loop *loop;
    struct transform t;
    int tasks, steps;
    double **block;           /* of each task: its planes, then its slabs */
    double **plane, **slab;   /* of each z, of each y */
    double **work;            /* of each unit, for all of its cores */
    size_t work_doubles;      /* of a core */
    double *seconds;          /* of each task, along z */
    struct decay rate, decay; /* exponents, and what they are in a step */
    double (*checksum)[2];
    uint64_t *hash; /* of each task's planes */
    atomic_int out_of_memory;
    double phase_s[FT_PHASES];
};

/* ---- bodies -------------------------------------------------------------------------------- */

/* What core `me` of `cores` does of a task; `work` is its own. Where a pass has a barrier it is the
 * team's. */
typedef void task_pass(struct run *run, int task, int me, int cores, double *work);

struct order {
    struct run *run;
    task_pass *pass;
};

static int share(int count, int me, int cores) { return (int)((long long)count * me / cores); }

/* Planes or rows [begin, end) of a task. */
static void planes_of(const struct run *run, int task, int range[2]) {
    for (int i = 0; i < 2; i++) range[i] = parts_begin(run->shape.n[2], run->tasks, task + i);
}
static void rows_of(const struct run *run, int task, int range[2]) {
    for (int i = 0; i < 2; i++) range[i] = parts_begin(run->shape.n[1], run->tasks, task + i);
}

static void by_team(struct run *run, task_pass *pass, int task, const evn_unit *unit) {
    double *work = run->work[evn_unit_number(unit)];
    const int cores = evn_unit_cores(unit);
    if (cores == 1) {
        pass(run, task, 0, 1, work);
        return;
    }
#pragma omp parallel num_threads(cores)
    pass(run, task, omp_get_thread_num(), cores,
         work + (size_t)omp_get_thread_num() * run->work_doubles);
}

static evn_status each_task(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    for (int task; (task = evn_batch_next(batch)) >= 0;) by_team(o->run, o->pass, task, unit);
    if (atomic_load(&o->run->out_of_memory))
        return evn_fail(EVN_MEMORY, "ft: the system gave no memory for the fields");
    return EVN_OK;
}

static evn_status visit(struct run *run, task_pass *pass) {
    return evn_loop_visit(run->loop, each_task, &(struct order){run, pass});
}

/* Along z, with the time of each task noted for the instance that follows. */
static evn_status each_slab(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    for (int task; (task = evn_batch_next(batch)) >= 0;) {
        const double begin = evn_now();
        by_team(o->run, o->pass, task, unit);
        o->run->seconds[task] = evn_now() - begin;
    }
    return EVN_OK;
}

static evn_status each_plane(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    for (int task; (task = evn_batch_next(batch)) >= 0;) {
        by_team(o->run, o->pass, task, unit);
        evn_batch_add(batch, task, o->run->seconds[task]);
    }
    return EVN_OK;
}

/* ---- what is done with tasks ---------------------------------------------------------------- */

/* Fields, first touched by their owner. */
static void make_fields(struct run *run, int task, int me, int cores, double *work) {
    const size_t plane = transform_plane(&run->t), slab = transform_slab(&run->t);
    int z[2], y[2];
    (void)cores;
    (void)work;
    if (me) return;
    planes_of(run, task, z);
    rows_of(run, task, y);
    const size_t doubles = plane * (size_t)(z[1] - z[0]) + slab * (size_t)(y[1] - y[0]);
    double *at = run->block[task] = room(doubles * sizeof *at);
    if (!at) {
        atomic_store(&run->out_of_memory, 1);
        return;
    }
    memset(at, 0, doubles * sizeof *at);
    for (int k = z[0]; k < z[1]; k++, at += plane) run->plane[k] = at;
    for (int j = y[0]; j < y[1]; j++, at += slab) run->slab[j] = at;
}

/* The field at the start, along x and y into layout Y. */
static void start(struct run *run, int task, int me, int cores, double *work) {
    const struct transform *t = &run->t;
    const int y0 = share(t->ny, me, cores), y1 = share(t->ny, me + 1, cores);
    const int p0 = share(t->packs, me, cores), p1 = share(t->packs, me + 1, cores);
    int z[2];
    planes_of(run, task, z);
    for (int k = z[0]; k < z[1]; k++) {
        start_rows(t, run->plane[k], k, y0, y1);
        transform_x(t, run->plane[k], y0, y1, LINE_PLUS, work);
        if (cores > 1) {
#pragma omp barrier
        }
        transform_y_to_slabs(t, run->plane[k], k, run->slab, p0, p1, LINE_PLUS, work);
    }
}

static void start_z(struct run *run, int task, int me, int cores, double *work) {
    const struct transform *t = &run->t;
    int y[2];
    rows_of(run, task, y);
    for (int j = y[0]; j < y[1]; j++)
        transform_z(t, run->slab[j], share(t->packs, me, cores), share(t->packs, me + 1, cores),
                    LINE_PLUS, work);
}

static void step_z(struct run *run, int task, int me, int cores, double *work) {
    const struct transform *t = &run->t;
    int y[2];
    rows_of(run, task, y);
    for (int j = y[0]; j < y[1]; j++)
        transform_z_to_planes(t, run->slab[j], j, &run->decay, run->plane,
                              share(t->packs, me, cores), share(t->packs, me + 1, cores),
                              LINE_MINUS, work);
}

static void step_xy(struct run *run, int task, int me, int cores, double *work) {
    const struct transform *t = &run->t;
    int z[2];
    planes_of(run, task, z);
    for (int k = z[0]; k < z[1]; k++) {
        transform_x(t, run->plane[k], share(t->ny, me, cores), share(t->ny, me + 1, cores),
                    LINE_MINUS, work);
        if (cores > 1) {
#pragma omp barrier
        }
        transform_y(t, run->plane[k], share(t->packs, me, cores), share(t->packs, me + 1, cores),
                    LINE_MINUS, work);
    }
}

/* Of the values in order: planes, rows, points, real part first. */
static void hash_planes(struct run *run, int task, int me, int cores, double *work) {
    const struct transform *t = &run->t;
    uint64_t hash = HASH_SEED, word;
    int z[2];
    (void)cores;
    (void)work;
    if (me) return;
    planes_of(run, task, z);
    for (int k = z[0]; k < z[1]; k++)
        for (int j = 0; j < t->ny; j++)
            for (int i = 0; i < 2 * t->nx; i++) {
                const double *pack = run->plane[k] + j * t->row + i / PACK * PACK;
                memcpy(&word, pack + (i % 2 * PACK_PART + i % PACK / 2), sizeof word);
                hash = hash_word(hash, word);
            }
    run->hash[task] = hash;
}

/* ---- the steps ----------------------------------------------------------------------------- */

/* E = e^(-4 alpha pi^2 (fx^2 + fy^2 + fz^2)) with alpha = 1e-6 (RNR-94-007, 3.4): exponents of each
 * direction's frequencies. */
static void make_rates(struct run *run) {
    double *rate[3] = {run->rate.x, run->rate.y, run->rate.z};
    for (int d = 0; d < 3; d++)
        for (int i = 0, n = run->shape.n[d]; i < n; i++) {
            const double f = i < n / 2 ? i : i - n;
            rate[d][i] = -4e-6 * M_PI * M_PI * f * f;
        }
}

static void make_decay(struct run *run, int step) {
    const double *rate[3] = {run->rate.x, run->rate.y, run->rate.z};
    double *decay[3] = {run->decay.x, run->decay.y, run->decay.z};
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < run->shape.n[d]; i++) decay[d][i] = exp(rate[d][i] * step);
}

/* (1/N) times the sum of 1024 points j: (j mod nx, 3j mod ny, 5j mod nz). */
static void sum(struct run *run, double checksum[2]) {
    const struct transform *t = &run->t;
    const double points = (double)t->nx * t->ny * t->nz;
    double re = 0, im = 0;
    for (int j = 1; j <= 1024; j++) {
        const int x = j % t->nx, y = 3 * j % t->ny, z = 5 * j % t->nz;
        const double *pack = run->plane[z] + y * t->row + x / PACK_PART * PACK;
        re += pack[x % PACK_PART];
        im += pack[PACK_PART + x % PACK_PART];
    }
    checksum[0] = re / points;
    checksum[1] = im / points;
}

/* Notes the time since *since as the phase's, and begins the next one. */
static void lap(struct run *run, enum ft_phase phase, double *since) {
    const double now = evn_now();
    run->phase_s[phase] += now - *since;
    *since = now;
}

/* V, the field of frequencies, in layout Y. */
static evn_status begin(struct run *run) {
    double since = evn_now();
    make_rates(run);
    evn_status status = visit(run, start);
    if (!status) status = visit(run, start_z);
    lap(run, FT_START, &since);
    return status;
}

static evn_status advance(int *done, void *arg) {
    struct run *run = arg;
    evn_status status = *done ? EVN_OK : begin(run);
    double since = evn_now();
    make_decay(run, *done + 1);
    struct order z = {run, step_z}, xy = {run, step_xy};
    if (!status) status = evn_loop_visit(run->loop, each_slab, &z);
    lap(run, FT_Z, &since);
    if (!status) status = evn_loop_run(run->loop, each_plane, &xy);
    lap(run, FT_XY, &since);
    if (status) return status;
    sum(run, run->checksum[*done]);
    lap(run, FT_SUM, &since);
    ++*done;
    return EVN_OK;
}

/* ---- the run ------------------------------------------------------------------------------- */

static evn_status check_memory(const struct run *run) {
    double needed = 8.0 * ((double)transform_plane(&run->t) * run->shape.n[2] +
                           (double)transform_slab(&run->t) * run->shape.n[1]);
    for (int u = 0; u < evn_units_count(run->units); u++)
        needed += 8.0 * evn_unit_cores(evn_units_get(run->units, u)) * (double)run->work_doubles;
    const double there = (double)evn_machine_memory_available(evn_units_machine(run->units));
    if (there <= 0 || needed <= there) return EVN_OK;
    return evn_fail(EVN_MEMORY,
                    "ft needs %.1f GB of memory for %d x %d x %d points and %.1f GB are available; "
                    "choose a smaller class or size",
                    needed * 1e-9, run->shape.n[0], run->shape.n[1], run->shape.n[2], there * 1e-9);
}

static void make_work(evn_unit *unit, void *arg) {
    struct run *run = arg;
    const size_t doubles = run->work_doubles * (size_t)evn_unit_cores(unit);
    double *work = run->work[evn_unit_number(unit)] = room(doubles * sizeof *work);
    if (work)
        memset(work, 0, doubles * sizeof *work);
    else
        atomic_store(&run->out_of_memory, 1);
}

static int make_tables(struct run *run) {
    const size_t units = (size_t)evn_units_count(run->units), tasks = (size_t)run->tasks;
    const size_t axes = (size_t)run->shape.n[0] + run->shape.n[1] + run->shape.n[2];
    struct decay *made[2] = {&run->rate, &run->decay};
    for (int i = 0; i < 2; i++) {
        if (!(made[i]->x = calloc(axes, sizeof(double)))) return -1;
        made[i]->y = made[i]->x + run->shape.n[0];
        made[i]->z = made[i]->y + run->shape.n[1];
    }
    run->block = calloc(tasks, sizeof *run->block);
    run->plane = calloc((size_t)run->shape.n[2], sizeof *run->plane);
    run->slab = calloc((size_t)run->shape.n[1], sizeof *run->slab);
    run->work = calloc(units, sizeof *run->work);
    run->seconds = calloc(tasks, sizeof *run->seconds);
    run->hash = calloc(tasks, sizeof *run->hash);
    run->checksum = calloc((size_t)run->steps + 1, sizeof *run->checksum);
    return run->block && run->plane && run->slab && run->work && run->seconds && run->hash &&
                   run->checksum
               ? 0
               : -1;
}

static evn_status make_room(struct run *run) {
    if (transform_open(&run->t, run->shape.n[0], run->shape.n[1], run->shape.n[2]) ||
        make_tables(run))
        return evn_fail(EVN_MEMORY, "ft: not enough memory");
    run->work_doubles = transform_workspace(&run->t);
    evn_status status = check_memory(run);
    if (!status) status = evn_units_run(run->units, make_work, run);
    return status ? status : visit(run, make_fields);
}

/* Largest relative error of the checksums; -1: there is nothing to compare with. */
static double error_of(const struct run *run) {
    double error = -1;
    if (!run->shape.class_ || run->steps != run->shape.steps) return error;
    for (int i = 0; i < run->steps; i++) {
        const double *is = run->checksum[i], *right = ft_official(run->problem, i + 1);
        const double e = hypot(is[0] - right[0], is[1] - right[1]) / hypot(right[0], right[1]);
        if (!(e <= error)) error = e; /* and where it is not a number */
    }
    return error;
}

static evn_status conclude(struct run *run, struct timed *timed, ft_result *r) {
    evn_status status = timed_end(timed);
    if (!status) status = visit(run, hash_planes);
    if (status) return status;
    r->run.hash = HASH_SEED;
    for (int t = 0; t < run->tasks; t++) r->run.hash = hash_word(r->run.hash, run->hash[t]);
    r->run.mops = r->run.seconds > 0 ? ft_mop(run->problem, run->steps) / r->run.seconds : 0;
    memcpy(r->phase_s, run->phase_s, sizeof r->phase_s);
    r->error = error_of(run);
    r->run.verified = !run->shape.class_ || run->steps != run->shape.steps ? -1 : r->error <= 1e-12;
    r->checksum = run->checksum;
    run->checksum = NULL;
    return EVN_OK;
}

static evn_status run_all(struct run *run, evn_schedule *schedule, ft_result *r) {
    evn_status status = evn_loop_open(&run->loop, run->units, schedule);
    if (!status) status = make_room(run);
    if (!status) status = begin(run); /* to warm up */
    memset(run->phase_s, 0, sizeof run->phase_s);
    if (status) return status;
    struct timed timed = {.options = run->options,
                          .result = &r->run,
                          .loop = run->loop,
                          .advance = advance,
                          .arg = run};
    status = timed_begin(&timed);
    if (!status) status = timed_steps(&timed, 0, run->steps);
    if (!status) status = conclude(run, &timed, r);
    timed_close(&timed);
    return status;
}

static void give_back(struct run *run) {
    for (int u = 0; run->work && u < evn_units_count(run->units); u++) free(run->work[u]);
    for (int t = 0; run->block && t < run->tasks; t++) free(run->block[t]);
    free(run->work);
    free(run->block);
    free(run->plane);
    free(run->slab);
    free(run->seconds);
    free(run->hash);
    free(run->checksum);
    free(run->rate.x);
    free(run->decay.x);
    transform_close(&run->t);
    evn_loop_close(run->loop);
}

evn_status ft_run(ft *problem, evn_units *units, evn_schedule *schedule,
                  const struct run_options *options, ft_result *result) {
    struct run run = {.problem = problem,
                      .shape = ft_describe(problem),
                      .options = options,
                      .units = units,
                      .tasks = ft_tasks(problem).tasks};
    memset(result, 0, sizeof *result);
    atomic_init(&run.out_of_memory, 0);
    run.steps = options->steps < 0 ? run.shape.steps : options->steps;
    evn_status status = run_all(&run, schedule, result);
    give_back(&run);
    if (status) ft_result_free(result);
    return status;
}

void ft_result_free(ft_result *r) {
    run_result_free(&r->run);
    free(r->checksum);
    memset(r, 0, sizeof *r);
}
