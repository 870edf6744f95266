/* Taking apart what users write. */
#include "base/text.h"
#include <ctype.h>
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
