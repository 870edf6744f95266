/* Wrong calls of statuses, the machine, units and crews. */
#include "misuse/world.h"
#include <limits.h>
#include <math.h>
#include <string.h>

int calls_status(struct world *w, int row) {
    (void)w;
    const char *const nothing = NULL;
    IS(0, strcmp(evn_status_text((evn_status)99), "no such status"))
    IS(0, strcmp(evn_status_text((evn_status)-1), "no such status"))
    FAILS(EVN_BODY, "no message", evn_fail(EVN_BODY, nothing))
    FAILS(EVN_BODY, "no message", evn_fail_text(EVN_BODY, NULL))
    IS(1, evn_now() > 0)
    IS(0, strcmp(evn_version(), EVN_VERSION))
    IS(NULL, evn_backend_name(-1))
    IS(NULL, evn_backend_name(INT_MAX))
    IS(NULL, evn_schedule_name(-1, NULL))
    IS(NULL, evn_schedule_name(INT_MAX, NULL))
    IS(0, strcmp(evn_schedule_name(0, NULL), "static"))
    CALLS_END
}

int calls_machine(struct world *w, int row) {
    evn_machine *m;
    USAGE("NULL", evn_machine_open(NULL))
    USAGE("NULL", evn_machine_open_synthetic(NULL, "core:2 pu:1"))
    USAGE("description", evn_machine_open_synthetic(&m, NULL))
    USAGE("expected", evn_machine_open_synthetic(&m, ""))
    USAGE("expected", evn_machine_open_synthetic(&m, "core:-1"))
    FINE(evn_machine_close(NULL))
    GIVES(0, "a machine", evn_machine_cores(NULL))
    GIVES(-1, "a machine", evn_machine_core_number(NULL, 0))
    GIVES(0, "a machine", evn_machine_core_claimed(NULL, 0))
    IS(0, evn_machine_core_claimed(w->machine, -1))
    IS(0, evn_machine_core_claimed(w->machine, INT_MAX))
    IS(-1, evn_machine_core_number(w->machine, -1))
    IS(-1, evn_machine_core_number(w->machine, INT_MAX))
    GIVES(0, "a machine", evn_machine_is_here(NULL))
    EMPTY("a machine", evn_machine_processor(NULL))
    GIVES(0, "a machine", evn_machine_memory(NULL))
    FINE(evn_machine_memory_available(NULL))
    GIVES(0, "a machine", evn_machine_cache(NULL, 1, w->ints))
    IS(0, evn_machine_cache(w->machine, -1, NULL))
    IS(0, evn_machine_cache(w->machine, INT_MAX, w->ints))
    GIVES(0, "a machine", evn_machine_packages(NULL))
    GIVES(0, "a machine", evn_machine_numa_nodes(NULL))
    GIVES(0, "a machine", evn_machine_limits(NULL).allowed)
    GIVES(0, "a machine", evn_machine_kinds(NULL))
    GIVES(NULL, "a machine", evn_machine_kind(NULL, 0))
    IS(NULL, evn_machine_kind(w->machine, -1))
    IS(NULL, evn_machine_kind(w->machine, INT_MAX))
    GIVES(0, "a machine", evn_machine_parts(NULL))
    GIVES(NULL, "a machine", evn_machine_part(NULL, 0))
    IS(NULL, evn_machine_part(w->machine, -1))
    IS(NULL, evn_machine_part(w->machine, INT_MAX))
    GIVES(-1, "a machine", evn_machine_part_of(NULL, 0))
    IS(-1, evn_machine_part_of(w->machine, -1))
    IS(-1, evn_machine_part_of(w->machine, INT_MAX))
    CALLS_END
}

static void job(evn_unit *unit, void *arg) { (void)unit, (void)arg; }

int calls_units(struct world *w, int row) {
    evn_units *u;
    USAGE("NULL", evn_units_open(NULL, w->machine, "1:CPU:1", 0))
    USAGE("a machine", evn_units_open(&u, NULL, "1:CPU:1", 0))
    USAGE("2:CPU:1", evn_units_open(&u, w->machine, NULL, 0))
    USAGE("expected", evn_units_open(&u, w->machine, "", 0))
    USAGE("zero units", evn_units_open(&u, w->machine, "0:CPU:1", 0))
    USAGE("from 1 to", evn_units_open(&u, w->machine, "1:CPU:0", 0))
    USAGE("column", evn_units_open(&u, w->machine, "-1:CPU:1", 0))
    USAGE("4096", evn_units_open(&u, w->machine, "99999999999999999999:CPU:1", 0))
    USAGE("4096", evn_units_open(&u, w->machine, "4096:CPU:1,1:CPU:1", EVN_DESCRIBE_ONLY))
    USAGE("flags", evn_units_open(&u, w->machine, "1:CPU:1", 32))
    USAGE("flags", evn_units_open(&u, w->machine, "1:CPU:1", UINT_MAX))
    USAGE("back end", evn_units_open_on(&u, w->machine, "1:GPU:1", "nonsense", 0))
    USAGE("back end", evn_units_open_on(&u, w->machine, "1:GPU:1", "", EVN_OVERSUBSCRIBE))
    FINE(evn_units_close(NULL))
    USAGE("units", evn_units_remove(NULL, 0))
    USAGE("no unit -1", evn_units_remove(w->other, -1))
    USAGE("no unit 2", evn_units_remove(w->other, 2))
    USAGE("last", (evn_units_remove(w->other, 0), evn_units_remove(w->other, 0)))
    GIVES(NULL, "units", evn_units_machine(NULL))
    EMPTY("units", evn_units_text(NULL))
    GIVES(0, "units", evn_units_count(NULL))
    GIVES(0, "units", evn_units_cpus(NULL))
    GIVES(0, "units", evn_units_gpus(NULL))
    GIVES(0, "units", evn_units_devices(NULL))
    GIVES(NULL, "units", evn_units_get(NULL, 0))
    IS(NULL, evn_units_get(w->units, -1))
    IS(NULL, evn_units_get(w->units, INT_MAX))
    USAGE("units", evn_units_run(NULL, job, NULL))
    USAGE("a job", evn_units_run(w->units, NULL, NULL))
    USAGE("a job", evn_units_run(w->described, NULL, NULL))
    IS(NULL, evn_units_here())
    GIVES(0, "units", evn_units_running(NULL))
    USAGE("units", evn_units_check_binding(NULL))
    CALLS_END
}

int calls_unit(struct world *w, int row) {
    GIVES(-1, "a unit", evn_unit_number(NULL))
    GIVES(0, "a unit", evn_unit_count(NULL))
    GIVES(0, "a unit", evn_unit_count_cpus(NULL))
    GIVES(0, "a unit", evn_unit_count_gpus(NULL))
    GIVES(0, "a unit", evn_unit_is_cpu(NULL))
    GIVES(0, "a unit", evn_unit_is_gpu(NULL))
    GIVES(0, "a unit", evn_unit_cores(NULL))
    GIVES(-1, "a unit", evn_unit_core_number(NULL, 0))
    IS(-1, evn_unit_core_number(w->cpu, -1))
    IS(-1, evn_unit_core_number(w->cpu, INT_MAX))
    EMPTY("a unit", evn_unit_binding(NULL))
    GIVES(0, "a unit", evn_unit_devices(NULL))
    GIVES(NULL, "a unit", evn_unit_device(NULL, 0))
    IS(NULL, evn_unit_device(w->cpu, 0))
    IS(NULL, evn_unit_device(w->gpu, -1))
    IS(NULL, evn_unit_device(w->gpu, 2))
    IS(NULL, evn_unit_device(evn_units_get(w->described, 1), 0))
    GIVES(NULL, "a unit", evn_unit_queue(NULL, 0))
    IS(NULL, evn_unit_queue(w->gpu, INT_MIN))
    IS(NULL, evn_unit_queue(evn_units_get(w->described, 1), 0))
    GIVES(-1, "a unit", evn_unit_device_number(NULL, 0))
    IS(-1, evn_unit_device_number(w->gpu, INT_MAX))
    SAYS("a unit", evn_unit_slow(NULL, 2))
    SAYS("1 to 1000", evn_unit_slow(w->cpu, 0))
    SAYS("1 to 1000", evn_unit_slow(w->cpu, -2))
    SAYS("1 to 1000", evn_unit_slow(w->cpu, NAN))
    SAYS("1 to 1000", evn_unit_slow(w->cpu, INFINITY))
    GIVES(0, "a unit", evn_unit_speed(NULL))
    GIVES(-1, "a unit", evn_unit_core_kind(NULL))
    GIVES(0, "a unit", evn_unit_slowness(NULL))
    SAYS("a unit", evn_unit_synchronize(NULL))
    SAYS("outside of evn_units_run()", evn_unit_synchronize(w->cpu))
    SAYS("outside of evn_units_run()", evn_unit_synchronize(w->gpu))
    CALLS_END
}

static void crew_job(evn_crew *crew, int me, int cores, void *arg) {
    (void)crew, (void)me, (void)cores, (void)arg;
}

static evn_status answer;
static void crew_in_crew(evn_crew *crew, int me, int cores, void *arg) {
    (void)cores, (void)arg;
    if (!me) answer = evn_crew_run(crew, NULL, 1, crew_job, NULL);
}

int calls_crew(struct world *w, int row) {
    evn_crew *c;
    USAGE("NULL", evn_crew_open(NULL, w->other, 0))
    USAGE("units", evn_crew_open(&c, NULL, 0))
    USAGE("-1 cores", evn_crew_open(&c, w->other, -1))
    FINE(evn_crew_close(NULL))
    IS(1, evn_crew_cores(w->crew, NAN, 1))
    IS(1, evn_crew_cores(w->crew, -5, 1))
    IS(1, evn_crew_cores(w->crew, 0, 0))
    IS(1, evn_crew_cores(NULL, 1e9, 1))
    IS(1, evn_crew_cores(w->crew, 1e300, 1e-300) >= 1)
    USAGE("a job", evn_crew_run(w->crew, NULL, 1, NULL, NULL))
    USAGE("a job", evn_crew_run(NULL, NULL, 1, NULL, NULL))
    IS(EVN_OK, evn_crew_run(w->crew, NULL, -3, crew_job, NULL))
    IS(EVN_OK, evn_crew_run(w->crew, NULL, INT_MAX, crew_job, NULL))
    USAGE("return first", (evn_crew_run(w->crew, NULL, 2, crew_in_crew, NULL), answer))
    USAGE("return first", (evn_crew_run(w->crew, NULL, 1, crew_in_crew, NULL), answer))
    FINE(evn_crew_barrier(NULL))
    SAYS("outside of a job", evn_crew_barrier(w->crew))
    SAYS("outside", (evn_crew_run(w->crew, NULL, 2, crew_job, NULL), evn_crew_barrier(w->crew)))
    IS(0, evn_crew_begin(10, 1, 0))
    IS(0, evn_crew_begin(10, 1, -1))
    IS(INT_MAX, evn_crew_begin(INT_MAX, 3, 3))
    CALLS_END
}
