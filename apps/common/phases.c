/* Where the time of a run went, on its page and in its record. */
#include "common/phases.h"
#include "common/record.h"

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
