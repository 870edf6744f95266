/* Opens one of everything. */
#include "misuse/world.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(evn_status status) {
    if (!status) return;
    printf("the world cannot be opened: %s\n", evn_message());
    exit(WRONG);
}

static void open_units(struct world *w) {
    must(evn_machine_open(&w->machine));
    must(evn_units_open(&w->units, w->machine, "1:CPU:1,1:GPU:2", "emulated", EVN_OVERSUBSCRIBE));
    must(evn_units_open(&w->other, w->machine, "2:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    must(evn_units_open(&w->described, w->machine, "1:CPU:1,1:GPU:1", NULL, EVN_DESCRIBE_ONLY));
    must(evn_units_open(&w->described_cores, w->machine, "2:CPU:1", NULL, EVN_DESCRIBE_ONLY));
    must(evn_crew_open(&w->crew, w->other, 0));
    w->cpu = evn_units_get(w->units, 0);
    w->gpu = evn_units_get(w->units, 1);
}

static void open_device(struct world *w) {
    must(evn_device_open(&w->device, "emulated:2", 0));
    must(evn_device_open(&w->device2, "emulated:2", 1));
    must(evn_queue_open(&w->queue, w->device));
    must(evn_queue_open(&w->queue2, w->device2));
    must(evn_buffer_open(&w->buffer, w->device, 1024));
    must(evn_buffer_open(&w->buffer2, w->device2, 1024));
    must(evn_event_open(&w->event, w->device));
    must(evn_kernel_get(w->device, &probe_kernels, "axpy", &w->kernel));
}

static void open_place(struct world *w) {
    must(evn_place_open(&w->place, w->units, 0.5));
    for (int t = 0; t < TASKS; t++)
        must(evn_place_add(w->place, w->block[t], BYTES, &w->region[t]));
    must(evn_place_add(w->place, w->block[TASKS], BYTES, &w->held));
    must(evn_place_acquire(w->place, 1, &w->held, EVN_HOST, EVN_BOTH));
    must(evn_place_make(w->place, BYTES, &w->made));
    must(evn_place_add(w->place, NULL, BYTES, &w->absent));
    w->space = evn_place_space(w->place, w->gpu, 0);
}

static void open_loops(struct world *w) {
    static const evn_link link = {{0, 1}, 8};
    const evn_problem two = {.tasks = TASKS, .units = 2, .links = 1, .link = &link},
                      three = {.tasks = TASKS, .units = 3};
    must(evn_schedule_open(&w->schedule, "static", &two));
    must(evn_schedule_open(&w->plain_schedule, "static", &two));
    must(evn_schedule_open(&w->of_three, "static", &three));
    must(evn_loop_open(&w->loop, w->units, w->schedule));
    must(evn_loop_open(&w->plain_loop, w->other, w->plain_schedule));
    must(evn_loop_place(w->loop, w->place, 1, w->region, (evn_access[]){EVN_BOTH}));
    const evn_face face = {.from = 0, .to = 4, .from_at = VALUES - 1, .n = {1, 1, 1}};
    must(evn_exchange_open(&w->exchange, w->loop, 8, 1, &face, NULL));
    must(evn_recovery_open(&w->recovery, w->loop, 2, NULL));
}

static void open_model(struct world *w) {
    static const double seconds[TASKS] = {1, 2, 3, 4, 5, 6};
    w->model = (evn_model){.tasks = TASKS, .seconds = seconds, .units = 2, .kinds = 1};
    must(evn_simulation_open(&w->simulation, &w->model));
}

void open_world(struct world *w) {
    *w = (struct world){0};
    open_units(w);
    open_device(w);
    open_place(w);
    open_loops(w);
    open_model(w);
    must(evn_cluster_open(&w->cluster, "alone"));
    must(evn_open(&w->session, "1:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    must(evn_open_loop(&w->session_loop, w->session, "static", &(evn_problem){.tasks = TASKS}));
}

/* ---- calls --------------------------------------------------------------------------------- */

static const char old[] = "an old message";

void begin_call(void) { evn_fail(EVN_SYSTEM, "%s", old); }

int end_call(const char *call, int is_right, const char *says) {
    const char *message = evn_message();
    if (is_right && strstr(message, says) && strcmp(message, old) != 0) return RIGHT;
    printf("%s: %s, and the message, which must say \"%s\", is: %s\n", call,
           is_right ? "answers well" : "answers wrongly", says, message);
    return WRONG;
}

int end_fine(const char *call, int is_right) {
    if (!is_right) printf("%s: answers wrongly\n", call);
    return is_right ? RIGHT : WRONG;
}
