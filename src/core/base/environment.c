/* Names of the environment: all that are Evener's, and those that look like it. */
#include <evener/text.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

/* Variables that are read, in alphabetic order. */
static const char *const known[] = {
    "BIND",     "CACHE",  "CBC",           "CC",    "CC_INCLUDE", "CC_LINK", "CLAIMS", "CXX",
    "DEVICES",  "FC",     "HIPRTC",        "ISA",   "KERNELS",    "LIBCUDA", "LIBHIP", "LOG",
    "MUMPS",    "NVRTC",  "OVERSUBSCRIBE", "PLAN",  "PROCESSES",  "RAW",     "RECORD", "REPORT",
    "SCHEDULE", "SCOTCH", "SMT",           "TRACE", "UNITS",      "WATCH",   "WIRE",
};

/* Names that modules of software and CMake give to places, and those of the project's tests. */
static const char *const others[] = {
    "BIN",  "DIR",    "HOME", "INC",     "INCLUDE", "LIB",         "LIBRARY", "MODULE",
    "PATH", "PREFIX", "ROOT", "VERSION", "AARCH64", "CALIBRATION", "FAULTS",  "FT",
    "FUZZ", "KILLS",  "MG",   "RANKS",   "SEED",    "SHARED",      "SIGNALS",
};

static const char prefix[] = "EVENER_", of_tests[] = "TEST_";
enum { PREFIX = sizeof prefix - 1, NAME_MAX_ = 64, MOST = 24 };

static int is_in(const char *const *list, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i], name)) return 1;
    return 0;
}

static char capital(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

/* Number of letters to add, drop or change between a name and one in capitals, of at most MOST
 * letters each. */
static int distance(const char *a, const char *b) {
    const int n = (int)strlen(a), m = (int)strlen(b);
    int row[MOST + 1];
    if (n > MOST || m > MOST) return MOST;
    for (int j = 0; j <= m; j++) row[j] = j;
    for (int i = 1; i <= n; i++) {
        int before = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            const int changed = before + (capital(a[i - 1]) != b[j - 1]);
            before = row[j];
            const int one = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = one < changed ? one : changed;
        }
    }
    return row[m];
}

static const char *nearest(const char *name) {
    const char *found = known[0];
    for (size_t i = 1; i < sizeof known / sizeof *known; i++)
        if (distance(name, known[i]) < distance(name, found)) found = known[i];
    return found;
}

int evn_environment_stray(int i, char *line, size_t size) {
    for (char **e = environ; e && *e; e++) {
        char name[NAME_MAX_];
        const size_t length = strcspn(*e, "=");
        if (strncmp(*e, prefix, PREFIX) != 0) continue;
        snprintf(name, sizeof name, "%.*s", (int)(length - PREFIX), *e + PREFIX);
        if (is_in(known, sizeof known / sizeof *known, name) ||
            is_in(others, sizeof others / sizeof *others, name) ||
            !strncmp(name, of_tests, sizeof of_tests - 1))
            continue;
        if (i--) continue;
        char text[200];
        snprintf(text, sizeof text,
                 "the variable %s%s of the environment is none of Evener's and has no effect; the "
                 "nearest "
                 "is %s%s",
                 prefix, name, prefix, nearest(name));
        evn_plain(line, size, text);
        return 1;
    }
    return 0;
}
