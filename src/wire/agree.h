/* Statuses of ranks made one, with the message of the lowest rank that failed. */
#ifndef WIRE_AGREE_H
#define WIRE_AGREE_H

#include "wire/tree.h"

/* Makes `own` of `rank` a record: nothing for EVN_OK. `text` is its message. EVN_MEMORY. */
evn_status agree_record(struct record *out, int rank, evn_status own, const char *text);
/* tree_join: ranks that fail alike are one. Interrupted ranks give way to failed ones. */
evn_status agree_join(struct record *mine, const void *theirs, size_t bytes, void *unused);
/* The status of a record, and in `text` its message: which ranks of `size`, on which host, what.
 * `host` says on which host a rank is. */
evn_status agree_read(const struct record *record, int size, char *text, size_t room,
                      const char *(*host)(const void *arg, int rank), const void *arg);

#endif
