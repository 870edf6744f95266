/* The head of a loop: for (VARIABLE = FROM; VARIABLE < TO; VARIABLE += STEP), and its other forms.
 * Expressions are not understood, but it is made sure that they can be cut out. */
#include "loop.h"
#include <string.h>

static const char pick_cond[] =
    "the loop's second part must compare its variable with <, <=, > or >=";
static const char pick_step[] =
    "the loop's third part must be variable++, variable-- or variable += step";

/* The first of these signs outside of brackets, or -1. */
static int find_any(const struct source *s, struct run in, const char *const *signs, int count) {
    int first = -1;
    for (int i = 0; i < count; i++) {
        const int at = run_find(s, in, 0, signs[i]);
        if (at >= 0 && (first < 0 || at < first)) first = at;
    }
    return first;
}

/* Whether it can stand behind + without parentheses of its own meaning: all in it binds closer. */
static int is_sum(const struct source *s, struct run in) {
    static const char *const looser[] = {"<<", ">>", "<",  ">",  "<=", ">=", "==", "!=", "&",
                                         "^",  "|",  "&&", "||", "?",  "=",  ",",  ";"};
    return in.count > 0 && find_any(s, in, looser, (int)(sizeof looser / sizeof *looser)) < 0;
}

/* Whether there is no + or - between two operands: behind a minus it would change its meaning. */
static int is_product(const struct source *s, struct run in) {
    static const char *const signs[] = {"+", "-"};
    for (int i = 0; i < 2; i++)
        for (int k = run_find(s, in, 0, signs[i]); k >= 0; k = run_find(s, in, k + 1, signs[i])) {
            const struct token *before = &in.at[k - 1];
            if (k &&
                (before->kind != T_SIGN || token_is(s, before, ")") || token_is(s, before, "]")))
                return 0;
        }
    return is_sum(s, in);
}

static int read_init(struct source *s, struct run in, int at, struct loop *loop) {
    const int equals = run_find(s, in, 0, "=");
    const int comma = run_find(s, in, 0, ",");
    if (comma >= 0 && equals >= 0) {
        error(s, in.at[comma].begin, "one loop variable, please");
        return 0;
    }
    if (equals < 1 || in.at[equals - 1].kind != T_NAME || equals + 1 == in.count) {
        error(s, in.count ? in.at[0].begin : at,
              "the loop's first part must be variable = first value");
        return 0;
    }
    loop->variable = in.at[equals - 1];
    for (int i = 0; i < equals - 1; i++)
        if (s->cxx) {
            loop->deduced |= token_is(s, &in.at[i], "auto");
        } else if (token_is(s, &in.at[i], "*")) {
            error(s, in.at[i].begin, "the loop variable \"%.*s\" is a pointer; expected an integer",
                  token_length(&loop->variable), token_letters(s, &loop->variable));
            return 0;
        }
    int first = 0;
    if (equals > 1 &&
        (token_is(s, &in.at[0], "register") || (token_is(s, &in.at[0], "auto") && !s->cxx)))
        first = 1;
    if (equals > 1 && first == equals - 1) {
        error(s, in.at[0].begin, "the loop variable needs a type");
        return 0;
    }
    loop->type = run_range(run_of(in, first, equals - 1));
    if (equals == 1) loop->type.end = loop->type.begin;
    loop->from = run_range(run_of(in, equals + 1, in.count));
    return 1;
}

/* In C++ < and > may be brackets in the bound: the variable stands at one end, and the sign beside
 * it. */
static int read_cxx_condition(struct source *s, struct run in, int at, struct loop *loop) {
    static const char *const names[] = {"<", "<=", ">", ">=", "!="};
    static const char *const others[] = {"==", "&", "^", "|", "&&", "||", "?", "=", ","};
    static const enum relation turned[] = {R_MORE, R_MORE_EQUAL, R_LESS, R_LESS_EQUAL, R_NOT_EQUAL};
    const int n = in.count;
    for (int i = 0; n > 2 && i < 5; i++) {
        const int left =
            token_same(s, &in.at[0], &loop->variable) && token_is(s, &in.at[1], names[i]);
        const int right =
            token_same(s, &in.at[n - 1], &loop->variable) && token_is(s, &in.at[n - 2], names[i]);
        const struct run to = left ? run_of(in, 2, n) : run_of(in, 0, n - 2);
        if ((!left && !right) || find_any(s, to, others, 9) >= 0) continue;
        loop->relation = left ? (enum relation)i : turned[i];
        loop->to = run_range(to);
        return 1;
    }
    error(s, n ? in.at[0].begin : at,
          "the loop's second part must compare its variable \"%.*s\" with a bound, by <, <=, > or "
          ">=, or of iterators by !=",
          token_length(&loop->variable), token_letters(s, &loop->variable));
    return 0;
}

static int read_condition(struct source *s, struct run in, int at, struct loop *loop) {
    if (s->cxx) return read_cxx_condition(s, in, at, loop);
    static const char *const names[] = {"<", "<=", ">", ">="};
    static const char *const others[] = {"==", "!=", "&", "^", "|", "&&", "||", "?", "=", ","};
    static const enum relation turned[] = {R_MORE, R_MORE_EQUAL, R_LESS, R_LESS_EQUAL};
    int sign = -1, signs = 0, relation = 0;
    for (int i = 0; i < 4; i++)
        for (int k = run_find(s, in, 0, names[i]); k >= 0; k = run_find(s, in, k + 1, names[i])) {
            signs++;
            sign = k;
            relation = i;
        }
    if (signs != 1 || find_any(s, in, others, (int)(sizeof others / sizeof *others)) >= 0) {
        error(s, in.count ? in.at[0].begin : at, pick_cond);
        return 0;
    }
    const int left = sign == 1 && token_same(s, &in.at[0], &loop->variable);
    const int right = sign == in.count - 2 && token_same(s, &in.at[in.count - 1], &loop->variable);
    if (left == right || sign == 0 || sign == in.count - 1) {
        error(s, in.at[0].begin,
              "the loop's second part must compare its variable \"%.*s\" with a bound",
              token_length(&loop->variable), token_letters(s, &loop->variable));
        return 0;
    }
    loop->relation = left ? (enum relation)relation : turned[relation];
    loop->to = run_range(left ? run_of(in, 2, in.count) : run_of(in, 0, sign));
    return 1;
}

static int read_step(struct source *s, struct run in, int at, struct loop *loop) {
    const int count = in.count;
    const struct token *t = in.at;
    for (int i = 0; i < 2 && count == 2; i++) {
        if (!token_same(s, &t[i], &loop->variable)) continue;
        loop->one = token_is(s, &t[1 - i], "++") || token_is(s, &t[1 - i], "--");
        loop->down = token_is(s, &t[1 - i], "--");
        if (loop->one) return 1;
    }
    const int changed = count > 2 && token_same(s, &t[0], &loop->variable);
    struct run step = {0};
    if (changed && (token_is(s, &t[1], "+=") || token_is(s, &t[1], "-="))) {
        step = run_of(in, 2, count);
        loop->down = token_is(s, &t[1], "-=");
        if (find_any(s, step, (const char *const[]){"=", ","}, 2) >= 0) step.count = 0;
    } else if (changed && count > 4 && token_is(s, &t[1], "=") && token_same(s, &t[2], &t[0]) &&
               (token_is(s, &t[3], "+") || token_is(s, &t[3], "-"))) {
        step = run_of(in, 4, count);
        loop->down = token_is(s, &t[3], "-");
        if (loop->down ? !is_product(s, step) : !is_sum(s, step)) step.count = 0;
    }
    if (!step.count) {
        error(s, count ? t[0].begin : at, pick_step);
        return 0;
    }
    loop->step = run_range(step);
    return 1;
}

/* A directive of #if within a head hides what the head is. */
static int is_whole(struct source *s, int from, int to) {
    for (int i = from; i < to; i++)
        if (s->tokens.at[i].kind == T_DIRECTIVE) {
            unseen(s, s->tokens.at[i].begin, "expected the loop's head without directives in it");
            return 0;
        }
    return 1;
}

/* for (DECLARATION : RANGE) of C++; 0: it is none. */
static int read_range(struct source *s, struct run in, struct loop *loop) {
    for (int i = 1; i < in.count; i++) {
        if (token_is(s, &in.at[i], "(")) return 0;
        if (!token_is(s, &in.at[i], ":")) continue;
        if (i + 1 < in.count && token_is(s, &in.at[i + 1], ":")) {
            i++; /* of std::size_t */
            continue;
        }
        loop->ranged = 1;
        loop->variable = in.at[i - 1];
        loop->type = run_range(run_of(in, 0, i));
        loop->to = run_range(run_of(in, i + 1, in.count));
        return i + 1 < in.count;
    }
    return 0;
}

/* Reads the head whose `for` is token `at`; the token behind its parenthesis, or 0. */
static int read_head(struct source *s, int at, int end, struct loop *loop) {
    const struct tokens *t = &s->tokens;
    const int place = t->at[at].begin;
    memset(loop, 0, sizeof *loop);
    if (at + 1 >= end || !token_is(s, &t->at[at + 1], "(")) {
        error(s, place, "expected ( behind for");
        return 0;
    }
    const int behind = after_bracket(s, t, at + 1, end);
    if (behind < 0) {
        unseen(s, t->at[at + 1].begin, "this parenthesis is not closed");
        return 0;
    }
    if (!is_whole(s, at, behind)) return 0;
    const struct run in = {&t->at[at + 2], behind - at - 3};
    const int first = run_find(s, in, 0, ";");
    if (s->cxx && first < 0 && read_range(s, in, loop)) return behind;
    const int second = first < 0 ? -1 : run_find(s, in, first + 1, ";");
    if (second < 0) {
        error(s, place, "expected for (variable = from; variable < to; variable += step)");
        return 0;
    }
    const int ok = read_init(s, run_of(in, 0, first), in.at[first].begin, loop) &&
                   read_condition(s, run_of(in, first + 1, second), in.at[first].begin, loop) &&
                   read_step(s, run_of(in, second + 1, in.count), in.at[second].begin, loop);
    return ok ? behind : 0;
}

/* Whether a name is in the bounds of a loop. */
static const struct token *in_bounds(const struct source *s, const struct loop *loop, int from,
                                     int to, const struct token *name) {
    for (int i = from; i < to; i++) {
        const struct token *t = &s->tokens.at[i];
        if (t->kind == T_NAME && token_same(s, t, name) && t->begin != loop->variable.begin)
            return t;
    }
    return NULL;
}

/* Skips what may stand between directive and loop: line marks, and pragmas of others. */
static int to_statement(struct source *s, int at, int end) {
    while (at < end && s->tokens.at[at].kind == T_DIRECTIVE) {
        const char *c = token_letters(s, &s->tokens.at[at]) + 1;
        c += strspn(c, " \t");
        if (!strncmp(c, "if", 2) || *c == 'e') {
            unseen(s, s->tokens.at[at].begin, "expected the for loop that the directive is about");
            return -1;
        }
        at++;
    }
    return at;
}

/* The keywords with which something begins that is no loop. */
static int keyword(const struct source *s, const struct token *t) {
    static const char *const words[] = {"while",  "do",    "if",   "switch",
                                        "return", "break", "goto", "int"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (token_is(s, t, words[i])) return 1;
    return t->kind != T_NAME;
}

static int expected_loop(struct source *s, int at, int end, const char *message) {
    const struct token *t = &s->tokens.at[at];
    if (at < end && !keyword(s, t)) {
        unseen(s, t->begin, message);
    } else {
        error(s, t->begin, "%s", message);
    }
    return 0;
}

/* Head `k` of a nest, at token *at, which then is behind it; braces before it are counted. */
static int read_next(struct source *s, int *at, int end, int loops, struct nest *nest,
                     int *braces) {
    const int k = nest->loops;
    if ((*at = to_statement(s, *at, end)) < 0) return 0;
    while (k && *at < end && token_is(s, &s->tokens.at[*at], "{")) {
        ++*braces;
        if ((*at = to_statement(s, *at + 1, end)) < 0) return 0;
    }
    if (*at >= end || !token_is(s, &s->tokens.at[*at], "for")) {
        if (!k)
            return expected_loop(s, *at, end, "expected the for loop that the directive is about");
        error(s, s->tokens.at[*at].begin, "expected loop %d of collapse(%d)", k + 1, loops);
        return 0;
    }
    const int behind = read_head(s, *at, end, &nest->loop[k]);
    if (!behind) return 0;
    for (int i = 0; i < k; i++) {
        const struct token *used =
            in_bounds(s, &nest->loop[k], *at, behind, &nest->loop[i].variable);
        if (!used) continue;
        error(s, used->begin, "expected loop %d of collapse(%d); its bounds may not use \"%.*s\"",
              k + 1, loops, token_length(used), token_letters(s, used));
        return 0;
    }
    *at = behind;
    nest->loops++;
    return 1;
}

int nest_read(struct source *s, int at, int end, int loops, struct nest *nest) {
    int braces = 0;
    nest->loops = 0;
    while (nest->loops < loops)
        if (!read_next(s, &at, end, loops, nest, &braces)) return 0;
    nest->body = s->tokens.at[at - 1].end;
    nest->first = at;
    int last = statement_end(s, at, end, 1);
    if (last >= 0) {
        nest->last = last;
        nest->body_end = s->tokens.at[last - 1].end;
        for (; braces; braces--, last++) {
            if (last < end && token_is(s, &s->tokens.at[last], "}")) continue;
            error(s, s->tokens.at[last].begin,
                  "nothing may stand between the loops of collapse(%d)", loops);
            return 0;
        }
        nest->end = s->tokens.at[last - 1].end;
        return last;
    }
    unseen(s, nest->body,
           s->preprocessed ? "the end of this loop's body cannot be found"
                           : "the end of this loop's body cannot be found; try --preprocessed");
    return 0;
}
