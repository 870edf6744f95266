/* A folder of programs that a device's compiler has made elsewhere (`opencl:binaries=FOLDER`): for
 * FPGAs, whose compilers take hours and are not at hand at run time. A program is
 * FOLDER/NAME-HASH.bin; the hash is of its text and options, so that the binary of another version
 * is not taken. Beside it may lie its text, FOLDER/NAME-HASH.cl, whose first line has the options.
 */
#pragma once

#include <evener/device.h>

struct binary_file {
    const char *folder, *name;
    const char *options, *head, *text; /* of the compilation; head and text follow each other */
    char path[512];                    /* of the binary, set by binary_find() */
};

/* 1: it is there, *data (to be freed) and *size are its content; 0: it is not; -1: it cannot be
 * read, with evn_message(). */
int binary_find(struct binary_file *file, void **data, size_t *size);

/* Writes it beside its text. EVN_SYSTEM: it cannot be written. */
evn_status binary_keep(const struct binary_file *file, const void *data, size_t size);

/* For a binary that is missing and that no compiler here can make: writes the kernel's text and
 * returns EVN_MISSING, with a message that says what is to be made of it. */
evn_status binary_ask(const struct binary_file *file, const char *device);
