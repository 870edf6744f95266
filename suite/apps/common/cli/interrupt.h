/* Interrupts: INT, TERM and HUP end the command at any moment, since unfinished files have no name,
 * and children end with it. A run with checkpoints is asked to stop instead, so that it can write
 * the last one. */
#pragma once

#include <signal.h>
#include <sys/types.h>

/* From here on INT, TERM and HUP end the process at once with a line on standard error and status
 * 130, each unless it was ignored already (nohup, a shell's background), and a write beyond the
 * limit of files' sizes fails instead of ending it (XFSZ). PIPE is left as it is. First of all in
 * main(). */
void interrupts_begin(void);

/* From now on the first signal only sets `interrupted`, for a run that asks for it often and then
 * keeps its state; the second ends the process as before, and so does time: after 25 s, since batch
 * systems kill 30 s after TERM. With 0 the first one ends the process again. */
void interrupts_defer(int on);
extern volatile sig_atomic_t interrupted;

/* Deferred from here on, whatever interrupts_defer() says: where a launcher has started the ranks,
 * one that ends by itself makes it end the others with a page of its own. */
void interrupts_defer_all(void);

/* With 1 the process ends without a line: another one speaks for it. */
void interrupts_hush(int on);

/* 1: interrupts wait until 0, for processes forked meanwhile, which do not yet know the speaker. */
void interrupts_hold(int on);

/* Starts a program, argv[0] a path or a name in PATH, in a group that ends with this process,
 * however it ends; `become` is called there first with `arg` to change its settings, and returns
 * not 0 on failure. Returns its number, -1 with errno; then call child_wait(), which returns its
 * status as waitpid(). One at a time. */
pid_t child_start(char *const *argv, int (*become)(void *arg), void *arg);
int child_wait(pid_t child);
