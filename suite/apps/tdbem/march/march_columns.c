/* Several incidences on one set of matrices: their marches go on together, a group of steps of one
 * after that of another, each with its own past, tables and files. All else they share. */
#include "tdbem/march/march.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct march *columns_of(struct march *m, int column) {
    return column ? &m->others[column - 1] : m;
}

const char *columns_name(const struct march *m) {
    const tdbem_incidence *of = m->p->options.incidence;
    return m->p->columns > 1 && of[m->column].name ? of[m->column].name : "";
}

char *columns_path(const struct march *m, const char *path, int folder) {
    const char *name = columns_name(m), *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    const int head = folder || !dot || !*name ? (int)strlen(path) : (int)(dot - path);
    char *out;
    const int n = asprintf(&out, "%.*s%s%s%s", head, path,
                           !*name   ? ""
                           : folder ? "/"
                                    : "-",
                           name, path + head);
    return n < 0 ? NULL : out;
}

static evn_status open_column(struct march *m, int column) {
    struct march *c = columns_of(m, column);
    *c = *m;
    c->column = column;
    c->incident = m->p->column[column];
    c->over = incident_over(c->incident);
    c->others = NULL;
    c->past = NULL;
    c->a = c->before = c->exported = NULL;
    c->points = c->vertices = (struct table){0};
    c->spectra = (struct spectra){0};
    memset(c->output, 0, sizeof c->output);
    c->mark = (struct march_mark){0};
    c->memory = NULL;
    c->far = NULL;
    c->folder = NULL;
    evn_status status = room_make_column(c);
    if (!status) status = state_open_mark(c);
    if (!status && !m->p->me) status = room_open_files(c);
    return status;
}

evn_status columns_open(struct march *m) {
    const int columns = m->p->columns;
    evn_status status = EVN_OK;
    m->others = calloc((size_t)columns, sizeof *m->others);
    if (!m->others) return evn_fail(EVN_MEMORY, "td-bem: no memory for %d incidences", columns);
    for (int i = 1; !status && i < columns; i++) status = open_column(m, i);
    return status;
}

void columns_close(struct march *m) {
    for (int i = 1; m->others && i < m->p->columns; i++) room_give_back_column(columns_of(m, i));
    free(m->others);
    m->others = NULL;
}
