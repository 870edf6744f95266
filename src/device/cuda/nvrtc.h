/* NVIDIA's run-time compiler, NVRTC: CUDA text to a program for one architecture. It needs no
 * device and no driver, so any machine can compile and measure every kernel.
 *
 * The library is opened with dlopen(), the newest first, from $EVENER_NVRTC (a file; then nowhere
 * else), the loader's folders, and those of toolkits and Python's packages (find_libraries.h). The
 * oldest usable version is 11.2.
 *
 * An architecture is a compute capability as one number, 90 for 9.0 and 121 for 12.1. */
#ifndef DEVICE_CUDA_NVRTC_H
#define DEVICE_CUDA_NVRTC_H

#include <evener/status.h>
#include <stddef.h>

struct nvrtc;

/* Opens the compiler. `driver`: the newest CUDA that the driver supports, 12040 for 12.4, or 0 for
 * any. Programs of a compiler with a later major version do not load into an older driver, so such
 * compilers are the last choice. EVN_MISSING: there is none; the message lists the places. */
evn_status nvrtc_open(struct nvrtc **out, int driver);

/* Closes the compiler; the library stays loaded, since it cannot be unloaded safely. */
void nvrtc_close(struct nvrtc *compiler);

int nvrtc_version(const struct nvrtc *compiler);      /* 13000 for 13.0 */
const char *nvrtc_path(const struct nvrtc *compiler); /* the library's file */

/* The compiler's architectures, ascending; version 13 has dropped those before 75. */
const int *nvrtc_architectures(const struct nvrtc *compiler, int *count);

/* Target for a device of `architecture`: "sm_90", a native program, if the compiler knows it;
 * "compute_90", portable text (PTX) of the next lower known one, if the architecture is newer than
 * all or between known ones; the driver compiles it on loading. EVN_MISSING: older than all; the
 * message says which version would do. */
evn_status nvrtc_target(const struct nvrtc *compiler, int architecture, char target[32]);

/* Resources of one kernel, an item and a group. Local memory is an item's memory beside registers:
 * indexed arrays and spilled registers; it lies in device memory. Registers and local memory
 * include those of called functions. -1: not known. */
struct nvrtc_kernel {
    char name[64];
    int registers;   /* of an item */
    int local_bytes; /* of an item */
    int spill_bytes; /* of an item, stored */
    int group_bytes; /* that a group shares */
};

struct nvrtc_program {
    void *image;  /* cubin, or PTX ended by a 0 */
    size_t bytes; /* of the image, with the 0 */
    int is_text;  /* PTX */
    char *log;    /* the compiler's output, with its resource report; never NULL */
    int kernels;  /* set by nvrtc_measure() */
    struct nvrtc_kernel *kernel;
};

/* Compiles `text`, named `name` in messages, for `target` (of nvrtc_target()), with the macros
 * `defines` ("N=8 DIRECTION=0"; NULL: none). `contract`: a*b+c is rounded once; else twice, and
 * EVN_CONTRACT=0 is defined.
 *
 * EVN_SYSTEM: the compiler refuses the text, with its first complaint; EVN_MEMORY; EVN_MISSING: the
 * compiler lacks a part of itself. *out is then empty. */
evn_status nvrtc_compile(const struct nvrtc *compiler, struct nvrtc_program *out, const char *name,
                         const char *text, const char *target, const char *defines, int contract);
void nvrtc_program_close(struct nvrtc_program *program);

/* 1 if an image for `target` from another source is complete: drivers, which get no size, find its
 * end. */
int nvrtc_is_whole(const void *image, size_t bytes, const char *target);

/* Fills program->kernel from a cubin. Spills and group memory are only in program->log, -1 without
 * it; without it, local memory of recursive functions is missed, too. Reads nothing outside of the
 * image, whatever its content. EVN_SYSTEM: not a cubin (as PTX). */
evn_status nvrtc_measure(struct nvrtc_program *program);

#endif
