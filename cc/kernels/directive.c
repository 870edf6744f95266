/* The directive of a target region: its words and clauses, which may stand in several lines (target
 * teams, then distribute), and those of a parallel for within the region. */
#include "kernels.h"
#include <stdlib.h>
#include <string.h>

enum word { W_TARGET, W_TEAMS, W_DISTRIBUTE, W_PARALLEL, W_FOR, W_LOOP, W_SIMD, WORDS };
static const char *const words[WORDS] = {"target", "teams", "distribute", "parallel",
                                         "for",    "loop",  "simd"};

static const struct {
    const char *name;
    enum clause_kind kind;
} clauses[] = {
    {"collapse", K_COLLAPSE},
    {"reduction", K_REDUCTION},
    {"private", K_PRIVATE},
    {"firstprivate", K_FIRSTPRIVATE},
    {"shared", K_SHARED},
    {"map", K_MAP},
    {"if", K_IF},
    {"device", K_IF},
    /* a unit has its own numbers of teams and threads, and its own order; all is waited for that
     * something waits for */
    {"num_teams", K_OVER},
    {"thread_limit", K_OVER},
    {"num_threads", K_OVER},
    {"schedule", K_OVER},
    {"dist_schedule", K_OVER},
    {"default", K_OVER},
    {"defaultmap", K_OVER},
    {"proc_bind", K_OVER},
    {"order", K_OVER},
    {"simdlen", K_OVER},
    {"safelen", K_OVER},
    {"aligned", K_OVER},
    {"nontemporal", K_OVER},
    {"nowait", K_OVER},
};

int kernels_worth(const char *text, int ordinary) {
    return (strstr(text, "target") || (ordinary && strstr(text, "parallel"))) &&
           (strstr(text, "pragma") || strstr(text, "Pragma"));
}

int kernels_ours(const struct source *s, const struct directive *d) {
    const struct tokens *t = &d->tokens;
    if (t->count < 3) return 0;
    if (token_is(s, &t->at[2], "target"))
        return t->count < 4 ||
               (!token_is(s, &t->at[3], "enter") && !token_is(s, &t->at[3], "exit"));
    return s->ordinary && token_is(s, &t->at[2], "parallel");
}

void kernels_add_clause(struct directive *d, struct clause c) {
    d->clause = more(d->clause, (size_t)(d->clauses + 1) * sizeof *d->clause);
    d->clause[d->clauses++] = c;
}

static void add_token(struct tokens *t, struct token token) {
    if (t->count + 2 > t->room)
        t->at = more(t->at, sizeof *t->at * (size_t)(t->room = 2 * t->room + 2));
    t->at[t->count++] = token;
    t->at[t->count] = (struct token){T_END, token.end, token.end};
}

static enum word word_of(const struct source *s, const struct tokens *t, int i) {
    int w = 0;
    while (w < WORDS && !token_is(s, &t->at[i], words[w])) w++;
    return w;
}

/* Which words stand in it, outside of parentheses; as bits. */
static unsigned words_of(const struct source *s, const struct tokens *t) {
    unsigned seen = 0;
    int depth = 0;
    for (int i = 0; i < t->count; i++) {
        depth += token_is(s, &t->at[i], "(") - token_is(s, &t->at[i], ")");
        const enum word w = depth ? WORDS : word_of(s, t, i);
        if (w < WORDS) seen |= 1u << w;
    }
    return seen;
}

#define HAS(seen, w) ((seen) >> (w)&1)

static int is_whole(unsigned seen) {
    return HAS(seen, W_DISTRIBUTE) || HAS(seen, W_FOR) || HAS(seen, W_LOOP);
}

static int is_loop(unsigned seen) {
    if (HAS(seen, W_DISTRIBUTE) && !HAS(seen, W_TEAMS)) return 0;
    if (HAS(seen, W_FOR) && !HAS(seen, W_PARALLEL)) return 0;
    if (HAS(seen, W_PARALLEL) && !HAS(seen, W_FOR) && !HAS(seen, W_LOOP)) return 0;
    return is_whole(seen) && (HAS(seen, W_TEAMS) || HAS(seen, W_PARALLEL));
}

int kernels_has(const struct source *s, const struct directive *d, const char *word) {
    const unsigned seen = words_of(s, &d->tokens);
    for (int w = 0; w < WORDS; w++)
        if (HAS(seen, w) && !strcmp(words[w], word)) return 1;
    return 0;
}

/* The tokens of the line `at`, without "pragma omp"; 0: it is none of OpenMP's. The paper's
 * listings leave "omp" out before distribute. */
static int line_of(struct source *s, int at, struct tokens *out) {
    const struct token *line = &s->tokens.at[at];
    struct tokens t;
    lex(s, line->begin + 1, line->end, 0, &t);
    const int pragma = t.count > 1 && token_is(s, &t.at[0], "pragma");
    const int omp = pragma && token_is(s, &t.at[1], "omp");
    const int bare = pragma && token_is(s, &t.at[1], "distribute");
    if (bare) complain(s, t.at[1].begin, "note", "read as omp distribute");
    for (int i = omp ? 2 : 1; (omp || bare) && i < t.count; i++) add_token(out, t.at[i]);
    free(t.at);
    return omp || bare;
}

void kernels_clauses(struct source *s, struct directive *d, int first) {
    const struct tokens *t = &d->tokens;
    for (int i = first; i < t->count;) {
        const struct token *name = &t->at[i];
        enum clause_kind kind = K_NONE;
        for (size_t k = 0; k < sizeof clauses / sizeof *clauses; k++)
            if (token_is(s, name, clauses[k].name)) kind = clauses[k].kind;
        const int open = i + 1 < t->count && token_is(s, &t->at[i + 1], "(");
        const int behind = open ? after_bracket(s, t, i + 1, t->count) : i + 1;
        if (behind < 0) {
            error(s, t->at[i + 1].begin, "this parenthesis is not closed");
            return;
        }
        if (kind != K_NONE && behind > i + 3)
            kernels_add_clause(
                d, (struct clause){
                       kind, *name, {&t->at[i + 2], behind - i - 3}, t->at[behind - 1].end});
        else if (!token_is(s, name, ",") && kind != K_OVER && (open || word_of(s, t, i) == WORDS))
            error(s, name->begin,
                  "\"%.*s\" is no clause of a loop that a kernel is made of; there are collapse, "
                  "reduction, private, firstprivate, shared, map, if, device, schedule, nowait and "
                  "others that say how, not what",
                  token_length(name), token_letters(s, name));
        i = behind;
    }
}

int kernels_read(struct source *s, struct directive *d, int *at, int to) {
    const int begin = d->begin;
    d->clauses = 0; /* those that another reader has seen */
    while (!is_whole(words_of(s, &d->tokens))) {
        int next = *at;
        while (next < to && is_line_mark(s, &s->tokens.at[next])) next++;
        if (next >= to || s->tokens.at[next].kind != T_DIRECTIVE || !line_of(s, next, &d->tokens))
            break;
        *at = next + 1;
    }
    if (!is_loop(words_of(s, &d->tokens))) {
        error(s, begin,
              "no kernel can be made of this target region, and it would run on the host; expected "
              "target teams distribute parallel for, or target teams distribute, before a loop");
        return 0;
    }
    const int errors = s->errors;
    kernels_clauses(s, d, 2);
    return s->errors == errors;
}

int kernels_inner(struct source *s, int at, struct directive *d) {
    const struct token *line = &s->tokens.at[at];
    memset(d, 0, sizeof *d);
    if (line->kind != T_DIRECTIVE) return 0;
    d->begin = line->begin;
    d->end = line->end;
    lex(s, line->begin + 1, line->end, 0, &d->tokens);
    const struct tokens *t = &d->tokens;
    const unsigned seen = words_of(s, t);
    const int ours = t->count > 3 && token_is(s, &t->at[1], "omp") &&
                     token_is(s, &t->at[2], "parallel") && HAS(seen, W_FOR);
    if (ours)
        kernels_clauses(s, d, 3);
    else
        directive_close(d);
    return ours;
}

void kernels_put_inner(struct source *s, const struct directive *d) {
    struct text out = {0};
    put(&out, "#pragma omp parallel for if (0)");
    for (int i = 0; i < d->clauses; i++) {
        const struct clause *c = &d->clause[i];
        if (c->kind != K_OVER && c->kind != K_IF)
            put(&out, " %.*s", c->end - c->name.begin, s->text + c->name.begin);
    }
    replace(s, d->begin, d->end, out.at);
}

int kernels_collapse(struct source *s, const struct directive *d) {
    const struct clause *c = directive_find(d, K_COLLAPSE);
    if (!c) return 1;
    const int n = s->text[c->in.at[0].begin] - '0';
    if (c->in.count == 1 && token_length(&c->in.at[0]) == 1 && n >= 1 && n <= 8) return n;
    error(s, c->in.at[0].begin, "collapse: expected a number from 1 to 8");
    return 1;
}
