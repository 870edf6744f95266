/* Counters of the process's loops in memory that other processes read (<evener/watch.h>). */
#include "base/process.h"
#include "loop/internal.h"
#include "loop/watcher.h"
#include <errno.h>
#include <evener/clock.h>
#include <evener/unit.h>
#include <evener/watch.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    evn_watched *file; /* NULL: no counters are kept */
    int fd, users;     /* users: evn_watch_begin() without its end */
    unsigned forks;    /* process_forks() of the process whose counters they are */
    evn_loop *loop[EVN_WATCH_LOOPS];
} here;

/* ---- a loop's counters --------------------------------------------------------------------- */

static void begin_change(evn_watched_loop *w) {
    __atomic_store_n(&w->changes, w->changes + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_change(evn_watched_loop *w) {
    __atomic_store_n(&w->changes, w->changes + 1, __ATOMIC_RELEASE);
}

static void count(evn_loop *loop, evn_watched_loop *w) {
    const evn_loop_totals sum = evn_loop_sum(loop);
    w->tasks = loop->problem->tasks;
    w->units = loop->count < EVN_WATCH_UNITS ? loop->count : EVN_WATCH_UNITS;
    w->now = (evn_watched_totals){(double)sum.instances,  sum.compute_s, sum.exchange_s,
                                  (double)sum.migrations, sum.bytes,     sum.brought_bytes};
    for (int u = 0; u < w->units; u++) {
        const evn_unit_stats *s = &loop->worker[u].stats;
        w->unit[u].now = (evn_watched_stats){s->compute_s, s->exchange_s, s->copy_s, s->idle_s,
                                             (double)s->tasks};
    }
}

/* The counters of closed loops, with those of the last one. */
static void add_up(evn_watched_loop *w) {
    double *before = (double *)&w->before, *now = (double *)&w->now;
    for (size_t i = 0; i < sizeof w->now / sizeof *now; i++) before[i] += now[i];
    for (int u = 0; u < w->units; u++) {
        before = (double *)&w->unit[u].before;
        now = (double *)&w->unit[u].now;
        for (size_t i = 0; i < sizeof w->unit[u].now / sizeof *now; i++) before[i] += now[i];
        w->unit[u].now = (evn_watched_stats){0};
    }
    w->now = (evn_watched_totals){0};
}

/* Of a long name the end, which is what differs. */
static const char *end_of(const char *name) {
    const size_t length = strlen(name), most = sizeof here.file->loop->name - 1;
    return length > most ? name + length - most : name;
}

static int is_same(const evn_watched_loop *w, const evn_loop *loop, const char *name) {
    return *name && w->state == EVN_WATCH_CLOSED && w->units == loop->count &&
           !strcmp(w->name, end_of(name));
}

/* Counters for a loop: those of a closed one of its name, free ones, or those that have been closed
 * for longest; NULL: all are in use. */
static evn_watched_loop *choose(const evn_loop *loop, const char *name) {
    evn_watched_loop *best = NULL;
    for (evn_watched_loop *w = here.file->loop; w < here.file->loop + EVN_WATCH_LOOPS; w++) {
        if (is_same(w, loop, name)) return w;
        if (w->state == EVN_WATCH_OPEN) continue;
        if (!best || w->state < best->state || (w->state == best->state && w->ended < best->ended))
            best = w;
    }
    return best;
}

static void describe(const evn_loop *loop, evn_watched_loop *w, const char *name) {
    w->first = loop->first;
    w->state = EVN_WATCH_OPEN;
    snprintf(w->name, sizeof w->name, "%s", end_of(name));
    snprintf(w->schedule, sizeof w->schedule, "%s", evn_schedule_text(loop->schedule));
    for (int u = 0; u < loop->count && u < EVN_WATCH_UNITS; u++) {
        const evn_unit *unit = evn_units_get(loop->units, u);
        w->unit[u].gpu = evn_unit_is_gpu(unit);
        w->unit[u].cores = evn_unit_cores(unit);
        w->unit[u].core = evn_unit_core_number(unit, 0);
    }
}

/* Gives the loop counters; `lock` is held. */
static void take(evn_loop *loop, const char *name) {
    if (!here.file || here.forks != process_forks()) return;
    evn_watched_loop *w = choose(loop, name);
    if (!w) {
        here.file->lacks = 1;
        return;
    }
    begin_change(w);
    if (is_same(w, loop, name))
        add_up(w);
    else
        memset((char *)w + sizeof w->changes, 0, sizeof *w - sizeof w->changes);
    describe(loop, w, name);
    count(loop, w);
    end_change(w);
    here.loop[w - here.file->loop] = loop;
    loop->watched = w;
}

static void named(evn_loop *loop, const char *name) {
    pthread_mutex_lock(&lock);
    if (!loop->watched) take(loop, name);
    pthread_mutex_unlock(&lock);
}

static void ended(evn_loop *loop) {
    if (!loop->watched) named(loop, "");
    evn_watched_loop *w = loop->watched;
    if (!w) return;
    begin_change(w);
    count(loop, w);
    w->ended = evn_now();
    end_change(w);
}

/* Takes a loop out of the counters; not in a forked child, whose counters are its parent's. */
static void closes(evn_loop *loop) {
    pthread_mutex_lock(&lock);
    for (int i = 0; here.forks == process_forks() && i < EVN_WATCH_LOOPS; i++) {
        if (here.loop[i] != loop) continue;
        begin_change(loop->watched);
        count(loop, loop->watched);
        loop->watched->state = EVN_WATCH_CLOSED;
        end_change(loop->watched);
        here.loop[i] = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- the memory ---------------------------------------------------------------------------- */

static void drop(void) {
    munmap(here.file, sizeof *here.file);
    close(here.fd);
    here.file = NULL;
    here.users = 0;
    memset(here.loop, 0, sizeof here.loop);
}

static evn_status cannot(int error) {
    return evn_fail(EVN_SYSTEM, "watch: no memory to share with those who watch: %s",
                    strerror(error));
}

static evn_status open_memory(void) {
    struct rlimit most; /* beyond it a signal would come */
    if (!getrlimit(RLIMIT_FSIZE, &most) && most.rlim_cur != RLIM_INFINITY &&
        most.rlim_cur < sizeof(evn_watched))
        return cannot(EFBIG);
    const int fd = memfd_create(EVN_WATCH_NAME, MFD_CLOEXEC);
    if (fd < 0) return cannot(errno);
    void *at = ftruncate(fd, sizeof(evn_watched))
                   ? MAP_FAILED
                   : mmap(NULL, sizeof(evn_watched), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        const int error = errno;
        close(fd);
        return cannot(error);
    }
    here.file = at;
    here.fd = fd;
    here.forks = process_forks();
    return EVN_OK;
}

/* The record's path from the root on. */
static void set_record(evn_watched *file, const char *record) {
    char folder[EVN_WATCH_PATH];
    if (!record || !strcmp(record, "-") || *file->record) return;
    const int relative = *record != '/' && getcwd(folder, sizeof folder) != NULL;
    const int length = snprintf(file->record, sizeof file->record, "%s%s%s", relative ? folder : "",
                                relative ? "/" : "", record);
    if (length >= (int)sizeof file->record) *file->record = '\0';
}

struct run {
    int pid;
    double begin;
};

static void describe_process(evn_watched *file, const struct run *run, const evn_cluster *c) {
    file->pid = getpid();
    file->rank = c ? evn_cluster_rank(c) : 0;
    file->ranks = c ? evn_cluster_size(c) : 1;
    file->run_pid = run->pid;
    file->run_begin = run->begin;
    file->begin = evn_now();
    snprintf(file->program, sizeof file->program, "%s", program_invocation_short_name);
    __atomic_store_n(&file->version, EVN_WATCH_VERSION, __ATOMIC_RELEASE);
}

static const struct loop_watcher watcher = {named, ended, closes};

evn_status evn_watch_begin(const char *record, evn_cluster *cluster) {
    struct run run = {getpid(), evn_now()};
    evn_status status = cluster ? evn_cluster_tell(cluster, &run, sizeof run) : EVN_OK;
    if (status) return status;
    pthread_mutex_lock(&lock);
    if (here.file && here.forks != process_forks()) drop(); /* the parent's */
    if (!here.file) status = open_memory();
    if (!status && !here.users++) describe_process(here.file, &run, cluster);
    if (!status) set_record(here.file, record);
    if (!status) loop_watcher = &watcher;
    pthread_mutex_unlock(&lock);
    return status;
}

void evn_watch_end(void) {
    pthread_mutex_lock(&lock);
    if (here.file && here.forks == process_forks() && !--here.users) {
        loop_watcher = NULL;
        for (int i = 0; i < EVN_WATCH_LOOPS; i++)
            if (here.loop[i]) here.loop[i]->watched = NULL;
        drop();
    }
    pthread_mutex_unlock(&lock);
}
