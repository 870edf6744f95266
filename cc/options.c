/* The command line as the compiler will understand it. */
#include "options.h"
#include "c/rewrite.h"
#include "fortran/fortran.h"
#include "source.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char usage[] =
    "usage: evener-cc [options] [any options of the compiler] files\n"
    "       evener-cc COMPILER [options of the compiler] files\n"
    "Compiles C, C++ and Fortran with directives for compute units: #pragma omp teams\n"
    "num_teams(4:CPU:4, 2:GPU:1); !$omp teams distribute num_teams(4:CPU:4, 2:GPU:1).\n"
    "  --show           print the commands that would run, and do nothing\n"
    "  --source         print the text that the compiler gets\n"
    "  --keep           keep that beside the object, as NAME.evn.c, NAME.evn.f90\n"
    "  --preprocessed   rewrite the preprocessed text: directives in headers and macros\n"
    "  --kernels        make kernels of loops: #pragma omp target teams distribute parallel for\n"
    "  --kernels=parallel\n"
    "                   of those of parallel for and of parallel regions, too\n"
    "  --kernels-math=same\n"
    "                   exp, sin and the like with the same bits on cores and devices\n"
    "  --no-rpath       programs do not know where a shared libevener is\n"
    "  --compile-flags, --link-flags\n"
    "                   print what other build systems need\n"
    "  --help           print this\n"
    "The compiler is EVENER_CC, else the one Evener was built with; of C++ EVENER_CXX, else that "
    "of\n"
    "the same maker; of Fortran EVENER_FC, else gfortran. As evener-c++ and evener-fc it links "
    "with\n"
    "these, and evener-c++ reads C files as C++. See man evener-cc.\n";

/* Options whose argument is the next word. */
static const char with_word[] =
    " -o -x -I -D -U -L -l -include -imacros -isystem -iquote -idirafter -iprefix -iwithprefix "
    "-iwithprefixbefore -isysroot -imultilib -MF -MT -MQ -MJ -Xlinker -Xassembler -Xpreprocessor "
    "-Xclang -Xanalyzer -Xopenmp-target -T -u -z -e -G -A -B -aux-info -target -arch -mllvm "
    "-gcc-toolchain --param -dumpbase -dumpdir -dumpbase-ext -wrapper -framework -F -include-pch "
    "-ivfsoverlay -working-directory -cxx-isystem -isystem-after --sysroot -specs -b -V -rpath "
    "-soname -h --serialize-diagnostics -J ";

static int takes_word(const char *word) {
    const size_t n = strlen(word);
    const char *found = n > 1 ? strstr(with_word + 1, word) : NULL;
    for (; found; found = strstr(found + 1, word))
        if (found[-1] == ' ' && found[n] == ' ') return 1;
    return 0;
}

static int ends_with(const char *word, const char *end) {
    const size_t n = strlen(word), m = strlen(end);
    return n >= m && !strcmp(word + n - m, end);
}

static int is_cxx(const char *word) {
    static const char *const ends[] = {".cpp", ".cc", ".cxx", ".C", ".c++", ".CPP", ".cp"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(word, ends[i])) return 1;
    return 0;
}

static int is_c(const char *language) { return !strcmp(language, "c") || !strcmp(language, "c11"); }

/* A Fortran file: 'r' in free form, 'x' in fixed form; 0: none. *cpp: it is preprocessed. */
static int fortran_of(const char *word, int *cpp) {
    static const char *const ends[] = {".f90", ".f95", ".f03", ".f08",
                                       ".f",   ".for", ".ftn", ".fpp"};
    const char *dot = strrchr(word, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (!strcasecmp(dot, ends[i])) {
            *cpp = dot[1] == 'F' || !strcmp(dot, ".fpp");
            return i < 4 ? 'r' : 'x';
        }
    return 0;
}

void options_form(const struct options *o, const char *name, struct fortran_form *form) {
    const int kind = fortran_of(name, &form->preprocessed);
    form->fixed = (o->form ? o->form : kind) == 'x';
    form->width = o->width;
    if (o->cpp >= 0) form->preprocessed = o->cpp;
}

/* A word that is no file of a compiler's: a program. */
static int is_program(const char *word) {
    static const char *const ends[] = {".c",  ".i",  ".s", ".S",  ".o",   ".a",
                                       ".so", ".cc", ".h", ".lo", ".obj", ".ii"};
    int cpp;
    if (fortran_of(word, &cpp) || is_cxx(word)) return 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(word, ends[i])) return 0;
    if (strchr(word, '/')) return access(word, X_OK) == 0;
    const char *path = getenv("PATH");
    char full[PATH_MAX];
    for (const char *c = path ? path : ""; *c;) {
        const int n = (int)strcspn(c, ":");
        snprintf(full, sizeof full, "%.*s/%s", n, c, word);
        if (access(full, X_OK) == 0) return 1;
        c += n + (c[n] == ':');
    }
    return 0;
}

/* Words with @FILE written out; depth keeps files from naming each other for ever. */
static int expand(struct words *out, const char *word, int depth) {
    if (word[0] != '@' || depth > 20) {
        words_add(out, word);
        return 1;
    }
    char *text = read_file(word + 1);
    if (!text) { /* a file of that name, as compilers have it */
        words_add(out, word);
        return 1;
    }
    struct words in = {0};
    words_split(&in, text);
    free(text);
    for (int i = 0; i < in.count; i++) expand(out, in.at[i], depth + 1);
    words_free(&in);
    return 1;
}

static int print_flags(const struct options *o, int linking) {
    struct words w = {0};
    if (linking) {
        if (!link_flags(&w, !o->no_rpath)) return 0;
    } else {
        compile_flags(&w, 1);
    }
    words_print(&w);
    words_free(&w);
    return -1;
}

/* An option of ours: 1; 0 and a message; -1: done; 2: it is none. */
static int own_option(struct options *o, const char *word) {
    if (!strcmp(word, "--show")) return o->show = 1;
    if (!strcmp(word, "--source")) return o->source = 1;
    if (!strcmp(word, "--keep")) return o->keep = 1;
    if (!strcmp(word, "--preprocessed")) return o->preprocessed = 1;
    if (!strcmp(word, "--kernels")) return o->kernels = 1;
    if (!strcmp(word, "--kernels=parallel")) return !!(o->kernels = 2);
    if (!strcmp(word, "--kernels-math=same")) return o->same_math = 1;
    if (!strcmp(word, "--no-rpath")) return o->no_rpath = 1;
    if (!strcmp(word, "--compile-flags")) return print_flags(o, 0);
    if (!strcmp(word, "--link-flags")) return print_flags(o, 1);
    if (!strcmp(word, "--help")) {
        fputs(usage, stdout);
        return -1;
    }
    if (strncmp(word, "--kernels", 9)) return 2;
    fprintf(stderr,
            "evener-cc: %s: expected --kernels, --kernels=parallel or --kernels-math=same\n", word);
    return 0;
}

/* -Wp,-MD,FILE and -Wp,-MMD,FILE */
static void passed_on(struct options *o, const char *word) {
    const char *list = word + 4;
    if (strncmp(list, "-MD,", 4) && strncmp(list, "-MMD,", 5)) return;
    o->depends = 1;
    o->depend_file = strchr(list, ',') + 1;
}

/* Whether an option has the compiler write, or a program look for, more files by the object's name.
 */
static int leaves_files(const char *word) {
    static const char *const begins[] = {"--coverage",
                                         "-coverage",
                                         "-fprofile-arcs",
                                         "-ftest-coverage",
                                         "-fprofile-generate",
                                         "-fprofile-use",
                                         "-gsplit-dwarf",
                                         "-fstack-usage",
                                         "-save-temps",
                                         "--save-temps",
                                         "-fdump-",
                                         "-fcallgraph-info",
                                         "-fsave-optimization",
                                         "-ftime-trace",
                                         "-fdiagnostics-format=sarif-file"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(word, begins[i], strlen(begins[i]))) return 1;
    return 0;
}

static void read_option(struct options *o, const char *word, const char *value) {
    static const char *const others[] = {"-E",           "-M",           "-MM",
                                         "-###",         "-dumpmachine", "-dumpversion",
                                         "-dumpspecs",   "--version",    "-dumpfullversion",
                                         "--target-help"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(word, others[i])) o->handed_on = 1;
    if (!strncmp(word, "-print-", 7) || !strncmp(word, "--print-", 8)) o->handed_on = 1;
    if (!strncmp(word, "-fdiagnostics-format=json", 25)) o->json = strcmp(word + 25, "-file") != 0;
    o->beside |= leaves_files(word);
    if (!strncmp(word, "-D", 2)) {
        const char *name = word[2] ? word + 2 : value ? value : "";
        o->defines |= rewrite_speaks(name, (int)strcspn(name, "=("));
    }
    if (!strcmp(word, "-c")) o->stops = 1;
    if (!strcmp(word, "-S")) o->stops = o->assembly = 1;
    if (!strcmp(word, "-fsyntax-only")) o->stops = o->checks = 1;
    if (!strcmp(word, "-MD") || !strcmp(word, "-MMD")) o->depends = 1;
    if (!strcmp(word, "-o") && value) o->output = value;
    if (!strncmp(word, "-o", 2) && word[2] && strncmp(word, "-ob", 3)) o->output = word + 2;
    if (!strcmp(word, "-MF") && value) o->depend_file = value;
    if (!strncmp(word, "-MF", 3) && word[3]) o->depend_file = word + 3;
    if ((!strcmp(word, "-MT") || !strcmp(word, "-MQ")) && value) o->depend_target = value;
    if (!strcmp(word, "-ffixed-form")) o->form = 'x';
    if (!strcmp(word, "-ffree-form")) o->form = 'r';
    if (!strcmp(word, "-ffixed-line-length-none"))
        o->width = 0;
    else if (!strncmp(word, "-ffixed-line-length-", 20))
        o->width = atoi(word + 20);
    if (!strcmp(word, "-cpp") || !strcmp(word, "-nocpp")) o->cpp = word[1] == 'c';
    if (!strncmp(word, "-Wp,", 4)) passed_on(o, word);
    if (!strncmp(word, "-ffp-contract=", 14)) o->exact = !strcmp(word + 14, "off");
    if (!strncmp(word, "-std=", 5) || !strcmp(word, "-ansi"))
        o->old_cxx = !strcmp(word, "-ansi") || strstr(word, "++98") || strstr(word, "++03");
    if (!strcmp(word, "-fno-exceptions")) o->no_throws = 1;
    if (!strcmp(word, "-fexceptions")) o->no_throws = 0;
    if (!strncmp(word, "-std=", 5) || !strcmp(word, "-ansi"))
        o->old = !strcmp(word, "-ansi") || strstr(word, "90") || strstr(word, "89") ||
                 strstr(word, "1990");
}

/* A header, which is precompiled where it is named. */
static int is_header(const char *word, const char *language) {
    static const char *const ends[] = {".h",   ".hh",  ".H",   ".hp", ".hxx",
                                       ".hpp", ".HPP", ".h++", ".tcc"};
    if (*language) return ends_with(language, "-header");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(word, ends[i])) return 1;
    return 0;
}

/* Classifies each word. */
static void classify(struct options *o) {
    const struct words *w = &o->words;
    const char *language = "";
    int files = 0, sources = 0, cpp;
    o->width = 72;
    o->cpp = -1;
    o->kind = more(NULL, (size_t)(w->count + 1) * sizeof *o->kind);
    for (int i = 0; i < w->count; i++) {
        const char *word = w->at[i];
        if (word[0] != '-' || !word[1]) {
            const int c = *language ? is_c(language) : ends_with(word, ".c");
            o->kind[i] = !c                                           ? W_FILE
                         : *language || !ends_with(word, ".kernel.c") ? W_SOURCE
                                                                      : W_KERNELS;
            const int c_of_cxx = o->is_cxx && !*language && o->kind[i] == W_SOURCE;
            if (*language ? !strcmp(language, "c++") : is_cxx(word) || c_of_cxx) {
                o->kind[i] = W_CXX;
                o->links_cxx = 1;
            }
            if (*language ? !strcmp(language, "cpp-output") : ends_with(word, ".i"))
                o->kind[i] = o->is_cxx && !*language ? W_COOKED_CXX : W_COOKED;
            if (*language ? !strcmp(language, "c++-cpp-output") : ends_with(word, ".ii"))
                o->kind[i] = W_COOKED_CXX;
            o->links_cxx |= o->kind[i] == W_COOKED_CXX;
            if (!*language && fortran_of(word, &cpp)) {
                o->kind[i] = W_FORTRAN;
                o->links_fortran = 1;
            }
            files++;
            sources += o->kind[i] >= W_SOURCE;
            o->headers += is_header(word, language);
            if (!strcmp(word, "-") && o->kind[i] < W_SOURCE) o->handed_on = 1;
            continue;
        }
        o->kind[i] = W_OPTION;
        const int next = takes_word(word) && i + 1 < w->count;
        if (!strncmp(word, "-x", 2)) language = word[2] ? word + 2 : next ? w->at[i + 1] : "";
        if (!strcmp(language, "none")) language = "";
        read_option(o, word, next ? w->at[i + 1] : NULL);
        if (next) o->kind[++i] = W_VALUE;
    }
    if (!files || (o->headers && !sources)) o->handed_on = 1;
    if (o->stops && o->output && sources > 1) o->handed_on = 1; /* the compiler refuses it */
}

/* The C++ compiler of the same maker as a C compiler, with the words before it and the end of its
 * name, as clang++-14 for clang-14; a compiler of another name is taken for both. */
static void add_partner(struct words *out, const struct words *compiler) {
    static const char *const makers[][2] = {
        {"gcc", "g++"}, {"clang", "clang++"}, {"cc", "c++"}, {"mpicc", "mpicxx"}};
    for (int i = 0; i + 1 < compiler->count; i++) words_add(out, compiler->at[i]);
    if (!compiler->count) return;
    const char *name = compiler->at[compiler->count - 1], *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    struct text t = {0};
    for (size_t i = 0; i < sizeof makers / sizeof *makers && !t.at; i++) {
        const size_t n = strlen(makers[i][0]);
        if (!strncmp(base, makers[i][0], n) && (!base[n] || base[n] == '-' || base[n] == '.'))
            put(&t, "%.*s%s%s", (int)(base - name), name, makers[i][1], base + n);
    }
    words_add(out, t.at ? t.at : name);
    free(t.at);
}

/* --kernels-math=same: arithmetic is to be the same, too. */
static void without_contraction(struct options *o) {
    struct words w = {0};
    words_add(&w, "-ffp-contract=off");
    words_add_all(&w, &o->words);
    words_free(&o->words);
    o->words = w;
    if (!o->kernels) o->kernels = 1;
}

int options_read(struct options *o, int argc, char **argv) {
    struct words all = {0};
    memset(o, 0, sizeof *o);
    for (int i = 1; i < argc; i++) expand(&all, argv[i], 0);
    int at = 0, ok = 1, last_took = 0;
    for (; at < all.count; at++) {
        ok = own_option(o, all.at[at]);
        if (ok <= 0) break;
        if (ok == 2) break;
    }
    if (ok > 0) {
        while (at < all.count && all.at[at][0] != '-' && is_program(all.at[at]))
            words_add(&o->compiler, all.at[at++]);
        for (; at < all.count && ok > 0; at++) {
            const int own = last_took ? 2 : own_option(o, all.at[at]);
            if (own <= 0) ok = own;
            if (own == 2) words_add(&o->words, all.at[at]);
            last_took = !last_took && takes_word(all.at[at]);
        }
    }
    if (ok > 0 && last_took) { /* it would take a word of ours */
        fprintf(stderr, "evener-cc: %s at the end of the line: expected its argument behind it\n",
                all.at[all.count - 1]);
        ok = 0;
    }
    words_free(&all);
    if (ok <= 0) return ok;
    if (!o->words.count && !o->compiler.count) {
        fputs(usage, stderr);
        return 0;
    }
    if (o->compiler.count) {
        words_add_all(&o->fortran, &o->compiler);
        words_add_all(&o->cxx, &o->compiler);
    } else {
        const char *wanted = getenv("EVENER_CC"), *fortran = getenv("EVENER_FC"),
                   *cxx = getenv("EVENER_CXX");
        words_split(&o->compiler, wanted && *wanted ? wanted : EVENER_CC_COMPILER);
        if (wanted && *wanted && !(cxx && *cxx))
            add_partner(&o->cxx, &o->compiler);
        else
            words_split(&o->cxx, cxx && *cxx ? cxx : EVENER_CC_CXX);
        words_split(&o->fortran, fortran && *fortran ? fortran : "gfortran");
    }
    o->links_fortran = argc && ends_with(argv[0], "evener-fc");
    o->is_cxx = o->links_cxx = argc && ends_with(argv[0], "evener-c++");
    if (o->same_math) without_contraction(o);
    classify(o);
    if (o->same_math && !o->exact)
        fputs(
            "evener-cc: --kernels-math=same and -ffp-contract other than off exclude each other\n",
            stderr);
    return !o->same_math || o->exact;
}

void options_free(struct options *o) {
    words_free(&o->compiler);
    words_free(&o->fortran);
    words_free(&o->cxx);
    words_free(&o->words);
    free(o->kind);
}

/* FOLDER-OF-THIS-COMMAND/more, or NULL where `what` is not in it. */
static char *beside(const char *more_path, const char *what) {
    char self[PATH_MAX], full[2 * PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return NULL;
    self[n] = 0;
    *strrchr(self, '/') = 0;
    snprintf(full, sizeof full, "%s/%s/%s", self, more_path, what);
    if (access(full, R_OK) != 0) return NULL;
    full[strlen(full) - strlen(what) - 1] = 0;
    return copy_of(full, strlen(full));
}

char *include_folder(void) {
    const char *wanted = getenv("EVENER_CC_INCLUDE");
    char *found = wanted ? NULL : beside("../include", "evener/cu_prelude.h");
    return found ? found
                 : copy_of(wanted ? wanted : EVENER_CC_INCLUDE,
                           strlen(wanted ? wanted : EVENER_CC_INCLUDE));
}

void compile_flags(struct words *w, int openmp) {
    char *folder = include_folder();
    if (openmp) words_add(w, "-fopenmp");
    words_add(w, "-D__EVENER_CC__");
    words_add(w, "-idirafter");
    words_add(w, folder);
    free(folder);
}

/* Where loaders look by themselves. */
static int is_of_system(const char *folder) {
    static const char *const ours[] = {"/lib",   "/usr/lib",   "/lib32",  "/usr/lib32",
                                       "/lib64", "/usr/lib64", "/libx32", "/usr/libx32"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        const size_t n = strlen(ours[i]);
        if (!strncmp(folder, ours[i], n) && !folder[n]) return 1;
    }
    /* /usr/lib/x86_64-linux-gnu */
    return (!strncmp(folder, "/usr/lib/", 9) || !strncmp(folder, "/lib/", 5)) &&
           strstr(folder, "-linux-") && !strchr(strstr(folder, "-linux-"), '/');
}

/* -Wl,-rpath,FOLDER, where a shared libevener is in a folder that no loader looks into. A comma
 * would end the folder's name there. */
static void add_rpath(struct words *w, const char *folder) {
    char *library = joined(folder, "/libevener.so");
    char *full = access(library, R_OK) == 0 ? realpath(folder, NULL) : NULL;
    if (full && !is_of_system(full) && !strchr(full, ',')) {
        char *option = joined("-Wl,-rpath,", full);
        words_add(w, option);
        free(option);
    }
    free(full);
    free(library);
}

int link_flags(struct words *w, int rpath) {
    const char *wanted = getenv("EVENER_CC_LINK");
    if (wanted) {
        words_split(w, wanted);
    } else {
        char *folder = beside(".", "libevener-cu.a"); /* not installed yet */
        if (!folder) folder = beside("../" EVENER_CC_LIBDIR, "libevener-cu.a");
        if (!folder) {
            fputs("evener-cc: libevener-cu.a is neither beside this command nor in "
                  "../" EVENER_CC_LIBDIR "; say with EVENER_CC_LINK what to link\n",
                  stderr);
            return 0;
        }
        words_add(w, "-Wl,--wrap=GOMP_parallel,--wrap=__kmpc_fork_call");
        char *option = joined("-L", folder);
        words_add(w, option);
        if (rpath) add_rpath(w, folder);
        free(option);
        free(folder);
        words_split(w, EVENER_CC_LIBS);
    }
    words_add(w, "-fopenmp");
    return 1;
}
