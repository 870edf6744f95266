/* Products of vectors in space. */
#ifndef TDBEM_GEOMETRY_H
#define TDBEM_GEOMETRY_H

static inline double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross(double c[3], const double a[3], const double b[3]) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

#endif
