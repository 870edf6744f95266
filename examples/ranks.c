/* Heat in a pipe of 32 blocks of uneven length, on the units of all ranks, checked by a plain loop:
 *     RANKS=processes:3 ./ranks         or        mpirun -n 3 ./ranks
 * Blocks go to another rank, with their memory, when the schedule says so. */
#include <evener.h>
#include <evener/cluster.h>
#include <evener/loop.h>
#include <evener/schedule.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
    if ((status = (call))) goto end
enum { BLOCKS = 32, STEPS = 60, MAX = 400 * BLOCKS };
#define CELLS(t) (50 + 10 * (t))
static double
    *block[BLOCKS]; /* this rank's blocks, two fields of CELLS + 2 each; NULL: elsewhere */
static double whole[2][MAX + 2];

static void move(const double *u, double *v, int cells) {
    for (int i = 1; i <= cells; i++) v[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1];
}

static evn_status body(evn_unit *unit, evn_batch *batch, void *from) {
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        double *field[2] = {block[t], block[t] + CELLS(t) + 2};
        move(field[*(int *)from], field[1 - *(int *)from], CELLS(t));
    }
    return EVN_OK;
}

/* How a block goes to another rank. */
static evn_status make(void *arg, int t) {
    (void)arg;
    block[t] = calloc(2 * (CELLS(t) + 2), sizeof **block);
    return block[t] ? EVN_OK : evn_fail(EVN_MEMORY, "no memory for block %d", t);
}
static void *memory(void *arg, int t, int number, size_t *bytes) {
    (void)arg;
    (void)number;
    *bytes = 2 * (CELLS(t) + 2) * sizeof **block;
    return block[t];
}
static void drop(void *arg, int t) {
    (void)arg;
    free(block[t]);
    block[t] = NULL;
}

int main(void) {
    evn_cluster *cluster = NULL;
    evn_machine *machine = NULL;
    evn_units *units = NULL;
    evn_schedule *schedule = NULL;
    evn_loop *loop = NULL;
    evn_exchange *exchange[2] = {NULL, NULL};
    evn_status status;
    int from = 0, wrong = 0, all[1024], rank = 0;
    const char *ranks = getenv("RANKS"), *list = getenv("EVENER_UNITS");
    TRY(evn_cluster_open(&cluster, ranks ? ranks : "auto")); /* first of all */
    rank = evn_cluster_rank(cluster);
    TRY(evn_cluster_machine(cluster, &machine, 1, 1));
    TRY(evn_units_open(&units, machine, list ? list : "1:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    TRY(evn_cluster_units(cluster, units, NULL));
    double size[BLOCKS];
    int cells = 0;
    for (int t = 0; t < BLOCKS; t++) cells += (int)(size[t] = CELLS(t));
    const evn_problem problem = {.tasks = BLOCKS,
                                 .weight = size,
                                 .units = evn_cluster_about(cluster).units,
                                 .speed = evn_cluster_about(cluster).speed};
    TRY(evn_schedule_open(&schedule, "guided:time", &problem));
    TRY(evn_loop_open_on(&loop, units, schedule, cluster));
    TRY(evn_loop_homes(loop, &(evn_home){.blocks = 1, .make = make, .memory = memory, .drop = drop},
                       NULL));
    for (int i = 1; i <= cells; i++) whole[0][i] = i % 13;
    for (int t = 0, top = 0; t < BLOCKS; top += CELLS(t++)) {
        if (!evn_loop_has(loop, t)) continue;
        TRY(make(NULL, t));
        memcpy(block[t], whole[0] + top, (CELLS(t) + 2) * sizeof **block);
    }
    for (int f = 0; f < 2; f++) { /* the last cell to the next block, its first one back */
        evn_face face[2 * BLOCKS];
        for (int t = 0; t + 1 < BLOCKS; t++) {
            const int here = f * (CELLS(t) + 2), next = f * (CELLS(t + 1) + 2);
            face[2 * t] =
                (evn_face){t, t + 1, here + CELLS(t), next, {1, 1, 1}, {1, 1, 1}, .n = {1, 1, 1}};
            face[2 * t + 1] = (evn_face){t + 1,     t,         next + 1,      here + CELLS(t) + 1,
                                         {1, 1, 1}, {1, 1, 1}, .n = {1, 1, 1}};
        }
        TRY(evn_exchange_open(&exchange[f], loop, sizeof(double), 2 * BLOCKS - 2, face,
                              (void *const *)block));
    }
    for (int step = 0; step < STEPS; step++, from = 1 - from) {
        TRY(evn_loop_run(loop, body, &from));
        TRY(evn_exchange_run(exchange[1 - from]));
        move(whole[from], whole[1 - from], cells);
    }
    TRY(evn_cluster_agree(cluster, EVN_OK)); /* an exchange that has failed says so here */
    for (int t = 0, top = 0; t < BLOCKS; top += CELLS(t++))
        if (block[t])
            wrong += memcmp(block[t] + from * (CELLS(t) + 2) + 1, whole[from] + top + 1,
                            CELLS(t) * sizeof **block) != 0;
    TRY(evn_cluster_gather(cluster, &wrong, sizeof wrong, all));
    for (int r = 1; !rank && r < evn_cluster_size(cluster); r++) wrong += all[r];
    if (!rank)
        printf("%d ranks, %s: %d blocks are wrong\n", evn_cluster_size(cluster),
               evn_cluster_about(cluster).wire, wrong);
end:
    if (status && !rank) fprintf(stderr, "ranks: %s\n", evn_message());
    for (int f = 0; f < 2; f++) evn_exchange_close(exchange[f]);
    evn_loop_close(loop);
    evn_schedule_close(schedule);
    evn_units_close(units);
    evn_machine_close(machine);
    evn_cluster_close(cluster, status);
    for (int t = 0; t < BLOCKS; t++) free(block[t]);
    return !rank && (status || wrong);
}
