/* TD-BEM as a workload of the command: options, and objects made from them. */
#pragma once

#include "common/cli/options.h"
#include "common/cli/progress.h"
#include "common/run/workload.h"
#include "tdbem/tdbem.h"

/* The options as they were given. */
struct words {
    const char *mesh, *problem, *eta, *delta, *delta_ratio, *speed, *direction, *source, *waves,
        *pulse;
    const char *precision, *layout, *order, *solver, *method, *accuracy, *probes, *probe_output,
        *vertices;
    const char *vertex_output, *entries, *output, *matrices, *checkpoint, *restart;
    const char *transfer_function, *impulse_response, *sample_rate;
    const char *admittance, *planes, *frequencies, *spectrum, *far_field, *memory, *scratch, *scale,
        *unit;
    long ng, blocks, quad, every;
    int dry;
};

struct state {
    struct words w;
    tdbem_options options;
    tdbem_run_options run;
    double (*point)[3];
    int *vertex;
    double *frequency;
    tdbem_wave *wave;
    tdbem_incidence *incidence;
    char *name;           /* of incidences */
    evn_cluster *cluster; /* whose ranks march together, or NULL */
    int foreseen;         /* tasks alone are wanted */
    tdbem *problem;
    char *key;
    tdbem_result result;
    struct progress progress; /* progress of the matrices */
    double began;
    int quiet;
};

/* words.c: the table fills a state's `w`; words_read() makes options of it. 0, or an exit status
 * after a message. */
extern const struct option tdbem_words[];
extern const struct option_rule tdbem_rules[];
int words_read(struct state *s);
/* Lines of `columns` numbers in a file; empty ones and those that begin with # are skipped. *to is
 * to be freed in any case. */
int words_read_rows(const char *option, const char *path, int columns, double **to, int *rows);

/* probes.c: the points of --probes. */
int probes_read(struct state *s);

/* waves.c: incidences of a file; of a source; 0, or an exit status after a message. */
int waves_read(struct state *s, const char *path);
int waves_source(struct state *s, const double at[3]);
void waves_close(struct state *s);

/* entries.c: prints what --entries asks for. */
int entries_print(const struct state *s);

/* needs.c: what a run of these options will need, and what a mesh is like. */
int needs_print(const struct state *s);
int words_unit(const char *text, double *scale);
int mesh_command(int argc, char **argv);

/* page.c and record.c: their parts of both. */
void page_problem(const void *state, int steps, FILE *out);
void page_result(const void *state, const struct workload_page *page);
void record_problem(const void *state, cJSON *root);
