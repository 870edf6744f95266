/* Files whole or not at all: collected in a file without a name beside their place, and at the end
 * copied to one with a name of its own that is renamed. Devices and pipes cannot be replaced by
 * renaming and are written into. */
#include "open/output.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static evn_status cannot(const struct output *o, const char *what) {
    return evn_fail(EVN_SYSTEM, "%s: %s %s: %s", o->name, o->path, what, strerror(errno));
}

/* Makes a new file beside `place` and gives its name, to be freed; -1 with errno. With open() and
 * not mkstemp(), whose files nobody else may read. */
static int make_beside(const char *place, mode_t mode, char **name) {
    static atomic_uint calls;
    const size_t size = strlen(place) + 24;
    *name = malloc(size);
    for (int i = 0; *name && i < 100; i++) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        unsigned long mix = (unsigned long)t.tv_nsec * 2654435761u +
                            (unsigned long)getpid() * 40503u + atomic_fetch_add(&calls, 1) * 69069u;
        snprintf(*name, size, "%s.%08lx", place, mix & 0xffffffff);
        int fd = open(*name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    if (!*name) errno = ENOMEM;
    return -1;
}

/* The path from the root on, through links where there is such a file; NULL with errno. */
static char *resolve(const char *path) {
    char *whole = realpath(path, NULL);
    if (whole || errno != ENOENT) return whole;
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *real = folder ? realpath(folder, NULL) : NULL;
    free(folder);
    if (!real) return NULL;
    const size_t size = strlen(real) + strlen(base) + 2;
    if ((whole = malloc(size))) snprintf(whole, size, "%s/%s", real, base);
    free(real);
    return whole;
}

/* Whether it is the file that standard output or standard error goes to, where renaming would lose
 * what they write. */
static int is_standard(const struct stat *file) {
    for (int fd = 1; fd <= 2; fd++) {
        struct stat s;
        if (!fstat(fd, &s) && s.st_dev == file->st_dev && s.st_ino == file->st_ino) return 1;
    }
    return 0;
}

/* Opens what the bytes are collected in; -1 with errno. */
static int open_stream(struct output *o) {
    struct stat there;
    const int exists = !stat(o->path, &there);
    if (exists && S_ISDIR(there.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (exists && (!S_ISREG(there.st_mode) || is_standard(&there)))
        return open(o->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (exists && access(o->path, W_OK)) return -1;
    if (exists) o->mode = there.st_mode & 0777;
    char *name;
    if (!(o->place = resolve(o->path))) return -1;
    int fd = make_beside(o->place, 0600, &name);
    if (fd >= 0) unlink(name);
    free(name);
    return fd;
}

evn_status output_open(struct output *o, const char *name, const char *path) {
    *o = (struct output){.name = name, .path = strdup(path)};
    if (!o->path) return evn_fail(EVN_MEMORY, "%s: not enough memory", name);
    const int fd = strcmp(path, "-") ? open_stream(o) : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd >= 0 && !(o->stream = fdopen(fd, o->place ? "w+" : "a"))) close(fd);
    if (o->stream) return EVN_OK;
    evn_status status = cannot(o, "cannot be written");
    return evn_fail(status, "%s; name a file in a folder that exists and is yours", evn_message());
}

int output_same(const struct output *a, const struct output *b) {
    return a->place && b->place && !strcmp(a->place, b->place);
}

/* Everything the stream has, into a file of a name of its own; 0, or errno. */
static int copy(FILE *from, int fd) {
    char block[1 << 16];
    FILE *to = fdopen(fd, "w");
    if (!to) {
        close(fd);
        return ENOMEM;
    }
    errno = 0;
    rewind(from);
    for (size_t n; (n = fread(block, 1, sizeof block, from)) > 0;)
        if (fwrite(block, 1, n, to) != n) break;
    int failed = ferror(from) || ferror(to) || fflush(to) || fsync(fd);
    int error = !failed ? 0 : errno ? errno : EIO;
    if (fclose(to) && !error) error = errno;
    return error;
}

evn_status output_commit(struct output *o) {
    if (!o->name || o->failed) return EVN_OK;
    errno = 0;
    if (fflush(o->stream) || ferror(o->stream)) {
        if (!errno) errno = EIO;
        return cannot(o, "could not be written");
    }
    if (!o->place) return EVN_OK;
    char *name;
    int fd = make_beside(o->place, o->mode ? o->mode : 0666, &name), error = fd < 0 ? errno : 0;
    if (fd >= 0 && o->mode) fchmod(fd, o->mode);
    if (fd >= 0) error = copy(o->stream, fd);
    if (!error && rename(name, o->place)) error = errno;
    if (error && fd >= 0) unlink(name);
    free(name);
    errno = error;
    return error ? cannot(o, "could not be written") : EVN_OK;
}

void output_close(struct output *o) {
    if (o->stream) fclose(o->stream);
    free(o->path);
    free(o->place);
    *o = (struct output){0};
}
