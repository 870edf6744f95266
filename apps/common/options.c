/* Reading options by their tables. */
#include "common/options.h"
#include "common/files.h"
#include "common/message.h"
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

/* The option of that name (ended by a 0, or by an =), in one of the first `count` sets (-1: all),
 * and what it is to fill. */
static const struct option *find(const struct option_set *sets, int count, const char *name,
                                 void **to) {
    const size_t length = strcspn(name, "=");
    for (int s = 0; s != count && sets[s].table; s++)
        for (const struct option *o = sets[s].table; o->name; o++)
            if (strlen(o->name) == length && !strncmp(o->name, name, length)) {
                if (to) *to = sets[s].to;
                return o;
            }
    return NULL;
}

static int is_option(const char *word) { return !strncmp(word, "--", 2) && word[2]; }

static int unknown(const char *command, const struct option_set *sets, const char *name) {
    const struct option *nearest = NULL;
    int least = 4;
    for (; sets->table; sets++)
        for (const struct option *o = sets->table; o->name; o++) {
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

static int take_number(const struct option *o, const char *value, long *to) {
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
    *to = n;
    return 0;
}

/* One option, argv[*i]; *i moves over its value. */
static int take(const char *command, const struct option_set *sets, int argc, char **argv, int *i) {
    const char *word = argv[*i] + 2;
    const size_t length = strcspn(word, "=");
    const char *value = word[length] ? word + length + 1 : NULL;
    char name[64];
    void *set = NULL;
    snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), word);
    const struct option *o = find(sets, -1, word, &set);
    if (!o) return unknown(command, sets, name);
    void *to = (char *)set + o->at;
    if (o->kind == OPTION_FLAG) {
        if (value) {
            complain("--%s takes no value", name);
            return EXIT_USAGE;
        }
        *(int *)to = 1;
        return 0;
    }
    if (!value && *i + 1 < argc && !strncmp(argv[*i + 1], "--", 2)) {
        complain("--%s needs a value, and %s looks like an option; --%s=%s if it is meant", name,
                 argv[*i + 1], name, argv[*i + 1]);
        return EXIT_USAGE;
    }
    if (!value && *i + 1 < argc) value = argv[++*i];
    if (!value || !*value) {
        complain("--%s needs a value: --%s %s", name, name, o->value);
        return EXIT_USAGE;
    }
    if (o->kind == OPTION_NUMBER) return take_number(o, value, to);
    *(const char **)to = value;
    return 0;
}

/* Whether the files that were given, by options that were read, leave each other alone. Of an
 * option that was given twice the latter counts. */
static int check_files(const struct option_set *sets, int argc, char **argv) {
    struct named_file *file = calloc((size_t)argc + 1, sizeof *file);
    int count = 0;
    if (!file) return give_up(evn_fail(EVN_MEMORY, "not enough memory for %d words", argc));
    for (int i = 1; i < argc; i++) {
        const struct option *o = is_option(argv[i]) ? find(sets, -1, argv[i] + 2, NULL) : NULL;
        if (!o || o->kind == OPTION_FLAG) continue;
        const char *value = strchr(argv[i], '=');
        value = value ? value + 1 : argv[++i];
        if (o->kind < OPTION_INPUT) continue;
        int f = 0;
        while (f < count && strcmp(file[f].option, o->name) != 0) f++;
        file[f] = (struct named_file){o->name, value, o->kind};
        count += f == count;
    }
    const int code = files_check(file, count);
    free(file);
    return code;
}

int options_read(const char *command, const struct option_set *sets, int argc, char **argv,
                 const char **words, int room, int *count) {
    int code = 0;
    *count = 0;
    for (int i = 1; !code && i < argc; i++) {
        const char *word = argv[i];
        if (!strcmp(word, "--help") || !strcmp(word, "-h")) return -1;
        if (is_option(word)) {
            code = take(command, sets, argc, argv, &i);
        } else if (*count == room) {
            complain("%s: \"%s\" is one word too many; see evener %s --help", command, word,
                     command);
            code = EXIT_USAGE;
        } else {
            words[(*count)++] = word;
        }
    }
    return code ? code : check_files(sets, argc, argv);
}

int options_words(const struct option_set *sets, int argc, char **argv, const char **words,
                  int room) {
    int count = 0;
    for (int i = 1; i < argc && count < room; i++) {
        if (!strcmp(argv[i], "-h")) continue;
        if (!is_option(argv[i])) {
            words[count++] = argv[i];
            continue;
        }
        const struct option *o = find(sets, -1, argv[i] + 2, NULL);
        i += o && o->kind != OPTION_FLAG && !strchr(argv[i], '=');
    }
    return count;
}

void options_help(const struct option_set *sets, int i) {
    for (const struct option *o = sets[i].table; o->name; o++) {
        char left[64];
        if (find(sets, i, o->name, NULL)) continue;
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        printf("  %-22s %s\n", left, o->help);
    }
}

int options_read_plain(const char *command, const char *usage, const struct option *table, void *to,
                       int argc, char **argv) {
    const struct option_set sets[] = {{table, to}, {0}};
    const char *word;
    int words;
    const int code = options_read(command, sets, argc, argv, &word, 0, &words);
    if (code >= 0) return code;
    printf("%s\n\n", usage);
    options_help(sets, 0);
    return -1;
}
