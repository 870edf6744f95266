/* Cache of compiled kernels on disk, keyed by a hash of all inputs of the compilation.
 *
 * The folder is $EVENER_CACHE, else $XDG_CACHE_HOME/evener, else $HOME/.cache/evener, where the
 * last two must be absolute paths; EVENER_CACHE set but empty: no cache. The folder is created for
 * its user alone; a folder or file of another user, or writable by others, is not used, with one
 * line on standard error. A file is written under a temporary name and renamed, so that many
 * processes may share a cache; its header has key, size and checksum, and a file that does not
 * agree with its header is ignored. Errors of reading and writing are not reported: kernels are
 * then compiled. */
#pragma once

#include <stddef.h>

struct cache_key {
    unsigned char byte[16];
};

/* The key of `parts` strings: source text, options, compiler and its version, architecture of the
 * device .. The division into strings counts: "ab", "c" and "a", "bc" have different keys. No part
 * is NULL. */
struct cache_key cache_key(const char *const *part, int parts);

/* 1: found; *data (to be freed) and *size are the content. 0: missing or damaged. */
int cache_read(struct cache_key key, void **data, size_t *size);

void cache_write(struct cache_key key, const void *data, size_t size);

/* Finds any entry whose data begin with the bytes of `mark`, without its key; reads all entries. */
int cache_find(struct cache_key mark, void **data, size_t *size);

/* 1 if there is a usable folder. */
int cache_is_there(void);

/* Reads one file outside of the cache, of any owner. 1: found; 0: no such file; -1: damaged. */
int cache_read_file(const char *file, struct cache_key key, void **data, size_t *size);

/* 0: it cannot be written, and no such file exists. */
int cache_write_file(const char *file, struct cache_key key, const void *data, size_t size);
