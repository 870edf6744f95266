/* Reading JSON files. */
#include "common/cli/json_file.h"
#include "common/cli/message.h"
#include "common/cli/input.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 30 }; /* bytes; a record of class F has 2^14 zones and is 2 MB */

char *file_text(const char *path, char *why, size_t size) {
    FILE *f = input_open(path);
    if (!f) {
        snprintf(why, size, "cannot be read: %s", strerror(errno));
        return NULL;
    }
    size_t n = 0, room = 0;
    char *text = NULL;
    errno = 0;
    for (;;) {
        if (n + 1 >= room) {
            room = room ? 2 * room : 1 << 16;
            char *more = room <= LARGEST ? realloc(text, room) : NULL;
            if (!more) {
                snprintf(why, size, "cannot be read: it is too large");
                free(text);
                fclose(f);
                return NULL;
            }
            text = more;
        }
        size_t got = fread(text + n, 1, room - n - 1, f);
        if (!got) break;
        n += got;
    }
    int failed = ferror(f);
    fclose(f);
    if (failed) {
        snprintf(why, size, "cannot be read: %s", strerror(errno ? errno : EIO));
        free(text);
        return NULL;
    }
    text[n] = 0;
    return text;
}

int json_file_try(cJSON **out, const char *path, char *why, size_t size) {
    *out = NULL;
    char *text = file_text(path, why, size);
    if (!text) return -1;
    const char *end = NULL;
    *out = cJSON_ParseWithOpts(text, &end, 1);
    if (!*out) {
        int line = 1, column = 1;
        for (const char *p = text; end && p < end; p++) {
            column = *p == '\n' ? 1 : column + 1;
            line += *p == '\n';
        }
        snprintf(why, size, "is no JSON: line %d, column %d", line, column);
    }
    free(text);
    return *out ? 0 : -1;
}

int json_file_read(cJSON **out, const char *path) {
    char why[256];
    if (!json_file_try(out, path, why, sizeof why)) return 0;
    return complain("%s %s", path, why);
}

const char *json_text(const cJSON *o, const char *key) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
}

double json_number(const cJSON *o, const char *key) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsNumber(v) && v->valuedouble >= 0 && isfinite(v->valuedouble) ? v->valuedouble
                                                                                : NAN;
}
