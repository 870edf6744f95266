/* The body of a loop as text of the dialect: tokens are copied, names get a prefix of their own (no
 * word of another language can be among them), subscripts become one, functions of the dialect take
 * the place of those of C. What is not in the subset gets a message. */
#include "kernels.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int is(const struct body *b, int at, const char *letters) {
    return token_is(b->s, &b->s->tokens.at[at], letters);
}

static const struct token *token_at(const struct body *b, int at) { return &b->s->tokens.at[at]; }

/* "%.*s" of a token */
#define LETTERS(b, t) token_length(t), token_letters((b)->s, t)

void body_add(struct body *b, const struct token *name, enum type type, int role) {
    b->name = more(b->name, (size_t)(b->names + 1) * sizeof *b->name);
    b->name[b->names++] = (struct name){*name, type, role, 0, 0};
}

/* The name, the innermost one of these letters; NULL. */
static struct name *find(const struct body *b, const struct token *t) {
    for (int i = b->names - 1; i >= 0; i--)
        if (token_same(b->s, &b->name[i].token, t)) return &b->name[i];
    return NULL;
}

static int is_assignment(const struct body *b, int at) {
    static const char *const signs[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (is(b, at, signs[i])) return 1;
    return 0;
}

static int is_changed(const struct body *b, int at, int behind, int begin) {
    return is_assignment(b, behind) || (at > begin && (is(b, at - 1, "++") || is(b, at - 1, "--")));
}

static void expression(struct body *b, int at, int end);

/* ---- functions ----------------------------------------------------------------------------- */

static const char *known_function(const struct body *b, const struct token *t) {
    static const char *const known[] = {"sqrt", "fabs", "fma", "fmin", "fmax", "abs"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (token_is(b->s, t, known[i])) return known[i];
    return NULL;
}

static int directive_is(const struct source *s, int at, const char *a, const char *c) {
    struct tokens t;
    const struct token *line = &s->tokens.at[at];
    lex(s, line->begin + 1, line->end, 0, &t);
    int n = t.count > 3 && token_is(s, &t.at[1], "omp");
    for (int i = 2; n && i < 4; i++) n &= token_is(s, &t.at[i], i == 2 ? a : c);
    const int more_words = t.count;
    free(t.at);
    return n ? more_words : 0;
}

/* The definition of a function under declare target, before the loop; 0: there is none. */
static int find_function(struct body *b, const struct token *name, struct function *f) {
    int level = 0, in_device = 0, begin = 0;
    const struct source *s = b->s;
    for (int i = 0; i < b->before; i++) {
        const struct token *t = token_at(b, i);
        if (t->kind == T_DIRECTIVE) {
            if (directive_is(s, i, "declare", "target") == 4 ||
                directive_is(s, i, "begin", "declare"))
                in_device = 1;
            if (directive_is(s, i, "end", "declare")) in_device = 0;
            if (!level) begin = i + 1;
            continue;
        }
        if (!level && token_same(s, t, name) && is(b, i + 1, "(") && in_device) {
            const int behind = after_bracket(s, &s->tokens, i + 1, b->before);
            const int end = behind > 0 && is(b, behind, "{")
                                ? after_bracket(s, &s->tokens, behind, b->before)
                                : 0;
            if (end > 0) {
                *f = (struct function){*t, begin, i + 1, behind, end, TYPE_NONE};
                return 1;
            }
        }
        level += is(b, i, "{") - is(b, i, "}");
        if (!level && (is(b, i, ";") || is(b, i, "}"))) begin = i + 1;
    }
    return 0;
}

/* Notes that the function is needed; 0: there is none before this, so that none calls itself. */
static int need_function(struct body *b, const struct token *name) {
    struct function f;
    for (int i = 0; i < b->functions; i++)
        if (token_same(b->s, &b->function[i].name, name)) return b->function[i].end <= b->before;
    if (!find_function(b, name, &f)) return 0;
    b->function = more(b->function, (size_t)(b->functions + 1) * sizeof *b->function);
    b->function[b->functions++] = f;
    return 1;
}

/* A call that begins at `at`; behind its name. */
static int call(struct body *b, int at) {
    const struct token *t = token_at(b, at);
    const char *known = known_function(b, t);
    if (known) {
        put(&b->out, "evn_k_%s ", known);
    } else if (need_function(b, t)) {
        put(&b->out, "evn_f%d_%.*s ", b->number, LETTERS(b, t));
    } else {
        error(b->s, t->begin,
              "\"%.*s\" cannot be called in a kernel; sqrt, fabs, fma, fmin, fmax and abs can, and "
              "functions under declare target that are defined before it",
              LETTERS(b, t));
    }
    return at + 1;
}

/* ---- names --------------------------------------------------------------------------------- */

/* A name from outside of the loop, used for the first time. */
static struct name *outer(struct body *b, const struct token *t, int dimensions) {
    const struct declared d = find_declared(b->s, b->before, t);
    if (b->in_function) {
        error(b->s, t->begin,
              "\"%.*s\" is no parameter and no variable of this function; what kernels call knows "
              "no others",
              LETTERS(b, t));
        return NULL;
    }
    if (d.at < 0) {
        error(b->s, t->begin, "no declaration of \"%.*s\" is found before this loop",
              LETTERS(b, t));
        return NULL;
    }
    if (!d.type) {
        error(b->s, t->begin,
              "\"%.*s\" is of a type that kernels do not have; they have int, long, float and "
              "double",
              LETTERS(b, t));
        return NULL;
    }
    body_add(b, t, d.type, dimensions ? NAME_ARRAY : NAME_SCALAR);
    /* outer names come first: inner ones hide them, and end before */
    int i = b->names - 1;
    const struct name last = b->name[i];
    for (; i > 0 && b->name[i - 1].role == NAME_LOCAL; i--) b->name[i] = b->name[i - 1];
    b->name[i] = last;
    b->name[i].dimensions = dimensions;
    return &b->name[i];
}

/* Subscripts from token `at` on; their number, and the token behind them. */
static int subscripts(const struct body *b, int at, int end, int *behind) {
    int n = 0;
    while (at >= 0 && at < end && is(b, at, "[")) {
        at = after_bracket(b->s, &b->s->tokens, at, end);
        n++;
    }
    *behind = at < 0 ? end : at;
    return n;
}

/* a[i][j] of a name from outside: one subscript, with its strides. */
static void put_element(struct body *b, const struct token *t, int at, int dimensions) {
    put(&b->out, "evn_a_%.*s[", LETTERS(b, t));
    for (int k = 0; k < dimensions; k++) {
        const int behind = after_bracket(b->s, &b->s->tokens, at, b->s->tokens.count);
        const int last = k + 1 == dimensions;
        put(&b->out, last ? "(" : "(evn_cu_int)(");
        expression(b, at + 1, behind - 1);
        if (last)
            put(&b->out, ")");
        else
            put(&b->out, ") * evn_s%d_%.*s + ", k, LETTERS(b, t));
        at = behind;
    }
    put(&b->out, "] ");
}

static void put_local(struct body *b, const struct token *t, int at, int behind) {
    put(&b->out, "u_%.*s ", LETTERS(b, t));
    while (at < behind) {
        const int next = after_bracket(b->s, &b->s->tokens, at, behind);
        put(&b->out, "[");
        expression(b, at + 1, next - 1);
        put(&b->out, "] ");
        at = next;
    }
}

static void wrong_dimensions(struct body *b, const struct token *t, int has, int used) {
    if (!used)
        error(b->s, t->begin,
              "\"%.*s\" is an array; a kernel uses its elements, with all %d subscripts",
              LETTERS(b, t), has);
    else if (!has)
        error(b->s, t->begin, "\"%.*s\" is no array of this loop", LETTERS(b, t));
    else
        error(b->s, t->begin, "\"%.*s\" has %d subscripts here and %d elsewhere", LETTERS(b, t),
              used, has);
}

static int is_member(const struct body *b, int at, int end) {
    return at + 1 < end && (is(b, at, ".") || is(b, at, "->"));
}

/* A name in an expression that begins at token `begin`; the token behind it and its subscripts. */
static int variable(struct body *b, int at, int begin, int end) {
    const struct token *t = token_at(b, at);
    int behind;
    const int used = subscripts(b, at + 1, end, &behind);
    if (is_member(b, behind, end)) {
        while (is_member(b, behind, end)) subscripts(b, behind + 2, end, &behind);
        error(b->s, t->begin,
              "members cannot be used in a kernel; put %.*s into a variable before the loop",
              token_at(b, behind - 1)->end - t->begin, token_letters(b->s, t));
        return behind;
    }
    struct name *n = find(b, t);
    if (!n) n = outer(b, t, used);
    if (!n) return behind;
    const int changed = is_changed(b, at, behind, begin);
    if (n->dimensions != used) {
        wrong_dimensions(b, t, n->dimensions, used);
        return behind;
    }
    if (changed && n->role == NAME_SCALAR)
        error(b->s, t->begin,
              "\"%.*s\" is written by all iterations; declare it in the loop, or name it in "
              "reduction",
              LETTERS(b, t));
    if (changed && n->role == NAME_LOOP)
        error(b->s, t->begin, "the loop variable \"%.*s\" may not be written", LETTERS(b, t));
    n->written |= changed;
    if (n->role == NAME_ARRAY)
        put_element(b, t, at + 1, used);
    else
        put_local(b, t, at + 1, behind);
    return behind;
}

/* ---- expressions --------------------------------------------------------------------------- */

/* 1L for 1LL, which OpenCL does not have. */
static void number(struct body *b, const struct token *t) {
    const char *c = token_letters(b->s, t);
    const int n = token_length(t), hex = n > 1 && (c[1] == 'x' || c[1] == 'X');
    int digits = n;
    while (digits > 1 && strchr(hex ? "uUlL" : "uUlLfF", c[digits - 1])) digits--;
    int longs = 0, is_unsigned = 0, is_float = 0;
    for (int i = digits; i < n; i++) {
        longs += c[i] == 'l' || c[i] == 'L';
        is_unsigned |= c[i] == 'u' || c[i] == 'U';
        is_float |= c[i] == 'f' || c[i] == 'F';
    }
    const int real = !hex && (memchr(c, '.', (size_t)n) || memchr(c, 'e', (size_t)n) ||
                              memchr(c, 'E', (size_t)n));
    if (is_unsigned || (real && longs) || (hex && memchr(c, 'p', (size_t)n)) ||
        !isdigit((unsigned char)(c[0] == '.' ? '0' : c[0])))
        error(b->s, t->begin, "this number is of a type that kernels do not have");
    put(&b->out, "%.*s%s%s ", digits, c, longs ? "L" : "", is_float ? "f" : "");
}

/* Whether an operator at `at` has nothing before it. */
static int is_prefix(const struct body *b, int at, int begin) {
    if (at == begin) return 1;
    const struct token *t = token_at(b, at - 1);
    return t->kind == T_SIGN && !is(b, at - 1, ")") && !is(b, at - 1, "]") &&
           !is(b, at - 1, "++") && !is(b, at - 1, "--");
}

/* (double) and the like; the token behind it, or `at`. */
static int cast(struct body *b, int at, int end) {
    int behind;
    const enum type type = read_type(b->s, at + 1, end, &behind);
    if (behind == at + 1 || behind >= end) return at;
    if (is(b, behind, ")") && type) {
        put(&b->out, "(%s)", type_name(type));
        return behind + 1;
    }
    error(b->s, token_at(b, at)->begin,
          "a kernel can convert to int, long, float and double, and to nothing else");
    const int next = after_bracket(b->s, &b->s->tokens, at, end);
    return next < 0 ? end : next;
}

static int sign(struct body *b, int at, int begin, int end) {
    const struct token *t = token_at(b, at);
    if ((is(b, at, "*") || is(b, at, "&")) && is_prefix(b, at, begin)) {
        error(b->s, t->begin, "pointers cannot be used in a kernel; only elements of arrays can");
        return at + 1 < end && token_at(b, at + 1)->kind == T_NAME ? at + 2 : at + 1;
    }
    if (is(b, at, "{")) {
        error(b->s, t->begin, "this cannot stand in an expression of a kernel");
        return end;
    }
    if (is(b, at, "(")) {
        const int behind = cast(b, at, end);
        if (behind > at) return behind;
    }
    put(&b->out, "%.*s ", LETTERS(b, t));
    return at + 1;
}

static void expression(struct body *b, int at, int end) {
    const int begin = at;
    while (at < end) {
        const struct token *t = token_at(b, at);
        if (t->kind == T_DIRECTIVE) {
            at++;
        } else if (t->kind == T_TEXT) {
            error(b->s, t->begin, "text cannot be used in a kernel");
            at++;
        } else if (t->kind == T_NUMBER) {
            number(b, t);
            at++;
        } else if (t->kind == T_SIGN) {
            at = sign(b, at, begin, end);
        } else if (is(b, at, "sizeof")) {
            error(b->s, t->begin, "sizeof cannot be used in a kernel");
            at = end;
        } else if (at + 1 < end && is(b, at + 1, "(")) {
            at = call(b, at);
        } else {
            at = variable(b, at, begin, end);
        }
    }
}

/* ---- declarations -------------------------------------------------------------------------- */

/* The comma or the end of [at, end) outside of brackets. */
static int to_comma(const struct body *b, int at, int end) {
    while (at < end && !is(b, at, ",")) {
        const int open = is(b, at, "(") || is(b, at, "[") || is(b, at, "{");
        const int behind = open ? after_bracket(b->s, &b->s->tokens, at, end) : at + 1;
        at = behind < 0 ? end : behind;
    }
    return at;
}

static void initial(struct body *b, int at, int end) {
    put(&b->out, "= ");
    if (!is(b, at, "{")) {
        expression(b, at, end);
        return;
    }
    put(&b->out, "{");
    for (int i = at + 1; i < end - 1;) {
        const int comma = to_comma(b, i, end - 1);
        expression(b, i, comma);
        if (comma < end - 1) put(&b->out, ", ");
        i = comma + 1;
    }
    put(&b->out, "} ");
}

/* name[3][5] = ..; the token behind it. */
static int declarator(struct body *b, int at, int end, enum type type) {
    const struct token *t = token_at(b, at);
    int behind;
    if (t->kind != T_NAME) {
        error(b->s, t->begin,
              "a kernel's own variables are scalars, and arrays of a constant size");
        return end;
    }
    const int n = subscripts(b, at + 1, end, &behind);
    put(&b->out, "u_%.*s ", LETTERS(b, t));
    for (int k = 0, i = at + 1; k < n; k++, i = after_bracket(b->s, &b->s->tokens, i, end)) {
        const struct token *size = token_at(b, i + 1);
        if (size->kind != T_NUMBER || !is(b, i + 2, "]"))
            error(b->s, size->begin, "the size of an array in a kernel is a number");
        put(&b->out, "[%.*s] ", LETTERS(b, size));
    }
    const int comma = to_comma(b, behind, end);
    body_add(b, t, type, NAME_LOCAL);
    b->name[b->names - 1].dimensions = n;
    if (behind < comma && is(b, behind, "="))
        initial(b, behind + 1, comma);
    else if (behind < comma)
        error(b->s, token_at(b, behind)->begin, "expected , or ; or = in this declaration");
    return comma;
}

/* A declaration, its semicolon at `end`; 0: it is none. */
static int declaration(struct body *b, int at, int end) {
    int behind;
    const enum type type = read_type(b->s, at, end, &behind);
    if (behind == at) return 0;
    for (int i = at; i < behind; i++)
        if (is(b, i, "static") || is(b, i, "extern") || is(b, i, "volatile")) {
            error(b->s, token_at(b, i)->begin, "%.*s cannot be used in a kernel",
                  LETTERS(b, token_at(b, i)));
            return 1;
        }
    if (!type) {
        error(b->s, token_at(b, at)->begin,
              "this is a type that kernels do not have; they have int, long, float and double");
        return 1;
    }
    for (int i = at; i < behind; i++)
        if (is(b, i, "const")) put(&b->out, "const ");
    put(&b->out, "%s ", type_name(type));
    for (int i = behind; i < end;) {
        i = declarator(b, i, end, type);
        if (i < end) put(&b->out, ", ");
        i++;
    }
    return 1;
}

/* ---- statements ---------------------------------------------------------------------------- */

static int statement(struct body *b, int at, int end);

static int to_semicolon(const struct body *b, int at, int end) {
    while (at < end && !is(b, at, ";")) {
        const int open = is(b, at, "(") || is(b, at, "[") || is(b, at, "{");
        const int behind = open ? after_bracket(b->s, &b->s->tokens, at, end) : at + 1;
        at = behind < 0 ? end : behind;
    }
    return at;
}

/* A declaration or an expression in its own right. */
static void simple(struct body *b, int at, int end) {
    if (!declaration(b, at, end)) expression(b, at, end);
}

/* Names that were added since end. */
static void leave(struct body *b, int locals) {
    int count = 0;
    for (int i = 0; i < b->names; i++) count += b->name[i].role == NAME_LOCAL;
    b->names -= count - locals;
}

static int locals_now(const struct body *b) {
    int count = 0;
    for (int i = 0; i < b->names; i++) count += b->name[i].role == NAME_LOCAL;
    return count;
}

static int block(struct body *b, int at, int end) {
    const int behind = after_bracket(b->s, &b->s->tokens, at, end), locals = locals_now(b);
    put(&b->out, "{\n");
    for (int i = at + 1; i < behind - 1;) i = statement(b, i, behind - 1);
    put(&b->out, "}\n");
    leave(b, locals);
    return behind;
}

static int for_statement(struct body *b, int at, int end) {
    const int behind = after_bracket(b->s, &b->s->tokens, at + 1, end), locals = locals_now(b);
    const int first = to_semicolon(b, at + 2, behind - 1);
    const int second = to_semicolon(b, first + 1, behind - 1);
    put(&b->out, "for (");
    simple(b, at + 2, first);
    put(&b->out, "; ");
    expression(b, first + 1, second);
    put(&b->out, "; ");
    expression(b, second + 1, behind - 1);
    put(&b->out, ")\n");
    b->inner++;
    const int next = statement(b, behind, end);
    b->inner--;
    leave(b, locals);
    return next;
}

/* if (..) and while (..) */
static int governed(struct body *b, int at, int end) {
    const int loops = is(b, at, "while");
    const int behind = after_bracket(b->s, &b->s->tokens, at + 1, end);
    put(&b->out, "%s (", loops ? "while" : "if");
    expression(b, at + 2, behind - 1);
    put(&b->out, ")\n");
    b->inner += loops;
    int next = statement(b, behind, end);
    b->inner -= loops;
    while (!loops && next < end && is_line_mark(b->s, token_at(b, next))) next++;
    if (!loops && next < end && is(b, next, "else")) {
        put(&b->out, "else\n");
        next = statement(b, next + 1, end);
    }
    return next;
}

static int do_statement(struct body *b, int at, int end) {
    put(&b->out, "do\n");
    b->inner++;
    int next = statement(b, at + 1, end);
    b->inner--;
    while (next < end && !is(b, next, "(")) next++;
    const int behind = after_bracket(b->s, &b->s->tokens, next, end);
    put(&b->out, "while (");
    expression(b, next + 1, behind - 1);
    put(&b->out, ");\n");
    return behind + 1;
}

static int directive(struct body *b, int at) {
    struct source *s = b->s;
    const struct token *t = token_at(b, at);
    struct tokens words;
    if (is_line_mark(s, t)) return at + 1;
    lex(s, t->begin + 1, t->end, 0, &words);
    const int omp = words.count > 1 && token_is(s, &words.at[1], "omp");
    if (omp && !(words.count > 2 && token_is(s, &words.at[2], "simd")))
        error(s, t->begin, "no directive but simd may stand in the body of a kernel's loop");
    free(words.at);
    return at + 1;
}

/* return, goto, switch and labels */
static int refused(struct body *b, int at, int end) {
    const struct token *t = token_at(b, at);
    if (is(b, at, "return") && !b->in_function)
        error(b->s, t->begin, "return cannot leave a kernel's loop");
    else if (is(b, at, "goto") || is(b, at, "switch") || is(b, at, "__asm__") || is(b, at, "asm"))
        error(b->s, t->begin, "%.*s cannot be used in a kernel", LETTERS(b, t));
    else if (t->kind == T_NAME && is(b, at + 1, ":"))
        error(b->s, t->begin, "labels cannot be used in a kernel");
    else
        return 0;
    const int behind = statement_end(b->s, at, end, 0);
    return behind > at ? behind : end;
}

static int statement_of_kind(struct body *b, int at, int end) {
    if (token_at(b, at)->kind == T_DIRECTIVE) return directive(b, at);
    if (is(b, at, "{")) return block(b, at, end);
    if (is(b, at, "for")) return for_statement(b, at, end);
    if (is(b, at, "if") || is(b, at, "while")) return governed(b, at, end);
    if (is(b, at, "do")) return do_statement(b, at, end);
    const int behind = refused(b, at, end);
    if (behind) return behind;
    const int semicolon = to_semicolon(b, at, end);
    if (is(b, at, "continue") || is(b, at, "break") || is(b, at, "return")) {
        if (is(b, at, "continue") && !b->inner) b->continues = 1;
        put(&b->out, "%.*s ", LETTERS(b, token_at(b, at)));
        expression(b, at + 1, semicolon);
    } else {
        simple(b, at, semicolon);
    }
    put(&b->out, ";\n");
    return semicolon + 1;
}

static int statement(struct body *b, int at, int end) {
    while (at < end && token_at(b, at)->kind == T_DIRECTIVE) at = directive(b, at);
    if (at >= end) return end;
    if (++b->depth > 200) {
        error(b->s, token_at(b, at)->begin, "statements are nested too deeply here");
        return end;
    }
    const int behind = statement_of_kind(b, at, end);
    b->depth--;
    return behind < 0 || behind > end ? end : behind;
}

void body_statement(struct body *b, int at, int end) {
    while (at < end) at = statement(b, at, end);
}

/* ---- functions that are called ------------------------------------------------------------- */

/* "double evn_f1_name(double u_a, int u_b) " */
static void put_head(struct body *b, struct function *f, const char *how) {
    int behind, at = f->open + 1;
    while (f->begin < f->open && token_at(b, f->begin)->kind == T_DIRECTIVE) f->begin++;
    f->type = read_type(b->s, f->begin, f->open - 1, &behind);
    if (!f->type || behind != f->open - 1)
        error(b->s, f->name.begin,
              "\"%.*s\": functions that kernels call return int, long, float or double",
              LETTERS(b, &f->name));
    put(&b->out, "%s %s evn_f%d_%.*s(", how, type_name(f->type), b->number, LETTERS(b, &f->name));
    while (at < f->brace - 1) {
        const int comma = to_comma(b, at, f->brace - 1);
        const enum type type = read_type(b->s, at, comma, &behind);
        const struct token *t = token_at(b, behind);
        if (type && behind == comma - 1 && t->kind == T_NAME) {
            put(&b->out, "%s%s u_%.*s", at > f->open + 1 ? ", " : "", type_name(type),
                LETTERS(b, t));
            body_add(b, t, type, NAME_LOCAL);
        } else {
            error(b->s, token_at(b, at)->begin,
                  "parameters of functions that kernels call are int, long, float or double");
        }
        at = comma + 1;
    }
    put(&b->out, ") ");
}

/* One function, with its own names, to `out`; the text of it begins at *head and its body at *in.
 */
static void put_function(struct body *b, int i, const char *how, struct text *heads,
                         struct text *bodies) {
    struct function f = b->function[i];
    struct body in = {.s = b->s,
                      .number = b->number,
                      .before = f.begin,
                      .function = b->function,
                      .functions = b->functions,
                      .in_function = 1};
    put_head(&in, &f, how);
    put_bytes(bodies, in.out.at, in.out.length);
    put_bytes(heads, in.out.at, in.out.length);
    put(heads, ";\n");
    in.out.length = 0;
    body_statement(&in, f.brace, f.end);
    put_bytes(bodies, in.out.at, in.out.length);
    b->function = in.function;
    b->functions = in.functions;
    free(in.out.at);
    free(in.name);
}

void body_functions(struct body *b, const char *how, struct text *out) {
    struct text heads = {0}, bodies = {0};
    put_bytes(&heads, "", 0);
    put_bytes(&bodies, "", 0);
    for (int i = 0; i < b->functions && i < 100; i++) put_function(b, i, how, &heads, &bodies);
    put_bytes(out, heads.at, heads.length);
    put_bytes(out, bodies.at, bodies.length);
    free(heads.at);
    free(bodies.at);
}
