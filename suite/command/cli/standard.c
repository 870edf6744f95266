/* Standard descriptors that are closed. */
#include "cli/standard.h"
#include <errno.h>
#include <fcntl.h>

/* A file gets the lowest number that is free: the first one to be opened would be what others print
 * to, and have messages between its numbers. Descriptors are opened the wrong way round, so that
 * output that was wanted is lost with an error, as it is for cat and sort. */
void standard_open(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        if (open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0) open("/", O_RDONLY | O_DIRECTORY);
    }
}
