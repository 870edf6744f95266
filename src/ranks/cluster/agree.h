/* Reduction of the ranks' statuses to one, with the message of the lowest rank that failed. */
#pragma once

#include "cluster/tree.h"

/* Makes a record of status `own` of `rank`, empty for EVN_OK. `text`: its message. EVN_MEMORY. */
evn_status agree_record(struct record *out, int rank, evn_status own, const char *text);
/* Merges ranks with the same failure; interruptions yield to failures. */
evn_status agree_join(struct record *mine, const void *theirs, size_t bytes);
/* Bytes of a record of all of `ranks`, at most. */
size_t agree_most(int ranks);
/* The status of a record, and its message in `text`: which ranks of `size`, on which host, the
 * failure. `host` gives the host of a rank. */
evn_status agree_read(const struct record *record, int size, char *text, size_t room,
                      const char *(*host)(const void *arg, int rank), const void *arg);
