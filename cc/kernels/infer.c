/* Loops in C++ that are C in other clothes: conversions and functions of std as C has them, and the
 * types of values, which auto and overloaded functions ask for. Types follow the usual arithmetic
 * conversions; a value with an operator of another result (a comparison, a shift, ?:) has none
 * here. */
#include "kernels.h"
#include <string.h>

static int is(const struct body *b, int at, const char *letters) {
    return token_is(b->s, &b->s->tokens.at[at], letters);
}

#define LETTERS(b, t) token_length(t), token_letters((b)->s, t)

static enum type number_type(const struct body *b, const struct token *t) {
    const char *c = token_letters(b->s, t);
    const size_t n = (size_t)token_length(t);
    if (n > 1 && (c[1] == 'x' || c[1] == 'X')) return TYPE_NONE;
    const int real = memchr(c, '.', n) || memchr(c, 'e', n) || memchr(c, 'E', n);
    if (real) return memchr(c, 'f', n) || memchr(c, 'F', n) ? TYPE_FLOAT : TYPE_DOUBLE;
    const int is_unsigned = memchr(c, 'u', n) || memchr(c, 'U', n);
    if (memchr(c, 'l', n) || memchr(c, 'L', n)) return is_unsigned ? TYPE_ULONG : TYPE_LONG;
    if (n > 9) return TYPE_NONE;
    return is_unsigned ? TYPE_UINT : TYPE_INT;
}

/* Type of a variable with its subscripts and members; *behind: the token after it. */
static enum type variable_type(struct body *b, int at, int end, int *behind) {
    const struct name *n = body_find(b, &b->s->tokens.at[at]);
    struct shape shape = n ? n->shape : find_declared(b->s, b->before, &b->s->tokens.at[at]).shape;
    int next = at + 1;
    while (next < end) {
        if (is(b, next, "[")) {
            const int close = after_bracket(b->s, &b->s->tokens, next, end);
            if (close < 0 || !shape.levels) return TYPE_NONE;
            for (int i = 1; i < shape.levels; i++) shape.open[i - 1] = shape.open[i];
            shape.levels--;
            next = close;
        } else if (is(b, next, ".") || is(b, next, "->")) {
            if (shape.levels != is(b, next, "->") || next + 1 >= end ||
                !find_member(b->s, shape.type, &b->s->tokens.at[next + 1], &shape))
                return TYPE_NONE;
            next += 2;
        } else {
            break;
        }
    }
    *behind = next;
    return shape.levels || !type_is_number(shape.type) ? TYPE_NONE : shape.type;
}

/* static_cast<double>(..) and double(..): the type, *open its parenthesis. */
static enum type converted(struct body *b, int at, int end, int *open) {
    const int named = is(b, at, "static_cast") && at + 1 < end && is(b, at + 1, "<");
    const int from = named ? at + 2 : at;
    const enum type type = read_type(b->s, from, named ? end : at + 1, open);
    if (*open <= from || !type_is_number(type)) return TYPE_NONE;
    if (named && (*open >= end || !is(b, (*open)++, ">"))) return TYPE_NONE;
    return *open < end && is(b, *open, "(") ? type : TYPE_NONE;
}

/* A name's ::, which may be two tokens: how many; 0: there is none. */
static int scope(const struct body *b, int at, int end) {
    if (at < end && is(b, at, "::")) return 1;
    return at + 1 < end && is(b, at, ":") && is(b, at + 1, ":") ? 2 : 0;
}

/* std::name( at `at`: the token of the name; 0: it is another. */
static int of_std(const struct body *b, int at, int end) {
    const int colons = is(b, at, "std") ? scope(b, at + 1, end) : 0, name = at + 1 + colons;
    return colons && name + 1 < end && is(b, name + 1, "(") ? name : 0;
}

static int is_extreme(const struct body *b, int at) { return is(b, at, "min") || is(b, at, "max"); }

/* Type of a function of math.h, called at `name`; TYPE_NONE: it is none, or of its arguments'. */
static enum type math_type(struct body *b, int name, int standard, int behind) {
    const struct math m = math_find(b->s, &b->s->tokens.at[name]);
    if (m.row < 0) return TYPE_NONE;
    if (!math_is_of_double(m)) return TYPE_INT;
    if (m.single) return TYPE_FLOAT;
    return standard && body_type(b, name + 2, behind - 1) == TYPE_FLOAT ? TYPE_FLOAT : TYPE_DOUBLE;
}

static int is_arithmetic(const struct body *b, int at) {
    static const char *const signs[] = {"(", ")", "+", "-", "*", "/", "%", ","};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (is(b, at, signs[i])) return 1;
    return 0;
}

/* One operand at `at`; *behind it. A function's is that of its arguments, which follow. */
static enum type operand_type(struct body *b, int at, int end, int *behind, int *goes_on) {
    const struct token *t = &b->s->tokens.at[at];
    int open;
    *behind = at + 1;
    *goes_on = 0;
    if (t->kind == T_NUMBER) return number_type(b, t);
    if (t->kind != T_NAME || is_keyword(b->s, at)) return TYPE_NONE;
    const enum type type = converted(b, at, end, &open);
    if (type) {
        *behind = after_bracket(b->s, &b->s->tokens, open, end);
        return *behind < 0 ? TYPE_NONE : type;
    }
    const int standard = of_std(b, at, end), name = standard ? standard : at;
    if (name + 1 >= end || !is(b, name + 1, "(")) return variable_type(b, at, end, behind);
    *behind = name + 1;
    *goes_on = is(b, name, "abs") || (standard && is_extreme(b, name));
    if (*goes_on) return TYPE_NONE;
    *behind = after_bracket(b->s, &b->s->tokens, name + 1, end);
    if (*behind < 0) return TYPE_NONE;
    const enum type own = standard ? TYPE_NONE : function_type(b, name);
    return own ? own : math_type(b, name, standard, *behind);
}

enum type body_type(struct body *b, int at, int end) {
    enum type most = TYPE_NONE;
    while (at < end) {
        int behind = at + 1, goes_on;
        if (b->s->tokens.at[at].kind == T_DIRECTIVE || is_arithmetic(b, at)) {
            /* (double)x: C's conversions are not read here */
            int close;
            if (is(b, at, "(") && at + 1 < end && read_type(b->s, at + 1, end, &close) &&
                close > at + 1 && close < end && is(b, close, ")"))
                return TYPE_NONE;
            at++;
            continue;
        }
        const enum type type = operand_type(b, at, end, &behind, &goes_on);
        if (!type && !goes_on) return TYPE_NONE;
        if (type > most) most = type < TYPE_INT && type ? TYPE_INT : type;
        at = behind;
    }
    return most;
}

/* std::min(x, y) is (y < x ? y : x), std::max(x, y) is (x < y ? y : x). */
static int extreme(struct body *b, int name, int end) {
    const int open = name + 1, behind = after_bracket(b->s, &b->s->tokens, open, end);
    const int close = behind < 0 ? end : behind - 1, comma = body_to_comma(b, open + 1, close);
    int fine = behind > 0 && comma < close && body_to_comma(b, comma + 1, close) == close &&
               body_type(b, open + 1, close) != TYPE_NONE;
    if (!fine) {
        error(b->s, b->s->tokens.at[name].begin,
              "std::%.*s in a kernel is of two numbers, of +, -, *, / and conversions",
              LETTERS(b, &b->s->tokens.at[name]));
        return behind < 0 ? end : behind;
    }
    const int first[2] = {open + 1, comma + 1}, last[2] = {comma, close},
              is_min = is(b, name, "min");
    const int order[4] = {is_min, !is_min, 1, 0}; /* a < b ? y : x */
    for (int i = 0; i < 4; i++) {
        put(&b->out, i == 0 ? "((" : "(");
        body_expression(b, first[order[i]], last[order[i]]);
        put(&b->out, i == 0 ? ") < " : i == 1 ? ") ? " : i == 2 ? ") : " : ")) ");
    }
    return behind;
}

/* static_cast<bool>(x), which assert() has: whether it is not 0. */
static int truth(struct body *b, int at, int end) {
    if (at + 4 >= end || !is(b, at, "static_cast") || !is(b, at + 1, "<") ||
        !is(b, at + 2, "bool") || !is(b, at + 3, ">") || !is(b, at + 4, "("))
        return at;
    const int behind = after_bracket(b->s, &b->s->tokens, at + 4, end);
    if (behind < 0) return at;
    put(&b->out, "(0 != (");
    body_expression(b, at + 5, behind - 1);
    put(&b->out, ")) ");
    return behind;
}

int body_clothes(struct body *b, int at, int end) {
    const struct token *t = &b->s->tokens.at[at];
    int open;
    b->behind = truth(b, at, end);
    if (b->behind > at) return b->behind;
    const enum type type = converted(b, at, end, &open);
    const int name = of_std(b, at, end);
    if (type) {
        put(&b->out, "(%s)", type_name(b->s, type));
        b->behind = open;
    } else if (name && is_extreme(b, name)) {
        b->behind = extreme(b, name, end);
    } else if (name && math_find(b->s, &b->s->tokens.at[name]).row >= 0) {
        b->behind = body_call(b, name, end);
    } else if (is(b, at, "static_cast") || scope(b, at + 1, end)) {
        error(b->s, t->begin,
              is(b, at, "static_cast")
                  ? "a kernel can convert to integers, float and double, and to nothing else"
                  : "of namespaces a kernel has std::min, std::max and the functions of cmath, "
                    "called "
                    "with numbers");
        b->behind = end;
    }
    return b->behind;
}
