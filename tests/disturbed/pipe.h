/* Blocks of uneven length of a pipe, for disturbed.c and its kernel. */
#define ROW          64 /* points */
#define ROWS(task)   (1 + (task)*29 % 57)
#define BYTES(task)  ((ROWS(task) + 2) * ROW * sizeof(double))
#define MOVED(u, at) (0.2 * (u[at] + u[at - 1] + u[at + 1] + u[at - ROW] + u[at + ROW]))
