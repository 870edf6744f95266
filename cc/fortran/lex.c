/* Tokens of Fortran: of one statement or directive that has been joined. */
#include "fortran.h"
#include <ctype.h>
#include <string.h>

static int is_letter(char c) { return isalpha((unsigned char)c) || c == '_' || c == '$'; }
static int is_digit(char c) { return isdigit((unsigned char)c) != 0; }

/* Behind ".and." and its kin, or `c`: it is none. */
static const char *dotted(const char *c, const char *end) {
    const char *k = c + 1;
    while (k < end && isalpha((unsigned char)*k)) k++;
    return *c == '.' && k > c + 1 && k < end && *k == '.' ? k + 1 : c;
}

static const char *name_end(const char *c, const char *end) {
    while (c < end && (is_letter(*c) || is_digit(*c))) c++;
    return c;
}

/* 10, 1.5d0, 1_8; the point of 1.and. belongs to the operator. */
static const char *number_end(const char *c, const char *end) {
    while (c < end && is_digit(*c)) c++;
    if (c < end && *c == '.' && dotted(c, end) == c)
        for (c++; c < end && is_digit(*c);) c++;
    if (c < end && strchr("eEdDqQ", *c)) {
        const char *k = c + 1;
        if (k < end && (*k == '+' || *k == '-')) k++;
        if (k < end && is_digit(*k))
            for (c = k; c < end && is_digit(*c);) c++;
    }
    return c < end && *c == '_' ? name_end(c, end) : c;
}

static const char *text_end(const char *c, const char *end) {
    const char quote = *c++;
    while (c < end && *c != quote) c++;
    return c < end ? c + 1 : c;
}

static const char *sign_end(const char *c, const char *end) {
    static const char *const signs[] = {"==", "/=", "<=", ">=", "**", "=>", "//"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (end - c > 1 && !memcmp(c, signs[i], 2)) return c + 2;
    return dotted(c, end) > c ? dotted(c, end) : c + 1;
}

static void add(struct tokens *out, enum token_kind kind, int begin, int end) {
    if (out->count + 1 >= out->room) {
        out->room = 2 * out->room + 16;
        out->at = more(out->at, (size_t)out->room * sizeof *out->at);
    }
    out->at[out->count++] = (struct token){kind, begin, end};
}

void fortran_lex(const struct source *s, int begin, int end, struct tokens *out) {
    const char *text = s->text, *stop = text + end;
    memset(out, 0, sizeof *out);
    for (const char *c = text + begin; c < stop;) {
        const char *from = c;
        enum token_kind kind = T_SIGN;
        if (isspace((unsigned char)*c)) {
            c++;
            continue;
        }
        if (is_letter(*c)) {
            kind = T_NAME;
            c = name_end(c, stop);
        } else if (is_digit(*c) || (*c == '.' && c + 1 < stop && is_digit(c[1]))) {
            kind = T_NUMBER;
            c = number_end(c, stop);
        } else if (*c == '\'' || *c == '"') {
            kind = T_TEXT;
            c = text_end(c, stop);
        } else {
            c = sign_end(c, stop);
        }
        add(out, kind, (int)(from - text), (int)(c - text));
    }
    add(out, T_END, end, end);
    out->count--;
}

struct tokens fortran_tokens(const struct fortran *f, int statement) {
    struct tokens t;
    fortran_lex(&f->flat, f->at[statement].begin, f->at[statement].end, &t);
    return t;
}

int fortran_is(const struct fortran *f, const struct tokens *t, int i, const char *letters) {
    return i >= 0 && i < t->count && token_is(&f->flat, &t->at[i], letters);
}
