/* Units by host. */
#include "machine/units_file.h"
#include "common/cli/lines.h"
#include "common/cli/message.h"
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLANKS " \t\r\v\f"

/* A number with at least `digits` digits at p; where it ends, NULL if there is none. */
static const char *number_at(const char *p, int *digits, long *out) {
    char *end;
    if (!isdigit((unsigned char)*p)) return NULL;
    *out = strtol(p, &end, 10);
    if (digits) *digits = (int)(end - p);
    return end;
}

/* Whether a number of the host is one of the pattern's [..], of which p is behind the bracket. */
static int is_among(const char *p, const char *close, long number, int digits) {
    while (p < close) {
        long from, to;
        int wide;
        p = number_at(p, &wide, &from);
        if (!p) return 0;
        to = from;
        if (*p == '-' && !(p = number_at(p + 1, NULL, &to))) return 0;
        const int fits = digits == wide || (digits > wide && wide == 1);
        if (fits && number >= from && number <= to) return 1;
        if (*p == ',') p++;
    }
    return 0;
}

static int matches(const char *pattern, const char *host) {
    for (; *pattern; pattern++) {
        if (*pattern == '*') {
            for (const char *h = host;; h++) {
                if (matches(pattern + 1, h)) return 1;
                if (!*h) return 0;
            }
        }
        if (*pattern == '[') {
            const char *close = strchr(pattern, ']');
            long number;
            int digits;
            const char *end = number_at(host, &digits, &number);
            if (!close || !end || !is_among(pattern + 1, close, number, digits)) return 0;
            host = end;
            pattern = close;
            continue;
        }
        if (!*host || (*pattern != '?' && *pattern != *host)) return 0;
        host++;
    }
    return !*host;
}

/* The line of the host. */
static int find_line(struct lines *in, const char *name, const char *host, char **list) {
    int code;
    for (char *line; (line = lines_next(in, name, &code));) {
        char *state = NULL, *whole = line;
        line[strcspn(line, "#")] = 0;
        if (!line[strspn(line, BLANKS)]) continue;
        char *text = strdup(whole); /* strtok_r() cuts it */
        if (!text) return give_up(evn_fail(EVN_MEMORY, "not enough memory"));
        const char *pattern = strtok_r(text, BLANKS, &state),
                   *units = strtok_r(NULL, BLANKS, &state);
        const int two = units && !strtok_r(NULL, BLANKS, &state);
        const int is_it = two && matches(pattern, host);
        if (!two)
            complain("%s: line %d is \"%s\", expected a host or pattern and a list of "
                     "units, as node[01-04] 2:GPU:1,1:CPU:30",
                     name, in->number, line);
        if (is_it) *list = strdup(units);
        free(text);
        if (!two) return EXIT_USAGE;
        if (is_it) return *list ? 0 : give_up(evn_fail(EVN_MEMORY, "not enough memory"));
    }
    if (!code)
        complain("%s: no line is for host %s; a last line \"* auto\" is for all others", name,
                 host);
    return EXIT_USAGE;
}

int units_file_list(const char *words, const char *host, char **list) {
    const char *file = *words == '@' ? words + 1 : words;
    *list = NULL;
    if (*words != '@' && (strchr(words, ':') || !strcmp(words, "auto") || access(words, R_OK))) {
        *list = strdup(words);
        return *list ? 0 : give_up(evn_fail(EVN_MEMORY, "not enough memory"));
    }
    char name[PATH_MAX + 16];
    snprintf(name, sizeof name, "--units @%s", file);
    struct lines *in = lines_open(name, file);
    const int code = in ? find_line(in, name, host, list) : EXIT_USAGE;
    lines_close(in);
    return code;
}
