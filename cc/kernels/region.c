/* A region of several loops: target or parallel before a block. The block is run once, each loop of
 * it that a directive shares out is a kernel of its own, and what was a barrier is the order of
 * kernels:
 *
 *     #pragma omp target parallel private(j)      { int j;
 *     {                                           {
 *     #pragma omp for                                 a kernel, or parallel for
 *         for (i = 0; i < n; i++) ..
 *     #pragma omp barrier
 *     #pragma omp for nowait                          a kernel, or parallel for
 *         for (i = 0; i < n; i++) ..
 *     }                                           } }
 *
 * Statements between the loops run on the host, with the arrays they name taken there. */
#include "text.h"
#include <stdlib.h>
#include <string.h>

struct region {
    struct source *s;
    struct directive *d;
    int at, behind; /* tokens of its block */
};

static int is(const struct source *s, int at, const char *letters) {
    return token_is(s, &s->tokens.at[at], letters);
}

/* The words of a line of OpenMP at token `at`; 0: it is another line. */
static int line_words(const struct source *s, int at, struct tokens *t) {
    const struct token *line = &s->tokens.at[at];
    *t = (struct tokens){0};
    if (line->kind != T_DIRECTIVE) return 0;
    lex(s, line->begin + 1, line->end, 0, t);
    if (t->count > 2 && token_is(s, &t->at[0], "pragma") && token_is(s, &t->at[1], "omp")) return 1;
    free(t->at);
    t->at = NULL;
    return 0;
}

static int is_one_of(const struct source *s, const struct token *t, const char *const *words) {
    for (; *words; words++)
        if (token_is(s, t, *words)) return 1;
    return 0;
}

static const char *const shares[] = {"for", "distribute", "loop", "teams", "parallel", NULL};

/* Whether a directive of these words shares out the iterations of a loop behind it. */
static int is_shared_out(const struct source *s, const struct tokens *t) {
    int depth = 0;
    if (!is_one_of(s, &t->at[2], shares)) return 0;
    for (int i = 2; i < t->count; i++) {
        depth += token_is(s, &t->at[i], "(") - token_is(s, &t->at[i], ")");
        if (!depth && (token_is(s, &t->at[i], "for") || token_is(s, &t->at[i], "distribute") ||
                       token_is(s, &t->at[i], "loop")))
            return 1;
    }
    return 0;
}

int kernels_region_here(struct source *s, const struct directive *d, int at, int to) {
    if (kernels_has(s, d, "for") || kernels_has(s, d, "loop") || kernels_has(s, d, "distribute"))
        return 0;
    while (at < to && is_line_mark(s, &s->tokens.at[at])) at++;
    if (at >= to || !is(s, at, "{")) return 0;
    const int behind = after_bracket(s, &s->tokens, at, to);
    int found = 0;
    for (int i = at; i < behind && !found; i++) {
        struct tokens t;
        if (!line_words(s, i, &t)) continue;
        found = is_shared_out(s, &t);
        free(t.at);
    }
    return found;
}

/* ---- names --------------------------------------------------------------------------------- */

static void add_name(struct directive *d, enum clause_kind kind, const struct token *name) {
    struct token *copy = more(NULL, 2 * sizeof *copy);
    copy[0] = *name;
    copy[1] = (struct token){T_END, name->end, name->end};
    kernels_add_clause(d, (struct clause){kind, *name, {copy, 1}, name->end});
}

/* Whether a clause of the directive has the name. */
static const struct clause *clause_of(const struct source *s, const struct directive *d,
                                      const struct token *name) {
    for (int i = 0; i < d->clauses; i++) {
        const enum clause_kind kind = d->clause[i].kind;
        if (kind != K_PRIVATE && kind != K_FIRSTPRIVATE && kind != K_REDUCTION) continue;
        for (int k = 0; k < d->clause[i].in.count; k++)
            if (token_same(s, &d->clause[i].in.at[k], name)) return &d->clause[i];
    }
    return NULL;
}

/* What the threads of the region have of their own, each item of a loop begins with. */
static void inherit(struct region *r, struct directive *d, int at, int end) {
    struct source *s = r->s;
    for (int i = at; i < end; i++) {
        const struct token *t = &s->tokens.at[i];
        if (t->kind != T_NAME || is_keyword(s, i) || is(s, i - 1, ".") || is(s, i - 1, "->") ||
            clause_of(s, d, t))
            continue;
        const struct clause *c = clause_of(s, r->d, t);
        if (c && c->kind == K_REDUCTION) {
            kernels_add_clause(d, *c);
            continue;
        }
        const struct declared v = find_declared(s, at, t);
        const int inside = v.at > r->at && v.at < at;
        if ((c && v.at <= r->at) ||
            (inside && !v.shape.levels && !v.constant && type_is_number(v.shape.type)))
            add_name(d, K_FIRSTPRIVATE, t);
    }
}

/* ---- statements between the loops ---------------------------------------------------------- */

/* Where the expression begins that token `at` is in; -1: it is a declaration. */
static int expression_begin(const struct source *s, int at, int first) {
    int depth = 0, behind;
    for (int i = at - 1; i >= first; i--) {
        const int close = is(s, i, ")") || is(s, i, "]"), open = is(s, i, "(") || is(s, i, "[");
        if (open && !depth && i > first && is(s, i, "(") && is_keyword(s, i - 1)) return i + 1;
        depth += close - (open && depth);
        /* the ) of if (..) and the like, behind which a statement begins */
        if (close && depth == 1 && is(s, i, ")")) {
            int from = i, inner = 0;
            do inner += is(s, from, ")") - is(s, from, "(");
            while (inner && from-- > first);
            if (from > first &&
                (is(s, from - 1, "if") || is(s, from - 1, "while") || is(s, from - 1, "for")))
                return i + 1;
        }
        if (depth) continue;
        if (s->tokens.at[i].kind == T_DIRECTIVE || is(s, i, ";") || is(s, i, "{") ||
            is(s, i, "}") || is(s, i, "else") || is(s, i, "do")) {
            (void)read_shape(s, i + 1, at + 1, &behind);
            return behind > i + 1 ? -1 : i + 1;
        }
    }
    return first;
}

/* An array or pointer at token `at`, between loops: it is taken to the host first. */
static void take_home(struct region *r, int at) {
    struct source *s = r->s;
    const struct token *t = &s->tokens.at[at];
    const struct declared v = find_declared(s, at, t);
    struct text out = {0};
    if (v.at < 0 || v.at == at || !v.shape.levels) return;
    const int begin = expression_begin(s, at, r->at);
    if (begin < 0) {
        error(s, t->begin,
              "between the loops of a region that kernels are made of, a declaration cannot read "
              "the array \"%.*s\"; assign its value behind the declaration",
              token_length(t), token_letters(s, t));
        return;
    }
    put(&out, "evn_cu_map_home((const void *)(%.*s)), ", token_length(t), token_letters(s, t));
    replace(s, s->tokens.at[begin].begin, s->tokens.at[begin].begin, out.at);
}

/* ---- directives within --------------------------------------------------------------------- */

/* A loop that is shared out, whose directive token `at` is; the token behind it. */
static int shared(struct region *r, int at, struct tokens *t) {
    struct source *s = r->s;
    const struct token *line = &s->tokens.at[at];
    struct directive d = {.begin = line->begin, .end = line->end, .tokens = *t};
    const int errors = s->errors;
    int loop = at + 1, behind;
    while (loop < r->behind && s->tokens.at[loop].kind == T_DIRECTIVE) loop++;
    behind = statement_end(s, loop, r->behind, 0);
    kernels_clauses(s, &d, 2);
    if (s->errors == errors && behind > 0) {
        const int own = d.clauses;
        for (int i = 0; i < r->d->clauses; i++)
            if (r->d->clause[i].kind == K_MAP) kernels_add_clause(&d, r->d->clause[i]);
        layouts_open(s, 0);
        inherit(r, &d, loop, behind);
        layouts_close(s);
        behind = kernels_shared_loop(s, &d, at + 1, r->behind);
        for (int i = own; i < d.clauses; i++)
            if (d.clause[i].kind == K_FIRSTPRIVATE) free((void *)d.clause[i].in.at);
    }
    directive_close(&d);
    return behind > at ? behind : at + 1;
}

/* A directive of OpenMP; the token behind what it takes with it. */
static int within(struct region *r, int at) {
    static const char *const nothing[] = {"barrier",  "master", "masked", "single",
                                          "taskwait", "flush",  NULL},
                             *const fine[] = {"simd", "critical", "atomic", NULL};
    struct source *s = r->s;
    const struct token *line = &s->tokens.at[at];
    struct tokens t;
    if (!line_words(s, at, &t)) return at + 1;
    if (is_shared_out(s, &t)) return shared(r, at, &t);
    if (is_one_of(s, &t.at[2], nothing))
        replace(s, line->begin, line->end, copy_of("", 0));
    else if (!is_one_of(s, &t.at[2], fine))
        error(s, t.at[2].begin,
              "%.*s cannot stand in a region that kernels are made of; there are loops that are "
              "shared out, master, single, barrier and critical",
              token_length(&t.at[2]), token_letters(s, &t.at[2]));
    free(t.at);
    return at + 1;
}

static void put_privates(struct region *r, struct text *out) {
    const struct source *s = r->s;
    const char *type = s->cxx ? "decltype" : "__typeof__";
    for (int i = 0; i < r->d->clauses; i++) {
        const struct clause *c = &r->d->clause[i];
        struct run part;
        int at = 0;
        if (c->kind != K_PRIVATE && c->kind != K_FIRSTPRIVATE) continue;
        while (run_part(s, c->in, &at, &part)) {
            const int n = token_length(&part.at[0]);
            const char *name = token_letters(s, &part.at[0]);
            if (c->kind == K_FIRSTPRIVATE)
                put(out, "%s(%.*s) evn_0_%.*s = %.*s;{", type, n, name, n, name, n, name);
            put(out, "%s(%.*s) %.*s", type, n, name, n, name);
            if (c->kind == K_FIRSTPRIVATE) put(out, " = evn_0_%.*s", n, name);
            put(out, ";(void)%.*s;", n, name);
        }
    }
}

/* The braces that firstprivate has opened. */
static int braces(const struct region *r) {
    int count = 1;
    for (int i = 0; i < r->d->clauses; i++) {
        struct run part;
        int at = 0;
        while (r->d->clause[i].kind == K_FIRSTPRIVATE &&
               run_part(r->s, r->d->clause[i].in, &at, &part))
            count++;
    }
    return count;
}

int kernels_region(struct source *s, struct directive *d, int at, int to) {
    struct text out = {0};
    while (at < to && is_line_mark(s, &s->tokens.at[at])) at++;
    struct region r = {s, d, at, after_bracket(s, &s->tokens, at, to)};
    const int errors = s->errors;
    d->clauses = 0;
    kernels_clauses(s, d, 2);
    if (s->errors > errors) return r.behind;
    put(&out, "{%s", kernels_quiet(s));
    put_privates(&r, &out);
    put(&out, "\n%s", kernels_loud);
    kernels_put_line(s, &out, s->tokens.at[at].begin);
    replace(s, d->begin, d->end, out.at);
    for (int i = at + 1; i < r.behind;) {
        if (s->tokens.at[i].kind == T_DIRECTIVE) {
            i = within(&r, i);
            continue;
        }
        const int member = is(s, i - 1, ".") || is(s, i - 1, "->");
        if (s->tokens.at[i].kind == T_NAME && !is_keyword(s, i) && !member) take_home(&r, i);
        i++;
    }
    struct text close = {0};
    for (int i = braces(&r); i > 0; i--) put(&close, "}");
    const int end = s->tokens.at[r.behind - 1].end;
    replace(s, end, end, close.at);
    return r.behind;
}
