/* Which Evener this is. */
#ifndef EVENER_VERSION_H
#define EVENER_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

/* Of these headers. */
#define EVN_VERSION "0.1.0"

/* Of the library that the program runs with, which a shared one may have changed since the program
 * was compiled. */
const char *evn_version(void);

#ifdef __cplusplus
}
#endif
#endif
