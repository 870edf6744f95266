/* Whether the body of a loop writes the loop's variable: its iterations are counted before they
 * run, so such a loop would do others than the same loop of C. */
#include "loop.h"
#include <stdlib.h>

static int is(const struct source *s, int at, const char *letters) {
    return at >= 0 && at < s->tokens.count && token_is(s, &s->tokens.at[at], letters);
}

/* A word of C that may stand before the use of a variable. */
static int is_before_use(const struct source *s, int at) {
    static const char *const words[] = {"return", "else", "sizeof", "case", "do"};
    for (int i = 0; i < 5; i++)
        if (is(s, at, words[i])) return 1;
    return 0;
}

/* Whether a directive of OpenMP names the variable. */
static int in_directive(const struct source *s, const struct token *line,
                        const struct token *name) {
    struct tokens t;
    int found = 0;
    lex(s, line->begin + 1, line->end, 0, &t);
    for (int i = 0; i < t.count; i++) found |= token_same(s, &t.at[i], name);
    free(t.at);
    return found;
}

/* Whether a declaration of C++ may stand here: Type &i = .., Type<..> i, auto [i, k], [i = 0]. */
static int is_cxx_declared(const struct source *s, int at) {
    static const char *const before[] = {"&", "&&", "*", ">", ">>", "...", "["}, *const behind[] = {
                                                                                     ";", ",", "=",
                                                                                     "[", "(", "{",
                                                                                     ":", ")", "]"};
    int found = 0, ends = 0;
    for (int i = 0; i < 7; i++) found |= is(s, at - 1, before[i]);
    for (int i = 0; i < 9; i++) ends |= is(s, at + 1, behind[i]);
    if (is(s, at - 1, "["))
        return is(s, at + 1, "=") || is(s, at - 2, "auto") || is(s, at - 3, "auto");
    return (found || is(s, at - 1, ",")) && ends;
}

/* Whether token `at`, the variable's name, may be another variable of that name: a declaration, or
 * the loop of an inner directive. In doubt it is. */
static int is_another(const struct source *s, int at) {
    if (s->tokens.at[at - 1].kind == T_NAME) return !is_before_use(s, at - 1);
    if (s->cxx && is_cxx_declared(s, at)) return 1;
    if (is(s, at - 1, "(") && is(s, at - 2, "for")) return s->tokens.at[at - 3].kind == T_DIRECTIVE;
    return (is(s, at - 1, "*") || is(s, at - 1, ",")) &&
           (is(s, at + 1, ";") || is(s, at + 1, ",") || is(s, at + 1, "=") || is(s, at + 1, "["));
}

static int is_written(const struct source *s, int at) {
    static const char *const signs[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "<<=", ">>="};
    if (is(s, at - 1, ".") || is(s, at - 1, "->")) return 0;
    const int followed = is(s, at - 1, "*"); /* what it points to is written */
    for (int i = 0; i < 13; i++)
        if (is(s, at + 1, signs[i])) return !followed || (signs[i][1] == *signs[i] && !signs[i][2]);
    return is(s, at - 1, "++") || is(s, at - 1, "--");
}

void look_for_writes(struct source *s, const struct nest *nest, const struct token *variable) {
    int written = -1;
    for (int i = nest->first; i < nest->last; i++) {
        const struct token *t = &s->tokens.at[i];
        if (t->kind == T_DIRECTIVE && in_directive(s, t, variable)) return;
        if (t->kind != T_NAME || !token_same(s, t, variable)) continue;
        if (is_another(s, i)) return;
        if (written < 0 && is_written(s, i)) written = i;
    }
    if (written >= 0)
        error(
            s, s->tokens.at[written].begin,
            "\"%.*s\" is the variable of the loop over compute units, and cannot be changed in its "
            "body; its iterations are counted before they run",
            token_length(variable), token_letters(s, variable));
}
