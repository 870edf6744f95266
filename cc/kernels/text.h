/* A loop of which a kernel is made, for kernels.c and text.c. */
#pragma once

#include "kernels.h"

enum { GROUP = 128, SUMS = 8, SMALL = 32 };

struct kernel {
    struct source *s;
    struct directive *d;
    struct nest nest;
    enum type type[8]; /* of the loops' variables */
    struct body body;
    struct functions functions;
    int triangular; /* inner loops of collapse are not shared out */
    int n, buffers;
    int sums[2];            /* of real numbers, of integers */
    struct directive inner; /* a parallel for whose loops are of the nest, too */
    int has_inner;
    struct text out;
};

#define LETTERS(k, t) token_length(t), token_letters((k)->s, t)
#define EACH(k, name_)                                                                             \
    for (const struct name *name_ = (k)->body.name; name_ < (k)->body.name + (k)->body.names;      \
         name_++)

/* Types of buffers, in the order of a kernel's parameters. */
#define KERNEL_TYPES                                                                               \
    {                                                                                              \
        TYPE_DOUBLE, TYPE_FLOAT, TYPE_LONG, TYPE_ULONG, TYPE_INT, TYPE_UINT, TYPE_SHORT,           \
            TYPE_USHORT, TYPE_CHAR, TYPE_SCHAR, TYPE_UCHAR                                         \
    }
enum { TYPES = 11 };

/* Whether the step is another one than 1. */
int loop_is_stepped(const struct loop *l);

/* An array in the device's memory, and the type whose buffer it lies in: structures lie in one of
 * numbers of their alignment. */
int kernel_is_array(const struct kernel *k, const struct name *n);
enum type kernel_unit(const struct kernel *k, const struct name *n);
int kernel_uses(const struct kernel *k, enum type type);
/* Elements of a small array of a structure's that is only read: it goes along with the values. 0:
 * it is another one. */
long kernel_by_value(const struct kernel *k, const struct name *n);
/* 1: the name's value is passed with the values. */
int kernel_is_told(const struct kernel *k, const struct name *n);
/* Whether a reduction begins with what the variable is: with it none is lost, and none counted
 * twice. */
int kernel_begins_with_itself(const struct name *n);

/* Generated text stands between kernels_quiet() and kernels_loud, where compilers do not warn of
 * it; kernels_put_line() says which line of the source the following text is from. */
const char *kernels_quiet(const struct source *s);
extern const char kernels_loud[];
void kernels_put_line(const struct source *s, struct text *out, int at);

/* Maps what the loop's clauses and declarations say of its arrays, until evn_cu_map_end(); how many
 * (map.c). */
int map_put_loop(struct kernel *k);

/* The kernel's text for devices; and for the emulated device, without macros. */
void kernel_put_device(struct kernel *k, struct text *out);
void kernel_put_host(struct kernel *k, struct text *out);
