/* For tools: numbers as users write them, read the same way in every locale, with a message for
 * wrong ones. A number is decimal digits with at most one point, an optional sign and an optional
 * exponent; "nan", "inf", 0x10 and 0,5 are not numbers, and no other character may surround it.
 *
 * All functions return EVN_OK, or EVN_USAGE and leave *out unchanged. evn_message() is then a
 * sentence without the text, "this is too large; expected a whole number from 0 to 9"; the caller
 * puts the place before it: "--steps 12: " ... Any thread may call them. */
#ifndef EVENER_NUMBER_H
#define EVENER_NUMBER_H

#include <evener/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The range of a real number, from `least` to `max`; INFINITY and -INFINITY for no bound. Numbers
 * that are not finite are always refused. */
typedef struct evn_bounds {
    double least, max;
    int above; /* 1: `least` itself is refused */
} evn_bounds;

/* A unit of measure behind a number, and its factor. */
typedef struct evn_scale {
    const char *name; /* "": a number without a unit; NULL ends a list */
    double factor;
} evn_scale;

/* A whole number within [least, max]. */
evn_status evn_read_whole(const char *text, long least, long max, long *out);

/* A real number. */
evn_status evn_read_real(const char *text, evn_bounds bounds, double *out);

/* A real number immediately followed by one of the units; the bounds hold for the product. */
evn_status evn_read_scaled(const char *text, const evn_scale *scale, evn_bounds bounds,
                           double *out);

/* Bytes: 500MB, 1.5GiB. kB MB GB TB are powers of 1000, KiB MiB GiB TiB of 1024; B or no unit is
 * bytes. */
evn_status evn_read_size(const char *text, evn_bounds bounds, double *out);

/* Numbers separated by commas, `exactly` so many unless that is 0. *out is malloc'ed; free() it.
 * Also EVN_MEMORY. */
evn_status evn_read_reals(const char *text, int exactly, evn_bounds bounds, double **out,
                          int *count);

#ifdef __cplusplus
}
#endif
#endif
