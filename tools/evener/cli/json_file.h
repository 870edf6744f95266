/* JSON from files that a user names: parsed, or one line that says where it is wrong. */
#ifndef TOOL_JSON_FILE_H
#define TOOL_JSON_FILE_H

#include <cjson/cJSON.h>

/* Reads the file whole and parses it; 0, or an exit status after a message with line and column.
 * The caller deletes *out. */
int json_file_read(cJSON **out, const char *path);

#endif
