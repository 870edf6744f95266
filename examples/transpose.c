/* A matrix on the devices of all ranks, transposed by one-sided puts:
 *     RANKS=processes:3 ./transpose         or        mpirun -n 3 ./transpose
 * A rank's device has a block of rows. It goes to the rank's own part, from there each row becomes
 * a piece of a column of every rank's part, and the result goes back to the device. */
#include <evener/cluster.h>
#include <evener/device.h>
#include <evener/shared.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                                                  \
    if ((status = (call))) goto end
enum { ROWS = 6 };

static double value(int row, int column) { return 1000.0 * row + column; }

int main(void) {
    evn_cluster *cluster = NULL;
    evn_device *device = NULL;
    evn_queue *queue = NULL;
    evn_buffer *buffer = NULL;
    evn_shared *shared = NULL;
    double *block = NULL;
    int wrong = 0, me = 0;
    evn_status status;
    const char *ranks = getenv("RANKS"), *devices = getenv("EVENER_DEVICES");

    TRY(evn_cluster_open(&cluster, ranks ? ranks : "auto"));
    me = evn_cluster_rank(cluster);
    const int size = evn_cluster_size(cluster), n = size * ROWS;
    const size_t bytes = sizeof(double) * ROWS * (size_t)n;
    block = malloc(bytes);
    if (!block) TRY(evn_fail(EVN_MEMORY, "no memory for %d rows", ROWS));
    for (int i = 0; i < ROWS * n; i++) block[i] = value(me * ROWS + i / n, i % n);
    TRY(evn_device_open(&device, devices ? devices : "emulated", 0));
    TRY(evn_queue_open(&queue, device));
    TRY(evn_buffer_open(&buffer, device, bytes));
    TRY(evn_copy_to_device(queue, buffer, 0, block, bytes));

    /* a part: the rows as they come from the device, and those of the transposed matrix */
    TRY(evn_shared_open(&shared, cluster, &(evn_shared_shape){.bytes = 2 * bytes}));
    const double *mine = evn_shared_memory(shared);
    TRY(evn_shared_put_device(shared, me, 0, queue, buffer, 0, bytes));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < ROWS; i++) {
            const evn_shared_blocks column = {sizeof(double), ROWS, sizeof(double),
                                              sizeof(double) * (size_t)n};
            TRY(evn_shared_put_blocks(shared, r, bytes + sizeof(double) * (size_t)(me * ROWS + i),
                                      mine + i * n + r * ROWS, &column));
        }
    TRY(evn_shared_barrier(shared));
    TRY(evn_shared_get_device(shared, me, bytes, queue, buffer, 0, bytes));

    TRY(evn_copy_to_host(queue, block, buffer, 0, bytes));
    TRY(evn_queue_finish(queue));
    for (int i = 0; i < ROWS * n; i++) wrong += block[i] != value(i % n, me * ROWS + i / n);
    if (!me) printf("%d x %d on %d ranks: %d values are wrong\n", n, n, size, wrong);

end:
    if (status) fprintf(stderr, "rank %d: %s\n", me, evn_message());
    evn_shared_close(shared);
    evn_buffer_close(buffer);
    evn_queue_close(queue);
    evn_device_close(device);
    evn_cluster_close(cluster, status);
    free(block);
    return status || wrong;
}
