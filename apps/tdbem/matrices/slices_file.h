/* Matrices on disk: written beside and renamed, reloaded only for the very same mesh and options.
 */
#ifndef TDBEM_SLICES_FILE_H
#define TDBEM_SLICES_FILE_H

#include "tdbem/matrices/slices.h"

/* EVN_SYSTEM: cannot be written; a file of that name is then as it was before. */
evn_status slices_save(const struct slices *s, const struct mesh *mesh,
                       const struct slices_options *options, const char *file);

/* EVN_SYSTEM: cannot be read. EVN_USAGE: not such a file, or of another version, mesh, delta or
 * options (the message says which), or damaged (checksum). */
evn_status slices_load(struct slices **out, const struct mesh *mesh,
                       const struct slices_options *options, const char *file);

/* The same by intervals of columns, as struct slices_maker makes them; the file is the same. First
 * the ranges of all columns are written in ascending order, then their values. What is written is
 * beside its place until it is committed; closed before that it leaves nothing. Reading ends with
 * the checksum: only after the last interval are the values known to be whole. */
struct slices_writer;
evn_status slices_writer_open(struct slices_writer **out, const struct mesh *mesh,
                              const struct slices_options *options, const char *file);
evn_status slices_writer_ranges(struct slices_writer *w, const struct slices *s, int from, int to);
evn_status slices_writer_put(struct slices_writer *w, const struct slices *s);
evn_status slices_writer_commit(struct slices_writer *w);
void slices_writer_close(struct slices_writer *w);

struct slices_reader;
evn_status slices_reader_open(struct slices_reader **out, const struct mesh *mesh,
                              const struct slices_options *options, const char *file);
/* Without ranges, which then come as those of a struct slices_maker that was prepared. */
evn_status slices_reader_prepare(struct slices_reader **out, const struct mesh *mesh,
                                 const struct slices_options *options, const char *file);
evn_status slices_reader_ranges(struct slices_reader *in, int from, int to);
evn_status slices_reader_next(struct slices_reader *in, int to);
/* Belongs to the reader. */
const struct slices *slices_reader_slices(const struct slices_reader *in);
void slices_reader_close(struct slices_reader *in);

/* Looks for the file: 1 there, 0 not. With slices_load() and slices_save(): "reload if there, else
 * generate and keep". */
int slices_file_exists(const char *file);

#endif
