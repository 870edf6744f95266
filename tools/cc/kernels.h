/* Kernels made from loops (--kernels): #pragma omp target teams distribute parallel for on a
 * perfect nest of canonical loops becomes a kernel of the dialect (docs/kernels.md) for GPU units
 * and a parallel for with the unit's cores for CPU units. It is no translator of C: what is not in
 * the subset is refused. Text is preprocessed. */
#ifndef CC_KERNELS_H
#define CC_KERNELS_H

#include "loop.h"

/* Whether a text may have such a directive; quick. */
int kernels_worth(const char *text);
/* Whether the directive is one. */
int kernels_ours(const struct source *s, const struct directive *d);
/* Rewrites it and its loops, which begin at token `at`; the token behind them. */
int kernels_loop(struct source *s, struct directive *d, int at, int to);

/* ---- declarations (kernels_names.c) ---- */

enum type { TYPE_NONE, TYPE_INT, TYPE_LONG, TYPE_FLOAT, TYPE_DOUBLE };

/* "int", "evn_cu_int", "float", "double" */
const char *type_name(enum type type);

/* What the nearest declaration before token `before` says of a name. */
struct declared {
    int at;         /* the token that declares it; -1: none is found */
    enum type type; /* of it or its elements; TYPE_NONE: none that kernels have */
    int constant;   /* it is an enumeration's */
};
struct declared find_declared(const struct source *s, int before, const struct token *name);

/* The type that tokens [at, end) begin with, *behind it; TYPE_NONE with *behind == at: none. */
enum type read_type(const struct source *s, int at, int end, int *behind);

/* ---- the body in the dialect (kernels_body.c) ---- */

/* A name of the user's that the body uses. */
struct name {
    struct token token; /* where it is used first */
    enum type type;
    enum { NAME_SCALAR, NAME_ARRAY, NAME_LOCAL, NAME_LOOP, NAME_SUM } role;
    int dimensions; /* of an array */
    int written;
};

/* A function under declare target that the body calls. */
struct function {
    struct token name;
    int begin, open, brace, end; /* tokens: its type, (, {, behind } */
    enum type type;
};

struct body {
    struct source *s;
    int number; /* of the loop: in the names that are made */
    int before; /* token before which names are declared */
    struct name *name;
    int names;
    struct function *function;
    int functions;
    struct text out;
    int continues;   /* it has a continue of the loop that is shared out */
    int in_function; /* return is fine, and other names than its own are not */
    int depth, inner;
};

/* Tokens [at, end), a statement, in the dialect to body->out; names that it uses to body->name. */
void body_statement(struct body *b, int at, int end);
/* All functions, each before those that call it: declarations, then definitions. `how` stands
 * before each of them. */
void body_functions(struct body *b, const char *how, struct text *out);
/* A name that is the body's own from here on. */
void body_add(struct body *b, const struct token *name, enum type type, int role);

/* A line of the preprocessor, as it leaves them anywhere. */
int is_line_mark(const struct source *s, const struct token *t);

/* ---- kernel files (kernel_file.c) ---- */

/* What the compiler gets for NAME.kernel.c: its kernels for the emulated device, its text for the
 * others. `folder`: where evener/kernel.h is. NULL and a message: it cannot be made. */
char *kernel_file(const char *name, const char *folder, int contract);
/* The dialect's header as text; NULL and a message: there is none. */
char *kernel_dialect(const char *folder);
/* As a C string, over several lines. */
void put_string(struct text *out, const char *text);

#endif
