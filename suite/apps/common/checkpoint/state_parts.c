/* Copies of checkpoint parts by the units. */
#include "common/checkpoint/state_parts.h"
#include "common/run/hash.h"
#include "common/run/ranks.h"
#include <stdio.h>
#include <stdlib.h>

uint64_t state_speeds(const evn_schedule *schedule) {
    const evn_problem *p = evn_schedule_problem(schedule);
    const uint64_t hash = hash_word(HASH_SEED, (uint64_t)p->units);
    return p->speed ? hash_bytes(hash, p->speed, (size_t)p->units * sizeof *p->speed) : hash;
}

int state_leads(const struct states *s) { return !s->cluster || !evn_cluster_rank(s->cluster); }

evn_status filing_open(struct filing *f, struct states *s, struct state_file *file) {
    *f = (struct filing){.states = s, .file = file, .fd = -1};
    pthread_mutex_init(&f->lock, NULL);
    f->unit = malloc((size_t)s->parts * sizeof *f->unit);
    return f->unit
               ? EVN_OK
               : evn_fail(EVN_MEMORY, "checkpoint: no memory for %d %ss", s->parts, s->kind->part);
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
    for (int i = 0; !fail_first(f, EVN_OK) && i < f->states->parts; i++)
        if (f->unit[i] == me) fail_first(f, f->each(f, i, piece));
    free(piece);
}

evn_status filing_run(struct filing *f) {
    f->status = EVN_OK;
    const evn_status status = evn_units_run(f->states->units, each_own, f);
    return status || !f->status ? status : evn_fail(f->status, "%s", f->why);
}

/* Shared parts are rank 0's, and there its first unit's. */
static int owner_of(const struct states *s, int part) {
    return s->kind->shared ? 0 : evn_loop_owner(s->loop)[part];
}

int filing_rank(const struct states *s, int part) {
    return s->cluster ? evn_cluster_rank_of(s->cluster, owner_of(s, part)) : 0;
}

int filing_has(void *states, int part) {
    const struct states *s = states;
    return s->kind->shared ? state_leads(s) : evn_loop_has(s->loop, part);
}

void filing_by_owner(struct filing *f, int here) {
    struct states *s = f->states;
    const int first = evn_loop_about(s->loop).first_unit;
    for (int i = 0; i < s->parts; i++)
        f->unit[i] = here && filing_has(s, i) ? owner_of(s, i) - first : -1;
}

evn_status filing_hold(struct states *s, int part, evn_access access) {
    return s->kind->hold ? s->kind->hold(s->arg, part, access) : EVN_OK;
}

void filing_release(struct states *s, int part) {
    if (s->kind->release) s->kind->release(s->arg, part);
}

evn_status filing_share(struct states *s, int mine, int **all, int *ranks) {
    return ranks_share(s->cluster, &mine, 1, sizeof mine, (void **)all, ranks);
}
