/* Functions of devices that units, loops, places and exchanges call: a table that a program of the
 * archive links where something refers to it (everything.c), so that programs without devices have
 * no code of them. The table is there as a whole or not at all. Units open no devices
 * without it, so it may be called for any open device. */
#pragma once

#include <evener/device.h>
#include <evener/unit.h>

struct evn_loop;
struct evn_batch;
struct evn_exchange;
struct worker;
struct in_flight;
struct space;
struct end;
struct copies;
struct shape;
struct side;
struct transport;

struct device_ops {
    /* units */
    evn_status (*count)(const char *devices, int *count); /* NULL: of real GPUs */
    evn_status (*open)(evn_units *all, const char *devices);
    void (*close)(evn_unit *unit);
    const evn_traits *(*traits)(const evn_device *device);
    evn_counts (*counts)(const evn_device *device, const evn_counts *since);
    /* loops: a unit's devices */
    evn_status (*loop_open)(struct evn_loop *loop, struct worker *w, evn_unit *unit);
    void (*loop_close)(struct worker *w);
    void (*split)(const struct evn_loop *loop, struct worker *w, int count);
    double (*run)(struct evn_loop *loop, evn_unit *unit, struct worker *w, double begin);
    evn_status (*mark)(struct evn_batch *b, int until);
    void (*forget)(struct in_flight *f);
    /* places: a device's space */
    evn_status (*space_open)(struct space *s);
    void (*space_close)(struct space *s);
    evn_status (*copy)(const struct space *from, size_t from_at, const struct space *to,
                       size_t to_at, void *host, size_t bytes);
    evn_status (*copy_within)(evn_queue *queue, evn_buffer *to, size_t to_at,
                              const evn_buffer *from, size_t from_at, size_t bytes);
    evn_status (*poison)(evn_queue *queue, evn_buffer *buffer, size_t at, size_t bytes);
    evn_status (*buffer_open)(evn_buffer **out, evn_device *device, size_t bytes);
    void (*buffer_close)(evn_buffer *buffer);
    evn_status (*finish)(evn_queue *queue);
    /* exchanges: ends on devices */
    const struct transport *const *transports; /* NULL behind the last */
    evn_status (*connect)(struct evn_exchange *x);
    evn_status (*end_open)(struct end *e, size_t element);
    void (*end_stop)(struct end *e);
    void (*end_close)(struct end *e);
    int (*add)(struct copies *c, struct shape shape, size_t element, const struct side *from,
               const struct side *to);
    void (*cut)(struct copies *c, int first);
    evn_status (*lists_send)(struct end *e);
    evn_status (*pack)(const struct evn_exchange *x, struct end *e);
    evn_status (*copy_directly)(const struct evn_exchange *x, struct end *e);
    evn_status (*arrive)(struct end *e);
    evn_status (*unpack)(const struct evn_exchange *x, struct end *e);
    /* regions of faces between ranks of the end's device, from and to messages */
    evn_status (*copy_out)(const struct end *e, size_t at, void *to, size_t bytes);
    evn_status (*copy_in)(const struct end *e, size_t at, const void *from, size_t bytes);
    evn_status (*copied_in)(const struct end *e); /* waits */
};

extern const struct device_ops device_ops __attribute__((weak));

static inline int device_ops_linked(void) { return &device_ops != NULL; }

/* Number of devices that a specification gives; NULL: of real GPUs, 0 without the table.
 * EVN_MISSING: devices are asked for, and there is no table (unit.c). */
evn_status unit_count_devices(const char *devices, int *count);
