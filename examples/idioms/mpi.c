/* MPI outside of loops, by the one thread that the program has there, and within bodies, where
 * units call at a time: MPI_THREAD_MULTIPLE, and a tag or request of each iteration's own. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    enum { N = 40 };
    int level, rank, size;
    double value[N], got[N], sum = 0, all;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (level < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
#ifdef BEFORE
#    pragma omp parallel for
#else
#    pragma omp teams distribute num_teams(auto)
#endif
    for (int i = 0; i < N; i++) {
        MPI_Request request[2];
        value[i] = rank * 100 + i;
        MPI_Irecv(&got[i], 1, MPI_DOUBLE, (rank + size - 1) % size, i, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(&value[i], 1, MPI_DOUBLE, (rank + 1) % size, i, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < N; i++) sum += got[i] * (i + 1);
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (!rank) printf("%.15g\n", all);
    MPI_Finalize();
}
