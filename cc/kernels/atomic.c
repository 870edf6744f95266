/* atomic in the body of a kernel's loop: an element is exchanged until nobody came between. */
#include "kernels.h"
#include <stdlib.h>
#include <string.h>

static int is(const struct body *b, int at, const char *letters) {
    return token_is(b->s, &b->s->tokens.at[at], letters);
}

enum kind { ATOMIC_UPDATE, ATOMIC_READ, ATOMIC_WRITE, ATOMIC_CAPTURE };

/* x = new, where new is (old op e), (old op ..) or (.. op old); tokens. */
struct change {
    int x, x_end;
    int op, op_width; /* the sign; its letters that count: + of += and of ++ */
    int e, e_end;     /* empty: 1 */
    enum { CHANGE_NONE, BY_OPERATOR, BY_ONE, OLD_FIRST, OLD_LAST, NEW_ONLY } form;
    int prefix; /* ++x: what is captured is the new value */
};

/* The first sign of assignment outside of brackets in [at, end), or end. */
static int to_assignment(const struct body *b, int at, int end) {
    static const char *const signs[] = {
        "=", "+=", "-=", "*=", "/=", "&=", "|=", "^=", "<<=", ">>="};
    while (at < end) {
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
            if (is(b, at, signs[i])) return at;
        const int open = is(b, at, "(") || is(b, at, "[");
        const int behind = open ? after_bracket(b->s, &b->s->tokens, at, end) : at + 1;
        at = behind < 0 ? end : behind;
    }
    return end;
}

static int same_tokens(const struct body *b, int at, int from, int count) {
    for (int i = 0; i < count; i++)
        if (!token_same(b->s, &b->s->tokens.at[at + i], &b->s->tokens.at[from + i])) return 0;
    return 1;
}

/* What a statement without its semicolon does. */
static struct change read_change(const struct body *b, int at, int end) {
    struct change c = {.x = at, .x_end = end};
    const int first = is(b, at, "++") || is(b, at, "--"),
              last = is(b, end - 1, "++") || is(b, end - 1, "--");
    if (first || last) {
        c.x += first;
        c.x_end -= last;
        c.op = first ? at : end - 1;
        c.op_width = 1;
        c.prefix = first;
        c.form = BY_ONE;
        return c;
    }
    const int sign = to_assignment(b, at, end);
    if (sign == end) return c;
    const int n = sign - at;
    c.x_end = sign;
    c.op = sign;
    c.op_width = token_length(&b->s->tokens.at[sign]) - 1;
    c.e = sign + 1;
    c.e_end = end;
    c.prefix = 1;
    if (c.op_width) {
        c.form = BY_OPERATOR;
    } else if (end - c.e > n + 1 && same_tokens(b, c.e, at, n)) {
        c.op = c.e + n;
        c.e = c.op + 1;
        c.form = OLD_FIRST;
    } else if (end - c.e > n + 1 && same_tokens(b, end - n, at, n)) {
        c.op = end - n - 1;
        c.e_end = c.op;
        c.form = OLD_LAST;
    } else {
        c.form = NEW_ONLY;
    }
    if (c.form == OLD_FIRST || c.form == OLD_LAST)
        c.op_width = token_length(&b->s->tokens.at[c.op]);
    return c;
}

/* Reads a statement for what it needs and for its errors; nothing is written of it. */
static void try(struct body *b, int at, int end) {
    const size_t length = b->out.length;
    body_expression(b, at, end);
    b->out.length = length;
    if (b->out.at) b->out.at[length] = 0;
}

/* Whether x is in memory that all items have. */
static int is_common(struct body *b, int at) {
    const struct name *n = body_find(b, &b->s->tokens.at[at + is(b, at, "*")]);
    if (!n) return 1;
    return n->role == NAME_ARRAY || n->role == NAME_SCALAR || (n->pointer && n->device);
}

static void put_old(struct body *b, const struct change *c, const char *type) {
    put(&b->out, "(%s)(", type);
    if (c->form == OLD_LAST || c->form == NEW_ONLY) body_expression(b, c->e, c->e_end);
    const struct token *op = &b->s->tokens.at[c->op];
    if (c->form == OLD_LAST || c->form == NEW_ONLY) {
        if (c->form == OLD_LAST) put(&b->out, "%.*s evn_old", c->op_width, token_letters(b->s, op));
    } else {
        put(&b->out, "evn_old %.*s ", c->op_width, token_letters(b->s, op));
        if (c->form == BY_ONE) {
            put(&b->out, "1");
        } else {
            put(&b->out, c->form == BY_OPERATOR ? "(" : "");
            body_expression(b, c->e, c->e_end);
            put(&b->out, c->form == BY_OPERATOR ? ")" : "");
        }
    }
    put(&b->out, ")");
}

/* `v`..`v_end`: what gets the old value, or the new one; empty: nothing. */
static void put_change(struct body *b, const struct change *c, enum type type, int v, int v_end,
                       int captures_new) {
    const char *name = type_name(b->s, type);
    b->functions->swaps |= 1u << type;
    put(&b->out, "{\nEVN_GLOBAL %s *const evn_at = &(", name);
    body_expression(b, c->x, c->x_end);
    put(&b->out,
        ");\n%s evn_old, evn_new;\ndo {\nevn_old = *(volatile EVN_GLOBAL %s *)evn_at;\nevn_new = ",
        name, name);
    put_old(b, c, name);
    put(&b->out, ";\n} while (!evn_swap_%d(evn_at, evn_old, evn_new));\n", (int)type);
    if (v_end > v) {
        body_expression(b, v, v_end);
        put(&b->out, "= %s;\n", captures_new ? "evn_new" : "evn_old");
    }
    put(&b->out, "}\n");
}

static enum kind kind_of(struct body *b, int at, int *fine) {
    static const char *const words[] = {"update", "read", "write", "capture"},
                             *const orders[] = {"seq_cst", "acq_rel", "release",
                                                "acquire", "relaxed", ","};
    struct tokens t;
    enum kind kind = ATOMIC_UPDATE;
    lex(b->s, b->s->tokens.at[at].begin + 1, b->s->tokens.at[at].end, 0, &t);
    *fine = 1;
    for (int i = 3; i < t.count; i++) {
        int known = 0;
        for (int k = 0; k < 4; k++)
            if (token_is(b->s, &t.at[i], words[k])) kind = (enum kind)k, known = 1;
        for (int k = 0; k < 6; k++) known |= token_is(b->s, &t.at[i], orders[k]);
        if (known) continue;
        error(b->s, t.at[i].begin,
              "\"%.*s\" is no clause of atomic in a kernel; there are read, write, update and "
              "capture, and orders of memory",
              token_length(&t.at[i]), token_letters(b->s, &t.at[i]));
        *fine = 0;
        break;
    }
    free(t.at);
    return kind;
}

static void wrong_form(struct body *b, int at) {
    error(b->s, b->s->tokens.at[at].begin,
          "atomic: expected x++, x op= e, x = x op e, or with capture v = one of them, or { v = x; "
          "and one of them }");
}

static int to_end(const struct body *b, int at, int end) {
    while (at < end && !is(b, at, ";")) {
        const int open = is(b, at, "(") || is(b, at, "[");
        const int behind = open ? after_bracket(b->s, &b->s->tokens, at, end) : at + 1;
        at = behind < 0 ? end : behind;
    }
    return at;
}

/* The type of x; TYPE_NONE and a message: it is none that devices exchange. */
static enum type type_of(struct body *b, const struct change *c) {
    struct shape shape;
    const int known = body_shape(b, c->x, c->x_end, &shape);
    if (known && !shape.levels && shape.type >= TYPE_INT && type_is_number(shape.type))
        return shape.type;
    error(b->s, b->s->tokens.at[c->x].begin,
          "atomic in a kernel is of elements that are int, long, unsigned of both, float or "
          "double");
    return TYPE_NONE;
}

/* v = x; or x = e; of one load or store. */
static void simple(struct body *b, const struct change *c, int read) {
    const struct change x = {.x = read ? c->e : c->x, .x_end = read ? c->e_end : c->x_end};
    const enum type type = type_of(b, &x);
    if (!type) return;
    if (read) body_expression(b, c->x, c->x_end), put(&b->out, "= ");
    put(&b->out, "*(volatile EVN_GLOBAL %s *)&(", type_name(b->s, type));
    body_expression(b, x.x, x.x_end);
    put(&b->out, ")");
    if (!read) put(&b->out, "= "), body_expression(b, c->e, c->e_end);
    put(&b->out, ";\n");
}

/* { v = x; change } and { change; v = x; } */
static void captured_block(struct body *b, int at, int behind) {
    const int middle = to_end(b, at + 1, behind - 1), last = to_end(b, middle + 1, behind - 1);
    struct change one = read_change(b, at + 1, middle), two = read_change(b, middle + 1, last);
    if (last != behind - 2 || !one.form || !two.form) {
        wrong_form(b, at);
        return;
    }
    /* v = x is the one whose right side is the other's x */
    const int first_reads = one.form == NEW_ONLY && one.e_end - one.e == two.x_end - two.x &&
                            same_tokens(b, one.e, two.x, two.x_end - two.x);
    const struct change read = first_reads ? one : two, change = first_reads ? two : one;
    if (read.form != NEW_ONLY || read.e_end - read.e != change.x_end - change.x ||
        !same_tokens(b, read.e, change.x, change.x_end - change.x)) {
        wrong_form(b, at);
        return;
    }
    try(b, at + 1, middle);
    try(b, middle + 1, last);
    const enum type type = type_of(b, &change);
    if (type) put_change(b, &change, type, read.x, read.x_end, !first_reads);
}

int body_atomic(struct body *b, int at, int end) {
    int fine, v = 0, v_end = 0;
    const enum kind kind = kind_of(b, at, &fine);
    for (at++; at < end && b->s->tokens.at[at].kind == T_DIRECTIVE;) at++;
    int behind = statement_end(b->s, at, end, 0);
    if (behind <= at) behind = end;
    if (!fine) return behind;
    if (is(b, at, "{") && kind == ATOMIC_CAPTURE) {
        captured_block(b, at, behind);
        return behind;
    }
    int from = at, to = behind - 1;
    if (is(b, at, "{")) from++, to--; /* { x++; } */
    if (is(b, to, ";") == 0 || to_end(b, from, end) != to) {
        wrong_form(b, at);
        return behind;
    }
    if (kind == ATOMIC_CAPTURE) { /* v = x++ */
        v = from;
        v_end = to_assignment(b, from, to);
        from = v_end + 1;
    }
    const struct change c = from < to ? read_change(b, from, to) : (struct change){0};
    if (!c.form || (c.form == NEW_ONLY && kind != ATOMIC_READ && kind != ATOMIC_WRITE)) {
        wrong_form(b, at);
        return behind;
    }
    try(b, v_end > v ? v : from, to);
    if (kind == ATOMIC_READ || kind == ATOMIC_WRITE) {
        simple(b, &c, kind == ATOMIC_READ);
    } else if (!is_common(b, c.x)) { /* the item's own */
        body_expression(b, v_end > v ? v : from, to);
        put(&b->out, ";\n");
    } else {
        const enum type type = type_of(b, &c);
        if (type) put_change(b, &c, type, v, v_end, c.prefix);
    }
    return behind;
}

/* ---- definitions --------------------------------------------------------------------------- */

static const enum type types[] = {TYPE_INT,   TYPE_UINT,  TYPE_LONG,
                                  TYPE_ULONG, TYPE_FLOAT, TYPE_DOUBLE};
enum { TYPES = sizeof types / sizeof *types };

void atomic_put(const struct source *s, struct text *out, unsigned swaps, int host) {
    for (int i = 0; i < TYPES; i++) {
        const int large = type_alignment(s, types[i]) == 8;
        const char *name = type_name(s, types[i]);
        if (!(swaps >> types[i] & 1)) continue;
        if (host) {
            put(out,
                "static inline int evn_swap_%d(%s *at, %s old, %s now) {\nreturn "
                "__atomic_compare_exchange(at, &old, &now, 0, 0, 0); /* relaxed */\n}\n",
                (int)types[i], name, name, name);
            continue;
        }
        if (large)
            put(out, "#ifdef EVN_OPENCL\n#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : "
                     "enable\n#endif\n");
        const char *bits = large ? "evn_cu_uint" : "unsigned int";
        put(out,
            "EVN_DEVICE_FUNCTION int evn_swap_%d(EVN_GLOBAL %s *at, %s old, %s now) {\n"
            "union { %s value; %s bits; } a, b;\na.value = old;\nb.value = now;\n"
            "#ifdef EVN_OPENCL\n"
            "return %s((volatile __global %s *)at, a.bits, b.bits) == a.bits;\n#else\n"
            "return atomicCAS((%s *)at, a.bits, b.bits) == a.bits;\n#endif\n}\n",
            (int)types[i], name, name, name, name, bits, large ? "atom_cmpxchg" : "atomic_cmpxchg",
            bits, bits);
    }
}
