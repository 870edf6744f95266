/* Units: descriptors, leaders, teams, binding. Run: ctest -R unit; it runs a second time with
 * OMP_PROC_BIND set, since the OpenMP runtime then binds the teams of all leaders to the same
 * places. */
#include "check.h"
#include "unit/descriptor.h"
#include "unit/share.h"
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static evn_machine *machine;
static cpu_set_t at_start; /* where this thread may run */

static int set_up(void **state) {
    (void)state;
    pthread_getaffinity_np(pthread_self(), sizeof at_start, &at_start);
    return evn_machine_open(&machine);
}

static int tear_down(void **state) {
    (void)state;
    evn_machine_close(machine);
    return 0;
}

static evn_units *open_or_fail(const char *list, unsigned flags) {
    evn_units *units;
    if (evn_units_open(&units, machine, list, NULL, flags)) fail_msg("%s: %s", list, evn_message());
    return units;
}

/* ---- cores that others have ---- */

/* A program that wants a core all the time. */
static pid_t begin_other(int core) {
    const pid_t pid = fork();
    if (pid) return pid;
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(core, &mask);
    alarm(100);
    if (sched_setaffinity(0, sizeof mask, &mask)) _exit(1);
    for (volatile int i = 0;; i++) {
    }
}

static void end_other(pid_t pid) {
    assert_true(pid > 0 && !kill(pid, SIGKILL));
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Time slices are some milliseconds long. */
static void run_some(void) {
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) <
           0.03);
}

/* The team's last thread alone has work, so that it is the one whose core is taken. */
static void run_last(evn_unit *unit, void *unused) {
    (void)unused;
#pragma omp parallel num_threads(evn_unit_cores(unit))
    if (omp_get_thread_num() == evn_unit_cores(unit) - 1) run_some();
}

static void share_last(int core, void *unit) {
    if (core == evn_unit_cores(unit) - 1) run_some();
}

static void run_helper(evn_unit *unit, void *unused) {
    (void)unused;
    assert_ok(helpers_share(unit, 1, share_last, unit));
}

/* Others are seen by leaders, by threads of a team and by helpers, bound or not; and counted anew.
 */
TEST(taken) {
    void (*const job[])(evn_unit *, void *) = {run_last, run_helper};
    const int cores = evn_machine_cores(machine) < 2 ? 1 : 2;
    evn_units *units = open_or_fail("1:CPU:1", EVN_DESCRIBE_ONLY);
    evn_unit_taken(evn_units_get(units, 0), 1);
    assert_true(isnan(evn_unit_taken(evn_units_get(units, 0), 0)));
    evn_units_close(units);
    for (int i = 0; i < 4; i++) {
        char list[32];
        const int crowd = i & 2 ? evn_machine_cores(machine) : 0; /* nothing is bound */
        snprintf(list, sizeof list, "1:CPU:%d", crowd + cores);
        units = open_or_fail(list, crowd ? EVN_OVERSUBSCRIBE : 0);
        evn_unit *unit = evn_units_get(units, 0);
        pid_t other[2 * 16];
        int others = 0;
        for (int c = 0; c < evn_machine_cores(machine) && c < 16; c++)
            for (int k = 0; k < 2 && (crowd || c < cores); k++)
                other[others++] = begin_other(evn_machine_core_number(machine, c));
        assert_ok(evn_units_run(units, job[i & 1], NULL));
        const double taken = evn_unit_taken(unit, 0);
        while (others) end_other(other[--others]);
        if (!isnan(taken) && !(taken > 0.05 && taken < 1) && evn_machine_cores(machine) <= 16)
            fail_msg("%s, job %d: %g of the core time was taken", list, i & 1, taken);
        evn_unit_taken(unit, 1);
        const double anew = evn_unit_taken(unit, 0);
        assert_true(!isnan(anew) == !isnan(taken) && !(anew < 0) && !(anew > 1));
        evn_units_close(units);
    }
}

TEST(parse) {
    struct unit_list list;
    assert_int_equal(unit_list_parse(&list, "4:CPU:4,2:GPU:1", 1, 0), EVN_OK);
    assert_int_equal(list.units, 6);
    assert_int_equal(list.cpus, 4);
    assert_int_equal(list.gpus, 2);
    assert_int_equal(list.cores, 18); /* each GPU unit has a core that manages it */
    assert_int_equal(list.devices, 2);
    char text[64];
    unit_list_print(&list, text, sizeof text);
    assert_string_equal(text, "4:CPU:4,2:GPU:1");
    assert_int_equal(unit_list_parse(&list, "auto", 6, 0), EVN_OK);
    unit_list_print(&list, text, sizeof text);
    assert_string_equal(text, "1:CPU:6");
    assert_int_equal(unit_list_parse(&list, "1:cpu:2", 6, 0), EVN_OK);
}

/* Cores that a list names, in the order of units; the text says the same list again. */
TEST(parse_cores) {
    static const char text[] = "2:CPU:3@4-6@0@9-10,1:CPU:2,2:GPU:1@7@12";
    static const int core[] = {4, 5, 6, 0, 9, 10};
    struct unit_list list;
    char again[64];
    assert_int_equal(unit_list_parse(&list, text, 1, 0), EVN_OK);
    assert_int_equal(list.cores, 10);
    for (int i = 0; i < 6; i++) assert_int_equal(unit_list_core(&list, &list.group[0], i), core[i]);
    assert_int_equal(list.group[1].ranges, 0);
    assert_int_equal(unit_list_core(&list, &list.group[2], 0), 7);
    assert_int_equal(unit_list_core(&list, &list.group[2], 1), 12);
    unit_list_print(&list, again, sizeof again);
    assert_string_equal(again, text);
}

TEST(parse_errors) {
    static const struct {
        const char *text;
        int column;
        const char *says;
    } bad[] = {
        {"", 1, "number of units"},
        {"x", 1, "number of units"},
        {"0:CPU:1", 1, "zero units"},
        {"4:CPUS:4", 3, "unknown family \"CPUS\", expected CPU, GPU or FPGA"},
        {"4", 2, "expected \":\""},
        {"4:CPU", 6, "cores of each unit"},
        {"4:CPU:", 7, "how many cores"},
        {"4:CPU:0", 7, "how many cores"},
        {"4:GPU:x", 7, "how many devices"},
        {"4:CPU:4x", 8, "expected \",\""},
        {"4:CPU:4,", 9, "number of units"},
        {"-1:CPU:1", 1, "number of units"},
        {"9999:CPU:1", 1, "number of units"},
        {"4096:CPU:1,1:CPU:1", 1, "more than 4096"},
        {"2:CPU:4@", 9, "expected the numbers of cores"},
        {"2:CPU:4@0-6", 8, "7 cores are named, expected 8"},
        {"1:CPU:4@0-", 10, "the last of these cores"},
        {"1:CPU:2@3-2", 10, "the last of these cores"},
        {"1:CPU:4@0-2@2", 13, "core 2 is named twice"},
        {"1:CPU:2@0-1,1:GPU:1@1", 21, "core 1 is named twice"},
        {"2:GPU:2@0-3", 8, "4 cores are named, expected 2, one for each unit's leader"},
        {"1:CPU:1@65536", 9, "expected the numbers of cores"},
        {"1:CPU:2@0,1", 8, "1 core is named, expected 2"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct unit_list list;
        char place[64];
        assert_int_equal(unit_list_parse(&list, bad[i].text, 4, 0), EVN_USAGE);
        snprintf(place, sizeof place, "units: \"%s\" at column %d: ", bad[i].text, bad[i].column);
        if (strncmp(evn_message(), place, strlen(place)) != 0 ||
            !strstr(evn_message(), bad[i].says))
            fail_msg("\"%s\" gives: %s", bad[i].text, evn_message());
    }
}

TEST(refusals) {
    evn_units *units;
    assert_int_equal(evn_units_open(&units, machine, "4096:CPU:1", NULL, 0), EVN_USAGE);
    assert_null(units);
    assert_says("--oversubscribe");
    assert_int_equal(evn_units_open(&units, machine, "2:GPU:1", "emulated:1", 0), EVN_MISSING);
    assert_null(units);
    assert_says("asks for 2 devices");
    assert_int_equal(
        evn_units_open(&units, machine, "2:GPU:1", "emulated:1+emulated:1,clock=virtual", 0),
        EVN_USAGE);
    assert_null(units);
    assert_says("real and virtual clocks");
}

/* Each GPU unit has devices and queues of its own; the leaders of GPU units may share cores. */
TEST(units_of_devices) {
    OWN(units) *units;
    assert_ok(
        evn_units_open(&units, machine, "1:CPU:1,1:GPU:2,2:GPU:1", "emulated:memory=1MiB", 0));
    assert_int_equal(evn_units_about(units).devices, 4);
    evn_unit *cpu = evn_units_get(units, 0), *pair = evn_units_get(units, 1);
    evn_unit *last = evn_units_get(units, 3);
    assert_int_equal(evn_unit_devices(cpu), 0);
    assert_null(evn_unit_device(cpu, 0));
    assert_null(evn_unit_queue(cpu, 0));
    assert_int_equal(evn_unit_devices(pair), 2);
    assert_null(evn_unit_device(pair, 2));
    assert_ptr_not_equal(evn_unit_device(pair, 0), evn_unit_device(pair, 1));
    assert_int_equal(evn_unit_about(pair).device + 1, 1);
    assert_int_equal(evn_unit_about(last).device, 3);
    assert_int_equal(evn_device_traits(evn_unit_device(last, 0))->memory, 1 << 20);
    evn_units_close(units);
    /* every device asked for, also in `auto`, where they are named */
    assert_ok(evn_units_open(&units, machine, "auto", "emulated:2", 0));
    assert_int_equal(evn_units_about(units).gpus, 2);
}

static void count_calls(evn_unit *unit, void *arg) {
    atomic_int *calls = arg;
    atomic_fetch_add(&calls[evn_unit_number(unit)], 1);
}

/* Taking units away, the caller's own among them, leaves a working rest. */
TEST(remove) {
    OWN(units) *units;
    assert_ok(
        evn_units_open(&units, machine, "2:GPU:1,1:CPU:2,1:GPU:1", "emulated", EVN_OVERSUBSCRIBE));
    evn_device *kept = evn_unit_device(evn_units_get(units, 3), 0);
    assert_int_equal(units_remove(units, 4), EVN_USAGE);
    assert_ok(units_remove(units, 1));
    assert_string_equal(evn_units_text(units), "1:GPU:1,1:CPU:2,1:GPU:1");
    assert_ok(units_remove(units, 0));
    assert_string_equal(evn_units_text(units), "1:CPU:2,1:GPU:1");
    assert_ptr_equal(evn_unit_device(evn_units_get(units, 1), 0), kept);
    assert_int_equal(evn_units_about(units).devices, 1);
    atomic_int calls[2] = {0};
    for (int i = 0; i < 3; i++) evn_units_run(units, count_calls, calls);
    assert_int_equal(calls[0], 3);
    assert_int_equal(calls[1], 3);
    assert_ok(units_remove(units, 1));
    assert_int_equal(units_remove(units, 0), EVN_USAGE);
}

/* What each unit said of itself. */
struct said {
    int number[8], cores[8], gpu[8], device[8];
    pthread_t leader[8];
    atomic_int calls;
};

static void say(evn_unit *unit, void *arg) {
    struct said *said = arg;
    int me = evn_unit_number(unit);
    said->number[me] = me;
    said->cores[me] = evn_unit_cores(unit);
    said->gpu[me] = evn_unit_is_gpu(unit);
    said->device[me] = evn_unit_about(unit).device;
    said->leader[me] = pthread_self();
    atomic_fetch_add(&said->calls, 1);
}

TEST(questions) {
    OWN(units) *units = open_or_fail("3:CPU:2", EVN_OVERSUBSCRIBE);
    struct said said = {0};
    evn_units_run(units, say, &said);
    assert_int_equal(said.calls, 3);
    for (int u = 0; u < 3; u++) {
        assert_int_equal(said.number[u], u);
        assert_int_equal(said.cores[u], 2);
        assert_false(said.gpu[u]);
        assert_int_equal(said.device[u], -1);
        for (int v = 0; v < u; v++) assert_false(pthread_equal(said.leader[u], said.leader[v]));
    }
    assert_true(pthread_equal(said.leader[0], pthread_self()));
    assert_null(evn_units_get(units, 3));
    assert_null(evn_units_get(units, -1));
    evn_units_close(units);
    units = open_or_fail("1:CPU:4,2:GPU:3", EVN_DESCRIBE_ONLY);
    assert_int_equal(evn_units_about(units).gpus, 2);
    assert_int_equal(evn_unit_about(evn_units_get(units, 2)).device, 3);
    assert_int_equal(evn_unit_cores(evn_units_get(units, 2)), 1);
}

/* Every leader adds before the barrier and looks after it: one that passes too early sees too
 * little. */
struct rounds {
    atomic_int added;
    atomic_int wrong;
    int rounds, units;
};

static void synchronize(evn_unit *unit, void *arg) {
    struct rounds *m = arg;
    for (int i = 1; i <= m->rounds; i++) {
        atomic_fetch_add(&m->added, 1);
        evn_unit_synchronize(unit);
        if (atomic_load(&m->added) != i * m->units) atomic_store(&m->wrong, 1);
        evn_unit_synchronize(unit);
    }
}

TEST(synchronize) {
    static const char *const lists[] = {"1:CPU:1", "2:CPU:1", "5:CPU:1"};
    for (int i = 0; i < 3; i++) {
        OWN(units) *units = open_or_fail(lists[i], EVN_OVERSUBSCRIBE);
        struct rounds m = {.rounds = 2000, .units = evn_units_count(units)};
        evn_units_run(units, synchronize, &m);
        assert_int_equal(m.wrong, 0);
    }
}

/* Each thread of each team must be bound to its own core, and the caller gets its own binding back.
 */
TEST(binding) {
    cpu_set_t after;
    char list[32];
    int cores = evn_machine_cores(machine);
    snprintf(list, sizeof list, "1:CPU:%d", cores);
    const char *const lists[] = {list, "2:CPU:1"};
    for (int i = 0; i < (cores > 1 ? 2 : 1); i++) {
        OWN(units) *units = open_or_fail(lists[i], 0);
        if (evn_units_check_binding(units)) fail_msg("%s: %s", lists[i], evn_message());
        int core[2] = {evn_unit_core_number(evn_units_get(units, 0), 0), -1};
        if (i) core[1] = evn_unit_core_number(evn_units_get(units, 1), 0);
        assert_int_not_equal(core[0], core[1]);
    }
    pthread_getaffinity_np(pthread_self(), sizeof after, &after);
    assert_true(CPU_EQUAL(&at_start, &after));
}

/* FPGA units take emulated devices, and no others that are no accelerators. */
TEST(fpgas) {
    evn_units *units = OPEN(units, machine, "1:CPU:1,1:FPGA:2,1:GPU:1", "emulated", 0);
    assert_string_equal(evn_units_text(units), "1:CPU:1,1:FPGA:2,1:GPU:1");
    assert_int_equal(evn_units_about(units).gpus, 2);
    assert_int_equal(evn_units_about(units).devices, 3);
    assert_true(evn_unit_is_gpu(evn_units_get(units, 1)));
    assert_int_equal(evn_unit_devices(evn_units_get(units, 1)), 2);
    assert_ok(units_remove(units, 2));
    assert_string_equal(evn_units_text(units), "1:CPU:1,1:FPGA:2");
    evn_units_close(units);
    /* nothing is taken for an FPGA that is none: there is no accelerator, or too few */
    assert_fails(evn_units_open(&units, machine, "64:FPGA:1", NULL, EVN_OVERSUBSCRIBE), EVN_MISSING,
                 "opencl:type=accelerator");
}

/* Units on cores that the list names, and one that gets what is left. */
TEST(named_cores) {
    const int first = evn_machine_core_number(machine, 0);
    const int second = evn_machine_core_number(machine, 1);
    OWN(units) *units;
    char list[64];
    snprintf(list, sizeof list, "1:CPU:1@%d", 65535);
    assert_fails(evn_units_open(&units, machine, list, NULL, 0), EVN_USAGE,
                 "core 65535 is none of");
    snprintf(list, sizeof list, "1:CPU:1@%d,%d:CPU:1", first, evn_machine_cores(machine));
    assert_fails(evn_units_open(&units, machine, list, NULL, EVN_OVERSUBSCRIBE), EVN_USAGE,
                 "where units share cores none can be named");
    if (second < 0) skip();
    snprintf(list, sizeof list, "1:CPU:1,1:CPU:1@%d", first);
    units = open_or_fail(list, 0);
    assert_string_equal(evn_units_text(units), list);
    assert_int_equal(evn_unit_core_number(evn_units_get(units, 0), 0), second);
    assert_int_equal(evn_unit_core_number(evn_units_get(units, 1), 0), first);
    if (evn_units_check_binding(units)) fail_msg("%s: %s", list, evn_message());
    assert_ok(units_remove(units, 0));
    assert_string_equal(evn_units_text(units), strchr(list, ',') + 1);
}

/* check_binding must notice a thread that has gone elsewhere. */
static void go_astray(evn_unit *unit, void *arg) {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int i = 0; i < CPU_SETSIZE; i++) CPU_SET(i, &all);
    if (evn_unit_number(unit) == *(int *)arg)
        pthread_setaffinity_np(pthread_self(), sizeof all, &all);
}

TEST(binding_is_checked) {
    if (evn_machine_cores(machine) < 2) skip();
    OWN(units) *units = open_or_fail("2:CPU:1", 0);
    int who = 1;
    evn_units_run(units, go_astray, &who);
    assert_fails(evn_units_check_binding(units), EVN_SYSTEM, "unit 1");
}

/* ---- what the caller's own threads see ---- */

enum { THREADS_MAX = 64 };

/* Where each thread of an ordinary region may run. */
static int look_around(int threads, cpu_set_t *mask) {
    int got = 0;
    if (threads > THREADS_MAX) threads = THREADS_MAX;
#pragma omp parallel num_threads(threads)
    {
        pthread_getaffinity_np(pthread_self(), sizeof *mask, &mask[omp_get_thread_num()]);
        if (evn_units_here()) fail_msg("a unit outside of a job");
#pragma omp single
        got = omp_get_num_threads();
    }
    return got;
}

/* The caller may run where it could, and no two threads share a core while there are others. */
static void assert_own_threads(int threads) {
    cpu_set_t mask[THREADS_MAX];
    const int got = look_around(threads, mask);
    assert_true(CPU_EQUAL(&mask[0], &at_start));
    for (int i = 0; i < got; i++)
        for (int j = 0; j < i; j++)
            if (CPU_COUNT(&at_start) > 1 && CPU_COUNT(&mask[i]) == 1 &&
                CPU_EQUAL(&mask[i], &mask[j]))
                fail_msg("threads %d and %d of %d share a core", j, i, got);
}

static cpu_set_t own_mask(void) {
    cpu_set_t mask;
    pthread_getaffinity_np(pthread_self(), sizeof mask, &mask);
    return mask;
}

static void nothing(evn_unit *unit, void *arg) {
    (void)unit;
    (void)arg;
}

/* With the thread as it is where OMP_PROC_BIND has not bound it; a runtime that is told to bind
 * moves its threads about as it likes. */
static int runtime_binds(void) { return omp_get_proc_bind() != omp_proc_bind_false; }

TEST(own_regions) {
    const int cores = evn_machine_cores(machine);
    char all[32];
    snprintf(all, sizeof all, "1:CPU:%d", cores);
    const char *const lists[] = {all, "2:CPU:1", "1:CPU:1"};
    omp_set_dynamic(1);
    for (int l = 0; l < 3; l++) {
        if (l == 1 && cores < 2) continue;
        evn_units *units = open_or_fail(lists[l], 0);
        const int sizes[] = {2, cores > 2 ? cores - 1 : 1, cores + 3, 1, cores, 2 * cores, 2};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            cpu_set_t mask = own_mask();
            assert_true(CPU_EQUAL(&mask, &at_start));
            assert_int_equal(omp_get_dynamic(), 1);
            omp_set_dynamic(0);
            if (!runtime_binds()) assert_own_threads(sizes[i]);
            omp_set_dynamic(1);
            /* and then in bodies each is on its core */
            if (evn_units_check_binding(units)) fail_msg("%s: %s", lists[l], evn_message());
            evn_units_run(units, nothing, NULL);
        }
        evn_units_close(units);
        cpu_set_t mask[THREADS_MAX];
        omp_set_dynamic(0);
        const int got = look_around(cores, mask);
        omp_set_dynamic(1);
        for (int i = 0; !runtime_binds() && i < got; i++)
            assert_true(CPU_EQUAL(&mask[i], &at_start));
    }
    omp_set_dynamic(0);
}

/* Threads that have gone elsewhere come back, since the caller's runtime may do that with them. */
TEST(strays_come_back) {
    if (evn_machine_cores(machine) < 2) skip();
    evn_units *units = open_or_fail("1:CPU:2", 0);
    const int second = evn_unit_core_number(evn_units_get(units, 0), 0);
#pragma omp parallel num_threads(2)
    {
        cpu_set_t first;
        CPU_ZERO(&first);
        CPU_SET(second, &first); /* both to one core */
        pthread_setaffinity_np(pthread_self(), sizeof first, &first);
    }
    if (evn_units_check_binding(units)) fail_msg("%s", evn_message());
    pthread_setaffinity_np(pthread_self(), sizeof at_start, &at_start);
    evn_units_close(units);
}

TEST(stay_bound) {
    evn_units *units = open_or_fail("1:CPU:1", EVN_STAY_BOUND);
    for (int i = 0; i < 2; i++) {
        cpu_set_t mask = own_mask();
        assert_int_equal(CPU_COUNT(&mask), 1);
        assert_true(CPU_ISSET(evn_unit_core_number(evn_units_get(units, 0), 0), &mask));
        assert_ok(evn_units_run(units, nothing, NULL));
    }
    evn_units_close(units);
    cpu_set_t mask = own_mask();
    assert_true(CPU_EQUAL(&mask, &at_start));
}

/* Two sets of units at a time, closed in either order. */
TEST(two_sets) {
    const int cores = evn_machine_cores(machine);
    char all[32];
    snprintf(all, sizeof all, "1:CPU:%d", cores);
    for (int kind = 0; kind < 16; kind++) {
        evn_units *set[2];
        for (int s = 0; s < 2; s++)
            set[s] = open_or_fail(s == (kind >> 3) ? all
                                  : cores > 1      ? "2:CPU:1"
                                                   : "1:CPU:1",
                                  kind >> s & 1 ? EVN_STAY_BOUND : 0);
        for (int i = 0; i < 4; i++)
            if (evn_units_check_binding(set[i & 1])) fail_msg("set %d: %s", i & 1, evn_message());
        const int first = kind >> 2 & 1;
        evn_units_close(set[first]);
        if (evn_units_check_binding(set[!first])) fail_msg("after one closed: %s", evn_message());
        evn_units_close(set[!first]);
        cpu_set_t mask = own_mask();
        assert_true(CPU_EQUAL(&mask, &at_start));
    }
}

/* ---- whose thread am I ---- */

static void ask_here(evn_unit *unit, void *arg) {
    atomic_int *wrong = arg;
    if (evn_units_here() != unit) atomic_fetch_add(wrong, 1);
#pragma omp parallel num_threads(evn_unit_cores(unit))
    {
        if (evn_units_here() != unit) atomic_fetch_add(wrong, 1);
#pragma omp parallel num_threads(2)
        if (!omp_get_thread_num() && evn_units_here() != unit) atomic_fetch_add(wrong, 1);
    }
    if (evn_units_here() != unit) atomic_fetch_add(wrong, 1);
}

static void ask_crew(evn_crew *crew, int me, int cores, void *arg) {
    (void)crew;
    (void)me;
    (void)cores;
    if (!evn_units_here()) atomic_fetch_add((atomic_int *)arg, 1);
}

TEST(here) {
    static const struct {
        const char *list;
        unsigned flags;
    } cases[] = {
        {"1:CPU:1", 0},
        {"1:CPU:4", EVN_OVERSUBSCRIBE},
        {"3:CPU:3", EVN_OVERSUBSCRIBE},
        {"1:CPU:2,1:GPU:1", EVN_OVERSUBSCRIBE},
        {"2:CPU:3", EVN_OVERSUBSCRIBE | EVN_STAY_BOUND},
        {"2:CPU:1,1:GPU:1", EVN_DESCRIBE_ONLY},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    cpu_set_t mask[THREADS_MAX];
    atomic_int wrong = 0;
    assert_null(evn_units_here());
    for (int i = 0; i < CASES; i++) {
        evn_units *units = NULL, *more;
        assert_ok(evn_units_open(&units, machine, cases[i].list, "emulated", cases[i].flags));
        evn_crew *crew = OPEN(crew, units, 8);
        for (int round = 0; round < 3; round++) {
            assert_ok(evn_units_run(units, ask_here, &wrong));
            assert_null(evn_units_here());
            if (!(cases[i].flags & EVN_STAY_BOUND)) look_around(round ? 2 : 5, mask);
            for (int cores = 1; cases[i].flags != EVN_DESCRIBE_ONLY && cores < 4; cores++)
                assert_ok(evn_crew_run(crew, NULL, cores, ask_crew, &wrong));
            more = open_or_fail("1:CPU:2", EVN_OVERSUBSCRIBE);
            assert_ok(evn_units_run(more, ask_here, &wrong));
            evn_units_close(more);
        }
        evn_crew_close(crew);
        evn_units_close(units);
        assert_null(evn_units_here());
        look_around(5, mask);
    }
    assert_int_equal(wrong, 0);
}

/* A thread that the runtime has kept from a team whose units are closed is not taken for one of the
 * units that came after them. */
static void ask_late(evn_unit *unit, void *arg) {
    evn_unit_synchronize(unit);
    if (!evn_unit_number(unit)) {
#pragma omp parallel num_threads(4)
        if (evn_units_here() && evn_units_here() != unit) atomic_fetch_add((atomic_int *)arg, 1);
    }
    evn_unit_synchronize(unit);
}

TEST(here_of_kept_threads) {
    atomic_int wrong = 0;
    static const char *const lists[] = {"1:CPU:4,1:CPU:1", "1:CPU:4", "1:CPU:1,1:CPU:1"};
    for (int i = 0; i < 3; i++) {
        OWN(units) *units = open_or_fail(lists[i], EVN_OVERSUBSCRIBE);
        evn_units_close(units);
        units = open_or_fail("2:CPU:1", EVN_OVERSUBSCRIBE);
        assert_ok(evn_units_run(units, ask_late, &wrong));
    }
    assert_int_equal(wrong, 0);
}

/* ---- fork ---- */

static void *open_in_thread(void *arg) {
    int *bad = arg;
    evn_units *units;
    atomic_int wrong = 0;
    *bad = evn_units_open(&units, machine, "2:CPU:2", NULL, EVN_OVERSUBSCRIBE) != EVN_OK;
    if (*bad) return NULL;
    *bad = evn_units_run(units, ask_here, &wrong) != EVN_OK || wrong;
    evn_units_close(units);
    return NULL;
}

static void in_child(evn_units *units) {
    evn_units *own;
    int bad = 0;
    alarm(120);
    if (evn_units_run(units, nothing, NULL) != EVN_USAGE || !strstr(evn_message(), "forked"))
        _exit(1);
    if (units_remove(units, 1) != EVN_USAGE) _exit(2);
    if (evn_units_check_binding(units) == EVN_SYSTEM) _exit(3);
    evn_units_close(units);
    if (evn_units_open(&own, machine, "1:CPU:2", NULL, EVN_OVERSUBSCRIBE) != EVN_USAGE) _exit(4);
    if (!strstr(evn_message(), "new thread")) _exit(5);
    pthread_t thread;
    if (pthread_create(&thread, NULL, open_in_thread, &bad)) _exit(6);
    pthread_join(thread, NULL);
    _exit(bad ? 7 : 0);
}

TEST(fork) {
    if (THREAD_SANITIZER) skip(); /* it allows no threads in a child */
    for (int stays = 0; stays < 2; stays++) {
        const unsigned flags = EVN_OVERSUBSCRIBE | (stays ? EVN_STAY_BOUND : 0);
        OWN(units) *units = OPEN(units, machine, "2:CPU:2,1:GPU:1", "emulated", flags);
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) in_child(units);
        assert_ends_well(child);
        assert_ok(evn_units_run(units, nothing, NULL));
    }
}

TEST(synthetic) {
    evn_machine *m;
    assert_ok(evn_machine_open_synthetic(&m, "package:2 l3:1 core:16 pu:2"));
    assert_int_equal(evn_machine_cores(m), 32);
    assert_int_equal(evn_machine_about(m).packages, 2);
    assert_false(evn_machine_about(m).here);
    evn_units *units = OPEN(units, m, "4:CPU:8", NULL, 0);
    assert_int_equal(evn_units_count(units), 4);
    evn_units_close(units);
    evn_machine_close(m);
    assert_int_equal(evn_machine_open_synthetic(&m, "hoof:4"), EVN_USAGE);
    assert_null(m);
}

/* Threads that are tried are gone again; of what cannot be it is said how many there were and why.
 */
TEST(threads_try) {
    assert_ok(evn_threads_try(0, 0));
    assert_ok(evn_threads_try(-1, 0));
    for (int i = 0; i < 20; i++) assert_ok(evn_threads_try(16, 0));
    assert_fails(evn_threads_try(1, (size_t)1 << 60), EVN_SYSTEM, "OMP_STACKSIZE");
    setenv("OMP_STACKSIZE", " 200000 G ", 1); /* beyond the address space */
    assert_fails(evn_threads_try(1, 0), EVN_SYSTEM, "0 of 1");
    setenv("OMP_STACKSIZE", "48k", 1);
    assert_ok(evn_threads_try(1, 0));
    assert_int_equal(evn_threads_try(1, 64 << 10), EVN_SYSTEM);
    setenv("OMP_STACKSIZE", "nonsense", 1);
    assert_ok(evn_threads_try(1, 64 << 10));
    unsetenv("OMP_STACKSIZE");
}

RUN_TESTS(set_up, tear_down)
