/* Types as kernels have them, read from tokens: numbers, structures of numbers, and arrays of and
 * pointers to both. It need not be right, since the compiler is made to check it. */
#include "kernels.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A structure that the file defines. */
struct layout {
    int open;   /* its brace; what it is known by */
    char *name; /* in what is generated */
    char *text; /* its members there; NULL: it is not asked for, or it has others than numbers */
};

struct layouts {
    struct layout *at;
    int count, number;
};

static int is(const struct source *s, int at, const char *letters) {
    return token_is(s, &s->tokens.at[at], letters);
}

static int one_of(const struct source *s, int at, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (is(s, at, words[i])) return 1;
    return 0;
}

int is_qualifier(const struct source *s, int at) {
    static const char *const words[] = {"const",         "volatile",     "static",   "extern",
                                        "register",      "inline",       "restrict", "__restrict",
                                        "__extension__", "__restrict__", "__inline", "__inline__",
                                        "constexpr"};
    return one_of(s, at, words, sizeof words / sizeof *words);
}

/* double (&u)[3], const double &by: as what it refers to. */
int is_reference(const struct source *s, int at) { return s->cxx && is(s, at, "&"); }

int is_keyword(const struct source *s, int at) {
    static const char *const words[] = {"return", "goto", "else",  "case",   "sizeof", "do",
                                        "if",     "for",  "while", "switch", "break",  "continue"};
    return one_of(s, at, words, sizeof words / sizeof *words);
}

/* ---- names of types ------------------------------------------------------------------------ */

const char *type_name(const struct source *s, enum type type) {
    static const char *const names[] = {
        "?",     "void",           "evn_cu_bool", "char",         "signed char", "unsigned char",
        "short", "unsigned short", "int",         "unsigned int", "evn_cu_int",  "evn_cu_uint",
        "float", "double"};
    return type < TYPE_STRUCTURE ? names[type] : s->layouts->at[type - TYPE_STRUCTURE].name;
}

int type_is_number(enum type type) { return type > TYPE_VOID && type < TYPE_STRUCTURE; }

int type_is_real(enum type type) { return type == TYPE_FLOAT || type == TYPE_DOUBLE; }

void put_same_type(const struct source *s, struct text *out, enum type type, const char *format,
                   ...) {
    char of[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(of, sizeof of, format, list);
    va_end(list);
    const char *const either[2] = {type == TYPE_LONG    ? "long"
                                   : type == TYPE_ULONG ? "unsigned long"
                                                        : type_name(s, type),
                                   type == TYPE_LONG    ? "long long"
                                   : type == TYPE_ULONG ? "unsigned long long"
                                                        : NULL};
    for (int i = 0; i < 2 && either[i]; i++)
        put(out,
            s->cxx ? "%sevn_cxx_same<decltype(%s), %s>::evn_is"
                   : "%s__builtin_types_compatible_p(__typeof__(%s), %s)",
            i ? " || " : "", of, either[i]);
}

static enum type structure_at(const struct source *s, int open) {
    struct layouts *l = s->layouts;
    if (!l) return TYPE_NONE;
    for (int i = 0; i < l->count; i++)
        if (l->at[i].open == open) return (enum type)(TYPE_STRUCTURE + i);
    struct text name = {0};
    put(&name, "struct evn_%d_s%d", l->number, l->count);
    l->at = more(l->at, (size_t)(l->count + 1) * sizeof *l->at);
    l->at[l->count] = (struct layout){open, name.at, NULL};
    return (enum type)(TYPE_STRUCTURE + l->count++);
}

void layouts_open(struct source *s, int number) {
    s->layouts = more(NULL, sizeof *s->layouts);
    *s->layouts = (struct layouts){.number = number};
}

void layouts_close(struct source *s) {
    for (int i = 0; i < s->layouts->count; i++) {
        free(s->layouts->at[i].name);
        free(s->layouts->at[i].text);
    }
    free(s->layouts->at);
    free(s->layouts);
    s->layouts = NULL;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The brace of `struct NAME { .. }` in the file, or 0. */
static int tagged(const struct source *s, const struct token *name) {
    for (int i = 0; i + 2 < s->tokens.count; i++)
        if (is(s, i, "struct") && token_same(s, &s->tokens.at[i + 1], name) && is(s, i + 2, "{"))
            return i + 2;
    return 0;
}

/* struct NAME, struct { .. }, struct NAME { .. } at token `at`. */
static struct shape structure(const struct source *s, int at, int end, int *behind) {
    struct shape shape = {0};
    const int named = at + 1 < end && s->tokens.at[at + 1].kind == T_NAME;
    const int brace = at + 1 + named;
    *behind = brace < end ? brace : end;
    const int is_struct = is(s, at, "struct");
    if (brace < end && is(s, brace, "{")) {
        const int close = after_bracket(s, &s->tokens, brace, end);
        *behind = close < 0 ? end : close;
        if (is_struct && close > 0) shape.type = structure_at(s, brace);
    } else if (is_struct && named) {
        const int open = tagged(s, &s->tokens.at[at + 1]);
        if (open) shape.type = structure_at(s, open);
    }
    return shape;
}

static int to_semicolon(const struct source *s, int at, int end) {
    while (at < end && !is(s, at, ";")) {
        const int behind = is(s, at, "{") ? after_bracket(s, &s->tokens, at, end) : at + 1;
        at = behind < 0 ? end : behind;
    }
    return at;
}

static struct shape read_base(const struct source *s, int at, int end, int *behind, int depth);

/* Type by the nearest "typedef .. NAME ..;" before token `before`. */
static struct shape named_type(const struct source *s, int before, const struct token *name,
                               int depth) {
    for (int i = before - 1; i >= 0 && depth < 10; i--) {
        if (!is(s, i, "typedef")) continue;
        const int end = to_semicolon(s, i, before);
        int at = end - 1, behind;
        while (at > i && is(s, at, "]")) { /* name[3] */
            while (at > i && !is(s, at, "[")) at--;
            at--;
        }
        if (end == before || at <= i + 1 || !token_same(s, &s->tokens.at[at], name)) continue;
        struct shape shape = read_base(s, i + 1, at, &behind, depth + 1);
        if (behind == i + 1 || !read_declarator(s, at, behind, end, &shape)) break;
        return shape;
    }
    return (struct shape){0};
}

static struct shape read_base(const struct source *s, int at, int end, int *behind, int depth) {
    int longs = 0, ints = 0, others = 0, reals = 0, floats = 0, unsigneds = 0, voids = 0, i = at,
        seen = 0, chars = 0, shorts = 0, bools = 0, signeds = 0;
    struct shape shape = {0};
    for (; i < end && s->tokens.at[i].kind == T_NAME; i++) {
        if (is_qualifier(s, i)) continue;
        if (is(s, i, "long"))
            longs++;
        else if (is(s, i, "int"))
            ints++;
        else if (is(s, i, "signed") || is(s, i, "__signed__"))
            signeds++;
        else if (is(s, i, "unsigned"))
            unsigneds++;
        else if (is(s, i, "double"))
            reals++;
        else if (is(s, i, "float"))
            floats++;
        else if (is(s, i, "void"))
            voids++;
        else if (is(s, i, "short"))
            shorts++;
        else if (is(s, i, "char"))
            chars++;
        else if (is(s, i, "_Bool") || (s->cxx && is(s, i, "bool")))
            bools++;
        else if (is(s, i, "_Complex"))
            others++;
        else
            break;
        seen = 1;
    }
    if (!seen && s->cxx && i + 3 < end && is(s, i, "std")) /* std::size_t */
        i += is(s, i + 1, "::") ? 2 : is(s, i + 1, ":") && is(s, i + 2, ":") ? 3 : 0;
    *behind = seen ? i : at;
    if (!seen && i < end && s->tokens.at[i].kind == T_NAME && !is_keyword(s, i)) {
        if (is(s, i, "struct") || is(s, i, "union") || is(s, i, "enum"))
            shape = structure(s, i, end, behind);
        else {
            shape = named_type(s, i, &s->tokens.at[i], depth);
            const int open = !shape.type && s->cxx ? tagged(s, &s->tokens.at[i]) : 0;
            if (open) shape.type = structure_at(s, open);
            if (shape.type || (i + 1 < end && s->tokens.at[i + 1].kind == T_NAME)) *behind = i + 1;
        }
        while (*behind > at && *behind < end && is_qualifier(s, *behind)) ++*behind;
        return shape;
    }
    if (others || (longs && reals)) return shape;
    shape.type = reals             ? TYPE_DOUBLE
                 : floats          ? TYPE_FLOAT
                 : bools           ? TYPE_BOOL
                 : chars           ? (unsigneds ? TYPE_UCHAR
                                      : signeds ? TYPE_SCHAR
                                                : TYPE_CHAR)
                 : shorts          ? (unsigneds ? TYPE_USHORT : TYPE_SHORT)
                 : unsigneds       ? (longs ? TYPE_ULONG : TYPE_UINT)
                 : longs           ? TYPE_LONG
                 : ints || signeds ? TYPE_INT
                 : voids           ? TYPE_VOID
                                   : TYPE_NONE;
    return shape;
}

struct shape read_shape(const struct source *s, int at, int end, int *behind) {
    return read_base(s, at, end, behind, 0);
}

enum type read_type(const struct source *s, int at, int end, int *behind) {
    const struct shape shape = read_base(s, at, end, behind, 0);
    return shape.levels ? TYPE_NONE : shape.type;
}

int read_declarator(const struct source *s, int name, int begin, int end, struct shape *shape) {
    struct shape out = {.type = shape->type};
    int left = name - 1, right = name + 1;
    for (;;) {
        while (right < end && is(s, right, "[")) {
            if (out.levels == LEVELS) return 0;
            out.open[out.levels++] = right;
            right = after_bracket(s, &s->tokens, right, end);
            if (right < 0) return 0;
        }
        if (right < end && is(s, right, "(")) return 0; /* a function */
        for (;
             left >= begin && (is(s, left, "*") || is_reference(s, left) || is_qualifier(s, left));
             left--) {
            if (!is(s, left, "*")) continue;
            if (out.levels == LEVELS) return 0;
            out.open[out.levels++] = 0;
        }
        if (left < begin || !is(s, left, "(") || right >= end || !is(s, right, ")")) break;
        left--, right++;
    }
    for (int i = 0; i < shape->levels; i++) {
        if (out.levels == LEVELS) return 0;
        out.open[out.levels++] = shape->open[i];
    }
    *shape = out;
    return 1;
}

/* ---- members ------------------------------------------------------------------------------- */

/* Declarators of a declaration, one by one: the token of the next name behind *at; 0: no more. */
static int next_name(const struct source *s, int *at, int end) {
    while (*at < end && (is(s, *at, "*") || is(s, *at, "(") || is_qualifier(s, *at))) ++*at;
    if (*at >= end || s->tokens.at[*at].kind != T_NAME) return 0;
    const int name = *at;
    while (*at < end && !is(s, *at, ",")) {
        const int open = is(s, *at, "[") || is(s, *at, "(") || is(s, *at, "{");
        const int behind = open ? after_bracket(s, &s->tokens, *at, end) : *at + 1;
        *at = behind < 0 ? end : behind;
    }
    ++*at;
    return name;
}

struct member {
    int name; /* its token */
    struct shape shape;
    int fine; /* it has a shape */
};

/* The next member of a structure behind token *at; the declaration it is in is [*from, *to). */
static int next_member(const struct source *s, int close, int *at, int *from, int *to,
                       struct member *m) {
    for (;;) {
        if (*at >= *to) { /* the next declaration */
            *from = *to;
            while (*from < close && (is(s, *from, ";") || s->tokens.at[*from].kind == T_DIRECTIVE))
                ++*from;
            if (*from >= close) return 0;
            *to = to_semicolon(s, *from, close);
            *at = *from;
        }
        int behind;
        m->shape = read_base(s, *from, *to, &behind, 0);
        if (behind == *from) behind = *from + 1;
        if (*at < behind) *at = behind;
        const int begin = *at;
        m->name = next_name(s, at, *to);
        if (!m->name) {
            *at = *to;
            continue;
        }
        m->fine = read_declarator(s, m->name, begin, *at - 1, &m->shape);
        for (int i = m->name; i < *at - 1; i++) m->fine &= !is(s, i, ":");
        return 1;
    }
}

int find_member(const struct source *s, enum type type, const struct token *name,
                struct shape *shape) {
    if (type < TYPE_STRUCTURE) return 0;
    const int open = s->layouts->at[type - TYPE_STRUCTURE].open;
    const int close = after_bracket(s, &s->tokens, open, s->tokens.count) - 1;
    int at = 0, from = open + 1, to = open + 1;
    struct member m;
    while (next_member(s, close, &at, &from, &to, &m)) {
        if (!token_same(s, &s->tokens.at[m.name], name)) continue;
        *shape = m.shape;
        return m.fine;
    }
    return 0;
}

static long constant_sum(const struct source *s, int *at, int *fine, int depth);

/* A number, or a sum in parentheses. */
static long constant(const struct source *s, int *at, int *fine, int depth) {
    long value = 0;
    if (s->tokens.at[*at].kind == T_NUMBER) {
        const char *c = token_letters(s, &s->tokens.at[*at]);
        char *end;
        value = strtol(c, &end, 0);
        *fine &= strspn(end, "uUlL") >= (size_t)(c + token_length(&s->tokens.at[*at]) - end);
        ++*at;
    } else if (is(s, *at, "(") && depth < 20) {
        ++*at;
        value = constant_sum(s, at, fine, depth + 1);
        *fine &= is(s, *at, ")");
        ++*at;
    } else {
        *fine = 0;
    }
    *fine &= value >= 0 && value <= 1 << 20;
    return *fine ? value : 0;
}

static long constant_product(const struct source *s, int *at, int *fine, int depth) {
    long value = constant(s, at, fine, depth);
    while (*fine && (is(s, *at, "*") || is(s, *at, "/"))) {
        const int divides = is(s, (*at)++, "/");
        const long other = constant(s, at, fine, depth);
        *fine &= other > 0 && (divides || value * other <= 1 << 20);
        if (*fine) value = divides ? value / other : value * other;
    }
    return value;
}

static long constant_sum(const struct source *s, int *at, int *fine, int depth) {
    long value = constant_product(s, at, fine, depth);
    while (*fine && (is(s, *at, "+") || is(s, *at, "-"))) {
        const int sign = is(s, (*at)++, "-") ? -1 : 1;
        value += sign * constant_product(s, at, fine, depth);
    }
    return value;
}

/* The size in the brackets that token `open` opens, of numbers, + - * / and parentheses; 0: it is
 * another one. */
static long constant_size(const struct source *s, int open) {
    int at = open + 1, fine = 1;
    const long value = open ? constant_sum(s, &at, &fine, 0) : 0;
    return open && fine && is(s, at, "]") && value > 0 ? value : 0;
}

long shape_count(const struct source *s, const struct shape *shape, int first) {
    long n = 1;
    for (int i = first; i < shape->levels; i++) {
        n *= constant_size(s, shape->open[i]);
        if (n <= 0 || n > 1 << 20) return 0;
    }
    return n;
}

void put_sizes(const struct source *s, struct text *out, const struct shape *shape, int first) {
    for (int i = first; i < shape->levels; i++) {
        put(out, "[%ld] ", constant_size(s, shape->open[i]));
    }
}

/* Writes the members of structure `which` in the dialect, those of structures in it first; 0: it
 * has members that kernels cannot have. */
static int make_layout(const struct source *s, int which, int depth) {
    const int open = s->layouts->at[which].open;
    const int close = after_bracket(s, &s->tokens, open, s->tokens.count) - 1;
    int at = 0, from = open + 1, to = open + 1, members = 0;
    struct text out = {0};
    struct member m;
    if (s->layouts->at[which].text) return 1;
    for (int i = open + 1; s->cxx && i < close; i++) /* members that do something, and values */
        if (is(s, i, "(") || is(s, i, "=") || is(s, i, "~") || is(s, i, "operator")) return 0;
    put_bytes(&out, "", 0);
    while (next_member(s, close, &at, &from, &to, &m)) {
        const enum type type = m.shape.type;
        /* OpenCL passes no structures with bool */
        const int fine = m.fine && type > TYPE_BOOL && shape_count(s, &m.shape, 0) &&
                         (type_is_number(type) ||
                          (depth < 8 && make_layout(s, (int)type - TYPE_STRUCTURE, depth + 1)));
        if (!fine) {
            free(out.at);
            return 0;
        }
        const struct token *name = &s->tokens.at[m.name];
        put(&out, "%s u_%.*s ", type_name(s, type), token_length(name), token_letters(s, name));
        put_sizes(s, &out, &m.shape, 0);
        put(&out, ";\n");
        members++;
    }
    if (!members) {
        free(out.at);
        return 0;
    }
    s->layouts->at[which].text = out.at;
    return 1;
}

int type_is_plain(const struct source *s, enum type type) {
    if (type < TYPE_STRUCTURE) return type_is_number(type);
    return make_layout(s, (int)type - TYPE_STRUCTURE, 0);
}

int type_alignment(const struct source *s, enum type type) {
    if (type < TYPE_STRUCTURE)
        return type == TYPE_LONG || type == TYPE_ULONG || type == TYPE_DOUBLE ? 8
               : type <= TYPE_UCHAR                                           ? 1
               : type <= TYPE_USHORT                                          ? 2
                                                                              : 4;
    int most = 1;
    const int open = s->layouts->at[type - TYPE_STRUCTURE].open;
    const int close = after_bracket(s, &s->tokens, open, s->tokens.count) - 1;
    int at = 0, from = open + 1, to = open + 1;
    struct member m;
    while (next_member(s, close, &at, &from, &to, &m)) {
        const int its = type_alignment(s, m.shape.type);
        if (its > most) most = its;
    }
    return most;
}

/* One definition, behind those that it needs; done[] has those that stand there already. */
static void put_layout(const struct source *s, struct text *out, int which, char *done) {
    const struct layout *l = &s->layouts->at[which];
    if (done[which] || !l->text) return;
    done[which] = 1;
    for (int i = 0; i < s->layouts->count; i++) {
        struct text used = {0};
        put(&used, "%s ", s->layouts->at[i].name);
        if (i != which && strstr(l->text, used.at)) put_layout(s, out, i, done);
        free(used.at);
    }
    put(out, "%s {\n%s};\n", l->name, l->text);
}

void put_layouts(const struct source *s, struct text *out) {
    const int n = s->layouts->count;
    char *done = more(NULL, (size_t)n + 1);
    memset(done, 0, (size_t)n + 1);
    for (int i = 0; i < n; i++) put_layout(s, out, i, done);
    free(done);
}

void put_layout_checks(const struct source *s, struct text *out, enum type type, const char *of) {
    const struct layout *l = &s->layouts->at[type - TYPE_STRUCTURE];
    const int close = after_bracket(s, &s->tokens, l->open, s->tokens.count) - 1;
    int at = 0, from = l->open + 1, to = l->open + 1;
    struct member m;
    put(out, "sizeof(%s) == sizeof(%s)", of, l->name);
    while (next_member(s, close, &at, &from, &to, &m)) {
        const struct token *t = &s->tokens.at[m.name];
        put(out, " && __builtin_offsetof(__typeof__(%s), %.*s) == __builtin_offsetof(%s, u_%.*s)",
            of, token_length(t), token_letters(s, t), l->name, token_length(t),
            token_letters(s, t));
        if (m.shape.levels || !type_is_number(m.shape.type)) continue;
        put(out, " && (");
        put_same_type(s, out, m.shape.type, "(%s).%.*s", of, token_length(t), token_letters(s, t));
        put(out, ")");
    }
}
