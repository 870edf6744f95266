/* The file of matrices over ranks: one file, rank 0's. A rank that finds it, by the number of the
 * process that writes it or under its name, writes or reads the columns of its own blocks there.
 * Another one, as on another host, has a copy of its own on its scratch disk, in which there are
 * only its columns, and which goes by way of rank 0. */
#pragma once

#include "tdbem/matrices/slices_file.h"
#include "tdbem/problem.h"

/* This rank's file, read or written; on ranks other than 0 perhaps not open yet. */
struct matrices_ends {
    struct slices_reader *reader;
    struct slices_writer *writer;
    const struct slices *s; /* all ranges were known */
    const char *scratch;    /* folder for files without a name */
};

struct matrices_file;

/* Once ranks have their blocks: rank 0's file is found, or its columns come. *again: the values are
 * to come from elsewhere than `ends` says, from ends->reader, or where that is NULL now, made.
 * Collective, an agreement. EVN_USAGE, EVN_SYSTEM, EVN_MEMORY. */
evn_status matrices_file_begin(struct matrices_file **out, tdbem *p, struct matrices_ends *ends,
                               const struct slices_options *options, int *again);

/* Once all values of this rank's columns were put: what rank 0 has not got comes there, and it
 * gives the file its name. Nothing where it was read. Collective, an agreement. */
evn_status matrices_file_end(struct matrices_file *f, tdbem *p, struct matrices_ends *ends);

void matrices_file_close(struct matrices_file *f);
