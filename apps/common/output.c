/* Files that are whole or not there. */
#include "common/output.h"
#include "common/message.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int output_open(struct output *o, const char *path) {
    *o = (struct output){.path = path, .fd = -1};
    if (!path || !strcmp(path, "-")) return 0;
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        /* a device or a pipe cannot be replaced by renaming: write into it */
        o->fd = S_ISDIR(there.st_mode) ? -1 : open(path, O_WRONLY);
        if (S_ISDIR(there.st_mode)) errno = EISDIR;
    } else {
        size_t size = strlen(path) + 16;
        o->beside = malloc(size);
        if (o->beside) {
            snprintf(o->beside, size, "%s.XXXXXX", path);
            o->fd = mkstemp(o->beside);
            if (o->fd >= 0) {
                mode_t mask = umask(0);
                umask(mask);
                fchmod(o->fd, 0666 & ~mask); /* mkstemp's 0600 is not what a user expects */
            }
        }
    }
    if (o->fd >= 0) return 0;
    complain("%s cannot be written: %s; name a file in a folder that exists and is yours, or -",
             path, strerror(errno));
    free(o->beside);
    o->beside = NULL;
    return -1;
}

static int write_all(int fd, const char *text) {
    for (size_t left = strlen(text); left;) {
        ssize_t n = write(fd, text, left);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        text += n;
        left -= (size_t)n;
    }
    return 0;
}

FILE *output_stream(struct output *o) {
    if (!o->stream) o->stream = strcmp(o->path, "-") ? fdopen(o->fd, "w") : stdout;
    if (!o->stream) complain("%s cannot be written: %s", o->path, strerror(errno));
    return o->stream;
}

/* Ends the stream or the descriptor, whichever there is; 0 if all of it has been written. */
static int finish(struct output *o) {
    int failed = 0;
    if (o->stream && o->stream != stdout) {
        failed = fflush(o->stream) || ferror(o->stream) || (o->beside && fsync(o->fd));
        failed = fclose(o->stream) || failed;
    } else if (o->fd >= 0) {
        failed = o->beside && fsync(o->fd);
        failed = close(o->fd) || failed;
    }
    o->stream = NULL;
    o->fd = -1;
    return failed;
}

int output_commit(struct output *o, const char *text) {
    if (!o->path) return 0;
    if (!strcmp(o->path, "-")) {
        if (text) fputs(text, stdout);
        return 0;
    }
    int failed = text && write_all(o->fd, text);
    failed = finish(o) || failed;
    if (!failed && o->beside) failed = rename(o->beside, o->path);
    if (failed) complain("%s could not be written: %s", o->path, strerror(errno));
    if (failed && o->beside) unlink(o->beside);
    free(o->beside);
    o->beside = NULL;
    return failed ? -1 : 0;
}

void output_discard(struct output *o) {
    finish(o);
    if (o->beside) unlink(o->beside);
    free(o->beside);
    *o = (struct output){.fd = -1};
}
