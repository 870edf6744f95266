/* AMD's run-time compiler, HIPRTC, of the kind that device/gpu/rtc.h describes.
 *
 * The library is opened with dlopen() from $EVENER_HIPRTC (a file; then nowhere else), the folder
 * of the runtime that is open, the loader's folders, and those of ROCm (find_rocm.h). It is
 * libhiprtc.so, and before ROCm 5.5 a part of libamdhip64.so. Both are looked for by the same
 * major version as the runtime's, since two of ROCm's in one process do not get along.
 *
 * A target is an architecture's name, "gfx90a". There is no text for later ones: a compiler that
 * does not know an architecture makes nothing for it. */
#pragma once

#include "device/gpu/rtc.h"

/* Opens the compiler; `driver`: the runtime's version, 50221153 for 5.2.21153, or 0 for any;
 * `beside`: its file, or NULL. EVN_MISSING: there is none; the message lists the places. */
evn_status hiprtc_open(struct rtc **out, int driver, const char *beside);

/* Fills program->kernel from the metadata of a code object: registers, spilled ones and memory, as
 * the compiler has noted them. EVN_SYSTEM: not a code object, or a damaged one. */
evn_status hiprtc_measure(struct rtc_program *program);
