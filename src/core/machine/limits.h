/* Limits on threads and processes, in words. */
#pragma once

#include <stddef.h>

/* As evn_limits_text(); `root` is "" for the system's files. */
const char *limits_text(const char *root, int error, char *text, size_t size);
