/* Matrices on disk: written beside and renamed, reloaded only for the very same mesh and options.
 */
#ifndef TDBEM_SLICES_FILE_H
#define TDBEM_SLICES_FILE_H

#include "slices.h"

/* EVN_SYSTEM: cannot be written; a file of that name is then as it was before. */
evn_status slices_save(const struct slices *s, const struct mesh *mesh,
                       const struct slices_options *options, const char *file);

/* EVN_SYSTEM: cannot be read. EVN_USAGE: not such a file, or of another version, mesh, delta or
 * options (the message says which), or damaged (checksum). */
evn_status slices_load(struct slices **out, const struct mesh *mesh,
                       const struct slices_options *options, const char *file);

/* Looks for the file: 1 there, 0 not. With slices_load() and slices_save(): "reload if there, else
 * generate and keep". */
int slices_file_exists(const char *file);

#endif
