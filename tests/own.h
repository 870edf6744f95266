/* Variables of tests that are closed where their block ends, the last one first; a test that fails
 * leaves them open. */
#pragma once

#include <evener/crew.h>
#include <evener/exchange.h>
#include <evener/model.h>
#include <evener/shared.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ENDS(close_work) struct work w; OWN(schedule) *s; HEAP double *x; any number in a line */
#define ENDS(close) __attribute__((cleanup(close)))
#define OWN(name)   ENDS(drop_##name) own_##name
#define HEAP        ENDS(drop_heap)

static inline void drop_heap(void *variable) {
    void *memory;
    memcpy(&memory, variable, sizeof memory);
    free(memory);
}

/* OPEN(schedule, "static", &problem): what evn_schedule_open() gives, which must succeed */
#define OPEN(name, ...)                                                                            \
    ({                                                                                             \
        own_##name *opened_;                                                                       \
        assert_ok(evn_##name##_open(&opened_, ##__VA_ARGS__));                                     \
        opened_;                                                                                   \
    })

/* OWNED(name, type, close): that OWN(name) stands for this type. */
#define OWNED(name, type, close)                                                                   \
    typedef type own_##name;                                                                       \
    static inline void drop_##name(type **variable) { close(*variable); }
OWNED(device, evn_device, evn_device_close)
OWNED(queue, evn_queue, evn_queue_close)
OWNED(buffer, evn_buffer, evn_buffer_close)
OWNED(event, evn_event, evn_event_close)
OWNED(machine, evn_machine, evn_machine_close)
OWNED(units, evn_units, evn_units_close)
OWNED(crew, evn_crew, evn_crew_close)
OWNED(place, evn_place, evn_place_close)
OWNED(schedule, evn_schedule, evn_schedule_close)
OWNED(loop, evn_loop, evn_loop_close)
OWNED(exchange, evn_exchange, evn_exchange_close)
OWNED(simulation, evn_simulation, evn_simulation_close)
OWNED(shared, evn_shared, evn_shared_close)
OWNED(file, FILE, fclose)
