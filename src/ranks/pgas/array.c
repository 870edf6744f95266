/* Arrays in blocks: which rank has an element, and where. */
#include "pgas/inside.h"

size_t shared_array_bytes(const evn_shared_array *a, int rank, int ranks) {
    const long long blocks = a->count / a->block, rest = a->count % a->block;
    const long long own = blocks / ranks + (rank < blocks % ranks);
    return (size_t)(own * a->block + (rank == blocks % ranks ? rest : 0)) * a->bytes;
}

/* Blocks of at least one element, and one a rank where nothing is said. */
evn_status shared_array_settle(evn_shared_array *a, int ranks) {
    if (!a->count && !a->block && !a->bytes) return EVN_OK;
    if (a->count < 1 || a->block < 0 || a->bytes < 1)
        return evn_fail(EVN_USAGE,
                        "evn_shared_open(): an array of %lld elements of %zu bytes in blocks of "
                        "%lld, expected numbers above 0, and 0 or more for the block",
                        a->count, a->bytes, a->block);
    if (a->bytes > (size_t)1 << 56 || a->count > (1LL << 56) / (long long)a->bytes)
        return evn_fail(EVN_MEMORY, "evn_shared_open(): no memory for %lld elements of %zu bytes",
                        a->count, a->bytes);
    if (!a->block) a->block = (a->count + ranks - 1) / ranks;
    return EVN_OK;
}

/* 0, with a message: there is none. */
static int is_element(const evn_shared *s, const char *what, long long i, long long count) {
    if (s && i >= 0 && i < count) return 1;
    if (s)
        evn_fail(EVN_USAGE, "%s: element %lld of %lld", what, i, count);
    else
        evn_fail(EVN_USAGE, "%s: the shared memory is NULL", what);
    return 0;
}

int evn_shared_owner(const evn_shared *s, long long i, size_t *at) {
    if (!is_element(s, "evn_shared_owner()", i, s ? s->array.count : 0)) return -1;
    const long long block = s->array.block, round = i / block / s->size;
    if (at) *at = (size_t)(round * block + i % block) * s->array.bytes;
    return (int)(i / block % s->size);
}

int evn_shared_is_here(const evn_shared *s, long long i) {
    const int owner = evn_shared_owner(s, i, NULL);
    return owner < 0 ? -1 : owner == s->rank;
}

long long evn_shared_element(const evn_shared *s, long long k) {
    const long long own = s && s->array.count ? (long long)(s->bytes[s->rank] / s->array.bytes) : 0;
    if (!is_element(s, "evn_shared_element()", k, own)) return -1;
    const long long block = s->array.block;
    return (k / block * s->size + s->rank) * block + k % block;
}
