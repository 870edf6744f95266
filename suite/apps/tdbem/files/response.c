/* Transfer functions by sums over the steps, and filters by sums over frequencies: few of them are
 * carried, so that nothing faster is needed. */
#include "tdbem/files/response.h"
#include "tdbem/files/sofa.h"
#include "tdbem/files/wav.h"
#include "common/run/free_all.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static evn_status no_memory(void) {
    return evn_fail(EVN_MEMORY, "td-bem: no memory for the responses");
}

/* to[c]: transform of column 1 + c of the table over the incident wave's, at w; phase: scratch of a
 * row each. */
static void transfer_at(const struct probes *from, double w, double complex *phase,
                        double complex *to) {
    const struct table *t = from->table;
    const struct pulse *pulse = &from->incident->pulse;
    const size_t columns = (size_t)t->columns;
    double complex incident = 0;
    for (size_t n = 0; n < t->rows; n++) {
        const double time = (double)n * from->incident->dt;
        phase[n] = cos(w * time) + sin(w * time) * I;
        incident += phase[n] * pulse_value(pulse, time);
    }
    for (size_t c = 0; c + 1 < columns; c++) {
        double complex sum = 0;
        for (size_t n = 0; n < t->rows; n++) sum += phase[n] * t->value[n * columns + 1 + c];
        to[c] = pulse_carries(pulse, w) ? sum / incident : NAN * (1 + I);
    }
}

/* [count * 2 points], to be freed; NULL without memory. */
static double complex *transfer(const struct probes *from, int count, const double *w) {
    const size_t columns = 2 * (size_t)from->count;
    double complex *to = malloc(((size_t)count * columns + 1) * sizeof *to);
    int failed = !to;
#pragma omp parallel reduction(| : failed)
    {
        double complex *phase = malloc((from->table->rows + 1) * sizeof *phase);
        failed |= !phase;
#pragma omp for
        for (int f = 0; f < count; f++)
            if (phase && to) transfer_at(from, w[f], phase, to + (size_t)f * columns);
        free(phase);
    }
    if (!failed) return to;
    free(to);
    return NULL;
}

/* 2 pi k / period for k = 0 .. count-1 */
static double *harmonics(double period, int count) {
    double *w = malloc((size_t)count * sizeof *w);
    for (int k = 0; w && k < count; k++) w[k] = 2 * M_PI * k / period;
    return w;
}

/* Pairs of scattered and total as two arrays of shape[0] times shape[1]. EVN_MEMORY. */
static evn_status add_pairs(struct npz *z, enum npz_kind kind, const size_t shape[2],
                            const void *pairs) {
    static const char *const name[] = {"scattered", "total"};
    const size_t size = kind == NPZ_REAL ? sizeof(double) : sizeof(double complex);
    const size_t all = shape[0] * shape[1];
    char *half = malloc((all + 1) * size);
    for (size_t which = 0; half && which < 2; which++) {
        for (size_t i = 0; i < all; i++)
            memcpy(half + i * size, (const char *)pairs + (2 * i + which) * size, size);
        npz_add(z, name[which], kind, 2, shape, half);
    }
    free(half);
    return half ? EVN_OK : no_memory();
}

/* ---- transfer functions ---- */

static void transfer_csv(FILE *out, const struct probes *from, int count, const double *w,
                         const double complex *h) {
    fprintf(out, "# pressures over %s; exp(-i w t)\nw",
            incident_reference(incident_single(from->incident)));
    for (int p = 1; p <= from->count; p++)
        fprintf(out, ",re_scattered_%d,im_scattered_%d,re_total_%d,im_total_%d", p, p, p, p);
    for (int f = 0; f < count; f++) {
        fprintf(out, "\n%.17g", w[f]);
        for (int c = 0; c < 2 * from->count; c++, h++)
            fprintf(out, ",%.17g,%.17g", creal(*h), cimag(*h));
    }
    fputc('\n', out);
}

static evn_status transfer_npz(FILE *out, const struct probes *from, int count, const double *w,
                               const double complex *h) {
    const size_t shape[] = {(size_t)count, (size_t)from->count};
    struct npz z;
    npz_open(&z, out);
    npz_add(&z, "w", NPZ_REAL, 1, shape, w);
    evn_status status = add_pairs(&z, NPZ_COMPLEX, shape, h);
    probes_npz(&z, from);
    npz_close(&z);
    return status;
}

double response_count(const struct incident *in, double highest, double rows) {
    return 1 + floor(highest * rows * in->dt / (2 * M_PI));
}

evn_status output_transfer(FILE *out, enum format format, const struct probes *from, int count,
                           const double *w) {
    const double period = (double)from->table->rows * from->incident->dt;
    double *own = NULL;
    if (!count) {
        count = (int)response_count(from->incident, from->highest, (double)from->table->rows);
        w = own = harmonics(period, count);
    }
    double complex *h = w ? transfer(from, count, w) : NULL;
    evn_status status = h ? EVN_OK : no_memory();
    if (h && format == FORMAT_CSV) transfer_csv(out, from, count, w, h);
    if (h && format == FORMAT_NPZ) status = transfer_npz(out, from, count, w, h);
    free_all(h, own);
    return status;
}

/* ---- impulse responses ---- */

evn_status response_plan(struct response_filter *out, const struct incident *in, double highest,
                         double rate, int rows) {
    const double samples = ceil(rows * in->dt * rate - 1e-6), before = floor(in->pulse.t0 * rate);
    const double least = highest / M_PI;
    if (!(rate >= least))
        return evn_fail(EVN_USAGE,
                        "sample-rate: %g samples a unit of time do not show frequencies up to "
                        "%.4g, which are carried; expected %.4g at least",
                        rate, least / 2, least);
    if (!(samples < INT_MAX) || !(fabs(before) < INT_MAX))
        return evn_fail(
            EVN_USAGE,
            "sample-rate: %g makes %.3g samples of %d steps of %.4g, expected fewer than 2e9", rate,
            samples, rows - 1, in->dt);
    const double periods = highest * samples / rate / (2 * M_PI);
    if (periods < 2)
        return evn_fail(EVN_USAGE,
                        "steps: %d of %.4g are too few for an impulse response, expected %.0f or "
                        "more, two periods of the highest frequency that is carried",
                        rows - 1, in->dt, ceil(4 * M_PI / highest / in->dt));
    *out = (struct response_filter){.rate = rate,
                                    .samples = (int)samples,
                                    .first = -(int)before,
                                    .frequencies = 1 + (int)periods};
    for (int k = 0; k < out->frequencies; k++)
        out->missing += !pulse_carries(&in->pulse, 2 * M_PI * k * rate / out->samples);
    return EVN_OK;
}

/* 1, and over the last fifth of the band from 1 to 0. */
static double taper(double part) {
    return part <= 0.8 ? 1 : 0.5 + 0.5 * cos(M_PI * (part - 0.8) / 0.2);
}

/* [samples * columns] of the filters, to be freed. */
static double *filters(const struct response_filter *is, int columns, double complex *h,
                       const double *w, double highest) {
    const size_t n = (size_t)is->samples, c = (size_t)columns;
    double *to = malloc((n * c + 1) * sizeof *to);
    double complex *root = malloc(n * sizeof *root);
    for (size_t i = 0; root && i < n; i++) {
        const double angle = 2 * M_PI * (double)i / (double)n;
        root[i] = cos(angle) - sin(angle) * I;
    }
    for (size_t k = 0; k < (size_t)is->frequencies; k++)
        for (size_t i = 0; i < c; i++)
            h[k * c + i] *= (k ? 2 : 1) * taper(w[k] / highest) / (double)n;
    const size_t begin = (size_t)(((long long)is->first % is->samples + is->samples) % is->samples);
#pragma omp parallel for if (to && root)
    for (size_t s = 0; s < n; s++)
        for (size_t i = 0; to && root && i < c; i++) {
            double sum = 0;
            for (size_t k = 0; k < (size_t)is->frequencies; k++)
                sum += creal(h[k * c + i] * root[k * ((begin + s) % n) % n]);
            to[s * c + i] = sum;
        }
    if (!root) {
        free(to);
        to = NULL;
    }
    free(root);
    return to;
}

static void impulse_csv(FILE *out, const struct probes *from, const struct response_filter *is,
                        const double *value) {
    fprintf(out, "# filters at %.17g samples a unit of time\nt", is->rate);
    for (int p = 1; p <= from->count; p++) fprintf(out, ",scattered_%d,total_%d", p, p);
    for (int s = 0; s < is->samples; s++) {
        fprintf(out, "\n%.17g", (is->first + s) / is->rate);
        for (int c = 0; c < 2 * from->count; c++) fprintf(out, ",%.17g", *value++);
    }
    fputc('\n', out);
}

static evn_status impulse_npz(FILE *out, const struct probes *from,
                              const struct response_filter *is, const double *value) {
    const size_t shape[] = {(size_t)is->samples, (size_t)from->count};
    double *time = malloc(shape[0] * sizeof *time);
    struct npz z;
    if (!time) return no_memory();
    for (int s = 0; s < is->samples; s++) time[s] = (is->first + s) / is->rate;
    npz_open(&z, out);
    npz_add(&z, "t", NPZ_REAL, 1, shape, time);
    free(time);
    evn_status status = add_pairs(&z, NPZ_REAL, shape, value);
    probes_npz(&z, from);
    npz_add(&z, "rate", NPZ_REAL, 0, NULL, &is->rate);
    npz_close(&z);
    return status;
}

/* Nothing where the pulse has nothing; but NAN stays where the pressures are. */
static void drop_missing(const struct probes *from, int count, const double *w, double complex *h) {
    for (int k = 0; k < count; k++)
        for (int c = 0; !pulse_carries(&from->incident->pulse, w[k]) && c < 2 * from->count; c++)
            h[2 * (size_t)k * (size_t)from->count + (size_t)c] =
                isnan(from->table->value[1 + c]) ? NAN : 0;
}

evn_status output_impulse(FILE *out, enum format format, const struct probes *from,
                          const struct response_filter *is) {
    const int columns = 2 * from->count;
    double *w = harmonics(is->samples / is->rate, is->frequencies);
    double complex *h = w ? transfer(from, is->frequencies, w) : NULL;
    if (h) drop_missing(from, is->frequencies, w, h);
    double *value = h ? filters(is, columns, h, w, from->highest) : NULL;
    evn_status status = value ? EVN_OK : no_memory();
    if (value && format == FORMAT_CSV) impulse_csv(out, from, is, value);
    if (value && format == FORMAT_NPZ) status = impulse_npz(out, from, is, value);
    if (value && format == FORMAT_WAV)
        wav_write(out, is->rate, from->count, (size_t)is->samples, value + 1, (size_t)columns, 2);
    if (value && format == FORMAT_SOFA)
        status =
            sofa_write(out, &(struct sofa){is->rate, is->samples, is->first, from->count, from->at,
                                           from->incident, value + 1, (size_t)columns, 2});
    free_all(value, h, w);
    return status;
}
