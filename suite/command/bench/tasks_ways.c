/* The list of ways: OpenMP of the compiler that made the command is in the command itself; programs
 * of other runtimes are in the folder peers beside it, where they were built (suite/bench/peers).
 */
#include "bench/tasks_ways.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __clang__
#    define HERE  "clang"
#    define OTHER "gcc"
#else
#    define HERE  "gcc"
#    define OTHER "clang"
#endif

struct list {
    struct way *way;
    int count;
};

static struct way *add(struct list *l, const char *name, const char *mode) {
    struct way *w = &l->way[l->count++];
    w->ours = w->steps = w->wrong = 0;
    w->built_in = w->variable[0] = w->variable[1] = NULL;
    w->mode = mode;
    *w->program = 0;
    snprintf(w->name, sizeof w->name, "%s", name);
    return w;
}

/* A program of the folder peers beside the command; 0: it is not there. */
static int find(char *path, size_t room, const char *program) {
    const ssize_t n = readlink("/proc/self/exe", path, room - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    char *slash = strrchr(path, '/');
    if (!slash) return 0;
    const size_t left = room - (size_t)(slash - path);
    return (size_t)snprintf(slash, left, "/peers/%s", program) < left && !access(path, X_OK);
}

static void add_ours(struct list *l, const char *schedule, const char *mode) {
    char name[64];
    snprintf(name, sizeof name, "evener %s", schedule);
    struct way *w = add(l, name, mode);
    w->ours = 1;
    w->built_in = "evener";
    w->variable[0] = "EVENER_SCHEDULE";
    w->variable[1] = schedule;
}

/* OpenMP's loops and tasks, waiting in both ways. `path` NULL: those of the command itself. */
static void add_openmp(struct list *l, const char *maker, const char *path) {
    static const char *const policy[] = {"passive", "active"};
    static const struct {
        const char *mode, *name;
    } loop[] = {{"dynamic", "schedule(dynamic,1)"},
                {"static", "schedule(static)"},
                {"taskloop", "taskloop"}};
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < 3; i++) {
            char name[64];
            snprintf(name, sizeof name, "%s OpenMP %s, %s", maker, loop[i].name, policy[p]);
            struct way *w = add(l, name, loop[i].mode);
            w->built_in = path ? NULL : "openmp";
            if (path) snprintf(w->program, sizeof w->program, "%s", path);
            w->variable[0] = "OMP_WAIT_POLICY";
            w->variable[1] = policy[p];
        }
}

static void add_peer(struct list *l, const char *path, const char *name, const char *mode) {
    struct way *w = add(l, name, mode);
    snprintf(w->program, sizeof w->program, "%s", path);
}

int ways_list(struct way *way, const char *mode) {
    struct list l = {way, 0};
    char path[4096];
    add_ours(&l, "auto", mode);
    add_ours(&l, "static", mode);
    add_ours(&l, "dynamic", mode);
    add(&l, "one thread", "plain")->built_in = "serial";
    add_openmp(&l, HERE, NULL);
    if (find(path, sizeof path, "openmp-" OTHER)) add_openmp(&l, OTHER, path);
    if (find(path, sizeof path, "tbb")) {
        add_peer(&l, path, "TBB auto_partitioner", "auto");
        add_peer(&l, path, "TBB affinity_partitioner", "affinity");
    }
    if (find(path, sizeof path, "starpu")) {
        add_peer(&l, path, "StarPU lws, no data", "lws");
        add_peer(&l, path, "StarPU eager, no data", "eager");
    }
    return l.count;
}
