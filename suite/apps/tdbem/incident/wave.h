/* What arrives at a body: plane waves and the waves of points. */
#ifndef TDBEM_INCIDENT_WAVE_H
#define TDBEM_INCIDENT_WAVE_H

/* With f the pulse, a plane wave along `at`, of any length above 0, is u = amplitude f(t - delay -
 * d.x/c), d the direction of length 1; that of a point source (a monopole) at the place `at`, r
 * away, u = amplitude f(t - delay - r/c)/r. */
struct wave {
    int point; /* 1: a source; 0: a plane wave */
    double at[3];
    double amplitude, delay;
};

/* Waves that are there at once, one column of right-hand sides. */
enum { INCIDENCES = 10000 }; /* most of them in a run */
struct incidence {
    const char *name; /* what is added to the names of its files; NULL: nothing, of the only one */
    int waves;
    const struct wave *wave;
};

#endif
