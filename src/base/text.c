/* Taking apart what users write. */
#include "base/text.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int evn_text_number(const char **p, long max, long *out) {
    const char *c = *p;
    long n = 0;
    if (!isdigit((unsigned char)*c)) return 0;
    for (; isdigit((unsigned char)*c); c++) {
        int digit = *c - '0';
        if (digit > max || n > (max - digit) / 10) return 0;
        n = 10 * n + digit;
    }
    *p = c;
    *out = n;
    return 1;
}

evn_status evn_spec_parse(evn_spec *spec, const char *what, const char *text) {
    if (strlen(text) >= sizeof spec->copy)
        return evn_fail(EVN_USAGE, "%s: \"%.20s..\": longer than %zu characters", what, text,
                        sizeof spec->copy - 1);
    strcpy(spec->copy, text);
    spec->name = spec->copy;
    spec->options = 0;
    char *rest = strchr(spec->copy, ':');
    if (rest) *rest++ = 0;
    while (rest) {
        char *next = strchr(rest, ',');
        if (next) *next++ = 0;
        if (!*rest)
            return evn_fail(EVN_USAGE,
                            "%s: \"%s\": an option is empty, expected name:option,key=value", what,
                            text);
        if (spec->options == EVN_OPTIONS_MAX)
            return evn_fail(EVN_USAGE, "%s: \"%s\": more than %d options", what, text,
                            EVN_OPTIONS_MAX);
        evn_option *option = &spec->option[spec->options++];
        char *equals = strchr(rest, '=');
        if (equals) *equals++ = 0;
        option->key = rest;
        option->value = equals;
        rest = next;
    }
    return EVN_OK;
}

evn_status evn_spec_number(const evn_option *option, const char *what, const char *text, long least,
                           long max, long *out) {
    const char *p = option->value;
    if (p && evn_text_number(&p, max, out) && !*p && *out >= least) return EVN_OK;
    return evn_fail(EVN_USAGE, "%s: \"%s\": %s must be a whole number from %ld to %ld, not \"%s\"",
                    what, text, option->key, least, max, option->value ? option->value : "");
}

const evn_scale evn_rates[] = {{"TB/s", 1e12},       {"GB/s", 1e9},     {"MB/s", 1e6},
                               {"kB/s", 1e3},        {"B/s", 1},        {"GiB/s", 1073741824},
                               {"MiB/s", 1048576.0}, {"KiB/s", 1024.0}, {NULL, 0}};
const evn_scale evn_times[] = {{"ps", 1e-12}, {"ns", 1e-9}, {"us", 1e-6},
                               {"ms", 1e-3},  {"s", 1},     {NULL, 0}};
const evn_scale evn_sizes[] = {{"GiB", 1073741824}, {"MiB", 1048576}, {"KiB", 1024}, {"GB", 1e9},
                               {"MB", 1e6},         {"kB", 1e3},      {"B", 1},      {NULL, 0}};
const evn_scale evn_numbers[] = {{"", 1}, {NULL, 0}};

evn_status evn_spec_quantity(const evn_option *option, const char *what, const char *text,
                             const evn_scale *scale, double least, double max, double *out) {
    const char *value = option->value ? option->value : "";
    char *unit = (char *)value;
    double number = -1;
    /* strtod() would take "nan", "inf" and hexadecimal numbers too */
    if (*value >= '0' && *value <= '9' && value[1] != 'x' && value[1] != 'X')
        number = strtod(value, &unit);
    char names[96] = "";
    for (const evn_scale *s = scale; s->name; s++) {
        if (!strcmp(unit, s->name) && number >= 0) {
            double n = number * s->factor;
            if (n >= least && n <= max) {
                *out = n;
                return EVN_OK;
            }
        }
        size_t end = strlen(names);
        snprintf(names + end, sizeof names - end, "%s%s", end ? ", " : "", s->name);
    }
    return evn_fail(EVN_USAGE, "%s: \"%s\": %s=%s must be a number from %g to %g%s%s", what, text,
                    option->key, value, least, max,
                    *names ? " in base units, written with one of " : "", names);
}
