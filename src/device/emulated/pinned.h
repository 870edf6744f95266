/* Host memory as the emulated machine sees it: pinned by the program, shared with other processes,
 * or neither. */
#pragma once

#include <evener/status.h>
#include <evener/program.h>
#include <stddef.h>

enum host_kind { HOST_PINNED, HOST_PAGEABLE, HOST_SHARED };

/* Pins a range for all emulated devices, until it is unpinned by its beginning. Any thread.
 * EVN_USAGE: part of it is pinned already; EVN_MEMORY. */
evn_status pinned_add(void *memory, size_t bytes);
void pinned_remove(void *memory);

/* The kind of `bytes` from `memory` on: pinned where all of it is; shared as the kernel's list of
 * mappings says (/proc/self/maps), which is read each time, and only if `look`. */
enum host_kind host_kind_of(const void *memory, size_t bytes, int look);
