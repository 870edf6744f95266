/* Files whole or not at all: written without a name, linked or copied to one when they are
 * complete. Where they are is src/observe/record/output_target.c's. */
#include "record/output_target.h"
#include <errno.h>
#include <evener/output.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 16 };

struct evn_output {
    char *name, *path; /* name for messages, or NULL; path of the file */
    struct output_place place;
    int replaces; /* 0: the target itself is written (a device, a pipe) */
    int linked;   /* 1: the unnamed file can be linked to a name; 0: it is copied */
    int fd;
    FILE *stream;
    int error; /* errno of the first write that failed */
    int reserved, committed;
};

static evn_status cannot(const struct evn_output *o, const char *what, const char *reason) {
    return evn_fail(EVN_SYSTEM, "%s%s%s %s: %s", o->name ? o->name : "", o->name ? ": " : "",
                    strcmp(o->path, "-") ? o->path : "standard output", what, reason);
}

/* -- the stream: stdio forgets why a write failed, and this does not -- */

static int write_all(int fd, const char *data, size_t bytes) {
    while (bytes) {
        const ssize_t n = write(fd, data, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n ? errno : EIO;
        data += n;
        bytes -= (size_t)n;
    }
    return 0;
}

static ssize_t stream_write(void *p, const char *data, size_t bytes) {
    struct evn_output *o = p;
    if (!o->error) o->error = write_all(o->fd, data, bytes);
    if (!o->error) return (ssize_t)bytes;
    errno = o->error;
    return 0;
}

static int stream_seek(void *p, off64_t *at, int whence) {
    struct evn_output *o = p;
    const off_t to = lseek(o->fd, *at, whence);
    if (to < 0) return -1;
    *at = to;
    return 0;
}

static int open_stream(struct evn_output *o) {
    const cookie_io_functions_t calls = {.write = stream_write, .seek = stream_seek};
    o->stream = fopencookie(o, "w", calls);
    return o->stream ? setvbuf(o->stream, NULL, _IOFBF, BUFFER) : -1;
}

/* -- opening -- */

/* Opens the descriptor that bytes go to; -1 with errno. */
static int open_descriptor(struct evn_output *o) {
    struct stat there;
    const int fd = output_direct(o->path, &there);
    if (fd != OUTPUT_REPLACED) return fd; /* the target itself is written, or cannot be opened */
    if (output_place_find(&o->place, o->path)) return -1;
    o->replaces = 1;
    return output_unnamed(o->place.folder, o->place.earlier ? 0600 : 0666, &o->linked);
}

evn_status evn_output_open(evn_output **out, const char *name, const char *path) {
    if (!out)
        return evn_fail(EVN_USAGE, "evn_output_open(): NULL instead of where to put the output");
    *out = NULL;
    if (!path) return evn_fail(EVN_USAGE, "output: there is no path; expected a file's, or -");
    struct evn_output *o = calloc(1, sizeof *o);
    if (!o) return evn_fail(EVN_MEMORY, "output: not enough memory for %s", path);
    o->fd = o->place.folder = -1;
    o->name = name ? strdup(name) : NULL;
    o->path = strdup(path);
    if (!o->path || (name && !o->name)) {
        evn_output_close(o);
        return evn_fail(EVN_MEMORY, "output: not enough memory for %s", path);
    }
    o->fd = open_descriptor(o);
    if (o->fd >= 0 && !open_stream(o)) {
        *out = o;
        return EVN_OK;
    }
    char reason[128];
    snprintf(reason, sizeof reason, "%s; name a file in a folder that exists and is yours",
             strerror(errno));
    evn_status status =
        cannot(o, "cannot be written",
               o->fd == OUTPUT_NO_READER
                   ? "nothing has opened this pipe for reading within 10 s; start its reader first"
                   : reason);
    evn_output_close(o);
    return status;
}

FILE *evn_output_stream(evn_output *o) { return o ? o->stream : NULL; }

int evn_output_descriptor(const evn_output *o) { return o && o->replaces ? o->fd : -1; }

evn_status evn_output_reserve(evn_output *o, size_t bytes) {
    struct rlimit limit;
    int error = 0;
    if (!o) return evn_fail(EVN_USAGE, "evn_output_reserve(): NULL instead of an output");
    if (!o->replaces || !bytes) return EVN_OK;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
        bytes > limit.rlim_cur)
        error = EFBIG;
    else if (fallocate(o->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes))
        error = errno;
    o->reserved |= !error;
    if (error != ENOSPC && error != EDQUOT && error != EFBIG) return EVN_OK;
    char what[64];
    snprintf(what, sizeof what, "has no room for its %.3g MB", (double)bytes * 1e-6);
    return cannot(o, what, strerror(error));
}

evn_status evn_output_try(const char *name, const char *path, size_t bytes) {
    struct stat there;
    const int opened = !path || output_descriptor(path) >= 0 || stat(path, &there);
    if (!opened && (S_ISFIFO(there.st_mode) || S_ISCHR(there.st_mode) || S_ISBLK(there.st_mode)) &&
        !access(path, W_OK))
        return EVN_OK;
    evn_output *o;
    evn_status status = evn_output_open(&o, name, path);
    if (!status) status = evn_output_reserve(o, bytes);
    evn_output_close(o);
    return status;
}

/* -- the end -- */

/* fsync(), which some file systems refuse; 0 or an errno. */
static int force(int fd) { return fsync(fd) && errno != EINVAL && errno != EROFS ? errno : 0; }

/* Gives the file the mode and owners of the earlier one. A group that cannot be restored gets the
 * rights of others. */
static void keep_mode(const struct evn_output *o, int fd) {
    struct stat now;
    mode_t mode = o->place.mode;
    if (!o->place.earlier || fstat(fd, &now)) return;
    if (now.st_uid != o->place.owner || now.st_gid != o->place.group) {
        if (fchown(fd, o->place.owner, o->place.group) &&
            (now.st_gid != o->place.group && fchown(fd, (uid_t)-1, o->place.group)))
            mode = (mode & ~(mode_t)070) | (mode & 07) << 3;
    }
    fchmod(fd, mode); /* file systems without such modes: only the user may read it */
}

/* Copies the unnamed file to a file with a fresh name; errno. */
static int copy(const struct evn_output *o, char name[OUTPUT_NAME]) {
    char *block = malloc(BUFFER);
    if (!block) return ENOMEM;
    const int fd = output_fresh(o->place.folder, name, o->place.earlier ? 0600 : 0666);
    int error = fd < 0 ? errno : 0;
    for (off_t at = 0; !error;) {
        const ssize_t n = pread(o->fd, block, BUFFER, at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) error = errno;
        if (n <= 0) break;
        error = write_all(fd, block, (size_t)n);
        at += n;
    }
    free(block);
    if (fd < 0) return error;
    if (!error) keep_mode(o, fd);
    if (!error) error = force(fd);
    if (close(fd) && !error) error = errno;
    if (error) unlinkat(o->place.folder, name, 0);
    return error;
}

/* Gives the whole file a fresh name, or its target's name if that is free and links can be made:
 * then *name is "". errno. */
static int give_name(struct evn_output *o, char name[OUTPUT_NAME]) {
    struct stat now;
    if (o->reserved && (fstat(o->fd, &now) || ftruncate(o->fd, now.st_size))) return errno;
    if (!o->linked) return copy(o, name);
    keep_mode(o, o->fd);
    const int error = force(o->fd);
    if (error) return error;
    *name = 0;
    if (!o->place.earlier && !output_link(o->fd, o->place.folder, o->place.base)) return 0;
    return output_link_fresh(o->fd, o->place.folder, name) ? copy(o, name) : 0;
}

/* Renames the file to its target; errno. */
static int put(struct evn_output *o) {
    char name[OUTPUT_NAME];
    const int folder = o->place.folder;
    int error = give_name(o, name);
    if (error) return error;
    if (*name && renameat(folder, name, folder, o->place.base)) {
        error = errno;
        unlinkat(folder, name, 0);
        return error;
    }
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return 0; /* the folder may be written but not read: it cannot be synchronised */
    error = force(fd);
    close(fd);
    return error;
}

evn_status evn_output_commit(evn_output *o) {
    if (!o) return EVN_OK;
    if (o->committed)
        return evn_fail(EVN_USAGE, "output: %s was committed before; open it again", o->path);
    o->committed = 1;
    if ((fflush(o->stream) || ferror(o->stream)) && !o->error) o->error = errno ? errno : EIO;
    int error = o->error;
    if (!error && o->replaces) error = put(o);
    if (!error && !o->replaces) {
        error = close(o->fd) ? errno : 0;
        o->fd = -1;
    }
    return error ? cannot(o, "could not be written", strerror(error)) : EVN_OK;
}

void evn_output_close(evn_output *o) {
    if (!o) return;
    o->error = ECANCELED; /* the rest of the stream is discarded */
    if (o->stream) fclose(o->stream);
    if (o->fd >= 0) close(o->fd);
    output_place_close(&o->place);
    free(o->name);
    free(o->path);
    free(o);
}

int evn_output_same(const char *path, const char *other) {
    return path && other && output_same(path, other);
}

evn_status evn_output_scratch(int *descriptor, const char *folder) {
    if (!descriptor)
        return evn_fail(EVN_USAGE,
                        "evn_output_scratch(): NULL instead of where to put the descriptor");
    *descriptor = -1;
    if (!folder) return evn_fail(EVN_USAGE, "output: there is no folder; expected its path");
    const int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        int linked;
        *descriptor = output_unnamed(fd, 0600, &linked);
        const int error = errno;
        close(fd);
        errno = error;
    }
    if (*descriptor >= 0) return EVN_OK;
    return evn_fail(EVN_SYSTEM, "%s: no file can be made there: %s", folder, strerror(errno));
}
