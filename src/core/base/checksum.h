/* Checksums by which ranks compare their arguments: FNV-1a of 64 bits. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CHECKSUM_BEGIN 0xcbf29ce484222325u

static inline uint64_t checksum_add(uint64_t sum, const void *data, size_t bytes) {
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++) sum = (sum ^ p[i]) * 0x100000001b3u;
    return sum;
}

/* Adds an array, and whether it is NULL, to a checksum. */
static inline uint64_t checksum_array(uint64_t sum, const void *data, size_t bytes) {
    const char given = data != NULL;
    sum = checksum_add(sum, &given, 1);
    return data ? checksum_add(sum, data, bytes) : sum;
}
