/* Loops with kernels made by evener-cc: moving their arrays, launching, summing. */
#include "cu/internal.h"
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = CU_GROUP, MOST = 16 };

static evn_cu_site place_of(const evn_cu_kernel *k) {
    return (evn_cu_site){.file = k->file, .line = k->line};
}

static void die_of_message(const evn_cu_kernel *k) __attribute__((noreturn, cold));
static void die_of_message(const evn_cu_kernel *k) {
    const evn_cu_site site = place_of(k);
    cu_die_of_message(&site);
}

/* ---- arrays -------------------------------------------------------------------------------- */

static int region_of(const void *memory) {
    int region = -1;
    size_t within;
    if (evn_cu_place()) evn_place_find(evn_cu_place(), memory, &region, &within);
    return region;
}

static void bring_part(const evn_cu_kernel *k, const evn_cu_array *a, const void *part,
                       int on_device) {
    const evn_cu_site site = place_of(k);
    evn_status status;
    const int known = cu_place_bring(part, a->written ? EVN_BOTH : EVN_READ, &status);
    if (!known && on_device)
        cu_die(&site,
               "the array \"%s\" of this loop is at %p, in no memory that was registered; "
               "omp_register() and map(..) do that",
               a->name, a->memory);
    if (status) cu_die(&site, "the array \"%s\" of this loop: %s", a->name, evn_message());
}

/* On a device its parts are one. */
static void bring(const evn_cu_kernel *k, const evn_cu_array *a, int on_device) {
    const void *first = cu_section(a->memory, 0), *part = first;
    for (int n = 1; part; part = cu_section(a->memory, n++)) {
        const evn_cu_site site = place_of(k);
        if (on_device && part != first && region_of(part) != region_of(first))
            cu_die(&site,
                   "the array \"%s\" of this loop is mapped in several parts; expected map(..) of "
                   "one section, with all elements that the loop uses",
                   a->name);
        bring_part(k, a, part, on_device);
    }
}

/* Where element 0 is on the device, or would be: before the memory of the array's section. */
static void find(const evn_cu_kernel *k, evn_cu_array *a) {
    const char *part = cu_section(a->memory, 0);
    size_t at;
    if (!part) return;
    evn_cu_address(part, &at);
    const evn_cu_int byte = (evn_cu_int)at - (part - (const char *)a->memory);
    if (byte % a->bytes) {
        const evn_cu_site site = place_of(k);
        cu_die(&site, "the array \"%s\" of this loop lies across elements of its memory", a->name);
    }
    a->at = byte / a->bytes;
}

void evn_cu_kernel_member(evn_cu_kernel *kernel, const void *memory, const char *name) {
    if (!cu_here.unit || !evn_cu_queue()) return; /* where the loop runs as it is, so does this */
    if (evn_cu_where(memory) >= evn_cu_devices()) return;
    const evn_cu_site site = place_of(kernel);
    cu_die(
        &site,
        "\"%s\" of this loop is in registered memory that is on a device, and would be read on the "
        "host; read it into a variable before omp_migrate() takes the memory there",
        name);
}

int evn_cu_kernel_here(evn_cu_kernel *kernel, evn_cu_array *array, int arrays) {
    const int on_device = cu_here.unit && evn_cu_queue() != NULL;
    const int inner = omp_get_level() > 0;
    if (inner) cu_here.maps = 0;
    if (inner && !evn_cu_is_gpu()) return 0; /* the loop's arrays were brought before the region */
    if (inner) {
        const evn_cu_site site = place_of(kernel);
        cu_die(&site, "a loop that is a kernel within a parallel region of a GPU unit");
    }
    for (int i = 0; i < arrays; i++) bring(kernel, &array[i], on_device);
    for (int i = 0; i < arrays && on_device; i++) find(kernel, &array[i]);
    cu_here.maps = 0;
    return on_device;
}

int evn_cu_kernel_threads(void) {
    if (cu_here.unit && !omp_get_level()) return evn_unit_cores(cu_here.unit);
    return omp_get_max_threads();
}

/* ---- iterations ---------------------------------------------------------------------------- */

evn_cu_int evn_cu_kernel_count(evn_cu_kernel *kernel, evn_cu_int from, evn_cu_int to,
                               evn_cu_int step, int relation) {
    const evn_cu_site site = place_of(kernel);
    return cu_count(&site, from, to, step, relation);
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

/* Two numbers of a reduction as one. */
static double combined(char how, double a, double b) {
    switch (how) {
    case '*': return a * b;
    case '<': return b < a ? b : a;
    case '>': return b > a ? b : a;
    default: return a + b;
    }
}

static evn_cu_int combined_counts(char how, evn_cu_int a, evn_cu_int b) {
    const unsigned long long x = (unsigned long long)a, y = (unsigned long long)b;
    switch (how) {
    case '*': return (evn_cu_int)(x * y);
    case '<': return b < a ? b : a;
    case '>': return b > a ? b : a;
    case 'l': return y < x ? b : a;
    case 'g': return y > x ? b : a;
    case '&': return a & b;
    case '|': return a | b;
    case '^': return a ^ b;
    default: return (evn_cu_int)(x + y);
    }
}

/* Fetches the parts of all groups from the device, `each` numbers of 8 bytes a group; to be freed.
 */
static void *fetch(evn_queue *queue, const evn_buffer *parts, int groups, int each,
                   evn_status *status) {
    const size_t bytes = (size_t)groups * (size_t)each * 8;
    void *part = malloc(bytes);
    if (!part) {
        *status = evn_fail(EVN_MEMORY, "not enough memory for sums");
        return NULL;
    }
    *status = evn_copy_to_host(queue, part, parts, 0, bytes);
    const evn_status finished = evn_queue_finish(queue);
    if (!*status) *status = finished;
    return part;
}

/* The reductions of all groups, in their order. */
static evn_status combine(const evn_cu_kernel *k, evn_queue *queue, evn_buffer *const *parts,
                          int groups, double *sum, evn_cu_int *count) {
    evn_status status = EVN_OK;
    double *real = k->sums ? fetch(queue, parts[0], groups, k->sums, &status) : NULL;
    evn_cu_int *whole =
        k->counts && !status ? fetch(queue, parts[1], groups, k->counts, &status) : NULL;
    for (int g = 0; g < groups && !status; g++) {
        for (int i = 0; i < k->sums; i++)
            sum[i] = combined(k->combine[i], sum[i], real[(size_t)g * (size_t)k->sums + (size_t)i]);
        for (int i = 0; i < k->counts; i++)
            count[i] = combined_counts(k->combine[k->sums + i], count[i],
                                       whole[(size_t)g * (size_t)k->counts + (size_t)i]);
    }
    free(real);
    free(whole);
    return status;
}

void evn_cu_kernel_run(evn_cu_kernel *kernel, evn_cu_int trips, const void *values, size_t bytes,
                       double *sum, evn_cu_int *count) {
    evn_queue *queue = evn_cu_queue();
    evn_device *device = evn_unit_device(cu_here.unit, cu_device_at_hand());
    evn_buffer *arena = NULL, *nothing = NULL, *parts[2] = {NULL, NULL};
    evn_kernel *k = NULL;
    evn_argument given[MOST];
    const int each[2] = {kernel->sums, kernel->counts};
    int n = 0;
    if (!trips) return;
    const int groups = (int)((trips + GROUP - 1) / GROUP);
    evn_status status =
        cu_kernel_get(kernel, device, cu_here.space, evn_units_about(cu.units).machine, &k);
    if (cu_here.count) arena = evn_place_buffer(evn_cu_place(), cu_here.space);
    if (kernel->buffers && !arena && !status) /* all arrays are empty */
        status = evn_buffer_open(&nothing, device, 8);
    for (; n < kernel->buffers; n++) given[n] = (evn_argument){.buffer = arena ? arena : nothing};
    given[n++] = (evn_argument){.value = values, .bytes = bytes};
    for (int i = 0; i < 2 && !status; i++) {
        if (!each[i]) continue;
        status = evn_buffer_open(&parts[i], device, (size_t)groups * (size_t)each[i] * 8);
        given[n++] = (evn_argument){.buffer = parts[i]};
    }
    if (!status) status = evn_launch(queue, k, groups, 0, given, n);
    if (!status && (parts[0] || parts[1]))
        status = combine(kernel, queue, parts, groups, sum, count);
    evn_buffer_close(parts[0]);
    evn_buffer_close(parts[1]);
    if (nothing && !status) status = evn_queue_finish(queue);
    evn_buffer_close(nothing);
    if (status) die_of_message(kernel);
}

void evn_cu_kernel_asserted(evn_cu_int failed, const char *const *text) {
    if (!failed) return;
    fprintf(stderr, "%s does not hold in a kernel\n", text[failed - 1]);
    abort();
}
