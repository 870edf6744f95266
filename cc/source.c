/* Text, places in it, messages about it, and its replaced parts. */
#include "source.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noreturn)) static void no_memory(void) {
    fputs("evener-cc: out of memory\n", stderr);
    exit(1);
}

void *more(void *old, size_t bytes) {
    void *new = realloc(old, bytes ? bytes : 1);
    if (!new) no_memory();
    return new;
}

char *copy_of(const char *bytes, size_t count) {
    char *copy = more(NULL, count + 1);
    if (count) memcpy(copy, bytes, count);
    copy[count] = 0;
    return copy;
}

void put_bytes(struct text *t, const char *bytes, size_t count) {
    if (t->length + count + 1 > t->room) {
        t->room = 2 * (t->length + count + 1);
        t->at = more(t->at, t->room);
    }
    if (count) memcpy(t->at + t->length, bytes, count);
    t->length += count;
    t->at[t->length] = 0;
}

void put_quoted(struct text *out, const char *text) {
    put(out, "\"");
    for (; *text;
         text++) { /* ?? may begin a trigraph; a digit behind three of \ooo is none of it */
        if (*text == '"' || *text == '\\') put_bytes(out, "\\", 1);
        if (*text == '?' || iscntrl((unsigned char)*text))
            put(out, "\\%03o", (unsigned char)*text);
        else
            put_bytes(out, text, 1);
    }
    put(out, "\"");
}

/* As a string of JSON. */
static void put_json(struct text *out, const char *text) {
    put(out, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') put(out, "\\");
        if ((unsigned char)*text < ' ')
            put(out, "\\u%04x", (unsigned char)*text);
        else
            put_bytes(out, text, 1);
    }
    put(out, "\"");
}

__attribute__((format(printf, 1, 0))) static char *printed(const char *format, va_list list) {
    char *text;
    if (vasprintf(&text, format, list) < 0) no_memory();
    return text;
}

void put(struct text *t, const char *format, ...) {
    va_list list;
    va_start(list, format);
    char *text = printed(format, list);
    va_end(list);
    put_bytes(t, text, strlen(text));
    free(text);
}

void put_named(struct text *out, int n, int k, const char *format, ...) {
    struct text named = {0};
    for (const char *c = format; *c; c++) {
        if (!strncmp(c, "evn_N", 5))
            put(&named, "evn_%d", n);
        else if (*c != 'K' || isupper((unsigned char)c[1]))
            put_bytes(&named, c, 1);
        else if (k >= 0)
            put(&named, "%d", k);
        if (!strncmp(c, "evn_N", 5)) c += 4;
    }
    va_list list;
    va_start(list, format);
    char *text = printed(named.at, list);
    va_end(list);
    put_bytes(out, text, strlen(text));
    free(text);
    free(named.at);
}

/* The character that a backslash and the letters behind it are; *c goes to the last of them. */
static char escaped(const char **c, const char *end) {
    static const char letters[] = "a\ab\bf\fn\nr\rt\tv\v"; /* clang writes such */
    for (const char *l = letters; *l; l += 2)
        if (**c == *l) return l[1];
    if (**c < '0' || **c > '7') return **c;
    int value = 0, n = 0;
    for (; n < 3 && *c + n < end && (*c)[n] >= '0' && (*c)[n] <= '7'; n++)
        value = 8 * value + (*c)[n] - '0';
    *c += n - 1;
    return (char)value;
}

/* The text between quotes at `open`, as put_quoted() has written it; NULL: they are not closed. */
static char *unquoted(const char *open, const char *end) {
    struct text out = {0};
    const char *c = open + 1;
    put_bytes(&out, "", 0);
    for (; c < end && *c != '"'; c++) {
        char one = *c;
        if (one == '\\' && c + 1 < end) {
            c++;
            one = escaped(&c, end);
        }
        put_bytes(&out, &one, 1);
    }
    if (c < end) return out.at;
    free(out.at);
    return NULL;
}

void source_mark(struct source *s, const struct token *t) {
    const char *c = s->text + t->begin + 1, *end = s->text + t->end;
    while (c < end && isspace((unsigned char)*c)) c++;
    if (end - c > 4 && !memcmp(c, "line", 4)) c += 4;
    while (c < end && isspace((unsigned char)*c)) c++;
    if (c == end || !isdigit((unsigned char)*c)) return;
    struct mark mark = {0, (int)strtol(c, NULL, 10), NULL};
    const char *open = memchr(c, '"', (size_t)(end - c));
    mark.file = open ? unquoted(open, end) : NULL;
    if (!mark.file) {
        const char *file = s->marks ? s->mark[s->marks - 1].file : s->name;
        mark.file = copy_of(file, strlen(file));
    }
    int low = 0;
    for (int high = s->lines; high - low > 1;) {
        const int middle = (low + high) / 2;
        *(s->line[middle] <= t->begin ? &low : &high) = middle;
    }
    mark.line = low + 1;
    s->mark = more(s->mark, (size_t)(s->marks + 1) * sizeof *s->mark);
    s->mark[s->marks++] = mark;
}

void source_lines(struct source *s, const char *name, const char *text) {
    memset(s, 0, sizeof *s);
    s->name = name;
    s->text = text;
    s->length = (int)strlen(text);
    int room = 1;
    for (const char *c = text; (c = strchr(c, '\n')); c++) room++;
    s->line = more(NULL, (size_t)room * sizeof *s->line);
    s->line[s->lines++] = 0;
    for (const char *c = text; (c = strchr(c, '\n')); c++)
        s->line[s->lines++] = (int)(c + 1 - text);
}

/* Whether "# 14 "zones.c"" or "#line 14" is what a token is. */
static int is_mark(const struct source *s, const struct token *t) {
    const char *c = s->text + t->begin + 1;
    c += strspn(c, " \t");
    return t->kind == T_DIRECTIVE && (isdigit((unsigned char)*c) || !strncmp(c, "line", 4));
}

/* Preprocessing leaves marks anywhere, within expressions too; no statement is made of them. */
static void drop_marks(struct source *s) {
    int kept = 0;
    for (int i = 0; i < s->tokens.count; i++)
        if (!is_mark(s, &s->tokens.at[i])) s->tokens.at[kept++] = s->tokens.at[i];
    s->tokens.at[kept] = s->tokens.at[s->tokens.count];
    s->tokens.count = kept;
}

void source_open(struct source *s, const char *name, const char *text, int preprocessed, int cxx) {
    source_lines(s, name, text);
    s->cxx = cxx;
    s->preprocessed = preprocessed;
    lex(s, 0, s->length, 1, &s->tokens);
    for (int i = 0; i < s->tokens.count; i++)
        if (s->tokens.at[i].kind == T_DIRECTIVE) source_mark(s, &s->tokens.at[i]);
    if (preprocessed) drop_marks(s);
}

void source_close(struct source *s) {
    for (int i = 0; i < s->marks; i++) free(s->mark[i].file);
    for (int i = 0; i < s->complaints; i++) free(s->complaint[i].words);
    for (int i = 0; i < s->edits; i++) free(s->edit[i].instead);
    free(s->mark);
    free(s->complaint);
    free(s->edit);
    free(s->line);
    free(s->tokens.at);
}

/* Number of the physical line, from 0. */
static int physical(const struct source *s, int at) {
    int low = 0;
    for (int high = s->lines; high - low > 1;) {
        const int middle = (low + high) / 2;
        *(s->line[middle] <= at ? &low : &high) = middle;
    }
    return low;
}

int source_user_line(const struct source *s, int at) {
    return s->user ? source_place(s->user, s->user_at[at]).line : source_place(s, at).line;
}

int source_line_begin(const struct source *s, int at) { return s->line[physical(s, at)]; }

struct place source_place(const struct source *s, int at) {
    const int line = physical(s, at);
    struct place place = {s->name, line + 1, at - s->line[line] + 1};
    int low = -1;
    for (int high = s->marks; high - low > 1;) {
        const int middle = (low + high) / 2;
        *(s->mark[middle].line <= line ? &low : &high) = middle;
    }
    if (low >= 0) {
        place.file = s->mark[low].file;
        place.line = s->mark[low].number + line - s->mark[low].line;
    }
    return place;
}

/* Whether a position is in a branch of #if, its own lines included. */
static int in_branch(const struct source *s, int at) {
    int depth = 0;
    for (int i = 0; i < s->tokens.count && s->tokens.at[i].begin <= at; i++) {
        const struct token *t = &s->tokens.at[i];
        const int kind = token_branch(s, t);
        if (kind == 'i') depth++;
        if (kind == 'd' && t->end <= at) depth--;
    }
    return depth > 0;
}

void complain(struct source *s, int at, const char *kind, const char *format, ...) {
    va_list list;
    if (!s->preprocessed && !s->fortran && in_branch(s, at)) {
        unseen(s, at, "");
        return;
    }
    va_start(list, format);
    struct complaint c = {at, kind, printed(format, list)};
    va_end(list);
    s->complaint = more(s->complaint, (size_t)(s->complaints + 1) * sizeof *s->complaint);
    s->complaint[s->complaints++] = c;
    if (!strcmp(kind, "error")) s->errors++;
}

void unseen(struct source *s, int at, const char *why) {
    if (s->preprocessed) {
        error(s, at, "%s", why);
    } else if (!s->unseen) {
        s->unseen = why;
        s->unseen_at = at;
    }
}

static int by_place(const void *a, const void *b) {
    const struct complaint *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* All as an array of JSON, as gcc writes it. */
static void report_json(const struct source *s) {
    struct text out = {0};
    for (int i = 0; i < s->complaints; i++) {
        const struct complaint *c = &s->complaint[i];
        const struct place place = source_place(s, c->at);
        put(&out,
            "%s{\"kind\": \"%s\", \"column-origin\": 1, \"children\": [], \"locations\": "
            "[{\"caret\": {\"file\": ",
            i ? ", " : "", c->kind);
        put_json(&out, place.file);
        put(&out,
            ", \"line\": %d, \"display-column\": %d, \"byte-column\": %d, \"column\": %d}}], "
            "\"message\": ",
            place.line, place.column, place.column, place.column);
        put_json(&out, c->words);
        put(&out, "}");
    }
    if (out.at) fprintf(stderr, "[%s]\n", out.at);
    free(out.at);
}

int source_report(struct source *s) {
    if (s->complaints) qsort(s->complaint, (size_t)s->complaints, sizeof *s->complaint, by_place);
    if (s->json) {
        report_json(s);
        return s->errors;
    }
    for (int i = 0; i < s->complaints; i++) {
        const struct complaint *c = &s->complaint[i];
        const struct place place = source_place(s, c->at);
        const char *line = s->text + source_line_begin(s, c->at);
        fprintf(stderr, "%s:%d:%d: %s: %s\n", place.file, place.line, place.column, c->kind,
                c->words);
        fprintf(stderr, "%.*s\n", (int)strcspn(line, "\r\n"), line);
        for (int k = 1; k < place.column; k++) fputc(line[k - 1] == '\t' ? '\t' : ' ', stderr);
        fputs("^\n", stderr);
    }
    return s->errors;
}

void replace(struct source *s, int begin, int end, char *instead) {
    s->edit = more(s->edit, (size_t)(s->edits + 1) * sizeof *s->edit);
    s->edit[s->edits] = (struct edit){begin, end, s->edits, instead};
    s->edits++;
}

/* What is put before a place comes before what takes the place of its text. */
static int by_begin(const void *a, const void *b) {
    const struct edit *x = a, *y = b;
    const int x_takes = x->end > x->begin, y_takes = y->end > y->begin;
    if (x->begin != y->begin) return (x->begin > y->begin) - (x->begin < y->begin);
    if (x_takes != y_takes) return x_takes - y_takes;
    return x->order - y->order;
}

void source_write(struct source *s, struct text *out) {
    if (s->edits) qsort(s->edit, (size_t)s->edits, sizeof *s->edit, by_begin);
    int at = 0;
    for (int i = 0; i < s->edits; i++) {
        const struct edit *e = &s->edit[i];
        put_bytes(out, s->text + at, (size_t)(e->begin - at));
        put_bytes(out, e->instead, strlen(e->instead));
        at = e->end;
    }
    put_bytes(out, s->text + at, (size_t)(s->length - at));
}
