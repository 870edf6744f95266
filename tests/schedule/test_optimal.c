/* The exact schedule: its bounds against every assignment of small problems, and what it must prove
 * on BT-MZ. (Its answers against the best of all assignments: test_places.c.) Run: ctest -R optimal
 */
#include "schedule/open.h"
#include "schedule/version.h"
#include "schedule/weigh.h"
#include "failing.h"
#include "npbmz/npbmz.h"
#include "policy/optimal/bound.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the library and its process: these tests are the first ---- */

enum { HARD_TASKS = 23 };

/* A problem that search and argument leave open. */
static const evn_problem *hard(void) {
    static double weight[HARD_TASKS];
    static evn_link link[HARD_TASKS - 1];
    static const evn_problem p = {.tasks = HARD_TASKS,
                                  .weight = weight,
                                  .links = HARD_TASKS - 1,
                                  .link = link,
                                  .units = 4,
                                  .bandwidth = 1};
    for (int i = 0; i < HARD_TASKS; i++) weight[i] = 1000 + i * 7919 % 997;
    for (int i = 0; i < HARD_TASKS - 1; i++) link[i] = (evn_link){{i, i + 1}, 800.0 * (1 + i % 3)};
    return &p;
}

static int threads_here(void) {
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    int count = 0;
    while (f && fgets(line, sizeof line, f)) sscanf(line, "Threads: %d", &count);
    if (f) fclose(f);
    return count;
}

/* Only where the solver is needed. */
TEST(missing) {
    const evn_problem easy = {.tasks = 4, .units = 2};
    evn_schedule *s;
    setenv("EVENER_CBC", "/nowhere/libCbcSolver.so", 1);
    assert_int_equal(evn_schedule_open(&s, "optimal:nodes=5", hard()), EVN_MISSING);
    assert_null(s);
    assert_says("COIN-OR CBC");
    assert_says("EVENER_CBC=\"/nowhere/libCbcSolver.so\"");
    assert_int_equal(evn_schedule_open(&s, "optimal:gap=x", hard()), EVN_USAGE);
    evn_schedule_close(open_or_fail("optimal", &easy));
    evn_schedule_close(open_or_fail("optimal:limit=0", hard()));
    unsetenv("EVENER_CBC");
}

TEST(foreign) {
    static const struct {
        const char *file, *says;
    } of[] = {{FAKES "fake_cbc_new.so", "is CBC 3.0, and 2.10 is needed"},
              {FAKES "fake_cbc_lacks.so", "has no Cbc_bestSolution"}};
    for (int i = 0; i < 2; i++) {
        const char *library;
        char text[256];
        setenv("EVENER_CBC", of[i].file, 1);
        assert_fails(evn_schedule_library("optimal", &library, text, sizeof text), EVN_MISSING,
                     of[i].says);
        assert_string_equal(library, "COIN-OR CBC");
        assert_int_equal(threads_here(), 1);
    }
    unsetenv("EVENER_CBC");
}

static int *marks; /* calls of the program's own functions, of its children, too */
static void mark(void) { ++*marks; }
static void on_signal(int number) {
    (void)number;
    mark();
}

/* Neither the program's streams, nor its handlers, nor its atexit() functions, nor threads of the
 * library's are its process's business. */
static void see_child(void) {
    struct stat about;
    const struct optimal_proof *proof;
    char text[64], *why;
    FILE *file = tmpfile(), *other = tmpfile();
    marks = mmap(NULL, sizeof *marks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(file && other && marks != MAP_FAILED);
    fflush(NULL);
    const int out = dup(STDOUT_FILENO);
    assert_true(out >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    atexit(mark);
    signal(SIGURG, on_signal);
    printf("banner");
    fputs("letter", other);
    setenv("EVENER_CBC", FAKES "fake_cbc_bad.so", 1);
    for (int i = 0; i < 2; i++) {
        OWN(schedule) *s = open_or_fail(i ? "optimal:limit=5" : "optimal:nodes=5", hard());
        proof = optimal_proof(s);
        assert_true(proof->solved && !proof->answered && proof->bound > 0);
        assert_non_null(why = evn_schedule_explain(s));
        assert_non_null(strstr(why, "no answer"));
        free(why);
    }
    unsetenv("EVENER_CBC");
    assert_int_equal(fstat(fileno(file), &about), 0);
    assert_int_equal(about.st_size, 0);
    assert_int_equal(fstat(fileno(other), &about), 0);
    assert_int_equal(about.st_size, 0);
    assert_int_equal(*marks, 0);
    assert_int_equal(threads_here(), 1);
    fflush(stdout);
    assert_int_equal(pread(fileno(file), text, sizeof text, 0), 6);
    assert_memory_equal(text, "banner", 6);
    dup2(out, STDOUT_FILENO);
    close(out);
    fclose(file);
    fclose(other);
    signal(SIGURG, SIG_DFL);
}

TEST(child) {
    const evn_problem *p = hard();
    assert_int_equal(p->tasks, HARD_TASKS);
    see_child();
}

/* A solver that the system has stopped uses no processor time, and is given up all the same. */
TEST(stopped_solver) {
    setenv("EVENER_CBC", FAKES "fake_cbc_stops.so", 1);
    alarm(30); /* ends the test where it would wait on */
    evn_schedule *s = open_or_fail("optimal:limit=0.05", hard());
    alarm(0);
    assert_true(optimal_proof(s)->solved && !optimal_proof(s)->answered);
    evn_schedule_close(s);
    unsetenv("EVENER_CBC");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static int refused; /* fork() is */
pid_t fork(void) {
    pid_t (*real)(void);
    void *call = dlsym(RTLD_NEXT, "fork");
    memcpy(&real, &call, sizeof call);
    errno = EAGAIN;
    const pid_t pid = refused ? -1 : real();
    if (!pid) fails = 0; /* the solver's own allocations do not */
    return pid;
}

/* Without a process there is no answer that would be another than with one. */
TEST(no_process) {
    static const char *const texts[] = {"optimal:nodes=5", "optimal:limit=5"};
    evn_schedule *s;
    refused = 1;
    for (int i = 0; i < 2; i++) {
        assert_fails(evn_schedule_open(&s, texts[i], hard()), EVN_SYSTEM,
                     "process of its solver cannot be made");
        assert_says("ulimit -s");
    }
    refused = 0;
}

/* Each allocation fails once, in opening, other weights and an import: a failure or a plan, and
 * nothing is left behind. */
TEST(memory) {
    if (!HAVE_FAILING) skip();
    evn_problem near = *hard();
    double bytes[HARD_TASKS], capacity[4] = {6, 6, 6, 5}, weight[HARD_TASKS];
    const evn_route route = {1, {0}, {1}}, far = {1, {0}, {3}};
    const int node[] = {0, 0, 1, 1};
    for (int t = 0; t < HARD_TASKS; t++) bytes[t] = 1, weight[t] = 1 + t % 5;
    near.route = &route;
    near.far = &far;
    near.node = node;
    near.bytes = bytes;
    near.capacity = capacity;
    const evn_problem *const of[] = {hard(), &near};
    setenv("EVENER_SCOTCH", "/nowhere", 1); /* its allocations are many, and its own */
    setenv("EVENER_CBC", FAKES "fake_cbc_bad.so", 1);
    /* what is allocated once and kept */
    for (int i = 0; i < 2; i++) evn_schedule_close(open_or_fail("optimal:nodes=1,gap=0", of[i]));
    evn_schedule *plain = open_or_fail("optimal:limit=0", hard());
    char *plan = evn_schedule_export(plain);
    evn_schedule_close(plain);
    for (int i = 0; i < 3; i++)
        for (long n = 1, ended = 0; !ended; n += i == 1 ? 1 + n / 16 : 1) {
            evn_schedule *s = NULL;
            const long before = allocated;
            evn_status status = EVN_OK;
            if (i < 2) fails = n;
            status = evn_schedule_open(&s, i < 2 ? "optimal:nodes=1,gap=0" : "optimal:limit=0",
                                       of[i % 2]);
            if (i == 2) fails = n;
            if (!status) status = schedule_weights(s, i == 2 ? weight : of[i]->weight);
            if (!status && i == 2) status = evn_schedule_import(s, plan);
            ended = fails > 0;
            fails = 0;
            if (status && status != EVN_MEMORY) fail_msg("%d, %ld: %s", i, n, evn_message());
            evn_schedule_close(s);
            if (allocated != before)
                fail_msg("%d: %ld blocks are left behind where allocation %ld fails", i,
                         allocated - before, n);
        }
    free(plan);
    unsetenv("EVENER_CBC");
}

/* ---- bounds and plans ---- */

/* The smallest largest load of all assignments. */
static double smallest(const evn_problem *p) {
    int owner[16] = {0};
    double least = INFINITY;
    for (int t = 0; t >= 0;) {
        least = fmin(least, makespan(p, owner));
        for (t = p->tasks - 1; t >= 0 && ++owner[t] == p->units; t--) owner[t] = 0;
    }
    return least;
}

enum { MAX_LINKS = 64 };
struct sample {
    evn_problem p;
    double weight[16], speed[4];
    evn_link link[MAX_LINKS];
};

/* A grid of tasks, its rows and columns closed to rings if `ring`; links as long as the neighbours
 * are wide, which is what makes a grid of zones, or each of its own length. */
static void grid(struct sample *s, int across, int up, int ring, int units, int own,
                 unsigned long long *seed) {
    double wide[16], high[16];
    *s = (struct sample){0};
    for (int i = 0; i < across; i++) wide[i] = 1 + 4 * draw(seed);
    for (int j = 0; j < up; j++) high[j] = 1 + 4 * draw(seed);
    for (int t = 0; t < across * up; t++) {
        int i = t % across, j = t / across;
        s->weight[t] = wide[i] * high[j] * (own ? draw(seed) : 1);
        for (int d = 0; d < 2; d++) {
            int n = d ? up : across, at = d ? j : i;
            if (at == n - 1 && (!ring || n < 3)) continue;
            int to = d ? i + (j + 1) % up * across : (i + 1) % across + j * across;
            s->link[s->p.links++] =
                (evn_link){{t, to}, (d ? wide[i] : high[j]) * (own ? draw(seed) : 1)};
        }
    }
    for (int u = 0; u < units; u++) s->speed[u] = own && u ? 1 + 2 * draw(seed) : 1;
    s->p.tasks = across * up;
    s->p.units = units;
    s->p.weight = s->weight;
    s->p.speed = s->speed;
    s->p.link = s->link;
    s->p.bandwidth = 0.3 + 3 * draw(seed);
}

/* No set of tasks has a shorter boundary than isoperimetry says. */
TEST(boundary) {
    static const int shape[][3] = {{4, 4, 1}, {4, 3, 0}, {5, 3, 1}, {2, 6, 1}, {12, 1, 1},
                                   {1, 9, 0}, {2, 2, 0}, {3, 4, 1}, {6, 2, 0}};
    unsigned long long seed = 5;
    double tightest = 0;
    for (size_t k = 0; k < sizeof shape / sizeof *shape; k++)
        for (int own = 0; own < 2; own++) {
            struct sample s;
            struct optimal_model m;
            grid(&s, shape[k][0], shape[k][1], shape[k][2], 2, own, &seed);
            assert_int_equal(optimal_model_make(&m, &s.p, 0, 0), EVN_OK);
            assert_true(m.across > 0);
            for (unsigned set = 1; set + 1 < 1u << s.p.tasks; set++) {
                double weight = 0, boundary = 0;
                for (int t = 0; t < s.p.tasks; t++)
                    if (set >> t & 1) weight += m.weight[t];
                for (int l = 0; l < s.p.links; l++)
                    if ((set >> s.link[l].task[0] & 1) != (set >> s.link[l].task[1] & 1))
                        boundary += s.link[l].bytes / s.p.bandwidth / m.unit;
                double bound = optimal_boundary(&m, weight);
                if (bound > boundary * (1 + 1e-12))
                    fail_msg("grid %d x %d, set %x: boundary %g, bound %g", shape[k][0],
                             shape[k][1], set, boundary, bound);
                tightest = fmax(tightest, bound / boundary);
                double load = weight / m.speed[1] + boundary;
                if (optimal_capacity(&m, 1, load) < weight * (1 - 1e-9))
                    fail_msg(
                        "grid %d x %d, set %x: %g fits under %g, but a capacity of %g was said",
                        shape[k][0], shape[k][1], set, weight, load, optimal_capacity(&m, 1, load));
            }
            optimal_model_free(&m);
        }
    assert_true(tightest > 0.99); /* it is not proven by being 0 */
}

/* Bounds below the best of all assignments, also where communication decides. */
TEST(bound) {
    static const int shape[][4] = {{4, 3, 1, 2}, {3, 3, 1, 3}, {3, 3, 0, 2}, {9, 1, 1, 3},
                                   {4, 2, 0, 3}, {2, 3, 1, 4}, {5, 2, 1, 2}};
    unsigned long long seed = 11;
    int isoperimetry = 0;
    for (int again = 0; again < 8; again++)
        for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) {
            struct sample s;
            struct optimal_model m;
            const char *why;
            grid(&s, shape[k][0], shape[k][1], shape[k][2], shape[k][3], again & 1, &seed);
            if (again == 6) s.p.bandwidth = 0;
            assert_int_equal(optimal_model_make(&m, &s.p, 0, 0), EVN_OK);
            /* far above the best, which would hide a bound that is too high */
            const int all_on_one[16] = {0};
            double best = smallest(&s.p), start = makespan(&s.p, all_on_one) / m.unit;
            double bound = optimal_bound(&m, start, &why) * m.unit;
            if (bound > best * (1 + 1e-9))
                fail_msg("grid %zu: bound %.9g (%s), but %.9g is possible", k, bound, why, best);
            assert_true(bound > 0.3 * best);
            isoperimetry += !strncmp(why, "iso", 3);
            optimal_model_free(&m);
        }
    assert_true(isoperimetry > 5);
}

/* Issue's promise: within 1 % (B, C) and 2 % (D) proven, free links and those of four V100s. */
TEST(bt) {
    double speed[4];
    for (int u = 0; u < 4; u++) speed[u] = 22.3e6;
    for (const char *c = "BCD"; *c; c++)
        for (int k = 0; k < 6; k++) {
            npbmz *b;
            assert_int_equal(npbmz_open(&b, NPBMZ_BT, *c), EVN_OK);
            evn_problem p = npbmz_tasks(b);
            p.units = k & 1 ? 4 : 2;
            p.speed = speed;
            p.bandwidth = k < 2 ? 0 : k < 4 ? 75e9 : 12e9;
            evn_schedule *s = open_or_fail("optimal:nodes=1000", &p);
            const struct optimal_proof *proof = optimal_proof(s);
            double total = 0, got = makespan(&p, evn_schedule_owner(s));
            for (int t = 0; t < p.tasks; t++) total += p.weight[t] / speed[0];
            assert_true(fabs(got - proof->longest) <= 1e-9 * got);
            assert_true(got >= total / p.units * (1 - 1e-12));
            assert_true(proof->bound >= total / p.units * (1 - 1e-9));
            if (p.bandwidth > 0) assert_true(proof->bound > total / p.units * (1 + 1e-6));
            if (proof->gap > 0.01)
                fail_msg("class %c, %d units: gap %g (%s; %s)", *c, p.units, proof->gap,
                         proof->found, proof->proved);
            evn_schedule_close(s);
            npbmz_close(b);
        }
}

/* Stopped early it still says how far it can be from the optimum, and says the same each time; and
 * the solver prints nothing. */
TEST(stopped_early) {
    double speed[4] = {1, 1, 1, 1};
    evn_problem p = *hard();
    p.speed = speed;
    fflush(stdout);
    int terminal = dup(STDOUT_FILENO);
    FILE *said = tmpfile();
    assert_non_null(said);
    dup2(fileno(said), STDOUT_FILENO);
    OWN(schedule) *s = open_or_fail("optimal:gap=0,nodes=5", &p),
                  *same = open_or_fail("optimal:gap=0,nodes=5", &p),
                  *timed = open_or_fail("optimal:gap=0,limit=0.3", &p);
    fflush(stdout);
    dup2(terminal, STDOUT_FILENO);
    close(terminal);
    fseek(said, 0, SEEK_END);
    assert_int_equal(ftell(said), 0);
    fclose(said);
    const struct optimal_proof *proof = optimal_proof(s), *other = optimal_proof(same);
    assert_true(proof->solved);
    assert_true(proof->gap > 0 && isfinite(proof->gap));
    assert_true(proof->bound > 0 && proof->bound < proof->longest);
    assert_true(proof->bound == other->bound && proof->nodes == other->nodes);
    assert_memory_equal(evn_schedule_owner(s), evn_schedule_owner(same),
                        sizeof(int) * (size_t)p.tasks);
    assert_true(optimal_proof(timed)->gap > 0 && optimal_proof(timed)->bound > 0);

    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    optimal_explain(s, f);
    fclose(f);
    assert_non_null(strstr(text, proof->proved));
    assert_non_null(strstr(text, "CBC searched"));
    assert_non_null(strchr(text, '\n'));
    free(text);
    /* what is imported is judged by the same bound */
    OWN(schedule) *plain = open_or_fail("static", &p);
    char plan[256], *from = evn_schedule_export(plain);
    snprintf(plan, sizeof plan, "%s%s", evn_schedule_text(s), strchr(from, ' '));
    if (evn_schedule_import(s, plan)) fail_msg("%s", evn_message());
    assert_true(fabs(proof->longest - makespan(&p, evn_schedule_owner(plain))) <
                1e-9 * proof->longest);
    assert_true(fabs(proof->longest / proof->bound - 1 - proof->gap) < 1e-9);
    free(from);
}

/* A unit that no rule has used gets a task as long as that makes nothing worse. */
TEST(slow_unit_used) {
    double weight[] = {10, 0.5, 0.5}, speed[] = {1, 1, 0.1};
    evn_problem p = {.tasks = 3, .weight = weight, .units = 3, .speed = speed};
    OWN(schedule) *s = open_or_fail("optimal", &p);
    const int *owner = evn_schedule_owner(s);
    assert_true((1 << owner[0] | 1 << owner[1] | 1 << owner[2]) == 7);
    assert_true(makespan(&p, owner) == 10);
    evn_schedule_close(s);
    weight[0] = 1; /* now the slow one would take longer than both others */
    weight[1] = weight[2] = 1;
    s = open_or_fail("optimal:gap=0,nodes=1000", &p);
    assert_true(makespan(&p, evn_schedule_owner(s)) == 2);
}

/* Time is over at any moment of the solver's: the plan is whole. */
TEST(stopped_at_once) {
    enum { TASKS = 10, UNITS = 5, TIMES = 150 };
    unsigned long long seed = 11;
    for (int i = 0; i < TIMES; i++) {
        double weight[TASKS], speed[UNITS];
        char text[64];
        for (int t = 0; t < TASKS; t++) weight[t] = 1 + 9 * draw(&seed);
        for (int u = 0; u < UNITS; u++) speed[u] = 1 + 2 * draw(&seed);
        const evn_problem p = {.tasks = TASKS, .weight = weight, .units = UNITS, .speed = speed};
        snprintf(text, sizeof text, "optimal:gap=0,limit=%g", 2e-5 * (1 + i));
        OWN(schedule) *s = open_or_fail(text, &p);
        assert_true(makespan(&p, evn_schedule_owner(s)) > 0);
    }
}

/* Of k U + 1 equal tasks one of U units has k + 1. */
TEST(more_tasks_than_units) {
    for (int units = 1; units <= 5; units++)
        for (int k = 1; k <= 40; k++) {
            double weight[5 * 40 + 1], speed[5] = {1, 1, 1, 1, 1};
            const char *why;
            struct optimal_model m;
            const evn_problem p = {
                .tasks = k * units + 1, .weight = weight, .units = units, .speed = speed};
            for (int t = 0; t < p.tasks; t++) weight[t] = 0.1;
            assert_int_equal(optimal_model_make(&m, &p, 0, 0), EVN_OK);
            const double bound = optimal_bound(&m, 1e9, &why);
            if (!(fabs(bound - (k + 1)) < 1e-9 * k))
                fail_msg("%d tasks on %d units: bound %.12g", p.tasks, units, bound);
            optimal_model_free(&m);
        }
}

/* ---- the limit, by a clock that only this thread's work moves on, and the solver's ---- */

TEST(clock_of_work) {
    const double begin = optimal_clock();
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    assert_true(optimal_clock() - begin < 0.05);
    int go[2];
    assert_int_equal(pipe(go), 0);
    const pid_t process = fork();
    if (!process) {
        const double from = optimal_clock();
        while (optimal_clock() - from < 0.1) {
        }
        _exit(write(go[1], "", 1) != 1 || pause());
    }
    optimal_watch(process);
    char word;
    assert_int_equal(read(go[0], &word, 1), 1);
    optimal_watch(0);
    const double worked = optimal_clock() - begin;
    kill(process, SIGKILL);
    assert_int_equal(waitpid(process, NULL, 0), process);
    if (!(worked > 0.09 && worked < 0.2)) fail_msg("%.3f s of work, expected 0.1", worked);
    close(go[0]);
    close(go[1]);
}

/* Many tasks: without a look at the clock the search of 140,000 works for seconds, the bounds of a
 * million for minutes. The solver is not started for so many. */
TEST(limit_of_work) {
    static const struct {
        int tasks, across, memory;
        const char *text;
    } of[] = {{140000, 0, 0, "optimal:gap=0,limit=0.3"},
              {140000, 350, 0, "optimal:gap=0,limit=0.3"},
              {140000, 0, 1, "optimal:gap=0,limit=0.3"},
              {1000000, 0, 0, "optimal:gap=0,limit=0.9"},
              {1000000, 0, 0, "optimal:gap=0,limit=0.01"}};
    double speed[2] = {1, 1.5};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const int n = of[i].tasks, across = of[i].across;
        double *weight = malloc(sizeof *weight * (size_t)n), bytes = 0, capacity[2];
        evn_link *link = malloc(sizeof *link * 2 * (size_t)n);
        evn_problem p = {
            .tasks = n, .weight = weight, .units = 2, .speed = speed, .bandwidth = 3, .link = link};
        for (int t = 0; t < n; t++) {
            bytes += weight[t] = 1 + t * 7919ll % 1000;
            if (!across) continue;
            if ((t + 1) % across) link[p.links++] = (evn_link){{t, t + 1}, 10};
            if (t + across < n) link[p.links++] = (evn_link){{t, t + across}, 12};
        }
        capacity[0] = capacity[1] = 0.51 * bytes;
        if (of[i].memory) {
            p.bytes = weight;
            p.capacity = capacity;
        }
        const double begin = optimal_clock();
        OWN(schedule) *s = open_or_fail(of[i].text, &p);
        const double end = optimal_clock();
        if (!(end - begin < 1.2))
            fail_msg("%d tasks under %s: %.2f s of work", n, of[i].text, end - begin);
        assert_true(makespan(&p, evn_schedule_owner(s)) > 0);
        const struct optimal_proof *proof = optimal_proof(s);
        assert_true(proof->bound > 0 && proof->bound <= proof->longest && !proof->solved);
        free(link);
        free(weight);
    }
}

/* One step of the solver can take longer than the limit, here the first relaxation of 30,000 rows:
 * the plan is whole, and no process is left behind. */
TEST(limit_of_solver) {
    enum { ACROSS = 20, N = 300, U = 50 };
    double weight[N], speed[U];
    evn_link link[2 * N];
    evn_problem p = {
        .tasks = N, .weight = weight, .units = U, .speed = speed, .bandwidth = 5, .link = link};
    for (int t = 0; t < N; t++) {
        weight[t] = 1000 + 0.37 * (t % 13) + t * 7919ll % 1000 / (double)(1 + t % 7);
        if ((t + 1) % ACROSS) link[p.links++] = (evn_link){{t, t + 1}, 10 + t % 7};
        if (t + ACROSS < N) link[p.links++] = (evn_link){{t, t + ACROSS}, 10 + t % 5};
    }
    for (int u = 0; u < U; u++) speed[u] = 1 + u % 3;
    OWN(schedule) *s = open_or_fail("optimal:gap=0,limit=0.5", &p);
    const struct optimal_proof *proof = optimal_proof(s);
    assert_true(proof->solved && proof->bound > 0 && proof->bound <= proof->longest);
    assert_float_equal(proof->longest, makespan(&p, evn_schedule_owner(s)), 1e-6 * proof->longest);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

TEST(bad_input) {
    static const char *const bad[] = {
        "optimal:limit=",    "optimal:limit=-1",   "optimal:limit=nan", "optimal:limit",
        "optimal:gap=2",     "optimal:gap=1%",     "optimal:nodes=0",   "optimal:nodes=1.5",
        "optimal:seconds=3", "optimal:limit=1e99",
    };
    evn_problem p = {.tasks = 4, .units = 2};
    OWN(schedule) *s;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (evn_schedule_open(&s, bad[i], &p) != EVN_USAGE || s)
            fail_msg("\"%s\" was taken for a schedule", bad[i]);
    evn_link link = {{0, 1}, 8}, none = {{0, 1}, NAN}, less = {{0, 1}, -1};
    evn_problem wrong[] = {
        {.tasks = 4, .units = 2, .links = 1, .link = &link, .bandwidth = NAN},
        {.tasks = 4, .units = 2, .links = 1, .link = &link, .bandwidth = -1},
        {.tasks = 4, .units = 2, .links = 1, .link = &none, .bandwidth = 1},
        {.tasks = 4, .units = 2, .links = 1, .link = &less, .bandwidth = 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(evn_schedule_open(&s, "optimal", &wrong[i]), EVN_USAGE);
    s = open_or_fail("optimal", &p);
    assert_string_equal(evn_schedule_text(s), "optimal:limit=60,gap=0.01");
    evn_schedule_close(s);
    s = open_or_fail("optimal:nodes=7,gap=0.5", &p);
    assert_string_equal(evn_schedule_text(s), "optimal:gap=0.5,nodes=7");
}

/* Tasks that take long for their weight are known by their times: the plan for these is made once,
 * and kept. */
TEST(by_time) {
    enum { N = 40, U = 4, INSTANCES = 20 };
    const evn_problem p = {.tasks = N, .units = U, .instances = 1000};
    evn_schedule *s = open_or_fail("optimal:time,gap=0.002,limit=0", &p);
    assert_string_equal(evn_schedule_text(s), "optimal:time,limit=0,gap=0.002");
    double seconds[N], busy[U], least = INFINITY;
    int before[N], owner[N], moves = 0;
    for (int i = 0; i < INSTANCES; i++) {
        memcpy(owner, evn_schedule_owner(s), sizeof owner);
        moves += i && memcmp(before, owner, sizeof owner) != 0;
        memset(busy, 0, sizeof busy);
        for (int t = 0; t < N; t++) busy[owner[t]] += seconds[t] = 1e-3 * (1 + t % 7 + (t < 9) * 5);
        double longest = 0, sum = 0;
        for (int u = 0; u < U; u++) {
            longest = fmax(longest, busy[u]);
            sum += busy[u];
        }
        least = longest / (sum / U);
        memcpy(before, owner, sizeof before);
        assert_ok(evn_schedule_learn(s, owner, seconds));
    }
    if (!(least < 1.01 && moves == 1)) fail_msg("%.3f of even after %d changes", least, moves);
    char *text = evn_schedule_explain(s);
    assert_non_null(strstr(text, "by the times learnt"));
    free(text);
    evn_schedule_close(s);
    /* fewer tasks with the plan's owners are not the plan's any more */
    const evn_problem four = {.tasks = 4, .units = 2};
    const int first[] = {0, 1, 2, 3}, from[] = {0, 1, 2};
    const char kept[] = {1, 1, 1};
    const evn_change c = {.tasks = 3, .first = first, .from = from, .kept = kept, .links = -1};
    s = open_or_fail("optimal:time,limit=0", &four);
    memcpy(owner, evn_schedule_owner(s), 3 * sizeof *owner);
    assert_int_equal(evn_schedule_change(s, &c), EVN_OK);
    assert_memory_equal(owner, evn_schedule_owner(s), 3 * sizeof *owner);
    assert_non_null(text = evn_schedule_explain(s));
    assert_non_null(strstr(text, "is not the plan's"));
    free(text);
    evn_schedule_close(s);
    assert_int_equal(evn_schedule_open(&s, "optimal:time=3", &p), EVN_USAGE);
    assert_int_equal(evn_schedule_open(&s, "optimal:time,limit=x", &p), EVN_USAGE);
}

int main(void) {
    if (!has_library("optimal")) tests_count = 5; /* which need none */
    return run_all_tests(NULL, NULL);
}
