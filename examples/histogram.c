/* A histogram of numbers that lie in blocks, one a rank, counted where they lie:
 *     RANKS=processes:3 ./histogram         or        mpirun -n 3 ./histogram
 * Each rank loops over its own block. Bins lie in blocks too, and any unit of any rank adds to
 * them. The sum and the number of steps up from a number to the next one, which may be another
 * rank's, are kept together under a lock. */
#include <evener/cluster.h>
#include <evener/loop.h>
#include <evener/shared.h>
#include <evener/unit.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                                                  \
    if ((status = (call))) goto end
enum { OWN = 500, BINS = 4, STEPS_UP = OWN + BINS, SUM, WORDS }; /* words of a rank's part */
#define AT(word) (sizeof(int64_t) * (size_t)(word))
static evn_shared *shared;
static int64_t *mine;

static int64_t number_of(int64_t i) { return i * i % 1009; }

static evn_status count(evn_unit *unit, evn_batch *batch, void *bins) {
    evn_status status = EVN_OK;
    (void)unit;
    for (int i; !status && (i = evn_batch_next(batch)) >= 0;) {
        const int bin = (int)(mine[i] % *(int *)bins);
        int64_t one = 1;
        status = evn_shared_atomic(shared, bin / BINS, AT(OWN + bin % BINS), EVN_ADD_INT64, &one);
    }
    return status;
}

/* Adds to rank 0's two numbers. */
static evn_status add(int64_t up, int64_t sum) {
    int64_t both[2] = {0};
    evn_status status = evn_shared_lock(shared, 0);
    if (status) return status;
    status = evn_shared_get(shared, 0, AT(STEPS_UP), both, sizeof both);
    if (!status) status = evn_shared_flush(shared, 0);
    both[0] += up;
    both[1] += sum;
    if (!status) status = evn_shared_put(shared, 0, AT(STEPS_UP), both, sizeof both);
    const evn_status unlocked = evn_shared_unlock(shared, 0);
    return status ? status : unlocked;
}

/* Of this rank's bins, and of rank 0's numbers, by a plain loop over all. */
static int wrong_ones(int rank, int ranks) {
    int64_t expected[WORDS] = {0};
    int wrong = 0;
    for (int64_t i = 0; i < (int64_t)OWN * ranks; i++) {
        const int bin = (int)(number_of(i) % (BINS * ranks));
        if (bin / BINS == rank) expected[OWN + bin % BINS]++;
        if (!rank) expected[SUM] += number_of(i);
        if (!rank) expected[STEPS_UP] += number_of((i + 1) % (OWN * ranks)) > number_of(i);
    }
    for (int w = OWN; w < WORDS; w++) wrong += mine[w] != expected[w];
    return wrong;
}

int main(void) {
    evn_cluster *cluster = NULL;
    evn_machine *machine = NULL;
    evn_units *units = NULL;
    evn_schedule *schedule = NULL;
    evn_loop *loop = NULL;
    evn_status status;
    int rank = 0;
    double wrong = 0;
    const char *wanted = getenv("RANKS"), *list = getenv("EVENER_UNITS");
    TRY(evn_cluster_open(&cluster, wanted ? wanted : "auto"));
    rank = evn_cluster_rank(cluster);
    const int ranks = evn_cluster_size(cluster), bins = BINS * ranks;
    TRY(evn_cluster_machine(cluster, &machine, 1, 1));
    TRY(evn_units_open(&units, machine, list ? list : "1:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    TRY(evn_shared_open(&shared, cluster, &(evn_shared_shape){.bytes = AT(WORDS), .locks = 1}));
    mine = evn_shared_memory(shared);
    for (int i = 0; i < OWN; i++) mine[i] = number_of((int64_t)rank * OWN + i);
    TRY(evn_shared_barrier(shared));

    int64_t next, up = 0, sum = 0; /* the next rank's first number comes while this one counts */
    TRY(evn_shared_get(shared, (rank + 1) % ranks, AT(0), &next, sizeof next));
    const evn_problem problem = {.tasks = OWN, .units = evn_units_count(units)};
    TRY(evn_schedule_open(&schedule, "dynamic", &problem));
    TRY(evn_loop_open(&loop, units, schedule));
    TRY(evn_loop_run(loop, count, (void *)&bins));
    TRY(evn_shared_flush(shared, (rank + 1) % ranks));
    for (int i = 0; i < OWN; i++) {
        up += (i + 1 < OWN ? mine[i + 1] : next) > mine[i];
        sum += mine[i];
    }
    TRY(add(up, sum));
    TRY(evn_shared_barrier(shared));

    wrong = wrong_ones(rank, ranks);
    TRY(evn_shared_reduce(shared, EVN_SUM, &wrong, 1));
    if (!rank) printf("%d bins on %d ranks: %g sums are wrong\n", bins, ranks, wrong);

end:
    if (status) fprintf(stderr, "rank %d: %s\n", rank, evn_message());
    evn_loop_close(loop);
    evn_schedule_close(schedule);
    evn_shared_close(shared);
    evn_units_close(units);
    evn_machine_close(machine);
    evn_cluster_close(cluster, status);
    return !rank && (status || wrong > 0);
}
