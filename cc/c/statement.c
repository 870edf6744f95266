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

/* Behind the attributes, [[..]] or __attribute__((..)), and _Pragma(..) at `at`. */
static int behind_attributes(const struct reader *r, int at, int end) {
    for (int next = at; next >= 0; at = next) {
        if (at + 1 < end && is(r, at, "[") && is(r, at + 1, "["))
            next = after_bracket(r->s, &r->s->tokens, at, end);
        else if (at + 1 < end && is(r, at + 1, "(") &&
                 (is(r, at, "__attribute__") || is(r, at, "__attribute") || is(r, at, "_Pragma")))
            next = after_bracket(r->s, &r->s->tokens, at + 1, end);
        else
            break;
        if (next < 0) break;
    }
    return at;
}

/* The token behind directives at `at`; -1: it is `word`, or the first one of a branch of #if is,
 * which may belong to what is before them. */
static int behind_directives(const struct reader *r, int at, int end, const char *word) {
    int branches = 0, nested = 0, found = 0, i = at;
    for (; i < end && (nested > 0 || is_directive(r, i)); i++) {
        const int kind = token_branch(r->s, &r->s->tokens.at[i]);
        branches |= kind;
        nested += (kind == 'i') - (kind == 'd');
        if (branches && i + 1 < end && is_directive(r, i)) found |= is(r, i + 1, word);
    }
    return found ? -1 : i;
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
    int next = at + 1;
    const int negated = next + 1 < end && is(r, next, "!");
    const int evaluated = r->s->cxx && next + 1 < end && is(r, next + negated, "consteval");
    if (r->s->cxx && next < end && is(r, next, "constexpr")) next++;
    const int behind =
        evaluated ? statement(r, next + negated + 1, end, around) : governed(r, next, end, around);
    if (behind < 0 || (next = behind_directives(r, behind, end, "else")) < 0) return -1;
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
    return next >= 0 && behind_directives(r, next, end, "catch") < 0 ? -1 : next;
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
    static const char *const words[] = {"return",   "sizeof",     "else",     "case",
                                        "_Alignof", "__typeof__", "decltype", "__decltype",
                                        "typeof",   "requires"};
    if (open <= first) return open == first;
    const struct token *t = &r->s->tokens.at[open - 1];
    for (int i = 0; i < 10; i++)
        if (token_is(r->s, t, words[i])) return 1;
    return t->kind == T_SIGN && !token_is(r->s, t, ")") && !token_is(r->s, t, "]");
}

/* Behind a brace in an expression or declaration, `open`: the last parenthesis before it; *done:
 * the statement ends with it. */
static int brace(struct reader *r, int first, int open, int at, int end, int assigned,
                 enum around around, int *done) {
    const struct tokens *t = &r->s->tokens;
    const int call = t->at[first].kind == T_NAME && is(r, first + 1, "(") &&
                     after_bracket(r->s, t, first + 1, end) == at && !is_type(r, first, first + 1);
    if (call) { /* a macro that hides a loop, most likely */
        *done = 1;
        if (r->depth <= 1 && !r->s->preprocessed) return -1;
        return block(r, at, end, around == INNER_LOOP ? INNER_LOOP : MACRO);
    }
    *done = !assigned && !(r->s->cxx && r->s->preprocessed) && at > first && is(r, at - 1, ")") &&
            !is_type(r, first, open);
    return after_bracket(r->s, t, at, end);
}

/* Whether token `at` is an assignment, behind which a brace ends no statement; in C++ also the [ of
 * a lambda, which no operand stands before. */
static int assigns(const struct reader *r, int first, int at) {
    static const char *const signs[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
    static const char *const words[] = {"return",   "throw",    "case",  "else", "co_return",
                                        "co_yield", "co_await", "and",   "or",   "not",
                                        "xor",      "bitand",   "bitor", "compl"};
    const struct token *before = &r->s->tokens.at[at - (at > first)];
    for (int i = 0; i < 11; i++)
        if (is(r, at, signs[i])) return 1;
    if (!r->s->cxx || !is(r, at, "[")) return 0;
    if (at == first) return 1;
    for (int i = 0; i < 14; i++)
        if (token_is(r->s, before, words[i])) return 1;
    return before->kind == T_SIGN && !token_is(r->s, before, ")") && !token_is(r->s, before, "]") &&
           !token_is(r->s, before, "}");
}

/* Whether the brace at `at` is behind names alone, of which none begins a structure: one is a
 * macro, perhaps of a loop or a branch, behind whose block no semicolon stands. */
static int behind_macro(const struct reader *r, int first, int at) {
    static const char *const tags[] = {"struct", "union", "enum", "class", "namespace", "extern"};
    if (r->s->preprocessed || at == first) return 0;
    for (int i = first; i < at; i++) {
        if (r->s->tokens.at[i].kind != T_NAME) return 0;
        for (int k = 0; k < 6; k++)
            if (is(r, i, tags[k])) return 0;
    }
    return 1;
}

/* An expression or a declaration: up to its semicolon. */
static int plain(struct reader *r, int at, int end, enum around around) {
    const struct tokens *t = &r->s->tokens;
    int assigned = is(r, at, "return"), open = -1;
    for (int i = at; i < end;) {
        int done = 0, next = i + 1;
        if (is(r, i, ";")) return i + 1;
        assigned |= assigns(r, at, i);
        if (is_branch(r, i) && r->depth <= 1) return -1;
        if (is(r, i, "(") && i + 1 < end && is(r, i + 1, "{")) {
            if (block(r, i + 1, end, around) < 0) return -1;
            next = after_bracket(r->s, t, i, end);
        } else if (is(r, i, "(") || is(r, i, "[")) {
            open = i;
            next = after_bracket(r->s, t, i, end);
        } else if (is(r, i, "{")) {
            if (behind_macro(r, at, i)) return -1;
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
    const int behind = behind_attributes(r, at, end);
    if (behind > at) return statement(r, behind, end, around);
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
