/* Numbers as users write them: read in one way, whatever locale the program has set, and with a
 * message that says what is wrong and what would be right. A number is decimal digits with at most
 * one point, a sign before and an exponent behind them if wanted; neither "nan", "inf", 0x10 nor
 * 0,5 is one, and nothing may stand before or behind it.
 *
 * All functions give EVN_OK, or EVN_USAGE and leave *out as it was. evn_message() is then a
 * sentence without the text itself, "this is too large; expected a whole number from 0 to 9", to
 * which the caller puts where it stands: "--steps 12: " ... Any thread may call them. */
#ifndef EVENER_NUMBER_H
#define EVENER_NUMBER_H

#include <evener/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a real number may be: from `least` to `max`, INFINITY and -INFINITY where there is no such
 * bound; numbers that are not finite never are. */
typedef struct evn_bounds {
    double least, max;
    int above; /* 1: above `least`, not that itself */
} evn_bounds;

/* A unit that may stand behind a number, and what the number is multiplied with. */
typedef struct evn_scale {
    const char *name; /* "": a number without a unit; NULL ends a list */
    double factor;
} evn_scale;

/* A whole number within [least, max]. */
evn_status evn_read_whole(const char *text, long least, long max, long *out);

/* A real number. */
evn_status evn_read_real(const char *text, evn_bounds bounds, double *out);

/* A real number with one of the units behind it, and nothing between; the bounds are of the
 * product. */
evn_status evn_read_scaled(const char *text, const evn_scale *scale, evn_bounds bounds,
                           double *out);

/* Bytes: 500MB, 1.5GiB; kB MB GB TB are powers of 1000, KiB MiB GiB TiB of 1024, and B or no unit
 * bytes. */
evn_status evn_read_size(const char *text, evn_bounds bounds, double *out);

/* Numbers with commas between them, `exactly` so many unless that is 0. *out is malloc'ed, free()
 * it. EVN_MEMORY besides. */
evn_status evn_read_reals(const char *text, int exactly, evn_bounds bounds, double **out,
                          int *count);

#ifdef __cplusplus
}
#endif
#endif
