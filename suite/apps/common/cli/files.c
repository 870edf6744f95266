/* The files that a command line names. */
#include "common/cli/files.h"
#include "common/cli/message.h"
#include <evener/output.h>
#include <string.h>
#include <unistd.h>

static int output_taken; /* standard output is a file's */

static int is_output(const struct named_file *f) {
    return f->use == OPTION_OUTPUT || f->use == OPTION_KEPT;
}

static int is_standard(const struct named_file *f) { return is_output(f) && !strcmp(f->path, "-"); }

/* An input, or a state that has been read before it is kept anew. */
static int clash(const struct named_file *out, const struct named_file *other) {
    if (!is_output(other) && (access(other->path, F_OK) || !strcmp(other->path, "-"))) return 0;
    if (out->use == OPTION_KEPT && other->use == OPTION_RESUMED) return 0;
    return evn_output_same(out->path, other->path);
}

/* Complains of an output and another file that do not go together. */
static int check_pair(const struct named_file *out, const struct named_file *other) {
    if (!is_output(out) || !clash(out, other)) return 0;
    if (!is_output(other))
        complain("--%s %s would replace %s, which --%s reads; name another file", out->option,
                 out->path, other->path, other->option);
    else if (is_standard(out) || is_standard(other))
        complain("--%s %s and --%s %s both go to standard output; name a file for one of them",
                 out->option, out->path, other->option, other->path);
    else
        complain("--%s %s and --%s %s are the same file; name another one", out->option, out->path,
                 other->option, other->path);
    return EXIT_USAGE;
}

int files_check(const struct named_file *file, int count) {
    for (int i = 0; i < count; i++) {
        if (file[i].use == OPTION_KEPT && is_standard(&file[i]))
            return complain("--%s -: this is kept in a file; name one", file[i].option);
        for (int j = i + 1; j < count; j++)
            if (check_pair(&file[i], &file[j]) ||
                (!is_output(&file[i]) && check_pair(&file[j], &file[i])))
                return EXIT_USAGE;
        output_taken |= is_standard(&file[i]);
    }
    return 0;
}

FILE *files_page(void) { return output_taken ? stderr : stdout; }
