/* Compiled kernels on disk: what a compiler made of a text is kept under the hash of everything it
 * was made from.
 *
 * The folder is $EVENER_CACHE, else $XDG_CACHE_HOME/evener, else $HOME/.cache/evener, where the two
 * last are told from the root on; EVENER_CACHE set but empty: no cache. It is made for its user
 * alone, and one that is somebody else's, or that others can write, is not used, which a line on
 * standard error says once; nor are such files. A file is written beside its place and renamed, so
 * that many processes may use one cache, and carries a header with key, size and checksum; one that
 * does not agree with its header is not used. That nothing can be read or written is no error: then
 * kernels are compiled.
 */
#ifndef DEVICE_CACHE_H
#define DEVICE_CACHE_H

#include <stddef.h>

struct cache_key {
    unsigned char byte[16];
};

/* The key of `parts` strings: source text, options, compiler and its version, architecture of the
 * device .. Where one string ends counts: "ab", "c" and "a", "bc" have different keys. No part is
 * NULL. */
struct cache_key cache_key(const char *const *part, int parts);

/* 1: found; *data (to be freed) and *size are what was written under this key. 0: not there, or not
 * whole. */
int cache_read(struct cache_key key, void **data, size_t *size);

void cache_write(struct cache_key key, const void *data, size_t size);

/* The same of any entry whose data begin with the bytes of `mark`, for who does not know its key;
 * it looks into all of them. */
int cache_find(struct cache_key mark, void **data, size_t *size);

/* Whether there is a folder that may be used. */
int cache_is_there(void);

/* The same of one file elsewhere, whoever it belongs to. 1: found; 0: there is no such file; -1: it
 * is not whole. */
int cache_read_file(const char *file, struct cache_key key, void **data, size_t *size);

/* 0: it cannot be written, and there is no such file then. */
int cache_write_file(const char *file, struct cache_key key, const void *data, size_t size);

#endif
