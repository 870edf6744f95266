/* No rank has memory that grows with the tasks of all: 8 and 64 ranks, processes over the emulated
 * wire, have as many tasks each; all that a rank allocates is counted, while distributed tasks are
 * opened, given faces, run, changed, born and balanced. From 8 ranks to 64 the largest block and
 * the sum of a rank may grow by some bytes for each further rank, a quarter of what a byte for each
 * further task would be. An array of a byte for each task, planted, is found.
 * Run: ctest -R distributed-memory */
#include "check.h"
#include "wire/ranks.h"
#include <errno.h>
#include <evener/distributed.h>
#include <malloc.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define HAVE_COUNTING 0
static void count_from_here(void) {}
#else
#    define HAVE_COUNTING 1
/* Blocks and bytes since counting began. */
static atomic_int counting;
static atomic_llong live, most, largest;

static void raise_to(atomic_llong *to, long long value) {
    long long was = atomic_load(to);
    while (was < value && !atomic_compare_exchange_weak(to, &was, value)) continue;
}

static void *made(void *p) {
    if (!p || !atomic_load(&counting)) return p;
    const long long bytes = (long long)malloc_usable_size(p);
    raise_to(&largest, bytes);
    raise_to(&most, atomic_fetch_add(&live, bytes) + bytes);
    return p;
}

static void unmade(void *p) {
    if (p && atomic_load(&counting)) atomic_fetch_sub(&live, (long long)malloc_usable_size(p));
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
void *malloc(size_t n) { return made(__libc_malloc(n)); }
void *calloc(size_t n, size_t size) { return made(__libc_calloc(n, size)); }
void *realloc(void *p, size_t n) {
    unmade(p);
    return made(__libc_realloc(p, n));
}
void *aligned_alloc(size_t to, size_t n) { return made(__libc_memalign(to, n)); }
int posix_memalign(void **p, size_t to, size_t n) {
    *p = made(__libc_memalign(to, n));
    return *p ? 0 : ENOMEM;
}
void free(void *p) {
    unmade(p);
    __libc_free(p);
}
static void count_from_here(void) { atomic_store(&counting, 1); }
#endif

/* Of each rank: tasks at first, and those that it divides or merges in a change. */
enum { OWN = 4000, FEW = 8, MANY = 64, PART = 100, VALUES = 3 };

static int ranks, planted;
static struct counted {
    long long most, largest;
    int moved;
} * of; /* of each rank, in memory that all share */

struct world {
    evn_distributed *mesh;
    int rank, first[3 * OWN], from[3 * OWN];
    char kept[3 * OWN];
};

static evn_status fill(evn_unit *unit, evn_batch *b, void *arg) {
    (void)unit, (void)arg;
    for (int t; (t = evn_batch_next(b)) >= 0;)
        memset(evn_batch_host(b, t, 0), 0, VALUES * sizeof(double));
    return EVN_OK;
}

/* Two ranks in four take longer, so that tasks go from them to their neighbours. */
static evn_status body(evn_unit *unit, evn_batch *b, void *arg) {
    const struct world *w = arg;
    (void)unit;
    for (int t; (t = evn_batch_next(b)) >= 0;) {
        double *v = evn_batch_host(b, t, 0);
        v[1] += v[0] + v[2];
        evn_batch_add(b, t, w->rank % 4 == 1 || w->rank % 4 == 2 ? 1.5 : 1);
    }
    return EVN_OK;
}

/* Tasks of a rank in a line; its ends with the line of the next rank. */
static void connect(struct world *w) {
    static evn_rank_face face[8 * OWN];
    int count = 0;
    const int n = evn_distributed_part(w->mesh).tasks;
    for (int t = 0; t < n; t++) {
        const evn_rank_task a = {w->rank, t};
        const evn_rank_task b = t + 1 < n             ? (evn_rank_task){w->rank, t + 1}
                                : w->rank + 1 < ranks ? (evn_rank_task){w->rank + 1, 0}
                                                      : a;
        if (a.rank == b.rank && a.number == b.number) continue;
        face[count++] = (evn_rank_face){a, b, {.from_at = 1, .to_at = 0, .n = {1, 1, 1}}};
        face[count++] = (evn_rank_face){b, a, {.from_at = 1, .to_at = 2, .n = {1, 1, 1}}};
    }
    must_ok(evn_distributed_add(w->mesh, count, face));
}

/* In the middle of the rank some tasks are divided, and others merged. */
static void change(struct world *w) {
    const int before = evn_distributed_part(w->mesh).tasks;
    int n = 0, at = 0;
    for (int t = 0; t < before; t++) {
        const int part = t / PART, divide = part == 10, merge = part == 20 && t + 1 < before;
        for (int k = 0; k <= divide; k++) {
            w->first[n] = at;
            w->kept[n++] = !divide && !merge;
            w->from[at++] = t;
        }
        if (merge) w->from[at++] = ++t;
    }
    w->first[n] = at;
    const evn_change c = {
        .tasks = n, .first = w->first, .from = w->from, .kept = w->kept, .links = -1};
    must_ok(evn_distributed_change(w->mesh, &c, NULL));
}

static void all_of_it(evn_cluster *cluster) {
    static struct world w;
    static size_t bytes[OWN];
    static const evn_access access[] = {EVN_BOTH};
    evn_machine *machine;
    evn_units *units;
    evn_place *place;
    w.rank = evn_cluster_rank(cluster);
    for (int t = 0; t < OWN; t++) bytes[t] = VALUES * sizeof(double);
    must_ok(evn_machine_open(&machine));
    must_ok(evn_units_open(&units, machine, "1:CPU:1", NULL, EVN_OVERSUBSCRIBE));
    must_ok(evn_place_open(&place, units, 0.5));
    must_ok(evn_cluster_agree(cluster, EVN_OK));
    count_from_here();
    must_ok(evn_distributed_open(&w.mesh, &(evn_distribution){.cluster = cluster,
                                                              .units = units,
                                                              .place = place,
                                                              .schedule = "static",
                                                              .tasks = OWN,
                                                              .regions = 1,
                                                              .bytes = bytes,
                                                              .access = access,
                                                              .element = sizeof(double)}));
    char *array = planted ? malloc((size_t)evn_distributed_part(w.mesh).sum[ranks]) : NULL;
    must_ok(evn_loop_visit_host(evn_distributed_part(w.mesh).loop, fill, &w, EVN_WRITE));
    connect(&w);
    for (int i = 0; i < 2; i++) {
        must_ok(evn_distributed_run(w.mesh, body, &w));
        int moved;
        must_ok(evn_distributed_balance(w.mesh, &moved));
        of[w.rank].moved += moved;
        change(&w);
        must_ok(evn_distributed_bear(w.mesh, fill, &w));
    }
    must_ok(evn_distributed_run(w.mesh, body, &w));
#if HAVE_COUNTING
    of[w.rank].most = atomic_load(&most);
    of[w.rank].largest = atomic_load(&largest);
#endif
    free(array);
    must_ok(evn_cluster_agree(cluster, EVN_OK));
    evn_distributed_close(w.mesh);
    evn_place_close(place);
    evn_units_close(units);
    evn_machine_close(machine);
}

/* The most of all ranks. */
static struct counted run(int number, int with_array) {
    struct counted all = {0};
    ranks = number;
    planted = with_array;
    memset(of, 0, MANY * sizeof *of);
    alarm(300); /* ranks that wait for each other for ever */
    if (ranks_of_cluster(0, ranks, all_of_it)) fail_msg("%d ranks", ranks);
    alarm(0);
    for (int r = 0; r < ranks; r++) {
        if (of[r].most > all.most) all.most = of[r].most;
        if (of[r].largest > all.largest) all.largest = of[r].largest;
        assert_true(of[r].moved > 0);
    }
    printf("%d ranks of %d tasks: a rank has %lld bytes, the largest block is of %lld\n", ranks,
           OWN, all.most, all.largest);
    return all;
}

/* Bytes for each further rank. */
enum { A_RANK = OWN / 4 };

TEST(memory) {
    const struct counted few = run(FEW, 0), many = run(MANY, 0), found = run(MANY, 1);
    if (!HAVE_COUNTING) skip();
    const long long more = (MANY - FEW) * A_RANK;
    assert_true(few.most > OWN * 100);
    assert_true(many.most - few.most < more);
    assert_true(many.largest - few.largest < more);
    assert_false(found.most - few.most < more);
}

static int set_up(void **state) {
    (void)state;
    of = mmap(NULL, MANY * sizeof *of, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return of == MAP_FAILED;
}

RUN_TESTS(set_up, NULL)
