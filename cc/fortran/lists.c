/* Variables in lists of clauses: which of them compilers cannot make private or copy as bytes, and
 * messages where nothing can. */
#include "fortran.h"
#include <stdlib.h>

int fortran_is_typed(const struct variable *v) {
    return v->allocatable || v->pointer || v->deferred || v->type == V_DERIVED;
}

int fortran_is_hidden(const struct variable *v) { return v->polymorphic || v->deferred; }

/* Whether the body has the name as only pointers and allocatable variables stand: NAME =>,
 * allocate (NAME. */
static int is_moved(const struct fortran *f, const struct do_nest *nest, const struct token *name) {
    static const char *const words[] = {"allocate",   "deallocate", "nullify",
                                        "associated", "allocated",  "move_alloc"};
    int found = 0;
    for (int i = nest->loop[nest->loops - 1].statement + 1; i <= nest->last && !found; i++) {
        struct tokens t = fortran_tokens(f, i);
        int among = 0;
        for (int k = 0; k < t.count && !found; k++) {
            for (size_t w = 0; w < sizeof words / sizeof *words; w++)
                among |= fortran_is(f, &t, k, words[w]) && fortran_is(f, &t, k + 1, "(");
            if (t.at[k].kind == T_NAME && token_same(&f->flat, &t.at[k], name) &&
                !fortran_is(f, &t, k - 1, "%") && !fortran_is(f, &t, k + 1, "%"))
                found = among || fortran_is(f, &t, k + 1, "=>");
        }
        free(t.at);
    }
    return found;
}

static void check_last(struct fortran *f, const struct directive *d, const struct do_nest *nest,
                       const struct token *name, const struct variable *v) {
    const int length = token_length(name);
    const char *letters = token_letters(&f->flat, name);
    if (!v->seen && is_moved(f, nest, name))
        error(&f->flat, name->begin,
              "lastprivate: \"%.*s\" is declared in another file, so its attributes are not seen; "
              "expected a variable that this file declares",
              length, letters);
    else if (v->polymorphic && !v->allocatable && !v->pointer)
        error(&f->flat, name->begin,
              "lastprivate: \"%.*s\" is polymorphic and not allocatable, so nothing can be "
              "assigned to it; expected an allocatable variable or a pointer",
              length, letters);
    else if (d->construct == C_DISTRIBUTE &&
             (v->allocatable || v->pointer || v->polymorphic || v->deferred))
        error(&f->flat, name->begin,
              "lastprivate: \"%.*s\" is %s, whose value does not go from unit to unit within a "
              "teams block; write teams %s as one directive",
              length, letters, v->allocatable ? "allocatable" : "a pointer",
              d->by_loop ? "loop" : "distribute");
}

/* A pointer to an array of texts, of which a component of gfortran 12 loses the length. */
static void check_copied(struct fortran *f, const char *clause, const struct token *name,
                         const struct variable *v) {
    if (!v->pointer || !v->deferred || !v->rank) return;
    error(&f->flat, name->begin,
          "%s: \"%.*s\" is a pointer to texts of deferred length, which compilers do not keep; "
          "expected a length in its declaration",
          clause, token_length(name), token_letters(&f->flat, name));
}

static void check_reduction(struct fortran *f, const struct token *name, const struct variable *v) {
    if (!v->seen || (v->type == V_NUMBER && !v->pointer)) return;
    error(&f->flat, name->begin,
          "reduction: \"%.*s\" is %s; expected variables or whole arrays of numbers or logical "
          "values",
          token_length(name), token_letters(&f->flat, name),
          v->pointer ? "a pointer" : "no number");
}

/* Whether a list that makes variables private has the name. */
static int is_listed(const struct fortran *f, const struct directive *d, const struct token *name) {
    static const enum clause_kind lists[] = {K_PRIVATE, K_FIRSTPRIVATE, K_LASTPRIVATE};
    int found = 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int n;
        struct token *list = directive_names(&f->flat, d, lists[i], &n);
        for (int k = 0; k < n; k++) found |= token_same(&f->flat, &list[k], name);
        free(list);
    }
    return found;
}

/* The first token of a statement that is one of the names, as a variable that no list has. */
static int find_shared(const struct fortran *f, const struct directive *d, const struct tokens *t,
                       const struct token *name, int n) {
    for (int k = 0; k < t->count; k++)
        for (int i = 0; i < n; i++)
            if (t->at[k].kind == T_NAME && token_same(&f->flat, &t->at[k], &name[i]) &&
                !fortran_is(f, t, k - 1, "%") && !is_listed(f, d, &name[i]))
                return k;
    return -1;
}

/* A text of deferred length that a BLOCK declares: gfortran 12 loses the length in a region. */
static void check_texts(struct fortran *f, const struct directive *d, int from, int last) {
    struct token *name;
    const int n = fortran_block_texts(f, from, &name);
    for (int i = from + 1, found = -1; i <= last && n && found < 0; i++) {
        struct tokens t = fortran_tokens(f, i);
        found = find_shared(f, d, &t, name, n);
        if (found >= 0)
            error(
                &f->flat, t.at[found].begin,
                "\"%.*s\" has a deferred length and is declared in a BLOCK outside of the work of "
                "units, where compilers lose its length; expected its declaration in the "
                "procedure, or a length",
                token_length(&t.at[found]), token_letters(&f->flat, &t.at[found]));
        free(t.at);
    }
    free(name);
}

void fortran_check_lists(struct fortran *f, const struct directive *d, const struct do_nest *nest,
                         int from, int last) {
    struct variable v;
    int n;
    check_texts(f, d, from, last);
    struct token *name = directive_names(&f->flat, d, K_REDUCTION, &n);
    for (int i = 0; i < n; i++) {
        fortran_variable(f, from, &name[i], &v);
        check_reduction(f, &name[i], &v);
    }
    free(name);
    name = directive_names(&f->flat, d, K_LASTPRIVATE, &n);
    for (int i = 0; i < n && nest; i++) {
        fortran_variable(f, from, &name[i], &v);
        check_last(f, d, nest, &name[i], &v);
        check_copied(f, "lastprivate", &name[i], &v);
    }
    free(name);
    name = directive_names(&f->flat, d, K_FIRSTPRIVATE, &n);
    for (int i = 0; i < n; i++) {
        fortran_variable(f, from, &name[i], &v);
        check_copied(f, "firstprivate", &name[i], &v);
    }
    free(name);
    for (int k = 0; nest && k < nest->loops; k++) {
        const struct token *t = &nest->loop[k].variable;
        fortran_variable(f, from, t, &v);
        if (v.pointer)
            error(&f->flat, t->begin,
                  "\"%.*s\" is a pointer, and each iteration has a loop variable of its own; "
                  "expected an integer variable",
                  token_length(t), token_letters(&f->flat, t));
    }
}
