/* MPI alone beside MPI as a wire: half a ping-pong between two ranks by size of message, and the
 * ratio. Rounds of both are in turn and the least of each counts.
 *
 *     mpirun -n 2 bench-wire-openmpi lib/evener/evener-wire-openmpi.so [ROUNDS [BYTES]]
 *
 * Raw: MPI_Send() and MPI_Recv() of one buffer. In place: take, send, expect, wait, release, and
 * nobody touches the message. Copied: it is written from and read into memory of the caller's, as
 * faces are, in both.
 */
#include <dlfcn.h>
#include <evener/wire.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 4 << 20, TAG = 1, WAYS = 4 };
enum way { RAW, IN_PLACE, RAW_COPIED, COPIED };

static const evn_wire_kind *kind;
static evn_channel *out, *in;
static int me;
static char *buffer, *mine;

static evn_status fail(evn_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return status;
}

static void check(evn_status status) {
    if (status) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void raw_send(size_t bytes, int copy) {
    if (copy) memcpy(buffer, mine, bytes);
    MPI_Send(buffer, (int)bytes, MPI_BYTE, 1 - me, TAG, MPI_COMM_WORLD);
}

static void raw_receive(size_t bytes, int copy) {
    MPI_Recv(buffer, (int)bytes, MPI_BYTE, 1 - me, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (copy) memcpy(mine, buffer, bytes);
}

static void channel_send(size_t bytes, int copy) {
    void *room;
    check(kind->take(out, &room));
    if (copy) memcpy(room, mine, bytes);
    check(kind->send(out, bytes));
}

/* Receives as the exchange does: the message is expected before this rank sends. */
static void channel_receive(size_t bytes, int copy) {
    const void *data;
    size_t got;
    check(kind->wait(in, &data, &got));
    if (got != bytes) MPI_Abort(MPI_COMM_WORLD, 1);
    if (copy) memcpy(mine, data, bytes);
    kind->release(in);
}

static void ping_pong(enum way way, size_t bytes) {
    const int copy = way >= RAW_COPIED, raw = way == RAW || way == RAW_COPIED;
    if (!raw) check(kind->expect(in));
    for (int i = 0; i < 2; i++) {
        if ((me + i) % 2 == 0)
            raw ? raw_send(bytes, copy) : channel_send(bytes, copy);
        else
            raw ? raw_receive(bytes, copy) : channel_receive(bytes, copy);
    }
}

/* Seconds of half a ping-pong. */
static double measure(enum way way, size_t bytes, int repeats) {
    for (int i = 0; i < 3; i++) ping_pong(way, bytes);
    const double begin = MPI_Wtime();
    for (int i = 0; i < repeats; i++) ping_pong(way, bytes);
    return (MPI_Wtime() - begin) / repeats / 2;
}

static void table(int rounds, size_t max) {
    if (!me)
        printf("%9s %10s %10s %7s %12s %10s %7s   %s\n", "bytes", "raw", "in place", "ratio",
               "raw, copied", "copied", "ratio", "microseconds, half a ping-pong");
    for (size_t bytes = 8; bytes <= max; bytes *= bytes < 4096 ? 512 : 4) {
        double best[WAYS] = {1e9, 1e9, 1e9, 1e9};
        const int repeats = bytes <= 65536 ? 2000 : (int)(2000 * (size_t)65536 / bytes);
        for (int r = 0; r < rounds; r++)
            for (int w = 0; w < WAYS; w++) {
                const double t = measure((enum way)w, bytes, repeats);
                if (t < best[w]) best[w] = t;
            }
        if (!me)
            printf("%9zu %10.2f %10.2f %7.2f %12.2f %10.2f %7.2f\n", bytes, best[RAW] * 1e6,
                   best[IN_PLACE] * 1e6, best[IN_PLACE] / best[RAW], best[RAW_COPIED] * 1e6,
                   best[COPIED] * 1e6, best[COPIED] / best[RAW_COPIED]);
    }
}

int main(int argc, char **argv) {
    static volatile int stop;
    const evn_wire_host host = {fail, &stop, 0};
    int size, level;
    evn_wire *wire;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    kind = library ? dlsym(library, "evener_wire_v1") : NULL;
    if (!kind || size != 2) {
        fprintf(stderr, "usage: mpirun -n 2 bench-wire-.. PLUGIN [ROUNDS [BYTES]]; %s\n",
                size != 2 ? "there are not two ranks" : "the plug-in cannot be opened");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    buffer = calloc(1, MAX);
    mine = calloc(1, MAX);
    if (!buffer || !mine) MPI_Abort(MPI_COMM_WORLD, 1);
    check(kind->open(&wire, 0, NULL, &host));
    check(kind->channel_open(&out, wire, 1 - me, TAG, 1, MAX));
    check(kind->channel_open(&in, wire, 1 - me, TAG, 0, MAX));
    if (!me) printf("%s\n", kind->name);
    const long max = argc > 3 ? atol(argv[3]) : MAX;
    table(argc > 2 ? atoi(argv[2]) : 5, max < MAX ? (size_t)max : MAX);
    kind->channel_close(out);
    kind->channel_close(in);
    kind->close(wire);
    free(buffer);
    free(mine);
    MPI_Finalize();
    return 0;
}
