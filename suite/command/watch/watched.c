/* Finding processes with counters, and reading these. */
#include "watch/watched.h"
#include "common/cli/message.h"
#include <dirent.h>
#include <evener/clock.h>
#include <evener/output.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 1000 }; /* of a copy that is not disturbed */

/* When a process began and the time that its threads had cores for, of /proc/PID/stat; 0 if there
 * is such a process, and it is no zombie. */
static int look_at_process(int pid, long *begun, double *core_s) {
    char path[32], text[2048], state;
    unsigned long long user, system, start;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *in = fopen(path, "re");
    const size_t length = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in) fclose(in);
    text[length] = '\0';
    const char *behind = strrchr(text, ')'); /* of its name, in which there may be anything */
    if (!behind ||
        sscanf(behind + 1,
               " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu",
               &state, &user, &system, &start) != 4)
        return -1;
    *begun = (long)start;
    *core_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    return state == 'Z' || state == 'X' ? -1 : 0;
}

static int read_at(int fd, void *to, size_t bytes, size_t at) {
    return pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes ? 0 : -1;
}

/* The counters without their loops; -1: they are none of this version. */
static int read_head(int fd, evn_watched *copy) {
    if (read_at(fd, copy, offsetof(evn_watched, loop), 0) || copy->version != EVN_WATCH_VERSION)
        return -1;
    copy->program[sizeof copy->program - 1] = '\0';
    copy->record[sizeof copy->record - 1] = '\0';
    return 0;
}

static int is_sound(evn_watched_loop *w) {
    w->name[sizeof w->name - 1] = '\0';
    w->schedule[sizeof w->schedule - 1] = '\0';
    return w->units >= 0 && w->units <= EVN_WATCH_UNITS;
}

/* A loop's counters as they were at one moment. */
static int read_loop(int fd, evn_watched_loop *to, size_t at) {
    unsigned before, after;
    for (int i = 0; i < TRIES; i++) {
        if (read_at(fd, &before, sizeof before, at) || read_at(fd, to, sizeof *to, at) ||
            read_at(fd, &after, sizeof after, at))
            return -1;
        if (before == after && !(before & 1)) return is_sound(to) ? 0 : -1;
        usleep(10);
    }
    to->state = EVN_WATCH_FREE; /* its writer has ended within a change */
    return 0;
}

static int read_one(struct watched *w) {
    long begun;
    if (!w->over && (look_at_process(w->copy->pid, &begun, &w->core_s) || begun != w->begun))
        w->over = 1;
    w->at = evn_now();
    for (int l = 0; l < EVN_WATCH_LOOPS; l++) {
        const size_t at = offsetof(evn_watched, loop) + (size_t)l * sizeof *w->copy->loop;
        if (!read_loop(w->fd, &w->copy->loop[l], at)) continue;
        complain("process %d: its counters are not those that this command reads; both must be of "
                 "one version of Evener",
                 w->copy->pid);
        return EXIT_FAILED;
    }
    return 0;
}

int watched_read(struct watched_list *list) {
    int code = 0;
    for (int i = 0; !code && i < list->count; i++) code = read_one(&list->of[i]);
    return code;
}

static int add(struct watched_list *list, struct watched w) {
    struct watched *more = realloc(list->of, (size_t)(list->count + 1) * sizeof *more);
    if (!more) return -1;
    list->of = more;
    list->of[list->count++] = w;
    return 0;
}

/* Adds the process if these are its own counters, rather than those of a parent. */
static void try_file(struct watched_list *list, int pid, const char *path) {
    struct watched w = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (w.fd < 0) return;
    w.copy = malloc(sizeof *w.copy);
    if (w.copy && !read_head(w.fd, w.copy) && w.copy->pid == pid &&
        !look_at_process(pid, &w.begun, &w.core_s) && !add(list, w))
        return;
    free(w.copy);
    close(w.fd);
}

static void look_into(struct watched_list *list, int pid) {
    static const char is[] = "/memfd:" EVN_WATCH_NAME;
    char folder[32], path[300], target[sizeof is];
    snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
    DIR *files = opendir(folder);
    for (struct dirent *f; files && (f = readdir(files));) {
        snprintf(path, sizeof path, "%s/%s", folder, f->d_name);
        if (readlink(path, target, sizeof target) < (ssize_t)sizeof is - 1) continue;
        if (!memcmp(target, is, sizeof is - 1)) try_file(list, pid, path);
    }
    if (files) closedir(files);
}

static int by_rank(const void *a, const void *b) {
    const evn_watched *x = ((const struct watched *)a)->copy,
                      *y = ((const struct watched *)b)->copy;
    if (x->run_begin != y->run_begin) return x->run_begin < y->run_begin ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The counters of the process, or of one that writes the record; NULL: there are none. */
static const evn_watched *find(const struct watched_list *list, int pid, const char *record) {
    for (int i = 0; i < list->count; i++) {
        const evn_watched *c = list->of[i].copy;
        if (pid ? c->pid == pid : *c->record && evn_output_same(c->record, record)) return c;
    }
    return NULL;
}

static void forget(struct watched *w) {
    close(w->fd);
    free(w->copy);
}

/* Leaves the processes of one run. */
static void keep(struct watched_list *list, int run_pid, double run_begin) {
    int kept = 0;
    for (int i = 0; i < list->count; i++) {
        const evn_watched *c = list->of[i].copy;
        if (c->run_pid == run_pid && c->run_begin == run_begin)
            list->of[kept++] = list->of[i];
        else
            forget(&list->of[i]);
    }
    list->count = kept;
}

static int none(int pid, const char *record) {
    static const char how[] = "start it with EVENER_WATCH=1 or EVENER_RECORD=FILE, or evener run "
                              "with --json FILE";
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", pid);
    if (pid && access(path, F_OK))
        complain("%d: there is no such process", pid);
    else if (pid)
        complain("process %d has no counters of loops for this user; %s", pid, how);
    else if (record)
        complain("%s: no running program of this user will write this record; %s; evener report "
                 "shows the record of a run that has ended",
                 record, how);
    else
        complain("no running program of this user has counters of loops; %s", how);
    return EXIT_USAGE;
}

int watched_find(struct watched_list *list, int pid, const char *record) {
    DIR *processes = opendir("/proc");
    *list = (struct watched_list){0};
    for (struct dirent *p; processes && (p = readdir(processes));) {
        const int number = (int)strtol(p->d_name, NULL, 10);
        if (number > 0) look_into(list, number);
    }
    if (processes) closedir(processes);
    if (list->count) qsort(list->of, (size_t)list->count, sizeof *list->of, by_rank);
    const evn_watched *of = pid || record ? find(list, pid, record) : NULL;
    if (of)
        keep(list, of->run_pid, of->run_begin);
    else if (pid || record || !list->count)
        return none(pid, record);
    return 0;
}

void watched_close(struct watched_list *list) {
    for (int i = 0; i < list->count; i++) forget(&list->of[i]);
    free(list->of);
    *list = (struct watched_list){0};
}
