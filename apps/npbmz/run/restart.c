/* Going on from a state on disk. */
#include "npbmz/run/checkpoint.h"
#include "common/hash.h"
#include "common/kept.h"
#include "common/ranks.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that a run goes on from. */
struct restart {
    const char *path;
    struct state_file file;
    unsigned char *header;
    size_t bytes;     /* of the header */
    int fd;           /* -1: this rank does not see it */
    int *sees, ranks; /* of each rank */
};

static int leads(const struct run *run) { return !run->cluster || !evn_cluster_rank(run->cluster); }

/* ---- the header ---------------------------------------------------------------------------- */

static evn_status open_here(struct restart *r) {
    r->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (r->fd < 0) return evn_fail(EVN_USAGE, "%s cannot be read: %s", r->path, strerror(errno));
    return state_read_header(r->fd, r->path, &r->header, &r->bytes);
}

/* Rank 0's header, on all ranks. */
static evn_status tell_header(struct run *run) {
    struct restart *r = run->restart;
    uint64_t bytes = r->bytes;
    if (!run->cluster) return EVN_OK;
    evn_status status = evn_cluster_tell(run->cluster, &bytes, sizeof bytes);
    if (status) return status;
    r->bytes = bytes;
    if (!r->header) r->header = malloc(r->bytes);
    status = r->header ? EVN_OK : evn_fail(EVN_MEMORY, "%s: no memory for its header", r->path);
    status = ranks_agreed(run->cluster, status);
    return status ? status : evn_cluster_tell(run->cluster, r->header, r->bytes);
}

/* Whether this rank finds the same file under the name; another one may be there, or none. */
static int look(struct restart *r) {
    unsigned char *header = NULL;
    size_t bytes;
    r->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const int same = r->fd >= 0 && !state_read_header(r->fd, r->path, &header, &bytes) &&
                     bytes == r->bytes && !memcmp(header, r->header, bytes);
    free(header);
    if (!same && r->fd >= 0) close(r->fd);
    if (!same) r->fd = -1;
    return same;
}

/* ---- zones --------------------------------------------------------------------------------- */

static evn_status damaged(const char *path, int z) {
    return evn_fail(EVN_USAGE, "%s: this checkpoint is damaged: the checksum of zone %d is wrong",
                    path, z);
}

static evn_status unreadable(const char *path, int error) {
    return evn_fail(EVN_USAGE, "%s cannot be read: %s", path, strerror(error));
}

/* All of a zone, with the bytes that fill it up. */
static evn_status check_zone(struct filing *f, int z, double *piece) {
    const struct state_part *part = &f->file->part[z];
    const uint64_t end = z + 1 < f->file->zones ? part[1].at : f->file->bytes;
    uint64_t sum = HASH_SEED;
    for (uint64_t at = part->at; at < end; at += STATE_PIECE * sizeof *piece) {
        const uint64_t left = end - at, most = STATE_PIECE * sizeof *piece;
        const size_t bytes = left < most ? left : most;
        const int error = kept_read(f->fd, piece, bytes, at);
        if (error) return unreadable(f->path, error);
        sum = kept_sum(sum, piece, bytes);
    }
    return sum == part->sum ? EVN_OK : damaged(f->path, z);
}

static evn_status read_zone(struct filing *f, int z, double *piece) {
    const struct state_part *part = &f->file->part[z];
    const size_t doubles = part->bytes / sizeof(double);
    evn_status status = filing_hold(f->run, z, EVN_BOTH);
    if (status) return status;
    uint64_t sum = HASH_SEED;
    for (size_t at = 0; !status && at < doubles; at += STATE_PIECE) {
        const size_t count = doubles - at < STATE_PIECE ? doubles - at : STATE_PIECE;
        const int error =
            kept_read(f->fd, piece, count * sizeof *piece, part->at + at * sizeof *piece);
        if (error) status = unreadable(f->path, error);
        sum = state_sum(sum, piece, count);
        state_unpack(&f->run->p->zone[z], at, count, piece);
    }
    filing_release(f->run, z);
    if (!status && state_sum_end(sum, part->bytes) != part->sum) status = damaged(f->path, z);
    return status;
}

/* Zones are dealt out to the ranks that see the file, and there to the units. */
static void deal(struct filing *f, const struct restart *r, int me) {
    const int units = evn_units_count(f->run->units);
    int readers = 0, mine = 0;
    for (int i = 0; i < r->ranks; i++) {
        if (i == me) mine = readers;
        readers += r->sees[i];
    }
    for (int z = 0; z < f->run->p->zones; z++)
        f->unit[z] = r->sees[me] && z % readers == mine ? z / readers % units : -1;
}

static evn_status check_zones(struct run *run) {
    struct restart *r = run->restart;
    struct filing f;
    evn_status status = filing_open(&f, run, &r->file);
    if (!status) {
        f.path = r->path;
        f.fd = r->fd;
        f.zone = check_zone;
        deal(&f, r, run->cluster ? evn_cluster_rank(run->cluster) : 0);
        status = filing_run(&f);
    }
    filing_close(&f);
    return status;
}

/* ---- before anything is computed ----------------------------------------------------------- */

static evn_status look_at(struct run *run) {
    struct restart *r = run->restart;
    evn_status status = ranks_agreed(run->cluster, leads(run) ? open_here(r) : EVN_OK);
    if (!status) status = tell_header(run);
    if (status) return status;
    char identity[IDENTITY_SIZE];
    checkpoint_identify(run, identity);
    status = state_parse(&r->file, run->p, identity, r->header, r->bytes, r->path);
    status = ranks_agreed(run->cluster, status);
    if (status) return status;
    run->first = r->file.step;
    const int sees = leads(run) || look(r);
    status = filing_share(run, sees, &r->sees, &r->ranks);
    return status ? status : ranks_agreed(run->cluster, check_zones(run));
}

evn_status restart_open(struct run *run) {
    if (!run->options->restart) return EVN_OK;
    struct restart *r = run->restart = calloc(1, sizeof *r);
    if (r) *r = (struct restart){.path = run->options->restart, .fd = -1};
    evn_status status =
        ranks_agreed(run->cluster, r ? EVN_OK : evn_fail(EVN_MEMORY, "restart: not enough memory"));
    return status ? status : look_at(run);
}

void restart_close(struct run *run) {
    struct restart *r = run->restart;
    if (!r) return;
    if (r->fd >= 0) close(r->fd);
    state_close(&r->file);
    free(r->header);
    free(r->sees);
    free(r);
    run->restart = NULL;
}

/* Other units have another best assignment, and schedules that do not learn would keep this one. */
void restart_schedule(const struct run *run, evn_schedule *schedule) {
    const struct restart *r = run->restart;
    if (r && r->file.speeds == checkpoint_speeds(schedule))
        evn_schedule_import(schedule, r->file.schedule); /* of another schedule: it begins anew */
}

/* ---- the state ----------------------------------------------------------------------------- */

/* A zone for a rank that does not see the file. */
static evn_status carry_zone(struct filing *f, int z, int to, double *piece, evn_status *failed) {
    struct run *run = f->run;
    const struct state_part *part = &f->file->part[z];
    const size_t doubles = part->bytes / sizeof(double);
    const int mine = evn_cluster_rank(run->cluster) == to;
    const int held = mine && !*failed && !(*failed = filing_hold(run, z, EVN_BOTH));
    evn_status status = EVN_OK;
    uint64_t sum = HASH_SEED;
    for (size_t at = 0; !status && at < doubles; at += STATE_PIECE) {
        const size_t count = doubles - at < STATE_PIECE ? doubles - at : STATE_PIECE;
        if (!mine) {
            const int error =
                kept_read(f->fd, piece, count * sizeof *piece, part->at + at * sizeof *piece);
            if (error && !*failed) *failed = unreadable(f->path, error);
        }
        status = evn_cluster_carry(run->cluster, 0, to, piece, count * sizeof *piece);
        if (status) continue;
        if (mine) sum = state_sum(sum, piece, count);
        if (held) state_unpack(&run->p->zone[z], at, count, piece);
    }
    if (held) filing_release(run, z);
    if (!status && mine && !*failed && state_sum_end(sum, part->bytes) != part->sum)
        *failed = damaged(f->path, z);
    return status;
}

static evn_status carry_zones(struct filing *f, const int *sees, evn_status *failed) {
    struct run *run = f->run;
    const int me = evn_cluster_rank(run->cluster);
    double *piece = calloc(STATE_PIECE, sizeof *piece);
    evn_status status = piece ? EVN_OK : evn_fail(EVN_MEMORY, "restart: not enough memory");
    status = evn_cluster_agree(run->cluster, status);
    for (int z = 0; !status && z < run->p->zones; z++) {
        const int to = filing_rank(run, z);
        if (!sees[to] && (me == to || !me)) status = carry_zone(f, z, to, piece, failed);
    }
    free(piece);
    return status;
}

static evn_status load(struct filing *f, const struct restart *r) {
    int blind = 0;
    for (int i = 0; i < r->ranks; i++) blind |= !r->sees[i];
    f->path = r->path;
    f->fd = r->fd;
    f->zone = read_zone;
    filing_by_owner(f, r->fd >= 0);
    evn_status failed = filing_run(f), status = EVN_OK;
    char why[512] = "";
    if (failed) snprintf(why, sizeof why, "%s", evn_message());
    if (blind) status = carry_zones(f, r->sees, &failed);
    if (status) return status;
    if (*why) evn_fail(failed, "%s", why);
    /* it was whole before */
    if (failed == EVN_USAGE) failed = evn_fail(EVN_SYSTEM, "%s", evn_message());
    return ranks_agreed(f->run->cluster, failed);
}

evn_status restart_load(struct run *run) {
    struct restart *r = run->restart;
    struct filing f;
    evn_status status = ranks_agreed(run->cluster, filing_open(&f, run, &r->file));
    if (!status) status = load(&f, r);
    filing_close(&f);
    return status;
}
