/* The head of a loop: for (VARIABLE = FROM; VARIABLE < TO; VARIABLE += STEP), and its other forms.
 * Expressions are not understood, but it is made sure that they can be cut out. */
#include "loop.h"
#include <string.h>

static const char pick_cond[] =
    "the loop's second part must compare its variable with <, <=, >, >= or !=";
static const char pick_step[] =
    "the loop's third part must be variable++, variable-- or variable += step";

const char *loop_relation(const struct loop *loop) {
    static const char *const names[] = {"LESS", "LESS_EQUAL", "MORE", "MORE_EQUAL"};
    return names[loop->relation];
}

/* Whether sign `k` stands between two operands, as one in front of its operand does not. */
static int is_between(const struct source *s, struct run in, int k) {
    const struct token *before = &in.at[k - 1];
    return k && (before->kind != T_SIGN || token_is(s, before, ")") || token_is(s, before, "]"));
}

/* The first of these signs outside of brackets that stands between operands, or -1. */
static int find_any(const struct source *s, struct run in, const char *const *signs, int count) {
    int first = -1;
    for (int i = 0; i < count; i++) {
        int at = run_find(s, in, 0, signs[i]);
        while (at >= 0 && !is_between(s, in, at)) at = run_find(s, in, at + 1, signs[i]);
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
    return find_any(s, in, signs, 2) < 0 && is_sum(s, in);
}

/* Whether this is the loop's variable, perhaps in parentheses. */
static int is_variable(const struct source *s, struct run in, const struct loop *loop) {
    const struct run bare = run_bare(s, in);
    return bare.count == 1 && token_same(s, &bare.at[0], &loop->variable);
}

/* The token behind attributes and alignments that a declaration begins with. */
static int behind_attributes(const struct source *s, struct run in) {
    static const char *const words[] = {"__attribute__", "__attribute", "alignas", "_Alignas"};
    int at = 0;
    while (at + 1 < in.count) {
        int known = token_is(s, &in.at[at], "[") && token_is(s, &in.at[at + 1], "[");
        const int open = at + !known;
        for (int i = 0; i < 4; i++) known |= token_is(s, &in.at[at], words[i]);
        int end = open + 1;
        while (known && end <= in.count && run_open(s, run_of(in, open, end)) != 0) end++;
        if (!known || end > in.count) break;
        at = end;
    }
    return at;
}

/* Number of tokens without the attributes behind the declared name. */
static int before_attributes(const struct source *s, struct run in) {
    for (int open; (open = run_open(s, in)) > 0;) {
        const int gnu = token_is(s, &in.at[open - 1], "__attribute__") ||
                        token_is(s, &in.at[open - 1], "__attribute");
        if (!gnu && !(token_is(s, &in.at[open], "[") && token_is(s, &in.at[open + 1], "["))) break;
        in.count = open - gnu;
    }
    return in.count;
}

/* TYPE VARIABLE, or VARIABLE: with attributes, and parentheses around the variable. */
static int read_declared(struct source *s, struct run in, struct loop *loop) {
    int first = behind_attributes(s, in);
    const int n = before_attributes(s, in), open = run_open(s, run_of(in, 0, n));
    const struct run name =
        open >= 0 ? run_bare(s, run_of(in, open, n)) : run_of(in, n > 0 ? n - 1 : 0, n);
    const int types = open >= 0 ? open : n - 1;
    if (n < 1 || name.count != 1 || name.at[0].kind != T_NAME) return 0;
    loop->variable = name.at[0];
    for (int i = 0; i < types && s->cxx; i++) loop->deduced |= token_is(s, &in.at[i], "auto");
    const int storage = first < types && (token_is(s, &in.at[first], "register") ||
                                          (token_is(s, &in.at[first], "auto") && !s->cxx));
    first += storage;
    if (storage && first == types) {
        error(s, in.at[0].begin, "the loop variable needs a type");
        return -1;
    }
    loop->type = first < types ? run_range(run_of(in, first, types))
                               : (struct range){name.at[0].begin, name.at[0].begin};
    return 1;
}

/* VARIABLE = FROM; in C++ also TYPE VARIABLE(FROM) and TYPE VARIABLE{FROM}. */
static int read_init(struct source *s, struct run in, int at, struct loop *loop) {
    in = run_bare(s, in);
    const int equals = run_find(s, in, 0, "=");
    const int comma = run_find(s, in, 0, ",");
    const int open = s->cxx && equals < 0 ? run_open(s, in) : -1;
    if (comma >= 0 && equals >= 0) {
        error(s, in.at[comma].begin, "one loop variable, please");
        return 0;
    }
    const int direct = open > 1 && open + 2 < in.count && !token_is(s, &in.at[open], "[");
    const int names = direct ? open : equals;
    const int known =
        names > 0 && names + 1 < in.count ? read_declared(s, run_of(in, 0, names), loop) : 0;
    if (known < 0) return 0;
    if (!known) {
        error(s, in.count ? in.at[0].begin : at,
              "the loop's first part must be variable = first value");
        return 0;
    }
    loop->from = run_range(run_of(in, names + 1, in.count - direct));
    return 1;
}

/* The comparison of the variable with its bound: *sign, and whether the variable is on its left; 0:
 * there is none. In C++ < and > may be brackets in the bound: of several, the one beside the
 * variable counts. */
static int find_relation(const struct source *s, struct run in, const struct loop *loop,
                         enum relation *relation, int *sign, int *left) {
    static const char *const names[] = {"<", "<=", ">", ">=", "!="};
    int signs = 0, found = 0;
    for (int i = 0; i < 5; i++)
        for (int k = run_find(s, in, 0, names[i]); k >= 0; k = run_find(s, in, k + 1, names[i])) {
            const int is_left = is_variable(s, run_of(in, 0, k), loop);
            const int is_right = is_variable(s, run_of(in, k + 1, in.count), loop);
            signs++;
            if (is_left == is_right || k == 0 || k + 1 == in.count) continue;
            found++;
            *relation = (enum relation)i;
            *sign = k;
            *left = is_left;
        }
    return s->cxx ? found > 0 : signs == 1 ? 1 + (found == 1) : 0;
}

static int read_condition(struct source *s, struct run in, int at, struct loop *loop) {
    static const char *const others[] = {"==", "&", "^", "|", "&&", "||", "?", "=", ","};
    static const enum relation turned[] = {R_MORE, R_MORE_EQUAL, R_LESS, R_LESS_EQUAL, R_NOT_EQUAL};
    enum relation relation = R_LESS;
    int sign = 0, left = 0;
    in = run_bare(s, in);
    const int found = find_relation(s, in, loop, &relation, &sign, &left);
    const struct run to = left ? run_of(in, sign + 1, in.count) : run_of(in, 0, sign);
    const int other = find_any(s, s->cxx && found ? to : in, others, 9) >= 0;
    if (found == (s->cxx ? 1 : 2) && !other) {
        loop->relation = left ? relation : turned[relation];
        loop->to = run_range(to);
        return 1;
    }
    const int place = in.count ? in.at[0].begin : at;
    if (!s->cxx && (!found || other))
        error(s, place, pick_cond);
    else
        error(s, place, "the loop's second part must compare its variable \"%.*s\" with a bound%s",
              token_length(&loop->variable), token_letters(s, &loop->variable),
              s->cxx ? ", by <, <=, >, >= or !=" : "");
    return 0;
}

/* The step of variable = variable + STEP, variable = STEP + variable, variable = variable - STEP.
 */
static struct run read_sum(const struct source *s, struct run in, struct loop *loop) {
    const struct run none = run_of(in, 0, 0);
    in = run_bare(s, in);
    const int n = in.count, paren = n > 0 && token_is(s, &in.at[0], "(");
    int behind = paren ? 2 : 1;
    while (paren && behind < n && run_open(s, run_of(in, 0, behind)) != 0) behind++;
    if (behind + 1 < n && is_variable(s, run_of(in, 0, behind), loop)) {
        const struct run step = run_of(in, behind + 1, n);
        loop->down = token_is(s, &in.at[behind], "-");
        if (loop->down && is_product(s, step)) return step;
        return token_is(s, &in.at[behind], "+") && is_sum(s, step) ? step : none;
    }
    const int open = run_open(s, in), last = open >= 0 ? open : n - 1;
    if (last < 2 || !token_is(s, &in.at[last - 1], "+") ||
        !is_variable(s, run_of(in, last, n), loop))
        return none;
    return is_sum(s, run_of(in, 0, last - 1)) ? run_of(in, 0, last - 1) : none;
}

/* Whether the third part is variable++ or the like. */
static int read_one(const struct source *s, struct run in, struct loop *loop) {
    const int n = in.count;
    for (int i = 0; i < 2 && n > 1; i++) {
        const struct token *sign = i ? &in.at[0] : &in.at[n - 1];
        if (!is_variable(s, i ? run_of(in, 1, n) : run_of(in, 0, n - 1), loop)) continue;
        loop->down = token_is(s, sign, "--");
        loop->one = loop->down || token_is(s, sign, "++");
        if (loop->one) return 1;
    }
    return 0;
}

static int read_step(struct source *s, struct run in, int at, struct loop *loop) {
    static const char *const signs[] = {"+=", "-=", "="};
    in = run_bare(s, in);
    if (read_one(s, in, loop)) return 1;
    const int sign = find_any(s, in, signs, 3);
    struct run step = {0};
    if (sign > 0 && sign + 1 < in.count && is_variable(s, run_of(in, 0, sign), loop)) {
        step = run_of(in, sign + 1, in.count);
        loop->down = token_is(s, &in.at[sign], "-=");
        if (token_is(s, &in.at[sign], "=")) step = read_sum(s, step, loop);
        if (find_any(s, step, (const char *const[]){"=", ","}, 2) >= 0) step.count = 0;
    }
    if (!step.count) {
        error(s, in.count ? in.at[0].begin : at, pick_step);
        return 0;
    }
    loop->step = run_range(step);
    return 1;
}

/* != is < or >, as only steps by one must meet their bound. */
static int read_unequal(struct source *s, struct run in, struct loop *loop) {
    if (loop->relation != R_NOT_EQUAL) return 1;
    const int by_one = loop->step.end - loop->step.begin == 1 && s->text[loop->step.begin] == '1';
    loop->relation = loop->down ? R_MORE : R_LESS;
    if (!loop->one && !by_one)
        error(s, in.at[0].begin,
              "behind != the loop's third part must be variable++ or variable--");
    return loop->one || by_one;
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
    const int colon = run_find(s, in, 0, ":");
    if (colon < 1 || colon + 1 == in.count) return 0;
    loop->ranged = 1;
    loop->variable = in.at[colon - 1];
    loop->type = run_range(run_of(in, 0, colon));
    loop->to = run_range(run_of(in, colon + 1, in.count));
    return 1;
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
                   read_step(s, run_of(in, second + 1, in.count), in.at[second].begin, loop) &&
                   read_unequal(s, run_of(in, second + 1, in.count), loop);
    return ok ? behind : 0;
}

/* Whether a name is in the bounds of a loop. */
static const struct token *in_bounds(const struct source *s, const struct loop *loop, int from,
                                     int to, const struct token *name) {
    for (int i = from; i < to; i++) {
        const struct token *t = &s->tokens.at[i];
        const int member = token_is(s, t - 1, ".") || token_is(s, t - 1, "->") ||
                           (s->cxx && token_is(s, t - 1, ":") && token_is(s, t - 2, ":"));
        if (t->kind == T_NAME && token_same(s, t, name) && t->begin != loop->variable.begin &&
            !member)
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
        nest->dependent = 1;
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
    nest->loops = nest->dependent = 0;
    while (nest->loops < loops)
        if (!read_next(s, &at, end, loops, nest, &braces)) return 0;
    nest->body = s->tokens.at[at - 1].end;
    nest->first = at;
    int last = statement_end(s, at, end, 1);
    if (!s->preprocessed && last >= 0 && last < end && token_is(s, &s->tokens.at[last], "else"))
        last = -1; /* of an if that a macro may hide in the body */
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
