/* Arrays in numpy's NPZ format: a ZIP archive without compression (PKWARE's APPNOTE 6.3.3) of NPY
 * files of version 1.0, one an array, little-endian, rows first. An archive has no time in it, so
 * that equal arrays make equal files.
 *
 *     struct npz z;
 *     npz_open(&z, stream);
 *     npz_add(&z, "t", NPZ_REAL, 1, (size_t[]){count}, t);
 *     npz_close(&z);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum npz_kind { NPZ_REAL, NPZ_COMPLEX, NPZ_INT }; /* double, double complex, int32_t */

enum { NPZ_ARRAYS = 16, NPZ_NAME = 24 };

struct npz {
    FILE *out;
    uint32_t at; /* bytes written */
    int count;
    struct {
        char name[NPZ_NAME];
        uint32_t sum, size, at;
    } file[NPZ_ARRAYS];
};

void npz_open(struct npz *z, FILE *out);
/* At most NPZ_ARRAYS of them, of FORMAT_BYTES together, with names shorter than NPZ_NAME - 4;
 * `shape` has `dimensions` sizes, 0 to 3. */
void npz_add(struct npz *z, const char *name, enum npz_kind kind, int dimensions,
             const size_t *shape, const void *data);
/* Writes the archive's directory. Errors of the stream stay its own. */
void npz_close(struct npz *z);
