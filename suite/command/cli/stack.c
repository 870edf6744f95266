/* Stacks: where the process's limit is small, the command runs on one of its own, which the limit
 * does not reach, in the same thread: a second one would not be in the ranks that are forked. */
#include "cli/stack.h"
#include "common/cli/message.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

enum { STACK = 8 << 20, LEAST = 1 << 20 };

static struct {
    int (*command)(int, char **);
    int argc;
    char **argv;
    int status;
    ucontext_t before, own;
} call;

static void answer(void) { call.status = call.command(call.argc, call.argv); }

/* Threads without a size of their own. */
static int grow_threads(void) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    error = pthread_attr_setstacksize(&attributes, STACK);
    if (!error) error = pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
    return error;
}

/* Below the stack is a page that faults. An errno where there is no memory. */
static int run_apart(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = STACK + page;
    const int error = grow_threads();
    if (error) return error;
    char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return errno;
    if (mprotect(stack, page, PROT_NONE) || getcontext(&call.own)) return errno;
    call.own.uc_stack.ss_sp = stack + page;
    call.own.uc_stack.ss_size = STACK;
    call.own.uc_link = &call.before;
    makecontext(&call.own, answer, 0);
    return swapcontext(&call.before, &call.own) ? errno : 0;
}

int stack_run(int (*command)(int, char **), int argc, char **argv) {
    struct rlimit limit;
    /* no limit is the largest number */
    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= LEAST) return command(argc, argv);
    call.command = command;
    call.argc = argc;
    call.argv = argv;
    call.status = EXIT_FAILED;
    const int error = run_apart();
    if (error)
        complain("the stack may have %llu kB (ulimit -s), and there is no memory for one of %d "
                 "kB: %s; raise ulimit -s, or ulimit -v",
                 (unsigned long long)limit.rlim_cur / 1024, STACK / 1024, strerror(error));
    return call.status;
}
