/* Taps: a few values of k that act as a delay and time derivatives do, up to a frequency.
 *
 * With s = i omega dt, what a far vertex makes of another's steps is a sum of s^d exp(-s delay) and
 * the plain method's factor of its hats or constants in time and of its tests, sinc(omega dt/2)^3
 * or ^2. Taps w_l at delays centre + place_l have sum over l of w_l exp(-s place_l) next to s^d of
 * that factor at low frequencies (least squares), exactly at none, and next to nothing at high
 * ones, where the plain method has only its own aliases. Taps some steps apart would do at
 * multiples of 2 pi / apart what they do at none, and much at pi, where fields of thin walls grow
 * of it: they see a mean of the steps, which has nothing there.
 */
#pragma once

#include <evener/tdbem.h>

enum { TAPS = 8, DEGREES = 10 };

struct taps {
    int count, apart;         /* taps, and steps from one to the next */
    int mean;                 /* intervals of the mean that taps see: `apart`, or 0 */
    double shift;             /* of the factor's middle, in steps */
    double most;              /* a delay farther from the centre is taken as this one */
    double of[DEGREES][TAPS]; /* of s^d */
};

/* highest: omega dt; accuracy: of row-vectors, relative, in the mean. */
void taps_make(struct taps *out, enum tdbem_problem problem, double highest, double accuracy);

/* The place of the first tap when the middle is 0; the mean is half as long late. */
static inline double taps_begin(const struct taps *t) {
    return -0.5 * t->apart * (t->count - 1) - 0.5 * t->mean;
}

/* What the mean by the trapezoidal rule makes of exp(i theta n), about its middle. */
double taps_mean(const struct taps *t, double theta);
