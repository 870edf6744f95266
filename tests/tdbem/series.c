/* The series: y_n by upward recurrence; j_n by downward recurrence from beyond the last term,
 * scaled by sum (2n+1) j_n^2 = 1. */
#include "series.h"
#include <math.h>

/* h_n = j_n + i y_n for n = 0 .. count-1 */
static void hankel(double x, int count, double complex *h) {
    double j[SERIES_TERMS + 32], y0 = -cos(x) / x, y1 = -cos(x) / (x * x) - sin(x) / x;
    const int top = count + 15 + (int)x;
    const int last = top < SERIES_TERMS + 30 ? top : SERIES_TERMS + 30;
    j[last + 1] = 0;
    j[last] = 1e-100;
    double sum = (2 * last + 1) * j[last] * j[last];
    for (int n = last; n > 0; n--) {
        j[n - 1] = (2 * n + 1) / x * j[n] - j[n + 1];
        if (fabs(j[n - 1]) > 1e140) { /* beyond the square root of what a double holds */
            for (int m = n - 1; m <= last; m++) j[m] *= 1e-140;
            sum *= 1e-280;
        }
        sum += (2 * n - 1) * j[n - 1] * j[n - 1];
    }
    /* the sum leaves the sign open */
    double sign = (fabs(j[0]) > fabs(j[1]) ? j[0] * sin(x) : j[1] * (sin(x) / x - cos(x))) < 0;
    double scale = (sign ? -1 : 1) / sqrt(sum);
    for (int n = 0; n < count; n++) {
        h[n] = scale * j[n] + I * y0;
        double y2 = (2 * n + 3) / x * y1 - y0;
        y0 = y1;
        y1 = y2;
    }
}

/* f_n' = f_{n-1} - (n+1)/x f_n */
static double complex derivative(const double complex *h, int n, double x) {
    return n ? h[n - 1] - (n + 1) / x * h[n] : -h[1];
}

/* i^n */
static double complex power(int n) {
    static const double complex p[4] = {1, I, -1, -I};
    return p[n % 4];
}

/* Of an incident wave that is the sum over n of wave_n j_n(kr) P_n. */
static void scatter(struct series *s, int soft, double x, int terms, const double complex *wave) {
    double complex h[SERIES_TERMS];
    s->terms = terms;
    s->soft = soft;
    s->x = x;
    hankel(x, terms + 1, h);
    for (int n = 0; n < terms; n++) {
        double complex d = derivative(h, n, x), c = wave[n];
        if (soft) {
            s->surface[n] = -c * I / x / h[n];
            s->outgoing[n] = -c * creal(h[n]) / h[n];
        } else {
            s->surface[n] = c * I / (x * x) / d;
            s->outgoing[n] = -c * creal(d) / d; /* creal: j_n' */
        }
    }
}

static int terms_of(double x, double more) {
    const int terms = (int)ceil(x + 4.05 * cbrt(x) + 12 + more);
    return terms < SERIES_TERMS - 1 ? terms : SERIES_TERMS - 1;
}

void series_open(struct series *s, int soft, double x) {
    double complex wave[SERIES_TERMS];
    const int terms = terms_of(x, 0);
    for (int n = 0; n < terms; n++) wave[n] = (2 * n + 1) * power(n);
    scatter(s, soft, x, terms, wave);
}

/* exp(ikR)/R = ik sum (2n+1) j_n(k least) h_n(k most) P_n, of the distances from the middle */
void series_open_source(struct series *s, int soft, double x, double r) {
    double complex wave[SERIES_TERMS], h[SERIES_TERMS];
    int terms = terms_of(x, 30 / log(r));
    if (terms > 110) terms = 110; /* h_n overflows */
    hankel(x * r, terms, h);
    for (int n = 0; n < terms; n++) wave[n] = I * x * (2 * n + 1) * h[n];
    scatter(s, soft, x, terms, wave);
}

/* sum over n of c_n P_n(z) */
static double complex legendre_sum(const double complex *c, int terms, double z) {
    double p0 = 1, p1 = z;
    double complex sum = 0;
    for (int n = 0; n < terms; n++) {
        sum += c[n] * p0;
        double p2 = ((2 * n + 3) * z * p1 - (n + 1) * p0) / (n + 2);
        p0 = p1;
        p1 = p2;
    }
    return sum;
}

double complex series_surface(const struct series *s, double z) {
    return legendre_sum(s->surface, s->terms, z);
}

double complex series_scattered(const struct series *s, double r, double z) {
    double complex h[SERIES_TERMS], c[SERIES_TERMS];
    hankel(s->x * r, s->terms, h);
    for (int n = 0; n < s->terms; n++) c[n] = s->outgoing[n] * h[n];
    return legendre_sum(c, s->terms, z);
}

double complex series_far(const struct series *s, double z) {
    double complex c[SERIES_TERMS]; /* h_n(kr) -> (-i)^(n+1) exp(ikr)/(kr) */
    for (int n = 0; n < s->terms; n++) c[n] = s->outgoing[n] * conj(power(n + 1)) / s->x;
    return legendre_sum(c, s->terms, z);
}
