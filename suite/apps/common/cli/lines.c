/* Reading text files line by line. */
#include "common/cli/lines.h"
#include "common/cli/message.h"
#include "common/cli/input.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct lines *lines_open(const char *name, const char *path) {
    struct lines *l = malloc(sizeof *l);
    FILE *in = l ? input_open(path) : NULL;
    if (in) {
        l->in = in;
        l->number = 0;
        l->bytes = 0;
        return l;
    }
    complain("%s: it cannot be read: %s", name, l ? strerror(errno) : "not enough memory");
    free(l);
    return NULL;
}

void lines_close(struct lines *l) {
    if (!l) return;
    fclose(l->in);
    free(l);
}

/* The bytes of the next line, its end included; more than LINE_BYTES: it is too long. */
static size_t take(struct lines *l) {
    size_t n = 0;
    for (int c; n <= LINE_BYTES && (c = getc_unlocked(l->in)) != EOF;) {
        l->text[n++] = (char)c;
        if (c == '\n') break;
    }
    return n;
}

char *lines_next(struct lines *l, const char *name, int *code) {
    errno = 0;
    const size_t n = take(l);
    const int reason = errno;
    *code = 0;
    l->number++;
    l->bytes += n;
    if (ferror(l->in)) {
        complain("%s: it cannot be read: %s", name, strerror(reason ? reason : EIO));
    } else if (!n) {
        return NULL;
    } else if (memchr(l->text, 0, n)) {
        complain("%s: line %d has a zero byte; expected a text", name, l->number);
    } else if (n > LINE_BYTES) {
        complain("%s: line %d is longer than %d characters", name, l->number, LINE_BYTES);
    } else if (l->bytes > LINES_BYTES) {
        complain("%s: it is larger than %d MiB", name, LINES_BYTES >> 20);
    } else {
        l->text[n - (l->text[n - 1] == '\n')] = 0;
        return l->text;
    }
    *code = EXIT_USAGE;
    return NULL;
}
