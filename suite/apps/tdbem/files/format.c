/* The table of formats. */
#include "tdbem/files/format.h"
#include "tdbem/files/sofa.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *end, *what;
} formats[] = {[FORMAT_CSV] = {".csv", "a text table"},
               [FORMAT_NPZ] = {".npz", "arrays for numpy"},
               [FORMAT_WAV] = {".wav", "sound"},
               [FORMAT_SOFA] = {".sofa", "SOFA"}};
enum { FORMATS = sizeof formats / sizeof *formats };

evn_status format_find(enum format *out, const char *path, unsigned set) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *end = strrchr(name, '.');
    char right[128] = "";
    size_t at = 0;
    *out = FORMAT_CSV;
    if (!end || !strcmp(name, ".") || !strcmp(name, "..")) return EVN_OK; /* folders are no files */
    for (int f = 0; f < FORMATS; f++) {
        if (!(set >> f & 1)) continue;
        *out = (enum format)f;
        if (!strcasecmp(end, formats[f].end)) return f == FORMAT_SOFA ? sofa_find() : EVN_OK;
        at += (size_t)snprintf(right + at, sizeof right - at, "%s%s (%s)", at ? ", " : "",
                               formats[f].end, formats[f].what);
    }
    return evn_fail(EVN_USAGE,
                    "%s: it cannot be written as %s; expected a name that ends with one of %s",
                    path, end, right);
}
