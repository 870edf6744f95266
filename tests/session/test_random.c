/* Random programs on sessions, alone and over ranks that are processes here: several loops of one
 * session, each under its schedule, with regions that bodies read, write, or both, on units of all
 * shapes; exchanges of random blocks, whole or in halves; visits, other weights, bodies that fail,
 * results that are collected. All values are those of plain arrays, and each task has run once. A
 * program is the same for the same number.
 * Run: test-random [PROGRAMS [FIRST]]; EVENER_TEST_LONG=1 for more of them. */
#include "world.h"
#include "wire/ranks.h"
#include <evener/exchange.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { TASKS = 20, REGIONS = 3, BYTES = 600, FACES = 80, LOOPS = 2, RANKS = 3 };

struct task {
    size_t bytes[REGIONS];
    unsigned char value[REGIONS][BYTES]; /* as it should be */
    unsigned char memory[REGIONS][BYTES];
    int region[REGIONS];
};

enum mode { RUN, VISIT, FILL, FAIL };

static struct loop {
    evn_loop *loop;
    evn_exchange *halo;
    evn_access access[REGIONS];
    struct task task[TASKS];
    int tasks, regions, gives; /* gives: memory is the program's */
    int step, passes, open, faces, fails;
    size_t element;
    evn_face face[FACES];
    enum mode mode;
    atomic_int *ran;
} loops[LOOPS];
static evn_cluster *cluster;
static evn_session *session;
static evn_place *place;
static atomic_int (*counters)[TASKS]; /* of each loop, how often its tasks ran, on all ranks */
static int rank;

static unsigned mix(unsigned a, unsigned b, unsigned c) {
    unsigned x = a * 2654435761u ^ (b + 1) * 2246822519u ^ (c + 1) * 3266489917u;
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

/* The first region is read and written, all others are read before those that are only written. */
static void compute(const struct loop *l, int task, unsigned char *const *v) {
    const size_t *bytes = l->task[task].bytes;
    for (int k = 0; k < l->regions; k++)
        for (size_t i = 0; l->access[k] != EVN_READ && i < bytes[k]; i++) {
            unsigned x = mix((unsigned)task, (unsigned)l->step, (unsigned)i);
            if (l->access[k] == EVN_BOTH) x += 5u * v[k][i] + v[k][(i + 1) % bytes[k]];
            for (int j = 0; j < l->regions; j++)
                if (j != k && l->access[j] != EVN_WRITE) x += 3u * v[j][i % bytes[j]];
            v[k][i] = (unsigned char)x;
        }
}

static void run_plainly(struct loop *l) {
    unsigned char *v[REGIONS];
    for (int t = 0; t < l->tasks; t++) {
        for (int k = 0; k < REGIONS; k++) v[k] = l->task[t].value[k];
        compute(l, t, v);
    }
    l->step++;
}

/* The byte of value i of a face at its source or target. */
static long long byte_of(const struct loop *l, const evn_face *f, int to, int i) {
    return (to ? f->to_at + i * f->to_stride[2] : f->from_at + i * f->from_stride[2]) *
           (long long)l->element;
}

static void exchange_plainly(struct loop *l) {
    for (const evn_face *f = l->face; f < l->face + l->faces; f++)
        for (int i = 0; i < f->n[2]; i++)
            memcpy(&l->task[f->to].value[f->to_region][byte_of(l, f, 1, i)],
                   &l->task[f->from].value[f->from_region][byte_of(l, f, 0, i)], l->element);
}

/* Random faces: they write values of the first half of a region, each once, and read its rest. */
static void draw_faces(struct loop *l) {
    long long written[TASKS][REGIONS] = {{0}};
    for (int tries = 4 * l->tasks; tries && l->faces < FACES; tries--) {
        evn_face f = {.from = below(l->tasks), .to = below(l->tasks), .n = {1, 1, 1 + below(9)}};
        f.from_region = below(l->regions), f.to_region = below(l->regions);
        const size_t from = l->task[f.from].bytes[f.from_region] / l->element;
        const size_t to = l->task[f.to].bytes[f.to_region] / l->element;
        f.to_at = written[f.to][f.to_region] + below(3);
        f.to_stride[2] = 1 + below(3);
        f.from_stride[2] = below(3) - 1;
        f.from_at = (long long)(from + 1) / 2 + (f.from_stride[2] < 0 ? f.n[2] - 1 : 0);
        const long long end = f.to_at + f.to_stride[2] * f.n[2];
        if (end > (long long)to / 2 || f.from_at + f.n[2] > (long long)from) continue;
        written[f.to][f.to_region] = end;
        l->face[l->faces++] = f;
    }
}

static evn_status copy(evn_batch *b, size_t at, unsigned char *v, size_t bytes, int to_device) {
    evn_queue *q = evn_batch_queue(b);
    evn_buffer *buffer = evn_batch_buffer(b);
    evn_status status = to_device ? evn_copy_to_device(q, buffer, at, v, bytes)
                                  : evn_copy_to_host(q, v, buffer, at, bytes);
    return status ? status : evn_queue_finish(q);
}

/* A run computes. A visit writes what it has to, and finds the rest as it should be. */
static void treat(const struct loop *l, int task, unsigned char *const *v) {
    const struct task *t = &l->task[task];
    if (l->mode == RUN) compute(l, task, v);
    for (int k = 0; l->mode != RUN && k < l->regions; k++)
        if (l->mode == FILL || l->access[k] == EVN_WRITE)
            memcpy(v[k], t->value[k], t->bytes[k]);
        else
            must(l->mode == FAIL || !memcmp(v[k], t->value[k], t->bytes[k]));
}

static evn_status work(struct loop *l, evn_batch *b, int task) {
    const size_t *bytes = l->task[task].bytes;
    unsigned char copies[REGIONS][BYTES], *v[REGIONS];
    const int device = evn_batch_device(b) >= 0;
    evn_status status = EVN_OK;
    if (l->mode == FAIL && task == l->fails) return evn_fail(EVN_SYSTEM, "no %d", task);
    if (l->mode < FILL) atomic_fetch_add(&l->ran[task], 1);
    for (int k = 0; !status && k < l->regions; k++) {
        v[k] = device ? copies[k] : evn_batch_host(b, task, k);
        if (device && l->access[k] != EVN_WRITE)
            status = copy(b, evn_batch_at(b, task, k), v[k], bytes[k], 0);
    }
    if (status) return status;
    treat(l, task, v);
    for (int k = 0; !status && device && k < l->regions; k++)
        if (l->access[k] != EVN_READ) status = copy(b, evn_batch_at(b, task, k), v[k], bytes[k], 1);
    return status;
}

/* Tasks one by one, or all and then said to be done, or not. */
static evn_status body(evn_unit *unit, evn_batch *b, void *arg) {
    struct loop *l = arg;
    int count;
    const int *task = evn_batch_tasks(b, &count);
    const unsigned way = mix((unsigned)task[0], (unsigned)l->step, 2) % 3;
    evn_status status = l->open ? evn_exchange_finish(l->halo, unit, evn_batch_device(b)) : EVN_OK;
    for (int i = 0; !status && i < count; i++) {
        if (!way) must(evn_batch_next(b) == task[i]);
        status = work(l, b, task[i]);
    }
    if (!status && way == 1) evn_batch_done(b, count);
    return status;
}

/* All tasks have run once more, over all ranks. */
static void check_ran(struct loop *l) {
    l->passes++;
    must_ok(evn_cluster_agree(cluster, EVN_OK));
    for (int t = 0; t < l->tasks; t++) must(atomic_load(&l->ran[t]) == l->passes);
    must_ok(evn_cluster_agree(cluster, EVN_OK));
}

static void check(const struct loop *l) {
    for (int t = 0; t < l->tasks; t++)
        for (int k = 0; evn_loop_has(l->loop, t) && k < l->regions; k++) {
            const int *region = &l->task[t].region[k];
            must_ok(evn_place_acquire(place, 1, region, EVN_HOST, EVN_READ));
            must(!memcmp(evn_place_host(place, *region), l->task[t].value[k], l->task[t].bytes[k]));
            must_ok(evn_place_release(place, 1, region, EVN_HOST));
        }
    must_ok(evn_cluster_agree(cluster, EVN_OK));
}

static void open_task(struct loop *l, int task) {
    struct task *t = &l->task[task];
    for (int k = 0; k < l->regions; k++) {
        t->bytes[k] = 1 + (size_t)below(below(5) ? 90 : BYTES);
        for (size_t i = 0; i < t->bytes[k]; i++)
            t->memory[k][i] = t->value[k][i] =
                (unsigned char)mix((unsigned)task, (unsigned)k, (unsigned)i);
        must_ok(l->gives ? evn_place_add(place, t->memory[k], t->bytes[k], &t->region[k])
                         : evn_place_make(place, t->bytes[k], &t->region[k]));
    }
}

static void open_tasks(struct loop *l) {
    static const char *const schedules[] = {
        "auto",    "dynamic",     "map",      "static",   "guided:size",
        "binpack", "guided:time", "weighted", "interval", "static:chunk=3"};
    double weight[TASKS];
    int region[TASKS * REGIONS];
    l->tasks = 1 + below(TASKS), l->regions = 1 + below(REGIONS);
    l->gives = below(2), l->element = 1 + (size_t)below(9);
    for (int k = 0; k < l->regions; k++) l->access[k] = k ? (evn_access)(1 + below(3)) : EVN_BOTH;
    for (int t = 0; t < l->tasks; t++) {
        open_task(l, t);
        weight[t] = below(30);
        for (int k = 0; k < l->regions; k++) region[t * l->regions + k] = l->task[t].region[k];
    }
    must_ok(evn_open_loop(
        &l->loop, session, schedules[below(10)],
        &(evn_problem){.tasks = l->tasks, .weight = weight, .instances = below(2) ? 20 : 0}));
    must_ok(evn_session_place(session, l->loop, place, l->regions, region, l->access));
    l->mode = FILL;
    if (!l->gives) must_ok(evn_loop_visit_host(l->loop, body, l, EVN_WRITE));
    draw_faces(l);
    must_ok(evn_exchange_open(&l->halo, l->loop, l->element, l->faces, l->face, NULL));
}

static void exchange_and_run(struct loop *l, int halves) {
    if (halves) must_ok(evn_exchange_start(l->halo, &l->open));
    if (!halves) must_ok(evn_exchange_run(l->halo));
    exchange_plainly(l);
    l->mode = RUN;
    must_ok(evn_loop_run(l->loop, body, l));
    l->open = 0;
    check_ran(l);
    run_plainly(l);
}

static void visit(struct loop *l) {
    l->mode = VISIT;
    must_ok(evn_loop_visit(l->loop, body, l));
    check_ran(l);
}

/* A body that fails, and after it what is only written again. */
static void fail_once(struct loop *l) {
    char says[20];
    l->mode = FAIL;
    l->fails = below(l->tasks);
    snprintf(says, sizeof says, "no %d", l->fails);
    must(evn_loop_run(l->loop, body, l) == EVN_BODY && strstr(evn_message(), says));
    visit(l);
}

static void collect(struct loop *l) {
    must_ok(evn_session_collect(session, l->loop));
    for (int t = 0; t < l->tasks && !rank; t++)
        for (int k = 0; k < l->regions; k++) {
            const struct task *of = &l->task[t];
            const void *to = l->gives ? of->memory[k] : evn_place_host(place, of->region[k]);
            must(!memcmp(to, of->value[k], of->bytes[k]));
        }
}

static void operate(struct loop *l) {
    const int kind = below(15);
    double weight[TASKS];
    for (int t = 0; t < l->tasks; t++) weight[t] = below(30);
    if (kind < 8) exchange_and_run(l, kind % 2);
    if (kind == 8 || kind == 9) visit(l);
    if (kind == 10 || kind == 11) must_ok(evn_loop_bring(l->loop));
    if (kind == 12) must_ok(evn_loop_weights(l->loop, weight));
    if (kind == 13) collect(l);
    if (kind == 14) fail_once(l);
    if (below(2)) check(l);
}

static void program(evn_cluster *of) {
    static const char *const units[] = {"3:CPU:1", "1:CPU:1,1:CPU:3", "1:CPU:1,1:GPU:2", "2:GPU:1"};
    static const char *const devices[] = {"emulated:2", "emulated:2,memory=96KiB,peer=no"};
    const int device = below(2), list = below(16);
    cluster = of, rank = evn_cluster_rank(of);
    must_ok(
        evn_open_with(&session, &(evn_open_options){.units = units[(list + rank * (list / 4)) % 4],
                                                    .devices = devices[device],
                                                    .flags = EVN_OVERSUBSCRIBE,
                                                    .cluster = of}));
    must_ok(evn_place_open(&place, evn_session_units(session), 0.5));
    for (int i = 0; i < LOOPS; i++) {
        loops[i].ran = counters[i];
        open_tasks(&loops[i]);
    }
    for (int operations = 5 + below(25); operations; operations--) operate(&loops[below(LOOPS)]);
    for (int i = 0; i < LOOPS; i++) {
        check(&loops[i]);
        evn_exchange_close(loops[i].halo);
    }
    evn_place_close(place);
    must_ok(evn_close(session));
}

int main(int argc, char **argv) {
    const int few = getenv("EVENER_TEST_LONG") ? 1000 : 30, begin = argc > 2 ? atoi(argv[2]) : 1;
    const int programs = argc > 1 ? atoi(argv[1]) : few;
    const size_t bytes = LOOPS * sizeof *counters;
    int wrong = 0;
    counters = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int number = begin; number < begin + programs; number++) {
        seed = (unsigned)number * 7919u;
        memset(counters, 0, bytes);
        if (!ranks_of_cluster(0, 1 + below(RANKS), program)) continue;
        printf("program %d is wrong: test-random 1 %d\n", number, number);
        wrong++;
    }
    printf("%d programs, %d wrong\n", programs, wrong);
    return wrong > 0;
}
