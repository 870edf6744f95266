/* All that a device of the driver that is none can do, on two of them. */
#pragma once

#include "device/devices.h"
#include "fake_of_test.h"

extern const evn_kernel_source probe_kernels;

enum { N = 1000 };

struct work {
    evn_device *device[2];
    evn_queue *queue[2];
    evn_event *event[3];
    evn_buffer *x, *y, *there;
    evn_program *program;
    evn_kernel *axpy;
    double *host, *result;
    double seconds;
};

static evn_status open_work(struct work *w, const char *text) {
    evn_status status = EVN_OK;
    for (int d = 0; !status && d < 2; d++) {
        status = evn_device_open(&w->device[d], text, d);
        if (!status) status = evn_queue_open(&w->queue[d], w->device[d]);
    }
    for (int e = 0; !status && e < 3; e++) status = evn_event_open(&w->event[e], w->device[e == 2]);
    if (!status) status = evn_buffer_open(&w->x, w->device[0], N * sizeof(double));
    if (!status) status = evn_buffer_open(&w->y, w->device[0], 2 * N * sizeof(double));
    if (!status) status = evn_host_memory_open((void **)&w->host, w->device[0], N * sizeof(double));
    if (!status)
        status = evn_host_memory_open((void **)&w->result, w->device[1], N * sizeof(double));
    if (!status) status = device_program_open(&w->program, w->device[0], &probe_kernels);
    /* now the other device's context is current */
    if (!status) status = evn_buffer_open(&w->there, w->device[1], N * sizeof(double));
    if (!status) status = device_kernel_open(&w->axpy, w->program, "axpy");
    return status;
}

/* result = 2 x + x on the first device, copied within it, and then to the second */
static evn_status run_work(struct work *w) {
    double a = 2;
    int n = N, items = w->axpy->entry->items, groups = (N + items - 1) / items;
    evn_argument argument[] = {{.buffer = w->y},
                               {.buffer = w->x},
                               {.value = &a, .bytes = sizeof a},
                               {.value = &n, .bytes = sizeof n}};
    for (int i = 0; i < N; i++) w->host[i] = i;
    memset(w->result, 0, N * sizeof(double));
    evn_queue *q = w->queue[0];
    evn_status status = evn_event_record(w->event[0], q);
    if (!status) status = evn_copy_to_device(q, w->x, 0, w->host, N * sizeof(double));
    if (!status) status = evn_copy_to_device(q, w->y, 0, w->host, N * sizeof(double));
    if (!status) status = evn_launch(q, w->axpy, groups, 0, argument, 4);
    if (!status) status = evn_copy_buffer(q, w->y, N * sizeof(double), w->y, 0, N * sizeof(double));
    if (!status) status = evn_event_record(w->event[1], q);
    if (!status) status = evn_queue_wait(w->queue[1], w->event[1]);
    if (!status)
        status =
            evn_copy_buffer(w->queue[1], w->there, 0, w->y, N * sizeof(double), N * sizeof(double));
    if (!status) status = evn_copy_to_host(w->queue[1], w->result, w->there, 0, N * sizeof(double));
    if (!status) status = evn_event_record(w->event[2], w->queue[1]);
    if (!status) status = evn_event_finish(w->event[2], NULL);
    if (!status) status = evn_queue_finish(w->queue[1]);
    if (!status) status = evn_event_seconds(w->event[0], w->event[1], &w->seconds);
    return status;
}

static int is_right(const struct work *w) {
    for (int i = 0; i < N; i++)
        if (w->result[i] != 3.0 * i) return 0;
    return w->seconds == 0.25; /* as the fake driver counts */
}

static void close_work(struct work *w) {
    /* devices first: they last until the rest is closed */
    for (int d = 0; d < 2; d++) evn_device_close(w->device[d]);
    if (w->host) evn_host_memory_close(w->host, w->device[0]);
    if (w->result) evn_host_memory_close(w->result, w->device[1]);
    device_kernel_close(w->axpy);
    device_program_close(w->program);
    evn_buffer_close(w->x);
    evn_buffer_close(w->y);
    evn_buffer_close(w->there);
    for (int e = 0; e < 3; e++) evn_event_close(w->event[e]);
    for (int d = 0; d < 2; d++) evn_queue_close(w->queue[d]);
}

/* Opens, runs, closes; the first failure, whose message stays; *right: it came to the right result.
 */
static evn_status do_work(const char *text, int *right) {
    struct work w = {0};
    evn_status status = open_work(&w, text);
    if (!status) status = run_work(&w);
    *right = !status && is_right(&w);
    close_work(&w);
    return status;
}

/* Calls after whose failure the work may go on: those that close, what is but a hint, and where a
 * direct way between devices is only tried. */
static int may_fail(const char *call, int is_trying) {
    static const char *const closing[] = {"cuMemFree_v2",
                                          "cuMemFreeHost",
                                          "cuStreamDestroy_v2",
                                          "cuEventDestroy_v2",
                                          "cuModuleUnload",
                                          "cuDevicePrimaryCtxRelease_v2",
                                          "cuCtxSynchronize",
                                          "cuCtxSetCurrent",
                                          "cuStreamSynchronize",
                                          "cuFuncSetAttribute",
                                          "cuOccupancyMaxActiveBlocksPerMultiprocessor"};
    static const char *const trying[] = {"cuDeviceCanAccessPeer",  "cuCtxEnablePeerAccess",
                                         "cuCtxDisablePeerAccess", "cuMemAlloc_v2",
                                         "cuStreamCreate",         "cuMemcpyHtoDAsync_v2",
                                         "cuMemcpyPeerAsync",      "cuMemcpyDtoHAsync_v2"};
    for (size_t i = 0; i < sizeof closing / sizeof *closing; i++)
        if (!strcmp(call, closing[i])) return 1;
    for (size_t i = 0; is_trying && i < sizeof trying / sizeof *trying; i++)
        if (!strcmp(call, trying[i])) return 1;
    return 0;
}
