/* The one file that knows the commit: others need not be compiled again for it. */
#include "common/build.h"

const struct build build = {EVENER_COMPILER, EVENER_FLAGS, EVENER_COMMIT, EVENER_DATE};
