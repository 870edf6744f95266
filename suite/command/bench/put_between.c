/* bench put: the whole way from a device to that of the other rank (Wang and others 2011, section
 * 3.3): out of the device, a put over the wire, into the other device. Bytes leave and enter by the
 * one-sided memory itself, or by pinned memory, from which they are put and to which a core copies
 * them at the target. */
#include "bench/bench.h"
#include "bench/put.h"
#include "common/run/median.h"
#include "common/run/record.h"
#include <evener/shared.h>
#include <string.h>

enum { DIRECT, PINNED, PUT }; /* the ways; a put alone has no devices */
static const char *const name[PUT_WAYS] = {"direct", "pinned", "put"};

/* A rank's end. Signals are counted. */
struct end {
    struct pair *p;
    evn_shared *shared;
    evn_device *device;
    evn_queue *queue;
    evn_buffer *buffer;
    void *pinned;
    unsigned long long turn;
    int way;
};

static evn_status finished(struct end *e, evn_status status) {
    return status ? status : evn_queue_finish(e->queue);
}

static evn_status leave(struct end *e, size_t bytes) {
    void *from = e->way == PUT      ? e->p->here
                 : e->way == PINNED ? e->pinned
                                    : evn_shared_memory(e->shared);
    evn_status status = EVN_OK;
    if (e->way != PUT) status = finished(e, evn_copy_to_host(e->queue, from, e->buffer, 0, bytes));
    return status ? status : evn_shared_put_signal(e->shared, !e->p->rank, 0, from, bytes, 0);
}

static evn_status enter(struct end *e, size_t bytes) {
    const void *from = evn_shared_memory(e->shared);
    evn_status status = evn_shared_wait(e->shared, !e->p->rank, 0, ++e->turn);
    if (status || e->way == PUT) return status;
    if (e->way == PINNED) from = memcpy(e->pinned, from, bytes);
    return finished(e, evn_copy_to_device(e->queue, e->buffer, 0, from, bytes));
}

/* There and back. On a virtual clock a rank's own copies are those of one way. */
static evn_status ping_pong(const void *way, size_t bytes) {
    struct end *e = *(struct end *const *)way;
    evn_status status = e->p->rank ? enter(e, bytes) : leave(e, bytes);
    if (!status) status = e->p->rank ? leave(e, bytes) : enter(e, bytes);
    return status;
}

static evn_status core_copy(const void *way, size_t bytes) {
    const struct end *e = *(struct end *const *)way;
    memcpy(e->pinned, evn_shared_memory(e->shared), bytes);
    return EVN_OK;
}

/* Checks that the bytes that come back to rank 0's device are those that have left it. */
static evn_status check(struct end *e, size_t bytes) {
    struct pair *p = e->p;
    evn_status status = EVN_OK;
    for (size_t i = 0; i < bytes; i++) p->here[i] = (char)(p->rank ? 0 : i * 7 + bytes % 251);
    status = finished(e, evn_copy_to_device(e->queue, e->buffer, 0, p->here, bytes));
    memset(p->there, 0, bytes);
    memset(e->pinned, 0, bytes);
    if (p->rank) return status ? status : ping_pong(&e, bytes);
    if (!status) status = leave(e, bytes);
    memset(e->pinned, 0, bytes);
    if (!status) status = finished(e, evn_copy_to_device(e->queue, e->buffer, 0, p->there, bytes));
    if (!status) status = enter(e, bytes);
    if (!status) status = finished(e, evn_copy_to_host(e->queue, p->there, e->buffer, 0, bytes));
    if (!status && memcmp(p->here, p->there, bytes) != 0)
        status = evn_fail(EVN_SYSTEM, "bench put: %zu bytes have changed between two devices (%s)",
                          bytes, name[e->way]);
    return status;
}

static evn_status time_call(struct end *e, evn_device *device,
                            evn_status (*call)(const void *, size_t), size_t bytes,
                            double *seconds) {
    double sample[PAIR_SAMPLES_MAX];
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < e->p->repeat; i++)
        status = bench_timed(device, e->queue, call, &e, bytes, pair_times(bytes) / 4, &sample[i]);
    if (!status) *seconds = median(sample, e->p->repeat);
    return status;
}

/* Seconds of one way of each. On a virtual clock: copies of devices by it, a put alone and a core's
 * copy by the host's. */
static evn_status time_ways(struct end *e, size_t bytes, double seconds[PUT_WAYS]) {
    const int is_virtual = evn_device_traits(e->device)->clock_is_virtual;
    double copy = 0;
    evn_status status = EVN_OK;
    for (int w = 0; !status && w < PUT_WAYS; w++) {
        e->way = w;
        if (w != PUT) status = check(e, bytes);
        if (!status)
            status = time_call(e, w == PUT ? NULL : e->device, ping_pong, bytes, &seconds[w]);
        if (w == PUT || !is_virtual) seconds[w] /= 2;
    }
    if (!status && is_virtual) status = time_call(e, NULL, core_copy, bytes, &copy);
    for (int w = 0; !status && is_virtual && w < PUT; w++)
        seconds[w] += seconds[PUT] + (w == PINNED ? copy : 0);
    return status;
}

static evn_status table(struct end *e) {
    const struct pair *p = e->p;
    evn_status status = EVN_OK;
    cJSON *list = cJSON_AddArrayToObject(p->record, "between");
    if (p->page) {
        fprintf(p->page, "\nfrom a device to the other rank's, over the wire: %s",
                evn_device_traits(e->device)->name);
        put_print_head(p->page, "half a ping-pong, us", "the same, GB/s", name, PUT_WAYS);
    }
    for (size_t bytes = 8; !status && bytes <= p->max; bytes = pair_next_size(bytes, p->max)) {
        double seconds[PUT_WAYS] = {0};
        status = time_ways(e, bytes, seconds);
        if (status || p->rank) continue;
        cJSON *o = cJSON_CreateObject();
        cJSON_AddNumberToObject(o, "bytes", (double)bytes);
        for (int w = 0; w < PUT_WAYS; w++) {
            char key[16];
            snprintf(key, sizeof key, "%s_s", name[w]);
            record_number(o, key, seconds[w]);
        }
        cJSON_AddItemToArray(list, o);
        if (p->page) put_print_row(p->page, bytes, seconds, seconds, PUT_WAYS);
    }
    return status;
}

/* Each rank has a device of its own, or both have the only one. */
static evn_status open_device(struct end *e, const char *devices) {
    const struct pair *p = e->p;
    int count;
    char why[512];
    evn_status status = evn_devices_count(devices, &count, why, sizeof why);
    if (!status && !count)
        status = evn_fail(EVN_MISSING, "bench put: --devices %s: there is none: %s", devices, why);
    if (!status) status = evn_device_open(&e->device, devices, count > 1 ? p->rank : 0);
    if (!status) status = evn_queue_open(&e->queue, e->device);
    if (!status) status = evn_buffer_open(&e->buffer, e->device, p->max);
    if (!status) status = evn_host_memory_open(&e->pinned, e->device, p->max);
    return status;
}

evn_status put_between(struct pair *p, const char *devices) {
    struct end e = {.p = p};
    evn_status status = evn_shared_open(
        &e.shared, p->cluster, &(evn_shared_shape){.bytes = p->max, .signals = 1, .per_node = 1});
    if (!status)
        status = evn_cluster_agree(p->cluster, p->rank < 2 ? open_device(&e, devices) : EVN_OK);
    if (!status && p->rank < 2) status = table(&e);
    if (e.pinned) evn_host_memory_close(e.pinned, e.device);
    evn_buffer_close(e.buffer);
    evn_queue_close(e.queue);
    evn_device_close(e.device);
    status = evn_cluster_agree(p->cluster, status);
    evn_shared_close(e.shared);
    return status;
}
