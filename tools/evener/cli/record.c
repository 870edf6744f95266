/* Writing records. */
#include "cli/record.h"
#include "cli/command.h"
#include "common/build.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int output_open(struct output *o, const char *path) {
    *o = (struct output){.path = path, .fd = -1};
    if (!path || !strcmp(path, "-")) return 0;
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        /* a device or a pipe cannot be replaced by renaming: write into it */
        o->fd = S_ISDIR(there.st_mode) ? -1 : open(path, O_WRONLY);
        if (S_ISDIR(there.st_mode)) errno = EISDIR;
    } else {
        size_t size = strlen(path) + 16;
        o->beside = malloc(size);
        if (o->beside) {
            snprintf(o->beside, size, "%s.XXXXXX", path);
            o->fd = mkstemp(o->beside);
            if (o->fd >= 0) {
                mode_t mask = umask(0);
                umask(mask);
                fchmod(o->fd, 0666 & ~mask); /* mkstemp's 0600 is not what a user expects */
            }
        }
    }
    if (o->fd >= 0) return 0;
    complain("%s cannot be written: %s; name a file in a folder that exists and is yours, or -",
             path, strerror(errno));
    free(o->beside);
    o->beside = NULL;
    return -1;
}

static int write_all(int fd, const char *text) {
    for (size_t left = strlen(text); left;) {
        ssize_t n = write(fd, text, left);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        text += n;
        left -= (size_t)n;
    }
    return 0;
}

FILE *output_stream(struct output *o) {
    if (!o->stream) o->stream = strcmp(o->path, "-") ? fdopen(o->fd, "w") : stdout;
    if (!o->stream) complain("%s cannot be written: %s", o->path, strerror(errno));
    return o->stream;
}

/* Ends the stream or the descriptor, whichever there is; 0 if all of it has been written. */
static int finish(struct output *o) {
    int failed = 0;
    if (o->stream && o->stream != stdout) {
        failed = fflush(o->stream) || ferror(o->stream) || (o->beside && fsync(o->fd));
        failed = fclose(o->stream) || failed;
    } else if (o->fd >= 0) {
        failed = o->beside && fsync(o->fd);
        failed = close(o->fd) || failed;
    }
    o->stream = NULL;
    o->fd = -1;
    return failed;
}

int output_commit(struct output *o, const char *text) {
    if (!o->path) return 0;
    if (!strcmp(o->path, "-")) {
        if (text) fputs(text, stdout);
        return 0;
    }
    int failed = text && write_all(o->fd, text);
    failed = finish(o) || failed;
    if (!failed && o->beside) failed = rename(o->beside, o->path);
    if (failed) complain("%s could not be written: %s", o->path, strerror(errno));
    if (failed && o->beside) unlink(o->beside);
    free(o->beside);
    o->beside = NULL;
    return failed ? -1 : 0;
}

void output_discard(struct output *o) {
    finish(o);
    if (o->beside) unlink(o->beside);
    free(o->beside);
    *o = (struct output){.fd = -1};
}

static cJSON *number(double value) {
    if (!isfinite(value)) return cJSON_CreateNull();
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    return cJSON_CreateRaw(text);
}

void record_number(cJSON *object, const char *key, double value) {
    cJSON_AddItemToObject(object, key, number(value));
}

cJSON *record_numbers(const double *value, int n) {
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < n; i++) cJSON_AddItemToArray(array, number(value[i]));
    return array;
}

double unit_imbalance(const evn_unit_stats *unit, int units) {
    double *seconds = malloc((size_t)units * sizeof *seconds);
    for (int u = 0; seconds && u < units; u++) seconds[u] = unit[u].compute_s;
    const double imbalance = seconds ? evn_imbalance(units, seconds) : NAN;
    free(seconds);
    return imbalance;
}

cJSON *record_machine(const evn_machine *m) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "processor", evn_machine_processor(m));
    cJSON_AddNumberToObject(o, "cores", evn_machine_cores(m));
    cJSON_AddNumberToObject(o, "packages", evn_machine_packages(m));
    cJSON_AddNumberToObject(o, "numa_nodes", evn_machine_numa_nodes(m));
    record_number(o, "memory", (double)evn_machine_memory(m));
    for (int level = 1; level <= 3; level++) {
        char key[16];
        snprintf(key, sizeof key, "l%d", level);
        record_number(o, key, (double)evn_machine_cache(m, level, NULL));
    }
    return o;
}

cJSON *record_build(void) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "compiler", build.compiler);
    cJSON_AddStringToObject(o, "flags", build.flags);
    cJSON_AddStringToObject(o, "commit", build.commit);
    return o;
}

char *record_text(cJSON *root) {
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text) return NULL;
    size_t n = strlen(text);
    char *line = realloc(text, n + 2);
    if (!line) {
        free(text);
        return NULL;
    }
    line[n] = '\n';
    line[n + 1] = 0;
    return line;
}

cJSON *record_devices(const evn_counts *device, int devices) {
    cJSON *list = cJSON_CreateArray();
    for (int d = 0; d < devices; d++) {
        const evn_counts *c = &device[d];
        cJSON *o = cJSON_CreateObject();
        cJSON_AddNumberToObject(o, "id", d);
        cJSON_AddNumberToObject(o, "launches", (double)c->launches);
        cJSON_AddNumberToObject(o, "copies_in", (double)c->copies_in);
        cJSON_AddNumberToObject(o, "copies_out", (double)c->copies_out);
        cJSON_AddNumberToObject(o, "copies_peer", (double)c->copies_peer);
        cJSON_AddNumberToObject(o, "bytes_in", (double)c->bytes_in);
        cJSON_AddNumberToObject(o, "bytes_out", (double)c->bytes_out);
        cJSON_AddNumberToObject(o, "bytes_peer", (double)c->bytes_peer);
        cJSON_AddItemToArray(list, o);
    }
    return list;
}
