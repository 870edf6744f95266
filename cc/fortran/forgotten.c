/* Variables that all units change at a time: a warning, as in C (c/forgotten.c), where the body of
 * a loop over units gives a scalar of outside a value made of the one it had, and no clause names
 * it, as of a reduction that was forgotten. It is said where it is sure from the text alone. */
#include "fortran.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int same(const struct fortran *f, const struct tokens *t, int i, const struct token *name) {
    return i >= 0 && i < t->count && t->at[i].kind == T_NAME &&
           token_same(&f->flat, &t->at[i], name);
}

/* The reduction that an operator is; "": none. NULL: no operator. */
static const char *reduction_of(const struct fortran *f, const struct tokens *t, int i) {
    static const char *const others[] = {"*", ".and.", ".or.", ".eqv.", ".neqv."};
    if (fortran_is(f, t, i, "+") || fortran_is(f, t, i, "-")) return "+";
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (fortran_is(f, t, i, others[k])) return others[k];
    return fortran_is(f, t, i, "/") || fortran_is(f, t, i, "**") ? "" : NULL;
}

/* Whether tokens from `i` on have another operator than `by` outside of brackets. */
static int has_others(const struct fortran *f, const struct tokens *t, int i, const char *by) {
    for (int depth = 0; i < t->count; i++) {
        depth += fortran_is(f, t, i, "(") - fortran_is(f, t, i, ")");
        const char *other = depth ? NULL : reduction_of(f, t, i);
        if (other && strcmp(other, by) != 0) return 1;
    }
    return 0;
}

/* max(NAME, ..) from token k to the end of the statement: its name, or NULL. */
static const char *function_of(const struct fortran *f, const struct tokens *t, int k,
                               const struct token *name) {
    static const char *const functions[] = {"max", "min", "iand", "ior", "ieor"};
    if (!fortran_is(f, t, k + 1, "(") || after_bracket(&f->flat, t, k + 1, t->count) != t->count)
        return NULL;
    const int first = same(f, t, k + 2, name) && fortran_is(f, t, k + 3, ",");
    const int last = same(f, t, t->count - 2, name) && fortran_is(f, t, t->count - 3, ",");
    for (size_t i = 0; (first || last) && i < sizeof functions / sizeof *functions; i++)
        if (fortran_is(f, t, k, functions[i])) return functions[i];
    return NULL;
}

/* Whether token k is a name that its statement changes by what it was; the reduction, or "". */
static const char *changes(const struct fortran *f, const struct tokens *t, int k) {
    if (k + 2 >= t->count || t->at[k].kind != T_NAME || !fortran_is(f, t, k + 1, "=")) return NULL;
    const struct token *name = &t->at[k];
    if (same(f, t, k + 2, name)) {
        const char *by = reduction_of(f, t, k + 3);
        if (!by || !strcmp(by, "+")) return by;
        return has_others(f, t, k + 3, by) ? "" : by;
    }
    const int last = t->count - 1;
    if (same(f, t, last, name) && fortran_is(f, t, last - 1, "+") && !has_others(f, t, k + 2, "+"))
        return "+";
    return function_of(f, t, k + 2, name);
}

/* Whether the body calls something called a lock or atomic, or counts a loop by the name, or has it
 * for something else, in ASSOCIATE. */
static int is_ruled_out(const struct fortran *f, const struct do_nest *nest,
                        const struct token *name) {
    int found = 0;
    for (int i = nest->loop[nest->loops - 1].statement; i <= nest->last && !found; i++) {
        struct tokens t = fortran_tokens(f, i);
        for (int k = 0; k + 1 < t.count && !found; k++) {
            const char *c = token_letters(&f->flat, &t.at[k]);
            found |= same(f, &t, k, name) && fortran_is(f, &t, k + 1, "=>");
            for (int n = 0; fortran_is(f, &t, k + 1, "(") && n + 4 <= token_length(&t.at[k]); n++)
                found |= !strncasecmp(c + n, "lock", 4) || !strncasecmp(c + n, "atomic", 6);
        }
        free(t.at);
        found |= fortran_counts(f, i, name);
    }
    return found;
}

static int is_threadprivate(const struct fortran *f, const struct token *name) {
    int found = 0;
    for (int i = 0; i < f->count && !found; i++) {
        if (!f->at[i].directive) continue;
        struct tokens t;
        int threadprivate = 0;
        lex(&f->flat, f->at[i].begin + 1, f->at[i].end, 0, &t);
        for (int k = 0; k < t.count; k++) {
            threadprivate |= fortran_is(f, &t, k, "threadprivate");
            found |= threadprivate && (same(f, &t, k, name) || fortran_is(f, &t, k, "/"));
        }
        free(t.at);
    }
    return found;
}

static int in_clauses(const struct fortran *f, const struct directive *d,
                      const struct token *name) {
    static const enum clause_kind lists[] = {K_PRIVATE, K_FIRSTPRIVATE, K_LASTPRIVATE, K_REDUCTION};
    int found = 0;
    for (size_t i = 0; d && i < sizeof lists / sizeof *lists; i++) {
        int n;
        struct token *list = directive_names(&f->flat, d, lists[i], &n);
        for (int k = 0; k < n; k++) found |= token_same(&f->flat, &list[k], name);
        free(list);
    }
    return found;
}

/* Whether a statement changes a number that all units have, and the warning. */
static int look_at(struct fortran *f, const struct directive *d, const struct directive *teams,
                   const struct do_nest *nest, int statement) {
    struct tokens t = fortran_tokens(f, statement);
    int k = fortran_is(f, &t, 1, ":") ? 2 : 0;
    if (fortran_is(f, &t, k, "if") && fortran_is(f, &t, k + 1, "("))
        k = after_bracket(&f->flat, &t, k + 1, t.count);
    const char *by = k < 0 ? NULL : changes(f, &t, k);
    const struct token name = by ? t.at[k] : (struct token){0};
    free(t.at);
    if (!by || in_clauses(f, d, &name) || in_clauses(f, teams, &name)) return 0;
    struct variable v;
    fortran_variable(f, statement, &name, &v);
    if (!v.seen || v.type != V_NUMBER || v.rank || v.pointer || v.at > teams->begin) return 0;
    if (is_ruled_out(f, nest, &name) || is_threadprivate(f, &name)) return 0;
    warn_of_forgotten(&f->flat, &name, by);
    return 1;
}

void fortran_look_for_forgotten(struct fortran *f, const struct directive *d,
                                const struct directive *teams, const struct do_nest *nest) {
    if (directive_one_unit(&f->flat, teams)) return;
    for (int i = nest->loop[nest->loops - 1].statement + 1; i <= nest->last; i++)
        if (f->at[i].directive || look_at(f, d, teams, nest, i)) return;
}
