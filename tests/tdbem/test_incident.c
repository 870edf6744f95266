/* Incident waves: their right-hand sides against sums that know nothing of them but the pressure,
 * and signals from files.
 *
 * Run: ctest -R tdbem_incident
 */
#include "tdbem/incident/incident.h"
#include "tdbem/tdbem.h"

#include <limits.h>
#include <math.h>
#include <unistd.h>

#include "body.h"

static double largest(const double *a, int n) {
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(a[i]));
    return max;
}

/* ---- right-hand sides --------------------------------------------------------------------------
 */

TEST(loads) {
    struct incident *in;
    struct pulse pulse;
    const tdbem_wave along = {.at = {1, 2, 2}, .amplitude = 1};
    const tdbem_incidence d = {.waves = 1, .wave = &along};
    OWN(mesh) *mesh = body("sphere:2");
    HEAP double *l = malloc(sizeof *l * (size_t)mesh->vertices),
                *sum = calloc((size_t)mesh->vertices, sizeof *sum),
                *other = malloc(sizeof *l * 1000);
    ok(pulse_read(&pulse, "gaussian:sigma=0.3"));
    ok(incident_open(&in, mesh, TDBEM_RIGID, 0.5, 0.1, 2, &d, &pulse));
    assert_true(fabs(in->pulse.t0 - (6.5 * 0.3 + 0.5)) < 1e-2);
    assert_true(incident_early(in) < 1e-9);
    double max = 0;
    for (int n = 1; n < incident_over(in); n++) {
        incident_load(in, n, l);
        for (int v = 0; v < mesh->vertices; v++) {
            sum[v] += l[v];
            max = fmax(max, fabs(l[v]));
        }
    }
    /* they telescope */
    assert_true(largest(sum, mesh->vertices) < 1e-13 * max);
    /* any order of steps gives the same bits, and zero after the end */
    incident_load(in, 60, l);
    incident_load(in, 61, l);
    incident_load(in, 20, other);
    incident_load(in, 61, other);
    assert_memory_equal(l, other, sizeof *l * (size_t)mesh->vertices);
    assert_true(largest(l, mesh->vertices) > 0);
    incident_load(in, incident_over(in), l);
    assert_true(largest(l, mesh->vertices) == 0);
    /* the sum over vertices is the integral of -(n.d) and eta times F_n - F_(n-1): with a pulse so
     * wide that f is linear over the body, eta/D times area and slope */
    incident_close(in);
    ok(pulse_read(&pulse, "gaussian:sigma=500,t0=1000"));
    ok(incident_open(&in, mesh, TDBEM_RIGID, 0.5, 0.1, 2, &d, &pulse));
    incident_load(in, 10000, l);
    double all = 0;
    for (int v = 0; v < mesh->vertices; v++) all += l[v];
    const double t = 10000 * 0.05, slope = -(t - 1000) / 500 / 500 * pulse_value(&pulse, t);
    const double expected_sum = mesh->area * 0.5 / 0.1 * slope * 0.05;
    assert_true(fabs(all / expected_sum - 1) < 5e-3);
    incident_close(in);
    static const char *const bad[] = {"",
                                      "gauss:sigma=1",
                                      "gaussian",
                                      "gaussian:sigma=0",
                                      "gaussian:sigma=-1",
                                      "gaussian:sigma=x",
                                      "ricker:t0=1",
                                      "gaussian:sigma=1,,",
                                      "gaussian:sigma=1 2",
                                      "ricker:sigma=nan"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (pulse_read(&pulse, bad[i]) != EVN_USAGE) fail_msg("\"%s\" was understood", bad[i]);
    ok(pulse_read(&pulse, "ricker:t0=4,sigma=2"));
    assert_true(pulse_value(&pulse, 4) == 1 && fabs(pulse_value(&pulse, 6)) < 1e-15);
}

/* What l_n means, for any wave: the integral over a step of rate/c dp/dt + slope dp/dn + p/longest,
 * over c dt, times each vertex's hat; by finite differences and 4^4 parts of each triangle. */
static void plain_load(const struct incident *in, const struct mesh *m, double rate, double slope,
                       int n, double *l) {
    enum { PARTS = 16, TIMES = 4 };
    static const double at[2] = {0.2113248654051871, 0.7886751345948129};
    const double e = 1e-4, delta = in->speed * in->dt;
    memset(l, 0, sizeof *l * (size_t)m->vertices);
    for (int t = 0; t < m->triangles; t++)
        for (int part = 0; part < PARTS * PARTS; part++) {
            const int i = part / PARTS, j = part % PARTS, turned = i + j >= PARTS;
            const double third = turned ? 2. / 3 : 1. / 3;
            double share[3] = {(turned ? PARTS - 1 - i : i) + third,
                               (turned ? PARTS - 1 - j : j) + third, 0};
            double normal[3], x[3], ahead[3], behind[3];
            const double area = mesh_normal(m, t, normal) / PARTS / PARTS;
            for (int c = 0; c < 2; c++) share[c] /= PARTS;
            share[2] = 1 - share[0] - share[1];
            for (int c = 0; c < 3; c++) {
                x[c] = 0;
                for (int k = 0; k < 3; k++) x[c] += share[k] * m->x[m->corner[t][k]][c];
                ahead[c] = x[c] + e * normal[c];
                behind[c] = x[c] - e * normal[c];
            }
            double sum = 0;
            for (int k = 0; k < 2 * TIMES; k++) {
                const double time = (n - 1 + (k / 2 + at[k % 2]) / TIMES) * in->dt;
                const double dn =
                    (incident_value(in, ahead, time) - incident_value(in, behind, time)) / (2 * e);
                sum += slope * dn / (2 * TIMES);
            }
            sum += rate *
                   (incident_value(in, x, n * in->dt) - incident_value(in, x, (n - 1) * in->dt)) /
                   delta;
            if (in->damped) sum += incident_value(in, x, n * in->dt) / m->longest;
            for (int k = 0; k < 3; k++) l[m->corner[t][k]] += share[k] * area * sum;
        }
}

/* Plane waves, a source, both with amplitudes and delays; rigid, soft, of several pulses. */
TEST(loads_mean) {
    static const tdbem_wave waves[] = {{0, {1, 2, 2}, 1, 0},
                                       {1, {0, 0.5, -2}, 1, 0},
                                       {1, {1.5, 0, 0}, 0.7, 0.2},
                                       {0, {-1, 0, 1}, -0.4, 0.1}};
    static const char *const pulse_of[] = {"gaussian:sigma=0.5", "ricker:sigma=0.6"};
    struct pulse pulse;
    OWN(mesh) *m = body("sphere:1");
    HEAP double *l = malloc(sizeof *l * (size_t)m->vertices),
                *plain = malloc(sizeof *l * (size_t)m->vertices);
    for (int kind = 0; kind < 4; kind++)
        for (int first = 0; first < 3; first++) {
            struct incident *in;
            const enum tdbem_problem problem = kind % 2 ? TDBEM_SOFT : TDBEM_RIGID;
            const double eta = kind == 0 ? 0.5 : kind == 1 ? 2 : kind == 2 ? 0.3 : 0.7;
            const tdbem_incidence of = {.waves = first == 2 ? 4 : 1, .wave = &waves[first % 2]};
            const tdbem_incidence all = {.waves = 4, .wave = waves};
            ok(pulse_read(&pulse, pulse_of[kind / 2]));
            ok(incident_open(&in, m, problem, eta, 0.15, 2, first == 2 ? &all : &of, &pulse));
            double most = 0, worst = 0;
            for (int n = 1; n < incident_over(in); n += 13) {
                incident_load(in, n, l);
                plain_load(in, m, problem == TDBEM_SOFT ? 1 : eta, problem == TDBEM_SOFT ? eta : 1,
                           n, plain);
                most = fmax(most, largest(plain, m->vertices));
                for (int v = 0; v < m->vertices; v++) worst = fmax(worst, fabs(l[v] - plain[v]));
            }
            if (!(worst < 2e-3 * most))
                fail_msg("case %d %d: %.3g of %.3g", kind, first, worst, most);
            incident_close(in);
        }
}

/* A source's right-hand sides do not vanish together one by one, but all in all they do: nothing
 * would stay on the body. */
TEST(no_flux) {
    static const tdbem_wave source[] = {{1, {0.2, 0.1, 1.1}, 1, 0}, {1, {3, 0, 0}, 1, 0}};
    struct pulse pulse;
    OWN(mesh) *m = body("sphere:2");
    HEAP double *l = malloc(sizeof *l * (size_t)m->vertices);
    ok(pulse_read(&pulse, "gaussian:sigma=0.5"));
    for (int which = 0; which < 2; which++) {
        struct incident *in;
        const tdbem_incidence of = {.waves = 1, .wave = &source[which]};
        ok(incident_open(&in, m, TDBEM_RIGID, 0.5, 0.1, 1, &of, &pulse));
        assert_true(fabs(in->pulse.t0 - 3.25) < 1e-12);
        double sum = 0, size = 0;
        for (int n = 1; n < incident_over(in); n++) {
            incident_load(in, n, l);
            for (int v = 0; v < m->vertices; v++) sum += l[v], size += fabs(l[v]);
        }
        if (!(fabs(sum) < 1e-14 * size)) fail_msg("source %d: %.3g of %.3g", which, sum, size);
        incident_close(in);
    }
}

/* Waves together are their sum, each with its amplitude and its delay. */
TEST(together) {
    enum { LATE = 7 };
    const double dt = 0.05;
    const tdbem_wave one = {1, {0, 0, 2}, 1, 0}, other = {1, {0, -1.5, 0}, 1, 0},
                     both[] = {{1, {0, 0, 2}, 2, 0}, {1, {0, -1.5, 0}, -0.5, LATE * dt}};
    const tdbem_incidence of[] = {
        {.waves = 1, .wave = &one}, {.waves = 1, .wave = &other}, {.waves = 2, .wave = both}};
    struct pulse pulse;
    struct incident *in[3];
    OWN(mesh) *m = body("sphere:2");
    ok(pulse_read(&pulse, "gaussian:sigma=0.3,t0=3"));
    double *l[3];
    for (int i = 0; i < 3; i++) {
        ok(incident_open(&in[i], m, TDBEM_SOFT, 2, 2 * dt, 2, &of[i], &pulse));
        l[i] = malloc(sizeof **l * (size_t)m->vertices);
    }
    const double x[3] = {0.3, 1.5, 0.4};
    for (int n = 60; n < 120; n += 5) {
        double worst = 0;
        incident_load(in[0], n, l[0]);
        incident_load(in[1], n - LATE, l[1]);
        incident_load(in[2], n, l[2]);
        for (int v = 0; v < m->vertices; v++)
            worst = fmax(worst, fabs(2 * l[0][v] - 0.5 * l[1][v] - l[2][v]));
        assert_true(worst <= 1e-12 * (1 + largest(l[2], m->vertices)));
        const double sum =
            2 * incident_value(in[0], x, n * dt) - 0.5 * incident_value(in[1], x, (n - LATE) * dt);
        assert_true(fabs(sum - incident_value(in[2], x, n * dt)) < 1e-13);
    }
    assert_true(in[2]->height > 2.0 / 1.001 && in[2]->height < 3.2);
    for (int i = 0; i < 3; i++) {
        incident_close(in[i]);
        free(l[i]);
    }
}

TEST(refused) {
    struct pulse pulse;
    struct incident *in;
    OWN(mesh) *m = body("sphere:2");
    ok(pulse_read(&pulse, "gaussian:sigma=0.5"));
    const struct {
        tdbem_wave wave[2];
        const char *says;
    } bad[] = {{{{1, {2, 0, 0}, 1, 0}, {1, {0.5, 0, 0}, 1, 0}}, "source 2: (0.5, 0, 0) is inside"},
               {{{1, {0, 0, 1}, 1, 0}, {1, {2, 0, 0}, 1, 0}}, "source 1: (0, 0, 1) is on the"},
               {{{1, {2, 0, NAN}, 1, 0}, {1, {2, 0, 0}, 1, 0}}, "expected three numbers"},
               {{{0, {0, 0, 0}, 1, 0}, {1, {2, 0, 0}, 1, 0}}, "not all 0"},
               {{{1, {2, 0, 0}, 1, 0}, {1, {2, 0, 0}, INFINITY, 0}}, "wave 2: amplitude"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const tdbem_incidence of = {.waves = 2, .wave = bad[i].wave};
        assert_fails(incident_open(&in, m, TDBEM_RIGID, 0.5, 0.1, 1, &of, &pulse), EVN_USAGE,
                     bad[i].says);
    }
}

/* ---- signals -----------------------------------------------------------------------------------
 */

static char folder[] = "/tmp/evener-incident-XXXXXX";

static const char *path_of(const char *name) {
    static char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *keep(const char *name, const void *data, size_t bytes) {
    OWN(file) *out = fopen(path_of(name), "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, bytes, out), bytes);
    return path_of(name);
}

enum { SAMPLES = 160 };

static double bell(double t) { return 0.5 * exp(-0.5 * (t - 4) * (t - 4) / 0.25); }

/* WAV of a bell, 20 samples a unit of time; whole numbers where `bits` are not negative. */
static const char *keep_wav(int format, int bits) {
    char data[60 + SAMPLES * 8] = "RIFF....WAVEfmt \20";
    const int size = bits / 8, bytes = SAMPLES * size;
    const int words[] = {format, 1, 20, 0, 20 * size, 0, size, bits};
    for (int i = 0; i < 8; i++) memcpy(data + 20 + 2 * i, &words[i], 2);
    memcpy(data + 36, "LIST\3\0\0\0abc", 12); /* a part to be passed over, filled up to be even */
    memcpy(data + 48, "data", 4);
    memcpy(data + 52, &bytes, 4);
    for (int i = 0; i < SAMPLES; i++) {
        const double f = bell(i / 20.);
        const float single = (float)f;
        const int32_t whole = (int32_t)lround(ldexp(f, bits - 1));
        memcpy(data + 56 + i * size,
               format == 1 ? (const void *)&whole
               : size == 4 ? (const void *)&single
                           : (const void *)&f,
               (size_t)size);
    }
    return keep("bell.wav", data, 56 + (size_t)bytes);
}

static const char *keep_csv(const char *head, const char *between, double first, double uneven) {
    static char text[SAMPLES * 64];
    int n = snprintf(text, sizeof text, "%s", head);
    for (int i = 0; i < SAMPLES; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%.17g%s%.17g\n",
                      first + i / 20. + (i == 70 ? uneven : 0), between, bell(i / 20.));
    return keep("bell.csv", text, (size_t)n);
}

/* Between samples as at them, and the integral. */
static void check_bell(const char *path, double first, double tolerance) {
    struct signal *s;
    ok(signal_open(&s, path));
    for (double t = 0; t < 8; t += 0.0137) {
        double sum;
        const double f = signal_value(s, first + t, &sum);
        const double integral = 0.5 * 0.5 * sqrt(2 * M_PI) * 0.5 * erfc(-(t - 4) / 0.5 / M_SQRT2);
        assert_true(fabs(f - bell(t)) < tolerance && fabs(sum - integral) < 4 * tolerance);
    }
    double before, after, most;
    assert_true(signal_value(s, s->begin - 1, &before) == 0 && before == 0);
    assert_true(signal_value(s, s->end, &after) == 0);
    assert_true(signal_value(s, s->end + 100, &most) == 0 && most == after);
    assert_true(s->most == fabs(signal_value(s, first + 4, NULL)) || fabs(s->most - 0.5) < 1e-4);
    /* exp(-(w sigma)^2/2) is 0.01 at 3.035/sigma */
    assert_true(fabs(s->highest * 0.5 / 3.035 - 1) < 0.02);
    assert_true(fabs(signal_level(s, 4) - exp(-2)) < 1e-4);
    signal_close(s);
}

TEST(signals) {
    check_bell(keep_csv("", ",", 0, 0), 0, 2e-5);
    check_bell(keep_csv("# a bell\nt,p\n", ", ", -3, 0), -3, 2e-5);
    check_bell(keep_csv("time;pressure\n", ";", 5, 1e-5), 5, 2e-5);
    check_bell(keep_csv("", "\t", 0, 0), 0, 2e-5);
    check_bell(keep_wav(1, 16), 0, 5e-5);
    check_bell(keep_wav(1, 24), 0, 2e-5);
    check_bell(keep_wav(1, 32), 0, 2e-5);
    check_bell(keep_wav(3, 32), 0, 2e-5);
    check_bell(keep_wav(3, 64), 0, 2e-5);
}

/* Its slope is that of its integral, and nothing jumps, also of a signal that is near what its
 * samples can carry. */
TEST(smooth) {
    char text[4096];
    int n = 0;
    for (int i = 0; i < 100; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%d,%.17g\n", i,
                      sin(2.1 * i) * exp(-0.5 * (i - 50) * (i - 50) / 100.));
    struct signal *s;
    ok(signal_open(&s, keep("fast.csv", text, (size_t)n)));
    assert_true(s->highest > 2.3 && s->highest < 2.5);
    for (double t = -20; t < 120; t += 0.0731) {
        const double e = 1e-5;
        double ahead, behind;
        const double exact = sin(2.1 * t) * exp(-0.5 * (t - 50) * (t - 50) / 100.);
        signal_value(s, t + e, &ahead);
        signal_value(s, t - e, &behind);
        assert_true(fabs(signal_value(s, t, NULL) - exact) < 1e-4);
        assert_true(fabs((ahead - behind) / (2 * e) - signal_value(s, t, NULL)) < 1e-8);
    }
    signal_close(s);
}

TEST(bad_signals) {
    static const struct {
        const char *name, *text, *says;
    } bad[] = {{"a.csv", "", "the file is empty"},
               {"b.csv", "t,p\n", "expected lines of t and p"},
               {"c.csv", "0,1\n", "1 samples, expected lines"},
               {"d.csv", "0,1\n1,2\nx,3\n", "line 3: expected two numbers"},
               {"e.csv", "t,p\nu,v\n0,1\n1,2\n", "line 2: expected two numbers"},
               {"f.csv", "0,1\n1,2\n1.5,3\n2,4\n3,5\n", "expected evenly spaced times"},
               {"g.csv", "\357\273\2771,1\n0,2\n", "expected ascending"},
               {"l.csv", "0,\r\n1\n1,\r\n0\n", "line 1: expected two numbers"},
               {"h.csv", "0,0\n1,0\n2,0\n", "all samples are 0"},
               {"n.csv", "0,1e308\n1,1e308\n2,1e308\n", "too large to add up"},
               {"i.csv", "0,0\n1,1\n2,0\n", "not 40 dB below"},
               {"j.csv", "0,1,2\n1,2,3\n", "line 1: expected two numbers"},
               {"k.csv", "0,inf\n1,2\n", "expected two numbers"},
               {"l.wav", "0,1\n", "this is no WAV file"},
               {"m.wav", "RIFF....WAVE", "there are no samples"}};
    struct signal *s;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(signal_open(&s, keep(bad[i].name, bad[i].text, strlen(bad[i].text))),
                     EVN_USAGE, bad[i].says);
    assert_fails(signal_open(&s, path_of("none.csv")), EVN_USAGE, "none.csv");
    assert_fails(signal_open(&s, keep_csv("", ",", 0, 0.02)), EVN_USAGE, "sample 71 is at");
    assert_fails(signal_open(&s, keep_wav(1, 8)), EVN_USAGE, "samples of 8 bits in format 1");
    assert_fails(signal_open(&s, keep_wav(7, 16)), EVN_USAGE, "in format 7");
    /* two channels; cut off anywhere */
    char data[60 + SAMPLES * 2];
    FILE *in = fopen(keep_wav(1, 16), "rb");
    const size_t bytes = fread(data, 1, sizeof data, in);
    fclose(in);
    for (size_t cut = 0; cut < bytes; cut += cut < 64 ? 1 : 61)
        assert_int_equal(signal_open(&s, keep("cut.wav", data, cut)), EVN_USAGE);
    data[22] = 2;
    assert_fails(signal_open(&s, keep("two.wav", data, bytes)), EVN_USAGE,
                 "2 channels, expected one");
}

/* Options and run options that are no problem's: a message, and nothing is read or written. */
TEST(wrong_calls) {
    const tdbem_wave w = {.at = {0, 0, 1}, .amplitude = 1};
    const tdbem_incidence absent = {"a", 1, NULL}, empty = {"a", 0, &w},
                          same[2] = {{"a", 1, &w}, {"a", 1, &w}},
                          nameless[2] = {{NULL, 1, &w}, {NULL, 1, &w}},
                          above[1] = {{"../a", 1, &w}};
    const int vertex = 0;
    tdbem *p = NULL;
    tdbem_needs needs;
    tdbem_outcome out;
#define WRONG(says, ...)                                                                           \
    {                                                                                              \
        tdbem_options o = tdbem_defaults();                                                        \
        o.mesh = "sphere:1";                                                                       \
        __VA_ARGS__;                                                                               \
        assert_fails(tdbem_open(&p, &o), EVN_USAGE, says);                                         \
        assert_null(p);                                                                            \
    }
    WRONG("which mesh", o.mesh = NULL)
    WRONG("layout: it is NULL", o.layout = NULL)
    WRONG("order: it is NULL", o.order = NULL)
    WRONG("solver: it is NULL", o.solver = NULL)
    WRONG("method: it is NULL", o.method = NULL)
    WRONG("problem: there is no 7", o.problem = 7)
    WRONG("cores: -1", o.cores = -1)
    WRONG("cores: 2147483647", o.cores = INT_MAX)
    WRONG("their array is NULL", o.points = 1)
    WRONG("probes: -1", o.points = -1)
    WRONG("their array is NULL", o.incidences = 1)
    WRONG("their array is NULL", o.incidences = 1; o.incidence = &absent)
    WRONG("0 waves", o.incidences = 1; o.incidence = &empty)
    WRONG("two are called \"a\"", o.incidences = 2; o.incidence = same)
    WRONG("incidence 1: \"\"", o.incidences = 2; o.incidence = nameless)
    WRONG("\"../a\" is no name", o.incidences = 1; o.incidence = above)
    WRONG("source: 0,0,1e+200", const tdbem_wave far = {1, {0, 0, 1e200}, 1, 0};
          const tdbem_incidence one = {NULL, 1, &far}; o.incidences = 1; o.incidence = &one)
#undef WRONG
    const tdbem_options right = {0};
    assert_fails(tdbem_open(NULL, &right), EVN_USAGE, "NULL");
    assert_fails(tdbem_open(&p, NULL), EVN_USAGE, "NULL");
    assert_fails(tdbem_expect(NULL, &right), EVN_USAGE, "NULL");
    assert_fails(tdbem_expect(&needs, NULL), EVN_USAGE, "NULL");
    assert_fails(tdbem_march(NULL, NULL, &out), EVN_USAGE, "the problem is NULL");

    tdbem_options o = tdbem_defaults();
    o.mesh = "sphere:1";
    o.cores = 1;
    ok(tdbem_open(&p, &o));
    assert_fails(tdbem_march(p, NULL, NULL), EVN_USAGE, "the outcome is NULL");
#define WRONG(says, ...)                                                                           \
    assert_fails(tdbem_march(p, &(tdbem_run_options){__VA_ARGS__}, &out), EVN_USAGE, says);
    WRONG("steps: -1", .steps = -1)
    WRONG("vertices: 1 of them, and their array is NULL", .vertices = 1)
    WRONG("vertices: -1", .vertices = -1, .vertex = &vertex)
    WRONG("frequencies: 1 of them, and their array is NULL", .frequencies = 1)
    WRONG("frequencies: -1", .frequencies = -1)
    WRONG("two outputs go there", .checkpoint = path_of("a"), .output = path_of("a"))
#undef WRONG
    tdbem_close(p);
}

static int make_folder(void **state) {
    (void)state;
    return !mkdtemp(folder);
}

static int remove_folder(void **state) {
    char command[96];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

RUN_TESTS(make_folder, remove_folder)
