/* Names of the libraries whose threads are in the process.
 *
 * The system does not tell where a thread began. OpenBLAS is the library that starts threads when
 * it is loaded, as the system's LAPACK and within others, and says by two functions whether it has;
 * other libraries name theirs. */
#include "wire/thread_owners.h"
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int threads_count(void) {
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    int count = 1;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Threads: %d", &count) == 1) break;
    if (f) fclose(f);
    return count;
}

__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size, const char *format,
                                                      ...) {
    const size_t at = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + at, size - at, format, arguments);
    va_end(arguments);
}

/* Threads that this OpenBLAS has started; -1: it does not say. */
static int started_by(const char *file) {
    void *library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    int (*number)(void) = NULL, (*kind)(void) = NULL;
    void *call;
    if (!library) return -1;
    if ((call = dlsym(library, "openblas_get_num_threads"))) memcpy(&number, &call, sizeof call);
    if ((call = dlsym(library, "openblas_get_parallel"))) memcpy(&kind, &call, sizeof call);
    const int started = !number || !kind ? -1 : kind() == 1 ? number() - 1 : 0;
    dlclose(library);
    return started;
}

/* Files of OpenBLAS that are loaded. */
struct found {
    const char *file[4];
    int count;
};

static int look(struct dl_phdr_info *info, size_t size, void *arg) {
    struct found *found = arg;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    (void)size;
    if (slash && strstr(slash, "openblas") && found->count < 4)
        found->file[found->count++] = info->dlpi_name;
    return 0;
}

/* Names OpenBLAS as the owner of threads, if it has started some. */
static int add_openblas(char *text, size_t size) {
    struct found found = {.count = 0};
    int all = 0;
    dl_iterate_phdr(look, &found);
    for (int i = 0; i < found.count; i++) {
        const int started = started_by(found.file[i]);
        if (!started) continue;
        add(text, size, "; %.200s %s as it was loaded; set OPENBLAS_NUM_THREADS=1", found.file[i],
            started > 0 ? "has started threads" : "may have started threads");
        if (started > 0) all += started;
    }
    return all;
}

static int read_name(const char *thread, char name[32]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", thread);
    FILE *f = fopen(path, "r");
    const int is_read = f && fgets(name, 32, f);
    if (f) fclose(f);
    if (is_read) name[strcspn(name, "\n")] = 0;
    return is_read;
}

/* Adds the names of threads. A thread without its own name has the program's. */
static void add_names(char *text, size_t size) {
    DIR *threads = opendir("/proc/self/task");
    char own[32], name[32], self[24];
    int named = 0;
    snprintf(self, sizeof self, "%ld", (long)getpid());
    if (!threads) return;
    for (struct dirent *e; read_name(self, own) && named < 4 && (e = readdir(threads));)
        if (*e->d_name != '.' && read_name(e->d_name, name) && strcmp(own, name))
            add(text, size, "%s\"%s\"", named++ ? ", " : "; of them ", name);
    closedir(threads);
}

const char *threads_owners(int count, char *text, size_t size) {
    *text = 0;
    const int known = add_openblas(text, size);
    add_names(text, size);
    if (known < count - 1)
        add(text, size,
            "; open the cluster first of all, before OpenMP regions, units and devices");
    return text;
}
