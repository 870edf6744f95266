/* Sessions over ranks: joining first, leaving last, and one message for all. */
#include "base/argument.h"
#include "base/process.h"
#include "session/session.h"
#include "cluster/collective_record.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* State of evn_complain(), which may be called without a session. */
static struct {
    evn_cluster *cluster; /* NULL: left, or never joined */
    unsigned forks;
    int rank;
    int all_know; /* 1: all ranks know of the failure with which they left */
    int silent;   /* 1: there are no ranks, and another process of this host says why */
} joined;

static int is_here(void) { return joined.cluster && joined.forks == process_forks(); }

/* ---- joining and leaving ------------------------------------------------------------------- */

static void leave_joined(evn_cluster *cluster, evn_status status) {
    if (!cluster || joined.cluster != cluster) return; /* evn_complain() has closed it already */
    joined.cluster = NULL;
    joined.all_know = status != EVN_OK;
    evn_cluster_close(cluster, status);
}

static void leave(evn_cluster *cluster, enum ranks ranks, evn_status status) {
    if (ranks == RANKS_APART) evn_cluster_close(cluster, status);
    if (ranks == RANKS_JOINED) leave_joined(cluster, status);
}

/* Opens the processes of EVENER_PROCESSES: "4", or with options as in processes:4. Under a launcher
 * the ranks refuse that together. */
static evn_status open_cluster(evn_cluster **out, const char *processes) {
    char how[256];
    if (!processes || evn_cluster_launched(NULL) >= 0) return evn_cluster_open(out, "auto");
    if (strlen(processes) > 200)
        return evn_fail(EVN_USAGE, "EVENER_PROCESSES: longer than 200 characters");
    snprintf(how, sizeof how, "processes:%s", processes);
    evn_status status = evn_cluster_open(out, how);
    return status == EVN_USAGE ? session_blame("EVENER_PROCESSES", status) : status;
}

static evn_status check_processes(const char *processes) {
    if (!processes || evn_cluster_launched(NULL) < 0) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "EVENER_PROCESSES: \"%.40s\": a launcher (mpirun, srun) has started this "
                    "process already; ask for one of the two",
                    processes);
}

static evn_status join(evn_session *s, const char *processes) {
    if (is_here())
        return evn_fail(EVN_USAGE, "session: a second one over ranks; a program joins them once");
    evn_status status = open_cluster(&s->cluster, processes);
    int speaks = 1;
    if (status == EVN_MISSING) evn_cluster_launched(&speaks);
    joined.silent = !speaks;
    if (status) return status;
    joined.rank = evn_cluster_rank(s->cluster);
    joined.cluster = s->cluster;
    joined.forks = process_forks();
    joined.all_know = 0;
    status = session_agree(s, check_processes(processes));
    if (!status && evn_cluster_size(s->cluster) == 1) {
        leave_joined(s->cluster, EVN_OK);
        s->cluster = NULL;
    }
    return status;
}

/* EVN_USAGE: EVENER_PROCESSES is set for a program that joins its ranks itself. */
static evn_status check_own(const evn_session *s, const char *way) {
    const char *processes = session_variable(s, "EVENER_PROCESSES");
    if (!processes || !strcmp(processes, "1")) return EVN_OK;
    return evn_fail(EVN_USAGE, "EVENER_PROCESSES: this program runs over %s", way);
}

static evn_status join_given(evn_session *s, evn_cluster *cluster) {
    evn_status status = check_own(s, "ranks that it has joined itself");
    s->ranks = RANKS_GIVEN;
    if (evn_cluster_size(cluster) > 1) s->cluster = cluster;
    return session_agree(s, status);
}

static evn_status join_comm(evn_session *s, const void *how) {
    char wire[32];
    evn_status status = check_own(s, "a communicator of its own; its launcher says how many "
                                     "processes");
    snprintf(wire, sizeof wire, "mpi:comm=%d", *(const int *)how);
    if (!status) status = evn_cluster_open(&s->cluster, wire);
    joined.silent = 0;
    if (status) return status;
    if (evn_cluster_size(s->cluster) == 1) {
        evn_cluster_close(s->cluster, EVN_OK);
        s->cluster = NULL;
        return EVN_OK;
    }
    if (is_here()) { /* evn_complain() keeps the first session's ranks */
        s->ranks = RANKS_APART;
    } else {
        joined.rank = evn_cluster_rank(s->cluster);
        joined.cluster = s->cluster;
        joined.forks = process_forks();
        joined.all_know = 0;
    }
    return EVN_OK;
}

evn_status evn_open_comm(evn_session **out, int comm, const char *units, const char *devices,
                         unsigned flags) {
    NEED_OUT(out);
    return session_open(out, &(evn_open_options){units, devices, flags, NULL, NULL}, join_comm,
                        &comm);
}

/* ---- one voice ----------------------------------------------------------------------------- */

static int complain(const char *program) {
    if (joined.silent) return 0;
    /* a rank that leaves with a failure reports it to the others, and rank 0 prints it for all */
    char text[2048];
    snprintf(text, sizeof text, "%s", evn_message());
    const int speaks = !joined.rank;
    if (speaks) fprintf(stderr, "%s: %s\n", program, text);
    if (is_here()) {
        evn_cluster *cluster = joined.cluster;
        joined.cluster = NULL;
        evn_cluster_close(cluster, evn_fail(EVN_BODY, "%s", text));
    } else if (!speaks && !joined.all_know) {
        fprintf(stderr, "%s: rank %d: %s\n", program, joined.rank, text);
        return 1;
    }
    return speaks;
}

evn_cluster *evn_session_cluster(const evn_session *s) {
    NEED_OR(NULL, s, "a session");
    return s->cluster;
}

/* ---- what schedules know of all ranks ------------------------------------------------------ */

int session_widest(const evn_cluster *c) {
    int most = 0;
    const int *first = evn_cluster_about(c).first;
    for (int r = 0; r < evn_cluster_size(c); r++)
        if (first[r + 1] - first[r] > most) most = first[r + 1] - first[r];
    return most;
}

/* Memory of the devices of all ranks' units, from `mine`; each rank has as many entries as the one
 * with the most units. */
static evn_status share_rooms(evn_cluster *c, const double *mine, int most, double *room) {
    const int ranks = evn_cluster_size(c);
    const size_t bytes = (size_t)most * sizeof *mine;
    double *all = malloc(bytes * (size_t)ranks);
    evn_status status = all ? EVN_OK : evn_fail(EVN_MEMORY, "loop: not enough memory");
    status = cluster_allgather(c, "evn_session_schedule()", status, mine, bytes, all);
    const evn_cluster_info about = evn_cluster_about(c);
    for (int u = 0; !status && u < about.units; u++) {
        const int rank = evn_cluster_rank_of(c, u);
        room[u] = all[rank * most + u - about.first[rank]];
    }
    free(all);
    return status;
}

/* A rank's problem, as far as it decides about the calls that follow. */
struct given_problem {
    int tasks;
    int memory; /* 1: bytes are given, and capacities are not */
};

static evn_status differ(const void *arg, int r, const void *theirs, const void *first) {
    const struct given_problem *x = theirs, *y = first;
    (void)arg;
    if (x->tasks == y->tasks && x->memory == y->memory) return EVN_OK;
    return evn_fail(EVN_USAGE,
                    "session: a problem of %d tasks %s bytes to be placed on rank %d, and of %d "
                    "tasks %s on rank 0; all ranks have the same problem",
                    x->tasks, x->memory ? "with" : "without", r, y->tasks,
                    y->memory ? "with" : "without");
}

/* Compares all ranks' problems, with this rank's status so far. */
static evn_status same_problem(evn_cluster *c, const evn_problem *problem, evn_status mine) {
    struct given_problem given = {0};
    if (!mine) given = (struct given_problem){problem->tasks, problem->bytes && !problem->capacity};
    return cluster_meet_alike(c, "evn_session_schedule()", mine, &given, sizeof given, differ,
                              NULL);
}

/* ---- what a record says of all ranks ------------------------------------------------------- */

/* A rank's report of a loop: totals and medians, then its units' figures. */
struct said {
    evn_loop_totals totals;
    evn_loop_medians median;
    evn_unit_stats stats[];
};

static void take_all(struct recorded_loop *r, const evn_cluster *c, const char *all, size_t wide) {
    const int *first = evn_cluster_about(c).first;
    double task_s = 0;
    r->totals = (evn_loop_totals){0};
    for (int rank = 0; rank < evn_cluster_size(c); rank++) {
        const struct said *said = (const void *)(all + wide * (size_t)rank);
        const int from = first[rank];
        for (int u = from; u < r->units && evn_cluster_rank_of(c, u) == rank; u++)
            r->unit[u].stats = said->stats[u - from];
        evn_loop_add_totals(&r->totals, &said->totals);
        if (said->median.step_s > r->median.step_s) r->median = said->median;
        task_s += said->median.task_s;
    }
    r->median.task_s = task_s;
}

evn_status session_gather_record(evn_session *s, struct recorded_loop *r) {
    evn_cluster *c = s->cluster;
    if (!c) return EVN_OK;
    const int first = evn_cluster_about(c).first[evn_cluster_rank(c)], most = session_widest(c);
    const size_t wide = sizeof(struct said) + (size_t)most * sizeof(evn_unit_stats);
    struct said *mine = calloc(1, wide);
    char *all = evn_cluster_rank(c) ? NULL : malloc(wide * (size_t)evn_cluster_size(c));
    evn_status status = EVN_OK;
    if (!mine || (!all && !evn_cluster_rank(c)))
        status = evn_fail(EVN_MEMORY, "record: not enough memory for %d units", r->units);
    status = evn_cluster_agree(c, status);
    if (!status) {
        mine->totals = r->totals;
        mine->median = r->median;
        for (int u = first; u < r->units && u < first + most; u++)
            mine->stats[u - first] = r->unit[u].stats;
        status = evn_cluster_gather(c, mine, wide, all);
    }
    if (!status && all) take_all(r, c, all, wide);
    free(all);
    free(mine);
    return status;
}

/* Joins texts that were gathered in fields of equal width. */
static void join_texts(char *all, size_t wide, int ranks) {
    size_t at = 0;
    for (int r = 0; r < ranks; r++) {
        const char *text = all + wide * (size_t)r;
        const size_t bytes = strlen(text);
        memmove(all + at, text, bytes);
        at += bytes;
    }
    all[at] = '\0';
}

static evn_status gather_padded(evn_cluster *c, const char *mine, size_t wide, char **all) {
    const size_t ranks = (size_t)evn_cluster_size(c);
    char *padded = calloc(1, wide);
    *all = evn_cluster_rank(c) ? NULL : malloc(wide * ranks + 1);
    evn_status status = EVN_OK;
    if (!padded || (!*all && !evn_cluster_rank(c)))
        status = evn_fail(EVN_MEMORY, "record: not enough memory for %zu ranks", ranks);
    status = evn_cluster_agree(c, status);
    if (!status) {
        snprintf(padded, wide, "%s", mine);
        status = evn_cluster_gather(c, padded, wide, *all);
    }
    if (!status && *all) join_texts(*all, wide, (int)ranks);
    free(padded);
    return status;
}

evn_status session_gather_text(evn_session *s, const char *mine, char **all) {
    evn_cluster *c = s->cluster;
    *all = NULL;
    if (!c) {
        *all = strdup(mine);
        return *all ? EVN_OK : evn_fail(EVN_MEMORY, "record: not enough memory");
    }
    const int ranks = evn_cluster_size(c);
    size_t wide = strlen(mine) + 1, *size = calloc((size_t)ranks, sizeof *size);
    evn_status status = size ? EVN_OK : evn_fail(EVN_MEMORY, "record: not enough memory");
    status = evn_cluster_agree(c, status);
    if (!status) status = evn_cluster_gather(c, &wide, sizeof wide, size);
    for (int r = 0; !status && !evn_cluster_rank(c) && r < ranks; r++)
        if (size[r] > wide) wide = size[r];
    if (!status) status = evn_cluster_tell(c, &wide, sizeof wide);
    if (!status) status = gather_padded(c, mine, wide, all);
    if (status) {
        free(*all);
        *all = NULL;
    }
    free(size);
    return status;
}

const struct session_ranks session_ranks = {
    .join = join,
    .join_given = join_given,
    .leave = leave,
    .complain = complain,
    .rank = evn_cluster_rank,
    .launched = evn_cluster_launched,
    .agree = evn_cluster_agree,
    .machine = evn_cluster_machine,
    .units = evn_cluster_units,
    .loop_open = evn_loop_open_on,
    .about = evn_cluster_about,
    .rank_of = evn_cluster_rank_of,
    .widest = session_widest,
    .share_rooms = share_rooms,
    .same_problem = same_problem,
};
