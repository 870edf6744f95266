/* Teams of OpenMP on cores that others use too: they do not look for milliseconds before they
 * sleep. build/tests/test-spare
 *
 * What is measured is processor time, the least of several tries; nothing depends on how busy the
 * machine is. */
#include "check.h"
#include "base/claim.h"
#include "unit/internal.h"
#include "unit/share.h"
#include "unit/spare.h"
#include <dirent.h>
#include <math.h>
#include <omp.h>
#include <time.h>
#include <unistd.h>

static evn_machine *machine;

static int threads(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *e; folder && (e = readdir(folder));) count += e->d_name[0] != '.';
    if (folder) closedir(folder);
    return count;
}

static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void doze(double seconds) {
    nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - (time_t)seconds))}, NULL);
}

/* What a team takes when its region is over and the leader does something else. */
static void job(evn_unit *unit, void *least) {
    for (int i = 0; i < 20; i++) {
        atomic_int sum = 0;
#pragma omp parallel num_threads(evn_unit_cores(unit))
        atomic_fetch_add(&sum, 1);
        assert_int_equal(sum, evn_unit_cores(unit));
        const double before = processor_time();
        doze(0.02);
        const double used = processor_time() - before;
        if (used < *(double *)least) *(double *)least = used;
    }
}

/* Another process has claimed all cores before. */
static pid_t claim_all(int *until) {
    int said[2], end[2], core[CLAIM_CORES];
    char c;
    assert_int_equal(pipe(said) | pipe(end), 0);
    const pid_t child = fork();
    if (!child) {
        close(end[1]);
        for (int i = 0; i < CLAIM_CORES; i++) core[i] = i;
        if (!claim_take(core, CLAIM_CORES)) _exit(1);
        if (write(said[1], "", 1) != 1) _exit(1);
        _exit(read(end[0], &c, 1) != 0);
    }
    assert_int_equal(read(said[0], &c, 1), 1);
    close(said[0]);
    close(said[1]);
    close(end[0]);
    *until = end[1];
    return child;
}

/* Units whose cores other programs have. */
TEST(from_the_beginning) {
    double least = 1;
    int until, status;
    char path[] = "/tmp/evener-claims-XXXXXX";
    if (evn_machine_cores(machine) < 2) skip();
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    setenv("EVENER_CLAIMS", path, 1);
    const pid_t child = claim_all(&until);
    evn_units *units = OPEN(units, machine, "1:CPU:2", NULL, 0);
    const int taken = !strcmp(evn_unit_about(&units->unit[0]).binding, "taken");
    assert_int_equal(atomic_load(&units->spares), taken);
    assert_ok(evn_units_run(units, job, &least));
    const int with = threads();
    evn_units_close(units);
    close(until);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    setenv("EVENER_CLAIMS", "", 1);
    unlink(path);
    if (!taken) skip(); /* a quota: nothing is bound */
    assert_true(least < 0.5e-3);
    /* the spare threads end; the runtime may keep those of the caller's own team */
    for (int i = 0; i < 1000 && threads() > with - 2; i++) doze(0.01);
    assert_true(threads() <= with - 2);
}

static atomic_int over;

/* Has a core for itself, as others' programs do. */
static void *compete(void *core) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(*(int *)core, &mask);
    pthread_setaffinity_np(pthread_self(), sizeof mask, &mask);
    while (!atomic_load(&over)) continue;
    return NULL;
}

static void short_job(evn_unit *unit, void *unused) {
    (void)unused;
    for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(evn_unit_cores(unit))
        for (volatile int n = 0; n < 1000;) n = n + 1;
    }
}

/* Units whose team finds others' threads on all of its cores later on. */
TEST(later) {
    pthread_t other[2];
    if (evn_machine_cores(machine) < 2) skip();
    OWN(units) *units = OPEN(units, machine, "1:CPU:2", NULL, 0);
    evn_unit *unit = &units->unit[0];
    if (!unit->core || unit->look == INFINITY) { /* cores are others', or there is a quota */
        evn_units_close(units);
        skip();
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&other[i], NULL, compete, &unit->core[i]), 0);
    const double begin = evn_now();
    while (!atomic_load(&units->spares) && evn_now() - begin < 300)
        assert_ok(evn_units_run(units, short_job, NULL));
    print_message("after %g s\n", evn_now() - begin);
    assert_int_equal(atomic_load(&units->spares), 1);
    atomic_store(&over, 1);
    for (int i = 0; i < 2; i++) pthread_join(other[i], NULL);
}

static void brief_job(evn_unit *unit, void *unused) {
    (void)unit, (void)unused;
    for (volatile int n = 0; n < 1000;) n = n + 1;
}

/* Units of one core, whose leader waits for its core: the program may have a team of OpenMP's. With
 * a unit that has a team, that is no reason. */
TEST(leaders) {
    static const struct {
        const char *units;
        int spares;
    } row[] = {{"2:CPU:1", 1}, {"1:CPU:2", 0}};
    if (evn_machine_cores(machine) < 2) skip();
    for (int r = 0; r < 2; r++) {
        pthread_t other;
        OWN(units) *units = OPEN(units, machine, row[r].units, NULL, EVN_CALLER_FREE);
        evn_unit *unit = &units->unit[units->count - 1];
        if (!unit->core || unit->look == INFINITY) { /* cores are others', or there is a quota */
            evn_units_close(units);
            skip();
        }
        atomic_store(&over, 0);
        if (row[r].spares)
            assert_int_equal(pthread_create(&other, NULL, compete, &unit->core[0]), 0);
        else
            units_interrupted(units);
        const double begin = evn_now();
        do {
            assert_ok(evn_units_run(units, brief_job, NULL));
        } while (row[r].spares && !atomic_load(&units->spares) && evn_now() - begin < 300);
        assert_int_equal(atomic_load(&units->spares), row[r].spares);
        atomic_store(&over, 1);
        if (row[r].spares) pthread_join(other, NULL);
    }
}

TEST(choice) {
    static const char *const name[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
    assert_int_equal(spare_may_choose(), 1);
    for (int i = 0; i < 3; i++) {
        setenv(name[i], "1", 1);
        assert_int_equal(spare_may_choose(), 0);
        setenv(name[i], "", 1);
        assert_int_equal(spare_may_choose(), 1);
        unsetenv(name[i]);
    }
}

int main(void) {
    if (!spare_may_choose()) {
        printf("skipped: OpenMP's waits are chosen\n");
        return SKIPPED;
    }
    setenv("EVENER_CLAIMS", "", 1);
    if (evn_machine_open(&machine)) return 1;
    const int failed = run_all_tests(NULL, NULL);
    evn_machine_close(machine);
    return failed;
}
