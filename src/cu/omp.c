/* Queries of the program: its unit, the number of units, the device; and launches of kernels.
 * Outside of units' work the answers are those of a host unit, the encountering thread's. */
#include "cu/internal.h"
#include <evener/kernel.h>
#include <limits.h>
#include <omp.h>
#include <stdlib.h>

/* The unit of the calling thread, leader or team; NULL outside. */
evn_unit *evn_cu_unit(void) { return cu_here.unit ? cu_here.unit : evn_units_here(); }

evn_units *evn_cu_units(void) { return cu.units; }

int cu_device_at_hand(void) {
    const int device = cu_here.batch ? evn_batch_device(cu_here.batch) : 0;
    return device < 0 ? 0 : device;
}

unsigned int evn_cu_count(void) { return cu.units ? (unsigned)evn_units_count(cu.units) : 0; }
unsigned int evn_cu_gpus(void) { return cu.units ? (unsigned)evn_units_about(cu.units).gpus : 0; }
unsigned int evn_cu_cpus(void) {
    return cu.units ? (unsigned)(evn_units_count(cu.units) - evn_units_about(cu.units).gpus) : 0;
}
unsigned int evn_cu_devices(void) {
    return cu.units ? (unsigned)evn_units_about(cu.units).devices : 0;
}

unsigned int evn_cu_threads(void) {
    if (cu_here.unit && !omp_get_level()) return (unsigned)evn_unit_cores(cu_here.unit);
    return (unsigned)omp_get_num_threads();
}

int evn_cu_is_gpu(void) {
    const evn_unit *unit = evn_cu_unit();
    return unit && evn_unit_is_gpu(unit);
}
int evn_cu_is_cpu(void) { return !evn_cu_is_gpu(); }

unsigned int evn_cu_gpu(void) {
    const evn_unit *unit = evn_cu_unit();
    if (!unit || !evn_unit_is_gpu(unit)) return UINT_MAX;
    return (unsigned)evn_unit_about(unit).device + cu_device_at_hand();
}
unsigned int evn_cu_cpu(void) { return evn_cu_is_gpu() ? UINT_MAX : evn_cu_number(); }

unsigned int evn_cu_number(void) {
    const evn_unit *unit = evn_cu_unit();
    return unit ? (unsigned)evn_unit_number(unit) : 0;
}

unsigned int evn_cu_num_teams(void) {
    return evn_cu_unit() ? evn_cu_count() : (unsigned)omp_get_num_teams();
}
unsigned int evn_cu_team_num(void) {
    return evn_cu_unit() ? evn_cu_number() : (unsigned)omp_get_team_num();
}

evn_queue *evn_cu_queue(void) {
    if (!evn_cu_is_gpu() || (cu_here.batch && evn_batch_device(cu_here.batch) < 0)) return NULL;
    return evn_unit_queue(evn_cu_unit(), cu_device_at_hand());
}

void *evn_cu_stream(void) {
    void *stream = NULL;
    evn_queue *queue = evn_cu_queue();
    evn_status status = queue ? evn_queue_native(&stream, queue) : EVN_OK;
    if (status && status != EVN_MISSING) cu_die_of_message(NULL);
    return stream;
}

void evn_cu_synchronize(void) {
    evn_queue *queue = evn_cu_queue();
    if (queue && evn_queue_finish(queue)) cu_die_of_message(NULL);
}

/* ---- kernels ------------------------------------------------------------------------------- */

enum { MOST = 32 }; /* most parameters of a kernel */

/* Memory is two parameters: the arena it is in, and the byte it begins at. */
static int spread(const evn_cu_argument *from, int count, evn_argument *to, evn_long *at) {
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (n + 2 > MOST) cu_die(NULL, "omp_cu_launch: more than %d parameters", (int)MOST);
        if (from[i].memory) {
            size_t byte;
            evn_buffer *buffer = evn_cu_address(from[i].memory, &byte);
            to[n++] = (evn_argument){.buffer = buffer};
            at[n] = (evn_long)byte;
            to[n] = (evn_argument){.value = &at[n], .bytes = sizeof at[n]};
            n++;
        } else {
            to[n++] = (evn_argument){.value = from[i].value, .bytes = from[i].bytes};
        }
    }
    return n;
}

void evn_cu_launch(const evn_kernel_source *source, const char *name, int groups,
                   const evn_cu_argument *argument, int arguments) {
    evn_argument given[MOST];
    evn_long at[MOST];
    evn_kernel *kernel = NULL;
    evn_queue *queue = evn_cu_queue();
    if (!cu_here.unit || !queue)
        cu_die(NULL,
               "omp_cu_launch of \"%s\" where there is no device; omp_is_gpu() says whether "
               "there is",
               name ? name : "");
    const int n = spread(argument, arguments, given, at);
    evn_device *device = evn_unit_device(cu_here.unit, cu_device_at_hand());
    evn_status status = evn_kernel_get(device, source, name, &kernel);
    if (!status) status = evn_launch(queue, kernel, groups, 0, given, n);
    if (status) cu_die_of_message(NULL);
}
