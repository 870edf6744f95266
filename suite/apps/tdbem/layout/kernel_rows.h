/* Requirements of the summation's kernels on a layout; set by summation.c. */
#pragma once

/* Rows of a bundle that the kernels want for groups of `wide` steps (a power of two). */
int summation_bundle_rows(int single, int wide);

/* Strips that the kernels want instead for rows in such groups: how many consecutive rows, and by
 * how many steps the first of them may begin earlier than the last one in a bundle that is near,
 * and in one that is far. No rows: no strips. */
struct summation_strip {
    int rows, near, far;
};
struct summation_strip summation_strip(int single, int wide);
