/* What program.c, its kernels and main.c agree on.
 *
 * A sheet is a stack of rows; block t of it has scale * ROWS(t) of its own between one row of each
 * neighbour's. Two fields in staggered time: v follows from p, then p from v, each where it is. A
 * sheet's rows are `row` doubles, wound to a pipe, so that one begins beside the end of the one
 * before. */
#ifndef PROGRAM_H
#define PROGRAM_H

#define ROWS(t)            (2 + (t)*29 % 37)
#define FIRST(t, i)        ((double)((i)*7 % 11 + (t) % 3 - 5)) /* of both fields */
#define PUSHED(v, p, i, r) (v[i] - 0.2 * (p[(i) + (r)] - p[i]) - 0.1 * (p[(i) + 1] - p[i]))
#define DRAWN(p, v, i, r)  (p[i] - 0.2 * (v[i] - v[(i) - (r)]) - 0.1 * (v[i] - v[(i)-1]))

#ifndef EVENER_KERNEL_H /* the kernels need no more */
#    ifdef __cplusplus
extern "C" {
#    endif

typedef struct sheets sheets;

/* All return NULL, or what went wrong. */
const char *sheets_open(sheets **out, const char *units, const char *devices, const char *schedule);
const char *sheets_march(sheets *all, int steps);
const char *sheets_compare(sheets *all, int *wrong, int *halves);
const char *sheets_close(sheets *all);

#    ifdef __cplusplus
}
#    endif
#endif
#endif
