/* Keeping the state: one file, written by all ranks that can. */
#include "npbmz/run/checkpoint.h"
#include "common/hash.h"
#include "common/kept.h"
#include "common/lanes.h"
#include "common/ranks.h"
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

/* ---- what the bits depend on --------------------------------------------------------------- */

/* Whether the compiler makes one operation of a product and a sum. */
static int contracts(void) {
    volatile double a = 1 + 0x1p-30, c = -(1 + 0x1p-29);
    const double b = a;
    return b * b + c != 0;
}

void checkpoint_identify(const struct run *run, char identity[IDENTITY_SIZE]) {
    snprintf(identity, IDENTITY_SIZE, "app=%s class=%c perturb=%d contraction=%d lanes=%d",
             run->name, run->p->class_, run->options->perturb != 0, contracts(), LANES);
}

uint64_t checkpoint_speeds(const evn_schedule *schedule) {
    const evn_problem *p = evn_schedule_problem(schedule);
    const uint64_t hash = hash_word(HASH_SEED, (uint64_t)p->units);
    return p->speed ? hash_bytes(hash, p->speed, (size_t)p->units * sizeof *p->speed) : hash;
}

/* ---- zones by the units -------------------------------------------------------------------- */

evn_status filing_open(struct filing *f, struct run *run, struct state_file *file) {
    *f = (struct filing){.run = run, .file = file, .fd = -1};
    pthread_mutex_init(&f->lock, NULL);
    f->unit = malloc((size_t)run->p->zones * sizeof *f->unit);
    return f->unit ? EVN_OK
                   : evn_fail(EVN_MEMORY, "checkpoint: no memory for %d zones", run->p->zones);
}

void filing_close(struct filing *f) {
    free(f->unit);
    pthread_mutex_destroy(&f->lock);
}

static evn_status fail_first(struct filing *f, evn_status status) {
    pthread_mutex_lock(&f->lock);
    if (status && !f->status) {
        f->status = status;
        snprintf(f->why, sizeof f->why, "%s", evn_message());
    }
    status = f->status;
    pthread_mutex_unlock(&f->lock);
    return status;
}

static void each_own(evn_unit *unit, void *arg) {
    struct filing *f = arg;
    const int me = evn_unit_number(unit);
    double *piece = malloc(STATE_PIECE * sizeof *piece);
    if (!piece) fail_first(f, evn_fail(EVN_MEMORY, "checkpoint: not enough memory"));
    for (int z = 0; !fail_first(f, EVN_OK) && z < f->run->p->zones; z++)
        if (f->unit[z] == me) fail_first(f, f->zone(f, z, piece));
    free(piece);
}

evn_status filing_run(struct filing *f) {
    f->status = EVN_OK;
    const evn_status status = evn_units_run(f->run->units, each_own, f);
    return status || !f->status ? status : evn_fail(f->status, "%s", f->why);
}

void filing_by_owner(struct filing *f, int here) {
    const struct run *run = f->run;
    const int *owner = evn_loop_owner(run->loop), first = evn_loop_first_unit(run->loop);
    for (int z = 0; z < run->p->zones; z++)
        f->unit[z] = here && evn_loop_has(run->loop, z) ? owner[z] - first : -1;
}

int filing_rank(const struct run *run, int z) {
    return run->cluster ? evn_cluster_rank_of(run->cluster, evn_loop_owner(run->loop)[z]) : 0;
}

evn_status filing_hold(struct run *run, int z, evn_access access) {
    return run->place ? evn_place_acquire(run->place, 1, &run->region[z], EVN_HOST, access)
                      : EVN_OK;
}

void filing_release(struct run *run, int z) {
    if (run->place) evn_place_release(run->place, 1, &run->region[z], EVN_HOST);
}

evn_status filing_share(struct run *run, int mine, int **all, int *ranks) {
    return ranks_share(run->cluster, &mine, 1, sizeof mine, (void **)all, ranks);
}

/* ---- the file ------------------------------------------------------------------------------ */

/* What rank 0 tells of it. */
struct told {
    struct kept_place place; /* which it begins with, for now */
    uint64_t header;
    int64_t skip; /* there is no time for it */
};

/* A state that is being kept. */
struct keeping {
    struct run *run;
    struct state_file file;
    struct told told;
    evn_output *output; /* rank 0's */
    struct filing filing;
    int *sees, ranks; /* of each rank: whether it has the file open */
};

static int leads(const struct run *run) { return !run->cluster || !evn_cluster_rank(run->cluster); }

static evn_status plan(struct run *run, struct state_file *file) {
    char identity[IDENTITY_SIZE];
    checkpoint_identify(run, identity);
    const evn_schedule *schedule = run->loop ? evn_loop_schedule(run->loop) : NULL;
    char *assignment = schedule && leads(run) ? evn_schedule_export(schedule) : NULL;
    evn_status status = state_plan(file, run->p, identity, assignment ? assignment : "");
    if (!status && schedule) file->speeds = checkpoint_speeds(schedule);
    free(assignment);
    return status;
}

static evn_status open_file(evn_output **out, const char *path, uint64_t bytes) {
    evn_status status = evn_output_open(out, NULL, path);
    if (!status && evn_output_descriptor(*out) < 0)
        status = evn_fail(EVN_USAGE, "%s: a state is kept in a file, and this is none", path);
    return status ? status : evn_output_reserve(*out, bytes);
}

evn_status checkpoint_try(struct run *run) {
    const char *path = run->options->checkpoint;
    struct state_file file;
    struct stat is;
    evn_output *output = NULL;
    if (!path) return EVN_OK;
    evn_status status = EVN_OK;
    if (leads(run)) {
        if (!stat(path, &is) && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode))
            status = evn_fail(EVN_USAGE, "%s: a state is kept in a file, and this is none", path);
        if (!status) status = plan(run, &file);
        if (!status) {
            status = open_file(&output, path, file.bytes);
            evn_output_close(output);
            state_close(&file);
        }
        /* what cannot be written before anything was done is the user's to change */
        if (status == EVN_SYSTEM) status = evn_fail(EVN_USAGE, "%s", evn_message());
    }
    return ranks_agreed(run->cluster, status);
}

/* What a state takes, s. */
static double expected(const struct run *run, uint64_t bytes) {
    return run->kept.count ? run->kept.last_s : (double)bytes / DISK;
}

/* Rank 0 opens it, with room for all and a word that says which file it is. */
static evn_status begin(struct keeping *k, int stopping) {
    struct run *run = k->run;
    struct told *t = &k->told;
    if (!leads(run)) return EVN_OK;
    t->skip = stopping && run->cluster && expected(run, k->file.bytes) > SOON;
    if (t->skip) return EVN_OK;
    const char *path = run->options->checkpoint;
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
static int look(const struct run *run, const struct told *t) {
    const char *host = evn_cluster_host(run->cluster, evn_cluster_rank(run->cluster));
    return strcmp(host, evn_cluster_host(run->cluster, 0)) != 0 ? -1 : kept_look(&t->place);
}

/* ---- zones --------------------------------------------------------------------------------- */

static evn_status cannot(const char *path, int error) {
    return error ? evn_fail(EVN_SYSTEM, "%s could not be written: %s", path, strerror(error))
                 : EVN_OK;
}

static evn_status write_zone(struct filing *f, int z, double *piece) {
    struct state_part *part = &f->file->part[z];
    const size_t doubles = part->bytes / sizeof(double);
    evn_status status = filing_hold(f->run, z, EVN_READ);
    if (status) return status;
    uint64_t sum = HASH_SEED;
    for (size_t at = 0; !status && at < doubles; at += STATE_PIECE) {
        const size_t count = doubles - at < STATE_PIECE ? doubles - at : STATE_PIECE;
        state_pack(&f->run->p->zone[z], at, count, piece);
        sum = state_sum(sum, piece, count);
        status = cannot(f->path, kept_write(f->fd, piece, count * sizeof *piece,
                                            part->at + at * sizeof *piece));
    }
    part->sum = state_sum_end(sum, part->bytes);
    filing_release(f->run, z);
    return status;
}

/* A zone of a rank that does not see the file, by way of rank 0. After a failure it is carried all
 * the same, since the other waits; *failed has it. */
static evn_status carry_zone(struct keeping *k, int z, int from, double *piece,
                             evn_status *failed) {
    struct run *run = k->run;
    struct state_part *part = &k->file.part[z];
    const size_t doubles = part->bytes / sizeof(double);
    const int mine = evn_cluster_rank(run->cluster) == from;
    const int held = mine && !*failed && !(*failed = filing_hold(run, z, EVN_READ));
    evn_status status = EVN_OK;
    uint64_t sum = HASH_SEED;
    for (size_t at = 0; !status && at < doubles; at += STATE_PIECE) {
        const size_t count = doubles - at < STATE_PIECE ? doubles - at : STATE_PIECE;
        if (held) state_pack(&run->p->zone[z], at, count, piece);
        if (held) sum = state_sum(sum, piece, count);
        status = evn_cluster_carry(run->cluster, from, 0, piece, count * sizeof *piece);
        if (!status && !mine && !*failed)
            *failed = cannot(k->filing.path,
                             kept_write(k->told.place.descriptor, piece, count * sizeof *piece,
                                        part->at + at * sizeof *piece));
    }
    if (held) filing_release(run, z);
    if (mine) part->sum = state_sum_end(sum, part->bytes);
    return status;
}

static evn_status carry_zones(struct keeping *k, evn_status *failed) {
    struct run *run = k->run;
    const int me = evn_cluster_rank(run->cluster);
    double *piece = calloc(STATE_PIECE, sizeof *piece);
    evn_status status = piece ? EVN_OK : evn_fail(EVN_MEMORY, "checkpoint: not enough memory");
    status = evn_cluster_agree(run->cluster, status);
    for (int z = 0; !status && z < run->p->zones; z++) {
        const int from = filing_rank(run, z);
        if (!k->sees[from] && (me == from || !me)) status = carry_zone(k, z, from, piece, failed);
    }
    free(piece);
    return status;
}

static int has_zone(void *run, int z) { return evn_loop_has(((struct run *)run)->loop, z); }

/* The checksums of all zones, to rank 0. */
static evn_status complete(struct keeping *k) {
    struct state_file *file = &k->file;
    return ranks_complete(k->run->cluster, file->part, file->zones, sizeof *file->part, has_zone,
                          k->run);
}

static evn_status write_zones(struct keeping *k) {
    struct run *run = k->run;
    struct filing *f = &k->filing;
    f->path = run->options->checkpoint;
    f->zone = write_zone;
    f->fd = leads(run) ? k->told.place.descriptor : look(run, &k->told);
    const int sees = f->fd >= 0;
    evn_status status = filing_share(run, sees, &k->sees, &k->ranks), failed = EVN_OK;
    if (status) return status;
    int blind = 0;
    for (int r = 0; r < k->ranks; r++) blind |= !k->sees[r];
    filing_by_owner(f, sees);
    failed = filing_run(f);
    char why[512] = "";
    if (failed) snprintf(why, sizeof why, "%s", evn_message());
    if (blind) status = carry_zones(k, &failed);
    if (status) return status;
    if (failed && *why) evn_fail(failed, "%s", why);
    if (!leads(run) && sees) close(f->fd);
    status = ranks_agreed(run->cluster, failed);
    return status ? status : complete(k);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static evn_status write_header(struct keeping *k) {
    unsigned char *header = state_header(&k->file);
    if (!header) return evn_fail(EVN_MEMORY, "checkpoint: no memory for its header");
    evn_status status =
        cannot(k->filing.path, kept_write(k->told.place.descriptor, header, k->file.header, 0));
    free(header);
    return status ? status : evn_output_commit(k->output);
}

static evn_status keep(struct keeping *k, int done, int stopping) {
    struct run *run = k->run;
    evn_status status = plan(run, &k->file);
    k->file.step = done;
    if (!status) status = filing_open(&k->filing, run, &k->file);
    if (!status) status = begin(k, stopping);
    status = ranks_agreed(run->cluster, status);
    if (!status && run->cluster) status = evn_cluster_tell(run->cluster, &k->told, sizeof k->told);
    if (status || k->told.skip) return status;
    state_lay_out(&k->file, run->p, k->told.header);
    status = write_zones(k);
    if (status) return status;
    return ranks_agreed(run->cluster, leads(run) ? write_header(k) : EVN_OK);
}

evn_status checkpoint_keep(struct run *run, int done, int stopping) {
    const npbmz_options *o = run->options;
    const int every = o->every ? o->every : EVERY;
    if (!o->checkpoint || (run->kept.count && run->kept.step == done)) return EVN_OK;
    if (!stopping && done % every && done != run->steps) return EVN_OK;
    if (run->cluster && evn_cluster_failed(run->cluster)) return EVN_OK; /* they do not agree */
    struct keeping k = {.run = run};
    const double since = evn_now();
    evn_status status = keep(&k, done, stopping);
    if (!status && !k.told.skip) {
        run->kept.count++;
        run->kept.step = done;
        run->kept.last_s = evn_now() - since;
        run->kept.seconds += run->kept.last_s;
    }
    evn_output_close(k.output);
    filing_close(&k.filing);
    state_close(&k.file);
    free(k.sees);
    return status;
}

evn_status checkpoint_stopped(const struct run *run) {
    const npbmz_options *o = run->options;
    if (!o->checkpoint) return EVN_STOPPED;
    if (run->kept.count && run->kept.step == run->done) return kept_stopped("go on", o->checkpoint);
    if (run->kept.count) {
        evn_fail(EVN_STOPPED, "%s; the state of step %d is in %s", evn_message(), run->kept.step,
                 o->checkpoint);
        return kept_stopped("go on", o->checkpoint);
    }
    if (o->restart) return kept_stopped("begin again", o->restart);
    return evn_fail(EVN_STOPPED, "%s, and nothing was kept", evn_message());
}
