/* Reading JSON files. */
#include "common/json_file.h"
#include "common/message.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 30 }; /* bytes; a record of class F has 2^14 zones and is 2 MB */

/* The text of a file, ended by a 0; NULL after a message. */
static char *read_all(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) {
        complain("%s cannot be read: %s", path, strerror(errno));
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
                complain("%s cannot be read: it is too large", path);
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
        complain("%s cannot be read: %s", path, strerror(errno ? errno : EIO));
        free(text);
        return NULL;
    }
    text[n] = 0;
    return text;
}

int json_file_read(cJSON **out, const char *path) {
    *out = NULL;
    char *text = read_all(path);
    if (!text) return EXIT_USAGE;
    const char *end = NULL;
    *out = cJSON_ParseWithOpts(text, &end, 1);
    if (!*out) {
        int line = 1, column = 1;
        for (const char *p = text; end && p < end; p++) {
            column = *p == '\n' ? 1 : column + 1;
            line += *p == '\n';
        }
        complain("%s: line %d, column %d: this is no JSON", path, line, column);
    }
    free(text);
    return *out ? 0 : EXIT_USAGE;
}

const char *json_text(const cJSON *o, const char *key) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
}

double json_number(const cJSON *o, const char *key) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsNumber(v) && v->valuedouble >= 0 && isfinite(v->valuedouble) ? v->valuedouble
                                                                                : NAN;
}
