/* Claims of cores, as record locks on the bytes of a file. */
#include "base/claim.h"
#include "base/process.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The open file of claims. Closing any of its descriptors would release all locks of the process,
 * so there is only one. */
static struct {
    pthread_mutex_t lock;
    int file;       /* -1: closed, or it cannot be used */
    unsigned forks; /* process_forks() when it was opened */
    int choosing;
    int cores;                         /* number of cores that this process has claimed */
    unsigned short times[CLAIM_CORES]; /* claim_take() less claim_give() of each */
} claims = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1};

enum { TRIES = 10, TRY_NS = 100000 };

/* O_NONBLOCK: neither a pipe nor a lease of the file's owner can make this wait. */
enum { OPEN = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK };

/* 1 if the file is empty and has one name: a file of another use, linked to this name, is left
 * alone. */
static int is_usable(int file) {
    struct stat is;
    return !fstat(file, &is) && S_ISREG(is.st_mode) && is.st_size == 0 && is.st_nlink == 1;
}

/* Creates the file for all users: it gets its mode before its name, so no user finds it without
 * access. */
static void make(const char *folder, const char *path) {
    char nameless[40];
    const int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (file < 0) return;
    snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", file);
    if (!fchmod(file, 0666)) linkat(AT_FDCWD, nameless, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
    close(file);
}

static int open_at(const char *path) {
    int file = open(path, OPEN);
    if (file < 0 && errno == ENOENT) {
        char folder[256];
        const char *end = strrchr(path, '/');
        snprintf(folder, sizeof folder, "%.*s", end ? (int)(end - path) + 1 : 1, end ? path : ".");
        make(folder, path);
        file = open(path, OPEN);
    }
    if (file < 0 || is_usable(file)) return file;
    close(file);
    return -1;
}

static int open_file(void) {
    static const char *const usual[] = {"/dev/shm/evener-cores", "/tmp/evener-cores"};
    const char *said = secure_getenv("EVENER_CLAIMS");
    if (said) return *said ? open_at(said) : -1;
    int file = -1;
    for (int i = 0; file < 0 && i < 2; i++) file = open_at(usual[i]);
    return file;
}

/* Starts anew in a forked process, which holds no claims; closing its copy of the descriptor leaves
 * the parent's locks alone. */
static void enter(void) {
    pthread_mutex_lock(&claims.lock);
    if (claims.forks != process_forks()) {
        if (claims.file >= 0) close(claims.file);
        claims.file = -1;
        claims.cores = claims.choosing = 0;
        memset(claims.times, 0, sizeof claims.times);
    }
    claims.forks = process_forks();
    if (claims.file < 0 && !claims.cores) claims.file = open_file();
}

static void leave(void) {
    if (claims.file >= 0 && !claims.cores && !claims.choosing) {
        close(claims.file);
        claims.file = -1;
    }
    pthread_mutex_unlock(&claims.lock);
}

/* F_SETLK or F_GETLK of one byte; 0: another program's lock is in the way. */
static int lock_byte(int command, short type, int at) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    if (claims.file < 0) return 1;
    if (fcntl(claims.file, command, &lock)) return errno != EAGAIN && errno != EACCES;
    return command != F_GETLK || lock.l_type == F_UNLCK;
}

static int is_known(int core) { return core >= 0 && core < CLAIM_CORES; }

static void give(const int *core, int count) {
    for (int i = 0; i < count; i++)
        if (is_known(core[i]) && claims.times[core[i]] && !--claims.times[core[i]]) {
            lock_byte(F_SETLK, F_UNLCK, core[i]);
            claims.cores--;
        }
}

static int take(int core) {
    if (!is_known(core)) return 1;
    if (!claims.times[core]) {
        if (!lock_byte(F_SETLK, F_WRLCK, core)) return 0;
        claims.cores++;
    }
    claims.times[core]++;
    return 1;
}

int claim_take(const int *core, int count) {
    enter();
    int got = 0;
    while (got < count && take(core[got])) got++;
    if (got < count) give(core, got);
    leave();
    return got == count;
}

void claim_give(const int *core, int count) {
    enter();
    give(core, count);
    leave();
}

int claim_is_taken(int core) {
    enter();
    const int taken = is_known(core) && !lock_byte(F_GETLK, F_WRLCK, core);
    leave();
    return taken;
}

int claim_is_mine(int core) {
    enter();
    const int mine = is_known(core) && claims.times[core];
    leave();
    return mine;
}

void claim_choose(void) {
    const struct timespec pause = {.tv_nsec = TRY_NS};
    enter();
    claims.choosing = 1;
    for (int i = 0; i < TRIES && !lock_byte(F_SETLK, F_WRLCK, CLAIM_CORES); i++)
        nanosleep(&pause, NULL);
    leave();
}

void claim_chosen(void) {
    enter();
    lock_byte(F_SETLK, F_UNLCK, CLAIM_CORES);
    claims.choosing = 0;
    leave();
}
