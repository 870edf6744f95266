/* Clock differences between ranks of different hosts and rank 0.
 *
 * Ranks of one host share CLOCK_MONOTONIC. For another rank, rank 0 reads its clock, asks for the
 * other's, and reads its clock again, several times; the shortest round trip bounds the error best:
 * the other clock was read in between, so its middle is wrong by at most half of it. This is done
 * at the begin and at the end, with linear interpolation between. */
#pragma once

enum { CLOCK_READINGS = 32 };

/* Rank 0's time before and after, and the other's in between. */
struct clock_reading {
    double before, there, after;
};

/* At time `there` of the other clock rank 0's clock was ahead by `behind`, within `uncertainty`. */
struct clock_point {
    double there, behind, uncertainty;
};

/* Evaluates n readings (at least 1) by the best one. */
struct clock_point clock_point(int n, const struct clock_reading *reading);

/* Another rank's clock, from two points; two zeros if the clock is shared. */
struct clock_line {
    struct clock_point begin, end;
};

/* Converts a time of the other clock to rank 0's; and the larger uncertainty of the two points. */
double clock_here(const struct clock_line *line, double there);
double clock_uncertainty(const struct clock_line *line);
