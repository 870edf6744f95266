/* The files of a command line: an output must not be lost to another output nor replace an input,
 * and standard output takes one of them. */
#pragma once

#include "common/cli/options.h"
#include <stdio.h>

struct named_file {
    const char *option; /* name of the option, for messages */
    const char *path;
    enum option_kind use; /* one of the kinds for files */
};

/* Refuses two outputs that are the same file, and an output that is an input: by device and inode
 * where they are there, by place where they are not. 0, or an exit status after a message that
 * names both. options_read() has called it for all that options name. */
int files_check(const struct named_file *file, int count);

/* Stream of the text for people: standard output, or standard error if one of the checked files
 * goes to standard output. */
FILE *files_page(void);
