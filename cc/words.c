/* Lists of words: command lines, and running them. */
#include "words.h"
#include "source.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

void words_add(struct words *w, const char *word) {
    w->at = more(w->at, (size_t)(w->count + 2) * sizeof *w->at);
    w->at[w->count++] = copy_of(word, strlen(word));
    w->at[w->count] = NULL;
}

void words_add_all(struct words *w, const struct words *others) {
    for (int i = 0; i < others->count; i++) words_add(w, others->at[i]);
}

void words_split(struct words *w, const char *text) {
    for (const char *c = text; *c;) {
        while (isspace((unsigned char)*c)) c++;
        if (!*c) return;
        struct text word = {0};
        put_bytes(&word, "", 0);
        char quote = 0;
        for (; *c && (quote || !isspace((unsigned char)*c)); c++) {
            if (*c == '\\' && c[1] && quote != '\'') {
                put_bytes(&word, ++c, 1);
            } else if (quote ? *c == quote : *c == '"' || *c == '\'') {
                quote = quote ? 0 : *c;
            } else {
                put_bytes(&word, c, 1);
            }
        }
        words_add(w, word.at);
        free(word.at);
    }
}

void words_free(struct words *w) {
    for (int i = 0; i < w->count; i++) free(w->at[i]);
    free(w->at);
    *w = (struct words){0};
}

void words_print(const struct words *w) {
    for (int i = 0; i < w->count; i++) {
        const char *c = w->at[i];
        if (i) putchar(' ');
        if (*c && !c[strspn(c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "-_=+./,:@%")]) {
            fputs(c, stdout);
            continue;
        }
        putchar('\'');
        for (; *c; c++) fputs(*c == '\'' ? "'\\''" : (const char[]){*c, 0}, stdout);
        putchar('\'');
    }
    putchar('\n');
}

static volatile sig_atomic_t stopped;
static volatile sig_atomic_t running; /* the command that runs, or 0 */

/* A terminal sends the signal to both, `kill` to one of them. */
static void stop(int number) {
    const int before = errno;
    stopped = number;
    if (running) kill((pid_t)running, number);
    errno = before;
}

void words_guard(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct sigaction action = {.sa_handler = stop};
        struct sigaction old;
        if (!sigaction(numbers[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

int words_stopped(void) { return stopped; }

static int run(const struct words *w, const char *out, int quiet) {
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    fflush(stdout);
    if (stopped) return 128 + stopped;
    posix_spawn_file_actions_init(&actions);
    if (out) posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (quiet) posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0600);
    const int wrong = posix_spawnp(&child, w->at[0], &actions, NULL, w->at, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (wrong) {
        if (!quiet)
            fprintf(stderr,
                    "evener-cc: %s: %s; install it, or name another compiler with EVENER_CC, "
                    "EVENER_CXX or EVENER_FC\n",
                    w->at[0], strerror(wrong));
        return 127;
    }
    running = child;
    if (stopped) kill(child, stopped); /* it came in between */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    running = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int words_run(const struct words *w, const char *out) { return run(w, out, 0); }

int words_run_quietly(const struct words *w, const char *out) { return run(w, out, 1); }

static char *read_text(const char *name, int zeros) {
    FILE *file = fopen(name, "rb");
    if (!file) return NULL;
    struct text text = {0};
    char piece[65536];
    size_t n;
    put_bytes(&text, "", 0);
    while ((n = fread(piece, 1, sizeof piece, file)) > 0 && text.length < 1u << 30)
        put_bytes(&text, piece, n);
    const int wrong = ferror(file);
    fclose(file);
    for (size_t i = 0; zeros && i < text.length; i++)
        if (!text.at[i]) text.at[i] = ' ';
    if (!wrong && strlen(text.at) == text.length && text.length < 1u << 30) return text.at;
    if (!wrong) errno = EILSEQ;
    free(text.at);
    return NULL;
}

char *read_file(const char *name) { return read_text(name, 0); }

char *read_source(const char *name) { return read_text(name, 1); }

int write_file(const char *name, const char *text) {
    FILE *file = fopen(name, "wb");
    if (!file) return 0;
    const int ok = fputs(text, file) >= 0;
    return fclose(file) == 0 && ok;
}

char *joined(const char *a, const char *b) {
    char *both = more(NULL, strlen(a) + strlen(b) + 1);
    strcpy(both, a);
    return strcat(both, b);
}
