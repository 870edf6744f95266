/* Moments of a flat triangle inside of spherical shells, in closed form.
 *
 * For a point x with foot y0 in the triangle's plane and height h, every integral of a function of
 * r over the triangle within the ball r < R is a signed sum over edges: the wedge between y0 and
 * the part of the edge inside of the ball, and circular sectors where the edge is outside. With
 * q(s) = sqrt(s^2 + d^2 + h^2) along an edge at distance d from y0, only two transcendental
 * functions appear: the difference dL of asinh(s/l) between the ends of the part inside, and
 * angles. All angles of one kind have the same factor, so that they are added as products of
 * complex numbers and cost one arc tangent a ball, not one an edge:
 *
 *     sectors    phi   = sum of the angles of the edges' parts outside of the ball, seen from y0
 *     wedges     omega = sum of the differences of atan(s d/(d^2 + h^2 + |h| q(s)))
 *
 *     int 1/r      = sum d dL - |h| omega + phi (R - |h|)
 *     int 1        = sum d ds/2 + phi (R^2 - h^2)/2
 *     int r        = (sum d int q ds + h^2 (sum d dL - |h| omega) + phi (R^3 - |h|^3))/3
 *     int |h|/r^3  = omega + phi (1 - |h|/R)
 *     int (y-y0)/r   = sum normal (int q ds - R ds)
 *     int (y-y0) h/r^3 = - h sum normal (dL - ds/R)
 *
 * A shell's moments are differences of two balls'. Powers of r are then shifted to the first
 * shell's inner radius, so that nothing is as large as the distance to the triangle except
 * rounding.
 *
 * Operations of one ball and vector of points: 3 x (1 square root, 1 division, about 75 others) +
 * 3 divisions + about 110 others; of one outer point and triangle beside its balls: about 250.
 */
#include "tdbem/matrices/shells.h"
#include "tdbem/mesh/geometry.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void shells_triangle(struct shells_triangle *t, const double corner[3][3]) {
    memcpy(t->corner, corner, sizeof t->corner);
    for (int e = 0; e < 3; e++) {
        const double *a = corner[(e + 1) % 3], *b = corner[(e + 2) % 3];
        for (int c = 0; c < 3; c++) t->tangent[e][c] = b[c] - a[c];
        t->length[e] = sqrt(dot(t->tangent[e], t->tangent[e]));
    }
    cross(t->normal, t->tangent[0], t->tangent[1]);
    double twice = sqrt(dot(t->normal, t->normal));
    t->area = 0.5 * twice;
    for (int c = 0; c < 3; c++) t->normal[c] /= twice;
    for (int e = 0; e < 3; e++) {
        for (int c = 0; c < 3; c++) t->tangent[e][c] /= t->length[e];
        cross(t->outward[e], t->tangent[e], t->normal);
        t->slope[e] = t->length[e] / twice;
        /* normal x (-slope outward), outward = tangent x normal */
        for (int c = 0; c < 3; c++) t->curl[e][c] = -t->slope[e] * t->tangent[e][c];
    }
    for (int b = 0; b < 3; b++)
        for (int e = 0; e < 3; e++)
            t->turn[b][e] = -t->slope[b] * dot(t->outward[b], t->outward[e]);
}

evn_status shells_open(struct shells_result *r, int shells) {
    memset(r, 0, sizeof *r);
    /* points of a batch may begin at different shells, all within the pair's range */
    r->max = shells + 8;
    size_t values =
        sizeof(vec) * 9 * (size_t)(2 * r->max + 1); /* one more for a difference in time */
    size_t parts = sizeof(vec) * 4 * (size_t)(r->max + 2) * SHELLS_BATCH;
    r->value = aligned_alloc(64, (values + 63) / 64 * 64);
    r->part = aligned_alloc(64, (parts + 63) / 64 * 64);
    if (r->value && r->part) return EVN_OK;
    shells_close(r);
    return evn_fail(EVN_MEMORY, "matrices: no memory for %d shells", shells);
}

void shells_close(struct shells_result *r) {
    free(r->value);
    free(r->part);
    memset(r, 0, sizeof *r);
}

/* A point as the triangle sees it. */
struct view {
    vec height, above; /* signed and absolute height above the plane */
    vec d[3]; /* distances of the edges from the foot, positive if the foot is inside of them */
    vec from[3], to[3];       /* ends of each edge along itself, 0 nearest to the foot */
    vec l2[3];                /* squared distance of the edge's line */
    vec at_from[3], at_to[3]; /* distances of the ends */
    vec hat[2];               /* N_0, N_1 at the foot */
    vec near, far;            /* smallest and largest distance of the triangle */
    vec_truth inside;         /* the foot is inside of the triangle */
    vec half;      /* inside: between the squared distances of foot to nearest edge and farthest
                      corner */
    vec_truth low; /* the point is so low that the solid angle may be a whole half space */
};

INLINE void view_of(struct view *v, const struct shells_triangle *t, const vec x[3],
                    vec_truth same) {
    vec r[3][3], q[3], far2 = vec_set(0);
    for (int e = 0; e < 3; e++) {
        for (int c = 0; c < 3; c++) r[e][c] = x[c] - t->corner[e][c];
        vec q2 = r[e][0] * r[e][0] + r[e][1] * r[e][1] + r[e][2] * r[e][2];
        q[e] = vec_root(q2);
        far2 = vec_max(far2, q2);
    }
    vec h = r[0][0] * t->normal[0] + r[0][1] * t->normal[1] + r[0][2] * t->normal[2];
    vec_truth flat = vec_or(same, vec_le(h * h, 1e-26 * far2));
    h = vec_mask(vec_not(flat), h);
    v->height = h;
    v->above = vec_abs(h);
    const vec h2 = h * h;
    vec edge2 = vec_set(INFINITY), near2 = vec_set(INFINITY);
    v->inside = vec_eq(vec_set(0), vec_set(0));
    for (int e = 0; e < 3; e++) {
        const int a = (e + 1) % 3, b = (e + 2) % 3;
        const double *m = t->outward[e], *s = t->tangent[e];
        vec d = -(r[a][0] * m[0] + r[a][1] * m[1] + r[a][2] * m[2]);
        vec from = -(r[a][0] * s[0] + r[a][1] * s[1] + r[a][2] * s[2]);
        vec to = from + t->length[e];
        /* a foot on the edge's line belongs to neither side: no wedge, no sectors */
        d = vec_mask(vec_lt(1e-28 * far2, d * d), d);
        vec d2 = d * d, l2 = d2 + h2;
        vec closest = vec_max(vec_max(from, -to), vec_set(0));
        near2 = vec_min(near2, l2 + closest * closest);
        edge2 = vec_min(edge2, d2);
        v->inside = vec_and(v->inside, vec_le(vec_set(0), d));
        v->d[e] = d;
        v->from[e] = from;
        v->to[e] = to;
        v->l2[e] = l2;
        v->at_from[e] = q[a];
        v->at_to[e] = q[b];
    }
    for (int b = 0; b < 2; b++) v->hat[b] = v->d[b] * t->slope[b];
    v->near = vec_root(vec_choose(v->inside, h2, near2));
    v->far = vec_root(far2);
    v->half = 0.5 * (edge2 + far2 - h2);
    v->low = vec_lt(h2, 1e-4 * far2);
}

/* The triangle within a ball. */
struct ball {
    vec inverse, one, r; /* int 1/r, 1, r */
    vec hat[2];          /* int N_b/r, b = 0, 1; the three sum to `inverse` */
    vec solid, tilt[2];  /* int h/r^3, int N_b h/r^3 */
};

/* Difference of asinh(s/l) between the ends of a part of length `part` with distances from the
 * point qa and qb: 2 atanh(part/(qa + qb)), which is exact for what is far. Near the edge the
 * quotient comes close to 1, and log((qa + qb + part)/(qa + qb - part)) is taken with the
 * denominator free of cancellation. */
INLINE vec asinh_difference(vec part, vec qa, vec qb, vec a, vec b, vec l2) {
    const vec sum = qa + qb + 1e-300;
    vec t = vec_quotient(part, sum), whole = vec_set(0);
    const vec_truth close = vec_lt(vec_set(0.2), t);
    if (vec_any(close)) {
        vec ab = a * b, qq = qa * qb;
        vec rest = vec_choose(vec_lt(vec_set(0), ab), qq + ab,
                              vec_quotient(l2 * (l2 + a * a + b * b), qq - ab + 1e-300));
        vec wide = sum + part;
        /* a point on the edge itself: finite, and multiplied by 0 */
        vec e, f = vec_log_parts(vec_quotient(wide * wide, 2 * (l2 + rest) + 1e-40 * (wide * wide)),
                                 &e);
        t = vec_choose(close, f, t);
        whole = vec_mask(close, e * 0.69314718055994531);
    }
    vec u = t * t;
    return 2 * (t + t * (u * atanh_tail(u))) + whole;
}

/* `whole`: all of the triangle is inside, whatever the radius. */
INLINE void ball_of(struct ball *out, const struct view *v, const struct shells_triangle *t, vec R,
                    vec_truth full, int whole, int layer, int tilt) {
    const vec R2 = R * R, ah = v->above;
    vec dL_sum = vec_set(0), dq_sum = vec_set(0), ds_sum = vec_set(0);
    vec hat[2] = {vec_set(0), vec_set(0)}, lean[2] = {vec_set(0), vec_set(0)};
    vec wedge_re = vec_set(1), wedge_im = vec_set(0);
    vec sector_re = vec_set(1), sector_im = vec_set(0);
    const vec Rb =
        whole ? vec_set(0) : vec_mask(vec_not(full), R); /* arcs close without full ones */
    const vec iR = whole ? vec_set(0) : vec_mask(vec_not(full), vec_quotient(vec_set(1), R));
    for (int e = 0; e < 3; e++) {
        const vec d = v->d[e], l2 = v->l2[e];
        vec lo = v->from[e], hi = v->to[e], qlo = v->at_from[e], qhi = v->at_to[e];
        const vec_truth off = vec_eq(d, vec_set(0));
        if (!whole) {
            vec c = vec_root(vec_max(R2 - l2, vec_set(0)));
            c = vec_choose(full, vec_set(INFINITY), c);
            const vec from = lo, to = hi;
            const vec_truth cut_lo = vec_lt(from, -c), cut_hi = vec_lt(c, to);
            lo = vec_choose(cut_lo, -c, from);
            hi = vec_choose(cut_hi, c, to);
            qlo = vec_choose(cut_lo, R, qlo);
            qhi = vec_choose(cut_hi, R, qhi);
            const vec_truth none = vec_le(hi, lo);
            hi = vec_choose(none, lo, hi);
            qhi = vec_choose(none, qlo, qhi);
            /* (d + i to)/(d + i hi) times (d + i lo)/(d + i from) */
            vec d2 = d * d;
            vec re1 = d2 + to * hi, im1 = d * (to - hi), re2 = d2 + lo * from,
                im2 = d * (lo - from);
            vec re = re1 * re2 - im1 * im2, im = re1 * im2 + im1 * re2;
            re = vec_choose(off, vec_set(1), re);
            vec keep = sector_re;
            sector_re = keep * re - sector_im * im;
            sector_im = keep * im + sector_im * re;
        }
        const vec ds = hi - lo;
        const vec dL = asinh_difference(ds, qlo, qhi, lo, hi, l2);
        const vec dq = 0.5 * (hi * qhi - lo * qlo + l2 * dL);
        dL_sum += d * dL;
        if (layer) {
            dq_sum += d * dq;
            ds_sum += d * ds;
        }
        vec flux = dq - Rb * ds;
        for (int b = 0; b < 2; b++) hat[b] += t->turn[b][e] * flux;
        if (tilt) {
            vec bend = dL - iR * ds;
            for (int b = 0; b < 2; b++) lean[b] += t->turn[b][e] * bend;
        }
        /* atan of hi minus atan of lo */
        vec dlo = l2 + ah * qlo, dhi = l2 + ah * qhi;
        vec re = dhi * dlo + d * d * (hi * lo), im = d * (hi * dlo - lo * dhi);
        re = vec_choose(off, vec_set(1), re);
        vec keep = wedge_re;
        wedge_re = keep * re - wedge_im * im;
        wedge_im = keep * im + wedge_im * re;
    }
    const double turn = 6.2831853071795862, tiny = 1e-6;
    /* A foot outside sees less than a half turn, one on the edge a half: only what lies near -pi is
     * beyond the cut. A foot inside sees up to a whole turn; next to 0 it is none or a whole one.
     */
    const vec_truth big = whole ? full : vec_or(vec_lt(v->half, R2 - ah * ah), full);
    vec omega = vec_angle(wedge_im, wedge_re);
    vec_truth zero = vec_and(vec_lt(omega, vec_set(tiny)), vec_and(big, v->low));
    vec_truth past = vec_or(vec_lt(omega, vec_set(-tiny)), zero);
    vec_truth wrapped =
        vec_or(vec_and(v->inside, past), vec_and(vec_not(v->inside), vec_lt(omega, vec_set(-3))));
    omega += vec_mask(wrapped, vec_set(turn));
    vec phi = vec_set(0);
    if (!whole) {
        phi = vec_angle(sector_im, sector_re);
        zero = vec_and(vec_lt(phi, vec_set(tiny)), vec_not(big));
        past = vec_or(vec_lt(phi, vec_set(-tiny)), zero);
        wrapped =
            vec_or(vec_and(v->inside, past), vec_and(vec_not(v->inside), vec_lt(phi, vec_set(-3))));
        phi += vec_mask(wrapped, vec_set(turn));
        phi = vec_mask(vec_not(full), phi);
    }
    const vec fan = dL_sum - ah * omega;
    out->inverse = fan + phi * (R - ah);
    if (layer) {
        out->one = 0.5 * (ds_sum + phi * (R2 - ah * ah));
        out->r = (dq_sum + ah * ah * fan + phi * (R2 * R - ah * ah * ah)) * (1 / 3.0);
    }
    for (int b = 0; b < 2; b++) out->hat[b] = v->hat[b] * out->inverse + hat[b];
    if (tilt) {
        out->solid = vec_sign(omega + phi * (1 - ah * iR), v->height);
        out->solid = vec_mask(vec_not(vec_eq(v->height, vec_set(0))), out->solid);
        for (int b = 0; b < 2; b++) out->tilt[b] = v->hat[b] * out->solid - v->height * lean[b];
    }
}

/* Shells that a point sees: the first one, and how many in all lanes at most. */
INLINE int shells_seen(const struct view *v, vec *first) {
    *first = vec_floor(v->near);
    vec last = vec_floor(v->far);
    last += vec_mask(vec_lt(last, v->far), vec_set(1));
    vec seen = vec_max(last - *first, vec_set(1));
    return (int)vec_reduce_max(seen);
}

/* One outer point: part[4*m + 0] is curl.curl's factor for k = first + m, part[4*m + 1 + b] that of
 * the outer hat function. Returns how many k. */
INLINE int point_parts(vec *part, vec *first, enum shells_kind kind, const vec x[3], vec_truth same,
                       const struct shells_triangle *t, vec nn, double eta, double damping,
                       int max) {
    const int layer = kind == SHELLS_COMBINED || kind == SHELLS_HYPERSINGULAR;
    const int turned = shells_turned(kind), tilt = turned || kind == SHELLS_COMBINED;
    struct view v;
    view_of(&v, t, x, same);
    int seen = shells_seen(&v, first);
    if (seen > max) seen = max;
    const int count = layer ? seen + 2 : seen + turned;
    for (int i = 0; i < 4 * count; i++) part[i] = vec_set(0);
    struct ball last = {0};
    vec last1 = vec_set(0), last2 = vec_set(0);
    for (int m = 0; m < seen; m++) {
        struct ball now;
        const vec R = *first + (m + 1.0);
        const vec_truth full = vec_le(v.far, R);
        if (!vec_all(full))
            ball_of(&now, &v, t, R, full, 0, layer, tilt);
        else
            ball_of(&now, &v, t, R, full, 1, layer, tilt);
        vec *p = part + 4 * m;
        const vec c0 = now.inverse - last.inverse;
        vec s[3];
        for (int b = 0; b < 2; b++) s[b] = now.hat[b] - last.hat[b];
        s[2] = c0 - s[0] - s[1];
        if (layer) {
            /* int (r-g)/r and (r-g)^2/r, g the first shell's inner radius */
            const vec g = *first;
            const vec now1 = now.one - g * now.inverse;
            const vec now2 = now.r - g * (now.one + now1);
            const vec d1 = now1 - last1, d2 = now2 - last2;
            const vec c1 = d1 - (double)m * c0;
            const vec c2 = d2 - (2.0 * m) * d1 + ((double)m * m) * c0;
            p[0] += 0.5 * (c0 + c2) - c1;
            p[4] += 0.5 * c0 + c1 - c2;
            p[8] += 0.5 * c2;
            last1 = now1;
            last2 = now2;
            for (int b = 0; b < 3; b++) {
                const vec w = nn * s[b];
                p[1 + b] += w;
                p[5 + b] -= 2 * w;
                p[9 + b] += w;
            }
        } else {
            for (int b = 0; b < 3; b++) p[1 + b] += (1 + damping) * s[b];
            for (int b = 0; turned && b < 3; b++) p[5 + b] -= s[b];
        }
        if (tilt) {
            vec k[3];
            for (int b = 0; b < 2; b++) k[b] = now.tilt[b] - last.tilt[b];
            k[2] = now.solid - last.solid - k[0] - k[1];
            const vec shell = *first + (double)m;
            for (int b = 0; b < 3; b++) {
                const vec w = eta * k[b], ws = w * shell;
                if (turned) {
                    p[1 + b] += w + ws;
                    p[5 + b] -= ws;
                    continue;
                }
                p[1 + b] -= w + ws;
                p[5 + b] += w + 2 * ws;
                p[9 + b] -= ws;
            }
        }
        last = now;
    }
    return count;
}

INLINE void pair(struct shells_result *r, enum shells_kind kind, const struct shells_outer *o,
                 const struct shells_triangle *t, double eta, double damping,
                 const struct rule *rule, int from, int points) {
    const int layer = kind == SHELLS_COMBINED || kind == SHELLS_HYPERSINGULAR;
    vec nn = vec_set(1), first[SHELLS_BATCH];
    if (layer)
        nn =
            o->normal[0] * t->normal[0] + o->normal[1] * t->normal[1] + o->normal[2] * t->normal[2];
    const vec *part[SHELLS_BATCH];
    int count[SHELLS_BATCH];
    vec *free_part = r->part, lowest = vec_set(INFINITY);
    for (int q = 0; q < points; q++) {
        const double *at = rule->at[from + q];
        vec x[3];
        for (int c = 0; c < 3; c++)
            x[c] = at[0] * o->corner[0][c] + at[1] * o->corner[1][c] + at[2] * o->corner[2][c];
        part[q] = free_part;
        count[q] = point_parts(free_part, &first[q], kind, x, o->same, t, nn, eta, damping, r->max);
        free_part += 4 * count[q];
        lowest = vec_min(lowest, first[q]);
    }
    /* points begin at different shells: to one place for all */
    vec late[SHELLS_BATCH];
    int latest[SHELLS_BATCH], all = 0;
    for (int q = 0; q < points; q++) {
        late[q] = first[q] - lowest;
        latest[q] = (int)vec_reduce_max(late[q]);
        if (count[q] + latest[q] > all) all = count[q] + latest[q];
    }
    if (all > 2 * r->max) all = 2 * r->max;
    r->first = lowest;
    r->count = all;
    const vec scale = o->area * (0.25 / M_PI);
    vec cc[9];
    if (layer)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                cc[3 * a + b] = o->curl[a][0] * t->curl[b][0] + o->curl[a][1] * t->curl[b][1] +
                                o->curl[a][2] * t->curl[b][2];
    for (int k = 0; k < all; k++) {
        vec sum[9], curl = vec_set(0);
        for (int i = 0; i < 9; i++) sum[i] = vec_set(0);
        for (int q = 0; q < points; q++) {
            vec p[4] = {vec_set(0), vec_set(0), vec_set(0), vec_set(0)};
            for (int shift = 0; shift <= latest[q]; shift++) {
                const int m = k - shift;
                if (m < 0 || m >= count[q]) continue;
                const vec_truth mine = vec_eq(late[q], vec_set(shift));
                const vec *from = part[q] + 4 * m;
                for (int c = 0; c < 4; c++) p[c] = vec_choose(mine, from[c], p[c]);
            }
            const double w = rule->weight[from + q], *at = rule->at[from + q];
            /* curl.curl is the same for all points */
            if (layer) curl += w * p[0];
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) sum[3 * a + b] += (w * at[a]) * p[1 + b];
        }
        vec *value = r->value + 9 * k;
        for (int i = 0; i < 9; i++) value[i] = (layer ? sum[i] + cc[i] * curl : sum[i]) * scale;
    }
}

void shells_pair(struct shells_result *r, enum shells_kind kind, const struct shells_outer *outer,
                 const struct shells_triangle *inner, double eta, double damping,
                 const struct rule *rule, int from, int points) {
    switch (kind) {
    case SHELLS_COMBINED: pair(r, SHELLS_COMBINED, outer, inner, eta, 0, rule, from, points); break;
    case SHELLS_HYPERSINGULAR:
        pair(r, SHELLS_HYPERSINGULAR, outer, inner, 0, 0, rule, from, points);
        break;
    case SHELLS_SINGLE: pair(r, SHELLS_SINGLE, outer, inner, 0, 0, rule, from, points); break;
    case SHELLS_SINGLE_COMBINED:
        pair(r, SHELLS_SINGLE_COMBINED, outer, inner, eta, damping, rule, from, points);
        break;
    }
}

void shells_potential(struct shells_result *r, int single, const vec x[3],
                      const struct shells_triangle *t) {
    struct view v;
    view_of(&v, t, x, vec_lt(vec_set(0), vec_set(0)));
    int seen = shells_seen(&v, &r->first);
    if (seen > r->max) seen = r->max;
    r->count = single ? seen : seen + 1;
    vec *value = r->value;
    for (int i = 0; i < 3 * r->count; i++) value[i] = vec_set(0);
    struct ball last = {0};
    const double scale = 0.25 / M_PI;
    for (int m = 0; m < seen; m++) {
        struct ball now;
        const vec R = r->first + (m + 1.0);
        const vec_truth full = vec_le(v.far, R);
        ball_of(&now, &v, t, R, full, 0, 0, !single);
        vec *p = value + 3 * m, w[3];
        if (single) {
            for (int b = 0; b < 2; b++) w[b] = now.hat[b] - last.hat[b];
            w[2] = now.inverse - last.inverse - w[0] - w[1];
            for (int b = 0; b < 3; b++) p[b] -= scale * w[b];
        } else {
            const vec shell = r->first + (double)m;
            for (int b = 0; b < 2; b++) w[b] = now.tilt[b] - last.tilt[b];
            w[2] = now.solid - last.solid - w[0] - w[1];
            for (int b = 0; b < 3; b++) {
                p[b] += scale * (1 + shell) * w[b];
                p[3 + b] -= scale * shell * w[b];
            }
        }
        last = now;
    }
}
