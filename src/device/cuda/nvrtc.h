/* NVIDIA's run-time compiler, NVRTC, of the kind that device/gpu/rtc.h describes.
 *
 * The library is opened with dlopen(), the newest first, from $EVENER_NVRTC (a file; then nowhere
 * else), the loader's folders, and those of toolkits and Python's packages (find_libraries.h). The
 * oldest usable version is 11.2.
 *
 * An architecture is a compute capability as one number, 90 for 9.0 and 121 for 12.1. */
#pragma once

#include "device/gpu/rtc.h"
#include <evener/program.h>

/* Opens the compiler. `driver`: the newest CUDA that the driver supports, 12040 for 12.4, or 0 for
 * any. Programs of a compiler with a later major version do not load into an older driver, so such
 * compilers are the last choice. EVN_MISSING: there is none; the message lists the places. */
evn_status nvrtc_open(struct rtc **out, int driver);

/* The compiler's architectures, ascending; version 13 has dropped those before 75. */
const int *nvrtc_architectures(const struct rtc *compiler, int *count);

/* Target for a device of `architecture`: "sm_90", a native program, if the compiler knows it;
 * "compute_90", portable text (PTX) of the next lower known one, if the architecture is newer than
 * all or between known ones; the driver compiles it on loading. EVN_MISSING: older than all; the
 * message says which version would do. */
evn_status nvrtc_target(const struct rtc *compiler, int architecture, char target[32]);

/* 1 if an image for `target` from another source is complete: drivers, which get no size, find its
 * end. */
int nvrtc_is_whole(const void *image, size_t bytes, const char *target);

/* Fills program->kernel from a cubin. Spills and group memory are only in program->log, -1 without
 * it; without it, local memory of recursive functions is missed, too. Reads nothing outside of the
 * image, whatever its content. EVN_SYSTEM: not a cubin (as PTX). */
evn_status nvrtc_measure(struct rtc_program *program);
