/* Checks of the clauses of a directive of ours, with a message for each mistake. */
#include "directive.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ON_TEAMS = 1, ON_TEAMS_LOOP = 2, ON_DISTRIBUTE = 4, ON_LOOPS = 6, ON_ALL = 7 };

static const struct rule {
    const char *name;
    int where, once;
} rules[] = {[K_NUM_TEAMS] = {"num_teams", 3, 1},
             [K_THREAD_LIMIT] = {"thread_limit", 3, 1},
             [K_PRIVATE] = {"private", ON_ALL, 0},
             [K_FIRSTPRIVATE] = {"firstprivate", ON_ALL, 0},
             [K_LASTPRIVATE] = {"lastprivate", ON_LOOPS, 0},
             [K_SHARED] = {"shared", 3, 0},
             [K_DEFAULT] = {"default", 3, 1},
             [K_ALLOCATE] = {"allocate", ON_ALL, 0},
             [K_REDUCTION] = {"reduction", ON_ALL, 0},
             [K_COLLAPSE] = {"collapse", ON_LOOPS, 1},
             [K_ORDER] = {"order", ON_LOOPS, 1},
             [K_BIND] = {"bind", ON_LOOPS, 1},
             [K_SCHEDULE] = {"dist_schedule", ON_LOOPS, 1},
             [K_WEIGHT] = {"weight", ON_LOOPS, 1},
             [K_KEY] = {"key", ON_TEAMS_LOOP, 1},
             [K_AFFINITY] = {"affinity", ON_TEAMS_LOOP, 1},
             [K_SPEED] = {"speed", ON_LOOPS, 1},
             [K_BATCH] = {"batch", ON_LOOPS, 1}};

static const char *construct_name(const struct directive *d) {
    if (d->construct == C_TEAMS) return "teams";
    if (d->construct == C_TEAMS_LOOP) return d->by_loop ? "teams loop" : "teams distribute";
    return d->by_loop ? "loop" : "distribute";
}

static int where(const struct directive *d) {
    return d->construct == C_TEAMS        ? ON_TEAMS
           : d->construct == C_TEAMS_LOOP ? ON_TEAMS_LOOP
                                          : ON_DISTRIBUTE;
}

void look_for_list(struct source *s, const struct directive *d) {
    const struct tokens *t = &d->tokens;
    static const char *const others[] = {"parallel", "for", "do", "simd", "taskloop"};
    int known = 0;
    for (int i = 0; i < 5 && t->count > 2; i++) known |= token_is(s, &t->at[2], others[i]);
    if (d->construct != C_OTHER || !known) return;
    for (int i = 2; i + 1 < t->count; i++) {
        if (!token_is(s, &t->at[i], "num_teams") || !token_is(s, &t->at[i + 1], "(")) continue;
        for (int k = i + 3; k + 1 < t->count && !token_is(s, &t->at[k], ")"); k++)
            if (family_of(s, &t->at[k]) >= 0 && token_is(s, &t->at[k - 1], ":")) {
                error(s, t->at[i].begin,
                      "num_teams: a list of units belongs to teams or teams distribute; %.*s has "
                      "none",
                      token_length(&t->at[2]), token_letters(s, &t->at[2]));
                return;
            }
    }
}

/* The word that may stand here and is nearest to what does, or NULL. */
static const char *meant(const struct source *s, const struct directive *d, const struct token *t) {
    char word[32];
    snprintf(word, sizeof word, "%.*s", token_length(t) > 30 ? 30 : token_length(t),
             token_letters(s, t));
    for (char *c = word; s->fortran && *c; c++) *c = (char)tolower((unsigned char)*c);
    const char *best = NULL;
    int least = 3;
    for (int k = 0; k < K_OMP_CU; k++) {
        if (!(rules[k].where & where(d))) continue;
        const int distance = word_distance(word, rules[k].name);
        if (distance < least) {
            least = distance;
            best = rules[k].name;
        }
    }
    if (where(d) != ON_TEAMS && word_distance(word, "schedule") < least) best = "dist_schedule";
    if (d->construct == C_TEAMS && word_distance(word, "distribute") < least) best = "distribute";
    return best;
}

/* Whether the clause may stand in this directive at all. */
static int allowed(struct source *s, const struct directive *d, const struct clause *c) {
    const char *name = construct_name(d);
    if (c->kind == K_NONE || c->kind == K_OMP_CU || !(rules[c->kind].where & where(d))) {
        const char *word = meant(s, d, &c->name);
        if (d->construct == C_DISTRIBUTE && token_is(s, &c->name, "teams")) {
            error(s, c->name.begin, "teams stands before %s: write teams %s", name, name);
            return 0;
        }
        if (c->kind == K_KEY && d->construct == C_DISTRIBUTE) {
            error(s, c->name.begin,
                  "key: tasks cannot come and go within a teams block; write teams %s as one "
                  "directive",
                  name);
            return 0;
        }
        error(s, c->name.begin, "\"%.*s\" is no clause of %s%s%s%s", token_length(&c->name),
              token_letters(s, &c->name), name, word ? "; did you mean " : "", word ? word : "",
              word ? "?" : "");
        return 0;
    }
    if (c->in.count < 0) {
        error(s, c->in.at[-1].begin, "this parenthesis is not closed");
        return 0;
    }
    if (c->end == c->name.end || !c->in.count) {
        error(s, c->name.begin, "%s: expected something in parentheses behind it",
              rules[c->kind].name);
        return 0;
    }
    for (int i = 0; &d->clause[i] != c && rules[c->kind].once; i++)
        if (d->clause[i].kind == c->kind) {
            error(s, c->name.begin, "%s: given twice; the first one is in line %d",
                  rules[c->kind].name, source_user_line(s, d->clause[i].name.begin));
            return 0;
        }
    return 1;
}

/* One COUNT:FAMILY:SIZE, where a colon may be two. */
static int read_group(struct source *s, struct run part, struct group *group) {
    int colon[2], behind[2], n = 0;
    const int named = run_find(s, part, 0, "@");
    if (named >= 0) {
        error(s, part.at[named].begin,
              "num_teams: a directive names no cores, which are a machine's; set EVENER_UNITS, as "
              "to 2:CPU:4@0-7");
        return 0;
    }
    for (int i = run_find(s, part, 0, ":"); i >= 0;) {
        int next = i + 1;
        const int apart = s->cxx && next < part.count && part.at[next].begin > part.at[i].end;
        if (next < part.count && token_is(s, &part.at[next], ":") && !apart) next++;
        if (n == 2) {
            n = 3;
            break;
        }
        colon[n] = i;
        behind[n++] = next;
        i = run_find(s, part, next, ":");
    }
    const int at = part.count ? part.at[0].begin : part.at[-1].begin;
    if (n != 2 || colon[1] != behind[0] + 1 || part.at[behind[0]].kind != T_NAME) {
        error(s, at, "num_teams: expected COUNT:FAMILY:SIZE as in 4:CPU:4");
        return 0;
    }
    const struct token *name = &part.at[behind[0]];
    const int family = family_of(s, name);
    if (family < 0) {
        error(s, name->begin, "num_teams: unknown family \"%.*s\", expected CPU, GPU or FPGA",
              token_length(name), token_letters(s, name));
    } else if (!colon[0]) {
        error(s, at, "num_teams: how many units? expected a number before this");
    } else if (behind[1] == part.count) {
        error(s, part.at[colon[1]].begin,
              "num_teams: of how many cores or devices? expected a number behind this");
    } else {
        group->gpu = family;
        group->count = run_range(run_of(part, 0, colon[0]));
        group->size = run_range(run_of(part, behind[1], part.count));
        return 1;
    }
    return 0;
}

/* CPU groups first, whatever the order they are written in. */
static void check_units(struct source *s, struct directive *d, const struct clause *c) {
    if (c->in.count == 1 && token_is(s, &c->in.at[0], "auto")) return;
    int at = 0;
    struct run part;
    while (run_part(s, c->in, &at, &part)) {
        struct group group;
        if (!read_group(s, part, &group)) continue;
        d->group = more(d->group, (size_t)(d->groups + 1) * sizeof *d->group);
        int i = d->groups++;
        for (; i > 0 && !group.gpu && d->group[i - 1].gpu; i--) d->group[i] = d->group[i - 1];
        d->group[i] = group;
    }
}

struct run reduction_operator(const struct source *s, const struct clause *c, struct run *names) {
    int from = 0;
    if (c->in.count > 1 && token_is(s, &c->in.at[0], "default") && token_is(s, &c->in.at[1], ","))
        from = 2;
    const int colon = run_find(s, c->in, from, ":");
    if (colon < 0) return run_of(c->in, 0, 0);
    *names = run_of(c->in, colon + 1, c->in.count);
    return run_of(c->in, from, colon);
}

static void check_names(struct source *s, const char *what, struct run in, const char *expected) {
    int at = 0;
    struct run part;
    struct token name;
    while (run_part(s, in, &at, &part))
        if (!run_name(s, part, &name))
            error(s, part.count ? part.at[0].begin : part.at[-1].begin, "%s: %s", what, expected);
}

/* A name in two reductions, or in a reduction and in another list: which of the two would count? */
static void check_once(struct source *s, const struct directive *d, const struct token *name) {
    static const enum clause_kind lists[] = {K_REDUCTION, K_PRIVATE, K_FIRSTPRIVATE, K_LASTPRIVATE,
                                             K_SHARED};
    for (int i = 0; i < d->clauses; i++) {
        const struct clause *c = &d->clause[i];
        struct run in = c->in, part;
        int at = 0, is_list = 0;
        for (int k = 0; k < 5; k++) is_list |= c->kind == lists[k];
        if (!is_list || in.count < 0) continue;
        if (c->kind == K_REDUCTION && !reduction_operator(s, c, &in).count) continue;
        while (run_part(s, in, &at, &part)) {
            struct section item;
            if (!run_section(s, part, &item) || !token_same(s, &item.name, name)) continue;
            if (c->kind == K_REDUCTION && item.name.begin >= name->begin) continue;
            error(s, name->begin, "reduction: \"%.*s\" is in the %s of line %d, too",
                  token_length(name), token_letters(s, name), rules[c->kind].name,
                  source_user_line(s, part.at[0].begin));
            return;
        }
    }
}

static void check_reduction(struct source *s, const struct directive *d, const struct clause *c) {
    static const char *const of_c[] = {"+",  "-",  "*",   "&",   "|", "^",
                                       "&&", "||", "min", "max", NULL};
    static const char *const of_fortran[] = {"+",     "-",    "*",     "min",    "max",
                                             ".and.", ".or.", ".eqv.", ".neqv.", "iand",
                                             "ior",   "ieor", NULL};
    const char *const *known = s->fortran ? of_fortran : of_c;
    if (d->construct == C_DISTRIBUTE) {
        error(s, c->name.begin, "reduction: of units in a teams block belongs to the teams");
        return;
    }
    struct run names = {0};
    const struct run op = reduction_operator(s, c, &names);
    if (!op.count || !names.count) {
        error(s, c->in.at[0].begin, "reduction: expected OPERATOR : variables");
        return;
    }
    int found = 0;
    for (int i = 0; known[i] && op.count == 1; i++) found |= token_is(s, &op.at[0], known[i]);
    if (!found)
        error(s, op.at[0].begin, "reduction: unknown operator \"%.*s\", expected %s",
              op.at[op.count - 1].end - op.at[0].begin, token_letters(s, &op.at[0]),
              s->fortran ? "+ - * .and. .or. .eqv. .neqv. iand ior ieor min or max"
                         : "+ - * & | ^ && || min or max");
    int at = 0;
    struct run part;
    struct section item;
    while (run_part(s, names, &at, &part)) {
        if (run_section(s, part, &item))
            check_once(s, d, &item.name);
        else
            error(s, part.count ? part.at[0].begin : part.at[-1].begin,
                  "reduction: expected a variable%s",
                  s->fortran ? ", array sections are not supported"
                             : ", an element a[i], or a section of one dimension a[first:length]");
    }
}

struct run schedule_kind(const struct source *s, const struct clause *c, struct run *rest) {
    int comma = run_find(s, c->in, 0, ",");
    if (comma < 0) comma = c->in.count;
    *rest =
        comma < c->in.count ? run_of(c->in, comma + 1, c->in.count) : run_of(c->in, comma, comma);
    return run_of(c->in, 0, comma);
}

void put_schedule(struct text *out, const struct source *s, const struct directive *d) {
    const struct clause *c = directive_find(d, K_SCHEDULE);
    struct run rest;
    if (!c) {
        put(out, directive_learns(d) ? "auto" : "static");
        return;
    }
    const struct run kind = schedule_kind(s, c, &rest);
    for (int i = 0; i < kind.count; i++)
        for (int k = kind.at[i].begin; k < kind.at[i].end; k++)
            put(out, "%c", s->fortran ? tolower((unsigned char)s->text[k]) : s->text[k]);
}

/* The item of a reduction with this name, and its operator; the name alone where there is none. */
static struct section find_item(const struct source *s, const struct directive *d,
                                const struct token *name, struct token *op) {
    struct section item;
    *op = *name;
    for (int i = 0; i < d->clauses; i++) {
        struct run names = {0}, part;
        int at = 0;
        if (d->clause[i].kind != K_REDUCTION) continue;
        const struct run found = reduction_operator(s, &d->clause[i], &names);
        while (run_part(s, names, &at, &part)) {
            if (!run_section(s, part, &item) || !token_same(s, &item.name, name)) continue;
            *op = found.at[0];
            return item;
        }
    }
    return (struct section){.name = *name};
}

struct token directive_operator(const struct source *s, const struct directive *d,
                                const struct token *name) {
    struct token op;
    find_item(s, d, name, &op);
    return op;
}

struct section directive_section(const struct source *s, const struct directive *d,
                                 const struct token *name) {
    struct token op;
    return find_item(s, d, name, &op);
}

int directive_one_unit(const struct source *s, const struct directive *d) {
    if (d->groups != 1) return 0;
    const struct range count = d->group[0].count;
    return count.end == count.begin + 1 && s->text[count.begin] == '1';
}

static const struct {
    const char *name;
    const char *options; /* what may stand behind its colon; a kind without has "" */
    const char *named;   /* what may have a value, as in memorize = 3 */
    int chunk, needs;
} kinds[] = {{"static", "", "chunk", 1, 0},
             {"dynamic", "", "chunk memorize", 1, 0},
             {"guided", "size time", "", 0, 1},
             {"weighted", "size", "speed", 0, 0},
             {"binpack", "reassign time", "cap", 0, 0},
             {"interval", "", "iterations", 0, 0},
             {"map", "", "", 0, 0},
             {"optimal", "", "limit gap nodes", 0, 0},
             {"auto", "", "", 0, 0},
             {"runtime", "", "", 0, 0}};

static int one_of(const struct source *s, const struct token *t, const char *words) {
    for (const char *c = words; *c;) {
        const size_t n = strcspn(c, " ");
        if (n == (size_t)token_length(t) && same_letters(s, c, token_letters(s, t), n)) return 1;
        c += n + (c[n] == ' ');
    }
    return 0;
}

/* "static, dynamic, guided:size, guided:time, .. or runtime" */
static void name_kinds(char *text, size_t size) {
    const int n = (int)(sizeof kinds / sizeof *kinds);
    size_t at = 0;
    for (int k = 0; k < n; k++) {
        const char *word = kinds[k].needs ? kinds[k].options : "";
        do {
            const int length = (int)strcspn(word, " ");
            const char *before = !k ? "" : k == n - 1 ? " or " : ", ";
            if (at < size)
                at += (size_t)snprintf(text + at, size - at, "%s%s%s%.*s", before, kinds[k].name,
                                       length ? ":" : "", length, word);
            word += length + (word[length] == ' ');
        } while (*word);
    }
}

/* Number of the kind, or -1 and a message. */
static int check_kind(struct source *s, struct run kind) {
    const int n = (int)(sizeof kinds / sizeof *kinds);
    int k = 0;
    while (k < n && (!kind.count || !token_is(s, &kind.at[0], kinds[k].name))) k++;
    if (k == n) {
        char known[256];
        name_kinds(known, sizeof known);
        error(s, kind.at[0].begin, "dist_schedule: unknown kind \"%.*s\", expected %s",
              kind.count ? token_length(&kind.at[0]) : 0, token_letters(s, &kind.at[0]), known);
        return -1;
    }
    const int option = kind.count == 3 && token_is(s, &kind.at[1], ":");
    if ((option && one_of(s, &kind.at[2], kinds[k].options)) ||
        (kind.count == 1 && !kinds[k].needs))
        return k;
    if (kinds[k].needs) {
        error(s, kind.at[0].begin, "dist_schedule: expected guided:size or guided:time");
    } else if (*kinds[k].options) {
        error(s, kind.at[1].begin, "dist_schedule: expected %s or %s:%s", kinds[k].name,
              kinds[k].name, kinds[k].options);
    } else {
        error(s, kind.at[1].begin, "dist_schedule: expected a comma or nothing behind %s",
              kinds[k].name);
    }
    return -1;
}

/* A value that is seen to be too small; others are looked at when they are known. */
static void check_value(struct source *s, const char *clause, const char *name, int length,
                        struct run value) {
    const int minus = token_is(s, &value.at[0], "-") && value.count == 2;
    const struct token *t = &value.at[minus];
    if (value.count != 1 + minus || t->kind != T_NUMBER || token_length(t) > 9) return;
    const char *c = token_letters(s, t);
    const int digits = (int)strspn(c, "0123456789") >= token_length(t);
    const int zero = digits && (int)strspn(c, "0") >= token_length(t);
    const int least = !(length == 8 && !memcmp(name, "memorize", 8)) &&
                      !(length == 5 && !memcmp(name, "limit", 5)) &&
                      !(length == 3 && !memcmp(name, "gap", 3));
    if ((minus && digits && !zero) || (zero && least))
        error(s, value.at[0].begin, "%s: %.*s must be %d or more", clause, length, name, least);
}

/* NAME = VALUE behind kind k. */
static void check_option(struct source *s, int k, struct run part) {
    const struct token *name = &part.at[0];
    if (part.count == 2)
        error(s, part.at[1].begin, "dist_schedule: expected a value behind this");
    else if (!strcmp(kinds[k].name, "runtime"))
        error(s, name->begin, "dist_schedule: runtime takes no options");
    else if (!one_of(s, name, kinds[k].named))
        error(s, name->begin, "dist_schedule: %s has no option \"%.*s\"; %s%s", kinds[k].name,
              token_length(name), token_letters(s, name),
              *kinds[k].named ? "expected one of: " : "it takes none", kinds[k].named);
    else
        check_value(s, "dist_schedule", token_letters(s, name), token_length(name),
                    run_of(part, 2, part.count));
}

static void check_schedule(struct source *s, const struct clause *c) {
    struct run rest, part;
    const int k = check_kind(s, schedule_kind(s, c, &rest));
    int at = 0, chunks = 0;
    while (k >= 0 && run_part(s, rest, &at, &part)) {
        if (!part.count) {
            error(s, part.at[-1].begin, "dist_schedule: expected something behind this comma");
        } else if (part.count > 1 && part.at[0].kind == T_NAME && token_is(s, &part.at[1], "=")) {
            check_option(s, k, part);
        } else if (!kinds[k].chunk) {
            error(s, part.at[0].begin, "dist_schedule: %s takes no chunk", kinds[k].name);
        } else if (chunks++) {
            error(s, part.at[0].begin, "dist_schedule: one chunk, please");
        } else {
            check_value(s, "dist_schedule", "the chunk", 9, part);
        }
    }
    if (k >= 0 && !rest.count && token_is(s, &c->in.at[c->in.count - 1], ","))
        error(s, c->in.at[c->in.count - 1].begin,
              "dist_schedule: expected something behind this comma");
}

static void check_speed(struct source *s, const struct clause *c) {
    int at = 0;
    struct run part;
    while (run_part(s, c->in, &at, &part)) {
        const int family = part.count > 2 ? family_of(s, &part.at[0]) : -1;
        if (family < 0 || family > 1 || !token_is(s, &part.at[1], ":"))
            error(s, part.count ? part.at[0].begin : part.at[-1].begin,
                  "speed: expected FAMILY: SPEED as in speed(CPU: 1, GPU: 16)");
    }
}

static void check_word(struct source *s, const struct clause *c, const char *word) {
    const struct token *last = &c->in.at[c->in.count - 1];
    if (!token_is(s, last, word) || (c->in.count > 1 && c->kind == K_BIND))
        error(s, c->in.at[0].begin, "%s: expected %s", rules[c->kind].name, word);
}

static void check_affinity(struct source *s, const struct directive *d, const struct clause *c) {
    struct run array, element, more;
    int at = 0;
    if (s->fortran)
        error(s, c->name.begin, "affinity: is of C and C++, as the arrays are that it goes by");
    else if (!run_part(s, c->in, &at, &array) || !run_part(s, c->in, &at, &element) ||
             !array.count || !element.count || run_part(s, c->in, &at, &more))
        error(s, c->in.at[0].begin, "affinity: expected an array and an element, as in (a, i)");
    else if (directive_find(d, K_BATCH) || directive_find(d, K_LASTPRIVATE))
        error(s, c->name.begin, "affinity: %s is of all iterations, and a rank has some",
              directive_find(d, K_BATCH) ? "batch" : "lastprivate");
}

static void check(struct source *s, struct directive *d, const struct clause *c) {
    struct token name;
    switch (c->kind) {
    case K_NUM_TEAMS: check_units(s, d, c); break;
    case K_REDUCTION: check_reduction(s, d, c); break;
    case K_SCHEDULE: check_schedule(s, c); break;
    case K_SPEED: check_speed(s, c); break;
    case K_AFFINITY: check_affinity(s, d, c); break;
    case K_THREAD_LIMIT: check_value(s, "thread_limit", "this", 4, c->in); break;
    case K_ORDER: check_word(s, c, "concurrent"); break;
    case K_BIND: check_word(s, c, "teams"); break;
    case K_PRIVATE:
    case K_FIRSTPRIVATE:
    case K_LASTPRIVATE: check_names(s, rules[c->kind].name, c->in, "expected variables"); break;
    case K_BATCH:
        if (!run_name(s, c->in, &name))
            error(s, c->in.at[0].begin, "batch: expected the name of a function");
        else if (directive_find(d, K_COLLAPSE))
            error(s, c->name.begin,
                  "batch: its function gets one variable's values; collapse has several");
        break;
    case K_COLLAPSE:
        if (c->in.count != 1 || c->in.at[0].kind != T_NUMBER || s->text[c->in.at[0].begin] < '1' ||
            s->text[c->in.at[0].begin] > '8' || token_length(&c->in.at[0]) != 1)
            error(s, c->in.at[0].begin, "collapse: expected a number from 1 to 8");
        break;
    default: break;
    }
}

void directive_check(struct source *s, struct directive *d) {
    if (d->odd)
        error(s, d->odd->begin, "%s %.*s: write %s, and %s in the body", construct_name(d),
              token_length(d->odd), token_letters(s, d->odd), construct_name(d),
              token_is(s, d->odd, "simd") ? "simd"
              : s->fortran                ? "parallel do"
                                          : "parallel for");
    for (int i = 0; i < d->clauses && !d->odd; i++)
        if (allowed(s, d, &d->clause[i])) check(s, d, &d->clause[i]);
}

struct token *directive_names(const struct source *s, const struct directive *d,
                              enum clause_kind kind, int *n) {
    struct token *names = NULL;
    *n = 0;
    for (int i = 0; i < d->clauses; i++) {
        if (d->clause[i].kind != kind) continue;
        struct run in = d->clause[i].in, part;
        if (kind == K_REDUCTION) reduction_operator(s, &d->clause[i], &in);
        int at = 0;
        while (run_part(s, in, &at, &part)) {
            struct section item;
            int known =
                kind == K_REDUCTION ? !run_section(s, part, &item) : !run_name(s, part, &item.name);
            for (int k = 0; k < *n; k++) known |= token_same(s, &names[k], &item.name);
            if (known) continue;
            names = more(names, (size_t)(*n + 1) * sizeof *names);
            names[(*n)++] = item.name;
        }
    }
    return names;
}
