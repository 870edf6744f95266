/* Directives as evener-cc writes them, run: each case prints what came of it, the same for every
 * list of units, schedule and compiler. `cases NAME`; test_cu.py runs them. */
#include "directive.h"
#include <evener/change.h>
#include <omp_cu.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 37 };

/* ---- loops --------------------------------------------------------------------------------- */

/* A sum and a maximum, each iteration's copy of its own, combined in order. */
static void sum_of(int n, double *sum, double *most) {
    SITE(site, "runtime");
    LIST(units, {1, EVN_CU_GPU, 1}, {2, EVN_CU_CPU, 2});
    double total = *sum, largest = *most;
    const evn_cu_int trips = evn_cu_trips(&site, 0, n, 1, EVN_CU_LESS);
    double *weight = evn_cu_weights(&site, trips);
    for (int t = 0; t < n; t++) weight[t] = t % 5 + 1;
    double *part0 = evn_cu_parts(&site, 0, sizeof *part0, trips);
    double *part1 = evn_cu_parts(&site, 1, sizeof *part1, trips);
    if (evn_cu_enter(&site, units, COUNT(units), 0, trips))
#pragma omp parallel firstprivate(part0, part1)
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) {
            double total = 0, largest = -1;
            for (int k = 1; k < 200; k++) {
                total += 1.0 / ((double)t * 3 + k) / 7;
                largest = fmax(largest, sin((double)t * k));
            }
            part0[t] = total;
            part1[t] = largest;
        }
    for (evn_cu_int t = 0; t < trips; t++) total = total + part0[t];
    for (evn_cu_int t = 0; t < trips; t++) largest = largest < part1[t] ? part1[t] : largest;
    *sum = total;
    *most = largest;
}

static int reduce(void) {
    double sum = 1, most = -2;
    for (int step = 0; step < 6; step++) sum_of(N, &sum, &most);
    for (int n = 1; n < 14; n++) sum_of(n, &sum, &most); /* more loops than are kept */
    sum_of(0, &sum, &most);
    printf("%a %a\n", sum, most);
    return 0;
}

/* private, firstprivate, lastprivate; a captured array of variable length, an unnamed struct and
 * float by value; more variables than an ordinary call hands on. */
static double many(int n, double a, float b) {
    SITE(site, "dynamic");
    LIST(units, {3, EVN_CU_CPU, 1});
    double grid[n + 1][3], note = -1, last = -1, scale = 2;
    struct {
        int x, y;
    } pair = {3, 4};
    double c = 1, d = 2, e = 3, f = 4, g = 5, h = 6, i = 7, j = 8, k = 9, l = 10, m = 11;
    const evn_cu_int trips = evn_cu_trips(&site, 0, n, 1, EVN_CU_LESS);
    double *last_part = evn_cu_parts(&site, 0, sizeof last, trips);
    evn_cu_option(&site, "chunk", 2);
    if (evn_cu_enter(&site, units, COUNT(units), 0, trips))
#pragma omp parallel private(note) firstprivate(scale, last_part, a, b) default(shared)
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) {
            double last;
            note = (double)t * scale;
            for (int x = 0; x < 3; x++) grid[t][x] = note + a + (double)b + pair.x * x + pair.y;
            last = c + d + e + f + g + h + i + j + k + l + m + (double)t;
            last_part[t] = last;
        }
    if (trips > 0) last = last_part[trips - 1];
    double sum = note + last;
    for (int t = 0; t < n; t++)
        for (int x = 0; x < 3; x++) sum += grid[t][x] * (x + 1);
    return sum;
}

static int variables(void) {
    printf("%.17g %.17g\n", many(N, 0.25, 0.5F), many(0, 1, 1));
    return 0;
}

/* Inner regions have the unit's cores, outer ones what they had; a region with 20 variables. */
static int regions(void) {
    SITE(site, "static");
    LIST(units, {1, EVN_CU_CPU, 3}, {1, EVN_CU_CPU, 2});
    int inner[2] = {0}, asked[2] = {0}, here[2] = {0}, after = 0, wide = 0;
    int v[20] = {0}, *a = &v[0], *b = &v[1], *c = &v[2], *d = &v[3], *e = &v[4], *f = &v[5];
    int *g = &v[6], *h = &v[7], *i = &v[8], *j = &v[9], *k = &v[10], *l = &v[11], *m = &v[12];
    int *n = &v[13], *o = &v[14], *p = &v[15], *q = &v[16], *r = &v[17];
    omp_set_num_threads(4);
    for (int step = 0; step < 3; step++) {
        const evn_cu_int trips = evn_cu_trips(&site, 0, 2, 1, EVN_CU_LESS);
        if (evn_cu_enter(&site, units, COUNT(units), 0, trips))
#pragma omp parallel
            for (evn_cu_int t; (t = evn_cu_next()) >= 0;) {
                asked[t] += omp_get_num_threads(); /* the unit's cores */
                here[t] += (int)omp_get_cu_num() + 10 * omp_get_num_teams();
#pragma omp parallel
                {
#pragma omp atomic
                    inner[t]++;
                }
            }
#pragma omp parallel
#pragma omp atomic
        after++;
#pragma omp parallel reduction(+ : wide)
        {
            wide += 1 + *a + *b + *c + *d + *e + *f + *g + *h + *i + *j + *k + *l + *m + *n + *o;
            wide += *p + *q + *r;
        }
    }
    printf("inner %d %d asked %d %d here %d %d after %d wide %d of %d\n", inner[0], inner[1],
           asked[0], asked[1], here[0], here[1], after, wide, omp_get_max_threads());
    return 0;
}

/* ---- teams --------------------------------------------------------------------------------- */

/* A distribute in a function of its own: shared out in a teams block, by OpenMP's teams, or whole.
 */
static void orphan(int *runs, int n) {
    SITE(site, "static");
    const evn_cu_int trips = evn_cu_trips(&site, 0, n, 1, EVN_CU_LESS);
    if (evn_cu_distribute(&site, trips))
#pragma omp parallel
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) {
#pragma omp atomic
            runs[t]++;
        }
}

/* Two distributes with variables of the team, and a reduction of the block. */
static int teams(void) {
    SITE(site, "static");
    LIST(units, {1, EVN_CU_CPU, 2}, {2, EVN_CU_CPU, 1});
    int first[N] = {0}, second[N] = {0}, third[N] = {0}, whole[N] = {0};
    int standard[N + 1] = {0};
    int count = 0, wrong = 0;
    for (int step = 0; step < 4; step++) {
        const int n = evn_cu_teams(&site, units, COUNT(units), 0);
        int *part = evn_cu_parts(&site, 0, sizeof *part, n);
#pragma omp parallel firstprivate(part)
        {
            int mine = 0; /* the team's */
            static evn_cu_site one = EVN_CU_SITE("cases.c", 1, "dynamic");
            const evn_cu_int trips = evn_cu_trips(&one, 0, N, 1, EVN_CU_LESS);
            evn_cu_option(&one, "chunk", 2);
            if (evn_cu_distribute(&one, trips))
#pragma omp parallel
                for (evn_cu_int t; (t = evn_cu_next()) >= 0;) {
                    mine++;
                    first[t]++;
                }
            static evn_cu_site two = EVN_CU_SITE("cases.c", 2, "guided:time");
            const evn_cu_int more = evn_cu_trips(&two, 0, N, 1, EVN_CU_LESS);
            double *weight = evn_cu_weights(&two, more);
            for (int t = 0; t < N; t++) weight[t] = 1 + t;
            if (evn_cu_distribute(&two, more))
#pragma omp parallel
                for (evn_cu_int t; (t = evn_cu_next()) >= 0;) {
                    mine++;
                    second[t] += first[t]; /* all have done the first */
                }
            orphan(third, N);
            part[evn_cu_team()] = mine;
        }
        for (int u = 0; u < n; u++) count += part[u];
    }
    orphan(whole, N);
    int teams = 0;
#pragma omp teams num_teams(2) reduction(+ : teams)
    {
        teams = 1;
        orphan(standard, N);
    }
    for (int t = 0; t < N; t++)
        wrong +=
            first[t] != 4 || second[t] != 10 || third[t] != 4 || whole[t] != 1 || standard[t] != 1;
    wrong += standard[N];
    printf("%d wrong, %d, teams %d\n", wrong, count, teams > 0);
    return wrong != 0;
}

/* Other options and numbers of iterations have a loop of their own, other weights have not; the
 * units' cores are limited. */
static int kept(void) {
    static evn_cu_site site = EVN_CU_SITE("kept.c", 7, "dynamic");
    LIST(units, {2, EVN_CU_CPU, 4});
    const evn_loop *loop[6];
    int cores = 0;
    if (evn_cu_loop("kept.c", 7)) return 1; /* has not run */
    for (int step = 0; step < 6; step++) {
        const evn_cu_int trips = evn_cu_trips(&site, 0, step == 4 ? 5 : 9, 1, EVN_CU_LESS);
        double *weight = evn_cu_weights(&site, trips);
        for (int t = 0; t < trips; t++) weight[t] = step == 2 ? 1 : t;
        evn_cu_option(&site, "chunk", step == 3 ? 2 : 1);
        if (evn_cu_enter(&site, units, COUNT(units), 3, trips))
#pragma omp parallel
            for (evn_cu_int t; (t = evn_cu_next()) >= 0;) {
                if (!t) cores = omp_get_num_threads();
            }
        loop[step] = evn_cu_loop("kept.c", 7);
    }
    printf("%d cores, loops", cores);
    for (int step = 0; step < 6; step++) {
        int first = 0;
        while (loop[first] != loop[step]) first++;
        printf(" %d", first);
    }
    printf("\n");
    return 0;
}

/* Weights that are others in each instance, also within a teams block: one loop each. */
static void atoms(evn_cu_site *site, int step, int within, int *runs) {
    LIST(units, {2, EVN_CU_CPU, 1});
    enum { CELLS_OF = 40 };
    const evn_cu_int trips = evn_cu_trips(site, 0, CELLS_OF, 1, EVN_CU_LESS);
    double *weight = evn_cu_weights(site, trips);
    for (int t = 0; t < CELLS_OF; t++) weight[t] = 1 + (t * step) % 17;
    if (within ? evn_cu_distribute(site, trips) : evn_cu_enter(site, units, COUNT(units), 0, trips))
#pragma omp parallel
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) runs[t]++;
}

static int weights(void) {
    static evn_cu_site one = EVN_CU_SITE("weights.c", 1, "auto");
    static evn_cu_site block = EVN_CU_SITE("weights.c", 2, "");
    static evn_cu_site two = EVN_CU_SITE("weights.c", 3, "map");
    LIST(units, {2, EVN_CU_CPU, 1});
    const evn_loop *loop[2] = {0};
    int runs[2][40] = {{0}}, changes = 0, wrong = 0;
    for (int step = 0; step < 60; step++) {
        atoms(&one, step, 0, runs[0]);
        if (evn_cu_teams(&block, units, COUNT(units), 0))
#pragma omp parallel
            atoms(&two, step, 1, runs[1]);
        for (int i = 0; i < 2; i++) {
            const evn_loop *now = evn_cu_loop("weights.c", 1 + 2 * i);
            changes += loop[i] != now;
            loop[i] = now;
        }
    }
    for (int t = 0; t < 40; t++) wrong += runs[0][t] != 60 || runs[1][t] != 60;
    printf("%d wrong, %d loops\n", wrong, changes);
    return wrong != 0;
}

/* Iterations that come and go by their keys, in any order: one loop, which knows those that stay.
 * In each third step they are as before. */
static int keys(void) {
    enum { STEPS = 30, IDS = 90, WINDOW = 40 };
    static evn_cu_site site = EVN_CU_SITE("keys.c", 1, "map");
    LIST(units, {2, EVN_CU_CPU, 1});
    int runs[IDS] = {0}, due[IDS] = {0}, loops = 0, wrong = 0, kept = 0, born = 0, gone = 0;
    const evn_loop *before = NULL;
    for (int step = 0; step < STEPS; step++) {
        const int from = step - step % 3, count = WINDOW + from % 7;
        const evn_cu_int trips = evn_cu_trips(&site, 0, count, 1, EVN_CU_LESS);
        double *weight = evn_cu_weights(&site, trips);
        evn_cu_int *key = evn_cu_keys(&site, trips), of[IDS];
        for (int t = 0; t < count; t++) {
            const int id = from + (from % 2 ? count - 1 - t : t);
            weight[t] = 1 + id % 5;
            of[t] = id;
            key[t] = id - 1000000000000; /* negative and large ones are as good */
            due[id]++;
        }
        if (evn_cu_enter(&site, units, COUNT(units), 0, trips))
#pragma omp parallel
            for (evn_cu_int t; (t = evn_cu_next()) >= 0;) runs[of[t]]++;
        const evn_loop *loop = evn_cu_loop("keys.c", 1);
        loops += loop != before;
        before = loop;
    }
    for (int i = 0; i < evn_loop_about(before).generation; i++) {
        const evn_changed c = evn_loop_changed(before, i);
        kept += c.kept;
        born += c.born;
        gone += c.gone;
    }
    for (int id = 0; id < IDS; id++) wrong += runs[id] != due[id];
    printf("%d wrong, %d loops, %d changes: %d kept, %d born, %d gone\n", wrong, loops,
           evn_loop_about(before).generation, kept, born, gone);
    return wrong != 0;
}

/* ---- data ---------------------------------------------------------------------------------- */

enum { BLOCKS = 12, CELLS = 1000 };

extern const evn_kernel_source cu_kernels;

/* The same on cores and on a device, where a region is moved to and stays until it is asked for. */
static void grow(double *block, double by) {
    int n = CELLS;
    omp_migrate(block);
    if (omp_is_gpu()) {
        omp_cu_launch(&cu_kernels, "grow", (CELLS + 127) / 128, OMP_CU_MEMORY(block),
                      OMP_CU_VALUE(by), OMP_CU_VALUE(n));
        return;
    }
#pragma omp parallel for
    for (int i = 0; i < n; i++) block[i] = block[i] * 0.5 + by * i;
}

static void grow_batch(const evn_cu_int *iteration, int count);
static double *blocks[BLOCKS];

static void step_of(int batch, int step) {
    SITE(site, "runtime");
    LIST(units, {1, EVN_CU_CPU, 2}, {2, EVN_CU_GPU, 1});
    const evn_cu_int trips = evn_cu_trips(&site, BLOCKS - 1, 0, -1, EVN_CU_MORE_EQUAL);
    evn_cu_speed(&site, EVN_CU_CPU, 1);
    evn_cu_speed(&site, EVN_CU_GPU, 2);
    if (batch) evn_cu_batch(&site, grow_batch);
    if (evn_cu_enter(&site, units, COUNT(units), 0, trips))
#pragma omp parallel firstprivate(step)
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) {
            const int b = (int)(BLOCKS - 1 - t);
            grow(blocks[b], b + (batch ? 0 : step));
        }
}

static void grow_batch(const evn_cu_int *iteration, int count) {
    for (int i = 0; i < count; i++) grow(blocks[iteration[i]], (double)iteration[i]);
}

static int data(int batch) {
    double sum = 0;
    unsigned devices = 0, moved = 0;
    for (int b = 0; b < BLOCKS; b++) {
        blocks[b] = malloc(CELLS * sizeof(double));
        for (int i = 0; i < CELLS; i++) blocks[b][i] = i % (b + 3);
        if (omp_register(blocks[b], CELLS * sizeof(double))) return 1;
    }
    for (int step = 0; step < 5; step++) {
        step_of(batch, step);
        for (int b = 0; b < BLOCKS; b++) {
            const unsigned at = omp_get_data_placement(blocks[b] + 5);
            devices += omp_is_device(at);
            if (omp_is_device(at) == omp_is_host(at) || at > 8) return 1;
        }
        if (step != 2) continue; /* half of them home, changed there, and freed */
        for (int b = 0; b < BLOCKS; b += 2) {
            omp_migrate(blocks[b] + CELLS / 2);
            moved += omp_is_host(omp_get_data_placement(blocks[b]));
            blocks[b][1] += 1;
        }
        double *other = malloc(CELLS * sizeof *other);
        omp_unregister(blocks[3]);
        memcpy(other, blocks[3], CELLS * sizeof *other);
        free(blocks[3]);
        blocks[3] = other;
        if (omp_register(other, CELLS * sizeof *other)) return 1;
    }
    for (int b = 0; b < BLOCKS; b++) {
        omp_unregister(blocks[b]);
        for (int i = 0; i < CELLS; i++) sum += blocks[b][i];
        free(blocks[b]);
    }
    fprintf(stderr, "%u times on devices\n", devices);
    printf("%a, %u home\n", sum, moved);
    return 0;
}

static int moves(void) { return data(0); }
static int batches(void) { return data(1); }

/* Two directives with lists of their own, in turn: data come home between them. */
static int lists(void) {
    double *u = calloc(CELLS, sizeof *u);
    if (omp_register(u, CELLS * sizeof *u)) return 1;
    omp_migrate(u); /* there are no units yet, and nothing to do */
    for (int step = 0; step < 3; step++) {
        SITE(site, "static");
        LIST(one, {1, EVN_CU_GPU, 1});
        LIST(two, {2, EVN_CU_CPU, 4});
        const evn_cu_int trips = evn_cu_trips(&site, 0, 1, 1, EVN_CU_LESS);
        if (evn_cu_enter(&site, step % 2 ? two : one, 1, 2, trips))
#pragma omp parallel
            for (evn_cu_int t; (t = evn_cu_next()) >= 0;) grow(u, 1);
    }
    omp_migrate(u);
    double sum = 0;
    for (int i = 0; i < CELLS; i++) sum += u[i];
    printf("%.17g\n", sum);
    return 0;
}

/* Much memory, registered upwards, downwards and by chance, unregistered in order and by chance. */
static int registers(void) {
    enum { MANY = 1500, EACH = 64 };
    static char memory[MANY * EACH];
    static char has[MANY];
    unsigned dice = 1;
    long sum = 0;
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < MANY; i++) {
            dice = dice * 1664525u + 1013904223u;
            const int chance = (int)((dice >> 8) % MANY);
            const int k = round % 3 == 0 ? i : round % 3 == 1 ? MANY - 1 - i : chance;
            if (omp_register(memory + k * EACH, EACH) != (has[k] ? -1 : 0)) return 1;
            has[k] = 1;
        }
        for (int i = 0; i < MANY; i++) {
            dice = dice * 1664525u + 1013904223u;
            const int k = round % 2 ? i : (int)((dice >> 8) % MANY);
            if (!has[k]) continue;
            omp_migrate(memory + k * EACH + EACH - 1);
            omp_unregister(memory + k * EACH);
            has[k] = 0;
        }
        for (int i = 0; i < MANY; i++) sum += has[i] * (i + round);
    }
    printf("%ld\n", sum);
    return 0;
}

/* ---- mistakes: each ends the program with one line ------------------------------------------ */

static void run(evn_cu_site *site, evn_cu_int count, int family, evn_cu_int size,
                evn_cu_int trips) {
    LIST(units, {count, family, size});
    if (evn_cu_enter(site, units, 1, 0, trips))
#pragma omp parallel
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) {
        }
}

static evn_cu_site wrong = EVN_CU_SITE("wrong.c", 12, "static");
static evn_cu_site inner = EVN_CU_SITE("wrong.c", 13, "static");

static int same_key(void) {
    LIST(units, {1, EVN_CU_CPU, 1});
    const evn_cu_int trips = evn_cu_trips(&wrong, 0, 9, 1, EVN_CU_LESS);
    evn_cu_int *key = evn_cu_keys(&wrong, trips);
    for (int t = 0; t < 9; t++) key[t] = t == 7 ? 3 : t;
    evn_cu_enter(&wrong, units, 1, 0, trips);
    return 0;
}

static int no_count(void) { return run(&wrong, 0, EVN_CU_CPU, 1, 3), 0; }
static int no_size(void) { return run(&wrong, 1, EVN_CU_GPU, -2, 3), 0; }
static int cores(void) { return run(&wrong, 1000, EVN_CU_CPU, 4, 3), 0; }
static int step0(void) { return (int)evn_cu_trips(&wrong, 0, 9, 0, EVN_CU_LESS); }
static int away(void) { return (int)evn_cu_trips(&wrong, 0, 9, -2, EVN_CU_LESS); }
static int endless(void) { return (int)evn_cu_trips(&wrong, -1, 1LL << 32, 2, EVN_CU_LESS_EQUAL); }
static int schedule(void) {
    evn_cu_option(&wrong, "size", 3);
    return run(&wrong, 1, EVN_CU_CPU, 1, 3), 0;
}

static void *second(void *p) { return run(&inner, 1, EVN_CU_CPU, 1, 3), p; }
static int thread(void) {
    pthread_t other;
    run(&wrong, 1, EVN_CU_CPU, 1, 3);
    if (pthread_create(&other, NULL, second, NULL)) return 2;
    return pthread_join(other, NULL);
}

static int nested(void) {
    LIST(units, {1, EVN_CU_CPU, 1});
    if (evn_cu_enter(&wrong, units, 1, 0, 3))
#pragma omp parallel
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) run(&inner, 1, EVN_CU_CPU, 1, 3);
    return 0;
}

static int parallel(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    run(&wrong, 1, EVN_CU_CPU, 1, 3);
    return 0;
}

static int within(void) { /* a distribute in a loop over units */
    LIST(units, {1, EVN_CU_CPU, 1});
    int runs[N] = {0};
    if (evn_cu_enter(&wrong, units, 1, 0, 3))
#pragma omp parallel
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) orphan(runs, N);
    return 0;
}

static int stranger(void) {
    double u[4];
    run(&wrong, 1, EVN_CU_CPU, 1, 3);
    omp_migrate(u);
    return 0;
}

/* Copies between blocks that are on the host and on devices, within one, and of those that never
 * were anywhere else. */
static int copied(void) {
    static double u[9][16];
    LIST(units, {1, EVN_CU_CPU, 1}, {2, EVN_CU_GPU, 1});
    for (int z = 0; z < 9; z++) {
        for (int i = 0; i < 16; i++) u[z][i] = 100 * z + i;
        if (omp_register(u[z], sizeof u[z])) return 2;
    }
    omp_cu_copy(u[8], u[7] + 1, 8);
    for (int round = 0; round < 3; round++) {
        if (evn_cu_enter(&wrong, units, COUNT(units), 0, 8))
#pragma omp parallel
            for (evn_cu_int t; (t = evn_cu_next()) >= 0;) omp_migrate(u[t]);
        for (int z = 0; z < 9; z++) {
            const unsigned before = omp_get_data_placement(u[z]);
            omp_cu_copy(u[z] + 3, u[(z + 1 + 3 * round) % 9] + 5, 4 * sizeof(double));
            omp_cu_copy(u[z] + 12, u[z] + 2, 3 * sizeof(double));
            omp_cu_copy(u[z], u[z], 0);
            if (omp_get_data_placement(u[z]) != before) return 3;
        }
    }
    double sum = 0;
    for (int z = 0; z < 9; z++) {
        omp_migrate(u[z]);
        for (int i = 0; i < 16; i++) sum = sum * 0.99 + u[z][i];
        omp_unregister(u[z]);
    }
    printf("%.17g\n", sum);
    return 0;
}

static int copy_stranger(void) {
    static double u[4], v[4];
    if (omp_register(u, sizeof u)) return 2;
    run(&wrong, 1, EVN_CU_CPU, 1, 3);
    omp_cu_copy(u, v, 8);
    return 0;
}

static int copy_beyond(void) {
    static double u[4], v[4];
    if (omp_register(u, sizeof u) || omp_register(v, sizeof v)) return 2;
    run(&wrong, 1, EVN_CU_CPU, 1, 3);
    omp_cu_copy(u + 2, v, 24);
    return 0;
}

static int copy_within(void) {
    static double u[4];
    LIST(units, {1, EVN_CU_CPU, 1});
    if (omp_register(u, sizeof u)) return 2;
    if (evn_cu_enter(&wrong, units, 1, 0, 1))
#pragma omp parallel
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) omp_cu_copy(u, u + 2, 8);
    return 0;
}

static int team(void) { /* data brought by another thread than the leader */
    static double u[4];
    LIST(units, {1, EVN_CU_CPU, 2});
    if (omp_register(u, sizeof u)) return 2;
    if (evn_cu_enter(&wrong, units, 1, 0, 1))
#pragma omp parallel
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) {
#pragma omp parallel
            if (omp_get_thread_num()) omp_migrate(u);
        }
    return 0;
}

static int launch(void) { /* on cores */
    int n = 1;
    LIST(units, {1, EVN_CU_CPU, 1});
    if (evn_cu_enter(&wrong, units, 1, 0, 1))
#pragma omp parallel
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;)
            omp_cu_launch(&cu_kernels, "grow", 1, OMP_CU_VALUE(n));
    return 0;
}

static int untaken(void) { /* what follows is no region that can be taken over */
    LIST(units, {1, EVN_CU_CPU, 1});
    return evn_cu_enter(&wrong, units, 1, 0, 1) ? (int)evn_cu_next() : 0;
}

static int twice(void) { /* overlapping memory: an answer, not an end */
    static double u[4];
    const int first = omp_register(u, sizeof u), again = omp_register(u + 3, sizeof u);
    const int none = omp_register(NULL, 8);
    printf("%d %d %d %s\n", first, again, none, evn_message());
    return 0;
}

static int large(void) { /* than the device */
    const size_t bytes = 1 << 20;
    char *u = calloc(1, bytes);
    LIST(units, {1, EVN_CU_GPU, 1});
    if (omp_register(u, bytes)) return 2;
    if (evn_cu_enter(&wrong, units, 1, 0, 1))
#pragma omp parallel
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) omp_migrate(u);
    return 0;
}

static int both(void) { /* two units write the same */
    static double u[4];
    LIST(units, {2, EVN_CU_CPU, 1});
    if (omp_register(u, sizeof u)) return 2;
    if (evn_cu_enter(&wrong, units, 1, 0, 2))
#pragma omp parallel
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) {
            omp_migrate(u);
            while (omp_get_cu_num() < 2) {
            }
        }
    return 0;
}

/* Data of more bytes than the device has, one after another in one batch. */
static int crowd(void) {
    static double u[8][1 << 15];
    LIST(units, {1, EVN_CU_GPU, 1});
    double by = 1, sum = 0;
    int n = 1 << 15;
    for (int b = 0; b < 8; b++)
        if (omp_register(u[b], sizeof u[b])) return 2;
    if (evn_cu_enter(&wrong, units, 1, 0, 8))
#pragma omp parallel firstprivate(by, n)
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) {
            omp_migrate_for(u[t], EVN_READ);
            omp_migrate(u[t]);
            omp_cu_launch(&cu_kernels, "grow", n / 128, OMP_CU_MEMORY(u[t]), OMP_CU_VALUE(by),
                          OMP_CU_VALUE(n));
            omp_synchronize();
        }
    for (int b = 0; b < 8; b++) {
        omp_migrate_for(u[b], EVN_READ);
        sum += u[b][b + 1];
    }
    printf("%g\n", sum);
    return 0;
}

static int ends(void) { /* exit() in a body */
    LIST(units, {2, EVN_CU_CPU, 1});
    if (evn_cu_enter(&wrong, units, 1, 0, 2))
#pragma omp parallel
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;)
            if (t) exit(5);
    return 0;
}

/* ---- loops of the program's own ---- */

struct own {
    double block[N][CELLS];
    int runs[N];
};

static void own_body(void *arg) {
    struct own *own = arg;
    for (long long t; (t = omp_get_task()) >= 0;) {
        omp_execute_task(t);
        grow(own->block[t], 2);
        if (omp_is_gpu()) omp_synchronize();
        omp_commit_task(t);
#pragma omp atomic
        own->runs[t]++;
    }
}

static int own_tasks(void) {
    static struct own own;
    double sum = 0;
    int wrong = 0;
    for (int t = 0; t < N; t++) {
        for (int i = 0; i < CELLS; i++) own.block[t][i] = t + i % 5;
        if (omp_register(own.block[t], sizeof own.block[t])) return 1;
    }
    for (int step = 0; step < 3; step++) omp_cu_run("runtime", N, own_body, &own);
    omp_cu_run("static", 0, own_body, &own);
    for (int t = 0; t < N; t++) {
        omp_unregister(own.block[t]);
        wrong += own.runs[t] != 3;
        for (int i = 0; i < CELLS; i++) sum += own.block[t][i];
    }
    printf("%d wrong, %a\n", wrong, sum);
    return wrong;
}

static void takes_twice(void *arg) { (void)arg, omp_get_task(), omp_get_task(); }
static void leaves_early(void *arg) { (void)arg, omp_execute_task(omp_get_task()); }
static void takes_one(void *arg) {
    const long long t = omp_get_task();
    (void)arg;
    omp_execute_task(t);
    omp_commit_task(t);
}
static void commits_other(void *arg) {
    const long long t = omp_get_task();
    (void)arg;
    omp_execute_task(t);
    omp_commit_task(t + 1);
}

static int own_twice(void) {
    omp_cu_run("static", 4, takes_twice, NULL);
    return 0;
}
static int own_early(void) {
    omp_cu_run("static", 4, leaves_early, NULL);
    return 0;
}
static int own_one(void) {
    omp_cu_run("static", 4, takes_one, NULL);
    return 0;
}
static int own_other(void) {
    omp_cu_run("static", 4, commits_other, NULL);
    return 0;
}
static int own_outside(void) {
    LIST(units, {1, EVN_CU_CPU, 1});
    if (evn_cu_enter(&wrong, units, 1, 0, 1))
#pragma omp parallel
        for (evn_cu_int t; (t = evn_cu_next()) >= 0;) omp_get_task();
    return 0;
}
static int own_negative(void) {
    omp_cu_run("static", -1, takes_one, NULL);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
    /* clang-format off */
} cases[] = {
    {"own_tasks", own_tasks}, {"own_twice", own_twice}, {"own_early", own_early},
    {"own_one", own_one}, {"own_other", own_other}, {"own_outside", own_outside},
    {"own_negative", own_negative}, {"reduce", reduce}, {"variables", variables},
    {"regions", regions}, {"teams", teams}, {"moves", moves},
    {"batches", batches}, {"lists", lists}, {"registers", registers}, {"no_count", no_count},
    {"no_size", no_size}, {"cores", cores}, {"step0", step0}, {"away", away}, {"endless", endless},
    {"schedule", schedule}, {"thread", thread}, {"nested", nested}, {"parallel", parallel},
    {"within", within}, {"stranger", stranger}, {"twice", twice}, {"large", large}, {"both", both},
    {"crowd", crowd}, {"ends", ends}, {"kept", kept}, {"weights", weights}, {"keys", keys},
    {"same_key", same_key}, {"team", team}, {"launch", launch}, {"untaken", untaken},
    {"copied", copied}, {"copy_stranger", copy_stranger}, {"copy_beyond", copy_beyond},
    {"copy_within", copy_within},
};
/* clang-format on */

int main(int argc, char **argv);
int main(int argc, char **argv) {
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name)) return cases[i].run();
    fprintf(stderr, "usage: cases NAME\n");
    return 2;
}
