/* One C file on its way through evener-cc: its text, its tokens, what is to be said about it and
 * what is to be written in other words. Positions are offsets in the text, so that whatever is cut
 * out of it still knows its line and column. */
#pragma once

#include <stddef.h>

enum token_kind { T_END, T_NAME, T_NUMBER, T_TEXT, T_SIGN, T_DIRECTIVE };

struct token {
    enum token_kind kind;
    int begin, end; /* a directive is all of its logical line, without the newline */
};

struct tokens {
    struct token *at; /* count of them and one T_END */
    int count, room;
};

/* A growing text. */
struct text {
    char *at;
    size_t length, room;
};

/* "#line number file" stands in the line before this one. */
struct mark {
    int line, number;
    char *file;
};

struct complaint {
    int at;
    const char *kind; /* "error", "warning", "note" */
    char *words;
};

/* text[begin, end) is written as `instead`. */
struct edit {
    int begin, end, order;
    char *instead;
};

struct source {
    const char *name;
    const char *text; /* ends with 0 */
    int length;
    int preprocessed;
    int fortran; /* letters of both cases are the same, and tokens are Fortran's */
    int cxx;     /* it is C++ */
    int throws;  /* C++ with exceptions */
    int json;    /* messages are JSON, as gcc's may be */
    struct tokens tokens;
    int *line; /* where each line begins */
    int lines;
    struct mark *mark;
    int marks;
    struct complaint *complaint;
    int complaints, errors;
    struct edit *edit;
    int edits;
    int inner;           /* it has parallel regions, or asks for threads: units keep their cores */
    int sites;           /* directives of ours so far: they number the names in what is generated */
    const char *dialect; /* --kernels: evener/kernel.h; NULL: loops stay loops */
    int ordinary;        /* --kernels=parallel: loops of parallel for, too */
    int same_math;       /* --kernels-math=same */
    int contract;        /* whether a*b+c may be one rounding in kernels */
    int kernels_made;
    unsigned long long math[2], inexact[2]; /* functions of math.h in kernels so far */
    unsigned swaps;                         /* types that atomic exchanges in kernels so far */
    int inexact_at;                         /* the first call of those that differ */
    struct layouts *layouts;                /* structures that the kernel at hand has */
    const struct source *user;              /* whose text this was made of, or NULL */
    const int *user_at;                     /* where each of its characters was */
    const char *unseen; /* why this cannot be read before preprocessing, or NULL */
    int unseen_at;
};

/* Takes the text; `name` and `text` must outlive it. `cxx`: it is C++. */
void source_open(struct source *s, const char *name, const char *text, int preprocessed, int cxx);
void source_close(struct source *s);
/* source_open() for text that is no C: it has lines, and no tokens. */
void source_lines(struct source *s, const char *name, const char *text);
/* "#line 5 "file"" or "# 5 "file" 1": number and name for what follows. */
void source_mark(struct source *s, const struct token *t);

/* Tokens of text[begin, end). With `whole`, lines that begin with # are one token each. */
void lex(const struct source *s, int begin, int end, int whole, struct tokens *out);

/* Digraphs, <% %> <: :> %:, become the signs that they stand for and a blank; not those of C++
 * where
 * <:: is < and ::, nor in its raw strings. */
void plain_digraphs(char *text, int cxx);

/* Whether these are the same letters; in Fortran of either case. */
int same_letters(const struct source *s, const char *a, const char *b, size_t count);
/* Whether the token's letters are these (a line that is continued within a token is none). */
int token_is(const struct source *s, const struct token *t, const char *letters);
int token_same(const struct source *s, const struct token *a, const struct token *b);
int token_among(const struct source *s, const struct token *t, const struct token *list, int n);
/* Length of the token, and where its letters are: for "%.*s". */
int token_length(const struct token *t);
const char *token_letters(const struct source *s, const struct token *t);

/* Which branch of #if a directive begins: 'i'f, 'e'lse, en'd', or 0. */
int token_branch(const struct source *s, const struct token *t);

/* The token after that which closes the bracket at `open`, or -1: not closed before `end`. */
int after_bracket(const struct source *s, const struct tokens *t, int open, int end);

/* Where a position is, as the user counts: file and line after #line, column from 1. */
struct place {
    const char *file;
    int line, column;
};
struct place source_place(const struct source *s, int at);
/* The line alone, in the text that the user has written. */
int source_user_line(const struct source *s, int at);
/* Begin of the (physical) line of a position. */
int source_line_begin(const struct source *s, int at);

/* Within a branch of #if, which perhaps is not compiled, nothing is said before preprocessing. */
void complain(struct source *s, int at, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define error(s, at, ...) complain(s, at, "error", __VA_ARGS__)
/* This cannot be read as it is, only after preprocessing; where it has been, it is an error. */
void unseen(struct source *s, int at, const char *why);
/* Whether the text has directives of parallel regions and tasks, or asks how many threads there
 * are.
 */
int source_inner(const struct source *s);
/* To stderr, in the order of lines; number of errors. */
int source_report(struct source *s);

/* Owns `instead` from now on. */
void replace(struct source *s, int begin, int end, char *instead);
/* The text with all that was replaced. */
void source_write(struct source *s, struct text *out);

void put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, where names of ours have letters for numbers: evn_N_trips, evn_N_fromK, evn_N_%sK (k
 * -1: nothing for K). */
void put_named(struct text *t, int n, int k, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void put_bytes(struct text *t, const char *bytes, size_t count);
/* As a string of C. */
void put_quoted(struct text *out, const char *text);

/* As malloc and realloc; they end the command where there is no memory. */
void *more(void *old, size_t bytes);
char *copy_of(const char *bytes, size_t count);
