/* Fortran files on their way through evener-cc: !$omp teams distribute num_teams(4:CPU:4), and its
 * kin, on a do loop. Statements are joined to lines of their own in a second text (`flat`), in
 * which clauses are read as in C; what is made goes into the user's text (`raw`), whose lines keep
 * their numbers. Expressions are copied, never understood. */
#pragma once

#include "directive.h"

/* A statement, or a directive with all of its lines. */
struct statement {
    int begin, end; /* in the flat text */
    int label;      /* 0: none */
    int directive;  /* 1: $omp; 2: $evn */
};

struct fortran {
    struct source raw, flat;
    struct text text; /* flat.text */
    int *map;         /* where each of its characters is in raw */
    struct statement *at;
    int count;
    int fixed, width; /* of a line in fixed form */
};

/* Form of a source file, by its name or the compiler's options. */
struct fortran_form {
    int fixed, width;
    int preprocessed; /* the compiler would run the preprocessor */
};

/* Whether a text may have a directive of ours; quick. */
int fortran_worth(const char *text);
/* 1: `out` has what the compiler gets; 0: there is nothing of ours in it; -1: errors were said. */
int fortran_rewrite(const char *name, const char *text, const struct fortran_form *form,
                    struct text *out);

/* ---- lines (lines.c) ---- */

void fortran_open(struct fortran *f, const char *name, const char *text,
                  const struct fortran_form *form);
void fortran_close(struct fortran *f);
/* Where a position of the flat text is in the user's; and behind a character of it. */
int fortran_raw(const struct fortran *f, int at);
/* Where the text goes on behind a statement: behind its semicolon, or in the next line. */
int fortran_behind(const struct fortran *f, int statement);

/* A character of a statement as it is read: dropped (a blank), kept, or kept behind a blank. */
enum blank { B_DROP, B_KEEP, B_BEFORE };
/* One for each character of a statement that ends at `end` in the flat text, so that blanks stand
 * where words end and nowhere else (blanks.c): in fixed form they mean nothing, between the words
 * of a directive they are optional. To be freed; NULL: the statement stays as it is. */
enum blank *fortran_blanks(const struct fortran *f, const struct statement *s, int end);

/* Tokens of Fortran in flat text (lex.c); lex() calls it. */
void fortran_lex(const struct source *s, int begin, int end, struct tokens *out);
/* The tokens of a statement; to be freed. */
struct tokens fortran_tokens(const struct fortran *f, int statement);
/* Whether token i is there and has these letters, of either case. */
int fortran_is(const struct fortran *f, const struct tokens *t, int i, const char *letters);

/* ---- loops (loop.c) ---- */

/* do VARIABLE = FROM, TO, STEP */
struct counted {
    int statement;
    struct range name; /* of a construct; empty: none */
    int label;         /* of its last statement; 0: it has an end do */
    struct token variable;
    struct range from, to, step; /* step is empty: 1 */
};

struct do_nest {
    struct counted loop[8];
    int loops;
    int last; /* the statement that ends it */
};

/* The end of a program unit. */
int fortran_is_end(const struct fortran *f, const struct tokens *t);

/* Reads `loops` loops from statement `at` on, and looks at what leaves them. 0 and messages: there
 * are none, or not such. */
int fortran_nest(struct fortran *f, int at, int loops, struct do_nest *nest);

/* Whether a statement is a loop that counts by this variable. */
int fortran_counts(const struct fortran *f, int statement, const struct token *variable);

/* A warning of a number that the loop's body changes for all units (forgotten.c); `teams` is the
 * directive that opens the units, maybe `d` itself. */
void fortran_look_for_forgotten(struct fortran *f, const struct directive *d,
                                const struct directive *teams, const struct do_nest *nest);

/* ---- variables (variable.c) ---- */

enum variable_type { V_UNTYPED, V_NUMBER /* or logical */, V_CHARACTER, V_DERIVED };

struct variable {
    int seen; /* the declaration is in the text, or there is none */
    int at;   /* of its name in the declaration; -1: there is none */
    enum variable_type type;
    struct range text; /* "real(8)", "type(zone)"; empty: the type that its first letter has */
    int rank;
    int allocatable, pointer, contiguous, constant;
    int polymorphic; /* class(..) */
    int deferred;    /* character(:) */
    int kind;        /* of characters */
};

/* Declaration of a name that statement `at` refers to. */
void fortran_variable(const struct fortran *f, int at, const struct token *name,
                      struct variable *v);

/* Names of deferred length, character(:), that BLOCKs around statement `at` declare; *name is to be
 * freed. */
int fortran_block_texts(const struct fortran *f, int at, struct token **name);

/* Whether its value is assigned by Fortran's rules, beyond that of its bytes (lists.c). */
int fortran_is_typed(const struct variable *v);
/* Whether compilers do not make such a variable private: one of a BLOCK hides it. */
int fortran_is_hidden(const struct variable *v);
/* Errors where a list of directive `d`, statement `from`, has what its clause cannot do, and where
 * statements up to `last` have what a region cannot. `nest` is NULL for teams. */
void fortran_check_lists(struct fortran *f, const struct directive *d, const struct do_nest *nest,
                         int from, int last);

/* ---- functions that have nothing but a type (names.c) ---- */

/* References of functions in statements [from, last] whose names the program unit only declares to
 * be of a type: the first of each, in flat text. Returns how many; *call is to be freed. */
int fortran_typed_calls(const struct fortran *f, int from, int last, struct range **call);

/* ---- what is made (emit.c) ---- */

/* The loop shared out, in the place of statements [from, nest->loop[..]] and behind nest->last, up
 * to statement `last`, whose directives are gone. */
void fortran_emit_loop(struct fortran *f, const struct directive *d, const struct do_nest *nest,
                       int from, int last);
/* teams at statement `from`, end teams at statement `last`. */
void fortran_emit_teams(struct fortran *f, const struct directive *d, int from, int last);
