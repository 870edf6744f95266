/* Outputs of the command for the study of the papers: a process of this executable each, whose
 * standard output is kept, so that items share it. */
#include "bench/papers.h"
#include "common/cli/message.h"
#include <evener/output.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
enum { WORDS = 64, LINE = 2048, PATH = 1024 };

struct outputs {
    int count;
    struct output *output;
};

struct outputs *outputs_open(void) {
    return calloc(1, sizeof(struct outputs));
}

void outputs_close(struct outputs *all) {
    for (int i = 0; all && i < all->count; i++) {
        free(all->output[i].words);
        free(all->output[i].text);
        cJSON_Delete(all->output[i].json);
    }
    if (all) free(all->output);
    free(all);
}

int papers_find(const char *name, char *path, size_t size) {
    static const char *const folder[] = {"lib/evener", "../lib/evener"}; /* built, installed */
    char self[PATH - 64], *slash;
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    if ((slash = strrchr(self, '/'))) *slash = '\0';
    for (int i = 0; i < 2; i++) {
        snprintf(path, size, "%s/%s/%s", self, folder[i], name);
        if (!access(path, R_OK)) return 0;
    }
    complain("bench papers: %s is not installed, expected in %s/%s or %s/%s", name, self, folder[0],
             self, folder[1]);
    return EXIT_FAILED;
}

/* The words as argv, with machine files at their places; 0, or an exit status after a message. */
static int split(char *line, char **argv, char (*place)[PATH], int room) {
    int n = 0, code = 0;
    argv[n++] = "evener";
    for (char *save = NULL, *w = strtok_r(line, " ", &save); w && !code;
         w = strtok_r(NULL, " ", &save)) {
        if (n == room - 1) {
            complain("bench papers: a command has more than %d words", room - 2);
            return EXIT_FAILED;
        }
        if (*w == '@') {
            char name[128];
            snprintf(name, sizeof name, "%s", w + 1);
            code = papers_find(name, place[n], sizeof place[n]);
            w = place[n];
        }
        argv[n++] = w;
    }
    argv[n] = NULL;
    return code;
}

/* Text from a descriptor until its end; NULL: it could not be read. */
static char *read_all(int from) {
    size_t n = 0, room = 1 << 16;
    char *text = malloc(room + 1);
    while (text) {
        const ssize_t got = read(from, text + n, room - n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        n += (size_t)got;
        if (n < room) continue;
        char *more = realloc(text, 2 * room + 1);
        if (!more) free(text);
        text = more;
        room *= 2;
    }
    if (text) text[n] = '\0';
    return text;
}

/* Environment of the reader must not change figures: settings of Evener are left out. */
static char **without_settings(void) {
    size_t n = 0, kept = 0;
    while (environ[n]) n++;
    char **list = malloc((n + 1) * sizeof *list);
    for (size_t i = 0; list && i < n; i++)
        if (strncmp(environ[i], "EVENER_", 7) != 0 || !strncmp(environ[i], "EVENER_MACHINE", 14) ||
            !strncmp(environ[i], "EVENER_CACHE", 12))
            list[kept++] = environ[i];
    if (list) list[kept] = NULL;
    return list;
}

/* Runs argv; what it writes is *text, to be freed, and its messages go to the file `said`. Its exit
 * status, or -1 with errno. */
static int run(char **argv, char **text, int said) {
    int ends[2], status = 0;
    char **settings = without_settings();
    posix_spawn_file_actions_t actions;
    pid_t child;
    *text = NULL;
    if (!settings || pipe2(ends, O_CLOEXEC)) {
        free(settings);
        return -1;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, said, 2);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    fflush(stdout);
    const int wrong = posix_spawn(&child, "/proc/self/exe", &actions, NULL, argv, settings);
    posix_spawn_file_actions_destroy(&actions);
    free(settings);
    close(ends[1]);
    if (!wrong) {
        *text = read_all(ends[0]);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    }
    close(ends[0]);
    if (wrong) errno = wrong;
    return wrong ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The last line of a command's messages. */
static void last_line(int said, char *line, size_t size) {
    char text[4096];
    const off_t end = lseek(said, 0, SEEK_END);
    const off_t from = end > (off_t)sizeof text - 1 ? end - (off_t)sizeof text + 1 : 0;
    const ssize_t n = pread(said, text, sizeof text - 1, from);
    text[n > 0 ? n : 0] = '\0';
    for (size_t k = strlen(text); k && text[k - 1] == '\n'; k--) text[k - 1] = '\0';
    const char *last = strrchr(text, '\n');
    snprintf(line, size, "%s", last ? last + 1 : text);
}

static int produce(struct output *output) {
    char line[LINE], *argv[WORDS];
    static char place[WORDS][PATH];
    snprintf(line, sizeof line, "%s", output->words);
    int code = split(line, argv, place, WORDS);
    if (code) return code;
    char said[400] = "";
    int messages;
    evn_status status = evn_output_scratch(&messages, "/tmp");
    if (status) return give_up(status);
    code = run(argv, &output->text, messages);
    last_line(messages, said, sizeof said);
    close(messages);
    if (code || !output->text) {
        complain("bench papers: evener %s: exit status %d, %s", output->words, code,
                 *said ? said : strerror(errno));
        return EXIT_FAILED;
    }
    if (*output->text == '{') output->json = cJSON_Parse(output->text);
    return 0;
}

const struct output *outputs_get(struct outputs *all, const char *words) {
    for (int i = 0; i < all->count; i++)
        if (!strcmp(all->output[i].words, words)) return &all->output[i];
    enum { PIECE = 1024 }; /* never moved: callers keep addresses */
    if (!all->output) all->output = calloc(PIECE, sizeof *all->output);
    char *copy = strdup(words);
    if (!all->output || !copy || all->count == PIECE) {
        free(copy);
        complain("bench papers: no room for more than %d outputs", all->count);
        return NULL;
    }
    struct output *new = &all->output[all->count++];
    new->words = copy;
    if (produce(new)) {
        all->count--;
        free(new->words);
        free(new->text);
        *new = (struct output){0};
        return NULL;
    }
    return new;
}
