/* Common parts of checkpoint files: a checksum, and the identity of the run, "class=S perturb=0".
 */
#pragma once

#include <evener/status.h>
#include <evener/program.h>
#include <stddef.h>
#include <stdint.h>

/* Against damage; goes on from `sum` (at first HASH_SEED). In pieces the same as at once where all
 * but the last are multiples of 8 bytes. */
uint64_t kept_sum(uint64_t sum, const void *data, size_t bytes);

/* EVN_USAGE with the first word that differs; EVN_OK: none does. */
evn_status kept_compare(const char *path, const char *there, const char *here);

/* `bytes` to a place of a file and from there, all of them: 0, or errno. */
int kept_write(int fd, const void *data, size_t bytes, uint64_t at);
int kept_read(int fd, void *data, size_t bytes, uint64_t at);

/* A file without a name that a process of this host has open, to be found by its number. */
struct kept_place {
    int64_t process;
    int32_t descriptor;
    uint64_t word[2], at; /* content by which the file is known, and where it is in it */
};

/* Marks the file. 0, or errno. */
int kept_mark(struct kept_place *place, int fd, uint64_t at);

/* The file of another process, to be closed; -1: this process does not see it. */
int kept_look(const struct kept_place *place);

/* Adds to the message of a run that was stopped how it goes on from `file`: with --restart, and
 * where a launcher has started its ranks, whose last words this may be, with the whole command.
 * `verb`: "go on". EVN_STOPPED. */
evn_status kept_stopped(const char *verb, const char *file);
