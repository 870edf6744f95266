/* evener bench links: latency and bandwidth of the ways between host and devices, by size of the
 * message, beside a copy within the host's memory. */
#include "bench/bench.h"
#include "common/run/median.h"
#include "common/cli/message.h"
#include "common/cli/options.h"
#include <evener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SIZES = 9, MAX = 64 << 20 };

/* One way of moving bytes, tried by itself. */
struct way {
    const char *name;
    evn_device *device, *other; /* the receiving one, and for device to device the giving one */
    evn_queue *queue;
    evn_buffer *near, *far;
    char *host, *target;
    enum { HOST_COPY, IN, OUT, PEER } kind;
    double seconds[SIZES];
};

static evn_status move(const void *way, size_t bytes) {
    const struct way *w = way;
    evn_status status = EVN_OK;
    switch (w->kind) {
    case HOST_COPY: memcpy(w->target, w->host, bytes); return EVN_OK;
    case IN: status = evn_copy_to_device(w->queue, w->near, 0, w->host, bytes); break;
    case OUT: status = evn_copy_to_host(w->queue, w->host, w->near, 0, bytes); break;
    case PEER: status = evn_copy_buffer(w->queue, w->near, 0, w->far, 0, bytes); break;
    }
    return status ? status : evn_queue_finish(w->queue);
}

evn_status bench_timed(evn_device *device, evn_queue *queue,
                       evn_status (*move)(const void *way, size_t bytes), const void *way,
                       size_t bytes, int count, double *seconds) {
    evn_event *event[2] = {0};
    int is_virtual = device && evn_device_traits(device)->clock_is_virtual;
    evn_status status = EVN_OK;
    for (int e = 0; !status && is_virtual && e < 2; e++) status = evn_event_open(&event[e], device);
    if (!status && is_virtual) status = evn_event_record(event[0], queue);
    double begin = evn_now();
    for (int i = 0; !status && i < count; i++) status = move(way, bytes);
    *seconds = (evn_now() - begin) / count;
    if (!status && is_virtual) status = evn_event_record(event[1], queue);
    if (!status && is_virtual) status = evn_queue_finish(queue);
    if (!status && is_virtual) {
        status = evn_event_seconds(event[0], event[1], seconds);
        *seconds /= count;
    }
    evn_event_close(event[0]);
    evn_event_close(event[1]);
    return status;
}

static size_t size_of(int i) { return (size_t)8 << (23 * i / (SIZES - 1)); } /* 8 B to 64 MiB */

static evn_status measure(struct way *w, int repeat) {
    evn_status status = move(w, MAX); /* touches all of it */
    for (int s = 0; !status && s < SIZES; s++) {
        double sample[1000];
        size_t bytes = size_of(s);
        int count = bytes >= 1 << 20 ? 1 : 32;
        for (int r = 0; !status && r < repeat; r++)
            status = bench_timed(w->device, w->queue, move, w, bytes, count, &sample[r]);
        w->seconds[s] = median(sample, repeat);
    }
    return status;
}

static void print_size(size_t bytes) {
    if (bytes >= 1 << 20)
        printf("  %6zu MiB", bytes >> 20);
    else if (bytes >= 1 << 10)
        printf("  %6zu KiB", bytes >> 10);
    else
        printf("  %6zu B  ", bytes);
}

static void print(const struct way *way, int ways) {
    printf("\n  %-10s", "time, us");
    for (int w = 0; w < ways; w++) printf("  %15s", way[w].name);
    printf("\n");
    for (int s = 0; s < SIZES; s++) {
        print_size(size_of(s));
        for (int w = 0; w < ways; w++) printf("  %15.2f", 1e6 * way[w].seconds[s]);
        printf("\n");
    }
    printf("\n  %-10s", "GB/s");
    for (int w = 0; w < ways; w++) printf("  %15s", way[w].name);
    printf("\n");
    for (int s = 0; s < SIZES; s++) {
        print_size(size_of(s));
        for (int w = 0; w < ways; w++)
            printf("  %15.3f", 1e-9 * (double)size_of(s) / way[w].seconds[s]);
        printf("\n");
    }
    printf("\n  of the host's own copy at 64 MiB:");
    for (int w = 1; w < ways; w++)
        printf("  %s %.2f", way[w].name, way[0].seconds[SIZES - 1] / way[w].seconds[SIZES - 1]);
    printf("\n");
}

static evn_status study(evn_device *a, evn_device *b, int repeat) {
    evn_queue *queue = NULL;
    evn_buffer *near = NULL, *far = NULL;
    void *pinned = NULL;
    char *pageable = malloc(MAX), *target = malloc(MAX);
    char *shared =
        mmap(NULL, MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); /* or failed */
    evn_status status = pageable && target && shared != MAP_FAILED
                            ? EVN_OK
                            : evn_fail(EVN_MEMORY, "bench links: no memory");
    if (!status) status = evn_queue_open(&queue, a);
    if (!status) status = evn_buffer_open(&near, a, MAX);
    if (!status && b) status = evn_buffer_open(&far, b, MAX);
    if (!status) status = evn_host_memory_open(&pinned, a, MAX);
    if (!status) {
        memset(pageable, 1, MAX);
        memset(target, 1, MAX);
        memset(pinned, 1, MAX);
        memset(shared, 1, MAX);
        struct way way[] = {
            {.name = "host copy", .kind = HOST_COPY, .host = pageable, .target = target},
            {.name = "in, pinned", .kind = IN, .host = pinned},
            {.name = "in, pageable", .kind = IN, .host = pageable},
            {.name = "in, shared", .kind = IN, .host = shared},
            {.name = "out, pinned", .kind = OUT, .host = pinned},
            {.name = "out, pageable", .kind = OUT, .host = pageable},
            {.name = "out, shared", .kind = OUT, .host = shared},
            {.name = "device-device", .kind = PEER},
        };
        const int ways = b ? 8 : 7;
        for (int w = 0; !status && w < ways; w++) {
            if (way[w].kind != HOST_COPY) way[w].device = a;
            way[w].queue = queue;
            way[w].near = near;
            way[w].far = far;
            way[w].other = b;
            status = measure(&way[w], repeat);
        }
        if (!status) print(way, ways);
    }
    if (pinned) evn_host_memory_close(pinned, a);
    evn_buffer_close(far);
    evn_buffer_close(near);
    evn_queue_close(queue);
    free(target);
    free(pageable);
    if (shared != MAP_FAILED) munmap(shared, MAX);
    return status;
}

struct request {
    const char *devices;
    long repeat;
};

#define OPTIONS_OF struct request
static const struct option table[] = {
    {"devices", "SPEC", "which devices, as cuda or emulated:2,link=8GB/s (default: the best)",
     OPTION_TEXT(devices)},
    {"repeat", "N", "samples, of which the median is shown (default 7)",
     OPTION_NUMBER(repeat, 1, 1000)},
    {0},
};

int bench_links(int argc, char **argv) {
    struct request request = {.devices = "best", .repeat = 7};
    int code = options_read_plain(
        "bench links",
        "usage: evener bench links [options]\n"
        "\n"
        "Times of copies between the host and devices, and from device to device.",
        (struct option_set){table, &request, NULL}, argc, argv);
    if (code) return code < 0 ? EXIT_DONE : code;
    const char *devices = request.devices;
    char why[512];
    int count;
    evn_device *a = NULL, *b = NULL;
    evn_status status = evn_devices_count(devices, &count, why, sizeof why);
    if (!status && !count)
        status =
            evn_fail(EVN_MISSING, "bench links: --devices %s: there is none: %s", devices, why);
    if (!status) status = evn_device_open(&a, devices, 0);
    if (!status && count > 1) status = evn_device_open(&b, devices, 1);
    if (!status) {
        const evn_traits *t = evn_device_traits(a);
        printf("%s, %ld samples%s\n", t->name, request.repeat,
               t->clock_is_virtual ? ", virtual clock (of copies; the host's is real)" : "");
        if (!b) printf("one device: nothing from device to device\n");
        status = study(a, b, (int)request.repeat);
    }
    evn_device_close(b);
    evn_device_close(a);
    return status ? give_up(status) : EXIT_DONE;
}
