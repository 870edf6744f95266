/* Spaces of devices: functions of struct device_ops. */
#pragma once

#include <evener/status.h>
#include <evener/program.h>
#include <stddef.h>

struct space;

evn_status space_open(struct space *s); /* Opens the space of s->device. */
void space_close(struct space *s);

/* Enqueues a copy between two devices, or from or to the host's memory `host`, whose space has no
 * device. */
evn_status space_copy(const struct space *from, size_t from_at, const struct space *to,
                      size_t to_at, void *host, size_t bytes);
