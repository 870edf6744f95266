/* The radiation stage: what the steps of a group that are already known give to those that are not
 * (Bramas, Coulaud, Sylvand 2015, section 3.3).
 *
 * The paper multiplies by M_1 .. M_(n_g-1) after each step, sparse matrix by sparse matrix. Here
 * the steps of a group are halved and halved again, as in online convolution (Hairer, Lubich,
 * Schlichte, "Fast numerical solution of nonlinear Volterra convolution equations", 1985): once the
 * first p steps are known, where 2^m is the largest power of two that divides p, the latest 2^m of
 * them are summed into the next 2^m at once, with M_1 .. M_(2^(m+1)-1), by the kernels of the
 * summation. Each pair of steps is added exactly once, and the near part of the matrices is read
 * log2(n_g) times instead of n_g times.
 */
#pragma once

#include <evener/crew.h>
#include "tdbem/summation/history.h"
#include "tdbem/layout/layout.h"

struct radiation;

/* For groups of `group` steps, and for at most `cores` cores, which the bits do not depend on; from
 * the slices' ranges. Then it wants the values of all columns, those that the slices have at a
 * time. EVN_MEMORY. */
evn_status radiation_open(struct radiation **out, const struct slices *s, int group, int single,
                          int cores);
/* radiation_open() where ranges come by parts: begun, told of each part's columns, ascending, and
 * ended; then sizes are known, and nothing has been taken yet. radiation_reserve(): the memory. */
evn_status radiation_begin(struct radiation **out, int columns, int rows, int group, int single,
                           int cores);
evn_status radiation_plan(struct radiation *r, const struct slices *s, int from, int to);
evn_status radiation_end(struct radiation *r);
evn_status radiation_reserve(struct radiation *r);
evn_status radiation_fill(struct radiation *r, const struct slices *s);
void radiation_close(struct radiation *r);

/* a[q * columns + j] is known for q < p, 1 <= p < group: adds to sums[i * wide + q] for those
 * p <= q < group that the latest steps go into now. */
void radiation_add(struct radiation *r, evn_crew *crew, int p, const double *a, double *sums,
                   int wide);

/* For a computation of the same elsewhere: the layouts, one for each power of two below the group's
 * length, of M_1 .. M_(2^(m+1)-1); and which of them belongs to p, with its *steps. */
enum { RADIATION_LEVELS = 5 }; /* 2^5 = GROUP_MAX */
int radiation_levels(const struct radiation *r);
int radiation_group(const struct radiation *r);
const struct layout *radiation_layout(const struct radiation *r, int level);
int radiation_level(int p, int *steps);

/* Operations that one group costs: multiplications and additions by values that are no padding. */
double radiation_flop(const struct radiation *r);
/* Memory that it takes. */
double radiation_bytes(const struct radiation *r);
