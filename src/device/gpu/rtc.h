/* Run-time compilers, NVRTC and HIPRTC: the text of kernels to a program for one architecture. They
 * need no device and no driver, so any machine can compile and measure every kernel.
 *
 * A kind is one constant `struct rtc_kind`; what the kinds share is here. */
#pragma once

#include "device/gpu/api.h"
#include <evener/status.h>
#include <evener/program.h>
#include <limits.h>

enum { RTC_ARCHITECTURES = 64 };

struct rtc {
    const struct rtc_kind *kind;
    struct rtc_api api;
    void *library;
    int version; /* 13000 for 13.0 */
    char path[PATH_MAX];
    int architectures, architecture[RTC_ARCHITECTURES]; /* targets of NVRTC, ascending */
};

/* Resources of one kernel, an item and a group. Local memory is an item's memory beside registers:
 * indexed arrays and spilled registers; it lies in device memory. Registers and local memory
 * include those of called functions. -1: not known. */
struct rtc_kernel {
    char name[64];
    int registers;        /* registers of an item; vector registers of a wavefront's items */
    int scalar_registers; /* scalar registers of a wavefront; -1: the architecture has none */
    int local_bytes;      /* local memory of an item */
    int spill_bytes;      /* bytes that an item spills; HIPRTC counts each store */
    int group_bytes;      /* bytes that a group shares */
    int wavefront;        /* items that run in lockstep: 32 or 64 */
};

struct rtc_program {
    void *image;  /* cubin or code object, or PTX ended by a 0 */
    size_t bytes; /* bytes of the image, with the 0 */
    int is_text;  /* 1: the image is PTX */
    char *log;    /* the compiler's output, with its resource report; never NULL */
    int kernels;  /* set by a kind's measure() */
    struct rtc_kernel *kernel;
};

enum { RTC_OPTIONS = 8 };

struct rtc_kind {
    const char *name; /* "NVRTC", in messages */
    enum gpu_side side;

    /* Opens the compiler. `driver`: the driver's version, 0 for any; `beside`: the driver's file,
     * or NULL. EVN_MISSING: there is none; the message lists the places. */
    evn_status (*open)(struct rtc **out, int driver, const char *beside);
    /* 1 if the compiler makes programs for just this target. */
    int (*knows)(const struct rtc *compiler, const char *target);
    /* Target for a device of architecture `own`, "sm_90". EVN_MISSING. */
    evn_status (*target)(const struct rtc *compiler, const char *own, char target[32]);
    /* O: nothing to prepare. Called before a compilation. EVN_MISSING: the compiler cannot make
     * this target. */
    evn_status (*ready)(const struct rtc *compiler, const char *target);
    /* Options that begin the target's, that turn contraction on and off, and that all have; of
     * these the last is left out where the compiler does not know it. */
    const char *target_option, *contract_option[2];
    const char *option[RTC_OPTIONS];
    /* 1 if an image for `target` from another source is complete: drivers, which get no size, find
     * its end. */
    int (*is_whole)(const void *image, size_t bytes, const char *target);
    /* Fills program->kernel. Reads nothing outside of the image, whatever its content. EVN_SYSTEM:
     * it is no image of machine code. */
    evn_status (*measure)(struct rtc_program *program);
};

extern const struct rtc_kind rtc_nvrtc, rtc_hiprtc;

/* Tries one file: opens the library, and fills in c->api, c->path and c->version. 0: it is there
 * and has all functions; else `why` is its fault, or unchanged if there is no such file. */
int rtc_try(struct rtc *c, const char *file, char *why, size_t size);
void rtc_drop(struct rtc *c); /* forgets the file tried last */

/* Closes the compiler; the library stays loaded, since it cannot be unloaded safely. */
void rtc_close(struct rtc *compiler);

int rtc_version(const struct rtc *compiler);      /* 13000 for 13.0 */
const char *rtc_path(const struct rtc *compiler); /* the library's file */

/* Compiles `text`, named `name` in messages, for `target` (of the kind's target()), with the macros
 * `defines` ("N=8 DIRECTION=0"; NULL: none). `contract`: a*b+c is rounded once; else twice, and
 * EVN_CONTRACT=0 is defined.
 *
 * EVN_SYSTEM: the compiler refuses the text, with its first complaint; EVN_MEMORY; EVN_MISSING: the
 * compiler lacks a part of itself. *out is then empty. */
evn_status rtc_compile(const struct rtc *compiler, struct rtc_program *out, const char *name,
                       const char *text, const char *target, const char *defines, int contract);
void rtc_program_close(struct rtc_program *program);

/* The kernel of this name, `length` characters; NULL. */
struct rtc_kernel *rtc_kernel_called(struct rtc_program *program, const char *name, size_t length);
