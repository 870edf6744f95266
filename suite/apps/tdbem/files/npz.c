/* Archives of arrays. */
#include "tdbem/files/npz.h"
#include <string.h>

/* CRC-32 of ZIP, four bits at a time; `sum` is that of the bytes before. */
static uint32_t crc(uint32_t sum, const void *data, size_t bytes) {
    static const uint32_t part[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                      0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                      0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const unsigned char *byte = data;
    sum = ~sum;
    for (size_t i = 0; i < bytes; i++) {
        sum = part[(sum ^ byte[i]) & 15] ^ sum >> 4;
        sum = part[(sum ^ byte[i] >> 4) & 15] ^ sum >> 4;
    }
    return ~sum;
}

static void put(struct npz *z, const void *data, size_t bytes) {
    if (bytes) fwrite(data, 1, bytes, z->out);
    z->at += (uint32_t)bytes;
}

/* The low `bytes` of a number. */
static void put_number(struct npz *z, uint32_t number, int bytes) {
    unsigned char low[4];
    for (int i = 0; i < bytes; i++) low[i] = (unsigned char)(number >> 8 * i);
    put(z, low, (size_t)bytes);
}

/* What an entry has in front of its data and in the directory. */
static void put_entry(struct npz *z, int f) {
    put_number(z, 20, 2); /* of version 2.0 */
    put_number(z, 0, 2);
    put_number(z, 0, 2);          /* stored */
    put_number(z, 0x21 << 16, 4); /* the earliest time: 1980-01-01 */
    put_number(z, z->file[f].sum, 4);
    put_number(z, z->file[f].size, 4);
    put_number(z, z->file[f].size, 4);
    put_number(z, (uint32_t)strlen(z->file[f].name), 2);
    put_number(z, 0, 2);
}

void npz_open(struct npz *z, FILE *out) { *z = (struct npz){.out = out}; }

void npz_add(struct npz *z, const char *name, enum npz_kind kind, int dimensions,
             const size_t *shape, const void *data) {
    static const struct {
        const char *type;
        size_t bytes;
    } kinds[] = {{"<f8", 8}, {"<c16", 16}, {"<i4", 4}};
    char head[192] = "\x93NUMPY\x01";
    enum { BEFORE = 10, HEAD = 128 };
    size_t bytes = kinds[kind].bytes;
    int n = snprintf(head + BEFORE, sizeof head - BEFORE,
                     "{'descr': '%s', 'fortran_order': False, 'shape': (", kinds[kind].type);
    for (int d = 0; d < dimensions; d++) {
        n += snprintf(head + BEFORE + n, sizeof head - BEFORE - (size_t)n, "%zu,", shape[d]);
        bytes *= shape[d];
    }
    n += snprintf(head + BEFORE + n, sizeof head - BEFORE - (size_t)n, "), }");
    memset(head + BEFORE + n, ' ', (size_t)(HEAD - BEFORE - n));
    head[HEAD - 1] = '\n';
    head[8] = HEAD - BEFORE;
    const int f = z->count++;
    snprintf(z->file[f].name, NPZ_NAME, "%s.npy", name);
    z->file[f].at = z->at;
    z->file[f].size = (uint32_t)(HEAD + bytes);
    z->file[f].sum = crc(crc(0, head, HEAD), data, bytes);
    put_number(z, 0x04034b50, 4);
    put_entry(z, f);
    put(z, z->file[f].name, strlen(z->file[f].name));
    put(z, head, HEAD);
    put(z, data, bytes);
}

void npz_close(struct npz *z) {
    const uint32_t begin = z->at;
    for (int f = 0; f < z->count; f++) {
        put_number(z, 0x02014b50, 4);
        put_number(z, 20, 2);
        put_entry(z, f);
        put_number(z, 0, 4);
        put_number(z, 0, 2);
        put_number(z, 0, 4);
        put_number(z, z->file[f].at, 4);
        put(z, z->file[f].name, strlen(z->file[f].name));
    }
    const uint32_t bytes = z->at - begin;
    put_number(z, 0x06054b50, 4);
    put_number(z, 0, 4);
    put_number(z, (uint32_t)z->count, 2);
    put_number(z, (uint32_t)z->count, 2);
    put_number(z, bytes, 4);
    put_number(z, begin, 4);
    put_number(z, 0, 2);
}
