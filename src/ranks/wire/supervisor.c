/* The supervisor of forked ranks. */
#include "wire/supervisor.h"
#include <errno.h>
#include <evener/clock.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FAILED = 3, INTERRUPTED = 130 };

static const double PATIENCE = 10; /* s that ranks have to end after an interrupt */
static const double ONE = 0.2;     /* s within which repeated interrupts count as one */
static const double GRACE = 1;     /* s that the others have once a rank has left the run */
static const double AFTER = 3; /* s that the others have when one has ended after an interrupt */

struct run {
    struct wire_arena *arena;
    const pid_t *pid;
    int count, left, next;
    int status[ARENA_RANKS_MAX]; /* status of each rank, by waitpid() */
    int ended[ARENA_RANKS_MAX];
    int interrupts;  /* number of interrupts so far */
    double first;    /* when the first interrupt came */
    int verdict;     /* status of the run; -1: that of the ranks */
    int deserter;    /* the first rank that left before the run was over; -1 */
    int is_killed;   /* 1: the supervisor has ended the remaining ranks */
    int goes_on;     /* 1: the run goes on with others after a loss */
    double deadline; /* when the supervisor ends them; 0: never */
};

void supervisor_take_signals(struct supervisor_signals *s) {
    static const int number[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(&s->mine);
    sigaddset(&s->mine, SIGCHLD);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        struct sigaction action;
        /* signals that are ignored stay so: nohup, jobs in the background */
        if (!sigaction(number[i], NULL, &action) && action.sa_handler != SIG_IGN)
            sigaddset(&s->mine, number[i]);
    }
    sigprocmask(SIG_BLOCK, &s->mine, &s->mask);
    /* ignored children would vanish without a status */
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &s->child);
}

void supervisor_give_signals(const struct supervisor_signals *s) {
    sigaction(SIGCHLD, &s->child, NULL);
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

void supervisor_end(const pid_t *pid, int count) {
    for (int i = 0; i < count; i++) kill(pid[i], SIGKILL);
    for (int i = 0; i < count; i++)
        while (waitpid(pid[i], NULL, 0) < 0 && errno == EINTR) {
        }
}

static void say(const char *text) {
    fprintf(stderr, "evener: %s\n", text);
    fflush(stderr);
}

static void kill_rest(struct run *run) {
    run->is_killed = 1;
    run->deadline = 0;
    for (int i = 0; i < run->count; i++)
        if (!run->ended[i]) kill(run->pid[i], SIGKILL);
}

/* ---- ranks that end ---- */

static void say_killed(const struct run *run, int rank, int number) {
    char text[240], over[80] = "the run is over";
    if (run->goes_on)
        snprintf(over, sizeof over, "the run goes on from its last state with %d process%s",
                 run->next, run->next == 1 ? "" : "es");
    snprintf(text, sizeof text, "process %d of %d (pid %d) was ended by signal %d (%s); %s%s", rank,
             run->count, (int)run->pid[rank], number, strsignal(number), over,
             number == SIGKILL && !run->goes_on ? "; no memory left?" : "");
    say(text);
}

static int is_interrupt(int number) {
    return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

static void note_signal(struct run *run, int rank, int number) {
    wire_arena_lose(run->arena, rank);
    if (run->interrupts && is_interrupt(number)) {
        if (run->verdict < 0) run->verdict = INTERRUPTED;
    } else if (run->verdict < 0) {
        run->verdict = FAILED;
        run->goes_on = run->next && !run->interrupts;
        kill_rest(run);
        say_killed(run, rank, number);
    }
    if (!run->is_killed) kill_rest(run);
}

/* Notes a rank's exit; one that leaves before all have closed their wires is the deserter. */
static void note_exit(struct run *run, int rank, int status) {
    switch (wire_arena_rank_state(run->arena, rank)) {
    case ARENA_CLOSED:
    case ARENA_GAVE_UP: return;
    case ARENA_ABORTED:
        if (run->verdict < 0) run->verdict = status;
        wire_arena_lose(run->arena, rank);
        kill_rest(run);
        return;
    case ARENA_JOINING:
        wire_arena_lose(run->arena, rank);
        if (run->deserter < 0) run->deserter = rank;
        if (!run->deadline) run->deadline = evn_now() + GRACE;
    }
}

static void look_for_ends(struct run *run) {
    for (int i = 0; i < run->count; i++) {
        if (run->ended[i]) continue;
        pid_t pid = waitpid(run->pid[i], &run->status[i], WNOHANG);
        if (pid == 0 || (pid < 0 && errno == EINTR)) continue;
        run->ended[i] = 1;
        run->left--;
        if (run->is_killed) continue; /* this supervisor killed it */
        if (run->interrupts) run->deadline = fmin(run->deadline, evn_now() + AFTER);
        if (WIFSIGNALED(run->status[i]))
            note_signal(run, i, WTERMSIG(run->status[i]));
        else
            note_exit(run, i, WEXITSTATUS(run->status[i]));
    }
}

/* ---- signals and time ---- */

static void note_interrupt(struct run *run, const siginfo_t *info) {
    /* a signal to a whole group may come once more, passed on by a process of the group */
    if (run->interrupts && evn_now() - run->first < ONE) return;
    if (!run->interrupts++) run->first = evn_now();
    if (run->interrupts > 1) { /* a second interrupt ends the run at once */
        if (run->verdict < 0 && run->left) say("interrupted again; what was kept last is whole");
        if (run->verdict < 0) run->verdict = INTERRUPTED;
        kill_rest(run);
        return;
    }
    run->deadline = evn_now() + PATIENCE;
    /* the terminal has sent it to its whole foreground group */
    if (info->si_signo == SIGINT && info->si_code == SI_KERNEL) return;
    /* all ranks: a rank that computes for long gets it, too, and none waits for one that has not */
    for (int i = 0; i < run->count; i++)
        if (!run->ended[i]) kill(run->pid[i], SIGTERM);
}

static void note_deadline(struct run *run) {
    const int left = run->left;
    kill_rest(run);
    if (run->deserter >= 0 || run->verdict >= 0) return;
    run->verdict = INTERRUPTED;
    if (run->ended[0]) return; /* rank 0 has reported for all */
    char text[120];
    snprintf(text, sizeof text,
             "%d of %d processes did not end within %.0f s of the interrupt and were ended", left,
             run->count, evn_now() - run->first);
    say(text);
}

static void wait_for_something(struct run *run, const sigset_t *mine) {
    siginfo_t info;
    int number;
    if (run->deadline) {
        const double left = fmax(0, run->deadline - evn_now());
        struct timespec t = {.tv_sec = (time_t)left};
        t.tv_nsec = (long)(1e9 * (left - (double)t.tv_sec));
        number = sigtimedwait(mine, &info, &t);
    } else {
        number = sigwaitinfo(mine, &info);
    }
    if (number > 0 && number != SIGCHLD) note_interrupt(run, &info);
    if (run->deadline && evn_now() >= run->deadline) note_deadline(run);
}

/* Handles interrupts before exits: a rank that an interrupt has ended has not failed. */
static void take_pending(struct run *run, const sigset_t *mine) {
    sigset_t interrupts = *mine;
    siginfo_t info;
    sigdelset(&interrupts, SIGCHLD);
    while (sigtimedwait(&interrupts, &info, &(struct timespec){0}) > 0) note_interrupt(run, &info);
}

/* ---- the end ---- */

/* Status that a rank has returned by itself; -1: it was killed, or gave up because another one was
 * lost. */
static int returned(const struct run *run, int rank) {
    if (wire_arena_rank_state(run->arena, rank) == ARENA_GAVE_UP) return -1;
    return WIFEXITED(run->status[rank]) ? WEXITSTATUS(run->status[rank]) : -1;
}

/* A rank left before the run was over. If all left with one status, they have said why. */
static int deserted(const struct run *run, int status) {
    const int own = returned(run, run->deserter);
    int alike = own != 0;
    for (int i = 0; i < run->count; i++) alike &= returned(run, i) == own;
    if (!alike) {
        char text[160];
        snprintf(text, sizeof text,
                 "process %d of %d (pid %d) ended with status %d before the run was over",
                 run->deserter, run->count, (int)run->pid[run->deserter], own);
        say(text);
    }
    return status ? status : FAILED;
}

static int judge(const struct run *run) {
    int status = 0;
    if (run->goes_on) return run->interrupts ? INTERRUPTED : SUPERVISOR_GO_ON;
    if (run->verdict >= 0) return run->verdict;
    for (int i = 0; !status && i < run->count; i++)
        if (returned(run, i) > 0) status = returned(run, i);
    if (run->deserter >= 0 && !run->interrupts) return deserted(run, status);
    if (run->interrupts && returned(run, 0) < 0) {
        /* rank 0 waited for a rank that the interrupt had ended */
        if (WIFEXITED(run->status[0])) say("interrupted; nothing is half written");
        return INTERRUPTED;
    }
    return status;
}

int supervisor_run(struct wire_arena *arena, const pid_t *pid, int count, int next,
                   const struct supervisor_signals *signals) {
    static struct run run;
    run = (struct run){.arena = arena,
                       .pid = pid,
                       .count = count,
                       .left = count,
                       .next = next,
                       .verdict = -1,
                       .deserter = -1};
    while (run.left) {
        wait_for_something(&run, &signals->mine);
        take_pending(&run, &signals->mine);
        look_for_ends(&run);
    }
    return judge(&run);
}
