/* The command: rewrites files with directives of ours to temporary ones, which the compiler gets
 * instead; all other arguments go to the compiler unchanged. */
#include "driver.h"
#include "includes.h"
#include "fortran/fortran.h"
#include "kernels/kernels.h"
#include "c/rewrite.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One C or Fortran file of the command line. */
struct unit {
    int word;    /* its place there */
    char *text;  /* what the compiler gets; NULL: the file as it is */
    int cooked;  /* that is preprocessed */
    int openmp;  /* it has directives of ours, or the header */
    int fortran; /* 'x' in fixed form, 'r' in free form; 0: it is none */
    int cxx;     /* it is C++ */
    char *file;  /* where it is put */
    char *object;
};

struct drive {
    const struct options *o;
    char *folder; /* of temporary files; NULL: none so far */
    struct unit *unit;
    int units;
    char *dialect; /* of --kernels, or NULL */
    int modules;   /* the folder has the module evn_cu */
};

static const char prelude[] = "#include <evener/cu_prelude.h>\n",
                  prelude_cxx[] = "#include <evener/cu_cxx.h>\n",
                  end_cxx[] = "\n#include <evener/cu_exceptions.h>\n";

static const char *base_name(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* FOLDER/Nname with another end. */
static char *temporary(struct drive *d, int n, const char *name, const char *end) {
    if (!d->folder) {
        const char *where = getenv("TMPDIR");
        d->folder = joined(where && *where ? where : "/tmp", "/evener-cc-XXXXXX");
        if (!d->o->show && !mkdtemp(d->folder)) {
            fprintf(stderr, "evener-cc: %s: %s\n", d->folder, strerror(errno));
            exit(1);
        }
    }
    struct text t = {0};
    const char *base = base_name(name), *dot = strrchr(base, '.');
    put(&t, "%s/", d->folder);
    if (n) put(&t, "%d-", n);
    for (const char *c = base; *c && c != dot; c++)
        put(&t, "%c", isalnum((unsigned char)*c) || strchr("-_.+", *c) ? *c : '_');
    put(&t, "%s", end);
    return t.at;
}

/* The source's name with another end, in the present folder, as compilers do. */
static char *in_present_folder(const char *name, const char *end) {
    struct text t = {0};
    const char *base = base_name(name), *dot = strrchr(base, '.');
    put(&t, "%.*s%s", dot ? (int)(dot - base) : (int)strlen(base), base, end);
    return t.at;
}

static void put_line(struct text *t, const char *name, int number) {
    put(t, "#line %d ", number);
    put_quoted(t, name);
    put(t, "\n");
}

/* The name of a source as compilers show it. */
static const char *shown_name(const char *name) { return strcmp(name, "-") ? name : "<stdin>"; }

/* -iquote FOLDER: where the source's own includes are. */
static void add_folder(struct words *w, const char *name) {
    const char *slash = strrchr(name, '/');
    char *folder =
        slash ? copy_of(name, (size_t)(slash == name ? 1 : slash - name)) : copy_of(".", 1);
    words_add(w, "-iquote");
    words_add(w, folder);
    free(folder);
}

/* Words of the command line that make a difference while compiling one file. */
static void add_own_words(const struct drive *d, struct words *w, int cxx, int to_preprocess,
                          int preprocessed) {
    const struct options *o = d->o;
    for (int i = 0; i < o->words.count; i++) {
        const char *word = o->words.at[i];
        const int values = i + 1 < o->words.count && o->kind[i + 1] == W_VALUE;
        const int depend = !strncmp(word, "-M", 2) || !strncmp(word, "-Wp,-M", 6);
        const int included = !strcmp(word, "-include") || !strcmp(word, "-imacros");
        const int linked = !strncmp(word, "-l", 2) || !strncmp(word, "-L", 2) ||
                           !strncmp(word, "-Wl,", 4) || !strcmp(word, "-Xlinker");
        const int names = !strncmp(word, "-o", 2) && (values || strncmp(word, "-ob", 3));
        const int stops = to_preprocess && (!strcmp(word, "-c") || !strcmp(word, "-S") ||
                                            !strcmp(word, "-fsyntax-only"));
        if (o->kind[i] >= W_FILE) continue;
        if (!cxx && !strncmp(word, "-std=", 5) && strstr(word, "++")) continue; /* of other files */
        if (depend || names || stops || !strncmp(word, "-x", 2) || (preprocessed && included) ||
            (linked && !o->stops)) {
            i += values;
            continue;
        }
        words_add(w, word);
        if (values) words_add(w, o->words.at[++i]);
    }
}

/* -MD and its kin, with names for the file and its target. */
static void add_depends(const struct drive *d, struct words *w, const char *file,
                        const char *target) {
    const struct options *o = d->o;
    for (int i = 0; i < o->words.count; i++) {
        const char *word = o->words.at[i];
        if (o->kind[i] != W_OPTION) continue;
        if (!strcmp(word, "-MD") || !strcmp(word, "-MMD") || !strcmp(word, "-MP") ||
            !strcmp(word, "-MG"))
            words_add(w, word);
        if (!strncmp(word, "-Wp,-M", 6))
            words_add(w, !strncmp(word, "-Wp,-MMD", 8) ? "-MMD" : "-MD");
        if (!strncmp(word, "-MT", 3) || !strncmp(word, "-MQ", 3)) {
            words_add(w, word);
            if (!word[3]) words_add(w, o->words.at[i + 1]);
        }
    }
    words_add(w, "-MF");
    words_add(w, file);
    if (!o->depend_target) {
        words_add(w, "-MQ");
        words_add(w, target);
    }
}

/* Where compilers put what a file depends on. */
static char *depend_name(const struct options *o, const char *object) {
    if (o->depend_file) return copy_of(o->depend_file, strlen(o->depend_file));
    const char *base = base_name(object), *dot = strrchr(base, '.');
    struct text t = {0};
    put(&t, "%.*s.d", dot ? (int)(dot - object) : (int)strlen(object), object);
    return t.at;
}

/* As make reads names: backslashes before a blank are two. */
static void put_make(struct text *t, const char *name) {
    for (const char *begin = name; *name; name++) {
        const int blank = *name == ' ' || *name == '\t';
        for (const char *c = name; blank && c > begin && c[-1] == '\\'; c--) put_bytes(t, "\\", 1);
        if (blank || *name == '#') put_bytes(t, "\\", 1);
        if (*name == '$') put_bytes(t, "$", 1);
        put_bytes(t, name, 1);
    }
}

/* The temporary file's name becomes the source's in what the compiler says the object depends on.
 */
static void mend_depends(const char *file, const char *temporary_name, const char *source) {
    char *text = read_file(file);
    if (!text) return;
    struct text was = {0}, out = {0};
    put_make(&was, temporary_name);
    const char *c = text;
    for (const char *found; (found = strstr(c, was.at)); c = found + was.length) {
        put_bytes(&out, c, (size_t)(found - c));
        put_make(&out, source);
    }
    put_bytes(&out, c, strlen(c));
    if (!write_file(file, out.at)) fprintf(stderr, "evener-cc: %s: %s\n", file, strerror(errno));
    free(text);
    free(was.at);
    free(out.at);
}

/* Whether the compiler's options or the file make this impossible. */
static int too_old(const struct options *o, const char *name, int cxx) {
    if (cxx ? !o->old_cxx : !o->old) return 0;
    fprintf(stderr, "%s:1:1: error: compute units need %s or later\n", name, cxx ? "C++11" : "C99");
    return 1;
}

/* The text after preprocessing, by the compiler itself; NULL: it has said why not. */
static char *preprocess_by(struct drive *d, const char *name, const char *text, int cxx,
                           int (*by)(const struct words *w, const char *out)) {

    struct words w = {0};
    struct text with = {0};
    char *in = temporary(d, d->units, name, cxx ? ".cpp" : ".c"),
         *out = temporary(d, d->units, name, cxx ? ".ii" : ".i");
    char *result = NULL;
    put(&with, "%s", cxx ? prelude_cxx : prelude);
    put_line(&with, shown_name(name), 1);
    put_bytes(&with, text, strlen(text));
    if (cxx) put(&with, "%s", end_cxx);
    words_add_all(&w, cxx ? &d->o->cxx : &d->o->compiler);
    add_folder(&w, name);
    add_own_words(d, &w, cxx, 1, 0);
    compile_flags(&w, 1);
    words_add(&w, "-E");
    if (d->o->depends) {
        char *object = d->o->output && d->o->stops ? copy_of(d->o->output, strlen(d->o->output))
                                                   : in_present_folder(name, ".o");
        char *file = depend_name(d->o, object);
        add_depends(d, &w, file, object);
        words_add(&w, in);
        if (write_file(in, with.at) && !by(&w, out)) result = read_file(out);
        mend_depends(file, in, name);
        free(object);
        free(file);
    } else {
        words_add(&w, in);
        if (write_file(in, with.at) && !by(&w, out)) result = read_file(out);
    }
    unlink(in);
    unlink(out);
    free(in);
    free(out);
    free(with.at);
    words_free(&w);
    return result;
}

static char *preprocess(struct drive *d, const char *name, const char *text, int cxx) {
    return preprocess_by(d, name, text, cxx, words_run);
}

/* Puts the prelude before the text, or behind its first include if that is precompiled, which it
 * can be before all else only. */
static void put_prelude(const struct drive *d, struct source *s, struct text *out) {
    const char *include = s->cxx ? prelude_cxx : prelude;
    const int at = !s->preprocessed && includes_precompiled(d->o, s->name, s->text)
                       ? behind_first_include(s->text)
                       : 0;
    struct text behind = {0};
    if (!at && !s->preprocessed) put(out, "%s", include);
    if (!s->preprocessed) put_line(out, shown_name(s->name), 1);
    if (!at) return;
    put(&behind, "%s", include);
    put_line(&behind, shown_name(s->name), source_place(s, at).line);
    replace(s, at, at, behind.at);
    s->edit[s->edits - 1].order = -1;
}

/* Rewrites one text. 1: `out` has it; 0: there is nothing of ours in it; -1: errors were said; 2:
 * it must be preprocessed first. */
static int rewrite_text(const struct drive *d, const char *name, const char *text, int preprocessed,
                        int cxx, struct text *out) {
    struct source s;
    int result;
    source_open(&s, name, text, preprocessed, cxx);
    s.json = d->o->json;
    s.throws = cxx && !d->o->no_throws;
    s.dialect = d->dialect;
    s.ordinary = d->o->kernels == 2;
    s.same_math = d->o->same_math;
    s.contract = !d->o->exact;
    const int places = rewrite(&s);
    if ((s.unseen || (places && d->o->defines && !preprocessed)) && !s.errors) {
        result = 2;
    } else if (source_report(&s)) {
        result = -1;
    } else {
        result = places > 0;
        if (places) put_prelude(d, &s, out);
        if (places) source_write(&s, out);
        if (places && cxx && !preprocessed) put(out, "%s", end_cxx);
    }
    source_close(&s);
    return result;
}

/* A text that is preprocessed already, as by distcc: the prelude is put around it, unless the text
 * has it, of omp_cu.h or of our own -E. */
static int rewrite_cooked(struct drive *d, const char *name, const char *text, int cxx,
                          struct text *out) {
    static const char middle[] = "#pragma evener middle";
    const int known =
        strstr(text, "rethrow_exception(") != NULL; /* by the text's own <exception> */
    const int has = strstr(text, "evn_cu_enter(") != NULL;
    struct text inner = {0}, rewritten = {0};
    int kind = rewrite_worth(text) ? rewrite_text(d, name, text, 1, cxx, &rewritten) : 0;
    if (kind == 1) {
        put(&inner, "%s\n%s", middle, known ? "#define EVN_CU_EXCEPTIONS_KNOWN\n" : "");
        char *around = preprocess(d, name, inner.at, cxx);
        const char *found = around ? strstr(around, middle) : NULL;
        if (found) {
            if (!has) put(out, "%.*s\n", (int)(found - around), around);
            put_bytes(out, rewritten.at, rewritten.length);
            put(out, "\n%s", found + strlen(middle));
        }
        kind = found ? 1 : -1;
        free(around);
        free(inner.at);
    }
    free(rewritten.at);
    return kind;
}

/* Rewrites the text of a source, as it is or after preprocessing, which *cooked says; -1: errors.
 */
static int rewrite_source(struct drive *d, const char *name, const char *text, int cxx, int *cooked,
                          struct text *out) {
    const struct options *o = d->o;
    int kind = o->preprocessed || (o->kernels && kernels_worth(text, o->kernels == 2)) ? 2 : 0;
    if (!kind && includes_ours(o, name, text)) kind = 2;
    if (!kind && rewrite_worth(text)) kind = rewrite_text(d, shown_name(name), text, 0, cxx, out);
    if (kind == 2 && !(o->show && o->preprocessed)) {
        free(out->at);
        *out = (struct text){0};
        char *preprocessed = preprocess(d, name, text, cxx);
        kind = preprocessed ? rewrite_text(d, shown_name(name), preprocessed, 1, cxx, out) : -1;
        *cooked = 1;
        free(preprocessed);
    }
    return kind;
}

/* Decides what the compiler gets for one file; 0: errors. */
static int prepare(struct drive *d, int word) {
    const struct options *o = d->o;
    const char *name = o->words.at[word];
    const int input = !strcmp(name, "-"), kinds = o->kind[word];
    struct unit u = {.word = word, .cxx = kinds == W_CXX || kinds == W_COOKED_CXX};
    char *text = read_source(input ? "/dev/stdin" : name);
    struct text out = {0};
    int ok = 1;
    if (text) { /* else the compiler will say what is wrong with it */
        plain_digraphs(text, u.cxx);
        const char *begin = text + (strncmp(text, "\xef\xbb\xbf", 3) ? 0 : 3);
        u.cooked = kinds == W_COOKED || kinds == W_COOKED_CXX;
        u.openmp = strstr(begin, "omp_cu.h") ||
                   (!rewrite_worth(begin) && includes_precompiled(o, name, begin));
        int kind = u.cooked ? rewrite_cooked(d, shown_name(name), begin, u.cxx, &out)
                            : rewrite_source(d, name, begin, u.cxx, &u.cooked, &out);
        ok = kind >= 0 && !(kind == 1 && too_old(o, name, u.cxx));
        if (kind == 0 && input) { /* which cannot be read again */
            u.cooked = kinds == W_COOKED || kinds == W_COOKED_CXX;
            put_line(&out, shown_name(name), 1);
            put_bytes(&out, begin, strlen(begin));
        }
        if (kind == 1 || (kind == 0 && input)) {
            u.text = out.at;
            u.openmp |= kind;
            out.at = NULL;
        }
    }
    free(text);
    free(out.at);
    d->unit = more(d->unit, (size_t)(d->units + 1) * sizeof *d->unit);
    d->unit[d->units++] = u;
    return ok;
}

/* NAME.kernel.c; 0: errors. */
static int prepare_kernels(struct drive *d, int word) {
    char *folder = include_folder();
    const struct unit u = {
        .word = word, .openmp = 1, .text = kernel_file(d->o->words.at[word], folder, !d->o->exact)};
    free(folder);
    d->unit = more(d->unit, (size_t)(d->units + 1) * sizeof *d->unit);
    d->unit[d->units++] = u;
    return u.text != NULL;
}

/* The compiler's words, with the folder of the file, for one step of compiling it. */
static void begin_fortran(const struct drive *d, struct words *w, const char *name,
                          int preprocess) {
    const char *slash = strrchr(name, '/');
    words_add_all(w, &d->o->fortran);
    add_own_words(d, w, 0, preprocess, 0);
    words_add(w, "-I");
    if (slash) {
        char *folder = copy_of(name, (size_t)(slash == name ? 1 : slash - name));
        words_add(w, folder);
        free(folder);
    } else {
        words_add(w, ".");
    }
}

/* Dependencies of a Fortran file, which compilers have of preprocessed ones alone. */
static void add_fortran_depends(const struct drive *d, struct words *w, const char *name) {
    const struct options *o = d->o;
    if (!o->depends) return;
    char *object = o->output && o->stops ? copy_of(o->output, strlen(o->output))
                                         : in_present_folder(name, ".o");
    char *file = depend_name(o, object);
    add_depends(d, w, file, object);
    free(object);
    free(file);
}

/* A Fortran file after preprocessing; NULL: the compiler has said why not. */
static char *preprocess_fortran(struct drive *d, const char *name) {
    struct words w = {0};
    char *out = temporary(d, d->units, name, ".i"), *result = NULL;
    begin_fortran(d, &w, name, 1);
    compile_flags(&w, 1);
    words_add(&w, "-cpp");
    words_add(&w, "-E");
    add_fortran_depends(d, &w, name);
    words_add(&w, name);
    words_add(&w, "-o");
    words_add(&w, out);
    if (!words_run(&w, NULL)) result = read_file(out);
    unlink(out);
    free(out);
    words_free(&w);
    return result;
}

/* A Fortran file: u->text is what the compiler gets, or NULL. 0: errors. */
static int prepare_fortran(struct drive *d, int word) {
    const char *name = d->o->words.at[word];
    struct fortran_form form;
    struct unit u = {.word = word};
    struct text out = {0};
    int kind = 0;
    options_form(d->o, name, &form);
    u.fortran = form.fixed ? 'x' : 'r';
    char *text = read_source(name);
    if (text && fortran_worth(text)) {
        if (form.preprocessed) {
            free(text);
            text = preprocess_fortran(d, name);
            u.cooked = 1;
        }
        put(&out, "# 1 ");
        put_quoted(&out, name);
        put(&out, "\n");
        kind = text ? fortran_rewrite(name, text, &form, &out) : -1;
    }
    if (kind == 1) {
        u.text = out.at;
        out.at = NULL;
    }
    free(text);
    free(out.at);
    d->unit = more(d->unit, (size_t)(d->units + 1) * sizeof *d->unit);
    d->unit[d->units++] = u;
    return kind >= 0;
}

/* Where a file could not be compiled: whether a directive that it includes may be why. */
static void explain(struct drive *d, const struct unit *u) {
    const struct options *o = d->o;
    const char *name = o->words.at[u->word];
    const int reads = o->kind[u->word] == W_SOURCE || o->kind[u->word] == W_CXX;
    char *text = reads && !u->cooked && !o->show ? read_source(name) : NULL;
    char *cooked = text ? preprocess_by(d, name, text, u->cxx, words_run_quietly) : NULL;
    if (cooked) {
        struct source s;
        source_open(&s, name, cooked, 1, u->cxx);
        s.json = o->json;
        const int at = rewrite_elsewhere(&s, name);
        if (at >= 0)
            complain(&s, at, "note",
                     "this directive of an included file is read with the option --preprocessed");
        source_report(&s);
        source_close(&s);
    }
    free(text);
    free(cooked);
}

static int prepare_any(struct drive *d, int word) {
    if (d->o->kind[word] == W_FORTRAN) return prepare_fortran(d, word);
    return d->o->kind[word] == W_KERNELS ? prepare_kernels(d, word) : prepare(d, word);
}

static int read_dialect(struct drive *d) {
    char *folder = include_folder();
    d->dialect = kernel_dialect(folder, d->o->same_math);
    free(folder);
    return d->dialect != NULL;
}

/* Compiles one rewritten file to u->object. */
static int compile(struct drive *d, struct unit *u) {
    const struct options *o = d->o;
    const char *name = o->words.at[u->word];
    struct words w = {0};
    u->file = temporary(d, u->word, name,
                        u->cxx ? (u->cooked ? ".ii" : ".cpp") : (u->cooked ? ".i" : ".c"));
    if (!o->show && !write_file(u->file, u->text)) {
        fprintf(stderr, "evener-cc: %s: %s\n", u->file, strerror(errno));
        return 1;
    }
    const struct words *compilers = u->cxx ? &o->cxx : &o->compiler;
    words_add_all(&w, compilers);
    add_folder(&w, name);
    add_own_words(d, &w, u->cxx, 0, u->cooked);
    compile_flags(&w, u->openmp);
    char *depends = o->depends && !u->cooked
                        ? depend_name(o, o->stops && o->output ? o->output : u->object)
                        : NULL;
    if (depends && !o->stops && !o->depend_file) {
        free(depends);
        depends = in_present_folder(name, ".d");
    }
    char *target = in_present_folder(name, ".o");
    if (depends) add_depends(d, &w, depends, o->stops ? u->object : target);
    const char *compiler = compilers->at[compilers->count - 1];
    if (u->cooked && strstr(base_name(compiler), "clang"))
        words_add(&w, "-Wno-unused-command-line-argument");
    if (!o->stops) words_add(&w, "-c");
    if (!o->checks) {
        words_add(&w, "-o");
        words_add(&w, u->object);
    }
    words_add(&w, "-x");
    words_add(&w,
              u->cxx ? (u->cooked ? "c++-cpp-output" : "c++") : (u->cooked ? "cpp-output" : "c"));
    words_add(&w, u->file);
    if (o->show) words_print(&w);
    const int status = o->show ? 0 : words_run(&w, NULL);
    if (depends && !o->show) mend_depends(depends, u->file, name);
    if (!o->show) unlink(u->file);
    free(depends);
    free(target);
    words_free(&w);
    return status;
}

/* The module evn_cu for this compiler, in the folder of temporary files. */
static int compile_modules(struct drive *d) {
    if (d->modules) return 0;
    struct words w = {0};
    char *include = include_folder(), *source = joined(include, "/evener/fortran/evn_cu.f90");
    words_add_all(&w, &d->o->fortran);
    words_add(&w, "-fsyntax-only");
    words_add(&w, "-J");
    words_add(&w, d->folder);
    words_add(&w, source);
    if (d->o->show) words_print(&w);
    const int status = d->o->show ? 0 : words_run(&w, NULL);
    d->modules = 1;
    free(include);
    free(source);
    words_free(&w);
    return status;
}

/* Compiles one Fortran file, rewritten or not, to u->object. What it calls, or is called by, runs
 * on several threads at a time: its arrays are made anew (-frecursive, which -fopenmp is too). */
static int compile_fortran(struct drive *d, struct unit *u) {
    const struct options *o = d->o;
    const char *name = o->words.at[u->word];
    struct words w = {0};
    if (u->text) {
        u->file = temporary(d, u->word, name, u->fortran == 'x' ? ".f" : ".f90");
        if (compile_modules(d)) return 1;
        if (!o->show && !write_file(u->file, u->text)) {
            fprintf(stderr, "evener-cc: %s: %s\n", u->file, strerror(errno));
            return 1;
        }
    }
    begin_fortran(d, &w, name, 0);
    if (u->text) {
        words_add(&w, "-fopenmp");
        words_add(&w, "-I");
        words_add(&w, d->folder);
        words_add(&w, "-nocpp");
        if (u->fortran == 'r') words_add(&w, "-ffree-line-length-none"); /* of generated lines */
    } else {
        words_add(&w, "-frecursive");
        compile_flags(&w, 0);
        add_fortran_depends(d, &w, name);
    }
    if (!o->stops) words_add(&w, "-c");
    if (!o->checks) {
        words_add(&w, "-o");
        words_add(&w, u->object);
    }
    words_add(&w, u->text ? u->file : name);
    if (o->show) words_print(&w);
    const int status = o->show ? 0 : words_run(&w, NULL);
    if (u->text && !o->show) unlink(u->file);
    words_free(&w);
    return status;
}

static int keep(const struct unit *u) {
    const char *dot = strrchr(base_name(u->object), '.');
    char *name = copy_of(u->object, dot ? (size_t)(dot - u->object) : strlen(u->object));
    char *full = joined(name, u->fortran == 'x' ? ".evn.f"
                              : u->fortran      ? ".evn.f90"
                              : u->cxx          ? ".evn.cpp"
                                                : ".evn.c");
    const int ok = write_file(full, u->text);
    if (!ok) fprintf(stderr, "evener-cc: %s: %s\n", full, strerror(errno));
    free(name);
    free(full);
    return ok;
}

/* The compiler that gets the command line. */
static const struct words *command_of(const struct options *o) {
    return o->links_fortran ? &o->fortran : o->links_cxx ? &o->cxx : &o->compiler;
}

/* The command line with objects in the place of files that were compiled before, and, if `linked`,
 * with what it is linked with. Files that were compiled are left out where nothing is linked. */
static int rest(struct drive *d, int others) {
    const struct options *o = d->o;
    struct words w = {0};
    int openmp = 0, status = 0, next = 0;
    for (int i = 0; i < d->units; i++) openmp |= d->unit[i].openmp && !d->unit[i].text;
    words_add_all(&w, command_of(o));
    for (int i = 0; i < o->words.count; i++) {
        const struct unit *u = next < d->units && d->unit[next].word == i ? &d->unit[next++] : NULL;
        const int none = u && (u->text || u->fortran);
        if (none && !o->stops) { /* -x c would be believed of the object too */
            words_add(&w, "-x");
            words_add(&w, "none");
            words_add(&w, u->object);
        } else if (!none) {
            words_add(&w, o->words.at[i]);
        }
    }
    if (d->units) compile_flags(&w, openmp);
    const int links = !o->stops && !o->headers;
    if (links && !link_flags(&w, !o->no_rpath)) status = 1;
    if (!status && (others || !o->stops)) {
        if (o->show) words_print(&w);
        status = o->show ? 0 : words_run(&w, NULL);
        for (int i = 0; i < d->units && status; i++)
            if (!d->unit[i].text && !d->unit[i].fortran) explain(d, &d->unit[i]);
    }
    words_free(&w);
    return status;
}

/* Whether a C file has directives of OpenMP or their header; read_source() may fail, as the
 * compiler then will. */
static int speaks_openmp(const struct options *o, int word) {
    const int reads = o->kind[word] == W_SOURCE || o->kind[word] == W_CXX;
    char *text = reads ? read_source(o->words.at[word]) : NULL;
    const int found = text && (rewrite_worth(text) || strstr(text, "omp_cu.h"));
    free(text);
    return found;
}

/* The command line as it is, but that files of C and C++ find our headers. */
static int hand_on(const struct options *o) {
    struct words w = {0};
    int sources = 0, openmp = 0;
    words_add_all(&w, command_of(o));
    words_add_all(&w, &o->words);
    for (int i = 0; i < o->words.count; i++) {
        sources += o->kind[i] == W_SOURCE || o->kind[i] == W_CXX;
        if (!strcmp(o->words.at[i], "-")) continue;
        openmp |= speaks_openmp(o, i);
    }
    for (int i = 0; i < o->words.count && openmp; i++)
        if (!strcmp(o->words.at[i], "-E")) { /* so that the text can be compiled */
            if (o->links_cxx) {
                words_add(&w, "-include");
                words_add(&w, "exception"); /* which cannot be added behind it */
            }
            words_add(&w, "-include");
            words_add(&w, o->links_cxx ? "evener/cu_cxx.h" : "evener/cu_prelude.h");
            break;
        }
    if (sources || o->headers) compile_flags(&w, openmp || o->headers);
    if (o->show) words_print(&w);
    const int status = o->show ? 0 : words_run(&w, NULL);
    words_free(&w);
    return status;
}

/* All files of the folder: compilers leave others there than they were asked for. */
static void empty_folder(const char *name) {
    DIR *folder = opendir(name);
    if (!folder) return;
    for (const struct dirent *e; (e = readdir(folder));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(folder), e->d_name, 0);
    closedir(folder);
}

static void clean(struct drive *d) {
    for (int i = 0; i < d->units; i++) {
        struct unit *u = &d->unit[i];
        if (u->object && !d->o->stops && !d->o->show) unlink(u->object);
        free(u->text);
        free(u->file);
        free(u->object);
    }
    if (d->folder && !d->o->show) {
        empty_folder(d->folder);
        rmdir(d->folder);
    }
    free(d->folder);
    free(d->unit);
    free(d->dialect);
}

/* OUTPUT-NAME.o beside what is linked, by which compilers name other files that they leave there;
 * a file that is there already is not written over. */
static char *beside_output(const struct options *o, const char *name) {
    const char *output = o->output ? o->output : "a.out", *base = base_name(output);
    const char *dot = o->output ? NULL : strrchr(base, '.'), *end = strrchr(base_name(name), '.');
    struct text t = {0};
    put(&t, "%.*s-%.*s", dot ? (int)(dot - output) : (int)strlen(output), output,
        end ? (int)(end - base_name(name)) : (int)strlen(base_name(name)), base_name(name));
    for (char *object = joined(t.at, ".o");; object = joined(t.at, ".o")) {
        if (access(object, F_OK) != 0) {
            free(t.at);
            return object;
        }
        free(object);
        put(&t, ".evn");
    }
}

static void name_object(struct drive *d, struct unit *u) {
    const struct options *o = d->o;
    const char *name = o->words.at[u->word];
    if (!o->stops && o->beside) {
        u->object = beside_output(o, name);
    } else if (!o->stops) {
        u->object = temporary(d, u->word, name, ".o");
    } else if (o->output) {
        u->object = copy_of(o->output, strlen(o->output));
    } else {
        u->object = in_present_folder(name, o->assembly ? ".s" : ".o");
    }
}

static int print_sources(const struct drive *d) {
    for (int i = 0; i < d->units; i++) {
        char *text = d->unit[i].text ? NULL : read_source(d->o->words.at[d->unit[i].word]);
        fputs(d->unit[i].text ? d->unit[i].text : text ? text : "", stdout);
        free(text);
    }
    return 0;
}

static int compile_all(struct drive *d) {
    int status = 0, others = 0;
    for (int i = 0; i < d->o->words.count; i++) others += d->o->kind[i] >= W_FILE;
    for (int i = 0; i < d->units && !status; i++) {
        struct unit *u = &d->unit[i];
        if (!u->text && !u->fortran) continue;
        others--;
        name_object(d, u);
        status = u->fortran ? compile_fortran(d, u) : compile(d, u);
        if (status && !u->fortran) explain(d, u);
        if (!status && u->text && d->o->keep && !d->o->show && !keep(u)) status = 1;
    }
    return status ? status : rest(d, others);
}

/* Ends as the signal would have ended this command. */
static void end_by(int number) {
    signal(number, SIG_DFL);
    raise(number);
}

int drive(const struct options *o) {
    struct drive d = {.o = o};
    int ok = 1;
    if (o->handed_on && !o->source) return hand_on(o);
    words_guard();
    if (o->kernels) ok = read_dialect(&d);
    for (int i = 0; i < o->words.count; i++)
        if (o->kind[i] >= W_SOURCE) ok &= prepare_any(&d, i);
    const int status = !ok ? 1 : o->source ? print_sources(&d) : compile_all(&d);
    clean(&d);
    if (words_stopped()) end_by(words_stopped());
    return status;
}
