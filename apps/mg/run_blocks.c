/* A run in blocks: each rank's unit does a whole cycle in one instance of the loop, and the
 * exchanges of faces lie within it. */
#include "common/hash.h"
#include "common/puts.h"
#include "common/ranks.h"
#include "mg/blocks.h"
#include "mg/mg.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FOUND = 4096 };

struct run {
    const mg *problem;
    mg_shape shape;
    evn_units *units;
    evn_loop *loop;
    evn_cluster *cluster; /* NULL: alone */
    int rank, ranks, steps;
    struct blocks blocks;
    struct charges charges;
    evn_shared_counts puts; /* before the timed part */
    double norm, first_norm;
    double phase_s[MG_PHASES];
};

/* ---- before the first step ------------------------------------------------------------------ */

/* One unit a rank, and its block: else blocks would have to be of unequal size. */
static evn_status check_units(const struct run *run, const evn_schedule *schedule) {
    const int own = evn_units_count(run->units);
    if (strncmp(evn_schedule_text(schedule), "static", 6) != 0)
        return evn_fail(EVN_USAGE,
                        "mg: blocks stay where they are; expected the schedule static, not %s",
                        evn_schedule_text(schedule));
    if (own == 1 && evn_loop_has(run->loop, run->rank)) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "mg: blocks are equal, one a rank; expected one unit a rank, all of the same "
                    "strength, not %s",
                    evn_units_text(run->units));
}

static evn_status check_memory(const struct run *run) {
    double needed = blocks_doubles(run->shape.n, run->ranks) * sizeof(double);
    char what[64];
    snprintf(what, sizeof what, " for %d points a side", run->shape.n);
    return ranks_room(run->cluster, run->units, needed, "mg", what, "class or size");
}

/* Each rank looks at its part of the planes, whoever has the points. */
static evn_status make_charges(struct run *run) {
    const int n = run->shape.n, begin = (int)((long)n * run->rank / run->ranks),
              end = (int)((long)n * (run->rank + 1) / run->ranks);
    struct candidate *found = malloc(FOUND * sizeof *found), *all = NULL;
    evn_status status =
        ranks_agreed(run->cluster, found ? EVN_OK : evn_fail(EVN_MEMORY, "mg: not enough memory"));
    for (double wanted = 64; !status; wanted *= 2) {
        const int count = charges_look(n, begin, end, wanted, found, FOUND);
        int of_all = 0;
        status = ranks_share(run->cluster, found, count < FOUND ? count : FOUND, sizeof *found,
                             (void **)&all, &of_all);
        const int chosen = status ? 0 : charges_choose(&run->charges, n, all, of_all);
        free(all);
        if (!chosen) break;
    }
    free(found);
    return status;
}

/* ---- bodies --------------------------------------------------------------------------------- */

static evn_status start_body(evn_unit *unit, evn_batch *batch, void *arg) {
    struct run *run = arg;
    (void)unit;
    (void)batch;
    blocks_start(&run->blocks, &run->charges);
    return EVN_OK;
}

/* What exchanges take is theirs, the rest the phase's. */
static evn_status timed_body(struct run *run, enum mg_phase phase,
                             evn_status (*part)(struct blocks *blocks)) {
    const double begin = evn_now(), before = run->blocks.faces.seconds;
    evn_status status = part(&run->blocks);
    const double faces = run->blocks.faces.seconds - before;
    run->phase_s[MG_EXCHANGE] += faces;
    run->phase_s[phase] += evn_now() - begin - faces;
    return status;
}

static evn_status residual_body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    (void)batch;
    return timed_body(arg, MG_FIRST, blocks_residual);
}

static evn_status cycle_body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit;
    (void)batch;
    return timed_body(arg, MG_FINEST, blocks_cycle);
}

/* ---- the run -------------------------------------------------------------------------------- */

static evn_status norm(const struct run *run, double *of) {
    double sum = blocks_squares(&run->blocks);
    evn_status status = EVN_OK;
    if (run->cluster) status = evn_shared_reduce(run->blocks.faces.shared, EVN_SUM, &sum, 1);
    *of = sqrt(sum / pow(run->shape.n, 3));
    return status;
}

static evn_status advance(int *done, void *arg) {
    struct run *run = arg;
    evn_status status = EVN_OK;
    if (!*done) {
        status = evn_loop_visit(run->loop, residual_body, run);
        if (!status) status = norm(run, &run->first_norm);
    }
    if (!status) status = evn_loop_run(run->loop, cycle_body, run);
    *done += !status;
    return status;
}

static evn_status finish(void *arg) {
    struct run *run = arg;
    return norm(run, &run->norm);
}

static evn_shared_counts counts(const struct run *run) {
    evn_shared_counts now = {0};
    if (run->blocks.faces.shared) evn_shared_count(run->blocks.faces.shared, &now);
    return now;
}

/* A residual and a cycle that are not timed, and a fresh start. */
static evn_status warm_up(struct run *run) {
    evn_status status = make_charges(run);
    if (!status) status = evn_loop_visit(run->loop, start_body, run);
    if (!status) status = evn_loop_visit(run->loop, residual_body, run);
    if (!status) status = evn_loop_visit(run->loop, cycle_body, run);
    if (!status) status = evn_loop_visit(run->loop, start_body, run);
    if (!status && !run->steps) status = evn_loop_visit(run->loop, residual_body, run);
    memset(run->phase_s, 0, sizeof run->phase_s);
    run->puts = counts(run);
    return status;
}

static evn_status conclude(struct run *run, struct timed *timed, mg_result *r) {
    evn_status status = timed_end(timed);
    uint64_t mine = blocks_hash(&run->blocks), *all = NULL;
    int ranks = 0;
    const evn_shared_counts after = counts(run), between = puts_between(&run->puts, &after);
    if (!status) status = puts_of_ranks(run->cluster, &between, &r->puts);
    if (!status) status = ranks_share(run->cluster, &mine, 1, sizeof mine, (void **)&all, &ranks);
    r->run.hash = HASH_SEED;
    for (int i = 0; !status && i < ranks; i++) r->run.hash = hash_word(r->run.hash, all[i]);
    free(all);
    r->norm = run->norm;
    r->first_norm = run->steps ? run->first_norm : run->norm;
    memcpy(r->phase_s, run->phase_s, sizeof r->phase_s);
    mg_judge(run->problem, run->steps, r);
    return status;
}

static evn_status begin(struct run *run, evn_schedule *schedule,
                        const struct run_options *options) {
    evn_status status = evn_loop_open_on(&run->loop, run->units, schedule, options->cluster);
    if (status) return status;
    run->cluster = evn_loop_cluster(run->loop);
    run->ranks = run->cluster ? evn_cluster_size(run->cluster) : 1;
    run->rank = run->cluster ? evn_cluster_rank(run->cluster) : 0;
    status = ranks_agreed(run->cluster, check_units(run, schedule));
    if (!status) status = ranks_agreed(run->cluster, check_memory(run));
    if (!status)
        status = blocks_open(&run->blocks, run->cluster, run->shape.n, run->shape.smoother,
                             evn_unit_cores(evn_units_get(run->units, 0)),
                             mg_chosen(run->problem).per_node);
    run->blocks.overlap = mg_chosen(run->problem).variant == MG_OVERLAP;
    return status ? status : warm_up(run);
}

static evn_status run_all(struct run *run, evn_schedule *schedule,
                          const struct run_options *options, mg_result *r) {
    evn_status status = begin(run, schedule, options);
    if (status) return status;
    struct timed timed = {.options = options,
                          .result = &r->run,
                          .loop = run->loop,
                          .advance = advance,
                          .finish = finish,
                          .arg = run};
    status = timed_begin(&timed);
    if (!status) status = timed_steps(&timed, 0, run->steps);
    if (!status) status = conclude(run, &timed, r);
    timed_close(&timed);
    return status;
}

evn_status mg_run_blocks(mg *problem, evn_units *units, evn_schedule *schedule,
                         const struct run_options *options, mg_result *result) {
    struct run run = {.problem = problem, .shape = mg_describe(problem), .units = units};
    memset(result, 0, sizeof *result);
    run.steps = options->steps < 0 ? run.shape.steps : options->steps;
    evn_status status = run_all(&run, schedule, options, result);
    blocks_close(&run.blocks);
    evn_loop_close(run.loop);
    if (status) mg_result_free(result);
    return status;
}
