/* Compiles one kernel file for all shipped targets, with and without contraction: the tool of the
 * target `cubins`.
 *
 *     ship-kernels FOLDER LIST NAME TEXT DEFINES
 *
 * TEXT is the file with the text for device compilers, DEFINES its macros. LIST becomes the list of
 * files made in FOLDER, after a line that names each compiler; files of its earlier content are
 * removed, since their text is outdated. Compilers are found as at run time (EVENER_NVRTC,
 * EVENER_HIPRTC); one that is missing, and targets that none knows, are skipped with a message.
 * Exit status: 0; 1 if there is no compiler, or a compilation or a write failed; 2 for wrong usage.
 */
#include "device/gpu/rtc.h"
#include "device/gpu/shipped.h"
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
    struct rtc *compiler[GPU_SIDES]; /* NULL: there is none */
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

/* The compiler of a target, NULL if there is none or it makes nothing for just this. */
static const struct rtc *compiler_of(const struct ship *s, const char *target) {
    const struct rtc *c = s->compiler[strncmp(target, "gfx", 3) ? GPU_CUDA : GPU_HIP];
    return c && c->kind->knows(c, target) ? c : NULL;
}

static int ship(const struct ship *s, const struct rtc *compiler, const char *target,
                int contract) {
    struct rtc_program made;
    char file[PATH];
    if (rtc_compile(compiler, &made, s->name, s->text, target, s->defines, contract)) {
        fprintf(stderr, "ship-kernels: %s: %s\n", s->name, evn_message());
        return 1;
    }
    const struct cache_key key = shipped_key(s->name, s->text, s->defines, contract, target);
    const int wrong = !shipped_file(file, sizeof file, s->folder, key, target) ||
                      !cache_write_file(file, key, made.image, made.bytes);
    rtc_program_close(&made);
    if (wrong)
        fprintf(stderr, "ship-kernels: %s cannot be written: %s\n", file, strerror(errno));
    else
        fprintf(s->list, "%s\n", file);
    return wrong;
}

static int ship_all(const struct ship *s) {
    for (int i = 0; i < GPU_SIDES; i++)
        if (s->compiler[i])
            fprintf(s->list, "compiler %s %d.%d\n", s->compiler[i]->kind->name,
                    rtc_version(s->compiler[i]) / 1000, rtc_version(s->compiler[i]) % 1000 / 10);
    for (int i = 0; shipped_targets[i]; i++) {
        const struct rtc *compiler = compiler_of(s, shipped_targets[i]);
        if (!compiler) {
            printf("ship-kernels: %s is left out: no compiler here knows it\n", shipped_targets[i]);
            continue;
        }
        for (int contract = 0; contract < 2; contract++)
            if (ship(s, compiler, shipped_targets[i], contract)) return 1;
    }
    return 0;
}

/* Opens the compilers that can be found; 0: none. */
static int open_compilers(struct ship *s) {
    static const struct rtc_kind *const kind[GPU_SIDES] = {&rtc_nvrtc, &rtc_hiprtc};
    int found = 0;
    for (int i = 0; i < GPU_SIDES; i++) {
        found += !kind[i]->open(&s->compiler[i], 0, NULL);
        if (!s->compiler[i]) fprintf(stderr, "ship-kernels: %s\n", evn_message());
    }
    return found;
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: ship-kernels FOLDER LIST NAME TEXT DEFINES\n");
        return 2;
    }
    const char *list = argv[2];
    char unfinished[PATH]; /* temporary name of the list until it is complete */
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
    if (open_compilers(&s) && !(s.list = fopen(unfinished, "w")))
        fprintf(stderr, "ship-kernels: %s cannot be written: %s\n", unfinished, strerror(errno));
    if (s.list) wrong = ship_all(&s);
    if (s.list) wrong |= fclose(s.list) != 0;
    if (!wrong) wrong = rename(unfinished, list) != 0;
    for (int i = 0; i < GPU_SIDES; i++) rtc_close(s.compiler[i]);
    free(s.text);
    return wrong;
}
