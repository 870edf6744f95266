/* Compiles one kernel file for all shipped targets, with and without contraction: the tool of the
 * target `cubins`.
 *
 *     ship-kernels FOLDER LIST NAME TEXT DEFINES
 *
 * TEXT is the file with the text for device compilers, DEFINES its macros. LIST becomes the list of
 * files made in FOLDER, after a line that names the compiler; files of its earlier content are
 * removed, since their text is outdated. The compiler is found as at run time (EVENER_NVRTC);
 * targets that it does not know are skipped, with a message. Exit status: 0; 1 if a compilation or
 * a write failed; 2 for wrong usage. */
#include "device/cuda/nvrtc.h"
#include "device/cuda/shipped.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096 };

struct ship {
    const char *folder, *name, *defines;
    char *text;
    struct nvrtc *compiler;
    FILE *list;
};

/* The whole file with a 0 at its end, to be freed; NULL. */
static char *read_text(const char *file) {
    FILE *f = fopen(file, "r");
    struct stat about;
    char *text = f && !fstat(fileno(f), &about) ? calloc(1, (size_t)about.st_size + 1) : NULL;
    if (text && fread(text, 1, (size_t)about.st_size, f) != (size_t)about.st_size) {
        free(text);
        text = NULL;
    }
    if (f) fclose(f);
    return text;
}

static void remove_listed(const char *list) {
    char file[PATH];
    FILE *f = fopen(list, "r");
    while (f && fgets(file, sizeof file, f)) {
        file[strcspn(file, "\n")] = 0;
        if (*file == '/') unlink(file);
    }
    if (f) fclose(f);
    unlink(list);
}

/* Whether the compiler makes programs for just this target. */
static int is_known(const struct nvrtc *c, const char *target) {
    int count;
    const int *known = nvrtc_architectures(c, &count);
    for (int i = 0; i < count; i++)
        if (known[i] == atoi(strchr(target, '_') + 1)) return 1;
    return 0;
}

static int ship(const struct ship *s, const char *target, int contract) {
    struct nvrtc_program made;
    char file[PATH];
    if (nvrtc_compile(s->compiler, &made, s->name, s->text, target, s->defines, contract)) {
        fprintf(stderr, "ship-kernels: %s: %s\n", s->name, evn_message());
        return 1;
    }
    const struct cache_key key = shipped_key(s->name, s->text, s->defines, contract, target);
    const int wrong = !shipped_file(file, sizeof file, s->folder, key, target) ||
                      !cache_write_file(file, key, made.image, made.bytes);
    nvrtc_program_close(&made);
    if (wrong)
        fprintf(stderr, "ship-kernels: %s cannot be written: %s\n", file, strerror(errno));
    else
        fprintf(s->list, "%s\n", file);
    return wrong;
}

static int ship_all(const struct ship *s) {
    const int version = nvrtc_version(s->compiler);
    fprintf(s->list, "compiler NVRTC %d.%d\n", version / 1000, version % 1000 / 10);
    for (int i = 0; shipped_targets[i]; i++) {
        if (!is_known(s->compiler, shipped_targets[i])) {
            printf("ship-kernels: %s is left out: %s does not know it\n", shipped_targets[i],
                   nvrtc_path(s->compiler));
            continue;
        }
        for (int contract = 0; contract < 2; contract++)
            if (ship(s, shipped_targets[i], contract)) return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: ship-kernels FOLDER LIST NAME TEXT DEFINES\n");
        return 2;
    }
    const char *list = argv[2];
    char unfinished[PATH]; /* the list, until all of it is there */
    struct ship s = {
        .folder = argv[1], .name = argv[3], .text = read_text(argv[4]), .defines = argv[5]};
    if (!s.text) {
        fprintf(stderr, "ship-kernels: %s cannot be read: %s\n", argv[4], strerror(errno));
        return 1;
    }
    int wrong = 1;
    snprintf(unfinished, sizeof unfinished, "%.4000s.new", list);
    mkdir(s.folder, 0755);
    remove_listed(list);
    if (nvrtc_open(&s.compiler, 0))
        fprintf(stderr, "ship-kernels: %s\n", evn_message());
    else if (!(s.list = fopen(unfinished, "w")))
        fprintf(stderr, "ship-kernels: %s cannot be written: %s\n", unfinished, strerror(errno));
    else
        wrong = ship_all(&s);
    if (s.list) wrong |= fclose(s.list) != 0;
    if (!wrong) wrong = rename(unfinished, list) != 0;
    nvrtc_close(s.compiler);
    free(s.text);
    return wrong;
}
