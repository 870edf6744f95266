/* Heat in a pipe whose blocks no rank knows all of. Each rank has blocks of its own; those that
 * take long are divided, and boundaries between ranks move to where ranks take equally long. Each
 * cell is compared with a plain loop, bit by bit:
 *
 *     RANKS=processes:3 ./distributed         or mpirun -n 3 ./distributed */
#include <evener.h>
#include <evener/change.h>
#include <evener/distributed.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
    if ((status = (call))) goto end
enum { CELLS = 1920, WIDTH = 40, LEAST = 10, ROUNDS = 6, STEPS = 20, MOST = CELLS / LEAST };
enum { LEFT, RIGHT, FIRST }; /* a block's values: ghosts, then its cells */
struct part {
    int at, cells; /* first cell in the pipe; number of cells */
};
static double source[CELLS];
static evn_distributed *pipe;
static int half[MOST]; /* half of its origin that each born block is */

/* The first quarter of the pipe takes thirty times as long. */
static double heat(int x) {
    double sum = 0;
    for (int i = 0; i < (x < CELLS / 4 ? 600 : 20); i++) sum += sin(x + i);
    return sum * 1e-3;
}

static evn_status begin(evn_unit *unit, evn_batch *batch, void *first) {
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        double *u = evn_batch_host(batch, t, 0);
        struct part *part = evn_batch_host(batch, t, 1);
        *part = (struct part){*(int *)first + t * WIDTH, WIDTH};
        u[LEFT] = u[RIGHT] = 0;
        for (int i = 0; i < WIDTH; i++) u[FIRST + i] = (part->at + i) % 13;
    }
    return EVN_OK;
}

static evn_status step(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)arg;
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        double *u = evn_batch_host(batch, t, 0), *cell = u + FIRST, last = u[LEFT];
        const struct part part = *(struct part *)evn_batch_host(batch, t, 1);
        for (int i = 0; i < part.cells; i++) {
            const double here = cell[i], next = i + 1 < part.cells ? cell[i + 1] : u[RIGHT];
            cell[i] = 0.25 * last + 0.5 * here + 0.25 * next + heat(part.at + i);
            last = here;
        }
    }
    return EVN_OK;
}

static evn_status divide(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)arg;
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        const double *from = evn_batch_origin_host(batch, t, 0, 0);
        const struct part whole = *(struct part *)evn_batch_origin_host(batch, t, 0, 1);
        const int first = half[t] ? whole.cells / 2 : 0;
        double *u = evn_batch_host(batch, t, 0);
        struct part *part = evn_batch_host(batch, t, 1);
        part->at = whole.at + first;
        part->cells = half[t] ? whole.cells - first : whole.cells / 2;
        memcpy(u + FIRST, from + FIRST + first, (size_t)part->cells * sizeof *u);
        u[LEFT] = u[RIGHT] = 0; /* until the next run */
    }
    return EVN_OK;
}

static evn_status look(evn_unit *unit, evn_batch *batch, void *part) {
    (void)unit;
    for (int t; (t = evn_batch_next(batch)) >= 0;)
        ((struct part *)part)[t] = *(struct part *)evn_batch_host(batch, t, 1);
    return EVN_OK;
}

/* From a block's first or last cell to the ghost of the block before or behind. */
static evn_rank_face face_of(evn_rank_task from, int cells, evn_rank_task to, int ghost) {
    evn_face block = {.from_at = ghost == LEFT ? FIRST + cells - 1 : FIRST, .to_at = ghost};
    for (int i = 0; i < 3; i++) block.n[i] = block.from_stride[i] = block.to_stride[i] = 1;
    return (evn_rank_face){from, to, block};
}

/* Faces between this rank's blocks, one of which is new; at first, with `born` NULL, all, and those
 * to the blocks beside its first and last one. Faces stay when blocks
 * get other numbers, or ranks. */
static evn_status add_faces(int rank, const struct part *part, const char *born) {
    evn_rank_face face[2 * MOST + 2];
    const int n = evn_distributed_part(pipe).tasks;
    const long long first = evn_distributed_part(pipe).sum[rank], last = first + n - 1;
    int count = 0;
    for (int t = 0; t + 1 < n; t++) {
        const evn_rank_task here = {rank, t}, next = {rank, t + 1};
        if (born && !born[t] && !born[t + 1]) continue;
        face[count++] = face_of(here, part[t].cells, next, LEFT);
        face[count++] = face_of(next, part[t + 1].cells, here, RIGHT);
    }
    if (!born && first > 0) {
        const long long before = evn_distributed_part(pipe).sum[rank - 1];
        face[count++] = face_of((evn_rank_task){rank, 0}, WIDTH,
                                (evn_rank_task){rank - 1, (int)(first - before) - 1}, RIGHT);
    }
    if (!born && last + 1 < CELLS / WIDTH)
        face[count++] =
            face_of((evn_rank_task){rank, n - 1}, WIDTH, (evn_rank_task){rank + 1, 0}, LEFT);
    return evn_distributed_add(pipe, count, face);
}

/* Divides this rank's blocks that take long, but its first and last one: so faces to other ranks
 * stay as they are. */
static evn_status change(int rank, struct part *part) {
    int first[MOST + 1] = {0}, from[MOST], n = 0;
    size_t bytes[2 * MOST];
    char kept[MOST], born[MOST];
    evn_loop *loop = evn_distributed_part(pipe).loop;
    const double *seconds = loop ? evn_loop_seconds(loop) : NULL;
    const int before = evn_distributed_part(pipe).tasks;
    double mean = 0;
    for (int t = 0; t < before; t++) mean += seconds[t] / before;
    for (int t = 0; t < before; t++) {
        const int in_two = t && t + 1 < before && part[t].cells >= 2 * LEAST && seconds[t] > mean;
        for (int h = 0; h <= in_two; h++, n++) {
            const int lower = in_two ? part[t].cells / 2 : part[t].cells;
            const int cells = h ? part[t].cells - lower : lower;
            half[n] = h;
            kept[n] = !in_two;
            born[n] = in_two;
            from[n] = t;
            first[n] = n;
            bytes[2 * n] = (size_t)(FIRST + cells) * sizeof(double);
            bytes[2 * n + 1] = sizeof(struct part);
        }
    }
    first[n] = n;
    const evn_change c = {.tasks = n, .first = first, .from = from, .kept = kept, .links = -1};
    evn_status status = evn_distributed_change(pipe, &c, bytes);
    if (!status) status = evn_distributed_bear(pipe, divide, NULL);
    loop = evn_distributed_part(pipe).loop;
    if (!status && loop) status = evn_loop_visit_host(loop, look, part, EVN_READ);
    return status ? status : add_faces(rank, part, born);
}

/* Cells of this rank that are not those of a plain loop. */
static int count_wrong(const struct part *part, evn_place *place) {
    static double u[2][CELLS + 2];
    int wrong = 0;
    for (int x = 0; x < CELLS; x++) u[0][x + 1] = x % 13;
    for (int s = 0; s < ROUNDS * STEPS; s++)
        for (int x = 1; x <= CELLS; x++)
            u[1 - s % 2][x] =
                0.25 * u[s % 2][x - 1] + 0.5 * u[s % 2][x] + 0.25 * u[s % 2][x + 1] + source[x - 1];
    for (int t = 0; t < evn_distributed_part(pipe).tasks; t++) {
        const int region = evn_distributed_part(pipe).region[2 * t];
        if (evn_place_acquire(place, 1, &region, EVN_HOST, EVN_READ)) return CELLS;
        const double *cell = (double *)evn_place_host(place, region) + FIRST;
        for (int i = 0; i < part[t].cells; i++)
            wrong += cell[i] != u[ROUNDS * STEPS % 2][part[t].at + i + 1];
        evn_place_release(place, 1, &region, EVN_HOST);
    }
    return wrong;
}

int main(void) {
    evn_cluster *cluster = NULL;
    evn_machine *machine = NULL;
    evn_units *units = NULL;
    evn_place *place = NULL;
    evn_status status;
    struct part part[MOST];
    int wrong = 0, all[1024], rank = 0, ranks = 1;
    const char *wanted = getenv("RANKS"), *list = getenv("EVENER_UNITS");
    for (int x = 0; x < CELLS; x++) source[x] = heat(x);
    TRY(evn_cluster_open(&cluster, wanted ? wanted : "auto"));
    rank = evn_cluster_rank(cluster);
    ranks = evn_cluster_size(cluster);
    TRY(evn_cluster_machine(cluster, &machine, 1, 1));
    TRY(evn_units_open(&units, machine, list ? list : "1:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    TRY(evn_units_about(units).gpus
            ? evn_fail(EVN_USAGE, "its bodies run on cores, not on \"%s\"", list)
            : EVN_OK);
    TRY(evn_place_open(&place, units, 0.5));
    size_t bytes[2 * MOST];
    int first = CELLS / WIDTH * rank / ranks;
    const int own = CELLS / WIDTH * (rank + 1) / ranks - first;
    for (int t = 0; t < own; t++) {
        bytes[2 * t] = (FIRST + WIDTH) * sizeof(double);
        bytes[2 * t + 1] = sizeof(struct part);
    }
    const evn_access access[] = {EVN_BOTH, EVN_READ};
    TRY(evn_distributed_open(&pipe, &(evn_distribution){.cluster = cluster,
                                                        .units = units,
                                                        .place = place,
                                                        .tasks = own,
                                                        .regions = 2,
                                                        .bytes = bytes,
                                                        .access = access,
                                                        .element = sizeof(double)}));
    first *= WIDTH;
    if (evn_distributed_part(pipe).loop) {
        TRY(evn_loop_visit_host(evn_distributed_part(pipe).loop, begin, &first, EVN_WRITE));
        TRY(evn_loop_visit_host(evn_distributed_part(pipe).loop, look, part, EVN_READ));
    }
    TRY(add_faces(rank, part, NULL));
    for (int round = 0; round < ROUNDS; round++) {
        int moved;
        for (int s = 0; s < STEPS; s++) TRY(evn_distributed_run(pipe, step, NULL));
        TRY(evn_distributed_balance(pipe, &moved));
        if (!rank && moved) printf("round %d: %d blocks go to another rank\n", round, moved);
        if (evn_distributed_part(pipe).loop)
            TRY(evn_loop_visit_host(evn_distributed_part(pipe).loop, look, part, EVN_READ));
        TRY(change(rank, part));
    }
    wrong = count_wrong(part, place);
    TRY(evn_cluster_gather(cluster, &wrong, sizeof wrong, all));
    for (int r = 1; !rank && r < ranks; r++) wrong += all[r];
    if (!rank) {
        printf("blocks of each rank:");
        for (int r = 0; r < ranks; r++)
            printf(" %lld",
                   evn_distributed_part(pipe).sum[r + 1] - evn_distributed_part(pipe).sum[r]);
        printf("; %d cells are wrong\n", wrong);
    }
end:
    if (status && !rank) fprintf(stderr, "distributed: %s\n", evn_message());
    evn_distributed_close(pipe);
    evn_place_close(place);
    evn_units_close(units);
    evn_machine_close(machine);
    evn_cluster_close(cluster, status);
    return !rank && (status || wrong);
}
