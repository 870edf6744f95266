/* JSON from files that a user names: parsed, or one line that says where it is wrong. */
#pragma once

#include <cjson/cJSON.h>

/* Reads the file whole and parses it; 0, or an exit status after a message with line and column.
 * The caller deletes *out. */
int json_file_read(cJSON **out, const char *path);

/* Without a message: 0, or -1 and the fault in `why`, to be put after the path: "cannot be read:
 * .." */
int json_file_try(cJSON **out, const char *path, char *why, size_t size);

/* The text of a file, to be freed; NULL and the fault in `why`, as above. */
char *file_text(const char *path, char *why, size_t size);

/* The text of a key; NULL if there is none. */
const char *json_text(const cJSON *object, const char *key);

/* The number of a key, finite and not below 0; NAN if there is none. */
double json_number(const cJSON *object, const char *key);
