/* The cache of compiled kernels: one file a key, verified before use.
 *
 * Hash: two 64-bit sums over the bytes; each byte is mixed in by exclusive or, a multiplication
 * with an odd constant and a rotation (different for the two), and finally high bits are folded
 * into low ones. It detects damage and distinguishes texts; it is no defence against deliberate
 * collisions: that is the folder, which must be the user's own. */
#include "device/cache.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_NAME = 3072, FILE_NAME = 40 };

struct hash {
    uint64_t sum[2];
};

static const char magic[16] = "evener kernel 1";

/* Header of a file, of bytes only, so without padding. */
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
    /* includes the string's final 0, so that the division into strings counts */
    for (int i = 0; i < parts; i++) hash_add(&h, part[i], strlen(part[i]) + 1);
    hash_end(&h, key.byte);
    return key;
}

/* ---- the folder ---- */

/* The folder's name, without a slash at its end; 0 if there is to be no cache or its name is too
 * long. A relative base counts as none, as the XDG specification has it: it would depend on the
 * folder that a program is started in. */
static int folder_name(char *out, size_t size) {
    const char *own = secure_getenv("EVENER_CACHE"), *base;
    int n;
    if (own)
        n = snprintf(out, size, "%s", own);
    else if ((base = secure_getenv("XDG_CACHE_HOME")) && *base == '/')
        n = snprintf(out, size, "%s/evener", base);
    else if ((base = secure_getenv("HOME")) && *base == '/')
        n = snprintf(out, size, "%s/.cache/evener", base);
    else
        return 0;
    return n > 0 && (size_t)n < size;
}

/* mkdir -p with mode 0700; success is checked on opening */
static void make_folders(const char *name) {
    char part[FOLDER_NAME];
    snprintf(part, sizeof part, "%s", name);
    for (char *c = part + 1; *c; c++)
        if (*c == '/') {
            *c = 0;
            mkdir(part, 0700);
            *c = '/';
        }
    mkdir(part, 0700);
}

/* 1 if only this user (or root) can have written it: drivers crash on anything but a compiler's
 * output. */
static int is_ours(const struct stat *about) {
    return about->st_uid == geteuid() && !(about->st_mode & (S_IWGRP | S_IWOTH));
}

static void say_once(const char *name, const struct stat *about) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&said)) return;
    const int foreign = about->st_uid != geteuid();
    fprintf(stderr,
            "evener: device: kernels are not kept in %s, %s; expected a folder of your own that "
            "only you can write (chmod go-w), or EVENER_CACHE= for none\n",
            name, foreign ? "which is somebody else's" : "into which others can write");
}

/* Opens the folder; -1: it does not exist, or must not be used. */
static int open_folder(int make) {
    char name[FOLDER_NAME];
    struct stat about;
    if (!folder_name(name, sizeof name)) return -1;
    if (make) make_folders(name);
    const int folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return -1;
    if (!fstat(folder, &about)) {
        if (is_ours(&about)) return folder;
        say_once(name, &about);
    }
    close(folder);
    return -1;
}

static void file_name(char out[FILE_NAME], struct cache_key key) {
    for (int i = 0; i < 16; i++) snprintf(out + 2 * i, 3, "%02x", key.byte[i]);
    strcpy(out + 32, ".bin");
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

/* The file's content after a valid header; NULL. */
static void *read_content(int file, struct cache_key key, int must_be_ours, size_t *size) {
    struct header found, expected;
    struct stat about;
    if (fstat(file, &about) || !S_ISREG(about.st_mode) || (must_be_ours && !is_ours(&about)) ||
        about.st_size <= (off_t)sizeof found || !read_whole(file, &found, sizeof found))
        return NULL;
    *size = (size_t)about.st_size - sizeof found;
    void *content = malloc(*size);
    if (content && read_whole(file, content, *size)) {
        make_header(&expected, key, content, *size);
        if (!memcmp(&found, &expected, sizeof found)) return content;
    }
    free(content);
    return NULL;
}

/* Reads and verifies the file `name` of the cache folder. */
static void *read_named(int folder, const char *name, struct cache_key key, size_t *size) {
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    void *content = file < 0 ? NULL : read_content(file, key, 1, size);
    if (file >= 0) close(file);
    return content;
}

int cache_read(struct cache_key key, void **data, size_t *size) {
    char name[FILE_NAME];
    const int folder = open_folder(0);
    if (folder < 0) return 0;
    file_name(name, key);
    size_t rest;
    void *content = read_named(folder, name, key, &rest);
    close(folder);
    if (!content) return 0;
    *data = content;
    *size = rest;
    return 1;
}

/* 1 if the file's data begin with the mark; *key: the file's key. */
static int is_marked(int folder, const char *name, struct cache_key mark, struct cache_key *key) {
    struct {
        struct header head;
        unsigned char mark[16];
    } start;
    char expected[FILE_NAME];
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const int has = file >= 0 && read_whole(file, &start, sizeof start) &&
                    !memcmp(start.mark, mark.byte, sizeof mark.byte);
    if (file >= 0) close(file);
    if (!has) return 0;
    memcpy(key->byte, start.head.key, sizeof key->byte);
    file_name(expected, *key);
    return !strcmp(name, expected);
}

int cache_find(struct cache_key mark, void **data, size_t *size) {
    struct cache_key key;
    const int folder = open_folder(0);
    DIR *list = folder < 0 ? NULL : fdopendir(folder);
    void *content = NULL;
    size_t rest = 0;
    for (struct dirent *e; list && !content && (e = readdir(list));)
        if (strlen(e->d_name) == FILE_NAME - 4 && is_marked(folder, e->d_name, mark, &key))
            content = read_named(folder, e->d_name, key, &rest);
    if (list)
        closedir(list);
    else if (folder >= 0)
        close(folder);
    if (!content) return 0;
    *data = content;
    *size = rest;
    return 1;
}

/* Creates a temporary file beside `name`, and writes its name to `beside`; -1. */
static int make_beside(int folder, const char *name, char beside[FILE_NAME + 32]) {
    static atomic_uint calls;
    for (int i = 0; i < 100; i++) {
        snprintf(beside, FILE_NAME + 32, "%s.%lx.%x", name, (unsigned long)getpid(),
                 atomic_fetch_add(&calls, 1));
        /* the user's umask reduces the mode */
        const int file = openat(folder, beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

static int write_and_close(int file, struct cache_key key, const void *data, size_t size) {
    struct header h;
    make_header(&h, key, data, size);
    const int written = write_whole(file, &h, sizeof h) && write_whole(file, data, size);
    return !close(file) && written;
}

void cache_write(struct cache_key key, const void *data, size_t size) {
    char name[FILE_NAME], beside[FILE_NAME + 32];
    const int folder = size ? open_folder(1) : -1;
    if (folder < 0) return;
    file_name(name, key);
    const int file = make_beside(folder, name, beside);
    if (file >= 0 &&
        (!write_and_close(file, key, data, size) || renameat(folder, beside, folder, name)))
        unlinkat(folder, beside, 0);
    close(folder);
}

int cache_is_there(void) {
    const int folder = open_folder(0);
    if (folder >= 0) close(folder);
    return folder >= 0;
}

int cache_read_file(const char *name, struct cache_key key, void **data, size_t *size) {
    const int file = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    size_t rest;
    void *content = read_content(file, key, 0, &rest);
    close(file);
    if (!content) return -1;
    *data = content;
    *size = rest;
    return 1;
}

int cache_write_file(const char *name, struct cache_key key, const void *data, size_t size) {
    const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file >= 0 && write_and_close(file, key, data, size)) return 1;
    if (file >= 0) unlink(name);
    return 0;
}
