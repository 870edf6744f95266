/* The march's state in a checkpoint and out of one, and the words by which it knows its run. */
#include "common/run/hash.h"
#include "tdbem/march/march_far.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- checkpoints ---- */

enum { PAST, LAST, EXTREMES, SPECTRA, INCIDENT, POINTS, VERTICES, MEMORY, REMOTE, PARTS };

/* A file has the memory of filters, and the past of the far field, where there is one. */
static int parts(const struct march *m) { return m->far ? PARTS : m->memory ? REMOTE : MEMORY; }

/* The memory of a part, and its doubles after so many steps. */
static double *part_of(const struct march *first, int part, int step, size_t *doubles) {
    const int count = parts(first);
    const struct march *m = part < count ? first : &first->others[part / count - 1];
    const size_t columns = (size_t)m->past->columns, f = (size_t)m->spectra.count;
    const size_t rows = (size_t)step + 1;
    size_t remembered;
    double *memory = memory_state(m, &remembered);
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
        [MEMORY] = {memory, remembered},
        [REMOTE] = {m->far, m->far ? m->p->far->doubles : 0},
    };
    *doubles = of[part % count].doubles;
    return of[part % count].data;
}

static size_t doubles(const void *arg, int part, int step) {
    size_t n;
    part_of(arg, part % parts(arg), step, &n); /* those of all incidences are as large */
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

/* Room for the whole past of each incidence in the order of a file. */
static evn_status make_export(struct march *m) {
    int ok = 1;
    for (int i = 0; i < m->p->columns; i++) {
        struct march *c = columns_of(m, i);
        c->exported =
            malloc(((size_t)c->past->columns * (size_t)c->past->depth + 1) * sizeof *c->exported);
        ok &= c->exported != NULL;
    }
    return ok ? EVN_OK : evn_fail(EVN_MEMORY, "checkpoint: not enough memory");
}

static void drop_export(struct march *m) {
    for (int i = 0; i < m->p->columns; i++) {
        free(columns_of(m, i)->exported);
        columns_of(m, i)->exported = NULL;
    }
}

evn_status state_save(struct march *m, int n, int stopping) {
    evn_status status = march_far_home(m);
    if (!status) status = make_export(m);
    for (int i = 0; !status && i < m->p->columns; i++)
        history_export(columns_of(m, i)->past, columns_of(m, i)->exported);
    if (m->ranks) status = evn_cluster_agree(m->p->cluster, status);
    if (!status) status = states_keep_now(&m->states, n, stopping);
    drop_export(m);
    return status;
}

/* A checksum shows damage and no intent, and a state that is not finite is none. */
static int is_finite(const struct march *m, int step) {
    int finite = 1;
    for (int part = 0; part < parts(m) * m->p->columns; part++) {
        size_t n;
        const double *value = part_of(m, part, step, &n);
        for (size_t i = 0; part % parts(m) != EXTREMES && i < n; i++)
            finite &= isfinite(value[i]) != 0;
    }
    return finite;
}

/* Tables as long as they are in the file. */
static evn_status make_tables(struct march *m, int step) {
    struct table *table[] = {&m->points, &m->vertices};
    for (int i = 0; i < 2; i++)
        while (table[i]->columns && table[i]->rows <= (size_t)step)
            if (!table_row(table[i])) return evn_fail(EVN_MEMORY, "td-bem: no memory for tables");
    return EVN_OK;
}

static evn_status restart(struct march *m) {
    const int step = m->states.first;
    evn_status status = make_export(m);
    for (int i = 0; !status && i < m->p->columns; i++) status = make_tables(columns_of(m, i), step);
    if (m->ranks) status = evn_cluster_agree(m->p->cluster, status);
    if (!status) status = states_load(&m->states);
    if (!status && !is_finite(m, step))
        status = evn_fail(EVN_USAGE, "%s: this checkpoint is damaged: it has what is no number",
                          m->o->restart);
    for (int i = 0; !status && i < m->p->columns; i++)
        history_import(columns_of(m, i)->past, columns_of(m, i)->exported);
    drop_export(m);
    return status;
}

evn_status state_open(struct march *m) {
    m->files = (struct state_files){.checkpoint = m->o->checkpoint, .restart = m->o->restart};
    m->states.kind = &march_state;
    m->states.arg = m;
    m->states.parts = parts(m) * m->p->columns;
    m->states.files = &m->files;
    m->states.cluster = m->p->cluster;
    m->states.units = m->units;
    m->states.steps = m->steps;
    m->states.loop = m->loop;
    return states_open(&m->states);
}

evn_status state_fill(struct march *m) {
    if (m->o->restart) return restart(m);
    evn_status status = EVN_OK;
    for (int i = 0; !status && i < m->p->columns; i++) status = room_begin_tables(columns_of(m, i));
    return status;
}

/* ---- within a group ---- */

evn_status state_open_mark(struct march *m) {
    if (!m->o->checkpoint || !m->is.stop) return EVN_OK;
    const size_t columns = (size_t)m->past->columns, f = (size_t)m->spectra.count;
    size_t remembered;
    memory_state(m, &remembered);
    m->mark.sums = malloc((GUESS * columns + remembered) * sizeof *m->before +
                          f * (columns + 1) * sizeof *m->spectra.a);
    return m->mark.sums ? EVN_OK : evn_fail(EVN_MEMORY, "td-bem: not enough memory");
}

/* The last steps and the spectra, in both directions. */
static void move_mark(struct march *m, int back) {
    const size_t columns = (size_t)m->past->columns, f = (size_t)m->spectra.count;
    size_t remembered;
    double *memory = memory_state(m, &remembered);
    const struct {
        void *data;
        size_t bytes;
    } part[] = {{m->before, GUESS * columns * sizeof *m->before},
                {m->spectra.a, f * columns * sizeof *m->spectra.a},
                {m->spectra.incident, f * sizeof *m->spectra.incident},
                {memory, remembered * sizeof *memory}};
    char *at = m->mark.sums;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
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

int state_stop(const struct march *m) { return m->mark.sums && *m->is.stop; }

int state_stopped(const struct march *m) {
    return m->ranks ? m->mark.sums && evn_cluster_about(m->p->cluster).stopping : state_stop(m);
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
