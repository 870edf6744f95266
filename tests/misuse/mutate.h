/* Mutation of the arguments of a valid call: the fields of its structs and the contents of its
 * arrays are said once, and some of them then become what nobody gives on purpose. Arrays end where
 * memory does, so that a read beyond one is a fault. */
#ifndef MISUSE_MUTATE_H
#define MISUSE_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Random numbers, the same for each seed. */
struct dice {
    uint64_t state;
};
uint32_t dice_roll(struct dice *d);
int dice_below(struct dice *d, int n);

enum field_kind {
    FIELD_INT,
    FIELD_COUNT,
    FIELD_LONG,
    FIELD_SIZE,
    FIELD_DOUBLE,
    FIELD_BYTE,
    FIELD_POINTER
};

enum { FIELDS_MAX = 96, ARRAYS_MAX = 24 };

/* The fields of a call, and the memory of its arrays. */
struct call {
    struct dice *dice;
    int fields, arrays;
    struct field {
        enum field_kind kind;
        void *at;
        int count;    /* number of elements; of FIELD_COUNT: the largest that is right */
        size_t bytes; /* FIELD_POINTER: of the array that it points to */
    } field[FIELDS_MAX];
    struct {
        void *pages, *data;
        size_t size, bytes;
    } array[ARRAYS_MAX];
};

void call_begin(struct call *c, struct dice *dice);
/* An array of `bytes` whose end is that of readable memory; a copy of `from`, or (NULL) zeros. */
void *call_array(struct call *c, const void *from, size_t bytes);
void call_field(struct call *c, enum field_kind kind, void *at, int count);
/* A member that points to an array of call_array(): it becomes NULL or another array. Of sizes it
 * becomes NULL alone, since other contents may be sizes that there is memory for. */
void call_pointer(struct call *c, void *member, const void *array);
void call_sizes(struct call *c, void *member, const void *array);
/* Mutates one field or a few. */
void call_mutate(struct call *c);
void call_end(struct call *c);

#endif
