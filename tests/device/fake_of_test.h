/* The driver that is none (fake_cuda.h), for a test program that looks at what it was asked. */
#pragma once

#include "device/devices.h"
#include "check.h"
#include "fake_cuda.h"
#include <dlfcn.h>

OWNED(program, evn_program, device_program_close)
OWNED(kernel, evn_kernel, device_kernel_close)

static struct fake_cuda *fake;

/* Loads it from FAKE_CUDA or FAKE_CUDA_OLD, the files by the build; whether it is there. */
static int fake_load(const char *file) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    fake = library ? dlsym(library, "fake") : NULL;
    if (!fake) print_error("%s\n", dlerror());
    return fake != NULL;
}

/* After every test: nothing is left open, and nothing was done that a driver does not forgive. */
static int tear_down(void **state) {
    (void)state;
    if (fake->wrong) print_error("%d wrong calls; %s\n", fake->wrong, fake->what);
    if (fake->open) print_error("%d left open\n", fake->open);
    return fake->wrong || fake->open;
}
