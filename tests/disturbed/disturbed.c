/* Many short steps of a loop while something disturbs the program's threads; test_disturbed.py runs
 * it. usage: disturbed pull|share|places STEPS quiet|signals|forks|cores|idle
 *
 * pull: tasks read their neighbours' blocks. share: on all cores of a unit each. places: with
 * regions and an exchange, on devices and over ranks, too.
 *
 * It prints a hash of the result. With `idle` it prints how much processor time the process takes
 * between two steps instead, the least of several tries. */
#include "pipe.h"
#include <evener.h>
#include <evener/program.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRY(call)                                                                                  \
    if (call) exit(evn_complain("disturbed"))
enum { BLOCKS = 24, MAX = 62 * BLOCKS * ROW, THREADS = 64 };

static double block[2][MAX], *mine[2][BLOCKS];
extern const evn_kernel_source pipe_kernels;
static int pulls, shares;

/* ---- steps --------------------------------------------------------------------------------- */

/* The rows beside a block's own, from its neighbours. */
static void pull(int t, int f) {
    const size_t bytes = ROW * sizeof(double);
    if (t > 0) memcpy(mine[f][t], &mine[f][t - 1][ROWS(t - 1) * ROW], bytes);
    if (t + 1 < BLOCKS) memcpy(&mine[f][t][(ROWS(t) + 1) * ROW], &mine[f][t + 1][ROW], bytes);
}

static void move(const double *u, double *v, int rows) {
    for (int at = ROW; at < (rows + 1) * ROW; at++) v[at] = MOVED(u, at);
}

static void share(const evn_subteam *by, int t, void *from) {
    const int u = *(int *)from;
    if (by->core) return;
    pull(t, u);
    move(mine[u][t], mine[1 - u][t], ROWS(t));
}

static evn_status body(evn_unit *unit, evn_batch *batch, void *from) {
    int u = *(int *)from, count;
    if (shares) return evn_batch_share(batch, NULL, 0, share, from);
    evn_batch_tasks(batch, &count);
    evn_argument argument[] = {{.buffer = evn_batch_buffer(batch)},
                               {.buffer = evn_batch_table(batch)},
                               {.value = &u, .bytes = sizeof u}};
    if (evn_unit_is_gpu(unit))
        return evn_batch_launch(batch, &pipe_kernels, "pipe_step", count, argument, 3);
    for (int t; (t = evn_batch_next(batch)) >= 0;) {
        if (pulls) pull(t, u);
        double *const here = pulls ? mine[u][t] : evn_batch_host(batch, t, u);
        move(here, pulls ? mine[1 - u][t] : evn_batch_host(batch, t, 1 - u), ROWS(t));
    }
    return EVN_OK;
}

/* A session with its loop. */
struct run {
    evn_session *session;
    evn_loop *loop;
    evn_place *place; /* NULL: pull */
    evn_exchange *exchange[2];
};

static void place(struct run *r) {
    evn_face face[2][2 * BLOCKS];
    evn_access both[] = {EVN_BOTH, EVN_BOTH};
    int region[BLOCKS][2];
    TRY(evn_place_open(&r->place, evn_session_units(r->session), 0.5));
    for (int i = 0; i < 2 * BLOCKS; i++) {
        int t = i / 2, f = i % 2, end = ROWS(t) * ROW;
        TRY(evn_place_add(r->place, mine[f][t], BYTES(t), &region[t][f]));
        evn_face *to = &face[f][2 * t];
        to[0] = (evn_face){
            t, t + 1, end, 0, {1, 1, 1}, {1, 1, 1}, {1, 1, ROW}, .from_region = f, .to_region = f};
        to[1] = (evn_face){t + 1,         t,         ROW,         end + ROW,
                           {1, 1, 1},     {1, 1, 1}, {1, 1, ROW}, .from_region = f,
                           .to_region = f};
    }
    TRY(evn_session_place(r->session, r->loop, r->place, 2, region[0], both));
    for (int f = 0; f < 2; f++)
        TRY(evn_exchange_open(&r->exchange[f], r->loop, 8, 2 * BLOCKS - 2, face[f], NULL));
}

static void begin(struct run *r, int steps) {
    double weight[BLOCKS];
    for (int t = 0; t < BLOCKS; t++) weight[t] = ROWS(t);
    evn_problem problem = {.tasks = BLOCKS, .weight = weight, .instances = steps};
    TRY(evn_open(&r->session, NULL, NULL, EVN_OVER_RANKS));
    TRY(evn_open_loop(&r->loop, r->session, NULL, &problem));
    if (!pulls) place(r);
}

static void step(struct run *r, int *from) {
    TRY(evn_loop_run(r->loop, body, from));
    if (!pulls) TRY(evn_exchange_run(r->exchange[1 - *from]));
    *from = 1 - *from;
}

static void end(struct run *r) {
    if (!pulls) {
        TRY(evn_session_collect(r->session, r->loop));
        for (int f = 0; f < 2; f++) evn_exchange_close(r->exchange[f]);
        evn_place_close(r->place);
    }
    TRY(evn_close(r->session));
}

static unsigned long long hash(int from) {
    unsigned long long h = 14695981039346656037u;
    for (int t = 0; t < BLOCKS; t++)
        for (int i = ROW; i < (ROWS(t) + 1) * ROW; i++) {
            unsigned long long bits;
            memcpy(&bits, &mine[from][t][i], sizeof bits);
            h = (h ^ bits) * 1099511628211u;
        }
    return h;
}

/* ---- disturbances -------------------------------------------------------------------------- */

static atomic_int over;
static unsigned dice = 1;

static int throw(int sides) {
    dice = dice * 1664525u + 1013904223u;
    return (int)((dice >> 16) % (unsigned)sides);
}

static void doze(long us) { nanosleep(&(struct timespec){0, us * 1000}, NULL); }

/* A thread stops for a moment wherever it is. */
static void stop_here(int signal) {
    const int error = errno;
    doze(signal == SIGUSR1 ? 20 : 400);
    errno = error;
}

static int threads(pid_t *out) {
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *e; folder && (e = readdir(folder));)
        if (e->d_name[0] != '.' && count < THREADS) out[count++] = atoi(e->d_name);
    if (folder) closedir(folder);
    return count;
}

static void signal_one(void) {
    pid_t all[THREADS];
    const int count = threads(all);
    for (int i = 0; i < 8 && count; i++) {
        syscall(SYS_tgkill, getpid(), all[throw(count)], throw(2) ? SIGUSR1 : SIGUSR2);
        doze(50);
    }
}

/* All threads on one core, as a control group would have it, and back. */
static void take_core_away(const cpu_set_t *may) {
    pid_t all[THREADS];
    cpu_set_t one;
    int core = throw(CPU_COUNT(may)), count = threads(all);
    CPU_ZERO(&one);
    for (int c = 0; c < CPU_SETSIZE; c++)
        if (CPU_ISSET(c, may) && !core--) CPU_SET(c, &one);
    for (int i = 0; i < count; i++) sched_setaffinity(all[i], sizeof one, &one);
    doze(20000);
    for (int i = 0; i < count; i++) sched_setaffinity(all[i], sizeof *may, may);
    doze(5000);
}

static _Noreturn void be_child(int kind) {
    if (kind == 0) _exit(0);
    if (kind == 1) execlp("true", "true", (char *)NULL);
    struct run r = {0};
    int from = 0;
    if (kind == 2) begin(&r, 20);
    for (int i = 0; kind == 2 && i < 20; i++) step(&r, &from);
    if (kind == 2) end(&r);
    _exit(kind == 2 ? 0 : 1);
}

static void fork_one(void) {
    int status = 1;
    const int kind = throw(3);
    const pid_t child = fork();
    if (!child) be_child(kind);
    if (child < 0 || waitpid(child, &status, 0) != child || status) {
        fprintf(stderr, "disturbed: a child of kind %d has ended with %d\n", kind, status);
        _exit(1);
    }
    doze(2000);
}

static void *disturb(void *how) {
    cpu_set_t may;
    sched_getaffinity(0, sizeof may, &may);
    while (!atomic_load(&over)) {
        if (!strcmp(how, "signals")) signal_one();
        if (!strcmp(how, "forks")) fork_one();
        if (!strcmp(how, "cores")) take_core_away(&may);
    }
    return NULL;
}

/* ---- idleness ------------------------------------------------------------------------------ */

static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor time of the process while it waits 0.3 s between steps. What is spun for a moment after
 * a step may come late on a busy machine, so the least of several waits counts: a thread that spins
 * or asks again and again is seen in each. */
static double idle(struct run *r, int *from) {
    double least = 1;
    for (int i = 0; i < 20 && least > 0.001; i++) {
        for (int s = 0; s < 10; s++) step(r, from);
        doze(20000);
        const double before = processor_time();
        doze(300000);
        const double used = processor_time() - before;
        if (used < least) least = used;
    }
    return least;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    const char *how = argv[3];
    const int steps = atoi(argv[2]), disturbs = strcmp(how, "quiet");
    pthread_t other;
    struct run r = {0};
    shares = !strcmp(argv[1], "share");
    pulls = shares || !strcmp(argv[1], "pull");
    int from = 0, top = 0;
    for (int t = 0; t < BLOCKS; top += ROWS(t++) + 2)
        for (int f = 0; f < 2; f++) {
            mine[f][t] = &block[f][top * ROW];
            for (int i = 0; i < (ROWS(t) + 2) * ROW; i++) mine[f][t][i] = (top * ROW + i) % 11;
        }
    for (int t = 0; t < BLOCKS; t++) pull(t, 0), pull(t, 1);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = stop_here, .sa_flags = SA_RESTART}, NULL);
    sigaction(SIGUSR2, &(struct sigaction){.sa_handler = stop_here}, NULL);
    begin(&r, steps);
    if (!strcmp(how, "idle")) {
        step(&r, &from);
        const double used = idle(&r, &from);
        printf("%.6f\n", used); /* of each rank */
        end(&r);
        return 0;
    }
    if (disturbs) pthread_create(&other, NULL, disturb, (void *)how);
    for (int s = 0; s < steps; s++) step(&r, &from);
    atomic_store(&over, 1);
    if (disturbs) pthread_join(other, NULL);
    const int rank = evn_session_rank(r.session);
    end(&r);
    if (!rank) printf("%016llx\n", hash(from));
    return 0;
}
