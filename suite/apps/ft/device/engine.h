/* The passes of FT on one device, by our own kernels. A table of ways (engine.kernel.h) says which
 * lines and where they are; the caller (fields.h) decides where they belong and what other devices
 * need.
 *
 * All functions enqueue work on a queue of the device and do not wait; any thread. They return
 * evn_launch()'s status. */
#pragma once

#include "ft/device/engine.kernel.h"
#include "ft/host/transform.h"
#include <evener/device.h>

struct engine;

/* The longest lines it can do. */
enum { ENGINE_LONGEST = ENGINE_POINTS };

/* Kernels and constants of a transform, which must outlive it. EVN_USAGE: a line is too long;
 * EVN_MEMORY, EVN_SYSTEM, EVN_DEVICE. */
evn_status engine_open(struct engine **out, evn_device *device, const struct transform *t);
void engine_close(struct engine *engine);

/* Bytes that it takes of its device. */
double engine_bytes(const struct transform *t);

/* Input of a pass: lines `first` to `first` + `count` - 1 of the device, whose global numbers are
 * in `numbers`, from ways `from` to ways `to` of the table. */
struct engine_job {
    evn_queue *queue;
    evn_buffer *memory, *ways, *numbers;
    int first, count, from, to;
    enum line_sign sign;
};

/* Sends the factors of a step, for what decays and is launched next. */
evn_status engine_decay(struct engine *engine, evn_queue *queue, const struct decay *decay);

/* Planes of the field at the start, to the ways of their rows. */
evn_status engine_start(const struct engine *engine, const struct engine_job *job);

/* Rows of planes as they are, or (`decays`) times what decays. */
evn_status engine_copy(const struct engine *engine, const struct engine_job *job, int decays);

/* Rows of planes along x. `from` and `to` are ways of rows; the packs of a row are neighbours. */
evn_status engine_x(const struct engine *engine, const struct engine_job *job);

/* Lines along y of planes, lines along z of slabs, these with what decays if `decays`. */
evn_status engine_y(const struct engine *engine, const struct engine_job *job);
evn_status engine_z(const struct engine *engine, const struct engine_job *job, int decays);

/* Real and imaginary part of points: from at[i] and 8 doubles behind it, to `result` + 2i. */
evn_status engine_points(const struct engine *engine, evn_queue *queue, evn_buffer *memory,
                         evn_buffer *at, int count, size_t result);
