/* Binding beside other programs: claims of cores, which cores units then get, and when they let
 * them go. Run: ctest -R binding. The test runs itself as the other program, `test-binding WHAT
 * CORE ..`; nothing is timed, and the file of claims is the test's own. */
#include "check.h"
#include "base/claim.h"
#include "base/idle.h"
#include "base/process.h"
#include "machine/cores.h"
#include "unit/binding.h"
#include "unit/contention.h"
#include <fcntl.h>
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static evn_machine *machine;
static cpu_set_t at_start;
static char folder[] = "/tmp/evener-binding-XXXXXX";
static char file[64];

/* ---- the other program ---- */

struct other {
    pid_t pid;
    int to, from; /* its input, and its output */
    pid_t child;  /* it has forked */
    int claimed;  /* it has got its cores */
};

/* Claims cores as `what` says, tells, and waits for the end of its input. */
static int be_other(int argc, char **argv) {
    int core[8], count = argc - 2;
    pid_t child = 0;
    for (int i = 0; i < count; i++) core[i] = atoi(argv[i + 2]);
    if (!strcmp(argv[1], "nobody") && setuid(NOBODY)) return 1;
    if (!strcmp(argv[1], "choose")) claim_choose();
    const int claimed = claim_take(core, count);
    if (!strcmp(argv[1], "parent") && !(child = fork()))
        for (;;) pause();
    printf("%d %d\n", claimed, (int)child);
    fflush(stdout);
    char end;
    return read(0, &end, 1) < 0;
}

static struct other begin(const char *what, int first, int second) {
    struct other o = {0};
    int in[2], out[2];
    char a[12], b[12], told[40] = "";
    snprintf(a, sizeof a, "%d", first);
    snprintf(b, sizeof b, "%d", second);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    o.pid = fork();
    assert_true(o.pid >= 0);
    if (!o.pid) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl("/proc/self/exe", "other", what, a, second < 0 ? NULL : b, NULL);
        _exit(1);
    }
    close(in[0]);
    close(out[1]);
    o.to = in[1];
    o.from = out[0];
    assert_true(read(o.from, told, sizeof told - 1) > 0);
    assert_int_equal(sscanf(told, "%d %d", &o.claimed, &o.child), 2);
    return o;
}

/* Ends it by a signal, or, where this is 0, lets it end. */
static void end(const struct other *o, int signal) {
    if (signal) kill(o->pid, signal);
    close(o->to);
    waitpid(o->pid, NULL, 0);
    close(o->from);
}

/* ---- set-up ---- */

static int set_up(void **state) {
    (void)state;
    sched_getaffinity(0, sizeof at_start, &at_start);
    if (!mkdtemp(folder) || chmod(folder, 0777)) return 1;
    snprintf(file, sizeof file, "%s/claims", folder);
    setenv("EVENER_CLAIMS", file, 1);
    unsetenv("EVENER_BIND");
    alarm(120);
    return evn_machine_open(&machine);
}

static int tear_down(void **state) {
    (void)state;
    evn_machine_close(machine);
    unlink(file);
    return rmdir(folder);
}

/* ---- claims ---- */

TEST(claims) {
    const int cores[] = {5, 6}, seven[] = {7};
    struct other o = begin("hold", 6, -1);
    assert_true(o.claimed);
    assert_true(claim_is_taken(6));
    assert_false(claim_take(cores, 2)); /* all or none */
    assert_false(claim_is_mine(5));
    end(&o, 0);
    assert_false(claim_is_taken(6));
    assert_true(claim_take(cores, 2));
    assert_true(claim_take(cores, 1)); /* once more */
    assert_true(claim_is_mine(5) && claim_is_mine(6) && !claim_is_taken(5));
    claim_give(cores, 2);
    o = begin("hold", 5, -1);
    assert_false(o.claimed);
    end(&o, 0);
    o = begin("hold", 6, -1);
    assert_true(o.claimed);
    assert_false(claim_take(cores, 2));
    end(&o, 0);
    claim_give(cores, 1);
    assert_true(claim_take(seven, 1));
    o = begin("hold", 5, 6);
    assert_true(o.claimed);
    end(&o, 0);
    claim_give(seven, 1);
    claim_give(seven, 1); /* once too often */
    assert_false(claim_is_mine(7));
    assert_int_equal(claim_take((const int[]){-1, CLAIM_CORES, 1 << 30}, 3), 1);
    claim_give((const int[]){-1, CLAIM_CORES, 1 << 30}, 3);
}

/* However the process ends, and whoever it leaves behind. */
TEST(ends) {
    struct other o = begin("hold", 3, 4);
    assert_true(claim_is_taken(3) && claim_is_taken(4));
    end(&o, SIGKILL);
    assert_false(claim_is_taken(3) || claim_is_taken(4));
    o = begin("parent", 3, -1);
    assert_true(o.child > 0 && claim_is_taken(3));
    end(&o, SIGKILL);
    assert_int_equal(kill(o.child, 0), 0);
    assert_false(claim_is_taken(3));
    kill(o.child, SIGKILL);
}

TEST(fork) {
    const int three[] = {3};
    assert_true(claim_take(three, 1));
    const pid_t child = fork();
    if (!child) {
        if (claim_is_mine(3) || claim_take(three, 1)) _exit(2);
        claim_give(three, 1); /* it is not the child's to give */
        if (claim_is_mine(3) || !claim_is_taken(3) || claim_take(three, 1)) _exit(1);
        _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    struct other o = begin("hold", 3, -1);
    assert_false(o.claimed);
    end(&o, 0);
    claim_give(three, 1);
}

/* One that is stopped while it chooses holds nobody up. */
TEST(stopped) {
    const int two[] = {2}, three[] = {3};
    struct other o = begin("choose", 3, -1);
    claim_choose();
    assert_false(claim_take(three, 1));
    assert_true(claim_take(two, 1));
    claim_chosen();
    assert_true(claim_is_mine(2));
    claim_give(two, 1);
    end(&o, 0);
}

TEST(users) {
    if (getuid()) skip();
    const int four[] = {4};
    for (int first = 0; first < 2; first++) { /* whose file it is */
        unlink(file);
        if (first) assert_true(claim_take(four, 1));
        struct other o = begin("nobody", 3, 4);
        assert_int_equal(o.claimed, !first);
        assert_int_equal(claim_is_taken(3), !first);
        end(&o, 0);
        if (first) claim_give(four, 1);
        struct stat is;
        assert_int_equal(stat(file, &is), 0);
        assert_int_equal(is.st_mode & 0777, 0666);
        assert_int_equal(is.st_uid, first ? 0 : NOBODY);
    }
    unlink(file);
}

/* A file that is none of ours is neither used, waited for nor changed. */
TEST(hostile) {
    char victim[80], none[80];
    snprintf(victim, sizeof victim, "%s/victim", folder);
    snprintf(none, sizeof none, "%s/none", folder);
    const int one[] = {1};
    for (int kind = 0; kind < 7; kind++) {
        const int opened = open(victim, O_CREAT | O_WRONLY, 0600);
        assert_int_equal(write(opened, "text", 4), 4);
        close(opened);
        unlink(file);
        if (kind == 0) assert_int_equal(symlink(victim, file), 0);
        if (kind == 1) assert_int_equal(symlink(none, file), 0);
        if (kind == 2) assert_int_equal(mkfifo(file, 0666), 0);
        if (kind == 3) assert_int_equal(mkdir(file, 0777), 0);
        if (kind == 4) assert_int_equal(link(victim, file), 0);
        if (kind == 6) close(open(none, O_CREAT | O_WRONLY, 0600));
        if (kind == 6) assert_int_equal(symlink(none, file), 0);
        if (kind == 5) setenv("EVENER_CLAIMS", "", 1);
        struct other o = begin("hold", 1, -1);
        assert_true(o.claimed); /* as if there were no others */
        claim_choose();
        assert_false(claim_is_taken(1));
        assert_true(claim_take(one, 1));
        claim_chosen();
        assert_true(claim_is_mine(1));
        claim_give(one, 1);
        end(&o, 0);
        assert_int_equal(unlink(none), kind == 6 ? 0 : -1);
        struct stat is;
        assert_int_equal(stat(victim, &is), 0);
        assert_true(is.st_size == 4 && (is.st_mode & 0777) == 0600);
        if (kind == 3) rmdir(file);
        setenv("EVENER_CLAIMS", file, 1);
    }
    unlink(file);
    unlink(victim);
}

/* ---- units ---- */

static evn_units *open_units(const evn_machine *on, const char *list) {
    evn_units *units;
    if (evn_units_open(&units, on, list, NULL, 0)) fail_msg("%s: %s", list, evn_message());
    return units;
}

static int core_of(const evn_units *units, int unit) {
    return evn_unit_core_number(evn_units_get(units, unit), 0);
}

static const char *binding_of(const evn_units *units, int unit) {
    return evn_unit_about(evn_units_get(units, unit)).binding;
}

struct seen {
    cpu_set_t mask[4];
};

static void look_at_masks(evn_unit *unit, void *arg) {
    struct seen *s = arg;
#pragma omp parallel num_threads(evn_unit_cores(unit))
    sched_getaffinity(0, sizeof *s->mask, &s->mask[evn_unit_number(unit) + omp_get_thread_num()]);
}

/* Threads may run where the process may: OpenMP's places say so where there are some. */
static void assert_free(evn_units *units, int threads) {
    const evn_machine *on = evn_units_about(units).machine;
    struct seen s;
    cpu_set_t free;
    CPU_ZERO(&free);
    for (int t = 0; t < CPU_SETSIZE; t++)
        if (omp_get_num_places() ? machine_core_of(on, t) >= 0 : CPU_ISSET(t, &at_start))
            CPU_SET(t, &free);
    assert_ok(evn_units_run(units, look_at_masks, &s));
    for (int i = 0; i < threads; i++) assert_true(CPU_EQUAL(&s.mask[i], &free));
}

static void need_two(void) {
    if (evn_machine_cores(machine) < 2 ||
        evn_machine_cores(machine) < evn_machine_about(machine).allowed)
        skip();
}

TEST(units_beside) {
    need_two();
    const int first = evn_machine_core_number(machine, 0);
    const int second = evn_machine_core_number(machine, 1);
    OWN(machine) *two;
    assert_ok(evn_machine_open_within(&two, (const int[]){first, second}, 2));
    /* nobody else: as ever, also in regions of leaders' own where OpenMP binds threads */
    evn_units *units = open_units(two, "2:CPU:1");
    struct seen s;
    assert_ok(evn_units_run(units, look_at_masks, &s));
    for (int i = 0; i < 2; i++)
        assert_true(CPU_COUNT(&s.mask[i]) == 1 && CPU_ISSET(core_of(units, i), &s.mask[i]));
    evn_units_close(units);
    units = open_units(two, "1:CPU:1");
    assert_int_equal(core_of(units, 0), first);
    assert_true(claim_is_mine(first) && !claim_is_mine(second));
    assert_ok(evn_units_check_binding(units));
    struct other o = begin("hold", first, -1);
    assert_false(o.claimed);
    end(&o, 0);
    evn_units_close(units);
    assert_false(claim_is_mine(first));
    /* the first core is another program's */
    o = begin("hold", first, -1);
    units = open_units(two, "1:CPU:1");
    assert_int_equal(core_of(units, 0), second);
    assert_string_equal(evn_units_text(units), "1:CPU:1");
    assert_ok(evn_units_check_binding(units));
    evn_units *more = open_units(two, "2:CPU:1"); /* one process's units share its claims */
    assert_int_equal(core_of(more, 0), second);
    assert_int_equal(core_of(more, 1), -1);
    assert_string_equal(binding_of(more, 1), "taken");
    evn_units_close(units);
    assert_true(claim_is_mine(second));
    evn_units_close(more);
    assert_false(claim_is_mine(second));
    /* a unit that needs both, and studies */
    units = open_units(two, "1:CPU:2");
    assert_string_equal(binding_of(units, 0), "taken");
    assert_string_equal(evn_units_text(units), "1:CPU:2");
    assert_false(claim_is_mine(second));
    assert_ok(evn_units_check_binding(units));
    assert_free(units, 2);
    evn_units_close(units);
    for (int i = 0; i < 2; i++) {
        setenv("EVENER_BIND", i ? "cores" : "core", 1);
        units = open_units(two, "2:CPU:1");
        assert_true(core_of(units, 0) == first && core_of(units, 1) == second);
        assert_false(claim_is_mine(second));
        evn_units_close(units);
    }
    unsetenv("EVENER_BIND");
    end(&o, 0);
    /* both are */
    o = begin("hold", first, second);
    units = open_units(two, "2:CPU:1");
    assert_true(core_of(units, 0) == -1 && core_of(units, 1) == -1);
    assert_free(units, 2);
    evn_units_close(units);
    end(&o, 0);
    cpu_set_t now;
    sched_getaffinity(0, sizeof now, &now);
    assert_true(CPU_EQUAL(&now, &at_start));
}

/* Unit `i` of a group, with the cores that the list names. */
static void name_cores(evn_unit *u, evn_units *all, const struct unit_list *l, int g, int i) {
    const struct unit_group *group = &l->group[g];
    *u = (evn_unit){.all = all, .cores = group->size};
    if (!group->ranges) return;
    u->named = malloc(sizeof *u->named * (size_t)u->cores);
    assert_non_null(u->named);
    for (int c = 0; c < u->cores; c++) u->named[c] = unit_list_core(l, group, i * u->cores + c);
}

/* Which cores units get of two packages of four cores, two hardware threads each. */
static void deals(const char *list, const int *core) {
    OWN(machine) *many;
    struct unit_list l;
    assert_ok(evn_machine_open_synthetic(&many, "package:2 l3:1 core:4 pu:2"));
    assert_ok(unit_list_parse(&l, list, 8, 0));
    evn_units all = {.machine = many, .count = l.units, .bound = 1, .claims = 1};
    HEAP evn_unit *unit = calloc((size_t)l.units, sizeof *unit);
    assert_non_null(unit);
    all.unit = unit;
    all.forks = process_forks();
    for (int g = 0, next = 0; g < l.groups; g++)
        for (int i = 0; i < l.group[g].count; i++) name_cores(unit + next++, &all, &l, g, i);
    assert_ok(binding_deal(&all));
    int taken = 0;
    for (int u = 0, at = 0; u < all.count; u++) {
        for (int i = 0; i < unit[u].cores; i++, at++)
            if (binding_core(&unit[u], i) != core[at])
                fail_msg("%s: core %d of unit %d is %d, expected %d", list, i, u,
                         binding_core(&unit[u], i), core[at]);
        const int may_be_others = unit[u].named && !unit[u].claims;
        for (int i = 0; unit[u].core && !may_be_others && i < unit[u].cores; i++)
            assert_true(claim_is_mine(unit[u].core[i]) && /* both threads of each */
                        (claim_is_mine(unit[u].core[i] + 1) || unit[u].core[i] == 14));
        taken += !unit[u].core;
    }
    assert_int_equal(all.bound, !taken);
    for (int u = 0; u < all.count; u++) binding_close(&unit[u]);
    for (int i = 0; i < 16; i++) assert_false(claim_is_mine(i));
}

TEST(deal) {
    deals("2:CPU:3", (const int[]){0, 2, 4, 6, 8, 10});
    struct other o = begin("hold", 1, -1); /* the second thread of the first core */
    deals("2:CPU:1", (const int[]){2, 4});
    deals("2:CPU:2", (const int[]){2, 4, 8, 10});
    deals("1:CPU:4", (const int[]){8, 10, 12, 14});
    deals("1:CPU:6", (const int[]){2, 4, 6, 8, 10, 12});
    deals("1:CPU:8", (const int[]){-2, -2, -2, -2, -2, -2, -2, -2});
    deals("1:CPU:4,1:CPU:2,1:CPU:1,1:CPU:1", (const int[]){8, 10, 12, 14, 2, 4, 6, -2});
    deals("2:CPU:1@0@6,1:CPU:2", (const int[]){0, 6, 2, 4}); /* named, though claimed */
    deals("1:CPU:2,2:CPU:1@4@12", (const int[]){2, 6, 4, 12});
    end(&o, 0);
    deals("1:CPU:3,1:CPU:2@2@8", (const int[]){0, 4, 6, 2, 8});
    o = begin("hold", 14, -1); /* behind all that are wanted */
    deals("2:CPU:3", (const int[]){0, 2, 4, 6, 8, 10});
    deals("2:CPU:4", (const int[]){0, 2, 4, 6, -2, -2, -2, -2});
    end(&o, 0);
}

/* A process that may run on the second core alone. */
TEST(units_mask) {
    need_two();
    if (omp_get_num_places()) skip();
    const int first = evn_machine_core_number(machine, 0);
    const int second = evn_machine_core_number(machine, 1);
    cpu_set_t mask, now;
    CPU_ZERO(&mask);
    CPU_SET(second, &mask);
    sched_setaffinity(0, sizeof mask, &mask);
    evn_machine *one = OPEN(machine);
    for (int taken = 0; taken < 2; taken++) {
        struct other o = begin("hold", taken ? second : first, -1);
        evn_units *units = open_units(one, "auto");
        assert_int_equal(core_of(units, 0), taken ? -1 : second);
        assert_string_equal(binding_of(units, 0), taken ? "taken" : "core");
        struct seen s;
        assert_ok(evn_units_run(units, look_at_masks, &s));
        assert_true(CPU_EQUAL(s.mask, &mask));
        evn_units_close(units);
        sched_getaffinity(0, sizeof now, &now);
        assert_true(CPU_EQUAL(&now, &mask));
        end(&o, 0);
    }
    evn_machine_close(one);
    sched_setaffinity(0, sizeof at_start, &at_start);
}

TEST(units_fork) {
    if (evn_machine_cores(machine) < evn_machine_about(machine).allowed) skip();
    OWN(units) *units = open_units(machine, "1:CPU:1");
    const int core = core_of(units, 0);
    const pid_t child = fork();
    if (!child) {
        evn_units_close(units);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    struct other o = begin("hold", core, -1);
    assert_false(o.claimed);
    end(&o, 0);
}

/* The whole look, where the kernel's numbers cannot matter: a thread that has run less than nothing
 * was preempted without end. */
static void make_contended(evn_unit *u) {
    u->contention = (struct contention){.pause = 1, .waited = 1, .blind = 1};
    u->contention.last = (struct contention_sample){-1e9, 1e9, -1, -1e15};
    u->look = 0;
}

TEST(let_go) {
    need_two();
    static const char *const lists[] = {"1:CPU:2", "2:CPU:1"};
    for (int i = 0; i < 4; i++) {
        evn_units *units = OPEN(units, machine, lists[i & 1], NULL, i & 2 ? EVN_STAY_BOUND : 0);
        const int core = core_of(units, 0);
        assert_string_equal(binding_of(units, 0), "core");
        for (int u = 0; u < evn_units_count(units); u++) make_contended(evn_units_get(units, u));
        struct seen s;
        assert_ok(evn_units_run(units, look_at_masks, &s)); /* behind it they look */
        assert_int_equal(CPU_COUNT(&s.mask[0]), 1);
        assert_string_equal(binding_of(units, 0), "let go");
        assert_int_equal(core_of(units, 0), core);
        assert_false(claim_is_mine(core));
        assert_free(units, 2);
        assert_ok(evn_units_check_binding(units));
        evn_units_close(units);
        cpu_set_t now;
        sched_getaffinity(0, sizeof now, &now);
        assert_true(CPU_EQUAL(&now, &at_start));
    }
    setenv("EVENER_BIND", "cores", 1); /* bound without an end */
    evn_units *units = open_units(machine, "1:CPU:1");
    assert_true(evn_units_get(units, 0)->look > 1e300);
    evn_units_close(units);
    unsetenv("EVENER_BIND");
}

/* ---- contention, in numbers ---- */

TEST(contended) {
    const struct contention_sample before = {10, 5, 1, 100};
    static const struct {
        const char *what;
        struct contention_sample after;
        int is;
    } cases[] = {
        {"works alone", {10.02, 5.02, 1, 100}, 0},
        {"the kernel's own threads come and go", {10.02, 5.0195, 1.0004, 110}, 0},
        {"half of the core is another's", {10.02, 5.01, 1.01, 103}, 1},
        {"a third", {10.03, 5.02, 1.01, 103}, 1},
        {"a niced one's twentieth", {10.1, 5.095, 1.005, 105}, 0},
        {"waits at a gate", {10.02, 5.005, 1.0001, 100}, 0},
        {"woke up late, once", {10.02, 5.001, 1.003, 100}, 0},
        {"waits at a gate, and for its core", {10.02, 5.005, 1.006, 100}, 1},
        {"slept for long, and woke up late", {20, 5.001, 1.005, 100}, 0},
        {"nothing went on", {10, 5, 1, 100}, 0},
        {"not known: preempted often", {10.02, 5.01, -1, 105}, 1},
        {"not known: preempted seldom", {10.02, 5.01, -1, 102}, 0},
        {"not known: preempted for moments", {10.02, 5.0195, -1, 120}, 0},
        {"not known: sleeps", {10.02, 5.001, -1, 100}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (contention_is(&before, &cases[i].after) != cases[i].is)
            fail_msg("%s: expected %d", cases[i].what, cases[i].is);
}

static struct idle told; /* what read_told() finds */
static int tells;
static int read_told(struct idle *out) {
    *out = told;
    return tells;
}

/* Looks of a thread of which another one has half a core; the verdict of the last. */
static enum contention_verdict look(struct contention *c, int times, double share) {
    struct cpus mask = {0};
    cpus_add(&mask, 0);
    cpus_add(&mask, 1);
    enum contention_verdict verdict = CONTENTION_STAY;
    struct contention_sample now = c->last;
    for (int i = 0; i < times; i++) {
        const double pause = c->pause;
        now.now += pause;
        now.run += share * pause;
        now.delay += (1 - share) * pause;
        verdict = contention_look(c, &now, read_told, &mask);
    }
    return verdict;
}

TEST(looks) {
    ENDS(contention_close) struct contention c = {0};
    for (int i = 0; i < IDLE_CORES; i++) told.seconds[i] = -1;
    told.seconds[0] = told.seconds[1] = 7;
    tells = 1;
    assert_int_equal(look(&c, 100, 1), CONTENTION_STAY);
    assert_true(c.pause >= 0.01);
    /* contended, while all cores are busy: it stays, and looks less and less often */
    assert_int_equal(look(&c, 100, 0.5), CONTENTION_STAY);
    assert_true(c.pause > 0.5 && c.pause < 2);
    /* a core of others' is idle */
    told.seconds[2] = 1000;
    assert_int_equal(look(&c, 1, 0.5), CONTENTION_STAY);
    /* one of ours */
    told.seconds[1] += c.pause;
    assert_int_equal(look(&c, 1, 0.5), CONTENTION_LET_GO);
    contention_close(&c);
    /* contended in one look, and not in the next */
    look(&c, 2, 1);
    assert_int_equal(look(&c, 1, 0.5), CONTENTION_STAY);
    told.seconds[1] += 10;
    assert_int_equal(look(&c, 1, 1), CONTENTION_STAY);
    assert_int_equal(look(&c, 1, 0.5), CONTENTION_STAY);
    /* idle before the two looks only */
    assert_int_equal(look(&c, 1, 0.5), CONTENTION_STAY);
    contention_close(&c);
    /* not known */
    tells = 0;
    assert_int_equal(look(&c, 2, 0.5), CONTENTION_STAY);
    assert_int_equal(look(&c, 1, 0.5), CONTENTION_LET_GO);
}

TEST(idle) {
    char path[80];
    static struct idle idle;
    assert_true(idle_read(&idle, "")); /* this machine's */
    assert_false(idle_read(&idle, "/nowhere"));
    snprintf(path, sizeof path, "%s/proc", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/proc/stat", folder);
    FILE *f = fopen(path, "w");
    fputs("cpu  9 9 9 9 9 0 0 0 0 0\ncpu0 1 2 3 400 100 0 0 0 0 0\ncpu7 1 2 3 4 0 0\ncpu8\n"
          "cpu5000 1 1 1 1 1\nintr 77\n",
          f);
    fclose(f);
    assert_true(idle_read(&idle, folder));
    const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    assert_true(idle.seconds[0] == 500 * tick && idle.seconds[7] == 4 * tick);
    assert_true(idle.seconds[1] == -1 && idle.seconds[8] == -1);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

int main(int argc, char **argv) {
    if (argc > 1) return be_other(argc, argv);
    return run_all_tests(set_up, tear_down);
}
