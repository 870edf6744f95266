/* The assignment that the user of a program has planned, from a file. */
#include "session/session.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAN_LARGEST = 1 << 30 }; /* bytes */

/* A file's text, to be freed; NULL with errno. */
static char *read_text(const char *path) {
    FILE *f = fopen(path, "re");
    char *text = NULL;
    size_t length = 0, room = 0;
    while (f && length < PLAN_LARGEST) {
        if (length + 1 >= room) {
            char *more = realloc(text, room = room ? 2 * room : 1 << 12);
            if (!more) break;
            text = more;
        }
        const size_t got = fread(text + length, 1, room - length - 1, f);
        if (got) {
            length += got;
            continue;
        }
        if (ferror(f)) break;
        fclose(f);
        text[length] = '\0';
        return text;
    }
    const int error = errno ? errno : EFBIG;
    if (f) fclose(f);
    free(text);
    errno = error;
    return NULL;
}

/* The file of EVENER_PLAN, FILE or LOOP:FILE, for the loop that is opened; NULL: none. */
static const char *find_plan(const evn_session *s) {
    const char *plan = session_variable(s, "EVENER_PLAN");
    const size_t digits = plan ? strspn(plan, "0123456789") : 0;
    char *file;
    if (!digits || plan[digits] != ':') return plan;
    return strtol(plan, &file, 10) == s->numbered ? file + 1 : NULL;
}

evn_status session_take_plan(const evn_session *s, evn_schedule *schedule) {
    const char *path = find_plan(s);
    if (!path) return EVN_OK;
    errno = 0;
    char *text = read_text(path), message[1024];
    if (!text)
        return evn_fail(EVN_USAGE, "EVENER_PLAN: %s cannot be read: %s", path, strerror(errno));
    const char first = text[strspn(text, " \t\r\n")];
    evn_status status;
    if (!first || first == '{')
        status = evn_fail(EVN_USAGE,
                          "%s; expected the unit of each task, as evener plan "
                          "--assignment FILE writes them",
                          first ? "it is a record" : "it is empty");
    else
        status = evn_schedule_import(schedule, text);
    free(text);
    if (!status) return EVN_OK;
    snprintf(message, sizeof message, "%s", evn_message());
    return evn_fail(status, "EVENER_PLAN: %s: %s", path, message);
}
