/* Layouts: how the row-vectors of all slices lie in memory for the summation stage.
 *
 * - rows: exact row-vectors. Within a slice (and a tile of rows) they are ordered by start and
 *   length and taken in bundles of a few rows with one common start and length, so that one window
 *   of the past serves all rows of a bundle; what this pads is a few per cent. Column-major in a
 *   bundle. Where the kernels want strips (summation_strip()), a bundle has the rows of one strip
 *   instead, consecutive ones, each with its own start; a block's bundles are ordered strip by
 *   strip, and in one by length: its sums then never leave the registers. This pads more, to the
 *   longest of each strip. Ours.
 * - contiguous: Contiguous-Blocking (Bramas, Coulaud, Sylvand 2015, section 5.2): one block a
 * slice, all rows left-aligned, padded to the longest, column-major: value(l, i) at l * rows + i.
 * - full:BRxBC: Full-Blocking (section 5.1): dense blocks of BR rows and BC columns, padded with
 *   zeros, column-major.
 *
 * Only k >= 1 is in here; M_0 is solved with, and what a point nearer than delta needs of a_n
 * itself is apart.
 *
 * Slices are cut into blocks of consecutive ones, the tasks; how many follows from the mesh alone.
 * Each has sums of its own, and these are added along a fixed tree: bits do not depend on the
 * unit that computed a block. Rows are cut into tiles, so that a tile's sums stay in a near cache
 * while the slices of a block pass by; the cores of a unit can share a block tile by tile.
 */
#pragma once

#include "tdbem/matrices/slices.h"
#include <evener/status.h>
#include <evener/program.h>
#include <stddef.h>
#include <stdint.h>

enum layout_kind { LAYOUT_ROWS, LAYOUT_CONTIGUOUS, LAYOUT_FULL };

enum {
    GROUP_MAX = 32,    /* steps of a group */
    TILE_MAX = 16384,  /* rows of a tile: row numbers in it fit 16 bits */
    BLOCK_ALIGN = 4096 /* bytes; of what is read past the system's cache */
};

struct layout_options {
    enum layout_kind kind;
    int br, bc;    /* full: rows and columns of a block */
    int single;    /* values, past and sums in float */
    int group;     /* n_g, 1 .. GROUP_MAX */
    int tile;      /* rows of a tile; 0: chosen */
    int per_block; /* slices of a block; 0: chosen */
    int last;      /* only k <= last; 0: all */
};

/* `rows`, `contiguous`, `full:BRxBC`. EVN_USAGE. */
evn_status layout_find(struct layout_options *out, const char *text);

/* Rows r of a bundle, within the tile; `row` of them is followed by the next bundle. */
struct bundle {
    uint16_t start, length; /* first k, and how many */
    uint16_t row[];         /* bundle_rows of them; the tile's size for a row that is none */
};
enum { BUNDLE_FAR = 256 };

/* A strip's rows in one slice; padded with zeros, also rows that are none. The next one follows. */
struct strip_bundle {
    uint16_t slice;  /* slice of the block */
    uint16_t start;  /* first k of the row that begins latest */
    uint16_t length; /* columns; BUNDLE_FAR more where some row begins earlier than
                        summation_strip().near allows */
    uint16_t unused; /* fills a hole */
    uint8_t ahead[]; /* by row of the strip, how many steps earlier it begins */
};
/* A block of Full-Blocking. */
struct full {
    uint32_t row;   /* first row, within the tile */
    uint16_t start; /* first k */
};

/* Where slice j's part in a tile begins: [tile * columns + j]. Contiguous: the whole slice. With
 * strips: where a strip's part in a block begins, [block * strips + strip]. */
struct part {
    size_t value; /* elements before it */
    size_t meta;  /* rows, contiguous: elements of `meta` before it; full: of `full` */
    size_t where; /* rows without strips: elements of `where` before it */
    int count;    /* bundles, or blocks */
};

struct layout {
    struct layout_options is;
    int wide;        /* steps of a group rounded up to a power of two: stride of the sums */
    int bundle_rows; /* rows layout: rows of a bundle */
    int strip;       /* rows layout: rows of a strip; 0: without strips */
    int strips;      /* rows layout: number of strips */
    int columns, rows;
    int depth;  /* steps of the past that a row-vector may reach: largest k */
    int front;  /* zeros that lie before the past, for padded row-vectors */
    int tall;   /* full: rows of a block as stored, BR rounded up to whole bundles */
    int padded; /* contiguous: l from 0 to padded-1 */
    int blocks, tiles;
    int *slice;    /* [blocks + 1]: first slice of each block */
    int *tile_row; /* [tiles + 1]: first row of each tile */
    struct part *part;
    /* All blocks in one piece, each with its values and then what describes them, so that a block
     * can be moved as a whole; the arrays are views of it. */
    char *memory; /* zeros where nothing was put */
    char *range;  /* what it was cut out of, so that it begins with a large page */
    size_t range_bytes;
    size_t *begin;  /* [blocks + 1]: where each begins, bytes; multiples of BLOCK_ALIGN */
    void *value;    /* float or double */
    uint16_t *meta; /* rows: bundles one after another; contiguous: starts of a slice's rows */
    struct full *full;
    uint32_t *where;       /* rows without strips: columns in the part before each bundle */
    size_t values;         /* stored, with padding */
    size_t metas, fulls;   /* entries of meta, of full */
    size_t nnz;            /* stored values of row-vectors with k >= 1 */
    double bytes;          /* bytes of the values and of their description */
    char *away;            /* [blocks]: 1: another rank has it; NULL: all are here */
    struct stream *stream; /* whose blocks are on disk in part; NULL: all are in memory */
};

/* Converts slices that are all there; they are only read. EVN_USAGE: options out of range, a block
 * narrower than the longest row-vector (the message says how wide it must be). EVN_MEMORY. */
evn_status layout_open(struct layout **out, const struct slices *s,
                       const struct layout_options *options);
void layout_close(struct layout *layout);

/* layout_open() in steps. layout_plan(): from the slices' ranges alone, where all will lie;
 * sizes are known, there is no memory yet. Where ranges come by parts it is done in three: begun,
 * told of whole blocks in ascending order, and ended. `*again` (NULL: does not happen, with
 * options.last) is set where strips turn out to be mostly padding: then all blocks are told of once
 * more, and it is ended again. layout_align(): begins of blocks become multiples of
 * `align` bytes, a multiple of BLOCK_ALIGN; may be called before there is memory. layout_reserve():
 * addresses for all of it, which take memory only where something is put; in large pages or not.
 * layout_fill(): puts columns from .. to-1, whole blocks, of the same slices, whose values must be
 * there, in their places. EVN_USAGE, EVN_MEMORY. */
evn_status layout_plan(struct layout **out, const struct slices *s,
                       const struct layout_options *options);
evn_status layout_begin(struct layout **out, int columns, int rows,
                        const struct layout_options *options);
evn_status layout_add(struct layout *layout, const struct slices *s, int from, int to);
evn_status layout_end(struct layout *layout, int *again);
void layout_align(struct layout *layout, size_t align);
evn_status layout_reserve(struct layout *layout, int large_pages);
evn_status layout_fill(struct layout *layout, const struct slices *s, int from, int to);

/* Gives the memory of a block's whole pages back. */
void layout_forget(const struct layout *layout, int block);

/* Bytes of its tables, which are in memory at any rate; of its largest block that is here. */
size_t layout_tables(const struct layout *layout);
size_t layout_largest(const struct layout *layout);

/* Whether a block is on this rank. */
static inline int layout_has(const struct layout *layout, int block) {
    return !layout->away || !layout->away[block];
}

/* How many parts it has. */
size_t layout_parts(const struct layout *layout);

/* Slices of a block for a mesh of so many columns. */
int layout_per_block(int columns);

/* Full-Blocking without building it: number of blocks, and the share of values that are no padding
 * (the paper's Table 4), over rows 0 .. rows-1 of the columns and k >= 1; no values are needed. */
struct layout_fill {
    size_t blocks, nnz;
    double fill;
};
struct layout_fill layout_full_fill(const struct slices *s, int rows, int br, int bc);

/* The least time of a column in blocks of any of `count` sizes, by dynamic programming over rows:
 * the mean of every so many columns. NAN: no memory. */
struct layout_size {
    int br, bc;
    double seconds; /* of a block; INFINITY if it is too narrow for a row-vector */
};
double layout_full_least(const struct slices *s, int rows, int every, int count,
                         const struct layout_size *size);
