/* Formats of output files, which the end of a file's name chooses. */
#pragma once

#include <evener/status.h>

enum format { FORMAT_CSV, FORMAT_NPZ, FORMAT_WAV, FORMAT_SOFA };

/* Sets of formats that an output has, and their ends for the help. */
enum {
    FORMAT_TABLES = 1 << FORMAT_CSV | 1 << FORMAT_NPZ,
    FORMAT_SOUNDS = FORMAT_TABLES | 1 << FORMAT_WAV | 1 << FORMAT_SOFA
};

/* Bytes that a file of any other format than CSV can have, whose offsets have 32 bits. */
#define FORMAT_BYTES 4.2e9

/* The format that the name means, one of `set`; names without an end (`-`, devices) mean CSV.
 * EVN_USAGE: another end, with those that would be right; EVN_MISSING: a format's library. */
evn_status format_find(enum format *out, const char *path, unsigned set);
