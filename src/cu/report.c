/* The report at exit, EVENER_REPORT=1: a line for each directive. */
#include "cu/internal.h"
#include <evener/cluster.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cu_reports(void) {
    static int wanted = -1;
    if (wanted < 0) {
        const char *text = cu_variable("EVENER_REPORT");
        wanted = text && strcmp(text, "0") != 0;
    }
    return wanted;
}

void cu_report_add(struct site *s, const evn_loop *loop) {
    if (!cu_reports()) return;
    const int units = evn_units_count(cu.units);
    struct done *d = &s->done;
    if (!d->seconds) d->seconds = calloc((size_t)units, sizeof *d->seconds);
    if (!d->seconds) return; /* without times there is no line */
    const evn_loop_totals sum = evn_loop_sum(loop);
    d->wall += sum.compute_s;
    d->instances += sum.instances;
    d->migrations += sum.migrations;
    d->moved += sum.brought_bytes;
    for (int u = 0; u < units; u++) d->seconds[u] += evn_loop_stats(loop, u).compute_s;
}

static void say_site(const struct site *s) {
    const struct done *d = &s->done;
    const int units = evn_units_count(cu.units);
    const int rank = evn_cluster_launched();
    char *line = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&line, &bytes); /* ranks' lines do not mix */
    if (!out) return;
    if (rank >= 0) fprintf(out, "rank %d: ", rank);
    fprintf(out, "%s:%d: %lld instances, %.6f s; units", s->where->file, s->where->line,
            d->instances, d->wall);
    for (int u = 0; u < units; u++) fprintf(out, " %.6f", d->seconds[u]);
    fprintf(out, " s, imbalance %.2f; %lld migrations, %.0f bytes moved\n",
            evn_imbalance(units, d->seconds), d->migrations, d->moved);
    fclose(out);
    if (line) fputs(line, stderr);
    free(line);
}

void cu_report(void) {
    if (!cu_reports()) return;
    /* a decimal point, whatever the program's locale is */
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    const locale_t before = uselocale(plain);
    for (struct site *s = cu_sites; s; s = s->next) {
        for (const struct kept *k = s->kept; k; k = k->next) cu_report_add(s, k->loop);
        if (s->done.instances && s->done.seconds) say_site(s);
        free(s->done.seconds);
        s->done = (struct done){0};
    }
    uselocale(before);
    if (plain) freelocale(plain);
}
