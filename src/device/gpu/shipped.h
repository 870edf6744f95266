/* Kernels that were compiled with Evener: the output of `cmake --build BUILD --target cubins` for
 * every kernel file, for machines without a compiler.
 *
 * The folder is $EVENER_KERNELS (set but empty: none), else lib/evener/kernels or
 * ../lib/evener/kernels beside the executable or Evener's shared library, else the configured
 * folder. It is as trustworthy as the executable beside it, so its owner is not checked. Files are
 * as those of the cache (cache.h), named by the hash of all inputs and the target:
 * "0123..ef.sm_90". */
#pragma once

#include "device/cache.h"

/* Targets of shipped kernels: "sm_80" and "gfx90a", programs for one architecture; "compute_80",
 * portable text (PTX) that NVIDIA's drivers compile for it and later ones. Ended by NULL. */
extern const char *const shipped_targets[];

/* The n-th portable target to try for devices of `architecture` (90 for 9.0), n from 0; NULL: no
 * more. */
const char *shipped_portable(int architecture, int n);

struct cache_key shipped_key(const char *name, const char *text, const char *defines, int contract,
                             const char *target);

/* File name of a key below `folder`, in `out`; 0: it is too long. */
int shipped_file(char *out, int size, const char *folder, struct cache_key key, const char *target);

/* 1: found, *data to be freed; 0: missing. A damaged file counts as missing, with one line on
 * standard error. */
int shipped_read(struct cache_key key, const char *target, void **data, size_t *size);

/* Reports, once, a file that is undamaged and yet no program for the target. */
void shipped_refused(struct cache_key key, const char *target);

/* The folder; 0: there is none, and `out` lists the places. */
int shipped_folder(char *out, int size);

/* 1 if there is a file for the target; NULL: for any target. */
int shipped_has(const char *target);
