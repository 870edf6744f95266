/* Goes through a file, and decides of each directive whether it is ours and what becomes of it. */
#include "rewrite.h"
#include "emit.h"
#include "kernels/kernels.h"
#include <stdlib.h>
#include <string.h>

/* Position in the nesting of directives. */
struct where {
    const struct directive *teams; /* the teams around this, or NULL */
    int in_loop;                   /* in the body of a loop of ours */
    int in_device;                 /* between declare target and its end */
    int depth;
};

static void walk(struct source *s, int from, int to, struct where w);

int rewrite_worth(const char *text) {
    return strstr(text, "omp") &&
           (strstr(text, "pragma") || strstr(text, "Pragma") || strstr(text, "directive"));
}

int rewrite_speaks(const char *word, int length) {
    static const char *const words[] = {
        "auto",     "catch",   "const",    "continue", "decltype",      "double",  "extern",
        "for",      "goto",    "if",       "int",      "long",          "return",  "sizeof",
        "static",   "try",     "void",     "omp",      "static_assert", "typedef", "typename",
        "unsigned", "private", "parallel", "signed",   "firstprivate"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((size_t)length == strlen(words[i]) && !memcmp(word, words[i], (size_t)length)) return 1;
    return 0;
}

/* A macro of a word that generated text has is none after preprocessing. */
static void look_for_words(struct source *s) {
    for (int i = 0; i < s->tokens.count; i++) {
        const struct token *line = &s->tokens.at[i];
        struct tokens t = {0};
        if (line->kind != T_DIRECTIVE) continue;
        lex(s, line->begin + 1, line->end, 0, &t);
        if (t.count > 1 && token_is(s, &t.at[0], "define") &&
            rewrite_speaks(token_letters(s, &t.at[1]), token_length(&t.at[1])))
            unseen(s, t.at[1].begin, "this macro is a word of the language");
        free(t.at);
    }
}

static int collapse_of(const struct source *s, const struct directive *d) {
    const struct clause *c = directive_find(d, K_COLLAPSE);
    if (!c || c->in.count != 1) return 1;
    const int n = s->text[c->in.at[0].begin] - '0';
    return n >= 1 && n <= 8 ? n : 1;
}

static int nested(struct source *s, const struct directive *d, const struct where *w) {
    if (!w->teams) return 0;
    error(s, d->begin, "teams within the teams of line %d", source_place(s, w->teams->begin).line);
    return 1;
}

/* A loop of ours; the token behind it. */
static int a_loop(struct source *s, struct directive *d, int at, int to, struct where w) {
    struct nest nest;
    const int errors = s->errors;
    directive_check(s, d);
    const int behind = nest_read(s, at, to, collapse_of(s, d), &nest);
    if (!behind) return at;
    for (int k = 0; k < nest.loops; k++)
        if (!nest.loop[k].ranged) look_for_writes(s, &nest, &nest.loop[k].variable);
    if (s->errors == errors && !s->unseen) {
        look_for_forgotten(s, d, w.teams, &nest);
        emit_loop(s, d, &nest);
    }
    if (d->construct == C_TEAMS_LOOP) w.teams = d;
    w.in_loop = 1;
    walk(s, nest.first, nest.last, w);
    return behind;
}

static int teams_block(struct source *s, struct directive *d, int at, int to, struct where w) {
    const int errors = s->errors;
    directive_check(s, d);
    const int behind = statement_end(s, at, to, 0);
    if (behind < 0) {
        unseen(s, s->tokens.at[at].begin, "the end of this block cannot be found");
        return at;
    }
    const int fine = s->errors == errors && !s->unseen;
    const int number = fine ? ++s->sites : 0;
    if (fine) emit_teams_begin(s, d, at, number);
    w.teams = d;
    walk(s, at, behind, w);
    if (fine) emit_teams_end(s, d, behind, number);
    return behind;
}

/* "# 14 "zones.c"", as preprocessing leaves it anywhere. */
static int is_mark(const struct source *s, const struct token *t) {
    const char *c = token_letters(s, t) + 1;
    c += strspn(c, " \t");
    return t->kind == T_DIRECTIVE && (strspn(c, "0123456789") || !strncmp(c, "line", 4));
}

/* teams with a list of units; the token behind all of it. */
static int our_teams(struct source *s, struct directive *d, int at, int to, struct where w) {
    int next = at + 1;
    struct directive second;
    if (nested(s, d, &w)) return next;
    while (next < to && is_mark(s, &s->tokens.at[next])) next++;
    if (d->construct == C_TEAMS && next < to && s->tokens.at[next].kind == T_DIRECTIVE &&
        directive_read(s, next, &second)) {
        if (second.construct == C_DISTRIBUTE) {
            directive_join(d, &second);
            next++;
        } else {
            directive_close(&second);
        }
    }
    return d->construct == C_TEAMS ? teams_block(s, d, next, to, w) : a_loop(s, d, next, to, w);
}

static int is_word(const struct source *s, const struct directive *d, int i, const char *word) {
    return i < d->tokens.count && token_is(s, &d->tokens.at[i], word);
}

/* Whether `word` is one of the directive's words. */
static int has_word(const struct source *s, const struct directive *d, const char *word) {
    for (int i = 2; i < d->tokens.count; i++)
        if (token_is(s, &d->tokens.at[i], word)) return 1;
    return 0;
}

/* "parallel num_threads(4) for", as the paper has it: for goes where it belongs. */
static void put_in_order(struct source *s, const struct directive *d) {
    const struct tokens *t = &d->tokens;
    if (!is_word(s, d, 2, "parallel")) return;
    int depth = 0;
    for (int i = 4; i < t->count; i++) {
        depth += token_is(s, &t->at[i], "(") - token_is(s, &t->at[i], ")");
        if (depth || !token_is(s, &t->at[i], "for")) continue;
        complain(s, t->at[i].begin, "note",
                 "read as parallel for, which has its clauses behind it");
        replace(s, t->at[2].end, t->at[2].end, copy_of(" for", 4));
        replace(s, t->at[i].begin, t->at[i].end, copy_of("   ", 3));
        return;
    }
}

/* Directives in whose statement a distribute is not ours. */
static int is_foreign(const struct source *s, const struct directive *d, const struct where *w) {
    if (d->construct == C_TEAMS || d->construct == C_TEAMS_LOOP) return 1;
    if (is_word(s, d, 2, "target"))
        return !is_word(s, d, 3, "data") && !is_word(s, d, 3, "enter") &&
               !is_word(s, d, 3, "exit") && !is_word(s, d, 3, "update");
    return w->teams && (is_word(s, d, 2, "parallel") || has_word(s, d, "for"));
}

/* A word that is nearly one of ours. */
static void mistyped(struct source *s, const struct token *t, const char *before) {
    static const char *const ours[] = {"distribute", "teams"};
    char word[32];
    if (t->kind != T_NAME || token_length(t) > 30) return;
    memcpy(word, token_letters(s, t), (size_t)token_length(t));
    word[token_length(t)] = 0;
    for (int i = 0; i < 2; i++) {
        const int distance = word_distance(word, ours[i]);
        if (distance <= (*before ? 0 : 2) && (distance || *before))
            complain(s, t->begin, "warning", "did you mean omp %s?", ours[i]);
    }
}

/* Directives in a metadirective are the compiler's. */
static void look_inside(struct source *s, const struct directive *d) {
    if (is_word(s, d, 2, "metadirective") &&
        (has_word(s, d, "teams") || has_word(s, d, "distribute")))
        complain(s, d->tokens.at[2].begin, "warning",
                 "metadirective is left to the compiler, and GCC before 15 ignores it: its teams "
                 "run on no units; write the directive that you mean");
}

/* #pragma distribute, without omp. */
static void without_omp(struct source *s, int at) {
    struct tokens t;
    lex(s, s->tokens.at[at].begin + 1, s->tokens.at[at].end, 0, &t);
    if (t.count > 1 && token_is(s, &t.at[0], "pragma")) mistyped(s, &t.at[1], "pragma");
    free(t.at);
}

/* A name in capitals, as macros have it. */
static int looks_like_macro(const struct source *s, const struct token *t) {
    const char *c = token_letters(s, t);
    for (int i = 0; i < token_length(t); i++)
        if (c[i] >= 'a' && c[i] <= 'z') return 0;
    return 1;
}

/* num_teams(UNITS), where UNITS is a macro with a list of units in it: of this file, or, where the
 * name looks like one's, of a header or of the command line, which is seen after preprocessing. */
static void look_for_macro(struct source *s, const struct directive *d) {
    const struct clause *c = directive_find(d, K_NUM_TEAMS);
    if (!c || c->in.count < 1 || c->in.at[0].kind != T_NAME || s->preprocessed) return;
    int list = c->in.count == 1 && looks_like_macro(s, &c->in.at[0]), defined = 0;
    for (int i = 0; i < s->tokens.count; i++) {
        if (s->tokens.at[i].kind != T_DIRECTIVE) continue;
        struct tokens t;
        lex(s, s->tokens.at[i].begin + 1, s->tokens.at[i].end, 0, &t);
        if (t.count > 2 && token_is(s, &t.at[0], "define") &&
            token_same(s, &t.at[1], &c->in.at[0])) {
            if (!defined++) list = 0;
            for (int k = 2; k < t.count; k++) list |= family_of(s, &t.at[k]) >= 0;
        }
        free(t.at);
    }
    if (list) unseen(s, c->in.at[0].begin, "num_teams: this macro is a list of units");
}

static void target_region(struct source *s, const struct directive *d, struct where *w) {
    if (is_word(s, d, 2, "declare") && is_word(s, d, 3, "target") && d->tokens.count == 4)
        w->in_device = 1;
    if (is_word(s, d, 2, "begin") && is_word(s, d, 3, "declare")) w->in_device = 1;
    if (is_word(s, d, 2, "end") && is_word(s, d, 3, "declare")) w->in_device = 0;
}

static int is_our_distribute(const struct source *s, const struct directive *d,
                             const struct where *w) {
    if (d->construct != C_DISTRIBUTE || w->in_loop || w->in_device) return 0;
    if (w->teams) return 1;
    if (d->odd) return 0;
    const struct clause *bind = directive_find(d, K_BIND);
    return !d->by_loop || (bind && bind->in.count == 1 && token_is(s, &bind->in.at[0], "teams"));
}

/* The block of target data. */
static int data_block(struct source *s, int at, int to, int number, struct where w) {
    const int behind = statement_end(s, at, to, 0);
    walk(s, at, behind, w);
    kernels_data_end(s, number, behind);
    return behind;
}

/* A directive of OpenMP; the token behind what it takes with it. */
static int directive(struct source *s, struct directive *d, int at, int to, struct where *w) {
    const int data = s->dialect ? kernels_data(s, d, at + 1, to) : 0;
    if (data > 0) return data_block(s, at + 1, to, data, *w);
    if (data) return at + 1;
    if (s->dialect && kernels_ours(s, d)) {
        const int behind = kernels_loop(s, d, at + 1, to);
        if (behind) return behind;
    }
    if ((d->construct == C_TEAMS || d->construct == C_TEAMS_LOOP) && d->list)
        return our_teams(s, d, at, to, *w);
    if (is_our_distribute(s, d, w)) return a_loop(s, d, at + 1, to, *w);
    if (d->construct == C_VARIANT) {
        emit_variant(s, d, at + 1);
        return at + 1;
    }
    if (d->construct == C_TEAMS || d->construct == C_TEAMS_LOOP) look_for_macro(s, d);
    target_region(s, d, w);
    put_in_order(s, d);
    if (d->construct == C_OTHER) mistyped(s, &d->tokens.at[2], "");
    look_inside(s, d);
    look_for_list(s, d);
    if (is_foreign(s, d, w)) {
        const int behind = statement_end(s, at + 1, to, 0);
        struct where inside = *w;
        inside.in_device = 1;
        if (behind < 0) return at + 1;
        walk(s, at + 1, behind, inside);
        return behind;
    }
    return at + 1;
}

static void walk(struct source *s, int from, int to, struct where w) {
    if (++w.depth > 100) return;
    for (int i = from; i < to;) {
        struct directive d;
        if (s->tokens.at[i].kind != T_DIRECTIVE) {
            i++;
        } else if (directive_read(s, i, &d)) {
            const int behind = directive(s, &d, i, to, &w);
            directive_close(&d);
            i = behind > i ? behind : i + 1;
        } else {
            without_omp(s, i);
            i++;
        }
    }
}

/* A directive of ours in a macro or in _Pragma is one only after preprocessing. */
static void look_for_pragma(struct source *s) {
    for (const char *c = s->text; !s->unseen && (c = strstr(c, "_Pragma")); c++) {
        const char *end = c + strcspn(c, "\n");
        for (const char *k = c; k < end; k++)
            if (!strncmp(k, "omp ", 4) &&
                (!strncmp(k + 4, "teams", 5) || !strncmp(k + 4, "distribute", 10) ||
                 !strncmp(k + 4, "declare", 7)))
                unseen(s, (int)(c - s->text), "this _Pragma cannot be read");
    }
}

/* Whether text [from, to) has a list of units: a colon before a family. */
static int has_list(const struct source *s, int from, int to) {
    struct tokens t;
    int found = 0;
    lex(s, from, to, 0, &t);
    for (int i = 1; i < t.count; i++)
        found |= family_of(s, &t.at[i]) >= 0 && token_is(s, &t.at[i - 1], ":");
    free(t.at);
    return found;
}

/* [[omp::directive(teams .. num_teams(2:CPU:1))]] is not read. */
static void look_for_attributes(struct source *s) {
    const struct token *t = s->tokens.at;
    for (int i = 1; i + 1 < s->tokens.count; i++) {
        if (!token_is(s, &t[i], "directive") || !token_is(s, &t[i - 1], ":")) continue;
        const int behind = after_bracket(s, &s->tokens, i + 1, s->tokens.count);
        if (behind > 0 && has_list(s, t[i + 1].begin, t[behind - 1].end))
            error(s, t[i].begin,
                  "directives of compute units are not read from attributes; write #pragma omp, or "
                  "_Pragma(\"omp ..\")");
    }
}

/* Whether a directive is ours, or a macro's text has a list of units or such a directive. */
static int is_ours(struct source *s, int at) {
    struct directive d;
    if (directive_read(s, at, &d)) {
        const int teams = (d.construct == C_TEAMS || d.construct == C_TEAMS_LOOP) && d.list;
        const int ours = teams || d.construct == C_DISTRIBUTE || d.construct == C_VARIANT;
        directive_close(&d);
        return ours;
    }
    const struct token *line = &s->tokens.at[at];
    const char *c = token_letters(s, line) + 1;
    return !strncmp(c + strspn(c, " \t"), "define", 6) && has_list(s, line->begin + 1, line->end);
}

int rewrite_ours(const char *text) {
    struct source s;
    int found = 0;
    if (!strstr(text, "PU") && !strstr(text, "FPGA") && !rewrite_worth(text)) return 0;
    source_open(&s, "", text, 0, 1);
    look_for_pragma(&s);
    found = s.unseen != NULL;
    for (int i = 0; i < s.tokens.count && !found; i++)
        found = s.tokens.at[i].kind == T_DIRECTIVE && is_ours(&s, i);
    source_close(&s);
    return found;
}

int rewrite_elsewhere(struct source *s, const char *name) {
    for (int i = 0; i < s->tokens.count; i++) {
        const struct token *t = &s->tokens.at[i];
        if (t->kind == T_DIRECTIVE && is_ours(s, i) && strcmp(source_place(s, t->begin).file, name))
            return t->begin;
    }
    return -1;
}

int rewrite(struct source *s) {
    s->inner = source_inner(s);
    if (!s->preprocessed) look_for_pragma(s);
    if (!s->unseen) walk(s, 0, s->tokens.count, (struct where){0});
    look_for_attributes(s);
    math_warn(s);
    if (s->edits && !s->preprocessed) look_for_words(s);
    return s->edits;
}
