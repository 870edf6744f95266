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
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') put_bytes(out, "\\", 1);
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

void source_mark(struct source *s, const struct token *t) {
    const char *c = s->text + t->begin + 1, *end = s->text + t->end;
    while (c < end && isspace((unsigned char)*c)) c++;
    if (end - c > 4 && !memcmp(c, "line", 4)) c += 4;
    while (c < end && isspace((unsigned char)*c)) c++;
    if (c == end || !isdigit((unsigned char)*c)) return;
    struct mark mark = {0, (int)strtol(c, NULL, 10), NULL};
    const char *open = memchr(c, '"', (size_t)(end - c));
    const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    if (close) {
        mark.file = copy_of(open + 1, (size_t)(close - open - 1));
    } else {
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

void complain(struct source *s, int at, const char *kind, const char *format, ...) {
    va_list list;
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

int source_report(struct source *s) {
    if (s->complaints) qsort(s->complaint, (size_t)s->complaints, sizeof *s->complaint, by_place);
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

static int by_begin(const void *a, const void *b) {
    const struct edit *x = a, *y = b;
    if (x->begin != y->begin) return (x->begin > y->begin) - (x->begin < y->begin);
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
