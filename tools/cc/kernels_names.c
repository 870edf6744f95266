/* Of what type a name is: the nearest declaration before its use, read from tokens. It need not be
 * right, since the compiler is made to check it; where it is wrong, it says so. */
#include "kernels.h"
#include <string.h>

const char *type_name(enum type type) {
    static const char *const names[] = {"?", "int", "evn_cu_int", "float", "double"};
    return names[type];
}

static int is(const struct source *s, int at, const char *letters) {
    return token_is(s, &s->tokens.at[at], letters);
}

static int one_of(const struct source *s, int at, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (is(s, at, words[i])) return 1;
    return 0;
}

static int is_qualifier(const struct source *s, int at) {
    static const char *const words[] = {"const",         "volatile",     "static",   "extern",
                                        "register",      "inline",       "restrict", "__restrict",
                                        "__extension__", "__restrict__", "__inline", "__inline__"};
    return one_of(s, at, words, sizeof words / sizeof *words);
}

static int is_keyword(const struct source *s, int at) {
    static const char *const words[] = {"return", "goto", "else",  "case",   "sizeof", "do",
                                        "if",     "for",  "while", "switch", "break",  "continue"};
    return one_of(s, at, words, sizeof words / sizeof *words);
}

static int is_plain_type(const struct source *s, int at) {
    static const char *const words[] = {"int",   "long",     "double", "float", "signed",
                                        "short", "unsigned", "char",   "_Bool", "void"};
    return one_of(s, at, words, sizeof words / sizeof *words);
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

/* What the nearest "typedef .. NAME;" before token `before` says. */
static enum type named_type(const struct source *s, int before, const struct token *name,
                            int depth) {
    for (int i = before - 1; i >= 0 && depth < 10; i--) {
        if (!is(s, i, "typedef")) continue;
        int end = i, behind;
        while (end < before && !is(s, end, ";")) end++;
        if (end == before || !token_same(s, &s->tokens.at[end - 1], name)) continue;
        if (end == i + 3 && s->tokens.at[i + 1].kind == T_NAME && !is_plain_type(s, i + 1))
            return named_type(s, i, &s->tokens.at[i + 1], depth + 1);
        const enum type type = read_type(s, i + 1, end - 1, &behind);
        return behind == end - 1 ? type : TYPE_NONE;
    }
    return TYPE_NONE;
}

enum type read_type(const struct source *s, int at, int end, int *behind) {
    int longs = 0, ints = 0, others = 0, reals = 0, floats = 0, i = at, seen = 0;
    for (; i < end && s->tokens.at[i].kind == T_NAME; i++) {
        if (is_qualifier(s, i)) continue;
        if (is(s, i, "long"))
            longs++;
        else if (is(s, i, "int") || is(s, i, "signed"))
            ints++;
        else if (is(s, i, "double"))
            reals++;
        else if (is(s, i, "float"))
            floats++;
        else if (is(s, i, "unsigned") || is(s, i, "short") || is(s, i, "char") ||
                 is(s, i, "_Bool") || is(s, i, "void") || is(s, i, "_Complex"))
            others++;
        else
            break;
        seen = 1;
    }
    *behind = seen ? i : at;
    if (!seen && i < end && s->tokens.at[i].kind == T_NAME && !is_keyword(s, i)) {
        if (is(s, i, "struct") || is(s, i, "union") || is(s, i, "enum")) {
            *behind = i + 2 < end ? i + 2 : end;
            return TYPE_NONE;
        }
        const enum type type = named_type(s, i, &s->tokens.at[i], 0);
        if (type || (i + 1 < end && s->tokens.at[i + 1].kind == T_NAME)) *behind = i + 1;
        return type;
    }
    if (others || (longs && reals)) return TYPE_NONE;
    return reals    ? TYPE_DOUBLE
           : floats ? TYPE_FLOAT
           : longs  ? TYPE_LONG
           : ints   ? TYPE_INT
                    : TYPE_NONE;
}

/* Where the declaration begins that token `at` may stand in: behind ; { } or what opens it, and in
 * a list of parameters behind a comma. */
static int declaration_begin(const struct source *s, int at, int in_list) {
    for (int i = at - 1; i >= 0; i--) {
        const struct token *t = &s->tokens.at[i];
        if (t->kind == T_DIRECTIVE || is(s, i, ";") || is(s, i, "{") || is(s, i, "}")) return i + 1;
        if (in_list && is(s, i, ",")) return i + 1;
        if (is(s, i, ")") || is(s, i, "]")) {
            if ((i = opening(s, i)) < 0) return 0;
        } else if (is(s, i, "(") && !is(s, i + 1, "*")) {
            return i + 1;
        }
    }
    return 0;
}

/* Whether token `at` is the name that a declaration declares; its type. */
static int declares(const struct source *s, int at, int in_list, enum type *type) {
    int behind, i = at - 1;
    const int begin = declaration_begin(s, at, in_list);
    *type = read_type(s, begin, at, &behind);
    if (behind == begin) return 0;
    while (i >= behind && (is(s, i, "*") || is(s, i, "(") || is_qualifier(s, i))) i--;
    return i < behind || is(s, i, ",");
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
    struct declared found = {-1, TYPE_NONE, 0};
    int edge = next_of(s, before - 1), in_list = 0; /* the innermost that is open around `before` */
    for (int i = before - 1; i >= 0; i--) {
        const struct token *t = &s->tokens.at[i];
        if (t->kind == T_DIRECTIVE) continue;
        if (is(s, i, "}") || is(s, i, "]") || (is(s, i, ")") && next_of(s, i) != edge)) {
            const int open = opening(s, i);
            if (open < 0) break;
            if (is(s, i, ")") && is(s, open + 1, "*")) continue; /* (*name)[n] */
            const int at = is(s, i, "}") ? enumerates(s, open, i, name) : 0;
            if (at) return (struct declared){at, TYPE_INT, 1};
            i = open;
        } else if (is(s, i, ")")) { /* the head of a loop or function around it */
            const int open = opening(s, i);
            in_list = open > 0 && !is_keyword(s, open - 1);
        } else if (is(s, i, "{") || (is(s, i, "(") && i && !is(s, i + 1, "*"))) {
            in_list = 0;
            edge = is(s, i, "(") ? i - 1 : i;
        } else if (t->kind == T_NAME && token_same(s, t, name) && i &&
                   declares(s, i, in_list, &found.type)) {
            found.at = i;
            return found;
        }
    }
    found.type = TYPE_NONE;
    return found;
}

int is_line_mark(const struct source *s, const struct token *t) {
    if (t->kind != T_DIRECTIVE) return 0;
    const char *c = token_letters(s, t) + 1;
    c += strspn(c, " \t");
    return strspn(c, "0123456789") || !strncmp(c, "line", 4);
}
