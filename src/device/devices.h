/* Which devices there are, for other rooms, which know no back end by its name. */
#ifndef DEVICE_DEVICES_H
#define DEVICE_DEVICES_H

#include "device/backend.h"

/* How many devices *text gives to a program that needs `wanted`. Where it leaves their number open,
 * as "emulated" does and "best" may, it gives as many, and *text becomes a specification in `own`
 * that says so. Else as evn_devices_count(). */
evn_status devices_count_for(const char **text, char own[256], int wanted, int *count, char *why,
                             size_t size);

/* How many GPUs there are: what "best" gives, but only what really is one. */
evn_status devices_count_gpus(int *count);

/* The back end that gives any number of devices; NULL: none does. */
const char *devices_any_number(void);

/* evn_device_open(), for leaders that may share a core (`blocks`): where a back end can choose, who
 * waits for the device sleeps and does not look again and again. A GPU that is open already may be
 * left as it is. */
evn_status device_open(evn_device **out, const char *text, int number, int blocks);

/* The part of a list that has device `number`, and its number there. EVN_USAGE, EVN_MISSING. */
evn_status devices_find(const char *text, int number, char part[256],
                        const struct backend **backend, int *within);

#endif
