/* Exchange of matrices between ranks: ranges of columns, before blocks are planned; and after each
 * has made the columns of its blocks the near part of its rows, from the ranks with the columns,
 * and M_0, which goes to all. */
#pragma once

#include "tdbem/matrices/slices.h"
#include "tdbem/problem.h"

/* All ranges with rows of near leaves: each rank finds those of as many columns. The worst status
 * of all ranks. Collective. */
evn_status ranges_by_ranks(struct slices_maker *maker, const tdbem *p);

struct handout;

evn_status handout_open(struct handout **out, const tdbem *p);
void handout_close(struct handout *h);

/* Takes from the columns that there are what others want. EVN_MEMORY. */
evn_status handout_take(struct handout *h, const tdbem *p, const struct slices *s);

/* All ranks, with what each has come to: then the near part is in p->near, and M_0 in `m`, which is
 * ready, and the points' part of it in p->now. EVN_MEMORY. */
evn_status handout_exchange(struct handout *h, tdbem *p, struct slices_csr *m, evn_status mine);
