/* Tasks that come and go beside a loop opened anew: a cube of blocks with six faces each, of which
 * some are replaced in each change. Milliseconds of the calling thread: the loop's change; the
 * exchange's (faces of gone tasks, new ones, the plan); the same opened anew; the ratio. Medians.
 * Run: bench-change [BLOCKS_A_SIDE [REPLACED [ROUNDS]]]; 46 100 9 is 97,336 tasks. */
#include <evener.h>
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
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
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

int main(int argc, char **argv) {
    const int n = argc > 1 ? atoi(argv[1]) : 20, replaced = argc > 2 ? atoi(argv[2]) : 100;
    const int rounds = argc > 3 ? atoi(argv[3]) : 9;
    double changed[2][ROUNDS], opened[2][ROUNDS];
    if (n < 2 || n > 100 || replaced < 1 || replaced > n * n * n || rounds < 1 || rounds > ROUNDS) {
        fprintf(stderr,
                "bench-change: blocks a side 2 to 100, replaced 1 or more, rounds 1 to %d\n",
                ROUNDS);
        return 2;
    }
    struct cube c;
    make_cube(&c, n);
    int *first = malloc(((size_t)c.tasks + 1) * sizeof *first);
    int *from = malloc((size_t)c.tasks * sizeof *from);
    char *kept = malloc((size_t)c.tasks);
    evn_face *face = malloc((size_t)c.faces * sizeof *face);
    evn_machine *machine;
    evn_units *units;
    evn_schedule *schedule;
    evn_loop *loop;
    evn_exchange *x;
    ok(evn_machine_open(&machine));
    ok(evn_units_open(&units, machine, "2:CPU:1", EVN_OVERSUBSCRIBE));
    const evn_problem p = {.tasks = c.tasks, .units = 2, .links = c.links, .link = c.link};
    ok(evn_schedule_open(&schedule, "map", &p));
    ok(evn_loop_open(&loop, units, schedule));
    ok(evn_exchange_open(&x, loop, sizeof(double), c.faces, c.face, c.host));
    double bytes[4];
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < 3; k++) ok(evn_loop_run(loop, body, NULL));
        evn_exchange_pairs(x, bytes); /* plans */
        const int count = make_change(&c, replaced, first, from, kept, face, i);
        const evn_change change = {.tasks = c.tasks,
                                   .first = first,
                                   .from = from,
                                   .kept = kept,
                                   .links = c.links,
                                   .link = c.link};
        const double begin = now();
        ok(evn_loop_change(loop, &change));
        const double middle = now();
        ok(evn_exchange_add(x, count, face, c.host));
        evn_exchange_pairs(x, bytes);
        changed[0][i] = middle - begin;
        changed[1][i] = now() - middle;
        evn_schedule *other;
        evn_loop *anew;
        evn_exchange *y;
        const double again = now();
        ok(evn_schedule_open(&other, "map", &p));
        ok(evn_loop_open(&anew, units, other));
        opened[0][i] = now() - again;
        ok(evn_exchange_open(&y, anew, sizeof(double), c.faces, c.face, c.host));
        evn_exchange_pairs(y, bytes);
        opened[1][i] = now() - again - opened[0][i];
        evn_exchange_close(y);
        evn_loop_close(anew);
        evn_schedule_close(other);
    }
    const double a = median(changed[0], rounds), b = median(changed[1], rounds);
    const double d = median(opened[0], rounds), e = median(opened[1], rounds);
    printf("%d tasks, %d faces, %d replaced; ms, medians of %d\n"
           "changed:     loop %.2f (with its exchanges' part), faces and plan %.2f\n"
           "opened anew: loop %.2f, exchange and plan %.2f\n"
           "opened anew over changed: %.1f\n",
           c.tasks, c.faces, replaced, rounds, a, b, d, e, (d + e) / (a + b));
    evn_exchange_close(x);
    evn_loop_close(loop);
    evn_schedule_close(schedule);
    evn_units_close(units);
    evn_machine_close(machine);
    return 0;
}
