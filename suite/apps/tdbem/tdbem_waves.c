/* The problem's incident waves: opened and checked, warned of, and in the words of a checkpoint. */
#include "common/run/hash.h"
#include "tdbem/problem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Numbers that are each in order may make others that are none. */
static evn_status check_times(const tdbem *p, const struct incident *in) {
    const double speed = p->options.speed;
    if (!(in->dt > 0) || !isfinite(in->dt) || !isfinite(in->first) || !isfinite(in->last))
        return evn_fail(EVN_USAGE,
                        "speed: %g makes steps of %g for c dt = %.4g and a body %.4g long, "
                        "expected one with steps that are numbers",
                        speed, in->dt, p->shape.delta, p->mesh->longest);
    const double end =
        in->pulse.t0 + in->last + pulse_tail(&in->pulse) + 3 * p->mesh->longest / speed;
    if (!isfinite(pulse_highest(&in->pulse)) || !isfinite(end) || !isfinite(in->pulse.t0 / in->dt))
        return evn_fail(
            EVN_USAGE,
            "pulse: sigma = %g and t0 = %g make no times that are numbers, with steps of %.4g",
            in->pulse.sigma, in->pulse.t0, in->dt);
    if (in->pulse.signal && pulse_highest(&in->pulse) > M_PI / in->dt)
        return evn_fail(
            EVN_USAGE,
            "pulse: %s has frequencies up to %.4g (-40 dB), and steps of %.4g carry up to %.4g, "
            "two a period; expected a filtered signal, or --delta %.4g or less",
            p->options.pulse, pulse_highest(&in->pulse), in->dt, M_PI / in->dt,
            M_PI * speed / pulse_highest(&in->pulse));
    return EVN_OK;
}

/* The image of a wave that was reflected along some axes. */
static tdbem_wave reflected(const struct mirror *m, int flips, const tdbem_wave *w, double speed) {
    tdbem_wave image = *w;
    double length = 0;
    for (int a = 0; a < 3; a++) length += w->at[a] * w->at[a];
    length = sqrt(length);
    for (int a = 0; a < 3; a++) {
        if (!(flips >> a & 1)) continue;
        if (!w->point) image.delay += 2 * m->at[a] * w->at[a] / length / speed;
        image.at[a] = (w->point ? 2 * m->at[a] : 0) - w->at[a];
    }
    return image;
}

/* The axes along which a wave is its own image: a plane wave along the plane, a source on it. */
static int own_image(const struct mirror *m, const tdbem_wave *w, double rounding) {
    int own = 0;
    for (int a = 0; a < 3; a++)
        own |= (fabs(w->at[a] - (w->point ? m->at[a] : 0)) <= rounding) << a;
    return own;
}

/* All waves of an incidence and their images behind the planes, in `out`; how many. */
static int reflect(tdbem_wave *out, const tdbem_incidence *of, const struct mesh *m, double speed) {
    int count = 0;
    for (int w = 0; w < of->waves; w++) {
        const tdbem_wave *wave = &of->wave[w];
        double most = m->longest;
        for (int a = 0; !wave->point && a < 3; a++) most = fmax(a ? most : 0, fabs(wave->at[a]));
        const int own = own_image(&m->mirror, wave, 1e-12 * most);
        for (int g = 0; g <= mirror_images(&m->mirror); g++) {
            const int flips = mirror_flips(&m->mirror, g);
            if (!(flips & own)) out[count++] = reflected(&m->mirror, flips, wave, speed);
        }
    }
    return count;
}

static evn_status check_sides(const tdbem_incidence *of, const struct mesh *m) {
    for (int w = 0; w < of->waves; w++) {
        const double *at = of->wave[w].at;
        if (of->wave[w].point && mirror_behind(&m->mirror, at, 1e-12 * m->longest) >= 0)
            return evn_fail(
                EVN_USAGE,
                "source %d: (%g, %g, %g) is behind a plane; expected a point on the body's side",
                w + 1, at[0], at[1], at[2]);
    }
    return EVN_OK;
}

static evn_status open_one(struct incident **out, tdbem *p, const tdbem_incidence *of) {
    const tdbem_options *o = &p->options;
    const size_t most = (size_t)(mirror_images(&p->mesh->mirror) + 1) * (size_t)of->waves;
    evn_status status = check_sides(of, p->mesh);
    if (status) return status;
    tdbem_wave *wave = malloc((most + 1) * sizeof *wave);
    if (!wave) return evn_fail(EVN_MEMORY, "td-bem: no memory for %zu waves", most);
    const tdbem_incidence all = {of->name, reflect(wave, of, p->mesh, o->speed), wave};
    status =
        incident_open(out, p->mesh, o->problem, o->eta, p->shape.delta, o->speed, &all, &p->pulse);
    free(wave);
    return status;
}

/* Waves of one incidence after another's. */
evn_status tdbem_open_waves(tdbem *p) {
    const tdbem_options *o = &p->options;
    const double *d = o->direction;
    const tdbem_wave along = {.at = {d[0], d[1], d[2]}, .amplitude = 1};
    const tdbem_incidence one = {.waves = 1, .wave = &along};
    const tdbem_incidence *of = o->incidences ? o->incidence : &one;
    evn_status status = EVN_OK;
    p->columns = o->incidences ? o->incidences : 1;
    p->column = calloc((size_t)p->columns, sizeof *p->column);
    if (!p->column) return evn_fail(EVN_MEMORY, "td-bem: no memory for %d incidences", p->columns);
    for (int i = 0; !status && i < p->columns; i++) status = open_one(&p->column[i], p, &of[i]);
    p->incident = p->column[0];
    for (int i = 0; !status && i < p->columns; i++) status = check_times(p, p->column[i]);
    if (!status || !of->name || p->column[p->columns - 1]) return status;
    int last = 0;
    while (p->column[last]) last++;
    return evn_fail(status, "%s: %s", of[last].name, evn_message());
}

/* Eight edges a wavelength, up to where the pulse's spectrum is 40 dB below its maximum. */
static void warn_of_length(tdbem *p) {
    const struct mesh *m = p->mesh;
    const struct pulse *pulse = &p->incident->pulse;
    const double highest = pulse_highest(pulse), length = 2 * M_PI * p->options.speed / highest;
    if (length >= 8 * m->h_mean) return;
    if (pulse->signal)
        tdbem_warn(p,
                   "pulse: %s has frequencies that are high for this mesh: up to %.4g (-40 dB), "
                   "where a wavelength is %.4g, %.1f mean edges of %.4g; 8 carry up to %.4g",
                   p->options.pulse, highest, length, length / m->h_mean, m->h_mean,
                   highest * length / (8 * m->h_mean));
    else
        tdbem_warn(p,
                   "pulse: sigma = %.4g is short for this mesh: at its highest frequency (-40 dB) "
                   "a wavelength is %.4g, %.1f mean edges of %.4g; 8 need sigma = %.4g",
                   pulse->sigma, length, length / m->h_mean, m->h_mean,
                   pulse->sigma * 8 * m->h_mean / length);
}

static void warn_of(tdbem *p, const struct incident *in) {
    const double early = incident_early(in);
    if (early > 1e-8)
        tdbem_warn(p,
                   "pulse: at t = 0 the wave is already on the body (%.2g of its height); t0 = "
                   "%.6g or later would let it come",
                   early, pulse_lead(&in->pulse) - in->first);
    const double silent = in->pulse.t0 - pulse_lead(&in->pulse) + in->first;
    if (silent > 10 * p->mesh->longest / p->options.speed)
        tdbem_warn(p,
                   "pulse: the wave comes to the body after %.4g, %.3g steps in which nothing "
                   "happens; %s less by that would spare them",
                   silent, silent / in->dt, in->pulse.signal ? "times in its file" : "a t0");
    if (in->nearest < 1)
        tdbem_warn(p,
                   "source: one is nearer to the body than the triangle there is long, %.2g of its "
                   "edge; its field changes faster than the mesh can follow",
                   in->nearest);
}

void tdbem_warn_of_waves(tdbem *p) {
    warn_of_length(p);
    for (int i = 0; i < p->columns; i++) warn_of(p, p->column[i]);
}

/* One plane wave by its direction, others by all that there is. */
void tdbem_name_waves(const tdbem *p, char *out, size_t size) {
    const double *d = p->incident->direction;
    uint64_t hash = HASH_SEED;
    int waves = 0;
    if (p->columns == 1 && incident_single(p->incident)) {
        snprintf(out, size, "direction=%.17g,%.17g,%.17g", d[0], d[1], d[2]);
        return;
    }
    for (int i = 0; i < p->columns; i++) {
        const struct incident *in = p->column[i];
        hash = hash_bytes(hash, &in->pulse.t0, sizeof in->pulse.t0);
        hash = hash_word(hash, (uint64_t)in->waves);
        waves += in->waves;
        for (int w = 0; w < in->waves; w++) {
            const tdbem_wave *wave = &in->wave[w];
            hash = hash_word(hash, (uint64_t)wave->point);
            hash = hash_bytes(hash, wave->at, sizeof wave->at);
            hash = hash_bytes(hash, &wave->amplitude, sizeof wave->amplitude);
            hash = hash_bytes(hash, &wave->delay, sizeof wave->delay);
        }
    }
    snprintf(out, size, "waves=%d/%d:%016llx", waves, p->columns, (unsigned long long)hash);
}
