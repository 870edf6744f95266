/* Reading options by their tables. */
#include "common/cli/options.h"
#include "common/cli/files.h"
#include "common/cli/message.h"
#include <evener/number.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of letters to add, drop or change between two words: a mistyped word gets the nearest
 * one as a suggestion.
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

/* The options that were given, in their order. */
struct given {
    const struct option *option;
    const char *value; /* NULL for flags */
};

static int take_number(const struct option *o, const char *value, long *to) {
    if (!evn_read_whole(value, o->least, o->max, to)) return 0;
    return complain("--%s %s: %s", o->name, value, evn_message());
}

/* One option, argv[*i]; *i moves over its value. */
static int take(const char *command, const struct option_set *sets, int argc, char **argv, int *i,
                struct given *given) {
    const char *word = argv[*i] + 2;
    const size_t length = strcspn(word, "=");
    const char *value = word[length] ? word + length + 1 : NULL;
    char name[64];
    void *set = NULL;
    snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), word);
    const struct option *o = find(sets, -1, word, &set);
    if (!o) return unknown(command, sets, name);
    void *to = (char *)set + o->at;
    *given = (struct given){.option = o};
    if (o->kind == OPTION_FLAG) {
        if (value) return complain("--%s takes no value", name);
        *(int *)to = 1;
        return 0;
    }
    if (!value && *i + 1 < argc && !strncmp(argv[*i + 1], "--", 2))
        return complain("--%s needs a value, and %s looks like an option; --%s=%s if it is meant",
                        name, argv[*i + 1], name, argv[*i + 1]);
    if (!value && *i + 1 < argc) value = argv[++*i];
    if (!value || !*value) return complain("--%s needs a value: --%s %s", name, name, o->value);
    given->value = value;
    if (o->kind == OPTION_NUMBER) return take_number(o, value, to);
    *(const char **)to = value;
    return 0;
}

/* ---- what may be combined ---- */

/* All that was given to a command. */
struct line {
    const char *command;
    const struct option_set *sets;
    const struct given *given;
    int count, words;
};

/* The latest of an option's names, `length` letters of `name`; NULL: it was not given. */
static const struct given *latest(const struct line *l, const char *name, size_t length) {
    for (int i = l->count; i--;) {
        const char *own = l->given[i].option->name;
        if (strlen(own) == length && !strncmp(own, name, length)) return &l->given[i];
    }
    return NULL;
}

/* Whether the option, its value or the command that a rule names was given; `text`: its name in
 * messages. */
static int applies(const struct line *l, const char *rule, char text[80]) {
    if (!strncmp(rule, "evener ", 7)) {
        snprintf(text, 80, "%s", rule);
        return !strcmp(rule + 7, l->command);
    }
    const size_t length = strcspn(rule, "=");
    const struct given *g = latest(l, rule, length);
    if (!g || (rule[length] && strcmp(rule + length + 1, g->value) != 0)) return 0;
    snprintf(text, 80, "--%.*s%s%s", (int)length, rule, rule[length] ? " " : "",
             rule[length] ? g->value : "");
    return 1;
}

/* The next word of a rule's list, *p moves behind it; its length, 0 at the end. */
static size_t next_word(const char **p, const char **word) {
    *word = *p + strspn(*p, " ");
    const size_t length = strcspn(*word, " ");
    *p = *word + length;
    return length;
}

static int needs(const struct line *l, const struct option_rule *r, const char *given) {
    char all[256] = "";
    const char *word;
    for (const char *p = r->others; next_word(&p, &word);) {
        const size_t length = (size_t)(p - word), at = strlen(all);
        if (latest(l, word, length)) return 0;
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        const struct option *o = find(l->sets, -1, name, NULL);
        snprintf(all + at, sizeof all - at, "%s--%s%s%s", at ? " or " : "", name,
                 o && o->value ? " " : "", o && o->value ? o->value : "");
    }
    return complain("%s also needs %s%s%s", given, all, *r->why ? ", " : "", r->why);
}

/* Whether the option is one of a set's: a command's own may have the name of a workload's. */
static int is_of(const struct option_set *set, const struct option *option) {
    for (const struct option *o = set->table; o->name; o++)
        if (o == option) return 1;
    return 0;
}

/* The first of the rule's others that was given is one too many. What a set says of a command is
 * about its own options. */
static int excludes(const struct line *l, const struct option_set *set, const struct option_rule *r,
                    const char *given) {
    const int own = !strncmp(r->given, "evener ", 7);
    const char *word;
    for (const char *p = r->others; next_word(&p, &word);) {
        const int length = (int)(p - word), file = length == 4 && !strncmp(word, "FILE", 4);
        const struct given *other = file ? NULL : latest(l, word, (size_t)length);
        if (file ? !l->words : !other || (own && !is_of(set, other->option))) continue;
        const char *value = other && strchr(r->given, '=') ? other->value : NULL;
        return complain("%s and %s%.*s%s%s do not go together: %s", given, file ? "" : "--", length,
                        word, value ? " " : "", value ? value : "", r->why);
    }
    return 0;
}

static void ignores(const struct line *l, const struct option_rule *r, const char *given) {
    char all[256] = "";
    const char *word;
    for (const char *p = r->others; next_word(&p, &word);) {
        const size_t length = (size_t)(p - word), at = strlen(all);
        if (latest(l, word, length))
            snprintf(all + at, sizeof all - at, "%s--%.*s", at ? ", " : "", (int)length, word);
    }
    if (!*all) return;
    char line[700];
    snprintf(line, sizeof line, "with %s %s changes nothing: %s", given, all, r->why);
    warn_later(line);
}

static int check_rules(const struct line *l) {
    int code = 0;
    for (const struct option_set *s = l->sets; !code && s->table; s++)
        for (const struct option_rule *r = s->rules; !code && r && r->given; r++) {
            char given[80];
            if (!applies(l, r->given, given)) continue;
            if (r->relation == OPTION_NEEDS) code = needs(l, r, given);
            if (r->relation == OPTION_EXCLUDES) code = excludes(l, s, r, given);
            if (r->relation == OPTION_IGNORES) ignores(l, r, given);
        }
    return code;
}

/* ---- files ---- */

/* Whether the files that were given leave each other alone. Of an option that was given twice the
 * latter counts. */
static int check_files(const struct given *given, int count) {
    struct named_file *file = calloc((size_t)count + 1, sizeof *file);
    int files = 0;
    if (!file) return give_up(evn_fail(EVN_MEMORY, "not enough memory for %d options", count));
    for (int i = 0; i < count; i++) {
        const struct option *o = given[i].option;
        if (o->kind < OPTION_INPUT) continue;
        int f = 0;
        while (f < files && strcmp(file[f].option, o->name) != 0) f++;
        file[f] = (struct named_file){o->name, given[i].value, o->kind};
        files += f == files;
    }
    const int code = files_check(file, files);
    free(file);
    return code;
}

/* ---- reading ---- */

int options_read(const char *command, const struct option_set *sets, int argc, char **argv,
                 const char **words, int room, int *count) {
    struct given *given = malloc(sizeof *given * (size_t)(argc + 1));
    if (!given) return give_up(evn_fail(EVN_MEMORY, "not enough memory for %d words", argc));
    int code = 0, options = 0;
    *count = 0;
    for (int i = 1; !code && i < argc; i++) {
        const char *word = argv[i];
        if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
            code = -1;
        } else if (is_option(word)) {
            code = take(command, sets, argc, argv, &i, &given[options++]);
        } else if (*count == room) {
            code = complain("%s: \"%s\" is one word too many; see evener %s --help", command, word,
                            command);
        } else {
            words[(*count)++] = word;
        }
    }
    if (!code) code = check_rules(&(struct line){command, sets, given, options, *count});
    if (!code) code = check_files(given, options);
    free(given);
    return code;
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

/* Whether a command does not take an option at all. */
static int is_excluded(const char *command, const struct option_set *sets,
                       const struct option *option) {
    const char *name = option->name;
    for (; sets->table; sets++)
        for (const struct option_rule *r = sets->rules; r && r->given; r++) {
            if (!is_of(sets, option)) break;
            if (r->relation != OPTION_EXCLUDES || strncmp(r->given, "evener ", 7) != 0 ||
                strcmp(r->given + 7, command) != 0)
                continue;
            const char *word;
            for (const char *p = r->others; next_word(&p, &word);)
                if (strlen(name) == (size_t)(p - word) && !strncmp(word, name, strlen(name)))
                    return 1;
        }
    return 0;
}

void options_help(const char *command, const struct option_set *sets, int i) {
    for (const struct option *o = sets[i].table; o->name; o++) {
        char left[64];
        if (find(sets, i, o->name, NULL) || is_excluded(command, sets, o)) continue;
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        printf("  %-22s %s\n", left, o->help);
    }
}

int options_read_plain(const char *command, const char *usage, struct option_set set, int argc,
                       char **argv) {
    const struct option_set sets[] = {set, {0}};
    const char *word;
    int words;
    const int code = options_read(command, sets, argc, argv, &word, 0, &words);
    if (code >= 0) return code;
    printf("%s\n\n", usage);
    options_help(command, sets, 0);
    return -1;
}

/* ---- values ---- */

int options_class(const char *workload, const char *text, char *class_) {
    *class_ = text ? text[0] : 'S';
    if (!text || strlen(text) == 1) return 0;
    return complain("%s: there is no class \"%s\", expected one of S W A B C D E F", workload,
                    text);
}

int options_list(struct option_list *list, const char *option, const char *text) {
    list->count = 0;
    if (strlen(text) >= sizeof list->copy)
        return complain("--%s %s: longer than %zu characters", option, text, sizeof list->copy - 1);
    strcpy(list->copy, text);
    for (char *p = list->copy, *next; p; p = next) {
        if ((next = strchr(p, ','))) *next++ = 0;
        int twice = 0;
        for (int i = 0; i < list->count; i++) twice |= !strcmp(list->word[i], p);
        if (*p && !twice && list->count < OPTION_WORDS) {
            list->word[list->count++] = p;
            continue;
        }
        if (!*p)
            complain("--%s %s: item %d is empty; expected words with commas between them", option,
                     text, list->count + 1);
        else if (twice)
            complain("--%s %s: \"%s\" is there twice; name it once", option, text, p);
        else
            complain("--%s %s: more than %d words", option, text, OPTION_WORDS);
        return EXIT_USAGE;
    }
    return 0;
}
