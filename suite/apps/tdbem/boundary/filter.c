/* Rational admittances: reading, passivity, and steps in closed form. */
#include "tdbem/boundary/filter.h"
#include "tdbem/mesh/mesh_source.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POLES = 64 };

double complex filter_value(const struct filter *f, double w) {
    double complex sum = f->instant;
    for (int p = 0; p < f->poles; p++) {
        const struct pole *pole = &f->pole[p];
        sum += pole->residue / (-I * w - pole->at);
        if (cimag(pole->at) > 0) sum += conj(pole->residue) / (-I * w - conj(pole->at));
    }
    return sum;
}

/* (exp(z) - 1)/z and (that - 1)/z, by their series where differences would cancel. */
static void exponentials(double complex z, double complex *first, double complex *second) {
    enum { TERMS = 18 };
    if (cabs(z) < 1) {
        double complex sum = 0;
        for (int k = TERMS; k >= 2; k--) sum = (1 + z * sum) / k;
        *second = sum;
        *first = 1 + z * sum;
    } else {
        *first = (cexp(z) - 1) / z;
        *second = (*first - 1) / z;
    }
}

struct pole_step pole_step(const struct pole *p, double dt) {
    double complex first, second;
    exponentials(p->at * dt, &first, &second);
    return (struct pole_step){.decay = cexp(p->at * dt),
                              .gain = p->residue * dt * first * first,
                              .instant = p->residue * dt * second};
}

static double real_part(const struct filter *f, double w) { return creal(filter_value(f, w)); }

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The minimum between low and high, of which there is one at most where they are near. */
static double golden(const struct filter *f, double low, double high) {
    const double ratio = 0.6180339887498949;
    for (int i = 0; i < 80; i++) {
        const double a = high - ratio * (high - low), b = low + ratio * (high - low);
        if (real_part(f, a) < real_part(f, b))
            high = b;
        else
            low = a;
    }
    return 0.5 * (low + high);
}

/* Re beta changes within a pole's width about its frequency, and slowly elsewhere: both are
 * sampled, and what lies between two samples is looked for at each minimum of them. */
double filter_least(const struct filter *f, double *at) {
    enum { EACH = 128, ALL = (POLES + 1) * EACH + 1 };
    double *w = malloc(ALL * sizeof *w), least = f->instant; /* that of w = infinity */
    int n = 0;
    *at = INFINITY;
    if (!w) return NAN;
    w[n++] = 0;
    for (int p = 0; p < f->poles; p++)
        for (int i = 0; i < EACH; i++) {
            const double angle = M_PI * ((i + 0.5) / EACH - 0.5);
            w[n++] = fabs(cimag(f->pole[p].at) - creal(f->pole[p].at) * tan(angle));
        }
    for (int i = 0; f->poles && i < EACH; i++) {
        const double size = cabs(f->pole[i % f->poles].at);
        w[n++] = size * pow(10, 12.0 * i / EACH - 6);
    }
    qsort(w, (size_t)n, sizeof *w, by_value);
    for (int i = 0; i < n; i++) {
        const double here = real_part(f, w[i]);
        const double before = i ? real_part(f, w[i - 1]) : INFINITY;
        const double behind = i + 1 < n ? real_part(f, w[i + 1]) : INFINITY;
        if (here > before || here > behind) continue;
        const double bottom = golden(f, i ? w[i - 1] : w[i], i + 1 < n ? w[i + 1] : w[i]);
        const double found = real_part(f, bottom) < here ? bottom : w[i];
        if (real_part(f, found) >= least) continue;
        least = real_part(f, found);
        *at = found;
    }
    free(w);
    return least;
}

/* The size that Re beta is compared with: rounding of sums and quotients is not negative. */
static double size_of(const struct filter *f) {
    double sum = fabs(f->instant);
    for (int p = 0; p < f->poles; p++) sum += cabs(f->pole[p].residue / creal(f->pole[p].at));
    return sum;
}

static evn_status check_passive(const struct filter *f) {
    double w;
    const double least = filter_least(f, &w);
    if (isnan(least)) return evn_fail(EVN_MEMORY, "%s: no memory", f->name);
    if (least >= -1e-12 * size_of(f)) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "%s: not passive: Re beta is %.3g at w = %.4g, expected 0 or more at all "
                    "frequencies; a larger instant part would do",
                    f->name, least, w);
}

evn_status filter_check_steps(const struct filter *f, double dt) {
    double fastest = 0;
    for (int p = 0; p < f->poles; p++) fastest = fmax(fastest, cabs(f->pole[p].at));
    if (fastest * dt <= 1) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "%s: its fastest pole, |pole| = %.4g, is not resolved by steps of %.4g; "
                    "expected steps of at most %.4g",
                    f->name, fastest, dt, 1 / fastest);
}

static evn_status read_pole(struct filter *f, struct source *s) {
    double part[4];
    for (int i = 0; i < 4; i++)
        if (source_line_ends(s, '#') || !source_number(s, &part[i]) || !isfinite(part[i]))
            return source_bad(s, "pole: expected four numbers, RE IM RESIDUE_RE RESIDUE_IM");
    if (!(part[0] < 0))
        return source_bad(s, "pole: its real part is %g, expected one below 0, which decays",
                          part[0]);
    if (part[1] < 0)
        return source_bad(s,
                          "pole: its imaginary part is %g, expected 0 or more; the conjugate is "
                          "added by itself",
                          part[1]);
    if (part[1] == 0 && part[3] != 0)
        return source_bad(s, "pole: a real pole has a real residue, not %g + %g i", part[2],
                          part[3]);
    if (f->poles == POLES) return source_bad(s, "more than %d poles", POLES);
    f->pole[f->poles++] = (struct pole){part[0] + part[1] * I, part[2] + part[3] * I};
    return EVN_OK;
}

static evn_status read_lines(struct filter *f, struct source *s) {
    evn_status status = EVN_OK;
    int instants = 0;
    while (!status) {
        char word[32];
        source_skip(s, '#');
        if (!source_word(s, word, sizeof word)) break;
        if (!strcmp(word, "pole")) {
            status = read_pole(f, s);
        } else if (!strcmp(word, "instant")) {
            if (instants++) status = source_bad(s, "a second instant part");
            if (!status && (source_line_ends(s, '#') || !source_number(s, &f->instant) ||
                            !(f->instant >= 0) || !isfinite(f->instant)))
                status = source_bad(s, "instant: expected a number from 0 on");
        } else {
            status = source_bad(s, "\"%s\": expected instant or pole", word);
        }
        if (!status && !source_line_ends(s, '#'))
            status = source_bad(s, "%s: there is more on the line than its numbers", word);
    }
    if (!status && !instants && !f->poles)
        status = evn_fail(EVN_USAGE,
                          "%s: there is nothing in it, expected lines of instant X and "
                          "pole RE IM RESIDUE_RE RESIDUE_IM",
                          s->name);
    return status;
}

evn_status filter_read(struct filter *f, const char *name) {
    struct source s = {.name = name};
    *f = (struct filter){.name = name, .pole = malloc(POLES * sizeof *f->pole)};
    evn_status status =
        f->pole ? source_load(&s, name) : evn_fail(EVN_MEMORY, "%s: no memory", name);
    if (status == EVN_SYSTEM)
        status = evn_fail(EVN_USAGE,
                          "admittance: %s; expected a number or a filter's file that can be read",
                          evn_message());
    if (!status) status = read_lines(f, &s);
    if (!status) status = check_passive(f);
    free(s.data);
    return status;
}
