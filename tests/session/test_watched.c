/* Counters that other processes read (<evener/watch.h>): those of loops that are opened again under
 * a name, of more loops than there is room for, and of children. Run: ctest -R '^watched$' */
#include <dirent.h>
#include <evener/open.h>
#include <evener/watch.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <signal.h>
#include <fcntl.h>
#include <unistd.h>

#include "check.h"

enum { TASKS = 6 };

/* The counters as another process finds them; NULL: there are none. */
static evn_watched *find(void) {
    char path[300], target[100];
    void *found = NULL;
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e; !found && (e = readdir(d));) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        const ssize_t length = readlink(path, target, sizeof target - 1);
        if (length < 0) continue;
        target[length] = '\0';
        if (strncmp(target, "/memfd:" EVN_WATCH_NAME, strlen("/memfd:" EVN_WATCH_NAME)) != 0)
            continue;
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        found = mmap(NULL, sizeof(evn_watched), PROT_READ, MAP_SHARED, fd, 0);
        close(fd);
    }
    closedir(d);
    return found;
}

static void leave(evn_watched *w) { munmap(w, sizeof *w); }

static int watch(void **state) {
    (void)state;
    setenv("EVENER_WATCH", "1", 1);
    setenv("EVENER_UNITS", "2:CPU:1", 1);
    setenv("EVENER_OVERSUBSCRIBE", "1", 1);
    setenv("EVENER_SCHEDULE", "static", 1);
    return 0;
}

static evn_status body(evn_unit *unit, evn_batch *batch, void *arg) {
    (void)unit, (void)batch, (void)arg;
    return EVN_OK;
}

static evn_session *open_session(void) {
    evn_session *s;
    assert_ok(evn_open(&s, NULL, NULL, 0));
    return s;
}

static evn_loop *open_loop(evn_session *s, const char *name) {
    evn_loop *loop;
    assert_ok(evn_open_loop(&loop, s, NULL, &(evn_problem){.tasks = TASKS}));
    if (name) assert_ok(evn_name_loop(s, loop, name));
    return loop;
}

static void run(evn_loop *loop, int steps) {
    for (int i = 0; i < steps; i++) assert_ok(evn_loop_run(loop, body, NULL));
}

static const evn_watched_loop *of_name(const evn_watched *w, const char *name) {
    for (int l = 0; l < EVN_WATCH_LOOPS; l++)
        if (w->loop[l].state != EVN_WATCH_FREE && !strcmp(w->loop[l].name, name))
            return &w->loop[l];
    fail_msg("no loop \"%s\" is seen", name);
    return NULL;
}

static void assert_steps(const evn_watched *w, const char *name, int before, int now, int state) {
    const evn_watched_loop *l = of_name(w, name);
    assert_int_equal(l->changes & 1, 0);
    assert_int_equal((int)l->before.instances, before);
    assert_int_equal((int)l->now.instances, now);
    assert_int_equal((int)(l->unit[1].before.tasks + l->unit[1].now.tasks),
                     (before + now) * TASKS / 2);
    assert_int_equal(l->state, state);
}

TEST(counters) {
    evn_session *s = open_session();
    evn_watched *w = find();
    assert_non_null(w);
    assert_int_equal(w->version, EVN_WATCH_VERSION);
    assert_int_equal(w->pid, getpid());
    assert_string_equal(w->record, "");
    evn_loop *loop = open_loop(s, "a"), *other = open_loop(s, NULL);
    run(loop, 3);
    run(other, 2);
    assert_steps(w, "a", 0, 3, EVN_WATCH_OPEN);
    assert_steps(w, "", 0, 2, EVN_WATCH_OPEN);
    const evn_unit_stats stats = evn_loop_stats(loop, 1);
    const evn_watched_unit *unit = &of_name(w, "a")->unit[1];
    assert_true(unit->now.compute_s == stats.compute_s && unit->now.idle_s == stats.idle_s);
    assert_int_equal(unit->cores, 1);
    assert_string_equal(of_name(w, "a")->schedule, "static");
    assert_ok(evn_close_loop(s, loop));
    assert_steps(w, "a", 0, 3, EVN_WATCH_CLOSED);
    loop = open_loop(s, "a");
    run(loop, 1);
    assert_steps(w, "a", 3, 1, EVN_WATCH_OPEN);
    assert_ok(evn_close(s));
    assert_steps(w, "a", 3, 1, EVN_WATCH_CLOSED);
    assert_null(find());
    leave(w);
}

/* Of a name that is longer than its room the end is kept, which tells directives apart. */
TEST(long_name) {
    char name[300];
    memset(name, 'x', sizeof name - 1);
    strcpy(name + sizeof name - 6, ".c:12");
    evn_session *s = open_session();
    evn_watched *w = find();
    run(open_loop(s, name), 1);
    const evn_watched_loop *l = of_name(w, name + sizeof name - sizeof w->loop->name);
    assert_int_equal((int)l->now.instances, 1);
    assert_ok(evn_close(s));
    leave(w);
}

/* More loops than have room do without; those that were closed make room. */
TEST(many_loops) {
    evn_session *s = open_session();
    evn_watched *w = find();
    evn_loop *loop[EVN_WATCH_LOOPS + 1];
    char name[16];
    for (int i = 0; i <= EVN_WATCH_LOOPS; i++) {
        snprintf(name, sizeof name, "loop %d", i);
        assert_int_equal(w->lacks, 0);
        loop[i] = open_loop(s, name);
        run(loop[i], 1);
    }
    assert_int_equal(w->lacks, 1);
    assert_ok(evn_close_loop(s, loop[5]));
    run(loop[EVN_WATCH_LOOPS], 1); /* finds room now */
    assert_steps(w, "", 0, 2, EVN_WATCH_OPEN);
    assert_ok(evn_close(s));
    leave(w);
}

/* The counters of two sessions are one process's; they end with the second one. */
TEST(two_sessions) {
    evn_session *one = open_session(), *two = open_session();
    evn_watched *w = find();
    run(open_loop(one, "one"), 1);
    run(open_loop(two, "two"), 2);
    assert_ok(evn_close(one));
    assert_non_null(find());
    assert_steps(w, "one", 0, 1, EVN_WATCH_CLOSED);
    assert_steps(w, "two", 0, 2, EVN_WATCH_OPEN);
    assert_ok(evn_close(two));
    assert_null(find());
    leave(w);
}

static void assert_child(pid_t child) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* 1: a session of its own has counters of its own, beside the closing of what is inherited. */
static int works_in_child(evn_session *inherited) {
    evn_session *own = open_session();
    evn_watched *w = find();
    run(open_loop(own, "child"), 1);
    const int right = w->pid == getpid() && !evn_close(inherited) && find() &&
                      of_name(w, "child")->state == EVN_WATCH_OPEN;
    return right && !evn_close(own) && !find();
}

/* What a child does leaves no trace in its parent's counters. */
TEST(child) {
    evn_session *s = open_session();
    evn_watched *w = find();
    evn_loop *loop = open_loop(s, "parent");
    run(loop, 1);
    pid_t child = fork();
    if (!child) _exit(evn_close(s));
    assert_child(child);
    child = fork();
    if (!child) _exit(!works_in_child(s));
    assert_child(child);
    assert_steps(w, "parent", 0, 1, EVN_WATCH_OPEN);
    run(loop, 1);
    assert_steps(w, "parent", 0, 2, EVN_WATCH_OPEN);
    assert_ok(evn_close(s));
    leave(w);
}

/* Without room for them a program that asks is told, and one that writes a record goes on. */
TEST(no_room) {
    evn_session *s = NULL;
    struct rlimit was;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    const struct rlimit small = {1 << 16, was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_fails(EVN_SYSTEM, evn_open(&s, NULL, NULL, 0), "watch: no memory to share");
    assert_null(s);
    setenv("EVENER_WATCH", "0", 1);
    setenv("EVENER_RECORD", "/dev/null", 1);
    s = open_session();
    assert_null(find());
    assert_ok(evn_close(s));
    unsetenv("EVENER_RECORD");
    setenv("EVENER_WATCH", "1", 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
}

RUN_TESTS(watch, NULL)
