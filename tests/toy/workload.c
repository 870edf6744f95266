/* The smallest workload that is one: uneven tasks that each add up the numbers to their weight,
 * verified by the sum of all. It is there to show what a workload needs, and that nothing else has
 * to know of it. */
#include "common/run/workload.h"
#include "common/run/hash.h"
#include "common/run/ranks.h"
#include "common/cli/message.h"
#include <stdlib.h>
#include <string.h>

struct state {
    long tasks, work;
    double *weight;
    uint64_t *sum; /* of each task, over all steps */
    char key[48];
    evn_loop *loop;
    struct run_result result;
};

#define AT(field) offsetof(struct state, field)
static const struct option options[] = {
    {"tasks", "N", "how many (default 20)", OPTION_NUMBER, AT(tasks), 1, 100000},
    {"work", "N", "additions of the first task; others have more (default 1000)", OPTION_NUMBER,
     AT(work), 1, 1000000},
    {0},
};
#undef AT

static void defaults(void *p) {
    struct state *s = p;
    s->tasks = 20;
    s->work = 1000;
}

static int check(void *p, const struct workload *is) {
    struct state *s = p;
    (void)is;
    snprintf(s->key, sizeof s->key, "%ld tasks of %ld", s->tasks, s->work);
    s->weight = malloc(sizeof *s->weight * (size_t)s->tasks);
    s->sum = calloc((size_t)s->tasks, sizeof *s->sum);
    if (!s->weight || !s->sum) return give_up(evn_fail(EVN_MEMORY, "toy: not enough memory"));
    for (long t = 0; t < s->tasks; t++) s->weight[t] = (double)(s->work * (1 + t % 7));
    return 0;
}

static int check_units(void *p, const evn_units *units) {
    (void)p;
    if (!evn_units_about(units).gpus) return 0;
    complain("toy: it has no kernels; expected CPU units only, not %s", evn_units_text(units));
    return EXIT_USAGE;
}

static struct workload_shape describe(const void *p) {
    const struct state *s = p;
    return (struct workload_shape){
        .key = s->key, .steps = 10, .group = 1, .bytes = 8.0 * (double)s->tasks};
}

static evn_problem tasks(const void *p) {
    const struct state *s = p;
    return (evn_problem){.tasks = (int)s->tasks, .weight = s->weight};
}

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    struct state *s = arg;
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        for (uint64_t i = 1; i <= (uint64_t)s->weight[t]; i++) {
            s->sum[t] += i;
            __asm__ volatile("" : "+r"(i)); /* or the compiler would know the sum */
        }
    return EVN_OK;
}

static evn_status advance(int *done, void *p) {
    struct state *s = p;
    ++*done;
    return evn_loop_run(s->loop, body, s);
}

/* A rank has added up what its units have done. */
static evn_status add_ranks(struct state *s, evn_cluster *cluster) {
    uint64_t *all;
    int count;
    evn_status status =
        ranks_share(cluster, s->sum, (int)s->tasks, sizeof *s->sum, (void **)&all, &count);
    if (status) return status;
    memset(s->sum, 0, (size_t)s->tasks * sizeof *s->sum);
    for (int i = 0; i < count; i++) s->sum[i % s->tasks] += all[i];
    free(all);
    return EVN_OK;
}

/* Hash and verification. */
static void conclude(struct state *s, int steps) {
    struct run_result *r = &s->result;
    r->verified = 1;
    r->hash = HASH_SEED;
    for (long t = 0; t < s->tasks; t++) {
        const uint64_t n = (uint64_t)s->weight[t];
        r->verified &= s->sum[t] == (uint64_t)steps * (n * (n + 1) / 2);
        r->hash = hash_word(r->hash, s->sum[t]);
        s->sum[t] = 0;
    }
}

static int run(void *p, evn_units *units, evn_schedule *schedule, const struct run_options *o,
               const struct run_result **result) {
    struct state *s = p;
    const int steps = o->steps < 0 ? 10 : o->steps;
    run_result_free(&s->result);
    evn_status status = evn_loop_open_on(&s->loop, units, schedule, o->cluster);
    struct timed timed = {
        .options = o, .result = &s->result, .loop = s->loop, .advance = advance, .arg = s};
    if (!status) status = timed_begin(&timed);
    if (!status) status = timed_steps(&timed, 0, steps);
    if (!status) status = timed_end(&timed);
    if (!status) status = add_ranks(s, o->cluster);
    if (!status) conclude(s, steps);
    timed_close(&timed);
    evn_loop_close(s->loop);
    s->loop = NULL;
    *result = &s->result;
    return status ? give_up(status) : 0;
}

static void close_state(void *p) {
    struct state *s = p;
    run_result_free(&s->result);
    free(s->weight);
    free(s->sum);
}

static int study(int argc, char **argv) {
    (void)argc;
    printf("%s: nothing to be measured\n", argv[0]);
    return EXIT_DONE;
}

static const struct study studies[] = {{"toys", "nothing, for a test", study}, {0}};

static const struct workload toy = {
    .name = "toy",
    .help = "additions in uneven tasks, for a test",
    .about = "Each task adds up the numbers to its weight.\n",
    .noun = "heap",
    .weight = "additions",
    .schedule = "guided:time",
    .ranks = 1,
    .options = options,
    .state = sizeof(struct state),
    .defaults = defaults,
    .check = check,
    .check_units = check_units,
    .describe = describe,
    .tasks = tasks,
    .run = run,
    .close = close_state,
    .studies = studies,
};

extern const struct workload *const toy_workloads[];
const struct workload *const toy_workloads[] = {&toy, NULL};
