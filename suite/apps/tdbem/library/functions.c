/* The functions of one level. */
#include "tdbem/library/functions.h"

extern const struct tdbem_functions tdbem_functions;
const struct tdbem_functions tdbem_functions = {
    .defaults = tdbem_defaults,
    .open = tdbem_open,
    .close = tdbem_close,
    .surface = tdbem_surface,
    .incident = tdbem_incident,
    .warning = tdbem_warning,
    .describe = tdbem_describe,
    .expect = tdbem_expect,
    .march = tdbem_march,
    .outcome_free = tdbem_outcome_free,
};
