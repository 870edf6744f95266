/* A checkpoint as a file: the same bytes on every machine, whichever ranks owned its parts.
 *
 *     header     magic, its own length, the identity of the run, the schedule's assignment, the
 *                step; of each part its offset, length and checksum; its own checksum
 *     parts      one after another, of doubles, in the workload's order
 *
 * All numbers have 8 bytes, the least significant first. Header and parts begin at multiples of
 * 4096 and are padded with zeros, which the checksums include: any changed, missing or additional
 * bit is refused, and no two ranks write into the same page.
 *
 * Nothing here knows ranks; state_keep.c writes with it and state_restart.c reads. */
#pragma once

#include "common/checkpoint/state.h"

/* Doubles of a part that are in memory at a time. */
enum { STATE_PIECE = 1 << 17 };

struct state_part {
    uint64_t at, bytes, sum; /* bytes without padding */
};

struct state_file {
    int step;
    char *identity; /* all that the bits depend on, "key=value .." */
    char *schedule; /* text of evn_schedule_export(), for units of `speeds` */
    uint64_t speeds;
    int parts;
    struct state_part *part; /* description of each part */
    uint64_t header, bytes;  /* bytes of the header, and of the whole file */
};

/* Layout of a checkpoint file after `step` steps; the text (not NULL) is copied. EVN_MEMORY. */
evn_status state_plan(struct state_file *file, const struct states *s, int step,
                      const char *schedule);
void state_close(struct state_file *file);

/* Lays the parts out behind a header of another length, for a rank that does not know the
 * schedule's text. */
void state_lay_out(struct state_file *file, const struct states *s, uint64_t header);

/* The header's bytes, file->header of them, to be freed; NULL: no memory. */
unsigned char *state_header(const struct state_file *file, const struct state_kind *kind);

/* Reads the header's bytes from an open file, *header is to be freed. EVN_USAGE: they are none, or
 * the file has not the length that they say. `path` is for messages. */
evn_status state_read_header(const struct state_kind *kind, int fd, const char *path,
                             unsigned char **header, size_t *bytes);

/* Takes them apart. EVN_USAGE: they are damaged, or of another problem (identity); s->arg NULL: of
 * any. */
evn_status state_parse(struct state_file *file, const struct states *s, const unsigned char *header,
                       size_t bytes, const char *path);

/* Some of a part's doubles out of it and into it, as they are in a file. */
void state_pack(const struct states *s, int part, size_t from, size_t count, double *to);
void state_unpack(const struct states *s, int part, size_t from, size_t count,
                  double *data); /* `data` is overwritten */

/* The checksum of a part, piece by piece; at its end with the zeros that follow. */
uint64_t state_sum(uint64_t sum, const double *piece, size_t doubles);
uint64_t state_sum_end(uint64_t sum, uint64_t bytes);
