/* The march's state in a checkpoint and out of one, and the words by which it knows its run. */
#include "common/run/hash.h"
#include "tdbem/march/march.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- checkpoints ---- */

enum { PAST, LAST, EXTREMES, SPECTRA, INCIDENT, POINTS, VERTICES, PARTS };

/* The memory of a part, and its doubles after so many steps. */
static double *part_of(const struct march *m, int part, int step, size_t *doubles) {
    const size_t columns = (size_t)m->past->columns, f = (size_t)m->spectra.count;
    const size_t rows = (size_t)step + 1;
    const struct {
        void *data;
        size_t doubles; /* two for each complex number */
    } of[PARTS] = {
        [PAST] = {m->exported, columns * (size_t)m->past->depth},
        [LAST] = {m->before, GUESS * columns},
        [EXTREMES] = {(void *)&m->seen, sizeof m->seen / sizeof(double)},
        [SPECTRA] = {m->spectra.a, 2 * f * columns},
        [INCIDENT] = {m->spectra.incident, 2 * f},
        [POINTS] = {m->points.value, rows * (size_t)m->points.columns},
        [VERTICES] = {m->vertices.value, rows * (size_t)m->vertices.columns},
    };
    *doubles = of[part].doubles;
    return of[part].data;
}

static size_t doubles(const void *arg, int part, int step) {
    size_t n;
    part_of(arg, part, step, &n);
    return n;
}

static void pack(const void *arg, int part, size_t from, size_t count, double *to) {
    size_t n;
    memcpy(to, part_of(arg, part, 0, &n) + from, count * sizeof *to);
}

static void unpack(void *arg, int part, size_t from, size_t count, const double *data) {
    size_t n;
    memcpy(part_of(arg, part, 0, &n) + from, data, count * sizeof *data);
}

const struct state_kind march_state = {.name = "td-bem",
                                       .magic = "EVNTDB\0\2",
                                       .part = "field",
                                       .shared = 1,
                                       .doubles = doubles,
                                       .pack = pack,
                                       .unpack = unpack};

/* Room for the whole past in the order of a file. */
static evn_status make_export(struct march *m) {
    m->exported =
        malloc(((size_t)m->past->columns * (size_t)m->past->depth + 1) * sizeof *m->exported);
    return m->exported ? EVN_OK : evn_fail(EVN_MEMORY, "checkpoint: not enough memory");
}

static void drop_export(struct march *m) {
    free(m->exported);
    m->exported = NULL;
}

evn_status state_save(struct march *m, int n, int stopping) {
    evn_status status = make_export(m);
    if (!status) history_export(m->past, m->exported);
    if (m->ranks) status = evn_cluster_agree(m->p->cluster, status);
    if (!status) status = states_keep_now(&m->states, n, stopping);
    drop_export(m);
    return status;
}

/* A checksum shows damage and no intent, and a state that is not finite is none. */
static int is_finite(const struct march *m, int step) {
    int finite = 1;
    for (int part = 0; part < PARTS; part++) {
        size_t n;
        const double *value = part_of(m, part, step, &n);
        for (size_t i = 0; part != EXTREMES && i < n; i++) finite &= isfinite(value[i]) != 0;
    }
    return finite;
}

static evn_status restart(struct march *m) {
    const int step = m->states.first;
    struct table *table[] = {&m->points, &m->vertices};
    evn_status status = make_export(m);
    for (int i = 0; i < 2; i++)
        while (!status && table[i]->columns && table[i]->rows <= (size_t)step)
            if (!table_row(table[i])) status = evn_fail(EVN_MEMORY, "td-bem: no memory for tables");
    if (m->ranks) status = evn_cluster_agree(m->p->cluster, status);
    if (!status) status = states_load(&m->states);
    if (!status && !is_finite(m, step))
        status = evn_fail(EVN_USAGE, "%s: this checkpoint is damaged: it has what is no number",
                          m->o->restart);
    if (!status) history_import(m->past, m->exported);
    drop_export(m);
    return status;
}

evn_status state_open(struct march *m) {
    m->files = (struct state_files){.checkpoint = m->o->checkpoint, .restart = m->o->restart};
    m->states.kind = &march_state;
    m->states.arg = m;
    m->states.parts = PARTS;
    m->states.files = &m->files;
    m->states.cluster = m->p->cluster;
    m->states.units = m->units;
    m->states.steps = m->steps;
    m->states.loop = m->loop;
    evn_status status = states_open(&m->states);
    if (status) return status;
    return m->o->restart ? restart(m) : room_begin_tables(m);
}

/* ---- within a group ---- */

evn_status state_open_mark(struct march *m) {
    if (!m->o->checkpoint || !m->o->run.stop) return EVN_OK;
    const size_t columns = (size_t)m->past->columns, f = (size_t)m->spectra.count;
    m->mark.sums =
        malloc(GUESS * columns * sizeof *m->before + f * (columns + 1) * sizeof *m->spectra.a);
    return m->mark.sums ? EVN_OK : evn_fail(EVN_MEMORY, "td-bem: not enough memory");
}

/* The last steps and the spectra, in both directions. */
static void move_mark(struct march *m, int back) {
    const size_t columns = (size_t)m->past->columns, f = (size_t)m->spectra.count;
    const struct {
        void *data;
        size_t bytes;
    } part[] = {{m->before, GUESS * columns * sizeof *m->before},
                {m->spectra.a, f * columns * sizeof *m->spectra.a},
                {m->spectra.incident, f * sizeof *m->spectra.incident}};
    char *at = m->mark.sums;
    for (int i = 0; i < 3; i++) {
        if (part[i].bytes)
            memcpy(back ? part[i].data : at, back ? at : part[i].data, part[i].bytes);
        at += part[i].bytes;
    }
}

void state_mark(struct march *m) {
    struct march_mark *k = &m->mark;
    if (!k->sums) return;
    move_mark(m, 0);
    k->points = m->points.rows;
    k->vertices = m->vertices.rows;
    k->seen = m->seen;
}

int state_stop(const struct march *m) { return m->mark.sums && *m->o->run.stop; }

int state_stopped(const struct march *m) {
    return m->ranks ? m->mark.sums && evn_cluster_stopping(m->p->cluster) : state_stop(m);
}

/* The past itself has grown only where the group was whole. */
void state_go_back(struct march *m) {
    const struct march_mark *k = &m->mark;
    move_mark(m, 1);
    m->points.rows = k->points;
    m->vertices.rows = k->vertices;
    m->seen = k->seen;
}

/* ---- the words of a run ---- */

/* Identity of the checkpoint beside the problem's: words about the state that it holds. */
evn_status state_identify(struct march *m) {
    uint64_t hash = HASH_SEED;
    for (int v = 0; v < m->o->vertices; v++) hash = hash_word(hash, (uint64_t)m->o->vertex[v]);
    for (int f = 0; f < m->spectra.count; f++) {
        uint64_t bits;
        memcpy(&bits, &m->o->frequency[f], sizeof bits);
        hash = hash_word(hash, bits);
    }
    const int n = snprintf(
        m->states.identity, sizeof m->states.identity, "%s outputs=%s,%d,%d:%016llx",
        m->p->identity, m->points.columns ? "probes" : "none",
        m->vertices.columns ? m->o->vertices : 0, m->spectra.count, (unsigned long long)hash);
    return n < (int)sizeof m->states.identity
               ? EVN_OK
               : evn_fail(EVN_USAGE, "td-bem: %d characters name this run, which are too many", n);
}
