/* Space-filling curves: the vertices sorted by their place on one; and a tour, which begins as one.
 */
#include "tdbem/mesh/numbering.h"
#include "tdbem/mesh/tour.h"
#include "common/run/free_all.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 20 };

evn_status numbering_find(enum numbering *out, const char *name) {
    static const char *const names[] = {"none", "morton", "hilbert", "tsp"};
    for (int n = 0; n < 4; n++)
        if (!strcmp(name, names[n])) {
            *out = (enum numbering)n;
            return EVN_OK;
        }
    return evn_fail(EVN_USAGE, "order: \"%s\", expected none, morton, hilbert or tsp", name);
}

/* bits of the three numbers in turn, from the highest; axis 0 first */
uint64_t numbering_morton(const uint32_t at[3]) {
    uint64_t key = 0;
    for (int b = BITS - 1; b >= 0; b--)
        for (int c = 0; c < 3; c++) key = key << 1 | (at[c] >> b & 1);
    return key;
}

/* Skilling, Programming the Hilbert curve, AIP Conf. Proc. 707 (2004): the axes are turned and
 * swapped bit by bit to the transposed index, whose bits in turn are the key. */
uint64_t numbering_hilbert(const uint32_t at[3]) {
    uint32_t x[3] = {at[0], at[1], at[2]};
    for (uint32_t bit = 1u << (BITS - 1); bit > 1; bit >>= 1) {
        const uint32_t low = bit - 1;
        for (int c = 0; c < 3; c++) {
            if (x[c] & bit) {
                x[0] ^= low;
            } else {
                uint32_t change = (x[0] ^ x[c]) & low;
                x[0] ^= change;
                x[c] ^= change;
            }
        }
    }
    /* Gray code */
    for (int c = 1; c < 3; c++) x[c] ^= x[c - 1];
    uint32_t turn = 0;
    for (uint32_t bit = 1u << (BITS - 1); bit > 1; bit >>= 1)
        if (x[2] & bit) turn ^= bit - 1;
    for (int c = 0; c < 3; c++) x[c] ^= turn;
    return numbering_morton(x);
}

struct keyed {
    uint64_t key;
    int number, vertex;
};

static int by_key(const void *a, const void *b) {
    const struct keyed *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return p->number - q->number;
}

evn_status mesh_renumber_in(struct mesh *m, enum numbering numbering, double size,
                            const double low[3]) {
    const size_t n = (size_t)m->vertices;
    struct keyed *key = malloc(n * sizeof *key);
    double(*x)[3] = malloc(n * sizeof *x);
    int *number = malloc(n * sizeof *number), *to = malloc(n * sizeof *to);
    int *from = malloc(n * sizeof *from);
    if (!key || !x || !number || !to || !from) {
        free_all(key, x, number, to, from);
        return evn_fail(EVN_MEMORY, "order: no memory for %d vertices", m->vertices);
    }
    for (int v = 0; v < m->vertices; v++) {
        uint32_t at[3];
        for (int c = 0; c < 3; c++)
            at[c] = (uint32_t)fmin((m->x[v][c] - low[c]) / size * (1 << BITS), (1 << BITS) - 1);
        uint64_t place = numbering == NUMBERING_NONE     ? 0
                         : numbering == NUMBERING_MORTON ? numbering_morton(at)
                                                         : numbering_hilbert(at);
        key[v] = (struct keyed){place, m->number[v], v};
    }
    qsort(key, n, sizeof *key, by_key);
    for (size_t v = 0; v < n; v++) from[v] = key[v].vertex;
    evn_status status = numbering == NUMBERING_TSP ? mesh_tour(m, from) : EVN_OK;
    for (size_t v = 0; v < n; v++) {
        memcpy(x[v], m->x[from[v]], sizeof *x);
        number[v] = m->number[from[v]];
        to[from[v]] = (int)v;
    }
    for (int t = 0; t < m->triangles; t++)
        for (int e = 0; e < 3; e++) m->corner[t][e] = to[m->corner[t][e]];
    memcpy(m->x, x, n * sizeof *x);
    memcpy(m->number, number, n * sizeof *number);
    free_all(key, x, number, to, from);
    return status;
}

evn_status mesh_renumber(struct mesh *m, enum numbering numbering) {
    double low[3], high[3], size = 0;
    mesh_bounds(m, low, high);
    for (int c = 0; c < 3; c++) size = fmax(size, high[c] - low[c]);
    return mesh_renumber_in(m, numbering, size, low);
}
