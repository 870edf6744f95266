/* The library's version. */
#include <evener/version.h>

const char *evn_version(void) { return EVN_VERSION; }
