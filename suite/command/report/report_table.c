/* Tables of td-bem (CSV) as what the page draws: {"table": kind, "columns": [names],
 * "values": [[numbers of the first column], ..]}, null for nan. */
#include "common/cli/lines.h"
#include "common/cli/message.h"
#include "report/report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What can be drawn; more columns than these are left out, more rows are too many for a page. */
enum { COLUMNS_MAX = 64, ROWS_MAX = 100000 };

static const struct {
    const char *begin, *kind; /* of the line of names */
} kinds[] = {{"w,plane,theta,", "far-field"},
             {"w,re_scattered_1,", "transfer-function"},
             {"t,scattered_1,", "impulse-response"},
             {"t,p_scattered_1,", "probe-output"},
             {"n,t,a", "vertex-output"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The line of names: columns without numbers. */
static cJSON *begin_table(const char *file, char *line) {
    size_t k = 0;
    while (k < KINDS && strncmp(line, kinds[k].begin, strlen(kinds[k].begin)) != 0) k++;
    if (k == KINDS) {
        complain("%s: no such table is drawn; expected one that td-bem wrote for --far-field, "
                 "--transfer-function, --impulse-response, --probe-output or --vertex-output",
                 file);
        return NULL;
    }
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "table", kinds[k].kind);
    cJSON *columns = cJSON_AddArrayToObject(root, "columns");
    cJSON *values = cJSON_AddArrayToObject(root, "values");
    char *next = NULL;
    int count = 0;
    for (char *name = strtok_r(line, ",\r", &next); name; name = strtok_r(NULL, ",\r", &next)) {
        if (count++ == COLUMNS_MAX) break;
        cJSON_AddItemToArray(columns, cJSON_CreateString(name));
        cJSON_AddItemToArray(values, cJSON_CreateArray());
    }
    return root;
}

/* Whether the line has a number for each column that is kept. */
static int add_row(cJSON *root, const char *p) {
    cJSON *column;
    cJSON_ArrayForEach(column, cJSON_GetObjectItemCaseSensitive(root, "values")) {
        char *end;
        const double value = strtod(p, &end);
        if (end == p || isinf(value) || (*end && *end != ',' && *end != '\r')) return 0;
        cJSON_AddItemToArray(column, isnan(value) ? cJSON_CreateNull() : cJSON_CreateNumber(value));
        p = *end == ',' ? end + 1 : end;
    }
    return 1;
}

cJSON *report_table(const char *file) {
    struct lines *in = lines_open(file, file);
    cJSON *root = NULL;
    int code = 0, rows = 0;
    char *line;
    if (!in) return NULL;
    while (!code && (line = lines_next(in, file, &code))) {
        if (*line == '#') continue;
        if (!root) {
            root = begin_table(file, line);
            code = root ? 0 : EXIT_USAGE;
        } else if (!add_row(root, line)) {
            code =
                complain("%s: line %d: expected a number for each of the names", file, in->number);
        } else if (++rows > ROWS_MAX) {
            code = complain("%s: more than %d rows, which are too many for a page", file, ROWS_MAX);
        }
    }
    lines_close(in);
    if (!code && !rows)
        code = complain("%s: there are no numbers in it; expected a table of td-bem", file);
    if (!code) return root;
    cJSON_Delete(root);
    return NULL;
}
