/* Some zones on the host and on a device, so that the device's solver can be held against the
 * host's: the device has a copy of each zone's block, in a batch that goes from the last zone to
 * the first and lies in memory the other way round, with room in between.
 *
 * First the zones, both_zones(); then the device, both_device(). Without that they
 * are the host's alone.
 */
#pragma once

#include "npbmz/device/gpu.h"

struct both {
    struct problem p; /* with the host's zones */
    struct scratch s; /* for the host's solver, a core alone */
    evn_device *device;
    evn_queue *queue;
    evn_buffer *field;
    struct gpu *gpu; /* NULL: without a solver */
    int *number;     /* the batch */
    size_t *at;      /* where the block of each entry of the batch begins in the field, in bytes */
};

/* What a core by itself passes to the host's solver. */
extern const struct team both_alone;

/* 64-byte aligned; free() gives it back. */
void *both_memory(size_t bytes);

/* Zones of these shapes, each with another random gas, forcing and (LU) residual, and with all
 * sorts of finite numbers in the padding of u and f. Spacings differ in all directions. */
void both_zones(struct both *b, enum npbmz_benchmark benchmark, double dt, const int shape[][3],
                int zones);
/* Opens test_device() with the solver, or without one where it is NULL, and puts all zones there.
 * max_work: as of gpu_open(). */
void both_device(struct both *b, const struct gpu_solver *solver, size_t max_work);
void both_close(struct both *b);

/* All blocks to the device. */
void both_put(struct both *b);
/* Zone n as the device has it, in a block of its own; zone_free() gives it back. */
struct zone both_get(struct both *b, int n);
/* Where zone n's block begins in the field, in bytes. */
size_t both_at(const struct both *b, int n);

void both_host_steps(struct both *b, int steps);
void both_device_steps(struct both *b, int steps);
/* The same, and how many launches they were; fails where anything else was done. */
long long both_launches(struct both *b, int steps);

/* Bytes of work space of the zone that needs the most. */
size_t both_largest_work(const struct both *b, const struct gpu_solver *solver);

int both_interior(const struct zone *z, int i, int j, int k);
/* The interior points of a field of z. */
void both_copy_interior(const struct zone *z, double *to, const double *from);

/* Field a of the device's zone n is the host's: to the bit in all points where nothing is fused,
 * else to 1e-12 of the largest value, component by component. */
void both_assert_field(const struct zone *z, int n, const evn_kernel_source *kernels,
                       const char *what, const double *a, const double *host);
/* All of the device's zones are the host's in this way, u and (LU) r; and where there is no
 * interior point of these, ghosts, padding and forcing, to the bit. */
void both_assert_alike(struct both *b, const evn_kernel_source *kernels);
