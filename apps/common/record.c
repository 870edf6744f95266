/* Writing records. */
#include "common/record.h"
#include "common/build.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *number(double value) {
    if (!isfinite(value)) return cJSON_CreateNull();
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    return cJSON_CreateRaw(text);
}

void record_number(cJSON *object, const char *key, double value) {
    cJSON_AddItemToObject(object, key, number(value));
}

cJSON *record_numbers(const double *value, int n) {
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < n; i++) cJSON_AddItemToArray(array, number(value[i]));
    return array;
}

cJSON *record_machine(const evn_machine *m) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "processor", evn_machine_processor(m));
    cJSON_AddNumberToObject(o, "cores", evn_machine_cores(m));
    cJSON_AddNumberToObject(o, "packages", evn_machine_packages(m));
    cJSON_AddNumberToObject(o, "numa_nodes", evn_machine_numa_nodes(m));
    record_number(o, "memory", (double)evn_machine_memory(m));
    for (int level = 1; level <= 3; level++) {
        char key[16];
        snprintf(key, sizeof key, "l%d", level);
        record_number(o, key, (double)evn_machine_cache(m, level, NULL));
    }
    return o;
}

cJSON *record_build(void) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "compiler", build.compiler);
    cJSON_AddStringToObject(o, "flags", build.flags);
    cJSON_AddStringToObject(o, "commit", build.commit);
    return o;
}

char *record_text(cJSON *root) {
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text) return NULL;
    size_t n = strlen(text);
    char *line = realloc(text, n + 2);
    if (!line) {
        free(text);
        return NULL;
    }
    line[n] = '\n';
    line[n + 1] = 0;
    return line;
}

cJSON *record_devices(const evn_counts *device, int devices) {
    cJSON *list = cJSON_CreateArray();
    for (int d = 0; d < devices; d++) {
        const evn_counts *c = &device[d];
        cJSON *o = cJSON_CreateObject();
        cJSON_AddNumberToObject(o, "id", d);
        cJSON_AddNumberToObject(o, "launches", (double)c->launches);
        cJSON_AddNumberToObject(o, "copies_in", (double)c->copies_in);
        cJSON_AddNumberToObject(o, "copies_out", (double)c->copies_out);
        cJSON_AddNumberToObject(o, "copies_peer", (double)c->copies_peer);
        cJSON_AddNumberToObject(o, "bytes_in", (double)c->bytes_in);
        cJSON_AddNumberToObject(o, "bytes_out", (double)c->bytes_out);
        cJSON_AddNumberToObject(o, "bytes_peer", (double)c->bytes_peer);
        cJSON_AddItemToArray(list, o);
    }
    return list;
}
