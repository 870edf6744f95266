/* One-sided puts of a run, in its result and its record (<evener/shared.h>). */
#pragma once

#include <cjson/cJSON.h>
#include <evener/shared.h>

/* Difference of two counts. */
evn_shared_counts puts_between(const evn_shared_counts *before, const evn_shared_counts *after);

/* Sum of two counts, or of two ranks' counts. */
evn_shared_counts puts_sum(const evn_shared_counts *a, const evn_shared_counts *b);

/* The sum over all ranks, the same on all. Collective; cluster NULL: mine alone. EVN_MEMORY. */
evn_status puts_of_ranks(evn_cluster *cluster, const evn_shared_counts *mine,
                         evn_shared_counts *sum);

/* "puts" of a record. */
void puts_record(cJSON *root, const evn_shared_counts *puts);
