/* A table of cells with points in them, so that only points nearby are compared. */
#pragma once

#include <evener/status.h>
#include <stddef.h>

struct cells {
    const double (*x)[3];
    double low[3], size, reach;
    int *head, *next; /* lists of points */
    size_t mask;
};

/* An empty table for some of `count` points, of which those within `reach` are to be found; none of
 * those added and looked for may be below `low`. EVN_MEMORY. */
evn_status cells_open(struct cells *c, const double (*x)[3], size_t count, const double low[3],
                      double reach);
void cells_close(struct cells *c);
void cells_add(struct cells *c, int point);

/* A point within reach of x; -1: there is none. */
int cells_find(const struct cells *c, const double x[3]);

/* Calls each(point, arg) for the points within reach of x, until it returns other than 0. */
void cells_each(const struct cells *c, const double x[3], int (*each)(int point, void *arg),
                void *arg);
