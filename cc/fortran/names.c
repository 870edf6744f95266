/* Functions of which a program unit says nothing but the type (real(8) :: timer, and no external):
 * the names of its declarations, and where statements refer to them. */
#include "fortran.h"
#include <stdlib.h>

/* Behind "integer", "real(8)", "double precision", or 0: another statement. Characters are left
 * out, since x(1:2) is a part of one. */
static int behind_type(const struct fortran *f, const struct tokens *t) {
    static const char *const types[] = {"integer", "real", "logical", "complex", "doubleprecision"};
    int k = fortran_is(f, t, 0, "double") && fortran_is(f, t, 1, "precision") ? 2 : 0;
    for (size_t i = 0; i < sizeof types / sizeof *types && !k; i++)
        k = fortran_is(f, t, 0, types[i]);
    if (k && fortran_is(f, t, k, "*")) k += 2;
    if (k && fortran_is(f, t, k, "(")) k = after_bracket(&f->flat, t, k, t->count);
    return k < 0 ? 0 : k;
}

/* Names, in flat text. */
struct names {
    struct token *at;
    int count;
};

/* The names of which a statement says that they are of a type, and nothing more. */
static void add_typed(const struct fortran *f, const struct tokens *t, struct names *names) {
    const int from = behind_type(f, t);
    if (!from || fortran_is(f, t, from, ",") || fortran_is(f, t, from, "=")) return;
    for (int i = from, depth = 0; i < t->count; i++) {
        depth += fortran_is(f, t, i, "(") - fortran_is(f, t, i, ")");
        if (depth || t->at[i].kind != T_NAME || (i + 1 < t->count && !fortran_is(f, t, i + 1, ",")))
            continue;
        names->at = more(names->at, (size_t)(names->count + 1) * sizeof *names->at);
        names->at[names->count++] = t->at[i];
    }
}

/* All such names of the program unit of statement `at`, up to there. */
static struct names typed_names(const struct fortran *f, int at) {
    struct names names = {NULL, 0};
    int stop = 0, interfaces = 0;
    for (int i = at - 1; i >= 0 && !stop; i--) {
        if (f->at[i].directive) continue;
        struct tokens t = fortran_tokens(f, i);
        if (fortran_is(f, &t, 0, "endinterface") ||
            (fortran_is(f, &t, 0, "end") && fortran_is(f, &t, 1, "interface")))
            interfaces++;
        else if (interfaces)
            interfaces -= fortran_is(f, &t, 0, "interface") || fortran_is(f, &t, 1, "interface");
        else if (fortran_is_end(f, &t))
            stop = 1;
        else
            add_typed(f, &t, &names);
        free(t.at);
    }
    return names;
}

/* Number of `name` in the list, or -1. */
static int find(const struct fortran *f, const struct names *names, const struct token *name) {
    for (int i = 0; i < names->count; i++)
        if (token_same(&f->flat, &names->at[i], name)) return i;
    return -1;
}

/* Names of its own begin, which a reference may have among its arguments. */
static int opens_scope(const struct fortran *f, const struct tokens *t) {
    const int k = fortran_is(f, t, 1, ":") ? 2 : 0;
    return fortran_is(f, t, k, "block") || fortran_is(f, t, k, "associate") ||
           fortran_is(f, t, k, "select");
}

int fortran_typed_calls(const struct fortran *f, int from, int last, struct range **call) {
    struct names names = typed_names(f, from);
    int n = 0;
    *call = more(NULL, (size_t)(names.count + 1) * sizeof **call);
    for (int i = from, stop = 0; i <= last && !stop && names.count; i++) {
        struct tokens t = fortran_tokens(f, i);
        stop = !f->at[i].directive && opens_scope(f, &t);
        for (int k = 0; k + 1 < t.count && !stop; k++) {
            if (t.at[k].kind != T_NAME || !fortran_is(f, &t, k + 1, "(") ||
                fortran_is(f, &t, k - 1, "%"))
                continue;
            const int which = find(f, &names, &t.at[k]);
            const int behind = after_bracket(&f->flat, &t, k + 1, t.count);
            if (which < 0 || behind < 0) continue;
            (*call)[n++] = (struct range){t.at[k].begin, t.at[behind - 1].end};
            names.at[which] = names.at[--names.count]; /* the first of each is enough */
        }
        free(t.at);
    }
    free(names.at);
    return n;
}
