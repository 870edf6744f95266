/* Goes through a Fortran file, and decides of each directive whether it is ours and what becomes of
 * it. */
#include "fortran.h"
#include "words.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Position in the nesting of directives. */
struct where {
    const struct directive *teams; /* of ours, around this, or NULL */
    int in_loop;                   /* in the body of a loop of ours */
    int foreign;                   /* in teams that are not ours */
};

static void walk(struct fortran *f, int from, int to, struct where w);

int fortran_worth(const char *text) {
    for (const char *c = text; *c; c++)
        if (!strncasecmp(c, "$evn", 4) || !strncasecmp(c, "$omp", 4) ||
            !strncasecmp(c, "include", 7))
            return 1;
    return 0;
}

/* Whether statement `at` is the directive of these words: "end", "teams". */
static int is_directive(const struct fortran *f, int at, const char *const *words, int n) {
    if (at >= f->count || !f->at[at].directive) return 0;
    struct tokens t;
    lex(&f->flat, f->at[at].begin + 1, f->at[at].end, 0, &t);
    int k = 0;
    while (k < n && k + 2 < t.count && token_is(&f->flat, &t.at[k + 2], words[k])) k++;
    const int is = k == n && t.count == n + 2;
    free(t.at);
    return is;
}

/* Statement `at` or the one before: a directive that ends what one of ours has begun is gone. */
static int over_end(const struct fortran *f, int at, const char *a, const char *b) {
    const char *const words[] = {"end", a, b};
    return is_directive(f, at, words, b ? 3 : 2) ? at + 1 : at;
}

static int collapse_of(const struct fortran *f, const struct directive *d) {
    const struct clause *c = directive_find(d, K_COLLAPSE);
    if (!c || c->in.count != 1) return 1;
    const int n = f->flat.text[c->in.at[0].begin] - '0';
    return n >= 1 && n <= 8 ? n : 1;
}

/* A loop of ours, its directives at [from, at); the statement behind it and its end. `split`: teams
 * and distribute are two. */
static int a_loop(struct fortran *f, struct directive *d, int from, int at, int split,
                  struct where w) {
    struct do_nest nest;
    const int errors = f->flat.errors;
    directive_check(&f->flat, d);
    if (!fortran_nest(f, at, collapse_of(f, d), &nest)) return at;
    fortran_check_lists(f, d, &nest, from, nest.last);
    const char *work = d->by_loop ? "loop" : "distribute";
    int behind = nest.last + 1;
    if (d->construct == C_TEAMS_LOOP && !split) behind = over_end(f, behind, "teams", work);
    if (d->construct == C_DISTRIBUTE || split) behind = over_end(f, behind, work, NULL);
    if (split) {
        const int end = over_end(f, behind, "teams", NULL);
        if (end == behind)
            error(&f->flat, d->begin, "teams: end teams must stand behind the loop of line %d",
                  source_place(&f->raw, fortran_raw(f, f->at[at].begin)).line);
        behind = end;
    }
    if (d->construct == C_TEAMS_LOOP) w.teams = d;
    if (f->flat.errors == errors && w.teams) fortran_look_for_forgotten(f, d, w.teams, &nest);
    if (f->flat.errors == errors) fortran_emit_loop(f, d, &nest, from, behind - 1);
    w.in_loop = 1;
    walk(f, nest.loop[nest.loops - 1].statement + 1, nest.last + 1, w);
    return behind;
}

/* The end teams of a block, or -1. */
static int find_end_teams(const struct fortran *f, int at) {
    static const char *const words[] = {"end", "teams"};
    for (; at < f->count; at++)
        if (is_directive(f, at, words, 2)) return at;
    return -1;
}

static int teams_block(struct fortran *f, struct directive *d, int at, struct where w) {
    const int errors = f->flat.errors;
    directive_check(&f->flat, d);
    const int last = find_end_teams(f, at + 1);
    if (last < 0) {
        error(&f->flat, d->begin, "teams: there is no end teams");
        return at + 1;
    }
    fortran_check_lists(f, d, NULL, at, last);
    if (f->flat.errors == errors) fortran_emit_teams(f, d, at, last);
    w.teams = d;
    walk(f, at + 1, last, w);
    return last + 1;
}

/* teams with a list of units; the statement behind all of it. */
static int our_teams(struct fortran *f, struct directive *d, int at, struct where w) {
    struct directive second;
    if (w.teams) {
        error(&f->flat, d->begin, "teams within the teams of line %d",
              source_place(&f->raw, fortran_raw(f, w.teams->begin)).line);
        return at + 1;
    }
    if (d->construct == C_TEAMS && at + 1 < f->count && f->at[at + 1].directive &&
        directive_read(&f->flat, at + 1, &second)) {
        struct do_nest nest;
        const int errors = f->flat.errors, complaints = f->flat.complaints;
        if (second.construct == C_DISTRIBUTE && fortran_nest(f, at + 2, 1, &nest)) {
            const char *work = second.by_loop ? "loop" : "distribute";
            const int behind = over_end(f, nest.last + 1, work, NULL);
            if (over_end(f, behind, "teams", NULL) > behind) {
                while (f->flat.complaints > complaints)
                    free(f->flat.complaint[--f->flat.complaints].words);
                f->flat.errors = errors;
                directive_join(d, &second);
                return a_loop(f, d, at, at + 2, 1, w);
            }
        }
        while (f->flat.complaints > complaints) free(f->flat.complaint[--f->flat.complaints].words);
        f->flat.errors = errors;
        directive_close(&second);
    }
    return d->construct == C_TEAMS ? teams_block(f, d, at, w) : a_loop(f, d, at, at + 1, 0, w);
}

static int is_our_distribute(const struct directive *d, const struct where *w) {
    if (d->construct != C_DISTRIBUTE || w->in_loop || w->foreign || d->odd) return 0;
    return w->teams != NULL || !d->by_loop;
}

static int has_word(const struct fortran *f, const struct directive *d, const char *word) {
    for (int i = 2; i < d->tokens.count; i++)
        if (token_is(&f->flat, &d->tokens.at[i], word)) return 1;
    return 0;
}

/* Blocks of teams that are not ours begin and end. */
static void look_at_foreign(const struct fortran *f, const struct directive *d, struct where *w) {
    if (!has_word(f, d, "teams") || has_word(f, d, "distribute") || has_word(f, d, "loop")) return;
    w->foreign = !token_is(&f->flat, &d->tokens.at[2], "end");
}

/* Checks a directive under the sentinel $evn, which no other compiler reads: it must be ours. */
static void look_at_evn(struct fortran *f, const struct directive *d, int at) {
    const struct token *word = &d->tokens.at[2];
    const int teams = d->construct == C_TEAMS || d->construct == C_TEAMS_LOOP;
    if (teams && (f->at[at].directive == 2 || directive_extended(&f->flat, d)))
        error(&f->flat, word->begin,
              "$evn: expected num_teams with a list of units, as in num_teams(4:CPU:4)");
    if (d->construct != C_OTHER || f->at[at].directive != 2 || token_is(&f->flat, word, "end"))
        return;
    error(&f->flat, word->begin,
          "$evn: expected teams or distribute, or clauses behind the line of such a directive");
}

/* A directive; the statement behind what it takes with it. */
static int directive(struct fortran *f, struct directive *d, int at, struct where *w) {
    const int teams = d->construct == C_TEAMS || d->construct == C_TEAMS_LOOP;
    if (teams && d->list) return our_teams(f, d, at, *w);
    if (is_our_distribute(d, w)) return a_loop(f, d, at, at + 1, 0, *w);
    look_at_evn(f, d, at);
    look_for_list(&f->flat, d);
    look_at_foreign(f, d, w);
    return at + 1;
}

static void walk(struct fortran *f, int from, int to, struct where w) {
    for (int i = from; i < to;) {
        struct directive d;
        if (f->at[i].directive && directive_read(&f->flat, i, &d)) {
            const int behind = directive(f, &d, i, &w);
            directive_close(&d);
            i = behind > i ? behind : i + 1;
        } else {
            i++;
        }
    }
}

/* Whether a file has directives that look like ours. */
static int has_directives(const char *name) {
    char *text = read_source(name);
    int found = 0;
    for (const char *c = text; c && (c = strchr(c, '$')) && !found; c++)
        found = !strncasecmp(c, "$evn", 4) ||
                (!strncasecmp(c, "$omp", 4) && strcasestr(text, "num_teams"));
    free(text);
    return found;
}

/* Directives of a file behind include, from the folder of this one, are not read. */
static void look_at_include(struct fortran *f, int at) {
    struct tokens t = fortran_tokens(f, at);
    if (t.count == 2 && fortran_is(f, &t, 0, "include") && t.at[1].kind == T_TEXT) {
        const char *slash = strrchr(f->raw.name, '/');
        struct text path = {0};
        if (slash) put_bytes(&path, f->raw.name, (size_t)(slash + 1 - f->raw.name));
        put_bytes(&path, f->flat.text + t.at[1].begin + 1, (size_t)token_length(&t.at[1]) - 2);
        if (has_directives(path.at))
            complain(&f->flat, t.at[1].begin, "warning",
                     "directives behind include are not read; expected them in the file itself, or "
                     "#include and the preprocessor");
        free(path.at);
    }
    free(t.at);
}

/* Moves messages about the flat text to the places in the user's. */
static void move_complaints(struct fortran *f) {
    for (int i = 0; i < f->flat.complaints; i++) {
        const struct complaint *c = &f->flat.complaint[i];
        complain(&f->raw, fortran_raw(f, c->at), c->kind, "%s", c->words);
    }
}

/* source_inner() of every statement. */
static int has_inner(const struct fortran *f) {
    int inner = 0;
    for (int i = 0; i < f->count && !inner; i++) {
        const struct token line = {T_DIRECTIVE, f->at[i].begin, f->at[i].end};
        struct source s = f->flat;
        if (f->at[i].directive) {
            s.tokens = (struct tokens){(struct token *)&line, 1, 1};
            inner = source_inner(&s);
            continue;
        }
        lex(&f->flat, line.begin, line.end, 0, &s.tokens);
        inner = source_inner(&s);
        free(s.tokens.at);
    }
    return inner;
}

int fortran_rewrite(const char *name, const char *text, const struct fortran_form *form,
                    struct text *out) {
    struct fortran f;
    fortran_open(&f, name, text, form);
    f.flat.inner = has_inner(&f);
    walk(&f, 0, f.count, (struct where){0});
    for (int i = 0; i < f.count; i++)
        if (!f.at[i].directive) look_at_include(&f, i);
    move_complaints(&f);
    const int result = source_report(&f.raw) ? -1 : f.raw.edits > 0;
    if (result > 0) source_write(&f.raw, out);
    fortran_close(&f);
    return result;
}
