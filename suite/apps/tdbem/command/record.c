/* Keys of TD-BEM in the record of a run. */
#include "common/run/record.h"
#include "tdbem/command/state.h"

/* The summation's groups: each unit's blocks and times. */
static cJSON *record_groups(const tdbem_result *r) {
    const int units = r->run.units;
    cJSON *list = cJSON_CreateArray();
    for (int g = 0; g < r->groups; g++) {
        cJSON *o = cJSON_CreateObject();
        const size_t at = (size_t)g * (size_t)units;
        cJSON_AddItemToObject(o, "tasks", cJSON_CreateIntArray(r->group_blocks + at, units));
        cJSON_AddItemToObject(o, "unit_compute_s", record_numbers(r->group_s + at, units));
        cJSON_AddItemToArray(list, o);
    }
    return list;
}

/* Each incidence of several. */
static void record_columns(const tdbem_result *r, cJSON *root) {
    cJSON *list = r->columns > 1 ? cJSON_AddArrayToObject(root, "incidences") : NULL;
    for (int i = 0; list && i < r->columns; i++) {
        const tdbem_column *c = &r->column[i];
        cJSON *o = cJSON_CreateObject(), *norms = cJSON_AddObjectToObject(o, "norms");
        char hash[20];
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)c->hash);
        cJSON_AddStringToObject(o, "name", c->name ? c->name : "");
        cJSON_AddStringToObject(o, "hash", hash);
        record_number(o, "t0", c->t0);
        record_number(o, "null_field", c->null_field);
        record_number(norms, "most", c->max);
        record_number(norms, "most_after", c->max_after);
        record_number(norms, "latest", c->latest);
        cJSON_AddItemToArray(list, o);
    }
}

/* Bytes and messages between ranks, for groups and for steps. */
static void record_sent(const tdbem_result *r, cJSON *root) {
    cJSON *sent = cJSON_AddObjectToObject(root, "sent");
    record_number(sent, "sums_messages", (double)r->sums_sent.messages);
    record_number(sent, "sums_bytes", r->sums_sent.bytes);
    record_number(sent, "rows_messages", (double)r->rows_sent.messages);
    record_number(sent, "rows_bytes", r->rows_sent.bytes);
    record_number(sent, "solve_messages", (double)r->solve_sent.messages);
    record_number(sent, "solve_bytes", r->solve_sent.bytes);
}

void record_problem(const void *state, cJSON *root) {
    const struct state *job = state;
    const tdbem_result *r = &job->result;
    const tdbem_shape s = tdbem_describe(job->problem);
    cJSON *norms = cJSON_AddObjectToObject(root, "norms");
    record_number(norms, "most", r->max);
    record_number(norms, "most_after", r->max_after);
    record_number(norms, "latest", r->latest);
    if (job->run.restart) cJSON_AddNumberToObject(root, "restarted_from", r->first - 1);
    record_columns(r, root);
    cJSON_AddItemToObject(root, "iterations", record_groups(r));
    cJSON *mesh = cJSON_AddObjectToObject(root, "mesh");
    cJSON_AddNumberToObject(mesh, "vertices", s.vertices);
    cJSON_AddNumberToObject(mesh, "triangles", s.triangles);
    cJSON_AddNumberToObject(mesh, "components", s.components);
    record_number(mesh, "volume", s.volume);
    record_number(mesh, "h_mean", s.h_mean);
    cJSON *matrix = cJSON_AddObjectToObject(root, "matrix");
    cJSON_AddNumberToObject(matrix, "rows", (s.vertices + s.points + s.inside) * (1 + s.filters));
    cJSON_AddNumberToObject(matrix, "kmax", s.kmax);
    record_number(matrix, "nnz", (double)s.nnz);
    record_number(matrix, "d_average", (double)s.nnz / s.vertices / s.vertices);
    cJSON_AddNumberToObject(matrix, "d_max", s.longest);
    record_number(matrix, "bytes", s.bytes);
    record_number(matrix, "stored", (double)s.stored);
    cJSON_AddNumberToObject(matrix, "blocks", s.blocks);
    cJSON_AddNumberToObject(matrix, "resident_blocks", s.resident);
    cJSON_AddNumberToObject(matrix, "intervals", s.intervals);
    cJSON_AddStringToObject(root, "method", s.fast ? "fast" : "plain");
    if (s.fast) {
        cJSON *far = cJSON_AddObjectToObject(root, "far");
        record_number(far, "accuracy", job->options.accuracy);
        record_number(far, "values", s.far_values);
        record_number(far, "bytes", s.far_bytes);
        cJSON_AddStringToObject(far, "reason", r->far_reason);
    }
    cJSON *stream = cJSON_AddObjectToObject(root, "stream");
    record_number(stream, "bytes", r->stream_bytes);
    record_number(stream, "wait_s", r->stream_wait_s);
    record_number(stream, "most_bytes", r->stream_max);
    if (job->cluster) record_sent(r, root);
    record_number(root, "delta", s.delta);
    record_number(root, "facing", s.facing);
    record_number(root, "dt", s.dt);
    record_number(root, "sigma", s.sigma);
    record_number(root, "t0", s.t0);
    record_number(root, "highest_frequency", s.highest);
    cJSON *stages = cJSON_AddObjectToObject(root, "stages");
    record_number(stages, "generate_s", s.generate_s);
    record_number(stages, "summation_s", r->summation_s);
    record_number(stages, "reduction_s", r->reduction_s);
    record_number(stages, "radiation_s", r->radiation_s);
    record_number(stages, "right_hand_side_s", r->load_s);
    record_number(stages, "solve_s", r->solve_s);
    record_number(stages, "output_s", r->output_s);
    record_number(stages, "idle_s", r->idle_s);
    record_number(root, "gflops_nominal", r->gflops_nominal);
    record_number(root, "gflops_effective", r->gflops_effective);
    cJSON_AddStringToObject(root, "solver", r->solver);
    cJSON_AddStringToObject(root, "solver_reason", r->solver_reason);
    record_number(root, "solver_iterations", r->iterations);
    record_number(root, "null_field", r->null_field);
    cJSON *warnings = cJSON_AddArrayToObject(root, "warnings");
    for (int i = 0; tdbem_warning(job->problem, i); i++)
        cJSON_AddItemToArray(warnings, cJSON_CreateString(tdbem_warning(job->problem, i)));
}
