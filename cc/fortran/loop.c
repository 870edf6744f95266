/* The do loop behind a directive: its head, where it ends, and what may not leave it. */
#include "fortran.h"
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 128 };

/* Loops that are open, the innermost last: the label that ends each, 0: an end do. */
struct opened {
    int label[DEEPEST];
    int depth;
};

static int number(const struct fortran *f, const struct token *t) {
    return t->kind == T_NUMBER ? atoi(f->flat.text + t->begin) : 0;
}

/* Where a statement begins behind "name :", or 0. */
static int behind_name(const struct fortran *f, const struct tokens *t) {
    return t->count > 2 && t->at[0].kind == T_NAME && fortran_is(f, t, 1, ":") &&
                   !fortran_is(f, t, 2, ":")
               ? 2
               : 0;
}

/* v = from, to [, step] from token k on. */
static int read_control(const struct fortran *f, const struct tokens *t, int k, struct counted *c) {
    if (k + 3 >= t->count || t->at[k].kind != T_NAME || !fortran_is(f, t, k + 1, "=")) return 0;
    const struct run in = {&t->at[k + 2], t->count - k - 2};
    struct run part[4];
    int at = 0, parts = 0;
    while (parts < 4 && run_part(&f->flat, in, &at, &part[parts])) parts++;
    if (parts < 2 || parts > 3) return 0;
    for (int i = 0; i < parts; i++)
        if (!part[i].count) return 0;
    c->variable = t->at[k];
    c->from = run_range(part[0]);
    c->to = run_range(part[1]);
    if (parts == 3) c->step = run_range(part[2]);
    return 1;
}

/* 0: no do; 1: one of another kind; 2: a counted one. */
static int read_do(const struct fortran *f, int statement, struct counted *c) {
    struct tokens t = fortran_tokens(f, statement);
    memset(c, 0, sizeof *c);
    c->statement = statement;
    int k = behind_name(f, &t), result = 0;
    if (k) c->name = (struct range){t.at[0].begin, t.at[0].end};
    if (fortran_is(f, &t, k, "do")) {
        k++;
        if (k < t.count && t.at[k].kind == T_NUMBER) {
            c->label = number(f, &t.at[k++]);
            result = 1;
        }
        if (fortran_is(f, &t, k, ",")) k++;
        if (k == t.count || fortran_is(f, &t, k, "while") || fortran_is(f, &t, k, "concurrent"))
            result = 1;
        if (read_control(f, &t, k, c)) result = 2;
    }
    free(t.at);
    return result;
}

int fortran_counts(const struct fortran *f, int statement, const struct token *variable) {
    struct counted c;
    if (f->at[statement].directive || read_do(f, statement, &c) != 2) return 0;
    return token_same(&f->flat, &c.variable, variable);
}

static int is_end_do(const struct fortran *f, const struct tokens *t) {
    if (fortran_is(f, t, 0, "enddo")) return t->count < 3 && !fortran_is(f, t, 1, "=");
    return fortran_is(f, t, 0, "end") && fortran_is(f, t, 1, "do") && t->count < 4;
}

int fortran_is_end(const struct fortran *f, const struct tokens *t) {
    static const char *const units[] = {"program",   "subroutine",   "function",      "module",
                                        "procedure", "endprogram",   "endsubroutine", "endfunction",
                                        "endmodule", "endprocedure", "contains"};
    if (t->count == 1 && fortran_is(f, t, 0, "end")) return 1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const int joined = i > 4;
        if (fortran_is(f, t, !joined, units[i]) && (joined || fortran_is(f, t, 0, "end")) &&
            t->count < 4 && !fortran_is(f, t, 1, "="))
            return 1;
    }
    return 0;
}

/* A statement opens and closes loops. */
static void step_over(const struct fortran *f, int statement, struct opened *o) {
    struct counted c;
    const int label = f->at[statement].label;
    if (f->at[statement].directive) return;
    if (read_do(f, statement, &c)) {
        if (o->depth < DEEPEST) o->label[o->depth] = c.label;
        o->depth++;
        return;
    }
    struct tokens t = fortran_tokens(f, statement);
    if (label && o->depth && o->depth <= DEEPEST && o->label[o->depth - 1] == label) {
        while (o->depth && o->label[o->depth - 1] == label) o->depth--;
    } else if (is_end_do(f, &t) && o->depth) {
        o->depth--;
    }
    free(t.at);
}

/* The statement that ends the loops whose heads are read, or -1. */
static int find_end(struct fortran *f, const struct do_nest *nest) {
    struct opened o = {.depth = 0};
    for (int k = 0; k < nest->loops; k++) o.label[o.depth++] = nest->loop[k].label;
    for (int i = nest->loop[nest->loops - 1].statement + 1; i < f->count; i++) {
        const int before = o.depth;
        struct tokens t = fortran_tokens(f, i);
        const int unit = !f->at[i].directive && fortran_is_end(f, &t);
        free(t.at);
        if (unit) return -1;
        step_over(f, i, &o);
        if (!o.depth) return i;
        if (before < nest->loops && o.depth == before && !f->at[i].directive) {
            error(&f->flat, f->at[i].begin, "nothing may stand between the loops of collapse(%d)",
                  nest->loops);
            return i;
        }
    }
    return -1;
}

/* ---- what leaves the loop ---- */

/* The loop's body, and the statement that is looked at. */
struct leaving {
    struct fortran *f;
    const struct do_nest *nest;
    int first, last;
    int depth; /* of loops around the statement, from 1 on in the body */
};

static int has_label(const struct leaving *l, int label) {
    for (int i = l->first; i <= l->last; i++)
        if (l->f->at[i].label == label) return 1;
    return 0;
}

static int same_name(const struct fortran *f, struct range a, const struct token *b) {
    const struct token t = {T_NAME, a.begin, a.end};
    return a.end > a.begin && token_same(&f->flat, &t, b);
}

/* Whether a construct in the body has this name. */
static int has_name(const struct leaving *l, const struct token *name) {
    for (int i = l->first; i <= l->last; i++) {
        struct tokens t = fortran_tokens(l->f, i);
        const int is = behind_name(l->f, &t) && token_same(&l->f->flat, &t.at[0], name);
        free(t.at);
        if (is) return 1;
    }
    return 0;
}

static void leaves(const struct leaving *l, const struct token *at, const char *what) {
    error(&l->f->flat, at->begin,
          "%s leaves the loop over compute units; its iterations run on several units at a time, "
          "so none can end the others",
          what);
}

/* Labels that tokens [k, end) name, of a jump. */
static void look_at_labels(const struct leaving *l, const struct tokens *t, int at, int k,
                           int end) {
    for (int i = k; i < end; i++) {
        const int label = number(l->f, &t->at[i]);
        if (label && !has_label(l, label)) {
            leaves(l, &t->at[at], "goto");
            return;
        }
    }
}

static void look_at_exit(const struct leaving *l, const struct tokens *t, int k) {
    const struct fortran *f = l->f;
    const int cycle = fortran_is(f, t, k, "cycle");
    const struct counted *inner = &l->nest->loop[l->nest->loops - 1];
    if (t->count == k + 1) {
        if (!cycle && l->depth == l->nest->loops) leaves(l, &t->at[k], "exit");
    } else if (t->count == k + 2 && t->at[k + 1].kind == T_NAME && !has_name(l, &t->at[k + 1])) {
        if (!cycle || !same_name(f, inner->name, &t->at[k + 1]))
            leaves(l, &t->at[k], cycle ? "cycle" : "exit");
    }
}

/* The statement behind "if (..)", or what follows its parenthesis. */
static int behind_if(const struct fortran *f, const struct tokens *t, int k) {
    if (!fortran_is(f, t, k, "if") || !fortran_is(f, t, k + 1, "(")) return k;
    const int behind = after_bracket(&f->flat, t, k + 1, t->count);
    return behind < 0 || behind >= t->count || fortran_is(f, t, behind, "=") ? k : behind;
}

static void look_at(const struct leaving *l, int statement) {
    const struct fortran *f = l->f;
    struct tokens t = fortran_tokens(f, statement);
    const int from = behind_name(f, &t), k = behind_if(f, &t, from);
    const int assigned = fortran_is(f, &t, k + 1, "=") || fortran_is(f, &t, k + 1, "%");
    const int to = fortran_is(f, &t, k, "go") && fortran_is(f, &t, k + 1, "to") ? k + 2
                   : fortran_is(f, &t, k, "goto")                               ? k + 1
                                                                                : 0;
    if (assigned) {
        ; /* a variable of that name */
    } else if (fortran_is(f, &t, k, "exit") || fortran_is(f, &t, k, "cycle")) {
        look_at_exit(l, &t, k);
    } else if (fortran_is(f, &t, k, "return") && !fortran_is(f, &t, k + 1, "(")) {
        leaves(l, &t.at[k], "return");
    } else if (to && fortran_is(f, &t, to, "(")) {
        const int behind = after_bracket(&f->flat, &t, to, t.count);
        look_at_labels(l, &t, k, to, behind < 0 ? t.count : behind);
    } else if (to) {
        look_at_labels(l, &t, k, to, t.count);
    } else if (k > from && t.at[k].kind == T_NUMBER) { /* if (..) 10, 20, 30 */
        look_at_labels(l, &t, k, k, t.count);
    }
    free(t.at);
}

/* Whether the statement declares a name: that of another variable, in a BLOCK. */
static int declares(const struct fortran *f, const struct tokens *t, const struct token *name) {
    int colons = 0, found = 0;
    for (int i = 0; i < t->count; i++) {
        colons |=
            fortran_is(f, t, i, "::") || (fortran_is(f, t, i, ":") && fortran_is(f, t, i + 1, ":"));
        found |= token_same(&f->flat, &t->at[i], name);
    }
    return found && (colons || fortran_is(f, t, 0, "integer"));
}

/* The body gives the loop's variable a value: as compilers of Fortran have it, an error. */
static void look_for_writes(struct fortran *f, const struct do_nest *nest,
                            const struct token *variable) {
    struct token written = {.kind = T_END};
    for (int i = nest->loop[nest->loops - 1].statement + 1; i <= nest->last; i++) {
        struct tokens t = fortran_tokens(f, i);
        struct counted c;
        const int k = behind_if(f, &t, behind_name(f, &t));
        const int other = f->at[i].directive || declares(f, &t, variable);
        if (!other && written.kind == T_END) {
            if (read_do(f, i, &c) == 2 && token_same(&f->flat, &c.variable, variable))
                written = c.variable;
            else if (k < t.count && token_same(&f->flat, &t.at[k], variable) &&
                     fortran_is(f, &t, k + 1, "="))
                written = t.at[k];
        }
        const int hidden = other && !f->at[i].directive;
        free(t.at);
        if (hidden) return;
    }
    if (written.kind == T_END) return;
    error(&f->flat, written.begin,
          "\"%.*s\" is the variable of the loop over compute units, and cannot be changed in its "
          "body; its iterations are counted before they run",
          token_length(variable), token_letters(&f->flat, variable));
}

static void look_for_leaving(struct fortran *f, const struct do_nest *nest) {
    struct leaving l = {f, nest, nest->loop[nest->loops - 1].statement + 1, nest->last, 0};
    struct opened o = {.depth = 0};
    for (int k = 0; k < nest->loops; k++) o.label[o.depth++] = nest->loop[k].label;
    for (int i = l.first; i <= l.last; i++) {
        l.depth = o.depth;
        if (!f->at[i].directive) look_at(&l, i);
        step_over(f, i, &o);
    }
}

/* ---- all of it ---- */

/* Whether a name is in the bounds of a loop. */
static int in_bounds(struct fortran *f, const struct counted *c, const struct token *name, int k,
                     int loops) {
    struct tokens t = fortran_tokens(f, c->statement);
    int found = 0;
    for (int i = 0; i < t.count && !found; i++) {
        found = t.at[i].kind == T_NAME && t.at[i].begin >= c->from.begin &&
                token_same(&f->flat, &t.at[i], name);
        if (found)
            error(&f->flat, t.at[i].begin,
                  "expected loop %d of collapse(%d); its bounds may not use \"%.*s\"", k + 1, loops,
                  token_length(name), token_letters(&f->flat, name));
    }
    free(t.at);
    return found;
}

int fortran_nest(struct fortran *f, int at, int loops, struct do_nest *nest) {
    nest->loops = 0;
    for (int k = 0; k < loops; k++, at++) {
        struct counted *c = &nest->loop[k];
        const int place = at < f->count ? f->at[at].begin : f->at[f->count - 1].end;
        if (at >= f->count || f->at[at].directive || read_do(f, at, c) != 2) {
            if (k)
                error(&f->flat, place, "expected loop %d of collapse(%d)", k + 1, loops);
            else
                error(&f->flat, place,
                      "expected the do loop that the directive is about: do variable = from, to");
            return 0;
        }
        for (int i = 0; i < k; i++)
            if (in_bounds(f, c, &nest->loop[i].variable, k, loops)) return 0;
        nest->loops++;
    }
    nest->last = find_end(f, nest);
    if (nest->last < 0) {
        error(&f->flat, f->at[nest->loop[0].statement].begin, "the end of this loop is not found");
        return 0;
    }
    look_for_leaving(f, nest);
    for (int k = 0; k < loops; k++) look_for_writes(f, nest, &nest->loop[k].variable);
    return 1;
}
