/* Nodes of a list of blocks, and the tree's upper part. */
#include "tdbem/summation/summation_tree.h"
#include <string.h>

int summation_nodes(int count, const int *block, int max, struct summation_node *node) {
    int nodes = 0;
    for (int i = 0, size; i < count; i += size, nodes++) {
        size = 1;
        while (2 * size <= max && block[i] % (2 * size) == 0 && i + 2 * size <= count &&
               block[i + 2 * size - 1] == block[i] + 2 * size - 1)
            size *= 2;
        for (int k = 1; k < size; k++) node[block[i + k]].span = 0;
        node[block[i]].span = size;
    }
    return nodes;
}

/* Sums are made a piece of this many elements at a time, so that partial sums of all levels stay in
 * the first cache. */
enum { PIECE = 256, LEVELS = 32 };

#define DEFINE(real)                                                                               \
    static void add_##real(real *left, const real *right, size_t count) {                          \
        for (size_t i = 0; i < count; i++) left[i] += right[i];                                    \
    }                                                                                              \
    /* Elements at .. at+n-1 of the sum of blocks first .. end-1, in node[0]. */                   \
    static void piece_##real(int first, int end, const struct summation_node *part, size_t at,     \
                             size_t n, real node[LEVELS][PIECE]) {                                 \
        int span[LEVELS], depth = 0;                                                               \
        for (int b = first; b < end; b += part[b].span) {                                          \
            const real *s = (const real *)part[b].sums + at;                                       \
            int size = part[b].span;                                                               \
            for (; depth && span[depth - 1] == size; size *= 2) {                                  \
                real *left = node[--depth];                                                        \
                add_##real(left, s, n);                                                            \
                s = left;                                                                          \
            }                                                                                      \
            if (s != node[depth]) memcpy(node[depth], s, n * sizeof *s);                           \
            span[depth++] = size;                                                                  \
        }                                                                                          \
        for (; depth > 1; depth--) add_##real(node[depth - 2], node[depth - 1], n);                \
    }                                                                                              \
    static void total_##real(int blocks, const struct summation_node *part, size_t from,           \
                             size_t to, double *total) {                                           \
        real node[LEVELS][PIECE];                                                                  \
        for (size_t at = from; at < to; at += PIECE) {                                             \
            const size_t n = to - at < PIECE ? to - at : PIECE;                                    \
            piece_##real(0, blocks, part, at, n, node);                                            \
            for (size_t i = 0; i < n; i++) total[at + i] = (double)node[0][i];                     \
        }                                                                                          \
    }                                                                                              \
    static void join_##real(int first, int end, const struct summation_node *part, size_t from,    \
                            size_t to, real *out) {                                                \
        real node[LEVELS][PIECE];                                                                  \
        for (size_t at = from; at < to; at += PIECE) {                                             \
            const size_t n = to - at < PIECE ? to - at : PIECE;                                    \
            piece_##real(first, end, part, at, n, node);                                           \
            memcpy(out + (at - from), node[0], n * sizeof *out);                                   \
        }                                                                                          \
    }
DEFINE(float)
DEFINE(double)

void summation_total(const struct layout *a, const struct summation_node *node, size_t from,
                     size_t to, double *total) {
    if (a->is.single)
        total_float(a->blocks, node, from, to, total);
    else
        total_double(a->blocks, node, from, to, total);
}

void summation_join(const struct layout *a, const struct summation_node *node, int first, int span,
                    size_t from, size_t to, void *out) {
    if (a->is.single)
        join_float(first, first + span, node, from, to, out);
    else
        join_double(first, first + span, node, from, to, out);
}

void summation_add(const struct layout *a, void *left, const void *right, size_t count) {
    if (a->is.single)
        add_float(left, right, count);
    else
        add_double(left, right, count);
}
