/* Units by host. */
#include "workload/units_file.h"
#include "common/message.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 1024 };

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
static int find_line(FILE *in, const char *file, const char *host, char **list) {
    char line[LINE], pattern[LINE], text[LINE], more[2];
    for (int number = 1; fgets(line, sizeof line, in); number++) {
        line[strcspn(line, "#\n")] = 0;
        const int words = sscanf(line, "%1023s %1023s %1s", pattern, text, more);
        if (words <= 0) continue;
        if (words != 2) {
            complain("--units %s: line %d is \"%s\", expected a host or pattern and a list of "
                     "units, as node[01-04] 2:GPU:1,1:CPU:30",
                     file, number, line);
            return EXIT_USAGE;
        }
        if (!matches(pattern, host)) continue;
        *list = strdup(text);
        return *list ? 0 : give_up(evn_fail(EVN_MEMORY, "not enough memory"));
    }
    complain("--units %s: no line is for host %s; a last line \"* auto\" is for all others", file,
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
    FILE *in = fopen(file, "r");
    if (!in) {
        complain("--units @%s cannot be read: %s", file, strerror(errno));
        return EXIT_USAGE;
    }
    const int code = find_line(in, file, host, list);
    fclose(in);
    return code;
}
