/* Places of outputs, and files without a name. */
#include "record/output_target.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINKS_MAX = 40, TRIES = 100, READER_WAIT_S = 10 };

/* -- written into -- */

int output_descriptor(const char *path) {
    static const char *const folder[] = {"/dev/fd/", "/proc/self/fd/"};
    if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout")) return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr")) return STDERR_FILENO;
    for (int i = 0; i < 2; i++) {
        const size_t n = strlen(folder[i]);
        const char *digits = path + n;
        if (strncmp(path, folder[i], n) != 0 || !*digits || strlen(digits) > 6) continue;
        if (strspn(digits, "0123456789") == strlen(digits)) return (int)strtol(digits, NULL, 10);
    }
    return -1;
}

/* Duplicates a descriptor, with the original's place in the file, so that neither overwrites the
 * other. */
static int duplicate(int fd) {
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0) return -1;
    if ((flags & O_ACCMODE) == O_RDONLY) {
        errno = EBADF;
        return -1;
    }
    return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

/* Standard output or error, whichever is connected to this file; -1: neither. */
static int standard_at(const struct stat *file) {
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        struct stat s;
        const int flags = fcntl(fd, F_GETFL);
        if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) continue;
        if (!fstat(fd, &s) && s.st_dev == file->st_dev && s.st_ino == file->st_ino) return fd;
    }
    return -1;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Opens a pipe, and waits for its reader, but for a limited time. */
static int open_pipe(const char *path) {
    const double until = seconds() + READER_WAIT_S;
    int fd;
    while ((fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0) {
        const struct timespec pause = {.tv_nsec = 10000000};
        if (errno == EINTR) continue;
        if (errno != ENXIO) return -1;
        if (seconds() > until) return OUTPUT_NO_READER;
        nanosleep(&pause, NULL);
    }
    const int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && !fcntl(fd, F_SETFL, flags & ~O_NONBLOCK)) return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int output_direct(const char *path, struct stat *there) {
    const int number = output_descriptor(path);
    if (number >= 0) return duplicate(number);
    if (stat(path, there)) return errno == ENOENT ? OUTPUT_REPLACED : -1;
    const int standard = standard_at(there);
    if (standard >= 0) return duplicate(standard);
    if (S_ISREG(there->st_mode)) return OUTPUT_REPLACED;
    if (S_ISFIFO(there->st_mode)) return open_pipe(path);
    errno = S_ISDIR(there->st_mode) ? EISDIR : EOPNOTSUPP;
    if (S_ISDIR(there->st_mode) || S_ISSOCK(there->st_mode)) return -1;
    return open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
}

/* -- places -- */

/* Opens the folder of a path and copies the name in it; -1 with errno. */
static int split(struct output_place *place, int from, const char *path) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *name = strdup(base);
    const int fd = folder && name ? openat(from, folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    const int error = !folder || !name ? ENOMEM
                      : fd < 0         ? errno
                      : *base          ? 0
                      : *path          ? EISDIR
                                       : ENOENT;
    free(folder);
    output_place_close(place);
    place->folder = fd;
    place->base = name;
    errno = error;
    return error ? -1 : 0;
}

/* Follows links to the target of the last one, which need not exist. */
static int follow(struct output_place *place, const char *path) {
    char target[PATH_MAX];
    *place = (struct output_place){.folder = -1};
    int failed = split(place, AT_FDCWD, path);
    for (int links = 0; !failed; links++) {
        const ssize_t n = readlinkat(place->folder, place->base, target, sizeof target - 1);
        if (n < 0) return errno == EINVAL || errno == ENOENT ? 0 : -1; /* no link, or no file */
        errno = ELOOP;
        if (links == LINKS_MAX) return -1;
        target[n] = 0;
        failed = split(place, place->folder, target);
    }
    return -1;
}

/* 1 if the existing file may be replaced by this user. */
static int may_replace(const struct output_place *place) {
    struct stat folder;
    const uid_t us = geteuid();
    if (faccessat(place->folder, place->base, W_OK, AT_EACCESS)) return 0;
    if (fstat(place->folder, &folder)) return 0;
    errno = EPERM; /* the error that rename() would report, too late */
    return !us || !(folder.st_mode & S_ISVTX) || us == place->owner || us == folder.st_uid;
}

int output_place_find(struct output_place *place, const char *path) {
    struct stat there;
    if (follow(place, path)) return -1;
    if (fstatat(place->folder, place->base, &there, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? 0 : -1;
    place->earlier = 1;
    place->mode = there.st_mode & 0777;
    place->owner = there.st_uid;
    place->group = there.st_gid;
    return may_replace(place) ? 0 : -1;
}

void output_place_close(struct output_place *place) {
    const int error = errno;
    if (place->folder >= 0) close(place->folder);
    free(place->base);
    *place = (struct output_place){.folder = -1};
    errno = error;
}

static int stat_of(const char *path, struct stat *s) {
    const int number = output_descriptor(path);
    return number >= 0 ? fstat(number, s) : stat(path, s);
}

static int same_place(const char *path, const char *other) {
    struct output_place a, b;
    struct stat x, y;
    const int found = !follow(&a, path), both = !follow(&b, other) && found;
    const int same = both && !fstat(a.folder, &x) && !fstat(b.folder, &y) && x.st_dev == y.st_dev &&
                     x.st_ino == y.st_ino && !strcmp(a.base, b.base);
    output_place_close(&a);
    output_place_close(&b);
    return same;
}

int output_same(const char *path, const char *other) {
    struct stat a, b;
    const int number = output_descriptor(path);
    if (number >= 0 && number == output_descriptor(other)) return 1;
    const int there = !stat_of(path, &a), both = !stat_of(other, &b) && there;
    if (both && (S_ISCHR(a.st_mode) || S_ISBLK(a.st_mode))) return 0;
    if (both) return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    return same_place(path, other);
}

/* -- files without a name -- */

/* Writes a name that is most likely unused: the next of a sequence of this process and moment. It
 * is short, so that no file name makes it too long. */
static void fresh_name(char name[OUTPUT_NAME]) {
    static atomic_uint_least64_t calls;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t mix = (uint64_t)t.tv_sec * 1000000007u + (uint64_t)t.tv_nsec;
    mix = (mix ^ (uint64_t)getpid() << 40) + atomic_fetch_add(&calls, 1) * 0x9e3779b97f4a7c15u;
    mix = (mix ^ mix >> 31) * 0xbf58476d1ce4e5b9u;
    snprintf(name, OUTPUT_NAME, ".evener-%016llx", (unsigned long long)(mix ^ mix >> 29));
}

int output_fresh(int folder, char name[OUTPUT_NAME], mode_t mode) {
    for (int i = 0; i < TRIES; i++) {
        fresh_name(name);
        const int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

int output_unnamed(int folder, mode_t mode, int *linked) {
    char name[OUTPUT_NAME];
    int fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    *linked = fd >= 0;
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
    fd = output_fresh(folder, name, 0600);
    if (fd >= 0) unlinkat(folder, name, 0);
    return fd;
}

int output_link(int fd, int folder, const char *name) {
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW)) return 0;
    if (errno == EEXIST) return -1;
    return linkat(fd, "", folder, name, AT_EMPTY_PATH); /* for systems without /proc */
}

int output_link_fresh(int fd, int folder, char name[OUTPUT_NAME]) {
    for (int i = 0; i < TRIES; i++) {
        fresh_name(name);
        if (!output_link(fd, folder, name)) return 0;
        if (errno != EEXIST) return -1;
    }
    return -1;
}
