/* Restart from a checkpoint. */
#include "common/run/hash.h"
#include "common/checkpoint/checkpoint_io.h"
#include "common/run/ranks.h"
#include "common/checkpoint/state_parts.h"
#include "common/run/free_all.h"
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
    size_t bytes;     /* bytes of the header */
    int fd;           /* -1: this rank does not see it */
    int *sees, ranks; /* by rank, 1: it sees the file */
};

/* ---- the header ---------------------------------------------------------------------------- */

static evn_status open_here(const struct states *s) {
    struct restart *r = s->from;
    r->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (r->fd < 0) return evn_fail(EVN_USAGE, "%s cannot be read: %s", r->path, strerror(errno));
    return state_read_header(s->kind, r->fd, r->path, &r->header, &r->bytes);
}

/* Rank 0's header, on all ranks. */
static evn_status tell_header(struct states *s) {
    struct restart *r = s->from;
    uint64_t bytes = r->bytes;
    if (!s->cluster) return EVN_OK;
    evn_status status = evn_cluster_tell(s->cluster, &bytes, sizeof bytes);
    if (status) return status;
    r->bytes = bytes;
    if (!r->header) r->header = malloc(r->bytes);
    status = r->header ? EVN_OK : evn_fail(EVN_MEMORY, "%s: no memory for its header", r->path);
    status = ranks_agreed(s->cluster, status);
    return status ? status : evn_cluster_tell(s->cluster, r->header, r->bytes);
}

/* Whether this rank finds the same file under the name; another one may be there, or none. */
static int look(const struct states *s) {
    struct restart *r = s->from;
    unsigned char *header = NULL;
    size_t bytes;
    r->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const int same = r->fd >= 0 && !state_read_header(s->kind, r->fd, r->path, &header, &bytes) &&
                     bytes == r->bytes && !memcmp(header, r->header, bytes);
    free(header);
    if (!same && r->fd >= 0) close(r->fd);
    if (!same) r->fd = -1;
    return same;
}

/* ---- parts --------------------------------------------------------------------------------- */

static evn_status damaged(const struct states *s, int i) {
    return evn_fail(EVN_USAGE, "%s: this checkpoint is damaged: the checksum of %s %d is wrong",
                    s->from->path, s->kind->part, i);
}

static evn_status unreadable(const char *path, int error) {
    return evn_fail(EVN_USAGE, "%s cannot be read: %s", path, strerror(error));
}

/* Checks that zeros fill a part up, as readers assume. */
static int is_filled(const struct filing *f, const struct state_part *part, uint64_t end,
                     unsigned char *rest) {
    const size_t bytes = (size_t)(end - part->at - part->bytes);
    if (kept_read(f->fd, rest, bytes, end - bytes)) return 0;
    for (size_t i = 0; i < bytes; i++)
        if (rest[i]) return 0;
    return 1;
}

/* All of a part, with the bytes that fill it up. */
static evn_status check_part(struct filing *f, int i, double *piece) {
    const struct state_part *part = &f->file->part[i];
    const uint64_t end = i + 1 < f->file->parts ? part[1].at : f->file->bytes;
    uint64_t sum = HASH_SEED;
    for (uint64_t at = part->at; at < end; at += STATE_PIECE * sizeof *piece) {
        const uint64_t left = end - at, most = STATE_PIECE * sizeof *piece;
        const size_t bytes = left < most ? left : most;
        const int error = kept_read(f->fd, piece, bytes, at);
        if (error) return unreadable(f->path, error);
        sum = kept_sum(sum, piece, bytes);
    }
    const int whole = sum == part->sum && is_filled(f, part, end, (unsigned char *)piece);
    return whole ? EVN_OK : damaged(f->states, i);
}

static evn_status read_part(struct filing *f, int i, double *piece) {
    const struct state_part *part = &f->file->part[i];
    const size_t doubles = part->bytes / sizeof(double);
    evn_status status = filing_hold(f->states, i, EVN_BOTH);
    if (status) return status;
    uint64_t sum = HASH_SEED;
    for (size_t at = 0; !status && at < doubles; at += STATE_PIECE) {
        const size_t count = doubles - at < STATE_PIECE ? doubles - at : STATE_PIECE;
        const int error =
            kept_read(f->fd, piece, count * sizeof *piece, part->at + at * sizeof *piece);
        if (error) status = unreadable(f->path, error);
        sum = state_sum(sum, piece, count);
        state_unpack(f->states, i, at, count, piece);
    }
    filing_release(f->states, i);
    if (!status && state_sum_end(sum, part->bytes) != part->sum) status = damaged(f->states, i);
    return status;
}

/* Parts are dealt out to the ranks that see the file, and there to the units. */
static void deal(struct filing *f, const struct restart *r, int me) {
    const int units = evn_units_count(f->states->units);
    int readers = 0, mine = 0;
    for (int i = 0; i < r->ranks; i++) {
        if (i == me) mine = readers;
        readers += r->sees[i];
    }
    for (int i = 0; i < f->states->parts; i++)
        f->unit[i] = r->sees[me] && i % readers == mine ? i / readers % units : -1;
}

static evn_status check_parts(struct states *s) {
    struct restart *r = s->from;
    struct filing f;
    evn_status status = filing_open(&f, s, &r->file);
    if (!status) {
        f.path = r->path;
        f.fd = r->fd;
        f.each = check_part;
        deal(&f, r, s->cluster ? evn_cluster_rank(s->cluster) : 0);
        status = filing_run(&f);
    }
    filing_close(&f);
    return status;
}

evn_status states_look(const struct state_kind *kind, const char *path) {
    struct restart *r = calloc(1, sizeof *r);
    double *piece = malloc(STATE_PIECE * sizeof *piece);
    struct states s = {.kind = kind, .from = r};
    if (r) *r = (struct restart){.path = path, .fd = -1};
    evn_status status =
        r && piece ? open_here(&s) : evn_fail(EVN_MEMORY, "restart: not enough memory");
    if (!status) status = state_parse(&r->file, &s, r->header, r->bytes, path);
    for (int i = 0; !status && i < r->file.parts; i++) {
        struct filing f = {.states = &s, .file = &r->file, .path = path, .fd = r->fd};
        status = check_part(&f, i, piece);
    }
    free(piece);
    states_close(&s);
    return status;
}

/* ---- before anything is computed ----------------------------------------------------------- */

static evn_status look_at(struct states *s) {
    struct restart *r = s->from;
    evn_status status = ranks_agreed(s->cluster, state_leads(s) ? open_here(s) : EVN_OK);
    if (!status) status = tell_header(s);
    if (status) return status;
    status = state_parse(&r->file, s, r->header, r->bytes, r->path);
    status = ranks_agreed(s->cluster, status);
    if (status) return status;
    s->first = r->file.step;
    const int sees = state_leads(s) || look(s);
    status = filing_share(s, sees, &r->sees, &r->ranks);
    return status ? status : ranks_agreed(s->cluster, check_parts(s));
}

evn_status state_begin(struct states *s) {
    if (!s->files->restart) return EVN_OK;
    struct restart *r = s->from = calloc(1, sizeof *r);
    if (r) *r = (struct restart){.path = s->files->restart, .fd = -1};
    evn_status status =
        ranks_agreed(s->cluster, r ? EVN_OK : evn_fail(EVN_MEMORY, "restart: not enough memory"));
    return status ? status : look_at(s);
}

void states_close(struct states *s) {
    struct restart *r = s->from;
    if (!r) return;
    if (r->fd >= 0) close(r->fd);
    state_close(&r->file);
    free_all(r->header, r->sees, r);
    s->from = NULL;
}

/* Other units have another best assignment, and schedules that do not learn would keep this one. */
void states_schedule(const struct states *s, evn_schedule *schedule) {
    const struct restart *r = s->from;
    if (r && r->file.speeds == state_speeds(schedule))
        evn_schedule_import(schedule, r->file.schedule); /* another schedule begins anew */
}

/* ---- the state ----------------------------------------------------------------------------- */

/* A part for a rank that does not see the file. */
static evn_status carry_part(struct filing *f, int i, int to, double *piece, evn_status *failed) {
    struct states *s = f->states;
    const struct state_part *part = &f->file->part[i];
    const size_t doubles = part->bytes / sizeof(double);
    const int mine = evn_cluster_rank(s->cluster) == to;
    const int held = mine && !*failed && !(*failed = filing_hold(s, i, EVN_BOTH));
    evn_status status = EVN_OK;
    uint64_t sum = HASH_SEED;
    for (size_t at = 0; !status && at < doubles; at += STATE_PIECE) {
        const size_t count = doubles - at < STATE_PIECE ? doubles - at : STATE_PIECE;
        if (!mine) {
            const int error =
                kept_read(f->fd, piece, count * sizeof *piece, part->at + at * sizeof *piece);
            if (error && !*failed) *failed = unreadable(f->path, error);
        }
        status = evn_cluster_carry(s->cluster, 0, to, piece, count * sizeof *piece);
        if (status) continue;
        if (mine) sum = state_sum(sum, piece, count);
        if (held) state_unpack(s, i, at, count, piece);
    }
    if (held) filing_release(s, i);
    if (!status && mine && !*failed && state_sum_end(sum, part->bytes) != part->sum)
        *failed = damaged(f->states, i);
    return status;
}

static evn_status carry_parts(struct filing *f, const int *sees, evn_status *failed) {
    struct states *s = f->states;
    const int me = evn_cluster_rank(s->cluster);
    double *piece = calloc(STATE_PIECE, sizeof *piece);
    evn_status status = piece ? EVN_OK : evn_fail(EVN_MEMORY, "restart: not enough memory");
    status = evn_cluster_agree(s->cluster, status);
    for (int i = 0; !status && i < s->parts; i++) {
        const int to = filing_rank(s, i);
        if (!sees[to] && (me == to || !me)) status = carry_part(f, i, to, piece, failed);
    }
    free(piece);
    return status;
}

/* Broadcasts the parts that all ranks have, which rank 0 has read. */
static evn_status tell_parts(const struct states *s, const struct state_file *file) {
    double *piece = calloc(STATE_PIECE, sizeof *piece);
    evn_status status = piece ? EVN_OK : evn_fail(EVN_MEMORY, "restart: not enough memory");
    status = evn_cluster_agree(s->cluster, status);
    for (int i = 0; i < s->parts; i++) {
        const size_t doubles = file->part[i].bytes / sizeof *piece;
        for (size_t at = 0; !status && at < doubles; at += STATE_PIECE) {
            const size_t count = doubles - at < STATE_PIECE ? doubles - at : STATE_PIECE;
            if (state_leads(s)) state_pack(s, i, at, count, piece);
            status = evn_cluster_tell(s->cluster, piece, count * sizeof *piece);
            if (!status && !state_leads(s)) state_unpack(s, i, at, count, piece);
        }
    }
    free(piece);
    return status;
}

static evn_status load(struct filing *f, const struct restart *r) {
    int blind = 0;
    for (int i = 0; i < r->ranks; i++) blind |= !r->sees[i];
    f->path = r->path;
    f->fd = r->fd;
    f->each = read_part;
    filing_by_owner(f, r->fd >= 0);
    evn_status failed = filing_run(f), status = EVN_OK;
    char why[512] = "";
    if (failed) snprintf(why, sizeof why, "%s", evn_message());
    if (blind) status = carry_parts(f, r->sees, &failed);
    if (status) return status;
    if (*why) evn_fail(failed, "%s", why);
    /* it was whole before */
    if (failed == EVN_USAGE) failed = evn_fail(EVN_SYSTEM, "%s", evn_message());
    status = ranks_agreed(f->states->cluster, failed);
    const int tells = !status && f->states->cluster && f->states->kind->shared;
    return tells ? tell_parts(f->states, f->file) : status;
}

evn_status states_load(struct states *s) {
    struct restart *r = s->from;
    struct filing f;
    evn_status status = ranks_agreed(s->cluster, filing_open(&f, s, &r->file));
    if (!status) status = load(&f, r);
    filing_close(&f);
    return status;
}
