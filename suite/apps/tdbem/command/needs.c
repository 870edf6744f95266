/* run --dry and evener mesh: what a run will need, and what a mesh is like. */
#include "common/cli/message.h"
#include "common/cli/output.h"
#include "tdbem/command/state.h"
#include "tdbem/mesh/mesh_read.h"
#include "tdbem/mesh/mesh_thicken.h"
#include "tdbem/mesh/mesh_thickness.h"
#include "tdbem/mesh/mesh_write.h"
#include <cjson/cJSON.h>
#include <evener/number.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void print_needs(const tdbem_needs *n, FILE *out) {
    const tdbem_shape *s = &n->shape;
    fprintf(out, "  a run: %d steps of %.4g, matrices %d steps back, %.3g values", s->default_steps,
            s->dt, s->kmax, (double)s->nnz);
    if (s->fast) fprintf(out, " of near vertices, %.3g of far cells", s->far_values);
    fputc('\n', out);
    fprintf(out, "  memory: %.3g GB", n->memory * 1e-9);
    if (n->disk > 0)
        fprintf(out, ", of which there are %.3g GB here; with %.3g GB on disk %.3g GB will do",
                n->room * 1e-9, n->disk * 1e-9, n->least * 1e-9);
    fprintf(out, "\n  time: about %.2g s for the matrices, %.2g s for the steps, on free cores\n",
            n->generate_s, n->march_s);
}

int needs_print(const struct state *s) {
    tdbem_needs n;
    evn_status status = tdbem_expect(&n, &s->options);
    if (status) return give_up(status);
    printf("  vertices %d, triangles %d, components %d, volume %.6g, mean edge %.4g\n",
           n.shape.vertices, n.shape.triangles, n.shape.components, n.shape.volume, n.shape.h_mean);
    print_needs(&n, stdout);
    return EXIT_DONE;
}

struct request {
    const char *output, *unit, *scale, *json, *thicken, *planes;
};

#define OPTIONS_OF struct request
static const struct option options[] = {
    {"output", "FILE", "the mended mesh: " MESH_WRITE_ENDS, OPTION_OUTPUT(output)},
    {"unit", "NAME", "of the file's lengths: m, cm, mm, um, in or ft; they are metres then",
     OPTION_TEXT(unit)},
    {"scale", "X", "what coordinates are multiplied by (default 1)", OPTION_TEXT(scale)},
    {"thicken", "D", "makes a body of an open surface: half of D to either side, and a rim",
     OPTION_TEXT(thicken)},
    {"planes", "LIST", "rigid planes, as z=0 or x=0,y=0, that it may end on", OPTION_TEXT(planes)},
    {"json", "FILE", "the same as a record; - is standard output", OPTION_OUTPUT(json)},
    {0},
};

static const struct option_rule rules[] = {
    {"unit", OPTION_EXCLUDES, "scale", "they say the same thing; give one of them"},
    {"thicken", OPTION_NEEDS, "output", "where the body goes"},
    {0},
};

/* Looked for farther and farther away, which takes longer. */
static evn_status find_thickness(struct mesh_thickness *t, const struct mesh *m) {
    evn_status status = EVN_OK;
    for (double most = 2 * m->h_mean; !status; most *= 4) {
        status = mesh_thickness(t, m, most);
        if (isfinite(t->wall) || most > m->longest) break;
    }
    return status;
}

static void print_mesh(const struct mesh *m, const struct mesh_thickness *t, FILE *out) {
    fprintf(out, "  vertices %d, triangles %d, components %d\n", m->vertices, m->triangles,
            m->components);
    fprintf(out, "  volume %.6g, area %.6g, largest distance %.6g\n", m->volume, m->area,
            m->longest);
    fprintf(out, "  edges: shortest %.4g, mean %.4g, longest %.4g\n", m->h_min, m->h_mean,
            m->h_max);
    if (isfinite(t->wall))
        fprintf(out, "  thinnest wall %.4g, between triangles %d and %d\n", t->wall, t->wall_at[0],
                t->wall_at[1]);
    if (isfinite(t->gap))
        fprintf(out, "  narrowest gap %.4g, between triangles %d and %d\n", t->gap, t->gap_at[0],
                t->gap_at[1]);
    if (*m->note) fprintf(out, "  %s\n", m->note);
}

static void add(cJSON *to, const char *key, double value) {
    if (isfinite(value))
        cJSON_AddNumberToObject(to, key, value);
    else
        cJSON_AddNullToObject(to, key);
}

static int write_record(const char *path, const struct mesh *m, const struct mesh_thickness *t,
                        const tdbem_needs *n) {
    cJSON *root = cJSON_CreateObject(), *mesh = cJSON_AddObjectToObject(root, "mesh");
    const struct {
        const char *key;
        double value;
    } of_mesh[] = {{"vertices", m->vertices},
                   {"triangles", m->triangles},
                   {"components", m->components},
                   {"volume", m->volume},
                   {"area", m->area},
                   {"longest", m->longest},
                   {"h_min", m->h_min},
                   {"h_mean", m->h_mean},
                   {"h_max", m->h_max},
                   {"wall", t->wall},
                   {"gap", t->gap}},
      of_run[] = {{"steps", n->shape.default_steps},
                  {"kmax", n->shape.kmax},
                  {"nnz", (double)n->shape.nnz},
                  {"far_values", n->shape.far_values},
                  {"memory", n->memory},
                  {"least", n->least},
                  {"disk", n->disk},
                  {"generate_s", n->generate_s},
                  {"march_s", n->march_s}};
    for (size_t i = 0; i < sizeof of_mesh / sizeof *of_mesh; i++)
        add(mesh, of_mesh[i].key, of_mesh[i].value);
    cJSON_AddStringToObject(mesh, "note", m->note);
    cJSON *run = cJSON_AddObjectToObject(root, "run");
    for (size_t i = 0; i < sizeof of_run / sizeof *of_run; i++)
        add(run, of_run[i].key, of_run[i].value);
    char *text = cJSON_Print(root);
    evn_output *out;
    int code = output_open(&out, path);
    if (!code) code = output_commit(out, text);
    evn_output_close(out);
    cJSON_free(text);
    cJSON_Delete(root);
    return code;
}

/* Writes the body that an open surface becomes. */
static int thicken(const char *file, const char *output, double scale, double thickness) {
    struct mesh *open = NULL, *body = NULL;
    evn_status status = mesh_read(&open, file);
    if (status == EVN_SYSTEM) status = EVN_USAGE; /* bad input, with the same message */
    for (int v = 0; !status && v < open->vertices; v++)
        for (int c = 0; c < 3; c++) open->x[v][c] *= scale;
    if (!status) status = mesh_thicken(&body, open, thickness, file);
    if (!status) status = mesh_check(body, file);
    if (!status && *body->note) complain("warning: %s: %s", file, body->note);
    if (!status) status = mesh_write(body, output);
    mesh_close(open);
    mesh_close(body);
    return status ? give_up(status) : EXIT_DONE;
}

static int describe(const char *file, const struct request *r, double scale) {
    struct mesh *mesh = NULL;
    struct mesh_thickness thickness;
    tdbem_needs needs;
    tdbem_options o = tdbem_defaults();
    o.mesh = file;
    o.scale = scale;
    o.planes = r->planes;
    evn_status status = tdbem_expect_of(&needs, &mesh, &o);
    if (!status) status = find_thickness(&thickness, mesh);
    int code = status ? give_up(status) : EXIT_DONE;
    if (!code && r->output && mesh_write(mesh, r->output)) code = give_up(EVN_SYSTEM);
    if (!code && r->json) code = write_record(r->json, mesh, &thickness, &needs);
    if (!code && !(r->json && !strcmp(r->json, "-"))) {
        print_mesh(mesh, &thickness, stdout);
        print_needs(&needs, stdout);
    }
    mesh_close(mesh);
    return code;
}

int mesh_command(int argc, char **argv) {
    struct request r = {0};
    const struct option_set sets[] = {{options, &r, rules}, {0}};
    const char *file = NULL;
    double scale = 1;
    int count = 0, code = options_read("mesh", sets, argc, argv, &file, 1, &count);
    if (code < 0) {
        printf("usage: evener mesh FILE [options]\n\n"
               "Reads a surface mesh (" MESH_ENDS ", NumCalc's\n"
               "folder), mends what can be mended, and says what it is like and what evener run\n"
               "td-bem will need for it; or what is wrong with it, where and how often.\n\n");
        options_help("mesh", sets, 0);
        return EXIT_DONE;
    }
    if (!code && !count) code = complain("mesh: which one? expected a file " MESH_ENDS);
    if (!code && r.output && !mesh_writes(r.output))
        code = complain("--output %s: expected a name that ends with " MESH_WRITE_ENDS, r.output);
    if (!code) code = words_unit(r.unit, &scale);
    if (!code && r.scale && evn_read_real(r.scale, (evn_bounds){0, INFINITY, 1}, &scale))
        code = complain("--scale %s: %s", r.scale, evn_message());
    double thickness = 0;
    if (!code && r.thicken && evn_read_real(r.thicken, (evn_bounds){0, INFINITY, 1}, &thickness))
        code = complain("--thicken %s: %s", r.thicken, evn_message());
    if (!code && r.thicken) {
        code = thicken(file, r.output, scale, thickness);
        file = r.output;
        scale = 1;
        r.output = NULL;
    }
    return code ? code : describe(file, &r, scale);
}
