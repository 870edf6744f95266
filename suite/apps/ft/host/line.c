/* Twiddle factors and orders of lines. */
#include "ft/host/line.h"
#include <stdlib.h>

/* e^(-2 pi i j / n), from the first octant, so that the table has the symmetry of the circle */
void line_root(int j, int n, double root[2]) {
    const double eighth = 8.0 * j / n;
    const int octant = (int)eighth;
    /* the angle to the nearest multiple of a quarter turn, in parts of n */
    const int quarter = (octant + 1) / 2;
    const double angle = 2 * 3.14159265358979323846 * (j - quarter * (n / 4.0)) / n;
    const double c = cos(angle), s = sin(angle);
    const double re[4] = {c, -s, -c, s}, im[4] = {s, c, -s, -c};
    root[0] = re[quarter % 4];
    root[1] = -im[quarter % 4];
}

/* the lowest bits of `of` in reverse, as many as numbers below `count` have */
static int reversed(int of, int count) {
    int result = 0;
    for (; count > 1; count /= 2, of /= 2) result = 2 * result + of % 2;
    return result;
}

int line_open(struct line *line, int n) {
    int log = 0;
    while (1 << log < n) log++;
    const int first = log % 2 == 0 ? (log ? 2 : 0) : log == 1 ? 1 : 3;
    *line = (struct line){.n = n, .first = 1 << first, .passes = (log - first) / 2};
    line->last = line->passes ? 4 : 1;
    const int blocks = n / line->last;
    line->twiddle = malloc(4 * (size_t)blocks * sizeof *line->twiddle);
    line->order = malloc((size_t)blocks * sizeof *line->order);
    if (!line->twiddle || !line->order) return -1;
    for (int b = 0; b < blocks; b++) {
        const int k = line->order[b] = reversed(b, blocks);
        line_root(k, n, line->twiddle + 4 * b);
        line_root(2 * k, n, line->twiddle + 4 * b + 2);
    }
    return 0;
}

void line_close(struct line *line) {
    free(line->twiddle);
    free(line->order);
    *line = (struct line){0};
}
