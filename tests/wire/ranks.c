/* Groups of ranks for tests. */
#include "wire/ranks.h"
#include "wire/processes.h"
#include "wire/threads.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BROKEN = 99 };

/* exit() would wait for other threads of a group of them. */
void ranks_fail(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: %s; the last message: %s\n", file, line, what, evn_message());
    fflush(stderr);
    _exit(BROKEN);
}

struct job {
    const evn_wire_kind *kind;
    int ranks, crowded;
    const char *options;
    void (*of_wire)(struct member *m);
    void (*of_cluster)(evn_cluster *cluster);
};

static void run_wire(const struct job *job) {
    struct member m = {.kind = job->kind};
    m.host = (evn_wire_host){evn_fail, &m.stop, job->crowded};
    must_ok(job->kind->open(&m.wire, job->ranks, job->options, &m.host));
    m.me = job->kind->rank(m.wire);
    m.size = job->kind->size(m.wire);
    job->of_wire(&m);
    job->kind->close(m.wire);
}

static void run_cluster(const struct job *job) {
    char how[300];
    evn_cluster *cluster;
    if (job->kind == &wire_threads)
        strcpy(how, "threads");
    else
        snprintf(how, sizeof how, "processes:%d", job->ranks);
    must_ok(evn_cluster_open(&cluster, how));
    job->of_cluster(cluster);
    evn_cluster_close(cluster, EVN_OK);
}

static void run(int rank, void *p) {
    const struct job *job = p;
    (void)rank;
    if (job->of_wire)
        run_wire(job);
    else
        run_cluster(job);
}

/* The calling process stays what it is: another one becomes the group, or its supervisor. */
static int run_apart(const struct job *job) {
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        run(0, (void *)job);
        exit(0); /* leak checks, too */
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_job(struct job *job, int as_threads) {
    job->kind = as_threads ? &wire_threads : &wire_processes;
    if (!as_threads) return run_apart(job);
    return threads_run(job->ranks, run, job) ? -1 : 0;
}

int ranks_of_wire(int as_threads, int ranks, const char *options, int crowded,
                  void (*rank_main)(struct member *m)) {
    struct job job = {.ranks = ranks, .options = options, .crowded = crowded, .of_wire = rank_main};
    return run_job(&job, as_threads);
}

int ranks_of_cluster(int as_threads, int ranks, void (*rank_main)(evn_cluster *cluster)) {
    struct job job = {.ranks = ranks, .of_cluster = rank_main};
    return run_job(&job, as_threads);
}
