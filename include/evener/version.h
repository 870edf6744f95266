/* For programs: the version of the headers and of the library. */
#ifndef EVENER_VERSION_H
#define EVENER_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

/* Version of these headers, as a text, and as a number for #if: 10000 for each major version, 100
 * for each minor one, and the patch. */
#define EVN_VERSION        "0.1.0"
#define EVN_VERSION_NUMBER 100

/* Version of the library that the program runs with; a shared library may be newer than the
 * headers. */
const char *evn_version(void);

#ifdef __cplusplus
}
#endif
#endif
