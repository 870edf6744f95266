/* Devices for other rooms, which do not know back ends by name. */
#pragma once

#include "device/backend.h"

/* Number of devices that *text gives to a program that needs `wanted`. If *text leaves the number
 * open, as "emulated" does and "best" may, it is `wanted`, and *text becomes a specification in
 * `own` with that number. Else as evn_devices_count(). */
evn_status devices_count_for(const char **text, char own[256], int wanted, int *count, char *why,
                             size_t size);

/* Number of real GPUs that "best" gives. */
evn_status devices_count_gpus(int *count);

/* Name of the back end that gives any number of devices; NULL: none. */
const char *devices_any_number(void);

/* evn_device_open(), for leaders that may share a core (`blocks`): waiters sleep instead of
 * polling, where the back end can choose. A GPU that is open already may be left unchanged. */
evn_status device_open(evn_device **out, const char *text, int number, int blocks);

/* The part of a list that contains device `number`, and its number within it. EVN_USAGE,
 * EVN_MISSING. */
evn_status devices_find(const char *text, int number, char part[256],
                        const struct backend **backend, int *within);

/* Enables and tests peer copies from one device to another. Otherwise the first copy does so, which
 * takes milliseconds of a step. Does nothing if peer access is impossible or enabled already; a
 * test that fails is no error, copies are then staged. Any thread. EVN_DEVICE. */
evn_status device_connect(evn_device *to, evn_device *from);

/* Marks a range as stale: the emulated device fills it with NaN, other devices do nothing. */
evn_status device_poison(evn_queue *q, evn_buffer *buffer, size_t at, size_t bytes);

/* Builds a source's kernels for a device; opens one of them, which keeps the program. */
evn_status device_program_open(evn_program **out, evn_device *device,
                               const evn_kernel_source *source);
void device_program_close(evn_program *program);
evn_status device_kernel_open(evn_kernel **out, evn_program *program, const char *name);
void device_kernel_close(evn_kernel *kernel);

/* The most bytes of buffers that were open at a time. */
size_t device_used_max(const evn_device *device);
