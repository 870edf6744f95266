/* Kernel files on the command line: NAME.kernel.c becomes what cmake/kernels.cmake makes of it, a
 * source that defines `const evn_kernel_source NAME_kernels`. */
#include "kernels.h"
#include "words.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void put_string(struct text *out, const char *text) {
    put_bytes(out, "\"", 1);
    for (; *text; text++) {
        if (*text == '\n') {
            put(out, "\\n\"\n\"");
        } else {
            if (*text == '"' || *text == '\\') put_bytes(out, "\\", 1);
            put_bytes(out, text, 1);
        }
    }
    put_bytes(out, "\"", 1);
}

static char *read_header(const char *folder, const char *header) {
    char *name = joined(folder, header), *text = read_file(name);
    if (!text) fprintf(stderr, "evener-cc: %s: %s\n", name, strerror(errno));
    free(name);
    return text;
}

char *kernel_dialect(const char *folder, int same) {
    char *text = read_header(folder, "/evener/kernel.h");
    char *math = text && same ? read_header(folder, "/evener/kernel_math.h") : NULL;
    if (!text || !same) return text;
    char *both = math ? joined(text, math) : NULL;
    free(text);
    free(math);
    return both;
}

/* Files that were put in so far. */
struct inlined {
    struct words files;
    const char *folder;
    int wrong;
};

static const char *base_name(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* The header that a line includes: its name in `wanted`, '"' or '<'; 0: the line is another one. */
static char includes(const char *line, char *wanted, size_t room) {
    const char *c = line + strspn(line, " \t");
    if (*c++ != '#') return 0;
    c += strspn(c, " \t");
    if (strncmp(c, "include", 7)) return 0;
    c += 7 + strspn(c + 7, " \t");
    const char quote = *c;
    const size_t n = strcspn(c + 1, quote == '<' ? ">\n" : "\"\n");
    if ((quote != '<' && quote != '"') || n >= room || c[1 + n] == '\n') return 0;
    memcpy(wanted, c + 1, n);
    wanted[n] = 0;
    return quote;
}

static int put_inlined(struct inlined *in, const char *name, struct text *out);

/* The header beside `file` or in the folder; 0: it is in neither. */
static int put_header(struct inlined *in, const char *file, const char *wanted, char quote,
                      struct text *out) {
    const int here = (int)(base_name(file) - file);
    struct text beside = {0}, in_folder = {0};
    put(&beside, "%.*s%s", here, file, wanted);
    put(&in_folder, "%s/%s", in->folder, wanted);
    const int found =
        (quote == '"' && put_inlined(in, beside.at, out)) || put_inlined(in, in_folder.at, out);
    free(beside.at);
    free(in_folder.at);
    return found;
}

static void put_lines(struct inlined *in, const char *name, const char *text, struct text *out) {
    char wanted[PATH_MAX];
    int line = 1;
    put(out, "#line 1 \"%s\"\n", base_name(name));
    for (const char *c = text; *c; line++) {
        const size_t n = strcspn(c, "\n");
        const char quote = includes(c, wanted, sizeof wanted);
        if (quote && put_header(in, name, wanted, quote, out)) {
            put(out, "#line %d \"%s\"\n", line + 1, base_name(name));
        } else {
            if (quote == '"') {
                fprintf(stderr, "%s:%d:1: error: \"%s\" is neither beside this file nor in %s\n",
                        name, line, wanted, in->folder);
                in->wrong = 1;
            }
            put_bytes(out, c, n);
            put_bytes(out, "\n", 1);
        }
        c += n + (c[n] == '\n');
    }
}

/* A file with what it includes, once; 0: it cannot be read. */
static int put_inlined(struct inlined *in, const char *name, struct text *out) {
    char real[PATH_MAX];
    if (!realpath(name, real)) return 0;
    for (int i = 0; i < in->files.count; i++)
        if (!strcmp(in->files.at[i], real)) return 1;
    char *text = read_file(real);
    if (!text) return 0;
    words_add(&in->files, real);
    put_lines(in, real, text, out);
    free(text);
    return 1;
}

/* "    {"name", name_run, name_items, name_parameters}," of each kernel; how many. */
static int put_entries(struct text *out, const char *text) {
    int count = 0;
    for (const char *c = text; (c = strstr(c, "\nEVN_KERNEL(")); count++) {
        c += strlen("\nEVN_KERNEL(");
        int n = 0;
        while (isalnum((unsigned char)c[n]) || c[n] == '_') n++;
        put(out, "    {\"%.*s\", %.*s_run, %.*s_items, %.*s_parameters},\n", n, c, n, c, n, c, n,
            c);
    }
    return count;
}

static const char head[] =
    "#include <evener/device.h>\n"
    "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n"
    "/* words of OpenCL C and of C++ */\n"
    "#pragma GCC poison half global local constant kernel uniform pipe restrict\n"
    "#pragma GCC poison class new delete this template typename operator private public protected\n"
    "#pragma GCC poison namespace using virtual friend try catch throw\n";

/* NAME of NAME.kernel.c, as a name of C. */
static char *name_of(const char *file) {
    const char *base = base_name(file);
    char *name = copy_of(base, strlen(base) - strlen(".kernel.c"));
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    return name;
}

char *kernel_file(const char *file, const char *folder, int contract) {
    struct inlined in = {.folder = folder};
    struct text text = {0}, entries = {0}, out = {0};
    char real[PATH_MAX];
    put_bytes(&entries, "", 0);
    int ok = put_inlined(&in, file, &text);
    if (!ok) fprintf(stderr, "evener-cc: %s: %s\n", file, strerror(errno));
    ok = ok && !in.wrong;
    if (ok && !put_entries(&entries, text.at)) {
        fprintf(stderr, "%s:1:1: error: no line begins with EVN_KERNEL(name,\n", file);
        ok = 0;
    }
    if (ok && realpath(file, real)) {
        char *name = name_of(file);
        put(&out, "#define EVN_CONTRACT %d\n%s#include \"%s\"\nstatic const char evn_text[] =\n",
            contract, head, real);
        put_string(&out, text.at);
        put(&out, ";\nstatic const evn_kernel_entry evn_entries[] = {\n%s    {0, 0, 0, 0},\n};\n",
            entries.at);
        put(&out, "extern const evn_kernel_source %s_kernels;\n", name);
        put(&out,
            "const evn_kernel_source %s_kernels = {\"%s\", evn_text, evn_entries, 0, "
            "EVN_CONTRACT};\n",
            name, name);
        free(name);
    }
    words_free(&in.files);
    free(text.at);
    free(entries.at);
    return out.at;
}
