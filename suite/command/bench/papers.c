/* evener bench papers: options and files. The study is a script, suite/bench/papers/papers.py, with
 * the published numbers on its standard input; what it writes becomes the outputs when it is whole.
 */
#include "bench/bench.h"
#include "common/cli/files.h"
#include "common/cli/interrupt.h"
#include "common/cli/json_file.h"
#include "common/cli/message.h"
#include "common/cli/options.h"
#include "common/cli/output.h"
#include <evener/output.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAPER, ITEM, PUBLISHED, JSON, PAGE, REPORT, TEXTS };
struct request {
    const char *text[TEXTS];
    int real, quiet;
    int file[TEXTS]; /* descriptors: of the published numbers, to be read, and of outputs; -1 */
};

#define AT(i) (offsetof(struct request, text) + (i) * sizeof(const char *))
static const struct option table[] = {
    {"paper", "LIST", "of these papers only, as 000,003 (default: all)", OPTION_TEXT, AT(PAPER), 0,
     0},
    {"item", "LIST", "these items only, as 000/fig12 or 000/fig12.B", OPTION_TEXT, AT(ITEM), 0, 0},
    {"real", NULL, "what is measured, too; it needs a quiet machine", OPTION_FLAG,
     offsetof(struct request, real), 0, 0},
    {"published", "FILE", "published numbers (default: those that are installed)", OPTION_INPUT,
     AT(PUBLISHED), 0, 0},
    {"json", "FILE", "the record; - is standard output", OPTION_OUTPUT, AT(JSON), 0, 0},
    {"page", "FILE", "the table as Markdown, docs/papers.md", OPTION_OUTPUT, AT(PAGE), 0, 0},
    {"report", "FILE", "a page with pictures, published points beside ours", OPTION_OUTPUT,
     AT(REPORT), 0, 0},
    {"quiet", NULL, "no table", OPTION_FLAG, offsetof(struct request, quiet), 0, 0},
    {0},
};
#undef AT

/* Path of an installed file beside this executable, whose path is `self`; 0, or an exit status. */
static int find(const char *self, const char *name, char *path, size_t size) {
    static const char *const folder[] = {"lib/evener", "../lib/evener"}; /* built, installed */
    const int length = (int)(strrchr(self, '/') - self);
    for (int i = 0; i < 2; i++) {
        snprintf(path, size, "%.*s/%s/%s", length, self, folder[i], name);
        if (!access(path, R_OK)) return 0;
    }
    complain("bench papers: %s is not installed, expected in %.*s/%s or %s", name, length, self,
             folder[0], folder[1]);
    return EXIT_FAILED;
}

/* Opens what the script reads and writes; 0, or an exit status after a message. */
static int open_files(struct request *r) {
    char why[256];
    evn_status status = EVN_OK;
    char *text = file_text(r->text[PUBLISHED], why, sizeof why);
    if (!text) return complain("%s %s", r->text[PUBLISHED], why);
    for (int i = PUBLISHED; !status && i < TEXTS; i++)
        if (r->text[i]) status = evn_output_scratch(&r->file[i], "/tmp");
    int code = status ? give_up(status) : 0;
    if (!code && (dprintf(r->file[PUBLISHED], "%s", text) < 0 ||
                  lseek(r->file[PUBLISHED], 0, SEEK_SET) < 0)) {
        complain("bench papers: /tmp has no room for the published numbers");
        code = EXIT_FAILED;
    }
    free(text);
    for (int i = JSON; !code && i < TEXTS; i++)
        if (r->text[i] && evn_output_try(NULL, r->text[i], 0))
            code = complain("%s", evn_message()); /* before minutes of work */
    return code;
}

/* The script's side. */
static int become(void *p) {
    const struct request *r = p;
    for (int i = JSON; i < TEXTS; i++)
        if (r->file[i] >= 0 && fcntl(r->file[i], F_SETFD, 0)) return -1;
    if (files_page() == stderr && dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return -1;
    return dup2(r->file[PUBLISHED], STDIN_FILENO) < 0;
}

/* Exit status of the script. */
static int run(struct request *r, const char *self, const char *script) {
    char output[TEXTS][16] = {""};
    for (int i = JSON; i < TEXTS; i++)
        if (r->file[i] >= 0) snprintf(output[i], sizeof output[i], "%d", r->file[i]);
    const char *const words[] = {"python3",
                                 "-BEs",
                                 script,
                                 self,
                                 EVN_VERSION,
                                 command_line,
                                 r->text[PUBLISHED],
                                 r->text[PAPER] ? r->text[PAPER] : "",
                                 r->text[ITEM] ? r->text[ITEM] : "",
                                 r->real ? "real" : "",
                                 r->quiet ? "quiet" : "",
                                 output[JSON],
                                 output[PAGE],
                                 output[REPORT],
                                 NULL};
    fflush(stdout);
    const pid_t child = child_start((char *const *)words, become, r);
    const int status = child > 0 ? child_wait(child) : -1;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code >= 0 && code <= EXIT_FAILED) return code;
    complain("bench papers: python3 (Python 3.9 or later), which it needs, is not in PATH, or was "
             "ended");
    return EXIT_FAILED;
}

static int keep(const char *path, int from) {
    evn_output *output;
    char block[1 << 14];
    ssize_t n;
    int code = output_open(&output, path);
    lseek(from, 0, SEEK_SET);
    while (!code && (n = read(from, block, sizeof block)) > 0)
        fwrite(block, 1, (size_t)n, evn_output_stream(output));
    if (!code) code = output_commit(output, NULL);
    evn_output_close(output);
    return code;
}

int bench_papers(int argc, char **argv) {
    struct request r = {.file = {-1, -1, -1, -1, -1, -1}};
    struct option_list list;
    char self[1024], script[1200], published[1200];
    const int read = options_read_plain(
        "bench papers",
        "usage: evener bench papers [options]\n\n"
        "Figures, tables and headline numbers of the five papers beside those of this executable.\n"
        "Exit status 1: a figure in virtual time or a count is outside the band that the file of\n"
        "published numbers has for it. Needs Python 3.\n\n",
        (struct option_set){table, &r, NULL}, argc, argv);
    if (read) return read < 0 ? EXIT_DONE : read;
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    snprintf(self + (length > 0 ? length : 0), 2, length > 0 ? "" : "/");
    int code = find(self, "papers/papers.py", script, sizeof script);
    if (!code && r.text[PAPER]) code = options_list(&list, "paper", r.text[PAPER]);
    if (!code && r.text[ITEM]) code = options_list(&list, "item", r.text[ITEM]);
    if (!code && !r.text[PUBLISHED]) {
        code = find(self, "papers/published.json", published, sizeof published);
        r.text[PUBLISHED] = published;
    }
    if (!code) code = open_files(&r);
    if (!code) code = run(&r, self, script);
    for (int i = JSON; i < TEXTS && code <= EXIT_UNVERIFIED; i++) {
        const int kept = r.text[i] ? keep(r.text[i], r.file[i]) : 0;
        code = kept ? kept : code;
    }
    for (int i = 0; i < TEXTS; i++)
        if (r.file[i] >= 0) close(r.file[i]);
    return code;
}
