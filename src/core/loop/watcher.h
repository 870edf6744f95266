/* Counters of loops that others see while these run: functions that src/observe/record/watch.c puts
 * here. */
#pragma once

#include <evener/loop.h>

struct loop_watcher {
    void (*named)(evn_loop *loop, const char *name);
    void (*ended)(evn_loop *loop);  /* an instance */
    void (*closes)(evn_loop *loop); /* one with counters */
};

/* NULL: nobody watches. */
extern const struct loop_watcher *_Atomic loop_watcher;
