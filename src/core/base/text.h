/* Text: numbers and `name:key=value,flag` specifications as users write them. */
#pragma once

#include <evener/number.h>
#include <evener/status.h>

/* Reads a whole decimal number at *p and moves *p behind it; 0, with *p unmoved, if there is none
 * or it exceeds `max`. */
int evn_text_number(const char **p, long max, long *out);

/* One option of a specification: `key=value`, or `key` alone (then value is NULL). */
typedef struct evn_option {
    const char *key, *value;
} evn_option;

enum { EVN_OPTIONS_MAX = 16 };

/* A parsed specification; the pointers point into `copy`. */
typedef struct evn_spec {
    char copy[256];
    const char *name;
    int options;
    evn_option option[EVN_OPTIONS_MAX];
} evn_spec;

/* Parses `name`, `name:a,b=c`. `what` begins the message ("schedule"). EVN_USAGE. */
evn_status evn_spec_parse(evn_spec *spec, const char *what, const char *text);

/* Reads the value of `option` as a whole number in [least, most]; `what` and `text` are for the
 * message. */
evn_status evn_spec_number(const evn_option *option, const char *what, const char *text, long least,
                           long max, long *out);

/* Units of rates (B/s) and of times (s), for evn_spec_scaled(). */
extern const evn_scale evn_rates[], evn_times[];

/* Reads `8GB/s`: a number with one of the units; the bounds are of the product. EVN_USAGE. */
evn_status evn_spec_scaled(const evn_option *option, const char *what, const char *text,
                           const evn_scale *scale, evn_bounds bounds, double *out);
