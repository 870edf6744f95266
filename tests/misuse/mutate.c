/* Mutation of arguments. */
#include "misuse/mutate.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

uint32_t dice_roll(struct dice *d) {
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = d->state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32);
}

int dice_below(struct dice *d, int n) { return (int)(dice_roll(d) % (uint32_t)n); }

/* ---- arrays -------------------------------------------------------------------------------- */

void call_begin(struct call *c, struct dice *dice) { *c = (struct call){.dice = dice}; }

void *call_array(struct call *c, const void *from, size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE),
                 size = (bytes + page - 1) / page * page + page;
    char *pages =
        mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || c->arrays == ARRAYS_MAX || mprotect(pages + size, page, PROT_NONE))
        abort();
    void *data = pages + size - bytes;
    if (from) memcpy(data, from, bytes);
    c->array[c->arrays].pages = pages;
    c->array[c->arrays].data = data;
    c->array[c->arrays].size = size + page;
    c->array[c->arrays++].bytes = bytes;
    return data;
}

void call_end(struct call *c) {
    for (int i = 0; i < c->arrays; i++) munmap(c->array[i].pages, c->array[i].size);
    c->arrays = c->fields = 0;
}

void call_field(struct call *c, enum field_kind kind, void *at, int count) {
    if (c->fields == FIELDS_MAX) abort();
    c->field[c->fields++] = (struct field){kind, at, count, 0};
}

void call_pointer(struct call *c, void *member, const void *array) {
    call_field(c, FIELD_POINTER, member, 1);
    memcpy(member, &array, sizeof array);
    for (int i = 0; i < c->arrays; i++)
        if (c->array[i].data == array) c->field[c->fields - 1].bytes = c->array[i].bytes;
}

void call_sizes(struct call *c, void *member, const void *array) {
    call_field(c, FIELD_POINTER, member, 1);
    memcpy(member, &array, sizeof array);
}

/* ---- values -------------------------------------------------------------------------------- */

static int any_int(struct dice *d, int old) {
    const int some[] = {INT_MIN, INT_MIN + 1, -2,      -1,         0,           1,
                        2,       7,           1 << 16, 2000000000, INT_MAX - 1, INT_MAX};
    const int n = sizeof some / sizeof *some, at = dice_below(d, n + 3);
    if (at < n) return some[at];
    return at == n ? (int)(old + 1u) : at == n + 1 ? (int)(old - 1u) : (int)dice_roll(d);
}

static long long any_long(struct dice *d, long long old) {
    const long long some[] = {LLONG_MIN, LLONG_MAX, LLONG_MAX / 8, LLONG_MIN / 8, 1LL << 61, -1, 0};
    const int n = sizeof some / sizeof *some, at = dice_below(d, n + 2);
    if (at < n) return some[at];
    return at == n ? any_int(d, (int)old) : (long long)((unsigned long long)old + 1);
}

/* None that there is memory for, and that takes long. */
static size_t any_size(struct dice *d, size_t old) {
    const size_t some[] = {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX / 2, (size_t)1 << 61,
                           0,        old + 1,      old - 1};
    return some[dice_below(d, sizeof some / sizeof *some)];
}

static double any_double(struct dice *d) {
    const double some[] = {NAN,    INFINITY, -INFINITY, -1,    -0.0,   0,
                           5e-324, DBL_MIN,  1e-300,    1e300, DBL_MAX};
    const int n = sizeof some / sizeof *some, at = dice_below(d, n + 1);
    return at < n ? some[at] : dice_below(d, 1000) / 7.0;
}

/* The number that a count becomes: arrays have no more. */
static int any_count(struct dice *d, int most) {
    const int some[] = {INT_MIN, -2, -1, 0, 1, most - 1, most};
    return some[dice_below(d, sizeof some / sizeof *some)];
}

static void mutate_ints(struct dice *d, int *at, int count) {
    const int i = dice_below(d, count), j = dice_below(d, count), old = at[i];
    switch (dice_below(d, 4)) {
    case 0: at[i] = at[j], at[j] = old; break; /* falls */
    case 1: at[i] = at[j]; break;              /* twice */
    default: at[i] = any_int(d, old);
    }
}

static void mutate_pointer(struct call *c, const struct field *f) {
    const int i = dice_below(c->dice, c->arrays + 1);
    const void *to = NULL;
    if (f->bytes && i < c->arrays && c->array[i].bytes >= f->bytes) to = c->array[i].data;
    memcpy(f->at, &to, sizeof to);
}

static void mutate_one(struct call *c, const struct field *f) {
    struct dice *d = c->dice;
    const int i = dice_below(d, f->count > 0 ? f->count : 1);
    switch (f->kind) {
    case FIELD_INT: mutate_ints(d, f->at, f->count); break;
    case FIELD_COUNT: *(int *)f->at = any_count(d, f->count); break;
    case FIELD_LONG: ((long long *)f->at)[i] = any_long(d, ((long long *)f->at)[i]); break;
    case FIELD_SIZE: ((size_t *)f->at)[i] = any_size(d, ((size_t *)f->at)[i]); break;
    case FIELD_DOUBLE: ((double *)f->at)[i] = any_double(d); break;
    case FIELD_BYTE: ((char *)f->at)[i] = (char)any_int(d, 0); break;
    case FIELD_POINTER: mutate_pointer(c, f); break;
    }
}

void call_mutate(struct call *c) {
    const int times = dice_below(c->dice, 3) ? 1 : 1 + dice_below(c->dice, 4);
    for (int i = 0; i < times; i++) mutate_one(c, &c->field[dice_below(c->dice, c->fields)]);
}
