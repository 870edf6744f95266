/* StarPU: a task for each, without data, and a wait for all in each step. Modes are names of its
 * schedulers: lws, eager, ws, dmda. What it keeps of the machine goes to a temporary folder instead
 * of the user's home, and does not outlive the program, however that ends. */
#include "work.h"
#include <ftw.h>
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static work w;

struct call {
    int step, task;
};

static void run(void *buffers[], void *arg) {
    const struct call *c = arg;
    (void)buffers;
    w.task(&w, c->step, c->task);
}

static struct starpu_codelet codelet = {.cpu_funcs = {run}, .nbuffers = 0};

static int step(int s, struct call *call) {
    for (int t = 0; t < w.tasks; t++) {
        struct starpu_task *task = starpu_task_create();
        call[t] = (struct call){s, t};
        task->cl = &codelet;
        task->cl_arg = &call[t];
        task->cl_arg_size = sizeof call[t];
        if (starpu_task_submit(task)) return 1;
    }
    return starpu_task_wait_for_all();
}

static int remove_one(const char *path, const struct stat *is, int kind, struct FTW *at) {
    (void)is, (void)kind, (void)at;
    return remove(path);
}

/* In the remover: makes the folder, says its path, and removes it when nobody has the other end of
 * `life` any more, even after SIGKILL. It is of a group of its own, so that it is not killed with
 * the program's, and there is no folder before that. */
static _Noreturn void keep_home(int life, int say) {
    const char *temporary = getenv("TMPDIR");
    char path[4096] = "", none;
    setpgid(0, 0);
    snprintf(path, sizeof path, "%s/starpu-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(path)) _exit(1);
    if (write(say, path, sizeof path) == sizeof path)
        while (read(life, &none, 1) > 0) {
        }
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    _exit(0);
}

/* The folder is there and StarPU is told of it: 0; else -1. */
static int open_home(void) {
    char path[4096];
    int life[2], said[2];
    if (pipe(life) || pipe(said)) return -1;
    const pid_t remover = fork();
    if (remover < 0) return -1;
    if (!remover) {
        close(life[1]);
        close(said[0]);
        keep_home(life[0], said[1]);
    }
    close(life[0]);
    close(said[1]);
    const ssize_t n = read(said[0], path, sizeof path); /* at most PIPE_BUF bytes: whole or none */
    close(said[0]);
    if (n != sizeof path) return -1;
    setenv("STARPU_HOME", path, 1);
    setenv("STARPU_PERF_MODEL_DIR", path, 1);
    setenv("XDG_CACHE_HOME", path, 1);
    return 0;
}

int main(int argc, char **argv) {
    work_prepare(&w, argc, argv);
    struct call *call = malloc((size_t)w.tasks * sizeof *call);
    struct starpu_conf conf;
    starpu_conf_init(&conf);
    if (work_threads()) conf.ncpus = work_threads();
    conf.ncuda = conf.nopencl = 0;
    conf.sched_policy_name = w.mode;
    if (!call || open_home() || starpu_init(&conf)) return 3;
    for (int s = 0; s < w.warm + w.steps; s++) {
        if (s == w.warm) work_begin();
        if (step(s, call)) return 3;
    }
    work_end();
    starpu_shutdown();
    work_print(&w);
    free(call);
    return 0;
}
