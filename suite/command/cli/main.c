/* evener: the command. This file knows which parts there are; each part is a file of its own. */
#include "cli/command.h"
#include "cli/stack.h"
#include "cli/standard.h"
#include "common/cli/interrupt.h"
#include "common/cli/message.h"
#include "run/ranks.h"
#include "run/table.h"
#include <evener/text.h>
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct part {
    const char *name, *help;
    int (*run)(int, char **);
} parts[] = {
    {"info", "cores, caches and devices of this node; back ends that could not be opened, and why",
     command_info},
    {"run", "run a workload:", command_run}, /* and their names */
    {"plan", "a schedule's assignment, loads, imbalance and bytes cut, without computing",
     command_plan},
    {"model", "processes x threads: time of a step, predicted and measured; the best numbers",
     command_model},
    {"bench", "a study, as ratios in one run; without a name: the list of studies", command_bench},
    {"calibrate", "measure this node's units, for schedules and plans, and keep the figures",
     command_calibrate},
    {"report", "a page with pictures from records of runs", command_report},
    {"watch", "units, times and imbalance of a running program, as top has processes",
     command_watch},
    {"doctor", "what this machine lacks or does, and what to do", command_doctor},
};
enum { PARTS = sizeof parts / sizeof *parts };

static void usage(FILE *out) {
    fprintf(out,
            "Evener %s: loops over tasks of unequal weight on units of unequal strength\n\n"
            "usage: evener COMMAND [options]\n\n",
            EVN_VERSION);
    for (int i = 0; i < PARTS; i++) {
        const int runs = parts[i].run == command_run;
        fprintf(out, "  %-9s %s%s%s\n", parts[i].name, parts[i].help, runs ? " " : "",
                runs ? workload_words() : "");
    }
    const struct study *own;
    for (int i = 0; (own = workload_command(i)); i++)
        fprintf(out, "  %-9s %s\n", own->name, own->help);
    fprintf(out,
            "\nevener COMMAND --help explains each.  First steps:\n\n"
            "  evener run bt-mz --class W\n"
            "  evener plan bt-mz --class B --units 4:CPU:1 --schedule guided:size\n"
            "\nPrograms of one's own: evener-cc, evener-c++ and evener-fc compile directives of\n"
            "compute units; man evener-cc, man 3 evener for the library, man evener for this.\n");
}

static char *join(int argc, char **argv) {
    size_t size = 1;
    for (int i = 0; i < argc; i++) size += strlen(argv[i]) + 1;
    char *text = calloc(size, 1), *at = text;
    for (int i = 0; text && i < argc; i++) {
        at = stpcpy(at, argv[i]);
        if (i < argc - 1) *at++ = ' ';
    }
    return text;
}

/* Misspelt variables, by one process of a host. */
static void tell_strays(void) {
    char line[300];
    for (int i = 0; ranks_speak_alone() && evn_environment_stray(i, line, sizeof line); i++)
        complain("warning: %s", line);
}

static void refuse_name(const char *name) {
    char list[512];
    size_t at = 0;
    const struct study *own;
    for (int i = 0; i < PARTS; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "", parts[i].name);
    for (int i = 0; (own = workload_command(i)) && at < sizeof list; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s",
                               workload_command(i + 1) ? ", " : " or ", own->name);
    complain("there is no command \"%s\", expected %s", name, list);
}

/* The part that the first word names. */
static int run_part(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "--version")) {
        printf("evener %s\n", EVN_VERSION);
        return EXIT_DONE;
    }
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
        usage(stdout);
        return EXIT_DONE;
    }
    for (int i = 0; i < PARTS; i++)
        if (!strcmp(name, parts[i].name)) {
            tell_strays();
            return parts[i].run(argc - 1, argv + 1);
        }
    const struct study *own;
    for (int i = 0; (own = workload_command(i)); i++)
        if (!strcmp(name, own->name)) {
            tell_strays();
            return own->run(argc - 1, argv + 1);
        }
    if (*name)
        refuse_name(name);
    else
        usage(stderr);
    return EXIT_USAGE;
}

/* Nothing runs here; other ranks may not know. */
static int refuse(const char *why) {
    ranks_begin();
    complain("%s", why);
    return ranks_end(EXIT_USAGE);
}

static int run(int argc, char **argv) {
    /* more threads than there are cores are of no use, and too many end the process */
    if (omp_get_max_threads() > omp_get_num_procs()) omp_set_num_threads(omp_get_num_procs());
    const char *wrong = workload_choose();
    int status = wrong ? refuse(wrong) : run_part(argc, argv);
    if (status == EXIT_DONE || status == EXIT_UNVERIFIED) warn_now();
    errno = 0;
    if (fflush(stdout) || ferror(stdout)) {
        complain("standard output cannot be written%s%s", errno ? ": " : "",
                 errno ? strerror(errno) : "");
        if (status == EXIT_DONE) status = EXIT_FAILED;
    }
    /* also where the interrupt has made something fail */
    return interrupted && status != EXIT_DONE && status != EXIT_UNVERIFIED ? EXIT_INTERRUPTED
                                                                           : status;
}

static int ended; /* by ourselves */

/* Libraries end the process with 1 where they have no memory, after a line that says so. */
static void tell_failed(int status, void *arg) {
    (void)arg;
    if (ended || status != EXIT_UNVERIFIED) return;
    fflush(stdout);
    _exit(EXIT_FAILED);
}

int main(int argc, char **argv) {
    on_exit(tell_failed, NULL);
    standard_open();
    interrupts_begin();
    char *line = join(argc, argv);
    if (line) command_line = line;
    const int status = stack_run(run, argc, argv);
    command_line = "";
    free(line);
    ended = 1;
    return status;
}
