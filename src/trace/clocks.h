/* The clocks of ranks on different hosts: how far each is behind rank 0's.
 *
 * Ranks of one host share CLOCK_MONOTONIC. For another rank 0 takes the time, hears the other's,
 * and takes the time again, some times over; of these readings the one that took least says most:
 * the other's clock was read somewhere between, so the middle is wrong by half of it at most. That
 * is done at the begin and at the end, and between the two the difference goes along a line. */
#ifndef TRACE_CLOCKS_H
#define TRACE_CLOCKS_H

enum { CLOCK_READINGS = 32 };

/* Rank 0's time before and after, and the other's between. */
struct clock_reading {
    double before, there, after;
};

/* At `there` of the other's clock rank 0's was `behind` more, give or take `uncertainty`. */
struct clock_point {
    double there, behind, uncertainty;
};

/* What the best of n readings says; n at least 1. */
struct clock_point clock_point(int n, const struct clock_reading *reading);

/* The other's clock, from two points. Ranks that share a clock have two zeros. */
struct clock_line {
    struct clock_point begin, end;
};

/* A moment of the other's clock on rank 0's; the larger uncertainty of the two points. */
double clock_here(const struct clock_line *line, double there);
double clock_uncertainty(const struct clock_line *line);

#endif
