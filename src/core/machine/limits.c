/* Words of limits: all that are set are named, since the errno does not tell.
 *
 * pthread_create() and fork() say EAGAIN or ENOMEM, whichever limit they meet: of the user's
 * processes, of the control group's, of the process's memory, of which a thread wants a stack. All
 * that are set are named, with the control group that has the least left. */
#include "machine/limits.h"
#include "machine/groups.h"
#include <errno.h>
#include <evener/text.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

struct words {
    char *text;
    size_t size;
    int limits;
};

__attribute__((format(printf, 2, 3))) static void add(struct words *w, const char *format, ...) {
    const size_t at = strlen(w->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->text + at, w->size - at, format, arguments);
    va_end(arguments);
}

static const char *between(struct words *w) { return w->limits++ ? ", " : "; set are "; }

/* `unit` 0: a number; else kB. */
static void add_limit(struct words *w, int resource, const char *option, int unit) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY) return;
    const unsigned long long value = (unsigned long long)limit.rlim_cur;
    add(w, "%sulimit %s %llu%s", between(w), option, unit ? value / 1024 : value,
        unit ? " kB" : "");
}

/* The group with the least left. */
struct group {
    const char *root;
    double max, used;
    char folder[512];
};

static double number_in(const char *root, const char *folder, const char *name) {
    FILE *f = groups_open(root, folder, name);
    double number = -1; /* also "max" */
    if (f && fscanf(f, "%lf", &number) != 1) number = -1;
    if (f) fclose(f);
    return number;
}

static void ask(const char *folder, int is_second, void *arg) {
    (void)is_second;
    struct group *g = arg;
    const double max = number_in(g->root, folder, "pids.max");
    const double used = number_in(g->root, folder, "pids.current");
    if (!(max >= 0) || !(used >= 0) || (g->max >= 0 && g->max - g->used <= max - used)) return;
    g->max = max;
    g->used = used;
    snprintf(g->folder, sizeof g->folder, "%s", folder);
}

const char *limits_text(const char *root, int error, char *text, size_t size) {
    struct words w = {text, size, 0};
    struct group g = {.root = root, .max = -1};
    snprintf(text, size, "%s", strerror(error));
    if (error != EAGAIN && error != ENOMEM) return text;
    groups_each(root, "pids", ask, &g);
    add_limit(&w, RLIMIT_NPROC, "-u", 0);
    if (g.max >= 0)
        add(&w, "%spids.max %.0f of the control group %s, %.0f of them in use", between(&w), g.max,
            g.folder, g.used);
    add_limit(&w, RLIMIT_AS, "-v", 1);
    add_limit(&w, RLIMIT_DATA, "-d", 1);
    add_limit(&w, RLIMIT_STACK, "-s", 1);
    add(&w, w.limits ? "; raise the one that is reached, or ask for fewer"
                     : "; look at the system's memory and at kernel.threads-max");
    return text;
}

const char *evn_limits_text(int error, char *text, size_t size) {
    if (!text || !size) return "";
    return limits_text("", error, text, size);
}
