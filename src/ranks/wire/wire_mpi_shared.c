/* One-sided memory over MPI 3: one window that the ranks of a node share, so that they read and
 * write each other's memory themselves, and the same memory once more in a window of all ranks, for
 * MPI_Put() and MPI_Get() of other nodes. Both are locked for all from the beginning to the end.
 *
 * A word that a rank of the same node raises is counted by the processor; one of another node's is
 * written by MPI_Accumulate() with what this rank has raised it to, when what was put before has
 * come: MPI orders nothing of different kinds by itself. No wait is for memory alone: without a
 * network that writes to memory by itself nothing comes unless this rank calls MPI.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* secure_getenv() */
#endif
#include "wire_mpi.h"
#include <evener/atomic.h>
#include <dirent.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PIECE = 1 << 30 }; /* a count of MPI's is an int */
enum { PUT = 1, GOT = 2 };

struct evn_segment {
    evn_wire *wire;
    MPI_Comm node;
    MPI_Win near, far;     /* windows of the node, and of all ranks */
    unsigned char **there; /* begin of each rank's words; NULL: on another node */
    size_t head;           /* bytes of the words, behind which the memory begins */
    int words;
    unsigned char *dirty; /* by rank: puts to it and gets from it that were not flushed */
    uint64_t *raised;     /* words of each rank, by this one from another node */
};

/* Without a network adapter that writes to memory Open MPI 4.1.4 chooses an engine that refuses TCP
 * (rdma) or hangs over it (ucx). The engine made of messages works, so it is chosen, unless the
 * user has chosen one (mpirun --mca osc). Open MPI 5 has it no more, and does not start if asked
 * for it. */
void wire_mpi_choose_engine(void) {
    int version, some = 0; /* of the MPI that is there, which may not be the one compiled with */
    if (sscanf(wire_mpi_library(), "Open MPI %d", &version) != 1 || version >= 5) return;
    DIR *adapters = opendir("/sys/class/infiniband");
    for (struct dirent *e; adapters && (e = readdir(adapters));) some |= e->d_name[0] != '.';
    if (adapters) closedir(adapters);
    if (!some) setenv("OMPI_MCA_osc", "sm,pt2pt", 0);
}

/* ---- opened and closed ---- */

static size_t page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* Agrees on the status: this rank's failure, or EVN_STOPPED if another rank has failed. */
static evn_status agree(const evn_wire *w, evn_status mine, const char *what) {
    int own = mine, worst = EVN_SYSTEM;
    const int code = MPI_Allreduce(&own, &worst, 1, MPI_INT, MPI_MAX, w->comm);
    if (mine) return mine;
    if (code) return wire_mpi_say(w, what, code);
    return worst ? w->host->fail(EVN_STOPPED, "wire: %s: %s: another rank cannot",
                                 wire_mpi_library(), what)
                 : EVN_OK;
}

/* Folder of MPI's memory that ranks of a node share. */
static const char *backing(void) {
#ifdef OPEN_MPI
    const char *said = secure_getenv("OMPI_MCA_osc_sm_backing_directory");
    if (said && *said) return said;
#endif
    return "/dev/shm";
}

/* Checks the room of the file system: writing to a segment in a full one ends the process by a
 * signal. */
static evn_status look_for_room(const evn_segment *s, size_t bytes) {
    const evn_wire *w = s->wire;
    unsigned long long mine = bytes + 2 * page(), all = 0;
    struct statvfs f;
    int ranks = 1;
    MPI_Comm_size(s->node, &ranks);
    const int code = MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, s->node);
    if (code) return wire_mpi_say(w, "it cannot count memory", code);
    const unsigned long long has = (unsigned long long)sysconf(_SC_PHYS_PAGES) * page();
    if (ranks == 1 && all > has)
        return w->host->fail(EVN_MEMORY,
                             "wire: %s: %llu MiB of shared memory on this node, which has %llu MiB",
                             wire_mpi_library(), all >> 20, has >> 20);
    if (ranks == 1 || statvfs(backing(), &f)) return EVN_OK; /* the memory is the process's own */
    const unsigned long long left = (unsigned long long)f.f_bavail * f.f_frsize;
    if (all <= left) return EVN_OK;
    return w->host->fail(EVN_MEMORY,
                         "wire: %s: %d ranks of this node share %llu MiB in %s, which has %llu MiB "
                         "left%s",
                         wire_mpi_library(), ranks, (all >> 20) + 1, backing(), left >> 20,
#ifdef OPEN_MPI
                         "; make it larger, or set OMPI_MCA_osc_sm_backing_directory=/tmp"
#else
                         "; make it larger (docker run --shm-size)"
#endif
    );
}

/* Open MPI's parts begin anywhere, but in all processes alike. */
static unsigned char *align(void *part) {
    return (unsigned char *)part + (page() - (uintptr_t)part % page()) % page();
}

static int share(evn_segment *s, size_t bytes) {
    MPI_Info info;
    void *mine = NULL;
    int code = MPI_Info_create(&info);
    if (code) return code;
    MPI_Info_set(info, "alloc_shared_noncontig", "true"); /* each part has pages of its own */
    code = MPI_Win_allocate_shared((MPI_Aint)(bytes + page()), 1, info, s->node, &mine, &s->near);
    MPI_Info_free(&info);
    if (!code) s->there[s->wire->rank] = align(mine);
    return code;
}

/* Finds the parts of this node's other ranks. */
static int find_neighbours(evn_segment *s) {
    MPI_Group node, all;
    int ranks, code = MPI_Comm_size(s->node, &ranks);
    if (!code) code = MPI_Comm_group(s->node, &node);
    if (code) return code;
    code = MPI_Comm_group(s->wire->comm, &all);
    for (int r = 0; !code && r < ranks; r++) {
        MPI_Aint bytes;
        void *part;
        int unit, rank;
        code = MPI_Group_translate_ranks(node, 1, &r, all, &rank);
        if (!code) code = MPI_Win_shared_query(s->near, r, &bytes, &unit, &part);
        if (!code) s->there[rank] = align(part);
    }
    MPI_Group_free(&node);
    MPI_Group_free(&all);
    return code;
}

static int expose(evn_segment *s, size_t bytes) {
    int code = MPI_Win_create(s->there[s->wire->rank], (MPI_Aint)bytes, 1, MPI_INFO_NULL,
                              s->wire->comm, &s->far);
    if (!code) code = MPI_Win_set_errhandler(s->far, MPI_ERRORS_RETURN);
    if (!code) code = MPI_Win_set_errhandler(s->near, MPI_ERRORS_RETURN);
    if (!code) code = MPI_Win_lock_all(MPI_MODE_NOCHECK, s->near);
    if (!code) code = MPI_Win_lock_all(MPI_MODE_NOCHECK, s->far);
    return code;
}

static void forget(evn_segment *s) {
    free(s->there);
    free(s->dirty);
    free(s->raised);
    free(s);
}

/* Collective. */
static void give_back(evn_segment *s) {
    if (s->far != MPI_WIN_NULL) {
        MPI_Win_unlock_all(s->far);
        MPI_Win_unlock_all(s->near);
        MPI_Win_free(&s->far);
    }
    if (s->near != MPI_WIN_NULL) MPI_Win_free(&s->near);
    if (s->node != MPI_COMM_NULL) MPI_Comm_free(&s->node);
}

static void segment_close(evn_segment *s, int together) {
    if (together && !wire_mpi_is_over()) give_back(s);
    forget(s);
}

static evn_segment *make(evn_wire *w, int words) {
    const size_t ranks = (size_t)w->size;
    evn_segment *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (evn_segment){.wire = w,
                       .node = MPI_COMM_NULL,
                       .near = MPI_WIN_NULL,
                       .far = MPI_WIN_NULL,
                       .there = calloc(ranks, sizeof *s->there),
                       .head = ((size_t)words * sizeof(uint64_t) + page() - 1) / page() * page(),
                       .words = words,
                       .dirty = calloc(ranks, 1),
                       .raised = calloc(ranks * (size_t)words + 1, sizeof *s->raised)};
    if (s->there && s->dirty && s->raised) return s;
    forget(s);
    return NULL;
}

/* Opens the windows step by step. All ranks agree after each step, so that the next one is made by
 * all or none. */
static evn_status open_all(evn_segment *s, size_t bytes) {
    static const char shared[] = "memory that ranks of a node share",
                      exposed[] = "memory for ranks of other nodes";
    const evn_wire *w = s->wire;
    int code = MPI_Comm_split_type(w->comm, MPI_COMM_TYPE_SHARED, w->rank, MPI_INFO_NULL, &s->node);
    if (!code) code = MPI_Comm_set_errhandler(s->node, MPI_ERRORS_RETURN);
    evn_status status = code ? wire_mpi_say(w, shared, code) : look_for_room(s, bytes);
    status = agree(w, status, shared);
    if (status) return status;
    code = share(s, bytes);
    if (!code) code = find_neighbours(s);
    status = agree(w, code ? wire_mpi_say(w, shared, code) : EVN_OK, shared);
    if (status) return status;
#ifdef MADV_HUGEPAGE /* large pages where the file system has them: mount -o huge=advise */
    madvise(s->there[w->rank], bytes, MADV_HUGEPAGE);
#endif
    memset(s->there[w->rank], 0, bytes); /* touches the pages, so that they are allocated */
    code = expose(s, bytes);
    /* a rank that is here has cleared its part: none writes before that */
    return agree(w, code ? wire_mpi_say(w, exposed, code) : EVN_OK, exposed);
}

static evn_status segment_open(evn_segment **out, evn_wire *w, size_t bytes, int words) {
    *out = NULL;
    if (wire_mpi_is_over()) return wire_mpi_say_over(w);
    evn_segment *s = make(w, words);
    evn_status status =
        s ? EVN_OK
          : w->host->fail(EVN_MEMORY, "wire: not enough memory for words of %d ranks", w->size);
    status = agree(w, status, "one-sided memory");
    if (!status) status = open_all(s, s->head + bytes);
    if (!status)
        *out = s;
    else if (s)
        segment_close(s, 1);
    return status;
}

static void *segment_memory(const evn_segment *s, int rank) {
    return s->there[rank] ? s->there[rank] + s->head : NULL;
}

/* ---- what goes out ---- */

static evn_status failed(const evn_segment *s, const char *what, int to, int code) {
    char text[80];
    if (!code) return EVN_OK;
    snprintf(text, sizeof text, "%s rank %d", what, to);
    return wire_mpi_say(s->wire, text, code);
}

static evn_status segment_put(evn_segment *s, int to, size_t at, const void *from, size_t bytes) {
    int code = 0;
    if (wire_mpi_is_over()) return wire_mpi_say_over(s->wire);
    s->dirty[to] |= PUT;
    for (size_t done = 0; !code && done < bytes; done += PIECE) {
        const int piece = bytes - done < PIECE ? (int)(bytes - done) : PIECE;
        code = MPI_Put((const char *)from + done, piece, MPI_BYTE, to,
                       (MPI_Aint)(s->head + at + done), piece, MPI_BYTE, s->far);
    }
    return failed(s, "a put to", to, code);
}

static evn_status segment_flush(evn_segment *s, int to) {
    evn_status status = wire_mpi_is_over() ? wire_mpi_say_over(s->wire) : EVN_OK;
    for (int r = to < 0 ? 0 : to; !status && r < (to < 0 ? s->wire->size : to + 1); r++) {
        if (!s->dirty[r]) continue;
        s->dirty[r] = 0;
        status = failed(s, "what was put to or read from", r, MPI_Win_flush(r, s->far));
    }
    return status;
}

static evn_status segment_raise(evn_segment *s, int to, int word, int direct) {
    if (wire_mpi_is_over()) return wire_mpi_say_over(s->wire);
    if (direct) {
        __atomic_fetch_add((uint64_t *)s->there[to] + word, 1, __ATOMIC_RELEASE);
        return EVN_OK;
    }
    evn_status status = segment_flush(s, to);
    if (status) return status;
    uint64_t *value = &s->raised[(size_t)to * (size_t)s->words + (size_t)word];
    ++*value;
    int code = MPI_Accumulate(value, 1, MPI_UINT64_T, to, (MPI_Aint)word * (MPI_Aint)sizeof *value,
                              1, MPI_UINT64_T, MPI_REPLACE, s->far);
    if (!code) code = MPI_Win_flush(to, s->far);
    return failed(s, "a signal to", to, code);
}

/* ---- what comes in ---- */

/* MPI does not order a get behind puts. */
static evn_status segment_get(evn_segment *s, int from, size_t at, void *to, size_t bytes) {
    int code = 0;
    if (wire_mpi_is_over()) return wire_mpi_say_over(s->wire);
    evn_status status = s->dirty[from] & PUT ? segment_flush(s, from) : EVN_OK;
    if (status) return status;
    s->dirty[from] |= GOT;
    for (size_t done = 0; !code && done < bytes; done += PIECE) {
        const int piece = bytes - done < PIECE ? (int)(bytes - done) : PIECE;
        code = MPI_Get((char *)to + done, piece, MPI_BYTE, from, (MPI_Aint)(s->head + at + done),
                       piece, MPI_BYTE, s->far);
    }
    return failed(s, "a get from", from, code);
}

static evn_status segment_update(evn_segment *s, int to, size_t at, int what, void *value) {
    evn_status status = segment_flush(s, to);
    if (status) return status;
    MPI_Win_sync(s->far); /* locks order what ranks of a node read and write by themselves, too */
    const MPI_Datatype type = what == EVN_ADD_DOUBLE ? MPI_DOUBLE : MPI_INT64_T;
    const MPI_Aint there = (MPI_Aint)(s->head + at);
    int64_t before;
    int code = what == EVN_COMPARE_SWAP_INT64
                   ? MPI_Compare_and_swap(value, (char *)value + sizeof before, &before, type, to,
                                          there, s->far)
                   : MPI_Fetch_and_op(value, &before, type, to, there,
                                      what == EVN_SWAP_INT64 ? MPI_REPLACE : MPI_SUM, s->far);
    if (!code) code = MPI_Win_flush(to, s->far);
    MPI_Win_sync(s->far);
    if (!code) memcpy(value, &before, sizeof before);
    return failed(s, "an atomic update at", to, code);
}

static unsigned long long segment_value(evn_segment *s, int word) {
    if (wire_mpi_is_over()) return 0; /* the memory was MPI's; rest() says why */
    return __atomic_load_n((uint64_t *)s->there[s->wire->rank] + word, __ATOMIC_ACQUIRE);
}

static void segment_poll(evn_segment *s) {
    int here;
    if (wire_mpi_is_over()) return;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s->wire->comm, &here, MPI_STATUS_IGNORE);
    MPI_Win_sync(s->far);
}

static unsigned segment_bell(const evn_segment *s) {
    (void)s;
    return 0;
}

static evn_status segment_rest(evn_segment *s, unsigned bell, int from, double *since) {
    const evn_wire_host *host = s->wire->host;
    (void)bell;
    if (wire_mpi_is_over()) return wire_mpi_say_over(s->wire);
    if (host->crowded) sched_yield();
    if (!*host->stop) return EVN_OK;
    const double now = wire_mpi_now();
    if (!*since) *since = now;
    if (!s->wire->is_leaving && now - *since < s->wire->patience) return EVN_OK;
    s->wire->is_leaving = 1;
    char rank[32] = "others";
    if (from >= 0) snprintf(rank, sizeof rank, "rank %d", from);
    return host->fail(EVN_STOPPED,
                      "ended from outside (a rank has died, or the run was interrupted), "
                      "and no signal came from %s",
                      rank);
}

const evn_wire_shared wire_mpi_shared = {.open = segment_open,
                                         .close = segment_close,
                                         .memory = segment_memory,
                                         .put = segment_put,
                                         .flush = segment_flush,
                                         .raise = segment_raise,
                                         .value = segment_value,
                                         .poll = segment_poll,
                                         .bell = segment_bell,
                                         .rest = segment_rest,
                                         .get = segment_get,
                                         .update = segment_update};
