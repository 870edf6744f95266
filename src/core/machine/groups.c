/* Control groups of the process: where they are mounted, and the walk up from its own. */
#include "machine/groups.h"
#include <limits.h>
#include <string.h>

FILE *groups_open(const char *root, const char *folder, const char *name) {
    char path[3 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s%s%s", root, folder, *name ? "/" : "", name);
    return fopen(path, "r");
}

/* Mount points of control groups, and the group visible there. */
struct mount {
    char root[PATH_MAX], point[PATH_MAX];
};

/* \040 and the like, as the kernel writes blanks in a path. */
static void unescape(char *s) {
    char *to = s;
    for (; *s; s++) {
        if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
            s[3] >= '0' && s[3] <= '7') {
            *to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
            s += 3;
        } else {
            *to++ = *s;
        }
    }
    *to = 0;
}

/* 1 if a list with commas contains the word. */
static int has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (; *list; list += strspn(list, ",\n")) {
        const size_t n = strcspn(list, ",\n");
        if (n == length && !strncmp(list, word, n)) return 1;
        list += n;
    }
    return 0;
}

/* The mount of version 2, or of version 1's controller. */
static int find_mount(const char *root, const char *controller, int wants_second, struct mount *m) {
    FILE *f = groups_open(root, "/proc/self/mountinfo", "");
    if (!f) return 0;
    static const char row[] = "%*s %*s %*s %4095s %4095s"; /* PATH_MAX - 1 */
    char line[3 * PATH_MAX], type[32], options[PATH_MAX];
    int found = 0;
    while (!found && fgets(line, sizeof line, f)) {
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(rest, " - %31s %*s %4095s", type, options) != 2) continue;
        if (strcmp(type, wants_second ? "cgroup2" : "cgroup")) continue;
        if (!wants_second && !has_word(options, controller)) continue;
        found = sscanf(line, row, m->root, m->point) == 2;
    }
    fclose(f);
    unescape(m->root);
    unescape(m->point);
    return found;
}

/* The group `path` and those around it, as far as they are mounted. */
static void go_up(const char *path, const struct mount *m, int is_second,
                  void (*look)(const char *folder, int is_second, void *arg), void *arg) {
    char folder[2 * PATH_MAX];
    const size_t above = strcmp(m->root, "/") ? strlen(m->root) : 0;
    /* a container may see only its own group, under its path outside */
    if (above && (strncmp(path, m->root, above) || (path[above] && path[above] != '/')))
        path = "";
    else
        path += above;
    snprintf(folder, sizeof folder, "%s%s", m->point, strcmp(path, "/") ? path : "");
    for (const size_t top = strlen(m->point); strlen(folder) >= top;) {
        look(folder, is_second, arg);
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder) break;
        *slash = 0;
    }
}

void groups_each(const char *root, const char *controller,
                 void (*look)(const char *folder, int is_second, void *arg), void *arg) {
    FILE *f = groups_open(root, "/proc/self/cgroup", "");
    if (!f) return;
    char line[PATH_MAX + 256];
    while (fgets(line, sizeof line, f)) {
        /* 4:memory:/some/group, or 0::/some/group */
        char *controllers = strchr(line, ':'),
             *path = controllers ? strchr(controllers + 1, ':') : NULL;
        struct mount m;
        if (!path) continue;
        *path++ = 0;
        path[strcspn(path, "\n")] = 0;
        const int is_second = !strcmp(line, "0:");
        if (!is_second && !has_word(controllers + 1, controller)) continue;
        if (find_mount(root, controller, is_second, &m)) go_up(path, &m, is_second, look, arg);
    }
    fclose(f);
}
