/* What a run counts of devices and time (ft_result.count). */
#ifndef FT_COUNTS_H
#define FT_COUNTS_H

#include "ft/funnel.h"

/* What this rank has counted until now, of what is not of the timed part alone. */
void counts_now(const struct fields *fields, const struct funnel *funnel, double count[FT_COUNTS]);

/* What all ranks have since `before`, and the spans of their shared devices, into *result, whose
 * part `run` is filled in. Collective. EVN_MEMORY. */
evn_status counts_of_ranks(const evn_loop *loop, const struct fields *fields,
                           const struct funnel *funnel, const double before[FT_COUNTS],
                           ft_result *result);

#endif
