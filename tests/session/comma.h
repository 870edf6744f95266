/* A locale whose decimal point is a comma, made here, since few machines have one installed: the
 * file that glibc reads for LC_NUMERIC (a magic number, the offsets of six strings, the strings).
 */
#pragma once

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Sets it; 0 where the system does not take it. Back with setlocale(LC_ALL, "C"). */
static inline int set_comma_locale(void) {
    char folder[] = "/tmp/evener-locale.XXXXXX", path[64], text[32];
    if (!mkdtemp(folder)) return 0;
    struct {
        uint32_t magic, strings, at[6];
        char text[24];
    } file = {0x20031115 ^ LC_NUMERIC, 6, {32, 34, 35, 40, 44, 48}, ",\0\0\177"};
    const uint32_t comma = ',';
    memcpy(file.text + 12, &comma, sizeof comma); /* the point as a wide character */
    memcpy(file.text + 16, "UTF-8", 6);
    snprintf(path, sizeof path, "%s/xx", folder);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/xx/LC_NUMERIC", folder);
    FILE *out = fopen(path, "w");
    int done = out && fwrite(&file, sizeof file, 1, out) == 1;
    if (out) fclose(out);
    setenv("LOCPATH", folder, 1);
    done = done && setlocale(LC_NUMERIC, "xx");
    unlink(path);
    path[strlen(path) - strlen("/LC_NUMERIC")] = 0;
    rmdir(path);
    rmdir(folder);
    unsetenv("LOCPATH");
    snprintf(text, sizeof text, "%.1f", 0.5);
    return done && !strcmp(text, "0,5");
}
