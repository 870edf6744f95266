/* The state of a run as a file: the same bytes on every machine, whoever had the zones.
 *
 *     header     magic, its own length, what the run is in words, the schedule's assignment, the
 *                step, of each zone where it is, how long, and its checksum; its own checksum
 *     zones      one after another: u of all points with the ghosts, and LU's residual, in the
 *                order component, k, j, i, without padding
 *
 * All are numbers of 8 bytes with the least first. Header and zones begin at multiples of 4096 and
 * are filled up with zeros, which their checksums have in them: so a file that has one bit more,
 * less or different is refused, and no two ranks write into the same page of it.
 *
 * Nothing in here knows of ranks; checkpoint.c writes with it and restart.c reads.
 */
#ifndef NPBMZ_STATE_FILE_H
#define NPBMZ_STATE_FILE_H

#include "npbmz/problem.h"
#include <evener/status.h>

/* Doubles of a zone that are in memory at a time. */
enum { STATE_PIECE = 1 << 17 };

struct state_part {
    uint64_t at, bytes, sum; /* bytes without what fills up */
};

struct state_file {
    int step;
    char *identity; /* all that the bits depend on, "key=value .." */
    char *schedule; /* as evn_schedule_export() has it, for units of `speeds` */
    uint64_t speeds;
    int zones;
    struct state_part *part; /* of each zone */
    uint64_t header, bytes;  /* of the header, and of the whole file */
};

/* What a file for this problem is like; the texts (not NULL) are copied. EVN_MEMORY. */
evn_status state_plan(struct state_file *file, const struct problem *p, const char *identity,
                      const char *schedule);
void state_close(struct state_file *file);

/* The same behind a header of another length: of a rank that does not know the schedule's text. */
void state_lay_out(struct state_file *file, const struct problem *p, uint64_t header);

/* The header's bytes, file->header of them, to be freed; NULL: no memory. */
unsigned char *state_header(const struct state_file *file);

/* Reads the header's bytes from an open file, *header is to be freed. EVN_USAGE: they are none, or
 * the file has not the length that they say. `path` is for messages. */
evn_status state_read_header(int fd, const char *path, unsigned char **header, size_t *bytes);

/* Takes them apart. EVN_USAGE: they are damaged, of another problem (identity), or of another
 * version. */
evn_status state_parse(struct state_file *file, const struct problem *p, const char *identity,
                       const unsigned char *header, size_t bytes, const char *path);

/* A zone's doubles in a file, and some of them out of the zone and into it. */
size_t state_doubles(const struct problem *p, const struct zone *z);
void state_pack(const struct zone *z, size_t from, size_t count, double *to);
void state_unpack(struct zone *z, size_t from, size_t count, double *data); /* data: spoilt */

/* The checksum of a zone, piece by piece; at its end with the zeros that follow. */
uint64_t state_sum(uint64_t sum, const double *piece, size_t doubles);
uint64_t state_sum_end(uint64_t sum, uint64_t bytes);

#endif
