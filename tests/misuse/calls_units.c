/* Wrong calls of statuses, the machine, units and crews. */
#include "misuse/world.h"
#include <evener/plugin.h>
#include <evener/text.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#if EVN_VERSION_NUMBER < 100
#    error "the first version is 0.1.0"
#endif

/* As <evener/version.h> says of EVN_VERSION_NUMBER. */
static int number_of(const char *version) {
    int major = -1, minor = -1, patch = -1;
    sscanf(version, "%d.%d.%d", &major, &minor, &patch);
    return 10000 * major + 100 * minor + patch;
}

int calls_status(struct world *w, int row) {
    (void)w;
    const char *const nothing = NULL, *library;
    char text[64];
    IS(0, strcmp(evn_status_text((evn_status)99), "no such status"))
    IS(0, strcmp(evn_status_text((evn_status)-1), "no such status"))
    FAILS(EVN_BODY, "no message", evn_fail(EVN_BODY, nothing))
    FAILS(EVN_BODY, "no message", evn_fail_text(EVN_BODY, NULL))
    IS(1, evn_now() > 0)
    IS(0, strcmp(evn_version(), EVN_VERSION))
    IS(EVN_VERSION_NUMBER, number_of(EVN_VERSION))
    IS(NULL, evn_backend_name(-1))
    IS(NULL, evn_backend_name(INT_MAX))
    IS(NULL, evn_schedule_name(-1, NULL))
    IS(NULL, evn_schedule_name(INT_MAX, NULL))
    IS(0, strcmp(evn_schedule_name(0, NULL), "static"))
    USAGE("a schedule's name", evn_schedule_library(NULL, &library, text, sizeof text))
    USAGE("library's name", evn_schedule_library("map", NULL, text, sizeof text))
    USAGE("version", evn_schedule_library("map", &library, NULL, 9))
    USAGE("none called", evn_schedule_library("mop", &library, text, sizeof text))
    IS(0, evn_schedule_library("static", &library, text, sizeof text) || library || *text)
    IS(0, strcmp(evn_limits_text(1, NULL, 9), ""))
    IS(0, strcmp(evn_limits_text(1, text, 0), ""))
    IS(1, *evn_limits_text(-1, text, sizeof text) != 0)
    CALLS_END
}

int calls_machine(struct world *w, int row) {
    evn_machine *m;
    USAGE("NULL", evn_machine_open(NULL))
    USAGE("NULL", evn_machine_open_synthetic(NULL, "core:2 pu:1"))
    USAGE("description", evn_machine_open_synthetic(&m, NULL))
    USAGE("expected", evn_machine_open_synthetic(&m, ""))
    USAGE("expected", evn_machine_open_synthetic(&m, "core:-1"))
    IS(0, evn_machine_core_claimed(w->machine, -1))
    IS(0, evn_machine_core_claimed(w->machine, INT_MAX))
    IS(-1, evn_machine_core_number(w->machine, -1))
    IS(-1, evn_machine_core_number(w->machine, INT_MAX))
    FINE(evn_machine_memory_available(NULL))
    IS(0, evn_machine_cache(w->machine, -1, NULL))
    IS(0, evn_machine_cache(w->machine, INT_MAX, w->ints))
    IS(NULL, evn_machine_kind(w->machine, -1))
    IS(NULL, evn_machine_kind(w->machine, INT_MAX))
    IS(NULL, evn_machine_part(w->machine, -1))
    IS(NULL, evn_machine_part(w->machine, INT_MAX))
    IS(-1, evn_machine_part_of(w->machine, -1))
    IS(-1, evn_machine_part_of(w->machine, INT_MAX))
    CALLS_END
}

int calls_units(struct world *w, int row) {
    evn_units *u;
    USAGE("NULL", evn_units_open(NULL, w->machine, "1:CPU:1", NULL, 0))
    USAGE("a machine", evn_units_open(&u, NULL, "1:CPU:1", NULL, 0))
    USAGE("2:CPU:1", evn_units_open(&u, w->machine, NULL, NULL, 0))
    USAGE("expected", evn_units_open(&u, w->machine, "", NULL, 0))
    USAGE("zero units", evn_units_open(&u, w->machine, "0:CPU:1", NULL, 0))
    USAGE("from 1 to", evn_units_open(&u, w->machine, "1:CPU:0", NULL, 0))
    USAGE("column", evn_units_open(&u, w->machine, "-1:CPU:1", NULL, 0))
    USAGE("4096", evn_units_open(&u, w->machine, "99999999999999999999:CPU:1", NULL, 0))
    USAGE("4096", evn_units_open(&u, w->machine, "4096:CPU:1,1:CPU:1", NULL, EVN_DESCRIBE_ONLY))
    USAGE("flags", evn_units_open(&u, w->machine, "1:CPU:1", NULL, 32))
    USAGE("flags", evn_units_open(&u, w->machine, "1:CPU:1", NULL, UINT_MAX))
    USAGE("back end", evn_units_open(&u, w->machine, "1:GPU:1", "nonsense", 0))
    USAGE("back end", evn_units_open(&u, w->machine, "1:GPU:1", "", EVN_OVERSUBSCRIBE))
    IS(NULL, evn_units_get(w->units, -1))
    IS(NULL, evn_units_get(w->units, INT_MAX))
    USAGE("a job", evn_units_run(w->units, NULL, NULL))
    USAGE("a job", evn_units_run(w->described, NULL, NULL))
    IS(NULL, evn_units_here())
    CALLS_END
}

int calls_unit(struct world *w, int row) {
    IS(-1, evn_unit_core_number(w->cpu, -1))
    IS(-1, evn_unit_core_number(w->cpu, INT_MAX))
    IS(NULL, evn_unit_device(w->cpu, 0))
    IS(NULL, evn_unit_device(w->gpu, -1))
    IS(NULL, evn_unit_device(w->gpu, 2))
    IS(NULL, evn_unit_device(evn_units_get(w->described, 1), 0))
    IS(NULL, evn_unit_queue(w->gpu, INT_MIN))
    IS(NULL, evn_unit_queue(evn_units_get(w->described, 1), 0))
    SAYS("1 to 1000", evn_unit_slow(w->cpu, 0))
    SAYS("1 to 1000", evn_unit_slow(w->cpu, -2))
    SAYS("1 to 1000", evn_unit_slow(w->cpu, NAN))
    SAYS("1 to 1000", evn_unit_slow(w->cpu, INFINITY))
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
