/* Matrices on disk: written beside and renamed, reloaded only for the very same mesh and options.
 */
#pragma once

#include "tdbem/matrices/slices.h"
#include <stdint.h>

/* EVN_SYSTEM: cannot be written; a file of that name is then as it was before. */
evn_status slices_save(const struct slices *s, const struct mesh *mesh,
                       const struct slices_options *options, const char *file);

/* EVN_SYSTEM: cannot be read. EVN_USAGE: not such a file, or of another version, mesh, delta or
 * options (the message says which), or damaged (checksum). */
evn_status slices_load(struct slices **out, const struct mesh *mesh,
                       const struct slices_options *options, const char *file);

/* slices_save() by intervals of columns, as struct slices_maker makes them; the file is the same.
 * First the ranges of all columns are written in ascending order, then their values. What is
 * written is beside its place until it is committed; closed before that it leaves nothing.
 * `places`: not one byte after another, but each in its place, so that columns may come in any
 * order, and from others by the descriptor. */
struct slices_writer;
evn_status slices_writer_open(struct slices_writer **out, const struct mesh *mesh,
                              const struct slices_options *options, const char *file, int places);
/* For values alone, into their places of the open file `fd`, which stays the caller's. */
evn_status slices_writer_into(struct slices_writer **out, int columns, const char *file, int fd);
int slices_writer_descriptor(const struct slices_writer *w);
evn_status slices_writer_ranges(struct slices_writer *w, const struct slices *s, int from, int to);
evn_status slices_writer_put(struct slices_writer *w, const struct slices *s);
/* Checksums of all columns: what was put has them here, and others are to be brought before it is
 * committed. */
uint64_t *slices_writer_sums(struct slices_writer *w);
evn_status slices_writer_commit(struct slices_writer *w, const struct slices *s);
void slices_writer_close(struct slices_writer *w);

struct slices_reader;
evn_status slices_reader_open(struct slices_reader **out, const struct mesh *mesh,
                              const struct slices_options *options, const char *file);
/* Without ranges, which then come as those of a struct slices_maker that was prepared. `fd`: not -1
 * an open file that is the reader's from now on; `file` is for messages then. */
evn_status slices_reader_prepare(struct slices_reader **out, const struct mesh *mesh,
                                 const struct slices_options *options, const char *file, int fd);
evn_status slices_reader_ranges(struct slices_reader *in, int from, int to);
/* Values of the next columns, compared with their checksums; or the next ones begin with `to`. */
evn_status slices_reader_next(struct slices_reader *in, int to);
void slices_reader_skip(struct slices_reader *in, int to);
/* Once all ranges have been read: of all but the values, whose checksums are among it, compared
 * with what the file says; in *sum (may be NULL) what tells two files apart. */
evn_status slices_reader_sum(struct slices_reader *in, uint64_t *sum);
int slices_reader_descriptor(const struct slices_reader *in);
/* Belongs to the reader. */
const struct slices *slices_reader_slices(const struct slices_reader *in);
void slices_reader_close(struct slices_reader *in);

/* Where column j's values begin in a file (0 <= j <= columns), and the bytes of all of it. */
size_t slices_file_begin(const struct slices *s, int j);
size_t slices_file_size(const struct slices *s);

/* Looks for the file: 1 there, 0 not. With slices_load() and slices_save(): "reload if there, else
 * generate and keep". */
int slices_file_exists(const char *file);
