/* Threads and their stacks. */
#include "base/thread.h"
#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_STACK = 1 << 20 };

/* A stack size as the OpenMP runtime reads it: a whole number of kB, or of the unit that a letter
 * names; 0: not a size, which the runtime ignores. */
static size_t read_size(const char *text) {
    char *end;
    int shift = 10;
    while (text && isspace((unsigned char)*text)) text++;
    if (!text || !isdigit((unsigned char)*text)) return 0;
    const unsigned long long n = strtoull(text, &end, 10);
    while (isspace((unsigned char)*end)) end++;
    const char *const units = "bkmg", *unit = *end ? strchr(units, tolower(*end)) : NULL;
    if (unit) shift = 10 * (int)(unit - units);
    if (unit) end++;
    while (isspace((unsigned char)*end)) end++;
    return *end || n > SIZE_MAX >> shift ? 0 : (size_t)n << shift;
}

static size_t default_stack(void) {
    pthread_attr_t attributes;
    size_t size = 0;
    if (pthread_getattr_default_np(&attributes)) return 0;
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    return size;
}

size_t thread_stack(void) {
    size_t size = read_size(secure_getenv("OMP_STACKSIZE"));
    if (!size) size = read_size(secure_getenv("GOMP_STACKSIZE"));
    return size ? size : default_stack();
}

int thread_make_with(pthread_t *thread, size_t stack, void *(*work)(void *), void *arg) {
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    if (stack >= (size_t)PTHREAD_STACK_MIN) error = pthread_attr_setstacksize(&attributes, stack);
    if (!error) error = pthread_create(thread, &attributes, work, arg);
    pthread_attr_destroy(&attributes);
    return error;
}

int thread_make(pthread_t *thread, void *(*work)(void *), void *arg) {
    const size_t here = default_stack(), theirs = thread_stack();
    size_t stack = here > theirs ? here : theirs;
    return thread_make_with(thread, stack > OWN_STACK ? stack : OWN_STACK, work, arg);
}
