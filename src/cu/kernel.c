/* Loops of which evener-cc has made kernels: their arrays brought to where the caller is, their
 * launch, their sums. */
#include "cu/internal.h"
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 128, MOST = 8 };

/* What a device is given of it; kept for the program's life. */
struct made {
    evn_kernel_entry entry[2];
    evn_kernel_source source;
};

static evn_cu_site place_of(const evn_cu_kernel *k) {
    return (evn_cu_site){.file = k->file, .line = k->line};
}

static void die_of_message(const evn_cu_kernel *k) __attribute__((noreturn, cold));
static void die_of_message(const evn_cu_kernel *k) {
    const evn_cu_site site = place_of(k);
    cu_die_of_message(&site);
}

/* ---- arrays -------------------------------------------------------------------------------- */

static void bring(const evn_cu_kernel *k, const evn_cu_array *a, int on_device) {
    const evn_cu_site site = place_of(k);
    evn_status status;
    const int known = cu_place_bring(a->memory, a->written ? EVN_BOTH : EVN_READ, &status);
    if (!known && on_device)
        cu_die(&site,
               "the array \"%s\" of this loop is at %p, in no memory that was registered; "
               "omp_register() does that",
               a->name, a->memory);
    if (status) cu_die(&site, "the array \"%s\" of this loop: %s", a->name, evn_message());
}

static void find(const evn_cu_kernel *k, evn_cu_array *a) {
    size_t byte;
    evn_cu_address(a->memory, &byte);
    if (byte % (size_t)a->bytes) {
        const evn_cu_site site = place_of(k);
        cu_die(&site, "the array \"%s\" of this loop lies across elements of its memory", a->name);
    }
    a->at = (evn_cu_int)(byte / (size_t)a->bytes);
}

int evn_cu_kernel_here(evn_cu_kernel *kernel, evn_cu_array *array, int arrays) {
    const int on_device = cu_here.unit && evn_cu_queue() != NULL;
    const int inner = omp_get_level() > 0;
    if (inner && !evn_cu_is_gpu()) return 0; /* its arrays were brought before the region */
    if (inner) {
        const evn_cu_site site = place_of(kernel);
        cu_die(&site, "a loop that is a kernel within a parallel region of a GPU unit");
    }
    for (int i = 0; i < arrays; i++) bring(kernel, &array[i], on_device);
    for (int i = 0; i < arrays && on_device; i++) find(kernel, &array[i]);
    return on_device;
}

int evn_cu_kernel_threads(void) {
    if (cu_here.unit && !omp_get_level()) return evn_unit_cores(cu_here.unit);
    return omp_get_max_threads();
}

/* ---- iterations ---------------------------------------------------------------------------- */

evn_cu_int evn_cu_kernel_span(evn_cu_int from, evn_cu_int to, int inclusive) {
    const evn_cu_int n = to - from + inclusive;
    return n > 0 ? n : 0;
}

evn_cu_int evn_cu_kernel_trips(evn_cu_kernel *kernel, int loops, const evn_cu_int *count) {
    evn_cu_int all = 1;
    for (int i = 0; i < loops; i++)
        if (!count[i]) return 0;
    for (int i = 0; i < loops; i++) {
        if (count[i] > (INT_MAX - GROUP) / all) {
            const evn_cu_site site = place_of(kernel);
            cu_die(&site, "the loops have more than %d iterations", INT_MAX - GROUP);
        }
        all *= count[i];
    }
    return all;
}

/* ---- launch -------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const evn_kernel_source *source_of(evn_cu_kernel *k) {
    pthread_mutex_lock(&lock);
    struct made *made = k->state;
    if (!made) {
        const size_t first = strlen(k->dialect), second = strlen(k->text);
        char *text = malloc(first + second + 1);
        made = calloc(1, sizeof *made);
        if (!made || !text) {
            evn_fail(EVN_MEMORY, "not enough memory for a kernel");
            die_of_message(k);
        }
        memcpy(text, k->dialect, first);
        memcpy(text + first, k->text, second + 1);
        made->entry[0] = (evn_kernel_entry){"evn_loop", k->run, GROUP, k->parameter};
        made->source = (evn_kernel_source){
            .name = "evn_loop", .text = text, .entry = made->entry, .contract = k->contract};
        k->state = made;
    }
    pthread_mutex_unlock(&lock);
    return &made->source;
}

/* Sums of all groups, added in their order. */
static evn_status add_up(evn_queue *queue, const evn_buffer *parts, int groups, int sums,
                         double *sum) {
    const size_t bytes = (size_t)groups * (size_t)sums * sizeof(double);
    double *part = malloc(bytes);
    if (!part) return evn_fail(EVN_MEMORY, "not enough memory for sums");
    evn_status status = evn_copy_to_host(queue, part, parts, 0, bytes);
    evn_status finished = evn_queue_finish(queue);
    if (!status) status = finished;
    for (int g = 0; g < groups && !status; g++)
        for (int i = 0; i < sums; i++) sum[i] += part[(size_t)g * (size_t)sums + (size_t)i];
    free(part);
    return status;
}

void evn_cu_kernel_run(evn_cu_kernel *kernel, evn_cu_int trips, const void *values, size_t bytes,
                       double *sum) {
    evn_queue *queue = evn_cu_queue();
    evn_device *device = evn_unit_device(cu_here.unit, cu_device_at_hand());
    evn_buffer *arena = NULL, *parts = NULL;
    evn_kernel *k = NULL;
    evn_argument given[MOST];
    int n = 0;
    for (int i = 0; i < kernel->sums; i++) sum[i] = 0;
    if (!trips) return;
    const int groups = (int)((trips + GROUP - 1) / GROUP);
    if (kernel->buffers) arena = evn_place_buffer(evn_cu_place(), cu_here.space);
    for (; n < kernel->buffers; n++) given[n] = (evn_argument){.buffer = arena};
    given[n++] = (evn_argument){.value = values, .bytes = bytes};
    evn_status status = evn_kernel_get(device, source_of(kernel), "evn_loop", &k);
    if (!status && kernel->sums)
        status =
            evn_buffer_open(&parts, device, (size_t)groups * (size_t)kernel->sums * sizeof(double));
    if (parts) given[n++] = (evn_argument){.buffer = parts};
    if (!status) status = evn_launch(queue, k, groups, GROUP, given, n);
    if (!status && parts) status = add_up(queue, parts, groups, kernel->sums, sum);
    evn_buffer_close(parts);
    if (status) die_of_message(kernel);
}
