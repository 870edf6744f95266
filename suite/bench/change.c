/* Tasks that come and go beside a loop opened anew: a cube of blocks with six faces each, of which
 * some are replaced in each change. Milliseconds of processor time of the process, over ranks of
 * rank 0's: the loop's change; the exchange's (faces of gone tasks, new ones, the plan); the same
 * opened anew; the ratio. Medians. Units with devices have emulated ones, where all blocks lie.
 * Run: bench-change [BLOCKS_A_SIDE [REPLACED [ROUNDS [UNITS [RANKS]]]]]; 46 100 9 is 97,336 tasks;
 * 2:CPU:1, 2:GPU:1.
 * And what a step costs each rank whose body does nothing: milliseconds of processor time, least
 * and median. Run: bench-change step [TASKS [RANKS [SCHEDULE [ROUNDS]]]]; 1000000 4 auto 101.
 * And on paper what of a step goes through rank 0 (on_paper.h), with 1e3 to 1e5 ranks of 10 to 1e4
 * tasks: the messages of all ranks, bytes that come to rank 0, milliseconds until all go on; the
 * same of a lesson, whose owners come back, and of a step of ranks that know their own tasks alone
 * (evener/distributed.h). Run: bench-change paper [UNITS_A_RANK [LATENCY_US [GB_A_SECOND]]]; 1
 * 2 10. */
#include <evener.h>
#include <evener/change.h>
#include <evener/cluster.h>
#include <evener/exchange.h>
#include <evener/loop.h>
#include <evener/machine.h>
#include <evener/schedule.h>
#include <evener/unit.h>
#include "on_paper.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 2, VALUES = (SIDE + 2) * (SIDE + 2) * (SIDE + 2), ROUNDS = 101 };

static void ok(evn_status status) {
    if (!status) return;
    fprintf(stderr, "bench-change: %s\n", evn_message());
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n) {
    qsort(x, (size_t)n, sizeof *x, by_size);
    return 1e3 * x[n / 2];
}

struct cube {
    int n, tasks, faces, links;
    evn_face *face;
    evn_link *link;
    double *memory;
    void **host;
};

/* The face to block `to` from its neighbour in dimension d, on its low or high side. */
static evn_face make_face(int to, int from, int d, int high) {
    const int step[3] = {(SIDE + 2) * (SIDE + 2), SIDE + 2, 1};
    evn_face f = {.from = from, .to = to};
    f.from_at = f.to_at = 0;
    for (int e = 0; e < 3; e++) {
        f.n[e] = e == d ? 1 : SIDE;
        f.from_stride[e] = f.to_stride[e] = step[e];
        f.from_at += step[e] * (e == d ? (high ? 1 : SIDE) : 1);
        f.to_at += step[e] * (e == d ? (high ? SIDE + 1 : 0) : 1);
    }
    return f;
}

static void make_cube(struct cube *c, int n) {
    *c = (struct cube){.n = n, .tasks = n * n * n};
    c->face = malloc((size_t)c->tasks * 6 * sizeof *c->face);
    c->link = malloc((size_t)c->tasks * 3 * sizeof *c->link);
    c->memory = calloc((size_t)c->tasks * VALUES, sizeof *c->memory);
    c->host = malloc((size_t)c->tasks * sizeof *c->host);
    const int step[3] = {n * n, n, 1};
    for (int t = 0; t < c->tasks; t++) {
        const int at[3] = {t / (n * n), t / n % n, t % n};
        c->host[t] = c->memory + (size_t)t * VALUES;
        for (int d = 0; d < 3; d++)
            for (int high = 0; high < 2; high++) {
                if (high ? at[d] == n - 1 : at[d] == 0) continue;
                const int from = high ? t + step[d] : t - step[d];
                c->face[c->faces++] = make_face(t, from, d, high);
                if (high) c->link[c->links++] = (evn_link){{t, from}, SIDE * SIDE * 8};
            }
    }
}

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch, (void)arg;
    return EVN_OK;
}

/* Every task is kept but some, which come anew under the same number. */
static int make_change(const struct cube *c, int replaced, int *first, int *from, char *kept,
                       evn_face *face, int round) {
    int count = 0;
    for (int t = 0; t < c->tasks; t++) {
        first[t] = from[t] = t;
        kept[t] = 1;
    }
    first[c->tasks] = c->tasks;
    for (int i = 0; i < replaced; i++)
        kept[(int)(((long long)i * c->tasks / replaced + 7919LL * round) % c->tasks)] = 0;
    for (int i = 0; i < c->faces; i++)
        if (!kept[c->face[i].from] || !kept[c->face[i].to]) face[count++] = c->face[i];
    return count;
}

struct bench {
    struct cube c;
    int replaced, rounds, added; /* faces that came in the last change */
    evn_machine *machine;
    evn_cluster *cluster; /* NULL: one process */
    evn_units *units;
    evn_place *place; /* NULL: no devices */
    int *region;
};

/* Every rank has room for all blocks. */
static evn_status make_block(void *arg, int task) {
    (void)arg, (void)task;
    return EVN_OK;
}

static void *memory_of_block(void *arg, int task, int block, size_t *bytes) {
    const struct bench *b = arg;
    (void)block;
    *bytes = VALUES * sizeof(double);
    return b->c.host[task];
}

static void drop_block(void *arg, int task) { (void)arg, (void)task; }

static void open_units(struct bench *b, const char *units, int ranks) {
    char how[40];
    snprintf(how, sizeof how, "processes:%d", ranks);
    if (ranks > 1) ok(evn_cluster_open(&b->cluster, how));
    ok(evn_machine_open(&b->machine));
    ok(evn_units_open(&b->units, b->machine, units, "emulated", EVN_OVERSUBSCRIBE));
    if (b->cluster) ok(evn_cluster_units(b->cluster, b->units, NULL));
    if (!evn_units_about(b->units).gpus) return;
    ok(evn_place_open(&b->place, b->units, 0.5));
    b->region = malloc((size_t)b->c.tasks * sizeof *b->region);
    for (int t = 0; t < b->c.tasks; t++)
        ok(evn_place_add(b->place, b->c.host[t], VALUES * sizeof(double), &b->region[t]));
}

struct opened {
    evn_schedule *schedule;
    evn_loop *loop;
    evn_exchange *x;
};

static void open_loop(struct bench *b, struct opened *o) {
    static const evn_access access = EVN_BOTH;
    static const evn_home home = {
        .blocks = 1, .make = make_block, .memory = memory_of_block, .drop = drop_block};
    const evn_problem p = {.tasks = b->c.tasks,
                           .units = b->cluster ? evn_cluster_about(b->cluster).units
                                               : evn_units_count(b->units),
                           .links = b->c.links,
                           .link = b->c.link};
    ok(evn_schedule_open(&o->schedule, "map", &p));
    ok(evn_loop_open_on(&o->loop, b->units, o->schedule, b->cluster));
    if (b->place) ok(evn_loop_place(o->loop, b->place, 1, b->region, &access));
    if (b->cluster) ok(evn_loop_homes(o->loop, &home, b));
}

static void open_exchange(const struct bench *b, struct opened *o) {
    ok(evn_exchange_open(&o->x, o->loop, sizeof(double), b->c.faces, b->c.face,
                         b->place ? NULL : b->c.host));
}

static void close_loop(const struct opened *o) {
    evn_exchange_close(o->x);
    evn_loop_close(o->loop);
    evn_schedule_close(o->schedule);
}

/* Makes the plan; s that it takes longer than one that holds. */
static double plan(const struct bench *b, evn_exchange *x) {
    const size_t units =
        (size_t)(b->cluster ? evn_cluster_about(b->cluster).units : evn_units_count(b->units));
    double *bytes = malloc(units * units * sizeof *bytes);
    const double begin = now();
    if (evn_exchange_pairs(x, bytes) < 0) ok(EVN_USAGE);
    const double middle = now();
    evn_exchange_pairs(x, bytes);
    free(bytes);
    return 2 * middle - begin - now();
}

/* Seconds of a change, by the loop and by the exchange; and of both opened anew. */
struct times {
    double loop[ROUNDS], exchange[ROUNDS], loop_anew[ROUNDS], exchange_anew[ROUNDS];
};

static void run_round(struct bench *b, struct opened *o, int round, struct times *t) {
    const struct cube *c = &b->c;
    const size_t n = (size_t)c->tasks;
    int *first = malloc((n + 1) * sizeof *first), *from = malloc(n * sizeof *from);
    char *kept = malloc(n);
    evn_face *face = malloc((size_t)c->faces * sizeof *face);
    for (int k = 0; k < 3; k++) ok(evn_loop_run(o->loop, body, NULL));
    plan(b, o->x);
    const int count = b->added = make_change(c, b->replaced, first, from, kept, face, round);
    const evn_change change = {.tasks = c->tasks,
                               .first = first,
                               .from = from,
                               .kept = kept,
                               .links = c->links,
                               .link = c->link,
                               .region = b->region};
    const double begin = now();
    ok(evn_loop_change(o->loop, &change));
    const double middle = now();
    ok(evn_exchange_add(o->x, count, face, b->place ? NULL : c->host));
    t->loop[round] = middle - begin;
    t->exchange[round] = now() - middle;
    t->exchange[round] += plan(b, o->x);
    struct opened anew;
    const double again = now();
    open_loop(b, &anew);
    const double open = now();
    open_exchange(b, &anew);
    t->loop_anew[round] = open - again;
    t->exchange_anew[round] = now() - open;
    t->exchange_anew[round] += plan(b, anew.x);
    close_loop(&anew);
    free(first);
    free(from);
    free(kept);
    free(face);
}

static void print(const struct bench *b, struct times *t, const char *units, int ranks) {
    const int rounds = b->rounds;
    const double change = median(t->loop, rounds), faces = median(t->exchange, rounds);
    const double loop = median(t->loop_anew, rounds), exchange = median(t->exchange_anew, rounds);
    printf("%d tasks, %d faces, %d replaced, %s on %d rank%s; ms, medians of %d\n"
           "changed:     loop %.2f (with its exchanges' part), faces and plan %.2f\n"
           "opened anew: loop %.2f, exchange and plan %.2f\n"
           "opened anew over changed: %.1f; %.2f us for each task and face that came\n",
           b->c.tasks, b->c.faces, b->replaced, units, ranks, ranks > 1 ? "s" : "", rounds, change,
           faces, loop, exchange, (loop + exchange) / (change + faces),
           1e3 * (change + faces) / (b->replaced + b->added));
}

static int usage(void) {
    fprintf(stderr,
            "bench-change: expected [BLOCKS REPLACED ROUNDS UNITS RANKS], 2 to 100 blocks a side, "
            "1 or more replaced, 1 to %d rounds, 1 to 64 ranks of cores; step [TASKS RANKS "
            "SCHEDULE ROUNDS]; or paper [UNITS LATENCY_US GB_A_SECOND], 1 to 10000 units a rank, 0 "
            "to 1e6 us, above 0 GB/s\n",
            ROUNDS);
    return 2;
}

/* A call on paper; `own`: seconds that rank 0 works in it. */
static void print_call(const char *name, const struct on_paper *p, const struct way *way,
                       double own) {
    double messages = 0;
    for (long r = 0; r < (long)p->ranks; r++) messages += paper_sends(p, r).messages;
    printf("%7.0f  %-29s %10.4g %14.4g %13.4g %13.4g\n", p->ranks, name, messages,
           (p->ranks - 1) * (PAPER_UP + p->says), 1e3 * paper_seconds(p, way), 1e3 * own);
}

/* Calls of so many ranks with `units` units each. */
static void print_ranks(double ranks, double units, const struct way *way) {
    const struct on_paper agree = {ranks, 0, 0}, step = {ranks, 8 * units, PAPER_DECISION};
    print_call("step, own tasks alone", &agree, way, PAPER_RECORD_S * ranks);
    print_call("step", &step, way, PAPER_RECORD_S * ranks);
    for (double each = 10; each < 2e4; each *= 10) {
        const double tasks = ranks * each;
        const struct on_paper lesson = {ranks, PAPER_TIME * each,
                                        PAPER_DECISION + PAPER_OWNER * tasks};
        char name[40];
        snprintf(name, sizeof name, "lesson, %.0f tasks a rank", each);
        print_call(name, &lesson, way, PAPER_RECORD_S * ranks + PAPER_TASK_S * tasks);
    }
}

/* Steps on paper. */
static int print_paper(int argc, char **argv) {
    const double units = argc > 2 ? atof(argv[2]) : 1, us = argc > 3 ? atof(argv[3]) : 2;
    const double gigabytes = argc > 4 ? atof(argv[4]) : 10;
    const struct way way = {1e-6 * us, 1e-9 / gigabytes};
    if (!(units >= 1 && units <= 1e4 && us >= 0 && us <= 1e6 && gigabytes > 0 && gigabytes <= 1e6))
        return usage();
    printf("  ranks  call                            messages  bytes to rank 0  ms on the way  ms "
           "of rank 0\n");
    for (double ranks = 1e3; ranks < 2e5; ranks *= 10) print_ranks(ranks, units, &way);
    return 0;
}

/* Steps without work, faces or homes. */
static int measure_steps(int argc, char **argv) {
    const int tasks = argc > 2 ? atoi(argv[2]) : 1000000, ranks = argc > 3 ? atoi(argv[3]) : 4;
    const char *schedule = argc > 4 ? argv[4] : "auto";
    const int rounds = argc > 5 ? atoi(argv[5]) : ROUNDS;
    if (tasks < 1 || ranks < 1 || ranks > 64 || rounds < 1 || rounds > ROUNDS) return usage();
    struct bench b = {0};
    struct opened o;
    double ms[ROUNDS];
    open_units(&b, "1:CPU:1", ranks);
    const evn_problem p = {.tasks = tasks, .units = ranks};
    ok(evn_schedule_open(&o.schedule, schedule, &p));
    ok(evn_loop_open_on(&o.loop, b.units, o.schedule, b.cluster));
    for (int i = 0; i < rounds; i++) {
        const double begin = now();
        ok(evn_loop_run(o.loop, body, NULL));
        ms[i] = now() - begin;
    }
    const double middle = median(ms, rounds);
    printf("%d tasks, %s, rank %d of %d: %.2f and %.2f ms a step\n", tasks, schedule,
           b.cluster ? evn_cluster_rank(b.cluster) : 0, ranks, 1e3 * ms[0], middle);
    evn_loop_close(o.loop);
    evn_schedule_close(o.schedule);
    evn_units_close(b.units);
    evn_machine_close(b.machine);
    if (b.cluster) evn_cluster_close(b.cluster, EVN_OK);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "step")) return measure_steps(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "paper")) return print_paper(argc, argv);
    const int n = argc > 1 ? atoi(argv[1]) : 20, replaced = argc > 2 ? atoi(argv[2]) : 100;
    const int rounds = argc > 3 ? atoi(argv[3]) : 9, ranks = argc > 5 ? atoi(argv[5]) : 1;
    const char *units = argc > 4 ? argv[4] : "2:CPU:1";
    static struct times times;
    if (n < 2 || n > 100 || replaced < 1 || replaced > n * n * n || rounds < 1 || rounds > ROUNDS ||
        ranks < 1 || ranks > 64 || (ranks > 1 && strstr(units, "GPU")))
        return usage();
    struct bench b = {.replaced = replaced, .rounds = rounds};
    make_cube(&b.c, n);
    open_units(&b, units, ranks);
    struct opened o;
    open_loop(&b, &o);
    open_exchange(&b, &o);
    for (int i = 0; i < rounds; i++) run_round(&b, &o, i, &times);
    if (!b.cluster || evn_cluster_rank(b.cluster) == 0) print(&b, &times, units, ranks);
    close_loop(&o);
    evn_place_close(b.place);
    evn_units_close(b.units);
    evn_machine_close(b.machine);
    if (b.cluster) evn_cluster_close(b.cluster, EVN_OK);
    return 0;
}
