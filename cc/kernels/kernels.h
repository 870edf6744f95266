/* Kernels made from loops (--kernels): #pragma omp target teams distribute parallel for on a
 * perfect nest of canonical loops becomes a kernel of the dialect (docs/kernels.md) for GPU units
 * and a parallel for with the unit's cores for CPU units. It is no translator of C: what is not in
 * the subset is refused. Text is preprocessed. */
#pragma once

#include "c/loop.h"

/* Whether a text may have such a directive; quick. `ordinary`: those of parallel, too. */
int kernels_worth(const char *text, int ordinary);
/* Whether the directive is a target region, of which a kernel is to be made. */
int kernels_ours(const struct source *s, const struct directive *d);
/* Rewrites it and its loops, which begin at token `at`; the token behind them. */
int kernels_loop(struct source *s, struct directive *d, int at, int to);

/* kernels_loop() of a directive whose clauses have been read. */
int kernels_shared_loop(struct source *s, struct directive *d, int at, int to);

/* A region of several loops: each that is shared out becomes a kernel (region.c). Whether the
 * directive before token `at` is one's; the token behind it. */
int kernels_region_here(struct source *s, const struct directive *d, int at, int to);
int kernels_region(struct source *s, struct directive *d, int at, int to);

/* target data, enter data, exit data, update, before token `at`: 0: it is none; above 0: the number
 * of a block, whose end kernels_data_end() is to write (map.c). */
int kernels_data(struct source *s, const struct directive *d, int at, int to);
void kernels_data_end(struct source *s, int number, int behind);

/* ---- types (types.c) ---- */

/* Numbers; from TYPE_STRUCTURE on, structures of the file. */
enum type {
    TYPE_NONE,
    TYPE_VOID,
    TYPE_BOOL,
    TYPE_CHAR,
    TYPE_SCHAR,
    TYPE_UCHAR,
    TYPE_SHORT,
    TYPE_USHORT,
    TYPE_INT,
    TYPE_UINT,
    TYPE_LONG,
    TYPE_ULONG,
    TYPE_FLOAT,
    TYPE_DOUBLE,
    TYPE_STRUCTURE
};

/* A type with what is around it, the outermost first: the token [ of an array, or 0 for a pointer.
 */
enum { LEVELS = 8 };
struct shape {
    enum type type; /* TYPE_NONE: none that kernels have */
    int levels, open[LEVELS];
};

/* Structures are known, by numbers of their own, between the two. */
void layouts_open(struct source *s, int number);
void layouts_close(struct source *s);

/* "int", "evn_cu_int", "double", "struct evn_1_s0" */
const char *type_name(const struct source *s, enum type type);
int type_is_number(enum type type);
int type_is_real(enum type type);
/* A number, or a structure whose members are numbers and arrays of constant sizes of them. */
int type_is_plain(const struct source *s, enum type type);
/* 1, 2, 4 or 8; of a plain one. */
int type_alignment(const struct source *s, enum type type);

/* Type at the beginning of tokens [at, end); *behind: the token after it, `at` where there is no
 * type. */
struct shape read_shape(const struct source *s, int at, int end, int *behind);
/* The same; TYPE_NONE where it is an array or a pointer by its typedef. */
enum type read_type(const struct source *s, int at, int end, int *behind);
/* The shape of the name at token `name`, whose declarator is in [begin, end), from that of its
 * base; 0: it is a function, or of too many levels. */
int read_declarator(const struct source *s, int name, int begin, int end, struct shape *shape);
/* A member of a structure; 0: there is none of a shape. */
int find_member(const struct source *s, enum type type, const struct token *name,
                struct shape *shape);
/* Elements of an array whose sizes are numbers, from level `first` on; 0: they are not. */
long shape_count(const struct source *s, const struct shape *shape, int first);
/* "[3] [5] " */
void put_sizes(const struct source *s, struct text *out, const struct shape *shape, int first);
/* Definitions of all plain structures that were asked for. */
void put_layouts(const struct source *s, struct text *out);
/* A condition, true where the compiler sees the structure `of` laid out as it was read. */
void put_layout_checks(const struct source *s, struct text *out, enum type type, const char *of);
/* A condition, true where an expression is of the type. */
void put_same_type(const struct source *s, struct text *out, enum type type, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));

int is_qualifier(const struct source *s, int at);
int is_reference(const struct source *s, int at);
int is_keyword(const struct source *s, int at);

/* ---- declarations (names.c) ---- */

/* Nearest declaration of a name before token `before`. */
struct declared {
    int at;             /* the token that declares it; -1: none is found */
    struct shape shape; /* TYPE_NONE: none that kernels have */
    int constant;       /* it is an enumeration's */
};
struct declared find_declared(const struct source *s, int before, const struct token *name);

/* A line of the preprocessor, as it leaves them anywhere. */
int is_line_mark(const struct source *s, const struct token *t);

/* ---- directives (directive.c) ---- */

/* Reads words and clauses of a target region from its lines, which end before token *at. 0 and
 * messages: it is none of a loop. */
int kernels_read(struct source *s, struct directive *d, int *at, int to);
/* Clauses from token `first` of the directive on. */
void kernels_clauses(struct source *s, struct directive *d, int first);
void kernels_add_clause(struct directive *d, struct clause c);
/* Whether words of the line stand in it, outside of parentheses. */
int kernels_has(const struct source *s, const struct directive *d, const char *word);
/* A parallel for within the region, which token `at` is; 0: it is another line. Its clauses. */
int kernels_inner(struct source *s, int at, struct directive *d);
/* Replaces an inner directive where the loop runs on the host: it gets no team of its own. */
void kernels_put_inner(struct source *s, const struct directive *d);
/* The n of collapse(n), or 1. */
int kernels_collapse(struct source *s, const struct directive *d);

/* ---- the body in the dialect (body.c) ---- */

/* Operation of a reduction. */
enum combine { BY_SUM, BY_PRODUCT, BY_MIN, BY_MAX, BY_AND, BY_OR, BY_XOR };

/* A name that the body uses: the user's, or members of a variable of the user's. */
struct name {
    struct token token; /* where it is used first */
    char *id, *text;    /* what stands for it in names that are made; as the user has written it */
    struct shape shape;
    enum { NAME_SCALAR, NAME_ARRAY, NAME_LOCAL, NAME_LOOP, NAME_SUM } role;
    enum combine by; /* of NAME_SUM */
    int dimensions;  /* subscripts of an array, all of them */
    int written;
    int member;    /* the variable's member, read before the loop */
    int by_arrow;  /* by way of a pointer */
    int in_memory; /* an array whose address is taken */
    int pointer;   /* a pointer of the body's own */
    int device;    /* to the device's memory */
    int parameter; /* of a function */
    int flows;     /* pointers of the body's own may point to it */
    int first;     /* of firstprivate */
};

/* A function that the body calls, for one way of its pointers. */
struct function {
    struct token name;
    int begin, open, brace, end; /* tokens: its type, (, {, behind } */
    unsigned device;             /* parameters that point to the device's memory */
    unsigned pointers, written;  /* that point; that are written through */
    int done;                    /* 0: it is being read */
    enum type type;
    char *id;
};

struct functions {
    struct function *at;
    int count;
    struct text heads, bodies;
    unsigned long long math[2]; /* of math.h, as bits: of double, of float */
    unsigned swaps;             /* types that atomic exchanges, as bits */
};

struct body {
    struct source *s;
    int number; /* of the loop: in the names that are made */
    int before; /* token before which names are declared */
    int end;    /* token behind what is read */
    struct name *name;
    int names, members;
    struct functions *functions;
    struct text out;
    int continues;  /* it has a continue of the loop that is shared out */
    int *assertion; /* tokens: the texts of its assertions */
    int asserts;
    int in_function; /* return is fine, and other names than its own are not */
    int depth, inner;
    int behind;   /* of what body_clothes() has read */
    int pointing; /* a pointer is expected here: 1 for a variable of its own, 2 for a function
                   * that reads by it, 3 for one that writes */
    int pointer_written; /* something is written through a pointer of its own */
};

/* Tokens [at, end), a statement, in the dialect to body->out; names that it uses to body->name. */
void body_statement(struct body *b, int at, int end);
/* A name that is the body's own from here on. */
struct name *body_add(struct body *b, const struct token *name, struct shape shape, int role);
/* After the last statement: arrays that pointers of the body lead to are written if one of these is
 * written through. */
void body_settle(struct body *b);
void body_close(struct body *b);

/* In C++: what `auto` is of a value that begins at `at`, by the usual conversions; TYPE_NONE: it is
 * none whose type is plain to see. (infer.c) */
enum type body_type(struct body *b, int at, int end);
/* Reads C++ forms that have a C equivalent: static_cast<double>(x), double(x), std::min(x, y),
 * std::sqrt(x). Returns the token behind, or `at`. (infer.c) */
int body_clothes(struct body *b, int at, int end);

/* Type of the result of a function of the file, whose name is token `at`; TYPE_NONE: no number, or
 * no such function. */
enum type function_type(const struct body *b, int at);
/* A call that begins at `at`; the token behind what was read of it. (calls.c) */
int body_call(struct body *b, int at, int end);
void functions_close(struct functions *f);

/* ---- math.h (math.c) ---- */

struct math {
    int row;    /* -1: none that kernels have */
    int single; /* of float */
};
struct math math_find(const struct source *s, const struct token *t);
struct math math_named(const char *name, int single);
int math_is_of_double(struct math m);
int math_is_named(struct math m, const char *name);
/* Puts the function's name in the dialect to b->out, and notes that it is used. */
void math_use(struct body *b, const struct token *t, struct math m);
/* Definitions of those used, but for those that were there before. */
void math_put(const struct source *s, struct text *out, const unsigned long long used[2],
              const unsigned long long had[2], int host);
/* Once a file: the functions whose bits are each device's own. */
void math_warn(struct source *s);

/* atomic at token `at` and its statement; the token behind them (atomic.c). */
int body_atomic(struct body *b, int at, int end);
/* Definitions of what it calls. */
void atomic_put(const struct source *s, struct text *out, unsigned swaps, int host);
/* The shape of a variable with subscripts, members or a * before it, in all of [at, end); 0: it is
 * something else. */
int body_shape(struct body *b, int at, int end, struct shape *shape);

/* Functions of body.c for calls.c. */
struct name *body_find(struct body *b, const struct token *t);
void body_expression(struct body *b, int at, int end);
int body_to_comma(const struct body *b, int at, int end);
/* Where the pointer that tokens [at, end) are points: 1 to the device's memory, 0 to variables of
 * the body's own, -1 to neither. */
int body_points(struct body *b, int at, int end);

/* ---- kernel files (file.c) ---- */

/* The file that the compiler gets for NAME.kernel.c: its kernels for the emulated device, its text
 * for the others. `folder`: where evener/kernel.h is. NULL and a message: it cannot be made. */
char *kernel_file(const char *name, const char *folder, int contract);
/* The dialect's header as text, with its functions of math.h where `same`; NULL and a message:
 * there is none. */
char *kernel_dialect(const char *folder, int same);
/* As a C string, over several lines. */
void put_string(struct text *out, const char *text);
