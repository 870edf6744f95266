/* Empty tasks on StarPU: prints the seconds a task costs. Run by `evener bench tasks` where StarPU
 * was found. usage: bench-starpu TASKS WORKERS */
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void nothing(void *buffers[], void *arg) { (void)buffers, (void)arg; }

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int submit(struct starpu_codelet *codelet, int tasks) {
    for (int i = 0; i < tasks; i++) {
        struct starpu_task *task = starpu_task_create();
        task->cl = codelet;
        if (starpu_task_submit(task)) return 1;
    }
    starpu_task_wait_for_all();
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int tasks = atoi(argv[1]);
    struct starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = atoi(argv[2]);
    conf.ncuda = conf.nopencl = 0;
    conf.sched_policy_name = "eager";
    if (starpu_init(&conf)) return 3;
    struct starpu_codelet codelet = {.cpu_funcs = {nothing}, .nbuffers = 0};
    if (submit(&codelet, 1000)) return 3; /* warm-up */
    double begin = now();
    if (submit(&codelet, tasks)) return 3;
    printf("%.9e\n", (now() - begin) / tasks);
    starpu_shutdown();
    return 0;
}
