/* Phases of a run's time, printed and in the record. */
#include "common/run/phases.h"
#include "common/run/record.h"

void phases_print(FILE *out, int count, const char *(*name)(int), const double *seconds) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += seconds[i];
    fprintf(out, "\n  phase      seconds  share\n");
    for (int i = 0; i < count; i++)
        if (seconds[i] > 0)
            fprintf(out, "  %-9s  %7.3f  %4.1f %%\n", name(i), seconds[i], 100 * seconds[i] / sum);
}

void phases_record(cJSON *root, int count, const char *(*name)(int), const double *seconds) {
    cJSON *phases = cJSON_AddObjectToObject(root, "phases");
    for (int i = 0; i < count; i++)
        if (seconds[i] > 0) record_number(phases, name(i), seconds[i]);
}

void phases_print_devices(FILE *out, const struct run_result *r) {
    for (int d = 0; r->phases && d < r->devices; d++) {
        const struct run_phases *p = &r->phases[d];
        double sum = 0;
        for (int i = 0; i < p->count; i++) sum += p->phase[i].seconds;
        fprintf(out, "\n  device %-9d    seconds  share   launches  us a launch\n", d);
        for (int i = 0; i < p->count; i++) {
            const evn_device_phase *one = &p->phase[i];
            fprintf(out, "  %-16s  %9.6f  %4.1f %%  %9lld  %11.1f\n", one->name, one->seconds,
                    sum > 0 ? 100 * one->seconds / sum : 0, one->launches,
                    1e6 * one->seconds / (double)one->launches);
        }
    }
}
