/* Clocks: readings, and the line between two points. */
#include "trace/clocks.h"

static double took(const struct clock_reading *r) { return r->after - r->before; }

struct clock_point clock_point(int n, const struct clock_reading *reading) {
    const struct clock_reading *best = reading;
    for (int i = 1; i < n; i++)
        if (took(&reading[i]) < took(best)) best = &reading[i];
    return (struct clock_point){.there = best->there,
                                .behind = best->before + 0.5 * took(best) - best->there,
                                .uncertainty = 0.5 * took(best)};
}

double clock_here(const struct clock_line *line, double there) {
    const struct clock_point *a = &line->begin, *b = &line->end;
    const double length = b->there - a->there;
    const double share = length > 0 ? (there - a->there) / length : 0;
    return there + a->behind + share * (b->behind - a->behind);
}

double clock_uncertainty(const struct clock_line *line) {
    const double a = line->begin.uncertainty, b = line->end.uncertainty;
    return a > b ? a : b;
}
