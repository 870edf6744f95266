/* FNV-1a: a 64-bit hash for telling runs and files apart, not against attacks.
 *
 * The seed is not the one of its authors (a digit was lost once), and stays: it is in identities of
 * checkpoints and in hashes of records. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HASH_SEED UINT64_C(1469598103934665603)

/* One byte, or a word as a whole. */
static inline uint64_t hash_word(uint64_t hash, uint64_t word) {
    return (hash ^ word) * UINT64_C(1099511628211);
}

static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++) hash = hash_word(hash, p[i]);
    return hash;
}
