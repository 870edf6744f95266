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

/* Which result the block of the last pass begins with: its digits, of base 4, in reverse. */
static int reversed(int block, int passes) {
    int result = 0;
    for (int i = 0; i < passes; i++, block /= 4) result = 4 * result + block % 4;
    return result;
}

int line_open(struct line *line, int n) {
    int log = 0;
    while (1 << log < n) log++;
    const int last = log % 2 == 0 ? (log ? 2 : 0) : log == 1 ? 1 : 3;
    *line = (struct line){.n = n, .last = 1 << last, .passes = (log - last) / 2};
    line->twiddle = malloc((size_t)(2 * n + 1) * sizeof *line->twiddle);
    line->order = malloc((size_t)(n / line->last) * sizeof *line->order);
    if (!line->twiddle || !line->order) return -1;
    double *w = line->twiddle;
    for (int pass = 0, length = n; pass < line->passes; pass++, length /= 4)
        for (int j = 0; j < length / 4; j++)
            for (int q = 1; q < 4; q++, w += 2) line_root(q * j, length, w);
    for (int b = 0; b < n / line->last; b++) line->order[b] = reversed(b, line->passes);
    return 0;
}

void line_close(struct line *line) {
    free(line->twiddle);
    free(line->order);
    *line = (struct line){0};
}
