/* Parser of a directive: the construct, its clauses, and whether it is ours. clause.c checks the
 * clauses' contents. */
#include "directive.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run run_of(struct run in, int from, int to) {
    return (struct run){in.at + from, to - from};
}

struct range run_range(struct run in) {
    return (struct range){in.at[0].begin, in.count ? in.at[in.count - 1].end : in.at[0].begin};
}

/* How a token changes the depth of brackets. */
static int deeper(const struct source *s, const struct token *t) {
    if (t->kind != T_SIGN || token_length(t) != 1) return 0;
    const char c = s->text[t->begin];
    return (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
}

/* Whether :: of C++ is at token i. */
static int is_scope(const struct source *s, struct run in, int i) {
    return s->cxx && i + 1 < in.count && token_is(s, &in.at[i], ":") &&
           token_is(s, &in.at[i + 1], ":") && in.at[i].end == in.at[i + 1].begin;
}

/* Whether :: is at token i, and is not the paper's colon beside a family of units. */
static int in_name(const struct source *s, struct run in, int i) {
    return is_scope(s, in, i) && i + 2 < in.count && in.at[i + 2].kind == T_NAME &&
           family_of(s, &in.at[i + 2]) < 0 && !(i && family_of(s, &in.at[i - 1]) >= 0);
}

/* How a token of a template's arguments changes the depth of its brackets; -9: it is in none. */
static int deeper_template(const struct source *s, struct run in, int i) {
    static const char *const others[] = {",", "*", "&", "...", "+", "-", "!", "~", ":"};
    const struct token *t = &in.at[i];
    if (t->kind != T_SIGN || deeper(s, t)) return 0;
    if (token_is(s, t, "<")) return 1;
    if (token_is(s, t, ">")) return -1;
    if (token_is(s, t, ">>")) return -2;
    for (int k = 0; k < 8; k++)
        if (token_is(s, t, others[k])) return 0;
    if (token_is(s, t, ":")) return is_scope(s, in, i) || (i && is_scope(s, in, i - 1)) ? 0 : -9;
    const int ends =
        i + 1 < in.count && (token_is(s, &in.at[i + 1], ">") || token_is(s, &in.at[i + 1], ","));
    return token_is(s, t, "&&") && ends ? 0 : -9; /* T && */
}

/* The token behind the arguments of a template that token i, a <, opens; i: it opens none. */
static int behind_template(const struct source *s, struct run in, int i) {
    if (!s->cxx || i < 1 || in.at[i - 1].kind != T_NAME || !token_is(s, &in.at[i], "<")) return i;
    int depth = 0, brackets = 0;
    for (int k = i; k < in.count; k++) {
        const int change = deeper_template(s, in, k);
        brackets += deeper(s, &in.at[k]);
        if (brackets < 0) return i;
        if (brackets) continue;
        if (change == -9) return i;
        depth += change;
        if (depth > 0) continue;
        const int operand = k + 1 < in.count && in.at[k + 1].kind != T_SIGN;
        return depth < 0 || operand ? i : k + 1;
    }
    return i;
}

struct run run_bare(const struct source *s, struct run in) {
    while (in.count > 2 && token_is(s, &in.at[0], "(") && run_open(s, in) == 0)
        in = run_of(in, 1, in.count - 1);
    return in;
}

int run_open(const struct source *s, struct run in) {
    int depth = 0;
    for (int i = in.count - 1; i >= 0; i--) {
        depth -= deeper(s, &in.at[i]);
        if (depth <= 0) return depth || i == in.count - 1 ? -1 : i;
    }
    return -1;
}

int run_name(const struct source *s, struct run in, struct token *name) {
    if (!in.count) return 0;
    *name = (struct token){T_NAME, in.at[0].begin, in.at[in.count - 1].end};
    if (in.count == 1) return in.at[0].kind == T_NAME;
    for (int i = is_scope(s, in, 0) ? 2 : 0; s->cxx; i += 2) {
        if (i < in.count && token_is(s, &in.at[i], "template")) i++;
        if (i >= in.count || in.at[i].kind != T_NAME) return 0;
        i++;
        if (i < in.count) i = behind_template(s, in, i);
        if (i == in.count) return 1;
        if (!is_scope(s, in, i)) return 0;
    }
    return 0;
}

int run_section(const struct source *s, struct run in, struct section *item) {
    *item = (struct section){.first = run_of(in, 0, 0), .length = run_of(in, 0, 0)};
    if (run_name(s, in, &item->name)) return 1;
    if (s->fortran || in.count < 4 || in.at[0].kind != T_NAME || run_open(s, in) != 1 ||
        !token_is(s, &in.at[1], "["))
        return 0;
    const struct run within = run_of(in, 2, in.count - 1);
    const int colon = run_find(s, within, 0, ":");
    item->name = in.at[0];
    item->is = 1;
    item->first = run_of(within, 0, colon < 0 ? within.count : colon);
    if (colon < 0) return 1;
    item->length = run_of(within, colon + 1, within.count);
    return item->length.count > 0 && run_find(s, item->length, 0, ":") < 0;
}

int run_find(const struct source *s, struct run in, int from, const char *letters) {
    int depth = 0, questions = 0;
    for (int i = from; i < in.count; i++) {
        const struct token *t = &in.at[i];
        depth += deeper(s, t);
        if (depth || t->kind != T_SIGN) continue;
        if (in_name(s, in, i)) {
            i++;
            continue;
        }
        const int behind = behind_template(s, in, i);
        if (behind > i) {
            i = behind - 1;
            continue;
        }
        if (token_is(s, t, "?")) questions++;
        if (token_is(s, t, ":") && questions) {
            questions--;
        } else if (token_is(s, t, letters)) {
            return i;
        }
    }
    return -1;
}

int run_part(const struct source *s, struct run in, int *at, struct run *part) {
    if (*at > in.count || !in.count) return 0;
    int comma = run_find(s, in, *at, ",");
    if (comma < 0) comma = in.count;
    *part = run_of(in, *at, comma);
    *at = comma + 1;
    return 1;
}

int word_distance(const char *a, const char *b) {
    int row[32];
    const int n = (int)strlen(b);
    if (n > 30 || strlen(a) > 30) return 99;
    for (int j = 0; j <= n; j++) row[j] = j;
    for (int i = 1; *a; a++, i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            const int above = row[j];
            int least = corner + (*a != b[j - 1]);
            if (above + 1 < least) least = above + 1;
            if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
            corner = above;
            row[j] = least;
        }
    }
    return row[n];
}

int family_of(const struct source *s, const struct token *t) {
    if (t->kind != T_NAME) return -1;
    if (token_is(s, t, "CPU")) return 0;
    if (token_is(s, t, "GPU")) return 1;
    return token_is(s, t, "FPGA") ? 2 : -1;
}

/* Whether this is a list of units, right or wrong: a family beside a colon, two colons, or auto. */
static int is_list(const struct source *s, struct run in) {
    if (in.count == 1 && token_is(s, &in.at[0], "auto")) return 1;
    int at = 0;
    struct run part;
    while (run_part(s, in, &at, &part)) {
        for (int i = run_find(s, part, 0, ":"); i >= 0; i = run_find(s, part, i + 1, ":")) {
            if (i + 1 < part.count && family_of(s, &part.at[i + 1]) >= 0) return 1;
            if (i > 0 && family_of(s, &part.at[i - 1]) >= 0) return 1;
            if (i + 2 < part.count && part.at[i + 1].kind == T_NAME &&
                token_is(s, &part.at[i + 2], ":"))
                return 1;
        }
    }
    return 0;
}

static const struct {
    const char *name;
    enum clause_kind kind;
} clause_names[] = {{"num_teams", K_NUM_TEAMS},
                    {"thread_limit", K_THREAD_LIMIT},
                    {"private", K_PRIVATE},
                    {"firstprivate", K_FIRSTPRIVATE},
                    {"lastprivate", K_LASTPRIVATE},
                    {"shared", K_SHARED},
                    {"default", K_DEFAULT},
                    {"allocate", K_ALLOCATE},
                    {"reduction", K_REDUCTION},
                    {"collapse", K_COLLAPSE},
                    {"order", K_ORDER},
                    {"bind", K_BIND},
                    {"dist_schedule", K_SCHEDULE},
                    {"weight", K_WEIGHT},
                    {"key", K_KEY},
                    {"affinity", K_AFFINITY},
                    {"speed", K_SPEED},
                    {"batch", K_BATCH},
                    {"OMP_CU", K_OMP_CU}};

static enum clause_kind kind_of(const struct source *s, const struct token *t) {
    for (size_t i = 0; i < sizeof clause_names / sizeof *clause_names; i++)
        if (token_is(s, t, clause_names[i].name)) return clause_names[i].kind;
    return K_NONE;
}

static void add(struct directive *d, struct clause c) {
    d->clause = more(d->clause, (size_t)(d->clauses + 1) * sizeof *d->clause);
    d->clause[d->clauses++] = c;
}

/* Clauses of tokens first .. count-1; those in OMP_CU(..) as if they stood there. An open
 * parenthesis ends the last one at count; in.count is -1 then. */
static void read_clauses(const struct source *s, struct directive *d, const struct tokens *t,
                         int first, int count) {
    for (int i = first; i < count;) {
        struct clause c = {kind_of(s, &t->at[i]), t->at[i], {&t->at[i + 1], 0}, t->at[i].end};
        if (token_is(s, &t->at[i], ",")) {
            i++;
            continue;
        }
        int next = i + 1;
        if (next < count && token_is(s, &t->at[next], "(")) {
            const int behind = after_bracket(s, t, next, count);
            c.in = (struct run){&t->at[next + 1], behind < 0 ? -1 : behind - next - 2};
            c.end = behind < 0 ? t->at[count - 1].end : t->at[behind - 1].end;
            next = behind < 0 ? count : behind;
        }
        if (c.kind == K_OMP_CU && c.in.count >= 0 && next > i + 1) {
            read_clauses(s, d, t, i + 2, next - 1);
        } else {
            add(d, c);
        }
        i = next;
    }
}

/* The words of the construct; *at goes behind them. */
static void read_construct(const struct source *s, struct directive *d, int *at) {
    const struct tokens *t = &d->tokens;
    const struct token *word = &t->at[*at];
    if (token_is(s, word, "declare") && token_is(s, word + 1, "variant")) {
        d->construct = C_VARIANT;
        *at += 2;
        return;
    }
    const int teams = token_is(s, word, "teams");
    if (teams) {
        d->construct = C_TEAMS;
        word = &t->at[++*at];
    }
    d->by_loop = token_is(s, word, "loop");
    if (d->by_loop || token_is(s, word, "distribute")) {
        d->construct = teams ? C_TEAMS_LOOP : C_DISTRIBUTE;
        word = &t->at[++*at];
        if (token_is(s, word, "parallel") || token_is(s, word, "simd")) d->odd = word;
    }
}

/* Whether a declare variant is for GPUs: match(device={kind(gpu)}). */
static int for_gpu(const struct source *s, const struct tokens *t, int first) {
    static const char *const words[] = {"match", "(",   "device", "=", "{", "kind",
                                        "(",     "gpu", ")",      "}", ")"};
    const int n = (int)(sizeof words / sizeof *words);
    for (int i = first; i + n <= t->count; i++) {
        int k = 0;
        while (k < n && token_is(s, &t->at[i + k], words[k])) k++;
        if (k == n) return 1;
    }
    return 0;
}

int directive_read(struct source *s, int at, struct directive *d) {
    const struct token *line = &s->tokens.at[at];
    memset(d, 0, sizeof *d);
    d->begin = line->begin;
    d->end = line->end;
    lex(s, line->begin + 1, line->end, 0, &d->tokens);
    const struct tokens *t = &d->tokens;
    if (t->count < 3 || !token_is(s, &t->at[0], "pragma") || !token_is(s, &t->at[1], "omp")) {
        directive_close(d);
        return 0;
    }
    int first = 2;
    read_construct(s, d, &first);
    d->first = first;
    if (d->construct == C_VARIANT) {
        if (!for_gpu(s, t, first)) d->construct = C_OTHER;
        return 1;
    }
    if (d->construct == C_OTHER) return 1;
    read_clauses(s, d, t, first, t->count);
    const struct clause *units = directive_find(d, K_NUM_TEAMS);
    d->list = units && units->in.count > 0 && is_list(s, units->in);
    for (int i = 0; i < d->clauses && !units; i++) /* num_team(4:CPU:4) */
        if (d->clause[i].kind == K_NONE && d->clause[i].in.count > 1)
            d->list |= is_list(s, d->clause[i].in);
    for (int i = 0; i < d->clauses && !d->list; i++) /* a list that is not closed */
        if (d->clause[i].kind == K_NUM_TEAMS && d->clause[i].in.count < 0)
            d->list = is_list(
                s, (struct run){d->clause[i].in.at, (int)(&t->at[t->count] - d->clause[i].in.at)});
    return 1;
}

void directive_join(struct directive *d, struct directive *second) {
    for (int i = 0; i < second->clauses; i++) add(d, second->clause[i]);
    d->construct = C_TEAMS_LOOP;
    d->by_loop = second->by_loop;
    d->odd = second->odd;
    d->end = second->end;
    d->more_tokens = second->tokens;
    second->tokens = (struct tokens){0};
    directive_close(second);
}

void directive_close(struct directive *d) {
    free(d->tokens.at);
    free(d->more_tokens.at);
    free(d->clause);
    free(d->group);
    memset(d, 0, sizeof *d);
}

const struct clause *directive_find(const struct directive *d, enum clause_kind kind) {
    for (int i = 0; i < d->clauses; i++)
        if (d->clause[i].kind == kind) return &d->clause[i];
    return NULL;
}

int directive_learns(const struct directive *d) {
    return directive_find(d, K_WEIGHT) || directive_find(d, K_KEY);
}

int directive_extended(const struct source *s, const struct directive *d) {
    for (int i = 0; i < d->clauses; i++) {
        const struct clause *c = &d->clause[i];
        if (c->kind == K_WEIGHT || c->kind == K_KEY || c->kind == K_AFFINITY ||
            c->kind == K_SPEED || c->kind == K_BATCH)
            return 1;
        if (c->kind == K_SCHEDULE && c->in.count > 0 && !token_is(s, &c->in.at[0], "static"))
            return 1;
    }
    return 0;
}
