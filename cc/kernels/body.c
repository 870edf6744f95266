/* The body of a loop as text of the dialect: tokens are copied, names get a prefix of their own (no
 * word of another language can be among them), subscripts of arrays from outside become one. What
 * is not in the subset gets a message. */
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

struct name *body_add(struct body *b, const struct token *name, struct shape shape, int role) {
    b->name = more(b->name, (size_t)(b->names + 1) * sizeof *b->name);
    struct name *n = &b->name[b->names++];
    *n = (struct name){.token = *name, .shape = shape, .role = role};
    n->id = copy_of(token_letters(b->s, name), (size_t)token_length(name));
    n->text = copy_of(n->id, strlen(n->id));
    n->dimensions = shape.levels;
    return n;
}

void body_close(struct body *b) {
    for (int i = 0; i < b->names; i++) {
        free(b->name[i].id);
        free(b->name[i].text);
    }
    free(b->name);
    free(b->out.at);
}

/* The name, the innermost one of these letters; NULL. */
struct name *body_find(struct body *b, const struct token *t) {
    for (int i = b->names - 1; i >= 0; i--)
        if (!b->name[i].member && token_same(b->s, &b->name[i].token, t)) return &b->name[i];
    return NULL;
}

static struct name *find_text(struct body *b, const char *text) {
    for (int i = b->names - 1; i >= 0; i--)
        if (!strcmp(b->name[i].text, text)) return &b->name[i];
    return NULL;
}

static int is_assignment(const struct body *b, int at) {
    static const char *const signs[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (is(b, at, signs[i])) return 1;
    return 0;
}

static int is_prefix(const struct body *b, int at, int begin);
static int to_semicolon(const struct body *b, int at, int end);

/* Whether what begins at `at` and ends before `behind` is assigned to, within parentheses and with
 * members behind it, too. */
static int is_changed(const struct body *b, int at, int behind, int begin, int end) {
    while (behind < end) {
        if (is(b, behind, ")")) {
            while (at > begin && is(b, at - 1, "*") && is_prefix(b, at - 1, begin)) at--;
            if (at <= begin || !is(b, at - 1, "(")) break;
            at--, behind++;
        } else if (is(b, behind, ".") || is(b, behind, "->")) {
            behind += 2;
        } else if (is(b, behind, "[")) {
            behind = after_bracket(b->s, &b->s->tokens, behind, end);
            if (behind < 0) return 1;
        } else {
            break;
        }
    }
    if (behind < end && is_assignment(b, behind)) return 1;
    while (at > begin &&
           (is(b, at - 1, "(") || (is(b, at - 1, "*") && is_prefix(b, at - 1, begin))))
        at--;
    return at > begin && (is(b, at - 1, "++") || is(b, at - 1, "--"));
}

/* ---- names --------------------------------------------------------------------------------- */

static int is_member(const struct body *b, int at, int end) {
    return at + 1 < end && (is(b, at, ".") || is(b, at, "->")) &&
           token_at(b, at + 1)->kind == T_NAME;
}

/* A variable from outside with its members, z->in.n: as text, to be freed; *behind it. */
static char *path_text(const struct body *b, int at, int end, int *behind) {
    struct text out = {0};
    put(&out, "%.*s", LETTERS(b, token_at(b, at)));
    for (at++; is_member(b, at, end); at += 2)
        put(&out, "%.*s%.*s", LETTERS(b, token_at(b, at)), LETTERS(b, token_at(b, at + 1)));
    *behind = at;
    return out.at;
}

/* The shape of members [at, behind) of something; 0: there are no such. */
static int members_shape(const struct body *b, int at, int behind, struct shape *shape) {
    for (; at < behind; at += 2) {
        const int arrow = is(b, at, "->");
        if (shape->levels != arrow) return 0;
        if (!find_member(b->s, shape->type, token_at(b, at + 1), shape)) return 0;
    }
    return 1;
}

/* The reason why a kernel cannot use a name from outside; NULL: it can. */
static const char *unfit(const struct body *b, const struct shape *shape, int known) {
    if (!known)
        return "\"%s\" is no member that kernels can use; they use those of structures, that are "
               "numbers or arrays of numbers";
    if (shape->type <= TYPE_VOID)
        return "\"%s\" is of a type that kernels do not have; they have integers, float and "
               "double, "
               "and structures of them";
    if (!type_is_plain(b->s, shape->type))
        return "\"%s\" is a structure that kernels do not have; they have those whose members are "
               "integers, but no _Bool, float and double, and arrays of constant sizes of them";
    for (int i = 1; i < shape->levels; i++)
        if (!shape->open[i])
            return "\"%s\" is made of pointers; a kernel knows arrays in one piece";
    return NULL;
}

/* Outer names come first: inner ones hide them, and end before. */
static struct name *to_front(struct body *b) {
    int i = b->names - 1;
    const struct name last = b->name[i];
    for (; i > 0 && b->name[i - 1].role == NAME_LOCAL; i--) b->name[i] = b->name[i - 1];
    b->name[i] = last;
    return &b->name[i];
}

/* A name from outside of the loop, used for the first time: tokens [at, behind). */
static struct name *outer(struct body *b, int at, int behind, char *text) {
    const struct token *t = token_at(b, at);
    const struct declared d = find_declared(b->s, b->before, t);
    struct shape shape = d.shape;
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
    const char *wrong = unfit(b, &shape, members_shape(b, at + 1, behind, &shape));
    if (wrong) {
        complain(b->s, t->begin, "error", wrong, text);
        return NULL;
    }
    struct name *n = body_add(b, t, shape, shape.levels ? NAME_ARRAY : NAME_SCALAR);
    free(n->text);
    n->text = copy_of(text, strlen(text));
    for (int i = at + 1; i < behind; i += 2) n->by_arrow |= is(b, i, "->");
    if (behind > at + 1) { /* no name of the user's begins with a digit */
        struct text id = {0};
        put(&id, "%d%.*s", b->members++, LETTERS(b, token_at(b, behind - 1)));
        free(n->id);
        n->id = id.at;
        n->member = 1;
    }
    return to_front(b);
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

/* Reads a subscript, whose value is never a pointer. */
static void subscript(struct body *b, int at, int end) {
    const int pointing = b->pointing;
    b->pointing = 0;
    body_expression(b, at, end);
    b->pointing = pointing;
}

/* a[i][j] of a name from outside: one subscript, with its strides. With one less than all: where
 * the row begins. */
static void put_element(struct body *b, const char *id, int at, int dimensions, int used) {
    if (used < dimensions) put(&b->out, "(");
    put(&b->out, used < dimensions ? used ? "&evn_a_%s[" : "evn_a_%s" : "evn_a_%s[", id);
    for (int k = 0; k < used; k++) {
        const int behind = after_bracket(b->s, &b->s->tokens, at, b->s->tokens.count);
        const int last = k + 1 == dimensions;
        put(&b->out, last ? "(" : "(evn_cu_int)(");
        subscript(b, at + 1, behind - 1);
        if (last)
            put(&b->out, ")");
        else
            put(&b->out, ") * evn_s%d_%s%s", k, id,
                k + 1 < used || used == dimensions ? " + " : "");
        at = behind;
    }
    put(&b->out, used < dimensions ? used ? "]) " : ") " : "] ");
}

static void wrong_dimensions(struct body *b, const struct token *t, const char *text, int has,
                             int used) {
    if (!used)
        error(b->s, t->begin,
              "\"%s\" is an array; a kernel uses its elements, with all %d subscripts", text, has);
    else if (!has)
        error(b->s, t->begin, "\"%s\" is no array of this loop", text);
    else
        error(b->s, t->begin, "\"%s\" has %d subscripts here and %d elsewhere", text, used, has);
}

/* Subscripts and members behind a value of a shape, as they are; the token behind them. */
static int selectors(struct body *b, int at, int end, struct shape *shape) {
    while (at < end) {
        if (is(b, at, "[")) {
            const int next = after_bracket(b->s, &b->s->tokens, at, end);
            if (next < 0) return end;
            put(&b->out, "[");
            subscript(b, at + 1, next - 1);
            put(&b->out, "] ");
            if (!shape->levels) {
                error(b->s, token_at(b, at)->begin, "this is no array of this loop");
                return next;
            }
            for (int i = 1; i < shape->levels; i++) shape->open[i - 1] = shape->open[i];
            shape->levels--;
            at = next;
        } else if (is_member(b, at, end)) {
            if (!members_shape(b, at, at + 2, shape))
                error(b->s, token_at(b, at + 1)->begin, "there is no such member for a kernel");
            put(&b->out, "%.*s u_%.*s ", LETTERS(b, token_at(b, at)),
                LETTERS(b, token_at(b, at + 1)));
            at += 2;
        } else {
            break;
        }
    }
    return at;
}

/* Notes that a pointer to what `n` is goes where b->pointing says. */
static void points(struct body *b, struct name *n) {
    const int own = n->pointer && !n->parameter;
    n->in_memory = 1;
    if (b->pointing == 1 && !own) n->flows = 1;
    if (b->pointing == 3) {
        if (own) b->pointer_written = 1;
        n->written = 1;
    }
}

/* A name of the body's own, or of its loops and sums. */
static int own_variable(struct body *b, struct name *n, int at, int begin, int end) {
    const struct token *t = token_at(b, at);
    struct shape shape = n->shape;
    const int which = (int)(n - b->name),
              dereferenced = at > begin && is(b, at - 1, "*") && is_prefix(b, at - 1, begin);
    put(&b->out, "u_%s ", n->id);
    const int behind = selectors(b, at + 1, end, &shape);
    n = &b->name[which];
    const int changed = is_changed(b, at, behind, begin, end);
    if (changed && n->role == NAME_LOOP)
        error(b->s, t->begin, "the loop variable \"%.*s\" may not be written", LETTERS(b, t));
    n->written |= changed && (!n->pointer || behind > at + 1 || dereferenced);
    if (n->pointer) {
        if (changed && !n->parameter && (behind > at + 1 || dereferenced)) b->pointer_written = 1;
        if (b->pointing) points(b, n);
        if (behind == at + 1 && !dereferenced && is(b, behind, "=")) {
            const int device = body_points(b, behind + 1, to_semicolon(b, behind, end));
            if (device >= 0 && device != n->device)
                error(b->s, t->begin,
                      "\"%.*s\" points to the body's own variables in one place and to arrays from "
                      "outside of the loop in another",
                      LETTERS(b, t));
            b->pointing = 1;
        }
    } else if (shape.levels && !b->pointing) {
        wrong_dimensions(b, t, n->text, n->dimensions, n->dimensions - shape.levels);
    }
    return behind;
}

/* An array from outside, with its subscripts at token `at`. */
static int array(struct body *b, const struct name *n, int first, int at, int end) {
    const struct token *t = token_at(b, first);
    struct shape element = {.type = n->shape.type};
    int behind;
    const int used = subscripts(b, at, end, &behind), dimensions = n->dimensions;
    char *id = copy_of(n->id, strlen(n->id));
    const int row = b->pointing && used + 1 == dimensions && !is_member(b, behind, end);
    if (used != dimensions && !row) {
        wrong_dimensions(b, t, n->text, dimensions, used);
        while (is_member(b, behind, end)) subscripts(b, behind + 2, end, &behind);
    } else {
        put_element(b, id, at, dimensions, used);
        behind = selectors(b, behind, end, &element);
    }
    free(id);
    return behind;
}

/* A name in an expression that begins at token `begin`; the token behind it and its subscripts. */
static int variable(struct body *b, int at, int begin, int end) {
    const struct token *t = token_at(b, at);
    struct name *n = body_find(b, t);
    if (n && n->role != NAME_SCALAR && n->role != NAME_ARRAY)
        return own_variable(b, n, at, begin, end);
    int behind, used;
    char *text = path_text(b, at, end, &behind);
    n = find_text(b, text);
    if (!n || (n->role != NAME_SCALAR && n->role != NAME_ARRAY)) n = outer(b, at, behind, text);
    free(text);
    if (!n) {
        do subscripts(b, behind, end, &behind);
        while (is_member(b, behind, end) && (behind += 2));
        return behind;
    }
    const int selected = behind;
    (void)subscripts(b, selected, end, &used);
    while (is_member(b, used, end)) subscripts(b, used + 2, end, &used);
    const int changed = is_changed(b, at, used, begin, end);
    const int first = changed && !n->written;
    n->written |= changed;
    if (n->role == NAME_ARRAY) {
        if (b->pointing) points(b, n);
        return array(b, n, at, selected, end);
    }
    if (first)
        error(
            b->s, t->begin,
            "\"%s\" is written by all iterations; declare it in the loop, or name it in reduction",
            n->text);
    put(&b->out, "u_%s ", n->id);
    if (used > selected) wrong_dimensions(b, t, n->text, 0, 1);
    return used;
}

/* ---- where pointers point ------------------------------------------------------------------ */

int body_points(struct body *b, int at, int end) {
    for (int i = at; i < end; i++) {
        if (is(b, i, "[")) {
            const int behind = after_bracket(b->s, &b->s->tokens, i, end);
            i = behind < 0 ? end : behind - 1;
        } else if (is_member(b, i, end)) {
            i++;
        } else if (token_at(b, i)->kind == T_NAME && !is_keyword(b->s, i)) {
            const int address = i > at && is(b, i - 1, "&") && is_prefix(b, i - 1, at);
            const struct name *n = body_find(b, token_at(b, i));
            if (n && n->role != NAME_SCALAR && n->role != NAME_ARRAY) {
                if (n->pointer) return n->device;
                if (n->shape.levels || address) return 0;
                continue;
            }
            if (b->in_function) continue;
            int behind;
            free(path_text(b, i, end, &behind));
            struct shape shape = find_declared(b->s, b->before, token_at(b, i)).shape;
            if (members_shape(b, i + 1, behind, &shape) && shape.levels) return 1;
            i = behind - 1;
        }
    }
    return -1;
}

/* Where a pointer of the body's own points, which is declared before token `at`. */
static int points_ahead(struct body *b, const struct token *name, int at) {
    for (int i = at; i + 1 < b->end; i++) {
        if (!token_same(b->s, token_at(b, i), name) || !is(b, i + 1, "=")) continue;
        if (is(b, i - 1, ".") || is(b, i - 1, "->") || is(b, i - 1, "*")) continue;
        const int device = body_points(b, i + 2, to_semicolon(b, i + 2, b->end));
        if (device >= 0) return device;
    }
    return 0;
}

void body_settle(struct body *b) {
    for (int i = 0; i < b->names; i++)
        if (b->name[i].flows) b->name[i].written |= b->pointer_written;
}

/* ---- expressions --------------------------------------------------------------------------- */

/* 1L for 1LL, which OpenCL does not have. */
static void number(struct body *b, int at) {
    const struct token *t = token_at(b, at);
    const int converted = at > 2 && is(b, at - 1, ")") && is(b, at - 2, "double") &&
                          is(b, at - 3, "("); /* (double)1.7e308L, as DBL_MAX is */
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
    if (memchr(c, '\'', (size_t)n) || (real && longs && !converted) ||
        (hex && memchr(c, 'p', (size_t)n)) || !isdigit((unsigned char)(c[0] == '.' ? '0' : c[0])))
        error(b->s, t->begin, "this number is of a type that kernels do not have");
    put(&b->out, "%.*s%s%s%s ", digits, c, is_unsigned ? "U" : "", longs && !real ? "L" : "",
        is_float ? "f" : "");
}

static int is_all(const char *c, int n, const char *letters) {
    return (int)strspn(c, letters) == n;
}

/* 'a', of one character of ASCII or an escape that all compilers have. In C it is an int. */
static void character(struct body *b, const struct token *t) {
    const char *c = token_letters(b->s, t);
    const int n = token_length(t), escaped = n > 3 && c[1] == '\\';
    const int octal = escaped && n - 3 <= 3 - (c[2] > '3') && is_all(c + 2, n - 3, "01234567"),
              hex = escaped && n > 4 && n < 7 && c[2] == 'x' &&
                    is_all(c + 3, n - 4, "0123456789abcdefABCDEF"),
              known = escaped && n == 4 && strchr("abfnrtv\\'\"?", c[2]);
    if (c[n - 1] == '"')
        error(b->s, t->begin, "text cannot be used in a kernel");
    else if (c[0] != '\'' || !(n == 3 || octal || hex || known) || c[1] < ' ' || c[1] > '~')
        error(b->s, t->begin,
              "%.*s cannot be used in a kernel; a character is one of ASCII, or an escape as "
              "'\\n', '\\101' and '\\x41'",
              n, c);
    put(&b->out, "((%s)%.*s) ", b->s->cxx ? "char" : "int", n, c);
}

/* The shape of a variable with subscripts, members or a * before it, in all of [at, end); 0: it is
 * something else. */
int body_shape(struct body *b, int at, int end, struct shape *shape) {
    const int star = is(b, at, "*");
    if (at + star >= end || token_at(b, at + star)->kind != T_NAME) return 0;
    const struct name *n = body_find(b, token_at(b, at + star));
    int behind = at + star + 1;
    *shape = n && n->role != NAME_ARRAY && n->role != NAME_SCALAR
                 ? n->shape
                 : find_declared(b->s, b->before, token_at(b, at + star)).shape;
    while (behind < end) {
        if (is(b, behind, "[") && shape->levels) {
            behind = after_bracket(b->s, &b->s->tokens, behind, end);
            if (behind < 0) return 0;
            for (int i = 1; i < shape->levels; i++) shape->open[i - 1] = shape->open[i];
            shape->levels--;
        } else if (is_member(b, behind, end) && members_shape(b, behind, behind + 2, shape)) {
            behind += 2;
        } else {
            return 0;
        }
    }
    if (star && !shape->levels) return 0;
    for (int i = 1; star && i < shape->levels; i++) shape->open[i - 1] = shape->open[i];
    shape->levels -= star;
    return shape->type > TYPE_VOID && type_is_plain(b->s, shape->type);
}

/* sizeof of a type or a variable whose size is a constant. */
static int size_of(struct body *b, int at, int end) {
    const int parens = is(b, at + 1, "(");
    int behind = parens ? after_bracket(b->s, &b->s->tokens, at + 1, end) : at + 2, type_end = 0;
    const int first = at + 1 + parens;
    while (!parens && behind < end && (is(b, behind, "[") || is_member(b, behind, end)))
        behind = is(b, behind, "[") ? after_bracket(b->s, &b->s->tokens, behind, end) : behind + 2;
    const int last = behind - parens;
    struct shape shape = {0};
    if (behind > first) {
        shape = read_shape(b->s, first, last, &type_end);
        if (type_end > first) {
            for (; type_end < last && is(b, type_end, "*"); type_end++)
                shape = (struct shape){.type = TYPE_ULONG}; /* as large as a pointer */
            if (type_end != last || !type_is_plain(b->s, shape.type)) shape.type = TYPE_NONE;
        } else if (!body_shape(b, first, last, &shape)) {
            shape.type = TYPE_NONE;
        }
    }
    const int pointer = shape.levels && !shape.open[0];
    const long count = pointer ? 1 : shape_count(b->s, &shape, 0);
    if (!shape.type || !count) {
        error(
            b->s, token_at(b, at)->begin,
            "sizeof in a kernel is of a type or a variable that kernels have, of a constant size");
        return behind > at ? behind : end;
    }
    put(&b->out, "((evn_cu_uint)(%ld * sizeof(%s))) ", count,
        type_name(b->s, pointer ? TYPE_ULONG : shape.type));
    return behind;
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
    if (is(b, behind, ")") && type && type < TYPE_STRUCTURE) {
        put(&b->out, "(%s)", type_name(b->s, type));
        return behind + 1;
    }
    error(b->s, token_at(b, at)->begin,
          "a kernel can convert to integers, float and double, and to nothing else");
    const int next = after_bracket(b->s, &b->s->tokens, at, end);
    return next < 0 ? end : next;
}

/* Whether the * or & at `at` is before a name that it can be before. */
static int is_pointing(struct body *b, int at, int end) {
    if (at + 1 >= end || token_at(b, at + 1)->kind != T_NAME) return 0;
    const struct name *n = body_find(b, token_at(b, at + 1));
    const int own = n && n->role == NAME_LOCAL;
    if (is(b, at, "*")) return own && n->pointer;
    return b->pointing && (own || body_points(b, at + 1, end) == 1);
}

static int sign(struct body *b, int at, int begin, int end) {
    const struct token *t = token_at(b, at);
    if ((is(b, at, "*") || is(b, at, "&")) && is_prefix(b, at, begin) && !is_pointing(b, at, end)) {
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
    if (is_member(b, at, end)) {
        put(&b->out, "%.*s u_%.*s ", LETTERS(b, t), LETTERS(b, token_at(b, at + 1)));
        return at + 2;
    }
    put(&b->out, "%.*s ", LETTERS(b, t));
    return at + 1;
}

void body_expression(struct body *b, int at, int end) {
    const int begin = at;
    while (at < end) {
        const struct token *t = token_at(b, at);
        if (t->kind == T_DIRECTIVE) {
            at++;
        } else if (t->kind == T_TEXT) {
            character(b, t);
            at++;
        } else if (t->kind == T_NUMBER) {
            number(b, at);
            at++;
        } else if (t->kind == T_SIGN) {
            at = sign(b, at, begin, end);
        } else if (is(b, at, "sizeof")) {
            at = size_of(b, at, end);
        } else if (b->s->cxx && (is(b, at, "true") || is(b, at, "false"))) {
            put(&b->out, is(b, at, "true") ? "1 " : "0 ");
            at++;
        } else if (b->s->cxx && body_clothes(b, at, end) > at) {
            at = b->behind;
        } else if (at + 1 < end && is(b, at + 1, "(")) {
            at = body_call(b, at, end);
        } else {
            at = variable(b, at, begin, end);
        }
    }
}

/* ---- declarations -------------------------------------------------------------------------- */

/* The comma or the end of [at, end) outside of brackets. */
int body_to_comma(const struct body *b, int at, int end) {
    while (at < end && !is(b, at, ",")) {
        const int open = is(b, at, "(") || is(b, at, "[") || is(b, at, "{");
        const int behind = open ? after_bracket(b->s, &b->s->tokens, at, end) : at + 1;
        at = behind < 0 ? end : behind;
    }
    return at;
}

/* A value that something begins with: an expression, or a list of such in braces. */
static void value(struct body *b, int at, int end) {
    if (at >= end || !is(b, at, "{") || b->depth > 200) {
        body_expression(b, at, end);
        return;
    }
    const int behind = after_bracket(b->s, &b->s->tokens, at, end);
    const int close = behind < 0 ? end : behind - 1;
    b->depth++;
    put(&b->out, "{");
    for (int i = at + 1; i < close;) {
        const int comma = body_to_comma(b, i, close);
        value(b, i, comma);
        if (comma < close) put(&b->out, ", ");
        i = comma + 1;
    }
    put(&b->out, "} ");
    b->depth--;
}

static void initial(struct body *b, int at, int end) {
    put(&b->out, "= ");
    value(b, at, end);
}

/* The sizes of an array are numbers. */
static int check_sizes(struct body *b, const struct shape *shape) {
    if (shape_count(b->s, shape, 0)) return 1;
    error(b->s, token_at(b, shape->open[0] + 1)->begin,
          "the size of an array in a kernel is a number");
    return 0;
}

/* Whether a name's shape is one of the body's own: a plain one, an array of it, a pointer to it. */
static int is_own(const struct body *b, const struct shape *shape) {
    if (!type_is_plain(b->s, shape->type)) return 0;
    if (shape->levels == 1 && !shape->open[0]) return 1;
    for (int i = 0; i < shape->levels; i++)
        if (!shape->open[i]) return 0;
    return 1;
}

/* *name[3][5] = ..; the token behind it. */
static int declarator(struct body *b, int at, int end, const struct shape *base, const char *how,
                      int typed) {
    const int comma = body_to_comma(b, at, end);
    struct shape shape = *base;
    int name = at;
    while (name < comma && (is(b, name, "*") || is(b, name, "(") || is_qualifier(b->s, name)))
        name++;
    const struct token *t = token_at(b, name);
    int fine = name < comma && t->kind == T_NAME &&
               read_declarator(b->s, name, at, comma, &shape) && is_own(b, &shape);
    if (!fine) {
        error(b->s, t->begin,
              "a kernel's own variables are numbers, structures of numbers, arrays of a constant "
              "size of them, and pointers to them");
        return end;
    }
    const int pointer = shape.levels && !shape.open[0];
    const int sized = pointer || check_sizes(b, &shape);
    int behind = name + 1;
    while (behind < comma && !is(b, behind, "=")) {
        if (!is(b, behind, "[") && !is(b, behind, ")")) {
            error(b->s, token_at(b, behind)->begin, "expected , or ; or = in this declaration");
            return comma;
        }
        behind =
            is(b, behind, "[") ? after_bracket(b->s, &b->s->tokens, behind, comma) : behind + 1;
        if (behind < 0) return end;
    }
    const int device = !pointer         ? 0
                       : behind < comma ? body_points(b, behind + 1, comma)
                                        : points_ahead(b, t, comma);
    if (typed)
        put(&b->out, "%s%s%s ", device > 0 ? "EVN_GLOBAL " : "", how, type_name(b->s, shape.type));
    put(&b->out, "%su_%.*s ", pointer ? "*" : "", LETTERS(b, t));
    if (!pointer && sized) put_sizes(b->s, &b->out, &shape, 0);
    struct name *n = body_add(b, t, shape, NAME_LOCAL);
    n->pointer = pointer;
    n->device = device > 0;
    if (behind >= comma) return comma;
    b->pointing = pointer;
    initial(b, behind + 1, comma);
    b->pointing = 0;
    return comma;
}

/* auto name = value; 0: it is none. */
static int automatic(struct body *b, int at, int end) {
    int constant = 0;
    for (; at < end && is_qualifier(b->s, at); at++) constant |= is(b, at, "const");
    if (at >= end || !b->s->cxx || !is(b, at, "auto")) return 0;
    const struct token *t = token_at(b, at + 1);
    const enum type type =
        t->kind == T_NAME && at + 3 < end && is(b, at + 2, "=") && body_to_comma(b, at, end) == end
            ? body_type(b, at + 3, end)
            : TYPE_NONE;
    if (!type) {
        error(b->s, token_at(b, at)->begin,
              "auto: a kernel reads the type of one value of numbers, +, -, *, /, min, max and "
              "conversions; name the type here");
        return 1;
    }
    put(&b->out, "%s%s u_%.*s ", constant ? "const " : "", type_name(b->s, type), LETTERS(b, t));
    initial(b, at + 3, end);
    body_add(b, t, (struct shape){.type = type}, NAME_LOCAL);
    return 1;
}

/* A declaration, its semicolon at `end`; 0: it is none. In the head of a loop all its variables
 * are of one kind. */
static int declaration(struct body *b, int at, int end, int head) {
    int behind;
    if (automatic(b, at, end)) return 1;
    const struct shape base = read_shape(b->s, at, end, &behind);
    if (behind == at) return 0;
    for (int i = at; i < behind; i++)
        if (is(b, i, "static") || is(b, i, "extern") || is(b, i, "volatile")) {
            error(b->s, token_at(b, i)->begin, "%.*s cannot be used in a kernel",
                  LETTERS(b, token_at(b, i)));
            return 1;
        }
    if (base.type <= TYPE_VOID || !type_is_plain(b->s, base.type)) {
        error(b->s, token_at(b, at)->begin,
              "this is a type that kernels do not have; they have integers, float and double, and "
              "structures of them");
        return 1;
    }
    const char *how = "";
    for (int i = at; i < behind; i++)
        if (is(b, i, "const")) how = "const ";
    for (int i = behind; i < end;) {
        i = declarator(b, i, end, &base, how, !head || i == behind);
        if (i < end) put(&b->out, head ? ", " : ";\n");
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
static void simple(struct body *b, int at, int end, int head) {
    if (!declaration(b, at, end, head)) body_expression(b, at, end);
    b->pointing = 0;
}

/* At the end of a block: forgets its local names, all but the first `locals`. */
static void leave(struct body *b, int locals) {
    int count = 0;
    for (int i = 0; i < b->names; i++) count += b->name[i].role == NAME_LOCAL;
    for (; count > locals; count--) {
        struct name *n = &b->name[--b->names];
        free(n->id);
        free(n->text);
    }
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
    simple(b, at + 2, first, 1);
    put(&b->out, "; ");
    body_expression(b, first + 1, second);
    put(&b->out, "; ");
    body_expression(b, second + 1, behind - 1);
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
    body_expression(b, at + 2, behind - 1);
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
    body_expression(b, next + 1, behind - 1);
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
        error(s, t->begin,
              "no directive but simd, atomic and parallel for may stand in the body of a kernel's "
              "loop");
    free(words.at);
    return at + 1;
}

static int is_atomic(const struct body *b, int at) {
    struct tokens words;
    const struct token *t = token_at(b, at);
    lex(b->s, t->begin + 1, t->end, 0, &words);
    const int found = words.count > 2 && token_is(b->s, &words.at[1], "omp") &&
                      token_is(b->s, &words.at[2], "atomic");
    free(words.at);
    return found;
}

/* A parallel for in the region: one item does its iterations, one after another, with variables of
 * their own. */
static int parallel_statement(struct body *b, struct directive *d, int at, int end) {
    const int locals = locals_now(b);
    put(&b->out, "{\n");
    for (int i = 0; i < d->clauses; i++) {
        struct run names = d->clause[i].in, part;
        int next = 0;
        while (d->clause[i].kind == K_PRIVATE && run_part(b->s, names, &next, &part)) {
            struct name *n = part.count == 1 ? body_find(b, &part.at[0]) : NULL;
            struct shape shape = n ? n->shape : (struct shape){0};
            if (!n && part.count == 1) shape = find_declared(b->s, at, &part.at[0]).shape;
            if (!type_is_number(shape.type) || shape.levels) {
                error(b->s, d->clause[i].name.begin,
                      "private: expected variables that are numbers");
                continue;
            }
            put(&b->out, "%s u_%.*s;\n", type_name(b->s, shape.type), LETTERS(b, &part.at[0]));
            body_add(b, &part.at[0], shape, NAME_LOCAL);
        }
    }
    b->inner++;
    const int behind = statement(b, at + 1, end);
    b->inner--;
    put(&b->out, "}\n");
    leave(b, locals);
    if (!b->in_function) kernels_put_inner(b->s, d);
    return behind;
}

/* ---- assert -------------------------------------------------------------------------------- */

/* The condition of what the header's assert() has become, tokens [*from, *to); 0: it is none. */
static int asserted(const struct body *b, int at, int end, int *from, int *to, int *text) {
    int fails = 0, question = 0, branch = 0, depth = 0;
    for (int i = at; i < end && !fails; i++) {
        depth += is(b, i, "(") - is(b, i, ")");
        if (is(b, i, "__assert_fail") || is(b, i, "__assert")) fails = i;
        if (is(b, i, "if") && is(b, i + 1, "(")) branch = i + 1;
        if (is(b, i, "?") && depth == 1 && !question) question = i;
    }
    if (!fails || (!branch && !question)) return 0;
    *text = fails + 2;
    while (*text < end && token_at(b, *text)->kind == T_DIRECTIVE) ++*text;
    *from = branch ? branch + 1 : at + 1;
    *to = branch ? after_bracket(b->s, &b->s->tokens, branch, end) - 1 : question;
    return *to > *from && token_at(b, *text)->kind == T_TEXT;
}

/* An assertion that does not hold ends the item; the host is told which. */
static int assertion(struct body *b, int at, int end) {
    int from, to, text;
    if (!asserted(b, at, end, &from, &to, &text)) return 0;
    if (b->in_function) {
        error(b->s, token_at(b, at)->begin,
              "assert cannot be used in what a kernel calls, only in the body of its loop");
        return 1;
    }
    b->assertion = more(b->assertion, (size_t)(b->asserts + 1) * sizeof *b->assertion);
    b->assertion[b->asserts++] = text;
    put(&b->out, "if (!(");
    body_expression(b, from, to);
    put(&b->out, ")) {\nevn_failed = %d;\ngoto evn_end;\n}\n", b->asserts);
    return 1;
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
    if (is(b, at, "(") && at + 1 < end && is(b, at + 1, "{")) { /* ({ .. });, of no value */
        const int close = after_bracket(b->s, &b->s->tokens, at, end);
        const int inner = after_bracket(b->s, &b->s->tokens, at + 1, end);
        if (inner > 0 && close == inner + 1 && close < end && is(b, close, ";"))
            return block(b, at + 1, end), close + 1;
    }
    if (is(b, at, "for")) return for_statement(b, at, end);
    if (is(b, at, "if") || is(b, at, "while")) return governed(b, at, end);
    if (is(b, at, "do")) return do_statement(b, at, end);
    const int behind = refused(b, at, end);
    if (behind) return behind;
    const int semicolon = to_semicolon(b, at, end);
    if (assertion(b, at, semicolon)) return semicolon + 1;
    if (is(b, at, "continue") || is(b, at, "break") || is(b, at, "return")) {
        if (is(b, at, "continue") && !b->inner) b->continues = 1;
        put(&b->out, "%.*s ", LETTERS(b, token_at(b, at)));
        body_expression(b, at + 1, semicolon);
    } else {
        simple(b, at, semicolon, 0);
    }
    put(&b->out, ";\n");
    return semicolon + 1;
}

static int statement(struct body *b, int at, int end) {
    while (at < end && token_at(b, at)->kind == T_DIRECTIVE) {
        struct directive d;
        if (kernels_inner(b->s, at, &d)) {
            const int behind = parallel_statement(b, &d, at, end);
            directive_close(&d);
            return behind;
        }
        if (is_atomic(b, at)) return body_atomic(b, at, end);
        at = directive(b, at);
    }
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
