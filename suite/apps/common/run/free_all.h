/* free() of all of its arguments. */
#pragma once

#include <stdlib.h>

static inline void free_each(void *const *memory, size_t count) {
    for (size_t i = 0; i < count; i++) free(memory[i]);
}

#define free_all(...)                                                                              \
    free_each((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
