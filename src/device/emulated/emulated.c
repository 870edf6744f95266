/* The emulated device: a GPU without hardware, made to fail wherever programs for GPUs fail.
 *
 * Its memory is separate: only its queues' threads can access it, and only while they work, so a
 * stray access of the host faults at once; a page without access surrounds each buffer; unwritten
 * memory is NaN. Each queue has a thread, which works in order and late. Kernels of a device run
 * one at a time. Operations fail on request. Time is real, and slowed down, or virtual
 * (model.h).
 *
 * A checking device (check=yes) maps each buffer's pages twice, writable and read-only; kernels get
 * their EVN_IN buffers in the read-only mapping. So launches change no mapping, and concurrent
 * copies into the buffer do not matter. A fault in or beside a buffer is the kernel's
 * (fault_guard.h): the device fails, with the kernel, the parameter and the byte.
 *
 * A buffer's pages are opened when a queue first works on it, and closed when the queue has no more
 * work, waits, or records an event, since each change costs a system call and one page table entry
 * a page. */
#include <evener/clock.h>
#include <evener/text.h>
#include "base/thread.h"
#include "base/number.h"
#include "device/backend.h"
#include "device/emulated/model.h"
#include "device/emulated/pinned.h"
#include "device/emulated/resident_groups.h"
#include "device/emulated/fault_guard.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Pages of a buffer; lives until the buffer is closed and no queue needs it. */
struct store {
    atomic_int users;
    pthread_mutex_t lock;
    int open; /* number of queues that have the pages open */
    char *map, *inner, *memory;
    size_t mapped, inner_bytes, bytes;
    char *reader; /* read-only mapping of the same pages; NULL: the device does not check */
};

/* One record of an event. */
struct moment {
    atomic_int users;
    pthread_mutex_t lock;
    pthread_cond_t happened;
    int done;
    double real;            /* real time, s */
    picoseconds is_virtual; /* virtual time, set when the event is recorded */
};

enum task {
    TASK_IN,
    TASK_OUT,
    TASK_WITHIN,
    TASK_PEER,
    TASK_POISON,
    TASK_LAUNCH,
    TASK_RECORD,
    TASK_WAIT
};

/* One piece of work of a queue. */
struct command {
    struct command *next;
    enum task task;
    long fails; /* number among operations of its kind, if it must fail; 0: it must not */
    struct store *to, *from;
    size_t to_at, from_at, bytes;
    void *host_to;
    const void *host_from;
    double host;           /* bytes a second that host memory lets through; 0: no limit */
    struct emulated *peer; /* source device of a peer copy */
    struct moment *moment;
    /* a launch; all in one piece of memory with the command */
    const evn_kernel_entry *entry;
    int groups, stores;
    int is_resident;      /* 1: each group runs in a thread of its own */
    atomic_int in_vain;   /* a group waited for a flag that no group would raise */
    struct store **store; /* the buffers that the kernel uses */
    const void **argument;
    struct stray {
        atomic_int found; /* 1 + the parameter that a group accessed illegally; 0: none */
        long long at;     /* offset of the access in the buffer; negative: before it */
    } * stray;            /* NULL: the device does not check */
};

/* The threads that run a kernel's groups beside the queue's own. */
struct crew {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    pthread_t *thread;
    int helpers, working, stop;
    unsigned job; /* number of jobs so far */
    struct command *command;
    struct turns *turns; /* NULL: groups do not wait for each other */
    int chunk;
    atomic_long next; /* number of the first group that no thread has taken */
};

struct emulated {
    evn_device base;
    struct emulated_options options;
    struct timeline timeline;
    struct crew crew;
    pthread_mutex_t engine, in, out; /* held while a kernel runs, while the link is in use */
    atomic_long allocations, copies, kernels, operations;
    pthread_mutex_t lock; /* protects the members below */
    int failed;
    char reason[256];
    pthread_mutex_t queues_lock; /* protects the list below */
    struct emulated_queue *queues;
};

enum { HELD = 64 };

struct emulated_queue {
    evn_queue base;
    struct emulated_queue *next; /* next queue of the device */
    pthread_t thread;
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t work, idle;
    struct command *first, **last;
    int busy, stop;
    /* written by the thread that enqueues work; others may wait for the queue meanwhile */
    _Atomic picoseconds ready;
    /* used by the queue's thread alone */
    struct store *held[HELD]; /* stores that are opened */
    int holds;
};

struct emulated_buffer {
    evn_buffer base;
    struct store *store;
};

struct emulated_event {
    evn_event base;
    struct moment *moment; /* moment of the last record */
};

static struct emulated *of(const evn_device *d) { return (struct emulated *)d; }
static struct store *store_of(const evn_buffer *b) { return ((struct emulated_buffer *)b)->store; }

/* ---- failures ---- */

static int has_failed(struct emulated *e) {
    pthread_mutex_lock(&e->lock);
    int failed = e->failed;
    pthread_mutex_unlock(&e->lock);
    return failed;
}

static void fail_device(struct emulated *e, const char *what, const char *why) {
    pthread_mutex_lock(&e->lock);
    if (!e->failed) snprintf(e->reason, sizeof e->reason, "%s: %s", what, why);
    e->failed = 1;
    pthread_mutex_unlock(&e->lock);
}

/* Status of the device after waiting. */
static evn_status state(struct emulated *e) {
    char reason[sizeof e->reason];
    pthread_mutex_lock(&e->lock);
    int failed = e->failed;
    memcpy(reason, e->reason, sizeof reason);
    pthread_mutex_unlock(&e->lock);
    return failed ? evn_fail(EVN_DEVICE, "%s", reason) : EVN_OK;
}

/* ---- memory ---- */

/* A NaN as a double and as two floats, and as an integer an index far outside of any buffer. */
static void poison(char *to, size_t bytes) {
    static const uint32_t nan = 0x7fffffff;
    for (; bytes && (uintptr_t)to % sizeof nan; bytes--) *to++ = (char)0xff;
    size_t words = bytes / sizeof nan;
    for (size_t w = 0; w < words; w++) memcpy(to + w * sizeof nan, &nan, sizeof nan);
    memset(to + words * sizeof nan, 0xff, bytes % sizeof nan);
}

static void store_unmap(struct store *s) {
    if (s->map != MAP_FAILED) munmap(s->map, s->mapped);
    if (s->reader) munmap(s->reader, s->mapped);
}

static void store_release(struct store *s) {
    if (!s || atomic_fetch_sub(&s->users, 1) != 1) return;
    store_unmap(s);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static struct store *store_keep(struct store *s) {
    atomic_fetch_add(&s->users, 1);
    return s;
}

/* Pages of a buffer's own, or of a file without a name that is mapped twice: 0, or an errno. */
static int store_map(struct store *s, int checks) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    const size_t page = (s->mapped - s->inner_bytes) / 2;
    s->map = mmap(NULL, s->mapped, PROT_NONE, flags, -1, 0);
    if (s->map == MAP_FAILED) return errno;
    s->inner = s->map + page;
    if (!checks) return mprotect(s->inner, s->inner_bytes, PROT_READ | PROT_WRITE) ? errno : 0;
    s->reader = mmap(NULL, s->mapped, PROT_NONE, flags, -1, 0);
    if (s->reader == MAP_FAILED) {
        s->reader = NULL;
        return errno;
    }
    const int file = memfd_create("evener", MFD_CLOEXEC);
    if (file < 0) return errno;
    int error = posix_fallocate(file, 0, (off_t)s->inner_bytes);
    if (!error && mmap(s->inner, s->inner_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                       file, 0) == MAP_FAILED)
        error = errno;
    if (!error && mmap(s->reader + page, s->inner_bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file,
                       0) == MAP_FAILED)
        error = errno;
    close(file);
    return error;
}

static evn_status store_make(struct store **out, size_t bytes, int checks) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes > SIZE_MAX / 2) return evn_fail(EVN_MEMORY, "no machine has %zu bytes", bytes);
    struct store *s = calloc(1, sizeof *s);
    if (!s) return evn_fail(EVN_MEMORY, "not enough host memory");
    size_t used = (bytes + 255) / 256 * 256;
    s->bytes = bytes;
    s->inner_bytes = (used + page - 1) / page * page;
    s->mapped = s->inner_bytes + 2 * page;
    int error = store_map(s, checks);
    if (error) {
        store_unmap(s);
        free(s);
        return evn_fail(EVN_MEMORY, "the host has no %zu bytes for the buffer: %s", bytes,
                        strerror(error));
    }
    /* the memory ends at the page without access, but for alignment to 256 bytes */
    s->memory = s->inner + (s->inner_bytes - used);
    /* large pages are opened and closed faster */
    madvise(s->inner, s->inner_bytes, MADV_HUGEPAGE);
    poison(s->inner, s->inner_bytes);
    if (mprotect(s->inner, s->inner_bytes, PROT_NONE)) {
        error = errno;
        store_unmap(s);
        free(s);
        return evn_fail(EVN_SYSTEM, "its memory cannot be protected: %s", strerror(error));
    }
    pthread_mutex_init(&s->lock, NULL);
    atomic_init(&s->users, 1);
    *out = s;
    return EVN_OK;
}

/* Counts a queue that opens the pages (change 1) or closes them (-1). 0, or an errno. */
static int store_open(struct store *s, int change) {
    int error = 0;
    pthread_mutex_lock(&s->lock);
    int before = s->open;
    s->open += change;
    if (!before || !s->open)
        error = mprotect(s->inner, s->inner_bytes, s->open ? PROT_READ | PROT_WRITE : PROT_NONE)
                    ? errno
                    : 0;
    pthread_mutex_unlock(&s->lock);
    return error;
}

static void shut_all(struct emulated_queue *q) {
    for (int h = 0; h < q->holds; h++) {
        store_open(q->held[h], -1);
        store_release(q->held[h]);
    }
    q->holds = 0;
}

/* Opens a store for the queue's thread, which keeps it open until shut_all(); 0, or an errno. */
static int hold(struct emulated_queue *q, struct store *s) {
    for (int h = 0; h < q->holds; h++)
        if (q->held[h] == s) return 0;
    int error = store_open(s, 1);
    if (error) {
        store_open(s, -1);
        return error;
    }
    q->held[q->holds++] = store_keep(s);
    return 0;
}

static evn_status emulated_buffer_open(evn_buffer *b) {
    struct emulated *e = of(b->device);
    const struct emulated_options *o = &e->options;
    long number = atomic_fetch_add(&e->allocations, 1) + 1;
    long operation = atomic_fetch_add(&e->operations, 1) + 1;
    int bad = o->bad == b->device->number;
    if (bad && o->fail == FAIL_ALLOC && number == o->fail_at)
        return evn_fail(EVN_MEMORY, "fails on purpose (fail=alloc@%ld)", number);
    if (bad && o->fail == FAIL_LOST && operation >= o->fail_at) {
        char why[64];
        snprintf(why, sizeof why, "the device is lost on purpose (fail=lost@%ld)", o->fail_at);
        fail_device(e, "allocation", why);
        return evn_fail(EVN_DEVICE, "%s", why);
    }
    return store_make(&((struct emulated_buffer *)b)->store, b->bytes, o->check);
}

static void emulated_buffer_close(evn_buffer *b) { store_release(store_of(b)); }

/* ---- moments ---- */

static struct moment *moment_make(void) {
    struct moment *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    atomic_init(&m->users, 1);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->happened, NULL);
    return m;
}

static struct moment *moment_keep(struct moment *m) {
    atomic_fetch_add(&m->users, 1);
    return m;
}

static void moment_release(struct moment *m) {
    if (!m || atomic_fetch_sub(&m->users, 1) != 1) return;
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->happened);
    free(m);
}

static int moment_done(struct moment *m) {
    pthread_mutex_lock(&m->lock);
    int done = m->done;
    pthread_mutex_unlock(&m->lock);
    return done;
}

static void moment_wait(struct moment *m) {
    pthread_mutex_lock(&m->lock);
    while (!m->done) pthread_cond_wait(&m->happened, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

static void moment_happen(struct moment *m) {
    pthread_mutex_lock(&m->lock);
    m->real = evn_now();
    m->done = 1;
    pthread_cond_broadcast(&m->happened);
    pthread_mutex_unlock(&m->lock);
}

/* Counts an operation when it is enqueued, so that the one that fails does not depend on how
 * threads run. */
static void number(struct emulated *e, struct command *c) {
    const struct emulated_options *o = &e->options;
    long of_kind = atomic_fetch_add(c->task == TASK_LAUNCH ? &e->kernels : &e->copies, 1) + 1;
    long operation = atomic_fetch_add(&e->operations, 1) + 1;
    if (o->bad != e->base.number) return;
    if (o->fail == (c->task == TASK_LAUNCH ? FAIL_KERNEL : FAIL_COPY) && of_kind == o->fail_at)
        c->fails = of_kind;
    if (o->fail == FAIL_LOST && operation >= o->fail_at) c->fails = o->fail_at;
}

/* ---- the work ---- */

/* Waits until `seconds` after `begin`: sleeps, and looks at the clock for the rest, since a sleep
 * is 50 us late. */
static void pace(double begin, double seconds) {
    if (seconds <= 0) return;
    for (double left; (left = begin + seconds - evn_now()) > 0;) {
        if (left > 150e-6) {
            double nap = left - 100e-6;
            struct timespec t = {(time_t)nap, (long)((nap - floor(nap)) * 1e9)};
            nanosleep(&t, NULL);
        } else {
            sched_yield();
        }
    }
}

/* ---- kernels ---- */

/* A range of a launch's groups. */
struct groups {
    struct command *command;
    int from, to;
};

static void run_all(void *arg) {
    const struct groups *s = arg;
    const struct command *c = s->command;
    for (int g = s->from; g < s->to; g++) c->entry->run(c->argument, c->groups, g, c->entry->items);
    if (turns_in_vain()) atomic_store(&s->command->in_vain, 1);
}

/* Number of the launch's parameter whose buffer the address is in or beside, and the offset in it;
 * -1: none. */
static int parameter_at(const struct command *c, const char *address, long long *at) {
    for (int p = 0, buffer = 0; buffer < c->stores; p++) {
        if (!parameter_is_buffer(c->entry->parameter[p])) continue;
        const struct store *s = c->store[buffer++];
        const char *map = c->entry->parameter[p] == EVN_PARAMETER_IN ? s->reader : s->map;
        if (address < map || address >= map + s->mapped) continue;
        *at = address - map - (s->memory - s->map);
        return p;
    }
    return -1;
}

static int is_buffers(void *arg, const void *address) {
    long long at;
    return parameter_at(((struct groups *)arg)->command, address, &at) >= 0;
}

static void run_some(struct command *c, int from, int to) {
    struct groups some = {c, from, to};
    int none = 0;
    long long at = 0;
    if (!c->stray) {
        run_all(&some);
        return;
    }
    const void *address = watch_run(run_all, is_buffers, &some);
    if (!address) return;
    const int parameter = parameter_at(c, address, &at);
    if (atomic_compare_exchange_strong(&c->stray->found, &none, parameter + 1)) c->stray->at = at;
}

static void take_groups(struct crew *w) {
    struct command *c = w->command;
    for (long from; (from = atomic_fetch_add(&w->next, w->chunk)) < c->groups;) {
        if (w->turns) turns_begin(w->turns, (int)from);
        run_some(c, (int)from, c->groups - from < w->chunk ? c->groups : (int)from + w->chunk);
        if (w->turns) turns_end();
    }
}

static void *help(void *p) {
    struct crew *w = p;
    pthread_mutex_lock(&w->lock);
    for (unsigned seen = 0;; seen++) {
        while (!w->stop && w->job == seen) pthread_cond_wait(&w->begin, &w->lock);
        if (w->stop) break;
        pthread_mutex_unlock(&w->lock);
        take_groups(w);
        pthread_mutex_lock(&w->lock);
        if (!--w->working) pthread_cond_signal(&w->end);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void run_groups(struct crew *w, struct command *c) {
    w->command = c;
    w->chunk = w->turns ? 1 : c->groups / (8 * (w->helpers + 1)) + 1;
    atomic_store(&w->next, 0);
    if (!w->helpers || c->groups == 1) {
        run_some(c, 0, c->groups);
        return;
    }
    pthread_mutex_lock(&w->lock);
    w->working = w->helpers;
    w->job++;
    pthread_cond_broadcast(&w->begin);
    pthread_mutex_unlock(&w->lock);
    take_groups(w);
    pthread_mutex_lock(&w->lock);
    while (w->working) pthread_cond_wait(&w->end, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

/* Runs a resident launch: as many threads as groups, so that each group gets one. */
static void run_resident(struct crew *w, struct command *c) {
    struct turns turns;
    turns_open(&turns, c->groups);
    w->turns = c->groups > 1 ? &turns : NULL;
    run_groups(w, c);
    w->turns = NULL;
    turns_close(&turns);
}

/* Does work on the device: kernels, and copies within it. */
static void run_inside(struct emulated *e, struct command *c) {
    const struct emulated_options *o = &e->options;
    pthread_mutex_lock(&e->engine);
    double begin = evn_now();
    if (!o->is_virtual) pace(begin, o->launch);
    begin = evn_now();
    if (c->task == TASK_LAUNCH)
        (c->is_resident ? run_resident : run_groups)(&e->crew, c);
    else
        memcpy(c->to->memory + c->to_at, c->from->memory + c->from_at, c->bytes);
    if (!o->is_virtual) pace(begin, (evn_now() - begin) / o->speed);
    pthread_mutex_unlock(&e->engine);
}

/* A copy over a link. The link out of a device is taken before the one into another, so that two
 * copies cannot wait for each other. */
static void run_transfer(struct emulated *out, struct emulated *in, char *to, const char *from,
                         size_t bytes, double host) {
    double seconds = 0;
    for (int i = 0; i < 2; i++) {
        const struct emulated *e = i ? in : out;
        if (!e || e->options.is_virtual) continue;
        double mine = e->options.latency;
        if (host > 0 && !(e->options.link > 0 && e->options.link < host))
            mine += (double)bytes / host;
        else if (e->options.link > 0)
            mine += (double)bytes / e->options.link;
        seconds = fmax(seconds, mine);
    }
    if (out) pthread_mutex_lock(&out->out);
    if (in) pthread_mutex_lock(&in->in);
    double begin = evn_now();
    /* late, so that a reader that does not wait finds old data, or sends data changed since */
    pace(begin, seconds);
    memcpy(to, from, bytes);
    if (in) pthread_mutex_unlock(&in->in);
    if (out) pthread_mutex_unlock(&out->out);
}

static const char *describe(const struct command *c, char *text, size_t size) {
    static const char *const copies[] = {
        [TASK_IN] = "copy of %zu bytes to the device",
        [TASK_OUT] = "copy of %zu bytes to the host",
        [TASK_WITHIN] = "copy of %zu bytes within the device",
        [TASK_PEER] = "copy of %zu bytes from another device",
        [TASK_POISON] = "poisoning %zu bytes",
    };
    if (c->task == TASK_LAUNCH)
        snprintf(text, size, "launch of \"%s\" with %d groups", c->entry->name, c->groups);
    else
        snprintf(text, size, copies[c->task], c->bytes);
    return text;
}

/* Reports a kernel's illegal access: the device has failed. */
static void tell_stray(struct emulated *e, const struct command *c) {
    char what[128], why[120];
    const int parameter = atomic_load(&c->stray->found) - 1;
    const struct store *s = NULL;
    for (int p = 0, buffer = 0; p <= parameter; p++)
        if (parameter_is_buffer(c->entry->parameter[p])) s = c->store[buffer++];
    if (c->stray->at >= 0 && c->stray->at < (long long)s->bytes)
        snprintf(why, sizeof why,
                 "it writes parameter %d, counted from 0, at byte %lld; it is EVN_IN", parameter,
                 c->stray->at);
    else
        snprintf(why, sizeof why, "it uses byte %lld of parameter %d, counted from 0, of %zu bytes",
                 c->stray->at, parameter, s->bytes);
    fail_device(e, describe(c, what, sizeof what), why);
}

/* Copies and kernels; nothing is done on a device that has failed. */
static void work(struct emulated_queue *q, struct command *c) {
    struct emulated *e = of(q->base.device);
    char what[128], why[64];
    if (has_failed(e)) return;
    if (c->fails) {
        static const char *const kind[] = {
            [FAIL_COPY] = "copy", [FAIL_KERNEL] = "kernel", [FAIL_LOST] = "lost"};
        snprintf(why, sizeof why, "%s on purpose (fail=%s@%ld)",
                 e->options.fail == FAIL_LOST ? "the device is lost" : "fails",
                 kind[e->options.fail], c->fails);
        fail_device(e, describe(c, what, sizeof what), why);
        return;
    }
    int error = 0;
    if (q->holds + 2 + c->stores > HELD) shut_all(q);
    if (c->to) error = hold(q, c->to);
    if (!error && c->from) error = hold(q, c->from);
    for (int s = 0; !error && s < c->stores; s++) error = hold(q, c->store[s]);
    if (error) {
        snprintf(why, sizeof why, "its memory cannot be opened: %s", strerror(error));
        fail_device(e, describe(c, what, sizeof what), why);
        return;
    }
    char *to = c->to ? c->to->memory + c->to_at : c->host_to;
    const char *from = c->from ? c->from->memory + c->from_at : c->host_from;
    switch (c->task) {
    case TASK_IN: run_transfer(NULL, e, to, from, c->bytes, c->host); break;
    case TASK_OUT: run_transfer(e, NULL, to, from, c->bytes, c->host); break;
    case TASK_PEER: run_transfer(c->peer, e, to, from, c->bytes, 0); break;
    case TASK_POISON: poison(to, c->bytes); break;
    case TASK_WITHIN:
    case TASK_LAUNCH: run_inside(e, c); break;
    default: break;
    }
    if (c->stray && atomic_load(&c->stray->found)) tell_stray(e, c);
    if (atomic_load(&c->in_vain))
        fail_device(e, describe(c, what, sizeof what),
                    c->is_resident ? "its groups all wait for each other"
                                   : "a group waits for another one, which takes "
                                     "EVN_ALL_RESIDENT");
}

static void command_free(struct command *c) {
    store_release(c->to);
    store_release(c->from);
    for (int s = 0; s < c->stores; s++) store_release(c->store[s]);
    moment_release(c->moment);
    free(c);
}

static void *serve(void *p) {
    struct emulated_queue *q = p;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        struct command *c = q->first;
        if (c) {
            q->first = c->next;
            if (!q->first) q->last = &q->first;
            q->busy = 1;
        } else if (q->busy) {
            /* the queue is empty: closes the stores, then reports the queue idle, if it is still
             * empty */
            pthread_mutex_unlock(&q->lock);
            shut_all(q);
            pthread_mutex_lock(&q->lock);
            if (!q->first) {
                q->busy = 0;
                pthread_cond_broadcast(&q->idle);
            }
            continue;
        } else if (q->stop) {
            break;
        } else {
            pthread_cond_wait(&q->work, &q->lock);
            continue;
        }
        pthread_mutex_unlock(&q->lock);
        if (c->task == TASK_RECORD) {
            shut_all(q);
            moment_happen(c->moment);
        } else if (c->task == TASK_WAIT) {
            if (!moment_done(c->moment)) shut_all(q);
            moment_wait(c->moment);
        } else {
            work(q, c);
        }
        command_free(c);
        pthread_mutex_lock(&q->lock);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* ---- giving out work ---- */

static struct emulated_queue *queue_of(evn_queue *q) { return (struct emulated_queue *)q; }

static void give(struct emulated_queue *q, struct command *c) {
    pthread_mutex_lock(&q->lock);
    *q->last = c;
    q->last = &c->next;
    pthread_cond_signal(&q->work);
    pthread_mutex_unlock(&q->lock);
}

static evn_status no_memory(void) { return evn_fail(EVN_MEMORY, "not enough host memory"); }

/* Virtual time from which on the queue's next work may begin. */
static picoseconds ready(struct emulated_queue *q) {
    picoseconds begin = q->ready;
    const picoseconds now = host_time();
    if (begin < now) q->ready = begin = now;
    return begin;
}

/* Bytes a second that host memory lets through; 0: as many as the link. */
static double host_rate(const struct emulated_options *o, const void *memory, size_t bytes) {
    if (!(o->pageable > 0) && !(o->shared > 0)) return 0;
    const enum host_kind kind = host_kind_of(memory, bytes, o->shared > 0);
    return kind == HOST_PINNED ? 0 : kind == HOST_SHARED ? o->shared : o->pageable;
}

static evn_status emulated_host_open(void **out, evn_device *d, size_t bytes) {
    (void)d;
    const size_t page = 4096;
    *out = bytes > SIZE_MAX - page ? NULL : aligned_alloc(page, (bytes + page - 1) / page * page);
    if (!*out) return no_memory();
    evn_status status = pinned_add(*out, bytes);
    if (status) free(*out);
    return status;
}

static void drain(struct emulated_queue *q) {
    pthread_mutex_lock(&q->lock);
    while (q->first || q->busy) pthread_cond_wait(&q->idle, &q->lock);
    pthread_mutex_unlock(&q->lock);
}

/* Waits for all queues: their copies may use host memory that is about to be freed. */
static void drain_all(struct emulated *e) {
    pthread_mutex_lock(&e->queues_lock);
    for (struct emulated_queue *q = e->queues; q; q = q->next) drain(q);
    pthread_mutex_unlock(&e->queues_lock);
}

static void emulated_host_close(void *memory, evn_device *d) {
    drain_all(of(d));
    pinned_remove(memory);
    free(memory);
}

static evn_status emulated_host_register(evn_device *d, void *memory, size_t bytes) {
    (void)d;
    return pinned_add(memory, bytes);
}

static void emulated_host_unregister(void *memory, evn_device *d) {
    drain_all(of(d));
    pinned_remove(memory);
}

static evn_status copy(evn_queue *base, enum task task, const evn_buffer *to, size_t to_at,
                       void *host_to, const evn_buffer *from, size_t from_at, const void *host_from,
                       size_t bytes) {
    struct emulated_queue *q = queue_of(base);
    struct emulated *e = of(base->device);
    struct command *c = calloc(1, sizeof *c);
    if (!c) return no_memory();
    *c = (struct command){.task = task,
                          .to_at = to_at,
                          .from_at = from_at,
                          .bytes = bytes,
                          .host_to = host_to,
                          .host_from = host_from};
    if (to) c->to = store_keep(store_of(to));
    if (from) c->from = store_keep(store_of(from));
    if (task == TASK_PEER) c->peer = of(from->device);
    if (host_to || host_from)
        c->host = host_rate(&e->options, host_to ? host_to : host_from, bytes);
    if (task != TASK_POISON) number(e, c);
    if (e->options.is_virtual) {
        picoseconds begin = ready(q);
        if (task == TASK_WITHIN)
            q->ready = timeline_within(&e->timeline, begin, bytes);
        else if (task != TASK_POISON)
            q->ready =
                timeline_transfer(task == TASK_IN    ? NULL
                                  : task == TASK_OUT ? &e->timeline
                                                     : &c->peer->timeline,
                                  task == TASK_OUT ? NULL : &e->timeline, begin, bytes, c->host);
    }
    give(q, c);
    return EVN_OK;
}

static evn_status emulated_copy_to_device(evn_queue *q, evn_buffer *to, size_t at, const void *from,
                                          size_t bytes) {
    return copy(q, TASK_IN, to, at, NULL, NULL, 0, from, bytes);
}

static evn_status emulated_copy_to_host(evn_queue *q, void *to, const evn_buffer *from, size_t at,
                                        size_t bytes) {
    return copy(q, TASK_OUT, NULL, 0, to, from, at, NULL, bytes);
}

static evn_status emulated_copy_within(evn_queue *q, evn_buffer *to, size_t to_at,
                                       const evn_buffer *from, size_t from_at, size_t bytes) {
    return copy(q, TASK_WITHIN, to, to_at, NULL, from, from_at, NULL, bytes);
}

static evn_status emulated_copy_peer(evn_queue *q, evn_buffer *to, size_t to_at,
                                     const evn_buffer *from, size_t from_at, size_t bytes) {
    return copy(q, TASK_PEER, to, to_at, NULL, from, from_at, NULL, bytes);
}

static evn_status emulated_poison(evn_queue *q, evn_buffer *b, size_t at, size_t bytes) {
    return copy(q, TASK_POISON, b, at, NULL, NULL, 0, NULL, bytes);
}

static size_t up(size_t bytes) { return (bytes + 63) / 64 * 64; }

static int emulated_resident(evn_kernel *k) { return of(k->program->device)->options.cores; }

static evn_status emulated_launch(evn_queue *base, evn_kernel *k, int groups, int items,
                                  int is_resident, const evn_argument *argument, int arguments) {
    struct emulated_queue *q = queue_of(base);
    struct emulated *e = of(base->device);
    /* one allocation: command, arguments, buffers, values */
    size_t at_argument = up(sizeof(struct command));
    size_t at_store = at_argument + up(sizeof(void *) * (size_t)arguments);
    size_t at_stray = at_store + up(sizeof(struct store *) * (size_t)arguments);
    size_t at_value = at_stray + (e->options.check ? up(sizeof(struct stray)) : 0), size = at_value;
    for (int a = 0; a < arguments; a++)
        if (!argument[a].buffer) size += up(argument[a].bytes);
    char *piece = aligned_alloc(64, size);
    if (!piece) return no_memory();
    struct command *c = (struct command *)piece;
    *c = (struct command){.task = TASK_LAUNCH,
                          .entry = k->entry,
                          .groups = groups,
                          .is_resident = is_resident,
                          .argument = (const void **)(piece + at_argument),
                          .store = (struct store **)(piece + at_store)};
    if (e->options.check) *(c->stray = (struct stray *)(piece + at_stray)) = (struct stray){0};
    char *value = piece + at_value;
    for (int a = 0; a < arguments; a++) {
        if (argument[a].buffer) {
            struct store *s = store_keep(store_of(argument[a].buffer));
            c->store[c->stores++] = s;
            c->argument[a] = s->memory;
            if (s->reader && k->entry->parameter[a] == EVN_PARAMETER_IN)
                c->argument[a] = s->reader + (s->memory - s->map);
        } else {
            memcpy(value, argument[a].value, argument[a].bytes);
            c->argument[a] = value;
            value += up(argument[a].bytes);
        }
    }
    number(e, c);
    if (e->options.is_virtual)
        q->ready = timeline_kernel(&e->timeline, ready(q), k->entry->name, groups, items);
    give(q, c);
    return EVN_OK;
}

/* ---- programs: the host compiler has made them ---- */

static evn_status emulated_program_open(evn_program *p) {
    (void)p;
    return EVN_OK;
}
static void emulated_program_close(evn_program *p) { (void)p; }
static evn_status emulated_kernel_open(evn_kernel *k) {
    /* a launch opens all its buffers at once */
    const int parameters = parameter_count(k->entry);
    if (parameters + 2 > HELD)
        return evn_fail(EVN_SYSTEM, "the kernel has %d parameters, expected at most %d", parameters,
                        HELD - 2);
    return EVN_OK;
}

/* ---- order and time ---- */

static evn_status emulated_queue_open(evn_queue *base) {
    struct emulated_queue *q = queue_of(base);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->work, NULL);
    pthread_cond_init(&q->idle, NULL);
    q->last = &q->first;
    q->ready = host_time();
    int error = thread_make(&q->thread, serve, q);
    if (!error) {
        struct emulated *e = of(base->device);
        pthread_mutex_lock(&e->queues_lock);
        q->next = e->queues;
        e->queues = q;
        pthread_mutex_unlock(&e->queues_lock);
        return EVN_OK;
    }
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->work);
    pthread_cond_destroy(&q->idle);
    char why[700];
    return evn_fail(EVN_SYSTEM, "its thread cannot be made: %s",
                    evn_limits_text(error, why, sizeof why));
}

static void emulated_queue_close(evn_queue *base) {
    struct emulated_queue *q = queue_of(base);
    struct emulated *e = of(base->device);
    pthread_mutex_lock(&e->queues_lock);
    struct emulated_queue **at = &e->queues;
    while (*at != q) at = &(*at)->next;
    *at = q->next;
    pthread_mutex_unlock(&e->queues_lock);
    drain(q);
    pthread_mutex_lock(&q->lock);
    q->stop = 1;
    pthread_cond_signal(&q->work);
    pthread_mutex_unlock(&q->lock);
    pthread_join(q->thread, NULL);
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->work);
    pthread_cond_destroy(&q->idle);
}

static evn_status emulated_queue_finish(evn_queue *base) {
    struct emulated_queue *q = queue_of(base);
    drain(q);
    host_time_reach(q->ready);
    return state(of(base->device));
}

static evn_status emulated_event_open(evn_event *e) {
    (void)e; /* moments are made when the event is recorded */
    return EVN_OK;
}

static struct moment **moment_of(evn_event *e) { return &((struct emulated_event *)e)->moment; }

static void emulated_event_close(evn_event *e) { moment_release(*moment_of(e)); }

static evn_status emulated_event_record(evn_event *e, evn_queue *base) {
    struct emulated_queue *q = queue_of(base);
    struct command *c = calloc(1, sizeof *c);
    struct moment *m = moment_make();
    if (!c || !m) {
        free(c);
        moment_release(m);
        return no_memory();
    }
    m->is_virtual = ready(q);
    moment_release(*moment_of(e));
    *moment_of(e) = moment_keep(m);
    *c = (struct command){.task = TASK_RECORD, .moment = m};
    give(q, c);
    return EVN_OK;
}

static evn_status emulated_queue_wait(evn_queue *base, evn_event *e) {
    struct emulated_queue *q = queue_of(base);
    struct command *c = calloc(1, sizeof *c);
    if (!c) return no_memory();
    struct moment *m = *moment_of(e);
    if (m->is_virtual > ready(q)) q->ready = m->is_virtual;
    *c = (struct command){.task = TASK_WAIT, .moment = moment_keep(m)};
    give(q, c);
    return EVN_OK;
}

static evn_status emulated_event_finish(evn_event *e) {
    struct moment *m = *moment_of(e);
    moment_wait(m);
    host_time_reach(m->is_virtual);
    return state(of(e->device));
}

static int emulated_event_done(evn_event *e) { return moment_done(*moment_of(e)); }

static evn_status emulated_event_seconds(evn_event *begin, evn_event *end, double *seconds) {
    struct moment *from = *moment_of(begin), *to = *moment_of(end);
    moment_wait(from);
    moment_wait(to);
    host_time_reach(from->is_virtual);
    host_time_reach(to->is_virtual);
    evn_status status = state(of(begin->device));
    if (status) return status;
    if (of(begin->device)->options.is_virtual)
        *seconds = (double)(to->is_virtual - from->is_virtual) / 1e12;
    else
        *seconds = to->real - from->real;
    return EVN_OK;
}

/* ---- devices ---- */

static evn_status emulated_count(const char *text, int *count, char *why, size_t size) {
    struct emulated_options options;
    evn_status status = emulated_options(&options, text);
    if (status) return status;
    *count = options.count;
    if (size) *why = 0;
    return EVN_OK;
}

static void emulated_close(evn_device *d) {
    struct emulated *e = of(d);
    struct crew *w = &e->crew;
    if (e->options.check) watch_close();
    pthread_mutex_lock(&w->lock);
    w->stop = 1;
    pthread_cond_broadcast(&w->begin);
    pthread_mutex_unlock(&w->lock);
    for (int h = 0; h < w->helpers; h++) pthread_join(w->thread[h], NULL);
    free(w->thread);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->begin);
    pthread_cond_destroy(&w->end);
    pthread_mutex_destroy(&e->engine);
    pthread_mutex_destroy(&e->in);
    pthread_mutex_destroy(&e->out);
    pthread_mutex_destroy(&e->lock);
    pthread_mutex_destroy(&e->queues_lock);
    pthread_mutex_destroy(&e->timeline.lock);
}

/* Writes a rate as in "3.5 GB/s", for the device's name. */
static void print_name(char *out, size_t size, const struct emulated_options *o) {
    int n = number_print(out, size, "emulated, %d core%s, speed %g", o->cores,
                         o->cores == 1 ? "" : "s", o->speed);
    if (o->link > 0)
        n += number_print(out + n, size - (size_t)n, ", link %g GB/s + %g us", o->link * 1e-9,
                          o->latency * 1e6);
    snprintf(out + n, size - (size_t)n, ", %s clock%s", o->is_virtual ? "virtual" : "real",
             o->check ? ", checks" : "");
}

static evn_status emulated_open(evn_device *d, const char *text) {
    struct emulated *e = of(d);
    struct emulated_options *o = &e->options;
    evn_status status = emulated_options(o, text);
    if (status) return status;
    struct crew *w = &e->crew;
    w->thread = calloc((size_t)o->cores, sizeof *w->thread);
    if (!w->thread) return no_memory();
    int error = o->check ? watch_open() : 0;
    if (error) {
        free(w->thread);
        return evn_fail(EVN_SYSTEM, "kernels cannot be watched: %s", strerror(error));
    }
    pthread_mutex_init(&e->engine, NULL);
    pthread_mutex_init(&e->in, NULL);
    pthread_mutex_init(&e->out, NULL);
    pthread_mutex_init(&e->lock, NULL);
    pthread_mutex_init(&e->queues_lock, NULL);
    pthread_mutex_init(&e->timeline.lock, NULL);
    e->timeline.options = o;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->begin, NULL);
    pthread_cond_init(&w->end, NULL);
    for (; w->helpers < o->cores - 1; w->helpers++) {
        error = thread_make(&w->thread[w->helpers], help, w);
        if (!error) continue;
        emulated_close(d);
        char why[700];
        return evn_fail(EVN_SYSTEM, "thread %d of %d cannot be made: %s", w->helpers + 2, o->cores,
                        evn_limits_text(error, why, sizeof why));
    }
    evn_traits *t = &d->traits;
    print_name(t->name, sizeof t->name, o);
    snprintf(t->architecture, sizeof t->architecture, "emulated");
    t->memory = t->max_buffer = o->memory;
    t->local_memory = 65536;
    t->processors = o->cores;
    t->max_items = 1024;
    t->peer = o->peer;
    t->clock_is_virtual = o->is_virtual;
    t->resident = 1;
    t->poisons = 1;
    d->accelerator = DEVICE_ANY;
    return EVN_OK;
}

const struct backend backend_emulated = {
    .name = "emulated",
    .any_number = 1,
    .device_size = sizeof(struct emulated),
    .buffer_size = sizeof(struct emulated_buffer),
    .queue_size = sizeof(struct emulated_queue),
    .event_size = sizeof(struct emulated_event),
    .program_size = sizeof(evn_program),
    .kernel_size = sizeof(evn_kernel),
    .count = emulated_count,
    .open = emulated_open,
    .close = emulated_close,
    .buffer_open = emulated_buffer_open,
    .buffer_close = emulated_buffer_close,
    .host_memory_open = emulated_host_open,
    .host_memory_close = emulated_host_close,
    .host_memory_register = emulated_host_register,
    .host_memory_unregister = emulated_host_unregister,
    .copy_to_device = emulated_copy_to_device,
    .copy_to_host = emulated_copy_to_host,
    .copy_within = emulated_copy_within,
    .copy_peer = emulated_copy_peer,
    .poison = emulated_poison,
    .program_open = emulated_program_open,
    .program_close = emulated_program_close,
    .kernel_open = emulated_kernel_open,
    .launch = emulated_launch,
    .resident = emulated_resident,
    .queue_open = emulated_queue_open,
    .queue_close = emulated_queue_close,
    .queue_finish = emulated_queue_finish,
    .event_open = emulated_event_open,
    .event_close = emulated_event_close,
    .event_record = emulated_event_record,
    .queue_wait = emulated_queue_wait,
    .event_finish = emulated_event_finish,
    .event_done = emulated_event_done,
    .event_seconds = emulated_event_seconds,
};
