/* The march's state in a checkpoint and out of one, and the words by which it knows its run. */
#include "common/run/hash.h"
#include "tdbem/files/checkpoint.h"
#include "tdbem/march/march.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The state after step n, in both directions: checkpoint_put() or checkpoint_get(). */
static void move(struct checkpoint *c, void *data, size_t bytes, int in) {
    if (in)
        checkpoint_get(c, data, bytes);
    else
        checkpoint_put(c, data, bytes);
}

/* Fields: a checksum shows damage and no intent, and a state that is not finite is none. */
static void move_values(struct checkpoint *c, void *data, size_t count, int in) {
    const double *value = data;
    move(c, data, count * sizeof *value, in);
    for (size_t i = 0; in && i < count && !c->failed; i++) c->failed = !isfinite(value[i]);
}

static void move_table(struct checkpoint *c, struct table *t, int in) {
    uint64_t rows = t->rows;
    if (in) {
        checkpoint_get(c, &rows, sizeof rows);
        t->rows = 0;
        for (uint64_t r = 0; !c->failed && r < rows; r++) {
            double *row = table_row(t);
            if (!row) c->failed = 1;
            if (row) move_values(c, row, (size_t)t->columns, in);
        }
    } else {
        checkpoint_put(c, &rows, sizeof rows);
        checkpoint_put(c, t->value, t->rows * (size_t)t->columns * sizeof *t->value);
    }
}

static evn_status move_state(struct march *m, struct checkpoint *c, int *n, int in) {
    const size_t columns = (size_t)m->past->columns, depth = (size_t)m->past->depth;
    double *past = malloc((columns * depth + 1) * sizeof *past);
    if (!past) return evn_fail(EVN_MEMORY, "checkpoint: not enough memory");
    if (!in) history_export(m->past, past);
    int32_t step = *n;
    move(c, &step, sizeof step, in);
    move_values(c, past, columns * depth, in);
    move_values(c, m->before, GUESS * columns, in);
    move(c, &m->max, sizeof m->max, in);
    move(c, &m->max_after, sizeof m->max_after, in);
    move(c, &m->null_field, sizeof m->null_field, in);
    const size_t f = (size_t)m->spectra.count;
    move_values(c, m->spectra.a, 2 * f * columns, in); /* two numbers for each complex one */
    move_values(c, m->spectra.incident, 2 * f, in);
    if (m->points.columns) move_table(c, &m->points, in);
    if (m->vertices.columns) move_table(c, &m->vertices, in);
    if (in) history_import(m->past, past);
    *n = step;
    free(past);
    return EVN_OK;
}

evn_status state_save(struct march *m, int n) {
    struct checkpoint c = {0};
    evn_status status = move_state(m, &c, &n, 0);
    if (!status) status = checkpoint_write(m->o->checkpoint, m->identity, &c);
    checkpoint_free(&c);
    return status;
}

evn_status state_restart(struct march *m, int *n) {
    struct checkpoint c = {0};
    evn_status status = checkpoint_read(m->o->restart, m->identity, &c);
    if (status) return status;
    status = move_state(m, &c, n, 1);
    if (!status && (c.failed || c.at != c.bytes || *n < 0))
        status = evn_fail(EVN_USAGE, "%s: this checkpoint is damaged, or does not fit this run",
                          m->o->restart);
    checkpoint_free(&c);
    return status;
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
    k->max = m->max;
    k->max_after = m->max_after;
    k->null_field = m->null_field;
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
    m->max = k->max;
    m->max_after = k->max_after;
    m->null_field = k->null_field;
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
    int n =
        asprintf(&m->identity, "%s outputs=%s,%d,%d:%016llx", m->p->identity,
                 m->points.columns ? "probes" : "none", m->vertices.columns ? m->o->vertices : 0,
                 m->spectra.count, (unsigned long long)hash);
    if (n < 0) m->identity = NULL;
    return n < 0 ? evn_fail(EVN_MEMORY, "td-bem: no memory") : EVN_OK;
}
