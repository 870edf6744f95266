/* Kernels that come compiled with Evener: what `cmake --build BUILD --target cubins` has made of
 * every kernel file where there was a compiler, for machines where there is none.
 *
 * The folder is $EVENER_KERNELS (set but empty: none), else lib/evener/kernels or
 * ../lib/evener/kernels beside the executable or Evener's shared library, else where it was
 * configured to be installed. It is as trustworthy as the executable that it lies beside, and so
 * whose it is is not looked at. A file is as those of the cache (cache.h), under the hash of
 * everything that it was made from and the name of its target: "0123..ef.sm_90".
 */
#ifndef DEVICE_SHIPPED_H
#define DEVICE_SHIPPED_H

#include "device/cache.h"

/* Targets that kernels are made for: "sm_80", a program of one architecture; "compute_80", portable
 * text (PTX) that drivers compile for it and later ones. NULL ends it. */
extern const char *const shipped_targets[];

/* The text for devices of `architecture`, 90 for 9.0, that is to be tried n-th, from 0; NULL. */
const char *shipped_portable(int architecture, int n);

struct cache_key shipped_key(const char *name, const char *text, const char *defines, int contract,
                             const char *target);

/* The name of a key's file below `folder`, in `out`; 0: it is too long. */
int shipped_file(char *out, int size, const char *folder, struct cache_key key, const char *target);

/* 1: found, *data to be freed. 0: there is none. A file that is not whole counts as none, which a
 * line on standard error says once. */
int shipped_read(struct cache_key key, const char *target, void **data, size_t *size);

/* Says so of a file that is whole and still no program for the target. */
void shipped_refused(struct cache_key key, const char *target);

/* The folder; 0: there is none, and `out` says where it was looked for. */
int shipped_folder(char *out, int size);

/* Whether there is any file for the target; of NULL: for any target. */
int shipped_has(const char *target);

#endif
