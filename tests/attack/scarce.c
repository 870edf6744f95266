/* Preloaded, it makes one rank poor: some of its allocations or writes to files fail. ranks.py
 * beside it compiles it.
 *
 *     SCARCE=memory|disk   what fails
 *     SCARCE_RANK=N        in the N-th process that is forked, or the rank that a launcher says
 *     SCARCE_AT=N          the first that fails, counted from 1; 0: none does
 *     SCARCE_FOR=N         how many fail (default 1)
 *     SCARCE_COUNT=FILE    the number of all is added there at the end
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static int mine, disk; /* this is the rank */
static long first, most;
static atomic_long count;
static int forked;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

static void begin(int rank) {
    const char *what = getenv("SCARCE");
    first = number("SCARCE_AT", 0);
    most = number("SCARCE_FOR", 1);
    disk = what && !strcmp(what, "disk");
    atomic_store(&count, 0);
    mine = what && rank == number("SCARCE_RANK", -1);
}

__attribute__((constructor)) static void load(void) {
    long rank = number("OMPI_COMM_WORLD_RANK", number("PMI_RANK", -1));
    if (rank >= 0) begin((int)rank);
}

static void tell(void) {
    const char *path = getenv("SCARCE_COUNT");
    if (!mine || !path) return;
    mine = 0;
    char text[32];
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&count));
    if (fd >= 0 && write(fd, text, (size_t)n) == n) close(fd);
}

__attribute__((destructor)) static void unload(void) { tell(); }

static int fails(void) {
    const long n = atomic_fetch_add(&count, 1) + 1;
    return first && n >= first && n < first + most;
}

pid_t fork(void) {
    pid_t (*real)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    const int rank = forked++;
    const pid_t pid = real();
    if (!pid && number("OMPI_COMM_WORLD_RANK", number("PMI_RANK", -1)) < 0) begin(rank);
    return pid;
}

static int is_out(void) {
    if (!mine || disk || !fails()) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n) { return is_out() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return is_out() ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return is_out() ? NULL : __libc_realloc(p, n); }
void *aligned_alloc(size_t to, size_t n) { return is_out() ? NULL : __libc_memalign(to, n); }
void *memalign(size_t to, size_t n) { return is_out() ? NULL : __libc_memalign(to, n); }

int posix_memalign(void **out, size_t to, size_t n) {
    if (is_out()) return ENOMEM;
    *out = __libc_memalign(to, n);
    return *out ? 0 : ENOMEM;
}

static int is_full(int fd) {
    struct stat is;
    if (!mine || !disk || fstat(fd, &is) || !S_ISREG(is.st_mode) || !fails()) return 0;
    errno = ENOSPC;
    return 1;
}

ssize_t write(int fd, const void *data, size_t n) {
    ssize_t (*real)(int, const void *, size_t) =
        (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    return is_full(fd) ? -1 : real(fd, data, n);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at) {
    ssize_t (*real)(int, const void *, size_t, off_t) =
        (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    return is_full(fd) ? -1 : real(fd, data, n, at);
}
