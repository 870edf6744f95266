/* Tokens of C: enough to find names, brackets and the ends of statements. Comments and continued
 * lines are space between them. */
#include "fortran/fortran.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BRACKETS = 1000 }; /* within each other */

/* Length of a continued line's end at c, backslash and newline, or 0. */
static int splice(const char *c) {
    if (*c != '\\') return 0;
    if (c[1] == '\n') return 2;
    return c[1] == '\r' && c[2] == '\n' ? 3 : 0;
}

static int letter(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

/* Behind a comment that begins at p, or p. */
static int comment(const char *text, int p, int end) {
    if (p + 1 >= end || text[p] != '/') return p;
    if (text[p + 1] == '*') {
        const char *close = strstr(text + p + 2, "*/");
        return close && close + 2 <= text + end ? (int)(close + 2 - text) : end;
    }
    if (text[p + 1] != '/') return p;
    while (p < end && text[p] != '\n') p += splice(text + p) ? splice(text + p) : 1;
    return p;
}

/* Behind text in quotes, or behind the line where they are not closed. */
static int quoted(const char *text, int p, int end) {
    const char quote = text[p++];
    while (p < end && text[p] != quote && text[p] != '\n') {
        if (splice(text + p)) {
            p += splice(text + p);
        } else {
            p += text[p] == '\\' && p + 1 < end ? 2 : 1;
        }
    }
    return p < end ? p + (text[p] == quote) : end;
}

/* Behind the raw string of C++ that begins at p, R"delimiter(..)delimiter" with or without u8, u,
 * U, L before it; p: there is none. */
static int raw_string(const char *text, int p, int end) {
    static const char *const begins[] = {"R\"", "u8R\"", "uR\"", "UR\"", "LR\""};
    for (int i = 0; i < 5; i++) {
        const int n = (int)strlen(begins[i]);
        if (strncmp(text + p, begins[i], (size_t)n) || p + n > end) continue;
        const int length = (int)strcspn(text + p + n, "()\\ \t\n\"");
        if (text[p + n + length] != '(' || length > 16) return p;
        char close[24];
        snprintf(close, sizeof close, ")%.*s\"", length, text + p + n);
        const char *found = strstr(text + p + n + length, close);
        return found && found + length + 2 <= text + end ? (int)(found + length + 2 - text) : end;
    }
    return p;
}

/* Behind the logical line that begins at p, without its newline. */
static int logical_line(const char *text, int p, int end) {
    while (p < end && text[p] != '\n') {
        const int behind = comment(text, p, end);
        if (behind > p) {
            p = behind;
        } else if (splice(text + p)) {
            p += splice(text + p);
        } else if (text[p] == '"') {
            p = quoted(text, p, end);
        } else {
            p++;
        }
    }
    return p < end ? p : end;
}

static int sign_length(const char *c) {
    static const char *const signs[] = {
        "<<=", ">>=", "...", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
        "^=",  "<<",  ">>",  "<=", ">=", "==", "!=", "&&", "||", "->", "##"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (!strncmp(c, signs[i], strlen(signs[i]))) return (int)strlen(signs[i]);
    return 1;
}

/* Whether \\u00e9, a letter by its number, begins here; compilers preprocess names to such. */
static int numbered_letter(const char *c) { return c[0] == '\\' && (c[1] == 'u' || c[1] == 'U'); }

/* Behind the name or number at p. */
static int word(const char *text, int p, int end, enum token_kind kind) {
    for (; p < end; p++) {
        if (letter(text[p]) || numbered_letter(text + p)) continue;
        if (kind != T_NUMBER) break;
        if (text[p] == '\'' && p + 1 < end && letter(text[p + 1])) continue; /* 1'000 */
        const int exponent = (text[p] == '+' || text[p] == '-') && strchr("eEpP", text[p - 1]);
        if (text[p] != '.' && !exponent) break;
    }
    return p;
}

static void add(struct tokens *out, enum token_kind kind, int begin, int end) {
    if (out->count + 1 >= out->room) {
        out->room = out->room ? 2 * out->room : 64;
        out->at = more(out->at, (size_t)out->room * sizeof *out->at);
    }
    out->at[out->count++] = (struct token){kind, begin, end};
    out->at[out->count] = (struct token){T_END, end, end};
}

/* Kind and end of the token at p. */
static enum token_kind token(const char *text, int p, int end, int cxx, int *behind) {
    const char c = text[p];
    if (cxx && (*behind = raw_string(text, p, end)) > p) return T_TEXT;
    if (c == '"' || c == '\'') {
        *behind = quoted(text, p, end);
        return T_TEXT;
    }
    if (isdigit((unsigned char)c) ||
        (c == '.' && p + 1 < end && isdigit((unsigned char)text[p + 1]))) {
        *behind = word(text, p + 1, end, T_NUMBER);
        return T_NUMBER;
    }
    if (letter(c) || numbered_letter(text + p)) {
        *behind = word(text, p, end, T_NAME);
        return T_NAME;
    }
    *behind = p + sign_length(text + p);
    if (*behind > end) *behind = end;
    return T_SIGN;
}

/* Whether ' at p stands between digits. */
static int in_number(const char *text, int p) {
    while (p > 0 && (letter(text[p - 1]) || text[p - 1] == '\'')) p--;
    return isdigit((unsigned char)text[p]);
}

/* Whether <: at p is < and the first half of :: (C++, 2.5). */
static int is_less(const char *text, int p) {
    return text[p] == '<' && text[p + 2] == ':' && text[p + 3] != ':' && text[p + 3] != '>';
}

void plain_digraphs(char *text, int cxx) {
    const int end = (int)strlen(text);
    for (int p = 0; p < end;) {
        static const char digraphs[] = "<%{%>}<:[:>]%:#";
        const int behind = comment(text, p, end);
        const int raw = cxx && !(p && letter(text[p - 1])) ? raw_string(text, p, end) : p;
        if (behind > p || raw > p) {
            p = behind > p ? behind : raw;
        } else if (text[p] == '\'' && in_number(text, p)) {
            p++;
        } else if (text[p] == '"' || text[p] == '\'') {
            p = quoted(text, p, end);
        } else if (cxx && text[p + 1] == ':' && is_less(text, p)) {
            p++;
        } else {
            for (const char *d = digraphs; *d; d += 3)
                if (p + 1 < end && text[p] == d[0] && text[p + 1] == d[1]) {
                    text[p] = d[2];
                    text[++p] = ' ';
                    break;
                }
            p++;
        }
    }
}

void lex(const struct source *s, int begin, int end, int whole, struct tokens *out) {
    const char *text = s->text;
    if (s->fortran) {
        fortran_lex(s, begin, end, out);
        return;
    }
    memset(out, 0, sizeof *out);
    out->at = more(NULL, sizeof *out->at * (size_t)(out->room = 64));
    out->at[0] = (struct token){T_END, begin, begin};
    int fresh = 1; /* nothing but space in this line so far */
    for (int p = begin; p < end;) {
        const int behind = comment(text, p, end);
        if (behind > p) {
            p = behind;
        } else if (splice(text + p)) {
            p += splice(text + p);
        } else if (text[p] == '\n') {
            fresh = 1;
            p++;
        } else if (isspace((unsigned char)text[p])) {
            p++;
        } else if (whole && fresh && text[p] == '#') {
            const int line_end = logical_line(text, p, end);
            add(out, T_DIRECTIVE, p, line_end);
            p = line_end;
        } else {
            int next;
            const enum token_kind kind = token(text, p, end, s->cxx, &next);
            add(out, kind, p, next);
            fresh = 0;
            p = next;
        }
    }
    out->at[out->count] = (struct token){T_END, end, end};
}

/* Whether token i calls a function that is about the threads of a unit. */
static int asks_for_threads(const struct source *s, int i) {
    static const char *const names[] = {"omp_get_num_threads", "omp_get_max_threads",
                                        "omp_set_num_threads", "omp_get_thread_num",
                                        "evn_cu_threads",      "evn_unit_cores"};
    static const char *const before[] = {"return", "else", "do", "case", "sizeof"};
    const struct token *t = &s->tokens.at[i];
    int found = 0, declared = i && t[-1].kind == T_NAME;
    for (int k = 0; k < 6; k++) found |= token_is(s, t, names[k]);
    for (int k = 0; k < 5 && declared; k++) declared = !token_is(s, t - 1, before[k]);
    return found && !declared;
}

/* Whether a directive opens a region of threads or gives them tasks. */
static int opens_region(const struct source *s, const struct token *line) {
    struct tokens t;
    int found = 0;
    lex(s, line->begin + 1, line->end, 0, &t);
    const int omp = t.count > 2 && token_is(s, &t.at[0], "pragma") && token_is(s, &t.at[1], "omp");
    for (int i = 2; i < t.count && omp; i++)
        found |= token_is(s, &t.at[i], "parallel") || token_is(s, &t.at[i], "task") ||
                 token_is(s, &t.at[i], "taskloop");
    free(t.at);
    return found;
}

int source_inner(const struct source *s) {
    for (int i = 0; i < s->tokens.count; i++) {
        const struct token *t = &s->tokens.at[i];
        if (t->kind == T_DIRECTIVE && opens_region(s, t)) return 1;
        if (t->kind == T_NAME && (asks_for_threads(s, i) || token_is(s, t, "_Pragma"))) return 1;
    }
    return 0;
}

int token_length(const struct token *t) { return t->end - t->begin; }

const char *token_letters(const struct source *s, const struct token *t) {
    return s->text + t->begin;
}

int same_letters(const struct source *s, const char *a, const char *b, size_t count) {
    return s->fortran ? !strncasecmp(a, b, count) : !memcmp(a, b, count);
}

int token_is(const struct source *s, const struct token *t, const char *letters) {
    const size_t length = strlen(letters);
    return (size_t)token_length(t) == length &&
           same_letters(s, token_letters(s, t), letters, length);
}

int token_same(const struct source *s, const struct token *a, const struct token *b) {
    return token_length(a) == token_length(b) &&
           same_letters(s, token_letters(s, a), token_letters(s, b), (size_t)token_length(a));
}

int token_among(const struct source *s, const struct token *t, const struct token *list, int n) {
    for (int i = 0; i < n; i++)
        if (token_same(s, t, &list[i])) return 1;
    return 0;
}

/* The bracket that a token is, or 0. */
static char bracket(const struct source *s, const struct token *t) {
    if (t->kind != T_SIGN || token_length(t) != 1) return 0;
    const char c = s->text[t->begin];
    return strchr("([{)]}", c) ? c : 0;
}

/* One token more on the stack of what is open: 0, it closes what is not open. */
static int nest(char *open, int *depth, char c) {
    if (!c) return 1;
    if (c == '(' || c == '[' || c == '{') {
        if (*depth == BRACKETS) return 0;
        open[(*depth)++] = c;
        return 1;
    }
    return *depth && open[--*depth] == (c == ')' ? '(' : c == ']' ? '[' : '{');
}

int token_branch(const struct source *s, const struct token *t) {
    if (t->kind != T_DIRECTIVE) return 0;
    const char *c = s->text + t->begin + 1, *end = s->text + t->end;
    while (c < end && isspace((unsigned char)*c)) c++;
    if (end - c >= 2 && !memcmp(c, "if", 2)) return 'i';
    if (end - c >= 4 && (!memcmp(c, "else", 4) || !memcmp(c, "elif", 4))) return 'e';
    return end - c >= 5 && !memcmp(c, "endif", 5) ? 'd' : 0;
}

int after_bracket(const struct source *s, const struct tokens *t, int open, int end) {
    char is_open[BRACKETS];
    int depth = 0, ifs = 0, before[64]; /* depth where each #if begins: its branches keep it */
    for (int i = open; i < end; i++) {
        if (t->at[i].kind == T_DIRECTIVE) {
            const int kind = token_branch(s, &t->at[i]);
            if (kind == 'i') {
                if (ifs == 64) return -1;
                before[ifs++] = depth;
            } else if (kind && (!ifs || before[ifs - 1] != depth)) {
                return -1;
            } else if (kind == 'd') {
                ifs--;
            }
            continue;
        }
        if (!nest(is_open, &depth, bracket(s, &t->at[i]))) return -1;
        if (ifs && depth < before[ifs - 1]) return -1;
        if (!depth) return i + 1;
    }
    return -1;
}
