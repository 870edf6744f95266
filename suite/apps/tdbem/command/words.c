/* TD-BEM's options: the table, and what is read of them. */
#include "common/cli/lines.h"
#include "common/cli/message.h"
#include "tdbem/command/state.h"
#include "tdbem/mesh/mesh_read.h"
#include <evener/number.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_OF struct state
const struct option tdbem_words[] = {
    {"mesh", "FILE", "closed surface: " MESH_ENDS ", sphere:L, box:a,b,c,h, aircraft:N",
     OPTION_INPUT(w.mesh)},
    {"unit", "NAME", "of the mesh's lengths: m, cm, mm, um, in or ft; they are metres then",
     OPTION_TEXT(w.unit)},
    {"scale", "X", "what the mesh's coordinates are multiplied by (default 1)",
     OPTION_TEXT(w.scale)},
    {"planes", "LIST", "rigid planes, a ground or of symmetry, as z=0 or x=0,y=0 (default none)",
     OPTION_TEXT(w.planes)},
    {"problem", "NAME", "rigid (default) or soft", OPTION_TEXT(w.problem)},
    {"admittance", "LIST",
     "rigid: BETA, or PART=BETA,..; rho c over the impedance, or a filter's file",
     OPTION_TEXT(w.admittance)},
    {"eta", "X", "combined field equation (default 0.5, soft 2); 0: resonant", OPTION_TEXT(w.eta)},
    {"delta", "X", "c dt, a length", OPTION_TEXT(w.delta)},
    {"delta-ratio", "X", "c dt over the mean edge (default 0.5, less for thin walls)",
     OPTION_TEXT(w.delta_ratio)},
    {"speed", "C", "wave speed (default 1)", OPTION_TEXT(w.speed)},
    {"direction", "X,Y,Z", "of the incident wave (default 0,0,1)", OPTION_TEXT(w.direction)},
    {"source", "X,Y,Z", "a point source there instead: f(t - r/c)/r", OPTION_TEXT(w.source)},
    {"waves", "FILE", "lines of NAME plane|source X Y Z [AMPLITUDE [DELAY]], a run for each NAME",
     OPTION_INPUT(w.waves)},
    {"pulse", "SPEC", "gaussian:sigma=S,t0=T, ricker:.. or a signal's .csv or .wav",
     OPTION_TEXT(w.pulse)},
    {"ng", "G", "steps of a group (default 16)", OPTION_NUMBER(w.ng, 1, 32)},
    {"blocks", "N", "tasks that the columns are cut into (default: about 100)",
     OPTION_NUMBER(w.blocks, 1, 1000000)},
    {"precision", "NAME", "double (default) or float", OPTION_TEXT(w.precision)},
    {"layout", "NAME", "rows (default), contiguous or full:BRxBC", OPTION_TEXT(w.layout)},
    {"order", "NAME", "of vertices: hilbert (default), morton, tsp or none", OPTION_TEXT(w.order)},
    {"method", "NAME", "auto (default), plain, or fast: far vertices by skeletons of cells",
     OPTION_TEXT(w.method)},
    {"accuracy", "X", "of the fast method's skeletons (default 1e-3)", OPTION_TEXT(w.accuracy)},
    {"solver", "NAME", "auto (default), cg, cg:device, cg:ranks or mumps", OPTION_TEXT(w.solver)},
    {"quad", "L", "finer quadrature: 4^L parts of each triangle (default 0)",
     OPTION_NUMBER(w.quad, 0, 6)},
    {"probes", "FILE", "points in the air, lines of x y z; or plane:.. or sphere:.., a grid",
     OPTION_INPUT(w.probes)},
    {"probe-output", "FILE", "t, then scattered and total pressure of each: .csv or .npz",
     OPTION_OUTPUT(w.probe_output)},
    {"transfer-function", "FILE", "of each probe, over the incident wave's: .csv or .npz",
     OPTION_OUTPUT(w.transfer_function)},
    {"impulse-response", "FILE", "of each probe, as a filter: .wav, .sofa, .csv or .npz",
     OPTION_OUTPUT(w.impulse_response)},
    {"sample-rate", "R",
     "samples of it a unit of time (default: .wav and .sofa 48000, else the steps')",
     OPTION_TEXT(w.sample_rate)},
    {"vertices", "LIST", "numbers of the mesh file, from 0", OPTION_TEXT(w.vertices)},
    {"vertex-output", "FILE", "n, t, then the solution at each of them: .csv or .npz",
     OPTION_OUTPUT(w.vertex_output)},
    {"dry", NULL, "prints what it will need, and stops", OPTION_FLAG(w.dry)},
    {"entries", "FILE", "lines of k i j: prints M_k(i,j), and stops", OPTION_INPUT(w.entries)},
    {"output", "DIR", "the surface, and probes, as VTU files and .pvd", OPTION_TEXT(w.output)},
    {"every", "M", "steps between surfaces, and between checkpoints (default 100)",
     OPTION_NUMBER(w.every, 1, 100000000)},
    {"frequencies", "LIST", "angular frequencies", OPTION_TEXT(w.frequencies)},
    {"spectrum", "FILE", "spectra at all vertices: .csv or .npz", OPTION_OUTPUT(w.spectrum)},
    {"far-field", "FILE", "directivity: .csv or .npz", OPTION_OUTPUT(w.far_field)},
    {"matrices", "FILE", "write the matrices to FILE, or read them from it",
     OPTION_KEPT(w.matrices)},
    {"memory", "SIZE", "memory for matrices, as 2GB or 512MiB (default: all available)",
     OPTION_TEXT(w.memory)},
    {"scratch", "DIR", "folder on a disk for the rest of them (default $TMPDIR, /var/tmp)",
     OPTION_TEXT(w.scratch)},
    {"checkpoint", "FILE", "write the state to FILE at intervals", OPTION_KEPT(w.checkpoint)},
    {"restart", "FILE", "continue from a checkpoint", OPTION_RESUMED(w.restart)},
    {0},
};

#define RESULTS                                                                                    \
    "probes probe-output transfer-function impulse-response sample-rate vertices vertex-output "   \
    "frequencies spectrum far-field output every "                                                 \
    "checkpoint restart"
#define STOPS "it prints entries of the matrices, and stops"

const struct option_rule tdbem_rules[] = {
    {"probe-output", OPTION_NEEDS, "probes", "the points"},
    {"transfer-function", OPTION_NEEDS, "probes", "the points"},
    {"impulse-response", OPTION_NEEDS, "probes", "the points"},
    {"sample-rate", OPTION_NEEDS, "impulse-response", "whose it is"},
    {"probes", OPTION_NEEDS, "probe-output transfer-function impulse-response output",
     "where their fields go"},
    {"vertex-output", OPTION_NEEDS, "vertices", "which ones"},
    {"vertices", OPTION_NEEDS, "vertex-output", "where they go"},
    {"spectrum", OPTION_NEEDS, "frequencies", "of which it is"},
    {"far-field", OPTION_NEEDS, "frequencies", "of which it is"},
    {"frequencies", OPTION_NEEDS, "spectrum far-field transfer-function", "where they go"},
    {"every", OPTION_NEEDS, "output checkpoint", "which is written so often"},
    {"unit", OPTION_EXCLUDES, "scale", "they say the same thing; give one of them"},
    {"source", OPTION_EXCLUDES, "direction", "a wave is a plane one or a source's"},
    {"waves", OPTION_EXCLUDES, "direction source", "all waves are in the file"},
    {"delta", OPTION_EXCLUDES, "delta-ratio", "they say the same thing; give one of them"},
    {"entries", OPTION_EXCLUDES, RESULTS " matrices json trace admittance planes", STOPS},
    {"entries", OPTION_IGNORES,
     "steps units oversubscribe devices on-device-loss schedule slow verbose speed direction "
     "source waves pulse ng blocks precision layout order solver memory scratch",
     STOPS},
    {"dry", OPTION_EXCLUDES, "entries json trace", "it prints what is needed, and stops"},
    {"evener plan", OPTION_EXCLUDES, RESULTS " entries dry", "a plan computes nothing"},
    {"evener plan", OPTION_IGNORES, "speed direction source waves pulse solver",
     "no task depends on it"},
    {"evener calibrate", OPTION_EXCLUDES, RESULTS " entries dry",
     "a calibration measures times, its results are those of a few steps"},
    {0},
};

/* Prints a number reader's message about the value of an option. */
static int wrong(const char *option, const char *text) {
    return complain("--%s %s: %s", option, text, evn_message());
}

static int read_real(const char *option, const char *text, double least, int above, double *to) {
    const evn_bounds bounds = {least, INFINITY, above};
    return text && evn_read_real(text, bounds, to) ? wrong(option, text) : 0;
}

static int read_size(const char *option, const char *text, double *to) {
    const evn_bounds bounds = {0, INFINITY, 1};
    return text && evn_read_size(text, bounds, to) ? wrong(option, text) : 0;
}

/* Numbers with commas between them; exactly so many of them unless that is 0. */
static int read_list(const char *option, const char *text, int exactly, double **to, int *count) {
    const evn_bounds bounds = {-INFINITY, INFINITY, 0};
    return evn_read_reals(text, exactly, bounds, to, count) ? wrong(option, text) : 0;
}

static int read_direction(struct state *s) {
    double *d = NULL;
    int n = 0;
    if (!s->w.direction) return 0;
    int code = read_list("direction", s->w.direction, 3, &d, &n);
    if (!code) memcpy(s->options.direction, d, sizeof s->options.direction);
    free(d);
    return code;
}

static int read_source(struct state *s) {
    double *x = NULL;
    int n = 0;
    if (!s->w.source) return 0;
    int code = read_list("source", s->w.source, 3, &x, &n);
    if (!code) code = waves_source(s, x);
    free(x);
    return code;
}

static int read_vertices(struct state *s) {
    double *v = NULL;
    int n = 0;
    if (!s->w.vertices) return 0;
    int code = read_list("vertices", s->w.vertices, 0, &v, &n);
    if (!code && !(s->vertex = malloc(sizeof *s->vertex * (size_t)n)))
        code = complain("--vertices: not enough memory");
    for (int i = 0; !code && i < n; i++) {
        if (v[i] < 0 || v[i] > 2e9 || v[i] != floor(v[i])) {
            code = complain(
                "--vertices %s: item %d is no vertex number, expected whole numbers from 0",
                s->w.vertices, i + 1);
        } else {
            s->vertex[i] = (int)v[i];
        }
    }
    free(v);
    s->run.vertex = s->vertex;
    s->run.vertices = n;
    return code;
}

/* Reads a line's numbers, and whether there are as many as columns and nothing else. */
static int read_row(char *p, int columns, double *row) {
    for (int c = 0; c < columns; c++) {
        char *end;
        row[c] = strtod(p, &end);
        if (end == p || !isfinite(row[c])) return 0;
        p = end + strspn(end, " \t\r\n,");
    }
    return !*p;
}

int words_read_rows(const char *option, const char *path, int columns, double **to, int *rows) {
    char name[PATH_MAX + 64], *line;
    size_t room = 0;
    int code = 0;
    *rows = 0;
    snprintf(name, sizeof name, "--%s %s", option, path);
    struct lines *in = lines_open(name, path);
    if (!in) return EXIT_USAGE;
    while (!code && (line = lines_next(in, name, &code))) {
        char *p = line + strspn(line, " \t\r\n");
        const size_t at = (size_t)*rows * (size_t)columns;
        if (!*p || *p == '#') continue;
        if (at + (size_t)columns > room) {
            room = 2 * room + 64 * (size_t)columns;
            double *more = realloc(*to, room * sizeof *more);
            if (more) *to = more;
            if (!more) complain("%s: not enough memory", name);
            if (!more) code = EXIT_USAGE;
        }
        if (code) break;
        if (read_row(p, columns, *to + at)) {
            (*rows)++;
        } else {
            code = complain("%s: line %d: expected %d numbers", name, in->number, columns);
        }
    }
    lines_close(in);
    if (!code && !*rows)
        code = complain("--%s %s: there is nothing in it, expected lines of %d numbers", option,
                        path, columns);
    return code;
}

static int read_choice(const char *option, const char *text, const char *one, const char *other,
                       int *to) {
    if (!text || !strcmp(text, one)) {
        *to = 0;
        return 0;
    }
    if (!strcmp(text, other)) {
        *to = 1;
        return 0;
    }
    return complain("--%s %s: expected %s or %s", option, text, one, other);
}

int words_unit(const char *text, double *scale) {
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"m", 1},     {"cm", 0.01},   {"mm", 0.001},
                 {"um", 1e-6}, {"in", 0.0254}, {"ft", 0.3048}};
    for (size_t u = 0; text && u < sizeof units / sizeof *units; u++)
        if (!strcmp(text, units[u].name)) {
            *scale = units[u].metres;
            return 0;
        }
    if (!text) return 0;
    return complain("--unit %s: expected m, cm, mm, um, in or ft", text);
}

int words_read(struct state *s) {
    const struct words *w = &s->w;
    tdbem_options *o = &s->options;
    int soft = 0, code = 0;
    *o = tdbem_defaults();
    o->mesh = w->mesh;
    o->pulse = w->pulse;
    o->admittance = w->admittance;
    o->planes = w->planes;
    o->matrices = w->matrices;
    o->scratch = w->scratch;
    o->group = (int)w->ng;
    o->blocks = (int)w->blocks;
    o->quad = (int)w->quad;
    if (w->layout) o->layout = w->layout;
    if (w->order) o->order = w->order;
    if (w->solver) o->solver = w->solver;
    if (w->method) o->method = w->method;
    if (!code) code = read_real("accuracy", w->accuracy, 0, 1, &o->accuracy);
    if (!code) code = read_choice("problem", w->problem, "rigid", "soft", &soft);
    if (!code) code = read_choice("precision", w->precision, "double", "float", &o->single);
    o->problem = soft ? TDBEM_SOFT : TDBEM_RIGID;
    o->eta = tdbem_eta(o->problem);
    if (!code) code = words_unit(w->unit, &o->scale);
    if (!code) code = read_real("scale", w->scale, 0, 1, &o->scale);
    if (!code) code = read_real("eta", w->eta, 0, 0, &o->eta);
    if (!code) code = read_real("delta", w->delta, 0, 1, &o->delta);
    if (!code) code = read_real("delta-ratio", w->delta_ratio, 0, 1, &o->delta_ratio);
    if (!code) code = read_real("speed", w->speed, 0, 1, &o->speed);
    if (!code) code = read_real("sample-rate", w->sample_rate, 0, 1, &s->run.sample_rate);
    if (!code) code = read_size("memory", w->memory, &o->memory);
    if (!code) code = read_direction(s);
    if (!code) code = read_source(s);
    if (!code && w->waves) code = waves_read(s, w->waves);
    if (!code) code = read_vertices(s);
    if (!code && w->frequencies)
        code = read_list("frequencies", w->frequencies, 0, &s->frequency, &s->run.frequencies);
    if (!code && w->probes) code = probes_read(s);
    o->point = (const double(*)[3])s->point;
    if (code) return code;
    s->run.every = (int)w->every;
    s->run.frequency = s->frequency;
    s->run.probe_output = w->probe_output;
    s->run.vertex_output = w->vertex_output;
    s->run.output = w->output;
    s->run.checkpoint = w->checkpoint;
    s->run.restart = w->restart;
    s->run.spectrum = w->spectrum;
    s->run.far_field = w->far_field;
    s->run.transfer_function = w->transfer_function;
    s->run.impulse_response = w->impulse_response;
    evn_status status = tdbem_check(o);
    if (!status) status = tdbem_check_files(&s->run);
    return status ? give_up(status) : 0;
}
