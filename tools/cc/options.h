/* The command line as the compiler will understand it: what is an option, what an option's
 * argument, what a file. */
#ifndef CC_OPTIONS_H
#define CC_OPTIONS_H

#include "words.h"

/* W_SOURCE: a C file; W_KERNELS: NAME.kernel.c */
enum word_kind { W_OPTION, W_VALUE, W_FILE, W_SOURCE, W_KERNELS };

struct options {
    int show, source, keep, preprocessed, kernels, no_rpath; /* ours */
    struct words compiler;
    struct words words; /* what is the compiler's */
    enum word_kind *kind;
    int stops;          /* -c, -S or -fsyntax-only: nothing is linked */
    int assembly;       /* -S */
    int checks;         /* -fsyntax-only */
    int handed_on;      /* -E, -M and the like, or no file at all: not our business */
    int depends;        /* -MD or -MMD */
    int old;            /* C90 */
    int exact;          /* -ffp-contract=off */
    const char *output; /* of -o, or NULL */
    const char *depend_file, *depend_target;
};

/* 0 and a message: not understood. -1: done with all (help and the like). */
int options_read(struct options *o, int argc, char **argv);
void options_free(struct options *o);
/* What the user's files are compiled with beside their own options, and linked with; `rpath`: so
 * that a shared library is found where it is. */
void compile_flags(struct words *w, int openmp);
int link_flags(struct words *w, int rpath);
/* Where evener/kernel.h is, to be freed. */
char *include_folder(void);

#endif
