/* The declaration of a variable, found in the text: in the scopes around a statement, from the
 * innermost outwards, and in modules of the same file. Where it may be in a file that is not read,
 * the answer is that it was not seen. */
#include "fortran.h"
#include <stdlib.h>
#include <string.h>

enum { MODULES_DEEP = 8 };

static int same(const struct fortran *f, const struct tokens *t, int i, const struct token *name) {
    return i < t->count && t->at[i].kind == T_NAME && token_same(&f->flat, &t->at[i], name);
}

/* ---- one declaration ---- */

/* Behind the brackets at token k, or k. */
static int over(const struct fortran *f, const struct tokens *t, int k) {
    if (!fortran_is(f, t, k, "(")) return k;
    const int behind = after_bracket(&f->flat, t, k, t->count);
    return behind < 0 ? t->count : behind;
}

/* What is in the brackets of a type of characters: a length that is deferred, a kind. */
static void look_in_type(const struct fortran *f, const struct tokens *t, int from, int to,
                         struct variable *v) {
    for (int i = from; i < to; i++) {
        if (v->type == V_CHARACTER && fortran_is(f, t, i, ":")) v->deferred = 1;
        if (v->type == V_CHARACTER && fortran_is(f, t, i, "kind")) v->kind = 1;
    }
}

/* Reads "real(8)", "character(len=:)", "class(zone)"; the token behind it, or 0: none is there. */
static int read_type(const struct fortran *f, const struct tokens *t, struct variable *v) {
    static const char *const numbers[] = {"integer",         "real",          "logical", "complex",
                                          "doubleprecision", "doublecomplex", "byte"};
    int k = 0;
    v->type = V_NUMBER;
    if (fortran_is(f, t, 0, "double") &&
        (fortran_is(f, t, 1, "precision") || fortran_is(f, t, 1, "complex")))
        k = 2;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !k; i++)
        k = fortran_is(f, t, 0, numbers[i]);
    if (!k && fortran_is(f, t, 0, "character")) {
        v->type = V_CHARACTER;
        k = 1;
    } else if (!k && (fortran_is(f, t, 0, "type") || fortran_is(f, t, 0, "class")) &&
               fortran_is(f, t, 1, "(")) {
        v->type = V_DERIVED;
        v->polymorphic = fortran_is(f, t, 0, "class");
        k = 1;
    }
    if (!k) return 0;
    if (fortran_is(f, t, k, "*")) k += fortran_is(f, t, k + 1, "(") ? 1 : 2;
    const int from = k;
    k = over(f, t, k);
    look_in_type(f, t, from, k, v);
    if (fortran_is(f, t, k, "=") || fortran_is(f, t, k, "%") || k >= t->count) return 0;
    if (k < t->count && fortran_is(f, t, k, "function")) return 0;
    v->text = (struct range){t->at[0].begin, t->at[k - 1].end};
    return k;
}

/* Dimensions in the brackets at token k. */
static int rank_at(const struct fortran *f, const struct tokens *t, int k) {
    const int behind = over(f, t, k);
    if (behind == k) return 0;
    const struct run in = {&t->at[k + 1], behind - k - 2};
    struct run part;
    int at = 0, rank = 0;
    while (run_part(&f->flat, in, &at, &part)) rank++;
    return rank;
}

/* Words of attributes in tokens [from, to). */
static void read_attributes(const struct fortran *f, const struct tokens *t, int from, int to,
                            struct variable *v) {
    for (int i = from; i < to; i = over(f, t, i + 1)) {
        v->allocatable |= fortran_is(f, t, i, "allocatable");
        v->pointer |= fortran_is(f, t, i, "pointer");
        v->contiguous |= fortran_is(f, t, i, "contiguous");
        v->constant |= fortran_is(f, t, i, "parameter");
        if (fortran_is(f, t, i, "dimension")) v->rank = rank_at(f, t, i + 1);
    }
}

/* The name among what a statement declares from token k on; its own bounds. -1: it is not there. */
static int find_name(const struct fortran *f, const struct tokens *t, int k,
                     const struct token *name, struct variable *v) {
    for (int depth = 0, first = 1; k < t->count; k++) {
        if (!depth && first && same(f, t, k, name)) {
            if (fortran_is(f, t, k + 1, "(")) v->rank = rank_at(f, t, k + 1);
            return k;
        }
        depth += fortran_is(f, t, k, "(") - fortran_is(f, t, k, ")");
        first = !depth && (fortran_is(f, t, k, ",") || fortran_is(f, t, k, "/"));
    }
    return -1;
}

static void add_declaration(struct variable *v, const struct variable *one, int at) {
    if (one->type != V_UNTYPED) {
        v->type = one->type;
        v->text = one->text;
    }
    v->at = at;
    v->seen = 1;
    v->rank = one->rank ? one->rank : v->rank;
    v->polymorphic |= one->polymorphic;
    v->deferred |= one->deferred;
    v->kind |= one->kind;
    v->allocatable |= one->allocatable;
    v->pointer |= one->pointer;
    v->contiguous |= one->contiguous;
    v->constant |= one->constant;
}

/* A statement may say of the name that it has a type or an attribute. */
static void read_declaration(const struct fortran *f, int statement, const struct token *name,
                             struct variable *v) {
    static const char *const attributes[] = {"allocatable", "pointer",   "contiguous",
                                             "dimension",   "parameter", "common"};
    struct tokens t = fortran_tokens(f, statement);
    struct variable one = {.type = V_UNTYPED};
    int k = read_type(f, &t, &one), colons = k;
    if (!k) {
        one.type = V_UNTYPED;
        for (size_t i = 0; i < sizeof attributes / sizeof *attributes && !k; i++)
            k = fortran_is(f, &t, 0, attributes[i]);
        if (fortran_is(f, &t, 1, "=") || fortran_is(f, &t, 1, "%")) k = 0;
        if (k && fortran_is(f, &t, 1, "(")) k = 0; /* a call or an element */
        if (k) read_attributes(f, &t, 0, 1, &one);
        colons = k;
    }
    while (k && colons < t.count &&
           !(fortran_is(f, &t, colons, ":") && fortran_is(f, &t, colons + 1, ":")))
        colons = over(f, &t, colons + 1);
    if (k && colons < t.count) {
        read_attributes(f, &t, k, colons, &one);
        k = colons + 2;
    }
    const int at = k ? find_name(f, &t, k, name, &one) : -1;
    if (at >= 0) add_declaration(v, &one, t.at[at].begin);
    free(t.at);
}

/* ---- scopes ---- */

enum kind {
    S_OTHER,
    S_BLOCK,
    S_END_BLOCK,
    S_ASIDE, /* the definition of a type, or an interface: names of their own */
    S_END_ASIDE,
    S_UNIT,
    S_END_UNIT,
    S_CONTAINS,
    S_USE,
    S_INCLUDE,
    S_IMPLICIT
};

static int ends(const struct fortran *f, const struct tokens *t, const char *word_,
                const char *joined) {
    return fortran_is(f, t, 0, joined) ||
           (fortran_is(f, t, 0, "end") && fortran_is(f, t, 1, word_));
}

/* Whether a program unit or a procedure begins. */
static int is_unit(const struct fortran *f, const struct tokens *t) {
    const int first = fortran_is(f, t, 0, "program") || fortran_is(f, t, 0, "module");
    if (first && t->count == 2) return 1;
    if (fortran_is(f, t, 0, "module") && fortran_is(f, t, 1, "procedure")) return t->count == 3;
    if (fortran_is(f, t, 0, "submodule") ||
        (fortran_is(f, t, 0, "block") && fortran_is(f, t, 1, "data")))
        return 1;
    for (int i = 0; i + 1 < t->count && t->at[i].kind != T_SIGN; i = over(f, t, i + 1)) {
        if (t->at[i + 1].kind != T_NAME) continue;
        if (fortran_is(f, t, i, "subroutine") ||
            (fortran_is(f, t, i, "function") && fortran_is(f, t, i + 2, "(")))
            return 1;
    }
    return 0;
}

static enum kind kind_of(const struct fortran *f, int statement) {
    if (f->at[statement].directive) return S_OTHER;
    struct tokens t = fortran_tokens(f, statement);
    const int named = fortran_is(f, &t, 1, ":") ? 2 : 0;
    const int value =
        fortran_is(f, &t, 1, "=") || fortran_is(f, &t, 1, "%") || fortran_is(f, &t, 1, "(");
    enum kind kind = S_OTHER;
    if (ends(f, &t, "block", "endblock") && !fortran_is(f, &t, 2, "data"))
        kind = S_END_BLOCK;
    else if (ends(f, &t, "type", "endtype") || ends(f, &t, "interface", "endinterface"))
        kind = S_END_ASIDE;
    else if (fortran_is(f, &t, 0, "contains") && t.count == 1)
        kind = S_CONTAINS;
    else if (fortran_is_end(f, &t))
        kind = S_END_UNIT;
    else if (fortran_is(f, &t, named, "block") && t.count == named + 1)
        kind = S_BLOCK;
    else if (!value && (fortran_is(f, &t, 0, "interface") || fortran_is(f, &t, 1, "interface") ||
                        (fortran_is(f, &t, 0, "type") && !fortran_is(f, &t, 2, "("))))
        kind = S_ASIDE;
    else if (!value && fortran_is(f, &t, 0, "use"))
        kind = S_USE;
    else if (t.count == 2 && fortran_is(f, &t, 0, "include"))
        kind = S_INCLUDE;
    else if (!value && fortran_is(f, &t, 0, "implicit") && !fortran_is(f, &t, 1, "none"))
        kind = S_IMPLICIT;
    else if (is_unit(f, &t))
        kind = S_UNIT;
    free(t.at);
    return kind;
}

/* Where a name is looked for, and what is known of it. */
struct search {
    const struct fortran *f;
    struct token name;
    struct variable *v;
    int unsure; /* a file that is not read may declare it, or the letters' types are others */
    int deep;   /* modules around */
};

static void look(struct search *s, int at);

/* Where the declarations of a module of the file end, or -1. */
static int module_end(const struct fortran *f, const struct token *module) {
    for (int i = 0, depth = 0; i < f->count; i++) {
        const enum kind kind = kind_of(f, i);
        depth += (kind == S_ASIDE) - (kind == S_END_ASIDE);
        if (kind != S_UNIT || depth) continue;
        struct tokens t = fortran_tokens(f, i);
        const int is = t.count == 2 && fortran_is(f, &t, 0, "module") && same(f, &t, 1, module);
        free(t.at);
        for (int k = i + 1; is && k < f->count; k++) {
            const enum kind what = kind_of(f, k);
            depth += (what == S_ASIDE) - (what == S_END_ASIDE);
            if (!depth && (what == S_CONTAINS || what == S_END_UNIT)) return k;
        }
    }
    return -1;
}

/* Looks for `name`, which is the variable's there, in a module. */
static void look_in_module(struct search *s, const struct token *module, const struct token *name) {
    static const char *const without[] = {"iso_c_binding", "iso_fortran_env", "omp_lib", "omp_cu",
                                          "evener",        "ieee_arithmetic", "mpi",     "mpi_f08"};
    const int end = module_end(s->f, module);
    struct search there = {s->f, *name, s->v, 0, s->deep + 1};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (token_is(&s->f->flat, module, without[i])) return;
    if (end < 0 || s->deep == MODULES_DEEP) {
        s->unsure = 1;
        return;
    }
    look(&there, end);
    s->unsure |= there.unsure;
}

/* use MODULE [, only: NAME => OTHER ..] */
static void look_by_use(struct search *s, int statement) {
    const struct fortran *f = s->f;
    struct tokens t = fortran_tokens(f, statement);
    int k = 1, only;
    while (k < t.count && (fortran_is(f, &t, k, ",") || fortran_is(f, &t, k, ":") ||
                           (fortran_is(f, &t, k, "intrinsic") && fortran_is(f, &t, k + 1, ":"))))
        k++;
    struct token name = s->name;
    int given = 0;
    only = fortran_is(f, &t, k + 2, "only");
    for (int i = k + 2 + 2 * only; i < t.count; i++) {
        if (!same(f, &t, i, &s->name) || fortran_is(f, &t, i - 1, "=>")) continue;
        given = 1;
        if (fortran_is(f, &t, i + 1, "=>")) name = t.at[i + 2];
    }
    if (k < t.count && (given || !only)) look_in_module(s, &t.at[k], &name);
    free(t.at);
}

/* The module of which this is a submodule has the names, too. */
static void look_in_parent(struct search *s, int statement) {
    struct tokens t = fortran_tokens(s->f, statement);
    if (fortran_is(s->f, &t, 0, "submodule") && t.count > 2) look_in_module(s, &t.at[2], &s->name);
    free(t.at);
}

/* Looks at the declarations before statement `at`, then at those of the scopes around; in a module
 * at its own alone. */
static void look(struct search *s, int at) {
    int blocks = 0, aside = 0, units = 0, outside = 0; /* outside: of where `at` can see */
    for (int i = at - 1; i >= 0; i--) {
        const enum kind kind = kind_of(s->f, i);
        aside += (kind == S_END_ASIDE) - (kind == S_ASIDE);
        if (aside || kind == S_ASIDE) continue;
        if (kind == S_END_UNIT && !outside) return;
        units += (kind == S_END_UNIT) - (kind == S_UNIT && units);
        blocks += kind == S_END_BLOCK;
        if (kind == S_CONTAINS && !units) outside = 0;
        if (kind == S_BLOCK && !blocks && s->v->seen) return;
        if (kind == S_BLOCK && blocks) blocks--;
        if (kind == S_UNIT && !units && !outside) {
            if (!s->v->seen) look_in_parent(s, i);
            if (s->v->seen || s->unsure || s->deep) return;
            outside = 1;
        }
        if (outside || blocks || units) continue;
        if (kind == S_USE && !s->v->seen) look_by_use(s, i);
        s->unsure |= kind == S_INCLUDE || kind == S_IMPLICIT;
        if (kind == S_OTHER && !s->f->at[i].directive) read_declaration(s->f, i, &s->name, s->v);
    }
}

void fortran_variable(const struct fortran *f, int at, const struct token *name,
                      struct variable *v) {
    struct search s = {f, *name, v, 0, 0};
    *v = (struct variable){.type = V_UNTYPED, .at = -1};
    look(&s, at);
    if (s.unsure && (!v->seen || v->type == V_UNTYPED)) {
        v->seen = 0;
        return;
    }
    v->seen = 1;
    if (v->type == V_UNTYPED) v->type = V_NUMBER;
}

/* The outermost BLOCK around statement `at`, or -1. */
static int outer_block(const struct fortran *f, int at) {
    int blocks = 0, found = -1;
    for (int i = at - 1; i >= 0; i--) {
        const enum kind kind = kind_of(f, i);
        if (kind == S_UNIT || kind == S_END_UNIT) break;
        blocks += kind == S_END_BLOCK;
        if (kind == S_BLOCK && !blocks) found = i;
        blocks -= kind == S_BLOCK && blocks;
    }
    return found;
}

int fortran_block_texts(const struct fortran *f, int at, struct token **name) {
    int n = 0;
    const int from = outer_block(f, at);
    *name = NULL;
    for (int i = from; i >= 0 && i < at; i++) {
        struct tokens t = fortran_tokens(f, i);
        struct variable v = {.type = V_UNTYPED}, known;
        const int k = f->at[i].directive ? 0 : read_type(f, &t, &v);
        for (int j = k; k && v.deferred && j < t.count; j = over(f, &t, j + 1)) {
            if (t.at[j].kind != T_NAME) continue;
            fortran_variable(f, at, &t.at[j], &known);
            if (known.at != t.at[j].begin) continue;
            *name = more(*name, (size_t)(n + 1) * sizeof **name);
            (*name)[n++] = t.at[j];
        }
        free(t.at);
    }
    return n;
}
