/* Compilation of loops' kernels at run time. A long compilation, which may take seconds a loop, is
 * announced on standard error, once a program. */
#include "cu/internal.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SILENT_MS = 2000, MOST_HELPERS = 63 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all static data of this file */
static int said;     /* 1: the message has been printed; under the lock */
static long long ms; /* ms that all compilations have taken; under the lock */

/* One compilation, and the thread that waits beside it. */
struct watch {
    const evn_cu_kernel *kernel;
    pthread_cond_t end;
    struct timespec from, until;
    int ended; /* under the lock */
};

static long long ms_between(struct timespec a, struct timespec b) {
    return (long long)(b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000;
}

static void *wait_for(void *given) {
    struct watch *w = given;
    pthread_mutex_lock(&lock);
    int code = 0;
    while (!w->ended && !said && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&w->end, &lock, &w->until);
    if (!w->ended && !said) {
        said = 1;
        fprintf(
            stderr,
            "evener: kernels of loops are compiled for the device, now that of %s:%d; later runs "
            "find them in the cache\n",
            w->kernel->file, w->kernel->line);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* A thread that no signal of the program's ends up in. */
static int begin(struct watch *w, pthread_t *thread) {
    pthread_condattr_t how;
    sigset_t all, before;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&w->end, &how);
    pthread_condattr_destroy(&how);
    clock_gettime(CLOCK_MONOTONIC, &w->from);
    pthread_mutex_lock(&lock);
    const long long left = said ? 0 : ms < SILENT_MS ? SILENT_MS - ms : 0;
    const int silent = said;
    pthread_mutex_unlock(&lock);
    w->until = w->from;
    w->until.tv_sec += (time_t)(left / 1000);
    w->until.tv_nsec += (long)(left % 1000) * 1000000;
    if (w->until.tv_nsec >= 1000000000) w->until.tv_sec++, w->until.tv_nsec -= 1000000000;
    if (silent) return 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int made = !pthread_create(thread, NULL, wait_for, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return made;
}

static void end(struct watch *w, int made, pthread_t thread) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    pthread_mutex_lock(&lock);
    ms += ms_between(w->from, now);
    w->ended = 1;
    pthread_cond_signal(&w->end);
    pthread_mutex_unlock(&lock);
    if (made) pthread_join(thread, NULL);
    pthread_cond_destroy(&w->end);
}

/* ---- sources ------------------------------------------------------------------------------- */

/* A compiled kernel as devices get it; kept for the program's life. */
struct made {
    evn_kernel_entry entry[2];
    evn_kernel_source source;
    /* spaces whose devices have it, and for which a helper has tried; of the first 64 */
    atomic_ullong known, tried;
};

/* NULL: there is not enough memory. */
static struct made *made_of(evn_cu_kernel *k) {
    pthread_mutex_lock(&lock);
    struct made *made = k->state;
    const size_t head = strlen(k->dialect), rest = strlen(k->text);
    char *text = made ? NULL : malloc(head + rest + 1);
    if (text && (made = calloc(1, sizeof *made))) {
        memcpy(text, k->dialect, head);
        memcpy(text + head, k->text, rest + 1);
        made->entry[0] = (evn_kernel_entry){"evn_loop", k->run, CU_GROUP, k->parameter};
        made->source = (evn_kernel_source){
            .name = "evn_loop", .text = text, .entry = made->entry, .contract = k->contract};
        k->state = made;
    } else if (text) {
        free(text);
    }
    pthread_mutex_unlock(&lock);
    if (!made) evn_fail(EVN_MEMORY, "not enough memory for a kernel");
    return made;
}

/* ---- the program's kernels ----------------------------------------------------------------- */

struct member {
    evn_cu_kernel *kernel;
    struct member *next;
};
static struct member *first, **last = &first; /* kernels as the program has them; under the lock */

void evn_cu_kernel_announce(evn_cu_kernel *kernel) {
    struct member *m = malloc(sizeof *m);
    Dl_info here;
    if (!m) return; /* it is compiled when it is wanted */
    /* a library with kernels stays loaded, as the list has them */
    if (dladdr(kernel, &here)) dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    *m = (struct member){kernel, NULL};
    pthread_mutex_lock(&lock);
    *last = m;
    last = &m->next;
    pthread_mutex_unlock(&lock);
}

static struct member *member_of(const evn_cu_kernel *kernel) {
    struct member *m = first;
    while (m && m->kernel != kernel) m = m->next;
    return m;
}

/* Whether an earlier kernel has the same text, as of a function in a header that several files
 * include. */
static int is_copy(const struct member *member) {
    const evn_cu_kernel *k = member->kernel;
    for (const struct member *m = first; m != member; m = m->next)
        if (m->kernel->contract == k->contract && !strcmp(m->kernel->text, k->text)) return 1;
    return 0;
}

/* ---- side by side -------------------------------------------------------------------------- */

/* Helpers beside a thread that compiles. */
struct crew {
    evn_device *device;
    unsigned long long bit; /* bit of the device's space */
    const struct member *wanted;
    struct member *next; /* under the lock: to be looked at; NULL: there is none, or it is over */
    const evn_machine *machine;
    int helpers;
    pthread_t thread[MOST_HELPERS];
};

/* The kernels behind the wanted one, then those before it. */
static struct member *behind(const struct crew *c, const struct member *m) {
    struct member *next = m->next ? m->next : first;
    return next == c->wanted ? NULL : next;
}

static int is_tried(const struct crew *c, const evn_cu_kernel *k) {
    const struct made *made = k->state;
    return made && (atomic_load(&made->known) | atomic_load(&made->tried)) & c->bit;
}

/* From `m` on, one that a helper may be useful for; under the lock. */
static struct member *unknown(const struct crew *c, struct member *m) {
    while (m && (is_tried(c, m->kernel) || is_copy(m))) m = behind(c, m);
    return m;
}

static evn_status compile(struct made *made, const struct crew *c, evn_kernel **out) {
    const evn_status status = evn_kernel_get(c->device, &made->source, "evn_loop", out);
    if (!status) atomic_fetch_or(&made->known, c->bit);
    return status;
}

static void *help(void *given) {
    struct crew *c = given;
    evn_kernel *kernel;
    evn_machine_keep_to(c->machine); /* refused: on the core of the thread that waits for it */
    for (;;) {
        pthread_mutex_lock(&lock);
        struct member *m = unknown(c, c->next);
        c->next = m ? behind(c, m) : NULL;
        pthread_mutex_unlock(&lock);
        struct made *made = m ? made_of(m->kernel) : NULL;
        if (!made) return NULL;
        atomic_fetch_or(&made->tried, c->bit);
        compile(made, c, &kernel);
    }
}

/* Helpers where there is something for them, with none of the program's signals. */
static void call_helpers(struct crew *c, const evn_cu_kernel *kernel, const evn_machine *machine) {
    const int cores = machine ? evn_machine_cores(machine) : 1;
    sigset_t all, before;
    int more = 0;
    pthread_mutex_lock(&lock);
    c->wanted = member_of(kernel);
    c->next = c->wanted ? unknown(c, behind(c, c->wanted)) : NULL;
    for (struct member *m = c->next; m; m = unknown(c, behind(c, m))) more++;
    pthread_mutex_unlock(&lock);
    c->machine = machine;
    if (more > cores - 1) more = cores - 1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (c->helpers < more && c->helpers < MOST_HELPERS &&
           !pthread_create(&c->thread[c->helpers], NULL, help, c))
        c->helpers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end_helpers(struct crew *c) {
    pthread_mutex_lock(&lock);
    c->next = NULL;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < c->helpers; i++) pthread_join(c->thread[i], NULL);
}

evn_status cu_kernel_get(evn_cu_kernel *kernel, evn_device *device, int space,
                         const evn_machine *machine, evn_kernel **out) {
    struct made *made = made_of(kernel);
    if (!made) return EVN_MEMORY;
    struct crew c = {.device = device, .bit = space < 64 ? 1ULL << space : 0};
    if (atomic_load(&made->known) & c.bit)
        return evn_kernel_get(device, &made->source, "evn_loop", out);
    struct watch w = {.kernel = kernel};
    pthread_t thread;
    const int watched = begin(&w, &thread);
    call_helpers(&c, kernel, machine);
    const evn_status status = compile(made, &c, out);
    end_helpers(&c);
    end(&w, watched, thread);
    return status;
}
