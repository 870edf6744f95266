/* Ends of statements, and whether a break in one would leave the loop that it is the body of.
 * Macros that hide braces or loops are met only before preprocessing; then it cannot be told. */
#include "loop.h"
#include <string.h>

/* The construct that a break would leave. */
enum around { OUR_LOOP, INNER_LOOP, MACRO };

struct reader {
    struct source *s;
    int ours, depth;
};

static int statement(struct reader *r, int at, int end, enum around around);

static int is(const struct reader *r, int at, const char *letters) {
    return token_is(r->s, &r->s->tokens.at[at], letters);
}

static int is_directive(const struct reader *r, int at) {
    return r->s->tokens.at[at].kind == T_DIRECTIVE;
}

/* A #if, #else or #endif. */
static int is_branch(const struct reader *r, int at) {
    const struct token *t = &r->s->tokens.at[at];
    const char *c = token_letters(r->s, t) + 1;
    c += strspn(c, " \t");
    return t->kind == T_DIRECTIVE && (!strncmp(c, "if", 2) || !strncmp(c, "e", 1));
}

static void found_break(struct reader *r, int at, enum around around) {
    if (!r->ours || around == INNER_LOOP) return;
    const int place = r->s->tokens.at[at].begin;
    if (around == MACRO && !r->s->preprocessed) {
        unseen(r->s, place, "it cannot be told what this break leaves");
    } else {
        error(r->s, place,
              "break leaves the loop over compute units; its iterations run on several units at a "
              "time, so none can end the others");
    }
}

/* Behind the block that begins at `at`. What cannot be read in it does not matter, unless there is
 * a break in it. */
static int block(struct reader *r, int at, int end, enum around around) {
    const int behind = after_bracket(r->s, &r->s->tokens, at, end);
    if (behind < 0) return -1;
    for (int i = at + 1; i < behind - 1;) {
        if (is_directive(r, i)) {
            i++;
            continue;
        }
        const int next = statement(r, i, behind - 1, around);
        if (next > i) {
            i = next;
            continue;
        }
        for (; i < behind - 1; i++)
            if (is(r, i, "break") && around != INNER_LOOP) found_break(r, i, MACRO);
    }
    return behind;
}

/* Behind the statement of a loop or branch whose parenthesis opens at `at`. */
static int governed(struct reader *r, int at, int end, enum around around) {
    if (at >= end || !is(r, at, "(")) return -1;
    const int behind = after_bracket(r->s, &r->s->tokens, at, end);
    return behind < 0 ? -1 : statement(r, behind, end, around);
}

static int if_statement(struct reader *r, int at, int end, enum around around) {
    const int constant = at + 1 < end && r->s->cxx && is(r, at + 1, "constexpr");
    const int behind = governed(r, at + 1 + constant, end, around);
    if (behind < 0) return -1;
    int next = behind;
    while (next < end && is_directive(r, next) && !is_branch(r, next)) next++;
    return next < end && is(r, next, "else") ? statement(r, next + 1, end, around) : behind;
}

/* try of C++ and its handlers. */
static int try_statement(struct reader *r, int at, int end, enum around around) {
    if (at + 1 >= end || !is(r, at + 1, "{")) return -1;
    int next = block(r, at + 1, end, around);
    while (next >= 0 && next < end && is(r, next, "catch")) {
        if (next + 1 >= end || !is(r, next + 1, "(")) return -1;
        next = after_bracket(r->s, &r->s->tokens, next + 1, end);
        if (next < 0 || next >= end || !is(r, next, "{")) return -1;
        next = block(r, next, end, around);
    }
    return next;
}

static int do_statement(struct reader *r, int at, int end) {
    int next = statement(r, at + 1, end, INNER_LOOP);
    if (next < 0 || next >= end || !is(r, next, "while") || !is(r, next + 1, "(")) return -1;
    next = after_bracket(r->s, &r->s->tokens, next + 1, end);
    return next >= 0 && next < end && is(r, next, ";") ? next + 1 : -1;
}

/* Behind a label's colon, or `at`: it is none. */
static int label(const struct reader *r, int at, int end) {
    const struct tokens *t = &r->s->tokens;
    if (t->at[at].kind != T_NAME || at + 1 >= end) return at;
    if (is(r, at, "case")) {
        int questions = 0;
        for (int i = at + 1; i < end && !is(r, i, ";"); i++) {
            if (is(r, i, "?")) questions++;
            if (r->s->cxx && is(r, i, ":") && is(r, i + 1, ":")) {
                i++; /* kind:: */
                continue;
            }
            if (is(r, i, ":") && !questions--) return i + 1;
        }
        return at;
    }
    if (r->s->cxx && at + 2 < end && is(r, at + 2, ":")) return at; /* std:: */
    return is(r, at + 1, ":") ? at + 2 : at;
}

/* Whether the parenthesis `open`, behind which a brace stands, is a type's, of a compound literal,
 * and not a list of parameters. */
static int is_type(const struct reader *r, int first, int open) {
    static const char *const words[] = {"return", "sizeof", "else", "case", "_Alignof"};
    if (open <= first) return open == first;
    const struct token *t = &r->s->tokens.at[open - 1];
    for (int i = 0; i < 5; i++)
        if (token_is(r->s, t, words[i])) return 1;
    return t->kind == T_SIGN && !token_is(r->s, t, ")") && !token_is(r->s, t, "]");
}

/* Behind a brace in an expression or declaration, `open`: the last parenthesis before it; *done:
 * the statement ends with it. */
static int brace(struct reader *r, int first, int open, int at, int end, int assigned,
                 enum around around, int *done) {
    const struct tokens *t = &r->s->tokens;
    const int call = t->at[first].kind == T_NAME && is(r, first + 1, "(") &&
                     after_bracket(r->s, t, first + 1, end) == at;
    if (call) { /* a macro that hides a loop, most likely */
        *done = 1;
        if (r->depth <= 1 && !r->s->preprocessed) return -1;
        return block(r, at, end, around == INNER_LOOP ? INNER_LOOP : MACRO);
    }
    *done = !assigned && at > first && is(r, at - 1, ")") && !is_type(r, first, open);
    return after_bracket(r->s, t, at, end);
}

/* An expression or a declaration: up to its semicolon. */
static int plain(struct reader *r, int at, int end, enum around around) {
    const struct tokens *t = &r->s->tokens;
    int assigned = is(r, at, "return"), open = -1;
    for (int i = at; i < end;) {
        int done = 0, next = i + 1;
        if (is(r, i, ";")) return i + 1;
        if (is(r, i, "=")) assigned = 1;
        if (is_branch(r, i) && r->depth <= 1) return -1;
        if (is(r, i, "(") && i + 1 < end && is(r, i + 1, "{")) {
            if (block(r, i + 1, end, around) < 0) return -1;
            next = after_bracket(r->s, t, i, end);
        } else if (is(r, i, "(") || is(r, i, "[")) {
            open = i;
            next = after_bracket(r->s, t, i, end);
        } else if (is(r, i, "{")) {
            next = brace(r, at, open, i, end, assigned, around, &done);
        } else if (is(r, i, "}") || is(r, i, ")") || is(r, i, "]")) {
            return -1;
        }
        if (next < 0 || done) return next;
        i = next;
    }
    return -1;
}

static int statement_of_kind(struct reader *r, int at, int end, enum around around) {
    while (at < end && is_directive(r, at)) {
        if (is_branch(r, at)) return -1;
        at++;
    }
    if (at >= end) return -1;
    const int behind_label = label(r, at, end);
    if (behind_label > at) {
        if (behind_label < end || r->depth <= 1) return statement(r, behind_label, end, around);
        return behind_label;
    }
    if (is(r, at, "{")) return block(r, at, end, around);
    if (is(r, at, "if")) return if_statement(r, at, end, around);
    if (r->s->cxx && is(r, at, "try")) return try_statement(r, at, end, around);
    if (is(r, at, "do")) return do_statement(r, at, end);
    if (is(r, at, "for") || is(r, at, "while") || is(r, at, "switch"))
        return governed(r, at + 1, end, INNER_LOOP);
    if (is(r, at, "break")) found_break(r, at, around);
    return plain(r, at, end, around);
}

static int statement(struct reader *r, int at, int end, enum around around) {
    if (at >= end || r->depth > 500) return -1;
    r->depth++;
    const int behind = statement_of_kind(r, at, end, around);
    r->depth--;
    return behind;
}

int statement_end(struct source *s, int at, int end, int ours) {
    struct reader r = {s, ours, 0};
    return statement(&r, at, end, OUR_LOOP);
}
