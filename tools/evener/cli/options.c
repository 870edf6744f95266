/* Reading options by their table. */
#include "cli/options.h"
#include "cli/command.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of letters to add, drop or change between two words: who mistypes wants the nearest.
 */
static int distance(const char *a, const char *b) {
    int n = (int)strlen(b), row[64];
    if (n >= 63) return 99;
    for (int j = 0; j <= n; j++) row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

static int unknown(const char *command, const struct option *table, const char *name) {
    const struct option *nearest = NULL;
    int least = 4;
    for (const struct option *o = table; o->name; o++) {
        int d = distance(name, o->name);
        if (d < least) {
            least = d;
            nearest = o;
        }
    }
    if (nearest)
        complain("%s has no option --%s; did you mean --%s?", command, name, nearest->name);
    else
        complain("%s has no option --%s; see evener %s --help", command, name, command);
    return EXIT_USAGE;
}

static int take_number(const struct option *o, const char *value) {
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    if (end == value || *end || errno || n < o->least || n > o->max) {
        if (o->max == __LONG_MAX__)
            complain("--%s %s: expected a whole number from %ld", o->name, value, o->least);
        else
            complain("--%s %s: expected a whole number from %ld to %ld", o->name, value, o->least,
                     o->max);
        return EXIT_USAGE;
    }
    *(long *)o->to = n;
    return 0;
}

int options_read(const char *command, const struct option *table, int argc, char **argv,
                 const char **words, int room, int *count) {
    *count = 0;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!strcmp(word, "--help") || !strcmp(word, "-h")) return -1;
        if (strncmp(word, "--", 2) != 0 || !word[2]) {
            if (*count == room) {
                complain("%s: \"%s\" is one word too many; see evener %s --help", command, word,
                         command);
                return EXIT_USAGE;
            }
            words[(*count)++] = word;
            continue;
        }
        char name[64];
        size_t length = strcspn(word + 2, "=");
        snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), word + 2);
        const char *value = word[2 + length] ? word + 3 + length : NULL;
        const struct option *o = table;
        while (o->name && strcmp(o->name, name) != 0) o++;
        if (!o->name) return unknown(command, table, name);
        if (o->kind == OPTION_FLAG) {
            if (value) {
                complain("--%s takes no value", name);
                return EXIT_USAGE;
            }
            *(int *)o->to = 1;
            continue;
        }
        if (!value && i + 1 < argc) value = argv[++i];
        if (!value || !*value) {
            complain("--%s needs a value: --%s %s", name, name, o->value);
            return EXIT_USAGE;
        }
        if (o->kind == OPTION_TEXT) {
            *(const char **)o->to = value;
        } else {
            int wrong = take_number(o, value);
            if (wrong) return wrong;
        }
    }
    return 0;
}

void options_help(const struct option *table) {
    for (const struct option *o = table; o->name; o++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        printf("  %-22s %s\n", left, o->help);
    }
}
