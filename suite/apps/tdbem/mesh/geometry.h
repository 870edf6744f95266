/* Products of vectors in space, and segments. */
#pragma once

static inline double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross(double c[3], const double a[3], const double b[3]) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double clamp(double s) { return s < 0 ? 0 : s > 1 ? 1 : s; }

/* The way between two segments p + s u and q + t v, 0 <= s, t <= 1, from the second to the first
 * where they are nearest (Ericson, Real-Time Collision Detection (2005), section 5.1.9). */
static inline void segments_way(const double p[3], const double u[3], const double q[3],
                                const double v[3], double way[3]) {
    double r[3];
    for (int c = 0; c < 3; c++) r[c] = p[c] - q[c];
    const double a = dot(u, u), e = dot(v, v), f = dot(v, r), k = dot(u, r), b = dot(u, v);
    const double det = a * e - b * b;
    double s = det > 1e-14 * a * e ? clamp((b * f - k * e) / det) : 0;
    double t = (b * s + f) / e;
    if (t < 0 || t > 1) {
        t = clamp(t);
        s = clamp((b * t - k) / a);
    }
    for (int c = 0; c < 3; c++) way[c] = r[c] + s * u[c] - t * v[c];
}
