/* Functions that a kernel calls: those of the dialect, and those of the same file, which are read
 * as the body is, once for each way in which their pointers point to the device's memory or to the
 * kernel's own. */
#include "kernels.h"
#include <stdlib.h>
#include <string.h>

static int is(const struct body *b, int at, const char *letters) {
    return token_is(b->s, &b->s->tokens.at[at], letters);
}

#define LETTERS(b, t) token_length(t), token_letters((b)->s, t)

/* The definition of a function in the file; 0: there is none, or in C++ more than one. */
static int find_function(const struct body *b, const struct token *name, struct function *f) {
    const struct source *s = b->s;
    int begin = 0, found = 0;
    for (int i = 0; i < s->tokens.count; i++) {
        const struct token *t = &s->tokens.at[i];
        if (t->kind == T_DIRECTIVE || is(b, i, ";") || is(b, i, "}")) {
            begin = i + 1;
        } else if (is(b, i, "{")) {
            const int behind = after_bracket(s, &s->tokens, i, s->tokens.count);
            if (behind < 0) return 0;
            i = behind - 1;
            begin = behind;
        } else if (token_same(s, t, name) && is(b, i + 1, "(")) {
            const int behind = after_bracket(s, &s->tokens, i + 1, s->tokens.count);
            const int end = behind > 0 && is(b, behind, "{")
                                ? after_bracket(s, &s->tokens, behind, s->tokens.count)
                                : 0;
            if (end > 0) {
                *f = (struct function){
                    .name = *t, .begin = begin, .open = i + 1, .brace = behind, .end = end};
                if (!s->cxx) return 1;
                if (found++) return 0; /* of other types */
                i = end - 1;
                begin = end;
            }
        }
    }
    return found == 1;
}

enum type function_type(const struct body *b, int at) {
    struct function f;
    int behind;
    if (!find_function(b, &b->s->tokens.at[at], &f)) return TYPE_NONE;
    while (f.begin < f.open && b->s->tokens.at[f.begin].kind == T_DIRECTIVE) f.begin++;
    const enum type type = read_type(b->s, f.begin, f.open - 1, &behind);
    return behind == f.open - 1 && type_is_number(type) ? type : TYPE_NONE;
}

/* ---- parameters ---------------------------------------------------------------------------- */

/* The parameter in tokens [at, comma): its shape and its name. */
static int parameter(const struct body *b, int at, int comma, struct shape *shape, int *name) {
    int behind;
    *shape = read_shape(b->s, at, comma, &behind);
    *name = behind;
    while (*name < comma && (is(b, *name, "*") || is(b, *name, "(") || is_qualifier(b->s, *name)))
        ++*name;
    return behind > at && *name < comma && b->s->tokens.at[*name].kind == T_NAME &&
           read_declarator(b->s, *name, behind, comma, shape) && shape->levels <= 1 &&
           type_is_plain(b->s, shape->type);
}

static int is_const(const struct body *b, int at, int name) {
    for (; at < name; at++)
        if (is(b, at, "const")) return 1;
    return 0;
}

/* "double evn_f1_name(double u_a, EVN_GLOBAL int *u_b) " to in->out; names to `in`. */
static void put_head(struct body *in, struct function *f) {
    int behind;
    while (f->begin < f->open && in->s->tokens.at[f->begin].kind == T_DIRECTIVE) f->begin++;
    f->type = read_type(in->s, f->begin, f->open - 1, &behind);
    if (!f->type || behind != f->open - 1 ||
        (f->type != TYPE_VOID && !type_is_plain(in->s, f->type)))
        error(in->s, f->name.begin,
              "\"%.*s\": functions that kernels call return integers, float, double, structures of "
              "them, or nothing",
              LETTERS(in, &f->name));
    put(&in->out, "EVN_DEVICE_FUNCTION %s %s(", f->type ? type_name(in->s, f->type) : "?", f->id);
    int at = f->open + 1, count = 0;
    if (is(in, at, "void") && at + 2 == f->brace) at = f->brace;
    for (; at < f->brace - 1; count++) {
        const int comma = body_to_comma(in, at, f->brace - 1);
        struct shape shape;
        int name;
        if (!parameter(in, at, comma, &shape, &name) || count > 31) {
            error(in->s, in->s->tokens.at[at].begin,
                  "parameters of functions that kernels call are integers, float, double, "
                  "structures of them, and pointers to them");
            break;
        }
        const int device = shape.levels && (f->device >> count & 1);
        put(&in->out, "%s%s%s%s %su_%.*s", count ? ", " : "", device ? "EVN_GLOBAL " : "",
            shape.levels && is_const(in, at, name) ? "const " : "", type_name(in->s, shape.type),
            shape.levels ? "*" : "", LETTERS(in, &in->s->tokens.at[name]));
        struct name *n = body_add(in, &in->s->tokens.at[name], shape, NAME_LOCAL);
        n->parameter = 1 + count;
        n->pointer = shape.levels;
        n->device = device;
        if (shape.levels) f->pointers |= 1u << count;
        at = comma + 1;
    }
    put(&in->out, ") ");
}

/* ---- reading one --------------------------------------------------------------------------- */

/* Reads function number `which`; its text goes behind those that it calls. */
static void read_function(struct body *b, int which) {
    struct function f = b->functions->at[which];
    struct body in = {.s = b->s,
                      .number = b->number,
                      .before = f.brace,
                      .end = f.end,
                      .functions = b->functions,
                      .in_function = 1,
                      .depth = b->depth};
    struct text head = {0};
    put_head(&in, &f);
    put_bytes(&head, in.out.at, in.out.length);
    b->functions->at[which] = f;
    in.out.length = 0;
    body_statement(&in, f.brace, f.end);
    body_settle(&in);
    for (int i = 0; i < in.names; i++)
        if (in.name[i].parameter && in.name[i].written)
            f.written |= 1u << (in.name[i].parameter - 1);
    put(&b->functions->heads, "%s;\n", head.at);
    put_bytes(&b->functions->bodies, head.at, head.length);
    put_bytes(&b->functions->bodies, in.out.at, in.out.length);
    f.done = 1;
    b->functions->at[which] = f;
    free(head.at);
    body_close(&in);
}

/* The function for pointers that point so, read if need be; -1: there is none, or it calls itself.
 */
static int need_function(struct body *b, const struct function *found, unsigned device) {
    struct functions *all = b->functions;
    for (int i = 0; i < all->count; i++)
        if (all->at[i].brace == found->brace) {
            if (!all->at[i].done) return -1;
            if (all->at[i].device == device) return i;
        }
    if (all->count == 100) return -1;
    all->at = more(all->at, (size_t)(all->count + 1) * sizeof *all->at);
    struct function *f = &all->at[all->count];
    struct text id = {0};
    *f = *found;
    f->device = device;
    put(&id, "evn_f%d_", b->number);
    if (device) put(&id, "%x_", device); /* before the name: no two are the same */
    put(&id, "%.*s", LETTERS(b, &f->name));
    f->id = id.at;
    const int which = all->count++;
    read_function(b, which);
    return which;
}

/* ---- a call -------------------------------------------------------------------------------- */

/* Which arguments of a call, whose parenthesis opens at `at`, point to the device's memory. */
static unsigned pointing_arguments(struct body *b, const struct function *f, int at, int close) {
    unsigned device = 0;
    int count = 0, to = f->open + 1;
    for (int i = at + 1; i < close; count++) {
        const int comma = body_to_comma(b, i, close);
        const int end = body_to_comma(b, to, f->brace - 1);
        struct shape shape;
        int name;
        if (to < f->brace - 1 && parameter(b, to, end, &shape, &name) && shape.levels &&
            count < 32 && body_points(b, i, comma) == 1)
            device |= 1u << count;
        to = end + 1;
        i = comma + 1;
    }
    return device;
}

static int refused(struct body *b, int at) {
    const struct token *t = &b->s->tokens.at[at];
    error(b->s, t->begin,
          "\"%.*s\" cannot be called in a kernel; functions of math.h can, and functions that are "
          "defined in this file and do not call themselves",
          LETTERS(b, t));
    return at + 1;
}

/* In C++ those of math.h are of float and double, and abs is of all numbers. */
static int overloaded(struct body *b, int at, int end, struct math m) {
    const struct token *t = &b->s->tokens.at[at];
    const int behind = after_bracket(b->s, &b->s->tokens, at + 1, end),
              is_abs = math_is_named(m, "abs");
    const enum type type = behind < 0 ? TYPE_NONE : body_type(b, at + 2, behind - 1);
    const int of_std = is(b, at - 1, ":") || is(b, at - 1, "::"); /* abs may be of int alone */
    int fine = m.single || !math_is_of_double(m) || type == TYPE_DOUBLE || is(b, at + 2, ")") ||
               (type && type < TYPE_FLOAT);
    if (is_abs) {
        fine = type == TYPE_INT || (of_std && type_is_real(type));
        if (type_is_real(type)) m = math_named("fabs", type == TYPE_FLOAT);
    } else if (type == TYPE_FLOAT && of_std) {
        fine = 1;
        m.single = math_is_of_double(m);
    }
    if (fine) {
        math_use(b, t, m);
        return at + 1;
    }
    error(b->s, t->begin, "%.*s in a kernel is of %s; convert its arguments with static_cast",
          LETTERS(b, t),
          !is_abs  ? "double"
          : of_std ? "double or int"
                   : "int, std::abs of double, too");
    return behind < 0 ? end : behind;
}

int body_call(struct body *b, int at, int end) {
    const struct token *t = &b->s->tokens.at[at];
    struct function found;
    const int behind = after_bracket(b->s, &b->s->tokens, at + 1, end);
    const int own = behind > 0 && find_function(b, t, &found);
    const struct math m = math_find(b->s, t);
    if (m.row >= 0 && !own) {
        if (b->s->cxx) return overloaded(b, at, end, m);
        math_use(b, t, m);
        return at + 1;
    }
    if (!own) return refused(b, at);
    const unsigned device = pointing_arguments(b, &found, at + 1, behind - 1);
    const int which = need_function(b, &found, device);
    if (which < 0) return refused(b, at);
    const struct function f = b->functions->at[which];
    const int pointing = b->pointing;
    put(&b->out, "%s(", f.id);
    int count = 0;
    for (int i = at + 2; i < behind - 1; count++) {
        const int comma = body_to_comma(b, i, behind - 1);
        const int points = count < 32 && f.pointers >> count & 1;
        b->pointing = !points ? 0 : f.written >> count & 1 ? 3 : 2;
        body_expression(b, i, comma);
        if (comma < behind - 1) put(&b->out, ", ");
        i = comma + 1;
    }
    b->pointing = pointing;
    put(&b->out, ") ");
    return behind;
}

void functions_close(struct functions *f) {
    for (int i = 0; i < f->count; i++) free(f->at[i].id);
    free(f->at);
    free(f->heads.at);
    free(f->bodies.at);
}
