/* All that programs name in texts alone, as in EVENER_SCHEDULE=map, EVENER_UNITS=1:GPU:1 and
 * EVENER_RECORD=FILE. The archive's object of it is linked by --undefined=evn__everything, which
 * pkg-config, CMake and evener-cc say; a program that is linked without has what it calls. */
#include "schedule/policy.h"

/* weak in their headers */
struct decisions;
struct device_ops;
struct guided_time;
struct session_files;
struct session_ranks;
extern const struct decisions decisions;
extern const struct device_ops device_ops;
extern const struct guided_time guided_time;
extern const struct session_files session_files;
extern const struct session_ranks session_ranks;

extern const void *const evn__everything[];
const void *const evn__everything[] = {
    &policy_binpack, &policy_interval, &policy_map,    &policy_optimal, &policy_auto,
    &guided_time,    &device_ops,      &session_files, &session_ranks,  &decisions,
};
