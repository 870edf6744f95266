/* Runs of this command in processes of their own, for measurements by their records: a process that
 * forks ranks must not have had threads, and each run starts with a cold program. */
#pragma once

#include <cjson/cJSON.h>
#include <sys/types.h>

/* Called about 50 times a second while a run goes on; `group` is the process group it runs in. */
struct runs_look {
    void (*at)(void *arg, pid_t group);
    void *arg;
};

/* Runs `evener WORD ..` (words end with NULL) and gives what it writes to standard output, parsed;
 * to be deleted. `look` may be NULL. 0, or an exit status after a message. */
int runs_record(const char *const *words, const struct runs_look *look, cJSON **record);
