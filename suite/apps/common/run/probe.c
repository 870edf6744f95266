/* Measurement of peaks: the best of several short samples, by each thread's processor time. */
#include "common/run/probe.h"
#include "common/run/thread_seconds.h"
#include <evener/unit.h>
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>

#if defined(__AVX512F__)
enum { LANES = 8 };
#elif defined(__AVX__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif
typedef double vec __attribute__((vector_size(LANES * 8)));

enum { SAMPLES = 12 };
static const double sample_s = 0.02;

struct probe {
    size_t doubles; /* size of each of a core's three arrays */
    atomic_int failed;
    double *rate; /* rate of each unit, summed over its cores */
};

/* Twelve chains hide the latency of the multiply-add on every machine with two pipes and up to six
 * cycles. */
static double fma_rate(void) {
    enum { CHAINS = 12, ROUNDS = 20000 };
    vec x[CHAINS], a, b;
    for (int l = 0; l < LANES; l++) {
        a[l] = 0.999999;
        b[l] = 1e-6;
    }
    for (int c = 0; c < CHAINS; c++) x[c] = a + c * b;
    double best = 0;
    for (int s = 0; s < SAMPLES; s++) {
        long rounds = 0;
        double begin = thread_seconds(), end;
        do {
            for (int i = 0; i < ROUNDS; i++)
#pragma GCC unroll 12
                for (int c = 0; c < CHAINS; c++) x[c] = x[c] * a + b;
            for (int c = 0; c < CHAINS; c++)
                __asm__ volatile("" : : "m"(x[c])); /* all are wanted */
            rounds += ROUNDS;
        } while ((end = thread_seconds()) - begin < sample_s);
        double rate = 2.0 * LANES * CHAINS * (double)rounds / (end - begin);
        if (rate > best) best = rate;
    }
    return best;
}

static double triad_rate(size_t n) {
    double *a = aligned_alloc(64, 3 * n * sizeof *a);
    if (!a) return -1;
    double *b = a + n, *c = b + n;
    for (size_t i = 0; i < 3 * n; i++) a[i] = 1;
    double best = 0;
    for (int s = 0; s < SAMPLES; s++) {
        long passes = 0;
        double begin = thread_seconds(), end;
        do {
            for (size_t i = 0; i < n; i++) a[i] = b[i] + 3 * c[i];
            __asm__ volatile("" : : "r"(a) : "memory");
            passes++;
        } while ((end = thread_seconds()) - begin < sample_s);
        double rate = 24.0 * (double)n * (double)passes / (end - begin);
        if (rate > best) best = rate;
    }
    free(a);
    return best;
}

static void probe_unit(evn_unit *unit, void *arg) {
    struct probe *p = arg;
    double sum = 0;
    evn_unit_synchronize(unit);
#pragma omp parallel num_threads(evn_unit_cores(unit)) reduction(+ : sum)
    {
        double rate = p->doubles ? triad_rate(p->doubles) : fma_rate();
        if (rate < 0) atomic_store(&p->failed, 1);
        sum += rate;
    }
    p->rate[evn_unit_number(unit)] = sum;
}

static double probe(evn_units *units, size_t doubles) {
    int n = evn_units_count(units);
    struct probe p = {.doubles = doubles, .rate = calloc((size_t)n, sizeof *p.rate)};
    if (!p.rate) return 0;
    evn_units_run(units, probe_unit, &p);
    double sum = 0;
    for (int u = 0; u < n; u++) sum += p.rate[u];
    free(p.rate);
    return atomic_load(&p.failed) ? 0 : sum;
}

double probe_fma(evn_units *units) { return probe(units, 0); }

double probe_bandwidth(evn_units *units, size_t bytes) {
    size_t n = bytes / 24 / 8 * 8; /* whole cache lines */
    return probe(units, n ? n : 8);
}

static evn_status copy_rate(evn_queue *queue, evn_buffer *b, evn_event *const event[2],
                            double *best) {
    const size_t half = evn_buffer_bytes(b) / 2;
    evn_status status = EVN_OK;
    *best = 0;
    for (int s = 0; !status && s < SAMPLES; s++) {
        double seconds;
        status = evn_event_record(event[0], queue);
        if (!status) status = evn_copy_buffer(queue, b, half, b, 0, half);
        if (!status) status = evn_event_record(event[1], queue);
        if (!status) status = evn_queue_finish(queue);
        if (!status) status = evn_event_seconds(event[0], event[1], &seconds);
        if (!status && seconds > 0) *best = fmax(*best, 2 * (double)half / seconds);
    }
    return status;
}

double probe_device_bandwidth(evn_device *device, evn_queue *queue) {
    const evn_traits *is = evn_device_traits(device);
    const size_t most = (size_t)256 << 20, part = is->memory / 16;
    evn_buffer *b = NULL;
    evn_event *event[2] = {NULL, NULL};
    double best = 0;
    if (is->clock_is_virtual) return 0;
    evn_status status = evn_buffer_open(&b, device, part < 16 ? 16 : part < most ? part : most);
    for (int e = 0; !status && e < 2; e++) status = evn_event_open(&event[e], device);
    if (!status) status = copy_rate(queue, b, event, &best);
    for (int e = 0; e < 2; e++) evn_event_close(event[e]);
    evn_buffer_close(b);
    return status ? 0 : best;
}
