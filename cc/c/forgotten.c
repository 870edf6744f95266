/* Variables that all units change at a time: a warning where the body of a loop over units adds to
 * a scalar of outside that no clause names, as of a reduction that was forgotten.
 *
 * It is said where it is sure from the text alone: the nearest declaration of the name is a number
 * outside of the region, and neither an atomic nor a critical construct, a lock, or an inner
 * directive that names it can make it right. */
#include "kernels/kernels.h"
#include <stdlib.h>
#include <string.h>

static int is(const struct source *s, int at, const char *letters) {
    return token_is(s, &s->tokens.at[at], letters);
}

/* The operator of the reduction that `name OPERATOR= value` is; "": of none that there is. */
static const char *operator_of(const struct source *s, int at) {
    static const char *const sums[] = {"+=", "-=", "++", "--"};
    static const char *const others[][2] = {{"*=", "*"}, {"&=", "&"}, {"|=", "|"}, {"^=", "^"},
                                            {"/=", ""},  {"<<=", ""}, {">>=", ""}, {"%=", ""}};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (is(s, at, sums[i])) return "+";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is(s, at, others[i][0])) return others[i][1];
    return NULL;
}

/* Whether token `at` is a name that its statement changes by what it was; the operator. */
static const char *changes(const struct source *s, int at) {
    if (s->tokens.at[at].kind != T_NAME || at < 1) return NULL;
    if (is(s, at - 1, ".") || is(s, at - 1, "->") || is(s, at - 1, "*")) return NULL;
    const int before = is(s, at - 1, "++") || is(s, at - 1, "--");
    if (before && (is(s, at + 1, "[") || is(s, at + 1, ".") || is(s, at + 1, "->"))) return NULL;
    if (before) return "+";
    const char *by = operator_of(s, at + 1);
    if (by) return by;
    const int declared = s->tokens.at[at - 1].kind == T_NAME && !is(s, at - 1, "else");
    const int again =
        !declared && is(s, at + 1, "=") && token_same(s, &s->tokens.at[at], &s->tokens.at[at + 2]);
    if (again && is(s, at + 3, "+")) return "+";
    return again && is(s, at + 3, "*") ? "*" : NULL;
}

static int letters_have(const struct source *s, int at, const char *part) {
    const struct token *t = &s->tokens.at[at];
    const size_t length = strlen(part);
    for (int i = 0; i + (int)length <= token_length(t); i++)
        if (!strncmp(token_letters(s, t) + i, part, length)) return 1;
    return 0;
}

/* Whether something called a lock is called in the body. */
static int has_lock(const struct source *s, const struct nest *nest) {
    for (int i = nest->first; i < nest->last; i++)
        if (s->tokens.at[i].kind == T_NAME && is(s, i + 1, "(") &&
            (letters_have(s, i, "lock") || letters_have(s, i, "atomic")))
            return 1;
    return 0;
}

/* Whether the tokens of a line that is a directive have a name. */
static int names(const struct source *s, int at, const char *letters, int length) {
    struct tokens t;
    int found = 0;
    lex(s, s->tokens.at[at].begin + 1, s->tokens.at[at].end, 0, &t);
    for (int i = 0; i < t.count && !found; i++)
        found = token_length(&t.at[i]) == length &&
                same_letters(s, token_letters(s, &t.at[i]), letters, (size_t)length);
    free(t.at);
    return found;
}

/* Whether a directive of the body before token `at` may make the change right. */
static int is_guarded(const struct source *s, const struct nest *nest, int at) {
    for (int i = nest->first; i < at; i++)
        if (s->tokens.at[i].kind == T_DIRECTIVE && !is_line_mark(s, &s->tokens.at[i])) return 1;
    return 0;
}

/* Whether the program's text says of the name that each thread has its own. */
static int is_threadprivate(const struct source *s, const struct token *name) {
    for (int i = 0; i < s->tokens.count; i++)
        if (s->tokens.at[i].kind == T_DIRECTIVE && names(s, i, "threadprivate", 13) &&
            names(s, i, token_letters(s, name), token_length(name)))
            return 1;
    return 0;
}

/* Whether the declaration that token `at` is in is of a plain number that all threads have. */
static int is_plain_number(const struct source *s, int at, const struct shape *shape) {
    if (shape->levels) return 0;
    for (int i = at - 1; i >= 0 && s->tokens.at[i].kind != T_DIRECTIVE; i--) {
        if (is(s, i, ";") || is(s, i, "{") || is(s, i, "}") || is(s, i, "(")) break;
        if (is(s, i, "_Thread_local") || is(s, i, "__thread") || letters_have(s, i, "tomic"))
            return 0;
    }
    return 1;
}

static int in_clauses(const struct source *s, const struct directive *d, const struct token *name) {
    for (int c = 0; d && c < d->clauses; c++)
        for (int i = 0; i < d->clause[c].in.count; i++)
            if (token_same(s, &d->clause[c].in.at[i], name) && d->clause[c].kind != K_SHARED &&
                d->clause[c].kind != K_WEIGHT && d->clause[c].kind != K_KEY &&
                d->clause[c].kind != K_AFFINITY && d->clause[c].kind != K_NUM_TEAMS &&
                d->clause[c].kind != K_COLLAPSE && d->clause[c].kind != K_SCHEDULE)
                return 1;
    return 0;
}

void warn_of_forgotten(struct source *s, const struct token *name, const char *by) {
    const int n = token_length(name);
    const char *letters = token_letters(s, name);
    struct text in = {0};
    if (*by) put(&in, "reduction(%s: %.*s) or ", by, n, letters);
    complain(s, name->begin, "warning",
             "\"%.*s\" is one variable of all units, which change it at a time; name it in "
             "%sprivate(%.*s)",
             n, letters, *by ? in.at : "", n, letters);
    free(in.at);
}

void look_for_forgotten(struct source *s, const struct directive *d, const struct directive *teams,
                        const struct nest *nest) {
    /* variables of a function that is called within teams are its unit's own */
    if (!teams && d->construct == C_DISTRIBUTE) return;
    const int outside = teams ? teams->begin : d->begin;
    if (directive_one_unit(s, teams ? teams : d) || has_lock(s, nest)) return;
    for (int i = nest->first; i < nest->last; i++) {
        const char *by = changes(s, i);
        const struct token *name = &s->tokens.at[i];
        if (!by || in_clauses(s, d, name) || in_clauses(s, teams, name)) continue;
        const struct declared found = find_declared(s, i, name);
        if (found.at < 0 || s->tokens.at[found.at].begin > outside) continue;
        if (!is_plain_number(s, found.at, &found.shape) || is_guarded(s, nest, i) ||
            is_threadprivate(s, name))
            continue;
        warn_of_forgotten(s, name, by);
        return; /* one says it */
    }
}
