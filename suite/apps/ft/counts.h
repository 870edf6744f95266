/* Counts of a run on devices, and times (ft_result.count). */
#pragma once

#include "ft/funneled/funnel.h"

/* This rank's counts so far that are not limited to the timed part. */
void counts_now(const struct fields *fields, const struct funnel *funnel, double count[FT_COUNTS]);

/* Sums all ranks' counts since `before`, and the spans of their shared devices, in *result, whose
 * part `run` is filled in. Collective. EVN_MEMORY. */
evn_status counts_of_ranks(const evn_loop *loop, const struct fields *fields,
                           const struct funnel *funnel, const double before[FT_COUNTS],
                           ft_result *result);
