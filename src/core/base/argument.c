/* Messages for arguments that are NULL. */
#include "base/argument.h"

evn_status argument_missing(const char *function, const char *what) {
    return evn_fail(EVN_USAGE, "%s(): NULL instead of %s", function, what);
}
