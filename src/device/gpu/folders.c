/* Lists of folders, by patterns of the shell. */
#include "device/gpu/folders.h"
#include <glob.h>
#include <stdio.h>
#include <string.h>

static void add(struct folders *f, const char *pattern) {
    glob_t found = {0};
    if (!glob(pattern, GLOB_ONLYDIR | GLOB_BRACE, NULL, &found))
        for (size_t i = found.gl_pathc; i-- > 0 && f->count < FOLDERS;) {
            char *to = f->path[f->count];
            const int length = snprintf(to, PATH_MAX, "%s/", found.gl_pathv[i]);
            f->count += length > 0 && length < PATH_MAX;
        }
    globfree(&found);
}

void folders_name(struct folders *f, const char *what) {
    const size_t end = strlen(f->named);
    snprintf(f->named + end, sizeof f->named - end, "%s", what);
    f->is_first = 1;
}

void folders_add(struct folders *f, const char *root, const char *below) {
    char pattern[PATH_MAX];
    if (!root || *root != '/') return;
    const size_t end = strlen(f->named);
    snprintf(f->named + end, sizeof f->named - end, "%s%.200s", f->is_first ? "" : ", ", root);
    f->is_first = 0;
    const int length = snprintf(pattern, sizeof pattern, "%s%s", root, below);
    if (length > 0 && (size_t)length < sizeof pattern) add(f, pattern);
}
