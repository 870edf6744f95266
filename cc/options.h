/* The command line as the compiler will understand it: what is an option, what an option's
 * argument, what a file. */
#pragma once

#include "fortran/fortran.h"
#include "words.h"

/* W_SOURCE: a C file; W_CXX: one of C++; W_COOKED, W_COOKED_CXX: the same, preprocessed; W_KERNELS:
 * NAME.kernel.c; W_FORTRAN: a Fortran file */
enum word_kind {
    W_OPTION,
    W_VALUE,
    W_FILE,
    W_SOURCE,
    W_CXX,
    W_COOKED,
    W_COOKED_CXX,
    W_KERNELS,
    W_FORTRAN
};

struct options {
    int show, source, keep, preprocessed, kernels, same_math, no_rpath; /* ours */
    struct words compiler, fortran, cxx;
    struct words words; /* what is the compiler's */
    enum word_kind *kind;
    int stops;          /* -c, -S or -fsyntax-only: nothing is linked */
    int assembly;       /* -S */
    int checks;         /* -fsyntax-only */
    int handed_on;      /* -E, -M and the like, or no file at all: not our business */
    int depends;        /* -MD or -MMD */
    int headers;        /* files to be precompiled: nothing is linked */
    int json;           /* -fdiagnostics-format=json */
    int defines;        /* -D of a word that generated text has */
    int old;            /* C90 */
    int old_cxx;        /* C++98 */
    int no_throws;      /* -fno-exceptions */
    int is_cxx;         /* we are evener-c++ */
    int links_cxx;      /* the C++ compiler links: there is a file of it, or we are evener-c++ */
    int exact;          /* -ffp-contract=off */
    int beside;         /* an option leaves files beside the object: --coverage, -gsplit-dwarf .. */
    int links_fortran;  /* the Fortran compiler links: there is a file of it, or we are evener-fc */
    int form;           /* of Fortran: 'x' fixed, 'r' free, 0 as the file is named */
    int width;          /* of fixed form; 0: any */
    int cpp;            /* 1: -cpp, 0: -nocpp, -1: as the file is named */
    const char *output; /* of -o, or NULL */
    const char *depend_file, *depend_target;
};

/* 0 and a message: not understood. -1: done with all (help and the like). */
int options_read(struct options *o, int argc, char **argv);
void options_free(struct options *o);
/* How a Fortran file of this name is read. */
void options_form(const struct options *o, const char *name, struct fortran_form *form);
/* Options that the user's files are compiled with, beside their own, and linked with; `rpath`: so
 * that a shared library is found where it is. */
void compile_flags(struct words *w, int openmp);
int link_flags(struct words *w, int rpath);
/* Where evener/kernel.h is, to be freed. */
char *include_folder(void);
