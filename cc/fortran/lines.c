/* Statements of Fortran, in free and in fixed form: each as one line, without comments,
 * continuations, labels and sentinels, and where each of its characters was. A directive is
 * "#pragma omp .." there, as in C. */
#include "fortran.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* State of the reader. */
struct reader {
    struct fortran *f;
    int room;
    int open;      /* the last statement goes on: in free form the line ended with & */
    int directive; /* 0: a statement; 1: a directive */
    char quote;    /* within a text of this quote */
};

static int more_statements(struct reader *r) {
    struct fortran *f = r->f;
    if (!(f->count & (f->count + 1)))
        f->at = more(f->at, (size_t)(2 * f->count + 2) * sizeof *f->at);
    return f->count++;
}

static void put_char(struct reader *r, char c, int from) {
    struct fortran *f = r->f;
    if ((int)f->text.length + 1 >= r->room) {
        r->room = 2 * r->room + 256;
        f->map = more(f->map, (size_t)r->room * sizeof *f->map);
    }
    f->map[f->text.length] = from;
    put_bytes(&f->text, &c, 1);
}

static void begin(struct reader *r, int directive, int label, int from) {
    const int i = more_statements(r);
    r->f->at[i] = (struct statement){(int)r->f->text.length, 0, label, directive};
    r->directive = directive != 0;
    r->open = 1;
    r->quote = 0;
    for (const char *c = directive ? "#pragma omp " : ""; *c; c++) put_char(r, *c, from);
}

/* Writes the open statement again with blanks where its words end. */
static void respace(struct reader *r, const struct statement *s) {
    struct fortran *f = r->f;
    const int n = (int)f->text.length - s->begin;
    enum blank *blank = fortran_blanks(f, s, s->begin + n);
    if (!blank) return;
    char *text = copy_of(f->text.at + s->begin, (size_t)n);
    int *map = more(NULL, (size_t)n * sizeof *map);
    memcpy(map, f->map + s->begin, (size_t)n * sizeof *map);
    f->text.length = (size_t)s->begin;
    for (int i = 0; i < n; i++) {
        if (blank[i] == B_BEFORE) put_char(r, ' ', map[i]);
        if (blank[i] != B_DROP) put_char(r, text[i], map[i]);
    }
    free(blank);
    free(text);
    free(map);
}

/* Ends the statement, without the blanks behind it; an empty one is none. */
static void finish(struct reader *r) {
    struct fortran *f = r->f;
    if (!r->open) return;
    struct statement *s = &f->at[f->count - 1];
    r->open = 0;
    respace(r, s);
    s->end = (int)f->text.length;
    while (s->end > s->begin && isspace((unsigned char)f->text.at[s->end - 1])) s->end--;
    if (s->end == s->begin && !s->label) f->count--;
    put_char(r, '\n', s->end > s->begin ? f->map[s->end - 1] + 1 : 0);
}

/* Takes up the last directive again: !$evn behind it has more of its clauses. */
static void reopen(struct reader *r) {
    r->open = r->directive = 1;
    r->quote = 0;
    r->f->text.at[r->f->text.length - 1] = ' ';
}

/* A piece of a line, [from, to) of raw, of the open statement. Returns whether it ends with &. */
static int piece(struct reader *r, int from, int to) {
    const char *text = r->f->raw.text;
    for (int i = from; i < to; i++) {
        const char c = text[i];
        if (r->quote) {
            int k = i + 1;
            while (k < to && isspace((unsigned char)text[k])) k++;
            if (c == '&' && k == to && !r->f->fixed) return 1;
            if (c == r->quote) r->quote = 0;
        } else if (c == '!') {
            return 0;
        } else if (c == '\'' || c == '"') {
            r->quote = c;
        } else if (c == '&' && !r->f->fixed) {
            return 1;
        } else if (c == ';' && !r->directive) {
            finish(r);
            begin(r, 0, 0, i + 1);
            while (i + 1 < to && isspace((unsigned char)text[i + 1])) i++;
            continue;
        }
        put_char(r, c, i);
    }
    return 0;
}

/* "$omp" or "$evn" at `c`: 1 or 2; 0: none. In free form a blank or & is behind it, in fixed form
 * the column of continuations. */
static int sentinel(const char *c, int fixed) {
    const int kind = !strncasecmp(c, "$omp", 4) ? 1 : !strncasecmp(c, "$evn", 4) ? 2 : 0;
    return kind && !fixed && c[4] && c[4] != '&' && !isspace((unsigned char)c[4]) ? 0 : kind;
}

/* Whether the line at `c` begins a construct of ours; no clause begins with such a word. */
static int is_construct(const char *c, int fixed) {
    static const char *const words[] = {"teams", "distribute", "loop", "end"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = c;
        size_t n = 0;
        for (; words[i][n] && (*at == words[i][n] || *at == (words[i][n] & ~32)); n++, at++)
            while (fixed && (at[1] == ' ' || at[1] == '\t')) at++;
        if (!words[i][n]) return 1;
    }
    return 0;
}

/* A line of a directive, its words from `from`; `goes_on`: it continues the one before, `joined`:
 * the word with which that ends. */
static int directive_line(struct reader *r, int kind, int goes_on, int joined, int line, int from,
                          int to) {
    const char *text = r->f->raw.text;
    const struct fortran *f = r->f;
    if (!goes_on || !r->directive || (!r->open && !f->fixed)) {
        finish(r);
        joined = 0;
        if (kind == 2 && !is_construct(text + from, f->fixed) && f->count &&
            f->at[f->count - 1].directive)
            reopen(r);
        else
            begin(r, kind, 0, line);
    } else if (!r->open) {
        reopen(r);
    }
    if (!joined) put_char(r, ' ', from);
    return piece(r, from, to);
}

/* ---- free form ---- */

static int label_of(const char *text, int *at, int to) {
    int k = *at, label = 0;
    while (k < to && isdigit((unsigned char)text[k]) && k - *at < 5)
        label = 10 * label + text[k++] - '0';
    if (k == *at || k == to || !isspace((unsigned char)text[k])) return 0;
    while (k < to && isspace((unsigned char)text[k])) k++;
    *at = k;
    return label;
}

static void free_line(struct reader *r, int line, int to) {
    const char *text = r->f->raw.text;
    int at = line, goes_on;
    while (at < to && isspace((unsigned char)text[at])) at++;
    const int begins = at;
    if (at == to || text[line] == '#') return;
    const int kind = text[at] == '!' ? sentinel(text + at + 1, 0) : 0;
    const int hidden = text[at] == '!' && text[at + 1] == '$' &&
                       (isspace((unsigned char)text[at + 2]) || text[at + 2] == '&');
    if (text[at] == '!' && !kind && !hidden) return;
    at += kind ? 5 : hidden ? 2 : 0;
    while (at < to && isspace((unsigned char)text[at])) at++;
    const int open = r->open && r->directive == (kind != 0);
    const int mark = text[at] == '&' && at < to;
    if (mark && open) at++;
    if (kind) {
        goes_on = directive_line(r, kind, open, mark, begins, at, to);
    } else {
        if (!open) {
            finish(r);
            const int label = label_of(text, &at, to);
            begin(r, 0, label, begins);
        } else if (!mark && !r->quote) {
            put_char(r, ' ', at);
        }
        goes_on = piece(r, at, to);
    }
    if (!goes_on) finish(r);
}

/* ---- fixed form ---- */

/* Where columns 6 and 7 of a line are, which may have a tab before. */
static void columns(const char *text, int line, int to, int *six, int *seven) {
    for (int i = line; i < to && i < line + 6; i++) {
        if (text[i] != '\t') continue;
        const int goes_on = i + 1 < to && text[i + 1] >= '1' && text[i + 1] <= '9';
        *six = goes_on ? i + 1 : -1;
        *seven = i + 1 + goes_on;
        return;
    }
    *six = line + 5 < to ? line + 5 : -1;
    *seven = line + 6 < to ? line + 6 : to;
}

static void fixed_line(struct reader *r, int line, int to) {
    const char *text = r->f->raw.text;
    int six, seven, label = 0;
    columns(text, line, to, &six, &seven);
    const int last = seven - 6 + r->f->width; /* a tab has counted as the blanks up to column 7 */
    if (r->f->width && to > last) to = last;
    if (seven > to) seven = to;
    const int comment = line < to && strchr("cC*!dD", text[line]) != NULL;
    const int kind = comment && !strchr("dD", text[line]) ? sentinel(text + line + 1, 1) : 0;
    const int hidden = comment && !kind && text[line + 1] == '$' && six == line + 5 &&
                       strspn(text + line + 2, " 0123456789") >= 3;
    const int goes_on = six >= 0 && six < to && !strchr(" 0", text[six]);
    int first = line;
    while (first < to && isspace((unsigned char)text[first])) first++;
    if (first == to || text[line] == '#' || (comment && !kind && !hidden)) return;
    if (text[first] == '!' && first != six && !kind && !hidden) return;
    if (kind) {
        while (seven < to && isspace((unsigned char)text[seven])) seven++;
        directive_line(r, kind, goes_on, 0, line, seven, to);
        return;
    }
    if (!goes_on || !r->open || r->directive) {
        finish(r);
        for (int i = line; i < seven && i != six; i++)
            if (isdigit((unsigned char)text[i])) label = 10 * label + text[i] - '0';
        while (seven < to && isspace((unsigned char)text[seven])) seven++;
        begin(r, 0, label, label || hidden ? line : seven);
    } else if (!r->quote && seven < to && !r->f->width) {
        put_char(r, ' ', seven);
    }
    piece(r, seven, to);
    /* a short line is as if it had blanks up to its end, which count in a text */
    for (int i = to; r->quote && r->f->width && i < last; i++) put_char(r, ' ', to);
}

/* ---- the file ---- */

static void read_marks(struct fortran *f) {
    for (int i = 0; i < f->raw.lines; i++) {
        const int at = f->raw.line[i];
        if (f->raw.text[at] != '#') continue;
        const struct token t = {T_DIRECTIVE, at, at + (int)strcspn(f->raw.text + at, "\n")};
        source_mark(&f->raw, &t);
    }
}

void fortran_open(struct fortran *f, const char *name, const char *text,
                  const struct fortran_form *form) {
    memset(f, 0, sizeof *f);
    f->fixed = form->fixed;
    f->width = form->width;
    source_lines(&f->raw, name, text);
    read_marks(f);
    struct reader r = {.f = f};
    put_bytes(&f->text, "", 0);
    for (int i = 0; i < f->raw.lines; i++) {
        const int line = f->raw.line[i];
        int to = line + (int)strcspn(text + line, "\n");
        if (to > line && text[to - 1] == '\r') to--;
        if (f->fixed)
            fixed_line(&r, line, to);
        else
            free_line(&r, line, to);
    }
    finish(&r);
    source_lines(&f->flat, name, f->text.at);
    f->flat.fortran = f->flat.preprocessed = 1;
    f->flat.user = &f->raw;
    f->flat.user_at = f->map;
    for (int i = 0; i < f->count; i++) { /* token i of the flat text is statement i */
        struct tokens *t = &f->flat.tokens;
        t->at = more(t->at, (size_t)(i + 2) * sizeof *t->at);
        t->at[t->count++] = (struct token){T_DIRECTIVE, f->at[i].begin, f->at[i].end};
        t->at[t->count] = (struct token){T_END, f->flat.length, f->flat.length};
    }
}

void fortran_close(struct fortran *f) {
    source_close(&f->flat);
    source_close(&f->raw);
    free(f->text.at);
    free(f->map);
    free(f->at);
}

int fortran_raw(const struct fortran *f, int at) {
    return at < f->flat.length ? f->map[at] : f->raw.length;
}

int fortran_behind(const struct fortran *f, int statement) {
    const struct statement *s = &f->at[statement];
    const char *text = f->raw.text;
    int at = s->end > s->begin ? f->map[s->end - 1] + 1 : f->map[s->begin];
    while (text[at] == ' ' || text[at] == '\t') at++;
    if (text[at] == ';' && !s->directive) return at + 1;
    while (text[at] && text[at] != '\n') at++;
    return text[at] ? at + 1 : at;
}
