/* The report at exit, EVENER_REPORT=1: a line for each directive, the longest first. */
#include "cu/internal.h"
#include <evener/cluster.h>
#include <locale.h>
#include <math.h>
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
    const int rank = evn_cluster_launched(NULL);
    char *line = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&line, &bytes); /* ranks' lines do not mix */
    if (!out) return;
    if (rank >= 0) fprintf(out, "rank %d: ", rank);
    fprintf(out, "%s:%d: %lld instances, %.6f s; units", s->where->file, s->where->line,
            d->instances, d->wall);
    for (int u = 0; u < units; u++) fprintf(out, " %.6f", d->seconds[u]);
    const double imbalance = evn_imbalance(units, d->seconds);
    fputs(" s, imbalance ", out);
    if (isfinite(imbalance))
        fprintf(out, "%.2f", imbalance);
    else
        fputc('-', out); /* a unit did nothing */
    fprintf(out, "; %lld migrations, %.0f bytes moved\n", d->migrations, d->moved);
    fclose(out);
    if (line) fputs(line, stderr);
    free(line);
}

/* The reason for times that are longer than the work. */
static void say_taken(void) {
    const int rank = evn_cluster_launched(NULL);
    char *line = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&line, &bytes);
    if (!out) return;
    if (rank >= 0) fprintf(out, "rank %d: ", rank);
    fputs("taken by other threads:", out);
    int units = 0;
    for (int u = 0; u < evn_units_count(cu.units); u++) {
        const double taken = evn_unit_taken(evn_units_get(cu.units, u), 0);
        if (!(taken >= EVN_TAKEN_NOTED)) continue;
        fprintf(out, "%s %.0f %% of the core time of unit %d", units++ ? "," : "", 100 * taken, u);
    }
    fputc('\n', out);
    fclose(out);
    if (line && units) fputs(line, stderr);
    free(line);
}

/* The directive that took longest, the first one entered among equals; NULL: none is left. */
static struct site *longest(void) {
    struct site *best = NULL; /* the list begins with the last one entered */
    for (struct site *s = cu_sites; s; s = s->next)
        if (s->done.instances && s->done.seconds && (!best || s->done.wall >= best->done.wall))
            best = s;
    return best;
}

static void forget(struct site *s) {
    free(s->done.seconds);
    s->done = (struct done){0};
}

void cu_report(void) {
    if (!cu_reports()) return;
    /* a decimal point, whatever the program's locale is */
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    const locale_t before = uselocale(plain);
    for (struct site *s = cu_sites; s; s = s->next)
        for (const struct kept *k = s->kept; k; k = k->next) cu_report_add(s, k->loop);
    int said = 0;
    for (struct site *s; (s = longest()); forget(s), said = 1) say_site(s);
    if (said) say_taken();
    for (struct site *s = cu_sites; s; s = s->next) forget(s);
    uselocale(before);
    if (plain) freelocale(plain);
}
