/* Files of a run, with complaints. */
#include "common/cli/output.h"
#include "common/cli/message.h"

int output_open(evn_output **out, const char *path) {
    *out = NULL;
    if (!path || !evn_output_open(out, NULL, path)) return 0;
    return complain("%s", evn_message()); /* nothing was started */
}

int output_commit(evn_output *out, const char *text) {
    if (out && text) fputs(text, evn_output_stream(out));
    if (!evn_output_commit(out)) return 0;
    complain("%s", evn_message());
    return EXIT_FAILED;
}
