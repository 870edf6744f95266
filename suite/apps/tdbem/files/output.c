/* Contents of a march's output files. */
#include "tdbem/files/output.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

double *table_row(struct table *t) {
    if (t->rows == t->room) {
        const size_t room = 2 * t->room + 64;
        double *more = realloc(t->value, room * (size_t)t->columns * sizeof *more);
        if (!more) return NULL;
        t->value = more;
        t->room = room;
    }
    return t->value + t->rows++ * (size_t)t->columns;
}

/* Column `from` and every `step`-th behind it of all rows, to be freed; NULL without memory. */
static double *columns_of(const struct table *t, int from, int step) {
    const size_t columns = (size_t)t->columns, first = (size_t)from, by = (size_t)step;
    double *out = malloc((t->rows * columns + 1) * sizeof *out);
    for (size_t r = 0, at = 0; out && r < t->rows; r++)
        for (size_t c = first; c < columns; c += by) out[at++] = t->value[r * columns + c];
    return out;
}

static evn_status no_memory(void) { return evn_fail(EVN_MEMORY, "td-bem: no memory for outputs"); }

static void write_row(FILE *out, const struct table *t, size_t r) {
    const double *row = t->value + r * (size_t)t->columns;
    for (int c = 0; c < t->columns; c++) fprintf(out, "%s%.17g", c ? "," : "", row[c]);
    fputc('\n', out);
}

/* One plane wave in the line with the pulse, others in lines of their own. */
static void put_waves(FILE *out, const struct incident *in) {
    const double *d = in->direction;
    const int one = incident_single(in);
    if (one) fprintf(out, " direction=%.17g,%.17g,%.17g", d[0], d[1], d[2]);
    for (int w = 0; !one && w < in->waves; w++) {
        const tdbem_wave *wave = &in->wave[w];
        fprintf(out, "\n# %s %.17g %.17g %.17g amplitude=%.17g delay=%.17g",
                wave->point ? "source" : "direction", wave->at[0], wave->at[1], wave->at[2],
                wave->amplitude, wave->delay);
    }
    fputc('\n', out);
}

static void probes_csv(FILE *out, const struct probes *from) {
    const struct incident *in = from->incident;
    char pulse[96];
    pulse_words(&in->pulse, pulse, sizeof pulse);
    fprintf(out, "# c=%.17g dt=%.17g problem=%s eta=%.17g pulse=%s", in->speed, in->dt,
            in->problem == TDBEM_SOFT ? "soft" : "rigid", from->eta, pulse);
    put_waves(out, in);
    for (int p = 0; p < from->count; p++)
        fprintf(out, "# probe %d: %.17g %.17g %.17g\n", p + 1, from->at[p][0], from->at[p][1],
                from->at[p][2]);
    fputs("t", out);
    for (int p = 1; p <= from->count; p++) fprintf(out, ",p_scattered_%d,p_total_%d", p, p);
    fputc('\n', out);
    for (size_t r = 0; r < from->table->rows; r++) write_row(out, from->table, r);
}

void probes_npz(struct npz *z, const struct probes *from) {
    const size_t shape[] = {(size_t)from->count, 3}, two = 2;
    npz_add(z, "point", NPZ_REAL, 2, shape, from->at);
    npz_add(z, "c", NPZ_REAL, 0, NULL, &from->incident->speed);
    if (from->grid[0]) npz_add(z, "grid", NPZ_INT, 1, &two, from->grid);
}

evn_status output_probes(FILE *out, enum format format, const struct probes *from) {
    const struct table *t = from->table;
    if (format == FORMAT_CSV) {
        probes_csv(out, from);
        return EVN_OK;
    }
    double *time = columns_of(t, 0, t->columns), *scattered = columns_of(t, 1, 2);
    double *total = columns_of(t, 2, 2);
    const size_t shape[] = {t->rows, (size_t)from->count};
    const int ok = time && scattered && total;
    struct npz z;
    if (ok) {
        npz_open(&z, out);
        npz_add(&z, "t", NPZ_REAL, 1, shape, time);
        npz_add(&z, "scattered", NPZ_REAL, 2, shape, scattered);
        npz_add(&z, "total", NPZ_REAL, 2, shape, total);
        probes_npz(&z, from);
        npz_close(&z);
    }
    free_all(time, scattered, total);
    return ok ? EVN_OK : no_memory();
}

evn_status table_spread(struct table *to, const struct table *from, int count, const int *row) {
    *to = (struct table){.columns = 1 + 2 * count};
    for (size_t r = 0; r < from->rows; r++) {
        const double *have = from->value + r * (size_t)from->columns;
        double *value = table_row(to);
        if (!value) return no_memory();
        value[0] = have[0];
        for (int c = 0; c < 2 * count; c++)
            value[1 + c] = row[c / 2] < 0 ? NAN : have[1 + 2 * row[c / 2] + c % 2];
    }
    return EVN_OK;
}

static void vertices_csv(FILE *out, const struct table *t, const int *number) {
    fputs("n,t", out);
    for (int v = 0; v < t->columns - 1; v++) fprintf(out, ",a%d", number[v]);
    fputc('\n', out);
    for (size_t r = 0; r < t->rows; r++) {
        fprintf(out, "%zu,", r);
        write_row(out, t, r);
    }
}

evn_status output_vertices(FILE *out, enum format format, const struct table *t,
                           const int *number) {
    if (format == FORMAT_CSV) {
        vertices_csv(out, t, number);
        return EVN_OK;
    }
    double *time = columns_of(t, 0, t->columns), *a = columns_of(t, 1, 1);
    const size_t shape[] = {t->rows, (size_t)t->columns - 1};
    struct npz z;
    if (time && a) {
        npz_open(&z, out);
        npz_add(&z, "t", NPZ_REAL, 1, shape, time);
        npz_add(&z, "a", NPZ_REAL, 2, shape, a);
        npz_add(&z, "vertex", NPZ_INT, 1, shape + 1, number);
        npz_close(&z);
    }
    const int ok = time && a;
    free_all(time, a);
    return ok ? EVN_OK : no_memory();
}

/* ---- spectra ---- */

evn_status spectra_open(struct spectra *s, int count, const double *w, int columns,
                        const struct incident *in) {
    *s = (struct spectra){.count = count,
                          .columns = columns,
                          .soft = in->problem == TDBEM_SOFT,
                          .single = incident_single(in),
                          .dt = in->dt,
                          .speed = in->speed};
    const size_t n = (size_t)count;
    s->w = malloc((n + 1) * sizeof *s->w);
    s->a = calloc(n * (size_t)columns + 1, sizeof *s->a);
    s->incident = calloc(n + 1, sizeof *s->incident);
    s->carried = malloc(n + 1);
    if (!s->w || !s->a || !s->incident || !s->carried) {
        spectra_close(s);
        return evn_fail(EVN_MEMORY, "td-bem: not enough memory for %d frequencies", count);
    }
    if (count) memcpy(s->w, w, n * sizeof *w);
    for (int f = 0; f < count; f++) s->carried[f] = (char)pulse_carries(&in->pulse, w[f]);
    return EVN_OK;
}

void spectra_close(struct spectra *s) {
    free_all(s->w, s->a, s->incident, s->carried);
    *s = (struct spectra){0};
}

void spectra_add(struct spectra *s, int n, const double *a, const struct incident *in) {
    const double t = n * s->dt;
    for (int f = 0; f < s->count; f++) {
        const double re = cos(s->w[f] * t), im = sin(s->w[f] * t);
        double *sum = (double *)(s->a + (size_t)f * (size_t)s->columns);
        for (int v = 0; v < s->columns; v++) {
            sum[2 * v] += re * a[v];
            sum[2 * v + 1] += im * a[v];
        }
        s->incident[f] += (re + im * I) * pulse_value(&in->pulse, t);
    }
}

double complex spectra_value(const struct spectra *s, int f, int v) {
    if (!s->carried[f]) return NAN * (1 + I);
    const double half = 0.5 * s->w[f] * s->dt, sinc = half != 0 ? sin(half) / half : 1;
    const double complex shape = s->soft ? sinc * cexp(-I * half) : sinc * sinc;
    return s->a[(size_t)f * (size_t)s->columns + (size_t)v] / s->incident[f] * shape;
}

/* The body's part of the far field, without its images'. */
static double complex far_alone(const struct spectra *s, int f, const struct mesh *m,
                                const struct boundary *boundary, const double to[3]) {
    const double k = s->w[f] / s->speed;
    double complex sum = 0;
    for (int t = 0; t < m->triangles; t++) {
        const int *corner = m->corner[t];
        double normal[3];
        const double area = mesh_normal(m, t, normal);
        const double cosine = normal[0] * to[0] + normal[1] * to[1] + normal[2] * to[2];
        double complex value[3], part = 0;
        for (int c = 0; c < 3; c++) value[c] = spectra_value(s, f, corner[c]);
        for (int p = 0; p < INCIDENT_POINTS; p++) {
            double along = 0;
            double complex here = 0;
            for (int c = 0; c < 3; c++) {
                const double *x = m->x[corner[c]];
                along += incident_place[p][c] * (x[0] * to[0] + x[1] * to[1] + x[2] * to[2]);
                here += incident_place[p][c] * value[c];
            }
            part += incident_share[p] * here * cexp(-I * k * along);
        }
        /* (1/4 pi c) int (n.x) phi_t - (1/4 pi) int lambda, where phi is 0 if soft, and rigid
         * lambda is (1/c) beta phi_t */
        const double complex beta = boundary ? boundary_value(boundary, t, s->w[f]) : 0;
        sum += area * part * (s->soft ? -1 : -I * k * (cosine - beta));
    }
    return sum / (4 * M_PI);
}

double complex spectra_far(const struct spectra *s, int f, const struct mesh *m,
                           const struct boundary *boundary, const double to[3]) {
    const struct mirror *is = &m->mirror;
    const double k = s->w[f] / s->speed;
    double complex sum = 0;
    for (int g = 0; g <= mirror_images(is); g++) {
        double seen[3], along = 0;
        for (int a = 0; a < 3; a++) {
            const int flip = mirror_flips(is, g) >> a & 1;
            seen[a] = flip ? -to[a] : to[a];
            if (flip) along += 2 * is->at[a] * to[a];
        }
        sum += far_alone(s, f, m, boundary, seen) * cexp(-I * k * along);
    }
    return sum;
}

static void spectrum_csv(FILE *out, const struct spectra *s, const struct mesh *m) {
    fprintf(out, "# %s over %s; exp(-i w t)\nvertex,x,y,z",
            s->soft ? "normal derivative of the total pressure" : "total pressure",
            incident_reference(s->single));
    for (int f = 0; f < s->count; f++) fprintf(out, ",re_w%.9g,im_w%.9g", s->w[f], s->w[f]);
    for (int v = 0; v < s->columns; v++) {
        fprintf(out, "\n%d,%.9g,%.9g,%.9g", m->number[v], m->x[v][0], m->x[v][1], m->x[v][2]);
        for (int f = 0; f < s->count; f++) {
            const double complex u = spectra_value(s, f, v);
            fprintf(out, ",%.9g,%.9g", creal(u), cimag(u));
        }
    }
    fputc('\n', out);
}

evn_status output_spectrum(FILE *out, enum format format, const struct spectra *s,
                           const struct mesh *m) {
    if (format == FORMAT_CSV) {
        spectrum_csv(out, s, m);
        return EVN_OK;
    }
    const size_t f = (size_t)s->count, v = (size_t)s->columns;
    double complex *value = malloc((f * v + 1) * sizeof *value);
    struct npz z;
    if (!value) return no_memory();
    for (size_t i = 0; i < f * v; i++) value[i] = spectra_value(s, (int)(i / v), (int)(i % v));
    npz_open(&z, out);
    npz_add(&z, "w", NPZ_REAL, 1, &f, s->w);
    npz_add(&z, "vertex", NPZ_INT, 1, &v, m->number);
    npz_add(&z, "x", NPZ_REAL, 2, (size_t[]){v, 3}, m->x);
    npz_add(&z, "spectrum", NPZ_COMPLEX, 2, (size_t[]){f, v}, value);
    npz_close(&z);
    free(value);
    return EVN_OK;
}

/* Two directions at right angles to d and to each other. */
static void across(const double d[3], double e[2][3]) {
    int least = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(d[i]) < fabs(d[least])) least = i;
    double length = 0;
    for (int i = 0; i < 3; i++) {
        e[0][i] = (i == least) - d[least] * d[i];
        length += e[0][i] * e[0][i];
    }
    for (int i = 0; i < 3; i++) e[0][i] /= sqrt(length);
    for (int i = 0; i < 3; i++)
        e[1][i] = d[(i + 1) % 3] * e[0][(i + 2) % 3] - d[(i + 2) % 3] * e[0][(i + 1) % 3];
}

enum { ANGLES = 37, DIRECTIONS = 2 * ANGLES };

static int theta_of(int at) { return 180 / (ANGLES - 1) * (at % ANGLES); }

static void far_field_csv(FILE *out, const struct spectra *s, const double (*to)[3],
                          const double complex *value) {
    fprintf(out,
            "# F of p_s ~ F exp(ikr)/r, over %s; theta from its direction\n"
            "w,plane,theta,x,y,z,re,im,abs\n",
            incident_reference(s->single));
    for (int f = 0; f < s->count; f++)
        for (int i = 0; i < DIRECTIONS; i++) {
            const double complex u = value[f * DIRECTIONS + i];
            fprintf(out, "%.9g,%d,%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", s->w[f], i / ANGLES,
                    theta_of(i), to[i][0], to[i][1], to[i][2], creal(u), cimag(u), cabs(u));
        }
}

static void far_field_npz(FILE *out, const struct spectra *s, const double (*to)[3],
                          const double complex *value) {
    const size_t f = (size_t)s->count, angles = ANGLES;
    double theta[ANGLES];
    struct npz z;
    for (int i = 0; i < ANGLES; i++) theta[i] = theta_of(i);
    npz_open(&z, out);
    npz_add(&z, "w", NPZ_REAL, 1, &f, s->w);
    npz_add(&z, "theta", NPZ_REAL, 1, &angles, theta);
    npz_add(&z, "direction", NPZ_REAL, 3, (size_t[]){2, ANGLES, 3}, to);
    npz_add(&z, "F", NPZ_COMPLEX, 3, (size_t[]){f, 2, ANGLES}, value);
    npz_close(&z);
}

evn_status output_far_field(FILE *out, enum format format, const struct spectra *s,
                            const struct mesh *m, const struct boundary *boundary,
                            const double direction[3]) {
    double e[2][3], to[DIRECTIONS][3];
    double complex *value = malloc(((size_t)s->count * DIRECTIONS + 1) * sizeof *value);
    if (!value) return no_memory();
    across(direction, e);
    for (int at = 0; at < DIRECTIONS; at++)
        for (int i = 0; i < 3; i++)
            to[at][i] = cos(theta_of(at) * M_PI / 180) * direction[i] +
                        sin(theta_of(at) * M_PI / 180) * e[at / ANGLES][i];
    for (int f = 0; f < s->count; f++)
        for (int at = 0; at < DIRECTIONS; at++)
            value[f * DIRECTIONS + at] = spectra_far(s, f, m, boundary, to[at]);
    (format == FORMAT_CSV ? far_field_csv : far_field_npz)(out, s, (const double(*)[3])to, value);
    free(value);
    return EVN_OK;
}
