/* Where a name is declared: the nearest declaration before its use, read from tokens. It need not
 * be right, since the compiler is made to check it; where it is wrong, it says so. */
#include "kernels.h"
#include <string.h>

static int is(const struct source *s, int at, const char *letters) {
    return token_is(s, &s->tokens.at[at], letters);
}

/* The token that opens the bracket which token `at` closes, or -1. */
static int opening(const struct source *s, int at) {
    int depth = 0;
    for (; at >= 0; at--) {
        if (s->tokens.at[at].kind != T_SIGN) continue;
        if (is(s, at, ")") || is(s, at, "]") || is(s, at, "}")) depth++;
        if (is(s, at, "(") || is(s, at, "[") || is(s, at, "{")) depth--;
        if (!depth) return at;
    }
    return -1;
}

/* Where the declaration begins that token `at` may stand in: behind ; { } or what opens it, and in
 * a list of parameters behind a comma. */
static int declaration_begin(const struct source *s, int at, int in_list) {
    for (int i = at - 1; i >= 0; i--) {
        const struct token *t = &s->tokens.at[i];
        const int open = is(s, i, "}") ? opening(s, i) : 0;
        if (open > 0 && is(s, open - 1, "=")) { /* a variable's values, before the comma */
            i = open;
            continue;
        }
        if (t->kind == T_DIRECTIVE || is(s, i, ";") || is(s, i, "{") || is(s, i, "}")) return i + 1;
        if (in_list && is(s, i, ",")) return i + 1;
        if (s->cxx && is(s, i, ":") && i > 0 &&
            (is(s, i - 1, "public") || is(s, i - 1, "private") || is(s, i - 1, "protected")))
            return i + 1;
        if (is(s, i, ")") || is(s, i, "]")) {
            if ((i = opening(s, i)) < 0) return 0;
        } else if (is(s, i, "(") && !is(s, i + 1, "*") && !is_reference(s, i + 1)) {
            return i + 1;
        }
    }
    return 0;
}

/* Whether token `at` is the name that a declaration declares; its shape. */
static int declares(const struct source *s, int at, int before, int in_list, struct shape *shape) {
    int behind, i = at - 1;
    const int begin = declaration_begin(s, at, in_list);
    *shape = read_shape(s, begin, at, &behind);
    if (behind == begin) return 0;
    while (i >= behind &&
           (is(s, i, "*") || is(s, i, "(") || is_reference(s, i) || is_qualifier(s, i)))
        i--;
    if (i >= behind && !is(s, i, ",")) return 0;
    if (!read_declarator(s, at, i < behind ? behind : i + 1, before, shape))
        *shape = (struct shape){0};
    return 1;
}

/* An enumeration's braces end at `close`: whether it has the name. */
static int enumerates(const struct source *s, int open, int close, const struct token *name) {
    if (!(open > 0 && is(s, open - 1, "enum")) && !(open > 1 && is(s, open - 2, "enum"))) return 0;
    for (int i = open + 1; i < close; i++)
        if (token_same(s, &s->tokens.at[i], name) && (i == open + 1 || is(s, i - 1, ","))) return i;
    return 0;
}

/* The token behind `at` that is no directive. */
static int next_of(const struct source *s, int at) {
    for (at++; s->tokens.at[at].kind == T_DIRECTIVE;) at++;
    return at;
}

struct declared find_declared(const struct source *s, int before, const struct token *name) {
    struct declared found = {.at = -1};
    int edge = next_of(s, before - 1), in_list = 0; /* the innermost that is open around `before` */
    for (int i = before - 1; i >= 0; i--) {
        const struct token *t = &s->tokens.at[i];
        if (t->kind == T_DIRECTIVE) continue;
        if (is(s, i, "}") || is(s, i, "]") || (is(s, i, ")") && next_of(s, i) != edge)) {
            const int open = opening(s, i);
            if (open < 0) break;
            if (is(s, i, ")") && (is(s, open + 1, "*") || is_reference(s, open + 1)))
                continue; /* (*name)[n] */
            const int at = is(s, i, "}") ? enumerates(s, open, i, name) : 0;
            if (at) return (struct declared){at, {.type = TYPE_INT}, 1};
            i = open;
        } else if (is(s, i, ")")) { /* the head of a loop or function around it */
            const int open = opening(s, i);
            in_list = open > 0 && !is_keyword(s, open - 1);
        } else if (is(s, i, "{") ||
                   (is(s, i, "(") && i && !is(s, i + 1, "*") && !is_reference(s, i + 1))) {
            in_list = 0;
            edge = is(s, i, "(") ? i - 1 : i;
        } else if (t->kind == T_NAME && token_same(s, t, name) && i &&
                   declares(s, i, before, in_list, &found.shape)) {
            found.at = i;
            return found;
        }
    }
    found.shape = (struct shape){0};
    return found;
}

int is_line_mark(const struct source *s, const struct token *t) {
    if (t->kind != T_DIRECTIVE) return 0;
    const char *c = token_letters(s, t) + 1;
    c += strspn(c, " \t");
    return strspn(c, "0123456789") || !strncmp(c, "line", 4);
}
