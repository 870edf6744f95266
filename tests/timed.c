/* Runs a test, and adds a line to a file: its name and the seconds of processor time that it and
 * its children have taken. Usage: timed NAME FILE COMMAND [argument ..]. Ends as the test does. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(const struct timeval *t) {
    return (double)t->tv_sec + 1e-6 * (double)t->tv_usec;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG,
              SIGKILL); /* ctest ends a test that takes too long by ending this process */
        execvp(argv[3], argv + 3);
        perror(argv[3]);
        _exit(127);
    }
    int status;
    struct rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) < 0) {
        perror(argv[3]);
        return 1;
    }
    FILE *file = fopen(argv[2], "a");
    if (file) {
        fprintf(file, "%s %.2f\n", argv[1], seconds(&used.ru_utime) + seconds(&used.ru_stime));
        fclose(file);
    }
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}
