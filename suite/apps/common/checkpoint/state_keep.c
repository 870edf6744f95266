/* Writing a checkpoint: one file, written by all ranks that can. */
#include "common/run/hash.h"
#include "common/checkpoint/checkpoint_io.h"
#include "common/run/ranks.h"
#include "common/checkpoint/state_parts.h"
#include <errno.h>
#include <evener/output.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Over ranks, s: a last state that takes longer is not begun. Launchers kill soon, and ranks that
 * were asked to end wait 2 s for each other. */
#define SOON 0.5

/* Bytes a second of a disk that was not written to yet. */
#define DISK 1e8

enum { EVERY = 100 };

/* ---- the file ------------------------------------------------------------------------------ */

/* Rank 0's report of the file, for all ranks. */
struct told {
    struct kept_place place; /* which it begins with, for now */
    uint64_t header;
    int64_t skip; /* there is no time for it */
};

/* A state that is being kept. */
struct keeping {
    struct states *states;
    struct state_file file;
    struct told told;
    evn_output *output; /* on rank 0 */
    struct filing filing;
    int *sees, ranks; /* by rank, 1: it has the file open */
};

static evn_status plan(struct states *s, struct state_file *file, int step) {
    const evn_schedule *schedule = s->loop ? evn_loop_schedule(s->loop) : NULL;
    char *assignment = schedule && state_leads(s) ? evn_schedule_export(schedule) : NULL;
    evn_status status = state_plan(file, s, step, assignment ? assignment : "");
    if (!status && schedule) file->speeds = state_speeds(schedule);
    free(assignment);
    return status;
}

static evn_status open_file(evn_output **out, const char *path, uint64_t bytes) {
    evn_status status = evn_output_open(out, NULL, path);
    if (!status && evn_output_descriptor(*out) < 0)
        status = evn_fail(EVN_USAGE, "%s: a state is kept in a file, and this is none", path);
    return status ? status : evn_output_reserve(*out, bytes);
}

evn_status state_try(struct states *s) {
    const char *path = s->files->checkpoint;
    struct state_file file;
    struct stat is;
    evn_output *output = NULL;
    if (!path) return EVN_OK;
    evn_status status = EVN_OK;
    if (state_leads(s)) {
        if (!stat(path, &is) && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode))
            status = evn_fail(EVN_USAGE, "%s: a state is kept in a file, and this is none", path);
        if (!status) status = plan(s, &file, s->steps);
        if (!status) {
            status = open_file(&output, path, file.bytes);
            evn_output_close(output);
            state_close(&file);
        }
        /* what cannot be written before anything was done is the user's to change */
        if (status == EVN_SYSTEM) status = evn_fail(EVN_USAGE, "%s", evn_message());
    }
    return ranks_agreed(s->cluster, status);
}

/* Expected seconds to write a state. */
static double expected(const struct states *s, uint64_t bytes) {
    return s->count ? s->last_s : (double)bytes / DISK;
}

/* Rank 0 opens it, with room for all and a word that says which file it is. */
static evn_status begin(struct keeping *k, int stopping) {
    struct states *s = k->states;
    struct told *t = &k->told;
    if (!state_leads(s)) return EVN_OK;
    t->skip = stopping && s->cluster && expected(s, k->file.bytes) > SOON;
    if (t->skip) return EVN_OK;
    const char *path = s->files->checkpoint;
    evn_status status = open_file(&k->output, path, k->file.bytes);
    if (status) return status;
    t->header = k->file.header;
    const int fd = evn_output_descriptor(k->output);
    int error = ftruncate(fd, (off_t)k->file.bytes) ? errno : 0;
    if (!error) error = kept_mark(&t->place, fd, 0);
    return error ? evn_fail(EVN_SYSTEM, "%s could not be written: %s", path, strerror(error))
                 : EVN_OK;
}

/* The file that rank 0 has opened; -1: this rank cannot see it. */
static int look(const struct states *s, const struct told *t) {
    const char *host = evn_cluster_host(s->cluster, evn_cluster_rank(s->cluster));
    return strcmp(host, evn_cluster_host(s->cluster, 0)) != 0 ? -1 : kept_look(&t->place);
}

/* ---- parts --------------------------------------------------------------------------------- */

static evn_status cannot(const char *path, int error) {
    return error ? evn_fail(EVN_SYSTEM, "%s could not be written: %s", path, strerror(error))
                 : EVN_OK;
}

static evn_status write_part(struct filing *f, int i, double *piece) {
    struct state_part *part = &f->file->part[i];
    const size_t doubles = part->bytes / sizeof(double);
    evn_status status = filing_hold(f->states, i, EVN_READ);
    if (status) return status;
    uint64_t sum = HASH_SEED;
    for (size_t at = 0; !status && at < doubles; at += STATE_PIECE) {
        const size_t count = doubles - at < STATE_PIECE ? doubles - at : STATE_PIECE;
        state_pack(f->states, i, at, count, piece);
        sum = state_sum(sum, piece, count);
        status = cannot(f->path, kept_write(f->fd, piece, count * sizeof *piece,
                                            part->at + at * sizeof *piece));
    }
    part->sum = state_sum_end(sum, part->bytes);
    filing_release(f->states, i);
    return status;
}

/* A part of a rank that does not see the file, by way of rank 0. After a failure it is carried all
 * the same, since the other waits; *failed has it. */
static evn_status carry_part(struct keeping *k, int i, int from, double *piece,
                             evn_status *failed) {
    struct states *s = k->states;
    struct state_part *part = &k->file.part[i];
    const size_t doubles = part->bytes / sizeof(double);
    const int mine = evn_cluster_rank(s->cluster) == from;
    const int held = mine && !*failed && !(*failed = filing_hold(s, i, EVN_READ));
    evn_status status = EVN_OK;
    uint64_t sum = HASH_SEED;
    for (size_t at = 0; !status && at < doubles; at += STATE_PIECE) {
        const size_t count = doubles - at < STATE_PIECE ? doubles - at : STATE_PIECE;
        if (held) state_pack(s, i, at, count, piece);
        if (held) sum = state_sum(sum, piece, count);
        status = evn_cluster_carry(s->cluster, from, 0, piece, count * sizeof *piece);
        if (!status && !mine && !*failed)
            *failed = cannot(k->filing.path,
                             kept_write(k->told.place.descriptor, piece, count * sizeof *piece,
                                        part->at + at * sizeof *piece));
    }
    if (held) filing_release(s, i);
    if (mine) part->sum = state_sum_end(sum, part->bytes);
    return status;
}

static evn_status carry_parts(struct keeping *k, evn_status *failed) {
    struct states *s = k->states;
    const int me = evn_cluster_rank(s->cluster);
    double *piece = calloc(STATE_PIECE, sizeof *piece);
    evn_status status = piece ? EVN_OK : evn_fail(EVN_MEMORY, "checkpoint: not enough memory");
    status = evn_cluster_agree(s->cluster, status);
    for (int i = 0; !status && i < s->parts; i++) {
        const int from = filing_rank(s, i);
        if (!k->sees[from] && (me == from || !me)) status = carry_part(k, i, from, piece, failed);
    }
    free(piece);
    return status;
}

/* The checksums of all parts, to rank 0. */
static evn_status complete(struct keeping *k) {
    struct state_file *file = &k->file;
    return ranks_complete(k->states->cluster, file->part, file->parts, sizeof *file->part,
                          filing_has, k->states);
}

static evn_status write_parts(struct keeping *k) {
    struct states *s = k->states;
    struct filing *f = &k->filing;
    f->path = s->files->checkpoint;
    f->each = write_part;
    f->fd = state_leads(s) ? k->told.place.descriptor : look(s, &k->told);
    const int sees = f->fd >= 0;
    evn_status status = filing_share(s, sees, &k->sees, &k->ranks), failed = EVN_OK;
    if (status) return status;
    int blind = 0;
    for (int r = 0; r < k->ranks; r++) blind |= !k->sees[r];
    filing_by_owner(f, sees);
    failed = filing_run(f);
    char why[512] = "";
    if (failed) snprintf(why, sizeof why, "%s", evn_message());
    if (blind) status = carry_parts(k, &failed);
    if (status) return status;
    if (failed && *why) evn_fail(failed, "%s", why);
    if (!state_leads(s) && sees) close(f->fd);
    status = ranks_agreed(s->cluster, failed);
    return status ? status : complete(k);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static evn_status write_header(struct keeping *k) {
    unsigned char *header = state_header(&k->file, k->states->kind);
    if (!header) return evn_fail(EVN_MEMORY, "checkpoint: no memory for its header");
    evn_status status =
        cannot(k->filing.path, kept_write(k->told.place.descriptor, header, k->file.header, 0));
    free(header);
    return status ? status : evn_output_commit(k->output);
}

static evn_status keep(struct keeping *k, int done, int stopping) {
    struct states *s = k->states;
    evn_status status = plan(s, &k->file, done);
    if (!status) status = filing_open(&k->filing, s, &k->file);
    if (!status) status = begin(k, stopping);
    status = ranks_agreed(s->cluster, status);
    if (!status && s->cluster) status = evn_cluster_tell(s->cluster, &k->told, sizeof k->told);
    if (status || k->told.skip) return status;
    state_lay_out(&k->file, s, k->told.header);
    status = write_parts(k);
    if (status) return status;
    return ranks_agreed(s->cluster, state_leads(s) ? write_header(k) : EVN_OK);
}

evn_status states_keep(struct states *s, int done, int stopping) {
    const struct state_files *o = s->files;
    s->done = done;
    if (!o || !o->checkpoint) return EVN_OK;
    const long every = o->every ? o->every : EVERY;
    const int due = stopping || !(done % every) || done == s->steps;
    return due ? states_keep_now(s, done, stopping) : EVN_OK;
}

evn_status states_keep_now(struct states *s, int done, int stopping) {
    s->done = done;
    if (s->count && s->step == done) return EVN_OK;
    if (s->cluster && evn_cluster_about(s->cluster).failed) return EVN_OK; /* they do not agree */
    struct keeping k = {.states = s};
    const double since = evn_now();
    evn_status status = keep(&k, done, stopping);
    if (!status && !k.told.skip) {
        s->count++;
        s->step = done;
        s->last_s = evn_now() - since;
        s->seconds += s->last_s;
    }
    evn_output_close(k.output);
    filing_close(&k.filing);
    state_close(&k.file);
    free(k.sees);
    return status;
}
