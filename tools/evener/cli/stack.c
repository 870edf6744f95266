/* Stacks: where the process's limit is small, the command runs in a thread of its own, whose stack
 * the limit does not reach. */
#include "cli/stack.h"
#include "common/cli/message.h"
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

enum { STACK = 8 << 20, LEAST = 1 << 20 };

struct call {
    int (*command)(int, char **);
    int argc;
    char **argv;
    int status;
};

static void *answer(void *p) {
    struct call *call = p;
    call->status = call->command(call->argc, call->argv);
    return NULL;
}

/* In a thread; an errno where there can be none. */
static int run_apart(struct call *call) {
    pthread_attr_t attributes;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);
    if (!error) error = pthread_attr_setstacksize(&attributes, STACK);
    if (!error) error = pthread_setattr_default_np(&attributes);
    if (!error) error = pthread_create(&thread, &attributes, answer, call);
    if (!error) error = pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

int stack_run(int (*command)(int, char **), int argc, char **argv) {
    struct rlimit limit;
    struct call call = {command, argc, argv, EXIT_FAILED};
    /* no limit is the largest number */
    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= LEAST) return command(argc, argv);
    const int error = run_apart(&call);
    if (error)
        complain("the stack may have %llu kB, and a thread with more cannot be made: %s; look at "
                 "ulimit -s",
                 (unsigned long long)limit.rlim_cur / 1024, strerror(error));
    return call.status;
}
