/* NVIDIA's run-time compiler, NVRTC: CUDA text in, a program for one architecture out. It needs no
 * device and no driver, so a machine without a GPU can compile and measure every kernel.
 *
 * The library is opened with dlopen. It is looked for, newest first, in $EVENER_NVRTC (a file, and
 * then nowhere else), where the loader looks, and where toolkits and Python's packages have it
 * (folders.h). NVRTC 11.2 is the oldest that will do.
 *
 * An architecture is a compute capability as one number, 90 for 9.0 and 121 for 12.1.
 */
#ifndef DEVICE_NVRTC_H
#define DEVICE_NVRTC_H

#include <evener/status.h>
#include <stddef.h>

struct nvrtc;

/* Opens the compiler. `driver`: the newest CUDA that the driver knows, 12040 for 12.4, or 0 for
 * any. A program made by a compiler of a later major version does not load into an older driver, so
 * those compilers are taken only if there is no other. EVN_MISSING: there is none; the message says
 * where it was looked for. */
evn_status nvrtc_open(struct nvrtc **out, int driver);

/* The library stays loaded: it does not stand being unloaded. */
void nvrtc_close(struct nvrtc *compiler);

int nvrtc_version(const struct nvrtc *compiler);      /* 13000 for 13.0 */
const char *nvrtc_path(const struct nvrtc *compiler); /* the library's file */

/* The architectures it knows, ascending; version 13 has forgotten those before 75. */
const int *nvrtc_architectures(const struct nvrtc *compiler, int *count);

/* What a device of `architecture` gets: "sm_90", a program of its own, where the compiler knows it;
 * "compute_90" where it is newer than all or between those known: portable text (PTX) for the next
 * lower one, which the driver compiles when it loads it. EVN_MISSING: it is older than all; the
 * message says which version would do. */
evn_status nvrtc_target(const struct nvrtc *compiler, int architecture, char target[32]);

/* What one kernel takes, of an item and of a group. Local memory is what a single item has for
 * itself beside registers: its indexed arrays, and what was spilled since registers did not
 * suffice. It lies in device memory. Both count with what the functions take that the kernel calls.
 * -1: not known. */
struct nvrtc_kernel {
    char name[64];
    int registers;   /* of an item */
    int local_bytes; /* of an item */
    int spill_bytes; /* of an item, stored */
    int group_bytes; /* that a group shares */
};

struct nvrtc_program {
    void *image;  /* cubin, or PTX ended by a 0 */
    size_t bytes; /* of it; the 0 counts */
    int is_text;  /* PTX */
    char *log;    /* what the compiler said, with its report; never NULL */
    int kernels;  /* of nvrtc_measure() */
    struct nvrtc_kernel *kernel;
};

/* Compiles `text`, called `name` in messages, for `target`, as nvrtc_target() gives it, with the
 * macros `defines` ("N=8 DIRECTION=0"; NULL: none). `contract`: a*b+c is rounded once; if not,
 * twice, and EVN_CONTRACT=0 is defined.
 *
 * EVN_SYSTEM: the text is refused, with the compiler's first complaint; EVN_MEMORY; EVN_MISSING:
 * the compiler lacks a part of itself. *out is then empty. */
evn_status nvrtc_compile(const struct nvrtc *compiler, struct nvrtc_program *out, const char *name,
                         const char *text, const char *target, const char *defines, int contract);
void nvrtc_program_close(struct nvrtc_program *program);

/* Whether an image for `target` from elsewhere is whole: the driver, which gets it without its
 * size, would find its end. */
int nvrtc_is_whole(const void *image, size_t bytes, const char *target);

/* Reads the kernels of a cubin and fills program->kernel. What was spilled and what a group shares
 * is only in program->log: -1 without it; and without it the local memory of functions that call
 * themselves is missed. Reads nothing outside of the image, whatever is in it. EVN_SYSTEM: not a
 * cubin (PTX is none). */
evn_status nvrtc_measure(struct nvrtc_program *program);

#endif
