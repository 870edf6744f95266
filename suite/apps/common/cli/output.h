/* Output files of a run (<evener/output.h>), with messages; texts and streams end alike. */
#pragma once

#include <evener/output.h>

/* Opens the file; 0, or an exit status after a complaint. path NULL: *out is NULL, and so are the
 * others' effects. */
int output_open(evn_output **out, const char *path);
/* Writes the text (NULL: no more than the stream has) and puts it in place; 0, or an exit status
 * after a complaint. */
int output_commit(evn_output *out, const char *text);
