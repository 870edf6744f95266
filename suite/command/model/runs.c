/* This command again, in a process of its own. */
#include "model/runs.h"
#include "common/cli/interrupt.h"
#include "common/cli/json_file.h"
#include "common/cli/message.h"
#include <evener/text.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 32, PIECE = 65536, BETWEEN_LOOKS = 20 /* ms */ };

static int become(void *out) {
    const int none = open("/dev/null", O_RDONLY);
    return dup2(none, STDIN_FILENO) < 0 || dup2(*(int *)out, STDOUT_FILENO) < 0;
}

/* Looks again and again until there is something to read. */
static void look_on(FILE *from, const struct runs_look *look, pid_t group) {
    struct pollfd ready = {.fd = fileno(from), .events = POLLIN};
    while (poll(&ready, 1, BETWEEN_LOOKS) == 0) look->at(look->arg, group);
}

/* All that comes, as a text to be freed; NULL without memory. */
static char *read_all(FILE *from) {
    char *text = malloc(PIECE);
    size_t size = 0, room = PIECE, n;
    while (text && (n = fread(text + size, 1, room - size - 1, from)) > 0) {
        size += n;
        if (size < room - 1) continue;
        char *more = realloc(text, 2 * room);
        if (!more) free(text);
        text = more;
        room *= 2;
    }
    if (text) text[size] = 0;
    return text;
}

/* Runs a program, its output in *text, to be freed. 0, or an exit status after a message. */
static int run(char *const *argv, const struct runs_look *look, char **text) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) {
        complain("a run of its own cannot be started: %s", strerror(errno));
        return EXIT_FAILED;
    }
    fflush(NULL);
    const pid_t child = child_start(argv, become, &ends[1]);
    const int error = errno;
    close(ends[1]);
    FILE *from = child > 0 ? fdopen(ends[0], "r") : NULL;
    if (from && look) look_on(from, look, child);
    *text = from ? read_all(from) : NULL;
    if (from)
        fclose(from);
    else
        close(ends[0]);
    if (child < 0) {
        char why[700];
        complain("a run of its own cannot be started: %s", evn_limits_text(error, why, sizeof why));
        return EXIT_FAILED;
    }
    const int status = child_wait(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_UNVERIFIED && *text) return 0;
    char line[512] = "evener";
    for (int i = 1; argv[i]; i++)
        snprintf(line + strlen(line), sizeof line - strlen(line), " %s", argv[i]);
    complain("%s has ended with status %d; see above", line,
             WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return EXIT_FAILED;
}

int runs_record(const char *const *words, const struct runs_look *look, cJSON **record) {
    char path[4096], *text = NULL;
    char *argv[WORDS] = {path};
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    *record = NULL;
    if (n <= 0) {
        complain("/proc/self/exe cannot be read: %s", strerror(errno));
        return EXIT_FAILED;
    }
    path[n] = 0;
    for (int i = 0; words[i] && i < WORDS - 2; i++) argv[i + 1] = (char *)words[i];
    int code = run(argv, look, &text);
    if (!code) *record = cJSON_Parse(text);
    if (!code && !*record) {
        complain("the record of evener %s is not JSON", words[0]);
        code = EXIT_FAILED;
    }
    free(text);
    return code;
}
