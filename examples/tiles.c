/* Directives in a program with an MPI of its own, CloverLeaf's way: sound in a box, whose rows are
 * shared out to ranks, and those of a rank to tiles of uneven height. A rank's compute units
 * advance whole tiles, pressure first and then velocity; between the two directives, and behind
 * them, ranks exchange a row by MPI. Build and run: EVENER_CC=mpicc evener-cc -O2 tiles.c -o tiles
 *     EVENER_UNITS=2:CPU:1 EVENER_REPORT=1 mpirun -n 2 ./tiles
 * mpicc alone makes ranks of one thread of it. The sum is the same on any ranks and units. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 240, ROW = 200, STEPS = 100, MOST = 64 };
struct tile {
    int first, rows;
};

/* A rank's rows, 1 to `rows`, between one of each neighbour's. u is the velocity along a row, v
 * that across; those at the walls stay 0. */
static double (*p)[ROW], (*u)[ROW], (*v)[ROW];
static int rank, ranks, from, rows, tiles;
static struct tile tile[MOST];

static void *make_rows(void) {
    void *all = calloc((size_t)rows + 2, sizeof(double[ROW]));
    if (!all) MPI_Abort(MPI_COMM_WORLD, 1);
    return all;
}

/* The last tile is cut off where the rank's rows end. */
static void cut_tiles(void) {
    for (int first = 1; first <= rows && tiles < MOST; first += tile[tiles++].rows) {
        const int left = rows + 1 - first, high = 3 + tiles * 7 % 23;
        tile[tiles] = (struct tile){first, high < left && tiles < MOST - 1 ? high : left};
    }
}

static void advance_pressure(const struct tile *t) {
    for (int y = t->first; y < t->first + t->rows; y++)
        for (int x = 0; x < ROW; x++)
            p[y][x] -= 0.4 * ((x < ROW - 1 ? u[y][x + 1] : 0) - u[y][x] + v[y + 1][x] - v[y][x]);
}

static void advance_velocity(const struct tile *t) {
    for (int y = t->first; y < t->first + t->rows; y++)
        for (int x = 0; x < ROW; x++) {
            if (x > 0) u[y][x] -= 0.4 * (p[y][x] - p[y][x - 1]);
            if (from + y > 1) v[y][x] -= 0.4 * (p[y][x] - p[y - 1][x]);
        }
}

/* Sends a row to one neighbour, and gets one from the other; MPI_PROC_NULL: a wall. */
static void pass(const double *row, int to, double *room, int source) {
    MPI_Sendrecv(row, ROW, MPI_DOUBLE, to, 0, room, ROW, MPI_DOUBLE, source, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* Over all rows in their order, whichever ranks have them. */
static double sum_up(int below, int above) {
    double sum = 0;
    MPI_Recv(&sum, 1, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int y = 1; y <= rows; y++)
        for (int x = 0; x < ROW; x++)
            sum = 0.999 * sum + p[y][x] * p[y][x] + u[y][x] * u[y][x] + v[y][x] * v[y][x];
    MPI_Send(&sum, 1, MPI_DOUBLE, above, 1, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    if (level < MPI_THREAD_FUNNELED) MPI_Abort(MPI_COMM_WORLD, 1); /* units have threads */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL,
              above = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    from = ROWS * rank / ranks;
    rows = ROWS * (rank + 1) / ranks - from;
    p = make_rows();
    u = make_rows();
    v = make_rows();
    cut_tiles();
    for (int y = 1; y <= rows; y++)
        for (int x = 0; x < ROW; x++) p[y][x] = (from + y) % 40 < 9 && x % 50 < 20;
    for (int step = 0; step < STEPS; step++) {
#pragma omp teams distribute num_teams(auto) weight(tile[t].rows)
        for (int t = 0; t < tiles; t++) advance_pressure(&tile[t]);
        pass(p[rows], above, p[0], below);
#pragma omp teams distribute num_teams(auto) weight(tile[t].rows)
        for (int t = 0; t < tiles; t++) advance_velocity(&tile[t]);
        pass(v[1], below, v[rows + 1], above);
    }
    const double sum = sum_up(below, above);
    if (rank == ranks - 1) printf("%.17g\n", sum);
    free(p);
    free(u);
    free(v);
    MPI_Finalize();
    return 0;
}
