/* The cache of compiled kernels: one file a key, checked before it is used.
 *
 * Hash: two sums of 64 bits run over the bytes; each byte is mixed in by exclusive or, a
 * multiplication with an odd constant and a rotation (constants and rotations of the two differ),
 * and at the end high bits are folded into low ones. It finds damage and tells texts apart; it is
 * no defence against somebody who wants two texts to collide, who could as well write into the
 * cache.
 */
#include "device/cache.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct hash {
    uint64_t sum[2];
};

static const char magic[16] = "evener kernel 1";

/* What a file begins with. All of it is bytes, so nothing lies between. */
struct header {
    char magic[16];
    unsigned char key[16], check[16], size[8];
};

static uint64_t rotate(uint64_t a, int by) { return a << by | a >> (64 - by); }

static void hash_start(struct hash *h) {
    h->sum[0] = 0x243f6a8885a308d3; /* digits of pi */
    h->sum[1] = 0x13198a2e03707344;
}

static void hash_add(struct hash *h, const void *data, size_t size) {
    const unsigned char *byte = data;
    uint64_t a = h->sum[0], b = h->sum[1];
    for (size_t i = 0; i < size; i++) {
        a = rotate((a ^ byte[i]) * 0x9e3779b97f4a7c15, 29); /* 2^64 / golden ratio */
        b = rotate((b ^ byte[i]) * 0xd1b54a32d192ed03, 37); /* 2^64 / plastic number, made odd */
    }
    h->sum[0] = a;
    h->sum[1] = b;
}

static void put_number(unsigned char *to, uint64_t a) {
    for (int i = 0; i < 8; i++) to[i] = (unsigned char)(a >> (8 * i));
}

static void hash_end(const struct hash *h, unsigned char out[16]) {
    for (int s = 0; s < 2; s++) {
        uint64_t a = h->sum[s] ^ rotate(h->sum[1 - s], 17);
        a = (a ^ a >> 32) * 0x9e3779b97f4a7c15;
        a = (a ^ a >> 29) * 0xd1b54a32d192ed03;
        put_number(out + 8 * s, a ^ a >> 32);
    }
}

static void hash_of(const void *data, size_t size, unsigned char out[16]) {
    struct hash h;
    hash_start(&h);
    hash_add(&h, data, size);
    hash_end(&h, out);
}

struct cache_key cache_key(const char *const *part, int parts) {
    struct cache_key key;
    struct hash h;
    hash_start(&h);
    /* with the zero at its end, which is in no string: so where one ends counts */
    for (int i = 0; i < parts; i++) hash_add(&h, part[i], strlen(part[i]) + 1);
    hash_end(&h, key.byte);
    return key;
}

/* The folder, without a slash at its end; 0 if there is to be no cache or its name is too long. */
static int folder(char *out, size_t size) {
    const char *own = getenv("EVENER_CACHE"), *base;
    int n;
    if (own)
        n = snprintf(out, size, "%s", own);
    else if ((base = getenv("XDG_CACHE_HOME")) && *base)
        n = snprintf(out, size, "%s/evener", base);
    else if ((base = getenv("HOME")) && *base)
        n = snprintf(out, size, "%s/.cache/evener", base);
    else
        return 0;
    return n > 0 && (size_t)n < size;
}

static int file_name(char *out, size_t size, const char *in, struct cache_key key) {
    char hex[33];
    for (int i = 0; i < 16; i++) snprintf(hex + 2 * i, 3, "%02x", key.byte[i]);
    int n = snprintf(out, size, "%s/%s.bin", in, hex);
    return n > 0 && (size_t)n < size;
}

static int read_whole(int file, void *to, size_t size) {
    for (char *p = to; size;) {
        ssize_t got = read(file, p, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        p += got;
        size -= (size_t)got;
    }
    return 1;
}

static int write_whole(int file, const void *from, size_t size) {
    for (const char *p = from; size;) {
        ssize_t put = write(file, p, size);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return 0;
        p += put;
        size -= (size_t)put;
    }
    return 1;
}

static void make_header(struct header *h, struct cache_key key, const void *data, size_t size) {
    memcpy(h->magic, magic, sizeof magic);
    memcpy(h->key, key.byte, sizeof h->key);
    hash_of(data, size, h->check);
    put_number(h->size, size);
}

int cache_read(struct cache_key key, void **data, size_t *size) {
    char in[3072], name[4096];
    if (!folder(in, sizeof in) || !file_name(name, sizeof name, in, key)) return 0;
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    struct header found, expected;
    struct stat about;
    void *content = NULL;
    int whole = 0;
    if (!fstat(file, &about) && S_ISREG(about.st_mode) && about.st_size > (off_t)sizeof found &&
        read_whole(file, &found, sizeof found)) {
        size_t rest = (size_t)about.st_size - sizeof found;
        content = malloc(rest);
        if (content && read_whole(file, content, rest)) {
            make_header(&expected, key, content, rest);
            whole = !memcmp(&found, &expected, sizeof found);
        }
        if (whole) {
            *data = content;
            *size = rest;
        }
    }
    close(file);
    if (!whole) free(content);
    return whole;
}

/* mkdir -p; whether it worked is seen when a file is made in there */
static void make_folders(const char *name) {
    char part[3072];
    snprintf(part, sizeof part, "%s", name);
    for (char *c = part + 1; *c; c++)
        if (*c == '/') {
            *c = 0;
            mkdir(part, 0777);
            *c = '/';
        }
    mkdir(part, 0777);
}

void cache_write(struct cache_key key, const void *data, size_t size) {
    char in[3072], name[4096], beside[4096 + 8];
    if (!size || !folder(in, sizeof in) || !file_name(name, sizeof name, in, key)) return;
    make_folders(in);
    snprintf(beside, sizeof beside, "%s.XXXXXX", name);
    int file = mkstemp(beside);
    if (file < 0) return;
    struct header h;
    make_header(&h, key, data, size);
    int written = write_whole(file, &h, sizeof h) && write_whole(file, data, size);
    /* others may use the cache if the folder lets them in */
    written = written && !fchmod(file, 0644);
    if (close(file) || !written || rename(beside, name)) unlink(beside);
}
