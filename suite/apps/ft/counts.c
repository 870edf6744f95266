/* Counts of devices and time. */
#include "ft/counts.h"
#include "common/run/ranks.h"
#include <stdlib.h>
#include <string.h>

void counts_now(const struct fields *f, const struct funnel *funnel, double count[FT_COUNTS]) {
    const struct funnel_counts c = funnel_counts(funnel);
    memset(count, 0, FT_COUNTS * sizeof *count);
    count[FT_FIELD_COPIES_IN] = (double)c.copies_in;
    count[FT_FIELD_COPIES_OUT] = (double)c.copies_out;
    count[FT_FIELD_BYTES_IN] = c.bytes_in;
    count[FT_FIELD_BYTES_OUT] = c.bytes_out;
    count[FT_COPY_S] = c.copy_s;
    count[FT_PUT_S] = 1e-9 * (double)atomic_load(&f->put_ns);
    count[FT_BARRIER_S] = f->barrier_s;
}

static void add_devices(const struct run_result *r, double *count) {
    for (int d = 0; d < r->devices; d++) {
        count[FT_LAUNCHES] += (double)r->device[d].launches;
        count[FT_COPIES_IN] += (double)r->device[d].copies_in;
        count[FT_COPIES_OUT] += (double)r->device[d].copies_out;
        count[FT_BYTES_IN] += (double)r->device[d].bytes_in;
        count[FT_BYTES_OUT] += (double)r->device[d].bytes_out;
    }
}

evn_status counts_of_ranks(const evn_loop *loop, const struct fields *f,
                           const struct funnel *funnel, const double before[FT_COUNTS],
                           ft_result *r) {
    const evn_units *units = evn_loop_about(loop).units;
    double mine[FT_COUNTS], *all = NULL;
    int count = 0;
    counts_now(f, funnel, mine);
    for (int i = 0; i < FT_COUNTS; i++) mine[i] -= before[i];
    mine[FT_CONTEXTS] = evn_units_about(units).devices;
    add_devices(&r->run, mine);
    for (int u = 0; u < evn_units_count(units); u++) {
        const evn_unit_stats s = evn_loop_stats(loop, u);
        mine[FT_COMPUTE_S] += s.compute_s + s.exchange_s;
    }
    mine[FT_COMPUTE_S] -= mine[FT_COPY_S] + mine[FT_PUT_S];
    if (mine[FT_COMPUTE_S] < 0) mine[FT_COMPUTE_S] = 0; /* puts of all at once are in no body */
    evn_status status =
        ranks_share(f->cluster, mine, FT_COUNTS, sizeof *mine, (void **)&all, &count);
    memset(r->count, 0, sizeof r->count);
    for (int i = 0; !status && i < count; i++) r->count[i % FT_COUNTS] += all[i];
    free(all);
    if (status || !funnel->desk) return status;
    return ranks_share(f->cluster, funnel->span, funnel->spans, sizeof *r->span, (void **)&r->span,
                       &r->spans);
}
