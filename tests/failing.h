/* Allocations that fail. Included by one file of a test, which then has malloc() and the like of
 * its own, for the library too. Not with sanitizers, which want theirs. */
#pragma once

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* The allocation of this thread that fails, counted down; 0: none does, or it has. */
static _Thread_local long fails;
/* Blocks that are allocated; counted where allocations can fail. */
static atomic_long allocated;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define HAVE_FAILING 0
#else
#    define HAVE_FAILING 1
/* C libraries rely on errno, too. */
static int may_allocate(void) {
    if (!fails || --fails) return 1;
    errno = ENOMEM;
    return 0;
}
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
static void *counted(void *p) {
    if (p) atomic_fetch_add(&allocated, 1);
    return p;
}
void *malloc(size_t n) { return may_allocate() ? counted(__libc_malloc(n)) : NULL; }
void *calloc(size_t n, size_t size) {
    return may_allocate() ? counted(__libc_calloc(n, size)) : NULL;
}
void *realloc(void *p, size_t n) {
    if (!may_allocate()) return NULL;
    return p ? __libc_realloc(p, n) : counted(__libc_malloc(n));
}
void *aligned_alloc(size_t to, size_t n) {
    return may_allocate() ? counted(__libc_memalign(to, n)) : NULL;
}
int posix_memalign(void **p, size_t to, size_t n) {
    *p = may_allocate() ? counted(__libc_memalign(to, n)) : NULL;
    return *p ? 0 : ENOMEM;
}
void free(void *p) {
    if (p) atomic_fetch_sub(&allocated, 1);
    __libc_free(p);
}
#endif
