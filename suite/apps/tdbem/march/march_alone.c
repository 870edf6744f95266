/* tdbem_march(): a march on this process's cores, without units and schedules of the caller's. */
#include "tdbem/problem.h"
#include <stdio.h>
#include <stdlib.h>

static evn_status march(tdbem *p, const evn_machine *machine, const tdbem_run_options *options,
                        tdbem_result *result) {
    const int all = evn_machine_cores(machine), wanted = p->options.cores;
    evn_units *units = NULL;
    evn_schedule *schedule = NULL;
    evn_problem tasks = tdbem_tasks(p);
    char list[32];
    tasks.units = wanted && wanted < all ? wanted : all;
    snprintf(list, sizeof list, "%d:CPU:1", tasks.units);
    evn_status status = evn_units_open(&units, machine, list, NULL, 0);
    if (!status) status = solver_check_units(p->solver_kind, units);
    if (!status) status = evn_schedule_open(&schedule, "interval", &tasks);
    if (!status) status = tdbem_run(p, units, schedule, NULL, options, result);
    evn_schedule_close(schedule);
    evn_units_close(units);
    return status;
}

evn_status tdbem_march(tdbem *p, const tdbem_run_options *options, tdbem_outcome *out) {
    if (!p || !out)
        return evn_fail(EVN_USAGE, "tdbem_march(): the %s is NULL", p ? "outcome" : "problem");
    *out = (tdbem_outcome){0};
    evn_machine *machine = NULL;
    tdbem_result *r = calloc(1, sizeof *r);
    if (!r) return evn_fail(EVN_MEMORY, "td-bem: not enough memory");
    evn_status status = evn_machine_open(&machine);
    if (!status) status = march(p, machine, options, r);
    evn_machine_close(machine);
    if (status) {
        free(r);
        return status;
    }
    *out = (tdbem_outcome){.steps = r->run.steps,
                           .seconds = r->run.seconds,
                           .max = r->max,
                           .max_after = r->max_after,
                           .latest = r->latest,
                           .null_field = r->null_field,
                           .columns = r->columns,
                           .column = r->column,
                           .kept = r};
    return EVN_OK;
}

void tdbem_outcome_free(tdbem_outcome *out) {
    if (out->kept) tdbem_result_free(out->kept);
    free(out->kept);
    *out = (tdbem_outcome){0};
}
