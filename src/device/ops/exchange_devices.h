/* Ends on devices: functions of struct device_ops, and what these share. */
#pragma once

#include "exchange/plan.h"

struct transport;

extern const struct transport *const transports_of_devices[];

/* Opens the ways between all devices, which steps shall not open. */
evn_status ends_connect(evn_exchange *x);

/* Resources of an end, independent of the plan; the second waits for pending work, and comes before
 * messages are closed. */
evn_status end_open(struct end *e, size_t element);
void end_stop(struct end *e);
void end_close(struct end *e);

/* The end's lists of copies, its boxes of messages; and what it does in a run: an event is recorded
 * when messages have arrived, which unpacking waits for. */
evn_status end_send_lists(struct end *e);
evn_status end_pack(const evn_exchange *x, struct end *e);
evn_status end_copy_directly(const evn_exchange *x, struct end *e);
evn_status end_arrive(struct end *e);
evn_status end_unpack(const evn_exchange *x, struct end *e);

/* The end's boxes, from and to messages of other ranks; the last waits until all is in its box. */
evn_status end_copy_out(const struct end *e, size_t at, void *to, size_t bytes);
evn_status end_copy_in(const struct end *e, size_t at, const void *from, size_t bytes);
evn_status end_copied_in(const struct end *e);

/* ---- copy_device.c ---- */

/* Name of the kernel for elements of `element` bytes. */
const char *copies_kernel(size_t element);
/* Sends the list of blocks to the device, by `queue`: what is new of it. */
evn_status copies_send(struct copies *c, evn_device *device, evn_queue *queue);
/* Launches the kernel on the list; nothing if it is empty. */
evn_status copies_launch(const struct copies *c, evn_queue *queue, evn_kernel *kernel,
                         evn_buffer *from, evn_buffer *to);

/* A buffer of at least `bytes`, whose contents need not be kept. */
evn_status buffer_of_at_least(evn_buffer **buffer, evn_device *device, size_t bytes);
