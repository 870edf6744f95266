/* evener bench schedules --planning: seconds of a plan under every schedule. */
#include "bench/bench_schedules.h"
#include "common/cli/message.h"
#include "common/run/free_all.h"
#include <stdio.h>
#include <stdlib.h>

/* A square of tasks, each linked to its neighbours, on units of speeds from 1 to 11. */
static int make_problem(evn_problem *p, int tasks, int units) {
    *p = (evn_problem){.tasks = tasks, .units = units, .bandwidth = 1e3, .instances = 100};
    double *weight = malloc(sizeof *weight * (size_t)tasks);
    double *speed = malloc(sizeof *speed * (size_t)units);
    evn_link *link = malloc(sizeof *link * 2 * (size_t)tasks);
    p->weight = weight;
    p->speed = speed;
    p->link = link;
    if (!weight || !speed || !link) return EXIT_FAILED;
    int side = 1;
    while ((long)side * side < tasks) side++;
    unsigned long long seed = 1;
    for (int t = 0; t < tasks; t++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        weight[t] = 1 + (double)((seed >> 33) % 20);
        if (t % side != side - 1 && t + 1 < tasks) link[p->links++] = (evn_link){{t, t + 1}, 100};
        if (t + side < tasks) link[p->links++] = (evn_link){{t, t + side}, 100};
    }
    for (int u = 0; u < units; u++) speed[u] = 1 + (double)(u * 7919 % 1000) / 100;
    return 0;
}

int bench_planning(int tasks, int units, double max) {
    static const char *const specs[] = {
        "static",        "dynamic", "dynamic:memorize=0", "guided:size", "guided:time", "weighted",
        "weighted:size", "binpack", "interval",           "map",         "auto"};
    evn_problem p;
    int *owner = malloc(sizeof *owner * (size_t)tasks), late = 0;
    double *seconds = malloc(sizeof *seconds * (size_t)tasks);
    int code = make_problem(&p, tasks, units);
    if (!owner || !seconds) code = EXIT_FAILED;
    if (code) complain("not enough memory for %d tasks on %d units", tasks, units);
    if (!code)
        printf("%d tasks in a grid on %d units of unequal speed, seconds\n%-20s  %9s  %9s  %9s\n",
               tasks, units, "schedule", "plan", "instance", "learn");
    for (size_t i = 0; !code && i < sizeof specs / sizeof *specs; i++) {
        evn_schedule *s;
        const double begin = evn_now();
        evn_status status = evn_schedule_open(&s, specs[i], &p);
        const double planned = evn_now();
        if (!status) status = evn_schedule_simulate(s, owner, seconds);
        const double simulated = evn_now();
        if (!status) status = evn_schedule_learn(s, owner, seconds);
        const double learnt = evn_now();
        if (status) {
            code = give_up(status);
            break;
        }
        evn_schedule_close(s);
        const int long_ = planned - begin >= max || learnt - simulated >= max;
        printf("%-20s  %9.3f  %9.3f  %9.3f%s\n", specs[i], planned - begin, simulated - planned,
               learnt - simulated, long_ ? "  TOO LONG" : "");
        fflush(stdout);
        late |= long_;
    }
    free_all((void *)p.weight, (void *)p.speed, (void *)p.link, owner, seconds);
    return code ? code : late;
}
