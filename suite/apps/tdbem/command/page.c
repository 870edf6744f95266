/* Printed output of a run of TD-BEM: the problem, the stages, the solution. */
#include "tdbem/command/state.h"
#include <math.h>

void page_problem(const void *state, int steps, FILE *out) {
    const struct state *job = state;
    (void)steps;
    const tdbem_shape s = tdbem_describe(job->problem);
    fprintf(out, "\n TD-BEM, %s, eta %g, on %s\n\n",
            job->options.problem == TDBEM_SOFT ? "sound-soft" : "sound-hard", s.eta,
            job->options.mesh);
    fprintf(out, "  vertices %d, triangles %d, components %d, volume %.6g, mean edge %.4g\n",
            s.vertices, s.triangles, s.components, s.volume, s.h_mean);
    char bound[64] = "";
    if (s.bounded)
        snprintf(bound, sizeof bound, "; bounded by a %s of %.4g", s.bounded == 1 ? "wall" : "gap",
                 s.facing);
    fprintf(out, "  c dt %.5g (%.3g edges%s), pulse sigma %.4g, t0 %.5g, frequencies up to %.3g\n",
            s.delta, s.delta / s.h_mean, bound, s.sigma, s.t0, s.highest);
    fprintf(out,
            "  matrices: %d steps back, %.4g values, row-vectors of %.2f (at most %d), %.3g GB as "
            "%s, %.0f %% of it padding\n",
            s.kmax, (double)s.nnz, (double)s.nnz / s.vertices / s.vertices, s.longest,
            s.bytes * 1e-9, job->options.layout,
            s.stored ? 100 * (1 - (double)s.held / (double)s.stored) : 0.0);
    if (s.fast)
        fprintf(out,
                "  fast method, accuracy %.3g: these are near ones; %.4g values between the "
                "skeletons of far cells, %.3g GB\n",
                job->options.accuracy, s.far_values, s.far_bytes * 1e-9);
    if (s.buried)
        fprintf(out, "  probes: %d in the air, %d in the body or on it, where values are nan\n",
                s.points, s.buried);
    fprintf(out, "  %s in %.2f s", s.reloaded ? "reloaded" : "generated", s.generate_s);
    if (s.resident < s.blocks)
        fprintf(out, "; %d of %d blocks stream from disk", s.blocks - s.resident, s.blocks);
    fprintf(out, "\n");
}

void page_result(const void *state, const struct workload_page *page) {
    const struct state *job = state;
    const tdbem_result *r = &job->result;
    FILE *out = page->out;
    const int steps = r->run.steps - r->first + 1;
    fprintf(out, "\n  %d steps in %.3f s, groups of %d, %s\n\n", steps, r->run.seconds,
            job->options.group, job->options.single ? "float" : "double");
    const struct {
        const char *name;
        double seconds;
    } stage[] = {
        {"summation", r->summation_s}, {"reduction", r->reduction_s},
        {"radiation", r->radiation_s}, {"right-hand side", r->load_s},
        {"solve", r->solve_s},         {"output", r->output_s},
    };
    for (size_t i = 0; i < sizeof stage / sizeof *stage; i++)
        fprintf(out, "  %-16s %9.3f s %5.1f %%\n", stage[i].name, stage[i].seconds,
                r->run.seconds > 0 ? 100 * stage[i].seconds / r->run.seconds : 0);
    if (r->stream_bytes > 0)
        fprintf(
            out,
            "  %.3g GB came from disk, %.3g GB/s of the summation; cores waited %.3f s for them\n",
            r->stream_bytes * 1e-9, r->stream_bytes * 1e-9 / r->summation_s, r->stream_wait_s);
    if (job->cluster)
        fprintf(out,
                "  ranks sent %.3g MB of sums in %lld messages, %.3g MB of right-hand sides in "
                "%lld, %.3g MB to solve in %lld\n",
                r->sums_sent.bytes * 1e-6, r->sums_sent.messages, r->rows_sent.bytes * 1e-6,
                r->rows_sent.messages, r->solve_sent.bytes * 1e-6, r->solve_sent.messages);
    fprintf(out,
            "  summation: %.2f GFlop/s on values, %.2f with padding; %s: %.1f iterations a step\n",
            r->gflops_effective, r->gflops_nominal, r->solver, r->iterations);
    for (int i = 0; r->columns > 1 && i < r->columns; i++)
        fprintf(out, "  %-16s t0 %.5g, largest |a| %.6g, %.3g after the pulse\n",
                r->column[i].name ? r->column[i].name : "", r->column[i].t0, r->column[i].max,
                r->column[i].max_after);
    if (*r->response) fprintf(out, "  %s: %s\n", job->run.impulse_response, r->response);
    fprintf(out, "  largest |a| %.6g, %.3g after the pulse", r->max, r->max_after);
    if (isfinite(r->null_field)) fprintf(out, "; null field inside %.3g %%", 100 * r->null_field);
    fputc('\n', out);
}
