/* A program with an MPI of its own (MPI_Init_thread, SERIALIZED): its last rank is a server of
 * files that receives whatever comes on MPI_COMM_WORLD; the others run heat (examples/heat.c,
 * against a plain loop) on communicators of their own: all of them, then in two groups at a time,
 * then all again, after one communicator has been freed; between that they send to the server, also
 * with the tags that the library has. Then what is refused. Run: ctest -R own-mpi. usage: own
 * [refused] */
#include <evener.h>
#include <evener/cluster.h>
#include <evener/open.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static MPI_Comm group;
#define evn_open(session, units, devices, flags)                                                   \
    evn_open_comm(session, (int)MPI_Comm_c2f(group), units, devices, 0)
#define main heat
#include "../../examples/heat.c"
#undef main
#undef evn_open

enum { DONE = 30000 };

/* Everything that comes, until all others are done; the sum of what was sent. */
static long serve(int others) {
    long sum = 0;
    while (others) {
        MPI_Status status;
        int value;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        sum += value;
        others -= status.MPI_TAG == DONE;
    }
    return sum;
}

static int compute(int rank, int server) {
    MPI_Comm all, half;
    int wrong = 0, value = rank + 1;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &all); /* the other way round */
    MPI_Comm_split(all, rank % 2, rank, &half);
    for (int round = 0; round < 3; round++) {
        group = round == 1 ? half : all;
        wrong += heat();
        MPI_Send(&value, 1, MPI_INT, server, round ? round : 1, MPI_COMM_WORLD);
        if (round == 1) MPI_Comm_free(&half);
    }
    /* two sessions at a time, of which one is over all, and this process's own */
    evn_session *both[2];
    MPI_Comm self = MPI_COMM_SELF;
    wrong += evn_open_comm(&both[0], (int)MPI_Comm_c2f(all), "1:CPU:1", NULL, 0) != EVN_OK;
    wrong += evn_open_comm(&both[1], (int)MPI_Comm_c2f(self), "1:CPU:1", NULL, 0) != EVN_OK;
    const evn_cluster *over = evn_session_cluster(both[0]);
    wrong +=
        evn_session_rank(both[1]) != 0 || (server > 1 ? evn_cluster_size(over) != server : !!over);
    wrong += evn_close(both[0]) || evn_close(both[1]);
    MPI_Comm_free(&all);
    MPI_Send(&wrong, 1, MPI_INT, server, DONE, MPI_COMM_WORLD);
    return wrong;
}

static void refused(const char *what, evn_status status) {
    printf("%s: %s: %s\n", what, evn_status_text(status), evn_message());
}

static void refuse(int rank) {
    evn_session *session;
    MPI_Comm inter, half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &inter);
    const evn_status status = evn_open_comm(&session, (int)MPI_Comm_c2f(inter), NULL, NULL, 0);
    if (!rank) refused("inter", status);
    if (!rank)
        refused("none", evn_open_comm(&session, (int)MPI_Comm_c2f(MPI_COMM_NULL), NULL, NULL, 0));
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* A session that is closed after MPI_Finalize(), and one that is opened then. */
static int be_late(void) {
    evn_session *session;
    evn_loop *loop;
    const int comm = (int)MPI_Comm_c2f(MPI_COMM_WORLD);
    evn_status status = evn_open_comm(&session, comm, NULL, NULL, 0);
    if (!status) status = evn_open_loop(&loop, session, NULL, &(evn_problem){.tasks = 4});
    MPI_Finalize();
    if (!status) status = evn_close(session);
    refused("late", status);
    refused("late", evn_open_comm(&session, comm, NULL, NULL, 0));
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv) {
    int level, rank, size, wrong = 0;
    evn_session *session;
    const int early = evn_open_comm(&session, 0, NULL, NULL, 0) != EVN_USAGE;
    if (early) printf("before MPI_Init_thread(): %s\n", evn_message());
    const int wanted =
        argc > 1 && !strcmp(argv[1], "single") ? MPI_THREAD_SINGLE : MPI_THREAD_SERIALIZED;
    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && !strcmp(argv[1], "late")) return be_late();
    if (argc > 1) {
        if (!strcmp(argv[1], "refused")) refuse(rank);
        if (level < MPI_THREAD_SERIALIZED) {
            const evn_status status =
                evn_open_comm(&session, (int)MPI_Comm_c2f(MPI_COMM_WORLD), NULL, NULL, 0);
            if (!rank) refused("single", status);
        }
        MPI_Finalize();
        return 0;
    }
    MPI_Comm none;
    if (rank == size - 1) {
        MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &none);
        const long sum = serve(size - 1), sent = 3L * (size - 1) * size / 2;
        wrong = sum != sent;
        printf("the server has %ld of %ld\n", sum, sent);
    } else {
        wrong = compute(rank, size - 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong || early;
}
