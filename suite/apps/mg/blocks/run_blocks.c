/* A run in blocks: each rank's unit does a whole cycle in one instance of the loop, and the
 * exchanges of faces lie within it. */
#include "common/run/hash.h"
#include "common/run/put_counts.h"
#include "common/run/ranks.h"
#include "mg/blocks/block_member.h"
#include "mg/blocks/block_team.h"
#include "mg/blocks/blocks.h"
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
    evn_cluster *cluster; /* NULL: one process */
    int rank, ranks, steps;
    struct blocks blocks;       /* where they are on the host */
    struct block_team team;     /* on a device */
    struct block_member member; /* computed by another rank */
    const struct engine *engine;
    int *master; /* one for each rank; NULL without ranks */
    struct charges charges;
    evn_shared_counts puts; /* before the timed part, as the next one */
    mg_block_counts counts;
    double squares;
    uint64_t hash;
    double norm, first_norm;
    double phase_s[MG_PHASES];
};

/* ---- where blocks are ----------------------------------------------------------------------- */

/* Work of a rank on its block, or on those that it computes for others. */
struct engine {
    evn_status (*start)(struct run *run);
    evn_status (*residual)(struct run *run);
    evn_status (*cycle)(struct run *run);
    evn_status (*squares)(struct run *run);
    evn_status (*hash)(struct run *run);
};

static evn_status host_start(struct run *run) {
    blocks_start(&run->blocks, &run->charges);
    return EVN_OK;
}
static evn_status host_residual(struct run *run) { return blocks_residual(&run->blocks); }
static evn_status host_cycle(struct run *run) { return blocks_cycle(&run->blocks); }
static evn_status host_squares(struct run *run) {
    run->squares = blocks_squares(&run->blocks);
    return EVN_OK;
}
static evn_status host_hash(struct run *run) {
    run->hash = blocks_hash(&run->blocks);
    return EVN_OK;
}
static const struct engine on_host = {host_start, host_residual, host_cycle, host_squares,
                                      host_hash};

static evn_status device_start(struct run *run) {
    return block_team_start(&run->team, &run->charges);
}
static evn_status device_residual(struct run *run) { return block_team_residual(&run->team); }
static evn_status device_cycle(struct run *run) { return block_team_cycle(&run->team); }
static evn_status device_squares(struct run *run) {
    return block_team_squares(&run->team, &run->squares);
}
static evn_status device_hash(struct run *run) { return block_team_hash(&run->team, &run->hash); }
static const struct engine on_device = {device_start, device_residual, device_cycle, device_squares,
                                        device_hash};

static evn_status member_start(struct run *run) {
    (void)run;
    return EVN_OK;
}
static evn_status led_residual(struct run *run) { return block_member_residual(&run->member); }
static evn_status led_cycle(struct run *run) { return block_member_cycle(&run->member); }
static evn_status led_squares(struct run *run) {
    return block_member_word(&run->member, &run->squares);
}
static evn_status led_hash(struct run *run) { return block_member_word(&run->member, &run->hash); }
static const struct engine elsewhere = {member_start, led_residual, led_cycle, led_squares,
                                        led_hash};

/* ---- before the first step ------------------------------------------------------------------ */

/* One unit a rank, and its block: else blocks would have to be of unequal size. */
static evn_status check_units(const struct run *run, const evn_schedule *schedule) {
    const int own = evn_units_count(run->units);
    if (strncmp(evn_schedule_text(schedule), "static", 6) != 0)
        return evn_fail(EVN_USAGE,
                        "mg: blocks stay where they are; expected the schedule static, not %s",
                        evn_schedule_text(schedule));
    if (own == 1 && evn_loop_has(run->loop, run->rank) && evn_units_about(run->units).devices < 2)
        return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "mg: blocks are equal, one a rank; expected one unit a rank, all of the same "
                    "strength, not %s",
                    evn_units_text(run->units));
}

static evn_status check_memory(const struct run *run) {
    double needed =
        run->engine == &on_host ? blocks_doubles(run->shape.n, run->ranks) * sizeof(double) : 0;
    char what[64];
    snprintf(what, sizeof what, " for %d points a side", run->shape.n);
    return ranks_room(run->cluster, run->units, needed, "mg", what, "class or size");
}

/* Each rank looks at its part of the planes, also at points of other ranks. */
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

/* A unit's leader does its part, whatever the batch: blocks do not move. */
typedef evn_status block_part(struct run *run);

struct order {
    struct run *run;
    block_part *part;
};

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    const struct order *o = arg;
    (void)unit;
    (void)batch;
    return o->part(o->run);
}

static evn_status visit(struct run *run, block_part *part) {
    return evn_loop_visit(run->loop, body, &(struct order){run, part});
}

/* Hash of the rank's own block. */
static double exchange_seconds(const struct run *run) {
    if (run->engine != &on_device) return run->blocks.faces.seconds;
    const mg_block_counts c = block_team_count(&run->team);
    return c.device_s + c.local_s + c.put_s;
}

/* Time of exchanges is theirs, the rest the phase's. */
static evn_status timed_part(struct run *run, enum mg_phase phase, block_part *part) {
    const double begin = evn_now(), before = exchange_seconds(run);
    evn_status status = part(run);
    const double faces = exchange_seconds(run) - before;
    run->phase_s[MG_EXCHANGE] += faces;
    run->phase_s[phase] += evn_now() - begin - faces;
    return status;
}

static evn_status residual(struct run *run) {
    return timed_part(run, MG_FIRST, run->engine->residual);
}

static evn_status cycle(struct run *run) { return timed_part(run, MG_FINEST, run->engine->cycle); }

/* ---- the run -------------------------------------------------------------------------------- */

static evn_status norm(struct run *run, double *of) {
    evn_status status = visit(run, run->engine->squares);
    double sum = run->squares;
    if (!status && run->cluster)
        status = evn_shared_reduce(run->blocks.faces.shared, EVN_SUM, &sum, 1);
    *of = sqrt(sum / pow(run->shape.n, 3));
    return status;
}

static evn_status advance(int *done, void *arg) {
    struct run *run = arg;
    evn_status status = EVN_OK;
    if (!*done) {
        status = visit(run, residual);
        if (!status) status = norm(run, &run->first_norm);
    }
    if (!status) status = evn_loop_run(run->loop, body, &(struct order){run, cycle});
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

static mg_block_counts block_counts(const struct run *run) {
    return run->engine == &on_device ? block_team_count(&run->team) : (mg_block_counts){0};
}

/* A residual and a cycle that are not timed, and a fresh start. */
static evn_status warm_up(struct run *run) {
    evn_status status = make_charges(run);
    if (!status) status = visit(run, run->engine->start);
    if (!status) status = visit(run, residual);
    if (!status) status = visit(run, cycle);
    if (!status) status = visit(run, run->engine->start);
    if (!status && !run->steps) status = visit(run, residual);
    memset(run->phase_s, 0, sizeof run->phase_s);
    memset(run->blocks.seconds, 0, sizeof run->blocks.seconds);
    run->puts = counts(run);
    run->counts = block_counts(run);
    return status;
}

static mg_block_counts add(const mg_block_counts *a, const mg_block_counts *b, int sign) {
    mg_block_counts c = *a;
    c.launches += sign * b->launches;
    c.within += sign * b->within;
    c.within_bytes += sign * b->within_bytes;
    c.copies += sign * b->copies;
    c.copied_bytes += sign * b->copied_bytes;
    c.device.copies_in += sign * b->device.copies_in;
    c.device.bytes_in += sign * b->device.bytes_in;
    c.device.copies_out += sign * b->device.copies_out;
    c.device.bytes_out += sign * b->device.bytes_out;
    return c;
}

/* Counts of devices in the timed part. */
static evn_status sum_counts(const struct run *run, mg_block_counts *sum) {
    const mg_block_counts now = block_counts(run), *before = &run->counts;
    mg_block_counts mine = add(&now, before, -1), *all = NULL;
    mine.device_s -= before->device_s;
    mine.local_s -= before->local_s;
    mine.put_s -= before->put_s;
    int ranks = 0;
    evn_status status = ranks_share(run->cluster, &mine, 1, sizeof mine, (void **)&all, &ranks);
    if (status) return status;
    *sum = all[0];
    for (int r = 1; r < ranks; r++) {
        *sum = add(sum, &all[r], 1);
        sum->contexts += all[r].contexts;
        sum->blocks += all[r].blocks;
    }
    free(all);
    return EVN_OK;
}

static evn_status conclude(struct run *run, struct timed *timed, mg_result *r) {
    evn_status status = timed_end(timed);
    uint64_t *all = NULL;
    int ranks = 0;
    const evn_shared_counts after = counts(run), between = puts_between(&run->puts, &after);
    if (!status) status = puts_of_ranks(run->cluster, &between, &r->puts);
    if (!status) status = sum_counts(run, &r->blocks);
    if (!status) status = visit(run, run->engine->hash);
    if (!status)
        status = ranks_share(run->cluster, &run->hash, 1, sizeof run->hash, (void **)&all, &ranks);
    r->run.hash = HASH_SEED;
    for (int i = 0; !status && i < ranks; i++) r->run.hash = hash_word(r->run.hash, all[i]);
    free(all);
    r->norm = run->norm;
    r->first_norm = run->steps ? run->first_norm : run->norm;
    memcpy(r->phase_s, run->phase_s, sizeof r->phase_s);
    memcpy(r->operator_s, run->blocks.seconds, sizeof r->operator_s);
    mg_judge(run->problem, run->steps, r);
    return status;
}

/* Finds each rank's master, the rank that computes its block. */
static evn_status find_masters(struct run *run) {
    const mg_way way = mg_chosen(run->problem);
    run->master = malloc((size_t)run->ranks * sizeof *run->master);
    if (!run->master) return evn_fail(EVN_MEMORY, "mg: not enough memory");
    for (int r = 0; r < run->ranks; r++)
        run->master[r] = way.variant == MG_FUNNELED && run->cluster
                             ? ranks_master(run->cluster, way.per_node, r)
                             : r;
    const int device = evn_units_about(run->units).gpus > 0,
              led = run->master[run->rank] != run->rank;
    run->engine = led ? &elsewhere : device ? &on_device : &on_host;
    if (way.variant != MG_FUNNELED || led != device) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "mg: --variant funneled: ranks share devices; expected units 1:GPU:1, not %s",
                    evn_units_text(run->units));
}

/* The blocks of this rank's device. */
static evn_status open_team(struct run *run) {
    int *rank = malloc((size_t)run->ranks * sizeof *rank), count = 0;
    if (!rank) return evn_fail(EVN_MEMORY, "mg: not enough memory");
    for (int r = run->rank; r < run->ranks; r++)
        if (run->master[r] == run->rank) rank[count++] = r;
    evn_status status = block_team_open(
        &run->team, evn_unit_device(evn_units_get(run->units, 0), 0), &run->blocks.faces, rank,
        count, run->shape.n, run->ranks, run->shape.smoother);
    run->team.overlap = mg_chosen(run->problem).variant == MG_OVERLAP;
    free(rank);
    return status;
}

static evn_status open_blocks(struct run *run) {
    const mg_way way = mg_chosen(run->problem);
    const int cores = run->engine == &on_host ? evn_unit_cores(evn_units_get(run->units, 0)) : 0;
    evn_status status = blocks_open(&run->blocks, run->cluster, run->shape.n, run->shape.smoother,
                                    cores, way.per_node, way.variant == MG_FUNNELED);
    run->blocks.overlap = way.variant == MG_OVERLAP;
    if (status) return status;
    block_member_open(&run->member, &run->blocks.faces, run->master, run->rank, run->shape.n,
                      run->ranks);
    return ranks_agreed(run->cluster, run->engine == &on_device ? open_team(run) : EVN_OK);
}

static evn_status begin(struct run *run, evn_schedule *schedule,
                        const struct run_options *options) {
    evn_status status = evn_loop_open_on(&run->loop, run->units, schedule, options->cluster);
    if (status) return status;
    run->cluster = evn_loop_about(run->loop).cluster;
    run->ranks = run->cluster ? evn_cluster_size(run->cluster) : 1;
    run->rank = run->cluster ? evn_cluster_rank(run->cluster) : 0;
    status = ranks_agreed(run->cluster, check_units(run, schedule));
    if (!status) status = ranks_agreed(run->cluster, find_masters(run));
    if (!status) status = ranks_agreed(run->cluster, check_memory(run));
    if (!status) status = open_blocks(run);
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
    block_team_close(&run.team);
    blocks_close(&run.blocks);
    free(run.master);
    evn_loop_close(run.loop);
    if (status) mg_result_free(result);
    return status;
}
