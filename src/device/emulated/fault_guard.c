/* Guarded calls (fault_guard.h): a signal handler that jumps back to the call. */
#include "device/emulated/fault_guard.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

enum { SIGNALS = 2 };
static const int number[SIGNALS] = {SIGSEGV, SIGBUS};

static struct {
    pthread_mutex_t lock;
    int users;
    struct sigaction before[SIGNALS];
} handler = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct watched {
    sigjmp_buf back;
    int (*is_mine)(void *arg, const void *address);
    void *arg;
    const void *volatile address;
};
/* watched work of this thread; NULL: none */
static _Thread_local struct watched *volatile watched;

/* 1 while a signal is handed to the previous handler, which may hand it back. */
static _Thread_local volatile sig_atomic_t handing;

static void hand_on(int signal, siginfo_t *info, void *context) {
    static const struct sigaction end = {.sa_handler = SIG_DFL};
    const struct sigaction *before = &handler.before[signal == SIGSEGV ? 0 : 1];
    const int is_info = (before->sa_flags & SA_SIGINFO) != 0;
    const int is_none =
        !is_info && (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN);
    if (handing || is_none) { /* the default action ends the process when the fault repeats */
        sigaction(signal, &end, NULL);
        if (info->si_code <= 0) raise(signal); /* no fault: a signal that another process sent */
        return;
    }
    handing = 1;
    if (is_info)
        before->sa_sigaction(signal, info, context);
    else
        before->sa_handler(signal);
    handing = 0;
}

static void on_fault(int signal, siginfo_t *info, void *context) {
    struct watched *w = watched;
    if (!w || !w->is_mine(w->arg, info->si_addr)) {
        hand_on(signal, info, context);
        return;
    }
    w->address = info->si_addr;
    siglongjmp(w->back, 1);
}

static int is_ours(int signal) {
    struct sigaction now;
    return !sigaction(signal, NULL, &now) && (now.sa_flags & SA_SIGINFO) &&
           now.sa_sigaction == on_fault;
}

/* Installs the handlers, also where others have replaced them since. */
int watch_open(void) {
    int error = 0;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    pthread_mutex_lock(&handler.lock);
    for (int i = 0; !error && i < SIGNALS; i++)
        if (!is_ours(number[i]) && sigaction(number[i], &action, &handler.before[i])) error = errno;
    if (!error) handler.users++;
    pthread_mutex_unlock(&handler.lock);
    return error;
}

/* Removes the handlers, unless a later handler may call ours. */
void watch_close(void) {
    pthread_mutex_lock(&handler.lock);
    handler.users--;
    for (int i = 0; !handler.users && i < SIGNALS; i++)
        if (is_ours(number[i])) sigaction(number[i], &handler.before[i], NULL);
    pthread_mutex_unlock(&handler.lock);
}

const void *watch_run(void (*work)(void *arg), int (*is_mine)(void *arg, const void *address),
                      void *arg) {
    struct watched w = {.is_mine = is_mine, .arg = arg};
    if (!sigsetjmp(w.back, 1)) {
        watched = &w;
        work(arg);
    }
    watched = NULL;
    return w.address;
}
