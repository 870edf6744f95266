/* Opening files that are read. Opening is non-blocking, since a pipe without a writer would be
 * waited for in silence. */
#include "common/cli/input.h"
#include "common/cli/message.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOON = 500 }; /* ms until it is said that a pipe is waited for */

/* Until somebody writes. A signal that ends the command does so from its handler's thread. */
static int await_writer(int fd, const char *path) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    int ready = poll(&one, 1, SOON);
    if (!ready)
        complain("warning: %s is a named pipe to which nobody writes; waiting for that", path);
    while (!ready || (ready < 0 && errno == EINTR)) ready = poll(&one, 1, -1);
    return ready < 0 || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0;
}

/* Editors begin a text in UTF-8 with three bytes that say so and are no part of its first line. */
static void skip_mark(FILE *file) {
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
    int n = 0, c = 0;
    while (n < 3 && (c = getc(file)) == mark[n]) n++;
    if (n == 3) return;
    ungetc(c, file);
    while (n) ungetc(mark[--n], file);
}

FILE *input_open(const char *path) {
    struct stat is;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return NULL;
    int failed = fstat(fd, &is);
    if (!failed && S_ISFIFO(is.st_mode)) failed = await_writer(fd, path);
    FILE *file = failed ? NULL : fdopen(fd, "rb");
    if (file) skip_mark(file);
    if (file) return file;
    const int reason = errno;
    close(fd);
    errno = reason;
    return NULL;
}
