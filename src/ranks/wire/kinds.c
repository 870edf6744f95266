/* The list of kinds of wires, and the choice by name. */
#include "wire/kinds.h"
#include "base/text.h"
#include "wire/arena.h"
#include "wire/launcher.h"
#include "wire/processes.h"
#include "wire/threads.h"
#include <string.h>

static evn_status alone(struct wire_choice *out, const char *how, const char *rest) {
    (void)out;
    return rest
               ? evn_fail(EVN_USAGE, "cluster: \"%s\": expected alone, which takes no options", how)
               : EVN_OK;
}

static evn_status plugin(struct wire_choice *out, const char *how, const char *rest) {
    if (rest && !*rest)
        return evn_fail(EVN_USAGE, "cluster: \"%s\": expected mpi or mpi:FILE, a plug-in's file",
                        how);
    out->is_plugin = 1;
    if (rest && !strncmp(rest, "comm=", 5)) {
        if (strlen(rest) >= sizeof out->options)
            return evn_fail(EVN_USAGE, "cluster: \"%.40s..\": longer than %zu characters", how,
                            sizeof out->options - 1);
        strcpy(out->options, rest);
        return wire_plugin_load_own(&out->kind, &out->library);
    }
    return wire_plugin_load(rest, &out->kind, &out->library);
}

static evn_status automatic(struct wire_choice *out, const char *how, const char *rest) {
    if (rest)
        return evn_fail(EVN_USAGE, "cluster: \"%s\": expected auto, which takes no options", how);
    return wire_plugin_detected() ? plugin(out, how, NULL) : EVN_OK;
}

/* Reads "4,latency=20us": a number, and the kind's options. */
static evn_status processes(struct wire_choice *out, const char *how, const char *rest) {
    const char *p = rest ? rest : "";
    long count = 0;
    if (!evn_text_number(&p, ARENA_RANKS_MAX, &count) || count < 1 || (*p && *p != ','))
        return evn_fail(EVN_USAGE,
                        "cluster: \"%s\": expected processes:N, a number from 1 to %d, and options "
                        "as latency=20us,bandwidth=1GB/s",
                        how, ARENA_RANKS_MAX);
    if (*p) p++;
    if (strlen(p) >= sizeof out->options)
        return evn_fail(EVN_USAGE, "cluster: \"%.40s..\": longer than %zu characters", how,
                        sizeof out->options - 1);
    if (wire_plugin_detected())
        return evn_fail(EVN_USAGE,
                        "cluster: \"%s\": a launcher (mpirun, srun) has started this process, and "
                        "each of its ranks would be a run of its own; ask for one of the two",
                        how);
    out->kind = &wire_processes;
    out->processes = (int)count;
    strcpy(out->options, p);
    return EVN_OK;
}

/* Ranks as threads, for race detectors; not in help texts, since only threads_run() makes such
 * ranks. */
static evn_status threads(struct wire_choice *out, const char *how, const char *rest) {
    if (rest && strlen(rest) >= sizeof out->options)
        return evn_fail(EVN_USAGE, "cluster: \"%.40s..\": longer than %zu characters", how,
                        sizeof out->options - 1);
    out->kind = &wire_threads;
    strcpy(out->options, rest ? rest : "");
    return EVN_OK;
}

/* `rest`: the text behind the colon; NULL: no colon. */
static const struct {
    const char *name;
    evn_status (*choose)(struct wire_choice *out, const char *how, const char *rest);
} kinds[] = {{"auto", automatic},
             {"alone", alone},
             {"processes", processes},
             {"mpi", plugin},
             {"threads", threads}};

evn_status wire_choose(struct wire_choice *out, const char *how) {
    *out = (struct wire_choice){0};
    const size_t length = strcspn(how, ":");
    const char *rest = how[length] ? how + length + 1 : NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == length && !strncmp(how, kinds[i].name, length))
            return kinds[i].choose(out, how, rest);
    return evn_fail(EVN_USAGE,
                    "cluster: \"%s\": no such wire, expected auto, alone, processes:N, mpi or "
                    "mpi:FILE",
                    how);
}
