/* The commit of the build; a file of its own, so that only it is compiled again for each commit. */
#include "common/run/build.h"

const struct build build = {EVENER_COMPILER, EVENER_FLAGS, EVENER_COMMIT, EVENER_DATE};
