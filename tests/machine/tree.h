/* A tree of files in a temporary folder, as /proc and /sys of some machine; include it once. Set-up
 * and tear-down of each test. */
#pragma once

#include "check.h"
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static int set_up(void **state) {
    (void)state;
    strcpy(root, "/tmp/evener-tree-XXXXXX");
    return !mkdtemp(root);
}

static int tear_down(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

/* Writes root/path with the folders it needs. */
static void put(const char *path, const char *text) {
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = name + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(name, 0777);
        *slash = '/';
    }
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}
